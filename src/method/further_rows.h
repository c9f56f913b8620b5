/* Rows of another file, prepared as those of the fit: candidates, samples of a measure, landmarks. */
#ifndef GRAM_METHOD_FURTHER_ROWS_H
#define GRAM_METHOD_FURTHER_ROWS_H

#include "method/method.h"
#include <gram/landmarks.h>

/* Reads and prepares them; columns are found by the names of the features. The caller destroys the result, and points of it before. What
 * is wrong with the file is said with its name. */
gram_status gram_learning_read_rows(gram_learning *learning, const char *path, gram_prepared **rows);

/* The law that a text says: a product as gram_law_parse has it, or sample(FILE); in prepared units. `option` is named in messages. The
 * caller releases it. */
struct gram_law;
gram_status gram_learning_read_law(gram_learning *learning, const char *option, const char *text,
                                   struct gram_law **law);

/* What --landmarks says: a word, or the name of a file of points, *points, which the caller releases (NULL: a word). text NULL: the
 * default. */
gram_status gram_learning_read_landmarks(gram_learning *learning, const char *text, gram_landmark_rule *rule,
                                         gram_points **points);

/* More landmarks than rows are refused, by the option that asked for them. */
gram_status gram_learning_check_landmarks(gram_learning *learning, const char *option, int64_t landmarks);

#define GRAM_LANDMARKS_OPTION(settings)                                                                                \
    {                                                                                                                  \
        .name = "landmarks", .kind = GRAM_OPTION_TEXT, .offset = offsetof(settings, landmarks), .argument = "HOW",     \
        .help = "of nystrom: rpcholesky (default), uniform, kmeans++, leverage, or a file of points"                   \
    }

#endif

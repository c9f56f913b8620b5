/* Rows of another file, prepared as those of the fit: candidates, samples of a measure. */
#ifndef GRAM_METHOD_FURTHER_ROWS_H
#define GRAM_METHOD_FURTHER_ROWS_H

#include "method/method.h"

/* Reads and prepares them; columns are found by the names of the features. The caller destroys the result, and points of it before. What
 * is wrong with the file is said with its name. */
gram_status gram_learning_read_rows(gram_learning *learning, const char *path, gram_prepared **rows);

/* The law that a text says: a product as gram_law_parse has it, or sample(FILE); in prepared units. `option` is named in messages. The
 * caller releases it. */
struct gram_law;
gram_status gram_learning_read_law(gram_learning *learning, const char *option, const char *text,
                                   struct gram_law **law);

#endif

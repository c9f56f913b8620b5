/* Rows of a file, block by block. */
#ifndef GRAM_LEARN_STREAM_LEARN_STREAM_H
#define GRAM_LEARN_STREAM_LEARN_STREAM_H

#include "method/method.h"

/* One pass: every row of the file, prepared, goes to the method that has begun; *rows counts those of weight above 0. */
gram_status gram_learning_add_file(gram_learning *learning, const char *path, gram_format format, int64_t *rows);

#endif

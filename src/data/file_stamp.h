/* Is a file, which is read several times, still the one that it was? */
#ifndef GRAM_DATA_FILE_STAMP_H
#define GRAM_DATA_FILE_STAMP_H

#include "base/context.h"

/* What the system keeps of a file; whoever writes to it changes its times. */
typedef struct gram_file_stamp {
    int64_t device, number, size, written[2], changed[2];
} gram_file_stamp;

/* GRAM_ERROR_FILE if it cannot be asked for, GRAM_ERROR_UNSUPPORTED for what can be read only once (pipes, standard input). */
gram_status gram_file_stamp_take(gram_context *context, const char *path, gram_file_stamp *stamp);

/* GRAM_ERROR_DATA if it has changed since. */
gram_status gram_file_stamp_check(gram_context *context, const char *path, const gram_file_stamp *stamp);

#endif

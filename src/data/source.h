/* Where a reader's bytes come from: a file, standard input, or memory. Another kind (a compressed file) is one more
 * way to fill a buffer. */
#ifndef GRAM_DATA_SOURCE_H
#define GRAM_DATA_SOURCE_H

#include "base/context.h"

typedef struct gram_source {
    const char *name; /* what messages call it */
    int descriptor;   /* -1: memory */
    const char *memory;
    int64_t size; /* in bytes, -1 if that cannot be known */
    int64_t read; /* bytes read so far */
} gram_source;

/* "-" is standard input. The path is borrowed. */
gram_status gram_source_open(gram_context *context, const char *path, gram_source *source);
void gram_source_open_memory(const char *name, const void *bytes, size_t length, gram_source *source);
void gram_source_close(gram_source *source);

/* Reads `size` bytes, or as many as there are: *got < size at the end only. Calls the context's callbacks. */
gram_status gram_source_read(gram_context *context, gram_source *source, void *buffer, size_t size, size_t *got);

/* Tells the caller how far long work is; GRAM_ERROR_CANCELLED when the caller wants it stopped. */
gram_status gram_data_pulse(gram_context *context, const char *what, double share);

enum { GRAM_EXCERPT_SIZE = 48 };

/* The beginning of text[0 .. length) for a message: no control characters, no half of a UTF-8 character. */
char *gram_data_excerpt(const char *text, size_t length, char out[GRAM_EXCERPT_SIZE]);

enum { GRAM_REASON_SIZE = 96 };

/* What the system says about an errno. */
char *gram_data_reason(int error, char out[GRAM_REASON_SIZE]);

#endif

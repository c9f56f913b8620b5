/* Where a reader's bytes come from: a file, standard input, or memory; compressed by gzip or not, which its first bytes
 * tell. */
#ifndef GRAM_DATA_BYTE_SOURCE_H
#define GRAM_DATA_BYTE_SOURCE_H

#include "base/context.h"
#include "base/system/system_call.h"

typedef struct gram_source gram_source;

/* "-" is standard input. Name and path are copied. `seekable` asks that the source can be rewound: standard input is
 * kept in memory for that. The caller closes the source (takes NULL). */
gram_status gram_source_open(gram_context *context, const char *path, int seekable, gram_source **source);
/* The rows that a query finds in a SQLite database, as text (data/sqlite/query_rows.h); it can be rewound. */
gram_status gram_source_open_query(gram_context *context, const char *file, const char *sql, gram_source **source);
gram_status gram_source_open_memory(gram_context *context, const char *name, const void *bytes, size_t length,
                                    gram_source **source);
void gram_source_close(gram_source *source);

/* What messages call it. */
const char *gram_source_name(const gram_source *source);
/* The bytes in all and those read so far; before decompression. The size is -1 if it cannot be known. */
int64_t gram_source_size(const gram_source *source);
int64_t gram_source_position(const gram_source *source);
/* The size is that of what is read: the source is not compressed. */
int gram_source_is_plain(const gram_source *source);

/* Reads `size` bytes, or as many as there are: *got < size at the end only. Calls the context's callbacks. */
gram_status gram_source_read(gram_context *context, gram_source *source, void *buffer, size_t size, size_t *got);

/* Starts again at the first byte. */
gram_status gram_source_rewind(gram_context *context, gram_source *source);

/* Can any part be read at any time, by any thread? Then this reads text[offset .. offset + size), returns 0 when it
 * cannot be read. Files that are plain, and memory. */
int gram_source_is_random(const gram_source *source);
int gram_source_read_at(const gram_source *source, int64_t offset, void *buffer, size_t size);

enum { GRAM_EXCERPT_SIZE = 48 };

/* The beginning of text[0 .. length) for a message: no control characters, no half of a UTF-8 character. */
char *gram_data_excerpt(const char *text, size_t length, char out[GRAM_EXCERPT_SIZE]);

#endif

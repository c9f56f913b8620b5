/* The rows that a query finds in a SQLite database, as delimited text with a header, for the reader of such text: so a table of a database is
 * prepared, streamed and complained about like any other.
 *
 * Text is quoted, numbers have the shortest digits that read back to the same, NULL is NA. A BLOB is an error. The database is opened for reading
 * only, at one moment of its history however often it is read, and what a stranger's file or query may do is what SQLite calls defensive: only
 * `select`, no extensions, no attached files, no pragmas, no functions of the schema's that are not known to be harmless. */
#ifndef GRAM_DATA_SQLITE_QUERY_ROWS_H
#define GRAM_DATA_SQLITE_QUERY_ROWS_H

#include "base/context.h"

typedef struct gram_query gram_query;

/* `sql` may be NULL if the database has one table or view. GRAM_ERROR_UNSUPPORTED: gram was built without SQLite. The caller closes it (takes NULL). */
gram_status gram_query_open(gram_context *context, const char *file, const char *sql, gram_query **query);
void gram_query_close(gram_query *query);

/* The next bytes of the text; *got < size at the end only. */
gram_status gram_query_read(gram_context *context, gram_query *query, char *buffer, size_t size, size_t *got);

/* From the header on again: the same rows. */
gram_status gram_query_rewind(gram_context *context, gram_query *query);

#endif

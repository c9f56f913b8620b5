/* What verbs that read data share: what to call it, and failures that name file, row and column. */
#ifndef GRAM_CLI_DATA_H
#define GRAM_CLI_DATA_H

#include "cli.h"

/* The file as messages call it: "-" is "standard input". */
const char *cli_data_name(const char *path);

/* A failure to read a table, with a line that helps. Returns the exit code. */
int cli_data_unread(cli_session *session, gram_status status);

/* The name of a column of the points, for messages. */
typedef const char *(*cli_column_name)(const void *from, int64_t column);

/* A failure of a computation on points: one that is of a single number names its row of the file (from 1; `rows` tells
 * which row each point is, NULL: the same) and column instead of x[0][0]. Returns the exit code. */
int cli_data_fail(cli_session *session, gram_status status, const char *file, const int64_t *rows,
                  cli_column_name column_name, const void *from);

#endif

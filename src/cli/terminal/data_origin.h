/* What verbs that read data or a model share: what to call it, and failures that name file, row and column. */
#ifndef GRAM_CLI_TERMINAL_DATA_ORIGIN_H
#define GRAM_CLI_TERMINAL_DATA_ORIGIN_H

#include "cli/terminal/cli.h"

/* Reads a model. Returns the exit code, after a message. The caller destroys the model. */
int cli_model_read(cli_session *session, const char *path, gram_model **model);

/* The file as messages call it: "-" is "standard input". */
const char *cli_data_name(const char *path);

/* A failure to read a table, with a line that helps; `contents` helps where it is about what the table holds, NULL: a
 * general one. Returns the exit code. */
int cli_data_unread(cli_session *session, gram_status status, const char *contents);

/* Where points come from. */
typedef struct cli_origin {
    const char *file;
    int64_t first;                       /* row of the file, from 0, of the table's first */
    const int64_t *rows;                 /* row of the table that each point is, NULL: the same */
    const gram_table *table;             /* columns are its, */
    const gram_preparation *preparation; /* or those that this makes */
    int64_t first_column;                /* which of them is the points' first */
    const char *help;                    /* a line that helps, NULL: a general one */
} cli_origin;

/* A failure of a computation on points: one that is of a single number names its row of the file (from 1) and its column
 * instead of x[0][0]. Returns the exit code. */
int cli_data_fail(cli_session *session, gram_status status, const cli_origin *origin);

#endif

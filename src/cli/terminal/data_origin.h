/* What verbs that read data or a model share. */
#ifndef GRAM_CLI_TERMINAL_DATA_ORIGIN_H
#define GRAM_CLI_TERMINAL_DATA_ORIGIN_H

#include "cli/terminal/cli.h"

/* Reads a model. Returns the exit code, after a message. The caller destroys the model. */
int cli_model_read(cli_session *session, const char *path, gram_model **model);

/* A failure to read a table, with a line that helps: the library's, or where it has none and it is about what the table holds `contents`
 * (NULL: a general one). Returns the exit code. */
int cli_data_unread(cli_session *session, gram_status status, const char *contents);

#endif

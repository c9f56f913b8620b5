/* The command that made a model, kept in it. */
#ifndef GRAM_CLI_REPORT_MADE_BY_H
#define GRAM_CLI_REPORT_MADE_BY_H

#include "cli/terminal/cli.h"

/* The words of a verb, arguments[0] being its name, as one line for a shell: without what makes no other model (where it is written to, threads, memory,
 * pictures, how much is said). The caller frees the text. */
void cli_command_text(int count, char **arguments, gram_string *text);
/* Kept in the model as the text `command`. Returns the exit code. */
int cli_keep_command(cli_session *session, gram_model *model, int count, char **arguments);

#endif

/* Reading a model file, for the verbs that use one. */
#ifndef GRAM_CLI_TERMINAL_MODEL_OPEN_H
#define GRAM_CLI_TERMINAL_MODEL_OPEN_H

#include "cli/terminal/cli.h"

/* Returns the exit code, after a message. The caller destroys the model. */
int cli_model_read(cli_session *session, const char *path, gram_model **model);

#endif

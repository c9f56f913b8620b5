/* Pictures of trained networks: losses and drift along training and, of one feature, functions with bands. */
#ifndef GRAM_CLI_PLOT_DESCENT_PICTURE_H
#define GRAM_CLI_PLOT_DESCENT_PICTURE_H

#include "cli/terminal/cli.h"

/* Does the model have what is drawn? */
int cli_is_descent(const gram_model *model);
/* `data` are the rows that it was trained on. */
int cli_descent_picture_draw(cli_session *session, const char *path, const gram_model *model,
                             const gram_prepared *data);

#endif

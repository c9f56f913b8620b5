/* Eigenvalues by their number and, over one feature, the first functions that belong to them. */
#ifndef GRAM_CLI_PLOT_EIGEN_PICTURE_H
#define GRAM_CLI_PLOT_EIGEN_PICTURE_H

#include "cli/terminal/cli.h"

typedef struct cli_eigen_picture {
    const gram_model *model; /* with an array of eigenvalues, perhaps with those in closed form */
    const char *kernel, *file;
    const gram_prepared *data; /* the rows that it was learnt from */
} cli_eigen_picture;

/* The path was checked. Returns the exit code, after a message. */
int cli_eigen_picture_draw(cli_session *session, const char *path, const cli_eigen_picture *picture);

#endif

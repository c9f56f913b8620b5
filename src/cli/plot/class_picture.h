/* Pictures of classifiers: regions for two features, else the ROC curve and how well probabilities hold. */
#ifndef GRAM_CLI_PLOT_CLASS_PICTURE_H
#define GRAM_CLI_PLOT_CLASS_PICTURE_H

#include "cli/terminal/cli.h"

typedef struct cli_class_picture {
    const gram_model *model;
    const char *model_file, *file;
    /* rows whose class is known, prepared */
    int64_t n;
    const double *x;
    const double *labels; /* numbers of classes, -1: not known; NULL: one class */
} cli_class_picture;

/* Returns CLI_DONE or the exit code after a message. */
int cli_class_picture_draw(cli_session *session, const char *path, const cli_class_picture *picture);

#endif

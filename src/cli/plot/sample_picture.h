/* Pictures of draws: curves with their 95 % band over one dimension, maps over two. */
#ifndef GRAM_CLI_PLOT_SAMPLE_PICTURE_H
#define GRAM_CLI_PLOT_SAMPLE_PICTURE_H

#include "cli/terminal/cli.h"

/* What there is to draw. */
typedef struct sample_picture {
    const gram_draw_points_report *points; /* of a grid */
    int64_t draws;
    const double *values;     /* n x draws */
    const double *mean, *std; /* n: of f */
    const gram_model *model;  /* NULL: a prior */
    const gram_kernel *kernel;
} sample_picture;

/* Returns the exit code. */
int cli_sample_plot(cli_session *session, const char *path, const sample_picture *picture);

#endif

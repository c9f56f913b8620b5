/* The picture of a regression: data and curve for one feature, else predictions against observations. */
#ifndef GRAM_CLI_PLOT_FIT_PICTURE_H
#define GRAM_CLI_PLOT_FIT_PICTURE_H

#include "cli/terminal/cli.h"

/* At most this many points are drawn. */
enum { CLI_PICTURE_POINTS = 3000 };

/* A seeded sample of rows, taken while they go by: every row is in it with the same probability. */
typedef struct cli_sample {
    gram_random random;
    int64_t seen, count;
    double *x, *y,
        *f; /* of the first feature in its own units, the target, and the prediction; all of the first target */
} cli_sample;

/* Returns the exit code; the caller frees it. */
int cli_sample_begin(cli_session *session, cli_sample *sample);
void cli_sample_add(cli_sample *sample, double x, double y, double f);
void cli_sample_free(cli_sample *sample);

typedef struct cli_picture {
    const gram_model *model;
    const char *file;      /* of the data */
    const char *predicted; /* what the predictions are, as in "leave-one-out prediction" */
    const cli_sample *sample;
    const gram_description *description;
} cli_picture;

/* Draws it to the file. Returns the exit code. */
int cli_picture_draw(cli_session *session, const char *path, const cli_picture *picture);

/* A Gaussian process over its one feature, from `from` to `to` in the feature's own units: data, mean, 95 % band, and below
 * them each term of the kernel if `terms`. */
typedef struct cli_posterior_picture {
    const gram_model *model;
    const char *file; /* of the model */
    double from, to;
    int terms;
} cli_posterior_picture;

/* Is it a model of one column of numbers that knows intervals about its mean? */
int cli_picture_is_posterior(const gram_model *model);
int cli_picture_draw_posterior(cli_session *session, const char *path, const cli_posterior_picture *picture);

#endif

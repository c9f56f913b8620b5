/* The verb `sample` in three files: what is asked and written (verb_sample.c), the points (sample_points.c), the picture
 * (sample_picture.c). */
#ifndef GRAM_CLI_VERB_VERB_SAMPLE_H
#define GRAM_CLI_VERB_VERB_SAMPLE_H

#include "cli/terminal/cli.h"

/* Where draws are made. */
typedef struct sample_points {
    gram_grid grid; /* without axes: points of a file */
    int64_t n, d;
    double *shown; /* n x shown_columns, as they are written */
    int64_t shown_columns;
    const char **names; /* of those columns: of the model, of the table, or static */
    gram_table *table;  /* that the points were read from, or NULL */
    double *x;          /* n x d, prepared as the kernel takes them */
    gram_points *points;
} sample_points;

/* Reads "a:b:n" or several with commas. Returns CLI_DONE or the exit code after a message, as all below. */
int cli_sample_grid(const char *text, gram_grid *grid);
/* Makes the points of the grid; `model` (or NULL) says how its features are prepared. */
int cli_sample_points_make(cli_session *session, const gram_model *model, sample_points *points);
/* Takes them from a file instead. */
int cli_sample_points_read(cli_session *session, const char *path, const gram_model *model, sample_points *points);
void cli_sample_points_free(sample_points *points);

/* What there is to draw. */
typedef struct sample_picture {
    const sample_points *points;
    int64_t draws;
    const double *values;     /* n x draws */
    const double *mean, *std; /* n: of f */
    const gram_model *model;  /* NULL: a prior */
    const char *title;        /* the kernel */
} sample_picture;

int cli_sample_plot(cli_session *session, const char *path, const sample_picture *picture);

#endif

/* Samples for tests: columns of tables as arrays, standardised together. */
#ifndef GRAM_CLI_SAMPLES_H
#define GRAM_CLI_SAMPLES_H

#include "options.h"

/* The options that choose and prepare data; features are standardised unless `no_scale`. */
typedef struct cli_rows_options {
    cli_chosen format; /* gram_format */
    const char *features;
    const char *ignore;
    int no_scale;
} cli_rows_options;

cli_group cli_rows_group(cli_rows_options *options);

/* n rows of d columns; value = mean + deviation * x. */
typedef struct cli_rows {
    const char *file;
    gram_table *table;
    int64_t n, d;
    double *x;
    gram_points *points;
} cli_rows;

/* What was subtracted and divided by, for each column; the columns' names are those of the first table. */
typedef struct cli_scaling {
    int scaled;
    double *mean, *deviation;
} cli_scaling;

/* Reads a table. Returns the exit code, after a message if it is not CLI_DONE; so do the others. */
int cli_rows_read(cli_session *session, const char *path, const cli_rows_options *options, cli_rows *sample);

/* Takes the columns (count places of the table, NULL: all) as numbers. */
int cli_rows_take(cli_rows *sample, int64_t count, const int64_t *columns);

/* Takes the columns of b in the order of a's, by their names, as many of each. */
int cli_rows_match(const cli_rows *a, cli_rows *b);

/* Standardises one or two samples together (population deviation; a constant column is only centred) unless no_scale, and makes their
 * points. */
int cli_rows_scale(cli_session *session, cli_rows *a, cli_rows *b, int no_scale, cli_scaling *scaling);

void cli_rows_free(cli_rows *sample);
void cli_scaling_free(cli_scaling *scaling);

#endif

/* Samples for tests: columns of tables as arrays, standardised together. */
#ifndef GRAM_CLI_SAMPLES_H
#define GRAM_CLI_SAMPLES_H

#include "options.h"

/* The options that choose and prepare data; features are standardised unless `no_scale`. */
typedef struct cli_sample_options {
    gram_format format;
    const char *features;
    const char *ignore;
    int no_scale;
} cli_sample_options;

cli_group cli_sample_group(cli_sample_options *options);

/* n rows of d columns; value = mean + deviation * x. */
typedef struct cli_sample {
    const char *file;
    gram_table *table;
    int64_t n, d;
    double *x;
    gram_points *points;
} cli_sample;

/* What was subtracted and divided by, for each column; the columns' names are those of the first table. */
typedef struct cli_scaling {
    int scaled;
    double *mean, *deviation;
} cli_scaling;

/* Reads a table. Returns the exit code, after a message if it is not CLI_DONE; so do the others. */
int cli_sample_read(cli_session *session, const char *path, const cli_sample_options *options, cli_sample *sample);

/* Takes the columns (count places of the table, NULL: all) as numbers. */
int cli_sample_take(cli_sample *sample, int64_t count, const int64_t *columns);

/* Takes the columns of b in the order of a's, by their names, as many of each. */
int cli_sample_match(const cli_sample *a, cli_sample *b);

/* Standardises one or two samples together (population deviation; a constant column is only centred) unless no_scale, and makes their
 * points. */
int cli_sample_scale(cli_session *session, cli_sample *a, cli_sample *b, int no_scale, cli_scaling *scaling);

void cli_sample_free(cli_sample *sample);
void cli_scaling_free(cli_scaling *scaling);

/* For cli_data_fail. */
const char *cli_sample_column(const void *table, int64_t column);

#endif

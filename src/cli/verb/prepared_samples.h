/* Samples for tests: tables made ready as `fit` makes them, one or two of them together. */
#ifndef GRAM_CLI_VERB_PREPARED_SAMPLES_H
#define GRAM_CLI_VERB_PREPARED_SAMPLES_H

#include "cli/terminal/options.h"

/* The options that choose and prepare data; features are standardised unless `no_scale`. */
typedef struct cli_rows_options {
    cli_chosen format; /* gram_format */
    const char *features;
    const char *ignore;
    cli_chosen missing; /* gram_missing */
    int no_scale;
} cli_rows_options;

cli_group cli_rows_group(cli_rows_options *options);

/* n prepared rows of d prepared columns. */
typedef struct cli_rows {
    const char *file;
    gram_table *table;         /* until it is prepared */
    gram_preparation *columns; /* what they are; two samples share one */
    gram_prepared *prepared;
    int64_t n, d;
    const double *x;     /* of `prepared` */
    gram_points *points; /* if the verb makes them */
} cli_rows;

/* Reads a table. Returns the exit code, after a message if it is not CLI_DONE; so do the others. */
int cli_rows_read(cli_session *session, const char *path, const cli_rows_options *options, cli_rows *sample);

/* Prepares the columns of the list, in its order. */
int cli_rows_prepare(cli_session *session, const cli_rows_options *options, const char *list, cli_rows *sample);

/* Prepares two samples together: columns matched by name, levels of text, means and deviations over both. A column that is
 * text in one of them is text in both. */
int cli_rows_prepare_both(cli_session *session, const cli_rows_options *options, cli_rows *a, cli_rows *b);

/* Makes the points of `count` prepared columns from `first` on. */
int cli_rows_points(cli_session *session, const cli_rows *sample, int64_t first, int64_t count, gram_points **points);

/* After a kernel failed on several sets of points: is it for a single number of these, whose columns start at prepared column
 * `first`? Then a message that names file, row and column, and the exit code; otherwise CLI_DONE. */
int cli_rows_blame(cli_session *session, const cli_rows *sample, int64_t first, const gram_points *points,
                   const gram_kernel *kernel);

/* The name of a prepared column, "age" or "colour=red", cut to the buffer's size. */
enum { CLI_COLUMN_NAME_SIZE = 256 };
const char *cli_rows_name(const cli_rows *sample, int64_t column, char name[CLI_COLUMN_NAME_SIZE]);

/* The feature that a prepared column is of. */
const gram_column *cli_rows_feature(const cli_rows *sample, int64_t column);

/* Were columns standardised? */
int cli_rows_scaled(const cli_rows *sample);

/* How many rows of the file were dropped. */
int64_t cli_rows_dropped(const cli_rows *sample);

void cli_rows_free(cli_rows *sample);

#endif

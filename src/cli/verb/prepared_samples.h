/* Options of samples for tests, which are read as <gram/sample_groups.h> says. */
#ifndef GRAM_CLI_VERB_PREPARED_SAMPLES_H
#define GRAM_CLI_VERB_PREPARED_SAMPLES_H

#include "cli/terminal/options.h"

/* The options that choose and prepare data; features are standardised unless `no_scale`. */
typedef struct cli_rows_options {
    cli_chosen format; /* gram_format */
    const char *features;
    const char *ignore;
    const char *texts, *graphs, *bag, *bag_weights, *gram;
    cli_chosen missing; /* gram_missing */
    int no_scale;
} cli_rows_options;

cli_group cli_rows_group(cli_rows_options *options);

/* The same for the library, in the words of the verb. */
gram_sample_options cli_rows_wish(const cli_rows_options *options, const char *verb);

/* A failure to read a sample. Returns the exit code. */
int cli_rows_unread(cli_session *session, gram_status status);

/* The name of a prepared column, "age" or "colour=red", cut to the buffer's size. */
enum { CLI_COLUMN_NAME_SIZE = 256 };
const char *cli_rows_name(const gram_sample_report *sample, int64_t column, char name[CLI_COLUMN_NAME_SIZE]);

/* Were columns standardised? */
int cli_rows_scaled(const gram_sample_report *sample);

#endif

/* Options of verbs that learn from a table with a target. */
#ifndef GRAM_CLI_VERB_LEARN_OPTIONS_H
#define GRAM_CLI_VERB_LEARN_OPTIONS_H

#include "cli/terminal/options.h"

enum { CLI_ROW_OPTIONS = 16 };

typedef struct cli_learn_options {
    cli_chosen format;
    cli_settings settings;            /* of the learner, by name */
    cli_option rows[CLI_ROW_OPTIONS]; /* of cli_learn_rows_group */
} cli_learn_options;

/* Columns, missing values, scaling, the format of the file. */
cli_group cli_learn_data_group(cli_learn_options *own);
/* Those of them that are for parts of the rows, too. */
cli_group cli_learn_parts_group(cli_learn_options *own);
/* Those of them that verbs take which leave rows out themselves, from tables of values that fit in memory. */
cli_group cli_learn_rows_group(cli_learn_options *own);

#endif

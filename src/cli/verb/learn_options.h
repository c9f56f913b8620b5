/* Options of verbs that learn from a table with a target. */
#ifndef GRAM_CLI_VERB_LEARN_OPTIONS_H
#define GRAM_CLI_VERB_LEARN_OPTIONS_H

#include "cli/terminal/options.h"

typedef struct cli_learn_options {
    cli_chosen format;
    cli_settings settings; /* of the learner, by name */
} cli_learn_options;

/* Columns, missing values, scaling, the format of the file. */
cli_group cli_learn_data_group(cli_learn_options *own);
/* Those of them that are for parts of the rows, too. */
cli_group cli_learn_parts_group(cli_learn_options *own);

#endif

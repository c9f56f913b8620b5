/* What a model says of rows, as CSV: predictions, labels, coordinates. */
#ifndef GRAM_CLI_REPORT_VALUE_ROWS_H
#define GRAM_CLI_REPORT_VALUE_ROWS_H

#include "cli/terminal/cli.h"

/* Columns of a table that are copied before the values. */
typedef struct cli_kept {
    const gram_table *table;
    const int64_t *columns;
    int64_t count;
} cli_kept;

/* The header; kept may be NULL. */
void cli_add_value_names(gram_string *text, const gram_columns *columns, const cli_kept *kept);
/* One row for each row of the table, ldv numbers apart; without values for one that was dropped. */
void cli_add_value_rows(gram_string *text, const gram_columns *columns, const cli_kept *kept, const gram_prepared *data,
                        const double *values, int64_t ldv);

#endif

/* Scores of predictions, as reports print them. */
#ifndef GRAM_CLI_REPORT_SCORE_REPORT_H
#define GRAM_CLI_REPORT_SCORE_REPORT_H

#include "cli/terminal/cli.h"

/* Rows for people; nothing if no targets were known. */
void cli_score_print(gram_string *text, const gram_columns *columns, const gram_score_report *score);

#endif

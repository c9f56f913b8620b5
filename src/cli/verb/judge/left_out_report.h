/* How rows were left out, in words. */
#ifndef GRAM_CLI_VERB_JUDGE_LEFT_OUT_REPORT_H
#define GRAM_CLI_VERB_JUDGE_LEFT_OUT_REPORT_H

#include "cli/terminal/cli.h"

/* "judged on   500 rows left out in 3 folds, by fits to 334 rows each; tuned anew for each" */
void cli_add_left_out(gram_string *text, const gram_cv_report *report);

#endif

/* What was taken for granted of the data: the first paragraph of a report of learning. */
#ifndef GRAM_CLI_REPORT_LESSON_REPORT_H
#define GRAM_CLI_REPORT_LESSON_REPORT_H

#include "cli/terminal/cli.h"

/* "Regression: y on 3 features; 200 rows; numbers are standardised." */
void cli_lesson_print(gram_string *text, const gram_lesson *lesson);

#endif

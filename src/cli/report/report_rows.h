/* The parts that human reports are made of: headings, and rows of a label and a value. */
#ifndef GRAM_CLI_REPORT_REPORT_ROWS_H
#define GRAM_CLI_REPORT_REPORT_ROWS_H

#include "cli/terminal/cli.h"

enum { CLI_VALUE_COLUMN = 20 };

/* A label, and spaces up to the column where values start. */
void cli_add_label(cli_text *text, const char *label);
void cli_add_row(cli_text *text, const char *label, const char *value);
/* Six digits; nothing is added for NaN, which means that there is no such number. */
void cli_add_number(cli_text *text, const char *label, double value);
/* A blank line, then the heading. */
void cli_add_heading(cli_session *session, cli_text *text, const char *heading);

/* What makes "row" of one and "rows" of others: "" or "s". */
const char *cli_plural(int64_t count);

/* Writes the report, made whole by the verb, and frees it; the progress line goes first. Returns the exit code. */
int cli_report_write(cli_session *session, cli_text *text);

#endif

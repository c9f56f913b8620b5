/* The parts that human reports are made of: headings, and rows of a label and a value. */
#ifndef GRAM_CLI_REPORT_REPORT_ROWS_H
#define GRAM_CLI_REPORT_REPORT_ROWS_H

#include "cli/terminal/cli.h"

enum { CLI_VALUE_COLUMN = 20, CLI_SHORT_SIZE = GRAM_NUMBER_SIZE };

/* Six digits for people; "-" for NaN. The point is a point: the command never sets a locale. */
char *cli_short_number(double value, char out[CLI_SHORT_SIZE]);

/* A label, and spaces up to the column where values start. */
void cli_add_label(gram_string *text, const char *label);
void cli_add_row(gram_string *text, const char *label, const char *value);
/* A row whose value has numbers in it, each in at most six digits: JSON has all. */
void cli_add_rounded(gram_string *text, const char *label, const char *value);
/* Words and the end of the line: what is long is broken after one of the characters `after`, and goes on from `column`. What is broken after
 * ", " can still be read back as a kernel. */
void cli_add_wrapped(gram_string *text, const char *words, const char *after, size_t column);
/* Six digits; nothing is added for NaN, which means that there is no such number. */
void cli_add_number(gram_string *text, const char *label, double value);
/* A blank line, then the heading. */
void cli_add_heading(cli_session *session, gram_string *text, const char *heading);

/* "1,2,3" of numbers in full, and what stands behind them. */
void cli_add_values(gram_string *text, int64_t count, const double *values, const char *after);

/* What makes "row" of one and "rows" of others: "" or "s". */
const char *cli_plural(int64_t count);

/* What it took, and what was left out for lack of time. */
void cli_add_cost(cli_session *session, gram_string *text);
/* The keys that JSON reports of work end with: the picture, if there is one, what was left out, seconds and memory. */
void cli_json_end(cli_session *session, gram_json *json, const char *plot);

/* Makes the report whole and writes it: with --json one object that `json` fills, else what `print` adds. The progress line
 * goes first. Returns the exit code. */
int cli_report_print(cli_session *session, const void *report,
                     void (*json)(cli_session *session, const void *report, gram_json *json),
                     void (*print)(cli_session *session, const void *report, gram_string *text));

#endif

/* What the features are worth: how much worse left-out rows are predicted when one is permuted, as bars. */
#include "cli/report/model_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/report/report_rows.h"

enum { BAR = 30, LONGEST_NAME = 28 };

static size_t name_width(const gram_importance *rows, int64_t count)
{
    size_t width = CLI_VALUE_COLUMN;
    for (int64_t i = 0; i < count; i++) {
        const size_t length = gram_string_width(rows[i].name, strlen(rows[i].name)) + 2;
        if (length > width) width = length;
    }
    return width < LONGEST_NAME ? width : LONGEST_NAME;
}

static void print_row(gram_string *text, const gram_importance *row, double largest, size_t width)
{
    char number[CLI_SHORT_SIZE], se[CLI_SHORT_SIZE];
    const double share = largest > 0 ? row->value / largest : 0;
    gram_string_add(text, "%s", row->name);
    gram_string_pad(text, width);
    (void)snprintf(number, sizeof number, "%.3g", row->value);
    (void)snprintf(se, sizeof se, "%.2g", row->se);
    gram_string_add(text, "%-10s %-10s ", number, se);
    const int bar = share > 0 ? (int)ceil(BAR * share - 0.5) : 0;
    for (int b = 0; b < bar; b++) gram_string_put(text, "#", 1);
    gram_string_add(text, "\n");
}

void cli_relevance_print(cli_session *session, gram_string *text, const gram_description *description, int64_t most)
{
    int64_t all;
    const gram_importance *rows = gram_description_importance(description, &all);
    const int64_t count = all < most ? all : most;
    const size_t width = name_width(rows, count);
    if (count == 0) return;
    cli_add_heading(session, text,
                    "Importance of the features: the rise of the error on left-out rows when one is permuted");
    gram_string_add(text, "feature");
    gram_string_pad(text, width);
    gram_string_add(text, "rise       standard error\n");
    for (int64_t i = 0; i < count; i++) print_row(text, &rows[i], rows[0].value, width);
    if (count < all) gram_string_add(text, "and %" PRId64 " more\n", all - count);
}

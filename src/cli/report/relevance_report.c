#include "cli/report/relevance_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report_rows.h"

int cli_relevance_find(cli_session *session, const gram_kernel *kernel, const gram_preparation *preparation,
                       cli_relevance *relevance)
{
    if (!preparation) return CLI_DONE;
    relevance->preparation = preparation;
    relevance->rows = calloc((size_t)gram_preparation_describe(preparation)->feature_count, sizeof *relevance->rows);
    if (!relevance->rows) return cli_no_memory();
    const gram_status status =
        gram_kernel_relevance(session->context, kernel, preparation, relevance->rows, &relevance->count);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

void cli_relevance_free(cli_relevance *relevance)
{
    free(relevance->rows);
    *relevance = (cli_relevance){0};
}

const char *cli_relevance_name(const cli_relevance *relevance, int64_t row)
{
    return gram_preparation_describe(relevance->preparation)->features[relevance->rows[row].feature].name;
}

void cli_relevance_json(gram_json *json, const cli_relevance *relevance)
{
    if (relevance->count == 0) return;
    gram_json_open(json, "relevance", '[');
    for (int64_t i = 0; i < relevance->count; i++) {
        gram_json_open(json, NULL, '{');
        gram_json_string(json, "feature", cli_relevance_name(relevance, i));
        gram_json_number(json, "value", relevance->rows[i].value);
        gram_json_number(json, "length", relevance->rows[i].length);
        gram_json_close(json, '{');
    }
    gram_json_close(json, '[');
}

/* ---- for people ---- */

enum { BAR = 30, LONGEST_NAME = 28 };

static size_t name_width(const cli_relevance *relevance, int64_t count)
{
    size_t width = CLI_VALUE_COLUMN;
    for (int64_t i = 0; i < count; i++) {
        const char *name = cli_relevance_name(relevance, i);
        const size_t length = gram_string_width(name, strlen(name)) + 2;
        if (length > width) width = length;
    }
    return width < LONGEST_NAME ? width : LONGEST_NAME;
}

static void print_row(gram_string *text, const cli_relevance *relevance, int64_t i, size_t width)
{
    char number[CLI_SHORT_SIZE];
    const gram_relevance *row = &relevance->rows[i];
    const double share = row->value / relevance->rows[0].value;
    gram_string_add(text, "%s", cli_relevance_name(relevance, i));
    gram_string_pad(text, width);
    (void)snprintf(number, sizeof number, "%.3g", row->value);
    gram_string_add(text, "%-9s ", number);
    const int bar = share > 0 ? (int)ceil(BAR * share - 0.5) : 0;
    for (int b = 0; b < bar; b++) gram_string_put(text, "#", 1);
    if (!isnan(row->length)) {
        (void)snprintf(number, sizeof number, "%.3g", row->length);
        gram_string_pad(text, width + 10 + BAR + 2);
        gram_string_add(text, "%s", number);
    }
    gram_string_add(text, "\n");
}

void cli_relevance_print(cli_session *session, gram_string *text, const cli_relevance *relevance, int64_t most)
{
    if (relevance->count == 0) return;
    const int64_t count = relevance->count < most ? relevance->count : most;
    const size_t width = name_width(relevance, count);
    cli_add_heading(session, text, "Relevance of the features");
    gram_string_add(text, "feature");
    gram_string_pad(text, width);
    gram_string_add(text, "1/ell, scaled");
    gram_string_pad(text, width + 10 + BAR + 2);
    gram_string_add(text, "ell in its units\n");
    for (int64_t i = 0; i < count; i++) print_row(text, relevance, i, width);
    if (count < relevance->count) gram_string_add(text, "and %" PRId64 " more\n", relevance->count - count);
}

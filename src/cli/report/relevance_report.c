#include "cli/report/relevance_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report_rows.h"

/* The place of "rbf.ell[2]" in its list, from 1; 0 for a parameter outside lists. */
static int64_t place_in_list(const gram_parameter *parameter)
{
    const char *dot = strrchr(parameter->name, '.');
    if (!dot || strncmp(dot, ".ell[", 5) != 0) return 0;
    return strtoll(dot + 5, NULL, 10);
}

/* ell[d] from the kernel's only list of d length-scales; 0 if it does not have exactly that. */
static int find_lengths(cli_session *session, const gram_kernel *kernel, int64_t d, double *ell)
{
    gram_parameter parameter;
    int64_t found = 0;
    for (int64_t i = 0; i < gram_kernel_parameter_count(kernel); i++) {
        if (gram_kernel_parameter_get(session->context, kernel, i, &parameter) != GRAM_OK) return 0;
        const char *dot = strrchr(parameter.name, '.');
        const int64_t place = place_in_list(&parameter);
        if (place == 0 && dot && strcmp(dot, ".ell") == 0) return 0; /* another kernel, of all columns alike */
        if (place == 0) continue;
        if (place != ++found || place > d) return 0;
        ell[place - 1] = parameter.value;
    }
    return found == d;
}

static int more_relevant(const void *a, const void *b)
{
    const cli_relevance_row *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? 1 : -1;
    return (x->feature > y->feature) - (x->feature < y->feature);
}

static void group_columns(const gram_preparation *preparation, int64_t d, const double *ell, cli_relevance *relevance)
{
    const gram_preparation_description *known = gram_preparation_describe(preparation);
    for (int64_t f = 0; f < known->feature_count; f++) relevance->rows[f] = (cli_relevance_row){f, 0, NAN};
    for (int64_t l = 0; l < d; l++) {
        const int64_t f = gram_preparation_feature_of(preparation, l);
        cli_relevance_row *row = &relevance->rows[f];
        if (1 / ell[l] > row->value) row->value = 1 / ell[l];
        if (!known->features[f].text) row->length = ell[l] * known->features[f].deviation;
    }
    relevance->count = known->feature_count;
    qsort(relevance->rows, (size_t)relevance->count, sizeof *relevance->rows, more_relevant);
}

int cli_relevance_find(cli_session *session, const gram_kernel *kernel, const gram_preparation *preparation,
                       cli_relevance *relevance)
{
    const int64_t d = preparation ? gram_preparation_dimension(preparation) : 0;
    if (d < 2) return CLI_DONE;
    double *ell = calloc((size_t)d, sizeof *ell);
    relevance->rows = calloc((size_t)d, sizeof *relevance->rows);
    relevance->preparation = preparation;
    if (ell && relevance->rows && find_lengths(session, kernel, d, ell)) group_columns(preparation, d, ell, relevance);
    const int code = ell && relevance->rows ? CLI_DONE : cli_no_memory();
    free(ell);
    return code;
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

void cli_relevance_json(cli_json *json, const cli_relevance *relevance)
{
    if (relevance->count == 0) return;
    cli_json_open(json, "relevance", '[');
    for (int64_t i = 0; i < relevance->count; i++) {
        cli_json_open(json, NULL, '{');
        cli_json_string(json, "feature", cli_relevance_name(relevance, i));
        cli_json_number(json, "value", relevance->rows[i].value);
        cli_json_number(json, "length", relevance->rows[i].length);
        cli_json_close(json, '{');
    }
    cli_json_close(json, '[');
}

/* ---- for people ---- */

enum { BAR = 30, LONGEST_NAME = 28 };

static size_t name_width(const cli_relevance *relevance, int64_t count)
{
    size_t width = CLI_VALUE_COLUMN;
    for (int64_t i = 0; i < count; i++) {
        const char *name = cli_relevance_name(relevance, i);
        const size_t length = cli_text_width(name, strlen(name)) + 2;
        if (length > width) width = length;
    }
    return width < LONGEST_NAME ? width : LONGEST_NAME;
}

static void print_row(cli_text *text, const cli_relevance *relevance, int64_t i, size_t width)
{
    char number[CLI_SHORT_SIZE];
    const cli_relevance_row *row = &relevance->rows[i];
    const double share = row->value / relevance->rows[0].value;
    cli_text_add(text, "%s", cli_relevance_name(relevance, i));
    cli_text_pad(text, width);
    (void)snprintf(number, sizeof number, "%.3g", row->value);
    cli_text_add(text, "%-9s ", number);
    const int bar = share > 0 ? (int)ceil(BAR * share - 0.5) : 0;
    for (int b = 0; b < bar; b++) cli_text_put(text, "#", 1);
    if (!isnan(row->length)) {
        (void)snprintf(number, sizeof number, "%.3g", row->length);
        cli_text_pad(text, width + 10 + BAR + 2);
        cli_text_add(text, "%s", number);
    }
    cli_text_add(text, "\n");
}

void cli_relevance_print(cli_session *session, cli_text *text, const cli_relevance *relevance, int64_t most)
{
    if (relevance->count == 0) return;
    const int64_t count = relevance->count < most ? relevance->count : most;
    const size_t width = name_width(relevance, count);
    cli_add_heading(session, text, "Relevance of the features");
    cli_text_add(text, "feature");
    cli_text_pad(text, width);
    cli_text_add(text, "1/ell, scaled");
    cli_text_pad(text, width + 10 + BAR + 2);
    cli_text_add(text, "ell in its units\n");
    for (int64_t i = 0; i < count; i++) print_row(text, relevance, i, width);
    if (count < relevance->count) cli_text_add(text, "and %" PRId64 " more\n", relevance->count - count);
}

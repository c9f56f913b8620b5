/* gram test independence: are two groups of columns of one file independent? */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/test_picture.h"
#include "cli/report/kernel_text.h"
#include "cli/report/report_rows.h"
#include "cli/verb/prepared_samples.h"
#include "cli/verb/verb_test.h"

typedef struct own_options {
    const char *x, *y, *mutual;
    const char *kernel, *kernel_x, *kernel_y;
} own_options;

#define PLACE(field) offsetof(own_options, field)

static const cli_option own_table[] = {
    CLI_ROW("x", CLI_TEXT, PLACE(x), "LIST", "the first group of columns, e.g. x1,x3:x5,7"),
    CLI_ROW("y", CLI_TEXT, PLACE(y), "LIST", "the second group"),
    CLI_ROW("mutual", CLI_TEXT, PLACE(mutual), "LIST",
            "instead: are all these columns (3 to 16) mutually independent? (dHSIC)"),
    CLI_ROW("kernel", CLI_TEXT, PLACE(kernel), "E",
            "for all groups (default: rbf; free parameters by the median heuristic)"),
    CLI_ROW("kernel-x", CLI_TEXT, PLACE(kernel_x), "E", "for the first group only"),
    CLI_ROW("kernel-y", CLI_TEXT, PLACE(kernel_y), "E", "for the second group only"),
};

static const cli_usage usage = {
    "test independence",
    "DATA --x LIST --y LIST",
    "Tests whether two groups of columns are independent, row by row, by the Hilbert-Schmidt independence criterion.\n"
    "Columns are standardised, text columns become categories. The statistic is HSIC =\n"
    "trace(K H L H)/n^2 (a V-statistic, with or without --biased).\n"
    "\n"
    "Methods:\n"
    "  permutation  the rows of y are shuffled: exact level (default)\n"
    "  gamma        gamma approximation: no permutations, for some 200 rows or more\n",
    "  gram test independence survey.csv --x age --y income\n"
    "  gram test independence data.csv --x x1:x3 --y y --kernel-y 'laplace' --plot pair.svg\n"
    "  gram test independence residuals.csv --mutual e1,e2,e3\n",
    1,
    1,
    NULL,
    NULL};

/* Features and prepared columns of a group. */
typedef struct group {
    int64_t first_feature, features;
    int64_t first, d;
    gram_points *points;
} group;

/* Everything that is printed. */
typedef struct report {
    const own_options *own;
    const cli_test_options *options;
    const cli_rows_options *data;
    gram_hsic_options how;
    cli_rows rows; /* of all groups, one after the other */
    int groups;
    group group[GRAM_HSIC_MAX_VARIABLES];
    gram_kernel *kernels[GRAM_HSIC_MAX_VARIABLES];
    gram_string kernel_text;
    gram_hsic_result result;
} report;

/* ---- finding out ---- */

static int check_use(const own_options *own)
{
    const char *help = "Usage: gram test independence DATA --x LIST --y LIST [OPTIONS]";
    if (own->mutual && (own->x || own->y || own->kernel_x || own->kernel_y))
        return cli_fail(CLI_WRONG_USE, help,
                        "test independence: --mutual cannot be combined with --x, --y and their kernels");
    if (!own->mutual && (!own->x || !own->y))
        return cli_fail(CLI_WRONG_USE, help, "test independence: --%s is missing", own->x ? "y" : "x");
    return CLI_DONE;
}

static int check(void *report_)
{
    static const char *const names[] = {"permutation", "gamma"};
    static const gram_hsic_method methods[] = {GRAM_HSIC_PERMUTATION, GRAM_HSIC_GAMMA};
    report *r = report_;
    int place, code = check_use(r->own);
    if (code == CLI_DONE) code = cli_test_method(usage.verb, r->options, names, 2, &place);
    if (code != CLI_DONE) return code;
    gram_hsic_options_init(&r->how, sizeof r->how);
    r->how.level = r->options->level;
    r->how.permutations = r->options->permutations;
    r->how.method = methods[place];
    if (r->own->mutual && r->how.method == GRAM_HSIC_GAMMA)
        return cli_fail(CLI_WRONG_USE, "Leave --method out.", "test independence: --method gamma is for two groups");
    return CLI_DONE;
}

/* The columns of a list: their places in the table. */
static int find_columns(cli_session *session, const report *r, const char *list, int64_t *columns, int64_t *count)
{
    const gram_status status = gram_table_find_columns(session->context, r->rows.table, list, columns, count);
    if (status >= 0) return CLI_DONE;
    return cli_session_fail(session, status, 1, "A list of columns is names, places and ranges: x1,x3:x5,7.");
}

static void add_group(report *r, int64_t features)
{
    const int64_t end = r->groups ? r->group[r->groups - 1].first_feature + r->group[r->groups - 1].features : 0;
    r->group[r->groups++] = (group){.first_feature = end, .features = features};
}

static int add_mutual(cli_session *session, report *r, int64_t *columns)
{
    int64_t count = 0;
    const int code = find_columns(session, r, r->own->mutual, columns, &count);
    if (code != CLI_DONE) return code;
    if (count < 2 || count > GRAM_HSIC_MAX_VARIABLES)
        return cli_fail(CLI_WRONG_USE, "Mutual independence is tested of 2 to 16 columns.",
                        "test independence: --mutual has %" PRId64 " column%s", count, cli_plural(count));
    for (int64_t i = 0; i < count; i++) add_group(r, 1);
    return CLI_DONE;
}

/* A column in both groups depends on itself: surely a slip. */
static int add_both(cli_session *session, report *r, int64_t *columns)
{
    int64_t x = 0, y = 0, *of_y = columns + gram_table_columns(r->rows.table);
    int code = find_columns(session, r, r->own->x, columns, &x);
    if (code == CLI_DONE) code = find_columns(session, r, r->own->y, of_y, &y);
    for (int64_t i = 0; i < x && code == CLI_DONE; i++)
        for (int64_t j = 0; j < y && code == CLI_DONE; j++)
            if (columns[i] == of_y[j])
                code = cli_fail(CLI_WRONG_USE, "A column belongs to one group.",
                                "test independence: column '%s' is in --x and in --y",
                                gram_table_column_name(r->rows.table, columns[i]));
    add_group(r, x);
    add_group(r, y);
    return code;
}

static int find_groups(cli_session *session, report *r)
{
    int64_t *columns = calloc((size_t)(2 * gram_table_columns(r->rows.table)), sizeof *columns);
    if (!columns) return cli_no_memory();
    const int code = r->own->mutual ? add_mutual(session, r, columns) : add_both(session, r, columns);
    free(columns);
    return code;
}

/* All columns in one list: a row that misses a value of one group is missing in all. */
static int prepare(cli_session *session, report *r)
{
    gram_string list = {0};
    if (r->own->mutual)
        gram_string_add(&list, "%s", r->own->mutual);
    else
        gram_string_add(&list, "%s,%s", r->own->x, r->own->y);
    const int code = list.failed ? cli_no_memory() : cli_rows_prepare(session, r->data, list.data, &r->rows);
    gram_string_free(&list);
    if (code != CLI_DONE || r->rows.n >= 4) return code;
    return cli_fail(CLI_BAD_DATA, "The test needs at least four rows, and more to show anything.",
                    "%s has %" PRId64 " row%s%s", r->rows.file, r->rows.n, cli_plural(r->rows.n),
                    cli_rows_dropped(&r->rows) ? " without missing values" : "");
}

/* Where each group's prepared columns are, and its points. */
static int make_points(cli_session *session, report *r)
{
    int64_t column = 0;
    int code = CLI_DONE;
    for (int g = 0; g < r->groups && code == CLI_DONE; g++) {
        group *own = &r->group[g];
        own->first = column;
        while (column < r->rows.d &&
               gram_preparation_feature_of(r->rows.columns, column) < own->first_feature + own->features)
            column++;
        own->d = column - own->first;
        code = cli_rows_points(session, &r->rows, own->first, own->d, &own->points);
    }
    return code;
}

static int read_groups(cli_session *session, const char *path, report *r)
{
    int code = cli_rows_read(session, path, r->data, &r->rows);
    if (code == CLI_DONE) code = find_groups(session, r);
    if (code == CLI_DONE) code = prepare(session, r);
    return code == CLI_DONE ? make_points(session, r) : code;
}

static int read_kernels(cli_session *session, report *r)
{
    int code = CLI_DONE;
    for (int g = 0; g < r->groups && code == CLI_DONE; g++) {
        const char *expression = g == 0 && r->own->kernel_x   ? r->own->kernel_x
                                 : g == 1 && r->own->kernel_y ? r->own->kernel_y
                                                              : r->own->kernel;
        if (expression) code = cli_kernel_read(session, expression, &r->kernels[g]);
    }
    return code;
}

/* All kernels in one text: "rbf(ell=1), rbf(ell=2)". */
static int write_kernels(report *r)
{
    for (int g = 0; g < r->groups; g++) {
        if (g > 0) gram_string_add(&r->kernel_text, ", ");
        gram_kernel_append(r->result.kernels[g], &r->kernel_text);
    }
    return r->kernel_text.failed ? cli_no_memory() : CLI_DONE;
}

static int run_test(cli_session *session, report *r)
{
    const gram_points *points[GRAM_HSIC_MAX_VARIABLES];
    for (int g = 0; g < r->groups; g++) points[g] = r->group[g].points;
    const gram_status status = gram_hsic_test(session->context, r->groups, r->kernels, points, &r->how, &r->result);
    if (status >= 0) return write_kernels(r);
    int code = CLI_DONE;
    for (int g = 0; g < r->groups && status == GRAM_ERROR_DOMAIN && code == CLI_DONE; g++)
        if (r->kernels[g]) code = cli_rows_blame(session, &r->rows, r->group[g].first, points[g], r->kernels[g]);
    if (code != CLI_DONE) return code;
    return cli_session_fail(session, status, status == GRAM_ERROR_DIMENSION || status == GRAM_ERROR_DOMAIN,
                            status == GRAM_ERROR_NUMERICAL ? CLI_TEST_TOO_LARGE : NULL);
}

/* ---- the picture: one column against another ---- */

static int draw(cli_session *session, const report *r)
{
    int64_t x, y;
    char title[160], number[CLI_SHORT_SIZE], x_name[CLI_COLUMN_NAME_SIZE], y_name[CLI_COLUMN_NAME_SIZE];
    const group *a = &r->group[0], *b = &r->group[1];
    const gram_status status = gram_hsic_strongest(session->context, a->points, b->points, &x, &y);
    if (status < 0) return cli_session_fail(session, status, 0, NULL);
    x += a->first;
    y += b->first;
    const cli_rows *rows = &r->rows;
    double *values = calloc((size_t)(2 * rows->n), sizeof *values);
    if (!values) return cli_no_memory();
    for (int64_t i = 0; i < rows->n; i++) {
        values[i] = gram_preparation_unit(rows->columns, x, rows->x[i * rows->d + x]);
        values[rows->n + i] = gram_preparation_unit(rows->columns, y, rows->x[i * rows->d + y]);
    }
    (void)snprintf(title, sizeof title, "independence: p = %s, %.100s", cli_short_number(r->result.p_value, number),
                   r->kernel_text.data);
    const cli_test_scatter scatter = {
        cli_rows_name(rows, x, x_name), cli_rows_name(rows, y, y_name), values, values + rows->n, rows->n, title};
    const int code = cli_test_draw_scatter(session, r->options->plot, &scatter);
    free(values);
    return code;
}

/* ---- printing ---- */

static cli_test_outcome outcome_of(const void *report_)
{
    const report *r = report_;
    const int gamma = r->result.used == GRAM_HSIC_GAMMA;
    return (cli_test_outcome){.test = "independence",
                              .method = gamma ? "gamma" : "permutation",
                              .kernel = r->kernel_text.data,
                              .assumes = gamma ? "rows are independent of each other, and the sample large: the level "
                                                 "is approximate"
                                               : CLI_TEST_EXACT,
                              .statistic = r->result.statistic,
                              .p_value = r->result.p_value,
                              .level = r->options->level,
                              .draws = gamma ? 0 : r->options->permutations,
                              .reject = r->result.reject,
                              .n = r->result.n};
}

static const char *feature_name(const report *r, int64_t feature)
{
    return gram_preparation_describe(r->rows.columns)->features[feature].name;
}

static void json_group(gram_json *json, const char *key, const report *r, int64_t first, int64_t count)
{
    gram_json_open(json, key, '[');
    for (int64_t l = 0; l < count; l++) gram_json_string(json, NULL, feature_name(r, first + l));
    gram_json_close(json, '[');
}

static void json_kernel(gram_json *json, const char *key, const gram_kernel *kernel)
{
    gram_string text = {0};
    gram_kernel_append(kernel, &text);
    gram_json_string(json, key, text.data);
    gram_string_free(&text);
}

static void json_groups(gram_json *json, const report *r)
{
    if (r->own->mutual) {
        json_group(json, "mutual", r, 0, r->groups);
        return;
    }
    json_group(json, "x", r, 0, r->group[0].features);
    json_group(json, "y", r, r->group[1].first_feature, r->group[1].features);
    json_kernel(json, "kernel_x", r->result.kernels[0]);
    json_kernel(json, "kernel_y", r->result.kernels[1]);
}

static void write_json(cli_session *session, const void *report_, gram_json *json)
{
    const report *r = report_;
    (void)session;
    json_groups(json, r);
    const cli_test_outcome outcome = outcome_of(r);
    gram_json_truth(json, "scaled", cli_rows_scaled(&r->rows));
    gram_json_integer(json, "dropped", cli_rows_dropped(&r->rows));
    cli_test_json(json, &outcome, r->result.null_mean, r->result.null_deviation);
}

static void add_group_row(gram_string *text, const char *label, const report *r, const group *own)
{
    cli_add_label(text, label);
    for (int64_t l = 0; l < own->features; l++)
        gram_string_add(text, "%s%s", l ? ", " : "", feature_name(r, own->first_feature + l));
    gram_string_add(text, "\n");
}

static void write_table(cli_session *session, const void *report_, gram_string *text)
{
    char count[CLI_SHORT_SIZE];
    const report *r = report_;
    const cli_test_outcome outcome = outcome_of(r);
    const int64_t dropped = cli_rows_dropped(&r->rows);
    (void)session;
    cli_add_label(text, "data");
    gram_string_add(text, "%s, %s rows%s\n", r->rows.file, gram_count_format(r->rows.n, count),
                    cli_rows_scaled(&r->rows) ? ", columns standardised" : "");
    cli_test_print_dropped(text, dropped);
    for (int g = 0; g < r->groups; g++)
        add_group_row(text, r->own->mutual ? "variable" : g ? "y" : "x", r, &r->group[g]);
    cli_add_label(text, "method");
    gram_string_add(text, "%s", outcome.method);
    if (r->result.used == GRAM_HSIC_PERMUTATION)
        gram_string_add(text, ", %s permutations", gram_count_format(r->options->permutations, count));
    gram_string_add(text, "\n");
    cli_add_row(text, "assumed", outcome.assumes);
    cli_add_row(text, "kernel", r->kernel_text.data);
    cli_test_print(text, &outcome);
    cli_add_number(text, "if independent", r->result.null_mean);
    cli_add_number(text, "  deviation", r->result.null_deviation);
    if (r->options->plot) cli_add_row(text, "plot", r->options->plot);
}

static int find_all(cli_session *session, char **operands, void *report_)
{
    report *r = report_;
    int code = read_groups(session, operands[0], r);
    if (code == CLI_DONE) code = read_kernels(session, r);
    if (code == CLI_DONE) code = run_test(session, r);
    if (code == CLI_DONE && r->options->plot) code = draw(session, r);
    return code;
}

static void release(void *report_)
{
    report *r = report_;
    for (int g = 0; g < GRAM_HSIC_MAX_VARIABLES; g++) {
        gram_points_release(r->group[g].points);
        gram_kernel_release(r->kernels[g]);
    }
    cli_rows_free(&r->rows);
    gram_string_free(&r->kernel_text);
    gram_hsic_result_clear(&r->result);
}

int cli_test_independence(int count, char **arguments)
{
    own_options own = {0};
    cli_test_options options;
    cli_rows_options data = {0};
    cli_common common = {0};
    report r = {.own = &own, .options = &options, .data = &data};
    const cli_group groups[] = {
        {"Options", own_table, sizeof own_table / sizeof *own_table, &own},
        cli_test_group(&options),
        cli_rows_group(&data),
        cli_common_group(&common),
    };
    cli_test_plan plan = {&usage,   groups,     4,           &options,   &r,     check,
                          find_all, write_json, write_table, outcome_of, release};
    cli_test_defaults(&options);
    gram_hsic_result_init(&r.result, sizeof r.result);
    return cli_test_run(&plan, count, arguments);
}

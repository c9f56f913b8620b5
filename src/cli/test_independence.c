/* gram test independence: are two groups of columns of one file independent? */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "memory.h"
#include "report.h"
#include "samples.h"
#include "test.h"
#include "test_plot.h"
#include "words.h"

typedef struct own_options {
    const char *x, *y, *mutual;
    const char *kernel, *kernel_x, *kernel_y;
} own_options;

static const cli_option own_table[] = {
    {"x", 0, CLI_TEXT, offsetof(own_options, x), "LIST", "the first group of columns, e.g. x1,x3:x5,7", 0, 0, NULL},
    {"y", 0, CLI_TEXT, offsetof(own_options, y), "LIST", "the second group", 0, 0, NULL},
    {"mutual", 0, CLI_TEXT, offsetof(own_options, mutual), "LIST",
     "instead: are all these columns (3 to 16) mutually independent? (dHSIC)", 0, 0, NULL},
    {"kernel", 0, CLI_TEXT, offsetof(own_options, kernel), "E",
     "for all groups (default: rbf; open numbers by the median heuristic)", 0, 0, NULL},
    {"kernel-x", 0, CLI_TEXT, offsetof(own_options, kernel_x), "E", "for the first group only", 0, 0, NULL},
    {"kernel-y", 0, CLI_TEXT, offsetof(own_options, kernel_y), "E", "for the second group only", 0, 0, NULL},
};

static const cli_usage usage = {
    "test independence",
    "DATA --x LIST --y LIST",
    "Tests whether two groups of columns are independent, row by row, by the Hilbert-Schmidt independence criterion.\n"
    "Columns are standardised. The statistic is HSIC = trace(K H L H)/n^2 (a V-statistic, with or without --biased).\n"
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
    NULL,
};

/* Everything that is printed. */
typedef struct report {
    const own_options *own;
    const cli_test_options *options;
    int groups;
    cli_rows all;                            /* the table */
    cli_rows group[GRAM_HSIC_MAX_VARIABLES]; /* their tables are NULL */
    cli_scaling scaling[GRAM_HSIC_MAX_VARIABLES];
    int64_t *columns[GRAM_HSIC_MAX_VARIABLES]; /* places in the table */
    gram_kernel *kernels[GRAM_HSIC_MAX_VARIABLES];
    cli_text kernel_text;
    gram_hsic_result result;
} report;

/* ---- finding out ---- */

static int check_use(const own_options *own)
{
    const char *help = "Usage: gram test independence DATA --x LIST --y LIST [OPTIONS]";
    if (own->mutual && (own->x || own->y || own->kernel_x || own->kernel_y))
        return cli_fail(CLI_WRONG_USE, help, "test independence: --mutual goes without --x, --y and their kernels");
    if (!own->mutual && (!own->x || !own->y))
        return cli_fail(CLI_WRONG_USE, help, "test independence: --%s is missing", own->x ? "y" : "x");
    return CLI_DONE;
}

static int choose(const report *r, gram_hsic_options *options)
{
    static const char *const names[] = {"permutation", "gamma"};
    const char *help = "Methods: permutation, gamma.", *name = r->options->method;
    gram_hsic_options_init(options, sizeof *options);
    options->level = r->options->level;
    options->permutations = r->options->permutations;
    if (!name || strcmp(name, "permutation") == 0) return CLI_DONE;
    if (strcmp(name, "gamma") != 0) {
        const char *near = gram_suggest(name, names, 2);
        if (near)
            return cli_fail(CLI_WRONG_USE, help, "test independence: no method '%s', did you mean '%s'?", name, near);
        return cli_fail(CLI_WRONG_USE, help, "test independence: no method '%s'", name);
    }
    options->method = GRAM_HSIC_GAMMA;
    if (r->own->mutual)
        return cli_fail(CLI_WRONG_USE, "Leave --method out.", "test independence: --method gamma is for two groups");
    return CLI_DONE;
}

/* The columns of a list: their places, `count` of them; the caller frees them. */
static int find_columns(cli_session *session, const report *r, const char *list, int64_t **columns, int64_t *count)
{
    *columns = calloc((size_t)gram_table_columns(r->all.table), sizeof **columns);
    if (!*columns) return cli_no_memory();
    const gram_status status = gram_table_find_columns(session->context, r->all.table, list, *columns, count);
    if (status >= 0) return CLI_DONE;
    return cli_session_fail(session, status, 1, "A list of columns is names, places and ranges: x1,x3:x5,7.");
}

/* Group number r->groups is made of r->columns[r->groups]. */
static int take_group(report *r, int64_t count)
{
    cli_rows *group = &r->group[r->groups];
    *group = r->all;
    const int code = cli_rows_take(group, count, r->columns[r->groups++]);
    group->table = NULL; /* the table has one owner */
    return code;
}

static int add_group(cli_session *session, report *r, const char *list)
{
    int64_t count = 0;
    const int code = find_columns(session, r, list, &r->columns[r->groups], &count);
    return code == CLI_DONE ? take_group(r, count) : code;
}

static int add_mutual(cli_session *session, report *r)
{
    int64_t *columns = NULL, count = 0;
    int code = find_columns(session, r, r->own->mutual, &columns, &count);
    if (code == CLI_DONE && (count < 2 || count > GRAM_HSIC_MAX_VARIABLES))
        code = cli_fail(CLI_WRONG_USE, "Mutual independence is tested of 2 to 16 columns.",
                        "test independence: --mutual has %" PRId64 " column%s", count, cli_plural(count));
    for (int64_t i = 0; i < count && code == CLI_DONE; i++) {
        r->columns[i] = calloc(1, sizeof **r->columns);
        if (!r->columns[i]) code = cli_no_memory();
        if (code == CLI_DONE) *r->columns[i] = columns[i];
        if (code == CLI_DONE) code = take_group(r, 1);
    }
    free(columns);
    return code;
}

/* A column in both groups depends on itself: surely a slip. */
static int check_groups(const report *r)
{
    for (int64_t i = 0; i < r->group[0].d && !r->own->mutual; i++)
        for (int64_t j = 0; j < r->group[1].d; j++)
            if (r->columns[0][i] == r->columns[1][j])
                return cli_fail(CLI_WRONG_USE, "A column belongs to one group.",
                                "test independence: column '%s' is in --x and in --y",
                                gram_table_column_name(r->all.table, r->columns[0][i]));
    if (r->all.n >= 4) return CLI_DONE;
    return cli_fail(CLI_BAD_DATA, "The test needs four rows at least, and more to show anything.",
                    "%s has %" PRId64 " row%s", r->all.file, r->all.n, cli_plural(r->all.n));
}

static int read_groups(cli_session *session, const char *path, const cli_rows_options *data, report *r)
{
    int code = cli_rows_read(session, path, data, &r->all);
    if (code == CLI_DONE && r->own->mutual) code = add_mutual(session, r);
    if (code == CLI_DONE && !r->own->mutual) code = add_group(session, r, r->own->x);
    if (code == CLI_DONE && !r->own->mutual) code = add_group(session, r, r->own->y);
    if (code == CLI_DONE) code = check_groups(r);
    for (int g = 0; g < r->groups && code == CLI_DONE; g++)
        code = cli_rows_scale(session, &r->group[g], NULL, data->no_scale, &r->scaling[g]);
    return code;
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
        char *text = cli_kernel_text(r->result.kernels[g]);
        if (!text) return cli_no_memory();
        cli_text_add(&r->kernel_text, "%s%s", g ? ", " : "", text);
        free(text);
    }
    return r->kernel_text.failed ? cli_no_memory() : CLI_DONE;
}

static int run_test(cli_session *session, const gram_hsic_options *options, report *r)
{
    const gram_points *points[GRAM_HSIC_MAX_VARIABLES];
    for (int g = 0; g < r->groups; g++) points[g] = r->group[g].points;
    const gram_status status = gram_hsic_test(session->context, r->groups, r->kernels, points, options, &r->result);
    if (status >= 0) return write_kernels(r);
    const char *help = NULL;
    if (status == GRAM_ERROR_DOMAIN && r->scaling[0].scaled)
        help = "Standardised columns have negative values; --no-scale takes them as they are.";
    return cli_session_fail(session, status, status == GRAM_ERROR_DIMENSION || status == GRAM_ERROR_DOMAIN, help);
}

/* ---- the picture: one column against another ---- */

/* The pair of columns that depends most, each pair on its own, by HSIC in standard deviations above chance. */
static int strongest_pair(cli_session *session, const report *r, int64_t *x, int64_t *y)
{
    enum { MOST_PAIRS = 100 };
    const cli_rows *a = &r->group[0], *b = &r->group[1];
    double best = -INFINITY;
    *x = *y = 0;
    if (a->d * b->d == 1 || a->d * b->d > MOST_PAIRS) return CLI_DONE;
    for (int64_t pair = 0; pair < a->d * b->d; pair++) {
        gram_points *points[2] = {NULL, NULL};
        gram_hsic_options options;
        gram_hsic_result result;
        gram_hsic_options_init(&options, sizeof options);
        gram_hsic_result_init(&result, sizeof result);
        options.method = GRAM_HSIC_GAMMA;
        gram_status status = gram_points_create_f64(session->context, a->n, 1, a->x + pair / b->d, a->d, &points[0]);
        if (status >= 0)
            status = gram_points_create_f64(session->context, b->n, 1, b->x + pair % b->d, b->d, &points[1]);
        if (status >= 0)
            status = gram_hsic_test(session->context, 2, NULL, (const gram_points *const *)points, &options, &result);
        const double score =
            result.null_deviation > 0 ? (result.statistic - result.null_mean) / result.null_deviation : -INFINITY;
        if (status >= 0 && score > best) best = score, *x = pair / b->d, *y = pair % b->d;
        gram_hsic_result_clear(&result);
        gram_points_destroy(points[0]);
        gram_points_destroy(points[1]);
        if (status < 0) return cli_session_fail(session, status, 0, NULL);
    }
    return CLI_DONE;
}

static int draw(cli_session *session, const report *r)
{
    int64_t x, y;
    char title[160], number[CLI_SHORT_SIZE];
    int code = strongest_pair(session, r, &x, &y);
    if (code != CLI_DONE) return code;
    const double *numbers = gram_table_numbers(r->all.table);
    const int64_t n = r->all.n, stride = gram_table_stride(r->all.table);
    double *values = calloc((size_t)(2 * n), sizeof *values);
    if (!values) return cli_no_memory();
    for (int64_t i = 0; i < n; i++) {
        values[i] = numbers[i * stride + r->columns[0][x]];
        values[n + i] = numbers[i * stride + r->columns[1][y]];
    }
    (void)snprintf(title, sizeof title, "independence: p = %s, %.100s", cli_short_number(r->result.p_value, number),
                   r->kernel_text.data);
    const cli_test_scatter scatter = {gram_table_column_name(r->all.table, r->columns[0][x]),
                                      gram_table_column_name(r->all.table, r->columns[1][y]),
                                      values,
                                      values + n,
                                      n,
                                      title};
    code = cli_test_draw_scatter(session, r->options->plot, &scatter);
    free(values);
    return code;
}

/* ---- printing ---- */

static cli_test_outcome outcome_of(const report *r)
{
    return (cli_test_outcome){.test = "independence",
                              .method = r->result.used == GRAM_HSIC_GAMMA ? "gamma" : "permutation",
                              .kernel = r->kernel_text.data,
                              .statistic = r->result.statistic,
                              .p_value = r->result.p_value,
                              .level = r->options->level,
                              .reject = r->result.reject,
                              .n = r->result.n};
}

static const char *assumes(const report *r)
{
    if (r->result.used == GRAM_HSIC_GAMMA)
        return "rows are independent of each other, and the sample large: the level is approximate";
    return "rows are independent of each other; the level holds for every sample size";
}

static void json_group(cli_json *json, const char *key, const report *r, int g)
{
    cli_json_open(json, key, '[');
    for (int64_t l = 0; l < r->group[g].d; l++)
        cli_json_string(json, NULL, gram_table_column_name(r->all.table, r->columns[g][l]));
    cli_json_close(json, '[');
}

static void json_kernel(cli_json *json, const char *key, const gram_kernel *kernel)
{
    char *text = cli_kernel_text(kernel);
    cli_json_string(json, key, text ? text : "");
    free(text);
}

static void json_groups(cli_json *json, const report *r)
{
    if (!r->own->mutual) {
        json_group(json, "x", r, 0);
        json_group(json, "y", r, 1);
        json_kernel(json, "kernel_x", r->result.kernels[0]);
        json_kernel(json, "kernel_y", r->result.kernels[1]);
        return;
    }
    cli_json_open(json, "mutual", '[');
    for (int g = 0; g < r->groups; g++)
        cli_json_string(json, NULL, gram_table_column_name(r->all.table, r->columns[g][0]));
    cli_json_close(json, '[');
}

static void write_json(cli_session *session, const report *r, cli_text *text)
{
    cli_json json = {text, 0};
    const cli_test_outcome outcome = outcome_of(r);
    cli_json_open(&json, NULL, '{');
    cli_test_json(&json, &outcome);
    json_groups(&json, r);
    cli_json_truth(&json, "scaled", r->scaling[0].scaled);
    cli_json_string(&json, "assumes", assumes(r));
    if (r->result.used == GRAM_HSIC_PERMUTATION)
        cli_json_integer(&json, "permutations", r->options->permutations);
    else
        cli_json_null(&json, "permutations");
    cli_json_number(&json, "null_mean", r->result.null_mean);
    cli_json_number(&json, "null_deviation", r->result.null_deviation);
    if (r->options->plot) cli_json_string(&json, "plot", r->options->plot);
    cli_json_number(&json, "seconds", cli_session_seconds(session));
    cli_json_integer(&json, "peak_bytes", (int64_t)cli_memory_peak());
    cli_json_close(&json, '{');
    cli_text_add(text, "\n");
}

static void add_group_row(cli_text *text, const char *label, const report *r, int g)
{
    cli_add_label(text, label);
    for (int64_t l = 0; l < r->group[g].d; l++)
        cli_text_add(text, "%s%s", l ? ", " : "", gram_table_column_name(r->all.table, r->columns[g][l]));
    cli_text_add(text, "\n");
}

static void write_table(const report *r, cli_text *text)
{
    char count[CLI_SHORT_SIZE];
    const cli_test_outcome outcome = outcome_of(r);
    cli_add_label(text, "data");
    cli_text_add(text, "%s, %s rows%s\n", r->all.file, cli_count(r->all.n, count),
                 r->scaling[0].scaled ? ", columns standardised" : "");
    for (int g = 0; g < r->groups; g++) add_group_row(text, r->own->mutual ? "variable" : g ? "y" : "x", r, g);
    cli_add_label(text, "method");
    cli_text_add(text, "%s", outcome.method);
    if (r->result.used == GRAM_HSIC_PERMUTATION)
        cli_text_add(text, ", %s permutations", cli_count(r->options->permutations, count));
    cli_text_add(text, "\n");
    cli_add_row(text, "assumed", assumes(r));
    cli_add_row(text, "kernel", r->kernel_text.data);
    cli_test_print(text, &outcome);
    cli_add_number(text, "if independent", r->result.null_mean);
    cli_add_number(text, "  deviation", r->result.null_deviation);
    if (r->options->plot) cli_add_row(text, "plot", r->options->plot);
}

static int print(cli_session *session, const report *r)
{
    cli_text text = {0};
    if (session->common->json)
        write_json(session, r, &text);
    else
        write_table(r, &text);
    return cli_report_write(session, &text);
}

static int find_all(cli_session *session, const char *path, const cli_rows_options *data, report *r)
{
    gram_hsic_options options;
    int code = choose(r, &options);
    if (code == CLI_DONE) code = read_groups(session, path, data, r);
    if (code == CLI_DONE) code = read_kernels(session, r);
    if (code == CLI_DONE) code = run_test(session, &options, r);
    if (code == CLI_DONE && r->options->plot) code = draw(session, r);
    return code;
}

static void free_report(report *r)
{
    for (int g = 0; g < r->groups; g++) {
        cli_rows_free(&r->group[g]);
        cli_scaling_free(&r->scaling[g]);
    }
    for (int g = 0; g < GRAM_HSIC_MAX_VARIABLES; g++) {
        gram_kernel_release(r->kernels[g]);
        free(r->columns[g]);
    }
    cli_rows_free(&r->all);
    cli_text_free(&r->kernel_text);
    gram_hsic_result_clear(&r->result);
}

int cli_test_independence(int count, char **arguments)
{
    own_options own = {0};
    cli_test_options options;
    cli_rows_options data = {0};
    cli_common common = {0};
    cli_session session = {0};
    report r = {.own = &own, .options = &options};
    const cli_group groups[] = {
        {"Options", own_table, sizeof own_table / sizeof *own_table, &own},
        cli_test_group(&options),
        cli_rows_group(&data),
        cli_common_group(&common),
    };
    char **operands;
    int operand_count;
    cli_test_defaults(&options);
    gram_hsic_result_init(&r.result, sizeof r.result);
    int code = cli_parse(&usage, groups, 4, count, arguments, &operands, &operand_count);
    if (code != CLI_CONTINUE) return code;
    code = check_use(&own);
    if (code == CLI_DONE) code = cli_test_check("independence", &options);
    if (code == CLI_DONE) code = cli_session_begin(&session, &common);
    if (code == CLI_DONE) code = find_all(&session, operands[0], &data, &r);
    if (code == CLI_DONE) code = print(&session, &r);
    if (code == CLI_DONE) code = cli_test_code(&options, r.result.reject);
    free_report(&r);
    cli_session_end(&session);
    return code;
}

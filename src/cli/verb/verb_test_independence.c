/* gram test independence: are two groups of columns of one file independent? */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/kernel_text.h"
#include "cli/report/report_rows.h"
#include "cli/verb/prepared_samples.h"
#include "cli/verb/verb_test.h"

typedef struct own_options {
    const char *x, *y, *given, *mutual;
    const char *kernel, *kernel_x, *kernel_y;
} own_options;

#define PLACE(field) offsetof(own_options, field)

static const cli_option own_table[] = {
    CLI_ROW("x", CLI_TEXT, PLACE(x), "LIST", "the first group of columns, e.g. x1,x3:x5,7"),
    CLI_ROW("y", CLI_TEXT, PLACE(y), "LIST", "the second group"),
    CLI_ROW("given", CLI_TEXT, PLACE(given), "LIST", "are they independent where these columns are the same?"),
    CLI_ROW("mutual", CLI_TEXT, PLACE(mutual), "LIST",
            "instead: are all these columns (2 to 16) mutually independent? (dHSIC)"),
    CLI_ROW("kernel", CLI_TEXT, PLACE(kernel), "E",
            "for all groups (default: many; free parameters by the median heuristic)"),
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
    "  aggregated   rbf and laplace1 at four widths for each group, all pairs of them: exact level (default)\n"
    "  permutation  one kernel for each group, the rows of y are shuffled: exact level (default with a kernel)\n"
    "  gamma        gamma approximation: no permutations, for some 200 rows or more\n"
    "\n"
    "--given asks for independence given other columns: what regressions on them leave of x and of y is compared, by\n"
    "random signs of the rows. Its level is approximate.\n",
    "  gram test independence survey.csv --x age --y income\n"
    "  gram test independence data.csv --x x1:x3 --y y --kernel-y 'laplace' --plot pair.svg\n"
    "  gram test independence survey.csv --x coffee --y health --given age,income\n"
    "  gram test independence residuals.csv --mutual e1,e2,e3\n",
    1,
    1,
    NULL,
    NULL};

/* Everything that is printed. */
typedef struct report {
    const own_options *own;
    const cli_test_options *options;
    const cli_rows_options *data;
    gram_hsic_options how;
    gram_sample *sample;
    const gram_sample_report *rows; /* of all groups, one after the other */
    gram_kernel *kernels[GRAM_HSIC_MAX_VARIABLES];
    gram_hsic_result result;
    gram_hsic_given_result given; /* instead, with --given */
} report;

/* In the order of gram_hsic_method, from GRAM_HSIC_PERMUTATION on. */
static const char *const METHODS[] = {"permutation", "gamma", "aggregated"};

/* ---- finding out ---- */

static int check_use(const own_options *own)
{
    const char *help = "Usage: gram test independence DATA --x LIST --y LIST [OPTIONS]";
    if (own->mutual && (own->x || own->y || own->kernel_x || own->kernel_y || own->given))
        return cli_fail(CLI_WRONG_USE, help,
                        "test independence: --mutual cannot be combined with --x, --y, --given and their kernels");
    if (!own->mutual && (!own->x || !own->y))
        return cli_fail(CLI_WRONG_USE, help, "test independence: --%s is missing", own->x ? "y" : "x");
    return CLI_DONE;
}

static int check(void *report_)
{
    report *r = report_;
    int place, code = check_use(r->own);
    if (code == CLI_DONE) code = cli_test_method(usage.verb, r->options, METHODS, 3, &place);
    if (code != CLI_DONE) return code;
    if (r->own->given && r->options->method)
        return cli_fail(CLI_WRONG_USE, "Leave --method out.", "test independence: --method %s is not for --given",
                        METHODS[place]);
    gram_hsic_options_init(&r->how, sizeof r->how);
    r->how.level = r->options->level;
    r->how.permutations = r->options->permutations;
    r->how.method = r->options->method ? (gram_hsic_method)(place + 1) : GRAM_HSIC_AUTO;
    if (r->own->mutual && r->how.method >= GRAM_HSIC_GAMMA)
        return cli_fail(CLI_WRONG_USE, "Leave --method out.", "test independence: --method %s is for two groups",
                        METHODS[place]);
    return CLI_DONE;
}

static int check_rows(const report *r)
{
    const int64_t groups = r->rows->group_count, n = r->rows->data->n;
    if (groups < 2)
        return cli_fail(CLI_WRONG_USE, "Mutual independence is tested of 2 to 16 columns.",
                        "test independence: --mutual has %" PRId64 " column%s", groups, cli_plural(groups));
    const int64_t least = r->own->given ? 10 : 4;
    if (n >= least) return CLI_DONE;
    return cli_fail(CLI_BAD_DATA,
                    least == 4 ? "The test needs at least four rows, and more to show anything."
                               : "The test with --given needs at least ten rows, and more to show anything.",
                    "%s has %" PRId64 " row%s%s", r->rows->file, n, cli_plural(n),
                    r->rows->dropped ? " without missing values" : "");
}

static int read_groups(cli_session *session, const char *path, report *r)
{
    const char *const lists[] = {r->own->mutual ? r->own->mutual : r->own->x, r->own->y, r->own->given};
    gram_sample_options wish = cli_rows_wish(r->data, usage.verb);
    wish.each = r->own->mutual != NULL;
    const gram_status status = gram_sample_read(session->context, path, &wish,
                                                r->own->mutual  ? 1
                                                : r->own->given ? 3
                                                                : 2,
                                                lists, &r->sample);
    if (status < 0) return cli_rows_unread(session, status);
    r->rows = gram_sample_get_report(r->sample);
    return check_rows(r);
}

static int read_kernels(cli_session *session, report *r)
{
    int code = CLI_DONE;
    for (int g = 0; g < r->rows->group_count && code == CLI_DONE; g++) {
        const char *expression = g == 0 && r->own->kernel_x   ? r->own->kernel_x
                                 : g == 1 && r->own->kernel_y ? r->own->kernel_y
                                                              : r->own->kernel;
        if (expression) code = cli_kernel_read(session, expression, &r->kernels[g]);
    }
    return code;
}

static int run_test(cli_session *session, report *r)
{
    const gram_points *points[GRAM_HSIC_MAX_VARIABLES];
    const int groups = (int)r->rows->group_count;
    for (int g = 0; g < groups; g++) points[g] = r->rows->groups[g].points;
    const gram_status status = r->own->given
                                   ? gram_hsic_given_test(session->context, r->kernels, points, &r->how, &r->given)
                                   : gram_hsic_test(session->context, groups, r->kernels, points, &r->how, &r->result);
    if (status >= 0) return CLI_DONE;
    if (status == GRAM_ERROR_DATA && r->own->given)
        return cli_session_fail(session, status, 1, "Leave such a column out of --given, or test others.");
    for (int g = 0; g < groups && status == GRAM_ERROR_DOMAIN; g++)
        if (r->kernels[g] && gram_sample_blame(session->context, r->sample, g, r->kernels[g])) break;
    return cli_session_fail(session, status, status == GRAM_ERROR_DIMENSION || status == GRAM_ERROR_DOMAIN,
                            status == GRAM_ERROR_NUMERICAL ? CLI_TEST_TOO_LARGE : NULL);
}

static cli_test_outcome outcome_given(const report *r)
{
    return (cli_test_outcome){.test = "independence",
                              .method = "conditional",
                              .kernels = r->given.kernels,
                              .kernel_count = 3,
                              .assumes = "rows are independent of each other, and regressions on the given columns "
                                         "are good: the level is approximate",
                              .statistic = r->given.statistic,
                              .p_value = r->given.p_value,
                              .level = r->options->level,
                              .draws = r->options->permutations,
                              .reject = r->given.reject,
                              .n = r->given.n};
}

static cli_test_outcome outcome_of(const void *report_)
{
    const report *r = report_;
    if (r->own->given) return outcome_given(r);
    const int gamma = r->result.used == GRAM_HSIC_GAMMA;
    return (cli_test_outcome){.test = "independence",
                              .method = METHODS[r->result.used - GRAM_HSIC_PERMUTATION],
                              .kernels = r->result.kernels,
                              .kernel_count = (int)r->rows->group_count,
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

static int draw(cli_session *session, const report *r)
{
    gram_picture *picture = NULL;
    const cli_test_outcome outcome = outcome_of(r);
    const gram_status status =
        gram_picture_of_dependence(session->context, r->sample, outcome.kernels, outcome.p_value, &picture);
    return cli_plot(session, r->options->plot, status, picture);
}

/* ---- printing ---- */

static double null_mean(const report *r)
{
    return r->own->given ? r->given.null_mean : r->result.null_mean;
}

static double null_deviation(const report *r)
{
    return r->own->given ? r->given.null_deviation : r->result.null_deviation;
}

static const char *feature_name(const report *r, int64_t feature)
{
    return gram_preparation_describe(r->rows->preparation)->features[feature].name;
}

static void json_group(gram_json *json, const char *key, const report *r, int64_t first, int64_t count)
{
    gram_json_open(json, key, '[');
    for (int64_t l = 0; l < count; l++) gram_json_string(json, NULL, feature_name(r, first + l));
    gram_json_close(json, '[');
}

static void json_groups(gram_json *json, const report *r)
{
    if (r->own->mutual) {
        json_group(json, "mutual", r, 0, r->rows->group_count);
        return;
    }
    json_group(json, "x", r, 0, r->rows->groups[0].features);
    json_group(json, "y", r, r->rows->groups[1].first_feature, r->rows->groups[1].features);
    gram_json_kernel(json, "kernel_x", r->own->given ? r->given.kernels[0] : r->result.kernels[0]);
    gram_json_kernel(json, "kernel_y", r->own->given ? r->given.kernels[1] : r->result.kernels[1]);
    if (!r->own->given) return;
    json_group(json, "given", r, r->rows->groups[2].first_feature, r->rows->groups[2].features);
    gram_json_kernel(json, "kernel_given", r->given.kernels[2]);
    gram_json_number(json, "unexplained_x", r->given.unexplained[0]);
    gram_json_number(json, "unexplained_y", r->given.unexplained[1]);
}

static void write_json(cli_session *session, const void *report_, gram_json *json)
{
    const report *r = report_;
    (void)session;
    json_groups(json, r);
    const cli_test_outcome outcome = outcome_of(r);
    gram_json_truth(json, "scaled", cli_rows_scaled(r->rows));
    gram_json_integer(json, "dropped", r->rows->dropped);
    if (r->result.used == GRAM_HSIC_AGGREGATED) gram_json_integer(json, "looks", r->result.looks);
    cli_test_json(json, &outcome, null_mean(r), null_deviation(r));
}

static void add_group_row(gram_string *text, const char *label, const report *r, const gram_sample_group *own)
{
    cli_add_label(text, label);
    for (int64_t l = 0; l < own->features; l++)
        gram_string_add(text, "%s%s", l ? ", " : "", feature_name(r, own->first_feature + l));
    gram_string_add(text, "\n");
}

/* How good the regressions on the given columns are. */
static void add_regressions(gram_string *text, const report *r)
{
    char x[CLI_SHORT_SIZE], y[CLI_SHORT_SIZE];
    cli_add_label(text, "regressions");
    gram_string_add(text, "leave a share of %s of x and %s of y unexplained\n",
                    cli_short_number(r->given.unexplained[0], x), cli_short_number(r->given.unexplained[1], y));
}

static void write_table(cli_session *session, const void *report_, gram_string *text)
{
    char count[CLI_SHORT_SIZE];
    const report *r = report_;
    const cli_test_outcome outcome = outcome_of(r);
    const int64_t dropped = r->rows->dropped;
    (void)session;
    cli_add_label(text, "data");
    gram_string_add(text, "%s, %s rows%s\n", r->rows->file, gram_count_format(r->rows->data->n, count),
                    cli_rows_scaled(r->rows) ? ", columns standardised" : "");
    cli_test_print_dropped(text, dropped);
    for (int g = 0; g < r->rows->group_count; g++)
        add_group_row(text, r->own->mutual ? "variable" : g == 2 ? "given" : g ? "y" : "x", r, &r->rows->groups[g]);
    cli_add_label(text, "method");
    gram_string_add(text, "%s", outcome.method);
    if (r->own->given)
        gram_string_add(text, ", %s random signs", gram_count_format(r->options->permutations, count));
    else if (r->result.used == GRAM_HSIC_AGGREGATED && r->result.looks == 0)
        gram_string_add(text, ", but no look can tell anything: all rows of x or of y are equal");
    else if (r->result.used == GRAM_HSIC_AGGREGATED)
        gram_string_add(text, ", %" PRId64 " looks: pairs of kernels and widths", r->result.looks);
    if (!r->own->given && r->result.used != GRAM_HSIC_GAMMA)
        gram_string_add(text, ", %s permutations", gram_count_format(r->options->permutations, count));
    gram_string_add(text, "\n");
    if (r->result.rank[0] > 0 && r->result.used == GRAM_HSIC_AGGREGATED) {
        cli_add_label(text, "  by factors");
        gram_string_add(text, "of rank %" PRId64 " and %" PRId64 " for all kernels of x and y\n", r->result.rank[0],
                        r->result.rank[1]);
    }
    cli_test_print(text, &outcome);
    cli_add_number(text, "if independent", null_mean(r));
    cli_add_number(text, "  deviation", null_deviation(r));
    if (r->own->given) add_regressions(text, r);
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
    for (int g = 0; g < GRAM_HSIC_MAX_VARIABLES; g++) gram_kernel_release(r->kernels[g]);
    gram_sample_destroy(r->sample);
    gram_hsic_result_clear(&r->result);
    gram_hsic_given_result_clear(&r->given);
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
    gram_hsic_given_result_init(&r.given, sizeof r.given);
    return cli_test_run(&plan, count, arguments);
}

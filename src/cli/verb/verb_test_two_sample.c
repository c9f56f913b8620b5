/* gram test two-sample: do two files hold samples of one distribution? */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/kernel_text.h"
#include "cli/report/report_rows.h"
#include "cli/verb/prepared_samples.h"
#include "cli/verb/verb_test.h"

typedef struct own_options {
    const char *kernel;
    int dependent;
    int64_t lag;
    int64_t block;
} own_options;

#define PLACE(field) offsetof(own_options, field)

static const cli_option own_table[] = {
    CLI_ROW("kernel", CLI_TEXT, PLACE(kernel), "E",
            "the kernel (default: rbf, of a given matrix `given`, of bags after(mean(rbf), rbf); free parameters by "
            "the median heuristic)"),
    CLI_ROW_FLAG("dependent", PLACE(dependent),
                 "rows are in order of time and depend on their neighbours: wild bootstrap"),
    CLI_ROW_INTEGER("lag", PLACE(lag), "L", 1, 1 << 30, "over how many rows dependence lasts (default 20)"),
    CLI_ROW_INTEGER("block", PLACE(block), "B", 2, 1 << 30, "rows of a block (default: the square root of n)"),
};

static const cli_usage usage = {
    "test two-sample",
    "A B",
    "Tests whether the rows of two files come from one distribution, by the maximum mean discrepancy. Columns are "
    "matched\nby name and standardised together; text columns become categories. The statistic is the squared MMD.\n\n"
    "Methods:\n  aggregated   permutations over many looks at once: 7 widths of the kernel, or means, spreads and rbf "
    "on "
    "ranks"
    "\n               at widths of its own; exact level (default without --kernel)\n  permutation  permutations with "
    "one kernel, "
    "exact level (default with --kernel)\n  split        the "
    "width of largest power is chosen on half of the rows, permutations on the other half\n  gamma        gamma "
    "approximation: no permutations, for some 200 rows or more\n  normal       normal approximation: rough, 0.05 may "
    "be 0.1; gamma is closer\n  "
    "linear       linear-time estimator: for millions of rows\n  block        between linear and all pairs: "
    "estimates from blocks of rows\n  wild         "
    "wild bootstrap for time series (--dependent)\n",
    "  gram test two-sample january.csv february.csv\n"
    "  gram test two-sample before.csv after.csv --kernel 'matern(nu=1.5)' --plot difference.svg\n"
    "  gram test two-sample reference.csv today.csv --gate --level 0.01 || echo drift\n",
    2,
    2,
    NULL,
    NULL};

typedef struct method {
    const char *name;
    gram_mmd_method id;
    const char *assumes;
} method;

static const char LARGE[] = "rows are independent of each other, and samples large: the level is approximate";

static const method METHODS[] = {
    {"aggregated", GRAM_MMD_TEST_AGGREGATED, CLI_TEST_EXACT},
    {"permutation", GRAM_MMD_TEST_PERMUTATION, CLI_TEST_EXACT},
    {"split", GRAM_MMD_TEST_SPLIT, CLI_TEST_EXACT},
    {"gamma", GRAM_MMD_TEST_GAMMA, LARGE},
    {"normal", GRAM_MMD_TEST_NORMAL,
     "rows are independent of each other, and samples large: 0.05 may be 0.1; --method gamma is closer"},
    {"linear", GRAM_MMD_TEST_LINEAR, LARGE},
    {"block", GRAM_MMD_TEST_BLOCK, LARGE},
    {"wild", GRAM_MMD_TEST_WILD,
     "rows are in order of time and forget the past; samples large: the level is approximate"},
};

enum { METHOD_COUNT = sizeof METHODS / sizeof *METHODS };

/* Everything that is printed. */
typedef struct report {
    const own_options *own;
    const cli_test_options *options;
    const cli_rows_options *data;
    gram_mmd_options how;
    gram_sample *samples[2];
    const gram_sample_report *a, *b; /* what they hold */
    gram_kernel *kernel;             /* given, or NULL */
    gram_mmd_result result;
    const method *used;
    double *score;  /* of each column */
    int64_t *order; /* columns, the highest score first */
} report;

/* ---- finding out ---- */

static int check(void *report_)
{
    report *r = report_;
    const char *names[METHOD_COUNT];
    int place;
    for (int i = 0; i < METHOD_COUNT; i++) names[i] = METHODS[i].name;
    gram_mmd_options_init(&r->how, sizeof r->how);
    r->how.level = r->options->level;
    r->how.permutations = r->options->permutations;
    r->how.biased = r->options->biased;
    r->how.block = r->own->block;
    r->how.memory = (double)r->own->lag;
    const int code = cli_test_method(usage.verb, r->options, names, METHOD_COUNT, &place);
    if (code != CLI_DONE) return code;
    if (r->options->method) r->how.method = METHODS[place].id;
    if (r->own->block && r->how.method != GRAM_MMD_TEST_BLOCK)
        return cli_fail(CLI_WRONG_USE, "Use --method block, or leave it out.",
                        "test two-sample: --block is for --method block");
    if (r->own->lag && !r->own->dependent && r->how.method != GRAM_MMD_TEST_WILD)
        return cli_fail(CLI_WRONG_USE, "Use --dependent, or leave it out.",
                        "test two-sample: --lag is for --dependent");
    if (!r->own->dependent) return CLI_DONE;
    if (r->options->method && r->how.method != GRAM_MMD_TEST_WILD)
        return cli_fail(CLI_WRONG_USE, "Leave one of them out.",
                        "test two-sample: --dependent means --method wild, not %s", r->options->method);
    r->how.method = GRAM_MMD_TEST_WILD;
    return CLI_DONE;
}

static int check_rows(const report *r, const gram_sample_report *sample)
{
    const char *kept = sample->dropped ? " without missing values" : "";
    const int64_t n = sample->data->n;
    if (n < 3)
        return cli_fail(CLI_BAD_DATA, "A sample needs at least three rows, and more to show anything.", "%s has %s%s",
                        sample->file, n < 2 ? "a single row" : "2 rows", kept);
    if (n >= 4) return CLI_DONE;
    if (r->how.method == GRAM_MMD_TEST_SPLIT || r->how.method == GRAM_MMD_TEST_LINEAR ||
        r->how.method == GRAM_MMD_TEST_BLOCK)
        return cli_fail(CLI_BAD_DATA, "Other methods do with three rows; more are needed to show anything.",
                        "%s has %" PRId64 " rows%s, --method %s needs four", sample->file, n, kept, r->options->method);
    return CLI_DONE;
}

static int read_samples(cli_session *session, char **operands, report *r)
{
    const gram_sample_options wish = cli_rows_wish(r->data, usage.verb);
    const gram_status status = gram_sample_read_pair(session->context, operands[0], operands[1], &wish, r->samples);
    if (status < 0) return cli_rows_unread(session, status);
    r->a = gram_sample_get_report(r->samples[0]);
    r->b = gram_sample_get_report(r->samples[1]);
    const int code = check_rows(r, r->a);
    return code == CLI_DONE ? check_rows(r, r->b) : code;
}

/* Do all columns hold numbers? Others have no score of their own. */
static int has_scores(const report *r)
{
    return r->a->data->objects == NULL;
}

static int fail(cli_session *session, const report *r, gram_status status)
{
    const char *help = NULL;
    for (int i = 0; i < 2 && status == GRAM_ERROR_DOMAIN && r->kernel; i++)
        if (gram_sample_blame(session->context, r->samples[i], 0, r->kernel)) break;
    if (status == GRAM_ERROR_NUMERICAL) help = CLI_TEST_TOO_LARGE;
    if (status == GRAM_ERROR_UNSUPPORTED && !has_scores(r))
        help = "Give a kernel for them, for example --kernel 'spectrum(k=3)' for texts, and --method permutation or "
               "gamma.";
    if (status == GRAM_ERROR_ARGUMENT) help = "`gram test two-sample --help` says what each method needs.";
    return cli_session_fail(session, status, status == GRAM_ERROR_DIMENSION || status == GRAM_ERROR_DOMAIN, help);
}

static int run_test(cli_session *session, report *r)
{
    const gram_status status =
        gram_mmd_test(session->context, r->kernel, r->a->groups[0].points, r->b->groups[0].points, &r->how, &r->result);
    if (status < 0) return fail(session, r, status);
    for (int i = 0; i < METHOD_COUNT; i++)
        if (METHODS[i].id == r->result.used) r->used = &METHODS[i];
    return CLI_DONE;
}

/* Which columns show the difference. */
static int score_columns(cli_session *session, report *r)
{
    if (!has_scores(r)) return CLI_DONE;
    const int64_t d = r->a->data->d;
    r->score = calloc((size_t)d, sizeof *r->score);
    r->order = calloc((size_t)d, sizeof *r->order);
    if (!r->score || !r->order) return cli_no_memory();
    const gram_status status =
        gram_mmd_columns(session->context, r->a->groups[0].points, r->b->groups[0].points, r->score, r->order);
    return status < 0 ? fail(session, r, status) : CLI_DONE;
}

static int draw(cli_session *session, const report *r)
{
    if (!has_scores(r))
        return cli_fail(CLI_WRONG_USE, "Leave --plot out.", "test two-sample: --plot draws columns of numbers");
    gram_picture *picture = NULL;
    const gram_status status =
        gram_picture_of_two_samples(session->context, r->samples[0], r->samples[1], r->result.kernel, r->result.p_value,
                                    r->score, r->order, &picture);
    return cli_plot(session, r->options->plot, status, picture);
}

/* ---- printing ---- */

static int with_permutations(const report *r)
{
    const gram_mmd_method used = r->result.used;
    return used == GRAM_MMD_TEST_PERMUTATION || used == GRAM_MMD_TEST_AGGREGATED || used == GRAM_MMD_TEST_SPLIT ||
           used == GRAM_MMD_TEST_WILD;
}

/* What look k of the aggregated test is at: the kernel that was given, or one of the families. */
static const char *look_name(const report *r, int64_t k)
{
    static const char *const names[] = {"rbf", "laplace1", "ranks", "means", "directions", "rank means", "spreads"};
    return r->kernel || r->result.used == GRAM_MMD_TEST_SPLIT ? "" : names[r->result.family[k]];
}

static cli_test_outcome outcome_of(const void *report_)
{
    const report *r = report_;
    const gram_mmd_result *result = &r->result;
    return (cli_test_outcome){.test = "two-sample",
                              .method = r->used->name,
                              .assumes = r->used->assumes,
                              .kernels = &r->result.kernel,
                              .kernel_count = 1,
                              .statistic = result->statistic,
                              .p_value = result->p_value,
                              .level = r->options->level,
                              .draws = result->permutations > 0 ? result->permutations
                                       : with_permutations(r)   ? r->options->permutations
                                                                : 0,
                              .reject = result->reject,
                              .n = result->n,
                              .m = result->m};
}

static void json_widths(gram_json *json, const report *r)
{
    gram_json_open(json, "widths", '[');
    for (int64_t k = 0; k < r->result.width_count; k++) {
        gram_json_open(json, NULL, '{');
        if (r->result.widths[k] > 0) gram_json_number(json, "factor", r->result.widths[k]);
        if (look_name(r, k)[0]) gram_json_string(json, "look", look_name(r, k));
        gram_json_number(json, r->result.used == GRAM_MMD_TEST_SPLIT ? "power" : "p_value", r->result.width_p[k]);
        gram_json_close(json, '{');
    }
    gram_json_close(json, '[');
}

static void json_columns(gram_json *json, const report *r)
{
    char name[CLI_COLUMN_NAME_SIZE];
    gram_json_open(json, "columns", '[');
    for (int64_t i = 0; has_scores(r) && i < r->a->data->d; i++) {
        gram_json_open(json, NULL, '{');
        gram_json_string(json, "name", cli_rows_name(r->a, r->order[i], name));
        gram_json_number(json, "score", r->score[r->order[i]]);
        gram_json_close(json, '{');
    }
    gram_json_close(json, '[');
}

static void write_json(cli_session *session, const void *report_, gram_json *json)
{
    const report *r = report_;
    const cli_test_outcome outcome = outcome_of(r);
    (void)session;
    gram_json_integer(json, "d", r->a->data->d);
    gram_json_truth(json, "scaled", cli_rows_scaled(r->a));
    gram_json_integer(json, "dropped", r->a->dropped + r->b->dropped);
    cli_test_json(json, &outcome, r->result.null_mean, r->result.null_deviation);
    if (r->result.width_count > 0) json_widths(json, r);
    json_columns(json, r);
}

static void add_data(gram_string *text, const report *r)
{
    char n[CLI_SHORT_SIZE], m[CLI_SHORT_SIZE], d[CLI_SHORT_SIZE];
    const int64_t features = gram_preparation_describe(r->a->preparation)->feature_count;
    cli_add_label(text, "samples");
    gram_string_add(text, "%s (%s rows), %s (%s rows); %s column%s", r->a->file, gram_count_format(r->a->data->n, n),
                    r->b->file, gram_count_format(r->b->data->n, m), gram_count_format(features, d),
                    cli_plural(features));
    if (r->a->data->d != features) gram_string_add(text, " (%s with categories)", gram_count_format(r->a->data->d, d));
    gram_string_add(text, "%s\n", cli_rows_scaled(r->a) ? ", standardised together" : "");
    cli_test_print_dropped(text, r->a->dropped + r->b->dropped);
    if (r->result.n == r->a->data->n && r->result.m == r->b->data->n) return;
    cli_add_label(text, "rows tested");
    gram_string_add(text, "%s and %s\n", gram_count_format(r->result.n, n), gram_count_format(r->result.m, m));
}

static void add_method(gram_string *text, const report *r)
{
    char count[CLI_SHORT_SIZE];
    cli_add_label(text, "method");
    gram_string_add(text, "%s", r->used->name);
    if (r->result.used == GRAM_MMD_TEST_AGGREGATED)
        gram_string_add(text, ", %" PRId64 " %s", r->result.width_count,
                        r->kernel ? "widths" : "looks: means, spreads, and widths of rbf on ranks");
    if (with_permutations(r))
        gram_string_add(text, ", %s %s", gram_count_format(outcome_of(r).draws, count),
                        r->result.used == GRAM_MMD_TEST_WILD ? "draws" : "permutations");
    if (r->result.group_rows > 0) gram_string_add(text, " of groups of %" PRId64 " rows", r->result.group_rows);
    if (r->result.chunks > 1) gram_string_add(text, ", mean of %" PRId64 " chunks", r->result.chunks);
    gram_string_add(text, "\n");
    if (r->result.used == GRAM_MMD_TEST_AGGREGATED && r->result.p_value < 1 && look_name(r, r->result.best)[0])
        cli_add_row(text, "  seen best by", look_name(r, r->result.best));
}

static void add_widths(cli_session *session, gram_string *text, const report *r)
{
    char number[CLI_SHORT_SIZE];
    const int split = r->result.used == GRAM_MMD_TEST_SPLIT;
    if (r->result.width_count == 0) return;
    cli_add_heading(session, text,
                    split       ? "Widths, and the power that they promise"
                    : r->kernel ? "Widths, each with its own p-value"
                                : "Looks, each with its own p-value");
    for (int64_t k = 0; k < r->result.width_count; k++) {
        gram_string_add(text, "%s", look_name(r, k));
        if (r->result.widths[k] > 0)
            gram_string_add(text, "%s%s times", look_name(r, k)[0] ? " " : "",
                            cli_short_number(r->result.widths[k], number));
        gram_string_pad(text, CLI_VALUE_COLUMN);
        gram_string_add(text, "%s\n", cli_short_number(r->result.width_p[k], number));
    }
}

static void add_columns(cli_session *session, gram_string *text, const report *r)
{
    enum { MOST = 10 };
    if (!has_scores(r)) return;
    char number[CLI_SHORT_SIZE], name[CLI_COLUMN_NAME_SIZE];
    cli_add_heading(session, text, "Columns, each on its own: standard deviations above chance");
    for (int64_t i = 0; i < r->a->data->d && i < MOST; i++) {
        gram_string_add(text, "%s", cli_rows_name(r->a, r->order[i], name));
        gram_string_pad(text, CLI_VALUE_COLUMN);
        gram_string_add(text, "%s\n", cli_short_number(r->score[r->order[i]], number));
    }
    if (r->a->data->d > MOST) gram_string_add(text, "... and %" PRId64 " more\n", r->a->data->d - MOST);
}

static void write_table(cli_session *session, const void *report_, gram_string *text)
{
    const report *r = report_;
    const cli_test_outcome outcome = outcome_of(r);
    add_data(text, r);
    add_method(text, r);
    cli_test_print(text, &outcome);
    add_widths(session, text, r);
    add_columns(session, text, r);
    if (!r->options->plot) return;
    gram_string_add(text, "\n");
    cli_add_row(text, "plot", r->options->plot);
}

static int find_all(cli_session *session, char **operands, void *report_)
{
    report *r = report_;
    const char *expression = r->own->kernel  ? r->own->kernel
                             : r->data->gram ? "given"
                             : r->data->bag  ? "after(mean(rbf), rbf)"
                                             : NULL;
    int code = expression ? cli_kernel_read(session, expression, &r->kernel) : CLI_DONE;
    if (code == CLI_DONE) code = read_samples(session, operands, r);
    if (code == CLI_DONE) code = run_test(session, r);
    if (code == CLI_DONE) code = score_columns(session, r);
    if (code == CLI_DONE && r->options->plot) code = draw(session, r);
    return code;
}

static void release(void *report_)
{
    report *r = report_;
    gram_mmd_result_clear(&r->result);
    gram_sample_destroy(r->samples[0]);
    gram_sample_destroy(r->samples[1]);
    gram_kernel_release(r->kernel);
    free(r->score);
    free(r->order);
}

int cli_test_two_sample(int count, char **arguments)
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
    gram_mmd_result_init(&r.result, sizeof r.result);
    return cli_test_run(&plan, count, arguments);
}

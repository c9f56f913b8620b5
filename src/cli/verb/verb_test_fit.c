/* gram test fit: does a sample come from a density? The kernel Stein discrepancy and its wild bootstrap. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/kernel_text.h"
#include "cli/report/report_rows.h"
#include "cli/verb/density_options.h"
#include "cli/verb/verb_test.h"

typedef struct fit_report {
    const cli_data *data;
    const cli_scored_options *choice;
    const cli_test_options *test;
    double flip; /* how often signs change */
    gram_scored_points *scored;
    const gram_scored_report *points; /* what it holds */
    cli_test_outcome outcome;
    gram_stein_test_result result;
    gram_law *law;                        /* of --measure, or NULL */
    gram_kernel *looks[GRAM_STEIN_LOOKS]; /* all NULL if a kernel was chosen */
    gram_kernel *kernel;                  /* the one that counts */
    double *bootstrap;                    /* the draws, if they are to be drawn */
} fit_report;

#define PLACE(field) offsetof(fit_report, field)

static const cli_option own_options[] = {
    CLI_ROW("flip", CLI_POSITIVE, PLACE(flip), "P",
            "of --method chain: how often signs change (default: by the autocorrelation time of the rows)"),
};

static const cli_usage usage = {
    "test fit",
    "DATA",
    "Tests whether the rows of DATA are draws from a density that is known by its scores, the gradients of its log at "
    "the\nrows: no normalising constant is needed. The statistic is the squared kernel Stein discrepancy "
    "(U-statistic; --biased: V).\nWithout --kernel and --precondition imq at four widths and rbf at three are looked "
    "at together, with the level\nkept. Methods: wild (default) treats the rows as independent; chain treats them as "
    "a Markov chain, in order: the signs\nof the bootstrap then change with probability --flip from row to row. "
    "Against --measure, a law whose integrals are\nknown, the statistic is the squared MMD, and its null distribution "
    "that of samples of the law: the level is exact.\nColumns are never scaled.\n",
    "  gram test fit draws.csv --density 'gaussian(mean=[0,1], cov=[1,0.5;0.5,2])'\n"
    "  gram test fit draws.csv --density 'student(df=5)' --gate\n"
    "  gram test fit chain.csv --scores score1,score2 --method chain --flip 0.05\n"
    "  gram test fit chain.csv --scores scores.npy --json\n"
    "  gram test fit draws.csv --measure 'normal(0,1)*uniform(0,1)'\n",
    1,
    1,
    cli_scored_help,
    NULL};

static int draw(cli_session *session, const char *path, const fit_report *r, int64_t draws)
{
    gram_picture *picture = NULL;
    const gram_status status = gram_picture_of_fit_test(session->context, r->scored, r->result.statistic.u_statistic,
                                                        r->result.threshold, draws, r->bootstrap, &picture);
    return cli_plot(session, path, status, picture);
}

/* ---- the report ---- */

static const char *source_of(const fit_report *r)
{
    return r->law ? r->choice->measure : r->points->source;
}

static void write_json(cli_session *session, const void *report, gram_json *json)
{
    const fit_report *r = report;
    (void)session;
    gram_json_integer(json, "d", r->points->d);
    gram_json_number(json, "discrepancy", r->result.statistic.discrepancy);
    gram_json_number(json, "v_statistic", r->result.statistic.v_statistic);
    gram_json_number(json, "u_statistic", r->result.statistic.u_statistic);
    gram_json_number(json, "threshold", r->result.threshold);
    gram_json_integer(json, "permutations", r->test->permutations);
    gram_json_number(json, "flip", r->result.flip);
    if (!isnan(r->result.autocorrelation_time))
        gram_json_number(json, "autocorrelation_time", r->result.autocorrelation_time);
    if (r->looks[0]) gram_json_integer(json, "looks", GRAM_STEIN_LOOKS);
    gram_json_string(json, r->law ? "measure" : "density", source_of(r));
    gram_json_string(json, "data", r->points->file);
    if (r->points->doubt) gram_json_string(json, "warning", r->points->doubt);
}

static void write_table(cli_session *session, const void *report, gram_string *text)
{
    const fit_report *r = report;
    char rows[CLI_SHORT_SIZE], columns[CLI_SHORT_SIZE];
    gram_string_add(text, "%sTest of fit: %s%s\n", cli_bold(session->common),
                    r->law ? "maximum mean discrepancy to a law" : "kernel Stein discrepancy",
                    cli_plain(session->common));
    cli_add_label(text, "data");
    gram_string_add(text, "%s: %s row%s, %s column%s\n", r->points->file, gram_count_format(r->points->n, rows),
                    cli_plural(r->points->n), gram_count_format(r->points->d, columns), cli_plural(r->points->d));
    cli_add_row(text, "against", source_of(r));
    cli_add_kernel(text, "base kernel", r->kernel);
    cli_add_label(text, "method");
    gram_string_add(text, "%s, %s draws%s\n",
                    r->law                                    ? "samples of the law, of as many rows"
                    : strcmp(r->outcome.method, "chain") == 0 ? "chain: bootstrap with dependent signs"
                                                              : "wild bootstrap",
                    gram_count_format(r->test->permutations, rows),
                    r->looks[0] ? "; 7 looks: widths of imq and rbf, this one saw most" : "");
    if (!isnan(r->result.autocorrelation_time)) {
        cli_add_label(text, "  of the chain");
        gram_string_add(text, "autocorrelation time %s rows", cli_short_number(r->result.autocorrelation_time, rows));
        gram_string_add(text, ", signs change with probability %s\n", cli_short_number(r->result.flip, rows));
    }
    cli_add_number(text, "discrepancy", r->result.statistic.discrepancy);
    cli_test_print(text, &r->outcome);
    if (r->points->doubt) cli_add_row(text, "warning", r->points->doubt);
}

/* Free numbers of the kernel are set by a sample of the law, not by the data: so the level stays exact. */
static gram_status resolve_by_law(cli_session *session, fit_report *r)
{
    enum { DRAWS = 1000 };
    const int64_t d = r->points->d;
    gram_kernel *written = NULL;
    gram_points *points = NULL;
    double *x = calloc((size_t)(DRAWS * d), sizeof *x);
    gram_status status = x ? gram_law_draw(session->context, r->law, 0, DRAWS, x) : GRAM_ERROR_MEMORY;
    if (status >= 0)
        status = gram_kernel_parse(session->context, r->choice->kernel ? r->choice->kernel : "rbf", &written);
    if (status >= 0) status = gram_points_create_f64(session->context, DRAWS, d, x, d, &points);
    if (status >= 0) status = gram_kernel_resolve(session->context, written, points, &r->kernel);
    gram_points_release(points);
    gram_kernel_release(written);
    free(x);
    return status;
}

/* Against a law: the MMD, whose null distribution is known by draws of it. */
static gram_status test_law(cli_session *session, fit_report *r)
{
    gram_law_test_options options;
    gram_law_test_result found = {.size = sizeof found};
    gram_law_test_options_init(&options, sizeof options);
    options.level = r->test->level;
    options.draws = r->test->permutations;
    options.null = r->bootstrap;
    gram_status status = resolve_by_law(session, r);
    if (status >= 0) status = gram_law_test(session->context, r->kernel, r->points->points, r->law, &options, &found);
    r->result.statistic.u_statistic = found.statistic.u_statistic;
    r->result.statistic.v_statistic = found.statistic.v_statistic;
    r->result.statistic.discrepancy = found.statistic.mmd;
    r->result.p_value = found.p_value;
    r->result.threshold = found.threshold;
    r->result.reject = found.reject;
    r->result.flip = r->flip;
    r->result.autocorrelation_time = NAN;
    return status;
}

/* With the kernel that was chosen, else with many. */
static gram_status test_scores(cli_session *session, fit_report *r)
{
    const int many = cli_scored_open(r->choice);
    gram_status status = GRAM_OK;
    gram_stein_test_options options;
    gram_stein_test_options_init(&options, sizeof options);
    r->result.size = sizeof r->result;
    options.level = r->test->level;
    options.draws = r->test->permutations;
    options.flip = r->flip;
    options.bootstrap = r->bootstrap;
    if (many) status = gram_stein_test_kernels(session->context, r->points->points, r->looks);
    if (status < 0) return status;
    status = gram_stein_test_many(session->context, many ? GRAM_STEIN_LOOKS : 1, many ? r->looks : &r->points->kernel,
                                  r->points->points, r->points->scores, r->points->d, &options, &r->result);
    if (status >= 0) r->kernel = gram_kernel_retain(many ? r->looks[r->result.best] : r->points->kernel);
    return status;
}

static int run(cli_session *session, char **operands, void *report)
{
    fit_report *r = report;
    const cli_test_options *test = r->test;
    const int code = cli_scored_read(session, usage.verb, operands[0], r->data, r->choice, 0, &r->scored);
    if (code != CLI_DONE) return code;
    r->points = gram_scored_points_get_report(r->scored);
    if (r->points->n < 3)
        return cli_fail(CLI_BAD_DATA, "A test needs a sample: three rows at least, and more to show anything.",
                        "test fit: %s has %s", r->points->file, r->points->n == 1 ? "one row" : "two rows");
    const int code_of_law = cli_scored_law(session, usage.verb, r->choice, r->data, r->scored, &r->law);
    if (code_of_law != CLI_DONE) return code_of_law;
    if (test->plot) {
        r->bootstrap = calloc((size_t)test->permutations, sizeof *r->bootstrap);
        if (!r->bootstrap) return cli_no_memory();
    }
    const gram_status status = r->law ? test_law(session, r) : test_scores(session, r);
    if (status == GRAM_ERROR_UNSUPPORTED)
        return cli_session_fail(session, status, 0, "Use a smooth kernel such as imq, rbf or matern(nu=2.5).");
    if (status < 0) return cli_scored_fail(session, status, r->scored);
    r->outcome = (cli_test_outcome){.test = "fit",
                                    .method = r->law          ? "draws"
                                              : r->flip < 0.5 ? "chain"
                                                              : "wild",
                                    .kernels = &r->kernel,
                                    .kernel_count = 1,
                                    .statistic = test->biased ? r->result.statistic.v_statistic
                                                              : r->result.statistic.u_statistic,
                                    .p_value = r->result.p_value,
                                    .level = test->level,
                                    .draws = test->permutations,
                                    .reject = r->result.reject,
                                    .n = r->points->n};
    return test->plot ? draw(session, test->plot, r, test->permutations) : CLI_DONE;
}

/* The probability that signs change, by --method and --flip. */
static int find_flip(fit_report *r)
{
    static const char *const names[] = {"wild", "chain"};
    int chain;
    const int code = cli_test_method(usage.verb, r->test, names, 2, &chain);
    if (code != CLI_DONE) return code;
    if (r->choice->measure && (r->test->method || r->flip > 0))
        return cli_fail(CLI_WRONG_USE, "Leave it out.",
                        "test fit: --measure is tested by samples of it: there is no --method and no --flip");
    if (r->flip > 0 && !chain)
        return cli_fail(CLI_WRONG_USE, "Use --method chain.", "test fit: --flip is for --method chain");
    if (r->flip > 0.5)
        return cli_fail(CLI_WRONG_USE, "0.5 means independent signs; a chain needs less.",
                        "test fit: --flip is above 0.5");
    if (!chain) r->flip = 0.5;
    return CLI_DONE;
}

static int check(void *report)
{
    fit_report *r = report;
    const int code = cli_scored_check(usage.verb, r->choice, 1);
    if (code != CLI_DONE) return code;
    if (r->data->scale)
        return cli_fail(CLI_WRONG_USE, "The scores belong to the points as they are.", "test fit: takes no --scale");
    return find_flip(r);
}

static cli_test_outcome outcome_of(const void *report)
{
    return ((const fit_report *)report)->outcome;
}

static void release(void *report)
{
    fit_report *r = report;
    free(r->bootstrap);
    for (int k = 0; k < GRAM_STEIN_LOOKS; k++) gram_kernel_release(r->looks[k]);
    gram_law_release(r->law);
    gram_kernel_release(r->kernel);
    gram_scored_points_destroy(r->scored);
}

int cli_test_fit(int count, char **arguments)
{
    cli_test_options test;
    cli_scored_options scored = {0};
    cli_data data = {0};
    cli_common common = {0};
    fit_report report = {.data = &data, .choice = &scored, .test = &test};
    cli_test_defaults(&test);
    cli_group columns = cli_data_group(&data);
    cli_option shown[CLI_DATA_OPTIONS];
    memcpy(shown, columns.options, sizeof shown);
    shown[CLI_DATA_OPTIONS - 1].help = NULL; /* --scale is refused with the reason */
    columns.options = shown;
    const cli_group groups[] = {
        cli_scored_group(&scored), {"Options", own_options, sizeof own_options / sizeof *own_options, &report},
        cli_test_group(&test),     columns,
        cli_common_group(&common),
    };
    cli_test_plan plan = {&usage, groups, 5, &test, &report, check, run, write_json, write_table, outcome_of, release};
    return cli_test_run(&plan, count, arguments);
}

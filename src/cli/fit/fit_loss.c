/* `gram fit --loss`: regression with absolute, Huber, quantile and epsilon-insensitive losses. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit/verb_fit.h"
#include "cli/report/report_rows.h"

enum { MOST_LEVELS = 99 };

typedef struct loss_state {
    gram_loss_options options; /* lambda NaN: to be chosen */
    double levels[MOST_LEVELS];
    int lambda_is_default;
    gram_grid_report tuned;
    gram_loss_fit *fit;
} loss_state;

static loss_state *own_of(const fit_state *fit)
{
    return fit->result;
}

static void free_state(fit_state *fit)
{
    if (fit->result) gram_loss_fit_destroy(own_of(fit)->fit);
    free(fit->result);
}

/* ---- the use ---- */

/* Reads "0.1,0.5,0.9"; returns how many, 0 if it is none: between 0 and 1, increasing. */
static int64_t read_levels(const char *text, double *levels)
{
    int64_t count = 0;
    for (;;) {
        const size_t length = gram_number_parse(text, strlen(text), &levels[count]);
        if (length == 0 || !(levels[count] > 0 && levels[count] < 1)) return 0;
        if (count > 0 && levels[count] <= levels[count - 1]) return 0;
        count++;
        if (text[length] == '\0') return count;
        if (text[length] != ',' || count == MOST_LEVELS) return 0;
        text += length + 1;
    }
}

static int check_use(const fit_options *own)
{
    const fit_tune tune = (fit_tune)own->tune.value;
    double levels[MOST_LEVELS];
    const int kind = own->loss.value;
    if (own->quantile && kind != GRAM_LOSS_QUANTILE && kind != GRAM_LOSS_SQUARED)
        return cli_fail(CLI_WRONG_USE, "Leave one out.", "fit: --quantile is of --loss quantile, not %s",
                        gram_loss_name((gram_loss_kind)kind));
    if (own->quantile && read_levels(own->quantile, levels) == 0)
        return cli_fail(CLI_WRONG_USE, "For example --quantile 0.1,0.5,0.9.",
                        "fit: --quantile '%s' is not a list of increasing numbers between 0 and 1", own->quantile);
    if (tune != FIT_TUNE_AUTO && tune != FIT_TUNE_CV && tune != FIT_TUNE_NONE)
        return cli_fail(CLI_WRONG_USE, "cv:5 is the default.", "fit: --tune for --loss is cv:K or none");
    const char *const method = "losses other than squared";
    int code = cli_fit_refuse("--solver", method, own->solver.value > GRAM_SOLVER_EXACT);
    if (code == CLI_DONE) code = cli_fit_refuse("--mean", method, own->mean.value >= 0);
    if (code == CLI_DONE) code = cli_fit_refuse("--row-noise", method, own->row_noise != NULL);
    if (code == CLI_DONE) code = cli_fit_refuse("--loo", method, own->loo);
    return code == CLI_DONE ? cli_fit_refuse("--grid", method, own->grid > 0) : code;
}

/* ---- the plan ---- */

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Huber's delta: 1.345 robust deviations of the target about its median would be that of a constant fit; a fit leaves less,
 * so a tenth of that. */
static double default_delta(const fit_state *fit)
{
    const int64_t n = fit->prepared->n;
    double *sorted = malloc((size_t)(n + 1) * sizeof *sorted), delta = 1;
    if (!sorted) return delta;
    memcpy(sorted, fit->prepared->y, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_numbers);
    const double median = sorted[n / 2];
    for (int64_t i = 0; i < n; i++) sorted[i] = fabs(sorted[i] - median);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_numbers);
    if (sorted[n / 2] > 0) delta = 0.1345 * 1.4826 * sorted[n / 2];
    free(sorted);
    return delta;
}

static void find_options(fit_state *fit)
{
    const fit_options *own = fit->own;
    loss_state *state = own_of(fit);
    gram_loss_options *o = &state->options;
    gram_loss_options_init(o, sizeof *o);
    o->kind = own->quantile ? GRAM_LOSS_QUANTILE : (gram_loss_kind)own->loss.value;
    o->lambda = isnan(own->lambda) ? cli_fit_noise(fit) / (double)fit->n : own->lambda;
    o->weights = fit->prepared->weights;
    o->intercept = !own->no_intercept;
    o->delta = isnan(own->delta) ? default_delta(fit) : own->delta;
    if (!isnan(own->epsilon)) o->epsilon = own->epsilon;
    if (own->tolerance > 0) o->tolerance = own->tolerance;
    o->non_crossing = own->non_crossing;
    state->levels[0] = 0.5;
    o->quantile_count = own->quantile ? read_levels(own->quantile, state->levels) : o->kind == GRAM_LOSS_QUANTILE;
    o->quantiles = state->levels;
}

static int make_plan(cli_session *session, fit_state *fit)
{
    const double n = (double)fit->n;
    loss_state *state = fit->result = calloc(1, sizeof *state);
    if (!state) return cli_no_memory();
    if (fit->prepared->targets != 1)
        return cli_fail(CLI_WRONG_USE, "Choose one with --target.", "fit: --loss learns one target, here are %" PRId64,
                        fit->prepared->targets);
    find_options(fit);
    if (cli_fit_folds(fit) < 2) fit->tune = FIT_TUNE_NONE;
    const double q = state->options.non_crossing ? (double)state->options.quantile_count : 1;
    const double bytes = 8 * n * n * (1 + 0.5 * q * q);
    if (bytes > (double)session->budget)
        return cli_fail(CLI_OVER_LIMIT, "Take fewer rows, --method svm (insensitive), or more --memory.",
                        "fit: this loss on %.0f rows needs about %.1f GiB", n, bytes / 1073741824.0);
    cli_fit_say_plan(session, fit, "interior points, f64", (size_t)bytes, 20 * q * q * q * n * n * n * 4e-12,
                     "some twenty factors of the whole matrix");
    return CLI_DONE;
}

/* ---- the work ---- */

static gram_status tune(cli_session *session, fit_state *fit)
{
    loss_state *state = own_of(fit);
    const double given = state->options.lambda;
    gram_loss_tune_options options;
    gram_loss_tune_options_init(&options, sizeof options);
    options.ard = cli_fit_wants_ard(fit->own);
    options.loss = state->options;
    options.folds = cli_fit_folds(fit);
    if (!isnan(given)) {
        options.lambda_count = 1;
        options.lambdas = &given;
    }
    options.loss.lambda = 1; /* not used */
    state->tuned.size = sizeof state->tuned;
    return gram_loss_tune(session->context, fit->given, fit->points, fit->prepared->y, &options, &fit->kernel,
                          &state->options.lambda, &state->tuned, NULL, NULL, 0);
}

static gram_status take_defaults(cli_session *session, fit_state *fit)
{
    loss_state *state = own_of(fit);
    gram_loss_options options;
    gram_loss_options_init(&options, sizeof options);
    state->lambda_is_default = isnan(state->options.lambda);
    if (state->lambda_is_default) state->options.lambda = options.lambda;
    return gram_kernel_resolve(session->context, fit->given, fit->points, &fit->kernel);
}

/* ---- the model ---- */

static void set_facts(cli_facts *facts, const fit_state *fit)
{
    const loss_state *state = own_of(fit);
    const gram_loss_report *report = gram_loss_fit_report(state->fit);
    const gram_loss_kind kind = state->options.kind;
    cli_facts_integer(facts, "n", report->n);
    cli_facts_integer(facts, "d", report->d);
    cli_facts_integer(facts, "rows", fit->prepared->table_rows);
    cli_facts_text(facts, "loss", gram_loss_name(kind));
    cli_facts_number(facts, "lambda", report->lambda);
    cli_facts_integer(facts, "intercept", state->options.intercept);
    if (kind == GRAM_LOSS_HUBER) cli_facts_number(facts, "delta", state->options.delta);
    if (kind == GRAM_LOSS_INSENSITIVE) cli_facts_number(facts, "epsilon", state->options.epsilon);
    cli_facts_number(facts, "train_loss", report->loss);
    cli_facts_number(facts, "objective", report->objective);
    cli_facts_number(facts, "gap", report->gap);
    cli_facts_integer(facts, "n_support", report->support);
    cli_facts_integer(facts, "iterations", report->iterations);
    cli_facts_number(facts, "norm", report->norm);
    cli_facts_number(facts, "jitter", report->jitter);
    if (report->outputs > 1) cli_facts_number(facts, "crossing", report->crossing);
    cli_fit_tune_facts(facts, fit, state->lambda_is_default ? "lambda" : NULL);
    if (fit->tune != FIT_TUNE_NONE) {
        cli_facts_integer(facts, "tuned_rows", state->tuned.rows);
        cli_facts_integer(facts, "tuned_fits", state->tuned.fits);
        cli_facts_number(facts, "cv_loss", state->tuned.value);
        cli_facts_integer(facts, "at_bound", state->tuned.at_edge);
    }
    if (kind == GRAM_LOSS_QUANTILE)
        cli_facts_array(facts, "quantiles", 1, state->options.quantile_count, state->levels);
}

static gram_status make_model(cli_session *session, fit_state *fit)
{
    cli_facts facts = {session->context, NULL, GRAM_OK};
    facts.status = gram_model_create(session->context, "loss", "regression", fit->preparation,
                                     gram_loss_fit_function(own_of(fit)->fit), &fit->model);
    facts.model = fit->model;
    if (facts.status >= 0) set_facts(&facts, fit);
    return facts.status;
}

static int work(cli_session *session, fit_state *fit)
{
    loss_state *state = own_of(fit);
    gram_status status = fit->tune == FIT_TUNE_NONE ? take_defaults(session, fit) : tune(session, fit);
    if (status >= 0)
        status = gram_loss_fit_create(session->context, fit->kernel, fit->points, fit->prepared->y, &state->options,
                                      &state->fit);
    if (status == GRAM_NOT_CONVERGED && !cli_fit_is_near(fit->own, gram_loss_fit_report(state->fit)->gap))
        return cli_fail(CLI_NUMERICAL, "Raise --lambda, or ask for less with --tolerance T.",
                        "fit: no convergence: the relative duality gap is %.2g", gram_loss_fit_report(state->fit)->gap);
    if (status >= 0) status = make_model(session, fit);
    return status < 0 ? cli_fit_fail(session, status, fit) : CLI_DONE;
}

/* Of several quantiles the middle one. */
static const char *fitted(cli_session *session, const fit_state *fit, double *f)
{
    const gram_function *function = gram_model_function(fit->model);
    const int64_t outputs = gram_function_outputs(function), n = fit->prepared->n;
    double *values = calloc((size_t)(n * outputs + 1), sizeof *values);
    if (!values) return NULL;
    const gram_status status = gram_function_evaluate(session->context, function, fit->points, values, outputs);
    for (int64_t i = 0; i < n; i++) f[i] = values[i * outputs + outputs / 2];
    free(values);
    return status < 0 ? NULL : "fitted value";
}

const fit_kind cli_fit_loss = {"loss", "rbf", FIT_TUNE_CV, check_use, make_plan, work, fitted, free_state};

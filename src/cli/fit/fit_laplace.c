/* `gram fit --method gp` for classes, counts and heavy tails: Laplace's approximation. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit/verb_fit.h"

typedef struct laplace_state {
    gram_laplace_options options;
    gram_laplace_tune_report tuned;
    double *y;                /* classes, counts, or the target less the offset */
    double offset, deviation; /* for heavy tails, robust ones: the median, and by the quartiles; else 0 and 1 */
    gram_laplace *laplace;
} laplace_state;

static laplace_state *own_of(const fit_state *fit)
{
    return fit->result;
}

static void free_state(fit_state *fit)
{
    laplace_state *state = fit->result;
    if (!state) return;
    gram_laplace_destroy(state->laplace);
    free(state->y);
    free(state);
}

static int check_use(const fit_options *own)
{
    const char *const method = "gp with Laplace's approximation";
    const fit_tune tune = (fit_tune)own->tune.value;
    if (tune != FIT_TUNE_AUTO && tune != FIT_TUNE_ML && tune != FIT_TUNE_NONE)
        return cli_fail(CLI_WRONG_USE, "ml, the approximate marginal likelihood, is the default.",
                        "fit: --tune for gp on classes, counts and heavy tails is ml or none");
    int code = cli_fit_refuse("--noise (or --lambda)", method, cli_fit_ridges(own) > 0);
    if (code == CLI_DONE) code = cli_fit_refuse("--solver", method, own->solver.value > GRAM_SOLVER_EXACT);
    if (code == CLI_DONE) code = cli_fit_refuse("--keep-factor", method, own->keep_factor);
    if (code == CLI_DONE) code = cli_fit_refuse("--mean", method, own->mean.value >= 0);
    if (code == CLI_DONE) code = cli_fit_refuse("--weights", method, own->weights != NULL);
    if (code == CLI_DONE) code = cli_fit_refuse("--class-weight", method, own->class_weight != NULL);
    if (code == CLI_DONE) code = cli_fit_refuse("--row-noise", method, own->row_noise != NULL);
    return code == CLI_DONE ? cli_fit_refuse("--C", method, own->C > 0) : code;
}

/* ---- what is observed ---- */

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median, and what would be the deviation of normal numbers with those quartiles; 1 if nothing varies. */
static int find_spread(int64_t n, const double *y, double *median, double *deviation)
{
    double *sorted = malloc((size_t)(n + 1) * sizeof *sorted);
    if (!sorted) return cli_no_memory();
    memcpy(sorted, y, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare_numbers);
    *median = sorted[n / 2];
    *deviation = (sorted[3 * n / 4] - sorted[n / 4]) / 1.349;
    if (!(*deviation > 0)) *deviation = sorted[n - 1] > sorted[0] ? sorted[n - 1] - sorted[0] : 1;
    free(sorted);
    return CLI_DONE;
}

static int find_observations(fit_state *fit)
{
    laplace_state *state = own_of(fit);
    const gram_prepared *data = fit->prepared;
    gram_laplace_options *o = &state->options;
    state->deviation = 1;
    gram_laplace_options_init(o, sizeof *o);
    if (fit->own->tolerance > 0) o->tolerance = fit->own->tolerance;
    if (fit->own->student > 0) o->nu = fit->own->student;
    o->classes = fit->classes.count;
    o->likelihood = fit->kind == &cli_fit_poisson   ? GRAM_LIKELIHOOD_POISSON
                    : fit->kind == &cli_fit_student ? GRAM_LIKELIHOOD_STUDENT
                    : fit->classes.count == 2       ? GRAM_LIKELIHOOD_LOGISTIC
                                                    : GRAM_LIKELIHOOD_SOFTMAX;
    state->y = malloc((size_t)(data->n + 1) * sizeof *state->y);
    if (!state->y) return cli_no_memory();
    if (o->likelihood == GRAM_LIKELIHOOD_STUDENT) {
        const int code = find_spread(data->n, data->y, &state->offset, &state->deviation);
        if (code != CLI_DONE) return code;
        o->scale = 0.3 * state->deviation;
    }
    for (int64_t i = 0; i < data->n; i++) state->y[i] = fit->labels ? fit->labels[i] : data->y[i] - state->offset;
    return CLI_DONE;
}

static int check_target(const fit_state *fit)
{
    const gram_prepared *data = fit->prepared;
    if (data->targets != 1)
        return cli_fail(CLI_WRONG_USE, "Choose one with --target.",
                        "fit: a Gaussian process learns one target, here are %" PRId64, data->targets);
    for (int64_t i = 0; i < data->n && fit->kind == &cli_fit_poisson; i++)
        if (data->y[i] < 0 || data->y[i] != floor(data->y[i]))
            return cli_fail(
                CLI_BAD_DATA, "Counts are 0, 1, 2, ...; --likelihood gaussian or student takes any numbers.",
                "%s: row %" PRId64 ": column '%s': %g is no count", fit->file, (data->rows ? data->rows[i] : i) + 1,
                gram_preparation_describe(fit->preparation)->targets[0].name, data->y[i]);
    return CLI_DONE;
}

static int make_plan(cli_session *session, fit_state *fit)
{
    const double n = (double)fit->n, outputs = fit->classes.count <= 2 ? 1 : (double)fit->classes.count;
    laplace_state *state = fit->result = calloc(1, sizeof *state);
    if (!state) return cli_no_memory();
    int code = check_target(fit);
    if (code == CLI_DONE) code = find_observations(fit);
    if (code != CLI_DONE) return code;
    const double bytes = 8 * n * n * (2 + 0.5 * outputs);
    if (bytes > (double)session->budget)
        return cli_fail(CLI_OVER_LIMIT, "Take --method svm, fewer rows, or more --memory.",
                        "fit: Laplace's approximation on %.0f rows needs about %.1f GiB", n, bytes / 1073741824.0);
    cli_fit_say_plan(session, fit, "laplace, f64", (size_t)bytes, 10 * outputs * n * n * n * 1e-11,
                     "Newton steps to the mode on the whole matrix");
    return CLI_DONE;
}

/* ---- the work ---- */

static gram_status tune(cli_session *session, fit_state *fit, gram_kernel *start)
{
    laplace_state *state = own_of(fit);
    gram_laplace_tune_options options;
    gram_laplace_tune_options_init(&options, sizeof options);
    options.laplace = state->options;
    options.ard = cli_fit_wants_ard(fit->own);
    state->tuned.size = sizeof state->tuned;
    const gram_status status = gram_laplace_tune(session->context, start, fit->points, state->y, &options, &fit->kernel,
                                                 &state->options.scale, &state->tuned);
    return status == GRAM_NOT_CONVERGED ? GRAM_OK : status;
}

/* Amplitudes of heavy-tailed observations are in their own units; where none is given they start from the data. */
static gram_status choose(cli_session *session, fit_state *fit)
{
    const laplace_state *state = own_of(fit);
    gram_kernel *start = gram_kernel_retain(fit->given);
    int64_t amplitudes;
    gram_status status = GRAM_OK;
    if (state->options.likelihood == GRAM_LIKELIHOOD_STUDENT) {
        gram_kernel_release(start);
        start = NULL;
        status = cli_fit_set_amplitudes(session, fit->given, state->deviation * state->deviation, &amplitudes, &start);
    }
    if (status >= 0)
        status = fit->tune == FIT_TUNE_NONE ? gram_kernel_resolve(session->context, start, fit->points, &fit->kernel)
                                            : tune(session, fit, start);
    gram_kernel_release(start);
    return status;
}

/* Of counts and numbers. */
static void set_training_error(cli_facts *facts, const fit_state *fit)
{
    const gram_prepared *data = fit->prepared;
    double squares = 0, *f = calloc((size_t)(data->n + 1), sizeof *f);
    if (!f) facts->status = GRAM_ERROR_MEMORY;
    if (facts->status >= 0)
        facts->status = gram_laplace_predict(facts->context, own_of(fit)->laplace, fit->points, f, 1);
    for (int64_t i = 0; i < data->n && facts->status >= 0; i++)
        squares += pow(data->y[i] - f[i] - own_of(fit)->offset, 2) / (double)data->n;
    cli_facts_number(facts, "train_rmse", sqrt(squares));
    free(f);
}

static void set_training(cli_facts *facts, const fit_state *fit)
{
    const int64_t n = fit->prepared->n, classes = fit->classes.count;
    double *p = calloc((size_t)(n * (classes + 1) + 1), sizeof *p), *labels = p ? p + n * classes : NULL;
    if (!p) facts->status = GRAM_ERROR_MEMORY;
    if (facts->status >= 0)
        facts->status = gram_laplace_predict(facts->context, own_of(fit)->laplace, fit->points, p, classes);
    for (int64_t i = 0; i < n && facts->status >= 0; i++)
        for (int64_t c = 1; c < classes; c++)
            if (p[i * classes + c] > p[i * classes + (int64_t)labels[i]]) labels[i] = (double)c;
    if (facts->status >= 0) cli_fit_class_facts(facts, fit, labels, p);
    free(p);
}

static void set_facts(cli_facts *facts, const fit_state *fit)
{
    const laplace_state *state = own_of(fit);
    const gram_laplace_report *report = gram_laplace_get_report(state->laplace);
    cli_facts_integer(facts, "n", report->n);
    cli_facts_integer(facts, "d", report->d);
    cli_facts_integer(facts, "rows", fit->prepared->table_rows);
    cli_facts_text(facts, "likelihood", gram_likelihood_name(report->likelihood));
    cli_facts_text(facts, "solver", "laplace");
    cli_facts_integer(facts, "iterations", report->iterations);
    cli_facts_number(facts, "optimality", report->optimality);
    cli_facts_number(facts, "jitter", report->jitter);
    cli_facts_number(facts, "norm", report->norm);
    cli_facts_number(facts, "log_marginal_likelihood", report->log_evidence);
    cli_fit_tune_facts(facts, fit, NULL);
    if (fit->tune != FIT_TUNE_NONE) {
        cli_facts_integer(facts, "tuned_rows", state->tuned.rows);
        cli_facts_integer(facts, "evaluations", state->tuned.evaluations);
        cli_facts_integer(facts, "at_bound", state->tuned.at_bound);
    }
    if (fit->labels) {
        set_training(facts, fit);
        cli_classes_facts(facts, &fit->classes);
    } else {
        set_training_error(facts, fit);
        cli_facts_number(facts, "offset", state->offset);
    }
    if (state->options.likelihood == GRAM_LIKELIHOOD_STUDENT) {
        cli_facts_number(facts, "student", state->options.nu);
        cli_facts_number(facts, "scale", state->options.scale);
    }
    cli_facts_array(facts, "targets", fit->prepared->n, 1, state->y);
}

static gram_status make_model(cli_session *session, fit_state *fit)
{
    cli_facts facts = {session->context, NULL, GRAM_OK};
    facts.status = gram_model_create(session->context, "gp", fit->labels ? "classification" : "regression",
                                     fit->preparation, gram_laplace_function(own_of(fit)->laplace), &fit->model);
    facts.model = fit->model;
    if (facts.status >= 0) set_facts(&facts, fit);
    return facts.status;
}

static int work(cli_session *session, fit_state *fit)
{
    laplace_state *state = own_of(fit);
    gram_status status = choose(session, fit);
    if (status >= 0)
        status =
            gram_laplace_fit(session->context, fit->kernel, fit->points, state->y, &state->options, &state->laplace);
    if (status == GRAM_NOT_CONVERGED && !cli_fit_is_near(fit->own, gram_laplace_get_report(state->laplace)->optimality))
        return cli_fail(CLI_NUMERICAL, "Take a smaller amplitude, or ask for less with --tolerance T.",
                        "fit: no convergence of the mode: its conditions are violated by %.2g",
                        gram_laplace_get_report(state->laplace)->optimality);
    if (status >= 0) status = make_model(session, fit);
    return status < 0 ? cli_fit_fail(session, status, fit) : CLI_DONE;
}

static const char *fitted(cli_session *session, const fit_state *fit, double *f)
{
    const laplace_state *state = own_of(fit);
    if (gram_laplace_predict(session->context, state->laplace, fit->points, f, 1) < 0) return NULL;
    for (int64_t i = 0; i < fit->prepared->n; i++) f[i] += state->offset;
    return "fitted value";
}

/* A rate has a level of its own: the constant of the kernel. */
const fit_kind cli_fit_laplace = {"gp", "const*rbf", FIT_TUNE_ML, check_use, make_plan, work, NULL, free_state};
const fit_kind cli_fit_poisson = {"gp",   "const + const*rbf", FIT_TUNE_ML, check_use, make_plan, work,
                                  fitted, free_state};
const fit_kind cli_fit_student = {"gp", "const*rbf", FIT_TUNE_ML, check_use, make_plan, work, fitted, free_state};

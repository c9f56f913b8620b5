/* `gram fit --method logistic`: kernel logistic regression. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cli/fit/verb_fit.h"
#include "cli/report/report_rows.h"

typedef struct logistic_state {
    double lambda; /* NaN: to be chosen */
    int lambda_is_default;
    int64_t *labels;
    gram_grid_report tuned;
    double cv_accuracy;
    gram_logistic *logistic;
} logistic_state;

static logistic_state *own_of(const fit_state *fit)
{
    return fit->result;
}

static void free_state(fit_state *fit)
{
    logistic_state *state = fit->result;
    if (!state) return;
    gram_logistic_destroy(state->logistic);
    free(state->labels);
    free(state);
}

static int check_use(const fit_options *own)
{
    const fit_tune tune = (fit_tune)own->tune.value;
    if (cli_fit_ridges(own) > 0 && own->C > 0)
        return cli_fail(CLI_WRONG_USE, "C = 1/(2 n lambda).", "fit: give one of --lambda and --C");
    if (tune != FIT_TUNE_AUTO && tune != FIT_TUNE_CV && tune != FIT_TUNE_NONE)
        return cli_fail(CLI_WRONG_USE, "cv:5 is the default.", "fit: --tune for logistic is cv:K or none");
    int code = cli_fit_refuse("--solver", "logistic", own->solver.value != GRAM_SOLVER_AUTO);
    if (code == CLI_DONE) code = cli_fit_refuse("--mean", "logistic", own->mean.value >= 0);
    if (code == CLI_DONE) code = cli_fit_refuse("--row-noise", "logistic", own->row_noise != NULL);
    if (code == CLI_DONE) code = cli_fit_refuse("--nu", "logistic", own->nu > 0);
    if (code == CLI_DONE) code = cli_fit_refuse("--loo", "logistic", own->loo);
    if (code == CLI_DONE) code = cli_fit_refuse("--grid", "logistic", own->grid > 0);
    return code == CLI_DONE ? cli_fit_refuse("--precision", "logistic", own->precision.value != GRAM_PRECISION_AUTO)
                            : code;
}

static int make_plan(cli_session *session, fit_state *fit)
{
    const fit_options *own = fit->own;
    const double n = (double)fit->n, outputs = fit->classes.count == 2 ? 1 : (double)fit->classes.count;
    logistic_state *state = fit->result = calloc(1, sizeof *state);
    if (!state) return cli_no_memory();
    state->lambda = own->C > 0 ? 1 / (2 * n * own->C) : cli_fit_noise(fit) / n;
    state->labels = calloc((size_t)fit->prepared->n + 1, sizeof *state->labels);
    if (!state->labels) return cli_no_memory();
    for (int64_t i = 0; i < fit->prepared->n; i++) state->labels[i] = (int64_t)fit->labels[i];
    if (cli_fit_folds(fit) < 2) fit->tune = FIT_TUNE_NONE;
    const double matrices = 1 + 0.5 * outputs + (outputs > 1), bytes = 8 * n * n * matrices;
    if (bytes > (double)session->budget)
        return cli_fail(CLI_OVER_LIMIT,
                        "Take --method svm, which keeps parts of the matrix, fewer rows, or more --memory.",
                        "fit: logistic regression of %.0f rows needs about %.1f GiB", n, bytes / 1073741824.0);
    cli_fit_say_plan(session, fit, "newton, f64", (size_t)bytes, 10 * outputs * n * n * n * 1e-11,
                     "exact Newton steps on the whole matrix");
    return CLI_DONE;
}

/* ---- the work ---- */

static double accuracy_of(const fit_state *fit, const double *p)
{
    const int64_t n = fit->prepared->n, classes = fit->classes.count;
    double right = 0, count = 0;
    for (int64_t i = 0; i < n; i++) {
        const double *row = p + i * classes;
        int64_t best = 0;
        if (isnan(row[0])) continue;
        for (int64_t c = 1; c < classes; c++)
            if (row[c] > row[best]) best = c;
        right += best == own_of(fit)->labels[i];
        count++;
    }
    return right / count;
}

static gram_status tune(cli_session *session, fit_state *fit)
{
    logistic_state *state = own_of(fit);
    const double given = state->lambda;
    gram_logistic_tune_options options;
    gram_logistic_tune_options_init(&options, sizeof options);
    options.ard = cli_fit_wants_ard(fit->own);
    options.folds = cli_fit_folds(fit);
    options.weights = fit->weights;
    options.intercept = !fit->own->no_intercept;
    if (!isnan(given)) {
        options.lambda_count = 1;
        options.lambdas = &given;
    }
    state->tuned.size = sizeof state->tuned;
    double *p = calloc((size_t)(fit->prepared->n * fit->classes.count + 1), sizeof *p);
    if (!p) return GRAM_ERROR_MEMORY;
    const gram_status status =
        gram_logistic_tune(session->context, fit->given, fit->points, fit->classes.count, state->labels, &options,
                           &fit->kernel, &state->lambda, &state->tuned, NULL, p, fit->classes.count);
    if (status >= 0) state->cv_accuracy = accuracy_of(fit, p);
    free(p);
    return status;
}

static gram_status take_defaults(cli_session *session, fit_state *fit)
{
    logistic_state *state = own_of(fit);
    gram_logistic_options options;
    gram_logistic_options_init(&options, sizeof options);
    state->lambda_is_default = isnan(state->lambda);
    if (state->lambda_is_default) state->lambda = options.lambda;
    return gram_kernel_resolve(session->context, fit->given, fit->points, &fit->kernel);
}

static gram_status solve(cli_session *session, fit_state *fit)
{
    logistic_state *state = own_of(fit);
    gram_logistic_options options;
    gram_logistic_options_init(&options, sizeof options);
    options.lambda = state->lambda;
    options.weights = fit->weights;
    options.intercept = !fit->own->no_intercept;
    if (fit->own->tolerance > 0) options.tolerance = fit->own->tolerance;
    return gram_logistic_fit(session->context, fit->kernel, fit->points, fit->classes.count, state->labels, &options,
                             &state->logistic);
}

/* ---- the model ---- */

static const cli_fact_place NUMBERS[] = {
    {"objective", offsetof(gram_logistic_report, objective)},
    {"optimality", offsetof(gram_logistic_report, optimality)},
    {"train_accuracy", offsetof(gram_logistic_report, accuracy)},
    {"train_log_loss", offsetof(gram_logistic_report, log_loss)},
    {"norm", offsetof(gram_logistic_report, norm)},
    {"jitter", offsetof(gram_logistic_report, jitter)},
};

static void set_facts(cli_facts *facts, const fit_state *fit)
{
    const logistic_state *state = own_of(fit);
    const gram_logistic_report *report = gram_logistic_get_report(state->logistic);
    cli_facts_integer(facts, "n", report->n);
    cli_facts_integer(facts, "d", report->d);
    cli_facts_integer(facts, "rows", fit->prepared->table_rows);
    cli_facts_number(facts, "lambda", state->lambda);
    cli_facts_number(facts, "C", 1 / (2 * (double)report->n * state->lambda));
    cli_facts_integer(facts, "intercept", !fit->own->no_intercept);
    cli_facts_integer(facts, "iterations", report->iterations);
    cli_facts_numbers(facts, report, NUMBERS, sizeof NUMBERS / sizeof *NUMBERS);
    cli_fit_tune_facts(facts, fit, state->lambda_is_default ? "lambda" : NULL);
    if (fit->tune != FIT_TUNE_NONE) {
        cli_facts_integer(facts, "tuned_rows", state->tuned.rows);
        cli_facts_integer(facts, "tuned_fits", state->tuned.fits);
        cli_facts_number(facts, "cv_accuracy", state->cv_accuracy);
        cli_facts_number(facts, "cv_log_loss", state->tuned.value);
        cli_facts_integer(facts, "at_bound", state->tuned.at_edge);
    }
    cli_classes_facts(facts, &fit->classes);
}

static gram_status make_model(cli_session *session, fit_state *fit)
{
    cli_facts facts = {session->context, NULL, GRAM_OK};
    facts.status = gram_model_create(session->context, "logistic", "classification", fit->preparation,
                                     gram_logistic_function(own_of(fit)->logistic), &fit->model);
    facts.model = fit->model;
    if (facts.status >= 0) set_facts(&facts, fit);
    return facts.status;
}

static int not_converged(cli_session *session, const fit_state *fit)
{
    const gram_logistic_report *report = gram_logistic_get_report(own_of(fit)->logistic);
    char optimality[CLI_SHORT_SIZE];
    cli_session_clear(session);
    return cli_fail(CLI_NUMERICAL, "Raise --lambda, or ask for less with --tolerance T.",
                    "fit: no convergence: after %" PRId64 " steps the optimality conditions are violated by %s",
                    report->iterations, cli_short_number(report->optimality, optimality));
}

static int work(cli_session *session, fit_state *fit)
{
    gram_status status = fit->tune == FIT_TUNE_NONE ? take_defaults(session, fit) : tune(session, fit);
    if (status >= 0) status = solve(session, fit);
    if (status == GRAM_NOT_CONVERGED &&
        !cli_fit_is_near(fit->own, gram_logistic_get_report(own_of(fit)->logistic)->optimality))
        return not_converged(session, fit);
    if (status >= 0) status = make_model(session, fit);
    return status < 0 ? cli_fit_fail(session, status, fit) : CLI_DONE;
}

const fit_kind cli_fit_logistic = {"logistic", "rbf", FIT_TUNE_CV, check_use, make_plan, work, NULL, free_state};

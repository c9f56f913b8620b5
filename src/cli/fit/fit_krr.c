/* `gram fit --method krr`: kernel ridge regression. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/fit/verb_fit.h"
#include "cli/report/report_rows.h"

typedef struct krr_state {
    double lambda;
    int lambda_is_default;
    gram_tune_report tuned;
    gram_krr *krr;
} krr_state;

static krr_state *own_of(const fit_state *fit)
{
    return fit->result;
}

static void free_state(fit_state *fit)
{
    if (fit->result) gram_krr_destroy(own_of(fit)->krr);
    free(fit->result);
}

static int check_use(const fit_options *own)
{
    if (own->mean.value >= 0)
        return cli_fail(CLI_WRONG_USE, "--no-intercept leaves the constant out.",
                        "fit: --mean is of --method gp; kernel ridge regression has a constant or none");
    if (own->solver.value >= GRAM_SOLVER_MARKOV)
        return cli_fail(CLI_WRONG_USE, "Take --method gp, or auto, exact, cg or nystrom:M.",
                        "fit: --solver %s is of --method gp", gram_solver_name((gram_solver)own->solver.value));
    if (own->row_noise)
        return cli_fail(CLI_WRONG_USE, "Take --method gp, or --weights with a column of 1/variance.",
                        "fit: --row-noise is of --method gp");
    return CLI_DONE;
}

/* ---- the plan ---- */

static int make_plan(cli_session *session, fit_state *fit)
{
    gram_plan plan;
    gram_plan_request request;
    char words[64];
    krr_state *state = fit->result = calloc(1, sizeof *state);
    if (!state) return cli_no_memory();
    state->lambda = isnan(fit->own->lambda) ? cli_fit_noise(fit) / (double)fit->n : fit->own->lambda;
    gram_plan_request_init(&request, sizeof request);
    request.n = fit->n;
    request.d = fit->prepared->d;
    request.outputs = fit->prepared->targets;
    request.kernel = fit->given;
    request.solver = (gram_solver)fit->own->solver.value;
    request.landmarks = fit->own->solver.number;
    request.precision = (gram_precision)fit->own->precision.value;
    request.leave_one_out = fit->own->loo ? 1 : -1;
    request.ridgeless = state->lambda == 0;
    const gram_status status = gram_plan_fit(session->context, &request, &plan);
    const int contradiction = status == GRAM_ERROR_ARGUMENT || status == GRAM_ERROR_UNSUPPORTED;
    if (status < 0)
        return cli_session_fail(session, status, 0,
                                contradiction ? "Change --solver, --precision, --loo or --lambda." : NULL);
    (void)snprintf(words, sizeof words, "%s, %s", gram_solver_name(plan.solver), gram_precision_name(plan.precision));
    cli_fit_say_plan(session, fit, words, plan.bytes, plan.seconds, plan.reason);
    return CLI_DONE;
}

/* ---- tuning ---- */

static gram_criterion criterion_of(fit_tune tune)
{
    switch (tune) {
    case FIT_TUNE_GCV: return GRAM_CRITERION_GCV;
    case FIT_TUNE_CV: return GRAM_CRITERION_CV;
    case FIT_TUNE_ML: return GRAM_CRITERION_ML;
    default: return GRAM_CRITERION_LOO;
    }
}

static gram_status tune(cli_session *session, fit_state *fit)
{
    enum { MATRICES = 4 };
    const fit_options *own = fit->own;
    const gram_prepared *data = fit->prepared;
    krr_state *state = own_of(fit);
    gram_tune_options options;
    gram_tune_options_init(&options, sizeof options);
    options.criterion = criterion_of(fit->tune);
    if (own->tune.number > 0) options.folds = own->tune.number;
    options.lambda = state->lambda;
    options.lambda_fixed = !isnan(state->lambda);
    options.weights = data->weights;
    options.intercept = !own->no_intercept;
    options.ard = cli_fit_wants_ard(own);
    options.grid = own->grid;
    options.rows = cli_fit_tuning_rows(session, MATRICES);
    state->tuned.size = sizeof state->tuned;
    return gram_krr_tune(session->context, fit->given, fit->points, data->targets, data->y, data->targets, &options,
                         &fit->kernel, &state->lambda, &state->tuned);
}

/* Without tuning: the median heuristic, and a ridge that does little. */
static gram_status take_defaults(cli_session *session, fit_state *fit)
{
    krr_state *state = own_of(fit);
    gram_krr_options options;
    gram_krr_options_init(&options, sizeof options);
    state->lambda_is_default = isnan(state->lambda);
    if (state->lambda_is_default) state->lambda = options.lambda;
    return gram_kernel_resolve(session->context, fit->given, fit->points, &fit->kernel);
}

/* ---- the fit ---- */

static gram_status solve(cli_session *session, fit_state *fit)
{
    const fit_options *own = fit->own;
    const gram_prepared *data = fit->prepared;
    gram_krr_options options;
    gram_krr_options_init(&options, sizeof options);
    options.lambda = own_of(fit)->lambda;
    options.weights = data->weights;
    options.intercept = !own->no_intercept;
    options.solver = (gram_solver)own->solver.value;
    options.landmarks = own->solver.number;
    options.precision = (gram_precision)own->precision.value;
    options.tolerance = own->tolerance;
    options.leave_one_out = own->loo ? 1 : -1;
    return gram_krr_fit(session->context, fit->kernel, fit->points, data->targets, data->y, data->targets, &options,
                        &own_of(fit)->krr);
}

static int not_converged(cli_session *session, const fit_state *fit)
{
    const gram_krr_report *report = gram_krr_get_report(own_of(fit)->krr);
    char error[CLI_SHORT_SIZE];
    cli_session_clear(session);
    return cli_fail(CLI_NUMERICAL,
                    "Raise --lambda (or --noise), ask for less with --tolerance T, or take --solver exact.",
                    "fit: no convergence: after %" PRId64 " iterations the backward error is %s", report->iterations,
                    cli_short_number(report->backward_error, error));
}

/* ---- the model and what is kept of the fit ---- */

static const cli_fact_place NUMBERS[] = {
    {"residual", offsetof(gram_krr_report, residual)},
    {"backward_error", offsetof(gram_krr_report, backward_error)},
    {"jitter", offsetof(gram_krr_report, jitter)},
    {"condition", offsetof(gram_krr_report, condition)},
    {"trace_error", offsetof(gram_krr_report, trace_error)},
    {"train_rmse", offsetof(gram_krr_report, train_rmse)},
    {"train_r2", offsetof(gram_krr_report, train_r2)},
    {"loo_rmse", offsetof(gram_krr_report, loo_rmse)},
    {"loo_r2", offsetof(gram_krr_report, loo_r2)},
    {"gcv", offsetof(gram_krr_report, gcv)},
    {"norm", offsetof(gram_krr_report, norm)},
    {"effective_dimension", offsetof(gram_krr_report, effective_dimension)},
    {"log_marginal_likelihood", offsetof(gram_krr_report, log_marginal_likelihood)},
};

/* Rademacher complexity of the ball that the function is in. The risk bound holds for a kernel that was fixed before the
 * data were seen, and for functions without an unpenalised part: only then is it said, and only where it says more than
 * |y| <= max |y| alone does. */
static void set_bounds(cli_facts *facts, const fit_state *fit)
{
    const gram_krr_report *report = gram_krr_get_report(own_of(fit)->krr);
    const fit_options *own = fit->own;
    double most = 0;
    if (report->outputs != 1 || fit->prepared->weights) return;
    cli_facts_number(facts, "rademacher", gram_bound_rademacher(report->norm, report->trace, report->n));
    if (!own->no_intercept || !own->no_scale || fit->tune != FIT_TUNE_NONE ||
        !gram_kernel_equal(fit->given, fit->kernel))
        return;
    for (int64_t i = 0; i < fit->prepared->n; i++) most = fmax(most, fabs(fit->prepared->y[i]));
    const double bound = report->train_rmse * report->train_rmse +
                         gram_bound_squared_risk_fitted(report->norm, report->radius, most, 0.05, report->n);
    if (bound < most * most) cli_facts_number(facts, "risk_bound", bound);
}

static void set_tuning(cli_facts *facts, const fit_state *fit)
{
    const krr_state *state = own_of(fit);
    cli_fit_tune_facts(facts, fit, state->lambda_is_default ? "lambda" : NULL);
    if (fit->tune == FIT_TUNE_NONE) return;
    cli_facts_integer(facts, "tuned_rows", state->tuned.rows);
    cli_facts_integer(facts, "evaluations", state->tuned.evaluations);
    cli_facts_number(facts, "criterion", state->tuned.value);
    cli_facts_integer(facts, "at_bound", state->tuned.at_bound);
}

static void set_facts(cli_facts *facts, const fit_state *fit)
{
    const gram_krr_report *report = gram_krr_get_report(own_of(fit)->krr);
    cli_facts_integer(facts, "n", report->n);
    cli_facts_integer(facts, "d", report->d);
    cli_facts_integer(facts, "rows", fit->prepared->table_rows);
    cli_facts_number(facts, "lambda", report->lambda);
    cli_facts_number(facts, "noise", report->lambda * (double)report->n);
    cli_facts_integer(facts, "intercept", !fit->own->no_intercept);
    cli_facts_text(facts, "solver", gram_solver_name(report->solver));
    cli_facts_text(facts, "precision", gram_precision_name(report->precision));
    cli_facts_integer(facts, "rank", report->rank);
    cli_facts_integer(facts, "iterations", report->iterations);
    cli_facts_numbers(facts, report, NUMBERS, sizeof NUMBERS / sizeof *NUMBERS);
    set_bounds(facts, fit);
    set_tuning(facts, fit);
}

static gram_status make_model(cli_session *session, fit_state *fit)
{
    cli_facts facts = {session->context, NULL, GRAM_OK};
    facts.status = gram_model_create(session->context, "krr", "regression", fit->preparation,
                                     gram_krr_function(own_of(fit)->krr), &fit->model);
    facts.model = fit->model;
    if (facts.status >= 0) set_facts(&facts, fit);
    return facts.status;
}

static int work(cli_session *session, fit_state *fit)
{
    gram_status status = fit->tune == FIT_TUNE_NONE ? take_defaults(session, fit) : tune(session, fit);
    if (status >= 0) status = solve(session, fit);
    if (status == GRAM_NOT_CONVERGED) return not_converged(session, fit);
    if (status >= 0) status = make_model(session, fit);
    return status < 0 ? cli_fit_fail(session, status, fit) : CLI_DONE;
}

/* With the row itself left out, where that was computed: it does not flatter. */
static const char *fitted(cli_session *session, const fit_state *fit, double *f)
{
    (void)session;
    const gram_prepared *data = fit->prepared;
    const gram_krr *krr = own_of(fit)->krr;
    const double *residuals = gram_krr_loo_residuals(krr), *values = gram_krr_fitted(krr);
    for (int64_t i = 0; i < data->n; i++) {
        const int64_t at = i * data->targets;
        f[i] = residuals ? data->y[at] - residuals[at] : values[at];
    }
    return residuals ? "leave-one-out prediction" : "fitted value";
}

const fit_kind cli_fit_krr = {"krr", "rbf", FIT_TUNE_LOO, check_use, make_plan, work, fitted, free_state};

/* What a model of a Gaussian process keeps: the posterior mean as a function, and what its variance is made from. */
#include <stdlib.h>

#include "cli/fit/fit_gp.h"
#include "cli/report/weights_report.h"

static const char *const MEANS[] = {"zero", "constant", "linear", "flat"};

static const cli_fact_place EXACT[] = {
    {"residual", offsetof(gram_gp_report, residual)},
    {"backward_error", offsetof(gram_gp_report, backward_error)},
    {"jitter", offsetof(gram_gp_report, jitter)},
    {"condition", offsetof(gram_gp_report, condition)},
    {"train_rmse", offsetof(gram_gp_report, train_rmse)},
    {"train_r2", offsetof(gram_gp_report, train_r2)},
    {"loo_rmse", offsetof(gram_gp_report, loo_rmse)},
    {"loo_r2", offsetof(gram_gp_report, loo_r2)},
    {"loo_log_density", offsetof(gram_gp_report, loo_log_density)},
    {"loo_coverage", offsetof(gram_gp_report, loo_coverage)},
    {"log_marginal_likelihood", offsetof(gram_gp_report, log_marginal_likelihood)},
};

static const cli_fact_place MARKOV[] = {
    {"train_rmse", offsetof(gram_markov_report, train_rmse)},
    {"train_r2", offsetof(gram_markov_report, train_r2)},
    {"loo_rmse", offsetof(gram_markov_report, loo_rmse)},
    {"loo_r2", offsetof(gram_markov_report, loo_r2)},
    {"loo_log_density", offsetof(gram_markov_report, loo_log_density)},
    {"loo_coverage", offsetof(gram_markov_report, loo_coverage)},
    {"log_marginal_likelihood", offsetof(gram_markov_report, log_marginal_likelihood)},
};

/* Of conjugate gradients with either preconditioner. */
static const cli_fact_place CG[] = {
    {"residual", offsetof(gram_gp_cg_report, value.residual)},
    {"train_rmse", offsetof(gram_gp_cg_report, train_rmse)},
    {"log_marginal_likelihood", offsetof(gram_gp_cg_report, value.log_marginal_likelihood)},
    {"likelihood_error", offsetof(gram_gp_cg_report, value.standard_error)},
    {"quadrature_error", offsetof(gram_gp_cg_report, value.quadrature_error)},
};

static const cli_fact_place INDUCING[] = {
    {"bound", offsetof(gram_gp_inducing_report, value.bound)},
    {"trace_error", offsetof(gram_gp_inducing_report, value.trace_share)},
    {"jitter", offsetof(gram_gp_inducing_report, value.jitter)},
};

/* ---- the function ---- */

/* a = (y - m - f)/noise, since y - m = (K + noise) a. Without noise there is nothing to divide by: the coefficients are 0,
 * and predictions, which the filter makes, do not ask for them. */
static gram_status markov_function(cli_session *session, const fit_state *fit, gram_function **function)
{
    const gp_state *state = fit->result;
    const double *fitted = gram_markov_fitted(state->markov);
    const int64_t n = fit->prepared->n;
    double constant = state->offset;
    double *a = calloc((size_t)n, sizeof *a);
    if (!a) return GRAM_ERROR_MEMORY;
    if (state->mean != FIT_MEAN_ZERO) constant += gram_markov_mean_coefficients(state->markov)[0];
    for (int64_t i = 0; i < n; i++) {
        double noise = state->options.noise;
        if (state->options.weights) noise /= state->options.weights[i];
        if (state->options.row_noise) noise += state->options.row_noise[i];
        a[i] = noise > 0 ? (state->y[i] - fitted[i]) / noise : 0;
    }
    const gram_status status =
        gram_function_create(session->context, fit->kernel, fit->points, 1, a, 1, &constant, function);
    free(a);
    return status;
}

static gram_status inducing_function(cli_session *session, const fit_state *fit, gram_function **function)
{
    const gp_state *state = fit->result;
    gram_gp_inducing_parts parts = {.size = sizeof parts};
    gram_points *positions = NULL;
    gram_gp_inducing_describe(state->inducing, &parts);
    const double constant = state->offset + (state->mean == FIT_MEAN_ZERO ? 0 : parts.beta[0]);
    gram_status status =
        gram_points_create_f64(session->context, parts.m, parts.d, parts.positions, parts.d, &positions);
    if (status >= 0)
        status = gram_function_create(session->context, fit->kernel, positions, 1, parts.coefficients, 1, &constant,
                                      function);
    gram_points_destroy(positions);
    return status;
}

/* Of the exact solver and of conjugate gradients: the constant of theirs, and the offset. */
static gram_status dense_function(cli_session *session, const fit_state *fit, gram_function **function)
{
    const gp_state *state = fit->result;
    const gram_function *f = state->exact ? gram_gp_function(state->exact) : gram_gp_cg_function(state->cg);
    const double constant = gram_function_constant(f)[0] + state->offset;
    return gram_function_create(session->context, fit->kernel, gram_function_centres(f), 1,
                                gram_function_coefficients(f), 1, &constant, function);
}

static gram_status make_function(cli_session *session, const fit_state *fit, gram_function **function)
{
    const gp_state *state = fit->result;
    if (state->solver == GP_MARKOV) return markov_function(session, fit, function);
    if (state->solver == GP_INDUCING) return inducing_function(session, fit, function);
    return dense_function(session, fit, function);
}

/* ---- facts and arrays ---- */

/* What its variances are made from: there are no rows to do it from again. */
static void set_inducing_arrays(cli_facts *facts, const fit_state *fit)
{
    const gp_state *state = fit->result;
    gram_gp_inducing_parts parts = {.size = sizeof parts};
    gram_gp_inducing_describe(state->inducing, &parts);
    const int64_t q = state->mean == FIT_MEAN_ZERO ? 0 : state->mean == FIT_MEAN_LINEAR ? 1 + parts.d : 1;
    if (q > 0) cli_facts_array(facts, "beta", 1, q, parts.beta);
    if (state->mean == FIT_MEAN_LINEAR) cli_facts_array(facts, "slopes", 1, parts.d, parts.beta + 1);
    cli_facts_array(facts, "inducing_factor", parts.m, parts.m, parts.factor);
    cli_facts_array(facts, "inducing_inner", parts.m, parts.m, parts.inner);
    if (parts.mean_weights) cli_facts_array(facts, "mean_weights", parts.m, q, parts.mean_weights);
    if (parts.mean_factor) cli_facts_array(facts, "mean_factor", q, q, parts.mean_factor);
}

static void set_arrays(cli_facts *facts, const fit_state *fit)
{
    const gp_state *state = fit->result;
    const int64_t n = fit->prepared->n;
    const double *slopes = NULL;
    if (state->solver == GP_INDUCING) {
        set_inducing_arrays(facts, fit);
        return;
    }
    if (state->exact) slopes = gram_gp_slopes(state->exact);
    if (state->cg) slopes = gram_gp_cg_slopes(state->cg);
    if (state->markov && state->mean == FIT_MEAN_LINEAR) slopes = gram_markov_mean_coefficients(state->markov) + 1;
    if (slopes) cli_facts_array(facts, "slopes", 1, fit->prepared->d, slopes);
    cli_facts_array(facts, "targets", n, 1, state->y);
    if (state->options.row_noise) cli_facts_array(facts, "row_noise", n, 1, state->options.row_noise);
    if (state->options.weights) cli_facts_array(facts, "weights", n, 1, state->options.weights);
}

static void set_tuning(cli_facts *facts, const fit_state *fit)
{
    const gp_state *state = fit->result;
    cli_fit_tune_facts(facts, fit, state->noise_is_default ? "the noise" : NULL);
    if (fit->tune == FIT_TUNE_NONE) return;
    cli_facts_integer(facts, "tuned_rows", state->tuned.rows);
    cli_facts_integer(facts, "evaluations", state->tuned.evaluations);
    cli_facts_number(facts, "criterion", state->tuned.value);
    cli_facts_integer(facts, "at_bound", state->tuned.at_bound);
    if (state->tuned.diagnosis[0]) cli_facts_text(facts, "diagnosis", state->tuned.diagnosis);
}

static void set_cg_report(cli_facts *facts, const gp_state *state)
{
    const gram_gp_cg_report *report = gram_gp_cg_get_report(state->cg);
    cli_facts_numbers(facts, report, CG, sizeof CG / sizeof *CG);
    if (!state->mixed) cli_facts_number(facts, "trace_error", report->value.trace_error);
    cli_facts_integer(facts, "iterations", report->value.iterations);
}

static void set_report(cli_facts *facts, const gp_state *state)
{
    switch (state->solver) {
    case GP_MARKOV:
        cli_facts_numbers(facts, gram_markov_get_report(state->markov), MARKOV, sizeof MARKOV / sizeof *MARKOV);
        break;
    case GP_CG: set_cg_report(facts, state); break;
    case GP_INDUCING:
        cli_facts_numbers(facts, gram_gp_inducing_get_report(state->inducing), INDUCING,
                          sizeof INDUCING / sizeof *INDUCING);
        cli_facts_integer(facts, "rank", gram_gp_inducing_get_report(state->inducing)->m);
        break;
    default:
        if (state->mixed)
            set_cg_report(facts, state);
        else
            cli_facts_numbers(facts, gram_gp_get_report(state->exact), EXACT, sizeof EXACT / sizeof *EXACT);
    }
}

static void set_facts(cli_facts *facts, const fit_state *fit)
{
    const gp_state *state = fit->result;
    cli_facts_integer(facts, "n", fit->n);
    cli_facts_integer(facts, "d", fit->prepared->d);
    cli_facts_integer(facts, "rows", fit->prepared->table_rows);
    cli_facts_number(facts, "lambda", state->options.noise / (double)fit->n);
    cli_facts_number(facts, "noise", state->options.noise);
    cli_facts_number(facts, "target_scale", state->scale);
    cli_facts_number(facts, "offset", state->offset);
    cli_facts_text(facts, "mean", MEANS[state->mean]);
    cli_facts_integer(facts, "intercept", state->mean != FIT_MEAN_ZERO);
    cli_facts_text(facts, "solver", cli_fit_gp_solver_name(state->solver));
    cli_facts_text(facts, "precision", state->mixed ? "mixed" : "f64");
    set_report(facts, state);
    set_tuning(facts, fit);
    set_arrays(facts, fit);
}

gram_status cli_fit_gp_model(cli_session *session, fit_state *fit)
{
    const gp_state *state = fit->result;
    cli_facts facts = {session->context, NULL, GRAM_OK};
    gram_function *function = NULL;
    facts.status = make_function(session, fit, &function);
    if (facts.status >= 0)
        facts.status = gram_model_create(session->context, "gp", "regression", fit->preparation, function, &fit->model);
    facts.model = fit->model;
    if (facts.status >= 0) set_facts(&facts, fit);
    if (facts.status >= 0 && state->exact)
        facts.status = cli_weights_learn(session, state->exact, fit->kernel, fit->model);
    gram_function_release(function);
    return facts.status;
}

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
    {"train_rmse", offsetof(gram_gp_report, train_rmse)},
    {"train_r2", offsetof(gram_gp_report, train_r2)},
    {"loo_rmse", offsetof(gram_gp_report, loo_rmse)},
    {"loo_r2", offsetof(gram_gp_report, loo_r2)},
    {"loo_log_density", offsetof(gram_gp_report, loo_log_density)},
    {"loo_coverage", offsetof(gram_gp_report, loo_coverage)},
    {"log_marginal_likelihood", offsetof(gram_gp_report, log_marginal_likelihood)},
};

/* Of conjugate gradients with either preconditioner. */
static const cli_fact_place CG[] = {
    {"residual", offsetof(gram_gp_report, residual)},
    {"train_rmse", offsetof(gram_gp_report, train_rmse)},
    {"log_marginal_likelihood", offsetof(gram_gp_report, log_marginal_likelihood)},
    {"likelihood_error", offsetof(gram_gp_report, likelihood_error)},
    {"quadrature_error", offsetof(gram_gp_report, quadrature_error)},
};

static const cli_fact_place INDUCING[] = {
    {"bound", offsetof(gram_gp_report, bound)},
    {"trace_error", offsetof(gram_gp_report, trace_error)},
    {"jitter", offsetof(gram_gp_report, jitter)},
};

/* With the offset. */
static gram_status make_function(cli_session *session, const fit_state *fit, gram_function **function)
{
    const gp_state *state = fit->result;
    const gram_function *f = gram_gp_function(state->gp);
    const double constant = gram_function_constant(f)[0] + state->offset;
    return gram_function_create(session->context, fit->kernel, gram_function_centres(f), 1,
                                gram_function_coefficients(f), 1, &constant, function);
}

/* ---- facts and arrays ---- */

static int64_t mean_count(const gp_state *state)
{
    const int64_t d = gram_gp_get_report(state->gp)->d;
    return state->mean == FIT_MEAN_ZERO ? 0 : state->mean == FIT_MEAN_LINEAR ? 1 + d : 1;
}

/* What the variance of a flat mean is made from. */
static void set_mean_parts(cli_facts *facts, const gp_state *state, const gram_gp_parts *parts)
{
    const int64_t m = gram_points_count(parts->centres), q = mean_count(state);
    if (parts->mean_weights) cli_facts_array(facts, "mean_weights", m, q, parts->mean_weights);
    if (parts->mean_factor) cli_facts_array(facts, "mean_factor", q, q, parts->mean_factor);
}

/* A small factor is kept, or one that was asked for, so that predictions need not make it again: n (n + 1)/2 numbers. */
static void set_factor(cli_facts *facts, const fit_state *fit)
{
    enum { SMALL = 1000 };
    const gp_state *state = fit->result;
    const gram_gp_report *report = gram_gp_get_report(state->gp);
    const int64_t count = report->n * (report->n + 1) / 2;
    gram_gp_parts parts = {.size = sizeof parts};
    if (report->solver != GRAM_SOLVER_EXACT || report->precision != GRAM_PRECISION_F64) return;
    if (facts->status < 0 || (report->n > SMALL && !fit->own->keep_factor)) return;
    double *factor = malloc((size_t)count * sizeof *factor);
    facts->status = factor ? gram_gp_factor(facts->context, state->gp, factor) : GRAM_ERROR_MEMORY;
    gram_gp_describe(state->gp, &parts);
    if (parts.beta) cli_facts_array(facts, "beta", 1, mean_count(state), parts.beta);
    cli_facts_array(facts, "factor", count, 1, factor);
    set_mean_parts(facts, state, &parts);
    free(factor);
}

/* Of inducing points: there are no rows to make it from again. */
static void set_inducing(cli_facts *facts, const gp_state *state)
{
    gram_gp_parts parts = {.size = sizeof parts};
    gram_gp_describe(state->gp, &parts);
    const int64_t m = gram_points_count(parts.centres);
    const double *slopes = gram_gp_slopes(state->gp);
    if (parts.beta) cli_facts_array(facts, "beta", 1, mean_count(state), parts.beta);
    if (slopes) cli_facts_array(facts, "slopes", 1, gram_points_dimension(parts.centres), slopes);
    cli_facts_array(facts, "inducing_factor", m, m, parts.factor);
    cli_facts_array(facts, "inducing_inner", m, m, parts.inner);
    set_mean_parts(facts, state, &parts);
}

static void set_arrays(cli_facts *facts, const fit_state *fit)
{
    const gp_state *state = fit->result;
    const int64_t n = fit->prepared->n, d = fit->prepared->d;
    const double *slopes = gram_gp_slopes(state->gp);
    if (gram_gp_get_report(state->gp)->solver == GRAM_SOLVER_INDUCING) {
        set_inducing(facts, state);
        return;
    }
    if (slopes) cli_facts_array(facts, "slopes", 1, d, slopes);
    cli_facts_array(facts, "targets", n, 1, state->y);
    if (state->options.row_noise) cli_facts_array(facts, "row_noise", n, 1, state->options.row_noise);
    if (state->options.weights) cli_facts_array(facts, "weights", n, 1, state->options.weights);
    set_factor(facts, fit);
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

static void set_report(cli_facts *facts, const gram_gp_report *report)
{
    const int mixed = report->precision == GRAM_PRECISION_MIXED;
    if (report->solver == GRAM_SOLVER_CG || mixed) {
        cli_facts_numbers(facts, report, CG, sizeof CG / sizeof *CG);
        if (!mixed) cli_facts_number(facts, "trace_error", report->trace_error);
        cli_facts_integer(facts, "iterations", report->iterations);
    } else if (report->solver == GRAM_SOLVER_MARKOV) {
        cli_facts_numbers(facts, report, MARKOV, sizeof MARKOV / sizeof *MARKOV);
    } else if (report->solver == GRAM_SOLVER_INDUCING) {
        cli_facts_numbers(facts, report, INDUCING, sizeof INDUCING / sizeof *INDUCING);
        cli_facts_integer(facts, "rank", report->rank);
    } else {
        cli_facts_numbers(facts, report, EXACT, sizeof EXACT / sizeof *EXACT);
    }
}

static void set_facts(cli_facts *facts, const fit_state *fit)
{
    const gp_state *state = fit->result;
    const gram_gp_report *report = gram_gp_get_report(state->gp);
    cli_facts_integer(facts, "n", fit->n);
    cli_facts_integer(facts, "d", fit->prepared->d);
    cli_facts_integer(facts, "rows", fit->prepared->table_rows);
    cli_facts_number(facts, "lambda", state->options.noise / (double)fit->n);
    cli_facts_number(facts, "noise", state->options.noise);
    cli_facts_number(facts, "target_scale", state->scale);
    cli_facts_number(facts, "offset", state->offset);
    cli_facts_text(facts, "mean", MEANS[state->mean]);
    cli_facts_integer(facts, "intercept", state->mean != FIT_MEAN_ZERO);
    cli_facts_text(facts, "solver", gram_solver_name(report->solver));
    cli_facts_text(facts, "precision", gram_precision_name(report->precision));
    set_report(facts, report);
    set_tuning(facts, fit);
    set_arrays(facts, fit);
}

gram_status cli_fit_gp_model(cli_session *session, fit_state *fit)
{
    const gp_state *state = fit->result;
    const gram_gp_report *report = gram_gp_get_report(state->gp);
    cli_facts facts = {session->context, NULL, GRAM_OK};
    gram_function *function = NULL;
    facts.status = make_function(session, fit, &function);
    if (facts.status >= 0)
        facts.status = gram_model_create(session->context, "gp", "regression", fit->preparation, function, &fit->model);
    facts.model = fit->model;
    if (facts.status >= 0) set_facts(&facts, fit);
    if (facts.status >= 0 && report->solver == GRAM_SOLVER_EXACT && report->precision == GRAM_PRECISION_F64)
        facts.status = cli_weights_learn(session, state->gp, fit->kernel, fit->model);
    gram_function_release(function);
    return facts.status;
}

/* What a model of a Gaussian process keeps: the posterior mean as a function, and what its variance is made from. */
#include <stdlib.h>

#include "fit_gp.h"
#include "weights.h"

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

static gram_status exact_function(cli_session *session, const fit_state *fit, gram_function **function)
{
    const gp_state *state = fit->result;
    const gram_function *f = gram_gp_function(state->exact);
    const double constant = gram_function_constant(f)[0] + state->offset;
    return gram_function_create(session->context, fit->kernel, gram_function_centres(f), 1,
                                gram_function_coefficients(f), 1, &constant, function);
}

/* ---- facts and arrays ---- */

static void set_arrays(cli_facts *facts, const fit_state *fit)
{
    const gp_state *state = fit->result;
    const int64_t n = fit->prepared->n;
    const double *slopes = NULL;
    if (state->exact) slopes = gram_gp_slopes(state->exact);
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
    cli_facts_text(facts, "solver", state->exact ? "exact" : "markov");
    cli_facts_text(facts, "precision", "f64");
    if (state->exact)
        cli_facts_numbers(facts, gram_gp_get_report(state->exact), EXACT, sizeof EXACT / sizeof *EXACT);
    else
        cli_facts_numbers(facts, gram_markov_get_report(state->markov), MARKOV, sizeof MARKOV / sizeof *MARKOV);
    set_tuning(facts, fit);
    set_arrays(facts, fit);
}

gram_status cli_fit_gp_model(cli_session *session, fit_state *fit)
{
    const gp_state *state = fit->result;
    cli_facts facts = {session->context, NULL, GRAM_OK};
    gram_function *function = NULL;
    facts.status = state->exact ? exact_function(session, fit, &function) : markov_function(session, fit, &function);
    if (facts.status >= 0)
        facts.status = gram_model_create(session->context, "gp", "regression", fit->preparation, function, &fit->model);
    facts.model = fit->model;
    if (facts.status >= 0) set_facts(&facts, fit);
    if (facts.status >= 0 && state->exact)
        facts.status = cli_weights_learn(session, state->exact, fit->kernel, fit->model);
    gram_function_release(function);
    return facts.status;
}

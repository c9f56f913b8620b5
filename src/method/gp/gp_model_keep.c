/* What a model of a Gaussian process keeps: the posterior mean as a function, and what its variance is made from. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "method/gp/gp_model.h"
#include <gram/text.h>

const char *gram_gp_mean_word(gp_mean mean)
{
    static const char *const names[] = {"zero", "constant", "linear", "flat"};
    return names[mean];
}

static const gram_keep_place EXACT[] = {
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

static const gram_keep_place MARKOV[] = {
    {"train_rmse", offsetof(gram_markov_report, train_rmse)},
    {"train_r2", offsetof(gram_markov_report, train_r2)},
    {"loo_rmse", offsetof(gram_markov_report, loo_rmse)},
    {"loo_r2", offsetof(gram_markov_report, loo_r2)},
    {"loo_log_density", offsetof(gram_markov_report, loo_log_density)},
    {"loo_coverage", offsetof(gram_markov_report, loo_coverage)},
    {"log_marginal_likelihood", offsetof(gram_markov_report, log_marginal_likelihood)},
};

/* Of conjugate gradients with either preconditioner. */
static const gram_keep_place CG[] = {
    {"residual", offsetof(gram_gp_cg_report, value.residual)},
    {"train_rmse", offsetof(gram_gp_cg_report, train_rmse)},
    {"log_marginal_likelihood", offsetof(gram_gp_cg_report, value.log_marginal_likelihood)},
    {"likelihood_error", offsetof(gram_gp_cg_report, value.standard_error)},
    {"quadrature_error", offsetof(gram_gp_cg_report, value.quadrature_error)},
};

static const gram_keep_place INDUCING[] = {
    {"bound", offsetof(gram_gp_inducing_report, value.bound)},
    {"trace_error", offsetof(gram_gp_inducing_report, value.trace_share)},
    {"jitter", offsetof(gram_gp_inducing_report, value.jitter)},
};

/* ---- the function ---- */

/* a = (y - m - f)/noise, since y - m = (K + noise) a. Without noise there is nothing to divide by: the coefficients are 0,
 * and predictions, which the filter makes, do not ask for them. */
static gram_status markov_function(gram_learning *learning, gram_function **function)
{
    gram_status status = GRAM_OK;
    const gp_state *state = learning->own;
    const double *fitted = gram_markov_fitted(state->markov);
    const int64_t n = learning->data->n;
    double constant = state->offset, *a = NULL;
    TRY(gram_learning_take(learning, n, sizeof *a, &a));
    if (state->mean != GP_MEAN_ZERO) constant += gram_markov_mean_coefficients(state->markov)[0];
    for (int64_t i = 0; i < n; i++) {
        double noise = state->options.noise;
        if (state->options.weights) noise /= state->options.weights[i];
        if (state->options.row_noise) noise += state->options.row_noise[i];
        a[i] = noise > 0 ? (state->y[i] - fitted[i]) / noise : 0;
    }
    TRY(gram_function_create(learning->context, learning->kernel, learning->points, 1, a, 1, &constant, function));
done:
    return status;
}

static gram_status inducing_function(const gram_learning *learning, gram_function **function)
{
    const gp_state *state = learning->own;
    gram_gp_inducing_parts parts = {.size = sizeof parts};
    gram_points *positions = NULL;
    gram_gp_inducing_describe(state->inducing, &parts);
    const double constant = state->offset + (state->mean == GP_MEAN_ZERO ? 0 : parts.beta[0]);
    gram_status status =
        gram_points_create_f64(learning->context, parts.m, parts.d, parts.positions, parts.d, &positions);
    if (status >= 0)
        status = gram_function_create(learning->context, learning->kernel, positions, 1, parts.coefficients, 1,
                                      &constant, function);
    gram_points_destroy(positions);
    return status;
}

/* Of the exact solver and of conjugate gradients: the constant of theirs, and the offset. */
static gram_status dense_function(const gram_learning *learning, gram_function **function)
{
    const gp_state *state = learning->own;
    const gram_function *f = state->exact ? gram_gp_function(state->exact) : gram_gp_cg_function(state->cg);
    const double constant = gram_function_constant(f)[0] + state->offset;
    return gram_function_create(learning->context, learning->kernel, gram_function_centres(f), 1,
                                gram_function_coefficients(f), 1, &constant, function);
}

static gram_status make_function(gram_learning *learning, gram_function **function)
{
    const gp_state *state = learning->own;
    if (state->solver == GP_MARKOV) return markov_function(learning, function);
    if (state->solver == GP_INDUCING) return inducing_function(learning, function);
    return dense_function(learning, function);
}

/* ---- facts and arrays ---- */

/* What its variances are made from: there are no rows to do it from again. */
static void set_inducing_arrays(gram_keeper *keeper, const gram_learning *learning)
{
    const gp_state *state = learning->own;
    gram_gp_inducing_parts parts = {.size = sizeof parts};
    gram_gp_inducing_describe(state->inducing, &parts);
    const int64_t q = state->mean == GP_MEAN_ZERO ? 0 : state->mean == GP_MEAN_LINEAR ? 1 + parts.d : 1;
    if (q > 0) gram_keep_array(keeper, "beta", 1, q, parts.beta);
    if (state->mean == GP_MEAN_LINEAR) gram_keep_array(keeper, "slopes", 1, parts.d, parts.beta + 1);
    gram_keep_array(keeper, "inducing_factor", parts.m, parts.m, parts.factor);
    gram_keep_array(keeper, "inducing_inner", parts.m, parts.m, parts.inner);
    if (parts.mean_weights) gram_keep_array(keeper, "mean_weights", parts.m, q, parts.mean_weights);
    if (parts.mean_factor) gram_keep_array(keeper, "mean_factor", q, q, parts.mean_factor);
}

static void set_arrays(gram_keeper *keeper, const gram_learning *learning)
{
    const gp_state *state = learning->own;
    const int64_t n = learning->data->n;
    const double *slopes = NULL;
    if (state->solver == GP_INDUCING) {
        set_inducing_arrays(keeper, learning);
        return;
    }
    if (state->exact) slopes = gram_gp_slopes(state->exact);
    if (state->cg) slopes = gram_gp_cg_slopes(state->cg);
    if (state->markov && state->mean == GP_MEAN_LINEAR) slopes = gram_markov_mean_coefficients(state->markov) + 1;
    if (slopes) gram_keep_array(keeper, "slopes", 1, learning->data->d, slopes);
    gram_keep_array(keeper, "targets", n, 1, state->y);
    if (state->options.row_noise) gram_keep_array(keeper, "row_noise", n, 1, state->options.row_noise);
    if (state->options.weights) gram_keep_array(keeper, "weights", n, 1, state->options.weights);
}

static void set_tuning(gram_keeper *keeper, const gram_learning *learning)
{
    const gp_state *state = learning->own;
    gram_keep_tuning(keeper, learning, state->noise_is_default ? "the noise" : NULL);
    if (learning->tuning == GRAM_TUNING_NONE) return;
    gram_keep_integer(keeper, "tuned_rows", state->tuned.rows);
    gram_keep_integer(keeper, "evaluations", state->tuned.evaluations);
    gram_keep_number(keeper, "criterion", state->tuned.value);
    gram_keep_integer(keeper, "at_bound", state->tuned.at_bound);
    if (state->tuned.diagnosis[0]) gram_keep_text(keeper, "diagnosis", state->tuned.diagnosis);
}

static void set_cg_report(gram_keeper *keeper, const gp_state *state)
{
    const gram_gp_cg_report *report = gram_gp_cg_get_report(state->cg);
    gram_keep_numbers(keeper, report, CG, sizeof CG / sizeof *CG);
    if (!state->mixed) gram_keep_number(keeper, "trace_error", report->value.trace_error);
    gram_keep_integer(keeper, "iterations", report->value.iterations);
}

static void set_report(gram_keeper *keeper, const gp_state *state)
{
    switch (state->solver) {
    case GP_MARKOV:
        gram_keep_numbers(keeper, gram_markov_get_report(state->markov), MARKOV, sizeof MARKOV / sizeof *MARKOV);
        break;
    case GP_CG: set_cg_report(keeper, state); break;
    case GP_INDUCING:
        gram_keep_numbers(keeper, gram_gp_inducing_get_report(state->inducing), INDUCING,
                          sizeof INDUCING / sizeof *INDUCING);
        gram_keep_integer(keeper, "rank", gram_gp_inducing_get_report(state->inducing)->m);
        break;
    default:
        if (state->mixed)
            set_cg_report(keeper, state);
        else
            gram_keep_numbers(keeper, gram_gp_get_report(state->exact), EXACT, sizeof EXACT / sizeof *EXACT);
    }
}

static void keep_facts(gram_keeper *keeper, const gram_learning *learning)
{
    const gp_state *state = learning->own;
    gram_keep_number(keeper, "lambda", state->options.noise / (double)learning->n);
    gram_keep_number(keeper, "noise", state->options.noise);
    gram_keep_number(keeper, "target_scale", state->scale);
    gram_keep_number(keeper, "offset", state->offset);
    gram_keep_text(keeper, "mean", gram_gp_mean_word(state->mean));
    gram_keep_integer(keeper, "intercept", state->mean != GP_MEAN_ZERO);
    gram_keep_text(keeper, "solver", gram_gp_solver_word(state->solver));
    gram_keep_text(keeper, "precision", state->mixed ? "mixed" : "f64");
    set_report(keeper, state);
    set_tuning(keeper, learning);
    set_arrays(keeper, learning);
}

/* ---- Bayesian linear regression ----
 *
 * f(x) = A^(1/2) (w.x + w_0 c^(1/2)) with standard normal w has the kernel A linear(c). The process of the term A linear(0)
 * alone at the unit vector e_j is the weight of column j, so that its posterior is that of a term. */

/* The amplitude A if the kernel is A*linear(c), else NaN. */
static double amplitude_of(gram_context *context, const gram_kernel *kernel)
{
    double amplitude = 1, c = NAN;
    char text[128], a[GRAM_NUMBER_SIZE], b[GRAM_NUMBER_SIZE];
    gram_parameter parameter;
    gram_kernel *same = NULL;
    for (int64_t i = 0; i < gram_kernel_parameter_count(kernel); i++) {
        if (gram_kernel_parameter_get(context, kernel, i, &parameter) < 0) return NAN;
        if (strcmp(parameter.name, "const") == 0) amplitude = parameter.value;
        if (strcmp(parameter.name, "linear.c") == 0) c = parameter.value;
    }
    if (isnan(c)) return NAN;
    gram_number_format(amplitude, a);
    gram_number_format(c, b);
    (void)snprintf(text, sizeof text, amplitude == 1 ? "%.0slinear(c=%s)" : "%s*linear(c=%s)", a, b);
    const int equal = gram_kernel_parse(context, text, &same) >= 0 && gram_kernel_equal(same, kernel);
    gram_kernel_release(same);
    return equal ? amplitude : NAN;
}

static gram_status keep_weights(gram_keeper *keeper, gram_learning *learning)
{
    gram_status status = GRAM_OK;
    gram_context *context = learning->context;
    const gp_state *state = learning->own;
    const int64_t d = learning->data->d;
    const double amplitude = amplitude_of(context, learning->kernel);
    gram_points *points = NULL;
    gram_kernel *term = NULL;
    double *unit = NULL;
    char text[64], number[GRAM_NUMBER_SIZE];
    if (!(amplitude > 0)) return GRAM_OK;
    TRY(gram_learning_take(learning, d * d + 2 * d, sizeof *unit, &unit));
    double *mean = unit + d * d, *deviation = mean + d;
    for (int64_t j = 0; j < d; j++) unit[j * d + j] = 1;
    (void)snprintf(text, sizeof text, "%s*linear(c=0)", gram_number_format(amplitude, number));
    TRY(gram_kernel_parse(context, text, &term));
    TRY(gram_points_create_f64(context, d, d, unit, d, &points));
    TRY(gram_gp_predict_term(context, state->exact, term, points, mean, deviation));
    for (int64_t j = 0; j < d; j++) deviation[j] = sqrt(deviation[j]);
    gram_keep_array(keeper, "weight_mean", 1, d, mean);
    gram_keep_array(keeper, "weight_std", 1, d, deviation);
done:
    gram_points_destroy(points);
    gram_kernel_release(term);
    return status;
}

gram_status gram_gp_row_keep(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const gp_state *state = learning->own;
    gram_function *function = NULL;
    TRY(make_function(learning, &function));
    gram_keeper keeper = gram_keep_begin(learning, function);
    keep_facts(&keeper, learning);
    TRY(keeper.status);
    if (state->exact) TRY(keep_weights(&keeper, learning));
    status = keeper.status;
done:
    gram_function_release(function);
    return status;
}

/* What a model of a Gaussian process keeps: the posterior mean as a function, and what its variance is made from. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "method/gp/gp_model.h"
#include <gram/text.h>

enum { SMALL = 1000 }; /* rows: factors up to that are kept unless it is asked not to */

static const char *const MEANS[] = {"zero", "constant", "linear", "flat"};

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
    {"train_rmse", offsetof(gram_gp_report, train_rmse)},
    {"train_r2", offsetof(gram_gp_report, train_r2)},
    {"loo_rmse", offsetof(gram_gp_report, loo_rmse)},
    {"loo_r2", offsetof(gram_gp_report, loo_r2)},
    {"loo_log_density", offsetof(gram_gp_report, loo_log_density)},
    {"loo_coverage", offsetof(gram_gp_report, loo_coverage)},
    {"log_marginal_likelihood", offsetof(gram_gp_report, log_marginal_likelihood)},
};

/* Of conjugate gradients with either preconditioner. */
static const gram_keep_place CG[] = {
    {"residual", offsetof(gram_gp_report, residual)},
    {"train_rmse", offsetof(gram_gp_report, train_rmse)},
    {"log_marginal_likelihood", offsetof(gram_gp_report, log_marginal_likelihood)},
    {"likelihood_error", offsetof(gram_gp_report, likelihood_error)},
    {"quadrature_error", offsetof(gram_gp_report, quadrature_error)},
};

static const gram_keep_place INDUCING[] = {
    {"bound", offsetof(gram_gp_report, bound)},
    {"trace_error", offsetof(gram_gp_report, trace_error)},
    {"jitter", offsetof(gram_gp_report, jitter)},
};

/* With the offset. */
static gram_status make_function(const gram_learning *learning, gram_function **function)
{
    const gp_state *state = learning->own;
    const gram_function *f = gram_gp_function(state->gp);
    const double constant = gram_function_constant(f)[0] + state->offset;
    return gram_function_create(learning->context, learning->kernel, gram_function_centres(f), 1,
                                gram_function_coefficients(f), 1, &constant, function);
}

/* ---- facts and arrays ---- */

static int64_t mean_count(const gp_state *state)
{
    const int64_t d = gram_gp_get_report(state->gp)->d;
    return state->mean == GP_MEAN_ZERO ? 0 : state->mean == GP_MEAN_LINEAR ? 1 + d : 1;
}

/* What the variance of a flat mean is made from. */
static void set_mean_parts(gram_keeper *keeper, const gp_state *state, const gram_gp_parts *parts)
{
    const int64_t m = gram_points_count(parts->centres), q = mean_count(state);
    if (parts->mean_weights) gram_keep_array(keeper, "mean_weights", m, q, parts->mean_weights);
    if (parts->mean_factor) gram_keep_array(keeper, "mean_factor", q, q, parts->mean_factor);
}

/* A small factor is kept, or one that was asked for, so that predictions need not make it again: n (n + 1)/2 numbers. */
static void set_factor(gram_keeper *keeper, gram_learning *learning)
{
    const gp_settings *own = learning->settings;
    const gp_state *state = learning->own;
    const gram_gp_report *report = gram_gp_get_report(state->gp);
    const int64_t count = report->n * (report->n + 1) / 2;
    double *factor = NULL;
    gram_gp_parts parts = {.size = sizeof parts};
    if (keeper->status < 0 || !gram_gp_has_factor(report->solver, report->precision)) return;
    if (own->keep_factor == 0 || (own->keep_factor < 0 && report->n > SMALL)) return;
    keeper->status = gram_learning_take(learning, count, sizeof *factor, &factor);
    if (keeper->status >= 0) keeper->status = gram_gp_factor(keeper->context, state->gp, factor);
    gram_gp_describe(state->gp, &parts);
    if (parts.beta) gram_keep_array(keeper, "beta", 1, mean_count(state), parts.beta);
    gram_keep_array(keeper, "factor", count, 1, factor);
    set_mean_parts(keeper, state, &parts);
}

/* Of inducing points: there are no rows to make it from again. */
static void set_inducing(gram_keeper *keeper, const gp_state *state)
{
    gram_gp_parts parts = {.size = sizeof parts};
    gram_gp_describe(state->gp, &parts);
    const int64_t m = gram_points_count(parts.centres);
    const double *slopes = gram_gp_slopes(state->gp);
    if (parts.beta) gram_keep_array(keeper, "beta", 1, mean_count(state), parts.beta);
    if (slopes) gram_keep_array(keeper, "slopes", 1, gram_points_dimension(parts.centres), slopes);
    gram_keep_array(keeper, "inducing_factor", m, m, parts.factor);
    gram_keep_array(keeper, "inducing_inner", m, m, parts.inner);
    set_mean_parts(keeper, state, &parts);
}

static void set_arrays(gram_keeper *keeper, gram_learning *learning)
{
    const gp_state *state = learning->own;
    const int64_t n = learning->data->n;
    const double *slopes = gram_gp_slopes(state->gp);
    if (gram_gp_get_report(state->gp)->solver == GRAM_SOLVER_INDUCING) {
        set_inducing(keeper, state);
        return;
    }
    if (slopes) gram_keep_array(keeper, "slopes", 1, learning->data->d, slopes);
    gram_keep_array(keeper, "targets", n, 1, state->y);
    if (state->options.row_noise) gram_keep_array(keeper, "row_noise", n, 1, state->options.row_noise);
    if (state->options.weights) gram_keep_array(keeper, "weights", n, 1, state->options.weights);
    set_factor(keeper, learning);
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

static void set_report(gram_keeper *keeper, const gram_gp_report *report)
{
    const int mixed = report->precision == GRAM_PRECISION_MIXED;
    if (report->solver == GRAM_SOLVER_CG || mixed) {
        gram_keep_numbers(keeper, report, CG, sizeof CG / sizeof *CG);
        if (!mixed) gram_keep_number(keeper, "trace_error", report->trace_error);
        gram_keep_integer(keeper, "iterations", report->iterations);
    } else if (report->solver == GRAM_SOLVER_MARKOV) {
        gram_keep_numbers(keeper, report, MARKOV, sizeof MARKOV / sizeof *MARKOV);
    } else if (report->solver == GRAM_SOLVER_INDUCING) {
        gram_keep_numbers(keeper, report, INDUCING, sizeof INDUCING / sizeof *INDUCING);
        gram_keep_integer(keeper, "rank", report->rank);
    } else {
        gram_keep_numbers(keeper, report, EXACT, sizeof EXACT / sizeof *EXACT);
    }
}

static void keep_facts(gram_keeper *keeper, gram_learning *learning)
{
    const gp_state *state = learning->own;
    const gram_gp_report *report = gram_gp_get_report(state->gp);
    gram_keep_number(keeper, "lambda", state->options.noise / (double)learning->n);
    gram_keep_number(keeper, "noise", state->options.noise);
    gram_keep_number(keeper, "target_scale", state->scale);
    gram_keep_number(keeper, "offset", state->offset);
    gram_keep_text(keeper, "mean", MEANS[state->mean]);
    gram_keep_integer(keeper, "intercept", state->mean != GP_MEAN_ZERO);
    gram_keep_text(keeper, "solver", gram_solver_name(report->solver));
    gram_keep_text(keeper, "precision", gram_precision_name(report->precision));
    set_report(keeper, report);
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
    TRY(gram_gp_predict_term(context, state->gp, term, points, mean, deviation));
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
    const gram_gp_report *report = gram_gp_get_report(((const gp_state *)learning->own)->gp);
    gram_function *function = NULL;
    TRY(make_function(learning, &function));
    gram_keeper keeper = gram_keep_begin(learning, function);
    keep_facts(&keeper, learning);
    TRY(keeper.status);
    if (gram_gp_has_factor(report->solver, report->precision)) TRY(keep_weights(&keeper, learning));
    status = keeper.status;
done:
    gram_function_release(function);
    return status;
}

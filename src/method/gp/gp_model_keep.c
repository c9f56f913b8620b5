/* What a model of a Gaussian process keeps: the posterior mean as a function, and what its variance is made from. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/sized_struct.h"
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

/* Of the filter and of neighbours. */
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
    {"error_bound", offsetof(gram_gp_report, error_bound)},
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

/* A fit and what it was made from, which the gp itself does not keep. */
typedef struct kept_fit {
    const gram_gp *gp;
    const gram_gp_options *options;
    const double *y; /* less the offset */
    double offset, scale;
    gp_mean mean;
    int keep_factor; /* -1: if it is small */
} kept_fit;

/* With the offset. */
static gram_status make_function(gram_context *context, const kept_fit *fit, gram_function **function)
{
    const gram_function *f = gram_gp_function(fit->gp);
    const double constant = gram_function_constant(f)[0] + fit->offset;
    return gram_function_create_sloped(context, gram_function_kernel(f), gram_function_centres(f), 1,
                                       gram_function_coefficients(f), 1, &constant, gram_gp_slopes(fit->gp),
                                       gram_gp_get_report(fit->gp)->d, function);
}

/* ---- facts and arrays ---- */

static int64_t mean_count(const kept_fit *fit)
{
    const int64_t d = gram_gp_get_report(fit->gp)->d;
    return fit->mean == GP_MEAN_ZERO ? 0 : fit->mean == GP_MEAN_LINEAR ? 1 + d : 1;
}

/* What the variance of a flat mean is made from. */
static void set_mean_parts(gram_keeper *keeper, const kept_fit *fit, const gram_gp_parts *parts)
{
    const int64_t m = gram_points_count(parts->centres), q = mean_count(fit);
    if (parts->mean_weights) gram_keep_array(keeper, "mean_weights", m, q, parts->mean_weights);
    if (parts->mean_factor) gram_keep_array(keeper, "mean_factor", q, q, parts->mean_factor);
}

/* A small factor is kept, or one that was asked for, so that predictions need not make it again: n (n + 1)/2 numbers. */
static void set_factor(gram_keeper *keeper, const kept_fit *fit)
{
    const gram_gp_report *report = gram_gp_get_report(fit->gp);
    const int64_t count = report->n * (report->n + 1) / 2;
    double *factor = NULL;
    gram_gp_parts parts = {.size = sizeof parts};
    if (keeper->status < 0 || !gram_gp_has_factor(report->solver, report->precision)) return;
    if (fit->keep_factor == 0 || (fit->keep_factor < 0 && report->n > SMALL)) return;
    keeper->status = gram_take(keeper->context, "gp_model: the factor", count, sizeof *factor, (void **)&factor);
    if (keeper->status >= 0) keeper->status = gram_gp_factor(keeper->context, fit->gp, factor);
    (void)gram_gp_describe(fit->gp, &parts);
    if (parts.beta) gram_keep_array(keeper, "beta", 1, mean_count(fit), parts.beta);
    gram_keep_array(keeper, "factor", count, 1, factor);
    set_mean_parts(keeper, fit, &parts);
    gram_give(keeper->context, factor);
}

/* Of inducing points: there are no rows to make it from again. */
static void set_inducing(gram_keeper *keeper, const kept_fit *fit)
{
    gram_gp_parts parts = {.size = sizeof parts};
    (void)gram_gp_describe(fit->gp, &parts);
    const int64_t m = gram_points_count(parts.centres);
    if (parts.beta) gram_keep_array(keeper, "beta", 1, mean_count(fit), parts.beta);
    gram_keep_array(keeper, "inducing_factor", m, m, parts.factor);
    gram_keep_array(keeper, "inducing_inner", m, m, parts.inner);
    set_mean_parts(keeper, fit, &parts);
}

/* Of neighbours: what a second pass over all rows would find again. */
static void set_vecchia(gram_keeper *keeper, const kept_fit *fit)
{
    gram_gp_parts parts = {.size = sizeof parts};
    (void)gram_gp_describe(fit->gp, &parts);
    gram_keep_integer(keeper, "neighbours", parts.neighbours);
    if (parts.beta) gram_keep_array(keeper, "beta", 1, mean_count(fit), parts.beta);
    set_mean_parts(keeper, fit, &parts);
}

static void set_arrays(gram_keeper *keeper, const kept_fit *fit)
{
    const gram_gp_report *report = gram_gp_get_report(fit->gp);
    if (report->solver == GRAM_SOLVER_INDUCING) {
        set_inducing(keeper, fit);
        return;
    }
    gram_keep_array(keeper, "targets", report->n, 1, fit->y);
    if (fit->options->row_noise) gram_keep_array(keeper, "row_noise", report->n, 1, fit->options->row_noise);
    if (fit->options->weights) gram_keep_array(keeper, "weights", report->n, 1, fit->options->weights);
    set_factor(keeper, fit);
    if (report->solver == GRAM_SOLVER_VECCHIA) set_vecchia(keeper, fit);
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
    gram_keep_integer(keeper, "noise_prior", state->tuned.noise_held);
    if (state->tuned.diagnosis[0]) gram_keep_text(keeper, "diagnosis", state->tuned.diagnosis);
}

static void set_report(gram_keeper *keeper, const gram_gp_report *report)
{
    const int mixed = report->precision == GRAM_PRECISION_MIXED;
    if (report->solver == GRAM_SOLVER_CG || mixed) {
        gram_keep_numbers(keeper, report, CG, sizeof CG / sizeof *CG);
        if (!mixed) gram_keep_number(keeper, "trace_error", report->trace_error);
        gram_keep_integer(keeper, "iterations", report->iterations);
    } else if (report->solver == GRAM_SOLVER_MARKOV || report->solver == GRAM_SOLVER_VECCHIA) {
        gram_keep_numbers(keeper, report, MARKOV, sizeof MARKOV / sizeof *MARKOV);
    } else if (report->solver == GRAM_SOLVER_INDUCING) {
        gram_keep_numbers(keeper, report, INDUCING, sizeof INDUCING / sizeof *INDUCING);
        gram_keep_integer(keeper, "rank", report->rank);
    } else {
        gram_keep_numbers(keeper, report, EXACT, sizeof EXACT / sizeof *EXACT);
        if (report->rank < report->n) gram_keep_integer(keeper, "rank", report->rank);
    }
}

static void keep_facts(gram_keeper *keeper, const kept_fit *fit)
{
    const gram_gp_report *report = gram_gp_get_report(fit->gp);
    gram_keep_number(keeper, "lambda", fit->options->noise / (double)report->n);
    gram_keep_number(keeper, "noise", fit->options->noise);
    gram_keep_number(keeper, "target_scale", fit->scale);
    gram_keep_number(keeper, "offset", fit->offset);
    gram_keep_text(keeper, "mean", MEANS[fit->mean]);
    gram_keep_integer(keeper, "intercept", fit->mean != GP_MEAN_ZERO);
    if (!isnan(report->constant_deviation)) {
        gram_keep_number(keeper, "constant", gram_function_constant(gram_gp_function(fit->gp))[0] + fit->offset);
        gram_keep_number(keeper, "constant_std", report->constant_deviation);
    }
    gram_keep_text(keeper, "solver", gram_solver_name(report->solver));
    gram_keep_text(keeper, "precision", gram_precision_name(report->precision));
    set_report(keeper, report);
}

/* ---- Bayesian linear regression ----
 *
 * f(x) = A^(1/2) (w.x + w_0 c^(1/2)) with standard normal w has the kernel A linear(c). The process of the term A linear(0)
 * alone at the unit vector e_j is the weight of column j, so that its posterior is that of a term. */

/* The amplitude A if the kernel is A*linear(c), else NaN. */
static gram_status find_amplitude(gram_context *context, const gram_kernel *kernel, double *found)
{
    gram_status status = GRAM_OK;
    gram_parameter parameter;
    char text[96], a[GRAM_NUMBER_SIZE], b[GRAM_NUMBER_SIZE];
    double amplitude = 1, c = NAN;
    gram_kernel *same = NULL;
    *found = NAN;
    for (int64_t i = 0; i < gram_kernel_parameter_count(kernel); i++) {
        TRY(gram_kernel_parameter_get(context, kernel, i, &parameter));
        if (strcmp(parameter.name, "const") == 0) amplitude = parameter.value;
        if (strcmp(parameter.name, "linear.c") == 0) c = parameter.value;
    }
    if (isnan(c)) goto done;
    gram_number_format(amplitude, a);
    gram_number_format(c, b);
    (void)snprintf(text, sizeof text, amplitude == 1 ? "%.0slinear(c=%s)" : "%s*linear(c=%s)", a, b);
    TRY(gram_kernel_parse(context, text, &same));
    if (gram_kernel_equal(same, kernel)) *found = amplitude;
done:
    gram_kernel_release(same);
    return status;
}

static gram_status keep_weights(gram_keeper *keeper, gram_learning *learning)
{
    gram_status status = GRAM_OK;
    gram_context *context = learning->context;
    const gp_state *state = learning->own;
    const int64_t d = learning->data->d;
    double amplitude;
    gram_points *points = NULL;
    gram_kernel *term = NULL;
    double *unit = NULL;
    char text[64], number[GRAM_NUMBER_SIZE];
    TRY(find_amplitude(context, learning->kernel, &amplitude));
    if (!(amplitude > 0)) goto done;
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
    gram_points_release(points);
    gram_kernel_release(term);
    return status;
}

gram_status gram_gp_row_keep(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const gp_settings *own = learning->settings;
    const gp_state *state = learning->own;
    const gram_gp_report *report = gram_gp_get_report(state->gp);
    const kept_fit fit = {state->gp,    &state->options, state->y,        state->offset,
                          state->scale, state->mean,     own->keep_factor};
    gram_function *function = NULL;
    TRY(make_function(learning->context, &fit, &function));
    gram_keeper keeper = gram_keep_begin(learning, function);
    keep_facts(&keeper, &fit);
    set_tuning(&keeper, learning);
    set_arrays(&keeper, &fit);
    TRY(keeper.status);
    if (gram_gp_has_factor(report->solver, report->precision)) TRY(keep_weights(&keeper, learning));
    status = keeper.status;
done:
    gram_function_release(function);
    return status;
}

gram_status gram_gp_model(gram_context *context, const gram_gp *gp, const double *y, const gram_gp_options *options,
                          gram_preparation *preparation, gram_model **model)
{
    gram_status status = GRAM_OK;
    gram_gp_options known;
    gram_function *function = NULL;
    *model = NULL;
    gram_gp_options_init(&known, sizeof known);
    TRY(gram_sized_read(context, "gp_model", "options", "gram_gp_options", options, &known, sizeof known));
    FAIL_IF(!y, context, GRAM_ERROR_ARGUMENT, "gp_model: y is NULL");
    FAIL_IF(known.columns > 0, context, GRAM_ERROR_UNSUPPORTED,
            "gp_model: a mean with further columns, which a model cannot make again");
    const gp_mean mean = known.mean == GRAM_MEAN_ZERO     ? GP_MEAN_ZERO
                         : known.mean == GRAM_MEAN_LINEAR ? GP_MEAN_LINEAR
                         : known.flat                     ? GP_MEAN_FLAT
                                                          : GP_MEAN_CONSTANT;
    FAIL_IF(mean == GP_MEAN_LINEAR && known.flat, context, GRAM_ERROR_UNSUPPORTED,
            "gp_model: a linear mean that is integrated out, which a model cannot say");
    const kept_fit fit = {gp, &known, y, 0, 1, mean, -1};
    known.noise = gram_gp_get_report(gp)->noise;
    TRY(make_function(context, &fit, &function));
    gram_keeper keeper =
        gram_keep_fit(context, &gram_method_gp, GRAM_TASK_REGRESSION, preparation, function, gram_gp_get_report(gp)->n);
    keep_facts(&keeper, &fit);
    set_arrays(&keeper, &fit);
    status = gram_keep_end(&keeper, model);
done:
    gram_function_release(function);
    return status;
}

/* The row of the Kalman filter. */
#include <stdio.h>
#include <string.h>

#include "method/gp/gp_solvers.h"
#include "method/gp/markov/gp_markov.h"

static gram_status plan(gram_context *context, const gram_gp_case *what, gram_plan *plan)
{
    gram_status status = GRAM_OK;
    const char *why = NULL;
    FAIL_IF(what->d != 1, context, GRAM_ERROR_UNSUPPORTED, "gp_plan: solver markov is for one column, not %lld",
            (long long)what->d);
    if (!gram_markov_supports(context, what->kernel, &why)) {
        char copy[GRAM_REASON_SIZE];
        (void)snprintf(copy, sizeof copy, "%s", why);
        FAIL(context, GRAM_ERROR_UNSUPPORTED, "gp_plan: solver markov: %s", copy);
    }
    plan->bytes = (size_t)what->n * 800;
    plan->seconds = (double)what->n * 1e-6;
    (void)snprintf(plan->reason, sizeof plan->reason, "one column and a kernel with a finite state: exact in O(n)");
done:
    return status;
}

/* The posterior mean as a function: a = (y - m - f)/noise, since y - m = (K + noise) a. Without noise there is nothing to divide
 * by: the coefficients are 0, and predictions, which the filter makes, do not ask for them. */
static gram_status make_function(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                 const gram_gp_options *options, const gram_markov *state, gram_function **function)
{
    gram_status status = GRAM_OK;
    const int64_t n = state->system.n;
    double *a = NULL;
    TRY(gram_take(context, "gp_fit: coefficients", n, sizeof *a, (void **)&a));
    for (int64_t i = 0; i < n; i++) {
        double noise = options->noise;
        if (options->weights) noise /= options->weights[i];
        if (options->row_noise) noise += options->row_noise[i];
        a[i] = noise > 0 ? (y[i] - state->fitted[i]) / noise : 0;
    }
    TRY(gram_function_create(context, kernel, x, 1, a, 1, options->mean != GRAM_MEAN_ZERO ? state->coefficients : NULL,
                             function));
done:
    gram_give(context, a);
    return status;
}

static void report(const gram_markov_report *from, gram_gp_report *r)
{
    r->log_marginal_likelihood = from->log_marginal_likelihood;
    r->train_rmse = from->train_rmse;
    r->train_r2 = from->train_r2;
    r->loo_rmse = from->loo_rmse;
    r->loo_r2 = from->loo_r2;
    r->loo_log_density = from->loo_log_density;
    r->loo_coverage = from->loo_coverage;
    r->states = from->states;
}

static gram_status fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                       const gram_gp_options *options, int bare, gram_gp *gp)
{
    gram_status status = GRAM_OK;
    gram_markov *state = NULL;
    TRY(gram_markov_fit(context, kernel, x, y, options, &state));
    gp->state = state;
    gp->beta = state->coefficients;
    gp->loo_mean = state->loo_mean;
    gp->loo_variance = state->loo_variance;
    gp->report.constant_deviation = gram_gp_constant_deviation(options, gp->q, state->system.small);
    if (!bare) report(&state->report, &gp->report);
    TRY(make_function(context, kernel, x, y, options, state, &gp->function));
done:
    return status;
}

static gram_status predict(gram_context *context, const void *state, const gram_points *points, const double *basis,
                           int64_t ldb, double *mean, double *variance)
{
    return gram_markov_predict(context, state, points, basis, ldb, mean, variance);
}

static gram_status draw(gram_context *context, const void *state, const gram_points *points, const double *basis,
                        int64_t ldb, int64_t count, double *out, int64_t ldo, double *jitter)
{
    if (jitter) *jitter = 0;
    return gram_markov_draw(context, state, points, basis, ldb, count, out, ldo);
}

static void destroy(void *state)
{
    gram_markov_destroy(state);
}

const gram_gp_solver gram_gp_solver_markov = {.solver = GRAM_SOLVER_MARKOV,
                                              .precision = GRAM_PRECISION_F64,
                                              .filters = 1,
                                              .plan = plan,
                                              .fit = fit,
                                              .likelihood = gram_markov_likelihood,
                                              .predict = predict,
                                              .draw = draw,
                                              .destroy = destroy};

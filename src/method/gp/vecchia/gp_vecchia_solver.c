/* The row of conditioning on neighbours. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "method/gp/gp_solvers.h"
#include "method/gp/vecchia/gp_vecchia.h"
#include "points/points.h"

static gram_status plan(gram_context *context, const gram_gp_case *what, gram_plan *plan)
{
    gram_status status = GRAM_OK;
    gram_gp_vecchia_options own;
    const double n = (double)what->n;
    TRY(gram_gp_vecchia_options_read(context, "gp_plan", what->options->vecchia, &own));
    plan->landmarks = gram_vecchia_neighbours(own.neighbours, what->n);
    const double m = (double)plan->landmarks;
    plan->bytes = (size_t)(n * (8 * (4 * (double)what->d + 12) + 4 * (3 * m + 16)) + 5e7);
    plan->seconds = n * (2e-5 + (m + 1) * (m + 1) * (m + 1) * 5e-10);
    (void)snprintf(plan->reason, sizeof plan->reason,
                   "an approximation: each row is conditioned on its %lld nearest predecessors",
                   (long long)plan->landmarks);
done:
    return status;
}

/* What leave-one-out and the fitted values say. */
static void report(const gram_vecchia *fit, const double *y, double value, gram_gp_report *r)
{
    enum { LEAST = 2 };
    const double TWO_PI = 6.283185307179586, COVERED = 1.959963984540054 * 1.959963984540054;
    const int64_t n = fit->x->n;
    double mean = 0, total = 0, train = 0, loo = 0, density = 0, covered = 0;
    for (int64_t i = 0; i < n; i++) mean += y[i] / (double)n;
    for (int64_t i = 0; i < n; i++) {
        const double left = y[i] - fit->loo_mean[i], noise = fit->system.shift[i] * fit->coefficients[i];
        const double variance = fit->loo_variance[i];
        total += (y[i] - mean) * (y[i] - mean);
        train += noise * noise;
        loo += left * left;
        density -= (log(TWO_PI * variance) + left * left / variance) / 2;
        covered += left * left <= COVERED * variance;
    }
    r->log_marginal_likelihood = value;
    r->rank = fit->count;
    r->train_rmse = sqrt(train / (double)n);
    r->loo_rmse = sqrt(loo / (double)n);
    r->loo_log_density = density / (double)n;
    r->loo_coverage = covered / (double)n;
    if (n < LEAST || !(total > 0)) return;
    r->train_r2 = 1 - train / total;
    r->loo_r2 = 1 - loo / total;
}

static gram_status adopt(gram_context *context, gram_vecchia *fit, const double *coefficients, gram_gp *gp)
{
    const gram_gp_system *base = &fit->system.base;
    gp->state = fit;
    gp->beta = base->beta;
    return gram_function_create(context, fit->kernel, fit->x, 1, coefficients, 1,
                                base->options.mean != GRAM_MEAN_ZERO ? base->beta : NULL, &gp->function);
}

static gram_status fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                       const gram_gp_options *options, int bare, gram_gp *gp)
{
    gram_status status = GRAM_OK;
    gram_vecchia *made = NULL;
    double value;
    TRY(gram_vecchia_fit(context, kernel, x, y, options, bare, &value, &made));
    gp->report.constant_deviation = gram_gp_constant_deviation(options, gp->q, made->system.base.small);
    if (!bare) report(made, y, value, &gp->report);
    if (!bare) gp->loo_mean = made->loo_mean, gp->loo_variance = made->loo_variance;
    TRY(adopt(context, made, made->coefficients, gp));
done:
    return status;
}

static gram_status likelihood(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                              const gram_gp_options *options, double *value, double *gradient)
{
    return gram_vecchia_likelihood(context, kernel, x, y, options, NULL, value, gradient);
}

/* From what a model keeps, without another pass over the rows; else from the data. */
static gram_status create(gram_context *context, gram_kernel *kernel, const gram_gp_parts *parts, gram_gp *gp)
{
    gram_status status = GRAM_OK;
    gram_vecchia *made = NULL;
    const int whole =
        parts->y && parts->coefficients && (gp->q == 0 || (parts->beta && (!parts->flat || parts->mean_factor)));
    gram_gp_vecchia_options own;
    gram_gp_vecchia_options_init(&own, sizeof own);
    own.neighbours = parts->neighbours;
    gp->options.vecchia = &own;
    if (!whole)
        TRY(gram_gp_refit(context, kernel, parts, gp));
    else {
        TRY(gram_vecchia_restore(context, kernel, parts, &made));
        TRY(adopt(context, made, parts->coefficients, gp));
    }
    gp->report.rank = ((const gram_vecchia *)gp->state)->count;
done:
    gp->options.vecchia = NULL;
    return status;
}

static void describe(const void *state, gram_gp_parts *parts)
{
    const gram_vecchia *made = state;
    parts->neighbours = made->count;
    parts->mean_factor = parts->flat && made->system.base.q > 0 ? made->system.base.small : NULL;
}

static gram_status predict(gram_context *context, const void *state, const gram_points *points, const double *basis,
                           int64_t ldb, double *mean, double *variance)
{
    return gram_vecchia_predict(context, state, points, basis, ldb, mean, variance);
}

static void destroy(void *state)
{
    gram_vecchia_destroy(state);
}

const gram_gp_solver gram_gp_solver_vecchia = {.solver = GRAM_SOLVER_VECCHIA,
                                               .precision = GRAM_PRECISION_F64,
                                               .filters = 1,
                                               .plan = plan,
                                               .fit = fit,
                                               .likelihood = likelihood,
                                               .create = create,
                                               .describe = describe,
                                               .predict = predict,
                                               .destroy = destroy};

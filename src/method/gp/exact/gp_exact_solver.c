/* The row of the exact solver in f64. */
#include <stdio.h>

#include "method/gp/exact/gp_exact.h"
#include "method/gp/gp_solvers.h"
#include "solve/cholesky/cholesky.h"

static gram_status plan(gram_context *context, const gram_gp_case *what, gram_plan *plan)
{
    const gram_status status = gram_gp_plan_factor(context, what, GRAM_PRECISION_F64, plan);
    (void)snprintf(plan->reason, sizeof plan->reason, "it fits in the memory");
    return status;
}

static void adopt(gram_gp_exact *state, gram_gp *gp)
{
    gp->state = state;
    gp->function = gram_function_retain(state->function);
    gp->beta = state->system.beta;
    gp->loo_mean = state->loo_mean;
    gp->loo_variance = state->loo_variance;
}

static gram_status fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                       const gram_gp_options *options, int bare, gram_gp *gp)
{
    gram_gp_exact *state = NULL;
    gram_status status = gram_gp_exact_fit(context, kernel, x, y, options, &state);
    if (status >= 0 && !bare) status = gram_gp_exact_assess(context, y, state, &gp->report);
    if (status >= 0) gp->report.constant_deviation = gram_gp_constant_deviation(options, gp->q, state->system.small);
    if (state) adopt(state, gp);
    return status;
}

static gram_status likelihood(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                              const gram_gp_options *options, double *value, double *gradient)
{
    return gram_gp_evaluate(context, "gp_likelihood", GRAM_GP_OBJECTIVE_ML, kernel, x, y, options, value, gradient);
}

/* Where the factor was not kept, it is made again. */
static gram_status create(gram_context *context, gram_kernel *kernel, const gram_gp_parts *parts, gram_gp *gp)
{
    gram_gp_exact *state = NULL;
    if (!parts->factor) return gram_gp_refit(context, kernel, parts, gp);
    const gram_status status = gram_gp_exact_create(context, kernel, parts, &state);
    if (state) adopt(state, gp);
    return status;
}

static void describe(const void *state, gram_gp_parts *parts)
{
    const gram_gp_system *s = &((const gram_gp_exact *)state)->system;
    const int flat = s->options.flat && s->q > 0;
    parts->mean_weights = flat ? s->h : NULL;
    parts->mean_factor = flat ? s->small : NULL;
}

static gram_status factor(gram_context *context, const void *state, double *out)
{
    return gram_cholesky_pack(context, ((const gram_gp_exact *)state)->system.factor, out);
}

static gram_status predict(gram_context *context, const void *state, const gram_points *points, const double *basis,
                           int64_t ldb, double *mean, double *variance)
{
    return gram_gp_exact_predict(context, state, points, basis, ldb, mean, variance);
}

static gram_status predict_term(gram_context *context, const void *state, gram_kernel *term, const gram_points *points,
                                double *mean, double *variance)
{
    return gram_gp_exact_predict_term(context, state, term, points, mean, variance);
}

static gram_status covariance(gram_context *context, const void *state, const gram_points *points, const double *basis,
                              int64_t ldb, double *out, int64_t ld)
{
    return gram_gp_exact_covariance(context, state, points, basis, ldb, out, ld);
}

static gram_status draw(gram_context *context, const void *state, const gram_points *points, const double *basis,
                        int64_t ldb, int64_t count, double *out, int64_t ldo, double *jitter)
{
    return gram_gp_exact_draw(context, state, points, basis, ldb, count, out, ldo, jitter);
}

static void destroy(void *state)
{
    gram_gp_exact_destroy(state);
}

const gram_gp_solver gram_gp_solver_exact = {.solver = GRAM_SOLVER_EXACT,
                                             .precision = GRAM_PRECISION_F64,
                                             .plan = plan,
                                             .fit = fit,
                                             .likelihood = likelihood,
                                             .create = create,
                                             .describe = describe,
                                             .factor = factor,
                                             .predict = predict,
                                             .predict_term = predict_term,
                                             .covariance = covariance,
                                             .draw = draw,
                                             .destroy = destroy};

/* The row of inducing points. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "method/gp/gp_solvers.h"
#include "method/gp/inducing/gp_inducing.h"
#include "points/points.h"

static gram_status plan(gram_context *context, const gram_gp_case *what, gram_plan *plan)
{
    gram_status status = GRAM_OK;
    gram_gp_inducing_options own;
    const double n = (double)what->n;
    TRY(gram_gp_inducing_options_read(context, "gp_plan", what->options->inducing, &own));
    TRY(gram_gp_plan_check_noise(context, what, "inducing"));
    const int64_t asked = own.positions ? own.positions->n : own.count;
    const double m = (double)(asked > 0 ? asked : (int64_t)(16 * sqrt(n)));
    plan->landmarks = (int64_t)fmin(m, n);
    plan->bytes = (size_t)(8 * (4 * m * m + 2000 * m));
    plan->seconds = n * m * m * 2e-11;
    (void)snprintf(plan->reason, sizeof plan->reason,
                   "an approximation; how much of the variance it misses is reported");
done:
    return status;
}

static gram_status make_function(gram_context *context, const gram_gp_inducing *state, gram_function **function)
{
    const gram_inducing *s = &state->model;
    return gram_function_create(context, state->kernel, s->z, 1, s->coefficients, 1,
                                s->base.options.mean != GRAM_MEAN_ZERO ? s->base.beta : NULL, function);
}

static void report(const gram_gp_inducing_report *from, gram_gp_report *r)
{
    r->bound = from->value.bound;
    r->trace_error = from->value.trace_share;
    r->jitter = from->value.jitter;
    r->evaluations = from->evaluations;
    r->converged = from->converged;
}

static gram_status adopt(gram_context *context, gram_gp_inducing *state, gram_gp *gp)
{
    gp->state = state;
    gp->beta = state->model.base.beta;
    gp->report.noise = state->report.noise;
    gp->report.rank = state->report.m;
    return make_function(context, state, &gp->function);
}

static gram_status fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                       const gram_gp_options *options, int bare, gram_gp *gp)
{
    gram_gp_inducing *state = NULL;
    const gram_status status = gram_gp_inducing_fit(context, kernel, x, y, options, &state);
    if (!state) return status;
    if (!bare) report(&state->report, &gp->report);
    gp->report.constant_deviation = gram_gp_constant_deviation(options, gp->q, state->model.base.small);
    const gram_status adopted = adopt(context, state, gp);
    return adopted < 0 ? adopted : status;
}

/* The bound at the positions that are given, or at those that are chosen. */
static gram_status likelihood(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                              const gram_gp_options *options, double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    gram_gp_options o = *options;
    gram_gp_inducing_options own;
    gram_gp_inducing *fitted = NULL;
    gram_gp_inducing_value all = {.bound = NAN};
    TRY(gram_gp_inducing_options_read(context, "gp_likelihood", o.inducing, &own));
    own.learn_parameters = own.learn_noise = own.learn_positions = 0;
    o.inducing = &own;
    if (!own.positions) TRY(gram_gp_inducing_fit(context, kernel, x, y, &o, &fitted));
    TRY(gram_gp_inducing_bound(context, kernel, x, y, fitted ? fitted->model.z : own.positions, &o, &all, gradient,
                               NULL, 0));
    *value = all.bound;
done:
    gram_gp_inducing_destroy(fitted);
    return status;
}

static gram_status create(gram_context *context, gram_kernel *kernel, const gram_gp_parts *parts, gram_gp *gp)
{
    gram_status status = GRAM_OK;
    gram_gp_inducing *state = NULL;
    TRY(gram_gp_inducing_create(context, kernel, parts, &state));
    TRY(adopt(context, state, gp));
done:
    return status;
}

static void describe(const void *state, gram_gp_parts *parts)
{
    gram_gp_inducing_describe(state, parts);
}

static gram_status predict(gram_context *context, const void *state, const gram_points *points, const double *basis,
                           int64_t ldb, double *mean, double *variance)
{
    return gram_gp_inducing_predict(context, state, points, basis, ldb, mean, variance);
}

static void destroy(void *state)
{
    gram_gp_inducing_destroy(state);
}

const gram_gp_solver gram_gp_solver_inducing = {.solver = GRAM_SOLVER_INDUCING,
                                                .precision = GRAM_PRECISION_F64,
                                                .plan = plan,
                                                .fit = fit,
                                                .likelihood = likelihood,
                                                .create = create,
                                                .describe = describe,
                                                .predict = predict,
                                                .destroy = destroy};

/* The rows of conjugate gradients: with a low rank of K as preconditioner, and with a factor in f32, which is the exact solver
 * in mixed precision. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "method/gp/cg/gp_cg_system.h"
#include "method/gp/gp_solvers.h"

static gram_status plan_cg(gram_context *context, const gram_gp_case *what, gram_plan *plan)
{
    gram_status status = GRAM_OK;
    const double n = (double)what->n, rank = 64 + 8 * sqrt(n);
    TRY(gram_gp_plan_check_noise(context, what, "cg"));
    plan->bytes = (size_t)(8 * n * (rank + 200));
    plan->seconds = n * n * 1.5e-8 * 4;
    (void)snprintf(plan->reason, sizeof plan->reason,
                   "conjugate gradients to a relative residual of 1e-8; the likelihood is an estimate with its error");
done:
    return status;
}

static gram_status plan_mixed(gram_context *context, const gram_gp_case *what, gram_plan *plan)
{
    gram_status status = GRAM_OK;
    const int asked = what->options->precision == GRAM_PRECISION_MIXED;
    TRY(gram_gp_plan_check_noise(context, what, "exact with precision mixed"));
    TRY(gram_gp_plan_factor(context, what, GRAM_PRECISION_MIXED, plan));
    (void)snprintf(plan->reason, sizeof plan->reason, "%san f32 factor refined to a relative residual of 1e-8",
                   asked ? "" : "the f64 factor does not fit; ");
done:
    return status;
}

static void report(const gram_gp_cg *state, gram_gp_report *r)
{
    const gram_gp_cg_value *value = &state->report.value;
    r->log_marginal_likelihood = value->log_marginal_likelihood;
    r->likelihood_error = value->standard_error;
    r->quadrature_error = value->quadrature_error;
    r->trace_error = value->trace_error;
    r->residual = value->residual;
    r->train_rmse = state->report.train_rmse;
    r->error_bound = state->report.error_bound;
    r->rank = value->rank;
    r->iterations = value->iterations;
    r->converged = !state->system.not_converged;
}

/* Bare, no probes: they are for the likelihood. */
static gram_status fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                       const gram_gp_options *options, int bare, gram_gp *gp)
{
    gram_gp_options o = *options;
    gram_gp_cg_options cg;
    gram_gp_cg *state = NULL;
    gram_status status = gram_gp_cg_options_read(context, "gp_fit", o.cg, &cg);
    if (bare) cg.probes = 0;
    o.cg = &cg;
    if (status >= 0) status = gram_gp_cg_fit(context, kernel, x, y, &o, &state);
    if (!state) return status;
    gp->state = state;
    gp->function = gram_function_retain(state->function);
    gp->beta = state->system.base.beta;
    gp->report.constant_deviation = gram_gp_constant_deviation(options, gp->q, state->system.base.small);
    if (!bare) report(state, &gp->report);
    return status;
}

static gram_status likelihood(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                              const gram_gp_options *options, double *value, double *gradient)
{
    gram_gp_cg_value all = {.log_marginal_likelihood = NAN};
    const gram_status status = gram_gp_cg_likelihood(context, kernel, x, y, options, &all, gradient, NULL);
    if (status >= 0) *value = all.log_marginal_likelihood;
    return status;
}

static gram_status predict(gram_context *context, const void *state, const gram_points *points, const double *basis,
                           int64_t ldb, double *mean, double *variance)
{
    return gram_gp_cg_predict(context, state, points, basis, ldb, mean, variance);
}

static void destroy(void *state)
{
    gram_gp_cg_destroy(state);
}

const gram_gp_solver gram_gp_solver_cg = {.solver = GRAM_SOLVER_CG,
                                          .precision = GRAM_PRECISION_F64,
                                          .plan = plan_cg,
                                          .fit = fit,
                                          .likelihood = likelihood,
                                          .predict = predict,
                                          .destroy = destroy};

const gram_gp_solver gram_gp_solver_mixed = {.solver = GRAM_SOLVER_EXACT,
                                             .precision = GRAM_PRECISION_MIXED,
                                             .plan = plan_mixed,
                                             .fit = fit,
                                             .likelihood = likelihood,
                                             .predict = predict,
                                             .destroy = destroy};

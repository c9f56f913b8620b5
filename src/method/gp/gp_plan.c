/* Which way a Gaussian process is solved: what was asked for, or the best that fits. */
#include <stdio.h>
#include <string.h>

#include "method/gp/gp_solvers.h"

/* Above these numbers of rows the next way is taken: a factor of 30,000 rows takes some two minutes on two cores, conjugate
 * gradients of 100,000 the like. Beyond, neighbours in few columns: of 24,000 rows in two columns they took 14 s of processor time where the factor took
 * 125 s, and their error on new rows was 1.7 % larger. */
enum { ENOUGH_FOR_MARKOV = 1000, MOST_FOR_EXACT = 30000, MOST_FOR_CG = 100000, FEW_COLUMNS = 3 };

static const gram_gp_solver *const SOLVERS[] = {&gram_gp_solver_exact,    &gram_gp_solver_mixed,
                                                &gram_gp_solver_markov,   &gram_gp_solver_cg,
                                                &gram_gp_solver_inducing, &gram_gp_solver_vecchia};

const gram_gp_solver *gram_gp_solver_find(gram_solver solver, gram_precision precision)
{
    const gram_precision wanted = precision == GRAM_PRECISION_AUTO ? GRAM_PRECISION_F64 : precision;
    for (size_t i = 0; i < sizeof SOLVERS / sizeof *SOLVERS; i++)
        if (SOLVERS[i]->solver == solver && SOLVERS[i]->precision == wanted) return SOLVERS[i];
    return NULL;
}

/* ---- for the rows ---- */

gram_status gram_gp_plan_check_noise(gram_context *context, const gram_gp_case *what, const char *solver)
{
    if (!(what->options->noise <= 0)) return GRAM_OK;
    return gram_fail(context, GRAM_ERROR_ARGUMENT, "gp_plan: solver %s needs noise in every row", solver);
}

/* With an f32 factor right-hand sides count: 64 at a time for variances on prediction, each with half of the companions that
 * the plan gives a column. */
gram_status gram_gp_plan_factor(gram_context *context, const gram_gp_case *what, gram_precision precision,
                                gram_plan *plan)
{
    enum { RIGHT_SIDES = 32 };
    gram_krr_plan_request request;
    gram_krr_plan_request_init(&request, sizeof request);
    request.n = what->n;
    request.d = what->d;
    request.outputs = precision == GRAM_PRECISION_MIXED ? RIGHT_SIDES : 1;
    request.kernel = what->kernel;
    request.solver = GRAM_SOLVER_EXACT;
    request.precision = precision;
    return gram_krr_plan(context, &request, plan);
}

/* ---- the choice ---- */

static int factor_fits(gram_context *context, const gram_gp_case *what, gram_precision precision)
{
    gram_plan plan;
    return what->n <= MOST_FOR_EXACT && gram_gp_plan_factor(context, what, precision, &plan) >= 0;
}

/* Do near rows say what far ones would? */
static int is_local(gram_context *context, const gram_gp_case *what)
{
    gram_properties facts;
    return what->d <= FEW_COLUMNS && gram_kernel_properties(context, what->kernel, what->d, &facts) >= 0 &&
           facts.stationary == GRAM_YES;
}

/* Exact where it can be. */
static const gram_gp_solver *choose(gram_context *context, const gram_gp_case *what)
{
    const gram_gp_options *o = what->options;
    if (o->precision == GRAM_PRECISION_MIXED) return &gram_gp_solver_mixed;
    if (what->n > ENOUGH_FOR_MARKOV && what->d == 1 && gram_markov_supports(context, what->kernel, NULL))
        return &gram_gp_solver_markov;
    if (factor_fits(context, what, GRAM_PRECISION_F64)) return &gram_gp_solver_exact;
    if (o->noise <= 0) return &gram_gp_solver_exact; /* which says what does not fit */
    if (o->precision != GRAM_PRECISION_F64 && factor_fits(context, what, GRAM_PRECISION_MIXED))
        return &gram_gp_solver_mixed;
    if (what->n <= MOST_FOR_CG) return &gram_gp_solver_cg;
    return is_local(context, what) ? &gram_gp_solver_vecchia : &gram_gp_solver_inducing;
}

static gram_status find_asked(gram_context *context, const char *name, gram_solver solver, gram_precision precision,
                              const gram_gp_solver **row)
{
    gram_status status = GRAM_OK;
    *row = gram_gp_solver_find(solver, precision);
    FAIL_IF(precision == GRAM_PRECISION_F32, context, GRAM_ERROR_ARGUMENT,
            "%s: precision f32 is too coarse for variances and determinants: use f64 or mixed", name);
    FAIL_IF(!*row && precision == GRAM_PRECISION_MIXED && gram_gp_solver_find(solver, GRAM_PRECISION_F64), context,
            GRAM_ERROR_ARGUMENT, "%s: precision mixed is of solver exact, not %s", name, gram_solver_name(solver));
    FAIL_IF(!*row, context, GRAM_ERROR_ARGUMENT,
            "%s: solver %s is not one of a Gaussian process: use auto, exact, markov, cg, inducing or vecchia", name,
            gram_solver_name(solver));
done:
    return status;
}

gram_status gram_gp_solver_choose(gram_context *context, const char *name, const gram_gp_case *what,
                                  const gram_gp_solver **row)
{
    const gram_gp_options *o = what->options;
    if (o->solver != GRAM_SOLVER_AUTO) return find_asked(context, name, o->solver, o->precision, row);
    if (o->plan) return find_asked(context, name, o->plan->solver, o->plan->precision, row);
    if (o->precision == GRAM_PRECISION_F32) return find_asked(context, name, GRAM_SOLVER_EXACT, o->precision, row);
    *row = choose(context, what);
    return GRAM_OK;
}

gram_status gram_gp_plan(gram_context *context, const gram_kernel *kernel, int64_t n, int64_t d,
                         const gram_gp_options *options, gram_plan *plan)
{
    gram_status status = GRAM_OK;
    gram_gp_options o;
    const gram_gp_solver *row = NULL;
    if (!context || !plan) return GRAM_ERROR_ARGUMENT;
    memset(plan, 0, sizeof *plan);
    TRY(gram_gp_options_read(context, "gp_plan", options, &o));
    o.plan = NULL;
    plan->solver = o.solver;
    plan->precision = o.precision;
    FAIL_IF(!kernel || n < 1 || d < 1, context, GRAM_ERROR_ARGUMENT,
            "gp_plan: need a kernel and at least one point and column, not n = %lld, d = %lld", (long long)n,
            (long long)d);
    const gram_gp_case what = {kernel, n, d, &o};
    TRY(gram_gp_solver_choose(context, "gp_plan", &what, &row));
    status = row->plan(context, &what, plan);
    plan->solver = row->solver;
    plan->precision = row->precision;
done:
    return status;
}

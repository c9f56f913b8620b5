/* Without a factor of the whole matrix, products being matrix-free: by conjugate gradients with a low-rank approximation of K plus the ridge as
 * preconditioner, memory for its n x rank numbers and as many products as it takes; and by sketch-and-project, memory for a block
 * of rows. */
#include <string.h>

#include <gram/cg.h>
#include <gram/nystrom.h>

#include "method/krr/krr_solution.h"
#include "points/functionals.h"
#include "solve/sketch/sketch_project.h"

static const double DEFAULT_TOLERANCE = 1e-10;

gram_status gram_solve_cg(gram_context *context, const gram_problem *p, gram_solution *s)
{
    gram_status status = GRAM_OK;
    const int64_t columns = p->m + p->q, numbers = p->n * columns;
    gram_nystrom *low_rank = NULL;
    gram_operator *op = NULL;
    double *right = NULL, *u = NULL;
    gram_cg_options options;
    gram_cg_report report = {.size = sizeof report};
    s->centres = p->x;
    TRY(gram_nystrom_create(context, p->kernel, p->x, p->ridge, s->plan.landmarks, &low_rank));
    TRY(gram_solution_operator(context, p, &op));
    TRY(gram_take(context, "right-hand sides", numbers, sizeof(double), (void **)&right));
    TRY(gram_take(context, "solutions", numbers, sizeof(double), (void **)&u));
    gram_solution_right_side(p, right);
    memset(u, 0, (size_t)numbers * sizeof *u);
    gram_cg_options_init(&options, sizeof options);
    options.tolerance = s->tolerance > 0 ? s->tolerance : DEFAULT_TOLERANCE;
    options.precondition = gram_nystrom_precondition;
    options.user = low_rank;
    TRY(gram_cg_solve(context, op, columns, right, columns, u, columns, &options, &report));
    s->not_converged = status == GRAM_NOT_CONVERGED;
    s->iterations = report.iterations;
    s->rank = gram_nystrom_rank(low_rank);
    s->trace_error = gram_nystrom_trace_error(low_rank);
    gram_solution_combine(p, u, s->a, s->b);
done:
    gram_nystrom_destroy(low_rank);
    gram_operator_release(op);
    gram_give(context, right);
    gram_give(context, u);
    return status < 0 ? status : GRAM_OK;
}

gram_status gram_solve_sketch(gram_context *context, const gram_problem *p, gram_solution *s)
{
    gram_status status = GRAM_OK;
    const int64_t columns = p->m + p->q, numbers = p->n * columns;
    const gram_sketch_options options = {.tolerance = s->tolerance};
    gram_sketch_report report;
    double *right = NULL, *u = NULL;
    s->centres = p->x;
    TRY(gram_points_must_be_plain(context, "krr_fit: solver sketch", p->x));
    TRY(gram_take(context, "right-hand sides", numbers, sizeof(double), (void **)&right));
    TRY(gram_take(context, "solutions", numbers, sizeof(double), (void **)&u));
    gram_solution_right_side(p, right);
    memset(u, 0, (size_t)numbers * sizeof *u);
    TRY(gram_sketch_solve(context, p->kernel, p->x, p->ridge, columns, right, u, &options, &report));
    s->not_converged = status == GRAM_NOT_CONVERGED;
    s->iterations = report.passes;
    s->rank = s->plan.landmarks;
    gram_solution_combine(p, u, s->a, s->b);
done:
    gram_give(context, right);
    gram_give(context, u);
    return status < 0 ? status : GRAM_OK;
}

/* The first eigenvalues of a Gram matrix: the choice of a road, and what all of them begin and end with. */
#include "solve/components/components.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "kernel/kernel.h"
#include "solve/eigen/leading_eigen.h"
#include "solve/pivoted_cholesky.h"

enum { LARGE = 20000, LEAST_RANK = 500, MOST_RANK = 1500, RANK_PER_COMPONENT = 10 };

const char *gram_pca_solver_name(gram_pca_solver solver)
{
    static const char *const names[] = {"auto", "dense", "krylov", "nystrom", "covariance"};
    return (int)solver >= 0 && solver <= GRAM_PCA_COVARIANCE ? names[solver] : "unknown";
}

/* ---- the road ---- */

static int is_linear(const gram_kernel *kernel)
{
    return kernel->node == GRAM_NODE_LEAF && strcmp(kernel->type->name, "linear") == 0;
}

static int64_t rank_for(int64_t n, int64_t components, double budget)
{
    const int64_t wanted = RANK_PER_COMPONENT * components, fits = (int64_t)(budget / 2 / (8.0 * (double)n));
    int64_t rank = wanted < LEAST_RANK ? LEAST_RANK : wanted > MOST_RANK ? MOST_RANK : wanted;
    if (rank < components) rank = components;
    if (rank > fits && fits >= components) rank = fits;
    return rank < n ? rank : n;
}

static gram_pca_solver solver_for(const gram_kernel *kernel, int64_t n, int64_t d, int64_t components, double budget,
                                  const char **reason)
{
    const double dense = 8 * (double)n * ((double)n + 2 * (double)components);
    if (is_linear(kernel) && d < n) {
        *reason = "a linear kernel, and fewer columns than rows";
        return GRAM_PCA_COVARIANCE;
    }
    if ((double)gram_leading_bytes(n, components) > 2.0 * (double)n * (double)n && dense < budget) {
        *reason = "few rows";
        return GRAM_PCA_DENSE;
    }
    *reason = n > LARGE ? "more than 20,000 rows" : "the first components from products with K";
    return n > LARGE ? GRAM_PCA_NYSTROM : GRAM_PCA_KRYLOV;
}

/* Rough seconds: on two cores, 1.5 ns for a pair of points and 20 GFlop/s. */
static void estimate(int64_t n, int64_t d, int64_t components, gram_component_plan *plan)
{
    const double pairs = (double)n * (double)n, k = (double)components, r = (double)plan->rank;
    const double result = 8 * (double)n * (2 * k + (double)d);
    switch (plan->solver) {
    case GRAM_PCA_DENSE:
        plan->bytes = 8 * pairs + 16 * (double)n * k + result;
        plan->seconds = 1e-10 * pairs * (double)n + 1e-10 * pairs * k;
        break;
    case GRAM_PCA_KRYLOV:
        plan->bytes = (plan->packed ? 4.2 * pairs : 0) + (double)gram_leading_bytes(n, components) + result;
        plan->seconds = pairs * (plan->packed ? 1.5e-9 + 12 * 1e-9 : 12 * 2e-9);
        break;
    default:
        plan->bytes = 8 * (double)n * r + 16 * r * r + 8 * (double)n * 64 + result;
        plan->seconds = 1e-10 * (double)n * r * r + 1.5e-9 * (double)n * r;
        break;
    }
}

gram_component_plan gram_components_choose(const gram_context *context, const gram_kernel *kernel, int64_t n, int64_t d,
                                           const gram_component_options *options)
{
    const size_t given = gram_memory_budget(context->memory);
    const double budget = given == 0 ? INFINITY : (double)given;
    gram_component_plan plan = {.solver = options->solver, .reason = "as asked"};
    if (plan.solver == GRAM_PCA_AUTO) plan.solver = solver_for(kernel, n, d, options->count, budget, &plan.reason);
    plan.rank = plan.solver == GRAM_PCA_COVARIANCE ? d : n;
    if (plan.solver == GRAM_PCA_NYSTROM)
        plan.rank = options->rank > 0 ? options->rank : rank_for(n, options->count, budget);
    if (plan.rank > n && plan.solver == GRAM_PCA_NYSTROM) plan.rank = n;
    plan.packed = 4.2 * (double)n * (double)n < budget / 2;
    estimate(n, d, options->count, &plan);
    return plan;
}

/* ---- beginning and end ---- */

gram_status gram_components_check(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                  const gram_component_options *o)
{
    gram_status status = GRAM_OK;
    const int64_t n = gram_points_count(x);
    FAIL_IF(o->count < 1 || o->count > n, context, GRAM_ERROR_ARGUMENT,
            "%s: components = %" PRId64 " is not from 1 to the %" PRId64 " points", o->who, o->count, n);
    FAIL_IF((int)o->solver < 0 || o->solver > GRAM_PCA_COVARIANCE, context, GRAM_ERROR_ARGUMENT,
            "%s: solver = %d is not known", o->who, (int)o->solver);
    FAIL_IF(o->solver == GRAM_PCA_COVARIANCE && !is_linear(kernel), context, GRAM_ERROR_ARGUMENT,
            "%s: the solver covariance is for the kernel linear alone", o->who);
    FAIL_IF(o->rank < 0 || o->rank > GRAM_PIVOTED_MOST, context, GRAM_ERROR_ARGUMENT,
            "%s: rank = %" PRId64 " is not from 0 to %d", o->who, o->rank, (int)GRAM_PIVOTED_MOST);
    FAIL_IF(o->rank > 0 && o->rank < o->count, context, GRAM_ERROR_ARGUMENT,
            "%s: rank = %" PRId64 " is less than the %" PRId64 " components", o->who, o->rank, o->count);
    FAIL_IF(!(o->tolerance > 0 && o->tolerance < 1), context, GRAM_ERROR_ARGUMENT,
            "%s: tolerance = %g is not in (0, 1)", o->who, o->tolerance);
done:
    return status;
}

/* Where centring cancels all but rounding, that is of the size of K as it was. */
gram_status gram_components_check_rank(const gram_component_work *work)
{
    gram_status status = GRAM_OK;
    const gram_components *found = work->found;
    const double floor = fmax((double)found->n * DBL_EPSILON * found->values[0], 8 * DBL_EPSILON * found->whole);
    int64_t rank = 0;
    if (work->options.any_rank) return GRAM_OK;
    while (rank < found->count && found->values[rank] > floor) rank++;
    FAIL_IF(rank == 0, work->context, GRAM_ERROR_DATA,
            "%s: the matrix of the kernel is 0 to rounding: all rows are alike to it", work->options.who);
    FAIL_IF(rank < found->count, work->context, GRAM_ERROR_ARGUMENT,
            "%s: %" PRId64 " components are more than the %" PRId64 " that are above rounding", work->options.who,
            found->count, rank);
done:
    return status;
}

/* The coordinate of largest size is positive. */
static void fix_signs(gram_components *found)
{
    const int64_t n = found->n, k = found->count, centres = gram_points_count(found->centres);
    double *f = found->coordinates;
    for (int64_t s = 0; s < k; s++) {
        double largest = 0;
        for (int64_t i = 0; i < n; i++)
            if (fabs(f[i * k + s]) > fabs(largest)) largest = f[i * k + s];
        if (largest >= 0) continue;
        for (int64_t i = 0; i < n; i++) f[i * k + s] = -f[i * k + s];
        for (int64_t i = 0; i < centres; i++) found->coefficients[i * k + s] = -found->coefficients[i * k + s];
        found->constant[s] = -found->constant[s];
    }
}

/* Where all points are centres. */
static gram_status make_even_mean(gram_context *context, gram_components *found)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "components: mean", found->n, sizeof(double), (void **)&found->mean));
    for (int64_t i = 0; i < found->n; i++) found->mean[i] = 1 / (double)found->n;
done:
    return status;
}

static gram_status begin(gram_component_work *work, const gram_component_plan *plan)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    const int64_t n = gram_points_count(work->x), k = work->options.count;
    gram_components *found = work->found;
    *found = (gram_components){.n = n,
                               .count = k,
                               .solver = plan->solver,
                               .centres = work->x,
                               .rank = plan->rank,
                               .residual = NAN,
                               .converged = 1};
    TRY(gram_take(context, "components: eigenvalues", k, sizeof *found->values, (void **)&found->values));
    TRY(gram_take(context, "components: coordinates", n * k, sizeof(double), (void **)&found->coordinates));
    TRY(gram_take(context, "components: constant", k, sizeof *found->constant, (void **)&found->constant));
    memset(found->constant, 0, (size_t)k * sizeof *found->constant);
done:
    return status;
}

gram_status gram_components_find(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                 const gram_component_options *options, gram_components *found)
{
    gram_status status = GRAM_OK;
    gram_component_work work = {context, kernel, x, *options, found};
    const gram_component_plan plan =
        gram_components_choose(context, kernel, gram_points_count(x), gram_points_dimension(x), options);
    TRY(begin(&work, &plan));
    TRY(plan.solver == GRAM_PCA_DENSE || plan.solver == GRAM_PCA_KRYLOV ? gram_components_by_matrix(&work, &plan)
                                                                        : gram_components_by_factor(&work, &plan));
    if (options->centre && !found->mean) TRY(make_even_mean(context, found));
    fix_signs(found);
    if (!found->converged) status = GRAM_NOT_CONVERGED;
done:
    return status;
}

void gram_components_free(gram_memory *memory, gram_components *found)
{
    gram_points_release(found->own_centres);
    gram_memory_give(memory, found->own_rows);
    gram_memory_give(memory, found->coefficients);
    gram_memory_give(memory, found->constant);
    gram_memory_give(memory, found->mean);
    gram_memory_give(memory, found->coordinates);
    gram_memory_give(memory, found->values);
    *found = (gram_components){0};
}

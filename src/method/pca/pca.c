/* Kernel PCA: the choice of a road, and what all of them end with. */
#include "method/pca/pca.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/sized_struct.h"
#include "function/function.h"
#include "kernel/kernel.h"
#include "solve/eigen/leading_eigen.h"
#include "solve/pivoted_cholesky.h"

enum { LARGE = 20000, LEAST_RANK = 500, MOST_RANK = 1500, RANK_PER_COMPONENT = 10 };

void gram_pca_options_init(gram_pca_options *options, size_t size)
{
    const gram_pca_options defaults = {.size = sizeof defaults,
                                       .components = 2,
                                       .centre = 1,
                                       .tolerance = 1e-8,
                                       .most_components = 20,
                                       .permutations = 99,
                                       .level = 0.05};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

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
static void estimate(int64_t n, int64_t d, int64_t components, gram_pca_plan *plan)
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

gram_pca_plan gram_pca_choose(const gram_context *context, const gram_kernel *kernel, int64_t n, int64_t d,
                              const gram_pca_options *options)
{
    const size_t given = gram_memory_budget(context->memory);
    const double budget = given == 0 ? INFINITY : (double)given;
    gram_pca_plan plan = {.solver = options->solver, .reason = "as asked"};
    if (plan.solver == GRAM_PCA_AUTO) plan.solver = solver_for(kernel, n, d, options->components, budget, &plan.reason);
    plan.rank = plan.solver == GRAM_PCA_COVARIANCE ? d : n;
    if (plan.solver == GRAM_PCA_NYSTROM)
        plan.rank = options->rank > 0 ? options->rank : rank_for(n, options->components, budget);
    if (plan.rank > n && plan.solver == GRAM_PCA_NYSTROM) plan.rank = n;
    plan.packed = 4.2 * (double)n * (double)n < budget / 2;
    estimate(n, d, options->components, &plan);
    return plan;
}

/* ---- the end ---- */

/* Where centring cancels all but rounding, that is of the size of K as it was. */
gram_status gram_pca_check_rank(const gram_pca_work *work)
{
    gram_status status = GRAM_OK;
    const int64_t n = work->pca->report.n, components = work->options.components;
    const double *values = work->pca->values;
    if (work->only_values) return GRAM_OK;
    const double floor = fmax((double)n * DBL_EPSILON * values[0], 8 * DBL_EPSILON * work->whole);
    int64_t rank = 0;
    while (rank < components && values[rank] > floor) rank++;
    FAIL_IF(rank == 0, work->context, GRAM_ERROR_DATA,
            "pca: the matrix of the kernel is 0 to rounding: all rows are alike to it");
    FAIL_IF(rank < components, work->context, GRAM_ERROR_ARGUMENT,
            "pca: %" PRId64 " components are more than the %" PRId64 " that are above rounding", components, rank);
done:
    return status;
}

/* The coordinate of largest size is positive. */
static void fix_signs(const gram_pca_work *work, int64_t centres)
{
    const int64_t n = work->pca->report.n, k = work->options.components;
    double *f = work->pca->coordinates;
    for (int64_t s = 0; s < k; s++) {
        double largest = 0;
        for (int64_t i = 0; i < n; i++)
            if (fabs(f[i * k + s]) > fabs(largest)) largest = f[i * k + s];
        if (largest >= 0) continue;
        for (int64_t i = 0; i < n; i++) f[i * k + s] = -f[i * k + s];
        for (int64_t i = 0; i < centres; i++) work->coefficients[i * k + s] = -work->coefficients[i * k + s];
        work->constant[s] = -work->constant[s];
    }
}

/* Where all points are centres. */
static gram_status make_even_mean(gram_pca_work *work)
{
    gram_status status = GRAM_OK;
    const int64_t n = work->pca->report.n;
    TRY(gram_take(work->context, "pca_fit: mean", n, sizeof(double), (void **)&work->pca->mean));
    for (int64_t i = 0; i < n; i++) work->pca->mean[i] = 1 / (double)n;
done:
    return status;
}

static gram_status finish(gram_pca_work *work)
{
    gram_status status = GRAM_OK;
    const int64_t k = work->options.components;
    const gram_points *centres = work->centres ? work->centres : work->x;
    fix_signs(work, gram_points_count(centres));
    if (work->options.centre && !work->pca->mean) TRY(make_even_mean(work));
    TRY(gram_function_create(work->context, work->kernel, centres, k, work->coefficients, k, work->constant,
                             &work->pca->function));
done:
    return status;
}

/* What parallel analysis needs. */
static gram_status check_analysis(gram_context *context, int64_t n, int64_t d, const gram_pca_options *o)
{
    gram_status status = GRAM_OK;
    const int64_t *groups = o->column_groups;
    int several = !groups && d > 1;
    for (int64_t l = 0; groups && l < d; l++) {
        FAIL_IF(groups[l] < 0 || groups[l] > INT32_MAX, context, GRAM_ERROR_ARGUMENT,
                "pca_fit: column_groups[%" PRId64 "] = %" PRId64 " is not a number from 0 to 2147483647", l, groups[l]);
        several |= groups[l] != groups[0];
    }
    FAIL_IF(n < 3 || !several, context, GRAM_ERROR_ARGUMENT,
            "pca_fit: components cannot be chosen with %" PRId64
            " points of %s: shuffled columns tell them from chance",
            n, several ? "these columns" : "one column");
    FAIL_IF(o->most_components < 1, context, GRAM_ERROR_ARGUMENT,
            "pca_fit: most_components = %" PRId64 " is less than 1", o->most_components);
    FAIL_IF(!(o->level > 0 && o->level < 1 && o->level * (double)(o->permutations + 1) > 1 - 1e-9), context,
            GRAM_ERROR_ARGUMENT, "pca_fit: permutations = %" PRId64 " cannot tell anything at the level %g",
            o->permutations, o->level);
done:
    return status;
}

static gram_status check(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                         const gram_pca_options *o)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!kernel || !x, context, GRAM_ERROR_ARGUMENT, "pca_fit: %s is NULL", !kernel ? "kernel" : "x");
    const int64_t n = gram_points_count(x);
    FAIL_IF(o->components < 0 || o->components > n, context, GRAM_ERROR_ARGUMENT,
            "pca_fit: components = %" PRId64 " is not from 1 to the %" PRId64 " points", o->components, n);
    if (o->components == 0) TRY(check_analysis(context, n, gram_points_dimension(x), o));
    FAIL_IF((int)o->solver < 0 || o->solver > GRAM_PCA_COVARIANCE, context, GRAM_ERROR_ARGUMENT,
            "pca_fit: solver = %d is not known", (int)o->solver);
    FAIL_IF(o->solver == GRAM_PCA_COVARIANCE && !is_linear(kernel), context, GRAM_ERROR_ARGUMENT,
            "pca_fit: the solver covariance is for the kernel linear alone");
    FAIL_IF(o->rank < 0 || o->rank > GRAM_PIVOTED_MOST, context, GRAM_ERROR_ARGUMENT,
            "pca_fit: rank = %" PRId64 " is not from 0 to %d", o->rank, (int)GRAM_PIVOTED_MOST);
    FAIL_IF(o->rank > 0 && o->rank < o->components, context, GRAM_ERROR_ARGUMENT,
            "pca_fit: rank = %" PRId64 " is less than the %" PRId64 " components", o->rank, o->components);
    FAIL_IF(!(o->tolerance > 0 && o->tolerance < 1), context, GRAM_ERROR_ARGUMENT,
            "pca_fit: tolerance = %g is not in (0, 1)", o->tolerance);
    TRY(gram_function_check_kernel(context, kernel, gram_points_dimension(x)));
done:
    return status;
}

static gram_status begin(gram_pca_work *work, const gram_pca_plan *plan)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    const int64_t n = gram_points_count(work->x), k = work->options.components;
    gram_pca *made = NULL;
    TRY(gram_take(context, "pca_fit", 1, sizeof *made, (void **)&made));
    *made = (gram_pca){.memory = gram_memory_retain(context->memory)};
    made->report = (gram_pca_report){.size = sizeof made->report,
                                     .n = n,
                                     .components = k,
                                     .centre = work->options.centre,
                                     .solver = plan->solver,
                                     .rank = plan->rank,
                                     .residual = NAN};
    work->pca = made;
    TRY(gram_take(context, "pca_fit: eigenvalues", k, sizeof *made->values, (void **)&made->values));
    TRY(gram_take(context, "pca_fit: coordinates", n * k, sizeof *made->coordinates, (void **)&made->coordinates));
    TRY(gram_take(context, "pca_fit: constant", k, sizeof *work->constant, (void **)&work->constant));
    memset(work->constant, 0, (size_t)k * sizeof *work->constant);
done:
    return status;
}

static void release(gram_pca_work *work)
{
    gram_pca_destroy(work->pca);
    gram_points_release(work->centres);
    gram_give(work->context, work->own_centres);
    gram_give(work->context, work->coefficients);
    gram_give(work->context, work->constant);
}

static gram_status find_components(gram_pca_work *work)
{
    gram_status status = GRAM_OK;
    const gram_points *x = work->x;
    const gram_pca_plan plan =
        gram_pca_choose(work->context, work->kernel, gram_points_count(x), gram_points_dimension(x), &work->options);
    TRY(begin(work, &plan));
    TRY(plan.solver == GRAM_PCA_DENSE || plan.solver == GRAM_PCA_KRYLOV ? gram_pca_by_matrix(work, &plan)
                                                                        : gram_pca_by_factor(work, &plan));
done:
    return status;
}

gram_status gram_pca_values(gram_context *context, gram_kernel *kernel, const gram_points *x,
                            const gram_pca_options *options, double *values)
{
    gram_status status = GRAM_OK;
    gram_pca_work work = {.context = context, .kernel = kernel, .x = x, .options = *options, .only_values = 1};
    TRY(find_components(&work));
    memcpy(values, work.pca->values, (size_t)options->components * sizeof *values);
done:
    release(&work);
    return status;
}

/* As many components as stand out from chance, at least one. */
static gram_status choose_number(gram_pca_work *work, gram_pca_analysis *found)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(work->context, "pca_fit: chance", work->options.most_components, sizeof *found->chance,
                  (void **)&found->chance));
    TRY(gram_pca_parallel_analysis(work->context, work->kernel, work->x, &work->options, found));
    work->options.components = found->significant > 0 ? found->significant : 1;
done:
    return status;
}

static void report_analysis(gram_pca_work *work, gram_pca_analysis *found)
{
    gram_pca_report *report = &work->pca->report;
    report->permutations = work->options.permutations;
    report->significant = found->significant;
    report->analysed_rows = found->rows;
    report->analysed = found->tested;
    work->pca->chance = found->chance;
    found->chance = NULL;
}

gram_status gram_pca_fit(gram_context *context, gram_kernel *kernel, const gram_points *x,
                         const gram_pca_options *options, gram_pca **pca)
{
    gram_status status = GRAM_OK;
    gram_pca_work work = {.context = context, .kernel = kernel, .x = x, .converged = 1};
    gram_pca_analysis found = {0};
    if (!context || !pca) return GRAM_ERROR_ARGUMENT;
    *pca = NULL;
    gram_pca_options_init(&work.options, sizeof work.options);
    TRY(gram_sized_read(context, "pca_fit", "options", "gram_pca_options", options, &work.options,
                        sizeof work.options));
    TRY(check(context, kernel, x, &work.options));
    if (work.options.components == 0) TRY(choose_number(&work, &found));
    TRY(find_components(&work));
    TRY(finish(&work));
    if (found.chance) report_analysis(&work, &found);
    *pca = work.pca;
    work.pca = NULL;
    if (!work.converged) status = GRAM_NOT_CONVERGED;
done:
    gram_give(context, found.chance);
    release(&work);
    return status;
}

void gram_pca_destroy(gram_pca *pca)
{
    if (!pca) return;
    gram_memory *memory = pca->memory;
    gram_function_release(pca->function);
    gram_memory_give(memory, pca->values);
    gram_memory_give(memory, pca->coordinates);
    gram_memory_give(memory, pca->mean);
    gram_memory_give(memory, pca->chance);
    gram_memory_give(memory, pca);
    gram_memory_release(memory);
}

gram_function *gram_pca_function(const gram_pca *pca)
{
    return pca->function;
}

const gram_pca_report *gram_pca_get_report(const gram_pca *pca)
{
    return &pca->report;
}

const double *gram_pca_eigenvalues(const gram_pca *pca)
{
    return pca->values;
}

const double *gram_pca_coordinates(const gram_pca *pca)
{
    return pca->coordinates;
}

const double *gram_pca_mean(const gram_pca *pca)
{
    return pca->mean;
}

const double *gram_pca_chance(const gram_pca *pca)
{
    return pca->chance;
}

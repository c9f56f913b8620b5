/* Components from K = F F': the eigenvalues of F'F are those of K, and F u has the coordinates, u its unit vectors.
 *
 * For the kernel linear(c) the factor is X, with a column sqrt(c) more if nothing is centred; coordinates are linear functions,
 * written with the unit vectors e_l as centres: x_l = k(e_l, x) - c. Otherwise F is a partial Cholesky factor with pivots P (the
 * Nystrom approximation), F = K(:, P) L^-T with L the rows P of F, and f(x) = L^-1 k(P, x) continues its rows to any x.
 * With weights the rows of F are multiplied by their roots. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/operator.h>

#include "base/sweep.h"
#include "kernel/kernel.h"
#include "points/points.h"
#include "solve/components/components.h"
#include "solve/eigen/leading_eigen.h"
#include "solve/eigen/tall_matrix.h"
#include "solve/pivoted_cholesky.h"

static const double PIVOT_TOLERANCE = 1e-10; /* of the trace: further pivots would make L as good as singular */

/* F less the means of its columns. */
static void centre_columns(gram_tall f, double *means)
{
    for (int64_t j = 0; j < f.columns; j++) means[j] = 0;
    for (int64_t i = 0; i < f.n; i++)
        for (int64_t j = 0; j < f.columns; j++) means[j] += f.data[i * f.ld + j];
    for (int64_t j = 0; j < f.columns; j++) means[j] /= (double)f.n;
    for (int64_t i = 0; i < f.n; i++)
        for (int64_t j = 0; j < f.columns; j++) f.data[i * f.ld + j] -= means[j];
}

static void scale_rows(gram_tall f, const double *weights)
{
    for (int64_t i = 0; i < f.n; i++)
        for (int64_t j = 0; j < f.columns; j++) f.data[i * f.ld + j] *= sqrt(weights[i]);
}

/* Eigenvectors u (columns x components) of F'F; with too few columns the rank is too low. */
static gram_status find_vectors(gram_component_work *work, gram_tall f, double *u)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    const int64_t count = work->options.count;
    gram_operator *op = NULL;
    double *c = NULL;
    gram_leading run = {.count = count < f.columns ? count : f.columns,
                        .tolerance = work->options.tolerance,
                        .values = work->found->values,
                        .vectors = u};
    memset(work->found->values, 0, (size_t)count * sizeof *work->found->values);
    TRY(gram_take(context, "components: the covariance", f.columns * f.columns, sizeof *c, (void **)&c));
    TRY(gram_tall_inner(context, f, f, c, f.columns));
    for (int64_t j = 0; j < f.columns; j++) work->found->trace += c[j * f.columns + j];
    TRY(gram_operator_create_dense(context, f.columns, c, f.columns, &op));
    run.a = op;
    status = gram_leading_run(context, &run);
    if (status < 0) goto done;
    work->found->converged = status != GRAM_NOT_CONVERGED;
    work->found->residual = run.residual;
    TRY(gram_components_check_rank(work));
done:
    gram_operator_release(op);
    gram_give(context, c);
    return status;
}

/* Values, u, coordinates F u and the constants -means'u; F becomes that of K~, with what was taken off its
 * columns in found->mean. */
static gram_status solve(gram_component_work *work, gram_tall f, double *u)
{
    gram_status status = GRAM_OK;
    const int64_t count = work->options.count, n = f.n;
    const double *weights = work->options.weights;
    double *means = NULL, *coordinates = work->found->coordinates;
    if (work->options.centre) {
        TRY(gram_take(work->context, "components: means", f.columns, sizeof *means, (void **)&means));
        centre_columns(f, means);
        work->found->mean = means;
    }
    if (weights) scale_rows(f, weights);
    TRY(find_vectors(work, f, u));
    memset(coordinates, 0, (size_t)(n * count) * sizeof *coordinates);
    TRY(gram_tall_add(work->context, f, 1, u, count, (gram_tall){n, count, count, coordinates}));
    for (int64_t i = 0; i < n && weights; i++)
        for (int64_t s = 0; s < count; s++) coordinates[i * count + s] /= sqrt(weights[i]);
    for (int64_t j = 0; means && j < f.columns; j++)
        for (int64_t s = 0; s < count; s++) work->found->constant[s] -= means[j] * u[j * count + s];
done:
    return status;
}

/* ---- linear ---- */

static gram_status make_units(gram_component_work *work, int64_t d)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(work->context, "components: centres", d * d, sizeof(double), (void **)&work->found->own_rows));
    memset(work->found->own_rows, 0, (size_t)(d * d) * sizeof(double));
    for (int64_t l = 0; l < d; l++) work->found->own_rows[l * d + l] = 1;
    TRY(gram_points_create_f64(work->context, d, d, work->found->own_rows, d, &work->found->own_centres));
    work->found->centres = work->found->own_centres;
done:
    return status;
}

static double weight_of(const gram_component_work *work, int64_t i)
{
    return work->options.weights ? work->options.weights[i] : 1;
}

static gram_status by_covariance(gram_component_work *work)
{
    gram_status status = GRAM_OK;
    const int64_t n = work->found->n, d = work->x->d, count = work->options.count;
    const double c = work->kernel->arguments[0].values[0];
    gram_tall f = {n, d + (c > 0 && !work->options.centre), 0, NULL};
    f.ld = f.columns;
    TRY(gram_take(work->context, "components: features", n * f.columns, sizeof(double), (void **)&f.data));
    TRY(gram_take(work->context, "components: coefficients", (d + 1) * count, sizeof(double),
                  (void **)&work->found->coefficients));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t l = 0; l < d; l++) f.data[i * f.ld + l] = gram_points_at(work->x, i, l);
        if (f.columns > d) f.data[i * f.ld + d] = sqrt(c);
        for (int64_t l = 0; l < f.columns; l++)
            work->found->whole += f.data[i * f.ld + l] * f.data[i * f.ld + l] * weight_of(work, i);
    }
    TRY(solve(work, f, work->found->coefficients));
    for (int64_t s = 0; s < count; s++) {
        for (int64_t l = 0; l < d; l++) work->found->constant[s] -= c * work->found->coefficients[l * count + s];
        if (f.columns > d) work->found->constant[s] += sqrt(c) * work->found->coefficients[d * count + s];
    }
    TRY(make_units(work, d));
done:
    gram_give(work->context, f.data);
    return status;
}

/* ---- any kernel, by pivots ---- */

/* The pivots as centres, and the rows of F that belong to them. */
static gram_status take_pivots(gram_component_work *work, const gram_pivoted *p, double *l)
{
    gram_status status = GRAM_OK;
    const int64_t d = work->x->d, rank = p->rank;
    TRY(gram_take(work->context, "components: centres", rank * d, sizeof(double), (void **)&work->found->own_rows));
    for (int64_t i = 0; i < rank; i++) {
        for (int64_t j = 0; j < d; j++) work->found->own_rows[i * d + j] = gram_points_cell(work->x, p->pivot[i], j);
        for (int64_t j = 0; j < rank; j++) l[i * rank + j] = j <= i ? p->f[p->pivot[i] * p->room + j] : 0;
    }
    TRY(gram_points_create_like(work->context, work->x, rank, work->found->own_rows, 0, &work->found->own_centres));
    work->found->centres = work->found->own_centres;
done:
    return status;
}

static gram_status by_pivots(gram_component_work *work, const gram_pivoted *p)
{
    gram_status status = GRAM_OK;
    const int64_t rank = p->rank, count = work->options.count;
    double *l = NULL;
    TRY(gram_take(work->context, "components: coefficients", rank * count, sizeof(double),
                  (void **)&work->found->coefficients));
    TRY(gram_take(work->context, "components: pivots", rank * rank, sizeof *l, (void **)&l));
    TRY(take_pivots(work, p, l));
    TRY(solve(work, (gram_tall){p->n, rank, p->room, p->f}, work->found->coefficients));
    const int blas = gram_blas_enter();
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (int)rank, (int)count, 1, l, (int)rank,
                work->found->coefficients, (int)count);
    if (work->found->mean) /* as weights of the pivots, too */
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)rank, l, (int)rank, work->found->mean, 1);
    gram_blas_leave(blas);
done:
    gram_give(work->context, l);
    return status;
}

/* tr K~, and what the factor misses of it: the diagonal of K is left + F F'. */
static void find_missed(gram_component_work *work, const gram_pivoted *p)
{
    gram_components *found = work->found;
    double missed = 0, whole = 0;
    for (int64_t i = 0; i < p->n; i++) {
        double diagonal = p->left[i];
        for (int64_t j = 0; j < p->rank; j++) diagonal += p->f[i * p->room + j] * p->f[i * p->room + j];
        missed += weight_of(work, i) * p->left[i];
        whole += weight_of(work, i) * diagonal;
    }
    found->rank = p->rank;
    found->whole = work->options.weights ? whole : p->trace;
    found->trace = work->options.weights ? missed : p->missed;
    found->trace_error = found->whole > 0 ? found->trace / found->whole : 0;
}

static gram_status by_nystrom(gram_component_work *work, int64_t rank)
{
    gram_status status = GRAM_OK;
    gram_pivoted pivoted = {0};
    const gram_pivoted_options options = {.rule = &gram_pivot_largest, .room = rank, .tolerance = PIVOT_TOLERANCE};
    TRY(gram_pivoted_make(work->context, work->kernel, work->x, &options, &pivoted));
    find_missed(work, &pivoted);
    FAIL_IF(pivoted.rank == 0, work->context, GRAM_ERROR_DATA,
            "%s: the matrix of the kernel is 0 to rounding: all rows are alike to it", work->options.who);
    TRY(by_pivots(work, &pivoted));
done:
    gram_pivoted_free(work->context->memory, &pivoted);
    return status;
}

gram_status gram_components_by_factor(gram_component_work *work, const gram_component_plan *plan)
{
    return plan->solver == GRAM_PCA_COVARIANCE ? by_covariance(work) : by_nystrom(work, plan->rank);
}

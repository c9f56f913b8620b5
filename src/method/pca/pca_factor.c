/* Principal components from K = F F': the eigenvalues of F'F are those of K, and F u has the coordinates, u its unit vectors.
 *
 * For the kernel linear(c) the factor is X, with a column sqrt(c) more if nothing is centred; coordinates are linear functions,
 * written with the unit vectors e_l as centres: x_l = k(e_l, x) - c. Otherwise F is a partial Cholesky factor with pivots P (the
 * Nystrom approximation), F = K(:, P) L^-T with L the rows P of F, and f(x) = L^-1 k(P, x) continues its rows to any x. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/operator.h>

#include "base/sweep.h"
#include "kernel/kernel.h"
#include "method/pca/pca.h"
#include "points/points.h"
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

/* Eigenvectors u (columns x components) of F'F; with too few columns the rank is too low. */
static gram_status find_vectors(gram_pca_work *work, gram_tall f, double *u)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    const int64_t count = work->options.components;
    gram_operator *op = NULL;
    double *c = NULL;
    gram_leading run = {.count = count < f.columns ? count : f.columns,
                        .tolerance = work->options.tolerance,
                        .values = work->pca->values,
                        .vectors = u};
    memset(work->pca->values, 0, (size_t)count * sizeof *work->pca->values);
    TRY(gram_take(context, "pca_fit: the covariance", f.columns * f.columns, sizeof *c, (void **)&c));
    TRY(gram_tall_inner(context, f, f, c, f.columns));
    for (int64_t j = 0; j < f.columns; j++) work->pca->report.trace += c[j * f.columns + j];
    TRY(gram_operator_create_dense(context, f.columns, c, f.columns, &op));
    run.a = op;
    status = gram_leading_run(context, &run);
    if (status < 0) goto done;
    work->converged = status != GRAM_NOT_CONVERGED;
    work->pca->report.residual = run.residual;
    TRY(gram_pca_check_rank(work));
done:
    gram_operator_release(op);
    gram_give(context, c);
    return status;
}

/* Values, u, coordinates F u and the constants -means'u; F is centred if the components are, with its means in pca->mean. */
static gram_status solve(gram_pca_work *work, gram_tall f, double *u)
{
    gram_status status = GRAM_OK;
    const int64_t count = work->options.components, n = f.n;
    double *means = NULL;
    if (work->options.centre) {
        TRY(gram_take(work->context, "pca_fit: means", f.columns, sizeof *means, (void **)&means));
        centre_columns(f, means);
        work->pca->mean = means;
    }
    TRY(find_vectors(work, f, u));
    memset(work->pca->coordinates, 0, (size_t)(n * count) * sizeof(double));
    TRY(gram_tall_add(work->context, f, 1, u, count, (gram_tall){n, count, count, work->pca->coordinates}));
    for (int64_t j = 0; means && j < f.columns; j++)
        for (int64_t s = 0; s < count; s++) work->constant[s] -= means[j] * u[j * count + s];
done:
    return status;
}

/* ---- linear ---- */

static gram_status make_units(gram_pca_work *work, int64_t d)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(work->context, "pca_fit: centres", d * d, sizeof(double), (void **)&work->own_centres));
    memset(work->own_centres, 0, (size_t)(d * d) * sizeof(double));
    for (int64_t l = 0; l < d; l++) work->own_centres[l * d + l] = 1;
    TRY(gram_points_create_f64(work->context, d, d, work->own_centres, d, &work->centres));
done:
    return status;
}

static gram_status by_covariance(gram_pca_work *work)
{
    gram_status status = GRAM_OK;
    const int64_t n = work->pca->report.n, d = work->x->d, count = work->options.components;
    const double c = work->kernel->arguments[0].values[0];
    gram_tall f = {n, d + (c > 0 && !work->options.centre), 0, NULL};
    f.ld = f.columns;
    TRY(gram_take(work->context, "pca_fit: features", n * f.columns, sizeof(double), (void **)&f.data));
    TRY(gram_take(work->context, "pca_fit: coefficients", (d + 1) * count, sizeof(double),
                  (void **)&work->coefficients));
    for (int64_t i = 0; i < n; i++) {
        for (int64_t l = 0; l < d; l++) f.data[i * f.ld + l] = gram_points_at(work->x, i, l);
        if (f.columns > d) f.data[i * f.ld + d] = sqrt(c);
        for (int64_t l = 0; l < f.columns; l++) work->whole += f.data[i * f.ld + l] * f.data[i * f.ld + l];
    }
    TRY(solve(work, f, work->coefficients));
    for (int64_t s = 0; s < count; s++) {
        for (int64_t l = 0; l < d; l++) work->constant[s] -= c * work->coefficients[l * count + s];
        if (f.columns > d) work->constant[s] += sqrt(c) * work->coefficients[d * count + s];
    }
    TRY(make_units(work, d));
done:
    gram_give(work->context, f.data);
    return status;
}

/* ---- any kernel, by pivots ---- */

/* The pivots as centres, and the rows of F that belong to them. */
static gram_status take_pivots(gram_pca_work *work, const gram_pivoted *p, double *l)
{
    gram_status status = GRAM_OK;
    const int64_t d = work->x->d, rank = p->rank;
    TRY(gram_take(work->context, "pca_fit: centres", rank * d, sizeof(double), (void **)&work->own_centres));
    for (int64_t i = 0; i < rank; i++) {
        for (int64_t j = 0; j < d; j++) work->own_centres[i * d + j] = gram_points_at(work->x, p->pivot[i], j);
        for (int64_t j = 0; j < rank; j++) l[i * rank + j] = j <= i ? p->f[p->pivot[i] * p->room + j] : 0;
    }
    TRY(gram_points_create_f64(work->context, rank, d, work->own_centres, d, &work->centres));
done:
    return status;
}

static gram_status by_pivots(gram_pca_work *work, const gram_pivoted *p)
{
    gram_status status = GRAM_OK;
    const int64_t rank = p->rank, count = work->options.components;
    double *l = NULL;
    TRY(gram_take(work->context, "pca_fit: coefficients", rank * count, sizeof(double), (void **)&work->coefficients));
    TRY(gram_take(work->context, "pca_fit: pivots", rank * rank, sizeof *l, (void **)&l));
    TRY(take_pivots(work, p, l));
    TRY(solve(work, (gram_tall){p->n, rank, p->room, p->f}, work->coefficients));
    const int blas = gram_blas_enter();
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (int)rank, (int)count, 1, l, (int)rank,
                work->coefficients, (int)count);
    if (work->pca->mean) /* as weights of the pivots, too */
        cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, (int)rank, l, (int)rank, work->pca->mean, 1);
    gram_blas_leave(blas);
done:
    gram_give(work->context, l);
    return status;
}

static gram_status by_nystrom(gram_pca_work *work, int64_t rank)
{
    gram_status status = GRAM_OK;
    gram_pivoted pivoted = {0};
    gram_pca_report *report = &work->pca->report;
    const gram_pivoted_options options = {.rule = &gram_pivot_largest, .room = rank, .tolerance = PIVOT_TOLERANCE};
    TRY(gram_pivoted_make(work->context, work->kernel, work->x, &options, &pivoted));
    work->whole = pivoted.trace;
    report->rank = pivoted.rank;
    report->trace = pivoted.missed;
    report->trace_error = pivoted.trace > 0 ? pivoted.missed / pivoted.trace : 0;
    FAIL_IF(pivoted.rank == 0, work->context, GRAM_ERROR_DATA,
            "pca: the matrix of the kernel is 0 to rounding: all rows are alike to it");
    TRY(by_pivots(work, &pivoted));
done:
    gram_pivoted_free(work->context->memory, &pivoted);
    return status;
}

gram_status gram_pca_by_factor(gram_pca_work *work, const gram_pca_plan *plan)
{
    return plan->solver == GRAM_PCA_COVARIANCE ? by_covariance(work) : by_nystrom(work, plan->rank);
}

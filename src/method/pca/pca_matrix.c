/* Principal components from eigenvectors of K~ itself: all of it in memory, or products with it.
 *
 * With unit eigenvectors v_s of K~ = H K H, whose entries sum up to 0, the centring of a new point's row of K cancels but for a
 * constant: f_s(x) = sum_i a_is k(x_i, x) - sum_i a_is m_i, a_s = v_s/sqrt(l_s) and m_i = sum_j k(x_i, x_j)/n. */
#include <math.h>
#include <string.h>

#include <gram/eigen.h>
#include <gram/matrix.h>
#include <gram/operator.h>

#include "method/pca/pca.h"
#include "solve/eigen/leading_eigen.h"

/* The means of the rows, and their mean. */
static double centre_rows(int64_t n, const double *k, double *means)
{
    double all = 0;
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += k[i * n + j];
        means[i] = sum / (double)n;
        all += means[i] / (double)n;
    }
    return all;
}

static void centre_matrix(int64_t n, double *k, const double *means, double all)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) k[i * n + j] += all - means[i] - means[j];
}

static gram_status by_dense(gram_pca_work *work, double *vectors, double *means)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    const int64_t n = work->pca->report.n, count = work->options.components;
    double *k = NULL, *rows = NULL;
    TRY(gram_take(context, "pca_fit: the matrix", n * n, sizeof *k, (void **)&k));
    TRY(gram_take(context, "pca_fit: vectors", n * count, sizeof *rows, (void **)&rows));
    TRY(gram_matrix(context, work->kernel, work->x, NULL, k, n));
    for (int64_t i = 0; i < n; i++) work->whole += k[i * n + i];
    if (work->options.centre) centre_matrix(n, k, means, centre_rows(n, k, means));
    for (int64_t i = 0; i < n; i++) work->pca->report.trace += k[i * n + i];
    TRY(gram_eigen_symmetric(context, n, k, n, 0, count, work->pca->values, rows, n));
    for (int64_t i = 0; i < n; i++)
        for (int64_t s = 0; s < count; s++) vectors[i * count + s] = rows[s * n + i];
done:
    gram_give(context, rows);
    gram_give(context, k);
    return status;
}

static gram_status find_means(gram_context *context, const gram_operator *op, double *means)
{
    gram_status status = GRAM_OK;
    const int64_t n = gram_operator_size(op);
    double *even = NULL;
    TRY(gram_take(context, "pca_fit: means", n, sizeof *even, (void **)&even));
    for (int64_t i = 0; i < n; i++) even[i] = 1 / (double)n;
    TRY(gram_operator_apply(context, op, 1, even, 1, means, 1));
done:
    gram_give(context, even);
    return status;
}

/* tr K~ = tr K - 1'K1/n */
static gram_status find_trace(gram_pca_work *work, const gram_operator *op, const double *means)
{
    gram_status status = GRAM_OK;
    const int64_t n = work->pca->report.n;
    TRY(gram_operator_trace(work->context, op, &work->whole));
    work->pca->report.trace = work->whole;
    for (int64_t i = 0; i < n && work->options.centre; i++) work->pca->report.trace -= means[i];
done:
    return status;
}

static gram_status by_products(gram_pca_work *work, int packed, double *vectors, double *means)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    gram_operator *plain = NULL, *centred = NULL;
    gram_leading run = {.count = work->options.components,
                        .tolerance = work->options.tolerance,
                        .values = work->pca->values,
                        .vectors = vectors};
    if (packed)
        TRY(gram_operator_create_packed(context, work->kernel, (gram_points *)work->x, &plain));
    else
        TRY(gram_operator_create_free(context, work->kernel, (gram_points *)work->x, &plain));
    if (work->options.centre) {
        TRY(find_means(context, plain, means));
        TRY(gram_operator_create_centred(context, plain, &centred));
    }
    TRY(find_trace(work, plain, means));
    run.a = centred ? centred : plain;
    status = gram_leading_run(context, &run);
    if (status < 0) goto done;
    work->converged = status != GRAM_NOT_CONVERGED;
    work->pca->report.residual = run.residual;
    work->pca->report.products = run.columns;
    status = GRAM_OK;
done:
    gram_operator_release(centred);
    gram_operator_release(plain);
    return status;
}

/* Coefficients, constants and coordinates from vectors, which are centred to the last digit: that of the constant counts on it. */
static void make_function(gram_pca_work *work, double *vectors, const double *means)
{
    const int64_t n = work->pca->report.n, count = work->options.components;
    double all = 0;
    for (int64_t i = 0; i < n && work->options.centre; i++) all += means[i] / (double)n;
    for (int64_t s = 0; s < count; s++) {
        const double root = sqrt(work->pca->values[s]);
        double mean = 0, constant = 0;
        for (int64_t i = 0; i < n && work->options.centre; i++) mean += vectors[i * count + s] / (double)n;
        for (int64_t i = 0; i < n; i++) {
            const double v = vectors[i * count + s] - mean;
            work->coefficients[i * count + s] = v / root;
            work->pca->coordinates[i * count + s] = v * root;
            if (work->options.centre) constant -= v / root * (means[i] - all);
        }
        work->constant[s] = constant;
    }
}

gram_status gram_pca_by_matrix(gram_pca_work *work, const gram_pca_plan *plan)
{
    gram_status status = GRAM_OK;
    gram_context *context = work->context;
    const int64_t n = work->pca->report.n, count = work->options.components;
    double *means = NULL;
    TRY(gram_take(context, "pca_fit: coefficients", n * count, sizeof(double), (void **)&work->coefficients));
    TRY(gram_take(context, "pca_fit: means", n, sizeof *means, (void **)&means));
    TRY(plan->solver == GRAM_PCA_DENSE ? by_dense(work, work->coefficients, means)
                                       : by_products(work, plan->packed, work->coefficients, means));
    TRY(gram_pca_check_rank(work));
    if (!work->only_values) make_function(work, work->coefficients, means);
done:
    gram_give(context, means);
    return status;
}

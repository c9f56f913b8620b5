/* Symmetric eigenproblems: A = Q T Q' with T tridiagonal, then the eigenvalues of T, then vectors as far as asked for.
 *
 * tridiagonal.c makes T. Without vectors its eigenvalues come from dsterf (all of them, O(n^2)); with vectors from dstemr
 * (relatively robust representations, O(n) each), which are then multiplied by Q.
 *
 * Eigenvalues are counted from the largest by the caller, from the smallest by LAPACK.
 *
 * Measured (n = 2,000, two cores, OpenBLAS 0.3.21): 0.8 s for all eigenvalues and 2.7 s with all vectors, against 0.4 s
 * and 1.3 s of dsyevr on both cores, whose bits depend on their number. */
#include <cblas.h>
#include <math.h>

#include <gram/eigen.h>
#include <gram/text.h>

#include "base/lapack.h"
#include "base/sweep.h"
#include "solve/tridiagonal.h"

/* ---- eigenvalues and vectors of T ---- */

static gram_status find_values(gram_context *context, const gram_tridiagonal *t, int64_t first, int64_t count,
                               double *values)
{
    gram_status status = GRAM_OK;
    int info = 0;
    const int blas = gram_blas_enter();
    dsterf_(&t->n, t->d, t->e, &info);
    gram_blas_leave(blas);
    FAIL_IF(info != 0, context, GRAM_ERROR_NUMERICAL, "eigen_symmetric: %d eigenvalues did not converge", info);
    for (int64_t j = 0; j < count; j++) values[j] = t->d[t->n - 1 - first - j];
done:
    return status;
}

/* The largest entry of a vector is made positive: each has one sign. */
static void fix_sign(int64_t n, double *vector)
{
    int64_t largest = 0;
    for (int64_t i = 1; i < n; i++)
        if (fabs(vector[i]) > fabs(vector[largest])) largest = i;
    if (vector[largest] < 0)
        for (int64_t i = 0; i < n; i++) vector[i] = -vector[i];
}

/* From the smallest up, as LAPACK gives them, to from the largest down. */
static void reverse(int64_t n, int64_t count, double *values, double *vectors, int64_t ldv)
{
    const int blas = gram_blas_enter();
    for (int64_t j = 0; j < count / 2; j++) {
        const int64_t other = count - 1 - j;
        const double value = values[j];
        values[j] = values[other];
        values[other] = value;
        cblas_dswap((int)n, vectors + j * ldv, 1, vectors + other * ldv, 1);
    }
    gram_blas_leave(blas);
}

static gram_status find_vectors(gram_context *context, const gram_tridiagonal *t, int64_t first, int64_t count,
                                double *values, double *vectors, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const int n = t->n, il = (int)(n - first - count + 1), iu = (int)(n - first), wanted = (int)count, ldz = (int)ldv;
    const int lwork = 18 * n, liwork = 10 * n;
    const double none = 0;
    double *all = NULL, *work = NULL;
    int *iwork = NULL, *support = NULL, found = 0, try_accurate = 1, info = 0;
    TRY(gram_take(context, "eigen_symmetric: eigenvalues", n, sizeof(double), (void **)&all));
    TRY(gram_take(context, "eigen_symmetric: work", lwork, sizeof(double), (void **)&work));
    TRY(gram_take(context, "eigen_symmetric: work", liwork, sizeof(int), (void **)&iwork));
    TRY(gram_take(context, "eigen_symmetric: work", 2 * count, sizeof(int), (void **)&support));
    const int blas = gram_blas_enter();
    dstemr_("V", "I", &n, t->d, t->e, &none, &none, &il, &iu, &found, all, vectors, &ldz, &wanted, support,
            &try_accurate, work, &lwork, iwork, &liwork, &info, 1, 1);
    gram_blas_leave(blas);
    FAIL_IF(info != 0 || found != wanted, context, GRAM_ERROR_NUMERICAL,
            "eigen_symmetric: %d of %d eigenvectors were found (%d)", found, wanted, info);
    TRY(gram_tridiagonal_multiply(context, t, 0, count, vectors, ldv));
    for (int64_t j = 0; j < count; j++) {
        values[j] = all[j];
        fix_sign(n, vectors + j * ldv);
    }
    reverse(n, count, values, vectors, ldv);
done:
    gram_give(context, all);
    gram_give(context, work);
    gram_give(context, iwork);
    gram_give(context, support);
    return status;
}

/* ---- the whole ---- */

static gram_status check_finite(gram_context *context, int64_t n, const double *a, int64_t lda)
{
    gram_status status = GRAM_OK;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            char value[GRAM_NUMBER_SIZE];
            FAIL_IF(!isfinite(a[i * lda + j]), context, GRAM_ERROR_NUMERICAL,
                    "eigen_symmetric: a[%lld][%lld] is %s; every entry must be finite", (long long)i, (long long)j,
                    gram_number_format(a[i * lda + j], value));
        }
done:
    return status;
}

static gram_status check(gram_context *context, int64_t n, const double *a, int64_t lda, int64_t first, int64_t count,
                         const double *values, const double *vectors, int64_t ldv)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!a, context, GRAM_ERROR_ARGUMENT, "eigen_symmetric: a is NULL");
    FAIL_IF(!values, context, GRAM_ERROR_ARGUMENT, "eigen_symmetric: values is NULL");
    FAIL_IF(n < 1, context, GRAM_ERROR_ARGUMENT, "eigen_symmetric: n = %lld, need at least 1", (long long)n);
    FAIL_IF(lda < n, context, GRAM_ERROR_ARGUMENT, "eigen_symmetric: lda = %lld is less than n = %lld", (long long)lda,
            (long long)n);
    FAIL_IF(vectors && ldv < n, context, GRAM_ERROR_ARGUMENT, "eigen_symmetric: ldv = %lld is less than n = %lld",
            (long long)ldv, (long long)n);
    FAIL_IF(first < 0 || count < 1 || first > n - count, context, GRAM_ERROR_ARGUMENT,
            "eigen_symmetric: first = %lld and count = %lld are not within the %lld eigenvalues", (long long)first,
            (long long)count, (long long)n);
    FAIL_IF(n > GRAM_TRIDIAGONAL_MOST || lda > INT32_MAX || (vectors && ldv > INT32_MAX), context, GRAM_ERROR_OVERFLOW,
            "eigen_symmetric: n = %lld with lda = %lld is more than LAPACK can count", (long long)n, (long long)lda);
    TRY(check_finite(context, n, a, lda));
done:
    return status;
}

/* One of the two pairs of a 2 x 2 matrix. dstemr counts those by absolute value (seen in OpenBLAS 0.3.21), so that both
 * are asked for. */
static gram_status one_of_two(gram_context *context, double *a, int64_t lda, int64_t which, double *value,
                              double *vector)
{
    double values[2], vectors[4];
    const gram_status status = gram_eigen_symmetric(context, 2, a, lda, 0, 2, values, vectors, 2);
    if (status < 0) return status;
    *value = values[which];
    vector[0] = vectors[2 * which];
    vector[1] = vectors[2 * which + 1];
    return status;
}

gram_status gram_eigen_symmetric(gram_context *context, int64_t n, double *a, int64_t lda, int64_t first, int64_t count,
                                 double *values, double *vectors, int64_t ldv)
{
    gram_status status = GRAM_OK;
    gram_tridiagonal t = {.a = a, .n = (int)n, .lda = (int)lda};
    double *room = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(check(context, n, a, lda, first, count, values, vectors, ldv));
    if (n == 2 && count == 1 && vectors) return one_of_two(context, a, lda, first, values, vectors);
    TRY(gram_take(context, "eigen_symmetric", 3 * n, sizeof(double), (void **)&room));
    t.d = room;
    t.e = t.d + n;
    t.tau = t.e + n;
    TRY(gram_tridiagonal_reduce(context, "eigenvalues", &t));
    if (vectors)
        TRY(find_vectors(context, &t, first, count, values, vectors, ldv));
    else
        TRY(find_values(context, &t, first, count, values));
done:
    gram_give(context, room);
    return status;
}

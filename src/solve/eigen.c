/* Symmetric eigenproblems: A = Q T Q' with T tridiagonal, then the eigenvalues of T, then vectors as far as asked for.
 *
 * Tridiagonalisation is LAPACK's blocked algorithm (Dongarra, Hammarling and Sorensen, 1989) with the loop over panels
 * here instead of in dsytrd, so that work can be watched and stopped: dlatrd reduces PANEL columns, a rank-2 update
 * applies them to the rest. Half of the 4/3 n^3 operations are products of the matrix with a vector, bound by memory.
 * Without vectors the eigenvalues of T come from dsterf (all of them, O(n^2)); with vectors from dstemr (relatively
 * robust representations, O(n) each), and dormtr multiplies by Q.
 *
 * A row-major lower triangle is the upper one of LAPACK's columns: hence "U" everywhere. Eigenvalues are counted from
 * the largest by the caller, from the smallest by LAPACK.
 *
 * Measured (n = 2,000, two cores, OpenBLAS 0.3.21): 0.8 s for all eigenvalues and 2.7 s with all vectors, against 0.4 s
 * and 1.3 s of dsyevr on both cores, whose bits depend on their number. */
#include <cblas.h>
#include <math.h>

#include <gram/eigen.h>
#include <gram/text.h>

#include "../base/sweep.h"

/* LAPACK, whose header does not come with every OpenBLAS. The last arguments are the lengths of the texts. */
void dlatrd_(const char *uplo, const int *n, const int *nb, double *a, const int *lda, double *e, double *tau,
             double *w, const int *ldw, size_t uplo_length);
void dsytd2_(const char *uplo, const int *n, double *a, const int *lda, double *d, double *e, double *tau, int *info,
             size_t uplo_length);
void dsterf_(const int *n, double *d, double *e, int *info);
void dstemr_(const char *jobz, const char *range, const int *n, double *d, double *e, const double *vl,
             const double *vu, const int *il, const int *iu, int *m, double *w, double *z, const int *ldz,
             const int *nzc, int *isuppz, int *tryrac, double *work, const int *lwork, int *iwork, const int *liwork,
             int *info, size_t jobz_length, size_t range_length);
void dormtr_(const char *side, const char *uplo, const char *trans, const int *m, const int *n, const double *a,
             const int *lda, const double *tau, double *c, const int *ldc, double *work, const int *lwork, int *info,
             size_t side_length, size_t uplo_length, size_t trans_length);

enum {
    PANEL = 32,         /* columns reduced at a time */
    VECTOR_BLOCK = 64,  /* numbers of work for each row in dormtr */
    LEAST_BLOCKED = 64, /* smaller matrices are reduced column by column */
    MAX_SIZE = (1 << 30) / VECTOR_BLOCK
};

typedef struct reduction {
    double *a;
    int n, lda;
    double *d, *e, *tau; /* n numbers each: diagonal, off-diagonal, reflectors */
    double *w;           /* n x PANEL */
} reduction;

/* ---- A = Q T Q' ---- */

static int panel_count(int n)
{
    return n < LEAST_BLOCKED ? 0 : (n - LEAST_BLOCKED) / PANEL + 1;
}

/* Reduces the last columns of the leading n - round * PANEL ones and applies that to those before them. */
static gram_status reduce_panel(void *argument, const gram_worker *worker)
{
    const reduction *r = argument;
    const int size = r->n - (int)worker->round * PANEL, rest = size - PANEL, panel = PANEL;
    double *columns = r->a + (int64_t)rest * r->lda;
    dlatrd_("U", &size, &panel, r->a, &r->lda, r->e, r->tau, r->w, &r->n, 1);
    cblas_dsyr2k(CblasColMajor, CblasUpper, CblasNoTrans, rest, PANEL, -1, columns, r->lda, r->w, r->n, 1, r->a,
                 r->lda);
    for (int j = rest; j < size; j++) { /* dlatrd left 1 in the place of the off-diagonal */
        r->a[(int64_t)j * r->lda + j - 1] = r->e[j - 1];
        r->d[j] = r->a[(int64_t)j * r->lda + j];
    }
    return GRAM_OK;
}

static gram_status reduce(gram_context *context, reduction *r)
{
    gram_status status = GRAM_OK;
    const int panels = panel_count(r->n), rest = r->n - panels * PANEL;
    int info = 0;
    const gram_sweep sweep = {
        .what = "eigenvalues", .tasks = 1, .rounds = panels, .run = reduce_panel, .argument = r, .share_after = 0.99};
    if (panels > 0) TRY(gram_sweep_run(context, &sweep));
    gram_blas_enter();
    dsytd2_("U", &rest, r->a, &r->lda, r->d, r->e, r->tau, &info, 1);
    gram_blas_leave();
    FAIL_IF(info != 0, context, GRAM_ERROR_INTERNAL, "eigen_symmetric: dsytd2 gave %d", info);
done:
    return status;
}

/* ---- eigenvalues and vectors of T ---- */

static gram_status find_values(gram_context *context, const reduction *r, int64_t first, int64_t count, double *values)
{
    gram_status status = GRAM_OK;
    int info = 0;
    dsterf_(&r->n, r->d, r->e, &info);
    FAIL_IF(info != 0, context, GRAM_ERROR_NUMERICAL, "eigen_symmetric: %d eigenvalues did not converge", info);
    for (int64_t j = 0; j < count; j++) values[j] = r->d[r->n - 1 - first - j];
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
    for (int64_t j = 0; j < count / 2; j++) {
        const int64_t other = count - 1 - j;
        const double value = values[j];
        values[j] = values[other];
        values[other] = value;
        cblas_dswap((int)n, vectors + j * ldv, 1, vectors + other * ldv, 1);
    }
}

static gram_status find_vectors(gram_context *context, const reduction *r, int64_t first, int64_t count, double *values,
                                double *vectors, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const int n = r->n, il = (int)(n - first - count + 1), iu = (int)(n - first), wanted = (int)count, ldz = (int)ldv;
    const int lwork = 18 * n, liwork = 10 * n, lblock = VECTOR_BLOCK * n;
    const double none = 0;
    double *all = NULL, *work = NULL, *block = NULL;
    int *iwork = NULL, *support = NULL, found = 0, try_accurate = 1, info = 0;
    TRY(gram_take(context, "eigen_symmetric: eigenvalues", n, sizeof(double), (void **)&all));
    TRY(gram_take(context, "eigen_symmetric: work", lwork, sizeof(double), (void **)&work));
    TRY(gram_take(context, "eigen_symmetric: work", liwork, sizeof(int), (void **)&iwork));
    TRY(gram_take(context, "eigen_symmetric: work", 2 * count, sizeof(int), (void **)&support));
    TRY(gram_take(context, "eigen_symmetric: work", lblock, sizeof(double), (void **)&block));
    gram_blas_enter();
    dstemr_("V", "I", &n, r->d, r->e, &none, &none, &il, &iu, &found, all, vectors, &ldz, &wanted, support,
            &try_accurate, work, &lwork, iwork, &liwork, &info, 1, 1);
    if (info == 0 && found == wanted)
        dormtr_("L", "U", "N", &n, &wanted, r->a, &r->lda, r->tau, vectors, &ldz, block, &lblock, &info, 1, 1, 1);
    gram_blas_leave();
    FAIL_IF(info != 0 || found != wanted, context, GRAM_ERROR_NUMERICAL,
            "eigen_symmetric: %d of %d eigenvectors were found (%d)", found, wanted, info);
    for (int64_t j = 0; j < count; j++) {
        values[j] = all[j];
        fix_sign(n, vectors + j * ldv);
    }
    reverse(n, count, values, vectors, ldv);
done:
    gram_give(context, all, n, sizeof(double));
    gram_give(context, work, lwork, sizeof(double));
    gram_give(context, iwork, liwork, sizeof(int));
    gram_give(context, support, 2 * count, sizeof(int));
    gram_give(context, block, lblock, sizeof(double));
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
    FAIL_IF(n > MAX_SIZE || lda > INT32_MAX || (vectors && ldv > INT32_MAX), context, GRAM_ERROR_OVERFLOW,
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
    reduction r = {.a = a, .n = (int)n, .lda = (int)lda};
    double *room = NULL;
    const int64_t numbers = n * (3 + PANEL);
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(check(context, n, a, lda, first, count, values, vectors, ldv));
    if (n == 2 && count == 1 && vectors) return one_of_two(context, a, lda, first, values, vectors);
    TRY(gram_take(context, "eigen_symmetric", numbers, sizeof(double), (void **)&room));
    r.d = room;
    r.e = r.d + n;
    r.tau = r.e + n;
    r.w = r.tau + n;
    TRY(reduce(context, &r));
    if (vectors)
        TRY(find_vectors(context, &r, first, count, values, vectors, ldv));
    else
        TRY(find_values(context, &r, first, count, values));
done:
    gram_give(context, room, numbers, sizeof(double));
    return status;
}

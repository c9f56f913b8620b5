/* Orthonormal columns come from the eigenvalues of B'B (Stathopoulos and Wu, SIAM J. Sci. Comput. 23, 2002): B U S^-1/2 with
 * B'B = U S U'. Eigenvalues below rounding are lifted to it, so that one pass leaves a better conditioned B behind, and a few
 * passes, each after a projection away from Q, leave an orthonormal one. All of it is matrix products. */
#include "solve/eigen/tall_matrix.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "base/lapack.h"
#include "base/sweep.h"

enum { CHUNK = 512, MOST_CHUNKS = 64, STRIP = 96, PASSES = 8, RANDOM_STREAM = 0x74616C6C };

static int64_t chunk_of(int64_t n)
{
    const int64_t even = (n + MOST_CHUNKS - 1) / MOST_CHUNKS;
    return even < CHUNK ? CHUNK : even;
}

static int64_t chunks_of(int64_t n)
{
    return (n + chunk_of(n) - 1) / chunk_of(n);
}

typedef struct product {
    gram_tall a, b;
    const double *c;
    int64_t ldc, count;
    double factor, *parts;
} product;

static int64_t rows_of(const product *p, int64_t task)
{
    const int64_t left = p->a.n - task * chunk_of(p->a.n);
    return left < chunk_of(p->a.n) ? left : chunk_of(p->a.n);
}

static double *row_at(const gram_tall *t, int64_t task)
{
    return t->data + task * chunk_of(t->n) * t->ld;
}

/* ---- products ---- */

static gram_status inner_task(void *argument, const gram_worker *worker)
{
    const product *p = argument;
    const int64_t task = worker->task;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)p->a.columns, (int)p->b.columns, (int)rows_of(p, task), 1,
                row_at(&p->a, task), (int)p->a.ld, row_at(&p->b, task), (int)p->b.ld, 0,
                p->parts + task * p->a.columns * p->b.columns, (int)p->b.columns);
    return GRAM_OK;
}

/* Some columns of A with all of B, along all rows. */
static gram_status strip_task(void *argument, const gram_worker *worker)
{
    const product *p = argument;
    const int64_t first = worker->task * STRIP, left = p->a.columns - first;
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)(left < STRIP ? left : STRIP), (int)p->b.columns,
                (int)p->a.n, 1, p->a.data + first, (int)p->a.ld, p->b.data, (int)p->b.ld, 0, p->parts + first * p->ldc,
                (int)p->ldc);
    return GRAM_OK;
}

/* Parts of the sums would be larger than the matrices. */
static gram_status inner_by_strips(gram_context *context, product *p)
{
    const gram_sweep sweep = {
        .what = "inner products", .tasks = (p->a.columns + STRIP - 1) / STRIP, .run = strip_task, .argument = p};
    return gram_sweep_run(context, &sweep);
}

gram_status gram_tall_inner(gram_context *context, gram_tall a, gram_tall b, double *c, int64_t ldc)
{
    gram_status status = GRAM_OK;
    product p = {.a = a, .b = b};
    const int64_t chunks = chunks_of(a.n), size = a.columns * b.columns;
    const gram_sweep sweep = {.what = "inner products", .tasks = chunks, .run = inner_task, .argument = &p};
    if (size == 0) return GRAM_OK;
    if (a.columns >= 2 * STRIP) return inner_by_strips(context, &(product){.a = a, .b = b, .ldc = ldc, .parts = c});
    TRY(gram_take(context, "inner products", chunks * size, sizeof *p.parts, (void **)&p.parts));
    TRY(gram_sweep_run(context, &sweep));
    for (int64_t i = 0; i < a.columns; i++)
        for (int64_t j = 0; j < b.columns; j++) {
            double sum = 0;
            for (int64_t t = 0; t < chunks; t++) sum += p.parts[t * size + i * b.columns + j];
            c[i * ldc + j] = sum;
        }
done:
    gram_give(context, p.parts);
    return status;
}

static gram_status add_task(void *argument, const gram_worker *worker)
{
    const product *p = argument;
    const int64_t task = worker->task;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows_of(p, task), (int)p->b.columns, (int)p->a.columns,
                p->factor, row_at(&p->a, task), (int)p->a.ld, p->c, (int)p->ldc, 1, row_at(&p->b, task), (int)p->b.ld);
    return GRAM_OK;
}

gram_status gram_tall_add(gram_context *context, gram_tall a, double factor, const double *c, int64_t ldc, gram_tall b)
{
    product p = {.a = a, .b = b, .c = c, .ldc = ldc, .factor = factor};
    const gram_sweep sweep = {.what = "projection", .tasks = chunks_of(a.n), .run = add_task, .argument = &p};
    return a.columns == 0 ? GRAM_OK : gram_sweep_run(context, &sweep);
}

static gram_status turn_task(void *argument, const gram_worker *worker)
{
    const product *p = argument;
    const int64_t rows = rows_of(p, worker->task), count = p->count;
    double *at = row_at(&p->a, worker->task), *turned = worker->scratch;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)count, (int)p->a.columns, 1, at,
                (int)p->a.ld, p->c, (int)p->ldc, 0, turned, (int)count);
    for (int64_t i = 0; i < rows; i++) memcpy(at + i * p->a.ld, turned + i * count, (size_t)count * sizeof *turned);
    return GRAM_OK;
}

gram_status gram_tall_turn(gram_context *context, gram_tall a, const double *c, int64_t ldc, int64_t count)
{
    product p = {.a = a, .c = c, .ldc = ldc, .count = count};
    const gram_sweep sweep = {.what = "rotation",
                              .tasks = chunks_of(a.n),
                              .scratch_bytes = (size_t)(chunk_of(a.n) * count) * sizeof(double),
                              .run = turn_task,
                              .argument = &p};
    return gram_sweep_run(context, &sweep);
}

/* ---- small eigenproblems ---- */

gram_status gram_tall_eigen(gram_context *context, int64_t m, double *a, int64_t lda, double *values)
{
    gram_status status = GRAM_OK;
    const int order = (int)m, ld = (int)lda, lwork = (int)(64 * m + 64);
    double *work = NULL;
    int info = 0;
    TRY(gram_take(context, "eigenvalues", lwork, sizeof *work, (void **)&work));
    for (int64_t i = 0; i < m; i++) /* those of -A ascend */
        for (int64_t j = 0; j < m; j++) a[i * lda + j] = -a[i * lda + j];
    const int blas = gram_blas_enter();
    dsyev_("V", "U", &order, a, &ld, values, work, &lwork, &info, 1, 1);
    gram_blas_leave(blas);
    FAIL_IF(info != 0, context, GRAM_ERROR_NUMERICAL, "eigenvalues of a matrix of order %d were not found (%d)", order,
            info);
    for (int64_t i = 0; i < m; i++) {
        values[i] = -values[i];
        for (int64_t j = 0; j < i; j++) { /* LAPACK's columns are our rows */
            const double other = a[i * lda + j];
            a[i * lda + j] = a[j * lda + i];
            a[j * lda + i] = other;
        }
    }
done:
    gram_give(context, work);
    return status;
}

/* ---- orthonormal columns ---- */

/* Columns that are nothing beside the longest, or beside what they were, get random numbers instead. */
static void replace_lost(const gram_context *context, int64_t known, gram_tall b, const double *squares, int pass)
{
    double longest = 0;
    for (int64_t j = 0; j < b.columns; j++) longest = fmax(longest, squares[j]);
    for (int64_t j = 0; j < b.columns; j++) {
        if (squares[j] > 1e-60 * longest) continue;
        const gram_random random = {context->seed, RANDOM_STREAM + (uint64_t)((known + j) * PASSES + pass)};
        for (int64_t i = 0; i < b.n; i++) gram_random_normal(random, (uint64_t)i, 1, &b.data[i * b.ld + j]);
    }
}

/* B'B with unit diagonal becomes U S^-1/2, after a scaling of the columns; returns the least of S over the largest. */
static gram_status whiten(gram_context *context, int64_t m, double *g, double *work, double *condition)
{
    gram_status status = GRAM_OK;
    double *scale = work, *values = work + m;
    for (int64_t j = 0; j < m; j++) scale[j] = g[j * m + j] > 0 ? 1 / sqrt(g[j * m + j]) : 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) g[i * m + j] *= scale[i] * scale[j];
    TRY(gram_tall_eigen(context, m, g, m, values));
    const double floor = values[0] * 1e-15 * (double)m;
    *condition = values[m - 1] / values[0];
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) g[i * m + j] *= scale[i] / sqrt(fmax(values[j], floor));
done:
    return status;
}

/* One pass: away from Q, then along the eigenvectors of B'B. */
static gram_status pass_once(gram_context *context, gram_tall q, gram_tall b, int pass, double *h, double *g,
                             double *condition)
{
    gram_status status = GRAM_OK;
    const int64_t m = b.columns;
    double *squares = g + m * m, *work = squares + m;
    TRY(gram_tall_inner(context, q, b, h, m));
    TRY(gram_tall_add(context, q, -1, h, m, b));
    TRY(gram_tall_inner(context, b, b, g, m));
    for (int64_t j = 0; j < m; j++) squares[j] = g[j * m + j];
    double least = INFINITY, longest = 0;
    for (int64_t j = 0; j < m; j++) {
        least = fmin(least, squares[j]);
        longest = fmax(longest, squares[j]);
    }
    *condition = 0;
    if (!(least > 1e-60 * longest)) { /* and once more, with what took their place */
        replace_lost(context, q.columns, b, squares, pass);
        return GRAM_OK;
    }
    TRY(whiten(context, m, g, work, condition));
    TRY(gram_tall_turn(context, b, g, m, m));
done:
    return status;
}

gram_status gram_tall_orthonormalise(gram_context *context, gram_tall q, gram_tall b)
{
    gram_status status = GRAM_OK;
    const int64_t m = b.columns;
    double *room = NULL, condition = 0;
    TRY(gram_take(context, "orthonormal columns", q.columns * m + m * m + 3 * m, sizeof *room, (void **)&room));
    for (int pass = 0; pass < PASSES && condition < 0.5; pass++)
        TRY(pass_once(context, q, b, pass, room, room + q.columns * m, &condition));
    FAIL_IF(condition < 0.5, context, GRAM_ERROR_NUMERICAL, "no %lld orthonormal columns were found", (long long)m);
done:
    gram_give(context, room);
    return status;
}

/* Leave-one-out and generalised cross-validation: both know P by its diagonal only, and differ in u and v (ridge_criterion.c).
 *
 * Their gradient needs W = P diag(v) P + thin, the dearest product of tuning, n^3 operations: one triangle of it, by tiles,
 * as B B' with B = P diag(v)^(1/2). */
#include <cblas.h>
#include <math.h>

#include "solve/small_system.h"
#include "tune/ridge_criterion_work.h"

/* Wide tiles are packed less often by BLAS, more tiles keep more threads busy: at least 10 of them. */
enum { SMALL_TILE = 128, MEDIUM_TILE = 256, LARGE_TILE = 384, MEDIUM = 600, LARGE = 1500 };

/* E, with u = -dE/da and -v = dE/d(diag P), as the formulas on top have them */
static double leave_one_out(gram_criterion_work *k)
{
    const int64_t m = k->m;
    const double scale = 1 / (k->sample->total * (double)m);
    double value = 0;
    for (int64_t i = 0; i < k->n; i++) {
        const double p = k->diagonal[i], weight = scale * k->sample->weights[i];
        double squares = 0;
        for (int64_t j = 0; j < m; j++) {
            const double residual = k->a[i * m + j] / p;
            squares += residual * residual;
            k->u[i * m + j] = 2 * weight * residual / p;
        }
        value += weight * squares;
        k->v[i] = 2 * weight * squares / p;
    }
    return value;
}

static double generalised(gram_criterion_work *k)
{
    const int64_t n = k->n, m = k->m;
    const double *weights = k->sample->weights, scale = (double)n * (double)n / (k->sample->total * (double)m);
    double squares = 0, trace = 0;
    for (int64_t i = 0; i < n; i++) {
        trace += k->diagonal[i] / weights[i];
        for (int64_t j = 0; j < m; j++) squares += k->a[i * m + j] * (k->a[i * m + j] / weights[i]);
    }
    for (int64_t i = 0; i < n; i++) {
        const double factor = 2 * scale / (weights[i] * trace * trace);
        for (int64_t j = 0; j < m; j++) k->u[i * m + j] = factor * k->a[i * m + j];
        k->v[i] = factor * (squares / trace);
    }
    return scale * squares / (trace * trace);
}

/* The diagonal of P. What is not above 0 was lost to rounding. */
static gram_status find_diagonal(gram_context *context, gram_criterion_work *k, const gram_cholesky *inverse)
{
    gram_status status = GRAM_OK;
    const int64_t q = k->q;
    TRY(gram_cholesky_inverse_diagonal(context, inverse, k->diagonal));
    for (int64_t i = 0; i < k->n; i++) {
        double *factor = k->rhs + i * (k->m + q); /* which is of no use any more */
        for (int64_t l = 0; l < q; l++) factor[l] = k->c[i * q + l];
        gram_small_solve(q, k->small, factor, 1);
        for (int64_t l = 0; l < q; l++) k->diagonal[i] -= k->c[i * q + l] * factor[l];
        FAIL_IF(!(k->diagonal[i] > 0), context, GRAM_ERROR_NUMERICAL,
                "tuning: the leave-one-out variance of row %lld was lost to rounding", (long long)i);
    }
done:
    return status;
}

/* For some rows: P; thin factors [a, P u] and [-P u, -a]/2; then P diag(v)^(1/2) in place of P. */
static gram_status prepare_rows(void *argument, const gram_worker *worker)
{
    gram_criterion_work *k = argument;
    const int64_t n = k->n, m = k->m, from = gram_criterion_first(worker), to = gram_criterion_end(k, worker);
    gram_criterion_subtract_unpenalised(k, from, to);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)(to - from), (int)m, (int)n, 1, k->p + from * n, (int)n,
                k->u, (int)m, 0, k->left + from * 2 * m + m, (int)(2 * m));
    for (int64_t i = from; i < to; i++) {
        double *left = k->left + i * 2 * m, *right = k->right + i * 2 * m, *row = k->p + i * n;
        for (int64_t j = 0; j < m; j++) {
            left[j] = k->a[i * m + j];
            right[j] = -0.5 * left[m + j];
            right[m + j] = -0.5 * left[j];
        }
        for (int64_t j = 0; j < n; j++) row[j] *= k->v[j];
    }
    return GRAM_OK;
}

static int64_t at_most(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t tile_of(int64_t n)
{
    if (n < MEDIUM) return SMALL_TILE;
    return n < LARGE ? MEDIUM_TILE : LARGE_TILE;
}

/* On the diagonal: half of the operations. */
static void make_diagonal_tile(const gram_criterion_work *k, int64_t from, int rows)
{
    const int64_t n = k->n;
    const double *b = k->p + from * n, *left = k->left + from * k->rank, *right = k->right + from * k->rank;
    double *out = k->w + from * n + from;
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, rows, (int)n, 1, b, (int)n, 0, out, (int)n);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j <= i; j++) {
            out[i * n + j] += cblas_ddot((int)k->rank, left + i * k->rank, 1, right + j * k->rank, 1);
            out[j * n + i] = out[i * n + j];
        }
}

/* Tile (row, column), row >= column, of W = B B' + left right', B = P diag(v)^(1/2), and its mirror image */
static void make_tile(const gram_criterion_work *k, int64_t row, int64_t column)
{
    const int64_t n = k->n, tile = tile_of(n), i0 = row * tile, j0 = column * tile;
    const int rows = (int)at_most(tile, n - i0), columns = (int)at_most(tile, n - j0), ld = (int)n;
    double *out = k->w + i0 * n + j0;
    if (row == column) {
        make_diagonal_tile(k, i0, rows);
        return;
    }
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, columns, ld, 1, k->p + i0 * n, ld, k->p + j0 * n, ld, 0,
                out, ld);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, columns, (int)k->rank, 1, k->left + i0 * k->rank,
                (int)k->rank, k->right + j0 * k->rank, (int)k->rank, 1, out, ld);
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++) k->w[(j0 + j) * n + i0 + i] = out[i * n + j];
}

/* Tiles are counted row by row of the lower triangle. */
static gram_status make_tiles(void *argument, const gram_worker *worker)
{
    int64_t row = 0;
    while ((row + 1) * (row + 2) / 2 <= worker->task) row++;
    make_tile(argument, row, worker->task - row * (row + 1) / 2);
    return GRAM_OK;
}

static gram_status differentiate(gram_context *context, gram_criterion_work *k, const gram_cholesky *inverse,
                                 const gram_kernel *kernel, const gram_criterion_slopes *slopes)
{
    gram_status status = GRAM_OK;
    const int64_t n = k->n, tiles = (n + tile_of(n) - 1) / tile_of(n);
    const gram_sweep sweep = {.what = "tuning", .tasks = tiles * (tiles + 1) / 2, .run = make_tiles, .argument = k};
    const int wanted = slopes->gradient && gram_kernel_parameter_count(kernel) > 0;
    for (int64_t i = 0; i < n; i++) k->v[i] = sqrt(k->v[i]);
    TRY(gram_cholesky_inverse_matrix(context, inverse, k->p, n));
    TRY(gram_criterion_sweep(context, k, prepare_rows));
    if (wanted) TRY(gram_sweep_run(context, &sweep));
    *slopes->noise = gram_criterion_noise_slope(k, wanted ? k->w : NULL, 1);
    if (wanted) TRY(gram_criterion_contract(context, k, kernel, k->w, slopes->gradient));
done:
    return status;
}

gram_status gram_criterion_by_diagonal(gram_context *context, gram_criterion_work *k, gram_cholesky *factor,
                                       const gram_kernel *kernel, const gram_criterion_slopes *slopes, double *value)
{
    gram_status status = GRAM_OK;
    TRY(gram_cholesky_invert(context, factor));
    TRY(find_diagonal(context, k, factor));
    *value = k->rule.kind == GRAM_CRITERION_LOO ? leave_one_out(k) : generalised(k);
    if (slopes->noise) TRY(differentiate(context, k, factor, kernel, slopes));
done:
    return status;
}

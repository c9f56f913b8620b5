/* The normal equations. With T eliminated, G = Phi~'W Phi~ and g = Phi~'W y~ (Phi~ = Phi - T (T'W T)^-1 T'W Phi), c = (G + ridge)^-1 g.
 *
 * For landmarks phi = L^-1 k_P. Products of kernel columns instead, G = L^-1 (K_P'W K_P) L^-T, spare the triangular solve for each row, half
 * of all operations. Rounding errors of K_P'K_P, some eps n/p |K_PP|^2, are enlarged by |L^-1|^2 = 1/least eigenvalue of K_PP then; where that
 * stays below LOST of the ridge, the factor is good enough to repair the solution by residuals that are made matrix-free, and else
 * features are made row by row. */
#include "features/feature_ridge.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include <gram/matrix.h>
#include <gram/random.h>

#include "base/lapack.h"
#include "base/ranks/collective.h"
#include "base/sweep.h"
#include "features/equations/feature_products.h"
#include "points/points.h"
#include "solve/small_system.h"

enum { CHUNK = 4096, SLICE = 1 << 14, BLOCK = 256, POWERS = 8, MOST_PASSES = 6 };

static const double LOST = 0.01;      /* of the ridge, by rounding: what a factor for repairs may have */
static const double REPAIRED = 1e-10; /* residual at which it ends */
static const uint64_t STREAM = 0x726964676575U;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- rows ---- */

typedef struct triangle {
    int64_t p, rows, ldx;
    const double *factor;
    double *x;
} triangle;

static gram_status triangle_task(void *argument, const gram_worker *worker)
{
    const triangle *t = argument;
    const int64_t from = worker->task * BLOCK, rows = least(BLOCK, t->rows - from);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)rows, (int)t->p, 1, t->factor,
                (int)t->p, t->x + from * t->ldx, (int)t->ldx);
    return GRAM_OK;
}

gram_status gram_triangle_rows(gram_context *context, int64_t p, const double *factor, int64_t rows, double *x,
                               int64_t ldx)
{
    triangle job = {p, rows, ldx, factor, x};
    const gram_sweep sweep = {
        .what = "features", .tasks = (rows + BLOCK - 1) / BLOCK, .run = triangle_task, .argument = &job};
    return gram_sweep_run(context, &sweep);
}

/* As many as the last level of the cache may keep until they are used: some 8 MB. */
int64_t gram_feature_chunk_rows(int64_t ld)
{
    const int64_t fitting = ((1 << 20) / ld + BLOCK - 1) / BLOCK * BLOCK;
    return fitting < 2 * BLOCK ? 2 * BLOCK : least(fitting, CHUNK);
}

/* Chunks that all ranks have some of; whole blocks, so that results by blocks are those of one process. */
static int64_t chunk_of(int64_t n, int64_t ranks, int64_t ld)
{
    const int64_t each = (n + ranks - 1) / ranks, blocks = (each + BLOCK - 1) / BLOCK;
    return least(gram_feature_chunk_rows(ld), blocks * BLOCK);
}

gram_status gram_feature_chunks(gram_context *context, const gram_features *map, const gram_points *x, int raw,
                                int64_t ld, gram_feature_chunk_fn run, void *argument)
{
    gram_status status = GRAM_OK;
    const int64_t ranks = gram_ranks_share(context, x->n) ? gram_ranks(context) : 1;
    const int64_t chunk = ranks > 1 ? chunk_of(x->n, ranks, ld) : gram_feature_chunk_rows(ld);
    double *features = NULL;
    TRY(gram_take(context, "features", least(x->n, chunk) * ld, sizeof *features, (void **)&features));
    if (ranks > 1) gram_ranks_part_ways(context);
    for (int64_t k = ranks > 1 ? gram_rank(context) : 0; k * chunk < x->n && status >= 0; k += ranks) {
        const int64_t first = k * chunk, rows = least(chunk, x->n - first);
        status = (raw ? map->type->raw : map->type->transform)(context, map, rows, x->f64 + first * x->ld, x->ld,
                                                               features, ld);
        if (status >= 0) status = run(context, argument, first, rows, features, ld);
    }
    if (ranks > 1) {
        gram_ranks_join(context);
        TRY(gram_ranks_agree(context, status));
        gram_ranks_note(context, "features", (double)x->n * (double)ld * (double)ld / (double)ranks);
    }
done:
    gram_give(context, features);
    return status;
}

/* ---- products ---- */

typedef struct sums {
    gram_feature_ridge *r;
    int64_t first, rows;
    double *features;
    double *each; /* |phi|^2 of the rows of a chunk, unweighted, */
    double seen;  /* and the sum of all */
} sums;

/* The columns beside the features, and the root of the weight. */
static gram_status beside_task(void *argument, const gram_worker *worker)
{
    sums *s = argument;
    const gram_feature_ridge *r = s->r;
    const gram_problem *problem = r->problem;
    const int64_t from = worker->task * BLOCK, to = least(from + BLOCK, s->rows);
    for (int64_t k = from; k < to; k++) {
        double *row = s->features + k * r->width;
        const int64_t i = s->first + k;
        s->each[k] = r->raw ? 0 : cblas_ddot((int)r->p, row, 1, row, 1);
        if (r->q > 0) memcpy(row + r->p, problem->t + i * r->q, (size_t)r->q * sizeof *row);
        memcpy(row + r->p + r->q, problem->y + i * r->m, (size_t)r->m * sizeof *row);
        if (problem->weights) cblas_dscal((int)r->width, sqrt(problem->weights[i]), row, 1);
    }
    return GRAM_OK;
}

static gram_status add_chunk(gram_context *context, void *argument, int64_t first, int64_t rows, double *features,
                             int64_t ld)
{
    gram_status status = GRAM_OK;
    sums *s = argument;
    const double n = (double)s->r->problem->n;
    const gram_product_rows made = {.rows = rows,
                                    .width = ld,
                                    .f64 = features,
                                    .share_done = (double)first / n,
                                    .share = (double)(first + rows) / n};
    s->first = first, s->rows = rows, s->features = features;
    const gram_sweep sweep = {
        .what = "features", .tasks = (rows + BLOCK - 1) / BLOCK, .run = beside_task, .argument = s};
    TRY(gram_sweep_run(context, &sweep));
    for (int64_t k = 0; k < rows; k++) s->seen += s->each[k];
    TRY(gram_feature_products(context, &made, s->r->products));
done:
    return status;
}

static void mirror(int64_t n, double *a, int64_t ld)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) a[j * ld + i] = a[i * ld + j];
}

static void transpose(int64_t n, double *a, int64_t ld)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) {
            const double kept = a[j * ld + i];
            a[j * ld + i] = a[i * ld + j];
            a[i * ld + j] = kept;
        }
}

/* From products of kernel columns to those of features: [G; C] L^-T, and for G once more from the other side. */
static gram_status turn_products(gram_context *context, gram_feature_ridge *r)
{
    gram_status status = GRAM_OK;
    const double *l = gram_feature_factor(r->map);
    double sum = 0;
    TRY(gram_triangle_rows(context, r->p, l, r->width, r->products, r->width));
    transpose(r->p, r->products, r->width);
    TRY(gram_triangle_rows(context, r->p, l, r->p, r->products, r->width));
    for (int64_t i = 0; i < r->p; i++) { /* the two halves differ by rounding */
        for (int64_t j = 0; j < i; j++) {
            const double mean = (r->products[i * r->width + j] + r->products[j * r->width + i]) / 2;
            r->products[i * r->width + j] = r->products[j * r->width + i] = mean;
        }
        sum += r->products[i * r->width + i];
    }
    r->missed = fmax(r->trace - sum, 0);
done:
    return status;
}

/* Takes off what T explains: of G, of g (the rows of y) and of y'y. */
static void eliminate(gram_feature_ridge *r)
{
    const int64_t p = r->p, q = r->q, m = r->m, width = r->width;
    double *at = r->products;
    for (int64_t j = 0; j < q; j++) {
        for (int64_t k = 0; k <= j; k++) r->small[j * q + k] = at[(p + j) * width + p + k];
        memcpy(r->shared + j * (p + m), at + (p + j) * width, (size_t)p * sizeof *at);
        for (int64_t o = 0; o < m; o++) r->shared[j * (p + m) + p + o] = at[(p + q + o) * width + p + j];
    }
    (void)gram_small_factor(q, r->small);
    for (int64_t i = 0; i < p + m; i++) gram_small_solve(q, r->small, r->shared + i, p + m);
    for (int64_t j = 0; j < q; j++) {
        const double *across = at + (p + j) * width, *one = r->shared + j * (p + m);
        for (int64_t i = 0; i < p; i++)
            for (int64_t k = 0; k < p; k++) at[i * width + k] -= (across[i] * one[k] + across[k] * one[i]) / 2;
        for (int64_t o = 0; o < m; o++) {
            double *row = at + (p + q + o) * width;
            const double y = row[p + j];
            for (int64_t k = 0; k < p; k++) row[k] -= y * one[k];
            for (int64_t u = 0; u <= o; u++) row[p + q + u] -= y * one[p + u];
        }
    }
}

void gram_ridge_complete(gram_feature_ridge *r)
{
    mirror(r->p, r->products, r->width);
    eliminate(r);
}

/* The largest eigenvalue of L L', or of its inverse, by a few powers: from below. */
static double largest_power(int64_t p, const double *l, int inverse, double *v)
{
    double size = 0;
    gram_random_normal((gram_random){1, STREAM}, 0, p, v);
    for (int k = 0; k < POWERS; k++) {
        const double norm = cblas_dnrm2((int)p, v, 1);
        cblas_dscal((int)p, 1 / norm, v, 1);
        for (int half = 0; half < 2; half++) {
            const int transposed = inverse ? half == 1 : half == 0;
            (inverse ? cblas_dtrsv : cblas_dtrmv)(CblasRowMajor, CblasLower, transposed ? CblasTrans : CblasNoTrans,
                                                  CblasNonUnit, (int)p, l, (int)p, v, 1);
        }
        size = cblas_dnrm2((int)p, v, 1);
    }
    return size;
}

/* May products be made of columns of K? */
static gram_status choose_raw(gram_context *context, double ridge, gram_feature_ridge *r)
{
    gram_status status = GRAM_OK;
    const double *l = gram_feature_factor(r->map), n = (double)r->problem->n, p = (double)r->p;
    double *v = NULL;
    if (!l || r->problem->weights || !(ridge > 0)) return GRAM_OK;
    TRY(gram_take(context, "features", r->p, sizeof *v, (void **)&v));
    const int blas = gram_blas_enter();
    const double most = largest_power(r->p, l, 0, v), inverse = largest_power(r->p, l, 1, v);
    gram_blas_leave(blas);
    r->raw = DBL_EPSILON * n / p * most * most * inverse * 4 < LOST * ridge;
done:
    gram_give(context, v);
    return status;
}

static gram_status find_trace(gram_context *context, gram_feature_ridge *r)
{
    gram_status status = GRAM_OK;
    const gram_problem *problem = r->problem;
    double *diagonal = NULL;
    gram_points *some = NULL;
    TRY(gram_take(context, "diagonal", least(SLICE, problem->n), sizeof *diagonal, (void **)&diagonal));
    r->trace = 0;
    for (int64_t first = 0; first < problem->n; first += SLICE) {
        const int64_t rows = least(SLICE, problem->n - first);
        TRY(gram_points_part(context, problem->x, first, rows, &some));
        TRY(gram_matrix_diagonal(context, problem->kernel, some, diagonal));
        for (int64_t i = 0; i < rows; i++) r->trace += diagonal[i];
        gram_points_release(some);
        some = NULL;
    }
done:
    gram_points_release(some);
    gram_give(context, diagonal);
    return status;
}

static gram_status take(gram_context *context, gram_feature_ridge *r)
{
    gram_status status = GRAM_OK;
    const int64_t q = r->q > 0 ? r->q : 1;
    TRY(gram_take(context, "products of features", r->width * r->width, sizeof(double), (void **)&r->products));
    TRY(gram_take(context, "factor of features", r->p * r->p, sizeof(double), (void **)&r->factor));
    TRY(gram_take(context, "products of features", q * (r->p + r->m), sizeof(double), (void **)&r->shared));
    TRY(gram_take(context, "products of features", q * q + 2 * q, sizeof(double), (void **)&r->small));
    memset(r->products, 0, (size_t)(r->width * r->width) * sizeof(double));
done:
    return status;
}

gram_status gram_feature_ridge_make(gram_context *context, const gram_features *map, const gram_problem *problem,
                                    double ridge, gram_feature_ridge *r)
{
    gram_status status = GRAM_OK;
    const int64_t p = map->report.dimension;
    sums s = {.r = r};
    *r = (gram_feature_ridge){.map = map, .problem = problem, .p = p, .q = problem->q, .m = problem->m};
    r->width = p + r->q + r->m;
    r->trace = r->missed = NAN;
    FAIL_IF(r->width > 1 << 16, context, GRAM_ERROR_ARGUMENT,
            "features: %lld of them are too many to solve for, at most %d", (long long)p, 1 << 16);
    TRY(take(context, r));
    TRY(gram_take(context, "features", CHUNK, sizeof *s.each, (void **)&s.each));
    TRY(choose_raw(context, ridge, r));
    if (gram_feature_factor(map)) TRY(find_trace(context, r));
    TRY(gram_feature_chunks(context, map, problem->x, r->raw, r->width, add_chunk, &s));
    if (gram_ranks_share(context, problem->n)) {
        TRY(gram_ranks_sum(context, "features", r->width * r->width, r->products));
        TRY(gram_ranks_sum(context, "features", 1, &s.seen));
    }
    mirror(p, r->products, r->width);
    if (r->raw)
        TRY(turn_products(context, r));
    else
        r->missed = fmax(r->trace - s.seen, 0); /* NaN if there is no trace */
    if (!gram_feature_factor(map)) r->missed = NAN;
    eliminate(r);
done:
    gram_give(context, s.each);
    return status;
}

void gram_feature_ridge_free(gram_context *context, gram_feature_ridge *r)
{
    gram_give(context, r->products);
    gram_give(context, r->factor);
    gram_give(context, r->shared);
    gram_give(context, r->small);
    gram_give(context, r->left);
    *r = (gram_feature_ridge){0};
}

/* ---- solving ---- */

/* R of G + strength. */
int gram_ridge_factorise(gram_feature_ridge *r, double strength)
{
    const int64_t p = r->p;
    for (int64_t i = 0; i < p; i++) {
        memcpy(r->factor + i * p, r->products + i * r->width, (size_t)p * sizeof *r->factor);
        r->factor[i * p + i] += strength;
    }
    r->ridge = strength;
    return gram_equations_factor(p, r->factor);
}

static void find_constants(const gram_feature_ridge *r, const double *c, double *b)
{
    const int64_t p = r->p, m = r->m;
    for (int64_t j = 0; j < r->q; j++)
        for (int64_t o = 0; o < m; o++) {
            const double *row = r->shared + j * (p + m);
            b[j * m + o] = row[p + o];
            for (int64_t k = 0; k < p; k++) b[j * m + o] -= row[k] * c[k * m + o];
        }
}

/* The worst |left|/|g|. */
static double relative(const gram_feature_ridge *r, const double *left)
{
    double worst = 0;
    for (int64_t o = 0; o < r->m; o++) {
        const double *g = r->products + (r->p + r->q + o) * r->width;
        double sum = 0, size = 0;
        for (int64_t k = 0; k < r->p; k++) {
            sum += left[k * r->m + o] * left[k * r->m + o];
            size += g[k] * g[k];
        }
        if (size > 0) worst = fmax(worst, sqrt(sum / size));
    }
    return worst;
}

/* left = g - (G + ridge) c from the products. */
static void left_by_products(const gram_feature_ridge *r, const double *c, double *left)
{
    const int64_t p = r->p, m = r->m;
    for (int64_t k = 0; k < p; k++)
        for (int64_t o = 0; o < m; o++)
            left[k * m + o] = r->products[(p + r->q + o) * r->width + k] - r->ridge * c[k * m + o];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)p, (int)m, (int)p, -1, r->products, (int)r->width, c,
                (int)m, 1, left, (int)m);
}

/* sum += K_P'W (y - T b - K_P a) of the rows from `first` on; u has room for their values, part for one such sum. */
static gram_status add_rows(gram_context *context, const gram_feature_ridge *r, int64_t first, int64_t rows,
                            const double *a, const double *b, double *u, double *part, double *sum)
{
    gram_status status = GRAM_OK;
    const gram_problem *problem = r->problem;
    const int64_t m = r->m;
    gram_points *some = NULL;
    TRY(gram_points_part(context, problem->x, first, rows, &some));
    TRY(gram_matrix_product(context, problem->kernel, some, r->map->own, m, a, m, u, m));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t o = 0; o < m; o++)
            u[i * m + o] =
                problem->y[(first + i) * m + o] - gram_problem_unpenalised(problem, first + i, b, o) - u[i * m + o];
    TRY(gram_matrix_product(context, problem->kernel, r->map->own, some, m, u, m, part, m));
    for (int64_t k = 0; k < r->p * m; k++) sum[k] += part[k];
done:
    gram_points_release(some);
    return status;
}

/* left = Phi'W (y - T b - Phi c) - ridge c with the kernel itself: K_P (L^-T c), and L^-1 K_P'. r->left is y - T b - Phi c. */
static gram_status left_by_rows(gram_context *context, const gram_feature_ridge *r, const double *c, const double *b,
                                double *left)
{
    gram_status status = GRAM_OK;
    const gram_problem *problem = r->problem;
    const int64_t p = r->p, m = r->m, n = problem->n;
    const double *l = gram_feature_factor(r->map);
    double *a = NULL, *part;
    TRY(gram_take(context, "residuals", 2 * p * m, sizeof *a, (void **)&a));
    part = a + p * m;
    memcpy(a, c, (size_t)(p * m) * sizeof *a);
    int blas = gram_blas_enter();
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (int)p, (int)m, 1, l, (int)p, a,
                (int)m);
    gram_blas_leave(blas);
    memset(left, 0, (size_t)(p * m) * sizeof *left);
    for (int64_t first = 0; first < n; first += SLICE)
        TRY(add_rows(context, r, first, least(SLICE, n - first), a, b, r->left + first * m, part, left));
    blas = gram_blas_enter();
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)p, (int)m, 1, l, (int)p, left,
                (int)m);
    gram_blas_leave(blas);
    for (int64_t k = 0; k < p * m; k++) left[k] -= r->ridge * c[k];
done:
    gram_give(context, a);
    return status;
}

static void drop_left(gram_context *context, gram_feature_ridge *r)
{
    gram_give(context, r->left);
    r->left = NULL;
}

/* c += (G + ridge)^-1 left while that halves the residual, and at least once looked at. */
static gram_status repair(gram_context *context, gram_feature_ridge *r, double *c, double *b, double *left)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = r->p * r->m;
    double *best = NULL, before = INFINITY;
    int current = 0; /* r->left is that of c */
    TRY(gram_take(context, "features", numbers, sizeof *best, (void **)&best));
    TRY(gram_take(context, "residuals", r->problem->n * r->m, sizeof *r->left, (void **)&r->left));
    for (r->passes = 0; r->passes < MOST_PASSES; r->passes++) {
        find_constants(r, c, b);
        TRY(left_by_rows(context, r, c, b, left));
        r->residual = relative(r, left);
        current = 1;
        if (!(r->residual < before / 2)) {
            current = !(r->residual > before);
            if (!current) memcpy(c, best, (size_t)numbers * sizeof *c);
            r->residual = fmin(r->residual, before);
            break;
        }
        if (r->residual <= REPAIRED) break;
        before = r->residual;
        memcpy(best, c, (size_t)numbers * sizeof *c);
        const int blas = gram_blas_enter();
        gram_equations_solve(r->p, r->factor, r->m, left);
        gram_blas_leave(blas);
        for (int64_t k = 0; k < numbers; k++) c[k] += left[k];
        current = 0;
    }
    if (!current) drop_left(context, r);
done:
    gram_give(context, best);
    return status;
}

double gram_small_logarithm(int64_t q, const double *s)
{
    double sum = 0;
    for (int64_t j = 0; j < q; j++)
        if (s[j * q + j] > 0) sum += log(s[j * q + j]);
    return sum;
}

/* What elimination took off, from Y = R^-1 C' with C = T'W Phi, S = T'W T and X = Y'Y: G with T in it has log |G + ridge| larger by log |S + X|
 * - log |S|, and tr (G + ridge)^-1 less by tr (S + X)^-1 Z, Z = |R^-T Y|^2. */
static gram_status find_shares(gram_context *context, const gram_feature_ridge *r, double *logarithm, double *trace)
{
    gram_status status = GRAM_OK;
    const int64_t p = r->p, q = r->q;
    double *y = NULL, *x, *z;
    *logarithm = *trace = 0;
    if (q == 0) return GRAM_OK;
    TRY(gram_take(context, "features", p * q + 2 * q * q, sizeof *y, (void **)&y));
    x = y + p * q, z = x + q * q;
    for (int64_t k = 0; k < p; k++)
        for (int64_t j = 0; j < q; j++) y[k * q + j] = r->products[(p + j) * r->width + k];
    const int blas = gram_blas_enter();
    for (int half = 0; half < 2; half++) {
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, half ? CblasTrans : CblasNoTrans, CblasNonUnit, (int)p,
                    (int)q, 1, r->factor, (int)p, y, (int)q);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)q, (int)q, (int)p, 1, y, (int)q, y, (int)q, 0,
                    half ? z : x, (int)q);
    }
    gram_blas_leave(blas);
    for (int64_t j = 0; j < q; j++)
        for (int64_t k = 0; k < q; k++)
            x[j * q + k] += r->products[(p + (j > k ? j : k)) * r->width + p + (j > k ? k : j)];
    (void)gram_small_factor(q, x);
    *logarithm = gram_small_logarithm(q, x) - gram_small_logarithm(q, r->small);
    for (int64_t k = 0; k < q; k++) {
        gram_small_solve(q, x, z + k, q);
        *trace += z[k * q + k];
    }
done:
    gram_give(context, y);
    return status;
}

/* tr G (G + ridge)^-1 = p - ridge |R^-1|^2, and log |A| = n log ridge - sum log w + log |I + G/ridge|, with T in G again. */
gram_status gram_ridge_find_sizes(gram_context *context, gram_feature_ridge *r)
{
    gram_status status = GRAM_OK;
    const int64_t p = r->p, n = r->problem->n;
    const int size = (int)p;
    double *inverse = NULL, sum = 0, determinant = (double)(n - p) * log(r->ridge);
    int info = 0;
    TRY(gram_take(context, "factor of features", p * p, sizeof *inverse, (void **)&inverse));
    memcpy(inverse, r->factor, (size_t)(p * p) * sizeof *inverse);
    const int blas = gram_blas_enter();
    dtrtri_("U", "N", &size, inverse, &size, &info, 1, 1);
    gram_blas_leave(blas);
    for (int64_t i = 0; i < p; i++) {
        for (int64_t j = 0; j <= i; j++) sum += inverse[i * p + j] * inverse[i * p + j];
        determinant += 2 * log(r->factor[i * p + i]);
    }
    for (int64_t i = 0; i < n && r->problem->weights; i++) determinant -= log(r->problem->weights[i]);
    double logarithm, trace;
    TRY(find_shares(context, r, &logarithm, &trace));
    r->effective_dimension = fmax((double)p - r->ridge * (sum - trace), 0);
    r->log_determinant = determinant + logarithm;
done:
    gram_give(context, inverse);
    return status;
}

gram_status gram_feature_ridge_solve(gram_context *context, const char *who, gram_feature_ridge *r, double strength,
                                     double *c, double *b)
{
    gram_status status = GRAM_OK;
    const int64_t p = r->p, m = r->m;
    double *left = NULL;
    TRY(gram_take(context, "features", p * m, sizeof *left, (void **)&left));
    for (int64_t k = 0; k < p; k++)
        for (int64_t o = 0; o < m; o++) c[k * m + o] = r->products[(p + r->q + o) * r->width + k];
    const int blas = gram_blas_enter();
    const int solved = gram_ridge_factorise(r, strength);
    if (solved) {
        gram_equations_solve(p, r->factor, m, c);
        left_by_products(r, c, left);
    }
    gram_blas_leave(blas);
    FAIL_IF(!solved, context, GRAM_ERROR_NUMERICAL,
            "%s: the normal equations of %lld features are singular to working precision; a larger lambda helps", who,
            (long long)p);
    r->residual = relative(r, left);
    drop_left(context, r);
    if (r->raw) TRY(repair(context, r, c, b, left));
    find_constants(r, c, b);
    TRY(gram_ridge_find_sizes(context, r));
done:
    gram_give(context, left);
    return status;
}

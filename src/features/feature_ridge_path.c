/* What follows from the products of features for every row: leverages, and a whole path of ridges with their leave-one-out errors.
 *
 * Leverage: w_i (|R^-1 phi~_i|^2 + t_i'(T'W T)^-1 t_i), with phi~ = L^-1 (k_P - ...) of landmarks by one triangular solve with L R.
 *
 * Path: G = V S V', so that with u_i = V'phi~_i every ridge needs sums over j of u_ij^2/(s_j + ridge) and of u_ij g_j/(s_j + ridge) only: the
 * rows are turned once, and all ridges are two thin products more. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/eigen.h>

#include "base/ranks/collective.h"
#include "base/sweep.h"
#include "features/feature_ridge.h"
#include "points/points.h"
#include "solve/small_system.h"

enum { BLOCK = 256 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* What rows are compared with: of raw rows, T's part of them, q x p. */
static gram_status take_shared(gram_context *context, const gram_feature_ridge *r, double **shared)
{
    gram_status status = GRAM_OK;
    const int64_t p = r->p, m = r->m;
    const double *l = gram_feature_factor(r->map);
    TRY(gram_take(context, "features", (r->q > 0 ? r->q : 1) * p, sizeof **shared, (void **)shared));
    for (int64_t j = 0; j < r->q; j++) memcpy(*shared + j * p, r->shared + j * (p + m), (size_t)p * sizeof **shared);
    if (!l || r->q == 0) goto done;
    const int blas = gram_blas_enter();
    cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)r->q, (int)p, 1, l, (int)p,
                *shared, (int)p);
    gram_blas_leave(blas);
done:
    return status;
}

/* Rows without what T explains of them. */
static void take_off(const gram_feature_ridge *r, const double *shared, int64_t first, int64_t rows, double *x,
                     int64_t ld)
{
    if (r->q > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)r->p, (int)r->q, -1,
                    r->problem->t + first * r->q, (int)r->q, shared, (int)r->p, 1, x, (int)ld);
}

/* t_i'(T'W T)^-1 t_i; the work behind `small` is not for several threads. */
static double share_of_constants(const gram_feature_ridge *r, int64_t i, double *work)
{
    const double *t = r->problem->t + i * r->q;
    return r->q > 0 ? gram_small_form(r->q, r->small, t, t, work) : 0;
}

/* ---- leverages ---- */

typedef struct leverages {
    const gram_feature_ridge *r;
    const double *shared, *u; /* u: L R, or R */
    int64_t first, rows, ld;
    double *features, *out;
} leverages;

static gram_status leverage_task(void *argument, const gram_worker *worker)
{
    const leverages *s = argument;
    const gram_feature_ridge *r = s->r;
    const int64_t from = worker->task * BLOCK, rows = least(BLOCK, s->rows - from);
    double *x = s->features + from * s->ld;
    take_off(r, s->shared, s->first + from, rows, x, s->ld);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)rows, (int)r->p, 1, s->u,
                (int)r->p, x, (int)s->ld);
    for (int64_t k = 0; k < rows; k++) {
        const int64_t i = s->first + from + k;
        s->out[i] = gram_problem_weight(r->problem, i) * (cblas_ddot((int)r->p, x + k * s->ld, 1, x + k * s->ld, 1) +
                                                          share_of_constants(r, i, worker->scratch));
    }
    return GRAM_OK;
}

static gram_status leverage_chunk(gram_context *context, void *argument, int64_t first, int64_t rows, double *features,
                                  int64_t ld)
{
    leverages *s = argument;
    const double n = (double)s->r->problem->n;
    s->first = first, s->rows = rows, s->ld = ld, s->features = features;
    const gram_sweep sweep = {.what = "leave-one-out",
                              .tasks = (rows + BLOCK - 1) / BLOCK,
                              .scratch_bytes = (size_t)(2 * s->r->q + 1) * sizeof(double),
                              .run = leverage_task,
                              .argument = s,
                              .share_before = (double)first / n,
                              .share_after = (double)(first + rows) / n};
    return gram_sweep_run(context, &sweep);
}

gram_status gram_feature_ridge_leverage(gram_context *context, const gram_feature_ridge *r, double *leverage)
{
    gram_status status = GRAM_OK;
    const double *l = gram_feature_factor(r->map);
    const int64_t p = r->p;
    double *shared = NULL, *u = NULL;
    TRY(take_shared(context, r, &shared));
    TRY(gram_take(context, "features", p * p, sizeof *u, (void **)&u));
    memcpy(u, r->factor, (size_t)(p * p) * sizeof *u);
    const int blas = gram_blas_enter();
    if (l)
        cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, (int)p, (int)p, 1, l, (int)p, u,
                    (int)p);
    gram_blas_leave(blas);
    leverages s = {.r = r, .shared = shared, .u = u, .out = leverage};
    memset(leverage, 0, (size_t)r->problem->n * sizeof *leverage);
    TRY(gram_feature_chunks(context, r->map, r->problem->x, l != NULL, p, leverage_chunk, &s));
    if (gram_ranks_share(context, r->problem->n))
        TRY(gram_ranks_sum(context, "leave-one-out", r->problem->n, leverage));
done:
    gram_give(context, u);
    gram_give(context, shared);
    return status;
}

/* ---- a path ---- */

typedef struct path_work {
    const gram_feature_ridge *r;
    int64_t count;
    gram_ridge_point *path;
    double *values, *turn; /* p eigenvalues; p x p: rows times it are u */
    double *g;             /* p x m: V'g */
    double *shrunk;        /* p x count: 1/(s + ridge); then p x count m: g/(s + ridge) */
    double *across;        /* q x p: T'W Phi V */
    double *shared;
    double *parts; /* for each block of rows, count sums */
    int64_t first, rows, ld;
    double *features;
} path_work;

static void add_row(const path_work *w, int64_t i, const double *lever, const double *fit, double *sums, double *work)
{
    const gram_feature_ridge *r = w->r;
    const double weight = gram_problem_weight(r->problem, i), constants = share_of_constants(r, i, work);
    for (int64_t k = 0; k < w->count; k++) {
        const double rest = 1 - weight * (lever[k] + constants);
        for (int64_t o = 0; o < r->m; o++) {
            double y = r->problem->y[i * r->m + o];
            for (int64_t j = 0; j < r->q; j++)
                y -= r->problem->t[i * r->q + j] * r->shared[j * (r->p + r->m) + r->p + o];
            const double miss = (y - fit[k * r->m + o]) / rest;
            sums[k] += rest > 0 ? weight * miss * miss : INFINITY;
        }
    }
}

static gram_status path_task(void *argument, const gram_worker *worker)
{
    const path_work *w = argument;
    const gram_feature_ridge *r = w->r;
    const int64_t p = r->p, count = w->count, wide = count * r->m;
    const int64_t from = worker->task * BLOCK, rows = least(BLOCK, w->rows - from);
    double *x = w->features + from * w->ld, *u = worker->scratch, *lever = u + BLOCK * p, *fit = lever + BLOCK * count,
           *work = fit + BLOCK * wide, *sums = w->parts + (w->first / BLOCK + worker->task) * count;
    take_off(r, w->shared, w->first + from, rows, x, w->ld);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)p, (int)p, 1, x, (int)w->ld, w->turn, (int)p,
                0, u, (int)p);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)wide, (int)p, 1, u, (int)p,
                w->shrunk + p * count, (int)wide, 0, fit, (int)wide);
    for (int64_t k = 0; k < rows * p; k++) u[k] *= u[k];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)count, (int)p, 1, u, (int)p, w->shrunk,
                (int)count, 0, lever, (int)count);
    memset(sums, 0, (size_t)count * sizeof *sums);
    for (int64_t k = 0; k < rows; k++) add_row(w, w->first + from + k, lever + k * count, fit + k * wide, sums, work);
    return GRAM_OK;
}

static gram_status path_chunk(gram_context *context, void *argument, int64_t first, int64_t rows, double *features,
                              int64_t ld)
{
    path_work *w = argument;
    const gram_feature_ridge *r = w->r;
    const double n = (double)r->problem->n;
    w->first = first, w->rows = rows, w->ld = ld, w->features = features;
    const gram_sweep sweep = {.what = "path of lambda",
                              .tasks = (rows + BLOCK - 1) / BLOCK,
                              .scratch_bytes =
                                  (size_t)(BLOCK * (r->p + w->count * (1 + r->m)) + 2 * r->q + 1) * sizeof(double),
                              .run = path_task,
                              .argument = w,
                              .share_before = (double)first / n,
                              .share_after = (double)(first + rows) / n};
    return gram_sweep_run(context, &sweep);
}

/* log |S + C (G + ridge)^-1 C'| - log |S|: what T adds to the determinant. `x` has q^2 numbers. */
static double share_of_determinant(const path_work *w, double ridge, double *x)
{
    const gram_feature_ridge *r = w->r;
    const int64_t p = r->p, q = r->q;
    for (int64_t j = 0; j < q; j++)
        for (int64_t k = 0; k <= j; k++) {
            x[j * q + k] = r->products[(p + j) * r->width + p + k];
            for (int64_t i = 0; i < p; i++)
                x[j * q + k] += w->across[j * p + i] * w->across[k * p + i] / (fmax(w->values[i], 0) + ridge);
        }
    (void)gram_small_factor(q, x);
    return gram_small_logarithm(q, x) - gram_small_logarithm(q, r->small);
}

static void find_sums(const path_work *w, gram_ridge_point *point)
{
    const gram_feature_ridge *r = w->r;
    const double ridge = point->strength;
    const int64_t p = r->p, n = r->problem->n;
    point->loo = NAN;
    point->squares = point->quadratic = point->effective_dimension = 0;
    point->log_determinant = (double)(n - p) * log(ridge);
    for (int64_t i = 0; i < n && r->problem->weights; i++) point->log_determinant -= log(r->problem->weights[i]);
    for (int64_t j = 0; j < p; j++) {
        const double s = fmax(w->values[j], 0);
        point->effective_dimension += s / (s + ridge);
        point->log_determinant += log(s + ridge);
    }
    point->log_determinant += share_of_determinant(w, ridge, w->across + r->q * p);
    for (int64_t o = 0; o < r->m; o++) {
        const int64_t at = p + r->q + o;
        double first = 0, second = 0;
        for (int64_t j = 0; j < p; j++) {
            const double s = fmax(w->values[j], 0), g = w->g[j * r->m + o] * w->g[j * r->m + o] / (s + ridge);
            first += g;
            second += g * ridge / (s + ridge); /* g^2/(s + ridge) (1 - s/(s + ridge)) */
        }
        const double rest = fmax(r->products[at * r->width + at] - first, 0);
        point->squares += fmax(rest - second, 0);
        point->quadratic += rest / ridge;
    }
}

/* Eigenvalues and V of G; then rows are turned by V, or by L^-T V where they are raw. */
static gram_status find_spectrum(gram_context *context, path_work *w)
{
    gram_status status = GRAM_OK;
    const gram_feature_ridge *r = w->r;
    const int64_t p = r->p;
    const double *l = gram_feature_factor(r->map);
    double *copy = NULL;
    TRY(gram_take(context, "path of lambda", p * p, sizeof *copy, (void **)&copy));
    for (int64_t i = 0; i < p; i++) memcpy(copy + i * p, r->products + i * r->width, (size_t)p * sizeof *copy);
    TRY(gram_eigen_symmetric(context, p, copy, p, 0, p, w->values, w->turn, p));
    const int blas = gram_blas_enter();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)p, (int)r->m, (int)p, 1, w->turn, (int)p,
                r->products + (p + r->q) * r->width, (int)r->width, 0, w->g, (int)r->m);
    if (r->q > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)r->q, (int)p, (int)p, 1, r->products + p * r->width,
                    (int)r->width, w->turn, (int)p, 0, w->across, (int)p);
    for (int64_t i = 0; i < p; i++) /* vectors come as rows */
        cblas_dswap((int)(p - 1 - i), w->turn + i * p + i + 1, 1, w->turn + (i + 1) * p + i, (int)p);
    if (l)
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (int)p, (int)p, 1, l, (int)p,
                    w->turn, (int)p);
    gram_blas_leave(blas);
done:
    gram_give(context, copy);
    return status;
}

static gram_status leave_out(gram_context *context, path_work *w)
{
    gram_status status = GRAM_OK;
    const gram_feature_ridge *r = w->r;
    const int64_t p = r->p, count = w->count, n = r->problem->n, blocks = (n + BLOCK - 1) / BLOCK;
    TRY(take_shared(context, r, &w->shared));
    TRY(gram_take(context, "path of lambda", p * count * (1 + r->m), sizeof(double), (void **)&w->shrunk));
    TRY(gram_take(context, "path of lambda", blocks * count, sizeof(double), (void **)&w->parts));
    double *fits = w->shrunk + p * count;
    for (int64_t j = 0; j < p; j++)
        for (int64_t k = 0; k < count; k++) {
            const double over = 1 / (fmax(w->values[j], 0) + w->path[k].strength);
            w->shrunk[j * count + k] = over;
            for (int64_t o = 0; o < r->m; o++) fits[(j * count + k) * r->m + o] = over * w->g[j * r->m + o];
        }
    memset(w->parts, 0, (size_t)(blocks * count) * sizeof *w->parts);
    TRY(gram_feature_chunks(context, r->map, r->problem->x, r->map->type->raw != NULL, p, path_chunk, w));
    if (gram_ranks_share(context, n)) TRY(gram_ranks_sum(context, "path of lambda", blocks * count, w->parts));
    for (int64_t k = 0; k < count; k++) {
        w->path[k].loo = 0;
        for (int64_t t = 0; t < blocks; t++) w->path[k].loo += w->parts[t * count + k];
    }
done:
    return status;
}

gram_status gram_feature_ridge_path(gram_context *context, const gram_feature_ridge *r, int leave_one_out,
                                    int64_t count, gram_ridge_point *path)
{
    gram_status status = GRAM_OK;
    path_work w = {.r = r, .count = count, .path = path};
    TRY(gram_take(context, "path of lambda", r->p, sizeof(double), (void **)&w.values));
    TRY(gram_take(context, "path of lambda", r->p * r->p, sizeof(double), (void **)&w.turn));
    TRY(gram_take(context, "path of lambda", r->p * r->m, sizeof(double), (void **)&w.g));
    TRY(gram_take(context, "path of lambda", r->q * (r->p + r->q) + 1, sizeof(double), (void **)&w.across));
    TRY(find_spectrum(context, &w));
    for (int64_t k = 0; k < count; k++) find_sums(&w, &path[k]);
    if (leave_one_out) TRY(leave_out(context, &w));
done:
    gram_give(context, w.values);
    gram_give(context, w.turn);
    gram_give(context, w.g);
    gram_give(context, w.across);
    gram_give(context, w.shrunk);
    gram_give(context, w.shared);
    gram_give(context, w.parts);
    return status;
}

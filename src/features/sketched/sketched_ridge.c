/* (G + strength) c = g with G = Z'W Z over all rows (and what no penalty acts on eliminated, as in feature_ridge.c), by conjugate gradients that never
 * make G. The preconditioner is the same matrix of a sample of s rows, made large in proportion: M = (n/s) Z_s'W Z_s + strength. Its distance to G + strength is that
 * of a sample covariance, so that the eigenvalues of M^-1 (G + strength) lie in about (1 -+ sqrt(p/s))^-2 and each iteration shrinks the error by
 * sqrt(p/s) = 0.29 for s = 12 p, whatever the kernel and the ridge (sketched preconditioning: Rokhlin and Tygert 2008, Avron, Maymounkov and Toledo 2010). An
 * iteration is a pass over the rows, n p operations, features made anew (feature_pass.h); forming G would be n p^2.
 *
 * Precision: products of the sample and passes are in f32, the residual between rounds of iterations is in f64 and made from the targets themselves, so that a
 * round repairs what the one before did wrong. Where f32 is too coarse (a tiny ridge), rounds stop to help and go on in f64.
 *
 * Error: with r the residual, |f - f*|^2 over the rows (and strength |c - c*|^2) is r'(G + strength)^-1 r, and r'M^-1 r is that to the factors above. */
#include "features/sketched/sketched_ridge.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "base/sweep.h"
#include "base/system/time_limit.h"
#include "features/equations/feature_products.h"
#include "features/sketched/feature_pass.h"
#include "points/points.h"
#include "solve/small_system.h"

enum { SAMPLE = 12, LEAST = 24, ROUNDS = 8, MOST = 40 };

static const uint64_t STREAM = 0x736b65746368U;
static const double ROUND = 3e-5; /* what a round of f32 is to gain, at most */

typedef struct sketch {
    gram_context *context;
    gram_sketched_ridge *job;
    gram_feature_ridge *r;
    int64_t p, q, m;
    double *across;                               /* p x q: Z'W T */
    double *means;                                /* q x m: T'W y */
    double *left, *step, *along, *turned, *image; /* p x m each */
    double *sums;                                 /* q x m + m */
    double *small;                                /* of T'W T: r->small */
    const double *b;
    double *f;
    int single;
} sketch;

int gram_sketched_ridge_fits(int64_t n, int64_t p)
{
    return n >= LEAST * p;
}

/* ---- the sample ---- */

typedef struct sample_rows {
    const gram_feature_ridge *r;
    const gram_points *x;
    const int64_t *which;
    gram_feature_strips strips;
    int64_t first, rows;
    float *out;
} sample_rows;

static gram_status sample_task(void *argument, const gram_worker *worker)
{
    const sample_rows *s = argument;
    const gram_feature_ridge *r = s->r;
    const int64_t from = worker->task * GRAM_FEATURE_STRIP,
                  rows = s->rows - from < GRAM_FEATURE_STRIP ? s->rows - from : GRAM_FEATURE_STRIP, width = r->width;
    const double *x = s->x->f64 + (s->first + from) * s->x->ld;
    r->map->type->put_strip(&s->strips, rows, x, s->x->ld, s->out + from * width, width, worker->scratch);
    for (int64_t k = 0; k < rows; k++) {
        const int64_t i = s->which[s->first + from + k];
        float *row = s->out + (from + k) * width;
        for (int64_t j = 0; j < r->q; j++) row[r->p + j] = (float)r->problem->t[i * r->q + j];
        if (r->problem->weights) cblas_sscal((int)width, sqrtf((float)r->problem->weights[i]), row, 1);
    }
    return GRAM_OK;
}

/* products = sum over the sample of [z, t]'[z, t] */
static gram_status add_sample(gram_context *context, sample_rows *s, double *products)
{
    gram_status status = GRAM_OK;
    const int64_t width = s->r->width, chunk = 2 * gram_feature_chunk_rows(width);
    TRY(s->r->map->type->open_strips(context, s->r->map, 1, &s->strips));
    TRY(gram_take(context, "features", chunk * width, sizeof *s->out, (void **)&s->out));
    for (s->first = 0; s->first < s->x->n; s->first += chunk) {
        s->rows = s->x->n - s->first < chunk ? s->x->n - s->first : chunk;
        const gram_sweep sweep = {.what = "features",
                                  .tasks = (s->rows + GRAM_FEATURE_STRIP - 1) / GRAM_FEATURE_STRIP,
                                  .scratch_bytes = (size_t)s->strips.scratch * sizeof(double),
                                  .run = sample_task,
                                  .argument = s};
        const gram_product_rows made = {.rows = s->rows, .width = width, .f32 = s->out};
        TRY(gram_sweep_run(context, &sweep));
        TRY(gram_feature_products(context, &made, products));
    }
done:
    gram_give(context, s->out);
    gram_give(context, s->strips.turned);
    return status;
}

/* `wanted` of n rows in order, all sets equally likely. */
static void draw_rows(uint64_t seed, int64_t n, int64_t wanted, int64_t *rows)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n && count < wanted; i++) {
        double u;
        gram_random_uniform((gram_random){seed, STREAM}, (uint64_t)i, 1, &u);
        if (u * (double)(n - i) < (double)(wanted - count)) rows[count++] = i;
    }
}

/* M's factor into r: sampled rows stand for all. */
static gram_status make_factor(sketch *k, const char *who)
{
    gram_status status = GRAM_OK;
    gram_feature_ridge *r = k->r;
    gram_context *context = k->context;
    const gram_problem *problem = r->problem;
    const int64_t n = problem->n;
    int64_t *order = NULL;
    gram_points *some = NULL;
    double weight = 0;
    k->job->rows = SAMPLE * r->p < n ? SAMPLE * r->p : n;
    TRY(gram_take(context, "features", k->job->rows, sizeof *order, (void **)&order));
    draw_rows(k->job->seed, n, k->job->rows, order);
    for (int64_t i = 0; i < k->job->rows; i++) weight += gram_problem_weight(problem, order[i]);
    TRY(gram_points_gather(context, problem->x, k->job->rows, order, &some));
    sample_rows s = {.r = r, .x = some, .which = order};
    TRY(add_sample(context, &s, r->products));
    for (int64_t j = 0; j < r->width * r->width; j++) r->products[j] *= problem->total / weight;
    gram_ridge_complete(r);
    const int blas = gram_blas_enter();
    const int solved = gram_ridge_factorise(r, k->job->strength);
    gram_blas_leave(blas);
    FAIL_IF(!solved, context, GRAM_ERROR_NUMERICAL,
            "%s: the normal equations of %lld features are singular to working precision; a larger lambda helps", who,
            (long long)r->p);
done:
    gram_points_release(some);
    gram_give(context, order);
    return status;
}

/* ---- passes ---- */

static gram_status run_pass(sketch *k, int single, int64_t columns, const double *v,
                            void (*row)(void *argument, int64_t i, double *u, double *sums), int64_t sums, double *out)
{
    const gram_feature_pass pass = {.map = k->r->map,
                                    .x = k->r->problem->x,
                                    .single = single,
                                    .columns = columns,
                                    .v = v,
                                    .row = row,
                                    .argument = k,
                                    .sum_count = sums,
                                    .out = out,
                                    .sums = k->sums,
                                    .what = "ridge on features"};
    k->job->passes++;
    return gram_feature_pass_run(k->context, &pass);
}

/* [t, y], weighted: Z'W [T, y], and T'W y. */
static void data_row(void *argument, int64_t i, double *u, double *sums)
{
    const sketch *k = argument;
    const gram_problem *problem = k->r->problem;
    const double w = gram_problem_weight(problem, i);
    for (int64_t o = 0; o < k->m; o++) u[k->q + o] = w * problem->y[i * k->m + o];
    for (int64_t j = 0; j < k->q; j++) {
        u[j] = w * problem->t[i * k->q + j];
        for (int64_t o = 0; o < k->m; o++) sums[j * k->m + o] += u[j] * problem->y[i * k->m + o];
    }
}

static void weigh_row(void *argument, int64_t i, double *u, double *sums)
{
    const sketch *k = argument;
    const double w = gram_problem_weight(k->r->problem, i);
    (void)sums;
    for (int64_t o = 0; o < k->m; o++) u[o] *= w;
}

/* w (y - t b - z c), with the value kept, and T'W of the same. */
static void residual_row(void *argument, int64_t i, double *u, double *sums)
{
    const sketch *k = argument;
    const gram_problem *problem = k->r->problem;
    const double w = gram_problem_weight(problem, i);
    for (int64_t o = 0; o < k->m; o++) {
        k->f[i * k->m + o] = u[o] + gram_problem_unpenalised(problem, i, k->b, o);
        u[o] = w * (problem->y[i * k->m + o] - k->f[i * k->m + o]);
        for (int64_t j = 0; j < k->q; j++) sums[j * k->m + o] += problem->t[i * k->q + j] * u[o];
    }
}

/* v -= Z'W T (T'W T)^-1 s, s q x m, which is turned */
static void take_off(const sketch *k, double *s, double *v)
{
    for (int64_t o = 0; o < k->m; o++) gram_small_solve(k->q, k->small, s + o, k->m);
    if (k->q > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)k->p, (int)k->m, (int)k->q, -1, k->across,
                    (int)k->q, s, (int)k->m, 1, v, (int)k->m);
}

/* Z'W T, T'W T and left = Z'W y with T eliminated. */
static gram_status begin(sketch *k)
{
    gram_status status = GRAM_OK;
    const gram_problem *problem = k->r->problem;
    const int64_t p = k->p, q = k->q, m = k->m, wide = q + m;
    double *both = NULL;
    TRY(gram_take(k->context, "features", p * wide, sizeof *both, (void **)&both));
    TRY(run_pass(k, 1, wide, NULL, data_row, q * m, both));
    for (int64_t i = 0; i < p; i++) {
        memcpy(k->across + i * q, both + i * wide, (size_t)q * sizeof *both);
        memcpy(k->left + i * m, both + i * wide + q, (size_t)m * sizeof *both);
    }
    memset(k->small, 0, (size_t)(q * q) * sizeof *k->small);
    for (int64_t i = 0; i < problem->n; i++)
        for (int64_t j = 0; j < q; j++)
            for (int64_t l = 0; l <= j; l++)
                k->small[j * q + l] += gram_problem_weight(problem, i) * problem->t[i * q + j] * problem->t[i * q + l];
    (void)gram_small_factor(q, k->small);
    for (int64_t i = 0; i < p; i++) { /* what leverages take off each row */
        for (int64_t j = 0; j < q; j++) k->r->shared[j * p + i] = k->across[i * q + j];
        gram_small_solve(q, k->small, k->r->shared + i, p);
    }
    memcpy(k->means, k->sums, (size_t)(q * m) * sizeof *k->sums);
    take_off(k, k->sums, k->left);
done:
    gram_give(k->context, both);
    return status;
}

/* image = (G + strength) along */
static gram_status apply(sketch *k)
{
    gram_status status = GRAM_OK;
    const int64_t p = k->p, m = k->m;
    TRY(run_pass(k, k->single, m, k->along, weigh_row, 0, k->image));
    for (int64_t j = 0; j < k->q; j++)
        for (int64_t o = 0; o < m; o++) {
            k->sums[j * m + o] = 0;
            for (int64_t i = 0; i < p; i++) k->sums[j * m + o] += k->across[i * k->q + j] * k->along[i * m + o];
        }
    take_off(k, k->sums, k->image);
    cblas_daxpy((int)(p * m), k->job->strength, k->along, 1, k->image, 1);
done:
    return status;
}

/* turned = M^-1 left */
static void precondition(const sketch *k)
{
    memcpy(k->turned, k->left, (size_t)(k->p * k->m) * sizeof *k->turned);
    const int blas = gram_blas_enter();
    gram_equations_solve(k->p, k->r->factor, k->m, k->turned);
    gram_blas_leave(blas);
}

/* The sum of a b in column o. */
static double dot(const sketch *k, int64_t o, const double *a, const double *b)
{
    return cblas_ddot((int)k->p, a + o, (int)k->m, b + o, (int)k->m);
}

/* ---- iterations ---- */

/* step = about (G + strength)^-1 left by conjugate gradients, all targets at once, until left'M^-1 left is below `goal` for each; left is used up. */
static gram_status iterate(sketch *k, const double *goal, double *rho)
{
    gram_status status = GRAM_OK;
    const int64_t m = k->m, p = k->p;
    memset(k->step, 0, (size_t)(p * m) * sizeof *k->step);
    precondition(k);
    memcpy(k->along, k->turned, (size_t)(p * m) * sizeof *k->along);
    for (int64_t o = 0; o < m; o++) rho[o] = dot(k, o, k->left, k->turned);
    for (int iteration = 0; iteration < MOST; iteration++) {
        int done = 1;
        for (int64_t o = 0; o < m; o++) done &= rho[o] <= goal[o];
        if (done || k->job->limit) break;
        const double began = gram_clock();
        TRY(apply(k));
        for (int64_t o = 0; o < m; o++) {
            const double curve = dot(k, o, k->along, k->image), a = curve > 0 ? rho[o] / curve : 0;
            cblas_daxpy((int)p, a, k->along + o, (int)m, k->step + o, (int)m);
            cblas_daxpy((int)p, -a, k->image + o, (int)m, k->left + o, (int)m);
        }
        precondition(k);
        for (int64_t o = 0; o < m; o++) {
            const double now = dot(k, o, k->left, k->turned), b = rho[o] > 0 ? now / rho[o] : 0;
            for (int64_t i = 0; i < p; i++) k->along[i * m + o] = k->turned[i * m + o] + b * k->along[i * m + o];
            rho[o] = now;
        }
        k->job->limit = gram_time_ends_iterations(k->context, began);
    }
done:
    return status;
}

/* b of c; then left, the values and b again from a pass in f64. */
static gram_status look(sketch *k, const double *c, double *b)
{
    gram_status status = GRAM_OK;
    const int64_t p = k->p, q = k->q, m = k->m, n = k->r->problem->n;
    for (int64_t j = 0; j < q; j++)
        for (int64_t o = 0; o < m; o++) {
            b[j * m + o] = k->means[j * m + o];
            for (int64_t i = 0; i < p; i++) b[j * m + o] -= k->across[i * q + j] * c[i * m + o];
        }
    for (int64_t o = 0; o < m; o++) gram_small_solve(q, k->small, b + o, m);
    k->b = b;
    TRY(run_pass(k, 0, m, c, residual_row, q * m, k->left));
    take_off(k, k->sums, k->left); /* the sums are now what b lacks */
    cblas_daxpy((int)(p * m), -k->job->strength, c, 1, k->left, 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t o = 0; o < m; o++) k->f[i * m + o] += gram_problem_unpenalised(k->r->problem, i, k->sums, o);
    cblas_daxpy((int)(q * m), 1, k->sums, 1, b, 1);
done:
    return status;
}

/* The largest sqrt(now/first) over targets. */
static double worst(int64_t m, const double *now, const double *first)
{
    double most = 0;
    for (int64_t o = 0; o < m; o++)
        if (first[o] > 0) most = fmax(most, sqrt(fmax(now[o], 0) / first[o]));
    return most;
}

/* Rounds of iterations and a look at the truth. `squares`: 4 m numbers, the first m of which have |g|^2, the next g'M^-1 g. */
static gram_status solve_rounds(sketch *k, double *c, double *b, double *squares)
{
    gram_status status = GRAM_OK;
    gram_sketched_ridge *job = k->job;
    const int64_t m = k->m, numbers = k->p * m;
    double *first = squares + m, *goal = first + m, *rho = goal + m;
    memset(c, 0, (size_t)numbers * sizeof *c);
    job->error = 1;
    for (int round = 0; round < ROUNDS; round++) {
        const double before = job->error;
        const double wanted = fmax(job->tolerance / 2, k->single ? ROUND * before : 0);
        for (int64_t o = 0; o < m; o++) goal[o] = wanted * wanted * first[o];
        TRY(iterate(k, goal, rho));
        cblas_daxpy((int)numbers, 1, k->step, 1, c, 1);
        TRY(look(k, c, b));
        precondition(k);
        for (int64_t o = 0; o < m; o++) rho[o] = dot(k, o, k->left, k->turned), goal[o] = dot(k, o, k->left, k->left);
        job->error = worst(m, rho, first);
        job->residual = worst(m, goal, squares);
        if (job->error <= job->tolerance || job->limit) break;
        if (job->error < before / 10) continue;
        if (!k->single) break;
        k->single = 0; /* f32 is too coarse */
    }
done:
    return status;
}

static gram_status take(sketch *k, double **squares)
{
    gram_status status = GRAM_OK;
    gram_feature_ridge *r = k->r;
    const int64_t p = k->p, q = k->q, m = k->m, some = q > 0 ? q : 1;
    double **vectors[] = {&k->left, &k->step, &k->along, &k->turned, &k->image};
    TRY(gram_take(k->context, "products of features", r->width * r->width, sizeof(double), (void **)&r->products));
    TRY(gram_take(k->context, "factor of features", p * p, sizeof(double), (void **)&r->factor));
    TRY(gram_take(k->context, "products of features", some * p, sizeof(double), (void **)&r->shared));
    TRY(gram_take(k->context, "products of features", some * some + 2 * some, sizeof(double), (void **)&r->small));
    TRY(gram_take(k->context, "features", some * p, sizeof(double), (void **)&k->across));
    TRY(gram_take(k->context, "features", 2 * (some * m + m), sizeof(double), (void **)&k->sums));
    TRY(gram_take(k->context, "features", 4 * m, sizeof(double), (void **)squares));
    for (size_t v = 0; v < sizeof vectors / sizeof *vectors; v++)
        TRY(gram_take(k->context, "features", p * m, sizeof(double), (void **)vectors[v]));
    memset(r->products, 0, (size_t)(r->width * r->width) * sizeof(double));
    k->means = k->sums + some * m + m;
    k->small = r->small;
done:
    return status;
}

gram_status gram_sketched_ridge_solve(gram_context *context, const char *who, gram_sketched_ridge *job, double *c,
                                      double *b, double *f, gram_feature_ridge *r)
{
    gram_status status = GRAM_OK;
    const int64_t p = job->map->report.dimension, q = job->problem->q, m = job->problem->m;
    double *squares = NULL;
    *r = (gram_feature_ridge){.map = job->map, .problem = job->problem, .p = p, .q = q, .width = p + q};
    r->trace = r->missed = NAN;
    sketch k = {.context = context, .job = job, .r = r, .p = p, .q = q, .m = m, .f = f, .single = 1};
    job->passes = 0;
    job->limit = 0;
    TRY(take(&k, &squares));
    TRY(make_factor(&k, who));
    TRY(gram_ridge_find_sizes(context, r));
    r->log_determinant = NAN;
    TRY(begin(&k));
    precondition(&k);
    for (int64_t o = 0; o < m; o++)
        squares[o] = dot(&k, o, k.left, k.left), squares[m + o] = dot(&k, o, k.left, k.turned);
    TRY(solve_rounds(&k, c, b, squares));
    FAIL_IF(!job->limit && !(job->error <= fmax(job->tolerance, 1e-3)), context, GRAM_ERROR_NUMERICAL,
            "%s: the normal equations of %lld features were solved to %.1g only; a larger lambda helps", who,
            (long long)p, job->error);
    r->residual = job->residual;
    r->passes = job->passes;
done:
    gram_give(context, k.across);
    gram_give(context, k.sums);
    gram_give(context, squares);
    gram_give(context, k.left);
    gram_give(context, k.step);
    gram_give(context, k.along);
    gram_give(context, k.turned);
    gram_give(context, k.image);
    return status;
}

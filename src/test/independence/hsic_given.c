/* Is x independent of y given z?
 *
 * In features: with phi the feature map of k_x, r_i = phi(x_i) - E[phi(x) | z_i] and s_i likewise for y, x and y are independent given z
 * only if E[r (x) s (x) chi(z)] = 0 for all features chi of z (Daudin, Biometrika 67, 1980). The statistic is the squared norm of its estimate,
 *
 *     T = 1/n^2 sum_ij W_ij,   W = (R R') o (S S') o K_z,
 *
 * o entry by entry, R and S the residuals of kernel ridge regressions of the features on z. The features are the columns of a partial
 * Cholesky factor. Under the hypothesis terms have mean 0 whatever z does, and flipping the signs of rows, T_e = 1/n^2 e'W e,
 * has the distribution of T but for what the regressions miss (Shah and Peters, "The hardness of conditional independence testing", Ann.
 * Stat. 48, 2020: some assumption is needed, and this is the one: the product of both errors is below n^-1/2).
 *
 * Bias is what hurts: where both regressions miss the same bend of z, rows look dependent. Noise that each of them fits is independent of
 * the other's, so the ridge is 0.03 of what leave-one-out finds best, and residuals are those of the rows that were fitted. But fitting
 * makes residuals of neighbours correlated, on both sides, and products of two such correlations do not cancel. With P = I - S what a
 * regression leaves of any target, and d_i = |r_i|^2/P_ii^2 the variance of row i, residuals have the covariance A = P diag(d) P'; so
 *
 *     sum_(i != j) (A_x)_ij (A_y)_ij (K_z)_ij
 *
 * is subtracted from the sum over W. Without it, 100 rows given one column reject 0.09 at 0.05, and 200 rows given three 0.35. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/cholesky.h>
#include <gram/krr_tune.h>
#include <gram/random.h>

#include "base/sized_struct.h"
#include "points/functionals.h"
#include "points/points.h"
#include "solve/pivoted_cholesky.h"
#include "test/independence/hsic.h"

enum { RANK = 32, PANEL = 4096, STRIP = 64, RANDOM_STREAM = 0x676976656e /* "given" */ };
static const double LESS = 0.03, DETERMINED = 1e-3, NOTHING = 1e-8, TIE = 1e-11;

static const char *const NAMES[] = {"x", "y", "given"};

/* Features of x or y, then what regressions on z leave of them. */
typedef struct features {
    int64_t n, rank;
    double *columns; /* n x rank */
} features;

/* Columns with mean 0; none if all entries of the kernel are equal. */
static gram_status make_features(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                 features *f)
{
    gram_status status = GRAM_OK;
    gram_pivoted p = {0};
    const int64_t n = f->n = points->n;
    const gram_pivoted_options options = {
        .rule = &gram_pivot_largest, .room = n < RANK ? n : RANK, .block = 1, .tolerance = 1e-4};
    double left = 0;
    TRY(gram_pivoted_make(context, kernel, points, &options, &p));
    f->rank = p.rank;
    TRY(gram_take(context, "hsic_given_test: features", n * p.rank, sizeof(double), (void **)&f->columns));
    for (int64_t k = 0; k < p.rank; k++) {
        double mean = 0;
        for (int64_t i = 0; i < n; i++) mean += p.f[i * p.room + k] / (double)n;
        for (int64_t i = 0; i < n; i++) {
            f->columns[i * p.rank + k] = p.f[i * p.room + k] - mean;
            left += f->columns[i * p.rank + k] * f->columns[i * p.rank + k];
        }
    }
    if (!(left > 1e-12 * p.trace)) f->rank = 0;
done:
    gram_pivoted_free(context->memory, &p);
    return status;
}

/* ---- what is left ---- */

/* Of a panel of rows: the residuals R and the covariance A that fitting gives them. */
typedef struct left {
    int64_t count, rank;
    double *r, *a;    /* count x rank, count x count */
    double *variance; /* count: |r_i|^2/P_ii^2 */
} left;

/* P = I - S of the regression with an intercept, m x m: what it leaves of every target. With A = K + noise I and s = A^-1 1,
 * P = noise (A^-1 - s s'/(1's)). */
static gram_status make_leaver(gram_context *context, const gram_kernel *kernel, const gram_points *z, double noise,
                               double *p)
{
    gram_status status = GRAM_OK;
    const int64_t m = z->n;
    gram_cholesky *factor = NULL;
    double *sums = NULL, jitter = 0, all = 0;
    TRY(gram_take(context, "hsic_given_test: sums", m, sizeof *sums, (void **)&sums));
    for (int64_t i = 0; i < m; i++) sums[i] = noise;
    TRY(gram_cholesky_create(context, kernel, z, sums, GRAM_STORAGE_F64, &jitter, &factor));
    TRY(gram_cholesky_invert(context, factor));
    TRY(gram_cholesky_inverse_matrix(context, factor, p, m));
    memset(sums, 0, (size_t)m * sizeof *sums);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) sums[i] += p[i * m + j];
    for (int64_t i = 0; i < m; i++) all += sums[i];
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) p[i * m + j] = (noise + jitter) * (p[i * m + j] - sums[i] * sums[j] / all);
done:
    gram_cholesky_destroy(factor);
    gram_give(context, sums);
    return status;
}

typedef struct multiplication {
    int64_t m, columns;
    const double *p, *b; /* m x m, m x columns */
    double *out;         /* p b */
} multiplication;

static gram_status multiply_task(void *argument, const gram_worker *worker)
{
    const multiplication *q = argument;
    const int64_t at = worker->task * STRIP, count = q->m - at < STRIP ? q->m - at : STRIP;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)count, (int)q->columns, (int)q->m, 1, q->p + at * q->m,
                (int)q->m, q->b, (int)q->columns, 0, q->out + at * q->columns, (int)q->columns);
    return GRAM_OK;
}

static gram_status multiply(gram_context *context, int64_t m, const double *p, int64_t columns, const double *b,
                            double *out)
{
    multiplication q = {m, columns, p, b, out};
    const gram_sweep sweep = {
        .what = "residuals", .tasks = (m + STRIP - 1) / STRIP, .run = multiply_task, .argument = &q};
    return gram_sweep_run(context, &sweep);
}

static gram_status find_left(gram_context *context, const gram_kernel *kernel, const gram_points *z, double noise,
                             const features *f, int64_t first, left *out)
{
    gram_status status = GRAM_OK;
    const int64_t m = out->count = z->n, rank = out->rank = f->rank;
    double *p = NULL, *scaled = NULL;
    TRY(gram_take(context, "hsic_given_test: residuals", m * rank, sizeof(double), (void **)&out->r));
    TRY(gram_take(context, "hsic_given_test: covariance", m * m, sizeof(double), (void **)&out->a));
    TRY(gram_take(context, "hsic_given_test: variances", m, sizeof(double), (void **)&out->variance));
    TRY(gram_take(context, "hsic_given_test: a regression", m * m, sizeof(double), (void **)&p));
    TRY(gram_take(context, "hsic_given_test: a regression", m * m, sizeof(double), (void **)&scaled));
    TRY(make_leaver(context, kernel, z, noise, p));
    TRY(multiply(context, m, p, rank, f->columns + first * rank, out->r));
    for (int64_t i = 0; i < m; i++) {
        const double own = fmax(p[i * m + i], 1e-8);
        out->variance[i] = 0;
        for (int64_t k = 0; k < rank; k++)
            out->variance[i] += out->r[i * rank + k] * out->r[i * rank + k] / (own * own);
        for (int64_t j = 0; j < m; j++) scaled[i * m + j] = out->variance[i] * p[j * m + i];
    }
    TRY(multiply(context, m, p, m, scaled, out->a));
done:
    gram_give(context, p);
    gram_give(context, scaled);
    return status;
}

static void free_left(gram_context *context, left *l)
{
    gram_give(context, l->r);
    gram_give(context, l->a);
    gram_give(context, l->variance);
    *l = (left){0};
}

/* The kernel and n lambda of the regression on z, and the share of the features' variance that it leaves unexplained, rows left out one
 * by one: r_i/P_ii are those errors. */
static gram_status tune(gram_context *context, gram_kernel *kernel, const gram_points *z, const features *f,
                        gram_kernel **tuned, double *noise, double *unexplained)
{
    gram_status status = GRAM_OK;
    gram_krr_tune_options tuning;
    gram_points *rows = NULL;
    left found = {0};
    double lambda, all = 0;
    gram_krr_tune_options_init(&tuning, sizeof tuning);
    TRY(gram_krr_tune(context, kernel, z, f->rank, f->columns, f->rank, &tuning, tuned, &lambda, NULL));
    *noise = lambda * (double)f->n;
    TRY(gram_points_part(context, z, 0, f->n < PANEL ? f->n : PANEL, &rows));
    TRY(find_left(context, *tuned, rows, *noise, f, 0, &found));
    *unexplained = 0;
    for (int64_t i = 0; i < found.count; i++) *unexplained += found.variance[i];
    for (int64_t i = 0; i < found.count * f->rank; i++) all += f->columns[i] * f->columns[i];
    *unexplained /= all;
done:
    free_left(context, &found);
    gram_points_release(rows);
    return status;
}

/* ---- the statistic ---- */

typedef struct problem {
    const gram_points *z;
    const gram_kernel *kernel;  /* of z in W */
    gram_kernel *regression[2]; /* of z, for x and for y */
    double noise[2];            /* n lambda */
    features f[2];
} problem;

/* Sums over the pairs of a panel of rows. A task has STRIP rows of W. */
typedef struct forms {
    const left *r, *s;
    const double *kz; /* count x count, of the panel */
    int64_t first, count, draws;
    const double *signs; /* n x draws: +-1; those of the first draw are 1 */
    double
        *parts; /* for each task: e'W e of each draw, tr W, the squares beside the diagonal, what fitting adds there */
} forms;

static int64_t part_size(const forms *f)
{
    return f->draws + 3;
}

/* Rows `at` .. at + count - 1 of the panel's W. */
static void fill_strip(const forms *f, int64_t at, int64_t count, double *w, double *other)
{
    const int64_t m = f->count, p = f->r->rank, q = f->s->rank;
    const double *r = f->r->r, *s = f->s->r;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, (int)m, (int)p, 1, r + at * p, (int)p, r, (int)p,
                0, w, (int)m);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, (int)m, (int)q, 1, s + at * q, (int)q, s, (int)q,
                0, other, (int)m);
    for (int64_t i = 0; i < count * m; i++) w[i] *= other[i] * f->kz[at * m + i];
}

static gram_status strip_task(void *argument, const gram_worker *worker)
{
    const forms *f = argument;
    const int64_t m = f->count, draws = f->draws, at = worker->task * STRIP, count = m - at < STRIP ? m - at : STRIP;
    const double *e = f->signs + f->first * draws, *own = e + at * draws;
    double *w = worker->scratch, *other = w + STRIP * m, *product = other + STRIP * m;
    double *part = f->parts + worker->task * part_size(f);
    fill_strip(f, at, count, w, other);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)count, (int)draws, (int)m, 1, w, (int)m, e, (int)draws,
                0, product, (int)draws);
    memset(part, 0, (size_t)part_size(f) * sizeof *part);
    for (int64_t i = 0; i < count; i++) {
        const double diagonal = w[i * m + at + i];
        for (int64_t b = 0; b < draws; b++) part[b] += own[i * draws + b] * product[i * draws + b];
        for (int64_t j = 0; j < m; j++) {
            const int64_t ij = (at + i) * m + j;
            part[draws + 1] += w[i * m + j] * w[i * m + j];
            if (j != at + i) part[draws + 2] += f->r->a[ij] * f->s->a[ij] * f->kz[ij];
        }
        part[draws] += diagonal;
        part[draws + 1] -= diagonal * diagonal;
    }
    return GRAM_OK;
}

static gram_status sum_panel(gram_context *context, forms *f, double *sums)
{
    gram_status status = GRAM_OK;
    const int64_t tasks = (f->count + STRIP - 1) / STRIP;
    TRY(gram_take(context, "hsic_given_test: sums", tasks * part_size(f), sizeof *f->parts, (void **)&f->parts));
    const gram_sweep sweep = {.what = "sign flips",
                              .tasks = tasks,
                              .scratch_bytes = (size_t)(STRIP * (2 * f->count + f->draws)) * sizeof(double),
                              .run = strip_task,
                              .argument = f};
    TRY(gram_sweep_run(context, &sweep));
    for (int64_t t = 0; t < tasks; t++)
        for (int64_t b = 0; b < part_size(f); b++) sums[b] += f->parts[t * part_size(f) + b];
done:
    gram_give(context, f->parts);
    f->parts = NULL;
    return status;
}

/* Pairs of rows of different panels are left out, and each has regressions of its own: beyond PANEL rows the time is linear. */
static gram_status sum_panels(gram_context *context, const problem *p, forms *f, double *sums)
{
    gram_status status = GRAM_OK;
    const int64_t n = p->z->n, most = n < PANEL ? n : PANEL;
    double *kz = NULL;
    gram_points *rows = NULL;
    left both[2] = {{0}, {0}};
    TRY(gram_take(context, "hsic_given_test: a matrix", most * most, sizeof *kz, (void **)&kz));
    f->kz = kz;
    f->r = &both[0];
    f->s = &both[1];
    for (f->first = 0; f->first < n; f->first += f->count) {
        f->count = n - f->first < PANEL ? n - f->first : PANEL;
        TRY(gram_points_part(context, p->z, f->first, f->count, &rows));
        TRY(gram_matrix(context, p->kernel, rows, NULL, kz, f->count));
        for (int v = 0; v < 2; v++)
            TRY(find_left(context, p->regression[v], rows, LESS * p->noise[v], &p->f[v], f->first, &both[v]));
        TRY(sum_panel(context, f, sums));
        for (int v = 0; v < 2; v++) free_left(context, &both[v]);
        gram_points_release(rows);
        rows = NULL;
    }
done:
    f->kz = NULL;
    f->r = f->s = NULL;
    for (int v = 0; v < 2; v++) free_left(context, &both[v]);
    gram_points_release(rows);
    gram_give(context, kz);
    return status;
}

static void draw_signs(gram_context *context, int64_t n, int64_t draws, double *signs)
{
    const gram_random random = {gram_context_seed(context), RANDOM_STREAM};
    gram_random_uniform(random, 0, n * draws, signs);
    for (int64_t i = 0; i < n; i++)
        for (int64_t b = 0; b < draws; b++) signs[i * draws + b] = b == 0 || signs[i * draws + b] < 0.5 ? 1 : -1;
}

static gram_status flip(gram_context *context, const problem *p, int64_t draws, gram_hsic_given_result *result)
{
    gram_status status = GRAM_OK;
    const int64_t n = p->z->n;
    const double n2 = (double)n * (double)n;
    forms all = {.draws = draws};
    double *signs = NULL, *sums = NULL;
    int64_t reached = 1;
    TRY(gram_take(context, "hsic_given_test: signs", n * draws, sizeof *signs, (void **)&signs));
    TRY(gram_take(context, "hsic_given_test: sums", part_size(&all), sizeof *sums, (void **)&sums));
    memset(sums, 0, (size_t)part_size(&all) * sizeof *sums);
    draw_signs(context, n, draws, signs);
    all.signs = signs;
    TRY(sum_panels(context, p, &all, sums));
    const double observed = sums[0] - sums[draws + 2], trace = sums[draws];
    /* left-out rows at the edges may be far off although the rows that were fitted are met exactly */
    FAIL_IF(trace < NOTHING * (double)n, context, GRAM_ERROR_DATA,
            "hsic_given_test: x or y is determined by what is given: the regressions leave nothing of it (a mean "
            "square of %.1g)",
            trace / (double)n);
    for (int64_t b = 1; b < draws; b++) reached += sums[b] >= observed - TIE * trace;
    result->p_value = (double)reached / (double)draws;
    result->statistic = observed / n2;
    result->null_mean = trace / n2;
    result->null_deviation = sqrt(fmax(2 * sums[draws + 1], 0)) / n2;
done:
    gram_give(context, signs);
    gram_give(context, sums);
    return status;
}

/* ---- the test ---- */

static gram_status check(gram_context *context, const gram_points *const *points, const gram_hsic_options *o)
{
    enum { LEAST_ROWS = 10 };
    gram_status status = GRAM_OK;
    FAIL_IF(!points, context, GRAM_ERROR_ARGUMENT, "hsic_given_test: points is NULL");
    for (int v = 0; v < 3; v++) {
        FAIL_IF(!points[v], context, GRAM_ERROR_ARGUMENT, "hsic_given_test: points[%d] is NULL", v);
        TRY(gram_points_must_be_plain(context, "hsic_given_test", points[v]));
        TRY(gram_points_must_be_numbers(context, "hsic_given_test", points[v]));
        FAIL_IF(points[v]->n != points[0]->n, context, GRAM_ERROR_DIMENSION,
                "hsic_given_test: points[%d] has %lld rows, points[0] has %lld", v, (long long)points[v]->n,
                (long long)points[0]->n);
    }
    FAIL_IF(points[0]->n < LEAST_ROWS, context, GRAM_ERROR_DIMENSION, "hsic_given_test: %lld rows, need %d or more",
            (long long)points[0]->n, (int)LEAST_ROWS);
    FAIL_IF(o->method != GRAM_HSIC_AUTO, context, GRAM_ERROR_ARGUMENT,
            "hsic_given_test: method = %d, there is only GRAM_HSIC_AUTO", (int)o->method);
    TRY(gram_hsic_check_numbers(context, "hsic_given_test", o));
done:
    return status;
}

/* Kernels, features and regressions; *nothing: x or y is constant. */
static gram_status prepare(gram_context *context, gram_kernel *const *kernels, const gram_points *const *points,
                           problem *p, gram_hsic_given_result *result, int *nothing)
{
    gram_status status = GRAM_OK;
    gram_kernel *rbf = NULL;
    TRY(gram_kernel_parse(context, "rbf", &rbf));
    for (int v = 0; v < 3; v++) {
        const gram_kernel *kernel = kernels && kernels[v] ? kernels[v] : rbf;
        TRY(gram_kernel_resolve(context, kernel, points[v], &result->kernels[v]));
    }
    p->z = points[2];
    p->kernel = result->kernels[2];
    for (int v = 0; v < 2; v++) {
        TRY(make_features(context, result->kernels[v], points[v], &p->f[v]));
        *nothing |= p->f[v].rank == 0;
        if (*nothing) continue;
        TRY(tune(context, kernels && kernels[2] ? kernels[2] : rbf, points[2], &p->f[v], &result->regression[v],
                 &p->noise[v], &result->unexplained[v]));
        FAIL_IF(result->unexplained[v] < DETERMINED, context, GRAM_ERROR_DATA,
                "hsic_given_test: %s is determined by what is given: of its features a share of %.1g is left", NAMES[v],
                result->unexplained[v]);
        p->regression[v] = result->regression[v];
        result->lambda[v] = LESS * p->noise[v] / (double)points[v]->n;
    }
done:
    gram_kernel_release(rbf);
    return status;
}

void gram_hsic_given_result_init(gram_hsic_given_result *result, size_t size)
{
    const gram_hsic_given_result empty = {.size = 0};
    gram_sized_init(result, size, &empty, sizeof empty);
}

void gram_hsic_given_result_clear(gram_hsic_given_result *result)
{
    if (!result || !GRAM_SIZED_HAS(result, regression)) return;
    for (int v = 0; v < 3; v++) {
        gram_kernel_release(result->kernels[v]);
        result->kernels[v] = NULL;
    }
    for (int v = 0; v < 2; v++) {
        gram_kernel_release(result->regression[v]);
        result->regression[v] = NULL;
    }
}

gram_status gram_hsic_given_test(gram_context *context, gram_kernel *const *kernels, const gram_points *const *points,
                                 const gram_hsic_options *options, gram_hsic_given_result *result)
{
    gram_status status = GRAM_OK;
    gram_hsic_options o;
    gram_hsic_given_result made;
    problem p = {.z = NULL};
    int nothing = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    gram_hsic_given_result_init(&made, sizeof made);
    made.p_value = made.unexplained[0] = made.unexplained[1] = 1;
    FAIL_IF(!result, context, GRAM_ERROR_ARGUMENT, "hsic_given_test: result is NULL");
    gram_hsic_options_init(&o, sizeof o);
    TRY(gram_sized_check(context, "hsic_given_test", "result", "gram_hsic_given_result", result, sizeof made));
    TRY(gram_sized_read(context, "hsic_given_test", "options", "gram_hsic_options", options, &o, sizeof o));
    TRY(check(context, points, &o));
    made.n = points[0]->n;
    TRY(prepare(context, kernels, points, &p, &made, &nothing));
    if (!nothing) TRY(flip(context, &p, o.permutations + 1, &made));
    made.reject = made.p_value <= o.level;
done:
    for (int v = 0; v < 2; v++) gram_give(context, p.f[v].columns);
    if (status < 0 || !GRAM_SIZED_HAS(result, regression)) gram_hsic_given_result_clear(&made); /* no room for them */
    if (result) gram_sized_write(result, &made, sizeof made);
    return status;
}

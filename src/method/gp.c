/* The posterior of a Gaussian process.
 *
 * At a new point with k = (k(x_i, x))_i, t the mean's columns there, and r = t - H'k:
 *
 *     mean      t'beta + k'a
 *     variance  k(x, x) - |L^-1 k|^2, and with a flat prior on beta + |L_small^-1 r|^2
 *
 * The difference is clipped at 0, where rounding may push it a little below. Points go by in chunks of some hundred columns:
 * L^-1 k is a triangular solve with many right-hand sides.
 *
 * Leave-one-out: with P as in gp_system.c, y_i given the others is N(y_i - a_i/P_ii, 1/P_ii). The diagonal of A^-1 is the
 * squared norms of the columns of L^-1, so that the factor stays. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/gp.h>
#include <gram/random.h>

#include "../base/sweep.h"
#include "../points/points.h"
#include "gp_system.h"

void dpotrf_(const char *uplo, const int *n, double *a, const int *lda, int *info, size_t uplo_length);

enum { CHUNK = 512, MOST_FOR_LOO = 5000 };
static const double LEAST_JITTER = 1e-15, MOST_JITTER = 1e-4; /* of the mean variance */

struct gram_gp {
    gram_memory *memory;
    gram_function *function;
    gram_kernel *kernel;
    gram_gp_system system; /* y is not kept */
    gram_gp_report report;
    double *loo_mean, *loo_variance;
};

/* ---- conditioning ---- */

/* diag(A^-1) to `out`, some columns of L^-1 at a time. */
static gram_status inverse_diagonal(gram_context *context, const gram_gp_system *s, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->n;
    double *columns = NULL;
    TRY(gram_take(context, "gp_fit: columns of the inverse", n * CHUNK, sizeof(double), (void **)&columns));
    for (int64_t first = 0; first < n; first += CHUNK) {
        const int64_t count = n - first < CHUNK ? n - first : CHUNK;
        memset(columns, 0, (size_t)(n * count) * sizeof *columns);
        for (int64_t j = 0; j < count; j++) columns[(first + j) * count + j] = 1;
        TRY(gram_cholesky_half_solve(context, s->factor, count, columns, count));
        for (int64_t j = 0; j < count; j++) out[first + j] = 0;
        for (int64_t i = first; i < n; i++)
            for (int64_t j = 0; j < count; j++) out[first + j] += columns[i * count + j] * columns[i * count + j];
    }
done:
    gram_give(context, columns, n * CHUNK, sizeof(double));
    return status;
}

static gram_status leave_one_out(gram_context *context, const double *y, gram_gp *gp)
{
    gram_status status = GRAM_OK;
    const gram_gp_system *s = &gp->system;
    double *row = NULL, sum = 0, density = 0, inside = 0, mean = 0, variation = 0;
    TRY(gram_take(context, "gp_fit: leave-one-out", s->n, sizeof(double), (void **)&gp->loo_mean));
    TRY(gram_take(context, "gp_fit: leave-one-out", s->n, sizeof(double), (void **)&gp->loo_variance));
    TRY(gram_take(context, "gp_fit: leave-one-out", s->q + 1, sizeof(double), (void **)&row));
    TRY(inverse_diagonal(context, s, gp->loo_variance));
    for (int64_t i = 0; i < s->n; i++) mean += y[i] / (double)s->n;
    for (int64_t i = 0; i < s->n; i++) {
        double p = gp->loo_variance[i];
        if (s->q > 0) memcpy(row, s->h + i * s->q, (size_t)s->q * sizeof *row);
        gram_gp_small_solve(s, row);
        for (int64_t k = 0; k < s->q; k++) p -= row[k] * row[k];
        const int known = p > 1e-14 * gp->loo_variance[i]; /* one row and a constant: nothing is left to predict from */
        const double miss = known ? s->a[i] / p : NAN;
        gp->loo_variance[i] = known ? 1 / p : NAN;
        gp->loo_mean[i] = y[i] - miss;
        sum += miss * miss;
        density += -0.5 * (log(2 * 3.14159265358979323846 / p) + miss * miss * p);
        inside += miss * miss * p <= 1.959963984540054 * 1.959963984540054;
        variation += (y[i] - mean) * (y[i] - mean);
    }
    gp->report.loo_rmse = sqrt(sum / (double)s->n);
    gp->report.loo_r2 = variation > 0 ? 1 - sum / variation : NAN;
    gp->report.loo_log_density = density / (double)s->n;
    gp->report.loo_coverage = inside / (double)s->n;
done:
    gram_give(context, row, s->q + 1, sizeof(double));
    return status;
}

/* Fitted values and the residual of the system, from one product K [a, 1]. */
static gram_status report_residual(gram_context *context, const double *y, gram_gp *gp)
{
    gram_status status = GRAM_OK;
    const gram_gp_system *s = &gp->system;
    gram_gp_report *r = &gp->report;
    const int64_t n = s->n;
    double *v = NULL, *out = NULL, residual = 0, right = 0, sizes = 0, rows = 0, miss = 0, mean = 0, variation = 0;
    TRY(gram_take(context, "gp_fit: residual", 2 * n, sizeof(double), (void **)&v));
    TRY(gram_take(context, "gp_fit: residual", 2 * n, sizeof(double), (void **)&out));
    for (int64_t i = 0; i < n; i++) {
        v[2 * i] = s->a[i];
        v[2 * i + 1] = 1;
        mean += y[i] / (double)n;
    }
    TRY(gram_matrix_product(context, gp->kernel, gram_function_centres(gp->function), NULL, 2, v, 2, out, 2));
    for (int64_t i = 0; i < n; i++) {
        const double shift = s->shift[i] + s->jitter;
        double target = y[i];
        for (int64_t j = 0; j < s->q; j++) target -= s->t[i * s->q + j] * s->beta[j];
        const double left = out[2 * i] + shift * s->a[i], row = out[2 * i + 1] + shift;
        residual += (target - left) * (target - left);
        right += target * target;
        sizes += s->a[i] * s->a[i];
        rows += row * row;
        miss += (target - out[2 * i]) * (target - out[2 * i]);
        variation += (y[i] - mean) * (y[i] - mean);
    }
    r->residual = right > 0 ? sqrt(residual / right) : 0;
    const double size = sqrt(rows / (double)n) * sqrt(sizes) + sqrt(right);
    r->backward_error = size > 0 ? sqrt(residual) / size : 0;
    r->train_rmse = sqrt(miss / (double)n);
    r->train_r2 = variation > 0 ? 1 - miss / variation : NAN;
done:
    gram_give(context, v, 2 * n, sizeof(double));
    gram_give(context, out, 2 * n, sizeof(double));
    return status;
}

static gram_status make(gram_context *context, gram_kernel *kernel, gram_gp **gp)
{
    gram_status status = GRAM_OK;
    gram_gp *made = NULL;
    TRY(gram_take(context, "gp_fit", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->kernel = gram_kernel_retain(kernel);
    gram_gp_report *r = &made->report;
    r->size = sizeof *r;
    r->loo_rmse = r->loo_r2 = r->loo_log_density = r->loo_coverage = NAN;
    *gp = made;
done:
    return status;
}

gram_status gram_gp_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                        const gram_gp_options *options, gram_gp **gp)
{
    gram_status status = GRAM_OK;
    gram_gp *made = NULL;
    if (!context || !gp) return GRAM_ERROR_ARGUMENT;
    *gp = NULL;
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "gp_fit: kernel is NULL");
    TRY(make(context, kernel, &made));
    gram_gp_system *s = &made->system;
    TRY(gram_gp_system_make(context, "gp_fit", kernel, x, y, options, s));
    TRY(gram_function_create(context, kernel, x, 1, s->a, 1, s->options.mean != GRAM_MEAN_ZERO ? s->beta : NULL,
                             &made->function));
    gram_gp_report *r = &made->report;
    r->n = s->n;
    r->d = s->d;
    r->noise = s->options.noise;
    r->jitter = s->jitter;
    r->log_marginal_likelihood = gram_gp_log_likelihood(s);
    TRY(gram_cholesky_condition(context, s->factor, &r->condition));
    TRY(report_residual(context, y, made));
    if (s->n <= MOST_FOR_LOO) TRY(leave_one_out(context, y, made));
    s->y = s->options.basis = s->options.row_noise = s->options.weights = NULL; /* the caller's */
    *gp = made;
    made = NULL;
done:
    gram_gp_destroy(made);
    return status;
}

void gram_gp_destroy(gram_gp *gp)
{
    if (!gp) return;
    gram_memory *memory = gp->memory;
    const gram_gp_system *s = &gp->system;
    const size_t real = sizeof(double), n = (size_t)s->n, q = (size_t)s->q;
    gram_function_release(gp->function);
    gram_kernel_release(gp->kernel);
    gram_memory_give(memory, gp->loo_mean, n * real);
    gram_memory_give(memory, gp->loo_variance, n * real);
    gram_cholesky_destroy(s->factor);
    gram_memory_give(memory, s->t, n * q * real);
    gram_memory_give(memory, s->h, n * q * real);
    gram_memory_give(memory, s->small, q * q * real);
    gram_memory_give(memory, s->beta, q * real);
    gram_memory_give(memory, s->shift, n * real);
    gram_memory_give(memory, s->a, n * real);
    gram_memory_give(memory, gp, sizeof *gp);
    gram_memory_release(memory);
}

const gram_gp_report *gram_gp_get_report(const gram_gp *gp)
{
    return &gp->report;
}

gram_function *gram_gp_function(const gram_gp *gp)
{
    return gp->function;
}

const double *gram_gp_slopes(const gram_gp *gp)
{
    return gp->system.options.mean == GRAM_MEAN_LINEAR ? gp->system.beta + 1 : NULL;
}

const double *gram_gp_column_coefficients(const gram_gp *gp)
{
    const gram_gp_system *s = &gp->system;
    return s->options.columns > 0 ? s->beta + s->q - s->options.columns : NULL;
}

const double *gram_gp_loo_mean(const gram_gp *gp)
{
    return gp->loo_mean;
}

const double *gram_gp_loo_variance(const gram_gp *gp)
{
    return gp->loo_variance;
}

/* ---- prediction ---- */

static gram_status check_points(gram_context *context, const char *name, const gram_gp *gp, const gram_points *points,
                                const double *basis, int64_t ldb)
{
    gram_status status = GRAM_OK;
    const int64_t columns = gp->system.options.columns;
    FAIL_IF(!points, context, GRAM_ERROR_ARGUMENT, "%s: points is NULL", name);
    FAIL_IF(points->d != gp->system.d, context, GRAM_ERROR_DIMENSION, "%s: points of %lld columns, the fit had %lld",
            name, (long long)points->d, (long long)gp->system.d);
    FAIL_IF(columns > 0 && (!basis || ldb < columns), context, GRAM_ERROR_ARGUMENT,
            "%s: the fit had %lld columns of the mean; basis must have them", name, (long long)columns);
done:
    return status;
}

/* rows [first, first + count) of the points, as points of their own */
static gram_status part_of(gram_context *context, const gram_points *x, int64_t first, int64_t count, gram_points **out)
{
    if (x->f64) return gram_points_create_f64(context, count, x->d, x->f64 + first * x->stride, x->stride, out);
    return gram_points_create_f32(context, count, x->d, x->f32 + first * x->stride, x->stride, out);
}

/* The mean's columns at `count` points from `first` on: count x q. */
static void mean_rows(const gram_gp *gp, const gram_points *points, int64_t first, int64_t count, const double *basis,
                      int64_t ldb, double *point, double *out)
{
    const gram_gp_system *s = &gp->system;
    for (int64_t i = 0; i < count && s->q > 0; i++) {
        for (int64_t l = 0; l < s->d; l++) point[l] = gram_points_at(points, first + i, l);
        gram_gp_mean_row(s, point, basis ? basis + (first + i) * ldb : NULL, out + i * s->q);
    }
}

/* What one chunk of points needs. */
typedef struct chunk {
    int64_t room;     /* points at most */
    double *k;        /* n x count: K(X, points), then L^-1 of it */
    double *rows;     /* count x q: the mean's columns, then L_small^-1 (t - H'k) */
    double *point;    /* d */
    double *diagonal; /* count */
} chunk;

static gram_status take_chunk(gram_context *context, const gram_gp *gp, int64_t room, chunk *c)
{
    gram_status status = GRAM_OK;
    c->room = room;
    TRY(gram_take(context, "gp: a chunk of points", gp->system.n * room, sizeof(double), (void **)&c->k));
    TRY(gram_take(context, "gp: a chunk of points", gp->system.q * room, sizeof(double), (void **)&c->rows));
    TRY(gram_take(context, "gp: a chunk of points", gp->system.d, sizeof(double), (void **)&c->point));
    TRY(gram_take(context, "gp: a chunk of points", room, sizeof(double), (void **)&c->diagonal));
done:
    return status;
}

static void give_chunk(gram_context *context, const gram_gp *gp, chunk *c)
{
    gram_give(context, c->k, gp->system.n * c->room, sizeof(double));
    gram_give(context, c->rows, gp->system.q * c->room, sizeof(double));
    gram_give(context, c->point, gp->system.d, sizeof(double));
    gram_give(context, c->diagonal, c->room, sizeof(double));
}

/* k becomes L^-1 K(X, part) and rows, with a flat prior, L_small^-1 (t - H'k). */
static gram_status whiten(gram_context *context, const gram_gp *gp, const gram_points *part, chunk *c)
{
    gram_status status = GRAM_OK;
    const gram_gp_system *s = &gp->system;
    const int64_t count = part->n;
    TRY(gram_matrix(context, gp->kernel, gram_function_centres(gp->function), part, c->k, count));
    if (s->options.flat && s->q > 0) {
        gram_blas_enter();
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)count, (int)s->q, (int)s->n, -1, c->k, (int)count,
                    s->h, (int)s->q, 1, c->rows, (int)s->q);
        gram_blas_leave();
        for (int64_t i = 0; i < count; i++) gram_gp_small_solve(s, c->rows + i * s->q);
    }
    TRY(gram_cholesky_half_solve(context, s->factor, count, c->k, count));
done:
    return status;
}

static gram_status chunk_variance(gram_context *context, const gram_gp *gp, const gram_points *part, chunk *c,
                                  double *variance)
{
    gram_status status = GRAM_OK;
    const gram_gp_system *s = &gp->system;
    const int64_t count = part->n;
    TRY(whiten(context, gp, part, c));
    TRY(gram_matrix_diagonal(context, gp->kernel, part, c->diagonal));
    for (int64_t j = 0; j < count; j++) variance[j] = c->diagonal[j];
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t j = 0; j < count; j++) variance[j] -= c->k[i * count + j] * c->k[i * count + j];
    for (int64_t j = 0; j < count; j++) {
        variance[j] = variance[j] > 0 ? variance[j] : 0;
        for (int64_t k = 0; k < s->q && s->options.flat; k++)
            variance[j] += c->rows[j * s->q + k] * c->rows[j * s->q + k];
    }
done:
    return status;
}

/* The mean's part beyond the constant, which the function has. */
static void add_mean(const gram_gp *gp, const double *rows, int64_t count, double *mean)
{
    const gram_gp_system *s = &gp->system;
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = s->options.mean != GRAM_MEAN_ZERO; j < s->q; j++) mean[i] += rows[i * s->q + j] * s->beta[j];
}

gram_status gram_gp_predict(gram_context *context, const gram_gp *gp, const gram_points *points, const double *basis,
                            int64_t ldb, double *mean, double *variance)
{
    gram_status status = GRAM_OK;
    chunk c = {0};
    gram_points *part = NULL;
    if (!context || !gp || !mean) return GRAM_ERROR_ARGUMENT;
    TRY(check_points(context, "gp_predict", gp, points, basis, ldb));
    TRY(gram_function_evaluate(context, gp->function, points, mean, 1));
    if (!variance && gp->system.q <= 1 && gp->system.options.columns == 0) goto done;
    TRY(take_chunk(context, gp, points->n < CHUNK ? points->n : CHUNK, &c));
    for (int64_t first = 0; first < points->n; first += CHUNK) {
        const int64_t count = points->n - first < CHUNK ? points->n - first : CHUNK;
        mean_rows(gp, points, first, count, basis, ldb, c.point, c.rows);
        add_mean(gp, c.rows, count, mean + first);
        if (!variance) continue;
        TRY(part_of(context, points, first, count, &part));
        TRY(chunk_variance(context, gp, part, &c, variance + first));
        gram_points_destroy(part);
        part = NULL;
    }
done:
    gram_points_destroy(part);
    give_chunk(context, gp, &c);
    return status;
}

gram_status gram_gp_covariance(gram_context *context, const gram_gp *gp, const gram_points *points, const double *basis,
                               int64_t ldb, double *covariance, int64_t ld)
{
    gram_status status = GRAM_OK;
    chunk c = {0};
    if (!context || !gp || !covariance) return GRAM_ERROR_ARGUMENT;
    TRY(check_points(context, "gp_covariance", gp, points, basis, ldb));
    const gram_gp_system *s = &gp->system;
    const int64_t m = points->n;
    FAIL_IF(ld < m, context, GRAM_ERROR_ARGUMENT, "gp_covariance: ld = %lld is less than the %lld points",
            (long long)ld, (long long)m);
    TRY(take_chunk(context, gp, m, &c));
    mean_rows(gp, points, 0, m, basis, ldb, c.point, c.rows);
    TRY(whiten(context, gp, points, &c));
    TRY(gram_matrix(context, gp->kernel, points, NULL, covariance, ld));
    gram_blas_enter();
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, (int)m, (int)s->n, -1, c.k, (int)m, 1, covariance, (int)ld);
    if (s->options.flat && s->q > 0)
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasNoTrans, (int)m, (int)s->q, 1, c.rows, (int)s->q, 1, covariance,
                    (int)ld);
    gram_blas_leave();
    for (int64_t i = 0; i < m; i++) {
        if (covariance[i * ld + i] < 0) covariance[i * ld + i] = 0;
        for (int64_t j = 0; j < i; j++) covariance[j * ld + i] = covariance[i * ld + j];
    }
done:
    give_chunk(context, gp, &c);
    return status;
}

gram_status gram_gp_gradient(gram_context *context, const gram_gp *gp, const gram_points *points, double *out,
                             int64_t ldo)
{
    gram_status status = GRAM_OK;
    if (!context || !gp || !out) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(gp->system.options.columns > 0, context, GRAM_ERROR_UNSUPPORTED,
            "gp_gradient: the derivative of given columns of the mean is not known");
    TRY(gram_function_gradient(context, gp->function, 0, points, out, ldo));
    const double *slopes = gram_gp_slopes(gp);
    for (int64_t i = 0; i < points->n && slopes; i++)
        for (int64_t l = 0; l < points->d; l++) out[i * ldo + l] += slopes[l];
done:
    return status;
}

/* ---- draws ---- */

/* The lower factor of a covariance (m x m, in place) with the least jitter, of powers of ten, that it needs. */
static gram_status factor_covariance(gram_context *context, int64_t m, double *c, double *copy, double *jitter)
{
    gram_status status = GRAM_OK;
    const int size = (int)m;
    double mean = 0;
    int info = 1;
    for (int64_t i = 0; i < m; i++) mean += c[i * m + i] / (double)m;
    for (*jitter = 0; info != 0; *jitter = *jitter == 0 ? LEAST_JITTER * mean : 10 * *jitter) {
        FAIL_IF(*jitter > MOST_JITTER * mean, context, GRAM_ERROR_NUMERICAL,
                "gp_draw: the covariance of %lld points is not positive definite with a jitter of %g", (long long)m,
                *jitter);
        memcpy(copy, c, (size_t)(m * m) * sizeof *c);
        for (int64_t i = 0; i < m; i++) copy[i * m + i] += *jitter;
        gram_blas_enter();
        dpotrf_("U", &size, copy, &size, &info, 1); /* the row-major lower triangle */
        gram_blas_leave();
        if (mean == 0) info = 0; /* nothing is left to draw */
        if (info == 0) break;
    }
done:
    return status;
}

/* out = mean + L z for `count` standard normal z. */
static gram_status draw(gram_context *context, const double *mean, int64_t m, double *covariance, int64_t count,
                        double *out, int64_t ldo, double *jitter)
{
    gram_status status = GRAM_OK;
    const gram_random random = {context->seed, 0x64726177 /* "draw" */};
    double *factor = NULL, *z = NULL, used = 0;
    TRY(gram_take(context, "gp_draw: factor", m * m, sizeof(double), (void **)&factor));
    TRY(gram_take(context, "gp_draw: normal numbers", m, sizeof(double), (void **)&z));
    TRY(factor_covariance(context, m, covariance, factor, &used));
    for (int64_t j = 0; j < count; j++) {
        gram_random_normal(random, (uint64_t)(j * m), m, z);
        cblas_dtrmv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)m, factor, (int)m, z, 1);
        for (int64_t i = 0; i < m; i++) out[i * ldo + j] = (mean ? mean[i] : 0) + z[i];
    }
    if (jitter) *jitter = used;
done:
    gram_give(context, factor, m * m, sizeof(double));
    gram_give(context, z, m, sizeof(double));
    return status;
}

gram_status gram_gp_draw(gram_context *context, const gram_gp *gp, const gram_points *points, const double *basis,
                         int64_t ldb, int64_t count, double *out, int64_t ldo, double *jitter)
{
    gram_status status = GRAM_OK;
    double *covariance = NULL, *mean = NULL;
    if (!context || !gp || !out) return GRAM_ERROR_ARGUMENT;
    TRY(check_points(context, "gp_draw", gp, points, basis, ldb));
    const int64_t m = points->n;
    FAIL_IF(count < 1 || ldo < count, context, GRAM_ERROR_ARGUMENT, "gp_draw: count = %lld with ldo = %lld",
            (long long)count, (long long)ldo);
    TRY(gram_take(context, "gp_draw: covariance", m * m, sizeof(double), (void **)&covariance));
    TRY(gram_take(context, "gp_draw: mean", m, sizeof(double), (void **)&mean));
    TRY(gram_gp_predict(context, gp, points, basis, ldb, mean, NULL));
    TRY(gram_gp_covariance(context, gp, points, basis, ldb, covariance, m));
    TRY(draw(context, mean, m, covariance, count, out, ldo, jitter));
done:
    if (points) {
        gram_give(context, covariance, points->n * points->n, sizeof(double));
        gram_give(context, mean, points->n, sizeof(double));
    }
    return status;
}

gram_status gram_gp_draw_prior(gram_context *context, gram_kernel *kernel, const gram_points *points, int64_t count,
                               double *out, int64_t ldo, double *jitter)
{
    gram_status status = GRAM_OK;
    double *covariance = NULL;
    if (!context || !kernel || !points || !out) return GRAM_ERROR_ARGUMENT;
    const int64_t m = points->n;
    FAIL_IF(count < 1 || ldo < count, context, GRAM_ERROR_ARGUMENT, "gp_draw_prior: count = %lld with ldo = %lld",
            (long long)count, (long long)ldo);
    TRY(gram_take(context, "gp_draw_prior: covariance", m * m, sizeof(double), (void **)&covariance));
    TRY(gram_matrix(context, kernel, points, NULL, covariance, m));
    TRY(draw(context, NULL, m, covariance, count, out, ldo, jitter));
done:
    gram_give(context, covariance, m * m, sizeof(double));
    return status;
}

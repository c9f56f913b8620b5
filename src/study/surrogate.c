/* The posterior of the surrogate and its updates.
 *
 * With A = K + noise I = L L', v = L^-1 k(u, X), o = L^-1 1, z = L^-1 y:
 *
 *     b        = o'z/o'o
 *     mean     = b + v'(z - b o)
 *     variance = k(u, u) - v'v + (1 - v'o)^2/o'o
 *
 * the last term being what is not known of b. A new row (x, y) adds to L the row (l, r), l = L^-1 k(x, X),
 * r^2 = k(x, x) + noise - l'l, to z the number (y - l'z)/r and to o (1 - l'o)/r. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "base/lapack.h"
#include "base/sweep.h"
#include "study/surrogate.h"

enum { FIRST_ROOM = 32, MOST_ROWS = 20000, CHUNK = 256 };
static const double LEAST_PIVOT = 1e-14, FIRST_JITTER = 1e-12, MOST_JITTER = 1e-2;

gram_status gram_surrogate_make(gram_context *context, int64_t d, double noise, gram_surrogate *out)
{
    gram_status status = GRAM_OK;
    const int64_t p = d + 2;
    *out = (gram_surrogate){.memory = context->memory, .d = d, .given_noise = noise, .scale = 1, .parameters = p};
    TRY(gram_take(context, "study: parameters", p, sizeof(double), (void **)&out->theta));
    TRY(gram_take(context, "study: parameters", p * p, sizeof(double), (void **)&out->inverse));
done:
    return status;
}

static void free_rows(gram_surrogate *s)
{
    double **const arrays[] = {&s->x, &s->y, &s->factor, &s->z, &s->one, &s->weights, &s->ones};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        gram_memory_give(s->memory, *arrays[i]);
        *arrays[i] = NULL;
    }
    s->n = s->room = 0;
}

void gram_surrogate_free(gram_surrogate *s)
{
    if (!s->memory) return;
    free_rows(s);
    gram_memory_give(s->memory, s->theta);
    gram_memory_give(s->memory, s->inverse);
    gram_kernel_release(s->kernel);
    *s = (gram_surrogate){0};
}

/* ---- room ---- */

static gram_status grow_array(gram_context *context, double **array, int64_t old, int64_t count)
{
    gram_status status = GRAM_OK;
    double *larger;
    TRY(gram_take(context, "study: the model's rows", count, sizeof *larger, (void **)&larger));
    if (*array) memcpy(larger, *array, (size_t)old * sizeof *larger);
    gram_give(context, *array);
    *array = larger;
done:
    return status;
}

static gram_status grow_factor(gram_context *context, gram_surrogate *s, int64_t room)
{
    gram_status status = GRAM_OK;
    double *larger;
    TRY(gram_take(context, "study: the factor", room * room, sizeof *larger, (void **)&larger));
    for (int64_t i = 0; i < s->n; i++)
        memcpy(larger + i * room, s->factor + i * s->room, (size_t)s->n * sizeof *larger);
    gram_give(context, s->factor);
    s->factor = larger;
done:
    return status;
}

/* Room for n rows; those that are there stay. */
static gram_status reserve(gram_context *context, gram_surrogate *s, int64_t n)
{
    gram_status status = GRAM_OK;
    int64_t room = s->room > FIRST_ROOM ? s->room : FIRST_ROOM;
    if (n <= s->room) return GRAM_OK;
    FAIL_IF(n > MOST_ROWS, context, GRAM_ERROR_UNSUPPORTED, "study: %lld evaluations, the model takes at most %d",
            (long long)n, (int)MOST_ROWS);
    while (room < n) room += room / 2;
    TRY(grow_array(context, &s->x, s->n * s->d, room * s->d));
    TRY(grow_array(context, &s->y, s->n, room));
    TRY(grow_array(context, &s->z, s->n, room));
    TRY(grow_array(context, &s->one, s->n, room));
    TRY(grow_array(context, &s->weights, s->n, room));
    TRY(grow_array(context, &s->ones, s->n, room));
    TRY(grow_factor(context, s, room));
    s->room = room;
done:
    return status;
}

/* ---- factor and weights ---- */

/* x = L^-1 x, or L^-T x */
static void substitute(const gram_surrogate *s, CBLAS_TRANSPOSE side, double *x)
{
    cblas_dtrsv(CblasRowMajor, CblasLower, side, CblasNonUnit, (int)s->n, s->factor, (int)s->room, x, 1);
}

/* b and the weights, from z and one. */
static void combine(gram_surrogate *s)
{
    const int before = gram_blas_enter();
    const int n = (int)s->n;
    s->precision = cblas_ddot(n, s->one, 1, s->one, 1);
    s->constant = cblas_ddot(n, s->one, 1, s->z, 1) / s->precision;
    memcpy(s->ones, s->one, (size_t)n * sizeof *s->ones);
    memcpy(s->weights, s->z, (size_t)n * sizeof *s->weights);
    cblas_daxpy(n, -s->constant, s->one, 1, s->weights, 1);
    substitute(s, CblasTrans, s->ones);
    substitute(s, CblasTrans, s->weights);
    gram_blas_leave(before);
}

static gram_status fill_factor(gram_context *context, gram_surrogate *s)
{
    gram_status status = GRAM_OK;
    gram_points *points = NULL;
    TRY(gram_points_create_f64(context, s->n, s->d, s->x, s->d, &points));
    TRY(gram_matrix(context, s->kernel, points, NULL, s->factor, s->room));
    for (int64_t i = 0; i < s->n; i++) s->factor[i * s->room + i] += s->noise + s->jitter;
done:
    gram_points_release(points);
    return status;
}

static int factor_in_place(gram_surrogate *s)
{
    const int before = gram_blas_enter();
    const int n = (int)s->n, ld = (int)s->room;
    int info = 0;
    dpotrf_("U", &n, s->factor, &ld, &info, 1); /* by columns the upper triangle is the lower one by rows */
    gram_blas_leave(before);
    return info == 0;
}

/* The least jitter from nothing on in steps of 100 that makes A positive definite. */
static gram_status factor_all(gram_context *context, gram_surrogate *s)
{
    gram_status status = GRAM_OK;
    s->jitter = 0;
    TRY(fill_factor(context, s));
    while (!factor_in_place(s)) {
        s->jitter = s->jitter > 0 ? 100 * s->jitter : FIRST_JITTER * s->amplitude;
        FAIL_IF(s->jitter > MOST_JITTER * s->amplitude, context, GRAM_ERROR_NUMERICAL,
                "study: the matrix of the model is not positive definite");
        TRY(fill_factor(context, s));
    }
    const int before = gram_blas_enter();
    for (int64_t i = 0; i < s->n; i++) {
        s->z[i] = (s->y[i] - s->shift) / s->scale;
        s->one[i] = 1;
    }
    substitute(s, CblasNoTrans, s->z);
    substitute(s, CblasNoTrans, s->one);
    gram_blas_leave(before);
    combine(s);
done:
    return status;
}

gram_status gram_surrogate_fit(gram_context *context, gram_surrogate *s, int64_t n, const double *x, const double *y,
                               int learn)
{
    gram_status status = GRAM_OK;
    s->n = 0;
    TRY(reserve(context, s, n));
    s->n = n;
    memcpy(s->x, x, (size_t)(n * s->d) * sizeof *x);
    memcpy(s->y, y, (size_t)n * sizeof *y);
    if (learn || !s->kernel) TRY(gram_surrogate_learn(context, s));
    TRY(factor_all(context, s));
done:
    if (status < 0) s->n = 0;
    return status;
}

/* out[i * n + j] = k(u_i, x_j) */
static gram_status cross(gram_context *context, const gram_surrogate *s, int64_t m, const double *u, double *out)
{
    gram_status status = GRAM_OK;
    gram_points *at = NULL, *rows = NULL;
    TRY(gram_points_create_f64(context, m, s->d, u, s->d, &at));
    TRY(gram_points_create_f64(context, s->n, s->d, s->x, s->d, &rows));
    TRY(gram_matrix(context, s->kernel, at, rows, out, s->n));
done:
    gram_points_release(at);
    gram_points_release(rows);
    return status;
}

gram_status gram_surrogate_append(gram_context *context, gram_surrogate *s, const double *x, double y)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->n;
    TRY(reserve(context, s, n + 1));
    double *row = s->factor + n * s->room;
    TRY(cross(context, s, 1, x, row));
    const int before = gram_blas_enter();
    substitute(s, CblasNoTrans, row);
    const double pivot = s->amplitude + s->noise + s->jitter - cblas_ddot((int)n, row, 1, row, 1);
    const double along = cblas_ddot((int)n, row, 1, s->z, 1), ones = cblas_ddot((int)n, row, 1, s->one, 1);
    gram_blas_leave(before);
    FAIL_IF(!(pivot > LEAST_PIVOT * s->amplitude), context, GRAM_ERROR_NUMERICAL,
            "study: the new row depends on the others");
    row[n] = sqrt(pivot);
    memcpy(s->x + n * s->d, x, (size_t)s->d * sizeof *x);
    s->y[n] = y;
    s->z[n] = ((y - s->shift) / s->scale - along) / row[n];
    s->one[n] = (1 - ones) / row[n];
    s->n = n + 1;
    combine(s);
done:
    return status;
}

void gram_surrogate_truncate(gram_surrogate *s, int64_t n)
{
    if (n >= s->n) return;
    s->n = n;
    combine(s);
}

/* ---- predictions ---- */

static gram_status predict_chunk(gram_context *context, const gram_surrogate *s, int64_t m, const double *u,
                                 double *work, double *mean, double *variance)
{
    gram_status status = GRAM_OK;
    const int n = (int)s->n;
    TRY(cross(context, s, m, u, work));
    const int before = gram_blas_enter();
    for (int64_t i = 0; i < m; i++) {
        const double *k = work + i * n, seen = 1 - cblas_ddot(n, k, 1, s->ones, 1);
        mean[i] = s->constant + cblas_ddot(n, k, 1, s->weights, 1);
        variance[i] = s->amplitude + seen * seen / s->precision;
    }
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, (int)m, n, 1, s->factor, (int)s->room,
                work, n);
    for (int64_t i = 0; i < m; i++)
        variance[i] = fmax(variance[i] - cblas_ddot(n, work + i * n, 1, work + i * n, 1), 0);
    gram_blas_leave(before);
done:
    return status;
}

gram_status gram_surrogate_predict(gram_context *context, const gram_surrogate *s, int64_t m, const double *u,
                                   double *mean, double *variance)
{
    gram_status status = GRAM_OK;
    const int64_t chunk = m < CHUNK ? m : CHUNK;
    double *work = NULL;
    TRY(gram_take(context, "study: predictions", chunk * s->n, sizeof *work, (void **)&work));
    for (int64_t first = 0; first < m; first += chunk) {
        const int64_t count = m - first < chunk ? m - first : chunk;
        TRY(predict_chunk(context, s, count, u + first * s->d, work, mean + first, variance + first));
    }
done:
    gram_give(context, work);
    return status;
}

/* K A^-1 = I - noise A^-1 at the rows, so that the covariances with them need no product with K: noise (A^-1 k + (A^-1 1) seen/precision). */
static void covary_chunk(const gram_surrogate *s, int64_t m, double *solved)
{
    const int before = gram_blas_enter();
    const int n = (int)s->n;
    const double nugget = s->noise + s->jitter;
    for (int64_t i = 0; i < m; i++) {
        double *row = solved + i * n;
        const double seen = 1 - cblas_ddot(n, row, 1, s->one, 1);
        substitute(s, CblasTrans, row);
        cblas_daxpy(n, seen / s->precision, s->ones, 1, row, 1);
        cblas_dscal(n, nugget, row, 1);
    }
    gram_blas_leave(before);
}

gram_status gram_surrogate_covary(gram_context *context, const gram_surrogate *s, int64_t m, const double *u,
                                  double *mean, double *variance, double *covariance)
{
    gram_status status = GRAM_OK;
    TRY(predict_chunk(context, s, m, u, covariance, mean, variance));
    covary_chunk(s, m, covariance);
done:
    return status;
}

void gram_surrogate_covary_slope(const gram_surrogate *s, const double *work, double *weights, double *slope)
{
    const int n = (int)s->n, d = (int)s->d;
    const int before = gram_blas_enter();
    const double sum = cblas_ddot(n, weights, 1, s->ones, 1);
    substitute(s, CblasNoTrans, weights);
    substitute(s, CblasTrans, weights);
    cblas_daxpy(n, -sum / s->precision, s->ones, 1, weights, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, n, d, s->noise + s->jitter, work + 2 * n, d, weights, 1, 0, slope, 1);
    gram_blas_leave(before);
}

gram_status gram_surrogate_slope(gram_context *context, const gram_surrogate *s, const double *u, double *work,
                                 double *mean, double *variance, double *mean_slope, double *variance_slope)
{
    gram_status status = GRAM_OK;
    const int n = (int)s->n, d = (int)s->d;
    double *k = work, *v = k + n, *slopes = v + n;
    gram_points *at = NULL, *rows = NULL;
    TRY(gram_points_create_f64(context, 1, d, u, d, &at));
    TRY(gram_points_create_f64(context, n, d, s->x, d, &rows));
    TRY(gram_matrix_derivatives(context, s->kernel, at, rows,
                                &(gram_derivatives){.ld = n, .value = k, .by_x = slopes}));
    const int before = gram_blas_enter();
    const double seen = 1 - cblas_ddot(n, k, 1, s->ones, 1);
    *mean = s->constant + cblas_ddot(n, k, 1, s->weights, 1);
    memcpy(v, k, (size_t)n * sizeof *v);
    substitute(s, CblasNoTrans, v);
    *variance = s->amplitude + seen * seen / s->precision - cblas_ddot(n, v, 1, v, 1);
    substitute(s, CblasTrans, v);
    cblas_dgemv(CblasRowMajor, CblasTrans, n, d, 1, slopes, d, s->weights, 1, 0, mean_slope, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, n, d, -2, slopes, d, v, 1, 0, variance_slope, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, n, d, -2 * seen / s->precision, slopes, d, s->ones, 1, 1, variance_slope, 1);
    gram_blas_leave(before);
    *variance = fmax(*variance, 0);
done:
    gram_points_release(at);
    gram_points_release(rows);
    return status;
}

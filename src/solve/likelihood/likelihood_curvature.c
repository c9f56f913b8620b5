/* The Hessian of a posterior with one latent number for each row, as likelihood.h describes it. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/lapack.h"
#include "base/sweep.h"
#include "solve/likelihood/likelihood.h"

/* V+ is at least so much over the largest k(x, x): what is below does not differ from 0 to working precision, and its
 * inverse stays a number. */
static const double LEAST = 1e-16;

static gram_status take(gram_context *context, int64_t n, gram_curvature *h)
{
    gram_status status = GRAM_OK;
    memset(h, 0, sizeof *h);
    h->n = n;
    TRY(gram_take(context, "curvature", n, sizeof(double), (void **)&h->shift));
    TRY(gram_take(context, "curvature", n, sizeof *h->negative, (void **)&h->negative));
done:
    return status;
}

void gram_curvature_free(gram_memory *memory, gram_curvature *h)
{
    gram_cholesky_destroy(h->factor);
    gram_memory_give(memory, h->shift);
    gram_memory_give(memory, h->negative);
    gram_memory_give(memory, h->q);
    gram_memory_give(memory, h->half);
    memset(h, 0, sizeof *h);
}

/* Q = (I - Z+ K) in the columns of the m rows, and S to `half`. */
static gram_status correct(gram_context *context, const gram_loss_matrix *k, gram_curvature *h)
{
    gram_status status = GRAM_OK;
    const int64_t n = h->n, m = h->m;
    h->room = m;
    TRY(gram_take(context, "curvature", n * m, sizeof(double), (void **)&h->q));
    TRY(gram_take(context, "curvature", m * m, sizeof(double), (void **)&h->half));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) h->q[i * m + j] = k->k[i * n + h->negative[j]];
    TRY(gram_cholesky_solve(context, h->factor, m, h->q, m));
    for (int64_t i = 0; i < n * m; i++) h->q[i] = -h->q[i];
    for (int64_t j = 0; j < m; j++) h->q[h->negative[j] * m + j] += 1;
    for (int64_t j = 0; j < m; j++) /* S = K_N. (I - Z+ K)_.N, symmetric up to rounding */
        for (int64_t l = 0; l <= j; l++) {
            double sum = 0;
            for (int64_t i = 0; i < n; i++) sum += k->k[h->negative[j] * n + i] * h->q[i * m + l];
            h->half[j * m + l] = h->half[l * m + j] = sum;
        }
done:
    return status;
}

/* half: S becomes R = C^-1 V-^1/2 with C C' = I - V-^1/2 S V-^1/2, row-major and lower; 0 if there is no C. */
static int factor_small(gram_curvature *h, const double *root)
{
    const int m = (int)h->m;
    int info = 0;
    double *half = h->half;
    for (int64_t j = 0; j < m; j++)
        for (int64_t l = 0; l < m; l++) half[j * m + l] = (j == l) - root[j] * half[j * m + l] * root[l];
    const int blas = gram_blas_enter();
    dpotrf_("U", &m, half, &m, &info, 1); /* row-major: the lower triangle */
    gram_blas_leave(blas);
    if (info) return 0;
    for (int64_t j = 0; j < m; j++) {
        if (!(half[j * (m + 1)] > 0)) return 0;
        h->log_determinant += 2 * log(half[j * (m + 1)]);
    }
    return 1;
}

/* C^-1 diag(root) in place of C, column by column from the last row of each. */
static void invert_small(gram_curvature *h, const double *root)
{
    const int64_t m = h->m;
    double *c = h->half;
    for (int64_t l = 0; l < m; l++) {
        c[l * (m + 1)] = 1 / c[l * (m + 1)];
        for (int64_t j = l + 1; j < m; j++) {
            double sum = 0;
            for (int64_t i = l; i < j; i++) sum -= c[j * m + i] * c[i * m + l];
            c[j * m + l] = sum / c[j * (m + 1)];
        }
    }
    for (int64_t j = 0; j < m; j++)
        for (int64_t l = 0; l < m; l++) c[j * m + l] = l > j ? 0 : c[j * m + l] * root[l];
}

static gram_status make_negative(gram_context *context, const gram_loss_matrix *k, const double *curvature,
                                 double least, gram_curvature *h, int *definite)
{
    gram_status status = GRAM_OK;
    double *root = NULL;
    const int64_t m = h->m;
    TRY(gram_take(context, "curvature", m, sizeof(double), (void **)&root));
    for (int64_t j = 0; j < m; j++) root[j] = sqrt(least - curvature[h->negative[j]]);
    TRY(correct(context, k, h));
    *definite = factor_small(h, root);
    if (*definite)
        invert_small(h, root);
    else
        h->m = 0;
done:
    gram_give(context, root);
    return status;
}

gram_status gram_curvature_make(gram_context *context, const gram_loss_matrix *k, const double *curvature,
                                gram_curvature *h, int *definite)
{
    gram_status status = GRAM_OK;
    const double least = LEAST / (k->largest > 0 ? k->largest : 1);
    TRY(take(context, k->n, h));
    *definite = 1;
    for (int64_t i = 0; i < h->n; i++) {
        if (curvature[i] < 0) h->negative[h->m++] = i;
        const double v = fmax(curvature[i], least);
        h->shift[i] = 1 / v;
        h->log_determinant += log(v);
    }
    TRY(gram_loss_matrix_factor(context, k, h->shift, &h->jitter, &h->factor));
    h->log_determinant += gram_cholesky_log_determinant(h->factor);
    if (h->m > 0) TRY(make_negative(context, k, curvature, least, h, definite));
done:
    return status;
}

/* t = R Q'v: m x columns */
static void small_product(const gram_curvature *h, int64_t columns, const double *v, double *raw, double *t)
{
    const int64_t m = h->m;
    memset(raw, 0, (size_t)(m * columns) * sizeof *raw);
    for (int64_t i = 0; i < h->n; i++)
        for (int64_t j = 0; j < m; j++)
            for (int64_t c = 0; c < columns; c++) raw[j * columns + c] += h->q[i * m + j] * v[i * columns + c];
    for (int64_t j = 0; j < m; j++)
        for (int64_t c = 0; c < columns; c++) {
            t[j * columns + c] = 0;
            for (int64_t l = 0; l <= j; l++) t[j * columns + c] += h->half[j * m + l] * raw[l * columns + c];
        }
}

gram_status gram_curvature_apply(gram_context *context, const gram_curvature *h, int64_t columns, double *v)
{
    gram_status status = GRAM_OK;
    const int64_t m = h->m, numbers = m * columns;
    double *raw = NULL, *t = NULL;
    TRY(gram_take(context, "curvature", numbers, sizeof(double), (void **)&raw));
    TRY(gram_take(context, "curvature", numbers, sizeof(double), (void **)&t));
    if (m > 0) small_product(h, columns, v, raw, t);
    TRY(gram_cholesky_solve(context, h->factor, columns, v, columns));
    for (int64_t j = 0; j < m; j++) /* P Q'v = R't */
        for (int64_t c = 0; c < columns; c++) {
            raw[j * columns + c] = 0;
            for (int64_t l = j; l < m; l++) raw[j * columns + c] += h->half[l * m + j] * t[l * columns + c];
        }
    for (int64_t i = 0; i < h->n; i++)
        for (int64_t j = 0; j < m; j++)
            for (int64_t c = 0; c < columns; c++) v[i * columns + c] -= h->q[i * m + j] * raw[j * columns + c];
done:
    gram_give(context, raw);
    gram_give(context, t);
    return status;
}

gram_status gram_curvature_quadratic(gram_context *context, const gram_curvature *h, int64_t columns, double *v,
                                     double *out)
{
    gram_status status = GRAM_OK;
    const int64_t m = h->m, numbers = m * columns;
    double *raw = NULL, *t = NULL;
    TRY(gram_take(context, "curvature", numbers, sizeof(double), (void **)&raw));
    TRY(gram_take(context, "curvature", numbers, sizeof(double), (void **)&t));
    memset(out, 0, (size_t)columns * sizeof *out);
    if (m > 0) small_product(h, columns, v, raw, t);
    TRY(gram_cholesky_half_solve(context, h->factor, columns, v, columns));
    for (int64_t i = 0; i < h->n; i++)
        for (int64_t c = 0; c < columns; c++) out[c] += v[i * columns + c] * v[i * columns + c];
    for (int64_t j = 0; j < m; j++)
        for (int64_t c = 0; c < columns; c++) out[c] -= t[j * columns + c] * t[j * columns + c];
done:
    gram_give(context, raw);
    gram_give(context, t);
    return status;
}

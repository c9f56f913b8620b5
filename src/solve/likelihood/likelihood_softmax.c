/* Softmax: probabilities of a row, and the Hessian as likelihood_softmax.h describes it. */
#include "solve/likelihood/likelihood_softmax.h"

#include <math.h>
#include <string.h>

#include "solve/cholesky/cholesky.h"

/* D is at least so much over the largest k(x, x): what is below does not differ from 0 to working precision. */
static const double LEAST = 1e-16;

double gram_softmax_row(int64_t classes, const double *f, double *p)
{
    double most = f[0];
    for (int64_t c = 1; c < classes; c++) most = fmax(most, f[c]);
    double sum = p[0] = exp(f[0] - most);
    for (int64_t c = 1; c < classes; c++) sum += p[c] = exp(f[c] - most);
    for (int64_t c = 0; c < classes; c++) p[c] /= sum;
    return most + log(sum);
}

/* M += E, of both the lower triangle */
static void add_inverse(const gram_cholesky *inverse, double *m)
{
    const gram_tiled *tiles = &inverse->tiles;
    for (int64_t i = 0; i < tiles->count; i++)
        for (int64_t j = 0; j <= i; j++) {
            const double *tile = tiles->data + gram_tiled_place(tiles, i, j);
            const int64_t ld = gram_tiled_ld(tiles, j), columns = gram_tiled_rows(tiles, j);
            for (int64_t r = 0; r < gram_tiled_rows(tiles, i); r++) {
                double *row = m + (i * tiles->width + r) * tiles->n + j * tiles->width;
                for (int64_t l = 0; l < (i == j ? r + 1 : columns); l++) row[l] += tile[r * ld + l];
            }
        }
}

/* E_c, and what it adds to M and to the determinant. */
static gram_status add_class(gram_context *context, const gram_loss_matrix *k, int64_t c, const double *d, double *m,
                             gram_softmax_curvature *h)
{
    gram_status status = GRAM_OK;
    const double least = LEAST / (k->largest > 0 ? k->largest : 1);
    for (int64_t i = 0; i < h->n; i++) {
        const double v = fmax(d[i * h->classes + c], least);
        h->column[i] = 1 / v;
        h->log_determinant += log(v);
    }
    TRY(gram_loss_matrix_factor(context, k, h->column, &h->jitter, &h->inverse[c]));
    h->log_determinant += gram_cholesky_log_determinant(h->inverse[c]);
    TRY(gram_cholesky_invert(context, h->inverse[c]));
    add_inverse(h->inverse[c], m);
done:
    return status;
}

static gram_status factor_sum(gram_context *context, const gram_loss_matrix *k, const double *d,
                              gram_softmax_curvature *h)
{
    gram_status status = GRAM_OK;
    const int64_t n = h->n;
    gram_loss_matrix m;
    TRY(gram_loss_matrix_take(context, n, &m));
    memset(m.k, 0, (size_t)(n * n) * sizeof *m.k);
    for (int64_t c = 0; c < h->classes; c++) TRY(add_class(context, k, c, d, m.k, h));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++) m.k[j * n + i] = m.k[i * n + j];
    TRY(gram_loss_matrix_ready(context, &m));
    TRY(gram_loss_matrix_factor(context, &m, NULL, &h->jitter, &h->sum));
    h->log_determinant += gram_cholesky_log_determinant(h->sum);
    for (int64_t i = 0; i < n; i++) {
        double sum = d[i * h->classes];
        for (int64_t c = 1; c < h->classes; c++) sum += d[i * h->classes + c];
        h->log_determinant -= log(sum);
    }
done:
    gram_loss_matrix_free(context, &m);
    return status;
}

gram_status gram_softmax_curvature_make(gram_context *context, const gram_loss_matrix *k, int64_t classes,
                                        const double *d, gram_softmax_curvature *h)
{
    gram_status status = GRAM_OK;
    memset(h, 0, sizeof *h);
    h->n = k->n;
    h->classes = classes;
    TRY(gram_take(context, "softmax", classes, sizeof *h->inverse, (void **)&h->inverse));
    memset(h->inverse, 0, (size_t)classes * sizeof *h->inverse);
    TRY(gram_take(context, "softmax", 2 * h->n, sizeof(double), (void **)&h->column));
    TRY(factor_sum(context, k, d, h));
done:
    return status;
}

void gram_softmax_curvature_free(gram_memory *memory, gram_softmax_curvature *h)
{
    for (int64_t c = 0; h->inverse && c < h->classes; c++) gram_cholesky_destroy(h->inverse[c]);
    gram_cholesky_destroy(h->sum);
    gram_memory_give(memory, h->inverse);
    gram_memory_give(memory, h->column);
    memset(h, 0, sizeof *h);
}

gram_status gram_softmax_curvature_apply(gram_context *context, const gram_softmax_curvature *h, const double *v,
                                         double *out)
{
    gram_status status = GRAM_OK;
    const int64_t n = h->n, m = h->classes;
    double *sum = h->column, *part = h->column + n;
    memset(sum, 0, (size_t)n * sizeof *sum);
    for (int64_t c = 0; c < m; c++) {
        TRY(gram_cholesky_inverse_apply(context, h->inverse[c], 1, v + c, m, out + c, m));
        for (int64_t i = 0; i < n; i++) sum[i] += out[i * m + c];
    }
    TRY(gram_cholesky_solve(context, h->sum, 1, sum, 1));
    for (int64_t c = 0; c < m; c++) {
        TRY(gram_cholesky_inverse_apply(context, h->inverse[c], 1, sum, 1, part, 1));
        for (int64_t i = 0; i < n; i++) out[i * m + c] -= part[i];
    }
done:
    return status;
}

gram_status gram_softmax_curvature_covariance(gram_context *context, const gram_softmax_curvature *h, int64_t count,
                                              const double *k, const double *diagonal, double *work, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t n = h->n, m = h->classes;
    double *part = work + m * n * count;
    for (int64_t c = 0; c < m; c++) {
        double *v = work + c * n * count; /* L_M^-1 E_c k */
        TRY(gram_cholesky_inverse_apply(context, h->inverse[c], count, k, count, v, count));
        for (int64_t j = 0; j < count; j++) part[j] = 0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < count; j++) part[j] += k[i * count + j] * v[i * count + j];
        for (int64_t j = 0; j < count; j++) out[(j * m + c) * m + c] = fmax(0, diagonal[j] - part[j]);
        TRY(gram_cholesky_half_solve(context, h->sum, count, v, count));
    }
    for (int64_t a = 0; a < m; a++)
        for (int64_t b = 0; b <= a; b++) {
            const double *left = work + a * n * count, *right = work + b * n * count;
            for (int64_t j = 0; j < count; j++) part[j] = 0;
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = 0; j < count; j++) part[j] += left[i * count + j] * right[i * count + j];
            for (int64_t j = 0; j < count; j++) {
                const double before = a == b ? out[(j * m + a) * m + a] : 0;
                out[(j * m + a) * m + b] = out[(j * m + b) * m + a] = before + part[j];
            }
        }
done:
    return status;
}

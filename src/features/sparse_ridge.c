/* There are more bins than rows, so the equations that are solved are those of the rows. With S the roots of the weights, o = S1/|S1| and
 * P = I - o o' (P = I without a constant),
 *
 *     (P S Z Z'S P + strength) u = P S y,     c = Z'S P u,     b = the weighted mean of y - Z c.
 *
 * An iteration is a product with Z' and one with Z. */
#include "features/sparse_ridge.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

typedef struct work {
    gram_context *context;
    gram_sparse_ridge *r;
    int64_t n, p;
    double *root, *unit;                 /* n each: S, o */
    double *u, *left, *along, *out, *in; /* n each */
    double *bins;                        /* p */
} work;

/* v = P v */
static void project(const work *w, double *v)
{
    if (w->r->intercept) cblas_daxpy((int)w->n, -cblas_ddot((int)w->n, w->unit, 1, v, 1), w->unit, 1, v, 1);
}

/* bins = Z'S P v */
static gram_status to_bins(work *w, const double *v)
{
    memcpy(w->in, v, (size_t)w->n * sizeof *v);
    project(w, w->in);
    for (int64_t i = 0; i < w->n; i++) w->in[i] *= w->root[i];
    return gram_csr_transposed_times(w->context, w->r->z, w->in, w->bins);
}

/* out = (P S Z Z'S P + strength) v */
static gram_status apply(work *w, const double *v, double *out)
{
    gram_status status = GRAM_OK;
    TRY(to_bins(w, v));
    TRY(gram_csr_times(w->context, w->r->z, w->bins, out));
    for (int64_t i = 0; i < w->n; i++) out[i] *= w->root[i];
    project(w, out);
    cblas_daxpy((int)w->n, w->r->strength, v, 1, out, 1);
done:
    return status;
}

static gram_status take(work *w)
{
    enum { VECTORS = 7 };
    gram_status status = GRAM_OK;
    double squares = 0;
    TRY(gram_take(w->context, "sparse features", w->p, sizeof(double), (void **)&w->bins));
    TRY(gram_take(w->context, "sparse features", VECTORS * w->n, sizeof(double), (void **)&w->root));
    double **vectors[] = {&w->unit, &w->u, &w->left, &w->along, &w->out, &w->in};
    for (int k = 1; k < VECTORS; k++) *vectors[k - 1] = w->root + k * w->n;
    memset(w->u, 0, (size_t)w->n * sizeof *w->u);
    for (int64_t i = 0; i < w->n; i++) {
        w->root[i] = w->r->weights ? sqrt(w->r->weights[i]) : 1;
        squares += w->root[i] * w->root[i];
    }
    for (int64_t i = 0; i < w->n; i++) w->unit[i] = w->root[i] / sqrt(squares);
done:
    return status;
}

static gram_status iterate(work *w)
{
    gram_status status = GRAM_OK;
    gram_sparse_ridge *r = w->r;
    const int n = (int)w->n;
    const double size = cblas_dnrm2(n, w->left, 1);
    double square = size * size;
    memcpy(w->along, w->left, (size_t)w->n * sizeof *w->along);
    for (r->iterations = 0;; r->iterations++) {
        r->residual = size > 0 ? sqrt(square) / size : 0;
        if (r->residual <= r->tolerance || r->iterations >= r->most) break;
        TRY(apply(w, w->along, w->out));
        const double step = square / cblas_ddot(n, w->along, 1, w->out, 1);
        cblas_daxpy(n, step, w->along, 1, w->u, 1);
        cblas_daxpy(n, -step, w->out, 1, w->left, 1);
        const double before = square;
        square = cblas_ddot(n, w->left, 1, w->left, 1);
        for (int64_t i = 0; i < w->n; i++) w->along[i] = w->left[i] + square / before * w->along[i];
    }
done:
    return status;
}

gram_status gram_sparse_ridge_solve(gram_context *context, gram_sparse_ridge *ridge, const double *y, int64_t ldy,
                                    double *c, double *b)
{
    gram_status status = GRAM_OK;
    work w = {.context = context, .r = ridge, .n = ridge->z->rows, .p = ridge->z->columns};
    TRY(take(&w));
    for (int64_t i = 0; i < w.n; i++) w.left[i] = w.root[i] * y[i * ldy];
    project(&w, w.left);
    TRY(iterate(&w));
    TRY(to_bins(&w, w.u));
    memcpy(c, w.bins, (size_t)w.p * sizeof *c);
    TRY(gram_csr_times(context, ridge->z, c, w.out));
    double sum = 0, total = 0;
    for (int64_t i = 0; i < w.n; i++) {
        sum += w.root[i] * w.root[i] * (y[i * ldy] - w.out[i]);
        total += w.root[i] * w.root[i];
    }
    *b = ridge->intercept ? sum / total : 0;
done:
    gram_give(context, w.root);
    gram_give(context, w.bins);
    return status;
}

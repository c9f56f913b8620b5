/* Sequential Bayesian quadrature. Given the points so far, a candidate c has the covariance r_c = z_c - k_c'A^-1 z with the integral and the
 * variance v_c = k_cc + noise - k_c'A^-1 k_c of its value; observing it lowers the variance of the integral by r_c^2/v_c, whatever the
 * value is. After the choice of s with conditional covariances q_c = k_cs - k_c'A^-1 k_s, g = q/sqrt(v_s) is one more column of a Cholesky
 * factor:
 *
 *     r -= g r_s/sqrt(v_s),   v -= g^2,
 *
 * and for the next choice sum_j g_j(c) g_j(s) is taken off its q_c. */
#include "method/integrate/integrate_choose.h"

#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "points/points.h"

enum { CHUNK = 256 };

/* A candidate whose value is known to so small a share of its variance tells nothing more. */
static const double KNOWN = 1e-10;

typedef struct choosing {
    gram_context *context;
    const gram_quadrature *known;
    const gram_points *candidates;
    int64_t n;           /* candidates */
    double *r, *v, *own; /* n each; own is k_cc + noise */
    double *g;           /* n for each choice */
    double *column;      /* of the points */
} choosing;

/* r = z - K(C, X) w, v = k_cc + noise - |L^-1 k_c|^2 in chunks of candidates. */
static gram_status begin(choosing *c)
{
    gram_status status = GRAM_OK;
    const gram_quadrature *known = c->known;
    const int64_t points = known->factor ? known->points->n : 0;
    double *block = NULL;
    gram_points *part = NULL;
    TRY(gram_law_embed(c->context, known->kernel, known->law, c->candidates, c->r));
    TRY(gram_matrix_diagonal(c->context, known->kernel, c->candidates, c->own));
    for (int64_t i = 0; i < c->n; i++) c->v[i] = c->own[i] += known->noise;
    if (points == 0) goto done;
    TRY(gram_take(c->context, "integrate: candidates", points * CHUNK, sizeof *block, (void **)&block));
    for (int64_t from = 0; from < c->n; from += CHUNK) {
        const int64_t some = c->n - from < CHUNK ? c->n - from : CHUNK;
        TRY(gram_points_part(c->context, c->candidates, from, some, &part));
        TRY(gram_matrix(c->context, known->kernel, known->points, part, block, some));
        gram_points_release(part);
        part = NULL;
        for (int64_t i = 0; i < points; i++)
            for (int64_t k = 0; k < some; k++) c->r[from + k] -= known->weights[i] * block[i * some + k];
        TRY(gram_cholesky_half_solve(c->context, known->factor, some, block, some));
        for (int64_t i = 0; i < points; i++)
            for (int64_t k = 0; k < some; k++) c->v[from + k] -= block[i * some + k] * block[i * some + k];
    }
done:
    gram_points_release(part);
    gram_give(c->context, block);
    return status;
}

/* The candidate that tells most; -1: none tells anything. */
static int64_t find_best(const choosing *c)
{
    double most = 0;
    int64_t best = -1;
    for (int64_t i = 0; i < c->n; i++) {
        if (!(c->v[i] > KNOWN * c->own[i])) continue;
        const double gain = c->r[i] * c->r[i] / c->v[i];
        if (gain > most) most = gain, best = i;
    }
    return best;
}

/* The next column g, for the choice of s after t others. */
static gram_status add_column(choosing *c, int64_t t, int64_t s)
{
    gram_status status = GRAM_OK;
    const gram_quadrature *known = c->known;
    double *g = c->g + t * c->n, *product = NULL;
    const double root = sqrt(c->v[s]), share = c->r[s] / root;
    gram_points *one = NULL;
    TRY(gram_points_part(c->context, c->candidates, s, 1, &one));
    TRY(gram_matrix(c->context, known->kernel, c->candidates, one, g, 1));
    if (known->factor) {
        TRY(gram_take(c->context, "integrate: candidates", c->n, sizeof *product, (void **)&product));
        TRY(gram_matrix(c->context, known->kernel, known->points, one, c->column, 1));
        TRY(gram_cholesky_solve(c->context, known->factor, 1, c->column, 1));
        TRY(gram_matrix_product(c->context, known->kernel, c->candidates, known->points, 1, c->column, 1, product, 1));
        for (int64_t i = 0; i < c->n; i++) g[i] -= product[i];
    }
    for (int64_t j = 0; j < t; j++) {
        const double *before = c->g + j * c->n, factor = before[s];
        for (int64_t i = 0; i < c->n; i++) g[i] -= factor * before[i];
    }
    for (int64_t i = 0; i < c->n; i++) {
        g[i] /= root;
        c->r[i] -= g[i] * share;
        c->v[i] -= g[i] * g[i];
    }
done:
    gram_points_release(one);
    gram_give(c->context, product);
    return status;
}

gram_status gram_quadrature_choose(gram_context *context, const gram_quadrature *known, const gram_points *candidates,
                                   int64_t count, int64_t *index, double *variances, int64_t *found)
{
    gram_status status = GRAM_OK;
    choosing c = {.context = context, .known = known, .candidates = candidates, .n = candidates->n};
    double left = known->variance, *room = NULL;
    *found = 0;
    TRY(gram_take(context, "integrate: candidates", c.n * (count + 3), sizeof *room, (void **)&room));
    c.r = room;
    c.v = c.r + c.n;
    c.own = c.v + c.n;
    c.g = c.own + c.n;
    if (known->factor)
        TRY(gram_take(context, "integrate: candidates", known->points->n, sizeof *c.column, (void **)&c.column));
    TRY(begin(&c));
    for (int64_t t = 0; t < count; t++) {
        const int64_t best = find_best(&c);
        if (best < 0) break;
        left = fmax(left - c.r[best] * c.r[best] / c.v[best], 0);
        TRY(add_column(&c, t, best));
        index[t] = best;
        variances[t] = left;
        *found = t + 1;
    }
done:
    gram_give(context, c.column);
    gram_give(context, room);
    return status;
}

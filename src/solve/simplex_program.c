/* With the gradient g = K w - mu the optimum has g_a = min g wherever w_a > 0. Each step moves weight to the best entry,
 * a = argmin g, from the one among those with w_b > 0 that promises most, as far as is best along this line:
 *
 *   t = min(w_b, (g_b - g_a)/(K_aa + K_bb - 2 K_ab))      b = argmax (g_b - g_a)^2/(K_aa + K_bb - 2 K_ab)
 *
 * The largest g_b - g_a, which bounds how far the objective is from its least value, tells when to stop. This is sequential
 * minimal optimisation with the choice of pairs of Fan, Chen and Lin (2005). */
#include "solve/simplex_program.h"

#include <math.h>

static const double ROUNDING = 1e-13; /* of the largest diagonal entry */

static double curvature(const gram_simplex_program *s, int64_t a, int64_t b)
{
    return s->K[a * s->m + a] + s->K[b * s->m + b] - 2 * s->K[a * s->m + b];
}

/* The pair to move, and the largest g_b - g_a. Nearly equal points (curvature rounded to 0 or below) are as good as any. */
static double find_pair(const gram_simplex_program *s, int64_t *a, int64_t *b)
{
    const double *g = s->gradient;
    double gap = 0, gain = 0;
    *a = *b = -1;
    for (int64_t i = 0; i < s->m; i++)
        if (s->active[i] && (*a < 0 || g[i] < g[*a])) *a = i;
    for (int64_t i = 0; i < s->m; i++) {
        const double slope = g[i] - g[*a];
        if (!s->active[i] || !(s->w[i] > 0) || !(slope > 0)) continue;
        const double bend = fmax(curvature(s, *a, i), 1e-15 * s->K[i * s->m + i]);
        if (slope * slope / bend > gain) {
            gain = slope * slope / bend;
            *b = i;
        }
        gap = fmax(gap, slope);
    }
    return gap;
}

static void move(const gram_simplex_program *s, int64_t a, int64_t b)
{
    const int64_t m = s->m;
    const double bend = curvature(s, a, b), slope = s->gradient[b] - s->gradient[a];
    double t = s->w[b];
    if (bend > 0 && slope / bend < t) t = slope / bend;
    s->w[a] += t;
    s->w[b] = t == s->w[b] ? 0 : s->w[b] - t;
    for (int64_t i = 0; i < m; i++) s->gradient[i] += t * (s->K[a * m + i] - s->K[b * m + i]);
}

/* g = K w - mu, anew: what the steps have added up is rounded. */
static void find_gradient(const gram_simplex_program *s)
{
    for (int64_t i = 0; i < s->m; i++) {
        double sum = -s->mu[i];
        for (int64_t j = 0; j < s->m; j++) sum += s->K[i * s->m + j] * s->w[j];
        s->gradient[i] = sum;
    }
}

/* w'Kw - 2 w'mu + constant from the gradient. */
static double value_now(const gram_simplex_program *s)
{
    double sum = s->constant;
    for (int64_t i = 0; i < s->m; i++) sum += s->w[i] * (s->gradient[i] - s->mu[i]);
    return sum;
}

double gram_simplex_value(const gram_simplex_program *s)
{
    find_gradient(s);
    return value_now(s);
}

gram_status gram_simplex_minimise(const gram_simplex_program *s)
{
    const int64_t most = 1000 * s->m + 100000, often = s->m + 10;
    double enough = 0, scale = 0;
    for (int64_t a = 0; a < s->m; a++) scale = fmax(scale, fabs(s->K[a * s->m + a]));
    for (int64_t step = 0; step < most; step++) {
        int64_t a, b;
        if (step % (10 * often) == 0) find_gradient(s);
        if (step % often == 0) enough = fmax(s->tolerance * value_now(s), ROUNDING * scale);
        if (find_pair(s, &a, &b) <= enough) return GRAM_OK;
        move(s, a, b);
    }
    return GRAM_NOT_CONVERGED;
}

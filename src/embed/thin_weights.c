/* The best weights for a choice: minimise w'Kw/2 - w'mu over w >= 0, sum w = 1.
 *
 * With the gradient g = K w - mu the optimum has g_a = min g wherever w_a > 0. Each step moves weight to the best point,
 * a = argmin g, from the one among those with w_b > 0 that promises most, as far as is best along this line:
 *
 *   t = min(w_b, (g_b - g_a)/(K_aa + K_bb - 2 K_ab))      b = argmax (g_b - g_a)^2/(K_aa + K_bb - 2 K_ab)
 *
 * The largest g_b - g_a, which bounds how far the objective is from its least value, tells when to stop. This is sequential
 * minimal optimisation with the choice of pairs of Fan, Chen and Lin (2005). O(m) a step. */
#include <math.h>
#include <string.h>

#include "embed/thin.h"

/* Stops when the squared discrepancy is within this share of its least value, or when rounding hides the difference. */
static const double TOLERANCE = 1e-4, ROUNDING = 1e-13;

typedef struct weighing {
    int64_t m;
    const double *K; /* m x m */
    const double *mu;
    double *w, *g;
    const char *used; /* 0 for a point that is there already */
} weighing;

static double curvature(const weighing *s, int64_t a, int64_t b)
{
    return s->K[a * s->m + a] + s->K[b * s->m + b] - 2 * s->K[a * s->m + b];
}

/* The pair to move, and the largest g_b - g_a. Nearly equal points (curvature rounded to 0 or below) are as good as any. */
static double find_pair(const weighing *s, int64_t *a, int64_t *b)
{
    double gap = 0, gain = 0;
    *a = *b = -1;
    for (int64_t i = 0; i < s->m; i++)
        if (s->used[i] && (*a < 0 || s->g[i] < s->g[*a])) *a = i;
    for (int64_t i = 0; i < s->m; i++) {
        const double slope = s->g[i] - s->g[*a];
        if (!s->used[i] || !(s->w[i] > 0) || !(slope > 0)) continue;
        const double bend = fmax(curvature(s, *a, i), 1e-15 * s->K[i * s->m + i]);
        if (slope * slope / bend > gain) {
            gain = slope * slope / bend;
            *b = i;
        }
        gap = fmax(gap, slope);
    }
    return gap;
}

static void move(const weighing *s, int64_t a, int64_t b)
{
    const int64_t m = s->m;
    const double bend = curvature(s, a, b), slope = s->g[b] - s->g[a];
    double t = s->w[b];
    if (bend > 0 && slope / bend < t) t = slope / bend;
    s->w[a] += t;
    s->w[b] = t == s->w[b] ? 0 : s->w[b] - t;
    for (int64_t i = 0; i < m; i++) s->g[i] += t * (s->K[a * m + i] - s->K[b * m + i]);
}

/* g = K w - mu, anew: what the steps have added up is rounded */
static void gradient(const weighing *s)
{
    for (int64_t i = 0; i < s->m; i++) {
        double sum = -s->mu[i];
        for (int64_t j = 0; j < s->m; j++) sum += s->K[i * s->m + j] * s->w[j];
        s->g[i] = sum;
    }
}

static double weighted_square(const weighing *s, double total)
{
    double sum = total;
    for (int64_t i = 0; i < s->m; i++) sum += s->w[i] * (s->g[i] - s->mu[i]);
    return sum;
}

/* scale is the size of the entries. */
static gram_status minimise(const weighing *s, double total, double scale)
{
    const int64_t most = 1000 * s->m + 100000, often = s->m + 10;
    double enough = 0;
    for (int64_t step = 0; step < most; step++) {
        int64_t a, b;
        if (step % (10 * often) == 0) gradient(s);
        if (step % often == 0) enough = fmax(TOLERANCE * weighted_square(s, total), ROUNDING * scale);
        if (find_pair(s, &a, &b) <= enough) return GRAM_OK;
        move(s, a, b);
    }
    return GRAM_NOT_CONVERGED;
}

/* Marks the first of equal points and gives them equal weights. */
static void start(int64_t m, const int64_t *index, double *w, char *used)
{
    int64_t count = 0;
    for (int64_t i = 0; i < m; i++) {
        used[i] = 1;
        for (int64_t j = 0; j < i && used[i]; j++) used[i] = index[i] != index[j];
        count += used[i];
    }
    for (int64_t i = 0; i < m; i++) w[i] = used[i] ? 1 / (double)count : 0;
}

/* The matrix and the means of a choice: K (m x m) and mu behind it, then room for g. */
static gram_status take_choice(gram_context *context, const gram_target *target, int64_t m, const int64_t *index,
                               double **K)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "thin_weights: matrix of the choice", m * m + 2 * m, sizeof(double), (void **)K));
    TRY(gram_rows_block(context, &target->rows, m, index, *K, m));
    for (int64_t a = 0; a < m; a++) (*K)[m * m + a] = target->means[index[a]];
done:
    return status;
}

static gram_status check_size(gram_context *context, const char *function, const int64_t *index, int64_t m)
{
    enum { MOST = 1 << 20 };
    gram_status status = GRAM_OK;
    FAIL_IF(!index, context, GRAM_ERROR_ARGUMENT, "%s: index is NULL", function);
    FAIL_IF(m > MOST, context, GRAM_ERROR_ARGUMENT, "%s: m = %lld, its square is too large", function, (long long)m);
done:
    return status;
}

gram_status gram_thin_weights(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                              const double *scores, int64_t lds, int64_t m, const int64_t *index, double *weights,
                              double *discrepancy)
{
    gram_status status = GRAM_OK;
    gram_target target = {0};
    double *K = NULL, scale = 0;
    char *used = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!weights, context, GRAM_ERROR_ARGUMENT, "thin_weights: weights is NULL");
    TRY(check_size(context, "thin_weights", index, m));
    TRY(gram_target_check(context, "thin_weights", points, m, index));
    TRY(gram_target_make(context, "thin_weights", kernel, points, scores, lds, &target));
    TRY(gram_take(context, "thin_weights", m, 1, (void **)&used));
    TRY(take_choice(context, &target, m, index, &K));
    start(m, index, weights, used);
    const weighing s = {.m = m, .K = K, .mu = K + m * m, .w = weights, .g = K + m * m + m, .used = used};
    for (int64_t a = 0; a < m; a++) scale = fmax(scale, fabs(K[a * m + a]));
    status = minimise(&s, target.total, scale);
    gradient(&s);
    if (discrepancy) *discrepancy = gram_target_root(weighted_square(&s, target.total));
done:
    gram_give(context, K);
    gram_give(context, used);
    gram_target_free(context, &target);
    return status;
}

gram_status gram_thin_discrepancy(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                  const double *scores, int64_t lds, int64_t m, const int64_t *index,
                                  const double *weights, double *discrepancy)
{
    gram_status status = GRAM_OK;
    gram_target target = {0};
    double *K = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!discrepancy, context, GRAM_ERROR_ARGUMENT, "thin_discrepancy: discrepancy is NULL");
    TRY(check_size(context, "thin_discrepancy", index, weights ? m : 1));
    TRY(gram_target_check(context, "thin_discrepancy", points, m, index));
    TRY(gram_target_make(context, "thin_discrepancy", kernel, points, scores, lds, &target));
    if (weights) {
        TRY(take_choice(context, &target, m, index, &K));
        const weighing s = {.m = m, .K = K, .mu = K + m * m, .w = (double *)(uintptr_t)weights, .g = K + m * m + m};
        gradient(&s);
        *discrepancy = gram_target_root(weighted_square(&s, target.total));
    } else {
        TRY(gram_target_measure(context, &target, m, index, discrepancy));
    }
done:
    gram_give(context, K);
    gram_target_free(context, &target);
    return status;
}

/* How good a lambda is, and which is best. All criteria come from one solution: residuals, leverages h_i = w_i var f(x_i)/sigma^2, and
 * for the likelihood log|R|. The search is a grid whose steps change the degrees of freedom by a factor of 10^(1/4) (10^(1/2) for many
 * rows), df falling as lambda^(-1/2m), because GCV and LOO may have several minima; then Brent's method without derivatives. */
#include <math.h>

#include "method/spline/spline.h"

static const double PI = 3.14159265358979323846;

enum { MANY = 20000, PATIENCE = 2, MOST_STEPS = 40, MOST_GRID = 200 };

static const double LEAST_LEFT = 1e-12; /* of 1 - h: below it a row decides its own value */

/* ---- one lambda ---- */

/* Places of the null space. */
static int free_count(const gram_chain *chain)
{
    return chain->periodic ? 1 : chain->m;
}

/* log of what the prior of a circle integrates to before it is normalised, without alpha: of kicks over one round that end where they
 * began, over the derivatives of the start. */
static double log_circle(const gram_chain *chain)
{
    enum { M = GRAM_SPLINE_ORDERS };
    const int m = chain->m;
    double a[M][M] = {{0}}, sum = 0;
    for (int k = 0; k < m; k++) sum += log(chain->order.inverse[k][k]);
    /* C^-1 (F(1) - I), without the column of the value */
    for (int k = 0; k < m; k++)
        for (int j = 0; j < m - 1; j++) {
            double factor = 1;
            for (int l = j + 1; l <= k; l++) {
                factor /= l - j;
                a[k][j] += chain->order.inverse[k][l] * factor;
            }
        }
    for (int j = 0; j < m - 1; j++) { /* Gram and Schmidt: a few columns */
        double square = 0;
        for (int k = 0; k < m; k++) square += a[k][j] * a[k][j];
        sum -= 0.5 * log(square);
        for (int c = j + 1; c < m - 1; c++) {
            double along = 0;
            for (int k = 0; k < m; k++) along += a[k][j] * a[k][c];
            for (int k = 0; k < m; k++) a[k][c] -= along / square * a[k][j];
        }
    }
    return sum;
}

/* Of y at its best sigma, flat coefficients of x^j, j < m, integrated out. */
static double log_likelihood(const gram_chain *chain, const gram_spline_rows *rows, double rss)
{
    const int m = chain->m;
    const double freedom = (double)(rows->n - free_count(chain)), square = (rss + chain->bending) / freedom;
    double log_root = chain->log_root;
    const double kicks = (double)m * (double)chain->gaps - (chain->periodic ? 1 : 0);
    if (!chain->periodic) {
        double factorial = 1;
        for (int j = 1; j < m; j++) {
            factorial *= j;
            log_root += j * log(chain->unit) + log(factorial);
        }
    } else {
        log_root += log_circle(chain);
        for (int k = 0; k < m; k++) log_root += log(chain->order.root[k][k]) + (k + 0.5) * log(chain->gap[0]);
    }
    return -0.5 * freedom * (log(2 * PI * square) + 1) - log_root + 0.5 * kicks * log(chain->alpha) +
           0.5 * rows->log_weight;
}

static void add_leverages(const gram_chain *chain, const gram_spline_rows *rows, const double *y, const double *weights,
                          gram_spline_score *score)
{
    double left = 0, sum = 0;
    for (int64_t p = 0; p < rows->places; p++) left += 1 - rows->weight[p] * chain->spread[p];
    score->df = (double)rows->places - left;
    for (int64_t i = 0; i < rows->given; i++) {
        const int64_t p = rows->place[i];
        if (p < 0) continue;
        const double w = weights ? weights[i] : 1, part = 1 - w * chain->spread[p];
        const double r = (y[i] - chain->state[p * chain->m + chain->m - 1]) / fmax(part, LEAST_LEFT);
        sum += w * r * r;
    }
    score->loo = sum / rows->total;
    const double n = (double)rows->n, freedom = left + n - (double)rows->places;
    score->gcv = n * n * score->rss / (freedom * freedom) / rows->total;
}

gram_status gram_spline_try(gram_context *context, gram_chain *chain, const gram_spline_rows *rows, const double *y,
                            const double *weights, double alpha, int criterion, gram_spline_score *score)
{
    gram_status status = GRAM_OK;
    const int m = chain->m, likelihood = criterion == GRAM_CRITERION_ML;
    *score = (gram_spline_score){.alpha = alpha, .rss = rows->within};
    TRY(gram_chain_solve(context, chain, alpha, rows->weight, rows->mean,
                         likelihood      ? GRAM_CHAIN_MEAN
                         : criterion < 0 ? chain->wish
                                         : GRAM_CHAIN_SPREAD));
    for (int64_t p = 0; p < rows->places; p++) {
        const double r = rows->mean[p] - chain->state[p * m + m - 1];
        score->rss += rows->weight[p] * r * r;
    }
    if (!likelihood) add_leverages(chain, rows, y, weights, score);
    if (likelihood || criterion < 0) score->likelihood = log_likelihood(chain, rows, score->rss);
done:
    return status;
}

/* ---- the search ---- */

typedef struct search {
    gram_context *context;
    gram_chain *chain;
    const gram_spline_rows *rows;
    const double *y, *weights;
    gram_criterion criterion;
    int64_t evaluations;
} search;

/* The criterion at log alpha; infinite where there is none. */
static gram_status value_at(search *s, double x, double *value)
{
    gram_spline_score score;
    const gram_status status =
        gram_spline_try(s->context, s->chain, s->rows, s->y, s->weights, exp(x), (int)s->criterion, &score);
    s->evaluations++;
    *value = s->criterion == GRAM_CRITERION_ML    ? -score.likelihood
             : s->criterion == GRAM_CRITERION_LOO ? score.loo
                                                  : score.gcv;
    if (status == GRAM_ERROR_NUMERICAL || isnan(*value)) *value = INFINITY;
    return status == GRAM_ERROR_NUMERICAL ? GRAM_OK : status;
}

/* Brent's method about b, a < b < c with the least of the three values there: parabolas, or golden sections where these do not help. */
static gram_status refine(search *s, double a, double *b, double c, double *least)
{
    static const double GOLDEN = 0.3819660112501051, NEAR = 2e-3;
    gram_status status = GRAM_OK;
    double x = *b, w = x, v = x, fx = *least, fw = fx, fv = fx, step = 0, before = 0, fu;
    for (int k = 0; k < MOST_STEPS; k++) {
        const double middle = 0.5 * (a + c);
        if (fabs(x - middle) <= 2 * NEAR - 0.5 * (c - a)) break;
        double p = 0, q = 0;
        int golden = 1;
        if (fabs(before) > NEAR) {
            const double r = (x - w) * (fx - fv);
            q = (x - v) * (fx - fw);
            p = (x - v) * q - (x - w) * r;
            q = 2 * (q - r);
            if (q > 0) p = -p;
            q = fabs(q);
            golden = !(fabs(p) < fabs(0.5 * q * before) && p > q * (a - x) && p < q * (c - x));
        }
        before = golden ? (x < middle ? c - x : a - x) : step;
        step = golden ? GOLDEN * before : p / q;
        const double u = x + (fabs(step) >= NEAR ? step : step > 0 ? NEAR : -NEAR);
        TRY(value_at(s, u, &fu));
        if (fu <= fx) {
            if (u < x)
                c = x;
            else
                a = x;
            v = w, fv = fw, w = x, fw = fx, x = u, fx = fu;
        } else {
            if (u < x)
                a = u;
            else
                c = u;
            if (fu <= fw || w == x)
                v = w, fv = fw, w = u, fw = fu;
            else if (fu <= fv || v == x || v == w)
                v = u, fv = fu;
        }
    }
    *b = x;
    *least = fx;
done:
    return status;
}

/* From a fit that leaves 1/1000 of the finest wiggle to one that keeps 1e-7 of the first bend, places spread evenly: alpha in the units
 * of x. */
static void ends(const search *s, double *low, double *high)
{
    const double m2 = 2.0 * s->chain->m, per_unit = log(s->rows->total) + (m2 - 1) * log(s->chain->unit);
    *low = log(1e-3) + per_unit - m2 * log(PI * (double)s->rows->places);
    *high = log(1e7) + per_unit - m2 * log(PI);
}

gram_status gram_spline_choose(gram_context *context, gram_chain *chain, const gram_spline_rows *rows, const double *y,
                               const double *weights, gram_criterion criterion, double *alpha,
                               gram_spline_report *report)
{
    gram_status status = GRAM_OK;
    search s = {context, chain, rows, y, weights, criterion, 0};
    double low, high, values[MOST_GRID + 1] = {INFINITY}, exact;
    gram_spline_score smooth;
    ends(&s, &low, &high);
    const double step = (rows->places > MANY ? 1.0 : 0.5) * chain->m * log(10);
    int64_t count = (int64_t)ceil((high - low) / step), best = 0;
    if (count > MOST_GRID) count = MOST_GRID;
    TRY(gram_spline_try(context, chain, rows, y, weights, exp(high), -1, &smooth));
    exact = 1e-26 * (rows->variation + 1e-4 * rows->total * rows->mean[0] * rows->mean[0]);
    report->at_bound = 1;
    *alpha = exp(high);
    report->criterion = 0;
    report->evaluations = 1;
    if (smooth.rss <= exact) goto done; /* a polynomial already */
    for (int64_t k = 0; k <= count; k++) {
        TRY(value_at(&s, high - (double)k * (high - low) / (double)count, &values[k]));
        if (values[k] < values[best]) best = k;
        if (rows->places > MANY && k > best + PATIENCE) break; /* of many rows criteria are smooth */
    }
    double x = high - (double)best * (high - low) / (double)count, least = values[best];
    const double width = (high - low) / (double)count;
    if (best > 0 && best < count) TRY(refine(&s, x - width, &x, x + width, &least));
    report->at_bound = best == 0 ? 1 : best == count ? -1 : 0;
    *alpha = exp(x);
    report->criterion = least;
    report->evaluations = s.evaluations;
done:
    return status;
}

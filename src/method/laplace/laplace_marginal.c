/* Averages over the marginal of f at a new point, beyond its Gaussian.
 *
 * The posterior is its Gaussian times one factor for each row, the observation over the quadratic that stands for it.
 * Given f at the new point, rows are taken as independent (Cseke and Heskes 2011): the marginal is
 *
 *     N(f; m, v) prod_j E[factor_j | f],
 *
 * where row j given f is Gaussian too. Exact for one row, for rows at one place, and for rows that do not know of each
 * other. With u = f - m, b = cov(f_j, f)/v, t = b u, q the variance of f_j given f and P = 1/q - W, up to a constant
 *
 *     log E[factor_j | f] = W t^2/2 - a t + (a - W t)^2/(2P) + log int p(y_j | g) N(g; m_j + t - (a - W t)/P, 1/P) dg.
 *
 * Most rows hardly know of the new point. With r the correlation and z = u/sqrt(v) their factor is 1 + second r^2
 * He_2(z) + third r^3 He_3(z) + ...: those that together stay below LITTLE are summed as such, so a point costs O(n) and
 * an integral for each of the others at each of some 20 to 100 places. */
#include <math.h>
#include <stdlib.h>

#include "base/sweep.h"
#include "method/laplace/laplace_fit.h"

enum { MOST_PLACES = 20000, WIDEST = 64 };
static const double LITTLE = 0.01, PER_DEVIATION = 0.5, FALL = 20, RISES = 1;
static const double SERIES_ENDS = 4; /* in deviations: beyond, a cubic would overrun the Gaussian */
static const double NONE = 1e-6;     /* what is left to correct below which the Gaussian is as good */

/* One row as the point sees it. */
typedef struct neighbour {
    double size; /* of its factor */
    int64_t row;
    double slope; /* b */
    double variance;
} neighbour;

typedef struct view {
    const gram_likelihood_rule *rule;
    const gram_laplace_rows *rows;
    double mean, variance;
    double second, third; /* of all rows that are summed as a series */
    int64_t count;
    const neighbour *near;
} view;

static int by_size(const void *left, const void *right)
{
    const neighbour *a = left, *b = right;
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

/* Sorts the rows into the series and, at the end of `near`, those that are integrated. covariance: with stride. */
static void see(view *w, const double *covariance, int64_t stride, neighbour *near)
{
    const gram_laplace_rows *r = w->rows;
    double sum = 0;
    int64_t first = 0;
    for (int64_t j = 0; j < r->n; j++) {
        const double c = covariance[j * stride], both = r->variance[j] * w->variance;
        const double squared = both > 0 ? fmin(1, c * c / both) : 0, root = sqrt(squared);
        near[j] = (neighbour){.size = squared * (fabs(r->second[j]) + root * fabs(r->third[j])),
                              .row = j,
                              .slope = c / w->variance,
                              .variance = r->variance[j] * (1 - squared)};
    }
    qsort(near, (size_t)r->n, sizeof *near, by_size);
    w->second = w->third = 0;
    for (; first < r->n && (sum += near[first].size) < LITTLE; first++) {
        const int64_t j = near[first].row;
        const double correlation = r->variance[j] > 0 ? near[first].slope * sqrt(w->variance / r->variance[j]) : 0;
        w->second += r->second[j] * correlation * correlation;
        w->third += r->third[j] * correlation * correlation * correlation;
    }
    w->count = r->n - first;
    w->near = near + first;
}

static double log_factor(const view *w, const neighbour *k, double u)
{
    const gram_laplace_rows *r = w->rows;
    const double a = r->a[k->row], curvature = r->curvature[k->row], t = k->slope * u;
    const double q = fmax(k->variance, 1e-12 * r->variance[k->row]), precision = fmax(1 / q - curvature, 1e-9 / q);
    const double g = a - curvature * t;
    const gram_tilted tilted =
        gram_likelihood_tilt(w->rule, r->y[k->row], r->mean[k->row] + t - g / precision, 1 / precision);
    return curvature * t * t / 2 - a * t + g * g / (2 * precision) + tilted.log_integral;
}

/* log of the marginal at m + u, up to a constant */
static double log_density(const view *w, double u)
{
    const double z = u / sqrt(w->variance), s = fmax(-SERIES_ENDS, fmin(SERIES_ENDS, z));
    double sum = -z * z / 2 + w->second * (s * s - 1) + w->third * s * (s * s - 3);
    for (int64_t j = 0; j < w->count; j++) sum += log_factor(w, &w->near[j], u);
    return sum;
}

/* Sums over places, relative to the place in the middle: of the density and of what is averaged; of rates also of the
 * square. */
typedef struct sums {
    double density, value, rest, square;
} sums;

static void add(const view *w, double u, double log_weight, sums *s)
{
    const double weight = exp(log_weight), f = w->mean + u;
    s->density += weight;
    if (w->rule->kind == GRAM_LIKELIHOOD_LOGISTIC) {
        const double e = exp(-fabs(f)), larger = 1 / (1 + e), p = f >= 0 ? larger : e * larger;
        s->value += weight * p;
        s->rest += weight * (f >= 0 ? e * larger : larger);
    } else {
        s->value += exp(log_weight + u);
        s->square += exp(log_weight + 2 * u);
    }
}

/* Outwards on one side until neither the density nor exp(power f) times it adds anything. Far out a product of many
 * factors may outgrow the Gaussian, for rows are not quite independent given f: a density that has fallen and rises again
 * is cut off there. */
static void add_side(const view *w, double step, double middle, int power, sums *s)
{
    double highest = 0, highest_moved = 0, last = 0;
    for (int64_t k = 1; k <= MOST_PLACES; k++) {
        const double u = step * (double)k, log_weight = log_density(w, u) - middle, moved = log_weight + power * u;
        if (!(log_weight > highest - FALL || moved > highest_moved - FALL)) break;
        if (last < highest - RISES && log_weight > last) break;
        highest = fmax(highest, log_weight);
        highest_moved = fmax(highest_moved, moved);
        last = log_weight;
        add(w, u, log_weight, s);
    }
}

static gram_laplace_average by_sum(const view *w, int spread)
{
    const int rate = w->rule->kind == GRAM_LIKELIHOOD_POISSON;
    const double detail = gram_likelihood_find(w->rule->kind)->detail, deviation = sqrt(w->variance);
    const double step = fmin(PER_DEVIATION * deviation, fmax(detail, deviation / WIDEST));
    const double middle = log_density(w, 0);
    sums s = {0};
    add(w, 0, 0, &s);
    add_side(w, step, middle, rate ? 1 + spread : 0, &s);
    add_side(w, -step, middle, 0, &s);
    const double mean = s.value / s.density, square = s.square / s.density;
    if (!rate) return (gram_laplace_average){mean, s.rest / s.density, 0};
    return (gram_laplace_average){exp(w->mean) * mean, 0,
                                  spread ? exp(2 * w->mean) * fmax(0, square - mean * mean) : 0};
}

/* Over the Gaussian itself. */
static gram_laplace_average by_gaussian(const view *w, int spread)
{
    const double rate = exp(w->mean + w->variance / 2);
    if (w->rule->kind == GRAM_LIKELIHOOD_POISSON)
        return (gram_laplace_average){rate, 0, spread ? rate * rate * expm1(w->variance) : 0};
    return (gram_laplace_average){gram_logistic_normal(w->mean, w->variance),
                                  gram_logistic_normal(-w->mean, w->variance), 0};
}

typedef struct averaging {
    const gram_likelihood_rule *rule;
    const gram_laplace_rows *rows;
    const double *mean, *variance, *covariance;
    int64_t count;
    int spread;
    gram_laplace_average *out;
} averaging;

static gram_status average_task(void *argument, const gram_worker *worker)
{
    const averaging *job = argument;
    const int64_t j = worker->task;
    view w = {.rule = job->rule, .rows = job->rows, .mean = job->mean[j], .variance = job->variance[j]};
    if (w.variance > 0) see(&w, job->covariance + j, job->count, worker->scratch);
    const int plain = w.count == 0 && fabs(w.second) + fabs(w.third) < NONE;
    job->out[j] = plain ? by_gaussian(&w, job->spread) : by_sum(&w, job->spread);
    return GRAM_OK;
}

gram_status gram_laplace_average_points(gram_context *context, const gram_likelihood_rule *rule,
                                        const gram_laplace_rows *rows, int64_t count, const double *mean,
                                        const double *variance, const double *covariance, int spread,
                                        gram_laplace_average *out)
{
    averaging job = {rule, rows, mean, variance, covariance, count, spread, out};
    const gram_sweep sweep = {.what = "predictions",
                              .tasks = count,
                              .scratch_bytes = (size_t)rows->n * sizeof(neighbour),
                              .run = average_task,
                              .argument = &job};
    return gram_sweep_run(context, &sweep);
}

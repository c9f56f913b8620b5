/* Acquisitions: a function of mean and variance at a point, and the chain rule.
 *
 * Each kind is one function of (mean, variance) with its two derivatives; gradients by the point follow from those of mean and
 * variance. Constraints c <= 0 are independent of the objective given the data, so the expected improvement that keeps them is
 * the product with P(c <= 0), a sum of logarithms.
 *
 * Noisy improvement (B. Letham, B. Karrer, G. Ottoni and E. Bakshy, Constrained Bayesian optimization with noisy experiments,
 * Bayesian Analysis 2019): noise hides which point is the best, so the improvement is averaged over draws of f at the points
 * evaluated. Given such a draw f is known there without noise. By Matheron's rule, with K = L L' at the rows (and at the
 * points that are out), A = K + noise I at the rows, e and g standard normal, a draw is K w,
 *
 *     w = L^-T e + A^-1 (y - b - (L e)_rows - sqrt(noise) g),
 *
 * and w are the coefficients of its mean too, b + k(u, .)'w: nothing ill-conditioned is inverted. All draws share one variance.
 *
 * Given a draw, f is known at the points evaluated, so noisy improvement never goes back to them; what is recommended in the end is where the
 * mean is least. A noisy value at u moves the mean at u and at the rows by (v_u, c_1, ..., c_n)/sqrt(v_u + noise) times a standard normal number, v_u the
 * variance at u, c_i its covariance with row i; the improvement of the least of these means is that of a set of lines (W. Scott, P. Frazier and W. Powell, The correlated
 * knowledge gradient for simulation optimization of continuous parameters, SIAM J. Optimization 2011). */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "base/sweep.h"
#include "study/acquisition.h"
#include "study/improvement.h"
#include "study/line_gain.h"

enum { DRAWS = 64, CHUNK = 256, FREQUENCIES = 512 };
static const double EXACT_NOISE = 1e-6;                                   /* of the draws' process, of the amplitude */
static const double LEAST_VARIANCE = 1e-16;                               /* of the amplitude */
static const uint64_t PRIOR = 0x70616400U << 8, NOISE = 0x6e6f6400U << 8; /* names of uses of the seed */

/* ---- one point, from mean and variance ---- */

typedef struct worth {
    double value, by_mean, by_variance;
} worth;

static worth improvement(double mean, double deviation, double best)
{
    double slope;
    const double z = (best - mean) / deviation, value = log(deviation) + gram_log_improvement(z, &slope);
    return (worth){value, -slope / deviation, (1 - slope * z) / (2 * deviation * deviation)};
}

static worth probability(double mean, double deviation, double best)
{
    double slope;
    const double z = (best - mean) / deviation, value = gram_log_normal(z, &slope);
    return (worth){value, -slope / deviation, -slope * z / (2 * deviation * deviation)};
}

static double safe_variance(const gram_surrogate *s, double variance)
{
    return fmax(variance, LEAST_VARIANCE * s->amplitude);
}

static double deviation_of(const gram_surrogate *s, double variance)
{
    return sqrt(safe_variance(s, variance));
}

static worth worth_of(const gram_acquisition *a, double mean, double variance)
{
    const double deviation = deviation_of(a->objective, variance);
    switch (a->kind) {
    case GRAM_ACQUISITION_PROBABILITY: return probability(mean, deviation, a->best);
    case GRAM_ACQUISITION_BOUND: return (worth){a->kappa * deviation - mean, -1, a->kappa / (2 * deviation)};
    case GRAM_ACQUISITION_VARIANCE: return (worth){log(deviation), 0, 1 / (2 * deviation * deviation)};
    default: return improvement(mean, deviation, a->best);
    }
}

/* log P(c <= 0) of constraint j. */
static worth kept(const gram_surrogate *c, double mean, double variance)
{
    return probability(mean, deviation_of(c, variance), -c->shift / c->scale);
}

/* log mean exp over draws of the improvement, given the draws' means; by_mean[j] is the derivative by the mean of draw j. */
static worth noisy(const gram_acquisition *a, double variance, const double *means, double *by_mean)
{
    const double deviation = deviation_of(&a->exact, variance);
    double top = -INFINITY, sum = 0, by_variance = 0;
    worth each[DRAWS];
    for (int64_t j = 0; j < a->draws; j++) {
        each[j] = improvement(means[j], deviation, a->stars[j]);
        top = fmax(top, each[j].value);
    }
    for (int64_t j = 0; j < a->draws; j++) sum += exp(each[j].value - top);
    for (int64_t j = 0; j < a->draws; j++) {
        const double share = exp(each[j].value - top) / sum;
        by_variance += share * each[j].by_variance;
        if (by_mean) by_mean[j] = share * each[j].by_mean;
    }
    return (worth){top + log(sum / (double)a->draws), 0, by_variance};
}

/* Adds worth w of a surrogate whose slopes are given. */
static void add_worth(worth w, int64_t d, const double *mean_slope, const double *variance_slope, double *value,
                      double *gradient)
{
    *value += w.value;
    for (int64_t l = 0; l < d; l++) gradient[l] += w.by_mean * mean_slope[l] + w.by_variance * variance_slope[l];
}

/* ---- the improvement of the least mean ---- */

/* log of the gain: lines of the rows and, the last, of the point. Less is better, so heights are less the means. */
static double least_mean_gain(const gram_surrogate *s, double mean, double variance, const double *covariance,
                              gram_line *lines, double *by_height, double *by_slope)
{
    const double scale = 1 / sqrt(variance + s->noise);
    for (int64_t i = 0; i < s->n; i++) lines[i] = (gram_line){-gram_surrogate_mean_at(s, i), covariance[i] * scale, i};
    lines[s->n] = (gram_line){-mean, variance * scale, s->n};
    return gram_line_gain(lines, s->n + 1, by_height, by_slope);
}

static gram_status least_mean_values(gram_context *context, const gram_acquisition *a, int64_t m, const double *u,
                                     double *out)
{
    gram_status status = GRAM_OK;
    const gram_surrogate *s = a->objective;
    double *work = NULL;
    gram_line *lines = NULL;
    TRY(gram_take(context, "study: covariances", m * (s->n + 2), sizeof *work, (void **)&work));
    TRY(gram_take(context, "study: lines", s->n + 1, sizeof *lines, (void **)&lines));
    double *mean = work + m * s->n, *variance = mean + m;
    TRY(gram_surrogate_covary(context, s, m, u, mean, variance, work));
    for (int64_t i = 0; i < m; i++)
        out[i] = least_mean_gain(s, mean[i], safe_variance(s, variance[i]), work + i * s->n, lines, NULL, NULL);
done:
    gram_give(context, work);
    gram_give(context, lines);
    return status;
}

/* The chain rule: `slopes` are those of mean and variance, `work` as gram_surrogate_slope left it. */
static gram_status least_mean_slope(gram_context *context, const gram_acquisition *a, const double *u, double *slopes,
                                    double *work, double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    const gram_surrogate *s = a->objective;
    const int64_t n = s->n, d = s->d;
    double *scratch = NULL, mean, variance;
    gram_line *lines = NULL;
    TRY(gram_take(context, "study: covariances", 4 * n + 2 + d, sizeof *scratch, (void **)&scratch));
    TRY(gram_take(context, "study: lines", n + 1, sizeof *lines, (void **)&lines));
    double *by_height = scratch, *by_slope = by_height + n + 1, *covariance = by_slope + n + 1, *along = covariance + n;
    memset(scratch, 0, (size_t)(2 * n + 2) * sizeof *scratch);
    TRY(gram_surrogate_covary(context, s, 1, u, &mean, &variance, covariance));
    TRY(gram_surrogate_slope(context, s, u, work, &mean, &variance, slopes, slopes + d));
    variance = safe_variance(s, variance);
    *value += least_mean_gain(s, mean, variance, covariance, lines, by_height, by_slope);
    const double total = variance + s->noise, scale = 1 / sqrt(total);
    worth w = {0, -by_height[n], by_slope[n] * scale * (1 - variance / (2 * total))};
    for (int64_t i = 0; i < n; i++) {
        w.by_variance -= by_slope[i] * covariance[i] * scale / (2 * total);
        by_slope[i] *= scale;
    }
    gram_surrogate_covary_slope(s, work, by_slope, along);
    add_worth(w, d, slopes, slopes + d, value, gradient);
    for (int64_t l = 0; l < d; l++) gradient[l] += along[l];
done:
    gram_give(context, scratch);
    gram_give(context, lines);
    return status;
}

/* ---- draws ---- */

/* The same process without noise, at the rows and at the points that are out. */
static gram_status make_exact(gram_context *context, const gram_acquisition_request *r, gram_acquisition *a)
{
    gram_status status = GRAM_OK;
    const gram_surrogate *s = r->objective;
    const int64_t n = s->n + r->pending_count;
    double *x = NULL;
    TRY(gram_take(context, "study: rows", n * s->d + n, sizeof *x, (void **)&x));
    memset(x, 0, (size_t)(n * s->d + n) * sizeof *x);
    memcpy(x, s->x, (size_t)(s->n * s->d) * sizeof *x);
    if (r->pending_count) memcpy(x + s->n * s->d, r->pending, (size_t)(r->pending_count * s->d) * sizeof *x);
    TRY(gram_surrogate_make(context, s->d, 0, &a->exact));
    a->exact.kernel = gram_kernel_retain(s->kernel);
    a->exact.amplitude = s->amplitude;
    a->exact.noise = EXACT_NOISE * s->amplitude;
    TRY(gram_surrogate_fit(context, &a->exact, n, x, x + n * s->d, 0));
    a->exact.precision = INFINITY; /* b is not in doubt here */
done:
    gram_give(context, x);
    return status;
}

/* Column j: L'^-1 e + A^-1 (y - b - (L e)_rows - sqrt(noise) g). */
static gram_status draw_weights(gram_context *context, const gram_acquisition_request *r, gram_acquisition *a,
                                int64_t j, double *work)
{
    const gram_surrogate *s = a->objective, *exact = &a->exact;
    const int n = (int)exact->n, rows = (int)s->n;
    double *prior = work, *right = work + n;
    const uint64_t stream = r->which * DRAWS + (uint64_t)j;
    gram_random_normal((gram_random){r->seed, PRIOR + stream}, 0, n, prior);
    gram_random_normal((gram_random){r->seed, NOISE + stream}, 0, rows, right);
    memcpy(work + 2 * n, prior, (size_t)n * sizeof *work);
    const int before = gram_blas_enter();
    cblas_dtrmv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, exact->factor, (int)exact->room, work + 2 * n,
                1);
    for (int i = 0; i < rows; i++)
        right[i] = (s->y[i] - s->shift) / s->scale - s->constant - work[2 * n + i] - sqrt(s->noise) * right[i];
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, rows, s->factor, (int)s->room, right, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, rows, s->factor, (int)s->room, right, 1);
    cblas_dtrsv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, n, exact->factor, (int)exact->room, prior, 1);
    for (int i = 0; i < rows; i++) prior[i] += right[i];
    cblas_dcopy(n, prior, 1, a->weights + j, (int)a->draws);
    cblas_dtrmv(CblasRowMajor, CblasLower, CblasTrans, CblasNonUnit, n, exact->factor, (int)exact->room, prior, 1);
    cblas_dtrmv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, n, exact->factor, (int)exact->room, prior, 1);
    gram_blas_leave(before);
    a->stars[j] = INFINITY;
    for (int i = 0; i < n; i++) a->stars[j] = fmin(a->stars[j], s->constant + prior[i]);
    (void)context;
    return GRAM_OK;
}

static gram_status make_noisy(gram_context *context, const gram_acquisition_request *r, gram_acquisition *a)
{
    gram_status status = GRAM_OK;
    double *work = NULL;
    TRY(make_exact(context, r, a));
    const int64_t n = a->exact.n;
    a->draws = DRAWS;
    TRY(gram_take(context, "study: draws", n * a->draws, sizeof(double), (void **)&a->weights));
    TRY(gram_take(context, "study: draws", a->draws, sizeof(double), (void **)&a->stars));
    TRY(gram_take(context, "study: draws", 3 * n, sizeof *work, (void **)&work));
    for (int64_t j = 0; j < a->draws; j++) TRY(draw_weights(context, r, a, j, work));
done:
    gram_give(context, work);
    return status;
}

static gram_status make_path(gram_context *context, const gram_acquisition_request *r, gram_acquisition *a)
{
    gram_status status = GRAM_OK;
    const gram_surrogate *s = r->objective;
    const uint64_t seed = context->seed;
    gram_points *points = NULL;
    double *y = NULL;
    gram_gp_options gp;
    gram_gp_path_options options;
    TRY(gram_take(context, "study: values", s->n, sizeof *y, (void **)&y));
    for (int64_t i = 0; i < s->n; i++) y[i] = (s->y[i] - s->shift) / s->scale;
    TRY(gram_points_create_f64(context, s->n, s->d, s->x, s->d, &points));
    gram_gp_options_init(&gp, sizeof gp);
    gp.flat = 1;
    gp.noise = s->noise + s->jitter;
    gram_gp_path_options_init(&options, sizeof options);
    options.gp = &gp;
    options.frequencies = FREQUENCIES;
    context->seed = r->seed + 0x9e3779b97f4a7c15U * (r->which + 1);
    status = gram_gp_path_create(context, s->kernel, s->d, points, y, &options, &a->path);
    context->seed = seed;
done:
    gram_points_release(points);
    gram_give(context, y);
    return status;
}

gram_status gram_acquisition_make(gram_context *context, const gram_acquisition_request *r, gram_acquisition *out)
{
    gram_status status = GRAM_OK;
    const int64_t d = r->objective->d, rows = r->objective->n + r->pending_count + 1;
    *out = (gram_acquisition){.kind = r->kind,
                              .objective = r->objective,
                              .constraint_count = r->constraint_count,
                              .constraints = r->constraints,
                              .feasible = r->feasible,
                              .best = r->best,
                              .kappa = r->kappa};
    TRY(gram_take(context, "study: scratch", (d + 2) * rows + 2 * d + 2 * DRAWS + rows, sizeof(double),
                  (void **)&out->work));
    if (r->kind == GRAM_ACQUISITION_NOISY) TRY(make_noisy(context, r, out));
    if (r->kind == GRAM_ACQUISITION_THOMPSON) TRY(make_path(context, r, out));
done:
    return status;
}

void gram_acquisition_free(gram_context *context, gram_acquisition *a)
{
    gram_surrogate_free(&a->exact);
    gram_give(context, a->weights);
    gram_give(context, a->stars);
    gram_give(context, a->work);
    gram_gp_path_destroy(a->path);
    *a = (gram_acquisition){0};
}

/* ---- many points ---- */

static gram_status path_values(gram_context *context, const gram_acquisition *a, int64_t m, const double *u,
                               double *out)
{
    gram_status status = GRAM_OK;
    gram_points *points = NULL;
    TRY(gram_points_create_f64(context, m, a->objective->d, u, a->objective->d, &points));
    TRY(gram_gp_path_evaluate(context, a->path, points, NULL, 0, out, 1));
    for (int64_t i = 0; i < m; i++) out[i] = -out[i];
done:
    gram_points_release(points);
    return status;
}

/* Means of all draws at m points, m x draws. */
static gram_status noisy_means(gram_context *context, const gram_acquisition *a, int64_t m, const double *u,
                               double *out)
{
    gram_status status = GRAM_OK;
    const gram_surrogate *s = &a->exact;
    gram_points *at = NULL, *rows = NULL;
    TRY(gram_points_create_f64(context, m, s->d, u, s->d, &at));
    TRY(gram_points_create_f64(context, s->n, s->d, s->x, s->d, &rows));
    TRY(gram_matrix_product(context, s->kernel, at, rows, a->draws, a->weights, a->draws, out, a->draws));
    for (int64_t i = 0; i < m * a->draws; i++) out[i] += a->objective->constant;
done:
    gram_points_release(at);
    gram_points_release(rows);
    return status;
}

/* `work` has 2 m numbers, with noisy improvement m draws more. */
static gram_status objective_values(gram_context *context, const gram_acquisition *a, int64_t m, const double *u,
                                    double *work, double *out)
{
    gram_status status = GRAM_OK;
    double *mean = work, *variance = work + m, *means = work + 2 * m;
    if (a->kind == GRAM_ACQUISITION_THOMPSON) return path_values(context, a, m, u, out);
    if (a->kind == GRAM_ACQUISITION_MEAN) return least_mean_values(context, a, m, u, out);
    if (a->kind == GRAM_ACQUISITION_NOISY) {
        TRY(gram_surrogate_predict(context, &a->exact, m, u, mean, variance));
        TRY(noisy_means(context, a, m, u, means));
        for (int64_t i = 0; i < m; i++) out[i] = noisy(a, variance[i], means + i * a->draws, NULL).value;
        goto done;
    }
    TRY(gram_surrogate_predict(context, a->objective, m, u, mean, variance));
    for (int64_t i = 0; i < m; i++) out[i] = worth_of(a, mean[i], variance[i]).value;
done:
    return status;
}

static gram_status values_chunk(gram_context *context, const gram_acquisition *a, int64_t m, const double *u,
                                double *work, double *out)
{
    gram_status status = GRAM_OK;
    memset(out, 0, (size_t)m * sizeof *out);
    if (a->feasible) TRY(objective_values(context, a, m, u, work, out));
    for (int64_t j = 0; j < a->constraint_count; j++) {
        const gram_surrogate *c = a->constraints + j;
        TRY(gram_surrogate_predict(context, c, m, u, work, work + m));
        for (int64_t i = 0; i < m; i++) out[i] += kept(c, work[i], work[m + i]).value;
    }
done:
    return status;
}

gram_status gram_acquisition_values(gram_context *context, const gram_acquisition *a, int64_t m, const double *u,
                                    double *out)
{
    gram_status status = GRAM_OK;
    const int64_t chunk = m < CHUNK ? m : CHUNK;
    double *work = NULL;
    TRY(gram_take(context, "study: scratch", chunk * (2 + a->draws), sizeof *work, (void **)&work));
    for (int64_t first = 0; first < m; first += chunk) {
        const int64_t count = m - first < chunk ? m - first : chunk;
        TRY(values_chunk(context, a, count, u + first * a->objective->d, work, out + first));
    }
done:
    gram_give(context, work);
    return status;
}

/* ---- one point with its gradient ---- */

static gram_status path_slope(gram_context *context, const gram_acquisition *a, const double *u, double *value,
                              double *gradient)
{
    gram_status status = GRAM_OK;
    const int64_t d = a->objective->d;
    double drawn, *slopes = a->work;
    gram_points *points = NULL;
    TRY(gram_points_create_f64(context, 1, d, u, d, &points));
    TRY(gram_gp_path_evaluate(context, a->path, points, NULL, 0, &drawn, 1));
    TRY(gram_gp_path_gradient(context, a->path, 0, points, slopes, d));
    *value -= drawn;
    for (int64_t l = 0; l < d; l++) gradient[l] -= slopes[l];
done:
    gram_points_release(points);
    return status;
}

/* sum_j by_mean_j (dk/du)'w_j: one combination of the weights, then one product. */
static gram_status noisy_slope(gram_context *context, const gram_acquisition *a, const double *u, double *slopes,
                               double *work, double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    const gram_surrogate *s = &a->exact;
    const int n = (int)s->n, d = (int)s->d, draws = (int)a->draws;
    double mean, variance, *mean_slope = slopes, *variance_slope = slopes + d;
    double *means = slopes + 2 * d, *by_mean = means + draws, *weights = by_mean + draws;
    TRY(gram_surrogate_slope(context, s, u, work, &mean, &variance, mean_slope, variance_slope));
    const int before = gram_blas_enter();
    cblas_dgemv(CblasRowMajor, CblasTrans, n, draws, 1, a->weights, draws, work, 1, 0, means, 1);
    for (int j = 0; j < draws; j++) means[j] += a->objective->constant;
    worth w = noisy(a, variance, means, by_mean);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, n, draws, 1, a->weights, draws, by_mean, 1, 0, weights, 1);
    cblas_dgemv(CblasRowMajor, CblasTrans, n, d, 1, work + 2 * n, d, weights, 1, 0, mean_slope, 1);
    gram_blas_leave(before);
    w.by_mean = 1;
    add_worth(w, d, mean_slope, variance_slope, value, gradient);
done:
    return status;
}

static gram_status objective_slope(gram_context *context, const gram_acquisition *a, const double *u, double *slopes,
                                   double *work, double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    const int64_t d = a->objective->d;
    double mean, variance;
    if (a->kind == GRAM_ACQUISITION_THOMPSON) return path_slope(context, a, u, value, gradient);
    if (a->kind == GRAM_ACQUISITION_MEAN) return least_mean_slope(context, a, u, slopes, work, value, gradient);
    if (a->kind == GRAM_ACQUISITION_NOISY) return noisy_slope(context, a, u, slopes, work, value, gradient);
    TRY(gram_surrogate_slope(context, a->objective, u, work, &mean, &variance, slopes, slopes + d));
    add_worth(worth_of(a, mean, variance), d, slopes, slopes + d, value, gradient);
done:
    return status;
}

gram_status gram_acquisition_slope(gram_context *context, const gram_acquisition *a, const double *u, double *value,
                                   double *gradient)
{
    gram_status status = GRAM_OK;
    const int64_t d = a->objective->d, rows = a->kind == GRAM_ACQUISITION_NOISY ? a->exact.n : a->objective->n;
    double *slopes = a->work, *work = slopes + 2 * d + 2 * DRAWS + rows;
    *value = 0;
    memset(gradient, 0, (size_t)d * sizeof *gradient);
    if (a->feasible) TRY(objective_slope(context, a, u, slopes, work, value, gradient));
    for (int64_t j = 0; j < a->constraint_count; j++) {
        double mean, variance;
        TRY(gram_surrogate_slope(context, a->constraints + j, u, work, &mean, &variance, slopes, slopes + d));
        add_worth(kept(a->constraints + j, mean, variance), d, slopes, slopes + d, value, gradient);
    }
done:
    return status;
}

gram_status gram_acquisition_expected(gram_context *context, const gram_surrogate *objective, double best,
                                      const double *u, double *mean, double *deviation, double *expected)
{
    gram_status status = GRAM_OK;
    double variance;
    TRY(gram_surrogate_predict(context, objective, 1, u, mean, &variance));
    const double standard = deviation_of(objective, variance);
    *expected = objective->scale * exp(improvement(*mean, standard, best).value);
    *mean = gram_surrogate_value(objective, *mean);
    *deviation = objective->scale * sqrt(variance);
done:
    return status;
}

/* What a density that is known adds to Stein thinning, and how far a choice is from the sample.
 *
 * Scores have two blind spots (Benard, Staber and Da Veiga, "Kernel Stein discrepancy thinning: a theoretical perspective of pathologies
 * and a practical fix with regularization", NeurIPS 2023). Points between two modes have small scores and look good: where log p is
 * convex its second derivatives tell, and sum_l (d^2 log p/dx_l^2)^+ k(x, x) is added to k_P(x, x), as that paper does. And the
 * weights of modes that lie far apart are not in the scores. The paper's answer, a reward for log p, was tried: it repairs modes of equal
 * shape, but of four modes with weights 1 to 4 the choice has ten times the squared MMD of evenly spaced rows, and of two modes of
 * different width too. What does know the weights is the sample. So the MMD to it joins the discrepancy,
 *
 *     KSD^2(choice) + w MMD^2(choice, rows that are not outliers),   w = 10 median |s|^2/d k(x, x),
 *
 * by rbf with 0.2 sqrt(d) deviations for each column. Outliers are rows whose log p is below the lower quartile by more than three
 * times the quartiles' distance: the burn-in, which the sample should not speak for. With 10 squared MMDs to the truth are 0.1 to
 * 0.4 of those of evenly spaced rows on six mixtures, and hardly more than without it on a Gaussian and on chains that come from far.
 *
 * At most ROWS of the rows, evenly spaced, stand for the sample: O(n ROWS d) once, and a second row of numbers for each choice. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/text.h>

#include "embed/thin.h"
#include "points/points.h"
#include "tile/product.h"

enum { ROWS = 4096 };
static const double WEIGHT = 10, WIDTH = 0.2, FENCE = 3;

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The value below which a share of the n numbers lies; `sorted` has room for them. */
static double quantile(int64_t n, double *sorted, double share)
{
    qsort(sorted, (size_t)n, sizeof *sorted, by_size);
    return sorted[(int64_t)(share * (double)(n - 1))];
}

/* The rows that are not outliers, at most ROWS of them and evenly spaced; *log_density may be NULL: all rows. */
static int64_t keep_rows(int64_t n, const double *log_density, double *work, int64_t *kept)
{
    double least = -INFINITY;
    int64_t count = 0;
    if (log_density) {
        memcpy(work, log_density, (size_t)n * sizeof *work);
        const double low = quantile(n, work, 0.25), high = quantile(n, work, 0.75);
        least = low - FENCE * (high - low);
    }
    for (int64_t i = 0; i < n; i++)
        if (!log_density || log_density[i] >= least) kept[count++] = i;
    if (count <= ROWS) return count;
    for (int64_t k = 0; k < ROWS; k++) kept[k] = kept[(int64_t)((double)(k + 1) * (double)count / ROWS) - 1];
    return ROWS;
}

/* Columns of the points over WIDTH sqrt(d) deviations of the rows that are kept. */
static void scale_points(const gram_points *points, int64_t count, const int64_t *kept, double *out)
{
    const int64_t n = points->n, d = points->d;
    for (int64_t l = 0; l < d; l++) {
        double mean = 0, squares = 0;
        for (int64_t k = 0; k < count; k++) mean += gram_points_at(points, kept[k], l) / (double)count;
        for (int64_t k = 0; k < count; k++) squares += pow(gram_points_at(points, kept[k], l) - mean, 2);
        const double deviation = squares > 0 ? sqrt(squares / (double)count) : 1;
        for (int64_t i = 0; i < n; i++)
            out[i * d + l] = (gram_points_at(points, i, l) - mean) / (WIDTH * sqrt((double)d) * deviation);
    }
}

/* means[i] = mean of k(x_i, .) over the rows that are kept. */
static gram_status find_means(gram_context *context, gram_anchor *a, int64_t count, const int64_t *kept)
{
    gram_status status = GRAM_OK;
    const int64_t d = a->points->d;
    double *rows = NULL, *ones = NULL;
    gram_points *sample = NULL;
    gram_engine *engine = NULL;
    TRY(gram_take(context, "thin: the sample's rows", count * d, sizeof *rows, (void **)&rows));
    TRY(gram_take(context, "thin: the sample's weights", count, sizeof *ones, (void **)&ones));
    for (int64_t k = 0; k < count; k++) {
        memcpy(rows + k * d, a->data + kept[k] * d, (size_t)d * sizeof *rows);
        ones[k] = 1 / (double)count;
    }
    TRY(gram_points_create_f64(context, count, d, rows, d, &sample));
    const gram_engine_request request = {.kernel = a->kernel, .x = a->points, .y = sample, .always_double = 1};
    TRY(gram_engine_create(context, &request, &engine));
    TRY(gram_engine_product(context, engine, 1, ones, 1, a->means, 1));
    for (int64_t k = 0; k < count; k++) a->total += a->means[kept[k]] / (double)count;
done:
    gram_engine_destroy(engine);
    gram_points_release(sample);
    gram_give(context, rows);
    gram_give(context, ones);
    return status;
}

/* The sample's part: kernel, rows and means. */
static gram_status make_sample(gram_context *context, const gram_points *points, const double *log_density,
                               gram_anchor *a)
{
    gram_status status = GRAM_OK;
    const int64_t n = points->n, d = points->d;
    double *work = NULL;
    int64_t *kept = NULL;
    TRY(gram_take(context, "thin: scaled points", n * d, sizeof *a->data, (void **)&a->data));
    TRY(gram_take(context, "thin: means", n, sizeof *a->means, (void **)&a->means));
    TRY(gram_take(context, "thin: log densities", n, sizeof *work, (void **)&work));
    TRY(gram_take(context, "thin: rows", n, sizeof *kept, (void **)&kept));
    const int64_t count = keep_rows(n, log_density, work, kept);
    scale_points(points, count, kept, a->data);
    TRY(gram_kernel_parse(context, "rbf(ell=1)", &a->kernel));
    TRY(gram_points_create_f64(context, n, d, a->data, d, &a->points));
    const gram_engine_request request = {.kernel = a->kernel, .x = a->points, .always_double = 1};
    TRY(gram_engine_create(context, &request, &a->engine));
    a->rows = gram_rows_of_engine(a->engine);
    TRY(find_means(context, a, count, kept));
done:
    gram_give(context, work);
    gram_give(context, kept);
    return status;
}

/* 10 median |s|^2/d k(x, x); where the scores are 0, as of a uniform law, by the Stein kernel's own size. */
static double weight_of(const gram_points *points, const double *scores, int64_t lds, const gram_target *target,
                        double size, double *work)
{
    const int64_t n = points->n, d = points->d;
    for (int64_t i = 0; i < n; i++) {
        work[i] = 0;
        for (int64_t l = 0; l < d; l++) work[i] += scores[i * lds + l] * scores[i * lds + l];
    }
    const double square = quantile(n, work, 0.5);
    if (square > 0) return WEIGHT * square / (double)d * size;
    memcpy(work, target->diagonal, (size_t)n * sizeof *work);
    return WEIGHT * quantile(n, work, 0.5) / (double)d;
}

static gram_status check(gram_context *context, int64_t n, const double *log_density, const double *laplacian)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    for (int64_t i = 0; i < n; i++) {
        FAIL_IF(!isfinite(log_density[i]), context, GRAM_ERROR_ARGUMENT, "thin: log_density[%lld] is %s", (long long)i,
                gram_number_format(log_density[i], shown));
        FAIL_IF(!(laplacian[i] >= 0 && isfinite(laplacian[i])), context, GRAM_ERROR_ARGUMENT,
                "thin: laplacian[%lld] = %s, need the sum of positive parts", (long long)i,
                gram_number_format(laplacian[i], shown));
    }
done:
    return status;
}

gram_status gram_anchor_make(gram_context *context, const gram_target *target, const gram_points *points,
                             const double *scores, int64_t lds, const double *log_density, const double *laplacian,
                             gram_anchor *anchor)
{
    gram_status status = GRAM_OK;
    const int64_t n = points->n;
    double *work = NULL, size = 0;
    TRY(check(context, n, log_density, laplacian));
    TRY(make_sample(context, points, log_density, anchor));
    TRY(gram_take(context, "thin: second derivatives", n, sizeof *anchor->extra, (void **)&anchor->extra));
    TRY(gram_take(context, "thin: scores", n, sizeof *work, (void **)&work));
    TRY(gram_engine_diagonal(context, target->stein->engine, anchor->extra));
    for (int64_t i = 0; i < n; i++) {
        size += anchor->extra[i] / (double)n;
        anchor->extra[i] *= laplacian[i];
    }
    anchor->weight = weight_of(points, scores, lds, target, size, work);
done:
    gram_give(context, work);
    return status;
}

void gram_anchor_free(gram_context *context, gram_anchor *anchor)
{
    gram_engine_destroy(anchor->engine);
    gram_points_release(anchor->points);
    gram_kernel_release(anchor->kernel);
    gram_give(context, anchor->data);
    gram_give(context, anchor->means);
    gram_give(context, anchor->extra);
}

/* ---- how far from the sample ---- */

/* The MMD of weighted rows to the sample's: w'Kw - 2 w'means + total. */
static gram_status distance(gram_context *context, const gram_anchor *a, int64_t m, const int64_t *index,
                            const double *weights, double *K, double *out)
{
    gram_status status = GRAM_OK;
    double sum = a->total;
    TRY(gram_rows_block(context, &a->rows, m, index, K, m));
    for (int64_t i = 0; i < m; i++) {
        const double w = weights ? weights[i] : 1 / (double)m;
        sum -= 2 * w * a->means[index[i]];
        for (int64_t j = 0; j < m; j++) sum += w * (weights ? weights[j] : 1 / (double)m) * K[i * m + j];
    }
    *out = gram_target_root(sum);
done:
    return status;
}

gram_status gram_thin_from_sample(gram_context *context, const gram_points *points, int64_t m, const int64_t *index,
                                  const double *weights, double *choice, double *plain)
{
    enum { MOST = 1 << 14 };
    gram_status status = GRAM_OK;
    gram_anchor a = {0};
    int64_t *even = NULL;
    double *K = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!index || !choice || !plain, context, GRAM_ERROR_ARGUMENT, "thin_from_sample: %s is NULL",
            !index    ? "index"
            : !choice ? "choice"
                      : "plain");
    TRY(gram_target_check(context, "thin_from_sample", points, m, index));
    FAIL_IF(m > MOST, context, GRAM_ERROR_ARGUMENT, "thin_from_sample: m = %lld, need %d at most", (long long)m,
            (int)MOST);
    TRY(make_sample(context, points, NULL, &a));
    TRY(gram_take(context, "thin_from_sample", m * m, sizeof *K, (void **)&K));
    TRY(gram_take(context, "thin_from_sample", m, sizeof *even, (void **)&even));
    gram_thin_evenly(points->n, m, even);
    TRY(distance(context, &a, m, index, weights, K, choice));
    TRY(distance(context, &a, m, even, NULL, K, plain));
done:
    gram_give(context, K);
    gram_give(context, even);
    gram_anchor_free(context, &a);
    return status;
}

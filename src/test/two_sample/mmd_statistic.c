/* The statistic, its scale and its moments under random labels: the formulas of mmd.h. */
#include <math.h>
#include <string.h>

#include "test/two_sample/mmd.h"

gram_mmd_scale gram_mmd_scaling(const gram_pairs *pairs, int64_t n, int64_t m, int biased)
{
    const double x = (double)n, y = (double)m;
    gram_mmd_scale scale = {0};
    if (!biased) {
        scale.slope = 2 * (1 / (x * (x - 1)) + 1 / (y * (y - 1)) + 2 / (x * y));
        return scale;
    }
    double sum = 0;
    for (int64_t i = 0; i < pairs->n; i++) sum += pairs->diagonal[i];
    scale.slope = 2 * (1 / x + 1 / y) * (1 / x + 1 / y);
    scale.diagonal = 1 / (x * x) - 1 / (y * y);
    scale.shift = sum / (y * y);
    return scale;
}

double gram_mmd_tie(const gram_pairs *pairs, int64_t n, const gram_mmd_scale *scale)
{
    const double rounding = 0x1p-45, terms = 0.5 * (double)n * (double)(n - 1);
    return rounding * pairs->limit * (scale->slope * terms + fabs(scale->diagonal) * (double)n);
}

gram_status gram_mmd_observed(gram_context *context, const gram_pairs *pairs, int64_t n, const gram_mmd_scale *scale,
                              double *statistic)
{
    gram_status status = GRAM_OK;
    double *w = NULL, q, diagonal = 0;
    TRY(gram_take(context, "mmd: labels", pairs->padded, sizeof *w, (void **)&w));
    memset(w, 0, (size_t)pairs->padded * sizeof *w);
    for (int64_t i = 0; i < n; i++) w[i] = 1, diagonal += pairs->diagonal[i];
    TRY(gram_pairs_forms(context, pairs, 1, w, &q));
    *statistic = scale->slope * q + scale->diagonal * diagonal + scale->shift;
    if (fabs(*statistic) <= gram_mmd_tie(pairs, n, scale)) *statistic = 0;
done:
    gram_give(context, w);
    return status;
}

/* n(n-1)...(n-k+1)/(N(N-1)...(N-k+1)) */
static double all_in(int64_t n, int64_t total, int k)
{
    double p = 1;
    for (int i = 0; i < k; i++) p *= (double)(n - i) / (double)(total - i);
    return p;
}

double gram_mmd_deviation(const gram_pairs *pairs, int64_t n)
{
    const int64_t total = pairs->n;
    const double rounding = 0x1p-45 * pairs->limit;
    const double count = 0.5 * (double)total * (double)(total - 1);
    const double share = all_in(n, total, 2) - 2 * all_in(n, total, 3) + all_in(n, total, 4);
    return pairs->squares > count * rounding * rounding && share > 0 ? sqrt(pairs->squares * share) : 0;
}

double gram_mmd_look_deviation(const gram_pairs *pairs, int64_t n, int64_t look_count)
{
    const double blind = 0x1p-20 * pairs->limit, count = 0.5 * (double)pairs->n * (double)(pairs->n - 1);
    return look_count > 1 && pairs->squares <= count * blind * blind ? 0 : gram_mmd_deviation(pairs, n);
}

double gram_mmd_mean_over_deviation(const gram_pairs *pairs, int64_t n, double deviation)
{
    double diagonal = 0;
    for (int64_t i = 0; i < pairs->n; i++) diagonal += pairs->diagonal[i];
    const double inverse = 1 / (double)n + 1 / (double)(pairs->n - n);
    return deviation > 0 ? fmax(diagonal / (double)pairs->n / (2 * inverse * deviation), 1e-3) : 1;
}

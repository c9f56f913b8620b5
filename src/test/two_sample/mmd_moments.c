/* Approximations of the null distribution by two moments.
 *
 * n V converges to a weighted sum of chi-squared variables, which a gamma distribution of the same mean and variance imitates (Gretton,
 * Fukumizu, Harchaoui and Sriperumbudur, "A fast, consistent kernel two-sample test", NIPS 2009). Mean and variance here are those
 * under random labels, known exactly (mmd.h), so unequal sizes need nothing else. U over its standard deviation is taken for normal:
 * good when many eigenvalues of the kernel matter, rough (an actual level up to 0.07 at 0.05) when few do. */
#include <math.h>

#include "base/distribution_tails.h"
#include "test/two_sample/mmd.h"

static void gamma_tail(const gram_pairs *pairs, int64_t n, int64_t m, double deviation, gram_mmd_result *result)
{
    double diagonal = 0;
    for (int64_t i = 0; i < pairs->n; i++) diagonal += pairs->diagonal[i];
    const double mean = diagonal / (double)pairs->n * (1 / (double)n + 1 / (double)m);
    result->null_mean = mean;
    if (!(mean > 0) || !(deviation > 0)) return;
    const double variance = deviation * deviation;
    result->p_value = gram_tail_gamma(mean * mean / variance, result->statistic * mean / variance);
}

gram_status gram_mmd_test_moments(gram_context *context, gram_mmd_task *task)
{
    gram_status status = GRAM_OK;
    gram_mmd_result *result = task->result;
    gram_pairs pairs = {0};
    const int64_t n = task->pool.n, m = task->pool.m;
    const int gamma = result->used == GRAM_MMD_TEST_GAMMA;
    TRY(gram_pairs_create(context, task->kernel, task->pool.points, GRAM_CENTRE_PAIRS, &pairs));
    const gram_mmd_scale scale = gram_mmd_scaling(&pairs, n, m, gamma);
    TRY(gram_mmd_observed(context, &pairs, n, &scale, &result->statistic));
    const double deviation = gram_mmd_deviation(&pairs, n);
    result->null_mean = 0;
    result->null_deviation = scale.slope * deviation;
    result->p_value = 1;
    if (gamma)
        gamma_tail(&pairs, n, m, result->null_deviation, result);
    else if (deviation > 0)
        result->p_value = gram_tail_normal(result->statistic / result->null_deviation);
done:
    gram_pairs_destroy(context, &pairs);
    return status;
}

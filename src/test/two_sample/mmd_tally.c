/* One number T for each labelling from what several looks see of it (mmd.h).
 *
 * Without weights T is the largest z. With weights each z becomes a score, -log of its tail under the gamma distribution with the
 * mean and variance that random labels give the V-statistic (wide kernels have long tails, narrow ones are nearly normal, so that deviations of
 * both cannot be compared), and
 *
 *     T = log(sum over the looks of (weight/tail)^sharpness):
 *
 * of sharpness 1 the harmonic mean of the tails, of infinite sharpness the smallest one over its weight. T never falls where a z rises, so
 * numbers that are known within bounds give T within bounds. */
#include <math.h>

#include "base/distribution_tails.h"
#include "test/two_sample/mmd.h"

gram_status gram_mmd_tally_create(gram_context *context, int64_t count, double sharpness, gram_mmd_tally *tally)
{
    gram_status status = GRAM_OK;
    *tally = (gram_mmd_tally){.count = count, .sharpness = sharpness};
    TRY(gram_take(context, "mmd_test: permutations", count, sizeof(double), (void **)&tally->low));
    TRY(gram_take(context, "mmd_test: permutations", count, sizeof(double), (void **)&tally->high));
    for (int64_t b = 0; b < count; b++) tally->low[b] = tally->high[b] = -INFINITY;
done:
    return status;
}

void gram_mmd_tally_destroy(gram_context *context, gram_mmd_tally *tally)
{
    gram_give(context, tally->low);
    gram_give(context, tally->high);
}

/* log(exp(a) + exp(b)) */
static double log_sum(double a, double b)
{
    const double most = fmax(a, b);
    return isinf(most) ? most : most + log1p(exp(fmin(a, b) - most));
}

void gram_mmd_tally_add(gram_mmd_tally *tally, int64_t b, double low, double high)
{
    if (tally->sharpness == 0) {
        tally->low[b] = fmax(tally->low[b], low);
        tally->high[b] = fmax(tally->high[b], high);
        return;
    }
    tally->low[b] = log_sum(tally->low[b], tally->sharpness * low);
    tally->high[b] = log_sum(tally->high[b], tally->sharpness * high);
}

double gram_mmd_score(const gram_mmd_tally *tally, double weight, double mean, double z)
{
    return tally->sharpness == 0 ? z : log(weight) + gram_tail_gamma_score(mean + z, mean, 1);
}

int64_t gram_mmd_reached(const gram_mmd_tally *tally)
{
    int64_t reached = 1;
    for (int64_t b = 1; b < tally->count; b++) reached += tally->high[b] >= tally->low[0];
    return reached;
}

/* The wild bootstrap, for samples whose rows are a stretch of a time series (Chwialkowski, Sejdinovic and Gretton, "A wild bootstrap
 * for degenerate kernel tests", NIPS 2014).
 *
 * Shuffling the rows would destroy their dependence, and with it the variance of the means. Instead each row gets a random weight that
 * depends on its neighbours': w_t = e w_(t-1) + sqrt(1 - e^2) z_t, e = exp(-1/l), z standard normal, centred within its sample. The
 * bootstrapped statistic is s'K s with s_i = w_i/n in the first sample and -w_j/m in the second. */
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "test/two_sample/mmd.h"

enum { RANDOM_STREAM = 0x77696c64 /* "wild" */, MOST_NUMBERS = 1 << 24, LEAST_BATCH = 16 };

typedef struct wild {
    const gram_pairs *pairs;
    int64_t n, m;
    double memory;
    gram_random random;
    double *w;      /* padded x batch */
    double *series; /* n + m */
} wild;

/* The variance of the mean of a series: what centring takes from the variance of each weight, and is given back. */
static double mean_variance(int64_t count, double keep)
{
    const double n = (double)count;
    double sum = n, power = 1;
    for (int64_t lag = 1; lag < count && power > 1e-17; lag++) {
        power *= keep;
        sum += 2 * (n - (double)lag) * power;
    }
    return sum / (n * n);
}

/* One centred series of `count` weights times `factor` into column c of w. */
static void put_series(const wild *b, int64_t first, int64_t count, double factor, int64_t c, int64_t batch)
{
    const double keep = exp(-1 / b->memory), fresh = sqrt(1 - keep * keep);
    double sum = 0, last = b->series[first];
    for (int64_t i = first; i < first + count; i++) {
        if (i > first) last = keep * last + fresh * b->series[i];
        b->w[i * batch + c] = last;
        sum += last;
    }
    factor /= sqrt(1 - mean_variance(count, keep));
    for (int64_t i = first; i < first + count; i++)
        b->w[i * batch + c] = (b->w[i * batch + c] - sum / (double)count) * factor;
}

static void draw(const wild *b, int64_t which, int64_t c, int64_t batch)
{
    const int64_t total = b->n + b->m;
    gram_random_normal(b->random, (uint64_t)(which * total), total, b->series);
    put_series(b, 0, b->n, 1 / (double)b->n, c, batch);
    put_series(b, b->n, b->m, -1 / (double)b->m, c, batch);
}

/* How many of the draws first .. first + batch - 1 reach the statistic. */
static gram_status count_batch(gram_context *context, const wild *b, int64_t first, int64_t batch, double reach,
                               double *values, int64_t *exceed)
{
    gram_status status = GRAM_OK;
    memset(b->w, 0, (size_t)(b->pairs->padded * batch) * sizeof(double));
    for (int64_t c = 0; c < batch; c++) draw(b, first + c, c, batch);
    TRY(gram_pairs_forms(context, b->pairs, batch, b->w, values));
    for (int64_t c = 0; c < batch; c++) {
        double diagonal = 0;
        for (int64_t i = 0; i < b->pairs->n; i++) {
            const double w = b->w[i * batch + c];
            diagonal += w * w * b->pairs->diagonal[i];
        }
        if (2 * values[c] + diagonal >= reach) ++*exceed;
    }
done:
    return status;
}

static double choose_memory(const gram_mmd_task *task)
{
    const int64_t least = task->pool.n < task->pool.m ? task->pool.n : task->pool.m;
    if (task->options->memory > 0) return task->options->memory;
    return fmax(fmin(20, (double)least / 5), 1);
}

gram_status gram_mmd_test_wild(gram_context *context, gram_mmd_task *task)
{
    gram_status status = GRAM_OK;
    gram_pairs pairs = {0};
    const int64_t draws = task->options->permutations;
    wild b = {.pairs = &pairs, .n = task->pool.n, .m = task->pool.m, .memory = choose_memory(task)};
    double *values = NULL;
    int64_t exceed = 0, batch = 0;
    b.random = (gram_random){gram_context_seed(context), RANDOM_STREAM};
    TRY(gram_pairs_create(context, task->kernel, task->pool.points, GRAM_CENTRE_PAIRS, &pairs));
    batch = MOST_NUMBERS / pairs.padded > LEAST_BATCH ? MOST_NUMBERS / pairs.padded : LEAST_BATCH;
    if (batch > draws) batch = draws;
    TRY(gram_take(context, "mmd_test: weights", pairs.padded * batch, sizeof *b.w, (void **)&b.w));
    TRY(gram_take(context, "mmd_test: series", pairs.n, sizeof *b.series, (void **)&b.series));
    TRY(gram_take(context, "mmd_test: values", batch, sizeof *values, (void **)&values));
    const gram_mmd_scale scale = gram_mmd_scaling(&pairs, b.n, b.m, 1);
    TRY(gram_mmd_observed(context, &pairs, b.n, &scale, &task->result->statistic));
    const double reach = task->result->statistic - gram_mmd_tie(&pairs, b.n, &scale);
    for (int64_t first = 0; first < draws; first += batch)
        TRY(count_batch(context, &b, first, draws - first < batch ? draws - first : batch, reach, values, &exceed));
    task->result->p_value = (double)(1 + exceed) / (double)(1 + draws);
done:
    gram_give(context, b.w);
    gram_give(context, b.series);
    gram_give(context, values);
    gram_pairs_destroy(context, &pairs);
    return status;
}

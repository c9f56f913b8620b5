/* The permutation test: all permuted statistics from one pass over the pairs.
 *
 * q of a labelling is a sum of C over the pairs of a subset (mmd.h). The sums for all labellings are made together in whole
 * numbers, C_ij rounded to some 2^-23 of its bound (subset_block.h). They decide all comparisons with the observed value but those
 * within the rounding's bound, half a unit for each pair: these few are computed again in f64. So the p-value is the one that f64
 * gives, at the price of a fraction of its work. Labellings whose f64 values differ by less than rounding allows, such as a set and
 * its complement when n = m, are ties, and ties count against rejection. */
#include <math.h>
#include <string.h>

#include "test/two_sample/mmd.h"
#include "tile/random_labels.h"

typedef struct permutation {
    const gram_pairs *pairs;
    int64_t n, m, count; /* labellings, the observed one first */
    gram_mmd_scale scale;
    uint8_t *bits;
    int64_t *sums;
    double unit;
    int cut;
    int64_t *near; /* labellings to be computed again; the observed one is the first */
    int64_t near_count, exceed;
    double statistic;
} permutation;

static double diagonal_sum(const permutation *p, int64_t which)
{
    double sum = 0;
    if (p->scale.diagonal == 0) return 0;
    for (int64_t i = 0; i < p->pairs->n; i++)
        if (gram_label(p->bits, p->count, i, which)) sum += p->pairs->diagonal[i];
    return sum;
}

/* Counts what is surely above, keeps what may be. */
static void compare(permutation *p)
{
    const double terms = 0.5 * (double)p->n * (double)(p->n - 1);
    const double bound = p->scale.slope * p->unit * terms + gram_mmd_tie(p->pairs, p->n, &p->scale);
    const double observed = p->scale.slope * p->unit * (double)p->sums[0] + p->scale.diagonal * diagonal_sum(p, 0);
    p->near[p->near_count++] = 0;
    for (int64_t b = 1; b < p->count; b++) {
        const double value = p->scale.slope * p->unit * (double)p->sums[b] + p->scale.diagonal * diagonal_sum(p, b);
        if (p->cut || fabs(value - observed) <= bound)
            p->near[p->near_count++] = b;
        else if (value > observed)
            p->exceed++;
    }
}

/* ---- in f64 ---- */

static void fill_weights(const permutation *p, int64_t first, int64_t count, double *w)
{
    memset(w, 0, (size_t)(p->pairs->padded * count) * sizeof *w);
    for (int64_t i = 0; i < p->pairs->n; i++)
        for (int64_t c = 0; c < count; c++) w[i * count + c] = gram_label(p->bits, p->count, i, p->near[first + c]);
}

static gram_status again(gram_context *context, permutation *p)
{
    enum { MOST_NUMBERS = 1 << 24, LEAST = 16 };
    gram_status status = GRAM_OK;
    double *w = NULL, *values = NULL;
    const double tie = gram_mmd_tie(p->pairs, p->n, &p->scale);
    int64_t batch = MOST_NUMBERS / p->pairs->padded > LEAST ? MOST_NUMBERS / p->pairs->padded : LEAST;
    if (batch > p->near_count) batch = p->near_count;
    TRY(gram_take(context, "mmd_test: labels", p->pairs->padded * batch, sizeof *w, (void **)&w));
    TRY(gram_take(context, "mmd_test: values", batch, sizeof *values, (void **)&values));
    for (int64_t first = 0; first < p->near_count; first += batch) {
        const int64_t count = p->near_count - first < batch ? p->near_count - first : batch;
        fill_weights(p, first, count, w);
        TRY(gram_pairs_forms(context, p->pairs, count, w, values));
        for (int64_t c = 0; c < count; c++) {
            const double diagonal = p->scale.diagonal * diagonal_sum(p, p->near[first + c]);
            const double value = p->scale.slope * values[c] + diagonal + p->scale.shift;
            if (first + c == 0)
                p->statistic = value;
            else if (value >= p->statistic - tie)
                p->exceed++;
        }
    }
    if (fabs(p->statistic) <= tie) p->statistic = 0;
done:
    gram_give(context, w);
    gram_give(context, values);
    return status;
}

gram_status gram_mmd_test_permutation(gram_context *context, gram_mmd_task *task)
{
    gram_status status = GRAM_OK;
    gram_pairs pairs = {0};
    permutation p = {.pairs = &pairs, .n = task->pool.n, .m = task->pool.m, .count = task->options->permutations + 1};
    int64_t bytes = 0;
    TRY(gram_pairs_create(context, task->kernel, task->pool.points, GRAM_CENTRE_PAIRS, &pairs));
    p.scale = gram_mmd_scaling(&pairs, p.n, p.m, task->options->biased);
    bytes = gram_subset_bytes(&pairs, p.count);
    TRY(gram_take(context, "mmd_test: permutations", bytes, 1, (void **)&p.bits));
    TRY(gram_take(context, "mmd_test: permutations", p.count, sizeof *p.sums, (void **)&p.sums));
    TRY(gram_take(context, "mmd_test: permutations", p.count, sizeof *p.near, (void **)&p.near));
    TRY(gram_labels_make(context, &pairs, p.n, p.count, p.bits));
    TRY(gram_pairs_subsets(context, &pairs, p.count, p.bits, p.sums, &p.unit, &p.cut));
    compare(&p);
    TRY(again(context, &p));
    task->result->statistic = p.statistic;
    task->result->p_value = (double)(1 + p.exceed) / (double)p.count;
    task->result->redone = p.near_count - 1;
done:
    gram_give(context, p.bits);
    gram_give(context, p.sums);
    gram_give(context, p.near);
    gram_pairs_destroy(context, &pairs);
    return status;
}

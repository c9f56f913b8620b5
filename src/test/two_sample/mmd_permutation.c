/* The permutation test of one look at the data or of several at once: a look is a kernel and the points that it sees.
 *
 * q of a labelling is a sum of C over the pairs of a subset (mmd.h). The sums for all labellings are made together in whole numbers, in
 * units of 2^-23 of the largest |C_ij| (subset_block.h). z_kb is the statistic of look k under labelling b, the observed one b = 0
 * among them, over its standard deviation under random labels, which is known (mmd.h) and the same for every b. T_b is one function of
 * z_1b, z_2b, ... (here the largest), and the p-value is the share of labellings with T_b >= T_0. T is the same function of the labels
 * whatever b is, so under the hypothesis T_0 is as likely to have any place among the T_b as any other: the level is exact, as for one
 * look. The idea of many looks is that of Schrab, Kim, Albert, Laurent, Guedj and Gretton, "MMD aggregated two-sample test", JMLR
 * 24, 2023, who compare each width with its own quantile, all at one corrected level. The largest z was measured against the smallest
 * p of the widths: 0.98 of the power of the one good width instead of 0.80 on a shift of the mean, 0.92 instead of 0.86 on a change
 * of variance, the same on blobs.
 *
 * The whole numbers decide all comparisons but those within the rounding's bound, half a unit for each pair: these few are computed
 * again in f64. So the p-value is the one that f64 gives, at the price of a fraction of its work. Labellings whose f64 values differ by
 * less than rounding allows, such as a set and its complement when n = m, are ties, and ties count against rejection.
 *
 * A look whose entries off the diagonal are below a millionth of those on it sees every point alone; what it would add to T is
 * mostly rounding, and it is left out. */
#include <math.h>
#include <string.h>

#include "test/two_sample/mmd.h"
#include "tile/random_labels.h"

typedef struct permutation {
    const gram_mmd_look *looks;
    int64_t look_count;
    int64_t n, m, count; /* labellings, the observed one first */
    int biased;
    uint8_t *bits;
    int64_t *sums;
    double *z;         /* of the look at hand */
    double *most;      /* T_b, so far; 0 until a look sees something */
    int seeing;        /* one does */
    double bound, tie; /* of T: what whole numbers and f64 leave open */
    int64_t *near;     /* labellings to be computed again, the observed one first */
    int64_t near_count, exceed;
    gram_mmd_seen *seen; /* of each look */
} permutation;

/* What a look's statistic is made of: z = (q + diagonal (sum_x C_ii - its mean))/deviation. */
typedef struct look_scale {
    gram_mmd_scale statistic;
    double deviation; /* of q; 0: the look is blind */
    double diagonal, mean;
} look_scale;

static look_scale scale_of(const permutation *p, const gram_pairs *pairs)
{
    look_scale scale = {.statistic = gram_mmd_scaling(pairs, p->n, p->m, p->biased)};
    scale.deviation = gram_mmd_look_deviation(pairs, p->n, p->look_count);
    scale.diagonal = scale.statistic.diagonal / scale.statistic.slope;
    for (int64_t i = 0; i < pairs->n; i++) scale.mean += pairs->diagonal[i] * (double)p->n / (double)pairs->n;
    return scale;
}

static double z_of(const permutation *p, const gram_pairs *pairs, const look_scale *scale, int64_t b, double q)
{
    double sum = 0;
    if (scale->deviation == 0) return 0;
    for (int64_t i = 0; i < pairs->n && scale->diagonal != 0; i++)
        if (gram_label(p->bits, p->count, i, b)) sum += pairs->diagonal[i];
    return (q + scale->diagonal * (sum - scale->mean)) / scale->deviation;
}

/* T of the first `count` labellings in p->z with one more look, unless it is blind. */
static void take_largest(permutation *p, int64_t count, int sees)
{
    for (int64_t b = 0; b < count && sees; b++)
        if (!p->seeing || p->z[b] > p->most[b]) p->most[b] = p->z[b];
    p->seeing |= sees;
}

/* ---- in whole numbers ---- */

static gram_status take_look(gram_context *context, permutation *p, int64_t k)
{
    gram_status status = GRAM_OK;
    gram_pairs pairs = {0};
    double unit;
    int64_t reached = 0;
    TRY(gram_pairs_create(context, p->looks[k].kernel, p->looks[k].points, GRAM_CENTRE_PAIRS, &pairs));
    if (!p->bits) {
        const int64_t bytes = gram_subset_bytes(pairs.n, p->count);
        TRY(gram_take(context, "mmd_test: permutations", bytes, 1, (void **)&p->bits));
        TRY(gram_labels_make(context, 0, pairs.n, p->n, p->count, p->bits));
    }
    const look_scale scale = scale_of(p, &pairs);
    if (scale.deviation > 0) {
        const double terms = 0.5 * (double)p->n * (double)(p->n - 1);
        TRY(gram_pairs_subsets(context, &pairs, p->count, p->bits, p->sums, &unit));
        const double tie = gram_mmd_tie(&pairs, p->n, &scale.statistic) / (scale.statistic.slope * scale.deviation);
        p->tie = fmax(p->tie, tie);
        p->bound = fmax(p->bound, unit * terms / scale.deviation + tie);
    }
    for (int64_t b = 0; b < p->count; b++) {
        p->z[b] = scale.deviation > 0 ? z_of(p, &pairs, &scale, b, unit * (double)p->sums[b]) : 0;
        reached += p->z[b] >= p->z[0];
    }
    take_largest(p, p->count, scale.deviation > 0);
    p->seen[k].p_value = (double)reached / (double)p->count;
done:
    gram_pairs_destroy(context, &pairs);
    return status;
}

/* Counts what is surely above, keeps what may be. */
static void compare(permutation *p)
{
    p->near[p->near_count++] = 0;
    for (int64_t b = 1; b < p->count; b++)
        if (fabs(p->most[b] - p->most[0]) <= p->bound)
            p->near[p->near_count++] = b;
        else if (p->most[b] > p->most[0])
            p->exceed++;
}

/* ---- in f64 ---- */

static void fill_weights(const permutation *p, const gram_pairs *pairs, int64_t first, int64_t count, double *w)
{
    memset(w, 0, (size_t)(pairs->padded * count) * sizeof *w);
    for (int64_t i = 0; i < pairs->n; i++)
        for (int64_t c = 0; c < count; c++) w[i * count + c] = gram_label(p->bits, p->count, i, p->near[first + c]);
}

/* z of the labellings that are near, into p->z, and the observed statistic of this look. */
static gram_status look_again(gram_context *context, permutation *p, int64_t k)
{
    enum { MOST_NUMBERS = 1 << 24, LEAST = 16 };
    gram_status status = GRAM_OK;
    gram_pairs pairs = {0};
    double *w = NULL, *values = NULL;
    TRY(gram_pairs_create(context, p->looks[k].kernel, p->looks[k].points, GRAM_CENTRE_PAIRS, &pairs));
    const look_scale scale = scale_of(p, &pairs);
    int64_t batch = MOST_NUMBERS / pairs.padded > LEAST ? MOST_NUMBERS / pairs.padded : LEAST;
    if (batch > p->near_count) batch = p->near_count;
    TRY(gram_take(context, "mmd_test: labels", pairs.padded * batch, sizeof *w, (void **)&w));
    TRY(gram_take(context, "mmd_test: values", batch, sizeof *values, (void **)&values));
    for (int64_t first = 0; first < p->near_count; first += batch) {
        const int64_t count = p->near_count - first < batch ? p->near_count - first : batch;
        fill_weights(p, &pairs, first, count, w);
        TRY(gram_pairs_forms(context, &pairs, count, w, values));
        for (int64_t c = 0; c < count; c++) p->z[first + c] = z_of(p, &pairs, &scale, p->near[first + c], values[c]);
    }
    TRY(gram_mmd_observed(context, &pairs, p->n, &scale.statistic, &p->seen[k].statistic));
    p->seen[k].z = p->z[0];
    p->seen[k].blind = scale.deviation == 0;
done:
    gram_give(context, w);
    gram_give(context, values);
    gram_pairs_destroy(context, &pairs);
    return status;
}

static gram_status again(gram_context *context, permutation *p)
{
    gram_status status = GRAM_OK;
    p->seeing = 0;
    memset(p->most, 0, (size_t)p->near_count * sizeof *p->most);
    for (int64_t k = 0; k < p->look_count; k++) {
        TRY(look_again(context, p, k));
        take_largest(p, p->near_count, !p->seen[k].blind);
    }
    for (int64_t c = 1; c < p->near_count; c++) p->exceed += p->most[c] >= p->most[0] - p->tie;
done:
    return status;
}

gram_status gram_mmd_permute(gram_context *context, const gram_mmd_task *task, int64_t look_count,
                             const gram_mmd_look *looks, gram_mmd_seen *seen)
{
    gram_status status = GRAM_OK;
    const char *what = "mmd_test: permutations";
    const int64_t n = task->pool.n, m = task->pool.m;
    permutation p = {
        .looks = looks, .look_count = look_count, .n = n, .m = m, .biased = task->options->biased, .seen = seen};
    p.count = gram_labels_count(n + m, n, task->options->permutations);
    TRY(gram_take(context, what, p.count, sizeof *p.sums, (void **)&p.sums));
    TRY(gram_take(context, what, p.count, sizeof *p.z, (void **)&p.z));
    TRY(gram_take(context, what, p.count, sizeof *p.most, (void **)&p.most));
    TRY(gram_take(context, what, p.count, sizeof *p.near, (void **)&p.near));
    memset(p.most, 0, (size_t)p.count * sizeof *p.most);
    for (int64_t k = 0; k < look_count; k++) TRY(take_look(context, &p, k));
    compare(&p);
    TRY(again(context, &p));
    task->result->permutations = p.count - 1;
    task->result->p_value = (double)(1 + p.exceed) / (double)p.count;
    task->result->redone = p.near_count - 1;
done:
    gram_give(context, p.bits);
    gram_give(context, p.sums);
    gram_give(context, p.z);
    gram_give(context, p.most);
    gram_give(context, p.near);
    return status;
}

gram_status gram_mmd_test_permutation(gram_context *context, gram_mmd_task *task)
{
    const gram_mmd_look look = {task->kernel, task->pool.points};
    gram_mmd_seen seen = {0};
    const gram_status status = gram_mmd_permute(context, task, 1, &look, &seen);
    task->result->statistic = seen.statistic;
    return status;
}

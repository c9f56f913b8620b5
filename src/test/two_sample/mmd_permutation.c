/* The permutation test of one look at the data or of several at once: a look is a kernel and the points that it sees.
 *
 * q of a labelling is a sum of C over the pairs of a subset (mmd.h). The sums for all labellings are made together in whole numbers, in
 * units of 2^-23 of the largest |C_ij| (subset_block.h). z_kb is the statistic of look k under labelling b, the observed one b = 0
 * among them, over its standard deviation under random labels, which is known (mmd.h) and the same for every b. T_b is one function of
 * z_1b, z_2b, ... and of the scores of features (mmd_tally.c), and the p-value is the share of labellings with T_b >= T_0. T is the same
 * function of the labels whatever b is, so under the hypothesis T_0 is as likely to have any place among the T_b as any other: the level is exact,
 * as for one look. The idea of many looks is that of Schrab, Kim, Albert, Laurent, Guedj and Gretton, "MMD aggregated two-sample test", JMLR
 * 24, 2023, who compare each width with its own quantile, all at one corrected level.
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
    const gram_mmd_looks *looks;
    int64_t n, m, count; /* labellings, the observed one first */
    int biased;
    uint8_t *bits;
    int64_t *sums;
    double *z; /* of the look at hand */
    gram_mmd_tally tally;
    int64_t *near; /* labellings to be computed again, the observed one first */
    int64_t near_count, exceed;
    gram_mmd_seen *seen; /* of each look */
} permutation;

/* What a look's statistic is made of: z = (q + diagonal (sum_x C_ii - its mean))/deviation. */
typedef struct look_scale {
    gram_mmd_scale statistic;
    double deviation; /* of q; 0: the look is blind */
    double diagonal, mean;
    double weight, start; /* of its score: gram_mmd_score */
    double tie;           /* z that differ by no more are equal in f64 */
} look_scale;

static look_scale scale_of(const permutation *p, const gram_pairs *pairs, int64_t k)
{
    look_scale scale = {.statistic = gram_mmd_scaling(pairs, p->n, p->m, p->biased),
                        .weight = p->looks->kernels[k].weight};
    scale.deviation = gram_mmd_look_deviation(pairs, p->n, p->looks->count);
    scale.diagonal = scale.statistic.diagonal / scale.statistic.slope;
    for (int64_t i = 0; i < pairs->n; i++) scale.mean += pairs->diagonal[i] * (double)p->n / (double)pairs->n;
    scale.start = gram_mmd_mean_over_deviation(pairs, p->n, scale.deviation);
    if (scale.deviation > 0)
        scale.tie = gram_mmd_tie(pairs, p->n, &scale.statistic) / (scale.statistic.slope * scale.deviation);
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

/* z of the first labellings of the tally, known within `bound`, to T. */
static void add_look(const permutation *p, gram_mmd_tally *tally, const look_scale *scale, double bound)
{
    for (int64_t b = 0; b < tally->count; b++)
        gram_mmd_tally_add(tally, b, gram_mmd_score(tally, scale->weight, scale->start, p->z[b] - bound),
                           gram_mmd_score(tally, scale->weight, scale->start, p->z[b] + bound));
}

/* ---- in whole numbers ---- */

static gram_status take_look(gram_context *context, permutation *p, int64_t k)
{
    gram_status status = GRAM_OK;
    const gram_mmd_look *look = &p->looks->kernels[k];
    const double terms = 0.5 * (double)p->n * (double)(p->n - 1);
    gram_pairs pairs = {0};
    double unit;
    int64_t reached = 0;
    p->seen[k].p_value = 1;
    TRY(gram_pairs_create(context, look->kernel, look->points, GRAM_CENTRE_PAIRS, &pairs));
    const look_scale scale = scale_of(p, &pairs, k);
    if (scale.deviation == 0) goto done;
    TRY(gram_pairs_subsets(context, &pairs, p->count, p->bits, p->sums, &unit));
    for (int64_t b = 0; b < p->count; b++) {
        p->z[b] = z_of(p, &pairs, &scale, b, unit * (double)p->sums[b]);
        reached += p->z[b] >= p->z[0];
    }
    add_look(p, &p->tally, &scale, unit * terms / scale.deviation + scale.tie);
    p->seen[k].p_value = (double)reached / (double)p->count;
done:
    gram_pairs_destroy(context, &pairs);
    return status;
}

/* Counts what is surely above, keeps what may be. */
static void compare(permutation *p)
{
    const gram_mmd_tally *t = &p->tally;
    p->near[p->near_count++] = 0;
    for (int64_t b = 1; b < p->count; b++)
        if (t->low[b] > t->high[0])
            p->exceed++;
        else if (t->high[b] >= t->low[0])
            p->near[p->near_count++] = b;
}

/* ---- in f64 ---- */

static void fill_weights(const permutation *p, const gram_pairs *pairs, int64_t first, int64_t count, double *w)
{
    memset(w, 0, (size_t)(pairs->padded * count) * sizeof *w);
    for (int64_t i = 0; i < pairs->n; i++)
        for (int64_t c = 0; c < count; c++) w[i * count + c] = gram_label(p->bits, p->count, i, p->near[first + c]);
}

/* z of the labellings that are near, into p->z and T, and the observed statistic of this look. */
static gram_status look_again(gram_context *context, permutation *p, int64_t k, gram_mmd_tally *tally)
{
    enum { MOST_NUMBERS = 1 << 24, LEAST = 16 };
    gram_status status = GRAM_OK;
    const gram_mmd_look *look = &p->looks->kernels[k];
    gram_pairs pairs = {0};
    double *w = NULL, *values = NULL;
    TRY(gram_pairs_create(context, look->kernel, look->points, GRAM_CENTRE_PAIRS, &pairs));
    const look_scale scale = scale_of(p, &pairs, k);
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
    p->seen[k].score = gram_mmd_score(tally, scale.weight, scale.start, p->z[0]);
    p->seen[k].blind = scale.deviation == 0;
    if (scale.deviation > 0) add_look(p, tally, &scale, scale.tie);
done:
    gram_give(context, w);
    gram_give(context, values);
    gram_pairs_destroy(context, &pairs);
    return status;
}

static gram_status again(gram_context *context, permutation *p)
{
    gram_status status = GRAM_OK;
    gram_mmd_tally tally = {0};
    TRY(gram_mmd_tally_create(context, p->near_count, p->looks->sharpness, &tally));
    for (int64_t k = 0; k < p->looks->count; k++) TRY(look_again(context, p, k, &tally));
    if (p->looks->features) gram_mmd_features_tell(p->looks->features, p->near, &tally, NULL);
    p->exceed += gram_mmd_reached(&tally) - 1;
done:
    gram_mmd_tally_destroy(context, &tally);
    return status;
}

/* T of all labellings, in whole numbers where kernels are concerned. */
static gram_status take_looks(gram_context *context, permutation *p)
{
    gram_status status = GRAM_OK;
    gram_mmd_features *features = p->looks->features;
    for (int64_t k = 0; k < p->looks->count; k++) TRY(take_look(context, p, k));
    if (features) {
        TRY(gram_mmd_features_permute(context, features, p->n, p->count, p->bits));
        gram_mmd_features_tell(features, NULL, &p->tally, p->seen + p->looks->count);
    }
done:
    return status;
}

gram_status gram_mmd_permute(gram_context *context, const gram_mmd_task *task, const gram_mmd_looks *looks,
                             gram_mmd_seen *seen)
{
    gram_status status = GRAM_OK;
    const char *what = "mmd_test: permutations";
    const int64_t n = task->pool.n, m = task->pool.m;
    permutation p = {.looks = looks, .n = n, .m = m, .biased = task->options->biased, .seen = seen};
    p.count = gram_labels_count(n + m, n, task->options->permutations);
    TRY(gram_take(context, what, gram_subset_bytes(n + m, p.count), 1, (void **)&p.bits));
    TRY(gram_take(context, what, p.count, sizeof *p.sums, (void **)&p.sums));
    TRY(gram_take(context, what, p.count, sizeof *p.z, (void **)&p.z));
    TRY(gram_take(context, what, p.count, sizeof *p.near, (void **)&p.near));
    TRY(gram_mmd_tally_create(context, p.count, looks->sharpness, &p.tally));
    TRY(gram_labels_make(context, 0, n + m, n, p.count, p.bits));
    TRY(take_looks(context, &p));
    compare(&p);
    TRY(again(context, &p));
    task->result->permutations = p.count - 1;
    task->result->p_value = (double)(1 + p.exceed) / (double)p.count;
    task->result->redone = p.near_count - 1;
done:
    gram_mmd_tally_destroy(context, &p.tally);
    gram_give(context, p.bits);
    gram_give(context, p.sums);
    gram_give(context, p.z);
    gram_give(context, p.near);
    return status;
}

gram_status gram_mmd_test_permutation(gram_context *context, gram_mmd_task *task)
{
    const gram_mmd_look look = {task->kernel, task->pool.points, 1};
    const gram_mmd_looks looks = {.count = 1, .kernels = &look};
    gram_mmd_seen seen = {0};
    const gram_status status = gram_mmd_permute(context, task, &looks, &seen);
    task->result->statistic = seen.statistic;
    return status;
}

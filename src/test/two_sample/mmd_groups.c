/* The permutation test of large samples: groups of rows change their labels together.
 *
 * A permuted statistic asks for sums of C over subsets of the pairs, N^2/8 operations each. Here the rows of each sample are put into
 * groups of one size at random, the sums of C between groups are made in one pass over the pairs, and it is the groups that are
 * permuted: G^2 operations for G groups. Under the hypothesis rows are exchangeable, so groups of rows are, and the level is exact for
 * any number of groups. What is lost is power, and little of it: the observed statistic is that of all rows, only its quantile is
 * less finely known, as if from 64 to 128 rows a sample. (Domingo-Enrich, Dwivedi and Mackey, "Compress then test: powerful kernel
 * testing in near-linear time", AISTATS 2023, permute groups of a compressed sample.)
 *
 * Above 65,536 rows the pairs themselves are too many: both samples are cut into as many chunks as it takes, and statistics, labels and
 * variances are those of the chunks, added up. The time is linear in N from there on.
 *
 * Rows that do not fill a group, fewer than one group's of each sample and chunk, are left out. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "test/two_sample/mmd.h"
#include "tile/random_labels.h"

enum { FEWEST_GROUPS = 64, LEAST_ROWS = 2 * FEWEST_GROUPS * GRAM_STRIP, MOST_ROWS = 1 << 16, LABELLINGS = 64 };

int gram_mmd_groups_fit(const gram_mmd_task *task)
{
    return task->pool.n >= LEAST_ROWS && task->pool.m >= LEAST_ROWS;
}

/* Of one look, over the chunks. */
typedef struct grouped_look {
    double variance, tie, mean; /* of q; the last of what the diagonal adds to it */
    double slope, shift;        /* from q to the statistic */
} grouped_look;

typedef struct grouped {
    const gram_mmd_task *task;
    int64_t look_count;
    const gram_mmd_look *looks;
    int64_t count;        /* labellings, the observed one first */
    int64_t chunks, rows; /* of a group */
    int64_t n, m;         /* groups of each sample in a chunk */
    int64_t *order_x, *order_y;
    double *data;   /* of a chunk: (n + m) rows points */
    double *sums;   /* between strips, and then between groups */
    double *labels; /* (n + m) x count */
    double *q;      /* of each look and labelling, over the chunks */
    int64_t at;     /* the look at hand */
    grouped_look *sum;
} grouped;

static int64_t strips_of(const grouped *g)
{
    return (g->n + g->m) * g->rows / GRAM_STRIP;
}

/* Chunks of equal size; groups of whole strips, so that the smaller sample has 64 to 128 of them. */
static void choose_sizes(grouped *g)
{
    const int64_t n = g->task->pool.n, m = g->task->pool.m, least = n < m ? n : m;
    g->chunks = (n + m + MOST_ROWS - 1) / MOST_ROWS;
    if (least / g->chunks < LEAST_ROWS) g->chunks = least / LEAST_ROWS;
    g->rows = least / g->chunks / FEWEST_GROUPS / GRAM_STRIP * GRAM_STRIP;
    g->n = n / g->chunks / g->rows;
    g->m = m / g->chunks / g->rows;
}

static gram_status take_arrays(gram_context *context, grouped *g)
{
    enum { RANDOM_STREAM = 0x67726f75 /* "grou" */ };
    gram_status status = GRAM_OK;
    const gram_random random = {gram_context_seed(context), RANDOM_STREAM};
    const char *what = "mmd_test: groups";
    const int64_t n = g->task->pool.n, m = g->task->pool.m, groups = g->n + g->m, strips = strips_of(g);
    TRY(gram_take(context, what, n, sizeof *g->order_x, (void **)&g->order_x));
    TRY(gram_take(context, what, m, sizeof *g->order_y, (void **)&g->order_y));
    TRY(gram_take(context, what, groups * g->rows * g->task->pool.d, sizeof *g->data, (void **)&g->data));
    TRY(gram_take(context, what, strips * strips, sizeof *g->sums, (void **)&g->sums));
    TRY(gram_take(context, what, groups * g->count, sizeof *g->labels, (void **)&g->labels));
    TRY(gram_take(context, what, g->look_count * g->count, sizeof *g->q, (void **)&g->q));
    TRY(gram_take(context, what, g->look_count, sizeof *g->sum, (void **)&g->sum));
    memset(g->q, 0, (size_t)(g->look_count * g->count) * sizeof *g->q);
    memset(g->sum, 0, (size_t)g->look_count * sizeof *g->sum);
    gram_random_permutation(random, 0, n, g->order_x);
    gram_random_permutation(random, 1, m, g->order_y);
done:
    return status;
}

static void give_arrays(gram_context *context, grouped *g)
{
    gram_give(context, g->order_x);
    gram_give(context, g->order_y);
    gram_give(context, g->data);
    gram_give(context, g->sums);
    gram_give(context, g->labels);
    gram_give(context, g->q);
    gram_give(context, g->sum);
}

/* The rows of a chunk as a look sees them: its groups of the first sample, then those of the second. */
static void gather(const grouped *g, int64_t chunk, const gram_points *points)
{
    const int64_t d = g->task->pool.d, n = g->n * g->rows, m = g->m * g->rows;
    double *out = g->data;
    for (int64_t i = 0; i < n + m; i++) {
        const int64_t row =
            i < n ? g->order_x[chunk * n + i] : g->task->pool.n + g->order_y[chunk * m + i - n];
        for (int64_t l = 0; l < d; l++) *out++ = gram_points_at(points, row, l);
    }
}

static gram_status make_labels(gram_context *context, const grouped *g, int64_t chunk)
{
    gram_status status = GRAM_OK;
    const int64_t groups = g->n + g->m;
    uint8_t *bits = NULL;
    TRY(gram_take(context, "mmd_test: permutations", gram_subset_bytes(groups, g->count), 1, (void **)&bits));
    TRY(gram_labels_make(context, (uint32_t)chunk, groups, g->n, g->count, bits));
    for (int64_t a = 0; a < groups; a++)
        for (int64_t b = 0; b < g->count; b++) g->labels[a * g->count + b] = gram_label(bits, g->count, a, b);
done:
    gram_give(context, bits);
    return status;
}

/* Sums between strips become sums between groups, in place and on both sides of the diagonal; row and column a of the result are
 * not before those strips that it is made of. `diagonal` C_ii, for the V-statistic, count among the pairs of a group. */
static void merge_strips(const grouped *g, const gram_pairs *pairs, double diagonal)
{
    const int64_t groups = g->n + g->m, per_group = g->rows / GRAM_STRIP, ld = strips_of(g);
    for (int64_t a = 0; a < groups; a++)
        for (int64_t b = 0; b <= a; b++) {
            double sum = 0;
            for (int64_t i = a * per_group; i < (a + 1) * per_group; i++)
                for (int64_t j = b * per_group; j < (b + 1) * per_group && j <= i; j++) sum += g->sums[i * ld + j];
            for (int64_t i = a * g->rows; i < (a + 1) * g->rows && a == b && diagonal != 0; i++)
                sum += diagonal * pairs->diagonal[i];
            g->sums[a * ld + b] = sum;
        }
    for (int64_t a = 0; a < groups; a++)
        for (int64_t b = 0; b < a; b++) g->sums[b * ld + a] = g->sums[a * ld + b];
}

/* q_b = (l_b' S l_b + l_b' diag(S))/2 over groups, S symmetric with the pairs within a group counted once on the diagonal; for the
 * labellings of one task. */
static gram_status forms_task(void *argument, const gram_worker *worker)
{
    const grouped *g = argument;
    const int64_t groups = g->n + g->m, ld = strips_of(g), first = worker->task * LABELLINGS;
    const int64_t count = g->count - first < LABELLINGS ? g->count - first : LABELLINGS;
    double *product = worker->scratch, *q = g->q + g->at * g->count + first;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)groups, (int)count, (int)groups, 0.5, g->sums, (int)ld,
                g->labels + first, (int)g->count, 0, product, (int)count);
    for (int64_t a = 0; a < groups; a++) {
        const double *label = g->labels + a * g->count + first, own = 0.5 * g->sums[a * ld + a];
        for (int64_t b = 0; b < count; b++) q[b] += label[b] * (product[a * count + b] + own);
    }
    return GRAM_OK;
}

static gram_status add_forms(gram_context *context, grouped *g, int64_t k)
{
    g->at = k;
    const gram_sweep sweep = {.what = "permutations",
                              .tasks = (g->count + LABELLINGS - 1) / LABELLINGS,
                              .scratch_bytes = (size_t)((g->n + g->m) * LABELLINGS) * sizeof(double),
                              .run = forms_task,
                              .argument = g};
    return gram_sweep_run(context, &sweep);
}

static gram_status take_look(gram_context *context, grouped *g, int64_t chunk, int64_t k)
{
    gram_status status = GRAM_OK;
    gram_points *points = NULL;
    gram_pairs pairs = {0};
    const int64_t n = g->n * g->rows, m = g->m * g->rows, d = g->task->pool.d;
    gather(g, chunk, g->looks[k].points);
    TRY(gram_points_create_f64(context, n + m, d, g->data, d, &points));
    TRY(gram_pairs_create(context, g->looks[k].kernel, points, GRAM_CENTRE_PAIRS, &pairs));
    const gram_mmd_scale scale = gram_mmd_scaling(&pairs, n, m, g->task->options->biased);
    const double deviation = gram_mmd_look_deviation(&pairs, n, g->look_count);
    grouped_look *sum = &g->sum[k];
    sum->variance += deviation * deviation;
    sum->tie += gram_mmd_tie(&pairs, n, &scale) / scale.slope;
    sum->slope = scale.slope;
    sum->shift += scale.shift;
    for (int64_t i = 0; i < n + m && scale.diagonal != 0; i++)
        sum->mean += scale.diagonal / scale.slope * pairs.diagonal[i] * (double)n / (double)(n + m);
    TRY(gram_pairs_strips(context, &pairs, g->sums, strips_of(g)));
    merge_strips(g, &pairs, scale.diagonal / scale.slope);
    TRY(add_forms(context, g, k));
done:
    gram_pairs_destroy(context, &pairs);
    gram_points_release(points);
    return status;
}

/* Each look's own p-value, and T of all: the largest z of those that see something. */
static void compare(grouped *g, gram_mmd_seen *seen)
{
    gram_mmd_result *result = g->task->result;
    double *most = g->labels, tie = 0; /* labels are no longer needed */
    int64_t reached = 0;
    int seeing = 0;
    memset(most, 0, (size_t)g->count * sizeof *most);
    for (int64_t k = 0; k < g->look_count; k++) {
        const grouped_look *sum = &g->sum[k];
        const double *q = g->q + k * g->count, deviation = sqrt(sum->variance);
        seen[k].statistic = (sum->slope * q[0] + sum->shift) / (double)g->chunks;
        seen[k].blind = !(deviation > 0);
        seen[k].z = seen[k].blind ? 0 : (q[0] - sum->mean) / deviation;
        for (int64_t b = 0; b < g->count; b++) seen[k].p_value += (q[b] >= q[0] - sum->tie) / (double)g->count;
        if (seen[k].blind) continue;
        tie = fmax(tie, sum->tie / deviation);
        for (int64_t b = 0; b < g->count; b++) {
            const double z = (q[b] - sum->mean) / deviation;
            if (!seeing || z > most[b]) most[b] = z;
        }
        seeing = 1;
    }
    for (int64_t b = 0; b < g->count; b++) reached += most[b] >= most[0] - tie;
    result->p_value = (double)reached / (double)g->count;
}

gram_status gram_mmd_permute_groups(gram_context *context, const gram_mmd_task *task, int64_t look_count,
                                    const gram_mmd_look *looks, gram_mmd_seen *seen)
{
    gram_status status = GRAM_OK;
    grouped g = {.task = task, .look_count = look_count, .looks = looks, .count = task->options->permutations + 1};
    choose_sizes(&g);
    TRY(take_arrays(context, &g));
    for (int64_t chunk = 0; chunk < g.chunks; chunk++) {
        TRY(make_labels(context, &g, chunk));
        for (int64_t k = 0; k < look_count; k++) TRY(take_look(context, &g, chunk, k));
    }
    compare(&g, seen);
    task->result->permutations = task->options->permutations;
    task->result->n = g.chunks * g.n * g.rows;
    task->result->m = g.chunks * g.m * g.rows;
    task->result->group_rows = g.rows;
    task->result->chunks = g.chunks;
done:
    give_arrays(context, &g);
    return status;
}

/* The permutation test of large samples: groups of rows change their labels together.
 *
 * A permuted statistic asks for sums of K over subsets of the pairs, N^2/8 operations each. Here the rows of each sample are put into
 * groups of one size at random, the sums of K between groups are made in one pass over the pairs, all widths of a kernel from the same
 * distances, and it is the groups that are permuted: G^2 operations for G groups. Under the hypothesis rows are exchangeable, so groups
 * of rows are, and the level is exact for any number of groups. What is lost is power, and little of it: the observed statistic
 * is that of all rows, only its quantile is less finely known, as if from 64 to 128 rows a sample. (Domingo-Enrich, Dwivedi and
 * Mackey, "Compress then test: powerful kernel testing in near-linear time", AISTATS 2023, permute groups of a compressed sample.)
 *
 * Above 65,536 rows the pairs themselves are too many: both samples are cut into as many chunks as it takes, statistics and labels are
 * those of the chunks, and the mean over the chunks is what is tested. The time is linear in N from there on, until 2^33 pairs are reached
 * at 262,144 rows; of more rows chunks are smaller, so that the time hardly grows.
 *
 * T is made of the z of the looks and the scores of features, as in mmd_permutation.c. z is the statistic less its mean over its standard
 * deviation, both taken over all labellings at hand, the observed one among them: symmetric in the labellings, so the level stays exact.
 * Sums of features are linear in the rows: they are those of all chunks together, which lose nothing.
 *
 * Entries are made in f32 and summed in f64, which takes half of the time; the statistic that is reported is made again in f64.
 *
 * Rows that do not fill a group, fewer than one group's of each sample and chunk, are left out. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/random.h>

#include "base/sweep.h"
#include "test/two_sample/mmd.h"
#include "tile/random_labels.h"

enum { FEWEST_GROUPS = 64, LEAST_ROWS = 2 * FEWEST_GROUPS * GRAM_STRIP, MOST_ROWS = 1 << 16, LABELLINGS = 64 };
static const double MOST_PAIRS = 0x1p33;

int gram_mmd_groups_fit(const gram_mmd_task *task)
{
    return task->pool.n >= LEAST_ROWS && task->pool.m >= LEAST_ROWS;
}

typedef struct grouped {
    const gram_mmd_task *task;
    int64_t count;        /* labellings, the observed one first */
    int64_t chunks, rows; /* of a group */
    int64_t n, m, groups; /* groups of each sample in a chunk, and of both */
    int64_t *order_x, *order_y;
    float *data;    /* of a chunk, less the means of the columns */
    double *means;  /* of the columns of the looks at hand */
    double *labels; /* groups x count */
    double *values; /* of each look and labelling, over the chunks */
    double *size;   /* of each look: the mean |k|, which rounding is relative to */
    /* the looks at hand: those of one family */
    int64_t first, looks;
    const gram_engine *engine;
    double *blocks;   /* looks x strips x groups: sums of K_ij over i > j, i in a strip and j in a group */
    double *sums;     /* groups x groups of one look, symmetric; on the diagonal the pairs within a group, once */
    double *diagonal; /* K_ii, and then their sums over groups; 0 unless they count */
    double *row;      /* sums of a group with all points */
    int64_t at;
} grouped;

static int64_t strips_of(const grouped *g)
{
    return g->groups * g->rows / GRAM_STRIP;
}

/* Chunks of equal size; groups of whole strips, so that the smaller sample has 64 to 128 of them. Of a sample that is more than 16 times
 * the other, as many rows are taken at random: more of them would hardly make the difference of the means more certain. */
static void choose_sizes(grouped *g)
{
    const int64_t least = g->task->pool.n < g->task->pool.m ? g->task->pool.n : g->task->pool.m, most = 16 * least;
    const int64_t n = g->task->pool.n < most ? g->task->pool.n : most,
                  m = g->task->pool.m < most ? g->task->pool.m : most;
    const double total = (double)(n + m);
    g->chunks = (int64_t)ceil(total / fmin(MOST_ROWS, 2 * MOST_PAIRS / total));
    if (least / g->chunks < LEAST_ROWS) g->chunks = least / LEAST_ROWS;
    g->rows = least / g->chunks / FEWEST_GROUPS / GRAM_STRIP * GRAM_STRIP;
    g->n = n / g->chunks / g->rows;
    g->m = m / g->chunks / g->rows;
    g->groups = g->n + g->m;
}

static gram_status take_arrays(gram_context *context, grouped *g, int64_t look_count, int64_t most_looks)
{
    enum { RANDOM_STREAM = 0x67726f75 /* "grou" */ };
    gram_status status = GRAM_OK;
    const gram_random random = {gram_context_seed(context), RANDOM_STREAM};
    const char *what = "mmd_test: groups";
    const int64_t n = g->task->pool.n, m = g->task->pool.m, d = g->task->pool.d;
    TRY(gram_take(context, what, n, sizeof *g->order_x, (void **)&g->order_x));
    TRY(gram_take(context, what, m, sizeof *g->order_y, (void **)&g->order_y));
    TRY(gram_take(context, what, g->groups * g->rows * d, sizeof *g->data, (void **)&g->data));
    TRY(gram_take(context, what, d, sizeof *g->means, (void **)&g->means));
    TRY(gram_take(context, what, g->groups * g->count, sizeof *g->labels, (void **)&g->labels));
    TRY(gram_take(context, what, look_count * g->count, sizeof *g->values, (void **)&g->values));
    TRY(gram_take(context, what, look_count, sizeof *g->size, (void **)&g->size));
    TRY(gram_take(context, what, most_looks * strips_of(g) * g->groups, sizeof *g->blocks, (void **)&g->blocks));
    TRY(gram_take(context, what, g->groups * g->groups, sizeof *g->sums, (void **)&g->sums));
    TRY(gram_take(context, what, g->groups * g->rows, sizeof *g->diagonal, (void **)&g->diagonal));
    TRY(gram_take(context, what, g->groups, sizeof *g->row, (void **)&g->row));
    memset(g->diagonal, 0, (size_t)g->groups * sizeof *g->diagonal);
    memset(g->values, 0, (size_t)(look_count * g->count) * sizeof *g->values);
    memset(g->size, 0, (size_t)look_count * sizeof *g->size);
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
    gram_give(context, g->means);
    gram_give(context, g->labels);
    gram_give(context, g->values);
    gram_give(context, g->size);
    gram_give(context, g->blocks);
    gram_give(context, g->sums);
    gram_give(context, g->diagonal);
    gram_give(context, g->row);
}

static void find_means(const grouped *g, const gram_points *points)
{
    for (int64_t l = 0; l < g->task->pool.d; l++) {
        g->means[l] = 0;
        for (int64_t i = 0; i < points->n; i++) g->means[l] += gram_points_at(points, i, l) / (double)points->n;
    }
}

/* The rows of a chunk as a look sees them: its groups of the first sample, then those of the second. In f32, less the means: what is lost
 * makes the kernel another function of the points, by some 1e-7, and the test of it is as exact. */
static void gather(const grouped *g, int64_t chunk, const gram_points *points)
{
    const int64_t d = g->task->pool.d, n = g->n * g->rows, m = g->m * g->rows;
    float *out = g->data;
    find_means(g, points);
    for (int64_t i = 0; i < n + m; i++) {
        const int64_t row = i < n ? g->order_x[chunk * n + i] : g->task->pool.n + g->order_y[chunk * m + i - n];
        for (int64_t l = 0; l < d; l++) *out++ = (float)(gram_points_at(points, row, l) - g->means[l]);
    }
}

static gram_status make_labels(gram_context *context, const grouped *g, int64_t chunk)
{
    gram_status status = GRAM_OK;
    uint8_t *bits = NULL;
    TRY(gram_take(context, "mmd_test: permutations", gram_subset_bytes(g->groups, g->count), 1, (void **)&bits));
    TRY(gram_labels_make(context, (uint32_t)chunk, g->groups, g->n, g->count, bits));
    for (int64_t a = 0; a < g->groups; a++)
        for (int64_t b = 0; b < g->count; b++) g->labels[a * g->count + b] = gram_label(bits, g->count, a, b);
done:
    gram_give(context, bits);
    return status;
}

/* ---- sums between groups ---- */

/* The sum of a block of 16 x 16 entries: columns side by side, so that it is made in vectors. On the diagonal only j < i. */
static double sum_block(const float *k, int diagonal)
{
    double columns[GRAM_STRIP] = {0}, sum = 0;
    for (int i = 0; i < GRAM_STRIP && !diagonal; i++)
        for (int j = 0; j < GRAM_STRIP; j++) columns[j] += (double)k[i * GRAM_PANEL + j];
    for (int i = 0; i < GRAM_STRIP && diagonal; i++)
        for (int j = 0; j < i; j++) columns[j] += (double)k[i * GRAM_PANEL + j];
    for (int j = 0; j < GRAM_STRIP; j++) sum += columns[j];
    return sum;
}

/* A strip of K to the sums of its rows with the groups of its columns. */
static void add_strip(const grouped *g, int64_t row, int64_t column, const float *k, double *out)
{
    const int64_t end = g->groups * g->rows;
    for (int64_t first = column; first < column + GRAM_PANEL && first < end && first < row + GRAM_STRIP;
         first += GRAM_STRIP)
        out[first / g->rows] += sum_block(k + (first - column), first == row);
}

/* A panel of rows against all columns up to it: its strips' sums are no other task's. The longest first. */
static gram_status blocks_task(void *argument, const gram_worker *worker)
{
    const grouped *g = argument;
    const int64_t panels = gram_engine_row_panels(g->engine), i = panels - 1 - worker->task;
    gram_engine_begin(g->engine, worker->scratch, worker);
    for (int64_t j = 0; j <= i; j++)
        for (int64_t row = i * GRAM_PANEL; row < (i + 1) * GRAM_PANEL && row < g->engine->n; row += GRAM_STRIP)
            for (int64_t k = 0; k < g->looks; k++) {
                const float *strip =
                    k == 0 ? gram_engine_strip_f32(g->engine, worker->scratch, i, (int)(row - i * GRAM_PANEL), j)
                           : gram_engine_other_f32(g->engine, worker->scratch, (int)k);
                double *out = g->blocks + (k * strips_of(g) + row / GRAM_STRIP) * g->groups;
                add_strip(g, row, j * GRAM_PANEL, strip, out);
            }
    return GRAM_OK;
}

/* Sums of strips become those of groups; returns the sum over all pairs. */
static double merge_blocks(const grouped *g, int64_t k)
{
    const int64_t per_group = g->rows / GRAM_STRIP;
    double total = 0;
    memset(g->sums, 0, (size_t)(g->groups * g->groups) * sizeof *g->sums);
    for (int64_t a = 0; a < g->groups; a++)
        for (int64_t s = a * per_group; s < (a + 1) * per_group; s++)
            for (int64_t b = 0; b <= a; b++)
                g->sums[a * g->groups + b] += g->blocks[(k * strips_of(g) + s) * g->groups + b];
    for (int64_t a = 0; a < g->groups; a++)
        for (int64_t b = 0; b <= a; b++) {
            g->sums[b * g->groups + a] = g->sums[a * g->groups + b];
            total += g->sums[a * g->groups + b];
        }
    for (int64_t a = 0; a < g->groups; a++) {
        g->row[a] = g->sums[a * g->groups + a];
        for (int64_t b = 0; b < g->groups; b++) g->row[a] += g->sums[a * g->groups + b];
    }
    return total;
}

/* ---- the statistic of all labellings ---- */

/* With l the labels of the first sample's groups and S the sums, xx = l'(S + diag S)l/2, xx + xy + yy = total, and
 * l'(S 1 + diag S) counts xx twice and xy once. */
static gram_status values_task(void *argument, const gram_worker *worker)
{
    const grouped *g = argument;
    const int64_t groups = g->groups, first = worker->task * LABELLINGS;
    const int64_t count = g->count - first < LABELLINGS ? g->count - first : LABELLINGS;
    const double n = (double)(g->n * g->rows), m = (double)(g->m * g->rows), less = g->task->options->biased ? 0 : 1;
    double *product = worker->scratch, *value = g->values + g->at * g->count + first;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)groups, (int)count, (int)groups, 1, g->sums,
                (int)groups, g->labels + first, (int)g->count, 0, product, (int)count);
    for (int64_t b = 0; b < count; b++) {
        double xx = 0, rows = 0, total = 0, own_x = 0, own = 0;
        for (int64_t a = 0; a < groups; a++) {
            const double label = g->labels[a * g->count + first + b], within = g->sums[a * groups + a];
            xx += label * (product[a * count + b] + within) / 2;
            rows += label * g->row[a];
            total += g->row[a] / 2;
            own_x += label * g->diagonal[a];
            own += g->diagonal[a];
        }
        const double xy = rows - 2 * xx, yy = total - xx - xy;
        value[b] += (2 * xx + (1 - less) * own_x) / (n * (n - less)) +
                    (2 * yy + (1 - less) * (own - own_x)) / (m * (m - less)) - 2 * xy / (n * m);
    }
    return GRAM_OK;
}

static gram_status add_values(gram_context *context, grouped *g, int64_t k)
{
    const double pairs = 0.5 * (double)g->engine->n * (double)(g->engine->n - 1);
    g->at = g->first + k;
    g->size[g->at] += fabs(merge_blocks(g, k)) / pairs;
    const gram_sweep sweep = {.what = "permutations",
                              .tasks = (g->count + LABELLINGS - 1) / LABELLINGS,
                              .scratch_bytes = (size_t)(g->groups * LABELLINGS) * sizeof(double),
                              .run = values_task,
                              .argument = g};
    return gram_sweep_run(context, &sweep);
}

/* K_ii of one look, summed over groups. */
static gram_status sum_diagonal(gram_context *context, const grouped *g, const gram_kernel *kernel,
                                const gram_points *points)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = NULL;
    const gram_engine_request request = {.kernel = kernel, .x = points, .always_double = 1};
    TRY(gram_engine_create(context, &request, &engine));
    TRY(gram_engine_diagonal(context, engine, g->diagonal));
    for (int64_t a = 0; a < g->groups; a++) {
        double sum = 0;
        for (int64_t i = a * g->rows; i < (a + 1) * g->rows; i++) sum += g->diagonal[i];
        g->diagonal[a] = sum;
    }
done:
    gram_engine_destroy(engine);
    return status;
}

/* Looks at one set of points, whose distances are made once. */
static gram_status take_family(gram_context *context, grouped *g, int64_t chunk, const gram_mmd_look *looks)
{
    gram_status status = GRAM_OK;
    gram_points *points = NULL;
    gram_engine *engine = NULL;
    gram_kernel *others[GRAM_MMD_MAX_LOOKS];
    const int64_t d = g->task->pool.d, rows = g->groups * g->rows;
    for (int64_t k = 1; k < g->looks; k++) others[k - 1] = looks[k].kernel;
    gather(g, chunk, looks[0].points);
    TRY(gram_points_create_f32(context, rows, d, g->data, d, &points));
    const gram_engine_request request = {
        .kernel = looks[0].kernel, .x = points, .others = others, .other_count = (int)g->looks - 1};
    TRY(gram_engine_create(context, &request, &engine));
    g->engine = engine;
    memset(g->blocks, 0, (size_t)(g->looks * strips_of(g) * g->groups) * sizeof *g->blocks);
    const gram_sweep sweep = {.what = "pairs",
                              .tasks = gram_engine_row_panels(engine),
                              .scratch_bytes = gram_engine_scratch(engine),
                              .run = blocks_task,
                              .argument = g};
    TRY(gram_sweep_run(context, &sweep));
    for (int64_t k = 0; k < g->looks; k++) {
        if (g->task->options->biased) TRY(sum_diagonal(context, g, looks[k].kernel, points));
        TRY(add_values(context, g, k));
    }
done:
    g->engine = NULL;
    gram_engine_destroy(engine);
    gram_points_release(points);
    return status;
}

/* ---- features ---- */

/* Sums over the groups of a chunk, less their mean: groups x d. */
static void sum_groups(const grouped *g, int64_t chunk, const gram_mmd_features *f, double *sums)
{
    const int64_t d = f->d, n = g->n * g->rows, m = g->m * g->rows;
    memset(sums, 0, (size_t)(g->groups * d) * sizeof *sums);
    for (int64_t i = 0; i < n + m; i++) {
        const int64_t row = i < n ? g->order_x[chunk * n + i] : g->task->pool.n + g->order_y[chunk * m + i - n];
        for (int64_t l = 0; l < d; l++) sums[i / g->rows * d + l] += f->values[row * d + l];
    }
    for (int64_t l = 0; l < d; l++) {
        double mean = 0;
        for (int64_t a = 0; a < g->groups; a++) mean += sums[a * d + l] / (double)g->groups;
        for (int64_t a = 0; a < g->groups; a++) sums[a * d + l] -= mean;
    }
}

/* t of one look, d x labellings: sums over the labelled groups of all chunks over their deviation. */
static gram_status find_t(gram_context *context, const grouped *g, const gram_mmd_features *f, double *sums,
                          double *variance, double *t)
{
    gram_status status = GRAM_OK;
    const int64_t d = f->d, count = f->labellings, groups = g->groups;
    const double share = (double)(g->n * g->m) / ((double)groups * (double)(groups - 1));
    memset(t, 0, (size_t)(d * count) * sizeof *t);
    memset(variance, 0, (size_t)d * sizeof *variance);
    for (int64_t chunk = 0; chunk < g->chunks; chunk++) {
        TRY(make_labels(context, g, chunk));
        sum_groups(g, chunk, f, sums);
        for (int64_t at = 0; at < groups * d; at++) variance[at % d] += share * sums[at] * sums[at];
        const int before = gram_blas_enter();
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)d, (int)count, (int)groups, 1, sums, (int)d,
                    g->labels, (int)count, 1, t, (int)count);
        gram_blas_leave(before);
    }
    for (int64_t at = 0; at < d * count; at++) {
        const double own = variance[at / count];
        t[at] = own > 0 ? t[at] / sqrt(own) : 0;
    }
done:
    return status;
}

/* Scores of all features. Whitening is by the correlations of rows, deviations by those of groups: their sums are as correlated. */
static gram_status take_features(gram_context *context, const grouped *g, gram_mmd_features *f)
{
    gram_status status = GRAM_OK;
    double *sums = NULL, *variance = NULL, *t = NULL;
    TRY(gram_mmd_features_begin(context, f, g->count));
    TRY(gram_take(context, "mmd_test: groups", g->groups * f->d, sizeof *sums, (void **)&sums));
    TRY(gram_take(context, "mmd_test: groups", f->d, sizeof *variance, (void **)&variance));
    TRY(gram_take(context, "mmd_test: groups", f->d * g->count, sizeof *t, (void **)&t));
    for (int k = 0; k < f->count; k++) {
        TRY(gram_mmd_features_look(context, f, k));
        TRY(find_t(context, g, f, sums, variance, t));
        const int before = gram_blas_enter();
        gram_mmd_features_score(f, k, g->count, t, f->scores + k * g->count);
        gram_blas_leave(before);
    }
done:
    gram_give(context, sums);
    gram_give(context, variance);
    gram_give(context, t);
    return status;
}

/* ---- the p-value ---- */

/* Mean and deviation of a look's values over the labellings. */
static void spread_of(const grouped *g, int64_t k, double *mean, double *deviation)
{
    const double *value = g->values + k * g->count;
    double squares = 0;
    *mean = 0;
    for (int64_t b = 0; b < g->count; b++) *mean += value[b] / (double)g->count;
    for (int64_t b = 0; b < g->count; b++) squares += (value[b] - *mean) * (value[b] - *mean) / (double)g->count;
    *deviation = sqrt(squares);
}

/* One look's values to T, and what it saw. */
static void add_look(const grouped *g, int64_t k, double weight, gram_mmd_tally *tally, gram_mmd_seen *seen)
{
    const double rounding = 0x1p-43 * g->size[k], chunks = (double)g->chunks;
    const double inverse = 1 / (double)(g->n * g->rows) + 1 / (double)(g->m * g->rows);
    const double *value = g->values + k * g->count;
    double mean, deviation, reached = 0;
    spread_of(g, k, &mean, &deviation);
    seen->statistic = value[0] / chunks;
    seen->blind = !(deviation > rounding);
    for (int64_t b = 0; b < g->count; b++) reached += value[b] >= value[0] - rounding;
    seen->p_value = reached / (double)g->count;
    if (seen->blind) return;
    /* of V over the chunks, k(x, x) being 1 */
    const double start = fmax((chunks - g->size[k]) * inverse / deviation, 1e-3), tie = rounding / deviation;
    for (int64_t b = 0; b < g->count; b++) {
        const double z = (value[b] - mean) / deviation;
        gram_mmd_tally_add(tally, b, gram_mmd_score(tally, weight, start, z - tie),
                           gram_mmd_score(tally, weight, start, z + tie));
    }
    seen->score = gram_mmd_score(tally, weight, start, (value[0] - mean) / deviation);
}

static gram_status compare(gram_context *context, const grouped *g, const gram_mmd_looks *looks, gram_mmd_seen *seen)
{
    gram_status status = GRAM_OK;
    gram_mmd_tally tally = {0};
    TRY(gram_mmd_tally_create(context, g->count, looks->sharpness, &tally));
    for (int64_t k = 0; k < looks->count; k++) add_look(g, k, looks->kernels[k].weight, &tally, &seen[k]);
    if (looks->features) gram_mmd_features_tell(looks->features, NULL, &tally, seen + looks->count);
    g->task->result->p_value = (double)gram_mmd_reached(&tally) / (double)g->count;
done:
    gram_mmd_tally_destroy(context, &tally);
    return status;
}

/* ---- what is reported ---- */

/* Rows of one sample in a chunk as a look sees them. */
static gram_status take_rows(gram_context *context, const gram_points *from, int64_t first, int64_t count,
                             const int64_t *order, double **data, gram_points **points)
{
    gram_status status = GRAM_OK;
    const int64_t d = from->d;
    TRY(gram_take(context, "mmd_test: rows", count * d, sizeof **data, (void **)data));
    for (int64_t i = 0; i < count; i++)
        for (int64_t l = 0; l < d; l++) (*data)[i * d + l] = gram_points_at(from, first + order[i], l);
    TRY(gram_points_create_f64(context, count, d, *data, d, points));
done:
    return status;
}

/* The statistic of a look in f64, the mean over the chunks. */
static gram_status measure(gram_context *context, const grouped *g, const gram_mmd_look *look, double *statistic)
{
    gram_status status = GRAM_OK;
    const gram_mmd_estimator estimator = g->task->options->biased ? GRAM_MMD_BIASED : GRAM_MMD_UNBIASED;
    const int64_t n = g->n * g->rows, m = g->m * g->rows;
    gram_points *x = NULL, *y = NULL;
    double *data_x = NULL, *data_y = NULL, value;
    *statistic = 0;
    for (int64_t chunk = 0; chunk < g->chunks; chunk++) {
        TRY(take_rows(context, look->points, 0, n, g->order_x + chunk * n, &data_x, &x));
        TRY(take_rows(context, look->points, g->task->pool.n, m, g->order_y + chunk * m, &data_y, &y));
        TRY(gram_mmd_squared(context, look->kernel, x, y, estimator, 0, &value, NULL));
        *statistic += value / (double)g->chunks;
        gram_points_release(x);
        gram_points_release(y);
        gram_give(context, data_x);
        gram_give(context, data_y);
        x = y = NULL;
        data_x = data_y = NULL;
    }
done:
    gram_points_release(x);
    gram_points_release(y);
    gram_give(context, data_x);
    gram_give(context, data_y);
    return status;
}

/* The look that saw most. */
static int64_t best_of(int64_t look_count, const gram_mmd_seen *seen)
{
    int64_t best = 0;
    for (int64_t k = 1; k < look_count; k++)
        if (seen[best].blind || (!seen[k].blind && seen[k].score > seen[best].score)) best = k;
    return best;
}

/* How many of the looks from `first` on are at the same points. */
static int64_t family_size(int64_t look_count, const gram_mmd_look *looks, int64_t first)
{
    int64_t end = first + 1;
    while (end < look_count && looks[end].points == looks[first].points) end++;
    return end - first;
}

gram_status gram_mmd_permute_groups(gram_context *context, const gram_mmd_task *task, const gram_mmd_looks *looks,
                                    gram_mmd_seen *seen)
{
    gram_status status = GRAM_OK;
    grouped g = {.task = task, .count = task->options->permutations + 1};
    const int64_t count = looks->count;
    const gram_mmd_look *kernels = looks->kernels;
    int64_t most_looks = 0;
    choose_sizes(&g);
    for (int64_t k = 0; k < count; k += family_size(count, kernels, k))
        if (family_size(count, kernels, k) > most_looks) most_looks = family_size(count, kernels, k);
    TRY(take_arrays(context, &g, count, most_looks));
    for (int64_t chunk = 0; chunk < g.chunks; chunk++) {
        TRY(make_labels(context, &g, chunk));
        for (g.first = 0; g.first < count; g.first += g.looks) {
            g.looks = family_size(count, kernels, g.first);
            TRY(take_family(context, &g, chunk, kernels + g.first));
        }
    }
    if (looks->features) TRY(take_features(context, &g, looks->features));
    TRY(compare(context, &g, looks, seen));
    const int64_t best = best_of(count, seen);
    TRY(measure(context, &g, &kernels[best], &seen[best].statistic));
    task->result->permutations = task->options->permutations;
    task->result->n = g.chunks * g.n * g.rows;
    task->result->m = g.chunks * g.m * g.rows;
    task->result->group_rows = g.rows;
    task->result->chunks = g.chunks;
done:
    give_arrays(context, &g);
    return status;
}

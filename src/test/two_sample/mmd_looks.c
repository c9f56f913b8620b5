/* The test that needs no choice: many looks at once, with the level kept (mmd_permutation.c says how).
 *
 * A kernel that was given is taken at several widths. Without one, there are looks at means (mmd_features.c), and rbf on the ranks of each
 * column, for which tails do not matter, at widths from the nearest neighbours' distances to the median one; and rbf on the columns as they are.
 *
 * Weights are levels: what one look may spend of the level the others cannot. More than half of it goes to means in one column, where
 * a kernel's many widths are of use for waves alone; in several columns there is more to be seen by kernels, and the mean of one column among
 * many stands out anyway. Of the widths, a middle one has most: neighbouring widths see much the same, the widest little that means do not see, and
 * the narrowest only what is as fine as the data allow. Weights, widths and sharpness were chosen on simulated samples of 50 and 200 rows, on other seeds
 * than those of the tables in docs/validation.md. */
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/text.h>

#include "base/sweep.h"
#include "kernel/kernel_widen.h"
#include "test/two_sample/mmd.h"

/* What one column, and what several ask for. */
typedef struct weighting {
    double sharpness;
    double nearest, middle, widest; /* of widths of ranks; not in one column: */
    double between;                 /* and of two more between these */
    double plain;                   /* rbf on the columns themselves */
    double means, directions, rank_means, spreads;
} weighting;

static const weighting ONE_COLUMN = {2, 0.3, 1.6, 0.4, 0, 0.1, 4, 0, 0.3, 0.3};
static const weighting COLUMNS = {3, 2.4, 6.5, 1.4, 0.7, 0.5, 2.8, 4, 2.4, 1.8};

/* What the looks are made of. */
typedef struct gallery {
    int64_t count;
    gram_mmd_look looks[GRAM_MMD_MAX_LOOKS];
    gram_kernel *kernels[GRAM_MMD_MAX_LOOKS];
    gram_mmd_seen seen[GRAM_MMD_MAX_LOOKS];
    gram_mmd_features features;
    double *ranks; /* of the pool's rows, standardised */
    gram_points *ranked;
} gallery;

/* ---- ranks ---- */

typedef struct placed {
    double value;
    int64_t row;
} placed;

static int by_value(const void *a, const void *b)
{
    const double x = ((const placed *)a)->value, y = ((const placed *)b)->value;
    return (x > y) - (x < y);
}

/* Column l of the ranks: equal values share the middle of their places. Mean 0, variance 1; a constant column is 0. */
static void rank_column(const gram_pool *pool, int64_t l, placed *order, double *ranks)
{
    const int64_t total = pool->n + pool->m, d = pool->d;
    double squares = 0;
    for (int64_t i = 0; i < total; i++) order[i] = (placed){pool->data[i * d + l], i};
    qsort(order, (size_t)total, sizeof *order, by_value);
    for (int64_t first = 0, last; first < total; first = last) {
        for (last = first; last < total && order[last].value == order[first].value;) last++;
        const double rank = 0.5 * (double)(first + last - total);
        squares += rank * rank * (double)(last - first);
        for (int64_t i = first; i < last; i++) ranks[order[i].row * d + l] = rank;
    }
    const double deviation = sqrt(squares / (double)total);
    for (int64_t i = 0; i < total && deviation > 0; i++) ranks[i * d + l] /= deviation;
}

static gram_status make_ranks(gram_context *context, const gram_pool *pool, gallery *g)
{
    gram_status status = GRAM_OK;
    const int64_t total = pool->n + pool->m, d = pool->d;
    placed *order = NULL;
    TRY(gram_points_must_be_numbers(context, "mmd_test", pool->points));
    TRY(gram_take(context, "mmd_test: ranks", total * d, sizeof *g->ranks, (void **)&g->ranks));
    TRY(gram_take(context, "mmd_test: order", total, sizeof *order, (void **)&order));
    for (int64_t l = 0; l < d; l++) rank_column(pool, l, order, g->ranks);
    TRY(gram_points_create_f64(context, total, d, g->ranks, d, &g->ranked));
done:
    gram_give(context, order);
    return status;
}

/* ---- widths ---- */

enum { MOST_ROWS = 512 };

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Squared distances between `rows` rows, evenly from all of them, in rising order; those of equal rows are left out. */
static gram_status sort_distances(gram_context *context, const gram_pool *pool, const double *ranks, int64_t rows,
                                  double *sorted, int64_t *count)
{
    gram_status status = GRAM_OK;
    const int64_t total = pool->n + pool->m, d = pool->d;
    double *some = NULL, *products = NULL;
    TRY(gram_take(context, "mmd_test: rows", rows * d, sizeof *some, (void **)&some));
    TRY(gram_take(context, "mmd_test: distances", rows * rows, sizeof *products, (void **)&products));
    for (int64_t i = 0; i < rows; i++) memcpy(some + i * d, ranks + i * total / rows * d, (size_t)d * sizeof *some);
    const int before = gram_blas_enter();
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)rows, (int)d, 1, some, (int)d, some, (int)d, 0,
                products, (int)rows);
    gram_blas_leave(before);
    *count = 0;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < i; j++) {
            const double own = products[i * rows + i] + products[j * rows + j];
            const double squared = own - 2 * products[i * rows + j];
            if (squared > 1e-12 * own) sorted[(*count)++] = squared;
        }
    qsort(sorted, (size_t)*count, sizeof *sorted, by_size);
done:
    gram_give(context, some);
    gram_give(context, products);
    return status;
}

/* One more width of rbf on ranks: exp(-squared distance/squared). */
static gram_status add_rank_width(gram_context *context, double squared, double median, double weight, gallery *g,
                                  gram_mmd_result *result)
{
    gram_status status = GRAM_OK;
    char text[GRAM_NUMBER_SIZE + 16], number[GRAM_NUMBER_SIZE];
    const int64_t at = g->count;
    (void)snprintf(text, sizeof text, "rbf(ell=%s)", gram_number_format(sqrt(squared / 2), number));
    TRY(gram_kernel_parse(context, text, &g->kernels[at]));
    g->looks[at] = (gram_mmd_look){g->kernels[at], g->ranked, weight};
    result->widths[at] = sqrt(squared / 2 / median);
    result->family[at] = GRAM_MMD_FAMILY_RANKS;
    g->count++;
done:
    return status;
}

/* Widths at which a row has k neighbours on average, for N rows: k = 1, N^(2/5), N/2, and the geometric means between them. The width that
 * suits a difference of some smoothness shrinks as a power of N that depends on the smoothness and the columns; N^(2/5) is between those of
 * one and two derivatives in two columns. In one column N^(1/3), N^(2/3), N/2: fewer neighbours tell nothing there that more of them do not tell
 * better. */
static gram_status add_rank_widths(gram_context *context, const gram_mmd_task *task, const weighting *w, gallery *g)
{
    gram_status status = GRAM_OK;
    const int64_t total = task->pool.n + task->pool.m, rows = total < MOST_ROWS ? total : MOST_ROWS;
    const int alone = task->pool.d == 1;
    double *sorted = NULL;
    int64_t count;
    TRY(gram_take(context, "mmd_test: distances", rows * rows / 2, sizeof *sorted, (void **)&sorted));
    TRY(sort_distances(context, &task->pool, g->ranks, rows, sorted, &count));
    if (count == 0) goto done;
    const double others = (double)(rows - 1), half = 0.5 * others, median = sorted[count / 2];
    const double nearest = alone ? cbrt((double)rows) : 1, middle = pow((double)rows, alone ? 2. / 3 : 2. / 5);
    const double neighbours[] = {nearest, sqrt(nearest * middle), middle, sqrt(middle * half), half};
    const double weights[] = {w->nearest, w->between, w->middle, w->between, w->widest};
    for (int k = 0; k < 5; k++) {
        const int64_t place = (int64_t)(neighbours[k] / others * (double)count);
        const double squared = sorted[place < count ? place : count - 1];
        if (weights[k] > 0) TRY(add_rank_width(context, squared, median, weights[k], g, task->result));
    }
done:
    gram_give(context, sorted);
    return status;
}

/* ---- looks ---- */

/* All widths of a kernel with its numbers. */
static gram_status add_widths(gram_context *context, const gram_mmd_task *task, gallery *g)
{
    gram_status status = GRAM_OK;
    gram_mmd_result *result = task->result;
    for (int64_t k = 0; k < task->options->width_count; k++) {
        result->widths[k] = gram_mmd_width(task->options, k);
        result->family[k] = GRAM_MMD_FAMILY_KERNEL;
        TRY(gram_kernel_widen(context, task->kernel, result->widths[k], &g->kernels[k]));
        g->looks[k] = (gram_mmd_look){g->kernels[k], task->pool.points, 1};
        g->count++;
    }
done:
    return status;
}

static void add_feature(gram_mmd_features *f, gram_mmd_family family, double weight)
{
    f->looks[f->count++] = (gram_mmd_feature){family, weight};
}

static gram_status add_looks(gram_context *context, const gram_mmd_task *task, const weighting *w, gallery *g)
{
    gram_status status = GRAM_OK;
    const gram_pool *pool = &task->pool;
    TRY(make_ranks(context, pool, g));
    g->kernels[0] = gram_kernel_retain(task->kernel);
    g->looks[0] = (gram_mmd_look){g->kernels[0], pool->points, w->plain};
    task->result->widths[0] = 1;
    task->result->family[0] = GRAM_MMD_FAMILY_KERNEL;
    g->count = 1;
    TRY(add_rank_widths(context, task, w, g));
    g->features = (gram_mmd_features){.total = pool->n + pool->m, .d = pool->d, .data = pool->data, .ranks = g->ranks};
    add_feature(&g->features, GRAM_MMD_FAMILY_MEANS, w->means);
    if (gram_mmd_has_directions(pool->n + pool->m, pool->d))
        add_feature(&g->features, GRAM_MMD_FAMILY_DIRECTIONS, w->directions);
    add_feature(&g->features, GRAM_MMD_FAMILY_RANK_MEANS, w->rank_means);
    add_feature(&g->features, GRAM_MMD_FAMILY_SPREADS, w->spreads);
    for (int k = 0; k < g->features.count; k++) {
        task->result->widths[g->count + k] = 0;
        task->result->family[g->count + k] = g->features.looks[k].family;
    }
done:
    return status;
}

/* The look among the first `count` that saw most. */
static int64_t best_of(int64_t count, const gram_mmd_seen *seen)
{
    int64_t best = 0;
    for (int64_t k = 0; k < count; k++)
        if (seen[best].blind || (!seen[k].blind && seen[k].score > seen[best].score)) best = k;
    return best;
}

static void report_best(const gram_mmd_task *task, const gallery *g)
{
    gram_mmd_result *result = task->result;
    const int64_t kernel = best_of(g->count, g->seen), all = g->count + g->features.count;
    for (int64_t k = 0; k < all; k++) result->width_p[k] = g->seen[k].p_value;
    result->width_count = all;
    result->best = best_of(all, g->seen);
    result->statistic = g->seen[kernel].statistic;
    gram_kernel_release(result->kernel);
    result->kernel = gram_kernel_retain(g->kernels[kernel]);
}

gram_status gram_mmd_test_aggregated(gram_context *context, gram_mmd_task *task)
{
    gram_status status = GRAM_OK;
    const weighting *w = task->pool.d == 1 ? &ONE_COLUMN : &COLUMNS;
    gallery g = {0};
    if (task->given)
        TRY(add_widths(context, task, &g));
    else
        TRY(add_looks(context, task, w, &g));
    const gram_mmd_looks looks = {.count = g.count,
                                  .kernels = g.looks,
                                  .features = task->given ? NULL : &g.features,
                                  .sharpness = task->given ? 0 : w->sharpness};
    if (gram_mmd_groups_fit(task))
        TRY(gram_mmd_permute_groups(context, task, &looks, g.seen));
    else
        TRY(gram_mmd_permute(context, task, &looks, g.seen));
    report_best(task, &g);
done:
    for (int64_t k = 0; k < GRAM_MMD_MAX_LOOKS; k++) gram_kernel_release(g.kernels[k]);
    gram_mmd_features_destroy(context, &g.features);
    gram_points_release(g.ranked);
    gram_give(context, g.ranks);
    return status;
}

/* The test that needs no choice: many kernels at once, with the level kept (mmd_permutation.c says how).
 *
 * A kernel that was given is taken at several widths. Without one there are three families of looks, each at all widths around the
 * median heuristic's: rbf; laplace1, whose sum of absolute differences sees a change of a single column among many; and rbf on
 * the ranks of each column, for which the tails of a column do not matter. Many looks cost little: they see much the same, so
 * the largest of their statistics is hardly larger by chance. docs/validation.md has the power of each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel_widen.h"
#include "test/two_sample/mmd.h"

typedef struct family {
    gram_mmd_family id;
    const char *kernel;
} family;

static const family FAMILIES[] = {
    {GRAM_MMD_FAMILY_KERNEL, "rbf"}, {GRAM_MMD_FAMILY_LAPLACE1, "laplace1"}, {GRAM_MMD_FAMILY_RANKS, "rbf"}};

enum { FAMILY_COUNT = sizeof FAMILIES / sizeof *FAMILIES };

/* What the looks are made of. */
typedef struct gallery {
    int64_t count;
    gram_mmd_look looks[GRAM_MMD_MAX_LOOKS];
    gram_kernel *kernels[GRAM_MMD_MAX_LOOKS];
    gram_mmd_seen seen[GRAM_MMD_MAX_LOOKS];
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

/* ---- looks ---- */

/* All widths of a kernel with its numbers. */
static gram_status add_widths(gram_context *context, const gram_mmd_task *task, gram_mmd_family id,
                              const gram_kernel *kernel, const gram_points *points, gallery *g)
{
    gram_status status = GRAM_OK;
    gram_mmd_result *result = task->result;
    for (int64_t k = 0; k < task->options->width_count; k++) {
        const int64_t at = g->count;
        result->widths[at] = gram_mmd_width(task->options, k);
        result->family[at] = id;
        TRY(gram_kernel_widen(context, kernel, result->widths[at], &g->kernels[at]));
        g->looks[at] = (gram_mmd_look){g->kernels[at], points};
        g->count++;
    }
done:
    return status;
}

static gram_status add_family(gram_context *context, const gram_mmd_task *task, const family *f, gallery *g)
{
    gram_status status = GRAM_OK;
    gram_kernel *open = NULL, *resolved = NULL;
    const gram_points *points = f->id == GRAM_MMD_FAMILY_RANKS ? g->ranked : task->pool.points;
    TRY(gram_kernel_parse(context, f->kernel, &open));
    TRY(gram_kernel_resolve(context, open, points, &resolved));
    TRY(add_widths(context, task, f->id, resolved, points, g));
done:
    gram_kernel_release(open);
    gram_kernel_release(resolved);
    return status;
}

/* What is reported is of the look with the largest z. */
static void report_best(const gram_mmd_task *task, const gallery *g)
{
    gram_mmd_result *result = task->result;
    int64_t best = 0;
    for (int64_t k = 0; k < g->count; k++) {
        result->width_p[k] = g->seen[k].p_value;
        if (g->seen[best].blind || (!g->seen[k].blind && g->seen[k].z > g->seen[best].z)) best = k;
    }
    result->width_count = g->count;
    result->best = best;
    result->statistic = g->seen[best].statistic;
    gram_kernel_release(result->kernel);
    result->kernel = gram_kernel_retain(g->kernels[best]);
}

gram_status gram_mmd_test_aggregated(gram_context *context, gram_mmd_task *task)
{
    gram_status status = GRAM_OK;
    gallery g = {0};
    if (task->given) {
        TRY(add_widths(context, task, GRAM_MMD_FAMILY_KERNEL, task->kernel, task->pool.points, &g));
    } else {
        TRY(make_ranks(context, &task->pool, &g));
        for (int f = 0; f < FAMILY_COUNT; f++) TRY(add_family(context, task, &FAMILIES[f], &g));
    }
    if (gram_mmd_groups_fit(task))
        TRY(gram_mmd_permute_groups(context, task, g.count, g.looks, g.seen));
    else
        TRY(gram_mmd_permute(context, task, g.count, g.looks, g.seen));
    report_best(task, &g);
done:
    for (int64_t k = 0; k < GRAM_MMD_MAX_LOOKS; k++) gram_kernel_release(g.kernels[k]);
    gram_points_release(g.ranked);
    gram_give(context, g.ranks);
    return status;
}

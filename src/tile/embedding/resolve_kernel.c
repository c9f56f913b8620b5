/* Open numbers of a kernel by the median heuristic (kernel/kernel_resolve.c), with those of the outer kernel of after(a, b): the median of the distance that a makes, which
 * only blocks of a can tell. */
#include <gram/random.h>

#include "kernel/embedding/resolve_parts.h"
#include "points/points.h"
#include "tile/engine.h"

enum { MOST_POINTS = 2000, FEWEST_POINTS = 100, MOST_ROWS = 20000, RANDOM_STREAM = 0x616674 /* "aft" */ };

/* The kernel as the whole points see it: under the columns, and warps, of the view. */
static gram_status lift(gram_context *context, gram_kernel *kernel, const gram_view *view, gram_kernel **out)
{
    gram_status status = GRAM_OK;
    gram_kernel *chosen = NULL, *warped = NULL;
    if (view->columns)
        TRY(gram_kernel_on(context, view->d, view->columns, kernel, &chosen));
    else
        chosen = gram_kernel_retain(kernel);
    if (view->warp) {
        const gram_kernel *warp = view->warp;
        TRY(gram_kernel_warp(context, warp->matrix_rows, warp->matrix_columns, warp->matrix, chosen, &warped));
        TRY(lift(context, warped, view->outer, out));
    } else {
        *out = gram_kernel_retain(chosen);
    }
done:
    gram_kernel_release(chosen);
    gram_kernel_release(warped);
    return status;
}

/* Points of bags take as long as they have rows. */
static int64_t points_to_take(const gram_points *points)
{
    int64_t rows = points->n, most = points->n < MOST_POINTS ? points->n : MOST_POINTS;
    for (int64_t l = 0; l < points->d; l++) {
        if (gram_points_kind(points, l) != GRAM_OBJECT_BAG) continue;
        const gram_objects *bags = points->objects[l];
        for (int64_t i = 0; i < points->n; i++) {
            const int64_t place = gram_points_place(points, i, l);
            rows += bags->start[place + 1] - bags->start[place];
        }
    }
    while (most > FEWEST_POINTS && (double)rows * (double)most > (double)MOST_ROWS * (double)points->n)
        most -= most / 16;
    return most;
}

static gram_status take_sample(gram_context *context, const gram_points *points, gram_points **sample)
{
    gram_status status = GRAM_OK;
    const int64_t count = points_to_take(points);
    int64_t *rows = NULL;
    if (count < points->n) {
        TRY(gram_take(context, "kernel_resolve: rows", points->n, sizeof *rows, (void **)&rows));
        gram_random_permutation((gram_random){context->seed, RANDOM_STREAM}, 0, points->n, rows);
    }
    TRY(gram_points_gather(context, points, count, rows, sample));
done:
    gram_give(context, rows);
    return status;
}

static gram_status find_median(gram_context *context, gram_kernel *kernel, const gram_view *view,
                               const gram_points *points, double *value)
{
    gram_status status = GRAM_OK;
    gram_kernel *whole = NULL;
    gram_points *sample = NULL;
    double *distances = NULL;
    int64_t n, count = 0;
    TRY(lift(context, kernel, view, &whole));
    TRY(take_sample(context, points, &sample));
    n = sample->n;
    TRY(gram_take(context, "kernel_resolve: distances", n * n, sizeof *distances, (void **)&distances));
    TRY(gram_matrix_distance(context, whole, sample, NULL, distances, n));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            if (distances[i * n + j] > 0) distances[count++] = distances[i * n + j];
    *value = count > 0 ? gram_median(distances, count) : 1;
done:
    gram_give(context, distances);
    gram_points_release(sample);
    gram_kernel_release(whole);
    return status;
}

gram_status gram_kernel_resolve(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                                gram_kernel **out)
{
    if (!context || !out) return GRAM_ERROR_ARGUMENT;
    *out = NULL;
    if (!kernel || !points)
        return gram_fail(context, GRAM_ERROR_ARGUMENT, "kernel_resolve: %s is NULL", kernel ? "points" : "kernel");
    return gram_kernel_resolve_parts(context, kernel, points, find_median, out);
}

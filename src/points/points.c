#include "points/points.h"

#include <math.h>

#include "base/sweep.h"
#include "points/functionals.h"
#include <gram/text.h>

enum { ROWS_PER_TASK = 4096 };

typedef struct finite_scan {
    const gram_points *points;
    int64_t *first_bad; /* one for each task: position row * d + column, or -1 */
} finite_scan;

static int64_t find_bad(const gram_points *points, int64_t from, int64_t to)
{
    for (int64_t i = from; i < to; i++)
        for (int64_t l = 0; l < points->d; l++)
            if (!isfinite(gram_points_at(points, i, l))) return i * points->d + l;
    return -1;
}

/* A sum of x - x over a row is 0 for finite numbers and NaN otherwise, and vectorises; find_bad then names the place. */
static int rows_are_finite(const gram_points *points, int64_t from, int64_t to)
{
    double zero = 0;
    for (int64_t i = from; i < to; i++)
        for (int64_t l = 0; l < points->d; l++) {
            const double x = gram_points_at(points, i, l);
            zero += x - x;
        }
    return zero == 0;
}

static gram_status scan_task(void *argument, const gram_worker *worker)
{
    const finite_scan *scan = argument;
    const int64_t from = worker->task * ROWS_PER_TASK;
    const int64_t to = from + ROWS_PER_TASK < scan->points->n ? from + ROWS_PER_TASK : scan->points->n;
    scan->first_bad[worker->task] = rows_are_finite(scan->points, from, to) ? -1 : find_bad(scan->points, from, to);
    return GRAM_OK;
}

static gram_status check_finite(gram_context *context, const gram_points *points)
{
    gram_status status = GRAM_OK;
    const int64_t tasks = (points->n + ROWS_PER_TASK - 1) / ROWS_PER_TASK;
    finite_scan scan = {points, NULL};
    TRY(gram_take(context, "points_create: check", tasks, sizeof(int64_t), (void **)&scan.first_bad));
    const gram_sweep sweep = {.what = "checking points", .tasks = tasks, .run = scan_task, .argument = &scan};
    TRY(gram_sweep_run(context, &sweep));
    for (int64_t task = 0; task < tasks; task++) {
        if (scan.first_bad[task] < 0) continue;
        const int64_t row = scan.first_bad[task] / points->d, column = scan.first_bad[task] % points->d;
        char value[GRAM_NUMBER_SIZE];
        TRY(gram_fail_place(context, GRAM_ERROR_DATA, row, column,
                            "points_create: x[%lld][%lld] is %s; every coordinate must be finite", (long long)row,
                            (long long)column, gram_number_format(gram_points_at(points, row, column), value)));
    }
done:
    gram_give(context, scan.first_bad);
    return status;
}

static gram_status check_shape(gram_context *context, int64_t n, int64_t d, const void *data, int64_t ld)
{
    gram_status status = GRAM_OK;
    int64_t numbers, bytes;
    FAIL_IF(n < 1, context, GRAM_ERROR_ARGUMENT, "points_create: n = %lld, need at least one point", (long long)n);
    FAIL_IF(d < 1, context, GRAM_ERROR_ARGUMENT, "points_create: d = %lld, need at least one column", (long long)d);
    FAIL_IF(!data, context, GRAM_ERROR_ARGUMENT, "points_create: data is NULL");
    FAIL_IF(ld < d, context, GRAM_ERROR_ARGUMENT, "points_create: ld = %lld is less than d = %lld", (long long)ld,
            (long long)d);
    FAIL_IF(!gram_size_multiply(n, ld, &numbers) || !gram_size_multiply(numbers, sizeof(double), &bytes), context,
            GRAM_ERROR_OVERFLOW, "points_create: n = %lld rows, ld = %lld, are more than can be addressed",
            (long long)n, (long long)ld);
done:
    return status;
}

static gram_status create(gram_context *context, const gram_points *shape, gram_points **points)
{
    gram_status status = GRAM_OK;
    gram_points *made = NULL;
    if (!context || !points) return GRAM_ERROR_ARGUMENT;
    *points = NULL;
    const void *data = shape->f64 ? (const void *)shape->f64 : (const void *)shape->f32;
    TRY(check_shape(context, shape->n, shape->d, data, shape->ld));
    TRY(check_finite(context, shape));
    TRY(gram_take(context, "points_create", 1, sizeof *made, (void **)&made));
    *made = *shape;
    atomic_init(&made->references, 1);
    made->memory = gram_memory_retain(context->memory);
    *points = made;
done:
    return status;
}

gram_status gram_points_create_f64(gram_context *context, int64_t n, int64_t d, const double *data, int64_t ld,
                                   gram_points **points)
{
    const gram_points shape = {.n = n, .d = d, .ld = ld, .f64 = data};
    return create(context, &shape, points);
}

gram_status gram_points_create_f32(gram_context *context, int64_t n, int64_t d, const float *data, int64_t ld,
                                   gram_points **points)
{
    const gram_points shape = {.n = n, .d = d, .ld = ld, .f32 = data};
    return create(context, &shape, points);
}

gram_points *gram_points_retain(gram_points *points)
{
    if (points) atomic_fetch_add(&points->references, 1);
    return points;
}

void gram_points_release(gram_points *points)
{
    if (!points || atomic_fetch_sub(&points->references, 1) != 1) return;
    gram_memory *memory = points->memory;
    gram_functionals_free(points);
    gram_memory_give(memory, points->own);
    gram_memory_give(memory, points);
    gram_memory_release(memory);
}

gram_status gram_points_gather(gram_context *context, const gram_points *x, int64_t count, const int64_t *rows,
                               gram_points **out)
{
    gram_status status = GRAM_OK;
    double *numbers = NULL;
    *out = NULL;
    if (x->functionals) return gram_functionals_gather(context, x, count, rows, out);
    TRY(gram_take(context, "points", count * x->d, sizeof *numbers, (void **)&numbers));
    for (int64_t i = 0; i < count; i++)
        for (int64_t l = 0; l < x->d; l++) numbers[i * x->d + l] = gram_points_at(x, rows ? rows[i] : i, l);
    TRY(gram_points_create_f64(context, count, x->d, numbers, x->d, out));
    (*out)->own = numbers;
    numbers = NULL;
done:
    gram_give(context, numbers);
    return status;
}

gram_status gram_points_part(gram_context *context, const gram_points *x, int64_t first, int64_t count,
                             gram_points **out)
{
    if (x->functionals) return gram_functionals_part(context, x, first, count, out);
    if (x->f64) return gram_points_create_f64(context, count, x->d, x->f64 + first * x->ld, x->ld, out);
    return gram_points_create_f32(context, count, x->d, x->f32 + first * x->ld, x->ld, out);
}

int64_t gram_points_count(const gram_points *points)
{
    return points->n;
}

int64_t gram_points_dimension(const gram_points *points)
{
    return points->d;
}

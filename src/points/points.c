#include "points/points.h"

#include <math.h>
#include <string.h>

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
    for (int64_t l = 0; points->objects && l < points->d; l++) gram_objects_release(points->objects[l]);
    gram_memory_give(memory, points->objects);
    gram_memory_give(memory, points->own);
    gram_memory_give(memory, points);
    gram_memory_release(memory);
}

/* ---- columns that hold no numbers ---- */

static gram_status check_places(gram_context *context, const gram_points *points, int64_t l, int64_t count)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    for (int64_t i = 0; i < points->n; i++) {
        const double place = gram_points_cell(points, i, l);
        FAIL_IF(!(place >= 0 && place < (double)count) || place != floor(place), context, GRAM_ERROR_DATA,
                "points_create: x[%lld][%lld] = %s is not the place of one of %lld things", (long long)i, (long long)l,
                gram_number_format(place, shown), (long long)count);
    }
done:
    return status;
}

gram_status gram_points_set_objects(gram_context *context, gram_objects *const *objects, gram_points **points)
{
    gram_status status = GRAM_OK;
    gram_points *made = *points;
    if (!objects) return GRAM_OK;
    TRY(gram_take(context, "points", made->d, sizeof *made->objects, (void **)&made->objects));
    for (int64_t l = 0; l < made->d; l++) made->objects[l] = gram_objects_retain(objects[l]);
    for (int64_t l = 0; l < made->d; l++)
        if (objects[l]) TRY(check_places(context, made, l, objects[l]->count));
done:
    if (status < 0) {
        gram_points_release(made);
        *points = NULL;
    }
    return status;
}

gram_status gram_points_create_like(gram_context *context, const gram_points *like, int64_t n, double *data, int own,
                                    gram_points **points)
{
    const gram_status status = gram_points_create_f64(context, n, like->d, data, like->d, points);
    if (status < 0) {
        if (own) gram_give(context, data);
        return status;
    }
    if (own) (*points)->own = data;
    return gram_points_set_objects(context, like->objects, points);
}

/* Column l of the rows, with places in a store of their own; the old one if they are all that it has, in order. */
static gram_status keep_column(gram_context *context, gram_objects *from, int64_t n, int64_t d, double *column,
                               gram_objects **kept)
{
    gram_status status = GRAM_OK;
    int64_t *which = NULL;
    int whole = from->count == n;
    TRY(gram_take(context, "points", n, sizeof *which, (void **)&which));
    for (int64_t i = 0; i < n; i++) {
        which[i] = (int64_t)column[i * d];
        whole &= which[i] == i;
    }
    if (whole) {
        *kept = gram_objects_retain(from);
        goto done;
    }
    TRY(gram_objects_gather(context, from, n, which, kept));
    for (int64_t i = 0; i < n; i++) column[i * d] = (double)i;
done:
    gram_give(context, which);
    return status;
}

gram_status gram_points_keep_objects(gram_context *context, const gram_points *like, int64_t n, double *data,
                                     gram_points **points)
{
    gram_status status = GRAM_OK;
    gram_objects **kept = NULL;
    TRY(gram_take(context, "points", like->d, sizeof *kept, (void **)&kept));
    memset(kept, 0, (size_t)like->d * sizeof *kept);
    for (int64_t l = 0; l < like->d; l++)
        if (like->objects[l]) TRY(keep_column(context, like->objects[l], n, like->d, data + l, &kept[l]));
    TRY(gram_points_create_f64(context, n, like->d, data, like->d, points));
    TRY(gram_points_set_objects(context, kept, points));
done:
    for (int64_t l = 0; kept && l < like->d; l++) gram_objects_release(kept[l]);
    gram_give(context, kept);
    return status;
}

gram_status gram_points_must_be_numbers(gram_context *context, const char *who, const gram_points *points)
{
    if (!points || !points->objects) return GRAM_OK;
    for (int64_t l = 0; l < points->d; l++)
        if (points->objects[l])
            return gram_fail(context, GRAM_ERROR_UNSUPPORTED, "%s: column %lld holds %s; it takes numbers only", who,
                             (long long)l + 1, gram_object_kind_name(points->objects[l]->kind));
    return GRAM_OK;
}

gram_status gram_points_of_store(gram_context *context, gram_objects *store, gram_points **points)
{
    gram_status status = GRAM_OK;
    double *places = NULL;
    *points = NULL;
    TRY(gram_take(context, "points_create", store->count, sizeof *places, (void **)&places));
    for (int64_t i = 0; i < store->count; i++) places[i] = (double)i;
    TRY(gram_points_create_f64(context, store->count, 1, places, 1, points));
    (*points)->own = places;
    places = NULL;
    TRY(gram_points_set_objects(context, &store, points));
done:
    gram_give(context, places);
    return status;
}

gram_status gram_points_create_sparse(gram_context *context, int64_t n, int64_t d, const int64_t *start,
                                      const int32_t *index, const double *value, gram_points **points)
{
    gram_status status = GRAM_OK;
    gram_objects *rows = NULL;
    if (!context || !points) return GRAM_ERROR_ARGUMENT;
    *points = NULL;
    TRY(gram_objects_create_sparse(context, "points_create_sparse", n, d, start, index, value, &rows));
    TRY(gram_points_of_store(context, rows, points));
done:
    gram_objects_release(rows);
    return status;
}

/* ---- some of the rows ---- */

gram_status gram_points_gather(gram_context *context, const gram_points *x, int64_t count, const int64_t *rows,
                               gram_points **out)
{
    gram_status status = GRAM_OK;
    double *numbers = NULL;
    *out = NULL;
    if (x->functionals) return gram_functionals_gather(context, x, count, rows, out);
    TRY(gram_take(context, "points", count * x->d, sizeof *numbers, (void **)&numbers));
    for (int64_t i = 0; i < count; i++)
        for (int64_t l = 0; l < x->d; l++) numbers[i * x->d + l] = gram_points_cell(x, rows ? rows[i] : i, l);
    TRY(gram_points_create_like(context, x, count, numbers, 1, out));
done:
    return status;
}

static gram_status copy_single(gram_context *context, const gram_points *x, int64_t count, const int64_t *rows,
                               gram_points **out)
{
    gram_status status = GRAM_OK;
    float *numbers = NULL;
    TRY(gram_take(context, "points", count * x->d, sizeof *numbers, (void **)&numbers));
    for (int64_t i = 0; i < count; i++)
        memcpy(numbers + i * x->d, x->f32 + rows[i] * x->ld, (size_t)x->d * sizeof *numbers);
    TRY(gram_points_create_f32(context, count, x->d, numbers, x->d, out));
    (*out)->own = numbers;
    numbers = NULL;
done:
    gram_give(context, numbers);
    return status;
}

gram_status gram_points_copy(gram_context *context, const gram_points *x, int64_t count, const int64_t *rows,
                             gram_points **out)
{
    return (x->f32 && !x->functionals ? copy_single : gram_points_gather)(context, x, count, rows, out);
}

gram_status gram_points_part(gram_context *context, const gram_points *x, int64_t first, int64_t count,
                             gram_points **out)
{
    if (x->functionals) return gram_functionals_part(context, x, first, count, out);
    if (!x->f64) return gram_points_create_f32(context, count, x->d, x->f32 + first * x->ld, x->ld, out);
    const gram_status status = gram_points_create_f64(context, count, x->d, x->f64 + first * x->ld, x->ld, out);
    return status < 0 ? status : gram_points_set_objects(context, x->objects, out);
}

int64_t gram_points_count(const gram_points *points)
{
    return points->n;
}

int64_t gram_points_dimension(const gram_points *points)
{
    return points->d;
}

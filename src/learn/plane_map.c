/* Maps of a plane, cell by cell. */
#include <inttypes.h>
#include <math.h>

#include <gram/map.h>

#include "base/context.h"
#include "base/sweep.h"

enum { MOST_SIDE = 4096 };

typedef struct plane_map {
    gram_map map; /* first: it is what callers hold */
    gram_memory *memory;
} plane_map;

static gram_status make_map(gram_context *context, int64_t n, const double *x, int64_t ldx, int64_t side,
                            gram_map **out)
{
    gram_status status = GRAM_OK;
    plane_map *made = NULL;
    *out = NULL;
    FAIL_IF(!x || n < 1 || ldx < 2 || side < 2 || side > MOST_SIDE, context, GRAM_ERROR_ARGUMENT,
            "map: %" PRId64 " points, ldx = %" PRId64 ", side = %" PRId64
            ": x must have rows of two numbers, and the map 2 to %d cells",
            x ? n : 0, ldx, side, (int)MOST_SIDE);
    TRY(gram_take(context, "map", 1, sizeof *made, (void **)&made));
    *made = (plane_map){.map.side = side, .memory = gram_memory_retain(context->memory)};
    *out = &made->map;
    TRY(gram_take(context, "map: cells", side * side, sizeof(double), (void **)&made->map.values));
    for (int axis = 0; axis < 2; axis++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t i = 0; i < n; i++) {
            low = fmin(low, x[i * ldx + axis]);
            high = fmax(high, x[i * ldx + axis]);
        }
        const double beyond = high > low ? 0.06 * (high - low) : 1;
        made->map.low[axis] = low - beyond;
        made->map.high[axis] = high + beyond;
    }
done:
    if (status < 0) {
        gram_map_destroy(*out);
        *out = NULL;
    }
    return status;
}

void gram_map_destroy(gram_map *map)
{
    if (!map) return;
    gram_memory *memory = ((plane_map *)map)->memory;
    gram_memory_give(memory, map->values);
    gram_memory_give(memory, map);
    gram_memory_release(memory);
}

static double middle(const gram_map *map, int axis, int64_t cell)
{
    return map->low[axis] + (map->high[axis] - map->low[axis]) * ((double)cell + 0.5) / (double)map->side;
}

gram_status gram_map_of_predictor(gram_context *context, const gram_predictor *predictor, int64_t n, const double *x,
                                  int64_t ldx, int64_t side, gram_map **map)
{
    gram_status status = GRAM_OK;
    const int64_t ld = gram_predictor_columns(predictor)->ld, cells = side * side;
    double *places = NULL, *values = NULL;
    TRY(make_map(context, n, x, ldx, side, map));
    TRY(gram_take(context, "map: places", 2 * cells, sizeof *places, (void **)&places));
    TRY(gram_take(context, "map: values", ld * cells, sizeof *values, (void **)&values));
    for (int64_t c = 0; c < cells; c++) {
        places[2 * c] = middle(*map, 0, c / side);
        places[2 * c + 1] = middle(*map, 1, c % side);
    }
    TRY(gram_predictor_evaluate(context, predictor, cells, places, NULL, values, ld));
    for (int64_t c = 0; c < cells; c++) (*map)->values[c] = values[c * ld];
done:
    gram_give(context, places);
    gram_give(context, values);
    if (status < 0) {
        gram_map_destroy(*map);
        *map = NULL;
    }
    return status;
}

typedef struct nearest_task {
    gram_map *map;
    int64_t n, ldx;
    const double *x, *labels;
} nearest_task;

/* One row of cells. */
static gram_status find_nearest(void *argument, const gram_worker *worker)
{
    const nearest_task *t = argument;
    const gram_map *map = t->map;
    const int64_t i = worker->task;
    const double x = middle(map, 0, i), wide = map->high[0] - map->low[0], tall = map->high[1] - map->low[1];
    for (int64_t j = 0; j < map->side; j++) {
        const double y = middle(map, 1, j);
        double least = INFINITY;
        for (int64_t p = 0; p < t->n; p++) {
            const double a = (t->x[p * t->ldx] - x) / wide, b = (t->x[p * t->ldx + 1] - y) / tall;
            if (a * a + b * b >= least) continue;
            least = a * a + b * b;
            map->values[i * map->side + j] = t->labels[p];
        }
    }
    return GRAM_OK;
}

gram_status gram_map_of_nearest(gram_context *context, int64_t n, const double *x, int64_t ldx, const double *labels,
                                int64_t side, gram_map **map)
{
    gram_status status = GRAM_OK;
    TRY(make_map(context, n, x, ldx, side, map));
    nearest_task task = {*map, n, ldx, x, labels};
    TRY(gram_sweep_run(context, &(gram_sweep){.what = "map", .tasks = side, .run = find_nearest, .argument = &task}));
done:
    if (status < 0) {
        gram_map_destroy(*map);
        *map = NULL;
    }
    return status;
}

static int64_t add_segment(double *segments, int64_t count, double x0, double y0, double x1, double y1)
{
    if (segments) {
        const double segment[] = {x0, y0, x1, y1};
        for (int c = 0; c < 4; c++) segments[4 * count + c] = segment[c];
    }
    return count + 1;
}

int64_t gram_map_borders(const gram_map *map, double *segments)
{
    const int64_t side = map->side;
    const double wide = (map->high[0] - map->low[0]) / (double)side, tall = (map->high[1] - map->low[1]) / (double)side;
    int64_t count = 0;
    for (int64_t i = 0; i < side; i++)
        for (int64_t j = 0; j < side; j++) {
            const double own = map->values[i * side + j];
            const double left = map->low[0] + wide * (double)i, right = map->low[0] + wide * (double)(i + 1);
            const double bottom = map->low[1] + tall * (double)j, top = map->low[1] + tall * (double)(j + 1);
            if (i + 1 < side && map->values[(i + 1) * side + j] != own)
                count = add_segment(segments, count, right, bottom, right, top);
            if (j + 1 < side && map->values[i * side + j + 1] != own)
                count = add_segment(segments, count, left, top, right, top);
        }
    return count;
}

/* Maps of a plane, cell by cell. */
#include "learn/plane_map.h"

#include <inttypes.h>
#include <math.h>

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

/* ---- of a predictor ---- */

/* Classes: a prediction for each cell would be slow for some methods, and most cells are amid others of their class. First one is
 * asked for in each block of BLOCK x BLOCK, then all in blocks beside one of another class, or with a point in it. */
enum { BLOCK = 4 };

typedef struct asking {
    const gram_predictor *predictor;
    gram_map *map;
    int64_t count;
    int64_t *cells; /* that are asked for */
    double *places; /* 2 for each */
    double *values; /* ld for each */
    char *details;  /* for each block: is every cell asked for? */
    int64_t blocks; /* of a side */
} asking;

static void ask(asking *a, int64_t i, int64_t j)
{
    a->places[2 * a->count] = middle(a->map, 0, i);
    a->places[2 * a->count + 1] = middle(a->map, 1, j);
    a->cells[a->count++] = i * a->map->side + j;
}

static gram_status answer(gram_context *context, asking *a)
{
    gram_status status = GRAM_OK;
    const int64_t ld = gram_predictor_columns(a->predictor)->ld;
    if (a->count > 0) TRY(gram_predictor_evaluate(context, a->predictor, a->count, a->places, NULL, a->values, ld));
    for (int64_t k = 0; k < a->count; k++) a->map->values[a->cells[k]] = a->values[k * ld];
    a->count = 0;
done:
    return status;
}

/* The coordinate of the cell that speaks for a block. */
static int64_t speaker(const asking *a, int64_t block)
{
    const int64_t cell = block * BLOCK + BLOCK / 2;
    return cell < a->map->side ? cell : a->map->side - 1;
}

static double block_value(const asking *a, int64_t i, int64_t j)
{
    return a->map->values[speaker(a, i) * a->map->side + speaker(a, j)];
}

static int64_t block_of(const asking *a, int axis, double x)
{
    const gram_map *map = a->map;
    const int64_t cell = (int64_t)((x - map->low[axis]) / (map->high[axis] - map->low[axis]) * (double)map->side);
    return (cell < 0 ? 0 : cell >= map->side ? map->side - 1 : cell) / BLOCK;
}

static void choose_details(asking *a, int64_t n, const double *x, int64_t ldx)
{
    for (int64_t b = 0; b < a->blocks * a->blocks; b++) {
        a->details[b] = 0;
        for (int k = 0; k < 9; k++) {
            const int64_t i = b / a->blocks + k / 3 - 1, j = b % a->blocks + k % 3 - 1;
            if (i < 0 || j < 0 || i >= a->blocks || j >= a->blocks) continue;
            if (block_value(a, i, j) != block_value(a, b / a->blocks, b % a->blocks)) a->details[b] = 1;
        }
    }
    for (int64_t i = 0; i < n; i++)
        a->details[block_of(a, 0, x[i * ldx]) * a->blocks + block_of(a, 1, x[i * ldx + 1])] = 1;
}

static gram_status ask_blocks(gram_context *context, asking *a, int64_t n, const double *x, int64_t ldx)
{
    gram_status status = GRAM_OK;
    const int64_t side = a->map->side;
    for (int64_t b = 0; b < a->blocks * a->blocks; b++) ask(a, speaker(a, b / a->blocks), speaker(a, b % a->blocks));
    TRY(answer(context, a));
    choose_details(a, n, x, ldx);
    for (int64_t c = 0; c < side * side; c++) {
        const int64_t i = c / side / BLOCK, j = c % side / BLOCK;
        if (a->details[i * a->blocks + j])
            ask(a, c / side, c % side);
        else
            a->map->values[c] = block_value(a, i, j);
    }
    TRY(answer(context, a));
done:
    return status;
}

gram_status gram_map_of_predictor(gram_context *context, const gram_predictor *predictor, int64_t n, const double *x,
                                  int64_t ldx, int64_t side, gram_map **map)
{
    gram_status status = GRAM_OK;
    const gram_columns *columns = gram_predictor_columns(predictor);
    const int64_t cells = side * side;
    asking a = {.predictor = predictor, .blocks = (side + BLOCK - 1) / BLOCK};
    TRY(make_map(context, n, x, ldx, side, map));
    a.map = *map;
    TRY(gram_take(context, "map: places", 2 * cells, sizeof *a.places, (void **)&a.places));
    TRY(gram_take(context, "map: values", columns->ld * cells, sizeof *a.values, (void **)&a.values));
    TRY(gram_take(context, "map: cells", cells, sizeof *a.cells, (void **)&a.cells));
    TRY(gram_take(context, "map: blocks", a.blocks * a.blocks, 1, (void **)&a.details));
    if (columns->classes && columns->classes->count > 0) {
        TRY(ask_blocks(context, &a, n, x, ldx));
    } else {
        for (int64_t c = 0; c < cells; c++) ask(&a, c / side, c % side);
        TRY(answer(context, &a));
    }
done:
    gram_give(context, a.details);
    gram_give(context, a.cells);
    gram_give(context, a.places);
    gram_give(context, a.values);
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

int64_t gram_map_nearest(const gram_map *map, int64_t n, const double *x, int64_t ldx, const double place[2])
{
    const double wide = map->high[0] - map->low[0], tall = map->high[1] - map->low[1];
    double least = INFINITY;
    int64_t nearest = 0;
    for (int64_t p = 0; p < n; p++) {
        const double a = (x[p * ldx] - place[0]) / wide, b = (x[p * ldx + 1] - place[1]) / tall;
        if (a * a + b * b >= least) continue;
        least = a * a + b * b;
        nearest = p;
    }
    return nearest;
}

/* One row of cells. */
static gram_status find_nearest(void *argument, const gram_worker *worker)
{
    const nearest_task *t = argument;
    const gram_map *map = t->map;
    const int64_t i = worker->task;
    for (int64_t j = 0; j < map->side; j++) {
        const double place[] = {middle(map, 0, i), middle(map, 1, j)};
        map->values[i * map->side + j] = t->labels[gram_map_nearest(map, t->n, t->x, t->ldx, place)];
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

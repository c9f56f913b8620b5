#include "tile/objects/sparse_panels.h"

#include <math.h>
#include <string.h>

#include "base/sweep.h"

enum { LEAST_BUCKETS = 64, BUCKETS_PER_VALUE = 4 };

static int64_t panels_of(int64_t n)
{
    return (n + GRAM_PANEL - 1) / GRAM_PANEL;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- what a row has ---- */

/* In the order in which strips add, so that |x|^2 is x.x. */
static double norm_of(const gram_objects *rows, int64_t i, int l1)
{
    double sum = 0;
    for (int64_t k = rows->start[i]; k < rows->start[i + 1]; k++)
        sum += l1 ? fabs(rows->value[k]) : rows->value[k] * rows->value[k];
    return sum;
}

static gram_status place_rows(gram_context *context, const gram_points *points, const gram_sparse_sides *sides,
                              int64_t count, const int64_t *index, const gram_objects *rows, int64_t **place,
                              double **norm)
{
    gram_status status = GRAM_OK;
    const int64_t padded = panels_of(count) * GRAM_PANEL;
    TRY(gram_take(context, "sparse rows", count, sizeof **place, (void **)place));
    TRY(gram_take(context, "sparse rows", padded, sizeof **norm, (void **)norm));
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = (*place)[i] = gram_points_place(points, index ? index[i] : i, sides->column);
        (*norm)[i] = rows->square ? rows->square[at] : norm_of(rows, at, sides->l1);
    }
    for (int64_t i = count; i < padded; i++) (*norm)[i] = rows->square != NULL; /* which is divided by */
done:
    return status;
}

/* ---- packing ---- */

typedef struct packing {
    gram_sparse_panels *panels;
} packing;

static int64_t values_of(const gram_sparse_panels *p, int64_t j)
{
    const int64_t at = p->column_place[j];
    return p->columns->start[at + 1] - p->columns->start[at];
}

/* Values by bucket: counted, then put in their places. Within a bucket they stand by owner. `count` has a number for each bucket. */
static gram_status pack_panel(void *argument, const gram_worker *worker)
{
    gram_sparse_panels *p = ((packing *)argument)->panels;
    int32_t *count = worker->scratch;
    const int64_t panel = worker->task, from = panel * GRAM_PANEL, to = least(from + GRAM_PANEL, p->m);
    const int64_t words = p->shape.words, first = p->first[panel];
    uint64_t *bits = p->bits + panel * words;
    int32_t *rank = p->rank + panel * words, *begin = p->begin + p->first_slot[panel], slots = 0, sum = 0;
    memset(count, 0, (size_t)(words * 64) * sizeof *count);
    memset(bits, 0, (size_t)words * sizeof *bits);
    for (int64_t j = from; j < to; j++)
        for (int64_t k = p->columns->start[p->column_place[j]]; k < p->columns->start[p->column_place[j] + 1]; k++)
            count[p->columns->index[k] & p->shape.mask]++;
    for (int64_t b = 0; b < words * 64; b++) {
        if (b % 64 == 0) rank[b / 64] = slots;
        if (count[b] == 0) continue;
        bits[b / 64] |= UINT64_C(1) << (b % 64);
        begin[slots++] = sum;
        const int32_t own = count[b];
        count[b] = sum;
        sum += own;
    }
    begin[slots] = sum;
    for (int64_t j = from; j < to; j++)
        for (int64_t k = p->columns->start[p->column_place[j]]; k < p->columns->start[p->column_place[j] + 1]; k++) {
            const int64_t at = first + count[p->columns->index[k] & p->shape.mask]++;
            p->index[at] = p->columns->index[k];
            p->owner[at] = (uint8_t)(j - from);
            p->value[at] = p->columns->value[k];
        }
    return GRAM_OK;
}

/* As many buckets as leave most of them empty, but no more than there are columns. */
static void choose_shape(gram_sparse_panels *p, int64_t most)
{
    int64_t buckets = LEAST_BUCKETS;
    while (buckets < BUCKETS_PER_VALUE * most && buckets < p->columns->d) buckets *= 2;
    p->shape.words = buckets / 64;
    p->shape.mask = (int32_t)(buckets - 1);
}

static gram_status measure(gram_context *context, gram_sparse_panels *p)
{
    gram_status status = GRAM_OK;
    const int64_t count = panels_of(p->m);
    int64_t most = 0;
    TRY(gram_take(context, "sparse rows", count + 1, sizeof(int64_t), (void **)&p->first));
    TRY(gram_take(context, "sparse rows", count, sizeof(int64_t), (void **)&p->first_slot));
    p->first[0] = 0;
    for (int64_t panel = 0; panel < count; panel++) {
        int64_t sum = 0;
        for (int64_t j = panel * GRAM_PANEL; j < least((panel + 1) * GRAM_PANEL, p->m); j++) sum += values_of(p, j);
        FAIL_IF(sum >= INT32_MAX, context, GRAM_ERROR_OVERFLOW,
                "sparse rows: 96 of them have %lld values, more than can be packed", (long long)sum);
        p->first[panel + 1] = p->first[panel] + sum;
        p->first_slot[panel] = p->first[panel] + panel;
        most = sum > most ? sum : most;
    }
    choose_shape(p, most);
done:
    return status;
}

static gram_status pack(gram_context *context, gram_sparse_panels *p)
{
    gram_status status = GRAM_OK;
    const int64_t count = panels_of(p->m);
    TRY(measure(context, p));
    const int64_t values = p->first[count] > 0 ? p->first[count] : 1;
    TRY(gram_take(context, "sparse rows", count * p->shape.words, sizeof(uint64_t), (void **)&p->bits));
    TRY(gram_take(context, "sparse rows", count * p->shape.words, sizeof(int32_t), (void **)&p->rank));
    TRY(gram_take(context, "sparse rows", values + count, sizeof(int32_t), (void **)&p->begin));
    TRY(gram_take(context, "sparse rows", values, sizeof(int32_t), (void **)&p->index));
    TRY(gram_take(context, "sparse rows", values, sizeof(uint8_t), (void **)&p->owner));
    TRY(gram_take(context, "sparse rows", values, sizeof(double), (void **)&p->value));
    packing job = {p};
    const gram_sweep sweep = {.what = "packing sparse rows",
                              .tasks = count,
                              .scratch_bytes = (size_t)(p->shape.words * 64) * sizeof(int32_t),
                              .most_threads = values < 4096,
                              .run = pack_panel,
                              .argument = &job};
    TRY(gram_sweep_run(context, &sweep));
done:
    return status;
}

/* Packed with the zeros, if they are few. */
static gram_status pack_dense(gram_context *context, gram_sparse_panels *p, int same, int *packed)
{
    gram_status status = GRAM_OK;
    const gram_row_choice x = {p->rows, p->n, p->row_place}, y = {p->columns, p->m, p->column_place};
    int single;
    *packed = !p->l1 && gram_rows_are_dense(&x, same ? &x : &y, &single);
    if (!*packed) return GRAM_OK;
    TRY(gram_dense_rows_pack(context, &x, single, &p->dense));
    if (!same) TRY(gram_dense_rows_pack(context, &y, single, &p->dense_column));
done:
    return status;
}

gram_status gram_sparse_panels_create(gram_context *context, const gram_sparse_sides *sides,
                                      gram_sparse_panels **panels)
{
    gram_status status = GRAM_OK;
    gram_sparse_panels *made = NULL;
    const gram_points *x = sides->x, *y = sides->y;
    int dense;
    TRY(gram_take(context, "sparse rows", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->rows = gram_objects_retain(sides->rows ? sides->rows : x->objects[sides->column]);
    made->columns = gram_objects_retain(sides->columns ? sides->columns : y->objects[sides->column]);
    made->n = x->n;
    made->m = sides->index ? sides->count : y->n;
    made->l1 = sides->l1;
    made->scaled = made->rows->square != NULL;
    TRY(place_rows(context, x, sides, made->n, NULL, made->rows, &made->row_place, &made->row_norm));
    TRY(place_rows(context, y, sides, made->m, sides->index, made->columns, &made->column_place, &made->column_norm));
    TRY(pack_dense(context, made, x == y && !sides->index, &dense));
    if (!dense) TRY(pack(context, made));
    *panels = made;
    made = NULL;
done:
    gram_sparse_panels_destroy(made);
    return status;
}

void gram_sparse_panels_destroy(gram_sparse_panels *p)
{
    if (!p) return;
    gram_memory *memory = p->memory;
    void *const arrays[] = {p->row_place, p->column_place, p->row_norm, p->column_norm, p->first, p->first_slot,
                            p->bits,      p->rank,         p->begin,    p->index,       p->owner, p->value};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) gram_memory_give(memory, arrays[i]);
    gram_panels_destroy(&p->dense);
    gram_panels_destroy(&p->dense_column);
    gram_objects_release(p->rows);
    gram_objects_release(p->columns);
    gram_memory_give(memory, p);
    gram_memory_release(memory);
}

/* ---- strips ---- */

/* What both have of each row of the strip, by the innermost loop of the processor; 0 beyond the last row. */
static void add_shared(const gram_strips *strips, const gram_sparse_panels *p, int64_t row_panel, int row,
                       int64_t column_panel, double *out)
{
    if (p->dense.memory) {
        const gram_panels *columns = p->dense_column.memory ? &p->dense_column : &p->dense;
        gram_dense_rows_dot(strips, &p->dense, columns, row_panel, row, column_panel, out);
        return;
    }
    const int64_t words = p->shape.words, first = p->first[column_panel], from = row_panel * GRAM_PANEL + row;
    const gram_sparse_panel panel = {.shape = p->shape,
                                     .bits = p->bits + column_panel * words,
                                     .rank = p->rank + column_panel * words,
                                     .begin = p->begin + p->first_slot[column_panel],
                                     .index = p->index + first,
                                     .owner = p->owner + first,
                                     .value = p->value + first};
    memset(out, 0, GRAM_STRIP_SIZE * sizeof *out);
    for (int i = 0; i < GRAM_STRIP && from + i < p->n; i++) {
        const int64_t at = p->row_place[from + i], start = p->rows->start[at];
        (p->l1 ? strips->sparse.l1 : strips->sparse.dot)(p->rows->start[at + 1] - start, p->rows->index + start,
                                                         p->rows->value + start, &panel, out + i * GRAM_PANEL);
    }
}

void gram_sparse_dot(const gram_strips *strips, const gram_sparse_panels *panels, int64_t row_panel, int row,
                     int64_t column_panel, double *out)
{
    const double *x = panels->row_norm + row_panel * GRAM_PANEL + row;
    const double *y = panels->column_norm + column_panel * GRAM_PANEL;
    add_shared(strips, panels, row_panel, row, column_panel, out);
    for (int i = 0; panels->scaled && i < GRAM_STRIP; i++)
        for (int j = 0; j < GRAM_PANEL; j++) out[i * GRAM_PANEL + j] /= sqrt(x[i] * y[j]);
}

void gram_sparse_share(const gram_strips *strips, const gram_sparse_panels *panels, int64_t row_panel, int row,
                       int64_t column_panel, double *out)
{
    const double *x = panels->row_norm + row_panel * GRAM_PANEL + row;
    const double *y = panels->column_norm + column_panel * GRAM_PANEL;
    add_shared(strips, panels, row_panel, row, column_panel, out);
    for (int i = 0; i < GRAM_STRIP; i++)
        for (int j = 0; j < GRAM_PANEL; j++) {
            double *at = &out[i * GRAM_PANEL + j];
            const double both = x[i] + y[j];
            *at = both > 0 ? *at / (both - *at) : 1;
        }
}

/* Entries below `cut` of what they were subtracted from are made again, by walking both rows; others beyond the last row or column are left. */
static void walk_near(const gram_sparse_panels *p, int64_t row_panel, int row, int64_t column_panel, double *out)
{
    const double cut = 0.125;
    const int64_t first = row_panel * GRAM_PANEL + row, left = column_panel * GRAM_PANEL;
    for (int64_t i = 0; i < GRAM_STRIP && first + i < p->n; i++)
        for (int64_t j = 0; j < GRAM_PANEL && left + j < p->m; j++) {
            double *at = &out[i * GRAM_PANEL + j];
            if (*at >= cut * (p->row_norm[first + i] + p->column_norm[left + j])) continue;
            *at = gram_sparse_distance(p->rows, p->row_place[first + i], p->columns, p->column_place[left + j], p->l1);
        }
}

void gram_sparse_sqdist(const gram_strips *strips, const gram_sparse_panels *panels, int64_t row_panel, int row,
                        int64_t column_panel, double *out)
{
    add_shared(strips, panels, row_panel, row, column_panel, out);
    if (strips->f64.sqdist_from_dot(0.125, panels->row_norm + row_panel * GRAM_PANEL + row,
                                    panels->column_norm + column_panel * GRAM_PANEL, out, out) > 0)
        walk_near(panels, row_panel, row, column_panel, out);
}

/* |x - y| = |x| + |y| + sum over what both have of (|x_l - y_l| - |x_l| - |y_l|) */
void gram_sparse_l1(const gram_strips *strips, const gram_sparse_panels *panels, int64_t row_panel, int row,
                    int64_t column_panel, double *out)
{
    const double *x = panels->row_norm + row_panel * GRAM_PANEL + row;
    const double *y = panels->column_norm + column_panel * GRAM_PANEL;
    add_shared(strips, panels, row_panel, row, column_panel, out);
    for (int i = 0; i < GRAM_STRIP; i++)
        for (int j = 0; j < GRAM_PANEL; j++) out[i * GRAM_PANEL + j] = (x[i] + y[j]) + out[i * GRAM_PANEL + j];
    walk_near(panels, row_panel, row, column_panel, out);
}

#include "tile/embedding/bag_part.h"

#include <string.h>

#include "points/bags.h"

static void profile(const gram_vecmath_f64 *v, const gram_shape *shape, int n, const double *s, double *out,
                    double *work)
{
    (void)v, (void)shape, (void)work;
    if (out != s) memcpy(out, s, (size_t)n * sizeof *out);
}

const gram_kernel_type gram_bag_product = {.name = "mean", .form = GRAM_FORM_DOT, .profile = profile};

/* ---- making it ---- */

static gram_status check_width(gram_context *context, const gram_engine_request *request, int64_t column)
{
    gram_status status = GRAM_OK;
    const gram_points *y = request->y ? request->y : request->x;
    FAIL_IF(request->x->objects[column]->d != y->objects[column]->d, context, GRAM_ERROR_DIMENSION,
            "gram matrix: the rows of the bags of x have %lld columns, those of y %lld",
            (long long)request->x->objects[column]->d, (long long)y->objects[column]->d);
done:
    return status;
}

static gram_status add_features(gram_context *context, const gram_kernel *kernel, int frequencies,
                                const gram_bag_rows *x, const gram_bag_rows *y, gram_bag_part *made)
{
    gram_status status = GRAM_OK;
    TRY(gram_bag_features(context, kernel, frequencies, x, made->n, &made->x));
    if (y->rows) TRY(gram_bag_features(context, kernel, frequencies, y, made->m, &made->y));
done:
    return status;
}

gram_status gram_bag_part_create(gram_context *context, const gram_engine_request *request, int64_t column,
                                 const gram_kernel *kernel, int frequencies, gram_bag_part **part)
{
    gram_status status = GRAM_OK;
    gram_bag_part *made = NULL;
    gram_bag_rows x = {NULL, NULL, NULL}, y = {NULL, NULL, NULL};
    const gram_points *columns = request->y ? request->y : request->x;
    const int symmetric = columns == request->x && !request->index;
    *part = NULL;
    TRY(check_width(context, request, column));
    TRY(gram_bag_rows_gather(context, request->x, column, 0, NULL, &x));
    if (!symmetric) TRY(gram_bag_rows_gather(context, columns, column, request->count, request->index, &y));
    TRY(gram_take(context, "bags", 1, sizeof *made, (void **)&made));
    *made = (gram_bag_part){.memory = gram_memory_retain(context->memory), .n = request->x->n};
    made->m = request->index ? request->count : columns->n;
    if (frequencies > 0) {
        TRY(add_features(context, kernel, frequencies, &x, &y, made));
    } else {
        const gram_engine_request rows = {.kernel = kernel, .x = x.rows, .y = y.rows, .always_double = 1};
        TRY(gram_engine_create(context, &rows, &made->rows));
        made->x_start = x.start;
        made->y_start = symmetric ? x.start : y.start;
        made->x_weights = x.weights;
        made->y_weights = symmetric ? x.weights : y.weights;
        x.start = y.start = NULL;
        x.weights = y.weights = NULL;
    }
    *part = made;
    made = NULL;
done:
    gram_bag_part_destroy(made);
    gram_bag_rows_give(context, &x);
    gram_bag_rows_give(context, &y);
    return status;
}

void gram_bag_part_destroy(gram_bag_part *part)
{
    if (!part) return;
    gram_memory *memory = part->memory;
    gram_engine_destroy(part->rows);
    if (part->y_start != part->x_start) gram_memory_give(memory, part->y_start);
    gram_memory_give(memory, part->x_start);
    if (part->y_weights != part->x_weights) gram_memory_give(memory, part->y_weights);
    gram_memory_give(memory, part->x_weights);
    gram_points_release(part->x);
    gram_points_release(part->y);
    gram_memory_give(memory, part);
    gram_memory_release(memory);
}

/* ---- strips ---- */

size_t gram_bag_scratch(const gram_bag_part *part)
{
    return gram_engine_scratch(part->rows) + GRAM_STRIP_SIZE * sizeof(double);
}

/* Some bags of one side, and where their rows lie. */
typedef struct span {
    int64_t first, count;
    const int64_t *start;
    const double *weights; /* of all rows */
} span;

static span span_of(const int64_t *start, const double *weights, int64_t first, int64_t most, int64_t all)
{
    const int64_t left = all - first;
    return (span){first, left < most ? left : most, start + first, weights};
}

static double weight_of(const span *s, int64_t row)
{
    return s->weights ? s->weights[row] : 1;
}

/* sums[a * GRAM_PANEL + j] = sum over the rows i of bag a of w_i k(i, column j of the panel) */
static void add_over_rows(const gram_bag_part *part, void *scratch, const span *x, int64_t panel, double *sums)
{
    const int64_t from = x->start[0], to = x->start[x->count];
    int64_t bag = 0;
    memset(sums, 0, GRAM_STRIP_SIZE * sizeof *sums);
    for (int64_t strip = from / GRAM_STRIP; strip * GRAM_STRIP < to; strip++) {
        const int64_t top = strip * GRAM_STRIP;
        const double *k = gram_engine_strip_f64(part->rows, scratch, top / GRAM_PANEL, (int)(top % GRAM_PANEL), panel);
        for (int64_t i = top < from ? from : top; i < top + GRAM_STRIP && i < to; i++) {
            while (i >= x->start[bag + 1]) bag++;
            const double *row = k + (i - top) * GRAM_PANEL;
            const double weight = weight_of(x, i);
            double *sum = sums + bag * GRAM_PANEL;
            for (int j = 0; j < GRAM_PANEL; j++) sum[j] += weight * row[j];
        }
    }
}

/* out[a, b] += the sums of the columns of bag b that the panel has, by their weights */
static void add_over_columns(const span *x, const span *y, int64_t panel, int64_t *bag, const double *sums, double *out)
{
    const int64_t left = panel * GRAM_PANEL, from = y->start[0], to = y->start[y->count];
    for (int64_t j = left < from ? from : left; j < left + GRAM_PANEL && j < to; j++) {
        while (j >= y->start[*bag + 1]) (*bag)++;
        const double weight = weight_of(y, j);
        for (int64_t a = 0; a < x->count; a++) out[a * GRAM_PANEL + *bag] += weight * sums[a * GRAM_PANEL + j - left];
    }
}

static double total_of(const span *s, int64_t bag)
{
    return s->weights ? 1 : (double)(s->start[bag + 1] - s->start[bag]);
}

static void divide(const span *x, const span *y, double *out)
{
    for (int64_t a = 0; a < x->count; a++)
        for (int64_t b = 0; b < y->count; b++) out[a * GRAM_PANEL + b] /= total_of(x, a) * total_of(y, b);
}

void gram_bag_strip(const gram_bag_part *part, const gram_strip *strip, void *scratch, double *out)
{
    const span x =
        span_of(part->x_start, part->x_weights, strip->row_panel * GRAM_PANEL + strip->row, GRAM_STRIP, part->n);
    const span y = span_of(part->y_start, part->y_weights, strip->column_panel * GRAM_PANEL, GRAM_PANEL, part->m);
    double *sums = (double *)(void *)((char *)scratch + gram_engine_scratch(part->rows));
    int64_t bag = 0;
    memset(out, 0, GRAM_STRIP_SIZE * sizeof *out);
    if (x.count < 1 || y.count < 1) return;
    gram_engine_begin(part->rows, scratch, strip->worker);
    for (int64_t panel = y.start[0] / GRAM_PANEL; panel * GRAM_PANEL < y.start[y.count]; panel++) {
        if (strip->worker && gram_worker_stopped(strip->worker)) return;
        add_over_rows(part, scratch, &x, panel, sums);
        add_over_columns(&x, &y, panel, &bag, sums, out);
    }
    divide(&x, &y, out);
}

/* ---- the diagonal ---- */

typedef struct own_pairs {
    const gram_bag_part *part;
    double *out;
} own_pairs;

/* Rounded as in a strip: over the rows first, then over the columns. */
static gram_status add_own(void *argument, const gram_worker *worker)
{
    const own_pairs *job = argument;
    const gram_bag_part *part = job->part;
    double *sums = (double *)(void *)((char *)worker->scratch + gram_engine_scratch(part->rows));
    const span own = {worker->task, 1, part->x_start + worker->task, part->x_weights};
    double sum = 0;
    gram_engine_begin(part->rows, worker->scratch, worker);
    for (int64_t panel = own.start[0] / GRAM_PANEL; panel * GRAM_PANEL < own.start[1]; panel++) {
        int64_t bag = 0;
        if (gram_worker_stopped(worker)) return GRAM_OK;
        add_over_rows(part, worker->scratch, &own, panel, sums);
        add_over_columns(&own, &own, panel, &bag, sums, &sum);
    }
    divide(&own, &own, &sum);
    job->out[worker->task] = sum;
    return GRAM_OK;
}

gram_status gram_bag_diagonal(gram_context *context, const gram_bag_part *part, double *out)
{
    own_pairs job = {part, out};
    const gram_sweep sweep = {.what = "bags with themselves",
                              .tasks = part->n,
                              .scratch_bytes = gram_bag_scratch(part),
                              .run = add_own,
                              .argument = &job};
    return gram_sweep_run(context, &sweep);
}

/* The rows of some thousand blocks are laid behind each other, each block from a new panel on (96 rows; what is left of its last panel
 * repeats a row and counts for nothing), and one engine is made of them. A task then asks it for the tiles below the diagonal of its own
 * panels only. Weights are taken as they stand below the diagonal, each pair once, and go backwards through the same strips. */
#include "tile/small_blocks.h"

#include <string.h>

#include "points/functionals.h"
#include "tile/fill.h"
#include "tile/gradient/gradient.h"

enum { MOST_NUMBERS = 1 << 21 }; /* coordinates of one batch */

typedef struct batch {
    const gram_blocks *blocks;
    int64_t first, count; /* blocks */
    int64_t *panel;       /* count + 1: where each begins */
    gram_gradient gradient;
    gram_engine *engine;
    double *sums;       /* count x parameters; NULL: no gradient */
    int64_t parameters; /* of the kernel */
    size_t engine_bytes, square_bytes;
} batch;

/* ---- one block ---- */

static void fill(const batch *b, void *scratch, int64_t from, int64_t to, double *k, int64_t ld)
{
    for (int64_t i = from; i < to; i++)
        for (int64_t j = from; j <= i; j++)
            gram_fill_tile(b->engine, scratch, i, j, k + (i - from) * GRAM_PANEL * ld + (j - from) * GRAM_PANEL, ld,
                           NULL, 0);
}

typedef struct local_weights {
    const double *w;
    int64_t first, size, ld; /* first row of the block in the engine */
} local_weights;

static void add_weights(const void *argument, int64_t row, int64_t rows, int64_t column, int64_t columns, double *out,
                        int64_t ldo)
{
    const local_weights *l = argument;
    for (int64_t i = 0; i < rows && row + i - l->first < l->size; i++)
        for (int64_t j = 0; j < columns && column + j - l->first < l->size; j++)
            out[i * ldo + j] += l->w[(row + i - l->first) * l->ld + column + j - l->first];
}

static void differentiate(const batch *b, const gram_worker *worker, int64_t from, int64_t to, const double *w,
                          int64_t size, int64_t ld)
{
    const local_weights local = {w, from * GRAM_PANEL, size, ld};
    const gram_weights weights = {.fill = add_weights, .argument = &local};
    gram_gradient g = b->gradient;
    gram_tape t;
    g.weights = &weights;
    (void)gram_tape_layout(&g, worker->scratch, &t);
    t.parameter = b->sums + worker->task * b->parameters;
    t.column_sums = g.column_sums; /* blocks have columns of their own */
    gram_engine_begin(b->engine, worker->scratch, worker);
    for (int64_t i = from; i < to; i++)
        for (int64_t j = from; j <= i; j++)
            for (int row = 0; row < GRAM_PANEL && (i - from) * GRAM_PANEL + row < size; row += GRAM_STRIP)
                gram_gradient_strip(&g, &t, i, row, j, 0);
}

static gram_status run_block(void *argument, const gram_worker *worker)
{
    const batch *b = argument;
    const gram_blocks *blocks = b->blocks;
    const int64_t number = b->first + worker->task, size = blocks->start[number + 1] - blocks->start[number];
    const int64_t from = b->panel[worker->task], to = b->panel[worker->task + 1], ld = (to - from) * GRAM_PANEL;
    char *at = (char *)worker->scratch + b->engine_bytes;
    double *k = (double *)(void *)at, *w = b->sums ? (double *)(void *)(at + b->square_bytes) : NULL;
    gram_engine_begin(b->engine, worker->scratch, worker);
    fill(b, worker->scratch, from, to, k, ld);
    if (w) memset(w, 0, (size_t)(size * ld) * sizeof *w);
    const gram_block block = {.number = number,
                              .size = size,
                              .members = blocks->members + blocks->start[number],
                              .k = k,
                              .ld = ld,
                              .w = w,
                              .scratch = at + (w ? 2 : 1) * b->square_bytes};
    const gram_status status = blocks->visit(blocks->argument, &block);
    if (status >= 0 && w) differentiate(b, worker, from, to, w, size, ld);
    return status;
}

/* ---- a batch ---- */

static int64_t panels_of(const gram_blocks *blocks, int64_t b)
{
    return (blocks->start[b + 1] - blocks->start[b] + GRAM_PANEL - 1) / GRAM_PANEL;
}

/* As many blocks from `first` on as have room, at least one. Returns the panels of the largest. */
static int64_t lay_out(batch *b)
{
    const gram_blocks *blocks = b->blocks;
    int64_t largest = 0;
    b->panel[0] = b->count = 0;
    while (b->first + b->count < blocks->count) {
        const int64_t panels = panels_of(blocks, b->first + b->count), before = b->panel[b->count];
        if (b->count > 0 && (before + panels) * GRAM_PANEL * blocks->x->d > MOST_NUMBERS) break;
        b->panel[++b->count] = before + panels;
        largest = panels > largest ? panels : largest;
    }
    return largest;
}

/* The row that stands at place r of the batch, within block i of it. */
static int64_t member_at(const batch *b, int64_t i, int64_t r)
{
    const int64_t start = b->blocks->start[b->first + i], size = b->blocks->start[b->first + i + 1] - start;
    const int64_t place = r - b->panel[i] * GRAM_PANEL;
    return b->blocks->members[start + (place < size ? place : 0)];
}

static void copy_row(const gram_blocks *blocks, int64_t row, double *out)
{
    const gram_points *from = row < blocks->x->n ? blocks->x : blocks->more;
    const int64_t at = row < blocks->x->n ? row : row - blocks->x->n;
    for (int64_t l = 0; l < from->d; l++) out[l] = gram_points_cell(from, at, l);
}

static gram_status gather_plain(gram_context *context, const batch *b, gram_points **out)
{
    gram_status status = GRAM_OK;
    const int64_t d = b->blocks->x->d, rows = b->panel[b->count] * GRAM_PANEL;
    double *numbers = NULL;
    TRY(gram_take(context, "small blocks", rows * d, sizeof *numbers, (void **)&numbers));
    for (int64_t i = 0; i < b->count; i++)
        for (int64_t r = b->panel[i] * GRAM_PANEL; r < b->panel[i + 1] * GRAM_PANEL; r++)
            copy_row(b->blocks, member_at(b, i, r), numbers + r * d);
    TRY(gram_points_create_like(context, b->blocks->x, rows, numbers, 1, out));
done:
    return status;
}

static gram_status gather_functionals(gram_context *context, const batch *b, gram_points **out)
{
    gram_status status = GRAM_OK;
    const int64_t rows = b->panel[b->count] * GRAM_PANEL;
    int64_t *numbers = NULL;
    TRY(gram_take(context, "small blocks", rows, sizeof *numbers, (void **)&numbers));
    for (int64_t i = 0; i < b->count; i++)
        for (int64_t r = b->panel[i] * GRAM_PANEL; r < b->panel[i + 1] * GRAM_PANEL; r++)
            numbers[r] = member_at(b, i, r);
    TRY(gram_points_gather(context, b->blocks->x, rows, numbers, out));
done:
    gram_give(context, numbers);
    return status;
}

static gram_status gather(gram_context *context, const batch *b, gram_points **out)
{
    return b->blocks->x->functionals ? gather_functionals(context, b, out) : gather_plain(context, b, out);
}

static gram_status prepare_gradient(gram_context *context, batch *b, const double *gradient, size_t *tape)
{
    gram_status status = GRAM_OK;
    char none[1];
    gram_tape t;
    *tape = b->engine_bytes;
    if (!gradient) return GRAM_OK;
    FAIL_IF(gram_gradient_by_differences(b->engine->kept[0]), context, GRAM_ERROR_UNSUPPORTED,
            "mean and after have no derivatives by their numbers in blocks of neighbours");
    b->gradient = (gram_gradient){.engine = b->engine};
    gram_gradient_measure(&b->gradient);
    *tape = gram_tape_layout(&b->gradient, none, &t);
    TRY(gram_gradient_take_sums(context, 1, &b->gradient));
    TRY(gram_take(context, "small blocks", b->count * b->parameters, sizeof(double), (void **)&b->sums));
    memset(b->sums, 0, (size_t)(b->count * b->parameters) * sizeof(double));
done:
    return status;
}

static gram_status collect_gradient(gram_context *context, const batch *b, const gram_engine_request *request,
                                    double *gradient)
{
    for (int64_t p = 0; p < b->parameters; p++)
        for (int64_t i = 0; i < b->count; i++) gradient[p] += b->sums[i * b->parameters + p];
    return gram_gradient_add_terms(context, &b->gradient, request, gradient);
}

static gram_status run_batch(gram_context *context, batch *b, double *gradient)
{
    gram_status status = GRAM_OK;
    const gram_blocks *blocks = b->blocks;
    gram_points *points = NULL;
    size_t tape;
    const int64_t largest = lay_out(b), side = largest * GRAM_PANEL;
    b->engine = NULL;
    b->sums = NULL;
    TRY(gather(context, b, &points));
    const gram_engine_request request = {.kernel = blocks->kernel, .x = points, .always_double = 1};
    TRY(gram_engine_create(context, &request, &b->engine));
    b->engine_bytes = gram_engine_scratch(b->engine);
    TRY(prepare_gradient(context, b, gradient, &tape));
    b->engine_bytes = (tape + 63) / 64 * 64;
    b->square_bytes = (size_t)(side * side) * sizeof(double);
    const gram_sweep sweep = {.what = blocks->what,
                              .tasks = b->count,
                              .scratch_bytes =
                                  b->engine_bytes + (gradient ? 2 : 1) * b->square_bytes + blocks->scratch_bytes,
                              .run = run_block,
                              .argument = b,
                              .share_before = (double)b->first / (double)blocks->count,
                              .share_after = (double)(b->first + b->count) / (double)blocks->count};
    TRY(gram_sweep_run(context, &sweep));
    if (gradient) TRY(collect_gradient(context, b, &request, gradient));
done:
    gram_gradient_give_sums(context, &b->gradient);
    b->gradient = (gram_gradient){.engine = NULL};
    gram_give(context, b->sums);
    gram_engine_destroy(b->engine);
    gram_points_release(points);
    return status;
}

gram_status gram_blocks_run(gram_context *context, const gram_blocks *blocks, double *gradient)
{
    gram_status status = GRAM_OK;
    batch b = {.blocks = blocks, .parameters = gram_kernel_parameter_count(blocks->kernel)};
    if (blocks->more || gradient) TRY(gram_points_must_be_plain(context, "small blocks", blocks->x));
    TRY(gram_take(context, "small blocks", blocks->count + 1, sizeof *b.panel, (void **)&b.panel));
    for (int64_t p = 0; p < b.parameters && gradient; p++) gradient[p] = 0;
    for (; b.first < blocks->count; b.first += b.count) TRY(run_batch(context, &b, gradient));
done:
    gram_give(context, b.panel);
    return status;
}

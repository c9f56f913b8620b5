/* Rows of K(X, X), and sums over them.
 *
 * A quadratic form v'Kv needs each pair once: the task of row panel i makes the tiles (i, j), j <= i, and counts those
 * below the diagonal twice. With several v at once BLAS multiplies a tile by all of them. Row means have their pairs made
 * twice: they are needed once for a whole selection, and a task then owns its output. */
#include "tile/matrix_rows.h"

#include <cblas.h>
#include <string.h>

/* ---- the rows of an engine ---- */

typedef struct strip_place {
    int64_t row_panel, column_panel;
    int row;
    const double *strip;
} strip_place;

static void engine_begin(const void *self, void *scratch)
{
    strip_place *place = scratch;
    place->strip = NULL;
    gram_engine_begin(self, (char *)scratch + GRAM_ALIGNMENT, NULL);
}

/* A strip is made whole; rows of the strip that was made last cost nothing. */
static const double *engine_row(const void *self, void *scratch, int64_t i, int64_t panel)
{
    strip_place *place = scratch;
    const int64_t row_panel = i / GRAM_PANEL;
    const int row = (int)(i % GRAM_PANEL) / GRAM_STRIP * GRAM_STRIP;
    if (!place->strip || place->row_panel != row_panel || place->row != row || place->column_panel != panel) {
        place->strip = gram_engine_strip_f64(self, (char *)scratch + GRAM_ALIGNMENT, row_panel, row, panel);
        place->row_panel = row_panel;
        place->row = row;
        place->column_panel = panel;
    }
    return place->strip + i % GRAM_STRIP * GRAM_PANEL;
}

gram_rows gram_rows_of_engine(const gram_engine *engine)
{
    _Static_assert(sizeof(strip_place) <= GRAM_ALIGNMENT, "the place stands before the engine's scratch");
    _Static_assert(GRAM_PANEL % GRAM_STRIP == 0, "strips do not cross panels");
    const size_t bytes = GRAM_ALIGNMENT + gram_engine_scratch(engine);
    return (gram_rows){.n = engine->n,
                       .self = engine,
                       .scratch_bytes = (bytes + GRAM_ALIGNMENT - 1) / GRAM_ALIGNMENT * GRAM_ALIGNMENT,
                       .begin = engine_begin,
                       .row = engine_row};
}

/* ---- entries ---- */

typedef struct entries {
    const gram_rows *rows;
    int64_t count;
    const int64_t *index;
    double *out;
    int64_t ld;
} entries;

static gram_status diagonal_task(void *argument, const gram_worker *worker)
{
    const entries *job = argument;
    const gram_rows *rows = job->rows;
    const int64_t panel = worker->task;
    rows->begin(rows->self, worker->scratch);
    for (int j = 0; j < gram_rows_width(rows, panel); j++)
        job->out[panel * GRAM_PANEL + j] = rows->row(rows->self, worker->scratch, panel * GRAM_PANEL + j, panel)[j];
    return GRAM_OK;
}

gram_status gram_rows_diagonal(gram_context *context, const gram_rows *rows, double *out)
{
    entries job = {.rows = rows, .out = out};
    const gram_sweep sweep = {.what = "diagonal",
                              .tasks = gram_rows_panels(rows),
                              .scratch_bytes = rows->scratch_bytes,
                              .run = diagonal_task,
                              .argument = &job};
    return gram_sweep_run(context, &sweep);
}

/* One row of the block; a panel is made once for all entries that lie in it one after another. */
static gram_status block_task(void *argument, const gram_worker *worker)
{
    const entries *job = argument;
    const gram_rows *rows = job->rows;
    const double *row = NULL;
    int64_t panel = -1;
    rows->begin(rows->self, worker->scratch);
    for (int64_t b = 0; b < job->count; b++) {
        if (job->index[b] / GRAM_PANEL != panel) {
            panel = job->index[b] / GRAM_PANEL;
            row = rows->row(rows->self, worker->scratch, job->index[worker->task], panel);
        }
        job->out[worker->task * job->ld + b] = row[job->index[b] % GRAM_PANEL];
    }
    return GRAM_OK;
}

gram_status gram_rows_block(gram_context *context, const gram_rows *rows, int64_t count, const int64_t *index,
                            double *out, int64_t ld)
{
    entries job = {rows, count, index, out, ld};
    const gram_sweep sweep = {.what = "kernel matrix of the choice",
                              .tasks = count,
                              .scratch_bytes = rows->scratch_bytes,
                              .run = block_task,
                              .argument = &job};
    return gram_sweep_run(context, &sweep);
}

/* ---- quadratic forms ---- */

/* v panel by panel, column c of a panel being GRAM_PANEL numbers in a row; zeros beyond n */
typedef struct quadratic {
    const gram_rows *rows;
    int64_t columns;
    double *v;
    double *sums; /* for each task: columns sums of all pairs, columns sums of the diagonal */
    const gram_vecmath_f64 *vecmath;
} quadratic;

static const double *v_panel(const quadratic *q, int64_t panel)
{
    return q->v + panel * q->columns * GRAM_PANEL;
}

static void pack_v(const quadratic *q, const double *v, int64_t ldv)
{
    const int64_t panels = gram_rows_panels(q->rows);
    memset(q->v, 0, (size_t)(panels * q->columns * GRAM_PANEL) * sizeof(double));
    for (int64_t i = 0; i < q->rows->n; i++)
        for (int64_t c = 0; c < q->columns; c++)
            q->v[(i / GRAM_PANEL * q->columns + c) * GRAM_PANEL + i % GRAM_PANEL] = v[i * ldv + c];
}

/* The tile's rows one after another in memory, zeros beyond n. */
static void copy_tile(const quadratic *q, void *scratch, int64_t i, int64_t j, double *tile)
{
    const gram_rows *rows = q->rows;
    const int count = gram_rows_width(rows, i);
    for (int r = 0; r < count; r++)
        memcpy(tile + r * GRAM_PANEL, rows->row(rows->self, scratch, i * GRAM_PANEL + r, j),
               GRAM_PANEL * sizeof(double));
    memset(tile + count * GRAM_PANEL, 0, (size_t)(GRAM_PANEL - count) * GRAM_PANEL * sizeof(double));
}

static void add_tile(const quadratic *q, void *scratch, int64_t i, int64_t j, double *sums)
{
    double *tile = (double *)(void *)((char *)scratch + q->rows->scratch_bytes);
    double *product = tile + GRAM_TILE_SIZE;
    const double twice = i == j ? 1 : 2;
    copy_tile(q, scratch, i, j, tile);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)q->columns, GRAM_PANEL, GRAM_PANEL, 1, v_panel(q, j),
                GRAM_PANEL, tile, GRAM_PANEL, 0, product, GRAM_PANEL);
    for (int64_t c = 0; c < q->columns; c++)
        sums[c] += twice * q->vecmath->dot(GRAM_PANEL, product + c * GRAM_PANEL, v_panel(q, i) + c * GRAM_PANEL);
    for (int64_t c = 0; i == j && c < q->columns; c++)
        for (int r = 0; r < GRAM_PANEL; r++) {
            const double vr = v_panel(q, i)[c * GRAM_PANEL + r];
            sums[q->columns + c] += vr * vr * tile[r * GRAM_PANEL + r];
        }
}

/* Longest rows first, so that the last tasks are short. */
static gram_status quadratic_task(void *argument, const gram_worker *worker)
{
    const quadratic *q = argument;
    const int64_t i = gram_rows_panels(q->rows) - 1 - worker->task;
    double *sums = q->sums + i * 2 * q->columns;
    memset(sums, 0, (size_t)(2 * q->columns) * sizeof(double));
    q->rows->begin(q->rows->self, worker->scratch);
    for (int64_t j = 0; j <= i; j++) add_tile(q, worker->scratch, i, j, sums);
    return GRAM_OK;
}

static gram_status run_quadratic(gram_context *context, const quadratic *q)
{
    const size_t tile = (GRAM_TILE_SIZE + (size_t)q->columns * GRAM_PANEL) * sizeof(double);
    const gram_sweep sweep = {.what = "kernel sums",
                              .tasks = gram_rows_panels(q->rows),
                              .scratch_bytes = q->rows->scratch_bytes + tile,
                              .run = quadratic_task,
                              .argument = (void *)(uintptr_t)q};
    return gram_sweep_run(context, &sweep);
}

/* At most GRAM_ROWS_COLUMNS columns. */
static gram_status quadratic_part(gram_context *context, const gram_rows *rows, int64_t columns, const double *v,
                                  int64_t ldv, double *out, double *own)
{
    gram_status status = GRAM_OK;
    const int64_t panels = gram_rows_panels(rows), numbers = panels * columns * GRAM_PANEL;
    quadratic q = {.rows = rows, .columns = columns, .vecmath = &context->vecmath->f64};
    TRY(gram_take(context, "kernel sums: weights", numbers, sizeof(double), (void **)&q.v));
    TRY(gram_take(context, "kernel sums", panels * 2 * columns, sizeof(double), (void **)&q.sums));
    pack_v(&q, v, ldv);
    TRY(run_quadratic(context, &q));
    for (int64_t c = 0; c < columns; c++) {
        double all = 0, diagonal = 0;
        for (int64_t i = 0; i < panels; i++) {
            all += q.sums[i * 2 * columns + c];
            diagonal += q.sums[i * 2 * columns + columns + c];
        }
        out[c] = all;
        if (own) own[c] = diagonal;
    }
done:
    gram_give(context, q.v);
    gram_give(context, q.sums);
    return status;
}

gram_status gram_rows_quadratic(gram_context *context, const gram_rows *rows, int64_t columns, const double *v,
                                int64_t ldv, double *out, double *own)
{
    gram_status status = GRAM_OK;
    for (int64_t c = 0; c < columns; c += GRAM_ROWS_COLUMNS) {
        const int64_t now = columns - c < GRAM_ROWS_COLUMNS ? columns - c : GRAM_ROWS_COLUMNS;
        TRY(quadratic_part(context, rows, now, v + c, ldv, out + c, own ? own + c : NULL));
    }
done:
    return status;
}

/* ---- means ---- */

static gram_status means_task(void *argument, const gram_worker *worker)
{
    const entries *job = argument;
    const gram_rows *rows = job->rows;
    const int64_t first = worker->task * GRAM_STRIP, panels = gram_rows_panels(rows);
    double sums[GRAM_STRIP] = {0};
    const int64_t count = rows->n - first < GRAM_STRIP ? rows->n - first : GRAM_STRIP;
    rows->begin(rows->self, worker->scratch);
    for (int64_t panel = 0; panel < panels; panel++)
        for (int64_t r = 0; r < count; r++) {
            const double *row = rows->row(rows->self, worker->scratch, first + r, panel);
            double sum = 0;
            for (int j = 0; j < gram_rows_width(rows, panel); j++) sum += row[j];
            sums[r] += sum;
        }
    for (int64_t r = 0; r < count; r++) job->out[first + r] = sums[r] / (double)rows->n;
    return GRAM_OK;
}

gram_status gram_rows_means(gram_context *context, const gram_rows *rows, double *out)
{
    entries job = {.rows = rows, .out = out};
    const gram_sweep sweep = {.what = "row means",
                              .tasks = (rows->n + GRAM_STRIP - 1) / GRAM_STRIP,
                              .scratch_bytes = rows->scratch_bytes,
                              .run = means_task,
                              .argument = &job};
    return gram_sweep_run(context, &sweep);
}

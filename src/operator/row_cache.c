#include "operator/row_cache.h"

#include <string.h>

#include "base/sweep.h"
#include "tile/engine.h"

/* Room that is used at first. Only rows that were thrown out and are asked for again show that more is worth while: where they
 * do not come, fresh pages would cost more than they save. */
enum { LEAST_ROWS = 16, START_ROWS = 2048, START_BYTES = 1 << 27 };
enum { NEVER_MADE = -1, THROWN_OUT = -2 };

struct gram_row_cache {
    gram_memory *memory;
    gram_kernel *kernel;
    const gram_points *x;
    int64_t most; /* points */
    int64_t n, room, used, now;
    int64_t limit;          /* of the slots that may be used so far */
    double scale;           /* 1/unit */
    int64_t capacity;       /* numbers */
    float *numbers;         /* room x ld */
    int64_t ld;             /* n, filled up to whole panels */
    int64_t *slot_of;       /* n: where the row of a point is, or why it is nowhere */
    int64_t *owner;         /* room: the point whose row it is */
    int64_t *last;          /* room: when it was asked for */
    int64_t *newer, *older; /* room + 1: slots in the order of their last use; number `room` is the ring's anchor */
    int64_t *missing;       /* room: points whose rows are to be made */
};

static int64_t ld_of(int64_t n)
{
    return (n + GRAM_PANEL - 1) / GRAM_PANEL * GRAM_PANEL;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static gram_status take(gram_context *context, gram_row_cache *cache, int64_t count, size_t size, void *out)
{
    return gram_take_from(context, cache->memory, "rows of the kernel matrix", count, size, (void **)out);
}

gram_status gram_row_cache_create(gram_context *context, gram_kernel *kernel, int64_t most, size_t bytes, double unit,
                                  gram_row_cache **cache)
{
    gram_status status = GRAM_OK;
    gram_row_cache *made = NULL;
    const int64_t row = ld_of(most), fit = (int64_t)(bytes / ((size_t)row * sizeof(float)));
    *cache = NULL;
    TRY(gram_take(context, "rows of the kernel matrix", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->kernel = gram_kernel_retain(kernel);
    made->most = most;
    made->scale = 1 / unit;
    made->capacity = row * least(most, fit > LEAST_ROWS ? fit : LEAST_ROWS);
    int64_t **lists[] = {&made->slot_of, &made->owner, &made->last, &made->newer, &made->older, &made->missing};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        TRY(take(context, made, most + 1, sizeof(int64_t), lists[i]));
    TRY(take(context, made, made->capacity, sizeof(float), &made->numbers));
    *cache = made;
    made = NULL;
done:
    gram_row_cache_destroy(made);
    return status;
}

void gram_row_cache_destroy(gram_row_cache *cache)
{
    if (!cache) return;
    gram_memory *memory = cache->memory;
    gram_kernel_release(cache->kernel);
    gram_memory_give(memory, cache->slot_of);
    gram_memory_give(memory, cache->owner);
    gram_memory_give(memory, cache->last);
    gram_memory_give(memory, cache->newer);
    gram_memory_give(memory, cache->older);
    gram_memory_give(memory, cache->missing);
    gram_memory_give(memory, cache->numbers);
    gram_memory_give(memory, cache);
    gram_memory_release(memory);
}

int64_t gram_row_cache_begin(gram_row_cache *cache, const gram_points *x)
{
    cache->x = x;
    cache->n = x->n;
    cache->ld = ld_of(x->n);
    cache->room = least(x->n, cache->capacity / cache->ld);
    cache->used = 0;
    cache->limit = least(cache->room, START_BYTES / (cache->ld * (int64_t)sizeof(float)));
    if (cache->limit < START_ROWS) cache->limit = least(cache->room, START_ROWS);
    for (int64_t i = 0; i < x->n; i++) cache->slot_of[i] = NEVER_MADE;
    cache->newer[cache->room] = cache->older[cache->room] = cache->room;
    return cache->room;
}

/* ---- the order of use ---- */

static void unlink_slot(gram_row_cache *cache, int64_t slot)
{
    cache->newer[cache->older[slot]] = cache->newer[slot];
    cache->older[cache->newer[slot]] = cache->older[slot];
}

/* The anchor's older neighbour is the newest slot, its newer one the oldest. */
static void link_newest(gram_row_cache *cache, int64_t slot)
{
    const int64_t anchor = cache->room, newest = cache->older[anchor];
    cache->older[slot] = newest;
    cache->newer[slot] = anchor;
    cache->newer[newest] = slot;
    cache->older[anchor] = slot;
    cache->last[slot] = cache->now;
}

static int64_t free_slot(gram_row_cache *cache)
{
    if (cache->used < cache->limit) return cache->used++;
    const int64_t oldest = cache->newer[cache->room];
    unlink_slot(cache, oldest);
    cache->slot_of[cache->owner[oldest]] = THROWN_OUT;
    return oldest;
}

/* ---- making rows ---- */

typedef struct making {
    gram_row_cache *cache;
    const gram_engine *engine; /* rows: all points; columns: the missing ones */
} making;

/* A strip has 16 points against 96 missing rows: transposed and narrowed, a cache line for each row. */
static void write_strip(const making *job, void *scratch, int64_t panel, int row, int64_t columns)
{
    gram_row_cache *cache = job->cache;
    const gram_engine *engine = job->engine;
    const int64_t first = panel * GRAM_PANEL + row, width = least(GRAM_PANEL, engine->m - columns * GRAM_PANEL);
    const double *wide = engine->single ? NULL : gram_engine_strip_f64(engine, scratch, panel, row, columns);
    const float *narrow = engine->single ? gram_engine_strip_f32(engine, scratch, panel, row, columns) : NULL;
    for (int64_t j = 0; j < width; j++) {
        float *out = cache->numbers + cache->slot_of[cache->missing[columns * GRAM_PANEL + j]] * cache->ld + first;
        if (wide)
            for (int i = 0; i < GRAM_STRIP; i++) out[i] = (float)(wide[i * GRAM_PANEL + j] * cache->scale);
        else
            for (int i = 0; i < GRAM_STRIP; i++) out[i] = (float)((double)narrow[i * GRAM_PANEL + j] * cache->scale);
    }
}

static gram_status make_panel(void *argument, const gram_worker *worker)
{
    const making *job = argument;
    gram_engine_begin(job->engine, worker->scratch, worker);
    for (int64_t columns = 0; columns < gram_engine_column_panels(job->engine); columns++)
        for (int row = 0; row < GRAM_PANEL; row += GRAM_STRIP)
            if (worker->task * GRAM_PANEL + row < job->engine->n)
                write_strip(job, worker->scratch, worker->task, row, columns);
    return GRAM_OK;
}

static gram_status make_rows(gram_row_cache *cache, gram_context *context, int64_t count)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = NULL;
    const gram_engine_request request = {
        .kernel = cache->kernel, .x = cache->x, .count = count, .index = cache->missing};
    TRY(gram_engine_create(context, &request, &engine));
    making job = {.cache = cache, .engine = engine};
    const gram_sweep sweep = {.what = "rows of the kernel matrix",
                              .tasks = gram_engine_row_panels(engine),
                              .scratch_bytes = gram_engine_scratch(engine),
                              .run = make_panel,
                              .argument = &job};
    TRY(gram_sweep_run(context, &sweep));
done:
    gram_engine_destroy(engine);
    return status;
}

/* Rows that could not be made have no owner. */
static void forget(gram_row_cache *cache, int64_t count)
{
    for (int64_t r = 0; r < count; r++) cache->slot_of[cache->missing[r]] = NEVER_MADE;
}

gram_status gram_row_cache_get(gram_row_cache *cache, gram_context *context, int64_t count, const int64_t *points,
                               const float **out)
{
    gram_status status = GRAM_OK;
    int64_t missing = 0;
    cache->now++;
    for (int64_t r = 0; r < count; r++) { /* what is there is made the newest before anything is thrown out */
        const int64_t slot = cache->slot_of[points[r]];
        if (slot < 0 || cache->last[slot] == cache->now) continue;
        unlink_slot(cache, slot);
        link_newest(cache, slot);
    }
    for (int64_t r = 0; r < count; r++) {
        if (cache->slot_of[points[r]] >= 0) continue;
        if (cache->slot_of[points[r]] == THROWN_OUT) cache->limit = least(cache->room, cache->limit + 1);
        const int64_t slot = free_slot(cache);
        cache->slot_of[points[r]] = slot;
        cache->owner[slot] = points[r];
        link_newest(cache, slot);
        cache->missing[missing++] = points[r];
    }
    if (missing) status = make_rows(cache, context, missing);
    if (status < 0) forget(cache, missing);
    for (int64_t r = 0; status >= 0 && r < count; r++) out[r] = cache->numbers + cache->slot_of[points[r]] * cache->ld;
    return status;
}

#include "tile/panels.h"

#include <string.h>

#include "base/sweep.h"

enum { PART = 512 }; /* columns: those of a panel fit the second-level cache */

typedef struct packing {
    const gram_points *points;
    const int64_t *index;
    const gram_mapping *mapping;
    gram_panels *panels;
    int norms;
} packing;

static int64_t part_width(const gram_mapping *mapping)
{
    return mapping->factor || mapping->d < PART ? mapping->d : PART;
}

/* u = L^-1 t in place, by forward substitution */
static void solve_lower(int64_t d, const double *factor, double *t)
{
    for (int64_t a = 0; a < d; a++) {
        double sum = t[a];
        for (int64_t b = 0; b < a; b++) sum -= factor[a * d + b] * t[b];
        t[a] = sum / factor[a * d + a];
    }
}

static double source(const gram_mapping *mapping, const gram_points *points, int64_t row, int64_t l)
{
    if (!mapping->matrix) return gram_points_at(points, row, mapping->columns[l]);
    double sum = 0;
    for (int64_t m = 0; m < mapping->source_count; m++)
        sum += mapping->matrix[l * mapping->source_count + m] * gram_points_at(points, row, mapping->columns[m]);
    return sum;
}

/* Coordinates from .. to-1 of (A x[columns] - shift)/divide. */
static void map_part(const gram_mapping *mapping, const gram_points *points, int64_t row, int64_t from, int64_t to,
                     double *u)
{
    for (int64_t l = from; l < to; l++) {
        u[l - from] = source(mapping, points, row, l);
        if (mapping->shift) u[l - from] -= mapping->shift[l];
        if (mapping->divide) u[l - from] /= mapping->divide[l];
    }
}

void gram_mapping_point(const gram_mapping *mapping, const gram_points *points, int64_t row, double *u)
{
    map_part(mapping, points, row, 0, mapping->d, u);
    if (mapping->factor) solve_lower(mapping->d, mapping->factor, u);
}

/* Stores coordinates from .. to-1 of point i and adds their squares to *norm. */
static void store_part(const packing *job, int64_t i, int64_t from, int64_t to, const double *u, double *norm)
{
    gram_panels *panels = job->panels;
    const int64_t first = i / GRAM_PANEL * panels->d * GRAM_PANEL + i % GRAM_PANEL;
    for (int64_t l = from; l < to; l++) {
        const int64_t at = first + l * GRAM_PANEL;
        if (panels->single)
            panels->f32[at] = (float)u[l - from];
        else
            panels->f64[at] = u[l - from];
        const double rounded = panels->single ? (double)panels->f32[at] : u[l - from];
        *norm += rounded * rounded;
    }
}

static void clear_part(const packing *job, int64_t panel, int64_t from, int64_t to)
{
    gram_panels *panels = job->panels;
    const int64_t at = (panel * panels->d + from) * GRAM_PANEL, numbers = (to - from) * GRAM_PANEL;
    if (panels->single)
        memset(panels->f32 + at, 0, (size_t)numbers * sizeof(float));
    else
        memset(panels->f64 + at, 0, (size_t)numbers * sizeof(double));
}

static void store_norms(const packing *job, int64_t panel, const double *norms)
{
    for (int64_t i = 0; i < GRAM_PANEL; i++) {
        if (job->panels->single)
            job->panels->norms_f32[panel * GRAM_PANEL + i] = (float)norms[i];
        else
            job->panels->norms_f64[panel * GRAM_PANEL + i] = norms[i];
    }
}

/* Some columns after the other, all points of the panel in each: what is written then stays in the cache, and of very many
 * columns the work can be stopped in between. A factor needs whole points. */
static gram_status pack_panel(void *argument, const gram_worker *worker)
{
    const packing *job = argument;
    const int64_t first = worker->task * GRAM_PANEL, d = job->panels->d;
    const int64_t count = first + GRAM_PANEL < job->panels->n ? GRAM_PANEL : job->panels->n - first;
    const int64_t step = part_width(job->mapping);
    double norms[GRAM_PANEL] = {0}, *u = worker->scratch;
    for (int64_t from = 0; from < d; from += step) {
        const int64_t to = from + step < d ? from + step : d;
        if (from > 0 && gram_worker_stopped(worker)) return GRAM_OK;
        if (count < GRAM_PANEL) clear_part(job, worker->task, from, to);
        for (int64_t i = 0; i < count; i++) {
            const int64_t row = job->index ? job->index[first + i] : first + i;
            map_part(job->mapping, job->points, row, from, to, u);
            if (job->mapping->factor) solve_lower(d, job->mapping->factor, u);
            store_part(job, first + i, from, to, u, &norms[i]);
        }
    }
    if (job->norms) store_norms(job, worker->task, norms);
    return GRAM_OK;
}

/* Fewer numbers than this are packed in the time that starting a thread takes. */
enum { SMALL_PACKING = 4096 };

static gram_status take_arrays(gram_context *context, gram_panels *panels, int norms)
{
    gram_status status = GRAM_OK;
    const int64_t padded = panels->count * GRAM_PANEL;
    const size_t size = panels->single ? sizeof(float) : sizeof(double);
    int64_t numbers;
    FAIL_IF(!gram_size_multiply(padded, panels->d, &numbers), context, GRAM_ERROR_OVERFLOW,
            "packing %lld points of %lld columns: more than can be addressed", (long long)panels->n,
            (long long)panels->d);
    void **data = panels->single ? (void **)&panels->f32 : (void **)&panels->f64;
    void **norm = panels->single ? (void **)&panels->norms_f32 : (void **)&panels->norms_f64;
    TRY(gram_take(context, "packed points", numbers, size, data));
    if (norms) TRY(gram_take(context, "norms of points", padded, size, norm));
done:
    return status;
}

gram_status gram_panels_create(gram_context *context, const gram_points *points, int64_t count, const int64_t *index,
                               const gram_mapping *mapping, int single, int norms, gram_panels *panels)
{
    gram_status status = GRAM_OK;
    memset(panels, 0, sizeof *panels);
    panels->memory = context->memory;
    panels->n = index ? count : points->n;
    panels->count = (panels->n + GRAM_PANEL - 1) / GRAM_PANEL;
    panels->d = mapping->d;
    panels->single = single;
    TRY(take_arrays(context, panels, norms));
    packing job = {points, index, mapping, panels, norms};
    const gram_sweep sweep = {.what = "packing points",
                              .tasks = panels->count,
                              .scratch_bytes = (size_t)part_width(mapping) * sizeof(double),
                              .most_threads = panels->n * panels->d < SMALL_PACKING,
                              .run = pack_panel,
                              .argument = &job};
    TRY(gram_sweep_run(context, &sweep));
done:
    if (status < 0) gram_panels_destroy(panels);
    return status;
}

void gram_panels_destroy(gram_panels *panels)
{
    if (!panels->memory) return;
    gram_memory_give(panels->memory, panels->f64);
    gram_memory_give(panels->memory, panels->f32);
    gram_memory_give(panels->memory, panels->norms_f64);
    gram_memory_give(panels->memory, panels->norms_f32);
    memset(panels, 0, sizeof *panels);
}

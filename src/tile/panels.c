#include "tile/panels.h"

#include <string.h>

#include "base/sweep.h"

typedef struct packing {
    const gram_points *points;
    const int64_t *index;
    const gram_mapping *mapping;
    gram_panels *panels;
    int norms;
} packing;

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

void gram_mapping_point(const gram_mapping *mapping, const gram_points *points, int64_t row, double *u)
{
    for (int64_t l = 0; l < mapping->d; l++) {
        u[l] = source(mapping, points, row, l);
        if (mapping->shift) u[l] -= mapping->shift[l];
        if (mapping->divide) u[l] /= mapping->divide[l];
    }
    if (mapping->factor) solve_lower(mapping->d, mapping->factor, u);
}

static void store_point(const packing *job, int64_t i, const double *u)
{
    gram_panels *panels = job->panels;
    const int64_t first = i / GRAM_PANEL * panels->d * GRAM_PANEL + i % GRAM_PANEL;
    double norm = 0;
    for (int64_t l = 0; l < panels->d; l++) {
        const int64_t at = first + l * GRAM_PANEL;
        if (panels->single)
            panels->f32[at] = (float)u[l];
        else
            panels->f64[at] = u[l];
        const double rounded = panels->single ? (double)panels->f32[at] : u[l];
        norm += rounded * rounded;
    }
    if (!job->norms) return;
    if (panels->single)
        panels->norms_f32[i] = (float)norm;
    else
        panels->norms_f64[i] = norm;
}

static void clear_panel(const packing *job, int64_t panel)
{
    gram_panels *panels = job->panels;
    const int64_t at = panel * panels->d * GRAM_PANEL, numbers = panels->d * GRAM_PANEL;
    if (panels->single)
        memset(panels->f32 + at, 0, (size_t)numbers * sizeof(float));
    else
        memset(panels->f64 + at, 0, (size_t)numbers * sizeof(double));
    if (!job->norms) return;
    if (panels->single)
        memset(panels->norms_f32 + panel * GRAM_PANEL, 0, GRAM_PANEL * sizeof(float));
    else
        memset(panels->norms_f64 + panel * GRAM_PANEL, 0, GRAM_PANEL * sizeof(double));
}

static gram_status pack_panel(void *argument, const gram_worker *worker)
{
    const packing *job = argument;
    const int64_t from = worker->task * GRAM_PANEL;
    const int64_t to = from + GRAM_PANEL < job->panels->n ? from + GRAM_PANEL : job->panels->n;
    if (to - from < GRAM_PANEL) clear_panel(job, worker->task);
    for (int64_t i = from; i < to; i++) {
        gram_mapping_point(job->mapping, job->points, job->index ? job->index[i] : i, worker->scratch);
        store_point(job, i, worker->scratch);
    }
    return GRAM_OK;
}

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
                              .scratch_bytes = (size_t)panels->d * sizeof(double),
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

#include "tile/width_family.h"

typedef struct filling {
    const gram_family *family;
    const gram_engine *engine;
} filling;

/* Where a strip goes, and how much of it lies inside of the matrix. */
typedef struct place {
    int64_t first_row, first_column, rows, columns;
} place;

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#define REAL double
#define NAME(name) name##_f64
#include "tile/width_family_body.h"
#undef REAL
#undef NAME

#define REAL float
#define NAME(name) name##_f32
#include "tile/width_family_body.h"
#undef REAL
#undef NAME

static void fill_strip(const filling *job, void *scratch, int64_t row_panel, int row, int64_t column_panel)
{
    const gram_family *family = job->family;
    const int64_t n = job->engine->n;
    const place at = {.first_row = row_panel * GRAM_PANEL + row,
                      .first_column = column_panel * GRAM_PANEL,
                      .rows = least(GRAM_STRIP, n - row_panel * GRAM_PANEL - row),
                      .columns = least(GRAM_PANEL, n - column_panel * GRAM_PANEL)};
    for (int k = 0; k < family->count; k++) {
        const double *strip = k ? gram_engine_other_f64(job->engine, scratch, k)
                                : gram_engine_strip_f64(job->engine, scratch, row_panel, row, column_panel);
        if (family->f64)
            write_f64(n, &at, strip, family->f64[k]);
        else
            write_f32(n, &at, strip, family->f32[k]);
    }
}

/* A task is a panel of rows against some panels of columns. Not against all of them: its mirror image would touch every page
 * of every matrix, and fresh memory of gigabytes takes seconds, in which nobody could stop the work. */
enum { COLUMN_PANELS = 8 };

static int64_t tasks_of(int64_t panel)
{
    return panel / COLUMN_PANELS + 1;
}

static gram_status fill_task(void *argument, const gram_worker *worker)
{
    const filling *job = argument;
    int64_t panel = gram_engine_row_panels(job->engine) - 1, part = worker->task;
    for (; part >= tasks_of(panel); panel--) part -= tasks_of(panel); /* the longest first */
    const int64_t end = least((part + 1) * COLUMN_PANELS, panel + 1);
    gram_engine_begin(job->engine, worker->scratch, worker);
    for (int64_t column = part * COLUMN_PANELS; column < end; column++)
        for (int row = 0; row < GRAM_PANEL && panel * GRAM_PANEL + row < job->engine->n; row += GRAM_STRIP)
            fill_strip(job, worker->scratch, panel, row, column);
    return GRAM_OK;
}

gram_status gram_family_fill(gram_context *context, const gram_family *family)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = NULL;
    const gram_engine_request request = {.kernel = family->kernels[0],
                                         .other_count = family->count - 1,
                                         .others = family->kernels + 1,
                                         .x = family->x,
                                         .always_double = 1};
    TRY(gram_engine_create(context, &request, &engine));
    const filling job = {family, engine};
    int64_t tasks = 0;
    for (int64_t panel = 0; panel < gram_engine_row_panels(engine); panel++) tasks += tasks_of(panel);
    const gram_sweep sweep = {.what = "gram matrices",
                              .tasks = tasks,
                              .scratch_bytes = gram_engine_scratch(engine),
                              .run = fill_task,
                              .argument = (void *)(uintptr_t)&job,
                              .share_before = family->share_before,
                              .share_after = family->share_after};
    TRY(gram_sweep_run(context, &sweep));
done:
    gram_engine_destroy(engine);
    return status;
}

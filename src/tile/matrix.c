/* The Gram matrix written out: whole, in selected columns, its diagonal. */
#define _DEFAULT_SOURCE
#include <stdint.h>
#include <sys/mman.h>

#include "tile/fill.h"

typedef struct writing {
    const gram_engine *engine;
    double *out;
    int64_t ld;
    int64_t first_panel; /* of the rows that are written */
} writing;

/* Task number -> tile (i, j), j <= i, of a lower triangle taken row by row. */
static void triangle_place(int64_t task, int64_t *i, int64_t *j)
{
    int64_t row = 0, step = 1;
    while (step * (step + 1) / 2 <= task) step *= 2;
    for (; step > 0; step /= 2)
        if ((row + step) * (row + step + 1) / 2 <= task) row += step;
    *i = row;
    *j = task - row * (row + 1) / 2;
}

static gram_status write_symmetric_tile(void *argument, const gram_worker *worker)
{
    const writing *job = argument;
    int64_t i, j;
    triangle_place(worker->task, &i, &j);
    gram_engine_begin(job->engine, worker->scratch, worker);
    double *block = job->out + i * GRAM_PANEL * job->ld + j * GRAM_PANEL;
    double *mirror = job->out + j * GRAM_PANEL * job->ld + i * GRAM_PANEL;
    gram_fill_tile(job->engine, worker->scratch, i, j, block, job->ld, i == j ? NULL : mirror, job->ld);
    if (i == j) gram_fill_mirror(job->engine, i, block, job->ld);
    return GRAM_OK;
}

static gram_status write_tile(void *argument, const gram_worker *worker)
{
    const writing *job = argument;
    const int64_t columns = gram_engine_column_panels(job->engine);
    const int64_t i = job->first_panel + worker->task / columns, j = worker->task % columns;
    gram_engine_begin(job->engine, worker->scratch, worker);
    gram_fill_tile(job->engine, worker->scratch, i, j, job->out + i * GRAM_PANEL * job->ld + j * GRAM_PANEL, job->ld,
                   NULL, 0);
    return GRAM_OK;
}

/* Fresh memory is first touched here: huge pages make that four times faster. A hint, of no consequence otherwise. */
static void advise_huge_pages(double *out, int64_t numbers)
{
    enum { HUGE_PAGE = 2 << 20 };
    const uintptr_t from = ((uintptr_t)out + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    const uintptr_t to = (uintptr_t)(out + numbers) / HUGE_PAGE * HUGE_PAGE;
    if (to > from) (void)madvise((void *)from, to - from, MADV_HUGEPAGE);
}

static gram_status check_output(gram_context *context, const char *function, const gram_engine *engine,
                                const double *out, int64_t ld)
{
    gram_status status = GRAM_OK;
    int64_t numbers, bytes;
    FAIL_IF(!out, context, GRAM_ERROR_ARGUMENT, "%s: out is NULL", function);
    FAIL_IF(ld < engine->m, context, GRAM_ERROR_ARGUMENT, "%s: ld = %lld is less than the %lld columns", function,
            (long long)ld, (long long)engine->m);
    FAIL_IF(!gram_size_multiply(engine->n, ld, &numbers) ||
                !gram_size_multiply(numbers, (int64_t)sizeof(double), &bytes),
            context, GRAM_ERROR_OVERFLOW, "%s: %lld rows of %lld numbers are more than can be addressed", function,
            (long long)engine->n, (long long)ld);
done:
    return status;
}

/* Rows `first` to `end` - 1 of it, and those that share panels with them; all of them if it is symmetric. */
static gram_status write_matrix(gram_context *context, const char *function, const gram_engine_request *request,
                                int64_t first, int64_t end, double *out, int64_t ld)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = NULL;
    TRY(gram_engine_create(context, request, &engine));
    TRY(check_output(context, function, engine, out, ld));
    const int64_t rows = gram_engine_row_panels(engine), columns = gram_engine_column_panels(engine);
    const int64_t from = first / GRAM_PANEL, to = (end + GRAM_PANEL - 1) / GRAM_PANEL;
    advise_huge_pages(out + first * ld, (end - first) * ld);
    writing job = {.engine = engine, .out = out, .ld = ld, .first_panel = from};
    const gram_sweep sweep = {.what = "gram matrix",
                              .tasks = engine->symmetric ? rows * (rows + 1) / 2 : (to - from) * columns,
                              .scratch_bytes = gram_engine_scratch(engine),
                              .run = engine->symmetric ? write_symmetric_tile : write_tile,
                              .argument = &job};
    if (sweep.tasks > 0) TRY(gram_sweep_run(context, &sweep));
done:
    gram_engine_destroy(engine);
    return status;
}

gram_status gram_matrix(gram_context *context, const gram_kernel *kernel, const gram_points *x, const gram_points *y,
                        double *out, int64_t ld)
{
    if (!context) return GRAM_ERROR_ARGUMENT;
    const gram_engine_request request = {.kernel = kernel, .x = x, .y = y};
    return write_matrix(context, "matrix", &request, 0, x ? x->n : 0, out, ld);
}

gram_status gram_matrix_columns_part(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                     int64_t count, const int64_t *index, int64_t first, int64_t end, double *out,
                                     int64_t ld)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    const gram_engine_request request = {.kernel = kernel, .x = x, .count = count, .index = index};
    FAIL_IF(count < 1, context, GRAM_ERROR_ARGUMENT, "matrix_columns: count = %lld, need at least one column",
            (long long)count);
    FAIL_IF(!index, context, GRAM_ERROR_ARGUMENT, "matrix_columns: index is NULL");
    TRY(write_matrix(context, "matrix_columns", &request, first, end, out, ld));
done:
    return status;
}

gram_status gram_matrix_columns(gram_context *context, const gram_kernel *kernel, const gram_points *x, int64_t count,
                                const int64_t *index, double *out, int64_t ld)
{
    return gram_matrix_columns_part(context, kernel, x, count, index, 0, x ? x->n : 0, out, ld);
}

/* The diagonal from the same strips as the matrix, so that it has the same bits. */
static gram_status write_diagonal(void *argument, const gram_worker *worker)
{
    const writing *job = argument;
    const int64_t panel = worker->task;
    gram_engine_begin(job->engine, worker->scratch, worker);
    for (int row = 0; row < GRAM_PANEL; row += GRAM_STRIP) {
        const int64_t first = panel * GRAM_PANEL + row;
        if (first >= job->engine->n) break;
        const double *f64 = NULL;
        const float *f32 = NULL;
        if (job->engine->single)
            f32 = gram_engine_strip_f32(job->engine, worker->scratch, panel, row, panel);
        else
            f64 = gram_engine_strip_f64(job->engine, worker->scratch, panel, row, panel);
        for (int i = 0; i < GRAM_STRIP && first + i < job->engine->n; i++) {
            const int at = i * GRAM_PANEL + row + i;
            job->out[first + i] = f64 ? f64[at] : (double)f32[at];
        }
    }
    return GRAM_OK;
}

gram_status gram_engine_diagonal(gram_context *context, const gram_engine *engine, double *out)
{
    writing job = {.engine = engine, .out = out, .ld = 1};
    const gram_sweep sweep = {.what = "diagonal",
                              .tasks = gram_engine_row_panels(engine),
                              .scratch_bytes = gram_engine_scratch(engine),
                              .run = write_diagonal,
                              .argument = &job};
    return gram_sweep_run(context, &sweep);
}

gram_status gram_fill_diagonal(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                               int always_double, double *out)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = NULL;
    const gram_engine_request request = {.kernel = kernel, .x = x, .always_double = always_double};
    FAIL_IF(!out, context, GRAM_ERROR_ARGUMENT, "matrix_diagonal: out is NULL");
    TRY(gram_engine_create(context, &request, &engine));
    TRY(gram_engine_diagonal(context, engine, out));
done:
    gram_engine_destroy(engine);
    return status;
}

gram_status gram_matrix_diagonal(gram_context *context, const gram_kernel *kernel, const gram_points *x, double *out)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    const int64_t piece = x ? gram_packed_rows(x->d) : 0;
    if (!x || !out || x->functionals || x->n <= piece) return gram_fill_diagonal(context, kernel, x, 0, out);
    for (int64_t first = 0; first < x->n && status >= 0; first += piece) {
        gram_points *part = NULL;
        status = gram_points_part(context, x, first, x->n - first < piece ? x->n - first : piece, &part);
        if (status >= 0) status = gram_fill_diagonal(context, kernel, part, 0, out + first);
        gram_points_release(part);
    }
    return status;
}

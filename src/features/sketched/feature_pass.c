/* A task has 256 rows, in strips of 32 whose features stay in the second level of the cache between the two products that use them; its sums are its own.
 * The sums of 64 tasks are then added in their order. */
#include "features/sketched/feature_pass.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/sweep.h"
#include "points/points.h"

enum { STRIP = GRAM_FEATURE_STRIP, ROWS = 256, TASKS = 64 };

typedef struct pass_work {
    const gram_feature_pass *pass;
    gram_feature_strips strips;
    int64_t p, first; /* rows of this round begin there */
    float *narrow;    /* V in f32 */
    double *parts;    /* for each task p x columns, and its sums */
    int64_t part;     /* numbers of one */
} pass_work;

/* u = z V; then out += z'u: by vectors where there is one column. */
static void values_f64(const pass_work *w, const double *z, double *u)
{
    const int p = (int)w->p, k = (int)w->pass->columns;
    if (k == 1)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, STRIP, p, 1, z, p, w->pass->v, 1, 0, u, 1);
    else
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, STRIP, k, p, 1, z, p, w->pass->v, k, 0, u, k);
}

static void add_f64(const pass_work *w, const double *z, const double *u, double *out)
{
    const int p = (int)w->p, k = (int)w->pass->columns;
    if (k == 1)
        cblas_dgemv(CblasRowMajor, CblasTrans, STRIP, p, 1, z, p, u, 1, 1, out, 1);
    else
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, p, k, STRIP, 1, z, p, u, k, 1, out, k);
}

static void values_f32(const pass_work *w, const float *z, float *u)
{
    const int p = (int)w->p, k = (int)w->pass->columns;
    if (k == 1)
        cblas_sgemv(CblasRowMajor, CblasNoTrans, STRIP, p, 1, z, p, w->narrow, 1, 0, u, 1);
    else
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, STRIP, k, p, 1, z, p, w->narrow, k, 0, u, k);
}

static void add_f32(const pass_work *w, const float *z, const float *u, float *out)
{
    const int p = (int)w->p, k = (int)w->pass->columns;
    if (k == 1)
        cblas_sgemv(CblasRowMajor, CblasTrans, STRIP, p, 1, z, p, u, 1, 1, out, 1);
    else
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, p, k, STRIP, 1, z, p, u, k, 1, out, k);
}

/* What a task works in, one array after the other. */
typedef struct room {
    double *strip, *u;
    void *z;
    float *narrow_u, *sum;
} room;

static int64_t lines(int64_t numbers)
{
    return (numbers + 7) / 8 * 8;
}

static int64_t room_size(const pass_work *w)
{
    const int64_t k = w->pass->columns;
    return lines(w->strips.scratch) + lines(STRIP * w->p) + 2 * lines(STRIP * k) + lines(w->p * k);
}

static room room_of(const pass_work *w, double *scratch)
{
    const int64_t k = w->pass->columns;
    room r = {.strip = scratch};
    r.z = scratch + lines(w->strips.scratch);
    r.u = (double *)r.z + lines(STRIP * w->p);
    r.narrow_u = (float *)(r.u + lines(STRIP * k));
    r.sum = (float *)(r.u + 2 * lines(STRIP * k));
    return r;
}

/* One strip of `here` rows from row i on; those beyond are features that count for nothing. */
static void run_strip(const pass_work *w, const room *r, int64_t i, int64_t here, double *out, double *sums)
{
    const gram_feature_pass *pass = w->pass;
    const int64_t k = pass->columns;
    w->strips.map->type->put_strip(&w->strips, here, pass->x->f64 + i * pass->x->ld, pass->x->ld, r->z, w->p, r->strip);
    memset(r->u, 0, (size_t)(STRIP * k) * sizeof *r->u);
    if (pass->v && pass->single) {
        values_f32(w, r->z, r->narrow_u);
        for (int64_t j = 0; j < here * k; j++) r->u[j] = (double)r->narrow_u[j];
    } else if (pass->v) {
        values_f64(w, r->z, r->u);
    }
    for (int64_t j = 0; j < here; j++) pass->row(pass->argument, i + j, r->u + j * k, sums);
    memset(r->u + here * k, 0, (size_t)((STRIP - here) * k) * sizeof *r->u);
    for (int64_t j = 0; j < STRIP * k && pass->single; j++) r->narrow_u[j] = (float)r->u[j];
    if (pass->single)
        add_f32(w, r->z, r->narrow_u, r->sum);
    else
        add_f64(w, r->z, r->u, out);
}

static gram_status pass_task(void *argument, const gram_worker *worker)
{
    const pass_work *w = argument;
    const gram_feature_pass *pass = w->pass;
    const int64_t from = w->first + worker->task * ROWS, to = from + ROWS < pass->x->n ? from + ROWS : pass->x->n,
                  numbers = w->p * pass->columns;
    const room r = room_of(w, worker->scratch);
    double *out = w->parts + worker->task * w->part;
    memset(out, 0, (size_t)w->part * sizeof *out);
    memset(r.z, 0, (size_t)(STRIP * w->p) * sizeof(double)); /* a short strip leaves rows that must be finite */
    memset(r.sum, 0, (size_t)numbers * sizeof *r.sum);
    for (int64_t i = from; i < to; i += STRIP) run_strip(w, &r, i, to - i < STRIP ? to - i : STRIP, out, out + numbers);
    for (int64_t j = 0; j < numbers && pass->single; j++) out[j] = (double)r.sum[j];
    return GRAM_OK;
}

static gram_status run_rounds(gram_context *context, pass_work *w)
{
    gram_status status = GRAM_OK;
    const gram_feature_pass *pass = w->pass;
    const int64_t n = pass->x->n, numbers = w->p * pass->columns;
    for (w->first = 0; w->first < n; w->first += ROWS * TASKS) {
        const int64_t rest = (n - w->first + ROWS - 1) / ROWS, tasks = rest < TASKS ? rest : TASKS;
        const gram_sweep sweep = {.what = pass->what,
                                  .tasks = tasks,
                                  .scratch_bytes = (size_t)room_size(w) * sizeof(double),
                                  .run = pass_task,
                                  .argument = w,
                                  .share_before = (double)w->first / (double)n,
                                  .share_after = fmin((double)(w->first + tasks * ROWS) / (double)n, 1)};
        TRY(gram_sweep_run(context, &sweep));
        for (int64_t t = 0; t < tasks; t++) {
            const double *part = w->parts + t * w->part;
            for (int64_t j = 0; j < numbers; j++) pass->out[j] += part[j];
            for (int64_t j = 0; j < pass->sum_count; j++) pass->sums[j] += part[numbers + j];
        }
    }
done:
    return status;
}

gram_status gram_feature_pass_run(gram_context *context, const gram_feature_pass *pass)
{
    gram_status status = GRAM_OK;
    const int64_t p = pass->map->report.dimension, numbers = p * pass->columns;
    pass_work w = {.pass = pass, .p = p, .part = lines(numbers + pass->sum_count)};
    TRY(pass->map->type->open_strips(context, pass->map, pass->single, &w.strips));
    TRY(gram_take(context, pass->what, TASKS * w.part, sizeof *w.parts, (void **)&w.parts));
    TRY(gram_take(context, pass->what, numbers, sizeof *w.narrow, (void **)&w.narrow));
    for (int64_t j = 0; j < numbers && pass->v; j++) w.narrow[j] = (float)pass->v[j];
    memset(pass->out, 0, (size_t)numbers * sizeof *pass->out);
    if (pass->sum_count > 0) memset(pass->sums, 0, (size_t)pass->sum_count * sizeof *pass->sums);
    TRY(run_rounds(context, &w));
done:
    gram_give(context, w.narrow);
    gram_give(context, w.parts);
    gram_give(context, w.strips.turned);
    return status;
}

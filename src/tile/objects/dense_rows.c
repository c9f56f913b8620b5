#include "tile/objects/dense_rows.h"

#include <math.h>
#include <string.h>

#include "base/sweep.h"

/* Shares of values that are not 0 from which rows are multiplied with their zeros. Time alone would have it sooner: of 1,500 rows of 300 and of 2,000 columns both ways take as
 * long at a share of 0.07 (f32) and 0.13 (f64), and at these shares zeros are 4.8 and 4.5 times faster (processor time, one core). It is the room that is kept: of a row of d
 * columns panels have 4 d or 8 d bytes and the row 12 d times the share, so that they take at most 1.8 times as much. */
static const double LEAST_SHARE_F32 = 0.25, LEAST_SHARE_F64 = 0.375;

/* Fewer rows would be panels of little but padding. */
enum { FEWEST = GRAM_PANEL / 2 };

static double share_of(const gram_row_choice *choice)
{
    double values = 0;
    for (int64_t i = 0; i < choice->count; i++)
        values += (double)(choice->rows->start[choice->place[i] + 1] - choice->rows->start[choice->place[i]]);
    return values / ((double)choice->count * (double)choice->rows->d);
}

static int fits_single(const gram_row_choice *choice)
{
    const double most = 1 << 24;
    for (int64_t i = 0; i < choice->count; i++) {
        double square = 0;
        for (int64_t k = choice->rows->start[choice->place[i]]; k < choice->rows->start[choice->place[i] + 1]; k++) {
            const double value = choice->rows->value[k];
            if (!(fabs(value) < most) || value != (double)(int32_t)value) return 0;
            square += value * value;
        }
        if (!(square < most)) return 0;
    }
    return 1;
}

int gram_rows_are_dense(const gram_row_choice *x, const gram_row_choice *y, int *single)
{
    const double share = fmin(share_of(x), share_of(y));
    if (x->count < FEWEST || y->count < FEWEST) return 0;
    *single = share >= LEAST_SHARE_F32 && fits_single(x) && (x->place == y->place || fits_single(y));
    return share >= (*single ? LEAST_SHARE_F32 : LEAST_SHARE_F64);
}

/* ---- packing ---- */

typedef struct packing {
    const gram_row_choice *choice;
    gram_panels *panels;
} packing;

static gram_status pack_panel(void *argument, const gram_worker *worker)
{
    const packing *job = argument;
    const gram_row_choice *c = job->choice;
    const int64_t from = worker->task * GRAM_PANEL, first = from * job->panels->d;
    const size_t size = (size_t)(job->panels->d * GRAM_PANEL);
    float *f32 = job->panels->single ? job->panels->f32 + first : NULL;
    double *f64 = f32 ? NULL : job->panels->f64 + first;
    if (f32)
        memset(f32, 0, size * sizeof *f32);
    else
        memset(f64, 0, size * sizeof *f64);
    for (int64_t i = from; i < from + GRAM_PANEL && i < c->count; i++)
        for (int64_t k = c->rows->start[c->place[i]]; k < c->rows->start[c->place[i] + 1]; k++) {
            const int64_t at = (int64_t)c->rows->index[k] * GRAM_PANEL + i - from;
            if (f32)
                f32[at] = (float)c->rows->value[k];
            else
                f64[at] = c->rows->value[k];
        }
    return GRAM_OK;
}

gram_status gram_dense_rows_pack(gram_context *context, const gram_row_choice *choice, int single, gram_panels *panels)
{
    gram_status status = GRAM_OK;
    const int64_t d = choice->rows->d, count = (choice->count + GRAM_PANEL - 1) / GRAM_PANEL;
    *panels = (gram_panels){.n = choice->count,
                            .count = count,
                            .d = d,
                            .single = single,
                            .memory = context->memory}; /* which the owner of the panels holds */
    TRY(gram_take(context, "rows with their zeros", count * GRAM_PANEL * d, single ? sizeof(float) : sizeof(double),
                  single ? (void **)&panels->f32 : (void **)&panels->f64));
    packing job = {choice, panels};
    const gram_sweep sweep = {
        .what = "packing rows with their zeros", .tasks = count, .run = pack_panel, .argument = &job};
    TRY(gram_sweep_run(context, &sweep));
done:
    return status;
}

/* ---- strips ---- */

void gram_dense_rows_dot(const gram_strips *strips, const gram_panels *x, const gram_panels *y, int64_t row_panel,
                         int row, int64_t column_panel, double *out)
{
    if (!x->single) {
        strips->f64.dot(x->d, gram_panels_f64(x, row_panel) + row, gram_panels_f64(y, column_panel), out);
        return;
    }
    _Alignas(64) float narrow[GRAM_STRIP_SIZE];
    strips->f32.dot(x->d, gram_panels_f32(x, row_panel) + row, gram_panels_f32(y, column_panel), narrow);
    for (int i = 0; i < GRAM_STRIP_SIZE; i++) out[i] = narrow[i];
}

#include "base/sparse/csr.h"

#include <string.h>

#include "base/sweep.h"

enum { BLOCK = 1024, RANGES = 4 };

gram_status gram_csr_take(gram_context *context, int64_t rows, int64_t columns, int64_t each, gram_csr *csr)
{
    gram_status status = GRAM_OK;
    *csr = (gram_csr){.rows = rows, .columns = columns};
    TRY(gram_take(context, "sparse rows", rows + 1, sizeof *csr->start, (void **)&csr->start));
    TRY(gram_take(context, "sparse rows", rows * each, sizeof *csr->column, (void **)&csr->column));
    TRY(gram_take(context, "sparse rows", rows * each, sizeof *csr->value, (void **)&csr->value));
    for (int64_t i = 0; i <= rows; i++) csr->start[i] = i * each;
done:
    return status;
}

void gram_csr_free(gram_context *context, gram_csr *csr)
{
    gram_give(context, csr->start);
    gram_give(context, csr->column);
    gram_give(context, csr->value);
    *csr = (gram_csr){0};
}

double gram_csr_bytes(double rows, double each)
{
    return rows * (12 * each + 8);
}

typedef struct product {
    const gram_csr *a;
    const double *in;
    double *out;
    int64_t each;
} product;

static gram_status rows_task(void *argument, const gram_worker *worker)
{
    const product *p = argument;
    const int64_t from = worker->task * BLOCK, to = from + BLOCK < p->a->rows ? from + BLOCK : p->a->rows;
    for (int64_t i = from; i < to; i++) p->out[i] = gram_csr_dot(p->a, i, p->in);
    return GRAM_OK;
}

gram_status gram_csr_times(gram_context *context, const gram_csr *a, const double *v, double *out)
{
    product job = {a, v, out, 0};
    const gram_sweep sweep = {
        .what = "sparse rows", .tasks = (a->rows + BLOCK - 1) / BLOCK, .run = rows_task, .argument = &job};
    return gram_sweep_run(context, &sweep);
}

static gram_status ranges_task(void *argument, const gram_worker *worker)
{
    const product *p = argument;
    const int64_t from = worker->task * RANGES, to = from + RANGES < p->each ? from + RANGES : p->each,
                  width = p->a->columns / p->each;
    memset(p->out + from * width, 0, (size_t)((to - from) * width) * sizeof *p->out);
    for (int64_t i = 0; i < p->a->rows; i++)
        for (int64_t k = i * p->each + from; k < i * p->each + to; k++)
            p->out[p->a->column[k]] += p->in[i] * p->a->value[k];
    return GRAM_OK;
}

gram_status gram_csr_transposed_times(gram_context *context, const gram_csr *a, const double *u, double *out)
{
    product job = {a, u, out, a->start[1]};
    const gram_sweep sweep = {
        .what = "sparse rows", .tasks = (job.each + RANGES - 1) / RANGES, .run = ranges_task, .argument = &job};
    return gram_sweep_run(context, &sweep);
}

/* Blocks of the tangent kernel of a network. The gradient by the weights of a layer is the outer product of dz_l and a_(l-1), so
 *
 *     H(x, y) = sum_l (c_l^2 a_(l-1)(x).a_(l-1)(y) + e_l^2) (dz_l(x).dz_l(y)):
 *
 * all a and dz are made once, in the first round of a sweep, and in the second each task owns a tile of H and has two matrix products for a
 * layer. */
#include <cblas.h>
#include <inttypes.h>
#include <string.h>

#include "solve/network/network.h"

enum { TILE = 128 };

typedef struct tangent_job {
    const gram_network *net;
    const gram_points *x, *y; /* the same for a set with itself */
    gram_batch rows, columns;
    int64_t tiles[2];
    int64_t output, outputs; /* from which on, how many */
    double *out;
    int64_t ldo;
    const gram_vecmath_f64 *v;
} tangent_job;

static int64_t end_of(int64_t from, int64_t n)
{
    return n - from < TILE ? n : from + TILE;
}

/* a and dz of one tile of points; a has been made with the first output. */
static void make_tile(const tangent_job *job, gram_batch batch, const gram_points *x, int64_t tile, int64_t output,
                      int first)
{
    const int64_t from = tile * TILE, to = end_of(from, x->n), m = job->net->options.outputs;
    double *d = gram_batch_output_delta(&batch);
    gram_batch_gather(&batch, x, NULL, 0, from, to);
    if (first) gram_batch_forward(&batch, job->v, from, to, NULL, 0);
    for (int64_t i = from; i < to; i++)
        for (int64_t o = 0; o < m; o++) d[i * m + o] = o == output;
    gram_batch_backward(&batch, from, to);
}

/* p = x y' of rows from two arrays */
static void products(int64_t rows, int64_t columns, int64_t inner, const double *x, int64_t ldx, const double *y,
                     int64_t ldy, double *p)
{
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)columns, (int)inner, 1, x, (int)ldx, y,
                (int)ldy, 0, p, TILE);
}

static void add_layer(const tangent_job *job, int64_t l, int64_t i0, int64_t j0, double *scratch)
{
    const gram_layer *layer = &job->net->layers[l];
    const int64_t rows = end_of(i0, job->x->n) - i0, columns = end_of(j0, job->y->n) - j0, out = layer->out;
    const double share = 1 / (double)job->outputs, c = layer->factor * layer->factor, e = layer->bias * layer->bias;
    double *a = scratch, *d = scratch + TILE * TILE;
    int64_t ldx, ldy;
    const double *x = gram_batch_below(&job->rows, l, &ldx), *y = gram_batch_below(&job->columns, l, &ldy);
    products(rows, columns, layer->in, x + i0 * ldx, ldx, y + j0 * ldy, ldy, a);
    products(rows, columns, out, gram_batch_delta(&job->rows, l) + i0 * out, out,
             gram_batch_delta(&job->columns, l) + j0 * out, out, d);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            job->out[(i0 + i) * job->ldo + j0 + j] += share * (c * a[i * TILE + j] + e) * d[i * TILE + j];
}

/* Tiles on and below the diagonal of a set with itself are mirrored once they are complete. */
static void mirror(const tangent_job *job, int64_t i0, int64_t j0)
{
    for (int64_t i = i0; i < end_of(i0, job->x->n); i++)
        for (int64_t j = j0; j < end_of(j0, job->y->n) && j < i; j++)
            job->out[j * job->ldo + i] = job->out[i * job->ldo + j];
}

static void pair_task(const tangent_job *job, int64_t task, int64_t pass, double *scratch)
{
    const int64_t i0 = task / job->tiles[1] * TILE, j0 = task % job->tiles[1] * TILE;
    const int same = job->x == job->y;
    if (i0 >= job->x->n || (same && j0 > i0)) return;
    for (int64_t i = i0; i < end_of(i0, job->x->n) && pass == 0; i++)
        memset(job->out + i * job->ldo + j0, 0, (size_t)(end_of(j0, job->y->n) - j0) * sizeof(double));
    for (int64_t l = 0; l < job->net->count; l++) add_layer(job, l, i0, j0, scratch);
    if (same && pass == job->outputs - 1) mirror(job, i0, j0);
}

static gram_status tangent_task(void *argument, const gram_worker *worker)
{
    const tangent_job *job = argument;
    const int64_t pass = worker->round / 2, task = worker->task;
    if (worker->round % 2 == 1)
        pair_task(job, task, pass, worker->scratch);
    else if (task < job->tiles[0])
        make_tile(job, job->rows, job->x, task, job->output + pass, pass == 0);
    else if (job->x != job->y && task - job->tiles[0] < job->tiles[1])
        make_tile(job, job->columns, job->y, task - job->tiles[0], job->output + pass, pass == 0);
    return GRAM_OK;
}

static gram_status make_batch(gram_context *context, const gram_network *net, const gram_points *x, double **numbers,
                              gram_batch *batch)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "tangent kernel: layers", gram_batch_numbers(net, x->n), sizeof **numbers,
                  (void **)numbers));
    *batch = gram_batch_over(net, x->n, *numbers);
    if (!x->f64) return GRAM_OK;
    batch->in = x->f64;
    batch->ldin = x->ld;
done:
    return status;
}

gram_status gram_network_tangent_matrix(gram_context *context, const gram_network *network, int64_t output,
                                        const gram_points *x, const gram_points *y, double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    double *rows = NULL, *columns = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    if (!y) y = x;
    TRY(gram_network_check_points(context, "network_tangent_matrix", network, x, "x"));
    TRY(gram_network_check_points(context, "network_tangent_matrix", network, y, "y"));
    const int64_t m = network->options.outputs;
    FAIL_IF(output < -1 || output >= m, context, GRAM_ERROR_ARGUMENT,
            "network_tangent_matrix: output = %" PRId64 " is neither -1 nor one of %" PRId64, output, m);
    FAIL_IF(!out, context, GRAM_ERROR_ARGUMENT, "network_tangent_matrix: out is NULL");
    FAIL_IF(ldo < y->n, context, GRAM_ERROR_ARGUMENT,
            "network_tangent_matrix: ldo = %" PRId64 " is less than the %" PRId64 " columns", ldo, y->n);
    tangent_job job = {.net = network, .x = x, .y = y, .out = out, .ldo = ldo, .v = &context->vecmath->f64};
    job.output = output < 0 ? 0 : output;
    job.outputs = output < 0 ? m : 1;
    job.tiles[0] = (x->n + TILE - 1) / TILE;
    job.tiles[1] = (y->n + TILE - 1) / TILE;
    TRY(make_batch(context, network, x, &rows, &job.rows));
    if (x == y)
        job.columns = job.rows;
    else
        TRY(make_batch(context, network, y, &columns, &job.columns));
    const int64_t pairs = job.tiles[0] * job.tiles[1], both = job.tiles[0] + job.tiles[1];
    TRY(gram_sweep_run(context, &(gram_sweep){.what = "tangent kernel",
                                              .tasks = pairs > both ? pairs : both,
                                              .rounds = 2 * job.outputs,
                                              .scratch_bytes = (size_t)2 * TILE * TILE * sizeof(double),
                                              .run = tangent_task,
                                              .argument = &job}));
done:
    gram_give(context, rows);
    gram_give(context, columns);
    return status;
}

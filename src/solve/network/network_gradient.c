/* Values, products with the Jacobian, and products with its transpose: sums over rows of outer products, made block by block of the
 * weights, each by one task and over all rows in memory, so that nothing has to be added up afterwards. */
#include <cblas.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "solve/network/network.h"
#include <gram/random.h>

enum { VALUE_TILE = 64, BLOCK_OUT = 128, BLOCK_IN = 512 };

/* ---- values ---- */

typedef struct value_job {
    const gram_network *net;
    const gram_points *x;
    const double *weights;
    const double *u; /* NULL: none */
    int added;       /* to values that are there already, */
    double sign;     /* times this */
    double *values;
    int64_t ldv;
    const gram_vecmath_f64 *v;
} value_job;

/* A tile always has the same number of rows, the last one filled up with zeros: a row's value does not depend on which rows it is
 * computed with. */
static gram_status value_task(void *argument, const gram_worker *worker)
{
    const value_job *job = argument;
    const int64_t m = job->net->options.outputs, first = worker->task * VALUE_TILE;
    const int64_t rows = job->x->n - first < VALUE_TILE ? job->x->n - first : VALUE_TILE;
    gram_batch batch = gram_batch_over(job->net, VALUE_TILE, worker->scratch);
    batch.weights = job->weights;
    for (int64_t i = 0; i < VALUE_TILE; i++)
        for (int64_t l = 0; l < job->x->d; l++)
            batch.gathered[i * job->x->d + l] = i < rows ? gram_points_at(job->x, first + i, l) : 0;
    gram_batch_forward(&batch, job->v, 0, VALUE_TILE, job->u, 0);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t o = 0; o < m; o++) {
            double *value = job->values + (first + i) * job->ldv + o;
            *value = (job->added ? *value : 0) + job->sign * batch.out[i * m + o];
        }
    return GRAM_OK;
}

static gram_status run_values(gram_context *context, const char *what, value_job *job)
{
    job->v = &context->vecmath->f64;
    return gram_sweep_run(
        context, &(gram_sweep){.what = what,
                               .tasks = (job->x->n + VALUE_TILE - 1) / VALUE_TILE,
                               .scratch_bytes = (size_t)gram_batch_numbers(job->net, VALUE_TILE) * sizeof(double),
                               .run = value_task,
                               .argument = job});
}

static gram_status check_values(gram_context *context, const char *function, const gram_network *network,
                                const gram_points *x, const double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    TRY(gram_network_check_points(context, function, network, x, "x"));
    FAIL_IF(!values, context, GRAM_ERROR_ARGUMENT, "%s: values is NULL", function);
    FAIL_IF(ldv < network->options.outputs, context, GRAM_ERROR_ARGUMENT,
            "%s: ldv = %" PRId64 " is less than the %" PRId64 " outputs", function, ldv, network->options.outputs);
done:
    return status;
}

/* f(theta_0) + grad.u, or f(theta), each without f(theta_0) if it is centred. */
gram_status gram_network_evaluate(gram_context *context, const gram_network *network, const gram_points *x,
                                  double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(check_values(context, "network_evaluate", network, x, values, ldv));
    const int centred = network->options.centred;
    value_job job = {.net = network, .x = x, .values = values, .ldv = ldv, .sign = 1};
    job.weights = gram_network_place(network);
    job.u = network->linear ? network->theta : NULL;
    TRY(run_values(context, "network", &job));
    if (network->linear == centred) goto done;
    job = (value_job){.net = network, .x = x, .values = values, .ldv = ldv, .added = 1, .sign = centred ? -1 : 1};
    job.weights = network->start;
    TRY(run_values(context, "network", &job));
done:
    return status;
}

gram_status gram_network_directional(gram_context *context, const gram_network *network, const gram_points *x,
                                     const double *u, double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(check_values(context, "network_directional", network, x, values, ldv));
    FAIL_IF(!u, context, GRAM_ERROR_ARGUMENT, "network_directional: u is NULL");
    value_job job = {.net = network, .x = x, .u = u, .values = values, .ldv = ldv, .sign = 1};
    job.weights = gram_network_place(network);
    TRY(run_values(context, "network", &job));
done:
    return status;
}

/* ---- blocks of weights ---- */

static int64_t parts(int64_t count, int64_t size)
{
    return (count + size - 1) / size;
}

int64_t gram_weight_block_count(const gram_network *net)
{
    int64_t count = 0;
    for (int64_t l = 0; l < net->count; l++)
        count += parts(net->layers[l].out, BLOCK_OUT) * parts(net->layers[l].in, BLOCK_IN);
    return count;
}

gram_weight_block gram_weight_block_at(const gram_network *net, int64_t number)
{
    int64_t l = 0, across = parts(net->layers[0].in, BLOCK_IN), blocks = parts(net->layers[0].out, BLOCK_OUT) * across;
    while (number >= blocks) {
        number -= blocks;
        l++;
        across = parts(net->layers[l].in, BLOCK_IN);
        blocks = parts(net->layers[l].out, BLOCK_OUT) * across;
    }
    const gram_layer *layer = &net->layers[l];
    const int64_t out = number / across * BLOCK_OUT, in = number % across * BLOCK_IN;
    return (gram_weight_block){.layer = l,
                               .out0 = out,
                               .out1 = layer->out - out < BLOCK_OUT ? layer->out : out + BLOCK_OUT,
                               .in0 = in,
                               .in1 = layer->in - in < BLOCK_IN ? layer->in : in + BLOCK_IN};
}

static void bias_gradient(const gram_layer *layer, const gram_weight_block *b, int64_t count, const double *d, int add,
                          double *gradient)
{
    double *out = gradient + layer->biases;
    for (int64_t j = b->out0; j < b->out1 && !add; j++) out[j] = 0;
    for (int64_t i = 0; i < count && layer->bias != 0; i++)
        for (int64_t j = b->out0; j < b->out1; j++) out[j] += layer->bias * d[i * layer->out + j];
}

/* dW = c dz' a, db = e dz' 1 */
void gram_weight_block_gradient(const gram_batch *batch, const gram_weight_block *b, int64_t count, int add,
                                double *gradient)
{
    const gram_layer *layer = &batch->net->layers[b->layer];
    const double *d = gram_batch_delta(batch, b->layer);
    double *out = gradient + layer->weights + b->out0 * layer->in + b->in0;
    const int rows = (int)count, columns = (int)(b->in1 - b->in0);
    int64_t ld;
    const double *a = gram_batch_below(batch, b->layer, &ld) + b->in0;
    if (layer->out == 1)
        cblas_dgemv(CblasRowMajor, CblasTrans, rows, columns, layer->factor, a, (int)ld, d, 1, add, out, 1);
    else
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)(b->out1 - b->out0), columns, rows, layer->factor,
                    d + b->out0, (int)layer->out, a, (int)ld, add, out, (int)layer->in);
    if (b->in0 == 0) bias_gradient(layer, b, count, d, add, gradient);
}

int64_t gram_network_tile(int64_t rows)
{
    const int64_t eighth = (rows + 7) / 8, wanted = (eighth + 15) / 16 * 16;
    return wanted < 32 ? 32 : wanted > 256 ? 256 : wanted;
}

/* ---- products with the transpose of the Jacobian ---- */

typedef struct gradient_job {
    const gram_points *x;
    const double *given; /* n x outputs, ldv apart */
    int64_t ldv, room, tile, blocks;
    gram_batch batch;
    double *gradient;
    const gram_vecmath_f64 *v;
} gradient_job;

/* Two rounds for each `room` rows: there and back, then the weights. */
static gram_status gradient_task(void *argument, const gram_worker *worker)
{
    const gradient_job *job = argument;
    const int64_t first = worker->round / 2 * job->room, left = job->x->n - first;
    const int64_t count = left < job->room ? left : job->room, m = job->batch.net->options.outputs;
    gram_batch batch = job->batch;
    if (worker->round % 2 == 0) {
        const int64_t from = worker->task * job->tile, to = from + job->tile < count ? from + job->tile : count;
        if (from >= count) return GRAM_OK;
        gram_batch_gather(&batch, job->x, NULL, first, from, to);
        gram_batch_forward(&batch, job->v, from, to, NULL, 0);
        for (int64_t i = from; i < to; i++)
            memcpy(gram_batch_output_delta(&batch) + i * m, job->given + (first + i) * job->ldv,
                   (size_t)m * sizeof(double));
        gram_batch_backward(&batch, from, to);
    } else if (worker->task < job->blocks) {
        const gram_weight_block block = gram_weight_block_at(batch.net, worker->task);
        gram_batch_gather(&batch, job->x, NULL, first, 0, 0);
        gram_weight_block_gradient(&batch, &block, count, first > 0, job->gradient);
    }
    return GRAM_OK;
}

gram_status gram_network_gradient(gram_context *context, const gram_network *network, const gram_points *x,
                                  const double *v, int64_t ldv, double *gradient)
{
    gram_status status = GRAM_OK;
    double *numbers = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(gram_network_check_points(context, "network_gradient", network, x, "x"));
    FAIL_IF(!v || !gradient, context, GRAM_ERROR_ARGUMENT, "network_gradient: %s is NULL", !v ? "v" : "gradient");
    FAIL_IF(ldv < network->options.outputs, context, GRAM_ERROR_ARGUMENT,
            "network_gradient: ldv = %" PRId64 " is less than the %" PRId64 " outputs", ldv, network->options.outputs);
    gradient_job job = {.x = x, .given = v, .ldv = ldv, .gradient = gradient, .v = &context->vecmath->f64};
    job.room = x->n < GRAM_NETWORK_ROWS ? x->n : GRAM_NETWORK_ROWS;
    job.tile = gram_network_tile(job.room);
    job.blocks = gram_weight_block_count(network);
    TRY(gram_take(context, "network: a batch", gram_batch_numbers(network, job.room), sizeof *numbers,
                  (void **)&numbers));
    job.batch = gram_batch_over(network, job.room, numbers);
    const int64_t tiles = (job.room + job.tile - 1) / job.tile;
    TRY(gram_sweep_run(context, &(gram_sweep){.what = "gradient of a network",
                                              .tasks = tiles > job.blocks ? tiles : job.blocks,
                                              .rounds = 2 * ((x->n + job.room - 1) / job.room),
                                              .run = gradient_task,
                                              .argument = &job}));
done:
    gram_give(context, numbers);
    return status;
}

/* ---- the largest eigenvalue ---- */

/* v becomes of unit length; its length before. */
static double normalise(int64_t count, double *v)
{
    double squares = 0;
    for (int64_t i = 0; i < count; i++) squares += v[i] * v[i];
    const double norm = sqrt(squares);
    for (int64_t i = 0; i < count && norm > 0; i++) v[i] /= norm;
    return norm;
}

/* The power method on J J', from a random vector: |J J' v| of unit v grows to the eigenvalue. */
gram_status gram_network_largest_eigenvalue(gram_context *context, const gram_network *network, const gram_points *x,
                                            double *eigenvalue)
{
    enum { STEPS = 60, STREAM = 0x706f776572 /* "power" */ };
    gram_status status = GRAM_OK;
    double *v = NULL, *gradient = NULL;
    if (!context || !eigenvalue) return GRAM_ERROR_ARGUMENT;
    *eigenvalue = 0;
    TRY(gram_network_check_points(context, "network_largest_eigenvalue", network, x, "x"));
    const int64_t m = network->options.outputs, count = x->n * m;
    TRY(gram_take(context, "network: a vector", count, sizeof *v, (void **)&v));
    TRY(gram_take(context, "network: a gradient", network->parameters, sizeof *gradient, (void **)&gradient));
    gram_random_normal((gram_random){context->seed, STREAM}, 0, count, v);
    (void)normalise(count, v);
    for (int step = 0; step < STEPS; step++) {
        TRY(gram_network_gradient(context, network, x, v, m, gradient));
        TRY(gram_network_directional(context, network, x, gradient, v, m));
        const double before = *eigenvalue;
        *eigenvalue = normalise(count, v);
        if (fabs(*eigenvalue - before) <= 1e-3 * *eigenvalue) break;
    }
done:
    gram_give(context, v);
    gram_give(context, gradient);
    return status;
}

/* Gradient descent on a network, as one sweep: each step has two rounds for every 2,048 rows of its batch. In the first, tasks own tiles of
 * rows and go forward, to the loss, and back; in the second they own blocks of weights, sum the gradient over the rows and, after the last rows
 * of the batch, move the weights. One more task adds up the loss and looks whether descent diverges. So a step costs two barriers, nothing is
 * summed twice, and no task depends on the number of threads. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/sized_struct.h"
#include "solve/network/network.h"
#include <gram/random.h>
#include <gram/text.h>

static const uint64_t STREAM = 0x64657363656e0000u; /* "descen": the names of this use of the seed */
static const double SMALL = 3e5;                    /* rows times parameters of a step: some 0.2 ms */

struct gram_descent {
    gram_memory *memory;
    gram_network *net;
    const gram_points *x;
    const double *y;
    int64_t ldy;
    gram_descent_options options;
    int64_t m, batch, room, chunks, tile, tiles, blocks;
    int64_t step;   /* so far */
    int64_t *order; /* of the rows in this pass, NULL: as they are */
    double *offset; /* n x m: f at the start, of centred networks; else NULL */
    int small;      /* too little work for several threads */
    double *velocity, *gradient, *numbers;
    double *partial; /* losses of tiles */
    double nothing;  /* the loss of f = 0 */
    double limit;    /* a loss above it diverges; known after the first */
    int failed;
};

void gram_descent_options_init(gram_descent_options *options, size_t size)
{
    const gram_descent_options defaults = {.size = sizeof defaults};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

/* ---- one step ---- */

typedef struct descent_run {
    gram_descent *d;
    const gram_vecmath_f64 *v;
    uint64_t seed;
    double *losses;
    int64_t diverged; /* the step, -1: none */
    double loss;      /* of the last step */
} descent_run;

/* What a round is about: rows `first`.. of the order, `count` of them, of a batch of `rows`. */
typedef struct portion {
    int64_t step, first, count, rows;
    int last; /* of its batch */
} portion;

static int64_t batches(const gram_descent *d)
{
    return (d->x->n + d->batch - 1) / d->batch;
}

static portion portion_of(const gram_descent *d, int64_t round)
{
    const int64_t step = round / (2 * d->chunks), chunk = round / 2 % d->chunks;
    const int64_t start = (d->step + step) % batches(d) * d->batch;
    const int64_t left = d->x->n - start, rows = left < d->batch ? left : d->batch, at = chunk * d->room;
    const int64_t count = rows - at < d->room ? rows - at : d->room;
    return (portion){step, start + at, count < 0 ? 0 : count, rows, chunk == d->chunks - 1};
}

static void make_order(const gram_descent *d, uint64_t seed, int64_t step)
{
    if (d->order)
        gram_random_permutation((gram_random){seed, STREAM + d->options.number}, (uint64_t)(step / batches(d)), d->x->n,
                                d->order);
}

static void tile_task(const descent_run *run, const portion *p, int64_t round, int64_t task)
{
    const gram_descent *d = run->d;
    const gram_network *net = d->net;
    const int64_t m = d->m, from = task * d->tile, to = from + d->tile < p->count ? from + d->tile : p->count;
    double *loss = d->partial + round / 2 % d->chunks * d->tiles + task;
    gram_batch batch = gram_batch_over(net, d->room, d->numbers);
    *loss = 0;
    if (from >= to) return;
    gram_batch_gather(&batch, d->x, d->order, p->first, from, to);
    gram_batch_forward(&batch, run->v, from, to, net->linear ? net->theta : NULL, !net->options.centred);
    double *f = batch.out + from * m;
    const int64_t *order = d->order ? d->order + p->first + from : NULL;
    for (int64_t i = 0; i < to - from && d->offset; i++)
        for (int64_t o = 0; o < m; o++) f[i * m + o] -= d->offset[(order ? order[i] : p->first + from + i) * m + o];
    *loss = gram_loss_rows(d->options.loss, to - from, m, d->y + (order ? 0 : p->first + from) * d->ldy, d->ldy, order,
                           1 / (double)p->rows, f, gram_batch_output_delta(&batch) + from * m);
    gram_batch_backward(&batch, from, to);
}

/* v <- momentum v + g, theta <- theta - rate v */
static void move(const gram_descent *d, int64_t from, int64_t to)
{
    const double rate = d->options.rate, momentum = d->options.momentum;
    double *theta = d->net->theta;
    if (!d->velocity)
        for (int64_t i = from; i < to; i++) theta[i] -= rate * d->gradient[i];
    else
        for (int64_t i = from; i < to; i++) {
            d->velocity[i] = momentum * d->velocity[i] + d->gradient[i];
            theta[i] -= rate * d->velocity[i];
        }
}

static void weight_task(const descent_run *run, const portion *p, int64_t round, int64_t task)
{
    const gram_descent *d = run->d;
    const gram_weight_block b = gram_weight_block_at(d->net, task);
    const gram_layer *layer = &d->net->layers[b.layer];
    gram_batch batch = gram_batch_over(d->net, d->room, d->numbers);
    gram_batch_gather(&batch, d->x, d->order, p->first, 0, 0);
    if (p->count > 0) gram_weight_block_gradient(&batch, &b, p->count, round / 2 % d->chunks > 0, d->gradient);
    if (!p->last) return;
    for (int64_t j = b.out0; j < b.out1; j++) {
        const int64_t row = layer->weights + j * layer->in;
        move(d, row + b.in0, row + b.in1);
    }
    if (b.in0 == 0) move(d, layer->biases + b.out0, layer->biases + b.out1);
}

/* The loss of the step, whether it is too large, and the order of the next pass. */
static gram_status look(descent_run *run, const portion *p)
{
    gram_descent *d = run->d;
    double sum = 0;
    if (!p->last) return GRAM_OK;
    for (int64_t t = 0; t < d->chunks * d->tiles; t++) sum += d->partial[t];
    run->loss = sum / (double)p->rows;
    if (run->losses) run->losses[p->step] = run->loss;
    const int64_t next = d->step + p->step + 1;
    if (next == 1) d->limit = fmax(GRAM_DIVERGED * fmax(run->loss, d->nothing), DBL_MIN);
    if (!isfinite(run->loss) || run->loss > d->limit) {
        run->diverged = next;
        return GRAM_ERROR_NUMERICAL;
    }
    if (next % batches(d) == 0) make_order(d, run->seed, next);
    return GRAM_OK;
}

static gram_status part_of_round(descent_run *run, int64_t round, int64_t task)
{
    const gram_descent *d = run->d;
    const portion p = portion_of(d, round);
    if (round % 2 == 0) {
        if (task < d->tiles) tile_task(run, &p, round, task);
    } else if (task < d->blocks) {
        weight_task(run, &p, round, task);
    } else if (task == d->blocks) {
        return look(run, &p);
    }
    return GRAM_OK;
}

static int64_t parts_of_round(const gram_descent *d)
{
    return d->tiles > d->blocks + 1 ? d->tiles : d->blocks + 1;
}

/* Of small steps one task has all parts, and threads do not wait for each other. */
static gram_status descent_task(void *argument, const gram_worker *worker)
{
    descent_run *run = argument;
    gram_status status = GRAM_OK;
    if (!run->d->small) return part_of_round(run, worker->round, worker->task);
    for (int64_t part = 0; part < parts_of_round(run->d) && status >= 0; part++)
        status = part_of_round(run, worker->round, part);
    return status;
}

/* ---- many steps ---- */

static void back_to_start(gram_descent *d)
{
    gram_network *net = d->net;
    d->failed = 1;
    if (net->linear)
        memset(net->theta, 0, (size_t)net->parameters * sizeof *net->theta);
    else
        memcpy(net->theta, net->start, (size_t)net->parameters * sizeof *net->theta);
}

static int all_finite(int64_t count, const double *numbers)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(numbers[i])) return 0;
    return 1;
}

static gram_status diverges(gram_context *context, const gram_descent *d, int64_t step, double loss)
{
    char rate[GRAM_NUMBER_SIZE], shown[GRAM_NUMBER_SIZE];
    (void)gram_fail(context, GRAM_ERROR_NUMERICAL,
                    "descent_run: descent diverges: at step %" PRId64 " of length %s the loss is %s", step,
                    gram_number_format(d->options.rate, rate), gram_number_format(loss, shown));
    return gram_advise(context, GRAM_ERROR_NUMERICAL, "Take shorter steps.");
}

gram_status gram_descent_run(gram_context *context, gram_descent *d, int64_t steps, double *losses)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!d, context, GRAM_ERROR_ARGUMENT, "descent_run: descent is NULL");
    FAIL_IF(d->failed, context, GRAM_ERROR_ARGUMENT, "descent_run: this descent has failed before");
    FAIL_IF(steps < 0 || steps > INT64_MAX / 4 / d->chunks, context, GRAM_ERROR_ARGUMENT,
            "descent_run: steps = %" PRId64, steps);
    if (steps == 0) return GRAM_OK;
    descent_run run = {.d = d, .v = &context->vecmath->f64, .seed = context->seed, .losses = losses, .diverged = -1};
    if (d->step % batches(d) == 0) make_order(d, context->seed, d->step);
    status = gram_sweep_run(context, &(gram_sweep){.what = "gradient descent",
                                                   .tasks = d->small ? 1 : parts_of_round(d),
                                                   .rounds = 2 * d->chunks * steps,
                                                   .run = descent_task,
                                                   .argument = &run});
    if (status >= 0 && !all_finite(d->net->parameters, d->net->theta)) {
        status = GRAM_ERROR_NUMERICAL;
        run.diverged = d->step + steps;
    }
    if (status < 0) back_to_start(d);
    if (status == GRAM_ERROR_NUMERICAL) return diverges(context, d, run.diverged, run.loss);
    if (status >= 0) d->step += steps;
done:
    return status;
}

/* ---- the object ---- */

static gram_status check(gram_context *context, const gram_network *network, const gram_points *x, const double *y,
                         int64_t ldy, const gram_descent_options *o)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    TRY(gram_network_check_points(context, "descent_create", network, x, "x"));
    const int64_t m = network->options.outputs;
    FAIL_IF(!y, context, GRAM_ERROR_ARGUMENT, "descent_create: y is NULL");
    FAIL_IF(ldy < m, context, GRAM_ERROR_ARGUMENT,
            "descent_create: ldy = %" PRId64 " is less than the %" PRId64 " outputs", ldy, m);
    FAIL_IF(!isfinite(o->rate) || o->rate < 0, context, GRAM_ERROR_ARGUMENT,
            "descent_create: rate = %s is not the length of a step", gram_number_format(o->rate, shown));
    FAIL_IF(!(o->momentum >= 0 && o->momentum < 1), context, GRAM_ERROR_ARGUMENT,
            "descent_create: momentum = %s is not from 0 to below 1", gram_number_format(o->momentum, shown));
    FAIL_IF(o->batch < 0 || o->batch > x->n, context, GRAM_ERROR_ARGUMENT,
            "descent_create: batch = %" PRId64 " is not a number of rows up to %" PRId64, o->batch, x->n);
    FAIL_IF(o->loss != GRAM_NETWORK_SQUARED && o->loss != GRAM_NETWORK_SOFTMAX, context, GRAM_ERROR_ARGUMENT,
            "descent_create: loss = %d is not known", (int)o->loss);
    FAIL_IF(o->loss == GRAM_NETWORK_SOFTMAX && m < 2, context, GRAM_ERROR_ARGUMENT,
            "descent_create: the softmax loss is for at least two outputs");
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t k = 0; k < m; k++)
            FAIL_IF(!isfinite(y[i * ldy + k]), context, GRAM_ERROR_DATA,
                    "descent_create: y[%" PRId64 "][%" PRId64 "] is not finite", i, k);
done:
    return status;
}

/* The second derivative of a loss by f is at most 2, or 1/2: descent on the linearised network is stable for rates below n/lambda, or 4 n/lambda. Of
 * batches the first of the first pass stands for all, with half of that again. */
static gram_status choose_rate(gram_context *context, gram_descent *d)
{
    gram_status status = GRAM_OK;
    const int64_t rows = d->batch, width = d->x->d;
    double eigenvalue = 0, *sample = NULL;
    gram_points *points = NULL;
    if (d->order) {
        make_order(d, context->seed, 0);
        TRY(gram_take(context, "descent: a batch", rows, (size_t)width * sizeof *sample, (void **)&sample));
        for (int64_t i = 0; i < rows; i++)
            for (int64_t l = 0; l < width; l++) sample[i * width + l] = gram_points_at(d->x, d->order[i], l);
        TRY(gram_points_create_f64(context, rows, width, sample, width, &points));
    }
    TRY(gram_network_largest_eigenvalue(context, d->net, points ? points : d->x, &eigenvalue));
    const double stable = (d->options.loss == GRAM_NETWORK_SQUARED ? 1 : 4) * (double)rows / eigenvalue;
    FAIL_IF(!isfinite(stable), context, GRAM_ERROR_NUMERICAL,
            "descent_create: the tangent kernel of the network is 0 on these points: nothing can be learnt");
    d->options.rate = (d->order ? 0.25 : 0.5) * stable;
done:
    gram_points_release(points);
    gram_give(context, sample);
    return status;
}

/* Together with the loss of the first step this says what is large. */
static double loss_of_nothing(const gram_descent *d)
{
    double squares = 0;
    if (d->options.loss == GRAM_NETWORK_SOFTMAX) return log((double)d->m);
    for (int64_t i = 0; i < d->x->n; i++)
        for (int64_t o = 0; o < d->m; o++) squares += d->y[i * d->ldy + o] * d->y[i * d->ldy + o];
    return squares / (double)d->x->n;
}

static gram_status take_rooms(gram_context *context, gram_descent *d)
{
    gram_status status = GRAM_OK;
    const int64_t n = d->x->n, parameters = d->net->parameters;
    TRY(gram_take(context, "descent: a batch", gram_batch_numbers(d->net, d->room), sizeof(double),
                  (void **)&d->numbers));
    TRY(gram_take(context, "descent: the gradient", parameters, sizeof(double), (void **)&d->gradient));
    TRY(gram_take(context, "descent: losses", d->chunks * d->tiles, sizeof(double), (void **)&d->partial));
    if (d->options.momentum > 0) {
        TRY(gram_take(context, "descent: the velocity", parameters, sizeof(double), (void **)&d->velocity));
        memset(d->velocity, 0, (size_t)parameters * sizeof *d->velocity);
    }
    if (d->batch < n) TRY(gram_take(context, "descent: an order", n, sizeof *d->order, (void **)&d->order));
    if (d->net->options.centred && !d->net->linear)
        TRY(gram_take(context, "descent: the start", n, (size_t)d->m * sizeof(double), (void **)&d->offset));
done:
    return status;
}

/* f at the start is what the network would be at 0, and what a centred one is without. */
static gram_status find_offset(gram_context *context, gram_descent *d)
{
    gram_status status = GRAM_OK;
    gram_network start = *d->net;
    if (!d->offset) return GRAM_OK;
    start.options.centred = 0;
    start.theta = d->net->start;
    TRY(gram_network_evaluate(context, &start, d->x, d->offset, d->m));
done:
    return status;
}

gram_status gram_descent_create(gram_context *context, gram_network *network, const gram_points *x, const double *y,
                                int64_t ldy, const gram_descent_options *options, gram_descent **descent)
{
    gram_status status = GRAM_OK;
    gram_descent *made = NULL;
    gram_descent_options o;
    if (!context || !descent) return GRAM_ERROR_ARGUMENT;
    *descent = NULL;
    gram_descent_options_init(&o, sizeof o);
    TRY(gram_sized_read(context, "descent_create", "options", "gram_descent_options", options, &o, sizeof o));
    TRY(check(context, network, x, y, ldy, &o));
    TRY(gram_take(context, "descent", 1, sizeof *made, (void **)&made));
    *made = (gram_descent){.memory = gram_memory_retain(context->memory), .net = network, .x = x, .y = y, .ldy = ldy};
    made->options = o;
    made->m = network->options.outputs;
    made->batch = o.batch > 0 ? o.batch : x->n;
    made->room = made->batch < GRAM_NETWORK_ROWS ? made->batch : GRAM_NETWORK_ROWS;
    made->chunks = (made->batch + made->room - 1) / made->room;
    made->tile = gram_network_tile(made->room);
    made->tiles = (made->room + made->tile - 1) / made->tile;
    made->blocks = gram_weight_block_count(network);
    made->small = (double)made->batch * (double)network->parameters < SMALL;
    TRY(take_rooms(context, made));
    TRY(find_offset(context, made));
    made->nothing = loss_of_nothing(made);
    if (o.rate == 0) TRY(choose_rate(context, made));
    *descent = made;
    made = NULL;
done:
    gram_descent_destroy(made);
    return status;
}

void gram_descent_destroy(gram_descent *d)
{
    if (!d) return;
    gram_memory *memory = d->memory;
    gram_memory_give(memory, d->order);
    gram_memory_give(memory, d->offset);
    gram_memory_give(memory, d->velocity);
    gram_memory_give(memory, d->gradient);
    gram_memory_give(memory, d->numbers);
    gram_memory_give(memory, d->partial);
    gram_memory_give(memory, d);
    gram_memory_release(memory);
}

double gram_descent_rate(const gram_descent *descent)
{
    return descent->options.rate;
}

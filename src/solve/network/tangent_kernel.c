/* Tangent kernels as kernels: of a network, and of any function whose gradient by its parameters the caller computes. The engine asks for
 * blocks of pairs from several threads at once, so there is a room for each thread of the context to work in.
 *
 * A pair has the same bits in any block: points lie side by side, unit by unit, and block vector math goes over all of them alike, where
 * BLAS would treat the last ones differently. */
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "solve/network/network.h"

/* The engine's blocks are not larger than this; larger ones are parted. */
enum { ROWS = 16, COLUMNS = 96 };

/* ---- rooms ---- */

typedef struct rooms {
    gram_memory *memory;
    int count;
    int64_t numbers; /* of each, a multiple of 8 */
    double *data;
    atomic_int *taken;
} rooms;

static gram_status rooms_make(gram_context *context, int64_t numbers, rooms *r)
{
    gram_status status = GRAM_OK;
    *r = (rooms){.memory = gram_memory_retain(context->memory), .count = context->threads};
    r->numbers = (numbers + 7) / 8 * 8;
    TRY(gram_take(context, "tangent kernel: rooms", r->count, (size_t)r->numbers * sizeof(double), (void **)&r->data));
    TRY(gram_take(context, "tangent kernel: rooms", r->count, sizeof *r->taken, (void **)&r->taken));
    for (int i = 0; i < r->count; i++) atomic_init(&r->taken[i], 0);
done:
    return status;
}

static void rooms_free(rooms *r)
{
    gram_memory_give(r->memory, r->data);
    gram_memory_give(r->memory, (void *)r->taken);
    gram_memory_release(r->memory);
}

/* A context with more threads than the one that made the kernel waits for a room. */
static int room_enter(rooms *r)
{
    for (;; (void)sched_yield())
        for (int i = 0; i < r->count; i++)
            if (!atomic_exchange_explicit(&r->taken[i], 1, memory_order_acquire)) return i;
}

static void room_leave(rooms *r, int room)
{
    atomic_store_explicit(&r->taken[room], 0, memory_order_release);
}

/* A callback for points of d columns: the engine refuses points that have fewer, and hands over no others. */
static gram_status of_columns(gram_context *context, const char *name, int64_t d, gram_kernel_fn block, void *user,
                              void (*release)(void *user), gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    int64_t *columns = NULL;
    gram_kernel *leaf = NULL;
    TRY(gram_kernel_callback(context, name, block, user, release, &leaf));
    TRY(gram_take(context, "tangent kernel: columns", d, sizeof *columns, (void **)&columns));
    for (int64_t l = 0; l < d; l++) columns[l] = l;
    TRY(gram_kernel_on(context, d, columns, leaf, kernel));
done:
    gram_give(context, columns);
    gram_kernel_release(leaf);
    return status;
}

/* ---- of a network ---- */

/* Up to `width` points side by side: number u of point p is at u * width + p. */
typedef struct panel {
    int width;
    double *in, *value, *slope, *delta;
} panel;

typedef struct network_tangent {
    gram_network *net;
    int64_t output;
    const gram_vecmath_f64 *v;
    rooms rooms;
} network_tangent;

static int64_t panel_numbers(const gram_network *net, int width)
{
    return width * (net->options.inputs + 3 * net->units);
}

static panel panel_over(const gram_network *net, int width, double *numbers)
{
    const int64_t units = width * net->units;
    double *value = numbers + width * net->options.inputs;
    return (panel){width, numbers, value, value + units, value + 2 * units};
}

static const double *panel_below(const gram_network *net, const panel *p, int64_t l)
{
    const gram_layer *layer = &net->layers[l];
    return l == 0 ? p->in : p->value + p->width * (layer->units - layer->in);
}

/* z_u = sum_i w_ui a_i over all points of the panel; w_ui is `step` and `next` apart. */
static void panel_multiply(const gram_vecmath_f64 *v, int width, int64_t out, int64_t in, const double *w, int64_t step,
                           int64_t next, double factor, const double *a, double *z)
{
    for (int64_t u = 0; u < out; u++) {
        v->fill(width, 0, z + u * width);
        for (int64_t i = 0; i < in; i++)
            v->combine(width, factor * w[u * step + i * next], a + i * width, 1, z + u * width);
    }
}

static void panel_forward(const network_tangent *t, const panel *p)
{
    const gram_network *net = t->net;
    const double *weights = gram_network_place(net);
    for (int64_t l = 0; l < net->count - 1; l++) {
        const gram_layer *layer = &net->layers[l];
        const int64_t at = p->width * layer->units;
        panel_multiply(t->v, p->width, layer->out, layer->in, weights + layer->weights, layer->in, 1, layer->factor,
                       panel_below(net, p, l), p->value + at);
        for (int64_t u = 0; u < layer->out; u++)
            for (int i = 0; i < p->width; i++)
                p->value[at + u * p->width + i] += layer->bias * weights[layer->biases + u];
        gram_activate(net->options.activation, t->v, layer->out * p->width, p->value + at, p->slope + at);
    }
}

static void panel_backward(const network_tangent *t, const panel *p, int64_t output)
{
    const gram_network *net = t->net;
    for (int64_t l = net->count - 1; l > 0; l--) {
        const gram_layer *above = &net->layers[l], *layer = &net->layers[l - 1];
        const double *w = gram_network_place(net) + above->weights;
        const int64_t at = p->width * layer->units;
        double *out = p->delta + at;
        if (l == net->count - 1)
            for (int64_t u = 0; u < layer->out; u++)
                t->v->fill(p->width, above->factor * w[output * above->in + u], out + u * p->width);
        else
            panel_multiply(t->v, p->width, above->in, above->out, w, 1, above->in, above->factor,
                           p->delta + p->width * above->units, out);
        gram_activate_back(net->options.activation, layer->out * p->width, p->value + at, p->slope + at, out);
    }
}

/* out_j = sum_u x_u y_uj: point i of one panel against all of another */
static void panel_products(const gram_vecmath_f64 *v, int64_t units, const panel *x, const double *xs, int i,
                           const panel *y, const double *ys, double *out)
{
    v->fill(y->width, 0, out);
    for (int64_t u = 0; u < units; u++) v->combine(y->width, xs[u * x->width + i], ys + u * y->width, 1, out);
}

static void add_row(const network_tangent *t, const panel *x, const panel *y, int i, double *sum)
{
    _Alignas(64) double a[COLUMNS], d[COLUMNS];
    const gram_network *net = t->net;
    for (int64_t l = 0; l < net->count; l++) {
        const gram_layer *layer = &net->layers[l];
        const double c = layer->factor * layer->factor, e = layer->bias * layer->bias;
        panel_products(t->v, layer->in, x, panel_below(net, x, l), i, y, panel_below(net, y, l), a);
        if (l == net->count - 1)
            t->v->fill(COLUMNS, 1, d);
        else
            panel_products(t->v, layer->out, x, x->delta + x->width * layer->units, i, y,
                           y->delta + y->width * layer->units, d);
        for (int j = 0; j < COLUMNS; j++) sum[j] += (c * a[j] + e) * d[j];
    }
}

/* Points from..from + count of a block, filled up with zeros. */
static void panel_take(const gram_network *net, const double *x, int64_t ldx, int64_t from, int64_t count, panel *p)
{
    for (int64_t l = 0; l < net->options.inputs; l++)
        for (int i = 0; i < p->width; i++) p->in[l * p->width + i] = i < count ? x[l * ldx + from + i] : 0;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void network_part(const network_tangent *t, panel *x, panel *y, int64_t rows, int64_t columns, double *out,
                         int64_t ldo)
{
    const int64_t m = t->net->options.outputs, first = t->output < 0 ? 0 : t->output, count = t->output < 0 ? m : 1;
    double sum[ROWS][COLUMNS] = {{0}};
    panel_forward(t, x);
    panel_forward(t, y);
    for (int64_t o = first; o < first + count; o++) {
        panel_backward(t, x, o);
        panel_backward(t, y, o);
        for (int i = 0; i < rows; i++) add_row(t, x, y, i, sum[i]);
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) out[i * ldo + j] = sum[i][j] / (double)count;
}

static void network_block(void *user, int64_t d, int64_t rows, const double *x, int64_t ldx, int64_t columns,
                          const double *y, int64_t ldy, double *out, int64_t ldo)
{
    network_tangent *t = user;
    const int room = room_enter(&t->rooms);
    double *numbers = t->rooms.data + room * t->rooms.numbers;
    panel left = panel_over(t->net, ROWS, numbers);
    panel right = panel_over(t->net, COLUMNS, numbers + panel_numbers(t->net, ROWS));
    (void)d;
    for (int64_t i = 0; i < rows; i += ROWS)
        for (int64_t j = 0; j < columns; j += COLUMNS) {
            panel_take(t->net, x, ldx, i, least(rows - i, ROWS), &left);
            panel_take(t->net, y, ldy, j, least(columns - j, COLUMNS), &right);
            network_part(t, &left, &right, least(rows - i, ROWS), least(columns - j, COLUMNS), out + i * ldo + j, ldo);
        }
    room_leave(&t->rooms, room);
}

static void network_release(void *user)
{
    network_tangent *t = user;
    gram_memory *memory = gram_memory_retain(t->rooms.memory);
    gram_network_destroy(t->net);
    rooms_free(&t->rooms);
    gram_memory_give(memory, t);
    gram_memory_release(memory);
}

gram_status gram_kernel_network_tangent(gram_context *context, const gram_network *network, int64_t output,
                                        gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    network_tangent *made = NULL;
    if (!context || !kernel) return GRAM_ERROR_ARGUMENT;
    *kernel = NULL;
    FAIL_IF(!network, context, GRAM_ERROR_ARGUMENT, "kernel_network_tangent: network is NULL");
    FAIL_IF(output < -1 || output >= network->options.outputs, context, GRAM_ERROR_ARGUMENT,
            "kernel_network_tangent: output = %lld is neither -1 nor one of %lld", (long long)output,
            (long long)network->options.outputs);
    TRY(gram_take(context, "tangent kernel", 1, sizeof *made, (void **)&made));
    *made = (network_tangent){.output = output, .v = &context->vecmath->f64};
    made->rooms.memory = gram_memory_retain(context->memory);
    status = gram_network_copy(context, network, &made->net);
    if (status >= 0) {
        gram_memory_release(made->rooms.memory);
        status = rooms_make(context, panel_numbers(network, ROWS) + panel_numbers(network, COLUMNS), &made->rooms);
    }
    if (status < 0)
        network_release(made);
    else
        status = of_columns(context, "tangent", network->options.inputs, network_block, made, network_release, kernel);
done:
    return status;
}

/* ---- of any function ---- */

typedef struct any_tangent {
    gram_parametric f;
    void (*release)(void *user);
    rooms rooms;
    double *theta;
} any_tangent;

/* In a fixed order, four sums side by side. */
static double dot(int64_t n, const double *x, const double *y)
{
    double s[4] = {0};
    int64_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (int k = 0; k < 4; k++) s[k] += x[i + k] * y[i + k];
    for (; i < n; i++) s[0] += x[i] * y[i];
    return (s[0] + s[1]) + (s[2] + s[3]);
}

static void gradient_at(const any_tangent *t, int64_t d, const double *x, int64_t ldx, int64_t i, double *point,
                        double *gradient)
{
    for (int64_t l = 0; l < d; l++) point[l] = x[l * ldx + i];
    (void)t->f.function(t->f.user, d, point, t->theta, gradient);
}

/* Gradients of up to 16 rows are held, those of columns one at a time: never all of them. */
static void any_block(void *user, int64_t d, int64_t rows, const double *x, int64_t ldx, int64_t columns,
                      const double *y, int64_t ldy, double *out, int64_t ldo)
{
    any_tangent *t = user;
    const int64_t p = t->f.parameters;
    const int room = room_enter(&t->rooms);
    double *gradients = t->rooms.data + room * t->rooms.numbers, *column = gradients + ROWS * p, *point = column + p;
    for (int64_t from = 0; from < rows; from += ROWS) {
        const int64_t count = least(rows - from, ROWS);
        for (int64_t i = 0; i < count; i++) gradient_at(t, d, x, ldx, from + i, point, gradients + i * p);
        for (int64_t j = 0; j < columns; j++) {
            gradient_at(t, d, y, ldy, j, point, column);
            for (int64_t i = 0; i < count; i++) out[(from + i) * ldo + j] = dot(p, gradients + i * p, column);
        }
    }
    room_leave(&t->rooms, room);
}

static void any_release(void *user)
{
    any_tangent *t = user;
    gram_memory *memory = gram_memory_retain(t->rooms.memory);
    if (t->release) t->release(t->f.user);
    rooms_free(&t->rooms);
    gram_memory_give(memory, t->theta);
    gram_memory_give(memory, t);
    gram_memory_release(memory);
}

/* Rooms, and a copy of theta */
static gram_status any_take(gram_context *context, const double *theta, int64_t numbers, any_tangent *t)
{
    gram_status status = GRAM_OK;
    TRY(rooms_make(context, numbers, &t->rooms));
    TRY(gram_take(context, "tangent kernel: parameters", t->f.parameters, sizeof *theta, (void **)&t->theta));
    memcpy(t->theta, theta, (size_t)t->f.parameters * sizeof *theta);
done:
    return status;
}

gram_status gram_kernel_tangent(gram_context *context, const char *name, const gram_parametric *f, const double *theta,
                                void (*release)(void *user), gram_kernel **kernel)
{
    gram_status status = GRAM_ERROR_ARGUMENT;
    any_tangent *made = NULL;
    int64_t numbers;
    int taken = 0;
    if (kernel) *kernel = NULL;
    if (!context || !kernel) goto done;
    TRY(gram_parametric_check(context, "kernel_tangent", f, theta));
    FAIL_IF(!gram_size_multiply(f->parameters, ROWS + 1, &numbers) || numbers > INT64_MAX / 64 - f->inputs, context,
            GRAM_ERROR_OVERFLOW, "kernel_tangent: %lld parameters are more than can be addressed",
            (long long)f->parameters);
    TRY(gram_take(context, "tangent kernel", 1, sizeof *made, (void **)&made));
    *made = (any_tangent){.f = *f, .release = release};
    taken = 1;
    status = any_take(context, theta, numbers + f->inputs, made);
    if (status < 0)
        any_release(made);
    else
        status = of_columns(context, name, f->inputs, any_block, made, any_release, kernel);
done:
    if (!taken && release && f) release(f->user);
    return status;
}

/* Forward and backward through the layers, a tile of rows at a time: matrix products by BLAS, and activations between them.
 *
 *     z_l = c_l a_(l-1) W_l' + e_l b_l,    dz_(L+1) = df/df,    dz_l = (c_(l+1) dz_(l+1) W_(l+1)) s'(z_l),
 *
 * rows being rows of the data. Along u = (U, w) of the weights the derivative of z_l is
 *
 *     c_l (da_(l-1) W_l' + a_(l-1) U_l') + e_l w_l,    da_l = s'(z_l) dz_l,    da_0 = 0.
 *
 * Called from tasks of sweeps only. */
#include <cblas.h>
#include <string.h>

#include "solve/network/network.h"

int64_t gram_batch_numbers(const gram_network *net, int64_t room)
{
    const int slopes = net->options.activation == GRAM_ACTIVATION_ERF;
    return room * (net->options.inputs + (2 + slopes) * net->units + 2 * net->options.outputs);
}

gram_batch gram_batch_over(const gram_network *net, int64_t room, double *numbers)
{
    gram_batch batch = {.net = net, .weights = gram_network_place(net), .room = room, .gathered = numbers};
    const int64_t units = room * net->units, outputs = room * net->options.outputs;
    batch.in = batch.gathered;
    batch.ldin = net->options.inputs;
    batch.value = numbers + room * net->options.inputs;
    batch.delta = batch.value + units;
    batch.out = batch.delta + units + outputs;
    batch.slope = net->options.activation == GRAM_ACTIVATION_ERF ? batch.out + outputs : NULL;
    return batch;
}

double *gram_batch_output_delta(const gram_batch *batch)
{
    return batch->delta + batch->room * batch->net->units;
}

const double *gram_batch_below(const gram_batch *batch, int64_t layer, int64_t *ld)
{
    const gram_layer *l = &batch->net->layers[layer];
    *ld = layer == 0 ? batch->ldin : l->in;
    return layer == 0 ? batch->in : batch->value + batch->room * (l->units - l->in);
}

const double *gram_batch_delta(const gram_batch *batch, int64_t layer)
{
    return batch->delta + batch->room * batch->net->layers[layer].units;
}

void gram_batch_gather(gram_batch *batch, const gram_points *x, const int64_t *rows, int64_t first, int64_t from,
                       int64_t to)
{
    if (x->f64 && !rows) {
        batch->in = x->f64 + first * x->ld;
        batch->ldin = x->ld;
        return;
    }
    batch->in = batch->gathered;
    batch->ldin = x->d;
    for (int64_t i = from; i < to; i++) {
        const int64_t row = rows ? rows[first + i] : first + i;
        double *out = batch->gathered + i * x->d;
        if (x->f64)
            memcpy(out, x->f64 + row * x->ld, (size_t)x->d * sizeof *out);
        else
            for (int64_t l = 0; l < x->d; l++) out[l] = (double)x->f32[row * x->ld + l];
    }
}

/* z = (add ? z : 0) + factor a W': rows of `in` numbers become rows of `out`. */
static void multiply(int64_t rows, const gram_layer *layer, const double *a, int64_t lda, const double *w, int add,
                     double *z)
{
    const int n = (int)rows, in = (int)layer->in, out = (int)layer->out;
    if (out == 1)
        cblas_dgemv(CblasRowMajor, CblasNoTrans, n, in, layer->factor, a, (int)lda, w, 1, add, z, 1);
    else
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, out, in, layer->factor, a, (int)lda, w, in, add, z,
                    out);
}

static void add_biases(int64_t rows, const gram_layer *layer, const double *b, double *z)
{
    if (layer->bias == 0) return;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < layer->out; j++) z[i * layer->out + j] += layer->bias * b[j];
}

/* The derivative along u of a layer, from that of the one below (NULL: 0). */
static void layer_along(const gram_batch *batch, int64_t l, int64_t from, int64_t rows, const double *u,
                        const double *below, int add, double *z)
{
    const gram_layer *layer = &batch->net->layers[l];
    int64_t ld;
    const double *a = gram_batch_below(batch, l, &ld) + from * ld;
    multiply(rows, layer, a, ld, u + layer->weights, add, z);
    if (below) multiply(rows, layer, below, layer->in, batch->weights + layer->weights, 1, z);
    add_biases(rows, layer, u + layer->biases, z);
}

void gram_batch_forward(gram_batch *batch, const gram_vecmath_f64 *v, int64_t from, int64_t to, const double *u,
                        int added)
{
    const gram_network *net = batch->net;
    const int64_t rows = to - from;
    const double *below = NULL;
    for (int64_t l = 0; l < net->count; l++) {
        const gram_layer *layer = &net->layers[l];
        const int last = l == net->count - 1;
        const int64_t at = batch->room * layer->units + from * layer->out;
        double *z = last ? batch->out + from * layer->out : batch->value + at;
        double *slope = !last && batch->slope ? batch->slope + at : NULL;
        int64_t ld;
        const double *a = gram_batch_below(batch, l, &ld) + from * ld;
        if (!last || !u || added) {
            multiply(rows, layer, a, ld, batch->weights + layer->weights, 0, z);
            add_biases(rows, layer, batch->weights + layer->biases, z);
        }
        if (!last) gram_activate(net->options.activation, v, rows * layer->out, z, slope);
        if (!u) continue;
        layer_along(batch, l, from, rows, u, below, last && added, last ? z : batch->delta + at);
        if (!last) gram_activate_back(net->options.activation, rows * layer->out, z, slope, batch->delta + at);
        below = batch->delta + at;
    }
}

void gram_batch_backward(gram_batch *batch, int64_t from, int64_t to)
{
    const gram_network *net = batch->net;
    const int64_t rows = to - from;
    for (int64_t l = net->count - 1; l > 0; l--) {
        const gram_layer *above = &net->layers[l], *layer = &net->layers[l - 1];
        const double *d = gram_batch_delta(batch, l) + from * above->out, *w = batch->weights + above->weights;
        const int64_t at = batch->room * layer->units + from * layer->out;
        double *out = batch->delta + at;
        if (above->out == 1)
            for (int64_t i = 0; i < rows; i++)
                for (int64_t j = 0; j < above->in; j++) out[i * above->in + j] = above->factor * d[i] * w[j];
        else
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, (int)above->in, (int)above->out,
                        above->factor, d, (int)above->out, w, (int)above->in, 0, out, (int)above->in);
        gram_activate_back(net->options.activation, rows * layer->out, batch->value + at,
                           batch->slope ? batch->slope + at : NULL, out);
    }
}

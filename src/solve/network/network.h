/* Networks from inside: layers, and passes over tiles of rows. */
#ifndef GRAM_SOLVE_NETWORK_NETWORK_H
#define GRAM_SOLVE_NETWORK_NETWORK_H

#include <gram/network.h>

#include "base/context.h"
#include "base/sweep.h"
#include "points/points.h"

enum { GRAM_NETWORK_DEPTH = 64 };

/* z = factor W a + bias b: W and b are at these places of theta. */
typedef struct gram_layer {
    int64_t in, out;
    int64_t weights, biases; /* places */
    int64_t units;           /* hidden units of the layers before */
    double factor, bias;     /* the output scale is in those of the last */
} gram_layer;

struct gram_network {
    gram_memory *memory;
    gram_network_options options;
    int64_t widths[GRAM_NETWORK_DEPTH];
    gram_layer layers[GRAM_NETWORK_DEPTH + 1];
    int64_t count; /* layers: depth + 1 */
    int64_t parameters, units;
    int linear; /* theta is u, the difference from start */
    double *theta, *start;
};

/* The weights at which activations and derivatives are taken. */
static inline const double *gram_network_place(const gram_network *net)
{
    return net->linear ? net->start : net->theta;
}

/* ---- activations (activation.c): n numbers of any count ---- */

/* z becomes s(z); slope (only erf needs one, NULL for others) gets s'(z). */
void gram_activate(gram_activation activation, const gram_vecmath_f64 *v, int64_t n, double *z, double *slope);
/* d *= s'(z), from a = s(z) or the slope. */
void gram_activate_back(gram_activation activation, int64_t n, const double *a, const double *slope, double *d);

/* ---- passes (network_pass.c) ---- */

/* Everything that the layers make of up to `room` rows. Layer l has its numbers at room * units of its predecessors: a_l in
 * `value`, df/dz_l in `delta`, and s'(z_l) in `slope`. Rows of one batch may be worked on by several tasks. */
typedef struct gram_batch {
    const gram_network *net;
    const double *weights; /* theta, or another */
    int64_t room;
    const double *in; /* row i is at i * ldin */
    int64_t ldin;
    double *gathered; /* room x inputs, if rows have to be collected */
    double *value;    /* room x units */
    double *slope;    /* the same, or NULL */
    double *delta;    /* room x (units + outputs); while a linearised network goes forward, da_l along u */
    double *out;      /* room x outputs: f */
} gram_batch;

/* Numbers of a batch, and the batch over an array of that many. */
int64_t gram_batch_numbers(const gram_network *net, int64_t room);
gram_batch gram_batch_over(const gram_network *net, int64_t room, double *numbers);

/* The batch's rows from..to: those of x from `first` on, or rows[first], ... */
void gram_batch_gather(gram_batch *batch, const gram_points *x, const int64_t *rows, int64_t first, int64_t from,
                       int64_t to);
/* `out` and what backward needs: f, at batch->weights, or with u (else NULL) the derivative of f along u; added: both. */
void gram_batch_forward(gram_batch *batch, const gram_vecmath_f64 *v, int64_t from, int64_t to, const double *u,
                        int added);
/* From the derivative of something by f, in the last part of delta, to that by z_l. */
void gram_batch_backward(gram_batch *batch, int64_t from, int64_t to);
double *gram_batch_output_delta(const gram_batch *batch);
/* Of network->layers[l]: a_(l-1) with its stride, and dz_l. */
const double *gram_batch_below(const gram_batch *batch, int64_t layer, int64_t *ld);
const double *gram_batch_delta(const gram_batch *batch, int64_t layer);

/* ---- gradients (network_gradient.c) ---- */

/* A block of a layer's weights: rows out0..out1 of W, columns in0..in1; those with in0 = 0 have the biases too. */
typedef struct gram_weight_block {
    int64_t layer, out0, out1, in0, in1;
} gram_weight_block;

int64_t gram_weight_block_count(const gram_network *net);
gram_weight_block gram_weight_block_at(const gram_network *net, int64_t number);
/* gradient = (add ? gradient : 0) + sum over the rows 0..count of the batch, in the block's places. */
void gram_weight_block_gradient(const gram_batch *batch, const gram_weight_block *block, int64_t count, int add,
                                double *gradient);

/* Rows that a task goes through at once, by how many there are; and the most that are in memory at once. */
enum { GRAM_NETWORK_ROWS = 2048 };
int64_t gram_network_tile(int64_t rows);

/* Checks that the points have as many columns as the network has inputs. */
gram_status gram_network_check_points(gram_context *context, const char *function, const gram_network *network,
                                      const gram_points *x, const char *name);

/* ---- any function of parameters (parametric.c) ---- */

/* Is there a function, of at least one column and one parameter, at finite ones? */
gram_status gram_parametric_check(gram_context *context, const char *name, const gram_parametric *f,
                                  const double *theta);

/* ---- losses (network_loss.c) ---- */

/* A loss above this many times the first, and that of f = 0, has diverged. */
#define GRAM_DIVERGED 1e4

/* The sum of the losses of rows of f (m numbers each); f becomes the derivative of `share` times that sum. */
double gram_loss_rows(gram_network_loss loss, int64_t rows, int64_t m, const double *y, int64_t ldy,
                      const int64_t *order, double share, const double *f, double *derivative);

#endif

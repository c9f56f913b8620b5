/* A Stein kernel on points with scores, packed and ready to give its rows: see stein.c. */
#ifndef GRAM_EMBED_STEIN_H
#define GRAM_EMBED_STEIN_H

#include <gram/stein.h>

#include "tile/gradient/derivative.h"
#include "tile/matrix_rows.h"

typedef struct gram_stein {
    int64_t n, d;
    gram_engine *engine;   /* of the base kernel */
    gram_deriving general; /* how its derivatives are made */
    gram_derivatives nothing;
    int leaf;               /* the node of a squared distance, -1: the general way */
    double factor;          /* of its product with constants */
    int imq;                /* the leaf is imq with beta = 1/2, which has a loop of its own */
    double trace;           /* of J'WJ */
    int plain;              /* J = W = I: u is x, t and s are one, and there is no g */
    int64_t p;              /* columns of u and t */
    double *u, *t;          /* packed like gram_panels: W^(1/2) J x, W^(1/2) J s */
    double *g, *s;          /* J'WJ x, s */
    int64_t u_size, s_size; /* numbers of each */
    gram_memory *memory;
    gram_rows rows;
} gram_stein;

/* Checks kernel, points and scores (n x d, finite) and packs them; `function` begins the messages. O(n d), with a full
 * metric O(n d^2). The caller destroys it, also if it was only zeroed. */
gram_status gram_stein_create(gram_context *context, const char *function, const gram_kernel *kernel,
                              const gram_points *points, const double *scores, int64_t lds, gram_stein **stein);
void gram_stein_destroy(gram_stein *stein);

/* Mean and deviation of a column, which is 1 for a constant one (stein_scale.c). */
void gram_stein_measure(int64_t n, const double *x, int64_t ldx, double *mean, double *deviation);

/* The statistics of all = sum_ij w_i w_j k_ij and own, its part of the diagonal, for weights with the sum 1 and the squares' sum
 * `squares`. */
gram_discrepancy gram_stein_statistics(double all, double own, double squares, int64_t n);

#endif

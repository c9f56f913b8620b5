/* Many small Gram matrices of one kernel, each of some rows of the same points: what conditioning on neighbours is made of. One engine
 * serves thousands of them, so that none pays for compiling the kernel. */
#ifndef GRAM_TILE_SMALL_BLOCKS_H
#define GRAM_TILE_SMALL_BLOCKS_H

#include <gram/matrix.h>

#include "base/context.h"

/* One matrix, in the hands of one thread. */
typedef struct gram_block {
    int64_t number;
    int64_t size;           /* rows */
    const int32_t *members; /* their numbers */
    const double *k;        /* k[i * ld + j] for j <= i */
    int64_t ld;
    /* NULL, or zeros where weights are to be put: w[i * ld + j], j <= i, counts dk(x_i, x_j) once */
    double *w;
    void *scratch; /* of this thread */
} gram_block;

typedef gram_status (*gram_block_fn)(void *argument, const gram_block *block);

/* Numbers of members are rows of x, and from x->n on rows of `more`. */
typedef struct gram_blocks {
    const gram_kernel *kernel;
    const gram_points *x, *more; /* more: NULL or as many columns */
    int64_t count;
    const int64_t *start; /* count + 1: block b has members[start[b]] .. members[start[b + 1] - 1] */
    const int32_t *members;
    size_t scratch_bytes; /* for each thread */
    gram_block_fn visit;  /* called once for each, by several threads at a time */
    void *argument;
    const char *what; /* for the progress line */
} gram_blocks;

/* Visits all blocks. Unless gradient is NULL, gradient[p] is the sum over all blocks of w_ij dk(x_i, x_j)/dtheta_p, for every parameter of
 * the kernel. Always in f64, the same bits for any number of threads. What a block is made of costs its pairs, in whole tiles. The
 * failure of the lowest-numbered block that failed is returned. */
gram_status gram_blocks_run(gram_context *context, const gram_blocks *blocks, double *gradient);

#endif

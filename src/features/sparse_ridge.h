/* Ridge regression on sparse features: minimise sum_i w_i (y_i - z_i.c - b)^2 + strength |c|^2 by conjugate gradients on equations
 * that are never made: an iteration is a product with Z' and one with Z. */
#ifndef GRAM_FEATURES_SPARSE_RIDGE_H
#define GRAM_FEATURES_SPARSE_RIDGE_H

#include "base/sparse/csr.h"

typedef struct gram_sparse_ridge {
    const gram_csr *z;     /* rows as gram_csr_transposed_times wants them */
    const double *weights; /* NULL: all 1 */
    int intercept;
    double strength;  /* above 0 */
    double tolerance; /* of the residual, relative to the right-hand side */
    int64_t most;     /* iterations */
    /* found */
    double residual;
    int64_t iterations;
} gram_sparse_ridge;

/* c, as many as columns; *b is 0 without an intercept. y[i * ldy]. Not reaching the tolerance is no failure:
 * `residual` says what was reached. O(nonzeros) for each iteration. */
gram_status gram_sparse_ridge_solve(gram_context *context, gram_sparse_ridge *ridge, const double *y, int64_t ldy,
                                    double *c, double *b);

#endif

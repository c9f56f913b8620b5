/* What the files of HSIC share. */
#ifndef GRAM_TEST_INDEPENDENCE_HSIC_H
#define GRAM_TEST_INDEPENDENCE_HSIC_H

#include <gram/hsic.h>

#include "tile/pair_sums.h"

/* Where the random numbers of permutation tests of independence come from: variable v of draw b has its own permutation. */
typedef struct gram_shuffles {
    uint64_t seed;
    int64_t n;
} gram_shuffles;

void gram_shuffle(const gram_shuffles *shuffles, int variable, int64_t draw, int64_t *order);

/* values[b] = n^2 HSIC with the rows of y in shuffle b; b = 0 is the observed order. *rank gets the factors' ranks, or 0 and 0 if
 * whole matrices were shuffled. */
gram_status gram_hsic_shuffled(gram_context *context, const gram_kernel *kernel_x, const gram_points *x,
                               const gram_kernel *kernel_y, const gram_points *y, int64_t count, double *values,
                               int64_t *rank);

/* values[b] = n^2 dHSIC with all variables but the first shuffled; *scale is the size of the sums that they are differences of. */
gram_status gram_dhsic_shuffled(gram_context *context, int variables, gram_kernel *const *kernels,
                                const gram_points *const *points, int64_t count, double *values, double *scale);

#endif

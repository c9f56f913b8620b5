/* What the files of HSIC share. */
#ifndef GRAM_TEST_INDEPENDENCE_HSIC_H
#define GRAM_TEST_INDEPENDENCE_HSIC_H

#include <gram/hsic.h>

#include "base/sweep.h"
#include "tile/pair_sums.h"

/* What the moments need of one centred matrix C: tr C, tr C^2, sum_i C_ii^2. */
typedef struct gram_hsic_traces {
    double t, q, s;
    int none; /* C is 0 but for rounding */
} gram_hsic_traces;

gram_hsic_traces gram_hsic_traces_of(const gram_pairs *pairs);

/* The variance of trace(C P D P') over all permutations P; its mean is t t'/(n - 1). */
double gram_hsic_shuffle_variance(double n, const gram_hsic_traces *c, const gram_hsic_traces *d);

/* Where the random numbers of permutation tests of independence come from: variable v of draw b has its own permutation. */
typedef struct gram_shuffles {
    uint64_t seed;
    int64_t n;
    int64_t first; /* draw of the tasks of gram_shuffles_run */
} gram_shuffles;

void gram_shuffle(const gram_shuffles *shuffles, int variable, int64_t draw, int64_t *order);

/* values[b] for b < count: task k of the sweep makes that of b = shuffles->first + k. With several ranks each makes some of them, rank 0 the first, and
 * all get all of them. */
gram_status gram_shuffles_run(gram_context *context, gram_shuffles *shuffles, int64_t count, const gram_sweep *sweep,
                              double *values);

/* values[b] = n^2 HSIC with the rows of y in shuffle b; b = 0 is the observed order. *rank gets the factors' ranks, or 0 and 0 if
 * whole matrices were shuffled. */
gram_status gram_hsic_shuffled(gram_context *context, const gram_kernel *kernel_x, const gram_points *x,
                               const gram_kernel *kernel_y, const gram_points *y, int64_t count, double *values,
                               int64_t *rank);

/* Level and number of permutations, in the name of `function`. */
gram_status gram_hsic_check_numbers(gram_context *context, const char *function, const gram_hsic_options *o);

/* The test with many kernels on both sides at once, `count` - 1 shuffles: statistic, moments, p-value, looks, ranks and the kernels
 * that saw most. kernels, or one of them, NULL: rbf and laplace1. */
gram_status gram_hsic_aggregated(gram_context *context, gram_kernel *const *kernels, const gram_points *const *points,
                                 int64_t count, gram_hsic_result *result);

/* values[b] = n^2 dHSIC with all variables but the first shuffled; *scale is the size of the sums that they are differences of. */
gram_status gram_dhsic_shuffled(gram_context *context, int variables, gram_kernel *const *kernels,
                                const gram_points *const *points, int64_t count, double *values, double *scale);

#endif

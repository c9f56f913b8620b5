/* Random grids whose bins two points share with probability k(x, y)/k(x, x) (Rahimi and Recht 2007). */
#ifndef GRAM_KERNEL_SPECTRAL_BIN_MEASURE_H
#define GRAM_KERNEL_SPECTRAL_BIN_MEASURE_H

#include "kernel/kernel.h"

/* Along one column bins are floor(x/pitch - shift), shift uniform on (0, 1). */
typedef struct gram_bin_axis {
    int64_t column;
    double pitch, shift;
} gram_bin_axis;

/* GRAM_ERROR_UNSUPPORTED, naming the part and what fits instead, unless the kernel is made of constants, laplace1, and laplace, powexp
 * with p <= 1 and matern with nu <= 1/2 of one column each, by sums, products, powers, `on` and `normalize`; else its height k(x, x) and
 * how many axes a grid has at most. The kernel fits d and has all its numbers. */
gram_status gram_bins_check(gram_context *context, const char *name, const gram_kernel *kernel, int64_t d,
                            double *height, int64_t *axes);

/* Grid number `which` of `count` under the seed; returns how many axes it has. Without any all points share a bin. */
int64_t gram_bins_draw(const gram_kernel *kernel, uint64_t seed, int64_t which, int64_t count, int64_t d,
                       gram_bin_axis *axes);

#endif

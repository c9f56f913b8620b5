/* Between the two files that set open numbers: kernel_resolve.c, and tile/embedding/resolve_kernel.c, which knows the distances that kernels make. */
#ifndef GRAM_KERNEL_EMBEDDING_RESOLVE_PARTS_H
#define GRAM_KERNEL_EMBEDDING_RESOLVE_PARTS_H

#include "kernel/kernel.h"

/* The median of the distances that a kernel without open numbers makes between points, of which it has this view. */
typedef gram_status (*gram_after_median)(gram_context *context, gram_kernel *kernel, const gram_view *view,
                                         const struct gram_points *points, double *value);

/* gram_kernel_resolve, with that of after(a, b). */
gram_status gram_kernel_resolve_parts(gram_context *context, const gram_kernel *kernel,
                                      const struct gram_points *points, gram_after_median after, gram_kernel **out);

/* The middle of x[0 .. n), n > 0, or the mean of the two in the middle; x is put into another order. O(n) on average. */
double gram_median(double *x, int64_t n);

#endif

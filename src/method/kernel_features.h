/* Rows as features of a kernel: K ~ F F', F a partial Cholesky factor of K with pivots P, and f(x) = L^-1 k(P, x) for any x, L being the
 * rows P of F. Row i of F is f(x_i): where K is positive semi-definite, inner products of rows are K but for what is missed, which is
 * known. What a method finds in these few coordinates, weights w, is a function of the kernel's space with the norm |w|:
 *
 *     w'(f(x) - m) = sum_p (L^-T w)_p k(x_p, x) - w'm,     m the means that were subtracted, or 0 */
#ifndef GRAM_METHOD_KERNEL_FEATURES_H
#define GRAM_METHOD_KERNEL_FEATURES_H

#include <gram/function.h>

#include "solve/eigen/tall_matrix.h"
#include "solve/pivoted_cholesky.h"

/* Folds see no more: the first columns of F, which are a factor of lower rank. */
enum { GRAM_FOLD_FEATURES = 256 };

typedef struct gram_kernel_features {
    gram_kernel *kernel; /* borrowed, as the points are */
    const gram_points *x;
    gram_pivoted factor;
    gram_tall rows; /* F: n x rank, in the factor */
    double *pivots; /* rank x rank: L */
    double *means;  /* rank; 0 if nothing was centred */
    double trace;   /* tr F F', after centring */
    double error;   /* tr(K - F F')/tr K */
} gram_kernel_features;

/* At most `most` columns; fewer if they miss no more than 1e-10 of the trace. `view` is for messages. GRAM_ERROR_DATA if all rows
 * are alike to the kernel. O(n rank (rank + d)) time. Free it after a failure, too; the same bits for any number of
 * threads. */
gram_status gram_kernel_features_make(gram_context *context, const char *view, gram_kernel *kernel,
                                      const gram_points *x, int64_t most, int centre, gram_kernel_features *features);
/* Takes zeroed ones. */
void gram_kernel_features_free(gram_context *context, gram_kernel_features *features);

/* The functions of weights, rank x count, as outputs of one. */
gram_status gram_kernel_features_function(gram_context *context, const gram_kernel_features *features, int64_t count,
                                          const double *weights, gram_function **function);

/* Of two views, with weights for `count` outputs of each: the largest f + g by size over the rows becomes positive, output by output.
 * A rule that does not ask which view is the first. */
gram_status gram_kernel_features_fix_signs(gram_context *context, const gram_kernel_features views[2], int64_t count,
                                           double *const weights[2]);

/* How many columns at most: `wanted`, or 1,000 if it is 0, as many as there are rows, and as fit in a fifth of the budget. */
int64_t gram_kernel_features_most(const gram_context *context, int64_t n, int64_t wanted);
/* Bytes that features of two views take at most, with those of a fold. */
double gram_kernel_features_bytes(int64_t n, int64_t most);

#endif

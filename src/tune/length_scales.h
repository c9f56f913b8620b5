/* One length-scale per feature for methods that choose by a grid, which cannot search that many: kernel ridge regression on the labels
 * or targets, whose leave-one-out error has gradients, says how long each should be beside the others. */
#ifndef GRAM_TUNE_LENGTH_SCALES_H
#define GRAM_TUNE_LENGTH_SCALES_H

#include <gram/krr_tune.h>

#include "tune/row_folds.h"

/* *shaped is the kernel with its values set and several length-scales, NULL if one for all is nearly as good, or the kernel has none to
 * be split; the caller releases it. y: labels 0 .. classes - 1, or with classes = 0 numbers; n numbers >= 0 as weights, or NULL.
 * Rows that are grouped or ordered (by `rows`) are left out that way, by its folds, else one by one.
 * ard: 1 try it, 0 do not, -1 try it with 30 rows for each column, of up to 600 rows. O(r^3) some tens of times for r <= 600 rows; memory for 2.5 r^2 numbers, and n x classes. */
gram_status gram_relevance(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t classes,
                           const double *y, const double *weights, const gram_folds_rule *rows, int ard,
                           gram_kernel **shaped);

#endif

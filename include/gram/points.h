/* Points: n rows of d numbers, borrowed from the caller.
 *
 * The array is row-major: point i starts at data + i * ld. It is never copied and must stay unchanged while the
 * points live. Storing points as f32 is also how single precision is asked for: what is computed between f32 points is
 * computed in f32 (parameters, right-hand sides, results and all derivatives stay double), everything else in f64. */
#ifndef GRAM_POINTS_H
#define GRAM_POINTS_H

#include <gram/context.h>

GRAM_BEGIN

typedef struct gram_points gram_points;

/* Makes points from n >= 1 rows of d >= 1 numbers, ld >= d apart. Reads the array once to find NaN and infinities:
 * GRAM_ERROR_DATA names the first one's row and column (counted from 0, as in C). O(n d) time, no memory of that size.
 * The caller releases the points. */
GRAM_API gram_status gram_points_create_f64(gram_context *context, int64_t n, int64_t d, const double *data, int64_t ld,
                                            gram_points **points);
GRAM_API gram_status gram_points_create_f32(gram_context *context, int64_t n, int64_t d, const float *data, int64_t ld,
                                            gram_points **points);

/* Sparse rows: n rows of d columns, of which row i has the values value[k] in columns index[k] (from 0, ascending), start[i] <= k < start[i + 1],
 * and 0 elsewhere (scipy's CSR). The arrays are borrowed like those above and checked once: GRAM_ERROR_DATA names row and index of what does not
 * ascend, is out of range or is not finite. To a kernel such points have one column, which holds the rows: every kernel of inner products
 * or distances takes them, with one length-scale, and what needs single coordinates is GRAM_ERROR_UNSUPPORTED. No array of n x d numbers
 * is ever made. O(number of values). The caller releases the points. */
GRAM_API gram_status gram_points_create_sparse(gram_context *context, int64_t n, int64_t d, const int64_t *start,
                                               const int32_t *index, const double *value, gram_points **points);

/* Bags: n points each of which is a sample of rows of d numbers. Bag i has the rows start[i] .. start[i + 1] - 1 of `rows` (start[n] x d, row-major, without gaps), one
 * at least. The arrays are borrowed and checked once: GRAM_ERROR_DATA names the bag without rows, or with a number that is not finite. To a kernel such points have one
 * column, which holds the bags: gram_kernel_mean takes them. O(start[n] d). The caller releases the points. */
GRAM_API gram_status gram_points_create_bags(gram_context *context, int64_t n, int64_t d, const int64_t *start,
                                             const double *rows, gram_points **points);

/* The same with a weight of each row, start[n] of them, finite and at least 0: the rows of a bag count as their weights over the sum of these, which must be above 0. Borrowed,
 * too. NULL: all rows of a bag are alike. */
GRAM_API gram_status gram_points_create_weighted_bags(gram_context *context, int64_t n, int64_t d, const int64_t *start,
                                                      const double *rows, const double *weights, gram_points **points);

/* Points are counted: one more owner, who releases them too. Returns points; takes NULL. */
GRAM_API gram_points *gram_points_retain(gram_points *points);

/* The last owner frees them. Takes NULL. The caller's array is left alone. */
GRAM_API void gram_points_release(gram_points *points);

GRAM_API int64_t gram_points_count(const gram_points *points);
GRAM_API int64_t gram_points_dimension(const gram_points *points);

GRAM_END

#endif

/* Bags: points each of which is a sample of several rows of numbers.
 *
 * A store of kind GRAM_OBJECT_BAG has the rows of all bags one after the other, d numbers each: bag i has rows start[i] .. start[i + 1] - 1, at least
 * one, and perhaps weights of the rows. Kernels see them through `mean` (kernel.h). */
#ifndef GRAM_POINTS_BAGS_H
#define GRAM_POINTS_BAGS_H

#include "points/points.h"

/* A store of `count` bags, whose arrays are `shape`'s: start, value, d, weight; what is in own[] is the store's from then on, also if it fails. Bags without rows, numbers that
 * are not finite, weights below 0 and bags whose weights add up to nothing are GRAM_ERROR_DATA; `who` begins the messages. */
gram_status gram_bags_new(gram_context *context, const char *who, const gram_objects *shape, gram_objects **bags);

/* The rows of the bags that points have in a column, as points of numbers. */
typedef struct gram_bag_rows {
    gram_points *rows;
    int64_t *start;  /* n + 1: the rows of point i are start[i] .. start[i + 1] - 1 */
    double *weights; /* of the rows, of sum 1 in each bag; NULL: all rows of a bag are alike */
} gram_bag_rows;

/* Of points[which[0 .. count)], or of all of them (which NULL). Numbers are copied, unless the points have the whole store in order: then they are borrowed from it. */
gram_status gram_bag_rows_gather(gram_context *context, const gram_points *points, int64_t column, int64_t count,
                                 const int64_t *which, gram_bag_rows *out);
void gram_bag_rows_give(gram_context *context, gram_bag_rows *rows);

#endif

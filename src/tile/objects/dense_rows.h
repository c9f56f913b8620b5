/* Sparse rows that are not sparse, packed with their zeros: inner products by the strips of ordinary points (tile/panels.h).
 *
 * A value of a row meets a value of the other in its column in some 0.9 ns by way of sparse panels; a product of dense ones takes some 0.09 ns in f64 and half of it in f32. So
 * rows of which a third are not 0 are better off here. Counts are small whole numbers: if squares of the rows' lengths are below 2^24, so are all sums that an inner product passes
 * through (Cauchy-Schwarz), and f32 makes them without an error. Otherwise sums are f64, over the columns in ascending order, as those of sparse panels. */
#ifndef GRAM_TILE_OBJECTS_DENSE_ROWS_H
#define GRAM_TILE_OBJECTS_DENSE_ROWS_H

#include "points/objects.h"
#include "tile/panels.h"

/* Some rows of a store. */
typedef struct gram_row_choice {
    const gram_objects *rows;
    int64_t count;
    const int64_t *place; /* in the store */
} gram_row_choice;

/* Whether both sides are better off with their zeros, and in *single whether f32 is exact. */
int gram_rows_are_dense(const gram_row_choice *x, const gram_row_choice *y, int *single);

/* Panels of the rows. O(count d). */
gram_status gram_dense_rows_pack(gram_context *context, const gram_row_choice *choice, int single, gram_panels *panels);

/* The inner products of a strip. */
void gram_dense_rows_dot(const gram_strips *strips, const gram_panels *x, const gram_panels *y, int64_t row_panel,
                         int row, int64_t column_panel, double *out);

#endif

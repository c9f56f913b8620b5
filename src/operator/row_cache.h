/* Rows of K(X, X) in f32, made in batches when asked for and kept as long as there is room.
 *
 * Entries are computed by the engine in f64 (or in f32 between f32 points) and narrowed. When the room ends, the row that was
 * asked for longest ago makes place. Of the room only as much is used as is worth while: it grows with the rows that come back. */
#ifndef GRAM_OPERATOR_ROW_CACHE_H
#define GRAM_OPERATOR_ROW_CACHE_H

#include <gram/kernel.h>

#include "points/points.h"

typedef struct gram_row_cache gram_row_cache;

/* Room for `bytes` of rows, of at most `most` points; touched as it is filled. Rows are divided by `unit`, a power of two that
 * brings them into the range of f32. The kernel is counted. Begin comes first. */
gram_status gram_row_cache_create(gram_context *context, gram_kernel *kernel, int64_t most, size_t bytes, double unit,
                                  gram_row_cache **cache);
void gram_row_cache_destroy(gram_row_cache *cache);

/* From now on rows of these points, which are borrowed; those of others are forgotten. Their memory is used again, since fresh
 * pages cost as much as the rows in them. Returns how many rows there is room for, at least 16 or all. */
int64_t gram_row_cache_begin(gram_row_cache *cache, const gram_points *x);

/* out[r] = row points[r], valid until the next call; at most as many as there is room for, equal ones allowed. Missing rows
 * are made in one parallel sweep: O(missing n d), and O(n d) for packing the points. */
gram_status gram_row_cache_get(gram_row_cache *cache, gram_context *context, int64_t count, const int64_t *points,
                               const float **out);

#endif

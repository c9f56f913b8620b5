/* Maps of a plane: what a predictor says of a regular grid of points, or which label the nearest of some points has. For pictures of
 * classes, clusters and coordinates; where labels change are the borders.
 *
 * Common failures: GRAM_ERROR_ARGUMENT, those of gram_predictor_evaluate, GRAM_ERROR_BUDGET, GRAM_ERROR_MEMORY,
 * GRAM_ERROR_CANCELLED. */
#ifndef GRAM_MAP_H
#define GRAM_MAP_H

#include <gram/learn.h>

GRAM_BEGIN

/* side x side cells in a frame that has 6 % of the points' range beyond them on each side (1 where they have none). Cell i along the first
 * axis and j along the second has its middle at low + (high - low) (i + 1/2)/side, ..., and the value values[i * side + j]. */
typedef struct gram_map {
    int64_t side;
    double low[2], high[2];
    double *values;
} gram_map;

/* The first column of what the predictor says, about n points of two prepared features, rows ldx apart. The caller destroys the map
 * (takes NULL). */
GRAM_API gram_status gram_map_of_predictor(gram_context *context, const gram_predictor *predictor, int64_t n,
                                           const double *x, int64_t ldx, int64_t side, gram_map **map);
/* The label of the nearest of n points, by distances relative to the sides of the frame. O(n side^2). */
GRAM_API gram_status gram_map_of_nearest(gram_context *context, int64_t n, const double *x, int64_t ldx,
                                         const double *labels, int64_t side, gram_map **map);
GRAM_API void gram_map_destroy(gram_map *map);

/* Where neighbouring cells have different values: returns the number of segments, four numbers each (from x, y to x, y), which are
 * written to `segments` unless it is NULL. At most 2 side (side - 1). */
GRAM_API int64_t gram_map_borders(const gram_map *map, double *segments);

GRAM_END

#endif

/* Regular grids, written a:b:n for each axis. */
#ifndef GRAM_GRID_H
#define GRAM_GRID_H

#include <stdint.h>

#include <gram/status.h>

GRAM_BEGIN

enum { GRAM_GRID_MOST_AXES = 8 };

/* `count` values from `from` to `to`, both among them. */
typedef struct gram_axis {
    double from, to;
    int64_t count;
} gram_axis;

typedef struct gram_grid {
    int axis_count;
    gram_axis axes[GRAM_GRID_MOST_AXES];
} gram_grid;

/* Reads "a:b:n", or several with commas: a < b, both finite, and n from 2 to 2^31. GRAM_ERROR_SYNTAX for any other text. */
GRAM_API gram_status gram_grid_parse(const char *text, gram_grid *grid);

/* How many points it has; a double, since it may be more than an integer holds. */
GRAM_API double gram_grid_count(const gram_grid *grid);

/* The points, row by row with axis_count numbers each; the last axis runs fastest. */
GRAM_API void gram_grid_fill(const gram_grid *grid, double *out);

GRAM_END

#endif

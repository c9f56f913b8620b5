/* Rows of a given matrix (points/given_things.h) for strips: an entry is matrix[row[i] + column[j]], whichever of the two sides has the matrix. */
#ifndef GRAM_TILE_OBJECTS_GIVEN_PANELS_H
#define GRAM_TILE_OBJECTS_GIVEN_PANELS_H

#include "points/points.h"
#include "tile/strip/strips.h"

typedef struct gram_given_panels {
    gram_memory *memory;
    gram_objects *store; /* whose matrix it is; retained */
    const double *matrix;
    int64_t *row, *column; /* padded to whole panels */
    /* new things of which only the kernel with themselves is known: which they are; other entries are NaN. NULL: all entries are there */
    int64_t *row_thing, *column_thing;
} gram_given_panels;

/* Of column l of the points; with `index`, `count` of y. GRAM_ERROR_DATA if an entry is in neither matrix. O(n + m) time and memory. */
gram_status gram_given_panels_create(gram_context *context, const gram_points *x, const gram_points *y, int64_t count,
                                     const int64_t *index, int64_t l, gram_given_panels **panels);
/* Takes NULL. */
void gram_given_panels_destroy(gram_given_panels *panels);

void gram_given_strip(const gram_given_panels *panels, int64_t row_panel, int row, int64_t column_panel, double *out);

#endif

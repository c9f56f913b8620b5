/* Points packed for the innermost loops: panels of GRAM_PANEL points, coordinate by coordinate.
 *
 * Coordinate l of point i is data[(i / PANEL * d + l) * PANEL + i % PANEL]; the last panel is filled up with zeros. The
 * same packing serves points as rows and as columns. Coordinates are the stored ones (gathered when the kernel sees some
 * columns only), so that differences of near-equal points are exact; only a full covariance and distances from inner
 * products work on mapped copies. */
#ifndef GRAM_TILE_PANELS_H
#define GRAM_TILE_PANELS_H

#include "points/points.h"
#include "tile/strip/strips.h"

/* How the packed coordinates come from the stored ones: u = L^-1 ((A x[columns] - shift)/divide). */
typedef struct gram_mapping {
    int64_t d;            /* of u */
    int64_t source_count; /* columns that it is made from: d of them unless there is a matrix */
    const int64_t *columns;
    const double *matrix; /* A, d x source_count, row-major, or NULL for the columns themselves */
    const double *shift;  /* d, or NULL for 0 */
    const double *divide; /* d length-scales to divide by, or NULL */
    const double *factor; /* d x d lower triangular L, row-major, u = L^-1 (...), or NULL */
} gram_mapping;

/* u of point `row`. O(d), with a matrix or a factor O(d^2). */
void gram_mapping_point(const gram_mapping *mapping, const gram_points *points, int64_t row, double *u);

typedef struct gram_panels {
    int64_t n;     /* points */
    int64_t count; /* panels */
    int64_t d;
    int single; /* f32 */
    double *f64;
    float *f32;
    double *norms_f64; /* |u|^2, padded like a panel's coordinate; NULL unless asked for */
    float *norms_f32;
    gram_memory *memory;
} gram_panels;

/* Rows of d columns that are packed at once where nothing needs all of them: some 32 MiB. */
static inline int64_t gram_packed_rows(int64_t d)
{
    return (1 << 22) / d + 1;
}

/* Packs points, or those with the numbers index[0 .. count) if index is not NULL. O(n d). */
gram_status gram_panels_create(gram_context *context, const gram_points *points, int64_t count, const int64_t *index,
                               const gram_mapping *mapping, int single, int norms, gram_panels *panels);
/* Takes panels that were never created, if zeroed. */
void gram_panels_destroy(gram_panels *panels);

static inline const double *gram_panels_f64(const gram_panels *panels, int64_t panel)
{
    return panels->f64 + panel * panels->d * GRAM_PANEL;
}

static inline const float *gram_panels_f32(const gram_panels *panels, int64_t panel)
{
    return panels->f32 + panel * panels->d * GRAM_PANEL;
}

#endif

/* Points from inside. */
#ifndef GRAM_POINTS_POINTS_H
#define GRAM_POINTS_POINTS_H

#include <stdatomic.h>

#include <gram/points.h>

#include "base/context.h"

struct gram_points {
    atomic_int references;
    gram_memory *memory;
    int64_t n, d, ld;
    const double *f64; /* exactly one of these two is not NULL */
    const float *f32;
    /* rows that are functionals (functionals.h): the points are where they are, for scales of distances and the like */
    struct gram_functionals *functionals;
    void *own; /* memory of the numbers, given back with the points; NULL: borrowed */
};

/* Coordinate l of point i, whatever its type: for code that is not in a hurry. */
static inline double gram_points_at(const gram_points *points, int64_t i, int64_t l)
{
    const int64_t at = i * points->ld + l;
    return points->f64 ? points->f64[at] : (double)points->f32[at];
}

/* Copies of some rows, in f64, whatever they are: points or functionals. rows NULL: the first `count`. */
gram_status gram_points_gather(gram_context *context, const gram_points *x, int64_t count, const int64_t *rows,
                               gram_points **out);

/* Rows first .. first + count - 1; points are borrowed from x, functionals copied. */
gram_status gram_points_part(gram_context *context, const gram_points *x, int64_t first, int64_t count,
                             gram_points **out);

#endif

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
};

/* Coordinate l of point i, whatever its type: for code that is not in a hurry. */
static inline double gram_points_at(const gram_points *points, int64_t i, int64_t l)
{
    const int64_t at = i * points->ld + l;
    return points->f64 ? points->f64[at] : (double)points->f32[at];
}

#endif

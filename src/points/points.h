/* Points from inside. */
#ifndef GRAM_POINTS_POINTS_H
#define GRAM_POINTS_POINTS_H

#include <stdatomic.h>

#include <math.h>

#include <gram/points.h>

#include "base/context.h"
#include "points/objects.h"

struct gram_points {
    atomic_int references;
    gram_memory *memory;
    int64_t n, d, ld;
    const double *f64; /* exactly one of these two is not NULL */
    const float *f32;
    /* rows that are functionals (functionals.h): the points are where they are, for scales of distances and the like */
    struct gram_functionals *functionals;
    /* columns that hold places in a store (objects.h), d of them, NULL where a column holds numbers; NULL: all hold numbers */
    gram_objects **objects;
    void *own; /* memory of the numbers, given back with the points; NULL: borrowed */
};

/* What is stored in column l of point i, whatever its type: a coordinate, or a place in the column's store. For copies of rows. */
static inline double gram_points_cell(const gram_points *points, int64_t i, int64_t l)
{
    const int64_t at = i * points->ld + l;
    return points->f64 ? points->f64[at] : (double)points->f32[at];
}

/* Coordinate l of point i, whatever its type: for code that is not in a hurry. NaN where the column holds no numbers. */
static inline double gram_points_at(const gram_points *points, int64_t i, int64_t l)
{
    if (points->objects && points->objects[l]) return NAN;
    return gram_points_cell(points, i, l);
}

/* What column l holds: GRAM_OBJECT_NONE for numbers. */
static inline gram_object_kind gram_points_kind(const gram_points *points, int64_t l)
{
    return points->objects && points->objects[l] ? points->objects[l]->kind : GRAM_OBJECT_NONE;
}

/* The thing that point i has in column l, which holds no numbers. */
static inline int64_t gram_points_place(const gram_points *points, int64_t i, int64_t l)
{
    return (int64_t)points->f64[i * points->ld + l];
}

/* New f64 points get the stores of `objects`, one for each column (NULL where it holds numbers; NULL: nothing happens). A cell that is no place in
 * its store is an error, and the points are released. */
gram_status gram_points_set_objects(gram_context *context, gram_objects *const *objects, gram_points **points);

/* Points of one column, which holds the things of the store in their order. */
gram_status gram_points_of_store(gram_context *context, gram_objects *store, gram_points **points);

/* f64 points of an array whose rows are copies of rows of `like`: the same columns, the same stores. The array is borrowed, or theirs if `own`
 * (also when this fails). */
gram_status gram_points_create_like(gram_context *context, const gram_points *like, int64_t n, double *data, int own,
                                    gram_points **points);

/* The same, borrowed, with stores that hold what these n rows have and no more: places in `data` become those in the new stores. */
gram_status gram_points_keep_objects(gram_context *context, const gram_points *like, int64_t n, double *data,
                                     gram_points **points);

/* GRAM_ERROR_UNSUPPORTED, naming the column, if one holds no numbers: for what needs coordinates. Takes NULL. */
gram_status gram_points_must_be_numbers(gram_context *context, const char *who, const gram_points *points);

/* Copies of some rows, in f64, whatever they are: points or functionals. rows NULL: the first `count`. */
gram_status gram_points_gather(gram_context *context, const gram_points *x, int64_t count, const int64_t *rows,
                               gram_points **out);

/* The same in the type that they have: f32 points stay f32. */
gram_status gram_points_copy(gram_context *context, const gram_points *x, int64_t count, const int64_t *rows,
                             gram_points **out);

/* Rows first .. first + count - 1; points are borrowed from x, functionals copied. */
gram_status gram_points_part(gram_context *context, const gram_points *x, int64_t first, int64_t count,
                             gram_points **out);

#endif

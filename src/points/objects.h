/* Columns that hold no numbers: sparse rows, texts and the like.
 *
 * A kernel needs a set, not a vector space. So a column of points may hold, in place of numbers, the places of things in a store that the points
 * share: cell (i, l) is then the number of the thing that point i has in column l. Copying, sorting, pooling and splitting rows moves these
 * numbers about and leaves the things where they are, whatever their size; only kernels look into the store. gram_points_at gives NaN for such
 * a cell: whatever takes it for a coordinate finds out at once.
 *
 * A kind of thing is a value of gram_object_kind, its storage here, and its forms in src/tile. Stores never change and are counted. */
#ifndef GRAM_POINTS_OBJECTS_H
#define GRAM_POINTS_OBJECTS_H

#include <stdatomic.h>

#include "base/context.h"

typedef enum gram_object_kind {
    GRAM_OBJECT_NONE,   /* numbers */
    GRAM_OBJECT_SPARSE, /* rows of d numbers most of which are 0 */
    GRAM_OBJECT_TEXT,   /* strings of bytes */
    GRAM_OBJECT_GIVEN,  /* what is known by a given matrix only (given_things.h) */
    GRAM_OBJECT_BAG,    /* samples of rows of d numbers (bags.h) */
    GRAM_OBJECT_KINDS
} gram_object_kind;

/* Blocks of memory that may go with a store. */
enum { GRAM_OBJECT_PARTS = 4 };

/* "numbers", "sparse rows", "texts", "rows of a given matrix", "bags" */
const char *gram_object_kind_name(gram_object_kind kind);

typedef struct gram_objects {
    atomic_int references;
    gram_memory *memory;
    gram_object_kind kind;
    int64_t count;
    const int64_t *start;   /* count + 1: what thing i has is at start[i] .. start[i + 1] - 1; of bags these are rows */
    int64_t d;              /* sparse, bags: columns of a row */
    const int32_t *index;   /* ascending within a row, from 0 */
    const double *value;    /* of bags, d for each row */
    const double *weight;   /* bags: of each row, at least 0, their sum in a bag above 0; NULL: all alike */
    const double *square;   /* sparse: inner products are divided by the roots of these; NULL: they are not */
    const char *text;       /* of texts; of a given matrix the name of its file */
    const int64_t *line;    /* of texts: the lines of a file, or its rows as -1, -2 ...; NULL: they are from nowhere */
    const char *file;       /* the name of that file */
    int64_t width;          /* of a given matrix: its columns */
    const int32_t *columns; /* and what they are; NULL: all, in order */
    int alone;              /* its last column is the kernel of each new thing with itself */
    void *own[GRAM_OBJECT_PARTS]; /* what goes with the store */
    /* what kernels made of it, a list that only grows; `forget` frees it */
    _Atomic(struct gram_derived *) derived;
    void (*forget)(gram_memory *memory, void *derived);
    struct gram_objects *parent; /* whose arrays it borrows; retained, or NULL */
} gram_objects;

/* A copy of *shape on the heap, with one owner. Arrays in shape->own are the store's from then on, also if it fails. */
gram_status gram_objects_new(gram_context *context, const gram_objects *shape, gram_objects **objects);

/* Sparse rows that are checked: starts that ascend from 0, indices that ascend within 0 .. d-1, finite values. The arrays are borrowed; `who` begins the messages. */
gram_status gram_objects_create_sparse(gram_context *context, const char *who, int64_t count, int64_t d,
                                       const int64_t *start, const int32_t *index, const double *value,
                                       gram_objects **objects);

/* Both take NULL. */
gram_objects *gram_objects_retain(gram_objects *objects);
void gram_objects_release(gram_objects *objects);

/* A store with a copy of some of the things, in the order of `which`: what a model keeps. */
gram_status gram_objects_gather(gram_context *context, const gram_objects *from, int64_t count, const int64_t *which,
                                gram_objects **objects);

/* The things of a, and after them those of b, which must be of one kind. */
gram_status gram_objects_join(gram_context *context, const gram_objects *a, const gram_objects *b,
                              gram_objects **objects);

/* Is thing i of a equal to thing j of b, of the same kind? */
int gram_objects_same(const gram_objects *a, int64_t i, const gram_objects *b, int64_t j);

/* sum_l (x_l - y_l)^2, or |x_l - y_l|, of sparse rows i of a and j of b, by walking both. */
double gram_sparse_distance(const gram_objects *a, int64_t i, const gram_objects *b, int64_t j, int l1);

#endif

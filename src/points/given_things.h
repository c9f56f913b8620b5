/* Things of which nothing is known but the kernel between them: rows of a given matrix.
 *
 * Anything has a kernel if somebody computed its matrix. The things that a fit sees are called *known*, 0 .. d-1 in their order; thing i of a store is
 * index[i], below d if it is one of them and d + (its row) if it is new. Its entries are in row start[i] / width of a matrix of `width` columns,
 * which are the known things in order, or the ones that `columns` lists, ascending. After all known things the matrix may have the new ones, too, or one column
 * (`alone`) with the kernel of each new thing with itself.
 * An entry of two things is found in the row of either, under the other's column: K is symmetric, and both have the same bits.
 *
 * Stores made of others (some of the things, two of them joined) share the matrix. */
#ifndef GRAM_POINTS_GIVEN_THINGS_H
#define GRAM_POINTS_GIVEN_THINGS_H

#include "points/objects.h"

typedef struct gram_given_matrix {
    const char *name; /* what messages call it; copied */
    int64_t rows, width;
    int64_t known; /* d */
    const int64_t
        *which; /* of each row the known thing that it is; NULL: all are new, or row i is thing i if `training` */
    int training;
    const int64_t *columns; /* width known things, ascending; NULL: the columns are all of them in order */
    double *value;          /* rows x width; the store's from then on, also if it fails */
} gram_given_matrix;

/* All entries must be finite. The caller releases the store. */
gram_status gram_given_create(gram_context *context, const gram_given_matrix *matrix, gram_objects **objects);

/* Entries (i, j) and (j, i) of known things may differ by rounding, 1e-6 of the root of the diagonal entries: both become their mean. By more: GRAM_ERROR_DATA
 * names row, column and both values. For a store that has the matrix for itself. */
gram_status gram_given_symmetrise(gram_context *context, gram_objects *objects);

/* The columns of a matrix of new things that has fewer than there are known ones are these `count` of them, ascending: GRAM_ERROR_DATA if it has another number. */
gram_status gram_given_name_columns(gram_context *context, gram_objects *objects, int64_t count, const int64_t *known);

/* What gram_objects_gather, _join and _same do for this kind. */
gram_status gram_given_gather(gram_context *context, const gram_objects *from, int64_t count, const int64_t *which,
                              gram_objects **objects);
gram_status gram_given_join(gram_context *context, const gram_objects *a, const gram_objects *b,
                            gram_objects **objects);
int gram_given_same(const gram_objects *a, int64_t i, const gram_objects *b, int64_t j);

/* The column of `in` that is thing j of `of`; -1: it has none. */
int64_t gram_given_column(const gram_objects *in, const gram_objects *of, int64_t j);

/* Says that entries of thing i of x and thing j of y are in neither. */
gram_status gram_given_unknown(gram_context *context, const gram_objects *x, int64_t i, const gram_objects *y,
                               int64_t j);

#endif

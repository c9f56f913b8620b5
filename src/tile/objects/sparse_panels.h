/* Sparse rows packed for strips: inner products of 16 rows with a panel of 96 by what both have.
 *
 * A panel keeps the values of its 96 rows by column of the points, so that a value x_l of a row finds all of the panel's values in column l at once.
 * Columns are many and a panel has few of them, so they are found in two steps that stay in the first-level cache: a bit for each bucket of columns
 * (column modulo a power of two) that says whether the panel has any, and the number of such buckets before each 64 bits. Most values of a row
 * end at their bit. With n = 20,000, d = 50,000 and 100 values a row this takes some 1.3 ns a pair, where walking both rows takes 150.
 *
 * Rows that are not so sparse are packed with their zeros instead (dense_rows.h).
 *
 * Sums run over the columns in ascending order, whichever of the two rows is asked for: the same bits for (i, j) and (j, i). */
#ifndef GRAM_TILE_OBJECTS_SPARSE_PANELS_H
#define GRAM_TILE_OBJECTS_SPARSE_PANELS_H

#include "points/points.h"
#include "tile/objects/dense_rows.h"

typedef struct gram_sparse_panels {
    gram_memory *memory;
    gram_objects *rows, *columns; /* the stores; retained */
    int64_t n, m;
    int64_t *row_place, *column_place; /* n, m: places in the stores */
    double *row_norm, *column_norm;    /* padded to whole panels: sum of squares or of absolute values */
    int l1;
    int scaled; /* inner products are divided by the roots of the norms, which are those of the stores */
    gram_panels dense,
        dense_column; /* with their zeros, in place of all that follows; the latter only if the columns are not the rows */
    gram_sparse_shape shape;
    int64_t *first;      /* panels + 1: values before a panel's */
    int64_t *first_slot; /* panels: buckets before a panel's, one more for each panel */
    uint64_t *bits;      /* panels x words */
    int32_t *rank;       /* panels x words: buckets before a word */
    int32_t *begin;      /* of each bucket: its first value, counted from the panel's */
    int32_t *index;
    uint8_t *owner; /* the row of the panel that has it */
    double *value;
} gram_sparse_panels;

/* What is packed: column `column` of the points holds sparse rows, or things that have the rows in `rows` and `columns` (NULL: their own stores). With
 * `index`, some of y. `l1`: for sums of absolute differences, otherwise for inner products and squared distances. */
typedef struct gram_sparse_sides {
    const gram_points *x, *y;
    int64_t count;
    const int64_t *index;
    int64_t column;
    int l1;
    gram_objects *rows, *columns;
} gram_sparse_sides;

/* O(number of values), and as much memory as they take. */
gram_status gram_sparse_panels_create(gram_context *context, const gram_sparse_sides *sides,
                                      gram_sparse_panels **panels);
/* Takes NULL. */
void gram_sparse_panels_destroy(gram_sparse_panels *panels);

/* out = x.y, |x - y|^2 or sum |x_l - y_l| of a strip. Distances of near rows, which lose digits to the subtraction, come from walking both. */
void gram_sparse_dot(const gram_strips *strips, const gram_sparse_panels *panels, int64_t row_panel, int row,
                     int64_t column_panel, double *out);
void gram_sparse_sqdist(const gram_strips *strips, const gram_sparse_panels *panels, int64_t row_panel, int row,
                        int64_t column_panel, double *out);
void gram_sparse_l1(const gram_strips *strips, const gram_sparse_panels *panels, int64_t row_panel, int row,
                    int64_t column_panel, double *out);

/* x.y/(|x|^2 + |y|^2 - x.y), 1 of two rows of zeros. */
void gram_sparse_share(const gram_strips *strips, const gram_sparse_panels *panels, int64_t row_panel, int row,
                       int64_t column_panel, double *out);

#endif

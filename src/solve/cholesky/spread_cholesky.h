/* A Cholesky factor whose tiles are on several processes, block-cyclic as ScaLAPACK has them (<gram/collective.h>).
 *
 * A block is a panel of the engine, 96 x 96. Block (i, j) of the lower triangle is made where it stays, by rank (i mod rows, j mod columns) of the grid.
 * The points, right-hand sides and the diagonal of L are on all ranks; the square is on none. */
#ifndef GRAM_SOLVE_CHOLESKY_SPREAD_CHOLESKY_H
#define GRAM_SOLVE_CHOLESKY_SPREAD_CHOLESKY_H

#include "tile/engine.h"

struct gram_cholesky;
struct gram_factoring;

/* The part of this rank; `count` is 0 for a factor that is whole. */
typedef struct gram_spread {
    int64_t n, grid_rows, grid_columns, grid_row, grid_column;
    int64_t rows, columns, ld; /* of the part, which is column-major */
    int64_t count;             /* numbers that are taken for it: as many on each rank */
    double *diagonal;          /* n: of L */
} gram_spread;

/* Are factors of so many rows spread? */
int gram_spread_wanted(const gram_context *context, int64_t n);
/* Numbers that a rank takes for one. */
double gram_spread_numbers(double n, double ranks);
/* GRAM_ERROR_OVERFLOW where a part would have more numbers than ScaLAPACK can count. */
gram_status gram_spread_shape(gram_context *context, int64_t n, gram_spread *shape);

/* Fills and factors, as an attempt of cholesky.c. */
gram_status gram_spread_attempt(gram_context *context, struct gram_factoring *job);

/* b = L^-1 b, L^-T b, L b, L' b, of an f64 or f32 factor; in place, n x columns. */
gram_status gram_spread_triangle(gram_context *context, const struct gram_cholesky *factor, int inverse, int transposed,
                                 int64_t columns, double *b, int64_t ldb);

gram_status gram_spread_invert(gram_context *context, struct gram_cholesky *factor);
/* (A^-1)_ii, and all of it or of L: out[place(i, j)], which is set to 0 elsewhere. */
gram_status gram_spread_inverse_diagonal(gram_context *context, const struct gram_cholesky *factor, double *out);
gram_status gram_spread_inverse_matrix(gram_context *context, const struct gram_cholesky *factor, double *out,
                                       int64_t ld);
gram_status gram_spread_pack(gram_context *context, const struct gram_cholesky *factor, double *out);
/* Where the numbers of row i are from column `first` on, within a block of this rank, and how far apart. */
const double *gram_spread_row(const struct gram_cholesky *factor, int64_t i, int64_t first, int64_t *count,
                              int64_t *stride);

#endif

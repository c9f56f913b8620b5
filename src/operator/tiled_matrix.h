/* A symmetric matrix in memory seen as square tiles of its lower triangle: what dense and packed operators share. */
#ifndef GRAM_OPERATOR_TILED_MATRIX_H
#define GRAM_OPERATOR_TILED_MATRIX_H

#include "operator/operator.h"

/* Tile (i, j), j <= i, is the rows i * width ... and columns j * width ... of the matrix, as far as they exist; only the
 * lower triangle of a diagonal tile is read. */
typedef struct gram_tiled {
    int64_t n;
    int64_t width;
    int64_t count; /* tiles on a side */
    const double *data;
    int64_t ld; /* rows of a dense matrix; 0: packed */
} gram_tiled;

static inline int64_t gram_tiled_rows(const gram_tiled *tiled, int64_t i)
{
    const int64_t left = tiled->n - i * tiled->width;
    return left < tiled->width ? left : tiled->width;
}

/* Where a tile starts, and the stride of its rows. Packed: tile rows one after the other, each holding its tiles from
 * left to right, each tile row-major. */
static inline int64_t gram_tiled_place(const gram_tiled *tiled, int64_t i, int64_t j)
{
    if (tiled->ld) return i * tiled->width * tiled->ld + j * tiled->width;
    return tiled->width * tiled->width * (i * (i + 1) / 2) + gram_tiled_rows(tiled, i) * tiled->width * j;
}

static inline int64_t gram_tiled_ld(const gram_tiled *tiled, int64_t j)
{
    return tiled->ld ? tiled->ld : gram_tiled_rows(tiled, j);
}

/* Numbers that a packed matrix takes: n (n + width)/2, rounded up to whole diagonal tiles. */
int64_t gram_tiled_numbers(const gram_tiled *tiled);

/* Tiles of 480, a multiple of the engine's panels; smaller ones for small n, so that about half of n^2 is enough. */
gram_tiled gram_tiled_shape(int64_t n);

gram_status gram_tiled_apply(gram_context *context, const gram_tiled *tiled, int64_t columns, const double *v,
                             int64_t ldv, double *out, int64_t ldo);
/* out = A(:, index) V, V being count x columns. */
gram_status gram_tiled_apply_columns(gram_context *context, const gram_tiled *tiled, int64_t count,
                                     const int64_t *index, int64_t columns, const double *v, int64_t ldv, double *out,
                                     int64_t ldo);
double gram_tiled_at(const gram_tiled *tiled, int64_t i, int64_t j);
void gram_tiled_column(const gram_tiled *tiled, int64_t column, double *out, int64_t ld);

#endif

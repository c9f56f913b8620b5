/* Sums of products of columns with AVX-512. OpenBLAS 0.3.21 does not know the newest processors with it and takes its kernels for AVX2 there: on one core
 * of a Zen 5, 1,280 rows in blocks of 336 columns, 53e9 operations a second in f64 by it (77 by its
 * kernels for AVX-512 where it is told to take them) and 95 by these; in f32 108 and 170. */
#ifndef GRAM_FEATURES_EQUATIONS_COLUMN_PRODUCTS_H
#define GRAM_FEATURES_EQUATIONS_COLUMN_PRODUCTS_H

#include <stddef.h>
#include <stdint.h>

/* Columns [i, i + high) against [j, j + wide), i >= j, of rows x width numbers without gaps. */
typedef struct gram_column_block {
    int64_t rows, width, i, j, high, wide;
} gram_column_block;

enum { GRAM_COLUMN_PRODUCTS_DEEP = 256 };

/* Bytes of scratch, aligned to 64, for blocks of at most that many columns: both sides of 256 rows, whole tiles of them. */
#define GRAM_COLUMN_PRODUCTS_SCRATCH(columns)                                                                          \
    ((size_t)(2 * (columns) + 64) * GRAM_COLUMN_PRODUCTS_DEEP * sizeof(double))

/* out += X'X in that block, where it is in the lower triangle; out is width x width. */
void gram_column_products_f64(const gram_column_block *block, const double *x, double *out, void *scratch);

/* The same with sums of 256 rows in f32. */
void gram_column_products_f32(const gram_column_block *block, const float *x, double *out, void *scratch);

#endif

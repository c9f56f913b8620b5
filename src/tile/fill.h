/* Tiles of K (GRAM_PANEL x GRAM_PANEL) written to memory: for the dense matrix here and for packed ones elsewhere. */
#ifndef GRAM_TILE_FILL_H
#define GRAM_TILE_FILL_H

#include "tile/engine.h"

/* Writes tile (row_panel, column_panel), as far as it lies inside K, to out, and its transpose to mirror unless that is
 * NULL. */
void gram_fill_tile(const gram_engine *engine, void *scratch, int64_t row_panel, int64_t column_panel, double *out,
                    int64_t ld, double *mirror, int64_t ld_mirror);

/* The same in f32: entries are computed in the engine's type and narrowed. */
void gram_fill_tile_f32(const gram_engine *engine, void *scratch, int64_t row_panel, int64_t column_panel, float *out,
                        int64_t ld);

/* Makes a diagonal tile symmetric bit for bit: its lower triangle is copied to the upper one. */
void gram_fill_mirror(const gram_engine *engine, int64_t panel, double *out, int64_t ld);

/* out[i] = k(x_i, x_i) as gram_matrix_diagonal does; between f32 points in f64 if always_double. */
gram_status gram_fill_diagonal(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                               int always_double, double *out);

/* gram_matrix_columns of rows `first` to `end` - 1: the others of `out`, which has room for all, mean nothing. */
gram_status gram_matrix_columns_part(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                     int64_t count, const int64_t *index, int64_t first, int64_t end, double *out,
                                     int64_t ld);

#endif

/* A symmetric kernel matrix as its rows: what the greedy and the quadratic methods of this folder stand on.
 *
 * Two kinds of matrices are read this way, K(X, X) of any kernel (matrix_rows.c) and a Stein kernel's (stein.c). Each gives row i
 * against one panel of GRAM_PANEL columns, so nothing of size n^2 is ever held. */
#ifndef GRAM_TILE_MATRIX_ROWS_H
#define GRAM_TILE_MATRIX_ROWS_H

#include "tile/engine.h"

typedef struct gram_rows {
    int64_t n;
    const void *self;
    size_t scratch_bytes; /* for one thread, a multiple of 64 */
    void (*begin)(const void *self, void *scratch);
    /* Entries (i, panel * GRAM_PANEL + j), j < GRAM_PANEL, 64-byte aligned, valid until the next call with this scratch;
     * those beyond n are finite and mean nothing. Rows of one strip one after another, panel fixed, are the cheap order. */
    const double *(*row)(const void *self, void *scratch, int64_t i, int64_t panel);
} gram_rows;

static inline int64_t gram_rows_panels(const gram_rows *rows)
{
    return (rows->n + GRAM_PANEL - 1) / GRAM_PANEL;
}

/* How many entries of a panel are inside of the matrix. */
static inline int gram_rows_width(const gram_rows *rows, int64_t panel)
{
    const int64_t left = rows->n - panel * GRAM_PANEL;
    return (int)(left < GRAM_PANEL ? left : GRAM_PANEL);
}

/* The rows of a symmetric f64 engine, which must outlive them. */
gram_rows gram_rows_of_engine(const gram_engine *engine);

/* out[i] = entry (i, i). One sweep, O(n) rows of a panel. */
gram_status gram_rows_diagonal(gram_context *context, const gram_rows *rows, double *out);

/* out[a * ld + b] = entry (index[a], index[b]), count x count. */
gram_status gram_rows_block(gram_context *context, const gram_rows *rows, int64_t count, const int64_t *index,
                            double *out, int64_t ld);

/* out[c] = sum_ij v_ic v_jc K_ij for the columns of v (n x columns, ldv). Each pair is made once for up to
 * GRAM_ROWS_COLUMNS columns; memory for a copy of that many. own[c], unless NULL, is the part of the diagonal, sum_i v_ic^2
 * K_ii. The sums run in a fixed order. */
enum { GRAM_ROWS_COLUMNS = 256 };
gram_status gram_rows_quadratic(gram_context *context, const gram_rows *rows, int64_t columns, const double *v,
                                int64_t ldv, double *out, double *own);

/* out[i] = (1/n) sum_j K_ij, each pair made once. */
gram_status gram_rows_means(gram_context *context, const gram_rows *rows, double *out);

#endif

/* The Cholesky factor from inside: what its files share. */
#ifndef GRAM_SOLVE_CHOLESKY_CHOLESKY_H
#define GRAM_SOLVE_CHOLESKY_CHOLESKY_H

#include <gram/cholesky.h>

#include "base/sweep.h"
#include "operator/tiled_matrix.h"
#include "solve/cholesky/spread_cholesky.h"
#include "tile/engine.h"

enum { GRAM_CHOLESKY_COLUMNS = 1 << 24 }; /* right-hand sides at most: BLAS counts in 32 bits */

struct gram_cholesky {
    gram_memory *memory;
    gram_tiled tiles; /* the shape; its data are the numbers if they are f64 */
    gram_storage storage;
    int inverted;       /* 1: the numbers are those of A^-1; -1: inverting it was not finished */
    int64_t count;      /* numbers held */
    void *numbers;      /* double or float */
    gram_spread spread; /* with a count: `numbers` are this rank's part, and there are no tiles but their shape */
};

static inline int gram_cholesky_is_spread(const gram_cholesky *factor)
{
    return factor->spread.count > 0;
}

/* gram_cholesky_create by all ranks together, if the context has some and that many rows are worth it: each then holds a part of the factor. For
 * solves, log_determinant, condition, pivots, pack and the inverse, but not for inverse_apply and whatever works on tiles. */
gram_status gram_cholesky_create_together(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                          const double *shift, gram_storage storage, double *jitter,
                                          gram_cholesky **factor);

/* The numbers of the lower triangle of A^-1 in row i, columns first .. first + count - 1 (up to i) in one tile: where they are, how many there are of
 * them in *count, and how far apart they lie in *stride. The factor has been inverted; of one that is spread the tile is this rank's. */
const double *gram_cholesky_inverse_row(const gram_cholesky *inverse, int64_t i, int64_t first, int64_t *count,
                                        int64_t *stride);

/* Room for a factor; the numbers are not set. */
gram_status gram_cholesky_take(gram_context *context, int64_t n, gram_storage storage, gram_cholesky **factor);

/* (cholesky_pack.c) The rows of L one after the other, n (n + 1)/2 numbers, of an f64 factor; and a factor from them. Numbers that
 * are not finite and a diagonal that is not positive are GRAM_ERROR_DATA; `name` is for messages. */
gram_status gram_cholesky_pack(gram_context *context, const gram_cholesky *factor, double *out);
gram_status gram_cholesky_unpack(gram_context *context, const char *name, int64_t n, const double *packed,
                                 gram_cholesky **factor);

/* The least and the largest pivot, squares of the diagonal of L, of an f64 factor. A pivot is the variance of a row given those
 * before it. */
void gram_cholesky_pivots(const gram_cholesky *factor, double *least, double *most);
/* Is that one more than what rounding makes of 0? If not, determinant and inverse are rounding errors. */
int gram_pivots_hold(int64_t n, double least, double most);
/* GRAM_ERROR_NUMERICAL if not; `name` is for messages. */
gram_status gram_cholesky_check_pivots(gram_context *context, const char *name, const gram_cholesky *factor);

/* Flags of the tiles of the lower triangle, numbered row by row. */
static inline int64_t gram_cholesky_flag(int64_t i, int64_t j)
{
    return i * (i + 1) / 2 + j;
}

/* What making a factor needs. */
typedef struct gram_factoring {
    gram_cholesky *factor;
    const gram_engine *engine;
    const double *shift; /* NULL: 0 */
    double jitter;
    gram_flags done;
    int64_t bad_pivot; /* -1: none */
} gram_factoring;

/* The tile of a task: column by column, each from the diagonal down. */
gram_status gram_cholesky_factor_task_f64(void *argument, const gram_worker *worker);
gram_status gram_cholesky_factor_task_f32(void *argument, const gram_worker *worker);

/* b = L^-1 b, or b = L^-T b if transposed; in place, n x columns. */
gram_status gram_cholesky_substitute_f64(gram_context *context, const gram_cholesky *factor, int transposed,
                                         int64_t columns, double *b, int64_t ldb);
gram_status gram_cholesky_substitute_f32(gram_context *context, const gram_cholesky *factor, int transposed,
                                         int64_t columns, float *b, int64_t ldb);

/* out = (L^-1 C R^-T)', columns x rows, of factors of matrices L L' and R R' in f64; C, rows x columns without gaps, is overwritten.
 * O(rows columns (rows + columns)). (cholesky_whiten.c) */
gram_status gram_cholesky_whiten(gram_context *context, const gram_cholesky *left, const gram_cholesky *right,
                                 double *c, double *out);

/* out = L x, or out = L' x if transposed; one column, not in place. */
gram_status gram_cholesky_multiply_f64(gram_context *context, const gram_cholesky *factor, int transposed,
                                       const double *x, double *out);
gram_status gram_cholesky_multiply_f32(gram_context *context, const gram_cholesky *factor, int transposed,
                                       const float *x, float *out);

#endif

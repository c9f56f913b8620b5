/* The work on the tiles of a Cholesky factor, in f64 and in f32.
 *
 * Factoring goes from left to right, one task for each tile of the lower triangle:
 *
 *     A_ij  -=  sum_k<j L_ik L_jk'          syrk on the diagonal, gemm below it
 *     L_jj   =  the factor of A_jj          potrf
 *     L_ij   =  A_ij L_jj^-T                trsm
 *
 * A tile is written by one task only, from its first entries out of the engine to its last: it stays in the cache while
 * finished tiles stream by, and fresh memory is touched once. Tasks are numbered column by column, each from the
 * diagonal down, and wait for the tiles that they read (base/sweep.h). When a column begins, the tiles that its
 * first task reads have long been finished by the column before, so that threads hardly ever wait; a barrier after
 * each panel, as when going right, would cost up to a tile's time per thread and panel.
 *
 * Substitution has one task for each row of tiles and block of right-hand sides:
 *
 *     y_i  =  L_ii^-1 (b_i - sum_k<i L_ik y_k)          backwards with L' likewise
 *
 * With many right-hand sides their blocks keep all threads busy. With few, row i + 1 is summed up to y_(i-1) while
 * row i is being solved, so that two threads stream different rows of the factor: what counts then is the speed of
 * memory.
 *
 * Tiles are row-major, which LAPACK reads as transposed: hence "U" for potrf. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/lapack.h"
#include "solve/cholesky/cholesky.h"
#include "tile/fill.h"

/* Right-hand sides of a task. Fewer make BLAS slower, more leave too few tasks. */
enum { COLUMNS_AT_ONCE = 192 };

/* Tile (i, j) of task number `task`, counted down the columns. */
static void find_tile(int64_t count, int64_t task, int64_t *i, int64_t *j)
{
    *j = 0;
    while (task >= count - *j) {
        task -= count - *j;
        ++*j;
    }
    *i = *j + task;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void fill_panels_f64(const gram_engine *engine, void *scratch, int64_t p, int64_t q, double *out, int64_t ld)
{
    gram_fill_tile(engine, scratch, p, q, out, ld, NULL, 0);
}

#define REAL double
#define NAME(name) name##_f64
#define GEMM cblas_dgemm
#define GEMV cblas_dgemv
#define SYRK cblas_dsyrk
#define TRSM cblas_dtrsm
#define TRMV cblas_dtrmv
#define TRSV cblas_dtrsv
#define POTRF dpotrf_
#define FILL fill_panels_f64
#include "solve/cholesky/cholesky_body.h"
#undef REAL
#undef NAME
#undef GEMM
#undef GEMV
#undef SYRK
#undef TRSM
#undef TRMV
#undef TRSV
#undef POTRF
#undef FILL

#define REAL float
#define NAME(name) name##_f32
#define GEMM cblas_sgemm
#define GEMV cblas_sgemv
#define SYRK cblas_ssyrk
#define TRSM cblas_strsm
#define TRMV cblas_strmv
#define TRSV cblas_strsv
#define POTRF spotrf_
#define FILL gram_fill_tile_f32
#include "solve/cholesky/cholesky_body.h"
#undef REAL
#undef NAME
#undef GEMM
#undef GEMV
#undef SYRK
#undef TRSM
#undef TRMV
#undef TRSV
#undef POTRF
#undef FILL

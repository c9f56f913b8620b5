/* An f32 factor with arithmetic in f64: each tile is widened in the cache right before it is used.
 *
 * The order of tasks is that of cholesky_tiles.c. Widening reads a tile once for up to COLUMNS_AT_ONCE right-hand sides, which
 * is little beside the products with it. */
#include "solve/cholesky/cholesky_wide.h"

#include <cblas.h>
#include <string.h>

#include "solve/cholesky/cholesky.h"

enum { COLUMNS_AT_ONCE = 192 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static size_t tile_bytes(const gram_cholesky *factor)
{
    const int64_t width = least(factor->tiles.width, factor->tiles.n);
    return (size_t)(width * width) * sizeof(double);
}

/* Tile (i, j) in f64. Above the diagonal it is what factoring left there, which BLAS does not read. */
static const double *widen(const gram_cholesky *factor, int64_t i, int64_t j, double *wide)
{
    const gram_tiled *tiles = &factor->tiles;
    const float *tile = (const float *)factor->numbers + gram_tiled_place(tiles, i, j);
    const int64_t count = gram_tiled_rows(tiles, i) * gram_tiled_rows(tiles, j);
    for (int64_t k = 0; k < count; k++) wide[k] = (double)tile[k];
    return wide;
}

/* ---- substitution ---- */

typedef struct substitution {
    const gram_cholesky *factor;
    int transposed;
    int64_t columns, blocks, ld;
    double *v;
    gram_flags done; /* row of tiles i of block c: i * blocks + c */
} substitution;

/* v_i -= T v_k, T being L_ik or L_ki' */
static void subtract_row(const substitution *job, int64_t i, int64_t k, double *v, int columns, double *wide)
{
    const gram_tiled *tiles = &job->factor->tiles;
    const int64_t below = job->transposed ? k : i, right = job->transposed ? i : k;
    const int rows = (int)gram_tiled_rows(tiles, below), width = (int)gram_tiled_rows(tiles, right);
    cblas_dgemm(CblasRowMajor, job->transposed ? CblasTrans : CblasNoTrans, CblasNoTrans,
                job->transposed ? width : rows, columns, job->transposed ? rows : width, -1,
                widen(job->factor, below, right, wide), width, v + k * tiles->width * job->ld, (int)job->ld, 1,
                v + i * tiles->width * job->ld, (int)job->ld);
}

static gram_status substitute_task(void *argument, const gram_worker *worker)
{
    substitution *job = argument;
    const gram_tiled *tiles = &job->factor->tiles;
    const int64_t step = worker->task / job->blocks, block = worker->task % job->blocks;
    const int64_t i = job->transposed ? tiles->count - 1 - step : step;
    const int columns = (int)least(COLUMNS_AT_ONCE, job->columns - block * COLUMNS_AT_ONCE);
    const int size = (int)gram_tiled_rows(tiles, i);
    double *v = job->v + block * COLUMNS_AT_ONCE;
    for (int64_t before = 0; before < step; before++) {
        const int64_t k = job->transposed ? tiles->count - 1 - before : before;
        if (!gram_flag_wait(&job->done, k * job->blocks + block)) return GRAM_OK;
        subtract_row(job, i, k, v, columns, worker->scratch);
    }
    cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, job->transposed ? CblasTrans : CblasNoTrans, CblasNonUnit, size,
                columns, 1, widen(job->factor, i, i, worker->scratch), size, v + i * tiles->width * job->ld,
                (int)job->ld);
    gram_flag_set(&job->done, i * job->blocks + block);
    return GRAM_OK;
}

static gram_status substitute(gram_context *context, substitution *job)
{
    gram_status status = GRAM_OK;
    const int64_t tasks = job->factor->tiles.count * job->blocks;
    const gram_sweep sweep = {.what = "substitution",
                              .tasks = tasks,
                              .scratch_bytes = tile_bytes(job->factor),
                              .run = substitute_task,
                              .argument = job};
    TRY(gram_flags_create(context, "preconditioning", tasks, &job->done));
    TRY(gram_sweep_run(context, &sweep));
done:
    gram_flags_destroy(context, &job->done);
    return status;
}

gram_status gram_cholesky_wide_solve(void *user, gram_context *context, int64_t columns, double *v, int64_t ldv)
{
    gram_status status = GRAM_OK;
    for (int transposed = 0; transposed < 2; transposed++) {
        substitution job = {.factor = user, .transposed = transposed, .columns = columns, .ld = ldv, .v = v};
        job.blocks = (columns + COLUMNS_AT_ONCE - 1) / COLUMNS_AT_ONCE;
        TRY(substitute(context, &job));
    }
done:
    return status;
}

/* ---- draws ---- */

typedef struct drawing {
    const gram_cholesky *factor;
    int64_t columns, ldv;
    const double *g; /* n x columns */
    double *v;
} drawing;

/* v_i = sum_(k<=i) L_ik g_k */
static gram_status draw_task(void *argument, const gram_worker *worker)
{
    const drawing *job = argument;
    const gram_tiled *tiles = &job->factor->tiles;
    const int64_t i = worker->task, columns = job->columns, first = i * tiles->width;
    const int size = (int)gram_tiled_rows(tiles, i);
    double *v = job->v + first * job->ldv;
    for (int64_t r = 0; r < size; r++)
        memcpy(v + r * job->ldv, job->g + (first + r) * columns, (size_t)columns * sizeof *v);
    cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, size, (int)columns, 1,
                widen(job->factor, i, i, worker->scratch), size, v, (int)job->ldv);
    for (int64_t k = 0; k < i; k++)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, size, (int)columns, (int)tiles->width, 1,
                    widen(job->factor, i, k, worker->scratch), (int)tiles->width, job->g + k * tiles->width * columns,
                    (int)columns, 1, v, (int)job->ldv);
    return GRAM_OK;
}

gram_status gram_cholesky_wide_draw(gram_context *context, const gram_cholesky *factor, gram_random random,
                                    int64_t columns, double *v, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const int64_t n = factor->tiles.n;
    double *g = NULL, *normal = NULL;
    TRY(gram_take(context, "draws", n * columns, sizeof(double), (void **)&g));
    TRY(gram_take(context, "draws", n, sizeof(double), (void **)&normal));
    for (int64_t c = 0; c < columns; c++) {
        gram_random_normal(random, (uint64_t)(c * n), n, normal);
        for (int64_t i = 0; i < n; i++) g[i * columns + c] = normal[i];
    }
    drawing job = {factor, columns, ldv, g, v};
    const gram_sweep sweep = {.what = "draws",
                              .tasks = factor->tiles.count,
                              .scratch_bytes = tile_bytes(factor),
                              .run = draw_task,
                              .argument = &job};
    TRY(gram_sweep_run(context, &sweep));
done:
    gram_give(context, g);
    gram_give(context, normal);
    return status;
}

#include "operator/tiled_matrix.h"

#include <cblas.h>
#include <string.h>

#include "base/sweep.h"
#include "base/tournament.h"

enum { WIDTH = 480, SMALL_WIDTH = 96, TILES_WANTED = 10, CHUNK = 96 };

gram_tiled gram_tiled_shape(int64_t n)
{
    gram_tiled tiled = {.n = n, .width = WIDTH};
    while (tiled.width > SMALL_WIDTH && tiled.width * TILES_WANTED > n) tiled.width -= SMALL_WIDTH;
    tiled.count = (n + tiled.width - 1) / tiled.width;
    return tiled;
}

int64_t gram_tiled_numbers(const gram_tiled *tiled)
{
    const int64_t last = tiled->count - 1;
    return gram_tiled_place(tiled, last, last) + gram_tiled_rows(tiled, last) * gram_tiled_rows(tiled, last);
}

double gram_tiled_at(const gram_tiled *tiled, int64_t i, int64_t j)
{
    const int64_t row = i > j ? i : j, column = i > j ? j : i;
    const int64_t tile_row = row / tiled->width, tile_column = column / tiled->width;
    return tiled->data[gram_tiled_place(tiled, tile_row, tile_column) +
                       row % tiled->width * gram_tiled_ld(tiled, tile_column) + column % tiled->width];
}

/* out[r * ld] = A_(row, column) for the rows of tile row i from `first` on */
static void read_column(const gram_tiled *tiled, int64_t i, int64_t first, int64_t rows, int64_t column, double *out,
                        int64_t ld)
{
    const int64_t j = column / tiled->width, at = column % tiled->width;
    if (i == j) {
        for (int64_t r = 0; r < rows; r++) out[r * ld] = gram_tiled_at(tiled, i * tiled->width + first + r, column);
        return;
    }
    const int64_t step =
        i > j ? gram_tiled_ld(tiled, j) : 1; /* below the diagonal a column, above it a row of the tile (j, i) */
    const double *from = i > j ? tiled->data + gram_tiled_place(tiled, i, j) + first * step + at
                               : tiled->data + gram_tiled_place(tiled, j, i) + at * gram_tiled_ld(tiled, i) + first;
    for (int64_t r = 0; r < rows; r++) out[r * ld] = from[r * step];
}

void gram_tiled_column(const gram_tiled *tiled, int64_t column, double *out, int64_t ld)
{
    for (int64_t i = 0; i < tiled->count; i++)
        read_column(tiled, i, 0, gram_tiled_rows(tiled, i), column, out + i * tiled->width * ld, ld);
}

/* ---- products ---- */

typedef struct multiplication {
    const gram_tiled *tiled;
    int64_t columns;
    const double *v;
    int64_t ldv;
    double *out;
    int64_t ldo;
    int64_t count; /* with an index: v has a row for each of its `count` columns of the matrix */
    const int64_t *index;
} multiplication;

/* out_i += T v_j and out_j += T' v_i, a chunk of rows at a time, so that the second use finds it in the cache */
static void multiply_tile(const multiplication *job, int64_t i, int64_t j)
{
    const gram_tiled *tiled = job->tiled;
    const int ld = (int)gram_tiled_ld(tiled, j), width = (int)gram_tiled_rows(tiled, j);
    const int columns = (int)job->columns, ldv = (int)job->ldv, ldo = (int)job->ldo;
    const double *v_j = job->v + j * tiled->width * job->ldv;
    double *out_j = job->out + j * tiled->width * job->ldo;
    for (int64_t row = 0; row < gram_tiled_rows(tiled, i); row += CHUNK) {
        const int64_t left = gram_tiled_rows(tiled, i) - row, at = i * tiled->width + row;
        const int rows = (int)(left < CHUNK ? left : CHUNK);
        const double *chunk = tiled->data + gram_tiled_place(tiled, i, j) + row * ld;
        if (columns == 1) {
            cblas_dgemv(CblasRowMajor, CblasNoTrans, rows, width, 1, chunk, ld, v_j, ldv, 1, job->out + at * job->ldo,
                        ldo);
            cblas_dgemv(CblasRowMajor, CblasTrans, rows, width, 1, chunk, ld, job->v + at * job->ldv, ldv, 1, out_j,
                        ldo);
            continue;
        }
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, width, 1, chunk, ld, v_j, ldv, 1,
                    job->out + at * job->ldo, ldo);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, width, columns, rows, 1, chunk, ld, job->v + at * job->ldv,
                    ldv, 1, out_j, ldo);
    }
}

static void multiply_diagonal_tile(const multiplication *job, int64_t i)
{
    const gram_tiled *tiled = job->tiled;
    const double *tile = tiled->data + gram_tiled_place(tiled, i, i);
    const int width = (int)gram_tiled_rows(tiled, i), ld = (int)gram_tiled_ld(tiled, i);
    const double *v = job->v + i * tiled->width * job->ldv;
    double *out = job->out + i * tiled->width * job->ldo;
    if (job->columns == 1)
        cblas_dsymv(CblasRowMajor, CblasLower, width, 1, tile, ld, v, (int)job->ldv, 1, out, (int)job->ldo);
    else
        cblas_dsymm(CblasRowMajor, CblasLeft, CblasLower, width, (int)job->columns, 1, tile, ld, v, (int)job->ldv, 1,
                    out, (int)job->ldo);
}

static gram_status multiply_task(void *argument, const gram_worker *worker)
{
    const multiplication *job = argument;
    int64_t i, j;
    if (!gram_tournament_game(job->tiled->count, worker->round, worker->task, &i, &j)) return GRAM_OK;
    if (i == j)
        multiply_diagonal_tile(job, i);
    else
        multiply_tile(job, i, j);
    return GRAM_OK;
}

gram_status gram_tiled_apply(gram_context *context, const gram_tiled *tiled, int64_t columns, const double *v,
                             int64_t ldv, double *out, int64_t ldo)
{
    multiplication job = {.tiled = tiled, .columns = columns, .v = v, .ldv = ldv, .out = out, .ldo = ldo};
    for (int64_t i = 0; i < tiled->n; i++) memset(out + i * ldo, 0, (size_t)columns * sizeof *out);
    const gram_sweep sweep = {.what = "matrix product",
                              .tasks = gram_tournament_games(tiled->count),
                              .rounds = gram_tournament_rounds(tiled->count),
                              .run = multiply_task,
                              .argument = &job};
    return gram_sweep_run(context, &sweep);
}

/* ---- products with some columns ---- */

/* A few rows of the matrix: their entries of the index are gathered, some at a time, and multiplied. */
static gram_status multiply_columns_task(void *argument, const gram_worker *worker)
{
    const multiplication *job = argument;
    const gram_tiled *tiled = job->tiled;
    const int64_t chunks = tiled->width / CHUNK, i = worker->task / chunks, first = worker->task % chunks * CHUNK;
    const int64_t left = gram_tiled_rows(tiled, i) - first, rows = left < CHUNK ? left : CHUNK;
    double *block = worker->scratch, *out = job->out + (i * tiled->width + first) * job->ldo;
    if (rows <= 0) return GRAM_OK;
    for (int64_t done = 0; done < job->count; done += WIDTH) {
        const int64_t now = job->count - done < WIDTH ? job->count - done : WIDTH;
        for (int64_t c = 0; c < now; c++) read_column(tiled, i, first, rows, job->index[done + c], block + c * rows, 1);
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, (int)rows, (int)job->columns, (int)now, 1, block,
                    (int)rows, job->v + done * job->ldv, (int)job->ldv, done > 0, out, (int)job->ldo);
    }
    return GRAM_OK;
}

gram_status gram_tiled_apply_columns(gram_context *context, const gram_tiled *tiled, int64_t count,
                                     const int64_t *index, int64_t columns, const double *v, int64_t ldv, double *out,
                                     int64_t ldo)
{
    multiplication job = {tiled, columns, v, ldv, out, ldo, count, index};
    const gram_sweep sweep = {.what = "matrix product",
                              .tasks = tiled->count * (tiled->width / CHUNK),
                              .scratch_bytes = (size_t)CHUNK * WIDTH * sizeof(double),
                              .run = multiply_columns_task,
                              .argument = &job};
    return gram_sweep_run(context, &sweep);
}

/* A^-1 in the place of its Cholesky factor: W = L^-1, then A^-1 = W' W, each one sweep over the tiles.
 *
 *     W_ij   =  -L_ii^-1 sum_(j<=k<i) L_ik W_kj          W_ii = L_ii^-1
 *     S_ab   =  sum_(k>=a) W_ka' W_kb                    only a >= b, S being symmetric
 *
 * Both go row by row and sum in a tile of the thread's own, which replaces the old tile when nobody needs that any
 * more. In the first, row i of L is needed by the tasks of row i only: task (i, j) reads the tiles from column j on,
 * so it may write tile (i, j) once the tasks left of it have ended. In the second, row a of W is needed by the rows
 * of S up to a: by row b and by column b for tile (a, b), and W_aa by all tasks of row a, which read it first. Tasks
 * wait for flags of tasks with lower numbers (base/sweep.h); nothing of the size of the matrix is copied.
 *
 * 2 n^3/3 operations, all but the diagonal tiles in gemm, syrk, trmm and trsm. This is the order of LAPACK's dpotri. */
#include <cblas.h>
#include <string.h>

#include "base/lapack.h"
#include "solve/cholesky/cholesky.h"

typedef struct inversion {
    gram_cholesky *factor;
    gram_flags done; /* of each tile, by gram_cholesky_flag */
    gram_flags read; /* second sweep: the task of this tile needs the diagonal tile of its row no more */
} inversion;

static double *tile_at(const inversion *job, int64_t i, int64_t j)
{
    return (double *)job->factor->numbers + gram_tiled_place(&job->factor->tiles, i, j);
}

static int rows_of(const inversion *job, int64_t i)
{
    return (int)gram_tiled_rows(&job->factor->tiles, i);
}

static size_t tile_bytes(const inversion *job, int64_t i, int64_t j)
{
    return (size_t)rows_of(job, i) * (size_t)rows_of(job, j) * sizeof(double);
}

/* Both sweeps number their tasks like the flags. */
static void find_tile(int64_t task, int64_t *i, int64_t *j)
{
    *i = 0;
    while (gram_cholesky_flag(*i + 1, 0) <= task) ++*i;
    *j = task - gram_cholesky_flag(*i, 0);
}

/* ---- triangular tiles, band by band ----
 *
 * BLAS's own trmm and trsm were measured at about two thirds of gemm's speed, and dtrtri at a quarter: they are
 * given the diagonal blocks of BAND rows only. All triangles are lower. */

enum { BAND = 96 };

static int band(int size, int first)
{
    return size - first < BAND ? size - first : BAND;
}

/* X = X W */
static void multiply_right(int rows, int size, const double *w, int ldw, double *x, int ldx)
{
    for (int q = 0; q < size; q += BAND) {
        const int width = band(size, q), next = q + width;
        cblas_dtrmm(CblasRowMajor, CblasRight, CblasLower, CblasNoTrans, CblasNonUnit, rows, width, 1,
                    w + (int64_t)q * (ldw + 1), ldw, x + q, ldx);
        if (next < size)
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, width, size - next, 1, x + next, ldx,
                        w + (int64_t)next * ldw + q, ldw, 1, x + q, ldx);
    }
}

/* X = W' X */
static void multiply_left(int size, int columns, const double *w, double *x)
{
    for (int p = 0; p < size; p += BAND) {
        const int width = band(size, p), next = p + width;
        double *to = x + (int64_t)p * columns;
        cblas_dtrmm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, width, columns, 1,
                    w + (int64_t)p * (size + 1), size, to, columns);
        if (next < size)
            cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, width, columns, size - next, 1,
                        w + (int64_t)next * size + p, size, x + (int64_t)next * columns, columns, 1, to, columns);
    }
}

/* X = -L^-1 X: l_pp x_p = -x_p - sum_(q<p) l_pq x_q, the x_q being new */
static void solve_left(int size, int columns, const double *l, double *x)
{
    for (int p = 0; p < size; p += BAND) {
        const int width = band(size, p);
        double *to = x + (int64_t)p * columns;
        if (p > 0)
            cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, width, columns, p, -1, l + (int64_t)p * size, size,
                        x, columns, -1, to, columns);
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, width, columns, p > 0 ? 1 : -1,
                    l + (int64_t)p * (size + 1), size, to, columns);
    }
}

/* L = L^-1: row p of bands becomes -l_pp^-1 L_p W, W being the bands above it */
static void invert_triangle(int size, double *l)
{
    for (int p = 0; p < size; p += BAND) {
        const int width = band(size, p);
        double *row = l + (int64_t)p * size, *diagonal = row + p;
        int info = 0; /* a factor's pivots are positive */
        if (p > 0) {
            multiply_right(width, p, l, size, row, size);
            cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, width, p, -1, diagonal, size,
                        row, size);
        }
        dtrtri_("U", "N", &width, diagonal, &size, &info, 1, 1);
    }
}

/* ---- W = L^-1 ---- */

/* sum = -L_ii^-1 sum_k L_ik W_kj */
static void sum_row(inversion *job, int64_t i, int64_t j, double *sum)
{
    const int rows = rows_of(job, i), columns = rows_of(job, j);
    (void)gram_flag_wait(&job->done, gram_cholesky_flag(j, j));
    memcpy(sum, tile_at(job, i, j), tile_bytes(job, i, j));
    multiply_right(rows, columns, tile_at(job, j, j), columns, sum, columns);
    for (int64_t k = j + 1; k < i; k++) {
        const int width = rows_of(job, k);
        (void)gram_flag_wait(&job->done, gram_cholesky_flag(k, j));
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, columns, width, 1, tile_at(job, i, k), width,
                    tile_at(job, k, j), columns, 1, sum, columns);
    }
    solve_left(rows, columns, tile_at(job, i, i), sum);
}

static gram_status invert_task(void *argument, const gram_worker *worker)
{
    inversion *job = argument;
    int64_t i, j;
    find_tile(worker->task, &i, &j);
    if (j < i) sum_row(job, i, j, worker->scratch);
    if (j > 0) (void)gram_flag_wait(&job->done, gram_cholesky_flag(i, j - 1)); /* which waited for those before it */
    if (j < i)
        memcpy(tile_at(job, i, j), worker->scratch, tile_bytes(job, i, j));
    else
        invert_triangle(rows_of(job, i), tile_at(job, i, i));
    gram_flag_set(&job->done, worker->task);
    return GRAM_OK;
}

/* ---- S = W' W ---- */

static void sum_diagonal(const inversion *job, int64_t a, double *sum)
{
    const int size = rows_of(job, a);
    int info = 0;
    memcpy(sum, tile_at(job, a, a), tile_bytes(job, a, a));
    dlauum_("U", &size, sum, &size, &info, 1);
    for (int64_t k = a + 1; k < job->factor->tiles.count; k++)
        cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, size, rows_of(job, k), 1, tile_at(job, k, a), size, 1, sum,
                    size);
}

static void sum_product(inversion *job, int64_t a, int64_t b, double *sum)
{
    const int rows = rows_of(job, a), columns = rows_of(job, b);
    memcpy(sum, tile_at(job, a, b), tile_bytes(job, a, b));
    multiply_left(rows, columns, tile_at(job, a, a), sum);
    gram_flag_set(&job->read, gram_cholesky_flag(a, b));
    for (int64_t k = a + 1; k < job->factor->tiles.count; k++)
        cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows, columns, rows_of(job, k), 1, tile_at(job, k, a),
                    rows, tile_at(job, k, b), columns, 1, sum, columns);
}

/* Until nobody needs tile (a, b) of W. */
static void wait_for_readers(inversion *job, int64_t a, int64_t b)
{
    if (a == b) {
        for (int64_t c = 0; c < a; c++) (void)gram_flag_wait(&job->read, gram_cholesky_flag(a, c));
        return;
    }
    for (int64_t c = 0; c <= b; c++) (void)gram_flag_wait(&job->done, gram_cholesky_flag(b, c));
    for (int64_t r = b; r < a; r++) (void)gram_flag_wait(&job->done, gram_cholesky_flag(r, b));
}

static gram_status multiply_task(void *argument, const gram_worker *worker)
{
    inversion *job = argument;
    int64_t a, b;
    find_tile(worker->task, &a, &b);
    if (a == b)
        sum_diagonal(job, a, worker->scratch);
    else
        sum_product(job, a, b, worker->scratch);
    wait_for_readers(job, a, b);
    memcpy(tile_at(job, a, b), worker->scratch, tile_bytes(job, a, b));
    gram_flag_set(&job->done, worker->task);
    return GRAM_OK;
}

/* ---- the whole ---- */

static gram_status run(gram_context *context, inversion *job, gram_task_fn task, double before, double after)
{
    const gram_tiled *tiles = &job->factor->tiles;
    const gram_sweep sweep = {.what = "inverse",
                              .tasks = gram_cholesky_flag(tiles->count, 0),
                              .scratch_bytes = (size_t)(tiles->width * tiles->width) * sizeof(double),
                              .run = task,
                              .argument = job,
                              .share_before = before,
                              .share_after = after};
    gram_flags_clear(&job->done);
    return gram_sweep_run(context, &sweep);
}

gram_status gram_cholesky_invert(gram_context *context, gram_cholesky *factor)
{
    gram_status status = GRAM_OK;
    inversion job = {.factor = factor};
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!factor, context, GRAM_ERROR_ARGUMENT, "cholesky_invert: factor is NULL");
    FAIL_IF(factor->inverted || factor->storage != GRAM_STORAGE_F64, context, GRAM_ERROR_ARGUMENT,
            "cholesky_invert: the factor %s", factor->inverted ? "was inverted before" : "is f32, need f64");
    if (gram_cholesky_is_spread(factor)) return gram_spread_invert(context, factor);
    const int64_t tiles = gram_cholesky_flag(factor->tiles.count, 0);
    TRY(gram_flags_create(context, "cholesky_invert", tiles, &job.done));
    TRY(gram_flags_create(context, "cholesky_invert", tiles, &job.read));
    factor->inverted = -1; /* neither the one nor the other, should the work be cancelled */
    TRY(run(context, &job, invert_task, 0, 0.5));
    TRY(run(context, &job, multiply_task, 0.5, 1));
    factor->inverted = 1;
done:
    gram_flags_destroy(context, &job.read);
    gram_flags_destroy(context, &job.done);
    return status;
}

/* ---- reading the inverse ---- */

static gram_status check_inverse(gram_context *context, const char *what, const gram_cholesky *inverse, const void *out)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!inverse || !out, context, GRAM_ERROR_ARGUMENT, "%s: %s is NULL", what, inverse ? "an array" : "inverse");
    FAIL_IF(inverse->inverted != 1, context, GRAM_ERROR_ARGUMENT, "%s: the factor was not inverted", what);
done:
    return status;
}

gram_status gram_cholesky_inverse_diagonal(gram_context *context, const gram_cholesky *inverse, double *out)
{
    gram_status status = GRAM_OK;
    TRY(check_inverse(context, "cholesky_inverse_diagonal", inverse, out));
    if (gram_cholesky_is_spread(inverse)) return gram_spread_inverse_diagonal(context, inverse, out);
    for (int64_t i = 0; i < inverse->tiles.n; i++) out[i] = gram_tiled_at(&inverse->tiles, i, i);
done:
    return status;
}

typedef struct unpacking {
    const gram_tiled *tiles;
    double *out;
    int64_t ld;
} unpacking;

/* Tile (i, j) to its place and, row by row of a small block, to its mirror's. */
static void unpack_tile(const unpacking *job, int64_t i, int64_t j)
{
    enum { BLOCK = 16 };
    const gram_tiled *tiles = job->tiles;
    const int64_t rows = gram_tiled_rows(tiles, i), columns = gram_tiled_rows(tiles, j), ld = job->ld;
    const double *tile = tiles->data + gram_tiled_place(tiles, i, j);
    double *out = job->out + i * tiles->width * ld + j * tiles->width;
    double *mirror = job->out + j * tiles->width * ld + i * tiles->width;
    for (int64_t r = 0; r < rows; r++)
        memcpy(out + r * ld, tile + r * columns, (size_t)(i == j ? r + 1 : columns) * sizeof *out);
    for (int64_t first = 0; first < rows; first += BLOCK)
        for (int64_t c = 0; c < columns; c++)
            for (int64_t r = first; r < rows && r < first + BLOCK; r++)
                if (i != j || c <= r) mirror[c * ld + r] = tile[r * columns + c];
}

static gram_status unpack_task(void *argument, const gram_worker *worker)
{
    int64_t i, j;
    find_tile(worker->task, &i, &j);
    unpack_tile(argument, i, j);
    return GRAM_OK;
}

gram_status gram_cholesky_inverse_matrix(gram_context *context, const gram_cholesky *inverse, double *out, int64_t ld)
{
    gram_status status = GRAM_OK;
    TRY(check_inverse(context, "cholesky_inverse_matrix", inverse, out));
    FAIL_IF(ld < inverse->tiles.n, context, GRAM_ERROR_ARGUMENT,
            "cholesky_inverse_matrix: ld = %lld is less than n = %lld", (long long)ld, (long long)inverse->tiles.n);
    if (gram_cholesky_is_spread(inverse)) return gram_spread_inverse_matrix(context, inverse, out, ld);
    unpacking job = {&inverse->tiles, out, ld};
    const gram_sweep sweep = {
        .what = "inverse", .tasks = gram_cholesky_flag(inverse->tiles.count, 0), .run = unpack_task, .argument = &job};
    TRY(gram_sweep_run(context, &sweep));
done:
    return status;
}

const double *gram_cholesky_inverse_row(const gram_cholesky *inverse, int64_t i, int64_t first, int64_t *count,
                                        int64_t *stride)
{
    const gram_tiled *tiles = &inverse->tiles;
    if (gram_cholesky_is_spread(inverse)) return gram_spread_row(inverse, i, first, count, stride);
    *stride = 1;
    const int64_t ti = i / tiles->width, tj = first / tiles->width, columns = gram_tiled_rows(tiles, tj);
    const int64_t end = tj * tiles->width + columns, last = i + 1 < end ? i + 1 : end;
    *count = last - first;
    return tiles->data + gram_tiled_place(tiles, ti, tj) + (i - ti * tiles->width) * columns + first -
           tj * tiles->width;
}

gram_status gram_cholesky_inverse_apply(gram_context *context, const gram_cholesky *inverse, int64_t columns,
                                        const double *v, int64_t ldv, double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    TRY(check_inverse(context, "cholesky_inverse_apply", inverse, v ? out : NULL));
    FAIL_IF(gram_cholesky_is_spread(inverse), context, GRAM_ERROR_UNSUPPORTED,
            "cholesky_inverse_apply: the inverse is spread over ranks");
    FAIL_IF(columns < 1 || columns > GRAM_CHOLESKY_COLUMNS, context, GRAM_ERROR_ARGUMENT,
            "cholesky_inverse_apply: columns = %lld, need 1 to %d", (long long)columns, (int)GRAM_CHOLESKY_COLUMNS);
    FAIL_IF(ldv < columns || ldo < columns || ldv > INT32_MAX || ldo > INT32_MAX, context, GRAM_ERROR_ARGUMENT,
            "cholesky_inverse_apply: ldv = %lld or ldo = %lld does not fit columns = %lld", (long long)ldv,
            (long long)ldo, (long long)columns);
    TRY(gram_tiled_apply(context, &inverse->tiles, columns, v, ldv, out, ldo));
done:
    return status;
}

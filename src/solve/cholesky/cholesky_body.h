/* The tiles' work in one precision: included by cholesky_tiles.c for each. */

static REAL *NAME(tile)(const gram_cholesky *factor, int64_t i, int64_t j)
{
    return (REAL *)factor->numbers + gram_tiled_place(&factor->tiles, i, j);
}

/* ---- factoring ---- */

/* K of the tile from the engine's panels that it covers; on the diagonal the lower panels only, and what is added
 * there. */
static void NAME(fill_tile)(const gram_factoring *job, const gram_worker *worker, int64_t i, int64_t j)
{
    const gram_tiled *tiles = &job->factor->tiles;
    const int64_t panels = tiles->width / GRAM_PANEL, ld = gram_tiled_ld(tiles, j);
    REAL *tile = NAME(tile)(job->factor, i, j);
    gram_engine_begin(job->engine, worker->scratch, worker);
    for (int64_t p = 0; p < panels && (i * panels + p) * GRAM_PANEL < tiles->n; p++)
        for (int64_t q = 0; q < panels && j * panels + q <= i * panels + p; q++)
            FILL(job->engine, worker->scratch, i * panels + p, j * panels + q,
                 tile + p * GRAM_PANEL * ld + q * GRAM_PANEL, ld);
    if (i != j) return;
    for (int64_t r = 0; r < gram_tiled_rows(tiles, i); r++) {
        const double added = (job->shift ? job->shift[i * tiles->width + r] : 0) + job->jitter;
        tile[r * ld + r] = (REAL)((double)tile[r * ld + r] + added);
    }
}

/* BLAS knows no NaN: the pivots are looked at once more. */
static gram_status NAME(factor_diagonal)(gram_factoring *job, int64_t i, REAL *tile)
{
    const int size = (int)gram_tiled_rows(&job->factor->tiles, i);
    int info = 0;
    POTRF("U", &size, tile, &size, &info, 1);
    int good = info > 0 ? info - 1 : size;
    for (int r = 0; r < good; r++)
        if (!(tile[(int64_t)r * (size + 1)] > 0) || isinf(tile[(int64_t)r * (size + 1)])) good = r;
    if (good == size) return GRAM_OK;
    job->bad_pivot = i * job->factor->tiles.width + good;
    return GRAM_ERROR_NUMERICAL;
}

/* A_ij -= sum_k L_ik L_jk'; 0 if the sweep has failed. */
static int NAME(subtract_products)(gram_factoring *job, int64_t i, int64_t j, REAL *tile)
{
    const gram_tiled *tiles = &job->factor->tiles;
    const int rows = (int)gram_tiled_rows(tiles, i), columns = (int)gram_tiled_rows(tiles, j);
    const int width = (int)tiles->width;
    for (int64_t k = 0; k < j; k++) {
        if (!gram_flag_wait(&job->done, gram_cholesky_flag(i, k))) return 0;
        if (!gram_flag_wait(&job->done, gram_cholesky_flag(j, k))) return 0;
        const REAL *left = NAME(tile)(job->factor, i, k), *right = NAME(tile)(job->factor, j, k);
        if (i == j)
            SYRK(CblasRowMajor, CblasLower, CblasNoTrans, rows, width, -1, left, width, 1, tile, columns);
        else
            GEMM(CblasRowMajor, CblasNoTrans, CblasTrans, rows, columns, width, -1, left, width, right, width, 1, tile,
                 columns);
    }
    return 1;
}

/* X = X L^-T, band by band: BLAS's own trsm was measured at two thirds of gemm's speed. */
static void NAME(solve_right)(int rows, int size, const REAL *l, REAL *x)
{
    for (int q = 0; q < size; q += GRAM_PANEL) {
        const int width = (int)least(GRAM_PANEL, size - q);
        if (q > 0)
            GEMM(CblasRowMajor, CblasNoTrans, CblasTrans, rows, width, q, -1, x, size, l + (int64_t)q * size, size, 1,
                 x + q, size);
        TRSM(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, rows, width, 1,
             l + (int64_t)q * (size + 1), size, x + q, size);
    }
}

gram_status NAME(gram_cholesky_factor_task)(void *argument, const gram_worker *worker)
{
    gram_factoring *job = argument;
    gram_status status = GRAM_OK;
    int64_t i, j;
    find_tile(job->factor->tiles.count, worker->task, &i, &j);
    const int rows = (int)gram_tiled_rows(&job->factor->tiles, i),
              columns = (int)gram_tiled_rows(&job->factor->tiles, j);
    REAL *tile = NAME(tile)(job->factor, i, j);
    NAME(fill_tile)(job, worker, i, j);
    if (!NAME(subtract_products)(job, i, j, tile)) return GRAM_OK;
    if (i == j) {
        status = NAME(factor_diagonal)(job, i, tile);
    } else {
        if (!gram_flag_wait(&job->done, gram_cholesky_flag(j, j))) return GRAM_OK;
        NAME(solve_right)(rows, columns, NAME(tile)(job->factor, j, j), tile);
    }
    if (status < 0)
        gram_flags_break(&job->done);
    else
        gram_flag_set(&job->done, gram_cholesky_flag(i, j));
    return status;
}

/* ---- substitution ---- */

typedef struct NAME(substitution) {
    const gram_cholesky *factor;
    int transposed;
    int64_t columns, blocks, ldb;
    REAL *b;
    gram_flags done; /* row of tiles i of block c: i * blocks + c */
} NAME(substitution);

/* b_i -= T b_k, T being L_ik or L_ki' */
static void NAME(subtract_row)(const NAME(substitution) * job, int64_t i, int64_t k, REAL *b, int columns)
{
    const gram_tiled *tiles = &job->factor->tiles;
    const int64_t below = job->transposed ? k : i, right = job->transposed ? i : k;
    const CBLAS_TRANSPOSE trans = job->transposed ? CblasTrans : CblasNoTrans;
    const int rows = (int)gram_tiled_rows(tiles, below), width = (int)gram_tiled_rows(tiles, right);
    const int out = job->transposed ? width : rows, in = job->transposed ? rows : width, ldb = (int)job->ldb;
    const REAL *tile = NAME(tile)(job->factor, below, right);
    const REAL *from = b + k * tiles->width * job->ldb;
    REAL *to = b + i * tiles->width * job->ldb;
    enum { FEW = 3 }; /* gemm copies the tile first, which pays from here on */
    if (columns > FEW)
        GEMM(CblasRowMajor, trans, CblasNoTrans, out, columns, in, -1, tile, width, from, ldb, 1, to, ldb);
    for (int c = 0; c < columns && columns <= FEW; c++)
        GEMV(CblasRowMajor, trans, rows, width, -1, tile, width, from + c, ldb, 1, to + c, ldb);
}

static void NAME(solve_diagonal)(const NAME(substitution) * job, int64_t i, REAL *b, int columns)
{
    const gram_tiled *tiles = &job->factor->tiles;
    const CBLAS_TRANSPOSE trans = job->transposed ? CblasTrans : CblasNoTrans;
    const int size = (int)gram_tiled_rows(tiles, i), ldb = (int)job->ldb;
    const REAL *tile = NAME(tile)(job->factor, i, i);
    REAL *to = b + i * tiles->width * job->ldb;
    if (columns == 1)
        TRSV(CblasRowMajor, CblasLower, trans, CblasNonUnit, size, tile, size, to, ldb);
    else
        TRSM(CblasRowMajor, CblasLeft, CblasLower, trans, CblasNonUnit, size, columns, 1, tile, size, to, ldb);
}

static gram_status NAME(substitute_task)(void *argument, const gram_worker *worker)
{
    NAME(substitution) *job = argument;
    const int64_t count = job->factor->tiles.count, step = worker->task / job->blocks;
    const int64_t block = worker->task % job->blocks, first = block * COLUMNS_AT_ONCE;
    const int columns = (int)least(COLUMNS_AT_ONCE, job->columns - first);
    const int64_t i = job->transposed ? count - 1 - step : step;
    REAL *b = job->b + first;
    for (int64_t before = 0; before < step; before++) {
        const int64_t k = job->transposed ? count - 1 - before : before;
        if (!gram_flag_wait(&job->done, k * job->blocks + block)) return GRAM_OK;
        NAME(subtract_row)(job, i, k, b, columns);
    }
    NAME(solve_diagonal)(job, i, b, columns);
    gram_flag_set(&job->done, i * job->blocks + block);
    return GRAM_OK;
}

gram_status NAME(gram_cholesky_substitute)(gram_context *context, const gram_cholesky *factor, int transposed,
                                           int64_t columns, REAL *b, int64_t ldb)
{
    gram_status status = GRAM_OK;
    const int64_t blocks = (columns + COLUMNS_AT_ONCE - 1) / COLUMNS_AT_ONCE, tasks = factor->tiles.count * blocks;
    NAME(substitution)
    job = {.factor = factor, .transposed = transposed, .columns = columns, .blocks = blocks, .ldb = ldb, .b = b};
    const gram_sweep sweep = {.what = "substitution", .tasks = tasks, .run = NAME(substitute_task), .argument = &job};
    TRY(gram_flags_create(context, "cholesky_solve", tasks, &job.done));
    TRY(gram_sweep_run(context, &sweep));
done:
    gram_flags_destroy(context, &job.done);
    return status;
}

/* ---- products ---- */

typedef struct NAME(multiplication) {
    const gram_cholesky *factor;
    int transposed;
    const REAL *x;
    REAL *out;
} NAME(multiplication);

/* out_i = sum_(k<=i) L_ik x_k, or sum_(k>=i) L_ki' x_k */
static gram_status NAME(multiply_task)(void *argument, const gram_worker *worker)
{
    const NAME(multiplication) *job = argument;
    const gram_tiled *tiles = &job->factor->tiles;
    const CBLAS_TRANSPOSE trans = job->transposed ? CblasTrans : CblasNoTrans;
    const int64_t i = worker->task, first = job->transposed ? i + 1 : 0, end = job->transposed ? tiles->count : i;
    const int size = (int)gram_tiled_rows(tiles, i);
    REAL *out = job->out + i * tiles->width;
    memcpy(out, job->x + i * tiles->width, (size_t)size * sizeof *out);
    TRMV(CblasRowMajor, CblasLower, trans, CblasNonUnit, size, NAME(tile)(job->factor, i, i), size, out, 1);
    for (int64_t k = first; k < end; k++) {
        const int64_t below = job->transposed ? k : i, right = job->transposed ? i : k;
        const int width = (int)gram_tiled_rows(tiles, right);
        GEMV(CblasRowMajor, trans, (int)gram_tiled_rows(tiles, below), width, 1, NAME(tile)(job->factor, below, right),
             width, job->x + k * tiles->width, 1, 1, out, 1);
    }
    return GRAM_OK;
}

gram_status NAME(gram_cholesky_multiply)(gram_context *context, const gram_cholesky *factor, int transposed,
                                         const REAL *x, REAL *out)
{
    NAME(multiplication) job = {factor, transposed, x, out};
    const gram_sweep sweep = {
        .what = "factor product", .tasks = factor->tiles.count, .run = NAME(multiply_task), .argument = &job};
    return gram_sweep_run(context, &sweep);
}

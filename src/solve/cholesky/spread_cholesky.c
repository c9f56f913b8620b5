#include "solve/cholesky/spread_cholesky.h"

#include <math.h>
#include <string.h>

#include "base/ranks/collective.h"
#include "solve/cholesky/cholesky.h"
#include "tile/fill.h"

enum { BLOCK = GRAM_PANEL };

/* ---- shape ---- */

int gram_spread_wanted(const gram_context *context, int64_t n)
{
    return gram_ranks_have_dense(context) && gram_ranks_share(context, n);
}

/* Rows (or columns) of the part of rank `own` of `all`. */
static int64_t part_of(int64_t n, int64_t own, int64_t all)
{
    const int64_t blocks = (n + BLOCK - 1) / BLOCK, mine = (blocks - own + all - 1) / all;
    if (mine <= 0) return 0;
    const int64_t has_last = (blocks - 1) % all == own;
    return mine * BLOCK - (has_last ? blocks * BLOCK - n : 0);
}

double gram_spread_numbers(double n, double ranks)
{
    const double side = sqrt(ranks);
    return (n / side + BLOCK) * (n / side + BLOCK);
}

gram_status gram_spread_shape(gram_context *context, int64_t n, gram_spread *s)
{
    gram_status status = GRAM_OK;
    memset(s, 0, sizeof *s);
    s->n = n;
    gram_ranks_grid(context, &s->grid_rows, &s->grid_columns);
    s->grid_row = gram_rank(context) / s->grid_columns;
    s->grid_column = gram_rank(context) % s->grid_columns;
    s->rows = part_of(n, s->grid_row, s->grid_rows);
    s->columns = part_of(n, s->grid_column, s->grid_columns);
    s->ld = s->rows > 0 ? s->rows : 1;
    const int64_t most = part_of(n, 0, s->grid_rows), widest = part_of(n, 0, s->grid_columns);
    FAIL_IF(!gram_size_multiply(most, widest, &s->count) || s->count > INT32_MAX, context, GRAM_ERROR_OVERFLOW,
            "cholesky_create: of n = %lld rows over %d ranks each would have %lld x %lld numbers, need less than 2^31: "
            "use more ranks",
            (long long)n, gram_ranks(context), (long long)most, (long long)widest);
done:
    return status;
}

/* ---- places ---- */

static int64_t block_row(const gram_spread *s, int64_t mine)
{
    return mine * s->grid_rows + s->grid_row;
}

static int64_t block_column(const gram_spread *s, int64_t mine)
{
    return mine * s->grid_columns + s->grid_column;
}

static int64_t blocks_of(int64_t count)
{
    return (count + BLOCK - 1) / BLOCK;
}

/* The place of block (i, j), which this rank has, in its part. */
static int64_t place_of(const gram_spread *s, int64_t i, int64_t j)
{
    return j / s->grid_columns * BLOCK * s->ld + i / s->grid_rows * BLOCK;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static double number_at(const gram_cholesky *factor, int64_t at)
{
    return factor->storage == GRAM_STORAGE_F32 ? (double)((const float *)factor->numbers)[at]
                                               : ((const double *)factor->numbers)[at];
}

static void set_number(const gram_cholesky *factor, int64_t at, double value)
{
    if (factor->storage == GRAM_STORAGE_F32)
        ((float *)factor->numbers)[at] = (float)value;
    else
        ((double *)factor->numbers)[at] = value;
}

/* ---- filling and factoring ---- */

/* Rows of the engine's tile become columns of the part: K is symmetric. */
static gram_status fill_task(void *argument, const gram_worker *worker)
{
    const gram_factoring *job = argument;
    const gram_cholesky *factor = job->factor;
    const gram_spread *s = &factor->spread;
    const int64_t down = blocks_of(s->rows), i = block_row(s, worker->task % down),
                  j = block_column(s, worker->task / down);
    if (i < j) return GRAM_OK;
    const int64_t at = place_of(s, i, j);
    gram_engine_begin(job->engine, worker->scratch, worker);
    if (factor->storage == GRAM_STORAGE_F32)
        gram_fill_tile_f32(job->engine, worker->scratch, j, i, (float *)factor->numbers + at, s->ld);
    else
        gram_fill_tile(job->engine, worker->scratch, j, i, (double *)factor->numbers + at, s->ld, NULL, 0);
    if (i != j) return GRAM_OK;
    for (int64_t r = 0; r < least(BLOCK, s->n - i * BLOCK); r++) {
        const double added = (job->shift ? job->shift[i * BLOCK + r] : 0) + job->jitter;
        set_number(factor, at + r * (s->ld + 1), number_at(factor, at + r * (s->ld + 1)) + added);
    }
    return GRAM_OK;
}

/* The diagonal of the part to the whole, on all ranks. */
static gram_status gather_diagonal(gram_context *context, const gram_cholesky *factor, double *out)
{
    const gram_spread *s = &factor->spread;
    memset(out, 0, (size_t)s->n * sizeof *out);
    for (int64_t i = 0; i < blocks_of(s->n); i++) {
        if (!gram_ranks_own(context, i, i)) continue;
        const int64_t at = place_of(s, i, i);
        for (int64_t r = 0; r < least(BLOCK, s->n - i * BLOCK); r++)
            out[i * BLOCK + r] = number_at(factor, at + r * (s->ld + 1));
    }
    return gram_ranks_sum(context, "factor", s->n, out);
}

/* The first pivot that some rank complains of: all must do the same next. BLAS knows no NaN, so pivots are looked at once more. */
static gram_status find_bad_pivot(gram_context *context, gram_factoring *job, int64_t bad)
{
    gram_status status = GRAM_OK;
    const gram_spread *s = &job->factor->spread;
    double first = bad < 0 ? INFINITY : (double)bad;
    TRY(gram_ranks_least(context, &first));
    TRY(gather_diagonal(context, job->factor, s->diagonal));
    for (int64_t i = 0; i < s->n && isinf(first); i++)
        if (!(s->diagonal[i] > 0) || isinf(s->diagonal[i])) first = (double)i;
    if (isinf(first)) goto done;
    job->bad_pivot = (int64_t)first;
    status = GRAM_ERROR_NUMERICAL;
done:
    return status;
}

/* Operations of a factor, a solution with `columns` right-hand sides and an inverse, each a share of the whole. */
static double share_of(const gram_context *context, double operations)
{
    return operations / gram_ranks(context);
}

gram_status gram_spread_attempt(gram_context *context, gram_factoring *job)
{
    gram_status status = GRAM_OK;
    gram_cholesky *factor = job->factor;
    const gram_spread *s = &factor->spread;
    const gram_collective *table = context->together.table;
    const double n = (double)s->n, entries = n * n / 2 * (3 * (double)job->engine->d + 20);
    int64_t bad = -1;
    const gram_sweep sweep = {.what = "factor: the matrix",
                              .tasks = blocks_of(s->rows) * blocks_of(s->columns),
                              .scratch_bytes = gram_engine_scratch(job->engine),
                              .run = fill_task,
                              .argument = job};
    if (sweep.tasks > 0) TRY(gram_sweep_run(context, &sweep));
    const int blas = gram_blas_enter();
    status = table->factor(table->user, factor->storage == GRAM_STORAGE_F32, s->n, BLOCK, factor->numbers, s->ld, &bad);
    gram_blas_leave(blas);
    FAIL_IF(status < 0, context, status, "cholesky_create: the ranks could not factor the matrix together");
    gram_ranks_note(context, "factor", share_of(context, n * n * n / 3 + entries));
    TRY(find_bad_pivot(context, job, bad));
done:
    return status;
}

/* ---- right-hand sides ---- */

/* The part of n x columns numbers, to or from the whole. */
typedef struct side {
    const gram_spread *shape;
    int single;
    int64_t columns, own_columns, ld;
    void *part;
} side;

static gram_status take_side(gram_context *context, const gram_cholesky *factor, int64_t columns, side *b)
{
    const gram_spread *s = &factor->spread;
    *b = (side){.shape = s, .single = factor->storage == GRAM_STORAGE_F32, .columns = columns, .ld = s->ld};
    b->own_columns = part_of(columns, s->grid_column, s->grid_columns);
    const int64_t widest = part_of(columns, 0, s->grid_columns), most = part_of(s->n, 0, s->grid_rows);
    return gram_take(context, "cholesky_solve", most * widest, b->single ? sizeof(float) : sizeof(double), &b->part);
}

/* The number of the whole that row (or column) `mine` of a part is. */
static int64_t whole_row(const gram_spread *s, int64_t mine)
{
    return block_row(s, mine / BLOCK) * BLOCK + mine % BLOCK;
}

static int64_t whole_column(const gram_spread *s, int64_t mine)
{
    return block_column(s, mine / BLOCK) * BLOCK + mine % BLOCK;
}

static void scatter(const side *b, const double *from, int64_t ld)
{
    for (int64_t c = 0; c < b->own_columns; c++)
        for (int64_t i = 0; i < b->shape->rows; i++) {
            const double value = from[whole_row(b->shape, i) * ld + whole_column(b->shape, c)];
            if (b->single)
                ((float *)b->part)[c * b->ld + i] = (float)value;
            else
                ((double *)b->part)[c * b->ld + i] = value;
        }
}

static gram_status collect(gram_context *context, const side *b, double *to, int64_t ld)
{
    gram_status status = GRAM_OK;
    const int64_t n = b->shape->n, columns = b->columns;
    double *whole = NULL;
    TRY(gram_take(context, "cholesky_solve", n * columns, sizeof *whole, (void **)&whole));
    memset(whole, 0, (size_t)(n * columns) * sizeof *whole);
    for (int64_t c = 0; c < b->own_columns; c++)
        for (int64_t i = 0; i < b->shape->rows; i++)
            whole[whole_row(b->shape, i) * columns + whole_column(b->shape, c)] =
                b->single ? (double)((const float *)b->part)[c * b->ld + i] : ((const double *)b->part)[c * b->ld + i];
    TRY(gram_ranks_sum(context, "right-hand sides", n * columns, whole));
    for (int64_t i = 0; i < n; i++) memcpy(to + i * ld, whole + i * columns, (size_t)columns * sizeof *to);
done:
    gram_give(context, whole);
    return status;
}

gram_status gram_spread_triangle(gram_context *context, const gram_cholesky *factor, int inverse, int transposed,
                                 int64_t columns, double *b, int64_t ldb)
{
    gram_status status = GRAM_OK;
    const gram_spread *s = &factor->spread;
    const gram_collective *table = context->together.table;
    const double n = (double)s->n;
    side part = {0};
    FAIL_IF(gram_ranks(context) != s->grid_rows * s->grid_columns, context, GRAM_ERROR_ARGUMENT,
            "cholesky_solve: the factor is spread over other ranks than those of the context");
    TRY(take_side(context, factor, columns, &part));
    scatter(&part, b, ldb);
    const int blas = gram_blas_enter();
    status = table->triangle(table->user, part.single, inverse, transposed, s->n, BLOCK, factor->numbers, s->ld,
                             columns, part.part, part.ld);
    gram_blas_leave(blas);
    FAIL_IF(status < 0, context, status, "cholesky_solve: the ranks could not solve together");
    gram_ranks_note(context, "factor", share_of(context, n * n * (double)columns));
    TRY(collect(context, &part, b, ldb));
done:
    gram_give(context, part.part);
    return status;
}

/* ---- the inverse ---- */

gram_status gram_spread_invert(gram_context *context, gram_cholesky *factor)
{
    gram_status status = GRAM_OK;
    const gram_spread *s = &factor->spread;
    const gram_collective *table = context->together.table;
    const double n = (double)s->n;
    factor->inverted = -1;
    const int blas = gram_blas_enter();
    status = table->invert(table->user, s->n, BLOCK, factor->numbers, s->ld);
    gram_blas_leave(blas);
    FAIL_IF(status < 0, context, status, "cholesky_invert: the ranks could not invert the matrix together");
    gram_ranks_note(context, "inverse", share_of(context, 2 * n * n * n / 3));
    factor->inverted = 1;
done:
    return status;
}

gram_status gram_spread_inverse_diagonal(gram_context *context, const gram_cholesky *factor, double *out)
{
    return gather_diagonal(context, factor, out);
}

/* f(argument, i, j, number) for all numbers of the lower triangle that this rank has. */
typedef void (*number_fn)(void *argument, int64_t i, int64_t j, double number);

static void for_each(const gram_cholesky *factor, number_fn f, void *argument)
{
    const gram_spread *s = &factor->spread;
    for (int64_t c = 0; c < s->columns; c++)
        for (int64_t r = 0; r < s->rows; r++) {
            const int64_t i = whole_row(s, r), j = whole_column(s, c);
            if (i >= j) f(argument, i, j, number_at(factor, c * s->ld + r));
        }
}

typedef struct square {
    double *out;
    int64_t ld;
} square;

static void put_both(void *argument, int64_t i, int64_t j, double number)
{
    const square *to = argument;
    to->out[i * to->ld + j] = to->out[j * to->ld + i] = number;
}

gram_status gram_spread_inverse_matrix(gram_context *context, const gram_cholesky *factor, double *out, int64_t ld)
{
    gram_status status = GRAM_OK;
    const int64_t n = factor->spread.n;
    square to = {out, ld};
    for (int64_t i = 0; i < n; i++) memset(out + i * ld, 0, (size_t)n * sizeof *out);
    for_each(factor, put_both, &to);
    if (ld == n) return gram_ranks_sum(context, "inverse", n * n, out);
    for (int64_t i = 0; i < n; i++) TRY(gram_ranks_sum(context, "inverse", n, out + i * ld));
done:
    return status;
}

static void put_packed(void *argument, int64_t i, int64_t j, double number)
{
    ((double *)argument)[i * (i + 1) / 2 + j] = number;
}

gram_status gram_spread_pack(gram_context *context, const gram_cholesky *factor, double *out)
{
    const int64_t n = factor->spread.n, count = n * (n + 1) / 2;
    memset(out, 0, (size_t)count * sizeof *out);
    for_each(factor, put_packed, out);
    return gram_ranks_sum(context, "factor", count, out);
}

const double *gram_spread_row(const gram_cholesky *factor, int64_t i, int64_t first, int64_t *count, int64_t *stride)
{
    const gram_spread *s = &factor->spread;
    const int64_t end = first / BLOCK * BLOCK + BLOCK, last = i + 1 < end ? i + 1 : end;
    *count = last - first;
    *stride = s->ld;
    return (const double *)factor->numbers + place_of(s, i / BLOCK, first / BLOCK) + first % BLOCK * s->ld + i % BLOCK;
}

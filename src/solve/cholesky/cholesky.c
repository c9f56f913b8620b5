/* Cholesky factors A = L L' of A = K(X, X) + diag(shift): making one, the search for a jitter, and what is read off it.
 *
 * The lower triangle is held as contiguous square tiles and factored where it was filled in; the work on tiles is in
 * cholesky_tiles.c. K is always computed in f64, also between f32 points, and narrowed for an f32 factor: entries
 * that are off by 1e-7 make a smooth kernel's matrix indefinite, and filling takes a small part of the time.
 *
 * A jitter is searched on a grid of powers of two, unit * 2^e, by doubling the step in e until the matrix can be
 * factored and halving the interval after that: with e at most 40 this takes about ten attempts, and those that fail
 * stop at their bad pivot. Each attempt fills the tiles anew, since factoring overwrote them. */
#include "solve/cholesky/cholesky.h"

#include <float.h>
#include <math.h>

#include <gram/text.h>

#include "tile/fill.h"

enum { MOST_POINTS = 1 << 30 };
static const double MOST_JITTER = 1e-4; /* of the mean diagonal */
static const double LOST = 4;           /* units of rounding in a pivot, for each root of n */

/* ---- making and ending ---- */

static size_t real_size(gram_storage storage)
{
    return storage == GRAM_STORAGE_F32 ? sizeof(float) : sizeof(double);
}

/* Tiles of five panels of the engine; below 2,400 points four, so that there are enough of them, and below 1,500, where
 * even so there would be too few, one. Measured on two cores: the time depends on the width by a few per cent only. */
static gram_tiled shape_of(int64_t n)
{
    const int64_t panels = n < 1500 ? 1 : n < 2400 ? 4 : 5;
    gram_tiled tiles = {.n = n, .width = panels * GRAM_PANEL};
    tiles.count = (n + tiles.width - 1) / tiles.width;
    return tiles;
}

size_t gram_cholesky_bytes(int64_t n, gram_storage storage)
{
    if (n < 1 || n > MOST_POINTS) return 0;
    const gram_tiled tiles = shape_of(n);
    return (size_t)gram_tiled_numbers(&tiles) * real_size(storage);
}

gram_status gram_cholesky_take(gram_context *context, int64_t n, gram_storage storage, gram_cholesky **out)
{
    gram_status status = GRAM_OK;
    gram_cholesky *factor = NULL;
    TRY(gram_take(context, "cholesky_create", 1, sizeof *factor, (void **)&factor));
    *factor = (gram_cholesky){.memory = gram_memory_retain(context->memory), .tiles = shape_of(n), .storage = storage};
    factor->count = gram_tiled_numbers(&factor->tiles);
    TRY(gram_take(context, "cholesky_create", factor->count, real_size(storage), &factor->numbers));
    if (storage == GRAM_STORAGE_F64) factor->tiles.data = factor->numbers;
    *out = factor;
    factor = NULL;
done:
    gram_cholesky_destroy(factor);
    return status;
}

/* Room for the part of this rank. */
static gram_status take_spread(gram_context *context, int64_t n, gram_storage storage, gram_cholesky **out)
{
    gram_status status = GRAM_OK;
    gram_cholesky *factor = NULL;
    TRY(gram_take(context, "cholesky_create", 1, sizeof *factor, (void **)&factor));
    *factor = (gram_cholesky){.memory = gram_memory_retain(context->memory), .tiles = {.n = n}, .storage = storage};
    TRY(gram_spread_shape(context, n, &factor->spread));
    factor->count = factor->spread.count;
    TRY(gram_take(context, "cholesky_create", n, sizeof(double), (void **)&factor->spread.diagonal));
    TRY(gram_take(context, "cholesky_create", factor->count, real_size(storage), &factor->numbers));
    *out = factor;
    factor = NULL;
done:
    gram_cholesky_destroy(factor);
    return status;
}

void gram_cholesky_destroy(gram_cholesky *factor)
{
    if (!factor) return;
    gram_memory *memory = factor->memory;
    gram_memory_give(memory, factor->numbers);
    gram_memory_give(memory, factor->spread.diagonal);
    gram_memory_give(memory, factor);
    gram_memory_release(memory);
}

/* ---- one attempt ---- */

/* Fills and factors; GRAM_ERROR_NUMERICAL with job->bad_pivot if that cannot be done. */
static gram_status attempt(gram_context *context, gram_factoring *job, double jitter)
{
    const int64_t count = job->factor->tiles.count;
    const int narrow = job->factor->storage == GRAM_STORAGE_F32;
    const gram_sweep sweep = {.what = "cholesky factor",
                              .tasks = count * (count + 1) / 2,
                              .scratch_bytes = gram_engine_scratch(job->engine),
                              .run = narrow ? gram_cholesky_factor_task_f32 : gram_cholesky_factor_task_f64,
                              .argument = job};
    job->jitter = jitter;
    job->bad_pivot = -1;
    if (gram_cholesky_is_spread(job->factor)) return gram_spread_attempt(context, job);
    gram_flags_clear(&job->done);
    return gram_sweep_run(context, &sweep);
}

static gram_status tell_pivot(gram_context *context, const gram_factoring *job)
{
    char shown[GRAM_NUMBER_SIZE];
    return gram_fail(context, GRAM_ERROR_NUMERICAL,
                     "cholesky_create: not positive definite to working precision%s%s: pivot %lld of %lld (from 0)",
                     job->jitter > 0 ? " even with jitter " : "",
                     job->jitter > 0 ? gram_number_format(job->jitter, shown) : "", (long long)job->bad_pivot,
                     (long long)job->factor->tiles.n);
}

/* ---- the least jitter ---- */

/* The rounding unit times the mean diagonal of A. */
static gram_status jitter_unit(gram_context *context, const gram_factoring *job, double *unit)
{
    gram_status status = GRAM_OK;
    const int64_t n = job->factor->tiles.n;
    double *diagonal = NULL, sum = 0;
    TRY(gram_take(context, "cholesky_create", n, sizeof *diagonal, (void **)&diagonal));
    TRY(gram_engine_diagonal(context, job->engine, diagonal));
    for (int64_t i = 0; i < n; i++) sum += diagonal[i] + (job->shift ? job->shift[i] : 0);
    *unit = sum / (double)n * (job->factor->storage == GRAM_STORAGE_F32 ? (double)FLT_EPSILON : DBL_EPSILON);
done:
    gram_give(context, diagonal);
    return status;
}

/* Attempts 1, 2, 4, 8, ... steps of the grid further up; then halves. Low failed, high did not. */
static gram_status search_jitter(gram_context *context, gram_factoring *job, double *jitter)
{
    gram_status status = GRAM_OK;
    double unit = 0;
    TRY(jitter_unit(context, job, &unit));
    if (!(unit > 0) || !isfinite(unit))
        FAIL(context, GRAM_ERROR_NUMERICAL, "cholesky_create: the mean diagonal is not positive");
    const double epsilon = job->factor->storage == GRAM_STORAGE_F32 ? (double)FLT_EPSILON : DBL_EPSILON;
    const int most = (int)floor(log2(MOST_JITTER / epsilon));
    int low = -1, high = 0;
    for (int step = 1; (status = attempt(context, job, ldexp(unit, high))) == GRAM_ERROR_NUMERICAL; step *= 2) {
        if (high == most) return tell_pivot(context, job);
        low = high;
        high = high + step < most ? high + step : most;
    }
    while (status == GRAM_OK && high - low > 1) {
        const int middle = low + (high - low) / 2;
        status = attempt(context, job, ldexp(unit, middle));
        if (status == GRAM_OK) high = middle;
        if (status == GRAM_ERROR_NUMERICAL) low = middle, status = GRAM_OK;
    }
    if (status == GRAM_OK && job->jitter != ldexp(unit, high)) status = attempt(context, job, ldexp(unit, high));
    *jitter = ldexp(unit, high);
done:
    return status;
}

/* ---- create ---- */

static gram_status check_shift(gram_context *context, int64_t n, const double *shift)
{
    gram_status status = GRAM_OK;
    for (int64_t i = 0; shift && i < n; i++)
        FAIL_IF(!isfinite(shift[i]), context, GRAM_ERROR_ARGUMENT, "cholesky_create: shift[%lld] is not finite",
                (long long)i);
done:
    return status;
}

static gram_status factor_all(gram_context *context, const gram_engine *engine, const double *shift, double *jitter,
                              gram_cholesky *factor)
{
    gram_status status = GRAM_OK;
    gram_factoring job = {.factor = factor, .engine = engine, .shift = shift};
    const int64_t count = factor->tiles.count;
    TRY(gram_flags_create(context, "cholesky_create", count * (count + 1) / 2, &job.done));
    if (jitter) *jitter = 0;
    status = attempt(context, &job, 0);
    if (status == GRAM_ERROR_NUMERICAL)
        status = jitter ? search_jitter(context, &job, jitter) : tell_pivot(context, &job);
done:
    gram_flags_destroy(context, &job.done);
    return status;
}

static gram_status create(gram_context *context, const gram_kernel *kernel, const gram_points *x, const double *shift,
                          gram_storage storage, double *jitter, int together, gram_cholesky **factor)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = NULL;
    gram_cholesky *made = NULL;
    if (!context || !factor) return GRAM_ERROR_ARGUMENT;
    *factor = NULL;
    FAIL_IF(storage != GRAM_STORAGE_F64 && storage != GRAM_STORAGE_F32, context, GRAM_ERROR_ARGUMENT,
            "cholesky_create: storage = %d is not a valid storage", (int)storage);
    const gram_engine_request request = {.kernel = kernel, .x = x, .always_double = 1};
    TRY(gram_engine_create(context, &request, &engine));
    FAIL_IF(engine->n > MOST_POINTS, context, GRAM_ERROR_OVERFLOW, "cholesky_create: n = %lld is too large",
            (long long)engine->n);
    TRY(check_shift(context, engine->n, shift));
    if (together && gram_spread_wanted(context, engine->n))
        TRY(take_spread(context, engine->n, storage, &made));
    else
        TRY(gram_cholesky_take(context, engine->n, storage, &made));
    TRY(factor_all(context, engine, shift, jitter, made));
    *factor = made;
    made = NULL;
done:
    gram_cholesky_destroy(made);
    gram_engine_destroy(engine);
    return status;
}

gram_status gram_cholesky_create(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                 const double *shift, gram_storage storage, double *jitter, gram_cholesky **factor)
{
    return create(context, kernel, x, shift, storage, jitter, 0, factor);
}

gram_status gram_cholesky_create_together(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                          const double *shift, gram_storage storage, double *jitter,
                                          gram_cholesky **factor)
{
    return create(context, kernel, x, shift, storage, jitter, 1, factor);
}

int64_t gram_cholesky_size(const gram_cholesky *factor)
{
    return factor->tiles.n;
}

/* ---- what is read off a factor ---- */

double gram_cholesky_log_determinant(const gram_cholesky *factor)
{
    const gram_tiled *tiles = &factor->tiles;
    double sum = 0;
    for (int64_t i = 0; i < factor->spread.n; i++) sum += log(factor->spread.diagonal[i]);
    for (int64_t i = 0; i < tiles->count; i++) {
        const int64_t place = gram_tiled_place(tiles, i, i), size = gram_tiled_rows(tiles, i);
        for (int64_t r = 0; r < size; r++) {
            const int64_t at = place + r * (size + 1);
            sum += log(factor->storage == GRAM_STORAGE_F32 ? (double)((const float *)factor->numbers)[at]
                                                           : ((const double *)factor->numbers)[at]);
        }
    }
    return 2 * sum;
}

void gram_cholesky_pivots(const gram_cholesky *factor, double *least, double *most)
{
    const gram_tiled *tiles = &factor->tiles;
    const double *numbers = factor->numbers;
    *least = INFINITY;
    *most = 0;
    for (int64_t i = 0; i < factor->spread.n; i++) {
        const double root = factor->spread.diagonal[i];
        *least = fmin(*least, root * root);
        *most = fmax(*most, root * root);
    }
    for (int64_t i = 0; i < tiles->count; i++) {
        const int64_t place = gram_tiled_place(tiles, i, i), size = gram_tiled_rows(tiles, i);
        for (int64_t r = 0; r < size; r++) {
            const double root = numbers[place + r * (size + 1)];
            *least = fmin(*least, root * root);
            *most = fmax(*most, root * root);
        }
    }
}

int gram_pivots_hold(int64_t n, double least, double most)
{
    return least > LOST * sqrt((double)n) * DBL_EPSILON * most;
}

gram_status gram_cholesky_check_pivots(gram_context *context, const char *name, const gram_cholesky *factor)
{
    gram_status status = GRAM_OK;
    double least, most;
    gram_cholesky_pivots(factor, &least, &most);
    FAIL_IF(!gram_pivots_hold(factor->tiles.n, least, most), context, GRAM_ERROR_NUMERICAL,
            "%s: lost to rounding: given others, a row has the variance %g, which is nothing beside %g; it needs more "
            "noise or shorter length-scales",
            name, least, most);
done:
    return status;
}

/* ---- solving ---- */

/* The power of two that brings the largest number near 1, so that f32 neither overflows nor underflows. */
static double scale_of(int64_t n, const double *b, int64_t ldb)
{
    double most = 0;
    int exponent = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(b[i * ldb]));
    if (!(most > 0) || isinf(most)) return 1;
    (void)frexp(most, &exponent);
    return ldexp(1, exponent < -1000 ? -1000 : exponent);
}

/* Through a copy in f32, each column scaled. */
static gram_status solve_f32(gram_context *context, const gram_cholesky *factor, int half, int64_t columns, double *b,
                             int64_t ldb)
{
    gram_status status = GRAM_OK;
    const int64_t n = factor->tiles.n;
    float *narrow = NULL;
    double *scale = NULL;
    TRY(gram_take(context, "cholesky_solve", columns, sizeof *scale, (void **)&scale));
    TRY(gram_take(context, "cholesky_solve", n * columns, sizeof *narrow, (void **)&narrow));
    for (int64_t c = 0; c < columns; c++) scale[c] = scale_of(n, b + c, ldb);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < columns; c++) narrow[i * columns + c] = (float)(b[i * ldb + c] / scale[c]);
    TRY(gram_cholesky_substitute_f32(context, factor, 0, columns, narrow, columns));
    if (!half) TRY(gram_cholesky_substitute_f32(context, factor, 1, columns, narrow, columns));
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < columns; c++) b[i * ldb + c] = scale[c] * (double)narrow[i * columns + c];
done:
    gram_give(context, narrow);
    gram_give(context, scale);
    return status;
}

/* By all ranks; columns for an f32 factor are scaled. */
static gram_status solve_together(gram_context *context, const gram_cholesky *factor, int half, int64_t columns,
                                  double *b, int64_t ldb)
{
    gram_status status = GRAM_OK;
    const int64_t n = factor->tiles.n;
    double *scale = NULL;
    TRY(gram_take(context, "cholesky_solve", columns, sizeof *scale, (void **)&scale));
    for (int64_t c = 0; c < columns; c++) scale[c] = factor->storage == GRAM_STORAGE_F32 ? scale_of(n, b + c, ldb) : 1;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < columns; c++) b[i * ldb + c] /= scale[c];
    TRY(gram_spread_triangle(context, factor, 1, 0, columns, b, ldb));
    if (!half) TRY(gram_spread_triangle(context, factor, 1, 1, columns, b, ldb));
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < columns; c++) b[i * ldb + c] *= scale[c];
done:
    gram_give(context, scale);
    return status;
}

static gram_status solve(gram_context *context, const char *what, const gram_cholesky *factor, int half,
                         int64_t columns, double *b, int64_t ldb)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!factor || !b, context, GRAM_ERROR_ARGUMENT, "%s: %s is NULL", what, factor ? "b" : "factor");
    FAIL_IF(factor->inverted, context, GRAM_ERROR_ARGUMENT, "%s: the factor was inverted", what);
    FAIL_IF(columns < 1 || columns > GRAM_CHOLESKY_COLUMNS, context, GRAM_ERROR_ARGUMENT,
            "%s: columns = %lld, need 1 to %d", what, (long long)columns, (int)GRAM_CHOLESKY_COLUMNS);
    FAIL_IF(ldb < columns || ldb > INT32_MAX, context, GRAM_ERROR_ARGUMENT,
            "%s: ldb = %lld does not fit columns = %lld", what, (long long)ldb, (long long)columns);
    if (gram_cholesky_is_spread(factor)) return solve_together(context, factor, half, columns, b, ldb);
    if (factor->storage == GRAM_STORAGE_F32) return solve_f32(context, factor, half, columns, b, ldb);
    TRY(gram_cholesky_substitute_f64(context, factor, 0, columns, b, ldb));
    if (!half) TRY(gram_cholesky_substitute_f64(context, factor, 1, columns, b, ldb));
done:
    return status;
}

gram_status gram_cholesky_solve(gram_context *context, const gram_cholesky *factor, int64_t columns, double *b,
                                int64_t ldb)
{
    return solve(context, "cholesky_solve", factor, 0, columns, b, ldb);
}

gram_status gram_cholesky_half_solve(gram_context *context, const gram_cholesky *factor, int64_t columns, double *b,
                                     int64_t ldb)
{
    return solve(context, "cholesky_half_solve", factor, 1, columns, b, ldb);
}

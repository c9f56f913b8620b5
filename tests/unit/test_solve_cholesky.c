/* Tiled Cholesky factors against an obvious one: entry by entry, no blocks, in long double. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/cholesky.h>

#include "oom.h"
#include "operator/tiled_matrix.h"
#include "support.h"

/* One tile and the sizes around it, several tiles, a ragged last one; tiles are 96 wide below 1500 points. */
static const int64_t SIZES[] = {1, 2, 95, 96, 97, 191, 193, 300};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES, D = 3 };

static const char KERNEL[] = "1.5*rbf(ell=0.6) + 0.2*matern(nu=1.5, ell=[1,2,0.5])";

/* Points, kernel, shift and A = K + diag(shift). */
typedef struct world {
    gram_context *context;
    int64_t n;
    double *data, *shift, *a;
    gram_points *x;
    gram_kernel *kernel;
} world;

static void world_make(int64_t n, int threads, double shift, world *w)
{
    *w = (world){.context = test_context(threads, GRAM_ISA_AUTO), .n = n};
    w->data = test_random((uint64_t)n, n * D, 0, 2);
    w->shift = test_random((uint64_t)n + 1, n, 0.5 * shift, shift);
    w->a = test_numbers(n * n);
    w->x = test_points(w->context, n, D, w->data);
    w->kernel = test_kernel(w->context, KERNEL);
    OK(w->context, gram_matrix(w->context, w->kernel, w->x, NULL, w->a, n));
    for (int64_t i = 0; i < n; i++) w->a[i * n + i] += w->shift[i];
}

static void world_free(world *w)
{
    gram_kernel_release(w->kernel);
    gram_points_release(w->x);
    free(w->a);
    free(w->shift);
    free(w->data);
    gram_context_destroy(w->context);
}

static gram_cholesky *factor_of(const world *w, gram_storage storage)
{
    gram_cholesky *factor = NULL;
    OK(w->context, gram_cholesky_create(w->context, w->kernel, w->x, w->shift, storage, NULL, &factor));
    assert_int_equal(gram_cholesky_size(factor), w->n);
    return factor;
}

/* ---- the twin ---- */

/* L L' = A, row by row; the caller frees L. */
static long double *obvious_factor(int64_t n, const double *a)
{
    long double *l = calloc((size_t)(n * n), sizeof *l);
    assert_non_null(l);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            long double sum = a[i * n + j];
            for (int64_t k = 0; k < j; k++) sum -= l[i * n + k] * l[j * n + k];
            l[i * n + j] = i == j ? sqrtl(sum) : sum / l[j * n + j];
        }
    return l;
}

static void obvious_half_solve(int64_t n, const long double *l, const double *b, int64_t ldb, long double *y)
{
    for (int64_t i = 0; i < n; i++) {
        long double sum = b[i * ldb];
        for (int64_t k = 0; k < i; k++) sum -= l[i * n + k] * y[k];
        y[i] = sum / l[i * n + i];
    }
}

static void obvious_solve(int64_t n, const long double *l, const double *b, int64_t ldb, long double *y)
{
    obvious_half_solve(n, l, b, ldb, y);
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < n; k++) y[i] -= l[k * n + i] * y[k];
        y[i] /= l[i * n + i];
    }
}

/* max |got - want| / max |want| of column `column` */
static double difference(int64_t n, const double *got, int64_t ld, const long double *want)
{
    long double most = 0, size = 0;
    for (int64_t i = 0; i < n; i++) {
        const long double gap = fabsl(got[i * ld] - want[i]);
        most = gap > most || isnan(gap) ? gap : most;
        size = fabsl(want[i]) > size ? fabsl(want[i]) : size;
    }
    return (double)(most / size);
}

/* ---- solves and log-determinant ---- */

static void check_solves(const world *w, const gram_cholesky *factor, const long double *l, int64_t columns,
                         double close)
{
    const int64_t n = w->n, ld = columns + 2;
    double *b = test_random(5, n * ld, -1, 1), *got = test_numbers(n * ld);
    long double *want = calloc((size_t)n, sizeof *want);
    assert_non_null(want);
    for (int half = 0; half < 2; half++) {
        memcpy(got, b, (size_t)(n * ld) * sizeof *b);
        OK(w->context, (half ? gram_cholesky_half_solve : gram_cholesky_solve)(w->context, factor, columns, got, ld));
        for (int64_t c = 0; c<columns; c += columns> 4 ? 3 : 1) {
            (half ? obvious_half_solve : obvious_solve)(n, l, b + c, ld, want);
            const double gap = difference(n, got + c, ld, want);
            if (!(gap <= close)) FAIL_TEST("n = %lld, column %lld: off by %g", (long long)n, (long long)c, gap);
        }
        for (int64_t i = 0; i < n; i++)
            for (int64_t c = columns; c < ld; c++) assert_true(got[i * ld + c] == b[i * ld + c]);
    }
    free(want), free(got), free(b);
}

static void solves_one(int64_t n, gram_storage storage)
{
    static const int64_t COLUMNS[] = {1, 2, 5, 200};
    world w;
    world_make(n, 2, 0.1, &w);
    long double *l = obvious_factor(n, w.a);
    gram_cholesky *factor = factor_of(&w, storage);
    /* the shift bounds the condition number by 40 n */
    const double close = (storage == GRAM_STORAGE_F32 ? FLT_EPSILON : DBL_EPSILON) * 40 * (double)n;
    for (int c = 0; c < 4; c++) check_solves(&w, factor, l, COLUMNS[c], close);
    long double determinant = 0;
    for (int64_t i = 0; i < n; i++) determinant += 2 * logl(l[i * n + i]);
    const double gap = fabs(gram_cholesky_log_determinant(factor) - (double)determinant);
    if (!(gap <= close * (double)n)) FAIL_TEST("n = %lld: log-determinant off by %g", (long long)n, gap);
    gram_cholesky_destroy(factor);
    free(l);
    world_free(&w);
}

static void solves(void **state)
{
    (void)state;
    for (int s = 0; s < SIZE_COUNT; s++) {
        solves_one(SIZES[s], GRAM_STORAGE_F64);
        solves_one(SIZES[s], GRAM_STORAGE_F32);
    }
}

/* Larger, with wider tiles: the residual instead of the twin. */
static void residual(void **state)
{
    (void)state;
    enum { N = 2017, COLUMNS = 3 };
    world w;
    world_make(N, 2, 0.2, &w);
    for (int s = 0; s < 2; s++) {
        gram_cholesky *factor = factor_of(&w, s ? GRAM_STORAGE_F32 : GRAM_STORAGE_F64);
        double *b = test_random(6, N * COLUMNS, -1, 1), *x = test_random(6, N * COLUMNS, -1, 1);
        OK(w.context, gram_cholesky_solve(w.context, factor, COLUMNS, x, COLUMNS));
        for (int c = 0; c < COLUMNS; c++) {
            double worst = 0, size = 0;
            for (int i = 0; i < N; i++) {
                double sum = -b[i * COLUMNS + c];
                for (int j = 0; j < N; j++) sum += w.a[i * N + j] * x[j * COLUMNS + c];
                worst = fmax(worst, fabs(sum));
                size = fmax(size, fabs(x[i * COLUMNS + c]));
            }
            /* |A| <= 1.7 n in the maximum norm */
            const double close = (s ? FLT_EPSILON : DBL_EPSILON) * 1.7 * N * size;
            if (!(worst <= close)) FAIL_TEST("storage %d: residual %g above %g", s, worst, close);
        }
        free(x), free(b);
        gram_cholesky_destroy(factor);
    }
    world_free(&w);
}

/* ---- the inverse ---- */

/* W A = I, and what is read off W agrees with it. */
static void check_inverse(const world *w, const gram_cholesky *inverse)
{
    const int64_t n = w->n, ld = n + 1, columns = 3;
    double *whole = test_numbers(n * ld), *diagonal = test_numbers(n), *v = test_random(4, n * columns, -1, 1),
           *out = test_numbers(n * columns);
    OK(w->context, gram_cholesky_inverse_matrix(w->context, inverse, whole, ld));
    OK(w->context, gram_cholesky_inverse_diagonal(w->context, inverse, diagonal));
    OK(w->context, gram_cholesky_inverse_apply(w->context, inverse, columns, v, columns, out, columns));
    const double close = DBL_EPSILON * 40 * (double)n;
    for (int64_t i = 0; i < n; i++) {
        assert_true(diagonal[i] == whole[i * ld + i]);
        assert_true(whole[i * ld + n] == 0);
        for (int64_t j = 0; j < n; j++) {
            long double sum = 0;
            for (int64_t k = 0; k < n; k++) sum += (long double)whole[i * ld + k] * w->a[k * n + j];
            if (!(fabsl(sum - (i == j)) <= 10 * close))
                FAIL_TEST("n = %lld: (A^-1 A)(%lld, %lld) is %Lg", (long long)n, (long long)i, (long long)j, sum);
            assert_true(whole[i * ld + j] == whole[j * ld + i]);
        }
        for (int64_t c = 0; c < columns; c++) {
            long double sum = 0, size = 0;
            for (int64_t k = 0; k < n; k++) {
                sum += (long double)whole[i * ld + k] * v[k * columns + c];
                size += fabsl((long double)whole[i * ld + k] * v[k * columns + c]);
            }
            assert_true(fabsl(sum - out[i * columns + c]) <= DBL_EPSILON * (double)n * size);
        }
    }
    free(out), free(v), free(diagonal), free(whole);
}

static void inverse(void **state)
{
    (void)state;
    for (int s = 0; s < SIZE_COUNT; s++) {
        world w;
        world_make(SIZES[s], 2, 0.1, &w);
        gram_cholesky *factor = factor_of(&w, GRAM_STORAGE_F64);
        OK(w.context, gram_cholesky_invert(w.context, factor));
        check_inverse(&w, factor);
        gram_cholesky_destroy(factor);
        world_free(&w);
    }
}

/* ---- the condition number ---- */

static double norm_1(int64_t n, const double *a)
{
    double most = 0;
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) sum += fabs(a[i * n + j]);
        most = fmax(most, sum);
    }
    return most;
}

static void condition(void **state)
{
    (void)state;
    for (int s = 0; s < SIZE_COUNT; s++) {
        world w;
        world_make(SIZES[s], 2, 1e-2, &w);
        const int64_t n = w.n;
        double *whole = test_numbers(n * n), wide = 0, narrow = 0;
        gram_cholesky *f64 = factor_of(&w, GRAM_STORAGE_F64), *f32 = factor_of(&w, GRAM_STORAGE_F32);
        OK(w.context, gram_cholesky_condition(w.context, f64, &wide));
        OK(w.context, gram_cholesky_condition(w.context, f32, &narrow));
        OK(w.context, gram_cholesky_invert(w.context, f64));
        OK(w.context, gram_cholesky_inverse_matrix(w.context, f64, whole, n));
        const double exact = norm_1(n, w.a) * norm_1(n, whole);
        assert_true(wide <= 1.0000001 * exact && wide >= exact / 3);
        assert_true(narrow <= 1.05 * exact && narrow >= exact / 3.3);
        gram_cholesky_destroy(f64);
        gram_cholesky_destroy(f32);
        free(whole);
        world_free(&w);
    }
}

/* ---- the same bits ---- */

/* Solutions, inverse and scalars of a factor made with `threads`; the caller frees them. */
static double *everything(int64_t n, int threads, gram_storage storage, int64_t *count)
{
    enum { COLUMNS = 201 };
    world w;
    world_make(n, threads, 0.1, &w);
    *count = n * (COLUMNS + 2) + 2 + n * n;
    double *all = test_numbers(*count), *b = test_random(8, n * COLUMNS, -1, 1);
    gram_cholesky *factor = factor_of(&w, storage);
    memcpy(all, b, (size_t)(n * COLUMNS) * sizeof *b);
    memcpy(all + n * COLUMNS, b, (size_t)(2 * n) * sizeof *b);
    double *scalars = all + n * (COLUMNS + 2);
    OK(w.context, gram_cholesky_solve(w.context, factor, COLUMNS, all, COLUMNS));
    OK(w.context, gram_cholesky_solve(w.context, factor, 1, all + n * COLUMNS, 1));
    OK(w.context, gram_cholesky_half_solve(w.context, factor, 1, all + n * (COLUMNS + 1), 1));
    OK(w.context, gram_cholesky_condition(w.context, factor, scalars));
    scalars[1] = gram_cholesky_log_determinant(factor);
    if (storage == GRAM_STORAGE_F64) {
        OK(w.context, gram_cholesky_invert(w.context, factor));
        OK(w.context, gram_cholesky_inverse_matrix(w.context, factor, scalars + 2, n));
    }
    gram_cholesky_destroy(factor);
    free(b);
    world_free(&w);
    return all;
}

static void threads(void **state)
{
    (void)state;
    static const int64_t FEW[] = {2, 97, 700, 1600};
    for (size_t s = 0; s < sizeof FEW / sizeof *FEW; s++)
        for (int narrow = 0; narrow < 2; narrow++) {
            const gram_storage storage = narrow ? GRAM_STORAGE_F32 : GRAM_STORAGE_F64;
            int64_t count;
            double *one = everything(FEW[s], 1, storage, &count);
            for (int t = 2; t <= 4; t++) {
                double *more = everything(FEW[s], t, storage, &count);
                if (!test_same_bits(1, count, one, count, more, count))
                    FAIL_TEST("n = %lld, storage %d: bits differ with %d threads", (long long)FEW[s], narrow, t);
                free(more);
            }
            free(one);
        }
}

/* ---- jitter and failure ---- */

/* n points, of which each but the first is the same as another. */
static void make_duplicates(world *w)
{
    for (int64_t i = 1; i < w->n; i++) memcpy(w->data + i * D, w->data + (i / 2) * D, D * sizeof *w->data);
}

static int factors_with(const world *w, gram_storage storage, double added)
{
    gram_cholesky *factor = NULL;
    double *shift = test_numbers(w->n);
    for (int64_t i = 0; i < w->n; i++) shift[i] = added;
    const gram_status status = gram_cholesky_create(w->context, w->kernel, w->x, shift, storage, NULL, &factor);
    assert_true(status == GRAM_OK || status == GRAM_ERROR_NUMERICAL);
    gram_cholesky_destroy(factor);
    free(shift);
    return status == GRAM_OK;
}

static void jitter(void **state)
{
    (void)state;
    static const double SHIFT[] = {-1e-13, -3e-6}; /* indefinite for sure, for f64 and f32 */
    for (int narrow = 0; narrow < 2; narrow++) {
        const gram_storage storage = narrow ? GRAM_STORAGE_F32 : GRAM_STORAGE_F64;
        world w;
        world_make(230, 2, 0.1, &w);
        gram_cholesky *factor = NULL;
        double added = -1;
        OK(w.context, gram_cholesky_create(w.context, w.kernel, w.x, w.shift, storage, &added, &factor));
        assert_true(added == 0);
        gram_cholesky_destroy(factor);
        make_duplicates(&w);
        for (int64_t i = 0; i < w.n; i++) w.shift[i] = SHIFT[narrow];
        assert_int_equal(gram_cholesky_create(w.context, w.kernel, w.x, w.shift, storage, NULL, &factor),
                         GRAM_ERROR_NUMERICAL);
        assert_null(factor);
        assert_non_null(strstr(gram_context_message(w.context), "pivot"));
        OK(w.context, gram_cholesky_create(w.context, w.kernel, w.x, w.shift, storage, &added, &factor));
        assert_true(added > -SHIFT[narrow] && added <= 1e-4 * 1.7);
        assert_true(factors_with(&w, storage, SHIFT[narrow] + added));
        assert_false(factors_with(&w, storage, SHIFT[narrow] + added / 2));
        /* the factor is that of the matrix with the jitter */
        double *x = test_random(3, w.n, -1, 1), *y = test_random(3, w.n, -1, 1);
        OK(w.context, gram_cholesky_half_solve(w.context, factor, 1, x, 1));
        gram_cholesky_destroy(factor);
        for (int64_t i = 0; i < w.n; i++) w.shift[i] = SHIFT[narrow] + added;
        factor = factor_of(&w, storage);
        OK(w.context, gram_cholesky_half_solve(w.context, factor, 1, y, 1));
        assert_true(test_same_bits(1, w.n, x, w.n, y, w.n));
        gram_cholesky_destroy(factor);
        free(x), free(y);
        world_free(&w);
    }
}

/* What no jitter of the allowed size can mend. */
static void hopeless(void **state)
{
    (void)state;
    world w;
    world_make(200, 2, 0.1, &w);
    gram_cholesky *factor = NULL;
    double added = 0;
    w.shift[150] = -50;
    REFUSED(w.context, gram_cholesky_create(w.context, w.kernel, w.x, w.shift, GRAM_STORAGE_F64, &added, &factor),
            GRAM_ERROR_NUMERICAL, "pivot 150 of 200");
    REFUSED(w.context, gram_cholesky_create(w.context, w.kernel, w.x, w.shift, GRAM_STORAGE_F32, NULL, &factor),
            GRAM_ERROR_NUMERICAL, "pivot 150 of 200");
    world_free(&w);
}

/* ---- memory, cancelling, arguments ---- */

static void memory(void **state)
{
    (void)state;
    enum { N = 700 };
    world w;
    world_make(N, 1, 0.1, &w);
    const size_t before = gram_context_memory_used(w.context);
    for (int narrow = 0; narrow < 2; narrow++) {
        const gram_storage storage = narrow ? GRAM_STORAGE_F32 : GRAM_STORAGE_F64;
        gram_cholesky *factor = factor_of(&w, storage);
        const size_t held = gram_context_memory_used(w.context) - before;
        assert_true(held >= gram_cholesky_bytes(N, storage) && held <= gram_cholesky_bytes(N, storage) + 4096);
        assert_true((double)held <= (narrow ? 0.3 : 0.6) * N * N * sizeof(double));
        gram_cholesky_destroy(factor);
        assert_int_equal(gram_context_memory_used(w.context), before);
    }
    assert_true((double)gram_cholesky_bytes(20000, GRAM_STORAGE_F32) <= 0.27 * 8 * 20000.0 * 20000.0);
    assert_true(gram_cholesky_bytes(1000000, GRAM_STORAGE_F64) > (size_t)4 << 40 >> 1);
    world_free(&w);
}

/* A factor over the budget is refused before memory is taken. */
static void budget(void **state)
{
    (void)state;
    enum { N = 2000 };
    oom_book book = {.fail_at = -1};
    gram_context *context =
        TEST_CONTEXT(.threads = 2, .memory_budget = (size_t)4 << 20, .allocator = oom_allocator(&book));
    double *data = test_random(1, N * D, 0, 1);
    gram_points *x = test_points(context, N, D, data);
    gram_kernel *kernel = test_kernel(context, KERNEL);
    gram_cholesky *factor = NULL;
    const size_t before = gram_context_memory_used(context);
    assert_int_equal(gram_cholesky_create(context, kernel, x, NULL, GRAM_STORAGE_F64, NULL, &factor),
                     GRAM_ERROR_BUDGET);
    assert_null(factor);
    assert_true(book.largest <= 1 << 20);
    assert_int_equal(gram_context_memory_used(context), before);
    gram_kernel_release(kernel);
    gram_points_release(x);
    gram_context_destroy(context);
    free(data);
}

static void cancel(void **state)
{
    (void)state;
    enum { N = 5000 }; /* takes longer than the time between calls of cancel */
    int left = 3;
    gram_context *context = TEST_CONTEXT(.threads = 2, .cancel = test_stop, .cancel_user = &left);
    double *data = test_random(1, N * D, 0, 1), *shift = test_random(2, N, 1, 1.5);
    gram_points *x = test_points(context, N, D, data);
    gram_kernel *kernel = test_kernel(context, KERNEL);
    gram_cholesky *factor = NULL;
    assert_int_equal(gram_cholesky_create(context, kernel, x, shift, GRAM_STORAGE_F64, NULL, &factor),
                     GRAM_ERROR_CANCELLED);
    assert_null(factor);
    gram_kernel_release(kernel);
    gram_points_release(x);
    gram_context_destroy(context);
    free(shift), free(data);
}

#define REFUSES(want, call) REFUSED(w.context, call, want, "")

static void bad_arguments(void **state)
{
    (void)state;
    world w;
    world_make(20, 1, 0.1, &w);
    gram_context *c = w.context;
    gram_cholesky *f = NULL, *narrow = factor_of(&w, GRAM_STORAGE_F32), *wide = factor_of(&w, GRAM_STORAGE_F64);
    double b[60], estimate;
    test_uniform(1, 60, -1, 1, b);
    const double kept = w.shift[7];
    w.shift[7] = NAN;
    REFUSES(GRAM_ERROR_ARGUMENT, gram_cholesky_create(c, w.kernel, w.x, w.shift, GRAM_STORAGE_F64, NULL, &f));
    assert_non_null(strstr(gram_context_message(c), "shift[7]"));
    w.shift[7] = kept;
    REFUSES(GRAM_ERROR_ARGUMENT, gram_cholesky_create(c, w.kernel, w.x, NULL, (gram_storage)7, NULL, &f));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_cholesky_create(c, w.kernel, NULL, NULL, GRAM_STORAGE_F64, NULL, &f));
    assert_int_equal(gram_cholesky_create(c, w.kernel, w.x, NULL, GRAM_STORAGE_F64, NULL, NULL), GRAM_ERROR_ARGUMENT);
    REFUSES(GRAM_ERROR_ARGUMENT, gram_cholesky_solve(c, NULL, 1, b, 1));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_cholesky_solve(c, wide, 0, b, 1));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_cholesky_solve(c, wide, 3, b, 2));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_cholesky_half_solve(c, wide, 1, NULL, 1));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_cholesky_condition(c, wide, NULL));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_cholesky_invert(c, NULL));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_cholesky_invert(c, narrow));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_cholesky_inverse_diagonal(c, wide, b));
    OK(c, gram_cholesky_invert(c, wide));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_cholesky_invert(c, wide));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_cholesky_solve(c, wide, 1, b, 1));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_cholesky_condition(c, wide, &estimate));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_cholesky_inverse_diagonal(c, wide, NULL));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_cholesky_inverse_matrix(c, wide, w.a, 19));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_cholesky_inverse_apply(c, wide, 1, b, 1, NULL, 1));
    REFUSES(GRAM_ERROR_ARGUMENT, gram_cholesky_inverse_apply(c, wide, 2, b, 1, b + 20, 2));
    assert_int_equal(gram_cholesky_bytes(0, GRAM_STORAGE_F64), 0);
    gram_cholesky_destroy(NULL);
    gram_cholesky_destroy(narrow);
    gram_cholesky_destroy(wide);
    world_free(&w);
}

/* A factor outlives its context, and numbers far from 1 survive f32. */
static void ownership(void **state)
{
    (void)state;
    world w;
    world_make(97, 1, 0.1, &w);
    gram_cholesky *factor = factor_of(&w, GRAM_STORAGE_F32);
    gram_context *later = test_context(1, GRAM_ISA_AUTO);
    double *plain = test_random(1, 97, -1, 1), *tiny = test_random(1, 97, -1, 1);
    for (int i = 0; i < 97; i++) tiny[i] = ldexp(tiny[i], -300);
    world_free(&w);
    OK(later, gram_cholesky_solve(later, factor, 1, plain, 1));
    OK(later, gram_cholesky_solve(later, factor, 1, tiny, 1));
    for (int i = 0; i < 97; i++) assert_true(ldexp(tiny[i], 300) == plain[i]);
    gram_cholesky_destroy(factor);
    gram_context_destroy(later);
    free(plain), free(tiny);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves),    cmocka_unit_test(residual),      cmocka_unit_test(inverse),
        cmocka_unit_test(condition), cmocka_unit_test(threads),       cmocka_unit_test(jitter),
        cmocka_unit_test(hopeless),  cmocka_unit_test(memory),        cmocka_unit_test(budget),
        cmocka_unit_test(cancel),    cmocka_unit_test(bad_arguments), cmocka_unit_test(ownership),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

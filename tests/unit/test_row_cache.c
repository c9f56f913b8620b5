/* Rows of the kernel matrix on demand: whatever was asked for before, a row is that of the matrix. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "operator/row_cache.h"
#include "support.h"

enum { D = 2, MOST = 16 };

typedef struct world {
    gram_context *context;
    gram_kernel *kernel;
    double *numbers;
    gram_points *points;
} world;

static world world_make(const char *kernel, uint64_t seed, int64_t n)
{
    world w = {.context = test_context(2, GRAM_ISA_AUTO)};
    w.kernel = test_kernel(w.context, kernel);
    w.numbers = test_random(seed, n * D, -1, 1);
    w.points = test_points(w.context, n, D, w.numbers);
    return w;
}

static void world_free(world *w)
{
    gram_points_release(w->points);
    gram_kernel_release(w->kernel);
    free(w->numbers);
    gram_context_destroy(w->context);
}

/* rbf(ell=1) times the amplitude, from its formula. */
static double value(const double *numbers, double amplitude, int64_t i, int64_t j)
{
    double square = 0;
    for (int64_t k = 0; k < D; k++) {
        const double difference = numbers[i * D + k] - numbers[j * D + k];
        square += difference * difference;
    }
    return amplitude * exp(-square / 2);
}

static void check_row(const double *numbers, double amplitude, double unit, int64_t n, int64_t i, const float *row)
{
    for (int64_t j = 0; j < n; j++)
        assert_true(fabs((double)row[j] * unit - value(numbers, amplitude, i, j)) <= FLT_EPSILON * amplitude);
}

/* A room of 16 rows for 300, asked for at random, equal points in one call among them. */
static void test_small_room(void **state)
{
    (void)state;
    const int64_t n = 300;
    const double amplitude = 1e60, unit = ldexp(1, 200); /* far beyond f32 */
    world w = world_make("1e60*rbf(ell=1)", 1, n);
    double *order = test_random(2, MOST * 40, 0, (double)n);
    gram_row_cache *cache;
    const float *rows[MOST];
    OK(w.context, gram_row_cache_create(w.context, w.kernel, n, 0, unit, &cache));
    assert_int_equal(gram_row_cache_begin(cache, w.points), MOST);
    for (int call = 0; call < 40; call++) {
        int64_t points[MOST];
        for (int r = 0; r < MOST; r++) points[r] = (int64_t)order[call * MOST + (call % 3 ? r : r / 2)];
        OK(w.context, gram_row_cache_get(cache, w.context, MOST, points, rows));
        for (int r = 0; r < MOST; r++) check_row(w.numbers, amplitude, unit, n, points[r], rows[r]);
    }
    gram_row_cache_destroy(cache);
    free(order);
    world_free(&w);
}

/* The same memory serves other points: fewer ones find room for more rows, and nothing of the former is left. */
static void test_other_points(void **state)
{
    (void)state;
    const int64_t n = 960, few = 96;
    world w = world_make("rbf(ell=1)", 3, n);
    double *numbers = test_random(4, few * D, -1, 1);
    gram_points *others = test_points(w.context, few, D, numbers);
    gram_row_cache *cache;
    const float *rows[MOST];
    const int64_t points[MOST] = {3, 1, 95, 7};
    OK(w.context, gram_row_cache_create(w.context, w.kernel, n, 0, 1, &cache));
    assert_int_equal(gram_row_cache_begin(cache, w.points), MOST);
    OK(w.context, gram_row_cache_get(cache, w.context, 4, points, rows));
    for (int r = 0; r < 4; r++) check_row(w.numbers, 1, 1, n, points[r], rows[r]);
    assert_int_equal(gram_row_cache_begin(cache, others), few);
    OK(w.context, gram_row_cache_get(cache, w.context, 4, points, rows));
    for (int r = 0; r < 4; r++) check_row(numbers, 1, 1, few, points[r], rows[r]);
    gram_row_cache_destroy(cache);
    gram_points_release(others);
    free(numbers);
    world_free(&w);
}

/* More rows than are kept at first, all of them several times: those thrown out come back, and then the room grows. */
static void test_growth(void **state)
{
    (void)state;
    enum { BATCH = 750, N = 6000 };
    world w = world_make("rbf(ell=1)", 5, N);
    gram_row_cache *cache;
    const float **rows = malloc(BATCH * sizeof *rows);
    int64_t points[BATCH];
    assert_non_null(rows);
    OK(w.context, gram_row_cache_create(w.context, w.kernel, N, (size_t)1 << 30, 1, &cache));
    assert_int_equal(gram_row_cache_begin(cache, w.points), N);
    for (int64_t call = 0; call < 3 * N / BATCH; call++) {
        for (int64_t r = 0; r < BATCH; r++) points[r] = (call * BATCH + r) % N;
        OK(w.context, gram_row_cache_get(cache, w.context, BATCH, points, rows));
        for (int64_t r = call % 7; r < BATCH; r += 71) check_row(w.numbers, 1, 1, N, points[r], rows[r]);
    }
    gram_row_cache_destroy(cache);
    free(rows);
    world_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_small_room), cmocka_unit_test(test_other_points),
                                       cmocka_unit_test(test_growth)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The median heuristic against a slow obvious one: all distances, sorted. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/random.h>

#include "kernel/kernel.h"
#include "support.h"

enum { MAX_N = 3000, MAX_D = 70 };

static double data[MAX_N * MAX_D];
static float data_f32[MAX_N * MAX_D];

/* Median of the distances above 0 between rows ids[0 .. n) of x, in the given columns. */
static double slow_median(int n, const int64_t *ids, int64_t ld, int d, const int *columns, int l1)
{
    double *distances = malloc((size_t)n * (size_t)n * sizeof *distances);
    size_t count = 0;
    assert_non_null(distances);
    for (int i = 0; i < n; i++)
        for (int j = i + 1; j < n; j++) {
            double sum = 0;
            for (int l = 0; l < d; l++) {
                const double difference = data[ids[i] * ld + columns[l]] - data[ids[j] * ld + columns[l]];
                sum += l1 ? fabs(difference) : difference * difference;
            }
            const double distance = l1 ? sum : sqrt(sum);
            if (distance > 0) distances[count++] = distance;
        }
    test_sort((int64_t)count, distances);
    const double median = count == 0  ? 1
                          : count % 2 ? distances[count / 2]
                                      : 0.5 * (distances[count / 2 - 1] + distances[count / 2]);
    free(distances);
    return median;
}

/* The ell that the number-th leaf from the left gets. */
static double resolved(gram_context *context, const char *text, gram_points *points, int64_t parameter)
{
    gram_kernel *kernel = NULL, *closed = NULL;
    gram_parameter p;
    const size_t before = gram_context_memory_used(context);
    assert_int_equal(gram_kernel_parse(context, text, &kernel), GRAM_OK);
    if (gram_kernel_resolve(context, kernel, points, &closed) != GRAM_OK) fail_msg("%s", gram_context_message(context));
    assert_int_equal(gram_kernel_check_set(context, closed), GRAM_OK);
    assert_int_equal(gram_kernel_parameter_get(context, closed, parameter, &p), GRAM_OK);
    gram_kernel_release(kernel);
    gram_kernel_release(closed);
    assert_int_equal(gram_context_memory_used(context), before);
    return p.value;
}

static void fill(uint64_t seed)
{
    gram_random_normal((gram_random){seed, 1}, 0, MAX_N * MAX_D, data);
}

static gram_points *make_points(gram_context *context, int64_t n, int64_t d, int64_t ld)
{
    gram_points *points = NULL;
    assert_int_equal(gram_points_create_f64(context, n, d, data, ld, &points), GRAM_OK);
    return points;
}

static void expect_near(double value, double wanted)
{
    if (!(fabs(value - wanted) <= 1e-15 * wanted)) fail_msg("%.17g instead of %.17g", value, wanted);
}

static const int FIRST[MAX_D] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17,
                                 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35,
                                 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53,
                                 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69};

static void all_rows(int64_t *ids)
{
    for (int64_t i = 0; i < MAX_N; i++) ids[i] = i;
}

static void test_median(void **state)
{
    static const int SIZES[][2] = {{2, 1}, {3, 2}, {4, 3}, {5, 1}, {17, 4}, {100, 70}, {101, 5}};
    int64_t ids[MAX_N];
    all_rows(ids);
    fill(1);
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        const int n = SIZES[i][0], d = SIZES[i][1];
        gram_points *points = make_points(*state, n, d, d + 2);
        expect_near(resolved(*state, "rbf", points, 0), slow_median(n, ids, d + 2, d, FIRST, 0));
        expect_near(resolved(*state, "matern", points, 0), slow_median(n, ids, d + 2, d, FIRST, 0));
        expect_near(resolved(*state, "laplace1", points, 0), slow_median(n, ids, d + 2, d, FIRST, 1));
        gram_points_release(points);
    }
}

/* Each leaf looks at its own columns, in its own norm; what has a value keeps it. */
static void test_columns(void **state)
{
    static const char TEXT[] =
        "const*rbf + on([2,4], laplace1 + rbf(ell=7) + on(2, rbf))*on([2,4], rbf) + laplace1 + poly";
    static const int TWO_FOUR[] = {1, 3}, FOUR[] = {3};
    int64_t ids[MAX_N];
    all_rows(ids);
    fill(2);
    gram_points *points = make_points(*state, 60, 5, 5);
    const double wanted[] = {1,
                             slow_median(60, ids, 5, 5, FIRST, 0),
                             slow_median(60, ids, 5, 2, TWO_FOUR, 1),
                             7,
                             slow_median(60, ids, 5, 1, FOUR, 0),
                             slow_median(60, ids, 5, 2, TWO_FOUR, 0),
                             slow_median(60, ids, 5, 5, FIRST, 1),
                             1};
    for (int64_t i = 0; i < 8; i++) expect_near(resolved(*state, TEXT, points, i), wanted[i]);
    gram_points_release(points);
}

static void test_duplicates(void **state)
{
    int64_t ids[MAX_N];
    all_rows(ids);
    for (int i = 0; i < 40; i++) data[i] = i % 3 ? 0 : i; /* most pairs have distance 0 */
    gram_points *points = make_points(*state, 40, 1, 1);
    expect_near(resolved(*state, "rbf", points, 0), slow_median(40, ids, 1, 1, FIRST, 0));
    gram_points_release(points);
    for (int i = 0; i < 40; i++) data[i] = 3.5;
    points = make_points(*state, 20, 2, 2);
    expect_near(resolved(*state, "rbf", points, 0), 1);
    expect_near(resolved(*state, "laplace1", points, 0), 1);
    gram_points_release(points);
    points = make_points(*state, 1, 2, 2);
    expect_near(resolved(*state, "rbf", points, 0), 1);
    gram_points_release(points);
}

/* Many ties: all distances on a grid. */
static void test_grid(void **state)
{
    int64_t ids[MAX_N];
    all_rows(ids);
    for (int i = 0; i < 400; i++) {
        data[2 * i] = i % 20;
        data[2 * i + 1] = i / 20;
    }
    gram_points *points = make_points(*state, 400, 2, 2);
    expect_near(resolved(*state, "rbf", points, 0), slow_median(400, ids, 2, 2, FIRST, 0));
    expect_near(resolved(*state, "laplace1", points, 0), slow_median(400, ids, 2, 2, FIRST, 1));
    gram_points_release(points);
}

/* Tiny, huge and far-off coordinates: no overflow, no underflow, no cancellation. */
static void test_scales(void **state)
{
    static const double SCALES[] = {1e-300, 1e-200, 1, 1e200, 1e300};
    int64_t ids[MAX_N];
    all_rows(ids);
    for (size_t s = 0; s < sizeof SCALES / sizeof *SCALES; s++) {
        fill(3);
        const double one = slow_median(30, ids, 3, 3, FIRST, 0);
        for (int i = 0; i < 90; i++) data[i] *= SCALES[s];
        gram_points *points = make_points(*state, 30, 3, 3);
        const double value = resolved(*state, "rbf", points, 0) / SCALES[s];
        assert_true(fabs(value - one) <= 1e-14 * one);
        gram_points_release(points);
    }
    for (int i = 0; i < 3; i++) data[i] = 1e9 + i * 0x1p-20;
    gram_points *points = make_points(*state, 3, 1, 1);
    expect_near(resolved(*state, "rbf", points, 0), 0x1p-20);
    gram_points_release(points);
}

static void test_f32(void **state)
{
    int64_t ids[MAX_N];
    gram_points *points = NULL;
    all_rows(ids);
    fill(4);
    for (int i = 0; i < 150; i++) data[i] = data_f32[i] = (float)data[i];
    assert_int_equal(gram_points_create_f32(*state, 50, 3, data_f32, 3, &points), GRAM_OK);
    expect_near(resolved(*state, "rbf", points, 0), slow_median(50, ids, 3, 3, FIRST, 0));
    gram_points_release(points);
}

/* More than 2,000 rows: the first 2,000 of a permutation that the seed decides. */
static void test_many_rows(void **state)
{
    static int64_t ids[MAX_N];
    double values[2];
    (void)state;
    fill(5);
    for (int seed = 0; seed < 2; seed++) {
        gram_context *context = TEST_CONTEXT(.seed = (uint64_t)seed);
        gram_points *points = make_points(context, MAX_N, 2, 2);
        gram_random_permutation((gram_random){(uint64_t)seed, 0x6d6564}, 0, MAX_N, ids);
        values[seed] = resolved(context, "rbf", points, 0);
        expect_near(values[seed], slow_median(2000, ids, 2, 2, FIRST, 0));
        if (seed == 0) assert_true(resolved(context, "rbf", points, 0) == values[0]);
        gram_points_release(points);
        gram_context_destroy(context);
    }
    assert_true(values[0] != values[1]);
}

static void test_bad_use(void **state)
{
    gram_kernel *kernel = NULL, *out = NULL;
    fill(6);
    gram_points *points = make_points(*state, 3, 2, 2);
    assert_int_equal(gram_kernel_parse(*state, "on(3, rbf)", &kernel), GRAM_OK);
    assert_int_equal(gram_kernel_resolve(*state, kernel, points, &out), GRAM_ERROR_DIMENSION);
    assert_null(out);
    assert_int_equal(gram_kernel_resolve(*state, NULL, points, &out), GRAM_ERROR_ARGUMENT);
    assert_string_equal(gram_context_message(*state), "kernel_resolve: kernel is NULL");
    assert_int_equal(gram_kernel_resolve(*state, kernel, NULL, &out), GRAM_ERROR_ARGUMENT);
    assert_string_equal(gram_context_message(*state), "kernel_resolve: points is NULL");
    assert_int_equal(gram_kernel_resolve(NULL, kernel, points, &out), GRAM_ERROR_ARGUMENT);
    gram_kernel_release(kernel);
    gram_points_release(points);
}

/* A x is written to columns 10 and 11 of the same array, which the points do not have. */
static void test_warp(void **state)
{
    enum { N = 60, STRIDE = 13 };
    static const double A[2][3] = {{1, 1, 0}, {0.5, -1, 2}};
    static const int BOTH[] = {10, 11}, SECOND[] = {11}, SUM[] = {12}, SCALED[] = {1, 2};
    int64_t ids[MAX_N];
    all_rows(ids);
    fill(7);
    for (int i = 0; i < N; i++) {
        double *x = data + i * STRIDE;
        for (int r = 0; r < 2; r++) x[10 + r] = A[r][0] * x[0] + A[r][1] * x[1] + A[r][2] * x[2];
        x[12] = x[10] - 3 * x[11];
    }
    gram_points *points = make_points(*state, N, 3, STRIDE);
    const double both = slow_median(N, ids, STRIDE, 2, BOTH, 0);
    expect_near(resolved(*state, "warp([1,1,0;0.5,-1,2], rbf)", points, 0), both);
    expect_near(resolved(*state, "rbf + warp([1,1,0;0.5,-1,2], rbf + rbf)", points, 2), both);
    expect_near(resolved(*state, "rbf + warp([1,1,0;0.5,-1,2], rbf + rbf)", points, 0),
                slow_median(N, ids, STRIDE, 3, FIRST, 0));
    expect_near(resolved(*state, "exp(normalize(warp([1,1,0;0.5,-1,2], exp(rbf))))", points, 0), both);
    expect_near(resolved(*state, "warp([1,1,0;0.5,-1,2], laplace1)", points, 0),
                slow_median(N, ids, STRIDE, 2, BOTH, 1));
    expect_near(resolved(*state, "warp([1,1,0;0.5,-1,2], on(2, rbf))", points, 0),
                slow_median(N, ids, STRIDE, 1, SECOND, 0));
    expect_near(resolved(*state, "on([2,1], warp([0,0;1,1], on(2, rbf)))", points, 0),
                resolved(*state, "warp([1,1,0], rbf)", points, 0));
    expect_near(resolved(*state, "on([3,1,2], warp([0,1,1;2,0.5,-1], rbf))", points, 0), both);
    expect_near(resolved(*state, "warp([1,1,0;0.5,-1,2], warp([1,-3], rbf))", points, 0),
                slow_median(N, ids, STRIDE, 1, SUM, 0));
    expect_near(resolved(*state, "warp([1,1,0;0.5,-1,2], on([2,1], warp([-3,1], rbf)))", points, 0),
                slow_median(N, ids, STRIDE, 1, SUM, 0));
    expect_near(resolved(*state, "warp([0,2,0;0,0,2], rbf)", points, 0), 2 * slow_median(N, ids, STRIDE, 2, SCALED, 0));
    expect_near(resolved(*state, "warp([0,0,0], rbf)", points, 0), 1);
    gram_points_release(points);
}

static void test_warp_too_large(void **state)
{
    gram_kernel *kernel = NULL, *out = NULL;
    data[0] = 1e10;
    data[1] = 2;
    gram_points *points = make_points(*state, 2, 1, 1);
    const size_t before = gram_context_memory_used(*state);
    assert_int_equal(gram_kernel_parse(*state, "warp([1;2], warp([1,1;0,1e300], rbf))", &kernel), GRAM_OK);
    assert_int_equal(gram_kernel_resolve(*state, kernel, points, &out), GRAM_ERROR_DATA);
    assert_null(out);
    assert_string_equal(gram_context_message(*state), "kernel_resolve: entry 2 of A x[0] is too large for a number");
    gram_kernel_release(kernel);
    assert_int_equal(gram_context_memory_used(*state), before);
    gram_points_release(points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_median, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_columns, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_duplicates, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_grid, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_scales, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_f32, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_warp, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_warp_too_large, test_open, test_close),
        cmocka_unit_test(test_many_rows),
        cmocka_unit_test_setup_teardown(test_bad_use, test_open, test_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

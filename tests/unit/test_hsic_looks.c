/* Many kernels at once: the p-value against a slow twin, the factors of many rows against the kernels themselves, odd data, threads, memory. */
#include <string.h>

#include "base/distribution_tails.h"
#include "kernel/kernel_widen.h"
#include "oom.h"
#include "samples.h"
#include "test/independence/hsic.h"

enum { LOOKS = 8 };

/* The kernels that the test should look at, of points without a kernel. */
static void make_looks(gram_context *context, const gram_points *points, gram_kernel **out)
{
    static const char *const families[] = {"rbf", "laplace1"};
    for (int a = 0; a < LOOKS; a++) {
        gram_kernel *open = test_kernel(context, families[a / 4]), *resolved = NULL;
        OK(context, gram_kernel_resolve(context, open, points, &resolved));
        OK(context, gram_kernel_widen(context, resolved, pow(4, a % 4 - 2), &out[a]));
        gram_kernel_release(resolved);
        gram_kernel_release(open);
    }
}

/* H K H. */
static double *centred(gram_context *context, const gram_kernel *kernel, const gram_points *points)
{
    const int64_t n = gram_points_count(points);
    double *k = test_numbers(n * n), *mean = test_numbers(n), all = 0;
    OK(context, gram_matrix(context, kernel, points, NULL, k, n));
    for (int64_t i = 0; i < n * n; i++) mean[i / n] += k[i] / (double)n;
    for (int64_t i = 0; i < n; i++) all += mean[i] / (double)n;
    for (int64_t i = 0; i < n * n; i++) k[i] += all - mean[i / n] - mean[i % n];
    free(mean);
    return k;
}

static double value_of(int64_t n, const double *c, const double *d, const int64_t *order)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) sum += c[i * n + j] * d[order[i] * n + order[j]];
    return sum;
}

/* The largest -log tail of all looks for every shuffle; mean and deviation of a look by 4,000 other shuffles would be noisy, so they
 * are the known ones, which test_hsic checks over all permutations. */
static double slow_p(gram_context *context, int64_t n, gram_points *const *points, int64_t count)
{
    gram_kernel *kernels[2][LOOKS];
    double *c[2][LOOKS], *score = test_numbers(count);
    int64_t *order = calloc((size_t)n, sizeof *order), reached = 0;
    for (int v = 0; v < 2; v++) {
        make_looks(context, points[v], kernels[v]);
        for (int a = 0; a < LOOKS; a++) c[v][a] = centred(context, kernels[v][a], points[v]);
    }
    const gram_shuffles shuffles = {gram_context_seed(context), n, 0};
    for (int a = 0; a < LOOKS; a++)
        for (int b = 0; b < LOOKS; b++) {
            gram_hsic_options options;
            gram_hsic_result r;
            gram_hsic_options_init(&options, sizeof options);
            gram_hsic_result_init(&r, sizeof r);
            options.method = GRAM_HSIC_GAMMA;
            gram_kernel *pair[2] = {kernels[0][a], kernels[1][b]};
            OK(context, gram_hsic_test(context, 2, pair, (const gram_points *const *)points, &options, &r));
            const double variance = r.null_deviation * r.null_deviation, rate = r.null_mean / variance;
            for (int64_t s = 0; s < count; s++) {
                gram_shuffle(&shuffles, 1, s, order);
                const double value = value_of(n, c[0][a], c[1][b], order) / (double)(n * n);
                if (value > r.null_mean)
                    score[s] = fmax(score[s], -log(gram_tail_gamma(r.null_mean * rate, value * rate)));
            }
            gram_hsic_result_clear(&r);
        }
    for (int64_t s = 0; s < count; s++) reached += score[s] >= score[0] * (1 - 1e-9);
    for (int v = 0; v < 2; v++)
        for (int a = 0; a < LOOKS; a++) gram_kernel_release(kernels[v][a]), free(c[v][a]);
    free(score);
    free(order);
    return (double)reached / (double)count;
}

static gram_hsic_result look(gram_context *context, gram_kernel *const *kernels, gram_points *const *points,
                             int64_t permutations)
{
    gram_hsic_options options;
    gram_hsic_result result;
    gram_hsic_options_init(&options, sizeof options);
    gram_hsic_result_init(&result, sizeof result);
    options.permutations = permutations;
    options.method = GRAM_HSIC_AGGREGATED;
    OK(context, gram_hsic_test(context, 2, kernels, (const gram_points *const *)points, &options, &result));
    return result;
}

/* x uniform, y a sine of it with noise. */
static void make_sine(uint64_t seed, int64_t n, double periods, double noise, double *x, double *y)
{
    double *u = test_random(seed, n, -1, 1), *e = sample_normal(seed, n);
    for (int64_t i = 0; i < n; i++) {
        x[i] = u[i];
        y[i] = sin(6.283185307179586 * periods * u[i]) + noise * e[i];
    }
    free(u);
    free(e);
}

static void twin(void **state)
{
    enum { N = 26, COUNT = 60 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double smallest = 1, largest = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        double x[N], y[N];
        make_sine(seed, N, 0.6, 1, x, y);
        gram_points *points[2] = {test_points(context, N, 1, x), test_points(context, N, 1, y)};
        gram_hsic_result r = look(context, NULL, points, COUNT - 1);
        const double want = slow_p(context, N, points, COUNT);
        if (fabs(r.p_value - want) > 1e-12) FAIL_TEST("p = %g, want %g", r.p_value, want);
        assert_int_equal(r.looks, LOOKS * LOOKS);
        smallest = fmin(smallest, want);
        largest = fmax(largest, want);
        gram_hsic_result_clear(&r);
        for (int v = 0; v < 2; v++) gram_points_release(points[v]);
    }
    assert_true(smallest < largest);
    gram_context_destroy(context);
}

/* Above 1,024 rows: the statistic of the look that saw most is HSIC by its kernels, but for what factors leave out. */
static void factors(void **state)
{
    enum { N = 1100 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *x = test_numbers(N), *y = test_numbers(N), whole;
    (void)state;
    make_sine(3, N, 2, 0.5, x, y);
    gram_points *points[2] = {test_points(context, N, 1, x), test_points(context, N, 1, y)};
    gram_hsic_result r = look(context, NULL, points, 99);
    OK(context, gram_hsic(context, r.kernels[0], points[0], r.kernels[1], points[1], &whole));
    print_message("by factors of rank %d and %d: %g, HSIC %g\n", (int)r.rank[0], (int)r.rank[1], r.statistic, whole);
    assert_true(r.rank[0] > 0 && r.looks >= 16 && r.p_value == 0.01);
    assert_true(fabs(r.statistic - whole) < 0.05 * whole);
    gram_hsic_result_clear(&r);
    for (int v = 0; v < 2; v++) gram_points_release(points[v]);
    free(x);
    free(y);
    gram_context_destroy(context);
}

/* Constant columns, two values, a kernel that is given, one without a length-scale. */
static void odd_and_bad(void **state)
{
    enum { N = 40 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double constant[N], two[N], *u = test_random(9, N, -1, 1);
    gram_hsic_options options;
    gram_hsic_result bad;
    (void)state;
    for (int i = 0; i < N; i++) constant[i] = 2, two[i] = u[i] > 0;
    gram_points *flat = test_points(context, N, 1, constant), *binary = test_points(context, N, 1, two);
    gram_points *free_ones = test_points(context, N, 1, u), *pairs[][2] = {{flat, free_ones}, {binary, free_ones}};
    gram_hsic_result r = look(context, NULL, pairs[0], 19);
    assert_true(r.p_value == 1 && r.statistic == 0);
    gram_hsic_result_clear(&r);
    r = look(context, NULL, pairs[1], 99);
    assert_true(r.p_value == 0.01 && r.looks > 0);
    gram_hsic_result_clear(&r);
    gram_kernel *kernels[2] = {test_kernel(context, "matern(nu=1.5)"), NULL};
    r = look(context, kernels, pairs[1], 19);
    assert_true(r.looks == 7 * LOOKS);
    gram_hsic_result_clear(&r);
    gram_kernel_release(kernels[0]);
    kernels[0] = test_kernel(context, "linear");
    gram_hsic_options_init(&options, sizeof options);
    gram_hsic_result_init(&bad, sizeof bad);
    options.method = GRAM_HSIC_AGGREGATED;
    assert_int_equal(gram_hsic_test(context, 2, kernels, (const gram_points *const *)pairs[1], &options, &bad),
                     GRAM_ERROR_ARGUMENT);
    gram_points *three[] = {binary, free_ones, free_ones};
    assert_int_equal(gram_hsic_test(context, 3, NULL, (const gram_points *const *)three, &options, &bad),
                     GRAM_ERROR_ARGUMENT);
    gram_kernel_release(kernels[0]);
    gram_points_release(flat);
    gram_points_release(binary);
    gram_points_release(free_ones);
    free(u);
    gram_context_destroy(context);
}

static void both_roads(gram_context *context, double *out)
{
    static const int64_t sizes[] = {70, 1030};
    for (int s = 0; s < 2; s++) {
        const int64_t n = sizes[s];
        double *x = test_numbers(n), *y = test_numbers(n);
        make_sine(5, n, 1, 2, x, y);
        gram_points *points[2] = {test_points(context, n, 1, x), test_points(context, n, 1, y)};
        gram_hsic_result r = look(context, NULL, points, 19);
        *out++ = r.p_value;
        *out++ = r.statistic;
        *out++ = r.null_deviation;
        gram_hsic_result_clear(&r);
        for (int v = 0; v < 2; v++) gram_points_release(points[v]);
        free(x);
        free(y);
    }
}

static void same_for_any_threads(void **state)
{
    (void)state;
    test_any_threads(6, both_roads);
}

static double oom_x[40];

static gram_status play(gram_context *context)
{
    gram_points *points[2] = {NULL, NULL};
    gram_hsic_options options;
    gram_hsic_result result;
    gram_status status = GRAM_OK;
    gram_hsic_options_init(&options, sizeof options);
    gram_hsic_result_init(&result, sizeof result);
    options.permutations = 5;
    for (int v = 0; v < 2 && status >= 0; v++)
        status = gram_points_create_f64(context, 20, 1, oom_x + 20 * v, 1, &points[v]);
    if (status >= 0) status = gram_hsic_test(context, 2, NULL, (const gram_points *const *)points, &options, &result);
    if (status >= 0) assert_int_equal(result.used, GRAM_HSIC_AGGREGATED);
    gram_hsic_result_clear(&result);
    for (int v = 0; v < 2; v++) gram_points_release(points[v]);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    test_uniform(1, 40, -1, 1, oom_x);
    for (int for_good = 0; for_good < 2; for_good++) assert_true(oom_each(play, for_good) > 20);
    (void)oom_budget(play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(twin), cmocka_unit_test(factors), cmocka_unit_test(odd_and_bad),
                                       cmocka_unit_test(same_for_any_threads), cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

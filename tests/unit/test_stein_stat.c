/* Statistics of the Stein methods: mean zero under the target, level and power of the test of fit, convergence.
 *
 * The bounds are of binomial counts: at most 21 rejections of 200 at level 0.05 are exceeded with probability 7e-4 by a
 * test that keeps its level. The large version is tests/long/test_stein_level.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* n draws of N(0, 1) in d columns, run number `run`. */
static void normal_draws(int64_t run, int64_t n, int64_t d, double *x)
{
    gram_random_normal((gram_random){.seed = 99, .stream = 5}, (uint64_t)(run * n * d), n * d, x);
}

/* The mean of k_P(x, Y) over Y ~ p is 0 for every x: within 4.5 standard errors for each of 10 x. */
static void mean_is_zero(void **state)
{
    (void)state;
    enum { N = 20000, D = 2, AT = 10 };
    static const char *const kernels[] = {"imq(c=1)", "rbf(ell=0.7)", "matern(nu=2.5, ell=1)",
                                          "imq(c=1)*rbf(ell=2) + rq(alpha=1, ell=1)"};
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *x = test_numbers(N * D), *s = test_numbers(N * D), *K = test_numbers(N * AT);
    normal_draws(0, N, D, x);
    for (int i = 0; i < N; i++) { /* N(m, S), S = [1, 0.6; 0.6, 1]: score -S^-1 (x - m) */
        const double a = x[i * D], b = 0.6 * a + 0.8 * x[i * D + 1];
        s[i * D] = -(a - 0.6 * b) / 0.64;
        s[i * D + 1] = -(b - 0.6 * a) / 0.64;
        x[i * D] = a + 1;
        x[i * D + 1] = b - 2;
    }
    gram_points *points = test_points(context, N, D, x);
    const int64_t index[AT] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        gram_kernel *kernel = test_kernel(context, kernels[k]);
        gram_operator *op;
        OK(context, gram_operator_create_stein(context, kernel, points, s, D, &op));
        OK(context, gram_operator_columns(context, op, AT, index, K, AT));
        for (int a = 0; a < AT; a++) {
            double sum = 0, squares = 0;
            for (int i = AT; i < N; i++) {
                sum += K[i * AT + a];
                squares += K[i * AT + a] * K[i * AT + a];
            }
            const double mean = sum / (N - AT), error = sqrt(squares) / (N - AT);
            if (!(fabs(mean) <= 4.5 * error)) FAIL_TEST("%s: mean %g, standard error %g", kernels[k], mean, error);
        }
        gram_operator_release(op);
        gram_kernel_release(kernel);
    }
    gram_points_release(points);
    gram_context_destroy(context);
    free(x);
    free(s);
    free(K);
}

typedef void (*draw_fn)(int64_t run, int64_t n, int64_t d, double *x);

/* Rejections of N(0, I) in `runs` samples, by imq at the median distance or by many kernels at once. */
static int rejections_by(int many, draw_fn draw, int runs, int64_t n, int64_t d, double flip)
{
    double *x = test_numbers(n * d), *s = test_numbers(n * d);
    int count = 0;
    for (int run = 0; run < runs; run++) {
        gram_context *context = TEST_CONTEXT(.threads = 1, .seed = (uint64_t)run);
        draw(run, n, d, x);
        for (int64_t i = 0; i < n * d; i++) s[i] = -x[i];
        gram_points *points = test_points(context, n, d, x);
        gram_kernel *kernels[GRAM_STEIN_LOOKS] = {NULL};
        gram_stein_test_options options;
        gram_stein_test_result result = {.size = sizeof result};
        if (many)
            OK(context, gram_stein_test_kernels(context, points, kernels));
        else
            OK(context, gram_stein_kernel(context, points, GRAM_STEIN_METRIC_MED, 0, &kernels[0]));
        gram_stein_test_options_init(&options, sizeof options);
        options.draws = 199;
        options.flip = flip;
        OK(context,
           gram_stein_test_many(context, many ? GRAM_STEIN_LOOKS : 1, kernels, points, s, d, &options, &result));
        count += result.reject;
        for (int k = 0; k < GRAM_STEIN_LOOKS; k++) gram_kernel_release(kernels[k]);
        gram_points_release(points);
        gram_context_destroy(context);
    }
    free(x);
    free(s);
    return count;
}

static int rejections(draw_fn draw, int runs, int64_t n, int64_t d, double flip)
{
    return rejections_by(0, draw, runs, n, d, flip);
}

static void shifted(int64_t run, int64_t n, int64_t d, double *x)
{
    normal_draws(run, n, d, x);
    for (int64_t i = 0; i < n; i++) x[i * d] += 0.3;
}

/* Student's t with 3 degrees of freedom, scaled to variance 1: the shape alone is different. */
static void heavier(int64_t run, int64_t n, int64_t d, double *x)
{
    double *z = test_numbers(n * 3);
    normal_draws(run, n, d, x);
    gram_random_normal((gram_random){.seed = 99, .stream = 6}, (uint64_t)(run * n * 3), n * 3, z);
    for (int64_t i = 0; i < n; i++) {
        const double chi = z[3 * i] * z[3 * i] + z[3 * i + 1] * z[3 * i + 1] + z[3 * i + 2] * z[3 * i + 2];
        for (int64_t l = 0; l < d; l++) x[i * d + l] *= 1 / sqrt(chi);
    }
    free(z);
}

/* A stationary autoregressive chain with correlation 0.7 from row to row. */
static void chain(int64_t run, int64_t n, int64_t d, double *x)
{
    normal_draws(run, n, d, x);
    for (int64_t i = 1; i < n; i++)
        for (int64_t l = 0; l < d; l++) x[i * d + l] = 0.7 * x[(i - 1) * d + l] + sqrt(1 - 0.49) * x[i * d + l];
}

static void level_and_power(void **state)
{
    (void)state;
    const int null = rejections(normal_draws, 200, 200, 2, 0.5), shift = rejections(shifted, 50, 200, 2, 0.5);
    const int heavy = rejections(heavier, 50, 300, 2, 0.5);
    print_message("rejections: null %d of 200, shift %d of 50, heavier tails %d of 50\n", null, shift, heavy);
    assert_in_range(null, 2, 21);
    assert_true(shift >= 45);
    assert_true(heavy >= 30);
}

/* Draws that are a chain fool independent signs; dependent ones stand by their level. */
static void dependent_draws(void **state)
{
    (void)state;
    const int independent = rejections(chain, 100, 400, 1, 0.5), dependent = rejections(chain, 100, 400, 1, 0.05);
    print_message("rejections of a chain: independent signs %d of 100, dependent signs %d of 100\n", independent,
                  dependent);
    assert_true(independent >= 25);
    assert_true(dependent <= 16);
}

static void narrower(int64_t run, int64_t n, int64_t d, double *x)
{
    normal_draws(run, n, d, x);
    for (int64_t i = 0; i < n * d; i++) x[i] *= 0.85;
}

/* Correlation 0.9 from row to row: 19 rows of autocorrelation time. */
static void slow_chain(int64_t run, int64_t n, int64_t d, double *x)
{
    normal_draws(run, n, d, x);
    for (int64_t i = 1; i < n; i++)
        for (int64_t l = 0; l < d; l++) x[i * d + l] = 0.9 * x[(i - 1) * d + l] + sqrt(1 - 0.81) * x[i * d + l];
}

/* Many kernels see what the median distance does not, and keep the level; a chain's signs follow its autocorrelation. */
static void many_looks(void **state)
{
    (void)state;
    const int null = rejections_by(1, normal_draws, 200, 100, 2, 0.5);
    const int narrow = rejections_by(1, narrower, 40, 200, 5, 0.5), by_one = rejections(narrower, 40, 200, 5, 0.5);
    const int found = rejections_by(1, slow_chain, 100, 300, 1, 0), fixed = rejections(slow_chain, 100, 300, 1, 0.05);
    print_message("many looks: null %d of 200; deviation 0.85 in 5 columns %d of 40 (one look %d); a slow chain %d of "
                  "100 (signs of 10 "
                  "rows: %d)\n",
                  null, narrow, by_one, found, fixed);
    assert_in_range(null, 2, 21);
    assert_true(narrow >= 30 && narrow >= by_one);
    assert_true(found <= 14);
}

/* imq: the discrepancy of draws falls like n^-1/2 under the target, and stays away from 0 for another law. */
static void converges(void **state)
{
    (void)state;
    enum { D = 2, MOST = 3200 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *x = test_numbers(MOST * D), *s = test_numbers(MOST * D), right[2], wrong[2];
    gram_kernel *kernel = test_kernel(context, "imq(c=1)");
    for (int other = 0; other < 2; other++)
        for (int size = 0; size < 2; size++) {
            const int64_t n = size ? MOST : MOST / 16;
            gram_discrepancy out;
            if (other)
                heavier(7, n, D, x);
            else
                normal_draws(7, n, D, x);
            for (int64_t i = 0; i < n * D; i++) s[i] = -x[i];
            gram_points *points = test_points(context, n, D, x);
            OK(context, gram_stein_discrepancy(context, kernel, points, s, D, NULL, &out));
            (other ? wrong : right)[size] = out.discrepancy;
            gram_points_release(points);
        }
    print_message("discrepancy at n = 200 and 3200: right law %.4f %.4f, wrong law %.4f %.4f\n", right[0], right[1],
                  wrong[0], wrong[1]);
    assert_true(right[1] < 0.4 * right[0]);
    assert_true(wrong[1] > 2 * right[1]);
    gram_kernel_release(kernel);
    gram_context_destroy(context);
    free(x);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mean_is_zero), cmocka_unit_test(level_and_power), cmocka_unit_test(dependent_draws),
        cmocka_unit_test(many_looks),   cmocka_unit_test(converges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

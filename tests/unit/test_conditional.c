/* Conditional mean embeddings: regression by hand, the closed form of a linear Gaussian model, what is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense_twin.h"
#include "support.h"

static void is_ridge_regression(void **state)
{
    (void)state;
    enum { N = 80, D = 2, M = 300, C = 3 };
    const double lambda = 1e-3;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *x = test_random(1, N * D, -1, 1), *z = test_random(2, M * D, -1, 1), *g = test_random(3, N * C, -1, 1);
    double *K = test_numbers(N * N), *kz = test_numbers(M * N), *a = test_numbers(N * C);
    double *b = test_numbers(M * (N + 1)), *e = test_numbers(M * C);
    gram_points *points = test_points(context, N, D, x), *query = test_points(context, M, D, z);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.7)");
    gram_conditional *c;
    OK(context, gram_conditional_create(context, kernel, points, lambda, &c));
    OK(context, gram_conditional_weights(context, c, query, b, N + 1));
    OK(context, gram_conditional_expect(context, c, C, g, C, query, e, C));
    OK(context, gram_matrix(context, kernel, points, NULL, K, N));
    OK(context, gram_matrix(context, kernel, query, points, kz, N));
    for (int i = 0; i < N; i++) K[i * N + i] += N * lambda;
    memcpy(a, g, N * C * sizeof *a);
    (void)dense_solve(N, K, C, a);
    for (int j = 0; j < M; j++)
        for (int o = 0; o < C; o++) {
            double by_weights = 0, by_regression = 0;
            for (int i = 0; i < N; i++) {
                by_weights += b[j * (N + 1) + i] * g[i * C + o];
                by_regression += kz[j * N + i] * a[i * C + o];
            }
            assert_true(fabs(by_weights - by_regression) <= 1e-10);
            assert_true(fabs(e[j * C + o] - by_regression) <= 1e-10);
        }
    gram_conditional_destroy(c);
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_points_release(query);
    gram_context_destroy(context);
    free(x);
    free(z);
    free(g);
    free(K);
    free(kz);
    free(a);
    free(b);
    free(e);
}

/* Y = 2 X - 1 + noise of deviation 0.5, X standard normal: E[Y | x] = 2 x - 1, E[Y^2 | x] = (2 x - 1)^2 + 1/4, and the
 * characteristic function E[cos Y | x] = cos(2 x - 1) exp(-1/8). With n = 2000 the estimates come within 0.12. */
static void linear_gaussian(void **state)
{
    (void)state;
    enum { N = 2000, M = 5, C = 3 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *x = test_numbers(N), *noise = test_numbers(N), *g = test_numbers(N * C), out[M * C];
    const double z[M] = {-1, -0.5, 0, 0.5, 1};
    gram_random_normal((gram_random){.seed = 7, .stream = 1}, 0, N, x);
    gram_random_normal((gram_random){.seed = 7, .stream = 2}, 0, N, noise);
    for (int i = 0; i < N; i++) {
        const double y = 2 * x[i] - 1 + 0.5 * noise[i];
        g[i * C] = y;
        g[i * C + 1] = y * y;
        g[i * C + 2] = cos(y);
    }
    gram_points *points = test_points(context, N, 1, x), *query = test_points(context, M, 1, z);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    gram_conditional *c;
    OK(context, gram_conditional_create(context, kernel, points, 1e-5, &c));
    OK(context, gram_conditional_expect(context, c, C, g, C, query, out, C));
    for (int j = 0; j < M; j++) {
        const double mean = 2 * z[j] - 1;
        assert_true(fabs(out[j * C] - mean) <= 0.12);
        assert_true(fabs(out[j * C + 1] - mean * mean - 0.25) <= 0.4);
        assert_true(fabs(out[j * C + 2] - cos(mean) * exp(-0.125)) <= 0.12);
    }
    gram_conditional_destroy(c);
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_points_release(query);
    gram_context_destroy(context);
    free(x);
    free(noise);
    free(g);
}

static void refusals(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double x[6] = {0, 1, 2, 3, 4, 5}, g[6] = {0}, out[36];
    gram_points *points = test_points(context, 6, 1, x);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    gram_conditional *c;
    assert_int_equal(gram_conditional_create(context, kernel, points, 0, &c), GRAM_ERROR_ARGUMENT);
    assert_null(c);
    assert_int_equal(gram_conditional_create(context, NULL, points, 1, &c), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_conditional_create(context, kernel, NULL, 1, &c), GRAM_ERROR_ARGUMENT);
    OK(context, gram_conditional_create(context, kernel, points, 1, &c));
    assert_int_equal(gram_conditional_weights(context, c, points, out, 5), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_conditional_weights(context, c, NULL, out, 6), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_conditional_expect(context, c, 2, g, 1, points, out, 2), GRAM_ERROR_ARGUMENT);
    g[3] = NAN;
    REFUSED(context, gram_conditional_expect(context, c, 1, g, 1, points, out, 1), GRAM_ERROR_DATA, "g[3][0] is nan");
    gram_conditional_destroy(c);
    gram_conditional_destroy(NULL);
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_ridge_regression),
        cmocka_unit_test(linear_gaussian),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Draws and intervals of Gaussian processes as statistics: coverage at the true parameters for each way to solve, moments of
 * draws, and the squared norm of draws. */
#include "coverage.h"
#include "samples.h"

/* 200 sets: binomial with p = 0.95, outside of 179 to 198 with probability 1e-3. */
static void coverage(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof coverage_ways / sizeof *coverage_ways; k++) {
        const int count = coverage_count(&coverage_ways[k], 200);
        print_message("%s: %d of 200\n", coverage_ways[k].name, count);
        assert_in_range(count, 179, 198);
    }
}

/* Mean and covariance of draws from the posterior against those that are computed: five standard deviations. */
static void posterior_draws(void **state)
{
    (void)state;
    enum { N = 15, M = 4, D = 2, DRAWS = 20000 };
    double x[N * D], z[M * D], y[N], mean[M], covariance[M * M];
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    gram_gp_options options;
    gram_gp *gp = NULL;
    gram_gp_options_init(&options, sizeof options);
    options.noise = 0.2;
    test_uniform(5, N * D, 0, 2, x);
    test_uniform(6, M * D, 0, 2, z);
    for (int i = 0; i < N; i++) y[i] = 3 + sin(3 * x[D * i]) + x[D * i + 1];
    gram_kernel *kernel = test_kernel(c, "rbf(ell=0.7) + 0.5*matern(nu=1.5, ell=1)");
    gram_points *points = test_points(c, N, D, x), *others = test_points(c, M, D, z);
    double *out = test_numbers(M * DRAWS);
    OK(c, gram_gp_fit(c, kernel, points, y, &options, &gp));
    OK(c, gram_gp_predict(c, gp, others, NULL, 0, mean, NULL));
    OK(c, gram_gp_covariance(c, gp, others, NULL, 0, covariance, M));
    OK(c, gram_gp_draw(c, gp, others, NULL, 0, DRAWS, out, DRAWS, NULL));
    sample_has_moments("posterior", M, DRAWS, out, mean, covariance);
    free(out);
    gram_gp_destroy(gp);
    gram_points_release(points);
    gram_points_release(others);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

/* f'K^-1 f of a draw from the prior at n points is chi-squared with n degrees of freedom: paths are not in the space. */
static void squared_norm_of_draws(void **state)
{
    (void)state;
    enum { N = 30, DRAWS = 2000 };
    double x[N], value, sum = 0;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    gram_gp_options options;
    gram_gp_options_init(&options, sizeof options);
    options.mean = GRAM_MEAN_ZERO;
    options.noise = 0;
    test_uniform(9, N, 0, 10, x);
    gram_kernel *kernel = test_kernel(c, "matern(nu=0.5, ell=1)");
    gram_points *points = test_points(c, N, 1, x);
    double *out = test_numbers(N * DRAWS), f[N], zero[N] = {0}, base;
    OK(c, gram_gp_draw_prior(c, kernel, points, GRAM_SOLVER_EXACT, DRAWS, out, DRAWS, NULL));
    OK(c, gram_gp_likelihood(c, kernel, points, zero, &options, &base, NULL));
    for (int k = 0; k < DRAWS; k++) {
        for (int i = 0; i < N; i++) f[i] = out[i * DRAWS + k];
        OK(c, gram_gp_likelihood(c, kernel, points, f, &options, &value, NULL));
        sum += 2 * (base - value) / DRAWS; /* the likelihood without the determinant */
    }
    print_message("mean of f'K^-1 f: %.3f for %d points\n", sum, N);
    assert_true(fabs(sum - N) < 5 * sqrt(2.0 * N / DRAWS));
    free(out);
    gram_points_release(points);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coverage),
        cmocka_unit_test(posterior_draws),
        cmocka_unit_test(squared_norm_of_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

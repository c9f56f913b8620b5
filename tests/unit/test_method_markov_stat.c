/* Draws and intervals as statistics: Brownian increments, the posterior's moments, coverage at the true parameters. */
#include <math.h>
#include <stdlib.h>

#include "method/gp/markov/gp_markov.h"
#include "samples.h"
#include "support.h"

static gram_context *seeded(uint64_t seed)
{
    return TEST_CONTEXT(.seed = seed);
}

/* min: W(0) = 0, independent increments of variance the gap. */
static void brownian_increments(void **state)
{
    (void)state;
    enum { POINTS = 5, DRAWS = 20000 };
    const double x[POINTS] = {0, 0.5, 0.7, 2, 1.5}; /* not sorted */
    const int sorted[POINTS] = {0, 1, 2, 4, 3};
    gram_context *c = seeded(3);
    gram_kernel *kernel = test_kernel(c, "min()");
    gram_points *points = test_points(c, POINTS, 1, x);
    double *out = test_numbers(POINTS * DRAWS), moments[POINTS][POINTS] = {{0}};
    OK(c, gram_markov_draw_prior(c, kernel, points, DRAWS, out, DRAWS));
    for (int j = 0; j < DRAWS; j++) {
        double step[POINTS];
        assert_true(out[j] == 0);
        for (int i = 1; i < POINTS; i++)
            step[i] =
                (out[sorted[i] * DRAWS + j] - out[sorted[i - 1] * DRAWS + j]) / sqrt(x[sorted[i]] - x[sorted[i - 1]]);
        for (int i = 1; i < POINTS; i++)
            for (int k = 1; k <= i; k++) moments[i][k] += step[i] * step[k] / DRAWS;
    }
    for (int i = 1; i < POINTS; i++) /* five standard deviations */
        for (int k = 1; k <= i; k++)
            assert_true(fabs(moments[i][k] - (i == k)) < 5 * sqrt((1 + (i == k)) / (double)DRAWS));
    free(out);
    gram_points_release(points);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

/* Mean and covariance of posterior draws against those of the matrices. */
static void posterior_draws(void **state)
{
    (void)state;
    enum { N = 12, M = 4, DRAWS = 20000 };
    double x[N], y[N], mean[M], covariance[M * M];
    const double z[M] = {2.2, 0.3, 1.0, 4.5};
    test_uniform(8, N, 0, 4, x);
    for (int i = 0; i < N; i++) y[i] = 3 + sin(x[i]);
    for (int flat = 0; flat < 2; flat++) {
        gram_context *c = seeded(4);
        gram_kernel *kernel = test_kernel(c, "matern(nu=1.5, ell=0.8) + 0.1*white()");
        gram_points *points = test_points(c, N, 1, x), *others = test_points(c, M, 1, z);
        gram_gp *gp = NULL;
        gram_markov *fit = NULL;
        gram_gp_options o;
        double *out = test_numbers(M * DRAWS);
        gram_gp_options_init(&o, sizeof o);
        o.mean = GRAM_MEAN_LINEAR;
        o.flat = flat;
        OK(c, gram_gp_fit(c, kernel, points, y, &o, &gp));
        OK(c, gram_gp_predict(c, gp, others, NULL, 0, mean, NULL));
        OK(c, gram_gp_covariance(c, gp, others, NULL, 0, covariance, M));
        OK(c, gram_markov_fit(c, kernel, points, y, &o, &fit));
        OK(c, gram_markov_draw(c, fit, others, NULL, 0, DRAWS, out, DRAWS));
        sample_has_moments("posterior", M, DRAWS, out, mean, covariance);
        free(out);
        gram_markov_destroy(fit);
        gram_gp_destroy(gp);
        gram_points_release(points);
        gram_points_release(others);
        gram_kernel_release(kernel);
        gram_context_destroy(c);
    }
}

/* 200 data sets, the interval of one new observation each: 95 % within binomial bounds. */
static void coverage(void **state)
{
    (void)state;
    static const char *const kernels[] = {"1.5*matern(nu=1.5, ell=0.6)",
                                          "matern(nu=2.5, ell=1)*cosine(p=1.5) + 0.3*min()"};
    enum { N = 80, SETS = 200 };
    for (int k = 0; k < 2; k++) {
        int inside = 0;
        for (int set = 0; set < SETS; set++) {
            gram_context *c = seeded(100 + (uint64_t)set);
            double x[N + 1], f[N + 1], e[N + 1], mean, variance;
            test_uniform(700 + (uint64_t)set, N + 1, 0, 5, x);
            gram_random_normal((gram_random){900 + (uint64_t)set, 7}, 0, N + 1, e);
            gram_kernel *kernel = test_kernel(c, kernels[k]);
            gram_points *all = test_points(c, N + 1, 1, x), *points = test_points(c, N, 1, x);
            gram_points *last = test_points(c, 1, 1, x + N);
            gram_markov *fit = NULL;
            gram_gp_options o;
            gram_gp_options_init(&o, sizeof o);
            o.mean = GRAM_MEAN_ZERO;
            o.noise = 0.04;
            OK(c, gram_markov_draw_prior(c, kernel, all, 1, f, 1));
            for (int i = 0; i <= N; i++) f[i] += 0.2 * e[i];
            OK(c, gram_markov_fit(c, kernel, points, f, &o, &fit));
            OK(c, gram_markov_predict(c, fit, last, NULL, 0, &mean, &variance));
            inside += fabs(f[N] - mean) <= 1.959963984540054 * sqrt(variance + o.noise);
            gram_markov_destroy(fit);
            gram_points_release(all);
            gram_points_release(points);
            gram_points_release(last);
            gram_kernel_release(kernel);
            gram_context_destroy(c);
        }
        if (inside < 179 || inside > 198) FAIL_TEST("%s: %d of %d", kernels[k], inside, SETS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(brownian_increments), cmocka_unit_test(posterior_draws),
                                       cmocka_unit_test(coverage)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

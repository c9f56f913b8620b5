/* The posterior of one term of a sum against the formulas written out, and what linear kernels say of weights. */
#include <math.h>
#include <stdlib.h>

#include "dense_twin.h"
#include "support.h"

enum { N = 12, M = 5, D = 2 };

static double dot(const double *a, const double *b)
{
    double s = 0;
    for (int i = 0; i < N; i++) s += a[i] * b[i];
    return s;
}

/* v = A^-1 b with A = K + noise */
static void solve(const double *k, double noise, const double *b, double *v)
{
    double a[N * N];
    for (int i = 0; i < N * N; i++) a[i] = k[i] + (i % (N + 1) == 0 ? noise : 0);
    for (int i = 0; i < N; i++) v[i] = b[i];
    (void)dense_solve(N, a, 1, v);
}

static void term_of_a_sum(void **state)
{
    (void)state;
    const double noise = 0.3;
    double x[N * D], z[M * D], y[N], k[N * N], cross[N * M], diagonal[M], mean[M], variance[M], one[N], h[N], a[N];
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    test_uniform(1, N * D, -1, 1, x);
    test_uniform(2, M * D, -1, 1, z);
    for (int i = 0; i < N; i++) y[i] = sin(4 * x[D * i]) + x[D * i + 1] + 2;
    for (int i = 0; i < N; i++) one[i] = 1;
    gram_kernel *kernel = test_kernel(c, "1.5*rbf(ell=0.4) + on(2, linear(c=0.5)) + 0.2*periodic(p=1, ell=1)");
    gram_points *points = test_points(c, N, D, x), *others = test_points(c, M, D, z);
    assert_int_equal(gram_kernel_term_count(kernel), 3);
    OK(c, gram_matrix(c, kernel, points, NULL, k, N));
    solve(k, noise, one, h);
    for (int flat = 0; flat < 2; flat++) {
        gram_gp_options options;
        gram_gp *gp = NULL;
        double total[M] = {0};
        gram_gp_options_init(&options, sizeof options);
        options.noise = noise;
        options.flat = flat;
        OK(c, gram_gp_fit(c, kernel, points, y, &options, &gp));
        const double beta = dot(h, y) / dot(h, one);
        for (int i = 0; i < N; i++) a[i] = y[i] - beta;
        double right[N];
        for (int i = 0; i < N; i++) right[i] = a[i];
        solve(k, noise, right, a);
        for (int t = 0; t < 3; t++) {
            gram_kernel *term = gram_kernel_term(kernel, t);
            OK(c, gram_gp_predict_term(c, gp, term, others, mean, variance));
            OK(c, gram_matrix(c, term, points, others, cross, M));
            OK(c, gram_matrix_diagonal(c, term, others, diagonal));
            for (int j = 0; j < M; j++) {
                double column[N], v[N];
                for (int i = 0; i < N; i++) column[i] = cross[i * M + j];
                solve(k, noise, column, v);
                const double r = dot(h, column);
                const double want = diagonal[j] - dot(column, v) + (flat ? r * r / dot(h, one) : 0);
                assert_true(fabs(mean[j] - dot(column, a)) < 1e-11);
                assert_true(fabs(variance[j] - want) < 1e-11);
                total[j] += mean[j];
            }
        }
        OK(c, gram_gp_predict(c, gp, others, NULL, 0, mean, NULL));
        for (int j = 0; j < M; j++) assert_true(fabs(total[j] + beta - mean[j]) < 1e-11);
        gram_gp_destroy(gp);
    }
    gram_points_release(points);
    gram_points_release(others);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

/* A kernel that is not a sum is its own term; the posterior of a constant is the conjugate update of a normal mean: with prior
 * variance c and n observations of variance s, precision 1/c + n/s and mean (sum y/s)/(1/c + n/s). */
static void conjugate_update(void **state)
{
    (void)state;
    const double prior = 4, noise = 0.5, y[3] = {1, 2, 4.5}, x[3] = {0, 1, 2};
    double mean, variance;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(c, "const(c=4)");
    gram_points *points = test_points(c, 3, 1, x), *at = test_points(c, 1, 1, x);
    gram_gp_options options;
    gram_gp *gp = NULL;
    gram_gp_options_init(&options, sizeof options);
    options.noise = noise;
    options.mean = GRAM_MEAN_ZERO;
    assert_int_equal(gram_kernel_term_count(kernel), 1);
    assert_ptr_equal(gram_kernel_term(kernel, 0), kernel);
    OK(c, gram_gp_fit(c, kernel, points, y, &options, &gp));
    OK(c, gram_gp_predict_term(c, gp, kernel, at, &mean, &variance));
    const double precision = 1 / prior + 3 / noise;
    assert_true(fabs(mean - 7.5 / noise / precision) < 1e-12);
    assert_true(fabs(variance - 1 / precision) < 1e-12);
    gram_gp_destroy(gp);
    gram_points_release(points);
    gram_points_release(at);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

/* Bayesian linear regression without a mean: weights w ~ N(0, A I) have the posterior (X'X/s + I/A)^-1. */
static void weights(void **state)
{
    (void)state;
    const double A = 3, s = 0.7, unit[D * D] = {1, 0, 0, 1};
    double x[N * D], y[N], mean[D], variance[D], g[3] = {0}, r[2] = {0};
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    gram_gp_options options;
    gram_gp *gp = NULL;
    test_uniform(3, N * D, -1, 1, x);
    for (int i = 0; i < N; i++) {
        y[i] = x[D * i] - 2 * x[D * i + 1] + 0.1 * (i % 3);
        g[0] += x[D * i] * x[D * i] / s;
        g[1] += x[D * i] * x[D * i + 1] / s;
        g[2] += x[D * i + 1] * x[D * i + 1] / s;
        for (int l = 0; l < D; l++) r[l] += x[D * i + l] * y[i] / s;
    }
    g[0] += 1 / A;
    g[2] += 1 / A;
    const double det = g[0] * g[2] - g[1] * g[1];
    gram_kernel *kernel = test_kernel(c, "3*linear(c=0)");
    gram_points *points = test_points(c, N, D, x), *at = test_points(c, D, D, unit);
    gram_gp_options_init(&options, sizeof options);
    options.noise = s;
    options.mean = GRAM_MEAN_ZERO;
    OK(c, gram_gp_fit(c, kernel, points, y, &options, &gp));
    OK(c, gram_gp_predict_term(c, gp, kernel, at, mean, variance));
    assert_true(fabs(mean[0] - (g[2] * r[0] - g[1] * r[1]) / det) < 1e-12);
    assert_true(fabs(mean[1] - (g[0] * r[1] - g[1] * r[0]) / det) < 1e-12);
    assert_true(fabs(variance[0] - g[2] / det) < 1e-12);
    assert_true(fabs(variance[1] - g[0] / det) < 1e-12);
    gram_gp_destroy(gp);
    gram_points_release(points);
    gram_points_release(at);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(term_of_a_sum),
        cmocka_unit_test(conjugate_update),
        cmocka_unit_test(weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

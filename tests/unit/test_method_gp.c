/* Gaussian-process regression against slow and obvious twins: elimination on whole matrices, differences, refits without a
 * row, kernel ridge regression. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dense_twin.h"
#include "gp_cases.h"
#include "support.h"

enum { N = 40, D = 2, NEW = 9 };

/* Everything at the rows with keep[i] (NULL: all): likelihood, and mean and covariance at points z. */
static double slow_gp(gram_context *c, const gp_setting *s, const gp_data *t, const int *keep, int m, const double *z,
                      const double *z_basis, double *mean, double *covariance)
{
    int n = 0;
    double x[N * D], y[N], basis[N], noise[N], columns[N * GP_WIDE], new_columns[NEW * GP_WIDE];
    for (int i = 0; i < N; i++) {
        if (keep && !keep[i]) continue;
        memcpy(x + n * D, t->x + i * D, D * sizeof *x);
        y[n] = t->y[i], basis[n] = t->basis[i], noise[n++] = gp_noise_of_row(s, t, i);
    }
    gram_kernel *kernel = test_kernel(c, s->kernel);
    gram_points *points = test_points(c, n, D, x), *others = test_points(c, m, D, z);
    double *a = test_matrix(c, kernel, points, NULL), *cross = test_matrix(c, kernel, points, others),
           *own = test_matrix(c, kernel, others, NULL);
    for (int i = 0; i < n; i++) a[i * n + i] += noise[i];
    gp_mean_columns(s, n, D, x, basis, columns);
    gp_mean_columns(s, m, D, z, z_basis, new_columns);
    const dense_gp twin = {n, gp_columns_of(s, D), m, a, columns, y, cross, own, new_columns, s->flat};
    const double likelihood = dense_gp_posterior(&twin, mean, covariance);
    free(a), free(cross), free(own);
    gram_points_release(points);
    gram_points_release(others);
    gram_kernel_release(kernel);
    return likelihood;
}

static gram_gp *fit(gram_context *c, const gp_setting *s, const gp_data *t)
{
    gram_gp *gp = NULL;
    const gram_gp_options o = gp_options_of(s, t);
    gram_kernel *kernel = test_kernel(c, s->kernel);
    gram_points *x = test_points(c, N, D, t->x);
    OK(c, gram_gp_fit(c, kernel, x, t->y, &o, &gp));
    gram_points_release(x);
    gram_kernel_release(kernel);
    return gp;
}

static void posterior_and_likelihood(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    for (int k = 0; k < GP_SETTINGS_COUNT; k++) {
        const gp_setting *s = &GP_SETTINGS_2[k];
        gp_data t;
        double mean[NEW], covariance[NEW * NEW], expected[NEW], expected_covariance[NEW * NEW], variance[NEW];
        gp_make_data(100 + (uint64_t)k, N, D, &t);
        const double likelihood = slow_gp(c, s, &t, NULL, NEW, t.z, t.new_basis, expected, expected_covariance);
        gram_gp *gp = fit(c, s, &t);
        gram_points *z = test_points(c, NEW, D, t.z);
        const double *basis = s->columns ? t.new_basis : NULL;
        OK(c, gram_gp_predict(c, gp, z, basis, 1, mean, variance));
        OK(c, gram_gp_covariance(c, gp, z, basis, 1, covariance, NEW));
        test_near("mean", NULL, NEW, mean, expected, 1e-10);
        test_near("covariance", NULL, NEW * NEW, covariance, expected_covariance, 1e-10);
        for (int i = 0; i < NEW; i++) test_near("variance", NULL, 1, variance + i, covariance + i * NEW + i, 1e-12);
        test_near("likelihood", NULL, 1, &gram_gp_get_report(gp)->log_marginal_likelihood, &likelihood, 1e-11);
        assert_true(gram_gp_get_report(gp)->backward_error < 1e-14);
        gram_points_release(z);
        gram_gp_destroy(gp);
    }
    gram_context_destroy(c);
}

static void leave_one_out(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    for (int k = 0; k < GP_SETTINGS_COUNT; k++) {
        const gp_setting *s = &GP_SETTINGS_2[k];
        gp_data t;
        gp_make_data(200 + (uint64_t)k, N, D, &t);
        gram_gp *gp = fit(c, s, &t);
        double density = 0;
        for (int i = 0; i < N; i++) {
            int keep[N];
            double mean, variance;
            gp_setting integrated = *s; /* an estimated mean is uncertain when a row is left out: P says so */
            integrated.flat = 1;
            for (int j = 0; j < N; j++) keep[j] = j != i;
            (void)slow_gp(c, &integrated, &t, keep, 1, t.x + i * D, t.basis + i, &mean, &variance);
            variance += gp_noise_of_row(s, &t, i);
            test_near("loo mean", NULL, 1, gram_gp_loo_mean(gp) + i, &mean, 1e-9);
            test_near("loo variance", NULL, 1, gram_gp_loo_variance(gp) + i, &variance, 1e-9);
            density -= 0.5 * (log(2 * acos(-1) * variance) + (t.y[i] - mean) * (t.y[i] - mean) / variance) / N;
        }
        test_near("loo density", NULL, 1, &gram_gp_get_report(gp)->loo_log_density, &density, 1e-9);
        gram_gp_destroy(gp);
    }
    gram_context_destroy(c);
}

/* Central differences of sixth order. */
static void gradients(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    for (int k = 0; k < GP_SETTINGS_COUNT; k++) {
        const gp_setting *s = &GP_SETTINGS_2[k];
        gp_data t;
        gp_make_data(300 + (uint64_t)k, N, D, &t);
        gram_kernel *kernel = test_kernel(c, s->kernel);
        gram_points *x = test_points(c, N, D, t.x);
        const int64_t count = gram_kernel_parameter_count(kernel);
        double gradient[17], value;
        gram_gp_options o = gp_options_of(s, &t);
        OK(c, gram_gp_likelihood(c, kernel, x, t.y, &o, &value, gradient));
        for (int64_t p = 0; p <= count; p++) {
            static const double weights[] = {45, -9, 1};
            double difference = 0, step = 1e-3;
            for (int side = -3; side <= 3; side++) {
                if (side == 0) continue;
                gram_kernel *moved = test_moved(c, kernel, p, side * step);
                gram_gp_options there = o;
                if (p == count) there.noise += side * step;
                OK(c, gram_gp_likelihood(c, moved, x, t.y, &there, &value, NULL));
                difference += (side > 0 ? 1 : -1) * weights[abs(side) - 1] * value / (60 * step);
                gram_kernel_release(moved);
            }
            test_near("gradient", NULL, 1, gradient + p, &difference, 1e-6);
        }
        gram_points_release(x);
        gram_kernel_release(kernel);
    }
    gram_context_destroy(c);
}

static void posterior_mean_is_ridge_regression(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    gp_data t;
    gp_make_data(400, N, D, &t);
    for (int intercept = 0; intercept < 2; intercept++) {
        double a[NEW], b[NEW];
        const gp_setting s = {"0.8*rbf(ell=0.6)", intercept ? GRAM_MEAN_CONSTANT : GRAM_MEAN_ZERO, 0, 0, 0, 0.03};
        gram_gp *gp = fit(c, &s, &t);
        gram_kernel *kernel = test_kernel(c, s.kernel);
        gram_points *x = test_points(c, N, D, t.x), *z = test_points(c, NEW, D, t.z);
        gram_krr_options o;
        gram_krr *krr = NULL;
        gram_krr_options_init(&o, sizeof o);
        o.lambda = 0.03 / N;
        o.intercept = intercept;
        OK(c, gram_krr_fit(c, kernel, x, 1, t.y, 1, &o, &krr));
        OK(c, gram_gp_predict(c, gp, z, NULL, 0, a, NULL));
        OK(c, gram_function_evaluate(c, gram_krr_function(krr), z, b, 1));
        test_near("mean", NULL, NEW, a, b, 1e-12);
        gram_krr_destroy(krr);
        gram_points_release(x);
        gram_points_release(z);
        gram_kernel_release(kernel);
        gram_gp_destroy(gp);
    }
    gram_context_destroy(c);
}

static void interpolates_and_never_negative(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    gp_data t;
    gp_make_data(500, N, D, &t);
    memcpy(t.x + D, t.x, D * sizeof(double)); /* a repeated point */
    for (int i = 0; i < N; i++) t.y[i] = sin(t.x[i * D]) + cos(t.x[i * D + 1]);
    const gp_setting s = {"rbf(ell=2)", GRAM_MEAN_CONSTANT, 0, 0, 0, 0};
    gram_gp *gp = fit(c, &s, &t);
    double mean[N], variance[N];
    gram_points *x = test_points(c, N, D, t.x);
    OK(c, gram_gp_predict(c, gp, x, NULL, 0, mean, variance));
    assert_true(gram_gp_get_report(gp)->rank < N && gram_gp_get_report(gp)->jitter < 1e-13);
    for (int i = 0; i < N; i++) assert_true(variance[i] >= 0 && variance[i] < 1e-10);
    test_near("interpolant", NULL, N, mean, t.y, 1e-6);
    gram_points_release(x);
    gram_gp_destroy(gp);
    gram_context_destroy(c);
}

/* A column of the mean that says what others say changes nothing, also with a flat prior. */
static void dependent_columns(void **state)
{
    (void)state;
    enum { ROWS = 12, OTHERS = 4 };
    double x[2 * ROWS], y[ROWS], z[2 * OTHERS], mean[2][OTHERS], variance[2][OTHERS], columns[2 * ROWS], at[2 * OTHERS];
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(c, "rbf(ell=0.7)");
    test_uniform(31, 2 * ROWS, -1, 1, x);
    test_uniform(32, 2 * OTHERS, -1, 1, z);
    gram_points *points = test_points(c, ROWS, 2, x), *others = test_points(c, OTHERS, 2, z);
    for (int i = 0; i < ROWS; i++) {
        y[i] = sin(2 * x[2 * i]) + x[2 * i + 1];
        columns[2 * i] = x[2 * i] * x[2 * i + 1];
        columns[2 * i + 1] = 3 * columns[2 * i] - 2 + x[2 * i];
    }
    for (int j = 0; j < OTHERS; j++) {
        at[2 * j] = z[2 * j] * z[2 * j + 1];
        at[2 * j + 1] = 3 * at[2 * j] - 2 + z[2 * j];
    }
    for (int k = 0; k < 2; k++) {
        gram_gp_options options;
        gram_gp *gp = NULL;
        gram_gp_options_init(&options, sizeof options);
        options.mean = GRAM_MEAN_LINEAR;
        options.flat = 1;
        options.noise = 0.1;
        options.columns = 1 + k;
        options.basis = columns;
        options.ld = 2;
        OK(c, gram_gp_fit(c, kernel, points, y, &options, &gp));
        OK(c, gram_gp_predict(c, gp, others, at, 2, mean[k], variance[k]));
        gram_gp_destroy(gp);
    }
    for (int j = 0; j < OTHERS; j++) {
        assert_true(fabs(mean[0][j] - mean[1][j]) < 1e-9);
        assert_true(fabs(variance[0][j] - variance[1][j]) < 1e-9);
    }
    gram_points_release(points);
    gram_points_release(others);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(posterior_and_likelihood),
        cmocka_unit_test(leave_one_out),
        cmocka_unit_test(gradients),
        cmocka_unit_test(posterior_mean_is_ridge_regression),
        cmocka_unit_test(interpolates_and_never_negative),
        cmocka_unit_test(dependent_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Gaussian-process regression against slow and obvious twins: elimination on whole matrices, differences, refits without a
 * row, kernel ridge regression. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { N = 40, D = 2, NEW = 9 };

typedef struct data {
    double x[N * D], y[N], row_noise[N], basis[N], z[NEW * D], new_basis[NEW];
} data;

static void make_data(uint64_t seed, data *t)
{
    test_uniform(seed, N * D, 0.1, 2, t->x);
    test_uniform(seed + 1, NEW * D, 0.1, 2, t->z);
    test_uniform(seed + 2, N, -0.2, 0.2, t->y);
    test_uniform(seed + 3, N, 0, 0.1, t->row_noise);
    for (int i = 0; i < N; i++) {
        t->y[i] += 2 + sin(3 * t->x[i * D]) + t->x[i * D + 1];
        t->basis[i] = exp(t->x[i * D]);
    }
    for (int i = 0; i < NEW; i++) t->new_basis[i] = exp(t->z[i * D]);
}

typedef struct setting {
    const char *kernel;
    gram_mean mean;
    int flat, row_noise, columns;
} setting;

static const setting SETTINGS[] = {
    {"1.3*rbf(ell=0.7)", GRAM_MEAN_ZERO, 0, 0, 0},
    {"1.3*rbf(ell=[0.7,1.4])", GRAM_MEAN_CONSTANT, 0, 0, 0},
    {"0.4*matern(nu=1.5, ell=0.9) + 0.2*linear(c=0.3)", GRAM_MEAN_CONSTANT, 1, 1, 0},
    {"1.1*rbf(ell=0.5)*periodic(p=1.7, ell=1.2)", GRAM_MEAN_LINEAR, 0, 1, 1},
    {"0.9*matern(nu=2.5, ell=[0.8,2])", GRAM_MEAN_LINEAR, 1, 0, 1},
};
enum { SETTINGS_COUNT = sizeof SETTINGS / sizeof *SETTINGS };

static gram_gp_options options_of(const setting *s, const data *t, double noise)
{
    gram_gp_options o;
    gram_gp_options_init(&o, sizeof o);
    o.mean = s->mean;
    o.flat = s->flat;
    o.noise = noise;
    o.row_noise = s->row_noise ? t->row_noise : NULL;
    o.columns = s->columns;
    o.basis = s->columns ? t->basis : NULL;
    o.ld = 1;
    return o;
}

/* a becomes its inverse; returns log |det a|. */
static double invert(int n, double *a)
{
    double *b = test_numbers(n * n), log_det = 0;
    for (int i = 0; i < n; i++) b[i * n + i] = 1;
    for (int k = 0; k < n; k++) {
        int best = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k])) best = i;
        for (int j = 0; j < n; j++) {
            double s = a[k * n + j];
            a[k * n + j] = a[best * n + j], a[best * n + j] = s;
            s = b[k * n + j];
            b[k * n + j] = b[best * n + j], b[best * n + j] = s;
        }
        const double pivot = a[k * n + k];
        log_det += log(fabs(pivot));
        for (int j = 0; j < n; j++) a[k * n + j] /= pivot, b[k * n + j] /= pivot;
        for (int i = 0; i < n; i++) {
            const double factor = i == k ? 0 : a[i * n + k];
            for (int j = 0; j < n; j++) a[i * n + j] -= factor * a[k * n + j], b[i * n + j] -= factor * b[k * n + j];
        }
    }
    memcpy(a, b, (size_t)(n * n) * sizeof *a);
    free(b);
    return log_det;
}

static int columns_of(const setting *s)
{
    return (s->mean != GRAM_MEAN_ZERO) + (s->mean == GRAM_MEAN_LINEAR ? D : 0) + s->columns;
}

static void mean_row(const setting *s, const double *x, const double *basis, double *row)
{
    int j = 0;
    if (s->mean != GRAM_MEAN_ZERO) row[j++] = 1;
    for (int l = 0; l < D && s->mean == GRAM_MEAN_LINEAR; l++) row[j++] = x[l];
    if (s->columns) row[j] = *basis;
}

/* Everything at the rows with keep[i] (NULL: all): likelihood, and mean and covariance at points z. */
static double slow_gp(gram_context *c, const setting *s, const data *t, double noise, const int *keep, int m,
                      const double *z, const double *z_basis, double *mean, double *covariance)
{
    int rows[N], n = 0, q = columns_of(s);
    for (int i = 0; i < N; i++)
        if (!keep || keep[i]) rows[n++] = i;
    double *k = test_numbers(N * N), *kz = test_numbers(N * m), *kzz = test_numbers(m * m), *a = test_numbers(n * n);
    double *h = test_numbers(n * (q + 1)), *small = test_numbers(q * q + 1), *beta = test_numbers(q + 1);
    double *tt = test_numbers(n * (q + 1)), *left = test_numbers(n);
    gram_kernel *kernel = test_kernel(c, s->kernel);
    gram_points *x = test_points(c, N, D, t->x), *points = test_points(c, m, D, z);
    OK(c, gram_matrix(c, kernel, x, NULL, k, N));
    OK(c, gram_matrix(c, kernel, x, points, kz, m));
    OK(c, gram_matrix(c, kernel, points, NULL, kzz, m));
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) a[i * n + j] = k[rows[i] * N + rows[j]];
        a[i * n + i] += noise + (s->row_noise ? t->row_noise[rows[i]] : 0);
        mean_row(s, t->x + rows[i] * D, t->basis + rows[i], tt + i * q);
    }
    const double log_a = invert(n, a);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < q; j++)
            for (int l = 0; l < n; l++) h[i * q + j] += a[i * n + l] * tt[l * q + j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < q; j++)
            for (int l = 0; l < q; l++) small[j * q + l] += tt[i * q + j] * h[i * q + l];
    const double log_small = q ? invert(q, small) : 0;
    for (int j = 0; j < q; j++)
        for (int l = 0; l < q; l++)
            for (int i = 0; i < n; i++) beta[j] += small[j * q + l] * h[i * q + l] * t->y[rows[i]];
    double quadratic = 0;
    for (int i = 0; i < n; i++) {
        left[i] = t->y[rows[i]];
        for (int j = 0; j < q; j++) left[i] -= tt[i * q + j] * beta[j];
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) quadratic += left[i] * a[i * n + j] * left[j];
    for (int p = 0; p < m; p++) {
        double r[8] = {0};
        mean_row(s, z + p * D, z_basis + p, r);
        mean[p] = 0;
        for (int j = 0; j < q; j++) mean[p] += r[j] * beta[j];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) mean[p] += kz[rows[i] * m + p] * a[i * n + j] * left[j];
        for (int o = 0; o < m; o++) {
            double other[8] = {0}, sum = kzz[p * m + o];
            mean_row(s, z + o * D, z_basis + o, other);
            for (int i = 0; i < n; i++)
                for (int j = 0; j < n; j++) sum -= kz[rows[i] * m + p] * a[i * n + j] * kz[rows[j] * m + o];
            for (int j = 0; j < q && s->flat; j++)
                for (int l = 0; l < q; l++) {
                    double rj = r[j], rl = other[l];
                    for (int i = 0; i < n; i++)
                        rj -= h[i * q + j] * kz[rows[i] * m + p], rl -= h[i * q + l] * kz[rows[i] * m + o];
                    sum += rj * small[j * q + l] * rl;
                }
            covariance[p * m + o] = sum;
        }
    }
    free(k), free(kz), free(kzz), free(a), free(h), free(small), free(beta), free(tt), free(left);
    gram_points_destroy(x);
    gram_points_destroy(points);
    gram_kernel_release(kernel);
    return -0.5 * (quadratic + log_a + (s->flat ? log_small : 0) + (n - (s->flat ? q : 0)) * log(2 * acos(-1)));
}

static void near(const char *what, int64_t count, const double *a, const double *b, double tolerance)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= tolerance * (1 + fabs(b[i]))))
            FAIL_TEST("%s: [%d] is %.17g instead of %.17g", what, (int)i, a[i], b[i]);
}

static gram_gp *fit(gram_context *c, const setting *s, const data *t, double noise)
{
    gram_gp *gp = NULL;
    const gram_gp_options o = options_of(s, t, noise);
    gram_kernel *kernel = test_kernel(c, s->kernel);
    gram_points *x = test_points(c, N, D, t->x);
    OK(c, gram_gp_fit(c, kernel, x, t->y, &o, &gp));
    gram_points_destroy(x);
    gram_kernel_release(kernel);
    return gp;
}

static void posterior_and_likelihood(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    for (int k = 0; k < SETTINGS_COUNT; k++) {
        const setting *s = &SETTINGS[k];
        data t;
        double mean[NEW], covariance[NEW * NEW], expected[NEW], expected_covariance[NEW * NEW], variance[NEW];
        make_data(100 + (uint64_t)k, &t);
        const double likelihood = slow_gp(c, s, &t, 0.05, NULL, NEW, t.z, t.new_basis, expected, expected_covariance);
        gram_gp *gp = fit(c, s, &t, 0.05);
        gram_points *z = test_points(c, NEW, D, t.z);
        const double *basis = s->columns ? t.new_basis : NULL;
        OK(c, gram_gp_predict(c, gp, z, basis, 1, mean, variance));
        OK(c, gram_gp_covariance(c, gp, z, basis, 1, covariance, NEW));
        near("mean", NEW, mean, expected, 1e-10);
        near("covariance", NEW * NEW, covariance, expected_covariance, 1e-10);
        for (int i = 0; i < NEW; i++) near("variance", 1, variance + i, covariance + i * NEW + i, 1e-12);
        near("likelihood", 1, &gram_gp_get_report(gp)->log_marginal_likelihood, &likelihood, 1e-11);
        assert_true(gram_gp_get_report(gp)->backward_error < 1e-14);
        gram_points_destroy(z);
        gram_gp_destroy(gp);
    }
    gram_context_destroy(c);
}

static void leave_one_out(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    for (int k = 0; k < SETTINGS_COUNT; k++) {
        const setting *s = &SETTINGS[k];
        data t;
        make_data(200 + (uint64_t)k, &t);
        gram_gp *gp = fit(c, s, &t, 0.05);
        double density = 0;
        for (int i = 0; i < N; i++) {
            int keep[N];
            double mean, variance;
            setting integrated = *s; /* an estimated mean is uncertain when a row is left out: P says so */
            integrated.flat = 1;
            for (int j = 0; j < N; j++) keep[j] = j != i;
            (void)slow_gp(c, &integrated, &t, 0.05, keep, 1, t.x + i * D, t.basis + i, &mean, &variance);
            variance += 0.05 + (s->row_noise ? t.row_noise[i] : 0);
            near("loo mean", 1, gram_gp_loo_mean(gp) + i, &mean, 1e-9);
            near("loo variance", 1, gram_gp_loo_variance(gp) + i, &variance, 1e-9);
            density -= 0.5 * (log(2 * acos(-1) * variance) + (t.y[i] - mean) * (t.y[i] - mean) / variance) / N;
        }
        near("loo density", 1, &gram_gp_get_report(gp)->loo_log_density, &density, 1e-9);
        gram_gp_destroy(gp);
    }
    gram_context_destroy(c);
}

/* Central differences of sixth order. */
static void gradients(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    for (int k = 0; k < SETTINGS_COUNT; k++) {
        const setting *s = &SETTINGS[k];
        data t;
        make_data(300 + (uint64_t)k, &t);
        gram_kernel *kernel = test_kernel(c, s->kernel);
        gram_points *x = test_points(c, N, D, t.x);
        const int64_t count = gram_kernel_parameter_count(kernel);
        double values[16], gradient[17], value;
        gram_gp_options o = options_of(s, &t, 0.05);
        OK(c, gram_gp_likelihood(c, kernel, x, t.y, &o, &value, gradient));
        for (int64_t p = 0; p <= count; p++) {
            static const double weights[] = {45, -9, 1};
            double difference = 0, step = 1e-3;
            for (int side = -3; side <= 3; side++) {
                if (side == 0) continue;
                for (int64_t i = 0; i < count; i++) {
                    gram_parameter parameter;
                    OK(c, gram_kernel_parameter_get(c, kernel, i, &parameter));
                    values[i] = parameter.value + (i == p ? side * step : 0);
                }
                gram_kernel *moved = NULL;
                OK(c, gram_kernel_with_values(c, kernel, values, &moved));
                gram_gp_options there = options_of(s, &t, 0.05 + (p == count ? side * step : 0));
                OK(c, gram_gp_likelihood(c, moved, x, t.y, &there, &value, NULL));
                difference += (side > 0 ? 1 : -1) * weights[abs(side) - 1] * value / (60 * step);
                gram_kernel_release(moved);
            }
            near("gradient", 1, gradient + p, &difference, 1e-6);
        }
        gram_points_destroy(x);
        gram_kernel_release(kernel);
    }
    gram_context_destroy(c);
}

static void posterior_mean_is_ridge_regression(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    make_data(400, &t);
    for (int intercept = 0; intercept < 2; intercept++) {
        double a[NEW], b[NEW];
        const setting s = {"0.8*rbf(ell=0.6)", intercept ? GRAM_MEAN_CONSTANT : GRAM_MEAN_ZERO, 0, 0, 0};
        gram_gp *gp = fit(c, &s, &t, 0.03);
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
        near("mean", NEW, a, b, 1e-12);
        gram_krr_destroy(krr);
        gram_points_destroy(x);
        gram_points_destroy(z);
        gram_kernel_release(kernel);
        gram_gp_destroy(gp);
    }
    gram_context_destroy(c);
}

static void interpolates_and_never_negative(void **state)
{
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    data t;
    make_data(500, &t);
    memcpy(t.x + D, t.x, D * sizeof(double)); /* a repeated point */
    t.y[1] = t.y[0];
    const setting s = {"rbf(ell=2)", GRAM_MEAN_CONSTANT, 0, 0, 0};
    gram_gp *gp = fit(c, &s, &t, 0);
    double mean[N], variance[N];
    gram_points *x = test_points(c, N, D, t.x);
    OK(c, gram_gp_predict(c, gp, x, NULL, 0, mean, variance));
    assert_true(gram_gp_get_report(gp)->jitter > 0 && gram_gp_get_report(gp)->jitter < 1e-8);
    for (int i = 0; i < N; i++) assert_true(variance[i] >= 0 && variance[i] < 1e-6);
    near("interpolant", N, mean, t.y, 1e-2);
    gram_points_destroy(x);
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
    gram_points_destroy(points);
    gram_points_destroy(others);
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

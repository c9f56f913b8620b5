/* Independence given other columns: the statistic against its definition by dense solves, odd data, bad arguments, threads, memory. */
#include <string.h>

#include "oom.h"
#include "samples.h"
#include <gram/hsic.h>

enum { N = 40 };

/* z normal; x and y functions of it with noise, which `dependence` makes them share. */
static void make_three(uint64_t seed, int64_t n, double dependence, double *x, double *y, double *z)
{
    double *e = sample_normal(seed, 3 * n);
    for (int64_t i = 0; i < n; i++) {
        z[i] = e[3 * i];
        x[i] = sin(2 * z[i]) + 0.5 * e[3 * i + 1];
        y[i] = z[i] * z[i] - 1 + 0.5 * e[3 * i + 2] + dependence * e[3 * i + 1];
    }
    free(e);
}

/* P = I - S of ridge regression with an intercept: A = K + n lambda I, P = n lambda (A^-1 - A^-1 1 1' A^-1/(1'A^-1 1)). */
static void slow_leaver(gram_context *context, const gram_kernel *kernel, const gram_points *z, double noise, double *p)
{
    double a[N * 2 * N], sum[N] = {0}, all = 0;
    OK(context, gram_matrix(context, kernel, z, NULL, p, N));
    for (int i = 0; i < N; i++)
        for (int j = 0; j < 2 * N; j++) a[i * 2 * N + j] = j < N ? p[i * N + j] + noise * (i == j) : j - N == i;
    for (int k = 0; k < N; k++) /* Gauss and Jordan: A is positive definite */
        for (int i = 0; i < N; i++) {
            const double factor = i == k ? 0 : a[i * 2 * N + k] / a[k * 2 * N + k];
            for (int j = 0; j < 2 * N && i != k; j++) a[i * 2 * N + j] -= factor * a[k * 2 * N + j];
        }
    for (int i = 0; i < N * N; i++) p[i] = a[i / N * 2 * N + N + i % N] / a[i / N * 2 * N + i / N];
    for (int i = 0; i < N * N; i++) sum[i / N] += p[i], all += p[i];
    for (int i = 0; i < N * N; i++) p[i] = noise * (p[i] - sum[i / N] * sum[i % N] / all);
}

/* Residuals' inner products P K P', and the covariance that fitting gives them. */
static void slow_left(gram_context *context, const gram_kernel *kernel, const gram_points *x, const double *p,
                      double *rr, double *a)
{
    static double k[N * N], half[N * N];
    OK(context, gram_matrix(context, kernel, x, NULL, k, N));
    for (int i = 0; i < N * N; i++) {
        half[i] = 0;
        for (int l = 0; l < N; l++) half[i] += p[i / N * N + l] * k[l * N + i % N];
    }
    for (int i = 0; i < N * N; i++) {
        rr[i] = 0;
        for (int l = 0; l < N; l++) rr[i] += half[i / N * N + l] * p[i % N * N + l];
    }
    for (int i = 0; i < N * N; i++) {
        a[i] = 0;
        for (int l = 0; l < N; l++)
            a[i] += p[i / N * N + l] * p[i % N * N + l] * rr[l * N + l] / (p[l * N + l] * p[l * N + l]);
    }
}

/* Kernels of finite rank, so that factors are exact. */
static void definition(void **state)
{
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double data[3][N];
    static double p[N * N], rr[2][N * N], a[2][N * N], kz[N * N];
    gram_points *points[3];
    gram_kernel *kernels[3] = {test_kernel(context, "poly(m=2, c=1)"), test_kernel(context, "poly(m=3, c=1)"), NULL};
    gram_hsic_given_result r;
    (void)state;
    make_three(4, N, 0.3, data[0], data[1], data[2]);
    for (int v = 0; v < 3; v++) points[v] = test_points(context, N, 1, data[v]);
    gram_hsic_given_result_init(&r, sizeof r);
    OK(context, gram_hsic_given_test(context, kernels, (const gram_points *const *)points, NULL, &r));
    for (int v = 0; v < 2; v++) {
        slow_leaver(context, r.regression[v], points[2], r.lambda[v] * N, p);
        slow_left(context, r.kernels[v], points[v], p, rr[v], a[v]);
    }
    OK(context, gram_matrix(context, r.kernels[2], points[2], NULL, kz, N));
    double sum = 0, trace = 0, squares = 0;
    for (int i = 0; i < N * N; i++) {
        const double w = rr[0][i] * rr[1][i] * kz[i];
        sum += w - (i / N == i % N ? 0 : a[0][i] * a[1][i] * kz[i]);
        if (i / N == i % N)
            trace += w;
        else
            squares += w * w;
    }
    sum /= N * N;
    trace /= N * N;
    if (!(fabs(r.statistic - sum) < 1e-7 * fabs(trace))) FAIL_TEST("statistic %.12g, want %.12g", r.statistic, sum);
    assert_true(fabs(r.null_mean - trace) < 1e-7 * trace);
    assert_true(fabs(r.null_deviation - sqrt(2 * squares) / (N * N)) < 1e-7 * r.null_deviation);
    assert_true(r.unexplained[0] > 0.05 && r.unexplained[0] < 1 && r.unexplained[1] > 0.05 && r.unexplained[1] < 1);
    gram_hsic_given_result_clear(&r);
    for (int v = 0; v < 3; v++) gram_points_release(points[v]), gram_kernel_release(kernels[v]);
    gram_context_destroy(context);
}

static gram_status run(gram_context *context, double *const *data, int64_t n, gram_hsic_given_result *r)
{
    gram_hsic_options options;
    gram_points *points[3];
    for (int v = 0; v < 3; v++) points[v] = test_points(context, n, 1, data[v]);
    gram_hsic_options_init(&options, sizeof options);
    gram_hsic_given_result_init(r, sizeof *r);
    options.permutations = 99;
    const gram_status status = gram_hsic_given_test(context, NULL, (const gram_points *const *)points, &options, r);
    for (int v = 0; v < 3; v++) gram_points_release(points[v]);
    return status;
}

/* Constant columns, columns that determine others, too few rows, arguments. */
static void odd_and_bad(void **state)
{
    enum { M = 80 };
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double x[M], y[M], z[M], constant[M], same[M];
    gram_hsic_given_result r;
    (void)state;
    make_three(2, M, 1, x, y, z);
    for (int i = 0; i < M; i++) constant[i] = 1, same[i] = 3 * z[i] + 1;
    OK(context, run(context, (double *[]){x, y, z}, M, &r));
    assert_true(r.p_value == 0.01 && r.reject && r.n == M);
    gram_hsic_given_result_clear(&r);
    OK(context, run(context, (double *[]){constant, y, z}, M, &r));
    assert_true(r.p_value == 1 && r.statistic == 0 && !r.reject);
    gram_hsic_given_result_clear(&r);
    OK(context, run(context, (double *[]){x, y, constant}, M, &r)); /* nothing is given: plain independence */
    assert_true(r.p_value == 0.01);
    gram_hsic_given_result_clear(&r);
    assert_int_equal(run(context, (double *[]){same, y, z}, M, &r), GRAM_ERROR_DATA);
    assert_non_null(strstr(gram_context_message(context), "x is determined"));
    assert_int_equal(run(context, (double *[]){x, same, z}, M, &r), GRAM_ERROR_DATA);
    assert_non_null(strstr(gram_context_message(context), "y is determined"));
    assert_int_equal(run(context, (double *[]){x, y, z}, 9, &r), GRAM_ERROR_DIMENSION);
    assert_int_equal(gram_hsic_given_test(context, NULL, NULL, NULL, &r), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_hsic_given_test(context, NULL, NULL, NULL, NULL), GRAM_ERROR_ARGUMENT);
    gram_context_destroy(context);
}

static void test_once(gram_context *context, double *out)
{
    double x[N], y[N], z[N];
    gram_hsic_given_result r;
    make_three(7, N, 0.2, x, y, z);
    OK(context, run(context, (double *[]){x, y, z}, N, &r));
    out[0] = r.p_value;
    out[1] = r.statistic;
    out[2] = r.null_deviation;
    gram_hsic_given_result_clear(&r);
}

static void same_for_any_threads(void **state)
{
    (void)state;
    test_any_threads(3, test_once);
}

static double oom_data[60];

static gram_status play(gram_context *context)
{
    gram_points *points[3] = {NULL, NULL, NULL};
    gram_hsic_options options;
    gram_hsic_given_result result;
    gram_status status = GRAM_OK;
    gram_hsic_options_init(&options, sizeof options);
    gram_hsic_given_result_init(&result, sizeof result);
    options.permutations = 3;
    for (int v = 0; v < 3 && status >= 0; v++)
        status = gram_points_create_f64(context, 20, 1, oom_data + 20 * v, 1, &points[v]);
    gram_kernel *kernels[3] = {NULL, NULL, NULL}; /* of a fixed width: less is tuned */
    if (status >= 0) status = gram_kernel_parse(context, "rbf(ell=1!)", &kernels[2]);
    if (status >= 0)
        status = gram_hsic_given_test(context, kernels, (const gram_points *const *)points, &options, &result);
    gram_kernel_release(kernels[2]);
    gram_hsic_given_result_clear(&result);
    for (int v = 0; v < 3; v++) gram_points_release(points[v]);
    return status;
}

static void out_of_memory(void **state)
{
    (void)state;
    make_three(1, 20, 0.5, oom_data, oom_data + 20, oom_data + 40);
    assert_true(oom_each(play, 1) > 20);
    (void)oom_budget(play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(definition), cmocka_unit_test(odd_and_bad),
                                       cmocka_unit_test(same_for_any_threads), cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

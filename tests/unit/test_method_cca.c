/* Kernel CCA against what it must be: the products of matrices that define it, classical CCA, planted relations, symmetry in the views, and input that it cannot take. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/cca.h>

#include "dense_twin.h"
#include "support.h"

typedef struct view {
    const char *kernel;
    int64_t d;
    const double *x;
} view;

static gram_status try_fit(gram_context *context, int64_t n, view x, view y, const gram_cca_options *options,
                           gram_cca **cca)
{
    gram_kernel *kx = test_kernel(context, x.kernel), *ky = test_kernel(context, y.kernel);
    gram_points *px = test_points(context, n, x.d, x.x), *py = test_points(context, n, y.d, y.x);
    const gram_status status = gram_cca_fit(context, kx, px, ky, py, options, cca);
    gram_points_release(px), gram_points_release(py);
    gram_kernel_release(kx), gram_kernel_release(ky);
    return status;
}

static gram_cca *fit(gram_context *context, int64_t n, view x, view y, gram_cca_options options)
{
    gram_cca *cca = NULL;
    OK(context, try_fit(context, n, x, y, &options, &cca));
    return cca;
}

static gram_cca_options want(int64_t components, double kappa, int64_t permutations)
{
    gram_cca_options options;
    gram_cca_options_init(&options, sizeof options);
    options.components = components;
    options.kappa = kappa;
    options.permutations = permutations;
    return options;
}

/* The variables of one view at some rows. */
static double *variables(gram_context *context, const gram_cca *cca, int v, int64_t n, int64_t d, const double *x)
{
    const int64_t k = gram_cca_get_report(cca)->components;
    double *out = test_numbers(n * k);
    gram_points *points = test_points(context, n, d, x);
    OK(context, gram_function_evaluate(context, gram_cca_function(cca, v), points, out, k));
    gram_points_release(points);
    return out;
}

static double *normal(uint64_t seed, int64_t count)
{
    double *out = test_numbers(count);
    gram_random_normal((gram_random){seed, 1}, 0, count, out);
    return out;
}

/* ---- the definition ---- */

/* R = K~ (K~ + n kappa)^-1, n x n. */
static double *smoother(gram_context *context, int64_t n, view v, double kappa)
{
    gram_kernel *kernel = test_kernel(context, v.kernel);
    gram_points *points = test_points(context, n, v.d, v.x);
    double *k = test_matrix(context, kernel, points, NULL), *shifted = test_numbers(n * n), *means = test_numbers(n),
           all = 0;
    for (int64_t i = 0; i < n * n; i++) means[i / n] += k[i] / (double)n, all += k[i] / (double)(n * n);
    for (int64_t i = 0; i < n * n; i++) shifted[i] = k[i] += all - means[i / n] - means[i % n];
    for (int64_t i = 0; i < n; i++) shifted[i * n + i] += (double)n * kappa;
    dense_solve(n, shifted, n, k); /* both factors commute */
    free(shifted), free(means);
    gram_points_release(points);
    gram_kernel_release(kernel);
    return k;
}

/* The eigenvalues of Rx Ry are the squares of the correlations: their sum, and by powers the first of them. */
static void twin(gram_context *context, int64_t n, view x, view y, double kappa, double *sum, double *first)
{
    double *rx = smoother(context, n, x, kappa), *ry = smoother(context, n, y, kappa), *m = test_numbers(n * n);
    double *v = test_random(9, n, -1, 1), *w = test_numbers(n);
    dense_multiply(n, n, n, rx, ry, m);
    *sum = 0;
    for (int64_t i = 0; i < n; i++) *sum += m[i * n + i];
    for (int step = 0; step < 3000; step++) {
        double norm = 0;
        dense_multiply(n, n, 1, m, v, w);
        for (int64_t i = 0; i < n; i++) norm += w[i] * w[i];
        *first = sqrt(sqrt(norm)); /* |v| = 1 from the second step on */
        for (int64_t i = 0; i < n; i++) v[i] = w[i] / sqrt(norm);
    }
    free(rx), free(ry), free(m), free(v), free(w);
}

static void formula(void **state)
{
    enum { N = 40 };
    gram_context *context = *state;
    double *x = test_random(1, N, -1, 1), *y = test_random(2, N * 2, -1, 1), sum, first, squares = 0;
    for (int64_t i = 0; i < N; i++) y[2 * i] += x[i] * x[i];
    const view smooth[2] = {{"rbf(ell=0.5)", 1, x}, {"matern(nu=1.5, ell=0.8)", 2, y}};
    const double kappas[] = {1e-4, 0.01, 3};
    for (int c = 0; c < 3; c++) {
        gram_cca *cca = fit(context, N, smooth[0], smooth[1], want(1, kappas[c], 0));
        twin(context, N, smooth[0], smooth[1], kappas[c], &sum, &first);
        test_near("first correlation", "rbf and matern", 1, gram_cca_correlations(cca), &first, 1e-6);
        gram_cca_destroy(cca);
    }
    /* three features of one variable: three correlations, and no more */
    const view powers[2] = {{"poly(m=3, c=1)", 1, x}, {"poly(m=2, c=1)", 2, y}};
    gram_cca *cca = fit(context, N, powers[0], powers[1], want(3, 0.01, 0));
    twin(context, N, powers[0], powers[1], 0.01, &sum, &first);
    for (int s = 0; s < 3; s++) squares += pow(gram_cca_correlations(cca)[s], 2);
    test_near("first correlation", "poly", 1, gram_cca_correlations(cca), &first, 1e-9);
    test_near("sum of squares", "poly", 1, &squares, &sum, 1e-9);
    gram_cca_destroy(cca);
    free(x), free(y);
}

/* Means 0, mean f_s g_t = rho_s (s = t), mean f_s f_t + kappa <f_s, f_t> = (s = t). */
static void conditions(void **state)
{
    enum { N = 60, K = 4 };
    gram_context *context = *state;
    const double kappa = 0.02;
    double *x = test_random(3, N * 2, -1, 1), *y = test_random(4, N, -1, 1), *f[2];
    for (int64_t i = 0; i < N; i++) y[i] += sin(3 * x[2 * i]);
    gram_cca *cca = fit(context, N, (view){"rbf(ell=0.7)", 2, x}, (view){"rbf(ell=0.7)", 1, y}, want(K, kappa, 0));
    f[0] = variables(context, cca, 0, N, 2, x);
    f[1] = variables(context, cca, 1, N, 1, y);
    for (int v = 0; v < 2; v++) {
        const gram_function *function = gram_cca_function(cca, v);
        double norms[K];
        OK(context, gram_function_norm(context, function, norms));
        for (int s = 0; s < K; s++) {
            double mean = 0, square = kappa * norms[s] * norms[s], cross[K] = {0}, wanted[K] = {0};
            for (int64_t i = 0; i < N; i++) {
                mean += f[v][i * K + s] / N;
                square += f[v][i * K + s] * f[v][i * K + s] / N;
                for (int t = 0; t < K; t++) cross[t] += f[v][i * K + s] * f[1 - v][i * K + t] / N;
            }
            wanted[s] = gram_cca_correlations(cca)[s];
            assert_true(fabs(mean) < 1e-9);
            assert_true(fabs(square - 1) < 1e-7);
            test_near("mean f g", "rbf", K, cross, wanted, 1e-7);
        }
    }
    gram_cca_destroy(cca);
    free(x), free(y), free(f[0]), free(f[1]);
}

/* ---- limits and symmetry ---- */

/* Classical CCA: eigenvalues of Sxx^-1 Sxy Syy^-1 Syx; 2 x 2, so by trace and determinant. */
static void classical(void **state)
{
    enum { N = 80, D = 2, E = 3 };
    gram_context *context = *state;
    double *x = test_random(5, N * D, -1, 2), *y = test_random(6, N * E, 0, 1), cx[D * D] = {0}, cy[E * E] = {0},
           c[D * E] = {0}, b[E * D], a[D * E], m[D * D], rho[2];
    for (int64_t i = 0; i < N; i++) y[i * E] += x[i * D] - 0.3 * x[i * D + 1], y[i * E + 1] += 0.2 * x[i * D + 1];
    gram_cca *zero = fit(context, N, (view){"linear", D, x}, (view){"linear(c=1)", E, y}, want(2, 0, 0));
    gram_cca *small = fit(context, N, (view){"linear", D, x}, (view){"linear", E, y}, want(2, 1e-10, 0));
    for (int l = 0; l < D + E; l++) {
        double *column = l < D ? x + l : y + l - D, mean = 0;
        const int64_t ld = l < D ? D : E;
        for (int64_t i = 0; i < N; i++) mean += column[i * ld] / N;
        for (int64_t i = 0; i < N; i++) column[i * ld] -= mean;
    }
    dense_multiply_transposed(D, N, D, x, x, cx);
    dense_multiply_transposed(E, N, E, y, y, cy);
    dense_multiply_transposed(D, N, E, x, y, c);
    memcpy(a, c, sizeof a);
    for (int i = 0; i < D; i++)
        for (int j = 0; j < E; j++) b[j * D + i] = c[i * E + j];
    dense_solve(D, cx, E, a);
    dense_solve(E, cy, D, b);
    dense_multiply(D, E, D, a, b, m);
    const double half = (m[0] + m[3]) / 2, root = sqrt(half * half - (m[0] * m[3] - m[1] * m[2]));
    rho[0] = sqrt(half + root), rho[1] = sqrt(half - root);
    test_near("classical CCA", "kappa = 0", 2, gram_cca_correlations(zero), rho, 1e-10);
    test_near("classical CCA", "kappa to 0", 2, gram_cca_correlations(small), rho, 1e-7);
    gram_cca_destroy(zero), gram_cca_destroy(small);
    free(x), free(y);
}

static void symmetric(void **state)
{
    enum { N = 50, K = 2 };
    gram_context *context = *state;
    double *x = test_random(7, N * 2, -1, 1), *y = test_random(8, N, -1, 1);
    for (int64_t i = 0; i < N; i++) y[i] += x[2 * i] * x[2 * i];
    const view a = {"rbf(ell=0.6)", 2, x}, b = {"matern(nu=2.5, ell=1)", 1, y};
    gram_cca *one = fit(context, N, a, b, want(K, NAN, 0)), *other = fit(context, N, b, a, want(K, NAN, 0));
    const gram_cca_report *r = gram_cca_get_report(one), *q = gram_cca_get_report(other);
    double *fx = variables(context, one, 0, N, 2, x), *gx = variables(context, other, 1, N, 2, x);
    assert_int_equal(r->chosen, 1);
    test_near("kappa", "views changed", 1, &q->kappa, &r->kappa, 1e-12);
    test_near("held out", "views changed", 1, &q->held_out, &r->held_out, 1e-9);
    test_near("correlations", "views changed", K, gram_cca_correlations(other), gram_cca_correlations(one), 1e-9);
    test_near("variables", "views changed", N * K, gx, fx, 1e-6);
    gram_cca_destroy(one), gram_cca_destroy(other);
    free(fx), free(gx), free(x), free(y);
}

/* A factor of few columns: correlations near those of all of them, with the error that is reported. */
static void low_rank(void **state)
{
    enum { N = 300 };
    gram_context *context = *state;
    double *x = test_random(10, N * 2, -1, 1), *y = test_random(11, N * 2, -1, 1);
    for (int64_t i = 0; i < N; i++) y[2 * i] += sin(4 * x[2 * i]);
    const view a = {"rbf(ell=0.5)", 2, x}, b = {"rbf(ell=0.5)", 2, y};
    gram_cca_options options = want(2, 0.01, 0);
    gram_cca *all = fit(context, N, a, b, options);
    options.rank = 40;
    gram_cca *few = fit(context, N, a, b, options);
    const gram_cca_report *report = gram_cca_get_report(few);
    assert_int_equal(report->rank[0], 40);
    assert_true(report->trace_error[0] > 1e-6 && report->trace_error[0] < 0.01);
    assert_true(gram_cca_get_report(all)->trace_error[0] < 1e-9);
    test_near("correlations", "rank 40", 2, gram_cca_correlations(few), gram_cca_correlations(all), 0.01);
    assert_true(gram_cca_correlations(few)[0] <= gram_cca_correlations(all)[0] + 1e-12); /* over fewer functions */
    gram_cca_destroy(all), gram_cca_destroy(few);
    free(x), free(y);
}

/* ---- what it finds ---- */

/* y = |x|^2 without any linear correlation: found, with variables of new rows that are as correlated; kappa by left-out rows. */
static void planted(void **state)
{
    enum { N = 200 };
    gram_context *context = *state;
    double *x = normal(1, 4 * N), *noise = normal(2, 4 * N), *y = test_numbers(4 * N), *fx, *fy, c = 0, a = 0, b = 0;
    for (int64_t i = 0; i < 2 * N; i++) {
        y[2 * i] = x[2 * i] * x[2 * i] + x[2 * i + 1] * x[2 * i + 1] + 0.1 * noise[2 * i];
        y[2 * i + 1] = noise[2 * i + 1];
    }
    const view vx = {"rbf(ell=1.5)", 2, x}, vy = {"rbf(ell=1.5)", 2, y};
    gram_cca *cca = fit(context, N, vx, vy, want(1, NAN, 99));
    const gram_cca_report *report = gram_cca_get_report(cca);
    assert_true(gram_cca_correlations(cca)[0] > 0.9);
    assert_true(report->held_out > 0.9);
    assert_true(report->p_value == 0.01);
    fx = variables(context, cca, 0, N, 2, x + 2 * N);
    fy = variables(context, cca, 1, N, 2, y + 2 * N);
    for (int64_t i = 0; i < N; i++) c += fx[i] * fy[i], a += fx[i] * fx[i], b += fy[i] * fy[i];
    assert_true(c / sqrt(a * b) > 0.9); /* means are 0 but for the sample */
    gram_cca_destroy(cca);
    cca = fit(context, N, (view){"linear", 2, x}, (view){"linear", 2, y}, want(1, 0, 99));
    assert_true(gram_cca_get_report(cca)->p_value > 0.01); /* a line does not see it */
    gram_cca_destroy(cca);
    free(x), free(y), free(noise), free(fx), free(fy);
}

/* ---- the rest ---- */

static void fill_threads(gram_context *context, double *out)
{
    enum { N = 150 };
    double *x = test_random(12, N * 3, -1, 1), *y = test_random(13, N, -1, 1);
    for (int64_t i = 0; i < N; i++) y[i] += x[3 * i];
    gram_cca *cca = fit(context, N, (view){"rbf(ell=1)", 3, x}, (view){"rbf(ell=1)", 1, y}, want(2, NAN, 19));
    memcpy(out, gram_cca_correlations(cca), 2 * sizeof *out);
    out[2] = gram_cca_get_report(cca)->kappa;
    out[3] = gram_cca_get_report(cca)->p_value;
    OK(context, gram_function_norm(context, gram_cca_function(cca, 1), out + 4));
    gram_cca_destroy(cca);
    free(x), free(y);
}

static void same_bits(void **state)
{
    (void)state;
    test_any_threads(6, fill_threads);
}

static void refused(void **state)
{
    enum { N = 12 };
    gram_context *context = *state;
    gram_cca *cca = NULL;
    double *x = test_random(14, N * 2, -1, 1), *flat = test_numbers(N);
    const view good = {"rbf(ell=1)", 2, x}, line = {"linear", 1, x};
    gram_cca_options options = want(2, 0.1, 0);
    REFUSED(context, try_fit(context, N, line, good, &options, &cca), GRAM_ERROR_ARGUMENT,
            "2 components are more than the 1");
    options = want(0, 0.1, 0);
    OK(context, try_fit(context, N, line, good, &options, &cca));
    assert_int_equal(gram_cca_get_report(cca)->components, 1); /* unless it was asked for, it is what there is */
    gram_cca_destroy(cca);
    REFUSED(context, try_fit(context, N, good, (view){"rbf(ell=1)", 1, flat}, &options, &cca), GRAM_ERROR_DATA,
            "view y does not vary");
    REFUSED(context, try_fit(context, N, (view){"const(2)", 2, x}, good, &options, &cca), GRAM_ERROR_DATA,
            "view x does not vary");
    REFUSED(context, try_fit(context, N, (view){"0*rbf(ell=1)", 2, x}, good, &options, &cca), GRAM_ERROR_DATA,
            "view x");
    options = want(1, 0, 0);
    REFUSED(context, try_fit(context, N, good, good, &options, &cca), GRAM_ERROR_ARGUMENT,
            "a correlation of 1 whatever the data");
    options = want(1, -1, 0);
    REFUSED(context, try_fit(context, N, good, good, &options, &cca), GRAM_ERROR_ARGUMENT, "kappa = -1");
    options = want(N, 1, 0);
    REFUSED(context, try_fit(context, N, good, good, &options, &cca), GRAM_ERROR_ARGUMENT, "components = 12");
    options = want(1, NAN, 0);
    REFUSED(context, try_fit(context, 9, good, good, &options, &cca), GRAM_ERROR_ARGUMENT, "9 rows are too few");
    REFUSED(context, try_fit(context, 2, good, good, &options, &cca), GRAM_ERROR_DIMENSION, "2 rows are fewer than 3");
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    gram_points *a = test_points(context, N, 2, x), *b = test_points(context, N - 1, 2, x);
    REFUSED(context, gram_cca_fit(context, kernel, a, kernel, b, NULL, &cca), GRAM_ERROR_DIMENSION,
            "12 rows of x and 11 of y");
    REFUSED(context, gram_cca_fit(context, kernel, a, NULL, b, NULL, &cca), GRAM_ERROR_ARGUMENT, "kernel_y is NULL");
    gram_points_release(a), gram_points_release(b);
    gram_kernel_release(kernel);
    free(x), free(flat);
}

/* Repeated rows have repeated variables, and nothing fails. */
static void duplicates(void **state)
{
    enum { N = 30 };
    gram_context *context = *state;
    double *x = test_random(15, N, -1, 1), *y = test_random(16, N, -1, 1);
    for (int64_t i = N / 2; i < N; i++) x[i] = x[i - N / 2], y[i] = y[i - N / 2];
    gram_cca *cca = fit(context, N, (view){"rbf(ell=0.5)", 1, x}, (view){"rbf(ell=0.5)", 1, y}, want(2, NAN, 19));
    double *f = variables(context, cca, 0, N, 1, x);
    test_near("variables", "repeated rows", N, f + N, f, 1e-9);
    gram_cca_destroy(cca);
    free(x), free(y), free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formula),   cmocka_unit_test(conditions), cmocka_unit_test(classical),
        cmocka_unit_test(symmetric), cmocka_unit_test(low_rank),   cmocka_unit_test(planted),
        cmocka_unit_test(same_bits), cmocka_unit_test(refused),    cmocka_unit_test(duplicates)};
    return cmocka_run_group_tests(tests, test_open, test_close);
}

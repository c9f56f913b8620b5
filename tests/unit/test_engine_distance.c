/* The kernel metric: closed forms where points are so near that 1 - k has no digits left, and k(x,x) + k(y,y) - 2 k(x,y)
 * everywhere else, over every kernel of the table. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

static gram_context *context;

static int set_up(void **state)
{
    (void)state;
    context = test_context(2, GRAM_ISA_AUTO);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gram_context_destroy(context);
    return 0;
}

/* d_k(0, r) of a kernel on the line */
static double distance_at(const char *text, double r)
{
    const double data[2] = {0, r};
    double out[4];
    gram_points *x = test_points(context, 2, 1, data);
    gram_kernel *kernel = test_kernel(context, text);
    OK(context, gram_matrix_distance(context, kernel, x, NULL, out, 2));
    assert_true(out[0] == 0 && out[3] == 0 && out[1] == out[2]);
    gram_kernel_release(kernel);
    gram_points_release(x);
    return out[1];
}

static void close_to(const char *text, double r, double want)
{
    const double got = distance_at(text, r);
    if (!(fabs(got - want) <= 8 * DBL_EPSILON * want))
        FAIL_TEST("%s at %g: %.17g instead of %.17g", text, r, got, want);
}

/* 2 (1 - (1 + a) e^-a) and 2 (1 - (1 + a + a^2/3) e^-a), from 50 digits: series in long double */
static double half_integer(int p, double a)
{
    long double sum = 0, term = 1;
    for (int j = 1; j < 60; j++) {
        term *= (long double)a / j;
        const long double polynomial = j == 1 ? (long double)a : p == 2 && j == 2 ? (long double)a * a / 3 : 0;
        sum += term - (j <= p ? polynomial : 0);
    }
    return (double)sqrtl(2 * expl(-(long double)a) * sum);
}

static void near_points(void **state)
{
    (void)state;
    for (double r = 1e-12; r < 40; r *= 3.7) {
        const double rbf = -expm1(-r * r / 2), line = -expm1(-r / 2);
        close_to("rbf(ell=1)", r, sqrt(2 * rbf));
        close_to("laplace1(ell=2)", r, sqrt(2 * line));
        close_to("matern(nu=0.5, ell=2)", r, sqrt(2 * line));
        if (r < 8) close_to("matern(nu=1.5, ell=1)", r, half_integer(1, sqrt(3.0) * r));
        if (r < 8) close_to("matern(nu=2.5, ell=1)", r, half_integer(2, sqrt(5.0) * r));
        close_to("9*rbf(ell=1) + 5", r, 3 * sqrt(2 * rbf));
        close_to("rbf(ell=1) + laplace1(ell=2)", r, sqrt(2 * (rbf + line)));
        close_to("rbf(ell=1)*laplace1(ell=2)", r, sqrt(-2 * expm1(-r * r / 2 - r / 2)));
        close_to("(2*laplace1(ell=6))^3", r, sqrt(-16 * expm1(-r / 2)));
        close_to("rbf(ell=1) + white()", r, sqrt(2 * (rbf + 1)));
        close_to("laplace(ell=2)", r, sqrt(2 * line));
        close_to("powexp(p=1.5, ell=1)", r, sqrt(-2 * expm1(-pow(r, 1.5))));
        close_to("rq(alpha=2, ell=1)", r, sqrt(-2 * expm1(-2 * log1p(r * r / 4))));
        close_to("imq(c=2, beta=0.5)", r, sqrt(-expm1(-0.5 * log1p(r * r / 4))));
        const double t = fmin(r, 1), square = t * t;
        close_to("wendland(k=0, ell=1)", r, sqrt(2 * t));
        close_to("wendland(k=1, ell=1)", r, t * sqrt(2 * (6 + t * (3 * t - 8))));
        close_to("wendland(k=2, ell=1)", r, t * sqrt(2 * (7 + square * (-35 + t * (56 + t * (8 * t - 35))))));
    }
}

static void whole_table(void **state)
{
    (void)state;
    enum { N = 130, M = 20, D = 2 };
    double *data = test_random(4, (N + M) * D, 0.2, 1.4), *k = test_numbers(N * M), *got = test_numbers(N * (M + 1));
    double kx[N], ky[M];
    gram_points *x = test_points(context, N, D, data), *y = test_points(context, M, D, data + N * D);
    test_expressions list;
    test_expressions_make(D, &list);
    for (int e = 0; e < list.count; e++) {
        gram_kernel *kernel = test_kernel(context, list.text[e]);
        OK(context, gram_matrix(context, kernel, x, y, k, M));
        OK(context, gram_matrix_diagonal(context, kernel, x, kx));
        OK(context, gram_matrix_diagonal(context, kernel, y, ky));
        OK(context, gram_matrix_distance(context, kernel, x, y, got, M + 1));
        for (int i = 0; i < N; i++)
            for (int j = 0; j < M; j++) {
                const double scale = fabs(kx[i]) + fabs(ky[j]), d = got[i * (M + 1) + j];
                const double square = fmax(0, kx[i] + ky[j] - 2 * k[i * M + j]); /* below 0 if not a kernel */
                if (!(d >= 0 && fabs(d * d - square) <= 1e-14 * scale))
                    FAIL_TEST("%s: d(%d, %d) = %.17g, its square should be %.17g", list.text[e], i, j, d, square);
            }
        gram_kernel_release(kernel);
    }
    test_expressions_free(&list);
    gram_points_release(x);
    gram_points_release(y);
    free(data);
    free(k);
    free(got);
}

static void distances(gram_context *c, double *out)
{
    enum { N = 300 };
    static const char *const TEXTS[] = {"2*rbf(ell=0.3) + white()", "poly(m=2, c=1)"};
    double *data = test_random(9, N, 0, 1);
    gram_points *x = test_points(c, N, 1, data);
    for (int t = 0; t < 2; t++, out += N * N) {
        gram_kernel *kernel = test_kernel(c, TEXTS[t]);
        OK(c, gram_matrix_distance(c, kernel, x, NULL, out, N));
        for (int i = 0; i < N; i++) assert_true(out[i * N + i] == 0);
        gram_kernel_release(kernel);
    }
    gram_points_release(x);
    free(data);
}

static void same_bits(void **state)
{
    (void)state;
    test_any_threads(2 * 300 * 300, distances);
}

/* Points in f32 are measured in f64. */
static void single_points(void **state)
{
    (void)state;
    enum { N = 20 };
    float narrow[N];
    double *wide = test_random(2, N, 1, 2), one[N * N], two[N * N];
    for (int i = 0; i < N; i++) wide[i] = narrow[i] = (float)wide[i];
    gram_points *x = test_points(context, N, 1, wide), *y;
    OK(context, gram_points_create_f32(context, N, 1, narrow, 1, &y));
    static const char *const TEXTS[] = {"rbf(ell=0.3)", "poly(m=3, c=1)"};
    for (int t = 0; t < 2; t++) {
        gram_kernel *kernel = test_kernel(context, TEXTS[t]);
        OK(context, gram_matrix_distance(context, kernel, x, NULL, one, N));
        OK(context, gram_matrix_distance(context, kernel, y, NULL, two, N));
        assert_true(test_distance(N, N, one, N, two, N) <= 1e-12);
        gram_kernel_release(kernel);
    }
    gram_points_release(x);
    gram_points_release(y);
    free(wide);
}

static void bad_use(void **state)
{
    (void)state;
    const double data[3] = {-1, 2, 3};
    double out[9];
    int64_t row, column;
    gram_points *x = test_points(context, 3, 1, data);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)"), *origin = test_kernel(context, "min(o=2.5)");
    assert_int_equal(gram_matrix_distance(NULL, kernel, x, NULL, out, 3), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_matrix_distance(context, NULL, x, NULL, out, 3), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_matrix_distance(context, kernel, NULL, NULL, out, 3), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_matrix_distance(context, kernel, x, NULL, NULL, 3), GRAM_ERROR_ARGUMENT);
    REFUSED(context, gram_matrix_distance(context, kernel, x, NULL, out, 2), GRAM_ERROR_ARGUMENT, "ld = 2");
    assert_int_equal(gram_context_place(context, &row, &column), 0);
    assert_true(row == -1 && column == -1);
    assert_int_equal(gram_matrix_distance(context, origin, x, NULL, out, 3), GRAM_ERROR_DOMAIN);
    assert_int_equal(gram_context_place(context, &row, &column), 1);
    assert_true(row == 0 && column == 0);
    assert_int_equal(gram_context_place(context, NULL, NULL), 1);
    gram_kernel_release(kernel);
    gram_kernel_release(origin);
    gram_points_release(x);
}

/* The place of a number that is not finite. */
static void place(void **state)
{
    (void)state;
    double data[6] = {1, 2, 3, 4, NAN, 6};
    int64_t row, column;
    gram_points *x;
    assert_int_equal(gram_points_create_f64(context, 2, 3, data, 3, &x), GRAM_ERROR_DATA);
    assert_int_equal(gram_context_place(context, &row, &column), 1);
    assert_true(row == 1 && column == 1);
    assert_int_equal(gram_points_create_f64(context, 0, 3, data, 3, &x), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_context_place(context, &row, &column), 0);
    assert_int_equal(gram_context_place(NULL, &row, &column), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_points),   cmocka_unit_test(whole_table), cmocka_unit_test(same_bits),
        cmocka_unit_test(single_points), cmocka_unit_test(bad_use),     cmocka_unit_test(place),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* Values and gradients of functions, against slow loops over the Gram matrix, closed forms and differences. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { N = 37, M = 23, D = 3, OUTPUTS = 4 };

static double centres[N * D], places[M * D], a[N * OUTPUTS], constant[OUTPUTS] = {0.5, -1, 0, 2};
static float centres32[N * D], places32[M * D];

static int set_up(void **state)
{
    (void)state;
    test_uniform(1, N * D, 0.1, 1.5, centres);
    test_uniform(2, M * D, 0.1, 1.5, places);
    test_uniform(3, N * OUTPUTS, -1, 1, a);
    for (int i = 0; i < N * D; i++) centres32[i] = (float)centres[i];
    for (int i = 0; i < M * D; i++) places32[i] = (float)places[i];
    return 0;
}

static gram_function *make(gram_context *context, const char *text, int64_t outputs)
{
    gram_function *f = NULL;
    gram_kernel *kernel = test_kernel(context, text);
    gram_points *x = test_points(context, N, D, centres);
    OK(context, gram_function_create(context, kernel, x, outputs, a, OUTPUTS, constant, &f));
    gram_points_release(x);
    gram_kernel_release(kernel);
    return f;
}

/* sum_i a_i exp(-|x_i - x|^2/(2 ell^2)) + b by a loop that knows nothing of the library */
static void closed_form(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_function *f = make(context, "rbf(ell=0.7)", OUTPUTS);
    gram_points *x = test_points(context, M, D, places);
    double out[M * (OUTPUTS + 2)];
    OK(context, gram_function_evaluate(context, f, x, out, OUTPUTS + 2));
    for (int i = 0; i < M; i++)
        for (int o = 0; o < OUTPUTS; o++) {
            double sum = constant[o], size = fabs(constant[o]);
            for (int j = 0; j < N; j++) {
                double s = 0;
                for (int l = 0; l < D; l++) s += pow(centres[j * D + l] - places[i * D + l], 2);
                sum += a[j * OUTPUTS + o] * exp(-s / (2 * 0.49));
                size += fabs(a[j * OUTPUTS + o]);
            }
            assert_true(fabs(out[i * (OUTPUTS + 2) + o] - sum) <= 8 * DBL_EPSILON * size);
        }
    gram_points_release(x);
    gram_function_release(f);
    gram_context_destroy(context);
}

/* f(x_i) = (K a)_i + b for every kernel of the table */
static void every_kernel(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    gram_points *x = test_points(context, M, D, places), *c = test_points(context, N, D, centres);
    test_expressions list;
    test_expressions_make(D, &list);
    for (int e = 0; e < list.count; e++) {
        double out[M * OUTPUTS], k[M * N];
        gram_function *f = make(context, list.text[e], OUTPUTS);
        OK(context, gram_function_evaluate(context, f, x, out, OUTPUTS));
        OK(context, gram_matrix(context, gram_function_kernel(f), x, c, k, N));
        for (int i = 0; i < M; i++)
            for (int o = 0; o < OUTPUTS; o++) {
                double sum = constant[o], size = fabs(sum);
                for (int j = 0; j < N; j++) {
                    sum += k[i * N + j] * a[j * OUTPUTS + o];
                    size += fabs(k[i * N + j] * a[j * OUTPUTS + o]);
                }
                if (!(fabs(out[i * OUTPUTS + o] - sum) <= 16 * DBL_EPSILON * size))
                    FAIL_TEST("%s: %g instead of %g", list.text[e], out[i * OUTPUTS + o], sum);
            }
        gram_function_release(f);
    }
    test_expressions_free(&list);
    gram_points_release(c);
    gram_points_release(x);
    gram_context_destroy(context);
}

static const char *const SMOOTH[] = {"rbf(ell=0.7)", "matern(nu=2.5, ell=[0.5,1,2])", "poly(m=3, c=1)",
                                     "2*rq(alpha=1.5, ell=1) + linear(c=0.2)"};

/* Central differences: the error is h^2/6 |f'''| + eps |f|/h, some 1e-9 at h = 1e-5. */
static void gradient_of_differences(void **state)
{
    (void)state;
    const double h = 1e-5;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_points *x = test_points(context, M, D, places);
    for (size_t e = 0; e < sizeof SMOOTH / sizeof *SMOOTH; e++) {
        gram_function *f = make(context, SMOOTH[e], OUTPUTS);
        for (int64_t o = 0; o < OUTPUTS; o++) {
            double slope[M * (D + 1)], sides[2 * D * D], values[2 * D * OUTPUTS];
            OK(context, gram_function_gradient(context, f, o, x, slope, D + 1));
            for (int i = 0; i < M; i++) {
                for (int s = 0; s < 2 * D; s++) {
                    memcpy(sides + s * D, places + i * D, sizeof(double) * D);
                    sides[s * D + s / 2] += s % 2 ? h : -h;
                }
                gram_points *both = test_points(context, 2 * D, D, sides);
                OK(context, gram_function_evaluate(context, f, both, values, OUTPUTS));
                gram_points_release(both);
                for (int l = 0; l < D; l++) {
                    const double wide = sides[(2 * l + 1) * D + l] - sides[2 * l * D + l];
                    const double ratio = (values[(2 * l + 1) * OUTPUTS + o] - values[2 * l * OUTPUTS + o]) / wide;
                    if (!(fabs(ratio - slope[i * (D + 1) + l]) <= 1e-7))
                        FAIL_TEST("%s: %.12g instead of %.12g", SMOOTH[e], slope[i * (D + 1) + l], ratio);
                }
            }
        }
        gram_function_release(f);
    }
    gram_points_release(x);
    gram_context_destroy(context);
}

static void everything(gram_context *context, double *out)
{
    enum { MANY = 700 };
    double *data = test_random(5, MANY * D, 0, 1), *b = test_random(6, MANY * 2, -1, 1), *slopes = out + 2 * MANY;
    double *numbers = slopes + MANY * D;
    gram_kernel *kernel = test_kernel(context, "matern(nu=1.5, ell=0.3)");
    gram_points *x = test_points(context, MANY, D, data);
    gram_function *f = NULL, *g = NULL;
    OK(context, gram_function_create(context, kernel, x, 2, b, 2, NULL, &f));
    OK(context, gram_function_create(context, kernel, x, 2, data, 2, NULL, &g));
    OK(context, gram_function_evaluate(context, f, x, out, 2));
    OK(context, gram_function_gradient(context, f, 1, x, slopes, D));
    OK(context, gram_function_norm(context, f, numbers));
    OK(context, gram_function_inner(context, f, g, numbers + 2));
    OK(context, gram_function_distance(context, f, g, numbers + 4));
    gram_function_release(f);
    gram_function_release(g);
    gram_points_release(x);
    gram_kernel_release(kernel);
    free(b);
    free(data);
}

static void threads_bits(void **state)
{
    (void)state;
    test_any_threads(700 * (2 + D) + 6, everything);
}

/* f32 centres at f64 points are widened: the same as an f64 function of the rounded centres. At f32 points, f32. */
static void single_centres(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.8)");
    gram_points *narrow, *wide, *x = test_points(context, M, D, places), *x32;
    gram_function *f, *g;
    double rounded[N * D], out[M * 2], other[M * 2];
    for (int i = 0; i < N * D; i++) rounded[i] = centres32[i];
    OK(context, gram_points_create_f32(context, N, D, centres32, D, &narrow));
    OK(context, gram_points_create_f32(context, M, D, places32, D, &x32));
    wide = test_points(context, N, D, rounded);
    OK(context, gram_function_create(context, kernel, narrow, 2, a, OUTPUTS, constant, &f));
    OK(context, gram_function_create(context, kernel, wide, 2, a, OUTPUTS, constant, &g));
    assert_null(gram_function_centres_f64(f));
    assert_memory_equal(gram_function_centres_f32(f), centres32, sizeof centres32);
    assert_null(gram_function_centres_f32(g));
    OK(context, gram_function_evaluate(context, f, x, out, 2));
    OK(context, gram_function_evaluate(context, g, x, other, 2));
    assert_true(test_distance(M, 2, out, 2, other, 2) <= 1e-13);
    OK(context, gram_function_evaluate(context, f, x32, out, 2));
    assert_true(test_distance(M, 2, out, 2, other, 2) <= 1e-4);
    gram_function_release(f);
    gram_function_release(g);
    gram_points_release(x);
    gram_points_release(x32);
    gram_points_release(narrow);
    gram_points_release(wide);
    gram_kernel_release(kernel);
    gram_context_destroy(context);
}

/* Nothing of the caller has to stay, and the parts are returned. */
static void owns_everything(void **state)
{
    (void)state;
    gram_context *first = test_context(1, GRAM_ISA_AUTO), *context = test_context(1, GRAM_ISA_AUTO);
    const size_t before = gram_context_memory_used(first);
    double *data = malloc(sizeof centres), *numbers = malloc(sizeof a), out[M], other[M];
    assert_non_null(data);
    assert_non_null(numbers);
    memcpy(data, centres, sizeof centres);
    memcpy(numbers, a, sizeof a);
    gram_points *x = test_points(first, N, D, data), *z = test_points(context, M, D, places);
    gram_kernel *kernel = test_kernel(first, "rbf(ell=0.7)");
    gram_function *f = NULL, *g = make(context, "rbf(ell=0.7)", 1);
    OK(first, gram_function_create(first, kernel, x, 1, numbers, OUTPUTS, constant, &f));
    assert_true(gram_context_memory_used(first) - before >= (N * D + N) * sizeof(double));
    gram_points_release(x);
    gram_kernel_release(kernel);
    gram_context_destroy(first);
    memset(data, 0, sizeof centres);
    memset(numbers, 0, sizeof a);
    free(data);
    free(numbers);
    assert_ptr_equal(gram_function_retain(f), f);
    gram_function_release(f);
    OK(context, gram_function_evaluate(context, f, z, out, 1));
    OK(context, gram_function_evaluate(context, g, z, other, 1));
    assert_true(test_same_bits(1, M, out, M, other, M));
    assert_int_equal(gram_function_outputs(f), 1);
    assert_int_equal(gram_points_count(gram_function_centres(f)), N);
    assert_memory_equal(gram_function_centres_f64(f), centres, sizeof centres);
    for (int i = 0; i < N; i++) assert_true(gram_function_coefficients(f)[i] == a[i * OUTPUTS]);
    assert_true(gram_function_constant(f)[0] == constant[0]);
    gram_function_release(f);
    gram_function_release(g);
    gram_function_release(NULL);
    assert_null(gram_function_retain(NULL));
    gram_points_release(z);
    gram_context_destroy(context);
}

static void bad_arguments(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(c, "rbf(ell=0.7)"), *open = test_kernel(c, "rbf"),
                *ard = test_kernel(c, "rbf(ell=[1,2])");
    gram_points *x = test_points(c, N, D, centres), *flat = test_points(c, M, 2, places);
    gram_function *f = NULL, *none = make(c, "rbf(ell=0.7)", 2);
    double bad[N], out[M * D], infinite = INFINITY;
    memcpy(bad, a, sizeof bad);
    bad[5] = NAN;
    assert_int_equal(gram_function_create(NULL, kernel, x, 1, a, 1, NULL, &f), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_function_create(c, kernel, x, 1, a, 1, NULL, NULL), GRAM_ERROR_ARGUMENT);
    REFUSED(c, gram_function_create(c, NULL, x, 1, a, 1, NULL, &f), GRAM_ERROR_ARGUMENT, "kernel is NULL");
    REFUSED(c, gram_function_create(c, kernel, NULL, 1, a, 1, NULL, &f), GRAM_ERROR_ARGUMENT, "centres is NULL");
    REFUSED(c, gram_function_create(c, kernel, x, 1, NULL, 1, NULL, &f), GRAM_ERROR_ARGUMENT, "a is NULL");
    REFUSED(c, gram_function_create(c, kernel, x, 0, a, 1, NULL, &f), GRAM_ERROR_ARGUMENT, "outputs = 0");
    REFUSED(c, gram_function_create(c, kernel, x, 2, a, 1, NULL, &f), GRAM_ERROR_ARGUMENT, "lda = 1");
    REFUSED(c, gram_function_create(c, kernel, x, 1, a, INT64_MAX, NULL, &f), GRAM_ERROR_OVERFLOW, "addressed");
    REFUSED(c, gram_function_create(c, kernel, x, 1, bad, 1, NULL, &f), GRAM_ERROR_DATA, "a[5][0] is nan");
    REFUSED(c, gram_function_create(c, kernel, x, 1, a, 1, &infinite, &f), GRAM_ERROR_DATA, "constant[0] is inf");
    REFUSED(c, gram_function_create(c, open, x, 1, a, 1, NULL, &f), GRAM_ERROR_UNSET, "rbf.ell");
    REFUSED(c, gram_function_create(c, ard, x, 1, a, 1, NULL, &f), GRAM_ERROR_DIMENSION, "");
    assert_null(f);
    REFUSED(c, gram_function_evaluate(c, none, NULL, out, 2), GRAM_ERROR_ARGUMENT, "x is NULL");
    REFUSED(c, gram_function_evaluate(c, NULL, x, out, 2), GRAM_ERROR_ARGUMENT, "function is NULL");
    REFUSED(c, gram_function_evaluate(c, none, x, NULL, 2), GRAM_ERROR_ARGUMENT, "out is NULL");
    REFUSED(c, gram_function_evaluate(c, none, x, out, 1), GRAM_ERROR_ARGUMENT, "ldo = 1");
    REFUSED(c, gram_function_evaluate(c, none, flat, out, 2), GRAM_ERROR_DIMENSION, "x has 2 columns");
    REFUSED(c, gram_function_gradient(c, none, 2, x, out, D), GRAM_ERROR_ARGUMENT, "output = 2");
    REFUSED(c, gram_function_gradient(c, none, 0, x, out, D - 1), GRAM_ERROR_ARGUMENT, "ldo = 2");
    REFUSED(c, gram_function_gradient(c, none, 0, flat, out, D), GRAM_ERROR_DIMENSION, "x has 2 columns");
    gram_function_release(none);
    gram_points_release(flat);
    gram_points_release(x);
    gram_kernel_release(ard);
    gram_kernel_release(open);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_form),  cmocka_unit_test(every_kernel),   cmocka_unit_test(gradient_of_differences),
        cmocka_unit_test(threads_bits), cmocka_unit_test(single_centres), cmocka_unit_test(owns_everything),
        cmocka_unit_test(bad_arguments)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}

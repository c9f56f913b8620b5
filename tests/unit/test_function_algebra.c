/* Inner products, norms, sums, pruning and bounds of functions: identities of a Hilbert space, slow sums, and memory. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"

enum { N = 31, M = 20, D = 2, OUTPUTS = 2 };

static double centres[N * D], places[M * D], a[N * OUTPUTS], b[M * OUTPUTS], constant[OUTPUTS] = {0.5, -3};

static int set_up(void **state)
{
    (void)state;
    test_uniform(1, N * D, 0.1, 1.5, centres);
    test_uniform(2, M * D, 0.1, 1.5, places);
    test_uniform(3, N * OUTPUTS, -1, 1, a);
    test_uniform(4, M * OUTPUTS, -1, 1, b);
    memcpy(places, centres + 4 * D, 3 * D * sizeof(double)); /* three centres in common */
    return 0;
}

static gram_function *make(gram_context *context, const char *text, int64_t n, const double *x, int64_t outputs,
                           const double *numbers)
{
    gram_function *f = NULL;
    gram_kernel *kernel = test_kernel(context, text);
    gram_points *points = test_points(context, n, D, x);
    OK(context, gram_function_create(context, kernel, points, outputs, numbers, outputs, constant, &f));
    gram_points_release(points);
    gram_kernel_release(kernel);
    return f;
}

static int64_t count_of(const gram_function *f)
{
    return gram_points_count(gram_function_centres(f));
}

/* For each kernel: <f, g> against the sum, |f|^2 = <f, f>, symmetry, |f - g|^2 by the parallelogram, Cauchy-Schwarz. */
static void identities(void **state)
{
    (void)state;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    gram_points *x = test_points(context, N, D, centres), *z = test_points(context, M, D, places);
    test_expressions list;
    test_expressions_make(D, &list);
    for (int e = 0; e < list.count; e++) {
        const int definite = strstr(list.text[e], "sigmoid") == NULL, white = strstr(list.text[e], "white") != NULL;
        gram_function *f = make(context, list.text[e], N, centres, OUTPUTS, a);
        gram_function *g = make(context, list.text[e], M, places, OUTPUTS, b), *sum = NULL;
        double fg[2], gf[2], ff[2], gg[2], norm_f[2], norm_g[2], far[2], near[2], k[N * M];
        OK(context, gram_matrix(context, gram_function_kernel(f), x, z, k, M));
        OK(context, gram_function_inner(context, f, g, fg));
        OK(context, gram_function_inner(context, g, f, gf));
        OK(context, gram_function_inner(context, f, f, ff));
        OK(context, gram_function_inner(context, g, g, gg));
        OK(context, gram_function_norm(context, f, norm_f));
        OK(context, gram_function_norm(context, g, norm_g));
        OK(context, gram_function_distance(context, f, g, near));
        OK(context, gram_function_combine(context, 1, f, 1, g, &sum));
        OK(context, gram_function_norm(context, sum, far));
        for (int o = 0; o < OUTPUTS; o++) {
            double slow = 0, size = 0;
            for (int i = 0; i < N; i++)
                for (int j = 0; j < M; j++) {
                    const double term = a[i * OUTPUTS + o] * k[i * M + j] * b[j * OUTPUTS + o];
                    slow += term;
                    size += fabs(term);
                }
            const double tolerance = 64 * DBL_EPSILON * size;
            if (!white && !(fabs(fg[o] - slow) <= tolerance)) FAIL_TEST("%s: <f,g>", list.text[e]);
            if (!(fabs(fg[o] - gf[o]) <= tolerance)) FAIL_TEST("%s: not symmetric", list.text[e]);
            if (!definite) continue;
            const double whole = ff[o] + gg[o], loss = 256 * DBL_EPSILON * (size + 1) * N;
            if (!(fabs(norm_f[o] * norm_f[o] - ff[o]) <= loss)) FAIL_TEST("%s: norm", list.text[e]);
            if (!(fabs(near[o] * near[o] - (whole - 2 * fg[o])) <= loss)) FAIL_TEST("%s: distance", list.text[e]);
            if (!(fabs(far[o] * far[o] - (whole + 2 * fg[o])) <= loss)) FAIL_TEST("%s: sum", list.text[e]);
            if (!(fabs(fg[o]) <= norm_f[o] * norm_g[o] + loss)) FAIL_TEST("%s: Cauchy-Schwarz", list.text[e]);
        }
        gram_function_release(sum);
        gram_function_release(g);
        gram_function_release(f);
    }
    test_expressions_free(&list);
    gram_points_release(z);
    gram_points_release(x);
    gram_context_destroy(context);
}

/* <f, k(x, .)> = f(x) - b, and |f(x)| <= |f| sqrt(k(x, x)) */
static void reproducing(void **state)
{
    (void)state;
    const char *const kernels[] = {"rbf(ell=0.5)", "matern(nu=1.5, ell=[0.4,2])", "poly(m=2, c=1)", "min()"};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_points *x = test_points(context, M, D, places);
    for (size_t e = 0; e < sizeof kernels / sizeof *kernels; e++) {
        gram_function *f = make(context, kernels[e], N, centres, 1, a);
        double values[M], norm, diagonal[M], one = 1;
        OK(context, gram_function_evaluate(context, f, x, values, 1));
        OK(context, gram_function_norm(context, f, &norm));
        OK(context, gram_matrix_diagonal(context, gram_function_kernel(f), x, diagonal));
        for (int i = 0; i < M; i++) {
            gram_function *at = make(context, kernels[e], 1, places + i * D, 1, &one);
            double inner;
            OK(context, gram_function_inner(context, f, at, &inner));
            assert_true(fabs(inner - (values[i] - constant[0])) <= 1e-13 * (1 + fabs(inner)));
            assert_true(fabs(inner) <= norm * sqrt(diagonal[i]) * (1 + 1e-12));
            gram_function_release(at);
        }
        gram_function_release(f);
    }
    gram_points_release(x);
    gram_context_destroy(context);
}

/* (s f + t g)(x) = s f(x) + t g(x), constants included; common centres are there once */
static void linear(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_points *x = test_points(context, M, D, places);
    gram_function *f = make(context, "rbf(ell=0.5)", N, centres, OUTPUTS, a), *sum = NULL, *scaled = NULL;
    gram_function *g = make(context, "rbf(ell=0.5)", M, places, OUTPUTS, b);
    double u[M * OUTPUTS], v[M * OUTPUTS], w[M * OUTPUTS];
    OK(context, gram_function_combine(context, 2, f, -0.5, g, &sum));
    OK(context, gram_function_combine(context, -3, f, NAN, NULL, &scaled));
    assert_int_equal(count_of(sum), N + M - 3);
    assert_memory_equal(gram_function_centres_f64(sum), centres, sizeof centres);
    OK(context, gram_function_evaluate(context, f, x, u, OUTPUTS));
    OK(context, gram_function_evaluate(context, g, x, v, OUTPUTS));
    OK(context, gram_function_evaluate(context, sum, x, w, OUTPUTS));
    for (int i = 0; i < M * OUTPUTS; i++) assert_true(fabs(w[i] - (2 * u[i] - 0.5 * v[i])) <= 1e-13);
    OK(context, gram_function_evaluate(context, scaled, x, w, OUTPUTS));
    for (int i = 0; i < M * OUTPUTS; i++) assert_true(fabs(w[i] + 3 * u[i]) <= 1e-13);
    gram_function_release(sum);
    gram_function_release(scaled);
    gram_function_release(f);
    gram_function_release(g);
    gram_points_release(x);
    gram_context_destroy(context);
}

/* |f - f| is 0, not the root of rounding errors; and so is that of functions that differ by one part in 10^12 small */
static void no_cancellation(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double changed[N * OUTPUTS], out[OUTPUTS], shift = 1e-12;
    memcpy(changed, a, sizeof changed);
    changed[7 * OUTPUTS] += shift;
    shift = changed[7 * OUTPUTS] - a[7 * OUTPUTS];
    gram_function *f = make(context, "rbf(ell=0.5)", N, centres, OUTPUTS, a);
    gram_function *g = make(context, "rbf(ell=0.5)", N, centres, OUTPUTS, changed);
    OK(context, gram_function_distance(context, f, f, out));
    assert_true(out[0] == 0 && out[1] == 0);
    OK(context, gram_function_distance(context, f, g, out));
    assert_true(fabs(out[0] - shift) <= 1e-15 * shift && out[1] == 0);
    gram_function_release(g);
    gram_function_release(f);
    gram_context_destroy(context);
}

/* Near-singular Gram matrices push a'Ka below 0; huge and tiny coefficients past the range of their squares. */
static void hard_norms(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double x[2 * D] = {0.5, 0.5, 0.5 + 1e-9, 0.5}, pair[2] = {1e8, -1e8}, huge[2] = {1e200, 1e200}, out;
    double tiny[2] = {1e-200, 1e-200}, minus[1] = {1}, nothing[2] = {0, 0}, origin[D] = {0, 0};
    gram_function *f = make(context, "rbf(ell=1)", 2, x, 1, pair);
    OK(context, gram_function_norm(context, f, &out));
    assert_true(out >= 0 && out < 10);
    gram_function_release(f);
    f = make(context, "rbf(ell=1)", 2, x, 1, huge);
    OK(context, gram_function_norm(context, f, &out));
    assert_true(fabs(out / 2e200 - 1) < 1e-14);
    gram_function_release(f);
    f = make(context, "rbf(ell=1)", 2, x, 1, tiny);
    OK(context, gram_function_norm(context, f, &out));
    assert_true(fabs(out / 2e-200 - 1) < 1e-14);
    gram_function_release(f);
    f = make(context, "rbf(ell=1)", 2, x, 1, nothing);
    OK(context, gram_function_norm(context, f, &out));
    assert_true(out == 0 && !signbit(out));
    gram_function_release(f);
    f = make(context, "sigmoid(a=1, c=-1)", 1, origin, 1, minus); /* k(x, x) = tanh(-1): not positive definite */
    OK(context, gram_function_norm(context, f, &out));
    assert_true(out == 0);
    gram_function_release(f);
    gram_context_destroy(context);
}

/* Four times the same places, coefficients a quarter: the same function of a quarter of the centres. */
static void duplicates(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    double x[4 * N * D], quarter[4 * N], distance, first[2], second[2];
    for (int r = 0; r < 4; r++) {
        memcpy(x + r * N * D, centres, sizeof centres);
        for (int i = 0; i < N; i++) quarter[r * N + i] = a[i] / 4;
    }
    gram_function *f = make(context, "rbf(ell=0.5)", 4 * N, x, 1, quarter), *pruned = NULL;
    gram_function *g = make(context, "rbf(ell=0.5)", N, centres, 1, a);
    OK(context, gram_function_prune(context, f, 0, &pruned));
    assert_int_equal(count_of(pruned), N);
    assert_memory_equal(gram_function_coefficients(pruned), a, N * sizeof(double));
    OK(context, gram_function_distance(context, f, g, &distance));
    assert_true(distance == 0);
    OK(context, gram_function_norm(context, f, first));
    OK(context, gram_function_norm(context, g, second));
    assert_true(fabs(first[0] - second[0]) <= 1e-14 * second[0]);
    gram_function_release(pruned);
    gram_function_release(g);
    gram_function_release(f);
    gram_context_destroy(context);
}

/* With white() the centres are observations: |f|^2 = a'Ka with ones added to the diagonal, also for <f, f> of a twin. */
static void white_is_equality(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_function *f = make(context, "rbf(ell=0.5) + 0.25*white()", N, centres, 1, a);
    gram_function *twin = make(context, "rbf(ell=0.5) + 0.25*white()", N, centres, 1, a);
    gram_function *plain = make(context, "rbf(ell=0.5)", N, centres, 1, a);
    double norm, other, inner, distance, squares = 0;
    for (int i = 0; i < N; i++) squares += a[i] * a[i] / 4;
    OK(context, gram_function_norm(context, f, &norm));
    OK(context, gram_function_norm(context, plain, &other));
    OK(context, gram_function_inner(context, f, twin, &inner));
    OK(context, gram_function_distance(context, f, twin, &distance));
    assert_true(fabs(norm * norm - other * other - squares) <= 1e-12);
    assert_true(fabs(inner - norm * norm) <= 1e-12);
    assert_true(distance == 0);
    gram_function_release(f);
    gram_function_release(twin);
    gram_function_release(plain);
    gram_context_destroy(context);
}

/* |f - prune(f)| <= tolerance, fewer centres for larger tolerances, never none */
static void pruning(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    const char *const kernels[] = {"rbf(ell=0.5)", "poly(m=2, c=1)", "0.5*white() + matern(nu=1.5, ell=1)"};
    double mixed[N * OUTPUTS];
    for (int i = 0; i < N * OUTPUTS; i++) mixed[i] = a[i] * pow(10, -i % 7);
    mixed[6] = mixed[7] = 0; /* one centre without effect */
    for (size_t e = 0; e < sizeof kernels / sizeof *kernels; e++) {
        gram_function *f = make(context, kernels[e], N, centres, OUTPUTS, mixed), *out = NULL;
        int64_t before = N;
        OK(context, gram_function_prune(context, f, 0, &out));
        assert_int_equal(count_of(out), N - 1);
        gram_function_release(out);
        for (double tolerance = 1e-6; tolerance < 1e4; tolerance *= 3) {
            double distance[OUTPUTS];
            OK(context, gram_function_prune(context, f, tolerance, &out));
            OK(context, gram_function_distance(context, f, out, distance));
            assert_true(distance[0] <= tolerance && distance[1] <= tolerance);
            assert_true(count_of(out) <= before && count_of(out) >= 1);
            assert_memory_equal(gram_function_constant(out), constant, sizeof constant);
            before = count_of(out);
            gram_function_release(out);
        }
        assert_int_equal(before, 1);
        gram_function_release(f);
    }
    gram_context_destroy(context);
}

/* |f(x) - f(y)| <= |f| d_k(x, y), with equality for f = k_x - k_y up to its own norm */
static void variation(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_points *x = test_points(context, M, D, places);
    const char *const kernels[] = {"rbf(ell=0.5)", "laplace(ell=2)", "linear(c=1)"};
    for (size_t e = 0; e < sizeof kernels / sizeof *kernels; e++) {
        gram_function *f = make(context, kernels[e], N, centres, OUTPUTS, a);
        double values[M * OUTPUTS], bound[OUTPUTS], pair[2] = {1, -1}, at_pair[2];
        OK(context, gram_function_evaluate(context, f, x, values, OUTPUTS));
        for (int i = 0; i < M; i++)
            for (int j = 0; j < M; j++) {
                OK(context, gram_function_variation_bound(context, f, x, i, j, bound));
                for (int o = 0; o < OUTPUTS; o++)
                    assert_true(fabs(values[i * OUTPUTS + o] - values[j * OUTPUTS + o]) <=
                                bound[o] * (1 + 1e-12) + 1e-13);
                assert_true(i != j || bound[0] == 0);
            }
        gram_function_release(f);
        f = make(context, kernels[e], 2, places, 1, pair);
        gram_points *two = test_points(context, 2, D, places);
        OK(context, gram_function_variation_bound(context, f, two, 0, 1, bound));
        OK(context, gram_function_evaluate(context, f, two, at_pair, 1));
        assert_true(fabs(at_pair[0] - at_pair[1] - bound[0]) <= 1e-12 * bound[0]);
        gram_points_release(two);
        gram_function_release(f);
    }
    gram_points_release(x);
    gram_context_destroy(context);
}

/* f32 and f64 centres meet in f64; two of f32 stay f32 */
static void mixed_types(void **state)
{
    (void)state;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.5)");
    float narrow[N * D];
    for (int i = 0; i < N * D; i++) narrow[i] = (float)centres[i];
    gram_points *points;
    gram_function *f, *g = make(context, "rbf(ell=0.5)", M, places, 1, b), *sum, *twice;
    double u[M], v[M], w[M], distance;
    OK(context, gram_points_create_f32(context, N, D, narrow, D, &points));
    OK(context, gram_function_create(context, kernel, points, 1, a, 1, NULL, &f));
    OK(context, gram_function_combine(context, 1, f, 1, g, &sum));
    OK(context, gram_function_combine(context, 1, f, 1, f, &twice));
    assert_non_null(gram_function_centres_f64(sum));
    assert_non_null(gram_function_centres_f32(twice));
    assert_int_equal(count_of(twice), N);
    gram_points *x = test_points(context, M, D, places);
    OK(context, gram_function_evaluate(context, f, x, u, 1));
    OK(context, gram_function_evaluate(context, g, x, v, 1));
    OK(context, gram_function_evaluate(context, sum, x, w, 1));
    for (int i = 0; i < M; i++) assert_true(fabs(w[i] - u[i] - v[i]) <= 1e-13);
    OK(context, gram_function_distance(context, f, f, &distance));
    assert_true(distance == 0);
    gram_points_release(x);
    gram_function_release(twice);
    gram_function_release(sum);
    gram_function_release(f);
    gram_function_release(g);
    gram_points_release(points);
    gram_kernel_release(kernel);
    gram_context_destroy(context);
}

static void bad_arguments(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    gram_function *f = make(c, "rbf(ell=0.5)", N, centres, OUTPUTS, a), *out = NULL;
    gram_function *other = make(c, "rbf(ell=0.6)", N, centres, OUTPUTS, a);
    gram_function *single = make(c, "rbf(ell=0.5)", N, centres, 1, a);
    gram_points *x = test_points(c, M, D, places), *flat = test_points(c, M, 1, places);
    double values[OUTPUTS];
    REFUSED(c, gram_function_inner(c, f, other, values), GRAM_ERROR_ARGUMENT, "kernels differ");
    REFUSED(c, gram_function_inner(c, f, single, values), GRAM_ERROR_ARGUMENT, "outputs differ");
    REFUSED(c, gram_function_inner(c, NULL, f, values), GRAM_ERROR_ARGUMENT, "f is NULL");
    REFUSED(c, gram_function_inner(c, f, NULL, values), GRAM_ERROR_ARGUMENT, "g is NULL");
    REFUSED(c, gram_function_distance(c, f, other, values), GRAM_ERROR_ARGUMENT, "kernels differ");
    REFUSED(c, gram_function_distance(c, f, f, NULL), GRAM_ERROR_ARGUMENT, "out is NULL");
    REFUSED(c, gram_function_norm(c, NULL, values), GRAM_ERROR_ARGUMENT, "f is NULL");
    REFUSED(c, gram_function_combine(c, NAN, f, 1, NULL, &out), GRAM_ERROR_ARGUMENT, "s is nan");
    REFUSED(c, gram_function_combine(c, 1, f, INFINITY, f, &out), GRAM_ERROR_ARGUMENT, "t is inf");
    REFUSED(c, gram_function_combine(c, 1, f, 1, other, &out), GRAM_ERROR_ARGUMENT, "kernels differ");
    REFUSED(c, gram_function_combine(c, 1, NULL, 1, f, &out), GRAM_ERROR_ARGUMENT, "f is NULL");
    REFUSED(c, gram_function_combine(c, 1e308, f, 1e308, f, &out), GRAM_ERROR_NUMERICAL, "inf");
    REFUSED(c, gram_function_prune(c, f, -1, &out), GRAM_ERROR_ARGUMENT, "tolerance = -1");
    REFUSED(c, gram_function_prune(c, f, NAN, &out), GRAM_ERROR_ARGUMENT, "tolerance = nan");
    REFUSED(c, gram_function_variation_bound(c, f, x, 0, M, values), GRAM_ERROR_ARGUMENT, "j = 20");
    REFUSED(c, gram_function_variation_bound(c, f, flat, 0, 1, values), GRAM_ERROR_DIMENSION, "x has 1");
    assert_null(out);
    gram_points_release(flat);
    gram_points_release(x);
    gram_function_release(single);
    gram_function_release(other);
    gram_function_release(f);
    gram_context_destroy(c);
}

/* ---- memory ---- */

static gram_status play(gram_context *c)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL;
    gram_points *x = NULL, *z = NULL;
    gram_function *f = NULL, *g = NULL, *sum = NULL, *few = NULL;
    double out[N * D * OUTPUTS];
    STEP(gram_kernel_parse(c, "rbf(ell=0.5) + white()", &kernel));
    STEP(gram_points_create_f64(c, N, D, centres, D, &x));
    STEP(gram_points_create_f64(c, M, D, places, D, &z));
    STEP(gram_function_create(c, kernel, x, OUTPUTS, a, OUTPUTS, constant, &f));
    STEP(gram_function_create(c, kernel, z, OUTPUTS, b, OUTPUTS, NULL, &g));
    STEP(gram_function_evaluate(c, f, z, out, OUTPUTS));
    STEP(gram_function_gradient(c, f, 1, z, out, D));
    STEP(gram_function_inner(c, f, g, out));
    STEP(gram_function_norm(c, f, out));
    STEP(gram_function_distance(c, f, g, out));
    STEP(gram_function_combine(c, 1, f, 2, g, &sum));
    STEP(gram_function_prune(c, sum, 0.5, &few));
    STEP(gram_function_variation_bound(c, f, z, 0, 1, out));
done:
    gram_function_release(few);
    gram_function_release(sum);
    gram_function_release(g);
    gram_function_release(f);
    gram_points_release(z);
    gram_points_release(x);
    gram_kernel_release(kernel);
    return status;
}

static void memory(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 50);
    (void)oom_each(play, 1);
    print_message("the play needs at most %zu bytes\n", oom_budget(play));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identities),        cmocka_unit_test(reproducing),   cmocka_unit_test(linear),
        cmocka_unit_test(no_cancellation),   cmocka_unit_test(hard_norms),    cmocka_unit_test(duplicates),
        cmocka_unit_test(white_is_equality), cmocka_unit_test(pruning),       cmocka_unit_test(variation),
        cmocka_unit_test(mixed_types),       cmocka_unit_test(bad_arguments), cmocka_unit_test(memory)};
    return cmocka_run_group_tests(tests, set_up, NULL);
}

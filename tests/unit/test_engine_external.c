/* Kernels that exist in C only, in the engine: callback, precomputed, scale, centre; and how they pass derivatives on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { N = 130, M = 70, D = 3 };

typedef struct fixture {
    gram_context *context;
    double *x_data, *y_data;
    gram_points *x, *y;
} fixture;

static fixture make(void)
{
    fixture f = {.context = test_context(2, GRAM_ISA_AUTO)};
    f.x_data = test_random(1, N * D, 0.1, 1.5);
    f.y_data = test_random(2, M * D, 0.1, 1.5);
    f.x = test_points(f.context, N, D, f.x_data);
    f.y = test_points(f.context, M, D, f.y_data);
    return f;
}

static void drop(fixture *f)
{
    gram_points_release(f->x);
    gram_points_release(f->y);
    free(f->x_data);
    free(f->y_data);
    gram_context_destroy(f->context);
}

static double *matrix(const fixture *f, const gram_kernel *kernel, const gram_points *x, const gram_points *y,
                      int64_t columns)
{
    double *k = test_numbers(gram_points_count(x) * columns);
    OK(f->context, gram_matrix(f->context, kernel, x, y, k, columns));
    return k;
}

/* exp(-|x - y|^2 / 2), as rbf(ell=1) */
static void gaussian(void *user, int64_t d, int64_t rows, const double *x, int64_t ldx, int64_t columns,
                     const double *y, int64_t ldy, double *out, int64_t ldo)
{
    (void)user;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            double sum = 0;
            for (int64_t l = 0; l < d; l++) sum += pow(x[l * ldx + i] - y[l * ldy + j], 2);
            out[i * ldo + j] = exp(-sum / 2);
        }
}

static double factor(void *user, int64_t d, const double *x)
{
    double sum = *(const double *)user;
    for (int64_t l = 0; l < d; l++) sum += x[l] * x[l];
    return sum;
}

static void callback(void **state)
{
    (void)state;
    fixture f = make();
    gram_kernel *own = NULL, *half = NULL, *sum = NULL, *rbf = test_kernel(f.context, "rbf(ell=1)"), *want;
    OK(f.context, gram_kernel_callback(f.context, "own", gaussian, NULL, NULL, &own));
    want = test_kernel(f.context, "rbf(ell=1) + 0.5*matern(nu=1.5, ell=1)");
    half = test_kernel(f.context, "0.5*matern(nu=1.5, ell=1)");
    OK(f.context, gram_kernel_sum(f.context, own, half, &sum));
    double *a = matrix(&f, sum, f.x, NULL, N), *b = matrix(&f, want, f.x, NULL, N);
    assert_true(test_distance(N, N, a, N, b, N) <= 1e-14);
    double *c = matrix(&f, own, f.x, f.y, M), *d = matrix(&f, rbf, f.x, f.y, M);
    assert_true(test_distance(N, M, c, M, d, M) <= 1e-14);
    const gram_weights weights = {.dense = a, .ld = N};
    double gradient[N * D];
    assert_int_equal(gram_matrix_input_gradient(f.context, own, f.x, NULL, &weights, gradient, D),
                     GRAM_ERROR_UNSUPPORTED);
    free(a), free(b), free(c), free(d);
    gram_kernel_release(own), gram_kernel_release(half), gram_kernel_release(sum), gram_kernel_release(rbf);
    gram_kernel_release(want);
    drop(&f);
}

static void precomputed(void **state)
{
    (void)state;
    fixture f = make();
    gram_kernel *rbf = test_kernel(f.context, "rbf(ell=0.7)"), *given = NULL;
    double *k = matrix(&f, rbf, f.x, NULL, N);
    OK(f.context, gram_kernel_precomputed(f.context, "k", N, k, N, &given));
    double *again = matrix(&f, given, f.x, NULL, N), *columns = test_numbers(N * 3);
    assert_true(test_same_bits(N, N, k, N, again, N));
    const int64_t index[3] = {5, 129, 0};
    OK(f.context, gram_matrix_columns(f.context, given, f.x, 3, index, columns, 3));
    for (int64_t i = 0; i < N; i++)
        for (int j = 0; j < 3; j++) assert_true(columns[i * 3 + j] == k[i * N + index[j]]);
    assert_int_equal(gram_matrix(f.context, given, f.x, f.y, again, M), GRAM_ERROR_DIMENSION);
    assert_int_equal(gram_matrix(f.context, given, f.y, NULL, again, M), GRAM_ERROR_DIMENSION);
    free(k), free(again), free(columns);
    gram_kernel_release(rbf), gram_kernel_release(given);
    drop(&f);
}

static void scaled(void **state)
{
    (void)state;
    fixture f = make();
    double offset = 0.3;
    gram_kernel *rbf = test_kernel(f.context, "rbf(ell=0.7)"), *k = NULL;
    OK(f.context, gram_kernel_scale(f.context, "f", factor, &offset, NULL, rbf, &k));
    double *plain = matrix(&f, rbf, f.x, f.y, M), *got = matrix(&f, k, f.x, f.y, M);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < M; j++) {
            const double want =
                plain[i * M + j] * factor(&offset, D, f.x_data + i * D) * factor(&offset, D, f.y_data + j * D);
            assert_true(fabs(got[i * M + j] - want) <= 1e-14 * want);
        }
    double *symmetric = matrix(&f, k, f.x, NULL, N);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < i; j++) assert_true(symmetric[i * N + j] == symmetric[j * N + i]);
    free(plain), free(got), free(symmetric);
    gram_kernel_release(rbf), gram_kernel_release(k);
    drop(&f);
}

/* The mean of the rows of a centred K over its sample is 0, and it is what the definition says. */
static void centred(void **state)
{
    (void)state;
    fixture f = make();
    gram_kernel *inner = test_kernel(f.context, "rbf(ell=0.7) + 0.2*poly(m=2, c=1)"), *k = NULL;
    OK(f.context, gram_kernel_centre(f.context, f.y, inner, &k));
    double *xz = matrix(&f, inner, f.x, f.y, M), *zz = matrix(&f, inner, f.y, NULL, M);
    double *xx = matrix(&f, inner, f.x, NULL, N), *got = matrix(&f, k, f.x, NULL, N);
    double mean[N] = {0}, total = 0;
    for (int64_t i = 0; i < N; i++)
        for (int64_t a = 0; a < M; a++) mean[i] += xz[i * M + a] / M;
    for (int64_t a = 0; a < M * M; a++) total += zz[a] / (M * M);
    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < N; j++)
            assert_true(fabs(got[i * N + j] - (xx[i * N + j] - mean[i] - mean[j] + total)) <= 1e-13);
    double *own = matrix(&f, k, f.y, NULL, M);
    for (int64_t i = 0; i < M; i++) {
        double sum = 0;
        for (int64_t j = 0; j < M; j++) sum += own[i * M + j];
        assert_true(fabs(sum) <= 1e-11);
    }
    free(xz), free(zz), free(xx), free(got), free(own);
    gram_kernel_release(inner), gram_kernel_release(k);
    drop(&f);
}

/* sum W k as a function of the parameters of a tree with centre and normalize, and of scale */
static double weighted(const fixture *f, gram_kernel *inner, const gram_points *y, const double *w, int64_t columns,
                       int scale)
{
    static double one = 1;
    gram_kernel *outer = NULL, *normal = NULL;
    OK(f->context, gram_kernel_normalize(f->context, inner, &normal));
    if (scale)
        OK(f->context, gram_kernel_scale(f->context, "f", factor, &one, NULL, normal, &outer));
    else
        OK(f->context, gram_kernel_centre(f->context, f->y, normal, &outer));
    double *k = matrix(f, outer, f->x, y, columns), sum = 0;
    for (int64_t i = 0; i < N * columns; i++) sum += w[i] * k[i];
    free(k);
    gram_kernel_release(outer), gram_kernel_release(normal);
    return sum;
}

static void check_gradient(const fixture *f, const gram_points *y, int64_t columns, int scale)
{
    static double one = 1;
    gram_kernel *inner = test_kernel(f->context, "1.3*rbf(ell=[0.7,0.9,1.4]) + 0.4*poly(m=2, c=0.6)");
    gram_kernel *outer = NULL, *normal = NULL;
    const int64_t count = gram_kernel_parameter_count(inner);
    double *w = test_random(7, N * columns, -1, 1), values[16], gradient[16];
    OK(f->context, gram_kernel_normalize(f->context, inner, &normal));
    if (scale)
        OK(f->context, gram_kernel_scale(f->context, "f", factor, &one, NULL, normal, &outer));
    else
        OK(f->context, gram_kernel_centre(f->context, f->y, normal, &outer));
    const gram_weights weights = {.dense = w, .ld = columns};
    OK(f->context, gram_matrix_parameter_gradient(f->context, outer, f->x, y, &weights, gradient));
    for (int64_t p = 0; p < count; p++) {
        gram_parameter parameter;
        OK(f->context, gram_kernel_parameter_get(f->context, inner, p, &parameter));
        values[p] = parameter.value;
    }
    for (int64_t p = 0; p < count; p++) {
        static const double WEIGHT[] = {0.75, -0.15, 1.0 / 60}; /* sixth order */
        const double h = 2e-3 * values[p], middle = values[p];
        double want = 0;
        for (int q = -3; q <= 3; q++) {
            gram_kernel *moved = NULL;
            if (q == 0) continue;
            values[p] = middle + q * h;
            OK(f->context, gram_kernel_with_values(f->context, inner, values, &moved));
            want += (q > 0 ? 1 : -1) * WEIGHT[abs(q) - 1] / h * weighted(f, moved, y, w, columns, scale);
            gram_kernel_release(moved);
        }
        values[p] = middle;
        if (!(fabs(gradient[p] - want) <= 1e-7 * (1 + fabs(want))))
            FAIL_TEST("%s%s, parameter %lld: %.12g, differences %.12g", scale ? "scale" : "centre", y ? ", cross" : "",
                      (long long)p, gradient[p], want);
    }
    free(w);
    gram_kernel_release(outer), gram_kernel_release(normal), gram_kernel_release(inner);
}

static void gradients(void **state)
{
    (void)state;
    fixture f = make();
    for (int scale = 0; scale < 2; scale++) {
        check_gradient(&f, NULL, N, scale);
        check_gradient(&f, f.y, M, scale);
    }
    drop(&f);
}

/* d/dx_i of sum_j W_ij k(x_i, y_j), by moving one coordinate of all rows */
static void input_gradient(void **state)
{
    (void)state;
    fixture f = make();
    gram_kernel *inner = test_kernel(f.context, "normalize(rbf(ell=0.9) + 0.3*poly(m=2, c=1))"), *k = NULL;
    OK(f.context, gram_kernel_centre(f.context, f.y, inner, &k));
    double *w = test_random(9, N * M, -1, 1), *gradient = test_numbers(N * D), *moved = test_numbers(N * D);
    const gram_weights weights = {.dense = w, .ld = M};
    OK(f.context, gram_matrix_input_gradient(f.context, k, f.x, f.y, &weights, gradient, D));
    for (int64_t l = 0; l < D; l++) {
        const double h = 1e-4;
        double *want = test_numbers(N);
        for (int q = -1; q <= 1; q += 2) {
            memcpy(moved, f.x_data, N * D * sizeof(double));
            for (int64_t i = 0; i < N; i++) moved[i * D + l] += q * h;
            gram_points *x = test_points(f.context, N, D, moved);
            double *values = matrix(&f, k, x, f.y, M);
            for (int64_t i = 0; i < N * M; i++) want[i / M] += q * w[i] * values[i] / (2 * h);
            free(values);
            gram_points_release(x);
        }
        for (int64_t i = 0; i < N; i++) assert_true(fabs(gradient[i * D + l] - want[i]) <= 1e-6);
        free(want);
    }
    free(w), free(gradient), free(moved);
    gram_kernel_release(inner), gram_kernel_release(k);
    drop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callback), cmocka_unit_test(precomputed), cmocka_unit_test(scaled),
        cmocka_unit_test(centred),  cmocka_unit_test(gradients),   cmocka_unit_test(input_gradient),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

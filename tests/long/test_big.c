/* Large n: what the small tests cannot show. The Gram matrix and the packed operator stay within their memory, the
 * matrix-free product is right at a sample of rows and has the same bits for one and two threads. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "unit/support.h"

/* exp(-|x - y|^2/2) of stored points, in long double */
static long double gauss(int64_t d, const double *x, const double *y)
{
    long double sum = 0;
    for (int64_t l = 0; l < d; l++) sum += ((long double)x[l] - y[l]) * ((long double)x[l] - y[l]);
    return expl(-sum / 2);
}

static void whole_matrix(void **state)
{
    (void)state;
    const int64_t n = 10000, d = 20;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *data = test_random(1, n * d, 0, 1), *k = test_numbers(n * n);
    gram_points *x = test_points(context, n, d, data);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    OK(context, gram_matrix(context, kernel, x, NULL, k, n));
    assert_true((double)gram_context_memory_peak(context) <= 0.05 * (double)(n * n) * sizeof *k);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < i; j++)
            if (memcmp(&k[i * n + j], &k[j * n + i], sizeof *k) != 0) FAIL_TEST("K differs from its transpose");
    for (int64_t sample = 0; sample < 20000; sample++) {
        const int64_t i = sample * 7919 % n, j = sample * 104729 % n;
        const long double want = gauss(d, data + i * d, data + j * d);
        /* s k'/k = s/2 = -log k */
        const double allowed = 4e-15 * (double)((1 - logl(want)) * want);
        if (!(fabsl(k[i * n + j] - want) <= allowed)) FAIL_TEST("k(%lld, %lld) is off", (long long)i, (long long)j);
    }
    gram_kernel_release(kernel);
    gram_points_release(x);
    free(k);
    free(data);
    gram_context_destroy(context);
}

static void packed_operator(void **state)
{
    (void)state;
    const int64_t n = 12000, d = 5;
    gram_context *context = test_context(2, GRAM_ISA_AUTO);
    double *data = test_random(2, n * d, 0, 2), *v = test_random(3, n * 3, -1, 1), *packed_out = test_numbers(n * 3);
    double *free_out = test_numbers(n * 3);
    gram_points *x = test_points(context, n, d, data);
    gram_kernel *kernel = test_kernel(context, "matern(nu=2.5, ell=1) + 0.1*white()");
    gram_operator *packed = NULL, *lazy = NULL;
    OK(context, gram_operator_create_packed(context, kernel, x, &packed));
    assert_true((double)gram_context_memory_peak(context) <= 0.55 * (double)(n * n) * sizeof(double));
    OK(context, gram_operator_create_free(context, kernel, x, &lazy));
    OK(context, gram_operator_apply(context, packed, 3, v, 3, packed_out, 3));
    OK(context, gram_operator_apply(context, lazy, 3, v, 3, free_out, 3));
    assert_true(test_distance(n, 3, packed_out, 3, free_out, 3) <= 1e-13 * (double)n);
    gram_operator_release(packed);
    gram_operator_release(lazy);
    gram_kernel_release(kernel);
    gram_points_release(x);
    free(free_out), free(packed_out), free(v), free(data);
    gram_context_destroy(context);
}

static void check_product(int64_t n, int64_t d)
{
    const int64_t columns = 2;
    gram_context *one = test_context(1, GRAM_ISA_AUTO), *two = test_context(2, GRAM_ISA_AUTO);
    const double side = d > 50 ? 0.5 : 2;
    double *data = test_random(4, n * d, 0, side), *v = test_random(5, n * columns, -1, 1);
    double *first = test_numbers(n * columns), *second = test_numbers(n * columns);
    gram_points *x = test_points(one, n, d, data);
    gram_kernel *kernel = test_kernel(one, "rbf(ell=1)");
    OK(one, gram_matrix_product(one, kernel, x, NULL, columns, v, columns, first, columns));
    OK(two, gram_matrix_product(two, kernel, x, NULL, columns, v, columns, second, columns));
    assert_true(test_same_bits(n, columns, first, columns, second, columns));
    for (int64_t sample = 0; sample < 60; sample++) {
        const int64_t i = sample * 7919 % n;
        long double want[2] = {0}, size[2] = {0};
        for (int64_t j = 0; j < n; j++) {
            const long double k = gauss(d, data + i * d, data + j * d);
            for (int64_t c = 0; c < columns; c++) {
                want[c] += k * v[j * columns + c];
                size[c] += k * fabsl(v[j * columns + c]);
            }
        }
        for (int64_t c = 0; c < columns; c++)
            if (!(fabsl(first[i * columns + c] - want[c]) <= 1e-13L * size[c]))
                FAIL_TEST("n = %lld, d = %lld: row %lld of the product is off by %Lg of its terms' size", (long long)n,
                          (long long)d, (long long)i, fabsl(first[i * columns + c] - want[c]) / size[c]);
    }
    gram_kernel_release(kernel);
    gram_points_release(x);
    free(second), free(first), free(v), free(data);
    gram_context_destroy(two);
    gram_context_destroy(one);
}

static void products(void **state)
{
    (void)state;
    check_product(50000, 10);
    check_product(20000, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_matrix), cmocka_unit_test(packed_operator),
                                       cmocka_unit_test(products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

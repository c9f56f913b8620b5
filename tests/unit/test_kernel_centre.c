/* centre(a) in the kernel language: its sample comes with the rows, stays through everything that is made of the kernel, and is in the model. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "support.h"

enum { N = 23, M = 9, D = 2 };

/* The definition, by loops over the plain kernel's entries. */
static void check_definition(gram_context *c, const char *text, const char *plain, const double *data,
                             const double *other)
{
    gram_points *z = test_points(c, N, D, data), *x = test_points(c, M, D, other);
    gram_kernel *written = test_kernel(c, text), *inner = test_kernel(c, plain), *k = NULL;
    OK(c, gram_kernel_resolve(c, written, z, &k));
    double *xz = test_matrix(c, inner, x, z), *zz = test_matrix(c, inner, z, NULL),
           *xx = test_matrix(c, inner, x, NULL);
    double *got = test_matrix(c, k, x, NULL), mean[M] = {0}, total = 0;
    for (int i = 0; i < M; i++)
        for (int a = 0; a < N; a++) mean[i] += xz[i * N + a] / N;
    for (int a = 0; a < N * N; a++) total += zz[a] / (N * N);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < M; j++)
            assert_true(fabs(got[i * M + j] - (xx[i * M + j] - mean[i] - mean[j] + total)) <= 1e-14);
    test_prints(k, text);
    free(xz), free(zz), free(xx), free(got);
    gram_kernel_release(written), gram_kernel_release(inner), gram_kernel_release(k);
    gram_points_release(z), gram_points_release(x);
}

/* At the root, and where the node sees some columns or warped ones only. */
static void definition(void **state)
{
    gram_context *c = *state;
    double *data = test_random(1, N * D, -1, 1), *other = test_random(2, M * D, -1, 1);
    check_definition(c, "centre(rbf(ell=0.7))", "rbf(ell=0.7)", data, other);
    check_definition(c, "on(2, centre(rbf(ell=0.7)))", "on(2, rbf(ell=0.7))", data, other);
    check_definition(c, "warp([1,0.5], centre(matern(nu=1.5, ell=1)))", "warp([1,0.5], matern(nu=1.5, ell=1))", data,
                     other);
    check_definition(c, "centre(on(1, rbf(ell=0.7)) + poly(m=2, c=1))", "on(1, rbf(ell=0.7)) + poly(m=2, c=1)", data,
                     other);
    free(data), free(other);
}

/* Read, it has no sample; with one it keeps it, and another sample makes another kernel. */
static void samples(void **state)
{
    gram_context *c = *state;
    double *data = test_random(3, N * D, -1, 1), entries[N * N], three = 3;
    gram_points *z = test_points(c, N, D, data), *fewer = test_points(c, N - 1, D, data);
    gram_points *copy = test_points(c, N, D, data);
    gram_kernel *written = test_kernel(c, "centre(rbf)"), *first = NULL, *second = NULL, *third = NULL, *moved = NULL;
    OK(c, gram_kernel_resolve(c, written, z, &first));
    OK(c, gram_kernel_resolve(c, written, fewer, &second));
    OK(c, gram_kernel_resolve(c, written, copy, &third));
    assert_true(gram_kernel_equal(first, third));
    assert_false(gram_kernel_equal(first, second));
    OK(c, gram_kernel_with_values(c, first, &three, &moved));
    test_prints(moved, "centre(rbf(ell=3))");
    assert_ptr_equal(gram_kernel_sample(moved), gram_kernel_sample(first));
    gram_kernel *lone = test_kernel(c, "centre(rbf(ell=1))");
    REFUSED(c, gram_matrix(c, lone, z, NULL, entries, N), GRAM_ERROR_UNSET, "centre has no rows to centre about");
    gram_kernel *const all[] = {written, first, second, third, moved, lone};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) gram_kernel_release(all[i]);
    gram_points_release(z), gram_points_release(fewer), gram_points_release(copy);
    free(data);
}

/* Of many rows 2,000 are the sample, the same ones for the same seed. */
static void many_rows(void **state)
{
    enum { MANY = 2500 };
    gram_context *c = *state;
    double *data = test_random(4, MANY, -1, 1);
    gram_points *x = test_points(c, MANY, 1, data);
    gram_kernel *written = test_kernel(c, "centre(rbf(ell=1))"), *first = NULL, *again = NULL;
    OK(c, gram_kernel_resolve(c, written, x, &first));
    OK(c, gram_kernel_resolve(c, written, x, &again));
    assert_int_equal(gram_points_count(gram_kernel_sample(first)), 2000);
    assert_true(gram_kernel_equal(first, again));
    gram_kernel_release(written), gram_kernel_release(first), gram_kernel_release(again);
    gram_points_release(x);
    free(data);
}

/* A model has the sample, though its centres are others, and predicts the same bits. */
static void model(void **state)
{
    gram_context *c = *state;
    double *data = test_random(5, N * D, -1, 1), *at = test_random(6, M * D, -1, 1), *a = test_random(7, M, -1, 1);
    double before[N], after[N];
    gram_points *z = test_points(c, N, D, data), *x = test_points(c, M, D, at);
    gram_kernel *written = test_kernel(c, "centre(rbf(ell=1))"), *k = NULL;
    gram_function *f = NULL;
    gram_model *made = NULL, *read = NULL;
    char bytes[1 << 14];
    size_t length = 0;
    OK(c, gram_kernel_resolve(c, written, z, &k));
    OK(c, gram_function_create(c, k, x, 1, a, 1, NULL, &f));
    OK(c, gram_model_create(c, "krr", "regression", NULL, f, &made));
    OK(c, gram_model_write_memory(c, made, bytes, sizeof bytes, &length));
    OK(c, gram_model_read_memory(c, "bytes", bytes, length, &read));
    OK(c, gram_function_evaluate(c, f, z, before, 1));
    OK(c, gram_function_evaluate(c, gram_model_function(read), z, after, 1));
    assert_memory_equal(before, after, sizeof before);
    assert_true(gram_kernel_equal(k, gram_function_kernel(gram_model_function(read))));
    gram_model_destroy(made), gram_model_destroy(read);
    gram_function_release(f);
    gram_kernel_release(written), gram_kernel_release(k);
    gram_points_release(z), gram_points_release(x);
    free(data), free(at), free(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definition),
        cmocka_unit_test(samples),
        cmocka_unit_test(many_rows),
        cmocka_unit_test(model),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}

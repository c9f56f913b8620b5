/* Sparse rows against the same rows with their zeros written out: matrices, gradients, fits; and what cannot be. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "support.h"

enum { N = 211, M = 103, D = 700 };

/* Rows as both: CSR arrays and an n x D array. */
typedef struct rows {
    int64_t n;
    int64_t *start;
    int32_t *index;
    double *value, *dense;
    gram_points *sparse, *plain;
} rows;

/* Row 3 is empty, row 4 has every column, and row 6 is row 5 but for parts of 1e-9; the others have some 12 values. */
static void write_dense(rows *r, uint64_t seed)
{
    double *u = test_random(seed, 2 * r->n * D, 0, 1);
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t l = 0; l < D; l++) {
            const double chance = u[2 * (i * D + l)], size = u[2 * (i * D + l) + 1] - (i % 3 ? 0 : 0.5);
            double *at = &r->dense[i * D + l];
            if (i == 4) *at = 0.05 * size;
            if (i > 6 || i < 3 || i == 5) *at = chance < 12.0 / D ? size : 0;
            if (i == 6) *at = r->dense[5 * D + l] * (l % 2 ? 1 : 1 + 1e-9);
        }
    free(u);
}

static void make_rows(gram_context *context, uint64_t seed, int64_t n, rows *r)
{
    int64_t count = 0;
    *r = (rows){.n = n, .dense = test_numbers(n * D), .start = malloc((size_t)(n + 1) * sizeof(int64_t))};
    r->index = malloc((size_t)(n * D) * sizeof *r->index);
    r->value = test_numbers(n * D);
    write_dense(r, seed);
    for (int64_t i = 0; i < n; i++) {
        r->start[i] = count;
        for (int32_t l = 0; l < D; l++)
            if (r->dense[i * D + l] != 0) {
                r->index[count] = l;
                r->value[count++] = r->dense[i * D + l];
            }
    }
    r->start[n] = count;
    OK(context, gram_points_create_sparse(context, n, D, r->start, r->index, r->value, &r->sparse));
    r->plain = test_points(context, n, D, r->dense);
}

static void free_rows(rows *r)
{
    gram_points_release(r->sparse);
    gram_points_release(r->plain);
    free(r->start);
    free(r->index);
    free(r->value);
    free(r->dense);
}

static const char *const KERNELS[] = {"rbf(ell=1.3)",
                                      "laplace(ell=0.9)",
                                      "laplace1(ell=4)",
                                      "matern(nu=1.5, ell=2)",
                                      "matern(nu=0.8, ell=2)",
                                      "rq(alpha=0.7, ell=1)",
                                      "imq(c=1, beta=0.5)",
                                      "linear(c=0.5)",
                                      "poly(m=3, c=1)",
                                      "expdot(s=2)",
                                      "sigmoid(a=0.1, c=0.2)",
                                      "wendland(k=2, ell=9)",
                                      "2*rbf(ell=1) + 0.5*rbf(ell=3) + linear*matern(nu=2.5, ell=1) + 0.1*white()",
                                      "normalize(linear(c=0.1) + poly(m=2, c=1)) + exp(0.1*linear)",
                                      "centre(rbf(ell=2))"};
enum { KERNEL_COUNT = sizeof KERNELS / sizeof *KERNELS };

static gram_kernel *about(gram_context *context, const char *text, const gram_points *x)
{
    gram_kernel *written = test_kernel(context, text), *kernel = NULL;
    OK(context, gram_kernel_resolve(context, written, x, &kernel));
    gram_kernel_release(written);
    return kernel;
}

static void matrices_are_equal(void **state)
{
    gram_context *context = *state;
    rows x, y;
    make_rows(context, 1, N, &x);
    make_rows(context, 2, M, &y);
    for (int k = 0; k < KERNEL_COUNT; k++) {
        gram_kernel *sparse = about(context, KERNELS[k], x.sparse), *plain = about(context, KERNELS[k], x.plain);
        double *a = test_matrix(context, sparse, x.sparse, NULL), *b = test_matrix(context, plain, x.plain, NULL);
        double *c = test_matrix(context, sparse, x.sparse, y.sparse),
               *d = test_matrix(context, plain, x.plain, y.plain);
        test_near("K(X, X)", KERNELS[k], N * N, a, b, 1e-13);
        test_near("K(X, Y)", KERNELS[k], N * M, c, d, 1e-13);
        for (int64_t i = 0; i < N; i++)
            for (int64_t j = 0; j < i; j++) assert_true(a[i * N + j] == a[j * N + i]);
        free(a), free(b), free(c), free(d);
        gram_kernel_release(sparse);
        gram_kernel_release(plain);
    }
    free_rows(&x);
    free_rows(&y);
}

/* Rows 5 and 6 are near: their distance must not come from a subtraction. */
static void near_rows_keep_their_distance(void **state)
{
    gram_context *context = *state;
    rows x;
    make_rows(context, 1, N, &x);
    gram_kernel *kernel = test_kernel(context, "laplace(ell=1)");
    double *metric = test_numbers(N * N), apart = 0;
    OK(context, gram_matrix_distance(context, kernel, x.sparse, NULL, metric, N));
    for (int64_t l = 0; l < D; l++) apart += pow(x.dense[5 * D + l] - x.dense[6 * D + l], 2);
    const double exact = sqrt(-2 * expm1(-sqrt(apart)));
    assert_true(apart > 0);
    test_near("distance of near rows", NULL, 1, &metric[5 * N + 6], &exact, 1e-12);
    assert_true(metric[7 * N + 7] == 0);
    free(metric);
    gram_kernel_release(kernel);
    free_rows(&x);
}

/* ---- rows that are not so sparse ---- */

enum { FULL = 150, FEW = 40, WIDTH = 90 };

/* Six of ten values are not 0: whole numbers, or none of them. */
static void make_full(gram_context *context, int whole, int64_t n, rows *r)
{
    double *u = test_random(7, 2 * FULL * WIDTH, 0, 1);
    *r = (rows){.n = n, .dense = test_numbers(n * WIDTH), .start = malloc((size_t)(n + 1) * sizeof(int64_t))};
    r->index = malloc((size_t)(n * WIDTH) * sizeof *r->index);
    r->value = test_numbers(n * WIDTH);
    int64_t count = 0;
    for (int64_t k = 0; k < n * WIDTH; k++) {
        if (k % WIDTH == 0) r->start[k / WIDTH] = count;
        if (u[2 * k] > 0.6) continue;
        r->dense[k] = r->value[count] = whole ? 1 + floor(9 * u[2 * k + 1]) : u[2 * k + 1] - 0.4;
        r->index[count++] = (int32_t)(k % WIDTH);
    }
    r->start[n] = count;
    OK(context, gram_points_create_sparse(context, n, WIDTH, r->start, r->index, r->value, &r->sparse));
    r->plain = test_points(context, n, WIDTH, r->dense);
    free(u);
}

/* Those of 150 rows are packed with their zeros, those of the first 40 of them are not: the same bits. */
static void full_rows_are_equal(void **state)
{
    gram_context *context = *state;
    static const char *const kernels[] = {"linear(c=0!)", "rbf(ell=3)", "tanimoto", "laplace1(ell=9)"};
    for (int k = 0; k < 8; k++) {
        rows all, some;
        make_full(context, k % 2, FULL, &all);
        make_full(context, k % 2, FEW, &some);
        gram_kernel *kernel = test_kernel(context, kernels[k / 2]);
        double *a = test_matrix(context, kernel, all.sparse, NULL),
               *c = test_matrix(context, kernel, some.sparse, NULL);
        double *d = test_matrix(context, kernel, all.sparse, some.sparse);
        for (int64_t i = 0; i < FULL; i++)
            for (int64_t j = 0; j < FULL; j++) assert_true(a[i * FULL + j] == a[j * FULL + i]);
        for (int64_t i = 0; i < FULL; i++)
            for (int64_t j = 0; j < FEW; j++) {
                assert_true(a[i * FULL + j] == d[i * FEW + j]);
                if (i < FEW) assert_true(a[i * FULL + j] == c[i * FEW + j]);
            }
        if (k / 2 != 2) {
            double *b = test_matrix(context, kernel, all.plain, NULL);
            test_near("full rows", kernels[k / 2], FULL * FULL, a, b, 1e-13);
            free(b);
        }
        free(a), free(c), free(d);
        gram_kernel_release(kernel);
        free_rows(&all);
        free_rows(&some);
    }
}

/* Whole numbers whose sums are beyond 2^24: f32 would lose their last digits. */
static void large_counts_are_exact(void **state)
{
    gram_context *context = *state;
    rows x;
    make_full(context, 1, FULL, &x);
    for (int64_t k = 0; k < x.start[FULL]; k++) x.value[k] = 4095 + x.value[k];
    gram_kernel *kernel = test_kernel(context, "linear(c=0!)");
    double *a = test_matrix(context, kernel, x.sparse, NULL);
    for (int64_t i = 0; i < FULL; i++) {
        double sum = 0;
        for (int64_t k = x.start[i]; k < x.start[i + 1]; k++) sum += x.value[k] * x.value[k];
        assert_true(a[i * FULL + i] == sum);
    }
    free(a);
    gram_kernel_release(kernel);
    free_rows(&x);
}

static void fill_matrix(gram_context *context, double *out)
{
    rows x;
    make_rows(context, 1, N, &x);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1.3) + laplace1(ell=4)");
    OK(context, gram_matrix(context, kernel, x.sparse, NULL, out, N));
    gram_kernel_release(kernel);
    free_rows(&x);
}

static void any_threads(void **state)
{
    (void)state;
    test_any_threads(N * N, fill_matrix);
}

static void gradients_are_equal(void **state)
{
    gram_context *context = *state;
    rows x;
    double a[4] = {0}, b[4] = {0}, *w = test_random(5, N * N, -1, 1);
    make_rows(context, 1, N, &x);
    gram_kernel *kernel = test_kernel(context, "1.5*rq(alpha=0.7, ell=1) + linear(c=0.5)");
    const gram_weights weights = {.dense = w, .ld = N};
    OK(context, gram_matrix_parameter_gradient(context, kernel, x.sparse, NULL, &weights, a));
    OK(context, gram_matrix_parameter_gradient(context, kernel, x.plain, NULL, &weights, b));
    test_near("gradient", NULL, gram_kernel_parameter_count(kernel), a, b, 1e-11);
    free(w);
    gram_kernel_release(kernel);
    free_rows(&x);
}

/* ---- fits ---- */

static void fits_are_equal(void **state)
{
    gram_context *context = *state;
    rows x, z;
    double y[N], sign[N], *a = test_numbers(2 * M), *b = test_numbers(2 * M);
    make_rows(context, 1, N, &x);
    make_rows(context, 2, M, &z);
    for (int64_t i = 0; i < N; i++) {
        y[i] = x.dense[i * D] + sin((double)i);
        sign[i] = y[i] > 0;
    }
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1.5)");
    for (int plain = 0; plain < 2; plain++) {
        const gram_points *given = plain ? x.plain : x.sparse, *at = plain ? z.plain : z.sparse;
        double *out = plain ? b : a;
        gram_krr *krr = NULL;
        gram_svm *svm = NULL;
        gram_krr_options options;
        gram_krr_options_init(&options, sizeof options);
        options.lambda = 1e-3;
        OK(context, gram_krr_fit(context, kernel, given, 1, y, 1, &options, &krr));
        OK(context, gram_function_evaluate(context, gram_krr_function(krr), at, out, 1));
        OK(context, gram_svm_fit(context, kernel, given, sign, NULL, &svm));
        OK(context, gram_function_evaluate(context, gram_svm_function(svm), at, out + M, 1));
        gram_krr_destroy(krr);
        gram_svm_destroy(svm);
    }
    test_near("krr", NULL, M, a, b, 1e-10);
    test_near("svm", NULL, M, a + M, b + M, 3e-3); /* both end within LIBSVM's tolerance of 1e-3 */
    free(a), free(b);
    gram_kernel_release(kernel);
    free_rows(&x);
    free_rows(&z);
}

static void medians_are_equal(void **state)
{
    gram_context *context = *state;
    rows x;
    double a[2], b[2];
    make_rows(context, 1, N, &x);
    gram_kernel *sparse = about(context, "rbf + laplace1", x.sparse),
                *plain = about(context, "rbf + laplace1", x.plain);
    assert_int_equal(test_parameter_values(context, sparse, a), test_parameter_values(context, plain, b));
    test_near("median", NULL, 2, a, b, 1e-14);
    gram_kernel_release(sparse);
    gram_kernel_release(plain);
    free_rows(&x);
}

/* ---- what cannot be ---- */

static void bad_rows_are_named(void **state)
{
    gram_context *context = *state;
    gram_points *points;
    const int64_t start[] = {0, 2, 3}, back[] = {0, 2, 1}, late[] = {1, 2, 3};
    const int32_t index[] = {1, 4, 0}, down[] = {4, 1, 0}, twice[] = {1, 1, 0}, high[] = {1, 5, 0}, low[] = {-1, 4, 0};
    const double value[] = {1, 2, 3}, bad[] = {1, NAN, 3};
#define MAKE(s, i, v) gram_points_create_sparse(context, 2, 5, s, i, v, &points)
    REFUSED(context, MAKE(back, index, value), GRAM_ERROR_ARGUMENT, "start[2] = 1");
    REFUSED(context, MAKE(late, index, value), GRAM_ERROR_ARGUMENT, "start[0] = 1");
    REFUSED(context, MAKE(start, down, value), GRAM_ERROR_DATA, "row 0: index 1 after 4");
    REFUSED(context, MAKE(start, twice, value), GRAM_ERROR_DATA, "row 0: index 1 after 1");
    REFUSED(context, MAKE(start, high, value), GRAM_ERROR_DATA, "index 5 is not among the 5 columns");
    REFUSED(context, MAKE(start, low, value), GRAM_ERROR_DATA, "index -1 is not among the 5 columns");
    REFUSED(context, MAKE(start, index, bad), GRAM_ERROR_DATA, "index 4 is nan");
    REFUSED(context, MAKE(start, NULL, value), GRAM_ERROR_ARGUMENT, "index is NULL");
    REFUSED(context, MAKE(NULL, index, value), GRAM_ERROR_ARGUMENT, "start is NULL");
#undef MAKE
    REFUSED(context, gram_points_create_sparse(context, 2, INT64_C(1) << 40, start, index, value, &points),
            GRAM_ERROR_ARGUMENT, "d = 1099511627776");
    REFUSED(context, gram_points_create_sparse(context, 0, 5, start, index, value, &points), GRAM_ERROR_ARGUMENT,
            "n = 0");
}

static void kernels_of_coordinates_are_refused(void **state)
{
    gram_context *context = *state;
    rows x, y;
    double *out = test_numbers(N * D);
    make_rows(context, 1, N, &x);
    make_rows(context, 2, M, &y);
    gram_kernel *coordinates = test_kernel(context, "periodic(p=1, ell=1)"), *rbf = test_kernel(context, "rbf(ell=1)");
    REFUSED(context, gram_matrix(context, coordinates, x.sparse, NULL, out, N), GRAM_ERROR_UNSUPPORTED,
            "periodic does not take sparse rows");
    REFUSED(context, gram_matrix(context, rbf, x.sparse, y.plain, out, N), GRAM_ERROR_DIMENSION, "columns");
    const gram_weights weights = {.dense = out, .ld = N};
    REFUSED(context, gram_matrix_input_gradient(context, rbf, x.sparse, NULL, &weights, out, D), GRAM_ERROR_UNSUPPORTED,
            "column 1 holds sparse rows");
    free(out);
    gram_kernel_release(coordinates);
    gram_kernel_release(rbf);
    free_rows(&x);
    free_rows(&y);
}

static gram_status play(gram_context *context)
{
    gram_status status = GRAM_OK;
    static const int64_t start[] = {0, 2, 3, 3};
    static const int32_t index[] = {1, 4, 0};
    static const double value[] = {1, 2, 3}, y[] = {1, 0, 2};
    gram_points *x = NULL;
    gram_kernel *kernel = NULL, *resolved = NULL;
    gram_krr *krr = NULL;
    double out[3];
    STEP(gram_points_create_sparse(context, 3, 5, start, index, value, &x));
    STEP(gram_kernel_parse(context, "rbf + laplace1", &kernel));
    STEP(gram_kernel_resolve(context, kernel, x, &resolved));
    STEP(gram_krr_fit(context, resolved, x, 1, y, 1, NULL, &krr));
    STEP(gram_function_evaluate(context, gram_krr_function(krr), x, out, 1));
done:
    gram_krr_destroy(krr);
    gram_kernel_release(resolved);
    gram_kernel_release(kernel);
    gram_points_release(x);
    return status;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    oom_all(play, 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_are_equal),
        cmocka_unit_test(near_rows_keep_their_distance),
        cmocka_unit_test(full_rows_are_equal),
        cmocka_unit_test(large_counts_are_exact),
        cmocka_unit_test(any_threads),
        cmocka_unit_test(gradients_are_equal),
        cmocka_unit_test(fits_are_equal),
        cmocka_unit_test(medians_are_equal),
        cmocka_unit_test(bad_rows_are_named),
        cmocka_unit_test(kernels_of_coordinates_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}

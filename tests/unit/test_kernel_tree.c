/* Kernels as objects: sharing, counting, limits, equality, and memory that fails at every k-th request. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel.h"
#include "oom.h"
#include "support.h"

static gram_context *new_context(void)
{
    gram_context *context = NULL;
    assert_int_equal(gram_context_create(NULL, &context), GRAM_OK);
    return context;
}

static void test_building(void **state)
{
    (void)state;
    gram_context *context = new_context();
    const size_t before = gram_context_memory_used(context);
    const int64_t columns[] = {0, 2, 3};
    gram_kernel *rbf = test_kernel(context, "rbf(ell=2)"), *two = NULL, *scaled = NULL, *sum = NULL, *power = NULL,
                *on = NULL;
    assert_int_equal(gram_kernel_constant(context, 2, &two), GRAM_OK);
    assert_int_equal(gram_kernel_multiply(context, two, rbf, &scaled), GRAM_OK);
    assert_int_equal(gram_kernel_sum(context, scaled, rbf, &sum), GRAM_OK);
    assert_int_equal(gram_kernel_power(context, sum, 3, &power), GRAM_OK);
    assert_int_equal(gram_kernel_on(context, 3, columns, power, &on), GRAM_OK);
    /* operands may go: the tree keeps them */
    gram_kernel_release(two);
    gram_kernel_release(scaled);
    gram_kernel_release(sum);
    gram_kernel_release(power);
    gram_kernel_release(rbf);
    test_prints(on, "on([1,3:4], (2*rbf(ell=2) + rbf(ell=2))^3)");
    assert_int_equal(on->size, 7);
    assert_int_equal(on->depth, 5);
    gram_kernel_release(on);
    gram_kernel_release(NULL);
    assert_int_equal(gram_context_memory_used(context), before);
    gram_context_destroy(context);
}

static void test_flattening(void **state)
{
    (void)state;
    gram_context *context = new_context();
    gram_kernel *a = test_kernel(context, "1 + 2"), *b = test_kernel(context, "3 + 4*5"), *sum = NULL, *product = NULL;
    assert_int_equal(gram_kernel_sum(context, a, b, &sum), GRAM_OK);
    assert_int_equal(sum->child_count, 4);
    assert_int_equal(sum->depth, 3);
    test_prints(sum, "1 + 2 + 3 + 4*5");
    assert_int_equal(gram_kernel_multiply(context, a, b, &product), GRAM_OK);
    assert_int_equal(product->child_count, 2);
    test_prints(product, "(1 + 2)*(3 + 4*5)");
    gram_kernel_release(a);
    gram_kernel_release(b);
    gram_kernel_release(sum);
    gram_kernel_release(product);
    gram_context_destroy(context);
}

static void test_outlives_context(void **state)
{
    (void)state;
    gram_context *context = new_context(), *other = new_context();
    gram_kernel *kernel = test_kernel(context, "2*rbf(ell=[1,2]) + on(1, white())"), *sum = NULL;
    gram_context_destroy(context);
    test_prints(kernel, "2*rbf(ell=[1,2]) + on(1, white())");
    assert_int_equal(gram_kernel_sum(other, kernel, kernel, &sum), GRAM_OK);
    gram_kernel_release(kernel);
    gram_context_destroy(other);
    test_prints(sum, "2*rbf(ell=[1,2]) + on(1, white()) + 2*rbf(ell=[1,2]) + on(1, white())");
    gram_kernel_release(sum);
}

static void test_equality(void **state)
{
    /* all different from each other */
    static const char *const TEXTS[] = {
        "rbf",
        "rbf(ell=1)",
        "rbf(ell=1!)",
        "rbf(ell=2)",
        "rbf(ell=[1,1])",
        "rbf(ell=[1!,1])",
        "rbf(S=[1])",
        "rbf(S=[1,0;0,1])",
        "rbf(S=[1,0;0,1]!)",
        "laplace1(ell=1)",
        "rbf^2",
        "rbf^3",
        "on(1, rbf)",
        "on(2, rbf)",
        "on(1:2, rbf)",
        "rbf + 1",
        "rbf*1",
        "1 + rbf",
        "rbf + 1 + 1",
        "const",
        "1",
        "white()",
        "matern(nu=0.5)",
        "matern",
        "(rbf + 1)^2",
        "(rbf*1)^2",
        "rbf^2*1",
        "1.0000000000000002",
        "poly",
        "poly(m=2)",
        "exp(rbf)",
        "exp(rbf + 1)",
        "normalize(rbf)",
        "warp([1], rbf)",
        "warp([2], rbf)",
        "warp([1,2], rbf)",
        "warp([1;2], rbf)",
        "warp([1,2;3,4], rbf)",
        "warp([1,2,3,4], rbf)",
        "warp([1], rbf(ell=1))",
    };
    enum { COUNT = sizeof TEXTS / sizeof *TEXTS };
    gram_kernel *kernels[COUNT];
    (void)state;
    gram_context *context = new_context();
    for (int i = 0; i < COUNT; i++) kernels[i] = test_kernel(context, TEXTS[i]);
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++) {
            gram_kernel *again = test_kernel(context, TEXTS[j]);
            if (gram_kernel_equal(kernels[i], again) != (i == j)) fail_msg("%s against %s", TEXTS[i], TEXTS[j]);
            gram_kernel_release(again);
        }
    assert_false(gram_kernel_equal(kernels[0], NULL));
    assert_true(gram_kernel_equal(NULL, NULL));
    for (int i = 0; i < COUNT; i++) gram_kernel_release(kernels[i]);
    gram_context_destroy(context);
}

static void check_failure(gram_context *context, gram_status status, gram_kernel *const *made, const char *message)
{
    assert_int_equal(status, GRAM_ERROR_ARGUMENT);
    assert_null(*made);
    assert_string_equal(gram_context_message(context), message);
}

static void test_bad_use(void **state)
{
    (void)state;
    gram_context *context = new_context();
    const int64_t twice[] = {3, 1, 3}, negative[] = {-1}, huge[] = {INT64_MAX};
    gram_kernel *rbf = test_kernel(context, "rbf"), *made = rbf;
    check_failure(context, gram_kernel_constant(context, -1, &made), &made, "const(c=-1): c must be at least 0");
    check_failure(context, gram_kernel_constant(context, NAN, &made), &made, "const(c=nan): c must be at least 0");
    check_failure(context, gram_kernel_sum(context, rbf, NULL, &made), &made, "kernel_sum: b is NULL");
    check_failure(context, gram_kernel_multiply(context, NULL, rbf, &made), &made, "kernel_multiply: a is NULL");
    check_failure(context, gram_kernel_power(context, rbf, 0, &made), &made,
                  "kernel_power: m = 0, the exponent must be a whole number from 1 to 64");
    check_failure(context, gram_kernel_power(context, NULL, 2, &made), &made, "kernel_power: a is NULL");
    check_failure(context, gram_kernel_on(context, 0, twice, rbf, &made), &made, "on: no columns");
    check_failure(context, gram_kernel_on(context, 5000, twice, rbf, &made), &made, "on: more than 4096 columns");
    check_failure(context, gram_kernel_on(context, 3, twice, rbf, &made), &made, "on: column 4 is given twice");
    check_failure(context, gram_kernel_on(context, 1, negative, rbf, &made), &made,
                  "on: columns[0] = -1 is not from 0 to 1073741823");
    check_failure(context, gram_kernel_on(context, 1, huge, rbf, &made), &made,
                  "on: columns[0] = 9223372036854775807 is not from 0 to 1073741823");
    const double matrix[] = {1, 2, 3, NAN, 5, INFINITY};
    check_failure(context, gram_kernel_exp(context, NULL, &made), &made, "kernel_exp: a is NULL");
    check_failure(context, gram_kernel_normalize(context, NULL, &made), &made, "kernel_normalize: a is NULL");
    check_failure(context, gram_kernel_warp(context, 1, 1, matrix, NULL, &made), &made, "kernel_warp: a is NULL");
    check_failure(context, gram_kernel_warp(context, 1, 1, NULL, rbf, &made), &made, "warp: matrix is NULL");
    check_failure(context, gram_kernel_warp(context, 0, 1, matrix, rbf, &made), &made,
                  "warp: a matrix of 0 x 1; rows and columns must be from 1 to 4096");
    check_failure(context, gram_kernel_warp(context, 1, 4097, matrix, rbf, &made), &made,
                  "warp: a matrix of 1 x 4097; rows and columns must be from 1 to 4096");
    check_failure(context, gram_kernel_warp(context, 3, 2, matrix, rbf, &made), &made,
                  "warp: entry 2,2 of the matrix is not finite");
    check_failure(context, gram_kernel_warp(context, 1, 6, matrix, rbf, &made), &made,
                  "warp: entry 1,4 of the matrix is not finite");
    assert_int_equal(gram_kernel_exp(NULL, rbf, &made), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_kernel_normalize(context, rbf, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_kernel_warp(context, 1, 1, matrix, rbf, NULL), GRAM_ERROR_ARGUMENT);
    gram_kernel_release(rbf);
    gram_context_destroy(context);
}

static void test_limits(void **state)
{
    (void)state;
    gram_context *context = new_context();
    const size_t before = gram_context_memory_used(context);
    gram_kernel *kernel = test_kernel(context, "rbf"), *next = NULL;
    gram_status status = GRAM_OK;
    /* doubling shares the operand; 4096 nodes are passed at 2^12 - 1 + 1 leaves */
    int doublings = 0;
    while ((status = gram_kernel_multiply(context, kernel, kernel, &next)) == GRAM_OK) {
        gram_kernel_release(kernel);
        kernel = next;
        doublings++;
    }
    assert_int_equal(doublings, 11);
    check_failure(context, status, &next, "kernel: more than 4096 terms and factors");
    gram_kernel_release(kernel);

    kernel = test_kernel(context, "rbf");
    while ((status = gram_kernel_power(context, kernel, 2, &next)) == GRAM_OK) {
        gram_kernel_release(kernel);
        kernel = next;
    }
    assert_int_equal(kernel->depth, GRAM_KERNEL_MAX_DEPTH);
    check_failure(context, status, &next, "kernel: nested deeper than 64 levels");

    /* the deepest tree still reads back */
    char text[1024];
    assert_true(gram_kernel_print(kernel, text, sizeof text) < sizeof text);
    gram_kernel *again = test_kernel(context, text);
    assert_true(gram_kernel_equal(kernel, again));
    gram_kernel_release(again);
    gram_kernel_release(kernel);
    assert_int_equal(gram_context_memory_used(context), before);
    gram_context_destroy(context);
}

static void test_dimension(void **state)
{
    static const struct {
        const char *text;
        int64_t d;
        gram_status status;
        const char *message;
    } CASES[] = {
        {"rbf(ell=2)", 7, GRAM_OK, ""},
        {"rbf(ell=[1,2])", 2, GRAM_OK, ""},
        {"rbf(ell=[1,2])", 3, GRAM_ERROR_DIMENSION, "rbf: ell has 2 numbers, but the kernel sees 3 columns"},
        {"1 + rbf(ell=[1,2])", 1, GRAM_ERROR_DIMENSION, "rbf: ell has 2 numbers, but the kernel sees 1 column"},
        {"rbf(S=[1,0;0,1])", 3, GRAM_ERROR_DIMENSION, "rbf: S is 2 x 2, but the kernel sees 3 columns"},
        {"rbf(S=[1])", 2, GRAM_ERROR_DIMENSION, "rbf: S is 1 x 1, but the kernel sees 2 columns"},
        {"on(2:3, rbf(ell=[1,2]))", 3, GRAM_OK, ""},
        {"on(2:3, rbf)", 2, GRAM_ERROR_DIMENSION, "on: there is no column 3, the points have 2 here"},
        {"on(2:3, on(3, rbf))", 5, GRAM_ERROR_DIMENSION, "on: there is no column 3, the points have 2 here"},
        {"on(4:5, on(2, rbf(ell=[1,2])))", 5, GRAM_ERROR_DIMENSION,
         "rbf: ell has 2 numbers, but the kernel sees 1 column"},
        {"warp([1,2,3;4,5,6], rbf(ell=[1,2]))", 3, GRAM_OK, ""},
        {"warp([1,2,3;4,5,6], rbf(ell=[1,2,3]))", 3, GRAM_ERROR_DIMENSION,
         "rbf: ell has 3 numbers, but the kernel sees 2 columns"},
        {"warp([1,2,3;4,5,6], rbf)", 2, GRAM_ERROR_DIMENSION, "warp: the matrix has 3 columns, the points have 2 here"},
        {"warp([1], rbf)", 2, GRAM_ERROR_DIMENSION, "warp: the matrix has 1 column, the points have 2 here"},
        {"on(2:4, warp([1,2,3;4,5,6], on(2, rbf)))", 4, GRAM_OK, ""},
        {"on(2:4, warp([1,2,3;4,5,6], on(3, rbf)))", 4, GRAM_ERROR_DIMENSION,
         "on: there is no column 3, the points have 2 here"},
        {"exp(normalize(rbf(ell=[1,2])))", 3, GRAM_ERROR_DIMENSION,
         "rbf: ell has 2 numbers, but the kernel sees 3 columns"},
        {"rbf", 0, GRAM_ERROR_ARGUMENT, "kernel_check_dimension: d = 0, need at least one column"},
    };
    (void)state;
    gram_context *context = new_context();
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        gram_kernel *kernel = test_kernel(context, CASES[i].text);
        assert_int_equal(gram_kernel_check_dimension(context, kernel, CASES[i].d), CASES[i].status);
        if (CASES[i].status < 0) assert_string_equal(gram_context_message(context), CASES[i].message);
        gram_kernel_release(kernel);
    }
    assert_int_equal(gram_kernel_check_dimension(context, NULL, 1), GRAM_ERROR_ARGUMENT);
    gram_context_destroy(context);
}

/* ---- kernels that exist in C only ---- */

static void some_block(void *user, int64_t d, int64_t rows, const double *x, int64_t ldx, int64_t columns,
                       const double *y, int64_t ldy, double *out, int64_t ldo)
{
    (void)user;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            out[i * ldo + j] = 0;
            for (int64_t l = 0; l < d; l++) out[i * ldo + j] += (double)(l + 1) * x[l * ldx + i] * y[l * ldy + j];
        }
}

static void other_block(void *user, int64_t d, int64_t rows, const double *x, int64_t ldx, int64_t columns,
                        const double *y, int64_t ldy, double *out, int64_t ldo)
{
    some_block(user, d, rows, x, ldx, columns, y, ldy, out, ldo);
}

static double some_factor(void *user, int64_t d, const double *x)
{
    (void)user, (void)d;
    return x[0];
}

static void count_release(void *user)
{
    ++*(int *)user;
}

static void test_callback_block(void **state)
{
    enum { D = 3, ROWS = 2, COLUMNS = 8, LD = 10 };
    double x[D * LD], y[D * LD], out[ROWS * COLUMNS];
    gram_kernel *kernel = NULL;
    (void)state;
    gram_context *context = new_context();
    assert_int_equal(gram_kernel_callback(context, "dot", some_block, NULL, NULL, &kernel), GRAM_OK);
    assert_ptr_equal(kernel->type, &gram_kernel_callback_type);
    for (int i = 0; i < D * LD; i++) x[i] = i + 1, y[i] = 100 - i;
    const gram_coords_block block = {.d = D, .rows = ROWS, .columns = COLUMNS, .ld = LD, .x = x, .y = y};
    kernel->type->coords(NULL, &(gram_shape){.data = kernel->external}, &block, out);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            assert_true(out[i * COLUMNS + j] ==
                        x[i] * y[j] + 2 * x[LD + i] * y[LD + j] + 3 * x[2 * LD + i] * y[2 * LD + j]);
    gram_kernel_release(kernel);
    gram_context_destroy(context);
}

/* Each failure releases what it was given, once. */
static void test_external_failures(void **state)
{
    static const double matrix[] = {1, 2, INFINITY, 2, 1, 9};
    static const char *const LONG = "a-name_of_31_characters-ABCDEFG", *const LONGER =
                                                                           "a-name_of_32_characters-ABCDEFGH";
    int released = 0;
    (void)state;
    gram_context *context = new_context();
    const size_t before = gram_context_memory_used(context);
    gram_kernel *rbf = test_kernel(context, "rbf"), *made = rbf;
    check_failure(context, gram_kernel_callback(context, NULL, some_block, &released, count_release, &made), &made,
                  "kernel_callback: name is NULL");
    check_failure(context, gram_kernel_callback(context, "f", NULL, &released, count_release, &made), &made,
                  "kernel_callback: block is NULL");
    check_failure(context, gram_kernel_callback(context, "a>b", some_block, &released, count_release, &made), &made,
                  "kernel_callback: name 'a>b' must be 1 to 31 letters, digits, '_' and '-'");
    check_failure(context, gram_kernel_callback(context, "", some_block, &released, count_release, &made), &made,
                  "kernel_callback: name '' must be 1 to 31 letters, digits, '_' and '-'");
    check_failure(context, gram_kernel_callback(context, LONGER, some_block, NULL, NULL, &made), &made,
                  "kernel_callback: name 'a-name_of_32_characters-ABCDEFGH' must be 1 to 31 letters, digits, '_' and "
                  "'-'");
    assert_int_equal(released, 4);
    assert_int_equal(gram_kernel_callback(NULL, "f", some_block, &released, count_release, &made), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_kernel_callback(context, "f", some_block, &released, count_release, NULL),
                     GRAM_ERROR_ARGUMENT);
    assert_int_equal(released, 6);
    check_failure(context, gram_kernel_scale(context, "f", some_factor, &released, count_release, NULL, &made), &made,
                  "kernel_scale: a is NULL");
    check_failure(context, gram_kernel_scale(context, "f", NULL, &released, count_release, rbf, &made), &made,
                  "kernel_scale: factor is NULL");
    check_failure(context, gram_kernel_scale(context, "f g", some_factor, &released, count_release, rbf, &made), &made,
                  "kernel_scale: name 'f g' must be 1 to 31 letters, digits, '_' and '-'");
    assert_int_equal(gram_kernel_scale(context, "f", some_factor, &released, count_release, rbf, NULL),
                     GRAM_ERROR_ARGUMENT);
    assert_int_equal(released, 10);
    check_failure(context, gram_kernel_precomputed(context, "k", 2, NULL, 2, &made), &made,
                  "kernel_precomputed: matrix is NULL");
    check_failure(context, gram_kernel_precomputed(context, "k", 0, matrix, 2, &made), &made,
                  "kernel_precomputed: n = 0, need at least one point");
    check_failure(context, gram_kernel_precomputed(context, "k", 2, matrix, 1, &made), &made,
                  "kernel_precomputed: ld = 1 is less than n = 2");
    assert_int_equal(gram_kernel_precomputed(context, "k", INT64_MAX, matrix, INT64_MAX, &made), GRAM_ERROR_OVERFLOW);
    assert_int_equal(gram_kernel_precomputed(context, "k", 2, matrix + 1, 2, &made), GRAM_ERROR_DATA);
    assert_string_equal(gram_context_message(context), "kernel_precomputed: matrix[0][1] is not finite");
    check_failure(context, gram_kernel_centre(context, NULL, rbf, &made), &made, "kernel_centre: sample is NULL");
    gram_kernel_release(rbf);

    /* past the limits: the node is not made, what it was given is released */
    gram_kernel *deep = test_kernel(context, "rbf"), *next = NULL;
    for (int i = 1; i < GRAM_KERNEL_MAX_DEPTH; i++) {
        assert_int_equal(gram_kernel_exp(context, deep, &next), GRAM_OK);
        gram_kernel_release(deep);
        deep = next;
    }
    check_failure(context, gram_kernel_scale(context, "f", some_factor, &released, count_release, deep, &made), &made,
                  "kernel: nested deeper than 64 levels");
    assert_int_equal(released, 11);
    gram_kernel_release(deep);

    /* a name of the longest, and the last row of the matrix needs only n numbers */
    assert_int_equal(gram_kernel_precomputed(context, LONG, 2, matrix, 3, &made), GRAM_OK);
    test_prints(made, "<precomputed a-name_of_31_characters-ABCDEFG>");
    gram_kernel_release(made);
    assert_int_equal(gram_context_memory_used(context), before);
    gram_context_destroy(context);
}

/* Kernels made from one that holds something share it; the last one releases it. */
static void test_external_sharing(void **state)
{
    static const double data[] = {0, 1, 2, 3};
    const double ell = 2;
    int leaf_released = 0, scale_released = 0;
    gram_kernel *leaf = NULL, *sum = NULL, *scaled = NULL, *centred = NULL, *changed = NULL, *resolved = NULL,
                *ard = NULL;
    gram_points *sample = NULL;
    (void)state;
    gram_context *context = new_context();
    const size_t before = gram_context_memory_used(context);
    gram_kernel *rbf = test_kernel(context, "rbf");
    assert_int_equal(gram_points_create_f64(context, 2, 2, data, 2, &sample), GRAM_OK);
    assert_int_equal(gram_kernel_callback(context, "g", some_block, &leaf_released, count_release, &leaf), GRAM_OK);
    assert_int_equal(gram_kernel_sum(context, rbf, leaf, &sum), GRAM_OK);
    assert_int_equal(gram_kernel_scale(context, "f", some_factor, &scale_released, count_release, sum, &scaled),
                     GRAM_OK);
    assert_int_equal(gram_kernel_centre(context, sample, scaled, &centred), GRAM_OK);
    test_prints(centred, "centre(<scale f, rbf + <callback g>>)");
    assert_int_equal(gram_kernel_parameter_count(centred), 1);
    assert_int_equal(gram_kernel_with_values(context, centred, &ell, &changed), GRAM_OK);
    test_prints(changed, "centre(<scale f, rbf(ell=2) + <callback g>>)");
    assert_int_equal(gram_kernel_resolve(context, centred, sample, &resolved), GRAM_OK);
    test_prints(resolved, "centre(<scale f, rbf(ell=2.8284271247461903) + <callback g>>)");
    assert_int_equal(gram_kernel_with_ard(context, changed, 2, &ard), GRAM_OK);
    test_prints(ard, "centre(<scale f, rbf(ell=[2,2]) + <callback g>>)");
    assert_int_equal(gram_kernel_check_set(context, centred), GRAM_ERROR_UNSET);
    assert_int_equal(gram_kernel_check_set(context, ard), GRAM_OK);
    assert_int_equal(gram_kernel_check_dimension(context, centred, 3), GRAM_ERROR_DIMENSION);
    assert_string_equal(gram_context_message(context), "centre: the sample has 2 columns, the points have 3");

    gram_points_release(sample);
    gram_kernel *const early[] = {rbf, leaf, sum, scaled, centred, resolved, changed};
    for (size_t i = 0; i < sizeof early / sizeof *early; i++) gram_kernel_release(early[i]);
    assert_int_equal(leaf_released, 0);
    assert_int_equal(scale_released, 0);
    gram_kernel_release(ard);
    assert_int_equal(leaf_released, 1);
    assert_int_equal(scale_released, 1);
    assert_int_equal(gram_context_memory_used(context), before);
    gram_context_destroy(context);
}

/* Equal when all that they hold is the same; each of these differs from all others. */
static void test_external_equality(void **state)
{
    static const double data[] = {0, 1, 2, 3, 4};
    enum { COUNT = 14 };
    int a, b;
    gram_kernel *kernels[2][COUNT];
    gram_points *samples[2] = {NULL, NULL};
    (void)state;
    gram_context *context = new_context();
    gram_kernel *rbf = test_kernel(context, "rbf"), *poly = test_kernel(context, "poly");
    for (int i = 0; i < 2; i++)
        assert_int_equal(gram_points_create_f64(context, 2, 2, data + i, 2, &samples[i]), GRAM_OK);
    for (int i = 0; i < 2; i++) {
        gram_kernel **k = kernels[i];
        const gram_status made[COUNT] = {
            gram_kernel_callback(context, "f", some_block, &a, NULL, &k[0]),
            gram_kernel_callback(context, "g", some_block, &a, NULL, &k[1]),
            gram_kernel_callback(context, "f", other_block, &a, NULL, &k[2]),
            gram_kernel_callback(context, "f", some_block, &b, NULL, &k[3]),
            gram_kernel_precomputed(context, "f", 1, data, 1, &k[4]),
            gram_kernel_precomputed(context, "f", 1, data, 2, &k[5]),
            gram_kernel_precomputed(context, "f", 2, data, 2, &k[6]),
            gram_kernel_precomputed(context, "f", 1, data + 1, 1, &k[7]),
            gram_kernel_scale(context, "f", some_factor, &a, NULL, rbf, &k[8]),
            gram_kernel_scale(context, "f", some_factor, &b, NULL, rbf, &k[9]),
            gram_kernel_scale(context, "f", some_factor, &a, NULL, poly, &k[10]),
            gram_kernel_centre(context, samples[0], rbf, &k[11]),
            gram_kernel_centre(context, samples[1], rbf, &k[12]),
            gram_kernel_centre(context, samples[0], poly, &k[13]),
        };
        for (int j = 0; j < COUNT; j++) assert_int_equal(made[j], GRAM_OK);
    }
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++)
            if (gram_kernel_equal(kernels[0][i], kernels[1][j]) != (i == j)) fail_msg("%d against %d", i, j);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < COUNT; j++) gram_kernel_release(kernels[i][j]);
        gram_points_release(samples[i]);
    }
    gram_kernel_release(rbf);
    gram_kernel_release(poly);
    gram_context_destroy(context);
}

/* ---- two threads ---- */

enum { ROUNDS = 20000 };

static void *retain_and_release(void *argument)
{
    gram_kernel *kernel = argument;
    for (int i = 0; i < ROUNDS; i++) {
        (void)gram_kernel_retain(kernel);
        if (i % 3 == 0) (void)gram_kernel_retain(kernel);
        gram_kernel_release(kernel);
        if (i % 3 == 0) gram_kernel_release(kernel);
    }
    gram_kernel_release(kernel);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    gram_context *context = new_context();
    const size_t before = gram_context_memory_used(context);
    gram_kernel *kernel = test_kernel(context, "2*rbf + matern");
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, retain_and_release, gram_kernel_retain(kernel)), 0);
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&kernel->references), 1);
    test_prints(kernel, "2*rbf + matern(nu=2.5)");
    gram_kernel_release(kernel);
    assert_int_equal(gram_context_memory_used(context), before);
    gram_context_destroy(context);
}

/* ---- no memory ---- */

enum { MANY = 2500, FEW = 20 };
static double data[MANY * 2];

/* Everything that takes memory, once; the first failure ends it. */
static gram_status run_all(gram_context *context)
{
    gram_status status = GRAM_OK;
    gram_points *points = NULL;
    gram_kernel *kernel = NULL, *sum = NULL, *product = NULL, *power = NULL, *changed = NULL, *resolved = NULL,
                *ard = NULL;
    const int64_t column = 0;
    const double values[] = {2, 1, 3, 0.5, 2, 1, 1};
    gram_properties facts;
    gram_parameter parameter;
    TRY(gram_points_create_f64(context, FEW, 2, data, 2, &points));
    TRY(gram_kernel_parse(context, "2*rbf + on(1:2, matern(nu=1.5, ell=[1,2])^2)*on(2, laplace1) + rbf(S=[2,1;1,2])",
                          &kernel));
    assert_int_equal(gram_kernel_parameter_count(kernel), 8);
    TRY(gram_kernel_sum(context, kernel, kernel, &sum));
    TRY(gram_kernel_multiply(context, kernel, sum, &product));
    TRY(gram_kernel_power(context, product, 2, &power));
    TRY(gram_kernel_resolve(context, kernel, points, &resolved));
    TRY(gram_kernel_parameter_get(context, resolved, 7, &parameter));
    const double all[] = {values[0], values[1], values[2], values[3], values[4], values[5], values[6], parameter.value};
    TRY(gram_kernel_with_values(context, kernel, all, &changed));
    TRY(gram_kernel_with_ard(context, resolved, 2, &ard));
    TRY(gram_kernel_properties(context, power, 2, &facts));
    gram_kernel_release(power);
    power = NULL;
    TRY(gram_kernel_on(context, 1, &column, product, &power));
done:
    gram_points_release(points);
    gram_kernel_release(ard);
    gram_kernel_release(resolved);
    gram_kernel_release(changed);
    gram_kernel_release(power);
    gram_kernel_release(product);
    gram_kernel_release(sum);
    gram_kernel_release(kernel);
    return status;
}

static gram_status run_resolve(gram_context *context)
{
    gram_status status = GRAM_OK;
    gram_points *points = NULL;
    gram_kernel *kernel = NULL, *resolved = NULL;
    TRY(gram_points_create_f64(context, MANY, 2, data, 2, &points));
    TRY(gram_kernel_parse(context, "rbf", &kernel));
    TRY(gram_kernel_resolve(context, kernel, points, &resolved));
done:
    gram_points_release(points);
    gram_kernel_release(resolved);
    gram_kernel_release(kernel);
    return status;
}

static int made_externals, released_externals;

static void count_externals(void *user)
{
    (void)user;
    released_externals++;
}

static gram_status run_combinators(gram_context *context)
{
    static const double matrix[] = {1, 2, 3, 4};
    gram_status status = GRAM_OK;
    gram_points *points = NULL;
    gram_kernel *kernel = NULL, *leaf = NULL, *fixed = NULL, *sum = NULL, *scaled = NULL, *centred = NULL,
                *resolved = NULL;
    gram_properties facts;
    TRY(gram_points_create_f64(context, FEW, 2, data, 2, &points));
    TRY(gram_kernel_parse(context, "exp(rbf) + normalize(warp([1,2;3,4;5,6], on(2:3, warp([1,2], rbf))))", &kernel));
    made_externals++;
    TRY(gram_kernel_callback(context, "f", some_block, NULL, count_externals, &leaf));
    TRY(gram_kernel_precomputed(context, "k", 2, matrix, 2, &fixed));
    TRY(gram_kernel_sum(context, kernel, leaf, &sum));
    made_externals++;
    TRY(gram_kernel_scale(context, "f", some_factor, NULL, count_externals, sum, &scaled));
    TRY(gram_kernel_centre(context, points, scaled, &centred));
    TRY(gram_kernel_resolve(context, centred, points, &resolved));
    TRY(gram_kernel_properties(context, resolved, 2, &facts));
done:
    gram_points_release(points);
    gram_kernel_release(resolved);
    gram_kernel_release(centred);
    gram_kernel_release(scaled);
    gram_kernel_release(sum);
    gram_kernel_release(fixed);
    gram_kernel_release(leaf);
    gram_kernel_release(kernel);
    assert_int_equal(released_externals, made_externals);
    return status;
}

static void test_no_memory(void **state)
{
    (void)state;
    for (int i = 0; i < MANY * 2; i++) data[i] = sin(i * 0.7);
    for (int for_good = 0; for_good < 2; for_good++) {
        assert_true(oom_each(run_all, for_good) > 50);
        assert_true(oom_each(run_resolve, for_good) > 8);
        assert_true(oom_each(run_combinators, for_good) > 40);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_building),          cmocka_unit_test(test_flattening),
        cmocka_unit_test(test_outlives_context),  cmocka_unit_test(test_equality),
        cmocka_unit_test(test_bad_use),           cmocka_unit_test(test_limits),
        cmocka_unit_test(test_dimension),         cmocka_unit_test(test_threads),
        cmocka_unit_test(test_no_memory),         cmocka_unit_test(test_callback_block),
        cmocka_unit_test(test_external_failures), cmocka_unit_test(test_external_sharing),
        cmocka_unit_test(test_external_equality),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

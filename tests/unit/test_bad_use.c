/* Bad use: each wrong call gives its named status, a message with the place or the name, and nothing else: outputs stay as
 * they were, pointers to new objects are NULL. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* `names` must be part of the message */
#define REFUSES(want, names, call) REFUSED(context, call, want, names)

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
    /* everything that the tests made and were refused is gone */
    const size_t used = gram_context_memory_used(context);
    gram_context *fresh = test_context(2, GRAM_ISA_AUTO);
    const int leaked = used != gram_context_memory_used(fresh);
    gram_context_destroy(fresh);
    gram_context_destroy(context);
    return leaked;
}

/* ---- kernels ---- */

static void kernel_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        gram_status status;
        const char *names;
    } CASES[] = {
        {"rfb(ell=1)", GRAM_ERROR_SYNTAX, "rfb"},
        {"rbf(el=1)", GRAM_ERROR_SYNTAX, "ell"},
        {"nothing()", GRAM_ERROR_SYNTAX, "nothing"},
        {"", GRAM_ERROR_SYNTAX, ""},
        {"rbf(ell=1", GRAM_ERROR_SYNTAX, ""},
        {"rbf(ell=1))", GRAM_ERROR_SYNTAX, ""},
        {"2*", GRAM_ERROR_SYNTAX, ""},
        {"rbf(ell=-1)", GRAM_ERROR_ARGUMENT, "ell"},
        {"rbf(ell=0)", GRAM_ERROR_ARGUMENT, "ell"},
        {"rbf(ell=[1,-2])", GRAM_ERROR_ARGUMENT, "ell"},
        {"matern(nu=2000, ell=1)", GRAM_ERROR_ARGUMENT, "nu"},
        {"poly(m=0)", GRAM_ERROR_ARGUMENT, "m"},
        {"poly(m=1.5)", GRAM_ERROR_ARGUMENT, "m"},
        {"poly(m=2, c=-1)", GRAM_ERROR_ARGUMENT, "c"},
        {"-1*rbf(ell=1)", GRAM_ERROR_ARGUMENT, "-1"},
        {"rbf(S=[1,2;2,1])", GRAM_ERROR_ARGUMENT, "S"},     /* not positive definite */
        {"rbf(S=[1,0.5;0.4,1])", GRAM_ERROR_ARGUMENT, "S"}, /* not symmetric */
        {"rbf(ell=1, gamma=2)", GRAM_ERROR_SYNTAX, "gamma"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        gram_kernel *kernel = (gram_kernel *)&CASES;
        const gram_status status = gram_kernel_parse(context, CASES[i].text, &kernel);
        /* a value that cannot be is an argument, a text that cannot be read is syntax; both name it */
        if (status != GRAM_ERROR_SYNTAX && status != GRAM_ERROR_ARGUMENT) {
            FAIL_TEST("'%s' gave %s", CASES[i].text, gram_status_name(status));
        }
        test_refused(context, status, CASES[i].status, CASES[i].names, CASES[i].text, __FILE__, __LINE__);
        assert_null(kernel);
    }
}

static void kernel_building(void **state)
{
    (void)state;
    gram_kernel *rbf = test_kernel(context, "rbf(ell=1)"), *made = NULL;
    const int64_t negative[2] = {0, -1}, columns[2] = {0, 1};
    const double zero = 0, nan = NAN;
    REFUSES(GRAM_ERROR_ARGUMENT, "-1", gram_kernel_constant(context, -1, &made));
    REFUSES(GRAM_ERROR_ARGUMENT, "", gram_kernel_constant(context, INFINITY, &made));
    REFUSES(GRAM_ERROR_ARGUMENT, "0", gram_kernel_power(context, rbf, 0, &made));
    REFUSES(GRAM_ERROR_ARGUMENT, "", gram_kernel_on(context, 2, negative, rbf, &made));
    REFUSES(GRAM_ERROR_ARGUMENT, "", gram_kernel_on(context, 0, columns, rbf, &made));
    REFUSES(GRAM_ERROR_ARGUMENT, "ell", gram_kernel_with_values(context, rbf, &zero, &made));
    REFUSES(GRAM_ERROR_ARGUMENT, "ell", gram_kernel_with_values(context, rbf, &nan, &made));
    gram_parameter parameter;
    REFUSES(GRAM_ERROR_ARGUMENT, "1", gram_kernel_parameter_get(context, rbf, 1, &parameter));
    REFUSES(GRAM_ERROR_ARGUMENT, "-1", gram_kernel_parameter_get(context, rbf, -1, &parameter));
    assert_null(made);
    gram_kernel_release(rbf);
    gram_kernel_release(NULL);
}

/* ---- points ---- */

static void points(void **state)
{
    (void)state;
    double data[12] = {0};
    float narrow[12] = {0};
    gram_points *made = NULL;
    const int64_t huge = (int64_t)1 << 61;
    REFUSES(GRAM_ERROR_ARGUMENT, "n = 0", gram_points_create_f64(context, 0, 2, data, 2, &made));
    REFUSES(GRAM_ERROR_ARGUMENT, "n = -3", gram_points_create_f64(context, -3, 2, data, 2, &made));
    REFUSES(GRAM_ERROR_ARGUMENT, "d = 0", gram_points_create_f64(context, 3, 0, data, 2, &made));
    REFUSES(GRAM_ERROR_ARGUMENT, "ld", gram_points_create_f64(context, 3, 4, data, 3, &made));
    REFUSES(GRAM_ERROR_ARGUMENT, "NULL", gram_points_create_f64(context, 3, 4, NULL, 4, &made));
    REFUSES(GRAM_ERROR_OVERFLOW, "", gram_points_create_f64(context, huge, 2, data, 2, &made));
    REFUSES(GRAM_ERROR_OVERFLOW, "", gram_points_create_f64(context, huge, 1, data, 1, &made));
    REFUSES(GRAM_ERROR_OVERFLOW, "", gram_points_create_f32(context, huge, 8, narrow, 8, &made));
    data[7] = NAN;
    REFUSES(GRAM_ERROR_DATA, "[1][3]", gram_points_create_f64(context, 3, 4, data, 4, &made));
    data[5] = -INFINITY;
    REFUSES(GRAM_ERROR_DATA, "[1][1]", gram_points_create_f64(context, 3, 4, data, 4, &made));
    narrow[11] = INFINITY;
    REFUSES(GRAM_ERROR_DATA, "[2][3]", gram_points_create_f32(context, 3, 4, narrow, 4, &made));
    assert_null(made);
    assert_int_equal(gram_points_create_f64(NULL, 3, 4, data, 4, &made), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_points_create_f64(context, 3, 4, data, 4, NULL), GRAM_ERROR_ARGUMENT);
    gram_points_release(NULL);
}

/* The first of many, whatever the number of threads; far into the array. */
static void first_bad_number(void **state)
{
    (void)state;
    const int64_t n = 20000, d = 2;
    double *data = test_numbers(n * d);
    gram_points *made = NULL;
    data[9000 * d + 1] = data[9000 * d] = data[15000 * d] = NAN;
    REFUSES(GRAM_ERROR_DATA, "[9000][0]", gram_points_create_f64(context, n, d, data, d, &made));
    free(data);
}

/* ---- matrices ---- */

enum { N = 6, D = 3, OUT = 64 };

/* Points of three columns, kernels that do not fit in several ways, and outputs that must stay as they are. */
typedef struct bench {
    double data[N * D], v[N * 4], out[OUT];
    gram_points *x;
    gram_weights weights;
} bench;

static void bench_make(bench *b)
{
    test_uniform(4, N * D, 0.1, 1, b->data);
    test_uniform(5, N * 4, -1, 1, b->v);
    for (int i = 0; i < OUT; i++) b->out[i] = -7;
    b->x = test_points(context, N, D, b->data);
    b->weights = (gram_weights){.rank = 2, .a = b->v, .lda = 2, .b = b->v, .ldb = 2};
}

static void bench_free(bench *b)
{
    for (int i = 0; i < OUT; i++) assert_true(b->out[i] == -7);
    gram_points_release(b->x);
}

/* Every function of matrix.h and every operator refuses the kernel on these points in the same way. */
static void all_refuse(bench *b, gram_points *x, const gram_points *y, const char *text, gram_status want,
                       const char *names)
{
    gram_kernel *k = test_kernel(context, text);
    gram_operator *op = NULL;
    const int64_t index[2] = {0, 1};
    REFUSES(want, names, gram_matrix(context, k, x, y, b->out, N));
    REFUSES(want, names, gram_matrix_product(context, k, x, y, 2, b->v, 2, b->out, 2));
    REFUSES(want, names, gram_matrix_parameter_gradient(context, k, x, y, &b->weights, b->out));
    REFUSES(want, names, gram_matrix_input_gradient(context, k, x, y, &b->weights, b->out, D));
    if (!y) {
        REFUSES(want, names, gram_matrix_diagonal(context, k, x, b->out));
        REFUSES(want, names, gram_matrix_columns(context, k, x, 2, index, b->out, 2));
        REFUSES(want, names, gram_operator_create_packed(context, k, x, &op));
        REFUSES(want, names, gram_operator_create_free(context, k, x, &op));
        assert_null(op);
    }
    gram_kernel_release(k);
}

static void kernel_and_points(void **state)
{
    (void)state;
    bench b;
    bench_make(&b);
    all_refuse(&b, b.x, NULL, "rbf", GRAM_ERROR_UNSET, "rbf.ell");
    all_refuse(&b, b.x, NULL, "2*white() + const*rbf(ell=1)", GRAM_ERROR_UNSET, "const");
    all_refuse(&b, b.x, NULL, "rbf(ell=[1,2])", GRAM_ERROR_DIMENSION, "ell");
    all_refuse(&b, b.x, NULL, "matern(nu=1.5, ell=[1,2,3,4])", GRAM_ERROR_DIMENSION, "ell");
    all_refuse(&b, b.x, NULL, "rbf(S=[1,0;0,1])", GRAM_ERROR_DIMENSION, "S");
    all_refuse(&b, b.x, NULL, "on(4, rbf(ell=1))", GRAM_ERROR_DIMENSION, "4");
    all_refuse(&b, b.x, NULL, "rbf(ell=1) + on(1:2, on(3, rbf(ell=1)))", GRAM_ERROR_DIMENSION, "3");
    all_refuse(&b, b.x, NULL, "on(1:2, rbf(ell=[1,2,3]))", GRAM_ERROR_DIMENSION, "ell");
    gram_points *two = test_points(context, N, 2, b.data);
    all_refuse(&b, b.x, two, "rbf(ell=1)", GRAM_ERROR_DIMENSION, "");
    gram_points_release(two);
    bench_free(&b);
}

/* A point below min's origin: row and column named, through `on` too (the column of the points, from 0), in X and Y. */
static void outside_the_domain(void **state)
{
    (void)state;
    bench b;
    bench_make(&b);
    double low[N * D];
    memcpy(low, b.data, sizeof low);
    low[4 * D + 2] = -0.5;
    gram_points *bad = test_points(context, N, D, low);
    all_refuse(&b, bad, NULL, "min()", GRAM_ERROR_DOMAIN, "[4][2]");
    all_refuse(&b, b.x, bad, "min()", GRAM_ERROR_DOMAIN, "[4][2]");
    all_refuse(&b, bad, NULL, "rbf(ell=1) + on(3, min(o=-0.25))*white()", GRAM_ERROR_DOMAIN, "[4][2]");
    double out[N * N];
    gram_kernel *fits = test_kernel(context, "min(o=-0.5) + on(1:2, min())");
    OK(context, gram_matrix(context, fits, bad, NULL, out, N));
    gram_kernel_release(fits);
    gram_points_release(bad);
    bench_free(&b);
}

static void shapes(void **state)
{
    (void)state;
    bench b;
    bench_make(&b);
    gram_kernel *k = test_kernel(context, "rbf(ell=1)");
    const int64_t beyond[2] = {0, N}, below[2] = {-1, 0}, fine[2] = {0, 1};
    gram_weights w = b.weights;
    REFUSES(GRAM_ERROR_ARGUMENT, "ld", gram_matrix(context, k, b.x, NULL, b.out, N - 1));
    REFUSES(GRAM_ERROR_ARGUMENT, "", gram_matrix(context, k, b.x, NULL, NULL, N));
    REFUSES(GRAM_ERROR_ARGUMENT, "", gram_matrix(context, NULL, b.x, NULL, b.out, N));
    REFUSES(GRAM_ERROR_ARGUMENT, "", gram_matrix(context, k, NULL, NULL, b.out, N));
    REFUSES(GRAM_ERROR_ARGUMENT, "", gram_matrix_diagonal(context, k, b.x, NULL));
    REFUSES(GRAM_ERROR_ARGUMENT, "6", gram_matrix_columns(context, k, b.x, 2, beyond, b.out, 2));
    REFUSES(GRAM_ERROR_ARGUMENT, "-1", gram_matrix_columns(context, k, b.x, 2, below, b.out, 2));
    REFUSES(GRAM_ERROR_ARGUMENT, "ld", gram_matrix_columns(context, k, b.x, 2, fine, b.out, 1));
    REFUSES(GRAM_ERROR_ARGUMENT, "", gram_matrix_columns(context, k, b.x, -1, fine, b.out, 2));
    REFUSES(GRAM_ERROR_ARGUMENT, "ldv", gram_matrix_product(context, k, b.x, NULL, 2, b.v, 1, b.out, 2));
    REFUSES(GRAM_ERROR_ARGUMENT, "ldo", gram_matrix_product(context, k, b.x, NULL, 2, b.v, 2, b.out, 1));
    REFUSES(GRAM_ERROR_ARGUMENT, "", gram_matrix_product(context, k, b.x, NULL, -2, b.v, 2, b.out, 2));
    REFUSES(GRAM_ERROR_ARGUMENT, "", gram_matrix_product(context, k, b.x, NULL, 2, NULL, 2, b.out, 2));
    REFUSES(GRAM_ERROR_ARGUMENT, "", gram_matrix_parameter_gradient(context, k, b.x, NULL, NULL, b.out));
    w.lda = 1;
    REFUSES(GRAM_ERROR_ARGUMENT, "lda", gram_matrix_parameter_gradient(context, k, b.x, NULL, &w, b.out));
    w = (gram_weights){.dense = b.v, .ld = N - 1};
    REFUSES(GRAM_ERROR_ARGUMENT, "ld", gram_matrix_input_gradient(context, k, b.x, NULL, &w, b.out, D));
    w = (gram_weights){.rank = 2, .a = b.v, .lda = 2, .b = NULL, .ldb = 2};
    REFUSES(GRAM_ERROR_ARGUMENT, "", gram_matrix_input_gradient(context, k, b.x, NULL, &w, b.out, D));
    REFUSES(GRAM_ERROR_ARGUMENT, "ld", gram_matrix_input_gradient(context, k, b.x, NULL, &b.weights, b.out, D - 1));
    gram_kernel_release(k);
    bench_free(&b);
}

/* One point is enough for everything. */
static void one_point(void **state)
{
    (void)state;
    const double at[2] = {0.5, 1};
    const double one = 1;
    const gram_weights w = {.dense = &one, .ld = 1};
    double out[4];
    gram_points *x = test_points(context, 1, 2, at);
    gram_kernel *k = test_kernel(context, "2*rbf(ell=1) + white()"), *open = test_kernel(context, "rbf"), *set = NULL;
    OK(context, gram_matrix(context, k, x, NULL, out, 1));
    assert_true(out[0] == 3);
    OK(context, gram_matrix(context, k, x, x, out, 1));
    OK(context, gram_matrix_product(context, k, x, NULL, 1, &one, 1, out, 1));
    assert_true(out[0] == 3);
    OK(context, gram_matrix_input_gradient(context, k, x, NULL, &w, out, 2));
    assert_true(out[0] == 0 && out[1] == 0);
    OK(context, gram_kernel_resolve(context, open, x, &set)); /* no distance above 0: ell = 1 */
    OK(context, gram_matrix(context, set, x, NULL, out, 1));
    assert_true(out[0] == 1);
    gram_kernel_release(set);
    gram_kernel_release(open);
    gram_kernel_release(k);
    gram_points_release(x);
}

/* ---- contexts ---- */

static void context_options(void **state)
{
    (void)state;
    gram_context_options options;
    gram_context *made = (gram_context *)&options;
    gram_context_options_init(&options, sizeof options);
    options.threads = -1;
    assert_int_equal(gram_context_create(&options, &made), GRAM_ERROR_ARGUMENT);
    assert_null(made);
    options.size = 0;
    assert_int_equal(gram_context_create(&options, &made), GRAM_ERROR_ARGUMENT);
    gram_context_options_init(&options, sizeof options);
    options.memory_budget = 8;
    assert_int_equal(gram_context_create(&options, &made), GRAM_ERROR_BUDGET);
    assert_null(made);
    assert_int_equal(gram_context_create(NULL, NULL), GRAM_ERROR_ARGUMENT);
    gram_context_destroy(NULL);
    assert_string_equal(gram_context_message(NULL), "");
}

static void cancelling(void **state)
{
    (void)state;
    const int64_t n = 12000; /* work for a second or so: it is asked every 50 ms */
    int left = 1;
    gram_context *stopping = TEST_CONTEXT(.threads = 2, .cancel = test_stop, .cancel_user = &left);
    double *data = test_random(1, n * 40, -1, 1), *v = test_random(2, n * 8, -1, 1), *out = test_numbers(n * 8);
    gram_points *x = test_points(context, n, 40, data);
    gram_kernel *k = test_kernel(context, "rbf(ell=1)*matern(nu=0.5, ell=2)");
    const size_t before = gram_context_memory_used(stopping);
    gram_status status = GRAM_OK;
    for (int i = 0; i < 20 && status == GRAM_OK; i++) /* a very fast machine may finish before it asks */
        status = gram_matrix_product(stopping, k, x, NULL, 8, v, 8, out, 8);
    assert_int_equal(status, GRAM_ERROR_CANCELLED);
    assert_true(left <= 0);
    assert_non_null(strstr(gram_context_message(stopping), "cancel"));
    assert_int_equal(gram_context_memory_used(stopping), before);
    gram_kernel_release(k);
    gram_points_release(x);
    free(out), free(v), free(data);
    gram_context_destroy(stopping);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_texts),     cmocka_unit_test(kernel_building),   cmocka_unit_test(points),
        cmocka_unit_test(first_bad_number), cmocka_unit_test(kernel_and_points), cmocka_unit_test(outside_the_domain),
        cmocka_unit_test(shapes),           cmocka_unit_test(one_point),         cmocka_unit_test(context_options),
        cmocka_unit_test(cancelling),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

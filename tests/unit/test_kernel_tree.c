/* Kernels as objects: sharing, counting, limits, equality, and memory that fails at every k-th request. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernel/kernel.h"

static gram_context *new_context(void)
{
    gram_context *context = NULL;
    assert_int_equal(gram_context_create(NULL, &context), GRAM_OK);
    return context;
}

static gram_kernel *parse(gram_context *context, const char *text)
{
    gram_kernel *kernel = NULL;
    if (gram_kernel_parse(context, text, &kernel) != GRAM_OK) fail_msg("%s", gram_context_message(context));
    return kernel;
}

static void expect_text(const gram_kernel *kernel, const char *wanted)
{
    char text[256];
    (void)gram_kernel_print(kernel, text, sizeof text);
    assert_string_equal(text, wanted);
}

static void test_building(void **state)
{
    (void)state;
    gram_context *context = new_context();
    const size_t before = gram_context_memory_used(context);
    const int64_t columns[] = {0, 2, 3};
    gram_kernel *rbf = parse(context, "rbf(ell=2)"), *two = NULL, *scaled = NULL, *sum = NULL, *power = NULL,
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
    expect_text(on, "on([1,3:4], (2*rbf(ell=2) + rbf(ell=2))^3)");
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
    gram_kernel *a = parse(context, "1 + 2"), *b = parse(context, "3 + 4*5"), *sum = NULL, *product = NULL;
    assert_int_equal(gram_kernel_sum(context, a, b, &sum), GRAM_OK);
    assert_int_equal(sum->child_count, 4);
    assert_int_equal(sum->depth, 3);
    expect_text(sum, "1 + 2 + 3 + 4*5");
    assert_int_equal(gram_kernel_multiply(context, a, b, &product), GRAM_OK);
    assert_int_equal(product->child_count, 2);
    expect_text(product, "(1 + 2)*(3 + 4*5)");
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
    gram_kernel *kernel = parse(context, "2*rbf(ell=[1,2]) + on(1, white())"), *sum = NULL;
    gram_context_destroy(context);
    expect_text(kernel, "2*rbf(ell=[1,2]) + on(1, white())");
    assert_int_equal(gram_kernel_sum(other, kernel, kernel, &sum), GRAM_OK);
    gram_kernel_release(kernel);
    gram_context_destroy(other);
    expect_text(sum, "2*rbf(ell=[1,2]) + on(1, white()) + 2*rbf(ell=[1,2]) + on(1, white())");
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
    };
    enum { COUNT = sizeof TEXTS / sizeof *TEXTS };
    gram_kernel *kernels[COUNT];
    (void)state;
    gram_context *context = new_context();
    for (int i = 0; i < COUNT; i++) kernels[i] = parse(context, TEXTS[i]);
    for (int i = 0; i < COUNT; i++)
        for (int j = 0; j < COUNT; j++) {
            gram_kernel *again = parse(context, TEXTS[j]);
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
    gram_kernel *rbf = parse(context, "rbf"), *made = rbf;
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
    gram_kernel_release(rbf);
    gram_context_destroy(context);
}

static void test_limits(void **state)
{
    (void)state;
    gram_context *context = new_context();
    const size_t before = gram_context_memory_used(context);
    gram_kernel *kernel = parse(context, "rbf"), *next = NULL;
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

    kernel = parse(context, "rbf");
    while ((status = gram_kernel_power(context, kernel, 2, &next)) == GRAM_OK) {
        gram_kernel_release(kernel);
        kernel = next;
    }
    assert_int_equal(kernel->depth, GRAM_KERNEL_MAX_DEPTH);
    check_failure(context, status, &next, "kernel: nested deeper than 64 levels");

    /* the deepest tree still reads back */
    char text[1024];
    assert_true(gram_kernel_print(kernel, text, sizeof text) < sizeof text);
    gram_kernel *again = parse(context, text);
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
        {"rbf", 0, GRAM_ERROR_ARGUMENT, "kernel_check_dimension: d = 0, need at least one column"},
    };
    (void)state;
    gram_context *context = new_context();
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        gram_kernel *kernel = parse(context, CASES[i].text);
        assert_int_equal(gram_kernel_check_dimension(context, kernel, CASES[i].d), CASES[i].status);
        if (CASES[i].status < 0) assert_string_equal(gram_context_message(context), CASES[i].message);
        gram_kernel_release(kernel);
    }
    assert_int_equal(gram_kernel_check_dimension(context, NULL, 1), GRAM_ERROR_ARGUMENT);
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
    gram_kernel *kernel = parse(context, "2*rbf + matern");
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, retain_and_release, gram_kernel_retain(kernel)), 0);
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(atomic_load(&kernel->references), 1);
    expect_text(kernel, "2*rbf + matern(nu=2.5)");
    gram_kernel_release(kernel);
    assert_int_equal(gram_context_memory_used(context), before);
    gram_context_destroy(context);
}

/* ---- no memory ---- */

typedef struct failing {
    int left; /* requests that succeed */
    int live; /* blocks that are out */
} failing;

static void *fail_after(void *user, size_t bytes)
{
    failing *f = user;
    if (f->left-- <= 0) return NULL;
    f->live++;
    return aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void give_back(void *user, void *memory, size_t bytes)
{
    (void)bytes;
    ((failing *)user)->live--;
    free(memory);
}

/* Everything that takes memory, once; the first failure ends it. */
static gram_status run_all(gram_context *context, const gram_points *points)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL, *sum = NULL, *product = NULL, *power = NULL, *changed = NULL, *resolved = NULL,
                *ard = NULL;
    const int64_t column = 0;
    const double values[] = {2, 1, 3, 0.5, 2, 1, 1};
    gram_facts facts;
    gram_parameter parameter;
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
    TRY(gram_kernel_facts(context, power, 2, &facts));
    gram_kernel_release(power);
    power = NULL;
    TRY(gram_kernel_on(context, 1, &column, product, &power));
done:
    gram_kernel_release(ard);
    gram_kernel_release(resolved);
    gram_kernel_release(changed);
    gram_kernel_release(power);
    gram_kernel_release(product);
    gram_kernel_release(sum);
    gram_kernel_release(kernel);
    return status;
}

static gram_status run_resolve(gram_context *context, const gram_points *points)
{
    gram_status status = GRAM_OK;
    gram_kernel *kernel = NULL, *resolved = NULL;
    TRY(gram_kernel_parse(context, "rbf", &kernel));
    TRY(gram_kernel_resolve(context, kernel, points, &resolved));
done:
    gram_kernel_release(resolved);
    gram_kernel_release(kernel);
    return status;
}

/* Runs with the first, second ... request failing, until all succeed. */
static void fail_each(gram_context *context, failing *f, gram_status (*run)(gram_context *, const gram_points *),
                      const gram_points *points, int at_least)
{
    const size_t before = gram_context_memory_used(context);
    const int live = f->live;
    gram_status status = GRAM_ERROR_MEMORY;
    int k = 0;
    for (; status == GRAM_ERROR_MEMORY; k++) {
        assert_true(k < 1000);
        f->left = k;
        status = run(context, points);
        if (status == GRAM_ERROR_MEMORY) assert_non_null(strstr(gram_context_message(context), "the system has no"));
        assert_int_equal(gram_context_memory_used(context), before);
        assert_int_equal(f->live, live);
    }
    if (status != GRAM_OK) fail_msg("%s", gram_context_message(context));
    assert_true(k > at_least);
    f->left = 1 << 30;
}

static void test_no_memory(void **state)
{
    enum { MANY = 2500, FEW = 20 };
    static double data[MANY * 2];
    failing f = {1 << 30, 0};
    gram_context_options options;
    gram_context *context = NULL;
    gram_points *few = NULL, *many = NULL;
    (void)state;
    for (int i = 0; i < MANY * 2; i++) data[i] = sin(i * 0.7);
    gram_context_options_init(&options, sizeof options);
    options.allocator = (gram_allocator){fail_after, give_back, &f};
    assert_int_equal(gram_context_create(&options, &context), GRAM_OK);
    assert_int_equal(gram_points_create_f64(context, FEW, 2, data, 2, &few), GRAM_OK);
    assert_int_equal(gram_points_create_f64(context, MANY, 2, data, 2, &many), GRAM_OK);
    fail_each(context, &f, run_all, few, 50);
    fail_each(context, &f, run_resolve, many, 8);
    gram_points_destroy(few);
    gram_points_destroy(many);
    gram_context_destroy(context);
    assert_int_equal(f.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_building),  cmocka_unit_test(test_flattening), cmocka_unit_test(test_outlives_context),
        cmocka_unit_test(test_equality),  cmocka_unit_test(test_bad_use),    cmocka_unit_test(test_limits),
        cmocka_unit_test(test_dimension), cmocka_unit_test(test_threads),    cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

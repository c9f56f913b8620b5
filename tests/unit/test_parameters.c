/* The numbers of a kernel: their names, bounds and values, and kernels with other ones. */
#include <math.h>
#include <string.h>

#include "kernel/kernel.h"
#include "support.h"

static gram_parameter get(gram_context *context, const gram_kernel *kernel, int64_t index)
{
    gram_parameter parameter;
    assert_int_equal(gram_kernel_parameter_get(context, kernel, index, &parameter), GRAM_OK);
    return parameter;
}

/* `names` with spaces in between */
static void expect_names(gram_context *context, const char *text, const char *names)
{
    char all[1024] = "";
    gram_kernel *kernel = test_kernel(context, text);
    const int64_t count = gram_kernel_parameter_count(kernel);
    for (int64_t i = 0; i < count; i++) {
        const gram_parameter parameter = get(context, kernel, i);
        if (i > 0) strcat(all, " ");
        strcat(all, parameter.name);
    }
    assert_string_equal(all, names);
    gram_kernel_release(kernel);
}

static void test_names(void **state)
{
    expect_names(*state, "rbf", "rbf.ell");
    expect_names(*state, "rbf(ell=[1,2])", "rbf.ell[1] rbf.ell[2]");
    expect_names(*state, "rbf(S=[4])", "rbf.S.L[1,1]");
    expect_names(*state, "rbf(S=[4,1,0;1,4,1;0,1,4])",
                 "rbf.S.L[1,1] rbf.S.L[2,1] rbf.S.L[2,2] rbf.S.L[3,1] rbf.S.L[3,2] rbf.S.L[3,3]");
    expect_names(*state, "white() + min", "");
    expect_names(*state, "poly", "poly.c");
    expect_names(*state, "2*matern + const", "const#1 matern.ell const#2");
    expect_names(*state, "const*rbf", "const rbf.ell");
    expect_names(*state, "rbf + 2*on(1, rbf(ell=[3]))^2 + on(1:2, poly*rbf(ell=[1,2]))",
                 "rbf#1.ell const rbf#2.ell poly.c rbf#3.ell[1] rbf#3.ell[2]");
}

/* The same node twice in a tree is two kernels, as its text says. */
static void test_shared_node(void **state)
{
    gram_context *context = *state;
    gram_kernel *rbf = test_kernel(context, "rbf(ell=3)"), *sum = NULL, *changed = NULL;
    const double values[] = {1, 2};
    assert_int_equal(gram_kernel_sum(context, rbf, rbf, &sum), GRAM_OK);
    assert_int_equal(gram_kernel_parameter_count(sum), 2);
    assert_string_equal(get(context, sum, 0).name, "rbf#1.ell");
    assert_string_equal(get(context, sum, 1).name, "rbf#2.ell");
    assert_int_equal(gram_kernel_with_values(context, sum, values, &changed), GRAM_OK);
    test_prints(changed, "rbf(ell=1) + rbf(ell=2)");
    test_prints(rbf, "rbf(ell=3)");
    gram_kernel_release(changed);
    gram_kernel_release(sum);
    gram_kernel_release(rbf);
}

static void expect_parameter(gram_parameter p, double value, double lower, double upper, gram_transform transform,
                             int set, int fixed)
{
    assert_true(isnan(value) ? isnan(p.value) : p.value == value);
    assert_true(p.lower == lower && p.upper == upper);
    assert_int_equal(p.transform, transform);
    assert_int_equal(p.set, set);
    assert_int_equal(p.fixed, fixed);
}

static void test_fields(void **state)
{
    gram_context *context = *state;
    gram_kernel *kernel = test_kernel(context, "const*rbf(ell=[1,2!]) + poly(m=2, c=0.5!) + rbf(S=[4,2;2,10]!)");
    assert_int_equal(gram_kernel_parameter_count(kernel), 7);
    expect_parameter(get(context, kernel, 0), NAN, 0, INFINITY, GRAM_TRANSFORM_LOG, 0, 0);
    expect_parameter(get(context, kernel, 1), 1, 0, INFINITY, GRAM_TRANSFORM_LOG, 1, 0);
    expect_parameter(get(context, kernel, 2), 2, 0, INFINITY, GRAM_TRANSFORM_LOG, 1, 1);
    expect_parameter(get(context, kernel, 3), 0.5, 0, INFINITY, GRAM_TRANSFORM_LOG, 1, 1);
    /* [4,2;2,10] = L L', L = [2,0;1,3] */
    expect_parameter(get(context, kernel, 4), 2, 0, INFINITY, GRAM_TRANSFORM_LOG, 1, 1);
    expect_parameter(get(context, kernel, 5), 1, -INFINITY, INFINITY, GRAM_TRANSFORM_NONE, 1, 1);
    expect_parameter(get(context, kernel, 6), 3, 0, INFINITY, GRAM_TRANSFORM_LOG, 1, 1);
    gram_kernel_release(kernel);
}

static void test_bad_index(void **state)
{
    gram_context *context = *state;
    gram_kernel *kernel = test_kernel(context, "rbf");
    gram_parameter parameter;
    assert_int_equal(gram_kernel_parameter_get(context, kernel, 1, &parameter), GRAM_ERROR_ARGUMENT);
    assert_string_equal(gram_context_message(context), "kernel_parameter_get: index 1, the kernel has 1 parameters");
    assert_int_equal(gram_kernel_parameter_get(context, kernel, -1, &parameter), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_kernel_parameter_get(context, NULL, 0, &parameter), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_kernel_parameter_get(NULL, kernel, 0, &parameter), GRAM_ERROR_ARGUMENT);
    gram_kernel_release(kernel);
}

static void test_with_values(void **state)
{
    gram_context *context = *state;
    gram_kernel *kernel = test_kernel(context, "const*rbf(ell=[1,2!]) + on(2:3, poly + rbf(S=[4,2;2,10]))^2"),
                *changed = NULL;
    const double values[] = {0.5, 3, 4, 0, 1, -2, 0.25};
    assert_int_equal(gram_kernel_with_values(context, kernel, values, &changed), GRAM_OK);
    test_prints(changed, "0.5*rbf(ell=[3,4!]) + on(2:3, poly(m=3, c=0) + rbf(S=[1,-2;-2,4.0625]))^2");
    for (int64_t i = 0; i < 7; i++) assert_true(get(context, changed, i).value == values[i]);
    test_prints(kernel, "const*rbf(ell=[1,2!]) + on(2:3, poly(m=3, c=1) + rbf(S=[4,2;2,10]))^2");
    gram_kernel_release(changed);
    gram_kernel_release(kernel);
}

/* What get says goes back in; NaN leaves an open number open. */
static void test_values_round_trip(void **state)
{
    static const char *const TEXTS[] = {"const*rbf + poly(c=2!)*white()", "rbf(S=[4,2,0;2,10,3;0,3,5])^3",
                                        "on([1,4], matern(ell=[1!,2]))*laplace1"};
    gram_context *context = *state;
    for (size_t t = 0; t < sizeof TEXTS / sizeof *TEXTS; t++) {
        double values[8], again[8];
        gram_kernel *kernel = test_kernel(context, TEXTS[t]), *changed = NULL;
        const int64_t count = gram_kernel_parameter_count(kernel);
        for (int64_t i = 0; i < count; i++) values[i] = get(context, kernel, i).value;
        assert_int_equal(gram_kernel_with_values(context, kernel, values, &changed), GRAM_OK);
        for (int64_t i = 0; i < count; i++) again[i] = get(context, changed, i).value;
        for (int64_t i = 0; i < count; i++)
            assert_true((isnan(values[i]) && isnan(again[i])) || fabs(again[i] - values[i]) <= 4e-16 * fabs(values[i]));
        gram_kernel_release(changed);
        gram_kernel_release(kernel);
    }
}

static void expect_refusal(gram_context *context, const char *text, const double *values, const char *message)
{
    gram_kernel *kernel = test_kernel(context, text), *changed = kernel;
    const gram_status status = gram_kernel_with_values(context, kernel, values, &changed);
    assert_int_equal(status, GRAM_ERROR_ARGUMENT);
    assert_null(changed);
    assert_string_equal(gram_context_message(context), message);
    gram_kernel_release(kernel);
}

static void test_bad_values(void **state)
{
    expect_refusal(*state, "2*rbf(ell=1)", (double[]){1, 0},
                   "kernel_with_values: values[1] = 0 is out of the bounds of rbf.ell");
    expect_refusal(*state, "2*rbf(ell=1)", (double[]){-0.5, 1},
                   "kernel_with_values: values[0] = -0.5 is out of the bounds of const");
    expect_refusal(*state, "rbf(ell=1) + rbf(ell=[1,2])", (double[]){1, 1, INFINITY},
                   "kernel_with_values: values[2] = inf is out of the bounds of rbf#2.ell[2]");
    expect_refusal(*state, "rbf(ell=1)", (double[]){NAN},
                   "kernel_with_values: values[0] = nan is out of the bounds of rbf.ell");
    expect_refusal(*state, "rbf(S=[4,2;2,10])", (double[]){1, 1, 0},
                   "kernel_with_values: values[2] = 0 is out of the bounds of rbf.S.L[2,2]");
    expect_refusal(*state, "rbf(S=[4,2;2,10])", (double[]){1, NAN, 1},
                   "kernel_with_values: values[1] = nan is out of the bounds of rbf.S.L[2,1]");
    expect_refusal(*state, "rbf(S=[4,2;2,10])", (double[]){1, 1e200, 1}, "rbf(S[4]=inf): S must be finite");
    expect_refusal(*state, "rbf", NULL, "kernel_with_values: values is NULL");
}

static void expect_ard(gram_context *context, const char *text, int64_t d, const char *wanted)
{
    gram_kernel *kernel = test_kernel(context, text), *ard = NULL;
    assert_int_equal(gram_kernel_with_ard(context, kernel, d, &ard), GRAM_OK);
    test_prints(ard, wanted);
    gram_kernel_release(ard);
    gram_kernel_release(kernel);
}

static void test_with_ard(void **state)
{
    gram_context *context = *state;
    expect_ard(context, "rbf(ell=2)", 3, "rbf(ell=[2,2,2])");
    expect_ard(context, "rbf(ell=2)", 1, "rbf(ell=2)");
    expect_ard(context, "rbf(ell=2!)", 3, "rbf(ell=2!)");
    expect_ard(context, "rbf", 3, "rbf");
    expect_ard(context, "rbf(ell=[1,2,3])", 3, "rbf(ell=[1,2,3])");
    expect_ard(context, "rbf(S=[1,0;0,1])", 2, "rbf(S=[1,0;0,1])");
    expect_ard(context, "2*on(2:3, laplace1(ell=0.5) + on(1, rbf(ell=3))) + poly", 4,
               "2*on(2:3, laplace1(ell=[0.5,0.5]) + on(1, rbf(ell=3))) + poly(m=3, c=1)");
    gram_kernel *kernel = test_kernel(context, "on(4, rbf)"), *ard = kernel;
    assert_int_equal(gram_kernel_with_ard(context, kernel, 3, &ard), GRAM_ERROR_DIMENSION);
    assert_null(ard);
    gram_kernel_release(kernel);
}

static void test_check_set(void **state)
{
    gram_context *context = *state;
    gram_kernel *open = test_kernel(context, "rbf(ell=1) + 2*rbf"),
                *closed = test_kernel(context, "rbf(ell=1) + 2*matern(ell=1)");
    assert_int_equal(gram_kernel_check_set(context, closed), GRAM_OK);
    assert_int_equal(gram_kernel_check_set(context, open), GRAM_ERROR_UNSET);
    assert_string_equal(gram_context_message(context),
                        "kernel: rbf#2.ell has no value; give one, or let gram_kernel_resolve choose it");
    gram_kernel_release(open);
    gram_kernel_release(closed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_names, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_shared_node, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_fields, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_bad_index, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_with_values, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_values_round_trip, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_bad_values, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_with_ard, test_open, test_close),
        cmocka_unit_test_setup_teardown(test_check_set, test_open, test_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The spectrum of a Gram matrix against what is known of it: rank, trace, the quadratic form of the certificate by another
 * way, a matrix of two points by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "support.h"

enum { N = 40 };

static gram_spectrum *find(gram_context *context, const char *kernel, const gram_points *x, double lambda, int check)
{
    gram_spectrum_options options;
    gram_spectrum *spectrum;
    gram_kernel *own = test_kernel(context, kernel);
    gram_spectrum_options_init(&options, sizeof options);
    options.lambda = lambda;
    options.check = check;
    OK(context, gram_spectrum_create(context, own, x, &options, &spectrum));
    gram_kernel_release(own);
    return spectrum;
}

/* K of x = 0, 1 by rbf: 1 and e^(-1/2) off the diagonal; eigenvalues 1 + c and 1 - c. */
static void test_two(void **state)
{
    gram_context *context = *state;
    const double numbers[] = {0, 1}, c = exp(-0.5);
    gram_points *x = test_points(context, 2, 1, numbers);
    gram_spectrum *spectrum = find(context, "rbf(ell=1)", x, 0.25, 1);
    const gram_spectrum_report *r = gram_spectrum_get_report(spectrum);
    assert_true(r->n == 2 && r->psd && r->symmetric && r->cauchy_schwarz && isnan(r->form) && r->entry_count == 0);
    assert_true(fabs(r->values[0] - 1 - c) < 1e-15 && fabs(r->values[1] - 1 + c) < 1e-15);
    assert_true(fabs(r->effective_dimension - (1 + c) / (1.5 + c) - (1 - c) / (1.5 - c)) < 1e-15);
    assert_true(fabs(r->ratio - c) < 1e-15 && r->ratio_rows[0] == 0 && r->ratio_rows[1] == 1);
    for (int i = 0; i < 3; i++) assert_true(fabs(r->metric[i] - sqrt(2 - 2 * c)) < 1e-15);
    gram_spectrum_destroy(spectrum);
    gram_points_release(x);
}

/* x.y has rank d; tanh of it is not positive semi-definite: the largest entries of the vector and its form are told. */
static void test_certificate(void **state)
{
    gram_context *context = *state;
    double *numbers = test_random(3, 2 * N, -2, 2), trace = 0, sum = 0;
    gram_points *x = test_points(context, N, 2, numbers);
    gram_spectrum *spectrum = find(context, "linear", x, 0, 0);
    const gram_spectrum_report *r = gram_spectrum_get_report(spectrum);
    assert_true(r->psd && r->values[1] > 100 * r->tolerance && r->values[2] <= r->tolerance);
    for (int64_t i = 0; i < 2 * N; i++) trace += numbers[i] * numbers[i];
    for (int64_t i = 0; i < N; i++) sum += r->values[i];
    assert_true(fabs(sum - trace) < 1e-12 * trace && isnan(r->effective_dimension));
    gram_spectrum_destroy(spectrum);

    spectrum = find(context, "sigmoid(a=1, c=-1)", x, 0, 1);
    r = gram_spectrum_get_report(spectrum);
    assert_true(!r->psd && r->symmetric && r->entry_count == GRAM_SPECTRUM_ENTRIES);
    assert_true(r->form < 0 && fabs(r->form - r->values[N - 1]) < r->tolerance);
    for (int i = 1; i < GRAM_SPECTRUM_ENTRIES; i++) assert_true(fabs(r->entry[i]) <= fabs(r->entry[i - 1]));
    gram_spectrum_destroy(spectrum);
    gram_points_release(x);
    free(numbers);
}

/* At most so many rows: a sample, ascending, the same for one seed; bad options are named. */
static void test_rows(void **state)
{
    gram_context *context = *state;
    double *numbers = test_random(3, 2 * N, -2, 2);
    gram_points *x = test_points(context, N, 2, numbers);
    gram_kernel *kernel = test_kernel(context, "rbf(ell=1)");
    gram_spectrum_options options;
    gram_spectrum *one, *two;
    gram_spectrum_options_init(&options, sizeof options);
    options.rows = 17;
    OK(context, gram_spectrum_create(context, kernel, x, &options, &one));
    OK(context, gram_spectrum_create(context, kernel, x, &options, &two));
    const gram_spectrum_report *r = gram_spectrum_get_report(one);
    assert_true(r->n == 17 && r->rows[16] < N);
    for (int i = 1; i < 17; i++) assert_true(r->rows[i] > r->rows[i - 1]);
    assert_memory_equal(r->rows, gram_spectrum_get_report(two)->rows, 17 * sizeof *r->rows);
    gram_spectrum_destroy(one);
    gram_spectrum_destroy(two);
    options.lambda = -1;
    REFUSED(context, gram_spectrum_create(context, kernel, x, &options, &one), GRAM_ERROR_ARGUMENT, "lambda = -1");
    gram_kernel_release(kernel);
    gram_points_release(x);
    free(numbers);
}

static gram_status all_steps(gram_context *context)
{
    gram_status status = GRAM_OK;
    double numbers[2 * N];
    gram_points *x = NULL;
    gram_kernel *kernel = NULL;
    gram_spectrum *spectrum = NULL;
    gram_spectrum_options options;
    gram_spectrum_options_init(&options, sizeof options);
    options.check = 1;
    test_uniform(3, 2 * N, -2, 2, numbers);
    STEP(gram_points_create_f64(context, N, 2, numbers, 2, &x));
    STEP(gram_kernel_parse(context, "sigmoid(a=1, c=-1)", &kernel));
    STEP(gram_spectrum_create(context, kernel, x, &options, &spectrum));
done:
    gram_spectrum_destroy(spectrum);
    gram_kernel_release(kernel);
    gram_points_release(x);
    return status;
}

/* The ranges of K of x = 0, 1, ..., N - 1: all of it, and on every second row, in both precisions. */
static void test_ranges(void **state)
{
    gram_context *context = *state;
    double numbers[N];
    float singles[N];
    gram_matrix_ranges r;
    for (int i = 0; i < N; i++) singles[i] = (float)(numbers[i] = i);
    gram_kernel *kernel = test_kernel(context, "linear");
    gram_points *x = test_points(context, N, 1, numbers), *f32 = NULL;
    OK(context, gram_matrix_range(context, kernel, x, N, &r));
    assert_true(r.diagonal[0] == 0 && r.diagonal[1] == (N - 1) * (N - 1) && r.rows == N);
    assert_true(r.rest[0] == 0 && r.rest[1] == (N - 1) * (N - 2));
    OK(context, gram_points_create_f32(context, N, 1, singles, 1, &f32));
    OK(context, gram_matrix_range(context, kernel, f32, N / 2, &r));
    assert_true(r.diagonal[1] == (N - 1) * (N - 1) && r.rest[1] == (N - 2) * (N - 4) && r.rows == N / 2);
    OK(context, gram_matrix_range(context, kernel, x, 1, &r));
    assert_true(isnan(r.rest[0]) && isnan(r.rest[1]) && r.rows == 1);
    assert_int_equal(gram_matrix_range(context, kernel, x, 0, &r), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_matrix_range(context, kernel, NULL, 1, &r), GRAM_ERROR_ARGUMENT);
    gram_points_release(f32);
    gram_points_release(x);
    gram_kernel_release(kernel);
}

static void test_no_memory(void **state)
{
    (void)state;
    assert_true(oom_each(all_steps, 0) > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two),    cmocka_unit_test(test_certificate), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_ranges), cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}

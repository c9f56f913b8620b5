/* A few rows of many columns in few columns: the same distances and inner products, and the same tuning. */
#include <math.h>
#include <stdlib.h>

#include "points/row_sample.h"
#include "support.h"

enum { N = 7, D = 1500 };

static double product(int64_t d, const double *a, const double *b)
{
    long double sum = 0;
    for (int64_t l = 0; l < d; l++) sum += (long double)a[l] * b[l];
    return (double)sum;
}

static double distance(int64_t d, const double *a, const double *b)
{
    long double sum = 0;
    for (int64_t l = 0; l < d; l++) sum += ((long double)a[l] - b[l]) * ((long double)a[l] - b[l]);
    return sqrt((double)sum);
}

/* Row 3 is row 1, row 5 is near row 0, row 6 is in the span of others. */
static double *make_rows(void)
{
    double *x = test_random(3, N * D, -2, 3);
    for (int l = 0; l < D; l++) {
        x[3 * D + l] = x[D + l];
        x[5 * D + l] = x[l] + (l == 17 ? 1e-6 : 0);
        x[6 * D + l] = x[2 * D + l] - 2 * x[4 * D + l];
    }
    return x;
}

static void same_geometry(void **state)
{
    gram_context *c = *state;
    double *x = make_rows(), y[N] = {0}, narrow[N * N];
    int64_t rows[N] = {0, 1, 2, 3, 4, 5, 6};
    gram_points *points = test_points(c, N, D, x);
    const gram_given given = {points, 1, y, 1, NULL};
    gram_sample sample;
    OK(c, gram_sample_make(c, &given, N, rows, &sample));
    OK(c, gram_sample_narrow(c, &sample));
    assert_int_equal(gram_points_dimension(sample.points), N);
    for (int i = 0; i < N; i++)
        for (int l = 0; l < N; l++) narrow[i * N + l] = gram_points_at(sample.points, i, l);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            const double size = sqrt(product(D, x + i * D, x + i * D) * product(D, x + j * D, x + j * D));
            const double dot = product(N, narrow + i * N, narrow + j * N),
                         near = distance(N, narrow + i * N, narrow + j * N);
            assert_true(fabs(dot - product(D, x + i * D, x + j * D)) < 1e-13 * size);
            assert_true(fabs(near - distance(D, x + i * D, x + j * D)) < 1e-13 * sqrt(size));
        }
    gram_sample_free(c, &sample);
    gram_points_release(points);
    free(x);
}

/* The criterion at the tuned values, which the search had from narrow points, is that of the points themselves. */
static void same_criterion(void **state)
{
    gram_context *c = *state;
    enum { ROWS = 40 };
    double *x = test_random(8, ROWS * D, -1, 1), y[ROWS], lambda, value;
    gram_points *points = test_points(c, ROWS, D, x);
    gram_kernel *kernel = test_kernel(c, "rbf + 0.1*linear"), *tuned = NULL;
    gram_krr_tune_options options;
    gram_krr_tune_report report = {.size = sizeof report};
    for (int i = 0; i < ROWS; i++) y[i] = product(40, x + i * D, x + i * D) + x[i * D];
    gram_krr_tune_options_init(&options, sizeof options);
    OK(c, gram_krr_tune(c, kernel, points, 1, y, 1, &options, &tuned, &lambda, &report));
    OK(c, gram_krr_criterion(c, tuned, points, 1, y, 1, &options, lambda, &value, NULL));
    assert_true(fabs(value - report.value) < 1e-9 * value);
    gram_kernel_release(kernel);
    gram_kernel_release(tuned);
    gram_points_release(points);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_geometry),
        cmocka_unit_test(same_criterion),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}

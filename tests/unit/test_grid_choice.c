/* Which cells one fold leaves, and the choice among cells of which some were not fitted; then a whole search with and without. */
#include <math.h>
#include <stdlib.h>

#include <gram/svm.h>

#include "support.h"
#include "tune/grid_search.h"

enum { WIDTHS = 4, STRENGTHS = 3 };

static void test_screen(void **state)
{
    (void)state;
    double scores[WIDTHS * STRENGTHS] = {0.50, 0.60, 0.60, 0.70, 0.89, 0.80, 0.80, 0.92, 0.70, 0.60, 0.70, 0.70};
    double errors[WIDTHS * STRENGTHS];
    for (int i = 0; i < WIDTHS * STRENGTHS; i++) errors[i] = 0.04;
    const gram_grid_rule rule = {.maximise = 1};
    const gram_grid_scores grid = {WIDTHS, STRENGTHS, scores, errors};
    gram_grid_rest rest = gram_grid_screen(&rule, &grid);
    assert_true(rest.first == 1 && rest.end == 3 && rest.strengths == 2);
    errors[7] = 0.01;
    rest = gram_grid_screen(&rule, &grid);
    assert_true(rest.first == 2 && rest.end == 3 && rest.strengths == 2);
    for (int i = 0; i < WIDTHS * STRENGTHS; i++) scores[i] = NAN;
    rest = gram_grid_screen(&rule, &grid);
    assert_true(rest.end > rest.first && rest.strengths > 0); /* something is left in any case */
}

/* Neighbours that were not fitted have no say, and are not chosen. */
static void test_holes(void **state)
{
    (void)state;
    double scores[WIDTHS * STRENGTHS] = {NAN, NAN, NAN, 0.80, 0.90, NAN, 0.80, 0.85, NAN, NAN, NAN, NAN};
    double errors[WIDTHS * STRENGTHS] = {0};
    const gram_grid_rule rule = {.maximise = 1, .smooth = 1};
    const gram_grid_scores grid = {WIDTHS, STRENGTHS, scores, errors};
    assert_int_equal(gram_grid_choose(&rule, &grid), 4);
}

/* 2,100 rows of three classes: the choice is that of the whole grid, by fewer fits. */
static void test_search(void **state)
{
    enum { N = 2100 };
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    double *x = test_random(7, 2 * N, 0, 4), *y = test_numbers(N), *u = test_random(8, N, 0, 1);
    double C[2], scores[100];
    gram_svm_tune_report r[2] = {{.size = sizeof *r}, {.size = sizeof *r}};
    gram_svm_options options;
    gram_svm_options_init(&options, sizeof options);
    for (int i = 0; i < N; i++)
        y[i] = u[i] < 0.1 ? i % 3 : floor(fmin(2.99, 1.5 + 1.4 * sin(2 * x[2 * i]) * cos(x[2 * i + 1])));
    gram_points *p = test_points(c, N, 2, x);
    gram_kernel *kernel = test_kernel(c, "rbf"), *tuned[2];
    for (int i = 0; i < 2; i++)
        OK(c, gram_svm_tune(c, kernel, p, y, &options, NULL, &tuned[i], &C[i], i ? scores : NULL, NULL, &r[i]));
    assert_true(r[0].fits < 0.8 * (double)r[1].fits);
    assert_true(r[0].score == r[1].score && r[0].standard_error == r[1].standard_error && C[0] == C[1]);
    for (int i = 0; i < 2; i++) gram_kernel_release(tuned[i]);
    gram_kernel_release(kernel);
    gram_points_release(p);
    gram_context_destroy(c);
    free(x), free(y), free(u);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_screen), cmocka_unit_test(test_holes),
                                       cmocka_unit_test(test_search)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What tuning finds: scales that made the data, a long length for a column without influence, a minimum of the criterion (its
 * gradient says so), the same bits for any number of threads. */
#include <stdio.h>

#include "tune_case.h"

/* ---- what is found ---- */

static void finds_scales(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        tune_problem p = tune_problem_make(2, 200);
        gram_krr_tune_options o = tune_defaults();
        o.criterion = (gram_criterion)kind;
        const tune_result r = tune_run(&p, "rbf", &o);
        assert_int_equal(r.status, GRAM_OK);
        print_message("%d: %s, noise %g, value %g, isotropic %g, %lld evaluations\n", kind, r.text, 200 * r.lambda,
                      r.report.value, r.report.value_isotropic, (long long)r.report.evaluations);
        assert_int_equal(r.count, TUNE_D);
        assert_int_equal(r.report.ard_kept, 1);
        assert_int_equal(r.report.rows, 200);
        assert_true(r.values[0] > 0.2 && r.values[0] < 2);
        assert_true(r.values[2] > 3 * r.values[0]); /* no influence */
        assert_true(r.report.value < r.report.value_isotropic);
        /* the variance of the noise is 0.01: errors of cross-validation are a little more */
        if (kind < 3) assert_true(r.report.value > 0.009 && r.report.value < 0.0125);
        tune_problem_free(&p);
    }
}

/* No small move along a parameter lowers the criterion by more than the tolerance of the search. */
static void is_a_minimum(void **state)
{
    (void)state;
    tune_problem p = tune_problem_make(2, 150);
    gram_krr_tune_options o = tune_defaults();
    o.criterion_alone = 1;
    const tune_result r = tune_run(&p, "const*matern", &o);
    gram_kernel *kernel = test_kernel(p.context, r.text);
    double gradient[17], value;
    OK(p.context, gram_krr_criterion(p.context, kernel, p.points, 1, p.y, 1, &o, r.lambda, &value, gradient));
    assert_true(fabs(value - r.report.value) <= 1e-9 * value);
    for (int64_t i = 0; i <= r.count; i++) {
        const double at = i < r.count ? r.values[i] : r.lambda;
        if (!(fabs(gradient[i] * at / value) < 0.05))
            FAIL_TEST("%s, %g: slope %g of the log criterion", r.text, r.lambda, gradient[i] * at / value);
    }
    gram_kernel_release(kernel);
    tune_problem_free(&p);
}

static void noise_is_not_fitted(void **state)
{
    (void)state;
    tune_problem p = tune_problem_make(2, 120);
    double *noise = test_random(31, 120, -1, 1);
    memcpy(p.y, noise, 120 * sizeof *noise);
    const tune_result r = tune_run(&p, "rbf", NULL);
    assert_int_equal(r.status, GRAM_OK);
    /* the variance is 1/3 */
    assert_true(r.report.value > 0.25 && r.report.value < 0.4);
    assert_int_equal(r.report.ard_kept, 0);
    free(noise);
    tune_problem_free(&p);
}

/* The criterion of a tune_result on some rows with the noise n lambda that was found for `all` rows */
static double value_on(const tune_problem *p, const tune_result *r, int64_t count, const int64_t *rows)
{
    double *x = test_numbers(count * TUNE_D), *y = test_numbers(count), value = NAN;
    gram_kernel *kernel = test_kernel(p->context, r->text);
    for (int64_t i = 0; i < count; i++) {
        memcpy(x + i * TUNE_D, p->x + rows[i] * TUNE_D, TUNE_D * sizeof *x);
        y[i] = p->y[rows[i]];
    }
    gram_points *points = test_points(p->context, count, TUNE_D, x);
    const double lambda = r->lambda * (double)p->n / (double)count;
    OK(p->context, gram_krr_criterion(p->context, kernel, points, 1, y, 1, NULL, lambda, &value, NULL));
    gram_points_release(points);
    gram_kernel_release(kernel);
    free(x);
    free(y);
    return value;
}

/* Three samples; and a tuning of fewer rows, which are the first of a seeded order: its noise n lambda is what was tuned
 * on them, and does nearly as well on all. */
static void climbs(void **state)
{
    (void)state;
    enum { ALL = 1210, SOME = 700 };
    tune_problem p = tune_problem_make(2, ALL);
    gram_krr_tune_options o = tune_defaults();
    int64_t order[ALL], every[ALL];
    gram_random_permutation((gram_random){gram_context_seed(p.context), 0x74756e65}, 0, ALL, order);
    for (int64_t i = 0; i < ALL; i++) every[i] = i;
    const tune_result all = tune_run(&p, "rbf", NULL);
    o.rows = SOME;
    const tune_result some = tune_run(&p, "rbf", &o);
    assert_true(all.report.rows == ALL && some.report.rows == SOME);
    assert_true(all.report.evaluations < 25);
    assert_true(fabs(value_on(&p, &all, ALL, every) / all.report.value - 1) < 1e-7);
    assert_true(fabs(value_on(&p, &some, SOME, order) / some.report.value - 1) < 1e-7);
    assert_true(value_on(&p, &some, ALL, every) < 1.02 * all.report.value);
    /* the sine determines its length; that of the parabola goes with the noise along a flat valley */
    assert_true(fabs(log(some.values[0] / all.values[0])) < 1);
    assert_true(all.report.value > 0.009 && all.report.value < 0.011);
    tune_problem_free(&p);
}

/* Forty cycles on a trend: a length-scale of the whole range takes them for noise, a minimum as well. The better one is a
 * hundredth of it. */
static void finds_a_cycle(void **state)
{
    (void)state;
    enum { N = 400 };
    tune_problem p = {.context = test_context(2, GRAM_ISA_AUTO), .n = N};
    double *noise = test_random(31, N, -0.1732, 0.1732);
    p.x = test_random(32, N, -1, 1);
    p.y = test_numbers(N);
    for (int64_t i = 0; i < N; i++) p.y[i] = 10 * p.x[i] + p.x[i] * p.x[i] + sin(40 * 3.14159265 * p.x[i]) + noise[i];
    p.points = test_points(p.context, N, 1, p.x);
    const tune_result r = tune_run(&p, "rbf", NULL);
    print_message("cycle: %s, value %g\n", r.text, r.report.value);
    assert_int_equal(r.status, GRAM_OK);
    assert_true(r.values[0] < 0.1);
    assert_true(r.report.value < 0.1); /* the cycles have the variance 0.5, the noise 0.01 */
    tune_problem_free(&p);
    free(noise);
}

static void same_bits(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        tune_result first = {.lambda = 0};
        for (int threads = 1; threads <= 3; threads++) {
            tune_problem p = tune_problem_make(threads, kind == 0 ? 430 : 130);
            gram_krr_tune_options o = tune_defaults();
            o.criterion = (gram_criterion)kind;
            o.ard = kind < 2;
            o.restarts = 1;
            o.evaluations = 12; /* each further one would repeat the same sums */
            const tune_result r = tune_run(&p, "rbf", &o);
            if (threads == 1) first = r;
            assert_string_equal(r.text, first.text);
            assert_memory_equal(&r.lambda, &first.lambda, sizeof r.lambda);
            assert_memory_equal(&r.report.value, &first.report.value, sizeof r.lambda);
            tune_problem_free(&p);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_scales),        cmocka_unit_test(is_a_minimum),
                                       cmocka_unit_test(noise_is_not_fitted), cmocka_unit_test(climbs),
                                       cmocka_unit_test(finds_a_cycle),       cmocka_unit_test(same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

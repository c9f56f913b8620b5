/* The minimiser with bounds: known minima, bounds that hold and let go, points without a value, a Hessian that is carried
 * over, limits, cancel. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solve/minimise.h"
#include "support.h"

enum { MOST = 12 };

static gram_status rosenbrock(void *argument, const double *x, double *value, double *gradient)
{
    const double a = x[1] - x[0] * x[0], b = 1 - x[0];
    ++*(int *)argument;
    *value = 100 * a * a + b * b;
    gradient[0] = -400 * a * x[0] - 2 * b;
    gradient[1] = 200 * a;
    return GRAM_OK;
}

/* sum_i 4^i (x_i - x_(i-1) - 1)^2, x_(-1) = 0: least at x_i = i + 1 */
static gram_status chain(void *argument, const double *x, double *value, double *gradient)
{
    const int n = *(const int *)argument;
    double weight = 1;
    *value = 0;
    memset(gradient, 0, (size_t)n * sizeof *gradient);
    for (int i = 0; i < n; i++, weight *= 4) {
        const double away = x[i] - (i ? x[i - 1] : 0) - 1;
        *value += weight * away * away;
        gradient[i] += 2 * weight * away;
        if (i) gradient[i - 1] -= 2 * weight * away;
    }
    return GRAM_OK;
}

/* x - log(x - 1): no value at and below 1, least at 2 */
static gram_status barrier(void *argument, const double *x, double *value, double *gradient)
{
    ++*(int *)argument;
    *value = x[0] > 1 ? x[0] - log(x[0] - 1) : NAN;
    gradient[0] = 1 - 1 / (x[0] - 1);
    return GRAM_OK;
}

typedef struct result {
    double x[MOST], inverse[MOST * MOST];
    int known;
    gram_minimise_report report;
} result;

static gram_minimise_problem problem_of(int64_t n, const double *lower, const double *upper, gram_objective_fn f,
                                        void *argument)
{
    return (gram_minimise_problem){.n = n,
                                   .lower = lower,
                                   .upper = upper,
                                   .evaluations = 1000,
                                   .tolerance = 1e-13,
                                   .first_step = 0.1,
                                   .longest_step = 10,
                                   .evaluate = f,
                                   .argument = argument};
}

static gram_status minimise(gram_context *context, const gram_minimise_problem *problem, result *r)
{
    return gram_minimise(context, problem, r->x, r->inverse, &r->known, &r->report);
}

static void valley(void **state)
{
    (void)state;
    const double lower[] = {-5, -5}, upper[] = {5, 5}, tight[] = {0.8, 5};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    int calls = 0;
    result r = {.x = {-1.2, 1}};
    gram_minimise_problem problem = problem_of(2, lower, upper, rosenbrock, &calls);
    OK(context, minimise(context, &problem, &r));
    assert_true(fabs(r.x[0] - 1) < 1e-5 && fabs(r.x[1] - 1) < 1e-5 && r.report.converged);
    assert_int_equal(calls, r.report.evaluations);
    assert_true(calls < 80);
    /* a bound in the way: (0.8, 0.64) */
    r = (result){.x = {-1.2, 1}};
    problem.upper = tight;
    OK(context, minimise(context, &problem, &r));
    assert_true(r.x[0] == 0.8 && fabs(r.x[1] - 0.64) < 1e-6 && fabs(r.report.value - 0.04) < 1e-10);
    /* from a bound that lets go, and from outside */
    r = (result){.x = {-5, 5}};
    OK(context, minimise(context, &problem, &r));
    assert_true(r.x[0] == 0.8 && fabs(r.x[1] - 0.64) < 1e-6);
    r = (result){.x = {100, -100}};
    OK(context, minimise(context, &problem, &r));
    assert_true(r.x[0] == 0.8 && fabs(r.x[1] - 0.64) < 1e-6);
    gram_context_destroy(context);
}

static void carried_over(void **state)
{
    (void)state;
    double lower[MOST], upper[MOST];
    int n = MOST;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    for (int i = 0; i < MOST; i++) {
        lower[i] = -100;
        upper[i] = 100;
    }
    result r = {.known = 0};
    gram_minimise_problem problem = problem_of(MOST, lower, upper, chain, &n);
    OK(context, minimise(context, &problem, &r));
    const int64_t first = r.report.evaluations;
    for (int i = 0; i < MOST; i++) assert_true(fabs(r.x[i] - i - 1) < 1e-4);
    assert_int_equal(r.known, 1);
    /* the same function from another place, with what is known of its Hessian */
    for (int i = 0; i < MOST; i++) r.x[i] = 0;
    problem.tolerance = 1e-9;
    OK(context, minimise(context, &problem, &r));
    for (int i = 0; i < MOST; i++) assert_true(fabs(r.x[i] - i - 1) < 1e-3);
    assert_true(r.report.evaluations < first / 2);
    /* once more, but what the Hessian promises need not be worth a step: it ends earlier, and no further up than that */
    const int64_t second = r.report.evaluations;
    for (int i = 0; i < MOST; i++) r.x[i] = 0;
    problem.promise = 1e-2;
    const double end = r.report.value;
    OK(context, minimise(context, &problem, &r));
    assert_true(r.report.converged && r.report.evaluations < second);
    assert_true(r.report.value > end && r.report.value < end + 2e-2);
    gram_context_destroy(context);
}

static void without_value(void **state)
{
    (void)state;
    const double lower[] = {-10}, upper[] = {50};
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    int calls = 0;
    result r = {.x = {30}};
    gram_minimise_problem problem = problem_of(1, lower, upper, barrier, &calls);
    problem.longest_step = 100;
    OK(context, minimise(context, &problem, &r));
    assert_true(fabs(r.x[0] - 2) < 1e-5);
    /* none where it starts */
    r = (result){.x = {0}};
    OK(context, minimise(context, &problem, &r));
    assert_true(r.report.value == INFINITY && r.report.evaluations == 1 && !r.report.converged);
    gram_context_destroy(context);
}

static gram_status failing(void *argument, const double *x, double *value, double *gradient)
{
    (void)x;
    *value = gradient[0] = 0;
    return *(const gram_status *)argument;
}

static void limits(void **state)
{
    (void)state;
    const double lower[] = {-5, -5}, upper[] = {5, 5}, one[] = {1, 1};
    gram_context *context = test_context(1, GRAM_ISA_AUTO), *stopped = TEST_CONTEXT(.cancel = test_stop);
    int calls = 0;
    result r = {.x = {-1.2, 1}};
    gram_minimise_problem problem = problem_of(2, lower, upper, rosenbrock, &calls);
    problem.evaluations = 7;
    OK(context, minimise(context, &problem, &r));
    assert_true(calls == 7 && !r.report.converged && r.report.value < 24.2);
    /* nothing is free */
    problem.lower = problem.upper = one;
    OK(context, minimise(context, &problem, &r));
    assert_true(r.x[0] == 1 && r.x[1] == 1 && r.report.converged);
    /* a failure of the function is the search's */
    gram_status failure = GRAM_ERROR_MEMORY;
    problem = problem_of(1, lower, upper, failing, &failure);
    assert_int_equal(minimise(context, &problem, &r), GRAM_ERROR_MEMORY);
    problem = problem_of(2, lower, upper, rosenbrock, &calls);
    assert_int_equal(minimise(stopped, &problem, &r), GRAM_ERROR_CANCELLED);
    gram_context_destroy(stopped);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(valley), cmocka_unit_test(carried_over),
                                       cmocka_unit_test(without_value), cmocka_unit_test(limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The planner: what it chooses, that its bytes are an upper bound of what a fit takes, and what it says when nothing fits. */
#include <stdlib.h>
#include <string.h>

#include "support.h"

static gram_context *context_with(size_t budget)
{
    return TEST_CONTEXT(.threads = 1, .memory_budget = budget);
}

static gram_krr_plan_request request(int64_t n, int64_t d)
{
    gram_krr_plan_request r;
    gram_krr_plan_request_init(&r, sizeof r);
    r.n = n;
    r.d = d;
    return r;
}

static void chooses(void **state)
{
    (void)state;
    gram_context *c = context_with((size_t)8 << 30);
    gram_plan plan;
    gram_krr_plan_request r = request(5000, 10);
    OK(c, gram_krr_plan(c, &r, &plan));
    assert_true(plan.solver == GRAM_SOLVER_EXACT && plan.precision == GRAM_PRECISION_F64 && plan.leave_one_out);
    r.n = 5001;
    OK(c, gram_krr_plan(c, &r, &plan));
    assert_true(plan.solver == GRAM_SOLVER_EXACT && plan.precision == GRAM_PRECISION_MIXED && !plan.leave_one_out);
    const double mixed = plan.seconds;
    r.leave_one_out = 1;
    OK(c, gram_krr_plan(c, &r, &plan));
    assert_true(plan.precision == GRAM_PRECISION_F64 && plan.leave_one_out && plan.seconds > mixed);
    r.leave_one_out = -1;
    r.n = 20000; /* 0.8 GB in f32 */
    OK(c, gram_krr_plan(c, &r, &plan));
    assert_true(plan.bytes > 800e6 && plan.bytes < 0.3 * 8 * 20000.0 * 20000.0);
    r.n = 1000000;
    OK(c, gram_krr_plan(c, &r, &plan));
    assert_true(plan.solver == GRAM_SOLVER_NYSTROM && plan.landmarks == 3000);
    assert_non_null(strstr(plan.reason, "landmarks"));
    gram_context_destroy(c);
}

static void refuses(void **state)
{
    (void)state;
    gram_context *c = context_with((size_t)1 << 30);
    gram_plan plan;
    gram_krr_plan_request r = request(80000, 10);
    r.solver = GRAM_SOLVER_EXACT;
    REFUSED(c, gram_krr_plan(c, &r, &plan), GRAM_ERROR_BUDGET, "what would fit: nystrom with 3000 landmarks");
    assert_non_null(strstr(gram_context_message(c), "exact up to n = 2"));
    r = request(0, 10);
    assert_int_equal(gram_krr_plan(c, &r, &plan), GRAM_ERROR_ARGUMENT);
    r = request(10, 10);
    r.solver = (gram_solver)17;
    assert_int_equal(gram_krr_plan(c, &r, &plan), GRAM_ERROR_ARGUMENT);
    gram_context_destroy(c);
    assert_string_equal(gram_solver_name(GRAM_SOLVER_CG), "cg");
    assert_string_equal(gram_solver_name((gram_solver)-1), "unknown");
    assert_string_equal(gram_precision_name(GRAM_PRECISION_MIXED), "mixed");
}

/* What a fit holds at its peak is within the plan's bytes, and not far below. */
static void bytes_bound_the_fit(void **state)
{
    (void)state;
    enum { N = 3000, D = 5 };
    double *x = test_random(1, N * D, -1, 1), *y = test_random(2, N, -1, 1);
    static const gram_precision precisions[] = {GRAM_PRECISION_F64, GRAM_PRECISION_MIXED, GRAM_PRECISION_F64};
    for (int k = 0; k < 3; k++) {
        gram_context *c = context_with(0);
        gram_kernel *kernel = test_kernel(c, "rbf(ell=0.5)");
        gram_points *points = test_points(c, N, D, x);
        gram_krr_options o;
        gram_krr *krr = NULL;
        gram_krr_options_init(&o, sizeof o);
        o.precision = k < 2 ? precisions[k] : GRAM_PRECISION_AUTO;
        o.solver = k < 2 ? GRAM_SOLVER_EXACT : GRAM_SOLVER_NYSTROM;
        o.landmarks = k < 2 ? 0 : 500;
        OK(c, gram_krr_fit(c, kernel, points, 1, y, 1, &o, &krr));
        const double peak = (double)gram_context_memory_peak(c), planned = (double)gram_krr_get_report(krr)->plan.bytes;
        if (peak > planned || peak < 0.6 * planned) FAIL_TEST("case %d: peak %g, planned %g", k, peak, planned);
        gram_krr_destroy(krr);
        gram_points_release(points);
        gram_kernel_release(kernel);
        gram_context_destroy(c);
    }
    free(x), free(y);
}

/* Two rows of 20,000 columns: points are packed in panels of 96 rows, and that is in the plan. */
static void wide_rows_count(void **state)
{
    (void)state;
    enum { N = 2, D = 20000 };
    gram_context *c = context_with(0);
    double *x = test_random(5, N * D, -1, 1), y[N] = {1, 2};
    gram_points *points = test_points(c, N, D, x);
    gram_kernel *kernel = test_kernel(c, "rbf(ell=100)");
    gram_krr *krr = NULL;
    OK(c, gram_krr_fit(c, kernel, points, 1, y, 1, NULL, &krr));
    const gram_plan *plan = &gram_krr_get_report(krr)->plan;
    const double peak = (double)gram_context_memory_peak(c);
    assert_true(peak > 96.0 * D * 8);
    assert_true(peak <= (double)plan->bytes);
    assert_true(plan->seconds > 0.03); /* some ten times 15 MB of fresh memory */
    gram_krr_destroy(krr);
    gram_points_release(points);
    gram_kernel_release(kernel);
    free(x);
    gram_context_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chooses),
        cmocka_unit_test(refuses),
        cmocka_unit_test(bytes_bound_the_fit),
        cmocka_unit_test(wide_rows_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

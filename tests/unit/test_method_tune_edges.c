/* Tuning at its edges: what is fixed stays, options, grids, weights, few rows, constant targets, unusual kernels, cancel, bad
 * arguments. */
#include "tune_case.h"

/* ---- what is kept ---- */

static void kept_as_it_is(void **state)
{
    (void)state;
    tune_problem p = tune_problem_make(2, 100);
    gram_krr_tune_options o = tune_defaults();
    tune_result r = tune_run(&p, "rbf(ell=0.7!)", &o);
    assert_string_equal(r.text, "rbf(ell=0.7!)");
    assert_true(isfinite(r.lambda) && r.report.evaluations > 0);
    o.lambda = 0.003;
    o.lambda_fixed = 1;
    r = tune_run(&p, "rbf", &o);
    assert_true(fabs(r.lambda - 0.003) < 1e-16);
    r = tune_run(&p, "rbf(ell=0.7!)", &o); /* nothing is free */
    assert_string_equal(r.text, "rbf(ell=0.7!)");
    assert_true(r.status == GRAM_OK && r.report.value > 0);
    o = tune_defaults();
    r = tune_run(&p, "poly(m=2, c=1!)", &o);
    assert_string_equal(r.text, "poly(m=2, c=1!)");
    r = tune_run(&p, "2!*rbf(ell=[0.5!,1,2]) + 0.1!*white()", &o);
    assert_true(r.values[0] == 2 && r.values[1] == 0.5 && r.values[2] != 1 && r.values[4] == 0.1);
    o.ard = 0;
    r = tune_run(&p, "rbf", &o);
    assert_true(r.count == 1 && isnan(r.report.value_isotropic) && !r.report.ard_kept);
    tune_problem_free(&p);
}

static void starts_where_told(void **state)
{
    (void)state;
    tune_problem p = tune_problem_make(2, 100);
    gram_krr_tune_options o = tune_defaults();
    o.ard = 0;
    o.lambda = 1e-4;
    const tune_result far = tune_run(&p, "rbf(ell=30)", &o), near = tune_run(&p, "rbf(ell=0.9)", &o);
    assert_true(fabs(log(far.report.value / near.report.value)) < 0.05);
    tune_problem_free(&p);
}

/* Rows of weight 0 are as if they were not there; doubled weights double the noise. */
static void weights(void **state)
{
    (void)state;
    tune_problem p = tune_problem_make(2, 120), q = tune_problem_make(2, 120);
    gram_krr_tune_options o = tune_defaults();
    double w[120];
    for (int i = 0; i < 120; i++) w[i] = i < 90 ? 1 : 0;
    for (int i = 90; i < 120; i++) p.y[i] = 1e6;
    gram_points_release(q.points);
    q.points = test_points(q.context, 90, TUNE_D, q.x);
    const tune_result few = tune_run(&q, "rbf", &o);
    o.weights = w;
    const tune_result weighted = tune_run(&p, "rbf", &o);
    assert_string_equal(weighted.text, few.text);
    assert_memory_equal(&weighted.lambda, &few.lambda, sizeof few.lambda);
    assert_int_equal(weighted.report.rows, 90);
    tune_problem_free(&p);
    tune_problem_free(&q);
}

static void no_intercept(void **state)
{
    (void)state;
    tune_problem p = tune_problem_make(2, 100);
    gram_krr_tune_options o = tune_defaults();
    o.intercept = 0;
    const tune_result r = tune_run(&p, "rbf", &o);
    assert_true(r.status == GRAM_OK && r.report.value < 0.02);
    tune_problem_free(&p);
}

static void several_outputs(void **state)
{
    (void)state;
    tune_problem p = tune_problem_make(2, 100);
    double *y = test_numbers(300), lambda = 0;
    gram_kernel *kernel = test_kernel(p.context, "rbf"), *tuned = NULL;
    gram_krr_tune_report report = {.size = sizeof report};
    for (int64_t i = 0; i < 100; i++) {
        y[3 * i] = p.y[i];
        y[3 * i + 1] = cos(2 * p.x[i * TUNE_D]);
        y[3 * i + 2] = NAN; /* not an output */
    }
    for (int kind = 0; kind < 4; kind++) {
        gram_krr_tune_options o = tune_defaults();
        o.criterion = (gram_criterion)kind;
        OK(p.context, gram_krr_tune(p.context, kernel, p.points, 2, y, 3, &o, &tuned, &lambda, &report));
        assert_true(lambda > 0 && isfinite(report.value));
        gram_kernel_release(tuned);
    }
    gram_kernel_release(kernel);
    free(y);
    tune_problem_free(&p);
}

/* ---- grids ---- */

static void grid(void **state)
{
    (void)state;
    tune_problem p = tune_problem_make(2, 100);
    gram_krr_tune_options o = tune_defaults();
    o.ard = 0;
    const tune_result descent = tune_run(&p, "rbf", &o);
    o.grid = 12;
    const tune_result r = tune_run(&p, "rbf", &o);
    assert_int_equal(r.report.evaluations, 144);
    assert_true(r.report.value >= 0.99 * descent.report.value && r.report.value < 1.3 * descent.report.value);
    o.grid = 2;
    assert_int_equal(tune_run(&p, "const*rbf(ell=[1,1,1!])", &o).status, GRAM_OK);
    REFUSED(p.context, tune_run(&p, "const*rbf(ell=[1,1,1])", &o).status, GRAM_ERROR_ARGUMENT, "5 free numbers");
    o.grid = 1;
    o.lambda = 0.01;
    o.lambda_fixed = 1;
    assert_int_equal(tune_run(&p, "rbf", &o).report.evaluations, 1);
    tune_problem_free(&p);
}

/* ---- the edges ---- */

static void few_rows(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 3, 5};
    for (int i = 0; i < 4; i++)
        for (int kind = 0; kind < 4; kind++)
            for (int intercept = 0; intercept < 2; intercept++) {
                tune_problem p = tune_problem_make(1, sizes[i]);
                gram_krr_tune_options o = tune_defaults();
                o.criterion = (gram_criterion)kind;
                o.intercept = intercept;
                const tune_result r = tune_run(&p, "rbf", &o);
                if (r.status < 0) FAIL_TEST("n = %lld: %s", (long long)sizes[i], gram_context_message(p.context));
                assert_true(r.lambda > 0 && isfinite(r.lambda));
                for (int64_t l = 0; l < r.count; l++) assert_true(r.values[l] > 0 && isfinite(r.values[l]));
                assert_true(isfinite(r.report.value) || sizes[i] == 1);
                tune_problem_free(&p);
            }
}

static void duplicates(void **state)
{
    (void)state;
    tune_problem p = tune_problem_make(2, 90);
    for (int64_t i = 0; i < 45; i++) memcpy(p.x + (45 + i) * TUNE_D, p.x + i * TUNE_D, TUNE_D * sizeof *p.x);
    tune_result r = tune_run(&p, "rbf", NULL);
    assert_true(r.status >= 0 && r.lambda > 0);
    memcpy(p.y + 45, p.y, 45 * sizeof *p.y); /* the targets, too */
    r = tune_run(&p, "rbf", NULL);
    assert_true(r.status >= 0 && r.lambda > 0 && r.report.value < 0.1);
    for (int64_t i = 0; i < 90 * TUNE_D; i++) p.x[i] = 1; /* one point */
    r = tune_run(&p, "rbf", NULL);
    assert_true(r.status >= 0 && r.lambda > 0 && isfinite(r.report.value));
    tune_problem_free(&p);
}

static void constant_target(void **state)
{
    (void)state;
    tune_problem p = tune_problem_make(2, 50);
    gram_krr_tune_options o = tune_defaults();
    for (int64_t i = 0; i < 50; i++) p.y[i] = -2;
    for (int kind = 0; kind < 3; kind++) {
        o.criterion = (gram_criterion)kind;
        const tune_result r = tune_run(&p, "rbf", &o);
        assert_true(r.status == GRAM_OK && r.report.value < 1e-20 && r.lambda > 0);
    }
    o.intercept = 0;
    memset(p.y, 0, 50 * sizeof *p.y);
    assert_int_equal(tune_run(&p, "rbf", &o).status, GRAM_OK);
    tune_problem_free(&p);
}

/* A column that is constant, columns of very different sizes, a kernel with parameters of every kind */
static void unusual(void **state)
{
    (void)state;
    tune_problem p = tune_problem_make(2, 80);
    for (int64_t i = 0; i < 80; i++) {
        p.x[i * TUNE_D] *= 1e6;
        p.x[i * TUNE_D + 1] *= 1e-4;
        p.x[i * TUNE_D + 2] = 5;
    }
    tune_result r = tune_run(&p, "rbf(ell=[1e6,1e-4,1])", NULL);
    assert_true(r.status >= 0 && r.report.value < 0.02);
    tune_problem_free(&p);
    p = tune_problem_make(2, 80);
    static const char *const texts[] = {"rbf(S=[1,0,0;0,1,0;0,0,1])",
                                        "on(1, rbf) + on(2:3, laplace1)",
                                        "rq + 0.1*white()",
                                        "on(1, periodic(p=2, ell=1)) + linear",
                                        "warp([1,0,0;0,1,0], matern)",
                                        "poly",
                                        "normalize(linear(c=1))"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        r = tune_run(&p, texts[i], NULL);
        if (r.status < 0) FAIL_TEST("%s: %s", texts[i], gram_context_message(p.context));
        assert_true(isfinite(r.report.value) && r.lambda > 0);
    }
    tune_problem_free(&p);
}

static void precomputed(void **state)
{
    (void)state;
    tune_problem p = tune_problem_make(2, 700);
    double *k = test_numbers(700 * 700), lambda = 0;
    gram_kernel *rbf = test_kernel(p.context, "rbf(ell=0.8)"), *given = NULL, *tuned = NULL;
    OK(p.context, gram_matrix(p.context, rbf, p.points, NULL, k, 700));
    OK(p.context, gram_kernel_precomputed(p.context, "K", 700, k, 700, &given));
    OK(p.context, gram_krr_tune(p.context, given, p.points, 1, p.y, 1, NULL, &tuned, &lambda, NULL));
    const tune_result r = tune_run(&p, "rbf(ell=0.8!)", NULL);
    assert_true(fabs(log(lambda / r.lambda)) < 0.5);
    gram_kernel_release(rbf);
    gram_kernel_release(given);
    gram_kernel_release(tuned);
    free(k);
    tune_problem_free(&p);
}

static void limits(void **state)
{
    (void)state;
    tune_problem p = tune_problem_make(2, 100);
    gram_krr_tune_options o = tune_defaults();
    o.evaluations = 3;
    const tune_result r = tune_run(&p, "rbf", &o);
    assert_int_equal(r.status, GRAM_NOT_CONVERGED);
    assert_true(r.report.evaluations == 3 && isfinite(r.report.value));
    o = tune_defaults();
    o.restarts = 1;
    o.folds = 3;
    o.criterion = GRAM_CRITERION_CV;
    assert_true(tune_run(&p, "rbf", &o).status >= 0);
    tune_problem_free(&p);
}

typedef struct watcher {
    int calls, cancel_at;
    double last;
    int falls, other;
} watcher;

static void watch(void *user, const char *what, double share)
{
    watcher *w = user;
    w->falls += share < w->last || share > 1;
    w->other += strcmp(what, "tuning") != 0;
    w->last = share;
}

static int stop(void *user)
{
    watcher *w = user;
    return ++w->calls >= w->cancel_at;
}

static void progress_and_cancel(void **state)
{
    (void)state;
    for (int at = 1; at < 200; at += 17) {
        tune_problem p = tune_problem_make(1, 60);
        watcher w = {.cancel_at = at};
        gram_context_destroy(p.context);
        p.context = TEST_CONTEXT(.progress = watch, .cancel = stop, .progress_user = &w, .cancel_user = &w);
        const tune_result r = tune_run(&p, "rbf", NULL);
        assert_true(r.status == GRAM_ERROR_CANCELLED || (r.status >= 0 && w.calls < at));
        assert_true(w.falls == 0 && w.other == 0);
        tune_problem_free(&p);
    }
}

static void refuses(const tune_problem *p, const char *text, const gram_krr_tune_options *o, gram_status expected,
                    const char *words)
{
    const tune_result r = tune_run(p, text, o);
    if (r.status != expected || !strstr(gram_context_message(p->context), words))
        FAIL_TEST("%s '%s' instead of '%s'", gram_status_name(r.status), gram_context_message(p->context), words);
}

static void bad_arguments(void **state)
{
    (void)state;
    tune_problem p = tune_problem_make(1, 20);
    gram_kernel *kernel = test_kernel(p.context, "rbf"), *tuned = NULL;
    gram_context *c = p.context;
    gram_krr_tune_options o = tune_defaults();
    double lambda = 0;
    assert_int_equal(gram_krr_tune(NULL, kernel, p.points, 1, p.y, 1, NULL, &tuned, &lambda, NULL),
                     GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_krr_tune(c, NULL, p.points, 1, p.y, 1, NULL, &tuned, &lambda, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_krr_tune(c, kernel, NULL, 1, p.y, 1, NULL, &tuned, &lambda, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_krr_tune(c, kernel, p.points, 1, NULL, 1, NULL, &tuned, &lambda, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_krr_tune(c, kernel, p.points, 0, p.y, 1, NULL, &tuned, &lambda, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_krr_tune(c, kernel, p.points, 2, p.y, 1, NULL, &tuned, &lambda, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_krr_tune(c, kernel, p.points, 1, p.y, 1, NULL, NULL, &lambda, NULL), GRAM_ERROR_ARGUMENT);
    assert_int_equal(gram_krr_tune(c, kernel, p.points, 1, p.y, 1, NULL, &tuned, NULL, NULL), GRAM_ERROR_ARGUMENT);
    assert_null(tuned);
    refuses(&p, "on(4, rbf)", &o, GRAM_ERROR_DIMENSION, "column 4");
    o.lambda = -1;
    refuses(&p, "rbf", &o, GRAM_ERROR_ARGUMENT, "lambda = -1");
    o = tune_defaults();
    o.lambda_fixed = 1;
    refuses(&p, "rbf", &o, GRAM_ERROR_ARGUMENT, "lambda = ");
    o = tune_defaults();
    o.rows = 0;
    refuses(&p, "rbf", &o, GRAM_ERROR_ARGUMENT, "rows = 0");
    o = tune_defaults();
    o.restarts = 0;
    refuses(&p, "rbf", &o, GRAM_ERROR_ARGUMENT, "restarts = 0");
    o = tune_defaults();
    o.evaluations = 0;
    refuses(&p, "rbf", &o, GRAM_ERROR_ARGUMENT, "evaluations = 0");
    o = tune_defaults();
    o.grid = -1;
    refuses(&p, "rbf", &o, GRAM_ERROR_ARGUMENT, "grid = -1");
    o = tune_defaults();
    o.ard = 2;
    refuses(&p, "rbf", &o, GRAM_ERROR_ARGUMENT, "ard = 2");
    p.y[7] = INFINITY;
    o = tune_defaults();
    refuses(&p, "rbf", &o, GRAM_ERROR_DATA, "y[7][0] is");
    gram_krr_tune_options_init(NULL, 0);
    gram_kernel_release(kernel);
    tune_problem_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kept_as_it_is),
                                       cmocka_unit_test(starts_where_told),
                                       cmocka_unit_test(weights),
                                       cmocka_unit_test(no_intercept),
                                       cmocka_unit_test(several_outputs),
                                       cmocka_unit_test(grid),
                                       cmocka_unit_test(few_rows),
                                       cmocka_unit_test(duplicates),
                                       cmocka_unit_test(constant_target),
                                       cmocka_unit_test(unusual),
                                       cmocka_unit_test(precomputed),
                                       cmocka_unit_test(limits),
                                       cmocka_unit_test(progress_and_cancel),
                                       cmocka_unit_test(bad_arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tuning: scales that made the data are found, a column without influence gets a long length, what is fixed stays, the
 * result is a minimum of the criterion (its gradient says so) and has the same bits for any number of threads; options,
 * grids, weights, few rows, constant targets, cancel, bad arguments, allocations that fail. */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

enum { D = 3 };

typedef struct problem {
    gram_context *context;
    gram_points *points;
    int64_t n;
    double *x, *y;
} problem;

/* y = sin(3 x_1) + x_2^2 + noise of deviation 0.1; x_3 has no influence */
static problem make(int threads, int64_t n)
{
    problem p = {.context = test_context(threads, GRAM_ISA_AUTO), .n = n};
    double *noise = test_random(22, n, -0.1732, 0.1732);
    p.x = test_random(21, n * D, -1, 1);
    p.y = test_numbers(n);
    for (int64_t i = 0; i < n; i++) p.y[i] = 3 + sin(3 * p.x[i * D]) + p.x[i * D + 1] * p.x[i * D + 1] + noise[i];
    p.points = test_points(p.context, n, D, p.x);
    free(noise);
    return p;
}

static void drop(problem *p)
{
    gram_points_destroy(p->points);
    gram_context_destroy(p->context);
    free(p->x);
    free(p->y);
}

static gram_tune_options defaults(void)
{
    gram_tune_options o;
    gram_tune_options_init(&o, sizeof o);
    return o;
}

typedef struct result {
    char text[1024];
    double lambda, values[16];
    int64_t count;
    gram_status status;
    gram_tune_report report;
} result;

static void read_values(gram_context *context, const gram_kernel *kernel, result *r)
{
    r->count = gram_kernel_parameter_count(kernel);
    assert_true(r->count <= 16);
    for (int64_t i = 0; i < r->count; i++) {
        gram_parameter parameter;
        OK(context, gram_kernel_parameter_get(context, kernel, i, &parameter));
        r->values[i] = parameter.value;
    }
    (void)gram_kernel_print(kernel, r->text, sizeof r->text);
}

static result tune(const problem *p, const char *text, const gram_tune_options *o)
{
    result r = {.lambda = NAN};
    gram_kernel *kernel = test_kernel(p->context, text), *tuned = NULL;
    r.status = gram_krr_tune(p->context, kernel, p->points, 1, p->y, 1, o, &tuned, &r.lambda, &r.report);
    if (r.status >= 0) read_values(p->context, tuned, &r);
    gram_kernel_release(kernel);
    gram_kernel_release(tuned);
    return r;
}

/* ---- what is found ---- */

static void finds_scales(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        problem p = make(2, 200);
        gram_tune_options o = defaults();
        o.criterion = (gram_criterion)kind;
        const result r = tune(&p, "rbf", &o);
        assert_int_equal(r.status, GRAM_OK);
        print_message("%d: %s, noise %g, value %g, isotropic %g, %lld evaluations\n", kind, r.text, 200 * r.lambda,
                      r.report.value, r.report.value_isotropic, (long long)r.report.evaluations);
        assert_int_equal(r.count, D);
        assert_int_equal(r.report.ard_kept, 1);
        assert_int_equal(r.report.rows, 200);
        assert_true(r.values[0] > 0.2 && r.values[0] < 2);
        assert_true(r.values[2] > 3 * r.values[0]); /* no influence */
        assert_true(r.report.value < r.report.value_isotropic);
        /* the variance of the noise is 0.01: errors of cross-validation are a little more */
        if (kind < 3) assert_true(r.report.value > 0.009 && r.report.value < 0.0125);
        drop(&p);
    }
}

/* No small move along a parameter lowers the criterion by more than the tolerance of the search. */
static void is_a_minimum(void **state)
{
    (void)state;
    problem p = make(2, 150);
    gram_tune_options o = defaults();
    const result r = tune(&p, "const*matern", &o);
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
    drop(&p);
}

static void noise_is_not_fitted(void **state)
{
    (void)state;
    problem p = make(2, 120);
    double *noise = test_random(31, 120, -1, 1);
    memcpy(p.y, noise, 120 * sizeof *noise);
    const result r = tune(&p, "rbf", NULL);
    assert_int_equal(r.status, GRAM_OK);
    /* the variance is 1/3 */
    assert_true(r.report.value > 0.25 && r.report.value < 0.4);
    assert_int_equal(r.report.ard_kept, 0);
    free(noise);
    drop(&p);
}

/* The criterion of a result on some rows with the noise n lambda that was found for `all` rows */
static double value_on(const problem *p, const result *r, int64_t count, const int64_t *rows)
{
    double *x = test_numbers(count * D), *y = test_numbers(count), value = NAN;
    gram_kernel *kernel = test_kernel(p->context, r->text);
    for (int64_t i = 0; i < count; i++) {
        memcpy(x + i * D, p->x + rows[i] * D, D * sizeof *x);
        y[i] = p->y[rows[i]];
    }
    gram_points *points = test_points(p->context, count, D, x);
    const double lambda = r->lambda * (double)p->n / (double)count;
    OK(p->context, gram_krr_criterion(p->context, kernel, points, 1, y, 1, NULL, lambda, &value, NULL));
    gram_points_destroy(points);
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
    problem p = make(2, ALL);
    gram_tune_options o = defaults();
    int64_t order[ALL], every[ALL];
    gram_random_permutation((gram_random){gram_context_seed(p.context), 0x74756e65}, 0, ALL, order);
    for (int64_t i = 0; i < ALL; i++) every[i] = i;
    const result all = tune(&p, "rbf", NULL);
    o.rows = SOME;
    const result some = tune(&p, "rbf", &o);
    assert_true(all.report.rows == ALL && some.report.rows == SOME);
    assert_true(all.report.evaluations < 25);
    assert_true(fabs(value_on(&p, &all, ALL, every) / all.report.value - 1) < 1e-7);
    assert_true(fabs(value_on(&p, &some, SOME, order) / some.report.value - 1) < 1e-7);
    assert_true(value_on(&p, &some, ALL, every) < 1.02 * all.report.value);
    /* the sine determines its length; that of the parabola goes with the noise along a flat valley */
    assert_true(fabs(log(some.values[0] / all.values[0])) < 1);
    assert_true(all.report.value > 0.009 && all.report.value < 0.011);
    drop(&p);
}

/* Forty cycles on a trend: a length-scale of the whole range takes them for noise, a minimum as well. The better one is a
 * hundredth of it. */
static void finds_a_cycle(void **state)
{
    (void)state;
    enum { N = 400 };
    problem p = {.context = test_context(2, GRAM_ISA_AUTO), .n = N};
    double *noise = test_random(31, N, -0.1732, 0.1732);
    p.x = test_random(32, N, -1, 1);
    p.y = test_numbers(N);
    for (int64_t i = 0; i < N; i++) p.y[i] = 10 * p.x[i] + p.x[i] * p.x[i] + sin(40 * 3.14159265 * p.x[i]) + noise[i];
    p.points = test_points(p.context, N, 1, p.x);
    const result r = tune(&p, "rbf", NULL);
    print_message("cycle: %s, value %g\n", r.text, r.report.value);
    assert_int_equal(r.status, GRAM_OK);
    assert_true(r.values[0] < 0.1);
    assert_true(r.report.value < 0.1); /* the cycles have the variance 0.5, the noise 0.01 */
    drop(&p);
    free(noise);
}

static void same_bits(void **state)
{
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        result first = {.lambda = 0};
        for (int threads = 1; threads <= 3; threads++) {
            problem p = make(threads, kind == 0 ? 430 : 130);
            gram_tune_options o = defaults();
            o.criterion = (gram_criterion)kind;
            o.ard = kind < 2;
            const result r = tune(&p, "rbf", &o);
            if (threads == 1) first = r;
            assert_string_equal(r.text, first.text);
            assert_memory_equal(&r.lambda, &first.lambda, sizeof r.lambda);
            assert_memory_equal(&r.report.value, &first.report.value, sizeof r.lambda);
            drop(&p);
        }
    }
}

/* ---- what is kept ---- */

static void kept_as_it_is(void **state)
{
    (void)state;
    problem p = make(2, 100);
    gram_tune_options o = defaults();
    result r = tune(&p, "rbf(ell=0.7!)", &o);
    assert_string_equal(r.text, "rbf(ell=0.7!)");
    assert_true(isfinite(r.lambda) && r.report.evaluations > 0);
    o.lambda = 0.003;
    o.lambda_fixed = 1;
    r = tune(&p, "rbf", &o);
    assert_true(fabs(r.lambda - 0.003) < 1e-16);
    r = tune(&p, "rbf(ell=0.7!)", &o); /* nothing is free */
    assert_string_equal(r.text, "rbf(ell=0.7!)");
    assert_true(r.status == GRAM_OK && r.report.value > 0);
    o = defaults();
    r = tune(&p, "poly(m=2, c=1!)", &o);
    assert_string_equal(r.text, "poly(m=2, c=1!)");
    r = tune(&p, "2!*rbf(ell=[0.5!,1,2]) + 0.1!*white()", &o);
    assert_true(r.values[0] == 2 && r.values[1] == 0.5 && r.values[2] != 1 && r.values[4] == 0.1);
    o.ard = 0;
    r = tune(&p, "rbf", &o);
    assert_true(r.count == 1 && isnan(r.report.value_isotropic) && !r.report.ard_kept);
    drop(&p);
}

static void starts_where_told(void **state)
{
    (void)state;
    problem p = make(2, 100);
    gram_tune_options o = defaults();
    o.ard = 0;
    o.lambda = 1e-4;
    const result far = tune(&p, "rbf(ell=30)", &o), near = tune(&p, "rbf(ell=0.9)", &o);
    assert_true(fabs(log(far.report.value / near.report.value)) < 0.05);
    drop(&p);
}

/* Rows of weight 0 are as if they were not there; doubled weights double the noise. */
static void weights(void **state)
{
    (void)state;
    problem p = make(2, 120), q = make(2, 120);
    gram_tune_options o = defaults();
    double w[120];
    for (int i = 0; i < 120; i++) w[i] = i < 90 ? 1 : 0;
    for (int i = 90; i < 120; i++) p.y[i] = 1e6;
    gram_points_destroy(q.points);
    q.points = test_points(q.context, 90, D, q.x);
    const result few = tune(&q, "rbf", &o);
    o.weights = w;
    const result weighted = tune(&p, "rbf", &o);
    assert_string_equal(weighted.text, few.text);
    assert_memory_equal(&weighted.lambda, &few.lambda, sizeof few.lambda);
    assert_int_equal(weighted.report.rows, 90);
    drop(&p);
    drop(&q);
}

static void no_intercept(void **state)
{
    (void)state;
    problem p = make(2, 100);
    gram_tune_options o = defaults();
    o.intercept = 0;
    const result r = tune(&p, "rbf", &o);
    assert_true(r.status == GRAM_OK && r.report.value < 0.02);
    drop(&p);
}

static void several_outputs(void **state)
{
    (void)state;
    problem p = make(2, 100);
    double *y = test_numbers(300), lambda = 0;
    gram_kernel *kernel = test_kernel(p.context, "rbf"), *tuned = NULL;
    gram_tune_report report;
    for (int64_t i = 0; i < 100; i++) {
        y[3 * i] = p.y[i];
        y[3 * i + 1] = cos(2 * p.x[i * D]);
        y[3 * i + 2] = NAN; /* not an output */
    }
    for (int kind = 0; kind < 4; kind++) {
        gram_tune_options o = defaults();
        o.criterion = (gram_criterion)kind;
        OK(p.context, gram_krr_tune(p.context, kernel, p.points, 2, y, 3, &o, &tuned, &lambda, &report));
        assert_true(lambda > 0 && isfinite(report.value));
        gram_kernel_release(tuned);
    }
    gram_kernel_release(kernel);
    free(y);
    drop(&p);
}

/* ---- grids ---- */

static void grid(void **state)
{
    (void)state;
    problem p = make(2, 100);
    gram_tune_options o = defaults();
    o.ard = 0;
    const result descent = tune(&p, "rbf", &o);
    o.grid = 12;
    const result r = tune(&p, "rbf", &o);
    assert_int_equal(r.report.evaluations, 144);
    assert_true(r.report.value >= 0.99 * descent.report.value && r.report.value < 1.3 * descent.report.value);
    o.grid = 2;
    assert_int_equal(tune(&p, "const*rbf(ell=[1,1,1!])", &o).status, GRAM_OK);
    assert_int_equal(tune(&p, "const*rbf(ell=[1,1,1])", &o).status, GRAM_ERROR_ARGUMENT);
    assert_non_null(strstr(gram_context_message(p.context), "5 free numbers"));
    o.grid = 1;
    o.lambda = 0.01;
    o.lambda_fixed = 1;
    assert_int_equal(tune(&p, "rbf", &o).report.evaluations, 1);
    drop(&p);
}

/* ---- the edges ---- */

static void few_rows(void **state)
{
    (void)state;
    static const int64_t sizes[] = {1, 2, 3, 5};
    for (int i = 0; i < 4; i++)
        for (int kind = 0; kind < 4; kind++)
            for (int intercept = 0; intercept < 2; intercept++) {
                problem p = make(1, sizes[i]);
                gram_tune_options o = defaults();
                o.criterion = (gram_criterion)kind;
                o.intercept = intercept;
                const result r = tune(&p, "rbf", &o);
                if (r.status < 0) FAIL_TEST("n = %lld: %s", (long long)sizes[i], gram_context_message(p.context));
                assert_true(r.lambda > 0 && isfinite(r.lambda));
                for (int64_t l = 0; l < r.count; l++) assert_true(r.values[l] > 0 && isfinite(r.values[l]));
                assert_true(isfinite(r.report.value) || sizes[i] == 1);
                drop(&p);
            }
}

static void duplicates(void **state)
{
    (void)state;
    problem p = make(2, 90);
    for (int64_t i = 0; i < 45; i++) memcpy(p.x + (45 + i) * D, p.x + i * D, D * sizeof *p.x);
    result r = tune(&p, "rbf", NULL);
    assert_true(r.status >= 0 && r.lambda > 0);
    memcpy(p.y + 45, p.y, 45 * sizeof *p.y); /* the targets, too */
    r = tune(&p, "rbf", NULL);
    assert_true(r.status >= 0 && r.lambda > 0 && r.report.value < 0.1);
    for (int64_t i = 0; i < 90 * D; i++) p.x[i] = 1; /* one point */
    r = tune(&p, "rbf", NULL);
    assert_true(r.status >= 0 && r.lambda > 0 && isfinite(r.report.value));
    drop(&p);
}

static void constant_target(void **state)
{
    (void)state;
    problem p = make(2, 50);
    gram_tune_options o = defaults();
    for (int64_t i = 0; i < 50; i++) p.y[i] = -2;
    for (int kind = 0; kind < 3; kind++) {
        o.criterion = (gram_criterion)kind;
        const result r = tune(&p, "rbf", &o);
        assert_true(r.status == GRAM_OK && r.report.value < 1e-20 && r.lambda > 0);
    }
    o.intercept = 0;
    memset(p.y, 0, 50 * sizeof *p.y);
    assert_int_equal(tune(&p, "rbf", &o).status, GRAM_OK);
    drop(&p);
}

/* A column that is constant, columns of very different sizes, a kernel with parameters of every kind */
static void unusual(void **state)
{
    (void)state;
    problem p = make(2, 80);
    for (int64_t i = 0; i < 80; i++) {
        p.x[i * D] *= 1e6;
        p.x[i * D + 1] *= 1e-4;
        p.x[i * D + 2] = 5;
    }
    result r = tune(&p, "rbf(ell=[1e6,1e-4,1])", NULL);
    assert_true(r.status >= 0 && r.report.value < 0.02);
    drop(&p);
    p = make(2, 80);
    static const char *const texts[] = {"rbf(S=[1,0,0;0,1,0;0,0,1])",
                                        "on(1, rbf) + on(2:3, laplace1)",
                                        "rq + 0.1*white()",
                                        "on(1, periodic(p=2, ell=1)) + linear",
                                        "warp([1,0,0;0,1,0], matern)",
                                        "poly",
                                        "normalize(linear(c=1))"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        r = tune(&p, texts[i], NULL);
        if (r.status < 0) FAIL_TEST("%s: %s", texts[i], gram_context_message(p.context));
        assert_true(isfinite(r.report.value) && r.lambda > 0);
    }
    drop(&p);
}

static void precomputed(void **state)
{
    (void)state;
    problem p = make(2, 700);
    double *k = test_numbers(700 * 700), lambda = 0;
    gram_kernel *rbf = test_kernel(p.context, "rbf(ell=0.8)"), *given = NULL, *tuned = NULL;
    OK(p.context, gram_matrix(p.context, rbf, p.points, NULL, k, 700));
    OK(p.context, gram_kernel_precomputed(p.context, "K", 700, k, 700, &given));
    OK(p.context, gram_krr_tune(p.context, given, p.points, 1, p.y, 1, NULL, &tuned, &lambda, NULL));
    const result r = tune(&p, "rbf(ell=0.8!)", NULL);
    assert_true(fabs(log(lambda / r.lambda)) < 0.5);
    gram_kernel_release(rbf);
    gram_kernel_release(given);
    gram_kernel_release(tuned);
    free(k);
    drop(&p);
}

static void limits(void **state)
{
    (void)state;
    problem p = make(2, 100);
    gram_tune_options o = defaults();
    o.evaluations = 3;
    const result r = tune(&p, "rbf", &o);
    assert_int_equal(r.status, GRAM_NOT_CONVERGED);
    assert_true(r.report.evaluations == 3 && isfinite(r.report.value));
    o = defaults();
    o.restarts = 1;
    o.folds = 3;
    o.criterion = GRAM_CRITERION_CV;
    assert_true(tune(&p, "rbf", &o).status >= 0);
    drop(&p);
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
        problem p = make(1, 60);
        watcher w = {.cancel_at = at};
        gram_context_options options;
        gram_context_options_init(&options, sizeof options);
        options.progress = watch;
        options.cancel = stop;
        options.progress_user = options.cancel_user = &w;
        gram_context_destroy(p.context);
        OK(NULL, gram_context_create(&options, &p.context));
        const result r = tune(&p, "rbf", NULL);
        assert_true(r.status == GRAM_ERROR_CANCELLED || (r.status >= 0 && w.calls < at));
        assert_true(w.falls == 0 && w.other == 0);
        drop(&p);
    }
}

static void refuses(const problem *p, const char *text, const gram_tune_options *o, gram_status expected,
                    const char *words)
{
    const result r = tune(p, text, o);
    if (r.status != expected || !strstr(gram_context_message(p->context), words))
        FAIL_TEST("%s '%s' instead of '%s'", gram_status_name(r.status), gram_context_message(p->context), words);
}

static void bad_arguments(void **state)
{
    (void)state;
    problem p = make(1, 20);
    gram_kernel *kernel = test_kernel(p.context, "rbf"), *tuned = NULL;
    gram_context *c = p.context;
    gram_tune_options o = defaults();
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
    o = defaults();
    o.lambda_fixed = 1;
    refuses(&p, "rbf", &o, GRAM_ERROR_ARGUMENT, "lambda = ");
    o = defaults();
    o.rows = 0;
    refuses(&p, "rbf", &o, GRAM_ERROR_ARGUMENT, "rows = 0");
    o = defaults();
    o.restarts = 0;
    refuses(&p, "rbf", &o, GRAM_ERROR_ARGUMENT, "restarts = 0");
    o = defaults();
    o.evaluations = 0;
    refuses(&p, "rbf", &o, GRAM_ERROR_ARGUMENT, "evaluations = 0");
    o = defaults();
    o.grid = -1;
    refuses(&p, "rbf", &o, GRAM_ERROR_ARGUMENT, "grid = -1");
    o = defaults();
    o.ard = 2;
    refuses(&p, "rbf", &o, GRAM_ERROR_ARGUMENT, "ard = 2");
    p.y[7] = INFINITY;
    o = defaults();
    refuses(&p, "rbf", &o, GRAM_ERROR_DATA, "y[7][0] is");
    gram_tune_options_init(NULL, 0);
    gram_kernel_release(kernel);
    drop(&p);
}

/* ---- every allocation failing in turn ---- */

typedef struct book {
    atomic_llong made, held;
    long long fail_at;
} book;

static void *allocate(void *user, size_t bytes)
{
    book *b = user;
    if (atomic_fetch_add(&b->made, 1) == b->fail_at) return NULL;
    void *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!block) return NULL;
    memset(block, 0xa5, bytes);
    atomic_fetch_add(&b->held, 1);
    return block;
}

static void give_back(void *user, void *block, size_t bytes)
{
    book *b = user;
    (void)bytes;
    if (!block) return;
    atomic_fetch_sub(&b->held, 1);
    free(block);
}

enum { OOM_N = 7 };

static gram_status play(const gram_context_options *options, int kind, const double *x, const double *y)
{
    gram_context *context = NULL;
    gram_points *points = NULL;
    gram_kernel *kernel = NULL, *tuned = NULL;
    gram_tune_options o = defaults();
    double lambda, value, gradient[8], w[OOM_N] = {1, 1, 0, 2, 1, 1, 1};
    o.criterion = (gram_criterion)kind;
    o.folds = 3;
    o.restarts = 1;
    o.evaluations = 4;
    o.weights = w;
    gram_status status = gram_context_create(options, &context);
    if (status >= 0) status = gram_points_create_f64(context, OOM_N, D, x, D, &points);
    if (status >= 0) status = gram_kernel_parse(context, "rbf(ell=1)", &kernel);
    if (status >= 0) status = gram_krr_criterion(context, kernel, points, 1, y, 1, &o, 0.1, &value, gradient);
    if (status >= 0) status = gram_krr_tune(context, kernel, points, 1, y, 1, &o, &tuned, &lambda, NULL);
    o.grid = 2;
    gram_kernel_release(tuned);
    if (status >= 0) status = gram_krr_tune(context, kernel, points, 1, y, 1, &o, &tuned, &lambda, NULL);
    if (status >= 0) gram_kernel_release(tuned);
    gram_kernel_release(kernel);
    gram_points_destroy(points);
    gram_context_destroy(context);
    return status;
}

static void failing_allocations(void **state)
{
    (void)state;
    double *x = test_random(41, OOM_N * D, -1, 1), *y = test_random(42, OOM_N, -1, 1);
    for (int kind = 0; kind < 4; kind++) {
        /* allocations repeat with every evaluation: all of the first ones, then every 11th */
        long long k = 0;
        for (;; k += k < 200 ? 1 : 11) {
            book b = {.fail_at = k};
            gram_context_options options;
            gram_context_options_init(&options, sizeof options);
            options.threads = 1;
            options.allocator = (gram_allocator){allocate, give_back, &b};
            const gram_status status = play(&options, kind, x, y);
            if (atomic_load(&b.held)) FAIL_TEST("failure %lld: %lld blocks leaked", k, (long long)b.held);
            if (status >= 0 && atomic_load(&b.made) <= k) break;
            if (status < 0 && status != GRAM_ERROR_MEMORY)
                FAIL_TEST("failure %lld gave %s", k, gram_status_name(status));
        }
        print_message("criterion %d: %lld allocations\n", kind, k);
    }
    free(x);
    free(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(finds_scales),
                                       cmocka_unit_test(is_a_minimum),
                                       cmocka_unit_test(noise_is_not_fitted),
                                       cmocka_unit_test(climbs),
                                       cmocka_unit_test(finds_a_cycle),
                                       cmocka_unit_test(same_bits),
                                       cmocka_unit_test(kept_as_it_is),
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
                                       cmocka_unit_test(bad_arguments),
                                       cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

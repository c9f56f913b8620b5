/* Additive splines of other losses against the kernel methods, which solve the same problem in other terms: f = b + slopes.x + sum_i a_i k(x_i, .) with k the
 * sum of on(l, sobolev(a=2)), constant and slopes unpenalised, by interior points on n x n matrices. And every allocation of splines failing in turn. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/spline.h>

#include "oom.h"

enum { N = 45, D = 2 }; /* fewer rows than knots: the minimum is over all functions */

static const char KERNEL[] = "on(1, sobolev(a=2, null=0)) + on(2, sobolev(a=2, null=0))";

typedef struct rows {
    double x[N * D], y[N], class[N], w[N];
} rows;

static rows make_rows(void)
{
    rows r;
    double noise[N];
    test_uniform(11, N * D, 0, 1, r.x);
    test_uniform(12, N, -0.5, 0.5, noise);
    for (int i = 0; i < N; i++) {
        r.x[D * i] = 0.02 + (i + 0.5 * r.x[D * i]) / N;
        r.x[D * i + 1] = 0.02 + ((i * 17 + 5) % N + 0.5 * r.x[D * i + 1]) / N;
        r.y[i] = sin(5 * r.x[D * i]) + 2 * r.x[D * i + 1] * r.x[D * i + 1] + noise[i] * (i % 7 ? 0.4 : 4);
        r.class[i] = sin(5 * r.x[D * i]) + r.x[D * i + 1] + 3 * noise[i] > 0.8;
        r.w[i] = i % 5 == 3 ? 0 : 0.5 + 0.25 * (i % 4);
    }
    return r;
}

static void check(const char *what, const rows *r, const gram_spline *spline, gram_context *context,
                  const gram_function *f, const gram_points *points, double tolerance)
{
    double wanted[N];
    OK(context, gram_function_evaluate(context, f, points, wanted, 1));
    for (int i = 0; i < N; i++) {
        const double got = gram_spline_fitted(spline)[i];
        if (r->w[i] == 0 ? !isnan(got) : !(fabs(got - wanted[i]) <= tolerance))
            FAIL_TEST("%s, row %d: %.12g instead of %.12g", what, i, got, wanted[i]);
    }
}

static void losses(void **state)
{
    static const struct {
        gram_spline_loss loss;
        gram_loss_kind kind;
    } pairs[] = {{GRAM_SPLINE_LOSS_ABSOLUTE, GRAM_LOSS_ABSOLUTE},
                 {GRAM_SPLINE_LOSS_HUBER, GRAM_LOSS_HUBER},
                 {GRAM_SPLINE_LOSS_QUANTILE, GRAM_LOSS_QUANTILE},
                 {GRAM_SPLINE_LOSS_INSENSITIVE, GRAM_LOSS_INSENSITIVE}};
    static const double LAMBDAS[] = {1e-2, 1e-4}, level = 0.8;
    static const int64_t columns[D] = {0, 1};
    gram_context *context = *state;
    const rows r = make_rows();
    gram_points *points = test_points(context, N, D, r.x);
    gram_kernel *kernel = test_kernel(context, KERNEL);
    for (int k = 0; k < 8; k++) {
        gram_spline_options o;
        gram_loss_options t;
        gram_spline *spline = NULL;
        gram_loss *twin = NULL;
        gram_spline_options_init(&o, sizeof o);
        gram_loss_options_init(&t, sizeof t);
        o.loss = pairs[k / 2].loss;
        t.kind = pairs[k / 2].kind;
        o.lambda = t.lambda = LAMBDAS[k % 2];
        o.weights = t.weights = r.w;
        o.quantile = level;
        t.quantiles = &level;
        t.quantile_count = t.kind == GRAM_LOSS_QUANTILE;
        o.delta = t.delta = 0.3;
        o.epsilon = t.epsilon = 0.05;
        t.unpenalised = columns;
        t.unpenalised_count = D;
        t.tolerance = 1e-10;
        OK(context, gram_spline_fit(context, points, r.y, &o, &spline));
        const gram_status status = gram_loss_fit(context, kernel, points, r.y, &t, &twin);
        assert_true(status >= 0 && gram_loss_get_report(twin)->gap < 1e-7);
        const double objective = gram_spline_get_report(spline)->objective;
        if (!(fabs(objective - gram_loss_get_report(twin)->objective) <= 1e-7 * objective))
            FAIL_TEST("%s: objective %.15g instead of %.15g", gram_spline_loss_name(o.loss), objective,
                      gram_loss_get_report(twin)->objective);
        assert_true(gram_spline_get_report(spline)->gap <= 1e-8);
        check(gram_spline_loss_name(o.loss), &r, spline, context, gram_loss_function(twin), points, 1e-4);
        gram_spline_destroy(spline);
        gram_loss_destroy(twin);
    }
    gram_kernel_release(kernel);
    gram_points_release(points);
}

static void classes(void **state)
{
    static const int64_t columns[D] = {0, 1};
    gram_context *context = *state;
    const rows r = make_rows();
    gram_points *points = test_points(context, N, D, r.x);
    gram_kernel *kernel = test_kernel(context, KERNEL);
    gram_spline_options o;
    gram_logistic_options t;
    gram_spline *spline = NULL;
    gram_logistic *twin = NULL;
    gram_spline_options_init(&o, sizeof o);
    gram_logistic_options_init(&t, sizeof t);
    o.loss = GRAM_SPLINE_LOSS_LOGISTIC;
    o.lambda = t.lambda = 1e-3;
    o.weights = t.weights = r.w;
    t.unpenalised = columns;
    t.unpenalised_count = D;
    OK(context, gram_spline_fit(context, points, r.class, &o, &spline));
    OK(context, gram_logistic_fit(context, kernel, points, 2, r.class, &t, &twin));
    check("logistic", &r, spline, context, gram_logistic_function(twin), points, 1e-6);
    gram_spline_destroy(spline);
    gram_logistic_destroy(twin);
    gram_kernel_release(kernel);
    gram_points_release(points);
}

/* Without a lambda one is chosen by folds: left-out rows lose less than under a fit that is much smoother or rougher, and the components stay apart. */
static void chosen(void **state)
{
    gram_context *context = *state;
    const rows r = make_rows();
    gram_points *points = test_points(context, N, D, r.x);
    gram_spline_options o;
    gram_spline *spline = NULL;
    gram_spline_options_init(&o, sizeof o);
    o.loss = GRAM_SPLINE_LOSS_QUANTILE;
    OK(context, gram_spline_fit(context, points, r.y, &o, &spline));
    const gram_spline_report *report = gram_spline_get_report(spline);
    assert_true(report->criterion > 0 && report->criterion < 0.2);
    assert_int_equal(report->tuned_rows, N);
    double sum[D] = {0}, means[N], spread = 0;
    for (int j = 0; j < D; j++) {
        OK(context, gram_spline_predict_component(context, spline, j, points, means, NULL));
        for (int i = 0; i < N; i++) sum[j] += means[i];
        for (int i = 0; i < N; i++) spread = fmax(spread, fabs(means[i]));
        assert_true(fabs(sum[j]) <= 1e-9 * N);
    }
    assert_true(spread > 0.5);
    gram_spline_destroy(spline);
    gram_points_release(points);
}

/* ---- memory ---- */

static gram_status play_of(gram_context *context, int d, gram_spline_shape shape, gram_spline_loss loss, double lambda)
{
    gram_status status = GRAM_OK;
    gram_points *points = NULL;
    gram_spline *spline = NULL;
    const rows r = make_rows();
    gram_spline_options o;
    double mean[3];
    gram_spline_options_init(&o, sizeof o);
    o.shape = shape;
    o.loss = loss;
    o.lambda = lambda;
    o.folds = 2;
    o.bands = loss == GRAM_SPLINE_LOSS_SQUARED;
    STEP(gram_points_create_f64(context, N, d, r.x, D, &points));
    STEP(gram_spline_fit(context, points, loss == GRAM_SPLINE_LOSS_LOGISTIC ? r.class : r.y, &o, &spline));
    gram_points_release(points);
    points = NULL;
    STEP(gram_points_create_f64(context, 3, d, r.x, D, &points));
    STEP(gram_spline_predict(context, spline, points, 0, 0, mean, NULL));
done:
    gram_spline_destroy(spline);
    gram_points_release(points);
    return status;
}

static gram_status play_plate(gram_context *context)
{
    return play_of(context, 2, GRAM_SPLINE_THIN_PLATE, GRAM_SPLINE_LOSS_SQUARED, NAN);
}

static gram_status play_line(gram_context *context)
{
    return play_of(context, 1, GRAM_SPLINE_ADDITIVE, GRAM_SPLINE_LOSS_QUANTILE, NAN);
}

static gram_status play_classes(gram_context *context)
{
    return play_of(context, 1, GRAM_SPLINE_ADDITIVE, GRAM_SPLINE_LOSS_LOGISTIC, 1e-3);
}

static gram_status play_sum(gram_context *context)
{
    return play_of(context, 2, GRAM_SPLINE_ADDITIVE, GRAM_SPLINE_LOSS_HUBER, 1e-3);
}

static void memory(void **state)
{
    (void)state;
    assert_true(oom_some(play_plate, 60, 5) > 8);
    assert_true(oom_some(play_line, 60, 5) > 15);
    assert_true(oom_some(play_classes, 60, 3) > 8);
    assert_true(oom_some(play_sum, 60, 3) > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(losses),
        cmocka_unit_test(classes),
        cmocka_unit_test(chosen),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}

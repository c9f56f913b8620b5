/* Tuning with its allocations failing in turn: a clean status, nothing held. */
#include <math.h>
#include <stdlib.h>

#include "oom.h"

enum { N = 7, D = 3 };

static gram_status play_kind(gram_context *context, gram_criterion kind)
{
    gram_points *points = NULL;
    gram_kernel *kernel = NULL, *tuned = NULL;
    gram_krr_tune_options o;
    double *x = test_random(41, N * D, -1, 1), *y = test_random(42, N, -1, 1);
    double lambda, value, gradient[8], w[N] = {1, 1, 0, 2, 1, 1, 1};
    gram_krr_tune_options_init(&o, sizeof o);
    o.criterion = kind;
    o.folds = 3;
    o.restarts = 1;
    o.evaluations = 4;
    o.weights = w;
    gram_status status = gram_points_create_f64(context, N, D, x, D, &points);
    if (status >= 0) status = gram_kernel_parse(context, "rbf(ell=1)", &kernel);
    if (status >= 0) status = gram_krr_criterion(context, kernel, points, 1, y, 1, &o, 0.1, &value, gradient);
    for (o.grid = 0; o.grid <= 2 && status >= 0; o.grid += 2) {
        status = gram_krr_tune(context, kernel, points, 1, y, 1, &o, &tuned, &lambda, NULL);
        if (status >= 0) gram_kernel_release(tuned);
    }
    gram_kernel_release(kernel);
    gram_points_release(points);
    free(x);
    free(y);
    return status > 0 ? GRAM_OK : status; /* so few evaluations do not converge */
}

static gram_status play_loo(gram_context *context)
{
    return play_kind(context, GRAM_CRITERION_LOO);
}

static gram_status play_gcv(gram_context *context)
{
    return play_kind(context, GRAM_CRITERION_GCV);
}

static gram_status play_cv(gram_context *context)
{
    return play_kind(context, GRAM_CRITERION_CV);
}

static gram_status play_ml(gram_context *context)
{
    return play_kind(context, GRAM_CRITERION_ML);
}

/* When to stop a flow, and the flow at several times. */
static gram_status play_flow(gram_context *context, gram_flow_criterion criterion)
{
    gram_points *points = NULL;
    gram_kernel *kernel = NULL, *tuned = NULL;
    gram_flow *flow = NULL;
    gram_model *model = NULL;
    gram_flow_options o;
    gram_flow_tune_options tune;
    gram_status status = GRAM_OK;
    double *x = test_random(41, N * D, -1, 1), *y = test_random(42, N, -1, 1), *f = test_random(43, N, -1, 1);
    double time, out[2 * N], w[N] = {1, 1, 0, 2, 1, 1, 1};
    const double times[] = {1, INFINITY};
    gram_flow_options_init(&o, sizeof o);
    gram_flow_tune_options_init(&tune, sizeof tune);
    o.weights = w;
    o.initial = f;
    o.ldi = 1;
    tune.criterion = criterion;
    tune.folds = 2;
    tune.rows = 5;
    STEP(gram_points_create_f64(context, N, D, x, D, &points));
    STEP(gram_kernel_parse(context, "rbf", &kernel));
    STEP(gram_flow_tune(context, kernel, points, 1, y, 1, &o, &tune, &tuned, &time, NULL));
    STEP(gram_flow_create(context, tuned, points, 1, y, 1, &o, &flow));
    STEP(gram_flow_predict(context, flow, 2, times, points, f, out));
    STEP(gram_flow_model(context, flow, time, NULL, NULL, &model));
    STEP(gram_flow_descend(context, tuned, points, 1, y, 1, &o, 1, times, out, out + N, NULL));
done:
    gram_model_destroy(model);
    gram_flow_destroy(flow);
    gram_kernel_release(tuned);
    gram_kernel_release(kernel);
    gram_points_release(points);
    free(x), free(y), free(f);
    return status > 0 ? GRAM_OK : status;
}

static gram_status play_flow_loo(gram_context *context)
{
    return play_flow(context, GRAM_FLOW_APPROXIMATE_LOO);
}

static gram_status play_flow_holdout(gram_context *context)
{
    return play_flow(context, GRAM_FLOW_HOLDOUT);
}

static void failing_allocations(void **state)
{
    static const oom_play plays[] = {play_loo, play_gcv, play_cv, play_ml, play_flow_loo, play_flow_holdout};
    (void)state;
    for (size_t i = 0; i < sizeof plays / sizeof *plays; i++) {
        /* allocations repeat with every evaluation: all of the first ones, then every 11th */
        const long long count = oom_some(plays[i], 200, 11);
        print_message("play %zu: %lld allocations\n", i, count);
        assert_true(count > 50);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(failing_allocations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

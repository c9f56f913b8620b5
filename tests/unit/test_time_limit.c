/* A limit of time: what has a part of the work left out says so, what is not done in time fails by name, and without a limit, or with a distant one,
 * nothing changes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sweep.h"
#include "base/system/time_limit.h"
#include "support.h"

enum { N = 60, D = 3 };

/* As if so much of the limit had passed. */
static void pass(gram_context *context, double seconds)
{
    context->limit.begun -= seconds;
}

static gram_status one_task(void *argument, const gram_worker *worker)
{
    (void)worker;
    ++*(int *)argument;
    return GRAM_OK;
}

static void limits(void **state)
{
    gram_context *context = *state;
    assert_true(isinf(gram_context_time_left(context)) && !gram_time_is_up(context, 0));
    gram_time_left_out(context, "nothing to see");
    assert_string_equal(gram_context_left_out(context), "");
    REFUSED(context, gram_context_set_time(context, -1), GRAM_ERROR_ARGUMENT, "seconds = -1");
    REFUSED(context, gram_context_set_time(context, NAN), GRAM_ERROR_ARGUMENT, "seconds");
    OK(context, gram_context_set_time(context, 1000));
    pass(context, 600);
    assert_true(gram_time_is_up(context, 0.5) && !gram_time_is_up(context, 0.9));
    assert_true(gram_context_time_left(context) <= 400 && gram_context_time_left(context) > 300);
    gram_time_left_out(context, "this");
    gram_time_left_out(context, "that");
    assert_string_equal(gram_context_left_out(context), "this");
    OK(context, gram_context_set_time(context, 0));
    assert_string_equal(gram_context_left_out(context), "");
}

/* A sweep ends when the time is over: long after its beginning, and before its tasks are done. */
static void sweeps_end(void **state)
{
    gram_context *context = *state;
    int count = 0;
    OK(context, gram_context_set_time(context, 0.1));
    const gram_sweep sweep = {
        .what = "waiting", .tasks = 2000000000, .run = one_task, .argument = &count, .most_threads = 1};
    REFUSED(context, gram_sweep_run(context, &sweep), GRAM_ERROR_BUDGET, "waiting: not done in the time");
    assert_non_null(strstr(gram_context_advice(context), "time"));
    OK(context, gram_context_set_time(context, 0));
}

static double fit(gram_context *context, double passed, const char *method, char *left_out)
{
    double *x = test_random(1, N * D, -1, 1), *y = test_numbers(N);
    gram_learner *learner = NULL;
    gram_model *model = NULL;
    for (int i = 0; i < N; i++) y[i] = sin(3 * x[i * D]) + x[i * D + 1];
    const gram_arrays arrays = {
        .size = sizeof arrays, .n = N, .d = D, .targets = 1, .x = x, .y = y, .ldx = D, .ldy = 1};
    OK(context, gram_learner_create(context, &learner));
    OK(context, gram_learner_set(context, learner, "method", method));
    OK(context, gram_context_set_time(context, isnan(passed) ? 0 : 1000));
    if (!isnan(passed)) pass(context, passed);
    OK(context, gram_learn_arrays(context, learner, &arrays, &model));
    (void)strcpy(left_out, gram_context_left_out(context));
    const double error = gram_model_find(model, "train_rmse").number;
    OK(context, gram_context_set_time(context, 0));
    gram_model_destroy(model);
    gram_learner_destroy(learner);
    free(x), free(y);
    return error;
}

/* With time enough the fit is that without a limit; with half of it gone the search ends where it began, and the fit is still made. */
static void fits(void **state)
{
    static const char *const methods[] = {"krr", "gp"};
    gram_context *context = *state;
    char left_out[128];
    for (int m = 0; m < 2; m++) {
        const double free_time = fit(context, NAN, methods[m], left_out);
        assert_true(fit(context, 0, methods[m], left_out) == free_time);
        assert_string_equal(left_out, "");
        const double hurried = fit(context, 600, methods[m], left_out);
        assert_string_equal(left_out, "tuning ended early");
        assert_true(isfinite(hurried) && hurried != free_time);
    }
}

/* With nine tenths gone, iterations end after the first and the model is made of it: its own numbers differ, and it says so. */
static void iterations_end(void **state)
{
    enum { MANY = 900 };
    static const struct {
        const char *words, *count, *options[12];
        int classes;
    } cases[] = {
        {"iterations ended early", "steps", {"method", "sgd", "kernel", "rbf(ell=1)"}, 0},
        {"iterations ended early", "iterations", {"method", "logistic", "kernel", "rbf(ell=1)", "lambda", "1e-5"}, 1},
        {"iterations ended early", "iterations", {"loss", "absolute", "kernel", "rbf(ell=1)", "lambda", "1e-4"}, 0},
        {"iterations ended early",
         "iterations",
         {"method", "krr", "solver", "sketch", "kernel", "laplace(ell=1)", "lambda", "1e-6"},
         0},
        {"iterations ended early",
         "iterations",
         {"method", "krr", "solver", "fourier:20", "precision", "mixed", "kernel", "rbf(ell=1)", "lambda", "1e-6"},
         0},
        {"cells learnt from some of their rows",
         "cell_most",
         {"method", "krr", "solver", "cells:300", "kernel", "rbf(ell=1)", "lambda", "1e-4"},
         0},
    };
    gram_context *context = *state;
    double *x = test_random(1, MANY * D, -1, 1), *y = test_numbers(MANY), *labels = test_numbers(MANY);
    for (int i = 0; i < MANY; i++) y[i] = sin(3 * x[i * D]) + x[i * D + 1], labels[i] = y[i] > 0.2 * x[i * D + 2];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double counts[2];
        for (int late = 0; late < 2; late++) {
            const gram_arrays arrays = {.size = sizeof arrays,
                                        .n = MANY,
                                        .d = D,
                                        .targets = 1,
                                        .x = x,
                                        .y = cases[c].classes ? labels : y,
                                        .ldx = D,
                                        .ldy = 1};
            gram_learner *learner = NULL;
            gram_model *model = NULL;
            OK(context, gram_learner_create(context, &learner));
            for (int o = 0; o < 12 && cases[c].options[o]; o += 2)
                OK(context, gram_learner_set(context, learner, cases[c].options[o], cases[c].options[o + 1]));
            if (c > 0) OK(context, gram_learner_set(context, learner, "tune", "none"));
            OK(context, gram_learner_set(context, learner, "estimate", "no"));
            OK(context, gram_context_set_time(context, 1000));
            if (late) pass(context, 950);
            OK(context, gram_learn_arrays(context, learner, &arrays, &model));
            assert_string_equal(gram_context_left_out(context), late ? cases[c].words : "");
            counts[late] = gram_model_find(model, cases[c].count).number;
            OK(context, gram_context_set_time(context, 0));
            gram_model_destroy(model);
            gram_learner_destroy(learner);
        }
        if (!(counts[1] >= 1 && counts[1] < counts[0]) && strcmp(cases[c].count, "cell_most") != 0)
            FAIL_TEST("case %d: %s is %g with time, %g without", (int)c, cases[c].count, counts[0], counts[1]);
    }
    free(x), free(y), free(labels);
}

/* Plans fit into what is left: exact where that is quick, fewer landmarks where it is not. */
static void plans(void **state)
{
    gram_context *context = *state;
    gram_krr_plan_request request;
    gram_plan slow, quick;
    gram_krr_plan_request_init(&request, sizeof request);
    request.n = 200000;
    request.d = 10;
    OK(context, gram_krr_plan(context, &request, &slow));
    OK(context, gram_context_set_time(context, 4));
    OK(context, gram_krr_plan(context, &request, &quick));
    assert_int_equal(slow.solver, GRAM_SOLVER_NYSTROM);
    assert_true(quick.solver == GRAM_SOLVER_NYSTROM && quick.landmarks < slow.landmarks && quick.seconds <= 1.1);
    OK(context, gram_context_set_time(context, 0));
}

/* A speed that was kept is read again, one of another machine is not believed, and a file that cannot be written does no harm. */
static void speeds(void **state)
{
    gram_context *context = *state;
    const char *path = "speed.txt";
    (void)remove(path);
    OK(context, gram_context_use_speed(context, path));
    const double operations = context->operations;
    assert_true(operations > 1e7 && context->entries > 1e5);
    context->operations = 0;
    OK(context, gram_context_use_speed(context, path));
    assert_true(fabs(context->operations - operations) <= 1e-9 * operations);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    (void)fputs("gram-speed 1 abacus none 1 1\n", file);
    (void)fclose(file);
    context->operations = 0;
    OK(context, gram_context_use_speed(context, path));
    assert_true(context->operations > 1e7);
    OK(context, gram_context_use_speed(context, "/no/such/folder/speed"));
    (void)remove(path);
}

static void times_as_text(void **state)
{
    static const struct {
        const char *text;
        double seconds;
    } cases[] = {{"90", 90}, {"90s", 90}, {"5m", 300}, {"1.5h", 5400}, {"0.5", 0.5}, {"", 0},   {"0", 0},
                 {"-1s", 0}, {"5x", 0},   {"m", 0},    {"5ms", 0},     {"nan", 0},   {"inf", 0}};
    (void)state;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        double seconds = 0;
        assert_int_equal(gram_seconds_parse(cases[c].text, &seconds), cases[c].seconds > 0);
        if (cases[c].seconds > 0) assert_true(seconds == cases[c].seconds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(limits),       cmocka_unit_test(sweeps_end),
                                       cmocka_unit_test(fits),         cmocka_unit_test(iterations_end),
                                       cmocka_unit_test(plans),        cmocka_unit_test(speeds),
                                       cmocka_unit_test(times_as_text)};
    return cmocka_run_group_tests(tests, test_open, test_close);
}

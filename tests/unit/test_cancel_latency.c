/* How long work goes on without asking whether it was cancelled: the most processor time between two calls of the cancel
 * callback, over methods whose tuning has long tasks. Processor time, so that a busy machine does not matter. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <gram/cholesky.h>
#include <gram/gp.h>
#include <gram/learn.h>

#include "support.h"

enum { D = 3 };

typedef struct looks {
    double last, longest;
    int count, cancel_at; /* -1: never */
} looks;

static double processor_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int look(void *user)
{
    looks *l = user;
    const double now = processor_time();
    l->longest = fmax(l->longest, now - l->last);
    l->last = now;
    return l->count++ == l->cancel_at;
}

static gram_status learn(const char *method, int64_t n, looks *l)
{
    gram_context *context = TEST_CONTEXT(.threads = 1, .cancel = look, .cancel_user = l);
    double *x = calloc((size_t)(n * (D + 1)), sizeof *x), *y = x + n * D;
    for (int64_t i = 0; i < n; i++) {
        for (int64_t j = 0; j < D; j++) x[i * D + j] = sin((double)(i * (j + 3)) * 1.7) + 0.01 * (double)(i % 17);
        y[i] = sin(3 * x[i * D]) + x[i * D + 1] * x[i * D + 1] + 0.3 * sin((double)i * 12.9);
    }
    gram_arrays arrays;
    gram_arrays_init(&arrays, sizeof arrays);
    arrays.n = n, arrays.d = arrays.ldx = D, arrays.targets = arrays.ldy = 1;
    arrays.x = x, arrays.y = y;
    gram_learner *learner = NULL;
    gram_model *model = NULL;
    assert_int_equal(gram_learner_create(context, &learner), GRAM_OK);
    assert_int_equal(gram_learner_set(context, learner, "method", method), GRAM_OK);
    assert_int_equal(gram_learner_set(context, learner, "task", "regression"), GRAM_OK);
    assert_int_equal(gram_learner_set(context, learner, "kernel", "rbf(ell=0.3!)"), GRAM_OK);
    assert_int_equal(gram_learner_set(context, learner, "tune", "cv:2"), GRAM_OK);
    l->last = processor_time();
    const gram_status status = gram_learn_arrays(context, learner, &arrays, &model);
    l->longest = fmax(l->longest, processor_time() - l->last);
    gram_model_destroy(model);
    gram_learner_destroy(learner);
    gram_context_destroy(context);
    free(x);
    return status;
}

enum { SVM_ROWS = 2400 }; /* looks are 50 ms apart: some ten of them on a quick processor */

/* A chain of fits for many strengths is one task: here two, one for each fold. */
static void test_svm_for_numbers(void **state)
{
    (void)state;
    looks l = {.cancel_at = -1};
    assert_true(learn("svm", SVM_ROWS, &l) >= 0);
    print_message("[          ] %d looks, at most %.3f s between two\n", l.count, l.longest);
    assert_true(l.longest < 0.2);
}

static void test_svm_cancelled(void **state)
{
    (void)state;
    for (int at = 0; at < 8; at += 3) {
        looks l = {.cancel_at = at};
        assert_int_equal(learn("svm", SVM_ROWS, &l), GRAM_ERROR_CANCELLED);
        assert_int_equal(l.count, at + 1);
    }
}

/* ---- very many columns, where a task of the factor takes seconds ---- */

static gram_status factor_wide(looks *l)
{
    enum { N = 960, WIDE = 10000 }; /* looks are 50 ms apart: some ten of them on a quick processor */
    gram_context *context = TEST_CONTEXT(.threads = 1, .cancel = look, .cancel_user = l);
    double *x = calloc((size_t)N * WIDE, sizeof *x);
    for (int64_t i = 0; i < (int64_t)N * WIDE; i++) x[i] = (double)(i * 7919 % 10007) / 10007;
    gram_kernel *kernel = test_kernel(context, "rbf(ell=50)");
    gram_points *points = NULL;
    gram_cholesky *factor = NULL;
    double jitter = 0;
    assert_int_equal(gram_points_create_f64(context, N, WIDE, x, WIDE, &points), GRAM_OK);
    l->last = processor_time();
    const gram_status status = gram_cholesky_create(context, kernel, points, NULL, GRAM_STORAGE_F64, &jitter, &factor);
    l->longest = fmax(l->longest, processor_time() - l->last);
    gram_cholesky_destroy(factor);
    gram_points_release(points);
    gram_kernel_release(kernel);
    gram_context_destroy(context);
    free(x);
    return status;
}

static void test_wide(void **state)
{
    (void)state;
    double share =
        1; /* of all of the work that is done without a look; the least of three, as other programs disturb it */
    for (int k = 0; k < 3; k++) {
        looks l = {.cancel_at = -1};
        const double start = processor_time();
        assert_int_equal(factor_wide(&l), GRAM_OK);
        share = fmin(share, l.longest / (processor_time() - start));
    }
    print_message("[          ] at most %.3f of the work between two looks\n", share);
    assert_true(share < 0.3);
    for (int at = 0; at < 6; at += 2) { /* what the stopped task left is not taken for a matrix that needs a jitter */
        looks stopped = {.cancel_at = at};
        assert_int_equal(factor_wide(&stopped), GRAM_ERROR_CANCELLED);
        assert_int_equal(stopped.count, at + 1);
    }
}

/* ---- joint draws: no factor in one piece ---- */

static void test_draws(void **state)
{
    (void)state;
    enum { N = 3000 };
    looks l = {.cancel_at = -1};
    gram_context *context = TEST_CONTEXT(.threads = 1, .cancel = look, .cancel_user = &l);
    double *x = test_random(5, 2 * N, 0, 100), out[N];
    gram_kernel *kernel = test_kernel(context, "matern(nu=2.5, ell=1)");
    gram_points *points = NULL;
    assert_int_equal(gram_points_create_f64(context, N, 2, x, 2, &points), GRAM_OK);
    l.last = processor_time();
    assert_int_equal(gram_gp_draw_prior(context, kernel, points, GRAM_SOLVER_EXACT, 1, out, 1, NULL), GRAM_OK);
    l.longest = fmax(l.longest, processor_time() - l.last);
    print_message("[          ] %d looks, at most %.3f s between two\n", l.count, l.longest);
    assert_true(l.longest < 0.3);
    gram_points_release(points);
    gram_kernel_release(kernel);
    gram_context_destroy(context);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_svm_for_numbers),
        cmocka_unit_test(test_svm_cancelled),
        cmocka_unit_test(test_wide),
        cmocka_unit_test(test_draws),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The error on new rows that a model keeps: by folds of one row each against fits without that row, one after the other; leave-one-out in closed
 * form against such folds; standard errors against their formula; groups and time; intervals against the jackknife+ by hand. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate_sets.h"

enum { N = 24, D = 2 };

static void is_near(double got, double wanted, double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance)) FAIL_TEST("%.17g, not %.17g", got, wanted);
}

/* Prediction of row i by a fit to all others: `columns` of them. */
static void predict_without(gram_context *context, int64_t n, const double *x, const double *y, int64_t i,
                            settings options, int prob, double *values, int64_t columns)
{
    double *others = test_numbers(n * D), *targets = test_numbers(n);
    int64_t at = 0;
    for (int64_t k = 0; k < n; k++) {
        if (k == i) continue;
        memcpy(others + at * D, x + k * D, D * sizeof *x);
        targets[at++] = y[k];
    }
    const gram_arrays arrays = arrays_of(n - 1, D, others, targets);
    gram_model *model = learn(context, &arrays, options);
    gram_predict_options wish;
    gram_predict_options_init(&wish, sizeof wish);
    wish.prob = prob;
    OK(context, gram_predict(context, model, &wish, 1, x + i * D, D, values, columns));
    gram_model_destroy(model);
    free(others);
    free(targets);
}

static void make_rows(uint64_t seed, int64_t n, double **x, double **y)
{
    double *noise = sample_normal(seed + 99, n);
    *x = test_random(seed, n * D, -1, 1);
    *y = test_numbers(n);
    for (int64_t i = 0; i < n; i++) (*y)[i] = sin(3 * (*x)[i * D]) + 0.3 * noise[i];
    free(noise);
}

static void test_rows_alone(void **state)
{
    gram_context *context = *state;
    const char *const fit[] = {"method", "krr", "kernel", "rbf(ell=0.7)", "lambda", "0.001", "scale", "no", NULL};
    const char *const with[] = {"method", "krr", "kernel",   "rbf(ell=0.7)", "lambda", "0.001",
                                "scale",  "no",  "estimate", "folds:24",     NULL};
    double *x, *y, losses[N], mean, se;
    make_rows(1, N, &x, &y);
    for (int64_t i = 0; i < N; i++) {
        double f;
        predict_without(context, N, x, y, i, fit, 0, &f, 1);
        losses[i] = (y[i] - f) * (y[i] - f);
    }
    mean_and_error(N, losses, &mean, &se);
    const gram_arrays arrays = arrays_of(N, D, x, y);
    gram_model *model = learn(context, &arrays, with);
    is_near(fact(model, "estimate_rmse"), sqrt(mean), 1e-10);
    is_near(fact(model, "estimate_rmse_se"), se / (2 * sqrt(mean)), 1e-10);
    assert_int_equal((int)fact(model, "estimate_rows"), N);
    assert_string_equal(gram_model_find(model, "estimate_kind").text, "folds");
    assert_string_equal(gram_model_find(model, "estimate_numbers").text, "given");
    gram_model_destroy(model);
    free(x);
    free(y);
}

/* With the noise given, leaving out row by row is what the closed form says. */
static void test_closed_form(void **state)
{
    gram_context *context = *state;
    const char *const folds[] = {"kernel", "rbf(ell=0.5)", "noise", "0.05", "estimate", "folds:24", NULL};
    const char *const loo[] = {"kernel", "rbf(ell=0.5)", "noise", "0.05", "estimate", "loo", NULL};
    const char *const automatic[] = {"kernel", "rbf(ell=0.5)", "noise", "0.05", "estimate", "auto", NULL};
    double *x, *y;
    make_rows(2, N, &x, &y);
    const gram_arrays arrays = arrays_of(N, D, x, y);
    gram_model *models[] = {learn(context, &arrays, folds), learn(context, &arrays, loo),
                            learn(context, &arrays, automatic)};
    for (int k = 1; k < 3; k++) {
        assert_string_equal(gram_model_find(models[k], "estimate_kind").text, "loo");
        is_near(fact(models[k], "estimate_rmse"), fact(models[0], "estimate_rmse"), 1e-9);
        is_near(fact(models[k], "estimate_rmse_se"), fact(models[0], "estimate_rmse_se"), 1e-9);
    }
    for (int k = 0; k < 3; k++) gram_model_destroy(models[k]);
    free(x);
    free(y);
}

static void test_classes(void **state)
{
    gram_context *context = *state;
    const char *const fit[] = {"method", "logistic", "kernel", "rbf(ell=1)",     "C", "2",
                               "scale",  "no",       "task",   "classification", NULL};
    const char *const with[] = {"method", "logistic", "kernel",         "rbf(ell=1)", "C",        "2", "scale",
                                "no",     "task",     "classification", "estimate",   "folds:24", NULL};
    double *x, *y, losses[N], right[N], mean, se;
    make_rows(3, N, &x, &y);
    for (int64_t i = 0; i < N; i++) y[i] = y[i] > 0;
    for (int64_t i = 0; i < N; i++) {
        double values[3];
        predict_without(context, N, x, y, i, fit, 1, values, 3);
        right[i] = values[0] == y[i];
        losses[i] = -log(values[1 + (int)y[i]]);
    }
    const gram_arrays arrays = arrays_of(N, D, x, y);
    gram_model *model = learn(context, &arrays, with);
    mean_and_error(N, losses, &mean, &se);
    is_near(fact(model, "estimate_log_loss"), mean, 1e-6);
    is_near(fact(model, "estimate_log_loss_se"), se, 1e-6);
    mean_and_error(N, right, &mean, &se);
    is_near(fact(model, "estimate_accuracy"), mean, 1e-12);
    is_near(fact(model, "estimate_accuracy_se"), se, 1e-12);
    gram_model_destroy(model);
    free(x);
    free(y);
}

/* Every row twice: left out alone, a row is known from its twin. Any method takes groups if there is an estimate. */
static void test_groups(void **state)
{
    gram_context *context = *state;
    static const char *const NAMES[] = {"g"};
    double *x, *y, twice[2 * N * D], targets[2 * N], groups[2 * N];
    make_rows(4, N, &x, &y);
    for (int64_t i = 0; i < 2 * N; i++) {
        memcpy(twice + i * D, x + i / 2 * D, D * sizeof *x);
        targets[i] = y[i / 2];
        groups[i] = (double)(i / 2);
    }
    gram_arrays arrays = arrays_of(2 * N, D, twice, targets);
    arrays.extras = 1;
    arrays.extra = groups;
    arrays.extra_names = NAMES;
    for (int gp = 0; gp < 2; gp++) {
        const char *method = gp ? "gp" : "krr";
        const char *const alone[] = {"method", method, "kernel",   "rbf(ell=0.3)", "noise", "0.0001",
                                     "ignore", "g",    "estimate", "folds:8",      NULL};
        const char *const together[] = {"method", method, "kernel",   "rbf(ell=0.3)", "noise", "0.0001",
                                        "groups", "g",    "estimate", "folds:8",      NULL};
        gram_model *models[] = {learn(context, &arrays, alone), learn(context, &arrays, together)};
        assert_true(fact(models[0], "estimate_rmse") < 0.5 * fact(models[1], "estimate_rmse"));
        assert_string_equal(gram_model_find(models[1], "estimate_by").text, "groups");
        for (int k = 0; k < 2; k++) gram_model_destroy(models[k]);
    }
    free(x);
    free(y);
}

/* In order of time a holdout is the last rows: those of another level are not foreseen. */
static void test_ordered(void **state)
{
    gram_context *context = *state;
    const char *const ordered[] = {"kernel", "rbf(ell=0.5)", "noise",   "0.05", "ordered",
                                   "yes",    "estimate",     "holdout", NULL};
    double *x, *y;
    make_rows(5, N, &x, &y);
    for (int64_t i = N - 4; i < N; i++) y[i] += 100;
    const gram_arrays arrays = arrays_of(N, D, x, y);
    gram_model *model = learn(context, &arrays, ordered);
    assert_true(fact(model, "estimate_rmse") > 90);
    assert_int_equal((int)fact(model, "estimate_rows"), 4);
    gram_model_destroy(model);
    free(x);
    free(y);
}

/* ---- intervals ---- */

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Every row a fold of its own: the jackknife+, from fits without each row. */
static void test_interval(void **state)
{
    enum { ROWS = 20, NEW = 5, HIGH = 19, LOW = 2 }; /* ceil(0.9 * 21), and 21 - 19 */
    gram_context *context = *state;
    const char *const fit[] = {"kernel", "rbf(ell=0.7)", "lambda", "0.001", "scale", "no", NULL};
    const char *const with[] = {"kernel", "rbf(ell=0.7)", "lambda",   "0.001", "scale",
                                "no",     "estimate",     "folds:20", NULL};
    double *x, *y, *places = test_random(8, NEW * D, -1, 1), f[ROWS][NEW], errors[ROWS], values[NEW * 3];
    make_rows(7, ROWS, &x, &y);
    for (int64_t i = 0; i < ROWS; i++) {
        double own, error;
        predict_without(context, ROWS, x, y, i, fit, 0, &own, 1);
        error = fabs(y[i] - own);
        for (int64_t k = 0; k < NEW; k++) {
            double rows[ROWS * D]; /* the place takes that of row i, and is predicted by a fit without it */
            memcpy(rows, x, sizeof rows);
            memcpy(rows + i * D, places + k * D, D * sizeof *x);
            predict_without(context, ROWS, rows, y, i, fit, 0, &f[i][k], 1);
        }
        errors[i] = error;
    }
    const gram_arrays arrays = arrays_of(ROWS, D, x, y);
    gram_model *model = learn(context, &arrays, with);
    gram_predict_options wish;
    gram_predict_options_init(&wish, sizeof wish);
    wish.interval = 0.9;
    OK(context, gram_predict(context, model, &wish, NEW, places, D, values, 3));
    for (int64_t k = 0; k < NEW; k++) {
        double lower[ROWS], upper[ROWS];
        for (int64_t i = 0; i < ROWS; i++) {
            lower[i] = f[i][k] - errors[i];
            upper[i] = f[i][k] + errors[i];
        }
        qsort(lower, ROWS, sizeof *lower, ascending);
        qsort(upper, ROWS, sizeof *upper, ascending);
        assert_true(fabs(values[k * 3 + 1] - lower[LOW - 1]) < 1e-9);
        assert_true(fabs(values[k * 3 + 2] - upper[HIGH - 1]) < 1e-9);
    }
    wish.interval = 0.99;
    REFUSED(context, gram_predict(context, model, &wish, NEW, places, D, values, 3), GRAM_ERROR_ARGUMENT,
            "left-out rows");
    gram_model_destroy(model);
    free(x);
    free(y);
    free(places);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows_alone), cmocka_unit_test(test_closed_form),
                                       cmocka_unit_test(test_classes),    cmocka_unit_test(test_groups),
                                       cmocka_unit_test(test_ordered),    cmocka_unit_test(test_interval)};
    return cmocka_run_group_tests(tests, test_open, test_close);
}

/* Left-out rows of one learner and of several: predictions against fits without the fold, one by one, with and without tuning; baselines against loops over all
 * pairs; differences and their errors against two cross-validations by the same folds; samples of training rows; time that is up; failing allocations. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate_sets.h"
#include "oom.h"

enum { N = 30, D = 2, FOLDS = 3 };

static void is_near(double got, double wanted, double tolerance)
{
    if (!(fabs(got - wanted) <= tolerance)) FAIL_TEST("%.17g, not %.17g", got, wanted);
}

static gram_table *table_of(gram_context *context, int64_t n, const double *x, const double *y)
{
    gram_table *table = NULL;
    const gram_arrays arrays = arrays_of(n, D, x, y);
    OK(context, gram_arrays_table(context, &arrays, &table));
    return table;
}

static gram_cv *cross_validate(gram_context *context, const gram_table *table, settings options, int64_t folds,
                               int64_t fit_rows)
{
    gram_cv *cv = NULL;
    gram_cv_options how;
    gram_learner *learner = learner_of(context, options);
    gram_cv_options_init(&how, sizeof how);
    how.folds = folds;
    how.fit_rows = fit_rows;
    OK(context, gram_cv_table(context, learner, table, "data", &how, &cv));
    gram_learner_destroy(learner);
    return cv;
}

static gram_comparison *compare(gram_context *context, const gram_table *table, settings options, const char *methods)
{
    gram_comparison *made = NULL;
    gram_compare_options how;
    gram_learner *learner = learner_of(context, options);
    gram_compare_options_init(&how, sizeof how);
    how.folds = FOLDS;
    how.methods = methods;
    OK(context, gram_compare_table(context, learner, table, "data", &how, &made));
    gram_learner_destroy(learner);
    return made;
}

static const gram_compared *row_of(const gram_comparison *comparison, const char *method)
{
    for (int64_t k = 0; k < gram_comparison_count(comparison); k++)
        if (strcmp(gram_comparison_row(comparison, k)->method, method) == 0) return gram_comparison_row(comparison, k);
    FAIL_TEST("no row of %s", method);
    return NULL;
}

/* ---- one learner ---- */

/* Each fold predicted by a learner that has only the others. */
static void check_folds(gram_context *context, const gram_cv *cv, const double *x, const double *y, settings options)
{
    int64_t checked = 0;
    for (int64_t held = 0; held < FOLDS; held++) {
        double others[N * D], targets[N], f;
        int64_t at = 0;
        for (int64_t i = 0; i < N; i++) {
            if (gram_cv_fold(cv, i) == held) continue;
            memcpy(others + at * D, x + i * D, D * sizeof *x);
            targets[at++] = y[i];
        }
        const gram_arrays arrays = arrays_of(at, D, others, targets);
        gram_model *model = learn(context, &arrays, options);
        for (int64_t i = 0; i < N; i++) {
            if (gram_cv_fold(cv, i) != held) continue;
            OK(context, gram_predict(context, model, NULL, 1, x + i * D, D, &f, 1));
            is_near(gram_cv_values(cv, i)[0], f, 1e-9);
            checked++;
        }
        gram_model_destroy(model);
    }
    assert_int_equal(checked, N);
}

static void check_errors(gram_context *context, const gram_cv *cv, const double *y)
{
    double losses[N], mean, se;
    gram_cv_report report = {.size = sizeof report};
    OK(context, gram_cv_get_report(context, cv, &report));
    for (int64_t i = 0; i < N; i++) losses[i] = pow(y[i] - gram_cv_values(cv, i)[0], 2);
    mean_and_error(N, losses, &mean, &se);
    is_near(report.rmse, sqrt(mean), 1e-12);
    is_near(report.rmse_se, se / (2 * sqrt(mean)), 1e-12);
    assert_int_equal(report.rows, N);
    assert_int_equal(report.folds, FOLDS);
    assert_int_equal(report.fit_rows, N - N / FOLDS);
}

static void test_folds(void **state)
{
    static const char *const given[] = {"method", "krr",   "kernel", "rbf(ell=0.7)", "lambda",
                                        "0.001",  "scale", "no",     NULL};
    static const char *const tuned[] = {"method", "krr", "kernel", "rbf", "scale", "no", NULL};
    static const settings both[] = {given, tuned};
    gram_context *context = *state;
    double *x, *y;
    make_set(3, N, D, &x, &y);
    gram_table *table = table_of(context, N, x, y);
    for (int k = 0; k < 2; k++) {
        gram_cv_report report = {.size = sizeof report};
        gram_cv *cv = cross_validate(context, table, both[k], FOLDS, 0);
        check_folds(context, cv, x, y, both[k]);
        check_errors(context, cv, y);
        OK(context, gram_cv_get_report(context, cv, &report));
        assert_string_equal(report.numbers, k == 0 ? "given" : "anew");
        assert_string_equal(report.kernel, k == 0 ? "rbf(ell=0.7)" : "rbf");
        gram_cv_destroy(cv);
    }
    gram_table_destroy(table);
    free(x);
    free(y);
}

/* Lines with a header, row by row; rows in order of time that no fold leaves out have none. */
static void test_rows_as_text(void **state)
{
    static const char *const options[] = {"method", "bayes", "ordered", "yes", NULL};
    gram_context *context = *state;
    double *x, *y;
    gram_string text = {0};
    make_set(4, N, D, &x, &y);
    gram_table *table = table_of(context, N, x, y);
    gram_cv *cv = cross_validate(context, table, options, FOLDS, 0);
    gram_cv_rows(cv, &text);
    int64_t lines = 0, left_out = 0;
    for (const char *at = text.data; *at; at++) lines += *at == '\n';
    for (int64_t i = 0; i < N; i++) {
        left_out += gram_cv_fold(cv, i) >= 0;
        assert_true(i == 0 || gram_cv_fold(cv, i) >= gram_cv_fold(cv, i - 1)); /* forward in time */
    }
    assert_int_equal(strncmp(text.data, "row,fold,truth,prediction,std\n", 30), 0);
    assert_int_equal(lines, 1 + left_out);
    assert_true(left_out > 0 && left_out < N);
    gram_string_free(&text);
    gram_cv_destroy(cv);
    gram_table_destroy(table);
    free(x);
    free(y);
}

/* ---- baselines ---- */

/* The prediction of row i from the k nearest of some rows other than itself. */
static double nearest(const double *x, const double *y, const int *in, int64_t i, int64_t k)
{
    int used[N] = {0};
    double sum = 0;
    int64_t taken = 0;
    while (taken < k) {
        int64_t best = -1;
        double least = INFINITY;
        for (int64_t j = 0; j < N; j++) {
            const double a = x[j * D] - x[i * D], b = x[j * D + 1] - x[i * D + 1];
            if (!in[j] || used[j] || j == i || a * a + b * b >= least) continue;
            least = a * a + b * b;
            best = j;
        }
        if (best < 0) break;
        used[best] = 1;
        sum += y[best];
        taken++;
    }
    return sum / (double)taken;
}

static int64_t best_number(const double *x, const double *y, const int *in)
{
    static const int64_t numbers[] = {1, 2, 3, 5, 8, 12, 20, 32};
    int64_t best = 0;
    double least = INFINITY;
    for (int c = 0; c < 8; c++) {
        double loss = 0;
        for (int64_t i = 0; i < N; i++)
            if (in[i]) loss += pow(y[i] - nearest(x, y, in, i, numbers[c]), 2);
        if (loss <= least) least = loss, best = numbers[c];
    }
    return best;
}

static void test_baselines(void **state)
{
    static const char *const options[] = {"scale", "no", NULL};
    static const char *const any[] = {"method", "bayes", "scale", "no", NULL};
    gram_context *context = *state;
    double *x, *y, mean_losses[N], near_losses[N], mean, se;
    make_set(5, N, D, &x, &y);
    gram_table *table = table_of(context, N, x, y);
    gram_cv *cv = cross_validate(context, table, any, FOLDS, 0); /* the same folds */
    gram_comparison *comparison = compare(context, table, options, "mean,nearest");
    for (int64_t i = 0; i < N; i++) {
        int in[N];
        double sum = 0, count = 0;
        for (int64_t j = 0; j < N; j++) {
            in[j] = gram_cv_fold(cv, j) != gram_cv_fold(cv, i);
            if (in[j]) sum += y[j], count++;
        }
        mean_losses[i] = pow(y[i] - sum / count, 2);
        near_losses[i] = pow(y[i] - nearest(x, y, in, i, best_number(x, y, in)), 2);
    }
    assert_int_equal(gram_comparison_count(comparison), 2);
    mean_and_error(N, mean_losses, &mean, &se);
    is_near(row_of(comparison, "mean")->error, sqrt(mean), 1e-10);
    is_near(row_of(comparison, "mean")->se, se / (2 * sqrt(mean)), 1e-10);
    mean_and_error(N, near_losses, &mean, &se);
    is_near(row_of(comparison, "nearest")->error, sqrt(mean), 1e-10);
    assert_true(row_of(comparison, "mean")->baseline && !row_of(comparison, "mean")->model);
    gram_comparison_destroy(comparison);
    gram_cv_destroy(cv);
    gram_table_destroy(table);
    free(x);
    free(y);
}

/* Classes: the most frequent one of the others, and the share of rows that have another. */
static void test_frequent(void **state)
{
    static const char *const options[] = {"task", "classification", NULL};
    static const char *const any[] = {"task", "classification", "method", "sgd", "scale", "no", NULL};
    gram_context *context = *state;
    double *x = test_random(8, N * D, -1, 1), y[N], wrong = 0;
    for (int64_t i = 0; i < N; i++) y[i] = i % 5 < 3 ? 1 : 4;
    gram_table *table = table_of(context, N, x, y);
    gram_cv *cv = cross_validate(context, table, any, FOLDS, 0);
    gram_comparison *comparison = compare(context, table, options, "mean,sgd");
    for (int64_t i = 0; i < N; i++) {
        double ones = 0, others = 0;
        for (int64_t j = 0; j < N; j++)
            if (gram_cv_fold(cv, j) != gram_cv_fold(cv, i)) *(y[j] == 1 ? &ones : &others) += 1;
        wrong += (ones >= others ? 1 : 4) != y[i];
    }
    is_near(row_of(comparison, "frequent")->error, wrong / N, 1e-12);
    assert_true(row_of(comparison, "frequent")->other > 0);
    gram_comparison_destroy(comparison);
    gram_cv_destroy(cv);
    gram_table_destroy(table);
    free(x);
}

/* ---- several ---- */

/* Losses of a learner by the comparison's folds. */
static void losses_of(gram_context *context, const gram_table *table, const double *y, settings options, double *losses)
{
    gram_cv *cv = cross_validate(context, table, options, FOLDS, 0);
    for (int64_t i = 0; i < N; i++) losses[i] = pow(y[i] - gram_cv_values(cv, i)[0], 2);
    gram_cv_destroy(cv);
}

static void test_differences(void **state)
{
    static const char *const none[] = {NULL};
    static const char *const bayes[] = {"method", "bayes", NULL};
    static const char *const linear[] = {"method", "krr", "kernel", "linear", NULL};
    static const char *const rbf[] = {"method", "krr", "kernel", "rbf", "ard", "yes", NULL};
    static const char *const matern[] = {"method", "krr", "kernel", "matern(nu=1.5)", "ard", "yes", NULL};
    static const settings learners[] = {bayes, linear, rbf, matern};
    static const char *const names[] = {"bayes", "linear (ridge)", "krr rbf", "krr matern(nu=1.5)"};
    gram_context *context = *state;
    double *x, *y, losses[4][N], mean, se, difference[N];
    int64_t best = 0, chosen = -1;
    make_set(6, N, D, &x, &y);
    gram_table *table = table_of(context, N, x, y);
    for (int k = 0; k < 4; k++) losses_of(context, table, y, learners[k], losses[k]);
    gram_comparison *comparison = compare(context, table, none, "bayes,krr,linear");
    assert_int_equal(gram_comparison_count(comparison), 4);
    for (int k = 0; k < 4; k++)
        if (strcmp(names[k], gram_comparison_row(comparison, 0)->name) == 0) best = k;
    for (int64_t r = 0; r < 4; r++) {
        const gram_compared *row = gram_comparison_row(comparison, r);
        assert_true(r == 0 || row->error >= gram_comparison_row(comparison, r - 1)->error);
        assert_true(row->best == (r == 0));
        for (int k = 0; k < 4; k++) {
            if (strcmp(names[k], row->name) != 0) continue;
            mean_and_error(N, losses[k], &mean, &se);
            is_near(row->error, sqrt(mean), 1e-9);
            for (int64_t i = 0; i < N; i++) difference[i] = losses[k][i] - losses[best][i];
            mean_and_error(N, difference, &mean, &se);
            is_near(row->behind, mean, 1e-9);
            is_near(row->behind_se, se, 1e-9);
            assert_true(row->near == (mean <= se));
        }
    }
    gram_learner *learner = learner_of(context, none);
    OK(context, gram_comparison_choose(context, comparison, learner, &chosen));
    assert_int_equal(chosen, 0);
    gram_learner_destroy(learner);
    gram_comparison_destroy(comparison);
    gram_table_destroy(table);
    free(x);
    free(y);
}

/* Of classes: the least log loss of those within two standard errors of the least error rate; the rule by a loop over the rows. */
static void test_best_of_classes(void **state)
{
    static const char *const options[] = {"task", "classification", NULL};
    gram_context *context = *state;
    double *x, *y;
    int64_t best = 0, chosen = -1, other = 0;
    for (uint64_t seed = 40; seed < 46; seed++) {
        make_set(seed, N, D, &x, &y);
        for (int64_t i = 0; i < N; i++) y[i] = y[i] > 0.2;
        gram_table *table = table_of(context, N, x, y);
        gram_comparison *comparison = compare(context, table, options, "mean,nearest,sgd,linear");
        for (int64_t k = best = 0; k < gram_comparison_count(comparison); k++) {
            const gram_compared *row = gram_comparison_row(comparison, k);
            if (row->behind <= 2 * row->behind_se && row->other < gram_comparison_row(comparison, best)->other) best = k;
        }
        for (int64_t k = 0; k < gram_comparison_count(comparison); k++)
            assert_true(gram_comparison_row(comparison, k)->best == (k == best));
        other += best > 0; /* it is not always the first */
        gram_learner *learner = learner_of(context, options);
        OK(context, gram_comparison_choose(context, comparison, learner, &chosen));
        assert_true(gram_comparison_row(comparison, chosen)->model);
        assert_true(chosen == best || !gram_comparison_row(comparison, best)->model);
        gram_learner_destroy(learner);
        gram_comparison_destroy(comparison);
        gram_table_destroy(table);
        free(x);
        free(y);
    }
    assert_true(other > 0);
}

/* A share of each class stays, at least two rows; of numbers just as many as asked for. */
static void test_fit_rows(void **state)
{
    static const char *const numbers[] = {"method", "bayes", NULL};
    static const char *const classes[] = {"task", "classification", "method", "logistic", "kernel", "linear", "lambda", "0.1", NULL};
    gram_context *context = *state;
    double *x, *y;
    gram_cv_report report = {.size = sizeof report};
    make_set(9, N, D, &x, &y);
    gram_table *table = table_of(context, N, x, y);
    gram_cv *cv = cross_validate(context, table, numbers, FOLDS, 7);
    OK(context, gram_cv_get_report(context, cv, &report));
    assert_int_equal(report.fit_rows, 7);
    assert_int_equal(report.rows, N);
    gram_cv_destroy(cv);
    gram_table_destroy(table);
    for (int64_t i = 0; i < N; i++) y[i] = i % 10 == 0; /* 3 of them, one in each fold */
    table = table_of(context, N, x, y);
    cv = cross_validate(context, table, classes, FOLDS, 6);
    OK(context, gram_cv_get_report(context, cv, &report));
    assert_true(report.fit_rows >= 7 && report.fit_rows <= 8); /* 18/20 of 6 rounded up, and 2 */
    for (int64_t i = 0; i < N; i++) assert_true(gram_cv_values(cv, i)[2] > 0); /* every fit knew the rare class */
    gram_cv_destroy(cv);
    gram_table_destroy(table);
    free(x);
    free(y);
}

static void test_threads(void **state)
{
    static const char *const none[] = {NULL};
    double *x, *y, errors[2][8];
    (void)state;
    make_set(10, N, D, &x, &y);
    for (int k = 0; k < 2; k++) {
        gram_context *context = test_context(k == 0 ? 1 : 3, GRAM_ISA_AUTO);
        gram_table *table = table_of(context, N, x, y);
        gram_comparison *comparison = compare(context, table, none, "mean,nearest,bayes,krr");
        for (int64_t r = 0; r < gram_comparison_count(comparison); r++)
            errors[k][r] = gram_comparison_row(comparison, r)->error;
        assert_int_equal(gram_comparison_count(comparison), 5);
        gram_comparison_destroy(comparison);
        gram_table_destroy(table);
        gram_context_destroy(context);
    }
    assert_memory_equal(errors[0], errors[1], 5 * sizeof **errors);
    free(x);
    free(y);
}

static void test_time(void **state)
{
    static const char *const none[] = {NULL};
    gram_context *context = *state;
    gram_comparison *made = NULL;
    gram_compare_options how;
    double *x, *y;
    make_set(11, N, D, &x, &y);
    gram_table *table = table_of(context, N, x, y);
    gram_learner *learner = learner_of(context, none);
    gram_compare_options_init(&how, sizeof how);
    OK(context, gram_context_set_time(context, 1e-9));
    REFUSED(context, gram_compare_table(context, learner, table, "data", &how, &made), GRAM_ERROR_BUDGET, "time");
    OK(context, gram_context_set_time(context, 0));
    how.folds = 1;
    REFUSED(context, gram_compare_table(context, learner, table, "data", &how, &made), GRAM_ERROR_ARGUMENT, "folds");
    how.folds = 0;
    how.methods = "mean,krrr";
    REFUSED(context, gram_compare_table(context, learner, table, "data", &how, &made), GRAM_ERROR_ARGUMENT, "'krr'");
    how.methods = "krr";
    how.kernel = "rbff";
    REFUSED(context, gram_compare_table(context, learner, table, "data", &how, &made), GRAM_ERROR_SYNTAX, "rbff");
    assert_null(made);
    gram_learner_destroy(learner);
    gram_table_destroy(table);
    free(x);
    free(y);
}

/* ---- memory ---- */

static gram_status play(gram_context *context)
{
    gram_status status = GRAM_OK;
    gram_learner *learner = NULL;
    gram_table *table = NULL;
    gram_cv *cv = NULL;
    gram_comparison *comparison = NULL;
    gram_compare_options how;
    double x[8 * D], y[8];
    for (int i = 0; i < 8; i++) x[i * D] = i, x[i * D + 1] = (i * 5) % 8, y[i] = i % 3;
    gram_arrays arrays = arrays_of(8, D, x, y);
    gram_compare_options_init(&how, sizeof how);
    how.folds = 2;
    how.methods = "mean,nearest,bayes";
    STEP(gram_arrays_table(context, &arrays, &table));
    STEP(gram_learner_create(context, &learner));
    STEP(gram_learner_set(context, learner, "task", "regression"));
    STEP(gram_compare_table(context, learner, table, "data", &how, &comparison));
    STEP(gram_learner_set(context, learner, "method", "bayes"));
    STEP(gram_cv_table(context, learner, table, "data", NULL, &cv));
done:
    gram_cv_destroy(cv);
    gram_comparison_destroy(comparison);
    gram_learner_destroy(learner);
    gram_table_destroy(table);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 20);
    assert_true(oom_each(play, 1) > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folds),       cmocka_unit_test(test_rows_as_text), cmocka_unit_test(test_baselines),
        cmocka_unit_test(test_frequent),    cmocka_unit_test(test_differences),  cmocka_unit_test(test_fit_rows),
        cmocka_unit_test(test_best_of_classes), cmocka_unit_test(test_threads),     cmocka_unit_test(test_time),         cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, test_open, test_close);
}

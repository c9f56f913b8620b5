/* Kernel logistic regression against a slow optimum (reference/make_logistic.py), its own conditions, refits, and bad
 * input. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oom.h"
#include "support.h"

enum { N = 60, D = 2 };

typedef struct data {
    double x[N * D], w[N];
    double label[N], several[N];
} data;

static void make_data(data *t)
{
    double e[N];
    test_uniform(11, N * D, 0, 2, t->x);
    test_uniform(12, N, 0.3, 2, t->w);
    test_uniform(13, N, -0.7, 0.7, e);
    for (int i = 0; i < N; i++) {
        const double score = sin(3 * t->x[i * D]) + t->x[i * D + 1] - 1 + e[i];
        t->label[i] = score > 0;
        t->several[i] = score > 0.5 ? 2 : score > -0.3 ? 1 : 0;
    }
}

static gram_logistic_options options_of(double lambda)
{
    gram_logistic_options o;
    gram_logistic_options_init(&o, sizeof o);
    o.lambda = lambda;
    return o;
}

static gram_logistic *fit(gram_context *c, const char *kernel, int64_t n, int64_t d, const double *x, int64_t classes,
                          const double *label, const gram_logistic_options *o)
{
    gram_kernel *k = test_kernel(c, kernel);
    gram_points *p = test_points(c, n, d, x);
    gram_logistic *made = NULL;
    OK(c, gram_logistic_fit(c, k, p, classes, label, o, &made));
    gram_points_release(p);
    gram_kernel_release(k);
    return made;
}

static void probabilities(gram_context *c, const gram_logistic *f, int64_t n, int64_t d, const double *x, double *out,
                          int64_t classes)
{
    gram_points *p = test_points(c, n, d, x);
    OK(c, gram_logistic_probabilities(c, gram_logistic_function(f), p, out, classes));
    gram_points_release(p);
}

/* ---- the table ---- */

static void test_reference(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    FILE *file = test_open_reference("logistic.txt");
    char kernel[64];
    int blocks = 0, n, d, classes, intercept, softmax;
    double lambda;
    for (; fscanf(file, " %63[^\n]", kernel) == 1; blocks++) {
        if (fscanf(file, "%d %d %d %lf %d %d", &n, &d, &classes, &lambda, &intercept, &softmax) != 6)
            FAIL_TEST("block %d of the table", blocks);
        double *x = test_numbers(n * d), *y = test_numbers(n), *w = test_numbers(n), *p = test_numbers(n * classes);
        double *out = test_numbers(n * classes), least;
        test_read_numbers(file, n * d, x);
        test_read_numbers(file, n, y);
        test_read_numbers(file, n, w);
        test_read_numbers(file, 1, &least);
        test_read_numbers(file, n * classes, p);
        gram_logistic_options o = options_of(lambda);
        o.weights = w;
        o.intercept = intercept;
        o.softmax = softmax;
        gram_logistic *f = fit(c, kernel, n, d, x, classes, y, &o);
        const gram_logistic_report *r = gram_logistic_get_report(f);
        probabilities(c, f, n, d, x, out, classes);
        assert_true(fabs(r->objective - least) <= 1e-11);
        if (test_distance(n, classes, out, classes, p, classes) > 1e-7)
            FAIL_TEST("block %d: probabilities differ by %g", blocks,
                      test_distance(n, classes, out, classes, p, classes));
        assert_true(r->optimality <= 1e-9);
        assert_true(r->iterations < 20);
        gram_logistic_destroy(f);
        free(x), free(y), free(w), free(p), free(out);
    }
    assert_int_equal(blocks, 5);
    fclose(file);
    gram_context_destroy(c);
}

/* ---- conditions and report, computed here from the function alone ---- */

static void check_conditions(gram_context *c, const data *t, int classes, const double *label, double lambda)
{
    gram_logistic_options o = options_of(lambda);
    o.weights = t->w;
    gram_logistic *f = fit(c, "1.5*rbf(ell=0.4)", N, D, t->x, classes, label, &o);
    const gram_logistic_report *r = gram_logistic_get_report(f);
    const int outputs = classes == 2 ? 1 : classes;
    const double *a = gram_function_coefficients(gram_logistic_function(f));
    double p[N * 3], worst = 0, loss = 0, total = 0, sums[3] = {0}, right = 0, norms[3], norm = 0;
    probabilities(c, f, N, D, t->x, p, classes);
    for (int i = 0; i < N; i++) {
        int best = 0;
        for (int k = 0; k < outputs; k++) {
            const int class = outputs == 1 ? 1 : k;
            const double g = t->w[i] * ((label[i] == class) - p[i * classes + class]);
            worst = fmax(worst, fabs(g - 2 * N * lambda * a[i * outputs + k]));
            sums[k] += g;
        }
        for (int k = 1; k < classes; k++)
            if (p[i * classes + k] > p[i * classes + best]) best = k;
        right += (best == label[i]) * t->w[i];
        loss -= t->w[i] * log(p[i * classes + (int)label[i]]);
        total += t->w[i];
    }
    if (worst > 2e-9) FAIL_TEST("%d classes, lambda %g: a condition is missed by %g", classes, lambda, worst);
    for (int k = 0; k < outputs; k++) assert_true(fabs(sums[k]) < 2e-9); /* weights up to 2 */
    OK(c, gram_function_norm(c, gram_logistic_function(f), norms));
    for (int k = 0; k < outputs; k++) norm += norms[k] * norms[k];
    assert_true(fabs(r->log_loss - loss / total) < 1e-10);
    assert_true(fabs(r->accuracy - right / total) < 1e-12);
    assert_true(fabs(r->norm - sqrt(norm)) < 1e-8 * sqrt(norm));
    assert_true(fabs(r->objective - (loss / N + lambda * norm)) < 1e-9 * r->objective);
    assert_true(r->gradient < 1e-9);
    assert_int_equal(r->n, N);
    assert_int_equal(r->outputs, outputs);
    gram_logistic_destroy(f);
}

static void test_conditions(void **state)
{
    (void)state;
    static const double lambdas[] = {1, 1e-3, 1e-6, 1e-9};
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    data t;
    make_data(&t);
    for (int i = 0; i < 4; i++) {
        check_conditions(c, &t, 2, t.label, lambdas[i]);
        check_conditions(c, &t, 3, t.several, lambdas[i]);
    }
    gram_context_destroy(c);
}

/* Two classes as softmax at twice the lambda are two classes. */
/* Classes that are apart, hardly a penalty: losses far below rounding of f, and yet the conditions hold. */
static void test_separated(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    make_data(&t);
    for (int i = 0; i < N; i++) t.x[i * D] += 4 * t.several[i];
    for (int i = 0; i < N; i++) t.label[i] = t.several[i] > 0;
    for (int softmax = 0; softmax < 2; softmax++)
        for (double lambda = 1e-3; lambda > 1e-10; lambda /= 3) {
            gram_logistic_options o = options_of(lambda);
            gram_kernel *k = test_kernel(c, "rbf(ell=3)");
            gram_points *x = test_points(c, N, D, t.x);
            gram_logistic *made = NULL;
            const gram_status status =
                gram_logistic_fit(c, k, x, softmax ? 3 : 2, softmax ? t.several : t.label, &o, &made);
            if (status != GRAM_OK)
                FAIL_TEST("lambda %g: %s, %g", lambda, gram_status_name(status),
                          gram_logistic_get_report(made)->optimality);
            gram_logistic_destroy(made);
            gram_points_release(x);
            gram_kernel_release(k);
        }
    gram_context_destroy(c);
}

static void test_softmax_of_two(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    make_data(&t);
    double p[N * 2], q[N * 2];
    gram_logistic_options o = options_of(1e-4);
    gram_logistic *one = fit(c, "rbf(ell=0.5)", N, D, t.x, 2, t.label, &o);
    o.softmax = 1;
    o.lambda *= 2;
    gram_logistic *two = fit(c, "rbf(ell=0.5)", N, D, t.x, 2, t.label, &o);
    probabilities(c, one, N, D, t.x, p, 2);
    probabilities(c, two, N, D, t.x, q, 2);
    assert_int_equal(gram_logistic_get_report(two)->outputs, 2);
    assert_true(test_distance(N, 2, p, 2, q, 2) < 1e-9);
    gram_logistic_destroy(one);
    gram_logistic_destroy(two);
    gram_context_destroy(c);
}

/* A weight of 2 is the row twice, a weight of 0 no row; lambda goes with 1/n. */
static void test_weights(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    make_data(&t);
    double x[(N + 2) * D], w[N], p[N * 3], q[N * 3];
    double label[N + 2];
    memcpy(x, t.x, sizeof t.x);
    memcpy(label, t.several, sizeof t.several);
    memcpy(x + N * D, t.x, 2 * D * sizeof *x);
    label[N] = label[0], label[N + 1] = label[1];
    for (int i = 0; i < N; i++) w[i] = i < 2 ? 2 : i == 5 ? 0 : 1;
    gram_logistic_options o = options_of(1e-3);
    gram_logistic *repeated, *weighted;
    memmove(x + 5 * D, x + 6 * D, (N + 2 - 6) * D * sizeof *x);
    memmove(label + 5, label + 6, (N + 2 - 6) * sizeof *label);
    repeated = fit(c, "rbf(ell=0.5)", N + 1, D, x, 3, label, &o);
    o.weights = w;
    o.lambda = 1e-3 * (N + 1) / (N - 1);
    t.several[5] = -7; /* of weight 0: not looked at */
    weighted = fit(c, "rbf(ell=0.5)", N, D, t.x, 3, t.several, &o);
    probabilities(c, repeated, N, D, t.x, p, 3);
    probabilities(c, weighted, N, D, t.x, q, 3);
    assert_true(test_distance(N, 3, p, 3, q, 3) < 1e-8);
    gram_logistic_destroy(repeated);
    gram_logistic_destroy(weighted);
    gram_context_destroy(c);
}

/* Rows that are all equal: the shares of the classes. */
static void test_equal_rows(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double x[10 * D], p[10 * 3];
    const double two[10] = {0, 0, 0, 1, 0, 0, 1, 0, 1, 0}, three[10] = {0, 2, 0, 1, 0, 0, 1, 0, 1, 0};
    for (int i = 0; i < 10 * D; i++) x[i] = 0.7;
    const gram_logistic_options o = options_of(1e-6);
    gram_logistic *f = fit(c, "rbf(ell=1)", 10, D, x, 2, two, &o);
    probabilities(c, f, 10, D, x, p, 2);
    assert_true(fabs(p[1] - 0.3) < 1e-9);
    gram_logistic_destroy(f);
    f = fit(c, "rbf(ell=1)", 10, D, x, 3, three, &o);
    probabilities(c, f, 10, D, x, p, 3);
    assert_true(fabs(p[0] - 0.6) < 1e-9 && fabs(p[1] - 0.3) < 1e-9 && fabs(p[2] - 0.1) < 1e-9);
    gram_logistic_destroy(f);
    gram_context_destroy(c);
}

/* Enough rows for several tiles and threads. */
static void probabilities_of_many(gram_context *c, double *out)
{
    enum { MANY = 760 };
    double *x = test_random(5, MANY * D, 0, 2);
    double label[MANY];
    for (int i = 0; i < MANY; i++) label[i] = x[i * D] + sin(9 * x[i * D + 1]) > 1;
    const gram_logistic_options o = options_of(1e-4);
    gram_logistic *f = fit(c, "rbf(ell=0.3)", MANY, D, x, 2, label, &o);
    probabilities(c, f, MANY, D, x, out, 2);
    gram_logistic_destroy(f);
    free(x);
}

static void test_threads(void **state)
{
    (void)state;
    test_any_threads(2 * 760, probabilities_of_many);
}

/* ---- tuning ---- */

/* With as many folds as rows the held-out probabilities are those of refits without the row. */
static void check_leave_one_out(gram_context *c, int classes, const double *label, const data *t)
{
    enum { FEW = 25 };
    gram_kernel *kernel = test_kernel(c, "rbf(ell=0.5)"), *tuned = NULL;
    gram_points *p = test_points(c, FEW, D, t->x);
    gram_logistic_tune_options o;
    const double widths[] = {2, 0.7}, lambdas[] = {1e-4, 1e-1, 1e-2};
    gram_grid_report r = {.size = sizeof r};
    gram_grid_point grid[6];
    double held[FEW * 3], lambda, sum = 0, total = 0;
    gram_logistic_tune_options_init(&o, sizeof o);
    o.folds = FEW;
    o.weights = t->w;
    o.width_count = 2, o.widths = widths;
    o.lambda_count = 3, o.lambdas = lambdas;
    OK(c, gram_logistic_tune(c, kernel, p, classes, label, &o, &tuned, &lambda, &r, grid, held, classes));
    for (int i = 0; i < FEW; i++) {
        gram_logistic_options fit_options = options_of(lambda * FEW / (FEW - 1));
        double w[FEW], out[3];
        gram_logistic *f = NULL;
        memcpy(w, t->w, sizeof w);
        w[i] = 0;
        fit_options.weights = w;
        OK(c, gram_logistic_fit(c, tuned, p, classes, label, &fit_options, &f));
        probabilities(c, f, 1, D, t->x + i * D, out, classes);
        if (test_distance(1, classes, out, classes, held + i * classes, classes) > 1e-4)
            FAIL_TEST("row %d: held out %g, refitted %g", i, held[i * classes], out[0]);
        sum -= t->w[i] * log(held[i * classes + (int)label[i]]);
        total += t->w[i];
        gram_logistic_destroy(f);
    }
    assert_true(fabs(r.value - sum / total) < 1e-12);
    int found = 0;
    for (int i = 0; i < 6; i++) {
        assert_true(grid[i].width == widths[i / 3] && grid[i].lambda == lambdas[i % 3]);
        assert_true(grid[i].value >= r.value);
        gram_parameter ell;
        OK(c, gram_kernel_parameter_get(c, tuned, 0, &ell));
        found += grid[i].value == r.value && grid[i].lambda == lambda && fabs(ell.value - 0.5 * grid[i].width) < 1e-15;
    }
    assert_int_equal(found, 1);
    assert_int_equal(r.fits, 6 * FEW);
    gram_points_release(p);
    gram_kernel_release(kernel);
    gram_kernel_release(tuned);
}

static void test_tune_leave_one_out(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    make_data(&t);
    check_leave_one_out(c, 2, t.label, &t);
    check_leave_one_out(c, 3, t.several, &t);
    gram_context_destroy(c);
}

/* The default grid on data whose truth is known comes near the best log loss that there is. */
static void test_tune_default(void **state)
{
    enum { MANY = 200 };
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double *x = test_random(21, MANY, 0, 6), *u = test_random(22, MANY, 0, 1), truth = 0,
           *held = test_numbers(2 * MANY);
    double lambda, used = 0;
    double label[MANY];
    gram_kernel *kernel = test_kernel(c, "rbf"), *tuned = NULL;
    gram_points *p = test_points(c, MANY, 1, x);
    gram_grid_report r = {.size = sizeof r};
    gram_logistic_tune_options o;
    for (int i = 0; i < MANY; i++) {
        const double q = 1 / (1 + exp(-3 * sin(2 * x[i])));
        label[i] = u[i] < q;
        truth -= log(label[i] > 0 ? q : 1 - q) / MANY;
    }
    OK(c, gram_logistic_tune(c, kernel, p, 2, label, NULL, &tuned, &lambda, &r, NULL, NULL, 0));
    assert_true(r.value < truth + 0.1 && r.value > truth - 0.1);
    assert_int_equal(r.points, 55);
    assert_true(r.fits < 275 && r.fits > 200); /* strengths that only fit the noise are left out, */
    const double chosen = lambda, value = r.value;
    double all[11];
    gram_kernel_release(tuned);
    for (int i = 0; i < 11; i++) all[i] = 1 / (2 * MANY * 0.1 * pow(10, 0.5 * i));
    gram_logistic_tune_options_init(&o, sizeof o);
    o.lambda_count = 11;
    o.lambdas = all;
    OK(c, gram_logistic_tune(c, kernel, p, 2, label, &o, &tuned, &lambda, &r, NULL, NULL, 0));
    assert_int_equal(r.fits, 275); /* but not of those that were asked for; the choice is the same */
    assert_true(fabs(lambda / chosen - 1) < 1e-12 && fabs(r.value / value - 1) < 1e-12);
    gram_kernel_release(tuned);
    gram_logistic_tune_options_init(&o, sizeof o);
    o.rows = 100;
    OK(c, gram_logistic_tune(c, kernel, p, 2, label, &o, &tuned, &lambda, &r, NULL, held, 2));
    for (int i = 0; i < MANY; i++) used += !isnan(held[2 * i]);
    assert_true(used >= 98 && used <= 100 && r.rows == (int64_t)used);
    gram_kernel_release(tuned);
    gram_kernel_release(kernel);
    gram_points_release(p);
    gram_context_destroy(c);
    free(x), free(u), free(held);
}

/* ---- bad input ---- */

static void test_bad_input(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    make_data(&t);
    gram_kernel *k = test_kernel(c, "rbf(ell=1)"), *unset = test_kernel(c, "rbf"), *tuned = NULL;
    gram_points *p = test_points(c, N, D, t.x);
    gram_logistic *f = NULL;
    double label[N] = {0};
    double lambda;
    gram_logistic_options o = options_of(1e-3);
    gram_logistic_tune_options to;
    gram_logistic_tune_options_init(&to, sizeof to);
    REFUSED(c, gram_logistic_fit(c, k, p, 2, label, NULL, &f), GRAM_ERROR_DATA, "class 1 has 0 rows");
    REFUSED(c, gram_logistic_fit(c, k, p, 1, label, NULL, &f), GRAM_ERROR_ARGUMENT, "classes = 1");
    label[7] = 2;
    REFUSED(c, gram_logistic_fit(c, k, p, 2, label, NULL, &f), GRAM_ERROR_DATA, "y[7] = 2, need a class from 0 to 1");
    label[7] = -1;
    REFUSED(c, gram_logistic_fit(c, k, p, 2, label, NULL, &f), GRAM_ERROR_DATA, "y[7] = -1,");
    label[7] = 0.5;
    REFUSED(c, gram_logistic_fit(c, k, p, 2, label, NULL, &f), GRAM_ERROR_DATA, "y[7] = 0.5, need a class");
    label[7] = NAN;
    REFUSED(c, gram_logistic_fit(c, k, p, 2, label, NULL, &f), GRAM_ERROR_DATA, "y[7] = nan, need a class");
    label[7] = 1;
    REFUSED(c, gram_logistic_tune(c, k, p, 2, label, NULL, &tuned, &lambda, NULL, NULL, NULL, 0), GRAM_ERROR_DATA,
            "class 1 has 1 row,");
    label[9] = 1;
    t.w[3] = NAN;
    o.weights = t.w;
    REFUSED(c, gram_logistic_fit(c, k, p, 2, label, &o, &f), GRAM_ERROR_DATA, "weights[3]");
    o = options_of(0);
    REFUSED(c, gram_logistic_fit(c, k, p, 2, label, &o, &f), GRAM_ERROR_ARGUMENT, "lambda = 0");
    o = options_of(NAN);
    REFUSED(c, gram_logistic_fit(c, k, p, 2, label, &o, &f), GRAM_ERROR_ARGUMENT, "lambda = nan");
    REFUSED(c, gram_logistic_fit(c, unset, p, 2, label, NULL, &f), GRAM_ERROR_UNSET, "rbf.ell");
    REFUSED(c, gram_logistic_fit(c, NULL, p, 2, label, NULL, &f), GRAM_ERROR_ARGUMENT, "kernel is NULL");
    REFUSED(c, gram_logistic_fit(c, k, NULL, 2, label, NULL, &f), GRAM_ERROR_ARGUMENT, "x is NULL");
    REFUSED(c, gram_logistic_fit(c, k, p, 2, NULL, NULL, &f), GRAM_ERROR_ARGUMENT, "y is NULL");
    to.folds = 1;
    REFUSED(c, gram_logistic_tune(c, k, p, 2, label, &to, &tuned, &lambda, NULL, NULL, NULL, 0), GRAM_ERROR_ARGUMENT,
            "folds = 1");
    to.folds = 3;
    to.width_count = 1;
    to.widths = (const double[]){-1};
    REFUSED(c, gram_logistic_tune(c, k, p, 2, label, &to, &tuned, &lambda, NULL, NULL, NULL, 0), GRAM_ERROR_ARGUMENT,
            "widths[0] = -1");
    assert_null(f);
    assert_null(tuned);
    o = options_of(1e-6);
    o.iterations = 1;
    assert_int_equal(gram_logistic_fit(c, k, p, 2, label, &o, &f), GRAM_NOT_CONVERGED);
    assert_true(gram_logistic_get_report(f)->optimality > 1e-9);
    gram_logistic_destroy(f);
    gram_kernel_release(k);
    gram_kernel_release(unset);
    gram_points_release(p);
    gram_context_destroy(c);
}

/* ---- memory ---- */

static gram_status play(gram_context *c)
{
    data t;
    make_data(&t);
    gram_kernel *k = NULL, *tuned = NULL;
    gram_points *p = NULL;
    gram_logistic *f = NULL;
    double lambda, held[24 * 3];
    gram_logistic_tune_options o;
    gram_logistic_tune_options_init(&o, sizeof o);
    o.folds = 2;
    o.rows = 20;
    o.width_count = o.lambda_count = 1;
    o.widths = o.lambdas = (const double[]){0.5};
    gram_status status = gram_kernel_parse(c, "rbf(ell=0.5)", &k);
    if (status >= 0) status = gram_points_create_f64(c, 24, D, t.x, D, &p);
    if (status >= 0) status = gram_logistic_fit(c, k, p, 2, t.label, NULL, &f);
    gram_logistic_destroy(f);
    f = NULL;
    if (status >= 0) status = gram_logistic_fit(c, k, p, 3, t.several, NULL, &f);
    if (status >= 0) status = gram_logistic_probabilities(c, gram_logistic_function(f), p, held, 3);
    gram_logistic_destroy(f);
    if (status >= 0) status = gram_logistic_tune(c, k, p, 3, t.several, &o, &tuned, &lambda, NULL, NULL, held, 3);
    gram_kernel_release(tuned);
    gram_kernel_release(k);
    gram_points_release(p);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    assert_true(oom_each(play, 0) > 50);
    oom_each(play, 1);
    assert_true(oom_budget(play) > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),    cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_separated),    cmocka_unit_test(test_softmax_of_two),
        cmocka_unit_test(test_weights),      cmocka_unit_test(test_equal_rows),
        cmocka_unit_test(test_threads),      cmocka_unit_test(test_tune_leave_one_out),
        cmocka_unit_test(test_tune_default), cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

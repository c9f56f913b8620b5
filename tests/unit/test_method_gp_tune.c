/* Learning the parameters of a Gaussian process: objectives against numbers of 50 digits, differences and really leaving
 * out; the optimum against grids; and what tuning says when there is little or nothing to learn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "method/gp/markov/gp_markov.h"
#include "oom.h"
#include "support.h"

enum { MOST = 48 }; /* a length for each of 40 columns, an amplitude, the noise */

static gram_gp_options gp_options(gram_mean mean, double noise)
{
    gram_gp_options o;
    gram_gp_options_init(&o, sizeof o);
    o.mean = mean;
    o.noise = noise;
    return o;
}

static gram_gp_tune_options tune_options(void)
{
    gram_gp_tune_options o;
    gram_gp_tune_options_init(&o, sizeof o);
    return o;
}

/* ---- objectives ---- */

/* tests/reference/gp_reference.py */
static void reference(void **state)
{
    (void)state;
    enum { ROWS = 10 };
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    FILE *file = test_open_reference("gp.txt");
    char text[256];
    int blocks = 0;
    assert_non_null(file);
    for (; fgets(text, sizeof text, file); blocks++) {
        double x[2 * ROWS], y[ROWS], weights[ROWS], row_noise[ROWS], expected[MOST], found[MOST], z[2];
        int mean, n, count;
        gram_gp_options o = gp_options(GRAM_MEAN_ZERO, 0);
        gram_gp *gp = NULL;
        text[strcspn(text, "\n")] = 0;
        assert_int_equal(fscanf(file, "%d %d %d %lf", &mean, &o.flat, &n, &o.noise), 4);
        assert_int_equal(n, ROWS);
        test_read_numbers(file, 2 * n, x);
        test_read_numbers(file, n, y);
        test_read_numbers(file, n, weights);
        test_read_numbers(file, n, row_noise);
        assert_int_equal(fscanf(file, "%d", &count), 1);
        test_read_numbers(file, 2 * count + 2, expected);
        test_read_numbers(file, 2, z);
        test_read_numbers(file, 2, expected + 2 * count + 2);
        (void)fgetc(file);
        o.mean = (gram_mean)mean;
        o.weights = weights;
        o.row_noise = row_noise;
        gram_kernel *kernel = test_kernel(c, text);
        gram_points *points = test_points(c, n, 2, x), *other = test_points(c, 1, 2, z);
        assert_int_equal(gram_kernel_parameter_count(kernel) + 1, count);
        OK(c, gram_gp_likelihood(c, kernel, points, y, &o, found, found + 1));
        OK(c, gram_gp_objective_value(c, kernel, points, y, &o, GRAM_GP_OBJECTIVE_LOO, found + count + 1,
                                      found + count + 2));
        OK(c, gram_gp_fit(c, kernel, points, y, &o, &gp));
        OK(c, gram_gp_predict(c, gp, other, NULL, 0, &found[2 * count + 2], &found[2 * count + 3]));
        test_near(text, NULL, 2 * count + 4, found, expected, 1e-11);
        gram_gp_destroy(gp);
        gram_points_release(points);
        gram_points_release(other);
        gram_kernel_release(kernel);
    }
    assert_int_equal(blocks, 5);
    (void)fclose(file);
    gram_context_destroy(c);
}

enum { N = 40, D = 2 };

typedef struct data {
    double x[N * D], y[N], weights[N], row_noise[N], basis[N];
} data;

static void make_data(uint64_t seed, data *t)
{
    test_uniform(seed, N * D, 0.1, 2, t->x);
    test_uniform(seed + 1, N, -0.2, 0.2, t->y);
    test_uniform(seed + 2, N, 0.5, 3, t->weights);
    test_uniform(seed + 3, N, 0, 0.1, t->row_noise);
    for (int i = 0; i < N; i++) {
        t->y[i] += 2 + sin(3 * t->x[i * D]) + t->x[i * D + 1];
        t->basis[i] = exp(t->x[i * D]);
    }
}

static const char *const COMPOSITES[] = {
    "1.3*rbf(ell=[0.7,1.4])",
    "0.4*matern(nu=1.5, ell=0.9) + 0.2*linear(c=0.3)",
    "1.1*rbf(ell=0.9)*periodic(p=1.7, ell=1.2)",
    "0.6*on(1, rbf(ell=0.8)) + on(2, 0.9*matern(nu=2.5, ell=1.1)) + 0.05*white()",
    "(0.3 + 0.8*rq(ell=0.9, alpha=1.5))*rbf(ell=1.6)^2",
    "0.7*rbf(ell=0.6) + 0.1*linear(c=1.5)",
};
enum { COMPOSITE_COUNT = sizeof COMPOSITES / sizeof *COMPOSITES };

/* The settings of number k: all means, flat, weights, row noises and columns come up. */
static gram_gp_options setting(int k, const data *t)
{
    gram_gp_options o = gp_options((gram_mean)(k % 3), 0.05);
    o.flat = k % 2;
    o.weights = k % 3 != 1 ? t->weights : NULL;
    o.row_noise = k % 4 >= 2 ? t->row_noise : NULL;
    o.columns = k % 3 == 1;
    o.basis = o.columns ? t->basis : NULL;
    o.ld = 1;
    return o;
}

static double objective_at(gram_context *c, const gram_kernel *kernel, const double *values, double noise,
                           const gram_points *x, const double *y, gram_gp_options o, gram_gp_objective objective)
{
    gram_kernel *moved = NULL;
    double value;
    OK(c, gram_kernel_with_values(c, kernel, values, &moved));
    o.noise = noise;
    OK(c, gram_gp_objective_value(c, moved, x, y, &o, objective, &value, NULL));
    gram_kernel_release(moved);
    return value;
}

/* The values of the kernel, and after them the noise. */
static int64_t values_of(gram_context *c, const gram_kernel *kernel, double noise, double *values)
{
    const int64_t count = gram_kernel_parameter_count(kernel);
    for (int64_t i = 0; i < count; i++) {
        gram_parameter parameter;
        OK(c, gram_kernel_parameter_get(c, kernel, i, &parameter));
        values[i] = parameter.value;
    }
    values[count] = noise;
    return count;
}

/* Central differences of sixth order. */
static void gradients(void **state)
{
    (void)state;
    static const double coefficients[] = {45.0 / 60, -9.0 / 60, 1.0 / 60};
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    for (int k = 0; k < 2 * COMPOSITE_COUNT; k++) {
        const gram_gp_objective objective = k % 2 ? GRAM_GP_OBJECTIVE_LOO : GRAM_GP_OBJECTIVE_ML;
        data t;
        double values[MOST], gradient[MOST], expected[MOST], value;
        make_data(300 + (uint64_t)k, &t);
        gram_kernel *kernel = test_kernel(c, COMPOSITES[k / 2]);
        gram_points *x = test_points(c, N, D, t.x);
        gram_gp_options o = setting(k / 2 + k % 2, &t);
        const int64_t count = values_of(c, kernel, o.noise, values);
        OK(c, gram_gp_objective_value(c, kernel, x, t.y, &o, objective, &value, gradient));
        for (int64_t p = 0; p <= count; p++) {
            const double at = values[p], step = 2e-3 * at;
            expected[p] = 0;
            for (int s = 1; s <= 3; s++)
                for (int side = -1; side <= 1; side += 2) {
                    values[p] = at + side * s * step;
                    expected[p] += side * coefficients[s - 1] / step *
                                   objective_at(c, kernel, values, values[count], x, t.y, o, objective);
                }
            values[p] = at;
        }
        test_near(COMPOSITES[k / 2], NULL, count + 1, gradient, expected, 1e-8);
        gram_points_release(x);
        gram_kernel_release(kernel);
    }
    gram_context_destroy(c);
}

/* Fits without each row predict it: their mean's coefficients are uncertain, whether the fit says so or not. */
static void leaving_out(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    for (int k = 0; k < COMPOSITE_COUNT; k++) {
        data t;
        double value, sum = 0;
        make_data(400 + (uint64_t)k, &t);
        gram_kernel *kernel = test_kernel(c, COMPOSITES[k]);
        gram_points *x = test_points(c, N, D, t.x);
        const gram_gp_options o = setting(k, &t);
        OK(c, gram_gp_objective_value(c, kernel, x, t.y, &o, GRAM_GP_OBJECTIVE_LOO, &value, NULL));
        for (int i = 0; i < N; i++) {
            data rest = t;
            double mean, variance;
            gram_gp *gp = NULL;
            gram_gp_options without = setting(k, &rest);
            without.flat = 1;
            for (int j = i; j + 1 < N; j++) {
                memcpy(rest.x + j * D, t.x + (j + 1) * D, D * sizeof(double));
                rest.y[j] = t.y[j + 1], rest.weights[j] = t.weights[j + 1], rest.row_noise[j] = t.row_noise[j + 1];
                rest.basis[j] = t.basis[j + 1];
            }
            gram_points *others = test_points(c, N - 1, D, rest.x), *own = test_points(c, 1, D, t.x + i * D);
            OK(c, gram_gp_fit(c, kernel, others, rest.y, &without, &gp));
            OK(c, gram_gp_predict(c, gp, own, o.columns ? t.basis + i : NULL, 1, &mean, &variance));
            variance += o.noise / (o.weights ? t.weights[i] : 1) + (o.row_noise ? t.row_noise[i] : 0);
            sum -= 0.5 * (log(2 * acos(-1) * variance) + (t.y[i] - mean) * (t.y[i] - mean) / variance);
            gram_gp_destroy(gp);
            gram_points_release(own);
            gram_points_release(others);
        }
        test_near(COMPOSITES[k], NULL, 1, &value, &sum, 1e-9);
        gram_points_release(x);
        gram_kernel_release(kernel);
    }
    gram_context_destroy(c);
}

/* ---- weights ---- */

static void weights_are_row_noises(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    double a[3][MOST], b[3][MOST], explicit_noise[N], line[N];
    make_data(500, &t);
    gram_kernel *kernel = test_kernel(c, "1.3*matern(nu=1.5, ell=0.7)");
    gram_points *x = test_points(c, N, D, t.x);
    for (int i = 0; i < N; i++) line[i] = t.x[i * D];
    gram_points *sorted = test_points(c, N, 1, line);
    gram_gp_options weighted = gp_options(GRAM_MEAN_CONSTANT, 0.05), plain = gp_options(GRAM_MEAN_CONSTANT, 0);
    weighted.weights = t.weights;
    weighted.row_noise = t.row_noise;
    plain.row_noise = explicit_noise;
    for (int i = 0; i < N; i++) explicit_noise[i] = t.row_noise[i] + 0.05 / t.weights[i];
    for (int k = 0; k < 2; k++) {
        OK(c, gram_gp_objective_value(c, kernel, x, t.y, &weighted, (gram_gp_objective)k, a[k], a[k] + 1));
        OK(c, gram_gp_objective_value(c, kernel, x, t.y, &plain, (gram_gp_objective)k, b[k], b[k] + 1));
    }
    OK(c, gram_markov_likelihood(c, kernel, sorted, t.y, &weighted, a[2], a[2] + 1));
    OK(c, gram_markov_likelihood(c, kernel, sorted, t.y, &plain, b[2], b[2] + 1));
    for (int k = 0; k < 3; k++) test_near("weights", NULL, 3, a[k], b[k], 1e-13);
    /* the noise itself: the dense method on the line */
    OK(c, gram_gp_likelihood(c, kernel, sorted, t.y, &weighted, b[2], b[2] + 1));
    test_near("weights on the line", NULL, 4, a[2], b[2], 1e-10);
    static const double wrong[] = {0, -1, NAN, INFINITY};
    for (int k = 0; k < 4; k++) {
        t.weights[7] = wrong[k];
        REFUSED(c, gram_gp_likelihood(c, kernel, x, t.y, &weighted, a[0], NULL), GRAM_ERROR_DATA, "weights[7]");
    }
    gram_points_release(sorted);
    gram_points_release(x);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

/* ---- tuning ---- */

/* What came out of one call. */
typedef struct result {
    gram_status status;
    gram_kernel *kernel;
    int64_t count;
    double values[MOST]; /* of the kernel, then the noise */
    gram_gp_tune_report report;
} result;

static result tune(gram_context *c, const char *text, int64_t n, int64_t d, const double *x, const double *y,
                   const gram_gp_options *o, const gram_gp_tune_options *how)
{
    result r = {.status = GRAM_OK, .report = {.size = sizeof r.report}};
    gram_kernel *kernel = test_kernel(c, text);
    gram_points *points = test_points(c, n, d, x);
    double noise = NAN;
    r.status = gram_gp_tune(c, kernel, points, y, o, how, &r.kernel, &noise, &r.report);
    if (r.status < 0)
        assert_null(r.kernel);
    else
        r.count = values_of(c, r.kernel, noise, r.values);
    gram_points_release(points);
    gram_kernel_release(kernel);
    return r;
}

static void sane(const result *r)
{
    assert_int_equal(r->status, GRAM_OK);
    for (int64_t i = 0; i <= r->count; i++)
        if (!(r->values[i] >= 0 && isfinite(r->values[i]))) FAIL_TEST("value %d is %g", (int)i, r->values[i]);
    assert_null(strstr(r->report.diagnosis, "nan"));
}

/* Noisy waves on the line. */
static void waves(int n, double *x, double *y)
{
    test_uniform(1, n, 0, 5, x);
    test_uniform(2, n, -0.3, 0.3, y);
    for (int i = 0; i < n; i++) y[i] += sin(2 * x[i]) + 0.4 * cos(5 * x[i]);
}

static void grid_optimum(void **state)
{
    (void)state;
    enum { ROWS = 30, STEPS = 24 };
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double x[ROWS], y[ROWS];
    waves(ROWS, x, y);
    gram_points *points = test_points(c, ROWS, 1, x);
    gram_kernel *kernel = test_kernel(c, "1*rbf(ell=1)");
    const gram_gp_options o = gp_options(GRAM_MEAN_CONSTANT, 0.01);
    for (int k = 0; k < 2; k++) {
        gram_gp_tune_options how = tune_options();
        how.objective = (gram_gp_objective)k;
        result r = tune(c, "const*rbf", ROWS, 1, x, y, &o, &how);
        double best = -INFINITY;
        sane(&r);
        for (int a = 0; a < STEPS; a++)
            for (int b = 0; b < STEPS; b++)
                for (int s = 0; s < STEPS; s++) {
                    const double at[] = {0.02 * pow(1e4, a / (STEPS - 1.0)), 0.05 * pow(200, b / (STEPS - 1.0))};
                    const double noise = 1e-4 * pow(1e4, s / (STEPS - 1.0));
                    best = fmax(best, objective_at(c, kernel, at, noise, points, y, o, how.objective));
                }
        if (!(r.report.value >= best)) FAIL_TEST("%s: %.9g, the grid has %.9g", k ? "loo" : "ml", r.report.value, best);
        const double again = objective_at(c, kernel, r.values, r.values[2], points, y, o, how.objective);
        test_near("value", NULL, 1, &r.report.value, &again, 1e-10);
        assert_string_equal(r.report.diagnosis, "");
        assert_int_equal(r.report.rows, ROWS);
        gram_kernel_release(r.kernel);
    }
    gram_points_release(points);
    gram_kernel_release(kernel);
    gram_context_destroy(c);
}

/* Through all levels, with one length per column: no parameter can be moved to gain more than a hundredth. */
static void is_maximum(gram_context *c, const result *r, const gram_points *x, const double *y, gram_gp_options o,
                       gram_gp_objective objective)
{
    double values[MOST];
    memcpy(values, r->values, sizeof values);
    for (int64_t i = 0; i <= r->count; i++)
        for (int side = -1; side <= 1; side += 2) {
            values[i] = r->values[i] * pow(1.03, side);
            const double value = objective_at(c, r->kernel, values, values[r->count], x, y, o, objective);
            if (value > r->report.value + 0.01)
                FAIL_TEST("value %d from %g to %g: %.9g is more than %.9g", (int)i, r->values[i], values[i], value,
                          r->report.value);
            values[i] = r->values[i];
        }
}

static void many_rows(void **state)
{
    (void)state;
    enum { ROWS = 620, COLUMNS = 3 };
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double *x = test_random(5, ROWS * COLUMNS, -1, 1), *y = test_random(6, ROWS, -0.2, 0.2);
    for (int i = 0; i < ROWS; i++) y[i] += 3 + sin(4 * x[i * COLUMNS]) + x[i * COLUMNS + 1] * x[i * COLUMNS + 1];
    gram_points *points = test_points(c, ROWS, COLUMNS, x);
    const gram_gp_options o = gp_options(GRAM_MEAN_CONSTANT, 0.01);
    gram_gp_tune_options how = tune_options();
    result r = tune(c, "const*rbf", ROWS, COLUMNS, x, y, &o, &how);
    sane(&r);
    assert_int_equal(r.report.ard_kept, 1);
    assert_int_equal(r.count, 4);
    assert_true(r.report.value > r.report.value_isotropic + 50);
    assert_true(r.values[1] < r.values[2] && r.values[2] < r.values[3]);
    assert_true(fabs(r.values[4] / (0.04 / 3) - 1) < 0.15); /* the variance of the noise that was put in */
    is_maximum(c, &r, points, y, o, GRAM_GP_OBJECTIVE_ML);
    gram_kernel_release(r.kernel);
    how.rows = 150;
    how.ard = 0;
    r = tune(c, "const*rbf", ROWS, COLUMNS, x, y, &o, &how);
    sane(&r);
    assert_int_equal(r.report.rows, 150);
    assert_int_equal(r.count, 2);
    assert_true(isnan(r.report.value_isotropic));
    gram_kernel_release(r.kernel);
    gram_points_release(points);
    gram_context_destroy(c);
    free(x);
    free(y);
}

static void fixed_ones_stay(void **state)
{
    (void)state;
    enum { ROWS = 30 };
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double x[ROWS], y[ROWS];
    waves(ROWS, x, y);
    const gram_gp_options o = gp_options(GRAM_MEAN_CONSTANT, 0.123);
    gram_gp_tune_options how = tune_options();
    result r = tune(c, "const*rbf(ell=0.77!)", ROWS, 1, x, y, &o, &how);
    sane(&r);
    assert_true(r.values[1] == 0.77 && r.values[0] != 1 && r.values[2] != 0.123);
    gram_kernel_release(r.kernel);
    how.noise_fixed = 1;
    r = tune(c, "2!*rbf", ROWS, 1, x, y, &o, &how);
    sane(&r);
    assert_true(r.values[0] == 2 && r.values[2] == 0.123);
    gram_kernel_release(r.kernel);
    r = tune(c, "2!*rbf(ell=0.3!)", ROWS, 1, x, y, &o, &how);
    sane(&r);
    assert_true(r.values[0] == 2 && r.values[1] == 0.3 && r.values[2] == 0.123);
    gram_points *points = test_points(c, ROWS, 1, x);
    double value;
    OK(c, gram_gp_likelihood(c, r.kernel, points, y, &o, &value, NULL));
    test_near("value of what was fixed", NULL, 1, &r.report.value, &value, 1e-12);
    gram_points_release(points);
    gram_kernel_release(r.kernel);
    gram_context_destroy(c);
}

/* Weights, row noises and columns of the rows that are tuned on: the value is that of those rows. */
static void rows_keep_what_is_theirs(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    data t;
    make_data(600, &t);
    gram_points *x = test_points(c, N, D, t.x);
    for (int k = 0; k < 4; k++) {
        gram_gp_options o = setting(k, &t);
        gram_gp_tune_options how = tune_options();
        how.ard = 0;
        result r = tune(c, "const*rbf", N, D, t.x, t.y, &o, &how);
        sane(&r);
        const double value = objective_at(c, r.kernel, r.values, r.values[r.count], x, t.y, o, GRAM_GP_OBJECTIVE_ML);
        test_near("value", NULL, 1, &r.report.value, &value, 1e-9);
        is_maximum(c, &r, x, t.y, o, GRAM_GP_OBJECTIVE_ML);
        gram_kernel_release(r.kernel);
    }
    gram_points_release(x);
    gram_context_destroy(c);
}

/* Where y is waves, the period is found from the data. */
static void period_is_found(void **state)
{
    (void)state;
    enum { ROWS = 120 };
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double x[ROWS], y[ROWS];
    test_uniform(3, ROWS, 100, 120, x);
    test_uniform(4, ROWS, -0.3, 0.3, y);
    for (int i = 0; i < ROWS; i++) y[i] += cos(2 * acos(-1) * x[i] / 0.73) + 0.02 * (x[i] - 110) * (x[i] - 110);
    const gram_gp_options o = gp_options(GRAM_MEAN_CONSTANT, 0.01);
    result r = tune(c, "const*rbf + const*periodic", ROWS, 1, x, y, &o, NULL);
    sane(&r);
    assert_true(fabs(r.values[3] / 0.73 - 1) < 1e-2);
    gram_kernel_release(r.kernel);
    gram_context_destroy(c);
}

/* ---- priors ---- */

static double log_density(double value, const gram_gp_prior *prior)
{
    const double away = (log(value) - prior->mean) / prior->deviation;
    return -0.5 * away * away;
}

static void priors_pull(void **state)
{
    (void)state;
    enum { ROWS = 30 };
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double x[2 * ROWS], y[ROWS], values[MOST];
    test_uniform(7, 2 * ROWS, 0, 3, x);
    for (int i = 0; i < ROWS; i++) y[i] = sin(2 * x[2 * i]) + 0.3 * x[2 * i + 1] * x[2 * i + 1];
    const gram_gp_options o = gp_options(GRAM_MEAN_CONSTANT, 0.01);
    const gram_gp_prior priors[] = {{1, log(4.0), 0.02}, {GRAM_GP_PRIOR_NOISE, log(0.02), 0.01}};
    gram_gp_tune_options how = tune_options();
    how.ard = 1;
    result free_one = tune(c, "const*rbf", ROWS, 2, x, y, &o, &how);
    how.priors = priors;
    how.prior_count = 2;
    result held = tune(c, "const*rbf", ROWS, 2, x, y, &o, &how);
    sane(&free_one);
    sane(&held);
    assert_int_equal(free_one.count, 3);
    assert_int_equal(held.count, 3);
    for (int i = 1; i < 3; i++)
        if (!(fabs(log(held.values[i] / 4)) < 0.05 && fabs(log(free_one.values[i] / 4)) > 0.2))
            FAIL_TEST("length %d: %g with the prior, %g without", i, held.values[i], free_one.values[i]);
    assert_true(fabs(log(held.values[3] / 0.02)) < 0.05 && free_one.values[3] < 1e-3);
    assert_true(held.report.value < free_one.report.value);
    /* the sum of both is at its maximum, the reported value is without priors */
    gram_points *points = test_points(c, ROWS, 2, x);
    memcpy(values, held.values, sizeof values);
    double best = 0;
    for (int i = -1; i < 4; i++)
        for (int side = -1; side <= 1; side += 2) {
            if (i >= 0) values[i] = held.values[i] * pow(1.02, side);
            double sum = objective_at(c, held.kernel, values, values[3], points, y, o, GRAM_GP_OBJECTIVE_ML);
            if (i < 0) test_near("value", NULL, 1, &held.report.value, &sum, 1e-9);
            sum += log_density(values[1], &priors[0]) + log_density(values[2], &priors[0]) +
                   log_density(values[3], &priors[1]);
            if (i < 0) best = sum;
            if (sum > best + 0.003) FAIL_TEST("value %d moved: %.9g instead of %.9g", i, sum, best);
            if (i >= 0) values[i] = held.values[i];
        }
    gram_points_release(points);
    gram_kernel_release(free_one.kernel);
    gram_kernel_release(held.kernel);
    gram_context_destroy(c);
}

/* ---- diagnosis ---- */

static void says(const result *r, const char *what)
{
    if (!strstr(r->report.diagnosis, what)) FAIL_TEST("no '%s' in '%s'", what, r->report.diagnosis);
}

static void diagnosis(void **state)
{
    (void)state;
    enum { ROWS = 60 };
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double x[2 * ROWS], y[ROWS], line[ROWS];
    const gram_gp_options o = gp_options(GRAM_MEAN_CONSTANT, 0.01);
    gram_gp_tune_options how = tune_options();
    test_uniform(8, 2 * ROWS, 0, 3, x);
    for (int i = 0; i < ROWS; i++) line[i] = x[2 * i];

    for (int i = 0; i < ROWS; i++) y[i] = sin(3 * line[i]);
    result r = tune(c, "const*rbf", ROWS, 1, line, y, &o, &how);
    sane(&r);
    says(&r, "The noise vanished");
    gram_kernel_release(r.kernel);

    for (int i = 0; i < ROWS; i++) x[2 * i + 1] = 7; /* a constant column has nothing to say of its length */
    test_uniform(9, ROWS, -0.2, 0.2, y);
    for (int i = 0; i < ROWS; i++) y[i] += sin(3 * line[i]);
    r = tune(c, "const*rbf(ell=[1,1])", ROWS, 2, x, y, &o, &how);
    sane(&r);
    says(&r, "say nothing about rbf.ell[2]");
    assert_null(strstr(r.report.diagnosis, "rbf.ell[1]"));
    assert_null(strstr(r.report.diagnosis, "noise"));
    gram_kernel_release(r.kernel);

    test_uniform(8, 2 * ROWS, 0, 3, x); /* a column that the target does not depend on */
    r = tune(c, "const*rbf(ell=[1,1])", ROWS, 2, x, y, &o, &how);
    sane(&r);
    says(&r, "rbf.ell[2]");
    gram_kernel_release(r.kernel);

    for (int i = 0; i < ROWS; i++) y[i] += 10 * line[i]; /* an amplitude without end: a line of a kernel that is flat */
    r = tune(c, "const*rbf(ell=3000!)", ROWS, 1, line, y, &o, &how);
    sane(&r);
    says(&r, "The amplitude const is at its upper bound");
    assert_int_equal(r.report.at_bound, 1);
    gram_kernel_release(r.kernel);

    test_uniform(10, ROWS, -1, 1, y); /* neighbours that differ, without noise that could explain it */
    for (int i = 0; i < ROWS; i++) line[i] = 0.05 * i;
    const gram_gp_options quiet = gp_options(GRAM_MEAN_CONSTANT, 1e-6);
    how.noise_fixed = 1;
    r = tune(c, "const*rbf", ROWS, 1, line, y, &quiet, &how);
    sane(&r);
    says(&r, "rbf.ell");
    assert_true(r.values[1] < 0.05);
    gram_kernel_release(r.kernel);

    /* what was fixed is no news */
    r = tune(c, "1!*rbf(ell=0.5!)", ROWS, 1, line, y, &o, &how);
    sane(&r);
    assert_string_equal(r.report.diagnosis, "");
    gram_kernel_release(r.kernel);
    gram_context_destroy(c);
}

/* ---- little to learn from ---- */

static void degenerate(void **state)
{
    (void)state;
    enum { ROWS = 24, WIDE = 40 };
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double x[ROWS * WIDE], y[ROWS], constant[ROWS], zero[ROWS] = {0};
    test_uniform(11, ROWS * WIDE, 0, 3, x);
    for (int i = 0; i < ROWS; i++) y[i] = sin(x[i]) + 0.1 * cos(40 * x[i]), constant[i] = 5;
    for (int mean = 0; mean < 3; mean++)
        for (int objective = 0; objective < 2; objective++)
            for (int flat = 0; flat < 2; flat++) {
                gram_gp_options o = gp_options((gram_mean)mean, 0.01);
                gram_gp_tune_options how = tune_options();
                o.flat = flat;
                how.objective = (gram_gp_objective)objective;
                how.restarts = 2;
                double twice[ROWS], other[ROWS];
                for (int i = 0; i < ROWS; i++) twice[i] = x[i / 2], other[i] = y[i / 2];
                const result all[] = {
                    tune(c, "const*rbf", 1, 1, x, y, &o, &how),
                    tune(c, "const*rbf", 2, 1, x, y, &o, &how),
                    tune(c, "const*rbf", 3, 1, x, y, &o, &how),
                    tune(c, "const*rbf", ROWS, 1, x, constant, &o, &how),
                    tune(c, "const*rbf", ROWS, 1, x, zero, &o, &how),
                    tune(c, "const*rbf", ROWS, 1, constant, y, &o, &how),
                    tune(c, "const*rbf", ROWS, 1, twice, other, &o, &how),
                    tune(c, "const*rbf", ROWS, 1, twice, y, &o, &how),
                    tune(c, "const*rbf", 12, WIDE, x, y, &o, &how),
                    tune(c, "const*linear + const*rbf", ROWS, 1, x, y, &o, &how),
                };
                for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
                    sane(&all[i]);
                    gram_kernel_release(all[i].kernel);
                }
                if (mean == 1) says(&all[0], "too few rows"), says(&all[3], "target is constant");
            }
    gram_context_destroy(c);
}

/* y in other units: the same model in those units. */
static void units(void **state)
{
    (void)state;
    enum { ROWS = 30 };
    static const double scales[] = {1e150, 1e-150, 1e6, 1e-40};
    static const char *const kernels[] = {"const*rbf", "const*rbf + const*linear", "const"};
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double x[ROWS], y[ROWS], scaled[ROWS], row_noise[ROWS], large[ROWS];
    waves(ROWS, x, y);
    test_uniform(12, ROWS, 0, 0.01, row_noise);
    for (int k = 0; k < 3; k++)
        for (int s = 0; s < 4; s++) {
            const double by = scales[s], square = by * by;
            gram_gp_options o = gp_options(GRAM_MEAN_CONSTANT, 0.01);
            o.row_noise = row_noise;
            result one = tune(c, kernels[k], ROWS, 1, x, y, &o, NULL);
            for (int i = 0; i < ROWS; i++) scaled[i] = y[i] * by, large[i] = row_noise[i] * square;
            o.noise *= square;
            o.row_noise = large;
            result r = tune(c, kernels[k], ROWS, 1, x, scaled, &o, NULL);
            sane(&one);
            sane(&r);
            assert_int_equal(one.count, r.count);
            const double expected = one.report.value - ROWS * log(by);
            if (!(fabs(r.report.value - expected) < 2e-3)) FAIL_TEST("%.9g instead of %.9g", r.report.value, expected);
            /* with a flat optimum in some direction only the values that matter agree */
            test_near("noise", NULL, 1, &(double){r.values[r.count] / square}, &(double){one.values[one.count]}, 1e-2);
            if (k == 0)
                test_near("amplitude", NULL, 1, &(double){r.values[0] / square}, &(double){one.values[0]}, 5e-2);
            if (k == 0) test_near("length", NULL, 1, &r.values[1], &one.values[1], 2e-2);
            gram_kernel_release(one.kernel);
            gram_kernel_release(r.kernel);
        }
    scaled[0] = 1e300;
    result r = tune(c, "const*rbf", ROWS, 1, x, scaled, NULL, NULL);
    REFUSED(c, r.status, GRAM_ERROR_DATA, "divide y");
    gram_context_destroy(c);
}

/* ---- on the line ---- */

static void markov_agrees(void **state)
{
    (void)state;
    enum { ROWS = 80, MANY = 20000 };
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double x[ROWS], y[ROWS], noise;
    waves(ROWS, x, y);
    gram_points *points = test_points(c, ROWS, 1, x);
    gram_gp_options o = gp_options(GRAM_MEAN_LINEAR, 0.01);
    o.flat = 1;
    gram_gp_tune_report report = {.size = sizeof report};
    gram_kernel *kernel = test_kernel(c, "const*matern(nu=1.5)"), *tuned = NULL;
    result dense = tune(c, "const*matern(nu=1.5)", ROWS, 1, x, y, &o, NULL);
    sane(&dense);
    OK(c, gram_markov_tune(c, kernel, points, y, &o, NULL, &tuned, &noise, &report));
    if (!(fabs(report.value - dense.report.value) < 2e-3))
        FAIL_TEST("%.9g instead of %.9g", report.value, dense.report.value);
    test_near("noise", NULL, 1, &noise, &dense.values[2], 2e-2);
    gram_kernel_release(dense.kernel);
    gram_kernel_release(tuned);
    gram_points_release(points);

    double *t = test_random(13, MANY, 0, 2000),
           *z = test_random(14, MANY, -1, 1); /* 6,000 times the dense one's lengths */
    for (int i = 0; i < MANY; i++) z[i] = 0.5 * z[i] + sin(2 * t[i]);
    points = test_points(c, MANY, 1, t);
    o = gp_options(GRAM_MEAN_CONSTANT, 0.01);
    OK(c, gram_markov_tune(c, kernel, points, z, &o, NULL, &tuned, &noise, &report));
    assert_int_equal(report.rows, MANY);
    assert_true(fabs(noise / (0.25 / 3) - 1) < 0.1); /* the model is rougher than the wave and takes some of it */
    gram_kernel_release(tuned);
    gram_points_release(points);
    gram_kernel_release(kernel);
    free(t);
    free(z);

    points = test_points(c, ROWS, 1, x);
    kernel = test_kernel(c, "const*rbf");
    assert_int_equal(gram_markov_tune(c, kernel, points, y, &o, NULL, &tuned, &noise, &report), GRAM_ERROR_UNSUPPORTED);
    gram_kernel_release(kernel);
    kernel = test_kernel(c, "const*matern(nu=1.5)");
    gram_gp_tune_options how = tune_options();
    how.objective = GRAM_GP_OBJECTIVE_LOO;
    assert_int_equal(gram_markov_tune(c, kernel, points, y, &o, &how, &tuned, &noise, &report), GRAM_ERROR_UNSUPPORTED);
    gram_kernel_release(kernel);
    gram_points_release(points);
    gram_context_destroy(c);
}

/* ---- the rest ---- */

static void same_for_any_threads(void **state)
{
    (void)state;
    enum { ROWS = 330, COLUMNS = 2 };
    double *x = test_random(15, ROWS * COLUMNS, -1, 1), *y = test_random(16, ROWS, -0.2, 0.2);
    double values[3][MOST];
    gram_gp_tune_report reports[3];
    for (int i = 0; i < ROWS; i++) y[i] += sin(4 * x[i * COLUMNS]) + x[i * COLUMNS + 1];
    for (int threads = 1; threads <= 3; threads++) {
        gram_context *c = test_context(threads, GRAM_ISA_AUTO);
        gram_gp_tune_options how = tune_options();
        how.objective = GRAM_GP_OBJECTIVE_LOO;
        how.restarts = 1;
        how.rows = 300;
        how.evaluations = 12;
        result r = tune(c, "const*rbf(ell=[1,2])", ROWS, COLUMNS, x, y, NULL, &how);
        assert_int_equal(r.status, GRAM_NOT_CONVERGED);
        assert_int_equal(r.count, 3);
        memcpy(values[threads - 1], r.values, sizeof r.values);
        reports[threads - 1] = r.report;
        gram_kernel_release(r.kernel);
        gram_context_destroy(c);
    }
    for (int k = 1; k < 3; k++) {
        assert_memory_equal(values[k], values[0], 4 * sizeof(double));
        assert_true(reports[k].value == reports[0].value && reports[k].evaluations == reports[0].evaluations);
        assert_string_equal(reports[k].diagnosis, reports[0].diagnosis);
    }
    free(x);
    free(y);
}

static void refusals(void **state)
{
    (void)state;
    enum { ROWS = 10 };
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double x[ROWS], y[ROWS];
    waves(ROWS, x, y);
    const gram_gp_prior wrong[] = {{2, 0, 1}, {-2, 0, 1}, {0, NAN, 1}, {0, 0, 0}, {0, 0, INFINITY}};
    gram_gp_tune_options how;
    for (int k = 0; k < 11; k++) {
        static const char *const named[] = {"parameter = 2", "parameter = -2", "mean is", "deviation = 0",
                                            "deviation",     "objective",      "ard",     "rows",
                                            "restarts",      "evaluations",    "size"};
        how = tune_options();
        how.priors = k < 5 ? wrong + k : NULL;
        how.prior_count = k < 5;
        if (k == 5) how.objective = (gram_gp_objective)2;
        if (k == 6) how.ard = 2;
        if (k == 7) how.rows = 0;
        if (k == 8) how.restarts = 0;
        if (k == 9) how.evaluations = 0;
        if (k == 10) how.size = 0;
        const result r = tune(c, "const*rbf", ROWS, 1, x, y, NULL, &how);
        assert_int_equal(r.status, GRAM_ERROR_ARGUMENT);
        if (!strstr(gram_context_message(c), named[k])) FAIL_TEST("no '%s' in '%s'", named[k], gram_context_message(c));
    }
    y[3] = NAN;
    assert_int_equal(tune(c, "const*rbf", ROWS, 1, x, y, NULL, NULL).status, GRAM_ERROR_DATA);
    how = tune_options();
    how.evaluations = 3;
    waves(ROWS, x, y);
    result r = tune(c, "const*rbf", ROWS, 1, x, y, NULL, &how);
    assert_int_equal(r.status, GRAM_NOT_CONVERGED);
    assert_int_equal(r.report.evaluations, 3);
    gram_kernel_release(r.kernel);
    assert_string_equal(gram_gp_objective_name(GRAM_GP_OBJECTIVE_ML), "ml");
    assert_string_equal(gram_gp_objective_name(GRAM_GP_OBJECTIVE_LOO), "loo");
    assert_string_equal(gram_gp_objective_name((gram_gp_objective)7), "unknown");
    gram_context_destroy(c);
}

static void cancelled(void **state)
{
    (void)state;
    enum { ROWS = 30 };
    double x[ROWS], y[ROWS];
    int left = 10;
    gram_context *c = TEST_CONTEXT(.cancel = test_stop, .cancel_user = &left);
    waves(ROWS, x, y);
    assert_int_equal(tune(c, "const*rbf", ROWS, 1, x, y, NULL, NULL).status, GRAM_ERROR_CANCELLED);
    gram_context_destroy(c);
}

static gram_status play(gram_context *c)
{
    enum { ROWS = 12 };
    double x[ROWS], y[ROWS], noise, row_noise[ROWS] = {0};
    gram_kernel *kernel = NULL, *tuned = NULL;
    gram_points *points = NULL;
    const gram_gp_prior prior = {GRAM_GP_PRIOR_NOISE, 0, 1};
    gram_gp_options o = gp_options(GRAM_MEAN_CONSTANT, 0.01);
    gram_gp_tune_options how = tune_options();
    how.evaluations = 2;
    how.restarts = 1;
    how.rows = 10;
    how.noise_fixed = 1; /* the grid of starts has one point: a few evaluations show all there is */
    how.priors = &prior;
    how.prior_count = 1;
    o.row_noise = row_noise;
    waves(ROWS, x, y);
    gram_status status = gram_kernel_parse(c, "linear(c=0.5)", &kernel);
    if (status >= 0) status = gram_points_create_f64(c, ROWS, 1, x, 1, &points);
    for (int k = 0; k < 4 && status >= 0; k++) {
        how.objective = k == 1 ? GRAM_GP_OBJECTIVE_LOO : GRAM_GP_OBJECTIVE_ML;
        for (int i = 0; i < ROWS && k == 3; i++) y[i] *= 1e100;
        status = (k == 2 ? gram_markov_tune : gram_gp_tune)(c, kernel, points, y, &o, &how, &tuned, &noise, NULL);
        gram_kernel_release(tuned);
        tuned = NULL;
    }
    gram_points_release(points);
    gram_kernel_release(kernel);
    return status > 0 ? GRAM_OK : status;
}

static void out_of_memory(void **state)
{
    (void)state;
    assert_true(oom_each(play, 1) > 100);
    assert_true(oom_budget(play) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference),
        cmocka_unit_test(gradients),
        cmocka_unit_test(leaving_out),
        cmocka_unit_test(weights_are_row_noises),
        cmocka_unit_test(grid_optimum),
        cmocka_unit_test(many_rows),
        cmocka_unit_test(fixed_ones_stay),
        cmocka_unit_test(rows_keep_what_is_theirs),
        cmocka_unit_test(period_is_found),
        cmocka_unit_test(priors_pull),
        cmocka_unit_test(diagnosis),
        cmocka_unit_test(degenerate),
        cmocka_unit_test(units),
        cmocka_unit_test(markov_agrees),
        cmocka_unit_test(same_for_any_threads),
        cmocka_unit_test(refusals),
        cmocka_unit_test(cancelled),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

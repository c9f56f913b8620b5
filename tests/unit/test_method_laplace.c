/* Laplace's approximation against 40 digits (reference/make_laplace.py), quadrature, differences, sampling, and bad
 * input. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "method/laplace/laplace_fit.h"
#include "oom.h"
#include "support.h"

enum { N = 30, D = 2 };

static gram_laplace_options options_of(gram_likelihood kind)
{
    gram_laplace_options o;
    gram_laplace_options_init(&o, sizeof o);
    o.likelihood = kind;
    return o;
}

/* ---- the table ---- */

static void near(const char *what, int block, double got, double wanted, double tolerance)
{
    if (isnan(wanted)) return;
    if (!(fabs(got - wanted) <= tolerance * fmax(1, fabs(wanted))))
        FAIL_TEST("block %d: %s is %.17g, not %.17g", block, what, got, wanted);
}

static void check_block(gram_context *c, FILE *file, int block, int kind, int n, int classes, const double *numbers)
{
    double x[8], y[8], evidence, truth, mean[3], covariance[9], predicted[3], got_mean[3], got[9], out[3], value;
    const double new = 0.9;
    const int m = kind == 1 ? classes : 1, columns = kind == 0 ? 2 : m;
    char text[128];
    test_read_numbers(file, n, x), test_read_numbers(file, n, y);
    test_read_numbers(file, 1, &evidence), test_read_numbers(file, 1, &truth);
    test_read_numbers(file, m, mean), test_read_numbers(file, m * m, covariance),
        test_read_numbers(file, columns, predicted);
    snprintf(text, sizeof text, "%.17g*rbf(ell=%.17g)", numbers[2], numbers[3]);
    gram_kernel *k = test_kernel(c, text);
    gram_points *p = test_points(c, n, 1, x), *z = test_points(c, 1, 1, &new);
    gram_laplace_options o = options_of((gram_likelihood)kind);
    o.nu = numbers[0], o.scale = numbers[1];
    o.classes = kind == 1 ? classes : 0;
    o.tolerance = 1e-12;
    o.correction = 0;
    gram_laplace *l = NULL;
    OK(c, gram_laplace_fit(c, k, p, y, &o, &l));
    OK(c, gram_laplace_evidence(c, k, p, y, &o, &value, NULL));
    near("the evidence", block, value, evidence, 1e-12);
    near("the report's evidence", block, gram_laplace_get_report(l)->log_evidence, evidence, 1e-12);
    near("the true evidence", block, value, truth, 0.1);
    OK(c, gram_laplace_latent(c, l, z, got_mean, got));
    for (int i = 0; i < m; i++) near("a mean", block, got_mean[i], mean[i], 1e-10);
    for (int i = 0; i < m * m; i++) near("a variance", block, got[i], covariance[i], 1e-10);
    OK(c, gram_laplace_predict(c, l, z, out, columns));
    for (int i = 0; i < columns; i++) near("a prediction", block, out[i], predicted[i], 1e-9);
    if (n == 6) assert_int_equal(gram_laplace_get_report(l)->negative, 1);
    gram_laplace_destroy(l);
    gram_kernel_release(k);
    gram_points_release(p);
    gram_points_release(z);
}

static void test_reference(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    FILE *file = test_open_reference("laplace.txt");
    int blocks = 0, kind, n, classes;
    double numbers[4];
    for (; fscanf(file, "%d %d %d", &kind, &n, &classes) == 3; blocks++) {
        test_read_numbers(file, 4, numbers);
        check_block(c, file, blocks, kind, n, classes, numbers);
    }
    assert_int_equal(blocks, 10);
    fclose(file);
    gram_context_destroy(c);
}

/* ---- integrals ---- */

/* A slow rule: the midpoint rule with 200,000 steps over 12 deviations either way. */
static double slow_logistic(double mean, double s)
{
    double sum = 0;
    enum { STEPS = 200000 };
    for (int i = 0; i < STEPS; i++) {
        const double z = -12 + 24 * (i + 0.5) / STEPS;
        sum += exp(-z * z / 2) / (1 + exp(-(mean + s * z)));
    }
    return sum * 24 / STEPS / sqrt(2 * 3.14159265358979323846);
}

static void test_logistic_normal(void **state)
{
    (void)state;
    static const double means[] = {0, 0.3, -2, 7, -25}, deviations[] = {1e-6, 0.1, 0.99, 1.01, 2.5, 7, 40};
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 7; j++) {
            const double got = gram_logistic_normal(means[i], deviations[j] * deviations[j]);
            const double slow = slow_logistic(means[i], deviations[j]);
            if (!(fabs(got - slow) < 1e-10))
                FAIL_TEST("mean %g, deviation %g: %g", means[i], deviations[j], got - slow);
        }
    assert_true(fabs(gram_logistic_normal(-30, 0.25) / (exp(-30 + 0.125)) - 1) <
                1e-9); /* far out: the exponential's mean */
    assert_true(gram_logistic_normal(3, 0) == 1 / (1 + exp(-3.0)) ||
                fabs(gram_logistic_normal(3, 0) - 1 / (1 + exp(-3.0))) < 1e-15);
}

/* Three classes by a product rule, and the sequence's moments. */
static void test_softmax_normal(void **state)
{
    (void)state;
    enum { COUNT = 2048, STEPS = 120 };
    const double mean[3] = {0.4, -1, 0.2}, l[3][3] = {{1.5, 0, 0}, {0.4, 0.9, 0}, {-0.3, 0.5, 2}};
    double covariance[9], slow[3] = {0}, out[3], *work = NULL, *normal = NULL, total = 0;
    for (int i = 0; i < 9; i++) {
        covariance[i] = 0;
        for (int k = 0; k < 3; k++) covariance[i] += l[i / 3][k] * l[i % 3][k];
    }
    for (int i = 0; i < STEPS * STEPS * STEPS; i++) {
        double z[3], f[3], weight, sum = 0;
        for (int k = 0, rest = i; k < 3; k++, rest /= STEPS) z[k] = -7 + 14 * (rest % STEPS + 0.5) / STEPS;
        weight = exp(-(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]) / 2);
        total += weight;
        for (int k = 0; k < 3; k++) sum += f[k] = exp(mean[k] + l[k][0] * z[0] + l[k][1] * z[1] + l[k][2] * z[2]);
        for (int k = 0; k < 3; k++) slow[k] += weight * f[k] / sum;
    }
    gram_context *context = test_context(1, GRAM_ISA_AUTO); /* for memory that is aligned */
    OK(context, gram_take(context, "normal", COUNT * 3, sizeof *normal, (void **)&normal));
    OK(context, gram_take(context, "work", gram_softmax_normal_numbers(3), sizeof *work, (void **)&work));
    gram_normal_sequence(COUNT, 3, normal);
    gram_softmax_normal(&context->vecmath->f64, 3, mean, covariance, COUNT, normal, work, out);
    assert_true(fabs(out[0] + out[1] + out[2] - 1) < 1e-14);
    for (int k = 0; k < 3; k++) {
        double first = 0, second = 0;
        for (int i = 0; i < COUNT; i++) {
            first += normal[k * COUNT + i] / COUNT;
            second += normal[k * COUNT + i] * normal[k * COUNT + i] / COUNT;
        }
        assert_true(fabs(first) < 0.01 && fabs(second - 1) < 0.02);
        if (!(fabs(out[k] - slow[k] / total) < 3e-4)) FAIL_TEST("class %d: %g, not %g", k, out[k], slow[k] / total);
    }
    gram_give(context, normal);
    gram_give(context, work);
    gram_context_destroy(context);
}

/* ---- gradients against differences ---- */

static void make_rows(gram_likelihood kind, double *x, double *y)
{
    double e[N];
    test_uniform(31, N * D, 0, 2, x);
    test_uniform(32, N, -0.5, 0.5, e);
    for (int i = 0; i < N; i++) {
        const double f = sin(3 * x[i * D]) + x[i * D + 1] - 1 + e[i];
        y[i] = kind == GRAM_LIKELIHOOD_LOGISTIC  ? f > 0
               : kind == GRAM_LIKELIHOOD_SOFTMAX ? (f > 0.5) + (f > -0.3)
               : kind == GRAM_LIKELIHOOD_POISSON ? floor(exp(f + 0.5))
                                                 : f + (i % 9 == 4 ? 4 : 0);
    }
}

static double evidence_at(gram_context *c, const gram_kernel *kernel, const gram_points *p, const double *y,
                          const gram_laplace_options *o, const double *values, double *gradient)
{
    double value;
    gram_kernel *k = NULL;
    OK(c, gram_kernel_with_values(c, kernel, values, &k));
    OK(c, gram_laplace_evidence(c, k, p, y, o, &value, gradient));
    gram_kernel_release(k);
    return value;
}

static void check_gradient(gram_context *c, gram_likelihood kind, const char *text)
{
    double x[N * D], y[N], values[8], gradient[9], h = 1e-4;
    make_rows(kind, x, y);
    gram_kernel *kernel = test_kernel(c, text);
    gram_points *p = test_points(c, N, D, x);
    gram_laplace_options o = options_of(kind);
    o.scale = 0.3;
    o.tolerance = 1e-12;
    const int64_t count = gram_kernel_parameter_count(kernel);
    for (int64_t i = 0; i < count; i++) {
        gram_parameter parameter;
        OK(c, gram_kernel_parameter_get(c, kernel, i, &parameter));
        values[i] = parameter.value;
    }
    (void)evidence_at(c, kernel, p, y, &o, values, gradient);
    for (int64_t i = 0; i <= count; i++) {
        double *moved = i < count ? &values[i] : &o.scale, kept = *moved, at[4];
        static const double steps[] = {-2, -1, 1, 2};
        for (int s = 0; s < 4; s++) {
            *moved = kept + steps[s] * h;
            at[s] = evidence_at(c, kernel, p, y, &o, values, NULL);
        }
        *moved = kept;
        const double slope = (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * h);
        if (!(fabs(slope - gradient[i]) < 1e-7 * fmax(1, fabs(slope))))
            FAIL_TEST("%s, %s: derivative %d is %.12g, by differences %.12g", gram_likelihood_name(kind), text, (int)i,
                      gradient[i], slope);
    }
    gram_kernel_release(kernel);
    gram_points_release(p);
}

static void test_gradient(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    for (int kind = 0; kind < 4; kind++) {
        check_gradient(c, (gram_likelihood)kind, "2.3*rbf(ell=[0.6,1.1])");
        check_gradient(c, (gram_likelihood)kind, "0.7*matern(nu=2.5, ell=0.8) + 0.4*linear(c=0.3)");
    }
    gram_context_destroy(c);
}

/* The mode is that of logistic regression with lambda = 1/(2n) and without an intercept. */
static void test_same_mode(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    for (int kind = 0; kind < 2; kind++) {
        double x[N * D], y[N];
        make_rows((gram_likelihood)kind, x, y);
        gram_kernel *k = test_kernel(c, "3*rbf(ell=0.7)");
        gram_points *p = test_points(c, N, D, x);
        gram_laplace_options lo = options_of((gram_likelihood)kind);
        gram_logistic_options o;
        gram_logistic_options_init(&o, sizeof o);
        o.lambda = 1 / (2.0 * N);
        o.intercept = 0;
        gram_laplace *l = NULL;
        gram_logistic *f = NULL;
        OK(c, gram_laplace_fit(c, k, p, y, &lo, &l));
        OK(c, gram_logistic_fit(c, k, p, 2 + kind, y, &o, &f));
        const int64_t m = gram_function_outputs(gram_laplace_function(l));
        assert_true(test_distance(N, m, gram_function_coefficients(gram_laplace_function(l)), m,
                                  gram_function_coefficients(gram_logistic_function(f)), m) < 1e-9);
        assert_true(gram_laplace_get_report(l)->optimality < 1e-9);
        gram_laplace_destroy(l);
        gram_logistic_destroy(f);
        gram_kernel_release(k);
        gram_points_release(p);
    }
    gram_context_destroy(c);
}

/* The corrected mean of one or two rows against the true posterior mean, by the midpoint rule: nearer than the mode by
 * far. */
static void test_correction(void **state)
{
    (void)state;
    enum { STEPS = 400 };
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    const double x[2] = {0.3, 0.7}, y[2] = {1, 1}, variance = 2.5, cross = variance * exp(-0.16 / 0.98);
    const double determinant = variance * variance - cross * cross;
    double top[2] = {0}, total = 0, mode[2], mean[2];
    for (int i = 0; i < STEPS * STEPS; i++) {
        const double f = -12 + 24 * (i / STEPS + 0.5) / STEPS, g = -12 + 24 * (i % STEPS + 0.5) / STEPS;
        const double q = (variance * (f * f + g * g) - 2 * cross * f * g) / determinant;
        const double p = exp(-q / 2) / (1 + exp(-f)) / (1 + exp(-g));
        top[0] += f * p, top[1] += g * p, total += p;
    }
    gram_kernel *k = test_kernel(c, "2.5*rbf(ell=0.7)");
    gram_points *p = test_points(c, 2, 1, x);
    gram_laplace *l = NULL;
    OK(c, gram_laplace_fit(c, k, p, y, NULL, &l));
    OK(c, gram_function_evaluate(c, gram_laplace_function(l), p, mode, 1));
    OK(c, gram_laplace_latent(c, l, p, mean, NULL));
    for (int i = 0; i < 2; i++) {
        const double truth = top[i] / total;
        if (!(mode[i] < truth - 0.1 && fabs(mean[i] - truth) < 0.25 * fabs(mode[i] - truth)))
            FAIL_TEST("mode %g, corrected %g, truth %g", mode[i], mean[i], truth);
    }
    gram_laplace_destroy(l);
    gram_kernel_release(k);
    gram_points_release(p);
    gram_context_destroy(c);
}

/* Two classes as softmax with half the variance: the same evidence, for the difference of two functions has twice the
 * variance of one, and the sum of both does not matter. */
static void test_softmax_of_two(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double x[N * D], y[N], one, two, p1[2 * N], p2[2 * N];
    make_rows(GRAM_LIKELIHOOD_LOGISTIC, x, y);
    gram_kernel *whole = test_kernel(c, "3*rbf(ell=0.7)"), *half = test_kernel(c, "1.5*rbf(ell=0.7)");
    gram_points *p = test_points(c, N, D, x);
    gram_laplace_options logistic = options_of(GRAM_LIKELIHOOD_LOGISTIC), softmax = options_of(GRAM_LIKELIHOOD_SOFTMAX);
    gram_laplace *l = NULL, *s = NULL;
    OK(c, gram_laplace_evidence(c, whole, p, y, &logistic, &one, NULL));
    OK(c, gram_laplace_evidence(c, half, p, y, &softmax, &two, NULL));
    assert_true(fabs(one - two) < 1e-9);
    for (int correction = 0; correction < 2; correction++) {
        logistic.correction = softmax.correction = correction;
        OK(c, gram_laplace_fit(c, whole, p, y, &logistic, &l));
        OK(c, gram_laplace_fit(c, half, p, y, &softmax, &s));
        OK(c, gram_laplace_predict(c, l, p, p1, 2));
        OK(c, gram_laplace_predict(c, s, p, p2, 2));
        assert_true(test_distance(N, 2, p1, 2, p2, 2) < (correction ? 0.01 : 1e-3)); /* one has a marginal of its own */
        OK(c, gram_laplace_latent(c, l, p, p1, NULL));
        OK(c, gram_laplace_latent(c, s, p, p2, NULL));
        for (int i = 0; i < N; i++) assert_true(fabs(p1[i] - (p2[2 * i + 1] - p2[2 * i])) < 0.02);
        gram_laplace_destroy(l);
        gram_laplace_destroy(s);
    }
    gram_kernel_release(whole);
    gram_kernel_release(half);
    gram_points_release(p);
    gram_context_destroy(c);
}

/* Two observations of one point that contradict each other: between them is a saddle, and the search starts next to it. */
static void test_saddle(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    const double x[] = {0, 0, 5}, y[] = {2.5, -2.5 - 1e-7, 1};
    gram_kernel *k = test_kernel(c, "9*rbf(ell=1)");
    gram_points *p = test_points(c, 3, 1, x);
    gram_laplace_options o = options_of(GRAM_LIKELIHOOD_STUDENT);
    gram_laplace *l = NULL;
    o.nu = 4;
    o.scale = 1;
    OK(c, gram_laplace_fit(c, k, p, y, &o, &l));
    assert_true(gram_laplace_get_report(l)->iterations < 40);
    gram_laplace_destroy(l);
    gram_points_release(p);
    gram_kernel_release(k);
    gram_context_destroy(c);
}

/* Two observations of one point that nearly contradict each other enough for two modes: K^-1 + W is nearly singular there,
 * and what divides by it is nonsense. Means stay between the observations, variances below the prior's. */
static void test_nearly_two_modes(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    const double x[] = {0, 0, 5};
    gram_kernel *k = test_kernel(c, "9*rbf(ell=1)");
    gram_points *p = test_points(c, 3, 1, x);
    gram_laplace_options o = options_of(GRAM_LIKELIHOOD_STUDENT);
    for (int i = 0; i <= 400; i++) {
        const double apart = 1.8 + i * 0.002, y[] = {apart, 0.005 - apart, 1};
        double mean[3], variance[3];
        gram_laplace *l = NULL;
        OK(c, gram_laplace_fit(c, k, p, y, &o, &l));
        OK(c, gram_laplace_spread(c, l, p, mean, variance));
        if (!(fabs(mean[0]) < apart && variance[0] > 0 && variance[0] < 9))
            FAIL_TEST("%g apart: mean %g, variance %g", 2 * apart, mean[0], variance[0]);
        gram_laplace_destroy(l);
    }
    gram_points_release(p);
    gram_kernel_release(k);
    gram_context_destroy(c);
}

/* ---- outliers: Student-t finds the line that a Gaussian process misses ---- */

static void test_robust(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    enum { MANY = 60 };
    double x[MANY], y[MANY], truth[MANY], mean[MANY], e[MANY], scale, student = 0, gauss = 0;
    test_uniform(41, MANY, 0, 6, x);
    test_uniform(42, MANY, -0.15, 0.15, e);
    for (int i = 0; i < MANY; i++) {
        truth[i] = sin(x[i]);
        y[i] = truth[i] + e[i] + (i % 6 == 0 ? 5 : 0);
    }
    gram_kernel *k = test_kernel(c, "const*rbf"), *tuned = NULL;
    gram_points *p = test_points(c, MANY, 1, x);
    gram_laplace_tune_options o;
    gram_laplace_tune_options_init(&o, sizeof o);
    gram_laplace_options lo = options_of(GRAM_LIKELIHOOD_STUDENT);
    lo.scale = 0.5;
    o.laplace = &lo;
    gram_laplace_tune_report r = {.size = sizeof r};
    gram_laplace *l = NULL;
    OK(c, gram_laplace_tune(c, k, p, y, &o, &tuned, &scale, &r));
    assert_true(scale > 0.02 && scale < 0.3);
    lo.scale = scale;
    OK(c, gram_laplace_fit(c, tuned, p, y, &lo, &l));
    assert_true(gram_laplace_get_report(l)->negative >= 10);
    OK(c, gram_laplace_predict(c, l, p, mean, 1));
    for (int i = 0; i < MANY; i++) student += pow(mean[i] - truth[i], 2) / MANY;
    gram_gp_options go;
    gram_gp_options_init(&go, sizeof go);
    go.noise = 0.1;
    gram_gp *gp = NULL;
    OK(c, gram_gp_fit(c, tuned, p, y, &go, &gp));
    OK(c, gram_gp_predict(c, gp, p, NULL, 0, mean, NULL));
    for (int i = 0; i < MANY; i++) gauss += pow(mean[i] - truth[i], 2) / MANY;
    assert_true(sqrt(student) < 0.1 && gauss > 10 * student);
    for (int i = 0; i < MANY; i++) y[i] *= 1e4; /* other units, the same answer */
    gram_kernel *other = NULL;
    double other_scale;
    lo.scale = 5000;
    OK(c, gram_laplace_tune(c, k, p, y, &o, &other, &other_scale, &r));
    if (!(fabs(other_scale / scale / 1e4 - 1) < 0.02)) FAIL_TEST("scale %g and %g", scale, other_scale);
    gram_kernel_release(other);
    gram_gp_destroy(gp);
    gram_laplace_destroy(l);
    gram_kernel_release(k);
    gram_kernel_release(tuned);
    gram_points_release(p);
    gram_context_destroy(c);
}

/* Counts of any size, where exp overflows on the way; and a prior that allows nothing. */
static void test_counts(void **state)
{
    enum { MANY = 50 };
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    static const double tops[] = {3, 1e5, 1e9, 0};
    double x[MANY], y[MANY], out[MANY];
    for (int i = 0; i < MANY; i++) x[i] = 0.1 * i;
    gram_points *p = test_points(c, MANY, 1, x);
    const gram_laplace_options o = options_of(GRAM_LIKELIHOOD_POISSON);
    for (int wide = 0; wide < 2; wide++)
        for (int k = 0; k < 4; k++) {
            gram_kernel *kernel = test_kernel(c, wide ? "400*rbf(ell=1)" : "1e-6*rbf(ell=1)");
            gram_laplace *l = NULL;
            for (int i = 0; i < MANY; i++) y[i] = floor(tops[k] * (1.5 + sin(x[i])));
            const gram_status status = gram_laplace_fit(c, kernel, p, y, &o, &l);
            assert_true(status == GRAM_OK ||
                        (tops[k] == 1e9 && status == GRAM_NOT_CONVERGED)); /* rounding is all there is */
            assert_true(gram_laplace_get_report(l)->optimality < 1e-6 && gram_laplace_get_report(l)->iterations < 60);
            OK(c, gram_laplace_predict(c, l, p, out, 1));
            for (int i = 0; i < MANY; i++)
                assert_true(isfinite(out[i]) &&
                            (!wide || tops[k] == 0 || fabs(out[i] - y[i]) < 0.2 + 5 * sqrt(y[i]) + 2e-3 * y[i]));
            gram_laplace_destroy(l);
            gram_kernel_release(kernel);
        }
    gram_points_release(p);
    gram_context_destroy(c);
}

/* ---- tuning ---- */

static void test_tune(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    for (int kind = 0; kind < 3; kind++) {
        double x[N * D], y[N], value, gradient[4];
        make_rows((gram_likelihood)kind, x, y);
        gram_kernel *k = test_kernel(c, "const*rbf"), *tuned = NULL;
        gram_points *p = test_points(c, N, D, x);
        gram_laplace_tune_options o;
        gram_laplace_tune_report r = {.size = sizeof r};
        gram_laplace_tune_options_init(&o, sizeof o);
        const gram_laplace_options lo = options_of((gram_likelihood)kind);
        o.laplace = &lo;
        OK(c, gram_laplace_tune(c, k, p, y, &o, &tuned, NULL, &r));
        OK(c, gram_laplace_evidence(c, tuned, p, y, &lo, &value, gradient));
        assert_true(fabs(value - r.log_evidence) < 1e-9);
        for (int i = 0; i < 2 && !r.at_bound; i++) {
            gram_parameter parameter;
            OK(c, gram_kernel_parameter_get(c, tuned, i, &parameter));
            double slope = gradient[i] * parameter.value; /* of the evidence, and of the prior of classes' amplitudes */
            if (i == 0 && kind < GRAM_LIKELIHOOD_POISSON) slope -= log(parameter.value / 300) / (1.5 * 1.5);
            if (!(fabs(slope) < 2e-2 * N / 10))
                FAIL_TEST("%s: slope %g at the end", gram_likelihood_name((gram_likelihood)kind), slope);
        }
        assert_int_equal(r.rows, N);
        gram_kernel_release(k);
        gram_kernel_release(tuned);
        gram_points_release(p);
    }
    gram_context_destroy(c);
}

/* More classes, fewer rows to tune on. */
static void test_tune_rows(void **state)
{
    enum { MANY = 220 };
    (void)state;
    gram_context *c = test_context(2, GRAM_ISA_AUTO);
    double *x = test_random(71, MANY, 0, 6), y[MANY];
    for (int i = 0; i < MANY; i++) y[i] = floor(x[i] / 6 * 25);
    gram_kernel *k = test_kernel(c, "5*rbf(ell=1)"), *tuned = NULL;
    gram_points *p = test_points(c, MANY, 1, x);
    gram_laplace_tune_options o;
    gram_laplace_tune_report r = {.size = sizeof r};
    gram_laplace_tune_options_init(&o, sizeof o);
    const gram_laplace_options lo = options_of(GRAM_LIKELIHOOD_SOFTMAX);
    o.laplace = &lo;
    o.restarts = o.evaluations = 1;
    assert_true(gram_laplace_tune(c, k, p, y, &o, &tuned, NULL, &r) >= 0);
    assert_int_equal(r.rows, 200); /* 25 classes */
    gram_kernel_release(k);
    gram_kernel_release(tuned);
    gram_points_release(p);
    gram_context_destroy(c);
    free(x);
}

/* Enough rows for several tiles and threads. */
static void evidence_of_many(gram_context *c, double *out)
{
    enum { MANY = 720 };
    double *x = test_random(5, MANY * D, 0, 2), y[MANY];
    for (int i = 0; i < MANY; i++) y[i] = x[i * D] + sin(9 * x[i * D + 1]) > 1;
    gram_kernel *kernel = test_kernel(c, "2*rbf(ell=0.3)");
    gram_points *p = test_points(c, MANY, D, x);
    OK(c, gram_laplace_evidence(c, kernel, p, y, NULL, out, out + 1));
    gram_kernel_release(kernel);
    gram_points_release(p);
    free(x);
}

static void test_threads(void **state)
{
    (void)state;
    test_any_threads(4, evidence_of_many);
}

/* ---- bad input ---- */

static void test_bad_input(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double x[N * D], y[N], out[2];
    make_rows(GRAM_LIKELIHOOD_LOGISTIC, x, y);
    gram_kernel *k = test_kernel(c, "rbf(ell=1)");
    gram_points *p = test_points(c, N, D, x), *narrow = test_points(c, 2, 1, x);
    gram_laplace *l = NULL;
    gram_laplace_options o = options_of(GRAM_LIKELIHOOD_LOGISTIC);
    y[4] = 2;
    REFUSED(c, gram_laplace_fit(c, k, p, y, &o, &l), GRAM_ERROR_DATA, "y[4] = 2, need a class from 0 to 1");
    y[4] = NAN;
    REFUSED(c, gram_laplace_fit(c, k, p, y, &o, &l), GRAM_ERROR_DATA, "y[4]");
    y[4] = 1.5;
    o.likelihood = GRAM_LIKELIHOOD_SOFTMAX;
    REFUSED(c, gram_laplace_fit(c, k, p, y, &o, &l), GRAM_ERROR_DATA, "y[4] = 1.5, need a class");
    o.likelihood = GRAM_LIKELIHOOD_POISSON;
    REFUSED(c, gram_laplace_fit(c, k, p, y, &o, &l), GRAM_ERROR_DATA, "y[4] = 1.5, need a whole number >= 0");
    y[4] = -1;
    REFUSED(c, gram_laplace_fit(c, k, p, y, &o, &l), GRAM_ERROR_DATA, "y[4] = -1");
    y[4] = 1;
    o.likelihood = (gram_likelihood)9;
    REFUSED(c, gram_laplace_fit(c, k, p, y, &o, &l), GRAM_ERROR_ARGUMENT, "likelihood = 9");
    o = options_of(GRAM_LIKELIHOOD_STUDENT);
    o.scale = -1;
    REFUSED(c, gram_laplace_fit(c, k, p, y, &o, &l), GRAM_ERROR_ARGUMENT, "scale = -1");
    REFUSED(c, gram_laplace_fit(c, NULL, p, y, NULL, &l), GRAM_ERROR_ARGUMENT, "kernel is NULL");
    assert_null(l);
    for (int i = 0; i < N; i++) y[i] = 1; /* one class only: no failure, the prior holds the probability below 1 */
    OK(c, gram_laplace_fit(c, k, p, y, NULL, &l));
    REFUSED(c, gram_laplace_predict(c, l, narrow, out, 2), GRAM_ERROR_DIMENSION, "1 columns");
    REFUSED(c, gram_laplace_predict(c, l, p, out, 1), GRAM_ERROR_ARGUMENT, "ldo = 1");
    double all[2 * N];
    OK(c, gram_laplace_predict(c, l, p, all, 2));
    for (int i = 0; i < N; i++) assert_true(all[2 * i + 1] > 0.6 && all[2 * i + 1] < 0.999);
    gram_laplace_destroy(l);
    for (int i = 0; i < N * D; i++) x[i] = 0.5; /* equal rows are one row seen often */
    for (int i = 0; i < N; i++) y[i] = i % 3 == 0;
    gram_points_release(p);
    p = test_points(c, N, D, x);
    OK(c, gram_laplace_fit(c, k, p, y, NULL, &l));
    OK(c, gram_laplace_predict(c, l, p, all, 2));
    assert_true(fabs(all[1] - 1 / 3.0) < 0.05);
    gram_laplace_destroy(l);
    gram_kernel_release(k);
    gram_points_release(p);
    gram_points_release(narrow);
    gram_context_destroy(c);
}

/* ---- memory ---- */

static gram_status make_scene(gram_context *c, gram_likelihood kind, double *x, double *y, gram_kernel **k,
                              gram_points **p)
{
    make_rows(kind, x, y);
    gram_status status = gram_kernel_parse(c, "2*rbf(ell=0.5!)", k);
    if (status >= 0) status = gram_points_create_f64(c, 9, D, x, D, p);
    return status;
}

static gram_status play_kind(gram_context *c, gram_likelihood kind)
{
    gram_kernel *k = NULL;
    gram_points *p = NULL;
    gram_laplace *l = NULL;
    double x[N * D], y[N], mean[N * 3], variance[N * 9], value, gradient[4];
    const gram_laplace_options o = options_of(kind);
    gram_status status = make_scene(c, kind, x, y, &k, &p);
    if (status >= 0) status = gram_laplace_fit(c, k, p, y, &o, &l);
    if (status >= 0) status = gram_laplace_latent(c, l, p, mean, variance);
    if (status >= 0) status = gram_laplace_evidence(c, k, p, y, &o, &value, gradient);
    gram_laplace_destroy(l);
    gram_kernel_release(k);
    gram_points_release(p);
    return status;
}

static gram_status play_softmax(gram_context *c)
{
    return play_kind(c, GRAM_LIKELIHOOD_SOFTMAX);
}

static gram_status play_student(gram_context *c)
{
    return play_kind(c, GRAM_LIKELIHOOD_STUDENT);
}

static gram_status play_tune(gram_context *c)
{
    gram_kernel *k = NULL, *tuned = NULL;
    gram_points *p = NULL;
    double x[N * D], y[N];
    gram_laplace_tune_options o;
    gram_laplace_tune_options_init(&o, sizeof o);
    o.rows = 7;
    o.restarts = 1;
    o.evaluations = 2;
    gram_status status = make_scene(c, GRAM_LIKELIHOOD_LOGISTIC, x, y, &k, &p);
    if (status >= 0) status = gram_laplace_tune(c, k, p, y, &o, &tuned, NULL, NULL);
    gram_kernel_release(tuned);
    gram_kernel_release(k);
    gram_points_release(p);
    return status < 0 ? status : GRAM_OK; /* two evaluations do not converge */
}

static void test_memory(void **state)
{
    (void)state;
    assert_true(oom_each(play_softmax, 1) > 100);
    assert_true(oom_each(play_student, 1) > 50);
    assert_true(oom_each(play_tune, 1) > 100);
    assert_true(oom_budget(play_softmax) > 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_saddle),
        cmocka_unit_test(test_nearly_two_modes),
        cmocka_unit_test(test_logistic_normal),
        cmocka_unit_test(test_softmax_normal),
        cmocka_unit_test(test_gradient),
        cmocka_unit_test(test_same_mode),
        cmocka_unit_test(test_softmax_of_two),
        cmocka_unit_test(test_correction),
        cmocka_unit_test(test_robust),
        cmocka_unit_test(test_tune),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_tune_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

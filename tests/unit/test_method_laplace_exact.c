/* Laplace's predictions, corrected, against the posterior itself by product quadrature over the latent numbers of one, two
 * and three rows: over prior variances, observations, and places on, beside and far from the rows. */
#include <math.h>
#include <stdio.h>

#include "method/laplace/laplace_fit.h"
#include "support.h"

enum { MOST = 3 };

typedef struct scene {
    gram_likelihood kind;
    int n;
    double variance; /* of rbf(ell=1) */
    double x[MOST], y[MOST], at;
} scene;

static double rbf(double variance, double s, double t)
{
    return variance * exp(-(s - t) * (s - t) / 2);
}

static double log_p(const scene *s, double y, double f)
{
    if (s->kind == GRAM_LIKELIHOOD_POISSON) return y * f - exp(f);
    return -log1p(exp(-(2 * y - 1) * f));
}

/* E g(f) over N(mean, variance): the rate in closed form, the logistic function by a fine sum. */
static double average(const scene *s, double mean, double variance)
{
    double sum = 0, total = 0;
    if (s->kind == GRAM_LIKELIHOOD_POISSON) return exp(mean + variance / 2);
    if (variance < 1e-9) return 1 / (1 + exp(-mean));
    for (double z = -6; z <= 6; z += fmin(0.5, 1 / sqrt(variance))) {
        const double w = exp(-z * z / 2);
        total += w;
        sum += w / (1 + exp(-(mean + sqrt(variance) * z)));
    }
    return sum / total;
}

/* L with L L' = K, and b = K^-1 k; *rest = k(x, x) - k'b. */
static void factor(const scene *s, double l[MOST][MOST], double b[MOST], double *rest)
{
    const int n = s->n;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double sum = rbf(s->variance, s->x[i], s->x[j]);
            for (int k = 0; k < j; k++) sum -= l[i][k] * l[j][k];
            l[i][j] = i == j ? sqrt(sum) : sum / l[j][j];
        }
    *rest = s->variance;
    for (int i = 0; i < n; i++) { /* L^-1 k, then L'^-1 of that */
        b[i] = rbf(s->variance, s->x[i], s->at);
        for (int k = 0; k < i; k++) b[i] -= l[i][k] * b[k];
        b[i] /= l[i][i];
        *rest -= b[i] * b[i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) b[i] -= l[k][i] * b[k];
        b[i] /= l[i][i];
    }
    *rest = fmax(0, *rest);
}

/* The truth: f = L z, a product rule in z. */
static double exact(const scene *s)
{
    const int n = s->n, steps = n == 1 ? 4001 : n == 2 ? 281 : 71;
    double l[MOST][MOST], b[MOST], rest, total = 0, sum = 0;
    int places = 1;
    factor(s, l, b, &rest);
    for (int i = 0; i < n; i++) places *= steps;
    for (int place = 0; place < places; place++) {
        double z[MOST], log_weight = 0, mean = 0;
        for (int i = 0, left = place; i < n; i++, left /= steps) {
            double f = 0;
            z[i] = -7 + 14.0 * (left % steps) / (steps - 1);
            for (int k = 0; k <= i; k++) f += l[i][k] * z[k];
            log_weight += log_p(s, s->y[i], f) - z[i] * z[i] / 2;
            mean += b[i] * f;
        }
        const double weight = exp(log_weight);
        if (weight < 1e-9) continue;
        total += weight;
        sum += weight * average(s, mean, rest);
    }
    return sum / total;
}

static double predicted(gram_context *c, const scene *s)
{
    char text[64];
    double out[2];
    gram_laplace_options o;
    gram_laplace *l = NULL;
    snprintf(text, sizeof text, "%.17g*rbf(ell=1)", s->variance);
    gram_kernel *k = test_kernel(c, text);
    gram_points *p = test_points(c, s->n, 1, s->x), *z = test_points(c, 1, 1, &s->at);
    gram_laplace_options_init(&o, sizeof o);
    o.likelihood = s->kind;
    OK(c, gram_laplace_fit(c, k, p, s->y, &o, &l));
    assert_true(gram_laplace_get_report(l)->mismatch <= 1e-6);
    OK(c, gram_laplace_predict(c, l, z, out, 2));
    gram_laplace_destroy(l);
    gram_kernel_release(k);
    gram_points_release(p);
    gram_points_release(z);
    return s->kind == GRAM_LIKELIHOOD_LOGISTIC ? out[1] : out[0];
}

/* Probabilities absolutely, rates relatively. */
static void check(gram_context *c, const scene *s, double tolerance)
{
    const double wanted = exact(s), got = predicted(c, s);
    const double unit = s->kind == GRAM_LIKELIHOOD_POISSON ? wanted : 1;
    if (!(fabs(got - wanted) <= tolerance * unit))
        FAIL_TEST("%s, %d rows, variance %g, y %g %g %g, at %g: %.6g, not %.6g", gram_likelihood_name(s->kind), s->n,
                  s->variance, s->y[0], s->y[1], s->y[2], s->at, got, wanted);
}

static const double PLACES[] = {0, 0.8, 1.9, 60};

/* One row: the marginal is exact. */
static void test_one_row(void **state)
{
    static const double variances[] = {0.3, 4, 25, 100, 1000}, counts[] = {0, 1, 4, 30};
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    for (int v = 0; v < 5; v++)
        for (int at = 0; at < 4; at++) {
            for (int y = 0; y < 2; y++) {
                const scene s = {GRAM_LIKELIHOOD_LOGISTIC, 1, variances[v], {0}, {y}, PLACES[at]};
                check(c, &s, 1e-4);
            }
            for (int y = 0; y < 4 && v < 3; y++) {
                const scene s = {GRAM_LIKELIHOOD_POISSON, 1, variances[v], {0}, {counts[y]}, PLACES[at]};
                check(c, &s, 2e-3);
            }
        }
    gram_context_destroy(c);
}

/* Two rows near each other and not, that agree and do not. */
static void test_two_rows(void **state)
{
    static const double apart[] = {0.3, 1, 2.5}, variances[] = {1, 4, 25, 100}, counts[] = {0, 1, 6};
    static const double classes_within[] = {2e-4, 1e-3, 5e-3, 0.012}, rates_within[] = {0.01, 0.03};
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    for (int d = 0; d < 3; d++)
        for (int at = 0; at < 3; at++) {
            for (int v = 0; v < 4; v++)
                for (int y = 0; y < 2; y++) {
                    const scene s = {GRAM_LIKELIHOOD_LOGISTIC, 2, variances[v], {0, apart[d]}, {1, y}, PLACES[at]};
                    check(c, &s, classes_within[v]);
                }
            for (int v = 0; v < 2; v++)
                for (int y = 0; y < 3; y++) {
                    const scene s = {GRAM_LIKELIHOOD_POISSON, 2,         variances[v], {0, apart[d]},
                                     {0, counts[y]},          PLACES[at]};
                    check(c, &s, rates_within[v]);
                }
        }
    gram_context_destroy(c);
}

static void test_three_rows(void **state)
{
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    const scene scenes[] = {{GRAM_LIKELIHOOD_LOGISTIC, 3, 25, {0, 0.7, 1.9}, {1, 0, 1}, 0.4},
                            {GRAM_LIKELIHOOD_LOGISTIC, 3, 25, {0, 0.7, 1.9}, {1, 1, 1}, 0.7},
                            {GRAM_LIKELIHOOD_POISSON, 3, 2, {0, 0.7, 1.9}, {3, 0, 1}, 0.4}};
    for (int i = 0; i < 3; i++) check(c, &scenes[i], i < 2 ? 5e-3 : 0.01);
    gram_context_destroy(c);
}

/* Three classes and one row of class 1: the mean is the truth's, the Gaussian about it nearly. */
static void test_softmax(void **state)
{
    enum { STEPS = 57 };
    static const double variances[] = {1, 4, 25, 100};
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    for (int v = 0; v < 4; v++) {
        const double x = 0, y = 1, s = sqrt(variances[v]);
        double total = 0, sum = 0, out[3];
        char text[64];
        for (int i = 0; i < STEPS * STEPS * STEPS; i++) {
            double z[3];
            for (int k = 0, left = i; k < 3; k++, left /= STEPS) z[k] = -7 + 0.25 * (left % STEPS);
            const double p = 1 / (1 + exp(s * (z[0] - z[1])) + exp(s * (z[2] - z[1])));
            const double weight = p * exp(-(z[0] * z[0] + z[1] * z[1] + z[2] * z[2]) / 2);
            total += weight, sum += weight * p;
        }
        snprintf(text, sizeof text, "%g*rbf(ell=1)", variances[v]);
        gram_kernel *k = test_kernel(c, text);
        gram_points *p = test_points(c, 1, 1, &x);
        gram_laplace_options o;
        gram_laplace *l = NULL;
        gram_laplace_options_init(&o, sizeof o);
        o.likelihood = GRAM_LIKELIHOOD_SOFTMAX, o.classes = 3;
        OK(c, gram_laplace_fit(c, k, p, &y, &o, &l));
        OK(c, gram_laplace_predict(c, l, p, out, 3));
        if (!(fabs(out[1] - sum / total) < 0.025))
            FAIL_TEST("variance %g: %.4f, not %.4f", variances[v], out[1], sum / total);
        gram_laplace_destroy(l);
        gram_kernel_release(k);
        gram_points_release(p);
    }
    gram_context_destroy(c);
}

/* ---- the tilted law ---- */

/* Against the midpoint rule with many steps. */
static void test_tilted(void **state)
{
    enum { STEPS = 400000 };
    static const double means[] = {-20, -1, 0.4, 6}, variances[] = {0.01, 1, 30, 2000}, counts[] = {0, 1, 50};
    (void)state;
    for (int i = 0; i < 4 * 4 * 5; i++) {
        const double mean = means[i % 4], variance = variances[i / 4 % 4], s = sqrt(variance);
        const int which = i / 16;
        const double y = which < 2 ? 2 * which - 1 : counts[which - 2];
        const gram_likelihood_rule rule = {.kind = which < 2 ? GRAM_LIKELIHOOD_LOGISTIC : GRAM_LIKELIHOOD_POISSON};
        const double low = fmin(mean, 0) - 40 * fmin(s, 12) - 4, high = fmax(mean, 6) + 40 * fmin(s, 12);
        const gram_tilted t = gram_likelihood_tilt(&rule, y, mean, variance);
        double sum[4] = {0}, most = -INFINITY;
        for (int pass = 0; pass < 2; pass++) /* the highest log first */
            for (int k = 0; k < STEPS; k += pass ? 1 : 100) {
                const double f = low + (high - low) * (k + 0.5) / STEPS;
                const double log_weight = (which < 2 ? -log1p(exp(-y * f)) : y * f - exp(f) - lgamma(y + 1)) -
                                          (f - mean) * (f - mean) / (2 * variance);
                if (!pass) most = fmax(most, log_weight);
                if (!pass) continue;
                const double w = exp(log_weight - most), d = f - t.mean;
                sum[0] += w, sum[1] += w * d, sum[2] += w * d * d, sum[3] += w * d * d * d;
            }
        const double integral = most + log(sum[0] * (high - low) / STEPS / sqrt(2 * 3.14159265358979323846 * variance));
        const double width = sqrt(sum[2] / sum[0]);
        if (!(fabs(t.log_integral - integral) < 1e-4 * fmax(1, fabs(integral)) &&
              fabs(sum[1] / sum[0]) < 1e-3 * width && fabs(t.variance / (width * width) - 1) < 1e-3 &&
              fabs(t.third - sum[3] / sum[0]) < 5e-3 * width * width * width))
            FAIL_TEST(
                "y %g, mean %g, variance %g: log %g of %g, mean off by %g of %g, variance %g of %g, third %g of %g", y,
                mean, variance, t.log_integral, integral, sum[1] / sum[0], width, t.variance, width * width, t.third,
                sum[3] / sum[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_row), cmocka_unit_test(test_two_rows), cmocka_unit_test(test_three_rows),
        cmocka_unit_test(test_softmax), cmocka_unit_test(test_tilted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

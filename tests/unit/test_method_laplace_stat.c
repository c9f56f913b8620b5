/* Laplace's predictions over many draws: what is drawn from the prior comes true as often as predicted, and Student-t finds
 * the function whatever its noise does. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/order_statistics.h"
#include "samples.h"
#include <gram/gram.h>

/* ---- draws from the prior ---- */

enum { ROWS = 6, PLACES = ROWS + 1 }; /* the last is predicted */

typedef struct draw {
    double x[PLACES], y[PLACES];
} draw;

/* Latent functions at the places: values x functions. */
static void draw_functions(double variance, int functions, const double *x, const double *z, double *f)
{
    double l[PLACES][PLACES];
    for (int i = 0; i < PLACES; i++)
        for (int j = 0; j <= i; j++) {
            double sum = variance * exp(-(x[i] - x[j]) * (x[i] - x[j]) / 2) + (i == j ? 1e-9 * variance : 0);
            for (int k = 0; k < j; k++) sum -= l[i][k] * l[j][k];
            l[i][j] = i == j ? sqrt(fmax(sum, 1e-12)) : sum / l[j][j];
        }
    for (int i = 0; i < PLACES; i++)
        for (int c = 0; c < functions; c++) {
            f[i * functions + c] = 0;
            for (int k = 0; k <= i; k++) f[i * functions + c] += l[i][k] * z[k * functions + c];
        }
}

static double draw_class(const double *f, int classes, double u)
{
    double total = 0, sum = 0;
    for (int c = 0; c < classes; c++) total += exp(f[c]);
    for (int c = 0; c < classes - 1; c++)
        if (u < (sum += exp(f[c]) / total)) return c;
    return classes - 1;
}

static double draw_count(double rate, double u)
{
    double p = exp(-rate), sum = p;
    int count = 0;
    for (; u > sum && count < 500; count++) sum += p *= rate / (count + 1);
    return count;
}

static draw make_draw(gram_likelihood kind, double variance, uint64_t seed)
{
    draw d;
    double f[PLACES * 3], *z = sample_normal(seed, PLACES * 3), u[2 * PLACES];
    const int classes = 3;
    test_uniform(900000 + seed, 2 * PLACES, 0, 1, u);
    for (int i = 0; i < PLACES; i++) d.x[i] = 5 * u[i];
    draw_functions(variance, kind == GRAM_LIKELIHOOD_SOFTMAX ? classes : 1, d.x, z, f);
    for (int i = 0; i < PLACES; i++)
        d.y[i] = kind == GRAM_LIKELIHOOD_LOGISTIC  ? u[PLACES + i] < 1 / (1 + exp(-f[i]))
                 : kind == GRAM_LIKELIHOOD_SOFTMAX ? draw_class(f + i * classes, classes, u[PLACES + i])
                                                   : draw_count(exp(f[i]), u[PLACES + i]);
    free(z);
    return d;
}

/* The sum of what came less what was predicted, and of its variance: of the likeliest class, or of the count. */
static void play(gram_context *c, gram_kernel *k, gram_likelihood kind, const draw *d, double *sum, double *variance)
{
    gram_points *p = test_points(c, ROWS, 1, d->x), *z = test_points(c, 1, 1, d->x + ROWS);
    gram_laplace_options o;
    gram_laplace *l = NULL;
    double out[3], spread;
    const int columns = kind == GRAM_LIKELIHOOD_SOFTMAX ? 3 : 2;
    int best = 0;
    gram_laplace_options_init(&o, sizeof o);
    o.likelihood = kind;
    o.classes = kind == GRAM_LIKELIHOOD_SOFTMAX ? 3 : 0;
    OK(c, gram_laplace_fit(c, k, p, d->y, &o, &l));
    if (kind == GRAM_LIKELIHOOD_POISSON) {
        OK(c, gram_laplace_spread(c, l, z, out, &spread));
        *sum += d->y[ROWS] - out[0];
        *variance += spread + out[0];
    } else {
        OK(c, gram_laplace_predict(c, l, z, out, columns));
        for (int i = 1; i < columns; i++)
            if (out[i] > out[best]) best = i;
        *sum += (d->y[ROWS] == best) - out[best];
        *variance += out[best] * (1 - out[best]);
    }
    gram_laplace_destroy(l);
    gram_points_release(p);
    gram_points_release(z);
}

static void check_calibration(gram_likelihood kind, double prior, int draws)
{
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    char text[64];
    double sum = 0, variance = 0;
    snprintf(text, sizeof text, "%g*rbf(ell=1)", prior);
    gram_kernel *k = test_kernel(c, text);
    for (int i = 0; i < draws; i++) {
        const draw d = make_draw(kind, prior, (uint64_t)i);
        play(c, k, kind, &d, &sum, &variance);
    }
    printf("%s, variance %g: %.3g deviations\n", gram_likelihood_name(kind), prior, sum / sqrt(variance));
    if (!(fabs(sum) < 3 * sqrt(variance)))
        FAIL_TEST("%s, variance %g: %.3g more than predicted of %d, %.3g deviations", gram_likelihood_name(kind), prior,
                  sum, draws, sum / sqrt(variance));
    gram_kernel_release(k);
    gram_context_destroy(c);
}

static void test_calibration(void **state)
{
    (void)state;
    check_calibration(GRAM_LIKELIHOOD_LOGISTIC, 25, 2000);
    check_calibration(GRAM_LIKELIHOOD_LOGISTIC, 400, 2000);
    check_calibration(GRAM_LIKELIHOOD_SOFTMAX, 25, 500);
    check_calibration(GRAM_LIKELIHOOD_POISSON, 1, 2000);
}

/* ---- Student-t ---- */

enum { N = 50, NEW = 40 };

/* t with 3 degrees of freedom from four normal numbers */
static double student(const double *z)
{
    return z[0] / sqrt((z[1] * z[1] + z[2] * z[2] + z[3] * z[3]) / 3);
}

/* Errors of the fit and of the mean of y on new places, as the command learns: offset by the median, scale by the quartiles. */
static void learn_student(gram_context *c, uint64_t seed, double *error, double *constant)
{
    double x[N + NEW], y[N], truth[N + NEW], sorted[N], out[NEW], mean = 0, scale, *z = sample_normal(seed, 4 * N);
    test_uniform(500000 + seed, N + NEW, -3, 3, x);
    for (int i = 0; i < N + NEW; i++) truth[i] = sin(2 * x[i]);
    for (int i = 0; i < N; i++) mean += (sorted[i] = y[i] = truth[i] + 0.5 * student(z + 4 * i)) / N;
    gram_sort_numbers(N, sorted);
    const double median = sorted[N / 2], deviation = (sorted[3 * N / 4] - sorted[N / 4]) / 1.349;
    for (int i = 0; i < N; i++) y[i] -= median;
    gram_kernel *k = test_kernel(c, "const*rbf"), *tuned = NULL;
    gram_points *p = test_points(c, N, 1, x), *places = test_points(c, NEW, 1, x + N);
    gram_laplace_options lo;
    gram_laplace_tune_options o;
    gram_laplace *l = NULL;
    gram_laplace_options_init(&lo, sizeof lo);
    gram_laplace_tune_options_init(&o, sizeof o);
    lo.likelihood = GRAM_LIKELIHOOD_STUDENT, lo.scale = 0.3 * deviation;
    o.laplace = &lo;
    assert_true(gram_laplace_tune(c, k, p, y, &o, &tuned, &scale, NULL) >= 0);
    lo.scale = scale;
    assert_true(gram_laplace_fit(c, tuned, p, y, &lo, &l) >= 0);
    OK(c, gram_laplace_predict(c, l, places, out, 1));
    *error = *constant = 0;
    for (int i = 0; i < NEW; i++) {
        *error += pow(out[i] + median - truth[N + i], 2) / NEW;
        *constant += pow(mean - truth[N + i], 2) / NEW;
    }
    gram_laplace_destroy(l);
    gram_points_release(p);
    gram_points_release(places);
    gram_kernel_release(k);
    gram_kernel_release(tuned);
    free(z);
}

static void test_student(void **state)
{
    enum { SETS = 40 };
    (void)state;
    gram_context *c = test_context(1, GRAM_ISA_AUTO);
    double sum = 0;
    for (int i = 0; i < SETS; i++) {
        double error, constant;
        learn_student(c, (uint64_t)i, &error, &constant);
        sum += sqrt(error) / SETS;
        if (!(error < constant * 1.02)) FAIL_TEST("set %d: error %g, of the mean %g", i, sqrt(error), sqrt(constant));
    }
    printf("student: mean error %.3g\n", sum);
    if (!(sum < 0.35)) FAIL_TEST("mean error %g", sum);
    gram_context_destroy(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calibration), cmocka_unit_test(test_student)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

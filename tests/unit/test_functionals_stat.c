/* Statistics of functionals: intervals of Gaussian processes with slopes cover as often as they say, integrals of draws are as far
 * from their means as the deviation says, and Bayesian quadrature beats Monte Carlo with as many values. */
#include <math.h>
#include <stdlib.h>

#include "kernel/kernel.h"
#include "samples.h"
#include "support.h"

enum { ROWS = 12, NEW = 6, ALL = ROWS + NEW, DRAWS = 400 };

/* Values and slopes to learn from, then a value, a slope, a second derivative, an integral, a mean and a difference to predict. */
static gram_points *make_rows(gram_context *context, int from, int to)
{
    static double at[ALL], high, one = 1, deviation = 0.3;
    gram_functional_term terms[ALL + 1];
    gram_points *made;
    int64_t count = 0;
    high = 1.1;
    for (int i = 0; i < ALL; i++) at[i] = i < ROWS ? 0.23 * i : 0.35 + 0.29 * (i - ROWS);
    for (int i = from; i < to; i++) {
        gram_functional_term term = {.row = i - from, .coefficient = 1, .at = &at[i], .first = &one, .second = &one};
        static const gram_functional_kind KINDS[NEW] = {GRAM_FUNCTIONAL_VALUE,     GRAM_FUNCTIONAL_SLOPE,
                                                        GRAM_FUNCTIONAL_CURVATURE, GRAM_FUNCTIONAL_INTEGRAL,
                                                        GRAM_FUNCTIONAL_NORMAL,    GRAM_FUNCTIONAL_VALUE};
        term.kind = i >= ROWS ? KINDS[i - ROWS] : KINDS[i % 2]; /* values and slopes in turn */
        if (term.kind == GRAM_FUNCTIONAL_INTEGRAL) at[i] = 0.2, term.first = &high, term.second = NULL;
        if (term.kind == GRAM_FUNCTIONAL_NORMAL) term.first = &deviation;
        terms[count++] = term;
        if (i == ALL - 1) terms[count++] = (gram_functional_term){.row = i - from, .coefficient = -1, .at = &at[0]};
    }
    OK(context, gram_points_create_functionals(context, to - from, 1, count, terms, &made));
    return made;
}

/* Draws of all rows together by a factor of their covariance; the new ones are predicted from the noisy others. */
static void coverage(void **state)
{
    gram_context *context = *state;
    const double noise = 0.01, z = 1.6448536269514722; /* 90 % */
    gram_kernel *kernel = test_kernel(context, "1.7*rbf(ell=0.6)");
    gram_points *all = make_rows(context, 0, ALL), *known = make_rows(context, 0, ROWS),
                *new_rows = make_rows(context, ROWS, ALL);
    double *k = test_matrix(context, kernel, all, NULL), *factor = test_numbers(ALL * ALL), squares = 0;
    double *normal = sample_normal(7, (int64_t)DRAWS * 2 * ALL);
    int inside[NEW] = {0}, total = 0;
    for (int i = 0; i < ALL; i++) k[i * ALL + i] += 1e-10;
    assert_true(gram_small_cholesky(ALL, k, factor));
    for (int draw = 0; draw < DRAWS; draw++) {
        const double *e = normal + (int64_t)draw * 2 * ALL;
        double f[ALL], y[ROWS], mean[NEW], variance[NEW];
        gram_gp_options options;
        gram_gp *gp;
        for (int i = 0; i < ALL; i++) {
            f[i] = 0;
            for (int j = 0; j <= i; j++) f[i] += factor[i * ALL + j] * e[j];
        }
        for (int i = 0; i < ROWS; i++) y[i] = f[i] + sqrt(noise) * e[ALL + i];
        gram_gp_options_init(&options, sizeof options);
        options.noise = noise;
        options.mean = GRAM_MEAN_ZERO;
        OK(context, gram_gp_fit(context, kernel, known, y, &options, &gp));
        OK(context, gram_gp_predict(context, gp, new_rows, NULL, 0, mean, variance));
        for (int i = 0; i < NEW; i++) {
            const double miss = (f[ROWS + i] - mean[i]) / sqrt(variance[i]);
            inside[i] += fabs(miss) <= z;
            squares += miss * miss / (DRAWS * NEW);
        }
        gram_gp_destroy(gp);
    }
    /* binomial(400, 0.9): 4 deviations are 24 */
    for (int i = 0; i < NEW; i++) {
        if (abs(inside[i] - 360) > 24)
            FAIL_TEST("new row %d: 90 %% intervals cover %d of %d", i, inside[i], (int)DRAWS);
        total += inside[i];
    }
    print_message("90 %% intervals cover %.3f, mean squared standardised error %.3f\n", total / (double)(DRAWS * NEW),
                  squares);
    assert_true(fabs(squares - 1) < 0.15);
    free(k);
    free(factor);
    free(normal);
    gram_points_release(all);
    gram_points_release(known);
    gram_points_release(new_rows);
    gram_kernel_release(kernel);
}

/* The mean of exp(-x) sin(4x) + x^2 over [0, 1], from 10 values. */
static void quadrature(void **state)
{
    gram_context *context = *state;
    enum { VALUES = 10, TRIALS = 50 };
    const double truth = (4 - exp(-1) * (sin(4) + 4 * cos(4))) / 17 + 1.0 / 3, low = 0, high = 1;
    const gram_functional_term term = {.kind = GRAM_FUNCTIONAL_MEAN, .coefficient = 1, .at = &low, .first = &high};
    gram_kernel *kernel = test_kernel(context, "rbf(ell=0.4)");
    gram_points *u;
    double kernel_error = 0, random_error = 0;
    OK(context, gram_points_create_functionals(context, 1, 1, 1, &term, &u));
    for (int trial = 0; trial < TRIALS; trial++) {
        double *x = test_random((uint64_t)trial + 1, VALUES, 0, 1), y[VALUES], mean, sum = 0;
        gram_gp_options options;
        gram_gp *gp;
        gram_points *points = test_points(context, VALUES, 1, x);
        for (int i = 0; i < VALUES; i++) {
            y[i] = exp(-x[i]) * sin(4 * x[i]) + x[i] * x[i];
            sum += y[i] / VALUES;
        }
        gram_gp_options_init(&options, sizeof options);
        options.noise = 1e-10;
        options.mean = GRAM_MEAN_ZERO;
        OK(context, gram_gp_fit(context, kernel, points, y, &options, &gp));
        OK(context, gram_gp_predict(context, gp, u, NULL, 0, &mean, NULL));
        kernel_error += pow(mean - truth, 2) / TRIALS;
        random_error += pow(sum - truth, 2) / TRIALS;
        gram_gp_destroy(gp);
        gram_points_release(points);
        free(x);
    }
    print_message("root mean squared error with %d values: %.2g, Monte Carlo %.2g\n", (int)VALUES, sqrt(kernel_error),
                  sqrt(random_error));
    assert_true(sqrt(kernel_error) < sqrt(random_error) / 20);
    gram_points_release(u);
    gram_kernel_release(kernel);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(coverage), cmocka_unit_test(quadrature)};
    return cmocka_run_group_tests(tests, test_open, test_close);
}

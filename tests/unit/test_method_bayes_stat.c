/* Coverage of Bayesian linear regression: data drawn from the prior, and how often weights, noise and new observations are within
 * their 90 % intervals. Few rows, so that a normal interval with the noise estimated would cover far less. */
#include <math.h>
#include <stdlib.h>

#include <gram/bayes.h>

#include "samples.h"

enum { SETS = 3000, N = 6, D = 2 };

/* Gamma(3, 1): the sum of three exponentials */
static double gamma3(uint64_t seed)
{
    double u[3];
    test_uniform(seed, 3, 0, 1, u);
    return -log((u[0] + 1e-300) * (u[1] + 1e-300) * (u[2] + 1e-300));
}

/* Binomial with p = 0.9 over 3000 sets: deviation 16.4; within 4.5 of them. */
static void covers(const char *what, int count)
{
    print_message("%s: %d of %d\n", what, count, SETS);
    if (abs(count - 2700) > 74) FAIL_TEST("%s: %d of %d intervals of 90 %% cover", what, count, SETS);
}

static void coverage(void **state)
{
    (void)state;
    const double alpha = 2, prior_scale = 4;
    int weight = 0, noise = 0, observation = 0, plain = 0;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_bayes_options options;
    gram_bayes_options_init(&options, sizeof options);
    options.alpha = alpha;
    options.shape = 3;
    options.scale = prior_scale;
    options.intercept = 0;
    for (uint64_t set = 0; set < SETS; set++) {
        double x[(N + 1) * D], y[N], mean, scale, matrix[D * D];
        gram_bayes *bayes = NULL;
        const double s = prior_scale / gamma3(7 * set + 3); /* inverse gamma */
        double *z = sample_normal(set + 100000, D + N + 1);
        const double w[D] = {sqrt(s / alpha) * z[0], sqrt(s / alpha) * z[1]};
        test_uniform(set + 500000, (N + 1) * D, -2, 2, x);
        for (int i = 0; i < N; i++) y[i] = w[0] * x[D * i] + w[1] * x[D * i + 1] + sqrt(s) * z[D + i];
        const double truth = w[0] * x[D * N] + w[1] * x[D * N + 1] + sqrt(s) * z[D + N];
        gram_points *points = test_points(context, N, D, x), *other = test_points(context, 1, D, x + N * D);
        OK(context, gram_bayes_fit(context, points, y, &options, &bayes));
        const gram_bayes_report *r = gram_bayes_get_report(bayes);
        const double t = gram_student_quantile(r->freedom, 0.95);
        OK(context, gram_bayes_predict(context, bayes, other, &mean, &scale));
        OK(context, gram_bayes_weight_scale(context, bayes, matrix, D));
        const double width = sqrt(scale * scale + r->scale / r->shape);
        observation += fabs(truth - mean) <= t * width;
        plain += fabs(truth - mean) <= 1.2 * width; /* far too narrow: is it seen? */
        weight += fabs(w[0] - gram_bayes_weights(bayes)[0]) <= t * sqrt(matrix[0]);
        noise += s >= r->noise_lower && s <= r->noise_upper;
        gram_bayes_destroy(bayes);
        gram_points_release(points);
        gram_points_release(other);
        free(z);
    }
    covers("weights", weight);
    covers("observations", observation);
    print_message("noise, 95 %%: %d of %d\n", noise, SETS);
    assert_in_range(noise, 2850 - 54, 2850 + 54); /* deviation 11.9 */
    assert_true(plain < 2500);
    gram_context_destroy(context);
}

/* A flat prior is the classical interval: it covers whatever weights and noise are. */
static void flat_prior(void **state)
{
    (void)state;
    int observation = 0, normal = 0;
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_bayes_options options;
    gram_bayes_options_init(&options, sizeof options);
    options.alpha = 0;
    for (uint64_t set = 0; set < SETS; set++) {
        double x[(N + 1) * D], y[N], mean, scale;
        gram_bayes *bayes = NULL;
        double *z = sample_normal(set + 900000, N + 1);
        test_uniform(set + 700000, (N + 1) * D, -2, 2, x);
        for (int i = 0; i < N; i++) y[i] = 10 + 5 * x[D * i] - x[D * i + 1] + 3 * z[i];
        const double truth = 10 + 5 * x[D * N] - x[D * N + 1] + 3 * z[N];
        gram_points *points = test_points(context, N, D, x), *other = test_points(context, 1, D, x + N * D);
        OK(context, gram_bayes_fit(context, points, y, &options, &bayes));
        const gram_bayes_report *r = gram_bayes_get_report(bayes);
        OK(context, gram_bayes_predict(context, bayes, other, &mean, &scale));
        const double width = sqrt(scale * scale + r->scale / r->shape);
        observation += fabs(truth - mean) <= gram_student_quantile(r->freedom, 0.95) * width;
        normal += fabs(truth - mean) <= 1.6448536269514722 * width;
        gram_bayes_destroy(bayes);
        gram_points_release(points);
        gram_points_release(other);
        free(z);
    }
    covers("observations, flat prior", observation);
    print_message("with normal intervals: %d\n", normal);
    assert_true(normal < 2600);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(coverage), cmocka_unit_test(flat_prior)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Samples for the tests of tests: normal numbers from support.h's generator, and a few distributions. */
#ifndef GRAM_TESTS_SAMPLES_H
#define GRAM_TESTS_SAMPLES_H

#include <math.h>
#include <stdlib.h>

#include "support.h"

static inline double *sample_normal(uint64_t seed, int64_t count)
{
    double *u = test_random(2 * seed + 1, 2 * count, 0, 1), *out = test_numbers(count);
    for (int64_t i = 0; i < count; i++)
        out[i] = sqrt(-2 * log(u[2 * i] + 1e-300)) * cos(6.283185307179586 * u[2 * i + 1]);
    free(u);
    return out;
}

/* A 3 x 3 grid of normal blobs, 10 apart, with variances 1 and correlation `correlation`. */
static inline double *sample_blobs(uint64_t seed, int64_t n, double correlation)
{
    double *z = sample_normal(seed, 2 * n), *cell = test_random(seed + 77777777, n, 0, 9);
    for (int64_t i = 0; i < n; i++) {
        const int place = (int)cell[i] < 9 ? (int)cell[i] : 8;
        const double first = z[2 * i],
                     second = correlation * first + sqrt(1 - correlation * correlation) * z[2 * i + 1];
        z[2 * i] = 10 * (place % 3) + first;
        z[2 * i + 1] = 10 * (double)(place / 3) + second;
    }
    free(cell);
    return z;
}

/* p of the test; `text` is the kernel, NULL for none. */
static inline double sample_test(gram_context *context, const char *text, const gram_mmd_options *options, int64_t n,
                                 const double *x, int64_t m, const double *y, int64_t d)
{
    gram_kernel *kernel = text ? test_kernel(context, text) : NULL;
    gram_points *px = test_points(context, n, d, x), *py = test_points(context, m, d, y);
    gram_mmd_result result;
    gram_mmd_result_init(&result, sizeof result);
    OK(context, gram_mmd_test(context, kernel, px, py, options, &result));
    const double p = result.p_value;
    if (!(p > 0 && p <= 1) || !isfinite(result.statistic)) FAIL_TEST("p = %g, statistic %g", p, result.statistic);
    gram_mmd_result_clear(&result);
    gram_points_release(px);
    gram_points_release(py);
    gram_kernel_release(kernel);
    return p;
}

/* Fails the test unless draws (m x count) of m variables have this mean (NULL: 0) and covariance, within 4.5 of their own
 * standard errors. */
static inline void sample_has_moments(const char *what, int64_t m, int64_t count, const double *draws,
                                      const double *mean, const double *covariance)
{
    const double n = (double)count;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j <= i; j++) {
            double first = 0, second = 0, fourth = 0;
            for (int64_t k = 0; k < count; k++) {
                const double a = draws[i * count + k] - (mean ? mean[i] : 0),
                             b = draws[j * count + k] - (mean ? mean[j] : 0);
                first += a / n;
                second += a * b / n;
                fourth += a * b * a * b / n;
            }
            const double error = sqrt((fourth - second * second) / n);
            if (!(fabs(first) <= 4.5 * sqrt(covariance[i * m + i] / n)))
                FAIL_TEST("%s: the mean of %lld is off by %g", what, (long long)i, first);
            if (i == j && !(error < 0.1 * covariance[i * m + i]))
                FAIL_TEST("%s: an error of %g says little", what, error);
            if (!(fabs(second - covariance[i * m + j]) <= 4.5 * error))
                FAIL_TEST("%s: covariance (%lld, %lld) is %g, not %g, with an error of %g", what, (long long)i,
                          (long long)j, second, covariance[i * m + j], error);
        }
}

static inline gram_context *sample_context(uint64_t seed, int threads)
{
    return TEST_CONTEXT(.seed = seed, .threads = threads);
}

#endif

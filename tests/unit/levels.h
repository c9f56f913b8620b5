/* Levels and power of the tests, as counts over seeded runs: shared by the short and the long statistical tests. */
#ifndef GRAM_TESTS_LEVELS_H
#define GRAM_TESTS_LEVELS_H

#include "samples.h"

typedef enum distribution { NORMAL, UNIFORM, SKEWED, HEAVY, WHOLE, SERIES } distribution;

/* n rows of d numbers of the same distribution. */
static inline double *draw_sample(distribution kind, uint64_t seed, int64_t n, int64_t d)
{
    double *x = sample_normal(seed, n * d);
    double *other = sample_normal(seed + 500000000, n * d);
    for (int64_t i = 0; i < n * d; i++) {
        const double z = x[i];
        if (kind == UNIFORM) x[i] = 0.5 * erfc(-z / sqrt(2));
        if (kind == SKEWED) x[i] = exp(z);
        if (kind == HEAVY) x[i] = z / (fabs(other[i]) + 1e-12);
        if (kind == WHOLE) x[i] = floor(1.5 * z);
        if (kind == SERIES && i >= d) x[i] = 0.5 * x[i - d] + sqrt(0.75) * z;
    }
    free(other);
    return x;
}

typedef struct level_case {
    const char *name;
    gram_mmd_method method;
    int biased;
    distribution kind;
    int64_t n, m, d;
    int exact; /* the level is neither above nor below */
} level_case;

static const level_case LEVEL_CASES[] = {
    {"permutation, normal, d = 1, 20 and 20", GRAM_MMD_TEST_PERMUTATION, 0, NORMAL, 20, 20, 1, 1},
    {"permutation, skewed, d = 3, 30 and 50", GRAM_MMD_TEST_PERMUTATION, 0, SKEWED, 30, 50, 3, 1},
    {"permutation, heavy tails, d = 10, 40 and 25", GRAM_MMD_TEST_PERMUTATION, 0, HEAVY, 40, 25, 10, 1},
    {"permutation, biased, uniform, d = 2, 60 and 20", GRAM_MMD_TEST_PERMUTATION, 1, UNIFORM, 60, 20, 2, 1},
    {"split, normal, d = 2, 60 and 60", GRAM_MMD_TEST_SPLIT, 0, NORMAL, 60, 60, 2, 1},
    {"permutation, whole numbers, d = 2, 40 and 40", GRAM_MMD_TEST_PERMUTATION, 0, WHOLE, 40, 40, 2, 0},
    {"aggregated, normal, d = 2, 40 and 40", GRAM_MMD_TEST_AGGREGATED, 0, NORMAL, 40, 40, 2, 0},
    {"aggregated, heavy tails, d = 5, 50 and 30", GRAM_MMD_TEST_AGGREGATED, 0, HEAVY, 50, 30, 5, 0},
    {"gamma, normal, d = 2, 200 and 200", GRAM_MMD_TEST_GAMMA, 0, NORMAL, 200, 200, 2, 0},
    {"gamma, skewed, d = 5, 300 and 200", GRAM_MMD_TEST_GAMMA, 0, SKEWED, 300, 200, 5, 0},
    {"normal, normal, d = 5, 200 and 200", GRAM_MMD_TEST_NORMAL, 0, NORMAL, 200, 200, 5, 0},
    {"normal, uniform, d = 1, 200 and 250", GRAM_MMD_TEST_NORMAL, 0, UNIFORM, 200, 250, 1, 0},
    {"wild, normal, d = 2, 200 and 200", GRAM_MMD_TEST_WILD, 0, NORMAL, 200, 200, 2, 0},
    {"wild, time series, d = 2, 200 and 200", GRAM_MMD_TEST_WILD, 0, SERIES, 200, 200, 2, 0},
    {"linear, normal, d = 2, 400 and 400", GRAM_MMD_TEST_LINEAR, 0, NORMAL, 400, 400, 2, 0},
    {"block, normal, d = 2, 400 and 400", GRAM_MMD_TEST_BLOCK, 0, NORMAL, 400, 400, 2, 0},
    {"block, skewed, d = 1, 200 and 200", GRAM_MMD_TEST_BLOCK, 0, SKEWED, 200, 200, 1, 0},
    {"block, heavy tails, d = 10, 1000 and 900", GRAM_MMD_TEST_BLOCK, 0, HEAVY, 1000, 900, 10, 0},
};

enum { LEVEL_CASE_COUNT = sizeof LEVEL_CASES / sizeof *LEVEL_CASES };

/* How often the test rejects at level 0.05. y is x's distribution times `scale` plus `shift`. */
static inline int count_rejections(const level_case *c, int runs, double shift, double scale)
{
    int rejected = 0;
    gram_mmd_options options;
    gram_mmd_options_init(&options, sizeof options);
    options.method = c->method;
    options.biased = c->biased;
    options.permutations = 199;
    for (int run = 0; run < runs; run++) {
        const uint64_t seed = 1000000 + 2 * (uint64_t)run;
        gram_context *context = sample_context((uint64_t)run, 1);
        double *x = draw_sample(c->kind, seed, c->n, c->d), *y = draw_sample(c->kind, seed + 1, c->m, c->d);
        for (int64_t i = 0; i < c->m * c->d; i++) y[i] = scale * y[i] + (i % c->d == 0 ? shift : 0);
        rejected += sample_test(context, NULL, &options, c->n, x, c->m, y, c->d) <= 0.05;
        free(x);
        free(y);
        gram_context_destroy(context);
    }
    return rejected;
}

/* The same on blobs: independent coordinates within a blob against correlated ones. */
static inline int count_blobs(gram_mmd_method method, int runs, int64_t n)
{
    int rejected = 0;
    gram_mmd_options options;
    gram_mmd_options_init(&options, sizeof options);
    options.method = method;
    options.permutations = 199;
    for (int run = 0; run < runs; run++) {
        gram_context *context = sample_context((uint64_t)run, 1);
        double *x = sample_blobs(3000000 + (uint64_t)run, n, 0), *y = sample_blobs(4000000 + (uint64_t)run, n, 0.8);
        rejected += sample_test(context, NULL, &options, n, x, n, y, 2) <= 0.05;
        free(x);
        free(y);
        gram_context_destroy(context);
    }
    return rejected;
}

/* Rejections of the independence test; y = dependence * (x^2 - 1) + noise. */
static inline int count_dependent(gram_hsic_method method, int runs, int64_t n, double dependence)
{
    int rejected = 0;
    gram_hsic_options options;
    gram_hsic_options_init(&options, sizeof options);
    options.method = method;
    options.permutations = 199;
    for (int run = 0; run < runs; run++) {
        gram_context *context = sample_context((uint64_t)run, 1);
        double *x = sample_normal(5000000 + (uint64_t)run, n), *y = sample_normal(6000000 + (uint64_t)run, n);
        for (int64_t i = 0; i < n; i++) y[i] += dependence * (x[i] * x[i] - 1);
        gram_points *points[2] = {test_points(context, n, 1, x), test_points(context, n, 1, y)};
        gram_hsic_result result;
        gram_hsic_result_init(&result, sizeof result);
        OK(context, gram_hsic_test(context, 2, NULL, (const gram_points *const *)points, &options, &result));
        rejected += result.reject;
        gram_hsic_result_clear(&result);
        gram_points_release(points[0]);
        gram_points_release(points[1]);
        free(x);
        free(y);
        gram_context_destroy(context);
    }
    return rejected;
}

#endif

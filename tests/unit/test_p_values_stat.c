/* P-values of every default are uniform when the hypothesis is true, ties and categories included: the largest excess of their distribution
 * over the uniform one stays within what RUNS seeded runs allow with a probability of 0.999, and small p-values do come. bench/power has
 * 2,000 runs of each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"

enum { RUNS = 120, DRAWS = 99 };

typedef double (*test_of)(gram_context *context, int64_t n, double *const columns[3]);

/* Normal numbers become 0 to 3, many of them equal. */
static void make_whole(int64_t count, double *x)
{
    for (int64_t i = 0; i < count; i++) x[i] = fmin(fmax(floor(2 + x[i]), 0), 3);
}

static double two_samples(gram_context *context, int64_t n, double *const columns[3])
{
    gram_mmd_options options;
    gram_mmd_options_init(&options, sizeof options);
    options.permutations = DRAWS;
    return sample_test(context, NULL, &options, n, columns[0], n, columns[1], 2);
}

static double ties(gram_context *context, int64_t n, double *const columns[3])
{
    make_whole(2 * n, columns[0]);
    make_whole(2 * n, columns[1]);
    return two_samples(context, n, columns);
}

/* Categories as columns of 0 and 1: two of three levels. */
static double categories(gram_context *context, int64_t n, double *const columns[3])
{
    for (int v = 0; v < 2; v++)
        for (int64_t i = 0; i < n; i++) {
            const double z = columns[v][2 * i];
            columns[v][2 * i] = z < -0.43;
            columns[v][2 * i + 1] = z > 0.43;
        }
    return two_samples(context, n, columns);
}

static double independence(gram_context *context, int64_t n, double *const columns[3])
{
    gram_points *points[2] = {test_points(context, n, 2, columns[0]), test_points(context, n, 1, columns[1])};
    gram_hsic_options options;
    gram_hsic_result result;
    gram_hsic_options_init(&options, sizeof options);
    gram_hsic_result_init(&result, sizeof result);
    options.permutations = DRAWS;
    OK(context, gram_hsic_test(context, 2, NULL, (const gram_points *const *)points, &options, &result));
    const double p = result.p_value;
    gram_hsic_result_clear(&result);
    gram_points_release(points[0]);
    gram_points_release(points[1]);
    return p;
}

static double independence_of_ties(gram_context *context, int64_t n, double *const columns[3])
{
    make_whole(2 * n, columns[0]);
    make_whole(n, columns[1]);
    return independence(context, n, columns);
}

static double fit(gram_context *context, int64_t n, double *const columns[3])
{
    gram_points *points = test_points(context, n, 2, columns[0]);
    gram_kernel *kernels[GRAM_STEIN_LOOKS];
    gram_stein_test_options options;
    gram_stein_test_result result = {.size = sizeof result};
    gram_stein_test_options_init(&options, sizeof options);
    options.draws = DRAWS;
    for (int64_t i = 0; i < 2 * n; i++) columns[1][i] = -columns[0][i];
    OK(context, gram_stein_test_kernels(context, points, kernels));
    OK(context, gram_stein_test_many(context, GRAM_STEIN_LOOKS, kernels, points, columns[1], 2, &options, &result));
    for (int k = 0; k < GRAM_STEIN_LOOKS; k++) gram_kernel_release(kernels[k]);
    gram_points_release(points);
    return result.p_value;
}

static double given(gram_context *context, int64_t n, double *const columns[3])
{
    gram_points *points[3];
    gram_hsic_options options;
    gram_hsic_given_result result;
    gram_hsic_options_init(&options, sizeof options);
    gram_hsic_given_result_init(&result, sizeof result);
    options.permutations = DRAWS;
    for (int64_t i = 0; i < n; i++) {
        const double z = columns[2][i];
        columns[0][i] = sin(2 * z) + 0.5 * columns[0][i];
        columns[1][i] = z * z + 0.5 * columns[1][i];
    }
    for (int v = 0; v < 3; v++) points[v] = test_points(context, n, 1, columns[v]);
    OK(context, gram_hsic_given_test(context, NULL, (const gram_points *const *)points, &options, &result));
    const double p = result.p_value;
    gram_hsic_given_result_clear(&result);
    for (int v = 0; v < 3; v++) gram_points_release(points[v]);
    return p;
}

/* The largest excess of the share of p-values at most t over t, and how many are at most 0.2. */
static double largest_excess(int runs, const double *p, int *small)
{
    double most = 0;
    *small = 0;
    for (int i = 0; i < runs; i++) {
        int below = 0;
        for (int j = 0; j < runs; j++) below += p[j] <= p[i];
        most = fmax(most, (double)below / runs - p[i]);
        *small += p[i] <= 0.2;
    }
    return most;
}

static void uniform(void **state)
{
    static const struct {
        const char *name;
        test_of test;
        int64_t n;
        int runs;
    } CASES[] = {{"two samples", two_samples, 20, RUNS},
                 {"two samples, ties", ties, 20, RUNS},
                 {"two samples, categories", categories, 20, RUNS},
                 {"independence", independence, 25, RUNS},
                 {"independence, ties", independence_of_ties, 25, RUNS},
                 {"fit", fit, 40, RUNS},
                 {"given a column", given, 60, RUNS / 3}};
    (void)state;
    for (size_t c = 0; c < sizeof CASES / sizeof *CASES; c++) {
        double p[RUNS];
        int small;
        for (int run = 0; run < CASES[c].runs; run++) {
            gram_context *context = TEST_CONTEXT(.threads = 1, .seed = (uint64_t)run);
            double *columns[3];

            for (int v = 0; v < 3; v++) columns[v] = sample_normal((uint64_t)(1000 * run + v) + 17 * c, 2 * CASES[c].n);
            p[run] = CASES[c].test(context, CASES[c].n, columns);
            for (int v = 0; v < 3; v++) free(columns[v]);
            gram_context_destroy(context);
        }
        /* one-sided: P(excess > t) <= exp(-2 runs t^2) (Massart 1990) */
        const double bound = sqrt(log(1000.0) / (2 * CASES[c].runs)), excess = largest_excess(CASES[c].runs, p, &small);
        print_message("%s: excess %.3f (bound %.3f), at most 0.2: %d of %d\n", CASES[c].name, excess, bound, small,
                      CASES[c].runs);
        /* a binomial count of 0.2 is below 0.06 of the runs with a probability of less than 0.01 for 40 of them */
        if (!(excess <= bound) || small < 0.06 * CASES[c].runs) FAIL_TEST("%s: not uniform", CASES[c].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(uniform)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The test of fit that stands on the kernel Stein discrepancy (embed/stein_discrepancy.c).
 *
 * Under the null the law of n V depends on the spectrum of k_P, which nobody knows. The wild bootstrap (Chwialkowski,
 * Strathmann and Gretton 2016, after Leucht and Neumann 2013) draws from it: B = (1/n^2) sum_ij e_i e_j k_P(x_i, x_j) with
 * random signs e. Signs that are a Markov chain, e_(i+1) = -e_i with probability `flip`, keep the dependence of
 * draws that are one. Since e_i^2 = 1 the diagonal is the same in all of them: V and U give one p-value.
 *
 * The kernel is made anew for each 256 draws, which costs less than holding n^2 numbers and lets n be large. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/random.h>
#include <gram/text.h>

#include "base/sized_struct.h"
#include "embed/stein.h"

enum { STREAM = 0x737465696e }; /* a stream of random numbers of the test's own */

void gram_stein_test_options_init(gram_stein_test_options *options, size_t size)
{
    const gram_stein_test_options defaults = {.level = 0.05, .draws = 999, .flip = 0.5};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

static gram_status read_options(gram_context *context, const gram_stein_test_options *given,
                                gram_stein_test_options *options)
{
    gram_status status = GRAM_OK;
    char shown[GRAM_NUMBER_SIZE];
    gram_stein_test_options_init(options, sizeof *options);
    TRY(gram_sized_read(context, "stein_test", "options", "gram_stein_test_options", given, options, sizeof *options));
    FAIL_IF(!(options->level > 0 && options->level < 1), context, GRAM_ERROR_ARGUMENT,
            "stein_test: level = %s is not between 0 and 1", gram_number_format(options->level, shown));
    FAIL_IF(!(options->flip > 0 && options->flip <= 1), context, GRAM_ERROR_ARGUMENT,
            "stein_test: flip = %s is not above 0 and at most 1", gram_number_format(options->flip, shown));
    FAIL_IF(options->draws < 1 || options->draws > 100000000, context, GRAM_ERROR_ARGUMENT,
            "stein_test: draws = %lld, need 1 to 100000000", (long long)options->draws);
done:
    return status;
}

/* Column b of e: the signs of draw number first + b; u is scratch of n numbers. */
static void draw_signs(uint64_t seed, double flip, int64_t n, int64_t first, int64_t count, double *u, double *e)
{
    for (int64_t b = 0; b < count; b++) {
        const gram_random random = {.seed = seed, .stream = STREAM};
        double sign = 1;
        gram_random_uniform(random, (uint64_t)(first + b) * (uint64_t)n, n, u);
        for (int64_t i = 0; i < n; i++) {
            if (u[i] < (i == 0 ? 0.5 : flip)) sign = -sign;
            e[i * count + b] = sign;
        }
    }
}

/* sums[b] = sum_ij e_ib e_jb k_ij for all draws */
static gram_status bootstrap(gram_context *context, const gram_rows *rows, const gram_stein_test_options *options,
                             double *sums)
{
    gram_status status = GRAM_OK;
    const int64_t most = options->draws < GRAM_ROWS_COLUMNS ? options->draws : GRAM_ROWS_COLUMNS;
    const int64_t room = rows->n * (most + 1);
    double *e = NULL;
    TRY(gram_take(context, "stein_test: signs", room, sizeof(double), (void **)&e));
    for (int64_t b = 0; b < options->draws; b += most) {
        const int64_t now = options->draws - b < most ? options->draws - b : most;
        draw_signs(gram_context_seed(context), options->flip, rows->n, b, now, e + rows->n * most, e);
        TRY(gram_rows_quadratic(context, rows, now, e, now, sums + b, NULL));
    }
done:
    gram_give(context, e);
    return status;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Equal sums that were rounded differently count as equal: with few points many draws give the observed one. */
static const double TIE = 1e-12;

/* observed and sums are sums over all pairs, own that of the diagonal. sums become sorted
 * U-statistics. */
static void judge(const gram_stein_test_options *options, int64_t n, double observed, double own, double *sums,
                  gram_stein_test_result *result)
{
    const int64_t draws = options->draws;
    int64_t above = 0;
    for (int64_t b = 0; b < draws; b++)
        if (sums[b] >= observed - TIE * (fabs(observed) + fabs(own))) above++;
    qsort(sums, (size_t)draws, sizeof *sums, compare);
    result->p_value = (1 + (double)above) / (1 + (double)draws);
    result->reject = result->p_value <= options->level;
    /* rejected when at most `spare` draws reach the observed one */
    const double spare = floor(options->level * (1 + (double)draws)) - 1;
    for (int64_t b = 0; b < draws; b++) sums[b] = (sums[b] - own) / ((double)n * (double)(n - 1));
    result->threshold = spare >= 0 ? sums[draws - 1 - (int64_t)spare] : NAN;
    if (options->bootstrap) memcpy(options->bootstrap, sums, (size_t)draws * sizeof *sums);
}

gram_status gram_stein_test(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                            const double *scores, int64_t lds, const gram_stein_test_options *options,
                            gram_stein_test_result *result)
{
    gram_status status = GRAM_OK;
    gram_stein_test_options o = {0};
    gram_stein_test_result made;
    gram_stein *stein = NULL;
    double *ones = NULL, *sums = NULL, all, own;
    int64_t n = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!result, context, GRAM_ERROR_ARGUMENT, "stein_test: result is NULL");
    TRY(gram_sized_check(context, "stein_test", "result", "gram_stein_test_result", result, sizeof made));
    TRY(read_options(context, options, &o));
    TRY(gram_stein_create(context, "stein_test", kernel, points, scores, lds, &stein));
    FAIL_IF(stein->n < 2, context, GRAM_ERROR_ARGUMENT, "stein_test: one point, need at least two");
    n = stein->n;
    TRY(gram_take(context, "stein_test", n, sizeof(double), (void **)&ones));
    TRY(gram_take(context, "stein_test: draws", o.draws, sizeof(double), (void **)&sums));
    for (int64_t i = 0; i < n; i++) ones[i] = 1;
    TRY(gram_rows_quadratic(context, &stein->rows, 1, ones, 1, &all, &own));
    TRY(bootstrap(context, &stein->rows, &o, sums));
    const double square = (double)n * (double)n;
    made.statistic = gram_stein_statistics(all / square, own / square, 1 / (double)n, n);
    judge(&o, n, all, own, sums, &made);
    gram_sized_write(result, &made, sizeof made);
done:
    gram_give(context, ones);
    gram_give(context, sums);
    gram_stein_destroy(stein);
    return status;
}

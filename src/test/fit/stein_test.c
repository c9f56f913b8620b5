/* The test of fit that stands on the kernel Stein discrepancy (embed/stein_discrepancy.c).
 *
 * Under the null the law of n V depends on the spectrum of k_P, which nobody knows. The wild bootstrap (Chwialkowski,
 * Strathmann and Gretton 2016, after Leucht and Neumann 2013) draws from it: B = (1/n^2) sum_ij e_i e_j k_P(x_i, x_j) with
 * random signs e. Signs that are a Markov chain, e_(i+1) = -e_i with probability `flip`, keep the dependence of
 * draws that are one. Since e_i^2 = 1 the diagonal is the same in all of them: V and U give one p-value.
 *
 * With many kernels each statistic becomes -log of its tail under the gamma distribution that its own draws suggest, so that wide and
 * narrow ones can be compared; the largest is compared with the largest of every draw.
 *
 * The kernel is made anew for each 256 draws, which costs less than holding n^2 numbers and lets n be large. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/random.h>
#include <gram/text.h>

#include "base/distribution_tails.h"
#include "base/sized_struct.h"
#include "embed/stein.h"
#include "points/points.h"

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
    FAIL_IF(!(options->flip >= 0 && options->flip <= 1), context, GRAM_ERROR_ARGUMENT,
            "stein_test: flip = %s is not in 0 to 1", gram_number_format(options->flip, shown));
    FAIL_IF(options->draws < 1 || options->draws > 100000000, context, GRAM_ERROR_ARGUMENT,
            "stein_test: draws = %lld, need 1 to 100000000", (long long)options->draws);
done:
    return status;
}

/* ---- chains ---- */

/* 1 + 2 sum of the autocorrelations of a column: sums of two neighbours are added while they are positive, since those of a reversible
 * chain are (Geyer, "Practical Markov chain Monte Carlo", Stat. Sci. 7, 1992). `at` is column l of n rows, lda apart. */
static double autocorrelation_time(int64_t n, const double *at, int64_t lda)
{
    double mean = 0, variance = 0, time = -1;
    for (int64_t i = 0; i < n; i++) mean += at[i * lda] / (double)n;
    for (int64_t i = 0; i < n; i++) variance += (at[i * lda] - mean) * (at[i * lda] - mean);
    if (!(variance > 1e-24 * (double)n * mean * mean)) return 1; /* constant but for rounding */
    for (int64_t lag = 0; lag + 1 < n; lag += 2) {
        double pair = 0;
        for (int64_t i = 0; i + lag < n; i++) {
            const double here = at[i * lda] - mean;
            pair += here * (at[(i + lag) * lda] - mean);
            if (i + lag + 1 < n) pair += here * (at[(i + lag + 1) * lda] - mean);
        }
        if (!(pair > 0)) break;
        time += 2 * pair / variance;
    }
    return fmax(time, 1);
}

/* Signs that stay alike over twice the longest time that a column of points or scores shows: AR(0.9), 19 rows, is rejected as often
 * as the level says with that, and 0.15 at 0.05 with signs that stay alike over 10. */
static gram_status find_flip(gram_context *context, const gram_points *points, const double *scores, int64_t lds,
                             gram_stein_test_options *options, double *time)
{
    gram_status status = GRAM_OK;
    const int64_t n = points->n;
    double *column = NULL;
    *time = 1;
    TRY(gram_take(context, "stein_test: a column", n, sizeof *column, (void **)&column));
    for (int64_t l = 0; l < points->d; l++) {
        for (int64_t i = 0; i < n; i++) column[i] = gram_points_at(points, i, l);
        *time = fmax(*time, autocorrelation_time(n, column, 1));
        *time = fmax(*time, autocorrelation_time(n, scores + l, lds));
    }
    options->flip = fmin(1 / (4 * *time), 0.5);
done:
    gram_give(context, column);
    return status;
}

/* ---- signs ---- */

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

/* ---- one kernel, or many ---- */

/* What one kernel sees: the sum over all pairs, its part of the diagonal, and that of every draw. */
typedef struct seen {
    double all, own;
    double *sums;
} seen;

static gram_status see(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                       const double *scores, int64_t lds, const gram_stein_test_options *o, seen *s)
{
    gram_status status = GRAM_OK;
    gram_stein *stein = NULL;
    double *ones = NULL;
    TRY(gram_stein_create(context, "stein_test", kernel, points, scores, lds, &stein));
    FAIL_IF(stein->n < 2, context, GRAM_ERROR_ARGUMENT, "stein_test: one point, need at least two");
    TRY(gram_take(context, "stein_test", stein->n, sizeof(double), (void **)&ones));
    TRY(gram_take(context, "stein_test: draws", o->draws, sizeof(double), (void **)&s->sums));
    for (int64_t i = 0; i < stein->n; i++) ones[i] = 1;
    TRY(gram_rows_quadratic(context, &stein->rows, 1, ones, 1, &s->all, &s->own));
    TRY(bootstrap(context, &stein->rows, o, s->sums));
done:
    gram_give(context, ones);
    gram_stein_destroy(stein);
    return status;
}

/* How far the observed sum and those of all draws are in the tail of the draws' gamma distribution, -log of it: scores[0] is the
 * observed one's if it is larger than what other kernels made it, and so on; returns whether it was. */
static int raise_scores(const seen *s, int64_t draws, double *scores)
{
    double mean = 0, variance = 0;
    for (int64_t b = 0; b < draws; b++) mean += s->sums[b] / (double)draws;
    for (int64_t b = 0; b < draws; b++) variance += pow(s->sums[b] - mean, 2) / (double)draws;
    if (!(mean > 0 && variance > 0)) return 0;
    const double before = scores[0];
    for (int64_t b = 0; b <= draws; b++) {
        const double sum = b == 0 ? s->all - TIE * (fabs(s->all) + fabs(s->own)) : s->sums[b - 1];
        scores[b] = fmax(scores[b], gram_tail_gamma_score(sum, mean, sqrt(variance)));
    }
    return scores[0] > before;
}

/* The p-value of the largest scores; the rest is that of the kernel that saw most. */
static gram_status judge_many(gram_context *context, const gram_stein_test_options *o, int count, int64_t n, seen *all,
                              gram_stein_test_result *made)
{
    gram_status status = GRAM_OK;
    const double square = (double)n * (double)n;
    double *scores = NULL;
    int64_t above = 0;
    made->best = 0;
    TRY(gram_take(context, "stein_test: scores", o->draws + 1, sizeof *scores, (void **)&scores));
    memset(scores, 0, (size_t)(o->draws + 1) * sizeof *scores);
    for (int k = 0; k < count && count > 1; k++)
        if (raise_scores(&all[k], o->draws, scores)) made->best = k;
    for (int64_t b = 1; b <= o->draws; b++) above += scores[b] >= scores[0];
    const seen *best = &all[made->best];
    made->statistic = gram_stein_statistics(best->all / square, best->own / square, 1 / (double)n, n);
    judge(o, n, best->all, best->own, best->sums, made);
    if (count == 1) goto done;
    made->p_value = (1 + (double)above) / (1 + (double)o->draws);
    made->reject = made->p_value <= o->level;
done:
    gram_give(context, scores);
    return status;
}

gram_status gram_stein_test_many(gram_context *context, int count, gram_kernel *const *kernels,
                                 const gram_points *points, const double *scores, int64_t lds,
                                 const gram_stein_test_options *options, gram_stein_test_result *result)
{
    gram_status status = GRAM_OK;
    gram_stein_test_options o = {0};
    gram_stein_test_result made = {.size = 0};
    seen all[GRAM_STEIN_MAX_LOOKS] = {{0}};
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!result, context, GRAM_ERROR_ARGUMENT, "stein_test: result is NULL");
    TRY(gram_sized_check(context, "stein_test", "result", "gram_stein_test_result", result, sizeof made));
    TRY(read_options(context, options, &o));
    FAIL_IF(count < 1 || count > GRAM_STEIN_MAX_LOOKS, context, GRAM_ERROR_ARGUMENT,
            "stein_test_many: count = %d, need 1 to %d", count, (int)GRAM_STEIN_MAX_LOOKS);
    FAIL_IF(!kernels, context, GRAM_ERROR_ARGUMENT, "stein_test_many: kernels is NULL");
    made.autocorrelation_time = NAN;
    FAIL_IF(!points || !scores, context, GRAM_ERROR_ARGUMENT, "stein_test: %s is NULL", points ? "scores" : "points");
    if (o.flip == 0) TRY(find_flip(context, points, scores, lds, &o, &made.autocorrelation_time));
    made.flip = o.flip;
    for (int k = 0; k < count; k++) TRY(see(context, kernels[k], points, scores, lds, &o, &all[k]));
    TRY(judge_many(context, &o, count, gram_points_count(points), all, &made));
    gram_sized_write(result, &made, sizeof made);
done:
    for (int k = 0; k < GRAM_STEIN_MAX_LOOKS; k++) gram_give(context, all[k].sums);
    return status;
}

gram_status gram_stein_test(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                            const double *scores, int64_t lds, const gram_stein_test_options *options,
                            gram_stein_test_result *result)
{
    gram_kernel *one = (gram_kernel *)kernel; /* which is only read */
    return gram_stein_test_many(context, 1, &one, points, scores, lds, options, result);
}

gram_status gram_stein_test_kernels(gram_context *context, const gram_points *points,
                                    gram_kernel *kernels[GRAM_STEIN_LOOKS])
{
    static const struct {
        const char *form;
        double width;
    } LOOKS[GRAM_STEIN_LOOKS] = {{"imq(c=%s, beta=0.5)", 0.25},
                                 {"imq(c=%s, beta=0.5)", 0.5},
                                 {"imq(c=%s, beta=0.5)", 1},
                                 {"imq(c=%s, beta=0.5)", 2},
                                 {"rbf(ell=%s)", 0.5},
                                 {"rbf(ell=%s)", 1},
                                 {"rbf(ell=%s)", 2}};
    gram_status status = GRAM_OK;
    gram_kernel *open = NULL, *rbf = NULL;
    gram_parameter width;
    char number[GRAM_NUMBER_SIZE], text[96];
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!kernels, context, GRAM_ERROR_ARGUMENT, "stein_test_kernels: kernels is NULL");
    for (int k = 0; k < GRAM_STEIN_LOOKS; k++) kernels[k] = NULL;
    TRY(gram_kernel_parse(context, "rbf", &open));
    TRY(gram_kernel_resolve(context, open, points, &rbf));
    TRY(gram_kernel_parameter_get(context, rbf, 0, &width));
    for (int k = 0; k < GRAM_STEIN_LOOKS; k++) {
        /* NOLINTNEXTLINE: the forms are those of the table */
        (void)snprintf(text, sizeof text, LOOKS[k].form, gram_number_format(LOOKS[k].width * width.value, number));
        TRY(gram_kernel_parse(context, text, &kernels[k]));
    }
done:
    if (status < 0)
        for (int k = 0; k < GRAM_STEIN_LOOKS && kernels; k++) {
            gram_kernel_release(kernels[k]);
            kernels[k] = NULL;
        }
    gram_kernel_release(open);
    gram_kernel_release(rbf);
    return status;
}

/* Do scores belong to their points? Whether the points come from the density is what tests of fit ask; this asks before that whether the
 * scores can be grad log p at these points at all, whatever p is:
 *
 *   - A point has one score. Chains stay at a point when they refuse a step, so rows that were shifted by one are found at once.
 *   - A score is a function of its point. So the score of the nearest other point is nearer than that of a random one: the sum of squared
 *     differences between ranks of scores of nearest neighbours is compared with the same for PERMUTATIONS random orders of the scores. Scores
 *     of other rows, or of another sample, look like those. Ranks, because scores may have long tails.
 *   - A score points towards the mass: E (x - m).s = -d under p, whatever p is, and less for a sample that is too wide. A sum that is clearly
 *     above 0 is that of the gradient of -log p.
 *
 * O(n d + rows^2 d) for at most ROWS rows, evenly spaced. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gram/random.h>

#include "embed/stein.h"
#include "points/functionals.h"
#include "points/points.h"

enum { ROWS = 1000, FEWEST = 30, PERMUTATIONS = 199, AS_GOOD = 4, RANDOM_STREAM = 0x73636f72 /* "scor" */ };
static const double SAME = 1e-6, ERRORS = 2.5;

typedef struct doubtful {
    const gram_points *points;
    const double *scores;
    int64_t lds, count; /* rows that are looked at */
    double *x, *ranks;  /* count x d */
    int64_t *nearest, *order;
    double *points_mean;
} doubtful;

static int64_t row_of(const doubtful *t, int64_t k)
{
    return (int64_t)((double)k * (double)t->points->n / (double)t->count);
}

/* ---- one score for each point ---- */

static int differ(const doubtful *t, int64_t i, int64_t j)
{
    for (int64_t l = 0; l < t->points->d; l++) {
        const double a = t->scores[i * t->lds + l], b = t->scores[j * t->lds + l];
        if (fabs(a - b) > SAME * (fabs(a) + fabs(b))) return 1;
    }
    return 0;
}

static int equal_points(const gram_points *points, int64_t i, int64_t j)
{
    for (int64_t l = 0; l < points->d; l++)
        if (gram_points_at(points, i, l) != gram_points_at(points, j, l)) return 0;
    return 1;
}

/* The first row whose score differs from that of the row before at the same point, or 0. */
static int64_t find_torn(const doubtful *t)
{
    for (int64_t i = 1; i < t->points->n; i++)
        if (equal_points(t->points, i - 1, i) && differ(t, i - 1, i)) return i;
    return 0;
}

/* ---- a function of the point ---- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Column l of the points over its deviation, and the ranks of the scores' column: for equal values the first. */
static void take_column(const doubtful *t, int64_t l, double *sorted)
{
    const int64_t n = t->count, d = t->points->d;
    double mean = 0, squares = 0;
    for (int64_t k = 0; k < n; k++) {
        t->x[k * d + l] = gram_points_at(t->points, row_of(t, k), l);
        mean += t->x[k * d + l] / (double)n;
        sorted[k] = t->scores[row_of(t, k) * t->lds + l];
    }
    for (int64_t k = 0; k < n; k++) squares += pow(t->x[k * d + l] - mean, 2);
    for (int64_t k = 0; k < n && squares > 0; k++) t->x[k * d + l] = (t->x[k * d + l] - mean) / sqrt(squares);
    qsort(sorted, (size_t)n, sizeof *sorted, by_value);
    for (int64_t k = 0; k < n; k++) {
        const double value = t->scores[row_of(t, k) * t->lds + l];
        int64_t low = 0, high = n - 1;
        while (low < high) {
            const int64_t middle = (low + high) / 2;
            if (sorted[middle] < value)
                low = middle + 1;
            else
                high = middle;
        }
        t->ranks[k * d + l] = (double)low;
    }
}

static double square_between(int64_t d, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t l = 0; l < d; l++) sum += (a[l] - b[l]) * (a[l] - b[l]);
    return sum;
}

static void find_nearest(const doubtful *t)
{
    const int64_t d = t->points->d;
    for (int64_t k = 0; k < t->count; k++) {
        double least = INFINITY;
        for (int64_t j = 0; j < t->count; j++) {
            if (j == k) continue;
            const double square = square_between(d, t->x + k * d, t->x + j * d);
            if (square < least) least = square, t->nearest[k] = j;
        }
    }
}

static double sum_in_order(const doubtful *t)
{
    const int64_t d = t->points->d;
    double sum = 0;
    for (int64_t k = 0; k < t->count; k++)
        sum += square_between(d, t->ranks + t->order[k] * d, t->ranks + t->order[t->nearest[k]] * d);
    return sum;
}

static int is_unrelated(gram_context *context, const doubtful *t)
{
    const gram_random random = {gram_context_seed(context), RANDOM_STREAM};
    int as_good = 0;
    for (int64_t k = 0; k < t->count; k++) t->order[k] = k;
    const double observed = sum_in_order(t);
    for (uint64_t b = 0; b < PERMUTATIONS; b++) {
        gram_random_permutation(random, b, t->count, t->order);
        as_good += sum_in_order(t) <= observed;
    }
    /* equal scores everywhere, as of a uniform law, say nothing: then all orders are as good */
    return as_good >= AS_GOOD && as_good < PERMUTATIONS;
}

static gram_status look_at_neighbours(gram_context *context, doubtful *t, int *unrelated)
{
    gram_status status = GRAM_OK;
    const int64_t d = t->points->d;
    double *sorted = NULL;
    t->count = t->points->n < ROWS ? t->points->n : ROWS;
    TRY(gram_take(context, "stein_scores_check", t->count * d, sizeof *t->x, (void **)&t->x));
    TRY(gram_take(context, "stein_scores_check", t->count * d, sizeof *t->ranks, (void **)&t->ranks));
    TRY(gram_take(context, "stein_scores_check", t->count, sizeof *t->nearest, (void **)&t->nearest));
    TRY(gram_take(context, "stein_scores_check", t->count, sizeof *t->order, (void **)&t->order));
    TRY(gram_take(context, "stein_scores_check", t->count, sizeof *sorted, (void **)&sorted));
    for (int64_t l = 0; l < d; l++) take_column(t, l, sorted);
    find_nearest(t);
    *unrelated = is_unrelated(context, t);
done:
    gram_give(context, sorted);
    gram_give(context, t->x);
    gram_give(context, t->ranks);
    gram_give(context, t->nearest);
    gram_give(context, t->order);
    return status;
}

/* ---- towards the mass ---- */

/* The mean of (x - m).s over its standard error. */
static double outward(const doubtful *t)
{
    const int64_t n = t->points->n;
    double mean = 0, squares = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < n; i++) {
            double product = 0;
            for (int64_t l = 0; l < t->points->d; l++)
                product += (gram_points_at(t->points, i, l) - t->points_mean[l]) * t->scores[i * t->lds + l];
            if (pass == 0) mean += product / (double)n;
            if (pass == 1) squares += (product - mean) * (product - mean);
        }
    return squares > 0 ? mean / sqrt(squares / (double)n / (double)(n - 1)) : 0;
}

gram_status gram_stein_scores_check(gram_context *context, const gram_points *points, const double *scores, int64_t lds,
                                    gram_scores_doubt *doubt, int64_t *row)
{
    gram_status status = GRAM_OK;
    doubtful t = {.points = points, .scores = scores, .lds = lds};
    int unrelated = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!doubt || !row || !scores, context, GRAM_ERROR_ARGUMENT, "stein_scores_check: %s is NULL",
            !doubt ? "doubt"
            : !row ? "row"
                   : "scores");
    *doubt = GRAM_SCORES_FIT;
    *row = -1;
    TRY(gram_points_must_be_plain(context, "stein_scores_check", points));
    FAIL_IF(lds < points->d, context, GRAM_ERROR_ARGUMENT,
            "stein_scores_check: lds = %lld is less than the %lld columns", (long long)lds, (long long)points->d);
    const int64_t torn = find_torn(&t);
    if (torn > 0) {
        *doubt = GRAM_SCORES_TORN;
        *row = torn;
        goto done;
    }
    if (points->n < FEWEST) goto done;
    TRY(look_at_neighbours(context, &t, &unrelated));
    if (unrelated) {
        *doubt = GRAM_SCORES_UNRELATED;
        goto done;
    }
    TRY(gram_take(context, "stein_scores_check", points->d, sizeof *t.points_mean, (void **)&t.points_mean));
    for (int64_t l = 0; l < points->d; l++) {
        t.points_mean[l] = 0;
        for (int64_t i = 0; i < points->n; i++) t.points_mean[l] += gram_points_at(points, i, l) / (double)points->n;
    }
    if (outward(&t) > ERRORS) *doubt = GRAM_SCORES_OUTWARD;
done:
    gram_give(context, t.points_mean);
    return status;
}

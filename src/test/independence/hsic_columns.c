/* Which columns depend on each other: HSIC of each pair, in deviations above chance. */
#include <math.h>

#include <gram/hsic.h>

#include "points/functionals.h"
#include "points/points.h"

static gram_status column_of(gram_context *context, const gram_points *points, int64_t l, gram_points **column)
{
    if (points->f64) return gram_points_create_f64(context, points->n, 1, points->f64 + l, points->ld, column);
    return gram_points_create_f32(context, points->n, 1, points->f32 + l, points->ld, column);
}

static gram_status score_pair(gram_context *context, const gram_points *x, const gram_points *y, double *score)
{
    gram_status status = GRAM_OK;
    const gram_points *points[2] = {x, y};
    gram_hsic_options options;
    gram_hsic_result result;
    gram_hsic_options_init(&options, sizeof options);
    gram_hsic_result_init(&result, sizeof result);
    options.method = GRAM_HSIC_GAMMA;
    TRY(gram_hsic_test(context, 2, NULL, points, &options, &result));
    *score = result.null_deviation > 0 ? (result.statistic - result.null_mean) / result.null_deviation : -INFINITY;
done:
    gram_hsic_result_clear(&result);
    return status;
}

gram_status gram_hsic_columns(gram_context *context, const gram_points *x, const gram_points *y, double *score)
{
    gram_status status = GRAM_OK;
    gram_points *one = NULL, *other = NULL;
    if (!context || !x || !y || !score) return GRAM_ERROR_ARGUMENT;
    TRY(gram_points_must_be_plain(context, "hsic_columns", x));
    TRY(gram_points_must_be_plain(context, "hsic_columns", y));
    TRY(gram_points_must_be_numbers(context, "hsic_columns", x));
    TRY(gram_points_must_be_numbers(context, "hsic_columns", y));
    for (int64_t i = 0; i < x->d; i++) {
        TRY(column_of(context, x, i, &one));
        for (int64_t j = 0; j < y->d; j++) {
            TRY(column_of(context, y, j, &other));
            TRY(score_pair(context, one, other, &score[i * y->d + j]));
            gram_points_release(other);
            other = NULL;
        }
        gram_points_release(one);
        one = NULL;
    }
done:
    gram_points_release(one);
    gram_points_release(other);
    return status;
}

gram_status gram_hsic_strongest(gram_context *context, const gram_points *x, const gram_points *y, int64_t *i,
                                int64_t *j)
{
    enum { MOST_PAIRS = 100 };
    gram_status status = GRAM_OK;
    double score[MOST_PAIRS];
    int64_t best = 0;
    if (!context || !x || !y || !i || !j) return GRAM_ERROR_ARGUMENT;
    const int64_t pairs = x->d <= MOST_PAIRS && y->d <= MOST_PAIRS ? x->d * y->d : MOST_PAIRS + 1;
    if (pairs > 1 && pairs <= MOST_PAIRS) {
        TRY(gram_hsic_columns(context, x, y, score));
        for (int64_t pair = 1; pair < pairs; pair++)
            if (score[pair] > score[best]) best = pair;
    }
    *i = best / y->d;
    *j = best % y->d;
done:
    return status;
}

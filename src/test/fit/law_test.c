/* Is a sample one of a known law? The statistic is the MMD from one to the other. Under the hypothesis everything is known: samples of the law are drawn, and
 * where the statistic of the data stands among theirs is the p-value (Barnard 1963), exact for every size. */
#include <gram/law.h>

#include <math.h>
#include <string.h>

#include "base/context.h"
#include "base/order_statistics.h"
#include "base/sized_struct.h"
#include "embed/law_distance.h"
#include "points/points.h"

void gram_law_test_options_init(gram_law_test_options *options, size_t size)
{
    const gram_law_test_options defaults = {.size = sizeof defaults, .level = 0.05, .draws = 999};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

/* The U-statistics of samples of the law, sorted. */
static gram_status draw_null(gram_law_setting *s, int64_t draws, double *null)
{
    gram_status status = GRAM_OK;
    const int64_t d = gram_law_dimension(s->law);
    gram_law_distance one;
    double *x = NULL;
    gram_points *points = NULL;
    TRY(gram_take(s->context, "law: a sample", s->n * d, sizeof *x, (void **)&x));
    for (int64_t k = 0; k < draws; k++) {
        TRY(gram_law_draw(s->context, s->law, (uint64_t)k + 1, s->n, x));
        TRY(gram_points_create_f64(s->context, s->n, d, x, d, &points));
        TRY(gram_law_measure(s, points, &one));
        gram_points_release(points);
        points = NULL;
        null[k] = one.u_statistic;
    }
    gram_sort_numbers(draws, null);
done:
    gram_points_release(points);
    gram_give(s->context, x);
    return status;
}

static gram_status check_test(gram_context *context, const gram_points *points, const gram_law_test_options *o)
{
    gram_status status = GRAM_OK;
    FAIL_IF(points->n < 2, context, GRAM_ERROR_DATA, "law_test: one point, need at least two");
    FAIL_IF(!(o->level > 0 && o->level < 1), context, GRAM_ERROR_ARGUMENT, "law_test: level must be between 0 and 1");
    FAIL_IF(o->draws < 1 || o->draws > 1 << 24, context, GRAM_ERROR_ARGUMENT, "law_test: draws = %lld, need 1 to 2^24",
            (long long)o->draws);
done:
    return status;
}

gram_status gram_law_test(gram_context *context, const gram_kernel *kernel, const gram_points *points,
                          const gram_law *law, const gram_law_test_options *options, gram_law_test_result *result)
{
    gram_status status = GRAM_OK;
    gram_law_test_options o;
    gram_law_test_result found = {.size = sizeof found};
    gram_law_setting s = {0};
    double *null = NULL;
    int64_t beyond = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    gram_law_test_options_init(&o, sizeof o);
    TRY(gram_law_check(context, "law_test", kernel, points, law, result));
    TRY(gram_sized_check(context, "law_test", "result", "gram_law_test_result", result, sizeof found));
    TRY(gram_sized_read(context, "law_test", "options", "gram_law_test_options", options, &o, sizeof o));
    TRY(check_test(context, points, &o));
    TRY(gram_law_begin(context, kernel, law, points->n, &s));
    TRY(gram_take(context, "law: null distribution", o.draws, sizeof *null, (void **)&null));
    TRY(gram_law_measure(&s, points, &found.statistic));
    TRY(draw_null(&s, o.draws, null));
    for (int64_t k = 0; k < o.draws; k++) beyond += null[k] >= found.statistic.u_statistic;
    const int64_t allowed = (int64_t)floor(o.level * (double)(o.draws + 1)); /* 1 + beyond at most */
    found.p_value = (double)(1 + beyond) / (double)(1 + o.draws);
    found.threshold = allowed >= 1 ? null[o.draws - allowed] : NAN;
    found.reject = found.p_value <= o.level;
    if (o.null) memcpy(o.null, null, (size_t)o.draws * sizeof *null);
    gram_sized_write(result, &found, sizeof found);
done:
    if (context) gram_give(context, s.ones);
    if (context) gram_give(context, null);
    return status;
}

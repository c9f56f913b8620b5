/* Rows of weight 0 do not count, and a large set is tuned on some of its rows: both are a copy of the rows that count.
 * The copy is in f64 also for f32 points: derivatives are f64 anyway, and a Gram matrix of f32 entries stops being
 * positive definite at a ridge of 1e-7 of its diagonal, where the search still wants to go. */
#include "points/row_sample.h"

#include <math.h>
#include <string.h>

#include <gram/text.h>

static gram_status check_numbers(gram_context *context, const char *function, const gram_given *given)
{
    gram_status status = GRAM_OK;
    char text[GRAM_NUMBER_SIZE];
    for (int64_t i = 0; i < given->x->n; i++) {
        const double weight = given->weights ? given->weights[i] : 1;
        FAIL_IF(!(weight >= 0 && isfinite(weight)), context, GRAM_ERROR_DATA,
                "%s: weights[%lld] = %s, need a finite number >= 0", function, (long long)i,
                gram_number_format(weight, text));
        for (int64_t j = 0; j < given->outputs && weight > 0; j++)
            FAIL_IF(!isfinite(given->y[i * given->ldy + j]), context, GRAM_ERROR_DATA,
                    "%s: y[%lld][%lld] is %s; every target must be finite", function, (long long)i, (long long)j,
                    gram_number_format(given->y[i * given->ldy + j], text));
    }
done:
    return status;
}

gram_status gram_given_check(gram_context *context, const char *function, const gram_given *given)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!given->x, context, GRAM_ERROR_ARGUMENT, "%s: x is NULL", function);
    FAIL_IF(!given->y, context, GRAM_ERROR_ARGUMENT, "%s: y is NULL", function);
    FAIL_IF(given->outputs < 1, context, GRAM_ERROR_ARGUMENT, "%s: outputs = %lld, need at least 1", function,
            (long long)given->outputs);
    FAIL_IF(given->ldy < given->outputs, context, GRAM_ERROR_ARGUMENT, "%s: ldy = %lld is less than outputs = %lld",
            function, (long long)given->ldy, (long long)given->outputs);
    TRY(check_numbers(context, function, given));
done:
    return status;
}

gram_status gram_given_rows(gram_context *context, const gram_given *given, int64_t **rows, int64_t *count)
{
    gram_status status = GRAM_OK;
    const int64_t n = given->x->n;
    *count = 0;
    TRY(gram_take(context, "tuning: rows", n, sizeof **rows, (void **)rows));
    for (int64_t i = 0; i < n; i++)
        if (!given->weights || given->weights[i] > 0) (*rows)[(*count)++] = i;
done:
    return status;
}

static gram_status copy_points(gram_context *context, const gram_points *x, const int64_t *rows, gram_sample *sample)
{
    gram_status status = GRAM_OK;
    TRY(gram_points_gather(context, x, sample->n, rows, &sample->own));
    sample->points = sample->own;
done:
    return status;
}

gram_status gram_sample_make(gram_context *context, const gram_given *given, int64_t count, const int64_t *rows,
                             gram_sample *sample)
{
    gram_status status = GRAM_OK;
    const int64_t m = given->outputs;
    *sample = (gram_sample){.points = given->x, .n = count, .outputs = m};
    TRY(gram_take(context, "tuning: targets", count * m, sizeof(double), (void **)&sample->y));
    TRY(gram_take(context, "tuning: weights", count, sizeof(double), (void **)&sample->weights));
    for (int64_t i = 0; i < count; i++) {
        memcpy(sample->y + i * m, given->y + rows[i] * given->ldy, (size_t)m * sizeof(double));
        sample->weights[i] = given->weights ? given->weights[rows[i]] : 1;
        sample->total += sample->weights[i];
    }
    if (count < given->x->n || !given->x->f64) TRY(copy_points(context, given->x, rows, sample));
done:
    if (status < 0) gram_sample_free(context, sample);
    return status;
}

void gram_sample_free(gram_context *context, gram_sample *sample)
{
    gram_give(context, sample->y);
    gram_give(context, sample->weights);
    gram_give(context, sample->data);
    gram_points_release(sample->own);
    *sample = (gram_sample){.n = 0};
}

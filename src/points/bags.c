#include "points/bags.h"

#include <inttypes.h>
#include <string.h>

#include <gram/text.h>

/* ---- stores ---- */

static gram_status check_shape(gram_context *context, const char *who, const gram_objects *shape)
{
    gram_status status = GRAM_OK;
    int64_t numbers;
    FAIL_IF(shape->count < 1, context, GRAM_ERROR_ARGUMENT, "%s: n = %" PRId64 ", need at least one bag", who,
            shape->count);
    FAIL_IF(shape->d < 1 || shape->d > INT32_MAX, context, GRAM_ERROR_ARGUMENT,
            "%s: d = %" PRId64 ", need 1 to %d columns", who, shape->d, INT32_MAX);
    FAIL_IF(!shape->start || !shape->value, context, GRAM_ERROR_ARGUMENT, "%s: %s is NULL", who,
            shape->start ? "rows" : "start");
    FAIL_IF(shape->start[0] != 0, context, GRAM_ERROR_ARGUMENT, "%s: start[0] = %" PRId64 ", need 0", who,
            shape->start[0]);
    for (int64_t i = 0; i < shape->count; i++)
        FAIL_IF(shape->start[i + 1] <= shape->start[i], context, GRAM_ERROR_DATA,
                "%s: bag %" PRId64 " has no rows: start[%" PRId64 "] = %" PRId64 " after %" PRId64, who, i, i + 1,
                shape->start[i + 1], shape->start[i]);
    FAIL_IF(!gram_size_multiply(shape->start[shape->count], shape->d, &numbers), context, GRAM_ERROR_OVERFLOW,
            "%s: %" PRId64 " rows of %" PRId64 " columns are more than can be addressed", who,
            shape->start[shape->count], shape->d);
done:
    return status;
}

static gram_status check_numbers(gram_context *context, const char *who, const gram_objects *shape)
{
    char shown[GRAM_NUMBER_SIZE];
    for (int64_t i = 0; i < shape->count; i++)
        for (int64_t k = shape->start[i] * shape->d; k < shape->start[i + 1] * shape->d; k++)
            if (!isfinite(shape->value[k]))
                return gram_fail_place(
                    context, GRAM_ERROR_DATA, i, -1,
                    "%s: bag %" PRId64 ": row %" PRId64 ", column %" PRId64 " is %s; every number must be finite", who,
                    i, k / shape->d - shape->start[i], k % shape->d, gram_number_format(shape->value[k], shown));
    return GRAM_OK;
}

static gram_status check_weights(gram_context *context, const char *who, const gram_objects *shape)
{
    char shown[GRAM_NUMBER_SIZE];
    for (int64_t i = 0; shape->weight && i < shape->count; i++) {
        double sum = 0;
        for (int64_t k = shape->start[i]; k < shape->start[i + 1]; k++) {
            const double weight = shape->weight[k];
            if (!isfinite(weight) || weight < 0)
                return gram_fail_place(context, GRAM_ERROR_DATA, i, -1,
                                       "%s: bag %" PRId64 ": the weight of row %" PRId64
                                       " is %s; weights are finite and at least 0",
                                       who, i, k - shape->start[i], gram_number_format(weight, shown));
            sum += weight;
        }
        if (!isfinite(sum) || sum == 0)
            return gram_fail_place(context, GRAM_ERROR_DATA, i, -1,
                                   "%s: bag %" PRId64 ": its weights add up to %s, need a finite number above 0", who,
                                   i, gram_number_format(sum, shown));
    }
    return GRAM_OK;
}

gram_status gram_bags_new(gram_context *context, const char *who, const gram_objects *shape, gram_objects **bags)
{
    gram_status status = GRAM_OK;
    TRY(check_shape(context, who, shape));
    TRY(check_numbers(context, who, shape));
    TRY(check_weights(context, who, shape));
    return gram_objects_new(context, shape, bags);
done:
    for (int i = 0; i < 3; i++) gram_give(context, shape->own[i]);
    return status;
}

gram_status gram_points_create_bags(gram_context *context, int64_t n, int64_t d, const int64_t *start,
                                    const double *rows, gram_points **points)
{
    return gram_points_create_weighted_bags(context, n, d, start, rows, NULL, points);
}

gram_status gram_points_create_weighted_bags(gram_context *context, int64_t n, int64_t d, const int64_t *start,
                                             const double *rows, const double *weights, gram_points **points)
{
    gram_status status = GRAM_OK;
    gram_objects *bags = NULL;
    const gram_objects shape = {
        .kind = GRAM_OBJECT_BAG, .count = n, .d = d, .start = start, .value = rows, .weight = weights};
    if (!context || !points) return GRAM_ERROR_ARGUMENT;
    *points = NULL;
    TRY(gram_bags_new(context, "points_create_bags", &shape, &bags));
    TRY(gram_points_of_store(context, bags, points));
done:
    gram_objects_release(bags);
    return status;
}

/* ---- rows ---- */

static int64_t place_of(const gram_points *points, int64_t column, const int64_t *which, int64_t i)
{
    return gram_points_place(points, which ? which[i] : i, column);
}

static int is_whole(const gram_points *points, int64_t column, int64_t count, const int64_t *which)
{
    if (count != points->objects[column]->count) return 0;
    for (int64_t i = 0; i < count; i++)
        if (place_of(points, column, which, i) != i) return 0;
    return 1;
}

static gram_status copy_rows(gram_context *context, const gram_points *points, int64_t column, int64_t count,
                             const int64_t *which, gram_bag_rows *out)
{
    gram_status status = GRAM_OK;
    const gram_objects *bags = points->objects[column];
    const int64_t d = bags->d;
    double *numbers = NULL;
    TRY(gram_take(context, "rows of bags", out->start[count] * d, sizeof *numbers, (void **)&numbers));
    for (int64_t i = 0; i < count; i++) {
        const int64_t place = place_of(points, column, which, i), size = out->start[i + 1] - out->start[i];
        memcpy(numbers + out->start[i] * d, bags->value + bags->start[place] * d, (size_t)(size * d) * sizeof *numbers);
    }
    TRY(gram_points_create_f64(context, out->start[count], d, numbers, d, &out->rows));
    out->rows->own = numbers;
    numbers = NULL;
done:
    gram_give(context, numbers);
    return status;
}

static gram_status copy_weights(gram_context *context, const gram_points *points, int64_t column, int64_t count,
                                const int64_t *which, gram_bag_rows *out)
{
    gram_status status = GRAM_OK;
    const gram_objects *bags = points->objects[column];
    if (!bags->weight) return status;
    TRY(gram_take(context, "weights in bags", out->start[count], sizeof *out->weights, (void **)&out->weights));
    for (int64_t i = 0; i < count; i++) {
        const double *from = bags->weight + bags->start[place_of(points, column, which, i)];
        const int64_t size = out->start[i + 1] - out->start[i];
        double sum = 0;
        for (int64_t k = 0; k < size; k++) sum += from[k];
        for (int64_t k = 0; k < size; k++) out->weights[out->start[i] + k] = from[k] / sum;
    }
done:
    return status;
}

gram_status gram_bag_rows_gather(gram_context *context, const gram_points *points, int64_t column, int64_t count,
                                 const int64_t *which, gram_bag_rows *out)
{
    gram_status status = GRAM_OK;
    const gram_objects *bags = points->objects[column];
    if (!which) count = points->n;
    *out = (gram_bag_rows){NULL, NULL, NULL};
    TRY(gram_take(context, "rows of bags", count + 1, sizeof *out->start, (void **)&out->start));
    out->start[0] = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t place = place_of(points, column, which, i);
        out->start[i + 1] = out->start[i] + bags->start[place + 1] - bags->start[place];
    }
    if (is_whole(points, column, count, which))
        TRY(gram_points_create_f64(context, out->start[count], bags->d, bags->value, bags->d, &out->rows));
    else
        TRY(copy_rows(context, points, column, count, which, out));
    TRY(copy_weights(context, points, column, count, which, out));
done:
    if (status < 0) gram_bag_rows_give(context, out);
    return status;
}

void gram_bag_rows_give(gram_context *context, gram_bag_rows *rows)
{
    gram_points_release(rows->rows);
    gram_give(context, rows->start);
    gram_give(context, rows->weights);
    *rows = (gram_bag_rows){NULL, NULL, NULL};
}

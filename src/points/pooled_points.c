#include "points/pooled_points.h"

#include <string.h>

/* The stores of both, one after the other where they are two; the places of y's rows move up by what x's store has. */
static gram_status join_objects(gram_context *context, const gram_points *x, const gram_points *y, gram_pool *pool)
{
    gram_status status = GRAM_OK;
    gram_objects **both = NULL;
    if (!x->objects) return GRAM_OK;
    TRY(gram_take(context, "both samples", x->d, sizeof *both, (void **)&both));
    memset(both, 0, (size_t)x->d * sizeof *both);
    for (int64_t l = 0; l < x->d; l++) {
        if (x->objects[l] == y->objects[l]) {
            both[l] = gram_objects_retain(x->objects[l]);
            continue;
        }
        TRY(gram_objects_join(context, x->objects[l], y->objects[l], &both[l]));
        for (int64_t j = pool->n; j < pool->n + pool->m; j++)
            pool->data[j * pool->d + l] += (double)x->objects[l]->count;
    }
    TRY(gram_points_set_objects(context, both, &pool->points));
done:
    for (int64_t l = 0; both && l < x->d; l++) gram_objects_release(both[l]);
    gram_give(context, both);
    return status;
}

/* Do both hold numbers, or the same kind of things, in the same columns? */
static gram_status check_columns(gram_context *context, const gram_points *x, const gram_points *y)
{
    gram_status status = GRAM_OK;
    for (int64_t l = 0; l < x->d; l++)
        FAIL_IF(gram_points_kind(x, l) != gram_points_kind(y, l), context, GRAM_ERROR_DIMENSION,
                "column %lld holds %s in one sample and %s in the other", (long long)l + 1,
                gram_object_kind_name(gram_points_kind(x, l)), gram_object_kind_name(gram_points_kind(y, l)));
done:
    return status;
}

gram_status gram_pool_create_some(gram_context *context, const gram_points *x, int64_t n, const int64_t *x_rows,
                                  const gram_points *y, int64_t m, const int64_t *y_rows, gram_pool *pool)
{
    gram_status status = GRAM_OK;
    memset(pool, 0, sizeof *pool);
    pool->n = n;
    pool->m = m;
    pool->d = x->d;
    TRY(check_columns(context, x, y));
    TRY(gram_take(context, "both samples", (n + m) * pool->d, sizeof(double), (void **)&pool->data));
    double *out = pool->data;
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < pool->d; l++) *out++ = gram_points_cell(x, x_rows ? x_rows[i] : i, l);
    for (int64_t j = 0; j < m; j++)
        for (int64_t l = 0; l < pool->d; l++) *out++ = gram_points_cell(y, y_rows ? y_rows[j] : j, l);
    TRY(gram_points_create_f64(context, n + m, pool->d, pool->data, pool->d, &pool->points));
    TRY(join_objects(context, x, y, pool));
done:
    return status;
}

gram_status gram_pool_create(gram_context *context, const char *who, const gram_points *x, const gram_points *y,
                             gram_pool *pool)
{
    gram_status status = GRAM_OK;
    memset(pool, 0, sizeof *pool);
    FAIL_IF(!x, context, GRAM_ERROR_ARGUMENT, "%s: x is NULL", who);
    FAIL_IF(!y, context, GRAM_ERROR_ARGUMENT, "%s: y is NULL", who);
    FAIL_IF(x->d != y->d, context, GRAM_ERROR_DIMENSION, "%s: x has %lld columns, y has %lld", who, (long long)x->d,
            (long long)y->d);
    TRY(gram_pool_create_some(context, x, x->n, NULL, y, y->n, NULL, pool));
done:
    return status;
}

void gram_pool_destroy(gram_context *context, gram_pool *pool)
{
    gram_points_release(pool->points);
    gram_give(context, pool->data);
    memset(pool, 0, sizeof *pool);
}

#include "points/pooled_points.h"

#include <string.h>

gram_status gram_pool_create_some(gram_context *context, const gram_points *x, int64_t n, const int64_t *x_rows,
                                  const gram_points *y, int64_t m, const int64_t *y_rows, gram_pool *pool)
{
    gram_status status = GRAM_OK;
    memset(pool, 0, sizeof *pool);
    pool->n = n;
    pool->m = m;
    pool->d = x->d;
    TRY(gram_take(context, "both samples", (n + m) * pool->d, sizeof(double), (void **)&pool->data));
    double *out = pool->data;
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < pool->d; l++) *out++ = gram_points_at(x, x_rows ? x_rows[i] : i, l);
    for (int64_t j = 0; j < m; j++)
        for (int64_t l = 0; l < pool->d; l++) *out++ = gram_points_at(y, y_rows ? y_rows[j] : j, l);
    TRY(gram_points_create_f64(context, n + m, pool->d, pool->data, pool->d, &pool->points));
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

/* Two samples as one: the rows of x, then those of y, copied in f64. */
#ifndef GRAM_POINTS_POOLED_POINTS_H
#define GRAM_POINTS_POOLED_POINTS_H

#include "points/points.h"

typedef struct gram_pool {
    int64_t n, m, d; /* n rows of the first sample, m of the second */
    double *data;    /* (n + m) x d without gaps */
    gram_points *points;
} gram_pool;

/* All rows, or x[x_rows[0 .. n)] and y[y_rows[0 .. m)] (NULL: the first n, m of each). `who` starts the messages. */
gram_status gram_pool_create(gram_context *context, const char *who, const gram_points *x, const gram_points *y,
                             gram_pool *pool);
gram_status gram_pool_create_some(gram_context *context, const gram_points *x, int64_t n, const int64_t *x_rows,
                                  const gram_points *y, int64_t m, const int64_t *y_rows, gram_pool *pool);
/* Takes zeroed ones. */
void gram_pool_destroy(gram_context *context, gram_pool *pool);

#endif

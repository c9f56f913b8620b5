/* Products of columns, summed over rows: what normal equations are made of. */
#ifndef GRAM_FEATURES_FEATURE_PRODUCTS_H
#define GRAM_FEATURES_FEATURE_PRODUCTS_H

#include "base/context.h"

/* Rows x width numbers without gaps, in f64 or (then the sums of these rows are made in f32, and added up in f64) in f32. */
typedef struct gram_product_rows {
    int64_t rows, width;
    const double *f64;
    const float *f32;         /* if f64 is NULL */
    double share_done, share; /* of a longer work that progress is told of: done before, and with these rows */
} gram_product_rows;

/* products += X'X, the lower triangle of width x width. O(rows width^2); the same bits for any number of threads. */
gram_status gram_feature_products(gram_context *context, const gram_product_rows *rows, double *products);

#endif

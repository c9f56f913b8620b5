/* Normal equations: products of columns, summed over rows, and solving with them. */
#ifndef GRAM_FEATURES_EQUATIONS_FEATURE_PRODUCTS_H
#define GRAM_FEATURES_EQUATIONS_FEATURE_PRODUCTS_H

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

/* R of R R' = A, p x p, lower; what is above the diagonal becomes 0. Returns 0 where A is not positive definite to working precision: a pivot below the
 * rounding of its trace is made of it. BLAS is the caller's to enter. O(p^3). */
int gram_equations_factor(int64_t p, double *a);

/* c = (R R')^-1 c, p x m. */
void gram_equations_solve(int64_t p, const double *factor, int64_t m, double *c);

#endif

/* Ridge regression on features from sums over rows: what the rows say is in the products of the augmented features [z, 1, y] with each
 * other, however many there are. Sums over parts of the rows add up, so that rows may go by in blocks, and parts may be summed in other processes.
 *
 *     minimise (1/n) sum_i w_i (y_i - c'z(x_i) - b)^2 + lambda |c|^2:   (G + n lambda I) c = g
 *
 * G = Z'WZ and g = Z'W y, both centred if there is an intercept. n counts the rows of weight above 0. */
#ifndef GRAM_FEATURES_FEATURE_SUMS_H
#define GRAM_FEATURES_FEATURE_SUMS_H

#include <gram/features.h>

#include "base/context.h"

typedef struct gram_feature_sums {
    int64_t dimension, outputs;
    int64_t width;    /* dimension + 1 + outputs */
    double *products; /* width x width, the lower triangle */
    double *offset;   /* outputs: subtracted from y, so that little cancels; 0 unless there is an intercept */
    double *chunk;    /* scratch for the rows of a chunk */
    int64_t n;
    double trace, missed; /* sums of k(x, x), and of what the features miss of it */
    double radius;        /* the largest k(x, x) */
} gram_feature_sums;

/* Empty ones. Free them after a failure, too; takes zeroed ones. */
gram_status gram_feature_sums_take(gram_context *context, int64_t dimension, int64_t outputs, const double *offset,
                                   gram_feature_sums *sums);
void gram_feature_sums_free(gram_context *context, gram_feature_sums *sums);
/* Bytes that they take, and that solving takes besides. */
double gram_feature_sums_bytes(int64_t dimension, int64_t outputs);

/* Adds n rows of x (ldx apart) with their targets, without gaps, and weights (NULL: all 1). O(n dimension^2) and the features. The same
 * bits for any number of threads. */
gram_status gram_feature_sums_add(gram_context *context, const gram_features *map, int64_t n, const double *x,
                                  int64_t ldx, const double *y, const double *weights, gram_feature_sums *sums);
/* Adds the sums of other rows: those of the same map and offset. */
void gram_feature_sums_merge(gram_feature_sums *sums, const gram_feature_sums *other);

/* The sums of all ranks, each of which added other rows: one sum of their products. */
gram_status gram_feature_sums_join(gram_context *context, gram_feature_sums *sums);

typedef struct gram_sums_ridge {
    double lambda;             /* NaN: the one with the least GCV is chosen */
    double *c;                 /* dimension x outputs: the caller's room */
    double *b;                 /* outputs: 0 without an intercept */
    double squares, variation; /* weighted sums of squares of the residuals, and of y about its mean, over outputs */
    double total;              /* weight of all rows */
    double norm, effective_dimension, gcv, residual;
} gram_sums_ridge;

/* Solves. With lambda NaN by an eigendecomposition, otherwise by Cholesky. O(dimension^3). GRAM_ERROR_NUMERICAL where G + n lambda I is
 * singular to working precision. */
gram_status gram_feature_sums_solve(gram_context *context, const gram_feature_sums *sums, int intercept,
                                    gram_sums_ridge *ridge);

#endif

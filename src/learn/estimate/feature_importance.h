/* How much worse predictions of left-out rows become when a feature is permuted among them. */
#ifndef GRAM_LEARN_ESTIMATE_FEATURE_IMPORTANCE_H
#define GRAM_LEARN_ESTIMATE_FEATURE_IMPORTANCE_H

#include "learn/estimate/left_out.h"

/* Of a fit that left these rows out: the losses that out->values have, and those with each feature permuted. The rises are added to
 * out->rises. Nothing is done for a single feature, or for very many. */
gram_status gram_importance_add(gram_left_out *out, const gram_predictor *predictor, int64_t count, const int64_t *rows,
                                const double *x);
/* How many features there are, and room for the rises of all rows, NaN so far, if that is a number of them that is looked at. */
int64_t gram_importance_features(const gram_left_out *out);
gram_status gram_importance_begin(gram_left_out *out);
/* Keeps their means and standard errors as the array "importance". */
gram_status gram_importance_keep(gram_keeper *keeper, const gram_left_out *out);

/* What a row of values loses: squared error of numbers, pinball loss of quantiles, log loss of classes, or 0 and 1 without probabilities
 * (left_out_errors.c). */
double gram_left_out_loss(const gram_left_out *out, int64_t row, const double *values);
/* The mean of losses of rows with weights and groups as the data have them, NaN being left out; `losses` has one for each row. */
gram_status gram_left_out_mean(const gram_left_out *out, const double *losses, double *mean, double *se);

#endif

/* What one prediction loses. */
#ifndef GRAM_LEARN_ESTIMATE_ROW_LOSS_H
#define GRAM_LEARN_ESTIMATE_ROW_LOSS_H

#include <gram/learn.h>

/* Squared error of numbers (the mean over targets, y having one for each), pinball loss of quantiles (the mean over levels), -log p of the class `label`
 * (clipped at 1e-15), or 0 and 1 without probabilities. `values` as the columns say. */
double gram_row_loss(const gram_columns *columns, const double *y, int64_t label, const double *values);

#endif

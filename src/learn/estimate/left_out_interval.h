/* Intervals about predictions of any method, from the errors of rows that were left out. */
#ifndef GRAM_LEARN_ESTIMATE_LEFT_OUT_INTERVAL_H
#define GRAM_LEARN_ESTIMATE_LEFT_OUT_INTERVAL_H

#include "learn/estimate/left_out.h"

/* Keeps what they are made of, for regression of one target by a method that has none of its own. `fold`: of each row; the models of the
 * folds are kept too if out->kept has them. */
gram_status gram_interval_keep(gram_keeper *keeper, const gram_left_out *out, const int64_t *fold);

/* Does the model have what they are made of? */
int gram_interval_is_known(const gram_model *model);
/* After the method has opened: columns lower and upper are added, for the probability p. */
gram_status gram_interval_open(gram_context *context, gram_predictor *predictor, double p);
void gram_interval_close(gram_predictor *predictor);
/* The predictor as its method sees it, without these columns. */
gram_predictor gram_interval_inner(const gram_predictor *predictor);
/* values: of the method's columns, which are there already; lower and upper are put beside them. */
gram_status gram_interval_fill(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                               double *values, int64_t ldv);

#endif

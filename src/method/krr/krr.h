/* Between the files of kernel ridge regression. */
#ifndef GRAM_METHOD_KRR_KRR_H
#define GRAM_METHOD_KRR_KRR_H

#include "method/method.h"
#include <gram/krr.h>

/* The defaults, and over them what the caller's struct has, however old it is; NULL: the defaults. */
gram_status gram_krr_options_read(gram_context *context, const char *name, const gram_krr_options *options,
                                  gram_krr_options *known);

/* The row's `open` and `evaluate` (krr_predict.c). */
gram_status gram_krr_open(gram_context *context, gram_predictor *predictor);
gram_status gram_krr_evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                              double *values, int64_t ldv);

#endif

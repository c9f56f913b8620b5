/* Between the files of the method's row: what a model keeps, and what it predicts. */
#ifndef GRAM_METHOD_SPLINE_SPLINE_MODEL_H
#define GRAM_METHOD_SPLINE_SPLINE_MODEL_H

#include "method/method.h"
#include "method/spline/spline.h"

/* The function of a model: of a line the same function in the kernel's words, of anything else nothing but its columns. */
/* Several splines, of one line or circle each, are outputs. */
gram_status gram_spline_function(gram_context *context, int64_t count, gram_spline *const *splines,
                                 gram_function **function);

void gram_spline_keep(gram_keeper *keeper, int64_t count, gram_spline *const *splines);

gram_status gram_spline_row_open(gram_context *context, gram_predictor *predictor);
gram_status gram_spline_row_evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                                     double *values, int64_t ldv);
void gram_spline_row_close(gram_predictor *predictor);

#endif

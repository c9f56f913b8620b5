/* Models as functions: what two of them have in common, and sums of them as models again.
 *
 * Two models are functions of one Hilbert space if their kernels are equal, number for number, and their features are prepared
 * alike: the same columns with the same means, deviations and levels. Fits to different tables scale their features differently;
 * without scaling, or with one preparation, they do not. Norms, inner products and distances are those of <gram/function.h>. */
#ifndef GRAM_MODEL_ALGEBRA_H
#define GRAM_MODEL_ALGEBRA_H

#include <gram/model.h>

GRAM_BEGIN

/* GRAM_OK if f and g are functions of one space with as many outputs; GRAM_ERROR_ARGUMENT with a message that says what differs, kernels or
 * a column. Models of two views are of none. */
GRAM_API gram_status gram_model_check_space(gram_context *context, const gram_model *f, const gram_model *g);

/* The model of s f + t g, constants and slopes included, or of s f if g is NULL, to be written and predicted from: it has the
 * preparation of f, and predicts values. Both must be regressions. The caller destroys it. Cost: gram_function_combine. */
GRAM_API gram_status gram_model_combine(gram_context *context, double s, const gram_model *f, double t,
                                        const gram_model *g, gram_model **out);

GRAM_END

#endif

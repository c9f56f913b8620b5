/* Splines of one column with other losses than squared: minimise sum_i w_i loss(y_i, f(x_i)) + alpha int (f^(m))^2, alpha = n lambda. */
#ifndef GRAM_METHOD_SPLINE_SPLINE_LOSS_H
#define GRAM_METHOD_SPLINE_SPLINE_LOSS_H

#include "method/spline/spline.h"

/* Of one row, as <gram/spline.h> has it. */
double gram_spline_loss_value(const gram_spline_options *options, double y, double f);

/* The solution is left in the chain (states and kicks), the coefficients of its kernel at the places in `coefficients`. Objective, gap, mean
 * loss and iterations go to the report. GRAM_ERROR_NUMERICAL where there is no minimum, or it was not found. */
gram_status gram_spline_loss_solve(gram_context *context, gram_chain *chain, const gram_spline_rows *rows,
                                   const double *y, const gram_spline_options *options, double alpha,
                                   double *coefficients, gram_spline_report *report);

/* Chooses alpha by folds. */
gram_status gram_spline_loss_choose(gram_context *context, const gram_points *x, const double *y,
                                    const gram_spline_options *options, double *alpha, gram_spline_report *report);

#endif

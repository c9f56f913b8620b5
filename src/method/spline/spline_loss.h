/* Splines with other losses than squared: minimise sum_i w_i loss(y_i, f(x_i)) + what f costs, alpha int (f^(m))^2 or a sum of such. */
#ifndef GRAM_METHOD_SPLINE_SPLINE_LOSS_H
#define GRAM_METHOD_SPLINE_SPLINE_LOSS_H

#include "method/spline/spline.h"

/* Of one row, as <gram/spline.h> has it. */
double gram_spline_loss_value(const gram_spline_options *options, double y, double f);

/* What solves squared problems, and has an iterate of its own kind: f at the places is what its callers see of it. */
typedef struct gram_smoother {
    void *own;
    /* Solves sum_p weight_p (value_p - f_p)^2 + 2 cost, weights of 0 do not count; f gets the values. The solution is kept, */
    gram_status (*solve)(gram_context *context, void *own, const double *weight, const double *value, double *f);
    void (*start)(void *own, double value);           /* the iterate is a constant, */
    void (*move)(void *own, double share);            /* goes that share of the way to the solution, */
    double (*bending)(const void *own, double share); /* and would cost that much there; with 0 where it is */
} gram_smoother;

/* Rows, and the place of each: -1 if it is left out. */
typedef struct gram_loss_rows {
    int64_t n, used, places;
    const int64_t *place;
    const double *y, *weights; /* NULL: all 1 */
    double total;              /* of the weights that are used */
} gram_loss_rows;

/* The iterate becomes the minimum. Objective, gap, mean loss and iterations go to the report; pulls, unless NULL, are w_i times the slope of row i's
 * loss. GRAM_ERROR_NUMERICAL where there is no minimum, or it was not found. */
gram_status gram_spline_loss_minimise(gram_context *context, const gram_smoother *smoother, const gram_loss_rows *rows,
                                      const gram_spline_options *options, double *pulls, gram_spline_report *report);

/* From `high` on in steps, until it was worse for long; then the middle ones of the steps around the best. Infinite values are no fits. */
typedef struct gram_loss_search {
    double high, low, step;
    gram_status (*evaluate)(gram_context *context, void *own, double log_alpha, double *value);
    void *own;
} gram_loss_search;
gram_status gram_spline_loss_search(gram_context *context, const gram_loss_search *search, double *log_alpha,
                                    gram_spline_report *report);

/* (spline_loss_line.c) Weights of the rows that are tuned on: all, or every so many in the order of the table; and their folds. */
void gram_spline_loss_tuned(int64_t n, const double *weights, double *used);
gram_status gram_spline_loss_deal(gram_context *context, int64_t n, const double *y, const gram_spline_options *o,
                                  const double *used, int64_t *fold);

/* Of one column. The solution is left in the chain (states and kicks), the coefficients of its kernel at the places in `coefficients`. */
gram_status gram_spline_loss_solve(gram_context *context, gram_chain *chain, const gram_spline_rows *rows,
                                   const double *y, const gram_spline_options *options, double alpha,
                                   double *coefficients, gram_spline_report *report);
/* Chooses alpha by folds. */
gram_status gram_spline_loss_choose(gram_context *context, const gram_points *x, const double *y,
                                    const gram_spline_options *options, double *alpha, gram_spline_report *report);

/* (spline_loss_sum.c) An additive model, as gram_sum_fit. */
gram_status gram_sum_fit_loss(gram_context *context, const gram_points *x, const double *y,
                              const gram_spline_options *options, double *fitted, double *left,
                              gram_spline_report *report, gram_spline_sum *sum);

#endif

/* The order of points on the line. */
#ifndef GRAM_SOLVE_MARKOV_MARKOV_ORDER_H
#define GRAM_SOLVE_MARKOV_MARKOV_ORDER_H

#include <gram/points.h>

#include "solve/markov/markov_model.h"

/* order: 0 .. n-1 such that x[order] ascends, equal ones in order; sorted: x in that order. */
gram_status gram_markov_sort(gram_context *context, const gram_points *x, int64_t *order, double *sorted);

/* GRAM_ERROR_DIMENSION unless points have one column, GRAM_ERROR_DOMAIN for one below the kernel's origin. */
gram_status gram_markov_check_points(gram_context *context, const char *name, const char *argument,
                                     const gram_markov_model *model, const gram_points *points);

#endif

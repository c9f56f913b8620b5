/* Minimising a smooth function of a few variables between bounds. */
#ifndef GRAM_SOLVE_LBFGSB_H
#define GRAM_SOLVE_LBFGSB_H

#include <stdint.h>

#include "../base/context.h"

/* Value and gradient at x. A value that is not finite says that x is not allowed: the search then takes a shorter step. A
 * negative status ends the search. */
typedef gram_status (*gram_objective_fn)(void *argument, const double *x, double *value, double *gradient);

typedef struct gram_lbfgsb {
    int64_t n;
    const double *lower, *upper; /* finite, lower <= upper */
    int64_t evaluations;         /* at most so many */
    double tolerance;            /* stop when a step lowers the value by less than this part of it */
    double gradient_tolerance;   /* or when no component of the projected gradient is larger */
    gram_objective_fn evaluate;
    void *argument;
} gram_lbfgsb;

typedef struct gram_lbfgsb_report {
    double value; /* at the best x; infinite if no x was allowed */
    int64_t evaluations;
    int converged; /* 0: the evaluations ran out or no step went down */
} gram_lbfgsb_report;

/* x is moved between the bounds if it is not there, and ends at the best point that was seen. Asks for cancel between
 * evaluations. */
gram_status gram_lbfgsb_minimise(gram_context *context, const gram_lbfgsb *problem, double *x,
                                 gram_lbfgsb_report *report);

#endif

/* Minimising a smooth function of a few variables between bounds. */
#ifndef GRAM_SOLVE_MINIMISE_H
#define GRAM_SOLVE_MINIMISE_H

#include <stdint.h>

#include "base/context.h"

/* Value and gradient at x. A value that is not finite says that x is not allowed: the search then takes a shorter step. A
 * negative status ends the search. */
typedef gram_status (*gram_objective_fn)(void *argument, const double *x, double *value, double *gradient);

typedef struct gram_minimise_problem {
    int64_t n;
    const double *lower, *upper; /* finite, lower <= upper */
    int64_t evaluations;         /* at most */
    double tolerance;            /* stop when PATIENCE steps lower the value by less than so much each */
    double promise;              /* stop when, after the first step, the model of the Hessian promises less than this */
    double first_step;           /* of one variable, while nothing is known of the Hessian */
    double longest_step;         /* of one variable */
    gram_objective_fn evaluate;
    void *argument;
} gram_minimise_problem;

typedef struct gram_minimise_report {
    double value; /* at the best x; infinite if the function has no value where the search starts */
    int64_t evaluations;
    int converged; /* 0: the evaluations ran out */
} gram_minimise_report;

/* x is moved between the bounds if it is not there, and ends at the best point that was seen. `inverse` is the n x n
 * approximation of the inverse Hessian: used if *known, kept up to date, and known afterwards, so that a search of a
 * function like this one can begin with it. Asks for cancel before each evaluation. */
gram_status gram_minimise(gram_context *context, const gram_minimise_problem *problem, double *x, double *inverse,
                          int *known, gram_minimise_report *report);

/* As gram_minimise, for many variables: a few pairs of steps in place of the inverse Hessian (L-BFGS). */
gram_status gram_minimise_limited(gram_context *context, const gram_minimise_problem *problem, double *x,
                                  gram_minimise_report *report);

#endif

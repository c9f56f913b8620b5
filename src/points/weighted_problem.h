/* The regression problem as the fits see it: rows of positive weight, targets without gaps, the ridge of each row. */
#ifndef GRAM_POINTS_WEIGHTED_PROBLEM_H
#define GRAM_POINTS_WEIGHTED_PROBLEM_H

#include <gram/krr.h>

#include "base/context.h"

typedef struct gram_problem {
    gram_kernel *kernel; /* the caller's */
    gram_points *x;      /* n points */
    int64_t n, d, m;     /* m outputs */
    double *y;           /* n x m */
    double *weights;     /* n, all positive; NULL: all 1 */
    double total;        /* sum of the weights */
    double *ridge;       /* n lambda/w_i: what is added to the diagonal of K */
    int64_t given;       /* rows of the caller */
    int64_t *rows;       /* which of them each row is; NULL: all in order */
    double *one;         /* what the rows make of the function 1, for a constant; NULL: 1, they are points */
    /* what no penalty acts on, after gram_problem_set_unpenalised: a constant, and some columns of x */
    int intercept;
    int64_t linear_count, *linear; /* those columns */
    int64_t q;                     /* all of them: intercept + linear_count */
    double *t;                     /* n x q: what the rows make of them */
    double *small;                 /* q x q + 2 q: room for T'A^-1 T, and work */
} gram_problem;

/* Checks the arguments (`name` is the public function's, for messages) and gathers the rows; what is not finite in y or
 * the weights is named. weights may be NULL. On failure too, gram_problem_free is due. */
gram_status gram_problem_make(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                              int64_t outputs, const double *y, int64_t ldy, const double *weights,
                              gram_problem *problem);
void gram_problem_free(gram_context *context, gram_problem *problem);

/* Sets the ridge; lambda >= 0 and finite, else GRAM_ERROR_ARGUMENT. */
gram_status gram_problem_set_lambda(gram_context *context, const char *name, double lambda, gram_problem *problem);

/* Are these `count` different columns of d? Else GRAM_ERROR_ARGUMENT. */
gram_status gram_unpenalised_check(gram_context *context, const char *name, int64_t d, int64_t count,
                                   const int64_t *columns);

/* Makes the columns that no penalty acts on: a constant, if there is one, and `count` columns of x (numbers from 0, each
 * once; else GRAM_ERROR_ARGUMENT). */
gram_status gram_problem_set_unpenalised(gram_context *context, const char *name, int intercept, int64_t count,
                                         const int64_t *columns, gram_problem *problem);

/* Row i of T b for output o; b is q x m. */
static inline double gram_problem_unpenalised(const gram_problem *problem, int64_t i, const double *b, int64_t o)
{
    double sum = 0;
    for (int64_t j = 0; j < problem->q; j++) sum += problem->t[i * problem->q + j] * b[j * problem->m + o];
    return sum;
}

/* Points, and at most a constant: what the ways to save digits are made for. */
static inline int gram_problem_is_plain(const gram_problem *problem)
{
    return !problem->one && problem->linear_count == 0;
}

static inline double gram_problem_weight(const gram_problem *problem, int64_t i)
{
    return problem->weights ? problem->weights[i] : 1;
}

/* The constant's column. */
static inline double gram_problem_one(const gram_problem *problem, int64_t i)
{
    return problem->one ? problem->one[i] : 1;
}

/* sum_i w_i (y_io - mean)^2 over rows and outputs, mean the weighted mean of the output. */
double gram_problem_variation(const gram_problem *problem);

#endif

/* An interior-point method for regression with piecewise linear and quadratic losses.
 *
 * The dual of  sum_i sum_t w_i loss_t(y_i - f_it) + (c/2) sum_t |f_t|^2  has for each row i a few bounded variables
 * z_j, lower <= z_j <= upper, whose combinations alpha_it = sum_j A_tj z_ij are c times the coefficients:
 *
 *     maximise  sum_ij target_ij z_ij - sum_it (rho_i/2) alpha_it^2 - (1/2c) sum_t alpha_t'K alpha_t,   T'alpha_t = 0
 *               with columns T that no penalty acts on, f_t = K alpha_t/c + T b_t.
 *
 *     absolute, quantile, Huber   one variable: the slope of the loss, between its least and its largest; rho = 1/(2
 *                                 w) for Huber
 *     insensitive                 two variables, alpha = z_1 - z_2, targets y - epsilon and -y - epsilon
 *     quantiles that do not cross slopes z_t, and for neighbours t, t + 1 the force z >= 0 that keeps them apart:
 *     alpha_t = z_t + z'_(t-1) - z'_t
 *     squared                     one variable without bounds, rho = 1/(2 w)
 *     f >= target, f <= target    one variable, the force that holds f there: at least 0, at most 0; no rho
 *     f = target                  one variable without bounds and without rho */
#ifndef GRAM_SOLVE_INTERIOR_POINTS_H
#define GRAM_SOLVE_INTERIOR_POINTS_H

#include "solve/factored_matrix.h"

typedef struct gram_interior {
    const gram_loss_matrix *k;
    int64_t outputs, variables;  /* of a row */
    const double *incidence;     /* A = [I, B]: outputs x variables */
    const double *target;        /* n x variables */
    const double *lower, *upper; /* n x variables; may be infinite: lower only of a row's one variable */
    const double *rho;           /* n, or NULL: 0; with one output and one variable only */
    double c;
    int64_t q;                 /* columns of T */
    const double *unpenalised; /* T, n x q */
    int64_t most;
    double tolerance;
    double scale; /* of the targets, > 0 */
    double force; /* > 0, where a variable with one bound starts, off it; 0: there is none */
    double floor; /* > 0: an objective below it is 0 */
    /* sum_i sum_t w_i loss_t(y_i - f_it) */
    double (*primal)(const void *argument, const double *f);
    const void *argument;
    /* where to start (b; with `warm` z too), and the result */
    int warm;
    double *z, *s, *t; /* n x variables: variables and the multipliers of their bounds */
    double *alpha, *f; /* n x outputs: c a, and K a + b */
    double *b;         /* q x outputs, rows of stride ldb */
    int64_t ldb;
    double objective, dual, gap;
    double violation; /* the most by which f misses what a variable with one bound asks for, or without any and rho */
    int64_t worst;    /* the row where it does */
    int infeasible;   /* no f does what is asked for: the dual has no bound */
    int64_t iterations;
    double jitter;
    int converged;
} gram_interior;

gram_status gram_interior_solve(gram_context *context, gram_interior *problem);

#endif

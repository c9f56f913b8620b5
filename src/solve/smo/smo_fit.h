/* The quadratic program of a support vector machine for a kernel and points, solved to the end.
 *
 * gram_smo works with rows in f32 and all variables. Here is what surrounds it: f = K b is computed in f64 between solves, so
 * that the optimality conditions hold for the kernel itself and not for its rounded rows; and variables that sit at their
 * bounds for good are left out (shrinking): the rest is a smaller problem of its own with its own points and rows, solved, and
 * checked against all variables afterwards. */
#ifndef GRAM_SOLVE_SMO_SMO_FIT_H
#define GRAM_SOLVE_SMO_SMO_FIT_H

#include <gram/kernel.h>

#include "points/points.h"
#include "solve/smo/smo.h"

typedef struct gram_smo_options {
    size_t cache_bytes; /* for rows */
    double gap;         /* stop at a duality gap of this part of the objective; 0: never */
    int subsets;        /* may the kernel be evaluated on a part of the points? Not if it knows them by number */
} gram_smo_options;

/* The problem and when to stop are set in smo, n being that of the points; b is feasible. f and what was done are filled in.
 * GRAM_NOT_CONVERGED when the budget ended first. Memory: cache_bytes at most (but a few rows in any case), and some n numbers. */
gram_status gram_smo_fit(gram_context *context, gram_kernel *kernel, const gram_points *x,
                         const gram_smo_options *options, gram_smo *smo);

/* Are entries of the kernel bound to the numbers of the points? */
int gram_smo_kernel_is_indexed(const gram_kernel *kernel);

/* f += K w over all points, for `count` points with their weights, in f64. */
gram_status gram_smo_add_product(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t count,
                                 const int64_t *points, const double *weights, double *f);

#endif

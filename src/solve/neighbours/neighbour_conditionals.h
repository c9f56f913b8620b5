/* The conditional law of each of many rows given its neighbours, and derivatives of sums over them. */
#ifndef GRAM_SOLVE_NEIGHBOURS_NEIGHBOUR_CONDITIONALS_H
#define GRAM_SOLVE_NEIGHBOURS_NEIGHBOUR_CONDITIONALS_H

#include <gram/matrix.h>

#include "solve/neighbours/neighbour_groups.h"

/* A = K + diag(shift). Target i, the last of its list, given the others N: with b = A_NN^-1 A_Ni
 *
 *     e_i = B_i - b'B_N      for the columns of B,
 *     v_i = A_ii - b'A_Ni.
 *
 * Rows from x->n on are those of `more`, with no shift and B = 0. */
typedef struct gram_conditionals {
    const gram_kernel *kernel;
    const gram_points *x, *more; /* more: NULL, or further rows */
    const gram_neighbour_groups *groups;
    const double *shift; /* x->n */
    int64_t columns;
    const double *right; /* B: x->n x columns */
    const char *name;    /* of the function, for messages */
} gram_conditionals;

/* out[i * (columns + 1)]: e_i, then v_i, not negative. O(targets room^3) time, in parallel, the same bits for any number of threads.
 * GRAM_ERROR_NUMERICAL, naming the row: the matrix of a target's neighbours is not positive definite to working precision. */
gram_status gram_conditionals_find(gram_context *context, const gram_conditionals *conditionals, double *out);

/* The derivative of sum_i h_i(e_i, v_i) by the kernel's parameters, and (unless NULL) by a number that `share` (x->n; NULL: 1) of is added
 * to the shifts. coefficients[i * (columns + 1)]: columns numbers g_i and s_i, so that with u = (1, -b)/sqrt(v), t = A_NN^-1 B_N g_i
 *
 *     dh_i = tr(W dA)/2,   W = s_i u u' + u t' + t u'.
 *
 * The likelihood of Gaussians has g_i = r c, s_i = r^2 - 1 for r = e_i c/sqrt(v_i). */
gram_status gram_conditionals_differentiate(gram_context *context, const gram_conditionals *conditionals,
                                            const double *coefficients, const double *share, double *gradient,
                                            double *by_shift);

#endif

/* Which values would tell most about an integral. */
#ifndef GRAM_METHOD_INTEGRATE_INTEGRATE_CHOOSE_H
#define GRAM_METHOD_INTEGRATE_INTEGRATE_CHOOSE_H

#include <gram/cholesky.h>
#include <gram/law.h>

#include "base/context.h"

/* What is known so far. */
typedef struct gram_quadrature {
    const gram_kernel *kernel;
    const gram_points *points;   /* n of them, */
    const gram_cholesky *factor; /* of A = K + noise; NULL: n is 0 */
    const double *weights;       /* A^-1 z */
    const gram_law *law;
    double noise, variance; /* of the values, and of the integral */
} gram_quadrature;

/* Chooses `count` of the candidates one after the other, each of which lowers the variance of the integral most (sequential Bayesian
 * quadrature: Huszar and Duvenaud 2012); index counts from 0, variances[t] is what is left after t + 1 of them. Returns in *found how many
 * there are: fewer if none of the others tells anything. O(N (n^2 + count (n + count)) ) for N candidates, N (count + 4) numbers. */
gram_status gram_quadrature_choose(gram_context *context, const gram_quadrature *known, const gram_points *candidates,
                                   int64_t count, int64_t *index, double *variances, int64_t *found);

#endif

/* Conjugate gradients that keep their Lanczos coefficients: solves to a relative residual, and quadratures of the logarithm.
 *
 * gram_cg_solve stops by the backward error and keeps no coefficients; here the residual itself is what a likelihood needs. */
#ifndef GRAM_SOLVE_LANCZOS_H
#define GRAM_SOLVE_LANCZOS_H

#include <gram/cg.h>

#include "base/context.h"

typedef struct gram_lanczos {
    const gram_operator *a; /* positive definite */
    gram_precondition_fn precondition;
    void *user;
    int64_t columns;  /* right-hand sides */
    const double *b;  /* n x columns, without gaps; so are the others */
    double *x;        /* A^-1 b */
    double *residual; /* b - A x, truly */
    double tolerance; /* of |b - A x|/|b|, column by column */
    int64_t most;     /* iterations */
    int64_t probes;   /* the quadrature is wanted for this many last columns */
    /* For a probe b with v = M^-1/2 b: quadrature[j] is v'log(M^-1/2 A M^-1/2)v/(v'v) by Gauss's rule of as many nodes as
     * the column had iterations, change[j] what the last quarter of them changed, size[j] = v'v. */
    double *quadrature, *change, *size;

    int64_t iterations; /* results */
    double worst;       /* |b - A x|/|b| */
} gram_lanczos;

/* GRAM_NOT_CONVERGED leaves the last iterate. One product and one preconditioning of all columns for each iteration, one
 * product more for the residual; memory for 3 n columns numbers. The same bits for any number of threads if A and M have
 * them. */
gram_status gram_lanczos_run(gram_context *context, gram_lanczos *run);

#endif

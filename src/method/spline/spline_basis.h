/* B-splines of degree 2m - 1 on given knots, continued beyond them by polynomials of degree m - 1, as smoothing splines are. */
#ifndef GRAM_METHOD_SPLINE_SPLINE_BASIS_H
#define GRAM_METHOD_SPLINE_SPLINE_BASIS_H

#include "method/spline/spline_chain.h"

enum { GRAM_BASIS_WIDTH = 2 * GRAM_SPLINE_ORDERS }; /* functions that are not 0 at a place: 2m */

typedef struct gram_basis {
    int m;
    int64_t knots;   /* at least 2 */
    const double *t; /* ascending, distinct */
} gram_basis;

/* How many functions: knots + 2m - 2. */
int64_t gram_basis_size(const gram_basis *basis);

/* Derivative r of the functions first, ..., first + 2m - 1 at x; the others are 0 there. Returns first. */
int64_t gram_basis_at(const gram_basis *basis, double x, int r, double *out);

/* int B_i^(m) B_j^(m) between the first and the last knot: size x size. */
void gram_basis_penalty(const gram_basis *basis, double *out);

#endif

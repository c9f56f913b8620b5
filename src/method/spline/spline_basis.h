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

/* int (sum_i c_i B_i^(m))^2 between the first and the last knot is |D c|^2: rows of D, m for each interval between knots and 2m numbers in each, those of
 * functions l, ..., l + 2m - 1 in interval l. Polynomials of degree below m are next to 0 in D, so that squares of D c lose nothing. */
void gram_basis_bends(const gram_basis *basis, double *out);
/* The same as a matrix: int B_i^(m) B_j^(m) between the first and the last knot: size x size. */
void gram_basis_penalty(const gram_basis *basis, double *out);

#endif

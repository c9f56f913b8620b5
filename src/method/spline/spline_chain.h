/* Weighted smoothing splines on a line or a circle, in O(n): minimise sum_i w_i (y_i - f(t_i))^2 + alpha int (f^(m))^2 over distinct
 * places t_1 < ... < t_n. Everything that a spline is asked for is made of this. */
#ifndef GRAM_METHOD_SPLINE_SPLINE_CHAIN_H
#define GRAM_METHOD_SPLINE_SPLINE_CHAIN_H

#include "base/context.h"

enum { GRAM_SPLINE_ORDERS = 4 }; /* m is 1 .. 4 */

/* What a solution has beside the function. */
typedef enum gram_chain_wish {
    GRAM_CHAIN_MEAN = 0,      /* nothing */
    GRAM_CHAIN_SPREAD = 1,    /* variances at the places */
    GRAM_CHAIN_EVERYWHERE = 2 /* and what variances between them need */
} gram_chain_wish;

/* Numbers of an order that do not depend on the gap: see spline_chain.c. */
typedef struct gram_chain_order {
    double root[GRAM_SPLINE_ORDERS][GRAM_SPLINE_ORDERS];    /* lower: of the covariance of a gap of length 1 */
    double inverse[GRAM_SPLINE_ORDERS][GRAM_SPLINE_ORDERS]; /* of the root */
    double drawn[GRAM_SPLINE_ORDERS][GRAM_SPLINE_ORDERS];   /* the root, moved back over the gap */
    double pieces[GRAM_SPLINE_ORDERS][GRAM_SPLINE_ORDERS];  /* derivatives at the gap's start by kicks */
} gram_chain_order;

typedef struct gram_chain {
    gram_memory *memory; /* of its arrays */
    int m, periodic;
    int64_t n;    /* places: at least m, of a circle at least 2 */
    int64_t gaps; /* n - 1, or n */
    double unit;  /* lengths are told in it: the range of t, or the period */
    double *gap;  /* gap i is from place i on, in the unit */
    gram_chain_order order;
    gram_chain_wish wish; /* there is room for */
    double *steps;        /* of the way back */
    /* the solution, derivatives in the unit, those of order m - 1 first and the value last */
    double *state;    /* n x m: at the places */
    double *kick;     /* gaps x m: f^(m) in each gap, by orthonormal polynomials */
    double *spread;   /* n: the variance of f at each place over sigma^2 */
    double *variance; /* n x m x m: of the states */
    double *cross;    /* gaps x m x m: of the state at the start of a gap and the kick */
    double *kicked;   /* gaps x m x m: of the kick */
    double alpha;     /* in the unit */
    double bending;   /* alpha int (f^(m))^2 */
    double log_root;  /* log|R|, R'R the information of all states */
} gram_chain;

/* t: ascending, distinct, copied as far as it is needed. period 0: a line. gram_chain_free is due afterwards, on failure too. */
gram_status gram_chain_make(gram_context *context, int m, int64_t n, const double *t, double period,
                            gram_chain_wish wish, gram_chain *chain);
void gram_chain_free(gram_chain *chain);

/* Solves for weights w > 0, values y and alpha > 0, in the units of t. GRAM_ERROR_NUMERICAL if numbers are too far apart. */
gram_status gram_chain_solve(gram_context *context, gram_chain *chain, double alpha, const double *w, const double *y,
                             gram_chain_wish wish);

/* f and its derivatives up to order 2m - 1 from place i on, in the units of t: 2m numbers for each place. */
void gram_chain_pieces(const gram_chain *chain, double *pieces);

/* The covariance of derivatives 0 .. m - 1 is that of sigma^2 = 1 and alpha; here the variance of derivative r < m at `along` (in
 * units of t, from 0 to the gap) from place i. i = -1 or n - 1 of a line: beyond its ends, by the distance. */
double gram_chain_variance(const gram_chain *chain, int64_t i, double along, int r);

#endif

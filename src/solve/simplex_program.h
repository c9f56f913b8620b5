/* Quadratic programs over the simplex: minimise w'Kw/2 - w'mu over w >= 0, sum w = 1. */
#ifndef GRAM_SOLVE_SIMPLEX_PROGRAM_H
#define GRAM_SOLVE_SIMPLEX_PROGRAM_H

#include <stdint.h>

#include <gram/status.h>

/* All arrays are the caller's. */
typedef struct gram_simplex_program {
    int64_t m;
    const double *K;    /* m x m, symmetric, positive semi-definite to rounding */
    const double *mu;   /* m */
    double constant;    /* of the value w'Kw - 2 w'mu + constant, which must not be negative but by rounding */
    double tolerance;   /* ends within this share of the least value, or when rounding hides the difference */
    const char *active; /* m: w_i stays as it is where this is 0; only gram_simplex_minimise asks for it */
    double *w;          /* m: where to begin, a point of the simplex; then the solution */
    double *gradient;   /* m: of the objective, K w - mu, left behind by both functions */
} gram_simplex_program;

/* O(m) a step, at most 1000 m + 100,000 steps. GRAM_NOT_CONVERGED with the best w after those. */
gram_status gram_simplex_minimise(const gram_simplex_program *program);

/* The value at w, from a gradient made anew. O(m^2). */
double gram_simplex_value(const gram_simplex_program *program);

#endif

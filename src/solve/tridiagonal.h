/* A symmetric matrix brought to tridiagonal form: A = Q T Q'. What eigenvalues and paths of ridges share. */
#ifndef GRAM_SOLVE_TRIDIAGONAL_H
#define GRAM_SOLVE_TRIDIAGONAL_H

#include "base/context.h"

/* n + PANEL numbers and more than that for each row must be countable by LAPACK. */
enum { GRAM_TRIDIAGONAL_MOST = 1 << 24 };

/* a: n x n, row-major, lower triangle, replaced by the reflectors that make Q; the arrays have n numbers each. */
typedef struct gram_tridiagonal {
    double *a;
    int n, lda;
    double *d, *e; /* diagonal and off-diagonal (n - 1) of T */
    double *tau;   /* of the reflectors */
} gram_tridiagonal;

/* Reduces; `what` is for the progress line. O(n) memory beside. */
gram_status gram_tridiagonal_reduce(gram_context *context, const char *what, gram_tridiagonal *t);

/* v = Q v (or Q' v): `count` vectors of n numbers, one after the other, ldv apart. 64 numbers of memory for each row. */
gram_status gram_tridiagonal_multiply(gram_context *context, const gram_tridiagonal *t, int transposed, int64_t count,
                                      double *v, int64_t ldv);

/* Replaces the reflectors by Q: a[j * lda + i] = Q_ij. */
gram_status gram_tridiagonal_form(gram_context *context, gram_tridiagonal *t);

#endif

/* Matrices of many rows and few columns, row-major with a stride: the products that subspace methods are made of.
 *
 * Rows are worked on in chunks whose number depends on n only, and sums over chunks are made in order: the same bits for any
 * number of threads. */
#ifndef GRAM_SOLVE_EIGEN_TALL_MATRIX_H
#define GRAM_SOLVE_EIGEN_TALL_MATRIX_H

#include "base/context.h"

typedef struct gram_tall {
    int64_t n, columns, ld;
    double *data;
} gram_tall;

/* c = A'B, A.columns x B.columns. O(n p q). */
gram_status gram_tall_inner(gram_context *context, gram_tall a, gram_tall b, double *c, int64_t ldc);

/* B += factor A C, C of A.columns x B.columns. */
gram_status gram_tall_add(gram_context *context, gram_tall a, double factor, const double *c, int64_t ldc, gram_tall b);

/* The first `count` columns of A become A C, C of A.columns x count, count <= A.columns. */
gram_status gram_tall_turn(gram_context *context, gram_tall a, const double *c, int64_t ldc, int64_t count);

/* Makes the columns of B orthonormal, and orthogonal to those of Q, which are so already (Q.columns may be 0). Where B has not
 * that many independent columns, others of random numbers take their place. Q.columns + B.columns <= n. */
gram_status gram_tall_orthonormalise(gram_context *context, gram_tall q, gram_tall b);

/* Eigenvalues of a small symmetric matrix, row-major, from the largest down, and vectors as the columns of a, which is
 * overwritten. */
gram_status gram_tall_eigen(gram_context *context, int64_t m, double *a, int64_t lda, double *values);

#endif

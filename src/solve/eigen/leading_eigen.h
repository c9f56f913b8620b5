/* The largest eigenvalues of a symmetric operator, and their vectors, from products with it alone.
 *
 * What kernel PCA, spectral clustering and eigenfunctions need of a matrix that is only known by its products, and the fast way
 * to the first few of one in memory. */
#ifndef GRAM_SOLVE_EIGEN_LEADING_EIGEN_H
#define GRAM_SOLVE_EIGEN_LEADING_EIGEN_H

#include <gram/operator.h>

#include "base/context.h"

typedef struct gram_leading {
    const gram_operator *a;
    int64_t count;    /* how many, 1 to n */
    double tolerance; /* |A v - l v| <= tolerance |l| for each, or as near as rounding lets it; 0 means 1e-8 */
    int64_t block;    /* columns multiplied together; 0: by count */
    int64_t most;     /* columns multiplied at most; 0: by n and count */
    double *values;   /* count, from the largest down */
    double *vectors;  /* n x count, row-major without gaps, orthonormal; the largest entry of each is positive */

    /* results */
    double residual; /* the largest |A v - l v| over the largest |l|, truly */
    int64_t columns; /* multiplied */
} gram_leading;

/* GRAM_NOT_CONVERGED leaves the best that was found. Memory for leading_eigen_bytes; O(n (count + 8 block)^2) beside the
 * products. The same bits for any number of threads. */
gram_status gram_leading_run(gram_context *context, gram_leading *run);

/* Bytes that it takes at most, A and the result aside. */
size_t gram_leading_bytes(int64_t n, int64_t count);

/* The largest entry by absolute value of each column is made positive: each vector has one sign. */
void gram_leading_fix_signs(int64_t n, int64_t count, double *vectors);

#endif

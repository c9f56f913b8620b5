/* Eigenvalues and eigenvectors of a dense symmetric matrix.
 *
 * The matrix is brought to tridiagonal form panel by panel (cancelled and reported between panels), whose eigenvalues
 * take O(n^2) and whose eigenvectors O(n) each. BLAS is single-threaded here: the same bits for any number of threads. */
#ifndef GRAM_EIGEN_H
#define GRAM_EIGEN_H

#include <gram/context.h>

GRAM_BEGIN

/* The eigenvalues number first .. first + count - 1, counted from the largest (number 0) down, to values[0 .. count): the
 * K largest are (0, K), the smallest is (n - 1, 1), all are (0, n). Unless vectors is NULL, the unit eigenvector of
 * values[j] goes to vectors[j * ldv + i], i < n, ldv >= n; its largest entry is positive.
 *
 * `a` is n x n, row-major, lda >= n. Only its lower triangle is read, and it is destroyed: nothing of size n^2 is held
 * beside it. O(n^3) time, 2 n^2 more for each vector; O(n) memory, with vectors 64 numbers more for each row.
 *
 * |A v - lambda v| and the errors of the eigenvalues are a small multiple of the rounding unit times the largest
 * eigenvalue: smaller eigenvalues are noise. GRAM_ERROR_ARGUMENT for a NULL or a size out of range,
 * GRAM_ERROR_NUMERICAL for an entry that is not finite (it is named) or if no vector is found, GRAM_ERROR_OVERFLOW for n
 * beyond LAPACK's integers, GRAM_ERROR_BUDGET or GRAM_ERROR_MEMORY, GRAM_ERROR_CANCELLED. */
GRAM_API gram_status gram_eigen_symmetric(gram_context *context, int64_t n, double *a, int64_t lda, int64_t first,
                                          int64_t count, double *values, double *vectors, int64_t ldv);

GRAM_END

#endif

/* Cholesky factors of A = K(X, X) + diag(shift), filled straight from the engine.
 *
 * The factor is held as square tiles of its lower triangle, about half of n^2 numbers, and made tile by tile where the
 * matrix was: nothing of size n^2 is ever held twice. In f64, or in f32 at half the memory and time as a
 * preconditioner. K is computed in f64, also between f32 points. The same bits for any number of threads; progress
 * and cancel between tiles; no 32-bit index.
 *
 * Common failures: what <gram/matrix.h> lists, and GRAM_ERROR_NUMERICAL for a matrix that is not positive definite to
 * working precision (the message names the pivot). */
#ifndef GRAM_CHOLESKY_H
#define GRAM_CHOLESKY_H

#include <gram/operator.h>

GRAM_BEGIN

typedef struct gram_cholesky gram_cholesky;

typedef enum gram_storage { GRAM_STORAGE_F64 = 0, GRAM_STORAGE_F32 = 1 } gram_storage;

/* Factors K(X, X) + diag(shift); shift has n numbers, NULL: 0. If `jitter` is not NULL and the matrix is not positive
 * definite, the least jitter (to a factor of 2, from the rounding unit times the mean diagonal up) that makes it so is
 * added to the whole diagonal and returned there; 0 when none was needed, GRAM_ERROR_NUMERICAL when more than 1e-4
 * of the mean diagonal would be. n^3/3 operations. The caller destroys the factor. */
GRAM_API gram_status gram_cholesky_create(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                          const double *shift, gram_storage storage, double *jitter,
                                          gram_cholesky **factor);
/* Takes NULL. */
GRAM_API void gram_cholesky_destroy(gram_cholesky *factor);

/* Bytes that a factor takes; 0 for an n out of range. */
GRAM_API size_t gram_cholesky_bytes(int64_t n, gram_storage storage);

GRAM_API int64_t gram_cholesky_size(const gram_cholesky *factor);

/* b = A^-1 b, and b = L^-1 b: n x columns, row-major, in place. O(n^2 columns), in blocks of columns, parallel. An f32
 * factor computes in f32 (each column scaled to numbers near 1) and takes n columns floats meanwhile. */
GRAM_API gram_status gram_cholesky_solve(gram_context *context, const gram_cholesky *factor, int64_t columns, double *b,
                                         int64_t ldb);
GRAM_API gram_status gram_cholesky_half_solve(gram_context *context, const gram_cholesky *factor, int64_t columns,
                                              double *b, int64_t ldb);

/* log |A| */
GRAM_API double gram_cholesky_log_determinant(const gram_cholesky *factor);

/* An estimate of the condition number |A| |A^-1| in the 1-norm, from a few solves and products with L: a lower
 * bound, as a rule within a factor of 3 for each norm. O(n^2). */
GRAM_API gram_status gram_cholesky_condition(gram_context *context, const gram_cholesky *factor, double *estimate);

/* Replaces the f64 factor by the inverse A^-1, in place: 2 n^3/3 operations. After it only gram_cholesky_inverse_*,
 * _size and _destroy may be called; when it was cancelled, _size and _destroy. */
GRAM_API gram_status gram_cholesky_invert(gram_context *context, gram_cholesky *factor);
/* out[i] = (A^-1)_ii, the whole of it (row-major, both triangles), and out = A^-1 V. */
GRAM_API gram_status gram_cholesky_inverse_diagonal(gram_context *context, const gram_cholesky *inverse, double *out);
GRAM_API gram_status gram_cholesky_inverse_matrix(gram_context *context, const gram_cholesky *inverse, double *out,
                                                  int64_t ld);
GRAM_API gram_status gram_cholesky_inverse_apply(gram_context *context, const gram_cholesky *inverse, int64_t columns,
                                                 const double *v, int64_t ldv, double *out, int64_t ldo);

GRAM_END

#endif

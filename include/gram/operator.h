/* K as a symmetric linear operator: what solvers work on.
 *
 * Every operator can multiply; everything else is derived from that unless an operator does better. Operators never
 * change and are counted: a shifted or summed operator keeps the ones it is made of. */
#ifndef GRAM_OPERATOR_H
#define GRAM_OPERATOR_H

#include <gram/matrix.h>

GRAM_BEGIN

typedef struct gram_operator gram_operator;

/* A symmetric matrix of the caller's, borrowed: n x n, row-major, ld >= n. Only its lower triangle is read. */
GRAM_API gram_status gram_operator_create_dense(gram_context *context, int64_t n, const double *matrix, int64_t ld,
                                                gram_operator **op);

/* K(X, X) held as square tiles of its lower triangle: about half of n^2 numbers. O(n^2 d) to make. */
GRAM_API gram_status gram_operator_create_packed(gram_context *context, gram_kernel *kernel, gram_points *x,
                                                 gram_operator **op);

/* K(X, X), made anew in each product: O(n d) memory, O(n^2 d) for each product. */
GRAM_API gram_status gram_operator_create_free(gram_context *context, gram_kernel *kernel, gram_points *x,
                                               gram_operator **op);

/* A + shift I. */
GRAM_API gram_status gram_operator_create_shifted(gram_context *context, gram_operator *a, double shift,
                                                  gram_operator **op);

/* sum_i weights[i] terms[i], count >= 1, all of one size. */
GRAM_API gram_status gram_operator_create_sum(gram_context *context, int64_t count, gram_operator *const *terms,
                                              const double *weights, gram_operator **op);

GRAM_API gram_operator *gram_operator_retain(gram_operator *op);
/* Takes NULL. */
GRAM_API void gram_operator_release(gram_operator *op);

GRAM_API int64_t gram_operator_size(const gram_operator *op);
/* "dense", "packed", "free", "shifted", "sum" */
GRAM_API const char *gram_operator_kind(const gram_operator *op);

/* out = A V, V and out n x columns, row-major, not overlapping. The same bits for any number of threads. */
GRAM_API gram_status gram_operator_apply(gram_context *context, const gram_operator *op, int64_t columns,
                                         const double *v, int64_t ldv, double *out, int64_t ldo);

/* out[i] = A_ii */
GRAM_API gram_status gram_operator_diagonal(gram_context *context, const gram_operator *op, double *out);

/* out[i * ld + j] = A_(i, index[j]) */
GRAM_API gram_status gram_operator_columns(gram_context *context, const gram_operator *op, int64_t count,
                                           const int64_t *index, double *out, int64_t ld);

/* The whole of A, row-major. */
GRAM_API gram_status gram_operator_matrix(gram_context *context, const gram_operator *op, double *out, int64_t ld);

/* sum_i A_ii */
GRAM_API gram_status gram_operator_trace(gram_context *context, const gram_operator *op, double *trace);

GRAM_END

#endif

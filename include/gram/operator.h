/* K as a symmetric linear operator: what solvers work on.
 *
 * Every operator can multiply; everything else is derived from that unless an operator does better. Operators never
 * change and are counted: whoever creates or retains one releases it, and a shifted or summed operator keeps the ones it
 * is made of. All functions return GRAM_ERROR_ARGUMENT for a NULL, a size out of range or an ld that is too short
 * (at most 2^31 - 1, columns at most 2^24), GRAM_ERROR_BUDGET or GRAM_ERROR_MEMORY for want of memory, and
 * GRAM_ERROR_CANCELLED; those that see a kernel also what <gram/matrix.h> lists. */
#ifndef GRAM_OPERATOR_H
#define GRAM_OPERATOR_H

#include <gram/matrix.h>

GRAM_BEGIN

typedef struct gram_operator gram_operator;

/* A symmetric matrix of the caller's, borrowed: n x n, row-major, ld >= n. Only its lower triangle is read; it must stay
 * unchanged while the operator lives. O(1). */
GRAM_API gram_status gram_operator_create_dense(gram_context *context, int64_t n, const double *matrix, int64_t ld,
                                                gram_operator **op);

/* K(X, X) held as square tiles of its lower triangle: about half of n^2 numbers. O(n^2 d) to make, O(n^2) for each
 * product and column. Keeps neither kernel nor points. */
GRAM_API gram_status gram_operator_create_packed(gram_context *context, gram_kernel *kernel, gram_points *x,
                                                 gram_operator **op);

/* K(X, X), made anew in each product: O(n d) memory, O(n^2 d) for each product. Keeps kernel and points (whose array
 * must stay unchanged while the operator lives). */
GRAM_API gram_status gram_operator_create_free(gram_context *context, gram_kernel *kernel, gram_points *x,
                                               gram_operator **op);

/* A + shift I, shift finite. Costs what A costs. */
GRAM_API gram_status gram_operator_create_shifted(gram_context *context, gram_operator *a, double shift,
                                                  gram_operator **op);

/* A + diag(diagonal), n finite numbers, copied. Costs what A costs. */
GRAM_API gram_status gram_operator_create_shifted_by(gram_context *context, gram_operator *a, const double *diagonal,
                                                     gram_operator **op);

/* H A H with H = I - 11'/n: if A is the Gram matrix of points, that of the points less their mean in feature space. A product
 * costs that of A and memory for one more array; the diagonal and columns cost one product with one column more. */
GRAM_API gram_status gram_operator_create_centred(gram_context *context, gram_operator *a, gram_operator **op);

/* diag(factors) A diag(factors), n finite numbers, copied. Costs what A costs, and a product memory for one more array. */
GRAM_API gram_status gram_operator_create_scaled(gram_context *context, gram_operator *a, const double *factors,
                                                 gram_operator **op);

/* F F', F being n x rank, row-major with ld >= rank, borrowed: it must stay unchanged while the operator lives. O(n rank) for each
 * column of a product. */
GRAM_API gram_status gram_operator_create_factor(gram_context *context, int64_t n, int64_t rank, const double *f,
                                                 int64_t ld, gram_operator **op);

/* sum_i weights[i] terms[i]: 1 to 4096 terms of one size (else GRAM_ERROR_DIMENSION), finite weights. A product costs
 * those of all terms and memory for one more result. */
GRAM_API gram_status gram_operator_create_sum(gram_context *context, int64_t count, gram_operator *const *terms,
                                              const double *weights, gram_operator **op);

/* Both take NULL. */
GRAM_API gram_operator *gram_operator_retain(gram_operator *op);
GRAM_API void gram_operator_release(gram_operator *op);

GRAM_API int64_t gram_operator_size(const gram_operator *op);
/* "dense", "packed", "free", "shifted", "centred", "scaled", "factor", "sum" */
GRAM_API const char *gram_operator_kind(const gram_operator *op);

/* out = A V, V and out n x columns, row-major, not overlapping. The same bits for any number of threads. Cost: O(n^2
 * columns) for matrices in memory, see the creators for the others. */
GRAM_API gram_status gram_operator_apply(gram_context *context, const gram_operator *op, int64_t columns,
                                         const double *v, int64_t ldv, double *out, int64_t ldo);

/* out = A(:, index) V, V being count x columns and out n x columns: the product with a V whose other rows are 0. An index that comes
 * twice counts twice. The same bits for any number of threads. Costs count/n of a product for `dense`, `packed` and `factor`, twice
 * that for `free` (pairs are not used both ways); derived: a product, and memory for another V. */
GRAM_API gram_status gram_operator_apply_columns(gram_context *context, const gram_operator *op, int64_t count,
                                                 const int64_t *index, int64_t columns, const double *v, int64_t ldv,
                                                 double *out, int64_t ldo);

/* out[i] = A_ii. O(n) for matrices in memory, O(n d) for `free`; derived: n/16 products with 16 columns. */
GRAM_API gram_status gram_operator_diagonal(gram_context *context, const gram_operator *op, double *out);

/* out[i * ld + j] = A_(i, index[j]). O(n count) or O(n count d); derived: count/16 products with 16 columns. */
GRAM_API gram_status gram_operator_columns(gram_context *context, const gram_operator *op, int64_t count,
                                           const int64_t *index, double *out, int64_t ld);

/* The whole of A, row-major: all columns. */
GRAM_API gram_status gram_operator_matrix(gram_context *context, const gram_operator *op, double *out, int64_t ld);

/* sum_i A_ii, from the diagonal. */
GRAM_API gram_status gram_operator_trace(gram_context *context, const gram_operator *op, double *trace);

GRAM_END

#endif

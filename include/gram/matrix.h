/* The Gram matrix K(X, Y), K_ij = k(x_i, y_j), and what can be done with it block by block.
 *
 * Y = NULL means the points X with themselves; then K is symmetric bit for bit. All arrays are row-major; rows
 * are `ld` numbers apart. Every function gives the same bits for any number of threads. Common failures:
 * GRAM_ERROR_ARGUMENT (a NULL, an ld that is too short), GRAM_ERROR_DIMENSION (X, Y and the kernel do not fit
 * together), GRAM_ERROR_UNSET (a parameter has no value: see gram_kernel_resolve), GRAM_ERROR_DOMAIN (a point where the
 * kernel is not defined), GRAM_ERROR_CANCELLED, GRAM_ERROR_OVERFLOW, GRAM_ERROR_BUDGET or GRAM_ERROR_MEMORY. Besides the
 * output each takes O((n + m) d) memory per distinct metric of the kernel and a fixed scratch per thread. */
#ifndef GRAM_MATRIX_H
#define GRAM_MATRIX_H

#include <gram/kernel.h>
#include <gram/points.h>

GRAM_BEGIN

/* out[i * ld + j] = k(x_i, y_j). O(n m d). A large out is offered to the system as huge pages, a hint that makes the first
 * write to fresh memory faster. */
GRAM_API gram_status gram_matrix(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                 const gram_points *y, double *out, int64_t ld);

/* Is the kernel defined at all points, each with itself? Free numbers are set as gram_kernel_resolve does. Fails as the other
 * functions do, and gram_context_place tells where. O(n d). */
GRAM_API gram_status gram_matrix_check(gram_context *context, const gram_kernel *kernel, const gram_points *x);

/* out[i] = k(x_i, x_i), the same bits as the diagonal of K(X, X). O(n d). */
GRAM_API gram_status gram_matrix_diagonal(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                          double *out);

/* The least and the largest entry, NaN where there is none. */
typedef struct gram_matrix_ranges {
    double diagonal[2];
    double rest[2]; /* off the diagonal, between the rows that were looked at */
    int64_t rows;   /* how many these are */
} gram_matrix_ranges;

/* The ranges of K(X, X): the whole diagonal, and the rest on at most `most` (at most 2^20) evenly spaced points. O((n + most^2) d)
 * and memory for most^2 numbers. */
GRAM_API gram_status gram_matrix_range(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                       int64_t most, gram_matrix_ranges *out);

/* out[i * ld + j] = k(x_i, x_index[j]), j < count. O(n count d). */
GRAM_API gram_status gram_matrix_columns(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                         int64_t count, const int64_t *index, double *out, int64_t ld);

/* out[i * ld + j] = d_k(x_i, y_j) = sqrt(k(x_i, x_i) + k(y_j, y_j) - 2 k(x_i, y_j)), the kernel metric: the distance of
 * the functions k(x_i, .) and k(y_j, .) in the kernel's Hilbert space. Always computed in f64. A sum, product or power of
 * kernels that know k(0) - k without cancellation (rbf, laplace, laplace1, powexp, rq, imq, wendland, matern at nu = 1/2,
 * 3/2 and 5/2; constants and white) has it to a few rounding errors however near the points are; for any other the difference is
 * taken, clipped at 0, and costs digits where it is small. O(n m d). */
GRAM_API gram_status gram_matrix_distance(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                          const gram_points *y, double *out, int64_t ld);

/* out = K(X, Y) V without ever holding K: V has one row for each point of Y and `columns` (at most 2^24) columns. V and
 * out may not overlap. O(n m (d + columns)) time, and memory for a copy of V and of out. */
GRAM_API gram_status gram_matrix_product(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                         const gram_points *y, int64_t columns, const double *v, int64_t ldv,
                                         double *out, int64_t ldo);

/* Adds W_ij of a block, row <= i < row + rows and column <= j < column + columns, to out[(i - row) * ldo + j - column]. Called
 * by several threads at once. */
typedef void (*gram_weights_fn)(const void *argument, int64_t row, int64_t rows, int64_t column, int64_t columns,
                                double *out, int64_t ldo);

/* Weights W_ij for pairs of points: a dense array, a product of two thin ones, W = A B', or blocks from a function, which are
 * symmetric where Y is NULL. */
typedef struct gram_weights {
    const double *dense; /* n x m, or NULL */
    int64_t ld;
    int64_t rank;    /* with dense = NULL: columns of a and b */
    const double *a; /* n x rank */
    int64_t lda;
    const double *b; /* m x rank */
    int64_t ldb;
    gram_weights_fn fill; /* with dense = NULL and rank = 0; else NULL */
    const void *argument;
} gram_weights;

/* gradient[p] = sum_ij W_ij dk(x_i, y_j)/dtheta_p for every parameter of the kernel, in the order of
 * gram_kernel_parameter_get, by the values themselves (not on the log scale). One pass over the pairs, no array of
 * their number. W need not be symmetric. O(n m (d + rank)), with a full covariance O(n m d^2). */
GRAM_API gram_status gram_matrix_parameter_gradient(gram_context *context, const gram_kernel *kernel,
                                                    const gram_points *x, const gram_points *y,
                                                    const gram_weights *weights, double *gradient);

/* out[i * ld + l] = sum_j W_ij dk(x, y_j)/dx_l at x = x_i: the derivative in the first argument alone, also when Y is
 * NULL. Where k has a kink (distance 0 of matern 1/2, laplace1, min) the mean of both sides is taken. O(n m (d + rank)). */
GRAM_API gram_status gram_matrix_input_gradient(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                                const gram_points *y, const gram_weights *weights, double *out,
                                                int64_t ld);

/* Where the derivatives of all pairs go: pair (i, j) has number p = i * ld + j in every array. NULL for what is not wanted,
 * but not all of them. */
typedef struct gram_derivatives {
    int64_t ld;
    double *value; /* [p] = k(x_i, y_j) */
    double *by_x;  /* [p * d + l] = dk/dx_l */
    double *by_y;  /* [p * d + l] = dk/dy_l */
    double *trace; /* [p] = sum_l d2k/dx_l dy_l */
    double *mixed; /* [(p * d + l) * d + m] = d2k/dx_l dy_m */
} gram_derivatives;

/* The kernel of every pair with its derivatives in both arguments, computed in f64: what Stein kernels and observed
 * derivatives need. GRAM_ERROR_UNSUPPORTED names the part of the kernel that has no d2k/dx dy and says why: laplace,
 * laplace1, min, intersection, chi2, tanimoto, matern with nu <= 1, powexp with p < 2, wendland(k=0), sobolev(a=1),
 * ntk of relu, nngp of relu with sb = 0, white, callback, precomputed, scale. Values agree with gram_matrix to rounding. To keep arrays small, ask for a block of rows at a
 * time: X may be any part of the points. O(n m d), with `mixed` O(n m d^2); each thread takes as much memory as the
 * derivatives of a few hundred pairs. */
GRAM_API gram_status gram_matrix_derivatives(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                             const gram_points *y, const gram_derivatives *out);

GRAM_END

#endif

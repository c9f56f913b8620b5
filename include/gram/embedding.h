/* Mean embeddings: distributions as functions of the kernel's Hilbert space, mu_P = E k(X, .), X of P.
 *
 * Then E f(X) = <f, mu_P> for every f of the space. The embedding of a weighted sample is sum_i w_i k(x_i, .), a gram_function like any
 * other: <gram/function.h> evaluates it and has inner products, norms and distances (|mu_P - mu_Q| is the MMD, <gram/mmd.h>). For
 * Gaussian distributions and some kernels the integrals are known. */
#ifndef GRAM_EMBEDDING_H
#define GRAM_EMBEDDING_H

#include <gram/function.h>

GRAM_BEGIN

/* *embedding = sum_i w_i k(x_i, .); weights NULL: 1/n each. Weights need not be positive nor sum to 1, but must be finite
 * (GRAM_ERROR_DATA). The caller releases it. O(n d). */
GRAM_API gram_status gram_embedding_create(gram_context *context, gram_kernel *kernel, const gram_points *points,
                                           const double *weights, gram_function **embedding);

/* out[o] = sum_i w_i f_o(x_i), the mean of f over the weighted sample: <f_o, mu> plus f's constant times the sum of weights. O(n m d)
 * for m centres of f. */
GRAM_API gram_status gram_embedding_expectation(gram_context *context, const gram_function *f,
                                                const gram_points *points, const double *weights, double *out);

/* ---- Gaussian distributions ---- */

/* N(mean, covariance): `mean` has d numbers; `covariance` is d x d, row-major without gaps, symmetric and positive semi-definite (0 is a
 * point mass), or NULL for the identity. Borrowed. */
typedef struct gram_gaussian {
    int64_t d;
    const double *mean;
    const double *covariance;
} gram_gaussian;

/* out[i] = E k(x_i, X), X of the Gaussian: its mean embedding at the points. Closed forms exist for
 *
 *   rbf      (ell, one ell per column, S): |I + S/L|^(-1/2) exp(-(x - m)'(S + L)^-1 (x - m)/2), L = diag(ell^2)
 *   linear, poly, monomial   moments of the normal variable x'X
 *   const    and sums and multiples by constants of all these,
 *
 * anything else is GRAM_ERROR_UNSUPPORTED. A covariance that is not symmetric, or not positive semi-definite, is GRAM_ERROR_ARGUMENT.
 * O(d^3 + n d^2). */
GRAM_API gram_status gram_gaussian_embed(gram_context *context, const gram_kernel *kernel,
                                         const gram_gaussian *gaussian, const gram_points *points, double *out);

/* *out = E k(X, Y) for independent X of p and Y of q: the inner product of their embeddings. Polynomial kernels take the moments of X'Y
 * from its cumulants. O(d^3), polynomials of degree m O(m d^3). */
GRAM_API gram_status gram_gaussian_inner(gram_context *context, const gram_kernel *kernel, const gram_gaussian *p,
                                         const gram_gaussian *q, double *out);

/* *out = MMD^2 of two Gaussians, |mu_p - mu_q|^2, at least 0. */
GRAM_API gram_status gram_gaussian_mmd_squared(gram_context *context, const gram_kernel *kernel, const gram_gaussian *p,
                                               const gram_gaussian *q, double *out);

GRAM_END

#endif

/* Conditional mean embeddings: from pairs (x_i, y_i) to E[g(Y) | x] for any g.
 *
 *   E[g(Y) | x] ~ sum_i b_i(x) g(y_i)      b(x) = (K + n lambda I)^-1 k_x,   k_x = (k(x_1, x), ..., k(x_n, x))
 *
 * The weights b(x) do not depend on g: one factorisation serves every function of Y and every kernel on Y. They may be
 * negative and need not add up to 1. For one g the estimate is kernel ridge regression of g(y_i) on x_i (Song, Huang,
 * Smola and Fukumizu 2009; Gruenewaelder et al. 2012). Common failures: those of <gram/cholesky.h>. */
#ifndef GRAM_CONDITIONAL_H
#define GRAM_CONDITIONAL_H

#include <gram/cholesky.h>

GRAM_BEGIN

typedef struct gram_conditional gram_conditional;

/* Factors K + n lambda I, lambda > 0. The points are retained and their numbers must stay. n^3/3 operations, n^2/2 numbers of
 * memory. The caller destroys it. */
GRAM_API gram_status gram_conditional_create(gram_context *context, gram_kernel *kernel, gram_points *x, double lambda,
                                             gram_conditional **conditional);
/* Takes NULL. */
GRAM_API void gram_conditional_destroy(gram_conditional *conditional);

/* out[j * ld + i] = b_i(z_j) for m points z: ld >= n. O(n^2 m). */
GRAM_API gram_status gram_conditional_weights(gram_context *context, const gram_conditional *conditional,
                                              const gram_points *z, double *out, int64_t ld);

/* out[j * ldo + c] = sum_i b_i(z_j) g_c(y_i), the values g_c(y_i) being g[i * ldg + c], finite. O(n^2 columns + n m (d + columns)):
 * the weights are never made. */
GRAM_API gram_status gram_conditional_expect(gram_context *context, const gram_conditional *conditional,
                                             int64_t columns, const double *g, int64_t ldg, const gram_points *z,
                                             double *out, int64_t ldo);

GRAM_END

#endif

/* Functions of a kernel's Hilbert space: f(x) = sum_i a_i k(x_i, x) + b + s.x, with one or several outputs.
 *
 * What the learners return is such a function. `a` has one row for each centre x_i and one column for each output; b is an
 * optional constant for each output that the norm does not see, and so are the slopes s, if there are any. Functions never change and are counted. They keep a copy
 * of their centres, so that nothing of the caller has to stay. white() in a kernel is 1 for the same observation: here
 * that means centres of equal coordinates, since centres of two functions have nothing else in common; the values of a
 * function at points (other than its own gram_function_centres) do not see it.
 *
 * Common failures: GRAM_ERROR_ARGUMENT, GRAM_ERROR_DIMENSION, GRAM_ERROR_UNSET, what <gram/matrix.h> lists, and
 * GRAM_ERROR_BUDGET, GRAM_ERROR_MEMORY, GRAM_ERROR_CANCELLED. */
#ifndef GRAM_FUNCTION_H
#define GRAM_FUNCTION_H

#include <gram/matrix.h>

GRAM_BEGIN

typedef struct gram_function gram_function;

/* Makes a function of n centres (copied) and `outputs` columns of coefficients (n x outputs, lda >= outputs, copied);
 * `constant` has one number for each output, NULL: 0. Numbers that are not finite are GRAM_ERROR_DATA. O(n (d + outputs)). */
GRAM_API gram_status gram_function_create(gram_context *context, gram_kernel *kernel, const gram_points *centres,
                                          int64_t outputs, const double *a, int64_t lda, const double *constant,
                                          gram_function **function);

/* The same with slopes, outputs x d numbers (lds >= d, copied); NULL: none. */
GRAM_API gram_status gram_function_create_sloped(gram_context *context, gram_kernel *kernel, const gram_points *centres,
                                                 int64_t outputs, const double *a, int64_t lda, const double *constant,
                                                 const double *slopes, int64_t lds, gram_function **function);

/* One more owner, who releases too; both take NULL. */
GRAM_API gram_function *gram_function_retain(gram_function *function);
GRAM_API void gram_function_release(gram_function *function);

/* What it is made of; all belong to the function. Coefficients are row-major with ld = `outputs`. */
GRAM_API gram_kernel *gram_function_kernel(const gram_function *function);
GRAM_API gram_points *gram_function_centres(const gram_function *function);
/* The centres as an array, row-major without gaps: f64, or NULL if they are f32 (and the other way round). */
GRAM_API const double *gram_function_centres_f64(const gram_function *function);
GRAM_API const float *gram_function_centres_f32(const gram_function *function);
GRAM_API int64_t gram_function_outputs(const gram_function *function);
GRAM_API const double *gram_function_coefficients(const gram_function *function);
GRAM_API const double *gram_function_constant(const gram_function *function);
/* outputs x d, row-major without gaps; NULL: it has none. */
GRAM_API const double *gram_function_slopes(const gram_function *function);

/* out[i * ldo + o] = f_o(x_i). O(n m d) for m points: the matrix-free product, parallel. */
GRAM_API gram_status gram_function_evaluate(gram_context *context, const gram_function *function, const gram_points *x,
                                            double *out, int64_t ldo);

/* out[i * ldo + l] = df_output/dx_l at x_i. O(n m d), parallel, in f64. Kernels without that derivative are
 * GRAM_ERROR_UNSUPPORTED. */
GRAM_API gram_status gram_function_gradient(gram_context *context, const gram_function *function, int64_t output,
                                            const gram_points *x, double *out, int64_t ldo);

/* out[o] = <f_o, g_o> = a_o' K(X, Z) b_o for two functions of one kernel (else GRAM_ERROR_ARGUMENT) with the same number
 * of outputs; constants do not count. out[o] = |f_o| and |f_o - g_o|, never NaN, 0 where rounding (or a kernel that is not
 * positive definite) would give the root of a negative number. Entries of K so large that their sum is not a number are
 * GRAM_ERROR_NUMERICAL. O(n m d); the distance O((n + m)^2 d). */
GRAM_API gram_status gram_function_inner(gram_context *context, const gram_function *f, const gram_function *g,
                                         double *out);
GRAM_API gram_status gram_function_norm(gram_context *context, const gram_function *f, double *out);
GRAM_API gram_status gram_function_distance(gram_context *context, const gram_function *f, const gram_function *g,
                                            double *out);

/* The part of f in the space of term `index` of its kernel, a sum (<gram/kernel.h>): f_t = sum_i a_i k_t(x_i, .), without constant and
 * slopes. The terms add up to f, and |f|^2 = sum_t |f_t|^2. The caller releases it. */
GRAM_API gram_status gram_function_term(gram_context *context, const gram_function *f, int64_t index,
                                        gram_function **term);

/* s f + t g, constants included, over the centres of both (equal ones, bit for bit, are merged; the order is that of their
 * first appearance; centres that are functionals are merged if both functions have the same); s f when g is NULL. The centres are f32 if those of both are. Numbers that overflow are
 * GRAM_ERROR_NUMERICAL. O(n d log n) for n centres together. */
GRAM_API gram_status gram_function_combine(gram_context *context, double s, const gram_function *f, double t,
                                           const gram_function *g, gram_function **out);

/* The same function, or one near it, with fewer centres: equal centres are merged, and centres are dropped, smallest
 * |a_i| sqrt(k(x_i, x_i)) first, as long as the sum of what was dropped, which bounds |f - out|, stays within `tolerance`
 * for every output. 0 drops only what is 0. At least one centre stays. O(n d log n). */
GRAM_API gram_status gram_function_prune(gram_context *context, const gram_function *f, double tolerance,
                                         gram_function **out);

/* ---- bounds ---- */

/* |f(x) - f(y)| <= |f| d_k(x, y): out[o] for the pair x_i, x_j of the points. */
GRAM_API gram_status gram_function_variation_bound(gram_context *context, const gram_function *f, const gram_points *x,
                                                   int64_t i, int64_t j, double *out);

/* The bounds below are NaN for arguments out of their ranges: sizes >= 0, 0 < delta < 1, n >= 1.
 *
 * Rademacher complexity of {|f| <= B} on a sample with trace tr K: B sqrt(tr K)/n. */
GRAM_API double gram_bound_rademacher(double norm, double trace, int64_t n);

/* With probability 1 - delta the squared risk exceeds the mean squared error on the sample by at most this, for all
 * |f| <= B, k(x, x) <= R^2, |y| <= Y; functions without an unpenalised part. (B^2 R^2 + 2 B R Y)/sqrt(n) +
 * (B R + Y)^2 sqrt(log(1/delta)/(2 n)). */
GRAM_API double gram_bound_squared_risk(double bound, double radius, double target, double delta, int64_t n);

/* The same for a B that was not fixed beforehand: the least integer i >= 1 with norm <= 2^i, B = 2^i, delta/(i (i + 1)). */
GRAM_API double gram_bound_squared_risk_fitted(double norm, double radius, double target, double delta, int64_t n);

/* The 0-1 risk over the empirical ramp loss: 2 R B/sqrt(n) + sqrt(log(1/delta)/(2 n)); and with a fitted norm. */
GRAM_API double gram_bound_classification_risk(double bound, double radius, double delta, int64_t n);
GRAM_API double gram_bound_classification_risk_fitted(double norm, double radius, double delta, int64_t n);

/* The least of several bounds that hold together with probability 1 - delta, so that it may be chosen after the data were
 * seen. `most` is a radius that was fixed beforehand and that f is known to stay within: Y/sqrt(lambda) for the squared loss,
 * 1/sqrt(lambda) for the hinge, sqrt(log(2)/lambda) for the logistic loss, since f = 0 is no better. The balls have B = most/2^j
 * >= norm, j = 0, 1, 2, ..., and the shares delta/((j + 1) (j + 2)) of delta, which add up to it. With most = INFINITY they are those
 * of ..._fitted. NaN also for a norm above `most`. Unless NULL, *ball gets the B of the least. */
GRAM_API double gram_bound_squared_risk_best(double norm, double most, double radius, double target, double delta,
                                             int64_t n, double *ball);
GRAM_API double gram_bound_classification_risk_best(double norm, double most, double radius, double delta, int64_t n,
                                                    double *ball);

/* In expectation over the sample, by stability, for functions without an unpenalised part: KRR with
 * lambda = (R Y/B) sqrt(100/(3 n)), n lambda >= 4 R^2, has squared risk <= inf over |f| <= B plus R B Y sqrt(300/n). */
GRAM_API double gram_bound_stability(double bound, double radius, double target, int64_t n);

/* A support vector machine with lambda = (R/B) sqrt(2/n), lambda = 1/(2 n C): 0-1 risk <= inf of the hinge risk over |f| <= B
 * plus 2 R B sqrt(2/n). The same for the risk of any other convex loss that is Lipschitz with constant 1, such as the logistic
 * loss, by its own inf. */
GRAM_API double gram_bound_stability_hinge(double bound, double radius, int64_t n);

GRAM_END

#endif

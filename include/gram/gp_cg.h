/* Gaussian-process regression without a factor of the matrix: conjugate gradients on A = K + diag(noise), matrix-free.
 *
 * The model is that of <gram/gp.h>, of which the options are those too. What replaces the factor:
 *
 * - solves with A to a relative residual |b - A x|/|b|, preconditioned by a low rank of K plus the noise
 *   (M = F F' + diag(noise) <= A, F a pivoted partial Cholesky factor);
 * - log |A| = log |M| + tr log(M^-1/2 A M^-1/2) by stochastic Lanczos quadrature: random probes, with an estimate of the
 *   error beside the value. The probes depend on the context's seed only, so that values at near parameters have near errors
 *   and a search sees a smooth function;
 * - variances k(x,x) - 2 k'v + v'A v with v ~ A^-1 k: the mean squared error of the prediction v'y, which is the exact
 *   variance at the exact v and larger at any other, so never negative and never too small.
 *
 * O(n rank + n columns) memory; each iteration makes K once, O(n^2 (d + columns)), for all columns together. The same bits
 * for any number of threads. Points that are stored in f32 let residuals fall to about 1e-5 only, which is then the
 * tolerance. GRAM_NOT_CONVERGED is a result with a residual above the tolerance.
 *
 * With GRAM_GP_CG_FACTOR_F32 the low rank is replaced by a factor of A in f32, at half the memory of that of <gram/gp.h> and
 * beyond its reach the next thing to it: M^-1/2 A M^-1/2 is then I to about 1e-7 times the condition number, so that a few
 * iterations suffice and the random part of log |A| is as small. Solves with M are done in f64, so that what is corrected is
 * the very M whose determinant is known. A matrix that is too ill-conditioned for it, of which f32 makes no factor or with
 * which 50 iterations do not converge, is GRAM_ERROR_NUMERICAL.
 *
 * Common failures: those of <gram/gp.h>; a noise of 0 is GRAM_ERROR_ARGUMENT. */
#ifndef GRAM_GP_CG_H
#define GRAM_GP_CG_H

#include <gram/gp.h>

GRAM_BEGIN

typedef enum gram_gp_cg_preconditioner {
    GRAM_GP_CG_LOW_RANK = 0,  /* M = F F' + diag(noise): O(n rank) memory */
    GRAM_GP_CG_FACTOR_F32 = 1 /* M = L L', L the Cholesky factor of A in f32: n^2/2 floats, n^3/3 operations in f32 */
} gram_gp_cg_preconditioner;

typedef struct gram_gp_cg_options {
    size_t size;
    const gram_gp_options *gp; /* mean and noise, borrowed; NULL: the defaults. noise + row_noise > 0 in every row */
    double tolerance;          /* relative residual of gram_gp_cg_fit and _predict; default 1e-8 */
    double training_tolerance; /* of gram_gp_cg_likelihood; default 1e-6 */
    int64_t rank;              /* of the preconditioner; default 0: 64 + 8 sqrt(n), less if the budget is small */
    int64_t probes;            /* for log |A|; default 16. At least 2, or 0: no likelihood */
    int64_t most;              /* iterations; default 1000 */
    gram_gp_cg_preconditioner preconditioner; /* default GRAM_GP_CG_LOW_RANK */
} gram_gp_cg_options;

GRAM_API void gram_gp_cg_options_init(gram_gp_cg_options *options, size_t size);

typedef struct gram_gp_cg_value {
    double log_marginal_likelihood; /* as gram_gp_likelihood's */
    double standard_error;          /* of it, over the probes */
    double quadrature_error;        /* estimated, of the finite number of nodes; on top of the other */
    double residual;                /* relative, the worst of all right-hand sides */
    double trace_error;             /* tr(K - F F')/tr(K) of the preconditioner; 0 of a factor */
    int64_t iterations, rank;       /* rank: n of a factor */
} gram_gp_cg_value;

/* The log marginal likelihood; unless NULL its gradient by every parameter of the kernel and last by the noise, and the
 * standard errors of that. The gradient's trace tr(A^-1 dA) is estimated with the same probes (Hutchinson), which may be
 * some percent off where the value is exact. With an f32 factor tr(M^-1 dA) is taken exactly, by n solves with M (4 n^3
 * operations, n/192 passes over the pairs, 384 n numbers), and only the small rest by the probes. Standard errors take four passes over the pairs more. Options with 0 probes are
 * GRAM_ERROR_ARGUMENT. */
GRAM_API gram_status gram_gp_cg_likelihood(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                           const double *y, const gram_gp_cg_options *options, gram_gp_cg_value *value,
                                           double *gradient, double *gradient_error);

typedef struct gram_gp_cg gram_gp_cg;

typedef struct gram_gp_cg_report {
    size_t size;
    int64_t n, d;
    double noise;
    double tolerance;
    gram_gp_cg_value value; /* log_marginal_likelihood and its errors NaN without probes */
    double train_rmse;
} gram_gp_cg_report;

/* Conditions on n points x and y: a = A^-1 (y - T beta), beta by generalised least squares. Copies the points; keeps the
 * preconditioner, n rank numbers or the f32 factor, for variances. The caller destroys it. */
GRAM_API gram_status gram_gp_cg_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                    const gram_gp_cg_options *options, gram_gp_cg **gp);
/* Takes NULL. */
GRAM_API void gram_gp_cg_destroy(gram_gp_cg *gp);

/* All belong to the gp; as those of gram_gp. */
GRAM_API const gram_gp_cg_report *gram_gp_cg_get_report(const gram_gp_cg *gp);
GRAM_API gram_function *gram_gp_cg_function(const gram_gp_cg *gp);
GRAM_API const double *gram_gp_cg_slopes(const gram_gp_cg *gp);
GRAM_API const double *gram_gp_cg_column_coefficients(const gram_gp_cg *gp);

/* As gram_gp_predict. The mean is one product; the variance a solve for each point, 64 at a time: some iterations of
 * O(n^2 (d + 64)) for each 64 points, 400 n numbers of memory. */
GRAM_API gram_status gram_gp_cg_predict(gram_context *context, const gram_gp_cg *gp, const gram_points *points,
                                        const double *basis, int64_t ldb, double *mean, double *variance);

GRAM_END

#endif

/* Gaussian-process regression without a factor of the matrix: conjugate gradients on A = K + diag(noise), matrix-free.
 *
 * What replaces the factor:
 *
 * - solves with A to a relative residual |b - A x|/|b|, preconditioned by a low rank of K plus the noise
 *   (M = F F' + diag(noise) <= A, F a pivoted partial Cholesky factor);
 * - log |A| = log |M| + tr log(M^-1/2 A M^-1/2) by stochastic Lanczos quadrature: random probes, with an estimate of the
 *   error beside the value;
 * - variances k(x,x) - 2 k'v + v'A v with v ~ A^-1 k: the mean squared error of the prediction v'y, which is the exact
 *   variance at the exact v and larger at any other, so never negative and never too small.
 *
 * With GRAM_PRECISION_MIXED the low rank is replaced by a factor of A in f32: M^-1/2 A M^-1/2 is then I to about 1e-7 times the
 * condition number, so that a few iterations suffice and the random part of log |A| is as small. Solves with M are done in f64,
 * so that what is corrected is the very M whose determinant is known. A matrix of which f32 makes no factor, or with which 50
 * iterations do not converge, is GRAM_ERROR_NUMERICAL.
 *
 * Mean, noise and options->cg are used; a noise of 0 is GRAM_ERROR_ARGUMENT. */
#ifndef GRAM_METHOD_GP_CG_GP_CG_H
#define GRAM_METHOD_GP_CG_GP_CG_H

#include <gram/gp.h>

/* Options of that size, the defaults where it ends; NULL: the defaults. */
gram_status gram_gp_cg_options_read(gram_context *context, const char *name, const gram_gp_cg_options *options,
                                    gram_gp_cg_options *out);

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
gram_status gram_gp_cg_likelihood(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                  const gram_gp_options *options, gram_gp_cg_value *value, double *gradient,
                                  double *gradient_error);

typedef struct gram_gp_cg gram_gp_cg;

typedef struct gram_gp_cg_report {
    size_t size;
    int64_t n, d;
    double noise;
    double tolerance;
    gram_gp_cg_value value; /* log_marginal_likelihood and its errors NaN without probes */
    double train_rmse;
    double error_bound; /* as gram_gp_report's */
} gram_gp_cg_report;

/* Conditions on n points x and y: a = A^-1 (y - T beta), beta by generalised least squares. Copies the points; keeps the
 * preconditioner, n rank numbers or the f32 factor, for variances. The caller destroys it. */
gram_status gram_gp_cg_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                           const gram_gp_options *options, gram_gp_cg **gp);
/* Takes NULL. */
void gram_gp_cg_destroy(gram_gp_cg *gp);

/* All belong to the gp; as those of gram_gp. */
const gram_gp_cg_report *gram_gp_cg_get_report(const gram_gp_cg *gp);
gram_function *gram_gp_cg_function(const gram_gp_cg *gp);
const double *gram_gp_cg_slopes(const gram_gp_cg *gp);
const double *gram_gp_cg_column_coefficients(const gram_gp_cg *gp);

/* As gram_gp_predict. The mean is one product; the variance a solve for each point, 64 at a time: some iterations of
 * O(n^2 (d + 64)) for each 64 points, 400 n numbers of memory. */
gram_status gram_gp_cg_predict(gram_context *context, const gram_gp_cg *gp, const gram_points *points,
                               const double *basis, int64_t ldb, double *mean, double *variance);

#endif

/* Gaussian-process regression: y_i = m(x_i) + f(x_i) + e_i, f ~ GP(0, k), e_i ~ N(0, noise/w_i + row_noise_i).
 *
 * A = K + diag(noise). The mean m = T beta is zero, a constant, or linear in x, plus columns that the caller gives; beta is
 * estimated by generalised least squares, beta = (T'A^-1 T)^-1 T'A^-1 y, so that the posterior mean is kernel ridge
 * regression's with n lambda = noise, or integrated out under a flat prior. Variances are never negative.
 *
 * Common failures: GRAM_ERROR_ARGUMENT, GRAM_ERROR_DIMENSION, GRAM_ERROR_UNSET, GRAM_ERROR_DATA (a number that is not
 * finite is named), GRAM_ERROR_NUMERICAL (not positive definite beyond repair), GRAM_ERROR_BUDGET, GRAM_ERROR_MEMORY,
 * GRAM_ERROR_CANCELLED. */
#ifndef GRAM_GP_H
#define GRAM_GP_H

#include <gram/krr.h>

GRAM_BEGIN

typedef enum gram_mean { GRAM_MEAN_ZERO = 0, GRAM_MEAN_CONSTANT = 1, GRAM_MEAN_LINEAR = 2 } gram_mean;

/* "zero", "constant", "linear". Static. */
GRAM_API const char *gram_mean_name(gram_mean mean);

typedef struct gram_gp_options {
    size_t size;
    gram_mean mean;          /* default GRAM_MEAN_CONSTANT */
    int flat;                /* integrate the mean's parameters out under a flat prior; default 0: estimate them */
    double noise;            /* variance >= 0; default 1e-2. 0 interpolates */
    const double *row_noise; /* n known variances added to it; NULL: none */
    int64_t columns;         /* further columns of the mean, besides `mean` */
    const double *basis;     /* n x columns, row-major, ld */
    int64_t ld;
    const double
        *weights; /* n numbers > 0: row i has the noise noise/w_i, as a mean of w_i observations; NULL: all 1 */
} gram_gp_options;

GRAM_API void gram_gp_options_init(gram_gp_options *options, size_t size);

/* The log marginal likelihood of y, and its gradient by every parameter of the kernel (as the values are) and last by the
 * noise; gradient may be NULL. Estimated mean: -y'P y/2 - log|A|/2 - n/2 log 2 pi with P = A^-1 - A^-1 T (T'A^-1 T)^-1 T'A^-1;
 * flat: less log|T'A^-1 T|/2, and n - q in place of n. n^3 operations, with or without a gradient n^2/2 numbers of memory. */
GRAM_API gram_status gram_gp_likelihood(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                        const double *y, const gram_gp_options *options, double *value,
                                        double *gradient);

typedef struct gram_gp gram_gp;

typedef struct gram_gp_report {
    size_t size;
    int64_t n, d;
    double noise;
    double log_marginal_likelihood;
    double jitter, condition;
    double residual, backward_error;
    double train_rmse, train_r2;
    double loo_rmse, loo_r2;
    double loo_log_density; /* mean over rows of log p(y_i | others), the parameters held */
    double loo_coverage;    /* share of rows within their own 95 % leave-one-out interval */
} gram_gp_report;

/* Conditions on n points x and y. Copies the points. n^3 operations; keeps the factor, n^2/2 numbers. */
GRAM_API gram_status gram_gp_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                 const gram_gp_options *options, gram_gp **gp);
/* Takes NULL. */
GRAM_API void gram_gp_destroy(gram_gp *gp);

GRAM_API const gram_gp_report *gram_gp_get_report(const gram_gp *gp);
/* sum_i a_i k(x_i, .), with the constant of the mean; slopes of the linear mean (d numbers, NULL: none) and coefficients of
 * the given columns are beside it. All belong to the gp. */
GRAM_API gram_function *gram_gp_function(const gram_gp *gp);
GRAM_API const double *gram_gp_slopes(const gram_gp *gp);
GRAM_API const double *gram_gp_column_coefficients(const gram_gp *gp);
/* Leave-one-out means and variances of y_i; n numbers each. */
GRAM_API const double *gram_gp_loo_mean(const gram_gp *gp);
GRAM_API const double *gram_gp_loo_variance(const gram_gp *gp);

/* Posterior mean and variance of f + m at m points; `basis` (points x columns) as in the fit, NULL if it had none. Unless
 * variance is NULL: of f + m, without noise; O(n^2) a point. In chunks: memory does not grow with the points. */
GRAM_API gram_status gram_gp_predict(gram_context *context, const gram_gp *gp, const gram_points *points,
                                     const double *basis, int64_t ldb, double *mean, double *variance);

/* The posterior of one term of a sum kernel: for k = k_1 + k_2 + ... the process is f_1 + f_2 + ..., and this is the mean and
 * (unless NULL) the variance of f_1 alone, without m, for `term` = k_1: one of gram_kernel_term(kernel, .), or a sum of some
 * of them. Means of all terms and m add up to that of gram_gp_predict; variances do not, since what one term takes another
 * gives. O(n^2) a point for the variance. */
GRAM_API gram_status gram_gp_predict_term(gram_context *context, const gram_gp *gp, gram_kernel *term,
                                          const gram_points *points, double *mean, double *variance);

/* The posterior covariance of f + m between all pairs: points x points, row-major, ld. */
GRAM_API gram_status gram_gp_covariance(gram_context *context, const gram_gp *gp, const gram_points *points,
                                        const double *basis, int64_t ldb, double *covariance, int64_t ld);

/* `count` joint draws of f + m from the posterior, drawn by the context's seed: out[i * ldo + j] is draw j at point i. The
 * jitter that the covariance needed goes to *jitter unless it is NULL. m^3 operations for m points. */
GRAM_API gram_status gram_gp_draw(gram_context *context, const gram_gp *gp, const gram_points *points,
                                  const double *basis, int64_t ldb, int64_t count, double *out, int64_t ldo,
                                  double *jitter);

/* The same from the prior GP(0, k). */
GRAM_API gram_status gram_gp_draw_prior(gram_context *context, gram_kernel *kernel, const gram_points *points,
                                        int64_t count, double *out, int64_t ldo, double *jitter);

/* out[i * ldo + l]: derivative of the posterior mean by coordinate l at point i. */
GRAM_API gram_status gram_gp_gradient(gram_context *context, const gram_gp *gp, const gram_points *points, double *out,
                                      int64_t ldo);

GRAM_END

#endif

/* Exact Gaussian-process regression on the line in O(n), for kernels of processes with a finite state.
 *
 * For points of one column and such a kernel (a Markov kernel) the Kalman filter and smoother give the same likelihood,
 * gradient, posterior and leave-one-out predictions as gp.h does, with the same options, without any matrix of size n: a
 * million points take about a second. Such kernels are
 *
 *     matern (nu = 0.5, 1.5, 2.5, 3.5, 4.5), laplace, laplace1, powexp(p=1), min, sobolev, cosine, linear, poly, white
 *
 * and constants; sums, products and powers of them, with a state of at most 32 numbers: matern has nu + 1/2, cosine 2,
 * sobolev a, min, linear and constants 1; a sum adds them up, a product multiplies them.
 *
 * All functions work in one thread; the same bits for any number of threads. Memory is O(n). x need not be sorted and may
 * repeat. Noise may be 0 where no point repeats.
 *
 * Common failures: GRAM_ERROR_UNSUPPORTED (a kernel that has no such form; the part is named), GRAM_ERROR_DIMENSION (x of
 * several columns), GRAM_ERROR_DOMAIN (a point below the origin of min or sobolev), and those of gp.h. */
#ifndef GRAM_MARKOV_H
#define GRAM_MARKOV_H

#include <gram/gp.h>

GRAM_BEGIN

/* 1 if the kernel has such a form, else 0, and *why (unless NULL) names the first part that has none: the context's message,
 * valid until its next call. Parameters may be unset. O(size of the expression). */
GRAM_API int gram_markov_supports(gram_context *context, const gram_kernel *kernel, const char **why);

/* As gram_gp_likelihood, in O(n s^3) for a state of s numbers, with a gradient some three times that, whatever the number of
 * parameters. */
GRAM_API gram_status gram_markov_likelihood(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                            const double *y, const gram_gp_options *options, double *value,
                                            double *gradient);

typedef struct gram_markov gram_markov;

typedef struct gram_markov_report {
    size_t size;
    int64_t n, states;
    double noise;
    double log_marginal_likelihood;
    double train_rmse, train_r2;
    double loo_rmse, loo_r2;
    double loo_log_density; /* mean over rows of log p(y_i | others), the parameters held */
    double loo_coverage;    /* share of rows within their own 95 % leave-one-out interval */
} gram_markov_report;

/* Conditions on n points x and y, which are copied. Keeps O(n) numbers. The caller destroys the result. */
GRAM_API gram_status gram_markov_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                     const gram_gp_options *options, gram_markov **fit);
/* Takes NULL. */
GRAM_API void gram_markov_destroy(gram_markov *fit);

GRAM_API const gram_markov_report *gram_markov_get_report(const gram_markov *fit);
/* Coefficients of the mean: its constant, its slope, those of the given columns, as far as there are such. */
GRAM_API const double *gram_markov_mean_coefficients(const gram_markov *fit);
/* Fitted values, leave-one-out means and variances of y_i; n numbers each, in the caller's order. Belong to the fit. */
GRAM_API const double *gram_markov_fitted(const gram_markov *fit);
GRAM_API const double *gram_markov_loo_mean(const gram_markov *fit);
GRAM_API const double *gram_markov_loo_variance(const gram_markov *fit);

/* Posterior mean and (unless NULL) variance of f + m at m points, as gram_gp_predict; never negative. O((n + m) s^3). */
GRAM_API gram_status gram_markov_predict(gram_context *context, const gram_markov *fit, const gram_points *points,
                                         const double *basis, int64_t ldb, double *mean, double *variance);

/* `count` joint draws of f + m from the posterior, drawn by the context's seed: out[i * ldo + j] is draw j at point i. Exact,
 * without jitter. O(count (n + m)) and O(n + m) numbers of memory. */
GRAM_API gram_status gram_markov_draw(gram_context *context, const gram_markov *fit, const gram_points *points,
                                      const double *basis, int64_t ldb, int64_t count, double *out, int64_t ldo);

/* The same from the prior GP(0, k). */
GRAM_API gram_status gram_markov_draw_prior(gram_context *context, gram_kernel *kernel, const gram_points *points,
                                            int64_t count, double *out, int64_t ldo);

GRAM_END

#endif

/* Bayesian linear regression with an unknown noise variance: y_i = b + w.x_i + e_i, e_i ~ N(0, s/v_i), under the conjugate prior
 *
 *     w | s ~ N(0, (s/alpha) I),    s ~ inverse gamma(shape, scale),    b flat.
 *
 * Everything is known in closed form. With x and y about their (weighted) means, A = X'VX + alpha I and m = A^-1 X'V y,
 *
 *     s | y ~ inverse gamma(a, c),         a = shape + (n - 1)/2,  c = scale + (y'V y - m'X'V y)/2
 *     w | y ~ Student's t with 2 a degrees of freedom about m, scale matrix (c/a) A^-1
 *     a new y at x: the same t about b + m.x, squared scale (c/a) (1/v + 1/sum v + (x - mean)'A^-1 (x - mean))
 *
 * (n in place of n - 1, and without 1/sum v and means, if there is no b). m is ridge regression's with n lambda = alpha. alpha = 0 is
 * a flat prior for w: least squares, with d fewer degrees of freedom. shape = scale = 0 is a flat prior for log s. See O'Hagan and
 * Forster, "Kendall's Advanced Theory of Statistics 2B", 2004, chapter 11.
 *
 * The rows are read once, in blocks: X = Q R, then the singular values of R. O(n d^2 + d^3) operations, O(d^2) memory, in one thread; the
 * same bits for any number of threads.
 *
 * Common failures: GRAM_ERROR_ARGUMENT, GRAM_ERROR_DATA, GRAM_ERROR_DIMENSION, GRAM_ERROR_NUMERICAL, GRAM_ERROR_BUDGET,
 * GRAM_ERROR_MEMORY, GRAM_ERROR_CANCELLED. */
#ifndef GRAM_BAYES_H
#define GRAM_BAYES_H

#include <gram/model.h>

GRAM_BEGIN

typedef struct gram_bayes_options {
    size_t size;
    double alpha;          /* >= 0; NaN (default): that of the greatest evidence */
    double shape, scale;   /* of the prior of s, >= 0; default 0 and 0 */
    const double *weights; /* v, n numbers >= 0; rows of weight 0 are left out. NULL: all 1 */
    int intercept;         /* b; default 1 */
} gram_bayes_options;

GRAM_API void gram_bayes_options_init(gram_bayes_options *options, size_t size);

typedef struct gram_bayes_report {
    size_t size;
    int64_t n, d; /* n: rows of weight above 0 */
    double alpha;
    int at_bound;                    /* the search for it ended at an end of its range */
    double shape, scale;             /* a and c: of the posterior of s */
    double freedom;                  /* 2 a */
    double noise;                    /* its mean, c/(a - 1); NaN for a <= 1 */
    double noise_lower, noise_upper; /* it is between these with probability 0.95 */
    /* log p(y): the density of a multivariate t. A prior that is not proper counts as 1/s for the noise and 1 for b, so that values
     * compare models that share it. NaN for alpha = 0 and where the fit is exact. */
    double log_evidence;
    double effective_dimension; /* tr X A^-1 X'V */
    double constant;            /* b */
    double centre_mean;         /* with an intercept, b + m.x at the mean of the features, */
    double centre_deviation;    /* and its deviation; NaN for a <= 1 */
    double train_rmse, train_r2;
    double loo_rmse, loo_r2;              /* each row by the others, alpha held */
    double loo_log_density, loo_coverage; /* mean log density, share of rows within their own 95 % intervals */
    int intercept;
} gram_bayes_report;

typedef struct gram_bayes gram_bayes;

/* Fits n points and y. The caller destroys the result. GRAM_ERROR_DATA when the degrees of freedom are not above 0 or squares of the
 * numbers overflow, GRAM_ERROR_NUMERICAL for alpha = 0 and columns that depend on each other. */
GRAM_API gram_status gram_bayes_fit(gram_context *context, const gram_points *x, const double *y,
                                    const gram_bayes_options *options, gram_bayes **bayes);
/* Takes NULL. */
GRAM_API void gram_bayes_destroy(gram_bayes *bayes);

/* These belong to the fit. */
GRAM_API const gram_bayes_report *gram_bayes_get_report(const gram_bayes *bayes);
GRAM_API const double *gram_bayes_weights(const gram_bayes *bayes);  /* m, d numbers */
GRAM_API const double *gram_bayes_loo_mean(const gram_bayes *bayes); /* n numbers; NaN for rows of weight 0 */
/* b + m.x as a function of the kernel linear: its centre is m, with the coefficient 1. */
GRAM_API gram_function *gram_bayes_function(const gram_bayes *bayes);

/* The scale matrix (c/a) A^-1 of the weights, d x d, row-major, ld >= d. Their covariance is freedom/(freedom - 2) times that. */
GRAM_API gram_status gram_bayes_weight_scale(gram_context *context, const gram_bayes *bayes, double *out, int64_t ld);

/* Student's t of b + w.x at m points: its centre and (unless NULL) its scale, the noise of an observation not counted. With
 * s0 = c/a an observation of weight v has the scale sqrt(scale^2 + s0/v). O(d^2) a point. */
GRAM_API gram_status gram_bayes_predict(gram_context *context, const gram_bayes *bayes, const gram_points *points,
                                        double *mean, double *scale);

/* The fit as a model, as gram_krr_model does. */
GRAM_API gram_status gram_bayes_model(gram_context *context, const gram_bayes *bayes, gram_preparation *preparation,
                                      gram_model **model);

/* t with P(T <= t) = p for Student's t, 0 < p < 1; NaN otherwise. freedom > 0; INFINITY is the normal distribution. */
GRAM_API double gram_student_quantile(double freedom, double p);

GRAM_END

#endif

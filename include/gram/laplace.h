/* Gaussian processes whose observations are not Gaussian, by Laplace's approximation: f ~ GP(0, k),
 * y_i ~ p(y | f(x_i)).
 *
 *     logistic  two classes, p = 1/(1 + exp(-f)) of class 1
 *     softmax   several classes, one function each with the same prior
 *     poisson   counts, the rate is exp(f)
 *     student   y = f + scale t, t of Student's law with nu degrees of freedom: outliers count little
 *
 * Around the mode f = K a the posterior of f is taken as the Gaussian with the mode's curvature W = -d2 log p/df2, and
 * the evidence log p(y) alike:
 *
 *     log q = sum_i log p(y_i | f_i) - a'K a/2 - log|I + W K|/2,   S = (K^-1 + W)^-1 the posterior covariance.
 *
 * A skewed posterior has its mean beyond its mode, and probabilities averaged around the mode are too timid (for one
 * row of class 1 and a prior variance of 1,000: 0.66 where 0.975 is right). Predictions therefore (`correction`)
 *
 *  1. move the mean, with S as it is, to where every row's mean is its tilted mean: under p(y_i | f) times the Gaussian
 *     of row i without its own observation, an integral over one number. In coefficients: a_i is the mean of d log
 *     p/df under that law, so for classes below 1 in absolute value whatever the prior. The condition is that of
 *     expectation propagation. Softmax has a vector in place of the number, and 1,024 points of a fixed sequence in
 *     place of quadrature.
 *  2. (one latent function) average over a marginal that is not Gaussian: times, for every row, the mean of its observation
 *     over the quadratic in its place, given f at the new point. Exact for one row; for two or three rows within 0.012
 *     of the integral for probabilities (prior variances up to 100) and within 3 % for rates (up to 5).
 *
 * Both leave the evidence and its gradient as they are. Without the correction the Gaussian around the mode is averaged over.
 *
 * The mode comes from Newton steps (<gram/logistic.h> with lambda = 1/(2n) and without an intercept has the same one).
 * The amplitude of the prior is the kernel's: `const*rbf`; a constant of f is `const + const*rbf`.
 *
 * Student-t is not log-concave: the mode may be one of several. It is looked for from the mean under Gaussian noise of
 * that scale, and from f = 0 if what is found explains y less well than f = 0 does. Where y is an outlier the curvature
 * W is negative, which the evidence takes as it is. Near a second mode K^-1 + W is nearly singular and says nothing of
 * the posterior's width: variances have the mean of W under the law itself (Fisher's information), (nu + 1)/((nu + 3)
 * scale^2) for every row. The mean is the mode: there is no correction.
 *
 * The Gram matrix is held: n^2 numbers, and a factor of half as many for each latent function. n^3/3 operations a
 * step, 2 n^3 for each class of softmax. f32 points are taken as f64. The same result for the same seed with any
 * number of threads.
 *
 * Failures: what <gram/matrix.h> lists; GRAM_ERROR_DATA names an impossible observation; GRAM_ERROR_ARGUMENT an
 * option out of its range; GRAM_ERROR_NUMERICAL if no mode was found. */
#ifndef GRAM_LAPLACE_H
#define GRAM_LAPLACE_H

#include <gram/model.h>

GRAM_BEGIN

typedef enum gram_likelihood {
    GRAM_LIKELIHOOD_LOGISTIC = 0, /* y = 0 or 1, the class */
    GRAM_LIKELIHOOD_SOFTMAX = 1,  /* y = 0 .. classes - 1 */
    GRAM_LIKELIHOOD_POISSON = 2,  /* y = 0, 1, 2, ... */
    GRAM_LIKELIHOOD_STUDENT = 3
} gram_likelihood;

/* "logistic", "softmax", "poisson", "student"; "none" for anything else. Static. */
GRAM_API const char *gram_likelihood_name(gram_likelihood likelihood);

typedef struct gram_laplace_options {
    size_t size;
    gram_likelihood likelihood;
    int64_t classes;    /* of softmax; 0 (default): the largest y + 1 */
    double nu;          /* of Student-t, > 0; default 4 */
    double scale;       /* of Student-t, > 0; default 1 */
    int correction;     /* of predictions, as above; default 1 */
    double tolerance;   /* of the optimality in the report; default 1e-9 */
    int64_t iterations; /* Newton steps, at most; default 200 */
} gram_laplace_options;

GRAM_API void gram_laplace_options_init(gram_laplace_options *options, size_t size);

/* log q, without the correction, and its gradient by every parameter of the kernel (as the values are), and last by the scale of Student-t (0
 * for the others); gradient may be NULL. The gradient is exact: the mode moves with the parameters, and that is in it.
 * With a gradient 3 n^3 operations more (softmax: 10 n^3 for each class) and n^2 numbers more. */
GRAM_API gram_status gram_laplace_evidence(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                           const double *y, const gram_laplace_options *options, double *value,
                                           double *gradient);

typedef struct gram_laplace_report {
    size_t size;
    int64_t n, d, outputs; /* outputs: latent functions */
    gram_likelihood likelihood;
    double log_evidence;
    double log_likelihood; /* sum_i log p(y_i | f_i) at the mode */
    /* the largest |d log p/df - a| over rows (and classes), over the largest |d log p/df| (of a single function: or |f
     * W|) */
    double optimality;
    double norm; /* of the mode, root of the sum over outputs */
    int64_t iterations;
    int64_t negative; /* rows where log p is convex at the mode: outliers (Student-t) */
    double jitter;
    /* the largest difference between a row's mean and its tilted mean that is left, in posterior deviations of the row; 0
     * without the correction */
    double mismatch;
} gram_laplace_report;

typedef struct gram_laplace gram_laplace;

/* The mode and its curvature; the points are copied. The caller destroys the result. GRAM_NOT_CONVERGED when the
 * tolerance was not reached. A model file keeps kernel, points, y and options: the same call restores the fit, bit for
 * bit. */
GRAM_API gram_status gram_laplace_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                      const gram_laplace_options *options, gram_laplace **laplace);
/* Takes NULL. */
GRAM_API void gram_laplace_destroy(gram_laplace *laplace);

GRAM_API const gram_laplace_report *gram_laplace_get_report(const gram_laplace *laplace);
/* The mode, sum_i a_i k(x_i, .), and the mean of the Gaussian posterior: the same without the correction. Both belong to
 * the fit. */
GRAM_API gram_function *gram_laplace_function(const gram_laplace *laplace);
GRAM_API gram_function *gram_laplace_mean(const gram_laplace *laplace);

/* The fit as a model, as gram_krr_model does, with y and options as they were fitted: predictions find the mode again. values[c]: the
 * number that class c stands for, ascending; NULL: c itself, and for other likelihoods. A target of text is named by the
 * preparation. */
GRAM_API gram_status gram_laplace_model(gram_context *context, const gram_laplace *laplace, const double *y,
                                        const gram_laplace_options *options, gram_preparation *preparation,
                                        const double *values, gram_model **model);

/* Mean and variance of the latent f at new points under the Gaussian posterior, points x outputs; softmax: mean of each output, and `variance`,
 * unless NULL, has the outputs x outputs covariance of each point. O(n^2) a point for the variance, outputs^2 times
 * for softmax. In chunks: memory does not grow with the points. */
GRAM_API gram_status gram_laplace_latent(gram_context *context, const gram_laplace *laplace, const gram_points *points,
                                         double *mean, double *variance);

/* What is predicted of y, averaged over the approximate posterior of f:
 *
 *     logistic  points x 2: probabilities of both classes
 *     softmax   points x classes: probabilities, the mean of the softmax over 4,096 points of a fixed sequence mapped
 *               to the
 *               Gaussian; within about 1e-3 of the integral up to 10 classes, rows add up to 1
 *     poisson   points x 1: the mean rate E exp(f)
 *     student   points x 1: the mean of f
 *
 * O(n^2) a point, and with the correction of one latent function some 20 to 100 integrals over one number, about 1/2 us
 * each, for every row that both knows of the point and is skewed. */
GRAM_API gram_status gram_laplace_predict(gram_context *context, const gram_laplace *laplace, const gram_points *points,
                                          double *out, int64_t ldo);

/* Poisson and Student-t: mean and variance of what y scatters about, exp(f) or f, one number each a point, over the
 * posterior that gram_laplace_predict averages over. */
GRAM_API gram_status gram_laplace_spread(gram_context *context, const gram_laplace *laplace, const gram_points *points,
                                         double *mean, double *variance);

/* ---- choosing parameters by the evidence ---- */

typedef struct gram_laplace_tune_options {
    size_t size;
    const gram_laplace_options
        *laplace;        /* borrowed; NULL: the defaults. scale is where the search of Student-t starts */
    int scale_fixed;     /* keep it; default 0 */
    int64_t rows;        /* tune on at most this many rows, drawn by the seed; 0 (default): 1,000/sqrt(outputs) */
    int64_t restarts;    /* descents from this many of the best starts of a coarse grid; default 2 */
    int64_t evaluations; /* of the evidence with gradient, at most; default 100 */
    /* one length-scale per column: 1 try it, 0 (default) do not, -1 try it up to 30 columns; kept if the evidence gains more than
     * log(rows)/2 for each of them */
    int ard;
} gram_laplace_tune_options;

GRAM_API void gram_laplace_tune_options_init(gram_laplace_tune_options *options, size_t size);

typedef struct gram_laplace_tune_report {
    size_t size;
    int64_t rows, evaluations;
    double log_evidence; /* on those rows, at the result */
    int at_bound;        /* a parameter ended at a bound of its search range */
    int ard_kept;        /* one length-scale per column was better */
} gram_laplace_tune_report;

/* Maximises the evidence over every parameter of the kernel that is not fixed (and the scale), on the log scale, by a
 * quasi-Newton method with exact gradients. Of classes, constants have a log-normal prior around 300 (deviation 1.5). Unset parameters start from the data (constants: 300 for
 * classes, else the variance of y or of its logarithm). *tuned is a new kernel (the caller releases it), *scale (may be
 * NULL) the scale. GRAM_NOT_CONVERGED, with the best result so far, when the evaluations ran out. */
GRAM_API gram_status gram_laplace_tune(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                       const double *y, const gram_laplace_tune_options *options, gram_kernel **tuned,
                                       double *scale, gram_laplace_tune_report *report);

GRAM_END

#endif

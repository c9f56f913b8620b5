/* Kernel logistic regression: classes with probabilities.
 *
 *     two classes      minimise (1/n) sum_i w_i log(1 + exp(-s_i (f(x_i) + b))) + lambda |f|^2
 *     several classes  minimise (1/n) sum_i w_i (-log p_(y_i)(x_i)) + lambda sum_c |f_c|^2
 *
 * with s_i = -1 for class 0 and 1 for class 1, p the softmax of the f_c + b_c, by Newton steps whose objective never
 * grows; the problem is convex, and how well its conditions hold at the end is in the report. f = sum_i a_i k(x_i, .)
 * with 2 n lambda a_i = w_i s_i (1 - p_(y_i)). Rows of weight 0 are left out (n counts the others). With C of support
 * vector machines and of scikit-learn's LogisticRegression, lambda = 1/(2 n C); in the Gaussian-process reading f is
 * the mode of a posterior whose prior covariance is k/(2 n lambda). Two classes as softmax (`softmax`) have f_1 = -f_0
 * = f/2 and thus the same probabilities at twice the lambda. The constants b_c are not penalised; several of them add
 * up to 0.
 *
 * The Gram matrix is held: n^2 numbers, a factor of half as many for each class, and as much again for several
 * classes. n^3/3 operations a step for two classes, 2 n^3 for each of several. f32 points are taken as f64.
 * Deterministic, with any number of threads.
 *
 * Failures: what <gram/matrix.h> lists; GRAM_ERROR_DATA names a y that is not a class, a class without a row, an
 * impossible weight; GRAM_ERROR_ARGUMENT an option out of its range. Rows that are all equal are not a failure: the fit is
 * then the constant that explains the shares of the classes. */
#ifndef GRAM_LOGISTIC_H
#define GRAM_LOGISTIC_H

#include <gram/cross_validation.h>
#include <gram/model.h>

GRAM_BEGIN

typedef struct gram_logistic_options {
    size_t size;
    double lambda;              /* > 0; default 1e-3 */
    const double *weights;      /* n numbers >= 0; NULL: all 1 */
    int intercept;              /* default 1 */
    int softmax;                /* two classes get a function each, as several do; default 0 */
    double tolerance;           /* of the optimality below; default 1e-9 */
    int64_t iterations;         /* at most; default 100 */
    int64_t unpenalised_count;  /* columns of x that enter linearly besides f, and that no penalty acts on; default 0 */
    const int64_t *unpenalised; /* their numbers, from 0 */
} gram_logistic_options;

GRAM_API void gram_logistic_options_init(gram_logistic_options *options, size_t size);

typedef struct gram_logistic_report {
    size_t size;
    int64_t n, d, classes, outputs;
    double lambda;
    double objective; /* as above */
    double log_loss;  /* (weighted) mean of -log p_(y_i) over the rows */
    double accuracy;  /* (weighted) share of rows whose class is the likeliest */
    double norm;      /* |f|, root of the sum over outputs */
    /* how well the conditions hold: the largest |g_i - 2 n lambda a_i|, g_i = -d(w_i loss_i)/df, and |sum_i g_i| if
     * there is an intercept, over the largest |g_i| (of a single function: or |f_i dg_i/df|, which is what rounding
     * can do) */
    double optimality;
    double gradient; /* the norm of the gradient of the objective by f (and b), in the kernel's Hilbert space */
    int64_t iterations;
    double jitter; /* added to the diagonal for a step, the most; the result does not depend on it */
    int intercept;
} gram_logistic_report;

typedef struct gram_logistic gram_logistic;

/* Fits n points x with their classes y[i] = 0, 1, ..., classes - 1, 2 <= classes; every class must occur (with a weight above
 * 0). The caller destroys the result. GRAM_NOT_CONVERGED when the tolerance was not reached: the fit is the best there
 * is. */
GRAM_API gram_status gram_logistic_fit(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                       int64_t classes, const double *y, const gram_logistic_options *options,
                                       gram_logistic **logistic);
/* Takes NULL. */
GRAM_API void gram_logistic_destroy(gram_logistic *logistic);

/* f + b: one output for two classes, else one for each class. Belongs to the fit; all that prediction needs. */
GRAM_API gram_function *gram_logistic_function(const gram_logistic *logistic);
GRAM_API const gram_logistic_report *gram_logistic_get_report(const gram_logistic *logistic);

/* The fit as a model, as gram_krr_model does. values[c]: the number that class c stands for, ascending; NULL: c itself. A target of
 * text is named by the preparation. */
GRAM_API gram_status gram_logistic_model(gram_context *context, const gram_logistic *logistic,
                                         gram_preparation *preparation, const double *values, gram_model **model);

/* out[i * ldo + c] = p_c(x_i) for every class, from a function as above, fitted or read from a file: the logistic
 * function of a single output (classes 0 and 1), the softmax of several. Rows add up to 1. ldo >= number of classes.
 * O(n m d). */
GRAM_API gram_status gram_logistic_probabilities(gram_context *context, const gram_function *function,
                                                 const gram_points *points, double *out, int64_t ldo);

/* ---- choosing width and lambda by cross-validation ---- */

typedef struct gram_logistic_tune_options {
    size_t size;
    int64_t folds;         /* default 5; drawn by the seed, every class spread evenly over them */
    const double *weights; /* as in the fit; they weigh the criterion too */
    int intercept;         /* default 1 */
    int softmax;           /* default 0 */
    /* Factors on all length-scales of the kernel that are not fixed. Unset ones start from the median heuristic. count
     * 0 (default): 1/4, 1/2, 1, 2, 4; of a kernel without length-scales only the factor 1. */
    int64_t width_count;
    const double *widths;
    /* lambda > 0, count 0 (default): mean k(x, x)/(2 n s) for prior variances s = 0.1, 0.316, 1, ..., 10^4 */
    int64_t lambda_count;
    const double *lambdas;
    /* choose on at most this many rows, drawn by the seed, a share of each class; 0 (default): 1,000 for one function,
     * 1,500/sqrt(C) for C of them */
    int64_t rows;
    /* one length-scale per column: 1 try it, 0 (default) do not, -1 try it with 30 rows for each column (up to 20). Their proportions come from kernel
     * ridge regression on the labels; kept if the criterion is better by 5 % */
    int ard;
    const int64_t
        *groups; /* n numbers: folds keep their rows together (<gram/cross_validation.h>); NULL (default): none */
    int ordered; /* rows are in order of time: folds go forward in it; default 0 */
    int64_t unpenalised_count; /* as in gram_logistic_options */
    const int64_t *unpenalised;
} gram_logistic_tune_options;

GRAM_API void gram_logistic_tune_options_init(gram_logistic_tune_options *options, size_t size);

/* The grid point with the least log loss of held-out rows. The Gram matrix is made once for each width and shared by
 * all folds and lambdas; each fold goes through the lambdas from the largest down, every fit starting from the one
 * before. n lambda is what is held from the folds to all rows.
 *
 * *tuned is a new kernel (the caller releases it). Unless NULL: grid gets width_count x lambda_count points (5 x 11 by
 * default), width by width; held_out (n x classes, ldo) the probabilities of every row from the fit without its fold,
 * for calibration, NaN for rows that were not used, or that no fold leaves out. Widths x lambdas x folds fits of the size (1 - 1/folds) rows;
 * memory for 2.2 rows^2 numbers. */
GRAM_API gram_status gram_logistic_tune(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                        int64_t classes, const double *y, const gram_logistic_tune_options *options,
                                        gram_kernel **tuned, double *lambda, gram_grid_report *report,
                                        gram_grid_point *grid, double *held_out, int64_t ldo);

GRAM_END

#endif

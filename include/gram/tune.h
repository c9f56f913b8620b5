/* Choosing the parameters of a kernel and the ridge for kernel ridge regression.
 *
 * Criteria: the leave-one-out, generalised or k-fold cross-validation error, or the marginal likelihood with the amplitude
 * profiled out; all in closed form with exact gradients, minimised by L-BFGS-B on the log scale from starts that the data
 * suggest. Large sets are tuned on a seeded subset of their rows. Deterministic: the same seed, the same result, with any
 * number of threads. */
#ifndef GRAM_TUNE_H
#define GRAM_TUNE_H

#include <gram/krr.h>

GRAM_BEGIN

typedef enum gram_criterion {
    GRAM_CRITERION_LOO = 0, /* mean squared leave-one-out residual */
    GRAM_CRITERION_GCV = 1,
    GRAM_CRITERION_CV = 2, /* mean squared residual, folds left out; folds are drawn by the seed */
    GRAM_CRITERION_ML = 3  /* minus the log marginal likelihood */
} gram_criterion;

typedef struct gram_tune_options {
    size_t size;
    gram_criterion criterion;
    int64_t folds;         /* of CV; default 5 */
    double lambda;         /* where to start; NaN (default): from the data */
    int lambda_fixed;      /* keep lambda */
    const double *weights; /* as for gram_krr_fit */
    int intercept;
    int ard; /* one length-scale per column: 1 try it, 0 do not, -1 (default) try it up to 30 columns; kept only if the
                          * criterion is better than with one for all */
    int64_t rows;        /* tune on at most so many; default 3,000 */
    int64_t restarts;    /* default 3 */
    int64_t evaluations; /* of the criterion with gradient on all tuning rows, at most; default 100 */
    int64_t grid; /* > 0: no gradients, but so many values for each free parameter (at most 3 of them) and for lambda */
} gram_tune_options;

GRAM_API void gram_tune_options_init(gram_tune_options *options, size_t size);

typedef struct gram_tune_report {
    size_t size;
    int64_t rows; /* tuned on */
    int64_t evaluations;
    double value;           /* of the criterion at the result (ML: minus the log marginal likelihood) */
    double value_isotropic; /* with one length-scale for all; NaN if ARD was not tried */
    int ard_kept;
    int at_bound; /* a parameter ended at a bound of its search range */
} gram_tune_report;

/* Chooses every parameter of the kernel that is not fixed, and lambda. Unset ones start from the data, set ones from their
 * value. *tuned is a new kernel (the caller releases it), *lambda is for all n rows: n lambda is what was tuned. */
GRAM_API gram_status gram_krr_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t outputs,
                                   const double *y, int64_t ldy, const gram_tune_options *options, gram_kernel **tuned,
                                   double *lambda, gram_tune_report *report);

/* The criterion at the kernel's values and lambda on all rows, and its gradient by every parameter of the kernel (as the
 * values are, not on the log scale) and last by lambda; gradient may be NULL. */
GRAM_API gram_status gram_krr_criterion(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                        int64_t outputs, const double *y, int64_t ldy, const gram_tune_options *options,
                                        double lambda, double *value, double *gradient);

GRAM_END

#endif

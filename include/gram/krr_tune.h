/* Choosing the parameters of a kernel and the ridge for kernel ridge regression.
 *
 * Criteria: the leave-one-out, generalised or k-fold cross-validation error, or the marginal likelihood with the amplitude
 * profiled out; all in closed form with exact gradients, minimised by a quasi-Newton method on the log scale from starts
 * that the data suggest. Large sets are tuned on a seeded subset of their rows. Deterministic: the same seed, the same
 * result, with any number of threads. Computed in f64, whatever the points are stored in. docs/tuning.md has the formulas
 * and the strategy.
 *
 * Failures: what <gram/matrix.h> and <gram/cholesky.h> list; GRAM_ERROR_ARGUMENT names an option out of its range,
 * GRAM_ERROR_DATA an impossible target or weight. */
#ifndef GRAM_KRR_TUNE_H
#define GRAM_KRR_TUNE_H

#include <gram/cross_validation.h>
#include <gram/krr.h>

GRAM_BEGIN

typedef enum gram_criterion {
    GRAM_CRITERION_LOO = 0, /* mean squared leave-one-out residual, weighted */
    GRAM_CRITERION_GCV = 1, /* mean squared residual over (1 - df/n)^2 */
    GRAM_CRITERION_CV = 2,  /* mean squared residual, folds left out; folds are drawn by the seed */
    GRAM_CRITERION_ML = 3   /* minus the log marginal likelihood, summed over outputs */
} gram_criterion;

typedef struct gram_krr_tune_options {
    size_t size;
    gram_criterion criterion;
    int64_t folds;         /* of CV; default 5 */
    double lambda;         /* > 0, where to start; NaN (default): from the data */
    int lambda_fixed;      /* keep lambda, which may then be 0 */
    const double *weights; /* n numbers >= 0, rows of weight 0 are left out; NULL (default): all 1 */
    int intercept;         /* default 1 */
    /* one length-scale per column: 1 try it, 0 do not, -1 (default) try it up to 1,000 columns; kept only if the criterion is
     * better than with one for all by more than the extra numbers explain */
    int ard;
    int64_t rows;        /* tune on at most this many rows; default 3,000 */
    int64_t restarts;    /* descents from different starts on a small sample of the rows, at most; default 3 */
    int64_t evaluations; /* of the criterion with gradient on all tuning rows, at most; default 300 */
    /* > 0: no gradients, but this many values for each free parameter of the kernel (at most 3 of them) and for lambda,
     * evenly on the scale of the search; `ard`, `restarts` and `evaluations` are not used */
    int64_t grid;
    /* of CV (<gram/cross_validation.h>): n numbers, folds keep the rows of a number together; NULL (default): none */
    const int64_t *groups;
    int ordered;               /* of CV: rows are in order of time, folds go forward in it; default 0 */
    int64_t unpenalised_count; /* as in gram_krr_options */
    const int64_t *unpenalised;
    /* 1: the criterion alone decides. 0 (default): with LOO and GCV several lengths are searched from the likelihood's optimum, too, and up to 600
     * rows that optimum is taken as it is unless the criterion is clearly lower elsewhere: it follows accidents of few rows less. */
    int criterion_alone;
} gram_krr_tune_options;

GRAM_API void gram_krr_tune_options_init(gram_krr_tune_options *options, size_t size);

/* What tuning did. The caller sets size. */
typedef struct gram_krr_tune_report {
    size_t size;
    int64_t rows;           /* tuned on */
    int64_t evaluations;    /* of the criterion on all of them: with gradient, or points of the grid */
    double value;           /* of the criterion on them at the result; NaN if they are too few to have one */
    double value_isotropic; /* with one length-scale for all; NaN if ARD was not tried */
    int ard_kept;
    int at_bound; /* a parameter ended at a bound of its search range */
} gram_krr_tune_report;

/* Chooses every parameter of the kernel that is not fixed, and lambda. Unset ones start from the data, set ones from their
 * value. *tuned is a new kernel (the caller releases it), *lambda is for all n rows of weight above 0: n lambda is what was
 * tuned. A target that a constant explains, and fewer than two rows, leave nothing to choose by: the start is returned.
 * report may be NULL. GRAM_NOT_CONVERGED, with the best result so far, when `evaluations` ran out.
 *
 * O(r^3) for r rows that are tuned on, some 10 to 50 times 2 r^3 operations; memory for 2.5 r^2 numbers (LOO and GCV; CV and
 * ML 1.5 r^2). Progress is reported as "tuning". */
GRAM_API gram_status gram_krr_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t outputs,
                                   const double *y, int64_t ldy, const gram_krr_tune_options *options,
                                   gram_kernel **tuned, double *lambda, gram_krr_tune_report *report);

/* The criterion at the kernel's values and lambda >= 0 on all rows, and its gradient by every parameter of the kernel (as
 * the values are, not on the log scale) and last by lambda; gradient may be NULL. Of the options criterion, folds, weights
 * intercept and unpenalised are used. GRAM_ERROR_NUMERICAL where the criterion has no value to working precision. n^3 operations, with
 * gradient 2 n^3 at most; memory as for gram_krr_tune with r = n. */
GRAM_API gram_status gram_krr_criterion(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                        int64_t outputs, const double *y, int64_t ldy,
                                        const gram_krr_tune_options *options, double lambda, double *value,
                                        double *gradient);

GRAM_END

#endif

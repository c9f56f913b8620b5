/* Kernel ridge regression: minimise (1/n) sum_i w_i |y_i - f(x_i) - b|^2 + lambda |f|^2 over functions f and constants b.
 *
 * The solution is f = sum_i a_i k(x_i, .) with A a = y - b, A = K + n lambda diag(1/w); with an intercept b = 1'A^-1 y/(1'A^-1
 * 1). Rows of weight 0 are left out (n counts the others). lambda = 0 is the ridgeless limit, the function of least norm
 * among the least-squares fits. Values are right to the residual that the report has, whatever the condition of A; where rounding
 * errors show in it (above 1e-8 of the targets), rows with the same coordinates are made one, or pivots of K carry f if the kernel has
 * finitely many features, and the rank is less than n. Instead of the constant alone, T b may stand for a constant and some columns of x
 * (`unpenalised`): b = (T'A^-1 T)^-1 T'A^-1 y. In the Gaussian-process reading n lambda is the noise variance. f32 points are taken as f64.
 */
#ifndef GRAM_KRR_H
#define GRAM_KRR_H

#include <gram/landmarks.h>
#include <gram/model.h>
#include <gram/plan.h>

GRAM_BEGIN

/* How a fit on landmarks chooses its ridge from one factor: not at all, or by the criteria of <gram/krr_tune.h>. */
typedef enum gram_lambda_choice {
    GRAM_LAMBDA_GIVEN = 0,
    GRAM_LAMBDA_BY_LOO = 1,
    GRAM_LAMBDA_BY_GCV = 2,
    GRAM_LAMBDA_BY_ML = 3
} gram_lambda_choice;

typedef struct gram_krr_options {
    size_t size;
    double lambda;         /* >= 0; default 1e-3 */
    const double *weights; /* n numbers >= 0; NULL: all 1 */
    int intercept;         /* default 1 */
    gram_solver solver;
    gram_precision precision;
    int64_t landmarks; /* of Nystrom, at most; 0: up to 3,000 */
    double
        tolerance; /* of the backward error |y - A a|/(|A| |a| + |y|); 0: 1e-14, of cg 1e-10; of sketch that of the relative
                        * residual, 1e-5 */
    int leave_one_out; /* with effective dimension and GCV: 1 yes, 0 no, -1 (default) up to 5,000 points, Nystrom: where it takes seconds */
    int64_t unpenalised_count;  /* columns of x that enter linearly besides f, and that no penalty acts on; default 0 */
    const int64_t *unpenalised; /* their numbers, from 0; solvers exact and cg */
    /* > 0: the ball |f| <= norm (of several outputs the root of the sum of squares) in the place of the penalty; lambda is not used but found, by some
     * 15 fits: report.lambda, next to 0 where the ball does not bind. Default 0 */
    double norm;
    /* of Nystrom: */
    gram_landmark_rule landmark_rule;
    const gram_points *landmark_points; /* those of GRAM_LANDMARKS_GIVEN; d columns */
    int keep_factor; /* two factors of rank^2 numbers, for variances: 1 keep, 0 do not, -1 (default) up to 500 landmarks */
    gram_lambda_choice
        refine; /* choose lambda once more, from 17 values between 1/100 and 100 of the given one, on all rows */
    int certify; /* 1: the gap by a product with the whole matrix, n^2/2 kernel values, however large; default 0: up to 30,000 rows,
                  * else from 1,000 of them; -1: from 1,000 at any size */
} gram_krr_options;

GRAM_API void gram_krr_options_init(gram_krr_options *options, size_t size);

/* What a fit was. A number that was not computed is NaN. Errors are root means over rows (weighted) and outputs. */
typedef struct gram_krr_report {
    size_t size;
    int64_t n, d, outputs;
    double lambda;
    gram_solver solver;
    gram_precision precision;
    double
        residual; /* |y - b - A a|/|y - b|, the worst output; A without any jitter; over y where b is much larger. Nystrom: of its
                      * normal equations */
    double backward_error; /* |y - b - A a|/(|A| |a| + |y - b|), the worst output; |A| is bounded from below */
    double jitter;
    double condition; /* of A, an estimate in the 1-norm */
    int64_t iterations;
    int64_t
        rank; /* landmarks of Nystrom, rank of the preconditioner of cg; else n, or rows that determine the others, or the
                 numerical rank of the ridgeless limit */
    double trace_error; /* Nystrom: tr(K - K~)/tr K */
    double train_rmse, train_r2;
    double loo_rmse, loo_r2, gcv;
    double norm;                    /* |f|, root of the sum over outputs */
    double effective_dimension;     /* tr K A^-1 */
    double log_marginal_likelihood; /* with the amplitude of the kernel profiled out; sum over outputs */
    double trace;                   /* tr K */
    double radius;                  /* sqrt of the largest k(x, x) */
    gram_plan plan;
    int intercept;
    /* Nystrom: what the objective is above that of the whole kernel at most (duality gap), so that lambda |f - f*|^2 <= gap, f* the fit
     * without landmarks; `certificate` bounds |f(x) - f*(x)| for all x with k(x, x) <= radius^2 by it. gap_exact: 0, if a'(K - K~)a in it is
     * estimated from gap_rows rows, and the bounds hold with probability 0.99. NaN for other solvers. */
    double gap, certificate;
    int gap_exact;
    /* what an inexact solve may have done: |f^(x) - f(x)| <= this wherever k(x,x) <= radius^2, f^ being the fit and f the exact solution with
     * the same constant (and slopes). In units of y, the worst output; Nystrom: NaN */
    double error_bound;
    /* Nystrom: bounds the root mean square of the difference to the fitted values of the fit without landmarks, over rows (weighted) and
     * outputs: sqrt(gap n/total weight) */
    double certificate_rms;
    int64_t gap_rows;
} gram_krr_report;

typedef struct gram_krr gram_krr;

/* Fits n points x with y, n x outputs, row-major. The caller destroys the result. GRAM_NOT_CONVERGED if cg did not reach the
 * tolerance, or where, by any solver but Nystrom's, the residual is above 1e-4 of the targets' deviation: lambda is too small for
 * these targets and the digits that K has (cg with a tolerance of the caller's, and f32, are taken as they are). The fit is the best
 * there is, and its report says how good. GRAM_ERROR_NUMERICAL where the normal equations of Nystrom's landmarks are singular to
 * working precision. */
GRAM_API gram_status gram_krr_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t outputs,
                                  const double *y, int64_t ldy, const gram_krr_options *options, gram_krr **krr);
GRAM_API void gram_krr_destroy(gram_krr *krr);

/* Of a fit on landmarks that kept its factors: the rank x rank, row-major, lower triangular L and R with L L' = K_zz and R R' = L^-1
 * K_z'W K_z L^-T + n lambda I: in the Gaussian-process reading the variance of f(x) is k(x, x) -
 * |u|^2 + n lambda |R^-1 u|^2, u = L^-1 k_z(x). Else NULL. They belong to the fit. */
GRAM_API const double *gram_krr_landmark_factor(const gram_krr *krr);
GRAM_API const double *gram_krr_inner_factor(const gram_krr *krr);

/* Belongs to the fit. */
GRAM_API gram_function *gram_krr_function(const gram_krr *krr);
GRAM_API const gram_krr_report *gram_krr_get_report(const gram_krr *krr);
/* Fitted values f(x_i) + b, n x outputs; leave-one-out residuals y_i - f_(-i)(x_i), NULL if they were not computed. Rows of
 * weight 0 have NaN there. */
GRAM_API const double *gram_krr_fitted(const gram_krr *krr);
GRAM_API const double *gram_krr_loo_residuals(const gram_krr *krr);

/* The fit as a model, as the learner (<gram/learn.h>) makes them: to be written, read and predicted from. The preparation says
 * how columns of a table became the points; NULL: the points are all that there is. The caller destroys the model. */
GRAM_API gram_status gram_krr_model(gram_context *context, const gram_krr *krr, gram_preparation *preparation,
                                    gram_model **model);

/* Residuals of every row when its whole fold is left out, with the same n lambda and kernel: P_BB^-1 a_B. fold[i] >= 0 names
 * the fold of row i. n^3 operations. out: n x outputs. */
GRAM_API gram_status gram_krr_fold_residuals(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                             int64_t outputs, const double *y, int64_t ldy,
                                             const gram_krr_options *options, const int64_t *fold, double *out,
                                             int64_t ldo);

/* A whole path of lambda from one tridiagonalisation: 2 n^2 numbers of memory at most, O(n^3) once and O(n^2) each. */
typedef struct gram_krr_path_point {
    double lambda;
    double gcv, loo_rmse, train_rmse, effective_dimension, log_marginal_likelihood;
} gram_krr_path_point;

/* path[i].lambda > 0 is given, the rest is filled in. Unless NULL, coefficients gets count x n x outputs numbers and
 * constants count x outputs. options->lambda is not used. */
GRAM_API gram_status gram_krr_path(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t outputs,
                                   const double *y, int64_t ldy, const gram_krr_options *options, int64_t count,
                                   gram_krr_path_point *path, double *coefficients, double *constants);

GRAM_END

#endif

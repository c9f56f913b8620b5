/* Regression with any convex loss: minimise (1/n) sum_i w_i loss(y_i - f(x_i) - b) + lambda |f|^2 over functions f and
 * constants b.
 *
 *     squared      r^2                                            kernel ridge regression
 *     absolute     |r|                                            the median
 *     Huber        r^2 if |r| <= delta, else 2 delta |r| - delta^2
 *     quantile     max(tau r, (tau - 1) r)                        several levels tau at once
 *     insensitive  max(0, |r| - epsilon)                          support vector regression: C = 1/(2 n lambda)
 *     callback     any smooth convex loss(y, f) of the caller's, by value, slope and curvature: Newton steps whose objective
 *                  never grows; the report's gap is then what is left of the optimality conditions, and dual NaN
 *
 * f = sum_i a_i k(x_i, .) for every loss. Solved by a primal-dual interior-point method on the dual, with one Cholesky
 * factor an iteration: 10 to 30 iterations whatever the loss, and at the end a certificate: no f has an objective
 * below `dual`, and the fit's is `objective`. The Gram matrix is held, n^2 numbers, and a factor of half as many;
 * several quantiles share it and are solved one after the other. f32 points are taken as f64. Deterministic, with any
 * number of threads.
 *
 * Quantile curves may cross where data are few. With `non_crossing` f_s(x_i) + b_s <= f_t(x_i) + b_t for all levels s
 * < t at every training row (of weight above 0) is a constraint of one joint problem, exact up to the tolerance;
 * between rows nothing is promised. q levels then take q^2 times the memory and q^3 times the work of one.
 *
 * Rows may be constraints instead of data (`senses`): f(x_j) + b >= y_j, <= y_j or = y_j, and of rows that are functionals
 * (<gram/functional.h>) the same of slopes, second derivatives, integrals: monotone, convex and positive fits. Then
 *
 *     minimise (1/n) sum_i w_i loss(y_i - f(x_i) - b) + lambda |f|^2 over the f that satisfy all constraint rows,
 *
 * n counting the others. f gains a term for each constraint that holds it, of the right sign, and none for the rest: the conditions
 * of Karush, Kuhn and Tucker. Constraints hold at their rows to the tolerance, in units of the spread of y; between rows nothing is promised.
 * Constraints that no function satisfies, or that only lost digits could, are GRAM_ERROR_DATA, with the row that is missed most. For all losses but the
 * insensitive one with epsilon > 0, and not with non_crossing.
 *
 * With `norm` > 0 the fit is over the ball |f| <= norm in the place of a penalty, which lambda is not used for: the lambda >= 0 that
 * belongs to it is found (report.lambda, a Lagrange multiplier) and is next to 0 where the ball does not bind.
 *
 * Failures: what <gram/matrix.h> lists; GRAM_ERROR_DATA names an impossible target or weight, GRAM_ERROR_ARGUMENT
 * an option out of its range. Rows that are all equal are not a failure: the fit is the constant that the loss asks for.
 * */
#ifndef GRAM_LOSS_H
#define GRAM_LOSS_H

#include <gram/cross_validation.h>
#include <gram/model.h>

GRAM_BEGIN

typedef enum gram_loss_kind {
    GRAM_LOSS_SQUARED = 0,
    GRAM_LOSS_ABSOLUTE = 1,
    GRAM_LOSS_HUBER = 2,
    GRAM_LOSS_QUANTILE = 3,
    GRAM_LOSS_INSENSITIVE = 4,
    GRAM_LOSS_CALLBACK = 5 /* the caller's, of y and f */
} gram_loss_kind;

/* A loss of the caller's at one row: out[0] = loss(y, f), out[1] its slope by f, out[2] its curvature by f, which is at least 0: the loss is convex in
 * f and has a slope everywhere. Numbers that are not finite are a failure of the fit. Called from one thread. */
typedef void (*gram_loss_fn)(void *user, double y, double f, double out[3]);

/* "squared", "absolute", "huber", "quantile", "insensitive", "callback"; "none" for anything else. Static. */
GRAM_API const char *gram_loss_name(gram_loss_kind kind);

/* What a row is. */
typedef enum gram_row_sense {
    GRAM_ROW_FITTED = 0,   /* data: its loss counts */
    GRAM_ROW_AT_LEAST = 1, /* a constraint: f + b is at least y there, */
    GRAM_ROW_AT_MOST = 2,  /* at most y, */
    GRAM_ROW_EQUAL = 3     /* y; its weight does not matter */
} gram_row_sense;

typedef struct gram_loss_options {
    size_t size;
    gram_loss_kind kind;        /* default GRAM_LOSS_ABSOLUTE */
    double lambda;              /* > 0; default 1e-3 */
    const double *weights;      /* n numbers >= 0, rows of weight 0 are left out (n counts the others); NULL: all 1 */
    int intercept;              /* default 1 */
    double delta;               /* of Huber, > 0; default 1 */
    double epsilon;             /* of insensitive, >= 0; default 0.1 */
    int64_t quantile_count;     /* 0 (default): the median */
    const double *quantiles;    /* increasing, between 0 and 1 */
    int non_crossing;           /* default 0 */
    double tolerance;           /* of the relative gap; default 1e-8 */
    int64_t iterations;         /* at most; default 100 */
    int64_t unpenalised_count;  /* columns of x that enter linearly besides f, and that no penalty acts on; default 0 */
    const int64_t *unpenalised; /* their numbers, from 0 */
    const gram_row_sense *senses; /* n; NULL (default): all rows are data */
    double norm;                  /* of the ball, instead of lambda; default 0: none */
    gram_loss_fn callback;        /* of GRAM_LOSS_CALLBACK */
    void *user;
} gram_loss_options;

GRAM_API void gram_loss_options_init(gram_loss_options *options, size_t size);

/* loss(r) of the options' kind (a callback's at y = r, f = 0); `quantile` says which level. NaN for anything that is not a kind, and for options without a size. */
GRAM_API double gram_loss_value(const gram_loss_options *options, int64_t quantile, double r);

typedef struct gram_loss_report {
    size_t size;
    int64_t n, d, outputs;
    double lambda;
    double objective;  /* as above, summed over quantiles */
    double dual;       /* a lower bound of every objective */
    double gap;        /* (objective - dual)/objective; of outputs that are solved alone the worst */
    double loss;       /* (weighted) mean loss of the rows, summed over quantiles */
    double norm;       /* |f|, root of the sum over outputs */
    int64_t n_support; /* rows with a coefficient that counts */
    double crossing;   /* the most that a lower quantile lies above a higher one at a training row; 0: nowhere */
    int64_t iterations;
    double jitter;       /* the most that a step's factor needed; the certificate does not depend on it */
    int64_t constraints; /* rows that are constraints */
    int64_t active;      /* those that hold f */
    double violation;    /* the most that one is missed by */
} gram_loss_report;

typedef struct gram_loss gram_loss;

/* Fits n points with targets y. One output, or one for each quantile. The caller destroys the result.
 * GRAM_NOT_CONVERGED when the tolerance was not reached: the report says how far the fit may be from the optimum. */
GRAM_API gram_status gram_loss_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                   const gram_loss_options *options, gram_loss **fit);
/* Takes NULL. */
GRAM_API void gram_loss_destroy(gram_loss *fit);

/* Both belong to the fit. */
GRAM_API gram_function *gram_loss_function(const gram_loss *fit);
GRAM_API const gram_loss_report *gram_loss_get_report(const gram_loss *fit);

/* The fit as a model, as gram_krr_model does. options: those of the fit. */
GRAM_API gram_status gram_loss_model(gram_context *context, const gram_loss *fit, const gram_loss_options *options,
                                     gram_preparation *preparation, gram_model **model);

typedef struct gram_loss_tune_options {
    size_t size;
    /* borrowed; NULL: the defaults. The criterion is this loss, summed over quantiles; lambda and non_crossing are not used */
    const gram_loss_options *loss;
    int64_t folds;       /* default 5 */
    int64_t width_count; /* the grid as in gram_logistic_tune_options */
    const double *widths;
    /* by default mean k(x, x)/(2 n s v) with s as there, and v the mean distance of y from its mean (1 for squared
     * loss, and v/delta but at least 1 for Huber) */
    int64_t lambda_count;
    const double *lambdas;
    int64_t rows; /* default 2,000 */
    int ard;      /* one length-scale per column, as in gram_logistic_tune_options */
    const int64_t
        *groups; /* n numbers: folds keep their rows together (<gram/cross_validation.h>); NULL (default): none */
    int ordered; /* rows are in order of time: folds go forward in it; default 0 */
} gram_loss_tune_options;

GRAM_API void gram_loss_tune_options_init(gram_loss_tune_options *options, size_t size);

/* Width and lambda with the least mean loss of held-out rows, as gram_logistic_tune does it: one Gram matrix for each
 * width, n lambda held from the folds to all rows. grid (width_count x lambda_count, 5 x 11 by default) and held_out
 * (n x outputs, ldo; NaN for rows that were not used, or that no fold leaves out) may be NULL. */
GRAM_API gram_status gram_loss_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                    const gram_loss_tune_options *options, gram_kernel **tuned, double *lambda,
                                    gram_grid_report *report, gram_grid_point *grid, double *held_out, int64_t ldo);

GRAM_END

#endif

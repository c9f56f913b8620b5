/* Smoothing splines: minimise
 *
 *     (1/n) sum_i w_i (y_i - f(x_i))^2 + lambda int (f^(m))^2
 *
 * over all functions f of one variable; polynomials of degree below m (`order`) cost nothing. f is a piecewise polynomial of degree
 * 2m - 1 with its knots at the distinct x, of degree m - 1 beyond them: m = 1 joins means by lines, m = 2 is the cubic smoothing spline.
 * On a circle (`period` > 0) f(x + period) = f(x), and only constants cost nothing. lambda is in the units of x: books that sum without
 * 1/n have n lambda; scipy's make_smoothing_spline has lam = n lambda, R's smooth.spline n lambda/range^3 (which it prints as lambda).
 *
 * Everything is exact and takes O(n) operations and memory for each lambda, some microseconds for a row: x in any order and of any
 * range, equal x pooled. f is the posterior mean of a process whose m-th derivative is white noise, and its deviation that of the
 * posterior (Wahba 1983); src/method/spline/spline_chain.c says how. lambda is given or chosen:
 *
 *     GCV   least mean squared residual over (1 - df/n)^2           df the trace of the map from y to the fitted values
 *     LOO   least mean squared leave-one-out residual, r_i/(1 - h_i), exact
 *     ML    greatest likelihood of the process with the polynomials integrated out (REML), the noise profiled out
 *
 * With several columns f(x) = b + f_1(x_1) + ... + f_d(x_d) is an additive model, sum_j lambda_j int (f_j^(m))^2 its penalty and each lambda_j
 * chosen by GCV or ML together with the others (`lambda` is given for all). Knots are at the distinct values of a column, or at 10 n^(2/9)
 * (at least 60) quantiles of them; variances are exact at the knots, a little small between them. O(n (2 m d)^2 + p^3) for p functions, some 60 to 200 for each column.
 *
 * One thread; the same bits for any number of threads. A fit may be used by several threads.
 *
 * Common failures: GRAM_ERROR_ARGUMENT; GRAM_ERROR_DATA for y, x or weights that are not finite and for fewer distinct x than the
 * order (2 on a circle); GRAM_ERROR_UNSUPPORTED for a circle of several columns and their criterion LOO; GRAM_ERROR_NUMERICAL for numbers
 * that are too far apart and for columns that make each other; GRAM_ERROR_BUDGET, GRAM_ERROR_MEMORY, GRAM_ERROR_CANCELLED. */
#ifndef GRAM_SPLINE_H
#define GRAM_SPLINE_H

#include <gram/krr_tune.h>
#include <gram/model.h>

GRAM_BEGIN

/* w_i (y_i - f(x_i))^2 may be another loss, but not of thin plates; f then has no variances, and lambda is chosen by the loss of left-out folds
 * (criterion CV, whatever is asked for) on at most 5,000 rows; of several columns a factor common to the lambdas, whose proportions are those of squared
 * loss by ML. O(n) for each of some 15 to 40 steps, of several columns O(n d^2 + p^3), p the knots of all. */
typedef enum gram_spline_loss {
    GRAM_SPLINE_LOSS_SQUARED = 0,     /* r^2, r = y - f */
    GRAM_SPLINE_LOSS_ABSOLUTE = 1,    /* |r| */
    GRAM_SPLINE_LOSS_HUBER = 2,       /* r^2 if |r| <= delta, else 2 delta |r| - delta^2 */
    GRAM_SPLINE_LOSS_QUANTILE = 3,    /* max(q r, (q - 1) r) */
    GRAM_SPLINE_LOSS_INSENSITIVE = 4, /* max(0, |r| - epsilon) */
    GRAM_SPLINE_LOSS_LOGISTIC = 5     /* log(1 + exp(f)) - y f, y 0 or 1: f are the log odds of 1 */
} gram_spline_loss;

/* "squared", "absolute", "huber", "quantile", "insensitive", "logistic"; "none" for anything else. Static. */
GRAM_API const char *gram_spline_loss_name(gram_spline_loss loss);

/* What splines of several columns are. */
typedef enum gram_spline_shape {
    GRAM_SPLINE_ADDITIVE = 0,
    GRAM_SPLINE_THIN_PLATE =
        1 /* 2 or 3 columns: penalty sum_(|a|=m) (m!/a!) int (D^a f)^2, 2m above the columns; O(n^3), 6 n^2 numbers */
} gram_spline_shape;

typedef struct gram_spline_options {
    size_t size;
    int64_t order;            /* m, 1 to 4; default 2 */
    double lambda;            /* > 0; NaN (default): by the criterion */
    gram_criterion criterion; /* GCV (default), LOO or ML */
    const double *weights;    /* n numbers >= 0; rows of weight 0 are left out (n counts the others). NULL: all 1 */
    double period;            /* > 0: a circle; default 0 */
    int bands;                /* keep what variances need, 3 m^2 numbers for each x; default 1 */
    gram_spline_loss loss;    /* default squared */
    gram_spline_shape shape;  /* of several columns; default additive */
    double quantile;          /* between 0 and 1; default 0.5 */
    double delta, epsilon;    /* of Huber, > 0, default 1; of insensitive, >= 0, default 0.1 */
    int64_t folds;            /* of CV; default 5 */
    const int64_t
        *groups; /* n numbers: folds keep their rows together (<gram/cross_validation.h>); NULL (default): none */
    int ordered; /* rows are in order of time: folds go forward in it; default 0 */
} gram_spline_options;

GRAM_API void gram_spline_options_init(gram_spline_options *options, size_t size);

/* What a fit was. A number that there is none of is NaN. Means of rows are weighted. */
typedef struct gram_spline_report {
    size_t size;
    int64_t n, d, knots; /* rows of weight above 0; columns; distinct x, of several columns the knots of all */
    int64_t order;
    double lambda, period;      /* lambda is NaN where columns have one each */
    double sigma;               /* of the noise: sqrt(RSS/(n - df)), by ML that of the greatest likelihood */
    double effective_dimension; /* df */
    double train_rmse, train_r2, loo_rmse, loo_r2, gcv;
    double roughness; /* int (f^(m))^2 */
    double
        log_marginal_likelihood; /* of y, the polynomials (with coefficients of x^j) integrated out, at its best sigma */
    double criterion;            /* what was made least; NaN if lambda was given */
    int64_t evaluations;         /* lambdas that were tried */
    int64_t tuned_rows;          /* rows that lambda was chosen by */
    double train_loss;           /* of other losses: mean over the rows, */
    double objective;            /* (1/n) sum w loss + lambda int (f^(m))^2, */
    double gap;         /* how far that may be above its minimum, relative (logistic: what the last step changed), */
    int64_t iterations; /* and steps */
    int at_bound; /* -1: the least lambda is best, which all but interpolates; 1: the greatest, all but a polynomial */
} gram_spline_report;

typedef struct gram_spline gram_spline;

/* Fits n points with y. The caller destroys the result. */
GRAM_API gram_status gram_spline_fit(gram_context *context, const gram_points *x, const double *y,
                                     const gram_spline_options *options, gram_spline **spline);
/* Takes NULL. */
GRAM_API void gram_spline_destroy(gram_spline *spline);

/* All belong to the fit. Fitted values and leave-one-out residuals of the n rows; NaN for rows of weight 0. */
GRAM_API const gram_spline_report *gram_spline_get_report(const gram_spline *spline);
GRAM_API const double *gram_spline_fitted(const gram_spline *spline);
GRAM_API const double *gram_spline_loo_residuals(const gram_spline *spline);

/* lambda_j and the degrees of freedom of each component, d numbers; they belong to the fit. One column: NULL. */
GRAM_API const double *gram_spline_lambdas(const gram_spline *spline);
GRAM_API const double *gram_spline_freedoms(const gram_spline *spline);

/* The derivative by column `column` of that order (0: the value, whatever the column) of f at any points, and the variance of it given the
 * data, noise not included; variance may be NULL. Orders up to 2m - 1 have values, those below m variances (the process has no more
 * derivatives): GRAM_ERROR_UNSUPPORTED otherwise, and for a variance without `bands`. O(log n) each for one column, O(p^2) for several. */
GRAM_API gram_status gram_spline_predict(gram_context *context, const gram_spline *spline, const gram_points *x,
                                         int64_t column, int64_t derivative, double *mean, double *variance);
/* The same for one component f_j of several columns, which has mean 0 over the rows of the fit; x has all d columns. */
GRAM_API gram_status gram_spline_predict_component(gram_context *context, const gram_spline *spline, int64_t component,
                                                   const gram_points *x, double *mean, double *variance);

/* The fit as a model, as gram_krr_model does. */
GRAM_API gram_status gram_spline_model(gram_context *context, const gram_spline *spline, gram_preparation *preparation,
                                       gram_model **model);

GRAM_END

#endif

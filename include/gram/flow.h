/* Gradient flow on the squared loss, in closed form: what a model whose tangent kernel is h has learnt at time t.
 *
 * Parameters follow minus the gradient of the loss (1/n) sum_i w_i |f(x_i) - y_i|^2 from an initial function f_0. With H the Gram
 * matrix of h, S = diag(sqrt(w)), M = S H S = V diag(l) V' and the initial error E_0 = f_0(X) - y,
 *
 *     S (f_t(X) - y) = V exp(-2 t l/n) V' S E_0,     f_t(x) = f_0(x) - h(x, X) S V diag((1 - exp(-2 t l/n))/l) V' S E_0,
 *
 * where the quotient is 2t/n at l = 0. One eigendecomposition serves all times: n^3 operations, memory for 2 n^2 numbers while it is
 * made, n^2 afterwards. Each direction v_j is learnt at its own rate l_j, large ones first, which is why stopping early regularises
 * much like a ridge of lambda = 1/(2t). t = 0 is f_0, exactly; t = INFINITY is the ridgeless regression of y - f_0. Directions whose
 * eigenvalue is below rounding, n eps l_1, cannot be told from those of eigenvalue 0: their coefficients grow as those do, 2t/n, as
 * long as 2 t eps l_1 is below 1/1000, and fade to 0 from there on; the limit is without them.
 *
 * `parameters` says what follows the gradient:
 *
 *     function       f itself, in the space of the kernel k: h = k (a network of infinite width, with k its ntk)
 *     coefficients   f = sum_i theta_i k(x_i, .) by its coefficients theta: h(x, y) = sum_i k(x, x_i) k(x_i, y), H = K^2 on the
 *                    points. The limit is again the ridgeless regression with k; not with weights, but by descent
 *
 * f_0 is 0; or, with `intercept`, the (weighted) mean of each target, a constant that does not move; or the caller's.
 * Rows of weight 0 are left out (n counts the others). f32 points are taken as f64.
 *
 * Common failures: GRAM_ERROR_ARGUMENT; GRAM_ERROR_NUMERICAL for a kernel with a negative eigenvalue on these points, along which the
 * flow would grow for ever (`function` only; it is named); what <gram/matrix.h> and <gram/eigen.h> list. The same bits for any
 * number of threads. */
#ifndef GRAM_FLOW_H
#define GRAM_FLOW_H

#include <gram/cross_validation.h>
#include <gram/model.h>

GRAM_BEGIN

typedef enum gram_flow_parameters { GRAM_FLOW_FUNCTION = 0, GRAM_FLOW_COEFFICIENTS = 1 } gram_flow_parameters;

/* "function", "coefficients". Static. */
GRAM_API const char *gram_flow_parameters_name(gram_flow_parameters parameters);

typedef struct gram_flow_options {
    size_t size;
    gram_flow_parameters parameters;
    const double *weights; /* n numbers >= 0; NULL: all 1 */
    int intercept;         /* f_0 is the mean of the target; default 0. Not with `initial` */
    const double *initial; /* f_0 at the points, n x outputs, rows ldi apart; NULL: 0, or the mean */
    int64_t ldi;
    double step;        /* of descent, below n/l_1; 0: n/(4 l_1), and at least 200 steps to each time */
    int64_t most_steps; /* of descent; default 100,000 */
} gram_flow_options;

GRAM_API void gram_flow_options_init(gram_flow_options *options, size_t size);

typedef struct gram_flow_report {
    size_t size;
    int64_t n, d, outputs;
    int64_t rank;     /* eigenvalues above rounding */
    double largest;   /* l_1 */
    double tolerance; /* of rounding, n eps times the largest eigenvalue of S K S */
    gram_flow_parameters parameters;
    int intercept;
} gram_flow_report;

typedef struct gram_flow gram_flow;

/* Finds directions and rates; nothing is the caller's afterwards. y is n x outputs, rows ldy apart; options may be NULL. The caller
 * destroys it (takes NULL). A flow never changes: threads may share one. */
GRAM_API gram_status gram_flow_create(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t outputs,
                                      const double *y, int64_t ldy, const gram_flow_options *options, gram_flow **flow);
GRAM_API void gram_flow_destroy(gram_flow *flow);

/* All belong to the flow. Eigenvalues l_j of M from the largest down (of S K S squared for coefficients), n numbers; the initial
 * error in their directions, v_j'S E_0, n x outputs. */
GRAM_API const gram_flow_report *gram_flow_get_report(const gram_flow *flow);
GRAM_API const double *gram_flow_eigenvalues(const gram_flow *flow);
GRAM_API const double *gram_flow_errors(const gram_flow *flow);

/* f_t at the points for `count` times >= 0, in any order, INFINITY among them: out is count x n x outputs without gaps, n the
 * caller's rows; those of weight 0 have NaN. O(n^2 count outputs). */
GRAM_API gram_status gram_flow_values(gram_context *context, const gram_flow *flow, int64_t count, const double *times,
                                      double *out);

/* f_t at any points z, count x |z| x outputs. `initial`: |z| x outputs values of f_0 there, without gaps; NULL only where f_0 is 0
 * or the mean. Coefficients are refined until they reproduce f_t at the points, so that it costs a few products with K. */
GRAM_API gram_status gram_flow_predict(gram_context *context, const gram_flow *flow, int64_t count, const double *times,
                                       const gram_points *z, const double *initial, double *out);

/* f_t - f_0 as a function of the kernel's space; f_t itself where f_0 is 0 or the mean, which is its constant. `residual` (NULL: not
 * wanted): how far its values at the points are from f_t - f_0, root mean square over that of y about f_0. */
GRAM_API gram_status gram_flow_function(gram_context *context, const gram_flow *flow, double time,
                                        gram_function **function, double *residual);

/* What is known of f_t without new data. f_t(X) = f_0(X) + A (y - f_0(X)), A = S^-1 V (1 - exp(-2 t l/n)) V'S (A of the mean too with
 * an intercept). Errors are root means over rows (weighted) and outputs. */
typedef struct gram_flow_point {
    double time; /* given */
    double train_rmse;
    double effective_dimension; /* tr A */
    double gcv;                 /* mean squared error over (1 - tr A/n)^2; NaN at tr A = n */
    /* of the residuals (y_i - f_t(x_i))/(1 - A_ii): leave-one-out exactly for ridge regression, approximately for a flow */
    double approximate_loo_rmse;
    double norm; /* |f_t - f_0| in the space of the kernel, root of the sum over outputs */
} gram_flow_point;

/* O(n^2) for each time. */
GRAM_API gram_status gram_flow_curve(gram_context *context, const gram_flow *flow, int64_t count,
                                     gram_flow_point *points);

/* The model of time t, as the learner makes them. `initial` is f_0 as a function if the options had its values (NULL otherwise); the
 * model keeps both. The preparation may be NULL. The caller destroys the model. */
GRAM_API gram_status gram_flow_model(gram_context *context, const gram_flow *flow, double time, gram_function *initial,
                                     gram_preparation *preparation, gram_model **model);

/* ---- the same by gradient descent, without a matrix in memory ---- */

typedef struct gram_flow_descent {
    size_t size;
    int64_t steps;     /* in all */
    double step;       /* the largest */
    double largest;    /* l_1, from above */
    double error;      /* in any direction at the last time, of its part of E_0: about 0.27/steps, if those are short */
    double train_rmse; /* at the last time, */
    double norm;       /* and of f - f_0 there */
} gram_flow_descent;

/* Coefficients of f_t - f_0, count x n x outputs (rows of weight 0 have 0), for finite times that ascend; constants: outputs numbers, f_0 if it
 * is the mean, else 0. a <- a - (2 step/n) W (K a + f_0 - y), O(n^2 (d + outputs)) and one product with K for a step, two for
 * `coefficients`; memory O(n outputs). A step of n/l_1 or more would diverge: GRAM_ERROR_ARGUMENT; so is one that needs more than
 * most_steps. The report (its size set) may be NULL. */
GRAM_API gram_status gram_flow_descend(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                       int64_t outputs, const double *y, int64_t ldy, const gram_flow_options *options,
                                       int64_t count, const double *times, double *coefficients, double *constants,
                                       gram_flow_descent *report);

/* ---- when to stop ---- */

typedef enum gram_flow_criterion {
    GRAM_FLOW_APPROXIMATE_LOO = 0, /* of gram_flow_point, squared, */
    GRAM_FLOW_GCV = 1,             /* and this */
    GRAM_FLOW_CV = 2,              /* mean squared error on folds that are left out */
    GRAM_FLOW_HOLDOUT = 3          /* on one fold only: validation. The fit afterwards is of all rows again */
} gram_flow_criterion;

typedef struct gram_flow_tune_options {
    size_t size;
    gram_flow_criterion criterion;
    int64_t folds; /* of CV; default 5. Of HOLDOUT: one row in so many is held out */
    const int64_t *groups;
    int ordered;
    int ard;      /* one length-scale per column: 1 try it, 0 do not, -1 (default) up to 30 columns; one output only */
    int64_t rows; /* at most so many are tuned on; default 1,200 */
    int64_t width_count; /* factors on the free length-scales; 0: 1/16, 1/8, ..., 4 if there are any */
    const double *widths;
    int64_t
        time_count; /* to choose among, above 0; 0: four to a decade, from where the first direction begins to be learnt on */
    const double *times;
    double
        longest; /* of those by default, at most this many times n/l_1, where l_1 <= sum_i w_i k(x_i, x_i); 0 (default): 1e9 */
} gram_flow_tune_options;

GRAM_API void gram_flow_tune_options_init(gram_flow_tune_options *options, size_t size);

/* The length-scales (those that are free) and the time with the least error: an eigendecomposition for each width, or each width
 * and fold, serves all times. *tuned gets every number that was free; the caller releases it. `options` as for gram_flow_create. The
 * report (its size set; points are of the grid, fits are eigendecompositions) may be NULL. */
GRAM_API gram_status gram_flow_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t outputs,
                                    const double *y, int64_t ldy, const gram_flow_options *options,
                                    const gram_flow_tune_options *tune, gram_kernel **tuned, double *time,
                                    gram_grid_report *report);

GRAM_END

#endif

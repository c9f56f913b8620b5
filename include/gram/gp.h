/* Gaussian-process regression: y_i = m(x_i) + f(x_i) + e_i, f ~ GP(0, k), e_i ~ N(0, noise/w_i + row_noise_i).
 *
 * A = K + diag(noise). The mean m = T beta is zero, a constant, or linear in x, plus columns that the caller gives; beta is
 * estimated by generalised least squares, beta = (T'A^-1 T)^-1 T'A^-1 y, so that the posterior mean is kernel ridge
 * regression's with n lambda = noise, or integrated out under a flat prior. Variances are never negative.
 *
 * One object, and several solvers behind it:
 *
 *     exact     a Cholesky factor of A: n^3/3 operations, n^2/2 numbers. Where K is singular to working precision and there is
 *               (almost) no noise, see "Little noise" below. With GRAM_PRECISION_MIXED a factor in f32, half the
 *               memory, refined by conjugate gradients to the accuracy of f64; a matrix that is too ill-conditioned for it is
 *               GRAM_ERROR_NUMERICAL. It needs noise in every row
 *     markov    points of one column and a kernel with a finite state (gram_markov_supports): the Kalman filter and smoother,
 *               exact in O(n), in one thread
 *     cg        conjugate gradients on A, matrix-free: O(n rank) memory. log |A| is an estimate with its error (stochastic
 *               Lanczos quadrature), and variances are never too small. It needs noise in every row (functionals without get 1e-10 of
 *               their own variance, and a preconditioner from neighbours). Points that are stored
 *               in f32 let residuals fall to about 1e-5 only, which is then the tolerance
 *     inducing  an approximation: the process is known through its values at m positions Z (Titsias 2009). With
 *               Q = K_xz K_zz^-1 K_zx and D = diag(noise),
 *                   bound = log N(y | T beta, Q + D) - sum_i (k_ii - q_ii)/(2 D_ii)  <=  log N(y | T beta, K + D).
 *               O(n m^2) operations, O(m^2) memory; it needs noise in every row, and white() is better said as noise
 *     vecchia   an approximation: each row is conditioned on its m nearest predecessors, in an order from coarse to fine and in the metric of
 *               the kernel's lengths (Vecchia 1988), p(y) ~ prod_i p(y_i | y_N(i)); predictions on the m nearest of all rows. O(n m^3)
 *               operations, O(n m) memory; with m = n - 1 exact. Rows are conditioned on as they were observed, with their noise
 *     auto      the first of these that fits: markov from 1,000 points on, exact up to 30,000 (mixed where the f64 factor does
 *               not fit), cg up to 100,000, inducing. gram_gp_plan says which, before the fit
 *
 * Little noise (exact). Values of f are right to the residual that the report has, whatever the condition of A: that of the system
 * as it was asked for, without a jitter. Where rounding errors show in it (above 1e-8 of the targets), rows with the same
 * coordinates are made one, with the mean of their targets and the noise that has; and where the kernel has finitely many features,
 * or there is no noise at all, pivots of K carry the function; the least residual is taken. So noise = 0 is the limit of small
 * noise: rows with the same coordinates and different targets get their (weighted) mean, and `linear` is least squares. The
 * report's rank is then less than n, and the likelihood NaN: there is no density. A residual that stays above 1e-4 of the targets'
 * deviation is GRAM_NOT_CONVERGED: the model says what these targets contradict in all digits that K has, and more noise is the
 * answer. The fit can be used all the same. gram_gp_likelihood, whose value and derivatives would be rounding errors where a row has
 * no variance but those given others, is GRAM_ERROR_NUMERICAL there; searches turn round.
 *
 * All give the same bits for any number of threads; cg and inducing draw probes and positions by the context's seed.
 *
 * Common failures: GRAM_ERROR_ARGUMENT, GRAM_ERROR_DIMENSION, GRAM_ERROR_UNSET, GRAM_ERROR_DATA (a number that is not
 * finite is named), GRAM_ERROR_NUMERICAL (not positive definite beyond repair), GRAM_ERROR_BUDGET, GRAM_ERROR_MEMORY,
 * GRAM_ERROR_CANCELLED; GRAM_ERROR_DOMAIN (markov: a point below the origin of min or sobolev); GRAM_ERROR_UNSUPPORTED for
 * what a solver cannot do, which the message names. */
#ifndef GRAM_GP_H
#define GRAM_GP_H

#include <gram/krr.h>
#include <gram/model.h>
#include <gram/plan.h>

GRAM_BEGIN

typedef enum gram_mean { GRAM_MEAN_ZERO = 0, GRAM_MEAN_CONSTANT = 1, GRAM_MEAN_LINEAR = 2 } gram_mean;

/* "zero", "constant", "linear". Static. */
GRAM_API const char *gram_mean_name(gram_mean mean);

/* ---- options ---- */

/* Of conjugate gradients, and of the refinement of a factor in f32. */
typedef struct gram_gp_cg_options {
    size_t size;
    double tolerance;          /* relative residual |b - A x|/|b| of a fit and its variances; default 1e-8 */
    double training_tolerance; /* of gram_gp_likelihood; default 1e-6 */
    int64_t rank;              /* of the preconditioner; default 0: 64 + 8 sqrt(n), less if the budget is small */
    int64_t probes;            /* for log |A|; default 16. At least 2, or 0: no likelihood */
    int64_t iterations;        /* at most; default 1000 */
    /* 1 to 256: the preconditioner is made of the conditionals of rows given so many neighbours, in place of a low rank; for rough kernels in
     * few columns. Default 0 (functionals: 160) */
    int64_t neighbours;
} gram_gp_cg_options;

GRAM_API void gram_gp_cg_options_init(gram_gp_cg_options *options, size_t size);

typedef enum gram_inducing_choice {
    GRAM_INDUCING_DRAWN = 0,  /* rows drawn with the probability of the variance that is left (pivoted Cholesky) */
    GRAM_INDUCING_GREEDY = 1, /* rows where it is largest: outliers first */
    GRAM_INDUCING_KMEANS = 2  /* centres of k-means, in units of the columns' deviations */
} gram_inducing_choice;

typedef struct gram_gp_inducing_options {
    size_t size;
    int64_t count;                /* of inducing points; default 0: 16 sqrt(n); at most n are used */
    gram_inducing_choice choice;  /* from at most max(4096, 8 count) rows, drawn by the context's seed */
    const gram_points *positions; /* instead of a choice: start here, `count` is not used; NULL: choose */
    int learn_parameters;         /* the kernel's numbers that are not fixed; default 0 */
    int learn_noise;              /* default 0 */
    int learn_positions;          /* default 0 */
    int64_t evaluations; /* of bound and gradient, at most; default 0: what takes about two minutes, 5 to 100 */
    double tolerance;    /* the search ends when three steps gain less than this each; default 1e-3 */
    double jitter;       /* of K_zz, relative; default 1e-10; more is added where that is too little */
} gram_gp_inducing_options;

GRAM_API void gram_gp_inducing_options_init(gram_gp_inducing_options *options, size_t size);

enum { GRAM_VECCHIA_MOST = 1000 };

typedef struct gram_gp_vecchia_options {
    size_t size;
    int64_t neighbours; /* of a row, 1 to GRAM_VECCHIA_MOST; default 0: 30; at most n - 1 are used */
} gram_gp_vecchia_options;

GRAM_API void gram_gp_vecchia_options_init(gram_gp_vecchia_options *options, size_t size);

/* All pointers are borrowed for the call. */
typedef struct gram_gp_options {
    size_t size;
    gram_mean mean;          /* default GRAM_MEAN_CONSTANT */
    int flat;                /* integrate the mean's parameters out under a flat prior; default 0: estimate them */
    double noise;            /* variance >= 0; default 1e-2. 0 interpolates */
    const double *row_noise; /* n known variances added to it; NULL: none */
    int64_t columns;         /* further columns of the mean, besides `mean` */
    const double *basis;     /* n x columns, row-major, ld */
    int64_t ld;
    const double
        *weights;       /* n numbers > 0: row i has the noise noise/w_i, as a mean of w_i observations; NULL: all 1 */
    gram_solver solver; /* default GRAM_SOLVER_AUTO */
    gram_precision precision;     /* AUTO (default), F64 or, for the exact solver, MIXED */
    const gram_plan *plan;        /* AUTO: what gram_gp_plan chose earlier, to be kept to; NULL: chosen anew */
    const gram_gp_cg_options *cg; /* NULL: the defaults */
    const gram_gp_inducing_options *inducing; /* NULL: the defaults */
    const gram_gp_vecchia_options *vecchia;   /* NULL: the defaults */
} gram_gp_options;

GRAM_API void gram_gp_options_init(gram_gp_options *options, size_t size);

/* ---- the choice of a solver ---- */

/* 1 if the kernel is one of a process on the line with a finite state, else 0, and *why (unless NULL) names the first part that
 * is not: the context's message, valid until its next call. Such kernels are
 *
 *     matern (nu = 0.5, 1.5, 2.5, 3.5, 4.5), laplace, laplace1, powexp(p=1), min, sobolev, cosine, linear, poly, white
 *
 * and constants; sums, products and powers of them, with a state of at most 32 numbers: matern has nu + 1/2, cosine 2,
 * sobolev a, min, linear and constants 1; a sum adds them up, a product multiplies them. Parameters may be unset. */
GRAM_API int gram_markov_supports(gram_context *context, const gram_kernel *kernel, const char **why);

/* What gram_gp_fit will do with n points of d columns, before it is begun: solver, precision, inducing points (`landmarks`),
 * memory, time and the reason. The kernel's numbers may be unset, and a noise of NaN is one that is not known yet. What was
 * asked for and cannot be is GRAM_ERROR_ARGUMENT, GRAM_ERROR_UNSUPPORTED or GRAM_ERROR_BUDGET; plan->solver and precision are
 * then those that were refused. */
GRAM_API gram_status gram_gp_plan(gram_context *context, const gram_kernel *kernel, int64_t n, int64_t d,
                                  const gram_gp_options *options, gram_plan *plan);

/* ---- the likelihood ---- */

/* The log marginal likelihood of y, and its gradient by every parameter of the kernel (as the values are) and last by the
 * noise; gradient may be NULL. Estimated mean: -y'P y/2 - log|A|/2 - n/2 log 2 pi with P = A^-1 - A^-1 T (T'A^-1 T)^-1 T'A^-1;
 * flat: less log|T'A^-1 T|/2, and n - q in place of n.
 *
 * exact: n^3 operations, with or without a gradient n^2/2 numbers of memory. markov: O(n s^3) for a state of s numbers, with a
 * gradient some three times that. cg: an estimate; the probes depend on the seed only, so that values at near parameters have
 * near errors; GRAM_NOT_CONVERGED is a value with a residual above the tolerance. With a factor in f32 the trace in the
 * gradient is nearly exact, for 4 n^3 operations. inducing: the bound, at options->inducing->positions or chosen ones. vecchia: that
 * of the conditionals, with its exact gradient, neighbours held. */
GRAM_API gram_status gram_gp_likelihood(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                        const double *y, const gram_gp_options *options, double *value,
                                        double *gradient);

/* ---- the posterior ---- */

typedef struct gram_gp gram_gp;

/* What a solver does not compute is NaN, or 0 where it is a count. */
typedef struct gram_gp_report {
    size_t size;
    int64_t n, d;
    gram_solver solver; /* that was used: never AUTO */
    gram_precision precision;
    double noise;
    double log_marginal_likelihood;
    double likelihood_error; /* cg: standard error of it over the probes, */
    double quadrature_error; /* and on top of that an estimate of what a finite number of nodes misses */
    double bound;            /* inducing: below the log marginal likelihood */
    double
        trace_error; /* inducing: tr(K - Q)/tr(K), what the inducing points do not explain; cg: of its preconditioner */
    double jitter;   /* that a factor needed: inducing, and exact without rows that could be made one */
    double condition; /* exact: infinite where the rank is less than n */
    /* |y - m - A a|/|y - m|, A without any jitter; over the deviation of y where m is much larger than y */
    double residual;
    double backward_error;
    double train_rmse, train_r2;
    double loo_rmse, loo_r2; /* exact up to 5,000 rows, markov, and vecchia: from neighbours */
    double loo_log_density;  /* mean over rows of log p(y_i | others), the parameters held */
    double loo_coverage;     /* share of rows within their own 95 % leave-one-out interval */
    /* of a mean with nothing but a constant: the deviation of its posterior under a flat prior, which is normal about the estimate,
     * and the estimate's standard error, (1'A^-1 1)^(-1/2) */
    double constant_deviation;
    /* inducing points; cg: of the preconditioner; vecchia: neighbours; exact: rows that determine the others, n unless K is singular to working precision */
    int64_t rank;
    int64_t iterations;  /* of conjugate gradients */
    int64_t evaluations; /* of the bound, in learning */
    int64_t states;      /* of the Markov process */
    int converged;       /* 0: the evaluations or the iterations ran out, or the noise is lost to rounding (exact) */
    /* cg, mixed: |f^(x) - f(x)| <= this wherever k(x,x) is at most what it is on the rows, f^ being the posterior mean as found and f the exact one,
     * both about the same m; in units of y */
    double error_bound;
} gram_gp_report;

/* Conditions on n points x and y. Copies the points. With inducing->learn_..., learns first what it names (every number of the
 * kernel must have a value to start from). A factor in f32 that AUTO chose and the matrix does not allow gives way to cg.
 * GRAM_NOT_CONVERGED: cg has a residual above the tolerance, the evaluations of the bound ran out, or exact has too little noise
 * (above); the best that was found stands. The caller destroys it. */
GRAM_API gram_status gram_gp_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                 const gram_gp_options *options, gram_gp **gp);
/* Takes NULL. */
GRAM_API void gram_gp_destroy(gram_gp *gp);

/* All of these belong to the gp. */
GRAM_API const gram_gp_report *gram_gp_get_report(const gram_gp *gp);
/* sum_i a_i k(x_i, .), with the constant of the mean and the kernel as it was learnt; slopes of the linear mean (d numbers,
 * NULL: none) and coefficients of the given columns are beside it. markov: a_i is 0 where a row has no noise, since only
 * gram_gp_predict gives the posterior mean there. vecchia: near the posterior mean, which gram_gp_predict has from neighbours. */
GRAM_API gram_function *gram_gp_function(const gram_gp *gp);
GRAM_API const double *gram_gp_slopes(const gram_gp *gp);
GRAM_API const double *gram_gp_column_coefficients(const gram_gp *gp);
/* Leave-one-out means and variances of y_i; n numbers each. NULL if there are none: see gram_gp_report. */
GRAM_API const double *gram_gp_loo_mean(const gram_gp *gp);
GRAM_API const double *gram_gp_loo_variance(const gram_gp *gp);

/* Posterior mean and variance of f + m at m points; `basis` (points x columns) as in the fit, NULL if it had none. Unless
 * variance is NULL: of f + m, without noise. In chunks: memory does not grow with the points (markov: O(n + m)). A variance
 * takes O(n^2) a point (exact), some iterations of O(n^2 (d + 64)) for each 64 points (cg; GRAM_NOT_CONVERGED is a result with
 * larger variances), O(m^2) a point for m inducing points, O(m^3) for m neighbours; markov O(n + m) for all of them. */
GRAM_API gram_status gram_gp_predict(gram_context *context, const gram_gp *gp, const gram_points *points,
                                     const double *basis, int64_t ldb, double *mean, double *variance);

/* The posterior of one term of a sum kernel: for k = k_1 + k_2 + ... the process is f_1 + f_2 + ..., and this is the mean and
 * (unless NULL) the variance of f_1 alone, without m, for `term` = k_1: one of gram_kernel_term(kernel, .), or a sum of some
 * of them. Means of all terms and m add up to that of gram_gp_predict; variances do not, since what one term takes another
 * gives. O(n^2) a point for the variance. exact in f64 only. */
GRAM_API gram_status gram_gp_predict_term(gram_context *context, const gram_gp *gp, gram_kernel *term,
                                          const gram_points *points, double *mean, double *variance);

/* The posterior covariance of f + m between all pairs: points x points, row-major, ld. exact in f64 only. */
GRAM_API gram_status gram_gp_covariance(gram_context *context, const gram_gp *gp, const gram_points *points,
                                        const double *basis, int64_t ldb, double *covariance, int64_t ld);

/* `count` joint draws of f + m from the posterior, drawn by the context's seed: out[i * ldo + j] is draw j at point i. The
 * jitter that the covariance needed goes to *jitter unless it is NULL. exact in f64: m^3 operations for m points. markov: exact,
 * without jitter, O(count (n + m)). Other solvers: <gram/gp_path.h>. */
GRAM_API gram_status gram_gp_draw(gram_context *context, const gram_gp *gp, const gram_points *points,
                                  const double *basis, int64_t ldb, int64_t count, double *out, int64_t ldo,
                                  double *jitter);

/* The same from the prior GP(0, k). GRAM_SOLVER_EXACT draws jointly, GRAM_SOLVER_MARKOV in O(m); GRAM_SOLVER_AUTO takes markov
 * where it can be. */
GRAM_API gram_status gram_gp_draw_prior(gram_context *context, gram_kernel *kernel, const gram_points *points,
                                        gram_solver solver, int64_t count, double *out, int64_t ldo, double *jitter);

/* out[i * ldo + l]: derivative of the posterior mean by coordinate l at point i. Not markov, not vecchia. */
GRAM_API gram_status gram_gp_gradient(gram_context *context, const gram_gp *gp, const gram_points *points, double *out,
                                      int64_t ldo);

/* ---- parts ---- */

/* What a posterior is made from again: what a model file keeps. q is the number of the mean's parameters: 0, 1 or 1 + d, and
 * `columns`. inducing: positions, coefficients and factors, no data. exact: coefficients and factor, or the data, from which it
 * is factored anew. vecchia: the data, with coefficients, beta and mean_factor if they are not to be found again. markov and cg: the
 * data. */
typedef struct gram_gp_parts {
    size_t size;
    gram_solver solver;       /* never AUTO */
    gram_precision precision; /* F64 or MIXED */
    int64_t n, columns;
    gram_mean mean;
    int flat;
    double noise;
    const gram_points *centres; /* the rows, or m inducing points */
    const double *y;            /* n: the data, with the next four as in gram_gp_options. */
    const double *row_noise;
    const double *weights;
    const double *basis;
    int64_t ld;
    const double *coefficients; /* of the centres: the mean is t'beta + sum_j c_j k(z_j, .) */
    const double *beta;         /* q; NULL if q = 0 */
    const double *factor;       /* exact: L of A row by row, n (n + 1)/2 numbers, as gram_gp_factor gives it, or NULL;
                                   inducing: m x m, lower triangle, L L' = K_zz with its jitter */
    const double *inner;        /* inducing: m x m, lower triangle: L_B, L_B L_B' = I + L^-1 K_zx D^-1 K_xz L^-T */
    const double *mean_weights; /* centres x q and q x q (lower): what the variance of a flat mean needs; else NULL */
    const double *mean_factor;
    int64_t neighbours; /* vecchia */
} gram_gp_parts;

/* The fit as a model, as gram_krr_model does, with y and options as they were fitted. A mean with further columns, and a linear one
 * that is integrated out, are GRAM_ERROR_UNSUPPORTED. */
GRAM_API gram_status gram_gp_model(gram_context *context, const gram_gp *gp, const double *y,
                                   const gram_gp_options *options, gram_preparation *preparation, gram_model **model);

/* Fills parts, whose size the caller sets (GRAM_ERROR_ARGUMENT if not); the arrays belong to the gp. The data, which it does not
 * keep, are NULL, and so is the factor of the exact solver. */
GRAM_API gram_status gram_gp_describe(const gram_gp *gp, gram_gp_parts *parts);

/* The factor of the exact solver in f64, n (n + 1)/2 numbers: row i of L has i + 1 of them. Other solvers, that is mixed too:
 * GRAM_ERROR_UNSUPPORTED. */
GRAM_API gram_status gram_gp_factor(gram_context *context, const gram_gp *gp, double *out);

/* The same posterior from parts, all copied: predictions have the same bits. Of its report only what the parts say is known, and
 * there are no leave-one-out numbers of the exact solver. Numbers that are not finite and diagonals that are not positive are
 * GRAM_ERROR_DATA. */
GRAM_API gram_status gram_gp_create(gram_context *context, gram_kernel *kernel, const gram_gp_parts *parts,
                                    gram_gp **gp);

/* The parts that a model of the method "gp" holds, as the learner or the command wrote it: up to parts->size, borrowed from it.
 * Its target is less the model's fact "offset". GRAM_ERROR_DATA names what it lacks. */
GRAM_API gram_status gram_gp_read_parts(gram_context *context, const gram_model *model, gram_gp_parts *parts);

GRAM_END

#endif

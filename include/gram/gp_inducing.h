/* Gaussian-process regression with inducing points: the collapsed variational bound (Titsias 2009).
 *
 * The process is known through its values at m positions Z. With Q = K_xz K_zz^-1 K_zx and D = diag(noise),
 *
 *     bound = log N(y | T beta, Q + D) - sum_i (k_ii - q_ii)/(2 D_ii)  <=  log N(y | T beta, K + D),
 *
 * with equality when Z has all points. beta is estimated by generalised least squares in the low-rank model, or integrated
 * out (then the first term is less log |T'A^-1 T|/2, as in gram_gp_likelihood; the bound is one on that too). Rows are
 * streamed in blocks: O(n m^2) time and O(m^2) memory. K_zz gets a jitter, relative to its diagonal, which keeps the bound a
 * bound and is part of what is differentiated. white() in a kernel is better said as noise: inducing points cannot tell it.
 *
 * Common failures: those of <gram/gp.h>; a noise of 0 is GRAM_ERROR_ARGUMENT. The same bits for any number of threads. */
#ifndef GRAM_GP_INDUCING_H
#define GRAM_GP_INDUCING_H

#include <gram/gp.h>

GRAM_BEGIN

typedef enum gram_inducing_choice {
    GRAM_INDUCING_DRAWN = 0,  /* rows drawn with the probability of the variance that is left (pivoted Cholesky) */
    GRAM_INDUCING_GREEDY = 1, /* rows where it is largest: outliers first */
    GRAM_INDUCING_KMEANS = 2  /* centres of k-means, in units of the columns' deviations */
} gram_inducing_choice;

typedef struct gram_gp_inducing_options {
    size_t size;
    const gram_gp_options *gp;    /* mean and noise, borrowed; NULL: the defaults. noise + row_noise > 0 in every row */
    int64_t count;                /* of inducing points; default 0: 16 sqrt(n); at most n are used */
    gram_inducing_choice choice;  /* from at most max(4096, 8 count) rows, drawn by the context's seed */
    const gram_points *positions; /* instead of a choice: start here, `count` is not used; NULL: choose */
    int learn_parameters;         /* the kernel's numbers that are not fixed; default 0 */
    int learn_noise;              /* default 0 */
    int learn_positions;          /* default 0 */
    int64_t evaluations;          /* of bound and gradient, at most; default 100 */
    double tolerance;             /* the search ends when three steps gain less than this each; default 1e-3 */
    double jitter;                /* of K_zz, relative; default 1e-10; more is added where that is too little */
} gram_gp_inducing_options;

GRAM_API void gram_gp_inducing_options_init(gram_gp_inducing_options *options, size_t size);

typedef struct gram_gp_inducing_value {
    double bound;
    double log_likelihood; /* its first term */
    double trace;          /* tr(K - Q): what the inducing points do not explain */
    double trace_share;    /* of tr(K) */
    double jitter;         /* relative */
} gram_gp_inducing_value;

/* The bound at inducing points z, and unless NULL its gradient by every parameter of the kernel (as the values are), last by
 * the noise, and by the positions: position_gradient[i * ld + l]. Of the options gp and jitter are used. */
GRAM_API gram_status gram_gp_inducing_bound(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                            const double *y, const gram_points *z,
                                            const gram_gp_inducing_options *options, gram_gp_inducing_value *value,
                                            double *gradient, double *position_gradient, int64_t ld);

typedef struct gram_gp_inducing gram_gp_inducing;

typedef struct gram_gp_inducing_report {
    size_t size;
    int64_t n, d, m;
    double noise;
    gram_gp_inducing_value value; /* a model made from parts: as they say */
    int64_t evaluations;          /* of the search; 0 without one */
    int converged;
} gram_gp_inducing_report;

/* Chooses inducing points, learns what the options ask for (every number of the kernel must have a value to start from) and
 * conditions on the data. GRAM_NOT_CONVERGED: the evaluations ran out, the best that was found stands. Keeps nothing of the
 * size of the data. The caller destroys it. */
GRAM_API gram_status gram_gp_inducing_fit(gram_context *context, gram_kernel *kernel, const gram_points *x,
                                          const double *y, const gram_gp_inducing_options *options,
                                          gram_gp_inducing **gp);
/* Takes NULL. */
GRAM_API void gram_gp_inducing_destroy(gram_gp_inducing *gp);

GRAM_API const gram_gp_inducing_report *gram_gp_inducing_get_report(const gram_gp_inducing *gp);
/* The kernel, with what was learnt; it belongs to the gp. */
GRAM_API gram_kernel *gram_gp_inducing_kernel(const gram_gp_inducing *gp);

/* As gram_gp_predict, O(m^2) a point. The variance is max(k(x,x) - |L^-1 k_z|^2, 0) + |L_B^-1 L^-1 k_z|^2, never negative. */
GRAM_API gram_status gram_gp_inducing_predict(gram_context *context, const gram_gp_inducing *gp,
                                              const gram_points *points, const double *basis, int64_t ldb, double *mean,
                                              double *variance);

/* All that a prediction needs, as arrays: what a model file keeps. q is the number of the mean's parameters: 0, 1 or 1 + d,
 * and `columns`. */
typedef struct gram_gp_inducing_parts {
    size_t size;
    int64_t m, d, columns;
    gram_mean mean;
    int flat;
    double noise;
    const double *positions;    /* m x d */
    const double *coefficients; /* m: the mean is t'beta + sum_j c_j k(z_j, .) */
    const double *beta;         /* q; NULL if q = 0 */
    const double *factor;       /* m x m, lower triangle: L, L L' = K_zz with its jitter */
    const double *inner;        /* m x m, lower triangle: L_B, L_B L_B' = I + L^-1 K_zx D^-1 K_xz L^-T */
    const double *mean_weights; /* m x q and q x q (lower): what the variance of a flat mean needs; else NULL */
    const double *mean_factor;
    int64_t n; /* for the report */
    gram_gp_inducing_value value;
} gram_gp_inducing_parts;

/* Fills parts, whose size the caller sets (GRAM_ERROR_ARGUMENT if not); the arrays belong to the gp. */
GRAM_API gram_status gram_gp_inducing_describe(const gram_gp_inducing *gp, gram_gp_inducing_parts *parts);

/* The same model from parts, all copied. Numbers that are not finite and diagonals that are not positive are
 * GRAM_ERROR_DATA. */
GRAM_API gram_status gram_gp_inducing_create(gram_context *context, gram_kernel *kernel,
                                             const gram_gp_inducing_parts *parts, gram_gp_inducing **gp);

GRAM_END

#endif

/* Between the files of Laplace's approximation. */
#ifndef GRAM_METHOD_LAPLACE_LAPLACE_FIT_H
#define GRAM_METHOD_LAPLACE_LAPLACE_FIT_H

#include <gram/laplace.h>

#include "points/weighted_problem.h"
#include "solve/likelihood/likelihood.h"
#include "solve/likelihood/likelihood_softmax.h"

enum { GRAM_LAPLACE_CHUNK = 128 }; /* columns at once */

/* The mode, the curvature there and the evidence, for rows in memory. */
typedef struct gram_laplace_state {
    gram_memory *memory; /* of the context; borrowed */
    gram_problem problem;
    gram_laplace_options options;
    gram_likelihood_rule rule;
    int64_t n, outputs;
    gram_loss_matrix k;
    double *y;         /* as the likelihood takes it: the class -1 or 1 of logistic */
    double *a, *f, *p; /* n x outputs; p of softmax: probabilities */
    double *curvature; /* n; not for softmax */
    gram_curvature h;  /* one latent function, or */
    gram_softmax_curvature g;
    double log_likelihood, log_evidence, quadratic, optimality, jitter;
    int64_t iterations;
    int converged;
} gram_laplace_state;

gram_status gram_laplace_options_read(gram_context *context, const char *name, const char *argument,
                                      const gram_laplace_options *options, gram_laplace_options *known);

/* Checks, finds the mode and evaluates the evidence. On failure too, free is due. */
gram_status gram_laplace_state_make(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                                    const double *y, const gram_laplace_options *options, gram_laplace_state *s);
void gram_laplace_state_free(gram_context *context, gram_laplace_state *s);

/* Posterior variances of the rows, K_ii - k_i'Z k_i (n numbers), and for softmax their covariances (n x C x C). */
gram_status gram_laplace_variance(gram_context *context, const gram_laplace_state *s, double *out);
gram_status gram_laplace_covariance_softmax(gram_context *context, const gram_laplace_state *s, double *out);

/* ---- the posterior mean, and what the rows say beyond mean and variance ---- */

/* One latent function: what marginals at new points are made of. */
typedef struct gram_laplace_rows {
    int64_t n;
    double *numbers;        /* holds the others, n each */
    double *y, *a, *mean;   /* the observation as the likelihood takes it; mean = K a */
    double *variance;       /* posterior */
    double *curvature;      /* W */
    double *second, *third; /* the tilted law over the Gaussian is 1 + second He_2 + third He_3 + ... in deviations */
} gram_laplace_rows;

gram_status gram_laplace_rows_take(gram_context *context, int64_t n, gram_laplace_rows *rows);
void gram_laplace_rows_free(gram_memory *memory, gram_laplace_rows *rows);

/* Fills the rows with the mean at which every row's tilted mean is its mean; *left: the largest difference that is
 * left, in deviations of the row. For likelihoods with a ratio. */
gram_status gram_laplace_match(gram_context *context, const gram_laplace_state *s, gram_laplace_rows *rows,
                               double *left);
/* Softmax: a, n x C. */
gram_status gram_laplace_match_softmax(gram_context *context, const gram_laplace_state *s, double *out, double *left);

/* What is averaged over a marginal: 1/(1 + exp(-f)), or exp(f). */
typedef struct gram_laplace_average {
    double mean;
    double rest;     /* the mean of 1/(1 + exp(f)); 0 for exp(f) */
    double variance; /* of exp(f), if asked for */
} gram_laplace_average;

/* The averages at `count` points, whose latent mean, variance and covariance with the rows (n x count) under the
 * Gaussian are given. `spread`: variances are asked for. */
gram_status gram_laplace_average_points(gram_context *context, const gram_likelihood_rule *rule,
                                        const gram_laplace_rows *rows, int64_t count, const double *mean,
                                        const double *variance, const double *covariance, int spread,
                                        gram_laplace_average *out);

/* The gradient of the evidence; uses up the curvature and the matrix of the state. */
gram_status gram_laplace_differentiate(gram_context *context, gram_laplace_state *s, double *gradient);
gram_status gram_laplace_differentiate_softmax(gram_context *context, gram_laplace_state *s, double *gradient);

/* sum_ij w_ij dk_ij/dtheta with w + sum_c (a_c/2 + v_c) a_c' in place of w, n x n; w is overwritten. */
gram_status gram_laplace_contract(gram_context *context, const gram_laplace_state *s, const double *v, double *w,
                                  double *gradient);

/* The mean of 1/(1 + exp(-f)), f ~ N(mean, variance), to 1e-10 and, where it is small, to a few digits less
 * relatively. */
double gram_logistic_normal(double mean, double variance);

/* Averages the softmax over N(mean, covariance); `normal` has classes x `count` standard normal numbers, a multiple of 64, each
 * point used with both signs. work: gram_softmax_normal_numbers, aligned as gram_take does. */
void gram_softmax_normal(const gram_vecmath_f64 *math, int64_t classes, const double *mean, const double *covariance,
                         int64_t count, const double *normal, double *work, double *out);
int64_t gram_softmax_normal_numbers(int64_t classes);
/* The same for n of them, in parallel: means n x classes, covariances n x classes^2, out ldo apart. */
gram_status gram_softmax_normals(gram_context *context, int64_t classes, int64_t n, const double *mean,
                                 const double *covariance, int64_t count, const double *normal, double *out,
                                 int64_t ldo);

/* L L' = covariance, row-major, lower; a pivot that rounding made nonpositive is 0. */
void gram_normal_factor(int64_t m, const double *covariance, double *l);
/* Halton's sequence mapped to the normal law: d x count numbers. */
void gram_normal_sequence(int64_t count, int64_t d, double *out);

#endif

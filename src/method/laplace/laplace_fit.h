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

/* v = (I - Z K) s, s = d log q/df: K v is by how much the posterior mean differs from the mode, to first order. n x
 * outputs; variance (n; not for softmax) gets the posterior variance of the rows. */
gram_status gram_laplace_shift(gram_context *context, const gram_laplace_state *s, double *variance, double *v);
gram_status gram_laplace_shift_softmax(gram_context *context, const gram_laplace_state *s, double *v);

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

/* Halton's sequence mapped to the normal law: d x count numbers. */
void gram_normal_sequence(int64_t count, int64_t d, double *out);

#endif

/* Softmax: several classes, one latent number of each for every row. Arrays of rows and classes are n x C, row-major. */
#ifndef GRAM_SOLVE_LIKELIHOOD_LIKELIHOOD_SOFTMAX_H
#define GRAM_SOLVE_LIKELIHOOD_LIKELIHOOD_SOFTMAX_H

#include "solve/factored_matrix.h"

/* p = softmax(f) for one row; returns log sum_c exp(f_c). p may be f. */
double gram_softmax_row(int64_t classes, const double *f, double *p);

/* ---- the Hessian ----
 *
 * For a row of weight w the curvature is w (diag(p) - p p'). With D = diag(w_i p_ic)/c and R the sum over classes,
 * that is the limit of (D^-1 + t R R')^-1 for large t, hence
 *
 *     G = (K + V^-1)^-1 = E - E R M^-1 R'E,   E_c = (K + D_c^-1)^-1,   M = sum_c E_c,
 *     log|I + K V| = sum_c log|I + K D_c| + log|M| - sum_i log sum_c D_ic:
 *
 * C inverses and one factor of size n instead of one factor of size C n. K stands for C copies of itself. */
typedef struct gram_softmax_curvature {
    int64_t n, classes;
    gram_cholesky **inverse; /* E_c */
    gram_cholesky *sum;      /* factor of M */
    double log_determinant;
    double jitter;
    double *column;
} gram_softmax_curvature;

/* d: n x C numbers w_i p_ic/c. 4 n^3/3 operations for each class. On failure too, free is due. */
gram_status gram_softmax_curvature_make(gram_context *context, const gram_loss_matrix *k, int64_t classes,
                                        const double *d, gram_softmax_curvature *h);
void gram_softmax_curvature_free(gram_memory *memory, gram_softmax_curvature *h);

/* out = G v, both n x C, not overlapping. */
gram_status gram_softmax_curvature_apply(gram_context *context, const gram_softmax_curvature *h, const double *v,
                                         double *out);

/* out[j * C * C ...] = [c = c'] (diagonal[j] - k_j'E_c k_j) + (E_c k_j)'M^-1 (E_c' k_j): the posterior covariance of
 * the classes at a point whose kernel values with the rows are k_j, column j of k (n x count). `work` has (C + 1) n
 * count numbers. */
gram_status gram_softmax_curvature_covariance(gram_context *context, const gram_softmax_curvature *h, int64_t count,
                                              const double *k, const double *diagonal, double *work, double *out);

/* ---- the mode: the least of -sum_i w_i log p_(y_i) + (c/2) sum_c a_c'K a_c, f_c = K a_c + T b_c ---- */

typedef struct gram_softmax_mode {
    const gram_loss_matrix *k;
    int64_t classes;
    const double *y; /* the class of each row */
    const double *weights;
    double c;
    int64_t q;                 /* columns that no penalty acts on, */
    const double *unpenalised; /* n x q */
    int64_t most;
    double tolerance;
    int may_end;           /* before the tolerance is met, when there is a limit of time */
    double *a, *b;         /* n x C and q x C: where to start (sum over classes 0), and the result */
    double *f, *p;         /* n x C, made here: values and probabilities */
    double objective, fit; /* fit: -sum_i w_i log p_(y_i) */
    double optimality, gradient;
    int64_t iterations;
    double jitter;
    int converged;
} gram_softmax_mode;

/* ---- a step towards it by conjugate gradients (likelihood_softmax_step.c) ---- */

typedef struct gram_softmax_step {
    const gram_softmax_mode *mode; /* with p at (a, b) */
    const double *r, *kr;          /* n x C: g - c a, and K times it */
    double tolerance;              /* of what is left of the equations, relative */
    int64_t most;                  /* iterations */
    double *da, *kda, *db;         /* n x C, K da, q x C: the result */
    int64_t iterations;
    int solved; /* 0: `most` were not enough */
} gram_softmax_step;

gram_status gram_softmax_step_iterate(gram_context *context, gram_softmax_step *step);

gram_status gram_softmax_mode_find(gram_context *context, gram_softmax_mode *mode);

#endif

/* What the ways of solving a regression problem fill in. */
#ifndef GRAM_METHOD_KRR_KRR_SOLUTION_H
#define GRAM_METHOD_KRR_KRR_SOLUTION_H

#include <gram/features.h>
#include <gram/operator.h>

#include "points/weighted_problem.h"
#include "solve/cholesky/reduced_matrix.h"

/* Residuals over the size of the targets: what needs no repair, and above what a fit is no answer. */
static const double GRAM_SOLUTION_WELL = 1e-8, GRAM_SOLUTION_PROMISED = 1e-4;

typedef struct gram_solution {
    int intercept;        /* that of the problem */
    int not_converged;    /* iterations ended before the tolerance was reached */
    double tolerance;     /* of the backward error, of iterations; 0: the way's own */
    gram_plan plan;       /* what is to be done; precision and leave_one_out become what was done */
    gram_points *centres; /* p->x, or landmarks of it */
    double *a;            /* count x m coefficients of the centres; count = points of `centres` */
    double *b;            /* q x m: of what no penalty acts on; m constants first, if there are any */
    double *projected;    /* n: P_ii for leave-one-out, NULL if it was not computed */
    double *noise; /* n x m: y - b - f, where a is of some rows only; NULL: not known yet, or the ridge times a */
    double error;  /* |y - b - A a| over the size of the targets, the worst output */
    double reduced_error; /* landmarks: |g - (G + n lambda) c|/|g| of their normal equations, the worst output */
    double *full;         /* n x m: A^-1 (y - b), where a is of some rows only; NULL: a */
    double jitter;
    double condition, log_determinant, effective_dimension, trace_error; /* NaN: not known */
    int64_t iterations, rank;
    double lambda;       /* that was chosen; 0: none was */
    double trace_missed; /* landmarks: tr(K - K~) */
    double *factors;     /* landmarks: L and R, rank x rank each, if they are kept */
} gram_solution;

/* Takes a, b (for `count` centres) and fills in what is not known yet. */
gram_status gram_solution_make(gram_context *context, const gram_problem *p, int64_t count, gram_solution *s);
void gram_solution_free(gram_context *context, gram_solution *s);

/* (K + ridge) a = y - b by Cholesky in f64 or in f32 with refinement, or by the pseudo-inverse without a ridge. */
gram_status gram_solve_exact(gram_context *context, const gram_problem *p, gram_solution *s);

/* (krr_repair.c) May rounding errors show in the values of the solution? */
gram_status gram_solution_suspect(gram_context *context, const gram_problem *p, const gram_solution *s, int *suspect);
/* Where they do: 1 to *repaired if there was something better, with everything that a factor would be asked for. */
gram_status gram_solution_repair(gram_context *context, const gram_problem *p, gram_solution *s, int *repaired);
/* The same over the rows that `way` chooses, if *residual is larger than what that has, and that at most `enough`. */
gram_status gram_solution_reduce(gram_context *context, const gram_problem *p, gram_reduction way, double enough,
                                 gram_solution *s, double *residual);

/* Where the ridgeless limit of a strictly positive definite kernel does not interpolate: a and b (NULL: none) that a factor gave
 * with a jitter, or pivots, if they do better. */
gram_status gram_solution_interpolate(gram_context *context, const gram_problem *p, const double *a, const double *b,
                                      double jitter, gram_solution *s);

/* The root mean squared error, as in the report, of what rows with the same coordinates differ by: no function has less. */
gram_status gram_solution_least_error(gram_context *context, const gram_problem *p, double *rmse);

/* The same by conjugate gradients alone. */
gram_status gram_solve_cg(gram_context *context, const gram_problem *p, gram_solution *s);

/* By sketch-and-project, where not even a preconditioner of all rows has room; the tolerance is of the relative residual. */
gram_status gram_solve_sketch(gram_context *context, const gram_problem *p, gram_solution *s);

/* Least squares over the span of the functions of landmarks. */
gram_status gram_solve_landmarks(gram_context *context, gram_problem *p, const gram_krr_options *options,
                                 gram_solution *s);

/* At most `count` landmarks of the problem, as the options say. */
gram_status gram_landmark_map(gram_context *context, const gram_problem *p, int64_t count,
                              const gram_krr_options *options, gram_features **map);

enum { GRAM_KRR_SMALL_FACTOR = 500 };

/* (krr_certificate.c) How far the fit on landmarks may be from that with the whole kernel. residuals: y - b - f, n x m; norm: |f|. Sets
 * gap and certificates of the report. `certify` as in the options. */
gram_status gram_landmark_certificate(gram_context *context, const gram_problem *p, const gram_solution *s, int certify,
                                      const double *residuals, gram_krr_report *report);

/* (krr_certificate_rows.c) Rows, with replacement, in proportion to what they may add to a'(K - K~)a, and the probability of each. O(n) and 100 n
 * kernel values. */
gram_status gram_certificate_rows(gram_context *context, const gram_problem *p, const gram_points *centres,
                                  const double *a, int64_t rows, int64_t *which, double *probability);

/* K + ridge, matrix-free; the caller releases it. */
gram_status gram_solution_operator(gram_context *context, const gram_problem *p, gram_operator **op);

/* u = [y, T], n x (m + q). */
void gram_solution_right_side(const gram_problem *p, double *u);

/* From u = A^-1 [y, T]: b = (T'A^-1 T)^-1 T'A^-1 y and a = A^-1 (y - T b). p->small gets the factor of T'A^-1 T. */
void gram_solution_combine(const gram_problem *p, const double *u, double *a, double *b);

#endif

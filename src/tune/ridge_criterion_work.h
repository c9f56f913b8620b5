/* What the files of the criteria share: the workspace, and the last steps of a gradient. ridge_criterion.c has the formulas. */
#ifndef GRAM_TUNE_RIDGE_CRITERION_WORK_H
#define GRAM_TUNE_RIDGE_CRITERION_WORK_H

#include <gram/cholesky.h>

#include "base/sweep.h"
#include "tune/ridge_criterion.h"

enum { GRAM_CRITERION_ROWS = 64 /* of a task */ };

struct gram_criterion_work {
    const gram_sample *sample;
    gram_criterion_rule rule;
    int64_t n, m, rank;
    int64_t q;            /* columns that no penalty acts on: a constant, some columns of the points */
    double *numbers;      /* all of the following vectors */
    double *shift;        /* n */
    double *rhs;          /* n x (m + q): A^-1 [y, T] */
    double *a;            /* n x m */
    double *t, *c;        /* n x q: T and C = A^-1 T */
    double *small;        /* q x q: the factor of T'C */
    double *diagonal;     /* n: of P */
    double *u, *v;        /* n x m, n */
    double *left, *right; /* n x rank: the thin part of W */
    double *e, *g;        /* CV: n x m, residuals and P_BB^-1 of them */
    double *spread;       /* CV: n x rank, e or g of each fold in a column of its own */
    double *p, *w;        /* n x n: P (or A^-1), and W */
    int64_t *fold_rows, *fold_start, *fold_of; /* CV: rows fold by fold; where each begins; the fold of a row */
    int64_t largest_fold;
};

/* Where derivatives go; both NULL when only the value is wanted. */
typedef struct gram_criterion_slopes {
    double *gradient; /* by the kernel's parameters */
    double *noise;
} gram_criterion_slopes;

/* Each finds its value, and unless slopes->noise is NULL the slopes, from a and c in the workspace. The factor is spent. */

/* Leave-one-out and generalised cross-validation (ridge_criterion_diagonal.c). */
gram_status gram_criterion_by_diagonal(gram_context *context, gram_criterion_work *work, gram_cholesky *factor,
                                       const gram_kernel *kernel, const gram_criterion_slopes *slopes, double *value);
/* Cross-validation (ridge_criterion_folds.c). */
gram_status gram_criterion_by_folds(gram_context *context, gram_criterion_work *work, gram_cholesky *factor,
                                    const gram_kernel *kernel, const gram_criterion_slopes *slopes, double *value);
gram_status gram_criterion_draw_folds(gram_context *context, gram_criterion_work *work);
/* Cross-validation forward in time (ridge_criterion_ordered.c): makes its own factors. */
gram_status gram_criterion_in_order(gram_context *context, gram_criterion_work *work, const gram_kernel *kernel,
                                    const gram_criterion_slopes *slopes, double *value);
/* Likelihood (ridge_criterion_likelihood.c). */
gram_status gram_criterion_by_likelihood(gram_context *context, gram_criterion_work *work, gram_cholesky *factor,
                                         const gram_kernel *kernel, const gram_criterion_slopes *slopes, double *value);

/* ---- shared steps, in ridge_criterion.c ---- */

/* [y, T] of the first n rows to work->rhs. */
void gram_criterion_right_side(gram_criterion_work *work, int64_t n);

/* a, C and the factor of T'C of the first n rows from A^-1 [y, T] in work->rhs, and unless NULL b, q x m. */
void gram_criterion_split(gram_criterion_work *work, int64_t n, double *b);

/* Runs tasks of GRAM_CRITERION_ROWS rows; task number t has those from gram_criterion_first to gram_criterion_end. */
gram_status gram_criterion_sweep(gram_context *context, gram_criterion_work *work, gram_task_fn run);
int64_t gram_criterion_first(const gram_worker *worker);
int64_t gram_criterion_end(const gram_criterion_work *work, const gram_worker *worker);

/* P_ij = (A^-1)_ij - c_i (T'C)^-1 c_j' for some rows of work->p. */
void gram_criterion_subtract_unpenalised(gram_criterion_work *work, int64_t from, int64_t to);

/* sum_i W_ii/w_i for W = dense, or W = left right' (+ B B' with B in work->p) if dense is NULL. */
double gram_criterion_noise_slope(const gram_criterion_work *work, const double *dense, int with_p);

/* The gradient by the kernel's parameters, from W likewise; gradient may be NULL. */
gram_status gram_criterion_contract(gram_context *context, const gram_criterion_work *work, const gram_kernel *kernel,
                                    const double *dense, double *gradient);

#endif

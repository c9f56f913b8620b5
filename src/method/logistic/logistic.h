/* Between the files of logistic regression: the checked problem, and solving it on a Gram matrix in memory. */
#ifndef GRAM_METHOD_LOGISTIC_LOGISTIC_H
#define GRAM_METHOD_LOGISTIC_LOGISTIC_H

#include <gram/logistic.h>

#include "points/weighted_problem.h"
#include "solve/factored_matrix.h"

/* Rows of a weight above 0; problem.y has their classes. `name` is the public function's. The first `least` rows of
 * every class must exist. On failure too, gram_problem_free is due. */
gram_status gram_logistic_problem(gram_context *context, const char *name, gram_kernel *kernel, const gram_points *x,
                                  int64_t classes, const double *y, const double *weights, int64_t least,
                                  gram_problem *problem);

typedef struct gram_logistic_solution {
    const gram_loss_matrix *k;
    int64_t classes, outputs; /* outputs = 1: two classes, one function */
    const double *label;      /* n */
    const double *weights;    /* n, or NULL */
    double c;                 /* 2 n lambda */
    int intercept;            /* the first of the unpenalised columns is the constant's */
    int64_t q;
    const double *unpenalised; /* n x q */
    double tolerance;
    int64_t most;
    double *a, *b;         /* n x outputs and q x outputs: where to start, and the result */
    double *f;             /* n x outputs */
    double objective, fit; /* sums: fit + (c/2) a'K a, fit = -sum w log p */
    double optimality, gradient, jitter;
    int64_t iterations;
    int converged;
    double *spare; /* n x outputs: +-1, or probabilities */
} gram_logistic_solution;

gram_status gram_logistic_solution_take(gram_context *context, gram_logistic_solution *s);
void gram_logistic_solution_give(gram_context *context, gram_logistic_solution *s);

/* a = 0, and the constants that explain the shares of the classes. */
void gram_logistic_start(gram_logistic_solution *s);
gram_status gram_logistic_solve(gram_context *context, gram_logistic_solution *s);

/* sum_c a_c'K a_c of a solution, from its values. */
double gram_logistic_quadratic(const gram_logistic_solution *s);

/* Probabilities of all classes from `outputs` latent numbers. */
void gram_logistic_row(int64_t classes, int64_t outputs, const double *f, double *p);
/* -log p_label, without going through p. */
double gram_logistic_loss(int64_t outputs, const double *f, int64_t label);

#endif

/* Stochastic gradient descent in the kernel's space, for (1/n) sum_i w_i loss(y_i, f(x_i) + b) + lambda |f|^2:
 *
 *     f <- (1 - 2 a_t lambda) f - a_t w_i loss'(f(x_i) + b) k(x_i, .),     b <- b - a_t w_i loss'
 *
 * for rows i in some order, with steps a_t, from f = 0 on. The result is the mean of the iterates, or the last. Of the kernel itself f is a sum of
 * terms, one for each row that was met, or as many as a budget allows; of a feature map it is w'z(x). */
#ifndef GRAM_METHOD_SGD_SGD_H
#define GRAM_METHOD_SGD_SGD_H

#include <gram/features.h>

#include "base/context.h"

typedef enum gram_sgd_loss {
    GRAM_SGD_SQUARED,
    GRAM_SGD_ABSOLUTE,
    GRAM_SGD_HUBER,
    GRAM_SGD_QUANTILE,
    GRAM_SGD_INSENSITIVE,
    GRAM_SGD_POISSON,
    GRAM_SGD_HINGE,   /* y is a class, 0 or 1; of more classes each against the others */
    GRAM_SGD_LOGISTIC /* the same; of more classes softmax */
} gram_sgd_loss;

typedef enum gram_sgd_step { GRAM_SGD_AUTO, GRAM_SGD_CONSTANT, GRAM_SGD_ROOT, GRAM_SGD_INVERSE } gram_sgd_step;
typedef enum gram_sgd_order { GRAM_SGD_SHUFFLED, GRAM_SGD_FILE, GRAM_SGD_REPLACED } gram_sgd_order;
typedef enum gram_sgd_average { GRAM_SGD_TAIL, GRAM_SGD_ALL, GRAM_SGD_LAST } gram_sgd_average;

typedef struct gram_sgd_problem {
    gram_kernel *kernel;
    const gram_points *x;     /* f64 */
    const gram_features *map; /* NULL: the kernel itself */
    int64_t n, m;             /* rows, outputs: 1, or the classes if there are more than 2 */
    const double *y;          /* n: numbers, or classes */
    const double *weights;    /* NULL: all 1 */
    const double *offset;     /* m: where the constants start */
    gram_sgd_loss loss;
    double parameter; /* delta, tau or epsilon */
    double lambda;
    int intercept;
    gram_sgd_step rule;
    double step; /* constant: a; root: a/sqrt(t); inverse: 1/(2 lambda t), without it */
    gram_sgd_order order;
    gram_sgd_average average;
    int64_t steps;
    int64_t budget; /* of terms; 0: none */
    int project;    /* terms that go are projected on those that stay; else dropped */
} gram_sgd_problem;

typedef struct gram_sgd_result {
    double *a;     /* n x m, of the rows; of a map dimension x m. The caller's memory, given back by gram_give */
    double *b;     /* m */
    int64_t terms; /* rows with a coefficient */
    double seen,
        seen_error; /* the mean loss of rows of the last n steps before they were used, and its standard error */
    double removed; /* steps of the budget: what was dropped, as a share of |f|, summed up */
    int64_t steps;  /* that were made */
} gram_sgd_result;

gram_status gram_sgd_run(gram_context *context, const gram_sgd_problem *problem, gram_sgd_result *result);

/* Of one row: the loss, and its slopes by the m values. */
double gram_sgd_loss_at(const gram_sgd_problem *problem, double y, const double *f, double *slopes);

/* What is left: mean loss and objective of a and b over all rows, and a bound of what the objective is above its least value over f with
 * these constants, |gradient|^2/(4 lambda) (the objective is 2 lambda-strongly convex); NaN unless `bound`. values: n x m. O(n terms), with the
 * bound O(n^2). */
typedef struct gram_sgd_state {
    double loss, objective, norm, gap;
} gram_sgd_state;
gram_status gram_sgd_measure(gram_context *context, const gram_sgd_problem *problem, const gram_sgd_result *result,
                             int bound, double *values, gram_sgd_state *state);

/* (sgd_budget.c) Leaves the `budget` terms of most weight of those in active[0 .. count), with coefficients in the two arrays (n x m, of
 * f and of the sum of iterates): sets *left and the order of active. `lost` gets the share of |c_i| sqrt(k_ii) that went. */
gram_status gram_sgd_reduce(gram_context *context, const gram_sgd_problem *problem, int64_t count, int64_t *active,
                            double *c, double *sum, double *lost);
/* The rows of these numbers as points: the caller releases them and gives back the array. */
gram_status gram_sgd_gather(gram_context *context, const gram_sgd_problem *problem, int64_t count, const int64_t *rows,
                            double **data, gram_points **points);

#endif

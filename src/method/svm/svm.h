/* Between the files of support vector machines: svm.c checks, solves and reports; svm_problem.c turns a kind and a pair of
 * classes into a quadratic program and back; svm_small.c solves many small ones at once; svm_sigmoid.c makes probabilities. */
#ifndef GRAM_METHOD_SVM_SVM_H
#define GRAM_METHOD_SVM_SVM_H

#include <gram/svm.h>

#include "points/points.h"
#include "solve/smo/smo_fit.h"
#include "tune/row_folds.h"

/* What all problems of a fit share. Regression and one class are one class here, with one output. */
typedef struct gram_svm_data {
    gram_kernel *kernel;
    const gram_points *x;
    const double *y;
    gram_svm_options options; /* as far as this library knows them */
    int64_t n, classes, outputs;
    int64_t *member; /* rows of weight above 0, class by class, n of them at most */
    int64_t *first;  /* classes + 1: where a class begins among them */
    double *c_of;    /* n: the upper bound of a row: C, the class's and the row's weight */
    double deadline; /* of gram_smo_clock, 0: none */
    size_t cache_bytes;
    int indexed; /* the kernel knows points by their numbers */
    /* what comes out */
    gram_svm_pair *pairs; /* outputs */
    double *duals;        /* n x outputs */
    double *scale;        /* outputs: the coefficients are the duals times this */
    double *tube;         /* 1 number: epsilon of nu regression */
} gram_svm_data;

/* One quadratic program. */
typedef struct gram_svm_problem {
    const gram_svm_data *data;
    int64_t output;
    int64_t class[2]; /* the same twice if there is but one */
    int64_t count[2]; /* rows of the two classes */
    int64_t rows;     /* of both */
    gram_smo
        smo; /* its point maps a variable to its row among those of the problem: the first class, then the second */
    double *c, *lower, *upper;
    int64_t *point;
} gram_svm_problem;

static inline int gram_svm_is_regression(gram_svm_kind kind)
{
    return kind == GRAM_SVM_EPSILON_REGRESSION || kind == GRAM_SVM_NU_REGRESSION;
}

static inline int gram_svm_is_classification(gram_svm_kind kind)
{
    return kind == GRAM_SVM_C || kind == GRAM_SVM_NU;
}

/* Row i of the problem as a row of the data. */
int64_t gram_svm_problem_row(const gram_svm_problem *problem, int64_t i);

/* How many rows an output's problem has. */
int64_t gram_svm_problem_size(const gram_svm_data *data, int64_t output);

/* Bytes that a problem of this many rows takes; makes it in them, with a feasible start. */
size_t gram_svm_problem_bytes(const gram_svm_data *data, int64_t rows);
void gram_svm_problem_make(const gram_svm_data *data, int64_t output, void *memory, gram_svm_problem *problem);

/* Moves b within the bounds to what the equality constraints ask for. */
void gram_svm_problem_settle(gram_svm_problem *problem);

/* The function's constant and the factor of its coefficients from the levels of the solution. */
void gram_svm_read_levels(gram_svm_kind kind, const double level[2], double *constant, double *scale);

/* From b and f: duals, scale and pair of its output. Different outputs may be finished by different threads. */
void gram_svm_problem_finish(const gram_svm_problem *problem);

/* All problems, each of at most GRAM_SVM_SMALL rows, in parallel with whole matrices in memory; those of one class are shared by
 * its pairs. */
enum { GRAM_SVM_SMALL = 2048 };
int gram_svm_is_small(const gram_svm_data *data);
gram_status gram_svm_solve_small(gram_context *context, gram_svm_data *data);

double gram_svm_sigmoid(double f, double a, double b);

/* The defaults, and over them what the caller's struct has, however old it is; NULL: the defaults. */
gram_status gram_svm_options_read(gram_context *context, const char *who, const char *argument,
                                  const gram_svm_options *options, gram_svm_options *known);

/* A and B = 0 of 1/(1 + exp(A f + B)) for each output from decision values (n x outputs) at rows that the machine had not seen;
 * rows of weight 0 do not count. */
gram_status gram_svm_fit_sigmoids(gram_context *context, const gram_svm_data *data, const double *decisions,
                                  double *sigmoids);

/* Decision values at each row of machines that were fitted without its fold; NaN for rows that no fold leaves out. */
gram_status gram_svm_out_of_fold(gram_context *context, const gram_svm_data *data, int64_t folds, double *decisions);

/* Rows of each class spread evenly, rows of weight 0 last; row i is rows[i] of those that have groups (NULL: i). */
gram_folds_rule gram_svm_folds_rule(const gram_svm_data *data, int64_t folds, const int64_t *groups,
                                    const int64_t *rows, int ordered);

/* Checks what was given and fills in everything but what comes out; free takes zeroed ones. `who` starts the messages. */
gram_status gram_svm_data_make(gram_context *context, const char *who, gram_kernel *kernel, const gram_points *x,
                               const double *y, const gram_svm_options *options, gram_svm_data *data);
void gram_svm_data_free(gram_context *context, gram_svm_data *data);

#endif

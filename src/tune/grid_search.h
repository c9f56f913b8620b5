/* Cross-validation over a grid of widths and strengths: what logistic regression and the losses of regression share. */
#ifndef GRAM_TUNE_GRID_SEARCH_H
#define GRAM_TUNE_GRID_SEARCH_H

#include <gram/logistic.h>

#include "points/weighted_problem.h"
#include "solve/factored_matrix.h"

/* Deals the rows to folds 0 .. folds-1 in a random order drawn by the seed, every class (label 0 .. classes-1; NULL:
 * one class) in turn, so that the numbers of a class in two folds differ by at most 1, and the folds' sizes too. */
gram_status gram_loss_deal(gram_context *context, int64_t n, const double *label, int64_t classes, int64_t folds,
                           int64_t *fold);

/* Weights that leave at most `rows` rows of the problem, a share of each class (at least `least`): given numbers, 0
 * for the others. NULL in *weights if all rows stay. The caller gives them back. */
gram_status gram_loss_thin(gram_context *context, const gram_problem *p, int64_t classes, int64_t rows, int64_t least,
                           double **weights);

/* One fold's training rows, and where its predictions go. */
typedef struct gram_fold {
    const gram_loss_matrix *k; /* of the training rows */
    int64_t count, held;
    const int64_t *rows, *held_rows;
    int64_t strengths;
    const double *c; /* 2 n lambda, falling */
    double *out;     /* strengths x n x outputs: predictions of the held rows, by their number */
    int64_t n, outputs;
    const double *whole; /* n x n: the Gram matrix of all rows */
    int64_t fits;        /* counted by the path */
} gram_fold;

/* out_s = K(held, training) a + b of strength number s. */
void gram_fold_predict(const gram_fold *fold, int64_t s, const double *a, const double *b);

typedef struct gram_grid_search {
    const char *name; /* the public function's */
    const gram_problem *problem;
    int64_t rows; /* of the whole set: n of lambda */
    int64_t outputs;
    const int64_t *fold;
    int64_t folds;
    int64_t width_count;
    const double *widths; /* NULL: by default */
    int64_t lambda_count;
    const double *lambdas; /* NULL: by default */
    double unit;           /* of the default lambdas; 0: 1 */
    int ard;               /* try one length-scale per column, as gram_tune_options has it */
    int64_t classes;       /* of the problem's y; 0: numbers */
    void *argument;
    /* Fits the training rows of a fold for all strengths, each from the one before. */
    gram_status (*path)(gram_context *context, void *argument, gram_fold *fold);
    /* The criterion of n x outputs predictions. */
    double (*criterion)(const void *argument, const double *predictions);
    gram_grid_point *grid; /* or NULL */
    /* results */
    double *held_out; /* n x outputs of the caller's: predictions at the choice */
    gram_kernel *tuned;
    double lambda;
    gram_grid_report report;
} gram_grid_search;

enum { GRAM_GRID_WIDTHS = 5, GRAM_GRID_LAMBDAS = 11 };

gram_status gram_grid_search_run(gram_context *context, gram_grid_search *search);

#endif

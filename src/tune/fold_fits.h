/* Tuning of methods that fit a fold for one strength after another: what logistic regression and the losses of regression share.
 *
 * The Gram matrix is made once for each width, all widths in one sweep, which makes the distances once. It serves all folds
 * and strengths: a fold's matrix is copied out of it, and so are the rows that predict. Strengths go from the largest lambda
 * down, where a fit is nearly a constant, and each fit starts from the one before. */
#ifndef GRAM_TUNE_FOLD_FITS_H
#define GRAM_TUNE_FOLD_FITS_H

#include "solve/factored_matrix.h"
#include "tune/grid_search.h"

struct running;

/* One fold's training rows, and where its predictions go. */
typedef struct gram_fold {
    const gram_loss_matrix *k; /* of the training rows */
    int64_t count, held;
    const int64_t *rows, *held_rows;
    double *y, *weights;   /* of the training rows; weights may be NULL */
    int64_t q;             /* columns that no penalty acts on, */
    double *t;             /* of the training rows, count x q */
    const double *whole_t; /* and of all */
    int64_t strengths;
    const double *c; /* 2 n lambda, falling */
    double *out;     /* strengths x n x outputs: predictions of the held rows, by their number */
    int64_t n, outputs;
    const double *whole; /* n x n: the Gram matrix of all rows */
    int64_t fits;        /* predicted from */
    /* progress of the whole search, told after each strength: the share done before this fold, and what the fold adds */
    gram_progress_fn progress; /* or NULL */
    void *progress_user;
    double share, part;
    struct running *search;
} gram_fold;

/* out_s = K(held, training) a + T b of strength number s; b is q x outputs. Returns 0 when the strengths after it would only be worse: then
 * the path ends, and their predictions stay NaN. */
int gram_fold_predict(gram_fold *fold, int64_t s, const double *a, const double *b);

enum { GRAM_GRID_WIDTHS = 5, GRAM_GRID_LAMBDAS = 11 };

typedef struct gram_fit_search {
    const char *name; /* the public function's */
    int64_t classes;  /* of y; 0: numbers */
    int64_t outputs;
    /* of the options, as gram_logistic_tune_options has them */
    int64_t folds, rows, width_count, lambda_count;
    const double *widths, *lambdas, *weights;
    const int64_t *groups;
    int ordered, ard;
    /* the method's */
    void *argument;
    /* The rows of weight above 0. */
    gram_status (*problem)(gram_context *context, const void *argument, const double *weights, gram_problem *out);
    /* A unit of the default lambdas; NULL: 1. */
    double (*unit)(const void *argument, const gram_problem *problem);
    /* Fits the training rows of a fold for all strengths, each from the one before. */
    gram_status (*path)(gram_context *context, void *argument, gram_fold *fold);
    /* Losses of a row with predictions f: score_columns numbers. */
    void (*score)(const void *argument, double y, const double *f, double *scores);
    int64_t score_columns;
    /* A row of held_out from the predictions f. */
    void (*tell)(const void *argument, const double *f, double *out);
    /* the caller's */
    double *held_out; /* n x held_columns of row stride ldo, or NULL */
    int64_t held_columns, ldo;
    gram_grid_point *grid; /* or NULL */
} gram_fit_search;

/* Checks the options, chooses at most `rows` rows, a share of each class, and searches. */
gram_status gram_fit_search_run(gram_context *context, const gram_fit_search *search, gram_kernel **tuned,
                                double *lambda, gram_grid_report *report);

#endif

/* Cross-validation over a grid of widths and strengths: the engine that methods without gradients are tuned by.
 *
 * A width is a factor on all free length-scales of the kernel; a strength is whatever number the method's fits take. The engine
 * deals the folds, makes the kernels, holds as many widths at a time as there is room for, scores held-out predictions, chooses,
 * and searches once more with one length-scale per column. The method brings the fits of a few widths, all strengths and folds
 * (`run`), and the scores of predictions (`score`): support vector machines fuse theirs (svm_chain.c); methods with a path of fits
 * for each fold share fold_fits.c. */
#ifndef GRAM_TUNE_GRID_SEARCH_H
#define GRAM_TUNE_GRID_SEARCH_H

#include "tune/row_folds.h"

/* What fits took. */
typedef struct gram_grid_work {
    int64_t fits, steps;
    int64_t unfinished; /* fits that their steps were not enough for */
} gram_grid_work;

/* Some widths of a grid, next to each other: what a method fits in one call. */
typedef struct gram_grid_batch {
    int64_t first, count, widths; /* `count` from number `first` on, of `widths` in all */
    gram_kernel *const *kernels;  /* count */
    int64_t strengths;
    const double *strength; /* in the order of the fits */
    int64_t n, outputs;
    int64_t folds;       /* the first so many are fitted, of those in `fold` */
    const int64_t *fold; /* n, as gram_folds_make has it */
    int ordered;
    double *out; /* count x strengths x n x outputs: predictions of every row by the fit without its fold; NaN before */
    gram_grid_work work; /* counted by the method */
} gram_grid_batch;

static inline double *gram_grid_out(const gram_grid_batch *batch, int64_t width, int64_t strength)
{
    return batch->out + (width * batch->strengths + strength) * batch->n * batch->outputs;
}

/* How a cell is chosen. Of equal cells the first strength wins, then the widest kernel. */
typedef struct gram_grid_rule {
    int maximise; /* the score; else the least is best */
    /* Scores are averaged with their neighbours' in the grid: shares of right labels are counts of few rows, and the largest of a
     * hundred such is a lucky one more often than the best. */
    int smooth;
    double as_good; /* standard errors of the best within which the first strength is taken instead; 0: none */
    /* Of two searches the better is better by chance unless it is so by this many standard errors, or if that is 0, its score is
     * below this part of the other's. */
    double errors, ratio;
} gram_grid_rule;

/* What was found. */
typedef struct gram_grid_found {
    gram_kernel *kernel; /* new */
    int64_t width, strength;
    double score, error; /* of the choice, and its standard error */
    int at_bound, ard_kept;
    gram_grid_work work;
} gram_grid_found;

typedef struct gram_grid_search {
    const char *name; /* the public function's */
    gram_kernel *kernel;
    const gram_points *x;
    const double *y, *weights; /* weights may be NULL */
    int64_t classes;           /* of y; 0: numbers */
    int64_t outputs;
    gram_folds_rule rows;
    int holdout; /* the last fold alone is left out */
    int screen; /* one fold first: the others for the cells alone that it leaves a chance (gram_grid_screen); not with `scores` */
    int64_t width_count;
    const double *widths; /* factors */
    int64_t strength_count;
    const double *strengths; /* in the order of the fits, the simplest first */
    int ard;                 /* try one length-scale per column, as gram_krr_tune_options has it */
    size_t room;             /* for what is held at a time */
    size_t width_bytes;      /* that the method holds for a width; predictions come on top */
    gram_grid_rule rule;
    void *argument;
    gram_status (*run)(gram_context *context, void *argument, gram_grid_batch *batch);
    /* n x score_columns numbers of n x outputs predictions, whose weighted sums for each row count. */
    gram_status (*score)(gram_context *context, const void *argument, const double *predictions, double *scores);
    int64_t score_columns;
    /* results, all the caller's */
    double *scores;   /* width_count x strength_count, or NULL */
    double *held_out; /* n x outputs predictions at the choice, or NULL */
    gram_grid_found found;
} gram_grid_search;

gram_status gram_grid_search_run(gram_context *context, gram_grid_search *search);

/* Has the kernel a length-scale that is free? Every number of it has a value. */
gram_status gram_grid_has_lengths(gram_context *context, const gram_kernel *kernel, const gram_points *x, int *has);

/* ---- grid_choice.c ---- */

/* A grid of scores with their standard errors, width by width. */
typedef struct gram_grid_scores {
    int64_t widths, strengths;
    double *scores, *errors;
} gram_grid_scores;

/* After one fold: the widths from *first to before *end, and how many strengths, that still may be chosen. */
typedef struct gram_grid_rest {
    int64_t first, end, strengths;
} gram_grid_rest;

gram_grid_rest gram_grid_screen(const gram_grid_rule *rule, const gram_grid_scores *grid);

/* The cell to choose. */
int64_t gram_grid_choose(const gram_grid_rule *rule, const gram_grid_scores *grid);
int gram_grid_at_edge(const gram_grid_scores *grid, int64_t cell);
/* Is the first of two searches better than by chance? */
int gram_grid_is_clearly_better(const gram_grid_rule *rule, const gram_grid_found *a, const gram_grid_found *b);

#endif

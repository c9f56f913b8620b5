/* The folds of everything that cross-validates, and subsets of rows in which every class has its share. */
#ifndef GRAM_TUNE_ROW_FOLDS_H
#define GRAM_TUNE_ROW_FOLDS_H

#include <gram/cross_validation.h>

#include "points/weighted_problem.h"

/* How n rows are divided. */
typedef struct gram_folds_rule {
    int64_t folds;
    const double *labels; /* 0 .. classes - 1; NULL: one class */
    int64_t classes;
    const double *weights; /* rows of weight 0 are dealt after all others; NULL: none has */
    const int64_t *groups; /* of the caller's rows, or NULL */
    const int64_t *rows;   /* row i of n is row rows[i] of the caller's; NULL: i */
    int ordered;
    uint64_t stream; /* of random numbers; 0: the usual one */
} gram_folds_rule;

/* fold[i] as gram_folds_make has it; `function` starts the messages. */
gram_status gram_folds_deal(gram_context *context, const char *function, int64_t n, const gram_folds_rule *rule,
                            int64_t *fold);

/* Is a row of fold `fold` among the training rows when fold `held` is left out? */
static inline int gram_fold_trains(int64_t fold, int64_t held, int ordered)
{
    return ordered ? fold < held : fold != held;
}

/* Does a class lack training rows in some fold? GRAM_ERROR_DATA then; labels as in the rule, rows of weight 0 do not count. */
gram_status gram_folds_check_classes(gram_context *context, const char *function, int64_t n,
                                     const gram_folds_rule *rule, const int64_t *fold);

/* How many folds are possible, at most: the groups, or the rows (less 1 if ordered). */
gram_status gram_folds_most(gram_context *context, int64_t n, const gram_folds_rule *rule, int64_t *most);

/* Groups and order exclude each other. */
gram_status gram_folds_check_options(gram_context *context, const char *function, const int64_t *groups, int ordered);

/* Weights that leave at most `rows` rows of the problem, a share of each class (at least `least`): given numbers, 0
 * for the others. NULL in *weights if all rows stay. The caller gives them back. */
gram_status gram_problem_thin(gram_context *context, const gram_problem *p, int64_t classes, int64_t rows,
                              int64_t least, double **weights);

/* `count` different rows of 0 .. n - 1, into ascending order. */
gram_status gram_rows_sort(gram_context *context, int64_t n, int64_t count, int64_t *rows);

#endif

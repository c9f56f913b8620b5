/* Between the files of kernel CCA. */
#ifndef GRAM_METHOD_CCA_CCA_H
#define GRAM_METHOD_CCA_CCA_H

#include <gram/cca.h>

#include "base/context.h"
#include "method/kernel_features.h"

enum { GRAM_CCA_GRID = 15 };

struct gram_cca {
    gram_memory *memory;
    gram_function *functions[2];
    gram_cca_report report;
    double *correlations;
};

typedef struct gram_cca_work {
    gram_context *context;
    gram_cca_options options;
    gram_kernel_features views[2];
    double grid[GRAM_CCA_GRID]; /* of kappa, from the largest down */
    gram_cca *cca;
} gram_cca_work;

/* The correlations of centred features of n rows, one problem for all kappa (cca_solve.c). */
typedef struct gram_cca_problem {
    int64_t n, rank[2];
    double *own[2]; /* rank x rank: F'F of each view */
    double *cross;  /* rank[0] x rank[1] */
} gram_cca_problem;

gram_status gram_cca_problem_make(gram_context *context, gram_tall fx, gram_tall fy, gram_cca_problem *problem);
/* Takes zeroed ones. */
void gram_cca_problem_free(gram_context *context, gram_cca_problem *problem);
/* The first `count` correlations, and the weights w of f = F w: rank x count for each view. A correlation that is 0 to rounding ends
 * the list: *found of them are there. */
gram_status gram_cca_problem_solve(gram_context *context, const gram_cca_problem *problem, double kappa, int64_t count,
                                   double *values, double *weights[2], int64_t *found);

/* Sets kappa and held_out of the report (cca_folds.c), and its p-value (cca_shuffle.c). */
gram_status gram_cca_choose_kappa(gram_cca_work *work);
gram_status gram_cca_test(gram_cca_work *work);

/* The first columns of the features: a factor of lower rank. */
static inline gram_tall gram_cca_first(const gram_kernel_features *view, int64_t most)
{
    gram_tall f = view->rows;
    if (f.columns > most) f.columns = most;
    return f;
}

#endif

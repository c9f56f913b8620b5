/* Least squares with several penalties: minimise |y - X c|^2_W + sum_j alpha_j c_j'S_j c_j, c in blocks c_j, all alpha_j chosen together. */
#ifndef GRAM_METHOD_SPLINE_SPLINE_PENALISED_H
#define GRAM_METHOD_SPLINE_SPLINE_PENALISED_H

#include <gram/krr_tune.h>

#include "base/context.h"

typedef struct gram_penalised {
    int64_t p, blocks;
    const int64_t *first;             /* blocks + 1: block j is from first[j] to before first[j + 1] */
    const double *gram, *right;       /* X'WX (p x p) and X'Wy */
    const double *const *penalty;     /* S_j, each without gaps */
    const double *rank;               /* of S_j */
    double square, n, free;           /* y'Wy; rows; dimensions that cost nothing, others than c included */
    double outside;                   /* degrees of freedom that are not in c */
    const double *log_low, *log_high; /* bounds of log alpha_j */
    /* the solution, which gram_penalised_take makes room for */
    double *c, *inverse, *share; /* p; (X'WX + sum alpha S)^-1, p x p; degrees of freedom of each block */
    double *log_alpha;           /* blocks */
    double rss, df, bending;     /* bending: sum alpha_j c'S_j c */
    double log_root;             /* log|A|/2 - sum rank_j log(alpha_j)/2 */
    double value;                /* of the criterion */
    int64_t evaluations;
    double *work;
} gram_penalised;

gram_status gram_penalised_take(gram_context *context, gram_penalised *problem);
void gram_penalised_give(gram_context *context, gram_penalised *problem);

/* Solves for log_alpha. GRAM_ERROR_NUMERICAL if A is singular to working precision. */
gram_status gram_penalised_solve(gram_context *context, gram_penalised *problem);
/* Chooses log_alpha by GCV or ML, starting from what is there and from less, and solves. */
gram_status gram_penalised_choose(gram_context *context, gram_penalised *problem, gram_criterion criterion);

#endif

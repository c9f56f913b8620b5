/* A = K + D over fewer rows, where K is singular to working precision.
 *
 * Some rows of K, the chosen ones, make all the others: K = C K_cc C', K_cc between the chosen, the rows of C there unit vectors.
 * Rows may be repeated (C says of which), or the kernel has fewer features than there are rows. With G = C'D^-1 C the data say
 * of f at the chosen rows what one target u with the covariance G^-1 of its noise would say,
 *
 *     u = G^-1 C'D^-1 y,     A^-1 = (D^-1 - D^-1 C G^-1 C'D^-1) + (G^-1 C'D^-1)' M^-1 (G^-1 C'D^-1),     M = K_cc + G^-1,
 *
 * so that nothing singular is left: M has a Cholesky factor, also without any noise, where the limit of small noise is taken
 * and rows count by their weights. The first bracket is of order 1/noise and belongs to what no function of the kernel reaches,
 * y - C u. */
#ifndef GRAM_SOLVE_CHOLESKY_REDUCED_MATRIX_H
#define GRAM_SOLVE_CHOLESKY_REDUCED_MATRIX_H

#include <gram/cholesky.h>

#include "base/context.h"

typedef enum gram_reduction {
    GRAM_REDUCE_DISTINCT, /* the first of rows with the same coordinates */
    GRAM_REDUCE_PIVOTED   /* pivots of a Cholesky factor, until what is left of the diagonal is rounding errors */
} gram_reduction;

typedef struct gram_reduced {
    int64_t n, rank;
    int limit;      /* of noise that vanishes: D is `share` times almost nothing */
    int64_t *row;   /* rank: the chosen rows, in order */
    double *c;      /* n x rank */
    double *share;  /* n: D */
    double *inner;  /* rank x rank, lower: the Cholesky factor of G */
    double *factor; /* rank x rank, lower: that of M */
    double jitter;  /* in M; only distinct rows may need one */
} gram_reduced;

/* `shift`: D, with weights[i] (NULL: 1) where it is 0. GRAM_ERROR_NUMERICAL: M is not positive definite to working precision.
 * Free it after a failure, too. */
gram_status gram_reduced_make(gram_context *context, gram_reduction way, const gram_kernel *kernel,
                              const gram_points *x, const double *shift, const double *weights, gram_reduced *reduced);
/* The same for distinct rows, without M: only gram_reduced_split is possible. */
gram_status gram_reduced_choose(gram_context *context, const gram_points *x, const double *shift, const double *weights,
                                gram_reduced *reduced);
/* Takes zeroed ones. */
void gram_reduced_free(gram_memory *memory, gram_reduced *reduced);

/* Has a row the coordinates of an earlier one, and is it the same to the kernel, too? */
gram_status gram_reduced_repeated(gram_context *context, const gram_kernel *kernel, const gram_points *x,
                                  int *repeated);

/* b (n x columns) becomes b - C u; u: rank x columns. */
gram_status gram_reduced_split(gram_context *context, const gram_reduced *reduced, int64_t columns, double *b,
                               double *u);
/* v = M^-1 v; rank x columns. */
void gram_reduced_solve(const gram_reduced *reduced, int64_t columns, double *v);
/* out (n) += C G^-1 v for `rank` numbers v, which are changed; nothing in the limit. */
void gram_reduced_add_noise(const gram_reduced *reduced, double *v, double *out);
/* log |A|; NaN in the limit, and where it is lost to rounding. */
double gram_reduced_log_determinant(const gram_reduced *reduced);

/* What leaving out a row needs: e_i = 1 - (C G^-1 C')_ii/D_ii (0 where that is rounding), and b_i = G^-1 C'D^-1 (row i of an n x rank array) with |L^-1 b_i|^2
 * in the diagonal's place of the second bracket; the rows of `b` are b_i. */
gram_status gram_reduced_leave(gram_context *context, const gram_reduced *reduced, double *e, double *within,
                               double *b);

/* The factor of M as one of all rows: those that are not chosen have a diagonal so large that solves give 0 there. */
gram_status gram_reduced_embed(gram_context *context, const gram_reduced *reduced, gram_cholesky **factor);

/* What errors of fitted values are measured by: the norm of n targets, `centred`: about their mean, but not less than 1e-10 of them,
 * so that constant ones have a size, too. */
double gram_target_size(int64_t n, const double *y, int64_t stride, int centred);

#endif

/* Ridge regression on finitely many features: minimise sum_i w_i |y_i - phi_i.c - t_i.b|^2 + ridge |c|^2, ridge = n lambda.
 *
 * With phi of a map of the kernel this is kernel ridge regression with Phi Phi' in the place of K, exactly: the same values, leave-one-out
 * errors, effective dimension and likelihood. Rows go by in chunks; what is kept are products of features, p^2 numbers. */
#ifndef GRAM_FEATURES_FEATURE_RIDGE_H
#define GRAM_FEATURES_FEATURE_RIDGE_H

#include "features/feature_map.h"
#include "points/weighted_problem.h"

typedef struct gram_feature_ridge {
    const gram_features *map; /* borrowed, as the problem */
    const gram_problem *problem;
    int64_t p, q, m, width; /* features, columns without a penalty, targets; all of them */
    int raw;                /* products were made of columns of K, and turned into those of features afterwards */
    double *products;     /* width x width: of [Phi, T, y], weighted, both triangles; G and g without what T explains */
    double *shared;       /* q x (p + m): (T'W T)^-1 T'W [Phi, y] */
    double *small;        /* q x q + 2 q: the factor of T'W T (solve/small_system.h), and work */
    double *factor;       /* p x p: R R' = G + ridge I, lower */
    double ridge;         /* of the factor */
    double trace, missed; /* of K and of K - Phi Phi' over the rows, where |phi|^2 says it (nystrom); else NaN */
    double residual;      /* |g - (G + ridge) c|/|g|, the worst target */
    int64_t passes;       /* over the rows, to repair it */
    double *left;         /* n x m: y - T b - Phi c, where the last of these passes was over the solution; else NULL */
    double effective_dimension, log_determinant; /* tr Phi Phi' A^-1, log |A|, A = Phi Phi' + ridge W^-1 */
} gram_feature_ridge;

/* Accumulates. `least`: the least ridge that will be asked for, 0 if it is not known; where rounding errors stay well below it, a pass
 * over landmarks saves half of its operations. O(n p^2) time, 2 p^2 + 4096 p numbers. Free it after a failure, too. */
gram_status gram_feature_ridge_make(gram_context *context, const gram_features *map, const gram_problem *problem,
                                    double least, gram_feature_ridge *ridge);
void gram_feature_ridge_free(gram_context *context, gram_feature_ridge *ridge);

/* c, p x m, and b, q x m, for a ridge > 0. GRAM_ERROR_NUMERICAL: the equations are singular to working precision (`who` begins the
 * message). O(p^3), and 2 n p kernel values for each pass of repair. */
gram_status gram_feature_ridge_solve(gram_context *context, const char *who, gram_feature_ridge *ridge, double strength,
                                     double *c, double *b);

/* After solving: leverage[i], the i-th diagonal entry of the matrix that takes y to the fitted values, so that y_i - f_(-i)(x_i) is
 * (y_i - f(x_i))/(1 - leverage[i]). `exact`: all of them, one more pass of O(n p^2). Otherwise, where rows are many and n p^2 is large,
 * those below some 0.05 are estimated by 64 random projections (each to 18 % of itself, which is 1 % of 1 - leverage at most), O(64 n p).
 * `estimated`: how many; may be NULL. */
gram_status gram_feature_ridge_leverage(gram_context *context, const gram_feature_ridge *ridge, int exact,
                                        double *leverage, int64_t *estimated);

/* A path of ridges from one eigendecomposition of G. Sums are over rows and targets, weighted. */
typedef struct gram_ridge_point {
    double strength;                   /* given: n lambda > 0 */
    double squares, loo;               /* sum of w (y - f)^2; of those left out (NaN: not asked for) */
    double effective_dimension;        /* the trace of the leverages, without the columns T */
    double log_determinant, quadratic; /* of A, and y'P y */
} gram_ridge_point;

/* O(p^3 + count p), with leave-one-out another pass of O(n p (p + count)). */
gram_status gram_feature_ridge_path(gram_context *context, const gram_feature_ridge *ridge, int leave_one_out,
                                    int64_t count, gram_ridge_point *path);

/* Between the files of it: of products, lower triangle, both triangles without what T explains; R of G + strength (0: singular to working
 * precision). */
void gram_ridge_complete(gram_feature_ridge *ridge);
int gram_ridge_factorise(gram_feature_ridge *ridge, double strength);
/* effective_dimension and log_determinant. */
gram_status gram_ridge_find_sizes(gram_context *context, gram_feature_ridge *ridge);

/* T's part of raw rows, q x p (the caller's to give back); rows (with their columns t, q each) without it; and
 * t_i'(T'W T)^-1 t_i, `work` for 2 q + 1 numbers. */
gram_status gram_ridge_shared(gram_context *context, const gram_feature_ridge *ridge, double **shared);
void gram_ridge_take_off(const gram_feature_ridge *ridge, const double *shared, const double *t, int64_t rows,
                         double *x, int64_t ld);
double gram_ridge_constants(const gram_feature_ridge *ridge, int64_t i, double *work);

/* The logarithm of the determinant of what gram_small_factor left. */
double gram_small_logarithm(int64_t q, const double *s);

/* Rows of a chunk of ld numbers each: at most 4096. */
int64_t gram_feature_chunk_rows(int64_t ld);

/* Chunks of rows: features, or columns of K if `raw`, rows x p with stride ld. Of many rows each rank sees some of the chunks, and gram_ranks_share says
 * that the caller must put together what they found. */
typedef gram_status (*gram_feature_chunk_fn)(gram_context *context, void *argument, int64_t first, int64_t rows,
                                             double *features, int64_t ld);
gram_status gram_feature_chunks(gram_context *context, const gram_features *map, const gram_points *x, int raw,
                                int64_t ld, gram_feature_chunk_fn run, void *argument);

/* X = X L^-T for rows of length p, `factor` lower triangular: by blocks of rows in parallel. */
gram_status gram_triangle_rows(gram_context *context, int64_t p, const double *factor, int64_t rows, double *x,
                               int64_t ldx);

#endif

/* The exact solver in f64: a Cholesky factor, and what is made from it. */
#ifndef GRAM_METHOD_GP_EXACT_GP_EXACT_H
#define GRAM_METHOD_GP_EXACT_GP_EXACT_H

#include "method/gp/gp_mean.h"
#include "solve/cholesky/reduced_matrix.h"

typedef struct gram_gp_exact {
    gram_memory *memory;
    gram_function *function;
    gram_kernel *kernel;
    gram_gp_system system; /* y is not kept */
    /* Rank above 0: a, h and the factor of the system are those of the chosen rows, and nothing elsewhere. */
    gram_reduced reduced;
    double *rest;        /* n: y - T beta less what the chosen rows say of it */
    double *noise;       /* n: y - T beta less f; in the same array */
    double limit_weight; /* what stands for 1/noise in the limit of none; else 1 */
    int missed;          /* with more digits `rest` would be 0 */
    double *loo_mean, *loo_variance;
} gram_gp_exact;

/* Conditions on the data; keeps the factor. */
gram_status gram_gp_exact_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                              const gram_gp_options *options, gram_gp_exact **gp);
/* From parts that have a factor, coefficients and beta: nothing is factored. */
gram_status gram_gp_exact_create(gram_context *context, gram_kernel *kernel, const gram_gp_parts *parts,
                                 gram_gp_exact **gp);
/* Takes NULL. */
void gram_gp_exact_destroy(gram_gp_exact *gp);

/* The likelihood, the residual and, up to 5,000 rows, leave-one-out means and variances. */
gram_status gram_gp_exact_assess(gram_context *context, const double *y, gram_gp_exact *gp, gram_gp_report *report);

/* (gp_repair.c) Where rounding errors show in the solution: a better one, if there is any. The system still knows y. */
gram_status gram_gp_exact_repair(gram_context *context, const gram_points *x, gram_gp_exact *gp);
/* Sums of squares of y - T beta - (K + D) a, without any jitter, and of y - T beta; `products` has K a. Returns the root of the first
 * over the size of the targets themselves: beta may be a large number that f takes away again. */
double gram_gp_exact_residual(const gram_gp_exact *gp, const double *y, const double *products, int64_t ld,
                              double *residual, double *right);

/* (gp_exact_predict.c) As gram_gp_predict, gram_gp_predict_term and gram_gp_covariance. */
gram_status gram_gp_exact_predict(gram_context *context, const gram_gp_exact *gp, const gram_points *points,
                                  const double *basis, int64_t ldb, double *mean, double *variance);
gram_status gram_gp_exact_predict_term(gram_context *context, const gram_gp_exact *gp, gram_kernel *term,
                                       const gram_points *points, double *mean, double *variance);
gram_status gram_gp_exact_covariance(gram_context *context, const gram_gp_exact *gp, const gram_points *points,
                                     const double *basis, int64_t ldb, double *covariance, int64_t ld);

/* (gp_draw.c) As gram_gp_draw. */
gram_status gram_gp_exact_draw(gram_context *context, const gram_gp_exact *gp, const gram_points *points,
                               const double *basis, int64_t ldb, int64_t count, double *out, int64_t ldo,
                               double *jitter);

#endif

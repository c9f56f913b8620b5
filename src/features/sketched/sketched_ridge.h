/* Ridge regression on features without their products over all rows: for maps that make strips of rows (Fourier features). */
#ifndef GRAM_FEATURES_SKETCHED_SKETCHED_RIDGE_H
#define GRAM_FEATURES_SKETCHED_SKETCHED_RIDGE_H

#include "features/feature_ridge.h"

typedef struct gram_sketched_ridge {
    const gram_features *map; /* that makes strips */
    const gram_problem *problem;
    double strength;  /* n lambda > 0 */
    double tolerance; /* of the fitted values, relative to them, root mean squares */
    uint64_t seed;    /* of the rows that the preconditioner is made of */
    /* what was found */
    double error;    /* of the fitted values, estimated with the preconditioner: to a factor of 1 - sqrt(p/rows) */
    double residual; /* |g - (G + strength) c|/|g| in f64, the worst target */
    int64_t rows;    /* of the sample */
    int64_t passes;  /* over all rows */
    int limit;       /* ended by the time that there was */
} gram_sketched_ridge;

/* Are n rows enough for p features? */
int gram_sketched_ridge_fits(int64_t n, int64_t p);

/* c, p x m, and b, q x m; f, n x m: the fitted values. `ridge` is then good for gram_feature_ridge_leverage (free it in any case): its factor is of the
 * sample, and so is its effective dimension. O(p^2 rows + p^3) and O(n p (d + m)) for each pass. GRAM_ERROR_NUMERICAL: not converged; `who` begins
 * the message. */
gram_status gram_sketched_ridge_solve(gram_context *context, const char *who, gram_sketched_ridge *job, double *c,
                                      double *b, double *f, gram_feature_ridge *ridge);

#endif

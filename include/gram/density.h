/* Densities with a name, for their scores: grad log p(x), which is what the Stein methods need of a density.
 *
 *   gaussian(mean=[0,1], cov=[1,0.5;0.5,2])     mean: 0 when left out, one number for all columns or a list; cov: a matrix; or
 *                                               sd: one number or a list, 1 when both are left out
 *   student(df=5, mean=..., cov=... or sd=...)  multivariate t with df > 0 degrees of freedom and scale matrix cov
 *   mixture(weights=[1,2], means=[0,0;3,3], sd=[1,0.5])     Gaussians: one row of means for each; weights in any scale, equal
 *                                               when left out; sd: one number, or one for each; or cov, shared by all
 *   banana(b=0.03, sd=10)                       x1 ~ N(0, sd^2), x2 + b (x1^2 - sd^2) ~ N(0, 1), others N(0, 1); d >= 2
 *
 * Densities never change and may be used by several threads. Common failures: GRAM_ERROR_SYNTAX (the message names the
 * place), GRAM_ERROR_ARGUMENT (a value out of its range), GRAM_ERROR_DIMENSION (sizes that do not fit d columns). */
#ifndef GRAM_DENSITY_H
#define GRAM_DENSITY_H

#include <gram/points.h>
#include <gram/table.h>

GRAM_BEGIN

typedef struct gram_density gram_density;

/* Reads a density on R^d. The caller destroys it. O(components d^3). */
GRAM_API gram_status gram_density_parse(gram_context *context, const char *text, int64_t d, gram_density **density);

/* The same for a density of data, which is one so far:
 *
 *   logistic(sd=10)    gram_density_logistic of the table's columns; the last holds the labels
 *
 * A density of data without them, or another one with them (not NULL), is GRAM_ERROR_ARGUMENT. */
GRAM_API gram_status gram_density_parse_data(gram_context *context, const char *text, int64_t d, const gram_table *data,
                                             gram_density **density);

/* The posterior of logistic regression without an intercept (add a column of ones for one): x is n x d, labels are 0 or 1,
 * the prior of the coefficients is N(0, sd^2 I). A density on R^d. The arrays are copied. O(n d). */
GRAM_API gram_status gram_density_logistic(gram_context *context, int64_t n, int64_t d, const double *x, int64_t ldx,
                                           const double *labels, double sd, gram_density **density);

/* Takes NULL. */
GRAM_API void gram_density_destroy(gram_density *density);

/* The name: "gaussian", ... Static. */
GRAM_API const char *gram_density_name(const gram_density *density);

/* out[i * ldo + l] = d log p/dx_l at x_i; and out[i] = log p(x_i) up to a constant. Parallel over points. O(points d^2
 * components), for logistic O(points n d). */
GRAM_API gram_status gram_density_score(gram_context *context, const gram_density *density, const gram_points *x,
                                        double *out, int64_t ldo);
GRAM_API gram_status gram_density_log(gram_context *context, const gram_density *density, const gram_points *x,
                                      double *out);

/* out[i * ldo + l] = d^2 log p/dx_l^2 at x_i: above 0 where log p is convex along a coordinate, as between modes. The cost of a score. */
GRAM_API gram_status gram_density_second(gram_context *context, const gram_density *density, const gram_points *x,
                                         double *out, int64_t ldo);

/* ---- the density of a sample ---- */

/* out[j]: the density of n numbers x at at[j], a mean of Gaussians of Silverman's width 0.9 s n^(-1/5), s their deviation (0.1 if
 * that is 0). O(n m). */
GRAM_API void gram_density_estimate(int64_t n, const double *x, int64_t m, const double *at, double *out);

GRAM_END

#endif

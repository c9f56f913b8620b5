/* The Gaussian process of a study: one output on the unit cube, learnt again as values come.
 *
 *     y = shift + scale (b + f(u) + e),   f ~ GP(0, a matern(5/2, one length per column)),   e ~ N(0, noise)
 *
 * with a flat prior on b. shift and scale standardise the values at the last fit. Between fits the parameters stay and a new row
 * extends the factor: A = L L' gains a row of L in O(n^2), and L^-1 y and L^-1 1 gain a number each. Rows can be taken off the end
 * again, which is how points that are being evaluated are pretended and forgotten. */
#ifndef GRAM_STUDY_SURROGATE_H
#define GRAM_STUDY_SURROGATE_H

#include <gram/kernel.h>

#include "base/context.h"

typedef struct gram_surrogate {
    gram_memory *memory;
    int64_t d, n, room;
    double *x;           /* room x d */
    double *y;           /* room: values as they are */
    double shift, scale; /* standardised: (y - shift)/scale */
    double given_noise;  /* variance in the values' units, NaN: learnt */
    int jumps;           /* some values stand for failures: what jumps is not noise */
    gram_kernel *kernel;
    double amplitude, noise; /* standardised */
    double jitter;           /* that A needed */
    int64_t parameters;      /* log amplitude, log lengths, log noise */
    double *theta;
    double *inverse; /* of the Hessian at theta */
    int theta_known, inverse_known;
    double *factor;             /* room x room, lower triangle by rows: L */
    double *z, *one;            /* room: L^-1 of the standardised values, and of ones */
    double *weights, *ones;     /* room: A^-1 (y - b), A^-1 1 */
    double constant, precision; /* b, and 1'A^-1 1 */
} gram_surrogate;

gram_status gram_surrogate_make(gram_context *context, int64_t d, double noise, gram_surrogate *out);
void gram_surrogate_free(gram_surrogate *s);

/* All rows again. `learn`: standardises and learns the parameters, from where they were if they are known; otherwise those of
 * the last fit stay. n >= 1. */
gram_status gram_surrogate_fit(gram_context *context, gram_surrogate *s, int64_t n, const double *x, const double *y,
                               int learn);

/* One more row with the parameters as they are. O(n^2). A row that the others determine to rounding is GRAM_ERROR_NUMERICAL. */
gram_status gram_surrogate_append(gram_context *context, gram_surrogate *s, const double *x, double y);
/* Only the first n rows. O(n^2). */
void gram_surrogate_truncate(gram_surrogate *s, int64_t n);

/* Means and variances of f + b at m points, standardised. O(m n^2). */
gram_status gram_surrogate_predict(gram_context *context, const gram_surrogate *s, int64_t m, const double *u,
                                   double *mean, double *variance);

/* The same and, m x n, the covariances of f + b there with f + b at the rows. */
gram_status gram_surrogate_covary(gram_context *context, const gram_surrogate *s, int64_t m, const double *u,
                                  double *mean, double *variance, double *covariance);

/* The gradient of sum_i weights_i covariance_i at the point that gram_surrogate_slope has just been given: d numbers. `work` as that left it; `weights`, n
 * numbers, are spoilt. */
void gram_surrogate_covary_slope(const gram_surrogate *s, const double *work, double *weights, double *slope);

/* Mean and variance at one point, with gradients: d numbers each. `work` has (d + 2) n numbers and holds k(u, x_i) in the first n, then
 * A^-1 of it, then the derivatives by u, n x d, for those who want more. */
gram_status gram_surrogate_slope(gram_context *context, const gram_surrogate *s, const double *u, double *work,
                                 double *mean, double *variance, double *mean_slope, double *variance_slope);

/* The mean at row i, standardised: y - noise (A^-1 (y - b))_i. */
static inline double gram_surrogate_mean_at(const gram_surrogate *s, int64_t i)
{
    return (s->y[i] - s->shift) / s->scale - (s->noise + s->jitter) * s->weights[i];
}

/* The value in the units it was given in. */
static inline double gram_surrogate_value(const gram_surrogate *s, double standardised)
{
    return s->shift + s->scale * standardised;
}

/* ---- between the files ---- */

/* Learns theta from the rows, which are standardised first (surrogate_fit.c). */
gram_status gram_surrogate_learn(gram_context *context, gram_surrogate *s);
/* kernel, amplitude and noise of theta. */
gram_status gram_surrogate_apply(gram_context *context, gram_surrogate *s);

#endif

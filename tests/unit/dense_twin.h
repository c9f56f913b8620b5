/* Linear algebra that is slow and obvious, for the twins of the tests: dense row-major matrices, elimination with pivots, sums
 * in long double. */
#ifndef GRAM_TESTS_DENSE_TWIN_H
#define GRAM_TESTS_DENSE_TWIN_H

#include <stdint.h>

/* b becomes a^-1 b, for an n x n matrix a and b of m columns; returns log |det a|. */
double dense_solve(int64_t n, const double *a, int64_t m, double *b);

/* a becomes its inverse; returns log |det a|. */
double dense_invert(int64_t n, double *a);

/* out = a b, n x k times k x m; dense_multiply_transposed: out = a' b, a being k x n */
void dense_multiply(int64_t n, int64_t k, int64_t m, const double *a, const double *b, double *out);
void dense_multiply_transposed(int64_t n, int64_t k, int64_t m, const double *a, const double *b, double *out);

/* A Gaussian process at n observations y with covariance a (noise included) and a mean of q columns; at m new points their
 * covariances with the observations (n x m), among themselves (m x m), and their columns. flat: the coefficients of the mean
 * have a flat prior; otherwise they are estimated and taken as known. */
typedef struct dense_gp {
    int64_t n, q, m;
    const double *a, *columns, *y;
    const double *cross, *own, *new_columns;
    int flat;
} dense_gp;

/* mean (m) and covariance (m x m) at the new points; returns the log marginal likelihood. */
double dense_gp_posterior(const dense_gp *p, double *mean, double *covariance);

#endif

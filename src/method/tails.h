/* Upper tails of distributions: P(X >= x), accurate to about 1e-13 relative where it is not below 1e-300. */
#ifndef GRAM_METHOD_TAILS_H
#define GRAM_METHOD_TAILS_H

/* Standard normal. */
double gram_tail_normal(double x);

/* Gamma with this shape (> 0) and scale 1; 1 for x <= 0. */
double gram_tail_gamma(double shape, double x);

#endif

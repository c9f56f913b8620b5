/* Upper tails of distributions: P(X >= x), accurate to about 1e-13 relative where it is not below 1e-300; log Gamma. */
#ifndef GRAM_BASE_DISTRIBUTION_TAILS_H
#define GRAM_BASE_DISTRIBUTION_TAILS_H

/* log |Gamma(x)|, from any thread: lgamma writes to a variable of the whole process, signgam. */
double gram_log_gamma(double x);

/* Standard normal. */
double gram_tail_normal(double x);

/* Student's t with this many degrees of freedom (> 0). Rounding of the long continued fraction: 1e-11 at a million degrees. */
double gram_tail_student(double freedom, double t);

/* Gamma with this shape (> 0) and scale 1; 1 for x <= 0. */
double gram_tail_gamma(double shape, double x);

/* -log P(X >= value) for the gamma distribution with this mean and deviation (> 0), 0 below the mean: how surprising a value is. Where
 * the tail underflows it goes on by deviations. */
double gram_tail_gamma_score(double value, double mean, double deviation);

/* Where the tail is that, 0 < tail < 1, by bisection: to some digits less than the tails have. An infinite number of degrees of
 * freedom is the normal distribution. */
double gram_quantile_student(double freedom, double tail);
double gram_quantile_gamma(double shape, double tail);

#endif

/* The fastest exp that we know how to write, as the yardstick of bench_limit. */
#ifndef GRAM_BENCH_LIMIT_EXP_H
#define GRAM_BENCH_LIMIT_EXP_H

/* out[i] = exp(x[i]) for -700 <= x[i] <= 0, to 3 units in the last place. count is a multiple of 16. */
void limit_exp(int count, const double *x, double *out);

/* Does this processor have what limit_exp is compiled for? */
int limit_exp_available(void);

#endif

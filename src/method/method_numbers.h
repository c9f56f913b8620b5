/* The sizes of numbers that a fit takes, in options, kernels and data: their squares are ordinary numbers. */
#ifndef GRAM_METHOD_METHOD_NUMBERS_H
#define GRAM_METHOD_METHOD_NUMBERS_H

#define GRAM_LEAST_NUMBER 1e-150
#define GRAM_MOST_NUMBER 1e150
/* Weights divide and multiply what is squared already. */
#define GRAM_LEAST_WEIGHT 1e-50
#define GRAM_MOST_WEIGHT 1e50
/* of the largest weight: a row that counts less is lost in the rounding of the others */
#define GRAM_LEAST_SHARE 1e-30

#endif

/* What is gained by choosing after a look: E max_i (height_i + slope_i Z) - max_i height_i, Z standard normal, as its logarithm. */
#ifndef GRAM_STUDY_LINE_GAIN_H
#define GRAM_STUDY_LINE_GAIN_H

#include <stdint.h>

typedef struct gram_line {
    double height, slope;
    int64_t index;
} gram_line;

/* The lines are spoilt. -INFINITY if nothing is gained (all slopes are equal). by_height and by_slope, both or neither NULL, get the
 * derivatives of the logarithm at the indices of lines that are somewhere the largest; the rest of them stays as it is. O(count log count). */
double gram_line_gain(gram_line *lines, int64_t count, double *by_height, double *by_slope);

#endif

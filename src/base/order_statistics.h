/* Sorting numbers in place, without memory: qsort of a library may take memory that is not counted. */
#ifndef GRAM_BASE_ORDER_STATISTICS_H
#define GRAM_BASE_ORDER_STATISTICS_H

#include <stdint.h>

/* Ascending; no NaN. O(n log n), a heap sort. */
void gram_sort_numbers(int64_t n, double *values);

#endif

#include "base/order_statistics.h"

void gram_sort_numbers(int64_t n, double *values)
{
    for (int64_t heap = n / 2, end = n; end > 1;) {
        double moved;
        if (heap > 0) { /* the heap is being made */
            moved = values[--heap];
        } else { /* its top goes after it */
            moved = values[--end];
            values[end] = values[0];
        }
        int64_t hole = heap;
        for (int64_t child; (child = 2 * hole + 1) < end; hole = child) {
            if (child + 1 < end && values[child + 1] > values[child]) child++;
            if (!(values[child] > moved)) break;
            values[hole] = values[child];
        }
        values[hole] = moved;
    }
}

/* Rows of one key belong together: the bags of a table. */
#ifndef GRAM_DATA_GROUP_ROW_GROUPS_H
#define GRAM_DATA_GROUP_ROW_GROUPS_H

#include "base/arena.h"

typedef struct gram_row_groups {
    int64_t count;
    int64_t *of_row; /* the group of each row; groups are numbered by their first rows */
    int64_t *start;  /* count + 1: group g has the rows order[start[g]] .. order[start[g + 1] - 1], ascending */
    int64_t *order;
} gram_row_groups;

/* Groups of equal keys, none of which is NaN; all arrays are in the arena. O(n log n). */
gram_status gram_row_groups_find(gram_context *context, gram_arena *arena, int64_t n, const double *keys,
                                 gram_row_groups *groups);

#endif

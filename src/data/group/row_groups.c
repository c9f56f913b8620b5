#include "data/group/row_groups.h"

#include <stdlib.h>
#include <string.h>

typedef struct keyed_row {
    double key;
    int64_t row;
} keyed_row;

static int compare_rows(const void *a, const void *b)
{
    const keyed_row *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* of_row[i] is the first row of i's group. */
static void find_first(int64_t n, const keyed_row *sorted, int64_t *of_row)
{
    int64_t first = 0;
    for (int64_t k = 0; k < n; k++) {
        if (k == 0 || sorted[k].key != sorted[k - 1].key) first = sorted[k].row;
        of_row[sorted[k].row] = first;
    }
}

gram_status gram_row_groups_find(gram_context *context, gram_arena *arena, int64_t n, const double *keys,
                                 gram_row_groups *groups)
{
    gram_status status = GRAM_OK;
    keyed_row *sorted = NULL;
    *groups = (gram_row_groups){0};
    TRY(gram_arena_take(context, arena, "groups of rows", n, sizeof *groups->of_row, (void **)&groups->of_row));
    TRY(gram_arena_take(context, arena, "groups of rows", n + 1, sizeof *groups->start, (void **)&groups->start));
    TRY(gram_arena_take(context, arena, "groups of rows", n, sizeof *groups->order, (void **)&groups->order));
    TRY(gram_take(context, "groups of rows", n, sizeof *sorted, (void **)&sorted));
    for (int64_t i = 0; i < n; i++) sorted[i] = (keyed_row){keys[i] + 0.0, i}; /* -0 + 0 = 0: one group */
    if (n > 0) qsort(sorted, (size_t)n, sizeof *sorted, compare_rows);
    find_first(n, sorted, groups->of_row);
    memset(groups->start, 0, (size_t)(n + 1) * sizeof *groups->start);
    for (int64_t i = 0; i < n; i++) /* a first row comes before the others of its group, and has its number by then */
        groups->of_row[i] = groups->of_row[i] == i ? groups->count++ : groups->of_row[groups->of_row[i]];
    for (int64_t i = 0; i < n; i++) groups->start[groups->of_row[i] + 1]++;
    for (int64_t g = 0; g < groups->count; g++) groups->start[g + 1] += groups->start[g];
    for (int64_t i = n - 1; i >= 0; i--) groups->order[--groups->start[groups->of_row[i] + 1]] = i;
    /* each start moved down to that of its group: start[g + 1] is now where g begins */
    memmove(groups->start, groups->start + 1, (size_t)groups->count * sizeof *groups->start);
    groups->start[groups->count] = n;
done:
    gram_give(context, sorted);
    return status;
}

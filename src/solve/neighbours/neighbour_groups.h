/* Lists of rows, one for each of many targets, in groups of near targets: the matrix of all rows of a group is made once, and the lists
 * are parts of it. */
#ifndef GRAM_SOLVE_NEIGHBOURS_NEIGHBOUR_GROUPS_H
#define GRAM_SOLVE_NEIGHBOURS_NEIGHBOUR_GROUPS_H

#include "base/context.h"

typedef struct gram_neighbour_groups {
    gram_memory *memory;
    int64_t targets, room; /* room: of a list */
    int64_t groups;
    int64_t *end;     /* groups: after its last target */
    int64_t *target;  /* targets, group by group */
    int64_t *start;   /* groups + 1: its rows are members[start[g]] .. */
    int32_t *members; /* rows of a group, each once */
    int32_t
        *lists; /* targets x room: places of a target's rows among the members of its group, rising but for the last */
    int32_t *length; /* targets */
    int64_t members_room;
} gram_neighbour_groups;

/* What groups are made of. Target i has length[i] rows, lists[i * room + ...], the last of which is its own. Both arrays become the groups'. */
typedef struct gram_neighbour_lists {
    int64_t targets, room, d;
    int64_t rows;         /* numbers in lists are below this */
    const double *places; /* targets x d: near targets go together */
    int by_level; /* targets are in an order from coarse to fine: those of one group have nearly the same fineness */
    int32_t *lists, *length;
} gram_neighbour_lists;

/* O(targets room) time. gram_neighbour_groups_free is due after a failure, too, and gives lists and length back to the context's memory. */
gram_status gram_neighbour_groups_make(gram_context *context, const gram_neighbour_lists *lists,
                                       gram_neighbour_groups *groups);
/* Takes groups that were never made, if zeroed. */
void gram_neighbour_groups_free(gram_neighbour_groups *groups);

#endif

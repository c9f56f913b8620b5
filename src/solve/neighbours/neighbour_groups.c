/* Groups of targets, halves of halves along the widest column, as large as pays.
 *
 * K of a group's u rows is made in tiles of 96 x 96, whose strips are 16 rows. A target alone takes the strips of its own rows; a group is
 * taken if it makes no more pairs for each of its targets than that. Near targets in few columns share most of their neighbours, and a
 * group of 64 then takes a quarter; in many columns they share few, and groups are of two or three. Targets of different fineness have
 * neighbours at different distances and share none: levels of the order, each as long as all before it, are parted one by one. */
#include "solve/neighbours/neighbour_groups.h"

#include <string.h>

#include "solve/neighbours/neighbour_tree.h"

enum { MOST_TARGETS = 64, MOST_MEMBERS = 384, PANEL = 96, STRIP = 16 };

typedef struct making {
    gram_context *context;
    const gram_neighbour_lists *given;
    gram_neighbour_groups *g;
    int32_t *stamp; /* rows: the number of the union that it is in, and */
    int32_t *place; /* its place in that */
    int32_t unions;
    int32_t *members; /* of the union at hand */
    int64_t most;     /* room for them */
} making;

static int64_t round_up(int64_t count, int64_t step)
{
    return (count + step - 1) / step * step;
}

/* Pairs that are made of u rows. */
static int64_t pairs_of(int64_t u)
{
    if (u <= PANEL) return round_up(u, STRIP) * PANEL;
    const int64_t panels = round_up(u, PANEL) / PANEL;
    return panels * (panels + 1) / 2 * PANEL * PANEL;
}

/* The union of the lists of some targets; -1 if it is larger than there is room for. */
static int64_t unite(making *m, int64_t count, const int64_t *targets)
{
    const gram_neighbour_lists *given = m->given;
    int64_t size = 0;
    m->unions++;
    for (int64_t i = 0; i < count; i++) {
        const int32_t *list = given->lists + targets[i] * given->room;
        for (int32_t k = 0; k < given->length[targets[i]]; k++) {
            if (m->stamp[list[k]] == m->unions) continue;
            if (size == m->most) return -1;
            m->stamp[list[k]] = m->unions;
            m->members[size++] = list[k];
        }
    }
    return size;
}

/* Rising; lists are short and mostly sorted after the first of a group. */
static void sort_rows(int64_t count, int32_t *rows)
{
    for (int64_t gap = count / 2; gap > 0; gap /= 2)
        for (int64_t i = gap; i < count; i++) {
            const int32_t row = rows[i];
            int64_t j = i;
            for (; j >= gap && rows[j - gap] > row; j -= gap) rows[j] = rows[j - gap];
            rows[j] = row;
        }
}

static gram_status grow(making *m, int64_t more)
{
    gram_status status = GRAM_OK;
    gram_neighbour_groups *g = m->g;
    const int64_t used = g->start[g->groups];
    int32_t *larger = NULL;
    if (used + more <= g->members_room) return GRAM_OK;
    const int64_t room = 2 * (used + more);
    TRY(gram_take(m->context, "neighbours: groups", room, sizeof *larger, (void **)&larger));
    if (used > 0) memcpy(larger, g->members, (size_t)used * sizeof *larger);
    gram_give(m->context, g->members);
    g->members = larger;
    g->members_room = room;
done:
    return status;
}

/* The group of the union at hand; its lists become places in it. */
static gram_status add_group(making *m, int64_t from, int64_t to, int64_t size)
{
    gram_status status = GRAM_OK;
    gram_neighbour_groups *g = m->g;
    TRY(grow(m, size));
    sort_rows(size, m->members);
    memcpy(g->members + g->start[g->groups], m->members, (size_t)size * sizeof *m->members);
    for (int64_t k = 0; k < size; k++) m->place[m->members[k]] = (int32_t)k;
    for (int64_t p = from; p < to; p++) {
        int32_t *list = g->lists + g->target[p] * g->room;
        const int32_t length = g->length[g->target[p]];
        for (int32_t k = 0; k < length; k++) list[k] = m->place[list[k]];
        sort_rows(length - 1, list);
    }
    g->end[g->groups] = to;
    g->start[g->groups + 1] = g->start[g->groups] + size;
    g->groups++;
done:
    return status;
}

/* Groups of the targets at from .. to - 1. Depth is the logarithm of their number. */
static gram_status make_groups(making *m, int64_t from, int64_t to)
{
    gram_status status = GRAM_OK;
    gram_neighbour_groups *g = m->g;
    const int64_t count = to - from, half = count / 2;
    const int64_t size = count <= MOST_TARGETS ? unite(m, count, g->target + from) : -1;
    const int pays = size >= 0 && pairs_of(size) <= count * pairs_of(g->room);
    if (count == 1 || pays) return add_group(m, from, to, size);
    gram_neighbour_halve(m->given->places, m->given->d, count, g->target + from, half);
    TRY(make_groups(m, from, from + half));
    TRY(make_groups(m, from + half, to));
done:
    return status;
}

static gram_status make_all(making *m)
{
    gram_status status = GRAM_OK;
    const int64_t n = m->given->targets;
    for (int64_t from = 0, to; from < n; from = to) {
        to = !m->given->by_level ? n : from == 0 ? MOST_TARGETS : 2 * from;
        if (to > n) to = n;
        TRY(make_groups(m, from, to));
    }
done:
    return status;
}

gram_status gram_neighbour_groups_make(gram_context *context, const gram_neighbour_lists *given,
                                       gram_neighbour_groups *g)
{
    gram_status status = GRAM_OK;
    making m = {.context = context, .given = given, .g = g};
    const char *what = "neighbours: groups";
    const int64_t n = given->targets;
    *g = (gram_neighbour_groups){.memory = gram_memory_retain(context->memory),
                                 .targets = n,
                                 .room = given->room,
                                 .lists = given->lists,
                                 .length = given->length};
    m.most = given->room > MOST_MEMBERS ? given->room : MOST_MEMBERS;
    TRY(gram_take(context, what, n, sizeof *g->end, (void **)&g->end));
    TRY(gram_take(context, what, n, sizeof *g->target, (void **)&g->target));
    TRY(gram_take(context, what, n + 1, sizeof *g->start, (void **)&g->start));
    TRY(gram_take(context, what, given->rows, sizeof *m.stamp, (void **)&m.stamp));
    TRY(gram_take(context, what, given->rows, sizeof *m.place, (void **)&m.place));
    TRY(gram_take(context, what, m.most, sizeof *m.members, (void **)&m.members));
    memset(m.stamp, 0, (size_t)given->rows * sizeof *m.stamp);
    for (int64_t i = 0; i < n; i++) g->target[i] = i;
    g->start[0] = 0;
    TRY(make_all(&m));
done:
    gram_give(context, m.stamp);
    gram_give(context, m.place);
    gram_give(context, m.members);
    return status;
}

void gram_neighbour_groups_free(gram_neighbour_groups *g)
{
    gram_memory *memory = g->memory;
    if (!memory) return;
    gram_memory_give(memory, g->end);
    gram_memory_give(memory, g->target);
    gram_memory_give(memory, g->start);
    gram_memory_give(memory, g->members);
    gram_memory_give(memory, g->lists);
    gram_memory_give(memory, g->length);
    gram_memory_release(memory);
    *g = (gram_neighbour_groups){.memory = NULL};
}

#include "tune/trail/search_trail.h"

#include <string.h>

#include "tune/gradient_search.h"

int gram_trail_leads(const gram_search_trail *trail, int search)
{
    return trail && trail->follows && trail->ends[search][GRAM_TRAIL_ONE].point;
}

gram_status gram_tuning_leave(gram_tuning *t, int which, const gram_candidate *c)
{
    gram_status status = GRAM_OK;
    gram_search_trail *trail = t->trail;
    if (!trail || trail->follows) return status;
    gram_search_end end = {.numbers = c->space.parameters + 1, .variables = c->space.count};
    const int64_t square = end.variables * end.variables;
    TRY(gram_arena_take(t->context, &trail->arena, "tuning: ends", end.numbers, sizeof *end.point,
                        (void **)&end.point));
    gram_candidate_copy(c, c->point, end.point);
    if (c->inverse_known) {
        TRY(gram_arena_take(t->context, &trail->arena, "tuning: ends", square, sizeof *end.inverse,
                            (void **)&end.inverse));
        memcpy(end.inverse, c->inverse, (size_t)square * sizeof *end.inverse);
    }
    trail->ends[t->trail_search][which] = end;
done:
    return status;
}

int gram_tuning_begin_there(const gram_tuning *t, int which, gram_candidate *c)
{
    const gram_space *space = &c->space;
    if (!gram_trail_leads(t->trail, t->trail_search)) return 0;
    const gram_search_end *end = &t->trail->ends[t->trail_search][which];
    if (!end->point || end->numbers != space->parameters + 1 || end->variables != space->count) return 0;
    for (int64_t i = 0; i < space->count; i++) c->point[space->index[i]] = end->point[space->index[i]];
    c->inverse_known = end->inverse != NULL;
    if (end->inverse) memcpy(c->inverse, end->inverse, (size_t)(end->variables * end->variables) * sizeof *c->inverse);
    return 1;
}

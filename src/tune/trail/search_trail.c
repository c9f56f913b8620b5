#include "tune/trail/search_trail.h"

#include <string.h>

#include "tune/gradient_search.h"

static const gram_search_end *end_of(const gram_tuning *t, int which)
{
    return t->trails.from ? &t->trails.from->ends[t->trail_search][which] : NULL;
}

int gram_tuning_follows(const gram_tuning *t)
{
    const gram_search_end *end = end_of(t, GRAM_TRAIL_ONE);
    return end && end->point;
}

double gram_tuning_coarseness(const gram_tuning *t)
{
    enum { COARSE = 5 };
    return gram_tuning_follows(t) && t->trails.from->coarse ? COARSE : 1;
}

gram_status gram_tuning_leave(gram_tuning *t, int which, const gram_candidate *c)
{
    gram_status status = GRAM_OK;
    gram_search_trail *trail = t->trails.to;
    if (!trail) return status;
    gram_search_end end = {.numbers = c->space.parameters + 1, .variables = c->space.count};
    const int64_t square = end.variables * end.variables;
    TRY(gram_arena_take(t->context, trail->arena, "tuning: ends", end.numbers, sizeof *end.point, (void **)&end.point));
    gram_candidate_copy(c, c->point, end.point);
    if (c->inverse_known) {
        TRY(gram_arena_take(t->context, trail->arena, "tuning: ends", square, sizeof *end.inverse,
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
    const gram_search_end *end = end_of(t, which);
    if (!end || !end->point || end->numbers != space->parameters + 1 || end->variables != space->count) return 0;
    for (int64_t i = 0; i < space->count; i++) c->point[space->index[i]] = end->point[space->index[i]];
    c->inverse_known = end->inverse != NULL;
    if (end->inverse) memcpy(c->inverse, end->inverse, (size_t)(end->variables * end->variables) * sizeof *c->inverse);
    return 1;
}

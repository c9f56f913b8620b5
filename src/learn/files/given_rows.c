#include "learn/files/given_rows.h"

#include <stdlib.h>
#include <string.h>

#include <gram/learn.h>

#include "points/given_things.h"
#include "points/points.h"

/* The store of the centres' column that a given matrix belongs to, NULL: there is none. */
static const gram_objects *store_of(const gram_model *model)
{
    const gram_function *f = gram_model_function(model);
    const gram_points *x = f ? gram_function_centres(f) : NULL;
    for (int64_t l = 0; x && l < x->d; l++)
        if (gram_points_kind(x, l) == GRAM_OBJECT_GIVEN) return x->objects[l];
    return NULL;
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

gram_status gram_given_needed(gram_context *context, gram_arena *arena, const gram_model *model, int64_t *known,
                              int64_t *count, const int64_t **rows)
{
    gram_status status = GRAM_OK;
    const gram_objects *store = store_of(model);
    int64_t *made;
    *known = *count = 0;
    *rows = NULL;
    if (!store) return status;
    TRY(gram_arena_take(context, arena, "given matrix", store->count, sizeof *made, (void **)&made));
    for (int64_t i = 0; i < store->count; i++) made[i] = store->index[i];
    qsort(made, (size_t)store->count, sizeof *made, compare);
    for (int64_t i = 0; i < store->count; i++)
        if (i == 0 || made[i] != made[i - 1]) made[(*count)++] = made[i];
    *known = store->d;
    *rows = made;
done:
    return status;
}

gram_status gram_given_match(gram_context *context, const gram_model *model, gram_table *table)
{
    gram_status status = GRAM_OK;
    gram_arena arena;
    int64_t known, count;
    const int64_t *rows;
    if (!table->given) return status;
    gram_arena_init(&arena, context->memory);
    TRY(gram_given_needed(context, &arena, model, &known, &count, &rows));
    if (count > 0) TRY(gram_given_name_columns(context, table->given, count, rows));
done:
    gram_arena_release(&arena);
    return status;
}

int64_t gram_model_given_rows(const gram_model *model)
{
    const gram_objects *store = store_of(model);
    return store ? store->d : 0;
}

/* Preparations as descriptions: made, told, counted. */
#include <gram/preparation.h>

#include <stdatomic.h>
#include <string.h>

#include "../base/arena.h"

struct gram_preparation {
    atomic_int references;
    gram_memory *memory;
    gram_arena arena;
    gram_preparation_description description;
};

static gram_status copy_text(gram_context *context, gram_arena *arena, const char *from, const char **to)
{
    gram_status status = GRAM_OK;
    char *copy;
    FAIL_IF(!from, context, GRAM_ERROR_ARGUMENT, "preparation_create: a name is NULL");
    TRY(gram_arena_take(context, arena, "preparation", (int64_t)strlen(from) + 1, 1, (void **)&copy));
    memcpy(copy, from, strlen(from) + 1);
    *to = copy;
done:
    return status;
}

static gram_status copy_columns(gram_context *context, gram_arena *arena, int64_t count, const gram_column *from,
                                const gram_column **to)
{
    gram_status status = GRAM_OK;
    gram_column *made;
    TRY(gram_arena_take(context, arena, "preparation", count, sizeof *made, (void **)&made));
    *to = made;
    for (int64_t i = 0; i < count; i++) {
        const char **levels;
        made[i] = from[i];
        TRY(copy_text(context, arena, from[i].name, &made[i].name));
        TRY(gram_arena_take(context, arena, "preparation", from[i].level_count, sizeof *levels, (void **)&levels));
        made[i].levels = levels;
        for (int64_t l = 0; l < from[i].level_count; l++) TRY(copy_text(context, arena, from[i].levels[l], &levels[l]));
    }
done:
    return status;
}

gram_status gram_preparation_create(gram_context *context, const gram_preparation_description *description,
                                    gram_preparation **preparation)
{
    gram_status status = GRAM_OK;
    gram_preparation *made = NULL;
    *preparation = NULL;
    TRY(gram_take(context, "preparation", 1, sizeof *made, (void **)&made));
    atomic_init(&made->references, 1);
    made->memory = gram_memory_retain(context->memory);
    gram_arena_init(&made->arena, made->memory);
    made->description = *description;
    gram_preparation_description *d = &made->description;
    TRY(copy_columns(context, &made->arena, d->feature_count, description->features, &d->features));
    TRY(copy_columns(context, &made->arena, d->target_count, description->targets, &d->targets));
    if (d->weights) TRY(copy_columns(context, &made->arena, 1, description->weights, &d->weights));
    *preparation = made;
    made = NULL;
done:
    gram_preparation_release(made);
    return status;
}

const gram_preparation_description *gram_preparation_describe(const gram_preparation *preparation)
{
    return &preparation->description;
}

gram_preparation *gram_preparation_retain(gram_preparation *preparation)
{
    if (preparation) atomic_fetch_add(&preparation->references, 1);
    return preparation;
}

void gram_preparation_release(gram_preparation *preparation)
{
    if (!preparation || atomic_fetch_sub(&preparation->references, 1) != 1) return;
    gram_memory *memory = preparation->memory;
    gram_arena_release(&preparation->arena);
    gram_memory_give(memory, preparation, sizeof *preparation);
    gram_memory_release(memory);
}

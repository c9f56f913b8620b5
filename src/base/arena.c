#include "base/arena.h"

#include <string.h>

/* Chunks double in size between these two; a block larger than the next chunk gets one of its own size. */
enum { FIRST_CHUNK = 2 << 10, LARGEST_CHUNK = 1 << 20 };

struct gram_arena_chunk {
    gram_arena_chunk *older;
    size_t bytes; /* all of it, this header included */
};

enum { HEADER = GRAM_ALIGNMENT };
_Static_assert(sizeof(gram_arena_chunk) <= HEADER, "the header keeps the blocks aligned");

void gram_arena_init(gram_arena *arena, gram_memory *memory)
{
    *arena = (gram_arena){.memory = memory};
}

static size_t next_chunk_bytes(const gram_arena *arena)
{
    if (!arena->chunk) return FIRST_CHUNK;
    const size_t last = arena->chunk->bytes;
    return last >= LARGEST_CHUNK / 2 ? LARGEST_CHUNK : 2 * last;
}

static int budget_has(const gram_memory *memory, size_t bytes)
{
    const size_t budget = gram_memory_budget(memory), used = gram_memory_used(memory);
    return budget == 0 || (used <= budget && bytes <= budget - used);
}

/* A chunk with room for `bytes`: the usual size if the budget has that much, else just enough. */
static gram_status add_chunk(gram_context *context, gram_arena *arena, const char *what, int64_t bytes)
{
    void *block;
    const size_t least = (size_t)bytes + HEADER;
    size_t chunk_bytes = next_chunk_bytes(arena);
    if (chunk_bytes < least || !budget_has(arena->memory, chunk_bytes)) chunk_bytes = least;
    const gram_status status = gram_take_from(context, arena->memory, what, (int64_t)chunk_bytes, 1, &block);
    if (status < 0) return status;
    gram_arena_chunk *chunk = block;
    chunk->older = arena->chunk;
    chunk->bytes = chunk_bytes;
    arena->chunk = chunk;
    arena->used = HEADER;
    return GRAM_OK;
}

gram_status gram_arena_take(gram_context *context, gram_arena *arena, const char *what, int64_t count, size_t size,
                            void **out)
{
    int64_t bytes;
    *out = NULL;
    if (!gram_size_multiply(count, (int64_t)size, &bytes) || bytes > INT64_MAX - 2 * HEADER)
        return gram_take_from(context, arena->memory, what, count, size, out); /* fails, and says so */
    if (bytes == 0) return GRAM_OK;
    bytes = (bytes + GRAM_ALIGNMENT - 1) / GRAM_ALIGNMENT * GRAM_ALIGNMENT;
    if (!arena->chunk || (size_t)bytes > arena->chunk->bytes - arena->used) {
        const gram_status status = add_chunk(context, arena, what, bytes);
        if (status < 0) return status;
    }
    *out = (char *)arena->chunk + arena->used;
    arena->used += (size_t)bytes;
    memset(*out, 0, (size_t)bytes);
    return GRAM_OK;
}

void gram_arena_release(gram_arena *arena)
{
    while (arena->chunk) {
        gram_arena_chunk *older = arena->chunk->older;
        gram_memory_give(arena->memory, arena->chunk);
        arena->chunk = older;
    }
    arena->used = 0;
}

/* An arena: many small blocks that are freed together.
 *
 * For objects made of many parts, such as a parsed kernel: each part is taken from the arena and one release gives all
 * of it back. An arena belongs to one thread at a time. */
#ifndef GRAM_BASE_ARENA_H
#define GRAM_BASE_ARENA_H

#include "base/context.h"

typedef struct gram_arena_chunk gram_arena_chunk;

typedef struct gram_arena {
    gram_memory *memory;     /* borrowed: it must outlive the arena */
    gram_arena_chunk *chunk; /* the newest, which links to the others; NULL if there is none */
    size_t used;             /* bytes of the newest chunk in use */
} gram_arena;

void gram_arena_init(gram_arena *arena, gram_memory *memory);

/* count * size bytes, 64-byte aligned and zeroed, that live until the release. A failure names `what` and the sizes as
 * gram_take does, and leaves the arena as it was. 0 bytes give NULL and success. Amortised O(bytes). */
gram_status gram_arena_take(gram_context *context, gram_arena *arena, const char *what, int64_t count, size_t size,
                            void **out);

/* Gives back everything; the arena is empty and can be used again. */
void gram_arena_release(gram_arena *arena);

#endif

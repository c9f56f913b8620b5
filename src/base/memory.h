/* Memory with a budget: every object and every scratch array of libgram comes from here.
 *
 * A gram_memory is shared and counted: the context holds one reference, each object made with that context another, so
 * that objects may outlive their context. All functions may be called from several threads. */
#ifndef GRAM_BASE_MEMORY_H
#define GRAM_BASE_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include <gram/context.h>

typedef struct gram_memory gram_memory;

enum { GRAM_ALIGNMENT = 64 };

gram_status gram_memory_create(const gram_allocator *allocator, size_t budget, gram_memory **memory);
gram_memory *gram_memory_retain(gram_memory *memory);
void gram_memory_release(gram_memory *memory);

/* Takes bytes (64-byte aligned, not cleared) or fails with GRAM_ERROR_BUDGET or GRAM_ERROR_MEMORY and *out = NULL.
 * bytes = 0 gives NULL and success. The block remembers its size in the 64 bytes before it, which the allocator is asked
 * for as well; the budget counts the bytes asked for here. */
gram_status gram_memory_take(gram_memory *memory, size_t bytes, void **out);

/* Gives a block back to the memory that it was taken from. block may be NULL. */
void gram_memory_give(gram_memory *memory, void *block);

size_t gram_memory_budget(const gram_memory *memory);
/* From now on; what is held stays. */
void gram_memory_set_budget(gram_memory *memory, size_t budget);
size_t gram_memory_used(const gram_memory *memory);
size_t gram_memory_peak(const gram_memory *memory);

/* *out = a * b; 0 if it does not fit in 63 bits or one of them is negative. */
int gram_size_multiply(int64_t a, int64_t b, int64_t *out);

/* What is free on this machine by the files below `root` ("" is the system's), without RLIMIT_AS; (size_t)-1 if nothing is
 * known (system_memory.c). */
size_t gram_system_memory_free(const char *root);

/* How many processors this process may use (system_memory.c). */
int gram_system_processors(void);

#endif

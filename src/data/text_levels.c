#include "data/text_levels.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <gram/table.h>

/* Slots are plenty: those taken after the limit was passed, one for each thread, find room too. They are made by segments, when
 * a text first falls into one: most columns have few levels, and a table may have many columns. */
enum { SLOTS = 1 << 14, MANY_SLOTS = 1 << 23, SEGMENT = 1 << 7, MANY_LEVELS = 1 << 22 };

typedef struct level {
    struct level *before; /* of all levels, in the order of arrival */
    size_t length;
    int64_t slot;
    int64_t place; /* after the sort */
    char text[];   /* with its final 0 */
} level;

typedef struct segment {
    _Atomic(level *) slots[SEGMENT];
} segment;

struct gram_levels {
    gram_memory *memory;
    atomic_int count;      /* may pass the limit by the number of threads */
    atomic_int given_up;   /* too many, or one too long */
    _Atomic(level *) last; /* that arrived */
    level **sorted;        /* NULL before the sort */
    int64_t sorted_count;  /* that the array holds */
    int64_t slots, most;   /* of the table, and levels in it */
    size_t longest;
    _Atomic(segment *) *segments;
};

_Static_assert((int)GRAM_MOST_LEVELS < SLOTS * 3 / 4, "a full hash table is slow, and endless when it overflows");

static gram_status create(gram_context *context, const gram_levels *shape, gram_levels **levels)
{
    gram_status status = GRAM_OK;
    const int64_t segments = shape->slots / SEGMENT;
    gram_levels *made = NULL;
    TRY(gram_take(context, "table: levels", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->slots = shape->slots;
    made->most = shape->most;
    made->longest = shape->longest;
    TRY(gram_take(context, "table: levels", segments, sizeof *made->segments, (void **)&made->segments));
    for (int64_t i = 0; i < segments; i++) atomic_init(&made->segments[i], NULL);
    *levels = made;
    made = NULL;
done:
    gram_levels_destroy(made);
    return status;
}

gram_status gram_levels_create(gram_context *context, gram_levels **levels)
{
    const gram_levels shape = {.slots = SLOTS, .most = GRAM_MOST_LEVELS, .longest = GRAM_LONGEST_LEVEL};
    return create(context, &shape, levels);
}

gram_status gram_levels_create_many(gram_context *context, gram_levels **levels)
{
    const gram_levels shape = {.slots = MANY_SLOTS, .most = MANY_LEVELS, .longest = SIZE_MAX};
    return create(context, &shape, levels);
}

static size_t level_bytes(size_t length)
{
    return sizeof(level) + length + 1;
}

/* Of a slot whose segment was made. */
static _Atomic(level *) *slot_of(const gram_levels *levels, int64_t slot)
{
    return &atomic_load(&levels->segments[slot / SEGMENT])->slots[slot % SEGMENT];
}

void gram_levels_clear(gram_levels *levels)
{
    for (level *one = atomic_exchange(&levels->last, NULL); one;) {
        level *before = one->before;
        atomic_store(slot_of(levels, one->slot), NULL);
        gram_memory_give(levels->memory, one);
        one = before;
    }
    gram_memory_give(levels->memory, levels->sorted);
    levels->sorted = NULL;
    levels->sorted_count = 0;
    atomic_store(&levels->count, 0);
    atomic_store(&levels->given_up, 0);
}

void gram_levels_destroy(gram_levels *levels)
{
    if (!levels) return;
    gram_memory *memory = levels->memory;
    gram_levels_clear(levels);
    for (int64_t i = 0; levels->segments && i < levels->slots / SEGMENT; i++)
        gram_memory_give(memory, atomic_load(&levels->segments[i]));
    gram_memory_give(memory, levels->segments);
    gram_memory_give(memory, levels);
    gram_memory_release(memory);
}

/* FNV-1a, its high bits folded into the low ones */
static unsigned hash(const char *text, size_t length)
{
    uint64_t h = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
    return (unsigned)(h ^ h >> 32);
}

static gram_status make_level(gram_levels *levels, const char *text, size_t length, level **made)
{
    const gram_status status = gram_memory_take(levels->memory, level_bytes(length), (void **)made);
    if (status < 0) return status;
    (*made)->length = length;
    memcpy((*made)->text, text, length);
    (*made)->text[length] = '\0';
    return status;
}

static int holds(const level *one, const char *text, size_t length)
{
    return one->length == length && memcmp(one->text, text, length) == 0;
}

/* The segment is there afterwards, whichever thread made it. */
static gram_status need_segment(gram_levels *levels, int64_t slot)
{
    _Atomic(segment *) *place = &levels->segments[slot / SEGMENT];
    segment *made = NULL, *none = NULL;
    if (atomic_load(place)) return GRAM_OK;
    const gram_status status = gram_memory_take(levels->memory, sizeof *made, (void **)&made);
    if (status < 0) return status;
    for (int i = 0; i < SEGMENT; i++) atomic_init(&made->slots[i], NULL);
    if (!atomic_compare_exchange_strong(place, &none, made)) gram_memory_give(levels->memory, made);
    return status;
}

static void append(gram_levels *levels, level *one)
{
    one->before = atomic_load(&levels->last);
    while (!atomic_compare_exchange_weak(&levels->last, &one->before, one)) {}
    if (atomic_fetch_add(&levels->count, 1) >= levels->most) atomic_store(&levels->given_up, 1);
}

/* Walks from the hash's slot to the text or to a free slot, and takes that unless another thread was faster. */
static gram_status find_or_take(gram_levels *levels, const char *text, size_t length, int64_t *slot)
{
    gram_status status = GRAM_OK;
    level *made = NULL;
    int64_t at = (int64_t)(hash(text, length) % (uint64_t)levels->slots);
    for (;; at = (at + 1) % levels->slots) {
        TRY(need_segment(levels, at));
        level *there = atomic_load(slot_of(levels, at));
        if (!there) {
            if (!made) TRY(make_level(levels, text, length, &made));
            made->slot = at;
            if (atomic_compare_exchange_strong(slot_of(levels, at), &there, made)) {
                append(levels, made);
                made = NULL;
                break;
            }
        }
        if (holds(there, text, length)) break;
    }
    *slot = at;
done:
    gram_memory_give(levels->memory, made);
    return status;
}

gram_status gram_levels_insert(gram_levels *levels, const char *text, size_t length, int64_t *slot)
{
    *slot = -1;
    if (length > levels->longest) atomic_store(&levels->given_up, 1);
    if (atomic_load_explicit(&levels->given_up, memory_order_relaxed)) return GRAM_OK;
    return find_or_take(levels, text, length, slot);
}

static int compare(const void *a, const void *b)
{
    return strcmp((*(level *const *)a)->text, (*(level *const *)b)->text);
}

gram_status gram_levels_sort(gram_context *context, gram_levels *levels)
{
    gram_status status = GRAM_OK;
    if (atomic_load(&levels->given_up)) {
        gram_levels_clear(levels);
        atomic_store(&levels->given_up, 1);
        return status;
    }
    levels->sorted_count = atomic_load(&levels->count);
    TRY(gram_take_from(context, levels->memory, "table: levels", levels->sorted_count, sizeof *levels->sorted,
                       (void **)&levels->sorted));
    level *one = atomic_load(&levels->last);
    for (int64_t i = levels->sorted_count; i > 0; one = one->before) levels->sorted[--i] = one;
    if (levels->sorted) qsort(levels->sorted, (size_t)levels->sorted_count, sizeof *levels->sorted, compare);
    for (int64_t i = 0; i < levels->sorted_count; i++) levels->sorted[i]->place = i;
done:
    return status;
}

int64_t gram_levels_count(const gram_levels *levels)
{
    return atomic_load(&levels->given_up) ? -1 : levels->sorted_count;
}

int64_t gram_levels_place(const gram_levels *levels, int64_t slot)
{
    return atomic_load_explicit(slot_of(levels, slot), memory_order_relaxed)->place;
}

size_t gram_levels_length(const gram_levels *levels, int64_t place)
{
    return levels->sorted[place]->length;
}

const char *gram_levels_text(const gram_levels *levels, int64_t place)
{
    return levels->sorted[place]->text;
}

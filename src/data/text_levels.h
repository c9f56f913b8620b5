/* The levels of a text column: its different texts, each kept once.
 *
 * A hash table of fixed size into which several threads insert at once: a slot is taken by one compare-and-swap and never
 * changes after. While a file is read, a cell holds the slot of its text; the order of arrival, which depends on the
 * threads, decides slots but not the result, because at the end the levels are sorted and the cells renumbered. */
#ifndef GRAM_DATA_TEXT_LEVELS_H
#define GRAM_DATA_TEXT_LEVELS_H

#include "base/context.h"

typedef struct gram_levels gram_levels;

gram_status gram_levels_create(gram_context *context, gram_levels **levels);
/* For some millions of texts of any length. */
gram_status gram_levels_create_many(gram_context *context, gram_levels **levels);
/* Takes NULL. */
void gram_levels_destroy(gram_levels *levels);

/* The slot of a text, -1 when there are too many levels or this one is too long; then all of them are given up.
 * GRAM_ERROR_MEMORY or GRAM_ERROR_BUDGET without a message, because any thread may call it. */
gram_status gram_levels_insert(gram_levels *levels, const char *text, size_t length, int64_t *slot);

/* Sorts the levels. To be called by one thread, when all are there. */
gram_status gram_levels_sort(gram_context *context, gram_levels *levels);

/* After the sort: how many there are (-1: given up), the place of the one in a slot, and the one at a place. */
int64_t gram_levels_count(const gram_levels *levels);
int64_t gram_levels_place(const gram_levels *levels, int64_t slot);
const char *gram_levels_text(const gram_levels *levels, int64_t place);
size_t gram_levels_length(const gram_levels *levels, int64_t place);

/* As if just created. */
void gram_levels_clear(gram_levels *levels);

#endif

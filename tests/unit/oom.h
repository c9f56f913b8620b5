/* Every allocation of a play failing in turn: for tests that bring a play of their own.
 *
 * A play makes what it makes with the context it is given, and destroys it again whatever happens. */
#ifndef GRAM_TESTS_OOM_H
#define GRAM_TESTS_OOM_H

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

typedef struct oom_book {
    atomic_llong made, blocks;
    long long fail_at; /* this one fails; -1: none */
    int for_good;      /* and all after it */
} oom_book;

static inline void *oom_allocate(void *user, size_t bytes)
{
    oom_book *book = user;
    const long long number = atomic_fetch_add(&book->made, 1);
    if (book->fail_at >= 0 && (number == book->fail_at || (book->for_good && number > book->fail_at))) return NULL;
    void *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!block) return NULL;
    memset(block, 0xa5, bytes); /* whoever counts on zeros is found out */
    atomic_fetch_add(&book->blocks, 1);
    return block;
}

static inline void oom_release(void *user, void *block, size_t bytes)
{
    (void)bytes;
    if (block) atomic_fetch_sub(&((oom_book *)user)->blocks, 1);
    free(block);
}

typedef gram_status (*oom_play)(gram_context *context);

/* The status of the play with this book and budget; fails the test if anything is held afterwards or a failure has no
 * message. */
static inline gram_status oom_run(oom_play play, oom_book *book, size_t budget)
{
    gram_context_options options;
    gram_context *context = NULL;
    gram_context_options_init(&options, sizeof options);
    options.threads = 1;
    options.memory_budget = budget;
    options.allocator = (gram_allocator){oom_allocate, oom_release, book};
    gram_status status = gram_context_create(&options, &context);
    if (status == GRAM_OK) {
        status = play(context);
        if (status < 0 && !*gram_context_message(context)) FAIL_TEST("failure %lld left no message", book->fail_at);
        if (budget && gram_context_memory_peak(context) > budget) FAIL_TEST("more than %zu bytes were held", budget);
    }
    gram_context_destroy(context);
    if (atomic_load(&book->blocks)) FAIL_TEST("failure %lld: blocks leaked", book->fail_at);
    return status;
}

/* The play with allocation k failing: whether it was never asked for. */
static inline int oom_one(oom_play play, long long k, int for_good)
{
    oom_book book = {.fail_at = k, .for_good = for_good};
    const gram_status status = oom_run(play, &book, 0);
    if (status == GRAM_OK && atomic_load(&book.made) <= k) return 1;
    if (status == GRAM_OK && for_good) FAIL_TEST("failure %lld went unnoticed", k);
    if (status != GRAM_OK && status != GRAM_ERROR_MEMORY)
        FAIL_TEST("failure %lld gave %s", k, gram_status_name(status));
    return 0;
}

/* How many allocations the play needs; each of them fails once, alone or with all that follow. */
static inline long long oom_each(oom_play play, int for_good)
{
    for (long long k = 0;; k++)
        if (oom_one(play, k, for_good)) return k;
}

/* The same for plays that repeat themselves: all of the first ones fail, then one in `stride`. */
static inline long long oom_some(oom_play play, long long first, long long stride)
{
    for (long long k = 0;; k += k < first ? 1 : stride)
        if (oom_one(play, k, 0)) return k;
}

/* Budgets that grow until the play is content: its least budget, more or less. */
static inline size_t oom_budget(oom_play play)
{
    for (size_t bytes = 512;; bytes += bytes / 16) {
        oom_book book = {.fail_at = -1};
        const gram_status status = oom_run(play, &book, bytes);
        if (status == GRAM_OK) return bytes;
        if (status != GRAM_ERROR_BUDGET) FAIL_TEST("a budget of %zu gave %s", bytes, gram_status_name(status));
        assert_true(bytes < (size_t)1 << 32);
    }
}

#endif

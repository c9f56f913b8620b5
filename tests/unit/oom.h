/* Every allocation of a play failing in turn: for tests that bring a play of their own.
 *
 * A play makes what it makes with the context it is given, and destroys it again whatever happens. Where one allocation fails,
 * the play may do with less (an arena asks for a smaller chunk); where all after it fail too, some call must fail. */
#ifndef GRAM_TESTS_OOM_H
#define GRAM_TESTS_OOM_H

#include <ctype.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

/* In a play, with `status` and the label `done`: the first failure ends it. */
#define STEP(call)                                                                                                     \
    do {                                                                                                               \
        status = (call);                                                                                               \
        if (status < 0) goto done;                                                                                     \
    } while (0)

typedef struct oom_book {
    atomic_llong made, largest; /* allocations so far; the largest that was asked for */
    atomic_llong blocks, bytes; /* held now */
    long long fail_at;          /* this one fails; -1: none */
    int for_good;               /* and all after it */
} oom_book;

static inline void *oom_allocate(void *user, size_t bytes)
{
    oom_book *book = user;
    const long long number = atomic_fetch_add(&book->made, 1);
    if ((long long)bytes > book->largest) book->largest = (long long)bytes; /* near enough when threads race */
    if (book->fail_at >= 0 && (number == book->fail_at || (book->for_good && number > book->fail_at))) return NULL;
    void *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!block) return NULL;
    memset(block, 0xa5, bytes); /* whoever counts on zeros is found out */
    atomic_fetch_add(&book->blocks, 1);
    atomic_fetch_add(&book->bytes, (long long)bytes);
    return block;
}

static inline void oom_release(void *user, void *block, size_t bytes)
{
    oom_book *book = user;
    if (!block) return;
    atomic_fetch_sub(&book->blocks, 1);
    atomic_fetch_sub(&book->bytes, (long long)bytes);
    free(block);
}

/* For .allocator */
static inline gram_allocator oom_allocator(oom_book *book)
{
    return (gram_allocator){oom_allocate, oom_release, book};
}

static inline void oom_nothing_held(const oom_book *book)
{
    const long long blocks = atomic_load(&book->blocks), bytes = atomic_load(&book->bytes);
    if (blocks || bytes) FAIL_TEST("failure %lld: %lld blocks of %lld bytes leaked", book->fail_at, blocks, bytes);
}

typedef gram_status (*oom_play)(gram_context *context);

/* Sizes come in words: "needs 3.2 KiB, with 17 B in use and a memory budget of 1 KiB". */
static inline int oom_names_sizes(const char *message)
{
    int sizes = 0;
    for (const char *at = message; (at = strchr(at, 'B')); at++)
        sizes += at > message && (at[-1] == 'i' || isspace((unsigned char)at[-1]));
    return sizes >= 2 && strstr(message, "budget");
}

static inline void oom_check(const gram_context *context, gram_status status, const oom_book *book, size_t budget)
{
    const char *message = gram_context_message(context);
    if (status < 0 && !*message) FAIL_TEST("failure %lld left no message", book->fail_at);
    if (status == GRAM_ERROR_MEMORY && !strstr(message, "the system has no") && !strstr(message, "no memory"))
        FAIL_TEST("failure %lld gave '%s'", book->fail_at, message);
    if (status == GRAM_ERROR_BUDGET && !oom_names_sizes(message))
        FAIL_TEST("a budget of %zu bytes gave '%s'", budget, message);
    if (budget && gram_context_memory_peak(context) > budget) FAIL_TEST("more than %zu bytes were held", budget);
}

/* The status of the play with this book and budget; fails the test if anything is held afterwards or a failure has no
 * message. */
static inline gram_status oom_run(oom_play play, oom_book *book, int threads, size_t budget)
{
    const gram_context_options options = {
        .size = sizeof options, .threads = threads, .memory_budget = budget, .allocator = oom_allocator(book)};
    gram_context *context = NULL;
    gram_status status = gram_context_create(&options, &context);
    if (status == GRAM_OK) {
        status = play(context);
        oom_check(context, status, book, budget);
    }
    gram_context_destroy(context);
    oom_nothing_held(book);
    return status;
}

/* The play with allocation k failing: whether it was never asked for. */
static inline int oom_one(oom_play play, int threads, long long k, int for_good)
{
    oom_book book = {.fail_at = k, .for_good = for_good};
    const gram_status status = oom_run(play, &book, threads, 0);
    if (status == GRAM_OK && atomic_load(&book.made) <= k) return 1;
    if (status == GRAM_OK && for_good) FAIL_TEST("failure %lld went unnoticed", k);
    if (status != GRAM_OK && status != GRAM_ERROR_MEMORY)
        FAIL_TEST("failure %lld gave %s", k, gram_status_name(status));
    return 0;
}

/* How many allocations the play needs, nearly; one in `stride` fails, alone or with all that follow. */
static inline long long oom_every(oom_play play, int for_good, long long stride)
{
    for (long long k = 0;; k += stride)
        if (oom_one(play, 1, k, for_good)) return k;
}

/* Each of them. */
static inline long long oom_each(oom_play play, int for_good)
{
    return oom_every(play, for_good, 1);
}

/* The same for plays that repeat themselves: all of the first ones fail, then one in `stride`. */
static inline long long oom_some(oom_play play, long long first, long long stride)
{
    for (long long k = 0;; k += k < first ? 1 : stride)
        if (oom_one(play, 1, k, 0)) return k;
}

/* Budgets that grow until the play is content: its least budget, more or less. */
static inline size_t oom_budget(oom_play play)
{
    for (size_t bytes = 512;; bytes += bytes / 16) {
        oom_book book = {.fail_at = -1};
        const gram_status status = oom_run(play, &book, 1, bytes);
        if (status == GRAM_OK) return bytes;
        if (status != GRAM_ERROR_BUDGET) FAIL_TEST("a budget of %zu gave %s", bytes, gram_status_name(status));
        assert_true(bytes < (size_t)1 << 32);
    }
}

/* All of it, for a play of more than `least` allocations. */
static inline void oom_all(oom_play play, long long least)
{
    const long long count = oom_each(play, 0);
    if (count <= least) FAIL_TEST("%lld allocations, expected more than %lld", count, least);
    (void)oom_each(play, 1);
    (void)oom_budget(play);
}

#endif

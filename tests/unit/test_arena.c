/* The arena: alignment, zeros, no overlap, and what happens when memory runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/arena.h"

/* An allocator that counts what it gives and fails from call `fail_at` on; memory is full of 0xAA. */
typedef struct counting {
    int calls, fail_at, live;
} counting;

static void *counted_allocate(void *user, size_t bytes)
{
    counting *counter = user;
    if (++counter->calls >= counter->fail_at) return NULL;
    void *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    memset(block, 0xAA, bytes);
    counter->live++;
    return block;
}

static void counted_release(void *user, void *block, size_t bytes)
{
    ((counting *)user)->live--;
    (void)bytes;
    free(block);
}

static gram_context *make_context(counting *counter, size_t budget)
{
    gram_context *context;
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.memory_budget = budget;
    options.allocator = (gram_allocator){counted_allocate, counted_release, counter};
    assert_int_equal(gram_context_create(&options, &context), GRAM_OK);
    return context;
}

static void test_blocks(void **state)
{
    (void)state;
    enum { BLOCKS = 500 };
    counting counter = {0, 1 << 30, 0};
    gram_context *context = make_context(&counter, 0);
    const size_t before = gram_context_memory_used(context);
    unsigned char *block[BLOCKS];
    gram_arena arena;
    gram_arena_init(&arena, context->memory);
    for (int again = 0; again < 2; again++) {
        for (int i = 0; i < BLOCKS; i++) {
            const size_t bytes = (size_t)(1 + i * i % 7001);
            assert_int_equal(gram_arena_take(context, &arena, "block", 1, bytes, (void **)&block[i]), GRAM_OK);
            assert_true((uintptr_t)block[i] % 64 == 0);
            for (size_t k = 0; k < bytes; k++) assert_int_equal(block[i][k], 0);
            memset(block[i], i & 0xFF, bytes);
        }
        for (int i = 0; i < BLOCKS; i++)
            for (int k = 0; k < 1 + i * i % 7001; k++) assert_int_equal(block[i][k], i & 0xFF);
        assert_true(counter.calls < BLOCKS / 4);
        gram_arena_release(&arena);
        assert_true(gram_context_memory_used(context) == before);
    }
    gram_arena_release(&arena);
    gram_context_destroy(context);
    assert_int_equal(counter.live, 0);
}

static void test_nothing(void **state)
{
    (void)state;
    counting counter = {0, 1 << 30, 0};
    gram_context *context = make_context(&counter, 0);
    gram_arena arena;
    void *block = &arena;
    gram_arena_init(&arena, context->memory);
    const int calls = counter.calls;
    assert_int_equal(gram_arena_take(context, &arena, "block", 0, 8, &block), GRAM_OK);
    assert_null(block);
    assert_int_equal(counter.calls, calls);
    gram_arena_release(&arena);
    gram_context_destroy(context);
}

static void test_budget(void **state)
{
    (void)state;
    counting counter = {0, 1 << 30, 0};
    gram_context *context = make_context(&counter, 4096);
    gram_arena arena;
    char *first;
    void *block;
    gram_arena_init(&arena, context->memory);
    assert_int_equal(gram_arena_take(context, &arena, "first", 10, 1, (void **)&first), GRAM_OK);
    memset(first, 3, 10);
    assert_int_equal(gram_arena_take(context, &arena, "kernel: its parts", 1000, 8, &block), GRAM_ERROR_BUDGET);
    assert_null(block);
    assert_non_null(strstr(gram_context_message(context), "kernel: its parts: needs 7.9 KiB"));
    assert_non_null(strstr(gram_context_message(context), "budget of 4 KiB"));
    /* small blocks still fit, although a chunk of the usual size does not */
    int taken = 0;
    while (gram_arena_take(context, &arena, "more", 64, 1, &block) == GRAM_OK) taken++;
    assert_true(taken >= 28);
    assert_true(gram_context_memory_used(context) > 3600);
    for (int i = 0; i < 10; i++) assert_int_equal(first[i], 3);
    assert_int_equal(gram_arena_take(context, &arena, "huge", INT64_MAX, 16, &block), GRAM_ERROR_OVERFLOW);
    assert_non_null(strstr(gram_context_message(context), "huge: 9223372036854775807 items of 16 bytes"));
    assert_true(gram_arena_take(context, &arena, "huge", INT64_MAX - 5, 1, &block) < 0);
    assert_true(gram_arena_take(context, &arena, "negative", -1, 8, &block) < 0);
    gram_arena_release(&arena);
    gram_context_destroy(context);
    assert_int_equal(counter.live, 0);
}

/* Fails at every k-th allocation in turn; nothing may be lost. */
static void test_failing_allocator(void **state)
{
    (void)state;
    int failures = 0;
    for (int k = 1; k < 12; k++) {
        counting counter = {0, 1 << 30, 0};
        gram_context *context = make_context(&counter, 0);
        const size_t before = gram_context_memory_used(context);
        gram_arena arena;
        void *block;
        gram_arena_init(&arena, context->memory);
        counter.fail_at = counter.calls + k;
        for (int i = 0; i < 200; i++) {
            const gram_status status = gram_arena_take(context, &arena, "parts", 100, 8, &block);
            assert_true(status == GRAM_OK || status == GRAM_ERROR_MEMORY);
            assert_true((status == GRAM_OK) == (block != NULL));
            if (status == GRAM_OK) continue;
            failures++;
            assert_non_null(strstr(gram_context_message(context), "parts: the system has no"));
        }
        gram_arena_release(&arena);
        assert_true(gram_context_memory_used(context) == before);
        gram_context_destroy(context);
        assert_int_equal(counter.live, 0);
    }
    assert_true(failures > 200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_failing_allocator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

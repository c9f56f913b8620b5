/* The arena: alignment, zeros, no overlap, and what happens when memory runs out. */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "oom.h"
#include "support.h"

static gram_context *make_context(oom_book *book, size_t budget)
{
    return TEST_CONTEXT(.memory_budget = budget, .allocator = oom_allocator(book));
}

static void test_blocks(void **state)
{
    (void)state;
    enum { BLOCKS = 500 };
    oom_book book = {.fail_at = -1};
    gram_context *context = make_context(&book, 0);
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
        assert_true(book.made < BLOCKS / 4);
        gram_arena_release(&arena);
        assert_true(gram_context_memory_used(context) == before);
    }
    gram_arena_release(&arena);
    gram_context_destroy(context);
    oom_nothing_held(&book);
}

static void test_nothing(void **state)
{
    (void)state;
    oom_book book = {.fail_at = -1};
    gram_context *context = make_context(&book, 0);
    gram_arena arena;
    void *block = &arena;
    gram_arena_init(&arena, context->memory);
    const long long calls = book.made;
    assert_int_equal(gram_arena_take(context, &arena, "block", 0, 8, &block), GRAM_OK);
    assert_null(block);
    assert_int_equal(book.made, calls);
    gram_arena_release(&arena);
    gram_context_destroy(context);
}

static void test_budget(void **state)
{
    (void)state;
    oom_book book = {.fail_at = -1};
    gram_context *context = make_context(&book, 4096);
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
    REFUSED(context, gram_arena_take(context, &arena, "huge", INT64_MAX, 16, &block), GRAM_ERROR_OVERFLOW,
            "huge: 9223372036854775807 items of 16 bytes");
    assert_true(gram_arena_take(context, &arena, "huge", INT64_MAX - 5, 1, &block) < 0);
    assert_true(gram_arena_take(context, &arena, "negative", -1, 8, &block) < 0);
    gram_arena_release(&arena);
    gram_context_destroy(context);
    oom_nothing_held(&book);
}

/* Fails at every k-th allocation in turn; nothing may be lost. */
static void test_failing_allocator(void **state)
{
    (void)state;
    int failures = 0;
    for (int k = 1; k < 12; k++) {
        oom_book book = {.fail_at = -1};
        gram_context *context = make_context(&book, 0);
        const size_t before = gram_context_memory_used(context);
        gram_arena arena;
        void *block;
        gram_arena_init(&arena, context->memory);
        book.fail_at = book.made + k - 1;
        book.for_good = 1;
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
        oom_nothing_held(&book);
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

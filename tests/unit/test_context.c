/* Status codes, the context's options, its messages and its memory. */
#include <stdlib.h>
#include <string.h>

#include "base/context.h"
#include "oom.h"
#include "support.h"

static void test_status_names(void **state)
{
    (void)state;
#define CHECK_STATUS(name, value, text)                                                                                \
    assert_int_equal(name, value);                                                                                     \
    assert_string_equal(gram_status_name(name), #name);                                                                \
    assert_string_equal(gram_status_text(name), text);
    GRAM_STATUS_LIST(CHECK_STATUS)
#undef CHECK_STATUS
    assert_string_equal(gram_status_name((gram_status)-999), "GRAM_UNKNOWN_STATUS");
    assert_string_equal(gram_status_text((gram_status)999), "unknown status");
}

static void test_defaults(void **state)
{
    (void)state;
    gram_context_options options;
    memset(&options, 0x55, sizeof options);
    gram_context_options_init(&options, sizeof options);
    assert_int_equal(options.size, sizeof options);
    assert_int_equal(options.threads, 0);
    assert_int_equal(options.memory_budget, 0);
    assert_int_equal(options.seed, 0);
    assert_int_equal(options.isa, GRAM_ISA_AUTO);
    assert_true(!options.allocator.allocate && !options.progress && !options.cancel);
    gram_context_options_init(NULL, sizeof options);

    gram_context *context;
    assert_int_equal(gram_context_create(NULL, &context), GRAM_OK);
    assert_true(gram_context_threads(context) >= 1);
    assert_int_equal(gram_context_seed(context), 0);
    assert_string_equal(gram_context_message(context), "");
    assert_string_equal(gram_context_isa(context), gram_vecmath_choose(GRAM_ISA_AUTO)->name);
    gram_context_destroy(context);
    gram_context_destroy(NULL);
    assert_string_equal(gram_context_message(NULL), "");
    assert_string_equal(gram_version(), GRAM_VERSION);
    assert_non_null(gram_blas_name());
}

static void test_options_are_kept(void **state)
{
    (void)state;
    gram_context *context = TEST_CONTEXT(.threads = 3, .seed = 0x123456789abcdef, .isa = GRAM_ISA_PLAIN);
    assert_int_equal(gram_context_threads(context), 3);
    assert_true(gram_context_seed(context) == 0x123456789abcdef);
    assert_string_equal(gram_context_isa(context), "plain");
    gram_context_destroy(context);
}

static void *no_allocate(void *user, size_t bytes)
{
    (void)user;
    (void)bytes;
    return NULL;
}

static void refused(const gram_context_options *options, gram_status wanted)
{
    gram_context *context = (gram_context *)(uintptr_t)64;
    assert_int_equal(gram_context_create(options, &context), wanted);
    assert_null(context);
}

static void test_bad_options(void **state)
{
    (void)state;
    gram_context_options good, options;
    gram_context_options_init(&good, sizeof good);
    assert_int_equal(gram_context_create(&good, NULL), GRAM_ERROR_ARGUMENT);
    options = good, options.size = 0;
    refused(&options, GRAM_ERROR_ARGUMENT);
    options = good, options.size = 3;
    refused(&options, GRAM_ERROR_ARGUMENT);
    options = good, options.threads = -1;
    refused(&options, GRAM_ERROR_ARGUMENT);
    options = good, options.threads = 1000000;
    refused(&options, GRAM_ERROR_ARGUMENT);
    options = good, options.allocator.allocate = no_allocate;
    refused(&options, GRAM_ERROR_ARGUMENT);
    options = good, options.allocator.release = oom_release;
    refused(&options, GRAM_ERROR_ARGUMENT);
    options = good, options.isa = (gram_isa)77;
    refused(&options, GRAM_ERROR_UNSUPPORTED);
    options = good, options.allocator = (gram_allocator){no_allocate, oom_release, NULL};
    refused(&options, GRAM_ERROR_MEMORY);
    options = good, options.memory_budget = 16;
    refused(&options, GRAM_ERROR_BUDGET);
}

/* Creation fails at its second allocation as well as at its first, and loses nothing. */
static void test_creation_out_of_memory(void **state)
{
    (void)state;
    int failures = 0;
    for (int k = 0; k < 4; k++) {
        oom_book book = {.fail_at = k};
        gram_context *context;
        const gram_context_options options = {.size = sizeof options, .allocator = oom_allocator(&book)};
        const gram_status status = gram_context_create(&options, &context);
        assert_true(status == GRAM_OK || status == GRAM_ERROR_MEMORY);
        assert_true((status == GRAM_OK) == (context != NULL));
        failures += status < 0;
        gram_context_destroy(context);
        oom_nothing_held(&book);
    }
    assert_true(failures >= 2);
}

static void test_memory(void **state)
{
    (void)state;
    oom_book book = {.fail_at = -1};
    void *block;
    gram_context *context = TEST_CONTEXT(.memory_budget = 1 << 20, .allocator = oom_allocator(&book));
    const size_t before = gram_context_memory_used(context);
    assert_int_equal(gram_take(context, "test: an array", 1000, 8, &block), GRAM_OK);
    assert_true((uintptr_t)block % 64 == 0);
    assert_true(gram_context_memory_used(context) == before + 8000);
    gram_give(context, block);
    assert_true(gram_context_memory_used(context) == before);
    assert_true(gram_context_memory_peak(context) == before + 8000);
    assert_string_equal(gram_context_message(context), "");

    assert_int_equal(gram_take(context, "test: an array", 1 << 18, 8, &block), GRAM_ERROR_BUDGET);
    assert_null(block);
    assert_non_null(strstr(gram_context_message(context), "test: an array: needs 2 MiB, with "));
    assert_non_null(strstr(gram_context_message(context), "in use and a memory budget of 1 MiB"));
    REFUSED(context, gram_take(context, "test: an array", INT64_MAX / 4, 8, &block), GRAM_ERROR_OVERFLOW,
            "test: an array: 2305843009213693951 items of 8 bytes");
    assert_int_equal(gram_take(context, "nothing", 0, 8, &block), GRAM_OK);
    assert_null(block);
    gram_give(context, NULL);
    assert_true(gram_context_memory_used(context) == before);
    gram_context_destroy(context);
    oom_nothing_held(&book);
}

/* An allocator gets back what it was asked for, though nobody tells the library the size of a block again. */
typedef struct ledger {
    void *block[8];
    size_t bytes[8];
    int used;
} ledger;

static void *ledger_allocate(void *user, size_t bytes)
{
    ledger *book = user;
    assert_true(book->used < 8);
    book->bytes[book->used] = bytes;
    return book->block[book->used++] = aligned_alloc(64, (bytes + 63) / 64 * 64);
}

static void ledger_release(void *user, void *block, size_t bytes)
{
    ledger *book = user;
    int found = 0;
    for (int i = 0; i < book->used; i++) {
        if (book->block[i] != block) continue;
        assert_int_equal(bytes, book->bytes[i]);
        book->block[i] = NULL;
        found = 1;
        break;
    }
    assert_true(found);
    free(block);
}

static void test_sizes_are_kept(void **state)
{
    (void)state;
    static const int64_t sizes[4] = {1, 63, 64, 100000};
    char *blocks[4];
    ledger book = {.used = 0};
    gram_context *context;
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.allocator = (gram_allocator){ledger_allocate, ledger_release, &book};
    assert_int_equal(gram_context_create(&options, &context), GRAM_OK);
    const size_t before = gram_context_memory_used(context);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(gram_take(context, "a block", sizes[i], 1, (void **)&blocks[i]), GRAM_OK);
        assert_true((uintptr_t)blocks[i] % 64 == 0);
        memset(blocks[i], 0xff, (size_t)sizes[i]);
    }
    assert_true(gram_context_memory_used(context) == before + 1 + 63 + 64 + 100000);
    for (int i = 0; i < 4; i++) gram_give(context, blocks[i]);
    assert_true(gram_context_memory_used(context) == before);
    gram_context_destroy(context);
    for (int i = 0; i < book.used; i++) assert_null(book.block[i]);
}

/* Memory outlives its context as long as someone holds it. */
static void test_memory_outlives_context(void **state)
{
    (void)state;
    oom_book book = {.fail_at = -1};
    void *block;
    gram_context *context = TEST_CONTEXT(.allocator = oom_allocator(&book));
    gram_memory *memory = gram_memory_retain(context->memory);
    assert_int_equal(gram_memory_take(memory, 100, &block), GRAM_OK);
    gram_context_destroy(context);
    assert_true(gram_memory_used(memory) == 100);
    gram_memory_give(memory, block);
    assert_true(gram_memory_used(memory) == 0);
    gram_memory_release(memory);
    gram_memory_release(NULL);
    oom_nothing_held(&book);
}

static void test_large_block(void **state)
{
    (void)state;
    enum { MIB = 1 << 20 };
    static const int64_t sizes[5] = {4 * MIB - 64, 4 * MIB - 63, 4 * MIB, 5 * MIB + 3, 6 * MIB - 1000};
    gram_context *context;
    char *block;
    assert_int_equal(gram_context_create(NULL, &context), GRAM_OK);
    const size_t before = gram_context_memory_used(context);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(gram_take(context, "large", sizes[i], 1, (void **)&block), GRAM_OK);
        assert_true((uintptr_t)block % 64 == 0);
        memset(block, 1, (size_t)sizes[i]);
        assert_true(gram_context_memory_used(context) == before + (size_t)sizes[i]);
        gram_give(context, block);
        assert_true(gram_context_memory_used(context) == before);
    }
    gram_context_destroy(context);
}

static void test_long_message(void **state)
{
    (void)state;
    gram_context *context;
    char name[2000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_int_equal(gram_context_create(NULL, &context), GRAM_OK);
    assert_int_equal(gram_fail(context, GRAM_ERROR_DATA, "%s", name), GRAM_ERROR_DATA);
    assert_int_equal(strlen(gram_context_message(context)), GRAM_MESSAGE_SIZE - 1);
    gram_context_destroy(context);
}

static void test_size_multiply(void **state)
{
    (void)state;
    int64_t out;
    assert_true(gram_size_multiply(3, 5, &out) && out == 15);
    assert_true(gram_size_multiply(0, INT64_MAX, &out) && out == 0);
    assert_true(gram_size_multiply(INT64_MAX, 1, &out) && out == INT64_MAX);
    assert_false(gram_size_multiply(INT64_MAX / 2 + 1, 2, &out));
    assert_false(gram_size_multiply(-1, 2, &out));
    assert_false(gram_size_multiply(2, -1, &out));
}

/* A failure of one number is told by file, row and column. */
static void test_named_place(void **state)
{
    const double data[] = {1, 2, 3, -4};
    double diagonal[2];
    gram_context *context = test_context(1, GRAM_ISA_AUTO);
    gram_kernel *kernel = test_kernel(context, "chi2(g=1)");
    gram_points *points = test_points(context, 2, 2, data);
    (void)state;
    REFUSED(context, gram_matrix_diagonal(context, kernel, points, diagonal), GRAM_ERROR_DOMAIN, "x[1][1] = -4");
    gram_context_name_place(context, "data.csv", 16, "age");
    assert_non_null(strstr(gram_context_message(context), "data.csv: row 17, column 'age': "));
    assert_null(strstr(gram_context_message(context), "x[1]"));
    gram_kernel_release(kernel);
    REFUSED(context, gram_kernel_parse(context, "rbg", &kernel), GRAM_ERROR_SYNTAX, "rbg");
    gram_context_name_place(context, "data.csv", 16, "age"); /* not of a number: stays */
    assert_null(strstr(gram_context_message(context), "data.csv"));
    gram_points_release(points);
    gram_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_status_names),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_options_are_kept),
        cmocka_unit_test(test_bad_options),
        cmocka_unit_test(test_creation_out_of_memory),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_sizes_are_kept),
        cmocka_unit_test(test_memory_outlives_context),
        cmocka_unit_test(test_large_block),
        cmocka_unit_test(test_long_message),
        cmocka_unit_test(test_named_place),
        cmocka_unit_test(test_size_multiply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

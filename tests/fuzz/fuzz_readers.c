/* The readers of delimited text against each other: by pieces and as a stream, from a file and from memory, as a whole
 * and by blocks. Whatever the text is, they give the same table or the same message.
 *
 * The first byte chooses the sizes of buffer and pieces, so small that short texts have many seams, the second the
 * options; the rest is the text. */
#define _GNU_SOURCE
#include "temporary_file.h"

#include <inttypes.h>
#include <string.h>

#include "data/csv/csv_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int truth)
{
    if (!truth) abort();
}

typedef struct outcome {
    gram_status status;
    gram_table *table;
    char message[GRAM_MESSAGE_SIZE];
} outcome;

static gram_context *make_context(void)
{
    gram_context *context;
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.memory_budget = 256 << 20;
    options.threads = 1;
    require(gram_context_create(&options, &context) == GRAM_OK);
    return context;
}

static void note(gram_context *context, gram_status status, outcome *out)
{
    out->status = status;
    (void)snprintf(out->message, sizeof out->message, "%s", status < 0 ? gram_context_message(context) : "");
    require((status == GRAM_OK) == (out->table != NULL));
}

/* ---- the ways to read ---- */

static void read_with_sizes(gram_context *context, const uint8_t *data, size_t size, const gram_table_options *options,
                            const gram_csv_sizes *sizes, outcome *out)
{
    gram_source *source = NULL;
    gram_table *table = NULL;
    require(gram_source_open_memory(context, "text", data, size, &source) == GRAM_OK);
    require(gram_table_create(context, "text", &table) == GRAM_OK);
    const gram_status status = gram_csv_read(context, source, options, sizes, table);
    if (status < 0) gram_table_destroy(table);
    out->table = status < 0 ? NULL : table;
    note(context, status, out);
    gram_source_close(source);
}

/* ---- comparison ---- */

static void same_text(const gram_table *a, const gram_table *b, int64_t j)
{
    require(gram_table_column_is_text(a, j) == gram_table_column_is_text(b, j));
    require(gram_table_level_count(a, j) == gram_table_level_count(b, j));
    for (int64_t k = 0; k < gram_table_level_count(a, j); k++)
        require(strcmp(gram_table_level(a, j, k), gram_table_level(b, j, k)) == 0);
}

static void same_numbers(const gram_table *a, const gram_table *b, int64_t first)
{
    const int64_t n = gram_table_rows(b), d = gram_table_columns(b);
    for (int64_t i = 0; i < n; i++) {
        const double *left = gram_table_numbers(a) + (first + i) * gram_table_ld(a);
        const double *right = gram_table_numbers(b) + i * gram_table_ld(b);
        require(gram_table_line(a, first + i) == gram_table_line(b, i));
        for (int64_t j = 0; j < d; j++)
            if (!gram_table_column_is_text(b, j)) require(memcmp(left + j, right + j, sizeof *left) == 0);
    }
}

static void same_places(const gram_table *a, const gram_table *b, int64_t j)
{
    for (int64_t i = 0; i < gram_table_rows(a); i++) {
        const double left = gram_table_numbers(a)[i * gram_table_ld(a) + j];
        const double right = gram_table_numbers(b)[i * gram_table_ld(b) + j];
        require(memcmp(&left, &right, sizeof left) == 0 || (left != left && right != right));
    }
}

static void same(const outcome *a, const outcome *b)
{
    require(a->status == b->status && strcmp(a->message, b->message) == 0);
    if (!a->table) return;
    require(gram_table_rows(a->table) == gram_table_rows(b->table));
    require(gram_table_columns(a->table) == gram_table_columns(b->table));
    require(gram_table_has_header(a->table) == gram_table_has_header(b->table));
    for (int64_t j = 0; j < gram_table_columns(a->table); j++) {
        require(strcmp(gram_table_column_name(a->table, j), gram_table_column_name(b->table, j)) == 0);
        same_text(a->table, b->table, j);
        same_places(a->table, b->table, j);
    }
    same_numbers(a->table, b->table, 0);
}

/* The blocks are the table, or end in the failure that it has. */
static void compare_blocks(gram_context *context, const char *path, const gram_table_options *options,
                           const outcome *whole)
{
    gram_reader *reader = NULL;
    const gram_table *block = NULL;
    int64_t rows = 0;
    gram_status status = gram_reader_open(context, path, options, &reader);
    while (status == GRAM_OK) {
        status = gram_reader_next(context, reader, 3, &block);
        if (status < 0 || !block) break;
        if (whole->table) {
            require(rows + gram_table_rows(block) <= gram_table_rows(whole->table));
            same_numbers(whole->table, block, rows);
        }
        rows += gram_table_rows(block);
    }
    require(status == whole->status);
    if (whole->table) require(rows == gram_table_rows(whole->table));
    gram_reader_close(reader);
}

static void compare_files(gram_context *context, const uint8_t *data, size_t size, const gram_table_options *options)
{
    outcome memory = {0}, file = {0};
    const char *path = temporary_file(data, size);
    note(context, gram_table_read_memory(context, path, data, size, options, &memory.table), &memory);
    note(context, gram_table_read(context, path, options, &file.table), &file);
    same(&memory, &file);
    if (options->text == GRAM_TEXT_ERROR) compare_blocks(context, path, options, &memory);
    gram_table_destroy(memory.table);
    gram_table_destroy(file.table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gram_table_options options;
    if (size < 2) return 0;
    const unsigned sizes = data[0], choice = data[1];
    const gram_csv_sizes stream = {.buffer = (size_t)16 << (sizes & 7)};
    const gram_csv_sizes pieces = {.buffer = stream.buffer, .share = (size_t)8 << (sizes >> 3 & 7)};
    gram_table_options_init(&options, sizeof options);
    options.format = GRAM_FORMAT_CSV;
    options.header = (gram_header)((choice & 3) % 3);
    options.keep_missing = choice >> 2 & 1;
    options.text = choice >> 3 & 1 ? GRAM_TEXT_CATEGORIES : GRAM_TEXT_ERROR;
    options.categories = (choice >> 4 & 3) == 1 ? "1" : NULL;
    options.ignore = (choice >> 4 & 3) == 2 ? "2" : NULL;
    gram_context *context = make_context();
    const size_t before = gram_context_memory_used(context);
    outcome one = {0}, two = {0};
    read_with_sizes(context, data + 2, size - 2, &options, &stream, &one);
    read_with_sizes(context, data + 2, size - 2, &options, &pieces, &two);
    same(&one, &two);
    gram_table_destroy(one.table);
    gram_table_destroy(two.table);
    if (choice >> 6 == 0) compare_files(context, data + 2, size - 2, &options);
    require(gram_context_memory_used(context) == before);
    gram_context_destroy(context);
    return 0;
}

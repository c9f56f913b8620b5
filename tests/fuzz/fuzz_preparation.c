/* Delimited text with text columns and missing values, prepared: whatever is read can be learnt from or is refused with a
 * message; what was learnt applies to the same table, also when that is read again by blocks. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include <gram/preparation.h>

#include "data/csv/csv_stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int truth)
{
    if (!truth) abort();
}

static void check_prepared(const gram_prepared *prepared)
{
    require(prepared->n >= 1 && prepared->n <= prepared->table_rows);
    for (int64_t i = 0; i < prepared->n; i++) {
        require(!prepared->rows || (prepared->rows[i] >= i && prepared->rows[i] < prepared->table_rows));
        for (int64_t j = 0; j < prepared->d; j++) require(!isnan(prepared->x[i * prepared->d + j]));
    }
}

/* The blocks have as many rows as the table, and each can be prepared. */
static void check_blocks(gram_context *context, const gram_preparation *preparation, const uint8_t *data, size_t size)
{
    gram_table_options options;
    gram_reader *reader = NULL;
    const gram_table *block = NULL;
    gram_prepared *prepared = NULL;
    gram_table_options_init(&options, sizeof options);
    gram_preparation_reading(preparation, &options);
    if (gram_reader_open_memory(context, "input.csv", data, size, &options, &reader) == GRAM_OK)
        while (gram_reader_next(context, reader, 3, &block) == GRAM_OK && block) {
            if (gram_preparation_apply(context, preparation, block, 0, &prepared) == GRAM_OK) check_prepared(prepared);
            gram_prepared_destroy(prepared);
        }
    gram_reader_close(reader);
}

static void prepare(gram_context *context, const gram_table *table, gram_missing missing, const uint8_t *data,
                    size_t size)
{
    gram_preparation_options options;
    gram_preparation *preparation = NULL, *again = NULL;
    gram_prepared *prepared = NULL;
    gram_preparation_options_init(&options, sizeof options);
    options.missing = missing;
    const gram_status status = gram_preparation_learn(context, table, &options, &preparation);
    if (status == GRAM_OK) {
        require(gram_preparation_create(context, gram_preparation_describe(preparation), &again) == GRAM_OK);
        require(gram_preparation_apply(context, again, table, 1, &prepared) == GRAM_OK);
        check_prepared(prepared);
        if (size % 4 == 0)
            check_blocks(context, again, data, size); /* their buffer is large, which takes most of the time */
    } else {
        require(gram_context_message(context)[0] != '\0');
    }
    gram_prepared_destroy(prepared);
    gram_preparation_release(again);
    gram_preparation_release(preparation);
}

static gram_status read_text(gram_context *context, const uint8_t *data, size_t size, gram_table *table)
{
    static const gram_csv_sizes sizes = {.buffer = 4 << 10};
    gram_status status = GRAM_OK;
    gram_source *source = NULL;
    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    options.text = GRAM_TEXT_CATEGORIES;
    options.keep_missing = 1;
    TRY(gram_source_open_memory(context, "input.csv", data, size, &source));
    TRY(gram_csv_read(context, source, &options, &sizes, table));
done:
    gram_source_close(source);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gram_context *context;
    gram_context_options setting;
    gram_table *table = NULL;
    gram_context_options_init(&setting, sizeof setting);
    setting.memory_budget = 64 << 20;
    setting.threads = 1;
    if (gram_context_create(&setting, &context) != GRAM_OK) return 0;
    const size_t before = gram_context_memory_used(context);
    require(gram_table_create(context, "input.csv", &table) == GRAM_OK);
    if (read_text(context, data, size, table) == GRAM_OK)
        for (int missing = GRAM_MISSING_ERROR; missing <= GRAM_MISSING_MEAN; missing++)
            prepare(context, table, (gram_missing)missing, data, size);
    gram_table_destroy(table);
    require(gram_context_memory_used(context) == before);
    gram_context_destroy(context);
    return 0;
}

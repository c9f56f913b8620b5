/* What the fuzz targets of the table readers share: one input, read as a file of a given name. */
#ifndef GRAM_TESTS_TABLE_INPUT_H
#define GRAM_TESTS_TABLE_INPUT_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <gram/context.h>
#include <gram/table.h>

static void require(int truth)
{
    if (!truth) abort();
}

static void check_table(gram_context *context, gram_table *table)
{
    const int64_t n = gram_table_rows(table), d = gram_table_columns(table);
    require(n >= 1 && d >= 1 && gram_table_ld(table) >= d);
    for (int64_t j = 0; j < d; j++) require(gram_table_column_name(table, j)[0] != '\0');
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < d; j++) require(isfinite(gram_table_numbers(table)[i * gram_table_ld(table) + j]));
    require(gram_table_select(context, table, NULL, "1") == (d > 1 ? GRAM_OK : GRAM_ERROR_DATA));
    require(gram_table_columns(table) == (d > 1 ? d - 1 : 1));
}

/* A table or a failure with a message; nothing is kept. */
static void read_input(const char *name, const uint8_t *data, size_t size)
{
    gram_context *context;
    gram_context_options options;
    gram_table *table = NULL;
    gram_context_options_init(&options, sizeof options);
    options.memory_budget = 64 << 20;
    options.threads = 1;
    if (gram_context_create(&options, &context) != GRAM_OK) return;
    const size_t before = gram_context_memory_used(context);
    const gram_status status = gram_table_read_memory(context, name, data, size, NULL, &table);
    require((status == GRAM_OK) == (table != NULL));
    if (table)
        check_table(context, table);
    else
        require(strncmp(gram_context_message(context), name, strlen(name)) == 0 || status == GRAM_ERROR_BUDGET);
    gram_table_destroy(table);
    require(gram_context_memory_used(context) == before);
    gram_context_destroy(context);
}

#endif

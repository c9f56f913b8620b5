/* A table from delimited text, as a whole or by blocks of rows. */
#include "data/csv/csv_stream.h"

#include <string.h>

/* Columns of numbers in which text was found become text, unless it is so little that they are odd; *again tells whether
 * there were any, or marks that are faults now that their column has turned out to be of numbers: the second reading meets
 * them. */
static gram_status correct_types(gram_csv *csv, int *again)
{
    gram_status status = GRAM_OK;
    gram_table *table = csv->table;
    *again = 0;
    if (table->words) TRY(gram_levels_sort(csv->context, table->words));
    for (int64_t i = 0; i < csv->columns; i++) {
        const int texts = atomic_load(&csv->found[i].texts);
        *again |= atomic_load(&csv->found[i].marks) && !csv->layout.keep_missing;
        if (texts == 0) continue;
        if (table->words && gram_odd_words_few(table->words, table->names[i], texts, table->n)) {
            table->marks[i] |= GRAM_COLUMN_ODD;
            continue;
        }
        table->marks[i] =
            table->words && gram_odd_words_grouped(table->words, table->names[i]) ? GRAM_COLUMN_GROUPED : 0;
        TRY(gram_table_make_text(csv->context, table, i));
        *again = 1;
    }
    for (int64_t i = 0; *again && i < csv->columns; i++)
        if (csv->table->levels[i]) gram_levels_clear(csv->table->levels[i]);
    csv->layout.found = NULL;
done:
    return status;
}

static gram_status read_rows(gram_csv *csv)
{
    gram_status status = GRAM_OK;
    int done = 0;
    if (csv->share > 0 && gram_source_is_random(csv->source) && !csv->finished) TRY(gram_csv_read_pieces(csv, &done));
    if (!done) TRY(gram_csv_fill(csv, INT64_MAX));
done:
    return status;
}

gram_status gram_csv_read(gram_context *context, gram_source *source, const gram_table_options *options,
                          const gram_csv_sizes *sizes, gram_table *table)
{
    gram_status status = GRAM_OK;
    gram_csv csv;
    int again;
    TRY(gram_csv_start(context, source, table, sizes, &csv));
    TRY(gram_csv_open(&csv, options));
    const int64_t lines = csv.lines, consumed = csv.consumed;
    TRY(read_rows(&csv));
    TRY(correct_types(&csv, &again));
    if (again) { /* what stood there as a number stands there as text now: read it again */
        TRY(gram_csv_again(&csv, lines, consumed));
        TRY(read_rows(&csv));
    }
    FAIL_IF(table->n == 0, context, GRAM_ERROR_DATA, "%s: no rows after the header", gram_source_name(source));
    TRY(gram_table_sort_levels(context, table));
done:
    gram_csv_end(&csv);
    return status;
}

static gram_status read_whole(gram_context *context, gram_source *source, const gram_table_options *options,
                              gram_table *table)
{
    return gram_csv_read(context, source, options, &gram_csv_usual_sizes, table);
}

/* ---- by blocks ---- */

static void close_csv(void *state)
{
    gram_csv *csv = state;
    if (!csv) return;
    gram_memory *memory = csv->table->memory;
    gram_csv_end(csv);
    gram_memory_give(memory, csv);
}

static gram_status open_csv(gram_context *context, gram_source *source, const gram_table_options *options,
                            gram_table *table, void **state)
{
    gram_status status = GRAM_OK;
    gram_csv *csv = NULL;
    TRY(gram_take_from(context, table->memory, "reading", 1, sizeof *csv, (void **)&csv));
    *state = csv;
    TRY(gram_csv_start(context, source, table, &gram_csv_usual_sizes, csv));
    TRY(gram_csv_open(csv, options));
    csv->data_lines = csv->lines;
    csv->data_consumed = csv->consumed;
done:
    return status;
}

/* Has text been found in a column that was one of numbers so far? Then it is one of text, and the rows come again. */
static gram_status find_text(gram_csv *csv, int *again)
{
    gram_status status = GRAM_OK;
    gram_csv_found *found = csv->layout.found;
    *again = 0;
    if (!found) return status;
    TRY(correct_types(csv, again));
    csv->layout.found =
        *again && !csv->layout.keep_missing ? NULL : found; /* blocks go on looking; marks are faults now */
    for (int64_t i = 0; i < csv->columns; i++) {
        atomic_store(&found[i].marks, 0);
        atomic_store(&found[i].texts, 0);
    }
    if (!*again) return status;
    csv->table->restarts++;
    TRY(gram_csv_again(csv, csv->data_lines, csv->data_consumed));
done:
    return status;
}

static gram_status fill_csv(gram_context *context, void *state, int64_t most)
{
    gram_status status = GRAM_OK;
    gram_csv *csv = state;
    int again = 1;
    csv->context = context;
    while (again) {
        TRY(gram_csv_fill(csv, most));
        TRY(find_text(csv, &again));
    }
    TRY(gram_table_sort_levels(context, csv->table));
done:
    return status;
}

static gram_status skip_csv(gram_context *context, void *state, int64_t most, int64_t *skipped)
{
    gram_csv *csv = state;
    csv->context = context;
    return gram_csv_skip(csv, most, skipped);
}

const gram_format_type gram_csv_type = {open_csv, fill_csv, close_csv, read_whole, skip_csv};

#include "data/table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gram/text.h>

enum { DEFAULT_NAME_SIZE = 24 };

gram_status gram_table_create(gram_context *context, const char *file, gram_table **table)
{
    gram_status status = GRAM_OK;
    gram_table *made = NULL;
    *table = NULL;
    TRY(gram_take(context, "table", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    const size_t length = strlen(file) + 1;
    TRY(gram_take(context, "table: its name", (int64_t)length, 1, (void **)&made->file));
    memcpy(made->file, file, length);
    *table = made;
    made = NULL;
done:
    gram_table_destroy(made);
    return status;
}

void gram_table_destroy(gram_table *table)
{
    if (!table) return;
    gram_memory *memory = table->memory;
    for (int64_t i = 0; table->levels && i < table->name_count; i++) gram_levels_destroy(table->levels[i]);
    gram_levels_destroy(table->words);
    gram_objects_release(table->sparse);
    gram_objects_release(table->given);
    gram_memory_give(memory, table->levels);
    gram_memory_give(memory, table->marks);
    gram_memory_give(memory, table->lines);
    gram_memory_give(memory, table->numbers);
    gram_memory_give(memory, table->names);
    gram_memory_give(memory, table->name_text);
    gram_memory_give(memory, table->file);
    gram_memory_give(memory, table);
    gram_memory_release(memory);
}

int64_t gram_table_rows(const gram_table *table)
{
    return table->n;
}

int64_t gram_table_columns(const gram_table *table)
{
    return table->d;
}

const char *gram_table_column_name(const gram_table *table, int64_t column)
{
    return table->names[column];
}

int gram_table_has_header(const gram_table *table)
{
    return table->named;
}

int64_t gram_table_line(const gram_table *table, int64_t row)
{
    if (table->first_line == 0) return 0;
    return table->lines ? table->lines[row] : table->first_line + row;
}

int gram_table_column_is_text(const gram_table *table, int64_t column)
{
    return table->levels[column] != NULL;
}

int gram_table_column_is_date(const gram_table *table, int64_t column)
{
    return (table->marks[column] & GRAM_COLUMN_DATE) != 0;
}

int64_t gram_table_level_count(const gram_table *table, int64_t column)
{
    return table->levels[column] ? gram_levels_count(table->levels[column]) : 0;
}

const char *gram_table_level(const gram_table *table, int64_t column, int64_t level)
{
    return gram_levels_text(table->levels[column], level);
}

const double *gram_table_numbers(const gram_table *table)
{
    return table->numbers;
}

int64_t gram_table_ld(const gram_table *table)
{
    return table->d;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts the names aside: equal ones are neighbours then. */
static gram_status check_repeated(gram_context *context, const gram_table *table)
{
    gram_status status = GRAM_OK;
    const char **sorted = NULL;
    TRY(gram_take(context, "table: column names", table->d, sizeof *sorted, (void **)&sorted));
    memcpy(sorted, table->names, (size_t)table->d * sizeof *sorted);
    qsort(sorted, (size_t)table->d, sizeof *sorted, compare_names);
    for (int64_t i = 1; i < table->d; i++) {
        if (strcmp(sorted[i - 1], sorted[i]) != 0) continue;
        int64_t first = 0;
        while (strcmp(table->names[first], sorted[i]) != 0) first++;
        int64_t second = first + 1;
        while (strcmp(table->names[second], sorted[i]) != 0) second++;
        FAIL(context, GRAM_ERROR_DATA, "%s: columns %" PRId64 " and %" PRId64 " are both named '%s'", table->file,
             first + 1, second + 1, sorted[i]);
    }
done:
    gram_give(context, sorted);
    return status;
}

static void write_default_names(gram_table *table, int64_t d)
{
    for (int64_t i = 0; i < d; i++) {
        char *name = table->name_text + i * DEFAULT_NAME_SIZE;
        (void)snprintf(name, DEFAULT_NAME_SIZE, "x%" PRId64, i + 1);
        table->names[i] = name;
    }
}

gram_status gram_table_set_names(gram_context *context, gram_table *table, int64_t d, const char *text, size_t size)
{
    gram_status status = GRAM_OK;
    void *block = NULL;
    const int64_t bytes = text ? (int64_t)size : d < INT64_MAX / DEFAULT_NAME_SIZE ? d * DEFAULT_NAME_SIZE : -1;
    TRY(gram_take_from(context, table->memory, "table: column names", bytes, 1, &block));
    table->name_text = block;
    TRY(gram_take_from(context, table->memory, "table: column names", d, sizeof *table->names, &block));
    table->names = block;
    table->name_count = d;
    table->d = d;
    TRY(gram_take_from(context, table->memory, "table: column names", d, sizeof *table->levels, &block));
    table->levels = block;
    for (int64_t i = 0; i < d; i++) table->levels[i] = NULL;
    TRY(gram_take_from(context, table->memory, "table: column names", d, 1, (void **)&table->marks));
    memset(table->marks, 0, (size_t)d);
    if (!text) {
        write_default_names(table, d);
        return status;
    }
    memcpy(table->name_text, text, size);
    const char *name = table->name_text;
    for (int64_t i = 0; i < d; i++, name += strlen(name) + 1) table->names[i] = name;
    TRY(check_repeated(context, table));
done:
    return status;
}

gram_status gram_table_reserve(gram_context *context, gram_table *table, int64_t rows)
{
    gram_status status = GRAM_OK;
    const int64_t width = gram_table_own_columns(table);
    double *numbers = NULL;
    int64_t wanted;
    FAIL_IF(!gram_size_multiply(rows, width, &wanted), context, GRAM_ERROR_OVERFLOW,
            "%s: %" PRId64 " rows of %" PRId64 " columns are more than can be addressed", table->file, rows, table->d);
    if (wanted <= table->capacity) {
        table->row_capacity = width > 0 ? table->capacity / width : rows;
        return status;
    }
    TRY(gram_take_from(context, table->memory, table->file, wanted, sizeof(double), (void **)&numbers));
    if (table->n > 0) memcpy(numbers, table->numbers, (size_t)(table->n * width) * sizeof(double));
    gram_memory_give(table->memory, table->numbers);
    table->numbers = numbers;
    table->capacity = wanted;
    table->row_capacity = rows;
done:
    return status;
}

gram_status gram_table_reserve_lines(gram_context *context, gram_table *table, int64_t rows)
{
    gram_status status = GRAM_OK;
    int64_t *lines = NULL;
    if (rows <= table->line_capacity) return status;
    TRY(gram_take_from(context, table->memory, table->file, rows, sizeof *lines, (void **)&lines));
    for (int64_t i = 0; i < table->n; i++) lines[i] = gram_table_line(table, i);
    gram_memory_give(table->memory, table->lines);
    table->lines = lines;
    table->line_capacity = rows;
done:
    return status;
}

gram_status gram_table_note_line(gram_context *context, gram_table *table, int64_t row, int64_t line)
{
    gram_status status = GRAM_OK;
    if (row == 0) table->first_line = line;
    if (!table->lines && line == table->first_line + row) return status;
    if (row >= table->line_capacity) TRY(gram_table_reserve_lines(context, table, table->row_capacity));
    table->lines[row] = line;
done:
    return status;
}

void gram_table_lend(gram_table *table, int64_t count, const double *numbers, int64_t ld)
{
    table->lent = numbers;
    table->lent_d = count;
    table->lent_ld = ld;
}

gram_status gram_table_make_text(gram_context *context, gram_table *table, int64_t column)
{
    return table->levels[column] ? GRAM_OK : gram_levels_create(context, &table->levels[column]);
}

gram_status gram_table_make_texts(gram_context *context, gram_table *table, int64_t column)
{
    table->marks[column] |= GRAM_COLUMN_HAS_TEXTS;
    return table->levels[column] ? GRAM_OK : gram_levels_create_many(context, &table->levels[column]);
}

gram_column_kind gram_table_column_kind(const gram_table *table, int64_t column, int64_t *width)
{
    const int sparse = table->marks[column] & GRAM_COLUMN_HAS_SPARSE,
              given = table->marks[column] & GRAM_COLUMN_HAS_GIVEN;
    if (width) *width = sparse ? table->sparse->d : given ? table->given->d : 0;
    if (sparse) return GRAM_COLUMN_SPARSE;
    if (given) return GRAM_COLUMN_GIVEN;
    return table->marks[column] & GRAM_COLUMN_HAS_TEXTS ? GRAM_COLUMN_TEXTS : GRAM_COLUMN_PLAIN;
}

gram_status gram_table_sort_levels(gram_context *context, gram_table *table)
{
    gram_status status = GRAM_OK;
    for (int64_t j = 0; j < table->d; j++) {
        gram_levels *levels = table->levels[j];
        if (!levels) continue;
        TRY(gram_levels_sort(context, levels));
        const int given_up = gram_levels_count(levels) < 0;
        for (int64_t i = 0; i < table->n; i++) {
            double *cell = gram_table_own(table, i, j);
            if (isnan(*cell)) continue;
            *cell = given_up ? NAN : (double)gram_levels_place(levels, (int64_t)*cell);
        }
    }
done:
    return status;
}

gram_status gram_table_numbers_to_text(gram_context *context, gram_table *table)
{
    gram_status status = GRAM_OK;
    char digits[GRAM_NUMBER_SIZE];
    int64_t slot;
    for (int64_t j = 0; j < table->d; j++) {
        if (!table->levels[j]) continue;
        for (int64_t i = 0; i < table->n; i++) {
            double *cell = &table->numbers[i * table->d + j];
            if (isnan(*cell)) continue;
            gram_number_format(*cell, digits);
            status = gram_levels_insert(table->levels[j], digits, strlen(digits), &slot);
            FAIL_IF(status < 0, context, status, "%s: no memory is left for the texts of its columns", table->file);
            *cell = slot < 0 ? NAN : (double)slot;
        }
    }
    TRY(gram_table_sort_levels(context, table));
done:
    return status;
}

char *gram_table_where(const gram_table *table, int64_t row, char out[GRAM_WHERE_SIZE])
{
    const int64_t line = gram_table_line(table, row);
    if (line > 0)
        (void)snprintf(out, GRAM_WHERE_SIZE, "%s:%" PRId64 ":", table->file, line);
    else
        (void)snprintf(out, GRAM_WHERE_SIZE, "%s: row %" PRId64 ",", table->file, table->first_row + row + 1);
    return out;
}

gram_status gram_table_check_finite(gram_context *context, const gram_table *table, const gram_table_options *options)
{
    gram_status status = GRAM_OK;
    char where[GRAM_WHERE_SIZE];
    if (options->keep_missing) return status;
    for (int64_t i = 0; i < table->n; i++)
        for (int64_t j = 0; j < table->d; j++) {
            const double x = table->numbers[i * table->d + j];
            FAIL_IF(!isfinite(x), context, GRAM_ERROR_DATA, "%s column '%s': %s", gram_table_where(table, i, where),
                    table->names[j],
                    isnan(x) ? "missing value: 'nan'"
                    : x < 0  ? "not a finite number: '-inf'"
                             : "not a finite number: 'inf'");
        }
done:
    return status;
}

/* Adds the columns of all rows into sum[d]: x, or (x - centre)^2. Row by row, as they lie in memory. */
static void add_rows(const gram_table *table, const double *centre, double *sum)
{
    const int64_t d = table->d;
    for (int64_t l = 0; l < d; l++) sum[l] = 0;
    for (int64_t i = 0; i < table->n; i++) {
        const double *row = table->numbers + i * d;
        for (int64_t l = 0; l < d; l++) {
            const double x = centre ? row[l] - centre[l] : row[l] / (double)table->n;
            sum[l] += centre ? x * x : x;
        }
    }
}

/* mean_l = sum_i x_il / n, corrected once by the mean of x - mean; deviation_l = sqrt(sum_i (x_il - mean_l)^2 / n).
 * A column is constant when all its numbers are the same: then the mean is that number, without rounding. */
static void column_moments(const gram_table *table, double *mean, double *deviation)
{
    const int64_t n = table->n, d = table->d;
    add_rows(table, NULL, mean);
    for (int64_t l = 0; l < d; l++) {
        double rest = 0;
        int constant = 1;
        for (int64_t i = 0; i < n; i++) {
            rest += (table->numbers[i * d + l] - mean[l]) / (double)n;
            constant = constant && table->numbers[i * d + l] == table->numbers[l];
        }
        mean[l] = constant ? table->numbers[l] : mean[l] + rest;
    }
    add_rows(table, mean, deviation);
    for (int64_t l = 0; l < d; l++) {
        deviation[l] = sqrt(deviation[l] / (double)n);
        if (!(deviation[l] > 0)) deviation[l] = 1;
    }
}

gram_status gram_table_standardise(gram_context *context, gram_table *table, double *mean, double *deviation)
{
    gram_status status = GRAM_OK;
    double *moments = NULL;
    char where[GRAM_WHERE_SIZE];
    const int64_t d = table->d;
    for (int64_t l = 0; l < d; l++) {
        FAIL_IF(table->levels[l], context, GRAM_ERROR_DATA, "%s: column '%s': text cannot be standardised", table->file,
                table->names[l]);
        for (int64_t i = 0; i < table->n; i++)
            FAIL_IF(isnan(table->numbers[i * d + l]), context, GRAM_ERROR_DATA, "%s column '%s': missing value",
                    gram_table_where(table, i, where), table->names[l]);
    }
    TRY(gram_take(context, "table_standardise", 2 * d, sizeof(double), (void **)&moments));
    column_moments(table, moments, moments + d);
    for (int64_t l = 0; l < d; l++)
        FAIL_IF(!isfinite(moments[l]) || !isfinite(moments[d + l]), context, GRAM_ERROR_DATA,
                "%s: column '%s': its numbers are too large to be standardised", table->file, table->names[l]);
    for (int64_t i = 0; i < table->n; i++) {
        double *row = table->numbers + i * d;
        for (int64_t l = 0; l < d; l++) row[l] = (row[l] - moments[l]) / moments[d + l];
    }
    if (mean) memcpy(mean, moments, (size_t)d * sizeof(double));
    if (deviation) memcpy(deviation, moments + d, (size_t)d * sizeof(double));
done:
    gram_give(context, moments);
    return status;
}

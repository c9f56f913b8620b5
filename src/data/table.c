#include "table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_NAME_SIZE = 24 };

gram_status gram_table_create(gram_context *context, const char *file, gram_table **table)
{
    gram_status status = GRAM_OK;
    gram_table *made = NULL;
    *table = NULL;
    TRY(gram_take(context, "table", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->file_size = strlen(file) + 1;
    TRY(gram_take(context, "table: its name", (int64_t)made->file_size, 1, (void **)&made->file));
    memcpy(made->file, file, made->file_size);
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
    gram_memory_give(memory, table->numbers, (size_t)table->capacity * sizeof(double));
    gram_memory_give(memory, table->names, (size_t)table->name_count * sizeof *table->names);
    gram_memory_give(memory, table->name_text, table->name_size);
    gram_memory_give(memory, table->file, table->file_size);
    gram_memory_give(memory, table, sizeof *table);
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

const double *gram_table_numbers(const gram_table *table)
{
    return table->numbers;
}

int64_t gram_table_stride(const gram_table *table)
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
    gram_give(context, sorted, table->d, sizeof *sorted);
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
    TRY(gram_take(context, "table: column names", bytes, 1, &block));
    table->name_text = block;
    table->name_size = (size_t)bytes;
    TRY(gram_take(context, "table: column names", d, sizeof *table->names, &block));
    table->names = block;
    table->name_count = d;
    table->d = d;
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
    double *numbers = NULL;
    int64_t wanted;
    FAIL_IF(!gram_size_multiply(rows, table->d, &wanted), context, GRAM_ERROR_OVERFLOW,
            "%s: %" PRId64 " rows of %" PRId64 " columns are more than can be addressed", table->file, rows, table->d);
    if (wanted <= table->capacity) return status;
    TRY(gram_take(context, table->file, wanted, sizeof(double), (void **)&numbers));
    if (table->n > 0) memcpy(numbers, table->numbers, (size_t)(table->n * table->d) * sizeof(double));
    gram_give(context, table->numbers, table->capacity, sizeof(double));
    table->numbers = numbers;
    table->capacity = wanted;
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
    const int64_t d = table->d;
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
    gram_give(context, moments, 2 * d, sizeof(double));
    return status;
}

/* Columns that hold no numbers: what is learnt of them, and the stores that points of them have.
 *
 * Sparse rows are divided by the deviations of their columns, zeros counted, and not centred: a mean that is subtracted would fill every zero. */
#include <math.h>
#include <string.h>

#include "data/preparation.h"

/* ---- sparse rows ---- */

/* sum and square get those of the values of each column over the rows chosen. */
static void add_values(const gram_table *table, int64_t column, const gram_row_choice *choice, double *sum,
                       double *square)
{
    const gram_objects *rows = table->sparse;
    for (int64_t i = 0; i < choice->count; i++) {
        const int64_t at = (int64_t)gram_table_at(table, choice->rows ? choice->rows[i] : i, column);
        for (int64_t k = rows->start[at]; k < rows->start[at + 1]; k++) {
            sum[rows->index[k]] += rows->value[k] / (double)choice->count;
            square[rows->index[k]] += rows->value[k] * rows->value[k] / (double)choice->count;
        }
    }
}

gram_status gram_sparse_deviations(gram_context *context, gram_arena *arena, const gram_table *table, int64_t column,
                                   const gram_row_choice *choice, const double **deviations)
{
    gram_status status = GRAM_OK;
    const int64_t d = table->sparse->d;
    double *mean, *square;
    TRY(gram_arena_take(context, arena, "preparation", d, sizeof *mean, (void **)&mean));
    TRY(gram_arena_take(context, arena, "preparation", d, sizeof *square, (void **)&square));
    memset(mean, 0, (size_t)d * sizeof *mean);
    memset(square, 0, (size_t)d * sizeof *square);
    add_values(table, column, choice, mean, square);
    for (int64_t l = 0; l < d; l++) {
        const double variance = square[l] - mean[l] * mean[l];
        /* of columns whose values are all but equal the difference is rounding */
        const int varies = variance > 1e-12 * square[l] && isfinite(variance);
        square[l] = varies ? sqrt(variance) : 1;
    }
    *deviations = square;
done:
    return status;
}

/* The rows with other values: places and indices stay the table's. */
static gram_status scale_rows(gram_context *context, gram_objects *rows, const double *deviations,
                              gram_objects **scaled)
{
    gram_status status = GRAM_OK;
    const int64_t count = rows->start[rows->count];
    gram_objects shape = *rows;
    double *value = NULL;
    TRY(gram_take(context, "sparse rows", count > 0 ? count : 1, sizeof *value, (void **)&value));
    for (int64_t k = 0; k < count; k++) value[k] = rows->value[k] / deviations[rows->index[k]];
    memset(shape.own, 0, sizeof shape.own);
    shape.value = shape.own[0] = value;
    shape.parent = NULL;
    TRY(gram_objects_new(context, &shape, scaled));
    (*scaled)->parent = gram_objects_retain(rows);
done:
    return status;
}

/* ---- texts ---- */

static gram_status copy_texts(gram_context *context, const gram_table *table, int64_t column, gram_objects **store)
{
    gram_status status = GRAM_OK;
    const gram_levels *levels = table->levels[column];
    const int64_t count = gram_levels_count(levels);
    gram_objects shape = {.kind = GRAM_OBJECT_TEXT, .count = count};
    int64_t *start = NULL;
    char *text = NULL;
    FAIL_IF(count < 0, context, GRAM_ERROR_DATA, "%s: column '%s': more texts than can be kept apart", table->file,
            table->names[column]);
    TRY(gram_take(context, "texts", count + 1, sizeof *start, (void **)&start));
    start[0] = 0;
    for (int64_t i = 0; i < count; i++) start[i + 1] = start[i] + (int64_t)gram_levels_length(levels, i);
    TRY(gram_take(context, "texts", start[count] + 1, 1, (void **)&text));
    for (int64_t i = 0; i < count; i++)
        memcpy(text + start[i], gram_levels_text(levels, i), gram_levels_length(levels, i));
    shape.start = shape.own[0] = start;
    shape.text = shape.own[1] = text;
    start = NULL;
    text = NULL;
    TRY(gram_objects_new(context, &shape, store));
done:
    gram_give(context, start);
    gram_give(context, text);
    return status;
}

gram_status gram_thing_store(gram_context *context, const gram_table *table, int64_t place, const gram_column *column,
                             gram_objects **store)
{
    if (column->kind == GRAM_COLUMN_TEXTS) return copy_texts(context, table, place, store);
    if (column->kind == GRAM_COLUMN_GIVEN) {
        *store = gram_objects_retain(table->given);
        return GRAM_OK;
    }
    if (column->deviations) return scale_rows(context, table->sparse, column->deviations, store);
    *store = gram_objects_retain(table->sparse);
    return GRAM_OK;
}

/* Columns that hold no numbers: what is learnt of them, and the stores that points of them have.
 *
 * Sparse rows are divided by the deviations of their columns, zeros counted, and not centred: a mean that is subtracted would fill every zero. */
#include <math.h>
#include <string.h>

#include "data/preparation.h"
#include "points/points.h"

/* ---- sparse rows ---- */

/* sum and square get those of the values of each column over the rows chosen, divided by the rows of all parts. */
static void add_values(const gram_sparse_part *part, double total, double *sum, double *square)
{
    const gram_objects *rows = part->table->sparse;
    const gram_row_choice *choice = part->choice;
    for (int64_t i = 0; i < choice->count; i++) {
        const int64_t at = (int64_t)gram_table_at(part->table, choice->rows ? choice->rows[i] : i, part->column);
        for (int64_t k = rows->start[at]; k < rows->start[at + 1]; k++) {
            sum[rows->index[k]] += rows->value[k] / total;
            square[rows->index[k]] += rows->value[k] * rows->value[k] / total;
        }
    }
}

gram_status gram_sparse_deviations(gram_context *context, gram_arena *arena, int64_t d, int count,
                                   const gram_sparse_part *parts, const double **deviations)
{
    gram_status status = GRAM_OK;
    double *mean, *square, total = 0;
    for (int p = 0; p < count; p++) total += (double)parts[p].choice->count;
    TRY(gram_arena_take(context, arena, "preparation", d, sizeof *mean, (void **)&mean));
    TRY(gram_arena_take(context, arena, "preparation", d, sizeof *square, (void **)&square));
    memset(mean, 0, (size_t)d * sizeof *mean);
    memset(square, 0, (size_t)d * sizeof *square);
    for (int p = 0; p < count; p++) add_values(&parts[p], total, mean, square);
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

/* The rows with other values (deviations NULL: the same), and as many columns as the fit has: places and indices stay the table's. */
static gram_status scale_rows(gram_context *context, gram_objects *rows, const gram_column *column,
                              gram_objects **scaled)
{
    gram_status status = GRAM_OK;
    const int64_t count = rows->start[rows->count];
    const double *deviations = column->deviations;
    gram_objects shape = *rows;
    double *value = NULL;
    if (column->width > shape.d) shape.d = column->width;
    if (deviations) TRY(gram_take(context, "sparse rows", count > 0 ? count : 1, sizeof *value, (void **)&value));
    for (int64_t k = 0; deviations && k < count; k++) value[k] = rows->value[k] / deviations[rows->index[k]];
    memset(shape.own, 0, sizeof shape.own);
    shape.own[0] = value;
    if (value) shape.value = value;
    shape.parent = NULL;
    TRY(gram_objects_new(context, &shape, scaled));
    (*scaled)->parent = gram_objects_retain(rows);
done:
    return status;
}

/* ---- texts ---- */

/* Where each text is first, for messages. */
static gram_status note_lines(gram_context *context, const gram_table *table, int64_t column, gram_objects *shape)
{
    gram_status status = GRAM_OK;
    const size_t length = strlen(table->file) + 1;
    int64_t *line;
    TRY(gram_take(context, "texts", shape->count, sizeof *line, &shape->own[2]));
    TRY(gram_take(context, "texts", (int64_t)length, 1, &shape->own[3]));
    shape->file = memcpy(shape->own[3], table->file, length);
    shape->line = line = memset(shape->own[2], 0, (size_t)shape->count * sizeof *line);
    for (int64_t i = 0; i < table->n; i++) {
        const double level = gram_table_at(table, i, column);
        if (!(level >= 0) || line[(int64_t)level] != 0) continue;
        line[(int64_t)level] = gram_table_line(table, i) > 0 ? gram_table_line(table, i) : -1 - i - table->first_row;
    }
done:
    return status;
}

static gram_status copy_texts(gram_context *context, const gram_table *table, int64_t column, gram_objects **store)
{
    gram_status status = GRAM_OK;
    const gram_levels *levels = table->levels[column];
    const int64_t count = gram_levels_count(levels);
    gram_objects shape = {.kind = GRAM_OBJECT_TEXT, .count = count};
    int64_t *start;
    char *text;
    FAIL_IF(count < 0, context, GRAM_ERROR_DATA, "%s: column '%s': more texts than can be kept apart", table->file,
            table->names[column]);
    TRY(gram_take(context, "texts", count + 1, sizeof *start, &shape.own[0]));
    start = shape.own[0];
    start[0] = 0;
    for (int64_t i = 0; i < count; i++) start[i + 1] = start[i] + (int64_t)gram_levels_length(levels, i);
    TRY(gram_take(context, "texts", start[count] + 1, 1, &shape.own[1]));
    text = shape.own[1];
    for (int64_t i = 0; i < count; i++)
        memcpy(text + start[i], gram_levels_text(levels, i), gram_levels_length(levels, i));
    shape.start = start;
    shape.text = text;
    if (count > 0) TRY(note_lines(context, table, column, &shape));
    return gram_objects_new(context, &shape, store);
done:
    for (int i = 0; i < GRAM_OBJECT_PARTS; i++) gram_give(context, shape.own[i]);
    return status;
}

/* ---- stores and points ---- */

gram_status gram_thing_store(gram_context *context, const gram_table *table, int64_t place, const gram_column *column,
                             gram_objects **store)
{
    if (column->kind == GRAM_COLUMN_TEXTS) return copy_texts(context, table, place, store);
    if (column->kind == GRAM_COLUMN_GIVEN) {
        *store = gram_objects_retain(table->given);
        return GRAM_OK;
    }
    if (column->deviations || column->width > table->sparse->d)
        return scale_rows(context, table->sparse, column, store);
    *store = gram_objects_retain(table->sparse);
    return GRAM_OK;
}

/* Numbers and places of the columns, row by row. */
static gram_status copy_cells(gram_context *context, const gram_table *table, int64_t count, const int64_t *columns,
                              double *out)
{
    for (int64_t i = 0; i < table->n; i++)
        for (int64_t l = 0; l < count; l++) {
            const int64_t place = columns ? columns[l] : l;
            out[i * count + l] = gram_table_at(table, i, place);
            if (isnan(out[i * count + l])) return gram_table_bad_value(context, table, i, place);
        }
    return GRAM_OK;
}

gram_status gram_points_of_table(gram_context *context, const gram_table *table, int64_t count, const int64_t *columns,
                                 gram_points **points)
{
    gram_status status = GRAM_OK;
    double *x = NULL;
    gram_objects **stores = NULL;
    int things = 0;
    TRY(gram_take(context, "points", table->n * count, sizeof *x, (void **)&x));
    TRY(gram_take(context, "points", count, sizeof *stores, (void **)&stores));
    memset(stores, 0, (size_t)count * sizeof *stores);
    TRY(copy_cells(context, table, count, columns, x));
    for (int64_t l = 0; l < count; l++) {
        const int64_t place = columns ? columns[l] : l;
        const gram_column column = {.kind = gram_table_column_kind(table, place, NULL)};
        if (column.kind != GRAM_COLUMN_PLAIN) TRY(gram_thing_store(context, table, place, &column, &stores[l]));
        things |= stores[l] != NULL;
    }
    TRY(gram_points_create_f64(context, table->n, count, x, count, points));
    (*points)->own = x;
    x = NULL;
    if (things) TRY(gram_points_set_objects(context, stores, points));
done:
    for (int64_t l = 0; stores && l < count; l++) gram_objects_release(stores[l]);
    gram_give(context, stores);
    gram_give(context, x);
    return status;
}

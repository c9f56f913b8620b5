/* Centres with columns that hold no numbers, as arrays of the model: `things` has a row for each such column,
 *
 *     column (from 0), kind, number of things, columns of sparse rows,
 *
 * and beside it (of a given matrix as model_given.c says) things_start_L for column L, and things_index_L and things_value_L of sparse rows, things_value_L of the rows
 * of bags, with things_weight_L if they have weights, or things_text_L, six bytes of the texts in each number. The array of centres holds the places. Those of a second view have second_ before their names. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "function/function.h"
#include "model/model.h"
#include "points/bags.h"

enum { WIDTH = 4, BYTES = 6 };

static const char *const NAMES[] = {"things", "second_things"};

/* Arrays of column l of the second view are those of column -1 - l. */
static int64_t column_of(int64_t l, int second)
{
    return second ? -1 - l : l;
}

static void name_array(char out[GRAM_MODEL_NAME], const char *what, int64_t column)
{
    if (column >= 0)
        (void)snprintf(out, GRAM_MODEL_NAME, "things_%.8s_%d", what, (int)column);
    else
        (void)snprintf(out, GRAM_MODEL_NAME, "second_things_%.6s_%d", what, (int)(-1 - column));
}

/* ---- keeping ---- */

gram_status gram_things_add(gram_context *context, gram_model *model, const char *what, int64_t column, int64_t count,
                            double **data)
{
    char name[GRAM_MODEL_NAME];
    name_array(name, what, column);
    return gram_model_add_array(context, model, name, 1, count > 0 ? count : 1, data);
}

static gram_status keep_texts(gram_context *context, gram_model *model, int64_t column, const gram_objects *store)
{
    gram_status status = GRAM_OK;
    const int64_t bytes = store->start[store->count], count = (bytes + BYTES - 1) / BYTES;
    double *out;
    TRY(gram_things_add(context, model, "text", column, count, &out));
    out[0] = 0;
    for (int64_t k = 0; k < count; k++) {
        uint64_t packed = 0;
        for (int64_t b = 0; b < BYTES && k * BYTES + b < bytes; b++)
            packed |= (uint64_t)(unsigned char)store->text[k * BYTES + b] << (8 * b);
        out[k] = (double)packed;
    }
done:
    return status;
}

static gram_status keep_bags(gram_context *context, gram_model *model, int64_t column, const gram_objects *store)
{
    gram_status status = GRAM_OK;
    const int64_t count = store->start[store->count] * store->d;
    double *value, *weight;
    TRY(gram_things_add(context, model, "value", column, count, &value));
    memcpy(value, store->value, (size_t)count * sizeof *value);
    if (!store->weight) return status;
    TRY(gram_things_add(context, model, "weight", column, store->start[store->count], &weight));
    memcpy(weight, store->weight, (size_t)store->start[store->count] * sizeof *weight);
done:
    return status;
}

static gram_status keep_store(gram_context *context, gram_model *model, int64_t column, const gram_objects *store)
{
    gram_status status = GRAM_OK;
    const int64_t size = store->start[store->count];
    double *start, *index, *value;
    if (store->kind == GRAM_OBJECT_GIVEN) return gram_model_keep_given(context, model, column, store);
    TRY(gram_things_add(context, model, "start", column, store->count + 1, &start));
    for (int64_t i = 0; i <= store->count; i++) start[i] = (double)store->start[i];
    if (store->kind == GRAM_OBJECT_TEXT) return keep_texts(context, model, column, store);
    if (store->kind == GRAM_OBJECT_BAG) return keep_bags(context, model, column, store);
    TRY(gram_things_add(context, model, "index", column, size, &index));
    TRY(gram_things_add(context, model, "value", column, size, &value));
    index[0] = value[0] = 0;
    for (int64_t k = 0; k < size; k++) {
        index[k] = store->index[k];
        value[k] = store->value[k];
    }
done:
    return status;
}

gram_status gram_model_keep_things(gram_context *context, gram_model *model, int second)
{
    gram_status status = GRAM_OK;
    const gram_points *x =
        gram_function_centres(second ? gram_model_second_function(model) : gram_model_function(model));
    int64_t count = 0;
    double *rows;
    for (int64_t l = 0; l < x->d; l++) count += gram_points_kind(x, l) != GRAM_OBJECT_NONE;
    if (count == 0) return status;
    TRY(gram_model_add_array(context, model, NAMES[second], count, WIDTH, &rows));
    for (int64_t l = 0; l < x->d; l++) {
        const gram_objects *store = x->objects[l];
        if (!store) continue;
        memcpy(rows, (const double[]){(double)l, store->kind, (double)store->count, (double)store->d},
               WIDTH * sizeof *rows);
        rows += WIDTH;
        TRY(keep_store(context, model, column_of(l, second), store));
    }
done:
    return status;
}

/* ---- restoring ---- */

static int is_whole(double x, double least, double most)
{
    return x >= least && x <= most && x == floor(x);
}

const double *gram_things_find(const gram_model *model, const char *what, int64_t column, int64_t count)
{
    char name[GRAM_MODEL_NAME];
    int64_t rows, columns;
    name_array(name, what, column);
    const double *data = gram_model_array(model, name, &rows, &columns);
    return data && rows == 1 && columns == (count > 0 ? count : 1) ? data : NULL;
}

static gram_status restore_start(gram_context *context, const gram_model *model, int64_t column, int64_t count,
                                 gram_objects *shape)
{
    gram_status status = GRAM_OK;
    const double *from = gram_things_find(model, "start", column, count + 1);
    int64_t *start;
    FAIL_IF(!from || from[0] != 0, context, GRAM_ERROR_DATA, "the array things_start_%lld does not fit",
            (long long)column);
    TRY(gram_take(context, "things", count + 1, sizeof *start, &shape->own[0]));
    start = shape->own[0];
    for (int64_t i = 0; i <= count; i++) {
        FAIL_IF(!is_whole(from[i], i ? from[i - 1] : 0, 0x1p48), context, GRAM_ERROR_DATA,
                "the array things_start_%lld does not ascend", (long long)column);
        start[i] = (int64_t)from[i];
    }
    shape->start = start;
done:
    return status;
}

static gram_status restore_texts(gram_context *context, const gram_model *model, int64_t column, gram_objects *shape)
{
    gram_status status = GRAM_OK;
    const int64_t bytes = shape->start[shape->count];
    const double *from = gram_things_find(model, "text", column, (bytes + BYTES - 1) / BYTES);
    FAIL_IF(!from, context, GRAM_ERROR_DATA, "the array things_text_%lld does not fit", (long long)column);
    TRY(gram_take(context, "things", bytes + 1, 1, &shape->own[1]));
    char *text = shape->own[1];
    for (int64_t k = 0; k < bytes; k++) {
        FAIL_IF(!is_whole(from[k / BYTES], 0, 0x1p48 - 1), context, GRAM_ERROR_DATA,
                "the array things_text_%lld holds no text", (long long)column);
        text[k] = (char)((uint64_t)from[k / BYTES] >> (8 * (k % BYTES)) & 0xff);
    }
    shape->text = text;
done:
    return status;
}

static gram_status restore_rows(gram_context *context, const gram_model *model, int64_t column, gram_objects *shape)
{
    gram_status status = GRAM_OK;
    const int64_t size = shape->start[shape->count];
    const double *from = gram_things_find(model, "index", column, size),
                 *value = gram_things_find(model, "value", column, size);
    FAIL_IF(!from || !value, context, GRAM_ERROR_DATA, "the arrays of sparse rows of column %lld do not fit",
            (long long)column);
    TRY(gram_take(context, "things", size + 1, sizeof(int32_t), &shape->own[1]));
    TRY(gram_take(context, "things", size + 1, sizeof(double), &shape->own[2]));
    int32_t *index = shape->own[1];
    for (int64_t i = 0; i < shape->count; i++)
        for (int64_t k = shape->start[i]; k < shape->start[i + 1]; k++) {
            const double least = k > shape->start[i] ? from[k - 1] + 1 : 0;
            FAIL_IF(!is_whole(from[k], least, (double)shape->d - 1) || !isfinite(value[k]), context, GRAM_ERROR_DATA,
                    "row %lld of the sparse rows of column %lld is damaged", (long long)i, (long long)column);
            index[k] = (int32_t)from[k];
        }
    if (size > 0) memcpy(shape->own[2], value, (size_t)size * sizeof *value);
    shape->index = index;
    shape->value = shape->own[2];
done:
    return status;
}

/* They are there or not. */
static gram_status restore_weights(gram_context *context, const gram_model *model, int64_t column, gram_objects *shape)
{
    gram_status status = GRAM_OK;
    char name[GRAM_MODEL_NAME];
    int64_t rows, columns;
    const int64_t count = shape->start[shape->count];
    name_array(name, "weight", column);
    if (!gram_model_array(model, name, &rows, &columns)) return status;
    const double *weight = gram_things_find(model, "weight", column, count);
    FAIL_IF(!weight, context, GRAM_ERROR_DATA, "the array of weights of the bags of column %lld does not fit",
            (long long)column);
    TRY(gram_take(context, "things", count, sizeof(double), &shape->own[1]));
    shape->weight = memcpy(shape->own[1], weight, (size_t)count * sizeof *weight);
done:
    return status;
}

static gram_status restore_bags(gram_context *context, const gram_model *model, int64_t column, gram_objects *shape)
{
    gram_status status = GRAM_OK;
    int64_t count = 0;
    const int fits = shape->d > 0 && gram_size_multiply(shape->start[shape->count], shape->d, &count);
    const double *value = fits && count > 0 ? gram_things_find(model, "value", column, count) : NULL;
    FAIL_IF(!value, context, GRAM_ERROR_DATA, "the array of the bags of column %lld does not fit", (long long)column);
    TRY(gram_take(context, "things", count, sizeof(double), &shape->own[2]));
    memcpy(shape->own[2], value, (size_t)count * sizeof *value);
    shape->value = shape->own[2];
    TRY(restore_weights(context, model, column, shape));
done:
    return status;
}

static gram_status restore_store(gram_context *context, const gram_model *model, const double *row, int second,
                                 gram_objects **store)
{
    gram_status status = GRAM_OK;
    gram_objects shape = {.kind = (gram_object_kind)row[1], .count = (int64_t)row[2], .d = (int64_t)row[3]};
    const int64_t column = column_of((int64_t)row[0], second);
    if (shape.kind == GRAM_OBJECT_GIVEN)
        return gram_model_restore_given(context, model, column, shape.count, shape.d, store);
    TRY(restore_start(context, model, column, shape.count, &shape));
    if (shape.kind == GRAM_OBJECT_BAG) {
        TRY(restore_bags(context, model, column, &shape));
        return gram_bags_new(context, "its bags", &shape, store);
    }
    TRY((shape.kind == GRAM_OBJECT_TEXT ? restore_texts : restore_rows)(context, model, column, &shape));
    return gram_objects_new(context, &shape, store);
done:
    for (int i = 0; i < 3; i++) gram_give(context, shape.own[i]);
    return status;
}

gram_status gram_model_restore_things(gram_context *context, gram_model *model, int second)
{
    gram_status status = GRAM_OK;
    gram_function *f = second ? gram_model_second_function(model) : gram_model_function(model);
    int64_t count, width;
    const double *rows = gram_model_array(model, NAMES[second], &count, &width);
    gram_objects **stores = NULL;
    if (!rows || !f) return status;
    TRY(gram_take(context, "things", f->d, sizeof *stores, (void **)&stores));
    memset(stores, 0, (size_t)f->d * sizeof *stores);
    FAIL_IF(width != WIDTH || f->f32, context, GRAM_ERROR_DATA, "the array of things does not fit the centres");
    for (int64_t k = 0; k < count; k++) {
        const double *row = rows + k * WIDTH;
        FAIL_IF(!is_whole(row[0], 0, (double)f->d - 1) || !is_whole(row[1], 1, GRAM_OBJECT_KINDS - 1) ||
                    !is_whole(row[2], 1, 0x1p40) || !is_whole(row[3], 0, INT32_MAX) || stores[(int64_t)row[0]],
                context, GRAM_ERROR_DATA, "row %lld of the array of things is damaged", (long long)k);
        TRY(restore_store(context, model, row, second, &stores[(int64_t)row[0]]));
    }
    TRY(gram_points_set_objects(context, stores, &f->centres));
done:
    for (int64_t l = 0; stores && l < f->d; l++) gram_objects_release(stores[l]);
    gram_give(context, stores);
    return status;
}

/* What a model says of the rows that it was learnt from, as an array of NumPy: .npy, or .npz with the sparse rows (CSR) that
 * scipy.sparse.load_npz reads: the arrays data, indices, indptr, shape and format. */
#include <inttypes.h>
#include <string.h>

#include <gram/npy.h>

#include "base/sparse/csr.h"
#include "data/npy_header.h"
#include "features/feature_map.h"
#include "learn/learner.h"
#include "model/archive.h"

static int ends_with(const char *path, const char *end)
{
    const size_t length = strlen(path), tail = strlen(end);
    return length > tail && strcmp(path + length - tail, end) == 0;
}

gram_value_format gram_value_format_of(const char *path)
{
    return ends_with(path, ".npy") ? GRAM_VALUES_NPY : ends_with(path, ".npz") ? GRAM_VALUES_NPZ : GRAM_VALUES_TEXT;
}

static gram_status fill(gram_context *context, gram_learner *learner, const gram_model *model,
                        const gram_predictor *predictor, double *values)
{
    const gram_prepared *data = gram_learner_lesson(learner)->data;
    const int64_t count = gram_predictor_columns(predictor)->count;
    if (predictor->wish.reconstruct)
        return gram_predictor_evaluate(context, predictor, data->n, data->x, NULL, values, count);
    return gram_learner_values(context, learner, model, values, count);
}

/* ---- .npy ---- */

static gram_status write_npy(gram_context *context, gram_learner *learner, const gram_model *model,
                             const gram_predict_options *wish, const char *path)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = gram_learner_lesson(learner)->data;
    gram_npy *file = NULL;
    gram_predictor *predictor = NULL;
    TRY(gram_predictor_create(context, model, wish, &predictor));
    const int64_t columns = gram_predictor_columns(predictor)->count;
    TRY(gram_npy_create(context, path, data->table_rows, columns, &file));
    TRY(fill(context, learner, model, predictor, gram_npy_numbers(file)));
    gram_prepared_spread(data, columns, gram_npy_numbers(file));
    TRY(gram_npy_finish(context, file));
done:
    gram_npy_destroy(file);
    gram_predictor_destroy(predictor);
    return status;
}

/* ---- .npz ---- */

/* The numbers other than 0 of dense rows. */
static gram_status compress(gram_context *context, int64_t n, int64_t columns, const double *values, gram_csr *csr)
{
    gram_status status = GRAM_OK;
    int64_t at = 0;
    TRY(gram_csr_take(context, n, columns, columns, csr));
    for (int64_t i = 0; i < n; i++) {
        csr->start[i] = at;
        for (int64_t j = 0; j < columns; j++)
            if (values[i * columns + j] != 0) {
                csr->column[at] = (int32_t)j;
                csr->value[at++] = values[i * columns + j];
            }
    }
    csr->start[n] = at;
done:
    return status;
}

static gram_status make_from_dense(gram_context *context, gram_learner *learner, const gram_model *model,
                                   const gram_predict_options *wish, gram_csr *csr)
{
    gram_status status = GRAM_OK;
    const int64_t n = gram_learner_lesson(learner)->data->n;
    gram_predictor *predictor = NULL;
    double *values = NULL;
    TRY(gram_predictor_create(context, model, wish, &predictor));
    const int64_t columns = gram_predictor_columns(predictor)->count;
    TRY(gram_take(context, "values", n * columns, sizeof *values, (void **)&values));
    TRY(fill(context, learner, model, predictor, values));
    TRY(compress(context, n, columns, values, csr));
done:
    gram_give(context, values);
    gram_predictor_destroy(predictor);
    return status;
}

static gram_status make_rows(gram_context *context, gram_learner *learner, const gram_model *model,
                             const gram_predict_options *wish, gram_csr *csr)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = gram_learner_lesson(learner)->data;
    const gram_fact kind = gram_model_find(model, "map");
    gram_features *map = NULL;
    if (kind.text) TRY(gram_features_of_model(context, model, &map));
    if (map && map->type->sparse)
        TRY(gram_features_csr(context, map, data->n, data->x, data->d, csr));
    else
        TRY(make_from_dense(context, learner, model, wish, csr));
done:
    gram_features_destroy(map);
    return status;
}

typedef struct part_head {
    char bytes[GRAM_NPY_HEADER];
} part_head;

static void set_part(gram_archive_part *part, part_head *head, const char *name, const char *type, size_t item,
                     int64_t count, const void *data)
{
    (void)strcpy(part->name, name);
    part->head_size = gram_npy_format(type, count, 0, head->bytes);
    part->head = head->bytes;
    part->data = data;
    part->data_size = (size_t)count * item;
}

/* Rows of the table that were dropped are empty. */
static gram_status write_npz(gram_context *context, const gram_prepared *data, const gram_csr *csr, const char *path)
{
    enum { DATA, INDICES, INDPTR, SHAPE, FORMAT, PARTS };
    gram_status status = GRAM_OK;
    gram_archive_part parts[PARTS];
    part_head heads[PARTS];
    const int64_t shape[2] = {data->table_rows, csr->columns}, count = csr->start[csr->rows];
    int64_t *start = NULL;
    TRY(gram_take(context, "rows", data->table_rows + 1, sizeof *start, (void **)&start));
    for (int64_t row = 0, i = 0; row <= data->table_rows; row++) {
        start[row] = csr->start[i];
        if (i < csr->rows && (!data->rows || data->rows[i] == row)) i++;
    }
    set_part(&parts[DATA], &heads[DATA], "data.npy", "<f8", sizeof(double), count, csr->value);
    set_part(&parts[INDICES], &heads[INDICES], "indices.npy", "<i4", sizeof(int32_t), count, csr->column);
    set_part(&parts[INDPTR], &heads[INDPTR], "indptr.npy", "<i8", sizeof(int64_t), data->table_rows + 1, start);
    set_part(&parts[SHAPE], &heads[SHAPE], "shape.npy", "<i8", sizeof(int64_t), 2, shape);
    set_part(&parts[FORMAT], &heads[FORMAT], "format.npy", "|S3", 3, 1, "csr");
    TRY(gram_archive_write(context, path, PARTS, parts, 0));
done:
    gram_give(context, start);
    return status;
}

gram_status gram_learner_write_values(gram_context *context, gram_learner *learner, const gram_model *model,
                                      int reconstruct, const char *path)
{
    gram_status status = GRAM_OK;
    gram_csr csr = {0};
    gram_predict_options wish;
    gram_predict_options_init(&wish, sizeof wish);
    wish.reconstruct = reconstruct;
    wish.dashes = learner->learning.dashes;
    wish.who = learner->learning.who;
    FAIL_IF(!gram_learner_lesson(learner)->data, context, GRAM_ERROR_ARGUMENT,
            "learner_write_values: it has not learnt from rows");
    if (gram_value_format_of(path) == GRAM_VALUES_NPY) return write_npy(context, learner, model, &wish, path);
    TRY(make_rows(context, learner, model, &wish, &csr));
    TRY(write_npz(context, gram_learner_lesson(learner)->data, &csr, path));
done:
    gram_csr_free(context, &csr);
    return status;
}

/* Predictions for a file of any length: some thousand rows are read, prepared and evaluated at a time, so that memory does not
 * grow with their number. */
#include <string.h>

#include "learn/files/given_rows.h"
#include "learn/learn_steps.h"
#include "learn/row_kinds.h"
#include "method/method.h"

struct gram_predict_stream {
    gram_memory *memory;
    const gram_predictor *predictor;
    const gram_preparation *preparation;
    gram_reader *reader;
    gram_table *whole; /* in place of the reader: rows of a given matrix */
    const char *name;  /* of the file */
    int64_t most;      /* rows of a piece */
    int64_t next;      /* rows of the file that were read */
    gram_prepared *data;
    double *values;
    gram_predicted piece;
};

enum { MOST_AT_ONCE = 1 << 30 };

/* Rows at a time: some megabytes of them, less if the budget is small. */
static int64_t piece_rows(const gram_context *context, const gram_predictor *predictor,
                          const gram_preparation *preparation)
{
    const int64_t row = 8 * (gram_preparation_dimension(preparation) + 4 * predictor->columns.ld + 4);
    const size_t budget = gram_memory_budget(context->memory), large = 4 << 20;
    const int64_t share = (int64_t)(budget > 0 && budget / 32 < large ? budget / 32 : large), rows = share / row;
    return rows < 64 ? 64 : rows > 8192 ? 8192 : rows;
}

static int is_wanted(const gram_table_options *options, const char *name, size_t length)
{
    for (int64_t i = 0; i < options->wanted_count; i++)
        if (strlen(options->wanted[i].name) == length && memcmp(options->wanted[i].name, name, length) == 0) return 1;
    return 0;
}

/* Columns to be kept are read as they stand there, as text; those that the model needs are read as it needs them. */
static gram_status want_kept(gram_context *context, gram_arena *arena, const char *keep, gram_table_options *options)
{
    gram_status status = GRAM_OK;
    gram_wanted *all;
    int64_t most = 1;
    if (!keep) return status;
    for (const char *c = keep; *c; c++) most += *c == ',';
    TRY(gram_arena_take(context, arena, "predict_stream", options->wanted_count + most, sizeof *all, (void **)&all));
    memcpy(all, options->wanted, (size_t)options->wanted_count * sizeof *all);
    options->wanted = all;
    for (const char *item = keep; item; item = strchr(item, ',') ? strchr(item, ',') + 1 : NULL) {
        const size_t length = strcspn(item, ",");
        char *name;
        if (is_wanted(options, item, length)) continue;
        TRY(gram_arena_take(context, arena, "predict_stream", (int64_t)length + 1, 1, (void **)&name));
        memcpy(name, item, length);
        name[length] = '\0';
        all[options->wanted_count++] = (gram_wanted){.name = name, .text = 1};
    }
done:
    return status;
}

/* Rows of a given matrix, whose columns are those of the model: all at once, since the matrix is. */
static gram_status open_given(gram_context *context, const char *path, const gram_table_options *options,
                              gram_predict_stream *stream)
{
    gram_status status = GRAM_OK;
    gram_table_options with = *options;
    with.gram = stream->predictor->wish.gram;
    TRY(gram_table_read(context, path, &with, &stream->whole));
    TRY(gram_given_match(context, stream->predictor->model, stream->whole));
done:
    return status;
}

gram_status gram_predict_stream_open(gram_context *context, const gram_predictor *predictor,
                                     const gram_preparation *preparation, const char *path, gram_format format,
                                     gram_predict_stream **stream)
{
    gram_status status = GRAM_OK;
    gram_predict_stream *made = NULL;
    gram_table_options options;
    gram_arena arena; /* of the names of columns */
    char *name = NULL;
    if (!context || !predictor || !stream) return GRAM_ERROR_ARGUMENT;
    *stream = NULL;
    gram_arena_init(&arena, context->memory);
    if (!preparation) preparation = predictor->preparation;
    if (!preparation) TRY(gram_predictor_check_views(context, predictor));
    FAIL_IF(!preparation, context, GRAM_ERROR_DATA, "%s: this model has no description of the columns that it takes",
            predictor->wish.name);
    const int given = gram_model_given_rows(predictor->model) > 0;
    if (!given && predictor->wish.gram) {
        status = gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, "Leave it out.",
                                     "--gram is for models of a given matrix, which %s is not", predictor->wish.name);
        goto done;
    }
    FAIL_IF(!path && !predictor->wish.gram, context, GRAM_ERROR_ARGUMENT, "predict_stream_open: path is NULL");
    const char *shown = gram_data_name(path ? path : predictor->wish.gram);
    const size_t length = strlen(shown) + 1;
    TRY(gram_take(context, "predict_stream", (int64_t)(sizeof *made + length), 1, (void **)&made));
    *made = (gram_predict_stream){.memory = gram_memory_retain(context->memory), .predictor = predictor};
    name = (char *)(made + 1);
    memcpy(name, shown, length);
    made->name = name;
    made->preparation = preparation;
    made->most = piece_rows(context, predictor, preparation);
    gram_table_options_init(&options, sizeof options);
    TRY(gram_preparation_reading(preparation, &options));
    options.format = format;
    if (predictor->kinds.column) { /* columns that are no features count, and a sum must not be cut in two */
        TRY(gram_kinds_wanted(context, &arena, &predictor->kinds, preparation, &options));
        made->most = MOST_AT_ONCE;
    }
    if (gram_preparation_describe(preparation)->bag) made->most = MOST_AT_ONCE; /* the rows of a bag may lie anywhere */
    TRY(want_kept(context, &arena, predictor->wish.keep, &options));
    TRY(given ? open_given(context, path, &options, made) : gram_reader_open(context, path, &options, &made->reader));
    *stream = made;
    made = NULL;
done:
    gram_arena_release(&arena);
    gram_predict_stream_close(made);
    return status;
}

static gram_status next_table(gram_context *context, gram_predict_stream *stream, const gram_table **table)
{
    if (!stream->whole) return gram_reader_next(context, stream->reader, stream->most, table);
    *table = stream->next == 0 ? stream->whole : NULL;
    return GRAM_OK;
}

static void drop_piece(gram_predict_stream *stream)
{
    gram_prepared_destroy(stream->data);
    gram_memory_give(stream->memory, stream->values);
    stream->data = NULL;
    stream->values = NULL;
}

void gram_predict_stream_close(gram_predict_stream *stream)
{
    if (!stream) return;
    gram_memory *memory = stream->memory;
    drop_piece(stream);
    gram_reader_close(stream->reader);
    gram_table_destroy(stream->whole);
    gram_memory_give(memory, stream);
    gram_memory_release(memory);
}

/* A number outside of the kernel's domain is named by file, row and column, a row that has no prediction by file and row. */
static void name_place(gram_context *context, const gram_predict_stream *stream)
{
    char name[256] = "";
    int64_t row, column;
    if (!gram_context_place(context, &row, &column)) return;
    if (column >= 0) (void)gram_preparation_column_name(stream->preparation, column, name, sizeof name);
    const gram_prepared *data = stream->data;
    gram_context_name_place(context, stream->name,
                            stream->next + (data->first  ? data->first[row]
                                            : data->rows ? data->rows[row]
                                                         : row),
                            name);
}

/* Functionals first; then each row has what its functional has. */
static gram_status evaluate_kinds(gram_context *context, gram_predict_stream *stream, const gram_table *table)
{
    gram_status status = GRAM_OK;
    const gram_predictor *predictor = stream->predictor;
    const gram_prepared *data = stream->data;
    const int64_t ld = predictor->columns.ld;
    gram_kind_rows rows = {0};
    gram_arena arena;
    double *values = NULL;
    gram_arena_init(&arena, context->memory);
    TRY(gram_kinds_rows(context, &arena, &predictor->kinds, stream->preparation, table, data, &rows));
    TRY(gram_take(context, "predict_stream: values", rows.n * ld, sizeof *values, (void **)&values));
    TRY(gram_predictor_evaluate_points(context, predictor, rows.points, rows.n == data->n ? data->weights : NULL,
                                       data->y != NULL, values, ld));
    for (int64_t i = 0; i < data->n; i++)
        memcpy(stream->values + i * ld, values + rows.of_row[i] * ld, (size_t)ld * sizeof *values);
done:
    gram_points_release(rows.points);
    gram_give(context, values);
    gram_arena_release(&arena);
    return status;
}

static gram_status evaluate(gram_context *context, gram_predict_stream *stream, const gram_table *table)
{
    gram_status status = GRAM_OK;
    const int64_t ld = stream->predictor->columns.ld;
    const gram_prepared *data = stream->data;
    TRY(gram_take_from(context, stream->memory, "predict_stream: values", data->n * ld, sizeof *stream->values,
                       (void **)&stream->values));
    const char *kinds = stream->predictor->kinds.column;
    if (kinds && data->n > 0 && gram_kinds_find(table, kinds) >= 0)
        status = evaluate_kinds(context, stream, table);
    else
        status = gram_predictor_evaluate_stored(context, stream->predictor, data->objects, data->n, data->x,
                                                data->weights, data->y != NULL, stream->values, ld);
    if (status < 0) name_place(context, stream);
done:
    return status;
}

gram_status gram_predict_stream_next(gram_context *context, gram_predict_stream *stream, const gram_predicted **piece)
{
    gram_status status = GRAM_OK;
    const gram_table *table = NULL;
    if (!context || !stream || !piece) return GRAM_ERROR_ARGUMENT;
    *piece = NULL;
    drop_piece(stream);
    TRY(next_table(context, stream, &table));
    if (!table) return status;
    TRY(gram_preparation_apply(context, stream->preparation, table, 0, &stream->data));
    TRY(evaluate(context, stream, table));
    stream->piece = (gram_predicted){stream->data, stream->values, stream->next, table};
    stream->next += stream->data->table_rows;
    *piece = &stream->piece;
done:
    return status;
}

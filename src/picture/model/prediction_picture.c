/* Predictions, whose rows go by: a sample of them is kept, or the first whose class is known, and the range of the first feature. */
#include <math.h>
#include <string.h>

#include "method/method.h"
#include "picture/model/picture_table.h"

enum { MOST_KEPT = 5000 };

struct gram_seen_rows {
    gram_memory *memory;
    gram_arena arena;
    const gram_predictor *predictor;
    gram_row_sample sample; /* of numbers */
    int64_t kept;           /* of classes: rows, prepared, */
    double *x, *labels;     /* and the numbers of their classes */
    double least, most;     /* of the first feature, in its own units */
    double *ranges;         /* of each prepared column: the least of all, then the greatest */
};

static int64_t class_count(const gram_seen_rows *rows)
{
    return gram_predictor_columns(rows->predictor)->classes->count;
}

static gram_status take_room(gram_context *context, gram_seen_rows *rows)
{
    gram_status status = GRAM_OK;
    double *block = NULL;
    const int64_t d = gram_preparation_dimension(gram_predictor_preparation(rows->predictor));
    TRY(gram_arena_take(context, &rows->arena, "picture", 2 * d, sizeof *rows->ranges, (void **)&rows->ranges));
    for (int64_t l = 0; l < 2 * d; l++) rows->ranges[l] = NAN;
    if (class_count(rows) == 0) {
        TRY(gram_arena_take(context, &rows->arena, "picture", 3 * (int64_t)GRAM_PICTURE_POINTS, sizeof *block,
                            (void **)&block));
        rows->sample = gram_row_sample_begin(context, block);
        return status;
    }
    TRY(gram_arena_take(context, &rows->arena, "picture", MOST_KEPT * d, sizeof *rows->x, (void **)&rows->x));
    TRY(gram_arena_take(context, &rows->arena, "picture", MOST_KEPT, sizeof *rows->labels, (void **)&rows->labels));
done:
    return status;
}

gram_status gram_seen_rows_create(gram_context *context, const gram_predictor *predictor, gram_seen_rows **rows)
{
    gram_status status = GRAM_OK;
    gram_seen_rows *made = NULL;
    *rows = NULL;
    FAIL_IF(!predictor || !gram_predictor_preparation(predictor), context, GRAM_ERROR_ARGUMENT, "seen_rows_create: %s",
            predictor ? "the model has no description of the columns that it takes" : "predictor is NULL");
    TRY(gram_take(context, "picture", 1, sizeof *made, (void **)&made));
    *made = (gram_seen_rows){
        .memory = gram_memory_retain(context->memory), .predictor = predictor, .least = NAN, .most = NAN};
    gram_arena_init(&made->arena, made->memory);
    TRY(take_room(context, made));
    *rows = made;
    made = NULL;
done:
    gram_seen_rows_destroy(made);
    return status;
}

void gram_seen_rows_destroy(gram_seen_rows *rows)
{
    if (!rows) return;
    gram_memory *memory = rows->memory;
    gram_arena_release(&rows->arena);
    gram_memory_give(memory, rows);
    gram_memory_release(memory);
}

/* ---- one piece ---- */

static void keep_classes(gram_seen_rows *rows, const gram_prepared *data)
{
    const gram_classes *classes = gram_predictor_columns(rows->predictor)->classes;
    const int64_t room = MOST_KEPT - rows->kept, count = data->n < room ? data->n : room;
    if (!data->y || data->targets != 1 || count == 0) return;
    memcpy(rows->x + rows->kept * data->d, data->x, (size_t)(count * data->d) * sizeof *rows->x);
    for (int64_t i = 0; i < count; i++) rows->labels[rows->kept++] = (double)gram_classes_find(classes, data->y[i]);
}

static void keep_numbers(gram_seen_rows *rows, const gram_predicted *piece)
{
    const gram_columns *columns = gram_predictor_columns(rows->predictor);
    const gram_preparation *preparation = gram_predictor_preparation(rows->predictor);
    const gram_prepared *data = piece->data;
    if (!data->y || columns->outputs == 0 || data->targets != columns->outputs) return;
    for (int64_t i = 0; i < data->n; i++)
        gram_row_sample_add(&rows->sample, gram_preparation_unit(preparation, 0, data->x[i * data->d]),
                            data->y[i * columns->outputs], piece->values[i * columns->ld]);
}

gram_status gram_seen_rows_add(gram_context *context, gram_seen_rows *rows, const gram_predicted *piece)
{
    if (!rows || !piece)
        return gram_fail(context, GRAM_ERROR_ARGUMENT, "seen_rows_add: %s is NULL", rows ? "piece" : "rows");
    const gram_prepared *data = piece->data;
    for (int64_t i = 0; i < data->n; i++) {
        const double x = gram_preparation_unit(gram_predictor_preparation(rows->predictor), 0, data->x[i * data->d]);
        gram_picture_extend(1, &x, 1, &rows->least, &rows->most);
    }
    gram_scene_extend(data->n, data->d, data->x, rows->ranges, rows->ranges + data->d);
    if (class_count(rows) > 0)
        keep_classes(rows, data);
    else
        keep_numbers(rows, piece);
    return GRAM_OK;
}

/* ---- the picture ---- */

/* The row that suits the model, and what the rows lack for it; NULL: nothing. */
static const gram_picture_row *choose(const gram_seen_rows *rows, const char **lacks, const char **advice)
{
    if (class_count(rows) > 0) {
        *lacks = rows->kept > 0 ? NULL : "the classes of the rows";
        return gram_picture_find("classes");
    }
    if (gram_scene_is_posterior(rows->predictor->model)) {
        *lacks = rows->least < rows->most ? NULL : "at least two different values of the feature";
        *advice = "Give data that cover a range, or leave --plot out.";
        return gram_picture_find("posterior");
    }
    *lacks = rows->sample.count > 0 ? NULL : "the target, which is missing";
    return gram_picture_find("fit");
}

gram_status gram_picture_of_predictions(gram_context *context, const gram_seen_rows *rows,
                                        const gram_picture_options *given, gram_picture **picture)
{
    gram_status status = GRAM_OK;
    const char *lacks = NULL, *advice = "Leave --plot out, or give data with the target.";
    gram_picture_options options;
    *picture = NULL;
    FAIL_IF(!rows, context, GRAM_ERROR_ARGUMENT, "picture_of_predictions: rows is NULL");
    TRY(gram_picture_read_options(context, "picture_of_predictions", given, &options));
    const gram_picture_row *row = choose(rows, &lacks, &advice);
    if (lacks)
        TRY(gram_picture_refuse(context, GRAM_ERROR_DATA, options.dashes, advice, "%s: --plot needs %s", options.data,
                                lacks));
    gram_scene scene = gram_scene_begin(rows->predictor->model, &options);
    scene.n = rows->kept;
    scene.x = rows->x;
    scene.labels = rows->labels;
    scene.sample = rows->sample;
    scene.predicted = class_count(rows) > 0 ? "predicted rows" : "prediction";
    scene.least = rows->ranges;
    scene.most = rows->ranges + gram_preparation_dimension(gram_predictor_preparation(rows->predictor));
    scene.from = rows->least;
    scene.to = rows->most;
    TRY(gram_scene_draw(context, row, &scene, &options, picture));
done:
    return status;
}

/* A model from anywhere and data that fit it: whatever the file says, predictions come out or a message does, and they
 * are numbers. The data are made from the model's own columns: numbers, levels that it knows and one that it does not,
 * missing values. */
#define _GNU_SOURCE
#include "archive_input.h"
#include "temporary_file.h"

#include <math.h>

#include <gram/gram.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BUDGET = 24 << 20, MOST_COLUMNS = 64, MOST_CENTRES = 300 };

static void require(int truth)
{
    if (!truth) abort();
}

/* ---- the data ---- */

static void add_value(gram_string *text, const gram_column *column, int row)
{
    static const char *const NUMBERS[] = {"0", "1", "-2.5", "0.25", "1e6", "", "3"};
    if (column->text && column->level_count > 0 && row < 4)
        gram_string_add_field(text, column->levels[row % column->level_count]);
    else if (column->text)
        gram_string_add(text, "%s", row == 4 ? "other" : "");
    else
        gram_string_add(text, "%s", NUMBERS[row % 7]);
}

static void add_columns(gram_string *text, int64_t count, const gram_column *columns, int row)
{
    for (int64_t j = 0; j < count; j++) {
        if (row < 0) gram_string_add_field(text, columns[j].name);
        if (row >= 0) add_value(text, &columns[j], row);
        gram_string_add(text, ",");
    }
}

static void write_data(const gram_preparation_description *about, gram_string *text)
{
    for (int row = -1; row < 7; row++) {
        add_columns(text, about->feature_count, about->features, row);
        add_columns(text, about->target_count, about->targets, row);
        if (about->weights) add_columns(text, 1, about->weights, row < 0 ? row : row % 2);
        gram_string_add(text, "%s\n", row < 0 ? "spare" : "7");
    }
}

/* ---- predictions ---- */

/* Means, deviations and probabilities; a column without them is NaN throughout. */
static void check_values(const gram_columns *columns, const gram_predicted *piece)
{
    for (int64_t i = 0; i < piece->data->n; i++) {
        const double *row = piece->values + i * columns->ld;
        const int64_t classes = columns->classes->count;
        if (classes > 0) require(row[0] >= 0 && row[0] < (double)classes);
        if (columns->std >= 0) require(!(row[columns->std] < 0));
        for (int64_t j = 0; j < classes && columns->probability >= 0; j++)
            require(!(row[columns->probability + j] < 0) && !(row[columns->probability + j] > 1));
    }
}

static void predict(gram_context *context, const gram_predictor *predictor, const gram_preparation *preparation,
                    const char *path)
{
    gram_predict_stream *stream = NULL;
    const gram_predicted *piece = NULL;
    gram_score *score = NULL;
    gram_score_report report = {.size = sizeof report};
    const gram_columns *columns = gram_predictor_columns(predictor);
    gram_status status = gram_score_create(context, columns, &score);
    if (status == GRAM_OK)
        status = gram_predict_stream_open(context, predictor, preparation, path, GRAM_FORMAT_CSV, &stream);
    while (status == GRAM_OK) {
        status = gram_predict_stream_next(context, stream, &piece);
        if (status < 0 || !piece) break;
        check_values(columns, piece);
        status = gram_score_add(context, score, piece->data->n, piece->data->y, piece->data->targets, piece->values,
                                columns->ld);
    }
    if (status == GRAM_OK) status = gram_score_sum_up(context, score, &report);
    require(status == GRAM_OK || gram_context_message(context)[0] != '\0');
    require(status != GRAM_ERROR_INTERNAL);
    gram_predict_stream_close(stream);
    gram_score_destroy(score);
}

static void describe(gram_context *context, const gram_model *model)
{
    gram_description *about = NULL;
    const gram_status status = gram_model_describe(context, model, "m.gram", &about);
    require((status == GRAM_OK) == (about != NULL) && status != GRAM_ERROR_INTERNAL);
    for (int64_t i = 0; about && i < gram_description_count(about); i++)
        require(gram_description_label(about, i) && gram_description_value(about, i));
    gram_description_destroy(about);
}

static void use(gram_context *context, const gram_model *model, const char *path)
{
    for (int asked = 0; asked < 4; asked++) {
        gram_predict_options options;
        gram_predictor *predictor = NULL;
        gram_predict_options_init(&options, sizeof options);
        options.std = asked == 1;
        options.prob = asked == 2;
        options.interval = asked == 3 ? 0.9 : 0;
        options.terms = asked == 3;
        const gram_status status = gram_predictor_create(context, model, &options, &predictor);
        require((status == GRAM_OK) == (predictor != NULL) && status != GRAM_ERROR_INTERNAL);
        require(status == GRAM_OK || gram_context_message(context)[0] != '\0');
        if (predictor) predict(context, predictor, NULL, path);
        gram_predictor_destroy(predictor);
    }
}

/* A file may hold much of everything; the time goes with its square. */
static int is_small(const gram_model *model)
{
    const gram_preparation *preparation = gram_model_preparation(model);
    const gram_function *f = gram_model_function(model);
    return preparation && gram_preparation_dimension(preparation) <= MOST_COLUMNS &&
           gram_points_count(gram_function_centres(f)) <= MOST_CENTRES && gram_function_outputs(f) <= MOST_COLUMNS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    gram_context *context;
    gram_context_options options;
    gram_model *model = NULL;
    gram_context_options_init(&options, sizeof options);
    options.memory_budget = BUDGET;
    options.threads = 1;
    require(gram_context_create(&options, &context) == GRAM_OK);
    const size_t before = gram_context_memory_used(context);
    if (gram_model_read_memory(context, "m.gram", data, size, &model) == GRAM_OK && is_small(model)) {
        gram_string text = {0};
        write_data(gram_preparation_describe(gram_model_preparation(model)), &text);
        describe(context, model);
        use(context, model, temporary_file((const uint8_t *)text.data, text.length));
        gram_string_free(&text);
    }
    gram_model_destroy(model);
    require(gram_context_memory_used(context) == before);
    gram_context_destroy(context);
    return 0;
}

/* Model files from anywhere: gram's own, and LIBSVM's. Whatever a file says, it is read or refused with a message, from a file as
 * from memory; what was read can be written and read again, is described, and gives predictions that are numbers, or a message.
 * The data are made from the model's own columns: numbers, levels that it knows and one that it does not, missing values.
 *
 * Each input is read as it is and, if it is an archive of entries, packed anew, so that mutations get past the checksums. */
#define _GNU_SOURCE
#include "archive_input.h"
#include "method_models.h"
#include "require.h"

#include <math.h>

#include <gram/gram.h>

enum { BUDGET = 24 << 20, MOST_COLUMNS = 64, MOST_CENTRES = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);

static gram_context *make_context(void)
{
    gram_context *context;
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.memory_budget = BUDGET;
    options.threads = 1;
    require(gram_context_create(&options, &context) == GRAM_OK);
    return context;
}

/* ---- what holds of every model ---- */

static void check_function(const gram_function *f, const gram_preparation *preparation)
{
    const gram_points *centres = gram_function_centres(f);
    const int64_t n = gram_points_count(centres), d = gram_points_dimension(centres), m = gram_function_outputs(f);
    require(n >= 1 && m >= 1 && d >= 1);
    for (int64_t k = 0; k < n * m; k++) require(isfinite(gram_function_coefficients(f)[k]));
    for (int64_t o = 0; o < m; o++) require(isfinite(gram_function_constant(f)[o]));
    require(!preparation || gram_preparation_dimension(preparation) == d);
}

static void check_model(gram_context *context, const gram_model *model)
{
    const gram_function *f = gram_model_function(model), *second = gram_model_second_function(model);
    const gram_points *centres = gram_function_centres(f);
    const int64_t n = gram_points_count(centres), m = gram_function_outputs(f);
    check_function(f, gram_model_preparation(model));
    if (second) check_function(second, gram_model_second_preparation(model));
    require(gram_model_method(model) && gram_model_task(model) && gram_model_version(model));
    for (int64_t i = 0; i < gram_model_fact_count(model); i++) {
        const gram_fact fact = gram_model_fact(model, i);
        require(fact.name && strcmp(gram_model_find(model, fact.name).name, fact.name) == 0);
    }
    if (n * m > 4096) return;
    double *out = malloc((size_t)(n * m) * sizeof *out);
    if (out) (void)gram_function_evaluate(context, f, centres, out, m); /* may be outside of the kernel's domain */
    free(out);
}

/* ---- writing ---- */

static void same_model(const gram_model *a, const gram_model *b)
{
    require(strcmp(gram_model_method(a), gram_model_method(b)) == 0);
    require(gram_model_fact_count(a) == gram_model_fact_count(b));
    require(
        gram_kernel_equal(gram_function_kernel(gram_model_function(a)), gram_function_kernel(gram_model_function(b))));
    require(!gram_model_second_function(a) == !gram_model_second_function(b));
}

/* What was read can be written, and the file says the same. */
static void write_back(gram_context *context, const gram_model *model)
{
    char path[TEMPORARY_PATH];
    gram_model *again = NULL;
    (void)snprintf(path, sizeof path, "/dev/shm/fuzz_model.%ld", (long)getpid());
    gram_status status = gram_model_write(context, model, path);
    require(status == GRAM_OK || status == GRAM_ERROR_BUDGET);
    if (status == GRAM_OK) {
        status = gram_model_read(context, path, &again);
        require(status == GRAM_OK || status == GRAM_ERROR_BUDGET);
        require(unlink(path) == 0);
    }
    if (again) same_model(model, again);
    gram_model_destroy(again);
}

static int keep(void *user, const char *bytes, size_t length)
{
    gram_string_add(user, "%.*s", (int)length, bytes);
    return 0;
}

/* In LIBSVM's words, unless it is no such machine or a number overflows; zeros are left out, which may make it look too sparse. */
static void write_libsvm(gram_context *context, const gram_model *model, int is_libsvm)
{
    gram_string text = {0};
    gram_model *again = NULL;
    gram_status status = gram_model_print_libsvm(context, model, keep, &text);
    require(status == GRAM_OK || gram_context_message(context)[0] != '\0');
    require(status == GRAM_OK || !is_libsvm || status == GRAM_ERROR_NUMERICAL || status == GRAM_ERROR_BUDGET);
    if (status == GRAM_OK) {
        status = gram_model_read_libsvm_memory(context, "again", text.data, text.length, &again);
        require(status == GRAM_OK || status == GRAM_ERROR_BUDGET || !is_libsvm ||
                strstr(gram_context_message(context), "too sparse") != NULL);
    }
    if (again) {
        require(strcmp(gram_model_task(model), gram_model_task(again)) == 0);
        require(gram_function_outputs(gram_model_function(model)) == gram_function_outputs(gram_model_function(again)));
    }
    gram_model_destroy(again);
    gram_string_free(&text);
}

/* ---- data for it ---- */

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

static void predict(gram_context *context, const gram_predictor *predictor)
{
    gram_predict_stream *stream = NULL;
    const gram_predicted *piece = NULL;
    gram_score *score = NULL;
    gram_score_report report = {.size = sizeof report};
    gram_string text = {0};
    const gram_columns *columns = gram_predictor_columns(predictor);
    write_data(gram_preparation_describe(gram_predictor_preparation(predictor)), &text);
    const char *path = temporary_file((const uint8_t *)text.data, text.length);
    gram_status status = gram_score_create(context, columns, &score);
    if (status == GRAM_OK) status = gram_predict_stream_open(context, predictor, NULL, path, GRAM_FORMAT_CSV, &stream);
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
    gram_string_free(&text);
}

/* Asked for everything in turn; of two views also for each alone. */
static void use(gram_context *context, const gram_model *model)
{
    const gram_method *method = gram_method_of_model(model);
    for (int asked = 0; asked < 6; asked++) {
        gram_predict_options options;
        gram_predictor *predictor = NULL;
        if (asked > 3 && (!method || !method->views[0])) break;
        gram_predict_options_init(&options, sizeof options);
        options.std = asked == 1;
        options.prob = asked == 2;
        options.interval = asked == 3 ? 0.9 : 0;
        options.terms = asked == 3;
        options.scores = asked == 0;
        options.view = asked > 3 ? method->views[asked - 4] : NULL;
        const gram_status status = gram_predictor_create(context, model, &options, &predictor);
        require((status == GRAM_OK) == (predictor != NULL) && status != GRAM_ERROR_INTERNAL);
        require(status == GRAM_OK || gram_context_message(context)[0] != '\0');
        if (predictor && gram_predictor_preparation(predictor)) predict(context, predictor);
        gram_predictor_destroy(predictor);
    }
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

/* A file may hold much of everything; the time goes with its square. */
static int is_small(const gram_function *f)
{
    return !f || (gram_points_count(gram_function_centres(f)) <= MOST_CENTRES &&
                  gram_points_dimension(gram_function_centres(f)) <= MOST_COLUMNS &&
                  gram_function_outputs(f) <= MOST_COLUMNS);
}

static void use_model(gram_context *context, const gram_model *model, int is_libsvm)
{
    check_model(context, model);
    write_libsvm(context, model, is_libsvm);
    if (!is_small(gram_model_function(model)) || !is_small(gram_model_second_function(model))) return;
    describe(context, model);
    use(context, model);
}

/* ---- reading ---- */

/* A file is read as memory is. */
static void read_file(const uint8_t *data, size_t size, gram_status status)
{
    gram_context *context = make_context();
    gram_model *model = NULL;
    const gram_status found = gram_model_read(context, temporary_file(data, size), &model);
    require(found == status || found == GRAM_ERROR_BUDGET || status == GRAM_ERROR_BUDGET);
    gram_model_destroy(model);
    gram_context_destroy(context);
}

static void read_archive(const uint8_t *data, size_t size)
{
    gram_context *context = make_context();
    gram_model *model = NULL;
    const size_t before = gram_context_memory_used(context);
    const gram_status status = gram_model_read_memory(context, "m.gram", data, size, &model);
    require((status == GRAM_OK) == (model != NULL));
    require(model || status == GRAM_ERROR_BUDGET ||
            (status == GRAM_ERROR_DATA && strncmp(gram_context_message(context), "m.gram: ", 8) == 0));
    read_file(data, size, status);
    if (model) {
        use_model(context, model, 0);
        write_back(context, model);
    }
    gram_model_destroy(model);
    require(gram_context_memory_used(context) == before);
    gram_context_destroy(context);
}

static void read_libsvm(const uint8_t *data, size_t size)
{
    gram_context *context = make_context();
    gram_model *model = NULL;
    const size_t before = gram_context_memory_used(context);
    const gram_status status = gram_model_read_libsvm_memory(context, "m.model", data, size, &model);
    require((status == GRAM_OK) == (model != NULL));
    require(model || status == GRAM_ERROR_BUDGET ||
            ((status == GRAM_ERROR_DATA || status == GRAM_ERROR_UNSUPPORTED) &&
             strncmp(gram_context_message(context), "m.model:", 8) == 0));
    if (model) use_model(context, model, 1);
    gram_model_destroy(model);
    require(gram_context_memory_used(context) == before);
    gram_context_destroy(context);
}

/* Mutations that did not come from the archive's own mutator. */
static void read_mended(const uint8_t *data, size_t size)
{
    packed_entry entries[PACK_ENTRIES];
    const int count = unpack(data, size, entries);
    const size_t length = packed_size(entries, count);
    uint8_t *whole = malloc(length);
    require(whole != NULL);
    pack(entries, count, whole);
    if (count > 0 && (length != size || memcmp(whole, data, size) != 0)) read_archive(whole, length);
    free(whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_archive(data, size);
    if (size > 1 && memcmp(data, "PK", 2) == 0)
        read_mended(data, size);
    else
        read_libsvm(data, size);
    return 0;
}

/* Of 16 inputs one becomes the model of a row, one gets an entry of such a model, three are changed as bytes, which is for the
 * reader of archives, and the others in the contents of an entry. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    packed_entry entries[PACK_ENTRIES], others[PACK_ENTRIES];
    size_t length = 0;
    const unsigned kind = seed % 16, chosen = seed / 16 % 4096;
    const int count = unpack(data, size, entries);
    const made_model *model = kind < 2 ? method_model(seed / 16 / 4096) : NULL;
    if (kind == 0 && model->length > 0 && model->length <= most) {
        memcpy(data, model->bytes, model->length);
        return model->length;
    }
    if (kind == 1 && count > 0 && model->length > 0) {
        const unsigned parts = (unsigned)unpack(model->bytes, model->length, others);
        length = take_entry(entries, count, &others[chosen % parts], data, most);
    } else if (kind > 4 && count > 0)
        length = mutate_entry(entries, count, (int)(chosen % (unsigned)count), data, most);
    return length > 0 ? length : LLVMFuzzerMutate(data, size, most);
}

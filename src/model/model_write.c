/* Writing models: model.json, then the arrays. The arrays go to the disk from where they are; only model.json is made in
 * memory, in exactly the room that it takes. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/system/system_call.h"
#include "base/text/json_writer.h"
#include "data/npy_header.h"
#include "function/function.h"
#include "kernel/kernel.h"
#include "model/archive.h"
#include "model/model.h"
#include <gram/text.h>

enum { FUNCTION_PARTS = 3, MOST_FIXED = 1 + 2 * FUNCTION_PARTS }; /* model.json, then those of each function */

/* ---- model.json ---- */

static void put_column(gram_json *json, const char *key, const gram_column *column)
{
    gram_json_open(json, key, '{');
    gram_json_string(json, "name", column->name);
    gram_json_string(json, "kind",
                     column->kind == GRAM_COLUMN_SPARSE  ? "sparse"
                     : column->kind == GRAM_COLUMN_TEXTS ? "texts"
                     : column->kind == GRAM_COLUMN_GIVEN ? "given"
                     : column->text                      ? "text"
                     : column->date                      ? "date"
                                                         : "number");
    gram_json_integer(json, "place", column->place);
    gram_json_number(json, "mean", column->mean);
    gram_json_number(json, "deviation", column->deviation);
    gram_json_number(json, "fill", column->fill);
    if (column->log_size > 0) {
        gram_json_number(json, "log_centre", column->log_centre);
        gram_json_number(json, "log_size", column->log_size);
    }
    if (column->kind == GRAM_COLUMN_SPARSE || column->kind == GRAM_COLUMN_GIVEN)
        gram_json_integer(json, "width", column->width);
    if (column->deviations) {
        gram_json_open(json, "deviations", '[');
        for (int64_t i = 0; i < column->width; i++) gram_json_number(json, NULL, column->deviations[i]);
        gram_json_close(json, '[');
    }
    if (column->text) {
        gram_json_open(json, "levels", '[');
        for (int64_t i = 0; i < column->level_count; i++) gram_json_string(json, NULL, column->levels[i]);
        gram_json_close(json, '[');
    }
    gram_json_close(json, '{');
}

/* Columns may be a million: a few seconds. What is too long for a model file is not written to its end. */
static gram_status put_columns(gram_context *context, gram_json *json, const char *key, int64_t count,
                               const gram_column *columns)
{
    enum { LOOK = 4096 };
    gram_status status = GRAM_OK;
    gram_json_open(json, key, '[');
    for (int64_t i = 0; i < count && json->text->length <= GRAM_MODEL_MOST_JSON; i++) {
        if (i % LOOK == LOOK - 1) TRY(gram_pulse(context, "writing", (double)i / (double)count));
        put_column(json, NULL, &columns[i]);
    }
    gram_json_close(json, '[');
done:
    return status;
}

static gram_status put_preparation(gram_context *context, gram_json *json, const gram_preparation *preparation)
{
    static const char *const missing[] = {"error", "drop", "mean"};
    gram_status status = GRAM_OK;
    if (!preparation) {
        gram_json_null(json, "preparation");
        return status;
    }
    const gram_preparation_description *description = gram_preparation_describe(preparation);
    gram_json_open(json, "preparation", '{');
    TRY(put_columns(context, json, "features", description->feature_count, description->features));
    TRY(put_columns(context, json, "targets", description->target_count, description->targets));
    if (description->weights)
        put_column(json, "weights", description->weights);
    else
        gram_json_null(json, "weights");
    gram_json_string(json, "missing", missing[description->missing]);
    gram_json_truth(json, "scaled", description->scaled);
    gram_json_truth(json, "named", description->named);
    if (description->missing_texts) gram_json_string(json, "missing_texts", description->missing_texts);
    if (description->bag) put_column(json, "bag", description->bag);
    if (description->bag_weights) put_column(json, "bag_weights", description->bag_weights);
    gram_json_close(json, '{');
done:
    return status;
}

/* JSON has no infinities: {"number": "inf"}. */
static void put_infinite(gram_json *json, const char *name, double value)
{
    gram_json_open(json, name, '{');
    gram_json_string(json, "number", value > 0 ? "inf" : "-inf");
    gram_json_close(json, '{');
}

static void put_facts(gram_json *json, const gram_model *model)
{
    gram_json_open(json, "facts", '{');
    for (const gram_model_fact_link *link = model->facts; link; link = link->next) {
        const gram_fact *fact = &link->fact;
        if (fact->kind == GRAM_FACT_NUMBER && isinf(fact->number))
            put_infinite(json, fact->name, fact->number);
        else
            gram_json_fact(json, fact);
    }
    gram_json_close(json, '{');
}

static void put_array(gram_json *json, const char *name, int64_t rows, int64_t columns, const char *type)
{
    gram_json_open(json, name, '{');
    gram_json_integer(json, "rows", rows);
    gram_json_integer(json, "columns", columns);
    gram_json_string(json, "dtype", type);
    gram_json_close(json, '{');
}

static const char *centres_type(const gram_function *f)
{
    return f->f32 ? "<f4" : "<f8";
}

static const char *const PARTS[2][FUNCTION_PARTS] = {{"centres", "coefficients", "constant"},
                                                     {"second_centres", "second_coefficients", "second_constant"}};

static void put_function(gram_json *json, const gram_function *f, int which)
{
    put_array(json, PARTS[which][0], f->n, f->d, centres_type(f));
    put_array(json, PARTS[which][1], f->n, f->outputs, "<f8");
    put_array(json, PARTS[which][2], 1, f->outputs, "<f8");
}

static void put_arrays(gram_json *json, const gram_model *model)
{
    gram_json_open(json, "arrays", '{');
    put_function(json, model->function, 0);
    if (model->second) put_function(json, model->second, 1);
    for (const gram_model_array_link *link = model->arrays; link; link = link->next)
        put_array(json, link->name, link->rows, link->columns, "<f8");
    gram_json_close(json, '{');
}

/* The second view: what the first has at the top. */
static gram_status put_second(gram_context *context, gram_json *json, const gram_model *model, const char *kernel)
{
    gram_status status = GRAM_OK;
    gram_json_open(json, "second", '{');
    gram_json_string(json, "kernel", kernel);
    gram_json_integer(json, "outputs", model->second->outputs);
    TRY(put_preparation(context, json, model->second_preparation));
    gram_json_close(json, '{');
done:
    return status;
}

static gram_status put_model(gram_context *context, gram_json *json, const gram_model *model, char *const *kernel)
{
    gram_status status = GRAM_OK;
    gram_json_open(json, NULL, '{');
    gram_json_string(json, "format", "gram-model");
    gram_json_integer(json, "version", GRAM_MODEL_VERSION);
    gram_json_string(json, "gram", gram_version());
    gram_json_string(json, "method", model->method);
    gram_json_string(json, "task", model->task);
    gram_json_string(json, "kernel", kernel[0]);
    gram_json_integer(json, "outputs", model->function->outputs);
    TRY(put_preparation(context, json, model->preparation));
    if (model->second) TRY(put_second(context, json, model, kernel[1]));
    put_facts(json, model);
    put_arrays(json, model);
    gram_json_close(json, '{');
done:
    return status;
}

/* ---- what cannot be written ---- */

/* What a reader will make of the text and of the sample beside it. */
static gram_status read_again(gram_context *context, const gram_kernel *kernel, const char *text, gram_kernel **again)
{
    gram_status status = GRAM_OK;
    gram_kernel *plain = NULL;
    gram_points *sample = gram_kernel_sample(kernel);
    TRY(gram_kernel_parse(context, text, &plain));
    if (sample)
        TRY(gram_kernel_bind(context, plain, sample, again));
    else
        *again = gram_kernel_retain(plain);
done:
    gram_kernel_release(plain);
    return status;
}

/* The kernel's text reads back to the same kernel, or the model cannot be written. */
static gram_status check_text(gram_context *context, const gram_kernel *kernel, const char *text)
{
    gram_status status = GRAM_OK;
    gram_kernel *again = NULL;
    status = read_again(context, kernel, text, &again);
    if (status == GRAM_ERROR_MEMORY || status == GRAM_ERROR_BUDGET) goto done;
    FAIL_IF(status < 0 || !gram_kernel_equal(kernel, again), context, GRAM_ERROR_UNSUPPORTED,
            "model_write: the kernel %.80s%s exists in this program only and cannot be kept in a file", text,
            strlen(text) > 80 ? "..." : "");
done:
    gram_kernel_release(again);
    return status;
}

/* `any`: one that cannot be read back will do. */
static gram_status print_kernel(gram_context *context, const gram_kernel *kernel, int any, char **text)
{
    gram_status status = GRAM_OK;
    const size_t size = gram_kernel_print(kernel, NULL, 0) + 1;
    TRY(gram_take(context, "model_write: kernel", (int64_t)size, 1, (void **)text));
    (void)gram_kernel_print(kernel, *text, size);
    if (!any) TRY(check_text(context, kernel, *text));
done:
    return status;
}

static gram_status check_length(gram_context *context, const gram_string *text, const gram_preparation *preparation)
{
    gram_status status = GRAM_OK;
    char most[GRAM_BYTES_SIZE];
    FAIL_IF(text->length > GRAM_MODEL_MOST_JSON, context, GRAM_ERROR_UNSUPPORTED,
            "model_write: the names and levels of %" PRId64
            " columns, and facts, take more than the %s of a model file",
            preparation ? gram_preparation_describe(preparation)->feature_count : 0,
            gram_bytes_format(GRAM_MODEL_MOST_JSON, most));
done:
    if (status >= 0) return status;
    return gram_advise(context, status, "Leave columns out with --features or --ignore, or shorten names and levels.");
}

gram_status gram_model_check_columns(gram_context *context, const gram_preparation *first,
                                     const gram_preparation *second)
{
    gram_status status = GRAM_OK;
    gram_string text = {.fixed = 1}; /* without room: the length is counted */
    gram_json json = {.text = &text, .exact = 1};
    TRY(put_preparation(context, &json, first));
    TRY(put_preparation(context, &json, second));
    TRY(check_length(context, &text, first));
done:
    return status;
}

/* Once to learn the length, and once more into exactly that room. */
static gram_status make_json(gram_context *context, const gram_model *model, int any, gram_string *text)
{
    gram_status status = GRAM_OK;
    char *kernel[2] = {NULL, NULL};
    TRY(print_kernel(context, model->function->kernel, any, &kernel[0]));
    if (model->second) TRY(print_kernel(context, model->second->kernel, 0, &kernel[1]));
    *text = (gram_string){.fixed = 1};
    TRY(put_model(context, &(gram_json){.text = text, .exact = 1}, model, kernel));
    TRY(check_length(context, text, model->preparation));
    text->room = text->length;
    TRY(gram_take(context, "model_write: model.json", (int64_t)text->room, 1, (void **)&text->data));
    text->length = 0;
    TRY(put_model(context, &(gram_json){.text = text, .exact = 1}, model, kernel));
done:
    gram_give(context, kernel[0]);
    gram_give(context, kernel[1]);
    return status;
}

/* ---- the parts ---- */

typedef struct heads {
    char bytes[GRAM_NPY_HEADER];
} heads;

/* An array as an entry NAME.npy; its header goes to `head`. */
static void set_part(gram_archive_part *part, heads *head, const char *name, const char *type, int64_t rows,
                     int64_t columns, const void *data)
{
    const size_t item = strcmp(type, "<f4") == 0 ? sizeof(float) : sizeof(double);
    (void)strcat(strcpy(part->name, name), ".npy");
    part->head_size = gram_npy_format(type, rows, columns, head->bytes);
    part->head = head->bytes;
    part->data = data;
    part->data_size = (size_t)(rows * columns) * item;
}

static void set_function(const gram_function *f, int which, gram_archive_part *parts, heads *head)
{
    set_part(&parts[0], &head[0], PARTS[which][0], centres_type(f), f->n, f->d, gram_function_row(f, 0));
    set_part(&parts[1], &head[1], PARTS[which][1], "<f8", f->n, f->outputs, f->a);
    set_part(&parts[2], &head[2], PARTS[which][2], "<f8", 1, f->outputs, f->constant);
}

/* Returns how many. */
static int64_t set_parts(const gram_model *model, const gram_string *json, gram_archive_part *parts, heads *head)
{
    int64_t i = 1 + FUNCTION_PARTS;
    parts[0] = (gram_archive_part){.name = "model.json", .head = json->data, .head_size = json->length};
    set_function(model->function, 0, parts + 1, head + 1);
    if (model->second) {
        set_function(model->second, 1, parts + i, head + i);
        i += FUNCTION_PARTS;
    }
    for (const gram_model_array_link *link = model->arrays; link; link = link->next, i++)
        set_part(&parts[i], &head[i], link->name, "<f8", link->rows, link->columns, link->data);
    return i;
}

static gram_status write_model(gram_context *context, const gram_model *model, int any, const char *path, void *bytes,
                               size_t room, size_t *size)
{
    gram_status status = GRAM_OK;
    gram_string json = {0};
    gram_archive_part *parts = NULL;
    heads *head = NULL;
    int64_t count = MOST_FIXED + model->array_count;
    TRY(make_json(context, model, any, &json));
    TRY(gram_take(context, "model_write: parts", count, sizeof *parts, (void **)&parts));
    TRY(gram_take(context, "model_write: headers", count, sizeof *head, (void **)&head));
    count = set_parts(model, &json, parts, head);
    TRY(path ? gram_archive_write(context, path, count, parts, 0)
             : gram_archive_write_memory(context, bytes, room, size, count, parts));
done:
    gram_give(context, head);
    gram_give(context, parts);
    gram_give(context, json.data);
    return status;
}

gram_status gram_model_write(gram_context *context, const gram_model *model, const char *path)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!model || !path, context, GRAM_ERROR_ARGUMENT, "model_write: %s is NULL", !model ? "model" : "path");
    TRY(write_model(context, model, 0, path, NULL, 0, NULL));
done:
    return status;
}

static gram_status to_memory(gram_context *context, const char *who, const gram_model *model, int any, void *bytes,
                             size_t room, size_t *size)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!model || !size || (!bytes && room > 0), context, GRAM_ERROR_ARGUMENT, "%s: %s is NULL", who,
            !model  ? "model"
            : !size ? "size"
                    : "bytes");
    TRY(write_model(context, model, any, NULL, bytes, room, size));
done:
    return status;
}

gram_status gram_model_write_memory(gram_context *context, const gram_model *model, void *bytes, size_t room,
                                    size_t *size)
{
    return to_memory(context, "model_write_memory", model, 0, bytes, room, size);
}

gram_status gram_model_write_part(gram_context *context, const gram_model *model, void *bytes, size_t room,
                                  size_t *size)
{
    return to_memory(context, "model_write_part", model, 1, bytes, room, size);
}

/* Models in memory: what belongs together, and chains of facts and arrays. */
#include "model/model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "function/function.h"
#include <gram/text.h>

/* ---- making ---- */

/* Prepared columns, one for a number and one for each level of a text: they must be the function's. */
static int64_t prepared_columns(const gram_preparation *preparation)
{
    const gram_preparation_description *description = gram_preparation_describe(preparation);
    int64_t columns = 0;
    if (description->bag) return 1;
    for (int64_t i = 0; i < description->feature_count; i++)
        columns += description->features[i].text ? description->features[i].level_count : 1;
    return columns;
}

static const char *keep(char **room, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = *room;
    memcpy(copy, text, size);
    *room += size;
    return copy;
}

static gram_status check_columns(gram_context *context, const char *who, const gram_preparation *preparation,
                                 const gram_function *function)
{
    gram_status status = GRAM_OK;
    FAIL_IF(preparation && prepared_columns(preparation) != function->d, context, GRAM_ERROR_DIMENSION,
            "%s: the preparation makes %" PRId64 " columns, the function takes %" PRId64, who,
            prepared_columns(preparation), function->d);
done:
    return status;
}

gram_status gram_model_make(gram_context *context, const char *method, const char *task, const char *version,
                            gram_preparation *preparation, gram_function *function, gram_model **model)
{
    gram_status status = GRAM_OK;
    gram_model *made = NULL;
    TRY(check_columns(context, "model_create", preparation, function));
    const size_t bytes = sizeof *made + strlen(method) + strlen(task) + strlen(version) + 3;
    TRY(gram_take(context, "model", (int64_t)bytes, 1, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    char *room = (char *)(made + 1);
    made->method = keep(&room, method);
    made->task = keep(&room, task);
    made->version = keep(&room, version);
    made->preparation = gram_preparation_retain(preparation);
    made->function = gram_function_retain(function);
    *model = made;
done:
    return status;
}

gram_status gram_model_create(gram_context *context, const char *method, const char *task,
                              gram_preparation *preparation, gram_function *function, gram_model **model)
{
    gram_status status = GRAM_OK;
    if (!context || !model) return GRAM_ERROR_ARGUMENT;
    *model = NULL;
    FAIL_IF(!method || !task || !function, context, GRAM_ERROR_ARGUMENT, "model_create: %s is NULL",
            !method ? "method"
            : !task ? "task"
                    : "function");
    TRY(gram_model_make(context, method, task, gram_version(), preparation, function, model));
    TRY(gram_model_keep_functionals(context, *model));
    TRY(gram_model_keep_things(context, *model, 0));
    TRY(gram_model_keep_slopes(context, *model));
    TRY(gram_model_keep_sample(context, *model, 0));
done:
    if (status < 0) {
        gram_model_destroy(*model);
        *model = NULL;
    }
    return status;
}

void gram_model_destroy(gram_model *model)
{
    if (!model) return;
    gram_memory *memory = model->memory;
    for (gram_model_fact_link *next, *link = model->facts; link; link = next) {
        next = link->next;
        gram_memory_give(memory, link);
    }
    for (gram_model_array_link *next, *link = model->arrays; link; link = next) {
        next = link->next;
        gram_memory_give(memory, link);
    }
    gram_preparation_release(model->preparation);
    gram_function_release(model->function);
    gram_preparation_release(model->second_preparation);
    gram_function_release(model->second);
    gram_memory_give(memory, model);
    gram_memory_release(memory);
}

const char *gram_model_method(const gram_model *model)
{
    return model->method;
}

const char *gram_model_task(const gram_model *model)
{
    return model->task;
}

gram_preparation *gram_model_preparation(const gram_model *model)
{
    return model->preparation;
}

gram_function *gram_model_function(const gram_model *model)
{
    return model->function;
}

gram_status gram_model_set_second(gram_context *context, gram_model *model, gram_preparation *preparation,
                                  gram_function *function)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!model || !function, context, GRAM_ERROR_ARGUMENT, "model_set_second: %s is NULL",
            !model ? "model" : "function");
    TRY(check_columns(context, "model_set_second", preparation, function));
    gram_preparation_retain(preparation);
    gram_function_retain(function);
    gram_preparation_release(model->second_preparation);
    gram_function_release(model->second);
    model->second_preparation = preparation;
    model->second = function;
    TRY(gram_model_keep_things(context, model, 1));
    TRY(gram_model_keep_sample(context, model, 1));
done:
    return status;
}

gram_preparation *gram_model_second_preparation(const gram_model *model)
{
    return model->second_preparation;
}

gram_function *gram_model_second_function(const gram_model *model)
{
    return model->second;
}

const char *gram_model_version(const gram_model *model)
{
    return model->version;
}

/* ---- facts ---- */

/* Where the link of this name hangs, or the end of the chain. */
static gram_model_fact_link **find_fact(gram_model *model, const char *name)
{
    gram_model_fact_link **at = &model->facts;
    while (*at && strcmp((*at)->fact.name, name) != 0) at = &(*at)->next;
    return at;
}

static gram_status set_fact(gram_context *context, gram_model *model, gram_fact fact)
{
    gram_status status = GRAM_OK;
    gram_model_fact_link *made = NULL;
    FAIL_IF(!model || !fact.name, context, GRAM_ERROR_ARGUMENT, "model_set: %s is NULL", !model ? "model" : "name");
    FAIL_IF(fact.kind == GRAM_FACT_TEXT && !fact.text, context, GRAM_ERROR_ARGUMENT, "model_set_text: value is NULL");
    gram_model_fact_link **at = find_fact(model, fact.name), *old = *at;
    FAIL_IF(!old && model->fact_count >= GRAM_MODEL_MOST_FACTS, context, GRAM_ERROR_ARGUMENT,
            "model_set: '%.40s' would be more than %d facts", fact.name, (int)GRAM_MODEL_MOST_FACTS);
    const size_t bytes = sizeof *made + strlen(fact.name) + 1 + (fact.text ? strlen(fact.text) + 1 : 0);
    TRY(gram_take_from(context, model->memory, "model: a fact", (int64_t)bytes, 1, (void **)&made));
    char *room = (char *)(made + 1);
    made->fact = fact;
    made->fact.name = keep(&room, fact.name);
    if (fact.text) made->fact.text = keep(&room, fact.text);
    made->next = old ? old->next : NULL;
    *at = made;
    if (old)
        gram_memory_give(model->memory, old);
    else
        model->fact_count++;
done:
    return status;
}

gram_status gram_model_set_number(gram_context *context, gram_model *model, const char *name, double value)
{
    if (!context) return GRAM_ERROR_ARGUMENT;
    return set_fact(context, model, (gram_fact){.name = name, .kind = GRAM_FACT_NUMBER, .number = value});
}

gram_status gram_model_set_integer(gram_context *context, gram_model *model, const char *name, int64_t value)
{
    if (!context) return GRAM_ERROR_ARGUMENT;
    return set_fact(context, model,
                    (gram_fact){.name = name, .kind = GRAM_FACT_INTEGER, .number = (double)value, .integer = value});
}

gram_status gram_model_set_text(gram_context *context, gram_model *model, const char *name, const char *value)
{
    if (!context) return GRAM_ERROR_ARGUMENT;
    return set_fact(context, model, (gram_fact){.name = name, .kind = GRAM_FACT_TEXT, .number = NAN, .text = value});
}

int64_t gram_model_fact_count(const gram_model *model)
{
    return model->fact_count;
}

static const gram_fact NO_FACT = {.number = NAN};

gram_fact gram_model_fact(const gram_model *model, int64_t index)
{
    if (index < 0 || index >= model->fact_count) return NO_FACT;
    const gram_model_fact_link *link = model->facts;
    while (index-- > 0) link = link->next;
    return link->fact;
}

gram_fact gram_model_find(const gram_model *model, const char *name)
{
    for (const gram_model_fact_link *link = model->facts; link; link = link->next)
        if (strcmp(link->fact.name, name) == 0) return link->fact;
    return NO_FACT;
}

/* ---- arrays ---- */

int gram_model_is_name(const char *name)
{
    const size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    return length > 0 && length < GRAM_MODEL_NAME && name[length] == '\0';
}

int gram_model_is_taken(const char *name)
{
    const size_t second = strlen("second_");
    if (strncmp(name, "second_", second) == 0) name += second;
    return strcmp(name, "centres") == 0 || strcmp(name, "coefficients") == 0 || strcmp(name, "constant") == 0;
}

gram_status gram_model_add_array(gram_context *context, gram_model *model, const char *name, int64_t rows,
                                 int64_t columns, double **data)
{
    gram_status status = GRAM_OK;
    gram_model_array_link *made = NULL, **at = &model->arrays;
    int64_t numbers, bytes;
    enum { HEAD = (sizeof *made + GRAM_ALIGNMENT - 1) / GRAM_ALIGNMENT * GRAM_ALIGNMENT };
    while (*at && strcmp((*at)->name, name) != 0) at = &(*at)->next;
    gram_model_array_link *old = *at;
    FAIL_IF(!old && model->array_count >= GRAM_MODEL_MOST_ARRAYS, context, GRAM_ERROR_ARGUMENT,
            "model_set_array: '%s' would be more than %d arrays", name, (int)GRAM_MODEL_MOST_ARRAYS);
    FAIL_IF(!gram_size_multiply(rows, columns, &numbers) || !gram_size_multiply(numbers, sizeof(double), &bytes) ||
                bytes > INT64_MAX - HEAD,
            context, GRAM_ERROR_OVERFLOW,
            "model_set_array: '%s' of %" PRId64 " x %" PRId64 " numbers is more than can be addressed", name, rows,
            columns);
    TRY(gram_take_from(context, model->memory, "model: an array", bytes + HEAD, 1, (void **)&made));
    *made = (gram_model_array_link){.next = old ? old->next : NULL, .rows = rows, .columns = columns};
    made->data = *data = (double *)(void *)((char *)made + HEAD);
    (void)strcpy(made->name, name);
    *at = made;
    if (old)
        gram_memory_give(model->memory, old);
    else
        model->array_count++;
done:
    return status;
}

gram_status gram_model_set_array(gram_context *context, gram_model *model, const char *name, int64_t rows,
                                 int64_t columns, const double *data, int64_t ld)
{
    gram_status status = GRAM_OK;
    double *copy;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!model || !name || !data, context, GRAM_ERROR_ARGUMENT, "model_set_array: %s is NULL",
            !model  ? "model"
            : !name ? "name"
                    : "data");
    FAIL_IF(!gram_model_is_name(name), context, GRAM_ERROR_ARGUMENT,
            "model_set_array: name '%.40s' must be 1 to 31 letters, digits and '_'", name);
    FAIL_IF(gram_model_is_taken(name), context, GRAM_ERROR_ARGUMENT, "model_set_array: '%s' is the function's", name);
    FAIL_IF(rows < 1 || columns < 1 || ld < columns, context, GRAM_ERROR_ARGUMENT,
            "model_set_array: %" PRId64 " x %" PRId64 " with ld = %" PRId64, rows, columns, ld);
    TRY(gram_model_add_array(context, model, name, rows, columns, &copy));
    for (int64_t i = 0; i < rows; i++) memcpy(copy + i * columns, data + i * ld, (size_t)columns * sizeof(double));
done:
    return status;
}

const double *gram_model_array(const gram_model *model, const char *name, int64_t *rows, int64_t *columns)
{
    const gram_model_array_link *link = model->arrays;
    while (link && strcmp(link->name, name) != 0) link = link->next;
    if (rows) *rows = link ? link->rows : 0;
    if (columns) *columns = link ? link->columns : 0;
    return link ? link->data : NULL;
}

void gram_json_fact(gram_json *json, const gram_fact *fact)
{
    if (fact->kind == GRAM_FACT_TEXT)
        gram_json_string(json, fact->name, fact->text);
    else if (fact->kind == GRAM_FACT_INTEGER)
        gram_json_integer(json, fact->name, fact->integer);
    else
        gram_json_number(json, fact->name, fact->number);
}

/* Models are zip files. */
int gram_model_is_file(const char *path)
{
    char start[4] = {0};
    FILE *file = path && strcmp(path, "-") != 0 ? fopen(path, "rb") : NULL;
    const size_t got = file ? fread(start, 1, sizeof start, file) : 0;
    if (file) (void)fclose(file);
    return got == sizeof start && memcmp(start, "PK\3\4", sizeof start) == 0;
}

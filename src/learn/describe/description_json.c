/* What is known of a model, as JSON. */
#include <gram/describe.h>

#include "learn/describe/description_parts.h"
#include "learn/estimate/error_estimate.h"

void gram_json_kernel(gram_json *json, const char *key, const gram_kernel *kernel)
{
    gram_string text = {0};
    gram_kernel_append(kernel, &text);
    gram_json_string(json, key, text.data);
    json->text->failed |= text.failed;
    gram_string_free(&text);
}

static void put_names(gram_json *json, const char *key, int64_t count, const gram_column *columns)
{
    gram_json_open(json, key, '[');
    for (int64_t i = 0; i < count; i++) gram_json_string(json, NULL, columns[i].name);
    gram_json_close(json, '[');
}

static void put_features(gram_json *json, const gram_model *model)
{
    const gram_preparation *first = gram_model_preparation(model), *second = gram_model_second_preparation(model);
    if (first) {
        const gram_preparation_description *known = gram_preparation_describe(first);
        put_names(json, "targets", known->target_count, known->targets);
        put_names(json, "features", known->feature_count, known->features);
        if (known->bag) gram_json_string(json, "bag", known->bag->name);
        if (known->bag_weights) gram_json_string(json, "bag_weights", known->bag_weights->name);
        gram_json_truth(json, "scaled", known->scaled);
    }
    if (second) {
        const gram_preparation_description *known = gram_preparation_describe(second);
        put_names(json, "second_features", known->feature_count, known->features);
    }
}

static void put_lists(gram_json *json, const gram_description *description)
{
    const char *name;
    int64_t count;
    const double *values;
    for (int64_t i = 0; (values = gram_description_list(description, i, &name, &count)) != NULL; i++)
        gram_json_numbers(json, name, count, values, 1);
}

static void put_weights(gram_json *json, const gram_description *description)
{
    int64_t count;
    const gram_weight *weights = gram_description_weights(description, &count);
    if (count == 0) return;
    gram_json_open(json, "weights", '[');
    for (int64_t j = 0; j < count; j++) {
        gram_json_open(json, NULL, '{');
        gram_json_string(json, "feature", weights[j].name);
        gram_json_number(json, "mean", weights[j].mean);
        gram_json_number(json, "std", weights[j].std);
        gram_json_close(json, '{');
    }
    gram_json_close(json, '[');
}

static void put_importance(gram_json *json, const gram_description *description)
{
    int64_t count;
    const gram_importance *rows = gram_description_importance(description, &count);
    if (count == 0) return;
    gram_json_open(json, "importance", '[');
    for (int64_t i = 0; i < count; i++) {
        gram_json_open(json, NULL, '{');
        gram_json_string(json, "feature", rows[i].name);
        gram_json_number(json, "value", rows[i].value);
        gram_json_number(json, "se", rows[i].se);
        gram_json_close(json, '{');
    }
    gram_json_close(json, '[');
}

static void put_relevance(gram_json *json, const gram_description *description)
{
    int64_t count;
    const gram_relevance *rows = gram_description_relevance(description, &count);
    if (count == 0) return;
    gram_json_open(json, "relevance", '[');
    for (int64_t i = 0; i < count; i++) {
        gram_json_open(json, NULL, '{');
        gram_json_string(json, "feature", rows[i].name);
        gram_json_number(json, "value", rows[i].value);
        gram_json_number(json, "length", rows[i].length);
        gram_json_close(json, '{');
    }
    gram_json_close(json, '[');
}

/* Rows count from 1. */
static void put_given(gram_json *json, const gram_description *description)
{
    if (description->given_rows == 0) return;
    gram_json_open(json, "gram", '{');
    gram_json_integer(json, "rows", description->given_rows);
    gram_json_open(json, "needed", '[');
    for (int64_t i = 0; i < description->needed_count; i++) gram_json_integer(json, NULL, description->needed[i] + 1);
    gram_json_close(json, '[');
    gram_json_close(json, '{');
}

void gram_classes_json(const gram_classes *classes, gram_json *json)
{
    gram_json_strings(json, "classes", classes->count, classes->names);
}

void gram_description_json(const gram_description *description, gram_json *json)
{
    const gram_model *model = gram_description_model(description);
    const gram_classes *classes = gram_description_classes(description);
    gram_json_string(json, "method", gram_model_method(model));
    gram_json_string(json, "task", gram_model_task(model));
    gram_json_kernel(json, "kernel", gram_function_kernel(gram_model_function(model)));
    if (gram_model_second_function(model))
        gram_json_kernel(json, "second_kernel", gram_function_kernel(gram_model_second_function(model)));
    if (classes->count > 0) gram_classes_json(classes, json);
    for (int64_t i = 0; i < gram_model_fact_count(model); i++) {
        const gram_fact fact = gram_model_fact(model, i);
        if (!gram_estimate_is_fact(fact.name)) gram_json_fact(json, &fact);
    }
    gram_estimate_json(model, json);
    put_lists(json, description);
    put_features(json, model);
    put_given(json, description);
    put_weights(json, description);
    put_importance(json, description);
    put_relevance(json, description);
}

static const char *kind_of(const gram_column *column)
{
    static const char *const things[] = {
        [GRAM_COLUMN_SPARSE] = "sparse", [GRAM_COLUMN_TEXTS] = "texts", [GRAM_COLUMN_GIVEN] = "given"};
    return column->kind != GRAM_COLUMN_PLAIN ? things[column->kind] : column->text ? "text" : "number";
}

static void put_column(gram_json *json, const gram_column *column)
{
    gram_json_open(json, NULL, '{');
    gram_json_string(json, "name", column->name);
    gram_json_string(json, "kind", kind_of(column));
    if (column->width > 0) gram_json_integer(json, "width", column->width);
    if (column->text) {
        gram_json_strings(json, "levels", column->level_count, column->levels);
    } else {
        gram_json_number(json, "mean", column->mean);
        gram_json_number(json, "deviation", column->deviation);
    }
    gram_json_close(json, '{');
}

void gram_preparation_json(const gram_preparation *preparation, gram_json *json)
{
    const gram_preparation_description *known = gram_preparation_describe(preparation);
    gram_json_open(json, "columns", '[');
    for (int64_t f = 0; f < known->feature_count; f++) put_column(json, &known->features[f]);
    gram_json_close(json, '[');
}

#include "cli/report/model_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/kernel_text.h"
#include "cli/report/report_rows.h"

enum { MOST_RELEVANCES = 20, MOST_NAMES = 3, MOST_CLASSES = 6, MOST_WEIGHTS = 40, NAME_SIZE = 96, WIDTH = 100 };

int cli_model_report_find(cli_session *session, const gram_model *model, const char *file, cli_model_report *report)
{
    const gram_kernel *kernel = gram_function_kernel(gram_model_function(model));
    report->model = model;
    report->kernel = cli_kernel_text(kernel);
    if (gram_model_second_function(model))
        report->second_kernel = cli_kernel_text(gram_function_kernel(gram_model_second_function(model)));
    if (!report->kernel) return cli_no_memory();
    const gram_status status = gram_model_describe(session->context, model, file, &report->description);
    if (status < 0) return cli_session_fail(session, status, 1, NULL);
    return cli_relevance_find(session, kernel, gram_model_preparation(model), &report->relevance);
}

void cli_model_report_free(cli_model_report *report)
{
    free(report->kernel);
    free(report->second_kernel);
    gram_description_destroy(report->description);
    cli_relevance_free(&report->relevance);
    *report = (cli_model_report){0};
}

/* ---- as JSON ---- */

static void json_lists(gram_json *json, const gram_description *description)
{
    const char *name;
    int64_t count;
    const double *values;
    for (int64_t i = 0; (values = gram_description_list(description, i, &name, &count)) != NULL; i++)
        gram_json_numbers(json, name, count, values, 1);
}

static void json_names(gram_json *json, const char *key, int64_t count, const gram_column *columns)
{
    gram_json_open(json, key, '[');
    for (int64_t i = 0; i < count; i++) gram_json_string(json, NULL, columns[i].name);
    gram_json_close(json, '[');
}

void cli_classes_json(gram_json *json, const gram_classes *classes)
{
    gram_json_strings(json, "classes", classes->count, classes->names);
}

/* The weights that the model keeps, in the features' own units. The caller frees them. */
static gram_weight *find_weights(const gram_model *model, int64_t *count)
{
    *count = gram_model_weights(model, NULL);
    gram_weight *weights = calloc((size_t)*count + 1, sizeof *weights);
    *count = weights ? gram_model_weights(model, weights) : 0;
    return weights;
}

static void json_weights(gram_json *json, const gram_model *model)
{
    char name[NAME_SIZE];
    int64_t count;
    gram_weight *weights = find_weights(model, &count);
    if (count > 0) gram_json_open(json, "weights", '[');
    for (int64_t j = 0; j < count; j++) {
        (void)gram_preparation_column_name(gram_model_preparation(model), j, name, sizeof name);
        gram_json_open(json, NULL, '{');
        gram_json_string(json, "feature", name);
        gram_json_number(json, "mean", weights[j].mean);
        gram_json_number(json, "std", weights[j].std);
        gram_json_close(json, '{');
    }
    if (count > 0) gram_json_close(json, '[');
    free(weights);
}

void cli_model_report_json(gram_json *json, const cli_model_report *report)
{
    const gram_model *model = report->model;
    const gram_preparation *preparation = gram_model_preparation(model);
    gram_json_string(json, "method", gram_model_method(model));
    gram_json_string(json, "task", gram_model_task(model));
    gram_json_string(json, "kernel", report->kernel);
    if (report->second_kernel) gram_json_string(json, "second_kernel", report->second_kernel);
    const gram_classes *classes = gram_description_classes(report->description);
    if (classes->count > 0) cli_classes_json(json, classes);
    for (int64_t i = 0; i < gram_model_fact_count(model); i++) {
        const gram_fact fact = gram_model_fact(model, i);
        gram_json_fact(json, &fact);
    }
    json_lists(json, report->description);
    if (preparation) {
        const gram_preparation_description *known = gram_preparation_describe(preparation);
        json_names(json, "targets", known->target_count, known->targets);
        json_names(json, "features", known->feature_count, known->features);
        gram_json_truth(json, "scaled", known->scaled);
    }
    if (gram_model_second_preparation(model)) {
        const gram_preparation_description *second = gram_preparation_describe(gram_model_second_preparation(model));
        json_names(json, "second_features", second->feature_count, second->features);
    }
    json_weights(json, report->model);
    cli_relevance_json(json, &report->relevance);
}

/* ---- for people ---- */

void cli_classes_print(gram_string *text, const gram_classes *classes)
{
    gram_string_add(text, "%" PRId64 " classes (", classes->count);
    for (int64_t i = 0; i < classes->count && i < MOST_CLASSES; i++)
        gram_string_add(text, "%s%s", i > 0 ? ", " : "", classes->names[i]);
    gram_string_add(text, classes->count > MOST_CLASSES ? ", ...)" : ")");
}

void cli_add_targets(gram_string *text, const gram_preparation_description *known)
{
    if (known->target_count == 0) gram_string_add(text, "nothing");
    if (known->target_count > MOST_NAMES) gram_string_add(text, "%" PRId64 " targets", known->target_count);
    if (known->target_count > MOST_NAMES) return;
    for (int64_t t = 0; t < known->target_count; t++)
        gram_string_add(text, "%s%s",
                        t == 0                        ? ""
                        : t + 1 < known->target_count ? ", "
                                                      : " and ",
                        known->targets[t].name);
}

void cli_add_features(gram_string *text, const gram_preparation_description *known)
{
    int64_t words = 0, levels = 0;
    for (int64_t f = 0; f < known->feature_count; f++) {
        words += known->features[f].text;
        levels += known->features[f].text ? known->features[f].level_count : 0;
    }
    if (known->feature_count == 1)
        gram_string_add(text, "%s", known->features[0].name);
    else
        gram_string_add(text, "%" PRId64 " features", known->feature_count);
    if (words == 0) return;
    if (known->feature_count > 1) gram_string_add(text, ", %" PRId64 " of them", words);
    gram_string_add(text, "%s text with %" PRId64 " level%s", known->feature_count > 1 ? "" : ",", levels,
                    cli_plural(levels));
}

/* A value that is long is broken after commas and blanks, and can still be read back. */
static void add_wrapped(gram_string *text, const char *label, const char *value)
{
    size_t column = CLI_VALUE_COLUMN;
    cli_add_label(text, label);
    while (*value) {
        size_t length = strcspn(value, ", ");
        length += value[length] != '\0';
        if (column + length > WIDTH && column > CLI_VALUE_COLUMN) {
            while (text->length > 0 && text->data[text->length - 1] == ' ') text->data[--text->length] = '\0';
            gram_string_add(text, "\n");
            gram_string_pad(text, CLI_VALUE_COLUMN);
            column = CLI_VALUE_COLUMN;
        }
        gram_string_put(text, value, length);
        column += length;
        value += length;
    }
    gram_string_add(text, "\n");
}

static void print_weights(cli_session *session, gram_string *text, const gram_model *model)
{
    char name[NAME_SIZE], mean[CLI_SHORT_SIZE], std[CLI_SHORT_SIZE];
    int64_t count;
    gram_weight *weights = find_weights(model, &count);
    if (count > 0) {
        cli_add_heading(session, text, "Weights, in the features' own units");
        gram_string_add(text, "%-19s %-12s  %s\n", "name", "mean", "deviation");
    }
    for (int64_t j = 0; j < count && j < MOST_WEIGHTS; j++) {
        (void)gram_preparation_column_name(gram_model_preparation(model), j, name, sizeof name);
        gram_string_add(text, "%s", name);
        gram_string_pad(text, CLI_VALUE_COLUMN);
        gram_string_add(text, "%-12s  %s\n", cli_short_number(weights[j].mean, mean),
                        cli_short_number(weights[j].std, std));
    }
    if (count > MOST_WEIGHTS) gram_string_add(text, "and %" PRId64 " more\n", count - MOST_WEIGHTS);
    free(weights);
}

void cli_model_report_print(cli_session *session, gram_string *text, const cli_model_report *report)
{
    for (int64_t i = 0; i < gram_description_count(report->description); i++) {
        const char *label = gram_description_label(report->description, i);
        const char *value = gram_description_value(report->description, i);
        if (strstr(label, "kernel") || strcmp(label, "note") == 0)
            add_wrapped(text, label, value);
        else
            cli_add_row(text, label, value);
    }
    print_weights(session, text, report->model);
    cli_relevance_print(session, text, &report->relevance, MOST_RELEVANCES);
}

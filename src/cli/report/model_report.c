#include "cli/report/model_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/kernel_text.h"
#include "cli/report/report_rows.h"
#include "cli/report/weights_report.h"

enum { MOST_RELEVANCES = 20, MOST_NAMES = 3, WIDTH = 100 };

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

static void json_fact(gram_json *json, const gram_fact *fact)
{
    if (fact->kind == GRAM_FACT_TEXT)
        gram_json_string(json, fact->name, fact->text);
    else if (fact->kind == GRAM_FACT_INTEGER)
        gram_json_integer(json, fact->name, fact->integer);
    else
        gram_json_number(json, fact->name, fact->number);
}

static void json_lists(gram_json *json, const gram_description *description)
{
    const char *name;
    int64_t count;
    const double *values;
    for (int64_t i = 0; (values = gram_description_list(description, i, &name, &count)) != NULL; i++) {
        gram_json_open(json, name, '[');
        for (int64_t j = 0; j < count; j++) gram_json_number(json, NULL, values[j]);
        gram_json_close(json, '[');
    }
}

static void json_names(gram_json *json, const char *key, int64_t count, const gram_column *columns)
{
    gram_json_open(json, key, '[');
    for (int64_t i = 0; i < count; i++) gram_json_string(json, NULL, columns[i].name);
    gram_json_close(json, '[');
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
        json_fact(json, &fact);
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
    cli_weights_json(json, report->model);
    cli_relevance_json(json, &report->relevance);
}

/* ---- for people ---- */

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
    cli_weights_print(session, text, report->model);
    cli_relevance_print(session, text, &report->relevance, MOST_RELEVANCES);
}

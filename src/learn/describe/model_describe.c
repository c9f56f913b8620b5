/* What is known of a model: the kernel, then what the row of its method adds. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel_print.h"
#include "learn/describe/description_parts.h"
#include "learn/estimate/data_notes.h"
#include "learn/estimate/error_estimate.h"
#include "learn/files/given_rows.h"
#include "learn/method_table.h"
#include "learn/transform/feature_transform.h"

gram_status gram_description_begin(gram_context *context, const gram_model *model, const char *file,
                                   gram_description **description)
{
    gram_status status = GRAM_OK;
    gram_description *made = NULL;
    *description = NULL;
    TRY(gram_take(context, "describe", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    gram_arena_init(&made->arena, made->memory);
    made->report = (gram_report){.context = context, .arena = &made->arena, .model = model, .file = file};
    *description = made;
done:
    return status;
}

gram_status gram_description_end(gram_description *description)
{
    gram_report_end_row(&description->report);
    description->report.context = NULL;
    return description->report.status;
}

static gram_status add_kernel(gram_context *context, gram_description *d, const char *label,
                              const gram_function *function)
{
    gram_status status = GRAM_OK;
    const gram_kernel *kernel = gram_function_kernel(function);
    const size_t length = gram_kernel_print_short(kernel, GRAM_FINE, NULL, 0); /* all digits are in JSON and models */
    char *text = NULL;
    TRY(gram_arena_take(context, &d->arena, "describe", (int64_t)length + 1, 1, (void **)&text));
    (void)gram_kernel_print_short(kernel, GRAM_FINE, text, length + 1);
    gram_report_long(&d->report, label, text);
done:
    return status;
}

static gram_status find_relevance(gram_context *context, gram_description *d, const gram_model *model)
{
    gram_status status = GRAM_OK;
    const gram_preparation *preparation = gram_model_preparation(model);
    if (!preparation) return status;
    const int64_t features = gram_preparation_describe(preparation)->feature_count;
    TRY(gram_arena_take(context, &d->arena, "describe", features, sizeof *d->relevance, (void **)&d->relevance));
    TRY(gram_kernel_relevance(context, gram_function_kernel(gram_model_function(model)), preparation, d->relevance,
                              &d->relevance_count));
done:
    return status;
}

static int more_important(const void *a, const void *b)
{
    const gram_importance *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? 1 : -1;
    return (x->feature > y->feature) - (x->feature < y->feature);
}

static gram_status find_importance(gram_context *context, gram_description *d, const gram_model *model)
{
    gram_status status = GRAM_OK;
    const gram_preparation *preparation = gram_model_preparation(model);
    if (!preparation) return status;
    const gram_preparation_description *known = gram_preparation_describe(preparation);
    const int64_t features = known->feature_count;
    const double *numbers = gram_kept_array(model, "importance", 2, features);
    if (!numbers) return status;
    TRY(gram_arena_take(context, &d->arena, "describe", features, sizeof *d->importance, (void **)&d->importance));
    for (int64_t f = 0; f < features; f++)
        d->importance[f] = (gram_importance){f, numbers[f], numbers[features + f], known->features[f].name};
    qsort(d->importance, (size_t)features, sizeof *d->importance, more_important);
    d->importance_count = features;
done:
    return status;
}

/* What a matrix for predictions must have. */
static void add_given(gram_description *d)
{
    enum { SHOWN = 12 };
    gram_report *report = &d->report;
    if (d->given_rows == 0) return;
    gram_report_row(report, "given matrix");
    gram_report_add(report, "of %lld rows; predictions take the kernel of new rows with ", (long long)d->given_rows);
    if (d->needed_count == d->given_rows) {
        gram_report_add(report, "all of them");
        return;
    }
    gram_report_add(report, "them, or with these %lld:", (long long)d->needed_count);
    for (int64_t i = 0; i < d->needed_count && i < SHOWN; i++)
        gram_report_add(report, "%s %lld", i ? "," : "", (long long)d->needed[i] + 1);
    if (d->needed_count > SHOWN) gram_report_add(report, ", ... (all: --json)");
}

gram_status gram_model_describe(gram_context *context, const gram_model *model, const char *file,
                                gram_description **description)
{
    gram_status status = GRAM_OK;
    gram_description *made = NULL;
    const gram_method *method = gram_method_of_model(model);
    *description = NULL;
    TRY(gram_description_begin(context, model, file, &made));
    if (strcmp(gram_model_task(model), gram_task_name(GRAM_TASK_CLASSIFICATION)) == 0)
        TRY(gram_classes_of_model(context, &made->arena, model, file ? file : "the model", &made->classes));
    if (method) TRY(gram_method_check_words(context, method, model, file ? file : "the model"));
    gram_estimate_report(&made->report);
    gram_data_notes_report(&made->report);
    gram_transform_report(&made->report);
    TRY(add_kernel(context, made, "kernel", gram_model_function(model)));
    if (gram_model_second_function(model))
        TRY(add_kernel(context, made, "second kernel", gram_model_second_function(model)));
    TRY(gram_given_needed(context, &made->arena, model, &made->given_rows, &made->needed_count, &made->needed));
    add_given(made);
    if (method && method->report) method->report(&made->report);
    TRY(gram_description_end(made));
    TRY(gram_weights_find(context, &made->arena, model, &made->weights, &made->weight_count));
    TRY(find_relevance(context, made, model));
    TRY(find_importance(context, made, model));
    *description = made;
    made = NULL;
done:
    gram_description_destroy(made);
    return status;
}

void gram_description_destroy(gram_description *description)
{
    if (!description) return;
    gram_memory *memory = description->memory;
    gram_arena_release(&description->arena);
    gram_memory_give(memory, description);
    gram_memory_release(memory);
}

int64_t gram_description_count(const gram_description *description)
{
    return description->report.count;
}

const char *gram_description_label(const gram_description *description, int64_t row)
{
    return description->report.rows[row].label;
}

const char *gram_description_value(const gram_description *description, int64_t row)
{
    return description->report.rows[row].value;
}

const double *gram_description_list(const gram_description *description, int64_t list, const char **name,
                                    int64_t *count)
{
    const gram_report *report = &description->report;
    int64_t rows = 0, columns = 0;
    if (list < 0 || list >= report->list_count) return NULL;
    *name = report->lists[list];
    const double *values = gram_model_array(report->model, *name, &rows, &columns);
    *count = rows * columns;
    return values;
}

const gram_classes *gram_description_classes(const gram_description *description)
{
    return &description->classes;
}

const gram_model *gram_description_model(const gram_description *description)
{
    return description->report.model;
}

const gram_weight *gram_description_weights(const gram_description *description, int64_t *count)
{
    *count = description->weight_count;
    return description->weights;
}

const gram_importance *gram_description_importance(const gram_description *description, int64_t *count)
{
    *count = description->importance_count;
    return description->importance;
}

const gram_relevance *gram_description_relevance(const gram_description *description, int64_t *count)
{
    *count = description->relevance_count;
    return description->relevance;
}

const char *gram_model_elsewhere(const gram_model *model, char text[GRAM_ELSEWHERE_SIZE])
{
    const gram_method *method = gram_method_of_model(model);
    text[0] = '\0';
    if (method && method->elsewhere) method->elsewhere(model, text, GRAM_ELSEWHERE_SIZE);
    return text;
}

int gram_model_learning_curve(const gram_model *model, gram_learning_curve *curve)
{
    *curve = (gram_learning_curve){.stop = gram_kept_number(model, "flow_time", NAN)};
    curve->data = gram_model_array(model, "learning_curve", &curve->rows, &curve->columns);
    return curve->data && curve->rows > 1 && curve->columns > 1;
}

/* What a model keeps of a fit, and how it is read again. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "method/method.h"

void gram_keep_number(gram_keeper *keeper, const char *name, double value)
{
    if (keeper->status >= 0) keeper->status = gram_model_set_number(keeper->context, keeper->model, name, value);
}

void gram_keep_integer(gram_keeper *keeper, const char *name, int64_t value)
{
    if (keeper->status >= 0) keeper->status = gram_model_set_integer(keeper->context, keeper->model, name, value);
}

void gram_keep_text(gram_keeper *keeper, const char *name, const char *value)
{
    if (keeper->status >= 0) keeper->status = gram_model_set_text(keeper->context, keeper->model, name, value);
}

void gram_keep_array(gram_keeper *keeper, const char *name, int64_t rows, int64_t columns, const double *data)
{
    if (keeper->status >= 0)
        keeper->status = gram_model_set_array(keeper->context, keeper->model, name, rows, columns, data, columns);
}

void gram_keep_numbers(gram_keeper *keeper, const void *report, const gram_keep_place *places, size_t count)
{
    for (size_t i = 0; i < count; i++)
        gram_keep_number(keeper, places[i].name,
                         *(const double *)(const void *)((const char *)report + places[i].offset));
}

gram_keeper gram_keep_fit(gram_context *context, const gram_method *method, gram_task task,
                          gram_preparation *preparation, gram_function *function, int64_t n)
{
    gram_keeper keeper = {context, NULL, GRAM_OK};
    keeper.status = gram_model_create(context, method->kept ? method->kept : method->name, gram_task_name(task),
                                      preparation, function, &keeper.model);
    gram_keep_integer(&keeper, "n", n);
    gram_keep_integer(&keeper, "d", gram_points_dimension(gram_function_centres(function)));
    return keeper;
}

gram_status gram_keep_end(gram_keeper *keeper, gram_model **model)
{
    *model = keeper->status < 0 ? NULL : keeper->model;
    if (keeper->status < 0) gram_model_destroy(keeper->model);
    keeper->model = NULL;
    return keeper->status < 0 ? keeper->status : GRAM_OK;
}

/* How rows to predict at say what they are. */
static void keep_kinds(gram_keeper *keeper, const gram_learning *learning)
{
    static const char *const names[] = {"kind", "coefficient", "operator"};
    for (int i = 0; i < 3; i++)
        if (gram_given_text(learning, names[i])) gram_keep_text(keeper, names[i], gram_given_text(learning, names[i]));
}

gram_keeper gram_keep_begin(gram_learning *learning, gram_function *function)
{
    gram_keeper keeper = gram_keep_fit(learning->context, learning->method, learning->task, learning->preparation,
                                       function, learning->n);
    learning->model = keeper.model;
    gram_keep_integer(&keeper, "rows", learning->streamed ? learning->file_rows : learning->data->table_rows);
    if (learning->functionals) keep_kinds(&keeper, learning);
    return keeper;
}

void gram_keep_second(gram_keeper *keeper, const gram_learning *learning, gram_function *function)
{
    if (keeper->status >= 0)
        keeper->status = gram_model_set_second(keeper->context, keeper->model, learning->second.preparation, function);
}

static void keep_defaults(gram_keeper *keeper, const gram_learning *learning, const char *strength)
{
    const gram_paired *second = &learning->second;
    const int kernel = (learning->written && !gram_kernel_equal(learning->written, learning->kernel)) ||
                       (second->written && !gram_kernel_equal(second->written, second->kernel));
    char words[96];
    if (!kernel && !strength) return;
    (void)snprintf(words, sizeof words, "%s%s%s", kernel ? "the kernel's free numbers by the median heuristic" : "",
                   kernel && strength ? ", and " : "", strength ? strength : "");
    gram_keep_text(keeper, "defaults", words);
}

void gram_keep_tuning(gram_keeper *keeper, const gram_learning *learning, const char *default_strength)
{
    static const char *const names[] = {"auto", "none", "loo", "gcv", "cv", "ml", "holdout"};
    char name[32];
    (void)snprintf(name, sizeof name, "%s", names[learning->tuning]);
    if (learning->tuning == GRAM_TUNING_CV)
        (void)snprintf(name, sizeof name, "cv:%" PRId64, gram_learning_folds(learning));
    gram_keep_text(keeper, "tune", name);
    if (learning->kernel_reason[0]) gram_keep_text(keeper, "kernel_choice", learning->kernel_reason);
    if (learning->tuning == GRAM_TUNING_NONE) keep_defaults(keeper, learning, default_strength);
}

void gram_keep_training(gram_keeper *keeper, const gram_learning *learning, const double *labels,
                        const double *probabilities)
{
    const int64_t n = learning->data->n, classes = learning->classes.count;
    double right = 0, loss = 0;
    for (int64_t i = 0; i < n; i++) {
        right += labels[i] == learning->labels[i];
        if (probabilities) loss -= log(fmax(probabilities[i * classes + (int64_t)learning->labels[i]], 1e-15));
    }
    gram_keep_number(keeper, "train_accuracy", right / (double)n);
    if (probabilities) gram_keep_number(keeper, "train_log_loss", loss / (double)n);
}

void gram_keep_classes(gram_keeper *keeper, const gram_classes *classes)
{
    gram_keep_integer(keeper, "class_count", classes->count);
    if (classes->values) gram_keep_array(keeper, "classes", 1, classes->count, classes->values);
}

/* The names of text are in the preparation; numbers must ascend, so that they are found. */
void gram_keep_class_values(gram_keeper *keeper, int64_t count, const double *values)
{
    const gram_preparation *preparation = keeper->model ? gram_model_preparation(keeper->model) : NULL;
    const gram_preparation_description *known = preparation ? gram_preparation_describe(preparation) : NULL;
    const int text = known && known->target_count == 1 && known->targets[0].text;
    double *numbers = NULL;
    if (keeper->status < 0) return;
    if (text && known->targets[0].level_count != count)
        keeper->status = gram_fail(keeper->context, GRAM_ERROR_ARGUMENT,
                                   "model: %" PRId64 " classes, and a preparation of a target with %" PRId64 " levels",
                                   count, known->targets[0].level_count);
    for (int64_t c = 1; c < count && values && !text && keeper->status >= 0; c++)
        if (!(values[c - 1] < values[c]))
            keeper->status = gram_fail(keeper->context, GRAM_ERROR_ARGUMENT,
                                       "model: values[%" PRId64 "] is not above the one before", c);
    if (keeper->status >= 0)
        keeper->status = gram_take(keeper->context, "model: classes", count, sizeof *numbers, (void **)&numbers);
    for (int64_t c = 0; c < count && keeper->status >= 0; c++) numbers[c] = values ? values[c] : (double)c;
    gram_keep_classes(keeper, &(gram_classes){count, NULL, text ? NULL : numbers});
    gram_give(keeper->context, numbers);
}

/* ---- reading ---- */

double gram_kept_number(const gram_model *model, const char *name, double otherwise)
{
    const gram_fact fact = gram_model_find(model, name);
    if (!fact.name || fact.kind == GRAM_FACT_TEXT) return otherwise;
    return fact.kind == GRAM_FACT_INTEGER ? (double)fact.integer : fact.number;
}

const char *gram_kept_text(const gram_model *model, const char *name)
{
    const gram_fact fact = gram_model_find(model, name);
    return fact.name && fact.kind == GRAM_FACT_TEXT ? fact.text : NULL;
}

const double *gram_kept_array(const gram_model *model, const char *name, int64_t rows, int64_t columns)
{
    int64_t r = 0, c = 0;
    const double *data = gram_model_array(model, name, &r, &c);
    return data && r == rows && c == columns ? data : NULL;
}

/* The task: regression or classification, by what is given, by the method, or by the look of the target; then the row of the
 * method table for it, the classes, and the weights of rows and classes. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "learn/learn_steps.h"
#include "learn/learner.h"
#include "learn/method_table.h"
#include <gram/text.h>

enum { MOST_CLASSES = 20, ROWS_PER_CLASS = 5, MOST_NAMED_CLASSES = 1000 };

static const char *method_name(const gram_learning *learning)
{
    const char *name = gram_learning_common(learning, GRAM_COMMON_METHOD);
    return name && strcmp(name, "auto") != 0 ? name : NULL;
}

/* ---- the look of the target ---- */

/* Distinct values of a target of whole numbers, 0 if it has others or more than MOST_CLASSES. */
static int64_t count_values(const double *y, int64_t n)
{
    double values[MOST_CLASSES];
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t k = 0;
        while (k < count && values[k] != y[i]) k++;
        if (k < count) continue;
        if (count == MOST_CLASSES || y[i] != floor(y[i])) return 0;
        values[count++] = y[i];
    }
    return count;
}

static int is_whole(const double *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (y[i] != floor(y[i])) return 0;
    return 1;
}

/* The first target that is text, NULL if all are numbers. */
static const gram_column *find_text(const gram_learning *learning)
{
    const gram_preparation_description *known = gram_preparation_describe(learning->preparation);
    for (int64_t t = 0; t < known->target_count; t++)
        if (known->targets[t].text) return &known->targets[t];
    return NULL;
}

/* Does the method, in any of its variants, have the task? Without a name: does any method? */
static int can(const char *name, gram_task task)
{
    for (int64_t i = 0; gram_method_row(i); i++)
        if ((!name || strcmp(gram_method_row(i)->name, name) == 0) && gram_method_has_task(gram_method_row(i), task))
            return 1;
    return 0;
}

/* By the look of the target, where nothing else says. */
static gram_task look_at_target(gram_learning *learning)
{
    const gram_prepared *data = learning->data;
    const char *name = method_name(learning);
    const gram_method *asked = gram_method_choose(learning, name); /* while the task is not known: by its options */
    const int variant = asked && asked->takes && asked->takes(learning);
    if (data->targets != 1) return GRAM_TASK_REGRESSION;
    if (variant && !gram_method_has_task(asked, GRAM_TASK_CLASSIFICATION)) return GRAM_TASK_REGRESSION;
    if (find_text(learning)) return GRAM_TASK_CLASSIFICATION;
    if (name && asked && asked->numbers_are_classes)
        return is_whole(data->y, data->n) ? GRAM_TASK_CLASSIFICATION : GRAM_TASK_REGRESSION;
    const int64_t values = count_values(data->y, data->n);
    const int few = values >= 2 && data->n >= ROWS_PER_CLASS * values;
    const int classifies = can(name, GRAM_TASK_CLASSIFICATION);
    if (few && !classifies) learning->few_values = values;
    return few && classifies ? GRAM_TASK_CLASSIFICATION : GRAM_TASK_REGRESSION;
}

/* ---- checks ---- */

static gram_status check_regression(gram_learning *learning)
{
    const gram_column *text = find_text(learning);
    if (!text) return GRAM_OK;
    return gram_learning_fail_data(learning, "Choose a column of numbers with --target COL, or --task classification.",
                                   "column '%s': regression needs a target of numbers, this one is text", text->name);
}

static gram_status check_classification(gram_learning *learning)
{
    const char *target = gram_learning_target(learning);
    const gram_classes *classes = &learning->classes;
    if (classes->count < 2)
        return gram_learning_fail_data(learning, "There must be rows of at least two classes.",
                                       "column '%s': all rows are of one class, '%s'", target,
                                       classes->count == 1 ? classes->names[0] : "");
    if (classes->count > MOST_NAMED_CLASSES)
        return gram_learning_fail_data(learning, "Is it a number to predict? Then --task regression.",
                                       "column '%s': %" PRId64 " classes, more than the limit of %d", target,
                                       classes->count, MOST_NAMED_CLASSES);
    return GRAM_OK;
}

static gram_status find_classes(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = learning->data;
    const gram_preparation_description *known = gram_preparation_describe(learning->preparation);
    double *labels = NULL;
    if (known->target_count != 1)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Choose one with --target COL.",
                                  "classification learns one target, not %" PRId64, known->target_count);
    TRY(gram_classes_of_target(learning->context, &learning->arena, &known->targets[0], data->n, data->y,
                               &learning->classes));
    TRY(check_classification(learning));
    TRY(gram_learning_take(learning, data->n + 1, sizeof *labels, &labels));
    for (int64_t i = 0; i < data->n; i++) labels[i] = (double)gram_classes_find(&learning->classes, data->y[i]);
    learning->labels = labels;
    TRY(gram_learning_weigh_classes(learning));
done:
    return status;
}

static int has_task(const gram_method *method, const void *argument)
{
    return gram_method_has_task(method, *(const gram_task *)argument);
}

static gram_status no_method(gram_learning *learning)
{
    char list[128], advice[160];
    const gram_task task = learning->task;
    (void)snprintf(advice, sizeof advice, "Use %s.", gram_method_list(has_task, &task, " or", list, sizeof list));
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, advice, "--method %s is not for %s%s",
                              method_name(learning) ? method_name(learning) : "auto", gram_task_name(task),
                              task == GRAM_TASK_REGRESSION ? ", and this target has values that are not classes" : "");
}

/* ---- the decision ---- */

static gram_task task_given(const gram_learning *learning)
{
    gram_chosen chosen = {GRAM_TASK_AUTO, 0};
    const char *given = gram_learning_common(learning, GRAM_COMMON_TASK);
    const gram_option *option = &gram_common_options[GRAM_COMMON_TASK];
    if (given) (void)gram_option_read(option, given, &chosen); /* its offset is 0 */
    return (gram_task)chosen.value;
}

/* The task of a method that has one only, and no target: nothing is left to be decided. */
static gram_task only_task(const char *name)
{
    unsigned tasks = 0;
    for (int64_t i = 0; name && gram_method_row(i); i++)
        if (strcmp(gram_method_row(i)->name, name) == 0) tasks |= gram_method_row(i)->tasks;
    return tasks == 1u << GRAM_TASK_TRANSFORM ? GRAM_TASK_TRANSFORM
           : tasks == 1u << GRAM_TASK_CLUSTER ? GRAM_TASK_CLUSTER
                                              : GRAM_TASK_AUTO;
}

gram_task gram_learning_known_task(const gram_learning *learning)
{
    const char *name = method_name(learning);
    for (int64_t i = 0; gram_method_row(i); i++) {
        const gram_method *row = gram_method_row(i);
        if (!row->implied_task || (name && strcmp(row->name, name) != 0)) continue;
        const gram_task implied = row->implied_task(learning);
        if (implied != GRAM_TASK_AUTO) return implied;
    }
    if (task_given(learning) == GRAM_TASK_AUTO && gram_learning_common(learning, GRAM_COMMON_KIND))
        return GRAM_TASK_REGRESSION;
    return task_given(learning) == GRAM_TASK_AUTO ? only_task(name) : task_given(learning);
}

int gram_learning_has_method(const gram_learning *learning)
{
    return method_name(learning) || learning->task != GRAM_TASK_AUTO;
}

gram_status gram_learning_choose_method(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const gram_method *chosen = gram_method_choose(learning, method_name(learning));
    if (!chosen) return no_method(learning);
    if (chosen == learning->method) return GRAM_OK;
    learning->method = chosen;
    TRY(gram_learning_read_settings(learning));
done:
    return status;
}

static int takes_constraints(const gram_method *method, const void *argument)
{
    (void)argument;
    return method->constraints;
}

static gram_status check_constraints(gram_learning *learning)
{
    char names[64], advice[96];
    if (!learning->senses || learning->method->constraints) return GRAM_OK;
    (void)snprintf(advice, sizeof advice, "Use --method %s.",
                   gram_method_list(takes_constraints, NULL, " or", names, sizeof names));
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, advice,
                              "rows whose kind ends in >=, <= or == are constraints, which %s does not take",
                              learning->method->name);
}

gram_status gram_learning_decide_task(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    if (learning->task == GRAM_TASK_AUTO) learning->task = look_at_target(learning);
    if (learning->task == GRAM_TASK_REGRESSION) TRY(check_regression(learning));
    if (learning->task == GRAM_TASK_CLASSIFICATION) TRY(find_classes(learning));
    if (!learning->before) {
        TRY(gram_learning_choose_method(learning));
        TRY(gram_learning_check_task(learning));
    }
    TRY(check_constraints(learning));
done:
    return status;
}

void gram_lesson_of(const gram_learning *ready, gram_lesson *lesson)
{
    const char *task = gram_learning_common(ready, GRAM_COMMON_TASK);
    *lesson = (gram_lesson){.task = ready->task,
                            .task_was_given = task && strcmp(task, "auto") != 0,
                            .n = ready->senses ? ready->data->n : ready->n,
                            .few_values = ready->few_values,
                            .data = ready->data,
                            .preparation = ready->preparation,
                            .classes = &ready->classes,
                            .labels = ready->labels,
                            .second = ready->second.data,
                            .second_preparation = ready->second.preparation};
}

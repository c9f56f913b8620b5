/* Planning without data: the row of the method is asked about rows that are all 0. What it says of memory and time depends on
 * their number, on the kernel and on the options only. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "learn/learn_steps.h"
#include "learn/learner.h"

enum { NAME_SIZE = 24 };

/* Columns x1, x2, ... and y1, y2, ... of numbers. */
static gram_status name_columns(gram_learning *learning, const char *letter, int64_t count, gram_column **columns)
{
    gram_status status = GRAM_OK;
    char *names = NULL;
    TRY(gram_learning_take(learning, count, sizeof **columns, columns));
    TRY(gram_learning_take(learning, count, NAME_SIZE, &names));
    for (int64_t i = 0; i < count; i++) {
        char *name = names + i * NAME_SIZE;
        (void)snprintf(name, NAME_SIZE, "%s%" PRId64, letter, i + 1);
        (*columns)[i] = (gram_column){.name = name, .place = i, .deviation = 1};
    }
done:
    return status;
}

static gram_status make_preparation(gram_learning *learning, int64_t d, int64_t targets)
{
    gram_status status = GRAM_OK;
    gram_column *features = NULL, *of_targets = NULL;
    gram_preparation_description known = {.feature_count = d, .target_count = targets, .scaled = 1, .named = 1};
    TRY(name_columns(learning, "x", d, &features));
    if (targets > 0) TRY(name_columns(learning, "y", targets, &of_targets));
    for (int64_t i = 0; i < targets; i++) of_targets[i].place = d + i;
    known.features = features;
    known.targets = of_targets;
    TRY(gram_preparation_create(learning->context, &known, &learning->preparation));
done:
    return status;
}

static gram_status plan(gram_learning *learning, int64_t n, int64_t d, int64_t outputs)
{
    gram_status status = GRAM_OK;
    const int64_t of_second = gram_learning_has_views(learning) ? d / 2 : 0; /* two views share the columns */
    gram_prepared rows = {.n = n, .d = d - of_second, .table_rows = n}, second = {.n = n, .d = of_second};
    double *zeros = NULL;
    const int classes = learning->task == GRAM_TASK_CLASSIFICATION;
    rows.targets = learning->task > GRAM_TASK_CLASSIFICATION ? 0 : classes ? 1 : outputs;
    TRY(make_preparation(learning, d, rows.targets));
    TRY(gram_learning_take(learning, n * (rows.targets + 1), sizeof *zeros, &zeros));
    rows.y = zeros;
    learning->n = n;
    learning->data = &rows;
    if (of_second > 0) learning->second.data = &second;
    if (classes) {
        learning->classes.count = outputs;
        learning->labels = zeros;
    }
    FAIL_IF(gram_learning_has_views(learning) && of_second == 0, learning->context, GRAM_ERROR_ARGUMENT,
            "learner_plan: d = %" PRId64 ", two views need 2 or more", d);
    TRY(gram_learning_choose_kernel(learning));
    if (learning->method->plan) TRY(learning->method->plan(learning));
done:
    learning->data = NULL; /* they are not the learner's */
    learning->second.data = NULL;
    return status;
}

gram_status gram_learner_plan(gram_context *context, gram_learner *learner, int64_t n, int64_t d, int64_t outputs,
                              gram_plan_fn tell, void *user)
{
    gram_status status = GRAM_OK;
    gram_learning *learning = &learner->learning;
    FAIL_IF(n < 1 || d < 1 || outputs < 1, context, GRAM_ERROR_ARGUMENT,
            "learner_plan: n = %" PRId64 ", d = %" PRId64 ", outputs = %" PRId64 ", need 1 or more of each", n, d,
            outputs);
    FAIL_IF(learner->before, context, GRAM_ERROR_ARGUMENT, "learner_plan: a fit that goes on is planned with its data");
    TRY(gram_learning_begin(context, learner, "the plan"));
    if (learning->task == GRAM_TASK_AUTO)
        learning->task = learning->method && !gram_method_has_task(learning->method, GRAM_TASK_REGRESSION)
                             ? GRAM_TASK_CLASSIFICATION
                             : GRAM_TASK_REGRESSION;
    TRY(gram_learning_choose_method(learning));
    FAIL_IF(learning->task == GRAM_TASK_CLASSIFICATION && outputs < 2, context, GRAM_ERROR_ARGUMENT,
            "learner_plan: outputs = 1, need 2 classes or more");
    learning->tell = tell;
    learning->tell_user = user;
    TRY(plan(learning, n, d, outputs));
done:
    gram_learner_forget(learner);
    return status;
}

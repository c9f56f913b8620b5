/* Steps of a cross-validation that begin where learning would fit. */
#include "learn/compare/left_out_run.h"

#include <string.h>

#include "base/system/time_limit.h"
#include "learn/learn_steps.h"
#include "learn/method_table.h"

enum { DIVISION_STREAM = 0x64697669 /* "divi" */ };

gram_status gram_division_make(const gram_learning *ready, gram_arena *arena, const gram_division *wanted,
                               gram_division *made)
{
    gram_status status = GRAM_OK;
    *made = *wanted;
    TRY(gram_left_out_deal(ready, arena, DIVISION_STREAM, &made->folds, &made->fold));
    if (made->folds < 2)
        return gram_learning_fail_data((gram_learning *)ready, "There must be at least two rows, or groups of them.",
                                       "rows cannot be divided into two folds");
    if (made->last >= made->folds) made->last = made->folds - 1;
    if (wanted->first == wanted->last && ready->ordered) made->first = made->last = made->folds - 1; /* the newest */
done:
    return status;
}

/* ---- the learner ---- */

gram_status gram_learner_copy(gram_context *context, const gram_learner *learner, const char *const *without,
                              gram_learner **copy)
{
    gram_status status = GRAM_OK;
    gram_learner *made = NULL;
    *copy = NULL;
    TRY(gram_learner_create(context, &made));
    TRY(gram_learner_speak(context, made, learner->who, learner->dashes));
    for (int64_t i = 0; i < learner->count; i++) {
        int64_t k = 0;
        while (without && without[k] && strcmp(without[k], learner->given[i].name) != 0) k++;
        if (!without || !without[k])
            TRY(gram_learner_set(context, made, learner->given[i].name, learner->given[i].value));
    }
    TRY(gram_learner_set_kernel(context, made, learner->kernel));
    TRY(gram_learner_set(context, made, "estimate", "folds")); /* so that groups and order have a use */
    *copy = made;
    made = NULL;
done:
    gram_learner_destroy(made);
    return status;
}

gram_status gram_learner_ready(gram_context *context, gram_learner *learner, const gram_table *table, const char *name)
{
    gram_status status = GRAM_OK;
    gram_learning *learning = &learner->learning;
    TRY(gram_learning_begin(context, learner, name ? name : "the table"));
    TRY(gram_learning_prepare(learning, table));
    TRY(gram_learning_ready(learning));
    if (learning->task > GRAM_TASK_CLASSIFICATION)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Use a method that predicts numbers or classes.",
                                  "%s predicts nothing that rows could be left out for", learning->method->name);
    if (gram_estimate_obstacle(learning))
        return gram_learning_fail_data(learning, "Leave it out.", "rows cannot be left out: %s",
                                       gram_estimate_obstacle(learning));
done:
    return status;
}

gram_status gram_learner_rest(gram_learner *learner, gram_status status)
{
    gram_learning *learning = &learner->learning;
    if (!learner->has_learnt || !learning->context) return status;
    if (status < 0 && learning->data) status = gram_learning_advise(learning, status);
    learning->context = NULL;
    return status;
}

gram_status gram_learner_kernel_text(const gram_learning *ready, gram_arena *arena, const char **kernel)
{
    gram_status status = GRAM_OK;
    char *text = NULL;
    *kernel = NULL;
    if (!ready->written) return status;
    const size_t length = gram_kernel_print(ready->written, NULL, 0);
    TRY(gram_arena_take(ready->context, arena, "cross-validation", (int64_t)length + 1, 1, (void **)&text));
    (void)gram_kernel_print(ready->written, text, length + 1);
    *kernel = text;
done:
    return status;
}

gram_status gram_learner_read_table(gram_context *context, const gram_learner *learner, const char *path,
                                    gram_format format, gram_table **table)
{
    gram_status status = GRAM_OK;
    gram_learner *copy = NULL;
    *table = NULL;
    TRY(gram_learner_copy(context, learner, NULL, &copy));
    TRY(gram_learning_begin(context, copy, gram_data_name(path)));
    TRY(gram_learning_read_table(&copy->learning, path, format, 0, table));
done:
    gram_learner_destroy(copy);
    return status;
}

/* ---- the folds ---- */

static gram_status check_time(gram_context *context)
{
    if (!gram_context_left_out(context)[0] && !gram_time_is_up(context, 1)) return GRAM_OK;
    return gram_fail(context, GRAM_ERROR_BUDGET, "the time was up");
}

gram_status gram_left_out_run(gram_left_out *out, const gram_division *division)
{
    gram_status status = GRAM_OK;
    out->most_rows = division->fit_rows;
    out->plain = 1;
    for (int64_t k = division->first; k <= division->last; k++) {
        TRY(gram_left_out_folds(out, NULL, division->fold, k, k, 0));
        TRY(check_time(out->whole->context));
    }
done:
    return status;
}

/* ---- what is said of it ---- */

void gram_cv_report_begin(const gram_learning *ready, const gram_left_out *out, const gram_division *division,
                          gram_cv_report *report)
{
    report->task = ready->task;
    report->method = ready->method->name;
    report->numbers = ready->tuning != GRAM_TUNING_NONE ? "anew" : "given";
    report->by = ready->ordered ? "order" : ready->groups ? "groups" : NULL;
    report->n = ready->n;
    report->rows = out->rows;
    report->folds = division->last - division->first + 1;
    report->fit_rows = out->fit_rows;
}

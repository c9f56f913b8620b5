#include "cli/report/lesson_report.h"

#include <inttypes.h>

#include "cli/report/model_report.h"
#include "cli/report/report_rows.h"

static void add_task(gram_string *text, const gram_lesson *lesson)
{
    const char *name = gram_preparation_describe(lesson->preparation)->targets[0].name;
    if (lesson->task == GRAM_TASK_CLASSIFICATION) {
        gram_string_add(text, "Classification%s: ",
                        !lesson->task_was_given && lesson->classes->values ? " (--task regression if these are numbers)"
                                                                           : "");
        gram_string_add(text, "%s, ", name);
        cli_classes_print(text, lesson->classes);
    } else if (lesson->few_values > 0) {
        gram_string_add(text, "Regression, though %s has only %" PRId64 " values (--task regression says so): ", name,
                        lesson->few_values);
    } else {
        gram_string_add(text, "Regression: ");
    }
}

/* The column of sparse rows, NULL if there is none. */
static const gram_column *find_sparse(const gram_preparation_description *known)
{
    for (int64_t i = 0; i < known->feature_count; i++)
        if (known->features[i].kind == GRAM_COLUMN_SPARSE) return &known->features[i];
    return NULL;
}

/* Is there a number to be scaled? */
static int has_numbers(const gram_preparation_description *known)
{
    for (int64_t i = 0; i < known->feature_count; i++)
        if (!known->features[i].text && known->features[i].kind == GRAM_COLUMN_PLAIN) return 1;
    return 0;
}

void cli_lesson_print(gram_string *text, const gram_lesson *lesson)
{
    static const char *const without_target[GRAM_TASK_COUNT] = {[GRAM_TASK_ONE_CLASS] =
                                                                    "One class: a region that holds most rows",
                                                                [GRAM_TASK_TRANSFORM] = "Coordinates of the rows",
                                                                [GRAM_TASK_CLUSTER] = "Clusters of the rows"};
    char rows[CLI_SHORT_SIZE];
    const gram_preparation_description *known = gram_preparation_describe(lesson->preparation);
    const int64_t dropped = lesson->data->table_rows - lesson->n;
    if (lesson->task > GRAM_TASK_CLASSIFICATION)
        gram_string_add(text, "%s", without_target[lesson->task]);
    else
        add_task(text, lesson);
    if (lesson->task == GRAM_TASK_REGRESSION) cli_add_targets(text, known);
    gram_string_add(text, " on ");
    cli_add_features(text, known);
    if (lesson->second_preparation) {
        gram_string_add(text, " and on ");
        cli_add_features(text, gram_preparation_describe(lesson->second_preparation));
    }
    gram_string_add(text, "; %s %s%s", gram_count_format(lesson->n, rows), lesson->data->first ? "bag" : "row",
                    cli_plural(lesson->n));
    if (dropped > 0) gram_string_add(text, ", %s dropped", gram_count_format(dropped, rows));
    const gram_column *sparse = find_sparse(known);
    if (sparse) gram_string_add(text, "; sparse, %s columns", gram_count_format(sparse->width, rows));
    gram_string_add(text, !sparse && !has_numbers(known) && !lesson->second_preparation ? ".\n\n"
                          : !known->scaled                                              ? "; not scaled.\n\n"
                          : sparse ? ", each divided by its deviation and not centred.\n\n"
                                   : "; numbers are standardised.\n\n");
}

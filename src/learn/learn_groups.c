/* Which rows belong together, and which come first: what cross-validation must know to leave rows out honestly.
 *
 * A column of groups is no feature: it is read beside the preparation, put on the list of columns to ignore, and not kept in
 * the model, since predictions need no folds. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "data/table.h"
#include "learn/estimate/error_estimate.h"
#include "learn/learn_steps.h"
#include "learn/learner.h"

/* Has the method folds to keep them in? */
static int has_folds(const gram_method *method)
{
    const gram_option *tune = gram_method_find_option(method, "tune");
    for (const gram_choice *c = tune ? tune->choices : NULL; c && c->name; c++)
        if (c->value == GRAM_TUNING_CV) return 1;
    return 0;
}

gram_status gram_learning_ignore(gram_learning *learning, const char *column)
{
    gram_status status = GRAM_OK;
    const char *others = learning->ignore ? learning->ignore : gram_learning_common(learning, GRAM_COMMON_IGNORE);
    const size_t size = strlen(column) + (others ? strlen(others) + 1 : 0) + 1;
    char *list = NULL;
    TRY(gram_learning_take(learning, (int64_t)size, 1, &list));
    (void)snprintf(list, size, "%s%s%s", others ? others : "", others ? "," : "", column);
    learning->ignore = list;
done:
    return status;
}

gram_status gram_learning_read_groups(gram_learning *learning, const gram_table *table)
{
    gram_status status = GRAM_OK;
    const char *column = gram_learning_common(learning, GRAM_COMMON_GROUPS);
    const int64_t n = gram_table_rows(table);
    int64_t place = 0, count = 0, *places = NULL;
    if (!column || learning->before) return GRAM_OK;
    TRY(gram_learning_take(learning, gram_table_columns(table), sizeof *places, &places));
    TRY(gram_table_find_columns(learning->context, table, column, places, &count));
    if (count != 1)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Give one column.", "--groups '%s' is not one column",
                                  column);
    place = places[0];
    TRY(gram_learning_take(learning, n, sizeof *learning->table_groups, &learning->table_groups));
    for (int64_t i = 0; i < n; i++) {
        const double number = gram_table_at(table, i, place) + 0.0; /* -0 + 0 = 0: one group */
        if (isnan(number))
            return gram_learning_fail_data(learning, "Every row belongs to a group.",
                                           "row %lld: column '%s': a missing value in the column of groups",
                                           (long long)i + 1, column);
        memcpy(&learning->table_groups[i], &number, sizeof number); /* any number will do, and equal ones are equal */
    }
    TRY(gram_learning_ignore(learning, column));
done:
    return status;
}

/* The groups of the prepared rows; and the way to tune that uses them. */
gram_status gram_learning_set_groups(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = learning->data;
    const char *ordered = gram_learning_common(learning, GRAM_COMMON_ORDERED);
    const int has_groups = learning->table_groups != NULL;
    learning->ordered = ordered && strcmp(ordered, "yes") == 0;
    if (!has_groups && !learning->ordered) return GRAM_OK;
    if (has_groups && learning->ordered)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave one out.",
                                  "--groups and --ordered are two ways to make folds");
    if (!has_folds(learning->method) && !gram_estimate_is_wanted(learning))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave it out.",
                                  "--%s is for folds, and %s has none without --estimate",
                                  has_groups ? "groups" : "ordered", learning->method->name);
    if (has_folds(learning->method) && learning->tuning != GRAM_TUNING_NONE && learning->tuning != GRAM_TUNING_CV &&
        learning->tuning != GRAM_TUNING_HOLDOUT) {
        if (gram_given_text(learning, "tune"))
            return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Use --tune cv:K.",
                                      "--%s needs folds, and --tune %s has none", has_groups ? "groups" : "ordered",
                                      gram_given_text(learning, "tune"));
        learning->tuning = GRAM_TUNING_CV;
    }
    if (!has_groups) return GRAM_OK;
    TRY(gram_learning_take(learning, data->n, sizeof *learning->groups, &learning->groups));
    for (int64_t i = 0; i < data->n; i++) learning->groups[i] = learning->table_groups[data->rows ? data->rows[i] : i];
done:
    return status;
}

/* Paired views: two sets of columns for the same rows, of one table by two lists or of two tables, each with a preparation and a
 * kernel of its own. What concerns one view only is done twice, and rows that one view must drop are dropped from both. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "data/preparation.h"
#include "learn/learn_steps.h"
#include "learn/learner.h"

int gram_learning_has_views(const gram_learning *learning)
{
    return learning->method && learning->method->views[0];
}

void gram_learning_forget_second(gram_learning *learning)
{
    gram_paired *second = &learning->second;
    gram_kernel_release(second->kernel);
    gram_kernel_release(second->written);
    gram_points_release(second->points);
    gram_prepared_destroy(second->data);
    gram_preparation_release(second->preparation);
    *second = (gram_paired){0};
}

/* ---- columns ---- */

static gram_status check_lists(gram_learning *learning, int one_table)
{
    const gram_method *method = learning->method;
    if (gram_learning_common(learning, GRAM_COMMON_FEATURES))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Choose the columns of each view by its own option.",
                                  "--features is not for the two views of %s: use --%s and --%s", method->name,
                                  method->views[0], method->views[1]);
    if (!one_table || (gram_given_text(learning, method->views[0]) && gram_given_text(learning, method->views[1])))
        return GRAM_OK;
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "They are lists of columns: x1,x3:x5,7.",
                              "%s needs the columns of both views: give --%s and --%s", method->name, method->views[0],
                              method->views[1]);
}

static int has_column(gram_learning *learning, const gram_table *table, const char *name)
{
    int64_t count = 0, *places = NULL;
    if (gram_learning_take(learning, gram_table_columns(table) + 1, sizeof *places, &places) < 0) return 1;
    return gram_table_find_columns(learning->context, table, name, places, &count) >= 0 && count > 0;
}

/* A column of labels is a target: of the first view it must be there, in the second it is no feature if it is. */
static gram_status prepare_view(gram_learning *learning, const gram_table *table, int view,
                                gram_preparation **preparation, gram_prepared **data)
{
    gram_status status = GRAM_OK;
    const gram_method *method = learning->method;
    const char *label = method->label ? gram_given_text(learning, method->label) : NULL;
    if (view > 0 && label && !has_column(learning, table, label)) label = NULL;
    if (!label && view > 0) label = "";
    TRY(gram_learning_preparation(learning, table, gram_given_text(learning, method->views[view]), label, preparation));
    TRY(gram_preparation_apply(learning->context, *preparation, table, 1, data));
done:
    return status;
}

/* Of one table: no column is in both. */
static gram_status check_apart(gram_learning *learning)
{
    const gram_preparation_description *a = gram_preparation_describe(learning->preparation);
    const gram_preparation_description *b = gram_preparation_describe(learning->second.preparation);
    for (int64_t i = 0; i < a->feature_count; i++)
        for (int64_t j = 0; j < b->feature_count; j++)
            if (strcmp(a->features[i].name, b->features[j].name) == 0)
                return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "A column is in one view only.",
                                          "column '%s' is in both --%s and --%s", a->features[i].name,
                                          learning->method->views[0], learning->method->views[1]);
    return GRAM_OK;
}

static gram_status check_lengths(gram_learning *learning, const gram_table *first, const gram_table *second)
{
    const int64_t n = gram_table_rows(first), m = gram_table_rows(second);
    if (n == m) return GRAM_OK;
    return gram_learning_fail_data(learning, "Row i of one belongs to row i of the other.",
                                   "%" PRId64 " rows, and %" PRId64 " in %s: the rows of two views are pairs", n, m,
                                   learning->second.source ? learning->second.source : "the second table");
}

gram_status gram_learning_prepare_views(gram_learning *learning, const gram_table *first, const gram_table *second)
{
    gram_status status = GRAM_OK;
    gram_paired *other = &learning->second;
    TRY(check_lists(learning, !second));
    if (second) TRY(check_lengths(learning, first, second));
    TRY(prepare_view(learning, first, 0, &learning->preparation, &learning->data));
    TRY(prepare_view(learning, second ? second : first, 1, &other->preparation, &other->data));
    if (!second) TRY(check_apart(learning));
    TRY(gram_prepared_pair(learning->context, learning->data, other->data));
    if (learning->data->n == 0)
        return gram_learning_fail_data(learning, "--missing mean fills them in.",
                                       "no row has all values of both views");
done:
    return status;
}

/* ---- kernels ---- */

static const char *kernel_text(const gram_learning *learning, int view)
{
    char name[64];
    (void)snprintf(name, sizeof name, "kernel-%s", learning->method->views[view]);
    const char *own = gram_given_text(learning, name);
    return own || learning->asked ? own : gram_learning_common(learning, GRAM_COMMON_KERNEL);
}

gram_status gram_learning_view_kernels(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    gram_paired *second = &learning->second;
    TRY(gram_learning_parse_kernel(learning, kernel_text(learning, 0), &learning->written));
    TRY(gram_kernel_check_dimension(learning->context, learning->written, learning->data->d));
    TRY(gram_learning_parse_kernel(learning, kernel_text(learning, 1), &second->written));
    TRY(gram_kernel_check_dimension(learning->context, second->written, second->data->d));
done:
    return status;
}

/* ---- both at once ---- */

gram_status gram_preparation_join(gram_context *context, const gram_preparation *first, const gram_preparation *second,
                                  gram_preparation **joint)
{
    gram_status status = GRAM_OK;
    const gram_preparation_description *a = gram_preparation_describe(first), *b = gram_preparation_describe(second);
    gram_preparation_description both = *a;
    gram_column *features = NULL;
    both.feature_count = a->feature_count + b->feature_count;
    TRY(gram_take(context, "predictor: columns", both.feature_count, sizeof *features, (void **)&features));
    memcpy(features, a->features, (size_t)a->feature_count * sizeof *features);
    memcpy(features + a->feature_count, b->features, (size_t)b->feature_count * sizeof *features);
    both.features = features;
    TRY(gram_preparation_create(context, &both, joint));
done:
    gram_give(context, features);
    return status;
}

gram_status gram_learning_joint_rows(gram_context *context, const gram_learning *learning, double **x)
{
    gram_status status = GRAM_OK;
    const gram_prepared *a = learning->data, *b = learning->second.data;
    const int64_t d = a->d + b->d;
    TRY(gram_take(context, "learner: rows of both views", a->n * d, sizeof **x, (void **)x));
    for (int64_t i = 0; i < a->n; i++) {
        memcpy(*x + i * d, a->x + i * a->d, (size_t)a->d * sizeof **x);
        memcpy(*x + i * d + a->d, b->x + i * b->d, (size_t)b->d * sizeof **x);
    }
done:
    return status;
}

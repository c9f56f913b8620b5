/* Learning from rows that are functionals: the options about them, and prepared rows that are fewer where several make one sum. */
#include <inttypes.h>
#include <string.h>

#include <gram/text.h>

#include "learn/learn_steps.h"
#include "learn/learner.h"
#include "learn/row_kinds.h"

static gram_kinds asked_kinds(const gram_learning *learning)
{
    return (gram_kinds){.column = gram_learning_common(learning, GRAM_COMMON_KIND),
                        .coefficient = gram_learning_common(learning, GRAM_COMMON_COEFFICIENT),
                        .operators = gram_learning_common(learning, GRAM_COMMON_OPERATOR),
                        .unknowns = gram_given_text(learning, "unknown")};
}

gram_status gram_learning_read_kinds(gram_learning *learning, const gram_table *table)
{
    gram_status status = GRAM_OK;
    const gram_kinds kinds = asked_kinds(learning);
    const char *list = NULL;
    if (!kinds.column && (kinds.coefficient || kinds.operators))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Give --kind COL, the column that names it.",
                                  "--%s is for rows that a column of kinds tells apart",
                                  kinds.operators ? "operator" : "coefficient");
    if (!kinds.column) return GRAM_OK;
    TRY(gram_kinds_columns(learning->context, &learning->arena, &kinds, table, &list));
    TRY(gram_learning_ignore(learning, list));
done:
    return status;
}

/* Rows of one sum have one target and one weight. */
static gram_status check_alike(gram_learning *learning, int64_t i, int64_t row)
{
    const gram_prepared *data = learning->data;
    char one[GRAM_NUMBER_SIZE], other[GRAM_NUMBER_SIZE];
    for (int64_t t = 0; t < data->targets; t++) {
        const double a = data->y[row * data->targets + t], b = data->y[i * data->targets + t];
        if (a != b)
            return gram_learning_fail_data(learning, "Repeat the target of a sum in all of its rows.",
                                           "row %" PRId64 ": target %s, in a sum of target %s",
                                           (data->rows ? data->rows[i] : i) + 1, gram_number_format(b, other),
                                           gram_number_format(a, one));
    }
    return GRAM_OK;
}

/* Prepared rows become those of the functionals, each where its first row is: never before it. */
static gram_status merge_rows(gram_learning *learning, const gram_kind_rows *kinds)
{
    gram_status status = GRAM_OK;
    gram_prepared *data = learning->data;
    double *x = (double *)(uintptr_t)data->x, *y = (double *)(uintptr_t)data->y; /* the learner's own arrays */
    double *weights = (double *)(uintptr_t)data->weights;
    int64_t next = 0, *rows = NULL;
    const int64_t d = data->d, m = data->targets;
    TRY(gram_learning_take(learning, data->n, sizeof *rows, &rows));
    for (int64_t i = 0; i < data->n; i++) {
        const int64_t row = kinds->of_row[i];
        if (row < next) {
            TRY(check_alike(learning, i, row));
            continue;
        }
        memmove(x + row * d, x + i * d, (size_t)d * sizeof *x);
        if (y) memmove(y + row * m, y + i * m, (size_t)m * sizeof *y);
        if (weights) weights[row] = weights[i];
        rows[next++] = data->rows ? data->rows[i] : i;
    }
    data->rows = rows;
    data->n = kinds->n;
done:
    return status;
}

gram_status gram_learning_set_kinds(gram_learning *learning, const gram_table *table)
{
    gram_status status = GRAM_OK;
    const gram_kinds kinds = asked_kinds(learning);
    gram_kind_rows rows;
    if (!kinds.column) return GRAM_OK;
    status = gram_kinds_rows(learning->context, &learning->arena, &kinds, learning->preparation, table, learning->data,
                             &rows);
    if (status == GRAM_ERROR_DATA || status == GRAM_ERROR_ARGUMENT) {
        char message[GRAM_MESSAGE_SIZE];
        (void)strncpy(message, gram_context_message(learning->context), sizeof message - 1);
        message[sizeof message - 1] = 0;
        if (status == GRAM_ERROR_ARGUMENT)
            return gram_learning_fail(learning, status, "Choose the column that says what each row is.", "--kind: %s",
                                      message);
        return gram_learning_fail_data(
            learning,
            "Kinds are value, d:NAME, d:NAME:NAME, laplacian, sum:ID, box, average, normal, and the "
            "names of --operator; with >=, <= or == behind it the target is a bound.",
            "%s", message);
    }
    TRY(status);
    learning->functionals = rows.points;
    learning->senses = rows.senses;
    learning->unknowns = rows.unknowns;
    if (rows.n < learning->data->n) TRY(merge_rows(learning, &rows));
done:
    return status;
}

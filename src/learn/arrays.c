/* Arrays as a table: what files go through, arrays go through too. The copy lives until it is prepared. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/sized_struct.h"
#include "data/table.h"
#include "learn/learn_steps.h"

enum { NAME_SIZE = 24 };

void gram_arrays_init(gram_arrays *arrays, size_t size)
{
    const gram_arrays defaults = {.size = sizeof defaults};
    gram_sized_init(arrays, size, &defaults, sizeof defaults);
}

const char *gram_arrays_target(const gram_arrays *arrays, char text[GRAM_ARRAYS_TARGET_SIZE])
{
    if (arrays->targets == 0)
        text[0] = '\0';
    else if (arrays->targets == 1)
        (void)snprintf(text, GRAM_ARRAYS_TARGET_SIZE, "y");
    else
        (void)snprintf(text, GRAM_ARRAYS_TARGET_SIZE, "y1:y%" PRId64, arrays->targets);
    return text;
}

static gram_status check(gram_context *context, const gram_arrays *a)
{
    gram_status status = GRAM_OK;
    FAIL_IF(a->n < 1 || a->d < 1 || a->targets < 0, context, GRAM_ERROR_ARGUMENT,
            "learn_arrays: n = %" PRId64 ", d = %" PRId64 ", targets = %" PRId64, a->n, a->d, a->targets);
    FAIL_IF(!a->x || (a->targets > 0 && !a->y), context, GRAM_ERROR_ARGUMENT, "learn_arrays: x or y is NULL");
    FAIL_IF(a->ldx < a->d || (a->targets > 0 && a->ldy < a->targets), context, GRAM_ERROR_ARGUMENT,
            "learn_arrays: ldx = %" PRId64 " or ldy = %" PRId64 " is less than a row", a->ldx, a->ldy);
done:
    return status;
}

/* The names one after the other, each with its final 0; returns their bytes. */
static size_t write_names(const gram_arrays *a, const char *letter, char *text)
{
    char *at = text;
    for (int64_t j = 0; j < a->d; j++) at += snprintf(at, NAME_SIZE, "%s%" PRId64, letter, j + 1) + 1;
    for (int64_t j = 0; j < a->targets; j++)
        at += (a->targets == 1 ? snprintf(at, NAME_SIZE, "y") : snprintf(at, NAME_SIZE, "y%" PRId64, j + 1)) + 1;
    if (a->weights) at += snprintf(at, NAME_SIZE, "weights") + 1;
    return (size_t)(at - text);
}

gram_arrays gram_arrays_second(const gram_arrays *arrays)
{
    return (gram_arrays){
        .size = sizeof *arrays, .n = arrays->n, .d = arrays->second_d, .x = arrays->second, .ldx = arrays->second_ld};
}

gram_status gram_arrays_to_table(gram_context *context, const gram_arrays *a, const char *letter, gram_table **table)
{
    gram_status status = GRAM_OK;
    gram_table *made = NULL;
    char *names = NULL;
    int64_t columns = 0;
    *table = NULL;
    TRY(check(context, a));
    columns = a->d + a->targets + (a->weights != NULL);
    TRY(gram_take(context, "learn_arrays: names", columns, NAME_SIZE, (void **)&names));
    TRY(gram_table_create(context, "the arrays", &made));
    TRY(gram_table_set_names(context, made, columns, names, write_names(a, letter, names)));
    TRY(gram_table_reserve(context, made, a->n));
    for (int64_t i = 0; i < a->n; i++) {
        double *row = made->numbers + i * columns;
        memcpy(row, a->x + i * a->ldx, (size_t)a->d * sizeof *row);
        if (a->targets > 0) memcpy(row + a->d, a->y + i * a->ldy, (size_t)a->targets * sizeof *row);
        if (a->weights) row[columns - 1] = a->weights[i];
    }
    made->n = a->n;
    made->named = 1;
    *table = made;
    made = NULL;
done:
    gram_table_destroy(made);
    gram_give(context, names);
    return status;
}

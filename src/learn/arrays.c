/* Arrays as a table: what files go through, arrays go through too. The table lives until it is prepared; it is a copy, but for features
 * that are lent. */
#include <inttypes.h>
#include <math.h>
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
    return arrays->target && arrays->target->name ? arrays->target->name : text;
}

static gram_status check(gram_context *context, const gram_arrays *a)
{
    gram_status status = GRAM_OK;
    FAIL_IF(a->n < 1 || a->d < 1 || a->targets < 0 || a->extras < 0, context, GRAM_ERROR_ARGUMENT,
            "learn_arrays: n = %" PRId64 ", d = %" PRId64 ", targets = %" PRId64 ", extras = %" PRId64, a->n, a->d,
            a->targets, a->extras);
    FAIL_IF((!a->x && !a->sparse_start) || (a->targets > 0 && !a->y), context, GRAM_ERROR_ARGUMENT,
            "learn_arrays: x or y is NULL");
    FAIL_IF(a->extras > 0 && (!a->extra || !a->extra_names), context, GRAM_ERROR_ARGUMENT,
            "learn_arrays: extra or extra_names is NULL");
    FAIL_IF((a->ldx < a->d && !a->sparse_start) || (a->targets > 0 && a->ldy < a->targets), context,
            GRAM_ERROR_ARGUMENT, "learn_arrays: ldx = %" PRId64 " or ldy = %" PRId64 " is less than a row", a->ldx,
            a->ldy);
    FAIL_IF(a->target && a->targets != 1, context, GRAM_ERROR_ARGUMENT,
            "learn_arrays: target describes one target, not %" PRId64, a->targets);
done:
    return status;
}

/* ---- names ---- */

typedef struct naming {
    const gram_arrays *arrays;
    const char *letter;
    const char **names; /* of the columns, in their order */
    char *own;          /* NAME_SIZE bytes for each name that is made here */
} naming;

static int64_t column_count(const gram_arrays *a)
{
    return a->d + a->targets + a->extras + (a->weights != NULL);
}

static const char *given_name(const gram_column *columns, int64_t j)
{
    return columns && columns[j].name ? columns[j].name : NULL;
}

/* "weights", with as many underscores as make it differ from all others: any column may be called so. */
static void name_weights(const naming *n, int64_t column)
{
    char *text = n->own + column * NAME_SIZE;
    size_t length = (size_t)snprintf(text, NAME_SIZE, "weights");
    for (int64_t j = 0; j < column && length + 1 < NAME_SIZE; j++) {
        if (strcmp(n->names[j], text) != 0) continue;
        text[length++] = '_';
        text[length] = '\0';
        j = -1;
    }
    n->names[column] = text;
}

static void make_names(const naming *n)
{
    const gram_arrays *a = n->arrays;
    int64_t at = 0;
    for (int64_t j = 0; j < a->d; j++, at++) {
        (void)snprintf(n->own + at * NAME_SIZE, NAME_SIZE, "%s%" PRId64, n->letter, j + 1);
        n->names[at] = given_name(a->features, j) ? given_name(a->features, j) : n->own + at * NAME_SIZE;
    }
    for (int64_t j = 0; j < a->targets; j++, at++) {
        if (a->targets == 1)
            (void)snprintf(n->own + at * NAME_SIZE, NAME_SIZE, "y");
        else
            (void)snprintf(n->own + at * NAME_SIZE, NAME_SIZE, "y%" PRId64, j + 1);
        n->names[at] = given_name(a->target, 0) ? given_name(a->target, 0) : n->own + at * NAME_SIZE;
    }
    for (int64_t j = 0; j < a->extras; j++, at++) n->names[at] = a->extra_names[j];
    if (a->weights) name_weights(n, at);
}

/* The table takes them one after the other, each with its final 0. */
static gram_status set_names(gram_context *context, const gram_arrays *a, const char *letter, gram_table *table)
{
    gram_status status = GRAM_OK;
    const int64_t columns = column_count(a);
    naming n = {.arrays = a, .letter = letter};
    char *text = NULL;
    size_t size = 0, at = 0;
    TRY(gram_take(context, "learn_arrays: names", columns, NAME_SIZE, (void **)&n.own));
    TRY(gram_take(context, "learn_arrays: names", columns, sizeof *n.names, (void **)&n.names));
    make_names(&n);
    for (int64_t j = 0; j < columns; j++) size += strlen(n.names[j]) + 1;
    TRY(gram_take(context, "learn_arrays: names", (int64_t)size, 1, (void **)&text));
    for (int64_t j = 0; j < columns; j++) {
        const size_t length = strlen(n.names[j]) + 1;
        memcpy(text + at, n.names[j], length);
        at += length;
    }
    TRY(gram_table_set_names(context, table, columns, text, size));
done:
    gram_give(context, text);
    gram_give(context, n.names);
    gram_give(context, n.own);
    return status;
}

/* ---- text ---- */

/* The places of levels become slots of the table's own levels, which it then sorts. */
static gram_status set_levels(gram_context *context, gram_table *table, int64_t column, const gram_column *known)
{
    gram_status status = GRAM_OK;
    int64_t *slots = NULL;
    TRY(gram_table_make_text(context, table, column));
    TRY(gram_take(context, "learn_arrays: levels", known->level_count + 1, sizeof *slots, (void **)&slots));
    for (int64_t k = 0; k < known->level_count; k++) {
        status = gram_levels_insert(table->levels[column], known->levels[k], strlen(known->levels[k]), &slots[k]);
        FAIL_IF(status < 0, context, status, "learn_arrays: no memory is left for the levels of column '%s'",
                table->names[column]);
    }
    for (int64_t i = 0; i < table->n; i++) {
        double *cell = gram_table_own(table, i, column);
        if (isnan(*cell)) continue;
        FAIL_IF(!(*cell >= 0 && *cell < (double)known->level_count), context, GRAM_ERROR_ARGUMENT,
                "learn_arrays: row %" PRId64 ", column '%s': %g is not the place of one of %" PRId64 " levels", i,
                table->names[column], *cell, known->level_count);
        *cell = (double)slots[(int64_t)*cell];
    }
done:
    gram_give(context, slots);
    return status;
}

static gram_status set_text(gram_context *context, const gram_arrays *a, gram_table *table)
{
    gram_status status = GRAM_OK;
    for (int64_t j = 0; a->features && j < a->d; j++)
        if (a->features[j].text) TRY(set_levels(context, table, j, &a->features[j]));
    if (a->target && a->target->text) TRY(set_levels(context, table, a->d, a->target));
    for (int64_t j = 0; a->extra_columns && j < a->extras; j++)
        if (a->extra_columns[j].text) TRY(set_levels(context, table, a->d + a->targets + j, &a->extra_columns[j]));
    TRY(gram_table_sort_levels(context, table));
done:
    return status;
}

/* ---- the table ---- */

gram_arrays gram_arrays_second(const gram_arrays *arrays)
{
    return (gram_arrays){.size = sizeof *arrays,
                         .n = arrays->n,
                         .d = arrays->second_d,
                         .x = arrays->second,
                         .ldx = arrays->second_ld,
                         .features = arrays->second_features};
}

static void copy_rows(const gram_arrays *a, gram_table *table)
{
    const int64_t width = gram_table_own_columns(table);
    for (int64_t i = 0; i < a->n; i++) {
        double *at = table->numbers + i * width;
        if (!table->lent) memcpy(at, a->x + i * a->ldx, (size_t)a->d * sizeof *at);
        at += table->lent ? 0 : a->d;
        if (a->targets > 0) memcpy(at, a->y + i * a->ldy, (size_t)a->targets * sizeof *at);
        at += a->targets;
        if (a->extras > 0) memcpy(at, a->extra + i * a->extras, (size_t)a->extras * sizeof *at);
        if (a->weights) at[a->extras] = a->weights[i];
    }
    table->n = a->n;
    table->named = 1;
}

int gram_arrays_has_text(const gram_arrays *arrays)
{
    for (int64_t j = 0; arrays->features && j < arrays->d; j++)
        if (arrays->features[j].text) return 1;
    return 0;
}

static gram_status dense_to_table(gram_context *context, const gram_arrays *a, const char *letter, int lend,
                                  gram_table **table)
{
    gram_status status = GRAM_OK;
    gram_table *made = NULL;
    *table = NULL;
    TRY(gram_table_create(context, "the arrays", &made));
    TRY(set_names(context, a, letter, made));
    if (lend) gram_table_lend(made, a->d, a->x, a->ldx);
    TRY(gram_table_reserve(context, made, a->n));
    copy_rows(a, made);
    TRY(set_text(context, a, made));
    *table = made;
    made = NULL;
done:
    gram_table_destroy(made);
    return status;
}

/* Sparse rows are one column of their places; the store is a copy, since models keep it. */
static gram_status sparse_to_table(gram_context *context, const gram_arrays *a, gram_table **table)
{
    static const gram_column x = {.name = "x"};
    gram_status status = GRAM_OK;
    gram_objects *lent = NULL;
    gram_arrays one = *a;
    double *places = NULL;
    int64_t *which = NULL;
    TRY(gram_objects_create_sparse(context, "learn_arrays", a->n, a->d, a->sparse_start, a->sparse_index,
                                   a->sparse_value, &lent));
    TRY(gram_take(context, "learn_arrays", a->n, sizeof *places, (void **)&places));
    TRY(gram_take(context, "learn_arrays", a->n, sizeof *which, (void **)&which));
    for (int64_t i = 0; i < a->n; i++) places[i] = (double)(which[i] = i);
    one.d = one.ldx = 1;
    one.x = places;
    one.features = &x;
    TRY(dense_to_table(context, &one, "x", 0, table));
    (*table)->marks[0] |= GRAM_COLUMN_HAS_SPARSE;
    TRY(gram_objects_gather(context, lent, a->n, which, &(*table)->sparse));
done:
    if (status < 0) {
        gram_table_destroy(*table);
        *table = NULL;
    }
    gram_objects_release(lent);
    gram_give(context, places);
    gram_give(context, which);
    return status;
}

gram_status gram_arrays_to_table(gram_context *context, const gram_arrays *a, const char *letter, int lend,
                                 gram_table **table)
{
    *table = NULL;
    const gram_status status = check(context, a);
    if (status < 0) return status;
    return a->sparse_start ? sparse_to_table(context, a, table) : dense_to_table(context, a, letter, lend, table);
}

gram_status gram_arrays_table(gram_context *context, const gram_arrays *given, gram_table **table)
{
    gram_status status = GRAM_OK;
    gram_arrays arrays;
    *table = NULL;
    gram_arrays_init(&arrays, sizeof arrays);
    TRY(gram_sized_read(context, "arrays_table", "arrays", "gram_arrays", given, &arrays, sizeof arrays));
    TRY(gram_arrays_to_table(context, &arrays, "x", 0, table));
done:
    return status;
}

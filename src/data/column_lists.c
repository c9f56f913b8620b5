/* Lists of columns: "x1,x3:x5,7". */
#include "data/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <gram/text.h>

typedef struct span {
    const char *text;
    size_t length;
} span;

static int equals(span item, const char *name)
{
    return strlen(name) == item.length && memcmp(name, item.text, item.length) == 0;
}

/* A whole number without sign, -1 if the item is not one. */
static int64_t place_of(span item)
{
    int64_t value = 0;
    if (item.length == 0 || item.length > 18) return -1;
    for (size_t i = 0; i < item.length; i++) {
        if (item.text[i] < '0' || item.text[i] > '9') return -1;
        value = 10 * value + (item.text[i] - '0');
    }
    return value;
}

/* The column of that name or else at that place, -1 if there is none. */
static int64_t find_column(const gram_table *table, span item)
{
    for (int64_t i = 0; i < table->d; i++)
        if (equals(item, table->names[i])) return i;
    const int64_t place = place_of(item);
    return place >= 1 && place <= table->d ? place - 1 : -1;
}

/* "'a', 'b', 'c'", as far as there is room */
static char *some_names(const gram_table *table, char *text, size_t size)
{
    size_t length = 0;
    text[0] = '\0';
    for (int64_t i = 0; i < table->d; i++) {
        const size_t needed = strlen(table->names[i]) + sizeof ", '', ...";
        if (length + needed > size) {
            (void)snprintf(text + length, size - length, "%s...", i ? ", " : "");
            break;
        }
        length += (size_t)snprintf(text + length, size - length, "%s'%s'", i ? ", " : "", table->names[i]);
    }
    return text;
}

static gram_status no_such_column(gram_context *context, const gram_table *table, span item)
{
    char word[GRAM_EXCERPT_SIZE], names[120];
    gram_data_excerpt(item.text, item.length, word);
    if (place_of(item) >= 0)
        return gram_fail(context, GRAM_ERROR_DATA, "%s: no column %s, there are %" PRId64, table->file, word, table->d);
    const char *near = gram_suggest(word, table->names, (size_t)table->d);
    if (near)
        return gram_fail(context, GRAM_ERROR_DATA, "%s: no column '%s', did you mean '%s'?", table->file, word, near);
    return gram_fail(context, GRAM_ERROR_DATA, "%s: no column '%s', there are %s%s", table->file, word,
                     some_names(table, names, sizeof names), gram_table_hint(table));
}

/* One item of the list: the columns first .. last. */
static gram_status find_range(gram_context *context, const gram_table *table, span item, int64_t *first, int64_t *last)
{
    gram_status status = GRAM_OK;
    char word[GRAM_EXCERPT_SIZE];
    *first = *last = find_column(table, item);
    const char *colon = memchr(item.text, ':', item.length);
    if (*first >= 0) return status;
    if (!colon) return no_such_column(context, table, item);
    const span left = {item.text, (size_t)(colon - item.text)};
    const span right = {colon + 1, item.length - left.length - 1};
    *first = find_column(table, left);
    *last = find_column(table, right);
    gram_data_excerpt(item.text, item.length, word);
    FAIL_IF(left.length == 0 || right.length == 0, context, GRAM_ERROR_SYNTAX,
            "columns '%s': a range has two ends, as in 2:5", word);
    if (*first < 0) return no_such_column(context, table, left);
    if (*last < 0) return no_such_column(context, table, right);
    FAIL_IF(*first > *last, context, GRAM_ERROR_SYNTAX, "columns '%s': the range runs backwards", word);
done:
    return status;
}

gram_status gram_table_find_columns(gram_context *context, const gram_table *table, const char *list, int64_t *columns,
                                    int64_t *count)
{
    gram_status status = GRAM_OK;
    char *seen = NULL; /* for each column: was it in the list? */
    const char *text = list;
    *count = 0;
    TRY(gram_take(context, "table_find_columns", table->d, 1, (void **)&seen));
    memset(seen, 0, (size_t)table->d);
    for (;;) {
        const span item = {text, strcspn(text, ",")};
        int64_t first, last;
        FAIL_IF(item.length == 0, context, GRAM_ERROR_SYNTAX, "columns '%s': an item is empty", list);
        TRY(find_range(context, table, item, &first, &last));
        for (int64_t i = first; i <= last; i++) {
            FAIL_IF(seen[i]++, context, GRAM_ERROR_SYNTAX, "columns '%s': '%s' is given twice", list, table->names[i]);
            columns[(*count)++] = i;
        }
        if (text[item.length] == '\0') break;
        text += item.length + 1;
    }
done:
    gram_give(context, seen);
    return status;
}

/* Those of the list `features` without those of the list `ignore`; NULL: all, none. */
static gram_status choose_by_lists(gram_context *context, const gram_table *table, const char *features,
                                   const char *ignore, int64_t *columns, int64_t *count)
{
    gram_status status = GRAM_OK;
    const int64_t d = table->d;
    int64_t chosen = d, dropped = 0;
    int64_t *scratch = NULL;
    TRY(gram_take(context, "table: columns", 2 * d, sizeof *scratch, (void **)&scratch));
    for (int64_t i = 0; i < d; i++) columns[i] = i;
    if (features) TRY(gram_table_find_columns(context, table, features, columns, &chosen));
    if (ignore) TRY(gram_table_find_columns(context, table, ignore, scratch, &dropped));
    int64_t *place = scratch + d; /* of a column in `columns`, -1 if it is not there */
    for (int64_t i = 0; i < d; i++) place[i] = -1;
    for (int64_t i = 0; i < chosen; i++) place[columns[i]] = i;
    for (int64_t i = 0; i < dropped; i++)
        if (place[scratch[i]] >= 0) columns[place[scratch[i]]] = -1;
    *count = 0;
    for (int64_t i = 0; i < chosen; i++)
        if (columns[i] >= 0) columns[(*count)++] = columns[i];
    FAIL_IF(*count == 0, context, GRAM_ERROR_DATA, "%s: no column is left", table->file);
done:
    gram_give(context, scratch);
    return status;
}

/* The search begins at column `start` and goes round: columns that are wanted mostly come in the order that they have, and a
 * search from the first one for each of 10^5 of them takes ten seconds. */
static int64_t column_from(const gram_table *table, int64_t start, const char *name)
{
    for (int64_t i = start; i < table->d; i++)
        if (strcmp(table->names[i], name) == 0) return i;
    for (int64_t i = 0; i < start; i++)
        if (strcmp(table->names[i], name) == 0) return i;
    return -1;
}

int64_t gram_table_column(const gram_table *table, const char *name)
{
    return column_from(table, 0, name);
}

gram_status gram_table_no_column(gram_context *context, const gram_table *table, const char *name)
{
    const span item = {name, strlen(name)};
    char word[GRAM_EXCERPT_SIZE], names[120];
    gram_data_excerpt(item.text, item.length, word);
    if (!table->named)
        return gram_fail(context, GRAM_ERROR_DATA,
                         "%s: no column '%s'; the file has no header, and %" PRId64 " columns", table->file, word,
                         table->d);
    const char *near = gram_suggest(word, table->names, (size_t)table->d);
    if (near)
        return gram_fail(context, GRAM_ERROR_DATA, "%s: no column '%s', which is needed; is it '%s'?", table->file,
                         word, near);
    return gram_fail(context, GRAM_ERROR_DATA, "%s: no column '%s', which is needed; there are %s%s", table->file, word,
                     some_names(table, names, sizeof names), gram_table_hint(table));
}

static gram_status choose_wanted(gram_context *context, gram_table *table, const gram_table_options *options,
                                 int64_t *columns, int64_t *count)
{
    gram_status status = GRAM_OK;
    char *seen = NULL; /* for each column: was it wanted? */
    *count = 0;
    TRY(gram_take(context, "table: columns", table->d, 1, (void **)&seen));
    memset(seen, 0, (size_t)table->d);
    for (int64_t i = 0; i < options->wanted_count; i++) {
        const gram_wanted *wanted = &options->wanted[i];
        const int64_t column = column_from(table, *count > 0 ? columns[*count - 1] + 1 : 0, wanted->name);
        if (column < 0 && wanted->optional) continue;
        if (column < 0) TRY(gram_table_no_column(context, table, wanted->name));
        FAIL_IF(seen[column]++, context, GRAM_ERROR_ARGUMENT, "table_read: column '%s' is wanted twice", wanted->name);
        columns[(*count)++] = column;
        if (wanted->text) TRY(gram_table_make_text(context, table, column));
        if (wanted->kind == GRAM_COLUMN_TEXTS) TRY(gram_table_make_texts(context, table, column));
        FAIL_IF(wanted->kind == GRAM_COLUMN_SPARSE, context, GRAM_ERROR_DATA,
                "%s: column '%s' holds sparse rows where it was learnt from; use LIBSVM's text", table->file,
                wanted->name);
        if (wanted->date) table->marks[column] |= GRAM_COLUMN_DATE;
    }
    FAIL_IF(*count == 0, context, GRAM_ERROR_DATA, "%s: no column is left", table->file);
done:
    gram_give(context, seen);
    return status;
}

gram_status gram_table_choose(gram_context *context, gram_table *table, const gram_table_options *options,
                              int64_t *columns, int64_t *count)
{
    gram_status status = GRAM_OK;
    if (options->wanted) return choose_wanted(context, table, options, columns, count);
    if (options->categories) {
        TRY(gram_table_find_columns(context, table, options->categories, columns, count));
        for (int64_t i = 0; i < *count; i++) TRY(gram_table_make_text(context, table, columns[i]));
    }
    if (options->texts) {
        TRY(gram_table_find_columns(context, table, options->texts, columns, count));
        for (int64_t i = 0; i < *count; i++) TRY(gram_table_make_texts(context, table, columns[i]));
    }
    if (options->bag) {
        TRY(gram_table_find_columns(context, table, options->bag, columns, count));
        for (int64_t i = 0; i < *count; i++) TRY(gram_table_make_texts(context, table, columns[i]));
    }
    if (options->graphs) {
        TRY(gram_table_find_columns(context, table, options->graphs, columns, count));
        for (int64_t i = 0; i < *count; i++) {
            TRY(gram_table_make_texts(context, table, columns[i]));
            table->marks[columns[i]] |= GRAM_COLUMN_HAS_GRAPHS;
        }
    }
    TRY(choose_by_lists(context, table, options->features, options->ignore, columns, count));
done:
    return status;
}

/* Names, levels and marks of the columns in the order `from`, those that are kept first. */
static void reorder(gram_table *table, const int64_t *from, const char **names, gram_levels **levels,
                    unsigned char *marks)
{
    for (int64_t i = 0; i < table->d; i++) {
        names[i] = table->names[from[i]];
        levels[i] = table->levels[from[i]];
        marks[i] = table->marks[from[i]];
    }
    memcpy(table->names, names, (size_t)table->d * sizeof *names);
    memcpy(table->levels, levels, (size_t)table->d * sizeof *levels);
    memcpy(table->marks, marks, (size_t)table->d);
}

gram_status gram_table_keep_columns(gram_context *context, gram_table *table, const int64_t *columns, int64_t count)
{
    gram_status status = GRAM_OK;
    const char **names = NULL;
    gram_levels **levels = NULL;
    unsigned char *marks = NULL;
    int64_t *from = NULL;
    const int64_t d = table->d;
    TRY(gram_take(context, "table: columns", d, sizeof *names, (void **)&names));
    TRY(gram_take(context, "table: columns", d, sizeof *levels, (void **)&levels));
    TRY(gram_take(context, "table: columns", d, 1, (void **)&marks));
    TRY(gram_take(context, "table: columns", 2 * d, sizeof *from, (void **)&from));
    int64_t *kept = from + d, last = count;
    memset(kept, 0, (size_t)d * sizeof *kept);
    for (int64_t i = 0; i < count; i++) {
        from[i] = columns[i];
        kept[columns[i]] = 1;
    }
    for (int64_t i = 0; i < d; i++)
        if (!kept[i]) from[last++] = i;
    reorder(table, from, names, levels, marks);
    table->d = count;
done:
    gram_give(context, from);
    gram_give(context, marks);
    gram_give(context, levels);
    gram_give(context, names);
    return status;
}

/* In place: a row moves to the front or stays, so that none is written over before it was read. */
static void keep_numbers(gram_table *table, int64_t old_d, const int64_t *columns, double *row)
{
    const int64_t d = table->d;
    for (int64_t i = 0; i < table->n; i++) {
        const double *from = table->numbers + i * old_d;
        for (int64_t j = 0; j < d; j++) row[j] = from[columns[j]];
        memcpy(table->numbers + i * d, row, (size_t)d * sizeof(double));
    }
}

gram_status gram_table_apply_options(gram_context *context, gram_table *table, const gram_table_options *options)
{
    gram_status status = GRAM_OK;
    int64_t *columns = NULL;
    double *row = NULL;
    const int64_t d = table->d;
    int64_t count;
    TRY(gram_take(context, "table_select", d, sizeof *columns, (void **)&columns));
    TRY(gram_take(context, "table_select", d, sizeof *row, (void **)&row));
    TRY(gram_table_choose(context, table, options, columns, &count));
    TRY(gram_table_keep_columns(context, table, columns, count));
    keep_numbers(table, d, columns, row);
done:
    gram_give(context, row);
    gram_give(context, columns);
    return status;
}

gram_status gram_table_select(gram_context *context, gram_table *table, const char *features, const char *ignore)
{
    gram_table_options options;
    if (!features && !ignore) return GRAM_OK;
    gram_table_options_init(&options, sizeof options);
    options.features = features;
    options.ignore = ignore;
    return gram_table_apply_options(context, table, &options);
}

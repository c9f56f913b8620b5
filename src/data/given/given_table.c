#include "data/given/given_table.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "points/given_things.h"

static const char NAME[] = "gram";

static const gram_wanted *find_wanted(const gram_table_options *options)
{
    for (int64_t i = 0; options->wanted && i < options->wanted_count; i++)
        if (options->wanted[i].kind == GRAM_COLUMN_GIVEN) return &options->wanted[i];
    return NULL;
}

int gram_table_wants_given(const gram_table_options *options)
{
    return options->gram || find_wanted(options);
}

/* ---- the matrix ---- */

/* n x n for a fit; with `known`, the rows that a model was fitted to, one of new rows: m x n or less, m x (n + 1), m x (n + m). */
static gram_status check_size(gram_context *context, const gram_table *numbers, int64_t known)
{
    const int64_t rows = numbers->n, width = numbers->d;
    gram_status status = GRAM_OK;
    if (known == 0 && rows == width) return status;
    if (known == 0) {
        status = gram_fail(context, GRAM_ERROR_DATA,
                           "%s: %" PRId64 " rows of %" PRId64 " numbers; the matrix of a kernel has as many columns as "
                           "rows",
                           numbers->file, rows, width);
        return gram_advise(context, status, "Entry (i, j) is the kernel of rows i and j of the data.");
    }
    if (width <= known + 1 || width == known + rows) return status;
    status = gram_fail(context, GRAM_ERROR_DATA, "%s: %" PRId64 " columns; the model was fitted to %" PRId64 " rows",
                       numbers->file, width, known);
    return gram_advise(
        context, status,
        "Row i has the kernel of new row i with the training rows, all of them or those that `gram info` "
        "names.");
}

static gram_status read_matrix(gram_context *context, const gram_table_options *options, int64_t known,
                               gram_objects **store)
{
    gram_status status = GRAM_OK;
    gram_table *numbers = NULL;
    gram_table_options plain;
    gram_table_options_init(&plain, sizeof plain);
    status = gram_table_read(context, options->gram, &plain, &numbers);
    if (status == GRAM_ERROR_DATA)
        (void)gram_advise(context, status, "A given matrix has numbers only, as .npy, .csv or .tsv.");
    if (status < 0) return status;
    TRY(check_size(context, numbers, known));
    const gram_given_matrix matrix = {.name = numbers->file,
                                      .rows = numbers->n,
                                      .width = numbers->d,
                                      .known = known ? known : numbers->n,
                                      .training = known == 0,
                                      .value = numbers->numbers};
    numbers->numbers = NULL;
    TRY(gram_given_create(context, &matrix, store));
    if (known == 0) TRY(gram_given_symmetrise(context, *store));
done:
    gram_table_destroy(numbers);
    return status;
}

/* ---- the table ---- */

/* A table without columns, which gets its first one. */
static gram_status bare_table(gram_context *context, const char *file, gram_table **table)
{
    gram_status status = GRAM_OK;
    TRY(gram_table_create(context, file, table));
    TRY(gram_table_set_names(context, *table, 1, NAME, sizeof NAME));
    (*table)->named = 1;
done:
    return status;
}

/* `table` with one more column in front: *wider takes what it has. */
static gram_status widen(gram_context *context, gram_table *table, gram_table **wider)
{
    gram_status status = GRAM_OK;
    gram_table *made = NULL;
    char *names = NULL, *end;
    size_t size = sizeof NAME;
    for (int64_t j = 0; j < table->d; j++) size += strlen(table->names[j]) + 1;
    TRY(gram_table_create(context, table->file, &made));
    TRY(gram_take(context, "given matrix", (int64_t)size, 1, (void **)&names));
    end = (char *)memcpy(names, NAME, sizeof NAME) + sizeof NAME;
    for (int64_t j = 0; j < table->d; j++) {
        memcpy(end, table->names[j], strlen(table->names[j]) + 1);
        end += strlen(end) + 1;
    }
    TRY(gram_table_set_names(context, made, table->d + 1, names, size));
    TRY(gram_table_reserve(context, made, table->n));
    for (int64_t i = 0; i < table->n; i++)
        memcpy(made->numbers + i * made->d + 1, table->numbers + i * table->d, (size_t)table->d * sizeof(double));
    made->n = table->n;
    for (int64_t j = 0; j < table->d; j++) {
        made->levels[j + 1] = table->levels[j];
        made->marks[j + 1] = table->marks[j];
        table->levels[j] = NULL;
    }
    made->named = table->named;
    made->words = table->words;
    made->sparse = table->sparse;
    made->first_line = table->first_line;
    made->lines = table->lines;
    made->line_capacity = table->line_capacity;
    table->words = NULL;
    table->sparse = NULL;
    table->lines = NULL;
    *wider = made;
    made = NULL;
done:
    gram_table_destroy(made);
    gram_give(context, names);
    return status;
}

/* The first column is the matrix's; the store is the table's from now on, also if it fails. */
static gram_status set_store(gram_context *context, gram_table *table, gram_objects *store)
{
    gram_status status = GRAM_OK;
    table->given = store;
    if (table->n > 0 && table->n != store->count) {
        (void)gram_fail(context, GRAM_ERROR_DATA, "%s has %" PRId64 " rows, %s %" PRId64, store->text, store->count,
                        table->file, table->n);
        return gram_advise(context, GRAM_ERROR_DATA, "Row i of one belongs to row i of the other.");
    }
    if (table->n == 0) TRY(gram_table_reserve(context, table, store->count));
    table->n = store->count;
    for (int64_t i = 0; i < table->n; i++) table->numbers[i * table->d] = (double)i;
    table->marks[0] |= GRAM_COLUMN_HAS_GIVEN;
done:
    return status;
}

static gram_status replace_wider(gram_context *context, gram_table **table, gram_objects *store, int64_t from)
{
    gram_table *wider = NULL;
    const gram_status status = widen(context, *table, &wider);
    if (status < 0) return status;
    gram_table_destroy(*table);
    *table = wider;
    wider->given = gram_objects_retain(store);
    wider->marks[0] |= GRAM_COLUMN_HAS_GIVEN;
    for (int64_t i = 0; i < wider->n; i++) wider->numbers[i * wider->d] = (double)(from + i);
    return GRAM_OK;
}

gram_status gram_given_table_pair(gram_context *context, const char *gram, gram_table **first, gram_table **second)
{
    gram_status status = GRAM_OK;
    gram_objects *store = NULL;
    gram_table_options options;
    const int64_t n = (*first)->n, m = (*second)->n;
    gram_table_options_init(&options, sizeof options);
    options.gram = gram;
    TRY(read_matrix(context, &options, 0, &store));
    FAIL_IF(store->count != n + m, context, GRAM_ERROR_DATA,
            "%s has %" PRId64 " rows; %s and %s have %" PRId64 " and %" PRId64 " together, in this order", store->text,
            store->count, (*first)->file, (*second)->file, n, m);
    TRY(replace_wider(context, first, store, 0));
    TRY(replace_wider(context, second, store, n));
done:
    gram_objects_release(store);
    return status;
}

/* What else is wanted, if any of it must be there; otherwise whatever the file has. */
static gram_status read_others(gram_context *context, const char *path, const gram_table_options *options,
                               gram_table **table)
{
    gram_status status = GRAM_OK;
    gram_table_options others = *options;
    gram_wanted *wanted = NULL;
    int64_t needed = 0, count = 0;
    others.gram = others.features = others.ignore = NULL;
    if (options->wanted) {
        TRY(gram_take(context, "given matrix", options->wanted_count, sizeof *wanted, (void **)&wanted));
        for (int64_t i = 0; i < options->wanted_count; i++) {
            if (options->wanted[i].kind == GRAM_COLUMN_GIVEN) continue;
            wanted[count++] = options->wanted[i];
            needed += !options->wanted[i].optional;
        }
        others.wanted = needed > 0 ? wanted : NULL;
        others.wanted_count = needed > 0 ? count : 0;
        others.text = GRAM_TEXT_CATEGORIES;
        others.keep_missing = 1;
        others.gram_rows = find_wanted(options)->width;
    }
    TRY(gram_table_read(context, path, &others, table));
done:
    gram_give(context, wanted);
    return status;
}

static int has_given(const gram_table *table)
{
    return table && table->given != NULL;
}

gram_status gram_given_table_read(gram_context *context, const char *path, const gram_table_options *options,
                                  gram_table **table)
{
    gram_status status = GRAM_OK;
    const gram_wanted *wanted = find_wanted(options);
    gram_table *others = NULL, *made = NULL;
    gram_objects *store = NULL;
    FAIL_IF(options->wanted && !wanted, context, GRAM_ERROR_ARGUMENT,
            "gram_table_read: gram is '%s', and none of the wanted columns is of GRAM_COLUMN_GIVEN", options->gram);
    if (path) TRY(read_others(context, path, options, &others));
    FAIL_IF(has_given(others) && options->gram, context, GRAM_ERROR_ARGUMENT,
            "%s is LIBSVM's precomputed format: it has the matrix, and %s is one more", path, options->gram);
    if (!has_given(others) && !options->gram) {
        status = gram_fail(context, GRAM_ERROR_ARGUMENT,
                           "%s: the model was fitted to a given matrix, and there is none for these rows", path);
        (void)gram_advise(context, status, "--gram K.npy has the kernel of each row with the training rows.");
        goto done;
    }
    if (options->gram) {
        TRY(read_matrix(context, options, wanted ? wanted->width : 0, &store));
        TRY(others ? widen(context, others, &made) : bare_table(context, store->text, &made));
        gram_objects *handed = store;
        store = NULL;
        TRY(set_store(context, made, handed));
    } else {
        made = others;
        others = NULL;
    }
    if (options->features || options->ignore) TRY(gram_table_select(context, made, options->features, options->ignore));
    *table = made;
    made = NULL;
done:
    gram_objects_release(store);
    gram_table_destroy(others);
    gram_table_destroy(made);
    return status;
}

/* ---- LIBSVM's precomputed format ---- */

/* The number of each row among the columns. */
static gram_status read_serials(gram_context *context, const gram_table *table, int64_t width, int64_t *which)
{
    gram_status status = GRAM_OK;
    char where[GRAM_WHERE_SIZE];
    for (int64_t i = 0; i < table->n; i++) {
        const double serial = table->numbers[i * table->d + width];
        FAIL_IF(!(serial >= 1 && serial <= (double)width) || serial != floor(serial), context, GRAM_ERROR_DATA,
                "%s '0:%g': the number of the row must be one of the %" PRId64 " columns",
                gram_table_where(table, i, where), serial, width);
        which[i] = (int64_t)serial - 1;
    }
done:
    return status;
}

gram_status gram_given_fold(gram_context *context, gram_table *table, int64_t width, const gram_table_options *options)
{
    gram_status status = GRAM_OK;
    double *value = NULL;
    int64_t *which = NULL;
    const int64_t n = table->n, d = table->d, label = d - 1, known = options->gram_rows;
    static const char names[] = "gram\0y";
    TRY(gram_take(context, "given matrix", n * width, sizeof *value, (void **)&value));
    TRY(gram_take(context, "given matrix", n, sizeof *which, (void **)&which));
    for (int64_t i = 0; i < n; i++) memcpy(value + i * width, table->numbers + i * d, (size_t)width * sizeof *value);
    if (known == 0) TRY(read_serials(context, table, width, which));
    const gram_given_matrix matrix = {.name = table->file,
                                      .rows = n,
                                      .width = width,
                                      .known = known ? known : width,
                                      .which = known ? NULL : which,
                                      .value = value};
    value = NULL;
    TRY(gram_given_create(context, &matrix, &table->given));
    if (known == 0) TRY(gram_given_symmetrise(context, table->given));
    for (int64_t i = 0; i < n; i++) {
        const double target = table->numbers[i * d + label];
        table->numbers[2 * i] = (double)i;
        table->numbers[2 * i + 1] = target;
    }
    /* names are kept: those of the two columns that are left stand where the first and the last one did */
    table->names[0] = names;
    table->names[1] = names + sizeof NAME;
    table->d = 2;
    table->marks[0] = GRAM_COLUMN_HAS_GIVEN;
    table->marks[1] = 0;
done:
    gram_give(context, value);
    gram_give(context, which);
    return status;
}

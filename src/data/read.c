/* Which reader for which file. */
#include <stdio.h>
#include <string.h>

#include "table.h"

/* A new format is a reader and a row. */
typedef struct format_row {
    gram_format format;
    const char *ending;
    gram_status (*read)(gram_context *context, gram_source *source, const gram_table_options *options,
                        gram_table *table);
} format_row;

static const format_row formats[] = {
    {GRAM_FORMAT_CSV, ".csv", gram_csv_read},
    {GRAM_FORMAT_TSV, ".tsv", gram_csv_read},
    {GRAM_FORMAT_NPY, ".npy", gram_npy_read},
};

enum { FORMATS = sizeof formats / sizeof *formats };

static const gram_table_options defaults = {.size = sizeof defaults};

void gram_table_options_init(gram_table_options *options, size_t size)
{
    if (!options) return;
    memset(options, 0, size);
    options->size = size;
}

/* ASCII only: tolower follows the locale. */
static int ends_with(const char *path, const char *ending)
{
    const size_t length = strlen(path), tail = strlen(ending);
    if (length <= tail) return 0;
    for (size_t i = 0; i < tail; i++) {
        const char c = path[length - tail + i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != ending[i]) return 0;
    }
    return 1;
}

static gram_status choose(gram_context *context, const char *path, const gram_table_options *options,
                          const format_row **row)
{
    gram_status status = GRAM_OK;
    gram_format format = options->format;
    FAIL_IF(options->size != sizeof *options, context, GRAM_ERROR_ARGUMENT,
            "table_read: options.size = %zu, gram_table_options_init was not called", options->size);
    if (format == GRAM_FORMAT_AUTO && strcmp(path, "-") == 0) format = GRAM_FORMAT_CSV;
    for (int i = 0; i < FORMATS; i++) {
        *row = &formats[i];
        if (format == GRAM_FORMAT_AUTO ? ends_with(path, formats[i].ending) : format == formats[i].format)
            return status;
    }
    FAIL_IF(format != GRAM_FORMAT_AUTO, context, GRAM_ERROR_ARGUMENT, "table_read: no format %d", (int)format);
    FAIL(context, GRAM_ERROR_DATA, "%s: its ending does not tell its format, as .csv, .tsv and .npy do", path);
done:
    return status;
}

static gram_status read_source(gram_context *context, const format_row *row, gram_source *source,
                               const gram_table_options *options, gram_table **table)
{
    gram_status status = GRAM_OK;
    gram_table *made = NULL;
    TRY(gram_table_create(context, source->name, &made));
    TRY(row->read(context, source, options, made));
    *table = made;
    made = NULL;
done:
    gram_table_destroy(made);
    return status;
}

gram_status gram_table_read(gram_context *context, const char *path, const gram_table_options *options,
                            gram_table **table)
{
    gram_status status = GRAM_OK;
    const format_row *row;
    gram_source source = {.descriptor = -1};
    if (!context || !path || !table) return GRAM_ERROR_ARGUMENT;
    *table = NULL;
    TRY(choose(context, path, options ? options : &defaults, &row));
    TRY(gram_source_open(context, path, &source));
    TRY(read_source(context, row, &source, options ? options : &defaults, table));
done:
    gram_source_close(&source);
    return status;
}

gram_status gram_table_read_memory(gram_context *context, const char *name, const void *bytes, size_t length,
                                   const gram_table_options *options, gram_table **table)
{
    gram_status status = GRAM_OK;
    const format_row *row;
    gram_source source;
    if (!context || !name || (!bytes && length > 0) || !table) return GRAM_ERROR_ARGUMENT;
    *table = NULL;
    TRY(choose(context, name, options ? options : &defaults, &row));
    gram_source_open_memory(name, bytes, length, &source);
    TRY(read_source(context, row, &source, options ? options : &defaults, table));
done:
    return status;
}

/* Which reader for which file, as a whole or by blocks. */
#include <stdio.h>
#include <string.h>

#include "base/ranks/collective.h"
#include "base/sized_struct.h"
#include "data/documents/document_tables.h"
#include "data/given/given_table.h"
#include "data/npz/npz_table.h"
#include "data/table.h"

/* A new format is a type and a row. */
typedef struct format_row {
    gram_format format;
    const char *ending;
    const gram_format_type *type;
} format_row;

static const format_row formats[] = {
    {GRAM_FORMAT_CSV, ".csv", &gram_csv_type},        {GRAM_FORMAT_TSV, ".tsv", &gram_csv_type},
    {GRAM_FORMAT_NPY, ".npy", &gram_npy_type},        {GRAM_FORMAT_LIBSVM, ".libsvm", &gram_libsvm_type},
    {GRAM_FORMAT_LIBSVM, ".svm", &gram_libsvm_type},  {GRAM_FORMAT_FASTA, ".fasta", &gram_fasta_type},
    {GRAM_FORMAT_FASTA, ".fa", &gram_fasta_type},     {GRAM_FORMAT_TEXT, ".txt", &gram_lines_type},
    {GRAM_FORMAT_NPZ, ".npz", &gram_npz_type},        {GRAM_FORMAT_SQLITE, ".sqlite", &gram_csv_type},
    {GRAM_FORMAT_SQLITE, ".sqlite3", &gram_csv_type}, {GRAM_FORMAT_SQLITE, ".db", &gram_csv_type},
};

enum { FORMATS = sizeof formats / sizeof *formats };

void gram_table_options_init(gram_table_options *options, size_t size)
{
    const gram_table_options defaults = {.format = GRAM_FORMAT_AUTO};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

/* Of text[0 .. length). ASCII only: tolower follows the locale. */
static int ends_with(const char *text, size_t length, const char *ending)
{
    const size_t tail = strlen(ending);
    if (length <= tail) return 0;
    for (size_t i = 0; i < tail; i++) {
        const char c = text[length - tail + i];
        if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != ending[i]) return 0;
    }
    return 1;
}

/* The length of a path without the query of a database. */
static size_t file_length(const char *path, gram_format format)
{
    const char *query = strchr(path, '?');
    const size_t length = query ? (size_t)(query - path) : strlen(path);
    if (query && format == GRAM_FORMAT_SQLITE) return length;
    for (int i = 0; i < FORMATS && query && format == GRAM_FORMAT_AUTO; i++)
        if (formats[i].format == GRAM_FORMAT_SQLITE && ends_with(path, length, formats[i].ending)) return length;
    return strlen(path);
}

static gram_status check_options(gram_context *context, const gram_table_options *options)
{
    gram_status status = GRAM_OK;
    FAIL_IF((unsigned)options->header > GRAM_HEADER_NO, context, GRAM_ERROR_ARGUMENT, "table_read: options.header = %d",
            (int)options->header);
    FAIL_IF((unsigned)options->text > GRAM_TEXT_CATEGORIES, context, GRAM_ERROR_ARGUMENT,
            "table_read: options.text = %d", (int)options->text);
    FAIL_IF(options->wanted && options->wanted_count < 1, context, GRAM_ERROR_ARGUMENT,
            "table_read: options.wanted_count = %lld", (long long)options->wanted_count);
done:
    return status;
}

static gram_status read_options(gram_context *context, const gram_table_options *options, gram_table_options *known)
{
    gram_status status = GRAM_OK;
    gram_table_options_init(known, sizeof *known);
    TRY(gram_sized_read(context, "table_read", "options", "gram_table_options", options, known, sizeof *known));
    TRY(check_options(context, known));
done:
    return status;
}

/* Reads the caller's options into `known` and finds the format. */
static gram_status choose(gram_context *context, const char *path, const gram_table_options *options,
                          gram_table_options *known, const gram_format_type **type)
{
    gram_status status = GRAM_OK;
    TRY(read_options(context, options, known));
    gram_format format = known->format;
    size_t length = file_length(path, format);
    if (format == GRAM_FORMAT_AUTO && strcmp(path, "-") == 0) format = GRAM_FORMAT_CSV;
    if (ends_with(path, length, ".gz")) length -= strlen(".gz");
    for (int i = 0; i < FORMATS; i++) {
        *type = formats[i].type;
        if (format == GRAM_FORMAT_AUTO ? !ends_with(path, length, formats[i].ending) : format != formats[i].format)
            continue;
        known->format = formats[i].format;
        if (known->format == GRAM_FORMAT_SQLITE) known->header = GRAM_HEADER_YES; /* as query_rows.h writes it */
        return status;
    }
    FAIL_IF(format != GRAM_FORMAT_AUTO, context, GRAM_ERROR_ARGUMENT, "table_read: no format %d", (int)format);
    FAIL(context, GRAM_ERROR_DATA,
         "%s: its ending does not tell its format, as .csv, .tsv, .npy, .npz, .libsvm, .sqlite, .fasta and .txt do",
         path);
done:
    return status;
}

/* ---- as a whole ---- */

static gram_status read_by_filling(gram_context *context, const gram_format_type *type, gram_source *source,
                                   const gram_table_options *options, gram_table *table)
{
    gram_status status = GRAM_OK;
    void *state = NULL;
    TRY(type->open(context, source, options, table, &state));
    TRY(type->fill(context, state, INT64_MAX));
done:
    type->close(state);
    return status;
}

static gram_status read_source(gram_context *context, const gram_format_type *type, gram_source *source,
                               const gram_table_options *options, gram_table **table)
{
    gram_status status = GRAM_OK;
    gram_table *made = NULL;
    TRY(gram_table_create(context, gram_source_name(source), &made));
    TRY(type->read ? type->read(context, source, options, made)
                   : read_by_filling(context, type, source, options, made));
    TRY(gram_table_check_graphs(context, made));
    *table = made;
    made = NULL;
done:
    gram_table_destroy(made);
    return status;
}

/* Must a source that cannot be rewound be kept, because it may be read twice? */
static int is_read_twice(const gram_format_type *type, const gram_table_options *options)
{
    return type == &gram_libsvm_type || (type == &gram_csv_type && options->text == GRAM_TEXT_CATEGORIES);
}

/* Ranks must have read the same: sizes, names, numbers. Levels of text are numbers, places in a sorted list, and names. */
static gram_status compare_ranks(gram_context *context, const char *name, const gram_table *table)
{
    const int64_t sizes[2] = {table->n, table->d};
    uint64_t hash = gram_ranks_hash(0, sizes, sizeof sizes);
    if (gram_ranks(context) == 1) return GRAM_OK;
    for (int64_t j = 0; j < table->d; j++) {
        const int64_t levels = table->levels[j] ? gram_levels_count(table->levels[j]) : 0;
        hash = gram_ranks_hash(hash, table->names[j], strlen(table->names[j]));
        for (int64_t k = 0; k < levels; k++)
            hash =
                gram_ranks_hash(hash, gram_levels_text(table->levels[j], k), gram_levels_length(table->levels[j], k));
    }
    const int64_t numbers = table->n * gram_table_own_columns(table);
    return gram_ranks_compare(context, name,
                              gram_ranks_hash(hash, table->numbers, (size_t)numbers * sizeof *table->numbers));
}

/* For whichever format was chosen. */
static gram_status open_source(gram_context *context, const char *path, const gram_table_options *known, int seekable,
                               gram_source **source)
{
    gram_status status = GRAM_OK;
    char *file = NULL;
    if (known->format != GRAM_FORMAT_SQLITE) return gram_source_open(context, path, seekable, source);
    const size_t length = file_length(path, GRAM_FORMAT_SQLITE);
    TRY(gram_take(context, "reading", (int64_t)length + 1, 1, (void **)&file));
    memcpy(file, path, length);
    file[length] = '\0';
    TRY(gram_source_open_query(context, file, path[length] ? path + length + 1 : NULL, source));
done:
    gram_give(context, file);
    return status;
}

gram_status gram_table_read(gram_context *context, const char *path, const gram_table_options *options,
                            gram_table **table)
{
    gram_status status = GRAM_OK;
    const gram_format_type *type;
    gram_table_options known;
    gram_source *source = NULL;
    if (!context || !table) return GRAM_ERROR_ARGUMENT;
    *table = NULL;
    TRY(read_options(context, options, &known));
    if (gram_table_wants_given(&known)) return gram_given_table_read(context, path, &known, table);
    if (!path) return GRAM_ERROR_ARGUMENT;
    TRY(choose(context, path, options, &known, &type));
    TRY(open_source(context, path, &known, is_read_twice(type, &known), &source));
    TRY(read_source(context, type, source, &known, table));
    TRY(compare_ranks(context, gram_source_name(source), *table));
done:
    if (status < 0) {
        gram_table_destroy(*table);
        *table = NULL;
    }
    gram_source_close(source);
    return status;
}

gram_status gram_table_read_memory(gram_context *context, const char *name, const void *bytes, size_t length,
                                   const gram_table_options *options, gram_table **table)
{
    gram_status status = GRAM_OK;
    const gram_format_type *type;
    gram_table_options known;
    gram_source *source = NULL;
    if (!context || !name || (!bytes && length > 0) || !table) return GRAM_ERROR_ARGUMENT;
    *table = NULL;
    TRY(choose(context, name, options, &known, &type));
    TRY(gram_source_open_memory(context, name, bytes, length, &source));
    TRY(read_source(context, type, source, &known, table));
done:
    gram_source_close(source);
    return status;
}

/* ---- by blocks ---- */

struct gram_reader {
    gram_memory *memory;
    const gram_format_type *type;
    gram_table_options known;
    gram_source *source;
    gram_table *table;
    void *state;
    int failed;
};

void gram_reader_close(gram_reader *reader)
{
    if (!reader) return;
    gram_memory *memory = reader->memory;
    reader->type->close(reader->state);
    gram_table_destroy(reader->table);
    gram_source_close(reader->source);
    gram_memory_give(memory, reader);
    gram_memory_release(memory);
}

/* Takes the source, also when it fails. */
static gram_status open_reader(gram_context *context, const gram_format_type *type, gram_source *source,
                               const gram_table_options *options, gram_reader **reader)
{
    gram_status status = GRAM_OK;
    gram_reader *made = NULL;
    status = gram_take(context, "reading", 1, sizeof *made, (void **)&made);
    if (status < 0) {
        gram_source_close(source);
        return status;
    }
    *made = (gram_reader){.memory = gram_memory_retain(context->memory), .type = type, .source = source};
    FAIL_IF(options->text == GRAM_TEXT_CATEGORIES && !options->wanted && type == &gram_libsvm_type, context,
            GRAM_ERROR_ARGUMENT, "reader_open: options.text: the columns of LIBSVM's text must be told");
    TRY(gram_table_create(context, gram_source_name(source), &made->table));
    TRY(type->open(context, source, options, made->table, &made->state));
    *reader = made;
    made = NULL;
done:
    gram_reader_close(made);
    return status;
}

gram_status gram_reader_open(gram_context *context, const char *path, const gram_table_options *options,
                             gram_reader **reader)
{
    gram_status status = GRAM_OK;
    const gram_format_type *type;
    gram_table_options known;
    gram_source *source = NULL;
    if (!context || !path || !reader) return GRAM_ERROR_ARGUMENT;
    *reader = NULL;
    TRY(choose(context, path, options, &known, &type));
    TRY(open_source(context, path, &known, is_read_twice(type, &known) && !known.wanted, &source));
    TRY(open_reader(context, type, source, &known, reader));
done:
    return status;
}

gram_status gram_reader_open_memory(gram_context *context, const char *name, const void *bytes, size_t length,
                                    const gram_table_options *options, gram_reader **reader)
{
    gram_status status = GRAM_OK;
    const gram_format_type *type;
    gram_table_options known;
    gram_source *source = NULL;
    if (!context || !name || (!bytes && length > 0) || !reader) return GRAM_ERROR_ARGUMENT;
    *reader = NULL;
    TRY(choose(context, name, options, &known, &type));
    TRY(gram_source_open_memory(context, name, bytes, length, &source));
    TRY(open_reader(context, type, source, &known, reader));
done:
    return status;
}

/* The rows of the last block are done with. */
static void empty_table(gram_table *table)
{
    table->first_row += table->n;
    table->n = 0;
    for (int64_t i = 0; i < table->d; i++)
        if (table->levels[i]) gram_levels_clear(table->levels[i]);
}

int64_t gram_reader_restarts(const gram_reader *reader)
{
    return reader->table->restarts;
}

gram_status gram_reader_skip(gram_context *context, gram_reader *reader, int64_t rows, int64_t *skipped)
{
    gram_status status = GRAM_OK;
    const gram_table *table = NULL;
    *skipped = 0;
    if (reader->type->skip) {
        empty_table(reader->table);
        status = reader->type->skip(context, reader->state, rows, skipped);
        reader->table->first_row += *skipped;
        reader->failed = status < 0;
        return status;
    }
    TRY(gram_reader_next(context, reader, rows, &table));
    if (table) *skipped = table->n;
done:
    return status;
}

gram_status gram_reader_next(gram_context *context, gram_reader *reader, int64_t rows, const gram_table **table)
{
    gram_status status = GRAM_OK;
    if (!context || !reader || !table) return GRAM_ERROR_ARGUMENT;
    *table = NULL;
    FAIL_IF(rows < 1, context, GRAM_ERROR_ARGUMENT, "reader_next: rows = %lld", (long long)rows);
    FAIL_IF(reader->failed, context, GRAM_ERROR_ARGUMENT, "reader_next: the reader has failed before");
    const int64_t restarts = reader->table->restarts;
    empty_table(reader->table);
    status = reader->type->fill(context, reader->state, rows);
    if (reader->table->restarts != restarts) reader->table->first_row = 0;
    reader->failed = status < 0;
    if (status < 0) return status;
    FAIL_IF(reader->table->n == 0 && reader->table->first_row == 0, context, GRAM_ERROR_DATA, "%s: no rows%s",
            reader->table->file, reader->table->named ? " after the header" : "");
    if (reader->table->n > 0) *table = reader->table;
done:
    return status;
}

/* A table from LIBSVM's text: one line for each row, `label index:value index:value ... # comment`.
 *
 * Indices count from 1 and ascend; what is not named is 0. The columns are x1 .. xd, d being the greatest index of the
 * file, and y, the label, last. As a whole the file is read twice: d is known at its end only. When the columns are given
 * by name (options.wanted) once is enough, and an index that the file does not have is a column of zeros: a sparse file
 * leaves out what is 0.
 *
 * Where few of the numbers are not 0, they alone can be kept (options.sparse): the columns then are x, which holds the rows, and y.
 *
 * LIBSVM's precomputed format has `0:i` first on every line, i being the number of the row, and after it row i of a kernel's matrix: the columns are gram, which
 * holds its rows, and y. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/text.h>

#include "data/csv/csv_stream.h"
#include "data/given/given_table.h"

enum { MOST_INDICES = 1 << 24, NAME_SIZE = 24 };

typedef struct svm_reader {
    gram_csv lines; /* its buffer and records; it knows no quotes */
    gram_table *table;
    int64_t width;          /* indices 1 .. width have a place */
    int64_t *place;         /* column of the table of index i + 1, -1 if it is left out */
    int64_t label;          /* column of the label, -1 if it is left out */
    int64_t greatest, seen; /* index; values of all rows */
    int keep_missing;
    int may_be_given; /* may lines begin with 0:i? */
    int64_t serial;   /* column of these numbers, -1: lines do not begin so, or that is not known yet */
    int64_t lines_seen;
    char *names; /* of the columns, while they are made */
    /* sparse rows: their column, -1 if there is none, and what was read of the present block */
    int64_t sparse, rows, row_room, room, count;
    int64_t *start;
    int32_t *index;
    double *value;
} svm_reader;

typedef struct token {
    const char *text;
    size_t length;
} token;

static int is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next token of text[*at .. length), without length at the end. */
static token next_token(const gram_csv_record *line, size_t *at)
{
    while (*at < line->length && is_space(line->text[*at])) ++*at;
    const size_t start = *at;
    while (*at < line->length && !is_space(line->text[*at]) && line->text[*at] != '#') ++*at;
    return (token){line->text + start, *at - start};
}

static gram_status fail_at(const svm_reader *reader, token t, const char *what)
{
    char text[GRAM_EXCERPT_SIZE];
    return gram_fail(reader->lines.context, GRAM_ERROR_DATA, "%s:%" PRId64 ": %s: '%s'", reader->table->file,
                     reader->lines.line, what, gram_data_excerpt(t.text, t.length, text));
}

/* A number, or what stands for a missing one if that is kept. */
static gram_status read_value(const svm_reader *reader, token whole, token t, double *value)
{
    const gram_csv_field field = {t.text, t.length, 0};
    static const gram_field_rules plain = {0};
    const gram_field_kind kind = gram_field_read(&plain, &field, value);
    if (kind == GRAM_FIELD_NUMBER) return GRAM_OK;
    if (kind == GRAM_FIELD_TEXT || kind == GRAM_FIELD_DATE || t.length == 0)
        return fail_at(reader, whole, "not a number");
    if (reader->keep_missing) return GRAM_OK;
    return fail_at(reader, whole, kind == GRAM_FIELD_INFINITE ? "not a finite number" : "missing value");
}

/* The index of "7:0.5"; *value gets the text after the colon. */
static gram_status read_index(const svm_reader *reader, token pair, int64_t *index, token *value)
{
    const char *colon = memchr(pair.text, ':', pair.length);
    const size_t digits = colon ? (size_t)(colon - pair.text) : 0;
    *index = 0;
    for (size_t i = 0; i < digits; i++) {
        const char c = pair.text[i];
        if (c < '0' || c > '9') return fail_at(reader, pair, "not an index and a value, as in 7:0.5");
        if (*index <= MOST_INDICES) *index = 10 * *index + (c - '0');
    }
    if (digits == 0) return fail_at(reader, pair, "not an index and a value, as in 7:0.5");
    if (*index > MOST_INDICES) return fail_at(reader, pair, "the index is too large for a column");
    *value = (token){colon + 1, pair.length - digits - 1};
    return GRAM_OK;
}

/* ---- sparse rows ---- */

static gram_status grow(svm_reader *reader, int64_t count, int64_t room, size_t size, void **array)
{
    void *more = NULL;
    const gram_status status =
        gram_take_from(reader->lines.context, reader->table->memory, "libsvm: sparse rows", room, size, &more);
    if (status < 0) return status;
    if (count > 0) memcpy(more, *array, (size_t)count * size);
    gram_memory_give(reader->table->memory, *array);
    *array = more;
    return status;
}

static gram_status add_value(svm_reader *reader, int64_t index, double value)
{
    gram_status status = GRAM_OK;
    if (index > reader->width || value == 0) return status;
    if (reader->count == reader->room) {
        const int64_t room = reader->room + reader->room / 2 + 4096;
        TRY(grow(reader, reader->count, room, sizeof *reader->index, (void **)&reader->index));
        TRY(grow(reader, reader->count, room, sizeof *reader->value, (void **)&reader->value));
        reader->room = room;
    }
    reader->index[reader->count] = (int32_t)(index - 1);
    reader->value[reader->count++] = value;
done:
    return status;
}

static gram_status end_row(svm_reader *reader)
{
    gram_status status = GRAM_OK;
    if (reader->rows + 1 >= reader->row_room) {
        const int64_t room = reader->row_room + reader->row_room / 2 + 1024;
        TRY(grow(reader, reader->rows > 0 ? reader->rows + 1 : 0, room, sizeof *reader->start,
                 (void **)&reader->start));
        reader->row_room = room;
    }
    if (reader->rows == 0) reader->start[0] = 0;
    reader->start[++reader->rows] = reader->count;
done:
    return status;
}

/* The rows of a block become the table's store, which has the arrays from now on. */
static gram_status hand_over(svm_reader *reader)
{
    gram_status status = GRAM_OK;
    gram_table *table = reader->table;
    if (reader->sparse < 0 || reader->rows == 0) return status;
    gram_objects shape = {.kind = GRAM_OBJECT_SPARSE,
                          .count = reader->rows,
                          .d = reader->width,
                          .start = reader->start,
                          .index = reader->index,
                          .value = reader->value,
                          .own = {reader->start, reader->index, reader->value}};
    reader->start = NULL;
    reader->index = NULL;
    reader->value = NULL;
    reader->rows = reader->row_room = reader->room = reader->count = 0;
    gram_objects_release(table->sparse);
    table->sparse = NULL;
    TRY(gram_objects_new(reader->lines.context, &shape, &table->sparse));
done:
    return status;
}

/* 0:i must be first, on every line or on none. */
static gram_status take_serial(svm_reader *reader, token pair, int64_t before, double value, double *row)
{
    if (!reader->may_be_given) return fail_at(reader, pair, "indices count from 1");
    if (before > 0) return fail_at(reader, pair, "the indices do not ascend");
    if (value < 1 || value != floor(value) || (reader->lines_seen > 0 && reader->serial < 0))
        return fail_at(reader, pair,
                       "indices count from 1; 0:i, first on every line, is the number of a row of a given matrix");
    if (reader->serial < 0) reader->serial = 0;
    if (row) row[reader->serial] = value;
    return GRAM_OK;
}

/* One line into a row, or only checked if row is NULL. */
static gram_status parse_line(svm_reader *reader, const gram_csv_record *line, double *row)
{
    gram_status status = GRAM_OK;
    size_t at = 0;
    double value;
    int64_t before = 0, numbers = 0;
    const token label = next_token(line, &at);
    if (memchr(label.text, ':', label.length)) return fail_at(reader, label, "the label is missing");
    TRY(read_value(reader, label, label, &value));
    for (int64_t j = 0; row && j < reader->table->d; j++) row[j] = 0;
    if (row && reader->label >= 0) row[reader->label] = value;
    for (;;) {
        const token pair = next_token(line, &at);
        token digits;
        int64_t index;
        if (pair.length == 0) break;
        TRY(read_index(reader, pair, &index, &digits));
        if (index > 0 && index <= before) return fail_at(reader, pair, "the indices do not ascend");
        TRY(read_value(reader, pair, digits, &value));
        if (index == 0) {
            TRY(take_serial(reader, pair, numbers++ ? 1 : before, value, row));
            continue;
        }
        before = index;
        reader->seen++;
        if (row && reader->sparse >= 0)
            TRY(add_value(reader, index, value));
        else if (row && index <= reader->width && reader->place[index - 1] >= 0)
            row[reader->place[index - 1]] = value;
    }
    if (row && reader->sparse >= 0) {
        row[reader->sparse] = (double)reader->rows;
        TRY(end_row(reader));
    }
    if (before > reader->greatest) reader->greatest = before;
    if (reader->serial >= 0 && numbers == 0)
        return fail_at(reader, label, "no number of the row, 0:i, after the label");
    reader->lines_seen++;
done:
    return status;
}

static gram_status fill_svm(gram_context *context, void *state, int64_t most)
{
    gram_status status = GRAM_OK;
    svm_reader *reader = state;
    gram_table *table = reader->table;
    gram_csv_record line;
    reader->lines.context = context;
    while (table->n < most) {
        TRY(gram_csv_take(&reader->lines, &line));
        if (!line.text) break;
        if (table->n == table->row_capacity) {
            const int64_t rows = table->n + table->n / 2 + 1000;
            TRY(gram_table_reserve(context, table, rows < most ? rows : most));
        }
        TRY(parse_line(reader, &line, table->numbers + table->n * table->d));
        TRY(gram_table_note_line(context, table, table->n, reader->lines.line));
        table->n++;
    }
    TRY(hand_over(reader));
    TRY(gram_table_numbers_to_text(context, table));
done:
    return status;
}

/* ---- columns ---- */

static gram_status take_places(svm_reader *reader, int64_t width)
{
    gram_status status = GRAM_OK;
    TRY(gram_take_from(reader->lines.context, reader->table->memory, "libsvm: columns", width, sizeof *reader->place,
                       (void **)&reader->place));
    reader->width = width;
    for (int64_t i = 0; i < width; i++) reader->place[i] = -1;
done:
    return status;
}

/* The index of a column called x7, 0 if that is not its name. */
static int64_t index_of(const char *name)
{
    int64_t index = 0;
    if (name[0] != 'x' || name[1] < '1' || name[1] > '9') return 0;
    for (const char *c = name + 1; *c; c++) {
        if (*c < '0' || *c > '9' || index > MOST_INDICES) return 0;
        index = 10 * index + (*c - '0');
    }
    return index <= MOST_INDICES ? index : 0;
}

static gram_status take_names(svm_reader *reader, int64_t bytes)
{
    return gram_take_from(reader->lines.context, reader->table->memory, "libsvm: columns", bytes, 1,
                          (void **)&reader->names);
}

/* All indices up to the greatest, then the label. */
static gram_status name_all(svm_reader *reader)
{
    gram_status status = GRAM_OK;
    const int64_t width = reader->greatest;
    size_t size = 0;
    TRY(take_places(reader, width));
    TRY(take_names(reader, (width + 1) * NAME_SIZE));
    for (int64_t i = 0; i < width; i++) {
        reader->place[i] = i;
        size += 1 + (size_t)snprintf(reader->names + size, NAME_SIZE, "x%" PRId64, i + 1);
    }
    memcpy(reader->names + size, "y", 2);
    reader->label = width;
    TRY(gram_table_set_names(reader->lines.context, reader->table, width + 1, reader->names, size + 2));
done:
    return status;
}

/* A row of the matrix, its number, and the label. */
static gram_status name_given(svm_reader *reader, int64_t known)
{
    gram_status status = GRAM_OK;
    const int64_t width = reader->greatest > known ? reader->greatest : known;
    TRY(take_places(reader, width));
    for (int64_t i = 0; i < width; i++) reader->place[i] = i;
    TRY(gram_table_set_names(reader->lines.context, reader->table, width + 2, NULL, 0));
    reader->serial = width;
    reader->label = width + 1;
done:
    return status;
}

/* The rows as they are, then the label. */
static gram_status name_sparse(svm_reader *reader, int64_t width)
{
    gram_status status = GRAM_OK;
    reader->width = width;
    reader->sparse = 0;
    reader->label = 1;
    TRY(gram_table_set_names(reader->lines.context, reader->table, 2, "x\0y", 4));
    reader->table->marks[0] |= GRAM_COLUMN_HAS_SPARSE;
done:
    return status;
}

/* Do the lists of columns name none but x and y, which sparse rows have? */
static int is_named(const gram_table_options *options)
{
    return (!options->features || strcmp(options->features, "x") == 0 || strcmp(options->features, "x,y") == 0) &&
           (!options->ignore || strcmp(options->ignore, "y") == 0);
}

/* Is a quarter of the numbers 0, or more, and are there so many columns that it matters? */
static int is_worth(const svm_reader *reader, int64_t rows)
{
    enum { FEW_COLUMNS = 64, SHARE = 4 };
    return reader->greatest > FEW_COLUMNS && (double)reader->seen * SHARE < (double)rows * (double)reader->greatest;
}

/* The wanted columns: x7 is index 7, y the label, and the file has no others. */
static gram_status name_wanted(svm_reader *reader, const gram_table_options *options)
{
    gram_status status = GRAM_OK;
    gram_context *context = reader->lines.context;
    int64_t width = 0, bytes = 0, d = 0;
    size_t size = 0;
    for (int64_t i = 0; i < options->wanted_count; i++)
        if (options->wanted[i].kind == GRAM_COLUMN_SPARSE) return name_sparse(reader, options->wanted[i].width);
    for (int64_t i = 0; i < options->wanted_count; i++) {
        const int64_t index = index_of(options->wanted[i].name);
        width = index > width ? index : width;
        bytes += (int64_t)strlen(options->wanted[i].name) + 1;
    }
    TRY(take_places(reader, width));
    TRY(take_names(reader, bytes));
    for (int64_t i = 0; i < options->wanted_count; i++) {
        const char *name = options->wanted[i].name;
        const int64_t index = index_of(name), is_label = strcmp(name, "y") == 0;
        if (index == 0 && !is_label && options->wanted[i].optional) continue;
        FAIL_IF(index == 0 && !is_label, context, GRAM_ERROR_DATA,
                "%s: no column '%s', which is needed; LIBSVM's text has x1, x2, ... and y", reader->table->file, name);
        if (is_label)
            reader->label = d;
        else
            reader->place[index - 1] = d;
        d++;
        memcpy(reader->names + size, name, strlen(name) + 1);
        size += strlen(name) + 1;
    }
    FAIL_IF(d == 0, context, GRAM_ERROR_DATA, "%s: no column is left", reader->table->file);
    TRY(gram_table_set_names(context, reader->table, d, reader->names, size));
    for (int64_t i = 0; i < options->wanted_count; i++) {
        const int64_t column = gram_table_column(reader->table, options->wanted[i].name);
        if (column >= 0 && options->wanted[i].text) TRY(gram_table_make_text(context, reader->table, column));
    }
done:
    return status;
}

/* Looks at all lines: the greatest index, and room for as many rows. */
static gram_status look_at_lines(svm_reader *reader, int64_t *rows)
{
    gram_status status = GRAM_OK;
    gram_csv_record line;
    for (*rows = 0;; ++*rows) {
        TRY(gram_csv_take(&reader->lines, &line));
        if (!line.text) break;
        TRY(parse_line(reader, &line, NULL));
    }
    FAIL_IF(*rows == 0, reader->lines.context, GRAM_ERROR_DATA, "%s: the file is empty", reader->table->file);
    FAIL_IF(reader->greatest == 0, reader->lines.context, GRAM_ERROR_DATA, "%s: no line has an index and a value",
            reader->table->file);
done:
    return status;
}

/* ---- opening and closing ---- */

static void close_svm(void *state)
{
    svm_reader *reader = state;
    if (!reader) return;
    gram_memory *memory = reader->table->memory;
    gram_csv_end(&reader->lines);
    gram_memory_give(memory, reader->names);
    gram_memory_give(memory, reader->place);
    gram_memory_give(memory, reader->start);
    gram_memory_give(memory, reader->index);
    gram_memory_give(memory, reader->value);
    gram_memory_give(memory, reader);
}

static gram_status start(gram_context *context, gram_source *source, const gram_table_options *options,
                         gram_table *table, svm_reader **reader)
{
    gram_status status = GRAM_OK;
    TRY(gram_take_from(context, table->memory, "libsvm: reading", 1, sizeof **reader, (void **)reader));
    **reader =
        (svm_reader){.table = table, .label = -1, .sparse = -1, .serial = -1, .keep_missing = options->keep_missing};
    table->named = 1;
    TRY(gram_csv_start(context, source, table, &gram_csv_usual_sizes, &(*reader)->lines));
    (*reader)->lines.layout.delimiter = '\0';
done:
    return status;
}

static gram_status open_svm(gram_context *context, gram_source *source, const gram_table_options *options,
                            gram_table *table, void **state)
{
    gram_status status = GRAM_OK;
    svm_reader *reader = NULL;
    FAIL_IF(!options->wanted, context, GRAM_ERROR_ARGUMENT,
            "reader_open: options.wanted: the columns of LIBSVM's text must be given");
    status = start(context, source, options, table, &reader);
    *state = reader;
    if (status == GRAM_OK) TRY(name_wanted(reader, options));
done:
    return status;
}

static gram_status read_svm(gram_context *context, gram_source *source, const gram_table_options *options,
                            gram_table *table)
{
    gram_status status = GRAM_OK;
    svm_reader *reader = NULL;
    int64_t rows;
    TRY(start(context, source, options, table, &reader));
    reader->may_be_given = !options->wanted && (options->sparse || options->gram_rows > 0);
    TRY(look_at_lines(reader, &rows));
    TRY(options->wanted                                                  ? name_wanted(reader, options)
        : reader->serial >= 0                                            ? name_given(reader, options->gram_rows)
        : options->sparse && is_named(options) && is_worth(reader, rows) ? name_sparse(reader, reader->greatest)
                                                                         : name_all(reader));
    TRY(gram_csv_again(&reader->lines, 0, 0));
    TRY(gram_table_reserve(context, table, rows));
    TRY(fill_svm(context, reader, INT64_MAX));
    if (reader->serial >= 0) TRY(gram_given_fold(context, table, reader->width, options));
    if (!options->wanted) {
        TRY(gram_table_apply_options(context, table, options));
        TRY(gram_table_numbers_to_text(context, table));
    }
done:
    close_svm(reader);
    return status;
}

const gram_format_type gram_libsvm_type = {open_svm, fill_svm, close_svm, read_svm, NULL};

#include "data/csv/csv_row.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include <gram/table.h>

#include "base/compiler.h"
#include "base/text/number.h"

static int read_level(const gram_csv_layout *layout, const gram_csv_field *field, int64_t column, double *cell,
                      gram_csv_fault *fault)
{
    char plain[GRAM_LONGEST_LEVEL];
    double unused;
    int64_t slot;
    const char *text = field->text;
    size_t length = field->length;
    *cell = NAN;
    if (gram_field_read(&layout->rules, field, &unused) == GRAM_FIELD_MISSING) {
        *fault = (gram_csv_fault){.kind = GRAM_FAULT_FIELD, .column = column, .field = *field};
        fault->found = GRAM_FIELD_MISSING;
        return layout->keep_missing;
    }
    if (memchr(text, '\0', length)) {
        *fault = (gram_csv_fault){.kind = GRAM_FAULT_ZERO, .column = column};
        return 0;
    }
    if (field->quoted && length <= sizeof plain) {
        length = gram_csv_unquote(field, plain);
        text = plain;
    }
    *fault = (gram_csv_fault){.kind = GRAM_FAULT_MEMORY};
    fault->status = gram_levels_insert(layout->levels[column], text, length, &slot);
    if (slot >= 0) *cell = (double)slot;
    return fault->status == GRAM_OK;
}

/* A field of a column of numbers or dates; what is not of its kind is text. */
static gram_field_kind read_number(const gram_csv_layout *layout, const gram_csv_field *field, int64_t column,
                                   double *cell)
{
    const gram_field_kind kind = gram_field_read(&layout->rules, field, cell);
    const int date = gram_table_column_is_date(layout->table, column);
    if (kind == GRAM_FIELD_DATE) return date ? GRAM_FIELD_NUMBER : GRAM_FIELD_TEXT;
    return date && (kind == GRAM_FIELD_NUMBER || kind == GRAM_FIELD_INFINITE) ? GRAM_FIELD_TEXT : kind;
}

/* A text among numbers: counted, and kept once. In a second reading it is known. */
static gram_status note_text(const gram_csv_layout *layout, const gram_csv_field *field, int64_t column, double *cell)
{
    *cell = gram_odd_cell();
    if (!layout->found) return GRAM_OK;
    atomic_int *count = &layout->found[column].texts;
    if (atomic_load_explicit(count, memory_order_relaxed) < INT_MAX / 2)
        atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
    return layout->words ? gram_odd_words_add(layout->words, layout->table->names[column], field->text, field->length)
                         : GRAM_OK;
}

static int read_cell(const gram_csv_layout *layout, const gram_csv_field *field, int64_t column, double *cell,
                     gram_csv_fault *fault)
{
    if (layout->levels[column]) return read_level(layout, field, column, cell, fault);
    const gram_field_kind kind = read_number(layout, field, column, cell);
    if (kind == GRAM_FIELD_NUMBER) return 1;
    if (layout->found && kind == GRAM_FIELD_MARK) {
        atomic_store_explicit(&layout->found[column].marks, 1, memory_order_relaxed);
        return 1;
    }
    if (kind == GRAM_FIELD_TEXT && (layout->found || layout->table->marks[column] & GRAM_COLUMN_ODD)) {
        *fault = (gram_csv_fault){.kind = GRAM_FAULT_MEMORY, .status = note_text(layout, field, column, cell)};
        return fault->status == GRAM_OK;
    }
    if (kind != GRAM_FIELD_TEXT && layout->keep_missing) return 1;
    *fault = (gram_csv_fault){.kind = GRAM_FAULT_FIELD, .column = column, .field = *field, .found = kind};
    if (kind == GRAM_FIELD_MARK) fault->found = GRAM_FIELD_MISSING;
    return 0;
}

int gram_csv_parse(const gram_csv_layout *layout, const char *text, size_t length, double *row, gram_csv_fault *fault)
{
    gram_csv_cursor cursor = {.text = text, .length = length, .delimiter = layout->delimiter};
    gram_csv_field field;
    gram_csv_result result;
    int64_t count = 0;
    while ((result = gram_csv_next(&cursor, &field)) == GRAM_CSV_FIELD && count < layout->fields) {
        const int64_t place = layout->place[count++];
        if (place >= 0 && !read_cell(layout, &field, place, &row[place], fault)) return 0;
    }
    *fault = (gram_csv_fault){.kind = GRAM_FAULT_NONE};
    if (result == GRAM_CSV_BAD_QUOTE) fault->kind = GRAM_FAULT_QUOTE;
    if (result == GRAM_CSV_FIELD || (result == GRAM_CSV_END && count < layout->fields)) {
        fault->kind = GRAM_FAULT_COUNT;
        fault->count = gram_csv_count(text, length, layout->delimiter);
    }
    return fault->kind == GRAM_FAULT_NONE;
}

/* Where the unquoted field at text[at] ends; `length` if that needs a closer look, as at a return that does not end the
 * line: it belongs to the field, and half of a text would be a level that no row has. */
static size_t field_end(const char *text, size_t length, size_t at, char delimiter)
{
    for (; at < length; at++) {
        const char c = text[at];
        if (c == delimiter || c == '\n') return at;
        if (c == '\r') return at + 1 < length && text[at + 1] == '\n' ? at : length;
        if (c == '"') return length;
    }
    return length;
}

/* One field with nothing around it; returns where it ends, `length` if it is of another kind. */
GRAM_INLINE size_t parse_plain_field(const gram_csv_layout *layout, const char *text, size_t length, size_t at,
                                     int64_t place, double *row)
{
    if (place >= 0 && !layout->levels[place] && !gram_table_column_is_date(layout->table, place)) {
        const size_t taken = gram_number_read(text + at, length - at, &row[place]);
        return taken > 0 && isfinite(row[place]) ? at + taken : length;
    }
    const size_t end = field_end(text, length, at, layout->delimiter);
    if (place < 0 || end == length) return end;
    const gram_csv_field field = {text + at, end - at, 0};
    gram_csv_fault fault;
    if (end == at || (unsigned char)text[at] <= ' ' || (unsigned char)text[end - 1] <= ' ') return length;
    if (!layout->levels[place])
        return read_number(layout, &field, place, &row[place]) == GRAM_FIELD_NUMBER ? end : length;
    return read_level(layout, &field, place, &row[place], &fault) ? end : length;
}

size_t gram_csv_parse_plain(const gram_csv_layout *layout, const char *text, size_t length, double *row)
{
    const int64_t last = layout->fields - 1;
    size_t at = 0;
    if (layout->rules.missing || (length > 0 && text[0] == '#')) return 0;
    for (int64_t i = 0;; i++) {
        size_t end = parse_plain_field(layout, text, length, at, layout->place[i], row);
        if (end >= length) return 0;
        if (i == last) {
            if (text[end] == '\r') end++;
            return end < length && text[end] == '\n' ? end + 1 : 0;
        }
        if (text[end] != layout->delimiter) return 0;
        at = end + 1;
    }
}

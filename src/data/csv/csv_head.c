/* The head of delimited text: delimiter, header, columns and their types.
 *
 * Whether the first row is a header is decided by what stands below it, for which the first rows are looked at. A text
 * above numbers is a name. Where all texts stand above texts, a first row with a number in it is data, because names are
 * seldom numbers, and so is one that repeats itself or is repeated below, because names are not. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "data/csv/csv_stream.h"

enum { SAMPLE_ROWS = 100, NAME_ROOM = 24 };

/* What the first rows show of one column. */
typedef struct column_sample {
    gram_csv_field first;      /* of the first row */
    gram_field_kind kind;      /* of that */
    int numbers, dates, texts; /* below, how many */
    int grouped;               /* of the texts: numbers but for separators */
    int again;                 /* the first one's text is found below */
} column_sample;

static gram_csv_cursor cursor_of(const gram_csv *csv, const gram_csv_record *record)
{
    return (gram_csv_cursor){.text = record->text, .length = record->length, .delimiter = csv->layout.delimiter};
}

static int same(const gram_csv_field *a, const gram_csv_field *b)
{
    return a->length == b->length && (a->length == 0 || memcmp(a->text, b->text, a->length) == 0);
}

static void look_at_first(const gram_csv *csv, const gram_csv_record *record, column_sample *columns)
{
    gram_csv_cursor cursor = cursor_of(csv, record);
    double value;
    for (int64_t i = 0; i < csv->layout.fields; i++) {
        columns[i] = (column_sample){.numbers = 0};
        if (gram_csv_next(&cursor, &columns[i].first) != GRAM_CSV_FIELD) return;
        columns[i].kind = gram_field_read(&csv->layout.rules, &columns[i].first, &value);
    }
}

static void look_at_row(const gram_csv *csv, const gram_csv_record *record, column_sample *columns)
{
    gram_csv_cursor cursor = cursor_of(csv, record);
    gram_csv_field field;
    double value;
    for (int64_t i = 0; i < csv->layout.fields && gram_csv_next(&cursor, &field) == GRAM_CSV_FIELD; i++) {
        const gram_field_kind kind = gram_field_read(&csv->layout.rules, &field, &value);
        columns[i].texts += kind == GRAM_FIELD_TEXT;
        columns[i].grouped += kind == GRAM_FIELD_TEXT && gram_field_is_grouped(&field);
        columns[i].dates += kind == GRAM_FIELD_DATE;
        columns[i].numbers += kind == GRAM_FIELD_NUMBER || kind == GRAM_FIELD_INFINITE;
        if ((kind == GRAM_FIELD_TEXT || kind == GRAM_FIELD_MARK) && same(&field, &columns[i].first))
            columns[i].again = 1;
    }
}

/* Do numbers have decimal commas? They do where the comma does not part fields, one of them stands in a number, no number
 * has a point, and not all of them may part thousands. */
static int has_decimal_commas(const gram_csv *csv)
{
    size_t at = 0;
    int commas = 0, points = 0, sure = 0, thousands;
    if (csv->layout.delimiter == ',') return 0;
    for (int row = 0; row <= SAMPLE_ROWS; row++) {
        const gram_csv_record record = gram_csv_peek(csv, &at);
        if (!record.text) break;
        gram_csv_cursor cursor = cursor_of(csv, &record);
        gram_csv_field field;
        double value;
        while (gram_csv_next(&cursor, &field) == GRAM_CSV_FIELD) {
            const int comma = gram_field_has_comma(&field, &thousands);
            commas += comma;
            sure |= comma && !thousands;
            points += memchr(field.text, '.', field.length) &&
                      gram_field_read(&csv->layout.rules, &field, &value) == GRAM_FIELD_NUMBER;
        }
    }
    return commas > 0 && sure && points == 0;
}

static void look_at_sample(const gram_csv *csv, column_sample *columns)
{
    size_t at = 0;
    gram_csv_record record = gram_csv_peek(csv, &at);
    look_at_first(csv, &record, columns);
    for (int row = 0; row < SAMPLE_ROWS; row++) {
        record = gram_csv_peek(csv, &at);
        if (!record.text) break;
        look_at_row(csv, &record, columns);
    }
}

/* Is a text of the first row there twice? All pairs, but not of very many. */
static int repeats(const column_sample *columns, int64_t count)
{
    const int64_t most = count < 1000 ? count : 1000;
    for (int64_t i = 0; i < most; i++)
        for (int64_t j = 0; j < i; j++)
            if (columns[i].kind == GRAM_FIELD_TEXT && same(&columns[i].first, &columns[j].first)) return 1;
    return 0;
}

static int is_header(const column_sample *columns, int64_t count)
{
    int text = 0, number = 0, again = 0;
    for (int64_t i = 0; i < count; i++) {
        const column_sample *c = &columns[i];
        if (c->kind == GRAM_FIELD_TEXT && c->numbers + c->dates > 0 && c->texts == 0) return 1;
        text |= c->kind == GRAM_FIELD_TEXT;
        number |= c->kind == GRAM_FIELD_NUMBER || c->kind == GRAM_FIELD_DATE || c->kind == GRAM_FIELD_INFINITE;
        again |= c->again;
    }
    return text && !number && !again && !repeats(columns, count);
}

/* ---- names ---- */

/* Writes the names one after the other, each with its final 0; a column without one is named after its place. */
static gram_status write_names(const gram_csv *csv, const gram_csv_record *record, char *text, size_t *size)
{
    gram_csv_cursor cursor = cursor_of(csv, record);
    gram_csv_field field;
    gram_csv_result result;
    int64_t column = 0;
    *size = 0;
    while ((result = gram_csv_next(&cursor, &field)) == GRAM_CSV_FIELD) {
        char *name = text + *size;
        size_t length = gram_csv_unquote(&field, name);
        column++;
        if (memchr(name, '\0', length))
            return gram_fail(csv->context, GRAM_ERROR_DATA,
                             "%s:%" PRId64 ": the name of column %" PRId64 " holds a zero byte",
                             gram_source_name(csv->source), csv->line, column);
        if (length == 0) length = (size_t)snprintf(name, NAME_ROOM, "x%" PRId64, column);
        name[length] = '\0';
        *size += length + 1;
    }
    const gram_csv_fault fault = {.kind = GRAM_FAULT_QUOTE};
    return result == GRAM_CSV_BAD_QUOTE ? gram_csv_report(csv, csv->line, &fault) : GRAM_OK;
}

static gram_status take_header(gram_csv *csv)
{
    gram_status status = GRAM_OK;
    gram_csv_record record;
    char *text = NULL;
    size_t size;
    TRY(gram_csv_take(csv, &record));
    const int64_t room = (int64_t)record.length + csv->layout.fields * NAME_ROOM;
    TRY(gram_take(csv->context, "csv: header", room, 1, (void **)&text));
    status = write_names(csv, &record, text, &size);
    if (status == GRAM_OK) status = gram_table_set_names(csv->context, csv->table, csv->layout.fields, text, size);
    gram_give(csv->context, text);
    csv->table->named = 1;
done:
    return status;
}

/* ---- columns ---- */

/* The first row counts if it is not the header. */
static void count_first(column_sample *columns, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        column_sample *c = &columns[i];
        c->numbers += c->kind == GRAM_FIELD_NUMBER || c->kind == GRAM_FIELD_INFINITE;
        c->dates += c->kind == GRAM_FIELD_DATE;
        c->texts += c->kind == GRAM_FIELD_TEXT;
        c->grouped += c->kind == GRAM_FIELD_TEXT && gram_field_is_grouped(&c->first);
    }
}

static void find_dates(gram_csv *csv, const column_sample *columns)
{
    for (int64_t i = 0; i < csv->layout.fields; i++)
        if (csv->place[i] >= 0 && columns[i].dates > columns[i].numbers + columns[i].texts)
            csv->table->marks[csv->place[i]] |= GRAM_COLUMN_DATE;
}

/* In the first rows, is it text? A few texts among numbers are looked at again when all rows are known. */
static int is_text(const column_sample *c, int odd_words)
{
    return odd_words ? c->texts > c->numbers + c->dates : c->texts > 0 || (c->numbers > 0 && c->dates > 0);
}

/* Which columns of numbers are text in the first rows. */
static gram_status guess_types(gram_csv *csv, const column_sample *columns, int odd_words)
{
    gram_status status = GRAM_OK;
    gram_table *table = csv->table;
    csv->columns = table->d;
    TRY(gram_take_from(csv->context, table->memory, "csv: columns", csv->columns, sizeof *csv->found,
                       (void **)&csv->found));
    for (int64_t i = 0; i < csv->columns; i++) {
        atomic_init(&csv->found[i].marks, 0);
        atomic_init(&csv->found[i].texts, 0);
    }
    csv->layout.found = csv->found;
    if (odd_words) TRY(gram_levels_create(csv->context, &table->words));
    csv->layout.words = table->words;
    for (int64_t i = 0; i < csv->layout.fields; i++) {
        const int64_t column = csv->place[i];
        if (column < 0 || table->levels[column] || !is_text(&columns[i], odd_words)) continue;
        TRY(gram_table_make_text(csv->context, table, column));
        table->marks[column] = odd_words && columns[i].grouped == columns[i].texts ? GRAM_COLUMN_GROUPED : 0;
    }
done:
    return status;
}

/* Of the columns of the file, which are the table's? */
static gram_status choose_fields(gram_csv *csv, const gram_table_options *options)
{
    gram_status status = GRAM_OK;
    int64_t *columns = NULL, count;
    const int64_t d = csv->layout.fields;
    TRY(gram_take_from(csv->context, csv->table->memory, "csv: columns", d, sizeof *csv->place, (void **)&csv->place));
    TRY(gram_take(csv->context, "csv: columns", d, sizeof *columns, (void **)&columns));
    TRY(gram_table_choose(csv->context, csv->table, options, columns, &count));
    for (int64_t i = 0; i < d; i++) csv->place[i] = -1;
    for (int64_t i = 0; i < count; i++) csv->place[columns[i]] = i;
    TRY(gram_table_keep_columns(csv->context, csv->table, columns, count));
    csv->layout.place = csv->place;
    csv->layout.levels = csv->table->levels;
    csv->layout.table = csv->table;
    csv->layout.keep_missing = options->keep_missing;
done:
    gram_give(csv->context, columns);
    return status;
}

static gram_status take_head(gram_csv *csv, const gram_table_options *options, column_sample *columns)
{
    gram_status status = GRAM_OK;
    csv->layout.rules.missing = options->missing_texts;
    csv->layout.rules.comma = has_decimal_commas(csv);
    look_at_sample(csv, columns);
    const int header = options->header == GRAM_HEADER_AUTO ? is_header(columns, csv->layout.fields)
                                                           : options->header == GRAM_HEADER_YES;
    if (!header) TRY(gram_table_set_names(csv->context, csv->table, csv->layout.fields, NULL, 0));
    if (!header) count_first(columns, csv->layout.fields);
    /* taking the header may move the buffer: the sample's fields are not looked at after */
    if (header) TRY(take_header(csv));
    TRY(choose_fields(csv, options));
    if (options->wanted) return status;
    find_dates(csv, columns);
    if (options->text == GRAM_TEXT_CATEGORIES) TRY(guess_types(csv, columns, options->odd_words));
done:
    return status;
}

/* ---- the start ---- */

/* Skips a UTF-8 byte order mark and refuses what cannot be delimited text. */
static gram_status look_at_start(gram_csv *csv)
{
    gram_status status = GRAM_OK;
    const unsigned char *bytes = (const unsigned char *)csv->buffer;
    const char *name = gram_source_name(csv->source);
    const size_t size = csv->end;
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) csv->start = 3, csv->consumed = 3;
    FAIL_IF(size >= 2 && (memcmp(bytes, "\xFF\xFE", 2) == 0 || memcmp(bytes, "\xFE\xFF", 2) == 0), csv->context,
            GRAM_ERROR_DATA, "%s: the text is UTF-16; it must be UTF-8 or plain ASCII", name);
    FAIL_IF(size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0, csv->context, GRAM_ERROR_DATA,
            "%s: this is an .npy file, not delimited text", name);
done:
    return status;
}

gram_status gram_csv_open(gram_csv *csv, const gram_table_options *options)
{
    gram_status status = GRAM_OK;
    column_sample *columns = NULL;
    gram_csv_record first;
    size_t at = 0;
    TRY(gram_csv_look_ahead(csv, 1));
    TRY(look_at_start(csv));
    csv->layout.delimiter = gram_csv_delimiter(csv->buffer + csv->start, csv->end - csv->start);
    TRY(gram_csv_look_ahead(csv, 2));
    first = gram_csv_peek(csv, &at);
    if (!first.text) TRY(gram_csv_take(csv, &first)); /* a quote that does not end has its own message */
    FAIL_IF(!first.text, csv->context, GRAM_ERROR_DATA, "%s: the file is empty", gram_source_name(csv->source));
    csv->layout.fields = (int64_t)gram_csv_count(first.text, first.length, csv->layout.delimiter);
    if (csv->layout.fields == 0) {
        const gram_csv_fault fault = {.kind = GRAM_FAULT_QUOTE};
        return gram_csv_report(csv, gram_csv_count_lines(csv->buffer, (size_t)(first.text - csv->buffer)) + 1, &fault);
    }
    TRY(gram_take(csv->context, "csv: columns", csv->layout.fields, sizeof *columns, (void **)&columns));
    TRY(take_head(csv, options, columns));
done:
    gram_give(csv->context, columns);
    return status;
}

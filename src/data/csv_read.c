/* A table from delimited text.
 *
 * The text is read piece by piece into a buffer, and each complete record in it is turned into a row of numbers at
 * once; what is left of an incomplete record moves to the front of the buffer before the next piece. The buffer grows
 * only for a record that does not fit. The array of numbers grows by an estimate from the file's size, so that it is
 * seldom moved and hardly larger than needed. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "csv.h"
#include "table.h"
#include <gram/text.h>

enum { BUFFER_SIZE = 256 << 10, MAX_RECORD = 64 << 20, FIRST_NUMBERS = 8 << 10, NAME_ROOM = 24 };

typedef struct csv_reader {
    gram_context *context;
    gram_source *source;
    gram_table *table;
    char *buffer;
    size_t size;       /* of the buffer */
    size_t start, end; /* what is not yet taken: buffer[start .. end) */
    int finished;      /* the source has no more */
    char delimiter;
    int64_t fields;   /* of a record */
    int64_t *place;   /* of each field in a row of the table, -1 if it is left out */
    int64_t line;     /* of the record that was taken last, from 1 */
    int64_t lines;    /* before buffer[start] */
    int64_t consumed; /* bytes before buffer[start] */
} csv_reader;

typedef struct csv_record {
    const char *text; /* NULL at the end */
    size_t length;
} csv_record;

static gram_status grow_buffer(csv_reader *reader)
{
    gram_status status = GRAM_OK;
    char *larger = NULL;
    FAIL_IF(reader->size >= MAX_RECORD, reader->context, GRAM_ERROR_DATA,
            "%s:%" PRId64 ": a line of more than %d MiB; is a quote left open?", reader->source->name,
            reader->lines + 1, MAX_RECORD >> 20);
    TRY(gram_take(reader->context, "csv: a line", (int64_t)reader->size * 2, 1, (void **)&larger));
    memcpy(larger, reader->buffer + reader->start, reader->end - reader->start);
    reader->end -= reader->start;
    reader->start = 0;
    gram_give(reader->context, reader->buffer, (int64_t)reader->size, 1);
    reader->buffer = larger;
    reader->size *= 2;
done:
    return status;
}

static gram_status refill(csv_reader *reader)
{
    gram_status status = GRAM_OK;
    size_t got;
    if (reader->start > 0) memmove(reader->buffer, reader->buffer + reader->start, reader->end - reader->start);
    reader->end -= reader->start;
    reader->start = 0;
    if (reader->end == reader->size) TRY(grow_buffer(reader));
    const size_t room = reader->size - reader->end;
    TRY(gram_source_read(reader->context, reader->source, reader->buffer + reader->end, room, &got));
    reader->end += got;
    reader->finished = got < room;
done:
    return status;
}

static int64_t count_lines(const char *text, size_t length)
{
    int64_t lines = 0;
    const char *end = text + length;
    while (text < end && (text = memchr(text, '\n', (size_t)(end - text)))) {
        lines++;
        text++;
    }
    return lines;
}

/* The next bytes up to the end of a line, whatever they hold. */
static gram_status take_record(csv_reader *reader, csv_record *record)
{
    gram_status status = GRAM_OK;
    *record = (csv_record){NULL, 0};
    for (;;) {
        int open_quote;
        const char *text = reader->buffer + reader->start;
        const size_t left = reader->end - reader->start;
        size_t length = gram_csv_record_length(text, left, reader->delimiter, &open_quote);
        if (length == 0 && !reader->finished) {
            TRY(refill(reader));
            continue;
        }
        FAIL_IF(open_quote, reader->context, GRAM_ERROR_DATA, "%s:%" PRId64 ": a quoted field does not end",
                reader->source->name, reader->lines + 1);
        if (left == 0) return status;
        if (length == 0) length = left;
        reader->line = reader->lines + 1;
        reader->lines += count_lines(text, length);
        reader->start += length;
        reader->consumed += (int64_t)length;
        *record = (csv_record){text, gram_csv_strip(text, length)};
        return status;
    }
done:
    return status;
}

/* The next record that is neither blank nor a comment; text is NULL at the end. Valid until the next call. */
static gram_status next_record(csv_reader *reader, csv_record *record)
{
    gram_status status;
    do {
        status = take_record(reader, record);
    } while (status == GRAM_OK && record->text && gram_csv_is_skipped(record->text, record->length, reader->delimiter));
    return status;
}

/* ---- fields ---- */

/* ASCII only: strncasecmp follows the locale. */
static int is_word(const char *text, size_t length, const char *word)
{
    if (strlen(word) != length) return 0;
    for (size_t i = 0; i < length; i++)
        if ((text[i] >= 'A' && text[i] <= 'Z' ? text[i] - 'A' + 'a' : text[i]) != word[i]) return 0;
    return 1;
}

typedef enum field_kind { FIELD_NUMBER, FIELD_MISSING, FIELD_INFINITE, FIELD_TEXT } field_kind;

static field_kind read_number(const gram_csv_field *field, double *value)
{
    const char *text = field->text;
    size_t length = field->length;
    if (length > 0 && gram_number_parse(text, length, value) == length)
        return isfinite(*value) ? FIELD_NUMBER : FIELD_INFINITE;
    if (length == 0 || is_word(text, length, "na") || is_word(text, length, "nan")) return FIELD_MISSING;
    if (text[0] == '+' || text[0] == '-') text++, length--;
    if (is_word(text, length, "nan")) return FIELD_MISSING;
    if (is_word(text, length, "inf") || is_word(text, length, "infinity")) return FIELD_INFINITE;
    return FIELD_TEXT;
}

static gram_status bad_quote(const csv_reader *reader)
{
    return gram_fail(reader->context, GRAM_ERROR_DATA, "%s:%" PRId64 ": text after a closing quote",
                     reader->source->name, reader->line);
}

static gram_status bad_field(const csv_reader *reader, int64_t column, const gram_csv_field *field, field_kind kind)
{
    char text[GRAM_EXCERPT_SIZE];
    const char *name = reader->table->names[column], *file = reader->source->name;
    gram_data_excerpt(field->text, field->length, text);
    if (kind == FIELD_MISSING)
        return gram_fail(reader->context, GRAM_ERROR_DATA, "%s:%" PRId64 ": column '%s': missing value%s%s%s", file,
                         reader->line, name, field->length ? ": '" : "", text, field->length ? "'" : "");
    const char *what = kind == FIELD_INFINITE ? "not a finite number" : "not a number";
    return gram_fail(reader->context, GRAM_ERROR_DATA, "%s:%" PRId64 ": column '%s': %s: '%s'", file, reader->line,
                     name, what, text);
}

static gram_status wrong_count(const csv_reader *reader, const csv_record *record)
{
    const size_t count = gram_csv_count(record->text, record->length, reader->delimiter);
    return gram_fail(reader->context, GRAM_ERROR_DATA, "%s:%" PRId64 ": %zu field%s, expected %" PRId64,
                     reader->source->name, reader->line, count, count == 1 ? "" : "s", reader->fields);
}

static gram_status parse_row(const csv_reader *reader, const csv_record *record, double *row)
{
    gram_csv_cursor cursor = {.text = record->text, .length = record->length, .delimiter = reader->delimiter};
    gram_csv_field field;
    gram_csv_result result;
    int64_t column = 0;
    while ((result = gram_csv_next(&cursor, &field)) == GRAM_CSV_FIELD) {
        if (column == reader->fields) return wrong_count(reader, record);
        const int64_t place = reader->place[column++];
        if (place < 0) continue;
        const field_kind kind = read_number(&field, &row[place]);
        if (kind != FIELD_NUMBER) return bad_field(reader, place, &field, kind);
    }
    if (result == GRAM_CSV_BAD_QUOTE) return bad_quote(reader);
    return column == reader->fields ? GRAM_OK : wrong_count(reader, record);
}

/* ---- rows ---- */

/* Rows to make room for: as many as the whole file should hold if it goes on like this, and a little more. The last
 * step is to start from a quarter of that: then the estimate rests on enough rows, and the old array, which lives until
 * its numbers are copied, is small beside the new one. */
static int64_t rows_to_reserve(const csv_reader *reader)
{
    const int64_t n = reader->table->n, least = FIRST_NUMBERS / reader->table->d + 1;
    if (n == 0) return least;
    if (reader->source->size < 0 || reader->consumed <= 0) return n + n / 2 + least;
    const double expected = 1.03 * (double)n * (double)reader->source->size / (double)reader->consumed;
    const double most = 4 * (double)n;
    const double rows = expected <= most ? expected : expected / 4 < most ? expected / 4 : most;
    return rows > (double)(n + n / 16) ? (int64_t)rows + 1 : n + n / 16 + 1;
}

static gram_status add_row(csv_reader *reader, const csv_record *record)
{
    gram_status status = GRAM_OK;
    gram_table *table = reader->table;
    if ((table->n + 1) * table->d > table->capacity)
        TRY(gram_table_reserve(reader->context, table, rows_to_reserve(reader)));
    TRY(parse_row(reader, record, table->numbers + table->n * table->d));
    table->n++;
done:
    return status;
}

/* ---- the header ---- */

/* A header is a first row with a field that is no number and no missing or infinite one either. */
static int is_header(const csv_reader *reader, const csv_record *record)
{
    gram_csv_cursor cursor = {.text = record->text, .length = record->length, .delimiter = reader->delimiter};
    gram_csv_field field;
    double value;
    while (gram_csv_next(&cursor, &field) == GRAM_CSV_FIELD)
        if (read_number(&field, &value) == FIELD_TEXT) return 1;
    return 0;
}

/* Writes the names one after the other, each with its final 0; a column without one is named after its place. */
static gram_status write_names(const csv_reader *reader, const csv_record *record, char *text, size_t *size)
{
    gram_csv_cursor cursor = {.text = record->text, .length = record->length, .delimiter = reader->delimiter};
    gram_csv_field field;
    gram_csv_result result;
    int64_t column = 0;
    *size = 0;
    while ((result = gram_csv_next(&cursor, &field)) == GRAM_CSV_FIELD) {
        char *name = text + *size;
        size_t length = gram_csv_unquote(&field, name);
        column++;
        if (memchr(name, '\0', length))
            return gram_fail(reader->context, GRAM_ERROR_DATA,
                             "%s:%" PRId64 ": the name of column %" PRId64 " holds a zero byte", reader->source->name,
                             reader->line, column);
        if (length == 0) length = (size_t)snprintf(name, NAME_ROOM, "x%" PRId64, column);
        name[length] = '\0';
        *size += length + 1;
    }
    return result == GRAM_CSV_BAD_QUOTE ? bad_quote(reader) : GRAM_OK;
}

static gram_status read_header(csv_reader *reader, const csv_record *record)
{
    gram_status status = GRAM_OK;
    char *text = NULL;
    size_t size;
    const int64_t room = (int64_t)record->length + reader->fields * NAME_ROOM;
    TRY(gram_take(reader->context, "csv: header", room, 1, (void **)&text));
    TRY(write_names(reader, record, text, &size));
    TRY(gram_table_set_names(reader->context, reader->table, reader->fields, text, size));
done:
    gram_give(reader->context, text, room, 1);
    return status;
}

/* Of the columns of the file, which are the table's? */
static gram_status choose_fields(csv_reader *reader, const gram_table_options *options)
{
    gram_status status = GRAM_OK;
    int64_t *columns = NULL, count;
    const int64_t d = reader->fields;
    TRY(gram_take(reader->context, "csv: columns", d, sizeof *reader->place, (void **)&reader->place));
    TRY(gram_take(reader->context, "csv: columns", d, sizeof *columns, (void **)&columns));
    TRY(gram_table_choose(reader->context, reader->table, options->features, options->ignore, columns, &count));
    for (int64_t i = 0; i < d; i++) reader->place[i] = -1;
    for (int64_t i = 0; i < count; i++) reader->place[columns[i]] = i;
    TRY(gram_table_keep_names(reader->context, reader->table, columns, count));
done:
    gram_give(reader->context, columns, d, sizeof *columns);
    return status;
}

/* Skips a UTF-8 byte order mark and refuses what cannot be delimited text. */
static gram_status look_at_start(csv_reader *reader)
{
    gram_status status = GRAM_OK;
    const unsigned char *bytes = (const unsigned char *)reader->buffer;
    const char *name = reader->source->name;
    const size_t size = reader->end;
    if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) reader->start = 3;
    FAIL_IF(size >= 2 && (memcmp(bytes, "\xFF\xFE", 2) == 0 || memcmp(bytes, "\xFE\xFF", 2) == 0), reader->context,
            GRAM_ERROR_DATA, "%s: the text is UTF-16; it must be UTF-8 or plain ASCII", name);
    FAIL_IF(size >= 6 && memcmp(bytes, "\x93NUMPY", 6) == 0, reader->context, GRAM_ERROR_DATA,
            "%s: this is an .npy file, not delimited text", name);
    FAIL_IF(size >= 2 && memcmp(bytes, "\x1F\x8B", 2) == 0, reader->context, GRAM_ERROR_DATA,
            "%s: this is compressed (gzip), not delimited text", name);
done:
    return status;
}

static gram_status read_first(csv_reader *reader, const gram_table_options *options)
{
    gram_status status = GRAM_OK;
    csv_record record;
    TRY(refill(reader));
    TRY(look_at_start(reader));
    reader->delimiter = gram_csv_delimiter(reader->buffer + reader->start, reader->end - reader->start);
    TRY(next_record(reader, &record));
    FAIL_IF(!record.text, reader->context, GRAM_ERROR_DATA, "%s: the file is empty", reader->source->name);
    reader->fields = (int64_t)gram_csv_count(record.text, record.length, reader->delimiter);
    if (reader->fields == 0) return bad_quote(reader);
    const int header = is_header(reader, &record);
    if (header)
        TRY(read_header(reader, &record));
    else
        TRY(gram_table_set_names(reader->context, reader->table, reader->fields, NULL, 0));
    TRY(choose_fields(reader, options));
    if (!header) TRY(add_row(reader, &record));
done:
    return status;
}

gram_status gram_csv_read(gram_context *context, gram_source *source, const gram_table_options *options,
                          gram_table *table)
{
    gram_status status = GRAM_OK;
    csv_reader reader = {.context = context, .source = source, .table = table, .size = BUFFER_SIZE, .delimiter = ','};
    csv_record record;
    TRY(gram_take(context, "csv: buffer", BUFFER_SIZE, 1, (void **)&reader.buffer));
    TRY(read_first(&reader, options));
    for (;;) {
        TRY(next_record(&reader, &record));
        if (!record.text) break;
        TRY(add_row(&reader, &record));
    }
    FAIL_IF(table->n == 0, context, GRAM_ERROR_DATA, "%s: no rows after the header", source->name);
done:
    gram_give(context, reader.place, reader.fields, sizeof *reader.place);
    gram_give(context, reader.buffer, (int64_t)reader.size, 1);
    return status;
}

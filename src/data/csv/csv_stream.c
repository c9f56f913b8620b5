/* The text is read piece by piece into a buffer, and each complete record in it is turned into a row of numbers at
 * once; what is left of an incomplete record moves to the front of the buffer before the next piece. The buffer grows
 * only for a record that does not fit. The array of numbers grows by an estimate from the file's size, so that it is
 * seldom moved and hardly larger than needed. */
#include "data/csv/csv_stream.h"

#include <inttypes.h>
#include <string.h>

#include <gram/text.h>

enum { MAX_RECORD = 64 << 20, FIRST_NUMBERS = 8 << 10, LEAST_BUFFER = 4 << 10 };

const gram_csv_sizes gram_csv_usual_sizes = {.buffer = 256 << 10, .share = 256 << 10};

/* A short file needs no long buffer; one byte more than it has tells that it ends. (Compressed, it may be longer.) */
static size_t buffer_size(const gram_source *source, size_t usual)
{
    const int64_t size = gram_source_size(source) + 1;
    const size_t enough = size > LEAST_BUFFER ? (size_t)size : LEAST_BUFFER;
    return size > 0 && enough < usual ? enough : usual;
}

gram_status gram_csv_start(gram_context *context, gram_source *source, gram_table *table, const gram_csv_sizes *sizes,
                           gram_csv *csv)
{
    *csv = (gram_csv){.context = context,
                      .source = source,
                      .table = table,
                      .share = sizes->share,
                      .size = buffer_size(source, sizes->buffer)};
    csv->layout.delimiter = ',';
    return gram_take_from(context, table->memory, "csv: buffer", (int64_t)csv->size, 1, (void **)&csv->buffer);
}

void gram_csv_end(gram_csv *csv)
{
    gram_memory *memory = csv->table->memory;
    gram_memory_give(memory, csv->found);
    gram_memory_give(memory, csv->place);
    gram_memory_give(memory, csv->buffer);
}

int64_t gram_csv_count_lines(const char *text, size_t length)
{
    int64_t lines = 0;
    const char *end = text + length;
    while (text < end && (text = memchr(text, '\n', (size_t)(end - text)))) {
        lines++;
        text++;
    }
    return lines;
}

/* ---- the buffer ---- */

/* Where the last record of the buffer starts, the one that does not end there. */
static size_t incomplete_record(const gram_csv *csv)
{
    size_t at = csv->start, length;
    int open_quote;
    do {
        length = gram_csv_record_length(csv->buffer + at, csv->end - at, csv->layout.delimiter, &open_quote);
        at += length;
    } while (length > 0);
    return at;
}

static gram_status grow_buffer(gram_csv *csv)
{
    gram_status status = GRAM_OK;
    char *larger = NULL;
    FAIL_IF(csv->size >= MAX_RECORD, csv->context, GRAM_ERROR_DATA,
            "%s:%" PRId64 ": a line of more than %d MiB; is a quote left open?", gram_source_name(csv->source),
            csv->lines + gram_csv_count_lines(csv->buffer, incomplete_record(csv)) + 1, MAX_RECORD >> 20);
    TRY(gram_take_from(csv->context, csv->table->memory, "csv: a line", (int64_t)csv->size * 2, 1, (void **)&larger));
    memcpy(larger, csv->buffer, csv->end);
    gram_memory_give(csv->table->memory, csv->buffer);
    csv->buffer = larger;
    csv->size *= 2;
done:
    return status;
}

static gram_status refill(gram_csv *csv)
{
    gram_status status = GRAM_OK;
    size_t got;
    if (csv->start > 0) memmove(csv->buffer, csv->buffer + csv->start, csv->end - csv->start);
    csv->end -= csv->start;
    csv->start = 0;
    if (csv->end == csv->size) TRY(grow_buffer(csv));
    const size_t room = csv->size - csv->end;
    TRY(gram_source_read(csv->context, csv->source, csv->buffer + csv->end, room, &got));
    csv->end += got;
    csv->finished = got < room;
done:
    return status;
}

static int is_skipped(const gram_csv *csv, const char *text, size_t length)
{
    return gram_csv_is_skipped(text, gram_csv_strip(text, length), csv->layout.delimiter);
}

gram_csv_record gram_csv_peek(const gram_csv *csv, size_t *at)
{
    for (;;) {
        int open_quote;
        const char *text = csv->buffer + csv->start + *at;
        const size_t left = csv->end - csv->start - *at;
        size_t length = gram_csv_record_length(text, left, csv->layout.delimiter, &open_quote);
        if (length == 0 && csv->finished && !open_quote) length = left;
        if (length == 0) return (gram_csv_record){NULL, 0};
        *at += length;
        if (!is_skipped(csv, text, length)) return (gram_csv_record){text, gram_csv_strip(text, length)};
    }
}

gram_status gram_csv_look_ahead(gram_csv *csv, int records)
{
    gram_status status = GRAM_OK;
    for (;;) {
        size_t at = 0;
        int found = 0;
        while (found < records && gram_csv_peek(csv, &at).text) found++;
        if (found == records || csv->finished) return status;
        TRY(refill(csv));
    }
done:
    return status;
}

/* ---- records ---- */

/* The next bytes up to the end of a line, whatever they hold. */
static gram_status take_line(gram_csv *csv, gram_csv_record *record)
{
    gram_status status = GRAM_OK;
    *record = (gram_csv_record){NULL, 0};
    for (;;) {
        int open_quote;
        const char *text = csv->buffer + csv->start;
        const size_t left = csv->end - csv->start;
        size_t length = gram_csv_record_length(text, left, csv->layout.delimiter, &open_quote);
        if (length == 0 && !csv->finished) {
            TRY(refill(csv));
            continue;
        }
        FAIL_IF(open_quote, csv->context, GRAM_ERROR_DATA, "%s:%" PRId64 ": a quoted field does not end",
                gram_source_name(csv->source), csv->lines + 1);
        if (left == 0) return status;
        if (length == 0) length = left;
        csv->line = csv->lines + 1;
        csv->lines += gram_csv_count_lines(text, length);
        csv->start += length;
        csv->consumed += (int64_t)length;
        *record = (gram_csv_record){text, gram_csv_strip(text, length)};
        return status;
    }
done:
    return status;
}

gram_status gram_csv_take(gram_csv *csv, gram_csv_record *record)
{
    gram_status status;
    do {
        status = take_line(csv, record);
    } while (status == GRAM_OK && record->text &&
             gram_csv_is_skipped(record->text, record->length, csv->layout.delimiter));
    return status;
}

gram_status gram_csv_again(gram_csv *csv, int64_t lines, int64_t consumed)
{
    gram_status status = GRAM_OK;
    TRY(gram_source_rewind(csv->context, csv->source));
    csv->start = csv->end = 0;
    csv->finished = 0;
    for (int64_t left = consumed; left > 0;) {
        csv->start = csv->end = 0;
        TRY(refill(csv));
        const int64_t got = (int64_t)csv->end;
        csv->start = (size_t)(got < left ? got : left);
        if (got == 0) break;
        left -= (int64_t)csv->start;
    }
    csv->lines = lines;
    csv->consumed = consumed;
    csv->table->n = 0;
done:
    return status;
}

/* ---- faults ---- */

static gram_status bad_field(const gram_csv *csv, int64_t line, const gram_csv_fault *fault)
{
    char text[GRAM_EXCERPT_SIZE];
    const char *name = csv->table->names[fault->column], *file = gram_source_name(csv->source);
    gram_data_excerpt(fault->field.text, fault->field.length, text);
    if (fault->found == GRAM_FIELD_MISSING)
        return gram_fail(csv->context, GRAM_ERROR_DATA, "%s:%" PRId64 ": column '%s': missing value%s%s%s", file, line,
                         name, fault->field.length ? ": '" : "", text, fault->field.length ? "'" : "");
    const int date = gram_table_column_is_date(csv->table, fault->column);
    const char *what = fault->found == GRAM_FIELD_INFINITE ? "not a finite number"
                       : date                              ? "not a date, as 2024-03-01"
                                                           : "not a number";
    return gram_fail(csv->context, GRAM_ERROR_DATA, "%s:%" PRId64 ": column '%s': %s: '%s'", file, line, name, what,
                     text);
}

static gram_status no_room(const gram_csv *csv, const char *file, gram_status status)
{
    char budget[GRAM_BYTES_SIZE], used[GRAM_BYTES_SIZE];
    if (status != GRAM_ERROR_BUDGET)
        return gram_fail(csv->context, status, "%s: no memory is left for the texts of its columns", file);
    gram_bytes_format(gram_memory_budget(csv->context->memory), budget);
    gram_bytes_format(gram_memory_used(csv->context->memory), used);
    return gram_fail(
        csv->context, status,
        "%s: the texts of its columns need more than what is left of a memory budget of %s, with %s in use", file,
        budget, used);
}

gram_status gram_csv_report(const gram_csv *csv, int64_t line, const gram_csv_fault *fault)
{
    const char *file = gram_source_name(csv->source);
    switch (fault->kind) {
    case GRAM_FAULT_FIELD: return bad_field(csv, line, fault);
    case GRAM_FAULT_COUNT:
        return gram_fail(csv->context, GRAM_ERROR_DATA, "%s:%" PRId64 ": %zu field%s, expected %" PRId64, file, line,
                         fault->count, fault->count == 1 ? "" : "s", csv->layout.fields);
    case GRAM_FAULT_QUOTE:
        return gram_fail(csv->context, GRAM_ERROR_DATA, "%s:%" PRId64 ": text after a closing quote", file, line);
    case GRAM_FAULT_ZERO:
        return gram_fail(csv->context, GRAM_ERROR_DATA, "%s:%" PRId64 ": column '%s': a zero byte in the text", file,
                         line, csv->table->names[fault->column]);
    case GRAM_FAULT_MEMORY: return no_room(csv, file, fault->status);
    case GRAM_FAULT_NONE: break;
    }
    return GRAM_OK;
}

/* ---- rows ---- */

/* Rows to make room for: as many as the whole file should hold if it goes on like this, and a little more. The last
 * step is to start from a quarter of that: then the estimate rests on enough rows, and the old array, which lives until
 * its numbers are copied, is small beside the new one. */
static int64_t rows_to_reserve(const gram_csv *csv, int64_t most)
{
    const int64_t n = csv->table->n, least = FIRST_NUMBERS / csv->table->d + 1;
    const double size = (double)gram_source_size(csv->source), position = (double)gram_source_position(csv->source);
    int64_t rows = n + n / 2 + least;
    if (n > 0 && size > 0 && position > 0) {
        const double used =
            position * (double)csv->consumed / (double)(csv->consumed + (int64_t)(csv->end - csv->start));
        const double expected = 1.03 * (double)n * size / used;
        const double top = 4 * (double)n;
        const double wanted = expected <= top ? expected : expected / 4 < top ? expected / 4 : top;
        rows = wanted > (double)(n + n / 16) ? (int64_t)wanted + 1 : n + n / 16 + 1;
    }
    if (n == 0) rows = least;
    return rows < most ? rows : most;
}

static gram_status add_row(gram_csv *csv, const gram_csv_record *record, int64_t most)
{
    gram_status status = GRAM_OK;
    gram_table *table = csv->table;
    gram_csv_fault fault;
    if (table->n >= table->row_capacity) TRY(gram_table_reserve(csv->context, table, rows_to_reserve(csv, most)));
    if (!gram_csv_parse(&csv->layout, record->text, record->length, table->numbers + table->n * table->d, &fault))
        return gram_csv_report(csv, csv->line, &fault);
    TRY(gram_table_note_line(csv->context, table, table->n, csv->line));
    table->n++;
done:
    return status;
}

/* The fast way, for as long as it goes. */
static gram_status add_plain_rows(gram_csv *csv, int64_t most)
{
    gram_status status = GRAM_OK;
    gram_table *table = csv->table;
    const int64_t room = table->row_capacity < most ? table->row_capacity : most;
    while (table->n < room) {
        const size_t taken = gram_csv_parse_plain(&csv->layout, csv->buffer + csv->start, csv->end - csv->start,
                                                  table->numbers + table->n * table->d);
        if (taken == 0) break;
        csv->start += taken;
        csv->consumed += (int64_t)taken;
        TRY(gram_table_note_line(csv->context, table, table->n, ++csv->lines));
        table->n++;
    }
done:
    return status;
}

gram_status gram_csv_fill(gram_csv *csv, int64_t most)
{
    gram_status status = GRAM_OK;
    gram_csv_record record;
    while (csv->table->n < most) {
        TRY(add_plain_rows(csv, most));
        if (csv->table->n == most) break;
        TRY(gram_csv_take(csv, &record));
        if (!record.text) break;
        TRY(add_row(csv, &record, most));
    }
done:
    return status;
}

gram_status gram_csv_skip(gram_csv *csv, int64_t most, int64_t *skipped)
{
    gram_status status = GRAM_OK;
    gram_csv_record record;
    for (*skipped = 0; *skipped < most; ++*skipped) {
        TRY(gram_csv_take(csv, &record));
        if (!record.text) break;
    }
done:
    return status;
}

/* Delimited text read by all threads.
 *
 * The text after the header is cut into pieces that start and end where records do. A first sweep counts the rows of each
 * piece, so that the array is taken once, at its size; a second one parses each piece straight into its rows. Both read
 * the piece into a buffer of the thread's own that fits the second-level cache: measured, that costs no more than the
 * faults of a mapped file's pages, and a file that shrinks meanwhile is a failed read, not a signal.
 *
 * Without quotes a record ends with its line, and the pieces are cut independently: a piece has the lines that start in
 * its share of the bytes. When a quote is found anywhere, the cuts are found anew by one thread that follows the records
 * from the front; that is quick beside the parsing, which stays parallel. */
#include <inttypes.h>
#include <string.h>

#include "base/sweep.h"
#include "data/csv/csv_stream.h"

typedef struct piece {
    int64_t offset; /* in the file */
    int64_t length;
    int64_t rows, lines;
    int64_t lead;                  /* lines of the piece before its first row */
    int64_t first_row, first_line; /* of the piece, in the table and in the file */
    int irregular;                 /* a row is not on the line after the row before it */
    int has_quote;                 /* while counting: the cut cannot be trusted */
    int too_long;                  /* a line does not fit a buffer */
    int unreadable;                /* the file could not be read */
    int bad;                       /* a record could not be parsed */
    gram_status no_memory;
} piece;

typedef struct pieces {
    gram_csv *csv;
    int64_t start, end; /* of the data in the file */
    int64_t count;
    int64_t capacity;
    piece *list;
    int64_t share;      /* bytes of a piece, but for the ends of its first and last line */
    size_t buffer;      /* bytes of a thread's buffer */
    size_t usual_lines; /* share and a line, mostly */
} pieces;

/* ---- cutting without quotes ---- */

/* A row that starts on line p->lines of the piece; the row before was on line *before. */
static void count_row(piece *p, int64_t *before)
{
    if (p->rows == 0) p->lead = p->lines;
    p->irregular |= p->rows > 0 && p->lines != *before + 1;
    *before = p->lines;
    p->rows++;
}

/* The rows of text[0 .. length), which starts with a line. */
static void count_rows(const gram_csv *csv, const char *text, size_t length, piece *p)
{
    int64_t before = 0;
    for (size_t at = 0; at < length;) {
        const char *newline = memchr(text + at, '\n', length - at);
        const size_t end = newline ? (size_t)(newline - text) : length;
        const char c = text[at];
        const int plain = (c >= '0' && c <= '9') || c == '-'; /* is neither blank nor a comment */
        if (plain || !gram_csv_is_skipped(text + at, gram_csv_strip(text + at, end - at), csv->layout.delimiter))
            count_row(p, &before);
        p->lines += newline != NULL;
        at = end + 1;
    }
}

/* Reads from `from` on so much that the line that holds text[inside] ends in it; *end is its end, 0 if that does not fit
 * the buffer. Returns the bytes read, 0 for a failure. */
static size_t read_share(const pieces *all, int64_t from, size_t inside, char *text, size_t *end)
{
    const int64_t left = all->end - from;
    const size_t sizes[] = {all->usual_lines, all->buffer};
    size_t length = 0;
    *end = 0;
    for (int k = 0; k < 2 && *end == 0; k++) {
        const size_t wanted = left < (int64_t)sizes[k] ? (size_t)left : sizes[k];
        if (!gram_source_read_at(all->csv->source, from + (int64_t)length, text + length, wanted - length)) return 0;
        length = wanted;
        const char *newline = inside < length ? memchr(text + inside, '\n', length - inside) : NULL;
        if (newline)
            *end = (size_t)(newline - text) + 1;
        else if ((int64_t)length == left)
            *end = length;
    }
    return length;
}

/* Piece k has the lines that start in [start + k share, start + (k + 1) share). */
static gram_status count_piece(void *argument, const gram_worker *worker)
{
    pieces *all = argument;
    piece *p = &all->list[worker->task];
    char *text = worker->scratch;
    const size_t before = worker->task > 0; /* one byte more tells whether the share starts with a line */
    const int64_t from = all->start + worker->task * all->share - (int64_t)before;
    size_t first = 0, end;
    *p = (piece){.offset = from};
    const size_t length = read_share(all, from, before + (size_t)all->share - 1, text, &end);
    p->unreadable = length == 0;
    if (p->unreadable) return GRAM_ERROR_FILE;
    p->has_quote = memchr(text, '"', length) != NULL;
    p->too_long = end == 0;
    if (before) {
        const char *newline = memchr(text, '\n', length);
        first = newline ? (size_t)(newline - text) + 1 : length;
    }
    if (first > end) first = end;
    p->offset = from + (int64_t)first;
    p->length = (int64_t)(end - first);
    count_rows(all->csv, text + first, end - first, p);
    return GRAM_OK;
}

/* ---- cutting along quotes ---- */

/* Counts a record of `length` bytes that starts at text into the piece. */
static void count_record(const gram_csv *csv, const char *text, size_t length, piece *p, int64_t *before)
{
    const int64_t lines = gram_csv_count_lines(text, length);
    if (!gram_csv_is_skipped(text, gram_csv_strip(text, length), csv->layout.delimiter)) count_row(p, before);
    p->lines += lines;
    p->length += (int64_t)length;
}

/* One piece: as many records from `offset` on as begin in `share` bytes. A quote that does not end stays in the piece: the
 * parser finds it. */
static void follow_records(const pieces *all, const char *text, size_t length, int is_last, piece *p)
{
    const gram_csv *csv = all->csv;
    int64_t before = 0;
    while (p->length < all->share && (size_t)p->length < length) {
        int open_quote;
        const size_t at = (size_t)p->length;
        size_t record = gram_csv_record_length(text + at, length - at, csv->layout.delimiter, &open_quote);
        p->too_long = record == 0 && (!is_last || open_quote);
        if (p->too_long) return;
        if (record == 0) record = length - at;
        count_record(csv, text + at, record, p, &before);
    }
}

/* *usable is 0 when a record does not fit. */
static gram_status cut_along_quotes(pieces *all, char *text, int *usable)
{
    gram_status status = GRAM_OK;
    gram_csv *csv = all->csv;
    int64_t offset = all->start;
    *usable = 1;
    for (all->count = 0; offset < all->end; all->count++) {
        piece *p = &all->list[all->count];
        const int64_t left = all->end - offset;
        const size_t length = left < (int64_t)all->buffer ? (size_t)left : all->buffer;
        *p = (piece){.offset = offset};
        TRY(gram_pulse(csv->context, "reading", 0.3 * (double)(offset - all->start) / (double)all->end));
        FAIL_IF(!gram_source_read_at(csv->source, offset, text, length), csv->context, GRAM_ERROR_FILE,
                "%s: cannot be read", gram_source_name(csv->source));
        follow_records(all, text, length, length == (size_t)left, p);
        *usable = !p->too_long;
        if (!*usable) break;
        offset += p->length;
    }
done:
    return status;
}

/* ---- parsing ---- */

/* Parses the rows of a piece; 0, the fault and its line if one cannot be parsed. */
static int parse_text(const gram_csv *csv, const piece *p, const char *text, gram_csv_fault *fault, int64_t *line)
{
    gram_table *table = csv->table;
    const size_t length = (size_t)p->length;
    int64_t row = p->first_row;
    *line = p->first_line;
    for (size_t at = 0; at < length && row < p->first_row + p->rows;) {
        double *numbers = table->numbers + row * table->d;
        int open_quote, is_row = 1;
        size_t taken = gram_csv_parse_plain(&csv->layout, text + at, length - at, numbers);
        int64_t lines = 1;
        if (taken == 0) {
            taken = gram_csv_record_length(text + at, length - at, csv->layout.delimiter, &open_quote);
            if (taken == 0) taken = length - at;
            lines = gram_csv_count_lines(text + at, taken);
            const size_t stripped = gram_csv_strip(text + at, taken);
            is_row = !gram_csv_is_skipped(text + at, stripped, csv->layout.delimiter);
            if (is_row && !gram_csv_parse(&csv->layout, text + at, stripped, numbers, fault)) return 0;
        }
        if (is_row && table->lines) table->lines[row] = *line;
        row += is_row;
        at += taken;
        *line += lines;
    }
    return 1;
}

static gram_status parse_piece(void *argument, const gram_worker *worker)
{
    pieces *all = argument;
    piece *p = &all->list[worker->task];
    gram_csv_fault fault;
    int64_t line;
    p->unreadable = !gram_source_read_at(all->csv->source, p->offset, worker->scratch, (size_t)p->length);
    if (p->unreadable) return GRAM_ERROR_FILE;
    p->bad = !parse_text(all->csv, p, worker->scratch, &fault, &line);
    if (p->bad && fault.kind == GRAM_FAULT_MEMORY) p->no_memory = fault.status;
    return p->no_memory < 0 ? p->no_memory : p->bad ? GRAM_ERROR_DATA : GRAM_OK;
}

/* Says what the first piece that failed met: parses it again. */
static gram_status report(pieces *all)
{
    gram_status status = GRAM_ERROR_INTERNAL;
    gram_csv *csv = all->csv;
    char *text = NULL;
    gram_csv_fault fault = {.kind = GRAM_FAULT_MEMORY};
    int64_t line = 0, k = 0;
    while (k < all->count - 1 && !all->list[k].unreadable && !all->list[k].bad) k++;
    const piece *p = &all->list[k];
    fault.status = p->no_memory;
    if (p->no_memory < 0) return gram_csv_report(csv, line, &fault);
    TRY(gram_take(csv->context, "csv: buffer", (int64_t)all->buffer, 1, (void **)&text));
    FAIL_IF(p->unreadable || !gram_source_read_at(csv->source, p->offset, text, (size_t)p->length), csv->context,
            GRAM_ERROR_FILE, "%s: cannot be read; does another program change it?", gram_source_name(csv->source));
    if (!parse_text(csv, p, text, &fault, &line)) status = gram_csv_report(csv, line, &fault);
done:
    gram_give(csv->context, text);
    return status;
}

/* ---- together ---- */

static gram_status sweep(pieces *all, gram_task_fn run, double share_before, double share_after)
{
    const gram_sweep work = {.what = "reading",
                             .tasks = all->count,
                             .scratch_bytes = all->buffer,
                             .run = run,
                             .argument = all,
                             .share_before = share_before,
                             .share_after = share_after};
    return gram_sweep_run(all->csv->context, &work);
}

static gram_status cut(pieces *all, int *usable)
{
    gram_status status = GRAM_OK;
    gram_context *context = all->csv->context;
    int quotes = 0;
    char *text = NULL;
    *usable = 1;
    status = sweep(all, count_piece, 0, 0.2);
    if (status == GRAM_ERROR_FILE) return report(all);
    if (status == GRAM_ERROR_BUDGET) { /* no room for the threads' buffers: one buffer is enough for one thread */
        *usable = 0;
        return GRAM_OK;
    }
    if (status < 0) return status;
    for (int64_t k = 0; k < all->count; k++) {
        quotes |= all->list[k].has_quote;
        *usable = *usable && !all->list[k].too_long;
    }
    if (!quotes) return status;
    TRY(gram_take(context, "csv: buffer", (int64_t)all->buffer, 1, (void **)&text));
    TRY(cut_along_quotes(all, text, usable));
done:
    gram_give(context, text);
    return status;
}

/* Where the rows of each piece come, and whether the lines must be kept. */
static int64_t place_rows(pieces *all, int *irregular)
{
    gram_table *table = all->csv->table;
    int64_t rows = 0, line = all->csv->lines + 1;
    *irregular = 0;
    table->first_line = line;
    for (int64_t k = 0; k < all->count; k++) {
        piece *p = &all->list[k];
        p->first_row = rows;
        p->first_line = line;
        if (rows == 0) table->first_line = line + p->lead;
        if (p->rows > 0) *irregular |= p->irregular || line + p->lead != table->first_line + rows;
        rows += p->rows;
        line += p->lines;
    }
    return rows;
}

static gram_status parse_all(pieces *all)
{
    gram_status status = GRAM_OK;
    gram_csv *csv = all->csv;
    gram_table *table = csv->table;
    int irregular, failed = 0;
    const int64_t rows = place_rows(all, &irregular);
    TRY(gram_table_reserve(csv->context, table, rows));
    if (irregular) TRY(gram_table_reserve_lines(csv->context, table, rows));
    status = sweep(all, parse_piece, 0.2, 1);
    for (int64_t k = 0; k < all->count; k++) failed |= all->list[k].bad || all->list[k].unreadable;
    if (status < 0 && status != GRAM_ERROR_CANCELLED && failed) status = report(all);
    if (status == GRAM_OK) table->n = rows;
done:
    return status;
}

gram_status gram_csv_read_pieces(gram_csv *csv, int *done)
{
    gram_status status = GRAM_OK;
    pieces all = {.csv = csv,
                  .start = csv->consumed,
                  .end = gram_source_size(csv->source),
                  .share = (int64_t)csv->share,
                  .buffer = 2 * csv->share,
                  .usual_lines = csv->share + csv->share / 32};
    all.count = all.capacity = (all.end - all.start + all.share - 1) / all.share;
    *done = 0;
    if (all.count < 1) return status;
    TRY(gram_take(csv->context, "csv: pieces", all.capacity, sizeof *all.list, (void **)&all.list));
    TRY(cut(&all, done));
    if (*done) TRY(parse_all(&all));
done:
    gram_give(csv->context, all.list);
    return status;
}

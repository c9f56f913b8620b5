/* Files of texts become CSV in memory, which the reader of CSV does the rest with.
 *
 * FASTA: a record is a line `>id description` and lines of letters, which are put together. The columns are `sequence`, and of descriptions in which every record says
 * NAME=VALUE (`class=donor length=60`; a value ends before the next NAME=) one for each such name, in the order of the first record: the last is what a fit takes for its
 * target. `id` and `description` are there for who asks for them by name (a prediction's --keep id).
 *
 * Text: one document per line, in the column `text`. */
#include "data/documents/document_tables.h"

#include <inttypes.h>
#include <string.h>

#include <gram/output.h>

typedef struct document_reader {
    gram_memory *memory;
    gram_source *source; /* of the CSV */
    gram_string csv;
    gram_table *table;
    int64_t *line; /* on which each record begins; NULL: each line is one */
    void *state;   /* of the reader of CSV */
} document_reader;

/* All bytes of the source, with a final 0. */
static gram_status read_all(gram_context *context, gram_source *source, gram_memory *memory, char **text,
                            size_t *length)
{
    gram_status status = GRAM_OK;
    size_t room = 1 << 16, got;
    char *more = NULL;
    *text = NULL;
    *length = 0;
    for (;;) {
        TRY(gram_take_from(context, memory, gram_source_name(source), (int64_t)room + 1, 1, (void **)&more));
        if (*length > 0) memcpy(more, *text, *length);
        gram_memory_give(memory, *text);
        *text = more;
        TRY(gram_source_read(context, source, *text + *length, room - *length, &got));
        *length += got;
        if (*length < room) break;
        room *= 2;
    }
    (*text)[*length] = '\0';
done:
    return status;
}

/* A field in quotes; quotes in it are doubled. */
static void add_quoted(gram_string *csv, const char *text, size_t length)
{
    gram_string_add(csv, "\"");
    for (size_t i = 0; i < length;) {
        size_t plain = i;
        while (plain < length && text[plain] != '"') plain++;
        gram_string_add(csv, "%.*s%s", (int)(plain - i), text + i, plain < length ? "\"\"" : "");
        i = plain + 1;
    }
    gram_string_add(csv, "\"");
}

/* The end of the line, without CR; *next is the line after it. */
static const char *line_end(const char *line, const char **next)
{
    const char *end = line + strcspn(line, "\n");
    *next = *end ? end + 1 : end;
    return end > line && end[-1] == '\r' ? end - 1 : end;
}

/* ---- NAME=VALUE in descriptions ---- */

enum { MOST_NAMES = 16, NAME_SIZE = 32 };

typedef struct name_list {
    int count;
    char names[MOST_NAMES][NAME_SIZE];
} name_list;

static int is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* The next NAME= from `at` on: where its value begins; NULL: there is none. */
static const char *next_name(const char *at, const char *end, const char **name)
{
    for (const char *c = at; c < end; c++) {
        if (*c != '=') continue;
        *name = c;
        while (*name > at && is_name((*name)[-1])) --*name;
        if (*name < c && c - *name < NAME_SIZE && (*name == at || (*name)[-1] == ' ' || (*name)[-1] == '\t'))
            return c + 1;
    }
    return NULL;
}

static const char *value_of(const char *at, const char *end, const char *wanted, size_t *length)
{
    const char *name, *after;
    for (const char *value = next_name(at, end, &name); value; value = next_name(value, end, &name)) {
        if ((size_t)(value - 1 - name) != strlen(wanted) || memcmp(name, wanted, strlen(wanted)) != 0) continue;
        const char *stop = next_name(value, end, &after) ? after : end;
        while (stop > value && (stop[-1] == ' ' || stop[-1] == '\t')) stop--;
        *length = (size_t)(stop - value);
        return value;
    }
    return NULL;
}

/* Names of the first description that are in all others, too. */
static void keep_common(const char *at, const char *end, int first, name_list *names)
{
    const char *name;
    size_t length;
    int kept = 0;
    for (const char *value = first ? next_name(at, end, &name) : NULL; value && names->count < MOST_NAMES;
         value = next_name(value, end, &name)) {
        char *out = names->names[names->count];
        memcpy(out, name, (size_t)(value - 1 - name));
        out[value - 1 - name] = '\0';
        if (strcmp(out, "id") != 0 && strcmp(out, "sequence") != 0 && strcmp(out, "description") != 0) names->count++;
    }
    for (int k = 0; k < names->count; k++) {
        if (!value_of(at, end, names->names[k], &length)) continue;
        if (kept != k) memcpy(names->names[kept], names->names[k], NAME_SIZE);
        kept++;
    }
    names->count = kept;
}

/* ---- FASTA ---- */

typedef struct record {
    const char *id, *id_end, *description, *end; /* of its first line */
    const char *body, *next;
    int64_t line;
} record;

/* The record that begins at `at`, which is a '>'. */
static record find_record(const char *at)
{
    record r = {.id = at + 1};
    r.end = line_end(at, &r.body);
    r.id_end = r.id;
    while (r.id_end < r.end && *r.id_end != ' ' && *r.id_end != '\t') r.id_end++;
    r.description = r.id_end;
    while (r.description < r.end && (*r.description == ' ' || *r.description == '\t')) r.description++;
    for (r.next = r.body; *r.next && *r.next != '>';) (void)line_end(r.next, &r.next);
    return r;
}

static void add_record(gram_string *csv, const record *r, int all, const name_list *names)
{
    const char *next;
    if (all) {
        add_quoted(csv, r->id, (size_t)(r->id_end - r->id));
        gram_string_add(csv, ",");
        add_quoted(csv, r->description, (size_t)(r->end - r->description));
        gram_string_add(csv, ",");
    }
    gram_string_add(csv, "\"");
    for (const char *line = r->body; line < r->next; line = next) {
        const char *end = line_end(line, &next);
        while (end > line && (end[-1] == ' ' || end[-1] == '*')) end--; /* * ends a protein */
        if (*line != ';') gram_string_add(csv, "%.*s", (int)(end - line), line);
    }
    gram_string_add(csv, "\"");
    for (int k = 0; k < names->count; k++) {
        size_t length = 0;
        const char *value = value_of(r->description, r->end, names->names[k], &length);
        gram_string_add(csv, ",");
        add_quoted(csv, value, length);
    }
    gram_string_add(csv, "\n");
}

/* Letters before the first record, a record without an id or without letters. */
static gram_status check_record(gram_context *context, const char *file, const record *r, int64_t line)
{
    gram_status status = GRAM_OK;
    char text[GRAM_EXCERPT_SIZE];
    FAIL_IF(r->id_end == r->id, context, GRAM_ERROR_DATA, "%s:%" PRId64 ": a record without an id", file, line);
    const char *letter = r->body;
    while (letter < r->next && (*letter == '\n' || *letter == '\r' || *letter == ' ')) letter++;
    FAIL_IF(letter == r->next, context, GRAM_ERROR_DATA, "%s:%" PRId64 ": the record '%s' has no sequence", file, line,
            gram_data_excerpt(r->id, (size_t)(r->id_end - r->id), text));
done:
    return status;
}

static gram_status convert_fasta(gram_context *context, const char *file, const char *text, int all,
                                 document_reader *reader)
{
    gram_string *csv = &reader->csv;
    gram_status status = GRAM_OK;
    name_list names = {0};
    int64_t line = 1, count = 0;
    char shown[GRAM_EXCERPT_SIZE];
    while (*text == '\n' || *text == '\r' || *text == ';') {
        (void)line_end(text, &text);
        line++;
    }
    FAIL_IF(*text == '\0', context, GRAM_ERROR_DATA, "%s: the file is empty", file);
    FAIL_IF(*text != '>', context, GRAM_ERROR_DATA, "%s:%" PRId64 ": a record begins with '>', not with '%s'", file,
            line, gram_data_excerpt(text, strcspn(text, "\r\n"), shown));
    for (const char *c = text; *c; c++) count += *c == '>';
    TRY(gram_take_from(context, reader->memory, file, count, sizeof *reader->line, (void **)&reader->line));
    count = 0;
    for (const char *at = text; *at;) {
        const record r = find_record(at);
        reader->line[count++] = line;
        TRY(check_record(context, file, &r, line));
        keep_common(r.description, r.end, at == text, &names);
        for (const char *c = at; c < r.next; c++) line += *c == '\n';
        at = r.next;
    }
    gram_string_add(csv, all ? "id,description,sequence" : "sequence");
    for (int k = 0; k < names.count; k++) gram_string_add(csv, ",%s", names.names[k]);
    gram_string_add(csv, "\n");
    for (const char *at = text; *at;) {
        const record r = find_record(at);
        add_record(csv, &r, all, &names);
        at = r.next;
    }
done:
    return status;
}

/* ---- lines ---- */

static gram_status convert_lines(gram_context *context, const char *file, const char *text, gram_string *csv)
{
    gram_status status = GRAM_OK;
    const char *next;
    FAIL_IF(*text == '\0', context, GRAM_ERROR_DATA, "%s: the file is empty", file);
    gram_string_add(csv, "text\n");
    for (const char *line = text; *line; line = next) {
        const char *end = line_end(line, &next);
        add_quoted(csv, line, (size_t)(end - line));
        gram_string_add(csv, "\n");
    }
done:
    return status;
}

/* ---- the formats ---- */

static void close_documents(void *state)
{
    document_reader *reader = state;
    if (!reader) return;
    gram_memory *memory = reader->memory;
    gram_csv_type.close(reader->state);
    gram_source_close(reader->source);
    gram_string_free(&reader->csv);
    gram_memory_give(memory, reader->line);
    gram_memory_give(memory, reader);
}

/* Converts what the source has. */
static gram_status begin(gram_context *context, gram_source *source, const gram_table_options *options,
                         gram_table *table, int fasta, document_reader **reader)
{
    gram_status status = GRAM_OK;
    char *text = NULL;
    size_t length;
    TRY(gram_take_from(context, table->memory, table->file, 1, sizeof **reader, (void **)reader));
    **reader = (document_reader){.memory = table->memory, .table = table};
    if (!fasta) table->hint = "; it is read as documents, one on each line: --format csv reads a table";
    TRY(read_all(context, source, table->memory, &text, &length));
    FAIL_IF(strlen(text) != length, context, GRAM_ERROR_DATA, "%s: a text file has no bytes of 0", table->file);
    TRY(fasta ? convert_fasta(context, table->file, text, options->wanted != NULL || options->features, *reader)
              : convert_lines(context, table->file, text, &(*reader)->csv));
    FAIL_IF((*reader)->csv.failed, context, GRAM_ERROR_MEMORY, "%s: no memory is left for its texts", table->file);
    TRY(gram_source_open_memory(context, table->file, (*reader)->csv.data, (*reader)->csv.length, &(*reader)->source));
done:
    gram_memory_give(table->memory, text);
    return status;
}

/* The column of texts is one, whatever else is asked for. */
static gram_table_options with_texts(const gram_table_options *options, const char *column)
{
    gram_table_options own = *options;
    own.header = GRAM_HEADER_YES;
    own.format = GRAM_FORMAT_CSV;
    if (!own.texts) own.texts = column;
    return own;
}

/* Rows have lines of the CSV so far, where a record is one line behind that of the names. */
static gram_status name_lines(gram_context *context, const document_reader *reader, gram_table *table)
{
    gram_status status = GRAM_OK;
    if (table->n == 0) return status;
    TRY(gram_table_reserve_lines(context, table, table->n));
    for (int64_t i = 0; i < table->n; i++)
        table->lines[i] = reader->line ? reader->line[table->lines[i] - 2] : table->lines[i] - 1;
    table->first_line = table->lines[0];
done:
    return status;
}

static gram_status open_documents(gram_context *context, gram_source *source, const gram_table_options *options,
                                  gram_table *table, int fasta, void **state)
{
    gram_status status = GRAM_OK;
    document_reader *reader = NULL;
    const gram_table_options own = with_texts(options, fasta ? "sequence" : "text");
    status = begin(context, source, options, table, fasta, &reader);
    *state = reader;
    if (status >= 0) TRY(gram_csv_type.open(context, reader->source, &own, table, &reader->state));
done:
    return status;
}

static gram_status read_documents(gram_context *context, gram_source *source, const gram_table_options *options,
                                  gram_table *table, int fasta)
{
    gram_status status = GRAM_OK;
    document_reader *reader = NULL;
    const gram_table_options own = with_texts(options, fasta ? "sequence" : "text");
    TRY(begin(context, source, options, table, fasta, &reader));
    TRY(gram_csv_type.read(context, reader->source, &own, table));
    TRY(name_lines(context, reader, table));
done:
    close_documents(reader);
    return status;
}

static gram_status fill_documents(gram_context *context, void *state, int64_t most)
{
    gram_status status = GRAM_OK;
    document_reader *reader = state;
    TRY(gram_csv_type.fill(context, reader->state, most));
    TRY(name_lines(context, reader, reader->table));
done:
    return status;
}

static gram_status open_fasta(gram_context *context, gram_source *source, const gram_table_options *options,
                              gram_table *table, void **state)
{
    return open_documents(context, source, options, table, 1, state);
}

static gram_status open_lines(gram_context *context, gram_source *source, const gram_table_options *options,
                              gram_table *table, void **state)
{
    return open_documents(context, source, options, table, 0, state);
}

static gram_status read_fasta(gram_context *context, gram_source *source, const gram_table_options *options,
                              gram_table *table)
{
    return read_documents(context, source, options, table, 1);
}

static gram_status read_lines(gram_context *context, gram_source *source, const gram_table_options *options,
                              gram_table *table)
{
    return read_documents(context, source, options, table, 0);
}

const gram_format_type gram_fasta_type = {open_fasta, fill_documents, close_documents, read_fasta, NULL};
const gram_format_type gram_lines_type = {open_lines, fill_documents, close_documents, read_lines, NULL};

#include "data/csv/csv.h"

#include <string.h>

/* Where the quoted text that starts at text[at] ends (at its closing quote), length if it does not. */
static size_t closing_quote(const char *text, size_t length, size_t at)
{
    while (at < length) {
        const char *quote = memchr(text + at, '"', length - at);
        if (!quote) return length;
        at = (size_t)(quote - text);
        if (at + 1 >= length || text[at + 1] != '"') return at;
        at += 2;
    }
    return length;
}

/* A quote opens a quoted field only where a field begins; elsewhere it is a character like any other. */
static size_t quoted_record_length(const char *text, size_t length, char delimiter, int *open_quote)
{
    int at_start = 1;
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"' && at_start) {
            i = closing_quote(text, length, i + 1);
            if (i == length) *open_quote = 1;
            at_start = 0;
            continue;
        }
        if (text[i] == '\n') return i + 1;
        at_start = text[i] == delimiter || (at_start && text[i] == ' ');
    }
    return 0;
}

size_t gram_csv_record_length(const char *text, size_t length, char delimiter, int *open_quote)
{
    *open_quote = 0;
    if (length == 0) return 0;
    const char *newline = memchr(text, '\n', length);
    const size_t line = newline ? (size_t)(newline - text) : length;
    if (delimiter && text[0] != '#' && memchr(text, '"', line))
        return quoted_record_length(text, length, delimiter, open_quote);
    return newline ? line + 1 : 0;
}

size_t gram_csv_strip(const char *text, size_t length)
{
    if (length > 0 && text[length - 1] == '\n') length--;
    if (length > 0 && text[length - 1] == '\r') length--;
    return length;
}

/* Tabs are space unless they are the delimiter. */
static int is_space(char c, char delimiter)
{
    return c == ' ' || (c == '\t' && delimiter != '\t');
}

int gram_csv_is_skipped(const char *text, size_t length, char delimiter)
{
    if (length > 0 && text[0] == '#') return 1;
    for (size_t i = 0; i < length; i++)
        if (!is_space(text[i], delimiter)) return 0;
    return 1;
}

/* The field ends at text[end]: what follows is the delimiter or nothing. */
static void step_over(gram_csv_cursor *cursor, size_t end)
{
    cursor->finished = end >= cursor->length;
    cursor->at = end + 1;
}

static gram_csv_result take_quoted(gram_csv_cursor *cursor, size_t start, gram_csv_field *field)
{
    const size_t close = closing_quote(cursor->text, cursor->length, start);
    *field = (gram_csv_field){cursor->text + start, close - start, 1};
    size_t end = close + 1;
    while (end < cursor->length && is_space(cursor->text[end], cursor->delimiter)) end++;
    step_over(cursor, end);
    if (close == cursor->length || (end < cursor->length && cursor->text[end] != cursor->delimiter))
        return GRAM_CSV_BAD_QUOTE;
    return GRAM_CSV_FIELD;
}

gram_csv_result gram_csv_next(gram_csv_cursor *cursor, gram_csv_field *field)
{
    if (cursor->finished) return GRAM_CSV_END;
    const char *text = cursor->text;
    size_t start = cursor->at;
    while (start < cursor->length && is_space(text[start], cursor->delimiter)) start++;
    if (start < cursor->length && text[start] == '"') return take_quoted(cursor, start + 1, field);
    const char *found = start < cursor->length ? memchr(text + start, cursor->delimiter, cursor->length - start) : NULL;
    const size_t end = found ? (size_t)(found - text) : cursor->length;
    size_t last = end;
    while (last > start && is_space(text[last - 1], cursor->delimiter)) last--;
    *field = (gram_csv_field){text + start, last - start, 0};
    step_over(cursor, end);
    return GRAM_CSV_FIELD;
}

size_t gram_csv_count(const char *text, size_t length, char delimiter)
{
    gram_csv_cursor cursor = {.text = text, .length = length, .delimiter = delimiter};
    gram_csv_field field;
    size_t count = 0;
    while (gram_csv_next(&cursor, &field) == GRAM_CSV_FIELD) count++;
    return count;
}

size_t gram_csv_unquote(const gram_csv_field *field, char *out)
{
    size_t length = 0;
    for (size_t i = 0; i < field->length; i++) {
        out[length++] = field->text[i];
        if (field->quoted && field->text[i] == '"') i++;
    }
    return length;
}

/* The number of fields of the first records, 0 if they differ; *first is that of the first one alone. */
static size_t agreed_count(const char *text, size_t length, char delimiter, size_t *first)
{
    const int looked_at = 10;
    size_t agreed = 0;
    *first = 0;
    for (int seen = 0; seen < looked_at && length > 0;) {
        int open_quote;
        size_t record = gram_csv_record_length(text, length, delimiter, &open_quote);
        if (record == 0 && *first > 0) break; /* perhaps cut off */
        if (record == 0) record = length;
        const size_t stripped = gram_csv_strip(text, record);
        if (!gram_csv_is_skipped(text, stripped, delimiter)) {
            const size_t count = gram_csv_count(text, stripped, delimiter);
            if (seen++ == 0) *first = agreed = count;
            if (count != agreed) agreed = 0;
        }
        text += record;
        length -= record;
    }
    return agreed;
}

/* The first of tab, semicolon, comma that cuts all records into the same number of fields, more than one: in this
 * order, because commas appear inside of numbers and names more often. If none does, the one that finds most fields. */
char gram_csv_delimiter(const char *text, size_t length)
{
    static const char candidates[] = {'\t', ';', ','};
    char best = ',';
    size_t most = 1;
    for (size_t i = 0; i < sizeof candidates; i++) {
        size_t first;
        if (agreed_count(text, length, candidates[i], &first) > 1) return candidates[i];
        if (first > most) {
            most = first;
            best = candidates[i];
        }
    }
    return best;
}

/* Records and fields of delimited text, in a buffer. */
#ifndef GRAM_DATA_CSV_CSV_H
#define GRAM_DATA_CSV_CSV_H

#include <stddef.h>

/* One field: the bytes between its delimiters or, if it was quoted, between its quotes, where "" still stands for ". */
typedef struct gram_csv_field {
    const char *text;
    size_t length;
    int quoted;
} gram_csv_field;

/* A place in a record, which is text[0 .. length) without its line end. */
typedef struct gram_csv_cursor {
    const char *text;
    size_t length;
    size_t at;
    int finished;
    char delimiter;
} gram_csv_cursor;

typedef enum gram_csv_result { GRAM_CSV_END = 0, GRAM_CSV_FIELD = 1, GRAM_CSV_BAD_QUOTE = 2 } gram_csv_result;

/* The length of the record that starts at text, with its line end; 0 if it does not end in text[0 .. length). A line
 * that starts with # ends where it ends, and all lines do if the delimiter is 0. When a quote is still open at the end, *open_quote is 1. */
size_t gram_csv_record_length(const char *text, size_t length, char delimiter, int *open_quote);

/* The record without its line end. */
size_t gram_csv_strip(const char *text, size_t length);

/* Blank, or a comment? */
int gram_csv_is_skipped(const char *text, size_t length, char delimiter);

/* Takes the next field. A record has at least one. */
gram_csv_result gram_csv_next(gram_csv_cursor *cursor, gram_csv_field *field);

/* How many fields the record has. */
size_t gram_csv_count(const char *text, size_t length, char delimiter);

/* , ; or tab, by looking at the first records in text. */
char gram_csv_delimiter(const char *text, size_t length);

/* Copies the field with "" as ", returns the length. `out` has room for field->length bytes. */
size_t gram_csv_unquote(const gram_csv_field *field, char *out);

#endif

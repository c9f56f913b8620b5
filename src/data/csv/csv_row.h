/* From a record of delimited text to a row of numbers. Nothing here needs the context: any thread may parse. */
#ifndef GRAM_DATA_CSV_CSV_ROW_H
#define GRAM_DATA_CSV_CSV_ROW_H

#include <stdatomic.h>

#include "data/csv/csv.h"
#include "data/text_levels.h"

typedef enum gram_field_kind {
    GRAM_FIELD_NUMBER,
    GRAM_FIELD_MISSING,
    GRAM_FIELD_MARK, /* ? . or -: missing among numbers, a text among texts */
    GRAM_FIELD_INFINITE,
    GRAM_FIELD_TEXT
} gram_field_kind;

/* What a field is, and its value: NaN for a missing one, a mark or text. */
gram_field_kind gram_field_read(const gram_csv_field *field, double *value);

/* What was found in a column that was taken for numbers. */
enum { GRAM_FOUND_TEXT = 1, GRAM_FOUND_MARK = 2 };

/* What the fields of a record are to become. */
typedef struct gram_csv_layout {
    char delimiter;
    int64_t fields;       /* of a record */
    const int64_t *place; /* of each field in a row of the table, -1 if it is left out */
    gram_levels **levels; /* of each column of the table, NULL for numbers */
    atomic_uchar
        *found; /* for each column of numbers: GRAM_FOUND_...; NULL: text is a fault, and so are marks unless kept */
    int keep_missing;
} gram_csv_layout;

typedef enum gram_fault_kind {
    GRAM_FAULT_NONE = 0,
    GRAM_FAULT_FIELD,  /* not what the column takes: `field` is of kind `found` */
    GRAM_FAULT_COUNT,  /* the record has `count` fields */
    GRAM_FAULT_QUOTE,  /* text after a closing quote */
    GRAM_FAULT_ZERO,   /* a zero byte in a text */
    GRAM_FAULT_MEMORY, /* `status` */
} gram_fault_kind;

/* What is wrong with a record. */
typedef struct gram_csv_fault {
    gram_fault_kind kind;
    int64_t column; /* of the table */
    gram_csv_field field;
    gram_field_kind found;
    size_t count;
    gram_status status;
} gram_csv_fault;

/* Parses the record text[0 .. length), given without its line end, into `row`; 0 and the fault if it cannot be done. */
int gram_csv_parse(const gram_csv_layout *layout, const char *text, size_t length, double *row, gram_csv_fault *fault);

/* The fast way for the usual record: unquoted fields with no space around them, one after the other up to the line end,
 * which need not be looked for first. Returns the bytes taken with the line end, 0 if the record is of another kind
 * (then the row holds anything). */
size_t gram_csv_parse_plain(const gram_csv_layout *layout, const char *text, size_t length, double *row);

#endif

/* From a record of delimited text to a row of numbers. Nothing here needs the context: any thread may parse. */
#ifndef GRAM_DATA_CSV_CSV_ROW_H
#define GRAM_DATA_CSV_CSV_ROW_H

#include <stdatomic.h>

#include "data/csv/csv_field.h"
#include "data/table.h"

/* What was found in columns that were taken for numbers or dates. */
typedef struct gram_csv_found {
    atomic_int marks; /* ? . or -: whether there are any */
    atomic_int texts; /* fields that are neither numbers nor missing; at most INT_MAX */
} gram_csv_found;

/* What the fields of a record are to become. */
typedef struct gram_csv_layout {
    char delimiter;
    int64_t fields;          /* of a record */
    const int64_t *place;    /* of each field in a row of the table, -1 if it is left out */
    gram_levels **levels;    /* of each column of the table, NULL for numbers */
    const gram_table *table; /* whose columns these are */
    gram_csv_found *found;   /* for each column; NULL: text is a fault, and so are marks unless kept */
    gram_levels *words;      /* such texts, each once with its column; NULL: they are not kept */
    gram_field_rules rules;
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

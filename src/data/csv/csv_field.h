/* What a field of delimited text is: a number, a date, a missing value or text. Nothing here needs the context. */
#ifndef GRAM_DATA_CSV_CSV_FIELD_H
#define GRAM_DATA_CSV_CSV_FIELD_H

#include "data/csv/csv.h"

typedef enum gram_field_kind {
    GRAM_FIELD_NUMBER,
    GRAM_FIELD_DATE, /* 2024-03-01, also with a time of day */
    GRAM_FIELD_MISSING,
    GRAM_FIELD_MARK, /* ? . or -: missing among numbers, a text among texts */
    GRAM_FIELD_INFINITE,
    GRAM_FIELD_TEXT
} gram_field_kind;

/* How fields are written in this file. */
typedef struct gram_field_rules {
    int comma;           /* numbers have a decimal comma, and no point */
    const char *missing; /* texts that stand for a missing value, with commas between; NULL: none but the usual */
} gram_field_rules;

/* What a field is, and its value: NaN for a missing one, a mark or text; days since 1970-01-01 for a date. */
gram_field_kind gram_field_read(const gram_field_rules *rules, const gram_csv_field *field, double *value);

/* Is it a number but for commas or apostrophes between its digits, as 1,000 or 1.234,5? */
int gram_field_is_grouped(const gram_csv_field *field);

/* Digits, one comma, digits; *thousands: the comma may part thousands as well, as in 1,000. */
int gram_field_has_comma(const gram_csv_field *field, int *thousands);

#endif

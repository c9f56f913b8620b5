/* What each row of a table is: a value, a derivative, an integral, a part of a sum. */
#ifndef GRAM_LEARN_ROW_KINDS_H
#define GRAM_LEARN_ROW_KINDS_H

#include <gram/preparation.h>
#include <gram/table.h>

#include "method/method.h"
#include "points/functionals.h"

/* Rows as functionals. */
typedef struct gram_kind_rows {
    int64_t n;
    gram_points *points;    /* the caller releases them */
    gram_row_sense *senses; /* of each functional, in the arena; NULL: all are data */
    int64_t *of_row;        /* for each prepared row, which functional it is, or is a part of */
    gram_unknowns unknowns; /* with the terms of the rows, in the arena */
} gram_kind_rows;

/* The columns of the table that are not features because of the kinds, as a list with commas in the arena: that of the kinds, of
 * coefficients, and NAME_to and NAME_sd beside a column NAME. */
gram_status gram_kinds_columns(gram_context *context, gram_arena *arena, const gram_kinds *kinds,
                               const gram_table *table, const char **list);

/* Adds to the wanted columns of `options` those that kinds may need, all of them optional; names and list are in the arena. */
gram_status gram_kinds_wanted(gram_context *context, gram_arena *arena, const gram_kinds *kinds,
                              const gram_preparation *preparation, gram_table_options *options);

/* Makes functionals of prepared rows; of_row is in the arena. GRAM_ERROR_DATA names row and column of what is wrong. */
gram_status gram_kinds_rows(gram_context *context, gram_arena *arena, const gram_kinds *kinds,
                            const gram_preparation *preparation, const gram_table *table, const gram_prepared *data,
                            gram_kind_rows *rows);

/* The place of a column of the table by its name; -1: it has none. */
int64_t gram_kinds_find(const gram_table *table, const char *name);

#endif

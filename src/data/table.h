/* The table from inside: what a reader needs to fill one. */
#ifndef GRAM_DATA_TABLE_H
#define GRAM_DATA_TABLE_H

#include <gram/table.h>

#include "base/context.h"
#include "source.h"

struct gram_table {
    gram_memory *memory;
    int64_t n, d;
    int64_t capacity; /* numbers that the array holds */
    double *numbers;
    const char **names; /* d of them, which point into name_text */
    int64_t name_count; /* that the array `names` holds */
    char *name_text;
    size_t name_size;
    char *file; /* what messages call it */
    size_t file_size;
};

gram_status gram_table_create(gram_context *context, const char *file, gram_table **table);

/* Gives the table its d columns; `text` holds d names, each with its final 0, or is NULL for x1, x2, ... Repeated names
 * are an error. To be called once. */
gram_status gram_table_set_names(gram_context *context, gram_table *table, int64_t d, const char *text, size_t size);

/* Room for `rows` rows; what is there is kept. */
gram_status gram_table_reserve(gram_context *context, gram_table *table, int64_t rows);

/* The columns of the list `features` (NULL: all) without those of `ignore` (NULL: none), at least one. `columns` has
 * room for d of them. */
gram_status gram_table_choose(gram_context *context, const gram_table *table, const char *features, const char *ignore,
                              int64_t *columns, int64_t *count);

/* Keeps these names, in this order, and makes d their number. The numbers are not touched. */
gram_status gram_table_keep_names(gram_context *context, gram_table *table, const int64_t *columns, int64_t count);

/* The readers: they fill a table that was just created, with the columns of the options. */
gram_status gram_csv_read(gram_context *context, gram_source *source, const gram_table_options *options,
                          gram_table *table);
gram_status gram_npy_read(gram_context *context, gram_source *source, const gram_table_options *options,
                          gram_table *table);

#endif

/* Tables: n rows of d named columns of numbers, read from a file.
 *
 * CSV and TSV: the delimiter (, ; or tab) and a header (a first row that holds something else than numbers) are found by
 * looking; fields may be quoted; lines may end in CR LF; a UTF-8 byte order mark, blank lines and lines that start
 * with # are skipped; numbers have a point whatever the locale. NumPy's .npy: one or two dimensions, little-endian f4
 * or f8, C or Fortran order. Columns without a name are called x1, x2, ... after their place.
 *
 * Common failures: GRAM_ERROR_FILE (cannot be opened or read), GRAM_ERROR_DATA (everything about the contents; the
 * message names file, line and column), GRAM_ERROR_BUDGET, GRAM_ERROR_CANCELLED. */
#ifndef GRAM_TABLE_H
#define GRAM_TABLE_H

#include <gram/context.h>

GRAM_BEGIN

typedef struct gram_table gram_table;

typedef enum gram_format {
    GRAM_FORMAT_AUTO = 0, /* by the file's ending: .csv, .tsv, .npy; standard input is taken for CSV */
    GRAM_FORMAT_CSV = 1,
    GRAM_FORMAT_TSV = 2, /* as CSV: the delimiter is found by looking */
    GRAM_FORMAT_NPY = 3
} gram_format;

typedef struct gram_table_options {
    size_t size; /* sizeof of this struct, set by gram_table_options_init */
    gram_format format;
    const char *features; /* the columns to keep, as for gram_table_select; NULL: all */
    const char *ignore;   /* the columns to leave out; what they hold does not matter; NULL: none */
} gram_table_options;

/* Fills in the defaults. `size` is sizeof *options as the caller knows it. */
GRAM_API void gram_table_options_init(gram_table_options *options, size_t size);

/* Reads a file, "-" is standard input; options may be NULL. Missing values (empty, NA, NaN), infinities, rows of
 * different lengths and repeated names are errors. The caller destroys the table. O(size of the file); the text is
 * never held as a whole. */
GRAM_API gram_status gram_table_read(gram_context *context, const char *path, const gram_table_options *options,
                                     gram_table **table);

/* The same from memory, which is borrowed for the call. `name` is what messages call it, and its ending tells the format
 * when the options do not. */
GRAM_API gram_status gram_table_read_memory(gram_context *context, const char *name, const void *bytes, size_t length,
                                            const gram_table_options *options, gram_table **table);

/* Takes NULL. */
GRAM_API void gram_table_destroy(gram_table *table);

/* n >= 1 and d >= 1. */
GRAM_API int64_t gram_table_rows(const gram_table *table);
GRAM_API int64_t gram_table_columns(const gram_table *table);

/* The name of column 0 .. d-1. Valid as long as the table and its columns stay. */
GRAM_API const char *gram_table_column_name(const gram_table *table, int64_t column);

/* The numbers: row-major, row i starts at i * gram_table_stride. All finite. They belong to the table. */
GRAM_API const double *gram_table_numbers(const gram_table *table);
GRAM_API int64_t gram_table_stride(const gram_table *table);

/* Reads a list of columns: names, places counted from 1, and ranges of both, as in "x1,x3:x5,7". A name goes before a
 * place. Writes at most d columns (counted from 0, in the order of the list) to `columns` and their number to *count.
 * GRAM_ERROR_DATA for a column that the table has not (the message suggests a near name), GRAM_ERROR_SYNTAX for an
 * empty item, a range that runs backwards or a column given twice. O(items d). */
GRAM_API gram_status gram_table_find_columns(gram_context *context, const gram_table *table, const char *list,
                                             int64_t *columns, int64_t *count);

/* Keeps the columns of the list `features` in its order (NULL: all), then drops those of the list `ignore` (NULL: none);
 * the numbers are moved within their array. No column left is GRAM_ERROR_DATA. A failure leaves the table as it was.
 * O(n d). */
GRAM_API gram_status gram_table_select(gram_context *context, gram_table *table, const char *features,
                                       const char *ignore);

/* Subtracts each column's mean and divides by its population deviation; a constant column is only centred. What was
 * subtracted and divided by goes to mean[d] and deviation[d] (1 for a constant column) unless they are NULL. O(n d). */
GRAM_API gram_status gram_table_standardise(gram_context *context, gram_table *table, double *mean, double *deviation);

GRAM_END

#endif

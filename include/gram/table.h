/* Tables: n rows of d named columns of numbers or of text, read from a file.
 *
 * CSV and TSV: the delimiter (, ; or tab) and a header are found by looking; fields may be quoted; lines may end in CR
 * LF; a UTF-8 byte order mark, blank lines and lines that start with # are skipped; numbers have a point whatever the
 * locale. LIBSVM's text: `label index:value ...`, indices from 1 and ascending, what is not named is 0; the columns are
 * x1, x2, ... and last y, the label. NumPy's .npy: one or two dimensions, little-endian f4 or f8, C or Fortran order.
 * SQLite: "FILE?QUERY", the rows of one select; FILE alone, if the database has one table. NULL is a missing value, a BLOB an error; the
 * database is only read. Whether libgram can, was decided when it was built (GRAM_ERROR_UNSUPPORTED).
 * FASTA, and text with one document per line, are columns of texts. Any of the others may be compressed by gzip. Columns without a name are called x1, x2, ... after their place.
 *
 * A first row is a header if one of its fields is text above numbers; or if all of its fields are text or empty, no two
 * are the same and none is found again below, in its column. The first 100 rows are looked at.
 *
 * Common failures: GRAM_ERROR_FILE (cannot be opened or read), GRAM_ERROR_DATA (everything about the contents; the
 * message names file, line and column), GRAM_ERROR_BUDGET, GRAM_ERROR_CANCELLED. */
#ifndef GRAM_TABLE_H
#define GRAM_TABLE_H

#include <gram/context.h>

GRAM_BEGIN

typedef struct gram_table gram_table;

typedef enum gram_format {
    GRAM_FORMAT_AUTO =
        0, /* by the file's ending: .csv, .tsv, .npy, .svm, .libsvm, .fasta, .fa, .txt, .npz, before .gz if there is one; standard
                           * input is taken for CSV */
    GRAM_FORMAT_CSV = 1,
    GRAM_FORMAT_TSV = 2, /* as CSV: the delimiter is found by looking */
    GRAM_FORMAT_NPY = 3,
    GRAM_FORMAT_LIBSVM = 4,
    GRAM_FORMAT_SQLITE = 5, /* .sqlite, .sqlite3, .db */
    GRAM_FORMAT_FASTA =
        6, /* .fasta, .fa: the column sequence, of texts, and those that all descriptions name, as in class=donor; id and description if they are wanted */
    GRAM_FORMAT_TEXT = 7, /* .txt: one document per line, the column text */
    GRAM_FORMAT_NPZ =
        8 /* .npz: sparse rows as scipy.sparse.save_npz writes them (CSR), the column x; an array y in the file is the column y */
} gram_format;

typedef enum gram_header {
    GRAM_HEADER_AUTO = 0, /* found by looking */
    GRAM_HEADER_YES = 1,
    GRAM_HEADER_NO = 2
} gram_header;

/* What a field that is neither a number nor missing does to its column. */
typedef enum gram_text {
    GRAM_TEXT_ERROR = 0, /* it is an error */
    GRAM_TEXT_CATEGORIES =
        1 /* all of the column is text: its different texts are the levels, its numbers their places */
} gram_text;

/* What a column holds that is neither numbers nor categories. */
typedef enum gram_column_kind {
    GRAM_COLUMN_PLAIN = 0, /* numbers or categories */
    GRAM_COLUMN_SPARSE =
        1, /* rows of LIBSVM's text, of which only what is not 0 is kept; its numbers are their places, 0, 1, ... */
    GRAM_COLUMN_TEXTS = 2, /* any number of texts of any length; its numbers are the places of the levels */
    GRAM_COLUMN_GIVEN = 3  /* what is known by a given matrix only; its numbers are the matrix's rows, 0, 1, ... */
} gram_column_kind;

/* A column that is wanted, by its exact name. */
typedef struct gram_wanted {
    const char *name;
    int text;     /* 1: categories, 0: numbers, whatever it holds */
    int optional; /* 1: may be absent */
    int date;     /* 1: numbers that are dates */
    gram_column_kind kind;
    int64_t
        width; /* of sparse rows: indices from 1 to this are read, others left out; of a given matrix: rows of the fit */
} gram_wanted;

typedef struct gram_table_options {
    size_t size; /* sizeof of this struct, set by gram_table_options_init */
    gram_format format;
    const char *features; /* the columns to keep, as for gram_table_select; NULL: all */
    const char *ignore;   /* the columns to leave out; what they hold does not matter; NULL: none */
    gram_header header;
    gram_text text;
    const char *categories;    /* a LIST of columns that are text even if all of them are numbers; NULL: none */
    int keep_missing;          /* 1: missing values become NaN and infinities stay; 0: both are errors */
    const gram_wanted *wanted; /* not NULL: the table has these columns, in this order and without the absent ones, and
                                * features, ignore, text and categories are not looked at */
    int64_t wanted_count;
    const char *missing_texts; /* texts that mean a missing value besides the usual, with commas between; NULL: none */
    int odd_words; /* 1, with GRAM_TEXT_CATEGORIES: a column of numbers but for a few texts stays one of numbers, for a
                    * preparation, which refuses it and names them; 0: it is text */
    int sparse;    /* 1: LIBSVM's text that is mostly zeros becomes a column of sparse rows, x, and the label y */
    const char *texts; /* a LIST of columns of texts that are no categories; NULL: none */
    /* A file with a given matrix: the table's first column, called gram, holds its rows, as many as the table has. For a fit it is n x n and symmetric (to
     * rounding: entries become the mean of both); with a wanted column of that kind it has the kernel of these rows with those of the fit. NULL: none, but LIBSVM's
     * precomputed format (0:serial first on each line) has one in it. gram_table_read only */
    const char *gram;
    int64_t
        gram_rows; /* of LIBSVM's precomputed format: rows of the fit that the columns are; 0: the rows are those of a fit */
    const char *
        graphs; /* the same for texts that are graphs, `a-b b-c;a:C b:O c:C` (docs/inputs.md); what is none is GRAM_ERROR_DATA with its line */
    const char
        *bag; /* one column whose values are names, of bags: they may be many, and numbers are names too; NULL: none */
} gram_table_options;

/* Fills in the defaults. `size` is sizeof *options as the caller knows it. */
GRAM_API void gram_table_options_init(gram_table_options *options, size_t size);

/* A file as messages call it: "-" is "standard input". */
GRAM_API const char *gram_data_name(const char *path);

/* Reads a file, "-" is standard input; options may be NULL. Rows of different lengths and repeated names are errors, and
 * unless the options say otherwise text, missing values (empty, NA, NaN, null in any case of letters, and ? . - in a column
 * without other text) and infinities. The caller destroys the table. A plain file is read by all threads of the context. O(size of the file); its text is never held as
 * a whole, but for standard input with GRAM_TEXT_CATEGORIES, which may have to be read twice. */
GRAM_API gram_status gram_table_read(gram_context *context, const char *path, const gram_table_options *options,
                                     gram_table **table);

/* The same from memory, which is borrowed for the call. `name` is what messages call it, and its ending decides the format
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

/* Did the names come from the file? (Those of LIBSVM's text count as such.) */
GRAM_API int gram_table_has_header(const gram_table *table);

/* The line of the file on which row 0 .. n-1 starts, from 1; 0 if the file has no lines (.npy). */
GRAM_API int64_t gram_table_line(const gram_table *table, int64_t row);

/* The numbers: row-major, row i starts at i * gram_table_ld. All finite unless options.keep_missing. They belong to
 * the table. */
GRAM_API const double *gram_table_numbers(const gram_table *table);
GRAM_API int64_t gram_table_ld(const gram_table *table);

enum { GRAM_MOST_LEVELS = 10000, GRAM_LONGEST_LEVEL = 1000 };

/* A text column holds numbers 0 .. levels-1, the places of its levels, which are in the order of strcmp; NaN is a missing
 * value. A column of more than GRAM_MOST_LEVELS levels, or of one longer than GRAM_LONGEST_LEVEL bytes, keeps none of
 * them: its level count is -1, its numbers are NaN. The level count of a column of numbers is 0. */
GRAM_API int gram_table_column_is_text(const gram_table *table, int64_t column);

/* Its kind; for sparse rows also how many columns they have (else 0), which may be NULL. */
GRAM_API gram_column_kind gram_table_column_kind(const gram_table *table, int64_t column, int64_t *width);

/* Numbers that were dates (2024-03-01, also with a time of day): days since 1970-01-01. */
GRAM_API int gram_table_column_is_date(const gram_table *table, int64_t column);
GRAM_API int64_t gram_table_level_count(const gram_table *table, int64_t column);
GRAM_API const char *gram_table_level(const gram_table *table, int64_t column, int64_t level);

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
 * subtracted and divided by goes to mean[d] and deviation[d] (1 for a constant column) unless they are NULL. Text and
 * missing values are GRAM_ERROR_DATA. O(n d). */
GRAM_API gram_status gram_table_standardise(gram_context *context, gram_table *table, double *mean, double *deviation);

/* ---- piece by piece ---- */

/* Reads a file a number of rows at a time: memory does not grow with the file. Which columns are text is told
 * (options.wanted or options.categories) or, with GRAM_TEXT_CATEGORIES, found: then the reader may start again, see
 * gram_reader_restarts. For LIBSVM's text the columns must be told (options.wanted; else GRAM_ERROR_ARGUMENT). Path and options may go
 * after the call, but not what memory holds. The caller destroys the reader (takes NULL). */
typedef struct gram_reader gram_reader;

GRAM_API gram_status gram_reader_open(gram_context *context, const char *path, const gram_table_options *options,
                                      gram_reader **reader);
GRAM_API gram_status gram_reader_open_memory(gram_context *context, const char *name, const void *bytes, size_t length,
                                             const gram_table_options *options, gram_reader **reader);

/* The next rows, at most `rows`; *table is NULL at the end. The table belongs to the reader and is valid until the
 * next call; the levels of its text columns are those of its own rows. A file without rows is an error as for
 * gram_table_read. After a failure the reader can only be closed. */
GRAM_API gram_status gram_reader_next(gram_context *context, gram_reader *reader, int64_t rows,
                                      const gram_table **table);
GRAM_API void gram_reader_close(gram_reader *reader);

/* How often the reader found text in a column that had been one of numbers so far. Each time the column became text, and that call
 * of gram_reader_next returned the first rows again: what was made of those before is not valid any more. */
GRAM_API int64_t gram_reader_restarts(const gram_reader *reader);

GRAM_END

#endif

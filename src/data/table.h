/* The table from inside: what a reader needs to fill one. */
#ifndef GRAM_DATA_TABLE_H
#define GRAM_DATA_TABLE_H

#include <gram/table.h>

#include "base/context.h"
#include "data/byte_source.h"
#include "data/text_levels.h"
#include "points/objects.h"

struct gram_table {
    gram_memory *memory;
    int64_t n, d;
    int64_t capacity;     /* numbers that the array holds */
    int64_t row_capacity; /* rows of as many as it has of each */
    double *numbers;      /* of all columns but those that are lent */
    const double *lent;   /* the first `lent_d` columns, if they are somebody else's; rows are lent_ld apart */
    int64_t lent_d, lent_ld;
    const char **names;   /* d of them, which point into name_text */
    gram_levels **levels; /* of the text columns, NULL for numbers; those of columns that were dropped come last */
    unsigned char *marks; /* of each column: GRAM_COLUMN_... */
    gram_levels *words;   /* what odd columns hold beside numbers (odd_words.c); NULL: nothing */
    int64_t name_count;   /* that the arrays `names` and `levels` hold */
    char *name_text;
    int named;             /* the names come from the file */
    char *file;            /* what messages call it */
    int64_t first_row;     /* rows of the file before the first one here */
    int64_t first_line;    /* of row 0, 0 if the file has no lines */
    int64_t *lines;        /* of each row; NULL while row i is on line first_line + i */
    int64_t line_capacity; /* that `lines` holds */
    const char *hint;      /* what a message of columns that are not there ends with; NULL: nothing */
    gram_objects *sparse;  /* the rows of the sparse column, if there is one */
    gram_objects *given;   /* the rows of a given matrix, if there is a column of them */
    int64_t restarts;      /* of a reader that found text where numbers had been */
};

/* What the reader saw in a column. */
enum {
    GRAM_COLUMN_DATE = 1,       /* numbers that were dates */
    GRAM_COLUMN_ODD = 2,        /* numbers but for a few texts, whose cells are gram_odd_cell() */
    GRAM_COLUMN_GROUPED = 4,    /* text that would be numbers but for separators between their digits */
    GRAM_COLUMN_HAS_SPARSE = 8, /* gram_column_kind */
    GRAM_COLUMN_HAS_TEXTS = 16,
    GRAM_COLUMN_HAS_GIVEN = 32,
    GRAM_COLUMN_HAS_GRAPHS = 64 /* texts that must be graphs */
};

/* Numbers of a row in the table's own array. */
static inline int64_t gram_table_own_columns(const gram_table *table)
{
    return table->d - table->lent_d;
}

/* A cell of the table's own columns, to be written. */
static inline double *gram_table_own(const gram_table *table, int64_t row, int64_t column)
{
    return &table->numbers[row * gram_table_own_columns(table) + column - table->lent_d];
}

static inline double gram_table_at(const gram_table *table, int64_t row, int64_t column)
{
    return column < table->lent_d ? table->lent[row * table->lent_ld + column] : *gram_table_own(table, row, column);
}

/* The first `count` columns of the table, which has its names and no rows yet, are this array, as long as the table lives. */
void gram_table_lend(gram_table *table, int64_t count, const double *numbers, int64_t ld);

gram_status gram_table_create(gram_context *context, const char *file, gram_table **table);

/* Gives the table its d columns; `text` holds d names, each with its final 0, or is NULL for x1, x2, ... Repeated names
 * are an error. To be called once. */
gram_status gram_table_set_names(gram_context *context, gram_table *table, int64_t d, const char *text, size_t size);

/* Room for `rows` rows; what is there is kept. */
gram_status gram_table_reserve(gram_context *context, gram_table *table, int64_t rows);

static inline const char *gram_table_hint(const gram_table *table)
{
    return table->hint ? table->hint : "";
}

/* Row `row` starts on that line. Rows are given in order. */
gram_status gram_table_note_line(gram_context *context, gram_table *table, int64_t row, int64_t line);

/* Makes room for a line of each of `rows` rows. */
gram_status gram_table_reserve_lines(gram_context *context, gram_table *table, int64_t rows);

/* ---- odd_words.c ---- */

/* A NaN that stands for a text among numbers. */
double gram_odd_cell(void);

/* Any thread may add; GRAM_ERROR_MEMORY or GRAM_ERROR_BUDGET without a message. */
gram_status gram_odd_words_add(gram_levels *words, const char *column, const char *text, size_t length);

/* Are these texts so few, among the rows that a column has, that it is one of numbers? After the set was sorted. */
int gram_odd_words_few(const gram_levels *words, const char *column, int64_t texts, int64_t rows);

/* Would all of them be numbers but for separators? */
int gram_odd_words_grouped(const gram_levels *words, const char *column);

/* A column that has a role: is it what the reader was not sure of? */
gram_status gram_table_check_odd(gram_context *context, const gram_table *table, int64_t column);

/* Makes a column one of text, unless it is already; one of texts that are no categories, which may be many and long. */
gram_status gram_table_make_text(gram_context *context, gram_table *table, int64_t column);
gram_status gram_table_make_texts(gram_context *context, gram_table *table, int64_t column);

/* Are all texts of columns of graphs graphs? GRAM_ERROR_DATA names the line of one that is not (group/graph_cells.c). */
gram_status gram_table_check_graphs(gram_context *context, const gram_table *table);

/* When all rows are there: sorts the levels and writes their places into the rows, which hold their slots. */
gram_status gram_table_sort_levels(gram_context *context, gram_table *table);

/* The same for a table whose text columns hold numbers: the levels are these as text. */
gram_status gram_table_numbers_to_text(gram_context *context, gram_table *table);

/* Where row `row` stands, for a message: "data.csv:17:" or "data.npy: row 17,". */
enum { GRAM_WHERE_SIZE = 320 };
char *gram_table_where(const gram_table *table, int64_t row, char out[GRAM_WHERE_SIZE]);

/* The column of that name, -1 if there is none. */
int64_t gram_table_column(const gram_table *table, const char *name);

/* What is to be said of a column that is needed and not there; names a near one. */
gram_status gram_table_no_column(gram_context *context, const gram_table *table, const char *name);

/* The columns that the options ask for, at least one; those that are to be text are made so. `columns` has room for d of
 * them. */
gram_status gram_table_choose(gram_context *context, gram_table *table, const gram_table_options *options,
                              int64_t *columns, int64_t *count);

/* Keeps these columns, in this order, and makes d their number. The numbers are not touched. */
gram_status gram_table_keep_columns(gram_context *context, gram_table *table, const int64_t *columns, int64_t count);

/* Both at once, for a table that has its numbers. */
gram_status gram_table_apply_options(gram_context *context, gram_table *table, const gram_table_options *options);

/* Are there NaN or infinities, and are they errors? */
gram_status gram_table_check_finite(gram_context *context, const gram_table *table, const gram_table_options *options);

/* A format: open finds the columns of a table that was just created, fill adds rows to it until it has `most` or the
 * source ends, close takes NULL. `read`, if not NULL, does all of it in a better way; the source can be rewound then. `skip`, if not NULL, passes over
 * as many rows quicker than `fill` makes them; *skipped is less at the end of the source only. */
typedef struct gram_format_type {
    gram_status (*open)(gram_context *context, gram_source *source, const gram_table_options *options,
                        gram_table *table, void **state);
    gram_status (*fill)(gram_context *context, void *state, int64_t most);
    void (*close)(void *state);
    gram_status (*read)(gram_context *context, gram_source *source, const gram_table_options *options,
                        gram_table *table);
    gram_status (*skip)(gram_context *context, void *state, int64_t most, int64_t *skipped);
} gram_format_type;

/* In the place of gram_reader_next, by a reader whose columns are told: the next rows, at most `rows`, are somebody else's. Of text that is cut into records
 * and not parsed no more is checked than its quotes. */
gram_status gram_reader_skip(gram_context *context, gram_reader *reader, int64_t rows, int64_t *skipped);

extern const gram_format_type gram_csv_type, gram_npy_type, gram_libsvm_type;

#endif

/* Delimited text, read from the front: records one by one from a buffer, the head of the file, rows into a table. */
#ifndef GRAM_DATA_CSV_CSV_STREAM_H
#define GRAM_DATA_CSV_CSV_STREAM_H

#include "data/csv/csv_row.h"
#include "data/table.h"

/* How much text is held at once. Tests take less than is usual, so that a short text meets every seam. */
typedef struct gram_csv_sizes {
    size_t buffer; /* of the stream, until a record does not fit; also what is looked at to find the header */
    size_t share;  /* the bytes of a piece; each thread's buffer has twice as many; 0: no pieces */
} gram_csv_sizes;

extern const gram_csv_sizes gram_csv_usual_sizes;

typedef struct gram_csv {
    gram_context *context; /* of the present call */
    gram_source *source;
    gram_table *table;
    size_t share; /* of a piece */
    char *buffer;
    size_t size;       /* of the buffer */
    size_t start, end; /* what is not yet taken: buffer[start .. end) */
    int finished;      /* the source has no more */
    int64_t line;      /* of the record that was taken last, from 1 */
    int64_t lines;     /* before buffer[start] */
    int64_t consumed;  /* bytes before buffer[start] */
    gram_csv_layout layout;
    int64_t *place;                    /* the layout's */
    gram_csv_found *found;             /* the layout's */
    int64_t columns;                   /* items of `found` */
    int64_t data_lines, data_consumed; /* lines and bytes before the first row, for a reader that starts again */
} gram_csv;

typedef struct gram_csv_record {
    const char *text; /* NULL at the end */
    size_t length;    /* without the line end */
} gram_csv_record;

/* ---- csv_stream.c ---- */

/* Source and table are borrowed. */
gram_status gram_csv_start(gram_context *context, gram_source *source, gram_table *table, const gram_csv_sizes *sizes,
                           gram_csv *csv);
void gram_csv_end(gram_csv *csv);

/* Fills the buffer until it holds `records` records that are neither blank nor comments, or all that there is. */
gram_status gram_csv_look_ahead(gram_csv *csv, int records);

/* The next record that is neither blank nor a comment. Valid until the next call. */
gram_status gram_csv_take(gram_csv *csv, gram_csv_record *record);

/* The same, but it stays in the buffer: *at is where to look, from 0; text is NULL when the buffer holds no more. */
gram_csv_record gram_csv_peek(const gram_csv *csv, size_t *at);

/* Takes records into rows of the table until it has `most` rows or the source ends. */
gram_status gram_csv_fill(gram_csv *csv, int64_t most);

/* Passes over records of rows; *skipped is less than `most` when the source ends. */
gram_status gram_csv_skip(gram_csv *csv, int64_t most, int64_t *skipped);

/* Starts again with the first row of the data, after gram_csv_open. */
gram_status gram_csv_again(gram_csv *csv, int64_t lines, int64_t consumed);

/* Reports what is wrong with the record on that line. */
gram_status gram_csv_report(const gram_csv *csv, int64_t line, const gram_csv_fault *fault);

int64_t gram_csv_count_lines(const char *text, size_t length);

/* ---- csv_head.c ---- */

/* Finds delimiter, header, columns and, as far as the first rows tell, their types; takes the header. */
gram_status gram_csv_open(gram_csv *csv, const gram_table_options *options);

/* ---- csv_pieces.c ---- */

/* Reads all rows by all threads; the source is random. *done is 0, and nothing happened, if a record is too long for
 * that. */
gram_status gram_csv_read_pieces(gram_csv *csv, int *done);

/* ---- csv_read.c ---- */

/* All rows into a table that was just created: by pieces where that goes, else as a stream. Both give the same table and
 * the same failures. */
gram_status gram_csv_read(gram_context *context, gram_source *source, const gram_table_options *options,
                          const gram_csv_sizes *sizes, gram_table *table);

#endif

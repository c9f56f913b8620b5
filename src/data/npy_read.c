/* A table from NumPy's .npy. Nothing in the header is believed before it was checked: the sizes against what can be
 * addressed and against the size of the file. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "data/npy_header.h"
#include "data/table.h"

enum { MAX_HEADER = 64 << 10, PIECE_BYTES = 256 << 10 };

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the .npy reader and writer copy little-endian numbers as they are"
#endif

typedef struct npy_reader {
    gram_context *context; /* of the present call */
    gram_source *source;
    gram_table *table;
    gram_npy_shape shape;
    size_t item;      /* bytes of a number */
    int64_t n, d;     /* of the file */
    int64_t *columns; /* of the file, for each column of the table; room for d */
    int64_t next;     /* row to be read */
    int64_t offset;   /* of the numbers in the file */
    int keep_missing;
    char *piece; /* scratch: at least PIECE_BYTES and a row */
    int64_t piece_bytes;
} npy_reader;

static gram_status read_fully(npy_reader *reader, void *out, size_t size)
{
    gram_status status = GRAM_OK;
    size_t got;
    TRY(gram_source_read(reader->context, reader->source, out, size, &got));
    FAIL_IF(got < size, reader->context, GRAM_ERROR_DATA, "%s: the file is cut off", gram_source_name(reader->source));
done:
    return status;
}

/* Magic, version, and the length of the dictionary: 2 bytes in version 1, 4 in versions 2 and 3. */
static gram_status read_prelude(npy_reader *reader, size_t *length)
{
    gram_status status = GRAM_OK;
    const char *name = gram_source_name(reader->source);
    unsigned char bytes[GRAM_NPY_PRELUDE];
    TRY(read_fully(reader, bytes, 10));
    FAIL_IF(memcmp(bytes, "\x93NUMPY", 6) != 0, reader->context, GRAM_ERROR_DATA, "%s: this is not an .npy file", name);
    FAIL_IF(bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0, reader->context, GRAM_ERROR_DATA,
            "%s: version %d.%d of .npy is not known", name, bytes[6], bytes[7]);
    *length = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (bytes[6] > 1) {
        TRY(read_fully(reader, bytes + 10, 2));
        *length |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    }
    FAIL_IF(*length > MAX_HEADER, reader->context, GRAM_ERROR_DATA, "%s: a header of %zu bytes is too long", name,
            *length);
done:
    return status;
}

static gram_status check_shape(npy_reader *reader)
{
    gram_status status = GRAM_OK;
    const gram_npy_shape *shape = &reader->shape;
    const char *name = gram_source_name(reader->source);
    char type[GRAM_EXCERPT_SIZE];
    if (strcmp(shape->type, "<f8") == 0) reader->item = 8;
    if (strcmp(shape->type, "<f4") == 0) reader->item = 4;
    FAIL_IF(reader->item == 0, reader->context, GRAM_ERROR_DATA,
            "%s: numbers of type '%s'; '<f8' and '<f4' can be read (in NumPy: a.astype('<f8'))", name,
            gram_data_excerpt(shape->type, strlen(shape->type), type));
    FAIL_IF(shape->dimensions != 1 && shape->dimensions != 2, reader->context, GRAM_ERROR_DATA,
            "%s: an array of %d dimensions; 1 or 2 are needed", name, shape->dimensions);
    FAIL_IF(shape->size[0] == 0, reader->context, GRAM_ERROR_DATA, "%s: no rows", name);
    FAIL_IF(shape->dimensions == 2 && shape->size[1] == 0, reader->context, GRAM_ERROR_DATA, "%s: no columns", name);
done:
    return status;
}

static gram_status check_size(npy_reader *reader, int64_t n, int64_t d)
{
    gram_status status = GRAM_OK;
    const gram_source *source = reader->source;
    const int known = gram_source_is_plain(source) && gram_source_size(source) >= 0;
    const int64_t left = gram_source_size(source) - gram_source_position(source);
    int64_t numbers, bytes;
    FAIL_IF(!gram_size_multiply(n, d, &numbers) || !gram_size_multiply(numbers, 8, &bytes), reader->context,
            GRAM_ERROR_OVERFLOW, "%s: %" PRId64 " x %" PRId64 " numbers are more than can be addressed",
            gram_source_name(source), n, d);
    bytes = numbers * (int64_t)reader->item;
    FAIL_IF(known && left < bytes, reader->context, GRAM_ERROR_DATA,
            "%s: the file is cut off: %" PRId64 " x %" PRId64 " numbers take %" PRId64 " bytes, %" PRId64 " are there",
            gram_source_name(source), n, d, bytes, left);
    FAIL_IF(known && left > bytes, reader->context, GRAM_ERROR_DATA, "%s: %" PRId64 " bytes after the end of the array",
            gram_source_name(source), left - bytes);
done:
    return status;
}

static double number_at(const npy_reader *reader, int64_t index)
{
    double wide;
    float narrow;
    const char *place = reader->piece + (size_t)index * reader->item;
    if (reader->item == 8) {
        memcpy(&wide, place, sizeof wide);
        return wide;
    }
    memcpy(&narrow, place, sizeof narrow);
    return narrow;
}

/* ---- rows: number k of the file is (i, j), k = i d + j in C order, k = j n + i in Fortran order ---- */

static gram_status read_rows(npy_reader *reader, int64_t count, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t d = reader->table->d, most = reader->piece_bytes / (int64_t)(reader->item * (size_t)reader->d);
    for (int64_t done_rows = 0; done_rows < count;) {
        const int64_t rows = count - done_rows < most ? count - done_rows : most;
        TRY(read_fully(reader, reader->piece, (size_t)(rows * reader->d) * reader->item));
        for (int64_t i = 0; i < rows; i++)
            for (int64_t j = 0; j < d; j++)
                out[(done_rows + i) * d + j] = number_at(reader, i * reader->d + reader->columns[j]);
        done_rows += rows;
    }
done:
    return status;
}

/* Rows next .. next + count of Fortran order, each column from its own place. */
static gram_status read_columns_at(npy_reader *reader, int64_t count, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t d = reader->table->d, item = (int64_t)reader->item, most = reader->piece_bytes / item;
    for (int64_t j = 0; j < d; j++)
        for (int64_t row = 0; row < count;) {
            const int64_t rows = count - row < most ? count - row : most;
            const int64_t place = reader->columns[j] * reader->n + reader->next + row;
            TRY(gram_pulse(reader->context, "reading", (double)(j * count + row) / ((double)d * (double)count)));
            FAIL_IF(!gram_source_read_at(reader->source, reader->offset + place * item, reader->piece,
                                         (size_t)(rows * item)),
                    reader->context, GRAM_ERROR_FILE, "%s: cannot be read", gram_source_name(reader->source));
            for (int64_t i = 0; i < rows; i++) out[(row + i) * d + j] = number_at(reader, i);
            row += rows;
        }
done:
    return status;
}

/* All of Fortran order from the front; columns that are not wanted are passed over. */
static gram_status read_columns(npy_reader *reader, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t n = reader->n, d = reader->table->d, most = reader->piece_bytes / (int64_t)reader->item;
    for (int64_t column = 0; column < reader->d; column++) {
        int64_t j = 0;
        while (j < d && reader->columns[j] != column) j++;
        for (int64_t row = 0; row < n;) {
            const int64_t rows = n - row < most ? n - row : most;
            TRY(read_fully(reader, reader->piece, (size_t)rows * reader->item));
            for (int64_t i = 0; i < rows && j < d; i++) out[(row + i) * d + j] = number_at(reader, i);
            row += rows;
        }
    }
done:
    return status;
}

static gram_status check_end(npy_reader *reader)
{
    gram_status status = GRAM_OK;
    char more;
    size_t got;
    TRY(gram_source_read(reader->context, reader->source, &more, 1, &got));
    FAIL_IF(got > 0, reader->context, GRAM_ERROR_DATA, "%s: bytes after the end of the array",
            gram_source_name(reader->source));
done:
    return status;
}

static gram_status read_some(npy_reader *reader, int64_t count, double *out)
{
    gram_status status = GRAM_OK;
    const int whole = count == reader->n, fortran = reader->shape.fortran_order && reader->d > 1 && reader->n > 1;
    int all = reader->d == reader->table->d; /* the file's columns, as they are */
    for (int64_t j = 0; all && j < reader->d; j++) all = reader->columns[j] == j;
    if (fortran && gram_source_is_random(reader->source)) return read_columns_at(reader, count, out);
    FAIL_IF(fortran && !whole, reader->context, GRAM_ERROR_DATA,
            "%s: its numbers are in Fortran order, which cannot be read by blocks from here; write them in C order",
            gram_source_name(reader->source));
    if (fortran)
        TRY(read_columns(reader, out));
    else if (reader->item == 8 && all)
        TRY(read_fully(reader, out, (size_t)(count * reader->d) * sizeof(double)));
    else
        TRY(read_rows(reader, count, out));
    if (reader->next + count == reader->n) TRY(check_end(reader));
done:
    return status;
}

static gram_status fill_npy(gram_context *context, void *state, int64_t most)
{
    gram_status status = GRAM_OK;
    npy_reader *reader = state;
    gram_table *table = reader->table;
    const gram_table_options checks = {.keep_missing = reader->keep_missing};
    const int64_t left = reader->n - reader->next, room = most - table->n, count = left < room ? left : room;
    reader->context = context;
    if (count == 0) return status;
    TRY(gram_table_reserve(context, table, table->n + count));
    TRY(read_some(reader, count, table->numbers + table->n * table->d));
    reader->next += count;
    table->n += count;
    TRY(gram_table_check_finite(context, table, &checks));
    TRY(gram_table_numbers_to_text(context, table));
done:
    return status;
}

/* ---- opening and closing ---- */

static gram_status read_header(npy_reader *reader)
{
    gram_status status = GRAM_OK;
    char *text = NULL;
    size_t length = 0;
    TRY(read_prelude(reader, &length));
    TRY(gram_take(reader->context, "npy: header", (int64_t)length, 1, (void **)&text));
    TRY(read_fully(reader, text, length));
    const char *wrong = length > 0 ? gram_npy_parse(text, length, &reader->shape) : "its header is empty";
    FAIL_IF(wrong, reader->context, GRAM_ERROR_DATA, "%s: %s", gram_source_name(reader->source), wrong);
    TRY(check_shape(reader));
    reader->n = reader->shape.size[0];
    reader->d = reader->shape.dimensions == 2 ? reader->shape.size[1] : 1;
    reader->offset = gram_source_position(reader->source);
    TRY(check_size(reader, reader->n, reader->d));
done:
    gram_give(reader->context, text);
    return status;
}

static gram_status choose_columns(npy_reader *reader, const gram_table_options *options)
{
    gram_status status = GRAM_OK;
    gram_table *table = reader->table;
    int64_t count, *columns = NULL;
    TRY(gram_table_set_names(reader->context, table, reader->d, NULL, 0));
    TRY(gram_take_from(reader->context, table->memory, "npy: columns", reader->d, sizeof *columns, (void **)&columns));
    reader->columns = columns;
    TRY(gram_table_choose(reader->context, table, options, columns, &count));
    TRY(gram_table_keep_columns(reader->context, table, columns, count));
    const int64_t row = reader->d * (int64_t)reader->item;
    const int64_t bytes = row > PIECE_BYTES ? row : PIECE_BYTES;
    TRY(gram_take_from(reader->context, table->memory, "npy: buffer", bytes, 1, (void **)&reader->piece));
    reader->piece_bytes = bytes;
done:
    return status;
}

static void close_npy(void *state)
{
    npy_reader *reader = state;
    if (!reader) return;
    gram_memory *memory = reader->table->memory;
    gram_memory_give(memory, reader->piece);
    gram_memory_give(memory, reader->columns);
    gram_memory_give(memory, reader);
}

static gram_status open_npy(gram_context *context, gram_source *source, const gram_table_options *options,
                            gram_table *table, void **state)
{
    gram_status status = GRAM_OK;
    npy_reader *reader = NULL;
    TRY(gram_take_from(context, table->memory, "npy: reading", 1, sizeof *reader, (void **)&reader));
    *reader = (npy_reader){.context = context, .source = source, .table = table};
    reader->keep_missing = options->keep_missing;
    *state = reader;
    TRY(read_header(reader));
    TRY(choose_columns(reader, options));
done:
    return status;
}

const gram_format_type gram_npy_type = {open_npy, fill_npy, close_npy, NULL, NULL};

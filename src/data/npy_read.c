/* A table from NumPy's .npy. Nothing in the header is believed before it was checked: the sizes against what can be
 * addressed and against the size of the file. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "npy_header.h"
#include "table.h"

enum { MAX_HEADER = 64 << 10, PIECE_BYTES = 256 << 10 };

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the .npy reader and writer copy little-endian numbers as they are"
#endif

typedef struct npy_reader {
    gram_context *context;
    gram_source *source;
    gram_table *table;
    gram_npy_shape shape;
    size_t item; /* bytes of a number */
    char *piece; /* PIECE_BYTES of scratch */
} npy_reader;

static gram_status read_fully(npy_reader *reader, void *out, size_t size)
{
    gram_status status = GRAM_OK;
    size_t got;
    TRY(gram_source_read(reader->context, reader->source, out, size, &got));
    FAIL_IF(got < size, reader->context, GRAM_ERROR_DATA, "%s: the file is cut off", reader->source->name);
done:
    return status;
}

/* Magic, version, and the length of the dictionary: 2 bytes in version 1, 4 in versions 2 and 3. */
static gram_status read_prelude(npy_reader *reader, size_t *length)
{
    gram_status status = GRAM_OK;
    const char *name = reader->source->name;
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
    const char *name = reader->source->name;
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
    int64_t numbers, bytes;
    FAIL_IF(!gram_size_multiply(n, d, &numbers) || !gram_size_multiply(numbers, 8, &bytes), reader->context,
            GRAM_ERROR_OVERFLOW, "%s: %" PRId64 " x %" PRId64 " numbers are more than can be addressed", source->name,
            n, d);
    bytes = numbers * (int64_t)reader->item;
    FAIL_IF(source->size >= 0 && source->size - source->read < bytes, reader->context, GRAM_ERROR_DATA,
            "%s: the file is cut off: %" PRId64 " x %" PRId64 " numbers take %" PRId64 " bytes, %" PRId64 " are there",
            source->name, n, d, bytes, source->size - source->read);
    FAIL_IF(source->size >= 0 && source->size - source->read > bytes, reader->context, GRAM_ERROR_DATA,
            "%s: %" PRId64 " bytes after the end of the array", source->name, source->size - source->read - bytes);
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

/* Number k of the file is (i, j): k = i d + j in C order, k = j n + i in Fortran order. */
static gram_status read_by_pieces(npy_reader *reader)
{
    gram_status status = GRAM_OK;
    const gram_table *table = reader->table;
    const int64_t n = table->n, d = table->d, total = n * d;
    const int64_t most = PIECE_BYTES / (int64_t)reader->item;
    TRY(gram_take(reader->context, "npy: buffer", PIECE_BYTES, 1, (void **)&reader->piece));
    for (int64_t k = 0; k < total;) {
        const int64_t count = total - k < most ? total - k : most;
        TRY(read_fully(reader, reader->piece, (size_t)count * reader->item));
        for (int64_t c = 0; c < count; c++, k++) {
            const int64_t place = reader->shape.fortran_order ? k % n * d + k / n : k;
            table->numbers[place] = number_at(reader, c);
        }
    }
done:
    gram_give(reader->context, reader->piece, PIECE_BYTES, 1);
    return status;
}

static gram_status check_finite(const npy_reader *reader)
{
    gram_status status = GRAM_OK;
    const gram_table *table = reader->table;
    for (int64_t i = 0; i < table->n; i++)
        for (int64_t j = 0; j < table->d; j++) {
            const double x = table->numbers[i * table->d + j];
            FAIL_IF(!isfinite(x), reader->context, GRAM_ERROR_DATA, "%s: row %" PRId64 ", column '%s': %s",
                    reader->source->name, i + 1, table->names[j],
                    isnan(x) ? "missing value: 'nan'"
                    : x < 0  ? "not a finite number: '-inf'"
                             : "not a finite number: 'inf'");
        }
done:
    return status;
}

static gram_status read_numbers(npy_reader *reader, int64_t n, int64_t d)
{
    gram_status status = GRAM_OK;
    gram_table *table = reader->table;
    char more;
    size_t got;
    TRY(gram_table_set_names(reader->context, table, d, NULL, 0));
    TRY(gram_table_reserve(reader->context, table, n));
    table->n = n;
    if (reader->item == 8 && (!reader->shape.fortran_order || n == 1 || d == 1))
        TRY(read_fully(reader, table->numbers, (size_t)(n * d) * sizeof(double)));
    else
        TRY(read_by_pieces(reader));
    TRY(gram_source_read(reader->context, reader->source, &more, 1, &got));
    FAIL_IF(got > 0, reader->context, GRAM_ERROR_DATA, "%s: bytes after the end of the array", reader->source->name);
done:
    return status;
}

gram_status gram_npy_read(gram_context *context, gram_source *source, const gram_table_options *options,
                          gram_table *table)
{
    gram_status status = GRAM_OK;
    npy_reader reader = {.context = context, .source = source, .table = table};
    char *text = NULL;
    size_t length = 0;
    TRY(read_prelude(&reader, &length));
    TRY(gram_take(context, "npy: header", (int64_t)length, 1, (void **)&text));
    TRY(read_fully(&reader, text, length));
    const char *wrong = length > 0 ? gram_npy_parse(text, length, &reader.shape) : "its header is empty";
    FAIL_IF(wrong, context, GRAM_ERROR_DATA, "%s: %s", source->name, wrong);
    TRY(check_shape(&reader));
    const int64_t n = reader.shape.size[0], d = reader.shape.dimensions == 2 ? reader.shape.size[1] : 1;
    TRY(check_size(&reader, n, d));
    TRY(read_numbers(&reader, n, d));
    TRY(gram_table_select(context, table, options->features, options->ignore));
    TRY(check_finite(&reader));
done:
    gram_give(context, text, (int64_t)length, 1);
    return status;
}

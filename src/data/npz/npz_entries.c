/* Arrays of a .npz, a zip of .npy files. Nothing in it is believed before it was checked against the length of the file. */
#include "data/npz/npz_table.h"

#include <string.h>

#include <zlib.h>

#include "data/npy_header.h"

enum { END_SIZE = 22, ENTRY_SIZE = 46, LOCAL_SIZE = 30, DEFLATED = 8, MAGIC = 10 };

static uint32_t number_at(const unsigned char *at, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++) value |= (uint32_t)at[i] << (8 * i);
    return value;
}

typedef struct entry {
    uint32_t method, checksum, packed, size, offset;
} entry;

/* The entry of that name in the directory at the end of the zip: 1, 0 if there is none, -1 if this is no zip. */
static int find_entry(const unsigned char *zip, size_t length, const char *name, entry *e)
{
    size_t end = length < END_SIZE ? 0 : length - END_SIZE;
    while (end > 0 && length - end < 0x10000 + END_SIZE && number_at(zip + end, 4) != 0x06054b50) end--;
    if (length < END_SIZE || number_at(zip + end, 4) != 0x06054b50) return -1;
    size_t at = number_at(zip + end + 16, 4);
    for (uint32_t i = 0; i < number_at(zip + end + 10, 2); i++) {
        if (at + ENTRY_SIZE > end || number_at(zip + at, 4) != 0x02014b50) return -1;
        const size_t own = number_at(zip + at + 28, 2);
        if (at + ENTRY_SIZE + own > end) return -1;
        if (own == strlen(name) && memcmp(zip + at + ENTRY_SIZE, name, own) == 0) {
            *e = (entry){number_at(zip + at + 10, 2), number_at(zip + at + 16, 4), number_at(zip + at + 20, 4),
                         number_at(zip + at + 24, 4), number_at(zip + at + 42, 4)};
            return 1;
        }
        at += ENTRY_SIZE + own + number_at(zip + at + 30, 2) + number_at(zip + at + 32, 2);
    }
    return 0;
}

static int unpack(const entry *e, const unsigned char *packed, unsigned char *out)
{
    z_stream stream = {
        .next_in = (unsigned char *)(uintptr_t)packed, .avail_in = e->packed, .next_out = out, .avail_out = e->size};
    if (e->method == 0) {
        if (e->packed != e->size) return -1;
        memcpy(out, packed, e->size);
        return 0;
    }
    if (e->method != DEFLATED || inflateInit2(&stream, -MAX_WBITS) != Z_OK) return -1;
    const int ended = inflate(&stream, Z_FINISH);
    const int whole = ended == Z_STREAM_END && stream.total_out == e->size;
    (void)inflateEnd(&stream);
    return whole ? 0 : -1;
}

/* Type and shape of the .npy file. */
static int read_head(gram_npz_array *array, size_t size)
{
    const unsigned char *bytes = array->bytes;
    gram_npy_shape shape;
    if (size < MAGIC + 2 || memcmp(bytes, "\x93NUMPY", 6) != 0) return -1;
    const size_t prelude = bytes[6] > 1 ? MAGIC + 2 : MAGIC, head = number_at(bytes + 8, bytes[6] > 1 ? 4 : 2);
    if (head > size - prelude || gram_npy_parse((const char *)bytes + prelude, head, &shape)) return -1;
    if (shape.dimensions > 2 || (shape.dimensions == 2 && shape.fortran_order)) return -1;
    (void)strcpy(array->type, shape.type);
    array->rows = shape.dimensions > 0 ? shape.size[0] : 1;
    array->columns = shape.dimensions > 1 ? shape.size[1] : 0;
    const int text = shape.type[1] == 'U' || shape.type[1] == 'S';
    array->item = text ? (shape.type[1] == 'U' ? 12 : 3) : shape.type[2] == '8' ? 8 : shape.type[2] == '4' ? 4 : 1;
    array->at = (const char *)bytes + prelude + head;
    const size_t left = size - prelude - head, columns = array->columns > 0 ? (size_t)array->columns : 1;
    return array->rows < 0 || (size_t)array->rows > left / array->item / columns ? -1 : 0;
}

gram_status gram_npz_find(gram_context *context, gram_memory *memory, const char *file, const unsigned char *zip,
                          size_t length, const char *name, gram_npz_array *array)
{
    gram_status status = GRAM_OK;
    entry e;
    *array = (gram_npz_array){.bytes = NULL};
    const int found = find_entry(zip, length, name, &e);
    FAIL_IF(found < 0, context, GRAM_ERROR_DATA, "%s: this is not a .npz file", file);
    if (found == 0) return status;
    FAIL_IF(e.size == UINT32_MAX || e.packed == UINT32_MAX, context, GRAM_ERROR_DATA,
            "%s: %s of 4 GiB and more cannot be read", file, name);
    FAIL_IF((size_t)e.offset + LOCAL_SIZE > length || number_at(zip + e.offset, 4) != 0x04034b50, context,
            GRAM_ERROR_DATA, "%s: damaged: no entry '%s'", file, name);
    const size_t at =
        (size_t)e.offset + LOCAL_SIZE + number_at(zip + e.offset + 26, 2) + number_at(zip + e.offset + 28, 2);
    FAIL_IF(at > length || e.packed > length - at, context, GRAM_ERROR_DATA, "%s: damaged: '%s' is cut off", file,
            name);
    TRY(gram_take_from(context, memory, file, (int64_t)e.size + 1, 1, &array->bytes));
    FAIL_IF(unpack(&e, zip + at, array->bytes) != 0 || crc32(crc32(0, NULL, 0), array->bytes, e.size) != e.checksum,
            context, GRAM_ERROR_DATA, "%s: damaged: '%s' cannot be unpacked", file, name);
    FAIL_IF(read_head(array, e.size) != 0, context, GRAM_ERROR_DATA,
            "%s: '%s' is not an array of one or two dimensions", file, name);
done:
    return status;
}

double gram_npz_number(const gram_npz_array *array, int64_t i)
{
    const char *at = array->at + (size_t)i * array->item;
    double f64;
    float f32;
    int64_t i64;
    int32_t i32;
    if (strcmp(array->type, "<f8") == 0) return memcpy(&f64, at, sizeof f64), f64;
    if (strcmp(array->type, "<f4") == 0) return memcpy(&f32, at, sizeof f32), (double)f32;
    if (strcmp(array->type, "<i8") == 0) return memcpy(&i64, at, sizeof i64), (double)i64;
    memcpy(&i32, at, sizeof i32);
    return i32;
}

/* Archives: the zip files that model files are, with stored entries only.
 *
 * A zip file is entries, each after a header of its own, then a directory of them, then an end record:
 *
 *     local header, name, extra, bytes   for each entry
 *     directory record, name, extra      for each entry
 *     [zip64 end record, its locator]    if a number needs more than 32 (or 16) bits
 *     end record                         the last 22 bytes
 *
 * The writer pads the extra fields so that the numbers of arrays start at multiples of 64 in the file. It knows all sizes
 * beforehand, so nothing is held twice and a full disk is noticed before the first byte. Dates are fixed: the same model
 * is the same bytes.
 *
 * The reader believes nothing. Entries must be stored, and must fill the file from its first byte to the directory
 * without gap or overlap in the directory's order; the directory must end at the end records, these at the end of the
 * file; local headers must agree with the directory; names must be short, plain and different. So every byte of the file
 * is accounted for. The bytes of an entry are believed when their CRC-32 is right.
 *
 * Format: PKWARE, APPNOTE.TXT - .ZIP File Format Specification, 6.3. */
#ifndef GRAM_MODEL_ARCHIVE_H
#define GRAM_MODEL_ARCHIVE_H

#include "base/context.h"

enum {
    GRAM_ARCHIVE_NAME = 40,      /* bytes of a name with its final 0 */
    GRAM_ARCHIVE_ENTRIES = 2048, /* the most that are read or written */
    GRAM_ARCHIVE_ALIGNMENT = 64
};

/* ---- writing ---- */

/* An entry: the bytes of head and then those of data. */
typedef struct gram_archive_part {
    char name[GRAM_ARCHIVE_NAME];
    const void *head;
    size_t head_size;
    const void *data;
    size_t data_size;
} gram_archive_part;

/* Writes the parts to a file, aside and then in its place. `wide` writes zip64 records also where none is needed: for
 * tests. O(bytes), twice: once for the CRCs. */
gram_status gram_archive_write(gram_context *context, const char *path, int64_t count, const gram_archive_part *parts,
                               int wide);

/* The same to memory, nothing if `room` bytes are too few; *size is what it takes. */
gram_status gram_archive_write_memory(gram_context *context, void *bytes, size_t room, size_t *size, int64_t count,
                                      const gram_archive_part *parts);

/* ---- reading ---- */

typedef struct gram_archive_entry {
    char name[GRAM_ARCHIVE_NAME];
    int64_t offset; /* of its first byte */
    int64_t size;
    uint32_t crc;
} gram_archive_entry;

typedef struct gram_archive {
    const char *name; /* what messages call it; borrowed */
    int descriptor;   /* -1: memory */
    const unsigned char *memory;
    int64_t size;
    int64_t count;
    gram_archive_entry *entries;
} gram_archive;

/* Checks the whole structure. On failure there is nothing to close, but it does no harm. */
gram_status gram_archive_open(gram_context *context, const char *path, gram_archive *archive);
gram_status gram_archive_open_memory(gram_context *context, const char *name, const void *bytes, size_t length,
                                     gram_archive *archive);
void gram_archive_close(gram_context *context, gram_archive *archive);

/* NULL if there is none. */
const gram_archive_entry *gram_archive_find(const gram_archive *archive, const char *name);

/* Reads one entry from its beginning to its end. */
typedef struct gram_archive_cursor {
    const gram_archive *archive;
    const gram_archive_entry *entry;
    int64_t at;
    uint32_t crc;
} gram_archive_cursor;

void gram_archive_start(const gram_archive *archive, const gram_archive_entry *entry, gram_archive_cursor *cursor);
/* The next `size` bytes; an entry that has fewer is GRAM_ERROR_DATA. */
gram_status gram_archive_take(gram_context *context, gram_archive_cursor *cursor, void *out, size_t size);
/* Was all of it read, and is it what was written? */
gram_status gram_archive_end(gram_context *context, const gram_archive_cursor *cursor);

/* ---- numbers of the records, little-endian whatever the machine ---- */

enum {
    GRAM_ZIP_LOCAL = 0x04034b50,
    GRAM_ZIP_DIRECTORY = 0x02014b50,
    GRAM_ZIP_END = 0x06054b50,
    GRAM_ZIP_END64 = 0x06064b50,
    GRAM_ZIP_LOCATOR = 0x07064b50,
    GRAM_ZIP_LOCAL_SIZE = 30,
    GRAM_ZIP_DIRECTORY_SIZE = 46,
    GRAM_ZIP_END_SIZE = 22,
    GRAM_ZIP_END64_SIZE = 56,
    GRAM_ZIP_LOCATOR_SIZE = 20,
    GRAM_ZIP_EXTRA64 = 1, /* the number of the extra field with 64-bit numbers */
    GRAM_ZIP_VERSION = 20,
    GRAM_ZIP_VERSION64 = 45
};

#define GRAM_ZIP_MOST32 0xFFFFFFFFu /* means: look in the zip64 field */
#define GRAM_ZIP_MOST16 0xFFFFu

static inline uint64_t gram_little_get(const unsigned char *bytes, int count)
{
    uint64_t value = 0;
    for (int i = count - 1; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

static inline unsigned char *gram_little_put(unsigned char *bytes, int count, uint64_t value)
{
    for (int i = 0; i < count; i++, value >>= 8) bytes[i] = (unsigned char)value;
    return bytes + count;
}

/* CRC-32 of more bytes, whatever their number. */
uint32_t gram_archive_crc(uint32_t crc, const void *bytes, size_t size);

#endif

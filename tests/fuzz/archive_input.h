/* Model files as inputs. A change of their bytes is mostly stopped by a checksum or a length, so mutations change one
 * entry, which is then packed again with the others: what is read is a right archive of wrong contents. */
#ifndef GRAM_FUZZ_ARCHIVE_INPUT_H
#define GRAM_FUZZ_ARCHIVE_INPUT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

enum { PACK_ENTRIES = 64, PACK_LOCAL = 30, PACK_RECORD = 46, PACK_END = 22 };

typedef struct packed_entry {
    const uint8_t *name;
    size_t name_length;
    const uint8_t *bytes;
    size_t length;
} packed_entry;

static inline uint32_t get_little(const uint8_t *bytes, int count)
{
    uint32_t value = 0;
    for (int i = count - 1; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

static inline void put_little(uint8_t *bytes, int count, size_t value)
{
    for (int i = 0; i < count; i++, value >>= 8) bytes[i] = (uint8_t)value;
}

/* The entries from the front, as far as their headers are right. */
static inline int unpack(const uint8_t *data, size_t size, packed_entry *entries)
{
    int count = 0;
    for (size_t at = 0; count < PACK_ENTRIES && at + PACK_LOCAL <= size && memcmp(data + at, "PK\3\4", 4) == 0;) {
        const size_t name = get_little(data + at + 26, 2), extra = get_little(data + at + 28, 2);
        const size_t start = at + PACK_LOCAL + name + extra, length = get_little(data + at + 22, 4);
        if (start > size || length > size - start) break;
        entries[count++] = (packed_entry){data + at + PACK_LOCAL, name, data + start, length};
        at = start + length;
    }
    return count;
}

static inline size_t packed_size(const packed_entry *entries, int count)
{
    size_t size = PACK_END;
    for (int i = 0; i < count; i++) size += PACK_LOCAL + PACK_RECORD + 2 * entries[i].name_length + entries[i].length;
    return size;
}

/* The fields that a local header and a record of the directory share, from the version on. */
static inline void put_fields(uint8_t *to, const packed_entry *entry)
{
    const uint32_t crc = (uint32_t)crc32(0, entry->bytes, (uInt)entry->length);
    put_little(to, 2, 20);
    put_little(to + 10, 4, crc);
    put_little(to + 14, 4, entry->length);
    put_little(to + 18, 4, entry->length);
    put_little(to + 22, 2, entry->name_length);
}

/* Writes the archive; `out` has room for packed_size bytes. */
static inline void pack(const packed_entry *entries, int count, uint8_t *out)
{
    size_t at = 0, offsets[PACK_ENTRIES];
    memset(out, 0, packed_size(entries, count));
    for (int i = 0; i < count; i++) {
        offsets[i] = at;
        memcpy(out + at, "PK\3\4", 4);
        put_fields(out + at + 4, &entries[i]);
        memcpy(out + at + PACK_LOCAL, entries[i].name, entries[i].name_length);
        at += PACK_LOCAL + entries[i].name_length;
        if (entries[i].length > 0) memcpy(out + at, entries[i].bytes, entries[i].length);
        at += entries[i].length;
    }
    const size_t directory = at;
    for (int i = 0; i < count; i++) {
        memcpy(out + at, "PK\1\2", 4);
        put_little(out + at + 4, 2, 20);
        put_fields(out + at + 6, &entries[i]);
        put_little(out + at + 42, 4, offsets[i]);
        memcpy(out + at + PACK_RECORD, entries[i].name, entries[i].name_length);
        at += PACK_RECORD + entries[i].name_length;
    }
    memcpy(out + at, "PK\5\6", 4);
    put_little(out + at + 8, 2, (size_t)count);
    put_little(out + at + 10, 2, (size_t)count);
    put_little(out + at + 12, 4, at - directory);
    put_little(out + at + 16, 4, directory);
}

/* Packs the entries into data; 0 if they do not fit. */
static inline size_t pack_into(const packed_entry *entries, int count, uint8_t *data, size_t most)
{
    const size_t length = packed_size(entries, count);
    if (length > most) return 0;
    uint8_t *whole = malloc(length);
    if (!whole) abort();
    pack(entries, count, whole);
    memcpy(data, whole, length);
    free(whole);
    return length;
}

/* Changes the bytes of one entry. */
static inline size_t mutate_entry(packed_entry *entries, int count, int chosen, uint8_t *data, size_t most)
{
    packed_entry *entry = &entries[chosen];
    const size_t others = packed_size(entries, count) - entry->length;
    if (others >= most) return 0;
    const size_t room = most - others;
    uint8_t *bytes = malloc(room);
    if (!bytes) abort();
    if (entry->length > room) entry->length = room;
    memcpy(bytes, entry->bytes, entry->length);
    entry->length = LLVMFuzzerMutate(bytes, entry->length, room);
    entry->bytes = bytes;
    const size_t length = pack_into(entries, count, data, most);
    free(bytes);
    return length;
}

/* The entry becomes what it is in another archive, or joins if there is none of its name. */
static inline size_t take_entry(packed_entry *entries, int count, const packed_entry *other, uint8_t *data, size_t most)
{
    int i = 0;
    while (i < count && (entries[i].name_length != other->name_length ||
                         memcmp(entries[i].name, other->name, other->name_length) != 0))
        i++;
    if (i == PACK_ENTRIES) return 0;
    entries[i] = *other;
    return pack_into(entries, i == count ? count + 1 : count, data, most);
}

#endif

/* Writing archives: everything is laid out first, then written from front to back. See archive.h. */
#include <inttypes.h>
#include <string.h>

#include <zlib.h>

#include "base/file_aside.h"
#include "model/archive.h"

/* The number of the extra field that pads: the one that Android's zipalign took for the same purpose. */
enum { PADDING_FIELD = 0xD935, FIELD_HEADER = 4, LOCAL_EXTRA64 = FIELD_HEADER + 16, MOST_EXTRA64 = FIELD_HEADER + 24 };

enum {
    MADE_BY_UNIX = 3 << 8,
    FIXED_DATE = 1 << 5 | 1, /* 1 January 1980 */
    RECORD_ROOM = GRAM_ZIP_DIRECTORY_SIZE + GRAM_ARCHIVE_NAME + MOST_EXTRA64 + 2 * GRAM_ARCHIVE_ALIGNMENT
};
#define PLAIN_FILE (UINT32_C(0100644) << 16) /* attributes, for programs that unpack it */

typedef struct place {
    uint64_t header; /* where the local header starts */
    uint64_t size;   /* of the entry */
    size_t extra;    /* bytes of the local header's extra fields */
    uint32_t crc;
    int wide; /* has a zip64 field */
} place;

typedef struct writer {
    gram_context *context;
    const gram_archive_part *parts;
    int64_t count;
    int wide;
    place *places;
    uint64_t directory, directory_size, total;
    uint64_t done;         /* bytes written */
    unsigned char *memory; /* `total` bytes to write to; NULL: the file */
    gram_aside aside;
} writer;

uint32_t gram_archive_crc(uint32_t crc, const void *bytes, size_t size)
{
    const size_t piece = 1 << 30; /* zlib counts in 32 bits */
    const unsigned char *at = bytes;
    for (; size > 0;) {
        const size_t length = size < piece ? size : piece;
        crc = (uint32_t)crc32(crc, at, (uInt)length);
        at += length;
        size -= length;
    }
    return crc;
}

/* ---- the layout ---- */

static int needs_wide_offset(const writer *w, const place *p)
{
    return w->wide || p->header >= GRAM_ZIP_MOST32;
}

/* Bytes of the zip64 field of a directory record: sizes, offset. */
static size_t directory_extra(const writer *w, const place *p)
{
    const size_t numbers = (p->wide ? 2u : 0u) + (needs_wide_offset(w, p) ? 1u : 0u);
    return numbers ? FIELD_HEADER + 8 * numbers : 0;
}

/* The extra fields end where the bytes start: at a multiple of 64, and room for at least an empty padding field. */
static size_t local_extra(uint64_t header, size_t name, int wide)
{
    const uint64_t least = header + GRAM_ZIP_LOCAL_SIZE + name + (wide ? LOCAL_EXTRA64 : 0) + FIELD_HEADER;
    const uint64_t aligned = (least + GRAM_ARCHIVE_ALIGNMENT - 1) / GRAM_ARCHIVE_ALIGNMENT * GRAM_ARCHIVE_ALIGNMENT;
    return (size_t)(aligned - header - GRAM_ZIP_LOCAL_SIZE - name);
}

static int is_wide_end(const writer *w)
{
    return w->wide || w->directory >= GRAM_ZIP_MOST32 || w->directory_size >= GRAM_ZIP_MOST32 ||
           w->count >= (int64_t)GRAM_ZIP_MOST16;
}

static void lay_out(writer *w)
{
    uint64_t at = 0;
    for (int64_t i = 0; i < w->count; i++) {
        const gram_archive_part *part = &w->parts[i];
        place *p = &w->places[i];
        p->header = at;
        p->size = (uint64_t)part->head_size + part->data_size;
        p->wide = w->wide || p->size >= GRAM_ZIP_MOST32;
        p->extra = local_extra(at, strlen(part->name), p->wide);
        p->crc = gram_archive_crc(0, part->head, part->head_size);
        p->crc = gram_archive_crc(p->crc, part->data, part->data_size);
        at += GRAM_ZIP_LOCAL_SIZE + strlen(part->name) + p->extra + p->size;
    }
    w->directory = at;
    for (int64_t i = 0; i < w->count; i++)
        at += GRAM_ZIP_DIRECTORY_SIZE + strlen(w->parts[i].name) + directory_extra(w, &w->places[i]);
    w->directory_size = at - w->directory;
    w->total = at + (is_wide_end(w) ? GRAM_ZIP_END64_SIZE + GRAM_ZIP_LOCATOR_SIZE : 0) + GRAM_ZIP_END_SIZE;
}

/* ---- the records ---- */

static gram_status put(writer *w, const void *bytes, size_t size)
{
    gram_status status = GRAM_OK;
    if (!w->memory)
        status = gram_aside_write(w->context, &w->aside, bytes, size, (size_t)w->done, (size_t)w->total);
    else if (size > 0)
        memcpy(w->memory + w->done, bytes, size);
    w->done += size;
    return status;
}

/* What local headers and directory records have in common: version to names' length. */
static unsigned char *put_common(unsigned char *at, const place *p, int version, size_t name, size_t extra)
{
    const uint64_t size = p->wide ? GRAM_ZIP_MOST32 : p->size;
    at = gram_little_put(at, 2, (uint64_t)version);
    at = gram_little_put(at, 2, 0); /* flags */
    at = gram_little_put(at, 2, 0); /* stored */
    at = gram_little_put(at, 2, 0); /* time */
    at = gram_little_put(at, 2, FIXED_DATE);
    at = gram_little_put(at, 4, p->crc);
    at = gram_little_put(at, 4, size);
    at = gram_little_put(at, 4, size);
    at = gram_little_put(at, 2, name);
    return gram_little_put(at, 2, extra);
}

static unsigned char *put_bytes(unsigned char *at, const void *bytes, size_t size)
{
    memcpy(at, bytes, size);
    return at + size;
}

static gram_status put_local(writer *w, int64_t i)
{
    unsigned char record[RECORD_ROOM], *at = record;
    const place *p = &w->places[i];
    const size_t name = strlen(w->parts[i].name);
    at = gram_little_put(at, 4, GRAM_ZIP_LOCAL);
    at = put_common(at, p, p->wide ? GRAM_ZIP_VERSION64 : GRAM_ZIP_VERSION, name, p->extra);
    at = put_bytes(at, w->parts[i].name, name);
    if (p->wide) {
        at = gram_little_put(at, 2, GRAM_ZIP_EXTRA64);
        at = gram_little_put(at, 2, LOCAL_EXTRA64 - FIELD_HEADER);
        at = gram_little_put(at, 8, p->size);
        at = gram_little_put(at, 8, p->size);
    }
    const size_t padding = p->extra - FIELD_HEADER - (p->wide ? LOCAL_EXTRA64 : 0);
    at = gram_little_put(at, 2, PADDING_FIELD);
    at = gram_little_put(at, 2, padding);
    memset(at, 0, padding);
    return put(w, record, (size_t)(at + padding - record));
}

static gram_status put_directory(writer *w, int64_t i)
{
    unsigned char record[RECORD_ROOM], *at = record;
    const place *p = &w->places[i];
    const size_t name = strlen(w->parts[i].name), extra = directory_extra(w, p);
    const int far = needs_wide_offset(w, p), version = extra ? GRAM_ZIP_VERSION64 : GRAM_ZIP_VERSION;
    at = gram_little_put(at, 4, GRAM_ZIP_DIRECTORY);
    at = gram_little_put(at, 2, (uint64_t)(MADE_BY_UNIX | version));
    at = put_common(at, p, version, name, extra);
    at = gram_little_put(at, 2, 0); /* comment */
    at = gram_little_put(at, 2, 0); /* disk */
    at = gram_little_put(at, 2, 0); /* internal attributes */
    at = gram_little_put(at, 4, PLAIN_FILE);
    at = gram_little_put(at, 4, far ? GRAM_ZIP_MOST32 : p->header);
    at = put_bytes(at, w->parts[i].name, name);
    if (extra) {
        at = gram_little_put(at, 2, GRAM_ZIP_EXTRA64);
        at = gram_little_put(at, 2, extra - FIELD_HEADER);
    }
    if (p->wide) at = gram_little_put(gram_little_put(at, 8, p->size), 8, p->size);
    if (far) at = gram_little_put(at, 8, p->header);
    return put(w, record, (size_t)(at - record));
}

static unsigned char *put_wide_end(const writer *w, unsigned char *at)
{
    at = gram_little_put(at, 4, GRAM_ZIP_END64);
    at = gram_little_put(at, 8, GRAM_ZIP_END64_SIZE - 12);
    at = gram_little_put(at, 2, MADE_BY_UNIX | GRAM_ZIP_VERSION64);
    at = gram_little_put(at, 2, GRAM_ZIP_VERSION64);
    at = gram_little_put(at, 4, 0); /* this disk, that of the directory */
    at = gram_little_put(at, 4, 0);
    at = gram_little_put(at, 8, (uint64_t)w->count);
    at = gram_little_put(at, 8, (uint64_t)w->count);
    at = gram_little_put(at, 8, w->directory_size);
    at = gram_little_put(at, 8, w->directory);
    at = gram_little_put(at, 4, GRAM_ZIP_LOCATOR);
    at = gram_little_put(at, 4, 0);
    at = gram_little_put(at, 8, w->directory + w->directory_size);
    return gram_little_put(at, 4, 1); /* disks */
}

static gram_status put_end(writer *w)
{
    unsigned char record[GRAM_ZIP_END64_SIZE + GRAM_ZIP_LOCATOR_SIZE + GRAM_ZIP_END_SIZE], *at = record;
    const int wide = is_wide_end(w);
    if (wide) at = put_wide_end(w, at);
    at = gram_little_put(at, 4, GRAM_ZIP_END);
    at = gram_little_put(at, 4, 0); /* disks */
    at = gram_little_put(at, 2, wide ? GRAM_ZIP_MOST16 : (uint64_t)w->count);
    at = gram_little_put(at, 2, wide ? GRAM_ZIP_MOST16 : (uint64_t)w->count);
    at = gram_little_put(at, 4, wide ? GRAM_ZIP_MOST32 : w->directory_size);
    at = gram_little_put(at, 4, wide ? GRAM_ZIP_MOST32 : w->directory);
    at = gram_little_put(at, 2, 0); /* comment */
    return put(w, record, (size_t)(at - record));
}

static gram_status put_all(writer *w)
{
    gram_status status = GRAM_OK;
    for (int64_t i = 0; i < w->count; i++) {
        TRY(put_local(w, i));
        TRY(put(w, w->parts[i].head, w->parts[i].head_size));
        TRY(put(w, w->parts[i].data, w->parts[i].data_size));
    }
    for (int64_t i = 0; i < w->count; i++) TRY(put_directory(w, i));
    TRY(put_end(w));
    FAIL_IF(w->done != w->total, w->context, GRAM_ERROR_INTERNAL,
            "archive_write: %" PRIu64 " bytes instead of %" PRIu64, w->done, w->total);
done:
    return status;
}

/* To the file, or to `room` bytes of memory if they are enough. */
static gram_status write_to(writer *w, const char *path, void *bytes, size_t room)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(w->context, "model_write: layout", w->count, sizeof *w->places, (void **)&w->places));
    if (path) TRY(gram_aside_open(w->context, "model_write", path, &w->aside));
    lay_out(w);
    w->memory = w->total <= room ? bytes : NULL;
    if (path) TRY(gram_aside_reserve(w->context, &w->aside, (size_t)w->total));
    if (path || w->memory) TRY(put_all(w));
    if (path) TRY(gram_aside_finish(w->context, &w->aside));
done:
    gram_aside_abandon(&w->aside);
    gram_give(w->context, w->places);
    return status;
}

static gram_status write_archive(gram_context *context, const char *path, void *bytes, size_t room, size_t *size,
                                 int64_t count, const gram_archive_part *parts, int wide)
{
    gram_status status = GRAM_OK;
    writer *w = NULL;
    TRY(gram_take(context, "model_write: file", 1, sizeof *w, (void **)&w)); /* paths: too much for a stack */
    *w = (writer){.context = context, .parts = parts, .count = count, .wide = wide, .aside = {.descriptor = -1}};
    TRY(write_to(w, path, bytes, room));
    if (size) *size = (size_t)w->total;
done:
    gram_give(context, w);
    return status;
}

gram_status gram_archive_write(gram_context *context, const char *path, int64_t count, const gram_archive_part *parts,
                               int wide)
{
    return write_archive(context, path, NULL, 0, NULL, count, parts, wide);
}

gram_status gram_archive_write_memory(gram_context *context, void *bytes, size_t room, size_t *size, int64_t count,
                                      const gram_archive_part *parts)
{
    return write_archive(context, NULL, bytes, room, size, count, parts, 0);
}

/* Reading archives: nothing is believed before it was checked. See archive.h for what is required of a file. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "data/byte_source.h"
#include "model/archive.h"

enum {
    MOST_DIRECTORY = 1 << 20, /* bytes */
    MOST_EXTRA = 256,         /* of one entry */
    UTF8_NAMES = 0x800        /* the one flag that changes nothing here */
};

typedef struct reader {
    gram_context *context;
    gram_archive *archive;
    int64_t count, directory, directory_size, end; /* the directory ends at `end`, where the end records start */
} reader;

/* ---- bytes ---- */

/* The file may have become shorter since it was opened. */
static gram_status read_file(gram_context *context, const gram_archive *archive, int64_t offset, unsigned char *out,
                             size_t size)
{
    gram_status status = GRAM_OK;
    char reason[GRAM_SYSTEM_REASON_SIZE];
    const size_t piece = 4 << 20; /* between two calls of the callbacks */
    for (size_t at = 0; at < size;) {
        TRY(gram_pulse(context, "reading", (double)(offset + (int64_t)at) / (double)archive->size));
        const size_t length = size - at < piece ? size - at : piece;
        const ssize_t got = pread(archive->descriptor, out + at, length, (off_t)(offset + (int64_t)at));
        if (got < 0 && errno == EINTR) continue;
        FAIL_IF(got < 0, context, GRAM_ERROR_FILE, "%s: cannot be read: %s", archive->name,
                gram_system_reason(errno, reason));
        FAIL_IF(got == 0, context, GRAM_ERROR_DATA, "%s: the file is cut off", archive->name);
        at += (size_t)got;
    }
done:
    return status;
}

/* Bytes that are known to lie in the file. */
static gram_status read_at(gram_context *context, const gram_archive *archive, int64_t offset, void *out, size_t size)
{
    if (archive->descriptor >= 0) return read_file(context, archive, offset, out, size);
    if (size > 0) memcpy(out, archive->memory + offset, size);
    return GRAM_OK;
}

static gram_status corrupt(const reader *r, const char *what)
{
    return gram_fail(r->context, GRAM_ERROR_DATA, "%s: corrupt, or not written by gram: %s", r->archive->name, what);
}

#define CORRUPT_IF(condition, r, what)                                                                                 \
    do {                                                                                                               \
        if (condition) {                                                                                               \
            status = corrupt(r, what);                                                                                 \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)

/* ---- the end records ---- */

/* A narrow field is the wide number, or says that it does not fit. */
static int agrees(uint64_t narrow, uint64_t wide, uint64_t most)
{
    return narrow == wide || narrow == most;
}

static gram_status read_wide_end(reader *r, const unsigned char *end)
{
    gram_status status = GRAM_OK;
    unsigned char wide[GRAM_ZIP_END64_SIZE], locator[GRAM_ZIP_LOCATOR_SIZE];
    const int64_t at_locator = r->end - GRAM_ZIP_LOCATOR_SIZE, at = at_locator - GRAM_ZIP_END64_SIZE;
    if (at < 0) goto done;
    TRY(read_at(r->context, r->archive, at_locator, locator, sizeof locator));
    if (gram_little_get(locator, 4) != GRAM_ZIP_LOCATOR) goto done;
    TRY(read_at(r->context, r->archive, at, wide, sizeof wide));
    CORRUPT_IF(gram_little_get(locator + 8, 8) != (uint64_t)at || gram_little_get(wide, 4) != GRAM_ZIP_END64 ||
                   gram_little_get(wide + 4, 8) != GRAM_ZIP_END64_SIZE - 12,
               r, "the zip64 end record is not where it should be");
    CORRUPT_IF(gram_little_get(locator + 4, 4) != 0 || gram_little_get(locator + 16, 4) != 1 ||
                   gram_little_get(wide + 16, 8) != 0,
               r, "an archive of several disks");
    const uint64_t count = gram_little_get(wide + 32, 8), size = gram_little_get(wide + 40, 8),
                   directory = gram_little_get(wide + 48, 8);
    CORRUPT_IF(gram_little_get(wide + 24, 8) != count || count > GRAM_ARCHIVE_ENTRIES || size > (uint64_t)at ||
                   directory > (uint64_t)at,
               r, "the zip64 end record has impossible numbers");
    CORRUPT_IF(!agrees(gram_little_get(end + 10, 2), count, GRAM_ZIP_MOST16) ||
                   !agrees(gram_little_get(end + 12, 4), size, GRAM_ZIP_MOST32) ||
                   !agrees(gram_little_get(end + 16, 4), directory, GRAM_ZIP_MOST32),
               r, "its two end records differ");
    r->count = (int64_t)count;
    r->directory_size = (int64_t)size;
    r->directory = (int64_t)directory;
    r->end = at;
done:
    return status;
}

static gram_status read_end(reader *r)
{
    gram_status status = GRAM_OK;
    const gram_archive *archive = r->archive;
    unsigned char end[GRAM_ZIP_END_SIZE], start[4] = {0};
    if (archive->size >= 4) TRY(read_at(r->context, archive, 0, start, sizeof start));
    FAIL_IF(archive->size == 0, r->context, GRAM_ERROR_DATA, "%s: the file is empty", archive->name);
    FAIL_IF(gram_little_get(start, 4) != GRAM_ZIP_LOCAL, r->context, GRAM_ERROR_DATA, "%s: this is not a model of gram",
            archive->name);
    r->end = archive->size - GRAM_ZIP_END_SIZE;
    if (r->end >= 0) TRY(read_at(r->context, archive, r->end, end, sizeof end));
    CORRUPT_IF(r->end < 0 || gram_little_get(end, 4) != GRAM_ZIP_END || gram_little_get(end + 20, 2) != 0, r,
               "it does not end as it should (cut off?)");
    CORRUPT_IF(gram_little_get(end + 4, 4) != 0 || gram_little_get(end + 8, 2) != gram_little_get(end + 10, 2), r,
               "an archive of several disks");
    r->count = (int64_t)gram_little_get(end + 10, 2);
    r->directory_size = (int64_t)gram_little_get(end + 12, 4);
    r->directory = (int64_t)gram_little_get(end + 16, 4);
    TRY(read_wide_end(r, end));
    CORRUPT_IF(r->directory > r->end || r->directory_size != r->end - r->directory, r,
               "its directory is not where it should be");
    CORRUPT_IF(r->count < 1 || r->count > GRAM_ARCHIVE_ENTRIES || r->directory_size > MOST_DIRECTORY ||
                   r->directory_size < r->count * GRAM_ZIP_DIRECTORY_SIZE,
               r, "too many entries, or none");
done:
    return status;
}

/* ---- entries ---- */

/* The numbers that a header has in 32 bits, or its zip64 field in 64: in this order, those that do not fit. */
typedef struct wide_numbers {
    uint64_t size, packed, offset;
} wide_numbers;

/* Fills in what is in the zip64 field. 0 if the fields are malformed or one that is needed is missing. */
static int read_extra(const unsigned char *extra, size_t length, wide_numbers *numbers)
{
    uint64_t *const all[] = {&numbers->size, &numbers->packed, &numbers->offset};
    int missing = 0, seen = 0;
    for (int i = 0; i < 3; i++) missing += *all[i] == GRAM_ZIP_MOST32;
    for (size_t at = 0; at < length;) {
        if (length - at < 4) return 0;
        const uint64_t field = gram_little_get(extra + at, 2), size = gram_little_get(extra + at + 2, 2);
        at += 4;
        if (length - at < size) return 0;
        if (field == GRAM_ZIP_EXTRA64) {
            if (seen++ || size < 8 * (uint64_t)missing) return 0;
            const unsigned char *next = extra + at;
            for (int i = 0; i < 3; i++) {
                if (*all[i] != GRAM_ZIP_MOST32) continue;
                *all[i] = gram_little_get(next, 8);
                next += 8;
            }
        }
        at += size;
    }
    return seen || missing == 0;
}

static int is_name(const unsigned char *name, size_t length)
{
    if (length < 1 || length >= GRAM_ARCHIVE_NAME) return 0;
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = name[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.'))
            return 0;
    }
    return 1;
}

/* Version, flags and method of either header. */
static gram_status check_kind(const reader *r, const unsigned char *fields, const char *name)
{
    gram_status status = GRAM_OK;
    const char *file = r->archive->name;
    FAIL_IF(gram_little_get(fields + 4, 2) != 0, r->context, GRAM_ERROR_DATA,
            "%s: entry '%s' is compressed: not a model of gram, or changed by another program", file, name);
    FAIL_IF(gram_little_get(fields + 2, 2) & ~(uint64_t)UTF8_NAMES, r->context, GRAM_ERROR_DATA,
            "%s: entry '%s' is encrypted or streamed: not a model of gram", file, name);
    CORRUPT_IF(gram_little_get(fields, 2) > GRAM_ZIP_VERSION64, r, "an entry needs a later version of zip");
done:
    return status;
}

/* The local header at *at agrees with the directory's entry; *at moves past the entry. */
static gram_status read_local(const reader *r, gram_archive_entry *entry, int64_t *at)
{
    gram_status status = GRAM_OK;
    unsigned char header[GRAM_ZIP_LOCAL_SIZE + GRAM_ARCHIVE_NAME + MOST_EXTRA];
    const size_t name = strlen(entry->name);
    CORRUPT_IF(r->directory - *at < (int64_t)(GRAM_ZIP_LOCAL_SIZE + name), r, "an entry is cut off");
    TRY(read_at(r->context, r->archive, *at, header, GRAM_ZIP_LOCAL_SIZE + name));
    const size_t extra = (size_t)gram_little_get(header + 28, 2);
    CORRUPT_IF(gram_little_get(header, 4) != GRAM_ZIP_LOCAL || gram_little_get(header + 26, 2) != name ||
                   memcmp(header + GRAM_ZIP_LOCAL_SIZE, entry->name, name) != 0 || extra > MOST_EXTRA,
               r, "an entry has another name than the directory says");
    TRY(check_kind(r, header + 4, entry->name));
    *at += (int64_t)(GRAM_ZIP_LOCAL_SIZE + name);
    CORRUPT_IF(r->directory - *at < (int64_t)extra, r, "an entry is cut off");
    TRY(read_at(r->context, r->archive, *at, header + GRAM_ZIP_LOCAL_SIZE, extra));
    wide_numbers numbers = {gram_little_get(header + 22, 4), gram_little_get(header + 18, 4), 0};
    CORRUPT_IF(!read_extra(header + GRAM_ZIP_LOCAL_SIZE, extra, &numbers) || numbers.size != (uint64_t)entry->size ||
                   numbers.packed != numbers.size || gram_little_get(header + 14, 4) != entry->crc,
               r, "an entry has another size or checksum than the directory says");
    *at += (int64_t)extra;
    CORRUPT_IF(r->directory - *at < entry->size, r, "an entry is cut off");
    entry->offset = *at;
    *at += entry->size;
done:
    return status;
}

/* One record of the directory; *used gets its length. */
static gram_status read_record(const reader *r, const unsigned char *record, size_t left, gram_archive_entry *entry,
                               uint64_t *offset, size_t *used)
{
    gram_status status = GRAM_OK;
    CORRUPT_IF(left < GRAM_ZIP_DIRECTORY_SIZE || gram_little_get(record, 4) != GRAM_ZIP_DIRECTORY, r,
               "its directory cannot be read");
    const size_t name = (size_t)gram_little_get(record + 28, 2), extra = (size_t)gram_little_get(record + 30, 2);
    const unsigned char *text = record + GRAM_ZIP_DIRECTORY_SIZE;
    *used = GRAM_ZIP_DIRECTORY_SIZE + name + extra;
    CORRUPT_IF(left < *used || gram_little_get(record + 32, 2) != 0, r, "its directory cannot be read");
    char excerpt[GRAM_EXCERPT_SIZE];
    FAIL_IF(!is_name(text, name), r->context, GRAM_ERROR_DATA, "%s: this is not a model of gram: it has an entry '%s'",
            r->archive->name, gram_data_excerpt((const char *)text, name, excerpt));
    memcpy(entry->name, text, name);
    entry->name[name] = '\0';
    TRY(check_kind(r, record + 6, entry->name));
    wide_numbers numbers = {gram_little_get(record + 24, 4), gram_little_get(record + 20, 4),
                            gram_little_get(record + 42, 4)};
    CORRUPT_IF(!read_extra(text + name, extra, &numbers) || numbers.packed != numbers.size ||
                   numbers.size > (uint64_t)r->directory || gram_little_get(record + 34, 2) != 0,
               r, "its directory has impossible numbers");
    entry->size = (int64_t)numbers.size;
    entry->crc = (uint32_t)gram_little_get(record + 16, 4);
    *offset = numbers.offset;
done:
    return status;
}

static gram_status read_entries(const reader *r, const unsigned char *directory)
{
    gram_status status = GRAM_OK;
    gram_archive *archive = r->archive;
    size_t left = (size_t)r->directory_size;
    int64_t at = 0; /* the end of the entry before */
    for (int64_t i = 0; i < r->count; i++) {
        gram_archive_entry *entry = &archive->entries[i];
        uint64_t offset = 0;
        size_t used = 0;
        TRY(read_record(r, directory + (size_t)r->directory_size - left, left, entry, &offset, &used));
        left -= used;
        CORRUPT_IF(offset != (uint64_t)at, r, "its entries overlap or leave gaps");
        TRY(read_local(r, entry, &at));
        for (int64_t j = 0; j < i; j++)
            CORRUPT_IF(strcmp(archive->entries[j].name, entry->name) == 0, r, "two entries have one name");
    }
    CORRUPT_IF(left != 0 || at != r->directory, r, "bytes that belong to no entry");
done:
    return status;
}

static gram_status read_structure(gram_context *context, gram_archive *archive)
{
    gram_status status = GRAM_OK;
    reader r = {.context = context, .archive = archive};
    unsigned char *directory = NULL;
    TRY(read_end(&r));
    TRY(gram_take(context, "model_read: directory", r.directory_size, 1, (void **)&directory));
    TRY(read_at(context, archive, r.directory, directory, (size_t)r.directory_size));
    TRY(gram_take(context, "model_read: entries", r.count, sizeof *archive->entries, (void **)&archive->entries));
    archive->count = r.count;
    TRY(read_entries(&r, directory));
done:
    gram_give(context, directory);
    if (status < 0) gram_archive_close(context, archive);
    return status;
}

gram_status gram_archive_open_memory(gram_context *context, const char *name, const void *bytes, size_t length,
                                     gram_archive *archive)
{
    *archive = (gram_archive){.name = name, .descriptor = -1, .memory = bytes, .size = (int64_t)length};
    return read_structure(context, archive);
}

gram_status gram_archive_open(gram_context *context, const char *path, gram_archive *archive)
{
    gram_status status = GRAM_OK;
    char reason[GRAM_SYSTEM_REASON_SIZE];
    struct stat facts;
    *archive = (gram_archive){.name = path, .descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    FAIL_IF(archive->descriptor < 0 || fstat(archive->descriptor, &facts) != 0, context, GRAM_ERROR_FILE,
            "%s: cannot be opened: %s", path, gram_system_reason(errno, reason));
    FAIL_IF(!S_ISREG(facts.st_mode), context, GRAM_ERROR_FILE, "%s: cannot be read: %s", path,
            S_ISDIR(facts.st_mode) ? "it is a folder" : "it is not a regular file");
    archive->size = (int64_t)facts.st_size;
    TRY(read_structure(context, archive));
done:
    if (status < 0) gram_archive_close(context, archive);
    return status;
}

void gram_archive_close(gram_context *context, gram_archive *archive)
{
    if (archive->descriptor >= 0) (void)close(archive->descriptor);
    archive->descriptor = -1;
    gram_give(context, archive->entries);
    archive->entries = NULL;
}

const gram_archive_entry *gram_archive_find(const gram_archive *archive, const char *name)
{
    for (int64_t i = 0; i < archive->count; i++)
        if (strcmp(archive->entries[i].name, name) == 0) return &archive->entries[i];
    return NULL;
}

/* ---- the bytes of an entry ---- */

void gram_archive_start(const gram_archive *archive, const gram_archive_entry *entry, gram_archive_cursor *cursor)
{
    *cursor = (gram_archive_cursor){archive, entry, 0, 0};
}

gram_status gram_archive_take(gram_context *context, gram_archive_cursor *cursor, void *out, size_t size)
{
    gram_status status = GRAM_OK;
    const gram_archive_entry *entry = cursor->entry;
    FAIL_IF((uint64_t)(entry->size - cursor->at) < size, context, GRAM_ERROR_DATA, "%s: %s is cut off",
            cursor->archive->name, entry->name);
    TRY(read_at(context, cursor->archive, entry->offset + cursor->at, out, size));
    cursor->crc = gram_archive_crc(cursor->crc, out, size);
    cursor->at += (int64_t)size;
done:
    return status;
}

gram_status gram_archive_end(gram_context *context, const gram_archive_cursor *cursor)
{
    gram_status status = GRAM_OK;
    const gram_archive_entry *entry = cursor->entry;
    FAIL_IF(cursor->at != entry->size, context, GRAM_ERROR_DATA, "%s: %s has %" PRId64 " bytes after its end",
            cursor->archive->name, entry->name, entry->size - cursor->at);
    FAIL_IF(cursor->crc != entry->crc, context, GRAM_ERROR_DATA, "%s: %s is corrupt: its checksum is wrong",
            cursor->archive->name, entry->name);
done:
    return status;
}

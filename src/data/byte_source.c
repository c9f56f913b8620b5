/* Bytes in two layers. The lower one gives the file as it is: from a descriptor, from memory, from a query, or, when standard input is
 * read for the second time, from the blocks that were kept of it. The upper one decompresses (zlib) if the first two bytes
 * are gzip's. */
#define _POSIX_C_SOURCE 200809L
#include "data/byte_source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <gram/table.h>

#include "data/sqlite/query_rows.h"

enum { PACKED_SIZE = 64 << 10, BLOCK_SIZE = 1 << 20 };

/* A part of standard input that was kept. */
typedef struct kept_block {
    struct kept_block *next;
    size_t length;
    char bytes[BLOCK_SIZE];
} kept_block;

struct gram_source {
    gram_memory *memory;
    char *name;
    int descriptor; /* -1: memory */
    const char *bytes;
    int64_t size;      /* -1 if that cannot be known */
    int64_t read;      /* bytes read so far, of the lower layer */
    gram_query *query; /* or NULL */
    /* standard input, kept */
    int keep;
    kept_block *first, *last;
    const kept_block *again; /* where the second reading is; NULL: everything kept was read */
    size_t again_at;
    /* gzip */
    int started; /* the first two bytes were looked at */
    unsigned char start[2];
    size_t start_length, start_at;
    int packed;
    z_stream inflater;
    int inflating; /* inflater is initialised */
    int between;   /* a member ended and no other one began */
    unsigned char input[PACKED_SIZE];
};

char *gram_data_excerpt(const char *text, size_t length, char out[GRAM_EXCERPT_SIZE])
{
    const size_t room = GRAM_EXCERPT_SIZE - sizeof "...";
    size_t kept = length < room ? length : room;
    while (kept < length && kept > 0 && ((unsigned char)text[kept] & 0xC0) == 0x80) kept--;
    for (size_t i = 0; i < kept; i++) {
        const unsigned char c = (unsigned char)text[i];
        out[i] = c < ' ' || c == 0x7F ? '?' : text[i];
    }
    (void)strcpy(out + kept, kept < length ? "..." : "");
    return out;
}

/* ---- opening and closing ---- */

static gram_status create(gram_context *context, const char *name, gram_source **source)
{
    gram_status status = GRAM_OK;
    gram_source *made = NULL;
    *source = NULL;
    TRY(gram_take(context, "reading", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made - sizeof made->input);
    made->descriptor = -1;
    made->size = -1;
    made->memory = gram_memory_retain(context->memory);
    const size_t length = strlen(name) + 1;
    TRY(gram_take(context, "reading", (int64_t)length, 1, (void **)&made->name));
    memcpy(made->name, name, length);
    *source = made;
    made = NULL;
done:
    gram_source_close(made);
    return status;
}

const char *gram_data_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

gram_status gram_source_open(gram_context *context, const char *path, int seekable, gram_source **source)
{
    gram_status status = GRAM_OK;
    char reason[GRAM_SYSTEM_REASON_SIZE];
    struct stat facts;
    const int is_input = strcmp(path, "-") == 0;
    gram_source *made = NULL;
    TRY(create(context, gram_data_name(path), &made));
    made->descriptor = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    FAIL_IF(made->descriptor < 0, context, GRAM_ERROR_FILE, "%s: cannot be opened: %s", made->name,
            gram_system_reason(errno, reason));
    if (fstat(made->descriptor, &facts) == 0 && S_ISREG(facts.st_mode) && lseek(made->descriptor, 0, SEEK_CUR) == 0)
        made->size = (int64_t)facts.st_size;
    made->keep = seekable && made->size < 0;
    *source = made;
    made = NULL;
done:
    gram_source_close(made);
    return status;
}

gram_status gram_source_open_query(gram_context *context, const char *file, const char *sql, gram_source **source)
{
    gram_status status = GRAM_OK;
    gram_source *made = NULL;
    TRY(create(context, file, &made));
    TRY(gram_query_open(context, file, sql, &made->query));
    *source = made;
    made = NULL;
done:
    gram_source_close(made);
    return status;
}

gram_status gram_source_open_memory(gram_context *context, const char *name, const void *bytes, size_t length,
                                    gram_source **source)
{
    gram_status status = GRAM_OK;
    TRY(create(context, name, source));
    (*source)->bytes = bytes;
    (*source)->size = (int64_t)length;
done:
    return status;
}

void gram_source_close(gram_source *source)
{
    if (!source) return;
    gram_memory *memory = source->memory;
    if (source->inflating) (void)inflateEnd(&source->inflater);
    gram_query_close(source->query);
    if (source->descriptor > STDIN_FILENO) (void)close(source->descriptor);
    while (source->first) {
        kept_block *next = source->first->next;
        gram_memory_give(memory, source->first);
        source->first = next;
    }
    gram_memory_give(memory, source->name);
    gram_memory_give(memory, source);
    gram_memory_release(memory);
}

const char *gram_source_name(const gram_source *source)
{
    return source->name;
}

int64_t gram_source_size(const gram_source *source)
{
    return source->size;
}

int64_t gram_source_position(const gram_source *source)
{
    return source->read;
}

int gram_source_is_plain(const gram_source *source)
{
    return !source->packed;
}

/* ---- the lower layer ---- */

static void read_memory(gram_source *source, char *buffer, size_t size, size_t *got)
{
    const size_t left = (size_t)(source->size - source->read);
    *got = size < left ? size : left;
    if (*got > 0) memcpy(buffer, source->bytes + source->read, *got);
    source->read += (int64_t)*got;
}

static void read_kept(gram_source *source, char *buffer, size_t size, size_t *got)
{
    while (source->again && *got < size) {
        const size_t left = source->again->length - source->again_at;
        const size_t count = size - *got < left ? size - *got : left;
        memcpy(buffer + *got, source->again->bytes + source->again_at, count);
        *got += count;
        source->again_at += count;
        source->read += (int64_t)count;
        if (source->again_at < source->again->length) break;
        source->again = source->again->next;
        source->again_at = 0;
    }
}

static gram_status keep(gram_context *context, gram_source *source, const char *bytes, size_t length)
{
    gram_status status = GRAM_OK;
    while (length > 0) {
        if (!source->last || source->last->length == BLOCK_SIZE) {
            kept_block *made;
            TRY(gram_take_from(context, source->memory, source->name, 1, sizeof *made, (void **)&made));
            made->next = NULL;
            made->length = 0;
            if (source->last)
                source->last->next = made;
            else
                source->first = made;
            source->last = made;
        }
        const size_t room = BLOCK_SIZE - source->last->length, count = length < room ? length : room;
        memcpy(source->last->bytes + source->last->length, bytes, count);
        source->last->length += count;
        bytes += count;
        length -= count;
    }
done:
    return status;
}

static gram_status read_descriptor(gram_context *context, gram_source *source, char *buffer, size_t size, size_t *got)
{
    gram_status status = GRAM_OK;
    char reason[GRAM_SYSTEM_REASON_SIZE];
    const size_t piece = 4 << 20; /* between two calls of the callbacks */
    while (*got < size) {
        const double share = source->size > 0 ? (double)source->read / (double)source->size : 0;
        TRY(gram_pulse(context, "reading", share));
        const size_t wanted = size - *got < piece ? size - *got : piece;
        const ssize_t count = read(source->descriptor, buffer + *got, wanted);
        if (count < 0 && errno == EINTR) continue;
        FAIL_IF(count < 0, context, GRAM_ERROR_FILE, "%s: cannot be read: %s", source->name,
                gram_system_reason(errno, reason));
        if (count == 0) break;
        if (source->keep) TRY(keep(context, source, buffer + *got, (size_t)count));
        *got += (size_t)count;
        source->read += count;
    }
done:
    return status;
}

static gram_status read_bytes(gram_context *context, gram_source *source, char *buffer, size_t size, size_t *got)
{
    *got = 0;
    if (source->query) return gram_query_read(context, source->query, buffer, size, got);
    if (source->descriptor < 0) {
        read_memory(source, buffer, size, got);
        return GRAM_OK;
    }
    read_kept(source, buffer, size, got);
    return read_descriptor(context, source, buffer, size, got);
}

gram_status gram_source_rewind(gram_context *context, gram_source *source)
{
    gram_status status = GRAM_OK;
    if (source->query) TRY(gram_query_rewind(context, source->query));
    FAIL_IF(source->descriptor >= 0 && !source->keep && lseek(source->descriptor, 0, SEEK_SET) != 0, context,
            GRAM_ERROR_FILE, "%s: cannot be read a second time", source->name);
    source->again = source->first;
    source->again_at = 0;
    source->read = 0;
    source->started = 0;
    source->start_length = source->start_at = 0;
done:
    return status;
}

int gram_source_is_random(const gram_source *source)
{
    return source->started && !source->packed && source->size >= 0;
}

int gram_source_read_at(const gram_source *source, int64_t offset, void *buffer, size_t size)
{
    if (offset < 0 || offset > source->size || (int64_t)size > source->size - offset) return 0;
    if (source->descriptor < 0) {
        if (size > 0) memcpy(buffer, source->bytes + offset, size);
        return 1;
    }
    for (size_t got = 0; got < size;) {
        const ssize_t count = pread(source->descriptor, (char *)buffer + got, size - got, (off_t)offset + (off_t)got);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return 0; /* an error, or the file became shorter */
        got += (size_t)count;
    }
    return 1;
}

/* ---- the upper layer ---- */

/* zlib's own memory, some 40 KB, counts like any other. */
static void *take_for_zlib(void *opaque, uInt count, uInt size)
{
    void *block;
    return gram_memory_take(opaque, (size_t)count * size, &block) < 0 ? Z_NULL : block;
}

static void give_from_zlib(void *opaque, void *block)
{
    gram_memory_give(opaque, block);
}

static gram_status start_inflating(gram_context *context, gram_source *source)
{
    gram_status status = GRAM_OK;
    source->inflater.next_in = source->input;
    source->inflater.avail_in = 0;
    source->between = 0;
    if (source->inflating) {
        (void)inflateReset(&source->inflater);
        return status;
    }
    source->inflater.zalloc = take_for_zlib;
    source->inflater.zfree = give_from_zlib;
    source->inflater.opaque = source->memory;
    const int gzip_only = 16 + MAX_WBITS;
    FAIL_IF(inflateInit2(&source->inflater, gzip_only) != Z_OK, context, GRAM_ERROR_MEMORY,
            "%s: no memory is left to decompress it", source->name);
    source->inflating = 1;
done:
    return status;
}

/* Looks at the first two bytes, which whoever reads next gets first. */
static gram_status look_at_start(gram_context *context, gram_source *source)
{
    gram_status status = GRAM_OK;
    TRY(read_bytes(context, source, (char *)source->start, sizeof source->start, &source->start_length));
    source->started = 1;
    source->packed = source->start_length == 2 && memcmp(source->start, "\x1F\x8B", 2) == 0;
    if (source->packed) TRY(start_inflating(context, source));
done:
    return status;
}

static gram_status read_after_start(gram_context *context, gram_source *source, char *buffer, size_t size, size_t *got)
{
    const size_t left = source->start_length - source->start_at, first = size < left ? size : left;
    size_t rest = 0;
    if (first > 0) memcpy(buffer, source->start + source->start_at, first);
    source->start_at += first;
    const gram_status status =
        size > first ? read_bytes(context, source, buffer + first, size - first, &rest) : GRAM_OK;
    *got = first + rest;
    return status;
}

/* Another gzip member may follow the one that ended. */
static gram_status refill_input(gram_context *context, gram_source *source, int *ended)
{
    gram_status status = GRAM_OK;
    z_stream *inflater = &source->inflater;
    size_t got;
    *ended = 0;
    if (inflater->avail_in > 0) return status;
    TRY(read_after_start(context, source, (char *)source->input, sizeof source->input, &got));
    inflater->next_in = source->input;
    inflater->avail_in = (uInt)got;
    *ended = got == 0;
    FAIL_IF(*ended && !source->between, context, GRAM_ERROR_DATA, "%s: the compressed file is cut off", source->name);
done:
    return status;
}

static gram_status inflate_some(gram_context *context, gram_source *source)
{
    gram_status status = GRAM_OK;
    const int result = inflate(&source->inflater, Z_NO_FLUSH);
    FAIL_IF(result == Z_MEM_ERROR, context, GRAM_ERROR_MEMORY, "%s: no memory is left to decompress it", source->name);
    FAIL_IF(result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR, context, GRAM_ERROR_DATA,
            "%s: the compressed file is damaged", source->name);
    source->between = result == Z_STREAM_END;
    if (source->between) (void)inflateReset(&source->inflater);
done:
    return status;
}

static gram_status read_packed(gram_context *context, gram_source *source, char *buffer, size_t size, size_t *got)
{
    gram_status status = GRAM_OK;
    const size_t piece = 1 << 30; /* zlib counts in 32 bits */
    while (*got < size) {
        const size_t room = size - *got < piece ? size - *got : piece;
        int ended;
        TRY(refill_input(context, source, &ended));
        if (ended) break;
        source->inflater.next_out = (unsigned char *)buffer + *got;
        source->inflater.avail_out = (uInt)room;
        TRY(inflate_some(context, source));
        *got += room - source->inflater.avail_out;
    }
done:
    return status;
}

gram_status gram_source_read(gram_context *context, gram_source *source, void *buffer, size_t size, size_t *got)
{
    gram_status status = GRAM_OK;
    *got = 0;
    if (!source->started) TRY(look_at_start(context, source));
    if (source->packed) return read_packed(context, source, buffer, size, got);
    return read_after_start(context, source, buffer, size, got);
done:
    return status;
}

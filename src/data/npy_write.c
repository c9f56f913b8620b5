/* See npy.h. The file is written aside (file_aside.h) and mapped: the caller's writes go to the page cache, not to anonymous
 * memory. Its space is reserved before, or a full disk would be a SIGBUS while the mapped numbers are written. */
#define _DEFAULT_SOURCE
#include <gram/npy.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

#include "base/file_aside.h"
#include "data/byte_source.h"
#include "data/npy_header.h"
#include <gram/text.h>

struct gram_npy {
    gram_memory *memory;
    size_t header; /* bytes before the numbers */
    size_t bytes;  /* of the whole file */
    char *map;     /* NULL when not mapped */
    gram_aside aside;
};

static gram_status map_file(gram_context *context, gram_npy *file)
{
    gram_status status = GRAM_OK;
    char reason[GRAM_SYSTEM_REASON_SIZE], size[GRAM_BYTES_SIZE];
    TRY(gram_aside_reserve(context, &file->aside, file->bytes));
    const int how = file->aside.elsewhere ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED; /* another rank has the file */
    void *map = mmap(NULL, file->bytes, PROT_READ | PROT_WRITE, how, file->aside.descriptor, 0);
    FAIL_IF(map == MAP_FAILED, context, GRAM_ERROR_FILE, "%s: its %s cannot be mapped: %s", file->aside.path,
            gram_bytes_format(file->bytes, size), gram_system_reason(errno, reason));
    file->map = map;
done:
    return status;
}

gram_status gram_npy_create(gram_context *context, const char *path, int64_t rows, int64_t columns, gram_npy **file)
{
    gram_status status = GRAM_OK;
    gram_npy *made = NULL;
    int64_t numbers, bytes;
    char header[GRAM_NPY_HEADER];
    if (!context || !path || !file) return GRAM_ERROR_ARGUMENT;
    *file = NULL;
    FAIL_IF(rows < 1 || columns < 1, context, GRAM_ERROR_ARGUMENT,
            "npy_create: %" PRId64 " x %" PRId64 ", both must be at least 1", rows, columns);
    FAIL_IF(!gram_size_multiply(rows, columns, &numbers) || !gram_size_multiply(numbers, 8, &bytes) ||
                bytes > INT64_MAX - GRAM_NPY_HEADER,
            context, GRAM_ERROR_OVERFLOW,
            "npy_create: %" PRId64 " x %" PRId64 " numbers are more than can be addressed", rows, columns);
    TRY(gram_take(context, "npy_create", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->aside.descriptor = -1;
    made->header = gram_npy_format("<f8", rows, columns, header);
    made->bytes = made->header + (size_t)bytes;
    TRY(gram_aside_open(context, "npy_create", path, &made->aside));
    TRY(map_file(context, made));
    memcpy(made->map, header, made->header);
    *file = made;
    made = NULL;
done:
    gram_npy_destroy(made);
    return status;
}

double *gram_npy_numbers(gram_npy *file)
{
    return file->map ? (double *)(void *)(file->map + file->header) : NULL;
}

/* Piece by piece, so that the caller can stop it. */
static gram_status write_out(gram_context *context, gram_npy *file)
{
    gram_status status = GRAM_OK;
    char reason[GRAM_SYSTEM_REASON_SIZE];
    const size_t piece = 32 << 20;
    for (size_t at = 0; at < file->bytes; at += piece) {
        const size_t length = file->bytes - at < piece ? file->bytes - at : piece;
        TRY(gram_pulse(context, "writing", (double)at / (double)file->bytes));
        FAIL_IF(msync(file->map + at, length, MS_SYNC) != 0, context, GRAM_ERROR_FILE, "%s: cannot be written: %s",
                file->aside.path, gram_system_reason(errno, reason));
    }
    (void)munmap(file->map, file->bytes);
    file->map = NULL;
done:
    return status;
}

static void give_up(gram_npy *file)
{
    if (file->map) (void)munmap(file->map, file->bytes);
    file->map = NULL;
    gram_aside_abandon(&file->aside);
}

gram_status gram_npy_finish(gram_context *context, gram_npy *file)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!file->map, context, GRAM_ERROR_ARGUMENT, "npy_finish: called twice");
    TRY(write_out(context, file));
    TRY(gram_aside_finish(context, &file->aside));
done:
    give_up(file);
    return status;
}

void gram_npy_destroy(gram_npy *file)
{
    if (!file) return;
    gram_memory *memory = file->memory;
    give_up(file);
    gram_memory_give(memory, file);
    gram_memory_release(memory);
}

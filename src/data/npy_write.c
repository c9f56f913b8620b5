/* See npy.h. The steps, and what each is for:
 *   open aside     an older file stays whole until the end
 *   fallocate      a full disk is an error now, not a SIGBUS while the mapped numbers are written
 *   map            the caller's writes go to the page cache, not to anonymous memory
 *   msync, fsync   the numbers are on the disk before the name is
 *   rename         old or new, never half of one
 *   fsync(folder)  the name is on the disk */
#define _XOPEN_SOURCE 700
#include <gram/npy.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "npy_header.h"
#include "source.h"
#include <gram/text.h>

struct gram_npy {
    gram_memory *memory;
    int descriptor; /* -1 when closed */
    int aside;      /* the temporary file exists */
    size_t header;  /* bytes before the numbers */
    size_t bytes;   /* of the whole file */
    char *map;      /* NULL when not mapped */
    char path[PATH_MAX];
    char temporary[PATH_MAX];
};

/* The folder of a path, as text before its last slash: its length, 0 if there is none. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path + 1) : 0;
}

/* The place where the file is to be in the end: what a link points to, and nothing but a regular file. */
static gram_status find_target(gram_context *context, const char *path, gram_npy *file)
{
    gram_status status = GRAM_OK;
    char reason[GRAM_REASON_SIZE];
    struct stat facts;
    const int is_link = lstat(path, &facts) == 0 && S_ISLNK(facts.st_mode);
    FAIL_IF(path[0] == '\0' || strlen(path) + 32 > sizeof file->path, context, GRAM_ERROR_FILE,
            "npy_create: a path of %zu bytes", strlen(path));
    FAIL_IF(is_link && !realpath(path, file->path), context, GRAM_ERROR_FILE, "%s: cannot be written: %s", path,
            gram_data_reason(errno, reason));
    if (!is_link) (void)strcpy(file->path, path);
    FAIL_IF(stat(file->path, &facts) == 0 && !S_ISREG(facts.st_mode), context, GRAM_ERROR_FILE,
            "%s: cannot be written: %s", path, S_ISDIR(facts.st_mode) ? "it is a folder" : "it is not a regular file");
done:
    return status;
}

/* FOLDER/.NAME.PROCESS-TRY: not seen by a plain listing, and told apart from that of another process. */
static gram_status open_aside(gram_context *context, gram_npy *file)
{
    char reason[GRAM_REASON_SIZE];
    const int tries = 100, folder = folder_length(file->path);
    for (int i = 0; i < tries && file->descriptor < 0; i++) {
        const int length = snprintf(file->temporary, sizeof file->temporary, "%.*s.%.200s.%ld-%d", folder, file->path,
                                    file->path + folder, (long)getpid(), i);
        if (length < 0 || (size_t)length >= sizeof file->temporary) {
            errno = ENAMETOOLONG;
            break;
        }
        file->descriptor = open(file->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file->descriptor < 0 && errno != EEXIST) break;
    }
    if (file->descriptor < 0)
        return gram_fail(context, GRAM_ERROR_FILE, "%s: cannot be written: %s", file->path,
                         gram_data_reason(errno, reason));
    file->aside = 1;
    return GRAM_OK;
}

static gram_status reserve_space(gram_context *context, gram_npy *file)
{
    gram_status status = GRAM_OK;
    char reason[GRAM_REASON_SIZE], size[GRAM_BYTES_SIZE];
    int error;
    do {
        TRY(gram_data_pulse(context, "reserving disk space", 0));
        error = posix_fallocate(file->descriptor, 0, (off_t)file->bytes);
    } while (error == EINTR);
    FAIL_IF(error, context, GRAM_ERROR_FILE, "%s: no room for its %s: %s", file->path,
            gram_bytes_format(file->bytes, size), gram_data_reason(error, reason));
    void *map = mmap(NULL, file->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->descriptor, 0);
    FAIL_IF(map == MAP_FAILED, context, GRAM_ERROR_FILE, "%s: its %s cannot be mapped: %s", file->path,
            gram_bytes_format(file->bytes, size), gram_data_reason(errno, reason));
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
    made->descriptor = -1;
    made->header = gram_npy_format(rows, columns, header);
    made->bytes = made->header + (size_t)bytes;
    TRY(find_target(context, path, made));
    TRY(open_aside(context, made));
    TRY(reserve_space(context, made));
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
    char reason[GRAM_REASON_SIZE];
    const size_t piece = 32 << 20;
    for (size_t at = 0; at < file->bytes; at += piece) {
        const size_t length = file->bytes - at < piece ? file->bytes - at : piece;
        TRY(gram_data_pulse(context, "writing", (double)at / (double)file->bytes));
        FAIL_IF(msync(file->map + at, length, MS_SYNC) != 0, context, GRAM_ERROR_FILE, "%s: cannot be written: %s",
                file->path, gram_data_reason(errno, reason));
    }
    (void)munmap(file->map, file->bytes);
    file->map = NULL;
    FAIL_IF(fsync(file->descriptor) != 0, context, GRAM_ERROR_FILE, "%s: cannot be written: %s", file->path,
            gram_data_reason(errno, reason));
done:
    return status;
}

/* Best effort: some file systems cannot, and the file is in its place already. */
static void sync_folder(const char *path)
{
    char folder[PATH_MAX];
    const int length = folder_length(path);
    (void)snprintf(folder, sizeof folder, "%.*s", length > 0 ? length : 1, length > 0 ? path : ".");
    const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    (void)fsync(descriptor);
    (void)close(descriptor);
}

static void give_up(gram_npy *file)
{
    if (file->map) (void)munmap(file->map, file->bytes);
    if (file->descriptor >= 0) (void)close(file->descriptor);
    if (file->aside) (void)unlink(file->temporary);
    file->map = NULL;
    file->descriptor = -1;
    file->aside = 0;
}

gram_status gram_npy_finish(gram_context *context, gram_npy *file)
{
    gram_status status = GRAM_OK;
    char reason[GRAM_REASON_SIZE];
    FAIL_IF(!file->map, context, GRAM_ERROR_ARGUMENT, "npy_finish: called twice");
    TRY(write_out(context, file));
    FAIL_IF(rename(file->temporary, file->path) != 0, context, GRAM_ERROR_FILE, "%s: cannot be written: %s", file->path,
            gram_data_reason(errno, reason));
    file->aside = 0;
    sync_folder(file->path);
done:
    give_up(file);
    return status;
}

void gram_npy_destroy(gram_npy *file)
{
    if (!file) return;
    gram_memory *memory = file->memory;
    give_up(file);
    gram_memory_give(memory, file, sizeof *file);
    gram_memory_release(memory);
}

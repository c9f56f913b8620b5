#define _XOPEN_SOURCE 700
#include "base/file_aside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gram/text.h>

#include "base/ranks/collective.h"
#include "base/system/system_call.h"

enum { TRIES = 100 };
_Static_assert(GRAM_ASIDE_PATH >= PATH_MAX, "realpath writes up to PATH_MAX bytes");

/* The folder of a path, as text before its last slash: its length, 0 if there is none. */
static int folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (int)(slash - path + 1) : 0;
}

/* The place where the file is to be in the end: what a link points to, and nothing but a regular file. */
static gram_status find_target(gram_context *context, const char *who, const char *path, gram_aside *aside)
{
    gram_status status = GRAM_OK;
    char reason[GRAM_SYSTEM_REASON_SIZE];
    struct stat facts;
    const int is_link = lstat(path, &facts) == 0 && S_ISLNK(facts.st_mode);
    FAIL_IF(path[0] == '\0' || strlen(path) + 32 > sizeof aside->path, context, GRAM_ERROR_FILE,
            "%s: a path of %zu bytes", who, strlen(path));
    FAIL_IF(is_link && !realpath(path, aside->path), context, GRAM_ERROR_FILE, "%s: cannot be written: %s", path,
            gram_system_reason(errno, reason));
    if (!is_link) (void)strcpy(aside->path, path);
    const int is_there = stat(aside->path, &facts) == 0;
    if (is_there && !S_ISREG(facts.st_mode)) {
        status = gram_fail(context, GRAM_ERROR_FILE, "%s: cannot be written: %s", path,
                           S_ISDIR(facts.st_mode) ? "it is a folder" : "it is not a regular file");
        status = gram_advise(context, status, "Give the name of a file.");
        goto done;
    }
    aside->mode = is_there ? (int)(facts.st_mode & 0777) : -1;
done:
    return status;
}

static gram_status cannot_write(gram_context *context, const gram_aside *aside, int error)
{
    char reason[GRAM_SYSTEM_REASON_SIZE];
    return gram_fail(context, GRAM_ERROR_FILE, "%s: cannot be written: %s", aside->path,
                     gram_system_reason(error, reason));
}

/* FOLDER/.NAME.PROCESS-TRY: not seen by a plain listing, and told apart from that of another process. 0 if it is too long. */
static int name_temporary(const char *path, long process, int attempt, char out[GRAM_ASIDE_PATH])
{
    const int folder = folder_length(path);
    const int length =
        snprintf(out, GRAM_ASIDE_PATH, "%.*s.%.200s.%ld-%d", folder, path, path + folder, process, attempt);
    return length >= 0 && length < GRAM_ASIDE_PATH;
}

gram_status gram_aside_open(gram_context *context, const char *who, const char *path, gram_aside *aside)
{
    gram_status status = GRAM_OK;
    aside->descriptor = -1;
    aside->exists = 0;
    aside->elsewhere = gram_rank(context) > 0;
    if (aside->elsewhere) return GRAM_OK;
    TRY(find_target(context, who, path, aside));
    for (int i = 0; i < TRIES && aside->descriptor < 0; i++) {
        if (!name_temporary(aside->path, (long)getpid(), i, aside->temporary)) {
            errno = ENAMETOOLONG;
            break;
        }
        aside->descriptor = open(aside->temporary, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (aside->descriptor < 0 && errno != EEXIST) break;
    }
    if (aside->descriptor < 0) TRY(cannot_write(context, aside, errno));
    aside->exists = 1;
    if (aside->mode >= 0) (void)fchmod(aside->descriptor, (mode_t)aside->mode); /* not every file system has them */
done:
    return status;
}

gram_status gram_aside_reserve(gram_context *context, gram_aside *aside, size_t bytes)
{
    gram_status status = GRAM_OK;
    char reason[GRAM_SYSTEM_REASON_SIZE], size[GRAM_BYTES_SIZE];
    int error;
    if (aside->elsewhere) return GRAM_OK;
    do {
        TRY(gram_pulse(context, "reserving disk space", 0));
        error = posix_fallocate(aside->descriptor, 0, (off_t)bytes);
    } while (error == EINTR);
    FAIL_IF(error, context, GRAM_ERROR_FILE, "%s: no room for its %s: %s", aside->path, gram_bytes_format(bytes, size),
            gram_system_reason(error, reason));
done:
    return status;
}

gram_status gram_aside_put(gram_context *context, gram_aside *aside, const void *bytes, size_t count)
{
    gram_status status = GRAM_OK;
    if (!context || !aside) return GRAM_ERROR_ARGUMENT;
    if (aside->elsewhere) return GRAM_OK;
    for (size_t at = 0; at < count;) {
        const ssize_t written = write(aside->descriptor, (const char *)bytes + at, count - at);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) TRY(cannot_write(context, aside, errno));
        at += (size_t)written;
    }
done:
    return status;
}

gram_status gram_aside_write(gram_context *context, gram_aside *aside, const void *bytes, size_t count, size_t done,
                             size_t total)
{
    gram_status status = GRAM_OK;
    const size_t piece = 4 << 20; /* between two calls of the callbacks */
    for (size_t at = 0; at < count; at += piece) {
        TRY(gram_pulse(context, "writing", (double)(done + at) / (double)total));
        TRY(gram_aside_put(context, aside, (const char *)bytes + at, count - at < piece ? count - at : piece));
    }
done:
    return status;
}

/* Best effort: some file systems cannot, and the file is in its place already. */
static void sync_folder(const char *path)
{
    char folder[GRAM_ASIDE_PATH];
    const int length = folder_length(path);
    (void)snprintf(folder, sizeof folder, "%.*s", length > 0 ? length : 1, length > 0 ? path : ".");
    const int descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0) return;
    (void)fsync(descriptor);
    (void)close(descriptor);
}

gram_status gram_aside_finish(gram_context *context, gram_aside *aside)
{
    gram_status status = GRAM_OK;
    if (!context || !aside) return GRAM_ERROR_ARGUMENT;
    if (aside->elsewhere) return GRAM_OK;
    if (fsync(aside->descriptor) != 0) TRY(cannot_write(context, aside, errno));
    const int closed = close(aside->descriptor);
    aside->descriptor = -1;
    if (closed != 0) TRY(cannot_write(context, aside, errno));
    if (rename(aside->temporary, aside->path) != 0) TRY(cannot_write(context, aside, errno));
    aside->exists = 0;
    sync_folder(aside->path);
done:
    return status;
}

void gram_aside_abandon(gram_aside *aside)
{
    if (aside->descriptor >= 0) (void)close(aside->descriptor);
    if (aside->exists) (void)unlink(aside->temporary);
    aside->descriptor = -1;
    aside->exists = 0;
}

void gram_aside_sweep(const char *path, long process)
{
    char target[GRAM_ASIDE_PATH], temporary[GRAM_ASIDE_PATH];
    if (!realpath(path, target)) (void)snprintf(target, sizeof target, "%s", path);
    for (int i = 0; i < TRIES && name_temporary(target, process, i, temporary); i++)
        if (unlink(temporary) != 0) break;
}

/* ---- one that is allocated ---- */

gram_status gram_aside_create(gram_context *context, const char *path, gram_aside **aside)
{
    gram_status status = GRAM_OK;
    gram_aside *made = NULL;
    if (!context || !aside) return GRAM_ERROR_ARGUMENT;
    *aside = NULL;
    FAIL_IF(!path, context, GRAM_ERROR_ARGUMENT, "aside_create: path is NULL");
    TRY(gram_take(context, "aside_create", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->descriptor = -1;
    made->memory = gram_memory_retain(context->memory);
    TRY(gram_aside_open(context, "aside_create", path, made));
    *aside = made;
    made = NULL;
done:
    gram_aside_destroy(made);
    return status;
}

void gram_aside_destroy(gram_aside *aside)
{
    if (!aside) return;
    gram_memory *memory = aside->memory;
    gram_aside_abandon(aside);
    gram_memory_give(memory, aside);
    gram_memory_release(memory);
}

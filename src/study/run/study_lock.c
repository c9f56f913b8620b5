/* The lock of a study file.
 *
 * The study itself is replaced at each write, so it cannot carry the lock; a file beside it does, with flock, which belongs to an open file and
 * is let go when the process ends in whatever way. Whoever holds it removes its name at the end. So between opening the file and locking
 * it, the name may have gone: then what was locked is nobody's lock, and the taking starts again.
 *
 * The file holds the number of the process. Where it is found with a number in it, its process died, and what that process had written aside
 * (file_aside.h) and not renamed is removed. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <gram/study_run.h>

#include "base/file_aside.h"
#include "base/system/system_call.h"

enum { NUMBER_SIZE = 32 };
static const double LOOK = 0.02; /* seconds between two looks */

struct gram_study_lock {
    gram_memory *memory;
    int descriptor;
    char path[GRAM_ASIDE_PATH];
};

/* Is the open file still the one of that name? */
static int is_current(int descriptor, const char *path)
{
    struct stat open_one, named;
    return fstat(descriptor, &open_one) == 0 && stat(path, &named) == 0 && open_one.st_ino == named.st_ino &&
           open_one.st_dev == named.st_dev;
}

/* 1: locked, 0: another has it, -1: errno says why not. */
static int try_lock(gram_study_lock *lock)
{
    for (;;) {
        lock->descriptor = open(lock->path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (lock->descriptor < 0) return -1;
        const int locked = flock(lock->descriptor, LOCK_EX | LOCK_NB) == 0, error = errno;
        if (locked && is_current(lock->descriptor, lock->path)) return 1;
        (void)close(lock->descriptor);
        lock->descriptor = -1;
        errno = error;
        if (!locked) return error == EWOULDBLOCK ? 0 : -1;
    }
}

/* The number of the process that wrote the lock, 0 if none did. */
static long read_owner(int descriptor)
{
    char text[NUMBER_SIZE] = "";
    const ssize_t got = pread(descriptor, text, sizeof text - 1, 0);
    return got > 0 ? strtol(text, NULL, 10) : 0;
}

static void write_owner(int descriptor)
{
    char text[NUMBER_SIZE];
    const int length = snprintf(text, sizeof text, "%ld\n", (long)getpid());
    if (ftruncate(descriptor, 0) == 0) (void)!pwrite(descriptor, text, (size_t)length, 0);
}

static gram_status wait_for(gram_context *context, const char *path, double seconds, gram_study_lock *lock)
{
    gram_status status = GRAM_OK;
    char reason[GRAM_SYSTEM_REASON_SIZE];
    const struct timespec moment = {.tv_nsec = (long)(1e9 * LOOK)};
    int locked = 0;
    for (double waited = 0; (locked = try_lock(lock)) == 0 && waited < seconds; waited += LOOK) {
        TRY(gram_pulse(context, "waiting for another process", waited / seconds));
        (void)nanosleep(&moment, NULL);
    }
    if (locked == 0) {
        status = gram_fail(context, GRAM_ERROR_ARGUMENT, "%s: another process works on this study", path);
        status = gram_advise(context, status, "Wait for it, or stop it: what it was told is kept.");
    }
    FAIL_IF(locked < 0, context, GRAM_ERROR_FILE, "%s: cannot be written: %s", lock->path,
            gram_system_reason(errno, reason));
done:
    return status;
}

gram_status gram_study_lock_take(gram_context *context, const char *path, double seconds, gram_study_lock **lock)
{
    gram_status status = GRAM_OK;
    gram_study_lock *made = NULL;
    if (!context || !path || !lock) return GRAM_ERROR_ARGUMENT;
    *lock = NULL;
    FAIL_IF(strlen(path) + 32 > GRAM_ASIDE_PATH, context, GRAM_ERROR_FILE, "a path of %zu bytes", strlen(path));
    TRY(gram_take(context, "study_lock_take", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->descriptor = -1;
    (void)snprintf(made->path, sizeof made->path, "%s.lock", path);
    TRY(wait_for(context, path, seconds, made));
    const long owner = read_owner(made->descriptor);
    if (owner > 0) gram_aside_sweep(path, owner);
    write_owner(made->descriptor);
    *lock = made;
    made = NULL;
done:
    gram_study_lock_release(made);
    return status;
}

void gram_study_lock_release(gram_study_lock *lock)
{
    if (!lock) return;
    gram_memory *memory = lock->memory;
    if (lock->descriptor >= 0) {
        (void)unlink(lock->path);
        (void)close(lock->descriptor);
    }
    gram_memory_give(memory, lock);
    gram_memory_release(memory);
}

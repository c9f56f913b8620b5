/* Loaded before the C library (LD_PRELOAD): makes one call of the system fail, so that tests can let every one fail in
 * turn.
 *
 *     GRAM_FAIL=CALL:K:HOW    the K-th call of CALL (open, write, fsync, rename, mmap, reserve), counted from 1, fails
 *     GRAM_FAIL_NOTE=FILE     is made when that happens
 *
 * HOW is the name of an error (ENOSPC, EIO, EINTR, ENOMEM, EACCES), then `+` if all later calls fail as well; `short`: a
 * write takes one byte only; `kill`: the process ends by SIGKILL before the call; `killed`: after it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

typedef struct plan {
    char call[16];
    long place;
    int error; /* 0: none */
    int lasting;
    int cuts, kills, kills_after;
} plan;

static plan wanted;
static atomic_long calls;

static int error_of(const char *name)
{
    static const struct {
        const char *name;
        int error;
    } ROWS[] = {{"ENOSPC", ENOSPC}, {"EIO", EIO}, {"EINTR", EINTR}, {"ENOMEM", ENOMEM}, {"EACCES", EACCES}};
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (strncmp(name, ROWS[i].name, strlen(ROWS[i].name)) == 0) return ROWS[i].error;
    return 0;
}

__attribute__((constructor)) static void read_plan(void)
{
    char how[16] = "";
    const char *text = getenv("GRAM_FAIL");
    if (!text || sscanf(text, "%15[^:]:%ld:%15s", wanted.call, &wanted.place, how) != 3) return;
    wanted.error = error_of(how);
    wanted.lasting = strchr(how, '+') != NULL;
    wanted.cuts = strcmp(how, "short") == 0;
    wanted.kills = strcmp(how, "kill") == 0;
    wanted.kills_after = strcmp(how, "killed") == 0;
}

static void note(void)
{
    const char *file = getenv("GRAM_FAIL_NOTE");
    if (file) (void)syscall(SYS_close, syscall(SYS_openat, AT_FDCWD, file, O_WRONLY | O_CREAT, 0600));
}

/* Is it the turn of this call? Then it is killed here, or fails with errno if there is an error. */
static int is_struck(const char *call)
{
    if (wanted.place == 0 || strcmp(call, wanted.call) != 0) return 0;
    const long number = atomic_fetch_add(&calls, 1) + 1;
    if (number < wanted.place || (number > wanted.place && !wanted.lasting)) return 0;
    if (number == wanted.place) note();
    if (wanted.kills) (void)raise(SIGKILL);
    if (wanted.error) errno = wanted.error;
    return 1;
}

static int fails(const char *call)
{
    return is_struck(call) && wanted.error;
}

/* The function behind ours, as its own type. */
#define BEHIND(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* ---- opening ---- */

static mode_t mode_of(int flags, va_list list)
{
    return flags & O_CREAT ? va_arg(list, mode_t) : 0;
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...)                                                                         \
    {                                                                                                                  \
        va_list list;                                                                                                  \
        va_start(list, flags);                                                                                         \
        const mode_t mode = mode_of(flags, list);                                                                      \
        va_end(list);                                                                                                  \
        return fails("open") ? -1 : BEHIND(name)(path, flags, mode);                                                   \
    }
OPEN(open)
OPEN(open64)

FILE *fopen(const char *path, const char *mode)
{
    return fails("open") ? NULL : BEHIND(fopen)(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
    return fails("open") ? NULL : BEHIND(fopen64)(path, mode);
}

/* ---- writing ---- */

static size_t length_of(int struck, size_t count)
{
    return struck && wanted.cuts && count > 1 ? 1 : count;
}

static ssize_t after(int struck, ssize_t result)
{
    if (struck && wanted.kills_after) (void)raise(SIGKILL);
    return result;
}

ssize_t write(int descriptor, const void *bytes, size_t count)
{
    const int struck = is_struck("write");
    if (struck && wanted.error) return -1;
    return after(struck, BEHIND(write)(descriptor, bytes, length_of(struck, count)));
}

#define PWRITE(name, offset_type)                                                                                      \
    ssize_t name(int descriptor, const void *bytes, size_t count, offset_type offset)                                  \
    {                                                                                                                  \
        const int struck = is_struck("write");                                                                         \
        if (struck && wanted.error) return -1;                                                                         \
        return after(struck, BEHIND(name)(descriptor, bytes, length_of(struck, count), offset));                       \
    }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)

int fsync(int descriptor)
{
    const int struck = is_struck("fsync");
    return struck && wanted.error ? -1 : (int)after(struck, BEHIND(fsync)(descriptor));
}

int msync(void *where, size_t length, int flags)
{
    return fails("fsync") ? -1 : BEHIND(msync)(where, length, flags);
}

int rename(const char *from, const char *to)
{
    const int struck = is_struck("rename");
    return struck && wanted.error ? -1 : (int)after(struck, BEHIND(rename)(from, to));
}

/* These return the error. */
int posix_fallocate(int descriptor, off_t offset, off_t length)
{
    return fails("reserve") ? wanted.error : BEHIND(posix_fallocate)(descriptor, offset, length);
}

int posix_fallocate64(int descriptor, off64_t offset, off64_t length)
{
    return fails("reserve") ? wanted.error : BEHIND(posix_fallocate64)(descriptor, offset, length);
}

int ftruncate(int descriptor, off_t length)
{
    return fails("reserve") ? -1 : BEHIND(ftruncate)(descriptor, length);
}

/* ---- mapping ---- */

void *mmap(void *where, size_t length, int protection, int flags, int descriptor, off_t offset)
{
    if (fails("mmap")) return MAP_FAILED;
    return BEHIND(mmap)(where, length, protection, flags, descriptor, offset);
}

void *mmap64(void *where, size_t length, int protection, int flags, int descriptor, off64_t offset)
{
    if (fails("mmap")) return MAP_FAILED;
    return BEHIND(mmap64)(where, length, protection, flags, descriptor, offset);
}

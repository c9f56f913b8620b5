/* Where results go: standard output, or a file that is written aside and renamed. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

static int to_terminal(const cli_common *common)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (common->json || common->out || (no_color && no_color[0])) return 0;
    return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0;
}

const char *cli_bold(const cli_common *common)
{
    return to_terminal(common) ? "\033[1m" : "";
}

const char *cli_plain(const cli_common *common)
{
    return to_terminal(common) ? "\033[0m" : "";
}

/* 0, or -1 with errno. */
static int write_fully(int descriptor, const char *bytes, size_t length)
{
    while (length > 0) {
        const ssize_t count = write(descriptor, bytes, length);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -1;
        bytes += count;
        length -= (size_t)count;
    }
    return 0;
}

static int cannot_write(const char *path)
{
    return cli_fail(CLI_OVER_LIMIT, "Is there room on the disk, and may you write there?", "%s: cannot be written: %s",
                    path, strerror(errno));
}

static int write_to(int descriptor, const char *path, const cli_text *text)
{
    if (write_fully(descriptor, text->data, text->length) == 0) return CLI_DONE;
    return errno == EPIPE ? CLI_DONE : cannot_write(path);
}

/* A device or a pipe is written as it is. */
static int write_device(const char *path, const cli_text *text)
{
    const int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) return cannot_write(path);
    const int code = write_to(descriptor, path, text);
    if (close(descriptor) != 0 && code == CLI_DONE) return cannot_write(path);
    return code;
}

static int write_file(const char *path, const cli_text *text)
{
    char target[PATH_MAX], aside[PATH_MAX + 32];
    if (!realpath(path, target)) (void)snprintf(target, sizeof target, "%s", path); /* not there yet */
    (void)snprintf(aside, sizeof aside, "%s.%ld~", target, (long)getpid());
    const int descriptor = open(aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor < 0) return cannot_write(path);
    int failed = write_fully(descriptor, text->data, text->length) != 0 || fsync(descriptor) != 0;
    int error = errno;
    if (close(descriptor) != 0 && !failed) failed = 1, error = errno;
    if (!failed && rename(aside, target) != 0) failed = 1, error = errno;
    if (!failed) return CLI_DONE;
    (void)unlink(aside);
    errno = error;
    return cannot_write(path);
}

int cli_write(const cli_common *common, const cli_text *text)
{
    struct stat facts;
    if (text->failed || !text->data)
        return cli_fail(CLI_OVER_LIMIT, NULL, "the system has no memory left for the report");
    if (!common->out || strcmp(common->out, "-") == 0) return write_to(STDOUT_FILENO, "standard output", text);
    if (stat(common->out, &facts) == 0 && !S_ISREG(facts.st_mode)) return write_device(common->out, text);
    return write_file(common->out, text);
}

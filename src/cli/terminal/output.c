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

#include "cli/terminal/cli.h"

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

int cli_write_fully(int descriptor, const char *bytes, size_t length)
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

void cli_tame(char *text, size_t length, cli_taming taming)
{
    static const char BOLD[] = "\033[1m", PLAIN[] = "\033[0m";
    const size_t own = sizeof BOLD - 1;
    for (size_t i = 0; i < length; i++) {
        const unsigned char c = (unsigned char)text[i], next = i + 1 < length ? (unsigned char)text[i + 1] : 0;
        if (length - i >= own && (memcmp(text + i, BOLD, own) == 0 || memcmp(text + i, PLAIN, own) == 0)) {
            i += own - 1;
            continue;
        }
        const int is_line = (c == '\n' || c == '\t') && taming == CLI_TAME_CONTROLS;
        const int is_wide = c == 0xC2 && next >= 0x80 && next < 0xA0; /* U+0080 .. U+009F, which some terminals obey */
        if (is_wide) text[i + 1] = '?';
        if (is_wide || ((c < ' ' || c == 0x7F) && !is_line)) text[i] = '?';
    }
}

static int write_to(int descriptor, const char *path, gram_string *text)
{
    if (isatty(descriptor)) cli_tame(text->data, text->length, CLI_TAME_CONTROLS);
    if (cli_write_fully(descriptor, text->data, text->length) == 0) return CLI_DONE;
    return errno == EPIPE ? CLI_DONE : cannot_write(path);
}

/* A device or a pipe is written as it is. */
static int write_device(const char *path, gram_string *text)
{
    const int descriptor = open(path, O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) return cannot_write(path);
    const int code = write_to(descriptor, path, text);
    if (close(descriptor) != 0 && code == CLI_DONE) return cannot_write(path);
    return code;
}

int cli_aside_open(const char *path, cli_aside *aside)
{
    struct stat facts;
    char resolved[PATH_MAX];
    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode))
        return cli_fail(CLI_OVER_LIMIT, "Give the name of a file.", "%s: cannot be written: it is not a regular file",
                        path);
    const char *target = realpath(path, resolved) ? resolved : path; /* not there yet */
    (void)snprintf(aside->target, sizeof aside->target, "%s", target);
    (void)snprintf(aside->path, sizeof aside->path, "%s.%ld~", aside->target, (long)getpid());
    aside->descriptor = open(aside->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return aside->descriptor < 0 ? cannot_write(path) : CLI_DONE;
}

int cli_aside_close(const char *path, cli_aside *aside, int code)
{
    int failed = code == CLI_DONE && fsync(aside->descriptor) != 0, error = errno;
    if (close(aside->descriptor) != 0 && !failed) failed = 1, error = errno;
    if (code == CLI_DONE && !failed && rename(aside->path, aside->target) != 0) failed = 1, error = errno;
    if (code == CLI_DONE && !failed) return CLI_DONE;
    (void)unlink(aside->path);
    errno = error;
    return code == CLI_DONE ? cannot_write(path) : code;
}

/* By making the file aside and dropping it: what can go wrong then goes wrong now. */
int cli_output_check(const char *path)
{
    cli_aside aside;
    const int code = cli_aside_open(path, &aside);
    if (code != CLI_DONE) return code;
    (void)close(aside.descriptor);
    (void)unlink(aside.path);
    return CLI_DONE;
}

static int write_file(const char *path, const gram_string *text)
{
    cli_aside aside;
    int code = cli_aside_open(path, &aside);
    if (code != CLI_DONE) return code;
    if (cli_write_fully(aside.descriptor, text->data, text->length) != 0) code = cannot_write(path);
    return cli_aside_close(path, &aside, code);
}

int cli_write(const cli_common *common, gram_string *text)
{
    struct stat facts;
    if (text->failed || !text->data)
        return cli_fail(CLI_OVER_LIMIT, NULL, "the system has no memory left for the report");
    if (!common->out || strcmp(common->out, "-") == 0) return write_to(STDOUT_FILENO, "standard output", text);
    if (stat(common->out, &facts) == 0 && !S_ISREG(facts.st_mode)) return write_device(common->out, text);
    return write_file(common->out, text);
}

int cli_stream_open(const char *path, cli_stream *stream)
{
    struct stat facts;
    *stream = (cli_stream){.path = path, .descriptor = STDOUT_FILENO};
    if (!path || strcmp(path, "-") == 0) return CLI_DONE;
    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode)) {
        stream->descriptor = open(path, O_WRONLY | O_CLOEXEC);
        return stream->descriptor < 0 ? cannot_write(path) : CLI_DONE;
    }
    stream->is_aside = 1;
    const int code = cli_aside_open(path, &stream->aside);
    stream->descriptor = stream->aside.descriptor;
    return code;
}

int cli_stream_put(cli_stream *stream, gram_string *text)
{
    if (text->failed) return cli_no_memory();
    if (stream->gone || text->length == 0) return CLI_DONE;
    if (isatty(stream->descriptor)) cli_tame(text->data, text->length, CLI_TAME_CONTROLS);
    if (cli_write_fully(stream->descriptor, text->data, text->length) == 0) return CLI_DONE;
    stream->gone = errno == EPIPE && !stream->is_aside;
    return stream->gone ? CLI_DONE : cannot_write(stream->path ? stream->path : "standard output");
}

int cli_stream_close(cli_stream *stream, int code)
{
    if (stream->is_aside) return cli_aside_close(stream->path, &stream->aside, code);
    if (stream->descriptor == STDOUT_FILENO) return code;
    return close(stream->descriptor) != 0 && code == CLI_DONE ? cannot_write(stream->path) : code;
}

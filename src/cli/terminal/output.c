/* Where results go: standard output, a device, or a file that is put in its place whole. */
#define _XOPEN_SOURCE 700
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/terminal/cli.h"
#include "cli/terminal/ranks.h"

static int to_terminal(const cli_common *common)
{
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (common->json || common->out || (no_color && no_color[0])) return 0;
    if (cli_ranks_share_output()) return 0; /* the launcher's terminal is not the user's */
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

static int cannot_write(const char *path)
{
    return cli_fail(CLI_OVER_LIMIT, cli_help(GRAM_ERROR_FILE), "%s: cannot be written: %s", path, strerror(errno));
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

/* A device or a pipe is written as it is. */
int cli_stream_open(cli_session *session, const char *path, cli_stream *stream)
{
    struct stat facts;
    *stream = (cli_stream){.session = session, .path = "standard output", .descriptor = STDOUT_FILENO};
    if (!path || strcmp(path, "-") == 0) return CLI_DONE;
    stream->path = path;
    if (!cli_ranks_first()) return CLI_DONE; /* standard output is closed there */
    if (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode)) {
        stream->descriptor = open(path, O_WRONLY | O_CLOEXEC);
        return stream->descriptor < 0 ? cannot_write(path) : CLI_DONE;
    }
    const gram_status status = gram_aside_create(session->context, path, &stream->aside);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

int cli_stream_put(cli_stream *stream, gram_string *text)
{
    if (text->failed) return cli_no_memory();
    if (stream->gone || text->length == 0) return CLI_DONE;
    if (stream->aside) {
        const gram_status status = gram_aside_put(stream->session->context, stream->aside, text->data, text->length);
        return status < 0 ? cli_session_fail(stream->session, status, 0, NULL) : CLI_DONE;
    }
    if (isatty(stream->descriptor)) cli_tame(text->data, text->length, CLI_TAME_CONTROLS);
    if (write_fully(stream->descriptor, text->data, text->length) == 0) return CLI_DONE;
    stream->gone = errno == EPIPE;
    return stream->gone ? CLI_DONE : cannot_write(stream->path);
}

int cli_stream_close(cli_stream *stream, int code)
{
    if (stream->aside) {
        const gram_status status =
            code == CLI_DONE ? gram_aside_finish(stream->session->context, stream->aside) : GRAM_OK;
        gram_aside_destroy(stream->aside);
        stream->aside = NULL;
        return status < 0 ? cli_session_fail(stream->session, status, 0, NULL) : code;
    }
    if (stream->descriptor == STDOUT_FILENO) return code;
    return close(stream->descriptor) != 0 && code == CLI_DONE ? cannot_write(stream->path) : code;
}

int cli_write(cli_session *session, const char *path, gram_string *text)
{
    cli_stream stream;
    const int code = cli_stream_open(session, path, &stream);
    return code == CLI_DONE ? cli_stream_close(&stream, cli_stream_put(&stream, text)) : code;
}

int cli_print(gram_string *text)
{
    const int code = cli_write(NULL, NULL, text);
    gram_string_free(text);
    return code;
}

/* By making the file aside and dropping it: what can go wrong then goes wrong now. */
int cli_output_check(cli_session *session, const char *path)
{
    gram_aside *aside = NULL;
    const gram_status status = gram_aside_create(session->context, path, &aside);
    gram_aside_destroy(aside);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

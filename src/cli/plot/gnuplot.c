/* gnuplot is a process of its own that reads the script from a pipe and writes the picture to another. No shell and no file
 * name are in between: nothing that a user writes is ever a command. The picture is looked at, and written as all files are:
 * a full disk is ours to notice, since gnuplot would not. */
#define _XOPEN_SOURCE 700
#include "cli/plot/gnuplot.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/terminal/ranks.h"

extern char **environ;

typedef struct picture_format {
    const char *ending;
    const char *terminal;
    const char *unit; /* of its size */
    double pixel;     /* in that unit */
    const char *look;
    const char *end; /* what a whole one ends with, but for empty lines */
} picture_format;

static const picture_format FORMATS[] = {
    {".svg", "svg", "", 1, "font 'sans,14' background rgb 'white'", "</svg>"},
    {".png", "pngcairo", "", 1, "font 'sans,12'", "IEND\xae\x42\x60\x82"},
    {".pdf", "pdfcairo", "cm", 0.02, "font 'sans,12'", "%%EOF"},
};

static const picture_format *find_format(const char *path)
{
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++) {
        const size_t ending = strlen(FORMATS[i].ending);
        if (length > ending && strcmp(path + length - ending, FORMATS[i].ending) == 0) return &FORMATS[i];
    }
    return NULL;
}

/* Is it in a folder of PATH? */
static int is_installed(const char *program)
{
    char path[4096];
    const char *folder = getenv("PATH");
    while (folder && *folder) {
        const size_t length = strcspn(folder, ":");
        (void)snprintf(path, sizeof path, "%.*s/%s", (int)length, folder, program);
        if (length > 0 && access(path, X_OK) == 0) return 1;
        folder += length + (folder[length] == ':');
    }
    return 0;
}

static int no_gnuplot(const char *path)
{
    return cli_fail(CLI_OVER_LIMIT, "Install gnuplot, or leave --plot out.",
                    "%s: cannot be drawn: gnuplot was not found", path);
}

int cli_plot_check(cli_session *session, const char *path)
{
    if (!find_format(path))
        return cli_fail(CLI_WRONG_USE, "Pictures end in .svg, .png or .pdf.", "--plot cannot draw '%s'", path);
    return is_installed("gnuplot") ? cli_output_check(session, path) : no_gnuplot(path);
}

/* ---- the process ---- */

/* The ends of three pipes: of the child, and ours. */
typedef struct pipes {
    int theirs[3], ours[3];
} pipes;

static void close_all(int descriptors[3])
{
    for (int i = 0; i < 3; i++)
        if (descriptors[i] >= 0) (void)close(descriptors[i]);
}

/* 0, or an errno. */
static int open_pipes(pipes *p)
{
    *p = (pipes){{-1, -1, -1}, {-1, -1, -1}};
    for (int i = 0; i < 3; i++) {
        int ends[2];
        if (pipe(ends) != 0) return errno;
        p->theirs[i] = ends[i > 0];
        p->ours[i] = ends[i == 0];
        for (int e = 0; e < 2; e++) (void)fcntl(ends[e], F_SETFD, FD_CLOEXEC);
    }
    return 0;
}

/* 0, or an errno. -d: what the user's own ~/.gnuplot says is not for our pictures. By its name standard input is a file, which
 * gnuplot reads by blocks; without one it takes a system call for each byte. */
static int start(const pipes *p, pid_t *process)
{
    char name[] = "gnuplot", defaults[] = "-d", input[] = "/dev/stdin";
    char *const arguments[] = {name, defaults, input, NULL};
    posix_spawn_file_actions_t actions;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) return error;
    for (int i = 0; i < 3 && error == 0; i++) error = posix_spawn_file_actions_adddup2(&actions, p->theirs[i], i);
    if (error == 0) error = posix_spawnp(process, name, &actions, NULL, arguments, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* What is there to read; the end closes our side. */
static void receive(int *descriptor, struct pollfd *end, gram_string *text)
{
    char bytes[1 << 16];
    const ssize_t count = read(*descriptor, bytes, sizeof bytes);
    if (count < 0 && errno == EINTR) return;
    if (count > 0) {
        gram_string_put(text, bytes, (size_t)count);
        return;
    }
    (void)close(*descriptor);
    *descriptor = end->fd = -1;
}

/* As much as a pipe takes without waiting; all of it, or a reader that is gone, closes our side. */
static void feed(int *descriptor, struct pollfd *end, const gram_string *script, size_t *sent)
{
    const size_t left = script->length - *sent;
    const ssize_t count = write(*descriptor, script->data + *sent, left < PIPE_BUF ? left : PIPE_BUF);
    if (count < 0 && errno == EINTR) return;
    if (count > 0) *sent += (size_t)count;
    if (count >= 0 && *sent < script->length) return;
    (void)close(*descriptor);
    *descriptor = end->fd = -1;
}

/* The script goes in, the picture and what gnuplot says come out, as it likes. */
static void converse(pipes *p, const gram_string *script, gram_string *drawn, gram_string *said)
{
    struct pollfd ends[] = {{p->ours[0], POLLOUT, 0}, {p->ours[1], POLLIN, 0}, {p->ours[2], POLLIN, 0}};
    size_t sent = 0;
    while (ends[1].fd >= 0 || ends[2].fd >= 0) {
        if (poll(ends, 3, -1) < 0) {
            if (errno == EINTR) continue;
            return;
        }
        if (ends[0].revents) feed(&p->ours[0], &ends[0], script, &sent);
        if (ends[1].revents) receive(&p->ours[1], &ends[1], drawn);
        if (ends[2].revents) receive(&p->ours[2], &ends[2], said);
    }
}

static int finish(pid_t process)
{
    int result;
    while (waitpid(process, &result, 0) < 0)
        if (errno != EINTR) return 0;
    return WIFEXITED(result) && WEXITSTATUS(result) == 0;
}

/* Is the picture whole? */
static int has_end(const picture_format *kind, const gram_string *drawn)
{
    size_t length = drawn->length;
    const size_t end = strlen(kind->end);
    while (length > 0 && drawn->data[length - 1] == '\n') length--;
    return !drawn->failed && length >= end && memcmp(drawn->data + length - end, kind->end, end) == 0;
}

/* The last line that gnuplot said, which is its complaint. */
static const char *complaint(const gram_string *said)
{
    char *text = said->data;
    size_t length = said->length;
    while (length > 0 && isspace((unsigned char)text[length - 1])) text[--length] = '\0';
    while (length > 0 && text[length - 1] != '\n') length--;
    return text ? text + length + strspn(text + length, " ") : "";
}

static int draw(const char *path, const picture_format *kind, const gram_string *script, gram_string *drawn)
{
    pid_t process = 0;
    pipes p;
    gram_string said = {0};
    int code = CLI_DONE, error = open_pipes(&p);
    if (error == 0) error = start(&p, &process);
    close_all(p.theirs);
    if (error == 0) converse(&p, script, drawn, &said);
    close_all(p.ours);
    if (error == ENOENT)
        code = no_gnuplot(path);
    else if (error != 0)
        code = cli_fail(CLI_OVER_LIMIT, "Leave --plot out.", "%s: cannot be drawn: gnuplot does not start: %s", path,
                        strerror(error));
    else if (!finish(process) || !has_end(kind, drawn))
        code = cli_fail(CLI_OVER_LIMIT, "Does `gnuplot` work here, and has it memory?",
                        "%s: gnuplot could not draw it: %s", path,
                        said.length > 0 ? complaint(&said) : "it ended too early");
    gram_string_free(&said);
    return code;
}

/* The script with what it counts on before it, and the end of the picture after it. */
static void add_whole(gram_string *whole, const gram_picture *picture, const picture_format *kind)
{
    const gram_string *script = gram_picture_script(picture);
    int width, height;
    gram_picture_pixels(picture, &width, &height);
    gram_string_add(whole, "set encoding utf8\nset terminal %s size %g%s,%g%s noenhanced %s\n", kind->terminal,
                    width * kind->pixel, kind->unit, height * kind->pixel, kind->unit, kind->look);
    if (script->length > 0) gram_string_put(whole, script->data, script->length);
    gram_string_add(whole, "unset output\n");
}

int cli_plot_available(void)
{
    return is_installed("gnuplot");
}

int cli_plot_text(cli_session *session, const char *words, gram_status status, gram_picture *picture, gram_string *svg)
{
    gram_string whole = {0};
    if (status < 0) return cli_session_fail(session, status, 0, NULL);
    cli_session_clear(session);
    add_whole(&whole, picture, &FORMATS[0]);
    gram_picture_destroy(picture);
    const int code = whole.failed ? cli_no_memory() : draw(words, &FORMATS[0], &whole, svg);
    gram_string_free(&whole);
    return code;
}

int cli_plot(cli_session *session, const char *path, gram_status status, gram_picture *picture)
{
    gram_string whole = {0}, drawn = {0};
    const picture_format *kind = find_format(path);
    if (status < 0) return cli_session_fail(session, status, 0, NULL);
    cli_session_clear(session);
    add_whole(&whole, picture, kind);
    gram_picture_destroy(picture);
    if (!cli_ranks_first()) {
        gram_string_free(&whole);
        return CLI_DONE;
    }
    int code = whole.failed ? cli_no_memory() : draw(path, kind, &whole, &drawn);
    if (code == CLI_DONE) code = cli_write(session, path, &drawn);
    gram_string_free(&whole);
    gram_string_free(&drawn);
    return code;
}

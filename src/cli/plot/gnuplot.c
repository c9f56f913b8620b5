/* gnuplot is a process of its own that reads the script from a pipe and writes the picture to the descriptor of a file
 * aside. No shell and no file name are in between: nothing that a user writes is ever a command. */
#define _XOPEN_SOURCE 700
#include "cli/plot/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

typedef struct picture {
    const char *ending;
    const char *terminal;
    const char *unit; /* of its size */
    double pixel;     /* in that unit */
    const char *look;
} picture;

static const picture PICTURES[] = {
    {".svg", "svg", "", 1, "font 'sans,14' background rgb 'white'"},
    {".png", "pngcairo", "", 1, "font 'sans,12'"},
    {".pdf", "pdfcairo", "cm", 0.02, "font 'sans,12'"},
};

static const picture *find_picture(const char *path)
{
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof PICTURES / sizeof *PICTURES; i++) {
        const size_t ending = strlen(PICTURES[i].ending);
        if (length > ending && strcmp(path + length - ending, PICTURES[i].ending) == 0) return &PICTURES[i];
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

int cli_plot_check(const char *path)
{
    if (!find_picture(path))
        return cli_fail(CLI_WRONG_USE, "Pictures end in .svg, .png or .pdf.", "--plot cannot draw '%s'", path);
    return is_installed("gnuplot") ? cli_output_check(path) : no_gnuplot(path);
}

void cli_plot_quote(gram_string *script, const char *text)
{
    gram_string_put(script, "'", 1);
    for (; *text; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '\'') gram_string_put(script, "'", 1);
        gram_string_put(script, c < ' ' || c == 0x7F ? " " : text, 1);
    }
    gram_string_put(script, "'", 1);
}

void cli_plot_heading(gram_string *script, const char *kernel, const char *words)
{
    enum { LONGEST = 72 };
    gram_string title = {0};
    gram_string_add(&title, "%.*s%s%s", LONGEST, kernel, strlen(kernel) > LONGEST ? "..." : "", words);
    cli_plot_quote(script, title.data ? title.data : "");
    gram_string_add(script, " font ',10'");
    gram_string_free(&title);
}

void cli_plot_title(gram_string *script, const char *kernel, const char *file)
{
    gram_string words = {0};
    const char *slash = strrchr(file, '/');
    gram_string_add(&words, " on %s", slash ? slash + 1 : file);
    gram_string_add(script, "set title ");
    cli_plot_heading(script, kernel, words.data ? words.data : "");
    gram_string_add(script, "\n");
    gram_string_free(&words);
}

/* 0, or an errno. The script goes to *input, the picture comes to `output`. */
static int start(int output, int *input, pid_t *process)
{
    char name[] = "gnuplot";
    char *const arguments[] = {name, NULL};
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (pipe(ends) != 0) return errno;
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    int error = posix_spawn_file_actions_init(&actions);
    if (error == 0) {
        error = posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
        if (error == 0) error = posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
        if (error == 0) error = posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        if (error == 0) error = posix_spawn_file_actions_addclose(&actions, ends[0]);
        if (error == 0) error = posix_spawnp(process, name, &actions, NULL, arguments, environ);
        (void)posix_spawn_file_actions_destroy(&actions);
    }
    (void)close(ends[0]);
    *input = ends[1];
    if (error != 0) (void)close(ends[1]);
    return error;
}

static int finish(pid_t process)
{
    int result;
    while (waitpid(process, &result, 0) < 0)
        if (errno != EINTR) return 0;
    return WIFEXITED(result) && WEXITSTATUS(result) == 0;
}

static int draw(const char *path, const gram_string *script, int output)
{
    pid_t process;
    int input = -1;
    const int error = start(output, &input, &process);
    if (error == ENOENT) return no_gnuplot(path);
    if (error != 0)
        return cli_fail(CLI_OVER_LIMIT, "Leave --plot out.", "%s: cannot be drawn: gnuplot does not start: %s", path,
                        strerror(error));
    const int sent = cli_write_fully(input, script->data, script->length) == 0;
    (void)close(input);
    const int drawn = finish(process);
    if (sent && drawn && lseek(output, 0, SEEK_END) > 0) return CLI_DONE;
    return cli_fail(CLI_OVER_LIMIT, "Does `gnuplot` work here, and is there room on the disk?",
                    "%s: gnuplot could not draw it", path);
}

int cli_plot(cli_session *session, const char *path, int width, int height, const gram_string *script)
{
    gram_string whole = {0};
    cli_aside aside;
    const picture *kind = find_picture(path);
    if (!kind) return cli_plot_check(path);
    cli_session_clear(session);
    gram_string_add(&whole, "set terminal %s size %g%s,%g%s noenhanced %s\n", kind->terminal, width * kind->pixel,
                    kind->unit, height * kind->pixel, kind->unit, kind->look);
    if (script->length > 0) gram_string_put(&whole, script->data, script->length);
    gram_string_add(&whole, "unset output\n");
    int code = whole.failed || script->failed ? cli_no_memory() : cli_aside_open(path, &aside);
    if (code == CLI_DONE) {
        code = draw(path, &whole, aside.descriptor);
        code = cli_aside_close(path, &aside, code);
    }
    gram_string_free(&whole);
    return code;
}

/* Children: fork, exec, pipes and the clock. Each child leads a group of processes of its own, so that Ctrl-C reaches gram alone, which
 * writes down what it knows before it stops them, and so that what a child starts is stopped with it. */
#define _GNU_SOURCE
#include "cli/terminal/child_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { MOST_WAITED = 256 };

static double clock_now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* In the child: never returns. What went wrong is written to `trouble`, which exec closes. */
static void become(char *const *arguments, int output, int trouble, pid_t parent)
{
    const struct sigaction usual = {.sa_handler = SIG_DFL};
    const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ, SIGALRM};
    const int empty = open("/dev/null", O_RDONLY);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) (void)sigaction(signals[i], &usual, NULL);
    (void)setpgid(0, 0);
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
#else
    (void)parent;
#endif
    if (empty >= 0 && dup2(empty, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0)
        (void)execvp(arguments[0], arguments);
    const int error = errno;
    (void)!write(trouble, &error, sizeof error);
    _exit(127);
}

int cli_child_start(cli_child *child, char *const *arguments)
{
    int output[2] = {-1, -1}, trouble[2] = {-1, -1}, error = 0;
    const pid_t parent = getpid();
    *child = (cli_child){.output = -1};
    if (pipe2(output, O_CLOEXEC) != 0) return errno;
    if (pipe2(trouble, O_CLOEXEC) != 0) {
        error = errno;
        (void)close(output[0]);
        (void)close(output[1]);
        return error;
    }
    const pid_t process = fork();
    if (process == 0) become(arguments, output[1], trouble[1], parent);
    if (process < 0) error = errno;
    (void)close(output[1]);
    (void)close(trouble[1]);
    ssize_t got = 0;
    while (process > 0 && (got = read(trouble[0], &error, sizeof error)) < 0 && errno == EINTR) continue;
    if (process > 0 && got == 0) error = 0;
    (void)close(trouble[0]);
    if (error) {
        (void)close(output[0]);
        if (process > 0) (void)waitpid(process, NULL, 0);
        return error;
    }
    (void)fcntl(output[0], F_SETFL, O_NONBLOCK);
    child->process = process;
    child->output = output[0];
    child->started = clock_now();
    return 0;
}

/* ---- what they say ---- */

static void end_line(cli_child *child)
{
    child->line[child->length] = '\0';
    if (child->line[strspn(child->line, " \t\r")] != '\0') memcpy(child->last, child->line, child->length + 1);
    child->length = 0;
}

/* What does not fit on a line is dropped. */
static void take_bytes(cli_child *child, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bytes[i] == '\n')
            end_line(child);
        else if (child->length + 1 < sizeof child->line && bytes[i] != '\0')
            child->line[child->length++] = bytes[i];
}

static void read_output(cli_child *child)
{
    char bytes[CLI_LINE_SIZE];
    while (child->output >= 0) {
        const ssize_t got = read(child->output, bytes, sizeof bytes);
        if (got > 0)
            take_bytes(child, bytes, (size_t)got);
        else if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        else if (got == 0 || errno != EINTR) {
            (void)close(child->output);
            child->output = -1;
        }
    }
}

/* 1 if it has ended. A child that went without closing its output (it gave it to another) is not waited for any longer. */
static int has_ended(cli_child *child)
{
    if (waitpid(child->process, &child->status, WNOHANG) == 0) return 0;
    read_output(child);
    if (child->output >= 0) (void)close(child->output);
    child->output = -1;
    end_line(child);
    (void)kill(-child->process, SIGKILL);
    child->process = 0;
    return 1;
}

int cli_children_wait(cli_child *children, int count, double seconds, double limit)
{
    struct pollfd waited[MOST_WAITED];
    nfds_t open = 0;
    for (int i = 0; i < count && open < MOST_WAITED; i++)
        if (children[i].process && children[i].output >= 0)
            waited[open++] = (struct pollfd){.fd = children[i].output, .events = POLLIN};
    (void)poll(waited, open, (int)(1000 * seconds));
    for (int i = 0; i < count; i++) {
        cli_child *child = children + i;
        if (!child->process) continue;
        read_output(child);
        if (has_ended(child)) return i;
        if (limit > 0 && clock_now() - child->started > limit) {
            child->timed_out = 1;
            (void)kill(-child->process, SIGKILL);
        }
    }
    return -1;
}

const char *cli_child_failure(const cli_child *child, char *out, size_t size)
{
    const int killed = WIFSIGNALED(child->status), code = WEXITSTATUS(child->status);
    if (child->timed_out) return "it took longer than --timeout";
    if (!killed && code == 0) return NULL;
    (void)snprintf(out, size, killed ? "it was ended by signal %d" : "its exit code is %d",
                   killed ? WTERMSIG(child->status) : code);
    return out;
}

void cli_children_stop(cli_child *children, int count)
{
    for (int i = 0; i < count; i++)
        if (children[i].process) (void)kill(-children[i].process, SIGKILL);
    for (int i = 0; i < count; i++) {
        if (!children[i].process) continue;
        (void)waitpid(children[i].process, NULL, 0);
        if (children[i].output >= 0) (void)close(children[i].output);
        children[i] = (cli_child){.output = -1};
    }
}

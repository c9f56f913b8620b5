#define _POSIX_C_SOURCE 200809L
#include <omp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/terminal/cli.h"

/* The one thing that a signal handler may touch. */
static volatile sig_atomic_t caught_signal;

static void on_signal(int number)
{
    caught_signal = number;
}

/* Without SA_RESTART: a read that waits for standard input ends, too. */
void cli_catch_signals(void)
{
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_signal;
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* nohup */
        (void)sigaction(SIGHUP, &action, NULL);
    action.sa_handler = SIG_IGN; /* writing then fails with EPIPE */
    (void)sigaction(SIGPIPE, &action, NULL);
}

static int is_cancelled(void *user)
{
    (void)user;
    return caught_signal != 0;
}

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* ---- messages ---- */

/* A message is one line, whatever the names in it hold. */
int cli_fail(int code, const char *help, const char *format, ...)
{
    char message[CLI_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    cli_tame(message, strlen(message), CLI_TAME_LINES);
    (void)fprintf(stderr, "gram: %s\n", message);
    if (help) (void)fprintf(stderr, "%s\n", help);
    return code;
}

int cli_no_memory(void)
{
    return cli_fail(CLI_OVER_LIMIT, cli_help(GRAM_ERROR_MEMORY), "the system has no memory left");
}

typedef struct status_row {
    gram_status status;
    int code;
    const char *help;
} status_row;

static const status_row status_rows[] = {
    {GRAM_ERROR_ARGUMENT, CLI_WRONG_USE, NULL},
    {GRAM_ERROR_SYNTAX, CLI_WRONG_USE, NULL},
    {GRAM_ERROR_UNSET, CLI_WRONG_USE, "Give the number in the kernel, as in rbf(ell=0.5)."},
    {GRAM_ERROR_UNSUPPORTED, CLI_WRONG_USE, NULL},
    {GRAM_ERROR_DATA, CLI_BAD_DATA, NULL},
    {GRAM_ERROR_DIMENSION, CLI_BAD_DATA, "Choose columns with --features and --ignore, or change the kernel."},
    {GRAM_ERROR_DOMAIN, CLI_BAD_DATA, "Move or leave out such points, or use another kernel."},
    {GRAM_ERROR_NUMERICAL, CLI_NUMERICAL, NULL},
    {GRAM_ERROR_MEMORY, CLI_OVER_LIMIT, "Use fewer rows or columns, or a machine with more memory."},
    {GRAM_ERROR_BUDGET, CLI_OVER_LIMIT, "Use fewer rows or columns, or raise the budget with --memory SIZE."},
    {GRAM_ERROR_OVERFLOW, CLI_OVER_LIMIT, "Use fewer rows or columns."},
    {GRAM_ERROR_FILE, CLI_OVER_LIMIT, "Is there room on the disk, and may you write there?"},
    {GRAM_ERROR_CANCELLED, CLI_INTERRUPTED, NULL},
};

static const status_row *find_row(gram_status status)
{
    static const status_row fault = {GRAM_ERROR_INTERNAL, CLI_FAULT,
                                     "This is an internal error of gram; please report it."};
    for (size_t i = 0; i < sizeof status_rows / sizeof *status_rows; i++)
        if (status_rows[i].status == status) return &status_rows[i];
    return &fault;
}

int cli_exit_code(gram_status status, int reading)
{
    if (status == GRAM_ERROR_CANCELLED && caught_signal) return 128 + (int)caught_signal;
    if (status == GRAM_ERROR_FILE && reading) return CLI_BAD_DATA;
    return find_row(status)->code;
}

const char *cli_help(gram_status status)
{
    return find_row(status)->help;
}

/* ---- progress ---- */

void cli_session_clear(cli_session *session)
{
    if (session->shown) (void)fprintf(stderr, "\r\033[K");
    session->shown = 0;
}

/* What, share done, time left; after a second, on a terminal, at most five times a second. */
static void on_progress(void *user, const char *what, double share)
{
    cli_session *session = user;
    const double time = now();
    if (strncmp(session->what, what, sizeof session->what - 1) != 0) {
        (void)snprintf(session->what, sizeof session->what, "%s", what);
        session->what_started = time;
    }
    if (time - session->started < 1 || time - session->last_shown < 0.2) return;
    session->last_shown = time;
    (void)fprintf(stderr, "\r\033[K%s  %.0f %%", session->what, 100 * share);
    const double spent = time - session->what_started;
    if (share > 0.01 && spent > 0.5) (void)fprintf(stderr, "  %.0f s left", spent * (1 - share) / share);
    (void)fflush(stderr);
    session->shown = 1;
}

/* ---- the session ---- */

int cli_session_begin(cli_session *session, const cli_common *common)
{
    gram_context_options options;
    memset(session, 0, sizeof *session);
    session->common = common;
    session->started = now();
    gram_context_options_init(&options, sizeof options);
    options.threads = (int)common->threads;
    options.seed = common->seed;
    const int threads = common->threads > 0 ? (int)common->threads : omp_get_max_threads();
    session->budget = common->memory > 0 ? (size_t)common->memory : gram_system_memory_budget(threads);
    options.memory_budget = session->budget;
    options.cancel = is_cancelled;
    if (!common->quiet && isatty(STDERR_FILENO)) options.progress = on_progress;
    options.progress_user = session;
    const gram_status status = gram_context_create(&options, &session->context);
    if (status == GRAM_OK) return CLI_DONE;
    const status_row *row = find_row(status);
    return cli_fail(row->code, row->help, "cannot start: %s", gram_status_text(status));
}

void cli_session_end(cli_session *session)
{
    cli_session_clear(session);
    gram_context_destroy(session->context);
    session->context = NULL;
}

double cli_session_seconds(const cli_session *session)
{
    return now() - session->started;
}

int cli_session_fail(cli_session *session, gram_status status, int reading, const char *help)
{
    cli_session_clear(session);
    const int code = cli_exit_code(status, reading);
    const char *message = gram_context_message(session->context), *advice = gram_context_advice(session->context);
    if (status == GRAM_ERROR_CANCELLED) return cli_fail(code, NULL, "interrupted");
    if (!help) help = advice[0] ? advice : find_row(status)->help;
    return cli_fail(code, help, "%s", message[0] ? message : gram_status_text(status));
}

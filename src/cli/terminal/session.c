#define _XOPEN_SOURCE 700
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/terminal/cli.h"
#include "cli/terminal/ranks.h"

/* The one thing that a signal handler may touch. */
static volatile sig_atomic_t caught_signal;

/* A first signal stops the work where it looks for one, and takes back what is half done. A second one means that it does
 * not: then the process ends in a second, whatever it is doing. (Not at once: `timeout` sends its signal twice.) */
static void on_signal(int number)
{
    if (caught_signal) (void)alarm(1);
    caught_signal = number;
}

static void on_alarm(int number)
{
    (void)number;
    _exit(128 + (int)caught_signal);
}

/* Without SA_RESTART: a read that waits for standard input ends, too. */
void cli_catch_signals(void)
{
    struct sigaction action, before;
    memset(&action, 0, sizeof action);
    action.sa_handler = on_alarm;
    (void)sigaction(SIGALRM, &action, NULL);
    action.sa_handler = on_signal;
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* nohup */
        (void)sigaction(SIGHUP, &action, NULL);
    action.sa_handler = SIG_IGN; /* writing then fails, with EPIPE or EFBIG */
    (void)sigaction(SIGPIPE, &action, NULL);
    (void)sigaction(SIGXFSZ, &action, NULL);
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
    cli_ranks_keep_message(message, help);
    (void)fprintf(stderr, "gram: %s\n", message);
    if (help) (void)fprintf(stderr, "%s\n", help);
    return code;
}

int cli_no_memory(void)
{
    return cli_fail(CLI_OVER_LIMIT, cli_help(GRAM_ERROR_MEMORY), "the system has no memory left");
}

int cli_cannot_be(const char *verb, const char *option, const char *value, const char *near, const char *help)
{
    if (near)
        return cli_fail(CLI_WRONG_USE, help, "%s: --%s cannot be '%s', did you mean '%s'?", verb, option, value, near);
    return cli_fail(CLI_WRONG_USE, help, "%s: --%s cannot be '%s'", verb, option, value);
}

int cli_no_such(const char *before, const char *what, const char *name, const cli_verb *rows, size_t count,
                const char *help)
{
    enum { MOST = 32 };
    const char *names[MOST] = {"help"}, *near = NULL;
    if (name[0] == '-') return cli_fail(CLI_WRONG_USE, help, "%sno option '%s'", before, name);
    for (size_t i = 0; i < count && i + 1 < MOST; i++) names[i + 1] = rows[i].name;
    const size_t first = before[0] ? 1 : 0; /* `help` is a verb, but no test */
    near = gram_suggest(name, names + first, count + 1 - first);
    if (near) return cli_fail(CLI_WRONG_USE, help, "%sno %s '%s', did you mean '%s'?", before, what, name, near);
    return cli_fail(CLI_WRONG_USE, help, "%sno %s '%s'", before, what, name);
}

void cli_add_verbs(gram_string *text, const cli_verb *rows, size_t count, size_t column)
{
    for (size_t i = 0; i < count; i++) {
        gram_string_add(text, "  %s", rows[i].name);
        gram_string_pad(text, column);
        gram_string_add(text, "%s\n", rows[i].summary);
    }
}

typedef struct status_row {
    gram_status status;
    int code;
    const char *help;
} status_row;

static const status_row status_rows[] = {
    {GRAM_ERROR_ARGUMENT, CLI_WRONG_USE, NULL},
    {GRAM_ERROR_SYNTAX, CLI_WRONG_USE, NULL},
    {GRAM_ERROR_UNSET, CLI_WRONG_USE, "Give the number in the kernel, as in rbf(ell=0.5); centre needs DATA."},
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

/* For --verbose: each step as it begins, so that a log has them too. */
static void tell_step(cli_session *session)
{
    cli_session_clear(session);
    (void)fprintf(stderr, "%8.2f s  %s\n", session->what_started - session->started, session->what);
}

/* What, share done, time left; after a second, on a terminal, at most five times a second. */
static void on_progress(void *user, const char *what, double share)
{
    cli_session *session = user;
    const double time = now();
    if (strncmp(session->what, what, sizeof session->what - 1) != 0) {
        (void)snprintf(session->what, sizeof session->what, "%s", what);
        session->what_started = time;
        if (session->common->verbose) tell_step(session);
    }
    if (!session->on_terminal) return;
    if (time - session->started < 1 || time - session->last_shown < 0.2) return;
    session->last_shown = time;
    (void)fprintf(stderr, "\r\033[K%s  %.0f %%", session->what, 100 * share);
    const double spent = time - session->what_started;
    if (share > 0.01 && spent > 0.5) (void)fprintf(stderr, "  %.0f s left", spent * (1 - share) / share);
    (void)fflush(stderr);
    session->shown = 1;
}

int cli_session_progress(cli_session *session, const char *what, double share)
{
    if (session->on_terminal || session->common->verbose) on_progress(session, what, share);
    return caught_signal ? cli_session_fail(session, GRAM_ERROR_CANCELLED, 0, NULL) : CLI_DONE;
}

/* ---- the session ---- */

/* A positive number at the beginning of a variable of the environment, else 0. */
static int threads_in(const char *variable)
{
    const char *text = getenv(variable);
    const long number = text ? strtol(text, NULL, 10) : 0;
    return number > 0 && number <= CLI_MOST_THREADS ? (int)number : 0;
}

int cli_threads(int wanted)
{
    if (!wanted) wanted = threads_in(getenv("GRAM_THREADS") ? "GRAM_THREADS" : "OMP_NUM_THREADS");
    return cli_ranks_threads(gram_system_threads(wanted), wanted);
}

/* 0 after a message. */
static int choose_threads(const cli_common *common)
{
    const int wanted = (int)common->threads, threads = cli_threads(wanted);
    if (threads == 0)
        (void)cli_fail(CLI_OVER_LIMIT, "Raise the limit, or remove it.",
                       "the limit of address space (ulimit -v) leaves no room for BLAS, which takes 128 MiB");
    else if (threads < wanted && !common->quiet)
        (void)fprintf(stderr, "gram: --threads %d: %d %s used, there is no room for more\n", wanted, threads,
                      threads == 1 ? "is" : "are");
    return threads;
}

static void tell_machine(const cli_session *session)
{
    char budget[GRAM_BYTES_SIZE];
    const int threads = gram_context_threads(session->context);
    (void)fprintf(stderr, "gram %s, %s, %d thread%s, %s, memory budget %s, seed %" PRIu64 "\n", gram_version(),
                  gram_context_isa(session->context), threads, threads == 1 ? "" : "s", gram_blas_name(),
                  gram_bytes_format(session->budget, budget), session->common->seed);
}

/* What it took. */
static void tell_end(const cli_session *session)
{
    char peak[GRAM_BYTES_SIZE];
    (void)fprintf(stderr, "%8.2f s  done, peak memory %s\n", cli_session_seconds(session),
                  gram_bytes_format(gram_system_memory_peak(), peak));
}

int cli_session_begin(cli_session *session, const cli_common *common)
{
    gram_context_options options;
    memset(session, 0, sizeof *session);
    session->common = common;
    session->started = now();
    gram_context_options_init(&options, sizeof options);
    options.threads = choose_threads(common);
    if (options.threads == 0) return CLI_OVER_LIMIT;
    options.seed = common->seed;
    session->budget = cli_ranks_budget(
        common->memory > 0 ? (size_t)common->memory : gram_system_memory_budget(options.threads), common->memory > 0);
    options.memory_budget = session->budget;
    options.cancel = is_cancelled;
    session->on_terminal = !common->quiet && isatty(STDERR_FILENO);
    if (session->on_terminal || common->verbose) options.progress = on_progress;
    options.progress_user = session;
    const gram_status status = gram_context_create(&options, &session->context);
    if (status == GRAM_OK) (void)gram_context_set_time(session->context, common->time);
    if (status == GRAM_OK && common->verbose) tell_machine(session);
    if (status == GRAM_OK) return cli_ranks_join(session);
    const status_row *row = find_row(status);
    return cli_fail(row->code, row->help, "cannot start: %s", gram_status_text(status));
}

void cli_session_end(cli_session *session)
{
    cli_session_clear(session);
    if (session->context && session->common->verbose) tell_end(session);
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

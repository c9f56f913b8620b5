/* The command among the ranks of MPI, in the place of cli/terminal/ranks_alone.c. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/report/report_rows.h"
#include "cli/terminal/ranks.h"
#include "cluster/mpi_ranks.h"

/* Seconds after which a rank that failed alone says so and ends the others; ranks that fail alike are there long before. */
static const double PATIENCE = 2, LATER = 0.25;

static int together;        /* MPI was started, with more than one rank */
static int real_error = -1; /* standard error, while a rank keeps silent */
static char kept_message[CLI_MESSAGE_SIZE], kept_help[CLI_MESSAGE_SIZE];
static int command_count;
static char **command;

int cli_ranks_first(void)
{
    return !together || cluster_rank() == 0;
}

int cli_ranks_share_output(void)
{
    return together;
}

void cli_ranks_keep_message(const char *message, const char *help)
{
    (void)snprintf(kept_message, sizeof kept_message, "%s", message);
    (void)snprintf(kept_help, sizeof kept_help, "%s", help ? help : "");
}

/* ---- beginning ---- */

/* Other ranks print nowhere. */
static void fall_silent(void)
{
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    real_error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (nowhere < 0) return;
    (void)dup2(nowhere, STDOUT_FILENO);
    (void)dup2(nowhere, STDERR_FILENO);
    (void)close(nowhere);
}

/* Is standard input an operand? `-` after --out is not. */
static int reads_input(int count, char **arguments)
{
    for (int i = 2; i < count; i++)
        if (strcmp(arguments[i], "-") == 0 && strcmp(arguments[i - 1], "-o") != 0 &&
            strcmp(arguments[i - 1], "--out") != 0)
            return 1;
    return 0;
}

/* Launchers give standard input to the first rank: it goes on to the others, which read it from a file in memory. */
static int share_input(void)
{
    enum { PIECE = 1 << 22 };
    static char piece[PIECE];
    const int file = memfd_create("gram-input", MFD_CLOEXEC);
    for (int length = 1; length > 0;) {
        if (cluster_rank() == 0) length = (int)read(STDIN_FILENO, piece, PIECE);
        cluster_broadcast(0, &length, (int)sizeof length);
        if (length > 0) cluster_broadcast(0, piece, length);
        if (length > 0 && (file < 0 || write(file, piece, (size_t)length) != length))
            return cli_fail(CLI_OVER_LIMIT, NULL, "standard input cannot be kept for the ranks");
    }
    if (file < 0 || lseek(file, 0, SEEK_SET) != 0 || dup2(file, STDIN_FILENO) < 0)
        return cli_fail(CLI_OVER_LIMIT, NULL, "standard input cannot be kept for the ranks");
    (void)close(file);
    return CLI_DONE;
}

/* Without a launcher, or as the only rank, this is the command that it is without MPI. */
int cli_ranks_begin(int *count, char ***arguments)
{
    const char *each = getenv("GRAM_RANKS");
    int rank = 0;
    if (cli_ranks_launched(&rank) < 2 || (each && strcmp(each, "each") == 0)) return CLI_DONE;
    if (!cluster_begin(count, arguments)) return cli_fail(CLI_FAULT, NULL, "MPI could not be started");
    together = cluster_ranks() > 1;
    if (!together) {
        cluster_end();
        return CLI_DONE;
    }
    command_count = *count;
    command = *arguments;
    if (cluster_rank() > 0) fall_silent();
    cli_catch_signals(); /* MPI has handlers of its own */
    if (*count > 1 && strcmp((*arguments)[1], "optimize") == 0)
        return cli_fail(CLI_WRONG_USE, "Run it by itself; the command that it runs may use mpirun.",
                        "optimize: not for several ranks, which would each run the command");
    return reads_input(*count, *arguments) ? share_input() : CLI_DONE;
}

int cli_ranks_threads(int threads, int given)
{
    if (!together || given || threads < 2) return threads;
    if (threads < (int)sysconf(_SC_NPROCESSORS_ONLN)) return threads; /* the launcher parted them */
    return threads / cluster_local_ranks() > 1 ? threads / cluster_local_ranks() : 1;
}

size_t cli_ranks_budget(size_t budget, int given)
{
    if (!together) return budget;
    return (size_t)cluster_least((double)(given ? budget : budget / (size_t)cluster_local_ranks()));
}

/* All must have the same program and the same words, but for its path. */
static gram_status compare(cli_session *session)
{
    gram_string words = {0};
    gram_context *context = session->context;
    for (int i = 1; i < command_count; i++) gram_string_add(&words, "%s\n", command[i]);
    const char *const texts[][2] = {{"version of gram", gram_version()},
                                    {"set of instructions (docs/cluster.md)", gram_context_isa(context)},
                                    {"BLAS", gram_blas_name()},
                                    {"command line", words.data ? words.data : ""}};
    gram_status status = GRAM_OK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && status >= 0; i++)
        status = gram_context_same_everywhere(context, texts[i][0], texts[i][1], strlen(texts[i][1]));
    gram_string_free(&words);
    return status;
}

int cli_ranks_join(cli_session *session)
{
    gram_collective table;
    if (!together) return CLI_DONE;
    if (session->common->time > 0)
        return cli_fail(CLI_WRONG_USE, "Leave it out, or use one rank.",
                        "--time is not for several ranks, whose clocks differ");
    cluster_table(&table);
    table.least_rows = cli_ranks_number("GRAM_SPREAD_ROWS", 0);
    gram_status status = gram_context_set_collective(session->context, &table);
    if (status >= 0) status = compare(session);
    return status < 0 ? cli_session_fail(session, status, 1, NULL) : CLI_DONE;
}

/* ---- reports ---- */

enum { BYTES, OPERATIONS, PEAK, FIGURES };

/* Figures of all ranks, on the first; NULL elsewhere. */
static double *gather_figures(cli_session *session, gram_collective_report *report)
{
    report->size = sizeof *report;
    (void)gram_context_collective_report(session->context, report);
    const double mine[FIGURES] = {(double)cluster_bytes_sent(), report->operations, (double)gram_system_memory_peak()};
    double *all = cluster_rank() == 0 ? calloc((size_t)cluster_ranks() * FIGURES, sizeof *all) : NULL;
    if (cluster_rank() == 0 && !all) {
        (void)cli_no_memory();
        cluster_abort(CLI_OVER_LIMIT);
    }
    cluster_gather_numbers(FIGURES, mine, all);
    return all;
}

void cli_ranks_cost(cli_session *session, gram_string *text)
{
    gram_collective_report report;
    char size[GRAM_BYTES_SIZE];
    if (!together) return;
    double *all = gather_figures(session, &report), most = 0;
    if (!all) return;
    for (int r = 0; r < report.ranks; r++) most = all[r * FIGURES + BYTES] > most ? all[r * FIGURES + BYTES] : most;
    cli_add_label(text, "ranks");
    if (report.spread[0])
        gram_string_add(text, "%d; spread: %s; at most %s sent by one\n", report.ranks, report.spread,
                        gram_bytes_format((size_t)most, size));
    else
        gram_string_add(text, "%d, of which each did all of the work: nothing of it is spread (docs/cluster.md)\n",
                        report.ranks);
    free(all);
}

static void add_figures(gram_json *json, const char *name, int ranks, const double *all, int which)
{
    gram_json_open(json, name, '[');
    for (int r = 0; r < ranks; r++) gram_json_number(json, NULL, all[r * FIGURES + which]);
    gram_json_close(json, '[');
}

void cli_ranks_json(cli_session *session, gram_json *json)
{
    gram_collective_report report;
    if (!together) return;
    double *all = gather_figures(session, &report);
    if (!all) return;
    gram_json_open(json, "cluster", '{');
    gram_json_integer(json, "ranks", report.ranks);
    gram_json_string(json, "spread", report.spread);
    add_figures(json, "bytes_sent", report.ranks, all, BYTES);
    add_figures(json, "flops", report.ranks, all, OPERATIONS);
    add_figures(json, "peak_bytes", report.ranks, all, PEAK);
    gram_json_integer(json, "bytes_by_formula", report.bytes_sent);
    gram_json_close(json, '{');
    free(all);
}

/* ---- the end ---- */

/* The message of a rank that kept silent. */
static void speak(void)
{
    if (cluster_rank() > 0 && real_error >= 0 && kept_message[0])
        (void)dprintf(real_error, "gram: rank %d of %d on %s: %s\n%s%s", cluster_rank(), cluster_ranks(),
                      cluster_host(), kept_message, kept_help, kept_help[0] ? "\n" : "");
}

/* All codes are there: the worst of them counts, and the first rank that has it speaks, unless the first of all did. */
static int settle(int code, const int *codes)
{
    int worst = 0, speaker = -1;
    for (int r = 0; r < cluster_ranks(); r++)
        if (codes[r] != 0 && speaker < 0) {
            worst = codes[r];
            speaker = r;
        }
    if (cluster_rank() == speaker) speak();
    return code ? code : worst;
}

int cli_ranks_end(int code)
{
    if (!together) return code;
    (void)fflush(NULL);
    int *codes = calloc((size_t)cluster_ranks(), sizeof *codes);
    const double wait = code == CLI_DONE ? 0 : PATIENCE + LATER * cluster_rank();
    if (codes && cluster_gather_codes(code, wait, codes)) {
        code = settle(code, codes);
        free(codes);
        cluster_end();
        return code;
    }
    speak();
    cluster_abort(code);
    return code;
}

/* Running a command at the points of a study. A trial is written to the file before its command starts and again when it ended, so that
 * whenever gram dies the file knows every evaluation that it was told of, and what was running. */
#include "cli/verb/optimize/command_runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { MOST_OUTPUTS = 101 };
static const double PATIENCE = 0.1; /* seconds between looks at the clock and at Ctrl-C */

int cli_runs_check(cli_session *session, const cli_runs *runs)
{
    const gram_status status =
        gram_study_check_words(session->context, runs->study, (const char *const *)runs->command);
    if (status >= 0) return CLI_DONE;
    return cli_fail(CLI_WRONG_USE, "Write the name of each variable in braces where its value goes.", "optimize: %s",
                    gram_context_message(session->context));
}

/* Starts the command at x: 0, an errno, or -1 without memory. */
static int start(const cli_runs *runs, const double *x, int64_t row, cli_child *child)
{
    gram_string all = {0};
    size_t count = 0;
    for (char **word = runs->command; *word; word++, count++) {
        gram_study_fill_word(runs->study, *word, x, row, &all);
        gram_string_put(&all, "", 1); /* a 0 between words */
    }
    char **arguments = calloc(count + 1, sizeof *arguments);
    int error = -1;
    if (arguments && !all.failed) {
        char *at = all.data;
        for (size_t i = 0; i < count; i++, at += strlen(at) + 1) arguments[i] = at;
        error = cli_child_start(child, arguments);
    }
    free(arguments);
    gram_string_free(&all);
    return error;
}

/* What an ended child found; says why if it has no value. */
static int read_value(cli_session *session, const cli_runs *runs, const cli_child *child, int64_t trial, double *out)
{
    char words[CLI_MESSAGE_SIZE] = "";
    if (child->timed_out)
        (void)snprintf(words, sizeof words, "it took longer than --timeout");
    else if (WIFSIGNALED(child->status))
        (void)snprintf(words, sizeof words, "it was ended by signal %d", WTERMSIG(child->status));
    else if (WEXITSTATUS(child->status) != 0)
        (void)snprintf(words, sizeof words, "its exit code is %d", WEXITSTATUS(child->status));
    else if (gram_study_parse_values(session->context, runs->study, child->last, out) < 0)
        (void)snprintf(words, sizeof words, "%s", gram_context_message(session->context));
    if (!words[0]) return 1;
    cli_tame(words, strlen(words), CLI_TAME_LINES);
    cli_session_clear(session);
    if (!session->common->quiet) (void)fprintf(stderr, "gram: evaluation %" PRId64 " failed: %s\n", trial + 1, words);
    return 0;
}

/* ---- the loop ---- */

typedef struct loop {
    cli_session *session;
    cli_runs *runs;
    cli_child *children; /* parallel */
    int64_t *trials;     /* of the children */
    int64_t running;
    double *x;
    int enough; /* no further points are asked for */
} loop;

static int save(const loop *l)
{
    return l->runs->file ? cli_study_write(l->session, l->runs->study, l->runs->file) : CLI_DONE;
}

/* %d of --plot becomes the number of evaluations. */
static int plot_step(const loop *l)
{
    const char *mark = l->runs->plot ? strstr(l->runs->plot, "%d") : NULL;
    gram_string path = {0};
    if (!mark || gram_study_best(l->runs->study) < 0) return CLI_DONE;
    gram_string_add(&path, "%.*s%03" PRId64 "%s", (int)(mark - l->runs->plot), l->runs->plot,
                    gram_study_evaluation_count(l->runs->study), mark + 2);
    const int code = path.failed ? cli_no_memory() : cli_study_plot(l->session, l->runs->study, path.data);
    gram_string_free(&path);
    return code;
}

/* One more point, unless the expected improvement is small. */
static int ask_one(loop *l, int64_t slot)
{
    cli_runs *r = l->runs;
    gram_proposal p = {.size = sizeof p};
    const gram_status status = gram_study_ask(l->session->context, r->study, l->x, &p);
    if (status == GRAM_ERROR_ARGUMENT) { /* every candidate was taken */
        l->enough = 1;
        r->why = "all candidates were evaluated";
        return CLI_DONE;
    }
    if (status < 0) return cli_session_fail(l->session, status, 0, NULL);
    if (p.expected_improvement < r->tolerance) {
        l->enough = 1;
        r->why = "the expected improvement is below the tolerance";
        return CLI_DONE; /* the point waits in the queue */
    }
    const int code = save(l);
    if (code != CLI_DONE) return code;
    const int error = start(r, l->x, p.row, l->children + slot);
    if (error < 0) return cli_no_memory();
    if (error > 0)
        return cli_fail(CLI_WRONG_USE, "The command is run as it is, without a shell.", "optimize: cannot run '%s': %s",
                        r->command[0], strerror(error));
    l->trials[slot] = p.trial;
    l->running++;
    return CLI_DONE;
}

static int fill_slots(loop *l)
{
    int code = CLI_DONE;
    for (int64_t i = 0; i < l->runs->parallel && code == CLI_DONE && !l->enough; i++)
        if (!l->children[i].process && gram_study_evaluation_count(l->runs->study) + l->running < l->runs->budget)
            code = ask_one(l, i);
    return code;
}

static int finish_one(loop *l, int64_t slot)
{
    double values[MOST_OUTPUTS];
    const int64_t trial = l->trials[slot];
    const int valid = read_value(l->session, l->runs, l->children + slot, trial, values);
    l->running--;
    const gram_status status =
        gram_study_tell(l->session->context, l->runs->study, trial, valid ? values[0] : NAN, values + 1);
    if (status < 0) return cli_session_fail(l->session, status, 1, NULL);
    const int code = save(l);
    return code == CLI_DONE ? plot_step(l) : code;
}

static int turn(loop *l)
{
    int code = CLI_DONE;
    while (code == CLI_DONE) {
        if (cli_interrupted()) return CLI_INTERRUPTED;
        code = fill_slots(l);
        if (code != CLI_DONE || l->running == 0) break;
        const int ended = cli_children_wait(l->children, (int)l->runs->parallel, PATIENCE, l->runs->timeout);
        if (ended >= 0) code = finish_one(l, ended);
    }
    return code;
}

int cli_runs_go(cli_session *session, cli_runs *runs)
{
    loop l = {.session = session, .runs = runs};
    int code = CLI_DONE;
    l.children = calloc((size_t)runs->parallel, sizeof *l.children);
    l.trials = calloc((size_t)runs->parallel, sizeof *l.trials);
    l.x = calloc((size_t)gram_study_variable_count(runs->study), sizeof *l.x);
    if (!l.children || !l.trials || !l.x) code = cli_no_memory();
    if (code == CLI_DONE) code = turn(&l);
    if (l.children) cli_children_stop(l.children, (int)runs->parallel);
    gram_study_requeue(runs->study);
    const int saved = l.x ? save(&l) : CLI_DONE;
    if (code == CLI_INTERRUPTED)
        (void)cli_fail(code,
                       runs->file ? "The study is kept: go on with --resume." : "Without --study nothing is kept.",
                       "interrupted after %" PRId64 " evaluations", gram_study_evaluation_count(runs->study));
    free(l.children);
    free(l.trials);
    free(l.x);
    return code == CLI_DONE ? saved : code;
}

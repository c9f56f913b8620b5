/* gram optimize ask, tell and report: a study file and experiments done by hand. */
#include <stdio.h>
#include <string.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/report_rows.h"
#include "cli/verb/optimize/verb_optimize.h"

enum { MOST_VALUES = 101 };
static const double PATIENCE = 5; /* seconds for another process to finish */

typedef struct hand_options {
    int64_t count, trial;
    const char *point, *plot;
} hand_options;

typedef struct hand_state {
    hand_options own;
    cli_study shown;
} hand_state;

#define PLACE(field) offsetof(hand_options, field)

static const cli_option ask_options[] = {
    CLI_ROW_INTEGER("count", PLACE(count), "Q", 1, 256, "ask for Q points at once (default 1)"),
};
static const cli_option tell_options[] = {
    CLI_ROW_INTEGER("trial", PLACE(trial), "N", 1, 1 << 30, "the number that ask printed (default: the oldest)"),
    CLI_ROW("point", CLI_TEXT, PLACE(point), "NAME=X,...", "a point that was not asked for"),
};
static const cli_option report_options[] = {
    CLI_ROW("plot", CLI_TEXT, PLACE(plot), "FILE", "draw convergence and the model: .svg, .png or .pdf (by gnuplot)"),
};

static const cli_usage ask_usage = {
    .verb = "optimize ask",
    .operands = "FILE",
    .about = "Prints the next point of the study in FILE and notes there that it was asked for. Asking again before "
             "telling gives a further point.\n",
    .examples = "  gram optimize ask lab.json\n  gram optimize ask lab.json --count 4 --json\n",
    .least_operands = 1,
    .most_operands = 1};
static const cli_usage tell_usage = {
    .verb = "optimize tell",
    .operands = "FILE VALUE [CONSTRAINT ...]",
    .about = "Notes the value at a point that was asked for, or at --point. VALUE is a number, or failed.\n",
    .examples = "  gram optimize tell lab.json 0.83\n  gram optimize tell lab.json --trial 7 failed\n"
                "  gram optimize tell lab.json --point heat=60,time=12 -1.5\n",
    .least_operands = 2,
    .most_operands = MOST_VALUES + 1};
static const cli_usage report_usage = {
    .verb = "optimize report",
    .operands = "FILE",
    .about = "Prints the best point of a study, what its model says of it, and how much each variable matters.\n",
    .examples = "  gram optimize report lab.json --plot lab.svg\n",
    .least_operands = 1,
    .most_operands = 1};

/* Reads the study of the first operand; who changes it takes its lock, and waits for others that do. */
static int open_study(cli_session *session, char **operands, cli_study *s, int change)
{
    gram_status status = GRAM_OK;
    s->file = operands[0];
    if (change) status = gram_study_lock_take(session->context, s->file, PATIENCE, &s->lock);
    if (status >= 0) status = gram_study_read(session->context, s->file, &s->study);
    return status < 0 ? cli_session_fail(session, status, 1, "gram optimize --study FILE begins a study.") : CLI_DONE;
}

/* ---- ask ---- */

static gram_status ask_all(cli_session *session, hand_state *s, gram_string *text)
{
    gram_json json = {.text = text};
    if (!session->common->json) return gram_study_ask_words(session->context, s->shown.study, s->own.count, text, NULL);
    gram_json_open(&json, NULL, '{');
    const gram_status status = gram_study_ask_words(session->context, s->shown.study, s->own.count, NULL, &json);
    gram_json_string(&json, "study", s->shown.file);
    cli_json_end(session, &json, NULL);
    gram_json_close(&json, '{');
    gram_string_add(text, "\n");
    return status;
}

static int ask(cli_session *session, char **operands, void *state)
{
    hand_state *s = state;
    gram_string text = {0};
    int code = open_study(session, operands, &s->shown, 1);
    if (code != CLI_DONE) return code;
    gram_status status = ask_all(session, s, &text);
    if (status >= 0) status = gram_study_write(session->context, s->shown.study, operands[0]);
    cli_session_clear(session);
    code = status < 0 ? cli_study_fail(session, status, 0) : cli_write(session, session->common->out, &text);
    gram_string_free(&text);
    return code;
}

/* ---- tell ---- */

static int tell(cli_session *session, char **operands, void *state)
{
    hand_state *s = state;
    int code = open_study(session, operands, &s->shown, 1);
    if (code != CLI_DONE) return code;
    gram_status status = gram_study_tell_words(session->context, s->shown.study, s->own.trial - 1, s->own.point,
                                               (const char *const *)(operands + 1));
    if (status >= 0) status = gram_study_write(session->context, s->shown.study, operands[0]);
    return status < 0 ? cli_study_fail(session, status, 0) : cli_study_print(session, &s->shown);
}

/* ---- report ---- */

static int report(cli_session *session, char **operands, void *state)
{
    hand_state *s = state;
    int code = s->own.plot ? cli_plot_check(session, s->own.plot) : CLI_DONE;
    s->shown.plot = s->own.plot;
    if (code == CLI_DONE) code = open_study(session, operands, &s->shown, 0);
    return code == CLI_DONE ? cli_study_print(session, &s->shown) : code;
}

static void release(void *state)
{
    cli_study_release(&((hand_state *)state)->shown);
}

static int run(const cli_usage *usage, const cli_option *options, size_t option_count,
               int (*work)(cli_session *, char **, void *), int count, char **arguments)
{
    cli_common common = {0};
    hand_state state = {.own = {.count = 1}};
    const cli_group groups[] = {{"Options", options, option_count, &state.own}, cli_common_group(&common)};
    const cli_job job = {usage, groups, 2, work, release, &state};
    return cli_run(&job, count, arguments);
}

int cli_optimize_ask(int count, char **arguments)
{
    return run(&ask_usage, ask_options, sizeof ask_options / sizeof *ask_options, ask, count, arguments);
}

int cli_optimize_report(int count, char **arguments)
{
    return run(&report_usage, report_options, sizeof report_options / sizeof *report_options, report, count, arguments);
}

/* A value below 0 begins like an option; with a blank before it, it does not. */
int cli_optimize_tell(int count, char **arguments)
{
    char values[MOST_VALUES][GRAM_NUMBER_SIZE + 2];
    double value;
    for (int i = 0, used = 0; i < count && used < MOST_VALUES; i++) {
        const size_t length = strlen(arguments[i]);
        if (arguments[i][0] != '-' || length > GRAM_NUMBER_SIZE) continue;
        if (gram_number_parse(arguments[i], length, &value) != length) continue;
        (void)snprintf(values[used], sizeof values[used], " %s", arguments[i]);
        arguments[i] = values[used++];
    }
    return run(&tell_usage, tell_options, sizeof tell_options / sizeof *tell_options, tell, count, arguments);
}

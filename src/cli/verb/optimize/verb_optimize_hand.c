/* gram optimize ask, tell and report: a study file and experiments done by hand. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/report_rows.h"
#include "cli/verb/optimize/verb_optimize.h"

enum { MOST_VALUES = 101 };

typedef struct hand_options {
    int64_t count, trial;
    const char *point, *plot;
} hand_options;

typedef struct hand_state {
    hand_options own;
    cli_study_report report;
    int64_t asked;
    gram_proposal *proposals;
    double *x; /* asked x variables */
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

static const cli_usage ask_usage = {"optimize ask",
                                    "FILE",
                                    "Prints the next point of the study in FILE and notes there that it was asked for. "
                                    "Asking again before telling gives a further "
                                    "point.\n",
                                    "  gram optimize ask lab.json\n  gram optimize ask lab.json --count 4 --json\n",
                                    1,
                                    1,
                                    NULL,
                                    NULL};
static const cli_usage tell_usage = {
    "optimize tell",
    "FILE VALUE [CONSTRAINT ...]",
    "Notes the value at a point that was asked for, or at --point. VALUE is a number, or failed.\n",
    "  gram optimize tell lab.json 0.83\n  gram optimize tell lab.json --trial 7 failed\n"
    "  gram optimize tell lab.json --point heat=60,time=12 -1.5\n",
    2,
    MOST_VALUES + 1,
    NULL,
    NULL};
static const cli_usage report_usage = {"optimize report",
                                       "FILE",
                                       "Prints the best point of a study, what its model says of it, and how much each "
                                       "variable matters.\n",
                                       "  gram optimize report lab.json --plot lab.svg\n",
                                       1,
                                       1,
                                       NULL,
                                       NULL};

/* ---- ask ---- */

static void write_asked(cli_session *session, const void *state, gram_json *json)
{
    const hand_state *s = state;
    const int64_t d = gram_study_variable_count(s->report.study);
    gram_json_open(json, "points", '[');
    for (int64_t i = 0; i < s->asked; i++) {
        const gram_proposal *p = s->proposals + i;
        gram_json_open(json, NULL, '{');
        gram_json_integer(json, "trial", p->trial + 1);
        if (p->row >= 0) gram_json_integer(json, "row", p->row + 1);
        gram_json_study_point(json, "point", s->report.study, s->x + i * d, 0);
        gram_json_number(json, "mean", p->mean);
        gram_json_number(json, "std", p->deviation);
        gram_json_number(json, "expected_improvement", p->expected_improvement);
        gram_json_close(json, '{');
    }
    gram_json_close(json, '[');
    gram_json_string(json, "study", s->report.file);
    cli_json_end(session, json, NULL);
}

static void print_asked(cli_session *session, const void *state, gram_string *text)
{
    const hand_state *s = state;
    (void)session;
    for (int64_t i = 0; i < s->asked; i++) {
        gram_string_add(text, "trial %" PRId64, s->proposals[i].trial + 1);
        if (s->proposals[i].row >= 0) gram_string_add(text, ", row %" PRId64, s->proposals[i].row + 1);
        gram_string_add(text, ": ");
        cli_study_add_point(text, s->report.study, s->x + i * gram_study_variable_count(s->report.study), " ");
        gram_string_add(text, "\n");
    }
}

static int ask(cli_session *session, char **operands, void *state)
{
    hand_state *s = state;
    int code = cli_study_read(session, s->report.file = operands[0], &s->report.study);
    if (code != CLI_DONE) return code;
    const int64_t d = gram_study_variable_count(s->report.study);
    s->proposals = calloc((size_t)s->own.count, sizeof *s->proposals);
    s->x = calloc((size_t)(s->own.count * d), sizeof *s->x);
    if (!s->proposals || !s->x) return cli_no_memory();
    for (; s->asked < s->own.count; s->asked++) {
        s->proposals[s->asked].size = sizeof *s->proposals;
        const gram_status status =
            gram_study_ask(session->context, s->report.study, s->x + s->asked * d, s->proposals + s->asked);
        if (status == GRAM_ERROR_ARGUMENT && s->asked > 0) break;
        if (status == GRAM_ERROR_ARGUMENT)
            return cli_fail(CLI_WRONG_USE, "gram optimize report says what was found.", "optimize ask: %s",
                            gram_context_message(session->context));
        if (status < 0) return cli_session_fail(session, status, 0, NULL);
    }
    code = cli_study_write(session, s->report.study, operands[0]);
    return code == CLI_DONE ? cli_report_print(session, s, write_asked, print_asked) : code;
}

/* ---- tell ---- */

/* The oldest trial that is out, or the one of --trial; -1 after a message. */
static int64_t find_trial(cli_session *session, const hand_state *s)
{
    gram_trial trial = {.size = sizeof trial};
    if (s->own.trial) return s->own.trial - 1;
    for (int64_t i = 0; i < gram_study_trial_count(s->report.study); i++)
        if (gram_study_trial(session->context, s->report.study, i, &trial) >= 0 && trial.state == GRAM_TRIAL_RUNNING)
            return i;
    (void)cli_fail(CLI_WRONG_USE, "Ask first, or give the point with --point.",
                   "optimize tell: no point of %s was asked for and not told yet", s->report.file);
    return -1;
}

static int parse_values(char **words, int64_t constraints, double *values)
{
    int64_t count = 0;
    for (; words[count]; count++) {
        const size_t length = strlen(words[count]);
        if (count == 0 && strcmp(words[0], "failed") == 0)
            values[0] = NAN;
        else if (gram_number_parse(words[count], length, values + count) != length || length == 0)
            return cli_fail(CLI_WRONG_USE, "VALUE is a number, or failed.", "optimize tell: '%s' is not a number",
                            words[count]);
    }
    if (count == 1 + constraints || isnan(values[0])) return CLI_DONE;
    return cli_fail(CLI_WRONG_USE, "Give the value, and after it each constraint.",
                    "optimize tell: %" PRId64 " numbers for a value and %" PRId64 " constraints", count, constraints);
}

static gram_status tell_point(cli_session *session, hand_state *s, const double *values)
{
    double *x = calloc((size_t)gram_study_variable_count(s->report.study), sizeof *x);
    if (!x) return GRAM_ERROR_MEMORY;
    gram_status status = gram_study_parse_point(session->context, s->report.study, s->own.point, x);
    if (status >= 0) status = gram_study_add(session->context, s->report.study, x, values[0], values + 1);
    free(x);
    return status;
}

static int tell(cli_session *session, char **operands, void *state)
{
    hand_state *s = state;
    double values[MOST_VALUES] = {0};
    gram_study_options options = {.size = sizeof options};
    int64_t trial = 0;
    int code = cli_study_read(session, s->report.file = operands[0], &s->report.study);
    if (code != CLI_DONE) return code;
    gram_status status = gram_study_get_options(session->context, s->report.study, &options);
    if (status >= 0) code = parse_values(operands + 1, options.constraints, values);
    if (code != CLI_DONE) return code;
    if (!s->own.point && (trial = find_trial(session, s)) < 0) return CLI_WRONG_USE;
    if (status >= 0)
        status = s->own.point ? tell_point(session, s, values)
                              : gram_study_tell(session->context, s->report.study, trial, values[0], values + 1);
    if (status == GRAM_ERROR_ARGUMENT || status == GRAM_ERROR_DATA)
        return cli_fail(CLI_WRONG_USE, "gram optimize report FILE says what there is.", "optimize tell: %s",
                        gram_context_message(session->context));
    if (status < 0) return cli_session_fail(session, status, 0, NULL);
    code = cli_study_write(session, s->report.study, operands[0]);
    if (code == CLI_DONE) code = cli_study_learn(session, &s->report);
    return code == CLI_DONE ? cli_study_print(session, &s->report) : code;
}

/* ---- report ---- */

static int report(cli_session *session, char **operands, void *state)
{
    hand_state *s = state;
    int code = s->own.plot ? cli_plot_check(session, s->own.plot) : CLI_DONE;
    s->report.plot = s->own.plot;
    if (code == CLI_DONE) code = cli_study_read(session, s->report.file = operands[0], &s->report.study);
    if (code == CLI_DONE) code = cli_study_learn(session, &s->report);
    if (code == CLI_DONE && s->own.plot) code = cli_study_plot(session, s->report.study, s->own.plot);
    return code == CLI_DONE ? cli_study_print(session, &s->report) : code;
}

static void release(void *state)
{
    hand_state *s = state;
    cli_study_release(&s->report);
    free(s->proposals);
    free(s->x);
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

static int is_number(const char *word)
{
    double value;
    const size_t length = strlen(word);
    return length > 0 && gram_number_parse(word, length, &value) == length;
}

/* A value below 0 begins like an option: from the first such on, numbers go behind a "--". */
int cli_optimize_tell(int count, char **arguments)
{
    char end[] = "--", **words = calloc((size_t)count + 2, sizeof *words);
    int put = 0, below = 0;
    if (!words) return cli_no_memory();
    for (int i = 0; i < count; i++) below |= arguments[i][0] == '-' && is_number(arguments[i]);
    for (int pass = 0, seen = 0; pass < 2; pass++, seen = 0) {
        for (int i = 0; i < count; i++) {
            seen |= arguments[i][0] == '-' && is_number(arguments[i]);
            if ((seen && is_number(arguments[i])) == pass) words[put++] = arguments[i];
        }
        if (pass == 0 && below) words[put++] = end;
    }
    const int code = run(&tell_usage, tell_options, sizeof tell_options / sizeof *tell_options, tell, put, words);
    free(words);
    return code;
}

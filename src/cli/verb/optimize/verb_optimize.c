/* gram optimize: runs a command where a study asks for it. */
#include "cli/verb/optimize/verb_optimize.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/report_rows.h"
#include "cli/terminal/child_process.h"
#include "cli/terminal/data_origin.h"

enum { MOST_PARALLEL = 256 };
static const double PATIENCE = 0.1; /* seconds between looks at the clock and at Ctrl-C */

/* A new way to use a study by hand is a file and a row. */
static const cli_verb by_hand[] = {
    {"ask", "the next point of a study", cli_optimize_ask},
    {"tell", "the value at a point", cli_optimize_tell},
    {"report", "what a study has found", cli_optimize_report},
};

static const cli_choice acquisitions[] = {
    CLI_WORD("auto", GRAM_ACQUISITION_AUTO),
    CLI_WORD("ei", GRAM_ACQUISITION_IMPROVEMENT),
    CLI_WORD("noisy-ei", GRAM_ACQUISITION_NOISY),
    CLI_WORD("pi", GRAM_ACQUISITION_PROBABILITY),
    CLI_WORD("bound", GRAM_ACQUISITION_BOUND),
    CLI_WORD("variance", GRAM_ACQUISITION_VARIANCE),
    CLI_WORD("thompson", GRAM_ACQUISITION_THOMPSON),
    CLI_WORD("mean-ei", GRAM_ACQUISITION_MEAN),
    CLI_WORDS_END,
};

typedef struct optimize_options {
    cli_settings lists; /* --var, --point */
    const char *candidates, *study, *plot;
    int64_t budget, parallel, start, constraints;
    int maximize, resume;
    double timeout, tolerance, regret, noise, kappa;
    cli_chosen acquisition;
} optimize_options;

#define PLACE(field) offsetof(optimize_options, field)

static const cli_option own_options[] = {
    CLI_ROW("var", CLI_LIST, PLACE(lists), "NAME=A:B",
            "a variable between A and B, again for each; NAME=A:B:log on the log scale, NAME=A:B:int whole numbers, "
            "NAME=u,v,w one of these words"),
    CLI_ROW("candidates", CLI_TEXT, PLACE(candidates), "TABLE",
            "instead of --var: choose among the rows of a table; {row} is the row's number"),
    CLI_ROW_INTEGER("budget", PLACE(budget), "N", 1, 20000, "evaluations in all, earlier ones of --resume among them"),
    CLI_ROW_FLAG("maximize", PLACE(maximize), "look for the largest value (default: the least)"),
    CLI_ROW("study", CLI_TEXT, PLACE(study), "FILE", "keep everything in this file, whole after every evaluation"),
    CLI_ROW_FLAG("resume", PLACE(resume), "go on with the study in --study; a missing one is started"),
    CLI_ROW_INTEGER("parallel", PLACE(parallel), "N", 1, MOST_PARALLEL, "commands at the same time (default 1)"),
    CLI_ROW("timeout", CLI_POSITIVE, PLACE(timeout), "SECONDS", "stop a command that takes longer: it has failed"),
    CLI_ROW("tolerance", CLI_POSITIVE, PLACE(tolerance), "T",
            "stop when the expected improvement of the next point is below T, in the values' units"),
    CLI_ROW("regret", CLI_POSITIVE, PLACE(regret), "T", "stop when the model's bounds let no point be better by T"),
    CLI_ROW("point", CLI_LIST, PLACE(lists), "NAME=X,...", "evaluate this point first; may be given again"),
    CLI_ROW_INTEGER("start", PLACE(start), "N", 1, 10000,
                    "points of the Latin hypercube first (default: twice the variables, 4 to 20)"),
    CLI_ROW_INTEGER("constraints", PLACE(constraints), "M", 1, 100,
                    "the last line has M numbers more, which must be <= 0"),
    CLI_ROW("noise", CLI_NUMBER, PLACE(noise), "V", "variance of the values; 0: they are exact (default: learnt)"),
    CLI_ROW_CHOICE("acquisition", PLACE(acquisition), "NAME", acquisitions,
                   "auto (default), ei, noisy-ei, mean-ei, pi, bound, variance or thompson"),
    CLI_ROW("kappa", CLI_NUMBER, PLACE(kappa), "K", "deviations of --acquisition bound (default 2)"),
    CLI_ROW("plot", CLI_TEXT, PLACE(plot), "FILE",
            "draw convergence and the model: .svg, .png or .pdf (by gnuplot); with %d in the name after each "
            "evaluation"),
};

static void add_by_hand(gram_string *text)
{
    gram_string_add(text, "\nBy hand, on a study file (gram optimize ask --help):\n");
    cli_add_verbs(text, by_hand, sizeof by_hand / sizeof *by_hand, 14);
}

static const cli_usage usage = {
    "optimize",
    "--var NAME=A:B ... --budget N -- COMMAND {NAME} ...",
    "Finds the least value of a command in few runs, by Bayesian optimisation: a Gaussian process learns from the runs "
    "so far where\nthe next is worth most. The command is run without a shell, {NAME} in its arguments being the value "
    "of "
    "the variable; the value is\nthe number on its last line. A run that fails, prints no number or takes longer than "
    "--timeout is written down as failed, and its\nneighbourhood avoided.\n"
    "Without a command, --study FILE begins a study for gram optimize ask and tell.\n",
    "  gram optimize --var x=0:10 --var rate=1e-5:1e-1:log --budget 40 -- ./simulate {x} {rate}\n"
    "  gram optimize --var n=1:64:int --var mode=fast,safe --budget 60 --parallel 4 --study s.json -- ./bench --n {n} "
    "{mode}\n"
    "  gram optimize --candidates compounds.csv --budget 30 --maximize -- ./assay {row}\n"
    "  gram optimize --var heat=20:90 --var time=1:60 --study lab.json\n"
    "  gram optimize ask lab.json\n"
    "  gram optimize tell lab.json 0.83\n",
    0,
    1 << 20,
    add_by_hand,
    NULL};

typedef struct optimize_state {
    optimize_options own;
    cli_study shown;
    gram_variables *variables;
    cli_session *session;
    cli_child *children; /* parallel */
    char failure[64];
    int plot_code; /* of a picture that failed */
} optimize_state;

/* ---- what the verbs of studies share ---- */

int cli_study_fail(cli_session *session, gram_status status, int reading)
{
    const char *message = gram_context_message(session->context), *advice = gram_context_advice(session->context);
    const size_t named = strncmp(message, "study_", 6) == 0 ? strcspn(message, ":") : 0;
    if (!message[0]) return cli_session_fail(session, status, reading, NULL);
    if (named && message[named] == ':') message += named + 2;
    cli_session_clear(session);
    if (!advice[0]) advice = cli_help(status) ? cli_help(status) : "`gram optimize --help` says how it is used.";
    return cli_fail(cli_exit_code(status, reading), advice, "optimize: %s", message);
}

int cli_study_plot(cli_session *session, gram_study *study, const char *path)
{
    gram_picture *picture = NULL;
    const gram_status status = gram_picture_of_study(session->context, study, &picture);
    return cli_plot(session, path, status, picture);
}

int cli_study_print(cli_session *session, cli_study *s)
{
    gram_string text = {0};
    gram_json json = {.text = &text};
    gram_status status = GRAM_OK;
    int code = CLI_DONE;
    if (session->common->json) {
        gram_json_open(&json, NULL, '{');
        status = gram_json_study(session->context, &json, s->study);
        gram_json_string(&json, "stopped", s->why);
        gram_json_string(&json, "study", s->file);
        cli_json_end(session, &json, s->plot);
        gram_json_close(&json, '{');
        gram_string_add(&text, "\n");
    } else
        status = gram_study_report(session->context, s->study, s->file, s->why, cli_bold(session->common),
                                   cli_plain(session->common), &text);
    if (status >= 0 && s->plot && gram_study_best(s->study) >= 0 && !strstr(s->plot, "%d"))
        code = cli_study_plot(session, s->study, s->plot);
    cli_session_clear(session);
    if (code == CLI_DONE)
        code = status < 0 ? cli_study_fail(session, status, 0) : cli_write(session, session->common->out, &text);
    gram_string_free(&text);
    return code;
}

void cli_study_release(cli_study *s)
{
    gram_study_destroy(s->study);
    gram_study_lock_release(s->lock);
    *s = (cli_study){0};
}

/* ---- making ---- */

/* All that was given under a name. Returns how many. */
static int64_t list_given(const cli_settings *settings, const char *name, const char *out[CLI_MOST_SETTINGS])
{
    int64_t count = 0;
    for (size_t i = 0; i < settings->count; i++)
        if (strcmp(settings->given[i].name, name) == 0) out[count++] = settings->given[i].value;
    return count;
}

static gram_status begin(cli_session *session, optimize_state *s)
{
    const char *points[CLI_MOST_SETTINGS];
    gram_study_options options;
    const int64_t count = list_given(&s->own.lists, "point", points);
    gram_study_options_init(&options, sizeof options);
    options.maximize = s->own.maximize;
    options.acquisition = (gram_acquisition_kind)s->own.acquisition.value;
    options.noise = s->own.noise;
    options.kappa = s->own.kappa;
    options.start = s->own.start;
    options.constraints = s->own.constraints;
    options.seed = session->common->seed;
    return gram_study_begin(session->context, s->variables, &options, count, points, s->own.study, s->own.resume,
                            &s->shown.study);
}

static int open_study(cli_session *session, optimize_state *s)
{
    const char *texts[CLI_MOST_SETTINGS];
    const int64_t count = list_given(&s->own.lists, "var", texts);
    gram_status status = s->own.candidates ? gram_variables_read(session->context, s->own.candidates, &s->variables)
                                           : gram_variables_parse(session->context, count, texts, &s->variables);
    if (status < 0 && s->own.candidates) return cli_data_unread(session, status, NULL);
    if (status < 0) return cli_study_fail(session, status, 1);
    if (s->own.study) status = gram_study_lock_take(session->context, s->own.study, 0, &s->shown.lock);
    if (status < 0) return cli_study_fail(session, status, 0);
    status = begin(session, s);
    return status < 0 ? cli_study_fail(session, status, 1) : CLI_DONE;
}

/* ---- runs ---- */

static int start(void *argument, int64_t slot, char *const *words)
{
    return cli_child_start(((optimize_state *)argument)->children + slot, words);
}

static int64_t wait_for_one(void *argument, const char **line, const char **why)
{
    optimize_state *s = argument;
    const int slot = cli_children_wait(s->children, (int)s->own.parallel, PATIENCE, s->own.timeout);
    if (slot < 0) return -1;
    *line = s->children[slot].last;
    *why = cli_child_failure(s->children + slot, s->failure, sizeof s->failure);
    return slot;
}

static void say_failed(void *argument, int64_t evaluation, const char *why)
{
    cli_session *session = ((const optimize_state *)argument)->session;
    cli_session_clear(session);
    if (!session->common->quiet) (void)cli_fail(0, NULL, "evaluation %" PRId64 " failed: %s", evaluation, why);
}

/* %d of --plot becomes the number of evaluations. */
static gram_status plot_step(void *argument, gram_study *study)
{
    optimize_state *s = argument;
    const char *plot = s->own.plot, *mark = plot ? strstr(plot, "%d") : NULL;
    gram_string path = {0};
    if (!mark || gram_study_best(study) < 0) return GRAM_OK;
    gram_string_add(&path, "%.*s%03" PRId64 "%s", (int)(mark - plot), plot, gram_study_evaluation_count(study),
                    mark + 2);
    s->plot_code = path.failed ? cli_no_memory() : cli_study_plot(s->session, study, path.data);
    gram_string_free(&path);
    return s->plot_code == CLI_DONE ? GRAM_OK : GRAM_ERROR_FILE;
}

static int run(cli_session *session, optimize_state *s, char **command)
{
    const gram_study_run_options options = {.size = sizeof options,
                                            .command = (const char *const *)command,
                                            .budget = s->own.budget,
                                            .start = start,
                                            .wait = wait_for_one,
                                            .argument = s,
                                            .failed = say_failed,
                                            .told = plot_step,
                                            .file = s->own.study,
                                            .parallel = s->own.parallel,
                                            .tolerance = s->own.tolerance,
                                            .regret = s->own.regret};
    s->session = session;
    s->children = calloc((size_t)s->own.parallel, sizeof *s->children);
    if (!s->children) return cli_no_memory();
    const gram_status status = gram_study_run(session->context, s->shown.study, &options, &s->shown.why);
    cli_children_stop(s->children, (int)s->own.parallel);
    if (s->plot_code != CLI_DONE) return s->plot_code;
    return status < 0 ? cli_study_fail(session, status, 0) : CLI_DONE;
}

/* ---- the work ---- */

/* Without variables the first word may have been meant as `ask` and its like. */
static int no_variables(const char *word, const char *help)
{
    enum { WAYS = sizeof by_hand / sizeof *by_hand };
    const char *names[WAYS];
    for (size_t i = 0; i < WAYS; i++) names[i] = by_hand[i].name;
    const char *near = word ? gram_suggest(word, names, WAYS) : NULL;
    if (near) return cli_fail(CLI_WRONG_USE, help, "optimize: no verb '%s', did you mean '%s'?", word, near);
    return cli_fail(CLI_WRONG_USE, help, "optimize: no variables: give --var");
}

static int check_use(cli_session *session, const optimize_state *s, char **command)
{
    const optimize_options *o = &s->own;
    const int vars = cli_setting(&o->lists, "var") != NULL;
    const char *help = "Usage: gram optimize --var NAME=A:B ... --budget N -- COMMAND {NAME} ...";
    if (!vars && !o->candidates) return no_variables(*command, help);
    if (vars && o->candidates)
        return cli_fail(CLI_WRONG_USE, "Leave one out.", "optimize: --var and --candidates exclude each other");
    if (*command && o->budget == 0) return cli_fail(CLI_WRONG_USE, help, "optimize: --budget is missing");
    if (!*command && !o->study)
        return cli_fail(CLI_WRONG_USE, help, "optimize: there is no command after --, and no --study to ask by hand");
    if (o->resume && !o->study)
        return cli_fail(CLI_WRONG_USE, "Name the study with --study FILE.", "optimize: --resume needs --study");
    return o->plot ? cli_plot_check(session, o->plot) : CLI_DONE;
}

static int finish(cli_session *session, optimize_state *s, int ran)
{
    const int64_t told = gram_study_evaluation_count(s->shown.study);
    if (ran && gram_study_best(s->shown.study) < 0 && told > 0)
        return cli_fail(CLI_BAD_DATA, "Run the command by hand: its last line must be the value.",
                        "optimize: no evaluation of %" PRId64 " gave a value that counts", told);
    return cli_study_print(session, &s->shown);
}

static int work(cli_session *session, char **operands, void *state)
{
    optimize_state *s = state;
    int code = check_use(session, s, operands);
    s->shown.file = s->own.study;
    s->shown.plot = s->own.plot;
    if (code == CLI_DONE) code = open_study(session, s);
    if (code == CLI_DONE && *operands) code = run(session, s, operands);
    if (code == CLI_DONE && !*operands) {
        const gram_status status = gram_study_write(session->context, s->shown.study, s->own.study);
        if (status < 0) code = cli_study_fail(session, status, 0);
    }
    return code == CLI_DONE ? finish(session, s, *operands != NULL) : code;
}

static void release(void *state)
{
    optimize_state *s = state;
    cli_study_release(&s->shown);
    gram_variables_destroy(s->variables);
    free(s->children);
}

int cli_optimize(int count, char **arguments)
{
    cli_common common = {0};
    optimize_state state = {.own = {.parallel = 1, .noise = NAN, .kappa = 2, .tolerance = NAN, .regret = NAN}};
    const cli_group groups[] = {
        {"Options", own_options, sizeof own_options / sizeof *own_options, &state.own},
        cli_common_group(&common),
    };
    const cli_job job = {&usage, groups, 2, work, release, &state};
    for (size_t i = 0; count > 1 && i < sizeof by_hand / sizeof *by_hand; i++)
        if (strcmp(arguments[1], by_hand[i].name) == 0) return by_hand[i].run(count - 1, arguments + 1);
    return cli_run(&job, count, arguments);
}

/* gram optimize: runs a command where a study asks for it. */
#include "cli/verb/optimize/verb_optimize.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/plot/gnuplot.h"
#include "cli/terminal/data_origin.h"
#include "cli/verb/optimize/command_runs.h"

/* A new way to use a study by hand is a file and a row. */
static const cli_verb by_hand[] = {
    {"ask", "the next point of a study", cli_optimize_ask},
    {"tell", "the value at a point", cli_optimize_tell},
    {"report", "what a study has found", cli_optimize_report},
};

static const cli_choice acquisitions[] = {
    CLI_WORD("auto", GRAM_ACQUISITION_AUTO),         CLI_WORD("ei", GRAM_ACQUISITION_IMPROVEMENT),
    CLI_WORD("noisy-ei", GRAM_ACQUISITION_NOISY),    CLI_WORD("pi", GRAM_ACQUISITION_PROBABILITY),
    CLI_WORD("bound", GRAM_ACQUISITION_BOUND),       CLI_WORD("variance", GRAM_ACQUISITION_VARIANCE),
    CLI_WORD("thompson", GRAM_ACQUISITION_THOMPSON), CLI_WORDS_END,
};

typedef struct optimize_options {
    cli_settings lists; /* --var, --point */
    const char *candidates, *study, *plot;
    int64_t budget, parallel, start, constraints;
    int maximize, resume;
    double timeout, tolerance, noise, kappa;
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
    CLI_ROW_INTEGER("parallel", PLACE(parallel), "N", 1, 256, "run so many commands at the same time (default 1)"),
    CLI_ROW("timeout", CLI_POSITIVE, PLACE(timeout), "SECONDS", "stop a command that takes longer: it has failed"),
    CLI_ROW("tolerance", CLI_POSITIVE, PLACE(tolerance), "T",
            "stop when the expected improvement of the next point is below T, in the values' units"),
    CLI_ROW("point", CLI_LIST, PLACE(lists), "NAME=X,...", "evaluate this point first; may be given again"),
    CLI_ROW_INTEGER("start", PLACE(start), "N", 1, 10000,
                    "points of the Latin hypercube that comes first (default: twice the variables, 4 to 20)"),
    CLI_ROW_INTEGER("constraints", PLACE(constraints), "M", 1, 100,
                    "the last line has M numbers more, which must be <= 0"),
    CLI_ROW("noise", CLI_NUMBER, PLACE(noise), "V", "variance of the values; 0: they are exact (default: learnt)"),
    CLI_ROW_CHOICE("acquisition", PLACE(acquisition), "NAME", acquisitions,
                   "auto (default), ei, noisy-ei, pi, bound, variance or thompson"),
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
    cli_study_report report;
    gram_table *table;
    gram_variables *variables;
} optimize_state;

/* ---- files ---- */

int cli_study_read(cli_session *session, const char *path, gram_study **study)
{
    const gram_status status = gram_study_read(session->context, path, study);
    if (status >= 0) return CLI_DONE;
    return cli_session_fail(session, status, 1, "gram optimize --study FILE begins a study.");
}

int cli_study_write(cli_session *session, const gram_study *study, const char *path)
{
    const gram_status status = gram_study_write(session->context, study, path);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

/* ---- making ---- */

static int wrong_study(cli_session *session, gram_status status)
{
    const char *message = gram_context_message(session->context), *function = "study_create: ";
    if (strncmp(message, function, strlen(function)) == 0) message += strlen(function);
    if (status == GRAM_ERROR_ARGUMENT || status == GRAM_ERROR_SYNTAX || status == GRAM_ERROR_UNSUPPORTED)
        return cli_fail(CLI_WRONG_USE, "`gram optimize --help` says how variables are written.", "optimize: %s",
                        message);
    return cli_session_fail(session, status, 1, NULL);
}

static int read_candidates(cli_session *session, optimize_state *s)
{
    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    options.text = GRAM_TEXT_CATEGORIES;
    gram_status status = gram_table_read(session->context, s->own.candidates, &options, &s->table);
    if (status < 0) return cli_data_unread(session, status, NULL);
    status = gram_variables_of_table(session->context, s->table, &s->variables);
    return status < 0 ? wrong_study(session, status) : CLI_DONE;
}

static int read_variables(cli_session *session, optimize_state *s)
{
    const char *texts[CLI_MOST_SETTINGS];
    int64_t count = 0;
    if (s->own.candidates) return read_candidates(session, s);
    for (size_t i = 0; i < s->own.lists.count; i++)
        if (strcmp(s->own.lists.given[i].name, "var") == 0) texts[count++] = s->own.lists.given[i].value;
    const gram_status status = gram_variables_parse(session->context, count, texts, &s->variables);
    return status < 0 ? wrong_study(session, status) : CLI_DONE;
}

static int add_points(cli_session *session, optimize_state *s, gram_study *study)
{
    double *x = calloc((size_t)gram_study_variable_count(study), sizeof *x);
    gram_status status = GRAM_OK;
    if (!x) return cli_no_memory();
    for (size_t i = 0; i < s->own.lists.count && status >= 0; i++) {
        if (strcmp(s->own.lists.given[i].name, "point") != 0) continue;
        status = gram_study_parse_point(session->context, study, s->own.lists.given[i].value, x);
        if (status >= 0) status = gram_study_suggest(session->context, study, x);
    }
    free(x);
    if (status >= 0) return CLI_DONE;
    return cli_fail(CLI_WRONG_USE, "Write --point 'NAME=VALUE,NAME=VALUE' with every variable once.",
                    "optimize: --point: %s", gram_context_message(session->context));
}

static int make_study(cli_session *session, optimize_state *s)
{
    gram_study_options options;
    int64_t count;
    const gram_variable *list = gram_variables_list(s->variables, &count);
    gram_study_options_init(&options, sizeof options);
    options.maximize = s->own.maximize;
    options.acquisition = (gram_acquisition_kind)s->own.acquisition.value;
    options.noise = s->own.noise;
    options.kappa = s->own.kappa;
    options.start = s->own.start;
    options.constraints = s->own.constraints;
    options.seed = session->common->seed;
    options.candidates = gram_variables_candidates(s->variables, &options.candidate_count);
    const gram_status status = gram_study_create(session->context, count, list, &options, &s->report.study);
    return status < 0 ? wrong_study(session, status) : add_points(session, s, s->report.study);
}

/* The study of the file in the place of the new one, if it is of the same problem. */
static int go_on(cli_session *session, optimize_state *s)
{
    gram_study *kept = NULL;
    const int code = cli_study_read(session, s->own.study, &kept);
    if (code != CLI_DONE) return code;
    const gram_status status = gram_study_check_same(session->context, kept, s->report.study);
    if (status < 0) {
        gram_study_destroy(kept);
        return cli_fail(CLI_BAD_DATA, "Use the variables it has, or another --study.", "optimize: %s: %s", s->own.study,
                        gram_context_message(session->context));
    }
    gram_study_destroy(s->report.study);
    s->report.study = kept;
    gram_study_requeue(kept);
    return CLI_DONE;
}

static int open_study(cli_session *session, optimize_state *s)
{
    int code = read_variables(session, s);
    if (code == CLI_DONE) code = make_study(session, s);
    if (code != CLI_DONE || !s->own.study) return code;
    if (access(s->own.study, F_OK) != 0) return cli_output_check(session, s->own.study);
    if (s->own.resume) return go_on(session, s);
    return cli_fail(CLI_WRONG_USE, "Go on with it by --resume, or name another file.", "optimize: %s exists already",
                    s->own.study);
}

/* ---- the work ---- */

static int check_use(cli_session *session, const optimize_state *s, char **command)
{
    const optimize_options *o = &s->own;
    const int vars = cli_setting(&o->lists, "var") != NULL;
    const char *help = "Usage: gram optimize --var NAME=A:B ... --budget N -- COMMAND {NAME} ...";
    if (!vars && !o->candidates) return cli_fail(CLI_WRONG_USE, help, "optimize: no variables: give --var");
    if (vars && o->candidates)
        return cli_fail(CLI_WRONG_USE, "The table's columns are the variables.",
                        "optimize: --var and --candidates exclude each other");
    if (*command && o->budget == 0)
        return cli_fail(CLI_WRONG_USE, help, "optimize: how many runs? --budget is missing");
    if (!*command && !o->study)
        return cli_fail(CLI_WRONG_USE, help, "optimize: there is no command after --, and no --study to ask by hand");
    if (o->resume && !o->study)
        return cli_fail(CLI_WRONG_USE, "Name the study with --study FILE.", "optimize: --resume needs --study");
    return o->plot ? cli_plot_check(session, o->plot) : CLI_DONE;
}

static int run(cli_session *session, optimize_state *s, char **command)
{
    cli_runs runs = {.study = s->report.study,
                     .file = s->own.study,
                     .command = command,
                     .budget = s->own.budget,
                     .parallel = s->own.parallel,
                     .timeout = s->own.timeout,
                     .tolerance = s->own.tolerance,
                     .plot = s->own.plot};
    int code = cli_runs_check(session, &runs);
    if (code == CLI_DONE) code = cli_runs_go(session, &runs);
    s->report.why = runs.why;
    return code;
}

static int finish(cli_session *session, optimize_state *s, int ran)
{
    const int64_t told = gram_study_evaluation_count(s->report.study);
    int code = cli_study_learn(session, &s->report);
    if (code == CLI_DONE && ran && s->report.best < 0 && told > 0)
        return cli_fail(CLI_BAD_DATA, "Run the command by hand: its last line must be the value.",
                        "optimize: no evaluation of %" PRId64 " gave a value that counts", told);
    if (code == CLI_DONE && s->own.plot && s->report.best >= 0 && !strstr(s->own.plot, "%d"))
        code = cli_study_plot(session, s->report.study, s->own.plot);
    return code == CLI_DONE ? cli_study_print(session, &s->report) : code;
}

static int work(cli_session *session, char **operands, void *state)
{
    optimize_state *s = state;
    int code = check_use(session, s, operands);
    s->report.file = s->own.study;
    s->report.plot = s->own.plot;
    if (code == CLI_DONE) code = open_study(session, s);
    if (code == CLI_DONE)
        code = *operands ? run(session, s, operands) : cli_study_write(session, s->report.study, s->own.study);
    return code == CLI_DONE ? finish(session, s, *operands != NULL) : code;
}

static void release(void *state)
{
    optimize_state *s = state;
    cli_study_release(&s->report);
    gram_variables_destroy(s->variables);
    gram_table_destroy(s->table);
}

int cli_optimize(int count, char **arguments)
{
    cli_common common = {0};
    optimize_state state = {.own = {.parallel = 1, .noise = NAN, .kappa = 2, .tolerance = NAN}};
    const cli_group groups[] = {
        {"Options", own_options, sizeof own_options / sizeof *own_options, &state.own},
        cli_common_group(&common),
    };
    const cli_job job = {&usage, groups, 2, work, release, &state};
    for (size_t i = 0; count > 1 && i < sizeof by_hand / sizeof *by_hand; i++)
        if (strcmp(arguments[1], by_hand[i].name) == 0) return by_hand[i].run(count - 1, arguments + 1);
    return cli_run(&job, count, arguments);
}

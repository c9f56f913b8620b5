/* gram fit: learns a model from data. The library's learner does it; here are its words, what is said, and the picture. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/lesson_report.h"
#include "cli/report/made_by.h"
#include "cli/report/model_report.h"
#include "cli/report/report_rows.h"
#include "cli/terminal/data_origin.h"
#include "cli/terminal/learner_begin.h"
#include "cli/terminal/ranks.h"
#include "cli/terminal/settings_groups.h"
#include "cli/verb/learn_options.h"

typedef struct fit_options {
    cli_learn_options learn;
    const char *model;  /* --out */
    const char *resume; /* a model whose fit goes on */
    const char *plot;
    const char *checkpoint;
    double every;
} fit_options;

typedef struct fit_state {
    fit_options own;
    cli_method_options of_methods;
    const char *drawn; /* the picture that was drawn; NULL: none */
    const char *file;  /* of the data */
    gram_learner *learner;
    gram_model *before; /* --resume */
    gram_model *model;
    gram_description *description;
    int count; /* of the command's words */
    char **words;
} fit_state;

#define PLACE(field) offsetof(fit_options, field)

/* The help of the first and the third is made from the table of methods. */
enum { METHOD_OPTION = 0, KERNEL_OPTION = 2 };

static const cli_option own_options[] = {
    CLI_ROW("method", CLI_SETTING, PLACE(learn.settings), "NAME", NULL),
    CLI_ROW("task", CLI_SETTING, PLACE(learn.settings), "TASK",
            "regression or classification (default: by the target)"),
    CLI_ROW("kernel", CLI_SETTING, PLACE(learn.settings), "E", NULL),
    CLI_ROW("resume", CLI_TEXT, PLACE(resume), "M.gram",
            "resume a fit that was stopped, on the same DATA; only its limits may be changed"),
    CLI_ROW("checkpoint", CLI_TEXT, PLACE(checkpoint), "FILE",
            "keep the state of long iterations (solver cg) in FILE, and go on from it if it is there"),
    CLI_ROW("every", CLI_POSITIVE, PLACE(every), "SECONDS", "how often --checkpoint writes (default: 600)"),
    CLI_ROW("plot", CLI_TEXT, PLACE(plot), "FILE", "draw the fit: .svg, .png or .pdf (by gnuplot)"),
};

static const cli_usage usage = {
    "fit",
    "DATA",
    "Learns a model from a table (.csv, .tsv, .npy, .svm; - is standard input) and writes it with -o. Text columns "
    "become\ncategories and numbers are standardised. A target of text or of few whole numbers is learnt as classes. "
    "Numbers of the kernel\nthat are left out, and the strength of the penalty, are chosen from the data, as --tune "
    "says. A number that is given is where\nthe choice starts; append ! to hold it fixed.\n",
    "  gram fit data.csv -o model.gram\n"
    "  gram fit data.csv --target price --ignore id --kernel 'matern(nu=1.5)' --plot fit.svg -o model.gram\n"
    "  gram fit data.csv --kernel 'rbf(ell=0.5)' --noise 0.1 -o model.gram\n"
    "  gram fit data.csv --method gp --plot band.svg -o model.gram\n"
    "  gram fit classes.csv --method logistic -o model.gram\n"
    "  gram fit data.csv --quantile 0.1,0.5,0.9 -o model.gram\n"
    "  gram fit classes.csv --seconds 600 -o model.gram\n"
    "  gram fit classes.csv --resume model.gram --seconds 600 -o model.gram\n",
    1,
    1,
    NULL,
    "write the model to FILE"};

/* ---- the report ---- */

/* Steps that were done when a checkpoint was gone on from; 0: there was none. */
static int64_t steps_before(const cli_session *session)
{
    gram_checkpoint_report report = {.size = sizeof report};
    (void)gram_context_checkpoint_report(session->context, &report);
    return report.resumed;
}

static void add_place(cli_session *session, gram_string *text, const fit_state *fit)
{
    char size[GRAM_BYTES_SIZE];
    struct stat facts;
    cli_add_cost(session, text);
    const int64_t resumed = steps_before(session);
    if (resumed > 0) {
        cli_add_label(text, "checkpoint");
        gram_string_add(text, "went on from step %" PRId64 " of %s\n", resumed, fit->own.checkpoint);
    }
    if (!fit->own.model) cli_add_row(text, "model", "not kept; -o FILE writes it");
    if (fit->own.model && stat(fit->own.model, &facts) == 0) {
        cli_add_label(text, "model");
        gram_string_add(text, "%s, %s\n", fit->own.model, gram_bytes_format((size_t)facts.st_size, size));
    }
    if (fit->drawn) cli_add_row(text, "plot", fit->drawn);
}

static void write_table(cli_session *session, const void *report_, gram_string *text)
{
    const fit_state *fit = report_;
    cli_lesson_print(text, gram_learner_lesson(fit->learner));
    cli_model_report_print(session, text, fit->description);
    add_place(session, text, fit);
}

static void write_json(cli_session *session, const void *report_, gram_json *json)
{
    const fit_state *fit = report_;
    gram_description_json(fit->description, json);
    gram_json_string(json, "data", fit->file);
    gram_json_truth(json, "looks_like_classes", gram_learner_lesson(fit->learner)->few_values > 0);
    if (fit->own.resume) gram_json_string(json, "resume", fit->own.resume);
    if (fit->own.checkpoint) gram_json_integer(json, "resumed_iterations", steps_before(session));
    gram_json_string(json, "model", fit->own.model);
    cli_json_end(session, json, fit->drawn);
}

static int draw(cli_session *session, const fit_state *fit)
{
    gram_picture *picture = NULL;
    gram_picture_options options;
    gram_picture_options_init(&options, sizeof options);
    options.data = fit->file;
    if (fit->own.model) options.name = fit->own.model;
    options.dashes = "--";
    const gram_status status = gram_picture_of_learner(session->context, fit->learner, fit->model, &options, &picture);
    return cli_plot(session, fit->own.plot, status, picture);
}

/* ---- the verb ---- */

static int check_use(cli_session *session, const fit_options *own)
{
    int code = CLI_DONE;
    if (own->model && strcmp(own->model, "-") == 0)
        return cli_fail(CLI_WRONG_USE, "Give a file's name.", "fit: a model cannot be written to standard output");
    if (own->model) code = cli_output_check(session, own->model);
    return code == CLI_DONE && own->plot ? cli_plot_check(session, own->plot) : code;
}

/* Ten minutes of work are what a fault may cost unless --every says otherwise. */
static int begin_checkpoint(cli_session *session, const fit_options *own)
{
    enum { USUAL = 600 };
    if (!own->checkpoint && own->every > 0)
        return cli_fail(CLI_WRONG_USE, "Give the file's name too.", "fit: --every is for --checkpoint FILE");
    if (!own->checkpoint) return CLI_DONE;
    int code = cli_output_check(session, own->checkpoint);
    if (code != CLI_DONE) return code;
    const gram_status status =
        gram_context_set_checkpoint(session->context, own->checkpoint, own->every > 0 ? own->every : USUAL);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

/* When the model is in its place the state of its solves is of no more use. */
static void end_checkpoint(cli_session *session, const fit_options *own)
{
    gram_checkpoint_report report = {.size = sizeof report};
    if (!own->checkpoint || !cli_ranks_first()) return;
    (void)gram_context_checkpoint_report(session->context, &report);
    if (report.solves == 0 && !session->common->quiet)
        (void)fprintf(stderr, "gram: --checkpoint: nothing of this fit could be kept, only conjugate gradients can\n");
    if (report.solves > 0) (void)unlink(own->checkpoint);
}

static int begin(cli_session *session, fit_state *fit)
{
    const cli_settings *settings[] = {&fit->own.learn.settings, &fit->of_methods.settings};
    int code = cli_learner_begin(session, usage.verb, settings, 2, !fit->own.resume, &fit->learner);
    if (code == CLI_DONE) gram_learner_to_file(fit->learner, fit->own.model != NULL);
    if (code != CLI_DONE || !fit->own.resume) return code;
    code = cli_model_read(session, fit->own.resume, &fit->before);
    if (code != CLI_DONE) return code;
    const gram_status status = gram_learner_resume(session->context, fit->learner, fit->before, fit->own.resume);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

/* After a failure: had the data been read? A file that fails while a solve keeps its state is one that is written. */
static int was_reading(const cli_session *session)
{
    gram_checkpoint_report report = {.size = sizeof report};
    (void)gram_context_checkpoint_report(session->context, &report);
    return report.solves == 0;
}

static int learn(cli_session *session, const char *path, fit_state *fit)
{
    fit->file = gram_data_name(path);
    const gram_status status =
        gram_learn_file(session->context, fit->learner, path, (gram_format)fit->own.learn.format.value, &fit->model);
    return status < 0 ? cli_session_fail(session, status, was_reading(session), NULL) : CLI_DONE;
}

static int write_model(cli_session *session, const fit_state *fit)
{
    if (!fit->own.model) return CLI_DONE;
    const gram_status status = gram_model_write(session->context, fit->model, fit->own.model);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

/* The model first: a picture that cannot be drawn costs no fit, and the report is printed all the same. */
static int finish(cli_session *session, fit_state *fit)
{
    int drawn = CLI_DONE;
    int code = cli_keep_command(session, fit->model, fit->count, fit->words);
    if (code == CLI_DONE) code = cli_model_report_find(session, fit->model, fit->own.model, &fit->description);
    if (code == CLI_DONE) code = write_model(session, fit);
    if (code != CLI_DONE) return code;
    end_checkpoint(session, &fit->own);
    if (fit->own.plot) drawn = draw(session, fit);
    if (drawn == CLI_DONE) fit->drawn = fit->own.plot;
    code = cli_report_print(session, fit, write_json, write_table);
    return code == CLI_DONE ? drawn : code;
}

static int work(cli_session *session, char **operands, void *state)
{
    fit_state *fit = state;
    fit->own.model = session->out;
    int code = begin(session, fit);
    if (code == CLI_DONE) code = check_use(session, &fit->own);
    if (code == CLI_DONE) code = begin_checkpoint(session, &fit->own);
    if (code == CLI_DONE) code = learn(session, operands[0], fit);
    return code == CLI_DONE ? finish(session, fit) : code;
}

static void release(void *state)
{
    fit_state *fit = state;
    gram_description_destroy(fit->description);
    gram_learner_destroy(fit->learner);
    gram_model_destroy(fit->model);
    gram_model_destroy(fit->before);
}

/* The options of the verb, of methods, of data, and the common ones. */
static int run(fit_state *fit, int count, char **arguments)
{
    enum { OWN = sizeof own_options / sizeof *own_options };
    cli_common common = {0};
    cli_option own_with_help[OWN];
    cli_group groups[CLI_MOST_METHODS + 4];
    size_t group_count = 0;
    memcpy(own_with_help, own_options, sizeof own_options);
    own_with_help[METHOD_OPTION].help = fit->of_methods.names.data;
    own_with_help[KERNEL_OPTION].help = fit->of_methods.kernels.data;
    groups[group_count++] = (cli_group){"Options", own_with_help, OWN, &fit->own};
    for (size_t g = 0; g < fit->of_methods.group_count; g++) groups[group_count++] = fit->of_methods.groups[g];
    groups[group_count++] = cli_learn_data_group(&fit->own.learn);
    groups[group_count++] = cli_common_group(&common);
    const cli_job job = {&usage, groups, group_count, work, release, fit};
    return cli_run(&job, count, arguments);
}

int cli_fit(int count, char **arguments)
{
    fit_state *fit = calloc(1, sizeof *fit);
    if (!fit) return cli_no_memory();
    fit->count = count;
    fit->words = arguments;
    int code = cli_method_options_make(&fit->of_methods, NULL);
    if (code == CLI_DONE) code = run(fit, count, arguments);
    cli_method_options_free(&fit->of_methods);
    free(fit);
    return code;
}

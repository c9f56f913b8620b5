/* gram compare: methods and baselines by the same left-out rows. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/lesson_report.h"
#include "cli/report/made_by.h"
#include "cli/report/report_rows.h"
#include "cli/terminal/learner_begin.h"
#include "cli/verb/judge/left_out_report.h"
#include "cli/verb/learn_options.h"

typedef struct compare_state {
    cli_learn_options learn;
    gram_compare_options own;
    const char *plot, *file;
    const char *drawn; /* the picture; NULL: none */
    gram_learner *learner;
    gram_table *table;
    gram_comparison *comparison;
    gram_cv_report report;
    gram_model *model;
    int64_t chosen; /* the row that the model is of */
    int count;      /* of the command's words */
    char **words;
} compare_state;

#define PLACE(field) offsetof(compare_state, field)

static const cli_option own_options[] = {
    CLI_ROW("methods", CLI_TEXT, PLACE(own.methods), "LIST",
            "which: krr, gp, bayes, sgd, flow, spline, svm, logistic; mean (or the most frequent class), linear, "
            "nearest (neighbours), or baselines for these three (default: all that suit the task)"),
    CLI_ROW("kernel", CLI_TEXT, PLACE(own.kernel), "E", "one more kernel, for every method of kernels"),
    CLI_ROW("task", CLI_SETTING, PLACE(learn.settings), "TASK",
            "regression or classification (default: by the target)"),
    CLI_ROW_INTEGER("folds", PLACE(own.folds), "K", 2, 1000000,
                    "folds (default: 10 up to 60 rows, 5 up to 300, 3 up to 1,000, else a fifth is left out once)"),
    CLI_ROW_INTEGER("fit-rows", PLACE(own.fit_rows), "N", 2, INT64_MAX / 4096,
                    "fit to at most N rows, drawn from those that are not left out (default 2000; with --folds: all)"),
    CLI_ROW("plot", CLI_TEXT, PLACE(plot), "FILE", "draw errors and standard errors: .svg, .png or .pdf (by gnuplot)"),
};

static const cli_usage usage = {
    "compare",
    "DATA",
    "Fits methods with a few kernels, and baselines, to the same parts of the rows and judges them by the same rows that "
    "were\nleft out. Numbers are chosen anew in each part. Those marked + are no more than one standard\nerror of the "
    "difference behind the least error; the best, marked *, has the least error or, of classes, the least log loss "
    "within two\nof them. Cheap ones go first: --time leaves out the others, by name. -o fits the "
    "best to all rows.\n",
    "  gram compare data.csv\n"
    "  gram compare data.csv --time 2m --plot errors.svg -o best.gram\n"
    "  gram compare classes.csv --methods svm,logistic,baselines --folds 10\n",
    1,
    1,
    NULL,
    "fit the best to all rows and write the model to FILE"};

/* ---- the report ---- */

static void write_json(cli_session *session, const void *report_, gram_json *json)
{
    const compare_state *state = report_;
    gram_comparison_json(state->comparison, json);
    gram_json_string(json, "data", state->file);
    gram_json_string(json, "model", session->out);
    if (state->model)
        gram_json_string(json, "model_of", gram_comparison_row(state->comparison, state->chosen)->name);
    cli_json_end(session, json, state->drawn);
}

static void add_compared(gram_string *text, size_t width, const gram_compared *row, int classes)
{
    char error[CLI_SHORT_SIZE], behind[CLI_SHORT_SIZE], other[CLI_SHORT_SIZE];
    gram_string_add(text, "%c %s", row->best ? '*' : row->near ? '+' : ' ', row->name);
    gram_string_pad(text, width + 4);
    gram_string_add(text, "%-12s%-10.2g%-9.2f", cli_short_number(row->error, error), row->se, row->seconds);
    if (classes) gram_string_add(text, "%-10s", isnan(row->other) ? "-" : cli_short_number(row->other, other));
    if (row->behind_se > 0)
        gram_string_add(text, "%s (%.2g)", cli_short_number(row->behind, behind), row->behind_se);
    gram_string_add(text, "\n");
}

static void add_rows(cli_session *session, gram_string *text, const compare_state *state)
{
    const int64_t count = gram_comparison_count(state->comparison);
    size_t width = 20;
    for (int64_t k = 0; k < count; k++) {
        const char *name = gram_comparison_row(state->comparison, k)->name;
        if (gram_string_width(name, strlen(name)) > width) width = gram_string_width(name, strlen(name));
    }
    const int classes = state->report.task == GRAM_TASK_CLASSIFICATION;
    gram_string_add(text, "\n%s  method", cli_bold(session->common));
    for (size_t k = 8; k < width + 4; k++) gram_string_add(text, " ");
    gram_string_add(text, "%-12s%-10s%-9s%s%s\n", classes ? "error rate" : "rmse", "se", "seconds",
                    classes ? "log loss  behind (se)" : "squared error behind (se)", cli_plain(session->common));
    for (int64_t k = 0; k < count; k++)
        if (!gram_comparison_row(state->comparison, k)->skipped)
            add_compared(text, width, gram_comparison_row(state->comparison, k), classes);
    for (int64_t k = 0; k < count; k++) {
        const gram_compared *row = gram_comparison_row(state->comparison, k);
        if (!row->skipped) continue;
        gram_string_add(text, "  %s", row->name);
        gram_string_pad(text, width + 4);
        gram_string_add(text, "skipped: %s\n", row->skipped);
    }
}

static const gram_compared *best_row(const gram_comparison *comparison)
{
    int64_t k = 0;
    while (!gram_comparison_row(comparison, k)->best) k++;
    return gram_comparison_row(comparison, k);
}

static void write_table(cli_session *session, const void *report_, gram_string *text)
{
    const compare_state *state = report_;
    const gram_compared *best = best_row(state->comparison);
    cli_lesson_print(text, gram_comparison_lesson(state->comparison));
    cli_add_left_out(text, &state->report);
    cli_add_label(text, "best");
    gram_string_add(text, "%s%s\n", best->name, best->baseline ? ": no method is better than this baseline" : "");
    if (state->report.fit_rows + state->report.rows < state->report.n && state->report.folds == 1)
        cli_add_row(text, "  note", "fits to more rows may rank otherwise: --fit-rows N, --folds K");
    add_rows(session, text, state);
    cli_add_cost(session, text);
    if (state->model) {
        cli_add_label(text, "model");
        gram_string_add(text, "%s: %s, fitted to all rows\n", session->out,
                        gram_comparison_row(state->comparison, state->chosen)->name);
    }
    if (state->drawn) cli_add_row(text, "plot", state->drawn);
}

/* ---- the verb ---- */

static int compare(cli_session *session, const char *path, compare_state *state)
{
    gram_context *context = session->context;
    state->file = gram_data_name(path);
    if (session->out) state->own.share = 0.6; /* the rest is for the fit to all rows */
    gram_status status = gram_learner_read_table(context, state->learner, path,
                                                 (gram_format)state->learn.format.value, &state->table);
    if (status >= 0)
        status = gram_compare_table(context, state->learner, state->table, state->file, &state->own,
                                    &state->comparison);
    state->report.size = sizeof state->report;
    if (status >= 0) status = gram_comparison_get_report(context, state->comparison, &state->report);
    return status < 0 ? cli_session_fail(session, status, 1, NULL) : CLI_DONE;
}

static int fit_best(cli_session *session, compare_state *state)
{
    gram_context *context = session->context;
    if (!session->out) return CLI_DONE;
    gram_status status = gram_comparison_choose(context, state->comparison, state->learner, &state->chosen);
    if (status >= 0) status = gram_learner_set(context, state->learner, "estimate", "auto");
    if (status >= 0) status = gram_learn_table(context, state->learner, state->table, state->file, &state->model);
    if (status < 0) return cli_session_fail(session, status, 1, NULL);
    const int code = cli_keep_command(session, state->model, state->count, state->words);
    if (code != CLI_DONE) return code;
    status = gram_model_write(context, state->model, session->out);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

static int check_use(cli_session *session, const compare_state *state)
{
    int code = CLI_DONE;
    if (session->out && strcmp(session->out, "-") == 0)
        return cli_fail(CLI_WRONG_USE, "Give a file's name.", "compare: a model cannot be written to standard output");
    if (session->out) code = cli_output_check(session, session->out);
    return code == CLI_DONE && state->plot ? cli_plot_check(session, state->plot) : code;
}

static int work(cli_session *session, char **operands, void *state_)
{
    compare_state *state = state_;
    const cli_settings *settings[] = {&state->learn.settings};
    int drawn = CLI_DONE, code = cli_learner_begin(session, usage.verb, settings, 1, 1, &state->learner);
    if (code == CLI_DONE) code = check_use(session, state);
    if (code == CLI_DONE) code = compare(session, operands[0], state);
    if (code == CLI_DONE) code = fit_best(session, state);
    if (code != CLI_DONE) return code;
    if (state->plot) {
        gram_picture *picture = NULL;
        const gram_status status =
            gram_picture_of_comparison(session->context, state->comparison, state->file, &picture);
        drawn = cli_plot(session, state->plot, status, picture);
        if (drawn == CLI_DONE) state->drawn = state->plot;
    }
    code = cli_report_print(session, state, write_json, write_table);
    return code == CLI_DONE ? drawn : code;
}

static void release(void *state_)
{
    compare_state *state = state_;
    gram_model_destroy(state->model);
    gram_comparison_destroy(state->comparison);
    gram_table_destroy(state->table);
    gram_learner_destroy(state->learner);
}

int cli_compare(int count, char **arguments)
{
    cli_common common = {0};
    compare_state *state = calloc(1, sizeof *state);
    if (!state) return cli_no_memory();
    gram_compare_options_init(&state->own, sizeof state->own);
    state->count = count;
    state->words = arguments;
    const cli_group groups[] = {{"Options", own_options, sizeof own_options / sizeof *own_options, state},
                                cli_learn_rows_group(&state->learn),
                                cli_common_group(&common)};
    const cli_job job = {&usage, groups, 3, work, release, state};
    const int code = cli_run(&job, count, arguments);
    free(state);
    return code;
}

/* gram cv: predictions of rows by fits that have not seen them. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/lesson_report.h"
#include "cli/report/report_rows.h"
#include "cli/terminal/learner_begin.h"
#include "cli/terminal/settings_groups.h"
#include "cli/verb/judge/left_out_report.h"
#include "cli/verb/learn_options.h"

typedef struct cv_state {
    cli_learn_options learn;
    gram_cv_options own;
    cli_method_options of_methods;
    const char *file;
    gram_learner *learner;
    gram_table *table;
    gram_cv *cv;
    gram_cv_report report;
} cv_state;

#define PLACE(field) offsetof(cv_state, field)

enum { METHOD_OPTION = 0, KERNEL_OPTION = 2 };

static const cli_option own_options[] = {
    CLI_ROW("method", CLI_SETTING, PLACE(learn.settings), "NAME", NULL),
    CLI_ROW("task", CLI_SETTING, PLACE(learn.settings), "TASK",
            "regression or classification (default: by the target)"),
    CLI_ROW("kernel", CLI_SETTING, PLACE(learn.settings), "E", NULL),
    CLI_ROW_INTEGER("folds", PLACE(own.folds), "K", 2, 1000000,
                    "folds (default: 20 up to 60 rows, 10 up to 250, else 5)"),
    CLI_ROW_INTEGER("fit-rows", PLACE(own.fit_rows), "N", 2, INT64_MAX / 4096,
                    "fit to at most N rows, drawn from those that are not left out (default: all of them)"),
};

static const cli_usage usage = {
    "cv",
    "DATA",
    "Leaves out one fold of the rows after the other, fits a model to the others as `gram fit` would, and predicts the "
    "fold. What\n`fit` chooses is chosen anew in each fold, so that the errors are those to expect on new rows. -o "
    "writes a line for each\nrow: row, fold, truth, prediction, and std or probabilities where the method has them.\n",
    "  gram cv data.csv -o left_out.csv\n"
    "  gram cv data.csv --method gp --kernel 'matern(nu=1.5)' --folds 10\n"
    "  gram cv visits.csv --groups patient --method svm\n",
    1,
    1,
    NULL,
    "write the predictions of the left-out rows to FILE"};

static void write_json(cli_session *session, const void *report_, gram_json *json)
{
    const cv_state *state = report_;
    gram_json_string(json, "method", state->report.method);
    gram_json_string(json, "task", gram_task_name(state->report.task));
    gram_json_string(json, "kernel", state->report.kernel);
    gram_json_integer(json, "n", state->report.n);
    gram_cv_json(state->cv, json);
    gram_json_string(json, "data", state->file);
    gram_json_string(json, "predictions", session->out);
    cli_json_end(session, json, NULL);
}

static void add_error(gram_string *text, const char *label, double value, double se)
{
    char shown[CLI_SHORT_SIZE];
    if (isnan(value)) return;
    cli_add_label(text, label);
    gram_string_add(text, "%s", cli_short_number(value, shown));
    if (!isnan(se)) gram_string_add(text, " (standard error %.2g)", se);
    gram_string_add(text, "\n");
}

static void write_table(cli_session *session, const void *report_, gram_string *text)
{
    const cv_state *state = report_;
    const gram_cv_report *r = &state->report;
    cli_lesson_print(text, gram_cv_lesson(state->cv));
    cli_add_label(text, "method");
    gram_string_add(text, "%s%s%s\n", r->method, r->kernel ? " " : "", r->kernel ? r->kernel : "");
    cli_add_left_out(text, r);
    add_error(text, "rmse", r->rmse, r->rmse_se);
    add_error(text, "R2", r->r2, NAN);
    add_error(text, "mean absolute error", r->mae, r->mae_se);
    add_error(text, "nlpd", r->nlpd, r->nlpd_se);
    add_error(text, "pinball loss", r->loss, r->loss_se);
    add_error(text, "accuracy", r->accuracy, r->accuracy_se);
    add_error(text, "log loss", r->log_loss, r->log_loss_se);
    cli_add_cost(session, text);
    if (session->out) cli_add_row(text, "predictions", session->out);
}

static int write_rows(cli_session *session, const cv_state *state)
{
    gram_string text = {0};
    if (!session->out) return CLI_DONE;
    gram_cv_rows(state->cv, &text);
    const int code = text.failed ? cli_no_memory() : cli_write(session, session->out, &text);
    gram_string_free(&text);
    return code;
}

static int work(cli_session *session, char **operands, void *state_)
{
    cv_state *state = state_;
    const cli_settings *settings[] = {&state->learn.settings, &state->of_methods.settings};
    if (session->out && strcmp(session->out, "-") == 0)
        return cli_fail(CLI_WRONG_USE, "Give a file's name.", "cv: the report goes to standard output already");
    int code = cli_learner_begin(session, usage.verb, settings, 2, 1, &state->learner);
    if (code == CLI_DONE && session->out) code = cli_output_check(session, session->out);
    if (code != CLI_DONE) return code;
    state->file = gram_data_name(operands[0]);
    gram_status status = gram_learner_read_table(session->context, state->learner, operands[0],
                                                 (gram_format)state->learn.format.value, &state->table);
    if (status >= 0)
        status = gram_cv_table(session->context, state->learner, state->table, state->file, &state->own, &state->cv);
    state->report.size = sizeof state->report;
    if (status >= 0) status = gram_cv_get_report(session->context, state->cv, &state->report);
    if (status < 0) return cli_session_fail(session, status, 1, NULL);
    code = write_rows(session, state);
    return code == CLI_DONE ? cli_report_print(session, state, write_json, write_table) : code;
}

static void release(void *state_)
{
    cv_state *state = state_;
    gram_cv_destroy(state->cv);
    gram_table_destroy(state->table);
    gram_learner_destroy(state->learner);
}

static int run(cv_state *state, int count, char **arguments)
{
    enum { OWN = sizeof own_options / sizeof *own_options };
    cli_common common = {0};
    cli_option own_with_help[OWN];
    cli_group groups[CLI_MOST_METHODS + 4];
    size_t group_count = 0;
    memcpy(own_with_help, own_options, sizeof own_options);
    own_with_help[METHOD_OPTION].help = state->of_methods.names.data;
    own_with_help[KERNEL_OPTION].help = state->of_methods.kernels.data;
    groups[group_count++] = (cli_group){"Options", own_with_help, OWN, state};
    for (size_t g = 0; g < state->of_methods.group_count; g++) groups[group_count++] = state->of_methods.groups[g];
    groups[group_count++] = cli_learn_rows_group(&state->learn);
    groups[group_count++] = cli_common_group(&common);
    const cli_job job = {&usage, groups, group_count, work, release, state};
    return cli_run(&job, count, arguments);
}

int cli_cv(int count, char **arguments)
{
    cv_state *state = calloc(1, sizeof *state);
    if (!state) return cli_no_memory();
    gram_cv_options_init(&state->own, sizeof state->own);
    int code = cli_method_options_make(&state->of_methods, NULL);
    if (code == CLI_DONE) code = run(state, count, arguments);
    cli_method_options_free(&state->of_methods);
    free(state);
    return code;
}

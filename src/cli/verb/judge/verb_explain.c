/* gram explain: which features of a model matter, and how. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/report_rows.h"
#include "cli/terminal/data_origin.h"
#include "cli/terminal/options.h"
#include "cli/verb/judge/explained_rows.h"

typedef struct explain_state {
    gram_explain_options own;
    int64_t row; /* from 1; 0: none */
    cli_chosen format;
    const char *plot, *drawn;
    const char *model_file, *file;
    gram_model *model;
    gram_explanation *explanation;
} explain_state;

#define PLACE(field) offsetof(explain_state, field)

static const cli_option own_options[] = {
    CLI_ROW("features", CLI_TEXT, PLACE(own.features), "LIST",
            "features whose partial dependence is found (default: the nine most important)"),
    CLI_ROW_INTEGER("row", PLACE(row), "I", 1, INT64_MAX / 4096,
                    "the training rows that weigh most in the prediction of row I of DATA"),
    CLI_ROW_INTEGER("most", PLACE(own.most_weights), "N", 1, 1000000, "how many of these (default 10)"),
    CLI_ROW_INTEGER("repeats", PLACE(own.repeats), "N", 1, 10000, "permutations of each feature (default 5)"),
    CLI_ROW_INTEGER("rows", PLACE(own.rows), "N", 2, INT64_MAX / 4096,
                    "rows of DATA to look at, a seeded sample (default 1000)"),
    CLI_ROW("plot", CLI_TEXT, PLACE(plot), "FILE", "draw the partial dependence: .svg, .png or .pdf (by gnuplot)"),
    CLI_ROW_CHOICE("format", PLACE(format), "FORMAT", cli_formats, CLI_FORMAT_HELP),
};

static const cli_usage usage = {"explain",
                                "M.gram DATA",
                                "Explains a model of numbers or classes on the rows of DATA, best rows that it was not "
                                "fitted to. Importance is the rise of the "
                                "error when a\nfeature is permuted among the rows (where DATA has the target), and the "
                                "feature's share of the squared "
                                "derivatives of the\nmodel's function, each with its standard error. Partial "
                                "dependence is the mean prediction when a feature is "
                                "set to a value, with\na band. A sum kernel has its terms, and --row lists the "
                                "training rows that weigh most in one "
                                "prediction.\n",
                                "  gram explain model.gram test.csv\n"
                                "  gram explain model.gram test.csv --plot dependence.svg --features age,income\n"
                                "  gram explain model.gram test.csv --row 17\n",
                                2,
                                2,
                                NULL,
                                NULL};

static void write_json(cli_session *session, const void *report_, gram_json *json)
{
    const explain_state *state = report_;
    gram_json_string(json, "model", state->model_file);
    gram_json_string(json, "data", state->file);
    gram_json_string(json, "method", gram_model_method(state->model));
    gram_json_string(json, "task", gram_model_task(state->model));
    gram_explanation_json(state->explanation, json);
    cli_json_end(session, json, state->drawn);
}

static void write_table(cli_session *session, const void *report_, gram_string *text)
{
    const explain_state *state = report_;
    cli_explanation_print(session, text, state->explanation, state->model, state->row);
    cli_add_cost(session, text);
    if (state->drawn) cli_add_row(text, "plot", state->drawn);
}

static int explain(cli_session *session, char **operands, explain_state *state)
{
    gram_table *table = NULL;
    gram_table_options options;
    state->model_file = operands[0];
    state->file = gram_data_name(operands[1]);
    state->own.who = usage.verb;
    state->own.dashes = "--";
    state->own.name = operands[0];
    state->own.row = state->row - 1;
    int code = state->plot ? cli_plot_check(session, state->plot) : CLI_DONE;
    if (code == CLI_DONE) code = cli_model_read(session, operands[0], &state->model);
    if (code != CLI_DONE) return code;
    gram_table_options_init(&options, sizeof options);
    options.format = (gram_format)state->format.value;
    gram_status status = GRAM_OK;
    if (gram_model_preparation(state->model))
        status = gram_preparation_reading(gram_model_preparation(state->model), &options);
    if (status >= 0) status = gram_table_read(session->context, operands[1], &options, &table);
    if (status < 0) return cli_data_unread(session, status, NULL);
    status = gram_explain_table(session->context, state->model, table, state->file, &state->own, &state->explanation);
    gram_table_destroy(table);
    return status < 0 ? cli_session_fail(session, status, 1, NULL) : CLI_DONE;
}

static int work(cli_session *session, char **operands, void *state_)
{
    explain_state *state = state_;
    int drawn = CLI_DONE, code = explain(session, operands, state);
    if (code != CLI_DONE) return code;
    if (state->plot) {
        gram_picture *picture = NULL;
        const gram_status status = gram_picture_of_explanation(session->context, state->explanation, &picture);
        drawn = cli_plot(session, state->plot, status, picture);
        if (drawn == CLI_DONE) state->drawn = state->plot;
    }
    code = cli_report_print(session, state, write_json, write_table);
    return code == CLI_DONE ? drawn : code;
}

static void release(void *state_)
{
    explain_state *state = state_;
    gram_explanation_destroy(state->explanation);
    gram_model_destroy(state->model);
}

int cli_explain(int count, char **arguments)
{
    cli_common common = {0};
    explain_state state = {0};
    gram_explain_options_init(&state.own, sizeof state.own);
    const cli_group groups[] = {{"Options", own_options, sizeof own_options / sizeof *own_options, &state},
                                cli_common_group(&common)};
    const cli_job job = {&usage, groups, 2, work, release, &state};
    return cli_run(&job, count, arguments);
}

/* gram report: one self-contained page of HTML about a model. The library makes the parts, gnuplot draws the pictures. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/model_report.h"
#include "cli/report/report_rows.h"
#include "cli/terminal/data_origin.h"
#include "cli/terminal/options.h"

typedef struct report_state {
    const char *title;
    cli_chosen format;
    const char *model_file, *path, *file; /* path of DATA, NULL: there is none */
    gram_model *model;
    gram_description *description;
    gram_predictor *predictor;
    gram_score *score;
    gram_seen_rows *seen;
    gram_explanation *explanation;
    gram_string page;
    int pictures;
} report_state;

static const cli_option own_options[] = {
    CLI_ROW("title", CLI_TEXT, offsetof(report_state, title), "TEXT", "title of the page (default: the model's file)"),
    CLI_ROW_CHOICE("format", offsetof(report_state, format), "FORMAT", cli_formats, CLI_FORMAT_HELP),
};

static const cli_usage usage = {
    "report",
    "M.gram [DATA]",
    "Writes one page of HTML about a model: its report, the command that made it and, with DATA, scores, pictures of the "
    "predictions, importance\nand partial dependence (by gnuplot, if it is installed). The page is one file without scripts; it "
    "loads nothing from elsewhere, and is\nreadable in light and dark.\n",
    "  gram report model.gram -o report.html\n"
    "  gram report model.gram test.csv -o report.html --title 'Prices, October'\n",
    1,
    2,
    NULL,
    "write the page to FILE"};

/* ---- what is known ---- */

static int is_predictive(const gram_model *model)
{
    return gram_model_preparation(model) && !gram_model_second_function(model) &&
           (strcmp(gram_model_task(model), gram_task_name(GRAM_TASK_REGRESSION)) == 0 ||
            strcmp(gram_model_task(model), gram_task_name(GRAM_TASK_CLASSIFICATION)) == 0);
}

static gram_status predict(cli_session *session, report_state *state)
{
    gram_predict_options wish;
    gram_predict_stream *source = NULL;
    const gram_predicted *piece = NULL;
    gram_context *context = session->context;
    gram_predict_options_init(&wish, sizeof wish);
    wish.scores = 1;
    wish.name = state->model_file;
    gram_status status = gram_predictor_create(context, state->model, &wish, &state->predictor);
    const gram_columns *columns = status >= 0 ? gram_predictor_columns(state->predictor) : NULL;
    if (status >= 0) status = gram_score_create(context, columns, &state->score);
    if (status >= 0) status = gram_seen_rows_create(context, state->predictor, &state->seen);
    if (status >= 0)
        status = gram_predict_stream_open(context, state->predictor, NULL, state->path,
                                          (gram_format)state->format.value, &source);
    while (status >= 0) {
        status = gram_predict_stream_next(context, source, &piece);
        if (status < 0 || !piece) break;
        status = gram_score_add(context, state->score, piece->data->n, piece->data->y, piece->data->targets,
                                piece->values, columns->ld);
        if (status >= 0) status = gram_seen_rows_add(context, state->seen, piece);
    }
    gram_predict_stream_close(source);
    return status;
}

static gram_status explain(cli_session *session, report_state *state)
{
    gram_table *table = NULL;
    gram_table_options options;
    gram_explain_options wish;
    gram_explain_options_init(&wish, sizeof wish);
    wish.who = usage.verb;
    wish.dashes = "--";
    wish.name = state->model_file;
    gram_table_options_init(&options, sizeof options);
    options.format = (gram_format)state->format.value;
    gram_status status = gram_preparation_reading(gram_model_preparation(state->model), &options);
    if (status >= 0) status = gram_table_read(session->context, state->path, &options, &table);
    if (status >= 0)
        status = gram_explain_table(session->context, state->model, table, state->file, &wish, &state->explanation);
    gram_table_destroy(table);
    return status;
}

/* ---- the page ---- */

static int add_picture(cli_session *session, report_state *state, gram_status status, gram_picture *picture,
                       const char *words)
{
    gram_string svg = {0};
    if (status == GRAM_ERROR_ARGUMENT || status == GRAM_ERROR_DATA) return CLI_DONE; /* there is nothing to draw */
    int code = cli_plot_text(session, words, status, picture, &svg);
    if (code == CLI_DONE && !gram_page_picture(&state->page, state->pictures + 1, svg.data, svg.length, words))
        code = cli_fail(CLI_FAULT, "Leave DATA out.", "report: gnuplot's picture is not fit for a page");
    state->pictures++;
    gram_string_free(&svg);
    return code;
}

static int draw_predictions(cli_session *session, report_state *state)
{
    gram_picture *picture = NULL;
    gram_picture_options options;
    gram_picture_options_init(&options, sizeof options);
    options.data = state->file;
    options.name = state->model_file;
    const int classes = gram_predictor_columns(state->predictor)->classes->count > 0;
    const gram_status status = gram_picture_of_predictions(session->context, state->seen, &options, &picture);
    return add_picture(session, state, status, picture,
                       classes ? "Classes of the rows: regions, or the ROC curve and how well probabilities hold."
                               : "Predictions and what was observed; residuals.");
}

static int draw_importance(cli_session *session, report_state *state)
{
    gram_picture *picture = NULL;
    const gram_status status = gram_picture_of_importance(session->context, state->explanation, &picture);
    return add_picture(session, state, status, picture, "Importance, with one standard error.");
}

static int draw_dependence(cli_session *session, report_state *state)
{
    gram_picture *picture = NULL;
    const gram_status status = gram_picture_of_explanation(session->context, state->explanation, &picture);
    gram_page_heading(&state->page, "Partial dependence");
    return add_picture(session, state, status, picture,
                       "The mean prediction over rows when a feature is set to a value, and its band.");
}

static int add_data(cli_session *session, report_state *state)
{
    const int draws = cli_plot_available();
    int code = CLI_DONE;
    const gram_status status =
        gram_page_scores(session->context, &state->page, gram_predictor_columns(state->predictor), state->score);
    if (status < 0) return cli_session_fail(session, status, 0, NULL);
    if (!draws) gram_page_paragraph(&state->page, "There are no pictures: gnuplot was not found.");
    if (draws) code = draw_predictions(session, state);
    if (!state->explanation || code != CLI_DONE) return code;
    gram_page_explanation(&state->page, state->explanation);
    if (draws) code = draw_importance(session, state);
    return code == CLI_DONE && draws && gram_explanation_dependences(state->explanation) > 0
               ? draw_dependence(session, state)
               : code;
}

static void add_head(report_state *state)
{
    const gram_fact command = gram_model_find(state->model, "command");
    gram_string line = {0};
    gram_page_begin(&state->page, state->title ? state->title : state->model_file);
    gram_string_add(&line, "A model of %s for %s", gram_model_method(state->model), gram_model_task(state->model));
    if (gram_model_preparation(state->model)) {
        const gram_preparation_description *known = gram_preparation_describe(gram_model_preparation(state->model));
        if (known->target_count > 0) gram_string_add(&line, " of %s", known->targets[0].name);
        gram_string_add(&line, " on %" PRId64 " feature%s", known->feature_count, cli_plural(known->feature_count));
    }
    gram_string_add(&line, ", kept in %s, written by gram %s.", state->model_file, gram_model_version(state->model));
    gram_page_paragraph(&state->page, line.data ? line.data : "");
    if (command.kind == GRAM_FACT_TEXT && command.name) {
        gram_page_paragraph(&state->page, "Made by");
        gram_page_command(&state->page, command.text);
    }
    state->page.failed |= line.failed;
    gram_string_free(&line);
}

/* ---- the verb ---- */

static void write_json(cli_session *session, const void *report_, gram_json *json)
{
    const report_state *state = report_;
    gram_json_string(json, "model", state->model_file);
    gram_json_string(json, "data", state->file);
    gram_json_string(json, "page", session->out);
    gram_json_integer(json, "bytes", (int64_t)state->page.length);
    gram_json_integer(json, "pictures", state->pictures);
    cli_json_end(session, json, NULL);
}

static void write_table(cli_session *session, const void *report_, gram_string *text)
{
    const report_state *state = report_;
    char size[GRAM_BYTES_SIZE];
    cli_add_label(text, "page");
    gram_string_add(text, "%s, %s, %d picture%s\n", session->out, gram_bytes_format(state->page.length, size),
                    state->pictures, cli_plural(state->pictures));
    cli_add_cost(session, text);
}

static int find_all(cli_session *session, report_state *state)
{
    int code = cli_model_read(session, state->model_file, &state->model);
    if (code == CLI_DONE) code = cli_model_report_find(session, state->model, state->model_file, &state->description);
    if (code != CLI_DONE || !state->path) return code;
    if (!is_predictive(state->model))
        return cli_fail(CLI_WRONG_USE, "Leave DATA out.", "report: %s predicts neither numbers nor classes",
                        state->model_file);
    gram_status status = predict(session, state);
    if (status >= 0) status = explain(session, state);
    if (status == GRAM_ERROR_ARGUMENT || status == GRAM_ERROR_UNSUPPORTED) status = GRAM_OK; /* none of this model */
    return status < 0 ? cli_data_unread(session, status, "`gram info M.gram` lists the columns that the model needs.")
                      : CLI_DONE;
}

static int work(cli_session *session, char **operands, void *state_)
{
    report_state *state = state_;
    state->model_file = operands[0];
    state->path = operands[1];
    if (state->path) state->file = gram_data_name(state->path);
    if (!session->out || strcmp(session->out, "-") == 0)
        return cli_fail(CLI_WRONG_USE, "For example -o report.html.", "report: give the page a file with -o");
    if (state->path && strcmp(state->path, "-") == 0)
        return cli_fail(CLI_WRONG_USE, "Give a file's name.", "report: DATA is read twice, so not from standard input");
    int code = cli_output_check(session, session->out);
    if (code == CLI_DONE) code = find_all(session, state);
    if (code != CLI_DONE) return code;
    add_head(state);
    gram_page_model(&state->page, state->description);
    if (state->path) code = add_data(session, state);
    gram_page_end(&state->page);
    if (code == CLI_DONE && state->page.failed) code = cli_no_memory();
    const size_t length = state->page.length;
    if (code == CLI_DONE) code = cli_write(session, session->out, &state->page);
    state->page.length = length;
    return code == CLI_DONE ? cli_report_print(session, state, write_json, write_table) : code;
}

static void release(void *state_)
{
    report_state *state = state_;
    gram_string_free(&state->page);
    gram_explanation_destroy(state->explanation);
    gram_seen_rows_destroy(state->seen);
    gram_score_destroy(state->score);
    gram_predictor_destroy(state->predictor);
    gram_description_destroy(state->description);
    gram_model_destroy(state->model);
}

int cli_report(int count, char **arguments)
{
    cli_common common = {0};
    report_state state = {0};
    const cli_group groups[] = {{"Options", own_options, sizeof own_options / sizeof *own_options, &state},
                                cli_common_group(&common)};
    const cli_job job = {&usage, groups, 2, work, release, &state};
    return cli_run(&job, count, arguments);
}

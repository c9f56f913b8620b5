/* The verbs that methods bring: gram pca, gram cluster, ... What they are called, what they take and what their help says comes
 * from the rows of the method table; here a table is read, learnt from, and what the model says of its rows is written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/lesson_report.h"
#include "cli/report/model_report.h"
#include "cli/report/report_rows.h"
#include "cli/report/value_rows.h"
#include "cli/terminal/data_origin.h"
#include "cli/terminal/learner_begin.h"
#include "cli/verb/structure_options.h"

typedef struct structure_state {
    const gram_verb *verb;
    structure_options own;
    cli_method_options methods;
    const char *file; /* of the data */
    const char *drawn;
    gram_table *table; /* held for the column that colours a picture */
    int64_t column;
    gram_string ignore; /* that column beside those that are ignored */
    gram_learner *learner;
    gram_model *model;
    gram_description *description;
} structure_state;

/* ---- results ---- */

static int write_model(cli_session *session, const structure_state *state)
{
    if (!state->own.model) return CLI_DONE;
    const gram_status status = gram_model_write(session->context, state->model, state->own.model);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

/* What it says of the rows of another file. */
static gram_status add_other_rows(cli_session *session, const structure_state *state, const gram_predictor *predictor,
                                  gram_string *text)
{
    const gram_columns *columns = gram_predictor_columns(predictor);
    const gram_predicted *piece = NULL;
    gram_predict_stream *source = NULL;
    gram_status status = gram_predict_stream_open(session->context, predictor, NULL, state->own.at,
                                                  (gram_format)state->own.format.value, &source);
    if (status >= 0) status = gram_predict_stream_next(session->context, source, &piece);
    while (status >= 0 && piece) {
        cli_add_value_rows(text, columns, NULL, piece->data, piece->values, columns->ld);
        status = gram_predict_stream_next(session->context, source, &piece);
    }
    gram_predict_stream_close(source);
    return status;
}

/* What is asked of the model; rows made of coordinates if `reconstruct`. */
static gram_predict_options wish_of(const structure_state *state, int reconstruct)
{
    gram_predict_options wish;
    gram_predict_options_init(&wish, sizeof wish);
    wish.reconstruct = reconstruct;
    wish.dashes = "--";
    wish.who = state->verb->name;
    return wish;
}

/* What it says of the rows that it was learnt from. */
static gram_status fill_values(cli_session *session, const structure_state *state, const gram_predictor *predictor,
                               int reconstruct, double *values)
{
    const gram_prepared *data = gram_learner_lesson(state->learner)->data;
    const int64_t count = gram_predictor_columns(predictor)->count;
    if (!values) return GRAM_ERROR_MEMORY;
    if (reconstruct) return gram_predictor_evaluate(session->context, predictor, data->n, data->x, NULL, values, count);
    return gram_learner_values(session->context, state->learner, state->model, values, count);
}

/* The same, one row for each row of the file. */
static gram_status add_rows(cli_session *session, const structure_state *state, gram_string *text)
{
    const gram_prepared *data = gram_learner_lesson(state->learner)->data;
    gram_predictor *predictor = NULL;
    double *values = NULL;
    const gram_predict_options wish = wish_of(state, state->own.reconstruct);
    gram_status status = gram_predictor_create(session->context, state->model, &wish, &predictor);
    if (status >= 0) cli_add_value_names(text, gram_predictor_columns(predictor), NULL);
    if (status >= 0 && state->own.at) {
        status = add_other_rows(session, state, predictor, text);
    } else if (status >= 0) {
        const gram_columns *columns = gram_predictor_columns(predictor);
        values = calloc((size_t)(data->n * columns->count), sizeof *values);
        status = fill_values(session, state, predictor, state->own.reconstruct, values);
        if (status >= 0) cli_add_value_rows(text, columns, NULL, data, values, columns->count);
    }
    free(values);
    gram_predictor_destroy(predictor);
    return status;
}

static int draw(cli_session *session, structure_state *state)
{
    gram_picture *picture = NULL;
    gram_picture_options options;
    if (!state->own.plot) return CLI_DONE;
    gram_picture_options_init(&options, sizeof options);
    options.show = state->own.show;
    options.data = state->file;
    options.name = state->file;
    options.table = state->table;
    options.column = state->column;
    options.dashes = "--";
    const gram_status status =
        gram_picture_of_learner(session->context, state->learner, state->model, &options, &picture);
    const int code = cli_plot(session, state->own.plot, status, picture);
    if (code == CLI_DONE) state->drawn = state->own.plot;
    return code;
}

static int write_rows(cli_session *session, const structure_state *state)
{
    gram_string text = {0};
    if (!state->own.rows) return CLI_DONE;
    const int array = gram_value_format_of(state->own.rows) != GRAM_VALUES_TEXT && !state->own.at;
    const gram_status status = array ? gram_learner_write_values(session->context, state->learner, state->model,
                                                                 state->own.reconstruct, state->own.rows)
                                     : add_rows(session, state, &text);
    int code = status >= 0     ? CLI_DONE
               : state->own.at ? cli_data_unread(session, status, NULL)
                               : cli_session_fail(session, status, 0, NULL);
    if (code == CLI_DONE) cli_session_clear(session);
    if (code == CLI_DONE && !array) code = cli_write(session, state->own.rows, &text);
    gram_string_free(&text);
    return code;
}

static void write_table(cli_session *session, const void *report_, gram_string *text)
{
    const structure_state *state = report_;
    char size[GRAM_BYTES_SIZE];
    cli_lesson_print(text, gram_learner_lesson(state->learner));
    cli_model_report_print(session, text, state->description);
    gram_string_add(text, "\n");
    cli_add_label(text, "time, memory");
    gram_string_add(text, "%.2f s, %s\n", cli_session_seconds(session),
                    gram_bytes_format(gram_system_memory_peak(), size));
    if (state->own.model) cli_add_row(text, "model", state->own.model);
    if (state->own.rows) cli_add_row(text, "rows", state->own.rows);
    if (state->drawn) cli_add_row(text, "plot", state->drawn);
}

static void write_json(cli_session *session, const void *report_, gram_json *json)
{
    const structure_state *state = report_;
    gram_description_json(state->description, json);
    gram_json_string(json, "data", state->file);
    if (state->own.model) gram_json_string(json, "model", state->own.model);
    if (state->own.rows) gram_json_string(json, "out", state->own.rows);
    cli_json_end(session, json, state->drawn);
}

/* Beside rows on standard output there is no report. */
static int finish(cli_session *session, structure_state *state)
{
    int code = cli_model_report_find(session, state->model, state->own.model, &state->description);
    if (code == CLI_DONE) code = write_model(session, state);
    if (code == CLI_DONE) code = write_rows(session, state);
    const int drawn = code == CLI_DONE ? draw(session, state) : CLI_DONE;
    if (drawn != CLI_DONE) return drawn;
    if (code != CLI_DONE || structure_is_standard_output(state->own.rows)) return code;
    return cli_report_print(session, state, write_json, write_table);
}

/* ---- the verb ---- */

static int read_table(cli_session *session, const char *path, structure_state *state)
{
    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    options.format = (gram_format)state->own.format.value;
    options.text = GRAM_TEXT_CATEGORIES;
    options.keep_missing = 1;
    const gram_status status = gram_table_read(session->context, path, &options, &state->table);
    return status < 0 ? cli_session_fail(session, status, 1, NULL) : CLI_DONE;
}

/* The place of the column that colours. */
static int find_column(cli_session *session, structure_state *state)
{
    int64_t count = 0, *all = calloc((size_t)gram_table_columns(state->table), sizeof *all);
    if (!all) return cli_no_memory();
    const gram_status status = gram_table_find_columns(session->context, state->table, state->own.colour, all, &count);
    state->column = all[0];
    free(all);
    if (status < 0) return cli_session_fail(session, status, 1, "--colour takes the name or the place of a column.");
    if (count == 1) return CLI_DONE;
    return cli_fail(CLI_WRONG_USE, "Give its name or its place.", "%s: --colour takes one column", state->verb->name);
}

/* The column that colours is read with all others, and ignored unless features are listed. */
static int read_colours(cli_session *session, const char *path, structure_state *state)
{
    cli_settings *settings = &state->own.settings;
    const char *ignore = cli_setting(settings, "ignore");
    int code = read_table(session, path, state);
    if (code == CLI_DONE) code = find_column(session, state);
    if (code != CLI_DONE || cli_setting(settings, "features")) return code;
    gram_string_add(&state->ignore, "%s%s%s", ignore ? ignore : "", ignore ? "," : "", state->own.colour);
    if (state->ignore.failed) return cli_no_memory();
    cli_set(settings, "ignore", state->ignore.data);
    return CLI_DONE;
}

/* Of one file, or of two with the views of the rows. */
static int learn(cli_session *session, char **files, structure_state *state)
{
    const cli_settings *settings[] = {&state->own.settings, &state->methods.settings};
    const gram_format format = (gram_format)state->own.format.value;
    state->file = gram_data_name(files[0]);
    if (state->own.colour && files[1])
        return cli_fail(CLI_WRONG_USE, "Put the columns of both views into one file.",
                        "%s: --colour is for one file, not for two", state->verb->name);
    int code = state->own.colour ? read_colours(session, files[0], state) : CLI_DONE;
    if (code == CLI_DONE) code = cli_learner_begin(session, state->verb->name, settings, 2, 1, &state->learner);
    if (code == CLI_DONE) gram_learner_to_file(state->learner, state->own.model != NULL);
    if (code != CLI_DONE) return code;
    const gram_status status =
        state->table ? gram_learn_table(session->context, state->learner, state->table, state->file, &state->model)
        : files[1]   ? gram_learn_file_pair(session->context, state->learner, files[0], files[1], format, &state->model)
                     : gram_learn_file(session->context, state->learner, files[0], format, &state->model);
    return status < 0 ? cli_session_fail(session, status, 1, NULL) : CLI_DONE;
}

static int work(cli_session *session, char **operands, void *state_)
{
    structure_state *state = state_;
    const gram_verb *verb = state->verb;
    structure_options *own = &state->own;
    *(verb->out_is_model ? &own->model : &own->rows) = session->out;
    int code = structure_add_settings(verb, &state->methods, verb->kernel_operand ? operands[0] : NULL, &own->settings);
    if (code == CLI_DONE) code = structure_check_use(session, verb, own);
    if (code == CLI_DONE) code = structure_check_picture(session, verb, own);
    if (code == CLI_DONE) code = learn(session, operands + verb->kernel_operand, state);
    return code == CLI_DONE ? finish(session, state) : code;
}

static void release(void *state_)
{
    structure_state *state = state_;
    gram_description_destroy(state->description);
    gram_learner_destroy(state->learner);
    gram_model_destroy(state->model);
    gram_table_destroy(state->table);
    gram_string_free(&state->ignore);
}

static int run(structure_state *state, int count, char **arguments)
{
    const gram_verb *verb = state->verb = state->methods.first.verb;
    const int first = verb->kernel_operand, most = first + (verb->tables > 1 ? verb->tables : 1);
    const cli_usage usage = {
        verb->name, verb->operands, verb->about, verb->examples,
        first + 1,  most,           NULL,        verb->out ? verb->out : "write the result to FILE"};
    cli_common common = {0};
    structure_groups options;
    structure_groups_make(&state->methods, &state->own, &common, &options);
    const cli_job job = {&usage, options.groups, options.count, work, release, state};
    return cli_run(&job, count, arguments);
}

int cli_structure(int count, char **arguments)
{
    structure_state *state = calloc(1, sizeof *state);
    if (!state) return cli_no_memory();
    int code = cli_method_options_make(&state->methods, arguments[0]);
    if (code == CLI_DONE) code = run(state, count, arguments);
    cli_method_options_free(&state->methods);
    free(state);
    return code;
}

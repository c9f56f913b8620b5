/* The verbs that methods bring: gram pca, gram cluster, ... What they are called, what they take and what their help says comes
 * from the rows of the method table; here a table is read, learnt from, and what the model says of its rows is written. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/eigen_picture.h"
#include "cli/plot/gnuplot.h"
#include "cli/report/kernel_text.h"
#include "cli/report/lesson_report.h"
#include "cli/report/model_report.h"
#include "cli/report/report_rows.h"
#include "cli/report/value_rows.h"
#include "cli/terminal/data_origin.h"
#include "cli/terminal/learner_begin.h"
#include "cli/terminal/settings_groups.h"

typedef struct structure_options {
    cli_chosen format;
    const char *model, *rows; /* files for the model, and for what it says of the rows */
    const char *at;           /* the file of other rows, of which it says it */
    const char *plot;
    cli_settings settings;
} structure_options;

typedef struct structure_state {
    const gram_verb *verb;
    structure_options own;
    cli_method_options methods;
    const char *file; /* of the data */
    gram_learner *learner;
    gram_model *model;
    cli_model_report report;
} structure_state;

#define PLACE(field) offsetof(structure_options, field)

/* The first two are for verbs of several methods, and for those whose kernel is no operand; their help is made. The
 * others are for verbs whose -o is not the model, and for those that say what `at` or `plot` is. */
enum { METHOD_OPTION, KERNEL_OPTION, MODEL_OPTION, AT_OPTION, PLOT_OPTION, OWN_OPTIONS };
static const cli_option own_options[OWN_OPTIONS] = {
    CLI_ROW("method", CLI_SETTING, PLACE(settings), "NAME", NULL),
    CLI_ROW("kernel", CLI_SETTING, PLACE(settings), "E", NULL),
    CLI_ROW("model", CLI_TEXT, PLACE(model), "FILE", "write the model to FILE, for `gram predict`"),
    CLI_ROW("at", CLI_TEXT, PLACE(at), "FILE", NULL),
    CLI_ROW("plot", CLI_TEXT, PLACE(plot), "FILE", NULL),
};

enum { SCALE_OPTION = 4 };
static const cli_option data_options[] = {
    CLI_ROW("features", CLI_SETTING, PLACE(settings), "LIST", "the columns to use, e.g. x1,x3:x5,7 (default: all)"),
    CLI_ROW("ignore", CLI_SETTING, PLACE(settings), "LIST", "the columns to leave out"),
    CLI_ROW("weights", CLI_SETTING, PLACE(settings), "COL", "a column with the weights of the rows"),
    CLI_ROW("missing", CLI_SETTING, PLACE(settings), "HOW", "drop rows with missing values, or use the mean"),
    CLI_ROW("no-scale", CLI_NO, PLACE(settings), NULL, "take the features as they are, do not standardise"),
    CLI_ROW_CHOICE("format", PLACE(format), "FORMAT", cli_formats, CLI_FORMAT_HELP),
};
enum { DATA_OPTIONS = sizeof data_options / sizeof *data_options };

static const cli_option scale_option = CLI_ROW("scale", CLI_YES, PLACE(settings), NULL, "standardise the features");

/* ---- results ---- */

static int is_standard_output(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

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
        cli_add_value_rows(text, columns, piece->data, piece->values, columns->ld);
        status = gram_predict_stream_next(session->context, source, &piece);
    }
    gram_predict_stream_close(source);
    return status;
}

/* What the model says of the rows that it was learnt from, one row for each row of the file. */
static gram_status add_rows(cli_session *session, const structure_state *state, gram_string *text)
{
    const gram_prepared *data = gram_learner_lesson(state->learner)->data;
    gram_predictor *predictor = NULL;
    double *values = NULL;
    gram_status status = gram_predictor_create(session->context, state->model, NULL, &predictor);
    if (status >= 0 && state->own.at) {
        cli_add_value_names(text, gram_predictor_columns(predictor));
        status = add_other_rows(session, state, predictor, text);
    } else if (status >= 0) {
        const gram_columns *columns = gram_predictor_columns(predictor);
        values = calloc((size_t)(data->n * columns->count), sizeof *values);
        status = values ? gram_learner_values(session->context, state->learner, state->model, values, columns->count)
                        : GRAM_ERROR_MEMORY;
        cli_add_value_names(text, columns);
        if (status >= 0) cli_add_value_rows(text, columns, data, values, columns->count);
    }
    free(values);
    gram_predictor_destroy(predictor);
    return status;
}

static int is_npy(const char *path)
{
    const size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".npy") == 0;
}

/* The same as an array of NumPy; rows without values are NaN. */
static gram_status write_array(cli_session *session, const structure_state *state)
{
    const gram_prepared *data = gram_learner_lesson(state->learner)->data;
    gram_predictor *predictor = NULL;
    gram_npy *file = NULL;
    gram_status status = gram_predictor_create(session->context, state->model, NULL, &predictor);
    const int64_t columns = status >= 0 ? gram_predictor_columns(predictor)->count : 0;
    if (status >= 0) status = gram_npy_create(session->context, state->own.rows, data->table_rows, columns, &file);
    double *values = status >= 0 ? gram_npy_numbers(file) : NULL;
    if (status >= 0) status = gram_learner_values(session->context, state->learner, state->model, values, columns);
    for (int64_t row = data->table_rows - 1, i = data->n - 1; status >= 0 && data->rows && row >= 0; row--) {
        const int kept = i >= 0 && data->rows[i] == row;
        for (int64_t j = 0; j < columns; j++) values[row * columns + j] = kept ? values[i * columns + j] : NAN;
        i -= kept;
    }
    if (status >= 0) status = gram_npy_finish(session->context, file);
    gram_npy_destroy(file);
    gram_predictor_destroy(predictor);
    return status;
}

static int write_rows(cli_session *session, const structure_state *state)
{
    gram_string text = {0};
    if (!state->own.rows) return CLI_DONE;
    const int array = is_npy(state->own.rows) && !state->own.at;
    const gram_status status = array ? write_array(session, state) : add_rows(session, state, &text);
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
    cli_model_report_print(session, text, &state->report);
    gram_string_add(text, "\n");
    cli_add_label(text, "time, memory");
    gram_string_add(text, "%.2f s, %s\n", cli_session_seconds(session),
                    gram_bytes_format(gram_system_memory_peak(), size));
    if (state->own.model) cli_add_row(text, "model", state->own.model);
    if (state->own.rows) cli_add_row(text, "rows", state->own.rows);
    if (state->own.plot) cli_add_row(text, "plot", state->own.plot);
}

static void write_json(cli_session *session, const void *report_, gram_json *json)
{
    const structure_state *state = report_;
    cli_model_report_json(json, &state->report);
    gram_json_string(json, "data", state->file);
    if (state->own.model) gram_json_string(json, "model", state->own.model);
    if (state->own.rows) gram_json_string(json, "out", state->own.rows);
    cli_json_end(session, json, state->own.plot);
}

static int draw(cli_session *session, const structure_state *state)
{
    if (!state->own.plot) return CLI_DONE;
    char *kernel = cli_kernel_text(gram_function_kernel(gram_model_function(state->model)));
    const cli_eigen_picture picture = {state->model, kernel, state->file, gram_learner_lesson(state->learner)->data};
    const int code = kernel ? cli_eigen_picture_draw(session, state->own.plot, &picture) : cli_no_memory();
    free(kernel);
    return code;
}

/* Beside rows on standard output there is no report. */
static int finish(cli_session *session, structure_state *state)
{
    int code = cli_model_report_find(session, state->model, state->own.model, &state->report);
    if (code == CLI_DONE) code = write_model(session, state);
    if (code == CLI_DONE) code = write_rows(session, state);
    if (code == CLI_DONE) code = draw(session, state);
    if (code != CLI_DONE || is_standard_output(state->own.rows)) return code;
    return cli_report_print(session, state, write_json, write_table);
}

/* ---- the verb ---- */

static int check_use(cli_session *session, const structure_state *state)
{
    const structure_options *own = &state->own;
    const char *verb = state->verb->name;
    if (is_standard_output(own->model))
        return cli_fail(CLI_WRONG_USE, "Give a file's name.", "%s: a model cannot be written to standard output", verb);
    if (session->common->json && is_standard_output(own->rows))
        return cli_fail(CLI_WRONG_USE, "Give -o a file's name.", "%s: --json and rows both on standard output", verb);
    if (own->at && !own->rows)
        return cli_fail(CLI_WRONG_USE, "Give -o FILE, or - for standard output.", "%s: --at writes rows to -o", verb);
    int code = own->plot ? cli_plot_check(session, own->plot) : CLI_DONE;
    if (code == CLI_DONE && own->model) code = cli_output_check(session, own->model);
    if (code == CLI_DONE && own->rows && !is_standard_output(own->rows)) code = cli_output_check(session, own->rows);
    return code;
}

/* Is it a method of the verb? */
static int is_method(const gram_verb *verb, const char *name)
{
    for (int64_t i = 0; i < gram_method_count(); i++) {
        gram_method_facts method = {.size = sizeof method};
        gram_method_describe(i, &method);
        if (method.verb == verb && strcmp(method.name, name) == 0) return 1;
    }
    return 0;
}

/* The method of a verb that has one, or the first of several; a kernel that is an operand. */
static int add_settings(const gram_verb *verb, const cli_method_options *methods, char **operands,
                        cli_settings *settings)
{
    const char *named = NULL;
    char help[256];
    for (size_t i = 0; i < settings->count; i++)
        if (strcmp(settings->given[i].name, "method") == 0) named = settings->given[i].value;
    (void)snprintf(help, sizeof help, "It may be %s.", methods->names.data);
    if (named && !is_method(verb, named))
        return cli_fail(CLI_WRONG_USE, help, "%s: --method cannot be '%s'", verb->name, named);
    if (!named) settings->given[settings->count++] = (cli_given){"method", methods->first.name};
    if (verb->kernel_operand) settings->given[settings->count++] = (cli_given){"kernel", operands[0]};
    return CLI_DONE;
}

/* Of one file, or of two with the views of the rows. */
static int learn(cli_session *session, char **files, structure_state *state)
{
    const cli_settings *settings[] = {&state->own.settings, &state->methods.settings};
    const gram_format format = (gram_format)state->own.format.value;
    state->file = cli_data_name(files[0]);
    const int code = cli_learner_begin(session, state->verb->name, settings, 2, 1, &state->learner);
    if (code != CLI_DONE) return code;
    const gram_status status =
        files[1] ? gram_learn_file_pair(session->context, state->learner, files[0], files[1], format, &state->model)
                 : gram_learn_file(session->context, state->learner, files[0], format, &state->model);
    return status < 0 ? cli_session_fail(session, status, 1, NULL) : CLI_DONE;
}

static int work(cli_session *session, char **operands, void *state_)
{
    structure_state *state = state_;
    *(state->verb->out_is_model ? &state->own.model : &state->own.rows) = session->out;
    int code = add_settings(state->verb, &state->methods, operands, &state->own.settings);
    if (code == CLI_DONE) code = check_use(session, state);
    if (code == CLI_DONE) code = learn(session, operands + state->verb->kernel_operand, state);
    return code == CLI_DONE ? finish(session, state) : code;
}

static void release(void *state_)
{
    structure_state *state = state_;
    cli_model_report_free(&state->report);
    gram_learner_destroy(state->learner);
    gram_model_destroy(state->model);
}

static int run(structure_state *state, int count, char **arguments)
{
    const cli_method_options *methods = &state->methods;
    const gram_verb *verb = state->verb = methods->first.verb;
    const int first = verb->kernel_operand, most = first + (verb->tables > 1 ? verb->tables : 1);
    const cli_usage usage = {
        verb->name, verb->operands, verb->about, verb->examples,
        first + 1,  most,           NULL,        verb->out ? verb->out : "write the result to FILE"};
    cli_common common = {0};
    cli_option mine[OWN_OPTIONS], data[DATA_OPTIONS];
    cli_group groups[CLI_MOST_METHODS + 4];
    size_t group_count = 1, mine_count = 0;
    memcpy(data, data_options, sizeof data);
    if (methods->first.unscaled) data[SCALE_OPTION] = scale_option;
    for (int i = 0; i < OWN_OPTIONS; i++) {
        if (i == METHOD_OPTION   ? methods->method_count < 2
            : i == KERNEL_OPTION ? verb->kernel_operand
            : i == AT_OPTION     ? !verb->at
            : i == PLOT_OPTION   ? !verb->plot
                                 : verb->out_is_model)
            continue;
        mine[mine_count] = own_options[i];
        if (i == METHOD_OPTION) mine[mine_count].help = methods->names.data;
        if (i == KERNEL_OPTION) mine[mine_count].help = methods->kernels.data;
        if (i == AT_OPTION) mine[mine_count].help = verb->at;
        if (i == PLOT_OPTION) mine[mine_count].help = verb->plot;
        mine_count++;
    }
    groups[0] = (cli_group){"Options", mine, mine_count, &state->own};
    for (size_t g = 0; g < methods->group_count; g++)
        if (methods->groups[g].count > 0) groups[group_count++] = methods->groups[g];
    groups[group_count++] = (cli_group){"Data", data, DATA_OPTIONS, &state->own};
    groups[group_count++] = cli_common_group(&common);
    const cli_job job = {&usage, groups, group_count, work, release, state};
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

/* The verbs that methods bring: gram pca, gram cluster, ... What they are called, what they take and what their help says comes
 * from the rows of the method table; here a table is read, learnt from, and what the model says of its rows is written. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/descent_picture.h"
#include "cli/plot/eigen_picture.h"
#include "cli/plot/gnuplot.h"
#include "cli/plot/structure_picture.h"
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
    int reconstruct;
    const char *plot, *show, *colour;
    cli_settings settings;
} structure_options;

typedef struct structure_state {
    const gram_verb *verb;
    structure_options own;
    cli_method_options methods;
    const char *file; /* of the data */
    const char *drawn;
    gram_table *table; /* held for the column that colours a picture */
    int64_t column;
    char first_picture[32];
    gram_string ignore; /* that column beside those that are ignored */
    gram_learner *learner;
    gram_model *model;
    gram_description *description;
} structure_state;

#define PLACE(field) offsetof(structure_options, field)

/* The first two are for verbs of several methods, and for those whose kernel is no operand; their help is made. The others are for
 * verbs whose -o is not the model, for methods that reconstruct, and for those that say what `at` or `plot` is. */
enum { METHOD_OPTION, KERNEL_OPTION, MODEL_OPTION, RECONSTRUCT_OPTION, AT_OPTION, PLOT_OPTION, OWN_OPTIONS };
static const cli_option own_options[OWN_OPTIONS] = {
    CLI_ROW("method", CLI_SETTING, PLACE(settings), "NAME", NULL),
    CLI_ROW("kernel", CLI_SETTING, PLACE(settings), "E", NULL),
    CLI_ROW("model", CLI_TEXT, PLACE(model), "FILE", "write the model to FILE, for `gram predict`"),
    CLI_ROW_FLAG("reconstruct", PLACE(reconstruct), "-o writes rows made of their coordinates, in the columns of DATA"),
    CLI_ROW("at", CLI_TEXT, PLACE(at), "FILE", NULL),
    CLI_ROW("plot", CLI_TEXT, PLACE(plot), "FILE", NULL),
};

/* The first two are for verbs whose methods have a target. */
enum { TARGET_OPTIONS = 2, SCALE_OPTION = 6 };
static const cli_option data_options[] = {
    CLI_ROW("target", CLI_SETTING, PLACE(settings), "LIST", "the target columns (default: the last)"),
    CLI_ROW("task", CLI_SETTING, PLACE(settings), "TASK", "regression or classification (default: by the target)"),
    CLI_ROW("features", CLI_SETTING, PLACE(settings), "LIST", "the columns to use, e.g. x1,x3:x5,7 (default: all)"),
    CLI_ROW("ignore", CLI_SETTING, PLACE(settings), "LIST", "the columns to leave out"),
    CLI_ROW("weights", CLI_SETTING, PLACE(settings), "COL", "a column with the weights of the rows"),
    CLI_ROW("missing", CLI_SETTING, PLACE(settings), "HOW", "drop rows with missing values, or use the mean"),
    CLI_ROW("no-scale", CLI_NO, PLACE(settings), NULL, "take the features as they are, do not standardise"),
    CLI_ROW_CHOICE("format", PLACE(format), "FORMAT", cli_formats, CLI_FORMAT_HELP),
};
enum { DATA_OPTIONS = sizeof data_options / sizeof *data_options };

/* For verbs that have pictures; help of the second is made, and only where there are several. */
enum { SHOW_OPTION = 1, PLOT_OPTIONS = 3 };
static const cli_option plot_options[PLOT_OPTIONS] = {
    CLI_ROW("plot", CLI_TEXT, PLACE(plot), "FILE", "draw a picture: .svg, .png or .pdf (by gnuplot)"),
    CLI_ROW("show", CLI_TEXT, PLACE(show), "WHAT", NULL),
    CLI_ROW("colour", CLI_TEXT, PLACE(colour), "COL",
            "colour the picture by a column, which is no feature then unless --features lists it"),
};

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

/* The model with what is asked of it; rows made of coordinates if `reconstruct`. */
static gram_status open_predictor(cli_session *session, const structure_state *state, int reconstruct,
                                  gram_predictor **predictor)
{
    gram_predict_options wish;
    gram_predict_options_init(&wish, sizeof wish);
    wish.reconstruct = reconstruct;
    wish.dashes = "--";
    wish.who = state->verb->name;
    return gram_predictor_create(session->context, state->model, &wish, predictor);
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
    gram_status status = open_predictor(session, state, state->own.reconstruct, &predictor);
    if (status >= 0) cli_add_value_names(text, gram_predictor_columns(predictor));
    if (status >= 0 && state->own.at) {
        status = add_other_rows(session, state, predictor, text);
    } else if (status >= 0) {
        const gram_columns *columns = gram_predictor_columns(predictor);
        values = calloc((size_t)(data->n * columns->count), sizeof *values);
        status = fill_values(session, state, predictor, state->own.reconstruct, values);
        if (status >= 0) cli_add_value_rows(text, columns, data, values, columns->count);
    }
    free(values);
    gram_predictor_destroy(predictor);
    return status;
}

/* The picture of what it says of the rows. */
static gram_status draw_values(cli_session *session, const structure_state *state, int *code)
{
    const gram_prepared *data = gram_learner_lesson(state->learner)->data;
    gram_predictor *predictor = NULL;
    gram_status status = open_predictor(session, state, 0, &predictor);
    const int64_t count = status < 0 ? 0 : gram_predictor_columns(predictor)->count;
    double *values = calloc((size_t)(data->n * count + 1), sizeof *values);
    if (status >= 0) status = fill_values(session, state, predictor, 0, values);
    const cli_structure_picture picture = {state->own.show, state->model, state->file,  data,
                                           values,          count,        state->table, state->column};
    if (status >= 0) *code = cli_structure_picture_draw(session, state->own.plot, &picture);
    free(values);
    gram_predictor_destroy(predictor);
    return status;
}

static int draw_functions(cli_session *session, const structure_state *state)
{
    if (cli_is_descent(state->model))
        return cli_descent_picture_draw(session, state->own.plot, state->model,
                                        gram_learner_lesson(state->learner)->data);
    const cli_eigen_picture picture = {state->model, state->file, gram_learner_lesson(state->learner)->data};
    return cli_eigen_picture_draw(session, state->own.plot, &picture);
}

static int draw(cli_session *session, structure_state *state)
{
    int code = CLI_DONE;
    if (!state->own.plot) return CLI_DONE;
    const gram_status status = state->verb->pictures ? draw_values(session, state, &code) : GRAM_OK;
    if (status < 0) code = cli_session_fail(session, status, 0, NULL);
    if (!state->verb->pictures) code = draw_functions(session, state);
    if (code == CLI_DONE) state->drawn = state->own.plot;
    return code;
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
    gram_status status = open_predictor(session, state, state->own.reconstruct, &predictor);
    const int64_t columns = status >= 0 ? gram_predictor_columns(predictor)->count : 0;
    if (status >= 0) status = gram_npy_create(session->context, state->own.rows, data->table_rows, columns, &file);
    double *values = status >= 0 ? gram_npy_numbers(file) : NULL;
    if (status >= 0) status = fill_values(session, state, predictor, state->own.reconstruct, values);
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
    if (own->reconstruct && !own->rows)
        return cli_fail(CLI_WRONG_USE, "Give -o FILE, or - for standard output.", "%s: --reconstruct writes rows to -o",
                        verb);
    if (own->at && !own->rows)
        return cli_fail(CLI_WRONG_USE, "Give -o FILE, or - for standard output.", "%s: --at writes rows to -o", verb);
    int code = own->model ? cli_output_check(session, own->model) : CLI_DONE;
    if (code == CLI_DONE && own->rows && !is_standard_output(own->rows)) code = cli_output_check(session, own->rows);
    return code;
}

static int has_word(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0')) return length > 0;
    return 0;
}

/* What is drawn, and by what it is coloured. */
static int check_picture(cli_session *session, structure_state *state)
{
    structure_options *own = &state->own;
    char help[128];
    const char *pictures = state->verb->pictures ? state->verb->pictures : "";
    if ((own->show || own->colour) && !own->plot)
        return cli_fail(CLI_WRONG_USE, "Give --plot FILE.", "%s: --%s is for a picture", state->verb->name,
                        own->show ? "show" : "colour");
    (void)snprintf(help, sizeof help, "It may be one of: %s.", pictures);
    if (own->show && !has_word(pictures, own->show))
        return cli_fail(CLI_WRONG_USE, help, "%s: --show cannot be '%s'", state->verb->name, own->show);
    (void)snprintf(state->first_picture, sizeof state->first_picture, "%.*s", (int)strcspn(pictures, " "), pictures);
    if (!own->show) own->show = state->first_picture;
    return own->plot ? cli_plot_check(session, own->plot) : CLI_DONE;
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

/* The column that colours is read with all others, and ignored unless features are listed. */
static int read_colours(cli_session *session, const char *path, structure_state *state)
{
    gram_table_options options;
    int64_t count = 0, columns[1];
    const char *features = NULL, *ignore = NULL;
    cli_settings *settings = &state->own.settings;
    size_t place = settings->count;
    for (size_t i = 0; i < settings->count; i++) {
        if (strcmp(settings->given[i].name, "features") == 0) features = settings->given[i].value;
        if (strcmp(settings->given[i].name, "ignore") == 0) ignore = settings->given[place = i].value;
    }
    gram_table_options_init(&options, sizeof options);
    options.format = (gram_format)state->own.format.value;
    options.text = GRAM_TEXT_CATEGORIES;
    options.keep_missing = 1;
    gram_status status = gram_table_read(session->context, path, &options, &state->table);
    if (status < 0) return cli_session_fail(session, status, 1, NULL);
    int64_t *all = calloc((size_t)gram_table_columns(state->table), sizeof *all);
    if (!all) return cli_no_memory();
    status = gram_table_find_columns(session->context, state->table, state->own.colour, all, &count);
    columns[0] = all[0];
    free(all);
    if (status < 0) return cli_session_fail(session, status, 1, "--colour takes the name or the place of a column.");
    if (count != 1)
        return cli_fail(CLI_WRONG_USE, "Give its name or its place.", "%s: --colour takes one column",
                        state->verb->name);
    state->column = columns[0];
    if (features) return CLI_DONE;
    gram_string_add(&state->ignore, "%s%s%s", ignore ? ignore : "", ignore ? "," : "", state->own.colour);
    settings->given[place] = (cli_given){"ignore", state->ignore.data};
    if (place == settings->count) settings->count++;
    return state->ignore.failed ? cli_no_memory() : CLI_DONE;
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
    *(state->verb->out_is_model ? &state->own.model : &state->own.rows) = session->out;
    int code = add_settings(state->verb, &state->methods, operands, &state->own.settings);
    if (code == CLI_DONE) code = check_use(session, state);
    if (code == CLI_DONE) code = check_picture(session, state);
    if (code == CLI_DONE) code = learn(session, operands + state->verb->kernel_operand, state);
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
    const cli_method_options *methods = &state->methods;
    const gram_verb *verb = state->verb = methods->first.verb;
    const int first = verb->kernel_operand, most = first + (verb->tables > 1 ? verb->tables : 1);
    const cli_usage usage = {
        verb->name, verb->operands, verb->about, verb->examples,
        first + 1,  most,           NULL,        verb->out ? verb->out : "write the result to FILE"};
    cli_common common = {0};
    cli_option mine[OWN_OPTIONS], data[DATA_OPTIONS], plot[PLOT_OPTIONS];
    cli_group groups[CLI_MOST_METHODS + 5];
    char pictures[128];
    size_t group_count = 1, mine_count = 0, plot_count = 0;
    memcpy(data, data_options, sizeof data);
    if (methods->first.unscaled) data[SCALE_OPTION] = scale_option;
    for (int i = 0; i < OWN_OPTIONS; i++) {
        if (i == METHOD_OPTION   ? methods->method_count < 2
            : i == KERNEL_OPTION ? verb->kernel_operand || !methods->first.kernel
            : i == MODEL_OPTION  ? verb->out_is_model
            : i == AT_OPTION     ? !verb->at
            : i == PLOT_OPTION   ? !verb->plot
                                 : !methods->first.reconstructs)
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
    const unsigned with_target = 1u << GRAM_TASK_REGRESSION | 1u << GRAM_TASK_CLASSIFICATION;
    const size_t skipped = methods->first.tasks & with_target ? 0 : TARGET_OPTIONS;
    groups[group_count++] = (cli_group){"Data", data + skipped, DATA_OPTIONS - skipped, &state->own};
    (void)snprintf(pictures, sizeof pictures, "what to draw: %s (default: the first)",
                   verb->pictures ? verb->pictures : "");
    for (int i = 0; i < PLOT_OPTIONS && verb->pictures; i++) {
        if (i == SHOW_OPTION && !strchr(verb->pictures, ' ')) continue;
        plot[plot_count] = plot_options[i];
        if (i == SHOW_OPTION) plot[plot_count].help = pictures;
        plot_count++;
    }
    if (plot_count > 0) groups[group_count++] = (cli_group){"Pictures", plot, plot_count, &state->own};
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

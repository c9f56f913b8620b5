/* gram convert: models of LIBSVM become models of gram, and the other way round. The first file says which. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/report/kernel_text.h"
#include "cli/report/model_report.h"
#include "cli/report/report_rows.h"
#include "cli/terminal/data_origin.h"
#include "cli/terminal/options.h"

static const cli_usage usage = {
    "convert",
    "M1 M2",
    "Converts a support vector machine between LIBSVM's model files and gram's. M1 is read, and what it is decides:\n"
    "a model of LIBSVM becomes a model of gram, a model of gram (fitted with --no-scale) becomes one of LIBSVM.\n"
    "Columns of LIBSVM's data are x1, x2, ... and y, the label.\n",
    "  gram convert heart.model heart.gram\n"
    "  gram predict heart.gram heart.svm\n"
    "  gram fit heart.svm --no-scale -o heart.gram; gram convert heart.gram heart.model\n",
    1,
    2,
    NULL,
    "write the model to FILE instead of M2"};

typedef struct convert_state {
    const char *from, *to;
    int to_gram;
    gram_model *model;
    gram_description *description;
} convert_state;

/* ---- what M1 is ---- */

static int is_gram_file(const char *path)
{
    const size_t length = strlen(path);
    return length >= 5 && strcmp(path + length - 5, ".gram") == 0;
}

static int check_use(const char *out, char **operands, convert_state *state)
{
    if (operands[1] && out)
        return cli_fail(CLI_WRONG_USE, "Leave one of them out.", "convert: both M2 and --out say where to write");
    state->from = operands[0];
    state->to = operands[1] ? operands[1] : out;
    if (!state->to)
        return cli_fail(CLI_WRONG_USE, "Usage: gram convert M1 M2 [OPTIONS]", "convert: where to? M2 is missing");
    state->to_gram = !gram_model_is_file(state->from);
    if (state->to_gram && strcmp(state->to, "-") == 0)
        return cli_fail(CLI_WRONG_USE, "Give the name of a file, as in M.gram.",
                        "convert: a model of gram is not written to standard output");
    if (!state->to_gram && is_gram_file(state->to))
        return cli_fail(CLI_WRONG_USE, "A model of LIBSVM's has another ending, as in M.model.",
                        "convert: %s is a model of gram already", state->from);
    return CLI_DONE;
}

/* ---- the work ---- */

static int import_model(cli_session *session, convert_state *state)
{
    gram_status status = gram_model_read_libsvm(session->context, state->from, &state->model);
    if (status < 0) {
        return cli_session_fail(
            session, status, 1,
            status == GRAM_ERROR_FILE   ? "Models are made by `gram fit DATA -o M.gram`, or by LIBSVM's svm-train."
            : status == GRAM_ERROR_DATA ? "Models of LIBSVM are made by its svm-train."
            : status == GRAM_ERROR_UNSUPPORTED ? "Train it with another kernel, or fit its data by `gram fit`."
                                               : NULL);
    }
    status = gram_model_write(session->context, state->model, state->to);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

typedef struct text_sink {
    cli_stream stream;
    int code;
} text_sink;

static int put_text(void *user, const char *bytes, size_t length)
{
    text_sink *sink = user;
    gram_string text = {0};
    gram_string_put(&text, bytes, length);
    sink->code = cli_stream_put(&sink->stream, &text);
    gram_string_free(&text);
    return sink->code != CLI_DONE;
}

static int export_model(cli_session *session, convert_state *state)
{
    text_sink sink = {.code = CLI_DONE};
    int code = cli_model_read(session, state->from, &state->model);
    if (code != CLI_DONE) return code;
    code = cli_stream_open(session, state->to, &sink.stream);
    if (code != CLI_DONE) return code;
    const gram_status status = gram_model_print_libsvm(session->context, state->model, put_text, &sink);
    code = sink.code;
    if (status < 0 && code == CLI_DONE) {
        const int refused = status == GRAM_ERROR_UNSUPPORTED;
        code = cli_session_fail(session, status, 0,
                                refused ? "LIBSVM has classes that are whole numbers, and features as they are."
                                : status == GRAM_ERROR_DATA ? "Fit it again."
                                                            : NULL);
    }
    return cli_stream_close(&sink.stream, code);
}

/* ---- the report ---- */

static int64_t support_count(const gram_model *model)
{
    const gram_fact fact = gram_model_find(model, "n_support");
    return fact.kind == GRAM_FACT_INTEGER && fact.name
               ? fact.integer
               : gram_points_count(gram_function_centres(gram_model_function(model)));
}

static int64_t dimension_of(const gram_model *model)
{
    return gram_points_dimension(gram_function_centres(gram_model_function(model)));
}

static void write_json(cli_session *session, const void *report_, gram_json *json)
{
    const convert_state *state = report_;
    (void)session;
    gram_json_string(json, "from", state->from);
    gram_json_string(json, "model", state->to);
    gram_json_string(json, "format", state->to_gram ? "gram" : "libsvm");
    gram_json_string(json, "method", gram_model_method(state->model));
    gram_json_string(json, "task", gram_model_task(state->model));
    gram_json_kernel(json, "kernel", gram_function_kernel(gram_model_function(state->model)));
    const gram_classes *classes = gram_description_classes(state->description);
    if (classes->count > 0) gram_classes_json(classes, json);
    gram_json_integer(json, "n_support", support_count(state->model));
    gram_json_integer(json, "d", dimension_of(state->model));
    gram_json_truth(json, "probabilities", gram_model_array(state->model, "sigmoids", NULL, NULL) != NULL);
}

static void write_table(cli_session *session, const void *report_, gram_string *text)
{
    const convert_state *state = report_;
    (void)session;
    char count[CLI_SHORT_SIZE];
    const int64_t d = dimension_of(state->model);
    const char *const kinds[2] = {"model of gram", "model of LIBSVM"};
    cli_add_row(text, kinds[state->to_gram], state->from);
    cli_add_row(text, kinds[!state->to_gram], state->to);
    cli_add_label(text, "task");
    gram_string_add(text, "%s", gram_model_task(state->model));
    const gram_classes *classes = gram_description_classes(state->description);
    if (classes->count > 0) {
        gram_string_add(text, ", ");
        cli_classes_print(text, classes);
    }
    if (gram_model_array(state->model, "sigmoids", NULL, NULL)) gram_string_add(text, ", with probabilities");
    gram_string_add(text, "\n");
    cli_add_kernel(text, "kernel", gram_function_kernel(gram_model_function(state->model)));
    cli_add_label(text, "support vectors");
    gram_string_add(text, "%s in %" PRId64 " column%s\n", gram_count_format(support_count(state->model), count), d,
                    cli_plural(d));
}

/* The output itself may be on standard output: then there is no report. */
static int print_report(cli_session *session, convert_state *state)
{
    if (strcmp(state->to, "-") == 0) return CLI_DONE;
    const int code = cli_model_report_find(session, state->model, state->from, &state->description);
    return code == CLI_DONE ? cli_report_print(session, state, write_json, write_table) : code;
}

static int work(cli_session *session, char **operands, void *state_)
{
    convert_state *state = state_;
    int code = check_use(session->out, operands, state);
    if (code == CLI_DONE) code = state->to_gram ? import_model(session, state) : export_model(session, state);
    return code == CLI_DONE ? print_report(session, state) : code;
}

static void release(void *state_)
{
    convert_state *state = state_;
    gram_description_destroy(state->description);
    gram_model_destroy(state->model);
}

int cli_convert(int count, char **arguments)
{
    cli_common common = {0};
    convert_state state = {0};
    const cli_group groups[] = {cli_common_group(&common)};
    const cli_job job = {&usage, groups, 1, work, release, &state};
    return cli_run(&job, count, arguments);
}

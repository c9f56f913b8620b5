/* gram function: models as functions of their kernel's Hilbert space: norms, inner product, distance, sums, values and gradients. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/kernel_text.h"
#include "cli/report/report_rows.h"
#include "cli/terminal/data_origin.h"
#include "cli/terminal/options.h"

typedef struct function_options {
    const char *combine;
    const char *at;
    const char *values;
    cli_chosen format;
} function_options;

#define PLACE(field) offsetof(function_options, field)

static const cli_option own_options[] = {
    CLI_ROW("combine", CLI_TEXT, PLACE(combine), "S[,T]", "the function S f + T g (default: 1,1), for --at and --out"),
    CLI_ROW("at", CLI_TEXT, PLACE(at), "DATA", "its value and gradient at the rows of a table, as CSV"),
    CLI_ROW("values", CLI_TEXT, PLACE(values), "FILE", "where they go (default: standard output)"),
    CLI_ROW_CHOICE("format", PLACE(format), "F", cli_formats, CLI_FORMAT_HELP),
};

static const cli_usage usage = {"function",
                                "F.gram [G.gram]",
                                "What a model has learnt is a function of its kernel's Hilbert space: here it is one. "
                                "Of one model the norm, of two the inner\n"
                                "product <f, g> and the distance |f - g| too; constants and slopes that no penalty "
                                "acts on do not count in them. Sums are written as\n"
                                "models, which `gram predict` takes. Both models must have the same kernel, number for "
                                "number, and features that are prepared\n"
                                "alike (fit with --no-scale).\n",
                                "  gram function f.gram g.gram\n"
                                "  gram function f.gram g.gram --combine 1,-1 -o difference.gram\n"
                                "  gram function f.gram --at places.csv\n",
                                1,
                                2,
                                NULL,
                                "write the model of the sum to FILE"};

typedef struct function_state {
    function_options own;
    const char *files[2];
    gram_model *models[2];
    gram_model *sum; /* S f + T g; NULL: nobody asked */
    int count;
    double factors[2];
    int64_t outputs;
    double norms[2], inner, distance; /* roots of sums over outputs, and a sum */
    const char *written;
} function_state;

/* ---- reading ---- */

/* "S" or "S,T". */
static int read_factors(function_state *state)
{
    const char *text = state->own.combine;
    state->factors[0] = state->factors[1] = 1;
    for (int i = 0; text && i < 2; i++) {
        const size_t length = gram_number_parse(text, strlen(text), &state->factors[i]);
        const char after = length > 0 ? text[length] : 'x';
        if (after == '\0' && i == state->count - 1) return CLI_DONE;
        if (after != ',' || i == state->count - 1 || !isfinite(state->factors[i]))
            return cli_fail(CLI_WRONG_USE,
                            state->count == 2 ? "Two numbers for two models: --combine 1,-1."
                                              : "One number for one model: --combine 0.5.",
                            "function: --combine '%s'", state->own.combine);
        text += length + 1;
    }
    return CLI_DONE;
}

static int read_models(cli_session *session, char **operands, function_state *state)
{
    for (int i = 0; i < 2 && operands[i]; i++) {
        state->files[i] = operands[i];
        const int code = cli_model_read(session, operands[i], &state->models[i]);
        if (code != CLI_DONE) return code;
        state->count = i + 1;
    }
    if (state->own.values && !state->own.at)
        return cli_fail(CLI_WRONG_USE, "Give --at DATA.", "function: --values is where the values at --at go");
    return read_factors(state);
}

/* ---- numbers ---- */

/* A failure that is the models' own, not of reading them. */
static int fail(cli_session *session, gram_status status)
{
    return cli_session_fail(session, status, 0,
                            status == GRAM_ERROR_ARGUMENT
                                ? "Both must have one kernel (--tune none, or numbers that end in !) and --no-scale."
                                : NULL);
}

static gram_status measure(gram_context *context, function_state *state, double *work)
{
    const gram_function *f = gram_model_function(state->models[0]);
    gram_status status = GRAM_OK;
    double squares[3] = {0};
    for (int i = 0; i < state->count && status >= 0; i++) {
        status = gram_function_norm(context, gram_model_function(state->models[i]), work);
        for (int64_t o = 0; o < state->outputs && status >= 0; o++) squares[i] += work[o] * work[o];
    }
    if (state->count == 2 && status >= 0)
        status = gram_function_inner(context, f, gram_model_function(state->models[1]), work);
    for (int64_t o = 0; o < state->outputs && status >= 0 && state->count == 2; o++) state->inner += work[o];
    if (state->count == 2 && status >= 0)
        status = gram_function_distance(context, f, gram_model_function(state->models[1]), work);
    for (int64_t o = 0; o < state->outputs && status >= 0 && state->count == 2; o++) squares[2] += work[o] * work[o];
    state->norms[0] = sqrt(squares[0]);
    state->norms[1] = sqrt(squares[1]);
    state->distance = sqrt(squares[2]);
    return status;
}

static int find_numbers(cli_session *session, function_state *state)
{
    gram_status status = GRAM_OK;
    state->outputs = gram_function_outputs(gram_model_function(state->models[0]));
    if (state->count == 2) status = gram_model_check_space(session->context, state->models[0], state->models[1]);
    if (status < 0) return fail(session, status);
    double *work = calloc((size_t)state->outputs, sizeof *work);
    if (!work) return cli_no_memory();
    status = measure(session->context, state, work);
    free(work);
    return status < 0 ? fail(session, status) : CLI_DONE;
}

/* ---- the sum ---- */

static int make_sum(cli_session *session, function_state *state)
{
    const int wanted = state->own.at || session->out;
    if (!wanted) return CLI_DONE;
    gram_status status = gram_model_combine(session->context, state->factors[0], state->models[0], state->factors[1],
                                            state->models[1], &state->sum);
    if (status >= 0 && session->out) status = gram_model_write(session->context, state->sum, session->out);
    state->written = session->out;
    return status < 0 ? fail(session, status) : CLI_DONE;
}

/* Rows of a table as the model's features. */
static gram_status read_rows(cli_session *session, const function_state *state, gram_prepared **data)
{
    gram_context *context = session->context;
    const gram_preparation *preparation = gram_model_preparation(state->sum);
    gram_table_options options;
    gram_table *table = NULL;
    gram_table_options_init(&options, sizeof options);
    options.format = (gram_format)state->own.format.value;
    gram_status status = gram_preparation_reading(preparation, &options);
    if (status >= 0) status = gram_table_read(context, state->own.at, &options, &table);
    if (status >= 0) status = gram_preparation_apply(context, preparation, table, 0, data);
    gram_table_destroy(table);
    return status;
}

/* Is the prepared column a number, so that there is a derivative by it? */
static int has_slope(const gram_preparation *preparation, int64_t column)
{
    const gram_column *features = gram_preparation_describe(preparation)->features;
    const gram_column *feature = &features[gram_preparation_feature_of(preparation, column)];
    return !feature->text && !(feature->log_size > 0); /* that of a logarithm is none of the feature */
}

static void add_names(gram_string *text, const gram_preparation *preparation, int64_t d, int64_t outputs)
{
    char name[256], field[320];
    for (int64_t o = 0; o < outputs; o++) {
        (void)snprintf(field, sizeof field, outputs > 1 ? "value_%" PRId64 : "value", o + 1);
        gram_string_add(text, "%s", o > 0 ? "," : "");
        gram_string_add_field(text, field);
        for (int64_t l = 0; l < d; l++) {
            if (!has_slope(preparation, l)) continue;
            (void)gram_preparation_column_name(preparation, l, name, sizeof name);
            (void)snprintf(field, sizeof field, outputs > 1 ? "d_%s_%" PRId64 : "d_%s", name, o + 1);
            gram_string_add(text, ",");
            gram_string_add_field(text, field);
        }
    }
    gram_string_add(text, "\n");
}

/* Slopes in the features' own units. */
static void add_row(gram_string *text, const gram_preparation *preparation, int64_t d, int64_t outputs,
                    const double *values, const double *slopes, int64_t next)
{
    char number[GRAM_NUMBER_SIZE];
    for (int64_t o = 0; o < outputs; o++) {
        gram_string_add(text, "%s%s", o > 0 ? "," : "", gram_number_format(values[o], number));
        for (int64_t l = 0; l < d; l++) {
            const double unit = gram_preparation_unit(preparation, l, 1) - gram_preparation_unit(preparation, l, 0);
            if (has_slope(preparation, l))
                gram_string_add(text, ",%s", gram_number_format(slopes[o * next + l] / unit, number));
        }
    }
    gram_string_add(text, "\n");
}

/* values: n x outputs; slopes: outputs x n x d. */
static gram_status evaluate(gram_context *context, const gram_function *f, const gram_prepared *data, double *values,
                            double *slopes)
{
    gram_points *points = NULL;
    const int64_t m = gram_function_outputs(f);
    gram_status status = gram_points_create_f64(context, data->n, data->d, data->x, data->d, &points);
    if (status >= 0) status = gram_function_evaluate(context, f, points, values, m);
    for (int64_t o = 0; o < m && status >= 0; o++)
        status = gram_function_gradient(context, f, o, points, slopes + o * data->n * data->d, data->d);
    gram_points_release(points);
    return status;
}

static int write_values(cli_session *session, const function_state *state, const gram_prepared *data)
{
    const gram_function *f = gram_model_function(state->sum);
    const gram_preparation *preparation = gram_model_preparation(state->sum);
    const int64_t n = data->n, d = data->d, m = gram_function_outputs(f);
    gram_string text = {0};
    double *values = calloc((size_t)(n * m * (1 + d)) + 1, sizeof *values);
    if (!values) return cli_no_memory();
    const gram_status status = evaluate(session->context, f, data, values, values + n * m);
    int code = status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
    add_names(&text, preparation, d, m);
    for (int64_t i = 0; i < n && code == CLI_DONE; i++)
        add_row(&text, preparation, d, m, values + i * m, values + n * m + i * d, n * d);
    if (code == CLI_DONE) code = cli_write(session, state->own.values, &text);
    gram_string_free(&text);
    free(values);
    return code;
}

static int find_values(cli_session *session, function_state *state)
{
    gram_prepared *data = NULL;
    if (!state->own.at) return CLI_DONE;
    if (!gram_model_preparation(state->sum))
        return cli_fail(CLI_WRONG_USE, "Use a model that `gram fit` made.", "function: --at: %s has no columns",
                        state->files[0]);
    const gram_status status = read_rows(session, state, &data);
    const int code = status < 0 ? cli_data_unread(session, status, NULL) : write_values(session, state, data);
    gram_prepared_destroy(data);
    return code;
}

/* ---- the report ---- */

static double cosine_of(const function_state *state)
{
    return state->inner / (state->norms[0] * state->norms[1]);
}

static void write_json(cli_session *session, const void *report_, gram_json *json)
{
    const function_state *state = report_;
    gram_json_string(json, "f", state->files[0]);
    if (state->count == 2) gram_json_string(json, "g", state->files[1]);
    gram_json_kernel(json, "kernel", gram_function_kernel(gram_model_function(state->models[0])));
    gram_json_integer(json, "outputs", state->outputs);
    gram_json_number(json, "norm", state->norms[0]);
    if (state->count == 2) {
        gram_json_number(json, "norm_g", state->norms[1]);
        gram_json_number(json, "inner", state->inner);
        gram_json_number(json, "distance", state->distance);
        gram_json_number(json, "cosine", cosine_of(state));
    }
    if (state->written) gram_json_string(json, "model", state->written);
    if (state->own.at) gram_json_string(json, "values", state->own.values ? state->own.values : "-");
    cli_json_end(session, json, NULL);
}

static void write_table(cli_session *session, const void *report_, gram_string *text)
{
    const function_state *state = report_;
    (void)session;
    for (int i = 0; i < state->count; i++) {
        const gram_function *f = gram_model_function(state->models[i]);
        char number[CLI_SHORT_SIZE];
        const int64_t centres = gram_points_count(gram_function_centres(f));
        cli_add_label(text, i == 0 ? "f" : "g");
        gram_string_add(text, "%s: norm %s, %" PRId64 " centre%s\n", state->files[i],
                        cli_short_number(state->norms[i], number), centres, cli_plural(centres));
    }
    cli_add_kernel(text, "kernel", gram_function_kernel(gram_model_function(state->models[0])));
    if (state->count == 2) {
        cli_add_number(text, "inner product", state->inner);
        cli_add_number(text, "distance", state->distance);
        cli_add_number(text, "cosine", cosine_of(state));
    }
    if (state->written) cli_add_row(text, "model", state->written);
    if (state->own.at && state->own.values) cli_add_row(text, "values", state->own.values);
}

/* ---- the verb ---- */

static int work(cli_session *session, char **operands, void *state_)
{
    function_state *state = state_;
    int code = read_models(session, operands, state);
    if (code == CLI_DONE) code = find_numbers(session, state);
    if (code == CLI_DONE) code = make_sum(session, state);
    if (code == CLI_DONE) code = find_values(session, state);
    if (code != CLI_DONE || (state->own.at && !state->own.values)) return code; /* the values are the output */
    return cli_report_print(session, state, write_json, write_table);
}

static void release(void *state_)
{
    function_state *state = state_;
    gram_model_destroy(state->models[0]);
    gram_model_destroy(state->models[1]);
    gram_model_destroy(state->sum);
}

int cli_function(int count, char **arguments)
{
    cli_common common = {0};
    function_state state = {0};
    const cli_group groups[] = {{"Options", own_options, sizeof own_options / sizeof *own_options, &state.own},
                                cli_common_group(&common)};
    const cli_job job = {&usage, groups, 2, work, release, &state};
    return cli_run(&job, count, arguments);
}

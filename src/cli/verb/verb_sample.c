/* gram sample: draws from a Gaussian process, prior or posterior. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/kernel_text.h"
#include "cli/report/report_rows.h"
#include "cli/terminal/data_origin.h"
#include "cli/terminal/options.h"

typedef struct sample_options {
    const char *grid, *at, *plot;
    int64_t draws;
    int observed;
} sample_options;

#define PLACE(field) offsetof(sample_options, field)

static const cli_option own_options[] = {
    CLI_ROW("grid", CLI_TEXT, PLACE(grid), "a:b:n", "draw at n values from a to b; with commas for several dimensions"),
    CLI_ROW("at", CLI_TEXT, PLACE(at), "FILE", "draw at the rows of a table instead"),
    CLI_ROW_INTEGER("draws", PLACE(draws), "D", 1, 1000000, "how many functions to draw (default 10)"),
    CLI_ROW_FLAG("observed", PLACE(observed), "of a model: draws of observations, with its noise"),
    CLI_ROW("plot", CLI_TEXT, PLACE(plot), "FILE",
            "draw them, with 95 % bands, over one or two dimensions: .svg, .png or .pdf (by gnuplot)"),
};

static const cli_usage usage = {
    "sample",
    "E|M.gram --grid a:b:n",
    "Draws functions from the Gaussian process with mean 0 and the kernel E, or from the posterior of a model that\n"
    "`gram fit` wrote for a Gaussian process, jointly at all points, and prints them as CSV: the "
    "point, then one column for each draw.\nThe same seed gives the same draws. Numbers left out in E are set by the "
    "median heuristic. Kernels on the line with a\nfinite state (matern(nu=1.5), min, ...) are drawn exactly in O(n); "
    "others jointly up to 5,000 points, and beyond as sums\nof cosines with random frequencies.\n",
    "  gram sample 'rbf(ell=1)' --grid 0:10:200 --draws 5 --plot prior.svg\n"
    "  gram sample 'min()' --grid 0:1:100000 --draws 3 -o brownian.csv\n"
    "  gram sample model.gram --grid 0:60:300 --plot posterior.png >draws.csv\n"
    "  gram sample 'matern(nu=2.5, ell=0.2)' --grid 0:1:60,0:1:60 --draws 4 --plot field.png >field.csv\n",
    1,
    1,
    NULL,
    "write the draws to FILE"};

typedef struct sample_state {
    sample_options own;
    const char *out;   /* of --out */
    gram_model *model; /* NULL: a prior */
    gram_kernel *kernel;
    gram_sampler *sampler;
    gram_draw_points *points;
    const gram_draw_points_report *at; /* what they are */
    double *values;                    /* n x draws */
    double *mean, *std;
    gram_draw_report drawn;
} sample_state;

/* ---- what is drawn from ---- */

static int is_model(const char *operand)
{
    const size_t length = strlen(operand);
    if (length > 5 && strcmp(operand + length - 5, ".gram") == 0) return 1;
    return access(operand, R_OK) == 0;
}

static int open_model(cli_session *session, const char *path, sample_state *state)
{
    const int code = cli_model_read(session, path, &state->model);
    if (code != CLI_DONE) return code;
    if (!gram_model_is_process(state->model))
        return cli_fail(CLI_WRONG_USE, "Models of Gaussian processes can be drawn from.",
                        "sample: %s is a model of the method %s", path, gram_model_method(state->model));
    if (!gram_model_preparation(state->model))
        return cli_fail(CLI_BAD_DATA, "Models with one are made by `gram fit DATA -o M.gram`.",
                        "%s: this model has no description of the columns that it takes", path);
    state->kernel = gram_kernel_retain(gram_function_kernel(gram_model_function(state->model)));
    const gram_status status = gram_sampler_of_model(session->context, state->model, &state->sampler);
    if (status == GRAM_ERROR_DATA || status == GRAM_ERROR_UNSUPPORTED)
        return cli_fail(cli_exit_code(status, 1), gram_context_advice(session->context), "%s: %s", path,
                        gram_context_message(session->context));
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

static int make_points(cli_session *session, sample_state *state)
{
    const gram_status status =
        state->own.at ? gram_draw_points_read(session->context, state->own.at, state->model, &state->points)
                      : gram_draw_points_of_grid(session->context, state->own.grid, state->model, &state->points);
    if (status == GRAM_ERROR_ARGUMENT)
        return cli_fail(
            CLI_WRONG_USE,
            "For example --grid 0:10:200, or 0:1:50,0:1:50 in two dimensions; --at FILE takes the rows of a table.",
            "sample: %s", gram_context_message(session->context));
    if (status < 0) return cli_data_unread(session, status, NULL);
    state->at = gram_draw_points_get_report(state->points);
    return CLI_DONE;
}

static int open_kernel(cli_session *session, const char *text, sample_state *state)
{
    gram_kernel *given = NULL;
    int code = cli_kernel_read(session, text, &given);
    if (code == CLI_DONE && state->own.observed)
        code = cli_fail(CLI_WRONG_USE, "Add + S*white() to the kernel.", "sample: --observed is for models");
    if (code == CLI_DONE) code = make_points(session, state);
    if (code == CLI_DONE) {
        gram_status status = gram_kernel_check_dimension(session->context, given, state->at->d);
        if (status >= 0) status = gram_kernel_resolve(session->context, given, state->at->points, &state->kernel);
        if (status >= 0) status = gram_sampler_of_kernel(session->context, state->kernel, &state->sampler);
        if (status < 0) code = cli_session_fail(session, status, 0, NULL);
    }
    gram_kernel_release(given);
    return code;
}

static int open_all(cli_session *session, const char *operand, sample_state *state)
{
    if (!is_model(operand)) return open_kernel(session, operand, state);
    const int code = open_model(session, operand, state);
    return code == CLI_DONE ? make_points(session, state) : code;
}

/* The draws and, for the bands, mean and deviation. */
static int draw(cli_session *session, sample_state *state)
{
    const gram_draw_points_report *at = state->at;
    const int64_t draws = state->own.draws;
    state->values = calloc((size_t)at->n * (size_t)draws, sizeof *state->values);
    state->mean = calloc((size_t)at->n, sizeof *state->mean);
    state->std = calloc((size_t)at->n, sizeof *state->std);
    if (!state->values || !state->mean || !state->std) return cli_no_memory();
    state->drawn.size = sizeof state->drawn;
    gram_status status = gram_sampler_draw(session->context, state->sampler, at->points, draws, state->own.observed,
                                           state->values, draws, &state->drawn);
    if (status >= 0 && state->own.plot)
        status = gram_sampler_moments(session->context, state->sampler, at->points, state->mean, state->std);
    if (status == GRAM_ERROR_BUDGET)
        return cli_session_fail(session, status, 0,
                                "Use fewer points, a kernel with a finite state on the line, or more --memory.");
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

/* ---- what is written ---- */

static void add_header(const sample_state *state, gram_string *text)
{
    for (int64_t j = 0; j < state->at->shown_columns; j++) {
        gram_string_add_field(text, state->at->names[j]);
        gram_string_add(text, ",");
    }
    for (int64_t j = 0; j < state->own.draws; j++)
        gram_string_add(text, "draw_%" PRId64 "%s", j + 1, j + 1 < state->own.draws ? "," : "\n");
}

static void add_row(const sample_state *state, int64_t i, gram_string *text)
{
    const int64_t columns = state->at->shown_columns, draws = state->own.draws;
    cli_add_values(text, columns, state->at->shown + i * columns, ",");
    cli_add_values(text, draws, state->values + i * draws, "\n");
}

static int write_draws(cli_session *session, const sample_state *state)
{
    enum { PIECE = 1 << 20 };
    cli_stream stream = {0};
    gram_string text = {0};
    int code = cli_stream_open(session, state->out, &stream);
    if (code != CLI_DONE) return code;
    add_header(state, &text);
    for (int64_t i = 0; i < state->at->n && code == CLI_DONE && !stream.gone; i++) {
        add_row(state, i, &text);
        if (text.length < PIECE && i + 1 < state->at->n) continue;
        code = cli_stream_put(&stream, &text);
        gram_string_free(&text);
        text = (gram_string){0};
    }
    gram_string_free(&text);
    return cli_stream_close(&stream, code);
}

static void json_values(gram_json *json, const sample_state *state)
{
    const gram_draw_points_report *at = state->at;
    gram_json_open(json, "points", '[');
    for (int64_t i = 0; i < at->n; i++)
        gram_json_numbers(json, NULL, at->shown_columns, at->shown + i * at->shown_columns, 1);
    gram_json_close(json, '[');
    gram_json_open(json, "values", '[');
    for (int64_t j = 0; j < state->own.draws; j++)
        gram_json_numbers(json, NULL, at->n, state->values + j, state->own.draws);
    gram_json_close(json, '[');
}

static void write_json(cli_session *session, const void *report_, gram_json *json)
{
    const sample_state *state = report_;
    gram_json_string(json, "from", state->model ? "posterior" : "prior");
    gram_json_kernel(json, "kernel", state->kernel);
    gram_json_integer(json, "n", state->at->n);
    gram_json_integer(json, "d", state->at->d);
    gram_json_integer(json, "draws", state->own.draws);
    gram_json_string(json, "method", state->drawn.method);
    gram_json_number(json, "jitter", state->drawn.jitter);
    if (state->out)
        gram_json_string(json, "samples", state->out);
    else
        json_values(json, state);
    cli_json_end(session, json, state->own.plot);
}

/* A jitter is never hidden. */
static void say_jitter(cli_session *session, const sample_state *state)
{
    if (state->drawn.jitter == 0 || session->common->quiet || session->common->json) return;
    cli_session_clear(session);
    (void)fprintf(stderr, "jitter %.2g was added to the variances: the covariance is not of full rank\n",
                  state->drawn.jitter);
}

static int plot(cli_session *session, const sample_state *state)
{
    gram_picture *picture = NULL;
    if (state->at->grid->axis_count > 2)
        return cli_fail(CLI_WRONG_USE, "Leave it out.", "sample: --plot is for grids of one or two dimensions");
    const gram_status status =
        gram_picture_of_draws(session->context, state->points, state->kernel, state->model, state->own.draws,
                              state->values, state->mean, state->std, &picture);
    return cli_plot(session, state->own.plot, status, picture);
}

static int print_all(cli_session *session, sample_state *state)
{
    int code = CLI_DONE;
    if (!session->common->json || state->out) code = write_draws(session, state);
    if (code == CLI_DONE) say_jitter(session, state);
    if (code == CLI_DONE && state->own.plot) code = plot(session, state);
    return code == CLI_DONE && session->common->json ? cli_report_print(session, state, write_json, NULL) : code;
}

/* ---- the verb ---- */

static int check_use(cli_session *session, const sample_options *own)
{
    if (!own->grid == !own->at)
        return cli_fail(CLI_WRONG_USE, "For example --grid 0:10:200.", "sample: give --grid a:b:n or --at FILE%s",
                        own->grid ? ", not both" : "");
    if (own->at && own->plot)
        return cli_fail(CLI_WRONG_USE, "Leave it out, or give a grid.", "sample: --plot is for grids");
    if (session->common->json && session->out && strcmp(session->out, "-") == 0)
        return cli_fail(CLI_WRONG_USE, "Give -o a file's name.", "sample: --json and draws both on standard output");
    return own->plot ? cli_plot_check(session, own->plot) : CLI_DONE;
}

static int work(cli_session *session, char **operands, void *state_)
{
    sample_state *state = state_;
    state->out = session->out;
    int code = check_use(session, &state->own);
    if (code == CLI_DONE) code = open_all(session, operands[0], state);
    if (code == CLI_DONE) code = draw(session, state);
    return code == CLI_DONE ? print_all(session, state) : code;
}

static void release(void *state_)
{
    sample_state *state = state_;
    free(state->values);
    free(state->mean);
    free(state->std);
    gram_draw_points_destroy(state->points);
    gram_sampler_destroy(state->sampler);
    gram_kernel_release(state->kernel);
    gram_model_destroy(state->model);
}

int cli_sample_verb(int count, char **arguments)
{
    cli_common common = {0};
    sample_state state = {.own = {.draws = 10}};
    const cli_group groups[] = {
        {"Options", own_options, sizeof own_options / sizeof *own_options, &state.own},
        cli_common_group(&common),
    };
    const cli_job job = {&usage, groups, 2, work, release, &state};
    return cli_run(&job, count, arguments);
}

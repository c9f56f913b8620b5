/* gram predict: the values of a model on new data, piece by piece, and scores where the target is known.
 *
 * Each piece is scored and written before the next is read, so memory does not grow with the number of rows. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/kernel_text.h"
#include "cli/report/model_report.h"
#include "cli/report/report_rows.h"
#include "cli/report/score_report.h"
#include "cli/report/value_rows.h"
#include "cli/terminal/data_origin.h"
#include "cli/terminal/options.h"

typedef struct predict_options {
    const char *plot;
    cli_chosen missing, format;
    gram_predict_options wish;
} predict_options;

/* "not given" must differ from the first choice. */
enum { AS_FITTED = -2 };

#define PLACE(field) offsetof(predict_options, field)

static const cli_option own_options[] = {
    CLI_ROW_FLAG("std", PLACE(wish.std), "a column `std`: the standard deviation of a new observation (gp)"),
    CLI_ROW("interval", CLI_POSITIVE, PLACE(wish.interval), "P",
            "columns `lower` and `upper`: an interval of probability P, e.g. 0.95"),
    CLI_ROW("kind", CLI_TEXT, PLACE(wish.kind), "COL",
            "the column that says what rows are (default: as fitted; without it: values)"),
    CLI_ROW_FLAG("latent", PLACE(wish.latent), "std and interval of f itself, without noise (gp)"),
    CLI_ROW_FLAG("terms", PLACE(wish.terms),
                 "columns `term_1`, ...: each term of a sum kernel (krr; gp: with `term_1_std`)"),
    CLI_ROW("keep", CLI_TEXT, PLACE(wish.keep), "LIST",
            "columns of DATA, by name, to copy before the predictions, e.g. id,name"),
    CLI_ROW("plot", CLI_TEXT, PLACE(plot), "FILE",
            "draw predictions and observations: .svg, .png or .pdf (by gnuplot)"),
    CLI_ROW_CHOICE("missing", PLACE(missing), "HOW", cli_missings,
                   "drop rows with missing values, or use the mean (default: as fitted)"),
    CLI_ROW_CHOICE("format", PLACE(format), "FORMAT", cli_formats, CLI_FORMAT_HELP),
    CLI_ROW("view", CLI_TEXT, PLACE(wish.view), "NAME",
            "of models of two views: which of them DATA has (default: both)"),
    CLI_ROW_FLAG("reconstruct", PLACE(wish.reconstruct),
                 "rows made of their coordinates, in the columns of the data (pca)"),
    CLI_ROW("gram", CLI_TEXT, PLACE(wish.gram), "K.npy",
            "of models of a given matrix: the kernel of each row with the training rows; DATA may be left out"),
    CLI_ROW_FLAG("prob", PLACE(wish.prob), "columns `p_CLASS`: the probabilities of the classes (classifiers)"),
};

static const cli_usage usage = {
    "predict",
    "M.gram [DATA]",
    "Predicts with a model that `gram fit` wrote: one row for each row of DATA, in order, as CSV with the column "
    "`mean`\n(`mean_NAME` for several targets), `label` for classifiers and clusters, or coordinates (`pc1`, ...). A "
    "row that is dropped for a missing value "
    "gives an empty field. Columns are found\nby name; those that the model does not know are ignored. Where DATA has "
    "the target, scores are printed: beside the\npredictions on standard error, or on standard output if the "
    "predictions go to a file (-o). With --json the scores\nare one JSON object on standard output, and predictions "
    "are written only to -o.\n",
    "  gram predict model.gram new.csv > predictions.csv\n"
    "  gram predict model.gram test.csv -o predictions.csv --plot predictions.svg\n"
    "  gram predict model.gram test.csv --json\n"
    "  gram predict gp.gram new.csv --std --interval 0.95 > predictions.csv\n",
    1,
    2,
    NULL,
    "write the predictions to FILE"};

typedef struct predict_state {
    predict_options own;
    const char *model_file, *file;
    const char *out;   /* of --out */
    const char *drawn; /* the picture that was drawn; NULL: none */
    gram_model *model;
    gram_preparation *preparation; /* the model's, or one that treats missing values otherwise */
    gram_predictor *predictor;
    const gram_columns *columns; /* of the predictor */
    gram_predict_stream *source;
    cli_stream stream;
    int streaming; /* the stream is open */
    cli_kept kept; /* of --keep */
    int64_t *kept_columns;
    int64_t rows; /* of DATA, so far */
    int64_t predicted;
    gram_score *score;
    gram_score_report scores; /* when all is predicted */
    gram_seen_rows *seen;     /* for a picture */
} predict_state;

/* ---- the model ---- */

static int open_predictor(cli_session *session, predict_state *state)
{
    gram_predict_options wish = state->own.wish;
    wish.dashes = "--";
    wish.name = state->model_file;
    wish.scores = gram_model_given_rows(state->model) == 0; /* entries of new rows among themselves may not be there */
    gram_status status = gram_predictor_create(session->context, state->model, &wish, &state->predictor);
    if (status < 0) return cli_session_fail(session, status, 0, NULL);
    state->columns = gram_predictor_columns(state->predictor);
    status = gram_score_create(session->context, state->columns, &state->score);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

static int open_model(cli_session *session, predict_state *state)
{
    int code = cli_model_read(session, state->model_file, &state->model);
    if (code != CLI_DONE) return code;
    if (!gram_model_preparation(state->model))
        return cli_fail(CLI_BAD_DATA, "Models with one are made by `gram fit DATA -o M.gram`.",
                        "%s: this model has no description of the columns that it takes", state->model_file);
    code = open_predictor(session, state);
    if (code != CLI_DONE) return code;
    gram_preparation *own = gram_predictor_preparation(state->predictor);
    gram_status status = GRAM_OK;
    if (state->own.missing.value == AS_FITTED || !own) /* without one, opening the rows fails */
        state->preparation = gram_preparation_retain(own);
    else
        status = gram_preparation_with_missing(session->context, own, (gram_missing)state->own.missing.value,
                                               &state->preparation);
    const gram_column *bag = own ? gram_preparation_describe(own)->bag : NULL;
    if (bag && !state->own.wish.keep) state->own.wish.keep = bag->name;
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

static int unread(cli_session *session, gram_status status)
{
    return cli_data_unread(session, status,
                           "`gram info M.gram` lists the columns that the model needs; see --missing, --format.");
}

static int open_data(cli_session *session, const char *path, predict_state *state)
{
    state->file = gram_data_name(path ? path : state->own.wish.gram);
    gram_status status = gram_predict_stream_open(session->context, state->predictor, state->preparation, path,
                                                  (gram_format)state->own.format.value, &state->source);
    if (status < 0) return unread(session, status);
    if (state->own.plot) status = gram_seen_rows_create(session->context, state->predictor, &state->seen);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

/* ---- one piece ---- */

/* Where the columns to be copied are. Texts that are too long or too many for one piece are lost: that is refused. */
static int find_kept(cli_session *session, predict_state *state, const gram_table *table)
{
    cli_kept *kept = &state->kept;
    kept->table = table;
    if (!state->kept_columns) {
        state->kept_columns = malloc((size_t)gram_table_columns(table) * sizeof *state->kept_columns);
        kept->columns = state->kept_columns;
        if (!kept->columns) return cli_session_fail(session, GRAM_ERROR_MEMORY, 0, NULL);
        const gram_status status =
            gram_table_find_columns(session->context, table, state->own.wish.keep, state->kept_columns, &kept->count);
        if (status < 0) return unread(session, status);
    }
    for (int64_t j = 0; j < kept->count; j++)
        if (gram_table_level_count(table, kept->columns[j]) < 0)
            return cli_fail(CLI_BAD_DATA, "Leave it out of --keep.", "%s: column '%s': a text of more than %d bytes",
                            state->file, gram_table_column_name(table, kept->columns[j]), (int)GRAM_LONGEST_LEVEL);
    return CLI_DONE;
}

static int write_piece(cli_session *session, predict_state *state, const gram_predicted *piece)
{
    gram_string text = {0};
    if (!state->streaming) return CLI_DONE;
    if (state->own.wish.keep) {
        const int found = find_kept(session, state, piece->table);
        if (found != CLI_DONE) return found;
    }
    const cli_kept *kept = state->own.wish.keep ? &state->kept : NULL;
    if (state->rows == 0) cli_add_value_names(&text, state->columns, kept);
    cli_add_value_rows(&text, state->columns, kept, piece->data, piece->values, state->columns->ld);
    const int code = cli_stream_put(&state->stream, &text);
    gram_string_free(&text);
    return code;
}

static int take_piece(cli_session *session, predict_state *state, const gram_predicted *piece)
{
    const gram_prepared *data = piece->data;
    const int code = write_piece(session, state, piece);
    if (code != CLI_DONE) return code;
    state->rows += data->table_rows;
    state->predicted += data->n;
    gram_status status = gram_score_add(session->context, state->score, data->n, data->y, data->targets, piece->values,
                                        state->columns->ld);
    if (status >= 0 && state->seen) status = gram_seen_rows_add(session->context, state->seen, piece);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

static int predict_all(cli_session *session, predict_state *state)
{
    const gram_predicted *piece = NULL;
    gram_status status;
    do {
        status = gram_predict_stream_next(session->context, state->source, &piece);
        if (status < 0) return unread(session, status);
        const int code = piece ? take_piece(session, state, piece) : CLI_DONE;
        if (code != CLI_DONE) return code;
    } while (piece && !state->stream.gone);
    status = gram_score_sum_up(session->context, state->score, &state->scores);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

/* ---- the report ---- */

static int draw(cli_session *session, const predict_state *state)
{
    gram_picture *picture = NULL;
    gram_picture_options options;
    gram_picture_options_init(&options, sizeof options);
    options.data = state->file;
    options.name = state->model_file;
    options.terms = state->own.wish.terms;
    options.dashes = "--";
    const gram_status status = gram_picture_of_predictions(session->context, state->seen, &options, &picture);
    return cli_plot(session, state->own.plot, status, picture);
}

/* The expressions behind the columns term_1, term_2, ... */
static void json_terms(gram_json *json, const predict_state *state)
{
    const gram_kernel *kernel = gram_function_kernel(gram_model_function(state->model));
    if (!state->own.wish.terms) return;
    gram_json_open(json, "terms", '[');
    for (int64_t t = 0; t < gram_kernel_term_count(kernel); t++)
        gram_json_kernel(json, NULL, gram_kernel_term(kernel, t));
    gram_json_close(json, '[');
}

static void write_json(cli_session *session, const void *report_, gram_json *json)
{
    const predict_state *state = report_;
    gram_json_string(json, "method", gram_model_method(state->model));
    gram_json_string(json, "data", state->file);
    gram_json_integer(json, "rows", state->rows);
    gram_json_integer(json, "n", state->predicted);
    if (gram_score_json(session->context, state->score, json) < 0) json->text->failed = 1;
    json_terms(json, state);
    if (state->out) gram_json_string(json, "predictions", state->out);
    cli_json_end(session, json, state->drawn);
}

static void add_terms(const predict_state *state, gram_string *text)
{
    const gram_kernel *kernel = gram_function_kernel(gram_model_function(state->model));
    char label[CLI_SHORT_SIZE];
    for (int64_t t = 0; t < gram_kernel_term_count(kernel) && state->own.wish.terms; t++) {
        (void)snprintf(label, sizeof label, "term_%" PRId64, t + 1);
        cli_add_kernel(text, label, gram_kernel_term(kernel, t));
    }
}

static void write_table(cli_session *session, const void *report_, gram_string *text)
{
    const predict_state *state = report_;
    (void)session;
    char rows[CLI_SHORT_SIZE], dropped[CLI_SHORT_SIZE];
    cli_add_label(text, "rows");
    gram_string_add(text, "%s", gram_count_format(state->rows, rows));
    if (state->predicted < state->rows)
        gram_string_add(text, ", %s without a prediction", gram_count_format(state->rows - state->predicted, dropped));
    gram_string_add(text, "\n");
    cli_score_print(text, state->columns, &state->scores);
    add_terms(state, text);
    if (state->out) cli_add_row(text, "predictions", state->out);
    if (state->drawn) cli_add_row(text, "plot", state->drawn);
}

/* Beside predictions on standard output, the scores go to standard error. */
static int print_report(cli_session *session, const predict_state *state)
{
    gram_string text = {0};
    if (session->common->json || (state->out && strcmp(state->out, "-") != 0))
        return cli_report_print(session, state, write_json, write_table);
    write_table(session, state, &text);
    cli_session_clear(session);
    if ((state->scores.scored || state->own.wish.terms) && !session->common->quiet && text.data) {
        cli_tame(text.data, text.length, CLI_TAME_CONTROLS);
        (void)fprintf(stderr, "%s", text.data);
    }
    gram_string_free(&text);
    return CLI_DONE;
}

/* ---- the verb ---- */

static int check_use(cli_session *session, char **operands, const predict_options *own)
{
    if (strcmp(operands[0], "-") == 0)
        return cli_fail(CLI_WRONG_USE, "Give a file's name; DATA may be -.",
                        "predict: a model cannot come from standard input");
    if (!operands[1] && !own->wish.gram)
        return cli_fail(CLI_WRONG_USE, "gram predict M.gram DATA", "predict: DATA is missing");
    if (session->common->json && session->out && strcmp(session->out, "-") == 0)
        return cli_fail(CLI_WRONG_USE, "Give -o a file's name.",
                        "predict: --json and predictions both on standard output");
    if (own->wish.interval >= 1)
        return cli_fail(CLI_WRONG_USE, "Give a probability, for example 0.95.", "predict: --interval %g is not below 1",
                        own->wish.interval);
    return own->plot ? cli_plot_check(session, own->plot) : CLI_DONE;
}

/* The stream closes before the report: a report of predictions that could not be written would mislead. */
static int work(cli_session *session, char **operands, void *state_)
{
    predict_state *state = state_;
    int drawn = CLI_DONE;
    state->model_file = operands[0];
    state->out = session->out;
    state->streaming = !session->common->json || state->out;
    int code = check_use(session, operands, &state->own);
    if (code == CLI_DONE) code = open_model(session, state);
    if (code == CLI_DONE) code = open_data(session, operands[1], state);
    if (code == CLI_DONE && state->streaming) code = cli_stream_open(session, state->out, &state->stream);
    if (code != CLI_DONE) return code;
    code = predict_all(session, state);
    if (state->streaming) code = cli_stream_close(&state->stream, code);
    if (code == CLI_DONE && state->own.plot) {
        drawn = draw(session, state);
        if (drawn == CLI_DONE) state->drawn = state->own.plot;
    }
    if (code == CLI_DONE) code = print_report(session, state);
    return code == CLI_DONE ? drawn : code;
}

static void release(void *state_)
{
    predict_state *state = state_;
    free(state->kept_columns);
    gram_predict_stream_close(state->source);
    gram_score_destroy(state->score);
    gram_seen_rows_destroy(state->seen);
    gram_predictor_destroy(state->predictor);
    gram_preparation_release(state->preparation);
    gram_model_destroy(state->model);
}

int cli_predict(int count, char **arguments)
{
    cli_common common = {0};
    predict_state state = {.scores.size = sizeof state.scores};
    const cli_group groups[] = {
        {"Options", own_options, sizeof own_options / sizeof *own_options, &state.own},
        cli_common_group(&common),
    };
    const cli_job job = {&usage, groups, 2, work, release, &state};
    state.own.missing.value = AS_FITTED;
    gram_predict_options_init(&state.own.wish, sizeof state.own.wish);
    return cli_run(&job, count, arguments);
}

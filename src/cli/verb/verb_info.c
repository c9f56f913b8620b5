/* gram info: what a model is. */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/report/kernel_text.h"
#include "cli/report/model_report.h"
#include "cli/report/report_rows.h"
#include "cli/terminal/data_origin.h"
#include "cli/terminal/options.h"

static const cli_usage usage = {
    "info",
    "M.gram",
    "Describes a model: method, target, features and how they are scaled, the kernel, also in the words of other\n"
    "tools, and what the fit found.\n",
    "  gram info model.gram\n"
    "  gram info model.gram --json\n",
    1,
    1,
    NULL,
    NULL};

typedef struct info_state {
    const char *file;
    size_t bytes;
    gram_model *model;
    gram_description *description;
} info_state;

static int64_t dimension_of(const gram_model *model)
{
    return gram_points_dimension(gram_function_centres(gram_model_function(model)));
}

static int64_t centre_count(const gram_model *model)
{
    return gram_points_count(gram_function_centres(gram_model_function(model)));
}

static int find_all(cli_session *session, const char *path, info_state *state)
{
    struct stat facts;
    state->file = path;
    int code = cli_model_read(session, path, &state->model);
    if (code != CLI_DONE) return code;
    if (stat(path, &facts) == 0) state->bytes = (size_t)facts.st_size;
    return cli_model_report_find(session, state->model, path, &state->description);
}

/* ---- as JSON ---- */

static void write_json(cli_session *session, const void *report_, gram_json *json)
{
    const info_state *state = report_;
    gram_json_string(json, "model", state->file);
    gram_json_integer(json, "bytes", (int64_t)state->bytes);
    gram_json_string(json, "version", gram_model_version(state->model));
    gram_json_integer(json, "centres", centre_count(state->model));
    gram_json_integer(json, "outputs", gram_function_outputs(gram_model_function(state->model)));
    gram_description_json(state->description, json);
    if (gram_model_preparation(state->model)) gram_preparation_json(gram_model_preparation(state->model), json);
    cli_words_json(session, json, gram_function_kernel(gram_model_function(state->model)), dimension_of(state->model));
}

/* ---- for people ---- */

enum { NAME_WIDTH = 20, MOST_COLUMNS = 40, MOST_LEVELS = 8 };

static void add_levels(gram_string *text, const gram_column *column)
{
    const int64_t count = column->level_count;
    gram_string_add(text, "%" PRId64 " level%s:", count, cli_plural(count));
    for (int64_t i = 0; i < count && i < MOST_LEVELS; i++)
        gram_string_add(text, "%s %s", i > 0 ? "," : "", column->levels[i]);
    gram_string_add(text, count > MOST_LEVELS ? ", ...\n" : "\n");
}

static void add_column(gram_string *text, const gram_column *column, int scaled)
{
    char mean[CLI_SHORT_SIZE], deviation[CLI_SHORT_SIZE];
    gram_string_add(text, "%s", column->name);
    gram_string_pad(text, NAME_WIDTH);
    static const char *const things[] = {[GRAM_COLUMN_SPARSE] = "sparse rows",
                                         [GRAM_COLUMN_TEXTS] = "texts",
                                         [GRAM_COLUMN_GIVEN] = "rows of a given matrix"};
    if (column->text)
        add_levels(text, column);
    else if (column->kind != GRAM_COLUMN_PLAIN)
        gram_string_add(text, "%s\n", things[column->kind]);
    else if (scaled)
        gram_string_add(text, "%-12s  %s\n", cli_short_number(column->mean, mean),
                        cli_short_number(column->deviation, deviation));
    else
        gram_string_add(text, "as it is\n");
}

static void add_columns(cli_session *session, gram_string *text, const char *heading,
                        const gram_preparation *preparation)
{
    if (!preparation) return;
    const gram_preparation_description *known = gram_preparation_describe(preparation);
    const int64_t count = known->feature_count;
    cli_add_heading(session, text, heading);
    if (known->scaled) gram_string_add(text, "%-19s %-12s  %s\n", "name", "mean", "deviation");
    for (int64_t f = 0; f < count && f < MOST_COLUMNS; f++) add_column(text, &known->features[f], known->scaled);
    if (count > MOST_COLUMNS) gram_string_add(text, "and %" PRId64 " more\n", count - MOST_COLUMNS);
}

static void add_bags(gram_string *text, const gram_preparation_description *known)
{
    if (!known->bag) return;
    cli_add_label(text, "bags");
    gram_string_add(text, "rows that agree in %s", known->bag->name);
    if (known->bag_weights) gram_string_add(text, ", by the weights in %s", known->bag_weights->name);
    gram_string_add(text, "\n");
}

static void add_model(gram_string *text, const info_state *state)
{
    char size[GRAM_BYTES_SIZE], count[CLI_SHORT_SIZE];
    const gram_preparation *preparation = gram_model_preparation(state->model);
    const int64_t centres = centre_count(state->model);
    cli_add_label(text, "model");
    gram_string_add(text, "%s, %s, written by gram %s\n", state->file, gram_bytes_format(state->bytes, size),
                    gram_model_version(state->model));
    cli_add_label(text, "method");
    gram_string_add(text, "%s, %s", gram_model_method(state->model), gram_model_task(state->model));
    if (preparation) {
        const gram_preparation_description *known = gram_preparation_describe(preparation);
        if (known->target_count > 0) gram_string_add(text, " of ");
        if (known->target_count > 0) cli_add_targets(text, known);
        gram_string_add(text, " on ");
        cli_add_features(text, gram_preparation_describe(preparation));
    }
    gram_string_add(text, "\n");
    cli_add_label(text, "centres");
    gram_string_add(text, "%s in %" PRId64 " column%s\n", gram_count_format(centres, count), dimension_of(state->model),
                    cli_plural(dimension_of(state->model)));
    if (preparation) add_bags(text, gram_preparation_describe(preparation));
}

/* The ridge, or the noise, in the words of scikit-learn. */
static void add_alpha(gram_string *text, const info_state *state)
{
    char words[GRAM_ELSEWHERE_SIZE];
    if (gram_model_elsewhere(state->model, words)[0]) cli_add_rounded(text, "  ridge", words);
}

static void write_table(cli_session *session, const void *report_, gram_string *text)
{
    const info_state *state = report_;
    add_model(text, state);
    cli_model_report_print(session, text, state->description);
    add_columns(session, text, "Features", gram_model_preparation(state->model));
    add_columns(session, text, "Features of the second view", gram_model_second_preparation(state->model));
    if (cli_words_print(session, text, gram_function_kernel(gram_model_function(state->model)),
                        dimension_of(state->model)))
        add_alpha(text, state);
}

/* ---- the verb ---- */

static int work(cli_session *session, char **operands, void *state)
{
    const int code = find_all(session, operands[0], state);
    return code == CLI_DONE ? cli_report_print(session, state, write_json, write_table) : code;
}

static void release(void *state_)
{
    info_state *state = state_;
    gram_description_destroy(state->description);
    gram_model_destroy(state->model);
}

int cli_info(int count, char **arguments)
{
    cli_common common = {0};
    info_state state = {0};
    const cli_group groups[] = {cli_common_group(&common)};
    const cli_job job = {&usage, groups, 1, work, release, &state};
    return cli_run(&job, count, arguments);
}

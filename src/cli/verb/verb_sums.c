/* gram accumulate and gram merge: a fit that is spread over processes, by sums over parts of the rows. */
#include <stdlib.h>
#include <string.h>

#include "cli/report/model_report.h"
#include "cli/report/report_rows.h"
#include "cli/terminal/data_origin.h"
#include "cli/terminal/learner_begin.h"
#include "cli/verb/learn_options.h"

enum { MOST_SUMS = 100000 };

typedef struct sums_options {
    cli_learn_options learn;
    const char *like;
    int plan;    /* of accumulate */
    int partial; /* of merge: sums again */
} sums_options;

typedef struct sums_state {
    sums_options own;
    int count; /* of operands */
    const char *out;
    gram_learner *learner;
    gram_model **parts;
    gram_model *like;
    gram_model *model;
    gram_description *description;
} sums_state;

#define PLACE(field) offsetof(sums_options, field)

static const cli_usage accumulate_usage = {
    "accumulate",
    "DATA",
    "Reads a part of the rows and writes what they add up to, for a fit that many processes or machines share; "
    "`gram merge` makes the\nmodel of all parts, the same to rounding however the rows were parted. Preparation, "
    "kernel "
    "and landmarks must be the same for all\nparts: the first part, or better a sample of all rows with --plan, "
    "chooses "
    "them, and the other parts are made --like it. The\nmodel is a kernel ridge regression on landmarks; the strength "
    "of the ridge, unless it is given, is chosen by the merge.\n",
    "  gram accumulate sample.csv --plan -o plan.sums\n"
    "  gram accumulate part1.csv --like plan.sums -o part1.sums\n"
    "  gram accumulate part2.csv --like plan.sums -o part2.sums\n"
    "  gram merge part1.sums part2.sums -o model.gram\n",
    1,
    1,
    NULL,
    "write the sums to FILE"};

static const cli_usage merge_usage = {
    "merge",
    "SUMS...",
    "Makes the model of all rows from the sums of their parts, which `gram accumulate` wrote. The ridge is the one "
    "that "
    "was given then or\nhere, or has the least error by generalised cross-validation (GCV) over all rows.\n",
    "  gram merge part1.sums part2.sums -o model.gram\n"
    "  gram merge part*.sums --lambda 1e-6 -o model.gram\n"
    "  gram merge part1.sums part2.sums --partial -o both.sums\n",
    1,
    MOST_SUMS,
    NULL,
    "write the model to FILE"};

/* ---- the report ---- */

static void write_table(cli_session *session, const void *report_, gram_string *text)
{
    const sums_state *state = report_;
    cli_model_report_print(session, text, state->description);
    cli_add_cost(session, text);
    cli_add_row(text, "written to", state->out ? state->out : "nowhere; -o FILE writes it");
}

static void write_json(cli_session *session, const void *report_, gram_json *json)
{
    const sums_state *state = report_;
    gram_description_json(state->description, json);
    gram_json_number(json, "seconds", cli_session_seconds(session));
    gram_json_integer(json, "peak_bytes", (int64_t)gram_system_memory_peak());
    gram_json_string(json, "model", state->out);
}

static int finish(cli_session *session, sums_state *state, gram_status status)
{
    int code = status < 0 ? cli_session_fail(session, status, 1, NULL) : CLI_DONE;
    if (code == CLI_DONE) code = cli_model_report_find(session, state->model, state->out, &state->description);
    if (code == CLI_DONE && state->out) {
        status = gram_model_write(session->context, state->model, state->out);
        if (status < 0) code = cli_session_fail(session, status, 0, NULL);
    }
    return code == CLI_DONE ? cli_report_print(session, state, write_json, write_table) : code;
}

/* ---- accumulate ---- */

static int begin(cli_session *session, const char *verb, sums_state *state)
{
    const cli_settings *settings[] = {&state->own.learn.settings};
    state->out = session->out;
    if (state->out && strcmp(state->out, "-") == 0)
        return cli_fail(CLI_WRONG_USE, "Give a file's name.", "%s: it cannot be written to standard output", verb);
    if (!state->out)
        return cli_fail(CLI_WRONG_USE, "Give -o FILE.", "%s: nothing says where the result is to be written", verb);
    int code = cli_output_check(session, state->out);
    if (code == CLI_DONE) code = cli_learner_begin(session, verb, settings, 1, 0, &state->learner);
    if (code == CLI_DONE) gram_learner_to_file(state->learner, 1);
    return code;
}

/* What the file that it is made like has decided. */
static int check_like(const sums_state *state)
{
    if (!state->own.like) return CLI_DONE;
    if (state->own.plan) return cli_fail(CLI_WRONG_USE, "Leave one out.", "accumulate: --plan makes what --like takes");
    if (state->own.learn.settings.count == 0) return CLI_DONE;
    return cli_fail(CLI_WRONG_USE, "Leave them out; a ridge may be given to `gram merge`.",
                    "accumulate: with --like, that file decides, and no other options of the fit are taken");
}

static int accumulate(cli_session *session, char **operands, void *state_)
{
    sums_state *state = state_;
    int code = check_like(state);
    if (code == CLI_DONE) code = begin(session, accumulate_usage.verb, state);
    if (code == CLI_DONE && state->own.like) code = cli_model_read(session, state->own.like, &state->like);
    if (code != CLI_DONE) return code;
    const gram_status status =
        gram_accumulate_file(session->context, state->learner, operands[0], (gram_format)state->own.learn.format.value,
                             state->like, state->own.plan, &state->model);
    return finish(session, state, status);
}

/* ---- merge ---- */

static int read_parts(cli_session *session, char **operands, sums_state *state)
{
    int code = CLI_DONE;
    while (operands[state->count]) state->count++;
    state->parts = calloc((size_t)state->count, sizeof *state->parts);
    if (!state->parts) return cli_no_memory();
    for (int i = 0; i < state->count && code == CLI_DONE; i++) {
        for (int k = 0; k < i && code == CLI_DONE; k++)
            if (strcmp(operands[i], operands[k]) == 0)
                code = cli_fail(CLI_WRONG_USE, "Name each part once.", "merge: %s is given twice", operands[i]);
        if (code == CLI_DONE) code = cli_model_read(session, operands[i], &state->parts[i]);
    }
    return code;
}

static int merge(cli_session *session, char **operands, void *state_)
{
    sums_state *state = state_;
    int code = begin(session, merge_usage.verb, state);
    if (code == CLI_DONE) code = read_parts(session, operands, state);
    if (code != CLI_DONE) return code;
    const gram_status status =
        gram_merge_sums(session->context, state->learner, state->count, (const gram_model *const *)state->parts,
                        (const char *const *)operands, state->own.partial, &state->model);
    return finish(session, state, status);
}

/* ---- both ---- */

static void release(void *state_)
{
    sums_state *state = state_;
    gram_description_destroy(state->description);
    gram_learner_destroy(state->learner);
    gram_model_destroy(state->model);
    gram_model_destroy(state->like);
    for (int i = 0; i < state->count && state->parts; i++) gram_model_destroy(state->parts[i]);
    free(state->parts);
}

static const cli_option accumulate_options[] = {
    CLI_ROW("like", CLI_TEXT, PLACE(like), "SUMS",
            "with the preparation, kernel and landmarks of these sums, or of a plan"),
    CLI_ROW_FLAG("plan", PLACE(plan), "choose preparation, kernel and landmarks only; the sums are empty"),
    CLI_ROW("kernel", CLI_SETTING, PLACE(learn.settings), "E", "an expression (default: rbf)"),
    CLI_ROW("solver", CLI_SETTING, PLACE(learn.settings), "nystrom:M", "M landmarks (default: by rows and memory)"),
    CLI_ROW("lambda", CLI_SETTING, PLACE(learn.settings), "L",
            "the ridge of (1/n) sum |y - f|^2 + L |f|^2 (default: chosen by the merge)"),
    CLI_ROW("noise", CLI_SETTING, PLACE(learn.settings), "S", "the same as a variance of noise: S = n L"),
    CLI_ROW("tune", CLI_SETTING, PLACE(learn.settings), "HOW",
            "the kernel's free numbers, on a sample: loo (default), gcv, cv:K, ml or none"),
    CLI_ROW("ard", CLI_YES, PLACE(learn.settings), NULL, "try one length-scale per feature for --kernel too"),
    CLI_ROW("no-ard", CLI_NO, PLACE(learn.settings), NULL, "one length-scale for all features"),
    CLI_ROW("no-intercept", CLI_NO, PLACE(learn.settings), NULL, "no unpenalised constant"),
    CLI_ROW("task", CLI_SETTING, PLACE(learn.settings), "TASK",
            "regression: take a target of few whole numbers as numbers"),
};

static const cli_option merge_options[] = {
    CLI_ROW("lambda", CLI_SETTING, PLACE(learn.settings), "L",
            "the strength of the ridge, in place of what the sums say"),
    CLI_ROW("noise", CLI_SETTING, PLACE(learn.settings), "S", "the same as n lambda"),
    CLI_ROW_FLAG("partial", PLACE(partial), "write the sums of all of them, to be merged with others"),
};

int cli_accumulate(int count, char **arguments)
{
    sums_state *state = calloc(1, sizeof *state);
    cli_common common = {0};
    if (!state) return cli_no_memory();
    const cli_group groups[] = {
        {"Options", accumulate_options, sizeof accumulate_options / sizeof *accumulate_options, &state->own},
        cli_learn_parts_group(&state->own.learn),
        cli_common_group(&common)};
    const cli_job job = {&accumulate_usage, groups, 3, accumulate, release, state};
    const int code = cli_run(&job, count, arguments);
    free(state);
    return code;
}

int cli_merge(int count, char **arguments)
{
    sums_state *state = calloc(1, sizeof *state);
    cli_common common = {0};
    if (!state) return cli_no_memory();
    const cli_group groups[] = {{"Options", merge_options, sizeof merge_options / sizeof *merge_options, &state->own},
                                cli_common_group(&common)};
    const cli_job job = {&merge_usage, groups, 2, merge, release, state};
    const int code = cli_run(&job, count, arguments);
    free(state);
    return code;
}

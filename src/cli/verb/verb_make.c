/* gram make: data by a rule and a seed. */
#include <math.h>
#include <string.h>

#include <gram/made_data.h>

#include "cli/report/report_rows.h"
#include "cli/terminal/options.h"

typedef struct make_state {
    int64_t n;
    double noise;
    const char *name;
} make_state;

static const cli_option own_options[] = {
    {.name = "n",
     .letter = 'n',
     .type = CLI_INTEGER,
     .offset = offsetof(make_state, n),
     .argument = "N",
     .help = "rows (default 100)",
     .least = 1,
     .most = INT64_MAX / 4096},
    {.name = "noise",
     .type = CLI_NUMBER,
     .offset = offsetof(make_state, noise),
     .argument = "S",
     .help =
         "deviation of the noise (default: 0.1 of sine and moons, 0.05 of circles, 1 of blobs and friedman, else 0)"},
};

static const cli_usage usage = {"make",
                                "NAME",
                                "Makes data for trials and examples, the same for the same --seed: sine (y over x), "
                                "circles, moons and blobs (two columns and a\n"
                                "class), swiss-roll (a sheet in three dimensions, and where on it), friedman (five of "
                                "ten columns matter), branin (three minima).\n"
                                "More rows begin with the same ones.\n",
                                "  gram make circles -n 400 -o circles.csv\n"
                                "  gram make sine --noise 0.3 --seed 7 | gram fit - -o sine.gram\n",
                                1,
                                1,
                                NULL,
                                "write the rows to FILE"};

static int write_rows(cli_session *session, const make_state *state)
{
    enum { PIECE = 4096 };
    cli_stream stream = {0};
    int code = CLI_DONE;
    for (int64_t i = 0; i < state->n && code == CLI_DONE && !stream.gone; i += PIECE) {
        gram_string text = {0};
        const int64_t count = state->n - i < PIECE ? state->n - i : PIECE;
        const gram_status status = gram_made_rows(session->context, state->name, state->noise, i, count, &text);
        if (status < 0) code = cli_session_fail(session, status, 0, "`gram make --help` says what each of them is.");
        if (code == CLI_DONE && i == 0) code = cli_stream_open(session, session->out, &stream);
        if (code == CLI_DONE) code = cli_stream_put(&stream, &text);
        if (code == CLI_DONE) code = cli_session_progress(session, "rows", (double)(i + count) / (double)state->n);
        gram_string_free(&text);
    }
    return stream.session ? cli_stream_close(&stream, code) : code;
}

/* The last column is the target. */
static int64_t count_features(const char *name)
{
    gram_made_facts facts = {.size = sizeof facts};
    int64_t features = 0, which = 0;
    while (gram_made_describe(which, &facts) >= 0 && facts.name && strcmp(facts.name, name) != 0) which++;
    for (const char *c = facts.name ? facts.columns : ""; *c; c++) features += *c == ',';
    return features;
}

static void write_json(cli_session *session, const void *report, gram_json *json)
{
    const make_state *state = report;
    gram_json_string(json, "name", state->name);
    gram_json_integer(json, "n", state->n);
    gram_json_integer(json, "d", count_features(state->name));
    gram_json_integer(json, "rows", state->n);
    gram_json_string(json, "data", session->out);
    cli_json_end(session, json, NULL);
}

static int work(cli_session *session, char **operands, void *state_)
{
    make_state *state = state_;
    state->name = operands[0];
    if (session->common->json && (!session->out || strcmp(session->out, "-") == 0))
        return cli_fail(CLI_WRONG_USE, "Give -o a file's name.", "make: --json and rows both on standard output");
    const int code = write_rows(session, state);
    return code == CLI_DONE && session->common->json ? cli_report_print(session, state, write_json, NULL) : code;
}

static void release(void *state)
{
    (void)state;
}

int cli_make(int count, char **arguments)
{
    cli_common common = {0};
    make_state own = {.n = 100, .noise = NAN};
    const cli_group groups[] = {{"Options", own_options, sizeof own_options / sizeof *own_options, &own},
                                cli_common_group(&common)};
    const cli_job job = {&usage, groups, 2, work, release, &own};
    return cli_run(&job, count, arguments);
}

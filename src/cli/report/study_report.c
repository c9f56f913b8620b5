/* Reports of studies. */
#include "cli/report/study_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/report_rows.h"

enum { VALUE_SIZE = 1100 };

int cli_study_learn(cli_session *session, cli_study_report *r)
{
    gram_status status = GRAM_OK;
    gram_trial trial = {.size = sizeof trial};
    r->mean = r->deviation = NAN;
    r->best = gram_study_best(r->study);
    if (r->best < 0) return CLI_DONE;
    r->importance = calloc((size_t)gram_study_variable_count(r->study), sizeof *r->importance);
    if (!r->importance) return cli_no_memory();
    status = gram_study_importance(session->context, r->study, r->importance);
    r->best = gram_study_best(r->study);
    if (status >= 0) status = gram_study_trial(session->context, r->study, r->best, &trial);
    if (status >= 0) status = gram_study_predict(session->context, r->study, 1, trial.x, &r->mean, &r->deviation, NULL);
    return status < 0 ? cli_session_fail(session, status, 0, NULL) : CLI_DONE;
}

void cli_study_release(cli_study_report *r)
{
    free(r->importance);
    gram_study_destroy(r->study);
    r->importance = NULL;
    r->study = NULL;
}

void cli_study_add_point(gram_string *text, const gram_study *study, const double *x, const char *between)
{
    char value[VALUE_SIZE];
    for (int64_t i = 0; i < gram_study_variable_count(study); i++) {
        (void)gram_study_format(study, i, x[i], value, sizeof value);
        gram_string_add(text, "%s%s=%s", i ? between : "", gram_study_variable(study, i).name, value);
    }
}

static void count_trials(cli_session *session, const gram_study *study, int64_t counts[4])
{
    gram_trial trial = {.size = sizeof trial};
    for (int i = 0; i < 4; i++) counts[i] = 0;
    for (int64_t i = 0; i < gram_study_trial_count(study); i++)
        if (gram_study_trial(session->context, study, i, &trial) >= 0) counts[trial.state]++;
}

static void write_json(cli_session *session, const void *report, gram_json *json)
{
    const cli_study_report *r = report;
    (void)gram_json_study(session->context, json, r->study); /* was learnt */
    gram_json_string(json, "stopped", r->why);
    gram_json_string(json, "study", r->file);
    cli_json_end(session, json, r->plot);
}

static void add_best(cli_session *session, const cli_study_report *r, gram_string *text)
{
    char value[VALUE_SIZE], low[CLI_SHORT_SIZE];
    gram_trial trial = {.size = sizeof trial};
    if (gram_study_trial(session->context, r->study, r->best, &trial) < 0) return;
    cli_add_number(text, "best value", trial.value);
    if (trial.row >= 0) cli_add_number(text, "row", (double)(trial.row + 1));
    gram_string_add(text, "model there");
    gram_string_pad(text, CLI_VALUE_COLUMN);
    gram_string_add(text, "%s +- ", cli_short_number(r->mean, low));
    gram_string_add(text, "%s\n", cli_short_number(r->deviation, low));
    cli_add_heading(session, text, "Best point");
    for (int64_t i = 0; i < gram_study_variable_count(r->study); i++) {
        const gram_variable v = gram_study_variable(r->study, i);
        (void)gram_study_format(r->study, i, trial.x[i], value, sizeof value);
        cli_add_label(text, v.name);
        gram_string_add(text, "%s", v.kind <= GRAM_VARIABLE_LOG ? cli_short_number(trial.x[i], low) : value);
        if (r->importance) gram_string_add(text, "   (importance %s)", cli_short_number(r->importance[i], low));
        gram_string_add(text, "\n");
    }
}

static void write_text(cli_session *session, const void *report, gram_string *text)
{
    const cli_study_report *r = report;
    int64_t counts[4];
    count_trials(session, r->study, counts);
    cli_add_label(text, "evaluations");
    gram_string_add(text, "%" PRId64, gram_study_evaluation_count(r->study));
    if (counts[GRAM_TRIAL_FAILED]) gram_string_add(text, ", %" PRId64 " failed", counts[GRAM_TRIAL_FAILED]);
    if (counts[GRAM_TRIAL_RUNNING]) gram_string_add(text, ", %" PRId64 " asked for", counts[GRAM_TRIAL_RUNNING]);
    gram_string_add(text, "\n");
    if (r->file) cli_add_row(text, "study", r->file);
    if (r->why) cli_add_row(text, "stopped", r->why);
    if (r->best >= 0)
        add_best(session, r, text);
    else
        cli_add_row(text, "best value", "none yet");
}

int cli_study_print(cli_session *session, const cli_study_report *report)
{
    return cli_report_print(session, report, write_json, write_text);
}

int cli_study_plot(cli_session *session, gram_study *study, const char *path)
{
    gram_picture *picture = NULL;
    const gram_status status = gram_picture_of_study(session->context, study, &picture);
    return cli_plot(session, path, status, picture);
}

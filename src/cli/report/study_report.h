/* Studies as reports: the best point, what the model says of it, what matters. */
#ifndef GRAM_CLI_REPORT_STUDY_REPORT_H
#define GRAM_CLI_REPORT_STUDY_REPORT_H

#include "cli/terminal/cli.h"

typedef struct cli_study_report {
    gram_study *study;
    const char *file; /* or NULL */
    const char *plot; /* or NULL */
    const char *why;  /* the search ended, or NULL */
    /* found by cli_study_learn; NaN and NULL where nothing is known */
    int64_t best;
    double mean, deviation;
    double *importance;
} cli_study_report;

/* Learns the model and finds the numbers; without an evaluation that has a value there are none. Returns the exit code. */
int cli_study_learn(cli_session *session, cli_study_report *report);
void cli_study_release(cli_study_report *report);

/* Prints it. Returns the exit code. */
int cli_study_print(cli_session *session, const cli_study_report *report);

/* A point as "x=1 rate=0.1". */
void cli_study_add_point(gram_string *text, const gram_study *study, const double *x, const char *between);

/* Draws the study. Returns the exit code. */
int cli_study_plot(cli_session *session, gram_study *study, const char *path);

#endif

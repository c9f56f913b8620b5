/* What gram optimize, ask, tell and report share. */
#ifndef GRAM_CLI_VERB_OPTIMIZE_VERB_OPTIMIZE_H
#define GRAM_CLI_VERB_OPTIMIZE_VERB_OPTIMIZE_H

#include "cli/terminal/options.h"

int cli_optimize_ask(int count, char **arguments);
int cli_optimize_tell(int count, char **arguments);
int cli_optimize_report(int count, char **arguments);

typedef struct cli_study {
    gram_study *study;
    gram_study_lock *lock;
    const char *file; /* or NULL */
    const char *plot; /* or NULL */
    const char *why;  /* the search ended, or NULL */
} cli_study;

/* Tells what went wrong with a study, without the library's names of functions. Returns the exit code. */
int cli_study_fail(cli_session *session, gram_status status, int reading);

/* Prints the report, after the picture. Returns the exit code. */
int cli_study_print(cli_session *session, cli_study *study);
/* Draws the study. Returns the exit code. */
int cli_study_plot(cli_session *session, gram_study *study, const char *path);
void cli_study_release(cli_study *study);

#endif

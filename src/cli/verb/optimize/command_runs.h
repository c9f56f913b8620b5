/* The runs of a command for the trials of a study: arguments with values in their places, and values from what it prints. */
#ifndef GRAM_CLI_VERB_OPTIMIZE_COMMAND_RUNS_H
#define GRAM_CLI_VERB_OPTIMIZE_COMMAND_RUNS_H

#include "cli/terminal/child_process.h"
#include "cli/verb/optimize/verb_optimize.h"

typedef struct cli_runs {
    gram_study *study;
    const char *file; /* of the study, or NULL */
    char **command;   /* NULL at the end */
    int64_t budget, parallel;
    double timeout;   /* seconds, 0: none */
    double tolerance; /* of the expected improvement, NaN: none */
    const char *plot; /* a picture of each step, if it has %d */
    const char *why;  /* it ended */
} cli_runs;

/* Do all placeholders name variables, and is every variable used? Returns the exit code. */
int cli_runs_check(cli_session *session, const cli_runs *runs);

/* Asks, runs and tells until the budget is spent or the expected improvement is small. The study's file is whole after every evaluation.
 * Returns the exit code: CLI_INTERRUPTED after Ctrl-C. */
int cli_runs_go(cli_session *session, cli_runs *runs);

#endif

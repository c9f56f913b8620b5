/* What gram optimize, ask and tell share. */
#ifndef GRAM_CLI_VERB_OPTIMIZE_VERB_OPTIMIZE_H
#define GRAM_CLI_VERB_OPTIMIZE_VERB_OPTIMIZE_H

#include "cli/report/study_report.h"
#include "cli/terminal/options.h"

int cli_optimize_ask(int count, char **arguments);
int cli_optimize_tell(int count, char **arguments);
int cli_optimize_report(int count, char **arguments);

/* Reads and writes a study; failures are told. Return the exit code. */
int cli_study_read(cli_session *session, const char *path, gram_study **study);
int cli_study_write(cli_session *session, const gram_study *study, const char *path);

#endif

/* What `test fit` and `thin` share: the options that say which density, and points with its scores (<gram/scored_points.h>). */
#ifndef GRAM_CLI_VERB_DENSITY_OPTIONS_H
#define GRAM_CLI_VERB_DENSITY_OPTIONS_H

#include "cli/terminal/data_origin.h"
#include "cli/terminal/options.h"

typedef struct cli_scored_options {
    const char *scores;       /* a file, or a column LIST of DATA; NULL: none */
    const char *density;      /* NULL: none */
    const char *density_data; /* of the density 'logistic' */
    const char *measure;      /* a law instead of a density (<gram/law.h>); NULL: none */
    const char *kernel;       /* NULL: imq by `precondition` */
    cli_chosen precondition;  /* gram_stein_metric */
    const char *gram;         /* a given matrix (`thin`); NULL: none */
} cli_scored_options;

cli_group cli_scored_group(cli_scored_options *options);

/* What --help says of densities. */
void cli_scored_help(gram_string *text);

/* Options that do not go together, named by the verb. `needed`: there must be scores. Returns CLI_DONE or the exit code
 * after a message. */
int cli_scored_check(const char *verb, const cli_scored_options *options, int needed);

/* Neither a kernel nor a preconditioner was given. */
int cli_scored_open(const cli_scored_options *options);

/* Reads DATA, its scores and the kernel; m is the number of rows that are to be chosen. Returns the exit code; the caller destroys the
 * points. */
int cli_scored_read(cli_session *session, const char *verb, const char *path, const cli_data *data,
                    const cli_scored_options *options, int64_t m, gram_scored_points **scored);

/* The law of --measure for these points; *law is NULL without it. The caller releases it. Returns the exit code. */
int cli_scored_law(cli_session *session, const char *verb, const cli_scored_options *options, const cli_data *data,
                   const gram_scored_points *scored, gram_law **law);

/* A failure of a computation on the points. Returns the exit code. */
int cli_scored_fail(cli_session *session, gram_status status, const gram_scored_points *scored);

#endif

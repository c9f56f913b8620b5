/* What `test fit` and `thin` share: points, and the scores of a density at them. */
#ifndef GRAM_CLI_VERB_SCORED_POINTS_H
#define GRAM_CLI_VERB_SCORED_POINTS_H

#include "cli/terminal/data_origin.h"
#include "cli/terminal/options.h"

typedef struct cli_scored_options {
    const char *scores;       /* a file, or a column LIST of DATA; NULL: none */
    const char *density;      /* NULL: none */
    const char *density_data; /* of the density 'logistic' */
    const char *kernel;       /* NULL: imq by `precondition` */
    cli_chosen precondition;  /* gram_stein_metric */
} cli_scored_options;

cli_group cli_scored_group(cli_scored_options *options);

/* What --help says of densities. */
void cli_scored_help(gram_string *text);

/* Options that do not go together, named by the verb. `needed`: there must be scores. Returns CLI_DONE or the exit code
 * after a message. */
int cli_scored_check(const char *verb, const cli_scored_options *options, int needed);

typedef struct cli_scored {
    const char *file;
    gram_table *table; /* as it was read, all columns */
    int64_t n, d;
    int64_t *columns; /* of the table that the points are */
    double *numbers;  /* n x d */
    double *scores;   /* n x d, or NULL */
    gram_points *points;
    const char *source; /* of the scores, for people: "scores of FILE", "density NAME", ... */
    char source_text[96];
    gram_kernel *kernel; /* resolved */
    char *kernel_text;
} cli_scored;

/* Reads DATA, its scores and the kernel; m is the number of rows that are to be chosen. Standardised columns (--scale) have
 * their scores multiplied by the deviations. Returns the exit code; the caller frees it in any case. */
int cli_scored_read(cli_session *session, const char *verb, const char *path, const cli_data *data,
                    const cli_scored_options *options, int64_t m, cli_scored *scored);
void cli_scored_free(cli_scored *scored);

/* A failure of a computation on the points. Returns the exit code. */
int cli_scored_fail(cli_session *session, gram_status status, const cli_scored *scored);

#endif

/* The frequencies of a stationary kernel for `gram kernel --density`: as a table, in JSON, and drawn. */
#ifndef GRAM_CLI_REPORT_DENSITY_REPORT_H
#define GRAM_CLI_REPORT_DENSITY_REPORT_H

#include "cli/terminal/cli.h"

typedef struct cli_density_options {
    int asked;
    const char *grid; /* of frequencies, NULL: chosen */
    int64_t column;   /* from 1; 0: the first */
} cli_density_options;

typedef struct cli_density {
    int64_t column, count;
    double *w, *values; /* count of each */
    gram_spectral_density *density;
    const gram_spectral_report *report;
} cli_density;

/* Returns the exit code, after a message. */
int cli_density_find(cli_session *session, const cli_density_options *options, gram_kernel *kernel, int64_t d,
                     cli_density *found);
/* All take one that was not found, too. */
void cli_density_free(cli_density *found);
void cli_density_json(gram_json *json, const cli_density *found);
void cli_density_print(cli_session *session, gram_string *text, const cli_density *found);
int cli_density_plot(cli_session *session, const char *path, const char *kernel, const cli_density *found);

#endif

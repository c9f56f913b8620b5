/* What `gram kernel` finds out about a Gram matrix by its eigenvalues: --check, --spectrum, --lambda. */
#ifndef GRAM_CLI_REPORT_SPECTRUM_REPORT_H
#define GRAM_CLI_REPORT_SPECTRUM_REPORT_H

#include "cli/terminal/cli.h"

/* What is asked for. */
typedef struct cli_spectrum_options {
    int check;
    int64_t count; /* of eigenvalues to show */
    double lambda; /* 0: not given */
} cli_spectrum_options;

int cli_spectrum_is_asked(const cli_spectrum_options *options);

/* `total` is the number of rows of the data. */
void cli_spectrum_print(cli_session *session, gram_string *text, const cli_spectrum_options *options,
                        const gram_spectrum_report *spectrum, int64_t total);

/* The scree plot: eigenvalues by their number, on a log scale; kernel and file are for its title. Returns the exit code. */
int cli_spectrum_plot(cli_session *session, const char *path, const gram_kernel *kernel, const char *file,
                      const cli_spectrum_options *options, const gram_spectrum *spectrum);

#endif

/* What `gram kernel` finds out about a Gram matrix by its eigenvalues: --check, --spectrum, --lambda. */
#ifndef GRAM_CLI_REPORT_GRAM_SPECTRUM_H
#define GRAM_CLI_REPORT_GRAM_SPECTRUM_H

#include "cli/terminal/cli.h"
#include "cli/terminal/json_print.h"

enum { CLI_CERTIFICATE_ENTRIES = 5 };

/* What is asked for. */
typedef struct cli_spectrum_options {
    int check;
    int64_t count; /* of eigenvalues to show */
    double lambda; /* 0: not given */
} cli_spectrum_options;

typedef struct cli_spectrum {
    int64_t n;        /* rows that were looked at: all, or a seeded sample */
    int64_t *rows;    /* which, ascending, from 0 */
    double *values;   /* all n eigenvalues, descending */
    double tolerance; /* n eps |largest|: what rounding makes of 0 */
    int psd;
    double effective_dimension; /* NaN without lambda */

    /* with check */
    int symmetric;
    double form;                                /* v'Kv < 0 of a unit vector v, NaN if psd */
    int64_t entry_row[CLI_CERTIFICATE_ENTRIES]; /* the largest entries of v: rows of the file, from 1; 0: no more */
    double entry[CLI_CERTIFICATE_ENTRIES];
    double ratio;          /* the largest |k(x,y)|/sqrt(k(x,x) k(y,y)), NaN if there is no pair */
    int64_t ratio_rows[2]; /* where, from 1 */
    int cauchy_schwarz;    /* ratio <= 1 up to rounding */
    double metric[3];      /* least, median and largest d_k(x, y) over pairs of rows, NaN if there is none */
    int64_t metric_rows;   /* rows that the pairs are of */
} cli_spectrum;

int cli_spectrum_is_asked(const cli_spectrum_options *options);

/* Finds it for K(X, X), X the rows of the table; the caller frees it, also after a failure. Returns a status, after
 * which the context has the message. The rows are a sample if there are more than 4,000, or too many for their
 * matrix to fit in half of the memory budget. */
gram_status cli_spectrum_find(cli_session *session, const gram_kernel *kernel, const gram_table *table,
                              const cli_spectrum_options *options, cli_spectrum *spectrum);
void cli_spectrum_free(cli_spectrum *spectrum);

void cli_spectrum_json(cli_json *json, const cli_spectrum_options *options, const cli_spectrum *spectrum);
/* `total` is the number of rows of the data. */
void cli_spectrum_print(cli_session *session, cli_text *text, const cli_spectrum_options *options,
                        const cli_spectrum *spectrum, int64_t total);

/* The scree plot: eigenvalues by their number, on a log scale; kernel and file are for its title. Returns the exit code. */
int cli_spectrum_plot(cli_session *session, const char *path, const char *kernel, const char *file,
                      const cli_spectrum_options *options, const cli_spectrum *spectrum);

#endif

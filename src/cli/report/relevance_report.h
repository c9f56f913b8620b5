/* Which features a fitted kernel looks at: 1/ell for kernels with one length-scale per column. */
#ifndef GRAM_CLI_REPORT_RELEVANCE_REPORT_H
#define GRAM_CLI_REPORT_RELEVANCE_REPORT_H

#include "cli/terminal/cli.h"
#include "cli/terminal/json_print.h"

typedef struct cli_relevance_row {
    int64_t feature; /* of the preparation */
    double value;    /* 1/ell in scaled units; the largest of its columns if it is text */
    double length;   /* ell in the feature's own units, NaN for text */
} cli_relevance_row;

/* Sorted, the most relevant first. */
typedef struct cli_relevance {
    int64_t count; /* 0: the kernel does not tell */
    cli_relevance_row *rows;
    const gram_preparation *preparation; /* borrowed */
} cli_relevance;

/* Only for kernels that have exactly one list of length-scales, one for each prepared column. Returns the exit code; the
 * caller frees it, also after a failure. */
int cli_relevance_find(cli_session *session, const gram_kernel *kernel, const gram_preparation *preparation,
                       cli_relevance *relevance);
void cli_relevance_free(cli_relevance *relevance);

const char *cli_relevance_name(const cli_relevance *relevance, int64_t row);

/* "relevance": [...], nothing if the kernel does not tell; for people, the `most` most relevant, with bars. */
void cli_relevance_json(cli_json *json, const cli_relevance *relevance);
void cli_relevance_print(cli_session *session, cli_text *text, const cli_relevance *relevance, int64_t most);

#endif

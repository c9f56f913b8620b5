/* Which features a fitted kernel looks at: 1/ell for kernels with one length-scale per column. */
#ifndef GRAM_CLI_REPORT_RELEVANCE_REPORT_H
#define GRAM_CLI_REPORT_RELEVANCE_REPORT_H

#include "cli/terminal/cli.h"

/* Sorted, the most relevant first. */
typedef struct cli_relevance {
    int64_t count; /* 0: the kernel does not tell */
    gram_relevance *rows;
    const gram_preparation *preparation; /* borrowed */
} cli_relevance;

/* Returns the exit code; the caller frees it, also after a failure. */
int cli_relevance_find(cli_session *session, const gram_kernel *kernel, const gram_preparation *preparation,
                       cli_relevance *relevance);
void cli_relevance_free(cli_relevance *relevance);

const char *cli_relevance_name(const cli_relevance *relevance, int64_t row);

/* "relevance": [...], nothing if the kernel does not tell; for people, the `most` most relevant, with bars. */
void cli_relevance_json(gram_json *json, const cli_relevance *relevance);
void cli_relevance_print(cli_session *session, gram_string *text, const cli_relevance *relevance, int64_t most);

#endif

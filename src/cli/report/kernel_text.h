/* Kernels as text: read from the command line, printed, and said in the words of other tools. */
#ifndef GRAM_CLI_REPORT_KERNEL_TEXT_H
#define GRAM_CLI_REPORT_KERNEL_TEXT_H

#include "cli/terminal/cli.h"

/* Reads an expression. Returns CLI_DONE, or the exit code after a message. The caller releases the kernel. */
int cli_kernel_read(cli_session *session, const char *expression, gram_kernel **kernel);

/* The expression as gram writes it. The caller frees it; NULL when there is no memory. */
char *cli_kernel_text(const gram_kernel *kernel);

/* The same kernel in the words of each tool; empty where a tool has no such kernel. */
typedef struct cli_words {
    gram_string tools[GRAM_TOOL_COUNT];
} cli_words;

/* Returns the exit code. The caller frees the words, also after a failure. */
int cli_words_find(cli_session *session, const gram_kernel *kernel, int64_t d, cli_words *words);
void cli_words_free(cli_words *words);

/* "equivalents": {...} */
void cli_words_json(gram_json *json, const cli_words *words);
void cli_words_print(cli_session *session, gram_string *text, const cli_words *words);

#endif

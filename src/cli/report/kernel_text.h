/* Kernels as text: read from the command line, printed, and said in the words of other tools. */
#ifndef GRAM_CLI_REPORT_KERNEL_TEXT_H
#define GRAM_CLI_REPORT_KERNEL_TEXT_H

#include "cli/terminal/cli.h"

/* Reads an expression. Returns CLI_DONE, or the exit code after a message. The caller releases the kernel. */
int cli_kernel_read(cli_session *session, const char *expression, gram_kernel **kernel);

/* A row with the kernel. */
void cli_add_kernel(gram_string *text, const char *label, const gram_kernel *kernel);

/* The same kernel in the words of each tool that has it: rows, and "equivalents": {...}. The first returns whether scikit-learn has it. */
int cli_words_print(cli_session *session, gram_string *text, const gram_kernel *kernel, int64_t d);
void cli_words_json(cli_session *session, gram_json *json, const gram_kernel *kernel, int64_t d);

#endif

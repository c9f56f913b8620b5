/* What is known of a kernel, for people: its properties and its parameters. */
#ifndef GRAM_CLI_REPORT_KERNEL_REPORT_H
#define GRAM_CLI_REPORT_KERNEL_REPORT_H

#include "cli/terminal/cli.h"

/* The rows of gram_kernel_describe, on R^d or what the kernel takes instead. */
void cli_kernel_print(cli_session *session, gram_string *text, const gram_kernel *kernel,
                      const gram_description *description, int64_t d);

/* A table of the parameters. `given`: what the kernel was resolved from, the kernel itself if it was not. */
void cli_parameters_print(cli_session *session, gram_string *text, const gram_kernel *kernel, const gram_kernel *given);

#endif

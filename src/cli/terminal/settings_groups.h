/* The options of methods, from the library's table: what `fit` and verbs of methods take, and their help says of it. */
#ifndef GRAM_CLI_TERMINAL_SETTINGS_GROUPS_H
#define GRAM_CLI_TERMINAL_SETTINGS_GROUPS_H

#include "cli/terminal/options.h"

enum { CLI_MOST_METHODS = 32 };

typedef struct cli_method_options {
    cli_settings settings; /* where their values go */
    size_t group_count;    /* one for options of several methods, then one for each method that has others */
    cli_group groups[CLI_MOST_METHODS + 1];
    char titles[CLI_MOST_METHODS + 1][64];
    cli_option options[CLI_MOST_METHODS + 1][CLI_MOST_SETTINGS];
    const char *verb;
    size_t method_count;        /* of the verb, by name, */
    gram_method_facts first;    /* and the first of them */
    gram_string names, kernels; /* what help says of --method and --kernel */
    gram_string *texts;         /* that the tables point to */
    size_t text_count;
    int failed; /* there was no memory for one of them */
} cli_method_options;

/* Of the methods of a verb, NULL: of those that have none of their own, `fit`'s. Returns CLI_DONE or the exit code after a
 * message; the caller frees it in any case. */
int cli_method_options_make(cli_method_options *made, const char *verb);
void cli_method_options_free(cli_method_options *made);

#endif

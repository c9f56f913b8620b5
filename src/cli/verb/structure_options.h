/* The options of the verbs that methods bring: tables from which each verb has what its methods know. */
#ifndef GRAM_CLI_VERB_STRUCTURE_OPTIONS_H
#define GRAM_CLI_VERB_STRUCTURE_OPTIONS_H

#include "cli/terminal/settings_groups.h"

typedef struct structure_options {
    cli_chosen format;
    const char *model, *rows; /* files for the model, and for what it says of the rows */
    const char *at;           /* the file of other rows, of which it says it */
    int reconstruct;
    const char *plot, *show, *colour;
    cli_settings settings;
} structure_options;

/* Room for the groups of a verb, and what they hold. */
enum { STRUCTURE_MOST_OPTIONS = 25, STRUCTURE_MOST_GROUPS = CLI_MOST_METHODS + 5 };
typedef struct structure_groups {
    size_t count, option_count;
    cli_group groups[STRUCTURE_MOST_GROUPS];
    cli_option options[STRUCTURE_MOST_OPTIONS];
    char pictures[128]; /* what help says of --show */
} structure_groups;

/* The groups of options that a verb takes, the common ones last; their values go to `own`, the methods' settings and `common`. */
void structure_groups_make(const cli_method_options *methods, structure_options *own, cli_common *common,
                           structure_groups *made);

/* Options that do not go together, and files that cannot be written. Return CLI_DONE, or the exit code after a message. */
int structure_check_use(cli_session *session, const gram_verb *verb, const structure_options *own);
int structure_check_picture(cli_session *session, const gram_verb *verb, const structure_options *own);

/* "-" */
int structure_is_standard_output(const char *path);

/* Adds the settings that the command line implies: the verb's method unless one is named, and a kernel that is an operand (or NULL). Returns
 * the exit code. */
int structure_add_settings(const gram_verb *verb, const cli_method_options *methods, const char *kernel,
                           cli_settings *settings);

#endif

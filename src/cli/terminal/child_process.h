/* Commands that run beside gram: started without a shell, their last line of output kept, stopped when their time is over. */
#ifndef GRAM_CLI_TERMINAL_CHILD_PROCESS_H
#define GRAM_CLI_TERMINAL_CHILD_PROCESS_H

#include <stddef.h>
#include <sys/types.h>

enum { CLI_LINE_SIZE = 4096 };

/* Starts as {0}. */
typedef struct cli_child {
    pid_t process;                                 /* 0: there is none */
    int output;                                    /* its standard output; -1: closed */
    double started;                                /* seconds of a clock that only goes on */
    int timed_out;                                 /* was stopped for it */
    int status;                                    /* of wait, once it ended */
    char line[CLI_LINE_SIZE], last[CLI_LINE_SIZE]; /* the line that is coming, and the last one that was not blank */
    size_t length;
} cli_child;

/* Starts arguments[0] with arguments (NULL at the end), standard input being empty and standard error gram's. 0, or an errno that
 * says why it cannot be run. The child ends when gram does, however that ends. */
int cli_child_start(cli_child *child, char *const *arguments);

/* Waits up to `seconds` for any of them to say something or to end. The number of one that ended (its status and last line are then
 * known), or -1: none has yet. With limit > 0 those that take longer are stopped. */
int cli_children_wait(cli_child *children, int count, double seconds, double limit);

/* How a child that ended failed, as text in `out`; NULL if it did not. */
const char *cli_child_failure(const cli_child *child, char *out, size_t size);

/* Stops them all, and waits for that. */
void cli_children_stop(cli_child *children, int count);

#endif

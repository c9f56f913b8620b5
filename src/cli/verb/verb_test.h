/* What the tests of `gram test` share: their options, and how an outcome is printed. */
#ifndef GRAM_CLI_VERB_VERB_TEST_H
#define GRAM_CLI_VERB_VERB_TEST_H

#include "cli/terminal/cli.h"
#include "cli/terminal/options.h"

/* One file and one row in the table of verb_test.c each; `arguments` start with the test's name. */
int cli_test_two_sample(int count, char **arguments);
int cli_test_independence(int count, char **arguments);
int cli_test_fit(int count, char **arguments);

typedef struct cli_test_options {
    double level;
    int64_t permutations;
    const char *method; /* NULL: the test's default */
    const char *plot;
    int biased;
    int gate;
} cli_test_options;

/* The defaults, and the options that every test has. */
void cli_test_defaults(cli_test_options *options);
cli_group cli_test_group(cli_test_options *options);

/* The place of --method among `count` names, 0 if it was not given. Returns CLI_DONE, or the exit code after a message that
 * lists them. `verb` is the usage's. */
int cli_test_method(const char *verb, const cli_test_options *options, const char *const *names, int count, int *place);

/* What every test finds. */
typedef struct cli_test_outcome {
    const char *test;
    const char *method;
    gram_kernel *const *kernels;
    int kernel_count;
    const char *assumes; /* of the data; NULL: nothing is said, and the test prints its kernel itself */
    double statistic, p_value, level;
    int64_t draws; /* permutations or bootstrap draws; 0: the p-value is a formula's */
    int reject;
    int64_t n, m; /* m = 0: there is no second sample */
} cli_test_outcome;

#define CLI_TEST_EXACT "rows are independent of each other; the level holds for every sample size"

/* A line that helps when sums overflow. */
#define CLI_TEST_TOO_LARGE                                                                                             \
    "Numbers of very different size need another kernel, other units or, with --no-scale, standardising."

/* What it assumes, its permutations, and mean and deviation of the statistic if the hypothesis holds: keys of an open object. */
void cli_test_json(gram_json *json, const cli_test_outcome *outcome, double null_mean, double null_deviation);

/* The rows that every test has; and one for rows that were dropped, if any were. */
void cli_test_print(gram_string *text, const cli_test_outcome *outcome);
void cli_test_print_dropped(gram_string *text, int64_t dropped);

/* A test from its arguments to its exit code. The functions that return an int return an exit code. */
typedef struct cli_test_plan {
    const cli_usage *usage;
    const cli_group *groups; /* the last is that of cli_common */
    size_t group_count;
    const cli_test_options *options;
    void *report;                                                     /* the test's own, given to the functions */
    int (*check)(void *report);                                       /* options that do not go together */
    int (*find)(cli_session *session, char **operands, void *report); /* all of the work */
    void (*json)(cli_session *session, const void *report, gram_json *json); /* into an open object */
    void (*print)(cli_session *session, const void *report, gram_string *text);
    cli_test_outcome (*outcome)(const void *report);
    void (*release)(void *report); /* in any case, also when nothing was found */
} cli_test_plan;

/* Parses, checks, works, prints; the keys that every test has come by themselves. Exit code 10 when --gate was given and the test rejects. */
int cli_test_run(cli_test_plan *plan, int count, char **arguments);

#endif

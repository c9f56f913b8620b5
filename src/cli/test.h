/* What the tests of `gram test` share: their options, and how an outcome is printed. */
#ifndef GRAM_CLI_TEST_H
#define GRAM_CLI_TEST_H

#include "json.h"
#include "options.h"

/* One file and one row in the table of test.c each; `arguments` start with the test's name. */
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

/* Is the level below 1, and can the plot be drawn? Returns CLI_DONE, or the exit code after a message that names the
 * test. */
int cli_test_check(const char *test, const cli_test_options *options);

/* What every test finds. */
typedef struct cli_test_outcome {
    const char *test;
    const char *method;
    const char *kernel;
    double statistic, p_value, level;
    int reject;
    int64_t n, m; /* m = 0: there is no second sample */
} cli_test_outcome;

/* The keys that every test has, into an open object; and the same rows for people. */
void cli_test_json(cli_json *json, const cli_test_outcome *outcome);
void cli_test_print(cli_text *text, const cli_test_outcome *outcome);

/* The exit code of a test that was done: that of --gate when it rejected. */
int cli_test_code(const cli_test_options *options, int reject);

#endif

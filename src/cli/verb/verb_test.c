/* gram test: hypothesis tests. Finds the test and runs it; holds what the tests share. */
#include "cli/verb/verb_test.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/plot/gnuplot.h"
#include "cli/report/report_rows.h"

/* A new test is a file and a row. */
static const cli_verb tests[] = {
    {"two-sample", "do two samples come from one distribution? (MMD)", cli_test_two_sample},
    {"independence", "are two groups of columns independent? (HSIC)", cli_test_independence},
    {"fit", "does a sample come from a density? (kernel Stein discrepancy)", cli_test_fit},
};

enum { TESTS = sizeof tests / sizeof *tests };

#define PLACE(field) offsetof(cli_test_options, field)

static const cli_option test_options[] = {
    CLI_ROW("level", CLI_POSITIVE, PLACE(level), "A", "probability of a false alarm that is accepted (default 0.05)"),
    CLI_ROW("method", CLI_TEXT, PLACE(method), "NAME", "how the p-value is found; see above"),
    CLI_ROW_INTEGER("permutations", PLACE(permutations), "N", 1, 10000000,
                    "random permutations or bootstrap draws (default 999)"),
    CLI_ROW_FLAG("biased", PLACE(biased), "report the V-statistic"),
    CLI_ROW_FLAG("gate", PLACE(gate), "end with exit code 10 when the test rejects"),
    CLI_ROW("plot", CLI_TEXT, PLACE(plot), "FILE", "draw the result: .svg, .png or .pdf (by gnuplot)"),
};

void cli_test_defaults(cli_test_options *options)
{
    const cli_test_options defaults = {.level = 0.05, .permutations = 999};
    *options = defaults;
}

cli_group cli_test_group(cli_test_options *options)
{
    return (cli_group){"Options of tests", test_options, sizeof test_options / sizeof *test_options, options};
}

static int check_level(cli_session *session, const char *verb, const cli_test_options *options)
{
    char number[GRAM_NUMBER_SIZE];
    if (!(options->level < 1))
        return cli_fail(CLI_WRONG_USE, "A level is a probability such as 0.05.", "%s: --level %s is not below 1", verb,
                        gram_number_format(options->level, number));
    return options->plot ? cli_plot_check(session, options->plot) : CLI_DONE;
}

int cli_test_method(const char *verb, const cli_test_options *options, const char *const *names, int count, int *place)
{
    gram_string help = {0};
    *place = 0;
    if (!options->method) return CLI_DONE;
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], options->method) == 0) {
            *place = i;
            return CLI_DONE;
        }
    for (int i = 0; i < count; i++) gram_string_add(&help, "%s%s", i ? ", " : "Methods: ", names[i]);
    const char *near = gram_suggest(options->method, names, (size_t)count);
    const int code = cli_fail(CLI_WRONG_USE, help.data, "%s: no method '%s'%s%s%s", verb, options->method,
                              near ? ", did you mean '" : "", near ? near : "", near ? "'?" : "");
    gram_string_free(&help);
    return code;
}

/* A count, or null for 0. */
static void json_count(gram_json *json, const char *key, int64_t count)
{
    if (count > 0)
        gram_json_integer(json, key, count);
    else
        gram_json_null(json, key);
}

/* With commas between; `whole`: in all digits. */
static void add_kernels(gram_string *text, const cli_test_outcome *outcome, int whole)
{
    for (int k = 0; k < outcome->kernel_count; k++) {
        if (k > 0) gram_string_add(text, ", ");
        (whole ? gram_kernel_append : gram_kernel_append_short)(outcome->kernels[k], text);
    }
}

static void start_json(gram_json *json, const cli_test_outcome *outcome)
{
    gram_string kernels = {0};
    add_kernels(&kernels, outcome, 1);
    gram_json_string(json, "test", outcome->test);
    gram_json_string(json, "method", outcome->method);
    gram_json_number(json, "statistic", outcome->statistic);
    gram_json_number(json, "p_value", outcome->p_value);
    gram_json_number(json, "level", outcome->level);
    gram_json_truth(json, "reject", outcome->reject);
    gram_json_string(json, "kernel", kernels.data);
    json->text->failed |= kernels.failed;
    gram_string_free(&kernels);
    gram_json_integer(json, "n", outcome->n);
    json_count(json, "m", outcome->m);
}

void cli_test_json(gram_json *json, const cli_test_outcome *outcome, double null_mean, double null_deviation)
{
    gram_json_string(json, "assumes", outcome->assumes);
    json_count(json, "permutations", outcome->draws);
    gram_json_number(json, "null_mean", null_mean);
    gram_json_number(json, "null_deviation", null_deviation);
}

void cli_test_print(gram_string *text, const cli_test_outcome *outcome)
{
    char number[CLI_SHORT_SIZE], level[CLI_SHORT_SIZE];
    if (outcome->assumes) {
        cli_add_row(text, "assumed", outcome->assumes);
        cli_add_label(text, "kernel");
        add_kernels(text, outcome, 0);
        gram_string_add(text, "\n");
    }
    cli_add_row(text, "statistic", cli_short_number(outcome->statistic, number));
    cli_add_row(text, "p-value", cli_short_number(outcome->p_value, number));
    cli_add_label(text, "result");
    gram_string_add(text, "%s at level %s", outcome->reject ? "rejected" : "not rejected",
                    cli_short_number(outcome->level, level));
    const double least = 1 / (1 + (double)outcome->draws);
    if (outcome->draws > 0 && least > outcome->level) /* the user should know that no data would have been rejected */
        gram_string_add(text, ", nor could it be: %" PRId64 " draws give p >= %s, use more --permutations",
                        outcome->draws, cli_short_number(least, number));
    gram_string_add(text, "\n");
}

void cli_test_print_dropped(gram_string *text, int64_t dropped)
{
    char count[CLI_SHORT_SIZE];
    if (dropped == 0) return;
    cli_add_label(text, "missing values");
    gram_string_add(text, "%s row%s dropped\n", gram_count_format(dropped, count), cli_plural(dropped));
}

static void write_json(cli_session *session, const void *plan_, gram_json *json)
{
    const cli_test_plan *plan = plan_;
    const cli_test_outcome outcome = plan->outcome(plan->report);
    start_json(json, &outcome);
    plan->json(session, plan->report, json);
    cli_json_end(session, json, plan->options->plot);
}

static void write_table(cli_session *session, const void *plan_, gram_string *text)
{
    const cli_test_plan *plan = plan_;
    plan->print(session, plan->report, text);
}

static int work(cli_session *session, char **operands, void *plan_)
{
    const cli_test_plan *plan = plan_;
    int code = check_level(session, plan->usage->verb, plan->options);
    if (code == CLI_DONE) code = plan->check(plan->report);
    if (code == CLI_DONE) code = plan->find(session, operands, plan->report);
    if (code == CLI_DONE) code = cli_report_print(session, plan, write_json, write_table);
    if (code == CLI_DONE && plan->options->gate && plan->outcome(plan->report).reject) code = CLI_REJECTED;
    return code;
}

static void release(void *plan_)
{
    const cli_test_plan *plan = plan_;
    plan->release(plan->report);
}

int cli_test_run(cli_test_plan *plan, int count, char **arguments)
{
    const cli_job job = {plan->usage, plan->groups, plan->group_count, work, release, plan};
    return cli_run(&job, count, arguments);
}

static int print_tests(void)
{
    gram_string text = {0};
    gram_string_add(&text, "Usage: gram test TEST [OPTIONS] [FILES]\n\nTests:\n");
    cli_add_verbs(&text, tests, TESTS, 17);
    gram_string_add(&text, "\n`gram test TEST --help` describes a test and its options.\n");
    return cli_print(&text);
}

int cli_test(int count, char **arguments)
{
    if (count < 2) return cli_fail(CLI_WRONG_USE, "`gram test --help` lists the tests.", "test: say which test");
    if (strcmp(arguments[1], "--help") == 0 || strcmp(arguments[1], "-h") == 0) return print_tests();
    for (int i = 0; i < TESTS; i++)
        if (strcmp(tests[i].name, arguments[1]) == 0) return tests[i].run(count - 1, arguments + 1);
    return cli_no_such("test: ", "test", arguments[1], tests, TESTS, "`gram test --help` lists the tests.");
}

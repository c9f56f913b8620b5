/* The command `gram`: finds the verb and runs it. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/cli.h"
#include "cli/terminal/ranks.h"

/* A new verb is a file and a row; methods bring verbs of their own. */
static const cli_verb own_verbs[] = {
    {"fit", "learn a model from data", cli_fit},
    {"predict", "predict new data with a model, and score the predictions", cli_predict},
    {"info", "describe a model", cli_info},
    {"compare", "methods and baselines side by side, by the same left-out rows", cli_compare},
    {"cv", "one method by folds, and its predictions of every left-out row", cli_cv},
    {"explain", "what a model does with its features: importance, dependence, terms, training rows", cli_explain},
    {"report", "one page of HTML about a model, to show", cli_report},
    {"accumulate", "sums over a part of the rows, for a fit that is spread over processes", cli_accumulate},
    {"merge", "a model from the sums of all parts", cli_merge},
    {"function", "models as functions: norms, inner products, sums, gradients", cli_function},
    {"convert", "convert models of LIBSVM to models of gram and back", cli_convert},
    {"kernel", "describe a kernel, and its Gram matrix on data", cli_kernel},
    {"make", "make data for trials by a rule and a seed: sine, circles, moons and others", cli_make},
    {"optimize", "find the least value of a command in few runs: Bayesian optimisation", cli_optimize},
    {"sample", "draw from a Gaussian process, prior or posterior", cli_sample_verb},
    {"test", "test hypotheses: two samples, independence, fit to a density", cli_test},
    {"thin", "choose a few rows that stand for many: Stein thinning, herding", cli_thin},
};

enum { OWN_VERBS = sizeof own_verbs / sizeof *own_verbs, MOST_VERBS = 64 };

/* All verbs: the rows above and, once each, those of methods. Returns their number. */
static size_t list_verbs(cli_verb verbs[MOST_VERBS])
{
    size_t count = OWN_VERBS;
    memcpy(verbs, own_verbs, sizeof own_verbs);
    for (int64_t i = 0; i < gram_method_count() && count < MOST_VERBS; i++) {
        gram_method_facts method = {.size = sizeof method};
        gram_method_describe(i, &method);
        size_t known = 0;
        while (method.verb && known < count && strcmp(verbs[known].name, method.verb->name) != 0) known++;
        if (method.verb && known == count)
            verbs[count++] = (cli_verb){method.verb->name, method.verb->summary, cli_structure};
    }
    return count;
}

static void add_usage(gram_string *text)
{
    cli_verb verbs[MOST_VERBS];
    const size_t count = list_verbs(verbs);
    gram_string_add(text, "Usage: gram VERB [OPTIONS] [FILES]\n\nVerbs:\n");
    cli_add_verbs(text, verbs, count, 14);
    gram_string_add(text,
                    "  help VERB   describe a verb and its options\n"
                    "\n`gram --version` shows the version, the processor's instructions, BLAS and threads in use.\n");
}

static int print_usage(void)
{
    gram_string text = {0};
    gram_string_add(&text, "gram: kernel methods\n\n");
    add_usage(&text);
    return cli_print(&text);
}

static int print_version(void)
{
    gram_string text = {0};
    gram_context *context = NULL;
    gram_context_options options;
    gram_context_options_init(&options, sizeof options);
    options.threads = cli_threads(0);
    const gram_status status = gram_context_create(&options, &context);
    if (status < 0) return cli_fail(cli_exit_code(status, 0), NULL, "cannot start: %s", gram_status_text(status));
    gram_string_add(&text, "gram %s\n", gram_version());
    gram_string_add(&text, "instructions  %s\n", gram_context_isa(context));
    gram_string_add(&text, "BLAS          %s\n", gram_blas_name());
    gram_string_add(&text, "threads       %d\n", gram_context_threads(context));
    gram_context_destroy(context);
    return cli_print(&text);
}

static int (*find_verb(const char *name))(int count, char **arguments)
{
    cli_verb verbs[MOST_VERBS];
    const size_t count = list_verbs(verbs);
    for (size_t i = 0; i < count; i++)
        if (strcmp(verbs[i].name, name) == 0) return verbs[i].run;
    return NULL;
}

static int no_such_verb(const char *name)
{
    cli_verb verbs[MOST_VERBS];
    const size_t count = list_verbs(verbs);
    return cli_no_such("", "verb", name, verbs, count, "`gram help` lists the verbs.");
}

/* gram help [VERB]: the same as gram VERB --help */
static int run_help(int count, char **arguments)
{
    char option[] = "--help";
    if (count < 2) return print_usage();
    if (strcmp(arguments[1], "help") == 0) return print_usage();
    int (*run)(int, char **) = find_verb(arguments[1]);
    char *asked[] = {arguments[1], option, NULL};
    return run ? run(2, asked) : no_such_verb(arguments[1]);
}

static int run_command(int count, char **arguments)
{
    if (count < 2) {
        gram_string text = {0};
        add_usage(&text);
        (void)fprintf(stderr, "%s", text.data ? text.data : "");
        gram_string_free(&text);
        return CLI_WRONG_USE;
    }
    const char *word = arguments[1];
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) return print_version();
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return print_usage();
    if (strcmp(word, "help") == 0) return run_help(count - 1, arguments + 1);
    int (*run)(int, char **) = find_verb(word);
    return run ? run(count - 1, arguments + 1) : no_such_verb(word);
}

int main(int count, char **arguments)
{
    cli_catch_signals();
    const int code = cli_ranks_begin(&count, &arguments);
    return cli_ranks_end(code == CLI_DONE ? run_command(count, arguments) : code);
}

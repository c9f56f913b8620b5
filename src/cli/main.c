/* The command `gram`: finds the verb and runs it. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/terminal/cli.h"

/* A new verb is a file and a row; methods bring verbs of their own. */
static const cli_verb own_verbs[] = {
    {"fit", "learns a model from data", cli_fit},
    {"predict", "predictions of a model for new data, and their scores", cli_predict},
    {"info", "what a model is", cli_info},
    {"convert", "models of LIBSVM to models of gram and back", cli_convert},
    {"kernel", "facts about a kernel, and about its Gram matrix on data", cli_kernel},
    {"sample", "draws from a Gaussian process, prior or posterior", cli_sample_verb},
    {"test", "hypothesis tests: two samples, independence, fit to a density", cli_test},
    {"thin", "a few rows that stand for many: Stein thinning, herding", cli_thin},
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

static const cli_common standard_output = {0};

static int print(gram_string *text)
{
    const int code = cli_write(&standard_output, text);
    gram_string_free(text);
    return code;
}

static void add_usage(gram_string *text)
{
    cli_verb verbs[MOST_VERBS];
    const size_t count = list_verbs(verbs);
    gram_string_add(text, "Usage: gram VERB [OPTIONS] [FILES]\n\nVerbs:\n");
    for (size_t i = 0; i < count; i++) {
        gram_string_add(text, "  %s", verbs[i].name);
        gram_string_pad(text, 14);
        gram_string_add(text, "%s\n", verbs[i].summary);
    }
    gram_string_add(text,
                    "  help VERB   what a verb does and its options\n"
                    "\n`gram --version` shows the version, the processor's instructions, BLAS and threads in use.\n");
}

static int print_usage(void)
{
    gram_string text = {0};
    gram_string_add(&text, "gram: kernel methods\n\n");
    add_usage(&text);
    return print(&text);
}

static int print_version(void)
{
    gram_string text = {0};
    gram_context *context = NULL;
    const gram_status status = gram_context_create(NULL, &context);
    if (status < 0) return cli_fail(cli_exit_code(status, 0), NULL, "cannot start: %s", gram_status_text(status));
    gram_string_add(&text, "gram %s\n", gram_version());
    gram_string_add(&text, "instructions  %s\n", gram_context_isa(context));
    gram_string_add(&text, "BLAS          %s\n", gram_blas_name());
    gram_string_add(&text, "threads       %d (OpenMP)\n", gram_context_threads(context));
    gram_context_destroy(context);
    return print(&text);
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
    const char *names[MOST_VERBS + 1] = {"help"};
    const size_t count = list_verbs(verbs);
    for (size_t i = 0; i < count; i++) names[i + 1] = verbs[i].name;
    const char *help = "`gram help` lists the verbs.";
    const char *what = name[0] == '-' ? "option" : "verb", *near = NULL;
    if (name[0] != '-') near = gram_suggest(name, names, count + 1);
    if (near) return cli_fail(CLI_WRONG_USE, help, "no verb '%s', did you mean '%s'?", name, near);
    return cli_fail(CLI_WRONG_USE, help, "no %s '%s'", what, name);
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

/* OpenMP's threads spin while they wait for each other, which on a busy machine takes the processor from those that
 * work: a fit of 120 rows took 6 s instead of 0.15 s. The policy is read when the process starts, so it starts anew; if
 * that is not possible, everything stays as it is. */
static void wait_asleep(char **arguments)
{
    if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT")) return;
    if (setenv("OMP_WAIT_POLICY", "passive", 1) == 0) (void)execv("/proc/self/exe", arguments);
}

int main(int count, char **arguments)
{
    wait_asleep(arguments);
    if (count < 2) {
        gram_string text = {0};
        add_usage(&text);
        (void)fprintf(stderr, "%s", text.data ? text.data : "");
        gram_string_free(&text);
        return CLI_WRONG_USE;
    }
    const char *word = arguments[1];
    cli_catch_signals();
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) return print_version();
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return print_usage();
    if (strcmp(word, "help") == 0) return run_help(count - 1, arguments + 1);
    int (*run)(int, char **) = find_verb(word);
    return run ? run(count - 1, arguments + 1) : no_such_verb(word);
}

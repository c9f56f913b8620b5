#include "cli/terminal/settings_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 64, MOST_TEXTS = 512 };

/* The rows of the table that have one option. */
typedef struct owners {
    int64_t count;
    gram_method_facts method[MOST_ROWS];
    gram_option_facts option[MOST_ROWS];
} owners;

static gram_method_facts method_at(int64_t index)
{
    gram_method_facts facts = {.size = sizeof facts};
    gram_method_describe(index, &facts);
    return facts;
}

static gram_option_facts option_at(int64_t method, int64_t index)
{
    gram_option_facts facts = {.size = sizeof facts};
    gram_method_option(method, index, &facts);
    return facts;
}

/* Is the method one of the verb's? NULL is that of methods without one of their own, `fit`. */
static int is_of_verb(const gram_method_facts *method, const char *verb)
{
    return verb ? method->verb && strcmp(method->verb->name, verb) == 0 : !method->verb;
}

/* Of rows with one name the last, the plain one, is used. */
static void add_owner(owners *all, const gram_method_facts *method, const gram_option_facts *option)
{
    for (int64_t k = 0; k < all->count; k++)
        if (strcmp(all->method[k].name, method->name) == 0) {
            all->method[k] = *method;
            all->option[k] = *option;
            return;
        }
    all->method[all->count] = *method;
    all->option[all->count++] = *option;
}

static void find_owners(const char *verb, const char *name, owners *all)
{
    all->count = 0;
    for (int64_t i = 0; i < gram_method_count() && all->count < MOST_ROWS; i++) {
        const gram_method_facts method = method_at(i);
        for (int64_t k = 0; k < method.options && is_of_verb(&method, verb); k++) {
            const gram_option_facts option = option_at(i, k);
            if (strcmp(option.name, name) == 0) add_owner(all, &method, &option);
        }
    }
}

static const char *help_of(const gram_option_facts *option, int no)
{
    return no ? option->help_no : option->help;
}

/* "of krr and gp: ..." where they say the same, else "krr: ...; gp: ..." */
static void write_help(const owners *all, int no, gram_string *text)
{
    int same = 1;
    for (int64_t k = 1; k < all->count; k++)
        same &= strcmp(help_of(&all->option[k], no), help_of(&all->option[0], no)) == 0;
    if (same) gram_string_add(text, "%s", help_of(&all->option[0], no));
    for (int64_t k = 0; k < all->count && !same; k++)
        gram_string_add(text, "%s%s: %s", k > 0 ? "; " : "", all->method[k].name, help_of(&all->option[k], no));
    if (!same || all->count == 1) return;
    gram_string_add(text, " (");
    for (int64_t k = 0; k < all->count; k++) gram_string_add(text, "%s%s", k > 0 ? ", " : "", all->method[k].name);
    gram_string_add(text, ")");
}

static gram_string *new_text(cli_method_options *made)
{
    return made->text_count < MOST_TEXTS ? &made->texts[made->text_count++] : NULL;
}

static void add_option(cli_method_options *made, size_t group, const owners *all, int no)
{
    const gram_option_facts *option = &all->option[0];
    cli_group *to = &made->groups[group];
    gram_string *name = new_text(made), *help = new_text(made);
    if (!name || !help || to->count == CLI_MOST_SETTINGS || !help_of(option, no)) return;
    gram_string_add(name, "%s%s", no ? "no-" : "", option->name);
    write_help(all, no, help);
    if (name->failed || help->failed) return;
    made->options[group][to->count++] = (cli_option){
        .name = name->data,
        .letter = name->length == 1 ? name->data[0] : '\0',
        .type = no                                   ? CLI_NO
                : option->kind == GRAM_OPTION_SWITCH ? CLI_YES
                                                     : CLI_SETTING,
        .argument = option->argument,
        .help = help->data,
    };
}

static int is_new(const cli_method_options *made, const char *name)
{
    for (size_t g = 0; g < made->group_count; g++)
        for (size_t i = 0; i < made->groups[g].count; i++) {
            const char *known = made->groups[g].options[i].name;
            if (strcmp(known, name) == 0 || (strncmp(known, "no-", 3) == 0 && strcmp(known + 3, name) == 0)) return 0;
        }
    return 1;
}

/* The group of a method, made when it is first asked for. */
static size_t group_of(cli_method_options *made, const gram_method_facts *method)
{
    char start[64];
    (void)snprintf(start, sizeof start, made->method_count == 1 ? "Of the method" : "Of %s only", method->name);
    for (size_t g = 1; g < made->group_count; g++)
        if (strcmp(made->groups[g].title, start) == 0) return g;
    const size_t g = made->group_count++;
    gram_string_add(&made->titles[g], "%s", start);
    made->groups[g] = (cli_group){made->titles[g].data, made->options[g], 0, &made->settings};
    return g;
}

/* Is this the last row of its name? */
static int is_last(int64_t index)
{
    for (int64_t i = index + 1; i < gram_method_count(); i++)
        if (strcmp(method_at(i).name, method_at(index).name) == 0) return 0;
    return 1;
}

/* "auto, krr (kernel ridge regression), ..." and "an expression (default: rbf; gp: const*rbf; ...)" */
static void write_methods(cli_method_options *made)
{
    const char *verb = made->verb;
    gram_string_add(&made->names, verb ? "" : "auto (default: by the target)");
    gram_string_add(&made->kernels, "an expression (default%s:", verb ? "" : ", with one length-scale per feature");
    for (int64_t i = 0; i < gram_method_count(); i++) {
        const gram_method_facts method = method_at(i);
        if (!is_last(i) || !is_of_verb(&method, verb)) continue;
        gram_string_add(&made->names, "%s%s (%s)", made->names.length > 0 ? ", " : "", method.name, method.title);
        if (made->method_count == 0) made->first = method;
        made->method_count++;
        if (method.kernel) gram_string_add(&made->kernels, " %s for %s,", method.kernel, method.name);
    }
    if (made->kernels.length > 0) made->kernels.data[made->kernels.length - 1] = ')';
}

int cli_method_options_make(cli_method_options *made, const char *verb)
{
    owners *all = calloc(1, sizeof *all);
    made->texts = calloc(MOST_TEXTS, sizeof *made->texts);
    made->groups[0] = (cli_group){"Options of several methods", made->options[0], 0, &made->settings};
    made->group_count = 1;
    made->verb = verb;
    write_methods(made);
    for (int64_t i = 0; i < gram_method_count() && all && made->texts; i++) {
        const gram_method_facts method = method_at(i);
        for (int64_t k = 0; k < method.options && is_of_verb(&method, verb); k++) {
            const gram_option_facts option = option_at(i, k);
            if (!is_new(made, option.name)) continue;
            find_owners(verb, option.name, all);
            const size_t group = all->count > 1 ? 0 : group_of(made, &all->method[0]);
            add_option(made, group, all, 0);
            add_option(made, group, all, 1);
        }
    }
    const int failed = !all || !made->texts || made->names.failed || made->kernels.failed;
    free(all);
    return failed ? cli_no_memory() : CLI_DONE;
}

void cli_method_options_free(cli_method_options *made)
{
    for (size_t i = 0; i < made->text_count; i++) gram_string_free(&made->texts[i]);
    for (size_t g = 0; g < made->group_count; g++) gram_string_free(&made->titles[g]);
    gram_string_free(&made->names);
    gram_string_free(&made->kernels);
    free(made->texts);
}

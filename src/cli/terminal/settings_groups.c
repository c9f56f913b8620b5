#include "cli/terminal/settings_groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXTS = 512 };

/* "--NAME", or "--no-NAME" if `no`; nothing if that is the default. */
static void add_option(cli_method_options *made, cli_group *group, int64_t index, const gram_option_facts *option,
                       int no)
{
    if (!(no ? option->help_no : option->help) || made->text_count + 2 > MOST_TEXTS ||
        group->count == CLI_MOST_SETTINGS)
        return;
    gram_string *name = &made->texts[made->text_count++], *help = &made->texts[made->text_count++];
    gram_string_add(name, "%s%s", no ? "no-" : "", option->name);
    gram_option_help(made->verb, index, no, help);
    made->failed |= name->failed || help->failed;
    made->options[group - made->groups][group->count++] = (cli_option){
        .name = name->data,
        .letter = name->length == 1 ? name->data[0] : '\0',
        .type = no                                   ? CLI_NO
                : option->kind == GRAM_OPTION_SWITCH ? CLI_YES
                                                     : CLI_SETTING,
        .argument = option->argument,
        .help = help->data,
    };
}

/* The group of a method, made when it is first asked for; that of several methods if it is NULL. */
static cli_group *group_of(cli_method_options *made, const char *method)
{
    const size_t last = made->group_count;
    (void)snprintf(made->titles[last], sizeof made->titles[last],
                   !method                   ? "Options of several methods"
                   : made->method_count == 1 ? "Options of the method"
                                             : "Options of %s only",
                   method);
    for (size_t g = 0; g < last; g++)
        if (strcmp(made->titles[g], made->titles[last]) == 0) return &made->groups[g];
    made->groups[last] = (cli_group){made->titles[last], made->options[last], 0, &made->settings};
    return &made->groups[made->group_count++];
}

/* The methods of the verb: how many names there are, and the first. */
static void count_methods(cli_method_options *made)
{
    const char *before = "";
    for (int64_t i = 0; i < gram_method_count(); i++) {
        gram_method_facts method = {.size = sizeof method};
        gram_method_describe(i, &method);
        if (made->verb ? !method.verb || strcmp(method.verb->name, made->verb) != 0 : method.verb != NULL) continue;
        if (strcmp(method.name, before) == 0) continue;
        before = method.name;
        if (made->method_count++ == 0) made->first = method;
    }
}

int cli_method_options_make(cli_method_options *made, const char *verb)
{
    made->verb = verb;
    made->texts = calloc(MOST_TEXTS, sizeof *made->texts);
    count_methods(made);
    (void)group_of(made, NULL);
    const int64_t count = gram_option_count(verb); /* it goes through all rows */
    for (int64_t i = 0; i < count && made->texts; i++) {
        const char *method;
        gram_option_facts option = {.size = sizeof option};
        gram_option_describe(verb, i, &option, &method);
        add_option(made, group_of(made, method), i, &option, 0);
        add_option(made, group_of(made, method), i, &option, 1);
    }
    gram_string_add(&made->names, verb ? "" : "auto (default: by the target)");
    gram_string_add(&made->kernels, "an expression (default%s: ", verb ? "" : ", with one length-scale per feature");
    gram_methods_help(verb, &made->names, &made->kernels);
    if (verb && made->method_count > 1) gram_string_add(&made->names, "; default: %s", made->first.name);
    gram_string_add(&made->kernels, ")");
    return !made->texts || made->failed || made->names.failed || made->kernels.failed ? cli_no_memory() : CLI_DONE;
}

void cli_method_options_free(cli_method_options *made)
{
    for (size_t i = 0; i < made->text_count; i++) gram_string_free(&made->texts[i]);
    gram_string_free(&made->names);
    gram_string_free(&made->kernels);
    free(made->texts);
}

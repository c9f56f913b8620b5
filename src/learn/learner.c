/* A learner: its options by name, and how it speaks. */
#include "learn/learner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "learn/learn_steps.h"
#include "learn/method_table.h"
#include <gram/text.h>

static const gram_choice TASKS[] = {
    {"auto", GRAM_TASK_AUTO, NULL, 0, 0},
    {"regression", GRAM_TASK_REGRESSION, NULL, 0, 0},
    {"classification", GRAM_TASK_CLASSIFICATION, NULL, 0, 0},
    {"one-class", GRAM_TASK_ONE_CLASS, NULL, 0, 0},
    {NULL, 0, NULL, 0, 0},
};

static const gram_choice MISSINGS[] = {
    {"drop", GRAM_MISSING_DROP, NULL, 0, 0},
    {"mean", GRAM_MISSING_MEAN, NULL, 0, 0},
    {"error", GRAM_MISSING_ERROR, NULL, 0, 0},
    {NULL, 0, NULL, 0, 0},
};

static const gram_choice CELL_TUNINGS[] = {{"each", 0, NULL, 0, 0}, {"shared", 1, NULL, 0, 0}, {NULL, 0, NULL, 0, 0}};

const gram_option gram_common_options[GRAM_COMMON_COUNT] = {
    [GRAM_COMMON_METHOD] = {.name = "method", .kind = GRAM_OPTION_TEXT, .flags = GRAM_OPTION_RESUMES},
    [GRAM_COMMON_TASK] = {.name = "task", .kind = GRAM_OPTION_CHOICE, .choices = TASKS},
    [GRAM_COMMON_KERNEL] = {.name = "kernel", .kind = GRAM_OPTION_TEXT},
    [GRAM_COMMON_TARGET] = {.name = "target", .kind = GRAM_OPTION_TEXT},
    [GRAM_COMMON_FEATURES] = {.name = "features", .kind = GRAM_OPTION_TEXT},
    [GRAM_COMMON_IGNORE] = {.name = "ignore", .kind = GRAM_OPTION_TEXT},
    [GRAM_COMMON_WEIGHTS] = {.name = "weights", .kind = GRAM_OPTION_TEXT},
    [GRAM_COMMON_MISSING] = {.name = "missing", .kind = GRAM_OPTION_CHOICE, .choices = MISSINGS},
    [GRAM_COMMON_NA] = {.name = "na", .kind = GRAM_OPTION_TEXT},
    [GRAM_COMMON_CATEGORIES] = {.name = "categories", .kind = GRAM_OPTION_TEXT},
    [GRAM_COMMON_TEXT] = {.name = "text", .kind = GRAM_OPTION_TEXT},
    [GRAM_COMMON_GRAM] = {.name = "gram", .kind = GRAM_OPTION_TEXT},
    [GRAM_COMMON_BAG] = {.name = "bag", .kind = GRAM_OPTION_TEXT},
    [GRAM_COMMON_BAG_WEIGHTS] = {.name = "bag-weights", .kind = GRAM_OPTION_TEXT},
    [GRAM_COMMON_GRAPH] = {.name = "graph", .kind = GRAM_OPTION_TEXT},
    [GRAM_COMMON_SCALE] = {.name = "scale", .kind = GRAM_OPTION_SWITCH, .otherwise = "yes"},
    [GRAM_COMMON_GROUPS] = {.name = "groups", .kind = GRAM_OPTION_TEXT},
    [GRAM_COMMON_ORDERED] = {.name = "ordered", .kind = GRAM_OPTION_SWITCH, .otherwise = "no"},
    [GRAM_COMMON_KIND] = {.name = "kind", .kind = GRAM_OPTION_TEXT},
    [GRAM_COMMON_COEFFICIENT] = {.name = "coefficient", .kind = GRAM_OPTION_TEXT},
    [GRAM_COMMON_OPERATOR] = {.name = "operator", .kind = GRAM_OPTION_TEXT},
    [GRAM_COMMON_STREAM] = {.name = "stream", .kind = GRAM_OPTION_SWITCH},
    [GRAM_COMMON_CELLS] =
        {.name = "cells", .kind = GRAM_OPTION_INTEGER, .least = 1, .most = 1 << 30, .flags = GRAM_OPTION_AUTO},
    [GRAM_COMMON_CELL_TUNING] = {.name = "cell-tuning", .kind = GRAM_OPTION_CHOICE, .choices = CELL_TUNINGS},
    [GRAM_COMMON_ESTIMATE] = {.name = "estimate",
                              .kind = GRAM_OPTION_CHOICE,
                              .choices = gram_estimate_choices,
                              .flags = GRAM_OPTION_RESUMES},
    [GRAM_COMMON_TRANSFORM] = {.name = "transform", .kind = GRAM_OPTION_CHOICE, .choices = gram_transform_choices},
};

/* ---- texts of its own ---- */

static gram_status copy_text(gram_context *context, gram_memory *memory, const char *text, char **copy)
{
    const size_t size = strlen(text) + 1;
    const gram_status status = gram_take_from(context, memory, "learner", (int64_t)size, 1, (void **)copy);
    if (status >= 0) memcpy(*copy, text, size);
    return status;
}

static void free_text(gram_memory *memory, const char *text)
{
    if (text) gram_memory_give(memory, (char *)text);
}

static gram_status replace_text(gram_context *context, gram_memory *memory, const char *text, char **place)
{
    char *copy = NULL;
    const gram_status status = text ? copy_text(context, memory, text, &copy) : GRAM_OK;
    if (status < 0) return status;
    free_text(memory, *place);
    *place = copy;
    return GRAM_OK;
}

gram_status gram_learner_create(gram_context *context, gram_learner **learner)
{
    gram_status status = GRAM_OK;
    gram_learner *made = NULL;
    *learner = NULL;
    TRY(gram_take(context, "learner", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    TRY(gram_learner_speak(context, made, "learn", ""));
    *learner = made;
    made = NULL;
done:
    gram_learner_destroy(made);
    return status;
}

void gram_learner_destroy(gram_learner *learner)
{
    if (!learner) return;
    gram_memory *memory = learner->memory;
    gram_learner_forget(learner);
    for (int64_t i = 0; i < learner->count; i++) {
        free_text(memory, learner->given[i].name);
        free_text(memory, learner->given[i].value);
    }
    free_text(memory, learner->who);
    free_text(memory, learner->dashes);
    free_text(memory, learner->before_name);
    gram_kernel_release(learner->kernel);
    gram_memory_give(memory, learner);
    gram_memory_release(memory);
}

gram_status gram_learner_speak(gram_context *context, gram_learner *learner, const char *who, const char *dashes)
{
    gram_status status = GRAM_OK;
    TRY(replace_text(context, learner->memory, who, &learner->who));
    TRY(replace_text(context, learner->memory, dashes, &learner->dashes));
done:
    return status;
}

void gram_learner_to_file(gram_learner *learner, int to_file)
{
    learner->to_file = to_file;
}

void gram_learner_on_plan(gram_learner *learner, gram_plan_fn tell, void *user)
{
    learner->tell = tell;
    learner->tell_user = user;
}

gram_status gram_learner_resume(gram_context *context, gram_learner *learner, const gram_model *before,
                                const char *name)
{
    learner->before = before;
    return replace_text(context, learner->memory, before ? name ? name : "the model" : NULL, &learner->before_name);
}

gram_status gram_learner_set_kernel(gram_context *context, gram_learner *learner, gram_kernel *kernel)
{
    (void)context;
    gram_kernel_release(learner->kernel);
    learner->kernel = kernel ? gram_kernel_retain(kernel) : NULL;
    return GRAM_OK;
}

const gram_lesson *gram_learner_lesson(const gram_learner *learner)
{
    return learner->has_learnt ? &learner->lesson : NULL;
}

/* ---- options ---- */

/* The method that was asked for, NULL: none so far. */
static const char *given_method(const gram_learner *learner)
{
    for (int64_t i = 0; i < learner->count; i++)
        if (strcmp(learner->given[i].name, gram_common_options[GRAM_COMMON_METHOD].name) == 0)
            return learner->given[i].value;
    return NULL;
}

/* Does some row have the option? Then the first such, that of the method (or NULL) if the text is a value of none, and whether it is of one. */
static const gram_option *find_option(const char *method, const char *name, const char *value, int *valid)
{
    const gram_option *found = NULL;
    *valid = 0;
    for (int i = 0; i < GRAM_COMMON_COUNT; i++)
        if (strcmp(gram_common_options[i].name, name) == 0) found = &gram_common_options[i];
    if (found) *valid = gram_option_read(found, value, NULL);
    for (int64_t i = 0; gram_method_row(i) && !*valid; i++) {
        const gram_option *option = gram_method_find_option(gram_method_row(i), name);
        if (!option) continue;
        if (!found || (method && strcmp(gram_method_row(i)->name, method) == 0)) found = option;
        *valid = gram_option_read(option, value, NULL);
    }
    return found;
}

/* The name that was most likely meant, or NULL. */
static const char *near_option(const char *name)
{
    enum { MOST = 256 };
    const char *names[MOST];
    size_t count = 0;
    for (int i = 0; i < GRAM_COMMON_COUNT; i++) names[count++] = gram_common_options[i].name;
    for (int64_t i = 0; gram_method_row(i); i++)
        for (size_t k = 0; k < gram_method_row(i)->option_count && count < MOST; k++)
            names[count++] = gram_method_row(i)->options[k].name;
    return gram_suggest(name, names, count);
}

static gram_status no_option(gram_context *context, const gram_learner *learner, const char *name)
{
    const char *near = near_option(name);
    if (near)
        (void)gram_fail(context, GRAM_ERROR_ARGUMENT, "%s: no option '%s%s', did you mean '%s%s'?", learner->who,
                        learner->dashes, name, learner->dashes, near);
    else
        (void)gram_fail(context, GRAM_ERROR_ARGUMENT, "%s: no option '%s%s'", learner->who, learner->dashes, name);
    return GRAM_ERROR_ARGUMENT;
}

/* The word of a choice that was most likely meant, or NULL. */
static const char *near_choice(const gram_option *option, const char *value)
{
    enum { MOST = 32 };
    const char *names[MOST];
    size_t count = 0;
    for (const gram_choice *c = option->choices; c && c->name && count < MOST; c++) {
        const size_t length = strlen(c->name);
        if (strncmp(c->name, value, length) == 0 && value[length] == ':') return NULL;
        names[count++] = c->name;
    }
    return gram_suggest(value, names, count);
}

/* The words that some row takes for an option, each once. */
static size_t all_choices(const char *name, gram_choice *choices, size_t room)
{
    size_t count = 0;
    for (int64_t i = 0; gram_method_row(i); i++) {
        const gram_option *option = gram_method_find_option(gram_method_row(i), name);
        for (const gram_choice *c = option ? option->choices : NULL; c && c->name && count + 1 < room; c++) {
            size_t known = 0;
            while (known < count && strcmp(choices[known].name, c->name) != 0) known++;
            if (known == count) choices[count++] = *c;
        }
    }
    choices[count] = (gram_choice){0};
    return count;
}

/* Of a word that takes a number: which. */
static void explain_number(const gram_option *option, const char *value, char *advice, size_t size)
{
    const size_t length = strcspn(value, ":"), at = strlen(advice);
    for (const gram_choice *c = option->kind == GRAM_OPTION_CHOICE ? option->choices : NULL; c && c->name; c++)
        if (c->number && strlen(c->name) == length && strncmp(c->name, value, length) == 0)
            (void)snprintf(advice + at, size - at, " %s is a whole number from %" PRId64 " to %" PRId64 ".", c->number,
                           c->least, c->most);
}

static gram_status bad_value(gram_context *context, const gram_learner *learner, const gram_option *option,
                             const char *value)
{
    enum { MOST = 32 };
    char advice[256];
    gram_choice choices[MOST];
    gram_option whole = *option;
    if (option->kind == GRAM_OPTION_CHOICE && all_choices(option->name, choices, MOST) > 0) whole.choices = choices;
    const char *near = near_choice(&whole, value);
    gram_option_explain(&whole, advice, sizeof advice);
    explain_number(&whole, value, advice, sizeof advice);
    (void)gram_fail(context, GRAM_ERROR_ARGUMENT,
                    near ? "%s: %s%s cannot be '%s', did you mean '%s'?" : "%s: %s%s cannot be '%s'", learner->who,
                    learner->dashes, option->name, value, near);
    return gram_advise(context, GRAM_ERROR_ARGUMENT, advice);
}

static int is_any(const gram_method *method, const void *argument)
{
    (void)method, (void)argument;
    return 1;
}

static gram_status check_method(gram_context *context, const gram_learner *learner, const char *name)
{
    enum { MOST = 64 };
    char list[256], advice[300];
    const char *names[MOST], *near;
    size_t count = 0;
    if (strcmp(name, "auto") == 0 || gram_method_is_known(name)) return GRAM_OK;
    for (int64_t i = 0; gram_method_row(i) && count < MOST; i++) names[count++] = gram_method_row(i)->name;
    near = gram_suggest(name, names, count);
    (void)gram_fail(context, GRAM_ERROR_ARGUMENT,
                    near ? "%s: %smethod cannot be '%s', did you mean '%s'?" : "%s: %smethod cannot be '%s'",
                    learner->who, learner->dashes, name, near);
    (void)snprintf(advice, sizeof advice, "It may be auto, %s.",
                   gram_method_list(is_any, NULL, " or", list, sizeof list));
    return gram_advise(context, GRAM_ERROR_ARGUMENT, advice);
}

static void take_back(gram_learner *learner, int64_t at)
{
    free_text(learner->memory, learner->given[at].name);
    free_text(learner->memory, learner->given[at].value);
    learner->given[at] = learner->given[--learner->count];
}

static gram_status add(gram_context *context, gram_learner *learner, const char *name, const char *value)
{
    gram_status status = GRAM_OK;
    char *texts[2] = {NULL, NULL};
    FAIL_IF(learner->count == GRAM_MOST_GIVEN, context, GRAM_ERROR_ARGUMENT, "learner_set: more than %d options",
            GRAM_MOST_GIVEN);
    TRY(copy_text(context, learner->memory, name, &texts[0]));
    TRY(copy_text(context, learner->memory, value, &texts[1]));
    learner->given[learner->count++] = (gram_setting){texts[0], texts[1]};
    return GRAM_OK;
done:
    free_text(learner->memory, texts[0]);
    return status;
}

/* "solver" "cells:2000" is "cells" "2000": above all methods. */
static void read_cells(const char **option, const char **value)
{
    const char *word = gram_common_options[GRAM_COMMON_CELLS].name;
    const size_t length = strlen(word);
    if (!*value || strcmp(*option, "solver") != 0 || strncmp(*value, word, length) != 0) return;
    if ((*value)[length] != '\0' && (*value)[length] != ':') return;
    *option = word;
    *value = (*value)[length] == ':' ? *value + length + 1 : "auto";
}

gram_status gram_learner_set(gram_context *context, gram_learner *learner, const char *option, const char *value)
{
    gram_status status = GRAM_OK;
    int valid = 1;
    read_cells(&option, &value);
    const gram_option *found = find_option(given_method(learner), option, value ? value : "", &valid);
    if (!found) return no_option(context, learner, option);
    if (value && !valid) return bad_value(context, learner, found, value);
    if (value && found == &gram_common_options[GRAM_COMMON_METHOD]) TRY(check_method(context, learner, value));
    for (int64_t i = 0; i < learner->count; i++)
        if (strcmp(learner->given[i].name, option) == 0) {
            take_back(learner, i);
            break;
        }
    if (value) TRY(add(context, learner, option, value));
done:
    return status;
}

const char *gram_learning_common(const gram_learning *learning, gram_common_option option)
{
    return gram_given_text(learning, gram_common_options[option].name);
}

/* ---- settings ---- */

static int has_option(const gram_method *method, const void *argument)
{
    return gram_method_find_option(method, argument) != NULL;
}

/* As it was written: a switch that is turned off is --no-NAME. */
static const char *name_of(const gram_setting *given, char *text, size_t size)
{
    int valid;
    const gram_option *option = find_option(NULL, given->name, given->value, &valid);
    const int no = option && option->kind == GRAM_OPTION_SWITCH && strcmp(given->value, "no") == 0;
    (void)snprintf(text, size, "%s%s", no ? "no-" : "", given->name);
    return text;
}

/* Another row of the same name that has the option, NULL: none. */
static const gram_method *find_sibling(const gram_method *method, const char *name)
{
    const gram_method *row;
    for (int64_t i = 0; (row = gram_method_row(i)); i++)
        if (row != method && strcmp(row->name, method->name) == 0 && gram_method_find_option(row, name)) return row;
    return NULL;
}

/* "--nu is an option of svm, not of krr"; of a variant: "--delta is not for krr with the loss squared". */
static gram_status refuse_option(gram_learning *learning, const gram_setting *given)
{
    char list[128], name[64];
    const gram_method *method = learning->method;
    name_of(given, name, sizeof name);
    const gram_method *sibling = method->variant ? find_sibling(method, given->name) : NULL;
    /* options are checked before the data, which may say that these are classes */
    const int classes = sibling && sibling->tasks == 1u << GRAM_TASK_CLASSIFICATION;
    if (sibling)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT,
                                  classes ? "Leave it out, or give --task classification." : "Leave it out.",
                                  "--%s is not for %s with %s", name, method->name, method->variant);
    gram_method_list(has_option, given->name, " and", list, sizeof list);
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave it out.", "--%s is an option of %s, not of %s",
                              name, list, method->name);
}

gram_status gram_learning_check_task(gram_learning *learning)
{
    char name[64];
    const gram_method *method = learning->method;
    for (int64_t i = 0; i < learning->given_count; i++) {
        const gram_option *option = gram_method_find_option(method, learning->given[i].name);
        if (!option || option->tasks == 0 || option->tasks >> learning->task & 1u) continue;
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave it out.", "--%s is not for %s by %s",
                                  name_of(&learning->given[i], name, sizeof name), gram_task_name(learning->task),
                                  method->name);
    }
    return GRAM_OK;
}

static int is_common(const char *name)
{
    for (int i = 0; i < GRAM_COMMON_COUNT; i++)
        if (strcmp(gram_common_options[i].name, name) == 0) return 1;
    return 0;
}

/* At most one option of a group: they say one thing in different words. */
static gram_status check_groups(gram_learning *learning)
{
    const gram_method *method = learning->method;
    for (size_t i = 0; i < method->option_count; i++) {
        const gram_option *a = &method->options[i];
        if (!a->group || !gram_given_text(learning, a->name)) continue;
        for (size_t k = i + 1; k < method->option_count; k++) {
            const gram_option *b = &method->options[k];
            if (b->group && strcmp(a->group, b->group) == 0 && gram_given_text(learning, b->name))
                return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT,
                                          "Each takes the place of the other: leave one of them out.",
                                          "give one of --%s and --%s", a->name, b->name);
        }
    }
    return GRAM_OK;
}

/* With a model that goes on, only what says how far and how long may be given. */
static gram_status check_resumes(gram_learning *learning, const gram_setting *given, const gram_option *option)
{
    char name[64];
    if (!learning->before || strcmp(given->name, "method") == 0 || (option && option->flags & GRAM_OPTION_RESUMES))
        return GRAM_OK;
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave it out; `gram info` shows what the model has.",
                              "--%s does not go with --resume: the model decides", name_of(given, name, sizeof name));
}

static int takes_value(const gram_method *method, const void *argument)
{
    const gram_setting *given = argument;
    const gram_option *option = gram_method_find_option(method, given->name);
    return option && gram_option_read(option, given->value, NULL);
}

/* A value that other methods take: "--solver markov is of gp, not of krr". */
static gram_status refuse_value(gram_learning *learning, const gram_option *option, const gram_setting *given)
{
    char advice[256], list[128];
    const gram_method *method = learning->method;
    int variant = 0;
    gram_option_explain(option, advice, sizeof advice);
    for (int64_t i = 0; gram_method_row(i); i++)
        variant |= strcmp(gram_method_row(i)->name, method->name) == 0 && takes_value(gram_method_row(i), given);
    if (variant && method->variant)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, advice, "--%s %s is not for %s with %s", given->name,
                                  given->value, method->name, method->variant);
    gram_method_list(takes_value, given, " and", list, sizeof list);
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, advice, "--%s %s is of %s, not of %s", given->name,
                              given->value, list, method->name);
}

static int takes_functionals(const gram_method *method, const void *argument)
{
    (void)argument;
    return method->functionals;
}

static gram_status refuse_kinds(gram_learning *learning, const char *name)
{
    const gram_method *method = learning->method;
    char list[128], advice[192];
    gram_method_list(takes_functionals, NULL, " and", list, sizeof list);
    (void)snprintf(advice, sizeof advice, "Rows of other kinds than values are for %s.", list);
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, advice, "--%s is not for %s%s%s, whose rows are values",
                              name, method->name, method->variant ? " with " : "",
                              method->variant ? method->variant : "");
}

/* An option of every method but this one; a method with a kernel of its own takes no other, and one without a target none. */
static gram_status check_common(gram_learning *learning, const char *name)
{
    const gram_method *method = learning->method;
    if (method->tasks >> GRAM_TASK_TRANSFORM && strcmp(name, gram_common_options[GRAM_COMMON_TARGET].name) == 0)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT,
                                  "Columns that are no features are left out by --ignore.",
                                  "--target is not for %s, which learns none", method->name);
    if (!method->functionals &&
        (strcmp(name, "kind") == 0 || strcmp(name, "operator") == 0 || strcmp(name, "coefficient") == 0))
        return refuse_kinds(learning, name);
    const int refused = (method->refuses && strcmp(name, method->refuses) == 0) ||
                        (!method->kernel && strcmp(name, gram_common_options[GRAM_COMMON_KERNEL].name) == 0);
    if (!refused) return GRAM_OK;
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave it out.", "--%s is not for %s%s%s", name,
                              method->name, method->variant ? " with " : "", method->variant ? method->variant : "");
}

gram_status gram_learning_read_settings(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const gram_method *method = learning->method;
    TRY(gram_learning_take(learning, (int64_t)method->settings_size, 1, &learning->settings));
    gram_method_set_defaults(method, learning->settings);
    for (int64_t i = 0; i < learning->given_count; i++) {
        const gram_setting *given = &learning->given[i];
        const gram_option *option = gram_method_find_option(method, given->name);
        TRY(check_resumes(learning, given, option));
        TRY(check_common(learning, given->name));
        if (is_common(given->name)) continue;
        if (!option) return refuse_option(learning, given);
        if (gram_option_read(option, given->value, learning->settings)) continue;
        return refuse_value(learning, option, given);
    }
    TRY(check_groups(learning));
    if (learning->before) TRY(method->resume(learning));
    if (method->check && !learning->before) TRY(method->check(learning));
    TRY(gram_learning_read_initial(learning));
done:
    return status;
}

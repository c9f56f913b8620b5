/* Options of methods: texts become numbers, words and switches in the fields that a row's table names. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "method/method.h"
#include "method/method_numbers.h"
#include <gram/text.h>

const gram_choice gram_precision_choices[] = {{"auto", 0, NULL, 0, 0},
                                              {"f64", 1, NULL, 0, 0},
                                              {"mixed", 2, NULL, 0, 0},
                                              {"f32", 3, NULL, 0, 0},
                                              {NULL, 0, NULL, 0, 0}};

const gram_option *gram_method_find_option(const gram_method *method, const char *name)
{
    for (size_t i = 0; i < method->option_count; i++)
        if (strcmp(method->options[i].name, name) == 0) return &method->options[i];
    return NULL;
}

/* ---- values ---- */

static int read_integer(const char *text, double least, double most, int64_t *value)
{
    char *end;
    if (text[0] != '-' && (text[0] < '0' || text[0] > '9')) return 0;
    errno = 0;
    const long long read = strtoll(text, &end, 10);
    *value = read;
    return errno == 0 && *end == '\0' && (double)read >= least && (most == 0 || (double)read <= most);
}

static int read_number(const gram_option *option, const char *text, double *value)
{
    const size_t length = strlen(text), taken = gram_number_parse(text, length, value);
    if (taken == 0 || taken != length || !isfinite(*value)) return 0;
    if (*value != 0 && (fabs(*value) < GRAM_LEAST_NUMBER || fabs(*value) > GRAM_MOST_NUMBER)) return 0;
    if (option->above ? !(*value > option->least) : !(*value >= option->least)) return 0;
    return option->most == 0 || *value <= option->most;
}

static int read_choice(const gram_option *option, const char *text, gram_chosen *chosen)
{
    const size_t length = strcspn(text, ":");
    for (const gram_choice *choice = option->choices; choice->name; choice++) {
        if (strlen(choice->name) != length || strncmp(choice->name, text, length) != 0) continue;
        *chosen = (gram_chosen){choice->value, 0};
        if (text[length] == '\0') return 1;
        return choice->number &&
               read_integer(text + length + 1, (double)choice->least, (double)choice->most, &chosen->number);
    }
    return 0;
}

static int read_switch(const char *text, int *value)
{
    *value = strcmp(text, "yes") == 0;
    return *value || strcmp(text, "no") == 0;
}

/* "auto" leaves it to the method, as if it had no default. */
static int read_auto(const gram_option *option, const char *text, void *place)
{
    if (option->flags & GRAM_OPTION_INFINITE && strcmp(text, "inf") == 0) {
        *(double *)place = INFINITY;
        return 1;
    }
    if (!(option->flags & GRAM_OPTION_AUTO) || strcmp(text, "auto") != 0) return 0;
    if (option->kind == GRAM_OPTION_INTEGER)
        *(int64_t *)place = 0;
    else
        *(double *)place = NAN;
    return 1;
}

int gram_option_read(const gram_option *option, const char *text, void *settings)
{
    union {
        double number;
        int64_t integer;
        gram_chosen chosen;
        int on;
    } spare;
    void *place = settings ? (char *)settings + option->offset : (void *)&spare;
    if (read_auto(option, text, place)) return 1;
    switch (option->kind) {
    case GRAM_OPTION_SWITCH: return read_switch(text, place);
    case GRAM_OPTION_TEXT:
        if (settings) *(const char **)place = text;
        return text[0] != '\0';
    case GRAM_OPTION_INTEGER: return read_integer(text, option->least, option->most, place);
    case GRAM_OPTION_NUMBER: return read_number(option, text, place);
    case GRAM_OPTION_CHOICE: return read_choice(option, text, place);
    }
    return 0;
}

/* "It may be auto, exact, cg or nystrom:M." */
static void explain_choices(const gram_choice *choices, char *text, size_t size)
{
    size_t length = (size_t)snprintf(text, size, "It may be ");
    for (const gram_choice *c = choices; c->name && length < size; c++) {
        const char *after = !c[1].name ? "." : !c[2].name ? " or " : ", ";
        const int added = snprintf(text + length, size - length, "%s%s%s%s", c->name, c->number ? ":" : "",
                                   c->number ? c->number : "", after);
        length += (size_t)added;
    }
}

void gram_option_explain(const gram_option *option, char *text, size_t size)
{
    char least[GRAM_NUMBER_SIZE], most[GRAM_NUMBER_SIZE];
    const char *or_auto = option->flags & GRAM_OPTION_INFINITE ? "auto, inf or "
                          : option->flags & GRAM_OPTION_AUTO   ? "auto or "
                                                               : "";
    switch (option->kind) {
    case GRAM_OPTION_SWITCH: (void)snprintf(text, size, "It must be yes or no."); return;
    case GRAM_OPTION_TEXT: (void)snprintf(text, size, "It must not be empty."); return;
    case GRAM_OPTION_CHOICE: explain_choices(option->choices, text, size); return;
    case GRAM_OPTION_INTEGER:
        (void)snprintf(text, size, "It must be %sa whole number from %" PRId64 " to %" PRId64 ".", or_auto,
                       (int64_t)option->least, (int64_t)option->most);
        return;
    case GRAM_OPTION_NUMBER: break;
    }
    gram_number_format(option->least, least);
    gram_number_format(option->most, most);
    if (option->most == 0 && option->above)
        (void)snprintf(text, size, "It must be %sa number above %s, and from 1e-150 to 1e+150.", or_auto, least);
    else if (option->most == 0)
        (void)snprintf(text, size, "It must be %sa number, %s or more, and 0 or from 1e-150 to 1e+150.", or_auto,
                       least);
    else
        (void)snprintf(text, size, "It must be %sa number in %s%s, %s].", or_auto, option->above ? "(" : "[", least,
                       most);
}

/* ---- settings ---- */

void gram_method_set_defaults(const gram_method *method, void *settings)
{
    if (method->settings_size == 0) return;
    memset(settings, 0, method->settings_size);
    for (size_t i = 0; i < method->option_count; i++) {
        const gram_option *option = &method->options[i];
        void *place = (char *)settings + option->offset;
        if (option->otherwise)
            (void)gram_option_read(option, option->otherwise, settings);
        else if (option->kind == GRAM_OPTION_NUMBER)
            *(double *)place = NAN;
        else if (option->kind == GRAM_OPTION_SWITCH)
            *(int *)place = -1;
    }
}

const char *gram_given_text(const gram_learning *learning, const char *name)
{
    for (int64_t i = 0; i < learning->given_count; i++)
        if (strcmp(learning->given[i].name, name) == 0) return learning->given[i].value;
    return NULL;
}

int gram_method_has_task(const gram_method *method, gram_task task)
{
    return (method->tasks >> task & 1u) != 0;
}

/* The options of all methods as one list: each name once, with what help says of it. */
#include <string.h>

#include <gram/output.h>

#include "base/sized_struct.h"
#include "learn/method_table.h"

enum { MOST_OWNERS = 64 };

/* The rows of the table that have one option. */
typedef struct owners {
    int count;
    const gram_method *method[MOST_OWNERS];
    const gram_option *option[MOST_OWNERS];
} owners;

/* Of rows with one name the last, the plain one, is used. */
static void add_owner(owners *all, const gram_method *method, const gram_option *option)
{
    int k = 0;
    while (k < all->count && strcmp(all->method[k]->name, method->name) != 0) k++;
    if (k == MOST_OWNERS) return;
    all->method[k] = method;
    all->option[k] = option;
    if (k == all->count) all->count++;
}

/* Is the method one of the verb's? NULL is that of methods without one of their own, `fit`. */
static int is_of_verb(int64_t row, const char *verb)
{
    const gram_verb *own = gram_method_row(row)->verb;
    return verb ? own && strcmp(own->name, verb) == 0 : !own;
}

static int was_before(const char *verb, int64_t row, size_t option)
{
    const char *name = gram_method_row(row)->options[option].name;
    for (int64_t i = 0; i < row; i++)
        if (is_of_verb(i, verb) && gram_method_find_option(gram_method_row(i), name)) return 1;
    return 0;
}

/* Option number `wanted` of the list, NULL if there is none; *wanted is left as what is still to go. */
static const gram_option *find_option(const char *verb, int64_t *wanted)
{
    for (int64_t i = 0; i < gram_method_count(); i++) {
        const gram_method *row = gram_method_row(i);
        for (size_t k = 0; k < row->option_count && is_of_verb(i, verb); k++)
            if (!was_before(verb, i, k) && (*wanted)-- == 0) return &row->options[k];
    }
    return NULL;
}

static owners owners_of(const char *verb, const char *name)
{
    owners all = {0};
    for (int64_t i = 0; i < gram_method_count(); i++) {
        const gram_option *option = is_of_verb(i, verb) ? gram_method_find_option(gram_method_row(i), name) : NULL;
        if (option) add_owner(&all, gram_method_row(i), option);
    }
    return all;
}

int64_t gram_option_count(const char *verb)
{
    const int64_t many = INT64_MAX;
    int64_t left = many;
    (void)find_option(verb, &left);
    return many - left;
}

gram_status gram_option_describe(const char *verb, int64_t option, gram_option_facts *facts, const char **method)
{
    gram_option_facts all = {.size = sizeof all};
    const gram_option *o = option < 0 ? NULL : find_option(verb, &option);
    if (method) *method = NULL;
    if (o) {
        const owners known = owners_of(verb, o->name);
        o = known.option[0];
        all = (gram_option_facts){sizeof all,   o->name,  o->kind, o->argument, o->help,      o->help_no,
                                  o->otherwise, o->least, o->most, o->above,    o->elsewhere, 0};
        for (int i = 0; i < known.count; i++)
            all.tasks |= known.option[i]->tasks ? known.option[i]->tasks : known.method[i]->tasks;
        for (int i = 1; i < known.count; i++) { /* a switch may be on by default for one method, and off for another */
            if (!all.help) all.help = known.option[i]->help;
            if (!all.help_no) all.help_no = known.option[i]->help_no;
        }
        if (method && known.count == 1) *method = known.method[0]->name;
    }
    gram_sized_write(facts, &all, sizeof all);
    return gram_sized_check(NULL, "option_describe", "facts", "gram_option_facts", facts, sizeof all);
}

static const char *help_of(const gram_option *option, int no)
{
    const char *help = no ? option->help_no : option->help;
    return help ? help : "";
}

/* Those that say something of it. */
static owners heard_of(owners all, int no)
{
    owners heard = {0};
    for (int k = 0; k < all.count; k++)
        if (help_of(all.option[k], no)[0]) add_owner(&heard, all.method[k], all.option[k]);
    return heard;
}

void gram_option_help(const char *verb, int64_t option, int no, gram_string *text)
{
    const gram_option *o = option < 0 ? NULL : find_option(verb, &option);
    if (!o) return;
    const owners all = heard_of(owners_of(verb, o->name), no);
    int same = 1;
    for (int k = 1; k < all.count; k++) same &= strcmp(help_of(all.option[k], no), help_of(all.option[0], no)) == 0;
    if (all.count == 0) return;
    if (same) gram_string_add(text, "%s%s", help_of(all.option[0], no), all.count > 1 ? " (" : "");
    for (int k = 0; k < all.count && (!same || all.count > 1); k++) {
        const char *words = help_of(all.option[k], no);
        int first = 0; /* the first owner that says the same lists them all */
        while (strcmp(help_of(all.option[first], no), words) != 0) first++;
        if (first < k) continue;
        if (k > 0) gram_string_add(text, "; ");
        for (int m = k; m < all.count; m++)
            if (strcmp(help_of(all.option[m], no), words) == 0)
                gram_string_add(text, "%s%s", m > k ? ", " : "", all.method[m]->name);
        gram_string_add(text, "%s%s", same ? ")" : ": ", same ? "" : words);
    }
}

/* Is this the last row of its name, the plain one? */
static int is_last(int64_t index)
{
    for (int64_t i = index + 1; i < gram_method_count(); i++)
        if (strcmp(gram_method_row(i)->name, gram_method_row(index)->name) == 0) return 0;
    return 1;
}

/* Adds the names of the methods with the default kernel of row `index`, which is the first of them; returns how many there are, 0 if it is
 * not the first. */
static int64_t add_owners(const char *verb, int64_t index, gram_string *names)
{
    int64_t count = 0;
    const char *kernel = gram_method_row(index)->kernel;
    for (int64_t i = 0; i < gram_method_count(); i++) {
        const gram_method *row = gram_method_row(i);
        if (!row->kernel || strcmp(row->kernel, kernel) != 0 || !is_last(i) || !is_of_verb(i, verb)) continue;
        if (i < index) return 0;
        gram_string_add(names, "%s%s", count++ > 0 ? ", " : "", row->name);
    }
    return count;
}

void gram_methods_help(const char *verb, gram_string *names, gram_string *kernels)
{
    const char *before = "";
    int64_t methods = 0;
    for (int64_t i = 0; i < gram_method_count(); i++) methods += is_last(i) && is_of_verb(i, verb);
    for (int64_t i = 0; i < gram_method_count(); i++) {
        const gram_method *row = gram_method_row(i);
        gram_string sharing = {0};
        if (!is_last(i) || !is_of_verb(i, verb)) continue;
        gram_string_add(names, "%s%s (%s)", names->length > 0 ? ", " : "", row->name, row->title);
        if (!row->kernel) continue;
        const int64_t count = add_owners(verb, i, &sharing);
        if (count > 0) gram_string_add(kernels, "%s%s", before, row->kernel);
        if (count > 0 && count < methods) gram_string_add(kernels, " for %s", sharing.data ? sharing.data : "");
        if (count > 0) before = "; ";
        kernels->failed |= sharing.failed;
        gram_string_free(&sharing);
    }
}

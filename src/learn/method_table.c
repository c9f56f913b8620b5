/* The table of methods: to add one, write its folder in src/method and its row here. Rows of one name are variants, special ones
 * first: the first that takes what is asked is the one. */
#include "learn/method_table.h"

#include <stdio.h>
#include <string.h>

#include "base/sized_struct.h"

#define GRAM_METHOD_LIST(ROW)                                                                                          \
    ROW(gram_method_loss)                                                                                              \
    ROW(gram_method_krr_features)                                                                                      \
    ROW(gram_method_krr)                                                                                               \
    ROW(gram_method_gp_classes)                                                                                        \
    ROW(gram_method_gp_counts)                                                                                         \
    ROW(gram_method_gp_student)                                                                                        \
    ROW(gram_method_gp)                                                                                                \
    ROW(gram_method_solve)                                                                                             \
    ROW(gram_method_bayes)                                                                                             \
    ROW(gram_method_sgd)                                                                                               \
    ROW(gram_method_flow)                                                                                              \
    ROW(gram_method_spline)                                                                                            \
    ROW(gram_method_svm_features)                                                                                      \
    ROW(gram_method_svm)                                                                                               \
    ROW(gram_method_logistic_features)                                                                                 \
    ROW(gram_method_logistic)                                                                                          \
    ROW(gram_method_integrate)                                                                                         \
    ROW(gram_method_embed)                                                                                             \
    ROW(gram_method_features)                                                                                          \
    ROW(gram_method_mercer)                                                                                            \
    ROW(gram_method_pca)                                                                                               \
    ROW(gram_method_kmeans)                                                                                            \
    ROW(gram_method_spectral)                                                                                          \
    ROW(gram_method_cca)                                                                                               \
    ROW(gram_method_couple)                                                                                            \
    ROW(gram_method_net)

/* Rows that no fit makes models of: they are opened only. */
#define GRAM_KEPT_LIST(ROW)                                                                                            \
    ROW(gram_method_combination)                                                                                       \
    ROW(gram_method_krr_sums)                                                                                          \
    ROW(gram_method_cells)

/* More rows, for the tests. */
#ifdef GRAM_EXTRA_METHODS
#define GRAM_EXTRA_ROW(ROW)                                                                                            \
    ROW(gram_method_nearest)                                                                                           \
    ROW(gram_method_paired)
#else
#define GRAM_EXTRA_ROW(ROW)
#endif

#define DECLARE(row) extern const gram_method row;
GRAM_METHOD_LIST(DECLARE)
GRAM_EXTRA_ROW(DECLARE)
GRAM_KEPT_LIST(DECLARE)
#undef DECLARE

#define ADDRESS(row) &row,
static const gram_method *const METHODS[] = {GRAM_METHOD_LIST(ADDRESS) GRAM_EXTRA_ROW(ADDRESS)};
static const gram_method *const KEPT[] = {GRAM_KEPT_LIST(ADDRESS)};
#undef ADDRESS

enum { COUNT = sizeof METHODS / sizeof *METHODS, KEPT_COUNT = sizeof KEPT / sizeof *KEPT };

const gram_method *gram_method_row(int64_t index)
{
    return index >= 0 && index < COUNT ? METHODS[index] : NULL;
}

int gram_method_is_known(const char *name)
{
    for (int i = 0; i < COUNT; i++)
        if (strcmp(METHODS[i]->name, name) == 0) return 1;
    return 0;
}

const gram_method *gram_method_choose(const gram_learning *learning, const char *name)
{
    const gram_task task = learning->task;
    for (int i = 0; i < COUNT; i++) {
        const gram_method *method = METHODS[i];
        const unsigned first = method->first_for;
        if (name && strcmp(method->name, name) != 0) continue;
        if (!name && !(task == GRAM_TASK_AUTO ? first >> GRAM_TASK_REGRESSION & 1u : first >> task & 1u)) continue;
        if (task != GRAM_TASK_AUTO && !gram_method_has_task(method, task)) continue;
        if (!method->takes || method->takes(learning)) return method;
    }
    return NULL;
}

const gram_method *gram_method_of_model(const gram_model *model)
{
    const gram_method *plain = NULL;
    for (int i = 0; i < COUNT + KEPT_COUNT; i++) {
        const gram_method *method = i < COUNT ? METHODS[i] : KEPT[i - COUNT];
        const char *kept = method->kept ? method->kept : method->name;
        int has_task = 0;
        for (int task = 1; task < GRAM_TASK_COUNT; task++)
            has_task |= gram_method_has_task(method, (gram_task)task) &&
                        strcmp(gram_task_name((gram_task)task), gram_model_task(model)) == 0;
        if (!has_task || strcmp(kept, gram_model_method(model)) != 0) continue;
        if (method->marker && gram_model_find(model, method->marker).name) return method;
        if (!method->marker && (!plain || strcmp(method->name, kept) == 0)) plain = method;
    }
    return plain;
}

int gram_words_have(const char *words, const char *word)
{
    const size_t length = strlen(word);
    for (; *words; words += strcspn(words, " "), words += *words == ' ')
        if (length > 0 && strcspn(words, " ") == length && strncmp(words, word, length) == 0) return 1;
    return 0;
}

gram_status gram_method_check_words(gram_context *context, const gram_method *method, const gram_model *model,
                                    const char *name)
{
    for (const gram_kept_words *w = method->words; w && w->fact; w++) {
        const gram_fact fact = gram_model_find(model, w->fact);
        if (!fact.name || (fact.kind == GRAM_FACT_TEXT && gram_words_have(w->words, fact.text))) continue;
        (void)gram_fail(context, GRAM_ERROR_DATA, "%s: damaged: its %s is '%.40s', not one of: %s", name, w->fact,
                        fact.kind == GRAM_FACT_TEXT ? fact.text : "a number", w->words);
        return gram_advise(context, GRAM_ERROR_DATA, "Fit it again; a newer gram may know it.");
    }
    return GRAM_OK;
}

const char *gram_method_list(gram_method_filter is_so, const void *argument, const char *last, char *text, size_t size)
{
    const char *names[COUNT] = {NULL};
    int count = 0;
    size_t length = 0;
    /* methods with a verb of their own where there are no others */
    for (int verbs = 0; verbs < 2 && count == 0; verbs++)
        for (int i = 0; i < COUNT; i++) {
            int known = !verbs && METHODS[i]->verb;
            for (int k = 0; k < count; k++) known |= strcmp(names[k], METHODS[i]->name) == 0;
            if (!known && is_so(METHODS[i], argument)) names[count++] = METHODS[i]->name;
        }
    text[0] = '\0';
    for (int k = 0; k < count && length < size; k++)
        length += (size_t)snprintf(text + length, size - length, "%s%s%s",
                                   k == 0          ? ""
                                   : k + 1 < count ? ", "
                                                   : last,
                                   k > 0 && k + 1 == count ? " " : "", names[k]);
    return text;
}

/* ---- what the header describes ---- */

int64_t gram_method_count(void)
{
    return COUNT;
}

gram_status gram_method_describe(int64_t method, gram_method_facts *facts)
{
    const gram_method *row = gram_method_row(method);
    gram_method_facts all = {.size = sizeof all};
    if (row) {
        all.name = row->name;
        all.title = row->title;
        all.variant = row->variant;
        all.tasks = row->tasks;
        all.kernel = row->kernel;
        memcpy(all.python, row->python, sizeof all.python);
        all.options = (int64_t)row->option_count;
        all.unscaled = row->unscaled;
        all.verb = row->verb;
        all.reconstructs = row->reconstructs;
        memcpy(all.views, row->views, sizeof all.views);
        all.refuses = row->refuses;
        all.intervals = row->intervals;
        all.kept = row->kept ? row->kept : row->name;
        all.knows_rows = row->fitted != NULL;
        all.quadrature = row->quadrature;
        all.formula = row->formula;
    }
    gram_sized_write(facts, &all, sizeof all);
    return gram_sized_check(NULL, "method_describe", "facts", "gram_method_facts", facts, sizeof all);
}

gram_status gram_method_option(int64_t method, int64_t option, gram_option_facts *facts)
{
    const gram_method *row = gram_method_row(method);
    gram_option_facts all = {.size = sizeof all};
    if (row && option >= 0 && option < (int64_t)row->option_count) {
        const gram_option *o = &row->options[option];
        all = (gram_option_facts){sizeof all, o->name,    o->kind,      o->argument,
                                  o->help,    o->help_no, o->otherwise, o->least,
                                  o->most,    o->above,   o->elsewhere, o->tasks ? o->tasks : row->tasks};
    }
    gram_sized_write(facts, &all, sizeof all);
    return gram_sized_check(NULL, "method_option", "facts", "gram_option_facts", facts, sizeof all);
}

const char *gram_method_choice(int64_t method, int64_t option, int64_t choice)
{
    const gram_method *row = gram_method_row(method);
    if (!row || option < 0 || option >= (int64_t)row->option_count || !row->options[option].choices) return NULL;
    for (const gram_choice *c = row->options[option].choices; c->name; c++)
        if (choice-- == 0) return c->name;
    return NULL;
}

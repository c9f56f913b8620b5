/* What is compared. Methods name their kernels in their rows (gram_comparable): those that differ most in what they say of smoothness, rbf (analytic), matern 3/2 and
 * 5/2 (once and twice differentiable), linear. A method that tunes gets one length-scale per feature as well, which its own choice keeps only if it
 * is better. Rules without a method are here. Cheap ones come first: what time leaves out are the others. */
#include "learn/compare/candidates.h"

#include <stdio.h>
#include <string.h>

#include <gram/text.h>

#include "learn/compare/baselines.h"
#include "learn/method_table.h"
#include "points/objects.h"

/* Rules, and the tasks that they are for. */
static const struct {
    unsigned tasks;
    gram_candidate row;
} RULES[] = {
    {1u << GRAM_TASK_REGRESSION, {"mean", "mean", NULL, "mean", 0, 1, 0, gram_baseline_mean}},
    {1u << GRAM_TASK_CLASSIFICATION, {"mean", "frequent", NULL, "most frequent class", 0, 1, 0, gram_baseline_mean}},
    {1u << GRAM_TASK_REGRESSION | 1u << GRAM_TASK_CLASSIFICATION,
     {"nearest", "nearest", NULL, "nearest neighbours", 1, 1, 0, gram_baseline_nearest}},
};

enum { RULE_COUNT = sizeof RULES / sizeof *RULES };

static const char BASELINES[] = "baselines", LINEAR[] = "linear";

/* All of a task (GRAM_TASK_AUTO: of any), in the order of their costs. Returns how many. */
static int64_t list_all(gram_task task, gram_candidate *list)
{
    int64_t count = 0;
    for (int i = 0; i < RULE_COUNT; i++)
        if (task == GRAM_TASK_AUTO || RULES[i].tasks >> task & 1u) list[count++] = RULES[i].row;
    for (int64_t i = 0; gram_method_row(i); i++) {
        const gram_method *method = gram_method_row(i);
        for (const gram_comparable *c = method->compared; c && c->tasks && count < GRAM_MOST_CANDIDATES / 2; c++) {
            if (task != GRAM_TASK_AUTO && !(c->tasks >> task & 1u)) continue;
            list[count++] = (gram_candidate){c->baseline ? LINEAR : method->name,
                                             method->name,
                                             c->kernel,
                                             c->baseline,
                                             c->cost,
                                             c->baseline != NULL,
                                             c->ard,
                                             NULL};
        }
    }
    for (int64_t i = 1; i < count; i++) /* insertion: equals stay in their order */
        for (int64_t k = i; k > 0 && list[k].cost < list[k - 1].cost; k--) {
            const gram_candidate swap = list[k];
            list[k] = list[k - 1];
            list[k - 1] = swap;
        }
    return count;
}

/* Is it the word of `length` letters? */
static int is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && strncmp(word, text, length) == 0;
}

static gram_status no_word(gram_context *context, const gram_learner *learner, const char *text, size_t length)
{
    gram_candidate all[GRAM_MOST_CANDIDATES];
    const char *names[GRAM_MOST_CANDIDATES + 1];
    char word[64], advice[256] = "It is a list of baselines";
    const int64_t count = list_all(GRAM_TASK_AUTO, all);
    size_t known = 1;
    names[0] = BASELINES;
    for (int64_t i = 0; i < count; i++) {
        size_t k = 0;
        while (k < known && strcmp(names[k], all[i].word) != 0) k++;
        if (k < known) continue;
        names[known++] = all[i].word;
        const size_t at = strlen(advice);
        (void)snprintf(advice + at, sizeof advice - at, ", %s", all[i].word);
    }
    (void)snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), text);
    const char *near = gram_suggest(word, names, known);
    return gram_fail_spoken(context, GRAM_ERROR_ARGUMENT, (gram_speech){learner->who, learner->dashes}, advice,
                            near ? "--methods: there is no '%s' to compare, did you mean '%s'?"
                                 : "--methods: there is no '%s' to compare",
                            word, near);
}

/* Is the row one of those that the list names? */
static int is_named(const gram_candidate *row, const char *methods)
{
    for (const char *at = methods; *at; at += strspn(at, ", ")) {
        const size_t length = strcspn(at, ", ");
        if (is_word(row->word, at, length) || (row->baseline && is_word(BASELINES, at, length))) return 1;
        at += length;
    }
    return 0;
}

static gram_status check_words(gram_context *context, const gram_learner *learner, const char *methods)
{
    gram_candidate all[GRAM_MOST_CANDIDATES];
    const int64_t count = list_all(GRAM_TASK_AUTO, all);
    for (const char *at = methods; *at; at += strspn(at, ", ")) {
        const size_t length = strcspn(at, ", ");
        int known = is_word(BASELINES, at, length);
        for (int64_t i = 0; i < count && !known; i++) known = is_word(all[i].word, at, length);
        if (!known) return no_word(context, learner, at, length);
        at += length;
    }
    return GRAM_OK;
}

/* Texts, bags and rows of a given matrix have kernels of their own: each method is there once, with the kernel that was asked for, or that which a fit takes. Neighbours by
 * distance of columns and lengths of columns make no sense where a column holds things. Returns how many stay. */
static int64_t keep_for_things(const gram_learning *learning, const char *kernel, int64_t count, gram_candidate *list)
{
    const gram_prepared *data = learning->data;
    int64_t kept = 0;
    int own_kernels = 0;
    for (int64_t l = 0; l < data->d; l++)
        own_kernels |= data->objects && data->objects[l] && data->objects[l]->kind != GRAM_OBJECT_SPARSE;
    for (int64_t i = 0; i < count; i++) {
        gram_candidate *row = &list[i];
        if (data->objects && row->rule == gram_baseline_nearest) continue;
        if (data->objects) row->ard = 0;
        if (own_kernels && !row->rule) {
            int64_t k = 0;
            while (k < kept && (list[k].rule || strcmp(list[k].method, row->method) != 0)) k++;
            if (k < kept || row->baseline) continue;
            if (row->kernel) row->kernel = kernel;
        }
        list[kept++] = *row;
    }
    return kept;
}

gram_status gram_candidates_list(gram_context *context, const gram_learner *learner, gram_task task,
                                 const char *methods, const char *kernel, gram_candidate *list, int64_t *count)
{
    gram_status status = GRAM_OK;
    gram_candidate all[GRAM_MOST_CANDIDATES];
    const int64_t all_count = list_all(task, all);
    *count = 0;
    if (methods) TRY(check_words(context, learner, methods));
    for (int64_t i = 0; i < all_count; i++)
        if (!methods || is_named(&all[i], methods)) list[(*count)++] = all[i];
    *count = keep_for_things(&learner->learning, kernel, *count, list);
    const int64_t usual = *count;
    for (int64_t i = 0; i < usual && kernel; i++) {
        int64_t k = usual; /* once for each method */
        if (!list[i].kernel || list[i].kernel == kernel || list[i].baseline) continue;
        while (k < *count && strcmp(list[k].method, list[i].method) != 0) k++;
        if (k < *count) continue;
        list[*count] = list[i];
        list[*count].ard = 0;
        list[(*count)++].kernel = kernel;
    }
    if (*count == 0)
        return gram_fail_spoken(context, GRAM_ERROR_ARGUMENT, (gram_speech){learner->who, learner->dashes},
                                "Leave --methods out, or choose others.", "--methods %s: none of them is for %s",
                                methods, gram_task_name(task));
done:
    return status;
}

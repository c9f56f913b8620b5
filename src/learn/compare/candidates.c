/* The table of what is compared. Kernels are those that differ most in what they say of smoothness: rbf (analytic), matern 3/2 and 5/2 (once and
 * twice differentiable), linear. A method that tunes gets one length-scale per feature as well, which its own choice keeps only if it is
 * better. Cheap ones come first: what time leaves out are the others. */
#include "learn/compare/candidates.h"

#include <stdio.h>
#include <string.h>

#include <gram/text.h>

#include "learn/compare/baselines.h"

enum { NUMBERS = 1u << GRAM_TASK_REGRESSION, CLASSES = 1u << GRAM_TASK_CLASSIFICATION };

static const gram_candidate TABLE[] = {
    {"mean", "mean", NULL, "mean", NUMBERS, 1, 0, gram_baseline_mean},
    {"mean", "frequent", NULL, "most frequent class", CLASSES, 1, 0, gram_baseline_mean},
    {"nearest", "nearest", NULL, "nearest neighbours", NUMBERS | CLASSES, 1, 0, gram_baseline_nearest},
    {"linear", "krr", "linear", "linear (ridge)", NUMBERS, 1, 0, NULL},
    {"linear", "logistic", "linear", "linear (logistic)", CLASSES, 1, 0, NULL},
    {"bayes", "bayes", NULL, NULL, NUMBERS, 0, 0, NULL},
    {"sgd", "sgd", "rbf", NULL, NUMBERS | CLASSES, 0, 0, NULL},
    {"svm", "svm", "linear", NULL, CLASSES, 0, 0, NULL},
    {"krr", "krr", "rbf", NULL, NUMBERS, 0, 1, NULL},
    {"gp", "gp", "const*rbf", NULL, NUMBERS, 0, 1, NULL},
    {"svm", "svm", "rbf", NULL, CLASSES, 0, 1, NULL},
    {"gp", "gp", "const*rbf", NULL, CLASSES, 0, 1, NULL},
    {"krr", "krr", "matern(nu=1.5)", NULL, NUMBERS, 0, 1, NULL},
    {"gp", "gp", "const*matern(nu=2.5)", NULL, NUMBERS, 0, 1, NULL},
    {"flow", "flow", "rbf", NULL, NUMBERS, 0, 1, NULL},
    {"logistic", "logistic", "rbf", NULL, CLASSES, 0, 1, NULL},
    {"svm", "svm", "matern(nu=1.5)", NULL, CLASSES, 0, 1, NULL},
    {"svm", "svm", "rbf", NULL, NUMBERS, 0, 1, NULL},
    {"spline", "spline", NULL, NULL, NUMBERS, 0, 0, NULL},
};

enum { TABLE_SIZE = sizeof TABLE / sizeof *TABLE };

static const char BASELINES[] = "baselines";

/* Is it the word of `length` letters? */
static int is_word(const char *word, const char *text, size_t length)
{
    return strlen(word) == length && strncmp(word, text, length) == 0;
}

static gram_status no_word(gram_context *context, const gram_learner *learner, const char *text, size_t length)
{
    const char *names[TABLE_SIZE + 1];
    char word[64];
    for (int i = 0; i < TABLE_SIZE; i++) names[i] = TABLE[i].word;
    names[TABLE_SIZE] = BASELINES;
    (void)snprintf(word, sizeof word, "%.*s", (int)(length < 60 ? length : 60), text);
    const char *near = gram_suggest(word, names, TABLE_SIZE + 1);
    return gram_fail_spoken(
        context, GRAM_ERROR_ARGUMENT, (gram_speech){learner->who, learner->dashes},
        "It is a list of krr, gp, bayes, sgd, flow, spline, svm, logistic, linear, nearest, mean and baselines.",
        near ? "--methods: there is no '%s' to compare, did you mean '%s'?" : "--methods: there is no '%s' to compare",
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
    for (const char *at = methods; *at; at += strspn(at, ", ")) {
        const size_t length = strcspn(at, ", ");
        int known = is_word(BASELINES, at, length);
        for (int i = 0; i < TABLE_SIZE && !known; i++) known = is_word(TABLE[i].word, at, length);
        if (!known) return no_word(context, learner, at, length);
        at += length;
    }
    return GRAM_OK;
}

gram_status gram_candidates_list(gram_context *context, const gram_learner *learner, gram_task task,
                                 const char *methods, const char *kernel, gram_candidate *list, int64_t *count)
{
    gram_status status = GRAM_OK;
    *count = 0;
    if (methods) TRY(check_words(context, learner, methods));
    for (int i = 0; i < TABLE_SIZE; i++)
        if (TABLE[i].tasks >> task & 1u && (!methods || is_named(&TABLE[i], methods))) list[(*count)++] = TABLE[i];
    const int64_t usual = *count;
    for (int64_t i = 0; i < usual && kernel; i++) {
        int64_t k = usual; /* once for each method */
        if (!list[i].kernel || list[i].baseline) continue;
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

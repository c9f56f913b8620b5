/* A machine that its budget stopped goes on: what its model keeps for that, and what it decides instead of the options. That
 * the data are the same is checked by the learner, from fingerprints that it keeps with every model that can go on. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "method/svm/svm_model.h"

static gram_status damaged(gram_learning *learning, const char *what)
{
    (void)gram_fail(learning->context, GRAM_ERROR_DATA, "%s: damaged: %s", learning->before_name, what);
    return gram_advise(learning->context, GRAM_ERROR_DATA, "Fit it again.");
}

/* ---- what the model decides ---- */

static const struct {
    gram_task task;
    const char *svm;
    int machine, has_c, has_nu, has_epsilon;
} KINDS[] = {
    {GRAM_TASK_CLASSIFICATION, "c", SVM_C, 1, 0, 0},
    {GRAM_TASK_CLASSIFICATION, "nu", SVM_NU, 0, 1, 0},
    {GRAM_TASK_ONE_CLASS, "one-class", SVM_ONE_CLASS, 0, 1, 0},
    {GRAM_TASK_REGRESSION, "epsilon", SVM_C, 1, 0, 1},
    {GRAM_TASK_REGRESSION, "nu", SVM_NU, 1, 1, 0},
};

/* The number of the row, or how many there are. */
static size_t find_kind(const gram_model *model)
{
    const char *svm = gram_kept_text(model, "svm");
    size_t k = 0;
    while (k < sizeof KINDS / sizeof *KINDS && !(svm && strcmp(KINDS[k].svm, svm) == 0 &&
                                                 strcmp(gram_task_name(KINDS[k].task), gram_model_task(model)) == 0))
        k++;
    return k;
}

gram_status gram_svm_resume(gram_learning *learning)
{
    const gram_model *model = learning->before;
    svm_settings *own = learning->settings;
    const size_t k = find_kind(model);
    if (k == sizeof KINDS / sizeof *KINDS) return damaged(learning, "not a kind of machine");
    own->svm.value = KINDS[k].machine;
    own->tuned.tune.value = GRAM_TUNING_NONE;
    own->prob = gram_kept_number(model, "probability_folds", 0) > 0;
    own->intercept = gram_kept_number(model, "intercept", 1) != 0;
    const double tolerance = gram_kept_number(model, "tolerance", 0);
    if (isnan(own->tolerance)) own->tolerance = tolerance;
    if (KINDS[k].has_c) own->C = gram_kept_number(model, "C", 0);
    if (KINDS[k].has_nu) own->nu = gram_kept_number(model, "nu", 0);
    if (KINDS[k].has_epsilon) own->epsilon = gram_kept_number(model, "epsilon", -1);
    if (!(tolerance > 0 && isfinite(tolerance)) || (KINDS[k].has_c && !(own->C > 0 && own->C <= 1e100)) ||
        (KINDS[k].has_nu && !(own->nu > 0 && own->nu <= 1)) ||
        (KINDS[k].has_epsilon && !(own->epsilon >= 0 && own->epsilon <= 1e100)))
        return damaged(learning, "a number of the machine is missing or out of its range");
    return GRAM_OK;
}

/* ---- the state ---- */

static int all_finite(int64_t count, const double *numbers)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(numbers[i])) return 0;
    return 1;
}

/* An array of that shape and of finite numbers, or NULL; one that is there and is not such is a failure. */
static gram_status find_array(gram_learning *learning, const char *name, int64_t rows, int64_t columns,
                              const double **found)
{
    char what[96];
    int64_t r = 0, c = 0;
    const double *numbers = gram_model_array(learning->before, name, &r, &c);
    *found = numbers;
    if (!numbers || (r == rows && c == columns && all_finite(r * c, numbers))) return GRAM_OK;
    if (r == rows && c == columns)
        (void)snprintf(what, sizeof what, "a number of its %s is not finite", name);
    else
        (void)snprintf(what, sizeof what, "its %s are %lld x %lld, not %lld x %lld", name, (long long)r, (long long)c,
                       (long long)rows, (long long)columns);
    return damaged(learning, what);
}

gram_status gram_svm_resume_start(gram_learning *learning, int64_t outputs)
{
    gram_status status = GRAM_OK;
    svm_state *state = learning->own;
    const int64_t so_far = gram_model_find(learning->before, "iterations").integer;
    if (so_far > 0 && so_far < INT64_MAX / 2) state->iterations = so_far;
    TRY(find_array(learning, "duals", learning->data->n, outputs, &state->options.start));
    if (!state->options.start) return damaged(learning, "it has no duals");
    TRY(find_array(learning, "sigmoids", outputs, 2, &state->sigmoids));
done:
    return status;
}

void gram_svm_resume_keep_tuning(gram_keeper *keeper, const gram_learning *learning)
{
    static const char *const names[] = {"tune",       "defaults",          "tuned_rows",
                                        "tuned_fits", "tuned_unfinished",  "cv_accuracy",
                                        "cv_rmse",    "cv_standard_error", "at_bound"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const gram_fact fact = gram_model_find(learning->before, names[i]);
        if (!fact.name) continue;
        if (fact.kind == GRAM_FACT_TEXT)
            gram_keep_text(keeper, names[i], fact.text);
        else if (fact.kind == GRAM_FACT_INTEGER)
            gram_keep_integer(keeper, names[i], fact.integer);
        else
            gram_keep_number(keeper, names[i], fact.number);
    }
}

void gram_svm_resume_keep(gram_keeper *keeper, const gram_learning *learning, int64_t folds)
{
    const svm_state *state = learning->own;
    const gram_svm_report *report = gram_svm_get_report(state->svm);
    gram_keep_number(keeper, "tolerance", state->options.tolerance);
    gram_keep_fingerprints(keeper, learning);
    if (folds > 0) gram_keep_integer(keeper, "probability_folds", folds);
    if (learning->class_weights)
        gram_keep_array(keeper, "class_weights", 1, learning->classes.count, learning->class_weights);
    gram_keep_array(keeper, "duals", report->n, report->outputs, gram_svm_duals(state->svm));
}

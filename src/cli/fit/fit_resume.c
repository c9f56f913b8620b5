#include "cli/fit/fit_resume.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit/predictor.h"
#include "cli/report/kernel_text.h"
#include "cli/report/report_rows.h"
#include "cli/terminal/model_open.h"

static const char *const FEATURES = "fingerprint_features", *const TARGETS = "fingerprint_targets";

static int damaged(const fit_state *fit, const char *what)
{
    return cli_fail(CLI_BAD_DATA, "Fit it again.", "%s: damaged: %s", fit->own->resume, what);
}

/* ---- fingerprints ---- */

enum { FINGERPRINT_SIZE = 17 };

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
    return hash ^ hash >> 32;
}

/* By the bits of the numbers: equal files prepare to equal bits on any machine. An odd start keeps zeros from vanishing. */
static uint64_t mix_numbers(uint64_t hash, int64_t count, const double *numbers)
{
    uint64_t word;
    hash = mix(hash + UINT64_C(0x9e3779b97f4a7c15), (uint64_t)count);
    for (int64_t i = 0; i < count; i++) {
        memcpy(&word, &numbers[i], sizeof word);
        hash = mix(hash, word);
    }
    return hash;
}

static const char *print_hash(uint64_t hash, char text[FINGERPRINT_SIZE])
{
    (void)snprintf(text, FINGERPRINT_SIZE, "%016" PRIx64, hash);
    return text;
}

static const char *features_hash(const gram_prepared *data, char text[FINGERPRINT_SIZE])
{
    return print_hash(mix_numbers((uint64_t)data->d, data->n * data->d, data->x), text);
}

static const char *targets_hash(const gram_prepared *data, char text[FINGERPRINT_SIZE])
{
    const uint64_t hash = mix_numbers((uint64_t)data->targets, data->n * data->targets, data->y);
    return print_hash(mix_numbers(hash, data->weights ? data->n : 0, data->weights), text);
}

static int other_data(const fit_state *fit, const char *what)
{
    return cli_fail(CLI_BAD_DATA, "--resume needs the same rows in the same order; fit other data without it.",
                    "%s: %s %s was fitted on", fit->file, what, fit->own->resume);
}

int cli_fit_resume_check_data(const fit_state *fit)
{
    char hash[FINGERPRINT_SIZE], what[96], count[2][CLI_SHORT_SIZE];
    const gram_prepared *data = fit->prepared;
    const char *features = cli_model_text(fit->before, FEATURES), *targets = cli_model_text(fit->before, TARGETS);
    int64_t rows = 0;
    if (strcmp(features, features_hash(data, hash)) == 0 && strcmp(targets, targets_hash(data, hash)) == 0)
        return CLI_DONE;
    (void)gram_model_array(fit->before, "duals", &rows, NULL);
    (void)snprintf(what, sizeof what, "%s row%s, not the %s that", cli_count(data->n, count[0]), cli_plural(data->n),
                   cli_count(rows, count[1]));
    if (rows != data->n) return other_data(fit, what);
    return other_data(fit, strcmp(features, features_hash(data, hash)) != 0
                               ? "the features are not those that"
                               : "the target or the weights are not those that");
}

/* ---- what the model decides ---- */

static const struct {
    const char *task, *svm;
    fit_task fit_task;
    fit_svm fit_svm;
    int has_c, has_nu, has_epsilon;
} KINDS[] = {
    {"classification", "c", FIT_TASK_CLASSIFICATION, FIT_SVM_C, 1, 0, 0},
    {"classification", "nu", FIT_TASK_CLASSIFICATION, FIT_SVM_NU, 0, 1, 0},
    {"one-class", "one-class", FIT_TASK_ONE_CLASS, FIT_SVM_ONE_CLASS, 0, 1, 0},
    {"regression", "epsilon", FIT_TASK_REGRESSION, FIT_SVM_C, 1, 0, 1},
    {"regression", "nu", FIT_TASK_REGRESSION, FIT_SVM_NU, 1, 1, 0},
};

/* The number of the row, or how many there are. */
static size_t find_kind(const gram_model *model)
{
    const char *svm = cli_model_text(model, "svm");
    size_t k = 0;
    while (k < sizeof KINDS / sizeof *KINDS &&
           !(svm && strcmp(KINDS[k].svm, svm) == 0 && strcmp(KINDS[k].task, gram_model_task(model)) == 0))
        k++;
    return k;
}

/* The options as if the model had been asked for again. A tolerance that is given is kept. */
static int take_options(fit_options *own, const fit_state *fit)
{
    const gram_model *model = fit->before;
    const size_t k = find_kind(model);
    if (k == sizeof KINDS / sizeof *KINDS) return damaged(fit, "no kind of machine");
    own->task.value = (int)KINDS[k].fit_task;
    own->svm.value = (int)KINDS[k].fit_svm;
    own->tune.value = FIT_TUNE_NONE;
    own->no_scale = !gram_preparation_describe(gram_model_preparation(model))->scaled;
    own->prob = cli_model_number(model, "probability_folds", 0) > 0;
    const double tolerance = cli_model_number(model, "tolerance", 0);
    if (own->tolerance == 0) own->tolerance = tolerance;
    if (KINDS[k].has_c) own->C = cli_model_number(model, "C", 0);
    if (KINDS[k].has_nu) own->nu = cli_model_number(model, "nu", 0);
    if (KINDS[k].has_epsilon) own->epsilon = cli_model_number(model, "epsilon", -1);
    if (!(tolerance > 0 && isfinite(tolerance)) || (KINDS[k].has_c && !(own->C > 0 && own->C <= 1e100)) ||
        (KINDS[k].has_nu && !(own->nu > 0 && own->nu <= 1)) ||
        (KINDS[k].has_epsilon && !(own->epsilon >= 0 && own->epsilon <= 1e100)))
        return damaged(fit, "a number of the machine is missing or out of its range");
    return CLI_DONE;
}

int cli_fit_resume_open(cli_session *session, fit_options *own, fit_state *fit)
{
    const int code = cli_model_read(session, own->resume, &fit->before);
    if (code != CLI_DONE) return code;
    const gram_model *model = fit->before;
    if (strcmp(gram_model_method(model), "svm") != 0)
        return cli_fail(CLI_WRONG_USE, "Fit it anew, without --resume.",
                        "fit: --resume %s: only fits of svm can go on, this is one of %s", own->resume,
                        gram_model_method(model));
    if (cli_model_number(model, "converged", 1) != 0)
        return cli_fail(CLI_WRONG_USE, "Fit it anew, without --resume, to change it.",
                        "fit: --resume %s: it is finished, there is nothing to go on with", own->resume);
    if (!gram_model_preparation(model)) return damaged(fit, "no preparation of the data");
    if (!cli_model_text(model, FEATURES) || !cli_model_text(model, TARGETS))
        return damaged(fit, "no fingerprints of the data");
    return take_options(own, fit);
}

/* ---- the state ---- */

static int all_finite(int64_t count, const double *numbers)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(numbers[i])) return 0;
    return 1;
}

/* An array of that shape and of finite numbers, or NULL; *code tells of one that is there and is not such. */
static const double *find_array(const fit_state *fit, const char *name, int64_t rows, int64_t columns, int *code)
{
    char what[96];
    int64_t r = 0, c = 0;
    const double *numbers = gram_model_array(fit->before, name, &r, &c);
    *code = CLI_DONE;
    if (!numbers || (r == rows && c == columns && all_finite(r * c, numbers))) return numbers;
    if (r == rows && c == columns)
        (void)snprintf(what, sizeof what, "a number of its %s is not finite", name);
    else
        (void)snprintf(what, sizeof what, "its %s are %" PRId64 " x %" PRId64 ", not %" PRId64 " x %" PRId64, name, r,
                       c, rows, columns);
    *code = damaged(fit, what);
    return NULL;
}

int cli_fit_resume_class_weights(const fit_state *fit, double **weights)
{
    const int64_t count = fit->classes.count;
    int code;
    const double *kept = find_array(fit, "class_weights", 1, count, &code);
    *weights = NULL;
    if (!kept) return code;
    for (int64_t c = 0; c < count; c++)
        if (!(kept[c] > 0)) return damaged(fit, "the weight of a class is not above 0");
    *weights = malloc((size_t)count * sizeof **weights);
    if (!*weights) return cli_no_memory();
    memcpy(*weights, kept, (size_t)count * sizeof **weights);
    return CLI_DONE;
}

int cli_fit_resume_start(const fit_state *fit, int64_t outputs, const double **duals, const double **sigmoids)
{
    int code;
    *duals = find_array(fit, "duals", fit->prepared->n, outputs, &code);
    if (code == CLI_DONE && !*duals) code = damaged(fit, "it has no duals");
    if (code == CLI_DONE) *sigmoids = find_array(fit, "sigmoids", outputs, 2, &code);
    return code;
}

void cli_fit_resume_tune_facts(cli_facts *facts, const fit_state *fit)
{
    static const char *const names[] = {"tune",       "defaults",          "tuned_rows",
                                        "tuned_fits", "tuned_unfinished",  "cv_accuracy",
                                        "cv_rmse",    "cv_standard_error", "at_bound"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const gram_fact fact = gram_model_find(fit->before, names[i]);
        if (!fact.name) continue;
        if (fact.kind == GRAM_FACT_TEXT)
            cli_facts_text(facts, names[i], fact.text);
        else if (fact.kind == GRAM_FACT_INTEGER)
            cli_facts_integer(facts, names[i], fact.integer);
        else
            cli_facts_number(facts, names[i], fact.number);
    }
}

void cli_fit_resume_keep(cli_facts *facts, const fit_state *fit, const gram_svm *svm, double tolerance, int64_t folds)
{
    char hash[FINGERPRINT_SIZE];
    const gram_svm_report *report = gram_svm_get_report(svm);
    cli_facts_number(facts, "tolerance", tolerance);
    cli_facts_text(facts, FEATURES, features_hash(fit->prepared, hash));
    cli_facts_text(facts, TARGETS, targets_hash(fit->prepared, hash));
    if (folds > 0) cli_facts_integer(facts, "probability_folds", folds);
    if (fit->class_weights) cli_facts_array(facts, "class_weights", 1, fit->classes.count, fit->class_weights);
    cli_facts_array(facts, "duals", report->n, report->outputs, gram_svm_duals(svm));
}

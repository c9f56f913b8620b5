#include "cli/report/model_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/kernel_text.h"
#include "cli/report/report_rows.h"
#include "cli/report/weights_report.h"

enum { MOST_RELEVANCES = 20, MOST_NAMES = 3, WIDTH = 100, LOO_LIMIT = 5000 };

/* Digits of what is of interest by its size only, of results, and of counts. */
enum { ROUGH = 2, FINE = 5, WHOLE = 15 };

int cli_model_report_find(cli_session *session, const gram_model *model, cli_model_report *report)
{
    const gram_kernel *kernel = gram_function_kernel(gram_model_function(model));
    report->model = model;
    report->kernel = cli_kernel_text(kernel);
    if (!report->kernel) return cli_no_memory();
    if (strcmp(gram_model_task(model), "classification") == 0) {
        const int code = cli_classes_of_model(model, "the model", &report->classes);
        if (code != CLI_DONE) return code;
    }
    return cli_relevance_find(session, kernel, gram_model_preparation(model), &report->relevance);
}

void cli_model_report_free(cli_model_report *report)
{
    free(report->kernel);
    cli_classes_free(&report->classes);
    cli_relevance_free(&report->relevance);
    *report = (cli_model_report){0};
}

/* ---- as JSON ---- */

static void json_fact(cli_json *json, const gram_fact *fact)
{
    if (fact->kind == GRAM_FACT_TEXT)
        cli_json_string(json, fact->name, fact->text);
    else if (fact->kind == GRAM_FACT_INTEGER)
        cli_json_integer(json, fact->name, fact->integer);
    else
        cli_json_number(json, fact->name, fact->number);
}

static void json_names(cli_json *json, const char *key, int64_t count, const gram_column *columns)
{
    cli_json_open(json, key, '[');
    for (int64_t i = 0; i < count; i++) cli_json_string(json, NULL, columns[i].name);
    cli_json_close(json, '[');
}

void cli_model_report_json(cli_json *json, const cli_model_report *report)
{
    const gram_model *model = report->model;
    const gram_preparation *preparation = gram_model_preparation(model);
    cli_json_string(json, "method", gram_model_method(model));
    cli_json_string(json, "task", gram_model_task(model));
    cli_json_string(json, "kernel", report->kernel);
    if (report->classes.count > 0) cli_classes_json(json, &report->classes);
    for (int64_t i = 0; i < gram_model_fact_count(model); i++) {
        const gram_fact fact = gram_model_fact(model, i);
        json_fact(json, &fact);
    }
    if (preparation) {
        const gram_preparation_description *known = gram_preparation_describe(preparation);
        json_names(json, "targets", known->target_count, known->targets);
        json_names(json, "features", known->feature_count, known->features);
        cli_json_truth(json, "scaled", known->scaled);
    }
    cli_weights_json(json, report->model);
    cli_relevance_json(json, &report->relevance);
}

/* ---- for people ---- */

void cli_add_targets(cli_text *text, const gram_preparation_description *known)
{
    if (known->target_count == 0) cli_text_add(text, "nothing");
    if (known->target_count > MOST_NAMES) cli_text_add(text, "%" PRId64 " targets", known->target_count);
    if (known->target_count > MOST_NAMES) return;
    for (int64_t t = 0; t < known->target_count; t++)
        cli_text_add(text, "%s%s", t == 0 ? "" : t + 1 < known->target_count ? ", " : " and ", known->targets[t].name);
}

void cli_add_features(cli_text *text, const gram_preparation_description *known)
{
    int64_t words = 0, levels = 0;
    for (int64_t f = 0; f < known->feature_count; f++) {
        words += known->features[f].text;
        levels += known->features[f].text ? known->features[f].level_count : 0;
    }
    if (known->feature_count == 1)
        cli_text_add(text, "%s", known->features[0].name);
    else
        cli_text_add(text, "%" PRId64 " features", known->feature_count);
    if (words == 0) return;
    if (known->feature_count > 1) cli_text_add(text, ", %" PRId64 " of them", words);
    cli_text_add(text, "%s text with %" PRId64 " level%s", known->feature_count > 1 ? "" : ",", levels,
                 cli_plural(levels));
}

/* A value that is long is broken after commas and blanks, and can still be read back. */
static void add_wrapped(cli_text *text, const char *label, const char *value)
{
    size_t column = CLI_VALUE_COLUMN;
    cli_add_label(text, label);
    while (*value) {
        size_t length = strcspn(value, ", ");
        length += value[length] != '\0';
        if (column + length > WIDTH && column > CLI_VALUE_COLUMN) {
            while (text->length > 0 && text->data[text->length - 1] == ' ') text->data[--text->length] = '\0';
            cli_text_add(text, "\n");
            cli_text_pad(text, CLI_VALUE_COLUMN);
            column = CLI_VALUE_COLUMN;
        }
        cli_text_put(text, value, length);
        column += length;
        value += length;
    }
    cli_text_add(text, "\n");
}

static double number_of(const cli_model_report *report, const char *name)
{
    const gram_fact fact = gram_model_find(report->model, name);
    if (!fact.name) return NAN;
    return fact.kind == GRAM_FACT_INTEGER ? (double)fact.integer : fact.number;
}

/* NULL if there is none. */
static const char *text_of(const cli_model_report *report, const char *name)
{
    const gram_fact fact = gram_model_find(report->model, name);
    return fact.name && fact.kind == GRAM_FACT_TEXT ? fact.text : NULL;
}

/* Adds ", WORDS VALUE" (without the comma at the start of a row) for a fact that is there. */
static void add_part(cli_text *text, const cli_model_report *report, const char *words, const char *name, int digits)
{
    const double value = number_of(report, name);
    if (isnan(value)) return;
    const char *comma = text->length > 0 && text->data[text->length - 1] != ' ' ? ", " : "";
    cli_text_add(text, "%s%s%s%.*g", comma, words, words[0] ? " " : "", digits, value);
}

static int is_gp(const cli_model_report *report)
{
    return strcmp(gram_model_method(report->model), "gp") == 0;
}

static int is_classifier(const cli_model_report *report)
{
    return strcmp(gram_model_task(report->model), "classification") == 0;
}

static void add_noise(cli_text *text, const cli_model_report *report)
{
    const char *mean = text_of(report, "mean");
    cli_add_label(text, "noise");
    add_part(text, report, "variance", "noise", FINE);
    cli_text_add(text, ", deviation %.*g", FINE, sqrt(number_of(report, "noise")));
    if (number_of(report, "target_scale") != 1) add_part(text, report, "that of the target", "target_scale", FINE);
    if (mean) cli_text_add(text, "; mean: %s", mean);
    cli_text_add(text, "\n");
}

static void add_ridge(cli_text *text, const cli_model_report *report)
{
    if (is_gp(report)) {
        if (!isnan(number_of(report, "noise"))) add_noise(text, report);
        return;
    }
    if (isnan(number_of(report, "lambda"))) return;
    cli_add_label(text, "lambda");
    add_part(text, report, "", "lambda", FINE);
    add_part(text, report, "noise = n lambda =", "noise", FINE);
    if (number_of(report, "intercept") == 0) cli_text_add(text, ", no intercept");
    cli_text_add(text, "\n");
}

static void add_tuning(cli_text *text, const cli_model_report *report)
{
    char rows[CLI_SHORT_SIZE];
    const char *tune = text_of(report, "tune");
    const double tuned = number_of(report, "tuned_rows");
    if (!tune) return;
    cli_add_label(text, "tuned");
    if (isnan(tuned)) {
        const char *defaults = text_of(report, "defaults");
        cli_text_add(text, defaults ? "no; defaults: %s\n" : "no\n", defaults);
        return;
    }
    cli_text_add(text, "by %s on %s row%s", tune, cli_count((long long)tuned, rows), cli_plural((int64_t)tuned));
    add_part(text, report, "fits", "tuned_fits", WHOLE);
    if (number_of(report, "tuned_unfinished") > 0) add_part(text, report, "not to the end", "tuned_unfinished", WHOLE);
    const double evaluations = number_of(report, "evaluations");
    if (!isnan(evaluations)) cli_text_add(text, ", %.0f evaluation%s", evaluations, cli_plural((int64_t)evaluations));
    if (number_of(report, "at_bound") > 0) cli_text_add(text, "; a parameter is at the end of its search range");
    cli_text_add(text, "\n");
}

static void add_solver(cli_text *text, const cli_model_report *report)
{
    const char *solver = text_of(report, "solver"), *precision = text_of(report, "precision");
    if (!solver) return;
    cli_add_label(text, "solver");
    cli_text_add(text, "%s%s%s", solver, precision ? ", " : "", precision ? precision : "");
    if (number_of(report, "rank") < number_of(report, "n")) add_part(text, report, "rank", "rank", WHOLE);
    if (number_of(report, "iterations") > 0) add_part(text, report, "iterations", "iterations", WHOLE);
    cli_text_add(text, "\n");
    cli_add_label(text, "  accuracy");
    add_part(text, report, "optimality", "optimality", ROUGH);
    add_part(text, report, "residual", "residual", ROUGH);
    add_part(text, report, "backward error", "backward_error", ROUGH);
    add_part(text, report, "condition", "condition", ROUGH);
    if (number_of(report, "jitter") > 0) add_part(text, report, "jitter", "jitter", ROUGH);
    add_part(text, report, "tr(K - K~)/tr K", "trace_error", ROUGH);
    cli_text_add(text, "\n");
}

/* Support vector machines and logistic regression: how the problem was solved. */
static void add_machine(cli_text *text, const cli_model_report *report)
{
    const char *svm = text_of(report, "svm");
    if (svm) {
        cli_add_label(text, "machine");
        cli_text_add(text, "%s", svm);
        add_part(text, report, "C", "C", FINE);
        add_part(text, report, "nu", "nu", FINE);
        add_part(text, report, "epsilon", "epsilon", FINE);
        add_part(text, report, "support vectors", "n_support", WHOLE);
        add_part(text, report, "at their bound", "n_bounded", WHOLE);
        cli_text_add(text, "\n");
    }
    if (text_of(report, "loss")) {
        cli_add_label(text, "loss");
        cli_text_add(text, "%s", text_of(report, "loss"));
        add_part(text, report, "delta", "delta", FINE);
        add_part(text, report, "epsilon", "epsilon", FINE);
        add_part(text, report, "on these rows", "train_loss", FINE);
        add_part(text, report, "left-out folds", "cv_loss", FINE);
        add_part(text, report, "quantiles cross by at most", "crossing", ROUGH);
        cli_text_add(text, "\n");
    }
    if (text_of(report, "likelihood") && !isnan(number_of(report, "scale"))) {
        cli_add_label(text, "likelihood");
        cli_text_add(text, "%s", text_of(report, "likelihood"));
        add_part(text, report, "degrees of freedom", "student", FINE);
        add_part(text, report, "scale", "scale", FINE);
        cli_text_add(text, "\n");
    }
    if (isnan(number_of(report, "objective"))) return;
    cli_add_label(text, "  solution");
    add_part(text, report, "objective", "objective", FINE + 3);
    add_part(text, report, "duality gap", "gap", ROUGH);
    add_part(text, report, "violation", "violation", ROUGH);
    add_part(text, report, "optimality", "optimality", ROUGH);
    add_part(text, report, "iterations", "iterations", WHOLE);
    cli_text_add(text, "\n");
}

/* A machine that its budget stopped: how far it is, and how to go on. */
static void add_unfinished(cli_text *text, const cli_model_report *report)
{
    if (number_of(report, "converged") != 0) return;
    cli_add_label(text, "unfinished");
    cli_text_add(text, "stopped by its budget");
    add_part(text, report, "violation", "violation", ROUGH);
    add_part(text, report, "tolerance", "tolerance", ROUGH);
    add_part(text, report, "duality gap", "gap", ROUGH);
    cli_text_add(text, "\n");
    cli_text_pad(text, CLI_VALUE_COLUMN);
    if (report->file)
        cli_text_add(text, "`gram fit DATA --resume %s` goes on from here\n", report->file);
    else
        cli_text_add(text, "-o M.gram would have kept it, for --resume M.gram to go on\n");
}

static void add_accuracy(cli_text *text, const cli_model_report *report)
{
    if (!is_classifier(report)) return;
    if (!isnan(number_of(report, "train_accuracy"))) {
        cli_add_label(text, "on these rows");
        add_part(text, report, "accuracy", "train_accuracy", FINE);
        add_part(text, report, "log loss", "train_log_loss", FINE);
        cli_text_add(text, "\n");
    }
    if (isnan(number_of(report, "cv_accuracy"))) return;
    cli_add_label(text, "left-out folds");
    add_part(text, report, "accuracy", "cv_accuracy", FINE);
    add_part(text, report, "standard error", "cv_standard_error", ROUGH);
    add_part(text, report, "log loss", "cv_log_loss", FINE);
    cli_text_add(text, "\n");
}

static void add_errors(cli_text *text, const cli_model_report *report)
{
    if (isnan(number_of(report, "train_rmse"))) return;
    cli_add_label(text, "training error");
    add_part(text, report, "rmse", "train_rmse", FINE);
    add_part(text, report, "R2", "train_r2", FINE);
    cli_text_add(text, "\n");
    if (!isnan(number_of(report, "cv_rmse"))) {
        cli_add_label(text, "left-out folds");
        add_part(text, report, "rmse", "cv_rmse", FINE);
        cli_text_add(text, "\n");
    }
    if (text_of(report, "svm") || text_of(report, "likelihood")) return;
    cli_add_label(text, "leave-one-out");
    if (isnan(number_of(report, "loo_rmse")))
        cli_text_add(text, number_of(report, "n") > LOO_LIMIT ? "not computed above 5,000 rows; --loo asks for it"
                                                              : "not computed");
    add_part(text, report, "rmse", "loo_rmse", FINE);
    add_part(text, report, "R2", "loo_r2", FINE);
    add_part(text, report, "GCV", "gcv", FINE);
    cli_text_add(text, "\n");
}

static void add_function(cli_text *text, const cli_model_report *report)
{
    if (isnan(number_of(report, "norm"))) return;
    cli_add_label(text, "function");
    add_part(text, report, "norm", "norm", FINE);
    add_part(text, report, "effective dimension", "effective_dimension", FINE);
    add_part(text, report, "Rademacher complexity at most", "rademacher", FINE);
    cli_text_add(text, "\n");
    if (isnan(number_of(report, "risk_bound"))) return;
    cli_add_label(text, "risk");
    add_part(text, report, "at most", "risk_bound", FINE);
    cli_text_add(text, " (mean squared error on new data) with probability 0.95,\n");
    cli_text_pad(text, CLI_VALUE_COLUMN);
    cli_text_add(text, "if no |y| is above the largest one here\n");
}

static void add_likelihood(cli_text *text, const cli_model_report *report)
{
    if (!is_gp(report)) return;
    cli_add_label(text, "log likelihood");
    add_part(text, report, "", "log_marginal_likelihood", FINE + 3);
    add_part(text, report, "standard error", "likelihood_error", ROUGH);
    add_part(text, report, "at least", "bound", FINE + 3);
    cli_text_add(text, "\n");
    if (isnan(number_of(report, "loo_log_density"))) return;
    cli_add_label(text, "  left out");
    add_part(text, report, "mean log density", "loo_log_density", FINE);
    add_part(text, report, "95 % intervals cover", "loo_coverage", FINE);
    cli_text_add(text, "\n");
}

/* What tuning has to say, in plain words. */
static void add_diagnosis(cli_text *text, const cli_model_report *report)
{
    const char *diagnosis = text_of(report, "diagnosis");
    if (diagnosis) add_wrapped(text, "note", diagnosis);
}

void cli_model_report_print(cli_session *session, cli_text *text, const cli_model_report *report)
{
    add_wrapped(text, "kernel", report->kernel);
    add_ridge(text, report);
    add_tuning(text, report);
    add_solver(text, report);
    add_machine(text, report);
    add_unfinished(text, report);
    add_accuracy(text, report);
    add_errors(text, report);
    add_function(text, report);
    add_likelihood(text, report);
    add_diagnosis(text, report);
    cli_weights_print(session, text, report->model);
    cli_relevance_print(session, text, &report->relevance, MOST_RELEVANCES);
}

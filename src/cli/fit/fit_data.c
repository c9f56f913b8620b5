/* What every method of `gram fit` begins with: table, preparation, task, kernel; and what the methods share. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit/class_weight.h"
#include "cli/fit/fit_resume.h"
#include "cli/fit/verb_fit.h"
#include "cli/report/kernel_text.h"
#include "cli/report/report_rows.h"
#include "cli/terminal/data_origin.h"

enum { MOST_CLASSES = 20, ROWS_PER_CLASS = 5 };

void cli_fit_free(fit_state *fit)
{
    if (fit->kind && fit->kind->free) fit->kind->free(fit);
    cli_classes_free(&fit->classes);
    free(fit->labels);
    free(fit->class_weights);
    free(fit->weights);
    gram_model_destroy(fit->model);
    gram_model_destroy(fit->before);
    gram_kernel_release(fit->kernel);
    gram_kernel_release(fit->given);
    gram_points_destroy(fit->points);
    gram_prepared_destroy(fit->prepared);
    gram_preparation_release(fit->preparation);
    gram_table_destroy(fit->table);
}

/* ---- failures ---- */

int cli_fit_fail(cli_session *session, gram_status status, const fit_state *fit)
{
    cli_origin origin = {.file = fit->file, .preparation = fit->preparation};
    if (fit->prepared) origin.rows = fit->prepared->rows;
    if (status == GRAM_ERROR_DOMAIN && !fit->own->no_scale)
        origin.help = "Features are standardised: --no-scale takes them as they are. Or take another kernel.";
    if (status == GRAM_ERROR_NUMERICAL)
        origin.help =
            "Raise --lambda (or --noise), or take another kernel; `gram kernel E DATA --check` looks at its matrix.";
    if (status == GRAM_ERROR_ARGUMENT)
        origin.help = "Change what the message names; `gram help fit` lists the options.";
    if (status == GRAM_ERROR_DATA)
        origin.help = "Look at the target and the weights; --task, --target and --weights choose.";
    return cli_data_fail(session, status, &origin);
}

int cli_fit_is_near(const fit_options *own, double missed)
{
    return own->tolerance == 0 && missed <= 1e-6;
}

/* ---- the data ---- */

/* Known variances of rows take the place of weights: a method has use for one of them. A fit that goes on has its
 * preparation. */
static gram_status learn_preparation(cli_session *session, fit_state *fit)
{
    const fit_options *own = fit->own;
    gram_preparation_options options;
    if (fit->before) {
        fit->preparation = gram_preparation_retain(gram_model_preparation(fit->before));
        return GRAM_OK;
    }
    gram_preparation_options_init(&options, sizeof options);
    options.target = !own->target && own->svm.value == FIT_SVM_ONE_CLASS ? "" : own->target;
    options.features = own->features;
    options.ignore = own->ignore;
    options.weights = own->row_noise ? own->row_noise : own->weights;
    options.scale = !own->no_scale;
    options.missing = (gram_missing)own->missing.value;
    return gram_preparation_learn(session->context, fit->table, &options, &fit->preparation);
}

/* The table is given back as soon as it was prepared: the memory is for K. */
static int read_data(cli_session *session, const char *path, fit_state *fit)
{
    gram_context *context = session->context;
    gram_table_options options;
    gram_table_options_init(&options, sizeof options);
    options.format = (gram_format)fit->own->format.value;
    options.text = GRAM_TEXT_CATEGORIES;
    options.keep_missing = 1; /* what to do with them is the preparation's matter */
    fit->file = cli_data_name(path);
    gram_status status = gram_table_read(context, path, &options, &fit->table);
    if (status >= 0) status = learn_preparation(session, fit);
    if (status >= 0) status = gram_preparation_apply(context, fit->preparation, fit->table, 1, &fit->prepared);
    gram_table_destroy(fit->table);
    fit->table = NULL;
    if (status < 0)
        return cli_data_unread(session, status,
                               fit->before
                                   ? "--resume needs the same rows in the same order; fit other data without it."
                                   : "--target, --features and --ignore choose columns; --missing drop or mean helps "
                                     "with missing values.");
    status = gram_points_create_f64(context, fit->prepared->n, fit->prepared->d, fit->prepared->x, fit->prepared->d,
                                    &fit->points);
    return status < 0 ? cli_fit_fail(session, status, fit) : CLI_DONE;
}

static void count_rows(fit_state *fit)
{
    const gram_prepared *prepared = fit->prepared;
    const double *weights = fit->own->row_noise ? NULL : prepared->weights;
    fit->n = 0;
    for (int64_t i = 0; i < prepared->n; i++) fit->n += !weights || weights[i] > 0;
}

/* ---- the task ---- */

/* Distinct values of a target of whole numbers, 0 if it has others or more than `most`. */
static int64_t count_values(const double *y, int64_t n, int64_t most)
{
    double values[MOST_CLASSES];
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t k = 0;
        while (k < count && values[k] != y[i]) k++;
        if (k < count) continue;
        if (count == most || y[i] != floor(y[i])) return 0;
        values[count++] = y[i];
    }
    return count;
}

static int is_whole(const double *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (y[i] != floor(y[i])) return 0;
    return 1;
}

/* Is every target of numbers? Else the first that is not. */
static const gram_column *find_text(const fit_state *fit)
{
    const gram_preparation_description *known = gram_preparation_describe(fit->preparation);
    for (int64_t t = 0; t < known->target_count; t++)
        if (known->targets[t].text) return &known->targets[t];
    return NULL;
}

/* By the look of the target, where nothing else says. */
static fit_task look_at_target(fit_state *fit)
{
    const gram_prepared *data = fit->prepared;
    const fit_method method = (fit_method)fit->own->method.value;
    const int64_t values = data->targets == 1 ? count_values(data->y, data->n, MOST_CLASSES) : 0;
    const int few = values >= 2 && data->n >= ROWS_PER_CLASS * values;
    const int loss = fit->own->loss.value > GRAM_LOSS_SQUARED || fit->own->quantile;
    if (data->targets != 1 || loss || fit->own->likelihood.value > FIT_LIKELIHOOD_GAUSSIAN) return FIT_TASK_REGRESSION;
    if (find_text(fit)) return FIT_TASK_CLASSIFICATION;
    if (method == FIT_METHOD_LOGISTIC || method == FIT_METHOD_SVM)
        return is_whole(data->y, data->n) ? FIT_TASK_CLASSIFICATION : FIT_TASK_REGRESSION;
    if (few && method == FIT_METHOD_KRR) fit->few_values = values;
    return few && method != FIT_METHOD_KRR ? FIT_TASK_CLASSIFICATION : FIT_TASK_REGRESSION;
}

static int check_regression(const fit_state *fit)
{
    const gram_column *text = find_text(fit);
    if (!text) return CLI_DONE;
    return cli_fail(CLI_BAD_DATA, "Choose a column of numbers with --target COL, or --task classification.",
                    "%s: column '%s': regression needs a target of numbers, this one is text", fit->file, text->name);
}

static int check_classification(const fit_state *fit)
{
    enum { MOST = 1000 };
    const gram_preparation_description *known = gram_preparation_describe(fit->preparation);
    if (known->target_count != 1)
        return cli_fail(CLI_WRONG_USE, "Choose one with --target COL.",
                        "fit: classification learns one target, not %" PRId64, known->target_count);
    if (fit->classes.count < 2)
        return cli_fail(CLI_BAD_DATA, "There must be rows of at least two classes; --svm one-class learns one.",
                        "%s: column '%s': all rows are of one class, '%s'", fit->file, known->targets[0].name,
                        fit->classes.count == 1 ? fit->classes.names[0] : "");
    if (fit->classes.count > MOST)
        return cli_fail(CLI_BAD_DATA, "Is it a number to predict? Then --task regression.",
                        "%s: column '%s': %" PRId64 " classes, %d are the most", fit->file, known->targets[0].name,
                        fit->classes.count, MOST);
    return CLI_DONE;
}

/* The weight of each row times that of its class. */
static int weigh_classes(fit_state *fit)
{
    const gram_prepared *data = fit->prepared;
    const int code = fit->before ? cli_fit_resume_class_weights(fit, &fit->class_weights)
                                 : cli_class_weights(fit, &fit->class_weights);
    const double *of_class = fit->class_weights;
    if (code != CLI_DONE || (!of_class && !data->weights)) return code;
    fit->weights = calloc((size_t)data->n + 1, sizeof *fit->weights);
    if (!fit->weights) return cli_no_memory();
    for (int64_t i = 0; i < data->n; i++)
        fit->weights[i] = (data->weights ? data->weights[i] : 1) * (of_class ? of_class[(int64_t)fit->labels[i]] : 1);
    return CLI_DONE;
}

static int find_classes(fit_state *fit)
{
    const gram_prepared *data = fit->prepared;
    const gram_preparation_description *known = gram_preparation_describe(fit->preparation);
    int code =
        known->target_count == 1 ? cli_classes_find(&known->targets[0], data->n, data->y, &fit->classes) : CLI_DONE;
    if (code == CLI_DONE) code = check_classification(fit);
    if (code != CLI_DONE) return code;
    fit->labels = calloc((size_t)data->n + 1, sizeof *fit->labels);
    if (!fit->labels) return cli_no_memory();
    for (int64_t i = 0; i < data->n; i++) fit->labels[i] = (double)cli_classes_number(&fit->classes, data->y[i]);
    return weigh_classes(fit);
}

/* Regression or classification: by --task, by the method, or by the look of the target; then the method for it. */
static int decide_task(fit_state *fit)
{
    const fit_options *own = fit->own;
    fit->task = (fit_task)own->task.value;
    if (own->svm.value == FIT_SVM_ONE_CLASS) fit->task = FIT_TASK_ONE_CLASS;
    if (fit->task == FIT_TASK_AUTO) fit->task = look_at_target(fit);
    int code = fit->task == FIT_TASK_REGRESSION       ? check_regression(fit)
               : fit->task == FIT_TASK_CLASSIFICATION ? find_classes(fit)
                                                      : CLI_DONE;
    if (code != CLI_DONE) return code;
    const fit_kind *kind = cli_fit_kind(own, fit->task);
    if (!kind)
        return cli_fail(CLI_WRONG_USE,
                        fit->task == FIT_TASK_REGRESSION ? "Take krr, gp or svm." : "Take svm, logistic or gp.",
                        "fit: --method %s is not for %s", own->method.value == FIT_METHOD_KRR ? "krr" : "logistic",
                        fit->task == FIT_TASK_REGRESSION ? "regression, and this target has values that are no classes"
                                                         : "classification");
    if (kind != fit->kind) code = kind->check_use(own);
    fit->kind = kind;
    return code == CLI_DONE ? cli_fit_check_budget(kind, own) : code;
}

/* ---- what is given and what is free ---- */

static int is_complete(cli_session *session, const gram_kernel *kernel)
{
    gram_parameter parameter;
    for (int64_t i = 0; i < gram_kernel_parameter_count(kernel); i++)
        if (gram_kernel_parameter_get(session->context, kernel, i, &parameter) != GRAM_OK || !parameter.set) return 0;
    return 1;
}

int cli_fit_ridges(const fit_options *own)
{
    return !isnan(own->lambda) + !isnan(own->noise) + !isnan(own->alpha);
}

double cli_fit_noise(const fit_state *fit)
{
    const fit_options *own = fit->own;
    if (!isnan(own->lambda)) return own->lambda * (double)fit->n;
    return isnan(own->noise) ? own->alpha : own->noise;
}

static int read_kernel(cli_session *session, fit_state *fit)
{
    int code = CLI_DONE;
    if (fit->before)
        fit->given = gram_kernel_retain(gram_function_kernel(gram_model_function(fit->before)));
    else
        code = cli_kernel_read(session, fit->own->kernel ? fit->own->kernel : fit->kind->kernel, &fit->given);
    if (code != CLI_DONE) return code;
    const gram_status status = gram_kernel_check_dimension(session->context, fit->given, fit->prepared->d);
    if (status < 0) return cli_fit_fail(session, status, fit);
    fit->tune = (fit_tune)fit->own->tune.value;
    if (fit->tune == FIT_TUNE_AUTO)
        fit->tune =
            is_complete(session, fit->given) && (cli_fit_ridges(fit->own) > 0 || fit->own->C > 0 || fit->own->nu > 0)
                ? FIT_TUNE_NONE
                : fit->kind->tune;
    return CLI_DONE;
}

int cli_fit_prepare(cli_session *session, const char *path, fit_state *fit)
{
    int code = read_data(session, path, fit);
    if (code == CLI_DONE && fit->before) code = cli_fit_resume_check_data(fit);
    if (code != CLI_DONE) return code;
    count_rows(fit);
    code = decide_task(fit);
    if (code == CLI_DONE) code = read_kernel(session, fit);
    return code == CLI_DONE ? fit->kind->plan(session, fit) : code;
}

/* ---- what the methods share ---- */

int cli_fit_wants_ard(const fit_options *own)
{
    if (own->ard) return 1;
    return own->no_ard || own->kernel ? 0 : -1;
}

int64_t cli_fit_folds(const fit_state *fit)
{
    enum { FOLDS = 5 };
    if (fit->own->tune.number > 0) return fit->own->tune.number;
    return fit->n / 2 < FOLDS ? fit->n / 2 : FOLDS;
}

int64_t cli_fit_tuning_rows(const cli_session *session, int64_t matrices)
{
    enum { MOST = 3000, LEAST = 100 };
    const double rows = sqrt((double)session->budget / (2 * (double)matrices * sizeof(double)));
    return rows > MOST ? MOST : rows < LEAST ? LEAST : (int64_t)rows;
}

static void default_facts(cli_facts *facts, const fit_state *fit, const char *ridge)
{
    const int kernel = !gram_kernel_equal(fit->given, fit->kernel);
    char words[96];
    if (!kernel && !ridge) return;
    (void)snprintf(words, sizeof words, "%s%s%s", kernel ? "the kernel's free numbers by the median heuristic" : "",
                   kernel && ridge ? ", and " : "", ridge ? ridge : "");
    cli_facts_text(facts, "defaults", words);
}

void cli_fit_tune_facts(cli_facts *facts, const fit_state *fit, const char *default_ridge)
{
    static const char *const names[] = {"auto", "none", "loo", "gcv", "cv", "ml"};
    char name[32];
    (void)snprintf(name, sizeof name, "%s", names[fit->tune]);
    if (fit->tune == FIT_TUNE_CV) {
        (void)snprintf(name, sizeof name, "cv:%" PRId64, cli_fit_folds(fit));
    }
    cli_facts_text(facts, "tune", name);
    if (fit->tune == FIT_TUNE_NONE) default_facts(facts, fit, default_ridge);
}

void cli_fit_class_facts(cli_facts *facts, const fit_state *fit, const double *labels, const double *probabilities)
{
    const int64_t n = fit->prepared->n, classes = fit->classes.count;
    double right = 0, loss = 0;
    for (int64_t i = 0; i < n; i++) {
        right += labels[i] == fit->labels[i];
        if (probabilities) loss -= log(fmax(probabilities[i * classes + (int64_t)fit->labels[i]], 1e-15));
    }
    cli_facts_number(facts, "train_accuracy", right / (double)n);
    if (probabilities) cli_facts_number(facts, "train_log_loss", loss / (double)n);
}

int cli_fit_check_budget(const fit_kind *kind, const fit_options *own)
{
    if (kind == &cli_fit_svm) return CLI_DONE;
    const int code = cli_fit_refuse("--seconds", kind->name, own->seconds > 0);
    return code == CLI_DONE ? cli_fit_refuse("--iterations", kind->name, own->iterations > 0) : code;
}

int cli_fit_refuse(const char *what, const char *method, int given)
{
    if (!given) return CLI_DONE;
    return cli_fail(CLI_WRONG_USE, "Leave it out.", "fit: %s is not for %s", what, method);
}

void cli_fit_say_plan(cli_session *session, const fit_state *fit, const char *words, size_t bytes, double seconds,
                      const char *reason)
{
    char rows[CLI_SHORT_SIZE], size[GRAM_BYTES_SIZE], time[CLI_SHORT_SIZE] = "under 0.1";
    if (session->common->quiet) return;
    cli_session_clear(session);
    if (seconds >= 0.1) (void)snprintf(time, sizeof time, "%.2g", seconds);
    (void)fprintf(stderr, "plan: %s row%s, %" PRId64 " column%s; %s, about %s and %s s%s (%s)\n",
                  cli_count(fit->n, rows), cli_plural(fit->n), fit->prepared->d, cli_plural(fit->prepared->d), words,
                  gram_bytes_format(bytes, size), time, fit->tune == FIT_TUNE_NONE ? "" : " after tuning", reason);
}

/* What every method of `gram fit` begins with: table, preparation, task, kernel; and what the methods share. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data.h"
#include "fit.h"
#include "report.h"
#include "words.h"

enum { MOST_CLASSES = 20, ROWS_PER_CLASS = 5 };

void cli_fit_free(fit_state *fit)
{
    if (fit->kind && fit->kind->free) fit->kind->free(fit);
    gram_model_destroy(fit->model);
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
    return cli_data_fail(session, status, &origin);
}

/* ---- the data ---- */

/* Known variances of rows take the place of weights: a method has use for one of them. */
static gram_status learn_preparation(cli_session *session, fit_state *fit)
{
    const fit_options *own = fit->own;
    gram_preparation_options options;
    gram_preparation_options_init(&options, sizeof options);
    options.target = own->target;
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
        return cli_data_unread(
            session, status,
            "--target, --features and --ignore choose columns; --missing drop or mean helps with missing values.");
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

/* Distinct values of a target of whole numbers, 0 if it has others or more than MOST_CLASSES. */
static int64_t count_values(const double *y, int64_t n)
{
    double values[MOST_CLASSES];
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t k = 0;
        while (k < count && values[k] != y[i]) k++;
        if (k < count) continue;
        if (count == MOST_CLASSES || y[i] != floor(y[i])) return 0;
        values[count++] = y[i];
    }
    return count;
}

static int refuse_text(const fit_state *fit, const gram_column *target)
{
    const char *help = "Choose a column of numbers with --target COL; `--task regression` is the only task so far.";
    if (fit->own->task.value == FIT_TASK_REGRESSION)
        return cli_fail(CLI_BAD_DATA, help, "%s: column '%s': regression needs a target of numbers, this one is text",
                        fit->file, target->name);
    return cli_fail(CLI_BAD_DATA, help,
                    "%s: column '%s': the target is text, which asks for classification, and that is not there yet",
                    fit->file, target->name);
}

/* Regression or classification, by --task or by the look of the target. */
static int decide_task(fit_state *fit)
{
    const gram_preparation_description *known = gram_preparation_describe(fit->preparation);
    for (int64_t t = 0; t < known->target_count; t++)
        if (known->targets[t].text) return refuse_text(fit, &known->targets[t]);
    if (fit->own->task.value == FIT_TASK_REGRESSION || known->target_count != 1) return CLI_DONE;
    const int64_t values = count_values(fit->prepared->y, fit->prepared->n);
    if (values >= 2 && fit->prepared->n >= ROWS_PER_CLASS * values) fit->classes = values;
    return CLI_DONE;
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
    int code = cli_kernel_read(session, fit->own->kernel ? fit->own->kernel : fit->kind->kernel, &fit->given);
    if (code != CLI_DONE) return code;
    const gram_status status = gram_kernel_check_dimension(session->context, fit->given, fit->prepared->d);
    if (status < 0) return cli_fit_fail(session, status, fit);
    fit->tune = (fit_tune)fit->own->tune.value;
    if (fit->tune == FIT_TUNE_AUTO)
        fit->tune = is_complete(session, fit->given) && cli_fit_ridges(fit->own) > 0 ? FIT_TUNE_NONE : fit->kind->tune;
    return CLI_DONE;
}

int cli_fit_prepare(cli_session *session, const char *path, fit_state *fit)
{
    int code = read_data(session, path, fit);
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
        const int64_t folds = fit->own->tune.number;
        (void)snprintf(name, sizeof name, "cv:%" PRId64, folds > 0 ? folds : 5);
    }
    cli_facts_text(facts, "tune", name);
    if (fit->tune == FIT_TUNE_NONE) default_facts(facts, fit, default_ridge);
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

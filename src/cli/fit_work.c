/* The work of `gram fit`: table, preparation, task, plan, tuning, fit, model. */
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
    gram_model_destroy(fit->model);
    gram_krr_destroy(fit->krr);
    gram_kernel_release(fit->kernel);
    gram_kernel_release(fit->given);
    gram_points_destroy(fit->points);
    gram_prepared_destroy(fit->prepared);
    gram_preparation_release(fit->preparation);
    gram_table_destroy(fit->table);
}

/* ---- failures ---- */

/* Of a computation on the prepared points. */
static int work_fail(cli_session *session, gram_status status, const fit_state *fit)
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

static gram_status learn_preparation(cli_session *session, fit_state *fit)
{
    const fit_options *own = fit->own;
    gram_preparation_options options;
    gram_preparation_options_init(&options, sizeof options);
    options.target = own->target;
    options.features = own->features;
    options.ignore = own->ignore;
    options.weights = own->weights;
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
    return status < 0 ? work_fail(session, status, fit) : CLI_DONE;
}

static void count_rows(fit_state *fit)
{
    const gram_prepared *prepared = fit->prepared;
    fit->n = 0;
    for (int64_t i = 0; i < prepared->n; i++) fit->n += !prepared->weights || prepared->weights[i] > 0;
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

/* NaN if none of --lambda, --noise and --alpha is given. */
static double given_lambda(const fit_state *fit)
{
    const fit_options *own = fit->own;
    if (!isnan(own->lambda)) return own->lambda;
    return (isnan(own->noise) ? own->alpha : own->noise) / (double)fit->n;
}

static int read_kernel(cli_session *session, fit_state *fit)
{
    int code = cli_kernel_read(session, fit->own->kernel ? fit->own->kernel : "rbf", &fit->given);
    if (code != CLI_DONE) return code;
    const gram_status status = gram_kernel_check_dimension(session->context, fit->given, fit->prepared->d);
    if (status < 0) return work_fail(session, status, fit);
    fit->lambda = given_lambda(fit);
    fit->tune = (fit_tune)fit->own->tune.value;
    if (fit->tune == FIT_TUNE_AUTO)
        fit->tune = is_complete(session, fit->given) && !isnan(fit->lambda) ? FIT_TUNE_NONE : FIT_TUNE_LOO;
    return CLI_DONE;
}

/* ---- the plan ---- */

static void print_plan(cli_session *session, const fit_state *fit, const gram_plan *plan)
{
    char rows[CLI_SHORT_SIZE], size[GRAM_BYTES_SIZE], seconds[CLI_SHORT_SIZE] = "under 0.1";
    if (session->common->quiet) return;
    cli_session_clear(session);
    if (plan->seconds >= 0.1) (void)snprintf(seconds, sizeof seconds, "%.2g", plan->seconds);
    (void)fprintf(stderr, "plan: %s row%s, %" PRId64 " column%s; %s, %s, about %s and %s s (%s)\n",
                  cli_count(fit->n, rows), cli_plural(fit->n), fit->prepared->d, cli_plural(fit->prepared->d),
                  gram_solver_name(plan->solver), gram_precision_name(plan->precision),
                  gram_bytes_format(plan->bytes, size), seconds, plan->reason);
}

/* Before anything takes long: what does not fit is refused with what would. */
static int make_plan(cli_session *session, fit_state *fit)
{
    gram_plan plan;
    gram_plan_request request;
    gram_plan_request_init(&request, sizeof request);
    request.n = fit->n;
    request.d = fit->prepared->d;
    request.outputs = fit->prepared->targets;
    request.kernel = fit->given;
    request.solver = (gram_solver)fit->own->solver.value;
    request.landmarks = fit->own->solver.number;
    request.precision = (gram_precision)fit->own->precision.value;
    request.leave_one_out = fit->own->loo ? 1 : -1;
    request.ridgeless = fit->lambda == 0;
    const gram_status status = gram_plan_fit(session->context, &request, &plan);
    const int contradiction = status == GRAM_ERROR_ARGUMENT || status == GRAM_ERROR_UNSUPPORTED;
    if (status < 0)
        return cli_session_fail(session, status, 0,
                                contradiction ? "Change --solver, --precision, --loo or --lambda." : NULL);
    print_plan(session, fit, &plan);
    return CLI_DONE;
}

int cli_fit_prepare(cli_session *session, const char *path, fit_state *fit)
{
    int code = read_data(session, path, fit);
    if (code != CLI_DONE) return code;
    count_rows(fit);
    code = decide_task(fit);
    if (code == CLI_DONE) code = read_kernel(session, fit);
    return code == CLI_DONE ? make_plan(session, fit) : code;
}

/* ---- tuning ---- */

static gram_criterion criterion_of(fit_tune tune)
{
    switch (tune) {
    case FIT_TUNE_GCV: return GRAM_CRITERION_GCV;
    case FIT_TUNE_CV: return GRAM_CRITERION_CV;
    case FIT_TUNE_ML: return GRAM_CRITERION_ML;
    default: return GRAM_CRITERION_LOO;
    }
}

/* The default kernel has one length-scale per feature; a kernel that was written down has what it says. */
static int wants_ard(const fit_options *own)
{
    if (own->ard) return 1;
    return own->no_ard || own->kernel ? 0 : -1;
}

/* Tuning holds some four matrices of its rows: half of the budget may go there. */
static int64_t tuning_rows(const cli_session *session)
{
    enum { MOST = 3000, LEAST = 100 };
    const double rows = sqrt((double)session->budget / (2 * 4 * sizeof(double)));
    return rows > MOST ? MOST : rows < LEAST ? LEAST : (int64_t)rows;
}

static gram_status tune(cli_session *session, fit_state *fit)
{
    const fit_options *own = fit->own;
    const gram_prepared *data = fit->prepared;
    gram_tune_options options;
    gram_tune_options_init(&options, sizeof options);
    options.criterion = criterion_of(fit->tune);
    if (own->tune.number > 0) options.folds = own->tune.number;
    options.lambda = fit->lambda;
    options.lambda_fixed = !isnan(fit->lambda);
    options.weights = data->weights;
    options.intercept = !own->no_intercept;
    options.ard = wants_ard(own);
    options.grid = own->grid;
    options.rows = tuning_rows(session);
    fit->tuned.size = sizeof fit->tuned;
    return gram_krr_tune(session->context, fit->given, fit->points, data->targets, data->y, data->targets, &options,
                         &fit->kernel, &fit->lambda, &fit->tuned);
}

/* Without tuning: the median heuristic, and a ridge that does little. */
static gram_status take_defaults(cli_session *session, fit_state *fit)
{
    gram_krr_options options;
    gram_krr_options_init(&options, sizeof options);
    fit->lambda_is_default = isnan(fit->lambda);
    if (fit->lambda_is_default) fit->lambda = options.lambda;
    return gram_kernel_resolve(session->context, fit->given, fit->points, &fit->kernel);
}

/* ---- the fit ---- */

static gram_status solve(cli_session *session, fit_state *fit)
{
    const fit_options *own = fit->own;
    const gram_prepared *data = fit->prepared;
    gram_krr_options options;
    gram_krr_options_init(&options, sizeof options);
    options.lambda = fit->lambda;
    options.weights = data->weights;
    options.intercept = !own->no_intercept;
    options.solver = (gram_solver)own->solver.value;
    options.landmarks = own->solver.number;
    options.precision = (gram_precision)own->precision.value;
    options.tolerance = own->tolerance;
    options.leave_one_out = own->loo ? 1 : -1;
    return gram_krr_fit(session->context, fit->kernel, fit->points, data->targets, data->y, data->targets, &options,
                        &fit->krr);
}

static int not_converged(cli_session *session, const fit_state *fit)
{
    const gram_krr_report *report = gram_krr_get_report(fit->krr);
    char error[CLI_SHORT_SIZE];
    cli_session_clear(session);
    return cli_fail(CLI_NUMERICAL,
                    "Raise --lambda (or --noise), ask for less with --tolerance T, or take --solver exact.",
                    "fit: no convergence: after %" PRId64 " iterations the backward error is %s", report->iterations,
                    cli_short_number(report->backward_error, error));
}

/* ---- the model and what is kept of the fit ---- */

typedef struct report_number {
    const char *name;
    size_t offset;
} report_number;

static const report_number NUMBERS[] = {
    {"residual", offsetof(gram_krr_report, residual)},
    {"backward_error", offsetof(gram_krr_report, backward_error)},
    {"jitter", offsetof(gram_krr_report, jitter)},
    {"condition", offsetof(gram_krr_report, condition)},
    {"trace_error", offsetof(gram_krr_report, trace_error)},
    {"train_rmse", offsetof(gram_krr_report, train_rmse)},
    {"train_r2", offsetof(gram_krr_report, train_r2)},
    {"loo_rmse", offsetof(gram_krr_report, loo_rmse)},
    {"loo_r2", offsetof(gram_krr_report, loo_r2)},
    {"gcv", offsetof(gram_krr_report, gcv)},
    {"norm", offsetof(gram_krr_report, norm)},
    {"effective_dimension", offsetof(gram_krr_report, effective_dimension)},
    {"log_marginal_likelihood", offsetof(gram_krr_report, log_marginal_likelihood)},
};

/* A model and the status of the last fact that was set: facts are set in a row and looked at once. */
typedef struct facts {
    gram_context *context;
    gram_model *model;
    gram_status status;
} facts;

static void set_number(facts *f, const char *name, double value)
{
    if (f->status >= 0) f->status = gram_model_set_number(f->context, f->model, name, value);
}

static void set_integer(facts *f, const char *name, int64_t value)
{
    if (f->status >= 0) f->status = gram_model_set_integer(f->context, f->model, name, value);
}

static void set_text(facts *f, const char *name, const char *value)
{
    if (f->status >= 0) f->status = gram_model_set_text(f->context, f->model, name, value);
}

/* What nobody gave and nothing chose. */
static void set_defaults(facts *f, const fit_state *fit)
{
    const int kernel = !gram_kernel_equal(fit->given, fit->kernel);
    if (!kernel && !fit->lambda_is_default) return;
    set_text(f, "defaults",
             kernel && fit->lambda_is_default ? "the kernel's free numbers by the median heuristic, and lambda"
             : kernel                         ? "the kernel's free numbers by the median heuristic"
                                              : "lambda");
}

static void set_tuning(facts *f, const fit_state *fit)
{
    static const char *const names[] = {"auto", "none", "loo", "gcv", "cv", "ml"};
    char name[32];
    (void)snprintf(name, sizeof name, "%s", names[fit->tune]);
    if (fit->tune == FIT_TUNE_CV) {
        const int64_t folds = fit->own->tune.number;
        (void)snprintf(name, sizeof name, "cv:%" PRId64, folds > 0 ? folds : 5);
    }
    set_text(f, "tune", name);
    if (fit->tune == FIT_TUNE_NONE) set_defaults(f, fit);
    if (fit->tune == FIT_TUNE_NONE) return;
    set_integer(f, "tuned_rows", fit->tuned.rows);
    set_integer(f, "evaluations", fit->tuned.evaluations);
    set_number(f, "criterion", fit->tuned.value);
    set_integer(f, "at_bound", fit->tuned.at_bound);
}

/* Rademacher complexity of the ball that the function is in. The risk bound holds for a kernel that was fixed before the
 * data were seen, and for functions without an unpenalised part: only then is it said, and only where it says more than
 * |y| <= max |y| alone does. */
static void set_bounds(facts *f, const fit_state *fit)
{
    const gram_krr_report *report = gram_krr_get_report(fit->krr);
    const fit_options *own = fit->own;
    double most = 0;
    if (report->outputs != 1 || fit->prepared->weights) return;
    set_number(f, "rademacher", gram_bound_rademacher(report->norm, report->trace, report->n));
    if (!own->no_intercept || !own->no_scale || fit->tune != FIT_TUNE_NONE ||
        !gram_kernel_equal(fit->given, fit->kernel))
        return;
    for (int64_t i = 0; i < fit->prepared->n; i++) most = fmax(most, fabs(fit->prepared->y[i]));
    const double bound = report->train_rmse * report->train_rmse +
                         gram_bound_squared_risk_fitted(report->norm, report->radius, most, 0.05, report->n);
    if (bound < most * most) set_number(f, "risk_bound", bound);
}

static void set_facts(facts *f, const fit_state *fit)
{
    const gram_krr_report *report = gram_krr_get_report(fit->krr);
    set_integer(f, "n", report->n);
    set_integer(f, "d", report->d);
    set_integer(f, "rows", fit->prepared->table_rows);
    set_number(f, "lambda", report->lambda);
    set_number(f, "noise", report->lambda * (double)report->n);
    set_integer(f, "intercept", !fit->own->no_intercept);
    set_text(f, "solver", gram_solver_name(report->solver));
    set_text(f, "precision", gram_precision_name(report->precision));
    set_integer(f, "rank", report->rank);
    set_integer(f, "iterations", report->iterations);
    for (size_t i = 0; i < sizeof NUMBERS / sizeof *NUMBERS; i++)
        set_number(f, NUMBERS[i].name, *(const double *)(const void *)((const char *)report + NUMBERS[i].offset));
    set_bounds(f, fit);
    set_tuning(f, fit);
}

static gram_status make_model(cli_session *session, fit_state *fit)
{
    facts f = {session->context, NULL, GRAM_OK};
    f.status = gram_model_create(session->context, "krr", "regression", fit->preparation, gram_krr_function(fit->krr),
                                 &fit->model);
    f.model = fit->model;
    if (f.status >= 0) set_facts(&f, fit);
    return f.status;
}

int cli_fit_work(cli_session *session, fit_state *fit)
{
    gram_status status = fit->tune == FIT_TUNE_NONE ? take_defaults(session, fit) : tune(session, fit);
    if (status >= 0) status = solve(session, fit);
    if (status == GRAM_NOT_CONVERGED) return not_converged(session, fit);
    if (status >= 0) status = make_model(session, fit);
    return status < 0 ? work_fail(session, status, fit) : CLI_DONE;
}

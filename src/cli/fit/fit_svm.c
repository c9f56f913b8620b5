/* `gram fit --method svm`: support vector machines for classes, numbers, and one class. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/fit/fit_resume.h"
#include "cli/fit/verb_fit.h"
#include "cli/report/report_rows.h"

enum { PROBABILITY_FOLDS = 5 };

typedef struct svm_state {
    gram_svm_options options;
    int c_is_default;
    gram_svm_tune_report tuned;
    double *out_of_fold;    /* n x outputs, of the tuning */
    const double *sigmoids; /* of the model that goes on, or NULL */
    int64_t iterations;     /* of all calls so far */
    gram_svm *svm;
} svm_state;

static svm_state *own_of(const fit_state *fit)
{
    return fit->result;
}

static void free_state(fit_state *fit)
{
    svm_state *state = fit->result;
    if (!state) return;
    gram_svm_destroy(state->svm);
    free(state->out_of_fold);
    free(state);
}

static int check_use(const fit_options *own)
{
    const fit_tune tune = (fit_tune)own->tune.value;
    if (cli_fit_ridges(own) > 0)
        return cli_fail(CLI_WRONG_USE, "C = 1/(2 n lambda).",
                        "fit: a support vector machine has --C (or --nu), not a ridge");
    if (tune != FIT_TUNE_AUTO && tune != FIT_TUNE_CV && tune != FIT_TUNE_NONE)
        return cli_fail(CLI_WRONG_USE, "cv:5 is the default.", "fit: --tune for svm is cv:K or none");
    if (own->nu > 1)
        return cli_fail(CLI_WRONG_USE, "It is a share of the rows.", "fit: --nu %g is not in (0, 1]", own->nu);
    if (own->C > 0 && own->svm.value != FIT_SVM_C && own->task.value != FIT_TASK_REGRESSION)
        return cli_fail(CLI_WRONG_USE, "Leave it out, or take --svm c.", "fit: --C is not for --svm %s, which has --nu",
                        own->svm.value == FIT_SVM_NU ? "nu" : "one-class");
    if (own->nu > 0 && own->svm.value == FIT_SVM_C)
        return cli_fail(CLI_WRONG_USE, "Add --svm nu.", "fit: --nu is for --svm nu and one-class");
    int code = cli_fit_refuse("--solver", "svm", own->solver.value != GRAM_SOLVER_AUTO);
    if (code == CLI_DONE) code = cli_fit_refuse("--mean", "svm", own->mean.value >= 0);
    if (code == CLI_DONE) code = cli_fit_refuse("--row-noise", "svm", own->row_noise != NULL);
    if (code == CLI_DONE) code = cli_fit_refuse("--no-intercept", "svm", own->no_intercept);
    if (code == CLI_DONE) code = cli_fit_refuse("--loo", "svm", own->loo);
    if (code == CLI_DONE) code = cli_fit_refuse("--grid", "svm", own->grid > 0);
    return code == CLI_DONE ? cli_fit_refuse("--precision", "svm", own->precision.value != GRAM_PRECISION_AUTO) : code;
}

static gram_svm_kind kind_of(const fit_state *fit)
{
    const int nu = fit->own->svm.value == FIT_SVM_NU;
    if (fit->task == FIT_TASK_ONE_CLASS) return GRAM_SVM_ONE_CLASS;
    if (fit->task == FIT_TASK_REGRESSION) return nu ? GRAM_SVM_NU_REGRESSION : GRAM_SVM_EPSILON_REGRESSION;
    return nu ? GRAM_SVM_NU : GRAM_SVM_C;
}

static int64_t output_count(const fit_state *fit)
{
    return fit->task == FIT_TASK_CLASSIFICATION ? fit->classes.count * (fit->classes.count - 1) / 2 : 1;
}

/* Without a budget of the user's: far more than a fit takes that will ever end, a minute or two. */
static int64_t most_steps(int64_t n)
{
    return n > 100000 ? 1000 * n : 100000000;
}

/* From where a former call stopped. */
static int go_on(fit_state *fit)
{
    svm_state *state = own_of(fit);
    const int64_t so_far = gram_model_find(fit->before, "iterations").integer;
    if (so_far > 0 && so_far < INT64_MAX / 2) state->iterations = so_far;
    return cli_fit_resume_start(fit, output_count(fit), &state->options.start, &state->sigmoids);
}

static int make_plan(cli_session *session, fit_state *fit)
{
    const fit_options *own = fit->own;
    svm_state *state = fit->result = calloc(1, sizeof *state);
    if (!state) return cli_no_memory();
    if (fit->task == FIT_TASK_REGRESSION && fit->prepared->targets != 1)
        return cli_fail(CLI_WRONG_USE, "Choose one with --target, or take --method krr.",
                        "fit: a support vector machine learns one target, here are %" PRId64, fit->prepared->targets);
    gram_svm_options *options = &state->options;
    gram_svm_options_init(options, sizeof *options);
    options->kind = kind_of(fit);
    state->c_is_default = own->C == 0;
    if (own->C > 0) options->C = own->C;
    if (own->nu > 0) options->nu = own->nu;
    if (!isnan(own->epsilon)) options->epsilon = own->epsilon;
    if (own->tolerance > 0) options->tolerance = own->tolerance;
    options->seconds = own->seconds;
    options->iterations = own->iterations > 0 || own->seconds > 0 ? own->iterations : most_steps(fit->n);
    options->weights = fit->weights ? fit->weights : fit->prepared->weights;
    if (fit->task == FIT_TASK_ONE_CLASS || cli_fit_folds(fit) < 2) fit->tune = FIT_TUNE_NONE;
    const int code = fit->before ? go_on(fit) : CLI_DONE;
    if (code != CLI_DONE) return code;
    cli_fit_say_plan(session, fit, "decomposition",
                     (size_t)fit->n * (size_t)(64 + 8 * output_count(fit)) + ((size_t)64 << 20),
                     1e-8 * (double)fit->n * (double)fit->n, "rows of the kernel are cached within the memory budget");
    return CLI_DONE;
}

/* ---- the work ---- */

static const double *targets_of(const fit_state *fit)
{
    return fit->task == FIT_TASK_CLASSIFICATION ? fit->labels
           : fit->task == FIT_TASK_REGRESSION   ? fit->prepared->y
                                                : NULL;
}

static gram_status tune(cli_session *session, fit_state *fit)
{
    svm_state *state = own_of(fit);
    const int64_t n = fit->prepared->n, outputs = output_count(fit);
    gram_svm_options machine = state->options;
    gram_svm_tune_options options;
    gram_svm_tune_options_init(&options, sizeof options);
    machine.seconds = 0; /* the budget is that of the machine itself */
    machine.iterations = 0;
    options.folds = cli_fit_folds(fit);
    options.ard = cli_fit_wants_ard(fit->own);
    if (!state->c_is_default) options.strengths = 1;
    state->tuned.size = sizeof state->tuned;
    state->out_of_fold = calloc((size_t)(n * outputs + 1), sizeof *state->out_of_fold);
    if (!state->out_of_fold) return GRAM_ERROR_MEMORY;
    return gram_svm_tune(session->context, fit->given, fit->points, targets_of(fit), &machine, &options, &fit->kernel,
                         &state->options.C, NULL, state->out_of_fold, &state->tuned);
}

static gram_status fit_machine(cli_session *session, fit_state *fit, const gram_svm_options *options)
{
    svm_state *state = own_of(fit);
    gram_svm *former = state->svm;
    const gram_status status =
        gram_svm_fit(session->context, fit->kernel, fit->points, targets_of(fit), options, &state->svm);
    if (state->svm) state->iterations += gram_svm_get_report(state->svm)->iterations;
    gram_svm_destroy(former);
    return status;
}

/* Does the machine get its probabilities from folds of its own? Those of the tuning are there otherwise. */
static int64_t folds_of(const fit_state *fit)
{
    return fit->task == FIT_TASK_CLASSIFICATION && !own_of(fit)->out_of_fold && fit->own->prob ? PROBABILITY_FOLDS : 0;
}

/* The folds of --prob would each take the budget again, and those of a machine that is not finished tell little: they are
 * made once it is, by a fit that starts where it ends. */
static gram_status solve(cli_session *session, fit_state *fit)
{
    svm_state *state = own_of(fit);
    gram_svm_options options = state->options;
    const int64_t folds = folds_of(fit);
    const int limited = fit->own->seconds > 0 || fit->own->iterations > 0;
    if (fit->task == FIT_TASK_CLASSIFICATION) options.out_of_fold = state->out_of_fold;
    if (!limited) options.probability_folds = folds;
    const gram_status status = fit_machine(session, fit, &options);
    if (status != GRAM_OK || !limited || folds == 0) return status;
    options.start = gram_svm_duals(state->svm);
    options.seconds = 0;
    options.iterations = 0;
    options.probability_folds = folds;
    return fit_machine(session, fit, &options);
}

static const double *sigmoids_of(const svm_state *state)
{
    return state->sigmoids ? state->sigmoids : gram_svm_sigmoids(state->svm);
}

/* Was it the budget that ended the fit, and not rounding? */
static int is_out_of_budget(const fit_state *fit)
{
    const gram_svm *svm = own_of(fit)->svm;
    const gram_svm_report *report = gram_svm_get_report(svm);
    const gram_svm_pair *pairs = gram_svm_pairs(svm);
    const int64_t most = fit->own->iterations;
    if (fit->own->seconds > 0 && report->seconds >= fit->own->seconds) return 1;
    for (int64_t o = 0; most > 0 && o < report->outputs; o++)
        if (!pairs[o].converged && pairs[o].iterations >= most) return 1;
    return 0;
}

/* ---- the model ---- */

static void set_training_error(cli_facts *facts, const fit_state *fit, const double *values)
{
    const gram_prepared *data = fit->prepared;
    double squares = 0;
    for (int64_t i = 0; i < data->n; i++)
        squares += (data->y[i] - values[i]) * (data->y[i] - values[i]) / (double)data->n;
    cli_facts_number(facts, "train_rmse", sqrt(squares));
}

/* Labels (or values) and probabilities of the rows that it was fitted on. */
static void set_training(cli_facts *facts, const fit_state *fit)
{
    const svm_state *state = own_of(fit);
    const int64_t n = fit->prepared->n, classes = fit->classes.count, outputs = output_count(fit);
    const double *sigmoids = sigmoids_of(state);
    double *values = calloc((size_t)(n * (outputs + 1 + classes) + 1), sizeof *values);
    if (!values) {
        facts->status = GRAM_ERROR_MEMORY;
        return;
    }
    double *labels = values + n * outputs, *probabilities = sigmoids ? labels + n : NULL;
    if (facts->status >= 0)
        facts->status = gram_svm_predict(facts->context, state->svm, fit->points, NULL, values, NULL);
    if (facts->status >= 0 && fit->task == FIT_TASK_CLASSIFICATION)
        facts->status = gram_svm_decide(facts->context, classes, n, values, sigmoids, labels, probabilities);
    if (facts->status >= 0 && fit->task == FIT_TASK_CLASSIFICATION)
        cli_fit_class_facts(facts, fit, labels, probabilities);
    if (facts->status >= 0 && fit->task == FIT_TASK_REGRESSION) set_training_error(facts, fit, values);
    free(values);
}

static void set_tuning(cli_facts *facts, const fit_state *fit)
{
    const svm_state *state = own_of(fit);
    const int has_c = state->options.kind == GRAM_SVM_C || fit->task == FIT_TASK_REGRESSION;
    if (fit->before) {
        cli_fit_resume_tune_facts(facts, fit);
        return;
    }
    cli_fit_tune_facts(facts, fit, has_c && state->c_is_default ? "C" : NULL);
    if (fit->tune == FIT_TUNE_NONE) return;
    cli_facts_integer(facts, "tuned_rows", state->tuned.rows);
    cli_facts_integer(facts, "tuned_fits", state->tuned.fits);
    cli_facts_integer(facts, "tuned_unfinished", state->tuned.unfinished);
    if (fit->task == FIT_TASK_CLASSIFICATION)
        cli_facts_number(facts, "cv_accuracy", state->tuned.score);
    else
        cli_facts_number(facts, "cv_rmse", sqrt(state->tuned.score));
    cli_facts_number(facts, "cv_standard_error", state->tuned.standard_error);
    cli_facts_integer(facts, "at_bound", state->tuned.at_edge);
}

static void set_facts(cli_facts *facts, const fit_state *fit)
{
    static const char *const names[] = {"c", "nu", "one-class", "epsilon", "nu"};
    const svm_state *state = own_of(fit);
    const gram_svm_report *report = gram_svm_get_report(state->svm);
    const gram_svm_kind kind = state->options.kind;
    cli_facts_integer(facts, "n", fit->n);
    cli_facts_integer(facts, "d", fit->prepared->d);
    cli_facts_integer(facts, "rows", fit->prepared->table_rows);
    cli_facts_text(facts, "svm", names[kind]);
    if (kind == GRAM_SVM_C || fit->task == FIT_TASK_REGRESSION) cli_facts_number(facts, "C", state->options.C);
    if (kind != GRAM_SVM_C && kind != GRAM_SVM_EPSILON_REGRESSION) cli_facts_number(facts, "nu", state->options.nu);
    if (fit->task == FIT_TASK_REGRESSION) cli_facts_number(facts, "epsilon", report->epsilon);
    cli_facts_integer(facts, "n_support", report->n_support);
    cli_facts_integer(facts, "n_bounded", report->n_bounded);
    cli_facts_number(facts, "objective", report->objective);
    cli_facts_number(facts, "gap", report->gap);
    cli_facts_number(facts, "violation", report->violation);
    cli_facts_integer(facts, "iterations", state->iterations);
    cli_facts_integer(facts, "converged", report->converged != 0);
    set_tuning(facts, fit);
    set_training(facts, fit);
    if (fit->task == FIT_TASK_CLASSIFICATION) cli_classes_facts(facts, &fit->classes);
    if (sigmoids_of(state)) cli_facts_array(facts, "sigmoids", report->outputs, 2, sigmoids_of(state));
    if (!report->converged) cli_fit_resume_keep(facts, fit, state->svm, state->options.tolerance, folds_of(fit));
}

static gram_status make_model(cli_session *session, fit_state *fit)
{
    const char *const task = fit->task == FIT_TASK_CLASSIFICATION ? "classification"
                             : fit->task == FIT_TASK_REGRESSION   ? "regression"
                                                                  : "one-class";
    cli_facts facts = {session->context, NULL, GRAM_OK};
    facts.status = gram_model_create(session->context, "svm", task, fit->preparation,
                                     gram_svm_function(own_of(fit)->svm), &fit->model);
    facts.model = fit->model;
    if (facts.status >= 0) set_facts(&facts, fit);
    return facts.status;
}

static int not_converged(cli_session *session, const fit_state *fit)
{
    const gram_svm_report *report = gram_svm_get_report(own_of(fit)->svm);
    char violation[CLI_SHORT_SIZE];
    cli_session_clear(session);
    return cli_fail(CLI_NUMERICAL,
                    fit->own->no_scale ? "Leave out --no-scale, or take a smaller --C, or a larger --tolerance."
                                       : "Take a smaller --C, or a larger --tolerance.",
                    "fit: no convergence: after %" PRId64 " iterations the optimality conditions are violated by %s",
                    report->iterations, cli_short_number(report->violation, violation));
}

static int work(cli_session *session, fit_state *fit)
{
    gram_status status = fit->tune == FIT_TUNE_NONE
                             ? gram_kernel_resolve(session->context, fit->given, fit->points, &fit->kernel)
                             : tune(session, fit);
    if (status >= 0) status = solve(session, fit);
    if (status == GRAM_NOT_CONVERGED && !is_out_of_budget(fit)) return not_converged(session, fit);
    if (status >= 0) status = make_model(session, fit);
    return status < 0 ? cli_fit_fail(session, status, fit) : CLI_DONE;
}

static const char *fitted(cli_session *session, const fit_state *fit, double *f)
{
    const gram_status status =
        gram_function_evaluate(session->context, gram_model_function(fit->model), fit->points, f, 1);
    return status < 0 ? NULL : "fitted value";
}

const fit_kind cli_fit_svm = {"svm", "rbf", FIT_TUNE_CV, check_use, make_plan, work, fitted, free_state};

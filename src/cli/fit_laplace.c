/* `gram fit --method gp` for classes: Laplace's approximation. */
#include <math.h>
#include <stdlib.h>

#include "fit.h"

typedef struct laplace_state {
    gram_laplace_options options;
    gram_laplace_tune_report tuned;
    gram_laplace *laplace;
} laplace_state;

static laplace_state *own_of(const fit_state *fit)
{
    return fit->result;
}

static void free_state(fit_state *fit)
{
    if (fit->result) gram_laplace_destroy(own_of(fit)->laplace);
    free(fit->result);
}

static int check_use(const fit_options *own)
{
    const char *const method = "gp on classes";
    const fit_tune tune = (fit_tune)own->tune.value;
    if (tune != FIT_TUNE_AUTO && tune != FIT_TUNE_ML && tune != FIT_TUNE_NONE)
        return cli_fail(CLI_WRONG_USE, "ml, the approximate marginal likelihood, is the default.",
                        "fit: --tune for gp on classes is ml or none");
    int code = cli_fit_refuse("--noise (or --lambda)", method, cli_fit_ridges(own) > 0);
    if (code == CLI_DONE) code = cli_fit_refuse("--solver", method, own->solver.value > GRAM_SOLVER_EXACT);
    if (code == CLI_DONE) code = cli_fit_refuse("--mean", method, own->mean.value >= 0);
    if (code == CLI_DONE) code = cli_fit_refuse("--weights", method, own->weights != NULL);
    if (code == CLI_DONE) code = cli_fit_refuse("--class-weight", method, own->class_weight != NULL);
    if (code == CLI_DONE) code = cli_fit_refuse("--row-noise", method, own->row_noise != NULL);
    return code == CLI_DONE ? cli_fit_refuse("--C", method, own->C > 0) : code;
}

static int make_plan(cli_session *session, fit_state *fit)
{
    const double n = (double)fit->n, outputs = fit->classes.count == 2 ? 1 : (double)fit->classes.count;
    laplace_state *state = fit->result = calloc(1, sizeof *state);
    if (!state) return cli_no_memory();
    gram_laplace_options_init(&state->options, sizeof state->options);
    state->options.classes = fit->classes.count;
    state->options.likelihood = fit->classes.count == 2 ? GRAM_LIKELIHOOD_LOGISTIC : GRAM_LIKELIHOOD_SOFTMAX;
    if (fit->own->tolerance > 0) state->options.tolerance = fit->own->tolerance;
    const double bytes = 8 * n * n * (2 + 0.5 * outputs);
    if (bytes > (double)session->budget)
        return cli_fail(CLI_OVER_LIMIT, "Take --method svm, fewer rows, or more --memory.",
                        "fit: a Gaussian process on %.0f rows of classes needs about %.1f GiB", n,
                        bytes / 1073741824.0);
    cli_fit_say_plan(session, fit, "laplace, f64", (size_t)bytes, 10 * outputs * n * n * n * 1e-11,
                     "Newton steps to the mode on the whole matrix");
    return CLI_DONE;
}

/* ---- the work ---- */

static gram_status tune(cli_session *session, fit_state *fit)
{
    laplace_state *state = own_of(fit);
    gram_laplace_tune_options options;
    gram_laplace_tune_options_init(&options, sizeof options);
    options.laplace = state->options;
    state->tuned.size = sizeof state->tuned;
    const gram_status status = gram_laplace_tune(session->context, fit->given, fit->points, fit->labels, &options,
                                                 &fit->kernel, NULL, &state->tuned);
    return status == GRAM_NOT_CONVERGED ? GRAM_OK : status;
}

static void set_training(cli_facts *facts, const fit_state *fit)
{
    const int64_t n = fit->prepared->n, classes = fit->classes.count;
    double *p = calloc((size_t)(n * (classes + 1) + 1), sizeof *p), *labels = p ? p + n * classes : NULL;
    if (!p) facts->status = GRAM_ERROR_MEMORY;
    if (facts->status >= 0)
        facts->status = gram_laplace_predict(facts->context, own_of(fit)->laplace, fit->points, p, classes);
    for (int64_t i = 0; i < n && facts->status >= 0; i++)
        for (int64_t c = 1; c < classes; c++)
            if (p[i * classes + c] > p[i * classes + (int64_t)labels[i]]) labels[i] = (double)c;
    if (facts->status >= 0) cli_fit_class_facts(facts, fit, labels, p);
    free(p);
}

static void set_facts(cli_facts *facts, const fit_state *fit)
{
    const laplace_state *state = own_of(fit);
    const gram_laplace_report *report = gram_laplace_get_report(state->laplace);
    cli_facts_integer(facts, "n", report->n);
    cli_facts_integer(facts, "d", report->d);
    cli_facts_integer(facts, "rows", fit->prepared->table_rows);
    cli_facts_text(facts, "likelihood", gram_likelihood_name(report->likelihood));
    cli_facts_text(facts, "solver", "laplace");
    cli_facts_integer(facts, "iterations", report->iterations);
    cli_facts_number(facts, "optimality", report->optimality);
    cli_facts_number(facts, "jitter", report->jitter);
    cli_facts_number(facts, "norm", report->norm);
    cli_facts_number(facts, "log_marginal_likelihood", report->log_evidence);
    cli_fit_tune_facts(facts, fit, NULL);
    if (fit->tune != FIT_TUNE_NONE) {
        cli_facts_integer(facts, "tuned_rows", state->tuned.rows);
        cli_facts_integer(facts, "evaluations", state->tuned.evaluations);
        cli_facts_integer(facts, "at_bound", state->tuned.at_bound);
    }
    set_training(facts, fit);
    cli_classes_facts(facts, &fit->classes);
    cli_facts_array(facts, "targets", fit->prepared->n, 1, fit->labels);
}

static gram_status make_model(cli_session *session, fit_state *fit)
{
    cli_facts facts = {session->context, NULL, GRAM_OK};
    facts.status = gram_model_create(session->context, "gp", "classification", fit->preparation,
                                     gram_laplace_function(own_of(fit)->laplace), &fit->model);
    facts.model = fit->model;
    if (facts.status >= 0) set_facts(&facts, fit);
    return facts.status;
}

static int work(cli_session *session, fit_state *fit)
{
    laplace_state *state = own_of(fit);
    gram_status status = fit->tune == FIT_TUNE_NONE
                             ? gram_kernel_resolve(session->context, fit->given, fit->points, &fit->kernel)
                             : tune(session, fit);
    if (status >= 0)
        status =
            gram_laplace_fit(session->context, fit->kernel, fit->points, fit->labels, &state->options, &state->laplace);
    if (status == GRAM_NOT_CONVERGED)
        return cli_fail(CLI_NUMERICAL, "Take a smaller amplitude, or ask for less with --tolerance T.",
                        "fit: no convergence of the mode: its conditions are violated by %.2g",
                        gram_laplace_get_report(state->laplace)->optimality);
    if (status >= 0) status = make_model(session, fit);
    return status < 0 ? cli_fit_fail(session, status, fit) : CLI_DONE;
}

const fit_kind cli_fit_laplace = {"gp", "const*rbf", FIT_TUNE_ML, check_use, make_plan, work, NULL, free_state};

/* `gram fit --method gp`: Gaussian-process regression. */
#include "cli/fit/fit_gp.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/report/report_rows.h"
#include "cli/report/weights_report.h"

static gp_state *own_of(const fit_state *fit)
{
    return fit->result;
}

static void free_state(fit_state *fit)
{
    gp_state *state = fit->result;
    if (!state) return;
    gram_gp_destroy(state->gp);
    free(state->y);
    free(state);
}

/* ---- the use ---- */

static int check_use(const fit_options *own)
{
    const fit_tune tune = (fit_tune)own->tune.value;
    if (own->no_intercept && own->mean.value > FIT_MEAN_ZERO)
        return cli_fail(CLI_WRONG_USE, "Leave one out.", "fit: --no-intercept means --mean zero, and another is given");
    if (tune == FIT_TUNE_GCV || tune == FIT_TUNE_CV)
        return cli_fail(CLI_WRONG_USE, "ml is the marginal likelihood, loo the leave-one-out predictive density.",
                        "fit: --tune for gp is ml, loo or none");
    if (own->solver.value == GRAM_SOLVER_NYSTROM)
        return cli_fail(CLI_WRONG_USE, "Use auto, exact, markov, cg or inducing:M.",
                        "fit: --solver nystrom is of --method krr");
    if (own->grid > 0)
        return cli_fail(CLI_WRONG_USE, "Leave it out: gp is tuned by gradients.", "fit: --grid is of --method krr");
    if (own->precision.value == GRAM_PRECISION_F32)
        return cli_fail(
            CLI_WRONG_USE, "mixed is an f32 factor whose results are refined to those of f64.",
            "fit: f32 alone is too coarse for variances and determinants: --precision for gp is f64 or mixed");
    if (own->weights && own->row_noise)
        return cli_fail(CLI_WRONG_USE, "Leave one out.", "fit: --weights and --row-noise both say how noisy rows are");
    return CLI_DONE;
}

/* ---- the plan ---- */

/* With --no-scale nothing is done to the target. Otherwise its mean is taken off, which only a zero mean notices, and its
 * deviation says what is large and small; numbers of the kernel and the noise stay in the target's own units. */
static int prepare_target(fit_state *fit)
{
    const gram_prepared *data = fit->prepared;
    gp_state *state = own_of(fit);
    double sum = 0, squares = 0, most = 0;
    state->y = calloc((size_t)(data->n + 1), sizeof *state->y);
    if (!state->y) return cli_no_memory();
    for (int64_t i = 0; i < data->n; i++) most = fmax(most, fabs(data->y[i]));
    for (int64_t i = 0; i < data->n; i++) sum += data->y[i] / (double)data->n;
    for (int64_t i = 0; i < data->n && most > 0; i++) squares += pow((data->y[i] - sum) / most, 2) / (double)data->n;
    state->deviation = squares > 0 ? most * sqrt(squares) : 1;
    state->offset = fit->own->no_scale ? 0 : sum;
    state->scale = fit->own->no_scale ? 1 : state->deviation;
    for (int64_t i = 0; i < data->n; i++) state->y[i] = data->y[i] - state->offset;
    return CLI_DONE;
}

/* What was tuned on a sample of the rows is where the bound's own search starts. */
static void find_solver(fit_state *fit)
{
    const fit_options *own = fit->own;
    gp_state *state = own_of(fit);
    gram_gp_cg_options_init(&state->cg, sizeof state->cg);
    gram_gp_inducing_options_init(&state->inducing, sizeof state->inducing);
    state->options.solver = (gram_solver)own->solver.value;
    state->options.precision = (gram_precision)own->precision.value;
    state->options.cg = &state->cg;
    state->options.inducing = &state->inducing;
    if (own->tolerance > 0) state->cg.tolerance = own->tolerance;
    state->inducing.count = own->solver.number;
    state->inducing.learn_parameters = state->inducing.learn_positions = fit->tune != FIT_TUNE_NONE;
    state->inducing.learn_noise = fit->tune != FIT_TUNE_NONE && !state->noise_given;
}

static void find_options(fit_state *fit)
{
    const fit_options *own = fit->own;
    gp_state *state = own_of(fit);
    gram_gp_options *options = &state->options;
    gram_gp_options_init(options, sizeof *options);
    state->mean = own->no_intercept     ? FIT_MEAN_ZERO
                  : own->mean.value < 0 ? FIT_MEAN_CONSTANT
                                        : (fit_mean)own->mean.value;
    options->mean = state->mean == FIT_MEAN_ZERO     ? GRAM_MEAN_ZERO
                    : state->mean == FIT_MEAN_LINEAR ? GRAM_MEAN_LINEAR
                                                     : GRAM_MEAN_CONSTANT;
    options->flat = state->mean == FIT_MEAN_FLAT;
    if (own->row_noise) options->row_noise = fit->prepared->weights;
    if (own->weights) options->weights = fit->prepared->weights;
    options->noise = cli_fit_noise(fit);
    state->noise_given = !isnan(options->noise);
    find_solver(fit);
}

/* Rows of weight 0 say nothing. They could be dropped here, but a row that the user wants left out is better left out by
 * the user than by a weight that has another meaning for each method. */
static int check_data(const fit_state *fit)
{
    const gram_prepared *data = fit->prepared;
    if (data->targets != 1)
        return cli_fail(CLI_WRONG_USE, "Choose one with --target, or take --method krr.",
                        "fit: a Gaussian process learns one target, here are %" PRId64, data->targets);
    for (int64_t i = 0; i < data->n && fit->own->weights; i++)
        if (!(data->weights[i] > 0))
            return cli_fail(CLI_BAD_DATA, "Leave the row out, or take --method krr.",
                            "%s: row %" PRId64 ": column '%s': a weight of 0, and gp takes weights above 0", fit->file,
                            (data->rows ? data->rows[i] : i) + 1, fit->own->weights);
    return CLI_DONE;
}

/* What would do instead of what was refused. */
static const char *plan_help(gram_status status, const gp_state *state)
{
    if (status == GRAM_ERROR_BUDGET)
        return state->plan.precision == GRAM_PRECISION_MIXED
                   ? "--solver cg and inducing:M take less memory."
                   : "--precision mixed, --solver cg and inducing:M take less memory.";
    if (status == GRAM_ERROR_UNSUPPORTED)
        return "It is for one column (--features) and matern(nu=1.5), min, cosine or sums and products of them; or use "
               "--solver exact.";
    return state->options.noise <= 0 ? "Give --noise S above 0, or use --solver exact." : "Leave one out.";
}

static int plan_solver(cli_session *session, fit_state *fit)
{
    char words[64];
    gp_state *state = own_of(fit);
    gram_plan *plan = &state->plan;
    const gram_status status =
        gram_gp_plan(session->context, fit->given, fit->n, fit->prepared->d, &state->options, plan);
    if (status < 0) return cli_session_fail(session, status, 0, plan_help(status, state));
    if (fit->own->keep_factor && (plan->solver != GRAM_SOLVER_EXACT || plan->precision != GRAM_PRECISION_F64))
        return cli_fail(CLI_WRONG_USE, "Use --solver exact --precision f64.",
                        "fit: --keep-factor is of the exact solver in f64, this is %s, %s",
                        gram_solver_name(plan->solver), gram_precision_name(plan->precision));
    if (plan->solver == GRAM_SOLVER_INDUCING)
        (void)snprintf(words, sizeof words, "inducing, %" PRId64 " points", plan->landmarks);
    else
        (void)snprintf(words, sizeof words, "%s, %s", gram_solver_name(plan->solver),
                       gram_precision_name(plan->precision));
    cli_fit_say_plan(session, fit, words, plan->bytes, plan->seconds, plan->reason);
    state->options.plan = plan;
    return CLI_DONE;
}

static int make_plan(cli_session *session, fit_state *fit)
{
    gp_state *state = fit->result = calloc(1, sizeof *state);
    if (!state) return cli_no_memory();
    int code = check_data(fit);
    if (code == CLI_DONE) code = prepare_target(fit);
    if (code != CLI_DONE) return code;
    find_options(fit);
    return plan_solver(session, fit);
}

/* ---- the fit ---- */

static gram_status solve(cli_session *session, fit_state *fit)
{
    gp_state *state = own_of(fit);
    const gram_status status =
        gram_gp_fit(session->context, fit->kernel, fit->points, state->y, &state->options, &state->gp);
    if (status < 0) return status;
    const gram_gp_report *report = gram_gp_get_report(state->gp);
    gram_kernel_release(fit->kernel);
    fit->kernel = gram_kernel_retain(gram_function_kernel(gram_gp_function(state->gp)));
    state->options.noise = report->noise;
    return report->solver == GRAM_SOLVER_INDUCING ? GRAM_OK
                                                  : status; /* a search that was cut short has its best result */
}

static int not_converged(cli_session *session, const fit_state *fit)
{
    const gram_gp_report *report = gram_gp_get_report(own_of(fit)->gp);
    char residual[CLI_SHORT_SIZE];
    cli_session_clear(session);
    return cli_fail(CLI_NUMERICAL, "Raise --noise, ask for less with --tolerance T, or take --solver inducing:M.",
                    "fit: no convergence: after %" PRId64 " iterations the relative residual is %s", report->iterations,
                    cli_short_number(report->residual, residual));
}

static int work(cli_session *session, fit_state *fit)
{
    gram_status status = cli_fit_gp_choose(session, fit);
    if (status >= 0) status = solve(session, fit);
    if (status == GRAM_NOT_CONVERGED) return not_converged(session, fit);
    if (status >= 0) status = cli_fit_gp_model(session, fit);
    return status < 0 ? cli_fit_fail(session, status, fit) : CLI_DONE;
}

/* Where nothing was left out, the model's own values: they were computed for this picture only. */
static const char *fitted(cli_session *session, const fit_state *fit, double *f)
{
    const gp_state *state = own_of(fit);
    const double *left_out = gram_gp_loo_mean(state->gp);
    for (int64_t i = 0; i < fit->prepared->n && left_out; i++) f[i] = left_out[i] + state->offset;
    if (left_out) return "leave-one-out prediction";
    if (gram_function_evaluate(session->context, gram_model_function(fit->model), fit->points, f, 1) < 0) return NULL;
    const double *slopes = gram_model_array(fit->model, "slopes", NULL, NULL);
    for (int64_t i = 0; i < fit->prepared->n && slopes; i++)
        for (int64_t l = 0; l < fit->prepared->d; l++) f[i] += slopes[l] * fit->prepared->x[i * fit->prepared->d + l];
    return "fitted value";
}

const fit_kind cli_fit_gp = {"gp", "const*rbf", FIT_TUNE_ML, check_use, make_plan, work, fitted, free_state};

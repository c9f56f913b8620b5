/* `gram fit --method gp`: Gaussian-process regression. */
#include "fit_gp.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "report.h"
#include "weights.h"

static gp_state *own_of(const fit_state *fit)
{
    return fit->result;
}

static void free_state(fit_state *fit)
{
    gp_state *state = fit->result;
    if (!state) return;
    gram_gp_destroy(state->exact);
    gram_markov_destroy(state->markov);
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
    if (own->grid > 0)
        return cli_fail(CLI_WRONG_USE, "Leave it out: gp is tuned by gradients.", "fit: --grid is of --method krr");
    if (own->precision.value == GRAM_PRECISION_MIXED || own->precision.value == GRAM_PRECISION_F32)
        return cli_fail(CLI_WRONG_USE, "Leave --precision out.",
                        "fit: variances and determinants need the f64 factor: --precision for gp is f64");
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

/* One column, a kernel with a finite state, and enough rows that it matters. */
static int markov_is_better(cli_session *session, const fit_state *fit)
{
    enum { ENOUGH_ROWS = 1000 };
    return fit->n > ENOUGH_ROWS && fit->prepared->d == 1 && gram_markov_supports(session->context, fit->given, NULL);
}

static int plan_markov(cli_session *session, fit_state *fit)
{
    const char *why = NULL;
    if (fit->prepared->d != 1)
        return cli_fail(CLI_WRONG_USE, "Choose one with --features, or take --solver exact.",
                        "fit: --solver markov is for one column, here are %" PRId64, fit->prepared->d);
    if (!gram_markov_supports(session->context, fit->given, &why))
        return cli_fail(CLI_WRONG_USE,
                        "Take matern(nu=1.5), min, cosine or sums and products of them; or --solver exact.",
                        "fit: --solver markov: %s", why);
    cli_fit_say_plan(session, fit, "markov, f64", (size_t)fit->n * 800, (double)fit->n * 1e-6,
                     "one column and a kernel with a finite state: exact in O(n)");
    return CLI_DONE;
}

static int plan_exact(cli_session *session, fit_state *fit)
{
    gram_plan plan;
    gram_plan_request request;
    gram_plan_request_init(&request, sizeof request);
    request.n = fit->n;
    request.d = fit->prepared->d;
    request.outputs = 1;
    request.kernel = fit->given;
    request.solver = GRAM_SOLVER_EXACT;
    request.precision = GRAM_PRECISION_F64;
    const gram_status status = gram_plan_fit(session->context, &request, &plan);
    if (status < 0) return cli_session_fail(session, status, 0, NULL);
    cli_fit_say_plan(session, fit, "exact, f64", plan.bytes, plan.seconds, "it fits in the memory");
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
    const int solver = fit->own->solver.value;
    state->solver = solver == FIT_SOLVER_MARKOV || (solver == GRAM_SOLVER_AUTO && markov_is_better(session, fit))
                        ? GP_MARKOV
                        : GP_EXACT;
    if (solver == GRAM_SOLVER_CG || solver == GRAM_SOLVER_NYSTROM)
        return cli_fail(CLI_WRONG_USE, "Take auto, exact or markov.", "fit: --solver %s is of --method krr",
                        gram_solver_name((gram_solver)solver));
    return state->solver == GP_MARKOV ? plan_markov(session, fit) : plan_exact(session, fit);
}

/* ---- the fit ---- */

static gram_status solve(cli_session *session, fit_state *fit)
{
    gp_state *state = own_of(fit);
    if (state->solver == GP_MARKOV)
        return gram_markov_fit(session->context, fit->kernel, fit->points, state->y, &state->options, &state->markov);
    return gram_gp_fit(session->context, fit->kernel, fit->points, state->y, &state->options, &state->exact);
}

static int work(cli_session *session, fit_state *fit)
{
    gram_status status = cli_fit_gp_choose(session, fit);
    if (status >= 0) status = solve(session, fit);
    if (status >= 0) status = cli_fit_gp_model(session, fit);
    return status < 0 ? cli_fit_fail(session, status, fit) : CLI_DONE;
}

static const char *fitted(const fit_state *fit, double *f)
{
    const gp_state *state = own_of(fit);
    const double *left_out = state->exact ? gram_gp_loo_mean(state->exact) : gram_markov_loo_mean(state->markov);
    const double *values = state->exact ? NULL : gram_markov_fitted(state->markov);
    for (int64_t i = 0; i < fit->prepared->n; i++)
        f[i] = left_out ? left_out[i] + state->offset : values ? values[i] + state->offset : NAN;
    return left_out ? "leave-one-out prediction" : "fitted value";
}

const fit_kind cli_fit_gp = {"gp", "const*rbf", FIT_TUNE_ML, check_use, make_plan, work, fitted, free_state};

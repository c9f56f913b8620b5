/* Which way a Gaussian process is solved: what was asked for, or the best that fits. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "cli/fit/fit_gp.h"

/* Above so many rows the next way is taken: a factor of 30,000 rows takes some two minutes on two cores, conjugate gradients
 * of 100,000 the like. */
enum { ENOUGH_FOR_MARKOV = 1000, MOST_FOR_EXACT = 30000, MOST_FOR_CG = 100000 };

const char *cli_fit_gp_solver_name(gp_solver solver)
{
    static const char *const names[] = {"exact", "markov", "cg", "inducing"};
    return names[solver];
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

/* With an f32 factor right-hand sides count: 64 at a time for variances on prediction, each with half of the companions that
 * the plan gives a column. */
static gram_status plan_of_exact(cli_session *session, const fit_state *fit, int mixed, gram_plan *plan)
{
    enum { RIGHT_SIDES = 32 };
    gram_plan_request request;
    gram_plan_request_init(&request, sizeof request);
    request.n = fit->n;
    request.d = fit->prepared->d;
    request.outputs = mixed ? RIGHT_SIDES : 1;
    request.kernel = fit->given;
    request.solver = GRAM_SOLVER_EXACT;
    request.precision = mixed ? GRAM_PRECISION_MIXED : GRAM_PRECISION_F64;
    return gram_plan_fit(session->context, &request, plan);
}

static int plan_exact(cli_session *session, fit_state *fit)
{
    gram_plan plan;
    const gram_status status = plan_of_exact(session, fit, 0, &plan);
    if (status < 0)
        return cli_session_fail(session, status, 0, "--precision mixed, --solver cg and inducing:M take less memory.");
    cli_fit_say_plan(session, fit, "exact, f64", plan.bytes, plan.seconds, "it fits in the memory");
    return CLI_DONE;
}

/* What all but the f64 factor and the filter need: noise in every row. */
static int check_noise(const fit_state *fit, const char *solver)
{
    const gp_state *state = fit->result;
    if (!(state->options.noise <= 0)) return CLI_DONE;
    return cli_fail(CLI_WRONG_USE, "Give --noise S above 0, or take --solver exact.",
                    "fit: --solver %s needs noise in every row", solver);
}

static int plan_mixed(cli_session *session, fit_state *fit)
{
    gram_plan plan;
    const int asked = fit->own->precision.value == GRAM_PRECISION_MIXED;
    const int code = check_noise(fit, "exact with --precision mixed");
    if (code != CLI_DONE) return code;
    const gram_status status = plan_of_exact(session, fit, 1, &plan);
    if (status < 0) return cli_session_fail(session, status, 0, "--solver cg and inducing:M take less memory.");
    cli_fit_say_plan(session, fit, "exact, mixed", plan.bytes, plan.seconds,
                     asked ? "an f32 factor refined to a relative residual of 1e-8"
                           : "the f64 factor does not fit; an f32 factor refined to a relative residual of 1e-8");
    return CLI_DONE;
}

static int plan_cg(cli_session *session, fit_state *fit)
{
    const double n = (double)fit->n, rank = 64 + 8 * sqrt(n);
    const int code = check_noise(fit, "cg");
    if (code != CLI_DONE) return code;
    cli_fit_say_plan(
        session, fit, "cg, f64", (size_t)(8 * n * (rank + 200)), n * n * 1.5e-8 * 4,
        "conjugate gradients to a relative residual of 1e-8; the likelihood is an estimate with its error");
    return CLI_DONE;
}

static int plan_inducing(cli_session *session, fit_state *fit)
{
    char words[64];
    const double n = (double)fit->n;
    const int64_t asked = fit->own->solver.number, most = (int64_t)(16 * sqrt(n));
    const double m = (double)(asked > 0 ? asked : most);
    const int code = check_noise(fit, "inducing:M");
    if (code != CLI_DONE) return code;
    (void)snprintf(words, sizeof words, "inducing, %.0f points", fmin(m, n));
    cli_fit_say_plan(session, fit, words, (size_t)(8 * (4 * m * m + 2000 * m)), n * m * m * 2e-11,
                     "an approximation; how much of the variance it misses is reported");
    return CLI_DONE;
}

/* Exact where it can be; the report says which way was taken. */
static gp_solver choose(cli_session *session, const fit_state *fit)
{
    gram_plan plan;
    gp_state *state = fit->result;
    if (state->mixed) return GP_EXACT;
    if (fit->n > ENOUGH_FOR_MARKOV && fit->prepared->d == 1 && gram_markov_supports(session->context, fit->given, NULL))
        return GP_MARKOV;
    if (fit->n <= MOST_FOR_EXACT && plan_of_exact(session, fit, 0, &plan) >= 0) return GP_EXACT;
    if (state->options.noise <= 0) return GP_EXACT; /* which says what does not fit */
    state->mixed = fit->own->precision.value != GRAM_PRECISION_F64 && fit->n <= MOST_FOR_EXACT &&
                   plan_of_exact(session, fit, 1, &plan) >= 0;
    if (state->mixed) return GP_EXACT;
    return fit->n <= MOST_FOR_CG ? GP_CG : GP_INDUCING;
}

int cli_fit_gp_plan(cli_session *session, fit_state *fit)
{
    gp_state *state = fit->result;
    state->mixed = fit->own->precision.value == GRAM_PRECISION_MIXED;
    switch (fit->own->solver.value) {
    case GRAM_SOLVER_AUTO: state->solver = choose(session, fit); break;
    case GRAM_SOLVER_EXACT: state->solver = GP_EXACT; break;
    case GRAM_SOLVER_CG: state->solver = GP_CG; break;
    case FIT_SOLVER_MARKOV: state->solver = GP_MARKOV; break;
    case FIT_SOLVER_INDUCING: state->solver = GP_INDUCING; break;
    default:
        return cli_fail(CLI_WRONG_USE, "Take auto, exact, markov, cg or inducing:M.",
                        "fit: --solver nystrom is of --method krr");
    }
    if (state->mixed && state->solver != GP_EXACT)
        return cli_fail(CLI_WRONG_USE, "Leave one out.", "fit: --precision mixed is of --solver exact, not %s",
                        cli_fit_gp_solver_name(state->solver));
    switch (state->solver) {
    case GP_MARKOV: return plan_markov(session, fit);
    case GP_CG: return plan_cg(session, fit);
    case GP_INDUCING: return plan_inducing(session, fit);
    default: return state->mixed ? plan_mixed(session, fit) : plan_exact(session, fit);
    }
}

/* Which way a Gaussian process is solved: what was asked for, or the best that fits. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "method/gp/gp_model.h"

/* Above these numbers of rows the next way is taken: a factor of 30,000 rows takes some two minutes on two cores, conjugate gradients
 * of 100,000 the like. */
enum { ENOUGH_FOR_MARKOV = 1000, MOST_FOR_EXACT = 30000, MOST_FOR_CG = 100000 };

const char *gram_gp_solver_word(gp_solver solver)
{
    static const char *const names[] = {"auto", "exact", "markov", "cg", "inducing"};
    return names[solver];
}

static gram_status plan_markov(gram_learning *learning)
{
    const char *why = NULL;
    if (learning->data->d != 1)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Choose one with --features, or use --solver exact.",
                                  "--solver markov is for one column, here are %" PRId64, learning->data->d);
    if (!gram_markov_supports(learning->context, learning->written, &why))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT,
                                  "Use matern(nu=1.5), min, cosine or sums and products of them; or --solver exact.",
                                  "--solver markov: %s", why);
    gram_learning_plan(learning, "markov, f64", (size_t)learning->n * 800, (double)learning->n * 1e-6,
                       "one column and a kernel with a finite state: exact in O(n)");
    return GRAM_OK;
}

/* With an f32 factor right-hand sides count: 64 at a time for variances on prediction, each with half of the companions that
 * the plan gives a column. */
static gram_status plan_of_exact(const gram_learning *learning, int mixed, gram_plan *plan)
{
    enum { RIGHT_SIDES = 32 };
    gram_plan_request request;
    gram_plan_request_init(&request, sizeof request);
    request.n = learning->n;
    request.d = learning->data->d;
    request.outputs = mixed ? RIGHT_SIDES : 1;
    request.kernel = learning->written;
    request.solver = GRAM_SOLVER_EXACT;
    request.precision = mixed ? GRAM_PRECISION_MIXED : GRAM_PRECISION_F64;
    return gram_plan_fit(learning->context, &request, plan);
}

static gram_status advise(gram_learning *learning, gram_status status, const char *advice)
{
    char spoken[GRAM_MESSAGE_SIZE];
    gram_write_dashes(advice, learning->dashes, spoken, sizeof spoken);
    return gram_advise(learning->context, status, spoken);
}

static gram_status plan_exact(gram_learning *learning)
{
    gram_plan plan;
    const gram_status status = plan_of_exact(learning, 0, &plan);
    if (status < 0) return advise(learning, status, "--precision mixed, --solver cg and inducing:M take less memory.");
    gram_learning_plan(learning, "exact, f64", plan.bytes, plan.seconds, "it fits in the memory");
    return GRAM_OK;
}

/* What all but the f64 factor and the filter need: noise in every row. */
static gram_status check_noise(gram_learning *learning, const char *solver)
{
    const gp_state *state = learning->own;
    if (!(state->options.noise <= 0)) return GRAM_OK;
    return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Give --noise S above 0, or use --solver exact.",
                              "--solver %s needs noise in every row", solver);
}

static gram_status plan_mixed(gram_learning *learning)
{
    gram_plan plan;
    const gp_settings *own = learning->settings;
    const int asked = own->precision.value == GRAM_PRECISION_MIXED;
    const gram_status code = check_noise(learning, "exact with --precision mixed");
    if (code < 0) return code;
    const gram_status status = plan_of_exact(learning, 1, &plan);
    if (status < 0) return advise(learning, status, "--solver cg and inducing:M take less memory.");
    gram_learning_plan(learning, "exact, mixed", plan.bytes, plan.seconds,
                       asked ? "an f32 factor refined to a relative residual of 1e-8"
                             : "the f64 factor does not fit; an f32 factor refined to a relative residual of 1e-8");
    return GRAM_OK;
}

static gram_status plan_cg(gram_learning *learning)
{
    const double n = (double)learning->n, rank = 64 + 8 * sqrt(n);
    const gram_status code = check_noise(learning, "cg");
    if (code < 0) return code;
    gram_learning_plan(
        learning, "cg, f64", (size_t)(8 * n * (rank + 200)), n * n * 1.5e-8 * 4,
        "conjugate gradients to a relative residual of 1e-8; the likelihood is an estimate with its error");
    return GRAM_OK;
}

static gram_status plan_inducing(gram_learning *learning)
{
    char words[64];
    const double n = (double)learning->n;
    const gp_settings *own = learning->settings;
    const int64_t asked = own->solver.number, most = (int64_t)(16 * sqrt(n));
    const double m = (double)(asked > 0 ? asked : most);
    const gram_status code = check_noise(learning, "inducing:M");
    if (code < 0) return code;
    (void)snprintf(words, sizeof words, "inducing, %.0f points", fmin(m, n));
    gram_learning_plan(learning, words, (size_t)(8 * (4 * m * m + 2000 * m)), n * m * m * 2e-11,
                       "an approximation; how much of the variance it misses is reported");
    return GRAM_OK;
}

/* Exact where it can be; the report says which way was taken. */
static gp_solver choose(const gram_learning *learning)
{
    gram_plan plan;
    const gp_settings *own = learning->settings;
    gp_state *state = learning->own;
    if (state->mixed) return GP_EXACT;
    if (learning->n > ENOUGH_FOR_MARKOV && learning->data->d == 1 &&
        gram_markov_supports(learning->context, learning->written, NULL))
        return GP_MARKOV;
    if (learning->n <= MOST_FOR_EXACT && plan_of_exact(learning, 0, &plan) >= 0) return GP_EXACT;
    if (state->options.noise <= 0) return GP_EXACT; /* which says what does not fit */
    state->mixed = own->precision.value != GRAM_PRECISION_F64 && learning->n <= MOST_FOR_EXACT &&
                   plan_of_exact(learning, 1, &plan) >= 0;
    if (state->mixed) return GP_EXACT;
    return learning->n <= MOST_FOR_CG ? GP_CG : GP_INDUCING;
}

gram_status gram_gp_plan_solver(gram_learning *learning)
{
    const gp_settings *own = learning->settings;
    gp_state *state = learning->own;
    state->mixed = own->precision.value == GRAM_PRECISION_MIXED;
    state->solver = own->solver.value == GP_AUTO ? choose(learning) : (gp_solver)own->solver.value;
    if (state->mixed && state->solver != GP_EXACT)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave one out.",
                                  "--precision mixed is of --solver exact, not %s", gram_gp_solver_word(state->solver));
    switch (state->solver) {
    case GP_MARKOV: return plan_markov(learning);
    case GP_CG: return plan_cg(learning);
    case GP_INDUCING: return plan_inducing(learning);
    default: return state->mixed ? plan_mixed(learning) : plan_exact(learning);
    }
}

/* Gaussian-process regression as a method of the learner: its options, its numbers, the fit. */
#include "method/gp/gp_model.h"
#include "method/gp/tune/gp_tune_along.h"
#include "tune/forecast/search_forecast.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <gram/functional.h>
#include <gram/text.h>

/* Shares of the variance of the target. */
static const double NOISE_START = 0.1, NOISE_DEFAULT = 1e-2;

static const gram_choice TUNINGS[] = {{"auto", GRAM_TUNING_AUTO, NULL, 0, 0},
                                      {"ml", GRAM_TUNING_ML, NULL, 0, 0},
                                      {"loo", GRAM_TUNING_LOO, NULL, 0, 0},
                                      {"none", GRAM_TUNING_NONE, NULL, 0, 0},
                                      {NULL, 0, NULL, 0, 0}};
static const gram_choice SOLVERS[] = {{"auto", GRAM_SOLVER_AUTO, NULL, 0, 0},
                                      {"exact", GRAM_SOLVER_EXACT, NULL, 0, 0},
                                      {"markov", GRAM_SOLVER_MARKOV, NULL, 0, 0},
                                      {"cg", GRAM_SOLVER_CG, NULL, 0, 0},
                                      {"inducing", GRAM_SOLVER_INDUCING, "M", 1, 1 << 20},
                                      {"vecchia", GRAM_SOLVER_VECCHIA, "M", 1, GRAM_VECCHIA_MOST},
                                      {NULL, 0, NULL, 0, 0}};
static const gram_choice MEANS[] = {{"zero", GP_MEAN_ZERO, NULL, 0, 0},
                                    {"constant", GP_MEAN_CONSTANT, NULL, 0, 0},
                                    {"linear", GP_MEAN_LINEAR, NULL, 0, 0},
                                    {"flat", GP_MEAN_FLAT, NULL, 0, 0},
                                    {NULL, 0, NULL, 0, 0}};
/* f32 alone is too coarse for variances and determinants. */
static const gram_choice PRECISIONS[] = {{"auto", GRAM_PRECISION_AUTO, NULL, 0, 0},
                                         {"f64", GRAM_PRECISION_F64, NULL, 0, 0},
                                         {"mixed", GRAM_PRECISION_MIXED, NULL, 0, 0},
                                         {NULL, 0, NULL, 0, 0}};
/* Of conjugate gradients. */
enum { LOW_RANK, NEIGHBOURS };
static const gram_choice PRECONDITIONERS[] = {
    {"nystrom", LOW_RANK, "R", 1, 1 << 15}, {"vecchia", NEIGHBOURS, "M", 1, 256}, {NULL, 0, NULL, 0, 0}};
/* Other likelihoods are rows of their own; here the word says that this is the one. */
static const gram_choice LIKELIHOODS[] = {{"gaussian", 0, NULL, 0, 0}, {NULL, 0, NULL, 0, 0}};

#define PLACE(field) offsetof(gp_settings, field)

static const gram_option OPTIONS[] = {
    GRAM_LAMBDA_OPTION(gp_settings),
    GRAM_NOISE_OPTION(gp_settings),
    GRAM_ALPHA_OPTION(gp_settings),
    GRAM_TUNE_OPTION(gp_settings, "ml (default), loo or none", TUNINGS),
    GRAM_ARD_OPTION(gp_settings),
    GRAM_INTERCEPT_OPTION(gp_settings),
    {.name = "mean",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(mean),
     .argument = "M",
     .help = "zero, constant (default), linear, or flat (integrated out)",
     .otherwise = "constant",
     .choices = MEANS},
    {.name = "likelihood",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(likelihood),
     .argument = "L",
     .help = "gaussian (default), poisson for counts, student for outliers",
     .otherwise = "gaussian",
     .choices = LIKELIHOODS},
    {.name = "solver",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(solver),
     .argument = "NAME",
     .help = "auto, exact, markov, cg, inducing:M, or vecchia:M (nearest neighbours)",
     .otherwise = "auto",
     .choices = SOLVERS},
    {.name = "precision",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(precision),
     .argument = "P",
     .help = "f64 or mixed (default: by the size)",
     .otherwise = "auto",
     .choices = PRECISIONS},
    {.name = "preconditioner",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(preconditioner),
     .argument = "P",
     .help =
         "of solver cg: nystrom:R, a low rank (default), or vecchia:M, neighbours, for rough kernels of few columns",
     .otherwise = "nystrom",
     .choices = PRECONDITIONERS},
    GRAM_TOLERANCE_OPTION(gp_settings),
    {.name = "keep-factor",
     .kind = GRAM_OPTION_SWITCH,
     .offset = PLACE(keep_factor),
     .help = "the model keeps its factor, n^2/2 numbers, above 1,000 rows too: --std is quicker",
     .help_no = "it keeps none, however small"},
    {.name = "noise-prior",
     .kind = GRAM_OPTION_SWITCH,
     .offset = PLACE(noise_prior),
     .help_no = "tune by the likelihood alone: no weak prior holds the noise off 0",
     .otherwise = "yes"},
    {.name = "row-noise",
     .kind = GRAM_OPTION_TEXT,
     .offset = PLACE(row_noise),
     .argument = "COL",
     .help = "a column with known variances of the rows' noise"},
};

static gram_status check(gram_learning *learning)
{
    const gp_settings *own = learning->settings;
    if (!own->intercept && gram_given_text(learning, "mean") && own->mean.value != GP_MEAN_ZERO)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave one out.",
                                  "--no-intercept means --mean zero, and another is given");
    if (own->row_noise && gram_given_text(learning, "weights"))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave one out.",
                                  "--weights and --row-noise both say how noisy rows are");
    return GRAM_OK;
}

/* ---- the plan ---- */

static int is_value(const gram_learning *learning, int64_t i)
{
    return !learning->functionals || gram_points_are_value(learning->functionals, i);
}

/* Without scaling nothing is done to the target. Otherwise its mean is taken off, which only a zero mean notices, and its
 * deviation says what is large and small; numbers of the kernel and the noise stay in the target's own units. Of rows that are
 * functionals the values alone say it. */
static gram_status prepare_target(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = learning->data;
    const int scaled = gram_preparation_describe(learning->preparation)->scaled;
    gp_state *state = learning->own;
    double sum = 0, squares = 0, most = 0, values = 0;
    TRY(gram_learning_take(learning, data->n + 1, sizeof *state->y, &state->y));
    for (int64_t i = 0; i < data->n; i++) values += is_value(learning, i);
    for (int64_t i = 0; i < data->n; i++)
        if (is_value(learning, i)) most = fmax(most, fabs(data->y[i]));
    for (int64_t i = 0; i < data->n; i++)
        if (is_value(learning, i)) sum += data->y[i] / values;
    for (int64_t i = 0; i < data->n && most > 0; i++)
        if (is_value(learning, i)) squares += pow((data->y[i] - sum) / most, 2) / values;
    state->deviation = squares > 0 ? most * sqrt(squares) : 1;
    state->offset =
        scaled && !learning->functionals ? sum : 0; /* a number taken off values is not one off derivatives */
    state->scale = scaled ? state->deviation : 1;
    for (int64_t i = 0; i < data->n; i++) state->y[i] = data->y[i] - state->offset;
done:
    return status;
}

/* What was tuned on a sample of the rows is where the search of inducing points starts. */
static void find_solver(gram_learning *learning)
{
    enum { USUAL_NEIGHBOURS = 60 };
    const gp_settings *own = learning->settings;
    const int tunes = learning->tuning != GRAM_TUNING_NONE;
    gp_state *state = learning->own;
    gram_gp_cg_options_init(&state->cg, sizeof state->cg);
    gram_gp_inducing_options_init(&state->inducing, sizeof state->inducing);
    gram_gp_vecchia_options_init(&state->vecchia, sizeof state->vecchia);
    state->options.solver = (gram_solver)own->solver.value;
    state->options.precision = (gram_precision)own->precision.value;
    const int plain = !learning->functionals && !(learning->data && learning->data->objects);
    if (!plain && state->options.solver == GRAM_SOLVER_AUTO) {
        state->options.solver = GRAM_SOLVER_EXACT;
        state->may_iterate = 1;
    }
    if (!plain && state->options.precision == GRAM_PRECISION_AUTO) state->options.precision = GRAM_PRECISION_F64;
    state->options.cg = &state->cg;
    state->options.inducing = &state->inducing;
    state->options.vecchia = &state->vecchia;
    if (!isnan(own->tolerance)) state->cg.tolerance = own->tolerance;
    if (own->preconditioner.value == LOW_RANK) {
        state->cg.rank = own->preconditioner.number < learning->n ? own->preconditioner.number : learning->n;
    } else {
        state->cg.neighbours = own->preconditioner.number > 0 ? own->preconditioner.number : USUAL_NEIGHBOURS;
    }
    state->inducing.count = own->solver.number;
    if (own->solver.value == GRAM_SOLVER_VECCHIA) state->vecchia.neighbours = own->solver.number;
    state->inducing.learn_parameters = state->inducing.learn_positions = tunes;
    state->inducing.learn_noise = tunes && !state->noise_given;
}

static void find_options(gram_learning *learning)
{
    const gp_settings *own = learning->settings;
    gp_state *state = learning->own;
    gram_gp_options *options = &state->options;
    gram_gp_options_init(options, sizeof *options);
    state->mean = own->intercept ? (gp_mean)own->mean.value : GP_MEAN_ZERO;
    options->mean = state->mean == GP_MEAN_ZERO     ? GRAM_MEAN_ZERO
                    : state->mean == GP_MEAN_LINEAR ? GRAM_MEAN_LINEAR
                                                    : GRAM_MEAN_CONSTANT;
    options->flat = state->mean == GP_MEAN_FLAT;
    if (learning->has_row_noise)
        options->row_noise = learning->data->weights;
    else
        options->weights = learning->data->weights;
    options->noise = gram_learning_noise(learning, &own->ridge);
    state->noise_given = !isnan(options->noise);
    find_solver(learning);
}

/* Rows of weight 0 say nothing. They could be dropped here, but a row that the user wants left out is better left out by
 * the user than by a weight that has another meaning for each method. */
static gram_status check_weights(gram_learning *learning)
{
    const gram_prepared *data = learning->data;
    for (int64_t i = 0; i < data->n && data->weights && !learning->has_row_noise; i++)
        if (!(data->weights[i] > 0))
            return gram_learning_fail_data(learning, "Leave the row out, or use another --method.",
                                           "row %" PRId64 ": column '%s': a weight of 0, and gp takes weights above 0",
                                           gram_learning_row(learning, i),
                                           gram_preparation_describe(learning->preparation)->weights->name);
    return GRAM_OK;
}

/* What would do instead of what was refused. */
static const char *plan_advice(gram_status status, const gp_state *state)
{
    if (status == GRAM_ERROR_BUDGET)
        return state->plan.precision == GRAM_PRECISION_MIXED
                   ? "--solver cg and inducing:M take less memory."
                   : "--precision mixed, --solver cg and inducing:M take less memory.";
    if (status == GRAM_ERROR_UNSUPPORTED)
        return "Use one column (--features) and matern(nu=1.5), min, cosine or sums and products of them; or --solver "
               "exact.";
    return state->options.noise <= 0 ? "Give --noise S above 0, or use --solver exact." : "Leave one out.";
}

/* The plan; of functionals it is conjugate gradients where the factor of the exact solver does not fit, which have the noise that they
 * need without being told (NaN: any). */
static gram_status ask_plan(gram_learning *learning)
{
    enum { MOST_FOR_EXACT = 30000 };
    gp_state *state = learning->own;
    gram_gp_options asked = state->options;
    gram_plan *plan = &state->plan;
    gram_status status = GRAM_ERROR_BUDGET;
    if (!state->may_iterate || learning->n <= MOST_FOR_EXACT) {
        if ((learning->functionals || learning->data->objects) && asked.solver == GRAM_SOLVER_CG) asked.noise = NAN;
        status = gram_gp_plan(learning->context, learning->written, learning->n, learning->data->d, &asked, plan);
    }
    if (status != GRAM_ERROR_BUDGET || !state->may_iterate) return status;
    asked.solver = state->options.solver = GRAM_SOLVER_CG;
    asked.noise = NAN;
    status = gram_gp_plan(learning->context, learning->written, learning->n, learning->data->d, &asked, plan);
    plan->seconds =
        1.2e-5 * (double)learning->n * (double)learning->n; /* some 12 products, a microsecond for each pair */
    return status;
}

static gram_status plan_solver(gram_learning *learning)
{
    char words[64], advice[GRAM_MESSAGE_SIZE];
    const gp_settings *own = learning->settings;
    gp_state *state = learning->own;
    gram_plan *plan = &state->plan;
    const gram_status status = ask_plan(learning);
    if (status < 0) {
        gram_write_dashes(plan_advice(status, state), learning->dashes, advice, sizeof advice);
        return gram_advise(learning->context, status, advice);
    }
    if (own->keep_factor > 0 && !gram_gp_has_factor(plan->solver, plan->precision))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Use --solver exact --precision f64.",
                                  "--keep-factor is of the exact solver in f64, this is %s, %s",
                                  gram_solver_name(plan->solver), gram_precision_name(plan->precision));
    if (plan->solver == GRAM_SOLVER_INDUCING)
        (void)snprintf(words, sizeof words, "inducing, %" PRId64 " points", plan->landmarks);
    else if (plan->solver == GRAM_SOLVER_VECCHIA)
        (void)snprintf(words, sizeof words, "vecchia, %" PRId64 " neighbours", plan->landmarks);
    else
        (void)snprintf(words, sizeof words, "%s, %s", gram_solver_name(plan->solver),
                       gram_precision_name(plan->precision));
    gram_learning_plan(learning, words, plan->bytes, plan->seconds, plan->reason);
    state->options.plan = plan;
    return GRAM_OK;
}

/* Few rows have more starts (docs/tuning.md). */
static void tuning_cost(const gram_learning *learning, double n, double *bytes, double *seconds)
{
    enum { MOST_TUNED = 3000 };
    const gp_state *state = learning->own;
    const gram_search_cost cost = {.small = n <= 200 ? 1100 : 320, .medium = 50, .last = 25, .cubes = 1};
    const double d = (double)learning->data->d, rows = fmin(n, MOST_TUNED);
    *seconds = *bytes = 0;
    if (state && (state->plan.solver == GRAM_SOLVER_MARKOV || state->plan.solver == GRAM_SOLVER_VECCHIA ||
                  state->plan.solver == GRAM_SOLVER_INDUCING))
        return; /* not known */
    *seconds = gram_search_seconds(learning->context, &cost, n, MOST_TUNED, d);
    *bytes = 8 * 2 * rows * rows;
}

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    gp_state *state = NULL;
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    TRY(gram_learning_one_target(learning, "a Gaussian process", "Choose one with --target, or use another --method."));
    TRY(check_weights(learning));
    TRY(prepare_target(learning));
    find_options(learning);
    TRY(plan_solver(learning));
done:
    return status;
}

/* ---- the numbers that were not given: by the marginal likelihood, or defaults ---- */

gram_status gram_gp_add_amplitude(gram_learning *learning, const gram_kernel *kernel, double variance, int held,
                                  gram_kernel **out)
{
    gram_status status = GRAM_OK;
    char number[GRAM_NUMBER_SIZE], *text = NULL;
    const size_t length = gram_kernel_print(kernel, NULL, 0), size = length + 64;
    TRY(gram_learning_take(learning, (int64_t)size, 1, &text));
    const int before = snprintf(text, size, "const(c=%s%s)*(", gram_number_format(variance, number), held ? "!" : "");
    (void)gram_kernel_print(kernel, text + before, size - (size_t)before);
    (void)snprintf(text + (size_t)before + length, 2, ")");
    TRY(gram_kernel_parse(learning->context, text, out));
done:
    return status;
}

static gram_status tune(gram_learning *learning, gram_kernel *start)
{
    enum { MATRICES = 2 };
    gram_status status = GRAM_OK;
    const gp_settings *own = learning->settings;
    gp_state *state = learning->own;
    gram_gp_tune_options options;
    gram_gp_tune_options_init(&options, sizeof options);
    options.objective = learning->tuning == GRAM_TUNING_LOO ? GRAM_GP_OBJECTIVE_LOO : GRAM_GP_OBJECTIVE_ML;
    options.noise_fixed = state->noise_given;
    options.noise_prior = own->noise_prior;
    options.ard = gram_learning_ard(learning);
    options.rows = gram_learning_tuning_rows(learning, MATRICES);
    state->tuned.size = sizeof state->tuned;
    gram_search_trail own_ends = {.arena = &learning->arena};
    gram_search_trails trails = learning->trails;
    const int chooses = gram_learning_chooses_kernel(learning) && !own->row_noise && !state->options.weights;
    if (chooses && !trails.to) trails.to = &own_ends;
    TRY(gram_gp_tune_along(learning->context, state->plan.solver == GRAM_SOLVER_MARKOV, start, learning->points,
                           state->y, &state->options, &options, trails, &learning->kernel, &state->options.noise,
                           &state->tuned));
    if (chooses && state->plan.solver != GRAM_SOLVER_MARKOV) TRY(gram_gp_meet_rivals(learning, &options, trails.to));
done:
    return status;
}

static gram_status choose(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    gp_state *state = learning->own;
    const int scaled = gram_preparation_describe(learning->preparation)->scaled;
    const int tunes = learning->tuning != GRAM_TUNING_NONE;
    const double variance = state->deviation * state->deviation;
    gram_kernel *start = NULL, *amplified = NULL;
    int64_t amplitudes;
    if (!state->noise_given) state->options.noise = variance * (tunes ? NOISE_START : NOISE_DEFAULT);
    state->noise_is_default = !tunes && !state->noise_given;
    TRY(gram_learning_set_amplitudes(learning->context, learning->written, variance, &amplitudes, &start));
    /* a kernel without any amplitude means that of a standardised target: the variance goes in front, and stays */
    if (amplitudes == 0 && tunes && scaled) TRY(gram_gp_add_amplitude(learning, start, variance, 1, &amplified));
    TRY(tunes ? tune(learning, amplified ? amplified : start)
              : gram_kernel_resolve(learning->context, start, learning->points, &learning->kernel));
done:
    gram_kernel_release(amplified);
    gram_kernel_release(start);
    return status;
}

/* ---- the fit ---- */

static gram_status solve(gram_learning *learning)
{
    gp_state *state = learning->own;
    const gram_status status =
        gram_gp_fit(learning->context, learning->kernel, learning->points, state->y, &state->options, &state->gp);
    if (status < 0) return status;
    const gram_gp_report *report = gram_gp_get_report(state->gp);
    gram_kernel_release(learning->kernel);
    learning->kernel = gram_kernel_retain(gram_function_kernel(gram_gp_function(state->gp)));
    state->options.noise = report->noise;
    return report->solver == GRAM_SOLVER_INDUCING ? GRAM_OK
                                                  : status; /* a search that was cut short has its best result */
}

/* The exact solver's answer is none: K of these rows has too few digits for these targets. */
static gram_status fail_rounding(gram_learning *learning, const gram_gp_report *report)
{
    return gram_learning_fail(learning, GRAM_ERROR_NUMERICAL,
                              "Raise --noise, or use a kernel that is less smooth or has shorter length-scales.",
                              "with so little noise these targets are lost to rounding: the relative residual is %.2g",
                              report->residual);
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = choose(learning);
    if (status >= 0) status = solve(learning);
    if (status != GRAM_NOT_CONVERGED) return status;
    const gram_gp_report *report = gram_gp_get_report(((gp_state *)learning->own)->gp);
    if (gram_gp_has_factor(report->solver, report->precision)) return fail_rounding(learning, report);
    return gram_learning_fail(learning, GRAM_ERROR_NUMERICAL,
                              "Raise --noise, ask for less with --tolerance T, or use --solver inducing:M.",
                              "no convergence: after %" PRId64 " iterations the relative residual is %.6g",
                              report->iterations, report->residual);
}

static void forget(gram_learning *learning)
{
    gp_state *state = learning->own;
    if (state) gram_gp_destroy(state->gp);
}

/* Where nothing was left out, the model's own values: they are computed for this call only. */
static gram_status fitted(gram_learning *learning, double *f, const char **what)
{
    const gp_state *state = learning->own;
    const int64_t n = learning->data->n;
    gram_status status = GRAM_OK;
    const double *left_out = gram_gp_loo_mean(state->gp);
    *what = left_out ? "leave-one-out prediction" : "fitted value";
    if (left_out)
        for (int64_t i = 0; i < n; i++) f[i] = left_out[i];
    else
        status = gram_gp_predict(learning->context, state->gp, learning->points, NULL, 0, f, NULL);
    for (int64_t i = 0; i < n && status >= 0; i++) f[i] += state->offset;
    return status;
}

/* ---- the report ---- */

static void report_noise(gram_report *report)
{
    const char *mean = gram_report_text(report, "mean");
    if (isnan(gram_report_number(report, "noise"))) return;
    gram_report_row(report, "noise");
    gram_report_part(report, "variance", "noise", GRAM_FINE);
    gram_report_add(report, ", deviation ");
    gram_report_value(report, GRAM_FINE, sqrt(gram_report_number(report, "noise")));
    if (gram_report_number(report, "target_scale") != 1)
        gram_report_part(report, "that of the target", "target_scale", GRAM_FINE);
    if (gram_report_number(report, "noise_prior") > 0) gram_report_add(report, "; held off 0 by a weak prior");
    if (mean) gram_report_add(report, "; mean: %s", mean);
    if (isnan(gram_report_number(report, "constant_std"))) return;
    gram_report_row(report, "  constant");
    gram_report_part(report, "", "constant", GRAM_FINE);
    gram_report_part(report, "deviation", "constant_std", GRAM_FINE);
}

static void report_likelihood(gram_report *report)
{
    gram_report_row(report, "log likelihood");
    if (isnan(gram_report_number(report, "log_marginal_likelihood")) && isnan(gram_report_number(report, "bound")))
        gram_report_add(report, "none: with so little noise, rows that others determine have no density");
    gram_report_part(report, "", "log_marginal_likelihood", GRAM_FINE + 3);
    gram_report_part(report, "standard error", "likelihood_error", GRAM_ROUGH);
    gram_report_part(report, "at least", "bound", GRAM_FINE + 3);
    if (gram_report_number(report, "noise_prior") > 0) gram_report_add(report, ", the prior of the noise not in it");
}

static void report_gp(gram_report *report)
{
    const char *diagnosis = gram_report_text(report, "diagnosis");
    report_noise(report);
    gram_report_tuning(report);
    gram_report_solver(report);
    gram_report_errors(report, 1);
    gram_report_function(report);
    report_likelihood(report);
    if (!isnan(gram_report_number(report, "loo_log_density"))) {
        gram_report_row(report, "  left out");
        gram_report_part(report, "mean log density", "loo_log_density", GRAM_FINE);
        gram_report_part(report, "95 % intervals cover", "loo_coverage", GRAM_FINE);
    }
    if (diagnosis) gram_report_long(report, "note", diagnosis);
}

static void elsewhere(const gram_model *model, char *text, size_t size)
{
    char number[GRAM_NUMBER_SIZE];
    const double noise = gram_kept_number(model, "noise", NAN);
    if (!isnan(noise))
        (void)snprintf(text, size, "GaussianProcessRegressor(alpha=%s), which has a zero mean",
                       gram_number_format(noise, number));
}

static const gram_kept_words WORDS[] = {{"solver", "exact cg markov inducing vecchia"},
                                        {"precision", "f64 mixed"},
                                        {"mean", "zero constant linear flat"},
                                        {NULL, NULL}};

static const gram_comparable COMPARED[] = {
    {1u << GRAM_TASK_REGRESSION, 6, "const*rbf", 1, NULL},
    {1u << GRAM_TASK_REGRESSION, 7, "const*matern(nu=2.5)", 1, NULL},
    {0, 0, NULL, 0, NULL},
};

const gram_method gram_method_gp = {
    .name = "gp",
    .title = "Gaussian process",
    .formula = "f ~ GP(m, k),  y = f(x) + e,  e ~ N(0, noise);  A = K + noise I;\n"
               "mean m(x) + k_x' A^-1 (y - m),  covariance k(x, z) - k_x' A^-1 k_z;\n"
               "log marginal likelihood -((y - m)' A^-1 (y - m) + log det A + n log 2 pi)/2",
    .variant = "the likelihood gaussian",
    .words = WORDS,
    .functionals = 1,
    .tasks = 1u << GRAM_TASK_REGRESSION,
    .compared = COMPARED,
    .intervals = 1,
    .process = 1,
    .kernel = "const*rbf",
    .tuning = GRAM_TUNING_ML,
    .python = {[GRAM_TASK_REGRESSION] = "GaussianProcessRegressor"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(gp_settings),
    .check = check,
    .plan = plan,
    .tuning_cost = tuning_cost,
    .fit = fit,
    .keep = gram_gp_row_keep,
    .fitted = fitted,
    .forget = forget,
    .open = gram_gp_row_open,
    .evaluate = gram_gp_row_evaluate,
    .close = gram_gp_row_close,
    .report = report_gp,
    .elsewhere = elsewhere,
};

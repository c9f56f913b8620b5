/* Gaussian-process regression as a method of the learner: its options, its numbers, the fit. */
#include "method/gp/gp_model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include <gram/text.h>

/* Shares of the variance of the target. */
static const double NOISE_START = 0.1, NOISE_DEFAULT = 1e-2;

static const gram_choice TUNINGS[] = {{"auto", GRAM_TUNING_AUTO, NULL, 0, 0},
                                      {"ml", GRAM_TUNING_ML, NULL, 0, 0},
                                      {"loo", GRAM_TUNING_LOO, NULL, 0, 0},
                                      {"none", GRAM_TUNING_NONE, NULL, 0, 0},
                                      {NULL, 0, NULL, 0, 0}};
static const gram_choice SOLVERS[] = {{"auto", GP_AUTO, NULL, 0, 0},
                                      {"exact", GP_EXACT, NULL, 0, 0},
                                      {"markov", GP_MARKOV, NULL, 0, 0},
                                      {"cg", GP_CG, NULL, 0, 0},
                                      {"inducing", GP_INDUCING, "M", 1, 1 << 20},
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
     .help = "auto, exact, markov, cg or inducing:M",
     .otherwise = "auto",
     .choices = SOLVERS},
    {.name = "precision",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(precision),
     .argument = "P",
     .help = "f64 or mixed (default: by the size)",
     .otherwise = "auto",
     .choices = PRECISIONS},
    GRAM_TOLERANCE_OPTION(gp_settings),
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

/* Without scaling nothing is done to the target. Otherwise its mean is taken off, which only a zero mean notices, and its
 * deviation says what is large and small; numbers of the kernel and the noise stay in the target's own units. */
static gram_status prepare_target(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = learning->data;
    const int scaled = gram_preparation_describe(learning->preparation)->scaled;
    gp_state *state = learning->own;
    double sum = 0, squares = 0, most = 0;
    TRY(gram_learning_take(learning, data->n + 1, sizeof *state->y, &state->y));
    for (int64_t i = 0; i < data->n; i++) most = fmax(most, fabs(data->y[i]));
    for (int64_t i = 0; i < data->n; i++) sum += data->y[i] / (double)data->n;
    for (int64_t i = 0; i < data->n && most > 0; i++) squares += pow((data->y[i] - sum) / most, 2) / (double)data->n;
    state->deviation = squares > 0 ? most * sqrt(squares) : 1;
    state->offset = scaled ? sum : 0;
    state->scale = scaled ? state->deviation : 1;
    for (int64_t i = 0; i < data->n; i++) state->y[i] = data->y[i] - state->offset;
done:
    return status;
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
    TRY(gram_gp_plan_solver(learning));
done:
    return status;
}

/* ---- the numbers that nobody gave: by the marginal likelihood, or defaults ---- */

/* A kernel without any amplitude means that of a standardised target: the variance goes in front, and stays. */
static gram_status add_amplitude(gram_learning *learning, const gram_kernel *kernel, double variance, gram_kernel **out)
{
    gram_status status = GRAM_OK;
    char number[GRAM_NUMBER_SIZE], *text = NULL;
    const size_t length = gram_kernel_print(kernel, NULL, 0), size = length + 64;
    TRY(gram_learning_take(learning, (int64_t)size, 1, &text));
    const int before = snprintf(text, size, "const(c=%s!)*(", gram_number_format(variance, number));
    (void)gram_kernel_print(kernel, text + before, size - (size_t)before);
    (void)snprintf(text + (size_t)before + length, 2, ")");
    TRY(gram_kernel_parse(learning->context, text, out));
done:
    return status;
}

static gram_status tune(gram_learning *learning, gram_kernel *start)
{
    enum { MATRICES = 2 };
    gp_state *state = learning->own;
    gram_gp_tune_options options;
    gram_gp_tune_options_init(&options, sizeof options);
    options.objective = learning->tuning == GRAM_TUNING_LOO ? GRAM_GP_OBJECTIVE_LOO : GRAM_GP_OBJECTIVE_ML;
    options.noise_fixed = state->noise_given;
    options.ard = gram_learning_ard(learning);
    options.rows = gram_learning_tuning_rows(learning, MATRICES);
    state->tuned.size = sizeof state->tuned;
    return (state->solver == GP_MARKOV ? gram_markov_tune : gram_gp_tune)(
        learning->context, start, learning->points, state->y, &state->options, &options, &learning->kernel,
        &state->options.noise, &state->tuned);
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
    if (amplitudes == 0 && tunes && scaled) TRY(add_amplitude(learning, start, variance, &amplified));
    TRY(tunes ? tune(learning, amplified ? amplified : start)
              : gram_kernel_resolve(learning->context, start, learning->points, &learning->kernel));
done:
    gram_kernel_release(amplified);
    gram_kernel_release(start);
    return status;
}

/* ---- the fit ---- */

static gram_status solve_cg(gram_learning *learning)
{
    const gp_settings *own = learning->settings;
    gp_state *state = learning->own;
    gram_gp_cg_options options;
    gram_gp_cg_options_init(&options, sizeof options);
    options.gp = &state->options;
    if (state->mixed) options.preconditioner = GRAM_GP_CG_FACTOR_F32;
    if (!isnan(own->tolerance)) options.tolerance = own->tolerance;
    return gram_gp_cg_fit(learning->context, learning->kernel, learning->points, state->y, &options, &state->cg);
}

/* What was tuned on a sample of the rows is where the bound's own search starts, within about two minutes of work. */
static gram_status solve_inducing(gram_learning *learning)
{
    enum { MOST_EVALUATIONS = 100, LEAST_EVALUATIONS = 5 };
    const double OPERATIONS = 5e12;
    const gp_settings *own = learning->settings;
    gp_state *state = learning->own;
    gram_gp_inducing_options options;
    gram_gp_inducing_options_init(&options, sizeof options);
    options.gp = &state->options;
    options.count = own->solver.number;
    if (learning->tuning != GRAM_TUNING_NONE) {
        const double m = options.count > 0 ? (double)options.count : 16 * sqrt((double)learning->n);
        const double affordable = OPERATIONS / (6 * (double)learning->n * m * m);
        options.learn_parameters = options.learn_positions = 1;
        options.learn_noise = !state->noise_given;
        options.evaluations = (int64_t)fmin(MOST_EVALUATIONS, fmax(LEAST_EVALUATIONS, affordable));
    }
    const gram_status status = gram_gp_inducing_fit(learning->context, learning->kernel, learning->points, state->y,
                                                    &options, &state->inducing);
    if (status < 0) return status;
    gram_kernel_release(learning->kernel);
    learning->kernel = gram_kernel_retain(gram_gp_inducing_kernel(state->inducing));
    state->options.noise = gram_gp_inducing_get_report(state->inducing)->noise;
    return GRAM_OK; /* a search that was cut short has its best result */
}

/* A factor in f32 that nobody asked for and the matrix does not allow gives way to conjugate gradients without one. */
static gram_status solve_mixed(gram_learning *learning)
{
    const gp_settings *own = learning->settings;
    gp_state *state = learning->own;
    const gram_status status = solve_cg(learning);
    if (status != GRAM_ERROR_NUMERICAL || own->precision.value == GRAM_PRECISION_MIXED) return status;
    state->mixed = 0;
    state->solver = GP_CG;
    return solve_cg(learning);
}

static gram_status solve(gram_learning *learning)
{
    gp_state *state = learning->own;
    switch (state->solver) {
    case GP_MARKOV:
        return gram_markov_fit(learning->context, learning->kernel, learning->points, state->y, &state->options,
                               &state->markov);
    case GP_CG: return solve_cg(learning);
    case GP_INDUCING: return solve_inducing(learning);
    default:
        if (state->mixed) return solve_mixed(learning);
        return gram_gp_fit(learning->context, learning->kernel, learning->points, state->y, &state->options,
                           &state->exact);
    }
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = choose(learning);
    if (status >= 0) status = solve(learning);
    if (status != GRAM_NOT_CONVERGED) return status;
    const gram_gp_cg_report *report = gram_gp_cg_get_report(((gp_state *)learning->own)->cg);
    return gram_learning_fail(learning, GRAM_ERROR_NUMERICAL,
                              "Raise --noise, ask for less with --tolerance T, or use --solver inducing:M.",
                              "no convergence: after %" PRId64 " iterations the relative residual is %.6g",
                              report->value.iterations, report->value.residual);
}

static void forget(gram_learning *learning)
{
    gp_state *state = learning->own;
    if (!state) return;
    gram_gp_destroy(state->exact);
    gram_markov_destroy(state->markov);
    gram_gp_cg_destroy(state->cg);
    gram_gp_inducing_destroy(state->inducing);
}

/* Where nothing was left out, the model's own values: they are computed for this call only. */
static gram_status fitted(gram_learning *learning, double *f, const char **what)
{
    const gp_state *state = learning->own;
    const int64_t n = learning->data->n;
    gram_status status = GRAM_OK;
    const double *left_out = state->exact    ? gram_gp_loo_mean(state->exact)
                             : state->markov ? gram_markov_loo_mean(state->markov)
                                             : NULL;
    *what = left_out ? "leave-one-out prediction" : "fitted value";
    if (left_out)
        for (int64_t i = 0; i < n; i++) f[i] = left_out[i];
    else if (state->inducing)
        status = gram_gp_inducing_predict(learning->context, state->inducing, learning->points, NULL, 0, f, NULL);
    else
        status = gram_gp_cg_predict(learning->context, state->cg, learning->points, NULL, 0, f, NULL);
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
    if (mean) gram_report_add(report, "; mean: %s", mean);
}

static void report_gp(gram_report *report)
{
    const char *diagnosis = gram_report_text(report, "diagnosis");
    report_noise(report);
    gram_report_tuning(report);
    gram_report_solver(report);
    gram_report_errors(report, 1);
    gram_report_function(report);
    gram_report_row(report, "log likelihood");
    gram_report_part(report, "", "log_marginal_likelihood", GRAM_FINE + 3);
    gram_report_part(report, "standard error", "likelihood_error", GRAM_ROUGH);
    gram_report_part(report, "at least", "bound", GRAM_FINE + 3);
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

const gram_method gram_method_gp = {
    .name = "gp",
    .title = "Gaussian process",
    .variant = "the likelihood gaussian",
    .tasks = 1u << GRAM_TASK_REGRESSION,
    .intervals = 1,
    .kernel = "const*rbf",
    .tuning = GRAM_TUNING_ML,
    .python = {[GRAM_TASK_REGRESSION] = "GaussianProcessRegressor"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(gp_settings),
    .check = check,
    .plan = plan,
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

/* Kernel ridge regression as a method of the learner. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "method/further_rows.h"
#include "method/krr/krr.h"
#include "method/krr/krr_model.h"
#include "tune/forecast/search_forecast.h"
#include "tune/ridge_criterion.h"
#include <gram/krr.h>
#include <gram/krr_tune.h>
#include <gram/text.h>

enum { MOST_TUNED = 3000 }; /* rows, as in gram_krr_tune_options */

static const gram_choice TUNINGS[] = {
    {"auto", GRAM_TUNING_AUTO, NULL, 0, 0},
    {"loo", GRAM_TUNING_LOO, NULL, 0, 0},
    {"gcv", GRAM_TUNING_GCV, NULL, 0, 0},
    {"cv", GRAM_TUNING_CV, "K", 2, 1000},
    {"ml", GRAM_TUNING_ML, NULL, 0, 0},
    {"none", GRAM_TUNING_NONE, NULL, 0, 0},
    {NULL, 0, NULL, 0, 0},
};

static const gram_choice SOLVERS[] = {
    {"auto", GRAM_SOLVER_AUTO, NULL, 0, 0},     {"exact", GRAM_SOLVER_EXACT, NULL, 0, 0},
    {"cg", GRAM_SOLVER_CG, NULL, 0, 0},         {"nystrom", GRAM_SOLVER_NYSTROM, "M", 1, 1 << 30},
    {"sketch", GRAM_SOLVER_SKETCH, NULL, 0, 0}, {NULL, 0, NULL, 0, 0},
};

/* Other losses are a method of their own; here the word says that this is the one. */
static const gram_choice LOSSES[] = {{"squared", 0, NULL, 0, 0}, {NULL, 0, NULL, 0, 0}};

#define PLACE(field) offsetof(krr_settings, field)

static const gram_option OPTIONS[] = {
    GRAM_LAMBDA_OPTION(krr_settings),
    GRAM_NORM_OPTION(krr_settings),
    GRAM_NOISE_OPTION(krr_settings),
    GRAM_ALPHA_OPTION(krr_settings),
    GRAM_TUNE_OPTION(krr_settings, "loo (default), gcv, cv:K, ml or none", TUNINGS),
    {.name = "grid",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(grid),
     .argument = "N",
     .help = "tune by a grid of N values each, not by gradients",
     .least = 2,
     .most = 1000},
    GRAM_ARD_OPTION(krr_settings),
    GRAM_UNPENALISED_OPTIONS(krr_settings),
    {.name = "loo",
     .kind = GRAM_OPTION_SWITCH,
     .offset = PLACE(loo),
     .help = "leave-one-out errors also above 5,000 rows",
     .otherwise = "no"},
    {.name = "solver",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(solver),
     .argument = "NAME",
     .help = "auto, exact, cg, sketch, or nystrom:M (M landmarks)",
     .otherwise = "auto",
     .choices = SOLVERS},
    {.name = "precision",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(precision),
     .argument = "P",
     .help = "f64, mixed or f32 (default: by the size)",
     .otherwise = "auto",
     .choices = gram_precision_choices},
    GRAM_TOLERANCE_OPTION(krr_settings),
    GRAM_LANDMARKS_OPTION(krr_settings),
    {.name = "keep-factor",
     .kind = GRAM_OPTION_SWITCH,
     .offset = PLACE(keep_factor),
     .help = "of nystrom: keep the factors of the landmarks in the model, for --std (default: up to 500 landmarks)",
     .help_no = "of nystrom: leave them out"},
    {.name = "certify",
     .kind = GRAM_OPTION_SWITCH,
     .offset = PLACE(certify),
     .help = "of nystrom: bound the distance to the exact fit by the whole matrix also above 30,000 rows",
     .otherwise = "no"},
    {.name = "loss",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(loss),
     .argument = "LOSS",
     .help = "squared (default), absolute, huber, quantile or insensitive",
     .otherwise = "squared",
     .choices = LOSSES},
};

static gram_status check(gram_learning *learning)
{
    const krr_settings *own = learning->settings;
    if (own->grid > 0 && own->tuned.tune.value == GRAM_TUNING_NONE)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave one out.",
                                  "--grid tunes, and --tune none does not");
    if (own->landmarks && own->solver.value != GRAM_SOLVER_NYSTROM)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Add --solver nystrom:M.",
                                  "--landmarks is for --solver nystrom");
    const gram_status status = gram_learning_check_norm(learning, &own->ridge, own->norm);
    return status < 0 ? status : gram_unpenalised_check_settings(learning, &own->free);
}

/* ---- the plan ---- */

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const krr_settings *own = learning->settings;
    krr_state *state = NULL;
    gram_plan made;
    gram_krr_plan_request request;
    char words[64];
    if (own->solver.value == GRAM_SOLVER_NYSTROM)
        TRY(gram_learning_check_landmarks(learning, "--solver nystrom:", own->solver.number));
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    TRY(gram_learning_read_landmarks(learning, own->landmarks, &state->landmark_rule, &state->landmarks));
    state->lambda =
        isnan(own->ridge.lambda) ? gram_learning_noise(learning, &own->ridge) / (double)learning->n : own->ridge.lambda;
    gram_krr_plan_request_init(&request, sizeof request);
    request.n = learning->n;
    request.d = learning->data->d;
    request.outputs = learning->data->targets;
    request.kernel = learning->written;
    request.solver = (gram_solver)own->solver.value;
    request.landmarks = own->solver.number;
    request.precision = (gram_precision)own->precision.value;
    request.leave_one_out = own->loo ? 1 : -1;
    request.ridgeless = state->lambda == 0;
    status = gram_krr_plan(learning->context, &request, &made);
    if (status == GRAM_ERROR_ARGUMENT || status == GRAM_ERROR_UNSUPPORTED)
        (void)gram_advise(learning->context, status, "Change --solver, --precision, --loo or --lambda.");
    TRY(status);
    (void)snprintf(words, sizeof words, "%s, %s", gram_solver_name(made.solver), gram_precision_name(made.precision));
    gram_learning_plan(learning, words, made.bytes, made.seconds, made.reason);
done:
    return status;
}

/* Two criteria, and families of kernels on few rows. */
static void tuning_cost(const gram_learning *learning, double n, double *bytes, double *seconds)
{
    const gram_search_cost cost = {.small = 400, .medium = 40, .last = 12, .cubes = 2};
    const double d = (double)learning->data->d, rows = fmin(n, MOST_TUNED);
    *seconds = gram_search_seconds(learning->context, &cost, n, MOST_TUNED, d);
    *bytes = 8 * 4 * rows * rows;
}

/* ---- the fit ---- */

static gram_criterion criterion_of(gram_tuning tuning)
{
    switch (tuning) {
    case GRAM_TUNING_GCV: return GRAM_CRITERION_GCV;
    case GRAM_TUNING_CV: return GRAM_CRITERION_CV;
    case GRAM_TUNING_ML: return GRAM_CRITERION_ML;
    default: return GRAM_CRITERION_LOO;
    }
}

static gram_status tune(gram_learning *learning)
{
    enum { MATRICES = 4 };
    gram_status status = GRAM_OK;
    const krr_settings *own = learning->settings;
    const gram_prepared *data = learning->data;
    krr_state *state = learning->own;
    gram_krr_tune_options options;
    gram_krr_tune_options_init(&options, sizeof options);
    options.criterion = criterion_of(learning->tuning);
    if (own->tuned.tune.number > 0) options.folds = own->tuned.tune.number;
    options.lambda = state->lambda;
    options.lambda_fixed = !isnan(state->lambda);
    options.weights = data->weights;
    options.intercept = state->free.intercept;
    options.unpenalised_count = state->free.count;
    options.unpenalised = state->free.columns;
    options.ard = gram_learning_ard(learning);
    options.grid = own->grid;
    options.groups = learning->groups;
    options.ordered = learning->ordered;
    options.rows = gram_learning_tuning_rows(learning, MATRICES);
    state->tuned.size = sizeof state->tuned;
    gram_search_trail own_ends = {.arena = &learning->arena};
    gram_search_trails trails = learning->trails;
    const int chooses = own->grid == 0 && gram_learning_chooses_kernel(learning);
    if (chooses && !trails.to) trails.to = &own_ends;
    TRY(gram_krr_tune_along(learning->context, learning->written, learning->points, data->targets, data->y,
                            data->targets, &options, trails, &learning->kernel, &state->lambda, &state->tuned));
    if (chooses) TRY(gram_krr_meet_rivals(learning, &options, trails.to));
done:
    return status;
}

/* Without tuning: the median heuristic, and a ridge that does little. */
static gram_status take_defaults(gram_learning *learning)
{
    krr_state *state = learning->own;
    gram_krr_options options;
    gram_krr_options_init(&options, sizeof options);
    state->lambda_is_default = isnan(state->lambda) && isnan(((const krr_settings *)learning->settings)->norm);
    if (isnan(state->lambda)) state->lambda = options.lambda;
    return gram_learning_resolve(learning);
}

gram_status gram_krr_choose(gram_learning *learning)
{
    return learning->tuning == GRAM_TUNING_NONE ? take_defaults(learning) : tune(learning);
}

/* Tuned on some rows, the ridge of landmarks is chosen once more on all. */
static gram_lambda_choice refinement(const gram_learning *learning)
{
    const krr_settings *own = learning->settings;
    const krr_state *state = learning->own;
    const int given = !isnan(own->ridge.lambda) || !isnan(own->ridge.noise) || !isnan(own->ridge.alpha);
    if (learning->tuning == GRAM_TUNING_NONE || given || !isnan(own->norm) || state->tuned.rows >= learning->n)
        return GRAM_LAMBDA_GIVEN;
    return learning->tuning == GRAM_TUNING_ML    ? GRAM_LAMBDA_BY_ML
           : learning->tuning == GRAM_TUNING_GCV ? GRAM_LAMBDA_BY_GCV
                                                 : GRAM_LAMBDA_BY_LOO;
}

static gram_status solve(gram_learning *learning)
{
    const krr_settings *own = learning->settings;
    const gram_prepared *data = learning->data;
    krr_state *state = learning->own;
    gram_krr_options options;
    gram_krr_options_init(&options, sizeof options);
    options.lambda = state->lambda;
    options.weights = data->weights;
    options.intercept = state->free.intercept;
    options.unpenalised_count = state->free.count;
    options.unpenalised = state->free.columns;
    if (!isnan(own->norm)) options.norm = own->norm;
    options.solver = (gram_solver)own->solver.value;
    options.landmarks = own->solver.number;
    options.precision = (gram_precision)own->precision.value;
    options.tolerance = isnan(own->tolerance) ? 0 : own->tolerance;
    options.leave_one_out = own->loo ? 1 : -1;
    options.landmark_rule = state->landmark_rule;
    options.landmark_points = state->landmarks;
    options.keep_factor = own->keep_factor;
    options.refine = refinement(learning);
    options.certify = own->certify;
    return gram_krr_fit(learning->context, learning->kernel, learning->points, data->targets, data->y, data->targets,
                        &options, &state->krr);
}

static const double CONVERGED = 1e-10; /* backward error that conjugate gradients go to by themselves */

static gram_status fit(gram_learning *learning)
{
    const krr_settings *own = learning->settings;
    gram_status status = gram_unpenalised_read(learning, &own->free, &((krr_state *)learning->own)->free);
    if (status >= 0) status = gram_krr_choose(learning);
    if (status >= 0) status = solve(learning);
    if (status != GRAM_NOT_CONVERGED) return status;
    if (gram_context_left_out(learning->context)[0]) return GRAM_OK; /* the residual is in the report */
    const gram_krr_report *report = gram_krr_get_report(((krr_state *)learning->own)->krr);
    if (report->solver == GRAM_SOLVER_EXACT || report->backward_error <= CONVERGED)
        return gram_learning_fail(
            learning, GRAM_ERROR_NUMERICAL,
            "Raise --lambda (or --noise), or use a kernel that is less smooth or has shorter length-scales.",
            "with so little of a ridge these targets are lost to rounding: the relative residual is %.2g",
            report->residual);
    return gram_learning_fail(learning, GRAM_ERROR_NUMERICAL,
                              "Raise --lambda (or --noise), ask for less with --tolerance T, or use --solver exact.",
                              "no convergence: after %" PRId64 " iterations the backward error is %.6g",
                              report->iterations, report->backward_error);
}

static void forget(gram_learning *learning)
{
    krr_state *state = learning->own;
    if (!state) return;
    gram_points_release(state->landmarks);
    gram_krr_destroy(state->krr);
    if (state->stream) gram_krr_forget_streamed(learning);
}

/* ---- the model ---- */

static const gram_keep_place NUMBERS[] = {
    {"residual", offsetof(gram_krr_report, residual)},
    {"backward_error", offsetof(gram_krr_report, backward_error)},
    {"error_bound", offsetof(gram_krr_report, error_bound)},
    {"jitter", offsetof(gram_krr_report, jitter)},
    {"condition", offsetof(gram_krr_report, condition)},
    {"trace_error", offsetof(gram_krr_report, trace_error)},
    {"gap", offsetof(gram_krr_report, gap)},
    {"certificate", offsetof(gram_krr_report, certificate)},
    {"certificate_rms", offsetof(gram_krr_report, certificate_rms)},
    {"train_rmse", offsetof(gram_krr_report, train_rmse)},
    {"train_r2", offsetof(gram_krr_report, train_r2)},
    {"loo_rmse", offsetof(gram_krr_report, loo_rmse)},
    {"loo_r2", offsetof(gram_krr_report, loo_r2)},
    {"gcv", offsetof(gram_krr_report, gcv)},
    {"norm", offsetof(gram_krr_report, norm)},
    {"effective_dimension", offsetof(gram_krr_report, effective_dimension)},
    {"log_marginal_likelihood", offsetof(gram_krr_report, log_marginal_likelihood)},
};

static void keep_report(gram_keeper *keeper, const gram_krr_report *report, int intercept)
{
    gram_keep_number(keeper, "lambda", report->lambda);
    gram_keep_number(keeper, "noise", report->lambda * (double)report->n);
    gram_keep_integer(keeper, "intercept", intercept);
    gram_keep_text(keeper, "solver", gram_solver_name(report->solver));
    gram_keep_text(keeper, "precision", gram_precision_name(report->precision));
    gram_keep_integer(keeper, "rank", report->rank);
    gram_keep_integer(keeper, "iterations", report->iterations);
    gram_keep_numbers(keeper, report, NUMBERS, sizeof NUMBERS / sizeof *NUMBERS);
    if (report->solver != GRAM_SOLVER_NYSTROM) return;
    gram_keep_integer(keeper, "gap_exact", report->gap_exact);
    if (!report->gap_exact) gram_keep_integer(keeper, "gap_rows", report->gap_rows);
}

static void keep_risk(gram_keeper *keeper, gram_learning *learning, const gram_krr_report *report)
{
    const krr_state *state = learning->own;
    const gram_risk risk = {.norm = report->norm,
                            .radius = report->radius,
                            .trace = report->trace,
                            .lambda = gram_learning_was_tuned(learning) ? NAN : report->lambda,
                            .intercept = state->free.intercept || state->free.count > 0};
    if (report->outputs == 1) gram_keep_squared_risk(keeper, learning, &risk, report->train_rmse * report->train_rmse);
}

static gram_status keep(gram_learning *learning)
{
    const krr_settings *own = learning->settings;
    const krr_state *state = learning->own;
    if (state->stream) return gram_krr_keep_streamed(learning);
    const gram_krr_report *report = gram_krr_get_report(state->krr);
    gram_keeper keeper = gram_keep_begin(learning, gram_krr_function(state->krr));
    keep_report(&keeper, report, state->free.intercept);
    gram_unpenalised_keep(&keeper, learning, &state->free);
    if (!isnan(own->norm)) gram_keep_number(&keeper, "ball", own->norm);
    if (report->solver == GRAM_SOLVER_NYSTROM)
        gram_keep_text(&keeper, "landmarks", gram_landmark_rule_name(state->landmark_rule));
    if (gram_krr_landmark_factor(state->krr)) {
        gram_keep_array(&keeper, "landmark_factor", report->rank, report->rank, gram_krr_landmark_factor(state->krr));
        gram_keep_array(&keeper, "inner_factor", report->rank, report->rank, gram_krr_inner_factor(state->krr));
    }
    gram_keep_term_norms(&keeper, gram_krr_function(state->krr));
    keep_risk(&keeper, learning, report);
    gram_keep_tuning(&keeper, learning, state->lambda_is_default ? "lambda" : NULL);
    if (learning->tuning != GRAM_TUNING_NONE) {
        gram_keep_integer(&keeper, "tuned_rows", state->tuned.rows);
        gram_keep_integer(&keeper, "evaluations", state->tuned.evaluations);
        gram_keep_number(&keeper, "criterion", state->tuned.value);
        gram_keep_integer(&keeper, "at_bound", state->tuned.at_bound);
    }
    return keeper.status;
}

/* With the row itself left out, where that was computed: it does not flatter. */
static gram_status fitted(gram_learning *learning, double *f, const char **what)
{
    const gram_prepared *data = learning->data;
    const gram_krr *krr = ((const krr_state *)learning->own)->krr;
    *what = "fitted value";
    if (learning->streamed) return gram_krr_fitted_streamed(learning, f);
    const double *residuals = gram_krr_loo_residuals(krr), *values = gram_krr_fitted(krr);
    for (int64_t i = 0; i < data->n; i++) {
        const int64_t at = i * data->targets;
        f[i] = residuals ? data->y[at] - residuals[at] : values[at];
    }
    if (residuals) *what = "leave-one-out prediction";
    return GRAM_OK;
}

/* How far a fit on landmarks may be from the exact one: nothing where the targets' own deviation would say as much. */
static void report_certificate(gram_report *report)
{
    const double mean = gram_report_number(report, "certificate_rms"), most = gram_report_number(report, "certificate"),
                 error = gram_report_number(report, "train_rmse"), r2 = gram_report_number(report, "train_r2"),
                 spread = error / sqrt(fmax(1 - r2, 1e-12));
    if (isnan(mean) || mean > spread) return;
    gram_report_row(report, "  certificate");
    gram_report_part(report, "exact fit on these rows within", "certificate_rms", GRAM_ROUGH);
    gram_report_add(report, " (root mean square)");
    if (most <= spread) gram_report_part(report, "anywhere", "certificate", GRAM_ROUGH);
    gram_report_part(report, "duality gap", "gap", GRAM_ROUGH);
    if (gram_report_number(report, "gap_exact") != 0) return;
    gram_report_part(report, "from", "gap_rows", GRAM_WHOLE);
    gram_report_add(report, " rows, probability 0.99 (--certify: from all)");
}

static void report_krr(gram_report *report)
{
    gram_report_ridge(report);
    gram_report_tuning(report);
    gram_report_solver(report);
    if (gram_report_number(report, "sample_rows") > 0) {
        gram_report_row(report, "  in passes");
        gram_report_part(report, "kernel and landmarks from a sample of", "sample_rows", GRAM_WHOLE);
        gram_report_add(report, " rows");
    }
    report_certificate(report);
    gram_report_errors(report, 1);
    gram_report_function(report);
    gram_report_list(report, "  norms of terms", "term_norms", GRAM_FINE);
    gram_report_risk(report, "squared error", "one");
}

static void elsewhere(const gram_model *model, char *text, size_t size)
{
    char number[GRAM_NUMBER_SIZE];
    const double noise = gram_kept_number(model, "noise", NAN);
    if (!isnan(noise))
        (void)snprintf(text, size, "KernelRidge(alpha=%s)%s", gram_number_format(noise, number),
                       gram_kept_number(model, "intercept", 0) != 0 ? ", which has no intercept" : "");
}

static const gram_kept_words WORDS[] = {
    {"solver", "exact cg nystrom inducing sketch"}, {"precision", "f64 mixed f32"}, {NULL, NULL}};

static const gram_comparable COMPARED[] = {
    {1u << GRAM_TASK_REGRESSION, 2, "linear", 0, "linear (ridge)"},
    {1u << GRAM_TASK_REGRESSION, 6, "rbf", 1, NULL},
    {1u << GRAM_TASK_REGRESSION, 7, "matern(nu=1.5)", 1, NULL},
    {0, 0, NULL, 0, NULL},
};

const gram_method gram_method_krr = {
    .name = "krr",
    .title = "kernel ridge regression",
    .formula = "f = argmin (1/n) sum_i (y_i - f(x_i))^2 + lam |f|^2,  f(x) = sum_i a_i k(x_i, x) + b,  (K + n lam I) a "
               "= y - b;\n"
               "left out, y_i - f_(-i)(x_i) = a_i/P_ii,  P = A^-1 - A^-1 1 1'A^-1/(1'A^-1 1),  A = K + n lam I",
    .variant = "the loss squared",
    .words = WORDS,
    .functionals = 1,
    .open = gram_krr_open,
    .evaluate = gram_krr_evaluate,
    .plain = 1,
    .tasks = 1u << GRAM_TASK_REGRESSION,
    .compared = COMPARED,
    .first_for = 1u << GRAM_TASK_REGRESSION,
    .kernel = "rbf",
    .tuning = GRAM_TUNING_LOO,
    .python = {[GRAM_TASK_REGRESSION] = "KernelRidge"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(krr_settings),
    .check = check,
    .plan = plan,
    .tuning_cost = tuning_cost,
    .fit = fit,
    .keep = keep,
    .streaming = &gram_krr_streaming,
    .fitted = fitted,
    .forget = forget,
    .report = report_krr,
    .elsewhere = elsewhere,
};

gram_status gram_krr_model(gram_context *context, const gram_krr *krr, gram_preparation *preparation,
                           gram_model **model)
{
    const gram_krr_report *report = gram_krr_get_report(krr);
    gram_keeper keeper =
        gram_keep_fit(context, &gram_method_krr, GRAM_TASK_REGRESSION, preparation, gram_krr_function(krr), report->n);
    keep_report(&keeper, report, report->intercept);
    return gram_keep_end(&keeper, model);
}

/* Ridge regression on finitely many features: krr with --solver fourier:D, binning:P or explicit, and by itself with a kernel of low finite rank and many
 * rows. Length-scales and a first lambda are tuned on a sample with the kernel itself, lambda
 * then once more on all rows with the features (features/feature_ridge.h). Sparse ones (binning) go by conjugate gradients, with the ridge that the
 * sample found. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ranks/collective.h"
#include "features/sketched/sketched_ridge.h"
#include "features/sparse_ridge.h"
#include "method/primal/primal.h"
#include "points/points.h"
#include <gram/text.h>

enum { MANY_ROWS = 5000, ROWS_FOR_ESTIMATES = 20, MOST_ITERATIONS = 1000 };
static const double USUAL_LAMBDA = 1e-3, MOST_PASS = 1e12, USUAL_TOLERANCE = 1e-4, SKETCH_TOLERANCE = 1e-8,
                    SKETCH_TOLERANCE_F32 = 1e-4, /* of fitted values, relative */
    MUCH = 1e10,                                 /* operations: below, normal equations in f64 are quick */
    LOOSE = 1e-2;                                /* a residual that is good enough beside what random features miss */

static const gram_choice TUNINGS[] = {
    {"auto", GRAM_TUNING_AUTO, NULL, 0, 0}, {"loo", GRAM_TUNING_LOO, NULL, 0, 0},
    {"gcv", GRAM_TUNING_GCV, NULL, 0, 0},   {"ml", GRAM_TUNING_ML, NULL, 0, 0},
    {"none", GRAM_TUNING_NONE, NULL, 0, 0}, {NULL, 0, NULL, 0, 0},
};

static const gram_choice SOLVERS[] = {{"explicit", GRAM_FEATURES_EXPLICIT, NULL, 0, 0},
                                      {"fourier", GRAM_FEATURES_FOURIER, "D", 2, 1 << 16},
                                      {"binning", GRAM_FEATURES_BINNING, "P", 1, 1 << 14},
                                      {NULL, 0, NULL, 0, 0}};

static const gram_option OPTIONS[] = {
    GRAM_LAMBDA_OPTION(primal_settings),
    GRAM_NOISE_OPTION(primal_settings),
    GRAM_ALPHA_OPTION(primal_settings),
    GRAM_TUNE_OPTION(primal_settings, "loo (default), gcv, ml or none", TUNINGS),
    GRAM_ARD_OPTION(primal_settings),
    GRAM_UNPENALISED_OPTIONS(primal_settings),
    {.name = "loo",
     .kind = GRAM_OPTION_SWITCH,
     .offset = PRIMAL_PLACE(loo),
     .help = "leave-one-out errors also where they take long",
     .otherwise = "no"},
    PRIMAL_SOLVER_OPTION("explicit, fourier:D or binning:P: on finitely many features", SOLVERS),
    GRAM_FREQUENCIES_OPTION(primal_settings),
    {.name = "precision",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PRIMAL_PLACE(precision),
     .argument = "P",
     .help = "f64: normal equations of all rows; mixed, f32: iterations, of Fourier features (default: by the size)",
     .otherwise = "auto",
     .choices = gram_precision_choices},
    GRAM_TOLERANCE_OPTION(primal_settings),
};

static int takes(const gram_learning *learning)
{
    static const char *const words[] = {"explicit", "fourier:", "binning:", NULL};
    static const char *const others[] = {"mean",    "unpenalised", "norm",      "grid",     "loss", "precision",
                                         "certify", "keep-factor", "landmarks", "quantile", "tune", NULL};
    const char *lambda = gram_given_text(learning, "lambda");
    const int interpolates = lambda && lambda[strspn(lambda, "0.")] == '\0';
    if (interpolates && !gram_given_text(learning, "solver")) return 0;
    return gram_primal_takes(learning, words, others, MANY_ROWS);
}

static gram_status check(gram_learning *learning)
{
    const primal_settings *own = learning->settings;
    if (own->free.list || own->free.mean.value == GRAM_UNPENALISED_LINEAR)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Use --solver exact, cg or nystrom:M.",
                                  "unpenalised features are not for --solver %s", gram_given_text(learning, "solver"));
    return gram_primal_check(learning);
}

/* Is lambda to be chosen on all rows? */
static int chooses_lambda(const gram_learning *learning)
{
    const primal_settings *own = learning->settings;
    return learning->tuning != GRAM_TUNING_NONE && isnan(own->ridge.lambda) && isnan(own->ridge.noise) &&
           isnan(own->ridge.alpha);
}

/* By iterations rather than by normal equations? Known before there is a map. */
static int iterates_on(const gram_learning *learning, int64_t n, int64_t p)
{
    const primal_settings *own = learning->settings;
    if (own->solver.value != GRAM_FEATURES_FOURIER || own->precision.value == GRAM_PRECISION_F64 || own->loo ||
        !gram_sketched_ridge_fits(n, p) || gram_ranks_share(learning->context, n))
        return 0;
    return own->precision.value != GRAM_PRECISION_AUTO ||
           ((double)n * (double)p * (double)p >= MUCH && !chooses_lambda(learning));
}

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const primal_settings *own = learning->settings;
    const int iterates = iterates_on(learning, learning->n, own->solver.number);
    TRY(gram_primal_begin(
        learning, iterates ? "iterations on features, mixed or f32" : "normal equations of features, f64", iterates));
    ((primal_state *)learning->own)->lambda =
        isnan(own->ridge.lambda) ? gram_learning_noise(learning, &own->ridge) / (double)learning->n : own->ridge.lambda;
    if (((primal_state *)learning->own)->lambda == 0)
        status = gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Give a lambda above 0, or use --solver exact.",
                                    "--lambda 0 is not for finitely many features");
done:
    return status;
}

/* ---- the fit ---- */

static gram_status tune(gram_learning *learning)
{
    enum { MATRICES = 4 };
    const gram_prepared *data = learning->data;
    primal_state *state = learning->own;
    gram_krr_tune_options options;
    gram_krr_tune_options_init(&options, sizeof options);
    options.criterion = learning->tuning == GRAM_TUNING_ML    ? GRAM_CRITERION_ML
                        : learning->tuning == GRAM_TUNING_GCV ? GRAM_CRITERION_GCV
                                                              : GRAM_CRITERION_LOO;
    options.lambda = state->lambda;
    options.lambda_fixed = !isnan(state->lambda);
    options.weights = data->weights;
    options.intercept = ((const primal_settings *)learning->settings)->free.intercept;
    options.ard = gram_learning_ard(learning);
    options.groups = learning->groups;
    options.ordered = learning->ordered;
    options.rows = gram_learning_tuning_rows(learning, MATRICES);
    state->tuned.size = sizeof state->tuned;
    return gram_krr_tune(learning->context, learning->written, learning->points, data->targets, data->y, data->targets,
                         &options, &learning->kernel, &state->lambda, &state->tuned);
}

/* What the report says of fitted values f and, unless it is NULL, leverages. `ridge`: NULL if it knows no determinant. */
static void find_errors(gram_learning *learning, const gram_problem *problem, const gram_feature_ridge *ridge,
                        const double *f, const double *lever)
{
    primal_state *state = learning->own;
    const int64_t n = problem->n, m = problem->m;
    const double total = problem->total * (double)m, variation = gram_problem_variation(problem),
                 pi = 3.14159265358979323846;
    double squares = 0, left_out = 0, quadratic = 0, trace = 0;
    for (int64_t i = 0; i < n; i++) {
        const double w = gram_problem_weight(problem, i);
        if (lever) trace += 1 - lever[i];
        for (int64_t o = 0; o < m; o++) {
            const double miss = problem->y[i * m + o] - f[i * m + o];
            squares += w * miss * miss;
            if (lever) left_out += w * miss * miss / ((1 - lever[i]) * (1 - lever[i]));
            if (ridge) quadratic += (problem->y[i * m + o] - state->b[o]) * w * miss / ridge->ridge;
        }
    }
    state->train_rmse = sqrt(squares / total);
    state->train_r2 = variation > 0 ? 1 - squares / variation : NAN;
    state->loo_rmse = lever ? sqrt(left_out / total) : NAN;
    state->loo_r2 = lever && variation > 0 ? 1 - left_out / variation : NAN;
    state->gcv = lever ? (double)n * (double)n * squares / (trace * trace) / total : NAN;
    state->log_marginal_likelihood =
        m == 1 && ridge ? -(double)n / 2 * (log(2 * pi * quadratic / (double)n) + 1) - ridge->log_determinant / 2 : NAN;
}

/* The best of 17 values about the tuned one. */
static gram_status refine(gram_learning *learning, const gram_feature_ridge *ridge, double *strength)
{
    enum { EACH_SIDE = 8, COUNT = 2 * EACH_SIDE + 1 };
    gram_status status = GRAM_OK;
    gram_ridge_point path[COUNT];
    const double n = (double)ridge->problem->n;
    double best = INFINITY, chosen = *strength;
    for (int k = 0; k < COUNT; k++)
        path[k] = (gram_ridge_point){.strength = *strength * pow(10, (k - EACH_SIDE) / 4.0)};
    TRY(gram_feature_ridge_path(learning->context, ridge, 0, COUNT, path));
    for (int k = 0; k < COUNT; k++) {
        const double rest = n - (double)ridge->q - path[k].effective_dimension,
                     value = learning->tuning == GRAM_TUNING_ML ? n * log(path[k].quadratic) + path[k].log_determinant
                                                                : path[k].squares / (rest * rest);
        if (value < best) best = value, chosen = path[k].strength;
    }
    *strength = chosen;
done:
    return status;
}

/* One target after the other by conjugate gradients. */
static gram_status solve_sparse(gram_learning *learning, gram_problem *problem)
{
    gram_status status = GRAM_OK;
    const primal_settings *own = learning->settings;
    primal_state *state = learning->own;
    gram_sparse_ridge job = {.z = &state->z,
                             .weights = problem->weights,
                             .intercept = own->free.intercept,
                             .strength = state->lambda * (double)problem->n,
                             .tolerance = isnan(own->tolerance) ? USUAL_TOLERANCE : own->tolerance,
                             .most = MOST_ITERATIONS};
    double *one = NULL, *f = NULL;
    TRY(gram_primal_hold_sparse(learning, problem->n, problem->x->f64, problem->x->ld));
    TRY(gram_take(learning->context, "features", state->f.p, sizeof *one, (void **)&one));
    for (int64_t o = 0; o < problem->m; o++) {
        TRY(gram_sparse_ridge_solve(learning->context, &job, problem->y + o, problem->m, one, &state->b[o]));
        for (int64_t j = 0; j < state->f.p; j++) state->c[j * problem->m + o] = one[j];
        state->residual = fmax(state->residual, job.residual);
        state->iterations += job.iterations;
    }
    state->effective_dimension = NAN;
    if (!gram_context_left_out(learning->context)[0] &&
        state->residual > (isnan(own->tolerance) ? LOOSE : own->tolerance))
        TRY(gram_learning_fail(learning, GRAM_ERROR_NUMERICAL, "Raise --lambda, or ask for less with --tolerance T.",
                               "no convergence: after %" PRId64 " iterations the residual is %.2g", state->iterations,
                               state->residual));
    TRY(gram_take(learning->context, "values of the rows", problem->n * problem->m, sizeof *f, (void **)&f));
    TRY(gram_feature_function_values(learning->context, &state->f, problem->x, f, problem->m));
    find_errors(learning, problem, NULL, f, NULL);
done:
    gram_csr_free(learning->context, &state->z);
    gram_give(learning->context, f);
    gram_give(learning->context, one);
    return status;
}

static gram_status solve_dense(gram_learning *learning, gram_problem *given)
{
    gram_status status = GRAM_OK;
    const primal_settings *own = learning->settings;
    primal_state *state = learning->own;
    gram_feature_ridge ridge = {0};
    const double n = (double)given->n, p = (double)state->f.p;
    const int leave = own->loo || n >= ROWS_FOR_ESTIMATES * p || n * p * p <= MOST_PASS;
    double strength = state->lambda * n, *f = NULL, *lever = NULL;
    TRY(gram_feature_ridge_make(learning->context, state->f.map, given, strength, &ridge));
    if (chooses_lambda(learning) && state->tuned.rows < learning->n) TRY(refine(learning, &ridge, &strength));
    state->lambda = strength / n;
    TRY(gram_problem_set_lambda(learning->context, "fit", state->lambda, given));
    TRY(gram_feature_ridge_solve(learning->context, "fit", &ridge, strength, state->c, state->b));
    state->residual = ridge.residual;
    state->effective_dimension = ridge.effective_dimension;
    TRY(gram_take(learning->context, "values of the rows", given->n * (given->m + 1), sizeof *f, (void **)&f));
    if (leave) lever = f + given->n * given->m;
    TRY(gram_feature_function_values(learning->context, &state->f, given->x, f, given->m));
    if (leave) TRY(gram_feature_ridge_leverage(learning->context, &ridge, own->loo, lever, NULL));
    find_errors(learning, given, &ridge, f, lever);
done:
    if (status == GRAM_ERROR_NUMERICAL) (void)gram_advise(learning->context, status, "Raise --lambda.");
    gram_give(learning->context, f);
    gram_feature_ridge_free(learning->context, &ridge);
    return status;
}

/* With the factor of a sample, leverages of other rows come out too large, by more where few rows have much of them. Their sum is known better: that of the
 * sample's own rows, which is the effective dimension with the sample's matrix. */
static void correct_leverages(const gram_problem *problem, double dimension, double *lever)
{
    double sum = 0;
    for (int64_t i = 0; i < problem->n; i++) sum += lever[i];
    for (int64_t i = 0; i < problem->n && sum > 0; i++) lever[i] *= dimension / sum;
}

static gram_status solve_sketched(gram_learning *learning, gram_problem *given)
{
    gram_status status = GRAM_OK;
    const primal_settings *own = learning->settings;
    primal_state *state = learning->own;
    const int single = own->precision.value == GRAM_PRECISION_F32;
    gram_feature_ridge ridge = {0};
    gram_sketched_ridge job = {.map = state->f.map,
                               .problem = given,
                               .strength = state->lambda * (double)given->n,
                               .tolerance = single ? SKETCH_TOLERANCE_F32 : SKETCH_TOLERANCE,
                               .seed = learning->context->seed};
    double *f = NULL, *lever;
    if (!isnan(own->tolerance)) job.tolerance = own->tolerance;
    TRY(gram_take(learning->context, "values of the rows", given->n * (given->m + 1), sizeof *f, (void **)&f));
    lever = f + given->n * given->m;
    TRY(gram_sketched_ridge_solve(learning->context, "fit", &job, state->c, state->b, f, &ridge));
    state->precision = single ? "f32" : "mixed";
    state->residual = job.residual;
    state->iterations = job.passes;
    state->sample = job.rows;
    TRY(gram_feature_ridge_leverage(learning->context, &ridge, 0, lever, NULL));
    state->effective_dimension = ridge.effective_dimension;
    correct_leverages(given, ridge.effective_dimension, lever);
    find_errors(learning, given, NULL, f, lever);
done:
    if (status == GRAM_ERROR_NUMERICAL)
        (void)gram_advise(learning->context, status, "Raise --lambda, or use --precision f64.");
    gram_give(learning->context, f);
    gram_feature_ridge_free(learning->context, &ridge);
    return status;
}

static gram_status solve(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const primal_settings *own = learning->settings;
    const gram_prepared *data = learning->data;
    primal_state *state = learning->own;
    gram_problem problem = {0};
    TRY(gram_primal_make_map(learning, data->targets));
    TRY(gram_problem_make(learning->context, "fit", learning->kernel, learning->points, data->targets, data->y,
                          data->targets, data->weights, &problem));
    TRY(gram_problem_set_unpenalised(learning->context, "fit", own->free.intercept, 0, NULL, &problem));
    TRY((state->f.map->type->sparse                     ? solve_sparse
         : iterates_on(learning, problem.n, state->f.p) ? solve_sketched
                                                        : solve_dense)(learning, &problem));
    gram_primal_find_norm(state);
done:
    gram_problem_free(learning->context, &problem);
    return status;
}

static gram_status fit(gram_learning *learning)
{
    const gram_status status = gram_primal_choose(learning, USUAL_LAMBDA, tune);
    return status < 0 ? status : solve(learning);
}

/* ---- the model ---- */

static const gram_keep_place NUMBERS[] = {
    {"residual", offsetof(primal_state, residual)},
    {"train_rmse", offsetof(primal_state, train_rmse)},
    {"train_r2", offsetof(primal_state, train_r2)},
    {"loo_rmse", offsetof(primal_state, loo_rmse)},
    {"loo_r2", offsetof(primal_state, loo_r2)},
    {"gcv", offsetof(primal_state, gcv)},
    {"norm", offsetof(primal_state, norm)},
    {"effective_dimension", offsetof(primal_state, effective_dimension)},
    {"log_marginal_likelihood", offsetof(primal_state, log_marginal_likelihood)},
};

static gram_status keep(gram_learning *learning)
{
    const primal_settings *own = learning->settings;
    const primal_state *state = learning->own;
    gram_keeper keeper = gram_primal_keep(learning);
    gram_keep_number(&keeper, "lambda", state->lambda);
    gram_keep_number(&keeper, "noise", state->lambda * (double)learning->n);
    gram_keep_integer(&keeper, "intercept", own->free.intercept);
    if (state->iterations > 0) gram_keep_integer(&keeper, "iterations", state->iterations);
    if (state->sample > 0) gram_keep_integer(&keeper, "sample", state->sample);
    gram_keep_numbers(&keeper, state, NUMBERS, sizeof NUMBERS / sizeof *NUMBERS);
    gram_keep_tuning(&keeper, learning, state->lambda_is_default ? "lambda" : NULL);
    if (learning->tuning != GRAM_TUNING_NONE) {
        gram_keep_integer(&keeper, "tuned_rows", state->tuned.rows);
        gram_keep_integer(&keeper, "evaluations", state->tuned.evaluations);
        gram_keep_number(&keeper, "criterion", state->tuned.value);
        gram_keep_integer(&keeper, "at_bound", state->tuned.at_bound);
    }
    return keeper.status;
}

static gram_status open_ridge(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    const gram_preparation *preparation = gram_model_preparation(predictor->model);
    const gram_preparation_description *known = preparation ? gram_preparation_describe(preparation) : NULL;
    TRY(gram_predictor_refuse(context, predictor, 1, "It predicts means only; --solver nystrom:M has deviations.",
                              "finitely many features"));
    TRY(gram_primal_open(context, predictor));
    const int64_t m = ((const gram_feature_function *)predictor->own)->m;
    predictor->columns.outputs = m;
    if (m == 1) TRY(gram_predictor_column(context, predictor, "mean", ""));
    for (int64_t o = 0; o < m && m > 1; o++)
        TRY(gram_predictor_column(context, predictor, "mean_",
                                  known && o < known->target_count ? known->targets[o].name : ""));
done:
    return status;
}

static gram_status evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                            double *values, int64_t ldv)
{
    return gram_feature_function_values(context, predictor->own, places->points, values, ldv);
}

static void report_ridge(gram_report *report)
{
    gram_report_ridge(report);
    gram_report_tuning(report);
    gram_primal_report_features(report);
    gram_report_solver(report);
    gram_report_errors(report, 1);
    gram_report_function(report);
}

const gram_method gram_method_krr_features = {
    .name = "krr",
    .title = "ridge regression on finitely many features",
    .formula = "f(x) = z(x)'c + b,  c = argmin (1/n) sum_i (y_i - z(x_i)'c - b)^2 + lam |c|^2,  z(x)'z(y) is k(x, y) "
               "or about it",
    .variant = "finitely many features",
    .marker = "map",
    .tasks = 1u << GRAM_TASK_REGRESSION,
    .first_for = 1u << GRAM_TASK_REGRESSION,
    .kernel = "rbf",
    .tuning = GRAM_TUNING_LOO,
    .python = {[GRAM_TASK_REGRESSION] = "KernelRidge"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(primal_settings),
    .takes = takes,
    .check = check,
    .plan = plan,
    .fit = fit,
    .keep = keep,
    .forget = gram_primal_forget,
    .open = open_ridge,
    .evaluate = evaluate,
    .close = gram_primal_close,
    .report = report_ridge,
};

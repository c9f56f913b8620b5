/* Kernel logistic regression as a method of the learner. */
#include <inttypes.h>
#include <math.h>

#include "method/method.h"
#include "tune/forecast/search_forecast.h"
#include <gram/logistic.h>

typedef struct logistic_settings {
    gram_tuned_settings tuned;
    gram_ridge_settings ridge;
    gram_unpenalised_settings free;
    double C, tolerance;
    const char *class_weight;
} logistic_settings;

typedef struct logistic_state {
    double lambda; /* NaN: to be chosen */
    int lambda_is_default;
    gram_unpenalised free;
    gram_grid_report tuned;
    double cv_accuracy;
    gram_logistic *logistic;
} logistic_state;

static const gram_choice TUNINGS[] = {{"auto", GRAM_TUNING_AUTO, NULL, 0, 0},
                                      {"cv", GRAM_TUNING_CV, "K", 2, 1000},
                                      {"none", GRAM_TUNING_NONE, NULL, 0, 0},
                                      {NULL, 0, NULL, 0, 0}};

static const gram_option OPTIONS[] = {
    GRAM_LAMBDA_OPTION(logistic_settings),
    GRAM_NOISE_OPTION(logistic_settings),
    GRAM_ALPHA_OPTION(logistic_settings),
    {.name = "C",
     .kind = GRAM_OPTION_NUMBER,
     .offset = offsetof(logistic_settings, C),
     .argument = "C",
     .help = "the price of errors, 1/(2 n L)",
     .above = 1,
     .flags = GRAM_OPTION_STRENGTH | GRAM_OPTION_PER_ROW,
     .elsewhere = "scikit-learn LogisticRegression: C"},
    GRAM_TUNE_OPTION(logistic_settings, "cv:K (default cv:5) or none", TUNINGS),
    GRAM_ARD_OPTION(logistic_settings),
    GRAM_UNPENALISED_OPTIONS(logistic_settings),
    GRAM_TOLERANCE_OPTION(logistic_settings),
    {.name = "class-weight",
     .kind = GRAM_OPTION_TEXT,
     .offset = offsetof(logistic_settings, class_weight),
     .argument = "W",
     .help = "of classes: balanced, or NAME=W,NAME=W",
     .elsewhere = "scikit-learn: class_weight"},
};

static gram_status check(gram_learning *learning)
{
    const logistic_settings *own = learning->settings;
    const int ridge = !isnan(own->ridge.lambda) || !isnan(own->ridge.noise) || !isnan(own->ridge.alpha);
    if (ridge && !isnan(own->C))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "C = 1/(2 n lambda).", "give one of --lambda and --C");
    const gram_status status = gram_learning_check_ridge(learning, &own->ridge);
    return status < 0 ? status : gram_unpenalised_check_settings(learning, &own->free);
}

/* Seconds of so many products of K with a column for each class: reading K, and multiplying. */
static double product_seconds(const gram_learning *learning, double count, double n)
{
    const double rate = learning->context->operations > 0 ? 0.5 * learning->context->operations : 2e10;
    return count * n * n * (5e-10 + 2 * (double)learning->classes.count / rate);
}

/* 275 fits to four fifths of the rows that are tuned on: of two classes some three factors each, of several a hundred products with K
 * (likelihood_softmax_step.c); and the search for lengths. */
static void tuning_cost(const gram_learning *learning, double n, double *bytes, double *seconds)
{
    enum { FITS = 275, CURVATURES = 3, PRODUCTS = 100, ROWS = 1000, ROWS_OF_SEVERAL = 1500 };
    const double classes = (double)learning->classes.count, outputs = classes == 2 ? 1 : classes;
    const double rows = 0.8 * fmin(n, outputs > 1 ? ROWS_OF_SEVERAL / sqrt(classes) : ROWS);
    const double rate = learning->context->operations > 0 ? 0.5 * learning->context->operations : 2e10;
    const double factors = CURVATURES * (rows * rows * rows / (3 * rate) + 5e-9 * rows * rows);
    *seconds = FITS * (outputs > 1 ? product_seconds(learning, PRODUCTS, rows) : factors) +
               gram_search_seconds(learning->context, &gram_lengths_cost, n, rows, (double)learning->data->d);
    *bytes = 8 * rows * rows * (8 + outputs);
}

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const logistic_settings *own = learning->settings;
    const double n = (double)learning->n;
    const double outputs = learning->classes.count == 2 ? 1 : (double)learning->classes.count;
    logistic_state *state = NULL;
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    state->lambda = isnan(own->C) ? gram_learning_noise(learning, &own->ridge) / n : 1 / (2 * n * own->C);
    if (gram_learning_folds(learning) < 2) learning->tuning = GRAM_TUNING_NONE;
    const double matrices = 1 + 0.5 * outputs + (outputs > 1), bytes = 8 * n * n * matrices;
    TRY(gram_learning_room(learning, bytes, "Use fewer rows, another --method, or more --memory.",
                           "logistic regression of"));
    enum { PRODUCTS = 400 };
    const double seconds = outputs > 1 ? product_seconds(learning, PRODUCTS, n) : n * n * n * 1e-10;
    gram_learning_plan(learning, "newton, f64", (size_t)bytes, seconds, "exact Newton steps on the whole matrix");
done:
    return status;
}

/* ---- the fit ---- */

static double accuracy_of(const gram_learning *learning, const double *p)
{
    const int64_t n = learning->data->n, classes = learning->classes.count;
    double right = 0, count = 0;
    for (int64_t i = 0; i < n; i++) {
        const double *row = p + i * classes;
        int64_t best = 0;
        if (isnan(row[0])) continue;
        for (int64_t c = 1; c < classes; c++)
            if (row[c] > row[best]) best = c;
        right += (double)best == learning->labels[i];
        count++;
    }
    return right / count;
}

static gram_status tune(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    logistic_state *state = learning->own;
    const int64_t classes = learning->classes.count;
    const double given = state->lambda;
    gram_logistic_tune_options options;
    double *p = NULL;
    gram_logistic_tune_options_init(&options, sizeof options);
    options.ard = gram_learning_ard(learning);
    options.folds = gram_learning_folds(learning);
    options.groups = learning->groups;
    options.ordered = learning->ordered;
    options.weights = learning->weights;
    options.intercept = state->free.intercept;
    options.unpenalised_count = state->free.count;
    options.unpenalised = state->free.columns;
    if (!isnan(given)) {
        options.lambda_count = 1;
        options.lambdas = &given;
    }
    TRY(gram_learning_take(learning, learning->data->n * classes, sizeof *p, &p));
    state->tuned.size = sizeof state->tuned;
    TRY(gram_logistic_tune(learning->context, learning->written, learning->points, classes, learning->labels, &options,
                           &learning->kernel, &state->lambda, &state->tuned, NULL, p, classes));
    state->cv_accuracy = accuracy_of(learning, p);
done:
    return status;
}

static gram_status take_defaults(gram_learning *learning)
{
    logistic_state *state = learning->own;
    gram_logistic_options options;
    gram_logistic_options_init(&options, sizeof options);
    state->lambda_is_default = isnan(state->lambda);
    if (state->lambda_is_default) state->lambda = options.lambda;
    return gram_learning_resolve(learning);
}

static gram_status solve(gram_learning *learning)
{
    const logistic_settings *own = learning->settings;
    logistic_state *state = learning->own;
    gram_logistic_options options;
    gram_logistic_options_init(&options, sizeof options);
    options.lambda = state->lambda;
    options.weights = learning->weights;
    options.intercept = state->free.intercept;
    options.unpenalised_count = state->free.count;
    options.unpenalised = state->free.columns;
    if (!isnan(own->tolerance)) options.tolerance = own->tolerance;
    return gram_logistic_fit(learning->context, learning->kernel, learning->points, learning->classes.count,
                             learning->labels, &options, &state->logistic);
}

static gram_status fit(gram_learning *learning)
{
    const logistic_settings *own = learning->settings;
    logistic_state *state = learning->own;
    gram_status status = gram_unpenalised_read(learning, &own->free, &state->free);
    if (status >= 0) status = learning->tuning == GRAM_TUNING_NONE ? take_defaults(learning) : tune(learning);
    if (status >= 0) status = solve(learning);
    if (status != GRAM_NOT_CONVERGED) return status;
    if (gram_context_left_out(learning->context)[0]) return GRAM_OK; /* the report says how far it came */
    const gram_logistic_report *report = gram_logistic_get_report(state->logistic);
    if (gram_learning_is_near(own->tolerance, report->optimality)) return GRAM_OK;
    return gram_learning_fail(learning, GRAM_ERROR_NUMERICAL, "Raise --lambda, or ask for less with --tolerance T.",
                              "no convergence: after %" PRId64 " steps the optimality conditions are violated by %.6g",
                              report->iterations, report->optimality);
}

static void forget(gram_learning *learning)
{
    logistic_state *state = learning->own;
    if (state) gram_logistic_destroy(state->logistic);
}

/* ---- the model ---- */

static const gram_keep_place NUMBERS[] = {
    {"objective", offsetof(gram_logistic_report, objective)},
    {"optimality", offsetof(gram_logistic_report, optimality)},
    {"train_accuracy", offsetof(gram_logistic_report, accuracy)},
    {"train_log_loss", offsetof(gram_logistic_report, log_loss)},
    {"norm", offsetof(gram_logistic_report, norm)},
    {"jitter", offsetof(gram_logistic_report, jitter)},
};

static void keep_report(gram_keeper *keeper, const gram_logistic_report *report, double lambda)
{
    gram_keep_number(keeper, "lambda", lambda);
    gram_keep_number(keeper, "C", 1 / (2 * (double)report->n * lambda));
    gram_keep_integer(keeper, "intercept", report->intercept);
    gram_keep_integer(keeper, "iterations", report->iterations);
    gram_keep_numbers(keeper, report, NUMBERS, sizeof NUMBERS / sizeof *NUMBERS);
}

/* Of two classes: how the function does on its own rows, and may do on others. */
static gram_status keep_risk(gram_keeper *keeper, gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const logistic_state *state = learning->own;
    const gram_function *function = gram_logistic_function(state->logistic);
    const gram_logistic_report *report = gram_logistic_get_report(state->logistic);
    const int64_t n = learning->data->n;
    double *f = NULL;
    gram_risk risk = {.norm = report->norm,
                      .lambda = gram_learning_was_tuned(learning) ? NAN : state->lambda,
                      .zero_loss = log(2),
                      .intercept = report->intercept || state->free.count > 0};
    if (report->outputs != 1) return GRAM_OK;
    if (report->intercept) risk.constant = gram_function_constant(function)[0];
    TRY(gram_take(learning->context, "risk", n, sizeof *f, (void **)&f));
    TRY(gram_function_evaluate(learning->context, function, learning->points, f, 1));
    TRY(gram_risk_measure(learning, &risk));
    gram_keep_class_risk(keeper, learning, &risk, f);
done:
    gram_give(learning->context, f);
    return status;
}

static gram_status keep(gram_learning *learning)
{
    const logistic_state *state = learning->own;
    gram_keeper keeper = gram_keep_begin(learning, gram_logistic_function(state->logistic));
    keep_report(&keeper, gram_logistic_get_report(state->logistic), state->lambda);
    gram_unpenalised_keep(&keeper, learning, &state->free);
    gram_keep_tuning(&keeper, learning, state->lambda_is_default ? "lambda" : NULL);
    if (learning->tuning != GRAM_TUNING_NONE) {
        gram_keep_integer(&keeper, "tuned_rows", state->tuned.rows);
        gram_keep_integer(&keeper, "tuned_fits", state->tuned.fits);
        gram_keep_number(&keeper, "cv_accuracy", state->cv_accuracy);
        gram_keep_number(&keeper, "cv_log_loss", state->tuned.value);
        gram_keep_integer(&keeper, "at_bound", state->tuned.at_bound);
    }
    gram_keep_classes(&keeper, &learning->classes);
    if (keeper.status >= 0) {
        const gram_status status = keep_risk(&keeper, learning);
        if (status < 0) return status;
    }
    return keeper.status;
}

static gram_status open_logistic(gram_context *context, gram_predictor *predictor)
{
    const gram_status status = gram_predictor_classes(context, predictor);
    const int64_t outputs = gram_function_outputs(gram_model_function(predictor->model));
    const int64_t classes = predictor->classes.count;
    if (status < 0) return status;
    if (outputs == classes || (classes == 2 && outputs == 1)) return GRAM_OK;
    return gram_predictor_damaged(context, predictor, "a classifier whose parts do not belong together");
}

static gram_status evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                            double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const int64_t classes = predictor->classes.count;
    double *p = NULL;
    TRY(gram_take(context, "predict", places->n * classes, sizeof *p, (void **)&p));
    TRY(gram_logistic_probabilities(context, gram_model_function(predictor->model), places->points, p, classes));
    gram_predictor_put_probabilities(predictor, places->n, p, values, ldv);
done:
    gram_give(context, p);
    return status;
}

static void report_logistic(gram_report *report)
{
    gram_report_ridge(report);
    gram_report_tuning(report);
    gram_report_solution(report);
    gram_report_accuracy(report);
    gram_report_function(report);
    gram_report_risk(report, "log loss", "one");
}

static const gram_comparable COMPARED[] = {
    {1u << GRAM_TASK_CLASSIFICATION, 2, "linear", 0, "linear (logistic)"},
    {1u << GRAM_TASK_CLASSIFICATION, 9, "rbf", 1, NULL},
    {0, 0, NULL, 0, NULL},
};

const gram_method gram_method_logistic = {
    .name = "logistic",
    .title = "kernel logistic regression",
    .formula =
        "f = argmin C sum_i log(1 + exp(-y_i (f(x_i) + b))) + |f|^2/2,  C = 1/(2 n lam) (more classes: softmax);\n"
        "p(y = 1 | x) = 1/(1 + exp(-f(x) - b))",
    .tasks = 1u << GRAM_TASK_CLASSIFICATION,
    .compared = COMPARED,
    .numbers_are_classes = 1,
    .kernel = "rbf",
    .tuning = GRAM_TUNING_CV,
    .python = {[GRAM_TASK_CLASSIFICATION] = "KernelLogisticRegression"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(logistic_settings),
    .check = check,
    .plan = plan,
    .tuning_cost = tuning_cost,
    .fit = fit,
    .keep = keep,
    .forget = forget,
    .open = open_logistic,
    .evaluate = evaluate,
    .report = report_logistic,
};

gram_status gram_logistic_model(gram_context *context, const gram_logistic *logistic, gram_preparation *preparation,
                                const double *values, gram_model **model)
{
    const gram_logistic_report *report = gram_logistic_get_report(logistic);
    gram_keeper keeper = gram_keep_fit(context, &gram_method_logistic, GRAM_TASK_CLASSIFICATION, preparation,
                                       gram_logistic_function(logistic), report->n);
    keep_report(&keeper, report, report->lambda);
    gram_keep_class_values(&keeper, report->classes, values);
    return gram_keep_end(&keeper, model);
}

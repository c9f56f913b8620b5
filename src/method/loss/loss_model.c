/* Regression with absolute, Huber, quantile and epsilon-insensitive losses as a method of the learner: krr with another loss. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/order_statistics.h"
#include "base/sized_struct.h"
#include "method/loss/loss.h"
#include "method/loss/loss_shape.h"
#include "method/method.h"
#include "tune/forecast/search_forecast.h"
#include <gram/loss.h>
#include <gram/text.h>

enum { MOST_LEVELS = 99 };

typedef struct loss_settings {
    gram_tuned_settings tuned;
    gram_ridge_settings ridge;
    gram_unpenalised_settings free;
    int non_crossing;
    gram_chosen loss, solver;
    const char *quantile;
    double delta, epsilon, tolerance, norm;
    gram_shape_settings shape;
} loss_settings;

typedef struct loss_state {
    gram_loss_options options; /* lambda NaN: to be chosen */
    double levels[MOST_LEVELS];
    int lambda_is_default;
    gram_unpenalised free;
    gram_shaped shaped; /* the rows, constraints among them */
    gram_grid_report tuned;
    gram_loss *fit;
} loss_state;

static const gram_choice TUNINGS[] = {{"auto", GRAM_TUNING_AUTO, NULL, 0, 0},
                                      {"cv", GRAM_TUNING_CV, "K", 2, 1000},
                                      {"none", GRAM_TUNING_NONE, NULL, 0, 0},
                                      {NULL, 0, NULL, 0, 0}};

static const gram_choice LOSSES[] = {
    {"squared", GRAM_LOSS_SQUARED, NULL, 0, 0},
    {"absolute", GRAM_LOSS_ABSOLUTE, NULL, 0, 0},
    {"huber", GRAM_LOSS_HUBER, NULL, 0, 0},
    {"quantile", GRAM_LOSS_QUANTILE, NULL, 0, 0},
    {"insensitive", GRAM_LOSS_INSENSITIVE, NULL, 0, 0},
    {NULL, 0, NULL, 0, 0},
};

static const gram_choice SOLVERS[] = {{"auto", 0, NULL, 0, 0}, {"exact", 1, NULL, 0, 0}, {NULL, 0, NULL, 0, 0}};

#define PLACE(field) offsetof(loss_settings, field)

static const gram_option OPTIONS[] = {
    {.name = "loss",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(loss),
     .argument = "LOSS",
     .help = "squared (default), absolute, huber, quantile or insensitive",
     .otherwise = "quantile",
     .choices = LOSSES},
    {.name = "quantile",
     .kind = GRAM_OPTION_TEXT,
     .offset = PLACE(quantile),
     .argument = "LIST",
     .help = "levels of --loss quantile, e.g. 0.1,0.5,0.9; implies it"},
    {.name = "non-crossing",
     .kind = GRAM_OPTION_SWITCH,
     .offset = PLACE(non_crossing),
     .help = "quantiles do not cross at the rows of DATA",
     .otherwise = "no"},
    {.name = "delta",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(delta),
     .argument = "D",
     .help = "of huber: where it becomes linear (default: by the spread of the target)",
     .above = 1},
    {.name = "epsilon",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(epsilon),
     .argument = "E",
     .help = "half the width of the tube (default 0.1)"},
    {.name = "increasing",
     .kind = GRAM_OPTION_TEXT,
     .offset = PLACE(shape.increasing),
     .argument = "LIST",
     .help = "monotone: f does not fall in these features"},
    {.name = "decreasing",
     .kind = GRAM_OPTION_TEXT,
     .offset = PLACE(shape.decreasing),
     .argument = "LIST",
     .help = "monotone: f does not rise in these features"},
    {.name = "convex",
     .kind = GRAM_OPTION_TEXT,
     .offset = PLACE(shape.convex),
     .argument = "LIST",
     .help = "f is convex in each of these features"},
    {.name = "concave",
     .kind = GRAM_OPTION_TEXT,
     .offset = PLACE(shape.concave),
     .argument = "LIST",
     .help = "f is concave in each of these features"},
    {.name = "constraint-rows",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(shape.rows),
     .argument = "N",
     .help = "places where the shape is asked for (default: 60 on a line, or 150 rows)",
     .least = 1,
     .most = 5000},
    GRAM_NORM_OPTION(loss_settings),
    GRAM_LAMBDA_OPTION(loss_settings),
    GRAM_NOISE_OPTION(loss_settings),
    GRAM_ALPHA_OPTION(loss_settings),
    GRAM_TUNE_OPTION(loss_settings, "cv:K (default cv:5) or none", TUNINGS),
    GRAM_ARD_OPTION(loss_settings),
    GRAM_UNPENALISED_OPTIONS(loss_settings),
    {.name = "solver",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(solver),
     .argument = "NAME",
     .help = "auto or exact",
     .otherwise = "auto",
     .choices = SOLVERS},
    GRAM_TOLERANCE_OPTION(loss_settings),
};

static int takes(const gram_learning *learning)
{
    const char *loss = gram_given_text(learning, "loss");
    if (learning->senses || gram_shape_is_given(learning)) return 1;
    return (loss && strcmp(loss, "squared") != 0) || gram_given_text(learning, "quantile");
}

/* ---- the use ---- */

/* Options of one loss, given to another. */
static gram_status check_kind(gram_learning *learning, gram_loss_kind kind)
{
    static const struct {
        const char *option;
        gram_loss_kind kind;
    } of_kind[] = {
        {"delta", GRAM_LOSS_HUBER}, {"epsilon", GRAM_LOSS_INSENSITIVE}, {"non-crossing", GRAM_LOSS_QUANTILE}};
    for (size_t i = 0; i < sizeof of_kind / sizeof *of_kind; i++)
        if (gram_given_text(learning, of_kind[i].option) && kind != of_kind[i].kind)
            return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave it out.", "--%s is of --loss %s, not %s",
                                      of_kind[i].option, gram_loss_name(of_kind[i].kind), gram_loss_name(kind));
    return GRAM_OK;
}

/* Quantiles by default, but under constraints the squared loss. */
static gram_loss_kind kind_of(const gram_learning *learning)
{
    const loss_settings *own = learning->settings;
    if (own->quantile) return GRAM_LOSS_QUANTILE;
    if (!gram_given_text(learning, "loss")) return GRAM_LOSS_SQUARED;
    return (gram_loss_kind)own->loss.value;
}

static gram_status check(gram_learning *learning)
{
    const loss_settings *own = learning->settings;
    const gram_loss_kind kind = own->quantile ? (gram_loss_kind)own->loss.value : kind_of(learning);
    double levels[MOST_LEVELS];
    if (own->quantile && kind != GRAM_LOSS_QUANTILE && kind != GRAM_LOSS_SQUARED)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave one out.",
                                  "--quantile is of --loss quantile, not %s", gram_loss_name(kind));
    if (own->quantile && gram_learning_levels(own->quantile, MOST_LEVELS, levels) == 0)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "For example --quantile 0.1,0.5,0.9.",
                                  "--quantile '%s' is not a list of increasing numbers between 0 and 1", own->quantile);
    gram_status status = gram_learning_check_ridge(learning, &own->ridge);
    if (status >= 0) status = gram_learning_check_norm(learning, &own->ridge, own->norm);
    if (own->shape.rows > 0 && !gram_shape_is_given(learning))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Give one of these, or leave it out.",
                                  "--constraint-rows is for --increasing, --decreasing, --convex and --concave");
    if (status >= 0) status = gram_unpenalised_check_settings(learning, &own->free);
    return status < 0 ? status : check_kind(learning, own->quantile ? GRAM_LOSS_QUANTILE : kind);
}

/* ---- the plan ---- */

static gram_status find_options(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const loss_settings *own = learning->settings;
    loss_state *state = learning->own;
    gram_loss_options *o = &state->options;
    gram_loss_options_init(o, sizeof *o);
    o->kind = kind_of(learning);
    if (!isnan(own->norm)) o->norm = own->norm;
    o->lambda =
        isnan(own->ridge.lambda) ? gram_learning_noise(learning, &own->ridge) / (double)learning->n : own->ridge.lambda;
    o->weights = learning->data->weights;
    o->delta = own->delta;
    if (isnan(own->delta)) TRY(gram_learning_huber(learning, &o->delta));
    if (!isnan(own->epsilon)) o->epsilon = own->epsilon;
    if (!isnan(own->tolerance)) o->tolerance = own->tolerance;
    o->non_crossing = own->non_crossing;
    state->levels[0] = 0.5;
    o->quantile_count =
        own->quantile ? gram_learning_levels(own->quantile, MOST_LEVELS, state->levels) : o->kind == GRAM_LOSS_QUANTILE;
    o->quantiles = state->levels;
done:
    return status;
}

/* Fits of folds, of which one takes some dozen factors for each quantile. */
static void tuning_cost(const gram_learning *learning, double n, double *bytes, double *seconds)
{
    enum { FITS = 275, FACTORS = 12, ROWS = 2000 };
    const loss_state *state = learning->own;
    const double rows = 0.8 * fmin(n, ROWS), outputs = (double)gram_loss_outputs(&state->options);
    const double rate = learning->context->operations > 0 ? 0.5 * learning->context->operations : 2e10;
    const double searches = gram_learning_ard(learning) != 0 && learning->data->d > 1 ? 2 : 1; /* lengths: one, all */
    *seconds = searches * FITS * FACTORS * outputs * (rows * rows * rows / 3 / rate + 2e-9 * rows * rows);
    if (searches > 1)
        *seconds += gram_search_seconds(learning->context, &gram_lengths_cost, n, rows, (double)learning->data->d);
    *bytes = 8 * rows * rows * 8;
}

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const loss_settings *own = learning->settings;
    const double n = (double)gram_shape_most_rows(learning, &own->shape);
    loss_state *state = NULL;
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    TRY(gram_learning_one_target(learning, "--loss", "Choose one with --target."));
    TRY(find_options(learning));
    if (gram_learning_folds(learning) < 2) learning->tuning = GRAM_TUNING_NONE;
    const double q = state->options.non_crossing ? (double)state->options.quantile_count : 1;
    const double parts = (double)gram_loss_outputs(&state->options) / q; /* solved one after another */
    const double bytes = 8 * n * n * (1 + 0.5 * q * q);
    TRY(gram_learning_room(learning, bytes, "Use fewer rows, another --method, or more --memory.", "this loss on"));
    gram_learning_plan(learning, "interior points, f64", (size_t)bytes, 20 * parts * q * q * q * n * n * n * 4e-12,
                       "some twenty factors of the whole matrix");
done:
    return status;
}

/* ---- the fit ---- */

static gram_status tune(gram_learning *learning)
{
    loss_state *state = learning->own;
    const double given = state->options.lambda;
    gram_loss_options loss = state->options;
    gram_loss_tune_options options;
    gram_loss_tune_options_init(&options, sizeof options);
    loss.weights = state->shaped.data_weights;
    options.ard = gram_learning_ard(learning);
    options.loss = &loss;
    options.folds = gram_learning_folds(learning);
    options.groups = state->shaped.data_groups;
    options.ordered = learning->ordered;
    if (!isnan(given)) {
        options.lambda_count = 1;
        options.lambdas = &given;
    }
    loss.lambda = 1; /* not used */
    loss.norm = 0;
    state->tuned.size = sizeof state->tuned;
    return gram_loss_tune(learning->context, learning->written, state->shaped.data, state->shaped.data_y, &options,
                          &learning->kernel, &state->options.lambda, &state->tuned, NULL, NULL, 0);
}

static gram_status take_defaults(gram_learning *learning)
{
    loss_state *state = learning->own;
    gram_loss_options options;
    gram_loss_options_init(&options, sizeof options);
    state->lambda_is_default = isnan(state->options.lambda) && !(state->options.norm > 0);
    if (isnan(state->options.lambda)) state->options.lambda = options.lambda;
    return gram_learning_resolve(learning);
}

static gram_status read_unpenalised(gram_learning *learning)
{
    const loss_settings *own = learning->settings;
    loss_state *state = learning->own;
    const gram_status status = gram_unpenalised_read(learning, &own->free, &state->free);
    state->options.intercept = state->free.intercept;
    state->options.unpenalised_count = state->free.count;
    state->options.unpenalised = state->free.columns;
    return status;
}

/* Constraints that contradict each other are told with a line that helps. */
static gram_status solve(gram_learning *learning)
{
    gram_context *context = learning->context;
    char advice[GRAM_MESSAGE_SIZE];
    loss_state *state = learning->own;
    state->options.senses = state->shaped.senses;
    state->options.weights = state->shaped.weights;
    const gram_status status =
        gram_loss_fit(context, learning->kernel, state->shaped.points, state->shaped.y, &state->options, &state->fit);
    const char *words =
        status == GRAM_ERROR_DATA ? "Rows count from 0, and those after the data are of --increasing and the like. "
                                    "Change the bounds, or use a kernel that bends more easily."
        : status == GRAM_ERROR_UNSUPPORTED ? "Use --loss squared, absolute, huber or quantile, and no --non-crossing."
                                           : NULL;
    if (!state->shaped.senses || !words || gram_context_advice(context)[0]) return status;
    gram_write_dashes(words, learning->dashes, advice, sizeof advice);
    return gram_advise(context, status, advice);
}

static gram_status fit(gram_learning *learning)
{
    const loss_settings *own = learning->settings;
    loss_state *state = learning->own;
    gram_status status = read_unpenalised(learning);
    if (status >= 0) status = gram_shape_make(learning, &own->shape, &state->shaped);
    if (status >= 0) status = learning->tuning == GRAM_TUNING_NONE ? take_defaults(learning) : tune(learning);
    if (status >= 0) status = solve(learning);
    if (status != GRAM_NOT_CONVERGED) return status;
    if (gram_context_left_out(learning->context)[0]) return GRAM_OK; /* the report says how far it came */
    const double gap = gram_loss_get_report(state->fit)->gap;
    if (gram_learning_is_near(own->tolerance, gap)) return GRAM_OK;
    return gram_learning_fail(learning, GRAM_ERROR_NUMERICAL, "Raise --lambda, or ask for less with --tolerance T.",
                              "no convergence: the relative duality gap is %.2g", gap);
}

static void forget(gram_learning *learning)
{
    loss_state *state = learning->own;
    if (state) gram_loss_destroy(state->fit);
    if (state) gram_shape_free(&state->shaped);
}

/* ---- the model ---- */

static void keep_report(gram_keeper *keeper, const gram_loss_report *report, const gram_loss_options *options)
{
    gram_keep_text(keeper, "loss", gram_loss_name(options->kind));
    gram_keep_number(keeper, "lambda", report->lambda);
    gram_keep_integer(keeper, "intercept", options->intercept);
    if (options->kind == GRAM_LOSS_HUBER) gram_keep_number(keeper, "delta", options->delta);
    if (options->kind == GRAM_LOSS_INSENSITIVE) gram_keep_number(keeper, "epsilon", options->epsilon);
    gram_keep_number(keeper, "train_loss", report->loss);
    gram_keep_number(keeper, "objective", report->objective);
    gram_keep_number(keeper, "gap", report->gap);
    gram_keep_integer(keeper, "n_support", report->n_support);
    gram_keep_integer(keeper, "iterations", report->iterations);
    gram_keep_number(keeper, "norm", report->norm);
    gram_keep_number(keeper, "jitter", report->jitter);
    if (report->outputs > 1) gram_keep_number(keeper, "crossing", report->crossing);
    if (options->norm > 0) gram_keep_number(keeper, "ball", options->norm);
    if (report->constraints == 0) return;
    gram_keep_integer(keeper, "constraints", report->constraints);
    gram_keep_integer(keeper, "active", report->active);
    gram_keep_number(keeper, "constraint_violation", report->violation);
}

static gram_status keep(gram_learning *learning)
{
    const loss_state *state = learning->own;
    gram_keeper keeper = gram_keep_begin(learning, gram_loss_function(state->fit));
    keep_report(&keeper, gram_loss_get_report(state->fit), &state->options);
    gram_unpenalised_keep(&keeper, learning, &state->free);
    gram_shape_keep(&keeper, &((const loss_settings *)learning->settings)->shape);
    gram_keep_term_norms(&keeper, gram_loss_function(state->fit));
    gram_keep_tuning(&keeper, learning, state->lambda_is_default ? "lambda" : NULL);
    if (learning->tuning != GRAM_TUNING_NONE) {
        gram_keep_integer(&keeper, "tuned_rows", state->tuned.rows);
        gram_keep_integer(&keeper, "tuned_fits", state->tuned.fits);
        gram_keep_number(&keeper, "cv_loss", state->tuned.value);
        gram_keep_integer(&keeper, "at_bound", state->tuned.at_bound);
    }
    if (state->options.kind == GRAM_LOSS_QUANTILE)
        gram_keep_array(&keeper, "quantiles", 1, state->options.quantile_count, state->levels);
    return keeper.status;
}

/* Of several quantiles the middle one. */
static gram_status fitted(gram_learning *learning, double *f, const char **what)
{
    gram_status status = GRAM_OK;
    const gram_function *function = gram_loss_function(((const loss_state *)learning->own)->fit);
    const int64_t outputs = gram_function_outputs(function), n = learning->data->n;
    double *values = NULL;
    TRY(gram_learning_take(learning, n * outputs, sizeof *values, &values));
    TRY(gram_function_evaluate(learning->context, function, learning->points, values, outputs));
    for (int64_t i = 0; i < n; i++) f[i] = values[i * outputs + outputs / 2];
    *what = "fitted value";
done:
    return status;
}

/* Quantiles have a column each; one loss has its value as the mean. */
static gram_status open_loss(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    int64_t rows = 0, count = 0;
    const double *levels = gram_model_array(predictor->model, "quantiles", &rows, &count);
    if (!levels) return gram_predictor_function(context, predictor);
    TRY(gram_predictor_refuse(context, predictor, 1, NULL, NULL));
    if (rows != 1 || count != gram_function_outputs(gram_model_function(predictor->model)))
        return gram_predictor_damaged(context, predictor, "quantiles without their levels");
    TRY(gram_predictor_levels(context, predictor, count, levels));
done:
    return status;
}

static void report_loss(gram_report *report)
{
    gram_report_ridge(report);
    gram_report_tuning(report);
    gram_report_row(report, "loss");
    gram_report_add(report, "%s", gram_report_text(report, "loss"));
    gram_report_part(report, "delta", "delta", GRAM_FINE);
    gram_report_part(report, "epsilon", "epsilon", GRAM_FINE);
    gram_report_part(report, "on these rows", "train_loss", GRAM_FINE);
    const int shaped = gram_report_number(report, "constraints") > 0; /* they are no part of tuning */
    gram_report_part(report, shaped ? "left-out folds, without constraints," : "left-out folds", "cv_loss", GRAM_FINE);
    gram_report_part(report, "quantiles cross by at most", "crossing", GRAM_ROUGH);
    gram_report_solution(report);
    if (shaped) {
        gram_report_row(report, "constraints");
        gram_report_part(report, "rows", "constraints", GRAM_WHOLE);
        gram_report_part(report, "that hold f", "active", GRAM_WHOLE);
        gram_report_part(report, "missed by at most", "constraint_violation", GRAM_ROUGH);
    }
    gram_report_function(report);
    gram_report_list(report, "  norms of terms", "term_norms", GRAM_FINE);
}

static const gram_kept_words WORDS[] = {{"loss", "squared absolute huber quantile insensitive callback"}, {NULL, NULL}};

const gram_method gram_method_loss = {
    .name = "krr",
    .kept = "loss",
    .words = WORDS,
    .title = "kernel regression with another loss",
    .formula = "f = argmin (1/n) sum_i loss(y_i - f(x_i)) + lam |f|^2,  f(x) = sum_i a_i k(x_i, x) + b;\n"
               "quantile q: loss(r) = max(q r, (q - 1) r);  huber: r^2 up to delta, 2 delta |r| - delta^2 beyond;  "
               "insensitive: "
               "max(0, |r| - epsilon)",
    .variant = "another loss than squared",
    .functionals = 1,
    .constraints = 1,
    .tasks = 1u << GRAM_TASK_REGRESSION,
    .first_for = 1u << GRAM_TASK_REGRESSION,
    .kernel = "rbf",
    .tuning = GRAM_TUNING_CV,
    .python = {[GRAM_TASK_REGRESSION] = "KernelRidge"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(loss_settings),
    .takes = takes,
    .check = check,
    .plan = plan,
    .tuning_cost = tuning_cost,
    .fit = fit,
    .keep = keep,
    .fitted = fitted,
    .forget = forget,
    .open = open_loss,
    .report = report_loss,
};

gram_status gram_loss_model(gram_context *context, const gram_loss *fit, const gram_loss_options *options,
                            gram_preparation *preparation, gram_model **model)
{
    gram_status status = GRAM_OK;
    const gram_loss_report *report = gram_loss_get_report(fit);
    const double median = 0.5;
    gram_loss_options known;
    *model = NULL;
    gram_loss_options_init(&known, sizeof known);
    TRY(gram_sized_read(context, "loss_model", "options", "gram_loss_options", options, &known, sizeof known));
    const int quantiles = known.kind == GRAM_LOSS_QUANTILE, several = quantiles && known.quantile_count > 0;
    FAIL_IF(report->outputs != (several ? known.quantile_count : 1), context, GRAM_ERROR_ARGUMENT,
            "loss_model: the options are not those of the fit, which has %" PRId64 " outputs", report->outputs);
    gram_keeper keeper = gram_keep_fit(context, &gram_method_loss, GRAM_TASK_REGRESSION, preparation,
                                       gram_loss_function(fit), report->n);
    keep_report(&keeper, report, &known);
    if (quantiles) gram_keep_array(&keeper, "quantiles", 1, report->outputs, several ? known.quantiles : &median);
    status = gram_keep_end(&keeper, model);
done:
    return status;
}

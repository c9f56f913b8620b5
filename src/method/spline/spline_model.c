/* Smoothing splines as a method of the learner. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gram/text.h>

#include "method/spline/spline_model.h"

typedef struct spline_settings {
    gram_tuned_settings tuned;
    double lambda, period;
    int64_t order;
    gram_chosen loss, shape;
    const char *quantile;
    double delta, epsilon;
} spline_settings;

enum { MOST_LEVELS = 99 };

typedef struct spline_state {
    gram_spline_options options;
    int64_t count; /* of splines: levels of quantiles, or one */
    double levels[MOST_LEVELS], lambdas[MOST_LEVELS];
    gram_spline *splines[MOST_LEVELS];
    gram_function *function;
} spline_state;

static const gram_choice TUNINGS[] = {
    {"auto", GRAM_TUNING_AUTO, NULL, 0, 0},
    {"gcv", GRAM_TUNING_GCV, NULL, 0, 0},
    {"loo", GRAM_TUNING_LOO, NULL, 0, 0},
    {"ml", GRAM_TUNING_ML, NULL, 0, 0},
    {"cv", GRAM_TUNING_CV, "K", 2, 1000},
    {"none", GRAM_TUNING_NONE, NULL, 0, 0},
    {NULL, 0, NULL, 0, 0},
};

static const gram_choice LOSSES[] = {
    {"squared", GRAM_SPLINE_LOSS_SQUARED, NULL, 0, 0},
    {"absolute", GRAM_SPLINE_LOSS_ABSOLUTE, NULL, 0, 0},
    {"huber", GRAM_SPLINE_LOSS_HUBER, NULL, 0, 0},
    {"quantile", GRAM_SPLINE_LOSS_QUANTILE, NULL, 0, 0},
    {"insensitive", GRAM_SPLINE_LOSS_INSENSITIVE, NULL, 0, 0},
    {"logistic", GRAM_SPLINE_LOSS_LOGISTIC, NULL, 0, 0},
    {NULL, 0, NULL, 0, 0},
};

static const gram_choice SHAPES[] = {{"additive", GRAM_SPLINE_ADDITIVE, NULL, 0, 0},
                                     {"thin-plate", GRAM_SPLINE_THIN_PLATE, NULL, 0, 0},
                                     {NULL, 0, NULL, 0, 0}};

#define PLACE(field) offsetof(spline_settings, field)

static const gram_option OPTIONS[] = {
    {.name = "order",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(order),
     .argument = "M",
     .help = "1 to 4: the derivative that is kept small (default 2: cubic splines)",
     .otherwise = "2",
     .least = 1,
     .most = GRAM_SPLINE_ORDERS,
     .elsewhere = "mgcv: m; scipy and R's smooth.spline: 2"},
    {.name = "lambda",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(lambda),
     .argument = "L",
     .help = "of (1/n) sum |y - f|^2 + L int (f^(M))^2, in the feature's units",
     .above = 1,
     .flags = GRAM_OPTION_STRENGTH,
     .elsewhere = "scipy make_smoothing_spline: lam = n L"},
    GRAM_TUNE_OPTION(spline_settings, "gcv (default), loo, ml (REML) or none; cv:K of other losses", TUNINGS),
    {.name = "period",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(period),
     .argument = "P",
     .help = "a periodic spline: f(x + P) = f(x)",
     .above = 1,
     .elsewhere = "mgcv: bs=\"cp\", \"cc\""},
    {.name = "spline",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(shape),
     .argument = "SHAPE",
     .help = "of several features: additive (default), or thin-plate for 2 or 3",
     .otherwise = "additive",
     .choices = SHAPES,
     .elsewhere = "mgcv: s(x, z); R fields: Tps"},
    {.name = "loss",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(loss),
     .argument = "LOSS",
     .help = "squared (default), absolute, huber, quantile, insensitive, or logistic for targets 0 and 1",
     .otherwise = "squared",
     .choices = LOSSES},
    {.name = "quantile",
     .kind = GRAM_OPTION_TEXT,
     .offset = PLACE(quantile),
     .argument = "LIST",
     .help = "levels of --loss quantile, e.g. 0.1,0.5,0.9; implies it"},
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
     .help = "of insensitive: half the width of the tube (default 0.1)"},
};

/* ---- the use and the plan ---- */

static int is_squared(const gram_learning *learning)
{
    const spline_settings *own = learning->settings;
    return own->loss.value == GRAM_SPLINE_LOSS_SQUARED && !own->quantile;
}

/* Targets 0 and 1 are numbers here. */
static gram_task implied_task(const gram_learning *learning)
{
    const char *loss = gram_given_text(learning, "loss");
    return loss && strcmp(loss, "logistic") == 0 ? GRAM_TASK_REGRESSION : GRAM_TASK_AUTO;
}

static gram_status check_quantile(gram_learning *learning)
{
    const spline_settings *own = learning->settings;
    double levels[MOST_LEVELS];
    if (!own->quantile) return GRAM_OK;
    if (own->loss.value != GRAM_SPLINE_LOSS_QUANTILE && own->loss.value != GRAM_SPLINE_LOSS_SQUARED)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave one out.",
                                  "--quantile is of --loss quantile, not %s",
                                  gram_spline_loss_name((gram_spline_loss)own->loss.value));
    if (gram_learning_levels(own->quantile, MOST_LEVELS, levels) == 0)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "For example --quantile 0.1,0.5,0.9.",
                                  "--quantile '%s' is not a list of increasing numbers between 0 and 1", own->quantile);
    return GRAM_OK;
}

static gram_status check(gram_learning *learning)
{
    const spline_settings *own = learning->settings;
    if (isnan(own->lambda) && own->tuned.tune.value == GRAM_TUNING_NONE)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Give --lambda L, or leave --tune out.",
                                  "--tune none leaves --lambda open");
    return check_quantile(learning);
}

/* The criteria of squared loss are its own, and folds those of the others. */
static gram_status check_tuning(gram_learning *learning)
{
    const spline_settings *own = learning->settings;
    const int squared = is_squared(learning), asked = own->tuned.tune.value;
    if (squared ? asked == GRAM_TUNING_CV
                : asked == GRAM_TUNING_GCV || asked == GRAM_TUNING_LOO || asked == GRAM_TUNING_ML)
        return gram_learning_fail(
            learning, GRAM_ERROR_ARGUMENT, squared ? "Use --tune gcv, loo or ml." : "Use --tune cv:5, or leave it out.",
            squared ? "--tune cv is of other losses than squared" : "--tune gcv, loo and ml are of squared loss");
    if (!squared && learning->tuning != GRAM_TUNING_NONE) learning->tuning = GRAM_TUNING_CV;
    if (!squared && own->shape.value == GRAM_SPLINE_THIN_PLATE)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Use --spline additive, or --method krr --loss.",
                                  "--spline thin-plate is for squared loss");
    if (learning->tuning == GRAM_TUNING_CV && gram_learning_folds(learning) < 2)
        return gram_learning_fail_data(learning, "Give --lambda L.", "too few rows to choose lambda by folds");
    return GRAM_OK;
}

static gram_status find_options(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const spline_settings *own = learning->settings;
    spline_state *state = learning->own;
    gram_spline_options *o = &state->options;
    gram_spline_options_init(o, sizeof *o);
    o->order = own->order;
    o->shape = (gram_spline_shape)own->shape.value;
    o->lambda = own->lambda;
    o->period = isnan(own->period) ? 0 : own->period;
    o->bands = learning->data->d > 1; /* of one feature predictions make them anew */
    o->loss = own->quantile ? GRAM_SPLINE_LOSS_QUANTILE : (gram_spline_loss)own->loss.value;
    if (!isnan(own->epsilon)) o->epsilon = own->epsilon;
    if (!isnan(own->delta)) o->delta = own->delta;
    if (isnan(own->delta) && o->loss == GRAM_SPLINE_LOSS_HUBER) TRY(gram_learning_huber(learning, &o->delta));
    if (learning->tuning == GRAM_TUNING_CV) o->folds = gram_learning_folds(learning);
    o->groups = learning->groups;
    o->ordered = learning->ordered;
    state->levels[0] = 0.5;
    state->count = own->quantile ? gram_learning_levels(own->quantile, MOST_LEVELS, state->levels) : 1;
done:
    return status;
}

static gram_status plan_curve(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const spline_settings *own = learning->settings;
    const double n = (double)learning->n, m = (double)own->order, q = isnan(own->period) ? m : 2 * m;
    const double bytes = 8 * n * (14 + 4 * m + m * (q + m + 1));
    TRY(gram_learning_room(learning, bytes, "Use fewer rows, or more --memory.", "a spline through"));
    gram_learning_plan(learning, "state space, f64", (size_t)bytes, n * (0.1 + 0.06 * m * m * m) * 1e-6,
                       "time and memory grow with the rows");
done:
    return status;
}

static gram_status plan_sum(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const spline_settings *own = learning->settings;
    const int64_t n = learning->n, d = learning->data->d;
    const double bytes = gram_sum_bytes(n, d, (int)own->order), p = (double)(d * gram_sum_knots(n));
    if (!isnan(own->period))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Choose one with --features.",
                                  "--period is for one feature, and there are %" PRId64, d);
    if (((const spline_state *)learning->own)->count > 1)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Give one level, or choose a feature with --features.",
                                  "several levels of --quantile are for one feature, and there are %" PRId64, d);
    if (learning->tuning == GRAM_TUNING_LOO)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Use --tune gcv or --tune ml.",
                                  "--tune loo is for one feature, and there are %" PRId64, d);
    TRY(gram_learning_room(learning, bytes, "Use fewer features, or more --memory.", "an additive spline of"));
    gram_learning_plan(learning, "additive, f64", (size_t)bytes,
                       2e-10 * p * p * p + 2e-9 * (double)(n * 4 * own->order * own->order * d * d),
                       "one equation for each knot");
done:
    return status;
}

static gram_status plan_plate(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const spline_settings *own = learning->settings;
    const int64_t d = learning->data->d;
    const double n = (double)learning->n, bytes = gram_plate_bytes(learning->n);
    if (d < 2 || d > 3 || 2 * own->order <= d)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Choose 2 or 3 with --features, or --order 2 to 4.",
                                  "--spline thin-plate of order %" PRId64 " is not for %" PRId64 " feature%s",
                                  own->order, d, d == 1 ? "" : "s");
    if (!isnan(own->period))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave one out.", "--period is for one feature");
    TRY(gram_learning_room(learning, bytes, "Use fewer rows, --spline additive, or more --memory.",
                           "a thin plate through"));
    gram_learning_plan(learning, "thin plate, f64", (size_t)bytes, 4e-9 * n * n * n, "one eigenproblem of all rows");
done:
    return status;
}

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    spline_state *state = NULL;
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    TRY(gram_learning_one_target(learning, "a spline", "Choose one with --target."));
    TRY(check_tuning(learning));
    TRY(find_options(learning));
    if (state->options.shape == GRAM_SPLINE_THIN_PLATE)
        TRY(plan_plate(learning));
    else
        TRY(learning->data->d == 1 ? plan_curve(learning) : plan_sum(learning));
done:
    return status;
}

/* ---- the fit ---- */

static gram_criterion criterion_of(gram_tuning tuning)
{
    return tuning == GRAM_TUNING_LOO  ? GRAM_CRITERION_LOO
           : tuning == GRAM_TUNING_ML ? GRAM_CRITERION_ML
                                      : GRAM_CRITERION_GCV;
}

static gram_status advise(gram_learning *learning, gram_status status)
{
    const char *message = gram_context_message(learning->context), *who = "spline_fit: ";
    if (status == GRAM_ERROR_DATA)
        return gram_learning_fail_data(learning, "Use more rows, other --features, or a lower --order.", "%s",
                                       message + (strncmp(message, who, strlen(who)) == 0 ? strlen(who) : 0));
    if (status == GRAM_ERROR_NUMERICAL)
        (void)gram_advise(learning->context, status,
                          learning->data->d > 1 ? "Leave out a feature that others make, with --ignore."
                                                : "Change --lambda or --order, or --scale the feature.");
    return status;
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    spline_state *state = learning->own;
    gram_spline_options o = state->options;
    o.criterion = criterion_of(learning->tuning);
    o.weights = learning->data->weights;
    for (int64_t k = 0; k < state->count; k++) {
        o.quantile = state->levels[k];
        TRY(advise(learning,
                   gram_spline_fit(learning->context, learning->points, learning->data->y, &o, &state->splines[k])));
        state->lambdas[k] = gram_spline_get_report(state->splines[k])->lambda;
    }
    TRY(gram_spline_function(learning->context, state->count, state->splines, &state->function));
    learning->kernel = gram_kernel_retain(gram_function_kernel(state->function));
done:
    return status;
}

static void forget(gram_learning *learning)
{
    spline_state *state = learning->own;
    if (!state) return;
    gram_function_release(state->function);
    for (int64_t k = 0; k < state->count; k++) gram_spline_destroy(state->splines[k]);
}

/* With the row itself left out, where that is known: it does not flatter. Of several quantiles the middle one. */
static gram_status fitted(gram_learning *learning, double *f, const char **what)
{
    const spline_state *state = learning->own;
    const gram_spline *spline = state->splines[state->count / 2];
    const double *left = gram_spline_loo_residuals(spline), *values = gram_spline_fitted(spline);
    const int known = !isnan(gram_spline_get_report(spline)->loo_rmse);
    const int odds = state->options.loss == GRAM_SPLINE_LOSS_LOGISTIC;
    for (int64_t i = 0; i < learning->data->n; i++) {
        f[i] = known ? learning->data->y[i] - left[i] : values[i];
        if (odds) f[i] = 1 / (1 + exp(-f[i]));
    }
    *what = known ? "leave-one-out prediction" : "fitted value";
    return GRAM_OK;
}

/* ---- the model ---- */

static void keep_loss(gram_keeper *keeper, const gram_learning *learning)
{
    const spline_state *state = learning->own;
    const gram_spline_options *o = &state->options;
    const int chosen = learning->tuning != GRAM_TUNING_NONE, folds = learning->tuning == GRAM_TUNING_CV;
    double loss = 0;
    if (o->loss != GRAM_SPLINE_LOSS_SQUARED) gram_keep_text(keeper, "loss", gram_spline_loss_name(o->loss));
    if (o->loss == GRAM_SPLINE_LOSS_HUBER) gram_keep_number(keeper, "delta", o->delta);
    if (o->loss == GRAM_SPLINE_LOSS_INSENSITIVE) gram_keep_number(keeper, "epsilon", o->epsilon);
    if (o->loss == GRAM_SPLINE_LOSS_QUANTILE) gram_keep_array(keeper, "quantiles", 1, state->count, state->levels);
    if (state->count > 1) gram_keep_array(keeper, "lambdas", 1, state->count, state->lambdas);
    for (int64_t k = 0; k < state->count; k++) loss += gram_spline_get_report(state->splines[k])->criterion;
    if (chosen && folds) gram_keep_number(keeper, "cv_loss", loss);
}

static gram_status keep(gram_learning *learning)
{
    const spline_state *state = learning->own;
    const gram_spline_report *report = gram_spline_get_report(state->splines[0]);
    gram_keeper keeper = gram_keep_begin(learning, state->function);
    gram_spline_keep(&keeper, state->count, state->splines);
    keep_loss(&keeper, learning);
    gram_keep_tuning(&keeper, learning, NULL);
    if (learning->tuning != GRAM_TUNING_NONE) {
        gram_keep_integer(&keeper, "tuned_rows", report->tuned_rows);
        gram_keep_integer(&keeper, "evaluations", report->evaluations);
        gram_keep_number(&keeper, "criterion", report->criterion);
        gram_keep_integer(&keeper, "at_bound", report->at_bound != 0);
    }
    return keeper.status;
}

static void report_spline(gram_report *report)
{
    static const char *const DEGREES[] = {"", "linear", "cubic", "quintic", "septic"};
    const double order = gram_report_number(report, "order");
    const char *kind = gram_report_text(report, "spline");
    gram_report_row(report, "spline");
    gram_report_add(report, "%s%s%s", kind && strcmp(kind, "line") != 0 ? kind : "",
                    kind && strcmp(kind, "line") != 0 && strcmp(kind, "thin-plate") != 0 ? ", " : "",
                    order >= 1 && order <= GRAM_SPLINE_ORDERS && !(kind && strcmp(kind, "thin-plate") == 0)
                        ? DEGREES[(int)order]
                        : "");
    gram_report_part(report, "order", "order", GRAM_WHOLE);
    gram_report_part(report, "knots", "knots", GRAM_WHOLE);
    gram_report_part(report, "period", "period", GRAM_FINE);
    gram_report_ridge(report);
    gram_report_list(report, "lambdas", "lambdas", GRAM_FINE - 1);
    gram_report_list(report, "  dimensions", "freedoms", GRAM_FINE - 1);
    gram_report_tuning(report);
    if (gram_report_text(report, "loss")) {
        gram_report_row(report, "loss");
        gram_report_add(report, "%s", gram_report_text(report, "loss"));
        gram_report_part(report, "delta", "delta", GRAM_FINE);
        gram_report_part(report, "epsilon", "epsilon", GRAM_FINE);
        gram_report_part(report, "on these rows", "train_loss", GRAM_FINE);
        gram_report_part(report, "left-out folds", "cv_loss", GRAM_FINE);
        gram_report_list(report, "  levels", "quantiles", GRAM_FINE);
        gram_report_solution(report);
    } else
        gram_report_errors(report, 1);
    gram_report_row(report, "function");
    gram_report_part(report, "effective dimension", "effective_dimension", GRAM_FINE);
    gram_report_part(report, "roughness", "roughness", GRAM_FINE);
    gram_report_part(report, "deviation of the noise", "sigma", GRAM_FINE);
    gram_report_row(report, "log likelihood");
    gram_report_part(report, "", "log_marginal_likelihood", GRAM_FINE + 3);
}

static void elsewhere(const gram_model *model, char *text, size_t size)
{
    char number[GRAM_NUMBER_SIZE];
    const double lambda = gram_kept_number(model, "lambda", NAN), n = gram_kept_number(model, "n", NAN);
    if (gram_kept_number(model, "order", 0) == 2 && lambda > 0 && !gram_kept_text(model, "loss") &&
        isnan(gram_kept_number(model, "period", NAN)) && !gram_model_array(model, "plate_scale", NULL, NULL))
        (void)snprintf(text, size, "scipy's make_smoothing_spline(lam=%s)", gram_number_format(n * lambda, number));
}

static const gram_kept_words WORDS[] = {{"spline", "line periodic additive thin-plate"},
                                        {"loss", "absolute huber quantile insensitive logistic"},
                                        {NULL, NULL}};

extern const gram_method gram_method_spline;

static const gram_comparable COMPARED[] = {
    {1u << GRAM_TASK_REGRESSION, 11, NULL, 0, NULL},
    {0, 0, NULL, 0, NULL},
};

const gram_method gram_method_spline = {
    .name = "spline",
    .title = "smoothing splines",
    .formula = "f = argmin (1/n) sum_i (y_i - f(x_i))^2 + lam int (f^(m))^2,  m the order:\n"
               "a piecewise polynomial of degree 2m - 1; several features: a sum of one for each",
    .words = WORDS,
    .tasks = 1u << GRAM_TASK_REGRESSION,
    .compared = COMPARED,
    .intervals = 1,
    .unscaled = 1,
    .tuning = GRAM_TUNING_GCV,
    .python = {[GRAM_TASK_REGRESSION] = "SmoothingSpline"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(spline_settings),
    .implied_task = implied_task,
    .check = check,
    .plan = plan,
    .fit = fit,
    .keep = keep,
    .fitted = fitted,
    .forget = forget,
    .open = gram_spline_row_open,
    .evaluate = gram_spline_row_evaluate,
    .close = gram_spline_row_close,
    .report = report_spline,
    .elsewhere = elsewhere,
};

gram_status gram_spline_model(gram_context *context, const gram_spline *spline, gram_preparation *preparation,
                              gram_model **model)
{
    gram_status status = GRAM_OK;
    gram_function *function = NULL;
    if (!context || !model) return GRAM_ERROR_ARGUMENT;
    *model = NULL;
    FAIL_IF(!spline, context, GRAM_ERROR_ARGUMENT, "spline_model: spline is NULL");
    FAIL_IF(spline->sum.d > 0 && !spline->bands, context, GRAM_ERROR_ARGUMENT,
            "spline_model: the model of several columns keeps variances: fit it with bands");
    FAIL_IF(!isnan(spline->report.objective), context, GRAM_ERROR_UNSUPPORTED,
            "spline_model: models of other losses are the learner's (<gram/learn.h>)");
    gram_spline *const splines[] = {(gram_spline *)(uintptr_t)spline};
    TRY(gram_spline_function(context, 1, splines, &function));
    gram_keeper keeper =
        gram_keep_fit(context, &gram_method_spline, GRAM_TASK_REGRESSION, preparation, function, spline->report.n);
    gram_spline_keep(&keeper, 1, splines);
    status = gram_keep_end(&keeper, model);
done:
    gram_function_release(function);
    return status;
}

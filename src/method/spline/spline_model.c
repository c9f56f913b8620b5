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
} spline_settings;

typedef struct spline_state {
    gram_spline *spline;
    gram_function *function;
} spline_state;

static const gram_choice TUNINGS[] = {
    {"auto", GRAM_TUNING_AUTO, NULL, 0, 0}, {"gcv", GRAM_TUNING_GCV, NULL, 0, 0},
    {"loo", GRAM_TUNING_LOO, NULL, 0, 0},   {"ml", GRAM_TUNING_ML, NULL, 0, 0},
    {"none", GRAM_TUNING_NONE, NULL, 0, 0}, {NULL, 0, NULL, 0, 0},
};

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
    GRAM_TUNE_OPTION(spline_settings, "gcv (default), loo, ml (REML) or none", TUNINGS),
    {.name = "period",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(period),
     .argument = "P",
     .help = "a periodic spline: f(x + P) = f(x)",
     .above = 1,
     .elsewhere = "mgcv: bs=\"cp\", \"cc\""},
};

/* ---- the use and the plan ---- */

static gram_status check(gram_learning *learning)
{
    const spline_settings *own = learning->settings;
    if (isnan(own->lambda) && own->tuned.tune.value == GRAM_TUNING_NONE)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Give --lambda L, or --tune gcv.",
                                  "--tune none leaves --lambda open");
    return GRAM_OK;
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

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    spline_state *state = NULL;
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    TRY(gram_learning_one_target(learning, "a spline", "Choose one with --target."));
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

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const spline_settings *own = learning->settings;
    spline_state *state = learning->own;
    gram_spline_options options;
    gram_spline_options_init(&options, sizeof options);
    options.order = own->order;
    options.lambda = own->lambda;
    options.criterion = criterion_of(learning->tuning);
    options.weights = learning->data->weights;
    options.period = isnan(own->period) ? 0 : own->period;
    options.bands = learning->data->d > 1; /* of one feature predictions make them anew */
    status = gram_spline_fit(learning->context, learning->points, learning->data->y, &options, &state->spline);
    if (status == GRAM_ERROR_DATA) {
        const char *message = gram_context_message(learning->context), *who = "spline_fit: ";
        return gram_learning_fail_data(learning, "Use more rows, other --features, or a lower --order.", "%s",
                                       message + (strncmp(message, who, strlen(who)) == 0 ? strlen(who) : 0));
    }
    if (status == GRAM_ERROR_NUMERICAL)
        (void)gram_advise(learning->context, status,
                          learning->data->d > 1 ? "Leave out a feature that others make, with --ignore."
                                                : "Change --lambda, or --scale the feature.");
    TRY(status);
    TRY(gram_spline_function(learning->context, state->spline, &state->function));
    learning->kernel = gram_kernel_retain(gram_function_kernel(state->function));
done:
    return status;
}

static void forget(gram_learning *learning)
{
    spline_state *state = learning->own;
    if (!state) return;
    gram_function_release(state->function);
    gram_spline_destroy(state->spline);
}

/* With the row itself left out: it does not flatter. */
static gram_status fitted(gram_learning *learning, double *f, const char **what)
{
    const spline_state *state = learning->own;
    const double *left = gram_spline_loo_residuals(state->spline), *values = gram_spline_fitted(state->spline);
    const int known = !isnan(gram_spline_get_report(state->spline)->loo_rmse);
    for (int64_t i = 0; i < learning->data->n; i++) f[i] = known ? learning->data->y[i] - left[i] : values[i];
    *what = known ? "leave-one-out prediction" : "fitted value";
    return GRAM_OK;
}

/* ---- the model ---- */

static gram_status keep(gram_learning *learning)
{
    const spline_state *state = learning->own;
    const gram_spline_report *report = gram_spline_get_report(state->spline);
    gram_keeper keeper = gram_keep_begin(learning, state->function);
    gram_spline_keep(&keeper, state->spline);
    gram_keep_tuning(&keeper, learning, NULL);
    if (learning->tuning != GRAM_TUNING_NONE) {
        gram_keep_integer(&keeper, "tuned_rows", report->n);
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
                    kind && strcmp(kind, "line") != 0 ? ", " : "",
                    order >= 1 && order <= GRAM_SPLINE_ORDERS ? DEGREES[(int)order] : "");
    gram_report_part(report, "order", "order", GRAM_WHOLE);
    gram_report_part(report, "knots", "knots", GRAM_WHOLE);
    gram_report_part(report, "period", "period", GRAM_FINE);
    gram_report_ridge(report);
    gram_report_list(report, "lambdas", "lambdas", GRAM_FINE - 1);
    gram_report_list(report, "  dimensions", "freedoms", GRAM_FINE - 1);
    gram_report_tuning(report);
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
    if (gram_kept_number(model, "order", 0) == 2 && lambda > 0 && isnan(gram_kept_number(model, "period", NAN)))
        (void)snprintf(text, size, "scipy's make_smoothing_spline(lam=%s)", gram_number_format(n * lambda, number));
}

static const gram_kept_words WORDS[] = {{"spline", "line periodic additive"}, {NULL, NULL}};

extern const gram_method gram_method_spline;

const gram_method gram_method_spline = {
    .name = "spline",
    .title = "smoothing splines",
    .words = WORDS,
    .tasks = 1u << GRAM_TASK_REGRESSION,
    .intervals = 1,
    .unscaled = 1,
    .tuning = GRAM_TUNING_GCV,
    .python = {[GRAM_TASK_REGRESSION] = "SmoothingSpline"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(spline_settings),
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
    TRY(gram_spline_function(context, spline, &function));
    gram_keeper keeper =
        gram_keep_fit(context, &gram_method_spline, GRAM_TASK_REGRESSION, preparation, function, spline->report.n);
    gram_spline_keep(&keeper, spline);
    status = gram_keep_end(&keeper, model);
done:
    gram_function_release(function);
    return status;
}

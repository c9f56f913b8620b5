/* Bayesian linear regression with an unknown noise variance as a method of the learner. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "method/bayes/bayes.h"
#include "method/method.h"

static const double TOO_LARGE = 1e150;

typedef struct bayes_settings {
    gram_ridge_settings ridge; /* without its noise, which is what is not known */
    double prior_shape, prior_scale;
    int intercept;
} bayes_settings;

typedef struct bayes_state {
    double alpha; /* NaN: by the evidence */
    gram_bayes *bayes;
} bayes_state;

#define PLACE(field) offsetof(bayes_settings, field)

static const gram_option OPTIONS[] = {
    GRAM_LAMBDA_OPTION(bayes_settings),
    GRAM_ALPHA_OPTION(bayes_settings),
    {.name = "prior-shape",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(prior_shape),
     .argument = "A",
     .help = "of the inverse gamma prior of the noise variance (default 0)",
     .otherwise = "0",
     .elsewhere = "scikit-learn BayesianRidge: alpha_1, of 1/variance"},
    {.name = "prior-scale",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(prior_scale),
     .argument = "B",
     .help = "its scale, a variance (default 0: flat for its logarithm)",
     .otherwise = "0",
     .elsewhere = "scikit-learn BayesianRidge: alpha_2"},
    GRAM_INTERCEPT_OPTION(bayes_settings),
};

/* ---- the fit ---- */

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const bayes_settings *own = learning->settings;
    const double n = (double)learning->n, d = (double)learning->data->d;
    const double bytes = 8 * (d + 1) * (2 * (d + 1) + 2048 + 12 * d);
    bayes_state *state = NULL;
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    TRY(gram_learning_one_target(learning, "Bayesian linear regression", "Choose one with --target."));
    state->alpha = isnan(own->ridge.alpha) ? n * own->ridge.lambda : own->ridge.alpha;
    TRY(gram_learning_room(learning, bytes, "Use fewer features, or more --memory.", "Bayesian linear regression of"));
    gram_learning_plan(learning, "closed form, f64", (size_t)bytes, 4e-10 * n * d * d + 4e-9 * d * d * d,
                       "the posterior is known for every ridge");
done:
    return status;
}

/* Numbers whose squares could not be summed are named. */
static gram_status check_sizes(gram_learning *learning)
{
    const gram_prepared *data = learning->data;
    char column[128];
    for (int64_t i = 0; i < data->n; i++) {
        if (!(fabs(data->y[i]) < TOO_LARGE))
            return gram_learning_fail_data(learning, "Give the column in larger units.",
                                           "row %" PRId64 ": column '%s': so large that squares overflow",
                                           gram_learning_row(learning, i), gram_learning_target(learning));
        for (int64_t l = 0; l < data->d; l++) {
            if (fabs(data->x[i * data->d + l]) < TOO_LARGE) continue;
            (void)gram_preparation_column_name(learning->preparation, l, column, sizeof column);
            return gram_learning_fail_data(learning, "Leave --no-scale out, or give the column in larger units.",
                                           "row %" PRId64 ": column '%s': so large that squares overflow",
                                           gram_learning_row(learning, i), column);
        }
    }
    return GRAM_OK;
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const bayes_settings *own = learning->settings;
    bayes_state *state = learning->own;
    TRY(check_sizes(learning));
    gram_bayes_options options;
    gram_bayes_options_init(&options, sizeof options);
    options.alpha = state->alpha;
    options.shape = own->prior_shape;
    options.scale = own->prior_scale;
    options.weights = learning->data->weights;
    options.intercept = own->intercept;
    status = gram_bayes_fit(learning->context, learning->points, learning->data->y, &options, &state->bayes);
    if (status == GRAM_ERROR_NUMERICAL)
        return gram_learning_fail(learning, status, "Give --alpha above 0, or leave --lambda and --alpha out.",
                                  "with a flat prior the columns must be independent on these rows, and they are not");
    if (status == GRAM_ERROR_DATA)
        return gram_learning_fail_data(learning, "Use more rows, --prior-shape and --prior-scale, or --alpha above 0.",
                                       "%" PRId64 " rows leave no degree of freedom for the noise", learning->n);
    TRY(status);
    learning->kernel = gram_kernel_retain(gram_function_kernel(gram_bayes_function(state->bayes)));
done:
    return status;
}

static void forget(gram_learning *learning)
{
    bayes_state *state = learning->own;
    if (state) gram_bayes_destroy(state->bayes);
}

static gram_status fitted(gram_learning *learning, double *f, const char **what)
{
    const double *left_out = gram_bayes_loo_mean(((const bayes_state *)learning->own)->bayes);
    for (int64_t i = 0; i < learning->data->n; i++) f[i] = left_out[i];
    *what = "leave-one-out prediction";
    return GRAM_OK;
}

/* ---- the model ---- */

static const gram_keep_place NUMBERS[] = {
    {"noise", offsetof(gram_bayes_report, noise)},
    {"noise_lower", offsetof(gram_bayes_report, noise_lower)},
    {"noise_upper", offsetof(gram_bayes_report, noise_upper)},
    {"noise_shape", offsetof(gram_bayes_report, shape)},
    {"noise_scale", offsetof(gram_bayes_report, scale)},
    {"freedom", offsetof(gram_bayes_report, freedom)},
    {"log_marginal_likelihood", offsetof(gram_bayes_report, log_evidence)},
    {"effective_dimension", offsetof(gram_bayes_report, effective_dimension)},
    {"constant", offsetof(gram_bayes_report, constant)},
    {"centre_mean", offsetof(gram_bayes_report, centre_mean)},
    {"centre_std", offsetof(gram_bayes_report, centre_deviation)},
    {"train_rmse", offsetof(gram_bayes_report, train_rmse)},
    {"train_r2", offsetof(gram_bayes_report, train_r2)},
    {"loo_rmse", offsetof(gram_bayes_report, loo_rmse)},
    {"loo_r2", offsetof(gram_bayes_report, loo_r2)},
    {"loo_log_density", offsetof(gram_bayes_report, loo_log_density)},
    {"loo_coverage", offsetof(gram_bayes_report, loo_coverage)},
};

/* Deviations of the weights, where they have one. */
static void keep_weights(gram_keeper *keeper, const gram_bayes *bayes)
{
    const gram_bayes_posterior *p = gram_bayes_get_posterior(bayes);
    const double noise = gram_bayes_get_report(bayes)->noise;
    double *deviations = NULL;
    gram_keep_array(keeper, "weight_mean", 1, p->d, p->weights);
    gram_keep_array(keeper, "weight_factor", p->d, p->d, p->factor);
    gram_keep_array(keeper, "weight_centre", 1, p->d, p->centre);
    gram_keep_number(keeper, "weight_lift", p->lift);
    if (isnan(noise) || keeper->status < 0) return;
    keeper->status = gram_take(keeper->context, "bayes_model", p->d, sizeof *deviations, (void **)&deviations);
    for (int64_t l = 0; l < p->d && keeper->status >= 0; l++) {
        double sum = 0;
        for (int64_t j = 0; j < p->d; j++) sum += p->factor[l * p->d + j] * p->factor[l * p->d + j];
        deviations[l] = sqrt(noise * sum);
    }
    gram_keep_array(keeper, "weight_std", 1, p->d, deviations);
    gram_give(keeper->context, deviations);
}

static void keep_fit(gram_keeper *keeper, const gram_bayes *bayes)
{
    const gram_bayes_report *report = gram_bayes_get_report(bayes);
    gram_keep_number(keeper, "lambda", report->alpha / (double)report->n);
    gram_keep_number(keeper, "alpha", report->alpha);
    gram_keep_integer(keeper, "intercept", report->intercept);
    gram_keep_numbers(keeper, report, NUMBERS, sizeof NUMBERS / sizeof *NUMBERS);
    keep_weights(keeper, bayes);
}

static gram_status keep(gram_learning *learning)
{
    const bayes_settings *own = learning->settings;
    const bayes_state *state = learning->own;
    gram_keeper keeper = gram_keep_begin(learning, gram_bayes_function(state->bayes));
    keep_fit(&keeper, state->bayes);
    gram_keep_text(&keeper, "tune", isnan(state->alpha) ? "ml" : "none");
    if (isnan(state->alpha)) gram_keep_integer(&keeper, "at_bound", gram_bayes_get_report(state->bayes)->at_bound);
    gram_keep_number(&keeper, "prior_shape", own->prior_shape);
    gram_keep_number(&keeper, "prior_scale", own->prior_scale);
    return keeper.status;
}

/* ---- predictions ---- */

/* NULL, or what is missing. */
static const char *find_posterior(const gram_model *model, gram_bayes_posterior *p)
{
    const gram_function *function = gram_model_function(model);
    const int64_t d = gram_points_dimension(gram_function_centres(function));
    const double shape = gram_kept_number(model, "noise_shape", NAN);
    const double scale = gram_kept_number(model, "noise_scale", NAN);
    *p = (gram_bayes_posterior){.d = d,
                                .weights = gram_kept_array(model, "weight_mean", 1, d),
                                .centre = gram_kept_array(model, "weight_centre", 1, d),
                                .factor = gram_kept_array(model, "weight_factor", d, d),
                                .constant = gram_function_constant(function)[0],
                                .spread = scale / shape,
                                .lift = gram_kept_number(model, "weight_lift", NAN)};
    if (!(shape > 0) || !(scale >= 0)) return "a linear regression without the posterior of its noise";
    if (!p->weights || !p->centre || !p->factor || !(p->lift >= 0))
        return "a linear regression without the posterior of its weights";
    return NULL;
}

static gram_status add_columns(gram_context *context, gram_predictor *predictor, double freedom)
{
    gram_status status = GRAM_OK;
    gram_columns *columns = &predictor->columns;
    const double level = predictor->wish.interval > 0 ? predictor->wish.interval : 0.95;
    TRY(gram_predictor_means(context, predictor));
    columns->freedom = freedom;
    columns->half_width = gram_student_quantile(freedom, 0.5 + 0.5 * level);
    TRY(gram_predictor_intervals(context, predictor));
    columns->spread = columns->count; /* not shown; it costs little */
    columns->ld = columns->count + 1;
done:
    return status;
}

static gram_status open_bayes(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    const gram_predict_options *wish = &predictor->wish;
    const double freedom = gram_kept_number(predictor->model, "freedom", NAN);
    gram_bayes_posterior *p = NULL;
    if (wish->prob || wish->terms)
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, "It predicts means and intervals.",
                                   wish->prob ? "--prob is for classifiers" : "--terms is for sums of kernels");
    TRY(gram_arena_take(context, &predictor->arena, "predictor", 1, sizeof *p, (void **)&p));
    predictor->own = p;
    const char *missing = find_posterior(predictor->model, p);
    if (missing || !(freedom > 0))
        return gram_predictor_damaged(context, predictor,
                                      missing ? missing : "a linear regression without its freedom");
    if (wish->std && freedom <= 2)
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, "--interval P works; so do more rows.",
                                   "--std: Student's t with 2 degrees of freedom or fewer has no standard deviation");
    TRY(add_columns(context, predictor, freedom));
done:
    return status;
}

static void put(int64_t column, double value, double *row)
{
    if (column >= 0) row[column] = value;
}

/* Squared scales: of what is shown, and of a new observation. */
static void put_row(const gram_columns *columns, double mean, double square, double observed, double *row)
{
    const double scale = sqrt(square), freedom = columns->freedom;
    put(0, mean, row);
    put(columns->spread, sqrt(observed), row);
    put(columns->std, scale * sqrt(freedom / (freedom - 2)), row);
    put(columns->lower, mean - columns->half_width * scale, row);
    put(columns->upper, mean + columns->half_width * scale, row);
}

static gram_status evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                            double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const gram_bayes_posterior *p = predictor->own;
    const gram_columns *columns = &predictor->columns;
    const int plain = columns->std < 0 && columns->lower < 0 && !(predictor->wish.scores && places->scored);
    double *work = NULL, mean, leverage = 0;
    TRY(gram_take(context, "predict", p->d, sizeof *work, (void **)&work));
    for (int64_t i = 0; i < places->n; i++) {
        const double v = places->weights ? places->weights[i] : 1;
        gram_bayes_at(p, places->x + i * places->d, &mean, plain ? NULL : &leverage, work);
        const double noise = v > 0 ? 1 / v : 1, shown = predictor->wish.latent ? 0 : noise;
        put_row(columns, mean, p->spread * (leverage + shown), plain ? NAN : p->spread * (leverage + noise),
                values + i * ldv);
    }
done:
    gram_give(context, work);
    return status;
}

/* ---- the report ---- */

static void report_noise(gram_report *report)
{
    gram_report_row(report, "noise");
    gram_report_part(report, "variance", "noise", GRAM_FINE);
    gram_report_part(report, "with probability 0.95 from", "noise_lower", GRAM_FINE);
    gram_report_add(report, " to ");
    gram_report_value(report, GRAM_FINE, gram_report_number(report, "noise_upper"));
    gram_report_row(report, "  posterior");
    gram_report_part(report, "inverse gamma, shape", "noise_shape", GRAM_FINE);
    gram_report_part(report, "scale", "noise_scale", GRAM_FINE);
    gram_report_add(report, "; of weights and predictions: Student's t with ");
    gram_report_value(report, GRAM_FINE, gram_report_number(report, "freedom"));
    gram_report_add(report, " degrees of freedom");
    if (gram_report_number(report, "prior_shape") == 0 && gram_report_number(report, "prior_scale") == 0) return;
    gram_report_row(report, "  prior");
    gram_report_part(report, "inverse gamma, shape", "prior_shape", GRAM_FINE);
    gram_report_part(report, "scale", "prior_scale", GRAM_FINE);
}

static void report_bayes(gram_report *report)
{
    const char *tune = gram_report_text(report, "tune");
    gram_report_row(report, "alpha");
    gram_report_part(report, "", "alpha", GRAM_FINE);
    gram_report_add(report, ": weights have the prior variance noise/alpha");
    if (tune && strcmp(tune, "ml") == 0) gram_report_add(report, "; by the evidence");
    if (gram_report_number(report, "at_bound") > 0) gram_report_add(report, ", at the end of its range");
    report_noise(report);
    gram_report_row(report, "intercept");
    if (gram_report_number(report, "intercept") == 0)
        gram_report_add(report, "none");
    else
        gram_report_part(report, "", "centre_mean", GRAM_FINE);
    gram_report_part(report, "deviation", "centre_std", GRAM_FINE);
    if (gram_report_number(report, "intercept") != 0) gram_report_add(report, ", at the mean of the features");
    gram_report_errors(report, 1);
    gram_report_row(report, "function");
    gram_report_part(report, "effective dimension", "effective_dimension", GRAM_FINE);
    if (isnan(gram_report_number(report, "log_marginal_likelihood"))) return;
    gram_report_row(report, "log evidence");
    gram_report_part(report, "", "log_marginal_likelihood", GRAM_FINE + 3);
    if (isnan(gram_report_number(report, "loo_log_density"))) return;
    gram_report_row(report, "  left out");
    gram_report_part(report, "mean log density", "loo_log_density", GRAM_FINE);
    gram_report_part(report, "95 % intervals cover", "loo_coverage", GRAM_FINE);
}

extern const gram_method gram_method_bayes;

static const gram_comparable COMPARED[] = {
    {1u << GRAM_TASK_REGRESSION, 3, NULL, 0, NULL},
    {0, 0, NULL, 0, NULL},
};

const gram_method gram_method_bayes = {
    .name = "bayes",
    .title = "Bayesian linear regression with an unknown noise variance",
    .formula = "y = b + w'x + e,  w ~ N(0, (s2/alpha) I),  e ~ N(0, s2),  s2 inverse gamma;  A = X'X + alpha I,\n"
               "w | y is Student's t about A^-1 X'y, and so is a new y about its mean",
    .tasks = 1u << GRAM_TASK_REGRESSION,
    .compared = COMPARED,
    .intervals = 1,
    .python = {[GRAM_TASK_REGRESSION] = "BayesianLinearRegression"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(bayes_settings),
    .plan = plan,
    .fit = fit,
    .keep = keep,
    .fitted = fitted,
    .forget = forget,
    .open = open_bayes,
    .evaluate = evaluate,
    .report = report_bayes,
};

gram_status gram_bayes_model(gram_context *context, const gram_bayes *bayes, gram_preparation *preparation,
                             gram_model **model)
{
    gram_keeper keeper = gram_keep_fit(context, &gram_method_bayes, GRAM_TASK_REGRESSION, preparation,
                                       gram_bayes_function(bayes), gram_bayes_get_report(bayes)->n);
    keep_fit(&keeper, bayes);
    return gram_keep_end(&keeper, model);
}

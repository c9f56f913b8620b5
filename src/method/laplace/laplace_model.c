/* Gaussian processes for classes, counts and heavy tails as methods of the learner: Laplace's approximation. Three rows, since
 * counts have another default kernel and the likelihood says what is learnt. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/order_statistics.h"
#include "base/sized_struct.h"
#include "method/method.h"
#include <gram/laplace.h>

typedef struct laplace_settings {
    gram_tuned_settings tuned;
    gram_chosen likelihood, solver, approximation;
    double student, tolerance;
} laplace_settings;

typedef struct laplace_state {
    gram_laplace_options options;
    gram_laplace_tune_report tuned;
    double *y;                /* classes, counts, or the target less the offset */
    double offset, deviation; /* for heavy tails, robust ones: the median, and by the quartiles; else 0 and 1 */
    gram_laplace *laplace;
} laplace_state;

enum { GAUSSIAN, POISSON, STUDENT };

static const gram_choice TUNINGS[] = {{"auto", GRAM_TUNING_AUTO, NULL, 0, 0},
                                      {"ml", GRAM_TUNING_ML, NULL, 0, 0},
                                      {"none", GRAM_TUNING_NONE, NULL, 0, 0},
                                      {NULL, 0, NULL, 0, 0}};
static const gram_choice LIKELIHOODS[] = {{"gaussian", GAUSSIAN, NULL, 0, 0},
                                          {"poisson", POISSON, NULL, 0, 0},
                                          {"student", STUDENT, NULL, 0, 0},
                                          {NULL, 0, NULL, 0, 0}};
enum { MATCHED, MODE };
static const gram_choice APPROXIMATIONS[] = {
    {"matched", MATCHED, NULL, 0, 0}, {"laplace", MODE, NULL, 0, 0}, {NULL, 0, NULL, 0, 0}};
static const gram_choice SOLVERS[] = {{"auto", 0, NULL, 0, 0}, {"exact", 1, NULL, 0, 0}, {NULL, 0, NULL, 0, 0}};

#define PLACE(field) offsetof(laplace_settings, field)

static const gram_option OPTIONS[] = {
    {.name = "likelihood",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(likelihood),
     .argument = "L",
     .help = "gaussian (default), poisson for counts, student for outliers",
     .otherwise = "gaussian",
     .choices = LIKELIHOODS},
    GRAM_TUNE_OPTION(laplace_settings, "ml (default) or none", TUNINGS),
    GRAM_ARD_OPTION(laplace_settings),
    {.name = "solver",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(solver),
     .argument = "NAME",
     .help = "auto or exact",
     .otherwise = "auto",
     .choices = SOLVERS},
    GRAM_TOLERANCE_OPTION(laplace_settings),
    {.name = "approximation",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(approximation),
     .argument = "NAME",
     .help = "predictions from tilted means (matched, default) or the mode (laplace)",
     .otherwise = "matched",
     .choices = APPROXIMATIONS},
    {.name = "student",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(student),
     .argument = "NU",
     .help = "of --likelihood student: degrees of freedom (default 4)",
     .above = 1},
};

enum { WITHOUT_STUDENT = sizeof OPTIONS / sizeof *OPTIONS - 1 };

static int is_likelihood(const gram_learning *learning, const char *name)
{
    const char *given = gram_given_text(learning, "likelihood");
    return given && strcmp(given, name) == 0;
}

static int takes_classes(const gram_learning *learning)
{
    return learning->task == GRAM_TASK_CLASSIFICATION;
}

static int takes_poisson(const gram_learning *learning)
{
    return is_likelihood(learning, "poisson");
}

static int takes_student(const gram_learning *learning)
{
    return is_likelihood(learning, "student");
}

/* ---- what is observed ---- */

/* The median, and what would be the deviation of normal numbers with those quartiles; 1 if nothing varies. */
static gram_status find_spread(gram_learning *learning, double *median, double *deviation)
{
    const int64_t n = learning->data->n;
    double *sorted = NULL;
    const gram_status status = gram_learning_take(learning, n + 1, sizeof *sorted, &sorted);
    if (status < 0) return status;
    memcpy(sorted, learning->data->y, (size_t)n * sizeof *sorted);
    gram_sort_numbers(n, sorted);
    *median = sorted[n / 2];
    *deviation = (sorted[3 * n / 4] - sorted[n / 4]) / 1.349;
    if (!(*deviation > 0)) *deviation = sorted[n - 1] > sorted[0] ? sorted[n - 1] - sorted[0] : 1;
    return GRAM_OK;
}

static gram_likelihood likelihood_of(const gram_learning *learning)
{
    if (learning->classes.count > 0)
        return learning->classes.count == 2 ? GRAM_LIKELIHOOD_LOGISTIC : GRAM_LIKELIHOOD_SOFTMAX;
    return takes_poisson(learning) ? GRAM_LIKELIHOOD_POISSON : GRAM_LIKELIHOOD_STUDENT;
}

static gram_status find_observations(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const laplace_settings *own = learning->settings;
    laplace_state *state = learning->own;
    const gram_prepared *data = learning->data;
    gram_laplace_options *o = &state->options;
    state->deviation = 1;
    gram_laplace_options_init(o, sizeof *o);
    if (!isnan(own->tolerance)) o->tolerance = own->tolerance;
    if (own->student > 0) o->nu = own->student;
    o->correction = own->approximation.value != MODE;
    o->classes = learning->classes.count;
    o->likelihood = likelihood_of(learning);
    TRY(gram_learning_take(learning, data->n + 1, sizeof *state->y, &state->y));
    if (o->likelihood == GRAM_LIKELIHOOD_STUDENT) {
        TRY(find_spread(learning, &state->offset, &state->deviation));
        o->scale = 0.3 * state->deviation;
    }
    for (int64_t i = 0; i < data->n; i++)
        state->y[i] = learning->labels ? learning->labels[i] : data->y[i] - state->offset;
done:
    return status;
}

static gram_status check_counts(gram_learning *learning)
{
    const double *y = learning->data->y;
    for (int64_t i = 0; i < learning->data->n && takes_poisson(learning); i++)
        if (y[i] < 0 || y[i] != floor(y[i]))
            return gram_learning_fail_data(
                learning, "Counts are 0, 1, 2, ...; --likelihood gaussian or student takes any numbers.",
                "row %" PRId64 ": column '%s': %g is not a count", gram_learning_row(learning, i),
                gram_learning_target(learning), y[i]);
    return GRAM_OK;
}

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const double n = (double)learning->n;
    const double outputs = learning->classes.count <= 2 ? 1 : (double)learning->classes.count;
    laplace_state *state = NULL;
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    TRY(gram_learning_one_target(learning, "a Gaussian process", "Choose one with --target."));
    TRY(check_counts(learning));
    TRY(find_observations(learning));
    const double bytes = 8 * n * n * (2 + 0.5 * outputs);
    TRY(gram_learning_room(learning, bytes, "Use fewer rows, another --method, or more --memory.",
                           "Laplace's approximation on"));
    gram_learning_plan(learning, "laplace, f64", (size_t)bytes, 10 * outputs * n * n * n * 1e-11,
                       "Newton steps to the mode on the whole matrix");
done:
    return status;
}

/* ---- the fit ---- */

static gram_status tune(gram_learning *learning, gram_kernel *start)
{
    laplace_state *state = learning->own;
    gram_laplace_tune_options options;
    gram_laplace_tune_options_init(&options, sizeof options);
    options.laplace = &state->options;
    options.ard = gram_learning_ard(learning);
    state->tuned.size = sizeof state->tuned;
    const gram_status status = gram_laplace_tune(learning->context, start, learning->points, state->y, &options,
                                                 &learning->kernel, &state->options.scale, &state->tuned);
    return status == GRAM_NOT_CONVERGED ? GRAM_OK : status;
}

/* Amplitudes of heavy-tailed observations are in their own units; where none is given they start from the data. */
static gram_status choose(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const laplace_state *state = learning->own;
    gram_kernel *start = NULL;
    int64_t amplitudes;
    if (state->options.likelihood == GRAM_LIKELIHOOD_STUDENT)
        TRY(gram_learning_set_amplitudes(learning->context, learning->written, state->deviation * state->deviation,
                                         &amplitudes, &start));
    else
        start = gram_kernel_retain(learning->written);
    TRY(learning->tuning == GRAM_TUNING_NONE
            ? gram_kernel_resolve(learning->context, start, learning->points, &learning->kernel)
            : tune(learning, start));
done:
    gram_kernel_release(start);
    return status;
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const laplace_settings *own = learning->settings;
    laplace_state *state = learning->own;
    TRY(choose(learning));
    TRY(gram_laplace_fit(learning->context, learning->kernel, learning->points, state->y, &state->options,
                         &state->laplace));
    if (status != GRAM_NOT_CONVERGED) return status;
    const double optimality = gram_laplace_get_report(state->laplace)->optimality;
    if (gram_learning_is_near(own->tolerance, optimality)) return GRAM_OK;
    return gram_learning_fail(learning, GRAM_ERROR_NUMERICAL,
                              "Use a smaller amplitude, or ask for less with --tolerance T.",
                              "no convergence of the mode: its conditions are violated by %.2g", optimality);
done:
    return status;
}

static void forget(gram_learning *learning)
{
    laplace_state *state = learning->own;
    if (state) gram_laplace_destroy(state->laplace);
}

/* ---- the model ---- */

/* Of counts and numbers. A fit that explains its own rows less well than one number, the mean of counts or the median
 * of others, says so: by absolute errors, which a few outliers do not decide. */
static gram_status keep_training_error(gram_keeper *keeper, gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const gram_prepared *data = learning->data;
    const laplace_state *state = learning->own;
    const double n = (double)data->n;
    double squares = 0, error = 0, constant = state->offset, constant_error = 0, *f = NULL;
    TRY(gram_learning_take(learning, data->n, sizeof *f, &f));
    TRY(gram_laplace_predict(learning->context, state->laplace, learning->points, f, 1));
    for (int64_t i = 0; i < data->n && takes_poisson(learning); i++) constant += data->y[i] / n;
    for (int64_t i = 0; i < data->n; i++) {
        const double left = data->y[i] - f[i] - state->offset;
        squares += left * left / n;
        error += fabs(left);
        constant_error += fabs(data->y[i] - constant);
    }
    gram_keep_number(keeper, "train_rmse", sqrt(squares));
    if (!(error <= constant_error * (1 + 1e-3))) gram_keep_integer(keeper, "worse_than_constant", 1);
done:
    return status;
}

static gram_status keep_training(gram_keeper *keeper, gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const laplace_state *state = learning->own;
    const int64_t n = learning->data->n, classes = learning->classes.count;
    double *p = NULL;
    TRY(gram_learning_take(learning, n * (classes + 1), sizeof *p, &p));
    double *labels = p + n * classes;
    TRY(gram_laplace_predict(learning->context, state->laplace, learning->points, p, classes));
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 1; c < classes; c++)
            if (p[i * classes + c] > p[i * classes + (int64_t)labels[i]]) labels[i] = (double)c;
    gram_keep_training(keeper, learning, labels, p);
done:
    return status;
}

static void keep_report(gram_keeper *keeper, const gram_laplace_report *report)
{
    gram_keep_text(keeper, "likelihood", gram_likelihood_name(report->likelihood));
    gram_keep_text(keeper, "solver", "laplace");
    gram_keep_integer(keeper, "iterations", report->iterations);
    gram_keep_number(keeper, "optimality", report->optimality);
    gram_keep_number(keeper, "jitter", report->jitter);
    gram_keep_number(keeper, "norm", report->norm);
    gram_keep_number(keeper, "log_marginal_likelihood", report->log_evidence);
}

static void keep_tuning(gram_keeper *keeper, const gram_learning *learning)
{
    const laplace_state *state = learning->own;
    gram_keep_tuning(keeper, learning, NULL);
    if (learning->tuning == GRAM_TUNING_NONE) return;
    gram_keep_integer(keeper, "tuned_rows", state->tuned.rows);
    gram_keep_integer(keeper, "evaluations", state->tuned.evaluations);
    gram_keep_integer(keeper, "at_bound", state->tuned.at_bound);
}

/* What finding the mode again needs, beside the classes. */
static void keep_observations(gram_keeper *keeper, const gram_laplace_options *options, int64_t n, const double *y)
{
    if (options->likelihood == GRAM_LIKELIHOOD_STUDENT) {
        gram_keep_number(keeper, "student", options->nu);
        gram_keep_number(keeper, "scale", options->scale);
    }
    if (!options->correction) gram_keep_integer(keeper, "correction", 0);
    gram_keep_array(keeper, "targets", n, 1, y);
}

static gram_status keep(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const laplace_state *state = learning->own;
    gram_keeper keeper = gram_keep_begin(learning, gram_laplace_function(state->laplace));
    keep_report(&keeper, gram_laplace_get_report(state->laplace));
    keep_tuning(&keeper, learning);
    TRY(keeper.status);
    if (learning->labels) {
        TRY(keep_training(&keeper, learning));
        gram_keep_classes(&keeper, &learning->classes);
    } else {
        TRY(keep_training_error(&keeper, learning));
        gram_keep_number(&keeper, "offset", state->offset);
    }
    keep_observations(&keeper, &state->options, learning->data->n, state->y);
    status = keeper.status;
done:
    return status;
}

static gram_status fitted(gram_learning *learning, double *f, const char **what)
{
    const laplace_state *state = learning->own;
    const gram_status status = gram_laplace_predict(learning->context, state->laplace, learning->points, f, 1);
    for (int64_t i = 0; i < learning->data->n && status >= 0; i++) f[i] += state->offset;
    *what = "fitted value";
    return status;
}

/* ---- predictions: averages over the posterior, which is found anew ---- */

static gram_status refit(gram_context *context, gram_predictor *predictor, const gram_laplace_options *options)
{
    const gram_function *function = gram_model_function(predictor->model);
    const gram_points *x = gram_function_centres(function);
    const double *y = gram_kept_array(predictor->model, "targets", gram_points_count(x), 1);
    gram_laplace *laplace = NULL;
    if (!y) return gram_predictor_damaged(context, predictor, "a classifier whose parts do not belong together");
    const gram_status status = gram_laplace_fit(context, gram_function_kernel(function), x, y, options, &laplace);
    predictor->own = laplace;
    return status;
}

static gram_status open_classes(gram_context *context, gram_predictor *predictor)
{
    gram_laplace_options options;
    const gram_status status = gram_predictor_classes(context, predictor);
    const char *name = gram_kept_text(predictor->model, "likelihood");
    if (status < 0) return status;
    gram_laplace_options_init(&options, sizeof options);
    options.classes = predictor->classes.count;
    options.likelihood = options.classes == 2 && !(name && strcmp(name, "softmax") == 0) ? GRAM_LIKELIHOOD_LOGISTIC
                                                                                         : GRAM_LIKELIHOOD_SOFTMAX;
    options.correction = gram_kept_number(predictor->model, "correction", 1) != 0;
    return refit(context, predictor, &options);
}

/* Counts and heavy tails: the mean of y, and its deviation. */
static gram_status open_values(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    const char *name = gram_kept_text(predictor->model, "likelihood");
    const gram_predict_options *wish = &predictor->wish;
    gram_laplace_options options;
    if (!name) return gram_predictor_damaged(context, predictor, "damaged: the name of its likelihood is not text");
    TRY(gram_predictor_means(context, predictor));
    if (wish->interval > 0 || wish->terms || wish->prob)
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, "Use --std.",
                                   "--interval, --terms and --prob are not for the likelihood %s", name);
    gram_laplace_options_init(&options, sizeof options);
    options.likelihood = strcmp(name, "poisson") == 0 ? GRAM_LIKELIHOOD_POISSON : GRAM_LIKELIHOOD_STUDENT;
    options.nu = gram_kept_number(predictor->model, "student", options.nu);
    options.scale = gram_kept_number(predictor->model, "scale", options.scale);
    options.correction = gram_kept_number(predictor->model, "correction", 1) != 0;
    TRY(refit(context, predictor, &options));
    if (!wish->std) return GRAM_OK;
    predictor->columns.std = predictor->columns.count;
    TRY(gram_predictor_column(context, predictor, "std", ""));
    gram_predictor_spread(predictor);
done:
    return status;
}

static void close_laplace(gram_predictor *predictor)
{
    gram_laplace_destroy(predictor->own);
}

/* The variance of an observation about what it scatters about, exp(f) or f. */
static double noise_of(const gram_predictor *predictor, double mean)
{
    const double nu = gram_kept_number(predictor->model, "student", 4);
    const double scale = gram_kept_number(predictor->model, "scale", 1);
    if (strcmp(gram_kept_text(predictor->model, "likelihood"), "poisson") == 0) return mean;
    return nu > 2 ? scale * scale * nu / (nu - 2) : INFINITY;
}

static gram_status evaluate_values(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                                   double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const double offset = gram_kept_number(predictor->model, "offset", 0);
    const int64_t std = predictor->columns.std, spread = predictor->columns.spread;
    double *work = NULL;
    TRY(gram_take(context, "predict", 2 * places->n, sizeof *work, (void **)&work));
    double *mean = work, *variance = mean + places->n;
    TRY(std >= 0 ? gram_laplace_spread(context, predictor->own, places->points, mean, variance)
                 : gram_laplace_predict(context, predictor->own, places->points, mean, 1));
    for (int64_t i = 0; i < places->n; i++) {
        values[i * ldv] = mean[i] + offset;
        if (std < 0) continue;
        const double noise = noise_of(predictor, mean[i]);
        values[i * ldv + spread] = sqrt(variance[i] + noise);
        values[i * ldv + std] = predictor->wish.latent ? sqrt(variance[i]) : values[i * ldv + spread];
    }
done:
    gram_give(context, work);
    return status;
}

static gram_status evaluate_classes(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                                    double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const int64_t classes = predictor->classes.count;
    double *p = NULL;
    TRY(gram_take(context, "predict", places->n * classes, sizeof *p, (void **)&p));
    TRY(gram_laplace_predict(context, predictor->own, places->points, p, classes));
    gram_predictor_put_probabilities(predictor, places->n, p, values, ldv);
done:
    gram_give(context, p);
    return status;
}

/* ---- the report ---- */

static void report_laplace(gram_report *report)
{
    gram_report_tuning(report);
    gram_report_solver(report);
    if (!isnan(gram_report_number(report, "scale"))) {
        gram_report_row(report, "likelihood");
        if (gram_report_text(report, "likelihood"))
            gram_report_add(report, "%s", gram_report_text(report, "likelihood"));
        gram_report_part(report, "degrees of freedom", "student", GRAM_FINE);
        gram_report_part(report, "scale", "scale", GRAM_FINE);
    }
    gram_report_accuracy(report);
    gram_report_errors(report, 0);
    if (gram_report_number(report, "worse_than_constant") > 0) {
        gram_report_row(report, "caution");
        gram_report_add(report,
                        "explains its own rows less well than one number does; try another kernel or likelihood");
    }
    gram_report_function(report);
    gram_report_row(report, "log likelihood");
    gram_report_part(report, "", "log_marginal_likelihood", GRAM_FINE + 3);
}

static const gram_kept_words WORDS[] = {
    {"solver", "laplace"}, {"likelihood", "logistic softmax poisson student"}, {NULL, NULL}};

#define ROW_OF_LAPLACE                                                                                                 \
    .name = "gp", .marker = "likelihood", .words = WORDS, .refuses = "weights", .tuning = GRAM_TUNING_ML,              \
    .options = OPTIONS, .settings_size = sizeof(laplace_settings), .plan = plan, .fit = fit, .keep = keep,             \
    .forget = forget, .close = close_laplace, .report = report_laplace

static const gram_comparable COMPARED[] = {
    {1u << GRAM_TASK_CLASSIFICATION, 7, "const*rbf", 1, NULL},
    {0, 0, NULL, 0, NULL},
};

const gram_method gram_method_gp_classes = {
    ROW_OF_LAPLACE,
    .title = "Gaussian process with Laplace's approximation, for classes",
    .formula =
        "f ~ GP(0, k),  p(y | f) = 1/(1 + exp(-y f)) (more classes: softmax);  f | y is about N(f^, (K^-1 + W)^-1),\n"
        "f^ the mode of log p(y | f) - f' K^-1 f/2 and W = -d^2 log p(y | f)/df^2 there",
    .variant = "classes",
    .tasks = 1u << GRAM_TASK_CLASSIFICATION,
    .compared = COMPARED,
    .kernel = "const*rbf",
    .python = {[GRAM_TASK_CLASSIFICATION] = "GaussianProcessClassifier"},
    .option_count = WITHOUT_STUDENT,
    .takes = takes_classes,
    .open = open_classes,
    .evaluate = evaluate_classes,
};

/* A rate has a level of its own: the constant of the kernel. */
const gram_method gram_method_gp_counts = {
    ROW_OF_LAPLACE,
    .title = "Gaussian process with Laplace's approximation, for counts",
    .formula = "f ~ GP(m, k),  y ~ Poisson(exp f);  f | y is about N(f^, (K^-1 + W)^-1) at its mode f^",
    .variant = "the likelihood poisson",
    .tasks = 1u << GRAM_TASK_REGRESSION,
    .kernel = "const + const*rbf",
    .python = {[GRAM_TASK_REGRESSION] = "GaussianProcessRegressor"},
    .option_count = WITHOUT_STUDENT,
    .takes = takes_poisson,
    .fitted = fitted,
    .open = open_values,
    .evaluate = evaluate_values,
};

const gram_method gram_method_gp_student = {
    ROW_OF_LAPLACE,
    .title = "Gaussian process with Laplace's approximation, for heavy tails",
    .formula = "f ~ GP(m, k),  y = f + e,  e of Student's t;  f | y is about N(f^, (K^-1 + W)^-1) at its mode f^",
    .variant = "the likelihood student",
    .tasks = 1u << GRAM_TASK_REGRESSION,
    .kernel = "const*rbf",
    .python = {[GRAM_TASK_REGRESSION] = "GaussianProcessRegressor"},
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .takes = takes_student,
    .fitted = fitted,
    .open = open_values,
    .evaluate = evaluate_values,
};

static const gram_method *row_of(gram_likelihood likelihood)
{
    return likelihood == GRAM_LIKELIHOOD_POISSON   ? &gram_method_gp_counts
           : likelihood == GRAM_LIKELIHOOD_STUDENT ? &gram_method_gp_student
                                                   : &gram_method_gp_classes;
}

gram_status gram_laplace_model(gram_context *context, const gram_laplace *laplace, const double *y,
                               const gram_laplace_options *options, gram_preparation *preparation, const double *values,
                               gram_model **model)
{
    gram_status status = GRAM_OK;
    const gram_laplace_report *report = gram_laplace_get_report(laplace);
    const gram_method *row = row_of(report->likelihood);
    const int classes = gram_method_has_task(row, GRAM_TASK_CLASSIFICATION);
    gram_laplace_options known;
    *model = NULL;
    gram_laplace_options_init(&known, sizeof known);
    TRY(gram_sized_read(context, "laplace_model", "options", "gram_laplace_options", options, &known, sizeof known));
    FAIL_IF(!y, context, GRAM_ERROR_ARGUMENT, "laplace_model: y is NULL");
    FAIL_IF(known.likelihood != report->likelihood, context, GRAM_ERROR_ARGUMENT,
            "laplace_model: the options are not those of the fit, whose likelihood is %s",
            gram_likelihood_name(report->likelihood));
    gram_keeper keeper = gram_keep_fit(context, row, classes ? GRAM_TASK_CLASSIFICATION : GRAM_TASK_REGRESSION,
                                       preparation, gram_laplace_function(laplace), report->n);
    keep_report(&keeper, report);
    if (classes) gram_keep_class_values(&keeper, report->outputs == 1 ? 2 : report->outputs, values);
    keep_observations(&keeper, &known, report->n, y);
    status = gram_keep_end(&keeper, model);
done:
    return status;
}

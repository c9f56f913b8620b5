/* Gradient flow as a method of the learner. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "method/method.h"
#include "solve/cholesky/reduced_matrix.h"
#include <gram/flow.h>
#include <gram/text.h>

enum { EXACT_ROWS = 5000, TUNING_ROWS = 1200, DIRECTIONS = 20, CURVE_TIMES = 80, CURVE_DIRECTIONS = 8 };

/* Over n/l_1 with the trace for l_1, which is some 4 times as large: some 1,000 steps, at most 4,000. */
static const double DESCENT_TIME = 1000;
static const double LOST = 1e-4;        /* of the targets: more than that should not be left for ever */
static const double DEFAULT_TIME = 500; /* of the ridge 1e-3, lambda = 1/(2t) */

typedef enum flow_solver { SOLVE_AUTO, SOLVE_EXACT, SOLVE_DESCENT } flow_solver;

typedef struct flow_settings {
    gram_tuned_settings tuned;
    double time, step;
    int intercept;
    gram_chosen parameters, solver;
    const char *initial;
} flow_settings;

typedef struct flow_state {
    gram_flow_options options;
    flow_solver solver;
    double time; /* NaN: to be chosen */
    int time_is_default;
    gram_grid_report tuned;
    gram_flow *flow;         /* of exact */
    gram_function *function; /* f_t - f_0, or f_t */
    double residual;
    gram_flow_descent descent;
} flow_state;

static const gram_choice TUNINGS[] = {{"auto", GRAM_TUNING_AUTO, NULL, 0, 0},
                                      {"loo", GRAM_TUNING_LOO, NULL, 0, 0},
                                      {"gcv", GRAM_TUNING_GCV, NULL, 0, 0},
                                      {"cv", GRAM_TUNING_CV, "K", 2, 1000},
                                      {"holdout", GRAM_TUNING_HOLDOUT, "PERCENT", 1, 50},
                                      {"none", GRAM_TUNING_NONE, NULL, 0, 0},
                                      {NULL, 0, NULL, 0, 0}};

static const gram_choice PARAMETERS[] = {{"function", GRAM_FLOW_FUNCTION, NULL, 0, 0},
                                         {"coefficients", GRAM_FLOW_COEFFICIENTS, NULL, 0, 0},
                                         {NULL, 0, NULL, 0, 0}};

static const gram_choice SOLVERS[] = {{"auto", SOLVE_AUTO, NULL, 0, 0},
                                      {"exact", SOLVE_EXACT, NULL, 0, 0},
                                      {"descent", SOLVE_DESCENT, NULL, 0, 0},
                                      {NULL, 0, NULL, 0, 0}};

#define PLACE(field) offsetof(flow_settings, field)

static const gram_option OPTIONS[] = {
    {.name = "flow-time",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(time),
     .argument = "T",
     .help = "when to stop: a time, inf or auto (default)",
     .flags = GRAM_OPTION_STRENGTH | GRAM_OPTION_AUTO | GRAM_OPTION_INFINITE},
    {.name = "parameters",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(parameters),
     .argument = "WHAT",
     .help = "what follows the gradient: function (default) or coefficients",
     .otherwise = "function",
     .choices = PARAMETERS},
    {.name = "initial",
     .kind = GRAM_OPTION_TEXT,
     .offset = PLACE(initial),
     .argument = "M.gram",
     .help = "start from this model instead of 0; its columns and scaling are taken"},
    {.name = "intercept",
     .kind = GRAM_OPTION_SWITCH,
     .offset = PLACE(intercept),
     .help = "start from the mean of the target instead of 0",
     .otherwise = "no"},
    GRAM_TUNE_OPTION(flow_settings, "loo (approximate; default), gcv, cv:K, holdout:PERCENT or none", TUNINGS),
    GRAM_ARD_OPTION(flow_settings),
    {.name = "solver",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(solver),
     .argument = "NAME",
     .help = "auto, exact (eigenvalues) or descent (gradient descent without a matrix)",
     .otherwise = "auto",
     .choices = SOLVERS},
    {.name = "step",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(step),
     .argument = "S",
     .help = "of descent, below n over the largest eigenvalue (default: a quarter of it)",
     .above = 1},
};

static gram_status check(gram_learning *learning)
{
    const flow_settings *own = learning->settings;
    if (own->initial && own->intercept == 1)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave one out.",
                                  "--initial and --intercept are two places to start from");
    if (!isnan(own->step) && own->solver.value == SOLVE_EXACT)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave one out.",
                                  "--step is of --solver descent, not exact");
    if (isinf(own->time) && own->solver.value == SOLVE_DESCENT)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Give a finite time, or use --solver exact.",
                                  "--flow-time inf is never reached by gradient descent");
    return GRAM_OK;
}

/* ---- the plan ---- */

static double exact_bytes(const gram_learning *learning)
{
    const double n = (double)learning->n;
    return 16 * n * n + 8 * n * (double)(10 * learning->data->targets + learning->data->d + 64);
}

/* Eigenvalues while they take about a minute and fit; the limit of t has no other way, nor have weights of coefficients this one. */
static flow_solver choose_solver(const gram_learning *learning, const char **reason)
{
    const flow_settings *own = learning->settings;
    const size_t budget = gram_memory_budget(learning->context->memory);
    const int fits = budget == 0 || exact_bytes(learning) <= (double)budget;
    const int weighted = learning->data->weights && own->parameters.value == GRAM_FLOW_COEFFICIENTS;
    *reason = "as asked";
    if (own->solver.value != SOLVE_AUTO) return (flow_solver)own->solver.value;
    *reason = "an infinite time";
    if (isinf(own->time)) return SOLVE_EXACT;
    *reason = !isnan(own->step) ? "--step is given"
              : weighted        ? "weights, and coefficients"
                                : "K and its vectors do not fit";
    if (!isnan(own->step) || weighted || !fits) return SOLVE_DESCENT;
    *reason = learning->n > EXACT_ROWS ? "more than 5,000 rows" : "all times from one eigendecomposition";
    return learning->n > EXACT_ROWS ? SOLVE_DESCENT : SOLVE_EXACT;
}

static void set_options(const gram_learning *learning, flow_state *state)
{
    const flow_settings *own = learning->settings;
    gram_flow_options_init(&state->options, sizeof state->options);
    state->options.parameters = (gram_flow_parameters)own->parameters.value;
    state->options.weights = learning->data->weights;
    state->options.intercept = own->intercept;
    state->options.step = isnan(own->step) ? 0 : own->step;
    state->time = own->time;
}

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const double n = (double)learning->n, d = (double)learning->data->d;
    const char *reason = NULL;
    flow_state *state = NULL;
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    set_options(learning, state);
    if (learning->n < 2 || state->time == 0) learning->tuning = GRAM_TUNING_NONE; /* there is nothing to tune by */
    state->solver = choose_solver(learning, &reason);
    if (state->solver == SOLVE_EXACT) {
        TRY(gram_learning_room(learning, exact_bytes(learning), "Use --solver descent, fewer rows, or more --memory.",
                               "the eigenvectors of"));
        gram_learning_plan(learning, "exact, f64", (size_t)exact_bytes(learning), 3.3e-10 * n * n * n, reason);
    } else {
        gram_learning_plan(learning, "gradient descent, f64", (size_t)(8 * n * (d + 64)),
                           300 * n * n * (0.6e-9 + 0.1e-9 * d), reason);
    }
done:
    return status;
}

/* ---- the fit ---- */

/* f_0 at the rows. */
static gram_status find_initial(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    flow_state *state = learning->own;
    double *values = NULL;
    if (!learning->initial) return GRAM_OK;
    const gram_function *f = gram_model_function(learning->initial);
    const int64_t m = learning->data->targets;
    if (gram_function_outputs(f) != m)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Give a model with one output for each target.",
                                  "--initial: it has %" PRId64 " outputs for %" PRId64 " targets",
                                  gram_function_outputs(f), m);
    TRY(gram_learning_take(learning, learning->data->n * m, sizeof *values, &values));
    TRY(gram_function_evaluate(learning->context, f, learning->points, values, m));
    state->options.initial = values;
    state->options.ldi = m;
done:
    return status;
}

static int64_t held_percent(const gram_learning *learning)
{
    const flow_settings *own = learning->settings;
    return own->tuned.tune.number > 0 ? own->tuned.tune.number : 20;
}

static gram_flow_criterion criterion_of(gram_tuning tuning)
{
    switch (tuning) {
    case GRAM_TUNING_GCV: return GRAM_FLOW_GCV;
    case GRAM_TUNING_CV: return GRAM_FLOW_CV;
    case GRAM_TUNING_HOLDOUT: return GRAM_FLOW_HOLDOUT;
    default: return GRAM_FLOW_APPROXIMATE_LOO;
    }
}

static gram_status tune(gram_learning *learning)
{
    enum { MATRICES = 4 };
    flow_state *state = learning->own;
    const gram_prepared *data = learning->data;
    const int64_t rows = gram_learning_tuning_rows(learning, MATRICES);
    gram_flow_tune_options options;
    gram_flow_tune_options_init(&options, sizeof options);
    options.criterion = criterion_of(learning->tuning);
    options.folds =
        learning->tuning == GRAM_TUNING_HOLDOUT ? 100 / held_percent(learning) : gram_learning_folds(learning);
    if (options.folds > learning->n) options.folds = learning->n;
    if (options.folds < 2) options.folds = 2;
    options.groups = learning->groups;
    options.ordered = learning->ordered;
    options.ard = gram_learning_ard(learning);
    options.rows = rows < TUNING_ROWS ? rows : TUNING_ROWS;
    options.time_count = !isnan(state->time);
    options.times = &state->time;
    if (state->solver == SOLVE_DESCENT) options.longest = DESCENT_TIME;
    double chosen = NAN;
    state->tuned.size = sizeof state->tuned;
    const gram_status status =
        gram_flow_tune(learning->context, learning->written, learning->points, data->targets, data->y, data->targets,
                       &state->options, &options, &learning->kernel, &chosen, &state->tuned);
    state->time = chosen;
    return status;
}

static gram_status take_defaults(gram_learning *learning)
{
    flow_state *state = learning->own;
    state->time_is_default = isnan(state->time);
    if (state->time_is_default) state->time = DEFAULT_TIME;
    return gram_learning_resolve(learning);
}

/* For ever: rows of a strictly positive definite kernel are interpolated, unless eigenvalues are lost to rounding. */
static gram_status check_limit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const flow_state *state = learning->own;
    gram_flow_point ends[] = {{.time = 0}, {.time = INFINITY}};
    gram_properties facts;
    int repeated = 0;
    TRY(gram_flow_curve(learning->context, state->flow, 2, ends));
    if (!(ends[1].train_rmse > LOST * ends[0].train_rmse)) goto done;
    TRY(gram_kernel_properties(learning->context, learning->kernel, learning->data->d, &facts));
    TRY(gram_reduced_repeated(learning->context, learning->kernel, learning->points, &repeated));
    if (facts.strictly != GRAM_YES || repeated) goto done;
    return gram_learning_fail(learning, GRAM_ERROR_NUMERICAL,
                              "Give a finite --flow-time, or use a kernel that is less smooth or has shorter "
                              "length-scales.",
                              "for an infinite time these targets are lost to rounding: %" PRId64 " of %" PRId64
                              " eigenvalues are seen, and %.2g of the targets is left",
                              gram_flow_get_report(state->flow)->rank, learning->n,
                              ends[1].train_rmse / ends[0].train_rmse);
done:
    return status;
}

static gram_status by_eigenvalues(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    flow_state *state = learning->own;
    const gram_prepared *data = learning->data;
    TRY(gram_flow_create(learning->context, learning->kernel, learning->points, data->targets, data->y, data->targets,
                         &state->options, &state->flow));
    if (isinf(state->time)) TRY(check_limit(learning));
    TRY(gram_flow_function(learning->context, state->flow, state->time, &state->function, &state->residual));
done:
    return status;
}

static gram_status by_descent(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    flow_state *state = learning->own;
    const gram_prepared *data = learning->data;
    double *a = NULL, *b = NULL;
    TRY(gram_learning_take(learning, data->n * data->targets, sizeof *a, &a));
    TRY(gram_learning_take(learning, data->targets, sizeof *b, &b));
    state->descent.size = sizeof state->descent;
    TRY(gram_flow_descend(learning->context, learning->kernel, learning->points, data->targets, data->y, data->targets,
                          &state->options, 1, &state->time, a, b, &state->descent));
    TRY(gram_function_create(learning->context, learning->kernel, learning->points, data->targets, a, data->targets,
                             state->options.intercept ? b : NULL, &state->function));
done:
    return status;
}

static const char *advice_for(const flow_state *state, gram_status status)
{
    if (status == GRAM_ERROR_NUMERICAL) return "Use a kernel that is positive definite, or --parameters coefficients.";
    if (status == GRAM_ERROR_UNSUPPORTED) return "Use --solver descent, --parameters function, or no weights.";
    if (status == GRAM_ERROR_ARGUMENT && state->solver == SOLVE_DESCENT)
        return "Change --step or --flow-time, or use --solver exact.";
    return "";
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    flow_state *state = learning->own;
    TRY(find_initial(learning));
    TRY(learning->tuning == GRAM_TUNING_NONE ? take_defaults(learning) : tune(learning));
    TRY(state->solver == SOLVE_EXACT ? by_eigenvalues(learning) : by_descent(learning));
done:
    if (status < 0 && !gram_context_advice(learning->context)[0])
        (void)gram_advise(learning->context, status, advice_for(state, status));
    return status;
}

static void forget(gram_learning *learning)
{
    flow_state *state = learning->own;
    if (!state) return;
    gram_flow_destroy(state->flow);
    gram_function_release(state->function);
}

/* ---- the model ---- */

static void keep_time(gram_keeper *keeper, double time)
{
    if (isinf(time))
        gram_keep_text(keeper, "flow_time", "inf");
    else
        gram_keep_number(keeper, "flow_time", time);
}

/* How much of the error each direction had, how much of that is gone, and when half of it is: the first directions. */
static gram_status keep_directions(gram_keeper *keeper, const gram_flow *flow, double time)
{
    gram_status status = GRAM_OK;
    const gram_flow_report *report = gram_flow_get_report(flow);
    const int64_t count = report->n < DIRECTIONS ? report->n : DIRECTIONS, m = report->outputs;
    const double *rates = gram_flow_eigenvalues(flow), *errors = gram_flow_errors(flow), n = (double)report->n;
    double *energy = NULL, all = 0;
    TRY(gram_take(keeper->context, "model", 2 * count, sizeof *energy, (void **)&energy));
    double *learnt = energy + count;
    for (int64_t i = 0; i < report->n * m; i++) all += errors[i] * errors[i];
    for (int64_t j = 0; j < count; j++) {
        energy[j] = 0;
        for (int64_t c = 0; c < m && all > 0; c++) energy[j] += errors[j * m + c] * errors[j * m + c] / all;
        learnt[j] = rates[j] > 0 ? -expm1(-2 * (time / n) * rates[j]) : 0;
    }
    gram_keep_array(keeper, "eigenvalues", 1, count, rates);
    gram_keep_array(keeper, "energy", 1, count, energy);
    gram_keep_array(keeper, "learnt", 1, count, learnt);
    status = keeper->status;
done:
    gram_give(keeper->context, energy);
    return status;
}

/* Times from before the first direction is learnt to after the last that is seen, or to the time of the model. */
static void curve_times(const gram_flow *flow, double time, double *times)
{
    const gram_flow_report *report = gram_flow_get_report(flow);
    const double *rates = gram_flow_eigenvalues(flow), n = (double)report->n;
    const double first = 0.02 * n / (report->largest > 0 ? report->largest : 1);
    double least = report->largest;
    for (int64_t j = 0; j < report->n; j++)
        if (rates[j] > 1e-6 * report->largest && rates[j] < least) least = rates[j];
    double last = least > 0 ? 2 * n / least : 100 * first;
    if (isfinite(time) && time * 3 > last) last = 3 * time;
    for (int i = 0; i < CURVE_TIMES; i++) times[i] = first * pow(last / first, (double)i / (CURVE_TIMES - 1));
}

/* Rows of time, |y - f_t|/|y - f_0| over the points, and the share of the error left in directions 1, 2, 4, 8, ... */
static gram_status keep_curve(gram_keeper *keeper, const gram_flow *flow, double time)
{
    gram_status status = GRAM_OK;
    const gram_flow_report *report = gram_flow_get_report(flow);
    const int64_t n = report->n, m = report->outputs;
    const double *rates = gram_flow_eigenvalues(flow), *errors = gram_flow_errors(flow);
    int64_t columns = 2, shown = 0;
    double *rows = NULL, times[CURVE_TIMES];
    for (int64_t j = 1; j <= n && shown < CURVE_DIRECTIONS; j *= 2, shown++) columns++;
    TRY(gram_take(keeper->context, "model", CURVE_TIMES * columns, sizeof *rows, (void **)&rows));
    curve_times(flow, time, times);
    for (int i = 0; i < CURVE_TIMES; i++) {
        double left = 0, all = 0, *row = rows + i * columns;
        for (int64_t j = 0; j < n * m; j++) {
            const double share = exp(-2 * (times[i] / (double)n) * rates[j / m]);
            left += share * errors[j] * share * errors[j];
            all += errors[j] * errors[j];
        }
        row[0] = times[i];
        row[1] = all > 0 ? sqrt(left / all) : 0;
        for (int64_t c = 2; c < columns; c++)
            row[c] = exp(-2 * (times[i] / (double)n) * rates[((int64_t)1 << (c - 2)) - 1]);
    }
    gram_keep_array(keeper, "learning_curve", CURVE_TIMES, columns, rows);
    status = keeper->status;
done:
    gram_give(keeper->context, rows);
    return status;
}

static const gram_keep_place NUMBERS[] = {
    {"train_rmse", offsetof(gram_flow_point, train_rmse)},
    {"approximate_loo_rmse", offsetof(gram_flow_point, approximate_loo_rmse)},
    {"gcv", offsetof(gram_flow_point, gcv)},
    {"norm", offsetof(gram_flow_point, norm)},
    {"effective_dimension", offsetof(gram_flow_point, effective_dimension)},
};

static void keep_flow(gram_keeper *keeper, const gram_flow *flow, double time, double residual)
{
    const gram_flow_report *report = gram_flow_get_report(flow);
    gram_flow_point point = {.time = time};
    if (keeper->status >= 0) keeper->status = gram_flow_curve(keeper->context, flow, 1, &point);
    keep_time(keeper, time);
    gram_keep_text(keeper, "parameters", gram_flow_parameters_name(report->parameters));
    gram_keep_integer(keeper, "intercept", report->intercept);
    gram_keep_text(keeper, "solver", "exact");
    gram_keep_integer(keeper, "rank", report->rank);
    gram_keep_number(keeper, "residual", residual);
    gram_keep_numbers(keeper, &point, NUMBERS, sizeof NUMBERS / sizeof *NUMBERS);
    if (keeper->status >= 0) keeper->status = keep_directions(keeper, flow, time);
    if (keeper->status >= 0) keeper->status = keep_curve(keeper, flow, time);
}

static void keep_descent(gram_keeper *keeper, const flow_state *state)
{
    const gram_flow_descent *report = &state->descent;
    keep_time(keeper, state->time);
    gram_keep_text(keeper, "parameters", gram_flow_parameters_name(state->options.parameters));
    gram_keep_integer(keeper, "intercept", state->options.intercept);
    gram_keep_text(keeper, "solver", "descent");
    gram_keep_integer(keeper, "iterations", report->steps);
    gram_keep_number(keeper, "step", report->step);
    gram_keep_number(keeper, "largest_eigenvalue", report->largest);
    gram_keep_number(keeper, "descent_error", report->error);
    gram_keep_number(keeper, "train_rmse", report->train_rmse);
    gram_keep_number(keeper, "norm", report->norm);
}

static void keep_tuning(gram_keeper *keeper, const gram_learning *learning)
{
    const flow_state *state = learning->own;
    char words[32];
    gram_keep_tuning(keeper, learning, state->time_is_default ? "the time" : NULL);
    if (learning->tuning == GRAM_TUNING_NONE) return;
    if (learning->tuning == GRAM_TUNING_LOO) gram_keep_text(keeper, "tune", "approximate loo");
    (void)snprintf(words, sizeof words, "holdout:%" PRId64, held_percent(learning));
    if (learning->tuning == GRAM_TUNING_HOLDOUT) gram_keep_text(keeper, "tune", words);
    gram_keep_integer(keeper, "tuned_rows", state->tuned.rows);
    gram_keep_integer(keeper, "tuned_fits", state->tuned.fits);
    gram_keep_number(keeper, "criterion", state->tuned.value);
    gram_keep_integer(keeper, "at_bound", state->tuned.at_bound);
}

static gram_status keep(gram_learning *learning)
{
    const flow_state *state = learning->own;
    gram_keeper keeper = gram_keep_begin(learning, state->function);
    if (state->flow)
        keep_flow(&keeper, state->flow, state->time, state->residual);
    else
        keep_descent(&keeper, state);
    keep_tuning(&keeper, learning);
    if (learning->initial && keeper.status >= 0)
        keeper.status =
            gram_model_set_second(learning->context, keeper.model, NULL, gram_model_function(learning->initial));
    return keeper.status;
}

/* f_t - f_0, and f_0 where it is a function of its own. */
static gram_status evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                            double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const gram_function *f = gram_model_function(predictor->model),
                        *initial = gram_model_second_function(predictor->model);
    const int64_t m = gram_function_outputs(f);
    double *start = NULL;
    TRY(gram_function_evaluate(context, f, places->points, values, ldv));
    if (!initial) goto done;
    TRY(gram_take(context, "predict", places->n * m, sizeof *start, (void **)&start));
    TRY(gram_function_evaluate(context, initial, places->points, start, m));
    for (int64_t i = 0; i < places->n; i++)
        for (int64_t c = 0; c < m; c++) values[i * ldv + c] += start[i * m + c];
done:
    gram_give(context, start);
    return status;
}

static gram_status open_flow(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    const gram_function *f = gram_model_function(predictor->model),
                        *initial = gram_model_second_function(predictor->model);
    if (initial &&
        (gram_function_outputs(initial) != gram_function_outputs(f) ||
         gram_points_dimension(gram_function_centres(initial)) != gram_points_dimension(gram_function_centres(f))))
        return gram_predictor_damaged(context, predictor, "its initial function is of other columns or outputs");
    TRY(gram_predictor_refuse(context, predictor, 1, NULL, NULL));
    TRY(gram_predictor_means(context, predictor));
done:
    return status;
}

static void report_flow(gram_report *report)
{
    const char *parameters = gram_report_text(report, "parameters"), *time = gram_report_text(report, "flow_time");
    const int initial = gram_model_second_function(gram_report_model(report)) != NULL;
    gram_report_row(report, "flow time");
    if (time) gram_report_add(report, "%s", time);
    gram_report_part(report, "", "flow_time", GRAM_FINE);
    gram_report_add(report, ", of the %s, from %s", parameters ? parameters : "function",
                    initial                                        ? "the initial model"
                    : gram_report_number(report, "intercept") == 1 ? "the mean"
                                                                   : "0");
    gram_report_tuning(report);
    gram_report_solver(report);
    if (!isnan(gram_report_number(report, "step"))) {
        gram_report_row(report, "  descent");
        gram_report_part(report, "step", "step", GRAM_FINE);
        gram_report_part(report, "largest eigenvalue", "largest_eigenvalue", GRAM_FINE);
        gram_report_part(report, "off the flow by at most", "descent_error", GRAM_ROUGH);
    }
    gram_report_errors(report, 0);
    gram_report_row(report, "approximate loo");
    gram_report_part(report, "rmse", "approximate_loo_rmse", GRAM_FINE);
    gram_report_part(report, "GCV", "gcv", GRAM_FINE);
    gram_report_function(report);
    gram_report_list(report, "eigenvalues", "eigenvalues", GRAM_FINE - 1);
    gram_report_list(report, "  of the error", "energy", GRAM_ROUGH);
    gram_report_list(report, "  learnt", "learnt", GRAM_ROUGH + 1);
}

static const gram_kept_words WORDS[] = {
    {"solver", "exact descent"}, {"parameters", "function coefficients"}, {NULL, NULL}};

static const gram_comparable COMPARED[] = {
    {1u << GRAM_TASK_REGRESSION, 8, "rbf", 1, NULL},
    {0, 0, NULL, 0, NULL},
};

const gram_method gram_method_flow = {
    .name = "flow",
    .title = "gradient flow on the squared loss",
    .formula = "df/dt = -grad (1/n) sum_i (y_i - f(x_i))^2 in the RKHS, from f_0 = 0 to t;  residuals on the data "
               "exp(-2 t K/n) (f_0 - y)",
    .words = WORDS,
    .tasks = 1u << GRAM_TASK_REGRESSION,
    .compared = COMPARED,
    .kernel = "rbf",
    .tuning = GRAM_TUNING_LOO,
    .python = {[GRAM_TASK_REGRESSION] = "GradientFlow"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(flow_settings),
    .check = check,
    .plan = plan,
    .fit = fit,
    .keep = keep,
    .forget = forget,
    .open = open_flow,
    .evaluate = evaluate,
    .report = report_flow,
};

gram_status gram_flow_model(gram_context *context, const gram_flow *flow, double time, gram_function *initial,
                            gram_preparation *preparation, gram_model **model)
{
    gram_status status = GRAM_OK;
    gram_function *function = NULL;
    double residual = 0;
    if (!context || !model) return GRAM_ERROR_ARGUMENT;
    *model = NULL;
    TRY(gram_flow_function(context, flow, time, &function, &residual));
    FAIL_IF(initial && gram_function_outputs(initial) != gram_function_outputs(function), context, GRAM_ERROR_ARGUMENT,
            "flow_model: initial has %" PRId64 " outputs, the flow %" PRId64, gram_function_outputs(initial),
            gram_function_outputs(function));
    gram_keeper keeper = gram_keep_fit(context, &gram_method_flow, GRAM_TASK_REGRESSION, preparation, function,
                                       gram_flow_get_report(flow)->n);
    keep_flow(&keeper, flow, time, residual);
    if (initial && keeper.status >= 0) keeper.status = gram_model_set_second(context, keeper.model, NULL, initial);
    status = gram_keep_end(&keeper, model);
done:
    gram_function_release(function);
    return status;
}

/* Support vector machines as a method of the learner: classes, numbers, and one class. svm_resume.c lets a fit go on. */
#include "method/svm/svm_model.h"
#include "base/system/time_limit.h"
#include "tune/forecast/search_forecast.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { PROBABILITY_FOLDS = 5 };

static const gram_choice TUNINGS[] = {{"auto", GRAM_TUNING_AUTO, NULL, 0, 0},
                                      {"cv", GRAM_TUNING_CV, "K", 2, 1000},
                                      {"none", GRAM_TUNING_NONE, NULL, 0, 0},
                                      {NULL, 0, NULL, 0, 0}};

static const gram_choice MACHINES[] = {{"c", SVM_C, NULL, 0, 0},
                                       {"nu", SVM_NU, NULL, 0, 0},
                                       {"one-class", SVM_ONE_CLASS, NULL, 0, 0},
                                       {NULL, 0, NULL, 0, 0}};

#define PLACE(field) offsetof(svm_settings, field)

static const gram_option OPTIONS[] = {
    {.name = "C",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(C),
     .argument = "C",
     .help = "the price of errors",
     .above = 1,
     .flags = GRAM_OPTION_STRENGTH | GRAM_OPTION_PER_ROW,
     .group = "strength",
     .elsewhere = "LIBSVM -c, scikit-learn C"},
    {.name = "lambda",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(lambda),
     .argument = "L",
     .help = "the same as the ridge of (1/n) sum losses + L |f|^2: C = 1/(2 n L)",
     .above = 1,
     .flags = GRAM_OPTION_STRENGTH,
     .group = "strength"},
    {.name = "svm",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(svm),
     .argument = "KIND",
     .help = "c (default), nu, or one-class, which learns no target",
     .otherwise = "c",
     .choices = MACHINES,
     .elsewhere = "LIBSVM -s"},
    {.name = "nu",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(nu),
     .argument = "NU",
     .help = "of svm nu and one-class: a share of the rows, in (0, 1] (default 0.5)",
     .above = 1,
     .most = 1,
     .flags = GRAM_OPTION_STRENGTH,
     .elsewhere = "LIBSVM -n, scikit-learn nu"},
    {.name = "epsilon",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(epsilon),
     .argument = "E",
     .help = "half the width of the tube (default 0.1)",
     .tasks = 1u << GRAM_TASK_REGRESSION,
     .elsewhere = "LIBSVM -p, scikit-learn epsilon"},
    {.name = "class-weight",
     .kind = GRAM_OPTION_TEXT,
     .offset = PLACE(class_weight),
     .argument = "W",
     .help = "of classes: balanced, or NAME=W,NAME=W",
     .tasks = 1u << GRAM_TASK_CLASSIFICATION,
     .elsewhere = "LIBSVM -w, scikit-learn class_weight"},
    {.name = "prob",
     .kind = GRAM_OPTION_SWITCH,
     .offset = PLACE(prob),
     .help = "probabilities also when nothing is tuned, by 5 more fits",
     .otherwise = "no",
     .tasks = 1u << GRAM_TASK_CLASSIFICATION,
     .elsewhere = "LIBSVM -b, scikit-learn probability"},
    {.name = "seconds",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(seconds),
     .argument = "S",
     .help = "stop the fit after about this time, tuning not included; --resume continues it",
     .above = 1,
     .flags = GRAM_OPTION_RESUMES},
    {.name = "iterations",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(iterations),
     .argument = "N",
     .help = "stop it after N steps for each pair of classes",
     .least = 1,
     .most = 1e15,
     .flags = GRAM_OPTION_RESUMES},
    GRAM_TUNE_OPTION(svm_settings, "cv:K (default cv:5) or none", TUNINGS),
    GRAM_ARD_OPTION(svm_settings),
    GRAM_INTERCEPT_OPTION(svm_settings),
    GRAM_TOLERANCE_OPTION(svm_settings),
};

static gram_task implied_task(const gram_learning *learning)
{
    const char *machine = gram_given_text(learning, "svm");
    return machine && strcmp(machine, "one-class") == 0 ? GRAM_TASK_ONE_CLASS : GRAM_TASK_AUTO;
}

static gram_status check(gram_learning *learning)
{
    svm_settings *own = learning->settings;
    const char *task = gram_given_text(learning, "task");
    if (learning->task == GRAM_TASK_ONE_CLASS) own->svm.value = SVM_ONE_CLASS; /* the task alone says so */
    const int regression = task && strcmp(task, gram_task_name(GRAM_TASK_REGRESSION)) == 0;
    const char *machine = own->svm.value == SVM_NU ? "nu" : "one-class";
    if ((!isnan(own->C) || !isnan(own->lambda)) && own->svm.value != SVM_C && !regression)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave it out, or use --svm c.",
                                  "--%s is not for --svm %s, which has --nu", isnan(own->C) ? "lambda" : "C", machine);
    if (!own->intercept && own->svm.value != SVM_C)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave it out, or use --svm c.",
                                  "--no-intercept is not for --svm %s, whose margin is set by its constant", machine);
    if (!isnan(own->nu) && own->svm.value == SVM_C)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Add --svm nu.", "--nu is for --svm nu and one-class");
    return GRAM_OK;
}

/* ---- the plan ---- */

static gram_svm_kind kind_of(const gram_learning *learning)
{
    const svm_settings *own = learning->settings;
    const int nu = own->svm.value == SVM_NU;
    if (learning->task == GRAM_TASK_ONE_CLASS) return GRAM_SVM_ONE_CLASS;
    if (learning->task == GRAM_TASK_REGRESSION) return nu ? GRAM_SVM_NU_REGRESSION : GRAM_SVM_EPSILON_REGRESSION;
    return nu ? GRAM_SVM_NU : GRAM_SVM_C;
}

static int64_t pair_count(int64_t classes)
{
    return classes * (classes - 1) / 2;
}

static int64_t output_count(const gram_learning *learning)
{
    return learning->task == GRAM_TASK_CLASSIFICATION ? pair_count(learning->classes.count) : 1;
}

/* Without a budget given: far more than any fit takes that ends at all, a minute or two. */
static int64_t most_steps(int64_t n)
{
    return n > 100000 ? 1000 * n : 100000000;
}

static int is_limited(const svm_settings *own)
{
    return !isnan(own->seconds) || own->iterations > 0;
}

static void find_options(gram_learning *learning)
{
    const svm_settings *own = learning->settings;
    svm_state *state = learning->own;
    gram_svm_options *options = &state->options;
    gram_svm_options_init(options, sizeof *options);
    options->kind = kind_of(learning);
    state->c_is_default = isnan(own->C) && isnan(own->lambda);
    if (!isnan(own->C)) options->C = own->C;
    if (!isnan(own->lambda)) options->C = 1 / (2 * (double)learning->n * own->lambda);
    options->intercept = own->intercept;
    if (!isnan(own->nu)) options->nu = own->nu;
    if (!isnan(own->epsilon)) options->epsilon = own->epsilon;
    if (!isnan(own->tolerance)) options->tolerance = own->tolerance;
    options->seconds = isnan(own->seconds) ? 0 : own->seconds;
    if (isnan(own->seconds) && !isinf(gram_context_time_left(learning->context)))
        options->seconds = fmax(gram_time_of(learning->context, GRAM_TIME_OF_ITERATIONS) - gram_clock(), 0.01);
    options->iterations = is_limited(own) ? own->iterations : most_steps(learning->n);
    options->weights = learning->weights ? learning->weights : learning->data->weights;
    options->groups = learning->groups;
    options->ordered = learning->ordered;
}

/* A grid of widths and strengths for each fold and each pair of classes; matrices and predictions of as many widths as the cache has room
 * for. Chains end early where nothing is gained: a third of the fits. */
static void tuning_cost(const gram_learning *learning, double n, double *bytes, double *seconds)
{
    enum { MOST_ROWS = 5000, SCREENED = 2000 };
    const int classification = learning->task == GRAM_TASK_CLASSIFICATION;
    const double outputs = (double)output_count(learning), rows = fmin(n, MOST_ROWS);
    const double classes = classification ? (double)learning->classes.count : 2;
    const double part = classification && rows >= SCREENED ? 0.5 : 1; /* of the grid that one fold leaves */
    const double cells = part * 10 * 10 * (double)gram_learning_folds(learning), of_pair = 2 * rows / fmax(classes, 2);
    const double matrices = 10 * rows * rows;
    *seconds = (0.67 * cells * outputs * of_pair * of_pair * 2.2e-9 + matrices * 2e-9) / learning->context->threads +
               gram_search_seconds(learning->context, &gram_lengths_cost, n, 1000, (double)learning->data->d);
    *bytes = fmin(1e9, 10 * rows * (4 * rows + 8 * 10 * outputs)) + 16 * n * outputs;
}

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    svm_state *state = NULL;
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    if (learning->task == GRAM_TASK_REGRESSION)
        TRY(gram_learning_one_target(learning, "a support vector machine",
                                     "Choose one with --target, or use another --method."));
    find_options(learning);
    if (learning->task == GRAM_TASK_ONE_CLASS || gram_learning_folds(learning) < 2) learning->tuning = GRAM_TUNING_NONE;
    if (learning->before) TRY(gram_svm_resume_start(learning, output_count(learning)));
    gram_learning_plan(
        learning, "decomposition", (size_t)learning->n * (size_t)(64 + 8 * output_count(learning)) + ((size_t)64 << 20),
        1e-8 * (double)learning->n * (double)learning->n, "rows of the kernel are cached within the memory budget");
done:
    return status;
}

/* ---- the fit ---- */

static const double *targets_of(const gram_learning *learning)
{
    return learning->task == GRAM_TASK_CLASSIFICATION ? learning->labels
           : learning->task == GRAM_TASK_REGRESSION   ? learning->data->y
                                                      : NULL;
}

static gram_status tune(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    svm_state *state = learning->own;
    gram_svm_options machine = state->options;
    gram_svm_tune_options options;
    gram_svm_tune_options_init(&options, sizeof options);
    machine.seconds = 0; /* the budget is that of the machine itself */
    machine.iterations = 0;
    options.folds = gram_learning_folds(learning);
    options.ard = gram_learning_ard(learning);
    if (!state->c_is_default) options.C_count = 1;
    options.groups = learning->groups;
    options.ordered = learning->ordered;
    state->tuned.size = sizeof state->tuned;
    TRY(gram_learning_take(learning, learning->data->n * output_count(learning), sizeof *state->held_out,
                           &state->held_out));
    TRY(gram_svm_tune(learning->context, learning->written, learning->points, targets_of(learning), &machine, &options,
                      &learning->kernel, &state->options.C, NULL, state->held_out, &state->tuned));
done:
    return status;
}

static gram_status fit_machine(gram_learning *learning, const gram_svm_options *options)
{
    svm_state *state = learning->own;
    gram_svm *former = state->svm;
    const gram_status status =
        gram_svm_fit(learning->context, learning->kernel, learning->points, targets_of(learning), options, &state->svm);
    if (state->svm) state->iterations += gram_svm_get_report(state->svm)->iterations;
    gram_svm_destroy(former);
    return status;
}

/* Does the machine get its probabilities from folds of its own? Those of the tuning are there otherwise. */
static int64_t folds_of(const gram_learning *learning)
{
    const svm_settings *own = learning->settings;
    const svm_state *state = learning->own;
    const int wanted = own->prob || learning->numbers_found; /* as the fit that was tuned has them */
    return learning->task == GRAM_TASK_CLASSIFICATION && !state->held_out && wanted ? PROBABILITY_FOLDS : 0;
}

/* The folds of --prob would each take the budget again, and those of a machine that is not finished tell little: they are
 * made once it is, by a fit that starts where it ends. */
static gram_status solve(gram_learning *learning)
{
    svm_state *state = learning->own;
    gram_svm_options options = state->options;
    const int64_t folds = folds_of(learning);
    const int limited = is_limited(learning->settings);
    if (learning->task == GRAM_TASK_CLASSIFICATION) options.held_out = state->held_out;
    if (!limited) options.probability_folds = folds;
    const gram_status status = fit_machine(learning, &options);
    if (status != GRAM_OK || !limited || folds == 0) return status;
    options.start = gram_svm_duals(state->svm);
    options.seconds = 0;
    options.iterations = 0;
    options.probability_folds = folds;
    return fit_machine(learning, &options);
}

/* Was it the budget that ended the fit, and not rounding? */
static int is_out_of_budget(const gram_learning *learning)
{
    const svm_settings *own = learning->settings;
    const gram_svm *svm = ((const svm_state *)learning->own)->svm;
    const gram_svm_report *report = gram_svm_get_report(svm);
    const gram_svm_pair *pairs = gram_svm_pairs(svm);
    if (report->seconds >= own->seconds) return 1; /* never if it is NaN */
    if (gram_time_is_up(learning->context, GRAM_TIME_OF_ITERATIONS)) {
        gram_time_left_out(learning->context, "iterations ended early");
        return 1;
    }
    for (int64_t o = 0; own->iterations > 0 && o < report->outputs; o++)
        if (!pairs[o].converged && pairs[o].iterations >= own->iterations) return 1;
    return 0;
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = learning->tuning == GRAM_TUNING_NONE ? gram_learning_resolve(learning) : tune(learning);
    if (status >= 0) status = solve(learning);
    if (status != GRAM_NOT_CONVERGED) return status;
    if (is_out_of_budget(learning)) return GRAM_OK;
    const gram_svm_report *report = gram_svm_get_report(((svm_state *)learning->own)->svm);
    return gram_learning_fail(learning, GRAM_ERROR_NUMERICAL,
                              gram_preparation_describe(learning->preparation)->scaled
                                  ? "Use a smaller --C, or a larger --tolerance."
                                  : "Leave out --no-scale, or use a smaller --C, or a larger --tolerance.",
                              "no convergence: after %" PRId64
                              " iterations the optimality conditions are violated by %.6g",
                              report->iterations, report->violation);
}

static void forget(gram_learning *learning)
{
    svm_state *state = learning->own;
    if (state) gram_svm_destroy(state->svm);
}

/* ---- the model ---- */

static const double *sigmoids_of(const svm_state *state)
{
    return state->sigmoids ? state->sigmoids : gram_svm_sigmoids(state->svm);
}

static void keep_training_error(gram_keeper *keeper, const gram_learning *learning, const double *values)
{
    const gram_prepared *data = learning->data;
    double squares = 0;
    for (int64_t i = 0; i < data->n; i++)
        squares += (data->y[i] - values[i]) * (data->y[i] - values[i]) / (double)data->n;
    gram_keep_number(keeper, "train_rmse", sqrt(squares));
}

/* Labels (or values) and probabilities of the rows that it was fitted on. */
static gram_status keep_training(gram_keeper *keeper, gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const svm_state *state = learning->own;
    const int64_t n = learning->data->n, classes = learning->classes.count, outputs = output_count(learning);
    const double *sigmoids = sigmoids_of(state);
    double *values = NULL;
    TRY(gram_learning_take(learning, n * (outputs + 1 + classes), sizeof *values, &values));
    double *labels = values + n * outputs, *probabilities = sigmoids ? labels + n : NULL;
    TRY(gram_svm_predict(learning->context, state->svm, learning->points, NULL, values, NULL));
    if (learning->task == GRAM_TASK_CLASSIFICATION) {
        TRY(gram_svm_decide(learning->context, classes, n, values, sigmoids, labels, probabilities));
        gram_keep_training(keeper, learning, labels, probabilities);
    }
    if (learning->task == GRAM_TASK_REGRESSION) keep_training_error(keeper, learning, values);
    TRY(gram_svm_keep_risk(keeper, learning, values));
done:
    return status;
}

static void keep_tuning(gram_keeper *keeper, const gram_learning *learning)
{
    const svm_state *state = learning->own;
    const int has_c = state->options.kind == GRAM_SVM_C || learning->task == GRAM_TASK_REGRESSION;
    if (learning->before) {
        gram_svm_resume_keep_tuning(keeper, learning);
        return;
    }
    gram_keep_tuning(keeper, learning, has_c && state->c_is_default ? "C" : NULL);
    if (learning->tuning == GRAM_TUNING_NONE) return;
    gram_keep_integer(keeper, "tuned_rows", state->tuned.rows);
    gram_keep_integer(keeper, "tuned_fits", state->tuned.fits);
    gram_keep_integer(keeper, "tuned_unfinished", state->tuned.unfinished);
    if (learning->task == GRAM_TASK_CLASSIFICATION)
        gram_keep_number(keeper, "cv_accuracy", state->tuned.score);
    else
        gram_keep_number(keeper, "cv_rmse", sqrt(state->tuned.score));
    gram_keep_number(keeper, "cv_standard_error", state->tuned.standard_error);
    gram_keep_integer(keeper, "at_bound", state->tuned.at_bound);
}

static gram_task task_of(gram_svm_kind kind)
{
    return kind == GRAM_SVM_ONE_CLASS                                              ? GRAM_TASK_ONE_CLASS
           : kind == GRAM_SVM_EPSILON_REGRESSION || kind == GRAM_SVM_NU_REGRESSION ? GRAM_TASK_REGRESSION
                                                                                   : GRAM_TASK_CLASSIFICATION;
}

/* `iterations`: of all calls so far. */
static void keep_machine(gram_keeper *keeper, const gram_svm_report *report, int64_t iterations)
{
    static const char *const names[] = {"c", "nu", "one-class", "epsilon", "nu"};
    gram_keep_text(keeper, "svm", names[report->kind]);
    if (!isnan(report->C)) gram_keep_number(keeper, "C", report->C);
    if (!isnan(report->nu)) gram_keep_number(keeper, "nu", report->nu);
    if (task_of(report->kind) == GRAM_TASK_REGRESSION) gram_keep_number(keeper, "epsilon", report->epsilon);
    gram_keep_integer(keeper, "n_support", report->n_support);
    gram_keep_integer(keeper, "n_bounded", report->n_bounded);
    gram_keep_number(keeper, "objective", report->objective);
    gram_keep_number(keeper, "gap", report->gap);
    gram_keep_number(keeper, "violation", report->violation);
    gram_keep_integer(keeper, "iterations", iterations);
}

static gram_status keep(gram_learning *learning)
{
    const svm_state *state = learning->own;
    const gram_svm_report *report = gram_svm_get_report(state->svm);
    gram_keeper keeper = gram_keep_begin(learning, gram_svm_function(state->svm));
    keep_machine(&keeper, report, state->iterations);
    if (!state->options.intercept) gram_keep_integer(&keeper, "intercept", 0);
    gram_keep_integer(&keeper, "converged", report->converged != 0);
    keep_tuning(&keeper, learning);
    if (keeper.status >= 0) {
        const gram_status status = keep_training(&keeper, learning);
        if (status < 0) return status;
    }
    if (learning->task == GRAM_TASK_CLASSIFICATION) gram_keep_classes(&keeper, &learning->classes);
    if (sigmoids_of(state)) gram_keep_array(&keeper, "sigmoids", report->outputs, 2, sigmoids_of(state));
    if (!report->converged) gram_svm_resume_keep(&keeper, learning, folds_of(learning));
    return keeper.status;
}

/* ---- predictions ---- */

/* Two numbers for each pair, or NULL. */
static const double *kept_sigmoids(const gram_predictor *predictor)
{
    return gram_kept_array(predictor->model, "sigmoids", pair_count(predictor->classes.count), 2);
}

static gram_status open_classes(gram_context *context, gram_predictor *predictor)
{
    const gram_status status = gram_predictor_classes(context, predictor);
    if (status < 0) return status;
    if (gram_function_outputs(gram_model_function(predictor->model)) != pair_count(predictor->classes.count))
        return gram_predictor_damaged(context, predictor, "a classifier whose parts do not belong together");
    if (!predictor->wish.prob || kept_sigmoids(predictor)) return GRAM_OK;
    return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT,
                               gram_kept_number(predictor->model, "probability_folds", 0) > 0
                                   ? "They are made when the fit is finished: `gram fit DATA --resume M.gram`."
                                   : "`gram fit --prob` makes a model that has them.",
                               "%s has no probabilities", predictor->wish.name);
}

/* One class: 1 inside, -1 outside, and by how much. */
static gram_status open_one_class(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    TRY(gram_predictor_refuse(context, predictor, 0, "It predicts classes; --prob gives their probabilities.",
                              "a classifier"));
    if (predictor->wish.prob)
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT,
                                   "It predicts inside (1) or outside (-1); the score says how far.",
                                   "--prob is not for a model of one class");
    TRY(gram_predictor_column(context, predictor, "label", ""));
    TRY(gram_predictor_column(context, predictor, "score", ""));
    predictor->columns.score = 1;
done:
    return status;
}

static gram_status open_svm(gram_context *context, gram_predictor *predictor)
{
    const char *task = gram_model_task(predictor->model);
    if (strcmp(task, gram_task_name(GRAM_TASK_CLASSIFICATION)) == 0) return open_classes(context, predictor);
    if (strcmp(task, gram_task_name(GRAM_TASK_ONE_CLASS)) == 0) return open_one_class(context, predictor);
    const gram_status status = gram_predictor_refuse(context, predictor, 1, NULL, NULL);
    return status < 0 ? status : gram_predictor_means(context, predictor);
}

/* Of classes with as many votes the first wins: a model that came from LIBSVM says in which order. NULL: ascending. */
static const double *order_of(const gram_predictor *predictor)
{
    const int64_t count = predictor->classes.count;
    const double *order = gram_kept_array(predictor->model, "vote_order", 1, count);
    for (int64_t c = 0; c < count && order; c++) {
        if (!(order[c] >= 0 && order[c] < (double)count) || order[c] != floor(order[c])) return NULL;
        for (int64_t before = 0; before < c; before++)
            if (order[before] == order[c]) return NULL;
    }
    return order;
}

/* The place of a pair a != b of classes; *sign is -1 if they are the other way round there. */
static int64_t pair_place(int64_t classes, int64_t a, int64_t b, double *sign)
{
    const int64_t low = a < b ? a : b, high = a < b ? b : a;
    *sign = a < b ? 1 : -1;
    return low * classes - low * (low + 1) / 2 + (high - low - 1);
}

/* Votes in an order of the classes' own: decisions of the pairs in that order, and labels back from it. */
static gram_status vote_in_order(gram_context *context, int64_t classes, int64_t n, const double *order,
                                 const double *decisions, double *labels)
{
    gram_status status = GRAM_OK;
    const int64_t pairs = pair_count(classes);
    double sign, *ordered = NULL;
    TRY(gram_take(context, "predict", n * pairs, sizeof *ordered, (void **)&ordered));
    double *next = ordered;
    for (int64_t i = 0; i < n; i++)
        for (int64_t a = 0; a < classes; a++)
            for (int64_t b = a + 1; b < classes; b++) {
                const int64_t pair = pair_place(classes, (int64_t)order[a], (int64_t)order[b], &sign);
                *next++ = sign * decisions[i * pairs + pair];
            }
    TRY(gram_svm_decide(context, classes, n, ordered, NULL, labels, NULL));
    for (int64_t i = 0; i < n; i++) labels[i] = order[(int64_t)labels[i]];
done:
    gram_give(context, ordered);
    return status;
}

static gram_status evaluate_classes(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                                    double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const int64_t classes = predictor->classes.count, pairs = pair_count(classes), n = places->n;
    const double *sigmoids = kept_sigmoids(predictor), *order = sigmoids ? NULL : order_of(predictor);
    const int64_t count = n * (pairs + 1 + classes);
    double *work = NULL;
    TRY(gram_take(context, "predict", count, sizeof *work, (void **)&work));
    double *decisions = work, *labels = decisions + n * pairs, *p = labels + n;
    TRY(gram_function_evaluate(context, gram_model_function(predictor->model), places->points, decisions, pairs));
    TRY(order ? vote_in_order(context, classes, n, order, decisions, labels)
              : gram_svm_decide(context, classes, n, decisions, sigmoids, labels, sigmoids ? p : NULL));
    for (int64_t i = 0; i < n; i++) {
        double *row = values + i * ldv;
        row[0] = labels[i];
        for (int64_t c = 0; c < classes; c++) row[1 + c] = sigmoids ? p[i * classes + c] : NAN;
        row[1 + classes] = -decisions[i * pairs]; /* above 0 speaks for the first of the pair */
    }
done:
    gram_give(context, work);
    return status;
}

static gram_status evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                            double *values, int64_t ldv)
{
    const gram_function *function = gram_model_function(predictor->model);
    if (predictor->classes.count > 0) return evaluate_classes(context, predictor, places, values, ldv);
    if (predictor->columns.score < 0) return gram_function_evaluate(context, function, places->points, values, ldv);
    const gram_status status = gram_function_evaluate(context, function, places->points, values + 1, ldv);
    for (int64_t i = 0; i < places->n && status >= 0; i++) values[i * ldv] = values[i * ldv + 1] >= 0 ? 1 : -1;
    return status;
}

/* ---- the report ---- */

/* A machine that its budget stopped: how far it is, and how to go on. */
static void report_unfinished(gram_report *report)
{
    if (gram_report_number(report, "converged") != 0) return;
    gram_report_row(report, "unfinished");
    gram_report_add(report, "stopped by its budget");
    gram_report_part(report, "violation", "violation", GRAM_ROUGH);
    gram_report_part(report, "tolerance", "tolerance", GRAM_ROUGH);
    gram_report_part(report, "duality gap", "gap", GRAM_ROUGH);
    gram_report_row(report, "");
    if (gram_report_file(report))
        gram_report_add(report, "`gram fit DATA --resume %s` goes on from here", gram_report_file(report));
    else
        gram_report_add(report, "-o M.gram would have kept it, for --resume M.gram to go on");
}

static void report_svm(gram_report *report)
{
    const char *svm = gram_report_text(report, "svm");
    gram_report_ridge(report);
    gram_report_tuning(report);
    if (svm) {
        gram_report_row(report, "machine");
        gram_report_add(report, "%s", svm);
        gram_report_part(report, "C", "C", GRAM_FINE);
        gram_report_part(report, "nu", "nu", GRAM_FINE);
        gram_report_part(report, "epsilon", "epsilon", GRAM_FINE);
        if (gram_report_number(report, "intercept") == 0) gram_report_add(report, ", no intercept");
        gram_report_part(report, "support vectors", "n_support", GRAM_WHOLE);
        gram_report_part(report, "at their bound", "n_bounded", GRAM_WHOLE);
    }
    gram_report_solution(report);
    report_unfinished(report);
    gram_report_accuracy(report);
    gram_report_errors(report, 0);
    gram_report_function(report);
    gram_report_risk(report, "share of errors", "hinge loss");
}

static const gram_kept_words WORDS[] = {{"svm", "c nu one-class epsilon"}, {NULL, NULL}};

static const gram_comparable COMPARED[] = {
    {1u << GRAM_TASK_CLASSIFICATION, 5, "linear", 0, NULL},
    {1u << GRAM_TASK_CLASSIFICATION, 6, "rbf", 1, NULL},
    {1u << GRAM_TASK_CLASSIFICATION, 10, "matern(nu=1.5)", 1, NULL},
    {1u << GRAM_TASK_REGRESSION, 10, "rbf", 1, NULL},
    {0, 0, NULL, 0, NULL},
};

const gram_method gram_method_svm = {
    .name = "svm",
    .title = "support vector machine",
    .formula = "classes: min |f|^2/2 + C sum_i max(0, 1 - y_i (f(x_i) + b));  numbers: max(0, |y_i - f(x_i) - b| - "
               "epsilon) in its place;\n"
               "one class: min |f|^2/2 - rho + (1/(nu n)) sum_i max(0, rho - f(x_i));  f(x) = sum_i a_i k(x_i, x), C = "
               "1/(2 n lam)",
    .words = WORDS,
    .tasks = 1u << GRAM_TASK_REGRESSION | 1u << GRAM_TASK_CLASSIFICATION | 1u << GRAM_TASK_ONE_CLASS,
    .compared = COMPARED,
    .first_for = 1u << GRAM_TASK_CLASSIFICATION | 1u << GRAM_TASK_ONE_CLASS,
    .numbers_are_classes = 1,
    .kernel = "rbf",
    .tuning = GRAM_TUNING_CV,
    .python =
        {[GRAM_TASK_REGRESSION] = "SVR", [GRAM_TASK_CLASSIFICATION] = "SVC", [GRAM_TASK_ONE_CLASS] = "OneClassSVM"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(svm_settings),
    .implied_task = implied_task,
    .check = check,
    .plan = plan,
    .tuning_cost = tuning_cost,
    .fit = fit,
    .keep = keep,
    .forget = forget,
    .resume = gram_svm_resume,
    .open = open_svm,
    .evaluate = evaluate,
    .report = report_svm,
};

/* Whether it converged is not kept: what a later call would go on with is not there. */
gram_status gram_svm_model(gram_context *context, const gram_svm *svm, gram_preparation *preparation,
                           const double *values, gram_model **model)
{
    const gram_svm_report *report = gram_svm_get_report(svm);
    const gram_task task = task_of(report->kind);
    gram_keeper keeper = gram_keep_fit(context, &gram_method_svm, task, preparation, gram_svm_function(svm), report->n);
    keep_machine(&keeper, report, report->iterations);
    if (task == GRAM_TASK_CLASSIFICATION) gram_keep_class_values(&keeper, report->classes, values);
    if (gram_svm_sigmoids(svm)) gram_keep_array(&keeper, "sigmoids", report->outputs, 2, gram_svm_sigmoids(svm));
    return gram_keep_end(&keeper, model);
}

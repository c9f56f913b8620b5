/* Stochastic gradient descent as a method of the learner. */
#include <cblas.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/sweep.h"
#include "features/feature_map.h"
#include "method/method.h"
#include "method/sgd/sgd.h"
#include "points/points.h"
#include <gram/matrix.h>
#include <gram/text.h>

enum { BOUND_ROWS = 20000 };

typedef struct sgd_settings {
    gram_ridge_settings ridge;
    gram_chosen loss, rule, order, average, shrink, solver;
    double step, passes, delta, epsilon, quantile;
    int64_t budget;
    int intercept;
} sgd_settings;

typedef struct sgd_state {
    gram_sgd_problem problem;
    gram_sgd_result result;
    gram_sgd_state worth;
    gram_features *map;
    gram_function *function;
    double *values; /* n x m, of the rows */
    double *offset;
    int lambda_is_default;
} sgd_state;

enum { SHRINK_PROJECT, SHRINK_REMOVE };
enum { SOLVE_KERNEL, SOLVE_NYSTROM };

static const gram_choice LOSSES[] = {{"auto", -1, NULL, 0, 0},
                                     {"squared", GRAM_SGD_SQUARED, NULL, 0, 0},
                                     {"absolute", GRAM_SGD_ABSOLUTE, NULL, 0, 0},
                                     {"huber", GRAM_SGD_HUBER, NULL, 0, 0},
                                     {"quantile", GRAM_SGD_QUANTILE, NULL, 0, 0},
                                     {"insensitive", GRAM_SGD_INSENSITIVE, NULL, 0, 0},
                                     {"poisson", GRAM_SGD_POISSON, NULL, 0, 0},
                                     {"hinge", GRAM_SGD_HINGE, NULL, 0, 0},
                                     {"logistic", GRAM_SGD_LOGISTIC, NULL, 0, 0},
                                     {NULL, 0, NULL, 0, 0}};
static const gram_choice RULES[] = {{"auto", GRAM_SGD_AUTO, NULL, 0, 0},
                                    {"constant", GRAM_SGD_CONSTANT, NULL, 0, 0},
                                    {"root", GRAM_SGD_ROOT, NULL, 0, 0},
                                    {"inverse", GRAM_SGD_INVERSE, NULL, 0, 0},
                                    {NULL, 0, NULL, 0, 0}};
static const gram_choice ORDERS[] = {{"shuffled", GRAM_SGD_SHUFFLED, NULL, 0, 0},
                                     {"file", GRAM_SGD_FILE, NULL, 0, 0},
                                     {"replacement", GRAM_SGD_REPLACED, NULL, 0, 0},
                                     {NULL, 0, NULL, 0, 0}};
static const gram_choice AVERAGES[] = {{"tail", GRAM_SGD_TAIL, NULL, 0, 0},
                                       {"all", GRAM_SGD_ALL, NULL, 0, 0},
                                       {"none", GRAM_SGD_LAST, NULL, 0, 0},
                                       {NULL, 0, NULL, 0, 0}};
static const gram_choice SHRINKS[] = {
    {"project", SHRINK_PROJECT, NULL, 0, 0}, {"remove", SHRINK_REMOVE, NULL, 0, 0}, {NULL, 0, NULL, 0, 0}};
static const gram_choice SOLVERS[] = {{"auto", SOLVE_KERNEL, NULL, 0, 0},
                                      {"kernel", SOLVE_KERNEL, NULL, 0, 0},
                                      {"nystrom", SOLVE_NYSTROM, "M", 1, 32768},
                                      {NULL, 0, NULL, 0, 0}};

#define PLACE(field) offsetof(sgd_settings, field)
#define CHOICE(word, field, table, first, words)                                                                       \
    {                                                                                                                  \
        .name = word, .kind = GRAM_OPTION_CHOICE, .offset = PLACE(field), .argument = "HOW", .help = words,            \
        .otherwise = first, .choices = table                                                                           \
    }

static const gram_option OPTIONS[] = {
    {.name = "loss",
     .kind = GRAM_OPTION_CHOICE,
     .offset = PLACE(loss),
     .argument = "LOSS",
     .help = "squared, absolute, huber, quantile, insensitive, poisson; of classes logistic or hinge",
     .otherwise = "auto",
     .choices = LOSSES},
    {.name = "lambda",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(ridge.lambda),
     .argument = "L",
     .help = "the penalty L |f|^2; 0: none (default 1/n)",
     .flags = GRAM_OPTION_STRENGTH},
    CHOICE("step", rule, RULES, "auto",
           "constant, root (a/sqrt(t)) or inverse (1/(2 L t)); default: constant for smooth losses, else root"),
    {.name = "step-size",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(step),
     .argument = "A",
     .help = "a of constant and root (default: by the loss and the largest k(x, x))",
     .above = 1},
    {.name = "passes",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(passes),
     .argument = "P",
     .help = "over the rows (default: 1 to 20, by their number)",
     .above = 1,
     .most = 1e6},
    CHOICE("order", order, ORDERS, "shuffled", "of the rows: shuffled (default), file or replacement"),
    CHOICE("average", average, AVERAGES, "tail", "of the iterates: tail (default: the second half), all or none"),
    {.name = "budget",
     .kind = GRAM_OPTION_INTEGER,
     .offset = PLACE(budget),
     .argument = "N",
     .help = "at most N terms (default: one for each row)",
     .least = 1},
    CHOICE("budget-rule", shrink, SHRINKS, "project",
           "terms above the budget: project on the others (default) or remove"),
    CHOICE("solver", solver, SOLVERS, "auto", "kernel (default), or nystrom:M: on the features of M landmarks"),
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
     .help = "half the width of the tube (default 0.1)",
     .otherwise = "0.1"},
    {.name = "level",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PLACE(quantile),
     .argument = "TAU",
     .help = "of --loss quantile (default 0.5)",
     .otherwise = "0.5",
     .most = 1,
     .above = 1},
    GRAM_INTERCEPT_OPTION(sgd_settings),
};

static gram_status check(gram_learning *learning)
{
    const sgd_settings *own = learning->settings;
    if (own->rule.value == GRAM_SGD_INVERSE && own->ridge.lambda == 0)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Use --step constant or root.",
                                  "--step inverse is 1/(2 lambda t), and --lambda is 0");
    if (own->rule.value == GRAM_SGD_INVERSE && !isnan(own->step))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave one out.",
                                  "--step-size is for --step constant and root");
    if (own->solver.value == SOLVE_NYSTROM && own->budget > 0)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave one out.",
                                  "--budget counts terms of the kernel, and --solver nystrom has features");
    return GRAM_OK;
}

/* ---- the plan ---- */

static gram_status choose_loss(gram_learning *learning, gram_sgd_problem *p)
{
    const sgd_settings *own = learning->settings;
    const int classes = learning->task == GRAM_TASK_CLASSIFICATION;
    p->loss = own->loss.value >= 0 ? (gram_sgd_loss)own->loss.value : classes ? GRAM_SGD_LOGISTIC : GRAM_SGD_SQUARED;
    if (classes != (p->loss >= GRAM_SGD_HINGE))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT,
                                  classes ? "Use --loss logistic or hinge, or --task regression."
                                          : "Use another loss, or --task classification.",
                                  "--loss %s is not for %s", gram_given_text(learning, "loss"),
                                  gram_task_name(learning->task));
    p->m = classes && learning->classes.count > 2 ? learning->classes.count : 1;
    p->parameter = p->loss == GRAM_SGD_HUBER         ? own->delta
                   : p->loss == GRAM_SGD_QUANTILE    ? own->quantile
                   : p->loss == GRAM_SGD_INSENSITIVE ? own->epsilon
                                                     : 0;
    if (p->loss == GRAM_SGD_HUBER && isnan(own->delta)) return gram_learning_huber(learning, &p->parameter);
    return GRAM_OK;
}

/* Passes so that some 4e10 values of the kernel are made, or 1e11 products of features: a minute or two. */
static double choose_passes(const gram_learning *learning, const gram_sgd_problem *p)
{
    const sgd_settings *own = learning->settings;
    const double n = (double)p->n, terms = p->budget > 0 && p->budget < p->n ? (double)p->budget : n;
    if (!isnan(own->passes)) return own->passes;
    const double fits =
        own->solver.value == SOLVE_NYSTROM ? 1e11 / (n * (double)own->solver.number) : 4e10 / (n * terms);
    return fmin(fmax(floor(fits), 1), 20);
}

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const sgd_settings *own = learning->settings;
    const gram_prepared *data = learning->data;
    sgd_state *state = NULL;
    TRY(gram_learning_take(learning, 1, sizeof *state, &state));
    learning->own = state;
    TRY(gram_learning_one_target(learning, "stochastic gradient descent", "Choose one with --target."));
    gram_sgd_problem *p = &state->problem;
    p->n = data->n;
    p->y = learning->task == GRAM_TASK_CLASSIFICATION ? learning->labels : data->y;
    p->weights = learning->weights ? learning->weights : data->weights;
    TRY(choose_loss(learning, p));
    state->lambda_is_default = isnan(own->ridge.lambda);
    p->lambda = state->lambda_is_default ? 1 / (double)learning->n : own->ridge.lambda;
    p->intercept = own->intercept;
    p->order = (gram_sgd_order)own->order.value;
    p->average = (gram_sgd_average)own->average.value;
    p->budget = own->budget;
    p->project = own->shrink.value == SHRINK_PROJECT;
    const double passes = choose_passes(learning, p), n = (double)p->n, m = (double)p->m;
    p->steps = (int64_t)fmax(ceil(passes * n - 1e-9), 1);
    const double terms = own->solver.number > 0 ? (double)own->solver.number
                         : own->budget > 0      ? (double)own->budget
                                                : n;
    const double bytes = 8 * n * (4 * m + (double)data->d + 4) + (own->budget > 0 ? 8 * terms * terms : 0) +
                         (own->solver.number > 0 ? 8 * terms * (n + terms) : 0);
    TRY(gram_learning_room(learning, bytes, "Use --budget N, fewer rows, or more --memory.",
                           "stochastic gradients on"));
    const double factors = own->budget > 0 ? passes * n / fmax(terms / 4, 192) : 0; /* of the terms that stay */
    gram_learning_plan(learning, "stochastic gradients, f64", (size_t)bytes,
                       passes * n * fmin(terms, n) * 2e-9 + factors * terms * terms * (2e-11 * terms + 1e-8),
                       own->budget > 0 ? "terms within the budget" : "a term for each row");
done:
    return status;
}

/* ---- the fit ---- */

/* Where the constants start: the mean of the target, its median or quantile, the log odds of the classes being left to the steps. */
static gram_status find_offset(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    sgd_state *state = learning->own;
    gram_sgd_problem *p = &state->problem;
    double sum = 0, total = 0;
    TRY(gram_learning_take(learning, p->m, sizeof *state->offset, &state->offset));
    p->offset = state->offset;
    if (!p->intercept || learning->task == GRAM_TASK_CLASSIFICATION) return status;
    for (int64_t i = 0; i < p->n; i++) {
        const double weight = p->weights ? p->weights[i] : 1;
        sum += weight * p->y[i];
        total += weight;
    }
    state->offset[0] = p->loss == GRAM_SGD_POISSON ? log(fmax(sum / total, 1e-6)) : sum / total;
done:
    return status;
}

/* 1/(curvature times the largest w k(x, x)), the curvature 1 for losses that have none. */
static gram_status find_step(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const sgd_settings *own = learning->settings;
    gram_sgd_problem *p = &((sgd_state *)learning->own)->problem;
    double *diagonal = NULL, largest = 0;
    const int smooth = p->loss == GRAM_SGD_SQUARED || p->loss == GRAM_SGD_HUBER || p->loss == GRAM_SGD_LOGISTIC;
    const double curvature = p->loss == GRAM_SGD_LOGISTIC ? (p->m > 1 ? 0.5 : 0.25) : smooth ? 2 : 1;
    p->rule = own->rule.value != GRAM_SGD_AUTO ? (gram_sgd_step)own->rule.value
              : smooth                         ? GRAM_SGD_CONSTANT
                                               : GRAM_SGD_ROOT;
    p->step = own->step;
    TRY(gram_take(learning->context, "diagonal", p->n, sizeof *diagonal, (void **)&diagonal));
    TRY(gram_matrix_diagonal(learning->context, learning->kernel, learning->points, diagonal));
    for (int64_t i = 0; i < p->n; i++) largest = fmax(largest, (p->weights ? p->weights[i] : 1) * diagonal[i]);
    if (isnan(p->step)) p->step = 1 / (curvature * (largest + p->intercept));
    const double factor = p->rule == GRAM_SGD_INVERSE ? 1 : 1 - 2 * p->step * p->lambda;
    if (!(factor >= 0.05))
        status = gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Lower --step-size or --lambda.",
                                    "--step-size %g is too large for --lambda %g: a step would undo the function",
                                    p->step, p->lambda);
done:
    gram_give(learning->context, diagonal);
    return status;
}

static gram_status make_map(gram_learning *learning)
{
    const sgd_settings *own = learning->settings;
    sgd_state *state = learning->own;
    gram_features_options options;
    if (own->solver.value != SOLVE_NYSTROM) return GRAM_OK;
    gram_features_options_init(&options, sizeof options);
    options.kind = GRAM_FEATURES_NYSTROM;
    options.dimension = own->solver.number < learning->data->n ? own->solver.number : learning->data->n;
    const gram_status status = gram_features_create(learning->context, learning->kernel, learning->data->d,
                                                    learning->points, &options, &state->map);
    state->problem.map = state->map;
    return status;
}

/* Of features of landmarks f is the function with the coefficients L^-T w. */
static gram_status make_function(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    gram_context *context = learning->context;
    sgd_state *state = learning->own;
    const gram_sgd_problem *p = &state->problem;
    const int64_t d = learning->data->d, m = p->m;
    const int64_t count = state->map ? state->map->report.dimension : p->n;
    int64_t kept = 0;
    double *centres = NULL, *a = NULL;
    gram_points *points = NULL;
    TRY(gram_take(context, "centres", (count + 1) * d, sizeof *centres, (void **)&centres));
    TRY(gram_take(context, "centres", (count + 1) * m, sizeof *a, (void **)&a));
    for (int64_t i = 0; i < count; i++) {
        int has_term = state->map != NULL || (i == count - 1 && kept == 0);
        for (int64_t k = 0; k < m; k++) has_term |= state->result.a[i * m + k] != 0;
        if (!has_term) continue;
        const double *row = state->map ? state->map->arrays[0].data + i * d : learning->data->x + i * d;
        memcpy(centres + kept * d, row, (size_t)d * sizeof *centres);
        memcpy(a + kept++ * m, state->result.a + i * m, (size_t)m * sizeof *a);
    }
    if (state->map) {
        const int blas = gram_blas_enter();
        cblas_dtrsm(CblasRowMajor, CblasLeft, CblasLower, CblasTrans, CblasNonUnit, (int)count, (int)m, 1,
                    state->map->arrays[1].data, (int)count, a, (int)m);
        gram_blas_leave(blas);
    }
    TRY(gram_points_create_like(context, learning->points, kept, centres, 0, &points));
    TRY(gram_function_create(context, learning->kernel, points, m, a, m, state->result.b, &state->function));
done:
    gram_points_release(points);
    gram_give(context, centres);
    gram_give(context, a);
    return status;
}

static gram_status fit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    sgd_state *state = learning->own;
    gram_sgd_problem *p = &state->problem;
    TRY(gram_learning_resolve(learning));
    p->kernel = learning->kernel;
    p->x = learning->points;
    TRY(find_offset(learning));
    TRY(find_step(learning));
    TRY(make_map(learning));
    status = gram_sgd_run(learning->context, p, &state->result);
    if (status == GRAM_ERROR_NUMERICAL)
        return gram_advise(learning->context, status, "Use a smaller step size, or the steps root or inverse.");
    TRY(status);
    TRY(gram_learning_take(learning, p->n * p->m, sizeof *state->values, &state->values));
    TRY(gram_sgd_measure(learning->context, p, &state->result, p->n <= BOUND_ROWS, state->values, &state->worth));
    TRY(make_function(learning));
done:
    return status;
}

static void forget(gram_learning *learning)
{
    sgd_state *state = learning->own;
    if (!state) return;
    gram_memory_give(learning->arena.memory, state->result.a);
    gram_memory_give(learning->arena.memory, state->result.b);
    gram_features_destroy(state->map);
    gram_function_release(state->function);
}

/* ---- the model ---- */

static const char *word_of(const gram_choice *table, int value)
{
    for (; table->name; table++)
        if (table->value == value && strcmp(table->name, "auto") != 0) return table->name;
    return "auto";
}

/* Probabilities of classes from the m values of a row. */
static void probabilities_of(int64_t m, int64_t classes, const double *f, double *p)
{
    double sum = 0, top = f[0];
    if (m == 1) {
        p[1] = 1 / (1 + exp(-f[0]));
        p[0] = 1 / (1 + exp(f[0]));
        return;
    }
    for (int64_t k = 1; k < classes; k++) top = fmax(top, f[k]);
    for (int64_t k = 0; k < classes; k++) sum += p[k] = exp(f[k] - top);
    for (int64_t k = 0; k < classes; k++) p[k] /= sum;
}

static int64_t label_of(int64_t m, const double *f)
{
    int64_t best = 0;
    if (m == 1) return f[0] > 0;
    for (int64_t k = 1; k < m; k++)
        if (f[k] > f[best]) best = k;
    return best;
}

static void keep_fitted(gram_keeper *keeper, gram_learning *learning)
{
    const sgd_state *state = learning->own;
    const gram_sgd_problem *p = &state->problem;
    double right = 0, squares = 0, total = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const double *f = state->values + i * p->m, weight = p->weights ? p->weights[i] : 1;
        if (learning->task == GRAM_TASK_CLASSIFICATION) right += (double)label_of(p->m, f) == p->y[i];
        const double value = p->loss == GRAM_SGD_POISSON ? exp(f[0]) : f[0];
        squares += weight * (p->y[i] - value) * (p->y[i] - value);
        total += weight;
    }
    if (learning->task == GRAM_TASK_CLASSIFICATION) {
        gram_keep_number(keeper, "train_accuracy", right / (double)p->n);
        gram_keep_classes(keeper, &learning->classes);
    } else {
        gram_keep_number(keeper, "train_rmse", sqrt(squares / total));
    }
}

static gram_status keep(gram_learning *learning)
{
    const sgd_state *state = learning->own;
    const gram_sgd_problem *p = &state->problem;
    gram_keeper keeper = gram_keep_begin(learning, state->function);
    gram_keep_text(&keeper, "loss", word_of(LOSSES, (int)p->loss));
    if (p->parameter > 0) gram_keep_number(&keeper, "loss_parameter", p->parameter);
    gram_keep_number(&keeper, "lambda", p->lambda);
    gram_keep_integer(&keeper, "intercept", p->intercept);
    gram_keep_text(&keeper, "step", word_of(RULES, (int)p->rule));
    if (p->rule != GRAM_SGD_INVERSE) gram_keep_number(&keeper, "step_size", p->step);
    gram_keep_text(&keeper, "order", word_of(ORDERS, (int)p->order));
    gram_keep_text(&keeper, "average", word_of(AVERAGES, (int)p->average));
    gram_keep_integer(&keeper, "steps", state->result.steps);
    gram_keep_integer(&keeper, "n_support", state->result.terms);
    if (p->budget > 0) {
        gram_keep_integer(&keeper, "budget", p->budget);
        gram_keep_text(&keeper, "budget_rule", p->project ? "project" : "remove");
        gram_keep_number(&keeper, "removed", state->result.removed);
    }
    if (!isnan(state->result.seen)) gram_keep_number(&keeper, "progressive_loss", state->result.seen);
    if (!isnan(state->result.seen)) gram_keep_number(&keeper, "progressive_loss_se", state->result.seen_error);
    gram_keep_number(&keeper, "train_loss", state->worth.loss);
    gram_keep_number(&keeper, "objective", state->worth.objective);
    gram_keep_number(&keeper, "gap_bound", state->worth.gap);
    gram_keep_number(&keeper, "norm", state->worth.norm);
    gram_keep_tuning(&keeper, learning, state->lambda_is_default ? "lambda" : NULL);
    keep_fitted(&keeper, learning);
    return keeper.status;
}

static int has_loss(const gram_predictor *predictor, gram_sgd_loss loss)
{
    const char *kept = gram_kept_text(predictor->model, "loss");
    return kept && strcmp(kept, word_of(LOSSES, (int)loss)) == 0;
}

static gram_status open_sgd(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    const int64_t outputs = gram_function_outputs(gram_model_function(predictor->model));
    if (strcmp(gram_model_task(predictor->model), gram_task_name(GRAM_TASK_CLASSIFICATION)) != 0) {
        TRY(gram_predictor_refuse(context, predictor, 1, NULL, NULL));
        return gram_predictor_means(context, predictor);
    }
    TRY(gram_predictor_classes(context, predictor));
    const int64_t classes = predictor->classes.count;
    if (!(outputs == classes || (classes == 2 && outputs == 1)))
        return gram_predictor_damaged(context, predictor, "a classifier whose parts do not belong together");
    if (predictor->wish.prob && has_loss(predictor, GRAM_SGD_HINGE))
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT, "Fit it with --loss logistic.",
                                   "%s has no probabilities: its loss is hinge", predictor->wish.name);
done:
    return status;
}

static gram_status evaluate_classes(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                                    double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const gram_function *function = gram_model_function(predictor->model);
    const int64_t m = gram_function_outputs(function), classes = predictor->classes.count;
    const int hinge = has_loss(predictor, GRAM_SGD_HINGE);
    double *f = NULL;
    TRY(gram_take(context, "predict", places->n * m, sizeof *f, (void **)&f));
    TRY(gram_function_evaluate(context, function, places->points, f, m));
    for (int64_t i = 0; i < places->n; i++) {
        double *row = values + i * ldv;
        row[0] = (double)label_of(m, f + i * m);
        for (int64_t c = 0; c < classes && hinge; c++) row[1 + c] = NAN;
        if (!hinge) probabilities_of(m, classes, f + i * m, row + 1);
        row[1 + classes] = hinge || m == 1 ? f[i * m] : row[classes];
    }
done:
    gram_give(context, f);
    return status;
}

static gram_status evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                            double *values, int64_t ldv)
{
    if (predictor->classes.count > 0) return evaluate_classes(context, predictor, places, values, ldv);
    const gram_status status =
        gram_function_evaluate(context, gram_model_function(predictor->model), places->points, values, ldv);
    if (status < 0 || !has_loss(predictor, GRAM_SGD_POISSON)) return status;
    for (int64_t i = 0; i < places->n; i++) values[i * ldv] = exp(values[i * ldv]);
    return status;
}

static void report_sgd(gram_report *report)
{
    gram_report_ridge(report);
    gram_report_tuning(report);
    gram_report_row(report, "steps");
    gram_report_value(report, GRAM_WHOLE, gram_report_number(report, "steps"));
    gram_report_add(report, ", %s", gram_report_text(report, "step") ? gram_report_text(report, "step") : "");
    gram_report_part(report, "size", "step_size", GRAM_ROUGH);
    gram_report_part(report, "terms", "n_support", GRAM_WHOLE);
    gram_report_row(report, "loss");
    gram_report_add(report, "%s", gram_report_text(report, "loss") ? gram_report_text(report, "loss") : "");
    gram_report_part(report, "of the rows", "train_loss", GRAM_FINE);
    gram_report_part(report, "before each was used", "progressive_loss", GRAM_FINE);
    gram_report_part(report, "standard error", "progressive_loss_se", GRAM_ROUGH);
    gram_report_row(report, "objective");
    gram_report_value(report, GRAM_FINE, gram_report_number(report, "objective"));
    gram_report_part(report, "above the least by at most", "gap_bound", GRAM_ROUGH);
    gram_report_accuracy(report);
    gram_report_errors(report, 0);
    gram_report_function(report);
}

static const gram_kept_words WORDS[] = {{"loss", "squared absolute huber quantile insensitive poisson hinge logistic"},
                                        {NULL, NULL}};

static const gram_comparable COMPARED[] = {
    {1u << GRAM_TASK_REGRESSION | 1u << GRAM_TASK_CLASSIFICATION, 4, "rbf", 0, NULL},
    {0, 0, NULL, 0, NULL},
};

const gram_method gram_method_sgd = {
    .name = "sgd",
    .title = "stochastic gradient descent",
    .formula = "f <- (1 - 2 a_t lam) f - a_t loss'(f(x_i), y_i) k(x_i, .) over the rows i, from f = 0; the mean of the "
               "iterates",
    .words = WORDS,
    .tasks = 1u << GRAM_TASK_REGRESSION | 1u << GRAM_TASK_CLASSIFICATION,
    .compared = COMPARED,
    .kernel = "rbf",
    .python = {[GRAM_TASK_REGRESSION] = "SGDRegressor", [GRAM_TASK_CLASSIFICATION] = "SGDClassifier"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(sgd_settings),
    .check = check,
    .plan = plan,
    .fit = fit,
    .keep = keep,
    .forget = forget,
    .open = open_sgd,
    .evaluate = evaluate,
    .report = report_sgd,
};

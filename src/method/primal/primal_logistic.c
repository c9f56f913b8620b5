/* Logistic regression on finitely many features: logistic with --solver fourier:D, binning:P, nystrom:M or explicit, and by itself with a kernel of
 * low finite rank and many rows.
 *
 * Two classes by Newton's method: a step is a weighted ridge regression of working responses, (Z'H Z + 2 n lambda) c = Z'H (f - g/h), g = p - y and
 * h = p (1 - p) (features/feature_ridge.h), so that rows go by in chunks and nothing of size n p is held. Several classes take the blocks of
 * the Hessian on its diagonal only, one ridge regression for each; either way the objective falls, by halving steps. Ridge
 * regressions on sparse features go by conjugate gradients (features/sparse_ridge.h). */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/system/time_limit.h"
#include "features/sparse_ridge.h"
#include "method/further_rows.h"
#include "method/primal/primal.h"
#include "points/points.h"

enum { MANY_ROWS = 5000, MOST_STEPS = 200, MOST_HALVINGS = 40, MOST_INNER = 500 };
static const double USUAL_LAMBDA = 1e-3, USUAL_TOLERANCE = 1e-9, LEAST_CURVATURE = 1e-6,
                    INNER = 1e-4; /* the residual of a step by conjugate gradients */

static const gram_option OPTIONS[] = {
    GRAM_LAMBDA_OPTION(primal_settings),
    GRAM_NOISE_OPTION(primal_settings),
    GRAM_ALPHA_OPTION(primal_settings),
    {.name = "C",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PRIMAL_PLACE(C),
     .argument = "C",
     .help = "the price of errors, 1/(2 n L)",
     .above = 1,
     .flags = GRAM_OPTION_STRENGTH,
     .elsewhere = "scikit-learn LogisticRegression: C"},
    PRIMAL_CLASS_WEIGHT_OPTION("scikit-learn: class_weight"),
    GRAM_TUNE_OPTION(primal_settings, "loo of ridge regression on the classes (default) or none", gram_primal_tunings),
    GRAM_ARD_OPTION(primal_settings),
    GRAM_UNPENALISED_OPTIONS(primal_settings),
    PRIMAL_SOLVER_OPTION("explicit, fourier:D, binning:P or nystrom:M: on finitely many features", gram_primal_solvers),
    GRAM_FREQUENCIES_OPTION(primal_settings),
    GRAM_LANDMARKS_OPTION(primal_settings),
    GRAM_TOLERANCE_OPTION(primal_settings),
};

static int takes(const gram_learning *learning)
{
    static const char *const words[] = {"explicit", "fourier:", "nystrom:", "binning:", NULL};
    static const char *const others[] = {"tune", "mean",       "unpenalised", "grid",
                                         "loss", "likelihood", "precision",   NULL};
    return gram_primal_takes(learning, words, others, MANY_ROWS);
}

static gram_status check(gram_learning *learning)
{
    const primal_settings *own = learning->settings;
    const int ridge = !isnan(own->ridge.lambda) || !isnan(own->ridge.noise) || !isnan(own->ridge.alpha);
    if (ridge && !isnan(own->C))
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "C = 1/(2 n lambda).", "give one of --lambda and --C");
    if (own->free.list || own->free.mean.value == GRAM_UNPENALISED_LINEAR)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Leave out --solver.",
                                  "unpenalised features are not for --solver %s", gram_given_text(learning, "solver"));
    const gram_status status = gram_learning_check_ridge(learning, &own->ridge);
    return status < 0 ? status : gram_primal_check(learning);
}

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const primal_settings *own = learning->settings;
    const double n = (double)learning->n;
    TRY(gram_primal_begin(learning, "newton on features", 0));
    primal_state *state = learning->own;
    state->lambda = isnan(own->ridge.lambda) ? gram_learning_noise(learning, &own->ridge) / n : own->ridge.lambda;
    if (!isnan(own->C)) state->lambda = 1 / (2 * n * own->C);
done:
    return status;
}

/* ---- the fit ---- */

typedef struct newton {
    gram_learning *learning;
    primal_state *state;
    gram_problem problem; /* one target: working responses, with the curvatures as weights */
    int64_t n, m;
    const double *labels; /* of the rows of the problem */
    double *prior;        /* n: weights of rows */
    double *f, *next;     /* n x m */
    double *p;            /* n x classes: probabilities */
    double *c, *b;        /* the next coefficients */
    double objective, slope;
} newton;

/* Probabilities of a row from its m values; of one function the second class's is its logistic. Returns -log p of the label. */
static double row_loss(int64_t m, const double *f, int64_t label, double *p)
{
    double most = m == 1 ? fmax(f[0], 0) : f[0], sum = m == 1 ? exp(-most) : 0;
    for (int64_t c = 1; c < m; c++) most = fmax(most, f[c]);
    for (int64_t c = 0; c < m; c++) sum += exp(f[c] - most);
    for (int64_t c = 0; c < m; c++) p[c] = exp(f[c] - most) / sum;
    if (m == 1) return most + log(sum) - (label == 1 ? f[0] : 0);
    return most + log(sum) - f[label];
}

/* The sum of losses and n lambda |c|^2 at f + t (next - f), c + t (next - c). */
static double objective_at(newton *w, double t)
{
    const primal_state *s = w->state;
    double sum = 0, squares = 0, at[64];
    for (int64_t i = 0; i < w->n; i++) {
        for (int64_t c = 0; c < w->m; c++)
            at[c] = w->f[i * w->m + c] + t * (w->next[i * w->m + c] - w->f[i * w->m + c]);
        sum += w->prior[i] * row_loss(w->m, at, (int64_t)w->labels[i], w->p + i * w->m);
    }
    for (int64_t k = 0; k < s->f.p * w->m; k++) {
        const double c = s->c[k] + t * (w->c[k] - s->c[k]);
        squares += c * c;
    }
    return sum + (double)w->n * s->lambda * squares;
}

/* Working responses and weights of output c from the probabilities at f. */
static void set_responses(newton *w, int64_t c)
{
    for (int64_t i = 0; i < w->n; i++) {
        const double p = w->p[i * w->m + c], y = (int64_t)w->labels[i] == (w->m == 1 ? 1 : c),
                     h = fmax(p * (1 - p), LEAST_CURVATURE);
        w->problem.weights[i] = w->prior[i] * h;
        w->problem.y[i] = w->f[i * w->m + c] - (p - y) / h;
    }
}

static gram_status solve_dense(newton *w, double strength, double *one, double *constant)
{
    gram_status status = GRAM_OK;
    gram_feature_ridge ridge = {0};
    TRY(gram_feature_ridge_make(w->learning->context, w->state->f.map, &w->problem, 0, &ridge));
    TRY(gram_feature_ridge_solve(w->learning->context, "fit", &ridge, strength, one, constant));
done:
    gram_feature_ridge_free(w->learning->context, &ridge);
    return status;
}

/* The next coefficients of output c: a ridge regression. */
static gram_status solve_output(newton *w, int64_t c)
{
    gram_status status = GRAM_OK;
    gram_context *context = w->learning->context;
    const int64_t p = w->state->f.p;
    gram_sparse_ridge sparse = {.z = &w->state->z,
                                .weights = w->problem.weights,
                                .intercept = w->problem.q > 0,
                                .strength = 2 * (double)w->n * w->state->lambda,
                                .tolerance = INNER,
                                .most = MOST_INNER};
    double *one = NULL, constant = 0;
    TRY(gram_take(context, "features", p, sizeof *one, (void **)&one));
    set_responses(w, c);
    TRY(w->state->f.map->type->sparse ? gram_sparse_ridge_solve(context, &sparse, w->problem.y, 1, one, &constant)
                                      : solve_dense(w, sparse.strength, one, &constant));
    for (int64_t j = 0; j < p; j++) w->c[j * w->m + c] = one[j];
    w->b[c] = constant;
done:
    gram_give(context, one);
    return status;
}

/* The derivative of the objective along the step. */
static double slope_of(const newton *w)
{
    const primal_state *s = w->state;
    double sum = 0;
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t c = 0; c < w->m; c++) {
            const double y = (int64_t)w->labels[i] == (w->m == 1 ? 1 : c);
            sum += w->prior[i] * (w->p[i * w->m + c] - y) * (w->next[i * w->m + c] - w->f[i * w->m + c]);
        }
    for (int64_t k = 0; k < s->f.p * w->m; k++) sum += 2 * (double)w->n * s->lambda * s->c[k] * (w->c[k] - s->c[k]);
    return sum;
}

/* One step; *done: nothing is left to gain. */
static gram_status take_step(newton *w, double tolerance, int *done_now)
{
    gram_status status = GRAM_OK;
    primal_state *s = w->state;
    double t = 1, value;
    for (int64_t c = 0; c < w->m; c++) TRY(solve_output(w, c));
    const gram_feature_function next = {s->f.map, s->f.p, w->m, w->c, w->b};
    TRY(gram_feature_function_values(w->learning->context, &next, w->problem.x, w->next, w->m));
    w->slope = slope_of(w);
    value = objective_at(w, t);
    for (int k = 0; k < MOST_HALVINGS && !(value <= w->objective + 1e-4 * t * w->slope); k++)
        value = objective_at(w, t /= 2);
    *done_now = fabs(w->slope) <= tolerance * (1 + w->objective) || !(value < w->objective);
    if (!(value <= w->objective)) { /* rounding: stay */
        (void)objective_at(w, 0);
        goto done;
    }
    for (int64_t k = 0; k < w->n * w->m; k++) w->f[k] += t * (w->next[k] - w->f[k]);
    for (int64_t k = 0; k < s->f.p * w->m; k++) s->c[k] += t * (w->c[k] - s->c[k]);
    for (int64_t c = 0; c < w->m; c++) s->b[c] += t * (w->b[c] - s->b[c]);
    w->objective = value;
done:
    return status;
}

static gram_status take_room(newton *w)
{
    gram_status status = GRAM_OK;
    gram_learning *learning = w->learning;
    const gram_prepared *data = learning->data;
    double *labels = NULL, *ones = NULL;
    TRY(gram_learning_take(learning, data->n, sizeof *ones, &ones));
    for (int64_t i = 0; i < data->n; i++) ones[i] = learning->weights ? learning->weights[i] : 1;
    TRY(gram_problem_make(learning->context, "fit", learning->kernel, learning->points, 1, learning->labels, 1, ones,
                          &w->problem));
    TRY(gram_problem_set_unpenalised(
        learning->context, "fit", ((const primal_settings *)learning->settings)->free.intercept, 0, NULL, &w->problem));
    w->n = w->problem.n;
    TRY(gram_learning_take(learning, w->n, sizeof *labels, &labels));
    TRY(gram_learning_take(learning, w->n, sizeof *w->prior, &w->prior));
    memcpy(labels, w->problem.y, (size_t)w->n * sizeof *labels);
    memcpy(w->prior, w->problem.weights, (size_t)w->n * sizeof *labels);
    w->labels = labels;
    TRY(gram_learning_take(learning, w->n * w->m, sizeof *w->f, &w->f));
    TRY(gram_learning_take(learning, w->n * w->m, sizeof *w->next, &w->next));
    TRY(gram_learning_take(learning, w->n * w->m, sizeof *w->p, &w->p));
    TRY(gram_learning_take(learning, w->state->f.p * w->m, sizeof *w->c, &w->c));
    TRY(gram_learning_take(learning, w->m, sizeof *w->b, &w->b));
done:
    return status;
}

static gram_status solve(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const primal_settings *own = learning->settings;
    primal_state *state = learning->own;
    const double tolerance = isnan(own->tolerance) ? USUAL_TOLERANCE : own->tolerance;
    newton w = {.learning = learning, .state = state};
    int finished = 0;
    w.m = learning->classes.count == 2 ? 1 : learning->classes.count;
    TRY(gram_primal_make_map(learning, w.m));
    TRY(take_room(&w));
    TRY(gram_primal_hold_sparse(learning, w.n, w.problem.x->f64, w.problem.x->ld));
    w.objective = objective_at(&w, 0);
    for (state->iterations = 0; state->iterations < MOST_STEPS && !finished; state->iterations++) {
        TRY(take_step(&w, tolerance, &finished));
        if (finished || !gram_time_is_up(learning->context, GRAM_TIME_OF_ITERATIONS / 2)) continue;
        gram_time_left_out(learning->context, "iterations ended early"); /* the next one might not be done in time */
        finished = 1;
    }
    state->objective = w.objective / (double)w.n;
    state->residual = fabs(w.slope) / (1 + w.objective);
    gram_primal_find_norm(state);
    if (!finished)
        status =
            gram_learning_fail(learning, GRAM_ERROR_NUMERICAL, "Raise --lambda, or ask for less with --tolerance T.",
                               "no convergence: after %" PRId64 " steps the objective still falls by %.2g of itself",
                               state->iterations, state->residual);
done:
    gram_csr_free(learning->context, &state->z);
    gram_problem_free(learning->context, &w.problem);
    return status;
}

static gram_status fit(gram_learning *learning)
{
    if (learning->classes.count > 64)
        return gram_learning_fail(learning, GRAM_ERROR_ARGUMENT, "Use --solver exact.",
                                  "at most 64 classes are for finitely many features");
    const gram_status status = gram_primal_choose(learning, USUAL_LAMBDA, gram_primal_tune_classes);
    return status < 0 ? status : solve(learning);
}

/* ---- the model ---- */

/* Probabilities of all classes from the values of a row. */
static void put_probabilities(int64_t classes, int64_t m, const double *f, double *p)
{
    double one;
    if (m > 1) {
        (void)row_loss(m, f, 0, p);
        return;
    }
    (void)row_loss(1, f, 0, &one);
    p[1] = one;
    p[0] = f[0] > 0 ? exp(-f[0]) / (1 + exp(-f[0])) : 1 / (1 + exp(f[0]));
    (void)classes;
}

static gram_status values_of(gram_context *context, const gram_feature_function *f, int64_t classes,
                             const gram_points *x, double *p)
{
    gram_status status = GRAM_OK;
    double *values = NULL;
    TRY(gram_take(context, "predict", x->n * f->m, sizeof *values, (void **)&values));
    TRY(gram_feature_function_values(context, f, x, values, f->m));
    for (int64_t i = 0; i < x->n; i++) put_probabilities(classes, f->m, values + i * f->m, p + i * classes);
done:
    gram_give(context, values);
    return status;
}

static gram_status keep(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const primal_state *state = learning->own;
    const int64_t n = learning->data->n, classes = learning->classes.count;
    double *p = NULL, *labels;
    TRY(gram_learning_take(learning, n * (classes + 1), sizeof *p, &p));
    labels = p + n * classes;
    TRY(values_of(learning->context, &state->f, classes, learning->points, p));
    for (int64_t i = 0; i < n; i++) {
        labels[i] = 0;
        for (int64_t c = 1; c < classes; c++)
            if (p[i * classes + c] > p[i * classes + (int64_t)labels[i]]) labels[i] = (double)c;
    }
    gram_keeper keeper = gram_primal_keep(learning);
    gram_keep_number(&keeper, "lambda", state->lambda);
    gram_keep_number(&keeper, "optimality", state->residual);
    status = gram_primal_keep_classes(&keeper, learning, labels, p, "lambda");
done:
    return status;
}

static gram_status open_logistic(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    TRY(gram_predictor_classes(context, predictor));
    TRY(gram_primal_open(context, predictor));
    const int64_t classes = predictor->classes.count, m = ((const gram_feature_function *)predictor->own)->m;
    if (m != (classes == 2 ? 1 : classes) || classes > 64)
        return gram_predictor_damaged(context, predictor, "a classifier whose parts do not belong together");
done:
    return status;
}

static gram_status evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                            double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const int64_t classes = predictor->classes.count;
    double *p = NULL;
    TRY(gram_take(context, "predict", places->n * classes, sizeof *p, (void **)&p));
    TRY(values_of(context, predictor->own, classes, places->points, p));
    gram_predictor_put_probabilities(predictor, places->n, p, values, ldv);
done:
    gram_give(context, p);
    return status;
}

static void report_logistic(gram_report *report)
{
    gram_report_ridge(report);
    gram_primal_report_classes(report);
}

const gram_method gram_method_logistic_features = {
    .name = "logistic",
    .title = "logistic regression on finitely many features",
    .formula = "f(x) = z(x)'c + b,  c = argmin (1/n) sum_i log(1 + exp(-y_i (z(x_i)'c + b))) + lam |c|^2,  z(x)'z(y) "
               "is k(x, y) or about it",
    .variant = "finitely many features",
    .marker = "map",
    .tasks = 1u << GRAM_TASK_CLASSIFICATION,
    .numbers_are_classes = 1,
    .kernel = "rbf",
    .tuning = GRAM_TUNING_LOO,
    .python = {[GRAM_TASK_CLASSIFICATION] = "KernelLogisticRegression"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(primal_settings),
    .takes = takes,
    .check = check,
    .plan = plan,
    .fit = fit,
    .keep = keep,
    .forget = gram_primal_forget,
    .open = open_logistic,
    .evaluate = evaluate,
    .close = gram_primal_close,
    .report = report_logistic,
};

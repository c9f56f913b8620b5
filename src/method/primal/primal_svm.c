/* Support vector machines on finitely many features: svm with --solver fourier:D, binning:P, nystrom:M or explicit, and by itself with a kernel of low
 * finite rank and many rows. Classes by pairs, each by dual coordinate descent (solve/smo/coordinate_descent.h); the features of all rows are held. */
#include <cblas.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/sweep.h"
#include "base/system/time_limit.h"
#include "method/further_rows.h"
#include "method/primal/primal.h"
#include "points/points.h"
#include "solve/smo/coordinate_descent.h"

enum { MANY_ROWS = 20000, MOST_EPOCHS = 3000 };
static const double USUAL_TOLERANCE = 1e-3;

static const gram_option OPTIONS[] = {
    {.name = "C",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PRIMAL_PLACE(C),
     .argument = "C",
     .help = "the price of errors",
     .above = 1,
     .flags = GRAM_OPTION_STRENGTH | GRAM_OPTION_PER_ROW,
     .group = "strength",
     .elsewhere = "LIBLINEAR -c, scikit-learn LinearSVC: C"},
    {.name = "lambda",
     .kind = GRAM_OPTION_NUMBER,
     .offset = PRIMAL_PLACE(ridge.lambda),
     .argument = "L",
     .help = "the same as the ridge of (1/n) sum losses + L |f|^2: C = 1/(2 n L)",
     .above = 1,
     .flags = GRAM_OPTION_STRENGTH,
     .group = "strength"},
    PRIMAL_CLASS_WEIGHT_OPTION("LIBLINEAR -w, scikit-learn class_weight"),
    GRAM_TUNE_OPTION(primal_settings, "loo of ridge regression on the classes (default) or none", gram_primal_tunings),
    GRAM_ARD_OPTION(primal_settings),
    {.name = "intercept",
     .kind = GRAM_OPTION_SWITCH,
     .offset = PRIMAL_PLACE(free.intercept),
     .help_no = "without a constant",
     .otherwise = "yes"},
    PRIMAL_SOLVER_OPTION("explicit, fourier:D, binning:P or nystrom:M: on finitely many features", gram_primal_solvers),
    GRAM_FREQUENCIES_OPTION(primal_settings),
    GRAM_LANDMARKS_OPTION(primal_settings),
    GRAM_TOLERANCE_OPTION(primal_settings),
};

static int takes(const gram_learning *learning)
{
    static const char *const words[] = {"explicit", "fourier:", "nystrom:", "binning:", NULL};
    static const char *const others[] = {"svm", "nu", "prob", "seconds", "iterations", "epsilon", "tune", NULL};
    return gram_primal_takes(learning, words, others, MANY_ROWS);
}

static gram_status plan(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const primal_settings *own = learning->settings;
    const double n = (double)learning->n;
    TRY(gram_primal_begin(learning, "coordinate descent on features", 0));
    ((primal_state *)learning->own)->lambda = isnan(own->C) ? own->ridge.lambda : 1 / (2 * n * own->C);
    const double p = own->solver.number > 0 ? (double)own->solver.number : (double)learning->data->d + 1;
    if (own->solver.value != GRAM_FEATURES_BINNING)
        TRY(gram_learning_room(learning, 8 * n * p, "Use fewer features, or more --memory.", "the features of"));
done:
    return status;
}

/* ---- the fit ---- */

typedef struct pairs {
    const gram_learning *learning;
    primal_state *state;
    const double *z;
    double C, bias, tolerance;
    gram_linear_machine *machines; /* one for each pair */
} pairs;

static int64_t pair_count(const gram_learning *learning)
{
    return learning->classes.count * (learning->classes.count - 1) / 2;
}

/* Class a of pair number `pair` is *first. */
static void find_pair(int64_t classes, int64_t pair, int64_t *first, int64_t *second)
{
    for (*first = 0; pair >= classes - 1 - *first; ++*first) pair -= classes - 1 - *first;
    *second = *first + 1 + pair;
}

static gram_status pair_task(void *argument, const gram_worker *worker)
{
    const pairs *w = argument;
    gram_linear_machine *machine = &w->machines[worker->task];
    const int64_t m = w->state->f.m;
    gram_linear_machine_solve(machine, worker);
    for (int64_t j = 0; j < machine->p; j++) w->state->c[j * m + worker->task] = machine->w[j];
    w->state->b[worker->task] = machine->constant;
    return GRAM_OK;
}

/* The rows of a pair, their signs and bounds; memory in the fit's arena. */
static gram_status set_machine(gram_learning *learning, const pairs *w, int64_t pair, gram_linear_machine *machine)
{
    gram_status status = GRAM_OK;
    int64_t first, second, count = 0, *rows = NULL, *order = NULL;
    const int64_t n = learning->data->n, p = w->state->f.p;
    double *sign = NULL, *upper = NULL, *work = NULL, *own = NULL;
    find_pair(learning->classes.count, pair, &first, &second);
    for (int64_t i = 0; i < n; i++)
        count += learning->labels[i] == (double)first || learning->labels[i] == (double)second;
    TRY(gram_learning_take(learning, count, sizeof *rows, &rows));
    TRY(gram_learning_take(learning, count, sizeof *order, &order));
    TRY(gram_learning_take(learning, count, sizeof *sign, &sign));
    TRY(gram_learning_take(learning, count, sizeof *upper, &upper));
    TRY(gram_learning_take(learning, 3 * count, sizeof *work, &work));
    TRY(gram_learning_take(learning, p, sizeof *own, &own));
    count = 0;
    for (int64_t i = 0; i < n; i++) {
        if (learning->labels[i] != (double)first && learning->labels[i] != (double)second) continue;
        rows[count] = i;
        sign[count] = learning->labels[i] == (double)first ? 1 : -1;
        upper[count++] = w->C * (learning->weights ? learning->weights[i] : 1);
    }
    *machine = (gram_linear_machine){.n = count,
                                     .p = p,
                                     .ld = p,
                                     .z = w->z,
                                     .csr = &w->state->z,
                                     .rows = rows,
                                     .sign = sign,
                                     .upper = upper,
                                     .bias = w->bias,
                                     .tolerance = w->tolerance,
                                     .epochs = MOST_EPOCHS,
                                     .deadline = gram_time_of(learning->context, GRAM_TIME_OF_ITERATIONS),
                                     .seed = gram_context_seed(learning->context),
                                     .w = own,
                                     .work = work,
                                     .order = order};
done:
    return status;
}

/* The constant's feature is as large as the others together. */
static double bias_of(const double *z, int64_t numbers, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < numbers; i++) sum += z[i] * z[i];
    return sqrt(fmax(sum / (double)n, 1));
}

static gram_status solve(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const primal_settings *own = learning->settings;
    primal_state *state = learning->own;
    const int64_t n = learning->data->n, count = pair_count(learning);
    pairs w = {.learning = learning, .state = state};
    double *z = NULL;
    TRY(gram_primal_make_map(learning, count));
    TRY(gram_primal_hold_sparse(learning, n, learning->data->x, learning->data->d));
    if (!state->f.map->type->sparse) {
        TRY(gram_take(learning->context, "features", n * state->f.p, sizeof *z, (void **)&z));
        TRY(gram_features_transform(learning->context, state->f.map, n, learning->data->x, learning->data->d, z,
                                    state->f.p));
    }
    w.z = z;
    w.C = 1 / (2 * (double)learning->n * state->lambda);
    w.bias = !own->free.intercept ? 0
             : z                  ? bias_of(z, n * state->f.p, n)
                                  : bias_of(state->z.value, state->z.start[n], n);
    w.tolerance = isnan(own->tolerance) ? USUAL_TOLERANCE : own->tolerance;
    TRY(gram_learning_take(learning, count, sizeof *w.machines, &w.machines));
    for (int64_t k = 0; k < count; k++) TRY(set_machine(learning, &w, k, &w.machines[k]));
    const gram_sweep sweep = {.what = "support vector machine", .tasks = count, .run = pair_task, .argument = &w};
    TRY(gram_sweep_run(learning->context, &sweep));
    int converged = 1;
    for (int64_t k = 0; k < count; k++) {
        state->objective += w.machines[k].objective;
        state->gap += w.machines[k].gap;
        state->iterations += w.machines[k].iterations;
        converged &= w.machines[k].converged;
    }
    gram_primal_find_norm(state);
    const int late = !converged && gram_time_is_up(learning->context, GRAM_TIME_OF_ITERATIONS);
    if (late) gram_time_left_out(learning->context, "iterations ended early");
    if (!converged && !late)
        status = gram_learning_fail(learning, GRAM_ERROR_NUMERICAL, "Use a smaller --C, or a larger --tolerance.",
                                    "no convergence: after %" PRId64 " passes the duality gap is %.3g of the objective",
                                    state->iterations, state->gap / state->objective);
done:
    gram_csr_free(learning->context, &state->z);
    gram_give(learning->context, z);
    return status;
}

static gram_status fit(gram_learning *learning)
{
    const double usual = 1 / (2 * (double)learning->n); /* C = 1 */
    const gram_status status = gram_primal_choose(learning, usual, gram_primal_tune_classes);
    return status < 0 ? status : solve(learning);
}

/* ---- the model ---- */

/* The class with the most pairs; of equals the first. */
static int64_t vote(int64_t classes, const double *f)
{
    int64_t best = 0, most = -1, pair, votes;
    for (int64_t c = 0; c < classes; c++) {
        votes = 0;
        pair = 0;
        for (int64_t a = 0; a < classes; a++)
            for (int64_t b = a + 1; b < classes; b++, pair++) votes += (f[pair] > 0 ? a : b) == c;
        if (votes > most) most = votes, best = c;
    }
    return best;
}

static gram_status keep(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const primal_state *state = learning->own;
    const int64_t n = learning->data->n, m = state->f.m;
    double *f = NULL, *labels;
    TRY(gram_learning_take(learning, n * (m + 1), sizeof *f, &f));
    labels = f + n * m;
    TRY(gram_feature_function_values(learning->context, &state->f, learning->points, f, m));
    for (int64_t i = 0; i < n; i++) labels[i] = (double)vote(learning->classes.count, f + i * m);
    gram_keeper keeper = gram_primal_keep(learning);
    gram_keep_number(&keeper, "gap", state->gap);
    status = gram_primal_keep_classes(&keeper, learning, labels, NULL, "C");
done:
    return status;
}

static gram_status open_svm(gram_context *context, gram_predictor *predictor)
{
    gram_status status = GRAM_OK;
    TRY(gram_predictor_classes(context, predictor));
    if (predictor->wish.prob)
        return gram_predictor_fail(context, predictor, GRAM_ERROR_ARGUMENT,
                                   "Fit with --method logistic, or svm --prob.",
                                   "--prob: this machine has no probabilities");
    TRY(gram_primal_open(context, predictor));
    const int64_t classes = predictor->classes.count;
    if (((const gram_feature_function *)predictor->own)->m != classes * (classes - 1) / 2)
        return gram_predictor_damaged(context, predictor, "a classifier whose parts do not belong together");
done:
    return status;
}

static gram_status evaluate(gram_context *context, const gram_predictor *predictor, const gram_places *places,
                            double *values, int64_t ldv)
{
    gram_status status = GRAM_OK;
    const int64_t classes = predictor->classes.count, m = classes * (classes - 1) / 2;
    double *f = NULL;
    TRY(gram_take(context, "predict", places->n * m, sizeof *f, (void **)&f));
    TRY(gram_feature_function_values(context, predictor->own, places->points, f, m));
    for (int64_t i = 0; i < places->n; i++) {
        for (int64_t j = 1; j < predictor->columns.ld; j++) values[i * ldv + j] = NAN;
        values[i * ldv] = (double)vote(classes, f + i * m);
        if (predictor->columns.score >= 0 && classes == 2) values[i * ldv + predictor->columns.score] = -f[i * m];
    }
done:
    gram_give(context, f);
    return status;
}

static void report_svm(gram_report *report)
{
    gram_report_row(report, "C");
    gram_report_value(report, GRAM_FINE, gram_report_number(report, "C"));
    gram_primal_report_classes(report);
}

const gram_method gram_method_svm_features = {
    .name = "svm",
    .title = "support vector machine on finitely many features",
    .formula = "f(x) = z(x)'c + b,  c = argmin |c|^2/2 + C sum_i max(0, 1 - y_i (z(x_i)'c + b)),  z(x)'z(y) is k(x, y) "
               "or about it",
    .variant = "finitely many features",
    .marker = "map",
    .tasks = 1u << GRAM_TASK_CLASSIFICATION,
    .kernel = "rbf",
    .tuning = GRAM_TUNING_LOO,
    .python = {[GRAM_TASK_CLASSIFICATION] = "SVC"},
    .options = OPTIONS,
    .option_count = sizeof OPTIONS / sizeof *OPTIONS,
    .settings_size = sizeof(primal_settings),
    .takes = takes,
    .check = gram_primal_check,
    .plan = plan,
    .fit = fit,
    .keep = keep,
    .forget = gram_primal_forget,
    .open = open_svm,
    .evaluate = evaluate,
    .close = gram_primal_close,
    .report = report_svm,
};

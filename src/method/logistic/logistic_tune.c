/* Logistic regression by cross-validation: the criterion is the log loss of held-out rows. */
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sized_struct.h"
#include "method/logistic/logistic.h"
#include "tune/grid_search.h"

/* Fits that only choose need not be exact. */
static const double TOLERANCE = 1e-4;
enum { MOST_STEPS = 50, ROWS = 1000, ROWS_OF_SEVERAL = 1500 };

typedef struct tuning {
    const gram_problem *problem;
    int64_t classes, outputs;
    int intercept;
    double *label, *weights; /* of the training rows */
} tuning;

void gram_logistic_tune_options_init(gram_logistic_tune_options *options, size_t size)
{
    const gram_logistic_tune_options defaults = {.folds = 5, .intercept = 1};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

static gram_status path(gram_context *context, void *argument, gram_fold *fold)
{
    gram_status status = GRAM_OK;
    const tuning *t = argument;
    gram_logistic_solution s = {.k = fold->k,
                                .classes = t->classes,
                                .outputs = t->outputs,
                                .label = t->label,
                                .weights = t->problem->weights ? t->weights : NULL,
                                .intercept = t->intercept,
                                .tolerance = TOLERANCE,
                                .most = MOST_STEPS};
    for (int64_t i = 0; i < fold->count; i++) {
        t->label[i] = t->problem->y[fold->rows[i]];
        t->weights[i] = gram_problem_weight(t->problem, fold->rows[i]);
    }
    TRY(gram_logistic_solution_take(context, &s));
    gram_logistic_start(&s);
    for (int64_t i = 0; i < fold->strengths; i++) {
        s.c = fold->c[i];
        TRY(gram_logistic_solve(context, &s));
        gram_fold_predict(fold, i, s.a, s.b);
        fold->fits++;
    }
done:
    gram_logistic_solution_give(context, &s);
    return status;
}

static double criterion(const void *argument, const double *f)
{
    const tuning *t = argument;
    const gram_problem *p = t->problem;
    double sum = 0;
    for (int64_t i = 0; i < p->n; i++)
        sum += gram_problem_weight(p, i) * gram_logistic_loss(t->outputs, f + i * t->outputs, (int64_t)p->y[i]);
    return sum / p->total;
}

static gram_status check(gram_context *context, const gram_logistic_tune_options *o, int64_t n, int64_t classes,
                         const double *held_out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    FAIL_IF(o->folds < 2 || o->folds > n, context, GRAM_ERROR_ARGUMENT,
            "logistic_tune: folds = %lld, need 2 to the %lld rows", (long long)o->folds, (long long)n);
    FAIL_IF(o->rows < 0 || o->rows == 1, context, GRAM_ERROR_ARGUMENT,
            "logistic_tune: rows = %lld, need at least 2, or 0", (long long)o->rows);
    FAIL_IF(held_out && ldo < classes, context, GRAM_ERROR_ARGUMENT,
            "logistic_tune: ldo = %lld is less than %lld classes", (long long)ldo, (long long)classes);
done:
    return status;
}

/* Probabilities from the latent predictions, by the caller's rows. */
static void tell_held_out(const tuning *t, const double *f, double *out, int64_t ldo)
{
    const gram_problem *p = t->problem;
    for (int64_t i = 0; i < p->given; i++)
        for (int64_t c = 0; c < t->classes; c++) out[i * ldo + c] = NAN;
    for (int64_t i = 0; i < p->n; i++)
        gram_logistic_row(t->classes, t->outputs, f + i * t->outputs, out + (p->rows ? p->rows[i] : i) * ldo);
}

/* On the rows of `problem`, `rows` being all there are. */
static gram_status tune(gram_context *context, const gram_problem *problem, int64_t rows, int64_t classes,
                        const gram_logistic_tune_options *o, gram_grid_search *g, double *held_out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    const int64_t n = problem->n, outputs = classes == 2 && !o->softmax ? 1 : classes;
    tuning t = {.problem = problem, .classes = classes, .outputs = outputs, .intercept = o->intercept != 0};
    int64_t *fold = NULL;
    double *f = NULL;
    TRY(gram_take(context, "folds", n, sizeof *fold, (void **)&fold));
    TRY(gram_take(context, "labels", n, sizeof(double), (void **)&t.label));
    TRY(gram_take(context, "weights", n, sizeof(double), (void **)&t.weights));
    TRY(gram_take(context, "held-out predictions", n * outputs, sizeof(double), (void **)&f));
    TRY(gram_loss_deal(context, n, problem->y, classes, o->folds, fold));
    *g = (gram_grid_search){.name = "logistic_tune",
                            .problem = problem,
                            .rows = rows,
                            .outputs = outputs,
                            .fold = fold,
                            .folds = o->folds,
                            .width_count = o->width_count,
                            .widths = o->widths,
                            .lambda_count = o->lambda_count,
                            .lambdas = o->lambdas,
                            .ard = o->ard,
                            .classes = classes,
                            .argument = &t,
                            .path = path,
                            .criterion = criterion,
                            .grid = g->grid,
                            .held_out = f};
    TRY(gram_grid_search_run(context, g));
    if (held_out) tell_held_out(&t, f, held_out, ldo);
done:
    gram_give(context, fold);
    gram_give(context, t.label);
    gram_give(context, t.weights);
    gram_give(context, f);
    return status;
}

gram_status gram_logistic_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t classes,
                               const int64_t *label, const gram_logistic_tune_options *options, gram_kernel **tuned,
                               double *lambda, gram_grid_report *report, gram_grid_point *grid, double *held_out,
                               int64_t ldo)
{
    gram_status status = GRAM_OK;
    gram_logistic_tune_options o;
    gram_problem all = {0}, some = {0};
    gram_grid_search g = {.grid = grid};
    double *weights = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    if (tuned) *tuned = NULL;
    FAIL_IF(!tuned || !lambda, context, GRAM_ERROR_ARGUMENT, "logistic_tune: %s is NULL", tuned ? "lambda" : "tuned");
    gram_logistic_tune_options_init(&o, sizeof o);
    TRY(gram_sized_read(context, "logistic_tune", "options", "gram_logistic_tune_options", options, &o, sizeof o));
    TRY(gram_sized_check(context, "logistic_tune", "report", "gram_grid_report", report, sizeof *report));
    TRY(gram_logistic_problem(context, "logistic_tune", kernel, x, classes, label, o.weights, 2, &all));
    TRY(check(context, &o, all.n, classes, held_out, ldo));
    if (o.rows == 0) o.rows = classes == 2 && !o.softmax ? ROWS : (int64_t)(ROWS_OF_SEVERAL / sqrt((double)classes));
    TRY(gram_loss_thin(context, &all, classes, o.rows, 2, &weights));
    if (weights) TRY(gram_logistic_problem(context, "logistic_tune", kernel, x, classes, label, weights, 2, &some));
    TRY(tune(context, weights ? &some : &all, all.n, classes, &o, &g, held_out, ldo));
    *tuned = g.tuned;
    *lambda = g.lambda;
    gram_sized_write(report, &g.report, sizeof g.report);
done:
    gram_give(context, weights);
    gram_problem_free(context, &some);
    gram_problem_free(context, &all);
    return status;
}

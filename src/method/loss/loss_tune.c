/* Width and strength for any loss by cross-validation: the criterion is the loss of held-out rows. */
#include <math.h>
#include <string.h>

#include "base/sized_struct.h"
#include "method/loss/loss.h"
#include "tune/grid_search.h"

static const double TOLERANCE = 1e-4; /* of the gap: fits that only choose */

typedef struct tuning {
    const gram_problem *problem;
    gram_loss_options options;
    int64_t outputs;
    double *y, *weights; /* of the training rows */
} tuning;

void gram_loss_tune_options_init(gram_loss_tune_options *options, size_t size)
{
    gram_loss_tune_options defaults = {.folds = 5, .rows = 2000};
    gram_loss_options_init(&defaults.loss, sizeof defaults.loss);
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

static gram_status path(gram_context *context, void *argument, gram_fold *fold)
{
    gram_status status = GRAM_OK;
    const tuning *t = argument;
    gram_loss_solution s = {.k = fold->k,
                            .options = &t->options,
                            .y = t->y,
                            .weights = t->problem->weights ? t->weights : NULL,
                            .outputs = t->outputs};
    for (int64_t i = 0; i < fold->count; i++) {
        t->y[i] = t->problem->y[fold->rows[i]];
        t->weights[i] = gram_problem_weight(t->problem, fold->rows[i]);
    }
    TRY(gram_loss_solution_take(context, &s));
    for (int64_t i = 0; i < fold->strengths; i++) {
        s.c = fold->c[i];
        s.warm = i > 0;
        TRY(gram_loss_solve(context, &s));
        gram_fold_predict(fold, i, s.a, s.b);
        fold->fits++;
    }
done:
    gram_loss_solution_give(context, &s);
    return status;
}

static double criterion(const void *argument, const double *f)
{
    const tuning *t = argument;
    const gram_problem *p = t->problem;
    return gram_loss_sum(&t->options, p->n, t->outputs, p->y, p->weights, f) / p->total;
}

static gram_status check(gram_context *context, const gram_loss_tune_options *o, int64_t n, int64_t outputs,
                         const double *held_out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    FAIL_IF(o->folds < 2 || o->folds > n, context, GRAM_ERROR_ARGUMENT,
            "loss_tune: folds = %lld, need 2 to the %lld rows", (long long)o->folds, (long long)n);
    FAIL_IF(o->rows < 2, context, GRAM_ERROR_ARGUMENT, "loss_tune: rows = %lld, need at least 2", (long long)o->rows);
    FAIL_IF(held_out && ldo < outputs, context, GRAM_ERROR_ARGUMENT, "loss_tune: ldo = %lld is less than %lld outputs",
            (long long)ldo, (long long)outputs);
done:
    return status;
}

static void tell_held_out(const tuning *t, const double *f, double *out, int64_t ldo)
{
    const gram_problem *p = t->problem;
    for (int64_t i = 0; i < p->given; i++)
        for (int64_t c = 0; c < t->outputs; c++) out[i * ldo + c] = NAN;
    for (int64_t i = 0; i < p->n; i++)
        memcpy(out + (p->rows ? p->rows[i] : i) * ldo, f + i * t->outputs, (size_t)t->outputs * sizeof *out);
}

static gram_status tune(gram_context *context, const gram_problem *problem, int64_t rows,
                        const gram_loss_tune_options *o, const gram_loss_options *loss, gram_grid_search *g,
                        double *held_out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    const int64_t n = problem->n, outputs = gram_loss_outputs(loss);
    tuning t = {.problem = problem, .options = *loss, .outputs = outputs};
    int64_t *fold = NULL;
    double *f = NULL;
    t.options.tolerance = TOLERANCE;
    t.options.non_crossing = 0;
    TRY(gram_take(context, "folds", n, sizeof *fold, (void **)&fold));
    TRY(gram_take(context, "targets", n, sizeof(double), (void **)&t.y));
    TRY(gram_take(context, "weights", n, sizeof(double), (void **)&t.weights));
    TRY(gram_take(context, "held-out predictions", n * outputs, sizeof(double), (void **)&f));
    TRY(gram_loss_deal(context, n, NULL, 1, o->folds, fold));
    *g = (gram_grid_search){.name = "loss_tune",
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
                            .unit = g->unit,
                            .argument = &t,
                            .path = path,
                            .criterion = criterion,
                            .grid = g->grid,
                            .held_out = f};
    TRY(gram_grid_search_run(context, g));
    if (held_out) tell_held_out(&t, f, held_out, ldo);
done:
    gram_give(context, fold);
    gram_give(context, t.y);
    gram_give(context, t.weights);
    gram_give(context, f);
    return status;
}

/* A loss in units of squared targets: what lambda |f|^2 is compared with. For a loss of degree 1 at residuals of the
 * size v that is v. */
static double unit_of(const gram_problem *p, const gram_loss_options *o)
{
    double mean = 0, scale = 0;
    for (int64_t i = 0; i < p->n; i++) mean += gram_problem_weight(p, i) * p->y[i] / p->total;
    for (int64_t i = 0; i < p->n; i++) scale += gram_problem_weight(p, i) * fabs(p->y[i] - mean) / p->total;
    if (!(scale > 0) || o->kind == GRAM_LOSS_SQUARED) return 1;
    return o->kind == GRAM_LOSS_HUBER ? fmin(1, o->delta / scale) : 1 / scale;
}

gram_status gram_loss_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                           const gram_loss_tune_options *options, gram_kernel **tuned, double *lambda,
                           gram_grid_report *report, gram_grid_point *grid, double *held_out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    gram_loss_tune_options o;
    gram_loss_options loss;
    gram_problem all = {0}, some = {0};
    gram_grid_search g = {.grid = grid};
    double *weights = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    if (tuned) *tuned = NULL;
    FAIL_IF(!tuned || !lambda, context, GRAM_ERROR_ARGUMENT, "loss_tune: %s is NULL", tuned ? "lambda" : "tuned");
    gram_loss_tune_options_init(&o, sizeof o);
    TRY(gram_sized_read(context, "loss_tune", "options", "gram_loss_tune_options", options, &o, sizeof o));
    TRY(gram_sized_check(context, "loss_tune", "report", "gram_grid_report", report, sizeof *report));
    TRY(gram_loss_options_read(context, "loss_tune", "options.loss", &o.loss, &loss));
    TRY(gram_problem_make(context, "loss_tune", kernel, x, 1, y, 1, loss.weights, &all));
    TRY(check(context, &o, all.n, gram_loss_outputs(&loss), held_out, ldo));
    TRY(gram_loss_thin(context, &all, 1, o.rows, 2, &weights));
    if (weights) TRY(gram_problem_make(context, "loss_tune", kernel, x, 1, y, 1, weights, &some));
    g.unit = unit_of(&all, &loss);
    TRY(tune(context, weights ? &some : &all, all.n, &o, &loss, &g, held_out, ldo));
    *tuned = g.tuned;
    *lambda = g.lambda;
    gram_sized_write(report, &g.report, sizeof g.report);
done:
    gram_give(context, weights);
    gram_problem_free(context, &some);
    gram_problem_free(context, &all);
    return status;
}

/* Width and strength for any loss by cross-validation: the criterion is the loss of held-out rows. */
#include <math.h>
#include <string.h>

#include "base/sized_struct.h"
#include "method/loss/loss.h"
#include "tune/fold_fits.h"

static const double TOLERANCE = 1e-4; /* of the gap: fits that only choose */

typedef struct tuning {
    gram_kernel *kernel;
    const gram_points *x;
    const double *y;
    gram_loss_options options;
    int64_t outputs;
} tuning;

void gram_loss_tune_options_init(gram_loss_tune_options *options, size_t size)
{
    const gram_loss_tune_options defaults = {.folds = 5, .rows = 2000};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

static gram_status make_problem(gram_context *context, const void *argument, const double *weights, gram_problem *out)
{
    const tuning *t = argument;
    const gram_status status = gram_problem_make(context, "loss_tune", t->kernel, t->x, 1, t->y, 1, weights, out);
    if (status < 0) return status;
    return gram_problem_set_unpenalised(context, "loss_tune", t->options.intercept, t->options.unpenalised_count,
                                        t->options.unpenalised, out);
}

static gram_status path(gram_context *context, void *argument, gram_fold *fold)
{
    gram_status status = GRAM_OK;
    const tuning *t = argument;
    gram_loss_solution s = {.k = fold->k,
                            .options = &t->options,
                            .y = fold->y,
                            .weights = fold->weights,
                            .outputs = t->outputs,
                            .intercept = t->options.intercept != 0,
                            .q = fold->q,
                            .unpenalised = fold->t};
    TRY(gram_loss_solution_take(context, &s));
    for (int64_t i = 0; i < fold->strengths; i++) {
        s.c = fold->c[i];
        s.warm = i > 0;
        TRY(gram_loss_solve(context, &s));
        if (!gram_fold_predict(fold, i, s.a, s.b)) break;
    }
done:
    gram_loss_solution_give(context, &s);
    return status;
}

static void score(const void *argument, double y, const double *f, double *losses)
{
    const tuning *t = argument;
    for (int64_t o = 0; o < t->outputs; o++) losses[o] = gram_loss_at(&t->options, o, y, f[o]);
}

static void tell(const void *argument, const double *f, double *out)
{
    const tuning *t = argument;
    memcpy(out, f, (size_t)t->outputs * sizeof *out);
}

/* A loss in units of squared targets: what lambda |f|^2 is compared with. For a loss of degree 1 at residuals of the
 * size v that is v. */
static double unit_of(const void *argument, const gram_problem *p)
{
    const gram_loss_options *o = &((const tuning *)argument)->options;
    double mean = 0, scale = 0;
    for (int64_t i = 0; i < p->n; i++) mean += gram_problem_weight(p, i) * p->y[i] / p->total;
    for (int64_t i = 0; i < p->n; i++) scale += gram_problem_weight(p, i) * fabs(p->y[i] - mean) / p->total;
    if (!(scale > 0) || o->kind == GRAM_LOSS_SQUARED || o->kind == GRAM_LOSS_CALLBACK) return 1;
    return o->kind == GRAM_LOSS_HUBER ? fmin(1, o->delta / scale) : 1 / scale;
}

gram_status gram_loss_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                           const gram_loss_tune_options *options, gram_kernel **tuned, double *lambda,
                           gram_grid_report *report, gram_grid_point *grid, double *held_out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    gram_loss_tune_options o;
    tuning t = {.kernel = kernel, .x = x, .y = y};
    if (!context) return GRAM_ERROR_ARGUMENT;
    if (tuned) *tuned = NULL;
    gram_loss_tune_options_init(&o, sizeof o);
    TRY(gram_sized_read(context, "loss_tune", "options", "gram_loss_tune_options", options, &o, sizeof o));
    TRY(gram_loss_options_read(context, "loss_tune", "options.loss", o.loss, &t.options));
    t.outputs = gram_loss_outputs(&t.options);
    t.options.tolerance = TOLERANCE;
    t.options.non_crossing = 0;
    const gram_fit_search search = {.name = "loss_tune",
                                    .outputs = t.outputs,
                                    .folds = o.folds,
                                    .rows = o.rows,
                                    .width_count = o.width_count,
                                    .widths = o.widths,
                                    .lambda_count = o.lambda_count,
                                    .lambdas = o.lambdas,
                                    .weights = t.options.weights,
                                    .groups = o.groups,
                                    .ordered = o.ordered,
                                    .ard = o.ard,
                                    .argument = &t,
                                    .problem = make_problem,
                                    .unit = unit_of,
                                    .path = path,
                                    .score = score,
                                    .score_columns = t.outputs,
                                    .tell = tell,
                                    .held_out = held_out,
                                    .held_columns = t.outputs,
                                    .ldo = ldo,
                                    .grid = grid};
    TRY(gram_fit_search_run(context, &search, tuned, lambda, report));
done:
    return status;
}

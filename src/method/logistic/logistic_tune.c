/* Logistic regression by cross-validation: the criterion is the log loss of held-out rows. */
#include <math.h>
#include <string.h>

#include "base/sized_struct.h"
#include "method/logistic/logistic.h"
#include "points/functionals.h"
#include "tune/fold_fits.h"

/* Fits that only choose need not be exact. */
static const double TOLERANCE = 1e-4;
enum { MOST_STEPS = 50, ROWS = 1000, ROWS_OF_SEVERAL = 1500 };

typedef struct tuning {
    gram_kernel *kernel;
    const gram_points *x;
    const double *y;
    int64_t classes, outputs;
    const gram_logistic_tune_options *options;
} tuning;

void gram_logistic_tune_options_init(gram_logistic_tune_options *options, size_t size)
{
    const gram_logistic_tune_options defaults = {.folds = 5, .intercept = 1};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

static gram_status make_problem(gram_context *context, const void *argument, const double *weights, gram_problem *out)
{
    const tuning *t = argument;
    const gram_status status =
        gram_logistic_problem(context, "logistic_tune", t->kernel, t->x, t->classes, t->y, weights, 2, out);
    if (status < 0) return status;
    return gram_problem_set_unpenalised(context, "logistic_tune", t->options->intercept, t->options->unpenalised_count,
                                        t->options->unpenalised, out);
}

static gram_status path(gram_context *context, void *argument, gram_fold *fold)
{
    gram_status status = GRAM_OK;
    const tuning *t = argument;
    gram_logistic_solution s = {.k = fold->k,
                                .classes = t->classes,
                                .outputs = t->outputs,
                                .label = fold->y,
                                .weights = fold->weights,
                                .intercept = t->options->intercept != 0,
                                .q = fold->q,
                                .unpenalised = fold->t,
                                .tolerance = TOLERANCE,
                                .most = MOST_STEPS};
    TRY(gram_logistic_solution_take(context, &s));
    gram_logistic_start(&s);
    for (int64_t i = 0; i < fold->strengths; i++) {
        s.c = fold->c[i];
        TRY(gram_logistic_solve(context, &s));
        if (!gram_fold_predict(fold, i, s.a, s.b)) break;
    }
done:
    gram_logistic_solution_give(context, &s);
    return status;
}

static void score(const void *argument, double y, const double *f, double *loss)
{
    const tuning *t = argument;
    *loss = gram_logistic_loss(t->outputs, f, (int64_t)y);
}

/* Probabilities from the latent predictions. */
static void tell(const void *argument, const double *f, double *out)
{
    const tuning *t = argument;
    gram_logistic_row(t->classes, t->outputs, f, out);
}

gram_status gram_logistic_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t classes,
                               const double *y, const gram_logistic_tune_options *options, gram_kernel **tuned,
                               double *lambda, gram_grid_report *report, gram_grid_point *grid, double *held_out,
                               int64_t ldo)
{
    gram_status status = GRAM_OK;
    gram_logistic_tune_options o;
    if (!context) return GRAM_ERROR_ARGUMENT;
    if (tuned) *tuned = NULL;
    gram_logistic_tune_options_init(&o, sizeof o);
    TRY(gram_points_must_be_plain(context, "logistic_tune", x));
    TRY(gram_sized_read(context, "logistic_tune", "options", "gram_logistic_tune_options", options, &o, sizeof o));
    const int64_t outputs = classes == 2 && !o.softmax ? 1 : classes;
    const int64_t usual = outputs == 1 ? ROWS : (int64_t)(ROWS_OF_SEVERAL / sqrt((double)(classes > 1 ? classes : 1)));
    tuning t = {kernel, x, y, classes, outputs, &o};
    const gram_fit_search search = {.name = "logistic_tune",
                                    .classes = classes,
                                    .outputs = outputs,
                                    .folds = o.folds,
                                    .rows = o.rows == 0 ? usual : o.rows,
                                    .width_count = o.width_count,
                                    .widths = o.widths,
                                    .lambda_count = o.lambda_count,
                                    .lambdas = o.lambdas,
                                    .weights = o.weights,
                                    .groups = o.groups,
                                    .ordered = o.ordered,
                                    .ard = o.ard,
                                    .argument = &t,
                                    .problem = make_problem,
                                    .path = path,
                                    .score = score,
                                    .score_columns = 1,
                                    .tell = tell,
                                    .held_out = held_out,
                                    .held_columns = classes,
                                    .ldo = ldo,
                                    .grid = grid};
    TRY(gram_fit_search_run(context, &search, tuned, lambda, report));
done:
    return status;
}

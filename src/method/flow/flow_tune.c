/* When to stop, and how wide the kernel is: the grid engine of src/tune with times as strengths. One eigendecomposition of all
 * rows (approximate leave-one-out, GCV), or of the rows that a fold leaves (folds, holdout), gives the predictions for all times.
 *
 * Times are those of n rows. Rates l/n of a flow of functions tend to the eigenvalues of the kernel's operator as n grows, so that a
 * time found on some of the rows is the one for all; those of coefficients, l^2/n, grow like n, and times are scaled by it. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <gram/flow.h>

#include "base/sized_struct.h"
#include "method/flow/flow.h"
#include "tune/grid_search.h"

enum { MOST_ROWS = 1200, FOLDS = 5, WIDTH_COUNT = 7, MIDDLE = 4, TIMES = 41 };

static const double WIDTHS[WIDTH_COUNT] = {0.0625, 0.125, 0.25, 0.5, 1, 2, 4};
static const double CLEARLY = 0.95; /* of two searches the better is better by chance otherwise */
static const size_t ROOM = (size_t)1 << 28;

typedef struct tuning {
    const gram_flow_problem *f; /* of the rows that are tuned on; f->initial is f_0 but for the mean */
    gram_flow_criterion criterion;
    int64_t all;    /* rows that the time is for */
    double *target; /* n x m: y - f_0, the mean still in it */
    int64_t *rows;  /* n: training rows of a fold, and from the end the held ones */
    double *work;   /* n x m: targets of the training rows */
    double *root;   /* n, or NULL: of the training rows */
} tuning;

void gram_flow_tune_options_init(gram_flow_tune_options *options, size_t size)
{
    const gram_flow_tune_options defaults = {.size = sizeof defaults, .folds = FOLDS, .ard = -1, .rows = MOST_ROWS};
    gram_sized_init(options, size, &defaults, sizeof defaults);
}

static double time_for(const tuning *t, double time, int64_t rows)
{
    const int scaled = t->f->options.parameters == GRAM_FLOW_COEFFICIENTS;
    return scaled ? time * ((double)t->all / (double)rows) : time;
}

/* Weighted means of the targets of rows, and targets about them times sqrt(w). */
static void centre(const tuning *t, int64_t count, const int64_t *rows, double *means, double *out)
{
    const gram_problem *p = &t->f->p;
    const int64_t m = p->m;
    double total = 0;
    memset(means, 0, (size_t)m * sizeof *means);
    for (int64_t i = 0; i < count && t->f->options.intercept; i++) {
        const double w = gram_problem_weight(p, rows[i]);
        total += w;
        for (int64_t c = 0; c < m; c++) means[c] += w * t->target[rows[i] * m + c];
    }
    for (int64_t c = 0; c < m && total > 0; c++) means[c] /= total;
    for (int64_t i = 0; i < count; i++)
        for (int64_t c = 0; c < m; c++)
            out[i * m + c] = gram_flow_root(t->f->root, rows[i]) * (t->target[rows[i] * m + c] - means[c]);
}

/* ---- one fold ---- */

/* f(x_i) of the held rows for all times: K(held, rows) a, a = S V gain z. */
static gram_status predict_fold(gram_context *context, const tuning *t, const gram_flow_spectrum *e,
                                const gram_grid_batch *b, const double *k, int64_t held, const double *means,
                                const double *z, double *out)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = &t->f->p;
    const int64_t n = p->n, m = p->m, count = e->n;
    double *direction = NULL, *a = NULL;
    TRY(gram_take(context, "flow_tune", count * m, sizeof *direction, (void **)&direction));
    TRY(gram_take(context, "flow_tune", count * m, sizeof *a, (void **)&a));
    for (int64_t s = 0; s < b->strengths; s++) {
        const double time = time_for(t, b->strength[s], count);
        for (int64_t j = 0; j < count * m; j++) direction[j] = gram_flow_gain(e, time, j / m) * z[j];
        TRY(gram_flow_combine(context, e, m, direction, a));
        for (int64_t i = 0; i < count * m && t->f->root; i++) a[i] *= t->root[i / m];
        for (int64_t h = n - held; h < n; h++)
            for (int64_t c = 0; c < m; c++) {
                const double *row = k + t->rows[h] * n;
                double sum = means[c];
                for (int64_t i = 0; i < count; i++) sum += row[t->rows[i]] * a[i * m + c];
                out[(s * n + t->rows[h]) * m + c] = sum;
            }
    }
done:
    gram_give(context, direction);
    gram_give(context, a);
    return status;
}

/* Training rows first, held ones from the end; returns how many train. */
static int64_t divide(tuning *t, const gram_grid_batch *b, int64_t fold, int64_t *held)
{
    int64_t count = 0;
    *held = 0;
    for (int64_t i = 0; i < b->n; i++)
        if (b->fold[i] == fold)
            t->rows[b->n - ++*held] = i;
        else if (gram_fold_trains(b->fold[i], fold, b->ordered))
            t->rows[count++] = i;
    for (int64_t i = 0; i < count && t->root; i++) t->root[i] = t->f->root[t->rows[i]];
    return count;
}

static gram_status fit_fold(gram_context *context, tuning *t, const gram_grid_batch *b, const double *k, int64_t fold,
                            double *out)
{
    gram_status status = GRAM_OK;
    const int64_t n = b->n, m = b->outputs;
    int64_t held = 0;
    const int64_t count = divide(t, b, fold, &held);
    gram_flow_spectrum e = {0};
    double *part = NULL, *z = NULL, *means = NULL;
    if (count == 0 || held == 0) return GRAM_OK;
    TRY(gram_take(context, "flow_tune: the matrix", count * count, sizeof *part, (void **)&part));
    TRY(gram_take(context, "flow_tune", count * m, sizeof *z, (void **)&z));
    TRY(gram_take(context, "flow_tune", m, sizeof *means, (void **)&means));
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j <= i; j++) part[i * count + j] = k[t->rows[i] * n + t->rows[j]];
    TRY(gram_flow_decompose(context, "flow_tune", count, part, t->root, INT64_MAX, t->f->options.parameters, &e));
    centre(t, count, t->rows, means, t->work);
    TRY(gram_flow_project(context, &e, m, t->work, z));
    TRY(predict_fold(context, t, &e, b, k, held, means, z, out));
done:
    gram_flow_spectrum_free(context->memory, &e);
    gram_give(context, part);
    gram_give(context, z);
    gram_give(context, means);
    return status;
}

/* ---- all rows ---- */

/* y_i - (y_i - f_t(x_i))/(1 - A_ii), or with tr A/n for A_ii: as if row i had been left out. */
static gram_status leave_out(gram_context *context, const tuning *t, gram_flow *flow, const gram_grid_batch *b,
                             double *out)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = b->n * b->outputs;
    double *times = NULL;
    TRY(gram_take(context, "flow_tune", b->strengths, sizeof *times, (void **)&times));
    for (int64_t s = 0; s < b->strengths; s++) times[s] = time_for(t, b->strength[s], b->n);
    TRY(gram_flow_values(context, flow, b->strengths, times, out));
    for (int64_t s = 0; s < b->strengths; s++)
        TRY(gram_flow_correct(context, flow, times[s], t->criterion == GRAM_FLOW_GCV, out + s * numbers));
done:
    gram_give(context, times);
    return status;
}

static gram_status fit_all(gram_context *context, tuning *t, const gram_grid_batch *b, gram_kernel *kernel, double *out)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = &t->f->p;
    gram_flow *flow = NULL;
    gram_flow_options options = t->f->options;
    options.weights = p->weights;
    options.initial = NULL;
    TRY(gram_flow_create(context, kernel, p->x, p->m, t->target, p->m, &options, &flow));
    TRY(leave_out(context, t, flow, b, out));
done:
    gram_flow_destroy(flow);
    return status;
}

static gram_status fit_folds(gram_context *context, tuning *t, gram_grid_batch *b, gram_kernel *kernel, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t n = b->n;
    double *k = NULL;
    TRY(gram_take(context, "flow_tune: the matrix", n * n, sizeof *k, (void **)&k));
    TRY(gram_matrix(context, kernel, t->f->p.x, NULL, k, n));
    for (int64_t fold = 0; fold < b->folds; fold++) {
        if (t->criterion == GRAM_FLOW_HOLDOUT && fold != b->folds - 1) continue;
        TRY(fit_fold(context, t, b, k, fold, out));
        b->work.fits++;
    }
done:
    gram_give(context, k);
    return status;
}

static gram_status run(gram_context *context, void *argument, gram_grid_batch *b)
{
    gram_status status = GRAM_OK;
    tuning *t = argument;
    const gram_progress_fn progress = context->progress;
    context->progress = NULL;
    for (int64_t w = 0; w < b->count; w++) {
        double *out = gram_grid_out(b, w, 0);
        if (t->criterion == GRAM_FLOW_CV || t->criterion == GRAM_FLOW_HOLDOUT) {
            TRY(fit_folds(context, t, b, b->kernels[w], out));
        } else {
            TRY(fit_all(context, t, b, b->kernels[w], out));
            b->work.fits++;
        }
        const double share = (double)(b->first + w + 1) / (double)b->widths;
        if (progress) progress(context->progress_user, "when to stop", share);
    }
done:
    context->progress = progress;
    return status;
}

static gram_status score(gram_context *context, const void *argument, const double *f, double *scores)
{
    const tuning *t = argument;
    const int64_t m = t->f->p.m;
    (void)context;
    for (int64_t i = 0; i < t->f->p.n; i++) {
        scores[i] = 0;
        for (int64_t c = 0; c < m; c++) {
            const double miss = t->target[i * m + c] - f[i * m + c];
            scores[i] += miss * miss / (double)m;
        }
    }
    return GRAM_OK;
}

/* ---- the search ---- */

static gram_status check_list(gram_context *context, const char *name, int64_t count, const double *values)
{
    gram_status status = GRAM_OK;
    FAIL_IF(count < 0 || (count > 0 && !values), context, GRAM_ERROR_ARGUMENT,
            "flow_tune: %s_count = %" PRId64 " needs %ss", name, count, name);
    for (int64_t i = 0; i < count; i++)
        FAIL_IF(!(values[i] > 0 && (isfinite(values[i]) || name[0] == 't')), context, GRAM_ERROR_ARGUMENT,
                "flow_tune: %ss[%" PRId64 "] = %g, need a number above 0", name, i, values[i]);
done:
    return status;
}

static gram_status check(gram_context *context, const gram_flow_tune_options *o, int64_t n)
{
    gram_status status = GRAM_OK;
    const int folds = o->criterion == GRAM_FLOW_CV || o->criterion == GRAM_FLOW_HOLDOUT;
    FAIL_IF((int)o->criterion < 0 || o->criterion > GRAM_FLOW_HOLDOUT, context, GRAM_ERROR_ARGUMENT,
            "flow_tune: criterion = %d is not known", (int)o->criterion);
    FAIL_IF(folds && (o->folds < 2 || o->folds > n), context, GRAM_ERROR_ARGUMENT,
            "flow_tune: folds = %" PRId64 ", need 2 to the %" PRId64 " rows", o->folds, n);
    FAIL_IF(o->rows < 2 || n < 2, context, GRAM_ERROR_ARGUMENT, "flow_tune: %s = %" PRId64 ", need at least 2",
            o->rows < 2 ? "rows" : "n", o->rows < 2 ? o->rows : n);
    FAIL_IF(!(o->longest >= 0), context, GRAM_ERROR_ARGUMENT, "flow_tune: longest = %g is negative", o->longest);
    TRY(gram_folds_check_options(context, "flow_tune", o->groups, o->ordered));
    TRY(check_list(context, "width", o->width_count, o->widths));
    TRY(check_list(context, "time", o->time_count, o->times));
done:
    return status;
}

/* The mean of w k(x, x) bounds l_1/n: from a tenth of its time on, the first direction begins to be learnt. */
static gram_status fill_times(gram_context *context, const tuning *t, const gram_kernel *kernel, double longest,
                              double *times, int64_t *count)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = &t->f->p;
    const int squared = t->f->options.parameters == GRAM_FLOW_COEFFICIENTS;
    double *diagonal = NULL, mean = 0;
    TRY(gram_take(context, "flow_tune", p->n, sizeof *diagonal, (void **)&diagonal));
    TRY(gram_matrix_diagonal(context, kernel, p->x, diagonal));
    for (int64_t i = 0; i < p->n; i++) mean += gram_problem_weight(p, i) * diagonal[i] / (double)p->n;
    const double rate = mean > 0 ? squared ? mean * mean * (double)t->all : mean : 1;
    *count = 0;
    for (int s = 0; s < TIMES; s++) {
        const double turns = pow(10, (squared ? 0.375 : 0.25) * s - 1);
        if (longest == 0 || turns <= longest || s == 0) times[(*count)++] = turns / rate;
    }
done:
    gram_give(context, diagonal);
    return status;
}

static gram_status search(gram_context *context, tuning *t, const gram_flow_tune_options *o, gram_kernel **tuned,
                          double *time, gram_grid_report *report)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = &t->f->p;
    gram_kernel *resolved = NULL;
    double times[TIMES];
    int lengths = 0;
    int64_t count = 0;
    TRY(gram_kernel_resolve(context, p->kernel, p->x, &resolved));
    TRY(gram_grid_has_lengths(context, resolved, p->x, &lengths));
    TRY(fill_times(context, t, resolved, o->longest, times, &count));
    gram_grid_search g = {.name = "flow_tune",
                          .kernel = p->kernel,
                          .x = p->x,
                          .y = t->target,
                          .weights = p->weights,
                          .outputs = p->m,
                          .rows = {.folds = o->criterion >= GRAM_FLOW_CV ? o->folds : 2,
                                   .groups = o->criterion >= GRAM_FLOW_CV ? o->groups : NULL,
                                   .rows = p->rows,
                                   .ordered = o->criterion >= GRAM_FLOW_CV && o->ordered},
                          .holdout = o->criterion == GRAM_FLOW_HOLDOUT,
                          .width_count = o->width_count > 0 ? o->width_count
                                         : lengths          ? WIDTH_COUNT
                                                            : 1,
                          .widths = o->width_count > 0 ? o->widths
                                    : lengths          ? WIDTHS
                                                       : &WIDTHS[MIDDLE],
                          .strength_count = o->time_count > 0 ? o->time_count : count,
                          .strengths = o->time_count > 0 ? o->times : times,
                          .ard = p->m == 1 ? o->ard : 0,
                          .room = ROOM,
                          .rule = {.ratio = CLEARLY},
                          .argument = t,
                          .run = run,
                          .score = score,
                          .score_columns = 1};
    TRY(gram_grid_search_run(context, &g));
    *tuned = g.found.kernel;
    *time = g.strengths[g.found.strength];
    const gram_grid_report made = {.rows = p->n,
                                   .points = g.width_count * g.strength_count,
                                   .fits = g.found.work.fits,
                                   .value = g.found.score,
                                   .at_bound = g.found.at_bound,
                                   .ard_kept = g.found.ard_kept};
    gram_sized_write(report, &made, sizeof made);
done:
    gram_kernel_release(resolved);
    return status;
}

static gram_status open(gram_context *context, const gram_flow_problem *f, tuning *t)
{
    gram_status status = GRAM_OK;
    const int64_t n = f->p.n, numbers = n * f->p.m;
    t->f = f;
    TRY(gram_take(context, "flow_tune", numbers, sizeof(double), (void **)&t->target));
    TRY(gram_take(context, "flow_tune", numbers, sizeof(double), (void **)&t->work));
    TRY(gram_take(context, "flow_tune", n, sizeof *t->rows, (void **)&t->rows));
    if (f->root) TRY(gram_take(context, "flow_tune", n, sizeof(double), (void **)&t->root));
    for (int64_t i = 0; i < numbers; i++) t->target[i] = f->p.y[i] - (f->options.initial ? f->initial[i] : 0);
done:
    return status;
}

/* The same problem of at most `rows` rows; *thinned says whether it is another one. */
static gram_status thin(gram_context *context, const gram_flow_problem *all, const gram_points *x, const double *y,
                        int64_t ldy, int64_t rows, gram_flow_problem *some, int *thinned)
{
    gram_status status = GRAM_OK;
    double *weights = NULL;
    gram_flow_options options = all->options;
    TRY(gram_problem_thin(context, &all->p, 0, rows, 2, &weights));
    *thinned = weights != NULL;
    options.weights = weights;
    if (weights) TRY(gram_flow_problem_make(context, "flow_tune", all->p.kernel, x, all->p.m, y, ldy, &options, some));
done:
    gram_give(context, weights);
    return status;
}

gram_status gram_flow_tune(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t outputs,
                           const double *y, int64_t ldy, const gram_flow_options *options,
                           const gram_flow_tune_options *tune, gram_kernel **tuned, double *time,
                           gram_grid_report *report)
{
    gram_status status = GRAM_OK;
    gram_flow_tune_options o;
    gram_flow_problem all = {.root = NULL}, some = {.root = NULL};
    tuning t = {0};
    int thinned = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    if (tuned) *tuned = NULL;
    gram_flow_tune_options_init(&o, sizeof o);
    TRY(gram_sized_read(context, "flow_tune", "tune", "gram_flow_tune_options", tune, &o, sizeof o));
    TRY(gram_sized_check(context, "flow_tune", "report", "gram_grid_report", report, sizeof *report));
    FAIL_IF(!tuned || !time, context, GRAM_ERROR_ARGUMENT, "flow_tune: %s is NULL", tuned ? "time" : "tuned");
    TRY(gram_flow_problem_make(context, "flow_tune", kernel, x, outputs, y, ldy, options, &all));
    TRY(check(context, &o, all.p.n));
    TRY(thin(context, &all, x, y, ldy, o.rows, &some, &thinned));
    t.all = all.p.n;
    t.criterion = o.criterion;
    TRY(open(context, thinned ? &some : &all, &t));
    TRY(search(context, &t, &o, tuned, time, report));
done:
    gram_give(context, t.target);
    gram_give(context, t.work);
    gram_give(context, t.rows);
    gram_give(context, t.root);
    gram_flow_problem_free(context, &some);
    gram_flow_problem_free(context, &all);
    return status;
}

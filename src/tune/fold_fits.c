#include "tune/fold_fits.h"

#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sized_struct.h"
#include "points/points.h"
#include "tile/width_family.h"

static const double WIDTHS[GRAM_GRID_WIDTHS] = {0.25, 0.5, 1, 2, 4};
static const size_t MOST_BYTES = (size_t)1 << 30; /* of matrices that are held at a time, if there are several */
static const double CLEARLY = 0.95;               /* of two searches the better is better by chance otherwise */
enum { MOST_SCORES = 16 };
static const double FIRST_VARIANCE = 0.1, VARIANCE_STEP = 3.16227766016837933;

/* What a search holds while it runs. */
typedef struct running {
    const gram_fit_search *search;
    const gram_problem *problem; /* of the rows that are tuned on */
    int64_t all;                 /* rows of the whole set: n of lambda */
    int64_t widths, strengths;
    const double *factor;
    double *lambda, *c; /* falling */
    int64_t *place;     /* of a strength in the caller's order */
    int64_t *rows;      /* n: training rows of a fold, and from the end the held ones */
    double *y, *weights;
    gram_loss_matrix *whole; /* of the widths that are held */
    double *f;               /* n x outputs: held-out predictions at the choice */
    int64_t rises;           /* of the loss, one strength after another, of the fold that is fitted */
    double last_loss, least_loss;
} running;

/* ---- hopeless strengths ---- */

/* Losses of few held rows say little. */
static const double WORSE = 1.2;
enum { ENOUGH_HELD = 20, RISES = 2 };

/* Weighted mean over the rows that are held. */
static double held_loss(const running *r, const gram_fold *f, int64_t strength)
{
    const gram_fit_search *s = r->search;
    double scores[MOST_SCORES], sum = 0, total = 0;
    for (int64_t i = 0; i < f->held; i++) {
        const int64_t row = f->held_rows[i];
        const double w = gram_problem_weight(r->problem, row);
        s->score(s->argument, r->problem->y[row], f->out + (strength * f->n + row) * f->outputs, scores);
        for (int64_t c = 0; c < s->score_columns; c++) sum += w * scores[c];
        total += w;
    }
    return sum / total;
}

/* Less and less penalty fits the noise: when the loss has risen twice in a row and far above the least, the strengths that are left
 * would only be worse, and cost the most. Not in a grid that was asked for, whose cells are reported. */
static int is_hopeless(running *r, const gram_fold *f, int64_t strength)
{
    if (r->search->lambda_count > 0 || r->search->score_columns > MOST_SCORES || f->held < ENOUGH_HELD) return 0;
    const double loss = held_loss(r, f, strength);
    r->rises = strength > 0 && loss > r->last_loss ? r->rises + 1 : 0;
    r->least_loss = strength > 0 ? fmin(r->least_loss, loss) : loss;
    r->last_loss = loss;
    return r->rises >= RISES && loss > WORSE * r->least_loss;
}

int gram_fold_predict(gram_fold *fold, int64_t s, const double *a, const double *b)
{
    const int64_t m = fold->outputs;
    for (int64_t i = 0; i < fold->held; i++) {
        const double *row = fold->whole + fold->held_rows[i] * fold->n;
        double *out = fold->out + (s * fold->n + fold->held_rows[i]) * m;
        for (int64_t c = 0; c < m; c++) out[c] = 0;
        for (int64_t l = 0; l < fold->q; l++)
            for (int64_t c = 0; c < m; c++) out[c] += fold->whole_t[fold->held_rows[i] * fold->q + l] * b[l * m + c];
        for (int64_t j = 0; j < fold->count; j++)
            for (int64_t c = 0; c < m; c++) out[c] += row[fold->rows[j]] * a[j * m + c];
    }
    if (fold->progress)
        fold->progress(fold->progress_user, "cross-validation",
                       fold->share + fold->part * (double)(s + 1) / (double)fold->strengths);
    fold->fits++;
    return !is_hopeless(fold->search, fold, s);
}

/* ---- the fits of some widths ---- */

static gram_status fit_fold(gram_context *context, running *r, const gram_grid_batch *b, int64_t width, int64_t fold,
                            gram_progress_fn progress, int64_t *fits)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = r->problem;
    const int64_t n = p->n;
    gram_loss_matrix part = {0};
    gram_fold f = {.search = r,
                   .strengths = b->strengths,
                   .c = b->strength,
                   .out = gram_grid_out(b, width, 0),
                   .n = n,
                   .outputs = b->outputs,
                   .whole = r->whole[width].k,
                   .k = &part,
                   .rows = r->rows,
                   .y = r->y,
                   .weights = p->weights ? r->weights : NULL,
                   .q = p->q,
                   .whole_t = p->t,
                   .progress = progress,
                   .progress_user = context->progress_user,
                   .share = ((double)(b->first + width) + (double)fold / (double)b->folds) / (double)b->widths,
                   .part = 1 / (double)(b->folds * b->widths)};
    TRY(gram_take(context, "unpenalised columns", n * p->q, sizeof *f.t, (void **)&f.t));
    for (int64_t i = 0; i < n; i++)
        if (b->fold[i] == fold) {
            r->rows[n - ++f.held] = i;
        } else if (gram_fold_trains(b->fold[i], fold, b->ordered)) {
            r->y[f.count] = p->y[i];
            r->weights[f.count] = gram_problem_weight(p, i);
            for (int64_t l = 0; l < p->q; l++) f.t[f.count * p->q + l] = p->t[i * p->q + l];
            r->rows[f.count++] = i;
        }
    f.held_rows = r->rows + n - f.held;
    TRY(gram_loss_matrix_part(context, &r->whole[width], f.count, r->rows, &part));
    TRY(r->search->path(context, r->search->argument, &f));
    *fits += f.fits;
done:
    gram_give(context, f.t);
    gram_loss_matrix_free(context, &part);
    return status;
}

static gram_status make_matrices(gram_context *context, running *r, const gram_grid_batch *b)
{
    gram_status status = GRAM_OK;
    double **out = NULL;
    TRY(gram_take(context, "grid", b->count, sizeof *out, (void **)&out));
    for (int64_t w = 0; w < b->count; w++) {
        TRY(gram_loss_matrix_take(context, b->n, &r->whole[w]));
        out[w] = r->whole[w].k;
    }
    const gram_family family = {.count = (int)b->count, .kernels = b->kernels, .x = r->problem->x, .f64 = out};
    TRY(gram_family_fill(context, &family));
    for (int64_t w = 0; w < b->count; w++) TRY(gram_loss_matrix_ready(context, &r->whole[w]));
done:
    gram_give(context, out);
    return status;
}

/* Progress is told for the grid as a whole. */
static gram_status run(gram_context *context, void *argument, gram_grid_batch *b)
{
    gram_status status = GRAM_OK;
    running *r = argument;
    const gram_progress_fn progress = context->progress;
    context->progress = NULL;
    TRY(gram_take(context, "grid", b->count, sizeof *r->whole, (void **)&r->whole));
    memset(r->whole, 0, (size_t)b->count * sizeof *r->whole);
    TRY(make_matrices(context, r, b));
    for (int64_t w = 0; w < b->count; w++)
        for (int64_t fold = 0; fold < b->folds; fold++) TRY(fit_fold(context, r, b, w, fold, progress, &b->work.fits));
done:
    for (int64_t w = 0; r->whole && w < b->count; w++) gram_loss_matrix_free(context, &r->whole[w]);
    gram_give(context, r->whole);
    r->whole = NULL;
    context->progress = progress;
    return status;
}

static gram_status score(gram_context *context, const void *argument, const double *f, double *scores)
{
    const running *r = argument;
    const gram_fit_search *s = r->search;
    (void)context;
    for (int64_t i = 0; i < r->problem->n; i++)
        s->score(s->argument, r->problem->y[i], f + i * s->outputs, scores + i * s->score_columns);
    return GRAM_OK;
}

/* ---- the grid ---- */

/* By default mean k(x, x)/(2 n s), s the variance that f has a priori. */
static gram_status fill_strengths(gram_context *context, const gram_kernel *kernel, double unit, running *r)
{
    gram_status status = GRAM_OK;
    const gram_fit_search *s = r->search;
    const gram_problem *p = r->problem;
    double *diagonal = NULL, mean = 0, variance = FIRST_VARIANCE;
    TRY(gram_take(context, "grid", p->n, sizeof(double), (void **)&diagonal));
    TRY(gram_matrix_diagonal(context, kernel, p->x, diagonal));
    for (int64_t i = 0; i < p->n; i++) mean += diagonal[i] / (double)p->n;
    if (!(mean > 0)) mean = 1;
    mean *= unit;
    for (int64_t i = 0; i < r->strengths; i++, variance *= VARIANCE_STEP) {
        const double lambda = s->lambda_count > 0 ? s->lambdas[i] : mean / (2 * (double)r->all * variance);
        int64_t at = i;
        for (; at > 0 && r->lambda[at - 1] < lambda; at--) {
            r->lambda[at] = r->lambda[at - 1];
            r->place[at] = r->place[at - 1];
        }
        r->lambda[at] = lambda;
        r->place[at] = i;
    }
    for (int64_t i = 0; i < r->strengths; i++) r->c[i] = 2 * (double)r->all * r->lambda[i];
done:
    gram_give(context, diagonal);
    return status;
}

static gram_status check_factors(gram_context *context, const char *function, const char *name, int64_t count,
                                 const double *values)
{
    gram_status status = GRAM_OK;
    char text[GRAM_NUMBER_SIZE];
    FAIL_IF(count < 0 || (count > 0 && !values), context, GRAM_ERROR_ARGUMENT, "%s: %s_count = %lld needs %ss",
            function, name, (long long)count, name);
    for (int64_t i = 0; i < count; i++)
        FAIL_IF(!(values[i] > 0 && isfinite(values[i])), context, GRAM_ERROR_ARGUMENT,
                "%s: %ss[%lld] = %s, need a finite number above 0", function, name, (long long)i,
                gram_number_format(values[i], text));
done:
    return status;
}

static gram_status check(gram_context *context, const gram_fit_search *s, int64_t n)
{
    gram_status status = GRAM_OK;
    FAIL_IF(s->folds < 2 || s->folds > n, context, GRAM_ERROR_ARGUMENT, "%s: folds = %lld, need 2 to the %lld rows",
            s->name, (long long)s->folds, (long long)n);
    FAIL_IF(s->rows < 2, context, GRAM_ERROR_ARGUMENT, "%s: rows = %lld, need at least 2", s->name, (long long)s->rows);
    FAIL_IF(s->held_out && s->ldo < s->held_columns, context, GRAM_ERROR_ARGUMENT,
            "%s: ldo = %lld is less than the %lld columns of held_out", s->name, (long long)s->ldo,
            (long long)s->held_columns);
    TRY(gram_folds_check_options(context, s->name, s->groups, s->ordered));
    TRY(check_factors(context, s->name, "width", s->width_count, s->widths));
    TRY(check_factors(context, s->name, "lambda", s->lambda_count, s->lambdas));
done:
    return status;
}

/* Half of what the budget leaves. */
static size_t room_of(const gram_context *context)
{
    const size_t budget = gram_memory_budget(context->memory), used = gram_memory_used(context->memory);
    const size_t room = budget ? (budget - used) / 2 : MOST_BYTES;
    return room < MOST_BYTES ? room : MOST_BYTES;
}

static gram_status open(gram_context *context, double unit, running *r)
{
    gram_status status = GRAM_OK;
    const gram_fit_search *s = r->search;
    const gram_problem *p = r->problem;
    gram_kernel *resolved = NULL;
    int lengths = 0;
    TRY(gram_kernel_resolve(context, p->kernel, p->x, &resolved));
    TRY(gram_grid_has_lengths(context, resolved, p->x, &lengths));
    r->widths = s->width_count > 0 ? s->width_count : lengths ? GRAM_GRID_WIDTHS : 1;
    r->factor = s->width_count > 0 ? s->widths : lengths ? WIDTHS : &WIDTHS[GRAM_GRID_WIDTHS / 2];
    r->strengths = s->lambda_count > 0 ? s->lambda_count : GRAM_GRID_LAMBDAS;
    TRY(gram_take(context, "grid", r->strengths, sizeof(double), (void **)&r->lambda));
    TRY(gram_take(context, "grid", r->strengths, sizeof(double), (void **)&r->c));
    TRY(gram_take(context, "grid", r->strengths, sizeof *r->place, (void **)&r->place));
    TRY(gram_take(context, "grid", p->n, sizeof *r->rows, (void **)&r->rows));
    TRY(gram_take(context, "targets", p->n, sizeof(double), (void **)&r->y));
    TRY(gram_take(context, "weights", p->n, sizeof(double), (void **)&r->weights));
    TRY(gram_take(context, "held-out predictions", p->n * s->outputs, sizeof(double), (void **)&r->f));
    TRY(fill_strengths(context, resolved, unit, r));
done:
    gram_kernel_release(resolved);
    return status;
}

static void close(gram_context *context, running *r)
{
    gram_give(context, r->lambda);
    gram_give(context, r->c);
    gram_give(context, r->place);
    gram_give(context, r->rows);
    gram_give(context, r->y);
    gram_give(context, r->weights);
    gram_give(context, r->f);
}

/* ---- the whole ---- */

static void tell_grid(const running *r, const double *scores, gram_grid_point *grid)
{
    for (int64_t w = 0; w < r->widths; w++)
        for (int64_t i = 0; i < r->strengths; i++)
            grid[w * r->strengths + r->place[i]] =
                (gram_grid_point){r->factor[w], r->lambda[i], scores[w * r->strengths + i]};
}

/* By the caller's rows. */
static void tell_held_out(const running *r)
{
    const gram_fit_search *s = r->search;
    const gram_problem *p = r->problem;
    for (int64_t i = 0; i < p->given; i++)
        for (int64_t c = 0; c < s->held_columns; c++) s->held_out[i * s->ldo + c] = NAN;
    for (int64_t i = 0; i < p->n; i++) {
        const double *f = r->f + i * s->outputs;
        if (!isnan(f[0])) s->tell(s->argument, f, s->held_out + (p->rows ? p->rows[i] : i) * s->ldo);
    }
}

static gram_status search(gram_context *context, running *r, double *scores, gram_grid_found *found)
{
    gram_status status = GRAM_OK;
    const gram_fit_search *s = r->search;
    const gram_problem *p = r->problem;
    gram_grid_search g = {.name = s->name,
                          .kernel = p->kernel,
                          .x = p->x,
                          .y = p->y,
                          .weights = p->weights,
                          .classes = s->classes,
                          .outputs = s->outputs,
                          .rows = {.folds = s->folds,
                                   .labels = s->classes > 0 ? p->y : NULL,
                                   .classes = s->classes,
                                   .groups = s->groups,
                                   .rows = p->rows,
                                   .ordered = s->ordered},
                          .width_count = r->widths,
                          .widths = r->factor,
                          .strength_count = r->strengths,
                          .strengths = r->c,
                          .ard = s->ard,
                          .room = room_of(context),
                          .width_bytes = 8 * (size_t)p->n * (size_t)p->n,
                          .rule = {.ratio = CLEARLY},
                          .argument = r,
                          .run = run,
                          .score = score,
                          .score_columns = s->score_columns,
                          .scores = scores,
                          .held_out = r->f};
    TRY(gram_grid_search_run(context, &g));
    *found = g.found;
done:
    return status;
}

static gram_status tune(gram_context *context, running *r, double unit, gram_kernel **tuned, double *lambda,
                        gram_grid_report *report)
{
    gram_status status = GRAM_OK;
    double *scores = NULL;
    gram_grid_found found = {0};
    TRY(open(context, unit, r));
    const int64_t cells = r->widths * r->strengths;
    TRY(gram_take(context, "grid", cells, sizeof *scores, (void **)&scores));
    TRY(search(context, r, scores, &found));
    *tuned = found.kernel;
    *lambda = r->lambda[found.strength];
    if (r->search->grid) tell_grid(r, scores, r->search->grid);
    if (r->search->held_out) tell_held_out(r);
    const gram_grid_report made = {.rows = r->problem->n,
                                   .points = cells,
                                   .fits = found.work.fits,
                                   .value = found.score,
                                   .at_bound = found.at_bound,
                                   .ard_kept = found.ard_kept};
    gram_sized_write(report, &made, sizeof made);
done:
    gram_give(context, scores);
    close(context, r);
    return status;
}

gram_status gram_fit_search_run(gram_context *context, const gram_fit_search *s, gram_kernel **tuned, double *lambda,
                                gram_grid_report *report)
{
    gram_status status = GRAM_OK;
    gram_problem all = {0}, some = {0};
    double *weights = NULL;
    if (tuned) *tuned = NULL;
    TRY(gram_sized_check(context, s->name, "report", "gram_grid_report", report, sizeof *report));
    FAIL_IF(!tuned || !lambda, context, GRAM_ERROR_ARGUMENT, "%s: %s is NULL", s->name, tuned ? "lambda" : "tuned");
    TRY(s->problem(context, s->argument, s->weights, &all));
    TRY(check(context, s, all.n));
    TRY(gram_problem_thin(context, &all, s->classes, s->rows, 2, &weights));
    if (weights) TRY(s->problem(context, s->argument, weights, &some));
    running r = {.search = s, .problem = weights ? &some : &all, .all = all.n};
    TRY(tune(context, &r, s->unit ? s->unit(s->argument, &all) : 1, tuned, lambda, report));
done:
    gram_give(context, weights);
    gram_problem_free(context, &some);
    gram_problem_free(context, &all);
    return status;
}

/* Cross-validation over a grid.
 *
 * The Gram matrix is made once for each width, all widths in one sweep, which makes the distances once (as many widths at a time as
 * there is room for). It serves all folds and strengths: a fold's matrix is copied out of it, and so are the rows that predict.
 * Strengths go from the largest down, where a fit is nearly a constant, and each fit starts from the one before. */
#include "tune/grid_search.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "base/sweep.h"
#include "tile/width_family.h"
#include "tune/length_scales.h"
#include "tune/parameter_space.h"

static const double WIDTHS[GRAM_GRID_WIDTHS] = {0.25, 0.5, 1, 2, 4};
static const size_t MOST_BYTES = (size_t)1 << 30; /* of matrices that are held at a time, if there are several */
static const double CLEARLY = 0.95;               /* of two searches the better is better by chance otherwise */
static const double FIRST_VARIANCE = 0.1, VARIANCE_STEP = 3.16227766016837933;

/* What a search holds while it runs. */
typedef struct running {
    gram_grid_search *search;
    gram_kernel *resolved;
    gram_space space;
    double *values; /* of the kernel */
    int64_t widths, strengths;
    const double *factor;
    double *lambda, *c;      /* falling */
    int64_t *place;          /* of a strength in the caller's order */
    int64_t *rows;           /* n: training rows of a fold, and from the end the held ones */
    double *out;             /* strengths x n x outputs */
    int64_t batch;           /* widths that are held at a time */
    gram_loss_matrix *whole; /* theirs */
    double best;
    int64_t best_width, best_strength;
} running;

void gram_fold_predict(const gram_fold *fold, int64_t s, const double *a, const double *b)
{
    const int64_t m = fold->outputs;
    for (int64_t i = 0; i < fold->held; i++) {
        const double *row = fold->whole + fold->held_rows[i] * fold->n;
        double *out = fold->out + (s * fold->n + fold->held_rows[i]) * m;
        for (int64_t c = 0; c < m; c++) out[c] = b ? b[c] : 0;
        for (int64_t j = 0; j < fold->count; j++)
            for (int64_t c = 0; c < m; c++) out[c] += row[fold->rows[j]] * a[j * m + c];
    }
}

/* ---- the grid ---- */

static int has_lengths(const gram_space *space)
{
    for (int64_t i = 0; i < space->count; i++)
        if (space->is_length[space->index[i]]) return 1;
    return 0;
}

/* The kernel with its free length-scales times a factor. */
static gram_status widen(gram_context *context, running *r, double factor, gram_kernel **out)
{
    gram_status status = GRAM_OK;
    TRY(gram_space_origin(context, &r->space, r->values));
    for (int64_t i = 0; i < r->space.count; i++) {
        const int64_t index = r->space.index[i];
        if (r->space.is_length[index]) r->values[index] *= factor;
    }
    TRY(gram_space_kernel(context, &r->space, r->values, out));
done:
    return status;
}

/* By default mean k(x, x)/(2 n s), s the variance that f has a priori. */
static gram_status fill_strengths(gram_context *context, running *r)
{
    gram_status status = GRAM_OK;
    const gram_grid_search *g = r->search;
    const gram_problem *p = g->problem;
    double *diagonal = NULL, mean = 0;
    TRY(gram_take(context, "grid", p->n, sizeof(double), (void **)&diagonal));
    TRY(gram_matrix_diagonal(context, r->resolved, p->x, diagonal));
    for (int64_t i = 0; i < p->n; i++) mean += diagonal[i] / (double)p->n;
    if (!(mean > 0)) mean = 1;
    if (g->unit > 0) mean *= g->unit;
    double variance = FIRST_VARIANCE;
    for (int64_t i = 0; i < r->strengths; i++, variance *= VARIANCE_STEP) {
        const double lambda = g->lambdas ? g->lambdas[i] : mean / (2 * (double)g->rows * variance);
        int64_t at = i;
        for (; at > 0 && r->lambda[at - 1] < lambda; at--) {
            r->lambda[at] = r->lambda[at - 1];
            r->place[at] = r->place[at - 1];
        }
        r->lambda[at] = lambda;
        r->place[at] = i;
    }
    for (int64_t i = 0; i < r->strengths; i++) r->c[i] = 2 * (double)g->rows * r->lambda[i];
done:
    gram_give(context, diagonal);
    return status;
}

static gram_status check_grid(gram_context *context, const gram_grid_search *g)
{
    gram_status status = GRAM_OK;
    char text[GRAM_NUMBER_SIZE];
    FAIL_IF(g->width_count < 0 || (g->width_count > 0 && !g->widths), context, GRAM_ERROR_ARGUMENT,
            "%s: width_count = %lld needs widths", g->name, (long long)g->width_count);
    FAIL_IF(g->lambda_count < 0 || (g->lambda_count > 0 && !g->lambdas), context, GRAM_ERROR_ARGUMENT,
            "%s: lambda_count = %lld needs lambdas", g->name, (long long)g->lambda_count);
    for (int64_t i = 0; i < g->width_count; i++)
        FAIL_IF(!(g->widths[i] > 0 && isfinite(g->widths[i])), context, GRAM_ERROR_ARGUMENT,
                "%s: widths[%lld] = %s, need a finite number above 0", g->name, (long long)i,
                gram_number_format(g->widths[i], text));
    for (int64_t i = 0; i < g->lambda_count; i++)
        FAIL_IF(!(g->lambdas[i] > 0 && isfinite(g->lambdas[i])), context, GRAM_ERROR_ARGUMENT,
                "%s: lambdas[%lld] = %s, need a finite number above 0", g->name, (long long)i,
                gram_number_format(g->lambdas[i], text));
done:
    return status;
}

/* Half of what the budget leaves. */
static int64_t batch_of(const gram_context *context, int64_t n, int64_t widths)
{
    const size_t budget = gram_memory_budget(context->memory), used = gram_memory_used(context->memory);
    const size_t room = budget ? (budget - used) / 2 : MOST_BYTES;
    const double fit = (double)(room < MOST_BYTES ? room : MOST_BYTES) / (8.0 * (double)n * (double)n);
    return fit < 1 ? 1 : fit < (double)widths ? (int64_t)fit : widths;
}

static gram_status open(gram_context *context, gram_kernel *kernel, gram_grid_search *g, running *r)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = g->problem;
    r->search = g;
    r->best = INFINITY;
    TRY(check_grid(context, g));
    TRY(gram_kernel_resolve(context, kernel, p->x, &r->resolved));
    TRY(gram_space_create(context, r->resolved, p->x, (gram_noise_range){.fixed = 1}, &r->space));
    r->widths = g->width_count > 0 ? g->width_count : has_lengths(&r->space) ? GRAM_GRID_WIDTHS : 1;
    r->factor = g->width_count > 0 ? g->widths : has_lengths(&r->space) ? WIDTHS : &WIDTHS[GRAM_GRID_WIDTHS / 2];
    r->strengths = g->lambda_count > 0 ? g->lambda_count : GRAM_GRID_LAMBDAS;
    TRY(gram_take(context, "grid", r->space.parameters + 1, sizeof(double), (void **)&r->values));
    TRY(gram_take(context, "grid", r->strengths, sizeof(double), (void **)&r->lambda));
    TRY(gram_take(context, "grid", r->strengths, sizeof(double), (void **)&r->c));
    TRY(gram_take(context, "grid", r->strengths, sizeof *r->place, (void **)&r->place));
    TRY(gram_take(context, "grid", p->n, sizeof *r->rows, (void **)&r->rows));
    TRY(gram_take(context, "held-out predictions", r->strengths * p->n * g->outputs, sizeof(double), (void **)&r->out));
    r->batch = batch_of(context, p->n, r->widths);
    TRY(gram_take(context, "grid", r->batch, sizeof *r->whole, (void **)&r->whole));
    memset(r->whole, 0, (size_t)r->batch * sizeof *r->whole);
    TRY(fill_strengths(context, r));
done:
    return status;
}

static void free_matrices(gram_context *context, running *r)
{
    for (int64_t w = 0; r->whole && w < r->batch; w++) gram_loss_matrix_free(context, &r->whole[w]);
}

static void close(gram_context *context, running *r)
{
    gram_give(context, r->values);
    gram_give(context, r->lambda);
    gram_give(context, r->c);
    gram_give(context, r->place);
    gram_give(context, r->rows);
    gram_give(context, r->out);
    free_matrices(context, r);
    gram_give(context, r->whole);
    if (r->space.numbers) gram_space_free(context, &r->space);
    gram_kernel_release(r->resolved);
}

/* ---- the search ---- */

static gram_status run_fold(gram_context *context, running *r, const gram_loss_matrix *whole, int64_t fold)
{
    gram_status status = GRAM_OK;
    gram_grid_search *g = r->search;
    const int64_t n = g->problem->n;
    gram_loss_matrix part = {0};
    gram_fold f = {.strengths = r->strengths,
                   .c = r->c,
                   .out = r->out,
                   .n = n,
                   .outputs = g->outputs,
                   .whole = whole->k,
                   .k = &part,
                   .rows = r->rows};
    for (int64_t i = 0; i < n; i++)
        if (g->fold[i] == fold)
            r->rows[n - ++f.held] = i;
        else
            r->rows[f.count++] = i;
    f.held_rows = r->rows + f.count;
    TRY(gram_loss_matrix_part(context, whole, f.count, r->rows, &part));
    TRY(g->path(context, g->argument, &f));
    g->report.fits += f.fits;
done:
    gram_loss_matrix_free(context, &part);
    return status;
}

/* The matrices of `count` widths from the first on. */
static gram_status make_matrices(gram_context *context, running *r, int64_t first, int64_t count)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = r->search->problem;
    gram_kernel **kernels = NULL;
    double **out = NULL;
    free_matrices(context, r);
    TRY(gram_take(context, "grid", count, sizeof *kernels, (void **)&kernels));
    memset(kernels, 0, (size_t)count * sizeof *kernels);
    TRY(gram_take(context, "grid", count, sizeof *out, (void **)&out));
    for (int64_t w = 0; w < count; w++) {
        TRY(widen(context, r, r->factor[first + w], &kernels[w]));
        TRY(gram_loss_matrix_take(context, p->n, &r->whole[w]));
        out[w] = r->whole[w].k;
    }
    const gram_family family = {.count = (int)count, .kernels = kernels, .x = p->x, .f64 = out};
    TRY(gram_family_fill(context, &family));
    for (int64_t w = 0; w < count; w++) TRY(gram_loss_matrix_ready(context, &r->whole[w]));
done:
    for (int64_t w = 0; kernels && w < count; w++) gram_kernel_release(kernels[w]);
    gram_give(context, kernels);
    gram_give(context, out);
    return status;
}

static gram_status run_width(gram_context *context, running *r, int64_t width, const gram_loss_matrix *whole)
{
    gram_status status = GRAM_OK;
    gram_grid_search *g = r->search;
    const int64_t numbers = g->problem->n * g->outputs;
    for (int64_t i = 0; i < r->strengths * numbers; i++) r->out[i] = NAN;
    for (int64_t fold = 0; fold < g->folds; fold++) TRY(run_fold(context, r, whole, fold));
    for (int64_t s = 0; s < r->strengths; s++) {
        const double value = g->criterion(g->argument, r->out + s * numbers);
        if (g->grid)
            g->grid[width * r->strengths + r->place[s]] = (gram_grid_point){r->factor[width], r->lambda[s], value};
        if (!(value < r->best)) continue;
        r->best = value;
        r->best_width = width;
        r->best_strength = s;
        memcpy(g->held_out, r->out + s * numbers, (size_t)numbers * sizeof(double));
    }
done:
    return status;
}

static int at_edge(int64_t place, int64_t count)
{
    return count > 1 && (place == 0 || place == count - 1);
}

/* Progress is reported for the grid as a whole. */
static gram_status run_all(gram_context *context, running *r)
{
    gram_status status = GRAM_OK;
    const gram_progress_fn progress = context->progress;
    context->progress = NULL;
    for (int64_t width = 0; width < r->widths; width++) {
        const int64_t place = width % r->batch, left = r->widths - width;
        if (place == 0) TRY(make_matrices(context, r, width, left < r->batch ? left : r->batch));
        TRY(run_width(context, r, width, &r->whole[place]));
        if (progress) progress(context->progress_user, "cross-validation", (double)(width + 1) / (double)r->widths);
    }
done:
    context->progress = progress;
    return status;
}

static gram_status search_kernel(gram_context *context, gram_kernel *kernel, gram_grid_search *g)
{
    gram_status status = GRAM_OK;
    running r = {.search = g};
    g->report = (gram_grid_report){.size = sizeof g->report, .rows = g->problem->n, .value = NAN};
    TRY(open(context, kernel, g, &r));
    TRY(run_all(context, &r));
    FAIL_IF(!isfinite(r.best), context, GRAM_ERROR_NUMERICAL, "%s: the criterion has no value on the whole grid",
            g->name);
    TRY(widen(context, &r, r.factor[r.best_width], &g->tuned));
    g->lambda = r.lambda[r.best_strength];
    g->report.points = r.widths * r.strengths;
    g->report.value = r.best;
    g->report.at_edge = at_edge(r.best_width, r.widths) || at_edge(r.best_strength, r.strengths);
done:
    close(context, &r);
    return status;
}

/* The same grid with one length-scale per column; replaces what was found if it is better. */
static gram_status try_several_lengths(gram_context *context, gram_grid_search *g)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = g->problem;
    const int64_t numbers = p->n * g->outputs, points = g->report.points;
    gram_grid_search other = *g;
    gram_kernel *shaped = NULL;
    other.held_out = NULL;
    other.grid = NULL;
    other.tuned = NULL;
    TRY(gram_relevance(context, p->kernel, p->x, g->classes, p->y, p->weights, g->ard, &shaped));
    if (!shaped) goto done;
    TRY(gram_take(context, "held-out predictions", numbers, sizeof(double), (void **)&other.held_out));
    TRY(gram_take(context, "grid", points, sizeof *other.grid, (void **)&other.grid));
    TRY(search_kernel(context, shaped, &other));
    other.report.fits += g->report.fits;
    if (!(other.report.value < CLEARLY * g->report.value)) goto done;
    gram_kernel *kept = g->tuned;
    g->tuned = other.tuned;
    other.tuned = kept;
    g->lambda = other.lambda;
    g->report = other.report;
    g->report.ard_kept = 1;
    memcpy(g->held_out, other.held_out, (size_t)numbers * sizeof(double));
    if (g->grid) memcpy(g->grid, other.grid, (size_t)points * sizeof *other.grid);
done:
    gram_give(context, other.held_out);
    gram_give(context, other.grid);
    gram_kernel_release(other.tuned);
    gram_kernel_release(shaped);
    return status;
}

gram_status gram_grid_search_run(gram_context *context, gram_grid_search *g)
{
    gram_status status = GRAM_OK;
    TRY(search_kernel(context, g->problem->kernel, g));
    if (g->ard) TRY(try_several_lengths(context, g));
done:
    if (status < 0) {
        gram_kernel_release(g->tuned);
        g->tuned = NULL;
    }
    return status;
}

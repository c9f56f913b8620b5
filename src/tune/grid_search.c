/* Cross-validation over a grid: the engine (grid_search.h has the parts). Choices are made when all cells are scored, so predictions
 * at the chosen cell may have been written over by then; its width is fitted once more in that case. */
#include "tune/grid_search.h"
#include "base/ranks/collective.h"
#include "base/system/time_limit.h"

#include <math.h>
#include <string.h>

#include "tune/length_scales.h"
#include "tune/parameter_space.h"

/* What a search holds while it runs. */
typedef struct running {
    gram_grid_search *search;
    gram_kernel *resolved;
    gram_space space;
    double *values;         /* of the kernel */
    gram_kernel **kernels;  /* of a batch */
    double *rows;           /* scores of rows */
    gram_grid_scores grid;  /* of cells */
    gram_grid_batch batch;  /* the last one */
    gram_grid_rest rest;    /* what is fitted of it */
    int64_t n, most_widths; /* most that are held at a time */
} running;

/* ---- widths ---- */

static int has_lengths(const gram_space *space)
{
    for (int64_t i = 0; i < space->count; i++)
        if (space->is_length[space->index[i]]) return 1;
    return 0;
}

gram_status gram_grid_has_lengths(gram_context *context, const gram_kernel *kernel, const gram_points *x, int *has)
{
    gram_space space;
    const gram_status status = gram_space_create(context, kernel, x, (gram_noise_range){.fixed = 1}, &space);
    if (status < 0) return status;
    *has = has_lengths(&space);
    gram_space_free(context, &space);
    return status;
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

/* ---- what it holds ---- */

static void measure(running *r)
{
    const gram_grid_search *g = r->search;
    const double predictions = 8.0 * (double)g->strength_count * (double)r->n * (double)g->outputs;
    const double fit = (double)g->room / ((double)g->width_bytes + predictions);
    r->most_widths = fit < 1 ? 1 : fit < (double)g->width_count ? (int64_t)fit : g->width_count;
}

static gram_status open(gram_context *context, gram_kernel *kernel, const int64_t *fold, running *r)
{
    gram_status status = GRAM_OK;
    gram_grid_search *g = r->search;
    const int64_t cells = g->width_count * g->strength_count;
    r->n = gram_points_count(g->x);
    r->grid = (gram_grid_scores){.widths = g->width_count, .strengths = g->strength_count};
    r->rest = (gram_grid_rest){0, g->width_count, g->strength_count};
    measure(r);
    double most = (double)r->most_widths;
    TRY(gram_ranks_least(context, &most));
    r->most_widths = (int64_t)most;
    TRY(gram_kernel_resolve(context, kernel, g->x, &r->resolved));
    TRY(gram_space_create(context, r->resolved, g->x, (gram_noise_range){.fixed = 1}, &r->space));
    TRY(gram_take(context, "grid", r->space.parameters + 1, sizeof(double), (void **)&r->values));
    TRY(gram_take(context, "grid", r->most_widths, sizeof *r->kernels, (void **)&r->kernels));
    memset(r->kernels, 0, (size_t)r->most_widths * sizeof *r->kernels);
    TRY(gram_take(context, "grid", r->n * g->score_columns, sizeof(double), (void **)&r->rows));
    TRY(gram_take(context, "grid", cells, sizeof(double), (void **)&r->grid.scores));
    TRY(gram_take(context, "grid", cells, sizeof(double), (void **)&r->grid.errors));
    r->batch = (gram_grid_batch){.widths = g->width_count,
                                 .kernels = r->kernels,
                                 .strengths = g->strength_count,
                                 .strength = g->strengths,
                                 .n = r->n,
                                 .outputs = g->outputs,
                                 .folds = g->rows.folds,
                                 .fold = fold,
                                 .ordered = g->rows.ordered};
    TRY(gram_take(context, "held-out predictions", r->most_widths * g->strength_count * r->n,
                  (size_t)g->outputs * sizeof(double), (void **)&r->batch.out));
done:
    return status;
}

static void free_kernels(running *r)
{
    for (int64_t w = 0; r->kernels && w < r->most_widths; w++) {
        gram_kernel_release(r->kernels[w]);
        r->kernels[w] = NULL;
    }
}

static void close(gram_context *context, running *r)
{
    gram_give(context, r->batch.out);
    gram_give(context, r->grid.errors);
    gram_give(context, r->grid.scores);
    gram_give(context, r->rows);
    free_kernels(r);
    gram_give(context, r->kernels);
    gram_give(context, r->values);
    if (r->space.numbers) gram_space_free(context, &r->space);
    gram_kernel_release(r->resolved);
}

/* ---- the search ---- */

/* Weighted mean over the rows that were left out, and its standard error. */
static void score_cell(const running *r, int64_t cell)
{
    const gram_grid_search *g = r->search;
    double total = 0, sum = 0, square = 0, weights = 0;
    for (int64_t i = 0; i < r->n; i++) {
        const double w = g->weights ? g->weights[i] : 1, *row = r->rows + i * g->score_columns;
        double value = 0;
        if (r->batch.fold[i] < 0 || r->batch.fold[i] >= r->batch.folds) continue;
        for (int64_t c = 0; c < g->score_columns; c++) {
            sum += w * row[c];
            value += row[c];
        }
        total += w;
        weights += w * w;
        square += w * value * value;
    }
    const double mean = sum / total;
    r->grid.scores[cell] = mean;
    r->grid.errors[cell] = sqrt(fmax(0, square / total - mean * mean) * weights / (total * total));
}

/* The widths of a batch by the ranks, each some of them and by itself: predictions are what they would be in one process. */
static gram_status run_spread(gram_context *context, gram_grid_search *g, gram_grid_batch *b)
{
    gram_status status = GRAM_OK;
    const int64_t width = b->strengths * b->n * b->outputs;
    gram_grid_batch mine = *b;
    int64_t first, end;
    gram_ranks_part(context, b->count, gram_rank(context), &first, &end);
    mine.first += first;
    mine.count = end - first;
    mine.kernels += first;
    mine.out += first * width;
    mine.work = (gram_grid_work){0};
    gram_ranks_part_ways(context);
    if (mine.count > 0) status = g->run(context, g->argument, &mine);
    gram_ranks_join(context);
    TRY(gram_ranks_agree(context, status));
    TRY(gram_ranks_gather(context, "cross-validation", b->count, width, b->out));
    double work[3] = {(double)mine.work.fits, (double)mine.work.steps, (double)mine.work.unfinished};
    TRY(gram_ranks_sum(context, "cross-validation", 3, work));
    b->work.fits += (int64_t)work[0];
    b->work.steps += (int64_t)work[1];
    b->work.unfinished += (int64_t)work[2];
    gram_ranks_note(context, "grid", 0);
done:
    return status;
}

static gram_status fit_batch(gram_context *context, running *r, int64_t first, int64_t count)
{
    gram_status status = GRAM_OK;
    gram_grid_search *g = r->search;
    gram_grid_batch *b = &r->batch;
    b->first = first;
    b->count = count;
    free_kernels(r);
    for (int64_t w = 0; w < count; w++) TRY(widen(context, r, g->widths[first + w], &r->kernels[w]));
    for (int64_t i = 0; i < count * b->strengths * b->n * b->outputs; i++) b->out[i] = NAN;
    if (gram_ranks(context) > 1 && count > 1)
        TRY(run_spread(context, g, b));
    else
        TRY(g->run(context, g->argument, b));
done:
    return status;
}

/* The scores of what is left of the grid; NaN for the rest. */
static gram_status run_rest(gram_context *context, running *r)
{
    gram_status status = GRAM_OK;
    gram_grid_search *g = r->search;
    gram_grid_batch *b = &r->batch;
    const gram_grid_rest *rest = &r->rest;
    b->strengths = rest->strengths;
    for (int64_t i = 0; i < g->width_count * g->strength_count; i++) r->grid.scores[i] = r->grid.errors[i] = NAN;
    for (int64_t first = rest->first; first < rest->end; first += r->most_widths) {
        const int64_t left = rest->end - first;
        if (first > rest->first && gram_time_is_up(context, GRAM_TIME_OF_TUNING)) {
            gram_time_left_out(context, "tuning ended early");
            break;
        }
        TRY(fit_batch(context, r, first, left < r->most_widths ? left : r->most_widths));
        for (int64_t w = 0; w < b->count; w++)
            for (int64_t s = 0; s < b->strengths; s++) {
                TRY(g->score(context, g->argument, gram_grid_out(b, w, s), r->rows));
                score_cell(r, (first + w) * g->strength_count + s);
            }
    }
done:
    return status;
}

/* One fold of the whole grid, unseen by the progress, then all folds of the cells that may be chosen: what is far from the best on a
 * fifth of the rows is not the best on all. */
static gram_status run_all(gram_context *context, running *r)
{
    gram_status status = GRAM_OK;
    gram_grid_search *g = r->search;
    const int64_t folds = r->batch.folds;
    if (g->screen && !g->scores && !g->holdout && folds > 2 && !g->rows.ordered) {
        r->batch.folds = 1;
        TRY(run_rest(context, r));
        r->batch.folds = folds;
        r->batch.count = 0; /* predictions of one fold serve nobody */
        if (!gram_time_is_up(context, GRAM_TIME_OF_TUNING)) {
            r->rest = gram_grid_screen(&g->rule, &r->grid);
            TRY(run_rest(context, r));
        }
    } else {
        TRY(run_rest(context, r));
    }
    g->found.work = r->batch.work;
done:
    return status;
}

static gram_status copy_held_out(gram_context *context, running *r)
{
    gram_status status = GRAM_OK;
    gram_grid_search *g = r->search;
    const int64_t width = g->found.width;
    if (width < r->batch.first || width >= r->batch.first + r->batch.count) TRY(fit_batch(context, r, width, 1));
    memcpy(g->held_out, gram_grid_out(&r->batch, width - r->batch.first, g->found.strength),
           (size_t)(r->n * g->outputs) * sizeof(double));
done:
    return status;
}

static gram_status search_kernel(gram_context *context, gram_kernel *kernel, const int64_t *fold, gram_grid_search *g)
{
    gram_status status = GRAM_OK;
    running r = {.search = g};
    g->found = (gram_grid_found){.score = NAN};
    TRY(open(context, kernel, fold, &r));
    TRY(run_all(context, &r));
    const int64_t best = gram_grid_choose(&g->rule, &r.grid);
    FAIL_IF(!isfinite(r.grid.scores[best]), context, GRAM_ERROR_NUMERICAL,
            "%s: the criterion has no value on the whole grid", g->name);
    g->found.width = best / g->strength_count;
    g->found.strength = best % g->strength_count;
    g->found.score = r.grid.scores[best];
    g->found.error = r.grid.errors[best];
    g->found.at_bound = gram_grid_at_edge(&r.grid, best);
    if (g->held_out) TRY(copy_held_out(context, &r));
    if (g->scores) memcpy(g->scores, r.grid.scores, (size_t)(g->width_count * g->strength_count) * sizeof *g->scores);
    TRY(widen(context, &r, g->widths[g->found.width], &g->found.kernel));
done:
    close(context, &r);
    return status;
}

/* What the second search found, which was clearly better, with the work of both. */
static void replace(gram_grid_search *g, gram_grid_search *by, int64_t numbers, int64_t cells)
{
    gram_kernel *old = g->found.kernel;
    by->found.work.fits += g->found.work.fits;
    by->found.work.steps += g->found.work.steps;
    by->found.work.unfinished += g->found.work.unfinished;
    g->found = by->found;
    g->found.ard_kept = 1;
    by->found.kernel = old;
    if (g->held_out) memcpy(g->held_out, by->held_out, (size_t)numbers * sizeof(double));
    if (g->scores) memcpy(g->scores, by->scores, (size_t)cells * sizeof(double));
}

/* The same grid with one length-scale per column; replaces what was found if it is better. */
static gram_status try_several_lengths(gram_context *context, const int64_t *fold, gram_grid_search *g)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = gram_points_count(g->x) * g->outputs, cells = g->width_count * g->strength_count;
    gram_grid_search other = *g;
    gram_kernel *shaped = NULL;
    other.held_out = other.scores = NULL;
    other.found.kernel = NULL;
    TRY(gram_relevance(context, g->kernel, g->x, g->classes, g->y, g->weights, &g->rows, g->ard, &shaped));
    if (!shaped) goto done;
    TRY(gram_take(context, "held-out predictions", numbers, sizeof(double), (void **)&other.held_out));
    TRY(gram_take(context, "grid", cells, sizeof(double), (void **)&other.scores));
    TRY(search_kernel(context, shaped, fold, &other));
    if (gram_grid_is_clearly_better(&g->rule, &other.found, &g->found)) replace(g, &other, numbers, cells);
done:
    gram_give(context, other.held_out);
    gram_give(context, other.scores);
    gram_kernel_release(other.found.kernel);
    gram_kernel_release(shaped);
    return status;
}

gram_status gram_grid_search_run(gram_context *context, gram_grid_search *g)
{
    gram_status status = GRAM_OK;
    const int64_t n = gram_points_count(g->x);
    int64_t *fold = NULL;
    g->found = (gram_grid_found){.score = NAN};
    TRY(gram_take(context, "folds", n, sizeof *fold, (void **)&fold));
    TRY(gram_folds_deal(context, g->name, n, &g->rows, fold));
    TRY(gram_folds_check_classes(context, g->name, n, &g->rows, fold));
    for (int64_t i = 0; i < n && g->holdout; i++) fold[i] = fold[i] == g->rows.folds - 1 ? fold[i] : -1;
    TRY(search_kernel(context, g->kernel, fold, g));
    if (g->ard) TRY(try_several_lengths(context, fold, g));
done:
    gram_give(context, fold);
    if (status < 0) {
        gram_kernel_release(g->found.kernel);
        g->found.kernel = NULL;
    }
    return status;
}

/* The posterior from neighbours: a point is conditioned on the m rows that are nearest to it, of all rows. The same of each row, itself
 * left out, is what leave-one-out needs: with e_i and v_i of B = [T, y - T beta] and h_i = e_i^T/v_i
 *
 *     a_i = e_i^y/v_i,   P_ii = 1/v_i - |L_S^-1 h_i|^2,   y_i - f_(-i)(x_i) = a_i/P_ii with the variance 1/P_ii,
 *
 * as of an exact fit; a are the coefficients of the mean as a function, and y - T beta - f = shift a on the rows. */
#include <math.h>
#include <string.h>

#include "method/gp/vecchia/gp_vecchia.h"
#include "points/points.h"
#include "solve/neighbours/neighbour_metric.h"

enum { CHUNK = 1 << 15 };

/* ---- conditionals of a chunk ---- */

typedef struct chunk {
    int64_t count;
    const gram_points *points; /* new ones; NULL: rows first .. of the fit, each without itself */
    int64_t first;
    double *places;
    double *found; /* count x (q + 2) */
} chunk;

static gram_status find_lists(gram_context *context, const gram_vecchia *fit, const chunk *c,
                              gram_neighbour_lists *lists)
{
    gram_status status = GRAM_OK;
    int64_t *without = NULL;
    if (!c->points) TRY(gram_take(context, "gp_predict", c->count, sizeof *without, (void **)&without));
    for (int64_t i = 0; i < c->count && without; i++) without[i] = c->first + i;
    const gram_neighbour_search search = {.tree = fit->tree,
                                          .queries = c->count,
                                          .count = fit->count,
                                          .places = c->places,
                                          .without = without,
                                          .room = lists->room,
                                          .lists = lists->lists,
                                          .length = lists->length};
    TRY(gram_neighbour_search_run(context, &search));
    for (int64_t i = 0; i < c->count; i++) {
        const int64_t own = c->points ? fit->x->n + i : c->first + i;
        lists->lists[i * lists->room + lists->length[i]++] = (int32_t)own;
    }
done:
    gram_give(context, without);
    return status;
}

static gram_status run_chunk(gram_context *context, const gram_vecchia *fit, const chunk *c)
{
    gram_status status = GRAM_OK;
    const gram_vecchia_system *s = &fit->system;
    gram_neighbour_groups groups = {.memory = NULL};
    gram_neighbour_lists lists = {.targets = c->count, .room = fit->count + 1, .d = fit->x->d, .places = c->places};
    lists.rows = fit->x->n + (c->points ? c->count : 0);
    TRY(gram_take(context, "gp_predict", c->count * lists.room, sizeof *lists.lists, (void **)&lists.lists));
    TRY(gram_take(context, "gp_predict", c->count, sizeof *lists.length, (void **)&lists.length));
    TRY(find_lists(context, fit, c, &lists));
    status = gram_neighbour_groups_make(context, &lists, &groups);
    lists = (gram_neighbour_lists){.targets = 0}; /* the groups' now */
    if (status < 0) goto done;
    const gram_conditionals all = {.kernel = fit->kernel,
                                   .x = fit->x,
                                   .more = c->points,
                                   .groups = &groups,
                                   .shift = s->shift,
                                   .columns = s->base.q + 1,
                                   .right = s->right,
                                   .name = c->points ? "gp_predict" : "gp_fit"};
    TRY(gram_conditionals_find(context, &all, c->found));
done:
    gram_give(context, lists.lists);
    gram_give(context, lists.length);
    gram_neighbour_groups_free(&groups);
    return status;
}

/* ---- leave-one-out ---- */

static void leave_out(gram_vecchia *fit, const chunk *c, const double *y)
{
    const gram_gp_system *base = &fit->system.base;
    const int64_t q = base->q;
    for (int64_t i = 0; i < c->count; i++) {
        double *e = c->found + i * (q + 2), precision = 1 / e[q + 1];
        const int64_t row = c->first + i;
        for (int64_t j = 0; j < q; j++) e[j] /= e[q + 1];
        gram_gp_small_solve(base, e);
        for (int64_t j = 0; j < q; j++) precision -= e[j] * e[j];
        fit->coefficients[row] = e[q] / e[q + 1];
        fit->loo_variance[row] = 1 / precision;
        fit->loo_mean[row] = y[row] - fit->coefficients[row] / precision;
    }
}

static gram_status leave_all_out(gram_context *context, gram_vecchia *fit, const double *y)
{
    gram_status status = GRAM_OK;
    const int64_t n = fit->x->n, room = n < CHUNK ? n : CHUNK;
    chunk c = {0};
    TRY(gram_take(context, "gp_fit", room * (fit->system.base.q + 2), sizeof *c.found, (void **)&c.found));
    for (; c.first < n; c.first += room) {
        c.count = n - c.first < room ? n - c.first : room;
        c.places = fit->places + c.first * fit->x->d;
        TRY(run_chunk(context, fit, &c));
        leave_out(fit, &c, y);
    }
done:
    gram_give(context, c.found);
    return status;
}

/* ---- making ---- */

static gram_status make(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t count,
                        gram_vecchia **out)
{
    gram_status status = GRAM_OK;
    gram_vecchia *made = NULL;
    *out = NULL;
    TRY(gram_take(context, "gp_fit", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->kernel = gram_kernel_retain(kernel);
    made->count = count;
    *out = made;
    TRY(gram_points_gather(context, x, x->n, NULL, &made->x));
    TRY(gram_take(context, "gp_fit", x->d, sizeof *made->rates, (void **)&made->rates));
    TRY(gram_take(context, "gp_fit", x->n * x->d, sizeof *made->places, (void **)&made->places));
    TRY(gram_neighbour_rates(context, kernel, made->x, made->rates));
    gram_neighbour_places(made->x, made->rates, made->places);
    TRY(gram_neighbour_tree_create(context, x->n, x->d, made->places, &made->tree));
done:
    return status;
}

void gram_vecchia_destroy(gram_vecchia *fit)
{
    if (!fit) return;
    gram_memory *memory = fit->memory;
    gram_vecchia_system_free(memory, &fit->system);
    gram_neighbour_tree_destroy(fit->tree);
    gram_points_release(fit->x);
    gram_kernel_release(fit->kernel);
    gram_memory_give(memory, fit->rates);
    gram_memory_give(memory, fit->places);
    gram_memory_give(memory, fit->loo_mean);
    gram_memory_give(memory, fit->loo_variance);
    gram_memory_give(memory, fit->coefficients);
    gram_memory_give(memory, fit);
    gram_memory_release(memory);
}

/* y becomes y - T beta. */
static void subtract_mean(gram_vecchia_system *s)
{
    const int64_t q = s->base.q;
    for (int64_t i = 0; i < s->base.n; i++)
        for (int64_t j = 0; j < q; j++) s->right[i * (q + 1) + q] -= s->right[i * (q + 1) + j] * s->base.beta[j];
}

/* Nothing of the caller's stays. */
static void adopt(gram_vecchia *fit)
{
    fit->system.x = fit->x;
    fit->system.kernel = fit->kernel;
    fit->system.base.y = NULL;
    gram_gp_options_forget(&fit->system.base.options);
}

gram_status gram_vecchia_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                             const gram_gp_options *options, int bare, double *value, gram_vecchia **out)
{
    gram_status status = GRAM_OK;
    gram_vecchia *made = NULL;
    gram_vecchia_rows *rows = NULL;
    gram_gp_vecchia_options o;
    *out = NULL;
    TRY(gram_gp_vecchia_options_read(context, "gp_fit", options->vecchia, &o));
    const int64_t n = x->n, count = gram_vecchia_neighbours(o.neighbours, n);
    TRY(make(context, kernel, x, count, &made));
    TRY(gram_vecchia_system_make(context, "gp_fit", kernel, x, y, options, &made->system));
    TRY(gram_vecchia_rows_make(context, kernel, x, count, &rows));
    TRY(gram_vecchia_evaluate(context, &made->system, rows, value, NULL));
    gram_vecchia_rows_destroy(rows);
    rows = NULL;
    subtract_mean(&made->system);
    adopt(made);
    TRY(gram_take(context, "gp_fit", n, sizeof(double), (void **)&made->loo_mean));
    TRY(gram_take(context, "gp_fit", n, sizeof(double), (void **)&made->loo_variance));
    TRY(gram_take(context, "gp_fit", n, sizeof(double), (void **)&made->coefficients));
    if (!bare) TRY(leave_all_out(context, made, y));
    for (int64_t i = 0; i < n && bare; i++) made->coefficients[i] = 0;
    *out = made;
    made = NULL;
done:
    gram_vecchia_rows_destroy(rows);
    gram_vecchia_destroy(made);
    return status;
}

gram_status gram_vecchia_restore(gram_context *context, gram_kernel *kernel, const gram_gp_parts *p, gram_vecchia **out)
{
    gram_status status = GRAM_OK;
    gram_vecchia *made = NULL;
    gram_gp_options o;
    *out = NULL;
    gram_gp_options_init(&o, sizeof o);
    o.mean = p->mean;
    o.flat = p->flat;
    o.noise = p->noise;
    o.row_noise = p->row_noise;
    o.weights = p->weights;
    o.columns = p->columns;
    o.basis = p->basis;
    o.ld = p->ld;
    TRY(make(context, kernel, p->centres, gram_vecchia_neighbours(p->neighbours, p->n), &made));
    TRY(gram_vecchia_system_make(context, "gp_create", kernel, p->centres, p->y, &o, &made->system));
    gram_gp_system *base = &made->system.base;
    for (int64_t j = 0; j < base->q; j++) {
        FAIL_IF(!isfinite(p->beta[j]), context, GRAM_ERROR_DATA, "gp_create: beta[%lld] is not finite", (long long)j);
        base->beta[j] = p->beta[j];
        for (int64_t k = 0; k < base->q; k++)
            base->small[j * base->q + k] = p->flat ? p->mean_factor[j * base->q + k] : 0;
        FAIL_IF(p->flat && !(base->small[j * base->q + j] > 0), context, GRAM_ERROR_DATA,
                "gp_create: mean_factor has a diagonal entry <= 0");
    }
    subtract_mean(&made->system);
    adopt(made);
    *out = made;
    made = NULL;
done:
    gram_vecchia_destroy(made);
    return status;
}

/* ---- prediction ---- */

/* What is not known of the mean's parameters: t - T_N'b through the small factor. */
static double flat_variance(const gram_gp_system *base, double *row)
{
    double sum = 0;
    gram_gp_small_solve(base, row);
    for (int64_t j = 0; j < base->q; j++) sum += row[j] * row[j];
    return sum;
}

static void combine(const gram_gp_system *base, const chunk *c, double *rows, double *mean, double *variance)
{
    const int64_t q = base->q;
    for (int64_t i = 0; i < c->count; i++) {
        const double *e = c->found + i * (q + 2);
        double *t = rows + i * q;
        mean[i] = -e[q];
        for (int64_t j = 0; j < q; j++) mean[i] += t[j] * base->beta[j];
        if (!variance) continue;
        for (int64_t j = 0; j < q; j++) t[j] += e[j];
        variance[i] = e[q + 1] + (base->options.flat ? flat_variance(base, t) : 0);
    }
}

gram_status gram_vecchia_predict(gram_context *context, const gram_vecchia *fit, const gram_points *points,
                                 const double *basis, int64_t ldb, double *mean, double *variance)
{
    gram_status status = GRAM_OK;
    const gram_gp_system *base = &fit->system.base;
    chunk c = {0};
    double *work = NULL;
    gram_points *part = NULL;
    TRY(gram_gp_system_check_points(context, "gp_predict", base, points, basis, ldb));
    const int64_t room = points->n < CHUNK ? points->n : CHUNK, q = base->q, d = base->d;
    TRY(gram_take(context, "gp_predict", room * (2 * q + 2 + d) + d, sizeof *work, (void **)&work));
    c.found = work;
    c.places = work + room * (q + 2);
    double *rows = c.places + room * d;
    for (int64_t first = 0; first < points->n; first += room) {
        c.count = points->n - first < room ? points->n - first : room;
        TRY(gram_gp_points_part(context, points, first, c.count, &part));
        c.points = part;
        gram_neighbour_places(part, fit->rates, c.places);
        TRY(run_chunk(context, fit, &c));
        gram_gp_system_rows(base, points, first, c.count, basis, ldb, rows + room * q, rows);
        combine(base, &c, rows, mean + first, variance ? variance + first : NULL);
        gram_points_release(part);
        part = NULL;
    }
done:
    gram_points_release(part);
    gram_give(context, work);
    return status;
}

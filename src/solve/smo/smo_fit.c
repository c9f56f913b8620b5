#include "solve/smo/smo_fit.h"

#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "kernel/kernel.h"
#include "operator/row_cache.h"
#include "tile/fill.h"
#include "tile/product.h"

enum {
    WIDTH = 1024,    /* of working sets */
    SMALLEST = 2048, /* variables for which leaving some out is worth while */
    MOST_PASSES = 40 /* between computations of f in f64 */
};

/* Variables are left out once they are at most this part of all. */
static const double SHRINK = 0.5;
/* Without a part of the violation as a margin, many would have to come back. */
static const double MARGIN = 0.25;
/* Error of f32 rows, as a part of the largest diagonal entry, up to which they are good enough. */
static const double ROUNDED = 3e-6;

int gram_smo_kernel_is_indexed(const gram_kernel *kernel)
{
    if (kernel->node == GRAM_NODE_LEAF) return kernel->type->form == GRAM_FORM_INDEX;
    for (int i = 0; i < kernel->child_count; i++)
        if (gram_smo_kernel_is_indexed(kernel->children[i])) return 1;
    return 0;
}

/* A power of two that brings the kernel's values into the middle of what f32 can hold. */
static gram_status find_unit(gram_context *context, gram_kernel *kernel, const gram_points *x, double *unit)
{
    gram_status status = GRAM_OK;
    double *diagonal = NULL, largest = 0;
    int exponent = 0;
    TRY(gram_take(context, "diagonal", x->n, sizeof(double), (void **)&diagonal));
    TRY(gram_fill_diagonal(context, kernel, x, 1, diagonal));
    for (int64_t i = 0; i < x->n; i++) largest = fmax(largest, fabs(diagonal[i]));
    if (largest > 0) (void)frexp(largest, &exponent);
    *unit = ldexp(1, exponent);
done:
    gram_give(context, diagonal);
    return status;
}

/* ---- f in f64 ---- */

/* Between half of the points and all, the symmetric product makes fewer pairs. */
static gram_status symmetric_product(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t count,
                                     const int64_t *points, const double *weights, double *out)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = NULL;
    double *spread = NULL;
    const gram_engine_request request = {.kernel = kernel, .x = x, .always_double = 1};
    TRY(gram_take(context, "weights", x->n, sizeof(double), (void **)&spread));
    memset(spread, 0, (size_t)x->n * sizeof *spread);
    for (int64_t k = 0; k < count; k++) spread[points[k]] = weights[k];
    TRY(gram_engine_create(context, &request, &engine));
    TRY(gram_engine_product(context, engine, 1, spread, 1, out, 1));
done:
    gram_engine_destroy(engine);
    gram_give(context, spread);
    return status;
}

static gram_status thin_product(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t count,
                                const int64_t *points, const double *weights, double *out)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = NULL;
    const gram_engine_request request = {.kernel = kernel, .x = x, .count = count, .index = points, .always_double = 1};
    TRY(gram_engine_create(context, &request, &engine));
    TRY(gram_engine_product(context, engine, 1, weights, 1, out, 1));
done:
    gram_engine_destroy(engine);
    return status;
}

gram_status gram_smo_add_product(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t count,
                                 const int64_t *points, const double *weights, double *f)
{
    gram_status status = GRAM_OK;
    double *product = NULL;
    if (count == 0) return GRAM_OK;
    TRY(gram_take(context, "kernel sums", x->n, sizeof(double), (void **)&product));
    if (2 * count > x->n)
        TRY(symmetric_product(context, kernel, x, count, points, weights, product));
    else
        TRY(thin_product(context, kernel, x, count, points, weights, product));
    for (int64_t i = 0; i < x->n; i++) f[i] += product[i];
done:
    gram_give(context, product);
    return status;
}

/* ---- a level: some of the variables, their points and rows ---- */

typedef struct solving {
    gram_row_cache *cache; /* of one level after the other */
    int subsets;
    double unit;
    int narrow; /* rows are computed in f32, from points less their mean */
} solving;

typedef struct level {
    gram_smo smo;
    const gram_points *x;
    gram_points *own;    /* those of this level, NULL: the parent's */
    double *numbers_f64; /* after them */
    float *numbers_f32;
    int64_t d;
    int64_t *members; /* variables of the parent */
    int64_t *point;   /* of a variable here */
    int64_t *origin;  /* point of the parent */
    int64_t point_count;
    double *numbers; /* c, lower, upper, b, f, diagonal */
    void *scratch;
} level;

static gram_status get_rows(void *self, gram_context *context, int64_t count, const int64_t *points, const float **out)
{
    return gram_row_cache_get(self, context, count, points, out);
}

static int64_t point_of(const gram_smo *smo, int64_t variable)
{
    return smo->point ? smo->point[variable] : variable;
}

static gram_status solve_level(gram_context *context, const solving *options, level *l)
{
    gram_status status = GRAM_OK;
    const int64_t room = gram_row_cache_begin(options->cache, l->x), width = room < WIDTH ? room : WIDTH;
    TRY(gram_take(context, "working set", 1, gram_smo_scratch(l->smo.count, width), &l->scratch));
    l->smo.source = (gram_smo_source){options->cache, options->unit, get_rows};
    l->smo.context = context;
    l->smo.margin = MARGIN;
    l->smo.enough = options->subsets && l->smo.count > SMALLEST ? (int64_t)(SHRINK * (double)l->smo.count) : 0;
    l->smo.tolerance *= 0.9; /* rows are rounded, and the violation is checked without them */
    gram_smo_prepare(&l->smo, gram_smo_loops_choose(context->vecmath->isa), width, l->scratch);
    TRY(gram_smo_solve(&l->smo));
done:
    gram_give(context, l->scratch);
    l->scratch = NULL;
    return status;
}

static void free_level(gram_context *context, level *l)
{
    gram_points_release(l->own);
    gram_give(context, l->numbers_f64);
    gram_give(context, l->numbers_f32);
    gram_give(context, l->members);
    gram_give(context, l->point);
    gram_give(context, l->origin);
    gram_give(context, l->numbers);
}

static int64_t origin_of(const level *l, int64_t i)
{
    return l->origin ? l->origin[i] : i;
}

static void copy_row(const gram_points *x, int64_t row, double *out)
{
    for (int64_t k = 0; k < x->d; k++) out[k] = gram_points_cell(x, row, k);
}

static gram_status copy_f64(gram_context *context, const gram_points *x, level *l)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "points", l->point_count * l->d, sizeof(double), (void **)&l->numbers_f64));
    for (int64_t i = 0; i < l->point_count; i++) copy_row(x, origin_of(l, i), l->numbers_f64 + i * l->d);
    TRY(gram_points_create_like(context, x, l->point_count, l->numbers_f64, 0, &l->own));
done:
    return status;
}

/* f32 points as they are, f64 points less their mean, which makes the most of 24 bits. */
static gram_status copy_f32(gram_context *context, const gram_points *x, level *l)
{
    gram_status status = GRAM_OK;
    const int64_t n = l->point_count, d = l->d;
    TRY(gram_take(context, "points", n * d, sizeof(float), (void **)&l->numbers_f32));
    for (int64_t k = 0; k < d; k++) {
        double mean = 0;
        for (int64_t i = 0; x->f64 && i < n; i++) mean += gram_points_at(x, origin_of(l, i), k) / (double)n;
        for (int64_t i = 0; i < n; i++)
            l->numbers_f32[i * d + k] = (float)(gram_points_at(x, origin_of(l, i), k) - mean);
    }
    TRY(gram_points_create_f32(context, n, d, l->numbers_f32, d, &l->own));
done:
    return status;
}

/* The level's own points: those of the parent that it has, or all of them in f32. */
static gram_status copy_points(gram_context *context, const gram_points *x, int narrow, level *l)
{
    gram_status status = GRAM_OK;
    l->d = x->d;
    if (x->f64 && !narrow)
        TRY(copy_f64(context, x, l));
    else
        TRY(copy_f32(context, x, l));
    l->x = l->own;
done:
    return status;
}

/* The points of the members, each once, in order. origin serves as a map from the parent's points first. */
static gram_status number_points(gram_context *context, const gram_smo *parent, level *l)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "points", parent->n, sizeof(int64_t), (void **)&l->origin));
    TRY(gram_take(context, "points", l->smo.count, sizeof(int64_t), (void **)&l->point));
    for (int64_t i = 0; i < parent->n; i++) l->origin[i] = -1;
    for (int64_t k = 0; k < l->smo.count; k++) l->origin[point_of(parent, l->members[k])] = 0;
    for (int64_t i = 0; i < parent->n; i++)
        if (l->origin[i] == 0) l->origin[i] = l->point_count++;
    for (int64_t k = 0; k < l->smo.count; k++) l->point[k] = l->origin[point_of(parent, l->members[k])];
    for (int64_t i = 0; i < parent->n; i++)
        if (l->origin[i] >= 0) l->origin[l->origin[i]] = i; /* never behind i, so nothing unread is overwritten */
done:
    return status;
}

static void copy_problem(const gram_smo *parent, level *l)
{
    gram_smo *s = &l->smo;
    const int64_t count = s->count;
    double *c = l->numbers, *lower = c + count, *upper = lower + count;
    s->b = upper + count;
    s->f = s->b + count;
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = l->members[k];
        c[k] = parent->c[i];
        lower[k] = parent->lower[i];
        upper[k] = parent->upper[i];
        s->b[k] = parent->b[i];
        if (i < parent->group) s->group = k + 1;
    }
    for (int64_t i = 0; i < l->point_count; i++) s->f[i] = parent->f[l->origin[i]];
    s->n = l->point_count;
    s->point = l->point;
    s->c = c;
    s->lower = lower;
    s->upper = upper;
    s->alone = parent->alone;
    s->tolerance = parent->tolerance;
    s->most = parent->most - parent->steps;
    s->deadline = parent->deadline;
}

static gram_status make_level(gram_context *context, const gram_points *x, const gram_smo *parent, int narrow, level *l)
{
    gram_status status = GRAM_OK;
    l->smo.count = gram_smo_active(parent, MARGIN, NULL);
    TRY(gram_take(context, "variables", l->smo.count, sizeof(int64_t), (void **)&l->members));
    (void)gram_smo_active(parent, MARGIN, l->members);
    TRY(number_points(context, parent, l));
    TRY(copy_points(context, x, narrow, l));
    TRY(gram_take(context, "variables", 4 * l->smo.count + l->point_count, sizeof(double), (void **)&l->numbers));
    copy_problem(parent, l);
done:
    return status;
}

static void account(const gram_smo *from, gram_smo *to)
{
    to->steps += from->steps;
    to->rounds += from->rounds;
    to->out_of_budget |= from->out_of_budget;
}

/* Solves the active variables of the parent, whose b is brought up to date and whose f is not. Levels below are solved by
 * going down, so that a level's rows are gone before the next one's are made. */
static gram_status descend(gram_context *context, const gram_points *x, const solving *options, gram_smo *parent)
{
    gram_status status = GRAM_OK;
    level l = {0};
    TRY(make_level(context, x, parent, options->narrow, &l));
    TRY(solve_level(context, options, &l));
    if (l.smo.shrunk) TRY(descend(context, l.x, options, &l.smo));
    for (int64_t k = 0; k < l.smo.count; k++) parent->b[l.members[k]] = l.smo.b[k];
    account(&l.smo, parent);
done:
    free_level(context, &l);
    return status;
}

/* Solves all variables, until they are few that matter; then those. */
static gram_status solve_all(gram_context *context, const gram_points *x, const solving *options, gram_smo *smo)
{
    gram_status status = GRAM_OK;
    level l = {.smo = *smo, .x = x};
    l.smo.steps = l.smo.rounds = 0;
    l.smo.most = smo->most - smo->steps;
    if (x->f64 && options->narrow) {
        l.point_count = x->n;
        TRY(copy_points(context, x, 1, &l));
    }
    TRY(solve_level(context, options, &l));
    account(&l.smo, smo);
    if (l.smo.shrunk) TRY(descend(context, x, options, smo));
done:
    free_level(context, &l);
    return status;
}

/* ---- f32 or f64 ---- */

/* Some of the points, evenly spread, in f64 and in f32 as a level would have them: do kernel values agree? */
static gram_status compare_some(gram_context *context, gram_kernel *kernel, const gram_points *x, double unit,
                                double *worst)
{
    gram_status status = GRAM_OK;
    enum { SOME = 96 };
    const int64_t n = x->n < SOME ? x->n : SOME;
    int64_t origin[SOME];
    level wide = {.origin = origin, .point_count = n}, single = wide;
    double *a = NULL, *b = NULL;
    for (int64_t i = 0; i < n; i++) origin[i] = i * (x->n / n);
    TRY(copy_points(context, x, 0, &wide));
    TRY(copy_points(context, x, 1, &single));
    TRY(gram_take(context, "kernel values", n * n, sizeof(double), (void **)&a));
    TRY(gram_take(context, "kernel values", n * n, sizeof(double), (void **)&b));
    TRY(gram_matrix(context, kernel, wide.own, NULL, a, n));
    TRY(gram_matrix(context, kernel, single.own, NULL, b, n));
    *worst = 0;
    for (int64_t i = 0; i < n * n; i++) {
        const double difference = fabs(a[i] - b[i]) / unit;
        if (!(difference <= *worst)) *worst = isnan(difference) ? INFINITY : difference;
    }
done:
    wide.origin = single.origin = NULL;
    free_level(context, &wide);
    free_level(context, &single);
    gram_give(context, a);
    gram_give(context, b);
    return status;
}

/* Rows in f32 take a third of the time. They may be wrong a little, since f is computed in f64 in the end; where they are wrong
 * by more, or coordinates do not fit in f32, or cannot be centred, they are computed in f64. */
static gram_status choose_precision(gram_context *context, gram_kernel *kernel, const gram_points *x, solving *how)
{
    gram_status status = GRAM_OK;
    gram_properties facts;
    double largest = 0, worst = 0;
    how->narrow = 0;
    if (!x->f64 || x->objects || !how->subsets) return GRAM_OK;
    TRY(gram_kernel_properties(context, kernel, x->d, &facts));
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t k = 0; k < x->d; k++) largest = fmax(largest, fabs(x->f64[i * x->ld + k]));
    if (facts.stationary != GRAM_YES || !(largest < 1e30)) return GRAM_OK;
    TRY(compare_some(context, kernel, x, how->unit, &worst));
    how->narrow = worst < ROUNDED;
done:
    return status;
}

/* ---- the whole ---- */

/* f += K (b - before), and before = b. */
static gram_status refresh(gram_context *context, gram_kernel *kernel, const gram_points *x, gram_smo *smo,
                           double *before, double *known, double *weights, int64_t *points)
{
    int64_t count = 0;
    memset(weights, 0, (size_t)x->n * sizeof *weights);
    for (int64_t i = 0; i < smo->count; i++) weights[point_of(smo, i)] += smo->b[i] - before[i];
    memcpy(before, smo->b, (size_t)smo->count * sizeof *before);
    for (int64_t i = 0; i < x->n; i++) {
        if (weights[i] == 0) continue;
        points[count] = i;
        weights[count++] = weights[i];
    }
    memcpy(smo->f, known, (size_t)x->n * sizeof *known);
    const gram_status status = gram_smo_add_product(context, kernel, x, count, points, weights, smo->f);
    memcpy(known, smo->f, (size_t)x->n * sizeof *known);
    return status;
}

static int gap_is_reached(const gram_smo *smo, double part)
{
    double levels[2];
    if (!(part > 0)) return 0;
    gram_smo_levels(smo, levels);
    return gram_smo_gap(smo, levels) <= part * fabs(gram_smo_objective(smo));
}

gram_status gram_smo_fit(gram_context *context, gram_kernel *kernel, const gram_points *x,
                         const gram_smo_options *options, gram_smo *smo)
{
    gram_status status = GRAM_OK;
    double *before = NULL, *known = NULL, *weights = NULL, last = INFINITY;
    int64_t *points = NULL;
    const double wanted = smo->tolerance;
    solving how = {.subsets = options->subsets};
    TRY(find_unit(context, kernel, x, &how.unit));
    TRY(choose_precision(context, kernel, x, &how));
    TRY(gram_row_cache_create(context, kernel, x->n, options->cache_bytes, how.unit, &how.cache));
    TRY(gram_take(context, "variables", smo->count, sizeof(double), (void **)&before));
    TRY(gram_take(context, "kernel sums", x->n, sizeof(double), (void **)&known));
    TRY(gram_take(context, "weights", x->n, sizeof(double), (void **)&weights));
    TRY(gram_take(context, "points", x->n, sizeof(int64_t), (void **)&points));
    memset(before, 0, (size_t)smo->count * sizeof *before);
    memset(known, 0, (size_t)x->n * sizeof *known);
    smo->steps = smo->rounds = 0;
    smo->out_of_budget = 0;
    if (options->gap > 0) smo->tolerance = fmax(wanted, 0.1);
    for (int pass = 0;; pass++) {
        TRY(refresh(context, kernel, x, smo, before, known, weights, points));
        smo->violation = gram_smo_violation(smo);
        if (smo->violation <= wanted || smo->out_of_budget || gap_is_reached(smo, options->gap)) break;
        if (pass == MOST_PASSES || (pass > 3 && smo->violation > last / 2 && smo->tolerance == wanted)) {
            smo->out_of_budget = 1; /* rounding sets the limit */
            break;
        }
        if (pass > 0 && smo->violation > last / 16) how.narrow = 0;
        last = smo->violation;
        if (smo->violation <= smo->tolerance) smo->tolerance = fmax(wanted, smo->tolerance / 8);
        const int few = options->subsets && smo->count > SMALLEST &&
                        (double)gram_smo_active(smo, MARGIN, NULL) <= SHRINK * (double)smo->count;
        TRY(few ? descend(context, x, &how, smo) : solve_all(context, x, &how, smo));
    }
    if (smo->violation > wanted && !gap_is_reached(smo, options->gap)) status = GRAM_NOT_CONVERGED;
done:
    smo->tolerance = wanted;
    gram_row_cache_destroy(how.cache);
    gram_give(context, before);
    gram_give(context, known);
    gram_give(context, weights);
    gram_give(context, points);
    return status;
}

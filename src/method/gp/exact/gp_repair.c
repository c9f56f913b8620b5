/* Noise that is nothing beside the rounding errors of K.
 *
 * A backward stable solution has the right values K a as long as eps |K| |a| is small beside y, whatever the condition. |a| is
 * at most |y|/noise, and reaches it where y is not a value of a smooth function at these rows: repeated rows with different
 * targets, fewer features of the kernel than rows, noisy targets without noise in the model. Then what is added and taken away
 * within K a are rounding errors, and so is the result. The residual of the system as it was asked, without any jitter, shows
 * it, and is measured where the size of a says that it could.
 *
 * What can be done, in this order; the least residual wins:
 *
 *     rows with the same coordinates    become one. Exact for any noise, and in the limit of none
 *     pivots of K                       carry the function. Exact where the kernel has finitely many features. Where it is
 *                                       strictly positive definite, rows that are not reached are an error of the limit, too
 *
 * What is left is told by the residual. */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "method/gp/exact/gp_exact.h"
#include "points/points.h"
#include "solve/cholesky/cholesky.h"

static const double WELL = 1e-8;       /* a residual, over the targets, that needs no repair */
static const double DEPENDENT = 1e-12; /* as in gp_system.c */
static const double INSIDE =
    1e-10; /* of the squares of a column of the mean: less of it beyond the kernel is rounding */
static const double LIMIT = 1e-12; /* noise over amplitude that stands for none, between what it cannot mix up */

/* ---- the residual ---- */

static double target_size(const gram_gp_system *s, const double *y)
{
    return gram_target_size(s->n, y, 1, s->options.mean != GRAM_MEAN_ZERO);
}

double gram_gp_exact_residual(const gram_gp_exact *gp, const double *y, const double *products, int64_t ld,
                              double *residual, double *right)
{
    const gram_gp_system *s = &gp->system;
    *residual = *right = 0;
    for (int64_t i = 0; i < s->n; i++) {
        double target = y[i];
        for (int64_t j = 0; j < s->q; j++) target -= s->t[i * s->q + j] * s->beta[j];
        const double noise = !gp->rest ? s->shift[i] * s->a[i] : gp->missed ? 0 : gp->noise[i];
        const double left = products[i * ld] + noise;
        *residual += (target - left) * (target - left);
        *right += target * target;
    }
    const double size = target_size(s, y);
    return size > 0 ? sqrt(*residual) / size : 0;
}

static gram_status measure(gram_context *context, const gram_points *x, const gram_gp_exact *gp, double *residual)
{
    gram_status status = GRAM_OK;
    double *products = NULL, squares, right;
    TRY(gram_take(context, "gp_fit: residual", x->n, sizeof *products, (void **)&products));
    TRY(gram_matrix_product(context, gp->kernel, x, NULL, 1, gp->system.a, 1, products, 1));
    *residual = gram_gp_exact_residual(gp, gp->system.y, products, 1, &squares, &right);
done:
    gram_give(context, products);
    return status;
}

/* May rounding errors of K a show? */
static int is_suspect(const gram_gp_system *s)
{
    double least, most, size = 0;
    if (s->jitter > 0) return 1;
    gram_cholesky_pivots(s->factor, &least, &most);
    for (int64_t i = 0; i < s->n; i++) size += s->a[i] * s->a[i];
    return DBL_EPSILON * sqrt((double)s->n) * most * sqrt(size) > WELL * target_size(s, s->y);
}

/* ---- a solution over the chosen rows ---- */

typedef struct trial {
    gram_gp_exact gp;
    double *both;  /* n x (q + 1): T and y, then what the chosen rows do not say of them */
    double *u, *v; /* rank x (q + 1): what they say, and M^-1 of it */
} trial;

static void free_trial(gram_context *context, trial *t)
{
    gram_gp_system *s = &t->gp.system;
    gram_reduced_free(context->memory, &t->gp.reduced);
    gram_cholesky_destroy(s->factor);
    gram_give(context, s->a);
    gram_give(context, s->h);
    gram_give(context, s->small);
    gram_give(context, s->beta);
    gram_give(context, t->gp.rest);
    gram_give(context, t->both);
    gram_give(context, t->u);
}

static gram_status take_trial(gram_context *context, const gram_gp_exact *gp, trial *t)
{
    gram_status status = GRAM_OK;
    gram_gp_system *s = &t->gp.system;
    const int64_t n = s->n, q = s->q, rank = t->gp.reduced.rank;
    TRY(gram_take(context, "gp: coefficients", n, sizeof(double), (void **)&s->a));
    TRY(gram_take(context, "gp: mean", n * q, sizeof(double), (void **)&s->h));
    TRY(gram_take(context, "gp: mean", q * q, sizeof(double), (void **)&s->small));
    TRY(gram_take(context, "gp: mean", q, sizeof(double), (void **)&s->beta));
    TRY(gram_take(context, "gp: noise", 2 * n, sizeof(double), (void **)&t->gp.rest));
    t->gp.noise = t->gp.rest + n;
    TRY(gram_take(context, "gp: solutions", n * (q + 1), sizeof(double), (void **)&t->both));
    TRY(gram_take(context, "gp: solutions", 2 * rank * (q + 1), sizeof(double), (void **)&t->u));
    t->v = t->u + rank * (q + 1);
    for (int64_t i = 0; i < n; i++) {
        if (q > 0) memcpy(t->both + i * (q + 1), gp->system.t + i * q, (size_t)q * sizeof(double));
        t->both[i * (q + 1) + q] = s->y[i];
    }
done:
    return status;
}

/* What rounding leaves of a column of the mean beyond the kernel must not be multiplied by 1/noise. */
static void clear_inside(const gram_gp_exact *gp, trial *t)
{
    const gram_gp_system *s = &gp->system;
    for (int64_t j = 0; j < s->q; j++) {
        double all = 0, beyond = 0;
        for (int64_t i = 0; i < s->n; i++) {
            const double share = t->gp.reduced.share[i], left = t->both[i * (s->q + 1) + j];
            all += s->t[i * s->q + j] * s->t[i * s->q + j] / share;
            beyond += left * left / share;
        }
        if (beyond > INSIDE * all) continue;
        for (int64_t i = 0; i < s->n; i++) t->both[i * (s->q + 1) + j] = 0;
    }
}

/* [T, y]'A^-1 [T, y], lower triangle: beyond the kernel and within. */
static void find_products(const trial *t, double *g)
{
    const int64_t width = t->gp.system.q + 1;
    const gram_reduced *r = &t->gp.reduced;
    memset(g, 0, (size_t)(width * width) * sizeof *g);
    for (int64_t i = 0; i < r->n; i++)
        for (int64_t j = 0; j < width; j++)
            for (int64_t k = 0; k <= j; k++)
                g[j * width + k] += t->gp.limit_weight / r->share[i] * t->both[i * width + j] * t->both[i * width + k];
    for (int64_t i = 0; i < r->rank; i++)
        for (int64_t j = 0; j < width; j++)
            for (int64_t k = 0; k <= j; k++) g[j * width + k] += t->u[i * width + j] * t->v[i * width + k];
}

/* a, h, the rest and y'P y, once beta is known. */
static void finish(trial *t)
{
    gram_gp_system *s = &t->gp.system;
    const gram_reduced *r = &t->gp.reduced;
    const int64_t q = s->q, width = q + 1;
    memset(s->a, 0, (size_t)s->n * sizeof *s->a);
    if (q > 0) memset(s->h, 0, (size_t)(s->n * q) * sizeof *s->h);
    s->quadratic = 0;
    for (int64_t k = 0; k < r->rank; k++) {
        double a = t->v[k * width + q], u = t->u[k * width + q];
        for (int64_t j = 0; j < q; j++) {
            a -= t->v[k * width + j] * s->beta[j];
            u -= t->u[k * width + j] * s->beta[j];
        }
        s->a[r->row[k]] = a;
        if (q > 0) memcpy(s->h + r->row[k] * q, t->v + k * width, (size_t)q * sizeof *s->h);
        s->quadratic += u * a;
    }
    for (int64_t i = 0; i < s->n; i++) {
        double rest = t->both[i * width + q];
        for (int64_t j = 0; j < q; j++) rest -= t->both[i * width + j] * s->beta[j];
        t->gp.rest[i] = t->gp.noise[i] = rest;
        s->quadratic += t->gp.limit_weight / r->share[i] * rest * rest;
    }
    for (int64_t k = 0; k < r->rank; k++) t->u[k] = s->a[r->row[k]];
    gram_reduced_add_noise(r, t->u, t->gp.noise);
    if (r->limit) s->quadratic = NAN; /* 0 or infinite */
}

static gram_status solve(gram_context *context, const gram_gp_exact *gp, trial *t)
{
    gram_status status = GRAM_OK;
    gram_gp_system *s = &t->gp.system;
    const gram_reduced *r = &t->gp.reduced;
    const int64_t width = s->q + 1;
    double *g = NULL, most = 0;
    TRY(gram_reduced_split(context, r, width, t->both, t->u));
    clear_inside(gp, t);
    memcpy(t->v, t->u, (size_t)(r->rank * width) * sizeof *t->v);
    gram_reduced_solve(r, width, t->v);
    for (int64_t k = 0; k < r->rank; k++) most = fmax(most, r->factor[k * (r->rank + 1)]);
    t->gp.limit_weight = r->limit ? 1 / (LIMIT * most * most) : 1;
    TRY(gram_take(context, "gp: mean", width * width, sizeof *g, (void **)&g));
    find_products(t, g);
    gram_gp_system_combine(s, g, DEPENDENT);
    finish(t);
    s->log_determinant = gram_reduced_log_determinant(r);
    s->jitter = r->jitter;
    TRY(gram_reduced_embed(context, r, &s->factor));
done:
    gram_give(context, g);
    return status;
}

/* Takes over what the trial has, and leaves it what it replaces. */
static void adopt(gram_gp_exact *gp, trial *t)
{
    gram_gp_exact old = *gp;
    gp->system = t->gp.system;
    gp->reduced = t->gp.reduced;
    gp->rest = t->gp.rest;
    gp->noise = t->gp.noise;
    gp->limit_weight = t->gp.limit_weight;
    gp->missed = t->gp.missed;
    t->gp = old;
}

/* *residual becomes smaller, or nothing is changed. */
static gram_status attempt(gram_context *context, gram_reduction way, const gram_points *x, int strictly,
                           gram_gp_exact *gp, double *residual)
{
    gram_status status = GRAM_OK;
    trial t = {.gp = {.kernel = gp->kernel, .system = gp->system}};
    gram_gp_system *s = &t.gp.system;
    double found = INFINITY;
    s->factor = NULL;
    s->a = s->h = s->small = s->beta = NULL;
    TRY(gram_reduced_make(context, way, gp->kernel, x, s->shift, s->options.weights, &t.gp.reduced));
    t.gp.missed = way == GRAM_REDUCE_PIVOTED && t.gp.reduced.limit && strictly;
    TRY(take_trial(context, gp, &t));
    TRY(solve(context, gp, &t));
    TRY(measure(context, x, &t.gp, &found));
    if (found < *residual) {
        adopt(gp, &t);
        *residual = found;
    }
done:
    free_trial(context, &t);
    /* then what stands stays, and the residual tells */
    return status == GRAM_ERROR_NUMERICAL || status == GRAM_ERROR_BUDGET ? GRAM_OK : status;
}

gram_status gram_gp_exact_repair(gram_context *context, const gram_points *x, gram_gp_exact *gp)
{
    gram_status status = GRAM_OK;
    const gram_gp_system *s = &gp->system;
    const double jitter = s->jitter;
    gram_properties facts;
    double residual = 0;
    int repeated = 0, noisy = 0;
    if (!is_suspect(s)) return GRAM_OK;
    TRY(measure(context, x, gp, &residual));
    if (jitter == 0 && residual <= WELL) goto done;
    TRY(gram_kernel_properties(context, gp->kernel, x->d, &facts));
    for (int64_t i = 0; i < s->n; i++) noisy = noisy || s->shift[i] > 0;
    TRY(gram_reduced_repeated(context, gp->kernel, x, &repeated));
    if (repeated && jitter > 0) residual = fmax(residual, WELL); /* better without */
    if (repeated) TRY(attempt(context, GRAM_REDUCE_DISTINCT, x, 0, gp, &residual));
    if (residual > WELL && ((!noisy && jitter > 0) || facts.strictly != GRAM_YES))
        TRY(attempt(context, GRAM_REDUCE_PIVOTED, x, facts.strictly == GRAM_YES, gp, &residual));
done:
    return status;
}

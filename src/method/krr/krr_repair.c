/* A ridge that is nothing beside the rounding errors of K.
 *
 * A backward stable solution has the right values K a as long as eps |K| |a| is small beside y, whatever the condition; but |a|
 * may be |y|/ridge, where rows are repeated with different targets, or the kernel has fewer features than there are rows. The
 * residual of the system as it was asked, without any jitter, shows it. Then rows with the same coordinates become one, or
 * pivots of K carry the function (solve/cholesky/reduced_matrix.h), whichever has the least residual. */
#include <float.h>
#include <math.h>
#include <string.h>

#include <gram/matrix.h>

#include "method/krr/krr_solution.h"

static const double INSIDE = 1e-10; /* of the squares of 1: less of it beyond the kernel is rounding */
static const double LIMIT = 1e-12;  /* ridge over amplitude that stands for none, between what it cannot mix up */

/* ---- the residual ---- */

/* |y - b - (K + D) a| over the size of the targets, of the worst output; `noise` has D a of all rows, NULL: the ridge times a. */
static gram_status measure(gram_context *context, const gram_problem *p, int intercept, const double *a,
                           const double *b, const double *noise, double *worst)
{
    gram_status status = GRAM_OK;
    double *products = NULL;
    *worst = 0;
    TRY(gram_take(context, "residual", p->n * p->m, sizeof *products, (void **)&products));
    TRY(gram_matrix_product(context, p->kernel, p->x, NULL, p->m, a, p->m, products, p->m));
    for (int64_t o = 0; o < p->m; o++) {
        const double size = gram_target_size(p->n, p->y + o, p->m, intercept);
        double residual = 0;
        for (int64_t i = 0; i < p->n; i++) {
            const int64_t at = i * p->m + o;
            const double miss = p->y[at] - gram_problem_unpenalised(p, i, b, o) - products[at] -
                                (noise ? noise[at] : p->ridge[i] * a[at]);
            residual += miss * miss;
        }
        if (size > 0) *worst = fmax(*worst, sqrt(residual) / size);
    }
done:
    gram_give(context, products);
    return status;
}

gram_status gram_solution_suspect(gram_context *context, const gram_problem *p, const gram_solution *s, int *suspect)
{
    gram_status status = GRAM_OK;
    double *diagonal = NULL, most = 0;
    *suspect = s->jitter > 0;
    TRY(gram_take(context, "diagonal", p->n, sizeof *diagonal, (void **)&diagonal));
    TRY(gram_matrix_diagonal(context, p->kernel, p->x, diagonal));
    for (int64_t i = 0; i < p->n; i++) most = fmax(most, diagonal[i]);
    for (int64_t o = 0; o < p->m && !*suspect; o++) {
        const double right = gram_target_size(p->n, p->y + o, p->m, s->intercept);
        double size = 0;
        for (int64_t i = 0; i < p->n; i++) size += s->a[i * p->m + o] * s->a[i * p->m + o];
        *suspect = DBL_EPSILON * sqrt((double)p->n) * most * sqrt(size) > GRAM_SOLUTION_WELL * right;
    }
done:
    gram_give(context, diagonal);
    return status;
}

/* ---- a solution over the chosen rows ---- */

typedef struct trial {
    gram_reduced reduced;
    double weight;           /* 1, or what stands for 1/ridge in the limit of none */
    double *both;            /* n x (m + 1): y and 1, then what the chosen rows do not say of them */
    double *u, *v;           /* rank x (m + 1): what they say, and M^-1 of it */
    double *a, *noise;       /* n x m */
    double *b;               /* m */
    double sum, *one, *full; /* 1'A^-1 1; A^-1 1 (n) and A^-1 (y - b) (n x m) of all rows */
} trial;

static void free_trial(gram_context *context, trial *t)
{
    gram_reduced_free(context->memory, &t->reduced);
    gram_give(context, t->both);
    gram_give(context, t->u);
    gram_give(context, t->a);
    gram_give(context, t->noise);
    gram_give(context, t->b);
    gram_give(context, t->full);
    gram_give(context, t->one);
}

static gram_status take_trial(gram_context *context, const gram_problem *p, trial *t)
{
    gram_status status = GRAM_OK;
    const int64_t width = p->m + 1;
    TRY(gram_take(context, "solutions", p->n * width, sizeof(double), (void **)&t->both));
    TRY(gram_take(context, "solutions", 2 * t->reduced.rank * width, sizeof(double), (void **)&t->u));
    TRY(gram_take(context, "coefficients", p->n * p->m, sizeof(double), (void **)&t->a));
    TRY(gram_take(context, "coefficients", p->n * p->m, sizeof(double), (void **)&t->noise));
    TRY(gram_take(context, "coefficients", p->n * p->m, sizeof(double), (void **)&t->full));
    TRY(gram_take(context, "coefficients", p->n, sizeof(double), (void **)&t->one));
    TRY(gram_take(context, "constants", p->m, sizeof(double), (void **)&t->b));
    t->v = t->u + t->reduced.rank * width;
    for (int64_t i = 0; i < p->n; i++) {
        memcpy(t->both + i * (p->m + 1), p->y + i * p->m, (size_t)p->m * sizeof(double));
        t->both[i * (p->m + 1) + p->m] = 1;
    }
done:
    return status;
}

/* What rounding leaves of 1 beyond the kernel must not be multiplied by 1/ridge. */
static void clear_inside(const gram_problem *p, trial *t)
{
    const int64_t m = p->m;
    double all = 0, beyond = 0;
    for (int64_t i = 0; i < p->n; i++) {
        const double left = t->both[i * (m + 1) + m];
        all += 1 / t->reduced.share[i];
        beyond += left * left / t->reduced.share[i];
    }
    for (int64_t i = 0; i < p->n && beyond <= INSIDE * all; i++) t->both[i * (m + 1) + m] = 0;
}

/* column'A^-1 1, or column'A^-1 column: beyond the kernel and within. */
static double product(const gram_problem *p, const trial *t, int64_t column)
{
    const int64_t width = p->m + 1;
    double sum = 0;
    for (int64_t i = 0; i < p->n; i++)
        sum += t->weight / t->reduced.share[i] * t->both[i * width + column] * t->both[i * width + p->m];
    for (int64_t k = 0; k < t->reduced.rank; k++) sum += t->u[k * width + column] * t->v[k * width + p->m];
    return sum;
}

/* b, then a of the chosen rows and D a of all. */
static gram_status finish(gram_context *context, const gram_problem *p, int intercept, trial *t)
{
    gram_status status = GRAM_OK;
    const gram_reduced *r = &t->reduced;
    const int64_t n = p->n, m = p->m, width = m + 1;
    double *chosen = NULL, *noise = NULL;
    TRY(gram_take(context, "coefficients", r->rank, sizeof *chosen, (void **)&chosen));
    TRY(gram_take(context, "coefficients", n, sizeof *noise, (void **)&noise));
    memset(t->a, 0, (size_t)(n * m) * sizeof *t->a);
    t->sum = product(p, t, m);
    for (int64_t o = 0; o < m; o++) {
        t->b[o] = intercept ? product(p, t, o) / t->sum : 0;
        for (int64_t k = 0; k < r->rank; k++) {
            chosen[k] = t->v[k * width + o] - t->b[o] * t->v[k * width + m];
            t->a[r->row[k] * m + o] = chosen[k];
        }
        for (int64_t i = 0; i < n; i++) noise[i] = t->both[i * width + o] - t->b[o] * t->both[i * width + m];
        gram_reduced_add_noise(r, chosen, noise);
        for (int64_t i = 0; i < n; i++) t->noise[i * m + o] = noise[i];
    }
done:
    gram_give(context, chosen);
    gram_give(context, noise);
    return status;
}

static gram_status solve(gram_context *context, const gram_problem *p, int intercept, trial *t)
{
    gram_status status = GRAM_OK;
    const gram_reduced *r = &t->reduced;
    const int64_t width = p->m + 1;
    double most = 0;
    TRY(gram_reduced_split(context, r, width, t->both, t->u));
    clear_inside(p, t);
    memcpy(t->v, t->u, (size_t)(r->rank * width) * sizeof *t->v);
    gram_reduced_solve(r, width, t->v);
    for (int64_t k = 0; k < r->rank; k++) most = fmax(most, r->factor[k * (r->rank + 1)]);
    t->weight = r->limit ? 1 / (LIMIT * most * most) : 1;
    TRY(finish(context, p, intercept, t));
done:
    return status;
}

/* ---- taking it ---- */

/* The diagonal of P for leave-one-out, tr K A^-1, and A^-1 (y - b) of all rows. */
static gram_status expand(gram_context *context, const gram_problem *p, trial *t, gram_solution *s)
{
    gram_status status = GRAM_OK;
    const gram_reduced *r = &t->reduced;
    const int64_t n = p->n, m = p->m, width = m + 1, rank = r->rank;
    double *work = NULL;
    TRY(gram_take(context, "leave-one-out", n, sizeof(double), (void **)&s->projected));
    TRY(gram_take(context, "leave-one-out", n * (rank + 1), sizeof(double), (void **)&work));
    double *e = work, *b = work + n;
    TRY(gram_reduced_leave(context, r, e, s->projected, b));
    s->effective_dimension = 0;
    for (int64_t i = 0; i < n; i++) {
        const double own = e[i] > 0 ? 1 / r->share[i] : 0; /* of what lies beyond the chosen rows, if anything does */
        s->effective_dimension += 1 - e[i] - r->share[i] * s->projected[i];
        s->projected[i] += own * e[i];
        t->one[i] = own * t->both[i * width + m];
        for (int64_t k = 0; k < rank; k++) t->one[i] += b[i * rank + k] * t->v[k * width + m];
        if (s->intercept) s->projected[i] = fmax(s->projected[i] - t->one[i] * t->one[i] / t->sum, 0);
        for (int64_t o = 0; o < m; o++) {
            double sum = own * (t->both[i * width + o] - t->b[o] * t->both[i * width + m]);
            for (int64_t k = 0; k < rank; k++) sum += b[i * rank + k] * t->a[r->row[k] * m + o];
            t->full[i * m + o] = sum;
        }
    }
done:
    gram_give(context, work);
    return status;
}

static gram_status adopt(gram_context *context, const gram_problem *p, trial *t, gram_solution *s)
{
    gram_status status = GRAM_OK;
    const int leave = s->plan.leave_one_out && !t->reduced.limit;
    gram_give(context, s->projected);
    s->projected = NULL;
    memcpy(s->a, t->a, (size_t)(p->n * p->m) * sizeof *s->a);
    memcpy(s->b, t->b, (size_t)p->m * sizeof *s->b);
    s->rank = t->reduced.rank;
    s->jitter = t->reduced.jitter;
    s->condition = INFINITY;
    s->log_determinant = gram_reduced_log_determinant(&t->reduced);
    s->effective_dimension = t->reduced.limit ? (double)t->reduced.rank : NAN;
    s->plan.leave_one_out = leave;
    if (leave) TRY(expand(context, p, t, s));
    gram_give(context, s->noise);
    gram_give(context, s->full);
    s->noise = t->noise;
    s->full = leave ? t->full : NULL;
    t->noise = NULL;
    if (leave) t->full = NULL;
done:
    return status;
}

gram_status gram_solution_reduce(gram_context *context, const gram_problem *p, gram_reduction way, double enough,
                                 gram_solution *s, double *residual)
{
    gram_status status = GRAM_OK;
    trial t = {.weight = 1};
    double found = INFINITY;
    TRY(gram_reduced_make(context, way, p->kernel, p->x, p->ridge, p->weights, &t.reduced));
    TRY(take_trial(context, p, &t));
    TRY(solve(context, p, s->intercept, &t));
    if (way == GRAM_REDUCE_PIVOTED && t.reduced.limit) /* more digits would reach all rows */
        memset(t.noise, 0, (size_t)(p->n * p->m) * sizeof *t.noise);
    TRY(measure(context, p, s->intercept, t.a, t.b, t.noise, &found));
    if (found < *residual && found <= enough) {
        TRY(adopt(context, p, &t, s));
        *residual = found;
    }
done:
    free_trial(context, &t);
    /* then what stands stays, and the residual tells */
    return status == GRAM_ERROR_NUMERICAL || status == GRAM_ERROR_BUDGET ? GRAM_OK : status;
}

gram_status gram_solution_repair(gram_context *context, const gram_problem *p, gram_solution *s, int *repaired)
{
    gram_status status = GRAM_OK;
    const double jitter = s->jitter;
    gram_properties facts;
    double residual = 0;
    int repeated = 0, suspect = 0;
    *repaired = 0;
    TRY(gram_solution_suspect(context, p, s, &suspect));
    if (!suspect) goto done;
    TRY(measure(context, p, s->intercept, s->a, s->b, NULL, &residual));
    if (jitter == 0 && residual <= GRAM_SOLUTION_WELL) goto done;
    TRY(gram_kernel_properties(context, p->kernel, p->d, &facts));
    TRY(gram_reduced_repeated(context, p->kernel, p->x, &repeated));
    if (repeated && jitter > 0) residual = fmax(residual, GRAM_SOLUTION_WELL); /* better without */
    const double worst = residual;
    if (repeated) TRY(gram_solution_reduce(context, p, GRAM_REDUCE_DISTINCT, INFINITY, s, &residual));
    if (residual > GRAM_SOLUTION_WELL && facts.strictly != GRAM_YES)
        TRY(gram_solution_reduce(context, p, GRAM_REDUCE_PIVOTED, INFINITY, s, &residual));
    *repaired = residual < worst;
done:
    return status;
}

gram_status gram_solution_interpolate(gram_context *context, const gram_problem *p, const double *a, const double *b,
                                      double jitter, gram_solution *s)
{
    gram_status status = GRAM_OK;
    gram_properties facts;
    double residual = 0, other = INFINITY;
    TRY(gram_kernel_properties(context, p->kernel, p->d, &facts));
    if (facts.strictly != GRAM_YES) goto done;
    TRY(measure(context, p, s->intercept, s->a, s->b, NULL, &residual));
    if (residual <= GRAM_SOLUTION_PROMISED) goto done;
    if (a) TRY(measure(context, p, s->intercept, a, b, NULL, &other));
    if (a && other < residual) {
        memcpy(s->a, a, (size_t)(p->n * p->m) * sizeof *s->a);
        memcpy(s->b, b, (size_t)p->m * sizeof *s->b);
        s->jitter = jitter;
        s->rank = p->n;
        s->effective_dimension = (double)p->n;
        residual = other;
    }
    TRY(gram_solution_reduce(context, p, GRAM_REDUCE_PIVOTED, INFINITY, s, &residual));
done:
    return status;
}

gram_status gram_solution_least_error(gram_context *context, const gram_problem *p, double *rmse)
{
    gram_status status = GRAM_OK;
    gram_reduced r = {0};
    double *beyond = NULL, *said = NULL, sum = 0;
    TRY(gram_reduced_choose(context, p->x, p->ridge, p->weights, &r));
    TRY(gram_take(context, "targets", p->n * p->m, sizeof *beyond, (void **)&beyond));
    TRY(gram_take(context, "targets", r.rank * p->m, sizeof *said, (void **)&said));
    memcpy(beyond, p->y, (size_t)(p->n * p->m) * sizeof *beyond);
    TRY(gram_reduced_split(context, &r, p->m, beyond, said));
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t o = 0; o < p->m; o++)
            sum += gram_problem_weight(p, i) * beyond[i * p->m + o] * beyond[i * p->m + o];
    *rmse = sqrt(sum / (p->total * (double)p->m));
done:
    gram_give(context, beyond);
    gram_give(context, said);
    gram_reduced_free(context->memory, &r);
    return status;
}

/* The mode of a posterior, or the solution of a penalised likelihood, by Newton steps.
 *
 * With g_i = w_i d log p(y_i | f_i)/df the conditions are c a = g and, with columns T that no penalty acts on, T'a = 0. Linearised
 * at (a, b), where r = g - c a is left over and V = W/c is the curvature:
 *
 *     (K + V^-1) da + T db = V^-1 r/c,   T'(a + da) = 0.
 *
 * With Z = (K + V^-1)^-1 and Z V^-1 = I - Z K this is da = (r - Z K r)/c - Z T db: nothing is divided by a small
 * curvature. As the right-hand side is what is left over, the result is as exact as r can be computed, whatever the
 * factor's error.
 *
 * A step is halved until the objective falls (up to its rounding error): the objective never grows. It is convex for
 * log-concave likelihoods, and then this converges from anywhere. For others the Hessian is replaced where it is not
 * positive definite, and the end is a local minimum. Steps that were made short that way are doubled as long as the
 * objective falls: leaving a saddle would take hundreds else.
 *
 * Cost: a factor, n^3/3, and two products with K for each step. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/system/time_limit.h"
#include "solve/likelihood/likelihood.h"
#include "solve/small_system.h"

enum { MOST_HALVINGS = 40, MOST_DOUBLINGS = 30, STALLED = 3 };
static const double SUFFICIENT = 1e-4, ROUNDING = 64 * DBL_EPSILON;
static const double NEARLY = 1e-6; /* optimality from which on rounding may be all that is left */

/* Arrays of n numbers of one search. */
typedef struct search {
    gram_mode *mode;
    double *numbers;
    double *log_p, *first, *curvature;
    double *r, *kr;     /* g - c a, K r */
    double *u;          /* n x (1 + q): the step by r, and Z T */
    double *da, *kda;   /* and K da, later with T db */
    double *db, *small; /* q, and q x q */
    double *trial;
    double size; /* of the terms of the objective, for its rounding error */
} search;

enum { ARRAYS = 9 }; /* u is the last of them, and has q more */

static gram_status open(gram_context *context, gram_mode *mode, search *s)
{
    gram_status status = GRAM_OK;
    const int64_t n = mode->k->n;
    memset(s, 0, sizeof *s);
    s->mode = mode;
    const int64_t q = mode->q, numbers = (ARRAYS + q) * n + q * (q + 1);
    TRY(gram_take(context, "newton steps", numbers, sizeof(double), (void **)&s->numbers));
    double **arrays[] = {&s->log_p, &s->first, &s->curvature, &s->r, &s->kr, &s->da, &s->kda, &s->trial, &s->u};
    for (int64_t i = 0; i < ARRAYS; i++) *arrays[i] = s->numbers + i * n;
    s->db = s->u + (1 + q) * n;
    s->small = s->db + q;
done:
    return status;
}

/* -sum log p + (c/2) quadratic; the derivatives at f stay in the arrays. */
static double evaluate(search *s, const double *f, double quadratic, int derivatives)
{
    const gram_mode *mode = s->mode;
    const gram_likelihood_values out = {s->log_p, derivatives ? s->first : NULL, derivatives ? s->curvature : NULL,
                                        NULL};
    double sum = 0;
    gram_likelihood_evaluate(mode->rule, mode->k->n, mode->y, mode->weights, f, &out);
    s->size = mode->c / 2 * fabs(quadratic);
    for (int64_t i = 0; i < mode->k->n; i++) {
        sum -= s->log_p[i];
        s->size += fabs(s->log_p[i]);
    }
    return sum + mode->c / 2 * quadratic;
}

static double dot(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* Of column l of T: the product with v, and its largest number. */
static double column_sum(const gram_mode *m, int64_t l, const double *v)
{
    double sum = 0;
    for (int64_t i = 0; i < m->k->n; i++) sum += m->unpenalised[i * m->q + l] * v[i];
    return sum;
}

static double column_size(const gram_mode *m, int64_t l)
{
    double most = 0;
    for (int64_t i = 0; i < m->k->n; i++) most = fmax(most, fabs(m->unpenalised[i * m->q + l]));
    return most;
}

/* r and how far from optimal that is. */
static gram_status look(gram_context *context, search *s)
{
    gram_status status = GRAM_OK;
    gram_mode *m = s->mode;
    const int64_t n = m->k->n;
    double most = 0, left = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        s->r[i] = s->first[i] - m->c * m->a[i];
        most = fmax(most, fmax(fabs(s->first[i]), fabs(s->curvature[i] * m->f[i]))); /* what rounding f changes */
        left = fmax(left, fabs(s->r[i]));
    }
    for (int64_t l = 0; l < m->q; l++) {
        const double sum = column_sum(m, l, s->first);
        left = fmax(left, fabs(sum) / fmax(1, column_size(m, l)));
        squares += sum * sum;
    }
    TRY(gram_loss_matrix_apply(context, m->k, 1, s->r, s->kr));
    m->optimality = most > 0 ? left / most : 0;
    m->gradient = sqrt(fmax(0, dot(n, s->r, s->kr)) + squares);
done:
    return status;
}

/* db from T'(a + da) = 0, and what it takes from da. */
static void add_unpenalised(search *s)
{
    const gram_mode *m = s->mode;
    const int64_t n = m->k->n, q = m->q, columns = 1 + q;
    memset(s->db, 0, (size_t)(q + q * q) * sizeof *s->db);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < q; l++) {
            const double t = m->unpenalised[i * q + l];
            s->db[l] += t * (s->da[i] + m->a[i]);
            for (int64_t k = 0; k <= l; k++) s->small[l * q + k] += t * s->u[i * columns + 1 + k];
        }
    (void)gram_small_factor(q, s->small);
    gram_small_solve(q, s->small, s->db, 1);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < q; l++) s->da[i] -= s->db[l] * s->u[i * columns + 1 + l];
}

/* The direction: da, K da and db; *definite is 0 where the Hessian was replaced. */
static gram_status direct(gram_context *context, search *s, int *definite)
{
    gram_status status = GRAM_OK;
    gram_mode *m = s->mode;
    const int64_t n = m->k->n, columns = 1 + m->q;
    gram_curvature h = {0};
    for (int64_t i = 0; i < n; i++) {
        s->curvature[i] /= m->c;
        s->u[i * columns] = s->kr[i];
        for (int64_t l = 0; l < m->q; l++) s->u[i * columns + 1 + l] = m->unpenalised[i * m->q + l];
    }
    TRY(gram_curvature_make(context, m->k, s->curvature, &h, definite));
    TRY(gram_curvature_apply(context, &h, columns, s->u));
    for (int64_t i = 0; i < n; i++) s->da[i] = (s->r[i] - s->u[i * columns]) / m->c;
    add_unpenalised(s);
    TRY(gram_loss_matrix_apply(context, m->k, 1, s->da, s->kda));
    m->jitter = fmax(m->jitter, h.jitter);
done:
    gram_curvature_free(context->memory, &h);
    return status;
}

/* K da + T db in place of K da. */
static void add_steps(search *s)
{
    const gram_mode *m = s->mode;
    for (int64_t i = 0; i < m->k->n; i++)
        for (int64_t l = 0; l < m->q; l++) s->kda[i] += m->unpenalised[i * m->q + l] * s->db[l];
}

/* A direction and the objective along it. */
typedef struct line {
    double quadratic, cross, bend; /* the quadratic form is quadratic + t (2 cross + t bend) */
} line;

static double objective_at(search *s, const line *along, double t)
{
    const gram_mode *m = s->mode;
    for (int64_t i = 0; i < m->k->n; i++) s->trial[i] = m->f[i] + t * s->kda[i];
    return evaluate(s, s->trial, along->quadratic + t * (2 * along->cross + t * along->bend), 0);
}

/* The step as far as the objective falls; 0 if it does not. */
static double find_step(search *s, const line *along, double slope, int grow)
{
    const gram_mode *m = s->mode;
    double t = 1, objective = INFINITY;
    int halvings = 0;
    for (; halvings < MOST_HALVINGS; halvings++, t /= 2) {
        objective = objective_at(s, along, t);
        if (!isfinite(objective)) continue; /* its rounding error would be infinite too */
        if (objective <= m->objective + SUFFICIENT * t * fmin(slope, 0) + ROUNDING * s->size) break;
    }
    if (halvings == MOST_HALVINGS) return 0;
    for (int doublings = 0; doublings < MOST_DOUBLINGS && grow && halvings == 0; doublings++, t *= 2) {
        const double further = objective_at(s, along, 2 * t);
        if (!(further < objective - ROUNDING * s->size)) break;
        objective = further;
    }
    return t;
}

/* Goes along the direction; 0 if the objective does not fall. */
static int advance(search *s, double quadratic, int grow)
{
    gram_mode *m = s->mode;
    const int64_t n = m->k->n;
    const line along = {quadratic, dot(n, m->a, s->kda), dot(n, s->da, s->kda)};
    double slope = -dot(n, s->r, s->kda);
    for (int64_t l = 0; l < m->q; l++) slope -= s->db[l] * column_sum(m, l, s->first);
    add_steps(s);
    const double t = find_step(s, &along, slope, grow);
    for (int64_t i = 0; i < n; i++) m->a[i] += t * s->da[i];
    for (int64_t l = 0; l < m->q; l++) m->b[l] += t * s->db[l];
    return t > 0;
}

/* f, the objective and its derivatives at (a, b), from scratch: errors of the steps do not add up. */
static gram_status renew(gram_context *context, search *s, double *quadratic)
{
    gram_status status = GRAM_OK;
    gram_mode *m = s->mode;
    const int64_t n = m->k->n;
    TRY(gram_loss_matrix_apply(context, m->k, 1, m->a, m->f));
    *quadratic = dot(n, m->a, m->f);
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < m->q; l++) m->f[i] += m->unpenalised[i * m->q + l] * m->b[l];
    m->objective = evaluate(s, m->f, *quadratic, 1);
    TRY(look(context, s));
done:
    return status;
}

gram_status gram_mode_find(gram_context *context, gram_mode *mode)
{
    gram_status status = GRAM_OK;
    search s = {0};
    double quadratic, best = INFINITY;
    int stalled = 0, definite;
    const int threads = gram_loss_threads_fit(context, mode->k->n);
    TRY(open(context, mode, &s));
    mode->jitter = 0;
    TRY(renew(context, &s, &quadratic));
    FAIL_IF(!isfinite(mode->objective), context, GRAM_ERROR_NUMERICAL,
            "newton steps: no finite objective to start from");
    for (mode->iterations = 0; mode->iterations < mode->most; mode->iterations++) {
        stalled = mode->optimality < best / 2 || best > NEARLY ? 0 : stalled + 1;
        best = fmin(best, mode->optimality);
        if (mode->optimality <= mode->tolerance || stalled > STALLED) break;
        const double began = gram_clock();
        TRY(direct(context, &s, &definite));
        if (!advance(&s, quadratic, !definite)) break;
        if (!definite) best = INFINITY; /* next to a saddle the conditions nearly hold, too */
        TRY(renew(context, &s, &quadratic));
        if (mode->may_end && mode->optimality > mode->tolerance && gram_time_ends_iterations(context, began)) {
            mode->iterations++;
            break;
        }
    }
    mode->converged = mode->optimality <= mode->tolerance;
done:
    gram_loss_threads_restore(context, threads);
    gram_give(context, s.numbers);
    return status;
}

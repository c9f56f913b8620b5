/* Primal-dual interior points (Mehrotra's predictor and corrector) for the dual in interior_points.h.
 *
 * Conditions, with s and t the multipliers of lower and upper bounds and u = f + rho alpha:
 *
 *     target_j - A_j'u + s_j - t_j = 0,   s_j (z_j - lower_j) = mu,   t_j (upper_j - z_j) = mu,   T'alpha = 0.
 *
 * Linearised and without ds, dt: theta_j dz_j = e_j - A_j'h with theta_j = s_j/(z_j - lower_j) + t_j/(upper_j - z_j),
 * h = du, and e_j = target_j - A_j'u + mu/(z_j - lower_j) - mu/(upper_j - z_j). A = [I, B]: the first variables of a
 * row are those of its outputs, T = diag(theta) and e_1 theirs; the others, with theta and e_2, act on them through B.
 * With N = diag(theta_2) + B'T B
 *
 *     dz_2 = N^-1 (e_2 - B'e_1 + B'T d alpha),   dz_1 = d alpha - B dz_2,   h = e_1 - T dz_1,
 *     (K/c + rho + T - T B N^-1 B'T) d alpha + U db = e_1 + T B N^-1 (e_2 - B'e_1):
 *
 * U the unpenalised columns: K with a changed diagonal (blocks of a row's outputs, if there are several), one Cholesky factor for both steps of
 * an iteration. Nothing is divided by a theta, of which some tend to 0.
 *
 * The gap is computed from the definitions of both objectives, not from the method's own quantities: it certifies the
 * result. */
#include "solve/interior_points.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/system/time_limit.h"
#include "solve/small_system.h"

static const double TO_BOUND = 0.995; /* of the way to the nearest bound */
static const double FORCE = 0.25;     /* of the room of the variables it acts on */
static const double WARM = 0.9;       /* a start that another problem gave is drawn to the middle so far */
static const double LEAST = 1e-17;    /* room at a bound, as a part of it */
static const double UNBOUNDED = 1e6;  /* times the objective: a dual that no function under the constraints has */
enum { STALLED = 6, LONG_STALLED = 20 };

typedef struct work {
    gram_interior *p;
    int64_t n, m, j, q; /* rows, outputs, variables, unpenalised columns */
    double *numbers, *small;
    int64_t count, small_count;
    double *theta, *e, *dz, *ds, *dt; /* n x j */
    double *mu_s, *mu_t;              /* n x j: what the products should become */
    double *block;                    /* n x m x m: T - T B N^-1 B'T */
    double *inner;                    /* n x (j - m)^2: the factor of N */
    double *shift;                    /* n m */
    double *right;          /* n m x (1 + q m): right-hand side and the unpenalised columns, then the solutions */
    double *product;        /* n x m: K alpha */
    double *db, *system;    /* q x m, and (q m) x (q m) */
    double *inner_work;     /* j */
    gram_loss_matrix joint; /* several outputs: K for each of them, with the blocks */
    double mu;
} work;

static double dot(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* ---- memory ---- */

/* K for each output, numbered row by row. */
static gram_status make_joint(gram_context *context, work *w)
{
    gram_status status = GRAM_OK;
    const int64_t n = w->n, m = w->m, size = n * m;
    if (m == 1) return GRAM_OK;
    TRY(gram_loss_matrix_take(context, size, &w->joint));
    memset(w->joint.k, 0, (size_t)(size * size) * sizeof(double));
    for (int64_t i = 0; i < n; i++)
        for (int64_t l = 0; l < n; l++)
            for (int64_t t = 0; t < m; t++) w->joint.k[(i * m + t) * size + l * m + t] = w->p->k->k[i * n + l];
    TRY(gram_loss_matrix_ready(context, &w->joint));
done:
    return status;
}

static gram_status open(gram_context *context, gram_interior *p, work *w)
{
    gram_status status = GRAM_OK;
    const int64_t n = p->k->n, m = p->outputs, j = p->variables;
    const int64_t q = p->q;
    *w = (work){.p = p, .n = n, .m = m, .j = j, .q = q};
    w->count = n * (7 * j + m * m + 2 * m + m * (1 + q * m) + (j - m) * (j - m));
    w->small_count = q * m + q * m * q * m + j;
    TRY(gram_take(context, "interior points", w->count, sizeof(double), (void **)&w->numbers));
    TRY(gram_take(context, "interior points", w->small_count, sizeof(double), (void **)&w->small));
    double **wide[] = {&w->theta, &w->e, &w->dz, &w->ds, &w->dt, &w->mu_s, &w->mu_t};
    double *at = w->numbers;
    for (int i = 0; i < 7; i++, at += n * j) *wide[i] = at;
    w->block = at;
    w->shift = w->block + n * m * m;
    w->product = w->shift + n * m;
    w->right = w->product + n * m;
    w->inner = w->right + n * m * (1 + q * m);
    w->db = w->small;
    w->system = w->small + q * m;
    w->inner_work = w->system + q * m * q * m;
    TRY(make_joint(context, w));
done:
    return status;
}

static void close(gram_context *context, work *w)
{
    gram_loss_matrix_free(context, &w->joint);
    gram_give(context, w->numbers);
    gram_give(context, w->small);
}

/* ---- where it stands ---- */

/* alpha, K alpha and f from z and b. */
static gram_status renew(gram_context *context, work *w)
{
    gram_status status = GRAM_OK;
    gram_interior *p = w->p;
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t t = 0; t < w->m; t++) p->alpha[i * w->m + t] = dot(w->j, p->incidence + t * w->j, p->z + i * w->j);
    TRY(gram_loss_matrix_apply(context, p->k, w->m, p->alpha, w->product));
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t t = 0; t < w->m; t++) {
            p->f[i * w->m + t] = w->product[i * w->m + t] / p->c;
            for (int64_t l = 0; l < w->q; l++)
                p->f[i * w->m + t] += p->unpenalised[i * w->q + l] * p->b[l * p->ldb + t];
        }
done:
    return status;
}

/* Rounding may bring a variable to its bound; it keeps a room that rounding would have left. */
static double lower_room(const gram_interior *p, int64_t at)
{
    return fmax(p->z[at] - p->lower[at], LEAST * fabs(p->lower[at]) + DBL_MIN);
}

static double upper_room(const gram_interior *p, int64_t at)
{
    return fmax(p->upper[at] - p->z[at], LEAST * fabs(p->upper[at]) + DBL_MIN);
}

static double complementarity(const work *w)
{
    const gram_interior *p = w->p;
    double sum = 0, count = 0;
    for (int64_t i = 0; i < w->n * w->j; i++) {
        if (!isinf(p->lower[i])) sum += p->s[i] * lower_room(p, i), count++;
        if (!isinf(p->upper[i])) sum += p->t[i] * upper_room(p, i), count++;
    }
    return sum / count;
}

/* target_j - A_j'(f + rho alpha) */
static double slope(const work *w, int64_t i, int64_t j)
{
    const gram_interior *p = w->p;
    double sum = p->target[i * w->j + j];
    for (int64_t t = 0; t < w->m; t++)
        sum -= p->incidence[t * w->j + j] * (p->f[i * w->m + t] + (p->rho ? p->rho[i] * p->alpha[i * w->m + t] : 0));
    return sum;
}

/* By how much f misses what a variable asks for that is not of a loss: has one bound, or none and no rho. */
static double missed_by(const work *w, int64_t at)
{
    const gram_interior *p = w->p;
    const int below = isinf(p->lower[at]), above = isinf(p->upper[at]);
    if ((!below && !above) || (below && above && p->rho && p->rho[at] > 0)) return 0;
    const double miss = slope(w, at / w->j, at % w->j);
    return below && above ? fabs(miss) : fmax(0, above ? miss : -miss);
}

/* Both objectives, by their definitions. What T'alpha misses of 0, and f of its
 * constraints, counts against the gap: with it the gap is never negative. */
static void certify(work *w)
{
    gram_interior *p = w->p;
    const double penalty = dot(w->n * w->m, p->alpha, w->product) / (2 * p->c);
    double linear = dot(w->n * w->j, p->target, p->z), quadratic = 0, left = 0, forced = 0;
    for (int64_t t = 0; t < w->m; t++)
        for (int64_t l = 0; l < w->q; l++) {
            double sum = 0;
            for (int64_t i = 0; i < w->n; i++) sum += p->unpenalised[i * w->q + l] * p->alpha[i * w->m + t];
            left += fabs(sum * p->b[l * p->ldb + t]);
        }
    for (int64_t i = 0; i < w->n && p->rho; i++) quadratic += p->rho[i] * p->alpha[i] * p->alpha[i] / 2;
    p->violation = 0;
    for (int64_t at = 0; at < w->n * w->j; at++) {
        const double missed = missed_by(w, at);
        forced += fabs(p->z[at]) * missed;
        if (!(missed > p->violation)) continue;
        p->violation = missed;
        p->worst = at / w->j;
    }
    p->objective = p->primal(p->argument, p->f) + penalty;
    p->dual = linear - quadratic - penalty - left;
    p->gap = (p->objective - p->dual + forced) / fmax(fabs(p->objective), p->floor);
}

/* Between the bounds, so that alpha = 0: with a small c, f = K alpha/c + b would else be far from everything. A variable without
 * upper bound is a force between two of the first: a small one, which these take back. */
static void set_middle(const work *w, int64_t i, double *middle)
{
    const gram_interior *p = w->p;
    const double *lower = p->lower + i * w->j, *upper = p->upper + i * w->j;
    double room = INFINITY;
    if (isinf(lower[0]) || (w->j == w->m && isinf(upper[0]))) { /* a constraint, or a squared loss: one variable */
        middle[0] = isinf(lower[0]) && isinf(upper[0]) ? 0
                    : isinf(upper[0])                  ? lower[0] + p->force
                                                       : upper[0] - p->force;
        return;
    }
    for (int64_t t = 0; t < w->m; t++) room = fmin(room, fmin(-lower[t], upper[t]));
    for (int64_t j = 0; j < w->j; j++)
        middle[j] = isinf(upper[j])                ? lower[j] + FORCE * room
                    : lower[j] < 0 && upper[j] > 0 ? 0
                                                   : lower[j] / 2 + upper[j] / 2;
    for (int64_t t = 0; t < w->m; t++)
        for (int64_t k = w->m; k < w->j; k++)
            if (isinf(upper[k])) middle[t] -= p->incidence[t * w->j + k] * middle[k];
}

/* Multipliers fit the slopes. */
static gram_status start(gram_context *context, work *w)
{
    gram_status status = GRAM_OK;
    gram_interior *p = w->p;
    double *middle = w->e; /* of no use yet */
    for (int64_t i = 0; i < w->n; i++) set_middle(w, i, middle + i * w->j);
    for (int64_t i = 0; i < w->n * w->j; i++) p->z[i] = p->warm ? middle[i] + WARM * (p->z[i] - middle[i]) : middle[i];
    TRY(renew(context, w));
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t j = 0; j < w->j; j++) {
            const double d = -slope(w, i, j);
            const int64_t at = i * w->j + j;
            p->s[at] = isinf(p->lower[at]) ? 0 : fmax(d, 0) + p->scale / 2;
            p->t[at] = isinf(p->upper[at]) ? 0 : fmax(-d, 0) + p->scale / 2;
        }
done:
    return status;
}

/* ---- one iteration ---- */

/* L L' = a in place, lower triangle of q x q; 0 if there is none. Near the end the numbers of a row are of very different
 * sizes, and a pivot that is lost to rounding is taken as what rounding leaves: steps get a little worse, the certificate does
 * not depend on them. */
static int factor_small(int64_t q, double *a)
{
    for (int64_t i = 0; i < q; i++)
        for (int64_t j = 0; j <= i; j++) {
            double sum = a[i * q + j];
            const double lost = 4 * DBL_EPSILON * sum;
            for (int64_t k = 0; k < j; k++) sum -= a[i * q + k] * a[j * q + k];
            if (i == j && sum < lost) sum = lost;
            if (i == j && !(sum > 0)) return 0;
            a[i * q + j] = i == j ? sqrt(sum) : sum / a[j * q + j];
        }
    return 1;
}

static void solve_small(int64_t q, const double *l, double *v)
{
    for (int64_t i = 0; i < q; i++) {
        for (int64_t k = 0; k < i; k++) v[i] -= l[i * q + k] * v[k];
        v[i] /= l[i * q + i];
    }
    for (int64_t i = q - 1; i >= 0; i--) {
        for (int64_t k = i + 1; k < q; k++) v[i] -= l[k * q + i] * v[k];
        v[i] /= l[i * q + i];
    }
}

/* B_tv of the variables beyond the first m. */
static double beyond(const work *w, int64_t t, int64_t v)
{
    return w->p->incidence[t * w->j + w->m + v];
}

/* N of a row, factored, and T - T B N^-1 B'T. */
static int make_row(const work *w, int64_t i, double *block)
{
    const int64_t m = w->m, q = w->j - m;
    const double *theta = w->theta + i * w->j;
    double *n = w->inner + i * q * q, *v = w->small + m + m * m;
    for (int64_t a = 0; a < q; a++)
        for (int64_t b = 0; b < q; b++) {
            n[a * q + b] = a == b ? theta[m + a] : 0;
            for (int64_t t = 0; t < m; t++) n[a * q + b] += beyond(w, t, a) * theta[t] * beyond(w, t, b);
        }
    if (!factor_small(q, n)) return 0;
    for (int64_t b = 0; b < m; b++) {
        for (int64_t a = 0; a < q; a++) v[a] = beyond(w, b, a) * theta[b];
        solve_small(q, n, v);
        for (int64_t a = 0; a < m; a++) {
            double sum = a == b ? theta[a] : 0;
            for (int64_t k = 0; k < q; k++) sum -= theta[a] * beyond(w, a, k) * v[k];
            block[a * m + b] = sum;
        }
    }
    return 1;
}

/* v = N^-1 (e_2 - B'e_1 + B'T x) of a row; x has m numbers of a stride, NULL: 0. */
static void inner_step(const work *w, int64_t i, const double *x, int64_t stride, double *v)
{
    const int64_t m = w->m, q = w->j - m;
    const double *theta = w->theta + i * w->j, *e = w->e + i * w->j;
    for (int64_t a = 0; a < q; a++) {
        v[a] = e[m + a];
        for (int64_t t = 0; t < m; t++) v[a] += beyond(w, t, a) * ((x ? theta[t] * x[t * stride] : 0) - e[t]);
    }
    solve_small(q, w->inner + i * q * q, v);
}

/* theta and the matrix K + c (rho + blocks), factored. */
static gram_status factor(gram_context *context, work *w, gram_cholesky **out)
{
    gram_status status = GRAM_OK;
    gram_interior *p = w->p;
    const int64_t m = w->m, size = w->n * m;
    int good = 1;
    for (int64_t i = 0; i < w->n * w->j; i++)
        w->theta[i] = (isinf(p->lower[i]) ? 0 : p->s[i] / lower_room(p, i)) +
                      (isinf(p->upper[i]) ? 0 : p->t[i] / upper_room(p, i));
    for (int64_t i = 0; i < w->n; i++) {
        double *block = w->block + i * m * m;
        good &= make_row(w, i, block);
        for (int64_t a = 0; a < m; a++) {
            w->shift[i * m + a] = p->c * (block[a * m + a] + (p->rho ? p->rho[i] : 0));
            for (int64_t b = 0; b < m && m > 1; b++)
                if (a != b) w->joint.k[(i * m + a) * size + i * m + b] = p->c * block[a * m + b];
        }
    }
    FAIL_IF(!good, context, GRAM_ERROR_NUMERICAL, "interior points: a row's system is singular");
    TRY(gram_loss_matrix_factor(context, m > 1 ? &w->joint : p->k, w->shift, &p->jitter, out));
done:
    return status;
}

/* e, and e_1 + T B N^-1 (e_2 - B'e_1) in the first column of the right-hand sides. */
static void right_side(work *w)
{
    const gram_interior *p = w->p;
    const int64_t m = w->m, q = w->q, columns = 1 + q * m;
    double *v = w->inner_work;
    for (int64_t i = 0; i < w->n; i++) {
        for (int64_t j = 0; j < w->j; j++) {
            const int64_t at = i * w->j + j;
            w->e[at] = slope(w, i, j) + (isinf(p->lower[at]) ? 0 : w->mu_s[at] / lower_room(p, at)) -
                       (isinf(p->upper[at]) ? 0 : w->mu_t[at] / upper_room(p, at));
        }
        inner_step(w, i, NULL, 0, v);
        for (int64_t a = 0; a < m; a++) {
            double sum = 0;
            for (int64_t k = 0; k < w->j - m; k++) sum += beyond(w, a, k) * v[k];
            w->right[(i * m + a) * columns] = w->e[i * w->j + a] + w->theta[i * w->j + a] * sum;
            for (int64_t b = 0; b < q * m; b++)
                w->right[(i * m + a) * columns + 1 + b] = a == b % m ? p->unpenalised[i * q + b / m] : 0;
        }
    }
}

/* db from T'(alpha + d alpha) = 0: T' of the columns' solutions times db = T' of the first plus alpha/c. */
static void solve_unpenalised(work *w)
{
    const gram_interior *p = w->p;
    const int64_t m = w->m, q = w->q, columns = 1 + q * m;
    memset(w->small, 0, (size_t)(q * m + q * m * q * m) * sizeof(double));
    for (int64_t i = 0; i < w->n; i++)
        for (int64_t k = 0; k < q * m; k++) {
            const double *row = w->right + (i * m + k % m) * columns, t = p->unpenalised[i * q + k / m];
            w->db[k] += t * (row[0] + p->alpha[i * m + k % m] / p->c);
            for (int64_t l = 0; l <= k; l++) w->system[k * q * m + l] += t * row[1 + l];
        }
    (void)gram_small_factor(q * m, w->system);
    gram_small_solve(q * m, w->system, w->db, 1);
}

/* dz, ds, dt from d alpha, which is in `right`. */
static void spread(work *w)
{
    const gram_interior *p = w->p;
    const int64_t m = w->m, columns = 1 + w->q * m;
    double *v = w->inner_work;
    for (int64_t i = 0; i < w->n; i++) {
        double *da = w->right + i * m * columns; /* stride columns */
        for (int64_t a = 0; a < m; a++) {
            double sum = da[a * columns];
            for (int64_t b = 0; b < w->q * m; b++) sum -= da[a * columns + 1 + b] * w->db[b];
            da[a * columns] = p->c * sum;
        }
        inner_step(w, i, da, columns, v);
        for (int64_t j = 0; j < w->j; j++) {
            const int64_t at = i * w->j + j;
            w->dz[at] = j < m ? da[j * columns] : v[j - m];
            for (int64_t k = 0; k < w->j - m && j < m; k++) w->dz[at] -= beyond(w, j, k) * v[k];
            w->ds[at] = isinf(p->lower[at])
                            ? 0
                            : w->mu_s[at] / lower_room(p, at) - p->s[at] - p->s[at] / lower_room(p, at) * w->dz[at];
            w->dt[at] = isinf(p->upper[at])
                            ? 0
                            : w->mu_t[at] / upper_room(p, at) - p->t[at] + p->t[at] / upper_room(p, at) * w->dz[at];
        }
    }
}

static gram_status step(gram_context *context, work *w, const gram_cholesky *factored)
{
    gram_status status = GRAM_OK;
    const int64_t columns = 1 + w->q * w->m;
    right_side(w);
    TRY(gram_cholesky_solve(context, factored, columns, w->right, columns));
    solve_unpenalised(w);
    spread(w);
done:
    return status;
}

static double limit(double room, double move)
{
    return move < 0 && -move > room ? room / -move : 1;
}

/* How far one may go: 1 at most. */
static double reach(const work *w)
{
    const gram_interior *p = w->p;
    double most = 1;
    for (int64_t i = 0; i < w->n * w->j; i++) {
        if (!isinf(p->lower[i])) {
            most = fmin(most, limit(lower_room(p, i) * TO_BOUND, w->dz[i]));
            most = fmin(most, limit(p->s[i] * TO_BOUND, w->ds[i]));
        }
        if (isinf(p->upper[i])) continue;
        most = fmin(most, limit(upper_room(p, i) * TO_BOUND, -w->dz[i]));
        most = fmin(most, limit(p->t[i] * TO_BOUND, w->dt[i]));
    }
    return most;
}

/* The complementarity after the predictor's step. */
static double predicted(const work *w, double length)
{
    const gram_interior *p = w->p;
    double sum = 0, count = 0;
    for (int64_t i = 0; i < w->n * w->j; i++) {
        if (!isinf(p->lower[i])) sum += (p->s[i] + length * w->ds[i]) * (lower_room(p, i) + length * w->dz[i]), count++;
        if (!isinf(p->upper[i])) sum += (p->t[i] + length * w->dt[i]) * (upper_room(p, i) - length * w->dz[i]), count++;
    }
    return sum / count;
}

static void aim(work *w, double mu, int corrected)
{
    for (int64_t i = 0; i < w->n * w->j; i++) {
        w->mu_s[i] = mu - (corrected ? w->ds[i] * w->dz[i] : 0);
        w->mu_t[i] = mu + (corrected ? w->dt[i] * w->dz[i] : 0);
    }
}

static void move(work *w, double length)
{
    gram_interior *p = w->p;
    for (int64_t i = 0; i < w->n * w->j; i++) {
        p->z[i] += length * w->dz[i];
        p->s[i] += length * w->ds[i];
        if (!isinf(p->upper[i])) p->t[i] += length * w->dt[i];
    }
    for (int64_t k = 0; k < w->q * w->m; k++) p->b[k / w->m * p->ldb + k % w->m] += length * w->db[k];
}

static gram_status iterate(gram_context *context, work *w)
{
    gram_status status = GRAM_OK;
    gram_cholesky *factored = NULL;
    TRY(factor(context, w, &factored));
    w->mu = complementarity(w);
    aim(w, 0, 0);
    TRY(step(context, w, factored));
    const double ratio = predicted(w, reach(w)) / w->mu;
    aim(w, w->mu * fmin(1, ratio * ratio * ratio), 1);
    TRY(step(context, w, factored));
    move(w, reach(w));
    TRY(renew(context, w));
    certify(w);
done:
    gram_cholesky_destroy(factored);
    return status;
}

/* What falls while there is progress: the gap, or what constraints are missed by. */
static double merit(const gram_interior *p)
{
    return fmax(p->gap, p->violation / p->scale);
}

/* The dual bounds every objective under the constraints from below. One that grows without end, while f itself is none of those functions and has
 * an ordinary objective, is Farkas' certificate that there are none. */
static int is_unbounded(const gram_interior *p)
{
    return p->dual > UNBOUNDED * fmax(fabs(p->objective), p->floor) && p->violation > p->tolerance * p->scale;
}

static int is_done(const gram_interior *p)
{
    return p->gap <= p->tolerance && p->violation <= p->tolerance * p->scale;
}

gram_status gram_interior_solve(gram_context *context, gram_interior *p)
{
    gram_status status = GRAM_OK;
    work w = {0};
    int stalled = 0;
    const int patience = p->force > 0 ? LONG_STALLED : STALLED; /* constraints are met before the gap closes */
    const int threads = gram_loss_threads_fit(context, p->k->n * p->outputs);
    TRY(open(context, p, &w));
    p->jitter = 0;
    p->infeasible = 0;
    TRY(start(context, &w));
    certify(&w);
    double best = merit(p);
    for (p->iterations = 0; p->iterations < p->most; p->iterations++) {
        if (is_done(p) || stalled > patience || p->infeasible) break;
        const double began = gram_clock();
        TRY(iterate(context, &w));
        FAIL_IF(!isfinite(p->gap), context, GRAM_ERROR_NUMERICAL, "interior points: the iterates are not finite");
        if (!is_done(p) && gram_time_ends_iterations(context, began)) {
            p->iterations++;
            break;
        }
        stalled = merit(p) < best * 0.9 ? 0 : stalled + 1;
        best = fmin(best, merit(p));
        p->infeasible = is_unbounded(p);
    }
    p->converged = is_done(p);
done:
    gram_loss_threads_restore(context, threads);
    close(context, &w);
    return status;
}

/* A whole path of ridges from one tridiagonalisation.
 *
 * With S = diag(sqrt(w)) the problem is an unweighted one: M = S K S, S y, and t = S 1 in place of 1. M = Q T Q' once; then
 * for each ridge r = n lambda every solve with M + r I is one with T + r I, O(n). With B = (M + r I)^-1, u = B S y, v = B t and
 * P = B - v v'/(t'v):
 *
 *     S^-1 a = u - b v,  b = t'u/(t'v)          whitened coefficients; residuals are r times them
 *     tr P = tr (T + r I)^-1 - |v|^2/(t'v)      the trace from the pivots of both directions (see trace_inverse)
 *     P_ii = |L^-1 q_i|^2 - v_i^2/(t'v)         T + r I = L L' bidiagonal, q_i' row i of Q: O(n) each
 *     leave-one-out residual a_i/P_ii
 *
 * The memory is that of the matrix, whose place Q takes. */
#include <cblas.h>
#include <math.h>
#include <string.h>

#include "base/sweep.h"
#include "method/krr/krr.h"
#include "method/krr/krr_solution.h"
#include "points/functionals.h"
#include "solve/cholesky/cholesky.h"
#include "solve/tridiagonal.h"

enum { ROWS = 64 /* of one task */ };

typedef struct path {
    const gram_problem *problem;
    int intercept;
    gram_tridiagonal t;
    double *rotated; /* Q'[S y, t], one row of n for each */
    double *solved;  /* (T + r)^-1 of the same; then rotated back */
    double *pivots;  /* of L D L' = T + r I from the top; */
    double *inverse; /* P_ii */
    double ridge;
    double dot; /* t'v */
} path;

static double root_weight(const gram_problem *p, int64_t i)
{
    return p->weights ? sqrt(p->weights[i]) : 1;
}

/* ---- once ---- */

static gram_status reduce(gram_context *context, path *h)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = h->problem;
    const int64_t n = p->n;
    TRY(gram_matrix(context, p->kernel, p->x, NULL, h->t.a, n));
    for (int64_t i = 0; i < n && p->weights; i++)
        for (int64_t j = 0; j <= i; j++) h->t.a[i * n + j] *= root_weight(p, i) * root_weight(p, j);
    TRY(gram_tridiagonal_reduce(context, "path of lambda", &h->t));
    for (int64_t o = 0; o <= p->m; o++)
        for (int64_t i = 0; i < n; i++) h->rotated[o * n + i] = root_weight(p, i) * (o < p->m ? p->y[i * p->m + o] : 1);
    TRY(gram_tridiagonal_multiply(context, &h->t, 1, p->m + 1, h->rotated, n));
    TRY(gram_tridiagonal_form(context, &h->t));
done:
    return status;
}

/* ---- for each lambda ---- */

/* Pivots of T + r I from the top; 0 if one is not positive. */
static int factor(path *h)
{
    const int64_t n = h->t.n;
    for (int64_t i = 0; i < n; i++) {
        h->pivots[i] = h->t.d[i] + h->ridge;
        if (i > 0) h->pivots[i] -= h->t.e[i - 1] * (h->t.e[i - 1] / h->pivots[i - 1]);
        if (!(h->pivots[i] > 0)) return 0;
    }
    return 1;
}

/* Pivots that are no more than what rounding makes of 0 are worth as little as negative ones. */
static int are_sound(const path *h)
{
    double least = INFINITY, most = 0;
    for (int64_t i = 0; i < h->t.n; i++) {
        least = fmin(least, h->pivots[i]);
        most = fmax(most, h->pivots[i]);
    }
    return gram_pivots_hold(h->t.n, least, most);
}

static void solve_one(const path *h, const double *right, double *out)
{
    const int64_t n = h->t.n;
    const double *e = h->t.e, *pivots = h->pivots;
    for (int64_t i = 0; i < n; i++) out[i] = right[i] - (i > 0 ? e[i - 1] / pivots[i - 1] * out[i - 1] : 0);
    for (int64_t i = n - 1; i >= 0; i--) {
        out[i] /= pivots[i];
        if (i + 1 < n) out[i] -= e[i] / pivots[i] * out[i + 1];
    }
}

/* tr (T + r I)^-1: with pivots p_i from the top and q_i from the bottom, entry (i, i) is 1/(p_i + q_i - (t_ii + r)). */
static double trace_inverse(const path *h)
{
    double sum = 0, below = 0;
    for (int64_t i = h->t.n - 1; i >= 0; i--) {
        const double entry = h->t.d[i] + h->ridge;
        double pivot = entry;
        if (i + 1 < h->t.n) pivot -= h->t.e[i] * (h->t.e[i] / below);
        sum += 1 / (h->pivots[i] + pivot - entry);
        below = pivot;
    }
    return sum;
}

/* Rows of Q: q_i has a stride of n. |D^-1/2 L^-1 q|^2. */
static gram_status diagonal_task(void *argument, const gram_worker *worker)
{
    const path *h = argument;
    const int64_t n = h->t.n, from = worker->task * ROWS, to = from + ROWS < n ? from + ROWS : n;
    const double *v = h->solved + h->problem->m * n;
    double *last = worker->scratch;
    memset(last, 0, ROWS * sizeof *last);
    for (int64_t i = from; i < to; i++) h->inverse[i] = h->intercept ? -v[i] * v[i] / h->dot : 0;
    for (int64_t j = 0; j < n; j++) {
        const double below = j > 0 ? h->t.e[j - 1] / h->pivots[j - 1] : 0, inverse = 1 / h->pivots[j];
        const double *q = h->t.a + j * n;
        for (int64_t i = from; i < to; i++) {
            const double value = q[i] - below * last[i - from];
            last[i - from] = value;
            h->inverse[i] += value * value * inverse;
        }
    }
    return GRAM_OK;
}

/* out = Q in: a row-major a[j][i] = Q_ij, so that Q = a'. */
static void rotate_back(const path *h, double *vector, double *room)
{
    const int n = h->t.n;
    cblas_dgemv(CblasRowMajor, CblasTrans, n, n, 1, h->t.a, n, vector, 1, 0, room, 1);
    memcpy(vector, room, (size_t)n * sizeof *room);
}

/* solved: u - b v of each output and v, first in T's coordinates, then in those of the rows. */
static void solve_all(path *h, double *constants, double *quadratic, double *room)
{
    const gram_problem *p = h->problem;
    const int64_t n = p->n, m = p->m;
    double *v = h->solved + m * n;
    for (int64_t o = 0; o <= m; o++) solve_one(h, h->rotated + o * n, h->solved + o * n);
    const int blas = gram_blas_enter();
    h->dot = cblas_ddot((int)n, h->rotated + m * n, 1, v, 1);
    for (int64_t o = 0; o < m; o++) {
        double *u = h->solved + o * n;
        constants[o] = h->intercept ? cblas_ddot((int)n, h->rotated + m * n, 1, u, 1) / h->dot : 0;
        cblas_daxpy((int)n, -constants[o], v, 1, u, 1);
        quadratic[o] = cblas_ddot((int)n, h->rotated + o * n, 1, u, 1);
    }
    for (int64_t o = 0; o <= m; o++) rotate_back(h, h->solved + o * n, room);
    gram_blas_leave(blas);
}

static double log_determinant(const path *h)
{
    double sum = 0;
    for (int64_t i = 0; i < h->t.n; i++) {
        sum += log(h->pivots[i]);
        if (h->problem->weights) sum -= log(h->problem->weights[i]);
    }
    return sum;
}

static void fill_point(const path *h, const double *quadratic, gram_krr_path_point *point)
{
    const gram_problem *p = h->problem;
    const int64_t n = p->n, m = p->m;
    const double *v = h->solved + m * n, count = (double)n, pi = 3.14159265358979323846;
    double squares = 0, loo = 0, vv = 0;
    for (int64_t i = 0; i < n; i++) {
        vv += v[i] * v[i];
        for (int64_t o = 0; o < m; o++) {
            const double a = h->solved[o * n + i], left = h->inverse[i] > 0 ? a / h->inverse[i] : NAN;
            squares += a * a;
            loo += left * left;
        }
    }
    const double inverse = trace_inverse(h), trace = inverse - (h->intercept ? vv / h->dot : 0);
    point->gcv = count * count * squares / (trace * trace) / (p->total * (double)m);
    point->loo_rmse = sqrt(loo / (p->total * (double)m));
    point->train_rmse = h->ridge * sqrt(squares / (p->total * (double)m));
    point->effective_dimension = count - h->ridge * inverse;
    point->log_marginal_likelihood = 0;
    for (int64_t o = 0; o < m; o++)
        point->log_marginal_likelihood -= count / 2 * (log(2 * pi * quadratic[o] / count) + 1) + log_determinant(h) / 2;
    if (!isfinite(point->log_marginal_likelihood)) point->log_marginal_likelihood = NAN;
}

static gram_status visit(gram_context *context, path *h, gram_krr_path_point *point, double *coefficients,
                         double *constants, double *room)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = h->problem;
    double *quadratic = room + p->n;
    h->ridge = (double)p->n * point->lambda;
    FAIL_IF(!factor(h) || !are_sound(h), context, GRAM_ERROR_NUMERICAL,
            "krr_path: K + n lambda I is not positive definite to working precision at lambda = %g", point->lambda);
    solve_all(h, constants, quadratic, room);
    const gram_sweep sweep = {.what = "path of lambda",
                              .tasks = (p->n + ROWS - 1) / ROWS,
                              .scratch_bytes = ROWS * sizeof(double),
                              .run = diagonal_task,
                              .argument = h};
    TRY(gram_sweep_run(context, &sweep));
    fill_point(h, quadratic, point);
    for (int64_t i = 0; i < p->n && coefficients; i++)
        for (int64_t o = 0; o < p->m; o++)
            coefficients[(p->rows ? p->rows[i] : i) * p->m + o] = root_weight(p, i) * h->solved[o * p->n + i];
done:
    return status;
}

/* ---- the whole ---- */

static gram_status walk(gram_context *context, path *h, int64_t count, gram_krr_path_point *points,
                        double *coefficients, double *constants)
{
    gram_status status = GRAM_OK;
    const gram_problem *p = h->problem;
    const int64_t n = p->n, m = p->m, numbers = n * (5 + 2 * (m + 1)) + n + 2 * m, given = p->given * m;
    double *room = NULL;
    TRY(gram_take(context, "path of lambda: the matrix", n * n, sizeof(double), (void **)&h->t.a));
    TRY(gram_take(context, "path of lambda", numbers, sizeof(double), (void **)&room));
    h->t.d = room;
    h->t.e = h->t.d + n;
    h->t.tau = h->t.e + n;
    h->pivots = h->t.tau + n;
    h->inverse = h->pivots + n;
    h->rotated = h->inverse + n;
    h->solved = h->rotated + n * (m + 1);
    double *work = h->solved + n * (m + 1), *b = work + n + m;
    TRY(reduce(context, h));
    for (int64_t i = 0; i < count; i++) {
        double *a = coefficients ? coefficients + i * given : NULL;
        if (a) memset(a, 0, (size_t)given * sizeof *a);
        TRY(visit(context, h, points + i, a, constants ? constants + i * m : b, work));
    }
done:
    gram_give(context, room);
    gram_give(context, h->t.a);
    return status;
}

gram_status gram_krr_path(gram_context *context, gram_kernel *kernel, const gram_points *x, int64_t outputs,
                          const double *y, int64_t ldy, const gram_krr_options *options, int64_t count,
                          gram_krr_path_point *points, double *coefficients, double *constants)
{
    gram_status status = GRAM_OK;
    gram_krr_options known;
    gram_problem problem = {0};
    if (!context || !points) return GRAM_ERROR_ARGUMENT;
    TRY(gram_points_must_be_plain(context, "krr_path", x));
    TRY(gram_krr_options_read(context, "krr_path", options, &known));
    FAIL_IF(known.unpenalised_count > 0, context, GRAM_ERROR_UNSUPPORTED,
            "krr_path: unpenalised_count = %lld, a path has a constant only", (long long)known.unpenalised_count);
    TRY(gram_problem_make(context, "krr_path", kernel, x, outputs, y, ldy, known.weights, &problem));
    for (int64_t i = 0; i < count; i++)
        FAIL_IF(!(points[i].lambda > 0) || !isfinite(points[i].lambda), context, GRAM_ERROR_ARGUMENT,
                "krr_path: path[%lld].lambda = %g, need a number above 0", (long long)i, points[i].lambda);
    FAIL_IF(problem.n > GRAM_TRIDIAGONAL_MOST, context, GRAM_ERROR_OVERFLOW, "krr_path: n = %lld is too large",
            (long long)problem.n);
    path h = {.problem = &problem, .intercept = known.intercept != 0};
    h.t.n = h.t.lda = (int)problem.n;
    TRY(walk(context, &h, count, points, coefficients, constants));
done:
    gram_problem_free(context, &problem);
    return status;
}

/* The exact solution of A a = y - b, A = K + ridge.
 *
 * Mixed precision: an f32 factor takes half the memory and time of an f64 one. It is only a preconditioner; conjugate
 * gradients with products in f64 bring the solution to the backward error of an f64 factor in a few steps. When they stall,
 * the condition is too bad for that and the f64 factor is made instead.
 *
 * Both y and the columns T that no penalty acts on (1, of functionals what they make of 1, and some columns of x) are solved for:
 * P = A^-1 - A^-1 T (T'A^-1 T)^-1 T'A^-1, a = P y. The diagonal of P gives leave-one-out; it needs the inverse, made in place of the
 * f64 factor.
 *
 * Without a ridge the factor serves if the condition allows it. Otherwise the limit of a vanishing ridge comes from
 * eigenvalues: with S = diag(sqrt(w)), M = S K S, t = S 1 and N the projector to M's null space, b = t'N S y/(t'N t) if t
 * has a part there and 1'K^+ y/(1'K^+ 1) if not, and a = S M^+ S (y - b). Rows that are repeated become one first. */
#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include <gram/cg.h>
#include <gram/eigen.h>

#include "method/krr/krr_solution.h"
#include "solve/cholesky/cholesky.h"
#include "solve/small_system.h"

enum { STALLED = 8 };

static const double REFINED = 1e-14;        /* backward error that refinement reaches */
static const double WORST_CONDITION = 1e13; /* of a factor that the ridgeless limit trusts */

void gram_solution_combine(const gram_problem *p, const double *u, double *a, double *b)
{
    const int64_t m = p->m, q = p->q, columns = m + q;
    for (int64_t k = 0; k < q * q; k++) p->small[k] = 0;
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < q; j++)
            for (int64_t k = 0; k <= j; k++) p->small[j * q + k] += p->t[i * q + j] * u[i * columns + m + k];
    (void)gram_small_factor(q, p->small);
    for (int64_t o = 0; o < m; o++) {
        for (int64_t j = 0; j < q; j++) {
            b[j * m + o] = 0;
            for (int64_t i = 0; i < p->n; i++) b[j * m + o] += u[i * columns + m + j] * p->y[i * m + o];
        }
        gram_small_solve(q, p->small, b + o, m);
        for (int64_t i = 0; i < p->n; i++) {
            a[i * m + o] = u[i * columns + o];
            for (int64_t j = 0; j < q; j++) a[i * m + o] -= b[j * m + o] * u[i * columns + m + j];
        }
    }
}

void gram_solution_right_side(const gram_problem *p, double *u)
{
    const int64_t columns = p->m + p->q;
    for (int64_t i = 0; i < p->n; i++) {
        memcpy(u + i * columns, p->y + i * p->m, (size_t)p->m * sizeof *u);
        for (int64_t j = 0; j < p->q; j++) u[i * columns + p->m + j] = p->t[i * p->q + j];
    }
}

/* ---- f64 ---- */

/* What is left of a single row is 0, not its rounding error. */
static double less_unpenalised(const gram_problem *p, double inverse, const double *h)
{
    const double left = inverse - gram_small_form(p->q, p->small, h, h, p->small + p->q * p->q);
    return left > 16 * DBL_EPSILON * inverse ? left : 0;
}

/* P_ii = (A^-1)_ii - h_i (T'H)^-1 h_i', H = A^-1 T; and tr K A^-1 = n - sum_i (A - K)_ii (A^-1)_ii. */
static gram_status invert(gram_context *context, const gram_problem *p, const double *u, gram_cholesky *factor,
                          gram_solution *s)
{
    gram_status status = GRAM_OK;
    const int64_t columns = p->m + p->q;
    TRY(gram_take(context, "leave-one-out", p->n, sizeof(double), (void **)&s->projected));
    TRY(gram_cholesky_invert(context, factor));
    TRY(gram_cholesky_inverse_diagonal(context, factor, s->projected));
    s->effective_dimension = 0;
    for (int64_t i = 0; i < p->n; i++) {
        s->effective_dimension += 1 - (p->ridge[i] + s->jitter) * s->projected[i];
        if (p->q > 0) s->projected[i] = less_unpenalised(p, s->projected[i], u + i * columns + p->m);
    }
done:
    return status;
}

static gram_status solve_f64(gram_context *context, const gram_problem *p, gram_solution *s, double *u)
{
    gram_status status = GRAM_OK;
    const int64_t columns = p->m + p->q;
    gram_cholesky *factor = NULL;
    int repaired = 0;
    TRY(gram_cholesky_create_together(context, p->kernel, p->x, p->ridge, GRAM_STORAGE_F64, &s->jitter, &factor));
    s->log_determinant = gram_cholesky_log_determinant(factor);
    TRY(gram_cholesky_condition(context, factor, &s->condition));
    gram_solution_right_side(p, u);
    TRY(gram_cholesky_solve(context, factor, columns, u, columns));
    gram_solution_combine(p, u, s->a, s->b);
    s->plan.precision = GRAM_PRECISION_F64;
    if (p->ridge[0] > 0 && gram_problem_is_plain(p)) TRY(gram_solution_repair(context, p, s, &repaired));
    if (s->plan.leave_one_out && !repaired) TRY(invert(context, p, u, factor, s));
done:
    gram_cholesky_destroy(factor);
    return status;
}

/* ---- f32 and refinement ---- */

gram_status gram_solution_operator(gram_context *context, const gram_problem *p, gram_operator **op)
{
    gram_status status = GRAM_OK;
    gram_operator *k = NULL;
    TRY(gram_operator_create_free(context, p->kernel, p->x, &k));
    TRY(gram_operator_create_shifted_by(context, k, p->ridge, op));
done:
    gram_operator_release(k);
    return status;
}

/* 1 in *solved if the tolerance was reached. */
static gram_status refine(gram_context *context, const gram_problem *p, gram_solution *s, gram_cholesky *factor,
                          double *u, int *solved)
{
    gram_status status = GRAM_OK;
    const int64_t columns = p->m + p->q;
    gram_operator *op = NULL;
    double *right = NULL;
    gram_cg_options options;
    gram_cg_report report = {.size = sizeof report};
    gram_cg_options_init(&options, sizeof options);
    options.tolerance = s->tolerance > 0 ? s->tolerance : REFINED;
    options.stall = STALLED;
    options.precondition = gram_cholesky_precondition;
    options.user = factor;
    TRY(gram_solution_operator(context, p, &op));
    TRY(gram_take(context, "right-hand sides", p->n * columns, sizeof(double), (void **)&right));
    gram_solution_right_side(p, right);
    memset(u, 0, (size_t)(p->n * columns) * sizeof *u);
    TRY(gram_cg_solve(context, op, columns, right, columns, u, columns, &options, &report));
    s->iterations = report.iterations;
    *solved = status == GRAM_OK;
    status = GRAM_OK;
    gram_solution_combine(p, u, s->a, s->b);
done:
    gram_give(context, right);
    gram_operator_release(op);
    return status;
}

static gram_status solve_f32(gram_context *context, const gram_problem *p, gram_solution *s, double *u, int *solved)
{
    gram_status status = GRAM_OK;
    const int64_t columns = p->m + p->q;
    gram_cholesky *factor = NULL;
    *solved = 0;
    status = gram_cholesky_create_together(context, p->kernel, p->x, p->ridge, GRAM_STORAGE_F32, &s->jitter, &factor);
    if (status == GRAM_ERROR_NUMERICAL) return GRAM_OK;
    if (status < 0) goto done;
    if (s->plan.precision == GRAM_PRECISION_F32) {
        gram_solution_right_side(p, u);
        TRY(gram_cholesky_solve(context, factor, columns, u, columns));
        gram_solution_combine(p, u, s->a, s->b);
        *solved = 1;
    } else {
        s->jitter = 0; /* of the preconditioner alone: the system that is solved has none */
        TRY(refine(context, p, s, factor, u, solved));
    }
done:
    gram_cholesky_destroy(factor);
    return status;
}

/* ---- no ridge ---- */

typedef struct spectrum {
    int64_t n, rank;
    double *values;
    double *vectors; /* row j is the vector of value j */
} spectrum;

static gram_status decompose(gram_context *context, const gram_problem *p, spectrum *e)
{
    gram_status status = GRAM_OK;
    const int64_t n = p->n;
    double *k = NULL;
    TRY(gram_take(context, "ridgeless limit: the matrix", n * n, sizeof(double), (void **)&k));
    TRY(gram_matrix(context, p->kernel, p->x, NULL, k, n));
    for (int64_t i = 0; i < n && p->weights; i++)
        for (int64_t j = 0; j <= i; j++) k[i * n + j] *= sqrt(p->weights[i]) * sqrt(p->weights[j]);
    TRY(gram_eigen_symmetric(context, n, k, n, 0, n, e->values, e->vectors, n));
    const double least = (double)n * DBL_EPSILON * fabs(e->values[0]);
    FAIL_IF(e->values[n - 1] < -1e4 * least, context, GRAM_ERROR_NUMERICAL,
            "krr_fit: the Gram matrix has the negative eigenvalue %g: without a ridge the kernel must be positive "
            "semi-definite",
            e->values[n - 1]);
    e->rank = 0;
    while (e->rank < n && e->values[e->rank] > least) e->rank++;
done:
    gram_give(context, k);
    return status;
}

/* z_j = v_j'S c for a column c of stride `stride` (NULL: 1). */
static void project(const gram_problem *p, const spectrum *e, const double *c, int64_t stride, double *z)
{
    for (int64_t j = 0; j < e->n; j++) {
        z[j] = 0;
        for (int64_t i = 0; i < e->n; i++)
            z[j] += e->vectors[j * e->n + i] * sqrt(gram_problem_weight(p, i)) *
                    (c ? c[i * stride] : gram_problem_one(p, i));
    }
}

/* The constant of the limit: by the part of 1 that no function of the kernel reaches, if there is one. */
static double limit_constant(const spectrum *e, const double *one, const double *y)
{
    double all = 0, beyond = 0, beyond_y = 0, within = 0, within_y = 0;
    for (int64_t j = 0; j < e->n; j++) {
        all += one[j] * one[j];
        if (j < e->rank) {
            within += one[j] * one[j] / e->values[j];
            within_y += one[j] * y[j] / e->values[j];
        } else {
            beyond += one[j] * one[j];
            beyond_y += one[j] * y[j];
        }
    }
    return beyond > 1e-10 * all ? beyond_y / beyond : within_y / within;
}

static gram_status pseudo_inverse(gram_context *context, const gram_problem *p, gram_solution *s)
{
    gram_status status = GRAM_OK;
    const int64_t n = p->n, m = p->m;
    spectrum e = {n, 0, NULL, NULL};
    double *one = NULL, *z = NULL;
    TRY(gram_take(context, "ridgeless limit: eigenvalues", n, sizeof(double), (void **)&e.values));
    TRY(gram_take(context, "ridgeless limit: eigenvectors", n * n, sizeof(double), (void **)&e.vectors));
    TRY(gram_take(context, "ridgeless limit", n, sizeof(double), (void **)&one));
    TRY(gram_take(context, "ridgeless limit", n, sizeof(double), (void **)&z));
    TRY(decompose(context, p, &e));
    project(p, &e, NULL, 0, one);
    for (int64_t o = 0; o < m; o++) {
        project(p, &e, p->y + o, m, z);
        s->b[o] = s->intercept ? limit_constant(&e, one, z) : 0;
        for (int64_t j = 0; j < n; j++) z[j] = j < e.rank ? (z[j] - s->b[o] * one[j]) / e.values[j] : 0;
        for (int64_t i = 0; i < n; i++) {
            double sum = 0;
            for (int64_t j = 0; j < e.rank; j++) sum += e.vectors[j * n + i] * z[j];
            s->a[i * m + o] = sum * sqrt(gram_problem_weight(p, i));
        }
    }
    s->rank = e.rank;
    s->effective_dimension = (double)e.rank;
    s->condition = e.rank < n ? INFINITY : e.values[0] / e.values[n - 1];
    s->plan.leave_one_out = 0;
done:
    gram_give(context, e.values);
    gram_give(context, e.vectors);
    gram_give(context, one);
    gram_give(context, z);
    return status;
}

/* Without a factor that is sound: repeated rows become one, or eigenvalues decide, or what a jitter gave is still better. */
static gram_status solve_singular(gram_context *context, const gram_problem *p, double jitter, gram_solution *s)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = p->n * p->m;
    double residual = INFINITY, *jittered = NULL;
    int repeated = 0;
    FAIL_IF(
        p->linear_count > 0, context, GRAM_ERROR_NUMERICAL,
        "krr_fit: without a ridge the Gram matrix is singular, and with unpenalised columns that is not solved; use "
        "lambda > 0");
    if (!p->one) TRY(gram_reduced_repeated(context, p->kernel, p->x, &repeated));
    TRY(gram_take(context, "ridgeless limit", numbers + p->m, sizeof *jittered, (void **)&jittered));
    memcpy(jittered, s->a, (size_t)numbers * sizeof *jittered);
    memcpy(jittered + numbers, s->b, (size_t)p->m * sizeof *jittered);
    if (repeated) TRY(gram_solution_reduce(context, p, GRAM_REDUCE_DISTINCT, GRAM_SOLUTION_PROMISED, s, &residual));
    if (!isinf(residual)) goto done;
    TRY(pseudo_inverse(context, p, s));
    if (!p->one)
        TRY(gram_solution_interpolate(context, p, jitter < 0 ? NULL : jittered, jittered + numbers, jitter, s));
done:
    gram_give(context, jittered);
    return status;
}

static gram_status solve_ridgeless(gram_context *context, const gram_problem *p, gram_solution *s, double *u)
{
    const gram_status status = solve_f64(context, p, s, u);
    const double jitter = status < 0 ? -1 : s->jitter;
    if (status >= 0 && s->jitter == 0 && s->condition < WORST_CONDITION) return status;
    if (status < 0 && status != GRAM_ERROR_NUMERICAL) return status;
    gram_give(context, s->projected);
    s->projected = NULL;
    s->jitter = 0;
    s->log_determinant = NAN;
    return solve_singular(context, p, jitter, s);
}

/* ---- the whole ---- */

gram_status gram_solve_exact(gram_context *context, const gram_problem *p, gram_solution *s)
{
    gram_status status = GRAM_OK;
    const int64_t columns = p->m + p->q;
    const int double_only = s->plan.precision == GRAM_PRECISION_F64;
    int solved = 0, suspect = 0;
    double *u = NULL;
    s->centres = p->x;
    TRY(gram_take(context, "solutions", p->n * columns, sizeof(double), (void **)&u));
    if (p->ridge[0] == 0) {
        TRY(solve_ridgeless(context, p, s, u));
        goto done;
    }
    if (!double_only) TRY(solve_f32(context, p, s, u, &solved));
    /* of large coefficients the f64 factor knows more to do */
    if (solved && s->plan.precision != GRAM_PRECISION_F32) TRY(gram_solution_suspect(context, p, s, &suspect));
    if (suspect) solved = 0;
    if (!solved) {
        s->iterations = 0;
        s->jitter = 0;
        TRY(solve_f64(context, p, s, u));
    }
done:
    gram_give(context, u);
    return status;
}

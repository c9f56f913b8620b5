/* Preconditioned conjugate gradients and the tridiagonal matrix that they make on the way.
 *
 * With alpha_k the step lengths and beta_k the ratios (r, z)_(k+1)/(r, z)_k, the Lanczos matrix of M^-1/2 A M^-1/2 that begins
 * with M^-1/2 b is (Golub and Van Loan, Matrix Computations, section 11.3)
 *
 *     T_kk = 1/alpha_k + beta_(k-1)/alpha_(k-1),   T_k,k+1 = sqrt(beta_k)/alpha_k,
 *
 * and v'log(B)v/(v'v) ~ sum_j (first entry of T's eigenvector j)^2 log(eigenvalue j): Gauss's quadrature (Golub and Meurant).
 * Lost orthogonality repeats eigenvalues and shares their weight out; the sum hardly sees it.
 *
 * The recursion's residual drifts. When all columns have converged by it the true residuals are made, and where one is still
 * too large the iteration begins again from there, as long as each beginning halves the worst; the coefficients are those of
 * the first. A column that has converged stands still: its direction is 0. */
#include "solve/lanczos.h"

#include <math.h>
#include <string.h>

#include "base/lapack.h"
#include "base/sweep.h"

enum { STARTS = 4 };

typedef struct column {
    double b_norm, r_norm, rz;
    double alpha, beta;
    int active;
    int64_t steps; /* coefficients that it has */
} column;

typedef struct state {
    gram_context *context;
    gram_lanczos *run;
    int64_t n, columns;
    double *z, *p, *q;    /* n x columns each */
    double *alpha, *beta; /* most x probes */
    double *sums;         /* columns */
    column *column;
    int recording;
} state;

/* sums[c] = (x, y) of column c; rows go by once, in order. */
static void find_dots(const state *s, const double *x, const double *y)
{
    const int64_t columns = s->columns;
    memset(s->sums, 0, (size_t)columns * sizeof *s->sums);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < columns; c++) s->sums[c] += x[i * columns + c] * y[i * columns + c];
}

static int any_active(const state *s)
{
    for (int64_t c = 0; c < s->columns; c++)
        if (s->column[c].active) return 1;
    return 0;
}

/* z = M^-1 r where the column is active, else 0; then (r, z). */
static gram_status precondition(state *s)
{
    gram_status status = GRAM_OK;
    gram_lanczos *run = s->run;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < s->columns; c++)
            s->z[i * s->columns + c] = s->column[c].active ? run->residual[i * s->columns + c] : 0;
    if (run->precondition) TRY(run->precondition(run->user, s->context, s->columns, s->z, s->columns));
    find_dots(s, run->residual, s->z);
done:
    return status;
}

static void find_norms(state *s)
{
    find_dots(s, s->run->residual, s->run->residual);
    for (int64_t c = 0; c < s->columns; c++) s->column[c].r_norm = sqrt(s->sums[c]);
}

/* The true residual, and which columns it says are not done. */
static gram_status find_residual(state *s)
{
    gram_status status = GRAM_OK;
    gram_lanczos *run = s->run;
    TRY(gram_operator_apply(s->context, run->a, s->columns, run->x, s->columns, s->q, s->columns));
    for (int64_t i = 0; i < s->n * s->columns; i++) run->residual[i] = run->b[i] - s->q[i];
    find_norms(s);
    run->worst = 0;
    for (int64_t c = 0; c < s->columns; c++) {
        column *own = &s->column[c];
        own->active = own->r_norm > run->tolerance * own->b_norm;
        if (own->b_norm > 0) run->worst = fmax(run->worst, own->r_norm / own->b_norm);
    }
done:
    return status;
}

static void record(state *s, int64_t c)
{
    const int64_t probe = c - (s->columns - s->run->probes);
    column *own = &s->column[c];
    if (!s->recording || probe < 0) return;
    s->alpha[own->steps * s->run->probes + probe] = own->alpha;
    s->beta[own->steps * s->run->probes + probe] = own->beta;
    own->steps++;
}

/* x += alpha p, r -= alpha q. A column ends where rounding errors are all that is left. */
static void advance(state *s)
{
    gram_lanczos *run = s->run;
    const int64_t columns = s->columns;
    find_dots(s, s->p, s->q);
    for (int64_t c = 0; c < columns; c++) {
        column *own = &s->column[c];
        const double alpha = own->rz / s->sums[c];
        own->active = own->active && s->sums[c] > 0 && own->rz > 0 && isfinite(alpha);
        own->alpha = own->active ? alpha : 0;
        s->sums[c] = own->alpha;
    }
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < columns; c++) {
            run->x[i * columns + c] += s->sums[c] * s->p[i * columns + c];
            run->residual[i * columns + c] -= s->sums[c] * s->q[i * columns + c];
        }
    find_norms(s);
    for (int64_t c = 0; c < columns; c++) {
        column *own = &s->column[c];
        if (!own->active || own->r_norm > run->tolerance * own->b_norm) continue;
        own->active = 0;
        own->beta = 0;
        record(s, c);
    }
}

/* p = z + beta p */
static void turn(state *s)
{
    const int64_t columns = s->columns;
    for (int64_t c = 0; c < columns; c++) {
        column *own = &s->column[c];
        own->beta = own->active ? s->sums[c] / own->rz : 0;
        own->rz = s->sums[c];
        s->sums[c] = own->beta;
        if (own->active) record(s, c);
    }
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < columns; c++) {
            const double old = s->p[i * columns + c];
            s->p[i * columns + c] = s->z[i * columns + c] + s->sums[c] * old;
        }
}

static gram_status step(state *s)
{
    gram_status status = GRAM_OK;
    TRY(gram_operator_apply(s->context, s->run->a, s->columns, s->p, s->columns, s->q, s->columns));
    s->run->iterations++;
    advance(s);
    if (!any_active(s)) goto done;
    TRY(precondition(s));
    turn(s);
done:
    return status;
}

/* From the residual at hand until the recursion has converged. */
static gram_status iterate(state *s)
{
    gram_status status = GRAM_OK;
    TRY(precondition(s));
    memcpy(s->p, s->z, (size_t)(s->n * s->columns) * sizeof *s->p);
    for (int64_t c = 0; c < s->columns; c++) {
        const int64_t probe = c - (s->columns - s->run->probes);
        s->column[c].rz = s->sums[c];
        if (s->recording && probe >= 0) s->run->size[probe] = s->sums[c];
    }
    while (any_active(s) && s->run->iterations < s->run->most) TRY(step(s));
    s->recording = 0;
done:
    return status;
}

static gram_status solve(state *s)
{
    gram_status status = GRAM_OK;
    gram_lanczos *run = s->run;
    double before = INFINITY;
    memset(run->x, 0, (size_t)(s->n * s->columns) * sizeof *run->x);
    memcpy(run->residual, run->b, (size_t)(s->n * s->columns) * sizeof *run->x);
    find_dots(s, run->b, run->b);
    for (int64_t c = 0; c < s->columns; c++)
        s->column[c] = (column){.b_norm = sqrt(s->sums[c]), .active = s->sums[c] > 0};
    run->iterations = 0;
    s->recording = 1;
    for (int start = 0; start < STARTS; start++) {
        TRY(iterate(s));
        TRY(find_residual(s));
        if (!any_active(s) || run->iterations >= run->most || !(run->worst <= before / 2)) break;
        before = run->worst;
    }
    if (any_active(s)) status = GRAM_NOT_CONVERGED;
done:
    return status;
}

/* ---- quadrature ---- */

/* sum_j w_j log(node_j) of T's leading k x k part; `work` has room for k (k + 4) numbers. */
static double quadrature(const state *s, int64_t probe, int64_t k, double *work)
{
    const int64_t probes = s->run->probes;
    double *d = work, *e = d + k, *more = e + k, *vectors = more + 2 * k, sum = 0;
    const int size = (int)k;
    int info = 0;
    for (int64_t j = 0; j < k; j++) {
        const double alpha = s->alpha[j * probes + probe];
        d[j] = 1 / alpha;
        if (j > 0) d[j] += s->beta[(j - 1) * probes + probe] / s->alpha[(j - 1) * probes + probe];
        e[j] = sqrt(s->beta[j * probes + probe]) / alpha;
    }
    dstev_("V", &size, d, e, vectors, &size, more, &info, 1);
    if (info != 0) return NAN;
    for (int64_t j = 0; j < k; j++) sum += vectors[j * k] * vectors[j * k] * log(d[j]);
    return sum;
}

static gram_status quadrature_task(void *argument, const gram_worker *worker)
{
    state *s = argument;
    gram_lanczos *run = s->run;
    const int64_t probe = worker->task, steps = s->column[s->columns - run->probes + probe].steps;
    run->quadrature[probe] = run->change[probe] = 0;
    if (steps == 0) return GRAM_OK; /* a probe of zeros */
    const double fewer = quadrature(s, probe, steps - steps / 4, worker->scratch);
    run->quadrature[probe] = quadrature(s, probe, steps, worker->scratch);
    run->change[probe] = steps < 4 ? 0 : fabs(run->quadrature[probe] - fewer);
    return GRAM_OK;
}

static gram_status integrate(state *s)
{
    int64_t most = 0;
    for (int64_t c = 0; c < s->columns; c++) most = s->column[c].steps > most ? s->column[c].steps : most;
    const gram_sweep sweep = {.what = "quadrature",
                              .tasks = s->run->probes,
                              .scratch_bytes = (size_t)(most * (most + 4) + 1) * sizeof(double),
                              .run = quadrature_task,
                              .argument = s};
    return s->run->probes > 0 ? gram_sweep_run(s->context, &sweep) : GRAM_OK;
}

gram_status gram_lanczos_run(gram_context *context, gram_lanczos *run)
{
    gram_status status = GRAM_OK, solved = GRAM_OK;
    state s = {.context = context, .run = run, .n = gram_operator_size(run->a), .columns = run->columns};
    const int64_t size = s.n * s.columns, coefficients = run->most * run->probes;
    TRY(gram_take(context, "conjugate gradients", 3 * size, sizeof(double), (void **)&s.z));
    TRY(gram_take(context, "conjugate gradients", s.columns, sizeof *s.column, (void **)&s.column));
    TRY(gram_take(context, "conjugate gradients", s.columns, sizeof(double), (void **)&s.sums));
    TRY(gram_take(context, "conjugate gradients", 2 * coefficients, sizeof(double), (void **)&s.alpha));
    s.p = s.z + size, s.q = s.p + size;
    if (s.alpha) s.beta = s.alpha + coefficients; /* without probes there are none */
    TRY(solved = solve(&s));
    TRY(integrate(&s));
    status = solved;
done:
    gram_give(context, s.z);
    gram_give(context, s.column);
    gram_give(context, s.sums);
    gram_give(context, s.alpha);
    return status;
}

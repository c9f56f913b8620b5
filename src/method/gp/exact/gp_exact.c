/* Conditioning a Gaussian process on data.
 *
 * Leave-one-out: with P as in gp_system.c, y_i given the others is N(y_i - a_i/P_ii, 1/P_ii). The diagonal of A^-1 is the
 * squared norms of the columns of L^-1, so that the factor stays. */
#include <math.h>
#include <string.h>

#include "base/sweep.h"
#include "method/gp/exact/gp_exact.h"
#include "points/points.h"
#include "solve/cholesky/cholesky.h"

enum { CHUNK = 512, MOST_FOR_LOO = 5000 };

static const double REACHED = 1e-9; /* of a row that other rows do not determine: less of it is rounding */
static const double PROMISED = 1e-4, PROMISED_F32 = 1e-2; /* relative residual above which a fit is no answer */

/* ---- conditioning ---- */

/* diag(A^-1) to `out`, some columns of L^-1 at a time. */
static gram_status inverse_diagonal(gram_context *context, const gram_gp_system *s, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->n;
    double *columns = NULL;
    TRY(gram_take(context, "gp_fit: columns of the inverse", n * CHUNK, sizeof(double), (void **)&columns));
    for (int64_t first = 0; first < n; first += CHUNK) {
        const int64_t count = n - first < CHUNK ? n - first : CHUNK;
        memset(columns, 0, (size_t)(n * count) * sizeof *columns);
        for (int64_t j = 0; j < count; j++) columns[(first + j) * count + j] = 1;
        TRY(gram_cholesky_half_solve(context, s->factor, count, columns, count));
        for (int64_t j = 0; j < count; j++) out[first + j] = 0;
        for (int64_t i = first; i < n; i++)
            for (int64_t j = 0; j < count; j++) out[first + j] += columns[i * count + j] * columns[i * count + j];
    }
done:
    gram_give(context, columns);
    return status;
}

/* Are there densities? Not where given other rows one has no variance but rounding errors, or those of a jitter. */
static int is_determined(const gram_gp_exact *gp)
{
    const gram_gp_system *s = &gp->system;
    double least, most;
    if (gp->reduced.rank > 0) return !isnan(s->log_determinant);
    gram_cholesky_pivots(s->factor, &least, &most);
    return s->jitter == 0 && gram_pivots_hold(s->n, least, most);
}

/* diag(A^-1), A^-1 (y - T beta) and A^-1 T of all rows. */
typedef struct whole {
    double *diagonal;
    const double *a, *h;
    double *own; /* a and h, where they are not the system's */
} whole;

/* Over chosen rows: what lies beyond them, over the noise, and what is within. */
static gram_status expand(gram_context *context, const gram_gp_exact *gp, whole *w)
{
    gram_status status = GRAM_OK;
    const gram_gp_system *s = &gp->system;
    const gram_reduced *r = &gp->reduced;
    const int64_t n = s->n, q = s->q, rank = r->rank;
    double *b = NULL, *e = NULL;
    TRY(gram_take(context, "gp_fit: leave-one-out", n * (q + 1), sizeof(double), (void **)&w->own));
    TRY(gram_take(context, "gp_fit: leave-one-out", n * rank, sizeof(double), (void **)&b));
    TRY(gram_take(context, "gp_fit: leave-one-out", n + rank * q, sizeof(double), (void **)&e));
    double *a = w->own, *h = w->own + n;
    if (q > 0) memcpy(h, s->t, (size_t)(n * q) * sizeof *h);
    if (q > 0) TRY(gram_reduced_split(context, r, q, h, e + n));
    TRY(gram_reduced_leave(context, r, e, w->diagonal, b));
    for (int64_t i = 0; i < n; i++) {
        const double own = gp->limit_weight / r->share[i], left = r->limit && e[i] < REACHED ? 0 : e[i];
        w->diagonal[i] += own * left;
        a[i] = left > 0 ? own * gp->rest[i] : 0;
        for (int64_t j = 0; j < q; j++) h[i * q + j] *= left > 0 ? own : 0;
        for (int64_t k = 0; k < rank; k++) {
            a[i] += b[i * rank + k] * s->a[r->row[k]];
            for (int64_t j = 0; j < q; j++) h[i * q + j] += b[i * rank + k] * s->h[r->row[k] * q + j];
        }
    }
    w->a = a;
    w->h = h;
done:
    gram_give(context, b);
    gram_give(context, e);
    return status;
}

static gram_status leave_one_out(gram_context *context, const double *y, gram_gp_exact *gp, gram_gp_report *r)
{
    gram_status status = GRAM_OK;
    const gram_gp_system *s = &gp->system;
    whole w = {.a = s->a, .h = s->h};
    double *row = NULL, sum = 0, density = 0, inside = 0, mean = 0, variation = 0;
    TRY(gram_take(context, "gp_fit: leave-one-out", s->n, sizeof(double), (void **)&gp->loo_mean));
    TRY(gram_take(context, "gp_fit: leave-one-out", s->n, sizeof(double), (void **)&gp->loo_variance));
    TRY(gram_take(context, "gp_fit: leave-one-out", s->q + 1, sizeof(double), (void **)&row));
    w.diagonal = gp->loo_variance;
    TRY(gp->reduced.rank > 0 ? expand(context, gp, &w) : inverse_diagonal(context, s, gp->loo_variance));
    for (int64_t i = 0; i < s->n; i++) mean += y[i] / (double)s->n;
    for (int64_t i = 0; i < s->n; i++) {
        double p = gp->loo_variance[i];
        if (s->q > 0) memcpy(row, w.h + i * s->q, (size_t)s->q * sizeof *row);
        gram_gp_small_solve(s, row);
        for (int64_t k = 0; k < s->q; k++) p -= row[k] * row[k];
        const int known = p > 1e-14 * gp->loo_variance[i]; /* one row and a constant: nothing is left to predict from */
        const double miss = known ? w.a[i] / p : NAN;
        gp->loo_variance[i] = known ? 1 / p : NAN;
        gp->loo_mean[i] = y[i] - miss;
        sum += miss * miss;
        density += -0.5 * (log(2 * 3.14159265358979323846 / p) + miss * miss * p);
        inside += miss * miss * p <= 1.959963984540054 * 1.959963984540054;
        variation += (y[i] - mean) * (y[i] - mean);
    }
    r->loo_rmse = sqrt(sum / (double)s->n);
    r->loo_r2 = variation > 0 ? 1 - sum / variation : NAN;
    if (!is_determined(gp)) goto done;
    r->loo_log_density = density / (double)s->n;
    r->loo_coverage = inside / (double)s->n;
done:
    gram_give(context, row);
    gram_give(context, w.own);
    return status;
}

/* Fitted values and the residual of the system as it was asked for, without a jitter, from one product K [a, 1]. It is that over
 * y - T beta, but where beta is much larger than y, over y. */
static gram_status report_residual(gram_context *context, const double *y, const gram_gp_exact *gp, gram_gp_report *r,
                                   double *error)
{
    gram_status status = GRAM_OK;
    const gram_gp_system *s = &gp->system;
    const int64_t n = s->n;
    double *v = NULL, *out = NULL, residual, right, sizes = 0, rows = 0, miss = 0, mean = 0, variation = 0;
    TRY(gram_take(context, "gp_fit: residual", 2 * n, sizeof(double), (void **)&v));
    TRY(gram_take(context, "gp_fit: residual", 2 * n, sizeof(double), (void **)&out));
    for (int64_t i = 0; i < n; i++) {
        v[2 * i] = s->a[i];
        v[2 * i + 1] = 1;
        mean += y[i] / (double)n;
    }
    TRY(gram_matrix_product(context, gp->kernel, gram_function_centres(gp->function), NULL, 2, v, 2, out, 2));
    for (int64_t i = 0; i < n; i++) {
        double target = y[i];
        for (int64_t j = 0; j < s->q; j++) target -= s->t[i * s->q + j] * s->beta[j];
        const double row = out[2 * i + 1] + s->shift[i];
        sizes += s->a[i] * s->a[i];
        rows += row * row;
        miss += (target - out[2 * i]) * (target - out[2 * i]);
        variation += (y[i] - mean) * (y[i] - mean);
    }
    *error = gram_gp_exact_residual(gp, y, out, 2, &residual, &right);
    r->residual = right > 0 ? sqrt(residual / right) : 0;
    if (*error > 2 * r->residual) r->residual = *error;
    const double size = sqrt(rows / (double)n) * sqrt(sizes) + sqrt(right);
    r->backward_error = size > 0 ? sqrt(residual) / size : 0;
    r->train_rmse = sqrt(miss / (double)n);
    r->train_r2 = variation > 0 ? 1 - miss / variation : NAN;
done:
    gram_give(context, v);
    gram_give(context, out);
    return status;
}

gram_status gram_gp_exact_assess(gram_context *context, const double *y, gram_gp_exact *gp, gram_gp_report *r)
{
    gram_status status = GRAM_OK;
    const gram_gp_system *s = &gp->system;
    double error;
    r->jitter = s->jitter;
    r->log_marginal_likelihood = is_determined(gp) ? gram_gp_log_likelihood(s) : NAN;
    r->rank = gp->reduced.rank > 0 ? gp->reduced.rank : s->n;
    if (gp->reduced.rank > 0)
        r->condition = INFINITY;
    else
        TRY(gram_cholesky_condition(context, s->factor, &r->condition));
    TRY(report_residual(context, y, gp, r, &error));
    if (s->n <= MOST_FOR_LOO) TRY(leave_one_out(context, y, gp, r));
    r->converged = error <= (gram_function_centres(gp->function)->f32 ? PROMISED_F32 : PROMISED);
    if (!r->converged) status = GRAM_NOT_CONVERGED;
done:
    return status;
}

/* ---- making and ending ---- */

static gram_status make(gram_context *context, const char *name, gram_kernel *kernel, gram_gp_exact **gp)
{
    gram_status status = GRAM_OK;
    gram_gp_exact *made = NULL;
    TRY(gram_take(context, name, 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->kernel = gram_kernel_retain(kernel);
    *gp = made;
done:
    return status;
}

/* sum_i a_i k(x_i, .) with the mean's constant. */
static gram_status make_function(gram_context *context, const gram_points *x, gram_gp_exact *gp)
{
    const gram_gp_system *s = &gp->system;
    return gram_function_create(context, gp->kernel, x, 1, s->a, 1, s->options.mean != GRAM_MEAN_ZERO ? s->beta : NULL,
                                &gp->function);
}

gram_status gram_gp_exact_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                              const gram_gp_options *options, gram_gp_exact **gp)
{
    gram_status status = GRAM_OK;
    gram_gp_exact *made = NULL;
    *gp = NULL;
    TRY(make(context, "gp_fit", kernel, &made));
    TRY(gram_gp_system_make(context, "gp_fit", kernel, x, y, options, 1, &made->system));
    if (!x->functionals) TRY(gram_gp_exact_repair(context, x, made)); /* which looks for rows that are repeated */
    TRY(make_function(context, x, made));
    made->system.y = NULL; /* the caller's */
    gram_gp_options_forget(&made->system.options);
    *gp = made;
    made = NULL;
done:
    gram_gp_exact_destroy(made);
    return status;
}

/* count numbers, all finite but for diagonals of a q x q array, which may be infinite: a column that depends on others. */
static gram_status copy_part(gram_context *context, const char *name, int64_t count, int64_t infinite,
                             const double *from, double **to)
{
    gram_status status = GRAM_OK;
    if (count == 0) return GRAM_OK;
    FAIL_IF(!from, context, GRAM_ERROR_ARGUMENT, "gp_create: %s is NULL", name);
    TRY(gram_take(context, "gp_create", count, sizeof(double), (void **)to));
    for (int64_t i = 0; i < count; i++) {
        const int may = infinite > 0 && i % (infinite + 1) == 0 && from[i] > 0;
        FAIL_IF(!isfinite(from[i]) && !(may && !isnan(from[i])), context, GRAM_ERROR_DATA,
                "gp_create: %s[%lld] is not finite", name, (long long)i);
        (*to)[i] = from[i];
    }
done:
    return status;
}

gram_status gram_gp_exact_create(gram_context *context, gram_kernel *kernel, const gram_gp_parts *p, gram_gp_exact **gp)
{
    gram_status status = GRAM_OK;
    gram_gp_exact *made = NULL;
    *gp = NULL;
    TRY(make(context, "gp_create", kernel, &made));
    gram_gp_system *s = &made->system;
    gram_gp_system_restore(p, s);
    TRY(copy_part(context, "coefficients", s->n, 0, p->coefficients, &s->a));
    TRY(copy_part(context, "beta", s->q, 0, p->beta, &s->beta));
    if (p->flat) TRY(copy_part(context, "mean_weights", s->n * s->q, 0, p->mean_weights, &s->h));
    if (p->flat) TRY(copy_part(context, "mean_factor", s->q * s->q, s->q, p->mean_factor, &s->small));
    TRY(gram_cholesky_unpack(context, "gp_create: factor", s->n, p->factor, &s->factor));
    TRY(make_function(context, p->centres, made));
    *gp = made;
    made = NULL;
done:
    gram_gp_exact_destroy(made);
    return status;
}

void gram_gp_exact_destroy(gram_gp_exact *gp)
{
    if (!gp) return;
    gram_memory *memory = gp->memory;
    const gram_gp_system *s = &gp->system;
    gram_reduced_free(memory, &gp->reduced);
    gram_memory_give(memory, gp->rest);
    gram_function_release(gp->function);
    gram_kernel_release(gp->kernel);
    gram_memory_give(memory, gp->loo_mean);
    gram_memory_give(memory, gp->loo_variance);
    gram_cholesky_destroy(s->factor);
    gram_memory_give(memory, s->t);
    gram_memory_give(memory, s->h);
    gram_memory_give(memory, s->small);
    gram_memory_give(memory, s->beta);
    gram_memory_give(memory, s->shift);
    gram_memory_give(memory, s->a);
    gram_memory_give(memory, gp);
    gram_memory_release(memory);
}

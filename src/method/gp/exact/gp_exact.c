/* Conditioning a Gaussian process on data.
 *
 * Leave-one-out: with P as in gp_system.c, y_i given the others is N(y_i - a_i/P_ii, 1/P_ii). The diagonal of A^-1 is the
 * squared norms of the columns of L^-1, so that the factor stays. */
#include <math.h>
#include <string.h>

#include "base/sweep.h"
#include "method/gp/exact/gp_exact.h"
#include "points/points.h"

enum { CHUNK = 512, MOST_FOR_LOO = 5000 };

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

static gram_status leave_one_out(gram_context *context, const double *y, gram_gp *gp)
{
    gram_status status = GRAM_OK;
    const gram_gp_system *s = &gp->system;
    double *row = NULL, sum = 0, density = 0, inside = 0, mean = 0, variation = 0;
    TRY(gram_take(context, "gp_fit: leave-one-out", s->n, sizeof(double), (void **)&gp->loo_mean));
    TRY(gram_take(context, "gp_fit: leave-one-out", s->n, sizeof(double), (void **)&gp->loo_variance));
    TRY(gram_take(context, "gp_fit: leave-one-out", s->q + 1, sizeof(double), (void **)&row));
    TRY(inverse_diagonal(context, s, gp->loo_variance));
    for (int64_t i = 0; i < s->n; i++) mean += y[i] / (double)s->n;
    for (int64_t i = 0; i < s->n; i++) {
        double p = gp->loo_variance[i];
        if (s->q > 0) memcpy(row, s->h + i * s->q, (size_t)s->q * sizeof *row);
        gram_gp_small_solve(s, row);
        for (int64_t k = 0; k < s->q; k++) p -= row[k] * row[k];
        const int known = p > 1e-14 * gp->loo_variance[i]; /* one row and a constant: nothing is left to predict from */
        const double miss = known ? s->a[i] / p : NAN;
        gp->loo_variance[i] = known ? 1 / p : NAN;
        gp->loo_mean[i] = y[i] - miss;
        sum += miss * miss;
        density += -0.5 * (log(2 * 3.14159265358979323846 / p) + miss * miss * p);
        inside += miss * miss * p <= 1.959963984540054 * 1.959963984540054;
        variation += (y[i] - mean) * (y[i] - mean);
    }
    gp->report.loo_rmse = sqrt(sum / (double)s->n);
    gp->report.loo_r2 = variation > 0 ? 1 - sum / variation : NAN;
    gp->report.loo_log_density = density / (double)s->n;
    gp->report.loo_coverage = inside / (double)s->n;
done:
    gram_give(context, row);
    return status;
}

/* Fitted values and the residual of the system, from one product K [a, 1]. */
static gram_status report_residual(gram_context *context, const double *y, gram_gp *gp)
{
    gram_status status = GRAM_OK;
    const gram_gp_system *s = &gp->system;
    gram_gp_report *r = &gp->report;
    const int64_t n = s->n;
    double *v = NULL, *out = NULL, residual = 0, right = 0, sizes = 0, rows = 0, miss = 0, mean = 0, variation = 0;
    TRY(gram_take(context, "gp_fit: residual", 2 * n, sizeof(double), (void **)&v));
    TRY(gram_take(context, "gp_fit: residual", 2 * n, sizeof(double), (void **)&out));
    for (int64_t i = 0; i < n; i++) {
        v[2 * i] = s->a[i];
        v[2 * i + 1] = 1;
        mean += y[i] / (double)n;
    }
    TRY(gram_matrix_product(context, gp->kernel, gram_function_centres(gp->function), NULL, 2, v, 2, out, 2));
    for (int64_t i = 0; i < n; i++) {
        const double shift = s->shift[i] + s->jitter;
        double target = y[i];
        for (int64_t j = 0; j < s->q; j++) target -= s->t[i * s->q + j] * s->beta[j];
        const double left = out[2 * i] + shift * s->a[i], row = out[2 * i + 1] + shift;
        residual += (target - left) * (target - left);
        right += target * target;
        sizes += s->a[i] * s->a[i];
        rows += row * row;
        miss += (target - out[2 * i]) * (target - out[2 * i]);
        variation += (y[i] - mean) * (y[i] - mean);
    }
    r->residual = right > 0 ? sqrt(residual / right) : 0;
    const double size = sqrt(rows / (double)n) * sqrt(sizes) + sqrt(right);
    r->backward_error = size > 0 ? sqrt(residual) / size : 0;
    r->train_rmse = sqrt(miss / (double)n);
    r->train_r2 = variation > 0 ? 1 - miss / variation : NAN;
done:
    gram_give(context, v);
    gram_give(context, out);
    return status;
}

static gram_status make(gram_context *context, gram_kernel *kernel, gram_gp **gp)
{
    gram_status status = GRAM_OK;
    gram_gp *made = NULL;
    TRY(gram_take(context, "gp_fit", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    made->kernel = gram_kernel_retain(kernel);
    gram_gp_report *r = &made->report;
    r->size = sizeof *r;
    r->loo_rmse = r->loo_r2 = r->loo_log_density = r->loo_coverage = NAN;
    *gp = made;
done:
    return status;
}

gram_status gram_gp_fit(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                        const gram_gp_options *options, gram_gp **gp)
{
    gram_status status = GRAM_OK;
    gram_gp *made = NULL;
    if (!context || !gp) return GRAM_ERROR_ARGUMENT;
    *gp = NULL;
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "gp_fit: kernel is NULL");
    TRY(make(context, kernel, &made));
    gram_gp_system *s = &made->system;
    TRY(gram_gp_system_make(context, "gp_fit", kernel, x, y, options, s));
    TRY(gram_function_create(context, kernel, x, 1, s->a, 1, s->options.mean != GRAM_MEAN_ZERO ? s->beta : NULL,
                             &made->function));
    gram_gp_report *r = &made->report;
    r->n = s->n;
    r->d = s->d;
    r->noise = s->options.noise;
    r->jitter = s->jitter;
    r->log_marginal_likelihood = gram_gp_log_likelihood(s);
    TRY(gram_cholesky_condition(context, s->factor, &r->condition));
    TRY(report_residual(context, y, made));
    if (s->n <= MOST_FOR_LOO) TRY(leave_one_out(context, y, made));
    s->y = s->options.basis = s->options.row_noise = s->options.weights = NULL; /* the caller's */
    *gp = made;
    made = NULL;
done:
    gram_gp_destroy(made);
    return status;
}

void gram_gp_destroy(gram_gp *gp)
{
    if (!gp) return;
    gram_memory *memory = gp->memory;
    const gram_gp_system *s = &gp->system;
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

const gram_gp_report *gram_gp_get_report(const gram_gp *gp)
{
    return &gp->report;
}

gram_function *gram_gp_function(const gram_gp *gp)
{
    return gp->function;
}

const double *gram_gp_slopes(const gram_gp *gp)
{
    return gp->system.options.mean == GRAM_MEAN_LINEAR ? gp->system.beta + 1 : NULL;
}

const double *gram_gp_column_coefficients(const gram_gp *gp)
{
    const gram_gp_system *s = &gp->system;
    return s->options.columns > 0 ? s->beta + s->q - s->options.columns : NULL;
}

const double *gram_gp_loo_mean(const gram_gp *gp)
{
    return gp->loo_mean;
}

const double *gram_gp_loo_variance(const gram_gp *gp)
{
    return gp->loo_variance;
}

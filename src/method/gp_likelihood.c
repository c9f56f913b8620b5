/* The log marginal likelihood and its gradient.
 *
 * Every derivative is a contraction sum_ij W_ij dA_ij with W = (a a' - A^-1)/2, with a flat prior on the mean's parameters
 * (a a' - P)/2. W is made where the inverse is, and one pass over the pairs of points gives the derivative by all parameters
 * of the kernel at once: no array for each of them. */
#include <gram/gp.h>
#include <gram/matrix.h>

#include "../base/sweep.h"
#include "gp_system.h"

enum { ROWS_PER_TASK = 32 };

typedef struct weighting {
    const gram_gp_system *system;
    double *w;       /* n x n: the inverse becomes W */
    const double *g; /* n x q: H (L_small)^-T, so that P = A^-1 - g g'; NULL unless flat */
} weighting;

static gram_status weigh_task(void *argument, const gram_worker *worker)
{
    const weighting *job = argument;
    const gram_gp_system *s = job->system;
    const int64_t n = s->n, q = s->q, from = worker->task * ROWS_PER_TASK;
    for (int64_t i = from; i < n && i < from + ROWS_PER_TASK; i++) {
        double *row = job->w + i * n;
        for (int64_t j = 0; j < n; j++) row[j] = 0.5 * (s->a[i] * s->a[j] - row[j]);
        for (int64_t k = 0; k < q && job->g; k++)
            for (int64_t j = 0; j < n; j++) row[j] += 0.5 * job->g[i * q + k] * job->g[j * q + k];
    }
    return GRAM_OK;
}

/* Rows of H, each through the small factor. */
static gram_status spread_flat(gram_context *context, const gram_gp_system *s, double **g)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "gp_likelihood: mean", s->n * s->q, sizeof(double), (void **)g));
    for (int64_t i = 0; i < s->n; i++) {
        for (int64_t k = 0; k < s->q; k++) (*g)[i * s->q + k] = s->h[i * s->q + k];
        gram_gp_small_solve(s, *g + i * s->q);
    }
done:
    return status;
}

static gram_status differentiate(gram_context *context, gram_kernel *kernel, const gram_points *x, gram_gp_system *s,
                                 double *gradient)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->n, parameters = gram_kernel_parameter_count(kernel);
    double *w = NULL, *g = NULL;
    if (s->options.flat && s->q > 0) TRY(spread_flat(context, s, &g));
    TRY(gram_take(context, "gp_likelihood: inverse", n * n, sizeof(double), (void **)&w));
    TRY(gram_cholesky_invert(context, s->factor));
    TRY(gram_cholesky_inverse_matrix(context, s->factor, w, n));
    weighting job = {s, w, g};
    const gram_sweep sweep = {
        .what = "likelihood", .tasks = (n + ROWS_PER_TASK - 1) / ROWS_PER_TASK, .run = weigh_task, .argument = &job};
    TRY(gram_sweep_run(context, &sweep));
    const gram_weights weights = {.dense = w, .ld = n};
    TRY(gram_matrix_parameter_gradient(context, kernel, x, NULL, &weights, gradient));
    gradient[parameters] = 0;
    for (int64_t i = 0; i < n; i++) gradient[parameters] += gram_gp_noise_share(&s->options, i) * w[i * n + i];
done:
    gram_give(context, g, s->n * s->q, sizeof(double));
    gram_give(context, w, n * n, sizeof(double));
    return status;
}

gram_status gram_gp_likelihood(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                               const gram_gp_options *options, double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    gram_gp_system system = {0};
    if (!context || !value) return GRAM_ERROR_ARGUMENT;
    TRY(gram_gp_system_make(context, "gp_likelihood", kernel, x, y, options, &system));
    *value = gram_gp_log_likelihood(&system);
    if (gradient) TRY(differentiate(context, kernel, x, &system, gradient));
done:
    gram_gp_system_free(context, &system);
    return status;
}

/* The gradient of Laplace's evidence, one latent function.
 *
 *     log q = log p(y | f) - a'K a/2 - log|I + K W|/2,   f = K a the mode, a = d log p/df there
 *
 * depends on a parameter through K, and through the mode, which moves with it. The first two terms are stationary at
 * the mode; the third moves by s_i = d log q/df_i = S_ii (d3 log p/df_i^3)/2, S = K - K Z K the posterior covariance.
 * As df = (I + K W)^-1 dK a and (I + K W)^-1 = I - K Z,
 *
 *     d log q = sum_ij (a_i a_j/2 - Z_ij/2 + v_i a_j) dK_ij,   v = (I - Z K) s:
 *
 * one contraction for all parameters. By the logarithm of the likelihood's scale, with dg and dW the derivatives of d
 * log p/df and W: sum_i (d log p_i - S_ii dW_i/2) + v'K dg. */
#include <math.h>
#include <string.h>

#include "base/sweep.h"
#include "method/laplace/laplace_fit.h"

enum { ROWS_PER_TASK = 32 };

typedef struct weighing {
    const gram_laplace_state *s;
    const double *v;
    double *w;
} weighing;

static gram_status weigh_task(void *argument, const gram_worker *worker)
{
    const weighing *job = argument;
    const gram_laplace_state *s = job->s;
    const int64_t first = worker->task * ROWS_PER_TASK, left = s->n - first, m = s->outputs;
    for (int64_t i = first; i < first + (left < ROWS_PER_TASK ? left : ROWS_PER_TASK); i++)
        for (int64_t c = 0; c < m; c++) {
            const double factor = s->a[i * m + c] / 2 + job->v[i * m + c];
            for (int64_t j = 0; j < s->n; j++) job->w[i * s->n + j] += factor * s->a[j * m + c];
        }
    return GRAM_OK;
}

gram_status gram_laplace_contract(gram_context *context, const gram_laplace_state *s, const double *v, double *w,
                                  double *gradient)
{
    gram_status status = GRAM_OK;
    weighing job = {s, v, w};
    const gram_sweep sweep = {
        .what = "evidence", .tasks = (s->n + ROWS_PER_TASK - 1) / ROWS_PER_TASK, .run = weigh_task, .argument = &job};
    TRY(gram_sweep_run(context, &sweep));
    const gram_weights weights = {.dense = w, .ld = s->n};
    TRY(gram_matrix_parameter_gradient(context, s->problem.kernel, s->problem.x, NULL, &weights, gradient));
done:
    return status;
}

/* Some columns of K at a time. */
gram_status gram_laplace_variance(gram_context *context, const gram_laplace_state *s, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->n;
    double *columns = NULL;
    TRY(gram_take(context, "evidence", n * GRAM_LAPLACE_CHUNK, sizeof(double), (void **)&columns));
    for (int64_t first = 0; first < n; first += GRAM_LAPLACE_CHUNK) {
        const int64_t count = n - first < GRAM_LAPLACE_CHUNK ? n - first : GRAM_LAPLACE_CHUNK;
        for (int64_t i = 0; i < n; i++)
            memcpy(columns + i * count, s->k.k + i * n + first, (size_t)count * sizeof *columns);
        TRY(gram_curvature_quadratic(context, &s->h, count, columns, out + first));
        for (int64_t j = first; j < first + count; j++) out[j] = fmax(0, s->k.k[j * (n + 1)] - out[j]);
    }
done:
    gram_give(context, columns);
    return status;
}

/* The derivative by the scale itself. dg goes to `slope`, K dg to `product`. */
static gram_status by_scale(gram_context *context, const gram_laplace_state *s, const double *variance, const double *v,
                            double *slope, double *product, double *out)
{
    gram_status status = GRAM_OK;
    const gram_likelihood_type *type = gram_likelihood_find(s->rule.kind);
    *out = 0;
    if (!type->by_scale) return GRAM_OK;
    for (int64_t i = 0; i < s->n; i++) {
        double one[3];
        type->by_scale(&s->rule, s->y[i], s->f[i], one);
        slope[i] = one[1];
        *out += one[0] - variance[i] * one[2] / 2;
    }
    TRY(gram_loss_matrix_apply(context, &s->k, 1, slope, product));
    for (int64_t i = 0; i < s->n; i++) *out += v[i] * product[i];
    *out /= s->rule.scale;
done:
    return status;
}

/* w = -Z/2, both triangles; the factor of the curvature becomes its inverse. */
static gram_status fill_inverse(gram_context *context, gram_laplace_state *s, double *w)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->n, m = s->h.m;
    double *t = NULL;
    TRY(gram_take(context, "evidence", m, sizeof(double), (void **)&t));
    TRY(gram_cholesky_invert(context, s->h.factor));
    TRY(gram_cholesky_inverse_matrix(context, s->h.factor, w, n));
    for (int64_t i = 0; i < n && m > 0; i++) { /* row i of Q P = Q R'R */
        for (int64_t j = 0; j < m; j++) {
            t[j] = 0;
            for (int64_t l = 0; l <= j; l++) t[j] += s->h.half[j * m + l] * s->h.q[i * m + l];
        }
        for (int64_t l = 0; l < m; l++) {
            double sum = 0;
            for (int64_t j = l; j < m; j++) sum += s->h.half[j * m + l] * t[j];
            t[l] = sum; /* t[j] for j >= l + 1 is still to be read, t[l] no more */
        }
        for (int64_t j = 0; j < n; j++)
            for (int64_t l = 0; l < m; l++) w[i * n + j] -= t[l] * s->h.q[j * m + l];
    }
    for (int64_t i = 0; i < n * n; i++) w[i] /= -2;
done:
    gram_give(context, t);
    return status;
}

/* v = (I - Z K) s and the posterior variances. */
static gram_status find_shift(gram_context *context, const gram_laplace_state *s, double *variance, double *v)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->n;
    double *moves = NULL;
    TRY(gram_take(context, "laplace", n, sizeof(double), (void **)&moves));
    TRY(gram_laplace_variance(context, s, variance));
    const gram_likelihood_values out = {.third = moves};
    gram_likelihood_evaluate(&s->rule, n, s->y, NULL, s->f, &out);
    for (int64_t i = 0; i < n; i++) moves[i] *= variance[i] / 2;
    TRY(gram_loss_matrix_apply(context, &s->k, 1, moves, v));
    TRY(gram_curvature_apply(context, &s->h, 1, v));
    for (int64_t i = 0; i < n; i++) v[i] = moves[i] - v[i];
done:
    gram_give(context, moves);
    return status;
}

gram_status gram_laplace_differentiate(gram_context *context, gram_laplace_state *s, double *gradient)
{
    enum { ARRAYS = 4 };
    gram_status status = GRAM_OK;
    const int64_t n = s->n, parameters = gram_kernel_parameter_count(s->problem.kernel);
    double *numbers = NULL, *w = NULL;
    TRY(gram_take(context, "evidence", ARRAYS * n, sizeof(double), (void **)&numbers));
    double *variance = numbers, *v = numbers + n, *slope = numbers + 2 * n, *product = numbers + 3 * n;
    TRY(find_shift(context, s, variance, v));
    TRY(by_scale(context, s, variance, v, slope, product, &gradient[parameters]));
    gram_loss_matrix_free(context, &s->k); /* makes room for the weights */
    TRY(gram_take(context, "evidence: weights", n * n, sizeof(double), (void **)&w));
    TRY(fill_inverse(context, s, w));
    TRY(gram_laplace_contract(context, s, v, w, gradient));
done:
    gram_give(context, numbers);
    gram_give(context, w);
    return status;
}

gram_status gram_laplace_evidence(gram_context *context, gram_kernel *kernel, const gram_points *x, const double *y,
                                  const gram_laplace_options *options, double *value, double *gradient)
{
    gram_status status = GRAM_OK;
    gram_laplace_options known;
    gram_laplace_state s = {0};
    if (!context || !value) return GRAM_ERROR_ARGUMENT;
    const int threads = gram_loss_threads_fit(context, x ? gram_points_count(x) : 0);
    TRY(gram_laplace_options_read(context, "laplace_evidence", "options", options, &known));
    TRY(gram_laplace_state_make(context, "laplace_evidence", kernel, x, y, &known, &s));
    *value = s.log_evidence;
    const int converged = s.converged;
    if (gradient && s.outputs == 1) TRY(gram_laplace_differentiate(context, &s, gradient));
    if (gradient && s.outputs > 1) TRY(gram_laplace_differentiate_softmax(context, &s, gradient));
    if (!converged) status = GRAM_NOT_CONVERGED;
done:
    gram_laplace_state_free(context, &s);
    gram_loss_threads_restore(context, threads);
    return status;
}

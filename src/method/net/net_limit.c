/* What the networks tend to as they grow wider, at the time t = rate steps/(1 - momentum): the mean over starts, with H = scale^2 ntk,
 *
 *     squared loss    f_t = h H^-1 (I - exp(-2 t H/n)) y, by the eigenvectors of H
 *     softmax         f = h c, dc/dt = (y - p(f))/n, by small steps
 *
 * an ordinary function of the kernel's space, on at most LIMIT_ROWS rows. tanh has no such kernel in closed form; erf(b x), b = sqrt(pi)/2, has the
 * same slope at 0 and is within 0.035 of it everywhere, so that its kernel, ntk(erf, b sw, b sb)/b^2, is taken. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "method/net/net.h"
#include <gram/eigen.h>
#include <gram/matrix.h>
#include <gram/operator.h>
#include <gram/random.h>
#include <gram/text.h>

enum { LIMIT_ROWS = 800, SOFTMAX_ROWS = 300, SOFTMAX_STEPS = 4000, STREAM = 0x6e6c696d /* "nlim" */ };

/* ntk, or nngp, with the numbers of the networks. */
static gram_status find_kernel(gram_learning *learning, const char *name, gram_kernel **kernel)
{
    const net_state *state = learning->own;
    const gram_network_options *o = &state->made;
    const int is_tanh = o->activation == GRAM_ACTIVATION_TANH;
    const double b = is_tanh ? 0.88622692545275801365 : 1, amplitude = o->scale * o->scale / (b * b);
    char text[256], number[3][GRAM_NUMBER_SIZE];
    (void)snprintf(text, sizeof text, "%s*%s(depth=%d, act=%s, sw=%s, sb=%s, fan=%d)",
                   gram_number_format(amplitude, number[0]), name, (int)o->depth,
                   gram_activation_name(is_tanh ? GRAM_ACTIVATION_ERF : o->activation),
                   gram_number_format(b * o->sw, number[1]), gram_number_format(b * o->sb, number[2]), (int)o->inputs);
    return gram_kernel_parse(learning->context, text, kernel);
}

typedef struct limit_work {
    int64_t n, d, m;
    double *x, *y, *h, *c;  /* rows and targets; H; coefficients, n x m */
    double *vectors, *gain; /* of H, and what is made of their directions: H^-1 (I - exp(-2 t H/n)) */
    gram_points *points;
} limit_work;

static gram_status take_rows(gram_learning *learning, limit_work *w)
{
    gram_status status = GRAM_OK;
    const net_state *state = learning->own;
    const gram_prepared *data = learning->data;
    const int64_t most = state->loss == GRAM_NETWORK_SQUARED ? LIMIT_ROWS : SOFTMAX_ROWS;
    int64_t *order = NULL;
    w->d = data->d;
    w->m = state->outputs;
    w->n = data->n < most ? data->n : most;
    TRY(gram_learning_take(learning, data->n, sizeof *order, &order));
    TRY(gram_learning_take(learning, w->n * w->d, sizeof(double), &w->x));
    TRY(gram_learning_take(learning, w->n * w->m, sizeof(double), &w->y));
    TRY(gram_learning_take(learning, w->n * w->n, sizeof(double), &w->h));
    TRY(gram_learning_take(learning, w->n * w->m, sizeof(double), &w->c));
    if (w->n < data->n) gram_random_permutation((gram_random){learning->context->seed, STREAM}, 0, data->n, order);
    for (int64_t i = 0; i < w->n; i++) {
        const int64_t row = w->n < data->n ? order[i] : i;
        memcpy(w->x + i * w->d, data->x + row * w->d, (size_t)w->d * sizeof(double));
        memcpy(w->y + i * w->m, state->y + row * w->m, (size_t)w->m * sizeof(double));
    }
    TRY(gram_points_create_f64(learning->context, w->n, w->d, w->x, w->d, &w->points));
    TRY(gram_matrix(learning->context, learning->kernel, w->points, NULL, w->h, w->n));
done:
    return status;
}

/* c = Q ((1 - exp(-2 t l/n))/l) Q'y, 2 t/n where l is 0 */
static gram_status squared(gram_learning *learning, limit_work *w, double t)
{
    gram_status status = GRAM_OK;
    const int64_t n = w->n, m = w->m;
    const double rate = 2 * t / (double)n;
    double *values = NULL;
    TRY(gram_learning_take(learning, n, sizeof *values, &values));
    TRY(gram_learning_take(learning, n, sizeof *w->gain, &w->gain));
    TRY(gram_learning_take(learning, n * n, sizeof *w->vectors, &w->vectors));
    TRY(gram_eigen_symmetric(learning->context, n, w->h, n, 0, n, values, w->vectors, n));
    for (int64_t k = 0; k < n; k++) {
        const double *q = w->vectors + k * n, l = values[k] > 1e-13 * values[0] ? values[k] : 0;
        w->gain[k] = l > 0 ? -expm1(-rate * l) / l : rate;
        for (int64_t o = 0; o < m; o++) {
            double along = 0;
            for (int64_t i = 0; i < n; i++) along += q[i] * w->y[i * m + o];
            for (int64_t i = 0; i < n; i++) w->c[i * m + o] += w->gain[k] * along * q[i];
        }
    }
done:
    return status;
}

/* f becomes (y - p)/n */
static void residuals(int64_t n, int64_t m, const double *y, double *f)
{
    for (int64_t i = 0; i < n; i++) {
        double most = f[i * m], sum = 0;
        for (int64_t o = 1; o < m; o++) most = fmax(most, f[i * m + o]);
        for (int64_t o = 0; o < m; o++) sum += f[i * m + o] = exp(f[i * m + o] - most);
        for (int64_t o = 0; o < m; o++) f[i * m + o] = (y[i * m + o] - f[i * m + o] / sum) / (double)n;
    }
}

/* Steps are stable below 4 n/l, l at most the largest sum of a row. More time than SOFTMAX_STEPS of them cover is cut off. */
static gram_status softmax(gram_learning *learning, limit_work *w, double t)
{
    gram_status status = GRAM_OK;
    const int64_t n = w->n, m = w->m;
    double *f = NULL, largest = 0;
    gram_operator *h = NULL;
    TRY(gram_learning_take(learning, n * m, sizeof *f, &f));
    for (int64_t i = 0; i < n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < n; j++) sum += fabs(w->h[i * n + j]);
        largest = fmax(largest, sum);
    }
    const double stable = (double)n / largest, count = ceil(fmin(fmax(t / stable, 100), SOFTMAX_STEPS));
    const double step = fmin(t / count, stable);
    TRY(gram_operator_create_dense(learning->context, n, w->h, n, &h));
    for (int64_t k = 0; k < (int64_t)count; k++) {
        TRY(gram_operator_apply(learning->context, h, m, w->c, m, f, m));
        residuals(n, m, w->y, f);
        for (int64_t i = 0; i < n * m; i++) w->c[i] += step * f[i];
    }
done:
    gram_operator_release(h);
    return status;
}

/* ---- the deviation over starts ---- */

/* a = h Q gain Q' of one place */
static void weights_at(const limit_work *w, const double *h, double *a)
{
    memset(a, 0, (size_t)w->n * sizeof *a);
    for (int64_t k = 0; k < w->n; k++) {
        const double *q = w->vectors + k * w->n;
        double along = 0;
        for (int64_t i = 0; i < w->n; i++) along += h[i] * q[i];
        for (int64_t i = 0; i < w->n; i++) a[i] += w->gain[k] * along * q[i];
    }
}

/* f_0 + a (y - f_0(X)) with f_0 of covariance S = scale^2 nngp: its mean is a y, its variance S(x, x) - 2 a S(X, x) + a S a'. */
static gram_status fill_limit(gram_learning *learning, const limit_work *w)
{
    gram_status status = GRAM_OK;
    net_state *state = learning->own;
    const int64_t n = w->n;
    double *x = NULL, *h = NULL, *s = NULL, *own = NULL, *all = NULL, *a = NULL;
    gram_points *points = NULL;
    gram_kernel *nngp = NULL;
    TRY(gram_learning_take(learning, NET_GRID, sizeof *x, &x));
    TRY(gram_learning_take(learning, NET_GRID, sizeof *own, &own));
    TRY(gram_learning_take(learning, NET_GRID * n, sizeof *h, &h));
    TRY(gram_learning_take(learning, NET_GRID * n, sizeof *s, &s));
    TRY(gram_learning_take(learning, n * n, sizeof *all, &all));
    TRY(gram_learning_take(learning, n, sizeof *a, &a));
    for (int i = 0; i < NET_GRID; i++) x[i] = state->grid[(ptrdiff_t)i * NET_GRID_COLUMNS];
    TRY(gram_points_create_f64(learning->context, NET_GRID, 1, x, 1, &points));
    TRY(find_kernel(learning, "nngp", &nngp));
    TRY(gram_matrix(learning->context, learning->kernel, points, w->points, h, n));
    TRY(gram_matrix(learning->context, nngp, points, w->points, s, n));
    TRY(gram_matrix(learning->context, nngp, w->points, NULL, all, n));
    TRY(gram_matrix_diagonal(learning->context, nngp, points, own));
    for (int p = 0; p < NET_GRID; p++) {
        double *row = state->grid + (ptrdiff_t)p * NET_GRID_COLUMNS, variance = own[p];
        weights_at(w, h + p * n, a);
        row[4] = 0;
        for (int64_t i = 0; i < n; i++) {
            double product = 0;
            for (int64_t j = 0; j < n; j++) product += all[i * n + j] * a[j];
            variance += a[i] * (product - 2 * s[p * n + i]);
            row[4] += a[i] * w->y[i];
        }
        row[5] = state->made.centred ? 0 : sqrt(fmax(variance, 0));
    }
done:
    gram_kernel_release(nngp);
    gram_points_release(points);
    return status;
}

/* From standardised numbers to those of the data. */
static void grid_units(const gram_learning *learning)
{
    const net_state *state = learning->own;
    for (int i = 0; i < NET_GRID; i++) {
        double *row = state->grid + (ptrdiff_t)i * NET_GRID_COLUMNS;
        row[0] = gram_preparation_unit(learning->preparation, 0, row[0]);
        for (int c = 1; c < NET_GRID_COLUMNS; c++)
            row[c] = row[c] * state->deviation[0] + (c == 2 || c == 5 ? 0 : state->mean[0]);
    }
}

gram_status gram_net_find_limit(gram_learning *learning)
{
    gram_status status = GRAM_OK;
    const net_settings *own = learning->settings;
    net_state *state = learning->own;
    limit_work w = {0};
    const double t = state->rate * (double)own->steps / (1 - own->momentum);
    TRY(find_kernel(learning, "ntk", &learning->kernel));
    TRY(take_rows(learning, &w));
    TRY(state->loss == GRAM_NETWORK_SQUARED ? squared(learning, &w, t) : softmax(learning, &w, t));
    if (gram_net_has_grid(learning)) {
        TRY(gram_net_fill_grid(learning));
        TRY(fill_limit(learning, &w));
        grid_units(learning);
    }
    for (int64_t i = 0; i < w.n; i++)
        for (int64_t o = 0; o < w.m; o++) w.c[i * w.m + o] *= state->deviation[o];
    TRY(gram_function_create(learning->context, learning->kernel, w.points, w.m, w.c, w.m, state->mean, &state->limit));
    state->limit_rows = w.n;
done:
    gram_points_release(w.points);
    return status;
}

/* The gradient of Laplace's evidence for softmax: laplace_evidence.c with C functions.
 *
 * With G of likelihood_softmax.h in place of Z, S_i the C x C posterior covariance of row i and q = diag(S_i) - 2 S_i
 * p:
 *
 *     s_ic = -tr(S_i dW_i/df_ic)/2 = -p_c (q_c - p'q)/2,   v = s - G K s,
 *     d log q = sum_c (a_c a_c'/2 + v_c a_c' - G_cc/2) . dK,   G_cc = E_c - E_c M^-1 E_c. */
#include <math.h>
#include <string.h>

#include "method/laplace/laplace_fit.h"
#include "solve/cholesky/cholesky.h"

gram_status gram_laplace_covariance_softmax(gram_context *context, const gram_laplace_state *s, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->n, m = s->outputs, room = n < GRAM_LAPLACE_CHUNK ? n : GRAM_LAPLACE_CHUNK;
    double *work = NULL;
    TRY(gram_take(context, "covariance", (m + 2) * n * room + room, sizeof(double), (void **)&work));
    double *k = work + (m + 1) * n * room, *diagonal = k + n * room;
    for (int64_t first = 0; first < n; first += room) {
        const int64_t count = n - first < room ? n - first : room;
        for (int64_t i = 0; i < n; i++) memcpy(k + i * count, s->k.k + i * n + first, (size_t)count * sizeof *k);
        for (int64_t j = 0; j < count; j++) diagonal[j] = s->k.k[(first + j) * (n + 1)];
        TRY(gram_softmax_curvature_covariance(context, &s->g, count, k, diagonal, work, out + first * m * m));
    }
done:
    gram_give(context, work);
    return status;
}

/* s of a row from its covariance; q has C numbers. */
static void move_row(int64_t m, const double *covariance, const double *p, double *q, double *out)
{
    double mean = 0;
    for (int64_t c = 0; c < m; c++) {
        q[c] = covariance[c * (m + 1)];
        for (int64_t e = 0; e < m; e++) q[c] -= 2 * covariance[c * m + e] * p[e];
        mean += p[c] * q[c];
    }
    for (int64_t c = 0; c < m; c++) out[c] = -p[c] * (q[c] - mean) / 2;
}

static gram_status move_of_mode(gram_context *context, const gram_laplace_state *s, double *out)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->n, m = s->outputs;
    double *covariance = NULL;
    TRY(gram_take(context, "evidence", n * m * m + m, sizeof(double), (void **)&covariance));
    TRY(gram_laplace_covariance_softmax(context, s, covariance));
    for (int64_t i = 0; i < n; i++)
        move_row(m, covariance + i * m * m, s->p + i * m, covariance + n * m * m, out + i * m);
done:
    gram_give(context, covariance);
    return status;
}

/* w -= (E_c - E_c M^-1 E_c)/2, some columns at a time. */
static gram_status subtract_class(gram_context *context, const gram_laplace_state *s, int64_t c, double *x, double *y,
                                  double *w)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->n;
    for (int64_t first = 0; first < n; first += GRAM_LAPLACE_CHUNK) {
        const int64_t count = n - first < GRAM_LAPLACE_CHUNK ? n - first : GRAM_LAPLACE_CHUNK;
        for (int64_t j = 0; j < count; j++) gram_tiled_column(&s->g.inverse[c]->tiles, first + j, x + j, count);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < count; j++) w[i * n + first + j] -= x[i * count + j] / 2;
        TRY(gram_cholesky_solve(context, s->g.sum, count, x, count));
        TRY(gram_cholesky_inverse_apply(context, s->g.inverse[c], count, x, count, y, count));
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < count; j++) w[i * n + first + j] += y[i * count + j] / 2;
    }
done:
    return status;
}

static gram_status contract(gram_context *context, const gram_laplace_state *s, const double *v, double *gradient)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->n, numbers = 2 * n * GRAM_LAPLACE_CHUNK;
    double *w = NULL, *work = NULL;
    TRY(gram_take(context, "evidence: weights", n * n, sizeof(double), (void **)&w));
    TRY(gram_take(context, "evidence", numbers, sizeof(double), (void **)&work));
    memset(w, 0, (size_t)(n * n) * sizeof *w);
    for (int64_t c = 0; c < s->outputs; c++) TRY(subtract_class(context, s, c, work, work + numbers / 2, w));
    TRY(gram_laplace_contract(context, s, v, w, gradient));
done:
    gram_give(context, work);
    gram_give(context, w);
    return status;
}

/* v = (I - G K) s */
static gram_status find_shift(gram_context *context, const gram_laplace_state *s, double *v)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = s->n * s->outputs;
    double *moves = NULL;
    TRY(gram_take(context, "laplace", 2 * numbers, sizeof(double), (void **)&moves));
    TRY(move_of_mode(context, s, moves));
    TRY(gram_loss_matrix_apply(context, &s->k, s->outputs, moves, moves + numbers));
    TRY(gram_softmax_curvature_apply(context, &s->g, moves + numbers, v));
    for (int64_t i = 0; i < numbers; i++) v[i] = moves[i] - v[i];
done:
    gram_give(context, moves);
    return status;
}

gram_status gram_laplace_differentiate_softmax(gram_context *context, gram_laplace_state *s, double *gradient)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = s->n * s->outputs;
    double *v = NULL;
    TRY(gram_take(context, "evidence", numbers, sizeof(double), (void **)&v));
    TRY(find_shift(context, s, v));
    gram_loss_matrix_free(context, &s->k); /* makes room for the weights */
    TRY(contract(context, s, v, gradient));
    gradient[gram_kernel_parameter_count(s->problem.kernel)] = 0;
done:
    gram_give(context, v);
    return status;
}

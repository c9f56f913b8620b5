/* The mean of the posterior, one latent function: every row's tilted mean.
 *
 * Laplace's Gaussian at the mode has the curvature W and the covariance S = (K^-1 + W)^-1; its mean is too near 0 where
 * the posterior is skewed. Here S is kept and the mean m = K a moves. Row i without its own observation has the
 * Gaussian of precision P_i = 1/S_ii - W_i and mean m_i - a_i/P_i (the cavity); with the observation itself in place of
 * its quadratic it has the tilted mean, an integral over one number. The mean is right when it is every row's tilted
 * mean, or what is the same,
 *
 *     a_i = mean of d log p(y_i | f)/df under the tilted law of row i:
 *
 * for classes |a_i| < 1, whatever the prior. This is the condition of expectation propagation (Minka 2001) for the
 * means, with the covariance of Laplace; for a single row the mean is exact.
 *
 * A step pushes row i by d_i, its difference over its variance: the mean moves by S d, and a by (I - Z K) d. Nothing
 * is factored again: two products with K and one solve, O(n^2). A step that does not bring the means nearer is halved. */
#include <math.h>
#include <string.h>

#include "method/laplace/laplace_fit.h"

enum { ARRAYS = 5, MOST_STEPS = 100, MOST_HALVINGS = 12 };
static const double ENOUGH = 1e-6; /* of a row's deviation */

typedef struct matching {
    const gram_laplace_state *s;
    gram_laplace_rows *rows;
    double *numbers, *a, *mean; /* of the last step that was accepted */
    double *d, *v, *kv;         /* the direction: as pushes, and of a and of the mean */
    double sum, most;           /* of squared differences in deviations, and the largest */
} matching;

gram_status gram_laplace_rows_take(gram_context *context, int64_t n, gram_laplace_rows *rows)
{
    enum { COLUMNS = 7 };
    memset(rows, 0, sizeof *rows);
    const gram_status status = gram_take(context, "rows", COLUMNS * n, sizeof(double), (void **)&rows->numbers);
    if (status < 0) return status;
    rows->n = n;
    double **columns[COLUMNS] = {&rows->y,         &rows->a,      &rows->mean, &rows->variance,
                                 &rows->curvature, &rows->second, &rows->third};
    for (int i = 0; i < COLUMNS; i++) *columns[i] = rows->numbers + i * n;
    return GRAM_OK;
}

void gram_laplace_rows_free(gram_memory *memory, gram_laplace_rows *rows)
{
    gram_memory_give(memory, rows->numbers);
    memset(rows, 0, sizeof *rows);
}

/* The tilted law of row i. No observation makes it vaguer than the prior. */
static gram_tilted tilt(const matching *m, int64_t i)
{
    const gram_laplace_rows *r = m->rows;
    const double prior = m->s->k.k[i * (r->n + 1)];
    const double precision = fmax(1 / r->variance[i] - r->curvature[i], 1 / prior);
    return gram_likelihood_tilt(&m->s->rule, r->y[i], r->mean[i] - r->a[i] / precision, 1 / precision);
}

/* What is left between means and tilted means; the pushes that would close it go to `out`. */
static void look(matching *m, double *out)
{
    gram_laplace_rows *r = m->rows;
    m->sum = m->most = 0;
    for (int64_t i = 0; i < r->n; i++) {
        out[i] = r->second[i] = r->third[i] = 0;
        if (!(r->variance[i] > 0)) continue; /* f is known there */
        const gram_tilted t = tilt(m, i);
        const double left = t.mean - r->mean[i], deviation = sqrt(r->variance[i]);
        out[i] = left / fmax(r->variance[i], t.variance);
        m->sum += left * left / r->variance[i];
        m->most = fmax(m->most, fabs(left) / deviation);
        r->second[i] = (t.variance / r->variance[i] - 1) / 2;
        r->third[i] = t.third / (6 * r->variance[i] * deviation);
    }
}

static gram_status direct(gram_context *context, matching *m)
{
    gram_status status = GRAM_OK;
    const int64_t n = m->rows->n;
    TRY(gram_loss_matrix_apply(context, &m->s->k, 1, m->d, m->v));
    TRY(gram_curvature_apply(context, &m->s->h, 1, m->v));
    for (int64_t i = 0; i < n; i++) m->v[i] = m->d[i] - m->v[i];
    TRY(gram_loss_matrix_apply(context, &m->s->k, 1, m->v, m->kv));
done:
    return status;
}

static void go(matching *m, double t)
{
    for (int64_t i = 0; i < m->rows->n; i++) {
        m->rows->a[i] = m->a[i] + t * m->v[i];
        m->rows->mean[i] = m->mean[i] + t * m->kv[i];
    }
}

/* From the last place, halved until the sum falls; *t is where to begin and, for the next step, a little more than
 * what was good. 0 if nothing was. */
static int advance(matching *m, double *pushes, double *t)
{
    const double before = m->sum;
    for (int halvings = 0; halvings < MOST_HALVINGS; halvings++, *t /= 2) {
        go(m, *t);
        look(m, pushes);
        if (m->sum < before) {
            *t = fmin(1, 1.5 * *t);
            return 1;
        }
    }
    go(m, 0);
    look(m, pushes);
    return 0;
}

static void accept(matching *m)
{
    const size_t bytes = (size_t)m->rows->n * sizeof(double);
    memcpy(m->a, m->rows->a, bytes);
    memcpy(m->mean, m->rows->mean, bytes);
}

static void begin(matching *m)
{
    const gram_laplace_state *s = m->s;
    for (int64_t i = 0; i < s->n; i++) {
        m->rows->y[i] = s->y[i];
        m->rows->a[i] = s->a[i];
        m->rows->mean[i] = s->f[i];
        m->rows->curvature[i] = 1 / s->h.shift[i];
    }
}

gram_status gram_laplace_match(gram_context *context, const gram_laplace_state *s, gram_laplace_rows *rows,
                               double *left)
{
    gram_status status = GRAM_OK;
    matching m = {.s = s, .rows = rows};
    const int64_t n = s->n;
    const int threads = gram_loss_threads_fit(context, n);
    double step = 1;
    TRY(gram_take(context, "posterior mean", ARRAYS * n, sizeof(double), (void **)&m.numbers));
    m.a = m.numbers, m.mean = m.a + n, m.d = m.mean + n, m.v = m.d + n, m.kv = m.v + n;
    begin(&m);
    TRY(gram_laplace_variance(context, s, rows->variance));
    look(&m, m.d);
    for (int i = 0; i < MOST_STEPS && m.most > ENOUGH; i++) {
        accept(&m);
        TRY(direct(context, &m));
        if (!advance(&m, m.d, &step)) break;
    }
    *left = m.most;
done:
    gram_loss_threads_restore(context, threads);
    gram_give(context, m.numbers);
    return status;
}

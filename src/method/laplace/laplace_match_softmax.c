/* The mean of the posterior for several classes: laplace_match.c with vectors for numbers.
 *
 * Row i without its own observation has the Gaussian with covariance C_i = (S_i^-1 - W_i)^-1 and mean m_i - C_i a_i,
 * W_i = diag(p) - pp'. With e_i the mean under its tilted law of d log p/df, the indicator of the class less the
 * probabilities, the conditions are a_i = e_i, and the push is S_i^-1 C_i (e_i - a_i) = (I + W_i C_i)(e_i - a_i).
 *
 * The tilted mean is over C numbers: Halton's sequence as for predictions, here with moments made exact, so that an
 * observation that says nothing moves nothing. */
#include <math.h>
#include <string.h>

#include "base/sweep.h"
#include "method/laplace/laplace_fit.h"

enum { DRAWS = 512, ROWS_PER_TASK = 4, MOST_STEPS = 60, MOST_HALVINGS = 10 };
static const double ENOUGH = 1e-4; /* of a row's deviation; the sequence is no nearer */

typedef struct matching {
    const gram_laplace_state *s;
    double *normal;          /* C x DRAWS */
    double *cavity, *factor; /* n x C x C: C_i and its Cholesky factor */
    double *at, *mean;       /* n x C: a and m where the tilted laws are looked at */
    double *push, *left;     /* n x C, n */
} matching;

/* ---- the cavities ---- */

/* b = a^-1 b, both m x m, row-major; a is overwritten. */
static void solve_small(int64_t m, double *a, double *b)
{
    for (int64_t k = 0; k < m; k++) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < m; i++)
            if (fabs(a[i * m + k]) > fabs(a[pivot * m + k])) pivot = i;
        for (int64_t j = 0; j < m && pivot != k; j++) {
            const double x = a[k * m + j], z = b[k * m + j];
            a[k * m + j] = a[pivot * m + j], a[pivot * m + j] = x;
            b[k * m + j] = b[pivot * m + j], b[pivot * m + j] = z;
        }
        if (a[k * m + k] == 0) continue;
        for (int64_t i = 0; i < m; i++) {
            const double factor = i == k ? 0 : a[i * m + k] / a[k * m + k];
            if (factor == 0) continue;
            for (int64_t j = k; j < m; j++) a[i * m + j] -= factor * a[k * m + j];
            for (int64_t j = 0; j < m; j++) b[i * m + j] -= factor * b[k * m + j];
        }
    }
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < m; j++) b[i * m + j] /= a[i * m + i] != 0 ? a[i * m + i] : 1;
}

/* C = (I - S W)^-1 S, symmetric up to rounding, from S in its place. */
static void make_cavity(int64_t m, const double *p, double *work, double *s)
{
    for (int64_t a = 0; a < m; a++) {
        double mean = 0;
        for (int64_t c = 0; c < m; c++) mean += s[a * m + c] * p[c];
        for (int64_t c = 0; c < m; c++) work[a * m + c] = (a == c) - (s[a * m + c] - mean) * p[c];
    }
    solve_small(m, work, s);
    for (int64_t a = 0; a < m; a++)
        for (int64_t c = 0; c < a; c++) s[a * m + c] = s[c * m + a] = (s[a * m + c] + s[c * m + a]) / 2;
}

/* ---- the tilted law of a row ---- */

/* The mean of p under the tilted law: two draws for each point of the sequence. work: 4 C numbers. */
static void mean_probability(int64_t m, const double *normal, const double *centre, const double *l, int64_t y,
                             double *work, double *out)
{
    double *moved = work, *p = work + m, total = 0;
    memset(out, 0, (size_t)m * sizeof *out);
    for (int64_t i = 0; i < DRAWS; i++) {
        for (int64_t c = 0; c < m; c++) {
            moved[c] = 0;
            for (int64_t k = 0; k <= c; k++) moved[c] += l[c * m + k] * normal[k * DRAWS + i];
        }
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int64_t c = 0; c < m; c++) p[c] = centre[c] + sign * moved[c];
            (void)gram_softmax_row(m, p, p);
            total += p[y];
            for (int64_t c = 0; c < m; c++) out[c] += p[y] * p[c];
        }
    }
    for (int64_t c = 0; c < m; c++) out[c] = total > 0 ? out[c] / total : c == y;
}

/* The push of row i and what is left, squared, in deviations: r'S^-1 r with r = C (e - a). */
static void look_row(const matching *w, int64_t i, double *work)
{
    const int64_t m = w->s->outputs, y = (int64_t)w->s->y[i];
    const double *c = w->cavity + i * m * m, *a = w->at + i * m, *p = w->s->p + i * m;
    double *centre = work, *e = work + m, *r = work + 2 * m, *push = w->push + i * m, mean = 0;
    for (int64_t j = 0; j < m; j++) {
        centre[j] = w->mean[i * m + j];
        for (int64_t k = 0; k < m; k++) centre[j] -= c[j * m + k] * a[k];
    }
    mean_probability(m, w->normal, centre, w->factor + i * m * m, y, work + 3 * m, e);
    for (int64_t j = 0; j < m; j++) e[j] = (j == y) - e[j] - a[j];
    for (int64_t j = 0; j < m; j++) {
        r[j] = 0;
        for (int64_t k = 0; k < m; k++) r[j] += c[j * m + k] * e[k];
        mean += p[j] * r[j];
    }
    w->left[i] = 0;
    for (int64_t j = 0; j < m; j++) {
        push[j] = e[j] + p[j] * (r[j] - mean);
        w->left[i] += push[j] * r[j];
    }
}

static gram_status look_task(void *argument, const gram_worker *worker)
{
    const matching *w = argument;
    const int64_t first = worker->task * ROWS_PER_TASK, end = first + ROWS_PER_TASK;
    for (int64_t i = first; i < (end < w->s->n ? end : w->s->n); i++) look_row(w, i, worker->scratch);
    return GRAM_OK;
}

static gram_status look(gram_context *context, matching *w, double *sum, double *most)
{
    const gram_sweep sweep = {.what = "posterior mean",
                              .tasks = (w->s->n + ROWS_PER_TASK - 1) / ROWS_PER_TASK,
                              .scratch_bytes = (size_t)(7 * w->s->outputs) * sizeof(double),
                              .run = look_task,
                              .argument = w};
    const gram_status status = gram_sweep_run(context, &sweep);
    *sum = *most = 0;
    for (int64_t i = 0; i < w->s->n && status >= 0; i++) {
        *sum += fmax(0, w->left[i]);
        *most = fmax(*most, sqrt(fmax(0, w->left[i])));
    }
    return status;
}

/* ---- the steps ---- */

/* The sequence with both signs has mean 0; made to have the covariance I. */
static void whiten(int64_t m, double *work, double *normal)
{
    double *moments = work, *l = work + m * m;
    memset(moments, 0, (size_t)(m * m) * sizeof *moments);
    for (int64_t i = 0; i < DRAWS; i++)
        for (int64_t a = 0; a < m; a++)
            for (int64_t c = 0; c < m; c++) moments[a * m + c] += normal[a * DRAWS + i] * normal[c * DRAWS + i] / DRAWS;
    gram_normal_factor(m, moments, l);
    for (int64_t i = 0; i < DRAWS; i++)
        for (int64_t a = 0; a < m; a++) {
            for (int64_t c = 0; c < a; c++) normal[a * DRAWS + i] -= l[a * m + c] * normal[c * DRAWS + i];
            if (l[a * m + a] > 0) normal[a * DRAWS + i] /= l[a * m + a];
        }
}

static gram_status begin(gram_context *context, matching *w)
{
    gram_status status = GRAM_OK;
    const gram_laplace_state *s = w->s;
    const int64_t n = s->n, m = s->outputs;
    double *work = NULL;
    TRY(gram_take(context, "posterior mean", 2 * m * m, sizeof(double), (void **)&work));
    gram_normal_sequence(DRAWS, m, w->normal);
    whiten(m, work, w->normal);
    TRY(gram_laplace_covariance_softmax(context, s, w->cavity));
    for (int64_t i = 0; i < n; i++) {
        make_cavity(m, s->p + i * m, work, w->cavity + i * m * m);
        gram_normal_factor(m, w->cavity + i * m * m, w->factor + i * m * m);
    }
    memcpy(w->at, s->a, (size_t)(n * m) * sizeof(double));
    memcpy(w->mean, s->f, (size_t)(n * m) * sizeof(double));
done:
    gram_give(context, work);
    return status;
}

/* A step: v = (I - G K) push and K v, to `v` and `kv`. */
static gram_status direct(gram_context *context, const matching *w, double *v, double *kv)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = w->s->n * w->s->outputs;
    TRY(gram_loss_matrix_apply(context, &w->s->k, w->s->outputs, w->push, kv));
    TRY(gram_softmax_curvature_apply(context, &w->s->g, kv, v));
    for (int64_t i = 0; i < numbers; i++) v[i] = w->push[i] - v[i];
    TRY(gram_loss_matrix_apply(context, &w->s->k, w->s->outputs, v, kv));
done:
    return status;
}

/* Goes from (a, f) along (v, kv), at most *t, as far as the sum falls; leaves the place it found in `at` and `mean`. */
static gram_status advance(gram_context *context, matching *w, const double *a, const double *f, const double *v,
                           const double *kv, double *t, double *sum, double *most, int *moved)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = w->s->n * w->s->outputs;
    const double before = *sum;
    *moved = 0;
    for (int halvings = 0; halvings <= MOST_HALVINGS && !*moved; halvings++) {
        const double length = halvings < MOST_HALVINGS ? *t : 0; /* back to where it was */
        for (int64_t i = 0; i < numbers; i++) {
            w->at[i] = a[i] + length * v[i];
            w->mean[i] = f[i] + length * kv[i];
        }
        TRY(look(context, w, sum, most));
        *moved = *sum < before;
        *t = *moved ? fmin(1, 1.5 * *t) : *t / 2;
    }
done:
    return status;
}

static gram_status run(gram_context *context, matching *w, double *work, double *left)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = w->s->n * w->s->outputs;
    double *a = work, *f = a + numbers, *v = f + numbers, *kv = v + numbers, t = 1, sum;
    TRY(begin(context, w));
    TRY(look(context, w, &sum, left));
    for (int i = 0, moved = 1; i<MOST_STEPS && * left> ENOUGH && moved; i++) {
        memcpy(a, w->at, (size_t)numbers * sizeof *a);
        memcpy(f, w->mean, (size_t)numbers * sizeof *f);
        TRY(direct(context, w, v, kv));
        TRY(advance(context, w, a, f, v, kv, &t, &sum, left, &moved));
    }
done:
    return status;
}

gram_status gram_laplace_match_softmax(gram_context *context, const gram_laplace_state *s, double *out, double *left)
{
    gram_status status = GRAM_OK;
    const int64_t n = s->n, m = s->outputs, numbers = n * m;
    matching w = {.s = s, .at = out};
    double *work = NULL;
    TRY(gram_take(context, "posterior mean", 2 * numbers * m + 6 * numbers + n + DRAWS * m, sizeof(double),
                  (void **)&work));
    w.cavity = work, w.factor = w.cavity + numbers * m, w.mean = w.factor + numbers * m, w.push = w.mean + numbers;
    w.left = w.push + numbers, w.normal = w.left + n;
    TRY(run(context, &w, w.normal + DRAWS * m, left));
done:
    gram_give(context, work);
    return status;
}

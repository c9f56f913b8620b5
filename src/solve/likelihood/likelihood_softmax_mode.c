/* Softmax by Newton steps: likelihood_mode.c for several classes.
 *
 * With G in place of Z, and H_cj = G (1 in class j) in class c, the step is da = (r - G K r)/c - sum_j H_j db_j. The
 * constants follow from 1'(a + da)_c = 0: S db = t, S_cj = 1'H_cj, which is singular for a shift of all constants
 * alike; that shift is kept at 0. From h_j = E_j 1 and m_j = M^-1 h_j:  H_cj = [c = j] h_j - E_c m_j,  S_cj = [c = j]
 * 1'h_j - h_c'm_j. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/lapack.h"
#include "base/sweep.h"
#include "solve/likelihood/likelihood_softmax.h"

enum { MOST_HALVINGS = 40, STALLED = 3, ARRAYS = 8 };
static const double SUFFICIENT = 1e-4, ROUNDING = 64 * DBL_EPSILON, NEARLY = 1e-6;
static const double SERVES = 0.3; /* a curvature is kept while its steps bring the optimality down so far */

typedef struct search {
    gram_softmax_mode *mode;
    double *numbers, *small;
    double *r, *kr, *da, *kda; /* n x C: g - c a, K r, the step, K da */
    double *trial;
    double *d;                /* n x C: w p/c */
    double *h, *m;            /* n x C: E_j 1 and M^-1 of it */
    double *db, *s;           /* C and C x C */
    gram_softmax_curvature g; /* of this or of an earlier step */
    int known;                /* is there one? */
} search;

static gram_status open(gram_context *context, gram_softmax_mode *mode, search *s)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = mode->k->n * mode->classes;
    memset(s, 0, sizeof *s);
    s->mode = mode;
    TRY(gram_take(context, "newton steps", ARRAYS * numbers, sizeof(double), (void **)&s->numbers));
    TRY(gram_take(context, "newton steps", mode->classes * (mode->classes + 1), sizeof(double), (void **)&s->small));
    double **arrays[ARRAYS] = {&s->r, &s->kr, &s->da, &s->kda, &s->trial, &s->d, &s->h, &s->m};
    for (int64_t i = 0; i < ARRAYS; i++) *arrays[i] = s->numbers + i * numbers;
    s->db = s->small;
    s->s = s->small + mode->classes;
done:
    return status;
}

static void close(gram_context *context, search *s)
{
    if (!s->mode) return;
    gram_softmax_curvature_free(context->memory, &s->g);
    gram_give(context, s->numbers);
    gram_give(context, s->small);
}

static double weight(const gram_softmax_mode *m, int64_t i)
{
    return m->weights ? m->weights[i] : 1;
}

/* 1 - p_y without the cancellation: a sure row's loss and gradient keep all their digits. */
static double doubt(const gram_softmax_mode *m, int64_t i, const double *p)
{
    double sum = 0;
    for (int64_t c = 0; c < m->classes; c++)
        if (c != (int64_t)m->y[i]) sum += p[i * m->classes + c];
    return sum;
}

/* -sum w log p_y; p of all rows to `p` (which may be f). */
static double fit_of(const search *s, const double *f, double *p)
{
    const gram_softmax_mode *m = s->mode;
    double sum = 0;
    for (int64_t i = 0; i < m->k->n; i++) {
        const int64_t y = i * m->classes + (int64_t)m->y[i];
        const double at = f[y], whole = gram_softmax_row(m->classes, f + i * m->classes, p + i * m->classes);
        const double loss = p[y] > 0.5 ? log1p(doubt(m, i, p) / p[y]) : whole - at;
        sum += weight(m, i) * loss;
    }
    return sum;
}

static double dot(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* f, probabilities, objective, r and how far from optimal that is; all at (a, b) from scratch. */
static gram_status renew(gram_context *context, search *s, double *quadratic)
{
    gram_status status = GRAM_OK;
    gram_softmax_mode *m = s->mode;
    const int64_t n = m->k->n, classes = m->classes;
    double most = 0, left = 0, squares = 0;
    TRY(gram_loss_matrix_apply(context, m->k, classes, m->a, m->f));
    *quadratic = dot(n * classes, m->a, m->f);
    for (int64_t i = 0; i < n * classes; i++) m->f[i] += m->b[i % classes];
    m->fit = fit_of(s, m->f, m->p);
    m->objective = m->fit + m->c / 2 * *quadratic;
    for (int64_t c = 0; c < classes; c++) {
        double sum = 0;
        for (int64_t i = 0; i < n; i++) {
            const int64_t at = i * classes + c;
            const double g = weight(m, i) * ((int64_t)m->y[i] == c ? doubt(m, i, m->p) : -m->p[at]);
            s->r[at] = g - m->c * m->a[at];
            s->d[at] = weight(m, i) * m->p[at] / m->c;
            most = fmax(most, fabs(g));
            left = fmax(left, fabs(s->r[at]));
            sum += g;
        }
        if (m->intercept) left = fmax(left, fabs(sum));
        if (m->intercept) squares += sum * sum;
    }
    TRY(gram_loss_matrix_apply(context, m->k, classes, s->r, s->kr));
    m->optimality = most > 0 ? left / most : 0;
    m->gradient = sqrt(fmax(0, dot(n * classes, s->r, s->kr)) + squares);
done:
    return status;
}

/* S db = t, the shift of all constants held at 0; db = 0 if S is nothing but that. */
static void solve_constants(search *s)
{
    const int classes = (int)s->mode->classes, one = 1;
    int info = 0;
    double trace = 0;
    for (int64_t c = 0; c < classes; c++) trace += s->s[c * (classes + 1)];
    for (int64_t c = 0; c < classes * classes; c++) s->s[c] += trace / classes / classes;
    const int blas = gram_blas_enter();
    dposv_("U", &classes, &one, s->s, &classes, s->db, &classes, &info, 1);
    gram_blas_leave(blas);
    double mean = 0;
    for (int64_t c = 0; c < classes; c++) mean += s->db[c] / classes;
    for (int64_t c = 0; c < classes; c++) s->db[c] = info ? 0 : s->db[c] - mean;
}

/* db, and what it takes from da = u. */
static gram_status add_constants(gram_context *context, search *s, const gram_softmax_curvature *g)
{
    gram_status status = GRAM_OK;
    const gram_softmax_mode *m = s->mode;
    const int64_t n = m->k->n, classes = m->classes;
    double *ones = s->trial, *mixed = s->trial, *part = s->trial + n; /* free at this time */
    for (int64_t i = 0; i < n; i++) ones[i] = 1;
    for (int64_t c = 0; c < classes; c++)
        TRY(gram_cholesky_inverse_apply(context, g->inverse[c], 1, ones, 1, s->h + c, classes));
    memcpy(s->m, s->h, (size_t)(n * classes) * sizeof *s->m);
    TRY(gram_cholesky_solve(context, g->sum, classes, s->m, classes));
    memset(s->small, 0, (size_t)(classes * (classes + 1)) * sizeof *s->small);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < classes; c++) {
            s->db[c] += s->da[i * classes + c] + m->a[i * classes + c];
            s->s[c * (classes + 1)] += s->h[i * classes + c];
            for (int64_t j = 0; j < classes; j++)
                s->s[c * classes + j] -= s->h[i * classes + c] * s->m[i * classes + j];
        }
    solve_constants(s);
    for (int64_t i = 0; i < n; i++) mixed[i] = dot(classes, s->m + i * classes, s->db);
    for (int64_t c = 0; c < classes; c++) {
        TRY(gram_cholesky_inverse_apply(context, g->inverse[c], 1, mixed, 1, part, 1));
        for (int64_t i = 0; i < n; i++) s->da[i * classes + c] += part[i] - s->h[i * classes + c] * s->db[c];
    }
done:
    return status;
}

static gram_status renew_curvature(gram_context *context, search *s)
{
    gram_softmax_mode *m = s->mode;
    gram_softmax_curvature_free(context->memory, &s->g);
    const gram_status status = gram_softmax_curvature_make(context, m->k, m->classes, s->d, &s->g);
    m->jitter = fmax(m->jitter, s->g.jitter);
    s->known = status >= 0;
    return status;
}

static gram_status direct(gram_context *context, search *s)
{
    gram_status status = GRAM_OK;
    gram_softmax_mode *m = s->mode;
    const int64_t numbers = m->k->n * m->classes;
    TRY(gram_softmax_curvature_apply(context, &s->g, s->kr, s->da));
    for (int64_t i = 0; i < numbers; i++) s->da[i] = (s->r[i] - s->da[i]) / m->c;
    memset(s->small, 0, (size_t)(m->classes * (m->classes + 1)) * sizeof *s->small);
    if (m->intercept) TRY(add_constants(context, s, &s->g));
    TRY(gram_loss_matrix_apply(context, m->k, m->classes, s->da, s->kda));
done:
    return status;
}

/* The slope of the objective along the step. */
static double slope_of(const search *s)
{
    const gram_softmax_mode *m = s->mode;
    const int64_t n = m->k->n, classes = m->classes;
    double slope = -dot(n * classes, s->r, s->kda);
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < classes; c++)
            slope -= (s->r[i * classes + c] + m->c * m->a[i * classes + c]) * s->db[c];
    return slope;
}

static int advance(search *s, double quadratic)
{
    gram_softmax_mode *m = s->mode;
    const int64_t numbers = m->k->n * m->classes;
    const double cross = dot(numbers, m->a, s->kda), bend = dot(numbers, s->da, s->kda), slope = slope_of(s);
    double t = 1;
    for (int halvings = 0; halvings < MOST_HALVINGS; halvings++, t /= 2) {
        const double penalty = m->c / 2 * (quadratic + t * (2 * cross + t * bend));
        for (int64_t i = 0; i < numbers; i++) s->trial[i] = m->f[i] + t * (s->kda[i] + s->db[i % m->classes]);
        const double fit = fit_of(s, s->trial, s->trial), rounding = ROUNDING * (fit + fabs(penalty));
        if (!(fit + penalty <= m->objective + SUFFICIENT * t * fmin(slope, 0) + rounding)) continue;
        for (int64_t i = 0; i < numbers; i++) m->a[i] += t * s->da[i];
        for (int64_t c = 0; c < m->classes; c++) m->b[c] += t * s->db[c];
        return 1;
    }
    return 0;
}

/* One step, by the curvature of an earlier one if that still serves: it takes n^2 operations instead of n^3. */
static gram_status take_step(gram_context *context, search *s, int fresh, double quadratic, int *moved)
{
    gram_status status = GRAM_OK;
    if (fresh || !s->known) {
        TRY(renew_curvature(context, s));
        fresh = 1;
    }
    TRY(direct(context, s));
    *moved = advance(s, quadratic);
    if (*moved || fresh) goto done;
    TRY(renew_curvature(context, s));
    TRY(direct(context, s));
    *moved = advance(s, quadratic);
done:
    return status;
}

gram_status gram_softmax_mode_find(gram_context *context, gram_softmax_mode *mode)
{
    gram_status status = GRAM_OK;
    search s = {0};
    double quadratic, best = INFINITY, before = 0;
    int stalled = 0, moved = 1;
    const int threads = gram_loss_threads_fit(context, mode->k->n);
    TRY(open(context, mode, &s));
    mode->jitter = 0;
    TRY(renew(context, &s, &quadratic));
    for (mode->iterations = 0; mode->iterations < mode->most; mode->iterations++) {
        stalled = mode->optimality < best / 2 || best > NEARLY ? 0 : stalled + 1;
        best = fmin(best, mode->optimality);
        if (mode->optimality <= mode->tolerance || stalled > STALLED || !moved) break;
        const int fresh = !(mode->optimality < SERVES * before);
        before = mode->optimality;
        TRY(take_step(context, &s, fresh, quadratic, &moved));
        if (moved) TRY(renew(context, &s, &quadratic));
    }
    mode->converged = mode->optimality <= mode->tolerance;
done:
    gram_loss_threads_restore(context, threads);
    close(context, &s);
    return status;
}

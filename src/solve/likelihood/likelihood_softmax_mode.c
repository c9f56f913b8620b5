/* Softmax by Newton steps: likelihood_mode.c for several classes.
 *
 * A step comes from conjugate gradients (likelihood_softmax_step.c), solved no better than the distance from the optimum deserves. Where
 * their iterations would cost as much as the factors of a curvature, steps are solved by such factors from then on.
 *
 * With G in place of Z, and H_cj = G (T in class j) in class c, the step is da = (r - G K r)/c - sum_j H_j db_j. The
 * coefficients of T follow from T'(a + da)_c = 0: S db = t, S_cj = T'H_cj, which is singular for a shift of all classes
 * alike; that shift is kept at 0. From h_j = E_j T and m_j = M^-1 h_j:  H_cj = [c = j] h_j - E_c m_j,  S_cj = [c = j]
 * T'h_j - h_c'm_j. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/system/time_limit.h"
#include "solve/likelihood/likelihood_softmax.h"
#include "solve/small_system.h"

enum { MOST_HALVINGS = 40, STALLED = 3, ARRAYS = 6 };
static const double SUFFICIENT = 1e-4, ROUNDING = 64 * DBL_EPSILON, NEARLY = 1e-6;
static const double MOST_INEXACT = 0.5,
                    LEAST_INEXACT = 1e-3; /* part of the equations that an iterated step may leave */
static const double FALLING = 0.9;        /* of the optimality before: iterated steps still serve */
static const double SERVES = 0.3;         /* a curvature is kept while its steps bring the optimality down so far */

typedef struct search {
    gram_softmax_mode *mode;
    double *numbers, *small;
    double *r, *kr, *da, *kda; /* n x C: g - c a, K r, the step, K da */
    double *trial;
    double *d;                /* n x C: w p/c */
    double *h, *m;            /* n x q C: E_j T and M^-1 of it, column l of T for all classes first */
    double *db, *s;           /* q C and (q C) x (q C) */
    gram_softmax_curvature g; /* of this or of an earlier step */
    int known;                /* is there one? */
    int factored;             /* iterations were too many: steps are those of factors */
} search;

static gram_status open(gram_context *context, gram_softmax_mode *mode, search *s)
{
    gram_status status = GRAM_OK;
    const int64_t numbers = mode->k->n * mode->classes, free = mode->q * mode->classes;
    memset(s, 0, sizeof *s);
    s->mode = mode;
    TRY(gram_take(context, "newton steps", (ARRAYS + 2 * mode->q) * numbers, sizeof(double), (void **)&s->numbers));
    TRY(gram_take(context, "newton steps", free * (free + 1), sizeof(double), (void **)&s->small));
    double **arrays[ARRAYS] = {&s->r, &s->kr, &s->da, &s->kda, &s->trial, &s->d};
    for (int64_t i = 0; i < ARRAYS; i++) *arrays[i] = s->numbers + i * numbers;
    s->h = s->numbers + ARRAYS * numbers;
    s->m = s->h + mode->q * numbers;
    s->db = s->small;
    s->s = s->small + free;
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

/* Row i of T v for class c; v is q x C. */
static double unpenalised(const gram_softmax_mode *m, int64_t i, int64_t c, const double *v)
{
    double sum = 0;
    for (int64_t l = 0; l < m->q; l++) sum += m->unpenalised[i * m->q + l] * v[l * m->classes + c];
    return sum;
}

/* T'g of class c counts against the optimality, and its square to the gradient; g = r + c a. */
static void look_at_unpenalised(const search *s, int64_t c, double *left, double *squares)
{
    const gram_softmax_mode *m = s->mode;
    for (int64_t l = 0; l < m->q; l++) {
        double sum = 0, most = 1;
        for (int64_t i = 0; i < m->k->n; i++) {
            const int64_t at = i * m->classes + c;
            const double t = m->unpenalised[i * m->q + l];
            sum += t * (s->r[at] + m->c * m->a[at]);
            most = fmax(most, fabs(t));
        }
        *left = fmax(*left, fabs(sum) / most);
        *squares += sum * sum;
    }
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
    for (int64_t i = 0; i < n * classes; i++) m->f[i] += unpenalised(m, i / classes, i % classes, m->b);
    m->fit = fit_of(s, m->f, m->p);
    m->objective = m->fit + m->c / 2 * *quadratic;
    for (int64_t c = 0; c < classes; c++) {
        for (int64_t i = 0; i < n; i++) {
            const int64_t at = i * classes + c;
            const double g = weight(m, i) * ((int64_t)m->y[i] == c ? doubt(m, i, m->p) : -m->p[at]);
            s->r[at] = g - m->c * m->a[at];
            s->d[at] = weight(m, i) * m->p[at] / m->c;
            most = fmax(most, fabs(g));
            left = fmax(left, fabs(s->r[at]));
        }
        look_at_unpenalised(s, c, &left, &squares);
    }
    TRY(gram_loss_matrix_apply(context, m->k, classes, s->r, s->kr));
    m->optimality = most > 0 ? left / most : 0;
    m->gradient = sqrt(fmax(0, dot(n * classes, s->r, s->kr)) + squares);
done:
    return status;
}

/* S db = t, the shift of all classes held at 0; db = 0 if S is nothing but that. */
static void solve_unpenalised(search *s)
{
    const int64_t classes = s->mode->classes, q = s->mode->q, size = q * classes;
    for (int64_t l = 0; l < q; l++) {
        double trace = 0;
        for (int64_t c = 0; c < classes; c++) trace += s->s[(l * classes + c) * (size + 1)];
        for (int64_t c = 0; c < classes * classes; c++)
            s->s[(l * classes + c / classes) * size + l * classes + c % classes] += trace / (double)(classes * classes);
    }
    (void)gram_small_factor(size, s->s);
    gram_small_solve(size, s->s, s->db, 1);
    for (int64_t l = 0; l < q; l++) {
        double mean = 0;
        for (int64_t c = 0; c < classes; c++) mean += s->db[l * classes + c] / (double)classes;
        for (int64_t c = 0; c < classes; c++) s->db[l * classes + c] -= mean;
    }
}

/* t and the lower triangle of S. */
static void fill_system(search *s)
{
    const gram_softmax_mode *m = s->mode;
    const int64_t classes = m->classes, size = m->q * classes;
    memset(s->small, 0, (size_t)(size * (size + 1)) * sizeof *s->small);
    for (int64_t i = 0; i < m->k->n; i++)
        for (int64_t k = 0; k < size; k++) {
            const int64_t c = k % classes;
            const double t = m->unpenalised[i * m->q + k / classes], *h = s->h + i * size, *mixed = s->m + i * size;
            s->db[k] += t * (s->da[i * classes + c] + m->a[i * classes + c]);
            for (int64_t j = 0; j <= k; j++) s->s[k * size + j] += (j % classes == c ? t * h[j] : 0) - h[k] * mixed[j];
        }
}

/* db, and what it takes from da = u. */
static gram_status add_unpenalised(gram_context *context, search *s, const gram_softmax_curvature *g)
{
    gram_status status = GRAM_OK;
    const gram_softmax_mode *m = s->mode;
    const int64_t n = m->k->n, classes = m->classes, q = m->q, size = q * classes;
    double *mixed = s->trial, *part = s->trial + n; /* free at this time */
    for (int64_t k = 0; k < size; k++)
        TRY(gram_cholesky_inverse_apply(context, g->inverse[k % classes], 1, m->unpenalised + k / classes, q, s->h + k,
                                        size));
    memcpy(s->m, s->h, (size_t)(n * size) * sizeof *s->m);
    TRY(gram_cholesky_solve(context, g->sum, size, s->m, size));
    fill_system(s);
    solve_unpenalised(s);
    for (int64_t i = 0; i < n; i++) mixed[i] = dot(size, s->m + i * size, s->db);
    for (int64_t c = 0; c < classes; c++) {
        TRY(gram_cholesky_inverse_apply(context, g->inverse[c], 1, mixed, 1, part, 1));
        for (int64_t i = 0; i < n; i++) {
            s->da[i * classes + c] += part[i];
            for (int64_t k = c; k < size; k += classes) s->da[i * classes + c] -= s->h[i * size + k] * s->db[k];
        }
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
    if (m->q > 0) TRY(add_unpenalised(context, s, &s->g));
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
            slope -= (s->r[i * classes + c] + m->c * m->a[i * classes + c]) * unpenalised(m, i, c, s->db);
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
        for (int64_t i = 0; i < numbers; i++)
            s->trial[i] = m->f[i] + t * (s->kda[i] + unpenalised(m, i / m->classes, i % m->classes, s->db));
        const double fit = fit_of(s, s->trial, s->trial), rounding = ROUNDING * (fit + fabs(penalty));
        if (!(fit + penalty <= m->objective + SUFFICIENT * t * fmin(slope, 0) + rounding)) continue;
        for (int64_t i = 0; i < numbers; i++) m->a[i] += t * s->da[i];
        for (int64_t k = 0; k < m->q * m->classes; k++) m->b[k] += t * s->db[k];
        return 1;
    }
    return 0;
}

/* Iterations that cost what the factors of a curvature do, 4/3 n^3 C operations that run some three times as fast as a product with K. */
static int64_t most_iterations(int64_t n)
{
    enum { FEWEST = 40, PART = 4 };
    return n / PART > FEWEST ? n / PART : FEWEST;
}

/* A step by conjugate gradients; from the first that they are not enough for, s->factored is set. */
static gram_status iterate(gram_context *context, search *s, double quadratic, int *moved)
{
    gram_status status = GRAM_OK;
    const gram_softmax_mode *m = s->mode;
    const double inexact = fmin(MOST_INEXACT, fmax(LEAST_INEXACT, sqrt(m->optimality) / 2));
    gram_softmax_step step = {m, s->r, s->kr, inexact, most_iterations(m->k->n), s->da, s->kda, s->db, 0, 0};
    *moved = 0;
    TRY(gram_softmax_step_iterate(context, &step));
    if (step.solved) *moved = advance(s, quadratic);
    s->factored = !*moved;
done:
    return status;
}

/* One step, by the curvature of an earlier one if that still serves: it takes n^2 operations instead of n^3. */
static gram_status take_step(gram_context *context, search *s, int fresh, double quadratic, int *moved)
{
    gram_status status = GRAM_OK;
    if (!s->factored) {
        TRY(iterate(context, s, quadratic, moved));
        if (*moved) goto done;
    }
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
    int stalled = 0, slow = 0, moved = 1;
    const int threads = gram_loss_threads_fit(context, mode->k->n);
    TRY(open(context, mode, &s));
    mode->jitter = 0;
    TRY(renew(context, &s, &quadratic));
    for (mode->iterations = 0; mode->iterations < mode->most; mode->iterations++) {
        slow = mode->optimality < FALLING * before ? 0 : slow + 1;
        s.factored |= slow > (best > NEARLY ? STALLED : 1); /* before the end for being stalled */
        stalled = mode->optimality < best / 2 || best > NEARLY ? 0 : stalled + 1;
        best = fmin(best, mode->optimality);
        if (mode->optimality <= mode->tolerance || stalled > STALLED || !moved) break;
        const int fresh = !(mode->optimality < SERVES * before);
        before = mode->optimality;
        const double began = gram_clock();
        TRY(take_step(context, &s, fresh, quadratic, &moved));
        if (moved) TRY(renew(context, &s, &quadratic));
        if (mode->may_end && mode->optimality > mode->tolerance && gram_time_ends_iterations(context, began)) {
            mode->iterations++;
            break;
        }
    }
    mode->converged = mode->optimality <= mode->tolerance;
done:
    gram_loss_threads_restore(context, threads);
    close(context, &s);
    return status;
}

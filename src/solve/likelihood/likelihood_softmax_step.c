/* A Newton step of softmax by conjugate gradients: n^2 C operations for an iteration where a curvature takes 4/3 n^3 C.
 *
 * In the kernel's Hilbert space the function of the step has coefficients da, and its equations are those of likelihood_softmax_mode.c,
 * with V = D/c for D = diag over rows of w (diag(p) - p p'):
 *
 *     A (da, db) = (c da + D h, T'D h) = (r, T'g),   h = K da + T db.
 *
 * A is self-adjoint and positive in the inner product a'K a' + b'b', whose gradients are the coefficients themselves: no factor and no
 * preconditioner. Where rows are decided D is small, and K's eigenvalues fall, so that few eigenvalues of A are far from c: as a rule
 * some tens of iterations are enough. K r and K p are carried along, so that an iteration takes one product with K; their rounding
 * errors are not seen by the recursion, and where they are all that is left it does not come to its end: hence `most`, after which
 * the caller takes the factors. Nor does this inner product see what K maps to 0.
 *
 * Truncated Newton: Dembo, Eisenstat, Steihaug (1982). */
#include <math.h>
#include <string.h>

#include "solve/likelihood/likelihood_softmax.h"

typedef struct iteration {
    const gram_softmax_mode *mode;
    gram_softmax_step *step;
    double *numbers;
    double *left, *k_left;               /* of the right-hand side, and K times it */
    double *p, *kp;                      /* direction */
    double *h, *kh;                      /* D h, and K D h */
    double *free_left, *free_p, *free_h; /* q x C: the same for db */
} iteration;

enum { ARRAYS = 6, FREE_ARRAYS = 3 };

static gram_status open(gram_context *context, gram_softmax_step *step, iteration *it)
{
    gram_status status = GRAM_OK;
    const gram_softmax_mode *m = step->mode;
    const int64_t numbers = m->k->n * m->classes, free = m->q * m->classes;
    *it = (iteration){.mode = m, .step = step};
    TRY(gram_take(context, "newton step", ARRAYS * numbers + FREE_ARRAYS * free, sizeof(double),
                  (void **)&it->numbers));
    double **arrays[ARRAYS] = {&it->left, &it->k_left, &it->p, &it->kp, &it->h, &it->kh};
    double **of_free[FREE_ARRAYS] = {&it->free_left, &it->free_p, &it->free_h};
    for (int64_t i = 0; i < ARRAYS; i++) *arrays[i] = it->numbers + i * numbers;
    for (int64_t i = 0; i < FREE_ARRAYS; i++) *of_free[i] = it->numbers + ARRAYS * numbers + i * free;
done:
    return status;
}

static double dot(int64_t n, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* a += t b */
static void add(int64_t n, double t, const double *b, double *a)
{
    for (int64_t i = 0; i < n; i++) a[i] += t * b[i];
}

/* out = T'v */
static void gather_free(const gram_softmax_mode *m, const double *v, double *out)
{
    memset(out, 0, (size_t)(m->q * m->classes) * sizeof *out);
    for (int64_t i = 0; i < m->k->n; i++)
        for (int64_t l = 0; l < m->q; l++)
            add(m->classes, m->unpenalised[i * m->q + l], v + i * m->classes, out + l * m->classes);
}

/* h = D (K p + T p_free), and T'h. */
static void bend(iteration *it)
{
    const gram_softmax_mode *m = it->mode;
    const int64_t classes = m->classes;
    for (int64_t i = 0; i < m->k->n; i++) {
        const double *p = m->p + i * classes, w = m->weights ? m->weights[i] : 1;
        double *h = it->h + i * classes;
        memcpy(h, it->kp + i * classes, (size_t)classes * sizeof *h);
        for (int64_t l = 0; l < m->q; l++) add(classes, m->unpenalised[i * m->q + l], it->free_p + l * classes, h);
        const double mean = dot(classes, p, h);
        for (int64_t c = 0; c < classes; c++) h[c] = w * p[c] * (h[c] - mean);
    }
    gather_free(m, it->h, it->free_h);
}

/* The right-hand side, and a step of 0. */
static void begin(iteration *it)
{
    const gram_softmax_mode *m = it->mode;
    gram_softmax_step *s = it->step;
    const int64_t numbers = m->k->n * m->classes, free = m->q * m->classes;
    memcpy(it->left, s->r, (size_t)numbers * sizeof *it->left);
    memcpy(it->k_left, s->kr, (size_t)numbers * sizeof *it->k_left);
    for (int64_t i = 0; i < numbers; i++) it->h[i] = s->r[i] + m->c * m->a[i];
    gather_free(m, it->h, it->free_left);
    memcpy(it->p, it->left, (size_t)numbers * sizeof *it->p);
    memcpy(it->kp, it->k_left, (size_t)numbers * sizeof *it->kp);
    memset(s->da, 0, (size_t)numbers * sizeof *s->da);
    memset(s->kda, 0, (size_t)numbers * sizeof *s->kda);
    for (int64_t k = 0; k < free; k++) {
        it->free_p[k] = it->free_left[k];
        s->db[k] = 0;
    }
}

static double square_left(const iteration *it)
{
    const gram_softmax_mode *m = it->mode;
    return dot(m->k->n * m->classes, it->left, it->k_left) + dot(m->q * m->classes, it->free_left, it->free_left);
}

/* One iteration; *went = 0 where no curvature is left to be seen above the rounding. */
static gram_status advance(gram_context *context, iteration *it, double *square, int *went)
{
    gram_status status = GRAM_OK;
    const gram_softmax_mode *m = it->mode;
    gram_softmax_step *s = it->step;
    const int64_t numbers = m->k->n * m->classes, free = m->q * m->classes;
    bend(it);
    TRY(gram_loss_matrix_apply(context, m->k, m->classes, it->h, it->kh));
    const double curvature =
        m->c * dot(numbers, it->p, it->kp) + dot(numbers, it->h, it->kp) + dot(free, it->free_h, it->free_p);
    *went = curvature > 0;
    if (!*went) goto done;
    const double t = *square / curvature;
    add(numbers, t, it->p, s->da);
    add(numbers, t, it->kp, s->kda);
    add(free, t, it->free_p, s->db);
    add(numbers, -t * m->c, it->p, it->left);
    add(numbers, -t, it->h, it->left);
    add(numbers, -t * m->c, it->kp, it->k_left);
    add(numbers, -t, it->kh, it->k_left);
    add(free, -t, it->free_h, it->free_left);
    const double now = square_left(it), ratio = now / *square;
    for (int64_t i = 0; i < numbers; i++) it->p[i] = it->left[i] + ratio * it->p[i];
    for (int64_t i = 0; i < numbers; i++) it->kp[i] = it->k_left[i] + ratio * it->kp[i];
    for (int64_t k = 0; k < free; k++) it->free_p[k] = it->free_left[k] + ratio * it->free_p[k];
    *square = now;
done:
    return status;
}

gram_status gram_softmax_step_iterate(gram_context *context, gram_softmax_step *step)
{
    gram_status status = GRAM_OK;
    iteration it = {0};
    int went;
    TRY(open(context, step, &it));
    begin(&it);
    double square = square_left(&it);
    const double enough = step->tolerance * step->tolerance * square;
    went = square > 0; /* what K does not see is not seen here */
    step->solved = 0;
    for (step->iterations = 0; !step->solved && went && step->iterations < step->most; step->iterations++) {
        TRY(advance(context, &it, &square, &went));
        step->solved = went && square <= enough;
    }
done:
    gram_give(context, it.numbers);
    return status;
}

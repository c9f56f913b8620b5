#include "solve/smo/coordinate_descent.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include <gram/random.h>

enum { LOOK = 5 }; /* epochs between two looks at the gap, which cost as much as one */
static const double LOOSE = 0.1,
                    TIGHTER =
                        0.1; /* the violation that ends a round of epochs, and what it becomes if the gap is too wide */
static const uint64_t STREAM = 0x6c696e656172U;

typedef struct descent {
    gram_linear_machine *m;
    double *a, *square; /* dual variables; |z_i|^2 with the bias */
    int64_t active;
    double most, least;         /* violations of the last epoch, */
    double bound_up, bound_low; /* and what they let us leave out */
} descent;

static double inner(const gram_linear_machine *m, int64_t i)
{
    return m->z ? cblas_ddot((int)m->p, m->w, 1, m->z + m->rows[i] * m->ld, 1) : gram_csr_dot(m->csr, m->rows[i], m->w);
}

static void add_row(gram_linear_machine *m, int64_t i, double factor)
{
    if (m->z)
        cblas_daxpy((int)m->p, factor, m->z + m->rows[i] * m->ld, 1, m->w, 1);
    else
        gram_csr_axpy(m->csr, m->rows[i], factor, m->w);
}

static double square_of(const gram_linear_machine *m, int64_t i)
{
    double sum = 0;
    if (m->z) {
        const double *z = m->z + m->rows[i] * m->ld;
        return cblas_ddot((int)m->p, z, 1, z, 1);
    }
    for (int64_t k = m->csr->start[m->rows[i]]; k < m->csr->start[m->rows[i] + 1]; k++)
        sum += m->csr->value[k] * m->csr->value[k];
    return sum;
}

static double margin(const gram_linear_machine *m, int64_t i)
{
    return m->sign[i] * (inner(m, i) + m->constant);
}

static void swap_last(descent *d, int64_t k)
{
    int64_t *order = d->m->order;
    const int64_t i = order[k];
    order[k] = order[--d->active];
    order[d->active] = i;
}

/* One variable; 1 if its row is left out from now on. */
static int step(descent *d, int64_t i)
{
    gram_linear_machine *m = d->m;
    const double slope = margin(m, i) - 1;
    double projected = slope;
    if (d->a[i] <= 0) {
        if (slope > d->bound_up) return 1;
        projected = fmin(slope, 0);
    } else if (d->a[i] >= m->upper[i]) {
        if (slope < d->bound_low) return 1;
        projected = fmax(slope, 0);
    }
    d->most = fmax(d->most, projected);
    d->least = fmin(d->least, projected);
    if (fabs(projected) <= 1e-12 || !(d->square[i] > 0)) return 0;
    const double before = d->a[i];
    d->a[i] = fmin(fmax(before - slope / d->square[i], 0), m->upper[i]);
    const double change = (d->a[i] - before) * m->sign[i];
    if (change != 0) {
        add_row(m, i, change);
        m->constant += change * m->bias * m->bias;
    }
    return 0;
}

static void shuffle(descent *d, double *uniform)
{
    int64_t *order = d->m->order;
    gram_random_uniform((gram_random){d->m->seed, STREAM}, (uint64_t)(d->m->iterations * d->m->n), d->active, uniform);
    for (int64_t k = d->active - 1; k > 0; k--) {
        const int64_t other = (int64_t)(uniform[k] * (double)(k + 1));
        const int64_t i = order[k];
        order[k] = order[other];
        order[other] = i;
    }
}

static void epoch(descent *d)
{
    d->most = -INFINITY;
    d->least = INFINITY;
    for (int64_t k = 0; k < d->active;)
        if (step(d, d->m->order[k]))
            swap_last(d, k);
        else
            k++;
    d->bound_up = d->most > 0 ? d->most : INFINITY;
    d->bound_low = d->least < 0 ? d->least : -INFINITY;
}

/* |w|^2/2 + losses, and what that is above sum a - |w|^2/2. */
static void find_gap(const descent *d)
{
    gram_linear_machine *m = d->m;
    double squares = cblas_ddot((int)m->p, m->w, 1, m->w, 1), losses = 0, duals = 0;
    if (m->bias > 0) squares += m->constant * m->constant / (m->bias * m->bias);
    m->n_support = 0;
    for (int64_t i = 0; i < m->n; i++) {
        losses += m->upper[i] * fmax(0, 1 - margin(m, i));
        duals += d->a[i];
        m->n_support += d->a[i] > 0;
    }
    m->objective = squares / 2 + losses;
    m->gap = squares + losses - duals;
    m->converged = m->gap <= m->tolerance * m->objective;
}

/* Epochs until nothing violates the conditions by more than `enough`, also of the rows that were left out, or the gap is narrow. */
static void descend(descent *d, double enough, double *uniform, const gram_worker *worker)
{
    gram_linear_machine *m = d->m;
    d->active = m->n;
    d->bound_up = INFINITY;
    d->bound_low = -INFINITY;
    while (m->iterations < m->epochs && !gram_worker_stopped(worker)) {
        shuffle(d, uniform);
        epoch(d);
        m->iterations++;
        if (m->iterations % LOOK == 0) find_gap(d);
        if (m->converged) return;
        if (!(d->most - d->least > enough)) {
            if (d->active == m->n) return;
            d->active = m->n;
            d->bound_up = INFINITY;
            d->bound_low = -INFINITY;
        }
    }
}

void gram_linear_machine_solve(gram_linear_machine *m, const gram_worker *worker)
{
    descent d = {.m = m, .a = m->work, .square = m->work + m->n};
    double *uniform = m->work + 2 * m->n;
    memset(d.a, 0, (size_t)m->n * sizeof *d.a);
    memset(m->w, 0, (size_t)m->p * sizeof *m->w);
    m->constant = 0;
    m->iterations = 0;
    for (int64_t i = 0; i < m->n; i++) {
        m->order[i] = i;
        d.square[i] = square_of(m, i) + m->bias * m->bias;
    }
    m->converged = 0;
    for (double enough = LOOSE; !m->converged && enough > 1e-9; enough *= TIGHTER) {
        descend(&d, enough, uniform, worker);
        find_gap(&d);
        if (m->iterations >= m->epochs || gram_worker_stopped(worker)) break;
    }
}

/* Steps of a whole model: Phi, the factor of Q, and derivatives, term by term.
 *
 * With P = P_1 x P_2, Phi = Phi_1 x Phi_2, A = Phi P Phi' = A_1 x A_2 (A_i: what is left of P_i) and P_i = A_i + Q_i at the end
 * of the step,
 *
 *     Q = P - A = Q_1 x P_2 + A_1 x Q_2:
 *
 * sums of positive semi-definite matrices, no subtraction, so that tiny steps keep their digits. By a parameter of one factor,
 * of which P does not depend, dQ = -dA: the product of all other A with that factor's dQ.
 *
 * Cholesky's factor of Q is as accurate as the entries are, however different their sizes: the factorisation does not see a
 * scaling of rows and columns (Demmel 1989). */
#include "solve/markov/markov_model.h"

#include <math.h>
#include <string.h>

static const double DEPENDENT = 1e-14; /* a pivot, of the entry that it comes from: 0 but for rounding */

enum { ENTRIES = 64, SIZE = GRAM_MARKOV_STATES * GRAM_MARKOV_STATES, SCRATCH = 6 };

/* out = a x b, of sizes n and m; out may not be a or b. With `add` it is added. */
static void kronecker(int n, const double *a, int m, const double *b, int add, double *out)
{
    const int s = n * m;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < m; k++)
            for (int j = 0; j < n; j++)
                for (int l = 0; l < m; l++) {
                    double *place = &out[(i * m + k) * s + j * m + l];
                    *place = (add ? *place : 0) + a[i * n + j] * b[k * m + l];
                }
}

/* c c' = scale q, lower; rows that depend on those before get no column of their own. */
static void factor(int s, double scale, const double *q, double *c)
{
    for (int j = 0; j < s; j++) {
        double pivot = scale * q[j * s + j];
        const double whole = pivot;
        for (int k = 0; k < j; k++) pivot -= c[j * s + k] * c[j * s + k];
        const double root = pivot > DEPENDENT * whole ? sqrt(pivot) : 0;
        for (int i = 0; i < s; i++) {
            double sum = scale * q[i * s + j];
            for (int k = 0; k < j && i > j; k++) sum -= c[i * s + k] * c[j * s + k];
            c[i * s + j] = i < j || root == 0 ? 0 : i == j ? root : sum / root;
        }
    }
}

/* ---- making and freeing ---- */

gram_status gram_markov_stepper_make(gram_context *context, const gram_markov_model *model, int slopes,
                                     gram_markov_stepper *s)
{
    gram_status status = GRAM_OK;
    const int64_t each = 3 * (int64_t)model->blocks + (slopes ? model->slot_blocks : 0);
    memset(s, 0, sizeof *s);
    s->model = model;
    s->slopes = slopes;
    s->entries = model->shifting ? 1 : ENTRIES;
    s->number_count = each * s->entries;
    s->scratch_count = SCRATCH * SIZE;
    TRY(gram_take(context, "markov: steps", s->entries, sizeof *s->steps, (void **)&s->steps));
    TRY(gram_take(context, "markov: steps", s->number_count, sizeof(double), (void **)&s->numbers));
    TRY(gram_take(context, "markov: steps", s->scratch_count, sizeof(double), (void **)&s->scratch));
    TRY(gram_take(context, "markov: steps", GRAM_MARKOV_FACTORS, sizeof *s->moves, (void **)&s->moves));
    for (int i = 0; i < s->entries; i++) {
        double *numbers = s->numbers + i * each;
        s->steps[i] = (gram_markov_step){.from = NAN,
                                         .gap = NAN,
                                         .phi = numbers,
                                         .noise = numbers + model->blocks,
                                         .q = numbers + 2 * model->blocks,
                                         .slopes = numbers + 3 * model->blocks};
    }
done:
    return status;
}

void gram_markov_stepper_free(gram_context *context, gram_markov_stepper *s)
{
    gram_give(context, s->steps);
    gram_give(context, s->numbers);
    gram_give(context, s->scratch);
    gram_give(context, s->moves);
    memset(s, 0, sizeof *s);
}

/* ---- one term ---- */

/* Phi and Q of a product, factor by factor; A on the way. */
static void multiply_moves(gram_markov_stepper *s, const gram_markov_term *term, double *phi, double *q)
{
    const gram_markov_move *m = s->moves;
    double *next_phi = s->scratch, *next_q = next_phi + SIZE, *kept = next_q + SIZE, *next_kept = kept + SIZE;
    int n = s->model->leaves[term->factors[0]].states;
    const size_t bytes = sizeof(double);
    memcpy(phi, m->phi, (size_t)(n * n) * bytes);
    memcpy(q, m->q, (size_t)(n * n) * bytes);
    memcpy(kept, m->kept, (size_t)(n * n) * bytes);
    for (int i = 1; i < term->count; i++) {
        const int size = s->model->leaves[term->factors[i]].states;
        kronecker(n, phi, size, m[i].phi, 0, next_phi);
        kronecker(n, q, size, m[i].after, 0, next_q);
        kronecker(n, kept, size, m[i].q, 1, next_q);
        kronecker(n, kept, size, m[i].kept, 0, next_kept);
        n *= size;
        memcpy(phi, next_phi, (size_t)(n * n) * bytes);
        memcpy(q, next_q, (size_t)(n * n) * bytes);
        memcpy(kept, next_kept, (size_t)(n * n) * bytes);
    }
}

/* By the parameter of one factor: d Phi and d Q. */
static void slope_of(gram_markov_stepper *s, const gram_markov_term *term, int factor_number, double *phi, double *q)
{
    double *next_phi = s->scratch, *next_q = next_phi + SIZE;
    int n = 1;
    phi[0] = q[0] = 1;
    for (int i = 0; i < term->count; i++) {
        const gram_markov_move *m = &s->moves[i];
        const int size = s->model->leaves[term->factors[i]].states, here = i == factor_number;
        kronecker(n, phi, size, here ? m->phi_slope : m->phi, 0, next_phi);
        kronecker(n, q, size, here ? m->q_slope : m->kept, 0, next_q);
        n *= size;
        memcpy(phi, next_phi, (size_t)(n * n) * sizeof *phi);
        memcpy(q, next_q, (size_t)(n * n) * sizeof *q);
    }
}

static void make_term(gram_markov_stepper *s, const gram_markov_term *term, double from, double gap, double *phi,
                      double *q)
{
    phi[0] = 1;
    q[0] = 0;
    for (int i = 0; i < term->count; i++) {
        if (i > 0 && term->factors[i] == term->factors[i - 1])
            s->moves[i] = s->moves[i - 1];
        else
            gram_markov_leaf_move(&s->model->leaves[term->factors[i]], from, gap, s->slopes, &s->moves[i]);
    }
    if (term->count > 0) multiply_moves(s, term, phi, q);
}

/* ---- the whole ---- */

static void make_step(gram_markov_stepper *s, double from, double gap, gram_markov_step *step)
{
    const gram_markov_model *m = s->model;
    step->from = from;
    step->gap = gap;
    for (int i = 0, slot = 0; i < m->term_count; i++) {
        const gram_markov_term *term = &m->terms[i];
        make_term(s, term, from, gap, step->phi + term->block, step->q + term->block);
        factor(term->states, term->coefficient, step->q + term->block, step->noise + term->block);
        for (; slot < m->slot_count && m->slots[slot].term == i; slot++) {
            double *slopes = step->slopes + m->slots[slot].block;
            if (s->slopes) slope_of(s, term, m->slots[slot].factor, slopes, slopes + term->states * term->states);
        }
    }
}

const gram_markov_step *gram_markov_stepper_get(gram_markov_stepper *s, double from, double gap)
{
    uint64_t bits;
    memcpy(&bits, &gap, sizeof bits);
    bits = (bits * 0x9e3779b97f4a7c15u) >> 32;
    gram_markov_step *step = &s->steps[bits % (uint64_t)s->entries];
    if (!(step->gap == gap && (!s->model->shifting || step->from == from))) make_step(s, from, gap, step);
    return step;
}

void gram_markov_stepper_start(gram_markov_stepper *s, double t, double *start, double *p)
{
    const gram_markov_model *m = s->model;
    double *made = s->scratch, *next = made + SIZE, leaf[GRAM_MARKOV_LEAF * GRAM_MARKOV_LEAF];
    for (int i = 0; i < m->term_count; i++) {
        const gram_markov_term *term = &m->terms[i];
        int n = 1;
        made[0] = 1;
        for (int j = 0; j < term->count; j++) {
            const int size = m->leaves[term->factors[j]].states;
            gram_markov_leaf_variance(&m->leaves[term->factors[j]], t, leaf);
            kronecker(n, made, size, leaf, 0, next);
            n *= size;
            memcpy(made, next, (size_t)(n * n) * sizeof *made);
        }
        factor(n, term->coefficient, made, start + term->block);
        if (p) memcpy(p + term->block, made, (size_t)(n * n) * sizeof *made);
    }
}

/* The filter in square-root form, and its adjoint.
 *
 * Forwards. The state before an observation is N(m, L L'). With h the row that reads f from the state and R the noise:
 *
 *     f = L'h,  S = f'f + R,  g = L f,      m += g (y - h'm)/S,   L -= g f'/(S + sqrt(R S))             (Potter 1963)
 *     m = Phi m,   L = the triangular factor of the rows of [Phi L, C],  C C' = Q                      (Schmidt 1970)
 *
 * the latter by modified Gram-Schmidt, of which the triangular part is as good as Householder's. No covariance is ever
 * subtracted from another, so none becomes negative and small ones keep their digits, without noise, too. The innovations
 * y - h'm are independent, of variance S: A = K + noise has log|A| = sum log S, and data'A^-1 data = sum v v'/S for all
 * columns of data at once.
 *
 * Backwards. r and N are the adjoints: the derivative of the log-likelihood by m, and minus twice the part of that by the
 * covariance which does not depend on the data (de Jong 1989). Through an observation with gain k = g/S
 *
 *     a = v/S - k'r,  d = 1/S + k'N k,      r += h a,   N -= h (N k)' + (N k) h' - d h h'
 *
 * and through a step r = Phi'r, N = Phi'N Phi. Here a is an entry of A^-1 y and d one of the diagonal of A^-1, which is all
 * that leave-one-out needs; given everything f is N(h'm + g'r, f'f - g'N g); and with W = r r' - N at the end of a step
 *
 *     d log-likelihood = r'dPhi m + <W Phi L L', dPhi> + <W, dQ>/2                       (m, L at the step's beginning)
 *
 * (Koopman and Shephard 1992): a gradient costs no more for many parameters than for one, and nothing is inverted.
 *
 * The way back needs the way forward in reverse. Only the state before every 256th place is kept; the others are filtered
 * once more, block by block. So memory is a few numbers for each place, whatever the size of the state. */
#include "solve/markov/markov_filter.h"

#include <math.h>
#include <string.h>

#include <gram/text.h>

enum { BLOCK = 256, SIZE = GRAM_MARKOV_STATES };

static const double NO_NOISE = 1e-28; /* an innovation's variance of the prior's: nothing but rounding */

/* What is known after a place: the filtered state, and how its observation was expected. */
typedef struct record {
    double *l;      /* states x states */
    double *m;      /* states x columns */
    double *g;      /* states: covariance of the state with f before the observation */
    double *seen;   /* columns: h'm before it */
    double *spread; /* variance of f before it, and S */
} record;

static int64_t record_size(int s, int c)
{
    return (int64_t)s * s + (int64_t)s * c + s + c + 2;
}

static record record_at(const gram_markov_pass *pass, int64_t number)
{
    const int s = pass->model->states, c = pass->events.columns;
    double *base = pass->records + number * record_size(s, c);
    return (record){base, base + s * s, base + s * s + s * c, base + s * s + s * c + s, base + s * s + s * c + s + c};
}

/* ---- memory ---- */

gram_status gram_markov_pass_make(gram_context *context, const char *name, const gram_markov_model *model, int slopes,
                                  const gram_markov_events *events, gram_markov_pass *pass)
{
    gram_status status = GRAM_OK;
    const int64_t s = model->states, c = events->columns;
    memset(pass, 0, sizeof *pass);
    pass->name = name;
    pass->model = model;
    pass->events = *events;
    pass->columns_taken = events->columns;
    pass->blocks = (events->count + BLOCK - 1) / BLOCK;
    pass->adjoint_count = 5 * s * s + 4 * s * c + 2 * s + c + 2 * SIZE * SIZE;
    TRY(gram_markov_stepper_make(context, model, slopes, &pass->stepper));
    TRY(gram_take(context, "markov: checkpoints", pass->blocks * (s * s + s * c) + 1, sizeof(double),
                  (void **)&pass->checkpoints)); /* a kernel of white alone has no state */
    TRY(gram_take(context, "markov: a block", (BLOCK + 1) * record_size((int)s, (int)c), sizeof(double),
                  (void **)&pass->records));
    TRY(gram_take(context, "markov: adjoint", pass->adjoint_count, sizeof(double), (void **)&pass->adjoint));
    TRY(gram_take(context, "markov: first state", 2 * (int64_t)model->blocks, sizeof(double), (void **)&pass->start));
    TRY(gram_take(context, "markov: products", c * c, sizeof(double), (void **)&pass->products));
done:
    return status;
}

void gram_markov_pass_free(gram_context *context, gram_markov_pass *pass)
{
    if (!pass->model) return;
    gram_markov_stepper_free(context, &pass->stepper);
    gram_give(context, pass->checkpoints);
    gram_give(context, pass->records);
    gram_give(context, pass->adjoint);
    gram_give(context, pass->start);
    gram_give(context, pass->products);
    memset(pass, 0, sizeof *pass);
}

/* ---- forwards ---- */

/* The shape of the loops. Small ones are given as constants, so that the compiler unrolls them. */
typedef struct shape {
    int s, c, terms;
} shape;

GRAM_INLINE double reading(const gram_markov_term *term, double t)
{
    double h = 1;
    for (int i = 0; i < term->lines; i++) h *= t;
    return h;
}

/* out (s x width, from column 0) = Phi x, x of `width` columns */
GRAM_INLINE void apply_phi(const gram_markov_model *model, const double *phi, shape z, int width, const double *x,
                           double *out, int ld)
{
    for (int k = 0; k < z.terms; k++) {
        const gram_markov_term *term = &model->terms[k];
        const int n = z.terms == 1 ? z.s : term->states, first = z.terms == 1 ? 0 : term->first;
        const double *block = phi + (z.terms == 1 ? 0 : term->block);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < width; j++) {
                double sum = 0;
                for (int l = 0; l < n; l++) sum += block[i * n + l] * x[(first + l) * width + j];
                out[(first + i) * ld + j] = sum;
            }
    }
}

/* The rows of [Phi L, C]; C has columns only for terms with noise. */
GRAM_INLINE int fill_rows(const gram_markov_model *model, const gram_markov_step *step, shape z, const double *l,
                          double *rows)
{
    const int width = z.s + (z.terms == 1 ? (model->noises ? z.s : 0) : model->noises);
    apply_phi(model, step->phi, z, z.s, l, rows, width);
    for (int k = 0; k < z.terms && model->noises; k++) {
        const gram_markov_term *term = &model->terms[k];
        const int n = z.terms == 1 ? z.s : term->states, first = z.terms == 1 ? 0 : term->first;
        const double *block = step->noise + (z.terms == 1 ? 0 : term->block);
        for (int i = 0; i < n; i++) {
            double *row = rows + (first + i) * width + z.s;
            if (z.terms > 1) memset(row, 0, (size_t)model->noises * sizeof *row);
            for (int j = 0; j < n && term->noisy; j++) row[(z.terms == 1 ? 0 : term->noise) + j] = block[i * n + j];
        }
    }
    return width;
}

/* l l' = rows rows', l lower */
GRAM_INLINE void triangularise(int s, int width, double *rows, double *l)
{
    for (int i = 0; i < s; i++) {
        double *row = rows + i * width, sum = 0;
        for (int k = 0; k < width; k++) sum += row[k] * row[k];
        const double inverse = sum > 0 ? 1 / sum : 0, root = sqrt(sum), scale = root * inverse;
        l[i * s + i] = root;
        for (int j = 0; j < i; j++) l[j * s + i] = 0;
        for (int j = i + 1; j < s; j++) {
            double *other = rows + j * width, dot = 0;
            for (int k = 0; k < width; k++) dot += row[k] * other[k];
            l[j * s + i] = dot * scale;
            for (int k = 0; k < width; k++) other[k] -= dot * inverse * row[k];
        }
    }
}

/* The observation at t, if there is one: `now` holds the state before it. */
GRAM_INLINE void observe(const gram_markov_model *model, shape z, double t, double noise, const double *data,
                         record now)
{
    double f[SIZE], h[SIZE];
    int at[SIZE];
    for (int k = 0; k < z.terms; k++) {
        h[k] = reading(&model->terms[k], t);
        at[k] = z.terms == 1 ? 0 : model->terms[k].first;
    }
    double spread = 0;
    for (int j = 0; j < z.s; j++) {
        f[j] = 0;
        for (int k = 0; k < z.terms; k++) f[j] += h[k] * now.l[at[k] * z.s + j];
        spread += f[j] * f[j];
    }
    for (int i = 0; i < z.s; i++) {
        now.g[i] = 0;
        for (int j = 0; j < z.s; j++) now.g[i] += now.l[i * z.s + j] * f[j];
    }
    for (int j = 0; j < z.c; j++) {
        now.seen[j] = 0;
        /* cppcheck-suppress uninitvar ; the first loop has set them for the same terms */
        for (int k = 0; k < z.terms; k++) now.seen[j] += h[k] * now.m[at[k] * z.c + j];
    }
    now.spread[0] = spread;
    now.spread[1] = spread + noise;
    if (noise < 0) return;
    const double s = spread + noise, inverse = s > 0 ? 1 / s : 0, shrink = s > 0 ? 1 / (s + sqrt(noise * s)) : 0;
    for (int i = 0; i < z.s; i++) {
        for (int j = 0; j < z.s; j++) now.l[i * z.s + j] -= shrink * now.g[i] * f[j];
        for (int j = 0; j < z.c; j++) now.m[i * z.c + j] += now.g[i] * inverse * (data[j] - now.seen[j]);
    }
}

/* Places [first, first + count): record 0 is the state before them, records 1 .. count are made. */
GRAM_INLINE void run_shape(gram_markov_pass *pass, shape z, int64_t first, int64_t count)
{
    const gram_markov_events *e = &pass->events;
    double rows[2 * SIZE * SIZE] = {0};
    for (int64_t i = first; i < first + count; i++) {
        const record before = record_at(pass, i - first), now = record_at(pass, i - first + 1);
        const double gap = i > 0 ? e->t[i] - e->t[i - 1] : 0;
        if (gap > 0) {
            const gram_markov_step *step = gram_markov_stepper_get(&pass->stepper, e->t[i - 1], gap);
            const int width = fill_rows(pass->model, step, z, before.l, rows);
            triangularise(z.s, width, rows, now.l);
            apply_phi(pass->model, step->phi, z, z.c, before.m, now.m, z.c);
        } else {
            memcpy(now.l, before.l, (size_t)(z.s * z.s) * sizeof(double));
            memcpy(now.m, before.m, (size_t)(z.s * z.c) * sizeof(double));
        }
        observe(pass->model, z, e->t[i], e->noise[i], e->data + i * z.c, now);
    }
}

static void run_block(gram_markov_pass *pass, int64_t first, int64_t count)
{
    const int s = pass->model->states, c = pass->events.columns, one = pass->model->term_count == 1;
    if (one && s == 1)
        run_shape(pass, (shape){1, c, 1}, first, count);
    else if (one && s == 2)
        run_shape(pass, (shape){2, c, 1}, first, count);
    else if (one && s == 3)
        run_shape(pass, (shape){3, c, 1}, first, count);
    else
        run_shape(pass, (shape){s, c, pass->model->term_count}, first, count);
}

/* The state before anything is seen, in record 0. */
static void start(gram_markov_pass *pass)
{
    const gram_markov_model *model = pass->model;
    const int s = model->states;
    const record first = record_at(pass, 0);
    double *factor = pass->start, *p = factor + model->blocks;
    gram_markov_stepper_start(&pass->stepper, pass->events.t[0], factor, p);
    memset(first.l, 0, (size_t)(s * s) * sizeof(double));
    memset(first.m, 0, (size_t)(s * pass->events.columns) * sizeof(double));
    for (int k = 0; k < model->term_count; k++) {
        const gram_markov_term *term = &model->terms[k];
        for (int i = 0; i < term->states; i++)
            for (int j = 0; j <= i; j++)
                first.l[(term->first + i) * s + term->first + j] = factor[term->block + i * term->states + j];
    }
}

/* Adds v v'/S and log S of a block. */
static gram_status accumulate(gram_context *context, gram_markov_pass *pass, int64_t first, int64_t count)
{
    gram_status status = GRAM_OK;
    const gram_markov_events *e = &pass->events;
    const int c = e->columns;
    char shown[GRAM_NUMBER_SIZE];
    for (int64_t i = first; i < first + count; i++) {
        const record now = record_at(pass, i - first + 1);
        const double s = now.spread[1], *data = e->data + i * c;
        if (e->noise[i] < 0) continue;
        const double least = e->noise[i] > 0 ? 0 : NO_NOISE * gram_markov_variance(pass->model, e->t[i]);
        FAIL_IF(!(s > least) || !isfinite(s), context, GRAM_ERROR_NUMERICAL,
                "%s: row %lld is determined by others (variance %s): it needs noise above 0", pass->name,
                (long long)(e->order ? e->order[i] : i), gram_number_format(s, shown));
        pass->log_determinant += log(s);
        for (int j = 0; j < c; j++)
            for (int k = 0; k <= j; k++)
                pass->products[j * c + k] += (data[j] - now.seen[j]) * (data[k] - now.seen[k]) / s;
    }
done:
    return status;
}

static gram_status check_cancel(gram_context *context, const gram_markov_pass *pass)
{
    gram_status status = GRAM_OK;
    FAIL_IF(context->cancel && context->cancel(context->cancel_user), context, GRAM_ERROR_CANCELLED, "%s: cancelled",
            pass->name);
done:
    return status;
}

static int64_t block_length(const gram_markov_pass *pass, int64_t block)
{
    const int64_t left = pass->events.count - block * BLOCK;
    return left < BLOCK ? left : BLOCK;
}

gram_status gram_markov_forward(gram_context *context, gram_markov_pass *pass)
{
    gram_status status = GRAM_OK;
    const int64_t s = pass->model->states, c = pass->events.columns, size = s * s + s * c;
    const record first = record_at(pass, 0); /* l and m lie together */
    pass->log_determinant = 0;
    memset(pass->products, 0, (size_t)(c * c) * sizeof(double));
    start(pass);
    for (int64_t b = 0; b < pass->blocks; b++) {
        const int64_t count = block_length(pass, b);
        if (b % 64 == 0) TRY(check_cancel(context, pass));
        memcpy(pass->checkpoints + b * size, first.l, (size_t)size * sizeof(double));
        run_block(pass, b * BLOCK, count);
        TRY(accumulate(context, pass, b * BLOCK, count));
        memcpy(first.l, record_at(pass, count).l, (size_t)size * sizeof(double));
    }
    for (int64_t j = 0; j < c; j++)
        for (int64_t k = 0; k < j; k++) pass->products[k * c + j] = pass->products[j * c + k];
done:
    return status;
}

/* ---- other columns ---- */

/* x (rows x c) times matrix, in place: rows of the result are shorter, or as long */
static void combine_rows(int64_t rows, int c, int fewer, const double *matrix, double *x, double *row)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int j = 0; j < fewer; j++) {
            row[j] = 0;
            for (int k = 0; k < c; k++) row[j] += x[i * c + k] * matrix[k * fewer + j];
        }
        memcpy(x + i * fewer, row, (size_t)fewer * sizeof *row);
    }
}

gram_status gram_markov_recombine(gram_context *context, gram_markov_pass *pass, int fewer, const double *matrix)
{
    gram_status status = GRAM_OK;
    const int s = pass->model->states, c = pass->events.columns;
    const int64_t size = (int64_t)s * s + (int64_t)s * c, smaller = (int64_t)s * s + (int64_t)s * fewer;
    double *row = NULL;
    TRY(gram_take(context, "markov: a row", fewer, sizeof(double), (void **)&row));
    combine_rows(pass->events.count, c, fewer, matrix, pass->events.data, row);
    for (int64_t b = 0; b < pass->blocks; b++) {
        double *from = pass->checkpoints + b * size, *to = pass->checkpoints + b * smaller;
        combine_rows(s, c, fewer, matrix, from + s * s, row);
        memmove(to, from, (size_t)smaller * sizeof(double));
    }
    pass->events.columns = fewer;
done:
    gram_give(context, row);
    return status;
}

/* ---- backwards ---- */

typedef struct adjoint {
    double *r;       /* states x columns */
    double *n;       /* states x states */
    double *spare;   /* states x columns */
    double *carried; /* states x states: Phi L, then others */
    double *product; /* states x states */
    double *w;       /* states x states */
    double *nk;      /* states */
    double *a;       /* columns */
} adjoint;

static adjoint adjoint_of(const gram_markov_pass *pass)
{
    const int s = pass->model->states, c = pass->events.columns;
    double *p = pass->adjoint;
    adjoint made;
    made.r = p, p += s * c;
    made.spare = p, p += s * c;
    made.n = p, p += s * s;
    made.carried = p, p += s * s;
    made.product = p, p += s * s;
    made.w = p, p += s * s;
    made.nk = p, p += s;
    made.a = p;
    return made;
}

/* Through the observation of place i; returns d, the diagonal entry of A^-1, and leaves a. */
static double through_observation(const gram_markov_pass *pass, int64_t i, record now, adjoint *v)
{
    const gram_markov_model *model = pass->model;
    const gram_markov_events *e = &pass->events;
    const int s = model->states, c = e->columns;
    const double inverse = 1 / now.spread[1];
    double d = inverse;
    for (int k = 0; k < s; k++) {
        v->nk[k] = 0;
        for (int l = 0; l < s; l++) v->nk[k] += v->n[k * s + l] * now.g[l] * inverse;
        d += now.g[k] * inverse * v->nk[k];
    }
    for (int j = 0; j < c; j++) {
        v->a[j] = (e->data[i * c + j] - now.seen[j]) * inverse;
        for (int k = 0; k < s; k++) v->a[j] -= now.g[k] * inverse * v->r[k * c + j];
    }
    for (int k = 0; k < model->term_count; k++) {
        const int at = model->terms[k].first;
        const double h = reading(&model->terms[k], e->t[i]);
        for (int j = 0; j < c; j++) v->r[at * c + j] += h * v->a[j];
        for (int l = 0; l < s; l++) {
            v->n[at * s + l] -= h * v->nk[l];
            v->n[l * s + at] -= h * v->nk[l];
        }
        for (int l = 0; l < model->term_count; l++)
            v->n[at * s + model->terms[l].first] += d * h * reading(&model->terms[l], e->t[i]);
    }
    return d;
}

/* out (s x width) = Phi'x */
static void apply_transposed(const gram_markov_model *model, const double *phi, int width, const double *x, double *out)
{
    for (int k = 0; k < model->term_count; k++) {
        const gram_markov_term *term = &model->terms[k];
        const int n = term->states, first = term->first;
        const double *block = phi + term->block;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < width; j++) {
                double sum = 0;
                for (int l = 0; l < n; l++) sum += block[l * n + i] * x[(first + l) * width + j];
                out[(first + i) * width + j] = sum;
            }
    }
}

/* r = Phi'r, N = Phi'N Phi, symmetric to the last bit */
static void through_step(const gram_markov_pass *pass, const gram_markov_step *step, adjoint *v)
{
    const gram_markov_model *model = pass->model;
    const int s = model->states, c = pass->events.columns;
    apply_transposed(model, step->phi, c, v->r, v->spare);
    memcpy(v->r, v->spare, (size_t)(s * c) * sizeof(double));
    apply_transposed(model, step->phi, s, v->n, v->product);
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) v->carried[i * s + j] = v->product[j * s + i];
    apply_transposed(model, step->phi, s, v->carried, v->n);
    for (int i = 0; i < s; i++)
        for (int j = 0; j < i; j++) v->n[i * s + j] = v->n[j * s + i] = 0.5 * (v->n[i * s + j] + v->n[j * s + i]);
}

/* ---- the gradient ---- */

/* Sums over the places, before they are shared out to the parameters. */
typedef struct sums {
    double coefficient[GRAM_MARKOV_TERMS]; /* by the coefficient of each term */
    double *gradient;
} sums;

/* W = sum over columns of r r' - N */
static void make_w(const gram_markov_pass *pass, adjoint *v)
{
    const int s = pass->model->states, c = pass->events.columns;
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) {
            double sum = -v->n[i * s + j];
            for (int k = 0; k < c; k++) sum += v->r[i * c + k] * v->r[j * c + k];
            v->w[i * s + j] = sum;
        }
}

/* <W_T, x>/2 for a term's block */
static double half_product(const gram_markov_pass *pass, const gram_markov_term *term, const double *w, const double *x)
{
    const int s = pass->model->states, n = term->states;
    double sum = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) sum += w[(term->first + i) * s + term->first + j] * x[i * n + j];
    return 0.5 * sum;
}

/* X_T = sum over columns of r m' + W Phi L L', the derivative by Phi_T; v->product holds W Phi L. */
static void transition_slope(const gram_markov_pass *pass, const gram_markov_term *term, const adjoint *v,
                             record before, double *x)
{
    const int s = pass->model->states, c = pass->events.columns, n = term->states, first = term->first;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < c; k++) sum += v->r[(first + i) * c + k] * before.m[(first + j) * c + k];
            for (int k = 0; k < s; k++) sum += v->product[(first + i) * s + k] * before.l[(first + j) * s + k];
            x[i * n + j] = sum;
        }
}

static void differentiate_step(gram_markov_pass *pass, const gram_markov_step *step, record before, adjoint *v,
                               sums *out)
{
    const gram_markov_model *model = pass->model;
    const int s = model->states;
    double x[SIZE * SIZE];
    make_w(pass, v);
    apply_phi(model, step->phi, (shape){s, 0, model->term_count}, s, before.l, v->carried, s);
    for (int i = 0; i < s; i++)
        for (int j = 0; j < s; j++) {
            double sum = 0;
            for (int k = 0; k < s; k++) sum += v->w[i * s + k] * v->carried[k * s + j];
            v->product[i * s + j] = sum;
        }
    for (int k = 0, slot = 0; k < model->term_count; k++) {
        const gram_markov_term *term = &model->terms[k];
        const int size = term->states * term->states;
        if (term->noisy) out->coefficient[k] += half_product(pass, term, v->w, step->q + term->block);
        if (slot < model->slot_count && model->slots[slot].term == k) transition_slope(pass, term, v, before, x);
        for (; slot < model->slot_count && model->slots[slot].term == k; slot++) {
            const double *slopes = step->slopes + model->slots[slot].block;
            double sum = term->coefficient * half_product(pass, term, v->w, slopes + size);
            for (int i = 0; i < size; i++) sum += x[i] * slopes[i];
            out->gradient[model->slots[slot].parameter] += sum;
        }
    }
}

/* By the noise, of the caller and of the kernel's white terms. */
static void differentiate_noise(const gram_markov_pass *pass, int64_t i, double d, const adjoint *v, sums *out)
{
    const gram_markov_model *model = pass->model;
    double sum = -0.5 * d;
    for (int j = 0; j < pass->events.columns; j++) sum += 0.5 * v->a[j] * v->a[j];
    const gram_markov_events *e = &pass->events;
    out->gradient[model->parameters] += e->weights ? sum / e->weights[e->order ? e->order[i] : i] : sum;
    for (int k = model->term_count; k < model->term_count + model->white_count; k++)
        out->coefficient[k] += sum * gram_markov_term_variance(model, &model->terms[k], pass->events.t[i]);
}

static void share_out(const gram_markov_model *model, const sums *out)
{
    for (int k = 0; k < model->term_count + model->white_count; k++)
        for (int p = 0; p < model->parameters; p++)
            if (model->terms[k].slope[p] != 0) out->gradient[p] += out->coefficient[k] * model->terms[k].slope[p];
}

/* ---- the whole way back ---- */

/* Mean and variance of f at place i, from the adjoint at the state before its observation. */
static void smooth(const gram_markov_pass *pass, int64_t i, record now, const adjoint *v, const gram_markov_results *o)
{
    const int s = pass->model->states, c = pass->events.columns;
    double removed = 0;
    for (int j = 0; j < c && o->mean; j++) {
        double sum = now.seen[j];
        for (int k = 0; k < s; k++) sum += now.g[k] * v->r[k * c + j];
        o->mean[i * c + j] = sum;
    }
    if (!o->variance) return;
    for (int k = 0; k < s; k++)
        for (int l = 0; l < s; l++) removed += now.g[k] * v->n[k * s + l] * now.g[l];
    const double left = now.spread[0] - removed;
    o->variance[i] = left > 0 ? left : 0;
}

/* Place i, from the adjoint after it to that after the place before. */
static void back(gram_markov_pass *pass, int64_t i, record before, record now, adjoint *v, const gram_markov_results *o,
                 sums *out)
{
    const gram_markov_events *e = &pass->events;
    const int c = e->columns, seen = e->noise[i] >= 0;
    double d = 0;
    if (seen) d = through_observation(pass, i, now, v);
    for (int j = 0; j < c && o->weights; j++) o->weights[i * c + j] = seen ? v->a[j] : 0;
    if (o->precision) o->precision[i] = d;
    if (seen && o->gradient) differentiate_noise(pass, i, d, v, out);
    smooth(pass, i, now, v, o);
    const double gap = i > 0 ? e->t[i] - e->t[i - 1] : 0;
    if (!(gap > 0)) return;
    const gram_markov_step *step = gram_markov_stepper_get(&pass->stepper, e->t[i - 1], gap);
    if (o->gradient) differentiate_step(pass, step, before, v, out);
    through_step(pass, step, v);
}

gram_status gram_markov_backward(gram_context *context, gram_markov_pass *pass, const gram_markov_results *results)
{
    gram_status status = GRAM_OK;
    const gram_markov_model *model = pass->model;
    const int64_t s = model->states, c = pass->events.columns, size = s * s + s * c;
    adjoint v = adjoint_of(pass);
    sums out = {.gradient = results->gradient};
    memset(v.r, 0, (size_t)(s * c) * sizeof(double));
    memset(v.n, 0, (size_t)(s * s) * sizeof(double));
    for (int p = 0; p <= model->parameters && out.gradient; p++) out.gradient[p] = 0;
    for (int64_t b = pass->blocks - 1; b >= 0; b--) {
        const int64_t count = block_length(pass, b);
        if (b % 64 == 0) TRY(check_cancel(context, pass));
        memcpy(record_at(pass, 0).l, pass->checkpoints + b * size, (size_t)size * sizeof(double));
        run_block(pass, b * BLOCK, count);
        for (int64_t i = count - 1; i >= 0; i--)
            back(pass, b * BLOCK + i, record_at(pass, i), record_at(pass, i + 1), &v, results, &out);
    }
    if (!results->gradient) goto done;
    make_w(pass, &v);
    for (int k = 0; k < model->term_count; k++)
        out.coefficient[k] +=
            half_product(pass, &model->terms[k], v.w, pass->start + model->blocks + model->terms[k].block);
    share_out(model, &out);
done:
    return status;
}

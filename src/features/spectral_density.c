/* The spectral measure of a stationary kernel along a line, by recursion over the expression.
 *
 * A measure is a list of atoms and of pieces. A piece is mass times a density in closed form of scale a (phi(a t)), moved to the
 * frequency `shift` and to minus that, half of its mass each: phi(a t) cos(shift t). Or it is a part of the kernel that is
 * transformed numerically. Products by cos(b t) cos(c t) = (cos((b + c) t) + cos((b - c) t))/2:
 *
 *     atoms and atoms, atoms and pieces   all pairs
 *     Gaussian pieces that are not moved  scales add in squares
 *     other pieces                        the whole product, numerically */
#include <gram/spectral_density.h>

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "features/spectral_piece.h"
#include "kernel/kernel.h"
#include "kernel/spectral/bessel_i.h"
#include "kernel/spectral/frequency_forms.h"

static const double PI = 3.14159265358979323846;

enum { MOST_PARTS = 20000, MOST_ORDERS = 2000 };

typedef struct measure {
    int64_t atoms, pieces, atom_room, piece_room;
    gram_atom *atom;
    gram_spectral_piece *piece;
} measure;

struct gram_spectral_density {
    gram_memory *memory;
    gram_arena arena;
    gram_kernel *kernel;
    measure all;
    gram_spectral_report report;
};

typedef struct finding {
    gram_context *context;
    gram_arena *arena;
} finding;

/* ---- lists ---- */

static gram_status grow(const finding *f, int64_t count, int64_t *room, size_t size, void **list)
{
    gram_status status = GRAM_OK;
    void *more = NULL;
    if (count < *room) return GRAM_OK;
    FAIL_IF(count >= MOST_PARTS, f->context, GRAM_ERROR_UNSUPPORTED,
            "spectral_density: the measure has more than %d parts", (int)MOST_PARTS);
    const int64_t next = *room > 0 ? 2 * *room : 16;
    TRY(gram_arena_take(f->context, f->arena, "spectral_density", next, size, &more));
    if (count > 0) memcpy(more, *list, (size_t)count * size);
    *list = more;
    *room = next;
done:
    return status;
}

static gram_status add_atom(const finding *f, measure *m, double frequency, double mass)
{
    gram_status status = GRAM_OK;
    if (mass == 0) return GRAM_OK;
    for (int64_t i = 0; i < m->atoms; i++)
        if (fabs(m->atom[i].frequency - frequency) <= 1e-12 * frequency) {
            m->atom[i].mass += mass;
            return GRAM_OK;
        }
    TRY(grow(f, m->atoms, &m->atom_room, sizeof *m->atom, (void **)&m->atom));
    m->atom[m->atoms++] = (gram_atom){frequency, mass};
done:
    return status;
}

static gram_status add_piece(const finding *f, measure *m, gram_spectral_piece p)
{
    gram_status status = GRAM_OK;
    if (p.mass == 0) return GRAM_OK;
    TRY(grow(f, m->pieces, &m->piece_room, sizeof *m->piece, (void **)&m->piece));
    m->piece[m->pieces++] = p;
done:
    return status;
}

/* ---- leaves ---- */

/* sqrt(sum_l (v_l/ell_l)^2), or sqrt(v'S^-1 v). */
static gram_status find_scale(const finding *f, const gram_kernel *leaf, int64_t d, const double *v, double *scale)
{
    gram_status status = GRAM_OK;
    const gram_argument *ell = gram_kernel_argument(leaf, GRAM_ROLE_LENGTH);
    const gram_argument *s = gram_kernel_argument(leaf, GRAM_ROLE_COVARIANCE);
    double *work = NULL;
    *scale = 0;
    if (!s) {
        for (int64_t l = 0; l < d; l++)
            *scale = hypot(*scale, v[l] / (!ell ? 1 : ell->values[ell->count == 1 ? 0 : l]));
        return GRAM_OK;
    }
    TRY(gram_arena_take(f->context, f->arena, "spectral_density", d * (d + 1), sizeof *work, (void **)&work));
    (void)gram_small_cholesky(d, s->values, work + d);
    for (int64_t i = 0; i < d; i++) {
        work[i] = v[i];
        for (int64_t j = 0; j < i; j++) work[i] -= work[d + i * d + j] * work[j];
        work[i] /= work[d + i * d + i];
        *scale = hypot(*scale, work[i]);
    }
done:
    return status;
}

/* Multiplies the measure by another one that has atoms only. */
static gram_status multiply_atoms(const finding *f, measure *m, const measure *by)
{
    gram_status status = GRAM_OK;
    measure out = {0};
    for (int64_t b = 0; b < by->atoms; b++) {
        const double w = by->atom[b].frequency, half = 0.5 * by->atom[b].mass;
        for (int64_t i = 0; i < m->atoms; i++) {
            TRY(add_atom(f, &out, m->atom[i].frequency + w, half * m->atom[i].mass));
            TRY(add_atom(f, &out, fabs(m->atom[i].frequency - w), half * m->atom[i].mass));
        }
        for (int64_t i = 0; i < m->pieces; i++)
            for (int sign = -1; sign <= 1; sign += 2) {
                gram_spectral_piece p = m->piece[i];
                p.shift = fabs(p.shift + sign * w);
                p.mass *= w == 0 ? (sign > 0 ? 2 * half : 0) : half;
                TRY(add_piece(f, &out, p));
            }
    }
    *m = out;
done:
    return status;
}

static gram_status add_all(const finding *f, measure *m, const measure *more)
{
    gram_status status = GRAM_OK;
    for (int64_t i = 0; i < more->atoms; i++) TRY(add_atom(f, m, more->atom[i].frequency, more->atom[i].mass));
    for (int64_t i = 0; i < more->pieces; i++) TRY(add_piece(f, m, more->piece[i]));
done:
    return status;
}

/* The product over coordinates of cosine or periodic. */
static gram_status add_lines(const finding *f, const gram_kernel *leaf, int64_t d, const double *v, measure *m)
{
    gram_status status = GRAM_OK;
    const int periodic = strcmp(leaf->type->name, "periodic") == 0;
    double par[GRAM_MAX_SPECS], *orders = NULL;
    measure all = {0};
    gram_kernel_par(leaf, par);
    const int64_t count = periodic ? MOST_ORDERS : 2;
    TRY(gram_arena_take(f->context, f->arena, "spectral_density", count, sizeof *orders, (void **)&orders));
    if (periodic)
        gram_bessel_i_scaled(count, 1 / (par[1] * par[1]), orders);
    else
        orders[1] = 0.5;
    FAIL_IF(periodic && orders[count - 1] > 1e-17, f->context, GRAM_ERROR_UNSUPPORTED,
            "spectral_density: periodic with so short an ell has more than %d atoms", (int)MOST_ORDERS);
    TRY(add_atom(f, &all, 0, 1));
    for (int64_t l = 0; l < d; l++) {
        measure one = {0};
        if (v[l] == 0) continue;
        for (int64_t j = 0; j < count; j++)
            if (orders[j] > 1e-17)
                TRY(add_atom(f, &one, 2 * PI / par[0] * (double)j * fabs(v[l]), (j > 0 ? 2 : 1) * orders[j]));
        TRY(multiply_atoms(f, &all, &one));
    }
    TRY(add_all(f, m, &all));
done:
    return status;
}

static gram_status add_numeric(const finding *f, const gram_kernel *kernel, int64_t d, const double *v, measure *m)
{
    return add_piece(f, m, (gram_spectral_piece){.kernel = kernel, .d = d, .direction = v, .mass = 1});
}

static gram_status add_sinc(const finding *f, const gram_kernel *leaf, int64_t d, const double *v, double bound,
                            measure *m)
{
    int64_t moving = 0, which = 0;
    for (int64_t l = 0; l < d; l++)
        if (v[l] != 0) moving++, which = l;
    const double height = pow(2 * bound, (double)d);
    if (moving == 0) return add_atom(f, m, 0, height);
    if (moving > 1) return add_numeric(f, leaf, d, v, m);
    return add_piece(
        f, m, (gram_spectral_piece){.form = gram_frequency_uniform, .scale = bound * fabs(v[which]), .mass = height});
}

static gram_status add_leaf(const finding *f, const gram_kernel *leaf, int64_t d, const double *v, measure *m)
{
    gram_status status = GRAM_OK;
    static const struct {
        const char *name;
        gram_frequency_form form;
    } FORMS[] = {{"rbf", gram_frequency_normal},     {"matern", gram_frequency_student},
                 {"laplace", gram_frequency_cauchy}, {"rq", gram_frequency_bessel},
                 {"imq", gram_frequency_bessel},     {"powexp", gram_frequency_stable},
                 {"laplace1", gram_frequency_cauchy}};
    const char *name = leaf->type->name;
    double par[GRAM_MAX_SPECS];
    gram_spectral_piece p = {.mass = 1};
    gram_kernel_par(leaf, par);
    if (strcmp(name, "const") == 0) return add_atom(f, m, 0, par[0]);
    if (strcmp(name, "cosine") == 0 || strcmp(name, "periodic") == 0) return add_lines(f, leaf, d, v, m);
    if (strcmp(name, "sinc") == 0) return add_sinc(f, leaf, d, v, par[0], m);
    if (strcmp(name, "wendland") == 0) return add_numeric(f, leaf, d, v, m);
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++)
        if (strcmp(name, FORMS[i].name) == 0) p.form = FORMS[i].form;
    FAIL_IF(!p.form, f->context, GRAM_ERROR_UNSUPPORTED,
            "spectral_density: %s is not stationary, or its frequencies are not known", name);
    TRY(find_scale(f, leaf, d, v, &p.scale));
    p.shape = par[0];
    if (strcmp(name, "rq") == 0) p.scale /= sqrt(2 * par[0]);
    if (strcmp(name, "imq") == 0) {
        p.shape = par[1];
        p.scale /= par[0];
        p.mass = pow(par[0], -2 * par[1]);
    }
    if (strcmp(name, "laplace1") == 0) {
        const gram_argument *ell = gram_kernel_argument(leaf, GRAM_ROLE_LENGTH);
        p.scale = 0;
        for (int64_t l = 0; l < d; l++) p.scale += fabs(v[l]) / ell->values[ell->count == 1 ? 0 : l];
    }
    TRY(p.scale > 0 ? add_piece(f, m, p) : add_atom(f, m, 0, p.mass));
done:
    return status;
}

/* ---- the tree ---- */

static gram_status add_kernel(const finding *f, const gram_kernel *k, int64_t d, const double *v, measure *m);

static int is_plain_normal(const measure *m)
{
    return m->atoms == 0 && m->pieces == 1 && m->piece[0].form == gram_frequency_normal && m->piece[0].shift == 0;
}

static int has_numeric(const measure *m)
{
    for (int64_t i = 0; i < m->pieces; i++)
        if (!m->piece[i].form) return 1;
    return 0;
}

/* m times one more factor; 0 in `closed`: that is not known. */
static gram_status multiply(const finding *f, measure *m, const measure *by, int *closed)
{
    gram_status status = GRAM_OK;
    measure other = *by;
    if (has_numeric(m) || has_numeric(by)) {
        *closed = 0;
    } else if (by->pieces == 0) {
        TRY(multiply_atoms(f, m, by));
    } else if (m->pieces == 0) {
        TRY(multiply_atoms(f, &other, m));
        *m = other;
    } else if (is_plain_normal(m) && is_plain_normal(by)) {
        m->piece[0].scale = hypot(m->piece[0].scale, by->piece[0].scale);
        m->piece[0].mass *= by->piece[0].mass;
    } else {
        *closed = 0;
    }
done:
    return status;
}

static gram_status add_product(const finding *f, const gram_kernel *k, int64_t d, const double *v, measure *m)
{
    gram_status status = GRAM_OK;
    const int count = k->node == GRAM_NODE_POWER ? k->exponent : k->child_count;
    measure all = {0};
    int closed = 1;
    TRY(add_atom(f, &all, 0, 1));
    for (int i = 0; i < count; i++) {
        measure one = {0};
        TRY(add_kernel(f, k->children[k->node == GRAM_NODE_POWER ? 0 : i], d, v, &one));
        if (closed) TRY(multiply(f, &all, &one, &closed));
    }
    if (!closed) return add_numeric(f, k, d, v, m);
    TRY(add_all(f, m, &all));
done:
    return status;
}

static gram_status add_view(const finding *f, const gram_kernel *k, int64_t d, const double *v, measure *m)
{
    gram_status status = GRAM_OK;
    const int64_t inside = k->node == GRAM_NODE_ON ? k->column_count : k->matrix_rows;
    double *seen = NULL;
    TRY(gram_arena_take(f->context, f->arena, "spectral_density", inside, sizeof *seen, (void **)&seen));
    for (int64_t i = 0; i < inside; i++) {
        if (k->node == GRAM_NODE_ON) seen[i] = v[k->columns[i]];
        for (int64_t l = 0; k->node == GRAM_NODE_WARP && l < d; l++)
            seen[i] += k->matrix[i * k->matrix_columns + l] * v[l];
    }
    TRY(add_kernel(f, k->children[0], inside, seen, m));
done:
    return status;
}

static gram_status add_kernel(const finding *f, const gram_kernel *k, int64_t d, const double *v, measure *m)
{
    gram_status status = GRAM_OK;
    switch (k->node) {
    case GRAM_NODE_LEAF: return add_leaf(f, k, d, v, m);
    case GRAM_NODE_SUM:
        for (int i = 0; i < k->child_count; i++) TRY(add_kernel(f, k->children[i], d, v, m));
        return GRAM_OK;
    case GRAM_NODE_PRODUCT:
    case GRAM_NODE_POWER: return add_product(f, k, d, v, m);
    case GRAM_NODE_ON:
    case GRAM_NODE_WARP: return add_view(f, k, d, v, m);
    default:
        FAIL(f->context, GRAM_ERROR_UNSUPPORTED, "spectral_density: the frequencies of %s are not known",
             k->node == GRAM_NODE_EXP         ? "exp"
             : k->node == GRAM_NODE_NORMALIZE ? "normalize"
             : k->node == GRAM_NODE_SCALE     ? "scale"
             : k->node == GRAM_NODE_MEAN      ? "mean"
             : k->node == GRAM_NODE_AFTER     ? "after"
                                              : "centre");
    }
done:
    return status;
}

/* ---- the object ---- */

/* Where the density of a piece has fallen to 1/1000 of the one near 0. */
static double reach_of(const gram_spectral_piece *p)
{
    if (!p->form) return 40 / p->end + p->shift;
    const double near = p->form(p->shape, 0.01);
    double w = 1;
    while (w < 20 && p->form(p->shape, w) > 1e-3 * near) w *= 1.1;
    return p->shift + p->scale * w;
}

static gram_status finish(gram_context *context, gram_spectral_density *made)
{
    gram_status status = GRAM_OK;
    gram_spectral_report *report = &made->report;
    measure *all = &made->all;
    *report = (gram_spectral_report){.size = sizeof *report, .atoms = all->atoms, .atom = all->atom};
    for (int64_t i = 1; i < all->atoms; i++) { /* by frequency */
        const gram_atom one = all->atom[i];
        int64_t j = i;
        for (; j > 0 && all->atom[j - 1].frequency > one.frequency; j--) all->atom[j] = all->atom[j - 1];
        all->atom[j] = one;
    }
    for (int64_t i = 0; i < all->atoms; i++) {
        report->atom_mass += all->atom[i].mass;
        if (all->atom[i].mass > 1e-3) report->reach = fmax(report->reach, 1.2 * all->atom[i].frequency);
    }
    report->height = report->atom_mass;
    for (int64_t i = 0; i < all->pieces; i++) {
        gram_spectral_piece *p = &all->piece[i];
        if (!p->form) {
            TRY(gram_spectral_find_end(context, p));
            report->numeric = 1;
        }
        report->height += p->mass;
        report->reach = fmax(report->reach, reach_of(p));
    }
    if (report->reach == 0) report->reach = 1;
done:
    return status;
}

gram_status gram_spectral_density_create(gram_context *context, gram_kernel *kernel, int64_t d, const double *direction,
                                         gram_spectral_density **density)
{
    gram_status status = GRAM_OK;
    gram_spectral_density *made = NULL;
    double *v = NULL, size = 0;
    if (!context || !density) return GRAM_ERROR_ARGUMENT;
    *density = NULL;
    FAIL_IF(!kernel, context, GRAM_ERROR_ARGUMENT, "spectral_density: kernel is NULL");
    FAIL_IF(d < 1, context, GRAM_ERROR_ARGUMENT, "spectral_density: d = %" PRId64 " is not above 0", d);
    TRY(gram_kernel_check_set(context, kernel));
    TRY(gram_kernel_check_dimension(context, kernel, d));
    TRY(gram_take(context, "spectral_density", 1, sizeof *made, (void **)&made));
    *made =
        (gram_spectral_density){.memory = gram_memory_retain(context->memory), .kernel = gram_kernel_retain(kernel)};
    gram_arena_init(&made->arena, made->memory);
    TRY(gram_arena_take(context, &made->arena, "spectral_density", d, sizeof *v, (void **)&v));
    for (int64_t l = 0; l < d; l++) {
        v[l] = direction ? direction[l] : l == 0;
        size = hypot(size, v[l]);
    }
    FAIL_IF(!(size > 0) || isinf(size), context, GRAM_ERROR_ARGUMENT,
            "spectral_density: the direction is 0 or not finite");
    TRY(add_kernel(&(finding){context, &made->arena}, kernel, d, v, &made->all));
    TRY(finish(context, made));
    *density = made;
    made = NULL;
done:
    gram_spectral_density_destroy(made);
    return status;
}

void gram_spectral_density_destroy(gram_spectral_density *density)
{
    if (!density) return;
    gram_memory *memory = density->memory;
    gram_kernel_release(density->kernel);
    gram_arena_release(&density->arena);
    gram_memory_give(memory, density);
    gram_memory_release(memory);
}

const gram_spectral_report *gram_spectral_density_get_report(const gram_spectral_density *density)
{
    return &density->report;
}

gram_status gram_spectral_density_values(gram_context *context, const gram_spectral_density *density, int64_t n,
                                         const double *w, double *out)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!density || !w || !out || n < 1, context, GRAM_ERROR_ARGUMENT,
            "spectral_density_values: density, w or out is NULL, or n = %" PRId64 " is not above 0", n);
    for (int64_t i = 0; i < n; i++) {
        FAIL_IF(!isfinite(w[i]), context, GRAM_ERROR_ARGUMENT, "spectral_density_values: w[%" PRId64 "] is not finite",
                i);
        out[i] = 0;
        for (int64_t j = 0; j < density->all.pieces; j++) {
            const gram_spectral_piece *p = &density->all.piece[j];
            for (int sign = -1; sign <= 1 && p->form; sign += 2)
                out[i] += 0.5 * p->mass / p->scale * p->form(p->shape, fabs(w[i] + sign * p->shift) / p->scale);
        }
    }
    for (int64_t j = 0; j < density->all.pieces; j++)
        if (!density->all.piece[j].form) TRY(gram_spectral_transform(context, &density->all.piece[j], n, w, out));
done:
    return status;
}

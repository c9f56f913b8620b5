/* The features of a row from the nodes of a kernel, and what they leave of k(x, x). */
#include <math.h>
#include <string.h>

#include "features/explicit_nodes.h"

/* What a series needs: tables of u_l^n/sqrt(n!), with exp(-u_l^2/2) or without, and the products of those of n = 0 from l on. */
typedef struct monomial_walk {
    const gram_feature_node *node;
    const double *table, *rest;
    double *out;
} monomial_walk;

/* All monomials in the variables from `from` on that add to `used`, each multiplied by `product`. */
static void walk(monomial_walk *w, int64_t from, int64_t used, double product)
{
    const gram_feature_node *node = w->node;
    const int64_t degree = node->degree;
    if (node->roots[used] >= 0) *w->out++ = product * w->rest[from] * node->roots[used];
    if (used == degree) return;
    for (int64_t l = from; l < node->variables; l++) {
        const double *powers = w->table + l * (degree + 1);
        for (int64_t n = 1; n <= degree - used; n++) walk(w, l + 1, used + n, product * powers[n]);
        product *= powers[0];
    }
}

/* exp(-u^2/2) u^n/sqrt(n!), from its largest value on in both directions: the ends may underflow, nothing overflows. */
static void fill_gaussian(int64_t degree, double u, double *powers)
{
    const double size = fabs(u), mode = floor(size * size);
    const int64_t top = mode < (double)degree ? (int64_t)mode : degree;
    powers[top] = exp((top > 0 ? (double)top * log(size) : 0) - 0.5 * size * size - 0.5 * lgamma((double)top + 1));
    for (int64_t n = top; n < degree; n++) powers[n + 1] = powers[n] * size / sqrt((double)n + 1);
    for (int64_t n = top; n > 0; n--) powers[n - 1] = powers[n] * sqrt((double)n) / size;
    for (int64_t n = 1; n <= degree && u < 0; n += 2) powers[n] = -powers[n];
}

static void put_series(const gram_feature_node *node, const double *u, double *out, double *scratch)
{
    const int64_t m = node->variables, degree = node->degree;
    double *table = scratch, *rest = table + m * (degree + 1);
    for (int64_t l = 0; l < m; l++) {
        double *powers = table + l * (degree + 1);
        powers[0] = 1;
        if (node->gaussian)
            fill_gaussian(degree, u[l], powers);
        else
            for (int64_t n = 0; n < degree; n++) powers[n + 1] = powers[n] * u[l] / sqrt((double)n + 1);
    }
    rest[m] = 1;
    for (int64_t l = m - 1; l >= 0; l--) rest[l] = rest[l + 1] * table[l * (degree + 1)];
    monomial_walk w = {node, table, rest, out};
    walk(&w, 0, 0, 1);
}

/* u of a leaf: x times the scale; of rbf (x - c) in its metric. */
static void make_variables(const gram_feature_node *node, const double *x, const double *centre, double *u)
{
    const int shifted = strcmp(node->kernel->type->name, "rbf") == 0;
    for (int64_t l = 0; l < node->d; l++) {
        u[l] = x[l] - (shifted ? centre[l] : 0);
        if (node->full) { /* L u = x - c */
            for (int64_t j = 0; j < l; j++) u[l] -= node->metric[l * node->d + j] * u[j];
            u[l] /= node->metric[l * node->d + l];
        } else {
            u[l] *= node->metric ? node->metric[l] : node->scale;
        }
    }
}

/* What the child of an `on` or a warp sees. */
static void see(const gram_kernel *kernel, int64_t d, const double *x, double *out)
{
    const int64_t inside = kernel->node == GRAM_NODE_ON ? kernel->column_count : kernel->matrix_rows;
    for (int64_t i = 0; i < inside; i++) {
        out[i] = kernel->node == GRAM_NODE_ON ? x[kernel->columns[i]] : 0;
        for (int64_t l = 0; kernel->node == GRAM_NODE_WARP && l < d; l++)
            out[i] += kernel->matrix[i * kernel->matrix_columns + l] * x[l];
    }
}

static double factor_of(const gram_feature_node *node, const double *x)
{
    return node->kernel->external->factor(node->kernel->external->user, node->d, x);
}

static void put_product(const gram_feature_node *node, const double *x, const double *centre, double *out,
                        double *scratch)
{
    const int64_t room = (int64_t)node->dimension;
    double *before = scratch, *next = scratch + room;
    int64_t count = 1;
    out[0] = 1;
    for (int i = 0; i < node->kernel->child_count; i++) {
        const int64_t more = (int64_t)node->children[i]->dimension;
        memcpy(before, out, (size_t)count * sizeof *out);
        gram_explicit_put(node->children[i], x, centre, next, scratch + 2 * room);
        for (int64_t a = 0; a < count; a++)
            for (int64_t b = 0; b < more; b++) out[a * more + b] = before[a] * next[b];
        count *= more;
    }
}

static void put_scaled(const gram_feature_node *node, const double *x, const double *centre, double *out,
                       double *scratch)
{
    const int64_t count = (int64_t)node->dimension;
    double factor;
    if (node->kernel->node == GRAM_NODE_NORMALIZE) {
        const gram_explicit_parts all = gram_explicit_diagonal(node->children[0], x, centre, scratch);
        factor = all.kept + all.left > 0 ? 1 / sqrt(all.kept + all.left) : 0;
    } else {
        factor = factor_of(node, x);
    }
    gram_explicit_put(node->children[0], x, centre, out, scratch);
    for (int64_t j = 0; j < count; j++) out[j] *= factor;
}

void gram_explicit_put(const gram_feature_node *node, const double *x, const double *centre, double *out,
                       double *scratch)
{
    const gram_kernel *kernel = node->kernel;
    switch (kernel->node) {
    case GRAM_NODE_LEAF:
        make_variables(node, x, centre, scratch);
        put_series(node, scratch, out, scratch + node->d);
        return;
    case GRAM_NODE_POWER:
    case GRAM_NODE_EXP:
        gram_explicit_put(node->children[0], x, centre, scratch, scratch + node->variables);
        put_series(node, scratch, out, scratch + node->variables);
        return;
    case GRAM_NODE_SUM:
        for (int i = 0; i < kernel->child_count; i++) {
            gram_explicit_put(node->children[i], x, centre, out, scratch);
            out += (int64_t)node->children[i]->dimension;
        }
        return;
    case GRAM_NODE_PRODUCT: put_product(node, x, centre, out, scratch); return;
    case GRAM_NODE_ON:
    case GRAM_NODE_WARP: {
        const int64_t inside = node->children[0]->d;
        see(kernel, node->d, x, scratch);
        see(kernel, node->d, centre, scratch + inside);
        gram_explicit_put(node->children[0], scratch, scratch + inside, out, scratch + 2 * inside);
        return;
    }
    default: put_scaled(node, x, centre, out, scratch); return;
    }
}

/* ---- what is left ---- */

/* P(X > N) for X Poisson of mean t: the terms above N, or 1 less those below, from the largest on. */
static double poisson_tail(int64_t degree, double t)
{
    const double first = (double)degree + 1;
    double sum = 0, term;
    if (t <= 0) return 0;
    if (t < first) {
        term = exp(first * log(t) - t - lgamma(first + 1));
        for (double i = first; term > 1e-17 * sum; i++) sum += term, term *= t / (i + 1);
        return sum;
    }
    term = exp((first - 1) * log(t) - t - lgamma(first));
    for (double i = first - 1; i >= 0 && term > 1e-17 * sum; i--) sum += term, term *= i / t;
    return sum < 1 ? 1 - sum : 0;
}

/* Of a series in u.v at (h, e), the parts of |u|^2; roots[i]^2/i! are its coefficients. */
static gram_explicit_parts series_diagonal(const gram_feature_node *node, gram_explicit_parts t, int endless)
{
    gram_explicit_parts out = {0, 0};
    if (endless) {
        const double whole = node->gaussian ? 1 : exp(t.kept), tail = poisson_tail(node->degree, t.kept);
        out.kept = whole * (1 - tail);
        out.left = whole * tail + (t.left > 0 ? whole * expm1(t.left) : 0);
        return out;
    }
    double power = 1, more = 0; /* h^i/i! and ((h + e)^i - h^i)/i! */
    for (int64_t i = 0; i <= node->degree; i++) {
        const double c = node->roots[i] > 0 ? node->roots[i] * node->roots[i] : 0;
        out.kept += c * power;
        out.left += c * more;
        more = (more * t.kept + (more + power) * t.left) / (double)(i + 1);
        power *= t.kept / (double)(i + 1);
    }
    return out;
}

static gram_explicit_parts leaf_diagonal(const gram_feature_node *node, const double *x, const double *centre,
                                         double *scratch)
{
    const char *name = node->kernel->type->name;
    const int endless = strcmp(name, "expdot") == 0 || strcmp(name, "intpow") == 0 || strcmp(name, "rbf") == 0;
    gram_explicit_parts t = {0, 0};
    make_variables(node, x, centre, scratch);
    for (int64_t l = 0; l < node->variables; l++) t.kept += scratch[l] * scratch[l];
    return series_diagonal(node, t, endless);
}

gram_explicit_parts gram_explicit_diagonal(const gram_feature_node *node, const double *x, const double *centre,
                                           double *scratch)
{
    const gram_kernel *kernel = node->kernel;
    gram_explicit_parts out = {kernel->node == GRAM_NODE_PRODUCT ? 1 : 0, 0}, one;
    switch (kernel->node) {
    case GRAM_NODE_LEAF: return leaf_diagonal(node, x, centre, scratch);
    case GRAM_NODE_POWER:
    case GRAM_NODE_EXP:
        one = gram_explicit_diagonal(node->children[0], x, centre, scratch);
        return series_diagonal(node, one, kernel->node == GRAM_NODE_EXP);
    case GRAM_NODE_SUM:
    case GRAM_NODE_PRODUCT:
        for (int i = 0; i < kernel->child_count; i++) {
            one = gram_explicit_diagonal(node->children[i], x, centre, scratch);
            if (kernel->node == GRAM_NODE_SUM)
                out = (gram_explicit_parts){out.kept + one.kept, out.left + one.left};
            else
                out =
                    (gram_explicit_parts){out.kept * one.kept, out.left * (one.kept + one.left) + out.kept * one.left};
        }
        return out;
    case GRAM_NODE_ON:
    case GRAM_NODE_WARP: {
        const int64_t inside = node->children[0]->d;
        see(kernel, node->d, x, scratch);
        see(kernel, node->d, centre, scratch + inside);
        return gram_explicit_diagonal(node->children[0], scratch, scratch + inside, scratch + 2 * inside);
    }
    default: {
        one = gram_explicit_diagonal(node->children[0], x, centre, scratch);
        const double all = one.kept + one.left;
        const double factor =
            kernel->node == GRAM_NODE_NORMALIZE ? (all > 0 ? 1 / all : 0) : factor_of(node, x) * factor_of(node, x);
        return (gram_explicit_parts){factor * one.kept, factor * one.left};
    }
    }
}

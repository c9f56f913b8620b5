/* Integrals over boxes and against normal distributions.
 *
 * Closed forms. For rbf an entry is a product over coordinates, each a function of t = x - y of the two centres. A normal
 * distribution of variance s^2 on either side only makes the kernel wider,
 *
 *     E exp(-(t + sX)^2/(2 ell^2)) = ell/c exp(-t^2/(2 c^2)),   c^2 = ell^2 + s^2,
 *
 * and the mean over a box of half-side h is a difference of antiderivatives: with g = exp(-t^2/(2 c^2)),
 *
 *     G = c sqrt(pi/2) erf(t/(sqrt2 c)),  H = t G + c^2 g,  H' = G, G' = g:
 *     one box   (G(t + h) - G(t - h))/(2 h)
 *     two       (H(t + h + h') - H(t + h - h') - H(t - h + h') + H(t - h - h'))/(4 h h').
 *
 * Boxes that are small beside c would cancel: there a rule of twelve nodes is exact to rounding. Derivatives on the other side
 * are those of g and G. Coordinates that a leaf does not see give 1, because atoms are means.
 *
 * Rules. For any other kernel an integral is a sum of values. On boxes Gauss and Legendre's rule of eight nodes on pieces no longer
 * than the shortest length-scale, which leaves 1e-16 of a smooth kernel. Of normal distributions equal steps up to eight and a half
 * deviations: of analytic functions their error is exp(-2 pi^2 c^2/step^2), c the width of the integrand. Kernels with finitely
 * many derivatives get shorter steps, and what is left is a power of them. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tile/functional/functional_engine.h"

enum { NODES = 8, ROUGH_PIECES = 6, SMALL_NODES = 12, MOST_NODES = 1 << 16, MOST_COLUMNS = 64 };

static const double PI = 0x1.921fb54442d18p1;

/* ---- Gauss and Legendre ---- */

/* Nodes on [-1, 1] and weights of sum 1, by Newton's method from cos(pi (i + 3/4)/(m + 1/2)). */
static void legendre_rule(int m, double *nodes, double *weights)
{
    for (int i = 0; i < m; i++) {
        double x = cos(PI * (i + 0.75) / (m + 0.5)), slope = 1;
        for (int step = 0; step < 8; step++) {
            double below = 1, p = x;
            for (int j = 2; j <= m; j++) {
                const double next = ((2 * j - 1) * x * p - (j - 1) * below) / j;
                below = p;
                p = next;
            }
            slope = m * (x * p - below) / (x * x - 1);
            x -= p / slope;
        }
        nodes[i] = x;
        weights[i] = 1 / ((1 - x * x) * slope * slope);
    }
}

/* ---- closed forms ---- */

static int disjoint(const gram_kernel *a, const gram_kernel *b)
{
    if (a->node != GRAM_NODE_ON || b->node != GRAM_NODE_ON) return 0;
    for (int64_t i = 0; i < a->column_count; i++)
        for (int64_t j = 0; j < b->column_count; j++)
            if (a->columns[i] == b->columns[j]) return 0;
    return 1;
}

static int is_constant(const gram_kernel *kernel)
{
    return kernel->node == GRAM_NODE_LEAF && kernel->type->form == GRAM_FORM_NONE;
}

/* Of a product all factors but one are constants, or they see different columns. */
static int factors_apart(const gram_kernel *product)
{
    for (int i = 0; i < product->child_count; i++)
        for (int j = 0; j < i; j++) {
            const gram_kernel *a = product->children[i], *b = product->children[j];
            if (!is_constant(a) && !is_constant(b) && !disjoint(a, b)) return 0;
        }
    return 1;
}

int gram_integrals_are_closed(const gram_kernel *kernel)
{
    if (kernel->node == GRAM_NODE_LEAF)
        return is_constant(kernel) ||
               (strcmp(kernel->type->name, "rbf") == 0 && !gram_kernel_argument(kernel, GRAM_ROLE_COVARIANCE));
    if (kernel->node != GRAM_NODE_SUM && kernel->node != GRAM_NODE_PRODUCT && kernel->node != GRAM_NODE_ON) return 0;
    if (kernel->node == GRAM_NODE_PRODUCT && !factors_apart(kernel)) return 0;
    for (int i = 0; i < kernel->child_count; i++)
        if (!gram_integrals_are_closed(kernel->children[i])) return 0;
    return 1;
}

/* The derivative of order q <= 2 of g, and its antiderivative for q = -1. */
static double gaussian(int q, double c, double t)
{
    const double u = t / c, g = exp(-0.5 * u * u);
    switch (q) {
    case -1: return c * sqrt(0.5 * PI) * erf(u * sqrt(0.5));
    case 0: return g;
    case 1: return -u / c * g;
    default: return (u * u - 1) / (c * c) * g;
    }
}

static double second_antiderivative(double c, double t)
{
    return t * gaussian(-1, c, t) + c * c * gaussian(0, c, t);
}

/* G(b) - G(a), from the tails where both are on one side */
static double between(double c, double a, double b)
{
    const double root = sqrt(0.5) / c;
    if (a > 0) return c * sqrt(0.5 * PI) * (erfc(a * root) - erfc(b * root));
    if (b < 0) return c * sqrt(0.5 * PI) * (erfc(-b * root) - erfc(-a * root));
    return gaussian(-1, c, b) - gaussian(-1, c, a);
}

typedef struct small_rule {
    double nodes[SMALL_NODES], weights[SMALL_NODES];
} small_rule;

/* The mean of g's derivative of order q over one box. */
static double one_box(const small_rule *rule, int q, double c, double t, double h)
{
    double sum = 0;
    if (h == 0) return gaussian(q, c, t);
    if (h >= c)
        return (q > 0 ? gaussian(q - 1, c, t + h) - gaussian(q - 1, c, t - h) : between(c, t - h, t + h)) / (2 * h);
    for (int i = 0; i < SMALL_NODES; i++) sum += rule->weights[i] * gaussian(q, c, t + h * rule->nodes[i]);
    return sum;
}

static double two_boxes(const small_rule *rule, int q, double c, double t, double a, double b)
{
    const double less = fmin(a, b), more = fmax(a, b);
    double sum = 0;
    if (less == 0) return one_box(rule, q, c, t, more);
    if (less >= c)
        return (second_antiderivative(c, t + a + b) - second_antiderivative(c, t + a - b) -
                second_antiderivative(c, t - a + b) + second_antiderivative(c, t - a - b)) /
               (4 * a * b);
    for (int i = 0; i < SMALL_NODES; i++)
        sum += rule->weights[i] * one_box(rule, q, c, t + less * rule->nodes[i], more);
    return sum;
}

/* What a pair has in one coordinate: places, half-sides and deviations of the row and of the columns. */
typedef struct coordinate {
    const double *x[3], *y[3];
} coordinate;

/* f^(i, j) of one coordinate for all lanes, i derivatives by x and j by y. Directions of derivatives are no sides. */
static void closed_factor(const gram_atom_pair *pair, const small_rule *rule, double inverse_square, int i, int j,
                          const coordinate *at, double *out)
{
    const double ell = 1 / sqrt(inverse_square);
    const int mean_x = pair->x->kind == GRAM_ATOM_MEAN, mean_y = pair->y->kind == GRAM_ATOM_MEAN;
    for (int lane = 0; lane < pair->lanes; lane++) {
        const double s = hypot(mean_x ? at->x[2][0] : 0, mean_y ? at->y[2][lane] : 0), c = hypot(ell, s);
        out[lane] = (j % 2 ? -1 : 1) * ell / c *
                    two_boxes(rule, i + j, c, at->x[0][0] - at->y[0][lane], mean_x ? at->x[1][0] : 0,
                              mean_y ? at->y[1][lane] : 0);
    }
}

static int size_of(int set)
{
    int count = 0;
    for (; set; set &= set - 1) count++;
    return count;
}

/* out *= the factor of coordinate l, both with their nilpotent parts; only one side has any */
static void multiply_factor(const gram_atom_pair *pair, const small_rule *rule, const gram_program_node *leaf,
                            int64_t l, double *out)
{
    const gram_engine *engine = pair->engine;
    const struct gram_functional_engine *f = engine->functionals;
    const gram_form_entry *form = &engine->forms[leaf->form];
    const int metric = form->metric, parts = 1 << pair->bits, by_y = pair->by_y > 0;
    coordinate at;
    for (int part = 0; part < 3; part++) {
        at.x[part] = gram_atoms_at(engine, &f->rows, metric, pair->row_chunk, part) + l * GRAM_PANEL + pair->row_lane;
        at.y[part] = gram_atoms_at(engine, f->y, metric, pair->column_chunk, part) + l * GRAM_PANEL;
    }
    const double square = leaf->shape.scale * (form->weights_f64 ? form->weights_f64[l] : 1);
    for (int set = 0; set < parts; set++) {
        double *factor = pair->factor + set * GRAM_PANEL;
        const int taken = size_of(set);
        closed_factor(pair, rule, square, by_y ? 0 : taken, by_y ? taken : 0, &at, factor);
        for (int bit = 0; bit < pair->bits; bit++)
            for (int j = 0; set & 1 << bit && j < pair->lanes; j++)
                factor[j] *= by_y ? at.y[1 + bit][j] : at.x[1 + bit][0];
    }
    gram_jet_multiply(pair, pair->factor, 1, out);
}

void gram_integrals_jet(const gram_atom_pair *pair, const gram_program_node *leaf, double *out)
{
    small_rule rule;
    const int64_t d = pair->engine->metrics[pair->engine->forms[leaf->form].metric].mapping.d;
    legendre_rule(SMALL_NODES, rule.nodes, rule.weights);
    memset(out, 0, ((size_t)GRAM_PANEL << pair->bits) * sizeof *out);
    for (int j = 0; j < pair->lanes; j++) out[j] = 1;
    for (int64_t l = 0; l < d; l++) multiply_factor(pair, &rule, leaf, l, out);
}

/* ---- rules ---- */

/* The number of a leaf by which its values change much, at the least. */
static double leaf_length(const gram_kernel *leaf)
{
    double par[GRAM_MAX_SPECS], least = INFINITY;
    const gram_argument *length = gram_kernel_argument(leaf, GRAM_ROLE_LENGTH);
    const gram_argument *covariance = gram_kernel_argument(leaf, GRAM_ROLE_COVARIANCE);
    for (int64_t i = 0; length && i < length->count; i++) least = fmin(least, length->values[i]);
    for (int64_t i = 0; covariance && i < covariance->rows; i++)
        least = fmin(least, 0.3 * sqrt(covariance->values[i * covariance->rows + i]));
    if (length || covariance) return least;
    gram_kernel_par(leaf, par);
    const char *name = leaf->type->name;
    if (strcmp(name, "periodic") == 0) return par[0] * fmin(1, par[1]) / 6;
    if (strcmp(name, "cosine") == 0) return par[0] / 6;
    if (strcmp(name, "sinc") == 0) return 1 / par[0];
    if (strcmp(name, "imq") == 0 || strcmp(name, "expdot") == 0) return par[0];
    return INFINITY;
}

/* The shortest length-scale of all leaves; what is warped is as much shorter as the warp is long. */
static double shortest_length(const gram_kernel *kernel)
{
    double least = INFINITY, most = 0;
    if (kernel->node == GRAM_NODE_LEAF) return leaf_length(kernel);
    for (int i = 0; i < kernel->child_count; i++) least = fmin(least, shortest_length(kernel->children[i]));
    for (int64_t i = 0; kernel->node == GRAM_NODE_WARP && i < kernel->matrix_rows; i++) {
        double row = 0;
        for (int64_t j = 0; j < kernel->matrix_columns; j++)
            row += fabs(kernel->matrix[i * kernel->matrix_columns + j]);
        most = fmax(most, row);
    }
    return kernel->node == GRAM_NODE_WARP && most > 0 ? least / most : least;
}

/* The rule of one column: nodes as offsets from the centre, weights of sum 1. */
typedef struct column_rule {
    int64_t count;
    double *nodes, *weights;
} column_rule;

typedef struct expansion {
    gram_context *context;
    const gram_points *x;
    int closed;
    double length;
    int smooth; /* the kernel has all derivatives */
    column_rule *columns;
    double *numbers; /* of all columns' rules: 2 * MOST_NODES a column */
    gram_points *out;
    int64_t at;
} expansion;

/* The mean over a side: pieces of the shortest length. */
static void legendre_nodes(const expansion *e, double half_side, column_rule *rule)
{
    const double wanted = fmax(e->smooth ? 1 : ROUGH_PIECES, ceil(2 * half_side / e->length));
    double nodes[NODES], weights[NODES];
    rule->count = wanted * NODES < MOST_NODES ? (int64_t)wanted * NODES : MOST_NODES;
    if (rule->count >= MOST_NODES) return;
    legendre_rule(NODES, nodes, weights);
    for (int64_t i = 0; i < rule->count; i++) {
        const double half = half_side / wanted, centre = -half_side + half * (double)(2 * (i / NODES) + 1);
        rule->nodes[i] = centre + half * nodes[i % NODES];
        rule->weights[i] = weights[i % NODES] / wanted;
    }
}

/* The mean over a normal distribution: equal steps. */
static void normal_nodes(const expansion *e, double deviation, column_rule *rule)
{
    const double reach = 8.5, step = (e->smooth ? 0.45 : 0.1) * fmin(e->length / deviation, 1);
    const double wanted = 2 * ceil(reach / step) + 1;
    double sum = 0;
    rule->count = wanted < MOST_NODES ? (int64_t)wanted : MOST_NODES;
    if (rule->count >= MOST_NODES) return;
    for (int64_t i = 0; i < rule->count; i++) {
        const double u = step * (double)(i - rule->count / 2);
        rule->nodes[i] = deviation * u;
        rule->weights[i] = exp(-0.5 * u * u);
        sum += rule->weights[i];
    }
    for (int64_t i = 0; i < rule->count; i++) rule->weights[i] /= sum;
}

/* A rule that would be too long is only counted. */
static int64_t make_rule(const expansion *e, double half_side, double deviation, column_rule *rule)
{
    rule->count = 1;
    rule->nodes[0] = 0;
    rule->weights[0] = 1;
    if (half_side > 0) legendre_nodes(e, half_side, rule);
    if (deviation > 0) normal_nodes(e, deviation, rule);
    return rule->count;
}

/* Is the atom kept as it is? */
static int stays(const expansion *e, int64_t atom)
{
    return e->closed || e->x->functionals->kind[atom] <= GRAM_ATOM_SECOND;
}

/* The rules of all columns of an atom, and how many nodes they have together. */
static gram_status plan_atom(expansion *e, int64_t row, int64_t atom, int64_t *count)
{
    gram_status status = GRAM_OK;
    const gram_functionals *u = e->x->functionals;
    const int64_t d = e->x->d;
    double product = 1;
    *count = 1;
    if (stays(e, atom)) goto done;
    for (int64_t l = 0; l < d; l++)
        product *= (double)make_rule(e, u->v[atom * d + l], u->w[atom * d + l], &e->columns[l]);
    FAIL_IF(product >= MOST_NODES, e->context, GRAM_ERROR_UNSUPPORTED,
            "functionals: the integral of row %" PRId64
            " takes %.3g values of this kernel, more than %d; only sums of rbf, and "
            "products over different columns, have closed forms",
            row, product, (int)MOST_NODES);
    *count = (int64_t)product;
done:
    return status;
}

static void put_nodes(expansion *e, int64_t atom, int64_t count)
{
    const gram_functionals *u = e->x->functionals;
    gram_functionals *out = e->out->functionals;
    const int64_t d = e->x->d;
    for (int64_t node = 0; node < count; node++, e->at++) {
        int64_t rest = node;
        gram_functionals_copy_atom(e->x, atom, u->coefficient[atom], e->out, e->at);
        if (stays(e, atom)) continue;
        out->kind[e->at] = GRAM_ATOM_VALUE;
        for (int64_t l = 0; l < d; l++) {
            const column_rule *rule = &e->columns[l];
            const int64_t i = rest % rule->count;
            rest /= rule->count;
            out->coefficient[e->at] *= rule->weights[i];
            out->place[e->at * d + l] += rule->nodes[i];
            out->v[e->at * d + l] = out->w[e->at * d + l] = 0;
        }
    }
}

static gram_status take_rules(expansion *e)
{
    gram_status status = GRAM_OK;
    const int64_t d = e->x->d;
    FAIL_IF(d > MOST_COLUMNS, e->context, GRAM_ERROR_UNSUPPORTED,
            "functionals: integrals over more than %d columns have no rule", (int)MOST_COLUMNS);
    TRY(gram_take(e->context, "integrals", d, sizeof *e->columns, (void **)&e->columns));
    TRY(gram_take(e->context, "integrals", 2 * d * MOST_NODES, sizeof *e->numbers, (void **)&e->numbers));
    for (int64_t l = 0; l < d; l++)
        e->columns[l] =
            (column_rule){.nodes = e->numbers + 2 * l * MOST_NODES, .weights = e->numbers + (2 * l + 1) * MOST_NODES};
done:
    return status;
}

/* Two passes over the atoms: how many there will be, and what they are. */
static gram_status expand(expansion *e)
{
    gram_status status = GRAM_OK;
    const gram_functionals *u = e->x->functionals;
    int64_t total, count;
    for (int pass = 0; pass < 2; pass++) {
        total = 0;
        for (int64_t i = 0; i < e->x->n; i++) {
            if (pass) e->out->functionals->first[i] = e->at;
            for (int64_t k = u->first[i]; k < u->first[i + 1]; k++) {
                TRY(plan_atom(e, i, k, &count));
                total += count;
                if (pass) put_nodes(e, k, count);
            }
        }
        if (!pass) TRY(gram_functionals_make(e->context, e->x->n, e->x->d, total, &e->out));
    }
    e->out->functionals->first[e->x->n] = e->at;
    TRY(gram_functionals_seal(e->context, e->out));
done:
    return status;
}

gram_status gram_integrals_expand(gram_context *context, const gram_kernel *kernel, int closed, const gram_points *x,
                                  gram_points **out)
{
    gram_status status = GRAM_OK;
    gram_properties facts;
    expansion e = {.context = context, .x = x, .closed = closed};
    int all = 1;
    *out = NULL;
    for (int64_t k = 0; k < x->functionals->count; k++) all = all && stays(&e, k);
    if (all) {
        *out = gram_points_retain((gram_points *)(uintptr_t)x);
        goto done;
    }
    TRY(gram_kernel_properties(context, kernel, x->d, &facts));
    e.smooth = facts.derivatives == GRAM_INFINITE;
    e.length = shortest_length(kernel);
    TRY(take_rules(&e));
    TRY(expand(&e));
    *out = e.out;
    e.out = NULL;
done:
    gram_points_release(e.out);
    gram_give(context, e.columns);
    gram_give(context, e.numbers);
    return status;
}

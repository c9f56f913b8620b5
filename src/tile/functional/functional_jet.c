/* One atom against a chunk of atoms: the program evaluated with nilpotent parts.
 *
 * A number is f = sum_S f_S e_S over the subsets S of the nilpotents, bits of the part's number: those of x first. Then
 *
 *     (f g)_S = sum over T in S of f_T g_(S - T),
 *     phi(f)_S = sum over partitions of S of phi^(q)(f_0) prod_(B in the partition) f_B,   q its number of blocks,
 *
 * which for one nilpotent are the rules of products and chains. Of a node under sums only, just the last part is made. */
#include <string.h>

#include "tile/functional/functional_engine.h"

/* Finite, since 0 times it must stay 0 where points are far apart: four of them are multiplied. */
static double bounded(double part)
{
    const double most = 1e70;
    return part > most ? most : part < -most ? -most : part;
}

static double *part_of(double *jet, int part)
{
    return jet + part * GRAM_PANEL;
}

static int part_count(const gram_atom_pair *pair)
{
    return 1 << pair->bits;
}

static int is_x(const gram_atom_pair *pair, int bit)
{
    return bit < pair->by_x;
}

static void clear(const gram_atom_pair *pair, double *jet)
{
    memset(jet, 0, (size_t)part_count(pair) * GRAM_PANEL * sizeof *jet);
}

/* ---- forms ---- */

/* The direction of one nilpotent: for x one number a coordinate, for y a row. */
static const double *direction(const gram_atom_pair *pair, int metric, int bit)
{
    const struct gram_functional_engine *f = pair->engine->functionals;
    if (is_x(pair, bit))
        return gram_atoms_at(pair->engine, &f->rows, metric, pair->row_chunk, 1 + bit) + pair->row_lane;
    return gram_atoms_at(pair->engine, f->y, metric, pair->column_chunk, 1 + bit - pair->by_x);
}

/* out += weight t dir, one nilpotent; dt = e dir for x, -e dir for y */
static void add_first(const gram_atom_pair *pair, int bit, double weight, const double *dir, const double *t,
                      double *out)
{
    const int n = pair->lanes;
    if (is_x(pair, bit))
        for (int j = 0; j < n; j++) out[j] += weight * dir[0] * t[j];
    else
        for (int j = 0; j < n; j++) out[j] += weight * dir[j] * t[j];
}

/* out += weight dir_a dir_b */
static void add_pair(const gram_atom_pair *pair, int a, int b, double weight, const double *at_a, const double *at_b,
                     double *out)
{
    const int n = pair->lanes, step_a = !is_x(pair, a), step_b = !is_x(pair, b);
    for (int j = 0; j < n; j++) out[j] += weight * at_a[j * step_a] * at_b[j * step_b];
}

/* z = scale sum_l w_l t_l^2: 2 w t dt, 2 w dt dt'. Part 0 is left as s, over the scale. */
static void distance_parts(const gram_atom_pair *pair, const gram_program_node *leaf, int64_t l, const double *x,
                           const double *y)
{
    const gram_form_entry *form = &pair->engine->forms[leaf->form];
    const double own = form->weights_f64 ? form->weights_f64[l] : 1, weight = bounded(2 * own * leaf->shape.scale);
    double t[GRAM_PANEL];
    for (int j = 0; j < pair->lanes; j++) {
        t[j] = x[0] - y[j];
        pair->form[j] += own * t[j] * t[j];
    }
    for (int a = 0; a < pair->bits; a++) {
        const double *at_a = direction(pair, form->metric, a) + l * GRAM_PANEL;
        const double sign_a = is_x(pair, a) ? 1 : -1;
        add_first(pair, a, weight * sign_a, at_a, t, part_of(pair->form, 1 << a));
        for (int b = 0; b < a; b++)
            add_pair(pair, a, b, weight * sign_a * (is_x(pair, b) ? 1 : -1), at_a,
                     direction(pair, form->metric, b) + l * GRAM_PANEL, part_of(pair->form, 1 << a | 1 << b));
    }
}

/* z = x.y */
static void product_parts(const gram_atom_pair *pair, const gram_program_node *leaf, int64_t l, const double *x,
                          const double *y)
{
    const int metric = pair->engine->forms[leaf->form].metric, n = pair->lanes;
    for (int j = 0; j < n; j++) pair->form[j] += x[0] * y[j];
    for (int a = 0; a < pair->bits; a++) {
        const double *at_a = direction(pair, metric, a) + l * GRAM_PANEL;
        double *out = part_of(pair->form, 1 << a);
        for (int j = 0; j < n; j++) out[j] += is_x(pair, a) ? at_a[0] * y[j] : x[0] * at_a[j];
        for (int b = 0; b < a; b++)
            if (is_x(pair, b) && !is_x(pair, a))
                add_pair(pair, a, b, 1, at_a, direction(pair, metric, b) + l * GRAM_PANEL,
                         part_of(pair->form, 1 << a | 1 << b));
    }
}

static void absolute_part(const gram_atom_pair *pair, const gram_program_node *leaf, int64_t l, const double *x,
                          const double *y)
{
    const double *weights = pair->engine->forms[leaf->form].weights_f64;
    for (int j = 0; j < pair->lanes; j++) {
        const double t = x[0] > y[j] ? x[0] - y[j] : y[j] - x[0];
        pair->form[j] += weights ? weights[l] * t : t;
    }
}

static void make_form(const gram_atom_pair *pair, const gram_program_node *leaf)
{
    const struct gram_functional_engine *f = pair->engine->functionals;
    const gram_form_entry *form = &pair->engine->forms[leaf->form];
    const double *x = gram_atoms_at(pair->engine, &f->rows, form->metric, pair->row_chunk, 0) + pair->row_lane;
    const double *y = gram_atoms_at(pair->engine, f->y, form->metric, pair->column_chunk, 0);
    clear(pair, pair->form);
    for (int64_t l = 0; l < pair->engine->metrics[form->metric].mapping.d; l++) {
        const double *at_x = x + l * GRAM_PANEL, *at_y = y + l * GRAM_PANEL;
        if (form->kind == GRAM_FORM_SQDIST) distance_parts(pair, leaf, l, at_x, at_y);
        if (form->kind == GRAM_FORM_DOT) product_parts(pair, leaf, l, at_x, at_y);
        if (form->kind == GRAM_FORM_L1) absolute_part(pair, leaf, l, at_x, at_y);
    }
    for (int a = 0; a < pair->bits; a++) {
        double *first = part_of(pair->form, 1 << a);
        for (int j = 0; j < pair->lanes; j++) first[j] = bounded(first[j]);
    }
}

/* ---- rules ---- */

/* What goes on while the partitions of one part are walked over. */
typedef struct chaining {
    const gram_atom_pair *pair;
    const double *phi;
    const double *in;
    int widest; /* blocks of more elements have no part */
    double *out;
} chaining;

static int size_of(int set)
{
    int count = 0;
    for (; set; set &= set - 1) count++;
    return count;
}

/* Adds all partitions of `rest`, each times the `product` of the `blocks` blocks that are there already. */
static void add_partitions(const chaining *c, int rest, int blocks, const double *product)
{
    const int n = c->pair->lanes, low = rest & -rest, others = rest & ~low;
    const double *phi = c->phi + blocks * GRAM_PANEL;
    if (rest == 0) {
        for (int j = 0; j < n; j++) c->out[j] += product ? phi[j] * product[j] : phi[j];
        return;
    }
    for (int with = others;; with = (with - 1) & others) {
        const double *part = c->in + (low | with) * GRAM_PANEL;
        double longer[GRAM_PANEL];
        if (size_of(low | with) <= c->widest) {
            for (int j = 0; j < n; j++) longer[j] = product ? product[j] * part[j] : part[j];
            add_partitions(c, others & ~with, blocks + 1, longer);
        }
        if (with == 0) break;
    }
}

/* out = phi(in); `all` parts or the last one only. out is not in. */
static void chain(const gram_atom_pair *pair, const double *phi, const double *in, int widest, int all, double *out)
{
    const int parts = part_count(pair);
    clear(pair, out);
    for (int set = all ? 0 : parts - 1; set < parts; set++) {
        const chaining c = {pair, phi, in, widest, part_of(out, set)};
        add_partitions(&c, set, 0, NULL);
    }
}

/* a = a b, in place */
void gram_jet_multiply(const gram_atom_pair *pair, const double *b, int all, double *a)
{
    const int parts = part_count(pair), n = pair->lanes;
    double sum[GRAM_PANEL];
    /* from the last part on: each needs those of a that are parts of it, which come later */
    for (int set = parts - 1; set >= (all ? 0 : parts - 1); set--) {
        memset(sum, 0, sizeof sum);
        for (int with = set;; with = (with - 1) & set) {
            const double *left = a + with * GRAM_PANEL, *right = b + (set & ~with) * GRAM_PANEL;
            for (int j = 0; j < n; j++) sum[j] += left[j] * right[j];
            if (with == 0) break;
        }
        memcpy(a + set * GRAM_PANEL, sum, (size_t)n * sizeof *sum);
    }
}

/* ---- leaves ---- */

/* Does the leaf change in any of the nilpotents? One that does not may have no derivative. */
static int moves(const gram_atom_pair *pair, int index)
{
    const unsigned char *sees = pair->engine->functionals->sees;
    return pair->bits > 0 && sees[index];
}

static void form_jet(const gram_atom_pair *pair, int index, int all, double *out)
{
    const gram_program_node *leaf = &pair->engine->nodes[index];
    const gram_vecmath_f64 *v = &pair->engine->vecmath->f64;
    make_form(pair, leaf);
    if (!moves(pair, index)) {
        clear(pair, out);
        leaf->type->profile(v, &leaf->shape, pair->lanes, pair->form, out, pair->phi);
        return;
    }
    leaf->type->derivatives(v, &leaf->shape, pair->bits, pair->lanes, pair->form, GRAM_PANEL, pair->phi);
    chain(pair, pair->phi, pair->form, 2, all, out);
}

/* The factor of coordinate l, in pair->factor. */
static void coordinate_factor(const gram_atom_pair *pair, const gram_program_node *leaf, int64_t l, double x,
                              const double *y)
{
    const int metric = pair->engine->forms[leaf->form].metric, n = pair->lanes, parts = part_count(pair);
    const int y_bits = (parts - 1) & ~((1 << pair->by_x) - 1);
    for (int set = 0; set < parts; set++) {
        double *out = part_of(pair->factor, set);
        leaf->type->coords_derivative(&pair->engine->vecmath->f64, &leaf->shape, size_of(set & ~y_bits),
                                      size_of(set & y_bits), n, x, y, out);
        for (int bit = 0; bit < pair->bits; bit++) {
            if (!(set & 1 << bit)) continue;
            const double *dir = direction(pair, metric, bit) + l * GRAM_PANEL;
            for (int j = 0; j < n; j++) out[j] *= dir[is_x(pair, bit) ? 0 : j];
        }
    }
}

static void coordinates_jet(const gram_atom_pair *pair, int index, const gram_coords_block *block, double *out)
{
    const gram_program_node *leaf = &pair->engine->nodes[index];
    clear(pair, out);
    for (int j = 0; j < pair->lanes; j++) out[j] = 1;
    for (int64_t l = 0; l < block->d; l++) {
        coordinate_factor(pair, leaf, l, block->x[l * block->ld], block->y + l * block->ld);
        gram_jet_multiply(pair, pair->factor, 1, out);
    }
}

/* Inner products and norms, for kernels that want them beside the coordinates. */
static void add_dots(const gram_atom_pair *pair, gram_coords_block *block, double norms[GRAM_PANEL + 1])
{
    double *dots = pair->form;
    memset(dots, 0, GRAM_PANEL * sizeof *dots);
    memset(norms, 0, (GRAM_PANEL + 1) * sizeof *norms);
    for (int64_t l = 0; l < block->d; l++) {
        const double x = block->x[l * block->ld], *y = block->y + l * block->ld;
        norms[GRAM_PANEL] += x * x;
        for (int j = 0; j < pair->lanes; j++) {
            dots[j] += x * y[j];
            norms[j] += y[j] * y[j];
        }
    }
    block->dots = dots;
    block->x_norms = norms + GRAM_PANEL;
    block->y_norms = norms;
}

/* sum_l dir_l at_l for all lanes, dir of a nilpotent and at of the row (step 0) or of the columns (step 1) */
static void along(const gram_atom_pair *pair, int metric, int bit, int64_t d, const double *at, int step, double *out)
{
    const double *dir = direction(pair, metric, bit);
    const int dir_step = !is_x(pair, bit);
    memset(out, 0, GRAM_PANEL * sizeof *out);
    for (int64_t l = 0; l < d; l++)
        for (int j = 0; j < pair->lanes; j++)
            out[j] += dir[l * GRAM_PANEL + j * dir_step] * at[l * GRAM_PANEL + j * step];
}

/* A function of x.y, |x|^2 and |y|^2 (gram_plane_jet) with at most one nilpotent on each side: n_x.v, x.v, n_y.v', y.v' and v.v' are all
 * that its derivatives are made of. */
static void plane_jet(const gram_atom_pair *pair, const gram_program_node *leaf, const gram_coords_block *block,
                      double *out)
{
    const int metric = pair->engine->forms[leaf->form].metric;
    double n[2][GRAM_PANEL], own[2][GRAM_PANEL], both[GRAM_PANEL];
    gram_plane_jet plane;
    leaf->type->coords_jet(&pair->engine->vecmath->f64, &leaf->shape, block, 0, &plane);
    memcpy(out, plane.value, (size_t)pair->lanes * sizeof *out);
    for (int bit = 0; bit < pair->bits; bit++) {
        const int x = is_x(pair, bit);
        const double *share = x ? plane.x_share : plane.y_share;
        double(*by)[GRAM_BLOCK_COLUMNS] = x ? plane.by_x : plane.by_y;
        along(pair, metric, bit, block->d, x ? block->y : block->x, x, n[bit]);
        along(pair, metric, bit, block->d, x ? block->x : block->y, !x, own[bit]);
        for (int j = 0; j < pair->lanes; j++) {
            n[bit][j] -= share[j] * own[bit][j];
            part_of(out, 1 << bit)[j] = by[0][j] * n[bit][j] + by[1][j] * own[bit][j];
        }
    }
    if (pair->bits < 2) return;
    along(pair, metric, 1, block->d, direction(pair, metric, 0), 0, both);
    for (int j = 0; j < pair->lanes; j++)
        part_of(out, 3)[j] = plane.own[j] * both[j] +
                             n[0][j] * (plane.both[0][0][j] * n[1][j] + plane.both[0][1][j] * own[1][j]) +
                             own[0][j] * (plane.both[1][0][j] * n[1][j] + plane.both[1][1][j] * own[1][j]);
}

static void coords_jet(const gram_atom_pair *pair, int index, double *out)
{
    const gram_program_node *leaf = &pair->engine->nodes[index];
    const struct gram_functional_engine *f = pair->engine->functionals;
    const int metric = pair->engine->forms[leaf->form].metric;
    _Alignas(64) double norms[GRAM_PANEL + 1];
    gram_coords_block block = {
        .d = pair->engine->metrics[metric].mapping.d,
        .rows = 1,
        .columns = pair->lanes,
        .ld = GRAM_PANEL,
        .x = gram_atoms_at(pair->engine, &f->rows, metric, pair->row_chunk, 0) + pair->row_lane,
        .y = gram_atoms_at(pair->engine, f->y, metric, pair->column_chunk, 0),
    };
    if (moves(pair, index) && leaf->type->coords_derivative) {
        coordinates_jet(pair, index, &block, out);
        return;
    }
    if (leaf->type->dots) add_dots(pair, &block, norms);
    clear(pair, out);
    if (moves(pair, index))
        plane_jet(pair, leaf, &block, out);
    else
        leaf->type->coords(&pair->engine->vecmath->f64, &leaf->shape, &block, out);
}

static void leaf_jet(const gram_atom_pair *pair, int index, int all, double *out)
{
    const gram_program_node *leaf = &pair->engine->nodes[index];
    if (leaf->type->form == GRAM_FORM_NONE) {
        clear(pair, out);
        for (int j = 0; j < pair->lanes; j++) out[j] = leaf->par[0];
    } else if (pair->spread) {
        gram_integrals_jet(pair, leaf, out);
    } else if (leaf->type->form == GRAM_FORM_COORDS) {
        coords_jet(pair, index, out);
    } else {
        form_jet(pair, index, all, out);
    }
}

/* ---- combinations, in place of the first operand ---- */

/* The derivatives of u^m at the first part of in */
static void power_derivatives(const gram_atom_pair *pair, int m, const double *in)
{
    const gram_vecmath_f64 *v = &pair->engine->vecmath->f64;
    double front = 1;
    for (int q = 0; q <= pair->bits; front *= m - q, q++) {
        double *out = pair->phi + q * GRAM_PANEL;
        if (m > q) {
            v->power(pair->lanes, m - q, in, out);
            v->affine(pair->lanes, front, 0, out, out);
        } else {
            v->fill(pair->lanes, m == q ? front : 0, out);
        }
    }
}

static void chain_node(const gram_atom_pair *pair, const gram_program_node *node, int all, double *jet)
{
    if (node->node == GRAM_NODE_POWER)
        power_derivatives(pair, node->exponent, jet);
    else
        for (int q = 0; q <= pair->bits; q++)
            pair->engine->vecmath->f64.exp_scaled(pair->lanes, 1, jet, pair->phi + q * GRAM_PANEL);
    chain(pair, pair->phi, jet, 4, all, pair->product);
    memcpy(jet, pair->product, (size_t)part_count(pair) * GRAM_PANEL * sizeof *jet);
}

static void add_jets(const gram_atom_pair *pair, const double *b, double *a)
{
    for (int part = 0; part < part_count(pair); part++)
        for (int j = 0; j < pair->lanes; j++) a[part * GRAM_PANEL + j] += b[part * GRAM_PANEL + j];
}

/* A node's jet in slot `slot`; the slots after it are for operands. */
static void node_jet(const gram_atom_pair *pair, int index, int slot, int all)
{
    const gram_program_node *node = &pair->engine->nodes[index];
    double *jet = pair->slots + (int64_t)slot * GRAM_JET_SIZE;
    if (node->node == GRAM_NODE_LEAF) {
        leaf_jet(pair, index, all, jet);
        return;
    }
    node_jet(pair, node->children[0], slot, all || node->node != GRAM_NODE_SUM);
    if (node->terms) gram_functional_apply_terms(pair, node->terms, all, jet);
    if (node->node == GRAM_NODE_POWER || node->node == GRAM_NODE_EXP) chain_node(pair, node, all, jet);
    for (int i = 1; i < node->child_count; i++) {
        node_jet(pair, node->children[i], slot + 1, all || node->node != GRAM_NODE_SUM);
        if (node->node == GRAM_NODE_SUM)
            add_jets(pair, jet + GRAM_JET_SIZE, jet);
        else
            gram_jet_multiply(pair, jet + GRAM_JET_SIZE, all || i < node->child_count - 1, jet);
    }
}

const double *gram_functional_whole_jet(const gram_atom_pair *pair, int index)
{
    node_jet(pair, index, 0, 1);
    return pair->slots;
}

const double *gram_functional_pair(const gram_atom_pair *pair, int root)
{
    node_jet(pair, pair->engine->roots[root], 0, 0);
    return pair->slots + (part_count(pair) - 1) * GRAM_PANEL;
}

/* The kernel with its first derivatives by x and by y and its second ones, d2k/dx_l dy_m, for a row of pairs.
 *
 * Forward mode: each node makes its jet (value, gradients, second) from those of its operands,
 *
 *   a + b      all parts are added
 *   a b        d2 = a d2b + b d2a + a_x b_y' + b_x a_y'
 *   phi(a)     d2 = phi' d2a + phi'' a_x a_y'            powers and exp
 *   p(x) q(y) a(x, y)      the same with P = p_x/p, Q = q_y/q:   d2 = p q (d2a + P a_y' + a_x Q' + P Q' a)
 *   a - r(x) - c(y)        d2 = d2a
 *
 * and a leaf phi(z) from its form: squared distances have z_x = 2 W t = -z_y and d2z = -2 W, t = x - y, inner products
 * z_x = y, z_y = x and d2z = I, in packed coordinates u; J = du/dx takes them back to the stored columns, J' d2z J. Where
 * phi'' is infinite at t = 0, t t' vanishes faster, and the leaf says 0. A leaf of x.y, |x|^2 and |y|^2 has its derivatives in the plane of x
 * and y (gram_plane_jet). Only the sum over l = m is made where nobody asks
 * for more: O(d) a pair, else O(d^2). */
#include <string.h>

#include "tile/gradient/derivative.h"

/* ---- rows ---- */

/* out += c a */
static void add_scaled(double c, const double *a, double *out)
{
    for (int j = 0; j < GRAM_PANEL; j++) out[j] += c * a[j];
}

/* out += a b */
static void add_product(const double *a, const double *b, double *out)
{
    for (int j = 0; j < GRAM_PANEL; j++) out[j] += a[j] * b[j];
}

static void set_zero(int64_t rows, double *out)
{
    memset(out, 0, (size_t)(rows * GRAM_PANEL) * sizeof *out);
}

static void copy_rows(int64_t rows, const double *a, double *out)
{
    memcpy(out, a, (size_t)(rows * GRAM_PANEL) * sizeof *out);
}

static int64_t jet_rows(const gram_deriving *job)
{
    return 1 + 2 * job->d + job->second_rows;
}

static gram_jet jet_at(const gram_deriving *job, const gram_jet_work *work, int slot)
{
    double *value = work->jets + slot * jet_rows(job) * GRAM_PANEL;
    double *x = value + GRAM_PANEL, *y = x + job->d * GRAM_PANEL;
    return (gram_jet){.value = value, .x = x, .y = y, .second = y + job->d * GRAM_PANEL};
}

static int wants_mixed(const gram_deriving *job)
{
    return job->out->mixed != NULL;
}

/* second += x_l y_m for all l and m, or their sum over l = m, times a row `factor` */
static void add_outer(const gram_deriving *job, const double *x, const double *y, const double *factor, double *second)
{
    const int64_t d = job->d;
    double row[GRAM_PANEL];
    for (int64_t l = 0; l < d; l++) {
        for (int j = 0; j < GRAM_PANEL; j++) row[j] = factor[j] * x[l * GRAM_PANEL + j];
        if (!wants_mixed(job)) add_product(row, y + l * GRAM_PANEL, second);
        for (int64_t m = 0; wants_mixed(job) && m < d; m++)
            add_product(row, y + m * GRAM_PANEL, second + (l * d + m) * GRAM_PANEL);
    }
}

/* ---- leaves: from packed coordinates to stored columns ---- */

static const gram_mapping *mapping_of(const gram_deriving *job, const gram_program_node *leaf)
{
    return &job->engine->metrics[job->engine->forms[leaf->form].metric].mapping;
}

/* rows of the stored columns += du_l/dx times a */
static void spread(const gram_mapping *mapping, const gram_jet_plan *plan, int64_t l, const double *a, double *rows)
{
    if (!plan->jacobian) {
        add_scaled(1, a, rows + mapping->columns[l] * GRAM_PANEL);
        return;
    }
    for (int64_t m = 0; m < mapping->source_count; m++)
        add_scaled(plan->jacobian[l * mapping->source_count + m], a, rows + mapping->columns[m] * GRAM_PANEL);
}

/* Finite, since 0 times it must stay 0 where points are far apart. */
static double bounded(double slope)
{
    const double most = 1e300;
    return slope > most ? most : slope < -most ? -most : slope;
}

/* x = dz/dx, y = dz/dy */
static void form_slopes(const gram_deriving *job, const gram_jet_work *work, int index, const gram_jet *jet)
{
    const gram_program_node *leaf = &job->engine->nodes[index];
    const gram_form_entry *form = &job->engine->forms[leaf->form];
    const gram_mapping *mapping = mapping_of(job, leaf);
    const int row = work->strip->row + work->row;
    const double *x = gram_panels_f64(&job->engine->metrics[form->metric].x, work->strip->row_panel) + row;
    const double *y = gram_panels_f64(gram_engine_columns(job->engine, form->metric), work->strip->column_panel);
    double by_x[GRAM_PANEL], by_y[GRAM_PANEL];
    for (int64_t l = 0; l < mapping->d; l++) {
        const double weight = leaf->shape.scale * (form->weights_f64 ? form->weights_f64[l] : 1);
        for (int j = 0; j < GRAM_PANEL; j++) {
            const double left = x[l * GRAM_PANEL], right = y[l * GRAM_PANEL + j];
            by_x[j] = bounded(weight * (form->kind == GRAM_FORM_SQDIST ? 2 * (left - right) : right));
            by_y[j] = form->kind == GRAM_FORM_SQDIST ? -by_x[j] : weight * left;
        }
        spread(mapping, &job->plans[index], l, by_x, jet->x);
        spread(mapping, &job->plans[index], l, by_y, jet->y);
    }
}

/* second += phi' d2z/dx dy' */
static void add_form_second(const gram_deriving *job, int index, const double *slope, double *second)
{
    const gram_program_node *leaf = &job->engine->nodes[index];
    const gram_form_entry *form = &job->engine->forms[leaf->form];
    const gram_mapping *mapping = mapping_of(job, leaf);
    const gram_jet_plan *plan = &job->plans[index];
    const double sign = (form->kind == GRAM_FORM_SQDIST ? -2 : 1) * leaf->shape.scale;
    const int64_t count = mapping->source_count, *columns = mapping->columns;
    if (!wants_mixed(job)) {
        add_scaled(plan->trace, slope, second);
        return;
    }
    for (int64_t l = 0; l < count; l++)
        for (int64_t m = 0; m < count; m++) {
            const double own = l == m ? sign * (form->weights_f64 ? form->weights_f64[l] : 1) : 0;
            const double c = plan->jacobian ? plan->products[l * count + m] : own;
            if (c != 0) add_scaled(c, slope, second + (columns[l] * job->d + columns[m]) * GRAM_PANEL);
        }
}

static void form_jet(const gram_deriving *job, const gram_jet_work *work, int index, const gram_jet *jet)
{
    const gram_vecmath_f64 *v = &job->engine->vecmath->f64;
    const int64_t at = (int64_t)index * GRAM_STRIP_SIZE + work->row * GRAM_PANEL;
    const double *slope = work->slopes + at;
    copy_rows(1, work->values + at, jet->value);
    form_slopes(job, work, index, jet);
    add_outer(job, jet->x, jet->y, work->curvatures + at, jet->second);
    add_form_second(job, index, slope, jet->second);
    for (int64_t l = 0; l < 2 * job->d; l++) v->multiply(GRAM_PANEL, slope, jet->x + l * GRAM_PANEL);
}

/* ---- leaves: products over coordinates ---- */

/* Row l of d2k/du dv', as a part of d2k/dx dy' */
static void add_coords_mixed(const gram_deriving *job, const gram_mapping *mapping, const gram_jet_plan *plan,
                             int64_t l, const double *rows, double *second)
{
    const int64_t count = mapping->source_count, *columns = mapping->columns, d = job->d;
    for (int64_t m = 0; m < mapping->d; m++) {
        const double *row = rows + m * GRAM_PANEL;
        if (!wants_mixed(job))
            add_scaled(plan->products[l * mapping->d + m], row, second);
        else if (!plan->jacobian)
            add_scaled(1, row, second + (columns[l] * d + columns[m]) * GRAM_PANEL);
    }
    for (int64_t b = 0; wants_mixed(job) && plan->jacobian && b < count; b++) {
        double sum[GRAM_PANEL] = {0};
        for (int64_t m = 0; m < mapping->d; m++) add_scaled(plan->jacobian[m * count + b], rows + m * GRAM_PANEL, sum);
        for (int64_t a = 0; a < count; a++)
            add_scaled(plan->jacobian[l * count + a], sum, second + (columns[a] * d + columns[b]) * GRAM_PANEL);
    }
}

static void coords_second(const gram_deriving *job, const gram_jet_work *work, int index, double *second)
{
    const gram_vecmath_f64 *v = &job->engine->vecmath->f64;
    const gram_mapping *mapping = mapping_of(job, &job->engine->nodes[index]);
    const gram_jet_plan *plan = &job->plans[index];
    const int64_t d = mapping->d;
    if (!wants_mixed(job) && !plan->jacobian) {
        copy_rows(d, work->factors.by_both, work->rows);
        gram_coords_multiply_others(v, d, GRAM_PANEL, work->factors.f, work->rows);
        for (int64_t l = 0; l < d; l++) add_scaled(1, work->rows + l * GRAM_PANEL, second);
        return;
    }
    for (int64_t l = 0; l < d; l++) {
        gram_coords_mixed(v, d, GRAM_PANEL, &work->factors, l, work->rows);
        add_coords_mixed(job, mapping, plan, l, work->rows, second);
    }
}

static void coords_jet(const gram_deriving *job, const gram_jet_work *work, int index, const gram_jet *jet)
{
    const gram_vecmath_f64 *v = &job->engine->vecmath->f64;
    const gram_program_node *leaf = &job->engine->nodes[index];
    const gram_mapping *mapping = mapping_of(job, leaf);
    gram_coords_block block = gram_engine_coords(job->engine, work->strip, leaf);
    block.x += work->row;
    block.rows = 1;
    leaf->type->coords(v, &leaf->shape, &block, jet->value);
    gram_coords_factors(v, leaf->type, &leaf->shape, &block, 0, &work->factors);
    for (int side = 0; side < 2; side++) {
        copy_rows(mapping->d, side ? work->factors.by_y : work->factors.by_x, work->rows);
        gram_coords_multiply_others(v, mapping->d, GRAM_PANEL, work->factors.f, work->rows);
        for (int64_t l = 0; l < mapping->d; l++)
            spread(mapping, &job->plans[index], l, work->rows + l * GRAM_PANEL, side ? jet->y : jet->x);
    }
    coords_second(job, work, index, jet->second);
}

/* ---- leaves: functions of x.y, |x|^2 and |y|^2 ---- */

/* rows = n_x or n_y: the points v_l less their share of the others, u_l */
static void plane_normals(const gram_coords_block *block, int i, const gram_plane_jet *plane, double *n_x, double *n_y)
{
    for (int64_t l = 0; l < block->d; l++) {
        const double x = gram_coords_x(block, l, i), *y = gram_coords_y(block, l);
        for (int j = 0; j < GRAM_PANEL; j++) {
            n_x[l * GRAM_PANEL + j] = y[j] - plane->x_share[j] * x;
            n_y[l * GRAM_PANEL + j] = x - plane->y_share[j] * y[j];
        }
    }
}

/* rows m = row l of d2k/du dv' */
static void plane_row(const gram_coords_block *block, int i, const gram_plane_jet *p, const double *n_x,
                      const double *n_y, int64_t l, double *rows)
{
    const double x = gram_coords_x(block, l, i), *n_l = n_x + l * GRAM_PANEL;
    for (int64_t m = 0; m < block->d; m++) {
        const double *y = gram_coords_y(block, m), *n_m = n_y + m * GRAM_PANEL;
        for (int j = 0; j < GRAM_PANEL; j++)
            rows[m * GRAM_PANEL + j] = (p->both[0][0][j] * n_l[j] + p->both[1][0][j] * x) * n_m[j] +
                                       (p->both[0][1][j] * n_l[j] + p->both[1][1][j] * x) * y[j] +
                                       (l == m ? p->own[j] : 0);
    }
}

/* The sum over l = m of the same */
static void plane_trace(const gram_coords_block *block, int i, const gram_plane_jet *p, const double *n_x,
                        const double *n_y, double *out)
{
    for (int64_t l = 0; l < block->d; l++) {
        const double x = gram_coords_x(block, l, i), *y = gram_coords_y(block, l);
        const double *n_l = n_x + l * GRAM_PANEL, *n_m = n_y + l * GRAM_PANEL;
        for (int j = 0; j < GRAM_PANEL; j++)
            out[j] += (p->both[0][0][j] * n_l[j] + p->both[1][0][j] * x) * n_m[j] +
                      (p->both[0][1][j] * n_l[j] + p->both[1][1][j] * x) * y[j] + p->own[j];
    }
}

static void plane_slopes(const gram_deriving *job, const gram_jet_work *work, int index, const gram_coords_block *block,
                         const gram_plane_jet *p, const gram_jet *jet)
{
    const gram_mapping *mapping = mapping_of(job, &job->engine->nodes[index]);
    double by_x[GRAM_PANEL], by_y[GRAM_PANEL];
    for (int64_t l = 0; l < block->d; l++) {
        const double x = gram_coords_x(block, l, work->row), *y = gram_coords_y(block, l);
        const double *n_x = work->factors.f + l * GRAM_PANEL, *n_y = work->factors.by_x + l * GRAM_PANEL;
        for (int j = 0; j < GRAM_PANEL; j++) {
            by_x[j] = p->by_x[0][j] * n_x[j] + p->by_x[1][j] * x;
            by_y[j] = p->by_y[0][j] * n_y[j] + p->by_y[1][j] * y[j];
        }
        spread(mapping, &job->plans[index], l, by_x, jet->x);
        spread(mapping, &job->plans[index], l, by_y, jet->y);
    }
}

static void plane_jet(const gram_deriving *job, const gram_jet_work *work, int index, const gram_jet *jet)
{
    const gram_program_node *leaf = &job->engine->nodes[index];
    const gram_jet_plan *plan = &job->plans[index];
    const double *dots = work->values + (int64_t)index * GRAM_STRIP_SIZE;
    const gram_coords_block block = gram_engine_coords_given(job->engine, work->strip, leaf, dots);
    double *n_x = work->factors.f, *n_y = work->factors.by_x;
    gram_plane_jet plane;
    leaf->type->coords_jet(&job->engine->vecmath->f64, &leaf->shape, &block, work->row, &plane);
    copy_rows(1, plane.value, jet->value);
    plane_normals(&block, work->row, &plane, n_x, n_y);
    plane_slopes(job, work, index, &block, &plane, jet);
    if (!wants_mixed(job) && !plan->jacobian) {
        plane_trace(&block, work->row, &plane, n_x, n_y, jet->second);
        return;
    }
    for (int64_t l = 0; l < block.d; l++) {
        plane_row(&block, work->row, &plane, n_x, n_y, l, work->rows);
        add_coords_mixed(job, mapping_of(job, leaf), plan, l, work->rows, jet->second);
    }
}

static void leaf_jet(const gram_deriving *job, const gram_jet_work *work, int index, const gram_jet *jet)
{
    const gram_program_node *leaf = &job->engine->nodes[index];
    set_zero(jet_rows(job), jet->value);
    if (leaf->type->form == GRAM_FORM_NONE)
        job->engine->vecmath->f64.fill(GRAM_PANEL, leaf->par[0], jet->value);
    else if (leaf->type->form == GRAM_FORM_COORDS)
        (leaf->type->coords_jet ? plane_jet : coords_jet)(job, work, index, jet);
    else
        form_jet(job, work, index, jet);
}

/* ---- combinations, in place of the first operand ---- */

static void add_jets(const gram_deriving *job, const gram_jet *b, const gram_jet *a)
{
    for (int64_t r = 0; r < jet_rows(job); r++)
        job->engine->vecmath->f64.add(GRAM_PANEL, b->value + r * GRAM_PANEL, a->value + r * GRAM_PANEL);
}

static void multiply_jets(const gram_deriving *job, const gram_jet *b, const gram_jet *a)
{
    const gram_vecmath_f64 *v = &job->engine->vecmath->f64;
    _Alignas(64) double one[GRAM_PANEL];
    v->fill(GRAM_PANEL, 1, one);
    for (int64_t r = 0; r < job->second_rows; r++) {
        v->multiply(GRAM_PANEL, b->value, a->second + r * GRAM_PANEL);
        add_product(a->value, b->second + r * GRAM_PANEL, a->second + r * GRAM_PANEL);
    }
    add_outer(job, a->x, b->y, one, a->second);
    add_outer(job, b->x, a->y, one, a->second);
    for (int64_t l = 0; l < 2 * job->d; l++) {
        v->multiply(GRAM_PANEL, b->value, a->x + l * GRAM_PANEL);
        add_product(a->value, b->x + l * GRAM_PANEL, a->x + l * GRAM_PANEL);
    }
    v->multiply(GRAM_PANEL, b->value, a->value);
}

/* The rest of phi(a), whose value is there already */
static void chain_jet(const gram_deriving *job, const double *outer, const double *inner, const gram_jet *a)
{
    const gram_vecmath_f64 *v = &job->engine->vecmath->f64;
    for (int64_t r = 0; r < job->second_rows; r++) v->multiply(GRAM_PANEL, outer, a->second + r * GRAM_PANEL);
    add_outer(job, a->x, a->y, inner, a->second);
    for (int64_t l = 0; l < 2 * job->d; l++) v->multiply(GRAM_PANEL, outer, a->x + l * GRAM_PANEL);
}

/* c value^m, m >= 0 */
static void scaled_power(const gram_vecmath_f64 *v, double c, int m, const double *value, double *out)
{
    if (m == 0) {
        v->fill(GRAM_PANEL, c, out);
        return;
    }
    v->power(GRAM_PANEL, m, value, out);
    v->affine(GRAM_PANEL, c, 0, out, out);
}

static void power_jet(const gram_deriving *job, int m, const gram_jet *a)
{
    const gram_vecmath_f64 *v = &job->engine->vecmath->f64;
    _Alignas(64) double outer[GRAM_PANEL], inner[GRAM_PANEL];
    scaled_power(v, m, m - 1, a->value, outer);
    scaled_power(v, (double)m * (m - 1), m > 1 ? m - 2 : 0, a->value, inner);
    v->power(GRAM_PANEL, m, a->value, a->value);
    chain_jet(job, outer, inner, a);
}

static void exp_jet(const gram_deriving *job, const gram_jet *a)
{
    job->engine->vecmath->f64.exp_scaled(GRAM_PANEL, 1, a->value, a->value);
    chain_jet(job, a->value, a->value, a);
}

/* One of the gradients of the row's point (by = x) or of the columns' ones, as a row */
static void point_row(const gram_deriving *job, const gram_jet_work *work, int index, int columns, int64_t l,
                      double *out)
{
    const gram_jet_plan *plan = &job->plans[index];
    const int64_t i = work->strip->row_panel * GRAM_PANEL + work->strip->row + work->row;
    const int64_t first = work->strip->column_panel * GRAM_PANEL;
    for (int j = 0; j < GRAM_PANEL; j++)
        out[j] = columns ? plan->column[(first + j) * job->d + l] : plan->row[i * job->d + l];
}

/* second += P_l y_m + x_l Q_m + P_l Q_m value, all of them times p q already */
static void add_factor_second(const gram_deriving *job, const gram_jet_work *work, int index, const gram_jet *a)
{
    const int64_t d = job->d;
    double p[GRAM_PANEL], q[GRAM_PANEL];
    for (int64_t l = 0; l < d; l++)
        for (int64_t m = wants_mixed(job) ? 0 : l; m < (wants_mixed(job) ? d : l + 1); m++) {
            double *out = a->second + (wants_mixed(job) ? l * d + m : 0) * GRAM_PANEL;
            point_row(job, work, index, 0, l, p);
            point_row(job, work, index, 1, m, q);
            add_product(p, a->y + m * GRAM_PANEL, out);
            for (int j = 0; j < GRAM_PANEL; j++) out[j] += q[j] * (a->x[l * GRAM_PANEL + j] + p[j] * a->value[j]);
        }
}

static void terms_jet(const gram_deriving *job, const gram_jet_work *work, int index, const gram_jet *a)
{
    const gram_vecmath_f64 *v = &job->engine->vecmath->f64;
    const gram_point_terms *terms = job->engine->nodes[index].terms;
    const int64_t i = work->strip->row_panel * GRAM_PANEL + work->strip->row + work->row;
    const int normalize = terms->node == GRAM_NODE_NORMALIZE;
    _Alignas(64) double factor[GRAM_PANEL], row[GRAM_PANEL];
    for (int j = 0; j < GRAM_PANEL; j++) {
        const int64_t column = work->strip->column_panel * GRAM_PANEL + j;
        factor[j] = normalize ? gram_terms_combine(terms, i, column, 1) : 1;
        a->value[j] = gram_terms_combine(terms, i, column, a->value[j]);
    }
    for (int64_t r = 0; normalize && r < jet_rows(job) - 1; r++) v->multiply(GRAM_PANEL, factor, a->x + r * GRAM_PANEL);
    if (normalize) add_factor_second(job, work, index, a);
    if (normalize) copy_rows(1, a->value, factor);
    for (int64_t l = 0; l < 2 * job->d; l++) {
        point_row(job, work, index, l >= job->d, l % job->d, row);
        add_product(factor, row, a->x + l * GRAM_PANEL);
    }
}

/* A node's jet in slot `slot`; the slots after it are for operands. */
static void node_jet(const gram_deriving *job, const gram_jet_work *work, int index, int slot)
{
    const gram_program_node *node = &job->engine->nodes[index];
    const gram_jet jet = jet_at(job, work, slot);
    if (node->node == GRAM_NODE_LEAF) {
        leaf_jet(job, work, index, &jet);
        return;
    }
    node_jet(job, work, node->children[0], slot);
    if (node->node == GRAM_NODE_POWER) power_jet(job, node->exponent, &jet);
    if (node->node == GRAM_NODE_EXP) exp_jet(job, &jet);
    if (node->terms) terms_jet(job, work, index, &jet);
    for (int c = 1; c < node->child_count; c++) {
        const gram_jet operand = jet_at(job, work, slot + 1);
        node_jet(job, work, node->children[c], slot + 1);
        if (node->node == GRAM_NODE_SUM)
            add_jets(job, &operand, &jet);
        else
            multiply_jets(job, &operand, &jet);
    }
}

/* ---- what the other file calls ---- */

size_t gram_jet_layout(const gram_deriving *job, char *base, gram_jet_work *work)
{
    double *at = (double *)(void *)(base + job->engine_scratch), *const start = at;
    const int64_t nodes = (int64_t)job->engine->node_count * GRAM_STRIP_SIZE, wide = job->widest_coords * GRAM_PANEL;
    work->strip = (gram_strip *)(void *)base;
    work->forms = at;
    at += (int64_t)job->engine->form_count * GRAM_STRIP_SIZE;
    work->values = at;
    work->slopes = at + nodes;
    work->curvatures = at + 2 * nodes;
    at += 3 * nodes;
    work->jets = at;
    at += job->engine->slot_count * jet_rows(job) * GRAM_PANEL;
    work->factors = (gram_coords_factor){at, at + wide, at + 2 * wide, at + 3 * wide};
    work->rows = at + 4 * wide;
    at += 5 * wide;
    return job->engine_scratch + (size_t)(at - start) * sizeof(double);
}

void gram_jet_strip(const gram_deriving *job, gram_jet_work *work)
{
    const gram_engine *engine = job->engine;
    const gram_vecmath_f64 *v = &engine->vecmath->f64;
    for (int i = 0; i < engine->form_count; i++)
        if (engine->forms[i].kind != GRAM_FORM_COORDS)
            gram_engine_form(engine, work->strip, i, work->forms + (int64_t)i * GRAM_STRIP_SIZE);
    for (int i = 0; i < engine->node_count; i++) {
        const gram_program_node *leaf = &engine->nodes[i];
        const int64_t at = (int64_t)i * GRAM_STRIP_SIZE;
        if (leaf->node == GRAM_NODE_LEAF && leaf->type->coords_jet)
            copy_rows(GRAM_STRIP, gram_engine_coords(engine, work->strip, leaf).dots, work->values + at);
        if (leaf->node != GRAM_NODE_LEAF || !leaf->type->curvature) continue;
        const double *s = work->forms + (int64_t)leaf->form * GRAM_STRIP_SIZE;
        double *k = work->values + at, *slope = work->slopes + at;
        leaf->type->profile(v, &leaf->shape, GRAM_STRIP_SIZE, s, k, work->strip->work);
        leaf->type->slope(v, &leaf->shape, GRAM_STRIP_SIZE, s, k, slope);
        leaf->type->curvature(v, &leaf->shape, GRAM_STRIP_SIZE, s, k, slope, work->curvatures + at);
    }
}

gram_jet gram_jet_row(const gram_deriving *job, gram_jet_work *work, int row)
{
    work->row = row;
    node_jet(job, work, job->engine->roots[0], 0);
    return jet_at(job, work, 0);
}

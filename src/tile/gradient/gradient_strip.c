/* Derivatives of a weighted sum of Gram entries: by all parameters of the kernel, or by the inputs.
 *
 * For each strip the expression is evaluated with all its intermediate values kept, then swept backwards (reverse mode):
 * a node gets the strip of weights A = d(sum)/d(node) and passes its operands theirs,
 *
 *   sum:      A                     product:  A times the other operands
 *   power:    A m v^(m-1)           leaf:     sum A dk/dpar;  M = A dk/dz goes to the form
 *
 * and the form, z = sum_l (t_l/ell_l)^2 with t = x - y, gives for one length-scale -2/ell sum M z, for one per column
 * -2/ell_l^3 sum M t_l^2, for a covariance S = L L' with u = L^-1 t the lower part of -2 L^-T (sum M u u'), and for the
 * inputs 2/ell_l^2 sum_j M t_l. L1 forms and inner products go likewise. exp(v) passes A exp(v). Nothing has the size of all pairs, and all
 * parameters come from one pass. Each task sums into a row of its own; the rows are added in order. */
#include <cblas.h>
#include <string.h>

#include "kernel/coordinate_products.h"
#include "tile/gradient/gradient.h"

static double *strip_of(double *strips, int index)
{
    return strips + (int64_t)index * GRAM_STRIP_SIZE;
}

/* ---- forwards ---- */

static void leaf_value(const gram_gradient *g, gram_tape *t, const gram_program_node *leaf, double *out)
{
    const gram_vecmath_f64 *v = &g->engine->vecmath->f64;
    if (leaf->type->form == GRAM_FORM_NONE) {
        v->fill(GRAM_STRIP_SIZE, leaf->par[0], out);
    } else if (leaf->type->form == GRAM_FORM_SAME || leaf->type->form == GRAM_FORM_COORDS ||
               leaf->type->form == GRAM_FORM_INDEX) {
        gram_engine_special(g->engine, t->strip, leaf, out);
    } else {
        leaf->type->profile(v, &leaf->shape, GRAM_STRIP_SIZE, strip_of(t->forms, leaf->form), out, t->strip->work);
    }
}

static void node_value(const gram_gradient *g, gram_tape *t, const gram_program_node *node, double *out)
{
    const gram_vecmath_f64 *v = &g->engine->vecmath->f64;
    if (node->node == GRAM_NODE_LEAF) {
        leaf_value(g, t, node, out);
        return;
    }
    memcpy(out, strip_of(t->values, node->children[0]), GRAM_STRIP_SIZE * sizeof *out);
    if (node->node == GRAM_NODE_POWER) v->power(GRAM_STRIP_SIZE, node->exponent, out, out);
    if (node->node == GRAM_NODE_EXP) v->exp_scaled(GRAM_STRIP_SIZE, 1, out, out);
    if (node->terms) gram_terms_apply_f64(node->terms, t->strip, out);
    for (int i = 1; i < node->child_count; i++) {
        const double *child = strip_of(t->values, node->children[i]);
        if (node->node == GRAM_NODE_SUM)
            v->add(GRAM_STRIP_SIZE, child, out);
        else
            v->multiply(GRAM_STRIP_SIZE, child, out);
    }
}

static void forwards(const gram_gradient *g, gram_tape *t)
{
    for (int i = 0; i < g->engine->form_count; i++) {
        const gram_form kind = g->engine->forms[i].kind;
        if (kind != GRAM_FORM_SAME && kind != GRAM_FORM_COORDS && kind != GRAM_FORM_INDEX)
            gram_engine_form(g->engine, t->strip, i, strip_of(t->forms, i));
    }
    for (int i = 0; i < g->engine->node_count; i++) node_value(g, t, &g->engine->nodes[i], strip_of(t->values, i));
}

/* ---- a leaf backwards: its form ---- */

/* moments[i * d + l] = sum_j m_ij f(x_il, y_jl) over the coordinates of a form */
static const gram_mapping *take_moments(const gram_gradient *g, gram_tape *t, const gram_program_node *leaf,
                                        gram_moment moment, const double *m)
{
    const int metric = g->engine->forms[leaf->form].metric;
    const gram_panels *x = &g->engine->metrics[metric].x;
    const gram_panels *y = gram_engine_columns(g->engine, metric);
    memset(t->moments, 0, (size_t)(GRAM_STRIP * x->d) * sizeof(double));
    g->engine->strips->f64.row_moments(moment, x->d, gram_panels_f64(x, t->strip->row_panel) + t->strip->row,
                                       gram_panels_f64(y, t->strip->column_panel), m, t->moments);
    return &g->engine->metrics[metric].mapping;
}

static double sum_rows(const gram_tape *t, int64_t d, int64_t l)
{
    double sum = 0;
    for (int i = 0; i < GRAM_STRIP; i++) sum += t->moments[i * d + l];
    return sum;
}

/* t = L^-T t in place, by backward substitution */
static void solve_transposed(int64_t d, const double *factor, double *t, int64_t stride)
{
    for (int64_t a = d - 1; a >= 0; a--) {
        double sum = t[a * stride];
        for (int64_t b = a + 1; b < d; b++) sum -= factor[b * d + a] * t[b * stride];
        t[a * stride] = sum / factor[a * d + a];
    }
}

static void length_gradient(const gram_gradient *g, gram_tape *t, const gram_program_node *leaf, double *out)
{
    const gram_argument *length = leaf->length;
    const int squared = leaf->type->form == GRAM_FORM_SQDIST;
    if (length->count == 1) {
        const double sum = g->engine->vecmath->f64.dot(GRAM_STRIP_SIZE, t->slope, strip_of(t->forms, leaf->form));
        out[0] -= (squared ? 2 : 1) * leaf->shape.scale / length->values[0] * sum;
        return;
    }
    (void)take_moments(g, t, leaf, squared ? GRAM_MOMENT_SQUARE : GRAM_MOMENT_ABSOLUTE, t->slope);
    for (int64_t l = 0; l < length->count; l++) {
        const double ell = length->values[l], sum = sum_rows(t, length->count, l);
        out[l] -= squared ? 2 * sum / (ell * ell * ell) : sum / (ell * ell);
    }
}

/* weighted_ij = M_ij (u_ia - u_ja) */
static void weight_by_difference(const gram_gradient *g, gram_tape *t, const gram_program_node *leaf, int64_t a)
{
    const int metric = g->engine->forms[leaf->form].metric;
    const double *x = gram_panels_f64(&g->engine->metrics[metric].x, t->strip->row_panel) + a * GRAM_PANEL;
    const double *y = gram_panels_f64(gram_engine_columns(g->engine, metric), t->strip->column_panel) + a * GRAM_PANEL;
    for (int i = 0; i < GRAM_STRIP; i++)
        for (int j = 0; j < GRAM_PANEL; j++)
            t->weighted[i * GRAM_PANEL + j] = t->slope[i * GRAM_PANEL + j] * (x[t->strip->row + i] - y[j]);
}

static void covariance_gradient(const gram_gradient *g, gram_tape *t, const gram_program_node *leaf, double *out)
{
    const int64_t d = g->engine->metrics[g->engine->forms[leaf->form].metric].mapping.d;
    for (int64_t a = 0; a < d; a++) {
        weight_by_difference(g, t, leaf, a);
        (void)take_moments(g, t, leaf, GRAM_MOMENT_DIFFERENCE, t->weighted);
        for (int64_t b = 0; b < d; b++) t->sums[a * d + b] = sum_rows(t, d, b);
    }
    for (int64_t b = 0; b < d; b++) solve_transposed(d, leaf->factor, t->sums + b, d);
    for (int64_t a = 0; a < d; a++)
        for (int64_t b = 0; b <= a; b++) out[a * (a + 1) / 2 + b] -= 2 * t->sums[a * d + b];
}

/* A derivative by the mapped coordinates of row i, as one by the stored ones. */
static void add_inputs(const gram_gradient *g, const gram_tape *t, const gram_mapping *mapping, int i, const double *u)
{
    double *row = t->rows + i * g->engine->d;
    for (int64_t l = 0; l < mapping->d; l++) {
        if (!mapping->matrix) row[mapping->columns[l]] += u[l];
        for (int64_t m = 0; mapping->matrix && m < mapping->source_count; m++)
            row[mapping->columns[m]] += mapping->matrix[l * mapping->source_count + m] * u[l];
    }
}

/* rows[i][column] += dz/dx summed with M */
static void form_inputs(const gram_gradient *g, gram_tape *t, const gram_program_node *leaf)
{
    const gram_form_entry *form = &g->engine->forms[leaf->form];
    const gram_moment moment = form->kind == GRAM_FORM_SQDIST ? GRAM_MOMENT_DIFFERENCE
                               : form->kind == GRAM_FORM_L1   ? GRAM_MOMENT_SIGN
                                                              : GRAM_MOMENT_SECOND;
    const gram_mapping *mapping = take_moments(g, t, leaf, moment, t->slope);
    const double factor = (form->kind == GRAM_FORM_SQDIST ? 2 : 1) * leaf->shape.scale;
    for (int i = 0; i < GRAM_STRIP; i++) {
        double *row = t->moments + i * mapping->d;
        if (leaf->factor) solve_transposed(mapping->d, leaf->factor, row, 1);
        for (int64_t l = 0; l < mapping->d; l++) row[l] *= factor * (form->weights_f64 ? form->weights_f64[l] : 1);
        add_inputs(g, t, mapping, i, row);
    }
}

/* ---- a leaf backwards: its parameters ---- */

static void coords_inputs(const gram_gradient *g, gram_tape *t, const gram_program_node *leaf, const double *adjoint)
{
    const gram_vecmath_f64 *v = &g->engine->vecmath->f64;
    const gram_coords_block block = gram_engine_coords(g->engine, t->strip, leaf);
    const gram_mapping *mapping = &g->engine->metrics[g->engine->forms[leaf->form].metric].mapping;
    for (int i = 0; i < GRAM_STRIP; i++) {
        double *sums = t->moments + i * block.d;
        gram_coords_slopes(v, leaf->type, &leaf->shape, &block, i, t->factors, t->slopes);
        for (int64_t l = 0; l < block.d; l++)
            sums[l] = v->dot(GRAM_PANEL, adjoint + i * GRAM_PANEL, t->slopes + l * GRAM_PANEL);
        add_inputs(g, t, mapping, i, sums);
    }
}

static void coords_parameters(const gram_gradient *g, gram_tape *t, const gram_program_node *leaf,
                              const double *adjoint)
{
    const gram_vecmath_f64 *v = &g->engine->vecmath->f64;
    const gram_coords_block block = gram_engine_coords(g->engine, t->strip, leaf);
    double *out = t->parameter + leaf->parameter;
    for (int spec = 0; spec < leaf->type->spec_count; spec++) {
        if (leaf->type->specs[spec].role != GRAM_ROLE_SHAPE) continue;
        leaf->type->coords_parameter_slope(v, &leaf->shape, spec, &block, t->weighted);
        *out++ += v->dot(GRAM_STRIP_SIZE, adjoint, t->weighted);
    }
}

static void leaf_parameters(const gram_gradient *g, gram_tape *t, const gram_program_node *leaf, const double *adjoint,
                            const double *s, const double *k)
{
    const gram_vecmath_f64 *v = &g->engine->vecmath->f64;
    double *out = t->parameter + leaf->parameter;
    for (int spec = 0; spec < leaf->type->spec_count; spec++) {
        const gram_role role = leaf->type->specs[spec].role;
        if (role == GRAM_ROLE_SHAPE) {
            leaf->type->parameter_slope(v, &leaf->shape, spec, GRAM_STRIP_SIZE, s, k, t->weighted);
            *out++ += v->dot(GRAM_STRIP_SIZE, adjoint, t->weighted);
        } else if (role == GRAM_ROLE_LENGTH && leaf->length) {
            length_gradient(g, t, leaf, out);
            out += leaf->length->count;
        } else if (role == GRAM_ROLE_COVARIANCE && leaf->factor) {
            covariance_gradient(g, t, leaf, out);
        }
    }
}

static void leaf_backwards(const gram_gradient *g, gram_tape *t, int index, const double *adjoint)
{
    const gram_vecmath_f64 *v = &g->engine->vecmath->f64;
    const gram_program_node *leaf = &g->engine->nodes[index];
    const double *k = strip_of(t->values, index);
    if (leaf->type->form == GRAM_FORM_COORDS) {
        if (g->inputs)
            coords_inputs(g, t, leaf, adjoint);
        else
            coords_parameters(g, t, leaf, adjoint);
        return;
    }
    const double *s = leaf->form >= 0 ? strip_of(t->forms, leaf->form) : k;
    if (leaf->type->slope) {
        leaf->type->slope(v, &leaf->shape, GRAM_STRIP_SIZE, s, k, t->slope);
        v->multiply(GRAM_STRIP_SIZE, adjoint, t->slope);
        if (g->inputs) form_inputs(g, t, leaf);
    }
    if (!g->inputs) leaf_parameters(g, t, leaf, adjoint, s, k);
}

/* ---- backwards ---- */

/* The weights of one operand; `out` may not be `adjoint`. */
static void operand_adjoint(const gram_gradient *g, const gram_tape *t, int index, int operand, const double *adjoint,
                            double *out)
{
    const gram_program_node *node = &g->engine->nodes[index];
    const gram_vecmath_f64 *v = &g->engine->vecmath->f64;
    memcpy(out, adjoint, GRAM_STRIP_SIZE * sizeof *out);
    if (node->node == GRAM_NODE_POWER) {
        const double *base = strip_of(t->values, node->children[0]);
        for (int m = 1; m < node->exponent; m++) v->multiply(GRAM_STRIP_SIZE, base, out);
        v->affine(GRAM_STRIP_SIZE, node->exponent, 0, out, out);
    }
    if (node->node == GRAM_NODE_EXP) v->multiply(GRAM_STRIP_SIZE, strip_of(t->values, index), out);
    if (node->node == GRAM_NODE_NORMALIZE || node->node == GRAM_NODE_SCALE)
        gram_terms_apply_f64(node->terms, t->strip, out); /* a factor for each pair */
    for (int i = 0; node->node == GRAM_NODE_PRODUCT && i < node->child_count; i++)
        if (i != operand) v->multiply(GRAM_STRIP_SIZE, strip_of(t->values, node->children[i]), out);
}

/* What the numbers of the points are worth: sums of A k over the columns and over the rows (normalize), of A (centre). */
static void collect_terms(const gram_gradient *g, const gram_tape *t, int index, const double *adjoint)
{
    const gram_point_terms *terms = g->engine->nodes[index].terms;
    const double *k = strip_of(t->values, index);
    const int64_t rows = gram_engine_row_panels(g->engine) * GRAM_PANEL;
    const int64_t columns = gram_engine_column_panels(g->engine) * GRAM_PANEL;
    double *row = g->row_sums + terms->number * rows + t->strip->row_panel * GRAM_PANEL + t->strip->row;
    const int64_t column = terms->number * columns + t->strip->column_panel * GRAM_PANEL;
    for (int i = 0; i < GRAM_STRIP; i++)
        for (int j = 0; j < GRAM_PANEL; j++) {
            const int at = i * GRAM_PANEL + j;
            const double worth = terms->node == GRAM_NODE_NORMALIZE ? adjoint[at] * k[at] : adjoint[at];
            row[i] += worth;
            if (!g->inputs) t->column_sums[column + j] += worth;
        }
}

static void backwards(const gram_gradient *g, gram_tape *t, int index, const double *adjoint, int level)
{
    const gram_program_node *node = &g->engine->nodes[index];
    if (node->node == GRAM_NODE_LEAF) {
        leaf_backwards(g, t, index, adjoint);
        return;
    }
    if (node->terms) collect_terms(g, t, index, adjoint);
    for (int i = 0; i < node->child_count; i++) {
        double *operand = strip_of(t->adjoints, level + 1);
        operand_adjoint(g, t, index, i, adjoint, operand);
        backwards(g, t, node->children[i], operand, level + 1);
    }
}

/* ---- weights of a strip ---- */

/* out_ij += W_ij, or W_ji with the roles of rows and columns exchanged; blocks from a function are symmetric then */
static void add_weights(const gram_weights *w, int swapped, int64_t row, int rows, int64_t column, int columns,
                        double *out)
{
    if (w->fill && !w->dense) {
        w->fill(w->argument, row, rows, column, columns, out, GRAM_PANEL);
        return;
    }
    if (!w->dense) {
        const double *a = swapped ? w->b + row * w->ldb : w->a + row * w->lda;
        const double *b = swapped ? w->a + column * w->lda : w->b + column * w->ldb;
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, columns, (int)w->rank, 1, a,
                    (int)(swapped ? w->ldb : w->lda), b, (int)(swapped ? w->lda : w->ldb), 1, out, GRAM_PANEL);
        return;
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            out[i * GRAM_PANEL + j] +=
                swapped ? w->dense[(column + j) * w->ld + row + i] : w->dense[(row + i) * w->ld + column + j];
}

static int least(int64_t a, int64_t b)
{
    return (int)(a < b ? a : b);
}

/* Weights beyond the last row or column are 0, so that what lies there does not count. */
void gram_gradient_weights(const gram_gradient *g, const gram_strip *strip, int both, double *out)
{
    const int64_t row = strip->row_panel * GRAM_PANEL + strip->row, column = strip->column_panel * GRAM_PANEL;
    const int rows = least(GRAM_STRIP, g->engine->n - row), columns = least(GRAM_PANEL, g->engine->m - column);
    memset(out, 0, GRAM_STRIP_SIZE * sizeof *out);
    for (int i = 0; g->diagonal && i < rows; i++) out[i * GRAM_PANEL + strip->row + i] = g->diagonal[row + i];
    if (g->diagonal) return;
    add_weights(g->weights, 0, row, rows, column, columns, out);
    if (both) add_weights(g->weights, 1, row, rows, column, columns, out);
}

size_t gram_tape_layout(const gram_gradient *g, char *base, gram_tape *t)
{
    double *at = (double *)(void *)(base + g->engine_scratch), *const start = at;
    t->strip = (gram_strip *)(void *)base;
    t->values = at;
    at += (int64_t)g->engine->node_count * GRAM_STRIP_SIZE;
    t->forms = at;
    at += (int64_t)g->engine->form_count * GRAM_STRIP_SIZE;
    t->adjoints = at;
    at += (int64_t)g->depth * GRAM_STRIP_SIZE;
    t->slope = at;
    at += GRAM_STRIP_SIZE;
    t->weighted = at;
    at += GRAM_STRIP_SIZE;
    t->factors = at;
    at += g->widest_coords * GRAM_PANEL;
    t->slopes = at;
    at += g->widest_coords * GRAM_PANEL;
    t->moments = at;
    at += GRAM_STRIP * g->widest;
    t->rows = at;
    at += GRAM_STRIP * g->engine->d;
    t->sums = at;
    at += g->widest_covariance * g->widest_covariance;
    return g->engine_scratch + (size_t)(at - start) * sizeof(double);
}

void gram_gradient_strip(const gram_gradient *g, gram_tape *t, int64_t i, int row, int64_t j, int both)
{
    gram_strip_move(g->engine, t->strip, i, row, j);
    gram_gradient_weights(g, t->strip, both, t->adjoints);
    forwards(g, t);
    backwards(g, t, g->engine->roots[0], t->adjoints, 0);
}

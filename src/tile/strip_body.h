/* Evaluating the expression for one strip, for one type: included by strip.c for f64 and for f32.
 *
 * The includer defines REAL, NAME(name), GEMM, the type's tables STRIPS and VECMATH (of `engine`), and the functions
 * where the types differ: NAME(profile), NAME(from_double). */

/* One squared distance by differences: the same operations as in the strips. */
static REAL NAME(one_sqdist)(int64_t d, const REAL *weights, const REAL *x, const REAL *y)
{
    REAL sum = 0;
    for (int64_t l = 0; l < d; l++) {
        const REAL t = x[l * GRAM_PANEL] - y[l * GRAM_PANEL];
        sum += (weights ? weights[l] * t : t) * t;
    }
    return sum;
}

/* Squared distances from a product; where that cost digits, again from differences: one by one if they are few. */
static void NAME(sqdist_by_product)(const gram_engine *engine, gram_strip *strip, const gram_form_entry *form,
                                    REAL *out)
{
    enum { FEW = GRAM_STRIP_SIZE / 32 };
    const REAL cut = (REAL)0.125;
    const gram_panels *stored = &engine->metrics[form->metric].x;
    const REAL *x = NAME(gram_panels)(stored, strip->row_panel) + strip->row;
    const REAL *y = NAME(gram_panels)(gram_engine_columns(engine, form->metric), strip->column_panel);
    const gram_panels *centred = &engine->metrics[form->product_metric].x;
    const REAL *x_norms = centred->NAME(norms) + strip->row_panel * GRAM_PANEL + strip->row;
    const REAL *y_norms =
        gram_engine_columns(engine, form->product_metric)->NAME(norms) + strip->column_panel * GRAM_PANEL;
    STRIPS.dot(stored->d, NULL, NAME(gram_panels)(centred, strip->row_panel) + strip->row,
               NAME(gram_panels)(gram_engine_columns(engine, form->product_metric), strip->column_panel), out);
    const int lost = STRIPS.sqdist_from_dot(cut, x_norms, y_norms, out, out);
    if (lost == 0) return;
    if (lost > FEW) {
        STRIPS.sqdist(stored->d, form->NAME(weights), x, y, out);
        return;
    }
    for (int i = 0; i < GRAM_STRIP; i++)
        for (int j = 0; j < GRAM_PANEL; j++)
            if (!(out[i * GRAM_PANEL + j] >= cut * (x_norms[i] + y_norms[j])))
                out[i * GRAM_PANEL + j] = NAME(one_sqdist)(stored->d, form->NAME(weights), x + i, y + j);
}

static void NAME(make_form)(const gram_engine *engine, gram_strip *strip, const gram_form_entry *form, REAL *out)
{
    const gram_panels *rows = &engine->metrics[form->metric].x;
    const REAL *x = NAME(gram_panels)(rows, strip->row_panel) + strip->row;
    const REAL *y = NAME(gram_panels)(gram_engine_columns(engine, form->metric), strip->column_panel);
    switch (form->kind) {
    case GRAM_FORM_L1: STRIPS.l1(rows->d, form->NAME(weights), x, y, out); break;
    case GRAM_FORM_DOT: STRIPS.dot(rows->d, NULL, x, y, out); break;
    default:
        if (form->product_metric >= 0)
            NAME(sqdist_by_product)(engine, strip, form, out);
        else
            STRIPS.sqdist(rows->d, form->NAME(weights), x, y, out);
    }
}

/* The form of a strip: in `out`, or where it is kept for all that use it. */
static const REAL *NAME(form)(const gram_engine *engine, gram_strip *strip, int index, REAL *out)
{
    const gram_form_entry *form = &engine->forms[index];
    if (form->slot < 0) {
        NAME(make_form)(engine, strip, form, out);
        return out;
    }
    REAL *kept = (REAL *)strip->kept + form->slot * GRAM_STRIP_SIZE;
    if (!strip->ready[index]) NAME(make_form)(engine, strip, form, kept);
    strip->ready[index] = 1;
    return kept;
}

/* Evaluates a node into out and returns the constant factor that is still to be multiplied in, so that constants cost
 * nothing; `free_slots` are strips for operands. With a factor of 0, out may hold anything. */
static REAL NAME(evaluate)(const gram_engine *engine, gram_strip *strip, int index, REAL *out, REAL *free_slots);

static REAL NAME(evaluate_leaf)(const gram_engine *engine, gram_strip *strip, const gram_program_node *leaf, REAL *out)
{
    if (leaf->type->form == GRAM_FORM_NONE) {
        VECMATH.fill(GRAM_STRIP_SIZE, 1, out);
        return (REAL)leaf->par[0];
    }
    if (leaf->type->form == GRAM_FORM_SAME && !gram_strip_may_share(engine, strip)) return 0;
    if (leaf->type->form == GRAM_FORM_SAME || leaf->type->form == GRAM_FORM_COORDS) {
        gram_engine_special(engine, strip, leaf, strip->work);
        NAME(from_double)(engine, strip->work, out);
        return 1;
    }
    NAME(profile)(engine, strip, leaf, NAME(form)(engine, strip, leaf->form, out), out);
    return 1;
}

/* The first operand's factor waits until the second is added. */
static REAL NAME(evaluate_sum)(const gram_engine *engine, gram_strip *strip, const gram_program_node *node, REAL *out,
                               REAL *free_slots)
{
    REAL offset = 0, pending = 0; /* 0: nothing in out yet */
    for (int i = 0; i < node->child_count; i++) {
        const gram_program_node *child = &engine->nodes[node->children[i]];
        if (gram_program_is_constant(child)) {
            offset += (REAL)child->par[0];
            continue;
        }
        REAL *target = pending != 0 ? free_slots : out;
        const REAL factor = NAME(evaluate)(engine, strip, node->children[i], target, target + GRAM_STRIP_SIZE);
        if (factor == 0) continue;
        if (target != out) VECMATH.combine(GRAM_STRIP_SIZE, factor, target, pending, out);
        pending = target == out ? factor : 1;
    }
    if (pending == 0) {
        VECMATH.fill(GRAM_STRIP_SIZE, 1, out);
        return offset;
    }
    if (offset == 0) return pending;
    VECMATH.affine(GRAM_STRIP_SIZE, pending, offset, out, out);
    return 1;
}

static REAL NAME(evaluate_product)(const gram_engine *engine, gram_strip *strip, const gram_program_node *node,
                                   REAL *out, REAL *free_slots)
{
    REAL factor = 1;
    int filled = 0;
    for (int i = 0; i < node->child_count; i++) {
        const gram_program_node *child = &engine->nodes[node->children[i]];
        if (gram_program_is_constant(child)) {
            factor *= (REAL)child->par[0];
            continue;
        }
        REAL *target = filled ? free_slots : out;
        factor *= NAME(evaluate)(engine, strip, node->children[i], target, target + GRAM_STRIP_SIZE);
        if (factor == 0) return 0;
        if (filled) VECMATH.multiply(GRAM_STRIP_SIZE, target, out);
        filled = 1;
    }
    if (!filled) VECMATH.fill(GRAM_STRIP_SIZE, 1, out);
    return factor;
}

static REAL NAME(evaluate)(const gram_engine *engine, gram_strip *strip, int index, REAL *out, REAL *free_slots)
{
    const gram_program_node *node = &engine->nodes[index];
    switch (node->node) {
    case GRAM_NODE_LEAF: return NAME(evaluate_leaf)(engine, strip, node, out);
    case GRAM_NODE_SUM: return NAME(evaluate_sum)(engine, strip, node, out, free_slots);
    case GRAM_NODE_PRODUCT: return NAME(evaluate_product)(engine, strip, node, out, free_slots);
    default: break;
    }
    const REAL factor = NAME(evaluate)(engine, strip, node->children[0], out, free_slots);
    if (factor == 0) return 0;
    if (factor != 1) VECMATH.affine(GRAM_STRIP_SIZE, factor, 0, out, out);
    VECMATH.power(GRAM_STRIP_SIZE, node->exponent, out, out);
    return 1;
}

REAL *NAME(gram_engine_strip)(const gram_engine *engine, void *scratch, int64_t row_panel, int row,
                              int64_t column_panel)
{
    gram_strip *strip = scratch;
    REAL *out = strip->slots;
    gram_strip_move(engine, strip, row_panel, row, column_panel);
    const REAL factor = NAME(evaluate)(engine, strip, engine->node_count - 1, out, out + GRAM_STRIP_SIZE);
    if (factor == 0)
        VECMATH.fill(GRAM_STRIP_SIZE, 0, out);
    else if (factor != 1)
        VECMATH.affine(GRAM_STRIP_SIZE, factor, 0, out, out);
    return out;
}

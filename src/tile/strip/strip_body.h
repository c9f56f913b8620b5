/* Evaluating the expression for one strip, for one type: included by strip.c for f64 and for f32.
 *
 * The includer defines REAL, NAME(name), the type's tables STRIPS and VECMATH (of `engine`), and the functions
 * where the types differ: NAME(profile), NAME(from_double), NAME(object_form). */

/* One squared distance by differences. */
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
    STRIPS.dot(stored->d, NAME(gram_panels)(centred, strip->row_panel) + strip->row,
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
    if (engine->metrics[form->metric].kind != GRAM_OBJECT_NONE) {
        NAME(object_form)(engine, strip, form, out);
        return;
    }
    const gram_panels *rows = &engine->metrics[form->metric].x;
    const REAL *x = NAME(gram_panels)(rows, strip->row_panel) + strip->row;
    const REAL *y = NAME(gram_panels)(gram_engine_columns(engine, form->metric), strip->column_panel);
    if (gram_strip_stopped(strip, rows->d)) {
        memset(out, 0, GRAM_STRIP_SIZE * sizeof *out);
        return;
    }
    switch (form->kind) {
    case GRAM_FORM_L1: STRIPS.l1(rows->d, form->NAME(weights), x, y, out); break;
    case GRAM_FORM_DOT: STRIPS.dot(rows->d, x, y, out); break;
    default:
        if (form->product_metric >= 0)
            NAME(sqdist_by_product)(engine, strip, form, out);
        else
            STRIPS.sqdist(rows->d, form->NAME(weights), x, y, out);
    }
}

/* The form of a strip: made in `out`, or kept for all that use it. The last user may overwrite what was kept. */
static const REAL *NAME(form)(const gram_engine *engine, gram_strip *strip, int index, REAL **out)
{
    const gram_form_entry *form = &engine->forms[index];
    if (form->slot < 0) {
        NAME(make_form)(engine, strip, form, *out);
        return *out;
    }
    REAL *kept = (REAL *)strip->kept + form->slot * GRAM_STRIP_SIZE;
    if (strip->used[index] == 0) NAME(make_form)(engine, strip, form, kept);
    if (++strip->used[index] == form->users) *out = kept;
    return kept;
}

/* A node's value is factor * at[...]: constants wait as a factor and cost nothing. With a factor of 0, `at` may hold
 * anything. */
typedef struct NAME(value) {
    REAL factor;
    REAL *at;
} NAME(value);

/* Evaluates a node, in slots[0] or where a form was kept; the slots after it are for operands. */
static NAME(value) NAME(evaluate)(const gram_engine *engine, gram_strip *strip, int index, REAL *slots);

static NAME(value)
    NAME(evaluate_leaf)(const gram_engine *engine, gram_strip *strip, const gram_program_node *leaf, REAL *out)
{
    NAME(value) value = {1, out};
    switch (leaf->type->form) {
    case GRAM_FORM_NONE:
        VECMATH.fill(GRAM_STRIP_SIZE, 1, out);
        value.factor = (REAL)leaf->par[0];
        break;
    case GRAM_FORM_SAME:
    case GRAM_FORM_COORDS:
    case GRAM_FORM_INDEX:
        if (leaf->type->form == GRAM_FORM_SAME && !gram_strip_may_share(engine, strip)) {
            value.factor = 0;
            break;
        }
        gram_engine_special(engine, strip, leaf, strip->work);
        NAME(from_double)(engine, strip->work, out);
        break;
    default: {
        const REAL *form = NAME(form)(engine, strip, leaf->form, &value.at);
        NAME(profile)(engine, strip, leaf, form, value.at);
    }
    }
    return value;
}

/* The first operand's factor waits until the second is added. */
static NAME(value)
    NAME(evaluate_sum)(const gram_engine *engine, gram_strip *strip, const gram_program_node *node, REAL *slots)
{
    NAME(value) sum = {0, NULL};
    REAL offset = 0;
    for (int i = 0; i < node->child_count; i++) {
        const gram_program_node *child = &engine->nodes[node->children[i]];
        if (gram_program_is_constant(child)) {
            offset += (REAL)child->par[0];
            continue;
        }
        const NAME(value) term =
            NAME(evaluate)(engine, strip, node->children[i], sum.at ? slots + GRAM_STRIP_SIZE : slots);
        if (term.factor == 0) continue;
        if (!sum.at) {
            sum = term;
            continue;
        }
        VECMATH.combine(GRAM_STRIP_SIZE, term.factor, term.at, sum.factor, sum.at);
        sum.factor = 1;
    }
    if (!sum.at) {
        VECMATH.fill(GRAM_STRIP_SIZE, 1, slots);
        return (NAME(value)){offset, slots};
    }
    if (offset == 0) return sum;
    VECMATH.affine(GRAM_STRIP_SIZE, sum.factor, offset, sum.at, sum.at);
    return (NAME(value)){1, sum.at};
}

static NAME(value)
    NAME(evaluate_product)(const gram_engine *engine, gram_strip *strip, const gram_program_node *node, REAL *slots)
{
    NAME(value) product = {1, NULL};
    for (int i = 0; i < node->child_count; i++) {
        const gram_program_node *child = &engine->nodes[node->children[i]];
        if (gram_program_is_constant(child)) {
            product.factor *= (REAL)child->par[0];
            continue;
        }
        const NAME(value) operand =
            NAME(evaluate)(engine, strip, node->children[i], product.at ? slots + GRAM_STRIP_SIZE : slots);
        product.factor *= operand.factor;
        if (!product.at)
            product.at = operand.at;
        else if (product.factor != 0)
            VECMATH.multiply(GRAM_STRIP_SIZE, operand.at, product.at);
    }
    if (!product.at) {
        VECMATH.fill(GRAM_STRIP_SIZE, 1, slots);
        product.at = slots;
    }
    return product;
}

/* Multiplies the waiting factor in. */
static REAL *NAME(settle)(const gram_engine *engine, NAME(value) value)
{
    if (value.factor == 0)
        VECMATH.fill(GRAM_STRIP_SIZE, 0, value.at);
    else if (value.factor != 1)
        VECMATH.affine(GRAM_STRIP_SIZE, value.factor, 0, value.at, value.at);
    return value.at;
}

static NAME(value) NAME(evaluate)(const gram_engine *engine, gram_strip *strip, int index, REAL *slots)
{
    const gram_program_node *node = &engine->nodes[index];
    switch (node->node) {
    case GRAM_NODE_LEAF: return NAME(evaluate_leaf)(engine, strip, node, slots);
    case GRAM_NODE_SUM: return NAME(evaluate_sum)(engine, strip, node, slots);
    case GRAM_NODE_PRODUCT: return NAME(evaluate_product)(engine, strip, node, slots);
    case GRAM_NODE_MEAN:
        gram_bag_strip(node->bags, strip, strip->bags, strip->work);
        NAME(from_double)(engine, strip->work, slots);
        return (NAME(value)){1, slots};
    default: break;
    }
    REAL *child = NAME(settle)(engine, NAME(evaluate)(engine, strip, node->children[0], slots));
    if (node->node == GRAM_NODE_POWER)
        VECMATH.power(GRAM_STRIP_SIZE, node->exponent, child, child);
    else if (node->node == GRAM_NODE_EXP)
        VECMATH.exp_scaled(GRAM_STRIP_SIZE, 1, child, child);
    else
        NAME(gram_terms_apply)(node->terms, strip, child);
    if (node->node == GRAM_NODE_AFTER) NAME(profile)(engine, strip, node, child, child);
    return (NAME(value)){1, child};
}

REAL *NAME(gram_engine_strip)(const gram_engine *engine, void *scratch, int64_t row_panel, int row,
                              int64_t column_panel)
{
    gram_strip *strip = scratch;
    gram_strip_move(engine, strip, row_panel, row, column_panel);
    if (engine->functionals) return NAME(functional)(engine, strip, 0);
    return NAME(settle)(engine, NAME(evaluate)(engine, strip, engine->roots[0], strip->slots));
}

REAL *NAME(gram_engine_other)(const gram_engine *engine, void *scratch, int number)
{
    gram_strip *strip = scratch;
    if (engine->functionals) return NAME(functional)(engine, strip, number);
    return NAME(settle)(engine, NAME(evaluate)(engine, strip, engine->roots[number], strip->slots));
}

/* Making an engine: compile the kernel, decide which packings of the points it needs, pack them. */
#include "engine.h"

#include <math.h>
#include <string.h>

#include <gram/text.h>

typedef struct compiler {
    gram_context *context;
    gram_engine *engine;
    const gram_engine_request *request;
    const double *centre; /* of the stored columns; made when first needed */
} compiler;

static gram_status arena_take(compiler *c, int64_t count, size_t size, void **out)
{
    return gram_arena_take(c->context, &c->engine->arena, "kernel program", count, size, out);
}

/* ---- metrics and forms, each distinct one once ---- */

static int same_numbers(int64_t count, const double *a, const double *b)
{
    if (!a || !b) return a == b;
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

static int same_mapping(const gram_mapping *a, const gram_mapping *b)
{
    return a->d == b->d && memcmp(a->columns, b->columns, (size_t)a->d * sizeof *a->columns) == 0 &&
           same_numbers(a->d, a->shift, b->shift) && same_numbers(a->d, a->divide, b->divide) &&
           same_numbers(a->d * a->d, a->factor, b->factor);
}

static int add_metric(compiler *c, const gram_metric *wanted)
{
    gram_engine *engine = c->engine;
    for (int i = 0; i < engine->metric_count; i++)
        if (same_mapping(&engine->metrics[i].mapping, &wanted->mapping) &&
            engine->metrics[i].single == wanted->single && engine->metrics[i].norms == wanted->norms)
            return i;
    engine->metrics[engine->metric_count] = *wanted;
    return engine->metric_count++;
}

static int add_form(compiler *c, const gram_form_entry *wanted)
{
    gram_engine *engine = c->engine;
    for (int i = 0; i < engine->form_count; i++) {
        gram_form_entry *form = &engine->forms[i];
        const int64_t d = form->metric >= 0 ? engine->metrics[form->metric].mapping.d : 0;
        if (form->kind == wanted->kind && form->metric == wanted->metric && form->kind != GRAM_FORM_COORDS &&
            same_numbers(d, form->weights_f64, wanted->weights_f64)) {
            form->users++;
            return i;
        }
    }
    engine->forms[engine->form_count] = *wanted;
    engine->forms[engine->form_count].users = 1;
    return engine->form_count++;
}

/* ---- distances from inner products ---- */

static gram_status find_centre(compiler *c)
{
    gram_status status = GRAM_OK;
    const gram_points *x = c->request->x;
    double *centre;
    if (c->centre) return GRAM_OK;
    TRY(arena_take(c, x->d, sizeof(double), (void **)&centre));
    for (int64_t i = 0; i < x->n; i++)
        for (int64_t l = 0; l < x->d; l++) centre[l] += gram_points_at(x, i, l);
    for (int64_t l = 0; l < x->d; l++) centre[l] /= (double)x->n;
    c->centre = centre;
done:
    return status;
}

static gram_status gather_centre(compiler *c, const gram_mapping *mapping, const double **shift)
{
    gram_status status = GRAM_OK;
    double *gathered;
    TRY(find_centre(c));
    TRY(arena_take(c, mapping->d, sizeof(double), (void **)&gathered));
    for (int64_t l = 0; l < mapping->d; l++) gathered[l] = c->centre[mapping->columns[l]];
    *shift = gathered;
done:
    return status;
}

/* A squared distance of many columns is made from inner products of centred points, divided by their length-scales. */
static gram_status plan_product(compiler *c, const gram_argument *length, gram_form_entry *form)
{
    gram_status status = GRAM_OK;
    gram_metric metric = c->engine->metrics[form->metric];
    form->product_metric = -1;
    if (form->kind != GRAM_FORM_SQDIST || metric.mapping.d <= GRAM_DIRECT_COLUMNS) return GRAM_OK;
    metric.norms = 1;
    if (!metric.mapping.shift) TRY(gather_centre(c, &metric.mapping, &metric.mapping.shift));
    if (length && length->count > 1) metric.mapping.divide = length->values;
    form->product_metric = add_metric(c, &metric);
done:
    return status;
}

/* ---- leaves ---- */

/* 1/ell^2 or 1/ell; in the engine's type finite for the smallest ell too, since 0 times it must stay 0 */
static double inverse_length(const compiler *c, gram_form form, double ell)
{
    const double most = c->engine->single ? 1e36 : 1e300;
    return fmin(form == GRAM_FORM_SQDIST ? 1 / (ell * ell) : 1 / ell, most);
}

/* 1/ell^2 for each column (squared distance) or 1/ell (L1), in both types */
static gram_status make_weights(compiler *c, const gram_argument *length, gram_form_entry *form)
{
    gram_status status = GRAM_OK;
    double *weights;
    float *weights_f32;
    TRY(arena_take(c, length->count, sizeof(double), (void **)&weights));
    TRY(arena_take(c, length->count, sizeof(float), (void **)&weights_f32));
    for (int64_t l = 0; l < length->count; l++) {
        weights[l] = inverse_length(c, form->kind, length->values[l]);
        weights_f32[l] = (float)weights[l];
    }
    form->weights_f64 = weights;
    form->weights_f32 = weights_f32;
done:
    return status;
}

static gram_status copy_argument(compiler *c, const gram_argument *argument, const gram_argument **out)
{
    gram_status status = GRAM_OK;
    gram_argument *copy;
    TRY(arena_take(c, 1, sizeof *copy, (void **)&copy));
    *copy = *argument;
    copy->fixed = NULL;
    TRY(arena_take(c, argument->count, sizeof(double), (void **)&copy->values));
    memcpy(copy->values, argument->values, (size_t)argument->count * sizeof(double));
    *out = copy;
done:
    return status;
}

static gram_status plan_covariance(compiler *c, const gram_argument *covariance, gram_metric *metric,
                                   gram_program_node *node)
{
    gram_status status = GRAM_OK;
    double *factor;
    TRY(arena_take(c, covariance->count, sizeof(double), (void **)&factor));
    FAIL_IF(!gram_small_cholesky(covariance->rows, covariance->values, factor), c->context, GRAM_ERROR_NUMERICAL,
            "%s: S is not positive definite", node->type->name);
    node->factor = factor;
    metric->mapping.factor = factor;
    TRY(gather_centre(c, &metric->mapping, &metric->mapping.shift));
done:
    return status;
}

static gram_status plan_form(compiler *c, const gram_kernel *leaf, int64_t d, const int64_t *columns,
                             gram_program_node *node)
{
    gram_status status = GRAM_OK;
    gram_form_entry form = {.kind = leaf->type->form, .metric = -1, .product_metric = -1};
    gram_metric metric = {.mapping = {.d = d, .columns = columns}, .single = c->engine->single};
    const gram_argument *length = gram_kernel_argument(leaf, GRAM_ROLE_LENGTH);
    const gram_argument *covariance = gram_kernel_argument(leaf, GRAM_ROLE_COVARIANCE);
    node->form = -1;
    node->shape.scale = 1;
    if (form.kind == GRAM_FORM_NONE) return GRAM_OK;
    if (length) TRY(copy_argument(c, length, &node->length));
    if (form.kind != GRAM_FORM_SAME) {
        if (form.kind == GRAM_FORM_COORDS) metric.single = 0; /* such kernels compute in f64 */
        if (covariance) TRY(plan_covariance(c, covariance, &metric, node));
        form.metric = add_metric(c, &metric);
        if (length && length->count > 1) TRY(make_weights(c, node->length, &form));
        TRY(plan_product(c, node->length, &form));
    }
    if (length && length->count == 1) node->shape.scale = inverse_length(c, form.kind, length->values[0]);
    node->form = add_form(c, &form);
done:
    return status;
}

static int64_t count_parameters(const gram_kernel *leaf)
{
    int64_t count = 0;
    for (int spec = 0; spec < leaf->type->spec_count; spec++) {
        const gram_argument *argument = &leaf->arguments[spec];
        switch (leaf->type->specs[spec].role) {
        case GRAM_ROLE_STRUCTURE: break;
        case GRAM_ROLE_COVARIANCE: count += argument->rows * (argument->rows + 1) / 2; break;
        default: count += argument->count; break;
        }
    }
    return count;
}

/* NULL, or why the kernel is not defined at a coordinate. */
static const char *refuse_coordinate(const gram_kernel_type *type, const double *par, double value)
{
    if (type->domain_lower && value < type->domain_lower(par)) return "is below the kernel's origin";
    return type->domain_refuse ? type->domain_refuse(par, value) : NULL;
}

static gram_status check_domain(compiler *c, const gram_program_node *leaf, const gram_points *points, const char *name,
                                int64_t d, const int64_t *columns)
{
    gram_status status = GRAM_OK;
    if (!points || (!leaf->type->domain_lower && !leaf->type->domain_refuse)) return GRAM_OK;
    for (int64_t i = 0; i < points->n; i++)
        for (int64_t l = 0; l < d; l++) {
            const double value = gram_points_at(points, i, columns[l]);
            const char *reason = refuse_coordinate(leaf->type, leaf->par, value);
            char shown[GRAM_NUMBER_SIZE];
            if (!reason) continue;
            TRY(gram_fail_place(c->context, GRAM_ERROR_DOMAIN, i, columns[l], "%s: %s[%lld][%lld] = %s %s",
                                leaf->type->name, name, (long long)i, (long long)columns[l],
                                gram_number_format(value, shown), reason));
        }
done:
    return status;
}

static gram_status compile_leaf(compiler *c, const gram_kernel *leaf, int64_t d, const int64_t *columns,
                                gram_program_node *node)
{
    gram_status status = GRAM_OK;
    node->node = GRAM_NODE_LEAF;
    node->type = leaf->type;
    gram_kernel_par(leaf, node->par);
    node->parameter = c->engine->parameter_count;
    c->engine->parameter_count += count_parameters(leaf);
    TRY(check_domain(c, node, c->request->x, "x", d, columns));
    TRY(check_domain(c, node, c->request->y, "y", d, columns));
    if (leaf->type->prepare) {
        void *data;
        TRY(arena_take(c, 1, leaf->type->data_bytes, &data));
        leaf->type->prepare(node->par, data);
        node->shape.data = data;
    }
    TRY(plan_form(c, leaf, d, columns, node));
done:
    return status;
}

/* ---- the tree ---- */

static gram_status compile(compiler *c, const gram_kernel *kernel, int64_t d, const int64_t *columns, int *index);

static gram_status compile_on(compiler *c, const gram_kernel *kernel, const int64_t *columns, int *index)
{
    gram_status status = GRAM_OK;
    int64_t *chosen;
    TRY(arena_take(c, kernel->column_count, sizeof(int64_t), (void **)&chosen));
    for (int64_t l = 0; l < kernel->column_count; l++) chosen[l] = columns[kernel->columns[l]];
    TRY(compile(c, kernel->children[0], kernel->column_count, chosen, index));
done:
    return status;
}

/* Is the node 0 for different observations? */
static int sees_same(const gram_engine *engine, int index)
{
    const gram_program_node *node = &engine->nodes[index];
    if (node->node == GRAM_NODE_LEAF) return node->type->form == GRAM_FORM_SAME;
    for (int i = 0; node->node != GRAM_NODE_SUM && i < node->child_count; i++)
        if (sees_same(engine, node->children[i])) return 1;
    return 0;
}

/* Terms that are skipped in most strips come last in a sum: then it is rounded alike with and without them. */
static void put_same_last(const gram_engine *engine, int count, int *children)
{
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && sees_same(engine, children[j - 1]) && !sees_same(engine, children[j]); j--) {
            const int moved = children[j];
            children[j] = children[j - 1];
            children[j - 1] = moved;
        }
}

static gram_status compile(compiler *c, const gram_kernel *kernel, int64_t d, const int64_t *columns, int *index)
{
    gram_status status = GRAM_OK;
    gram_program_node node = {.form = -1, .shape = {.scale = 1}};
    int *children = NULL;
    if (kernel->node == GRAM_NODE_ON) return compile_on(c, kernel, columns, index);
    if (kernel->node == GRAM_NODE_LEAF) {
        TRY(compile_leaf(c, kernel, d, columns, &node));
    } else {
        TRY(arena_take(c, kernel->child_count, sizeof(int), (void **)&children));
        for (int i = 0; i < kernel->child_count; i++) TRY(compile(c, kernel->children[i], d, columns, &children[i]));
        if (kernel->node == GRAM_NODE_SUM) put_same_last(c->engine, kernel->child_count, children);
        node.node = kernel->node;
        node.exponent = kernel->exponent;
        node.child_count = kernel->child_count;
        node.children = children;
    }
    *index = c->engine->node_count++;
    c->engine->nodes[*index] = node;
    c->engine->nodes[*index].shape.par = c->engine->nodes[*index].par;
done:
    return status;
}

/* Strips that evaluating a node takes: its own result, and one more for each operand beside it. */
static int slots_needed(const gram_engine *engine, int index)
{
    const gram_program_node *node = &engine->nodes[index];
    int most = 1;
    for (int i = 0; i < node->child_count; i++) {
        const int needed = slots_needed(engine, node->children[i]) + (i > 0 ? 1 : 0);
        if (needed > most) most = needed;
    }
    return most;
}

static gram_status compile_kernel(compiler *c)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = c->engine;
    const gram_kernel *kernel = c->request->kernel;
    int64_t *columns;
    int root;
    TRY(arena_take(c, kernel->size, sizeof(gram_program_node), (void **)&engine->nodes));
    TRY(arena_take(c, kernel->size, sizeof(gram_form_entry), (void **)&engine->forms));
    TRY(arena_take(c, 2 * kernel->size, sizeof(gram_metric), (void **)&engine->metrics));
    TRY(arena_take(c, engine->d, sizeof(int64_t), (void **)&columns));
    for (int64_t l = 0; l < engine->d; l++) columns[l] = l;
    TRY(compile(c, kernel, engine->d, columns, &root));
    engine->slot_count = slots_needed(engine, root);
    for (int i = 0; i < engine->form_count; i++)
        engine->forms[i].slot = engine->forms[i].users > 1 ? engine->kept_forms++ : -1;
done:
    return status;
}

static gram_status pack(compiler *c)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = c->engine;
    const gram_points *columns = c->request->y ? c->request->y : c->request->x;
    for (int i = 0; i < engine->metric_count; i++) {
        gram_metric *metric = &engine->metrics[i];
        TRY(gram_panels_create(c->context, c->request->x, 0, NULL, &metric->mapping, metric->single, metric->norms,
                               &metric->x));
        if (engine->symmetric) continue;
        TRY(gram_panels_create(c->context, columns, c->request->count, c->request->index, &metric->mapping,
                               metric->single, metric->norms, &metric->y));
    }
done:
    return status;
}

static gram_status check_request(gram_context *context, const gram_engine_request *request)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!request->kernel, context, GRAM_ERROR_ARGUMENT, "gram matrix: kernel is NULL");
    FAIL_IF(!request->x, context, GRAM_ERROR_ARGUMENT, "gram matrix: x is NULL");
    FAIL_IF(request->y && request->y->d != request->x->d, context, GRAM_ERROR_DIMENSION,
            "gram matrix: x has %lld columns, y has %lld", (long long)request->x->d, (long long)request->y->d);
    TRY(gram_kernel_check_set(context, request->kernel));
    TRY(gram_kernel_check_dimension(context, request->kernel, request->x->d));
    for (int64_t j = 0; request->index && j < request->count; j++)
        FAIL_IF(request->index[j] < 0 || request->index[j] >= request->x->n, context, GRAM_ERROR_ARGUMENT,
                "gram matrix: index[%lld] = %lld is not among the %lld points", (long long)j,
                (long long)request->index[j], (long long)request->x->n);
done:
    return status;
}

static void set_shape(gram_engine *engine, const gram_engine_request *request)
{
    const gram_points *y = request->y ? request->y : request->x;
    engine->n = request->x->n;
    engine->m = request->index ? request->count : y->n;
    engine->d = request->x->d;
    engine->symmetric = y == request->x && !request->index;
    engine->shared = y == request->x;
    engine->ids = request->index;
    engine->single = request->x->f32 && y->f32 && !request->always_double;
}

gram_status gram_engine_create(gram_context *context, const gram_engine_request *request, gram_engine **engine)
{
    gram_status status = GRAM_OK;
    gram_engine *made = NULL;
    *engine = NULL;
    TRY(check_request(context, request));
    TRY(gram_take(context, "kernel program", 1, sizeof *made, (void **)&made));
    memset(made, 0, sizeof *made);
    made->memory = gram_memory_retain(context->memory);
    gram_arena_init(&made->arena, made->memory);
    made->vecmath = context->vecmath;
    made->strips = gram_strips_choose(context->vecmath->isa);
    set_shape(made, request);
    compiler c = {context, made, request, NULL};
    TRY(compile_kernel(&c));
    TRY(pack(&c));
    *engine = made;
    made = NULL;
done:
    gram_engine_destroy(made);
    return status;
}

void gram_engine_destroy(gram_engine *engine)
{
    if (!engine) return;
    for (int i = 0; i < engine->metric_count; i++) {
        gram_panels_destroy(&engine->metrics[i].x);
        gram_panels_destroy(&engine->metrics[i].y);
    }
    gram_arena_release(&engine->arena);
    gram_memory *memory = engine->memory;
    gram_memory_give(memory, engine, sizeof *engine);
    gram_memory_release(memory);
}

/* Compiling a kernel: the tree becomes nodes over distinct forms, on distinct packings of the points. */
#include "tile/engine.h"

#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "tile/embedding/bag_part.h"

_Static_assert((int)GRAM_PANEL <= (int)GRAM_BLOCK_COLUMNS, "a block of coordinates has a panel's columns");

typedef struct compiler {
    gram_context *context;
    gram_engine *engine;
    const gram_engine_request *request;
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
    return a->d == b->d && a->source_count == b->source_count &&
           memcmp(a->columns, b->columns, (size_t)a->source_count * sizeof *a->columns) == 0 &&
           same_numbers(a->d * a->source_count, a->matrix, b->matrix) && same_numbers(a->d, a->shift, b->shift) &&
           same_numbers(a->d, a->divide, b->divide) && same_numbers(a->d * a->d, a->factor, b->factor);
}

static int add_metric(compiler *c, const gram_metric *wanted)
{
    gram_engine *engine = c->engine;
    for (int i = 0; i < engine->metric_count; i++)
        if (same_mapping(&engine->metrics[i].mapping, &wanted->mapping) &&
            engine->metrics[i].single == wanted->single && engine->metrics[i].norms == wanted->norms &&
            engine->metrics[i].l1 == wanted->l1 && engine->metrics[i].type == wanted->type &&
            engine->metrics[i].bags == wanted->bags &&
            (!wanted->type ||
             memcmp(engine->metrics[i].par, wanted->par, (size_t)wanted->type->spec_count * sizeof *wanted->par) == 0))
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

/* The mean of the points, before they are divided or multiplied by a factor. */
static gram_status make_centre(compiler *c, const gram_points *x, const gram_mapping *mapping, const double **shift)
{
    gram_status status = GRAM_OK;
    gram_mapping plain = *mapping;
    plain.shift = plain.divide = plain.factor = NULL;
    double *centre, *u;
    TRY(arena_take(c, mapping->d, sizeof(double), (void **)&centre));
    TRY(arena_take(c, mapping->d, sizeof(double), (void **)&u));
    for (int64_t i = 0; i < x->n; i++) {
        gram_mapping_point(&plain, x, i, u);
        for (int64_t l = 0; l < mapping->d; l++) centre[l] += u[l];
    }
    for (int64_t l = 0; l < mapping->d; l++) centre[l] /= (double)x->n;
    *shift = centre;
done:
    return status;
}

/* A squared distance of many columns is made from inner products of centred points, divided by their length-scales. */
static gram_status plan_product(compiler *c, const gram_argument *length, gram_form_entry *form)
{
    gram_status status = GRAM_OK;
    gram_metric metric = c->engine->metrics[form->metric];
    form->product_metric = -1;
    if (form->kind != GRAM_FORM_SQDIST || metric.mapping.d <= GRAM_DIRECT_COLUMNS || metric.kind) return GRAM_OK;
    metric.norms = 1;
    const gram_points *x = metric.bags ? metric.bags->x : c->request->x;
    if (!metric.mapping.shift) TRY(make_centre(c, x, &metric.mapping, &metric.mapping.shift));
    if (length && length->count > 1) metric.mapping.divide = length->values;
    form->product_metric = add_metric(c, &metric);
done:
    return status;
}

/* ---- leaves ---- */

/* What a leaf sees: numbers, or one column of something else. */
static gram_object_kind space_kind(const gram_points *x, const gram_mapping *space)
{
    return space->matrix || space->source_count != 1 ? GRAM_OBJECT_NONE : gram_points_kind(x, space->columns[0]);
}

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
    TRY(make_centre(c, c->request->x, &metric->mapping, &metric->mapping.shift));
done:
    return status;
}

static gram_status plan_form(compiler *c, const gram_kernel *leaf, const gram_mapping *space, gram_program_node *node)
{
    gram_status status = GRAM_OK;
    gram_form_entry form = {.kind = node->type->form, .metric = -1, .product_metric = -1};
    gram_metric metric = {.mapping = *space, .single = c->engine->single};
    const gram_argument *length = gram_kernel_argument(leaf, GRAM_ROLE_LENGTH);
    const gram_argument *covariance = gram_kernel_argument(leaf, GRAM_ROLE_COVARIANCE);
    node->form = -1;
    node->shape.scale = 1;
    if (form.kind == GRAM_FORM_NONE) return GRAM_OK;
    if (length) TRY(copy_argument(c, length, &node->length));
    if (form.kind != GRAM_FORM_SAME && form.kind != GRAM_FORM_INDEX) {
        metric.kind = space_kind(c->request->x, space);
        metric.l1 = metric.kind && form.kind == GRAM_FORM_L1;
        if (metric.kind == GRAM_OBJECT_TEXT) {
            double *par;
            TRY(arena_take(c, GRAM_MAX_SPECS, sizeof *par, (void **)&par));
            memcpy(par, node->par, sizeof node->par);
            metric.type = node->type;
            metric.par = par;
        }
        if (form.kind == GRAM_FORM_COORDS) metric.single = 0; /* such kernels compute in f64 */
        metric.norms = node->type->dots;
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

/* The same for the values of sparse rows, and the zeros between them. */
static gram_status check_sparse_domain(compiler *c, const gram_program_node *leaf, const gram_points *points,
                                       const char *name, int64_t column)
{
    gram_status status = GRAM_OK;
    const gram_objects *rows = points->objects[column];
    for (int64_t i = 0; i < points->n; i++) {
        const int64_t at = gram_points_place(points, i, column);
        for (int64_t k = rows->start[at]; k <= rows->start[at + 1]; k++) {
            const double value = k < rows->start[at + 1] ? rows->value[k] : 0;
            const char *reason = refuse_coordinate(leaf->type, leaf->par, value);
            char shown[GRAM_NUMBER_SIZE];
            FAIL_IF(reason, c->context, GRAM_ERROR_DOMAIN, "%s: a value of %s[%lld], %s, %s", leaf->type->name, name,
                    (long long)i, gram_number_format(value, shown), reason);
        }
    }
done:
    return status;
}

static gram_status check_domain(compiler *c, const gram_program_node *leaf, const gram_points *points, const char *name,
                                const gram_mapping *space)
{
    gram_status status = GRAM_OK;
    double *u;
    if (!points || (!leaf->type->domain_lower && !leaf->type->domain_refuse)) return GRAM_OK;
    if (space_kind(points, space) == GRAM_OBJECT_SPARSE)
        return check_sparse_domain(c, leaf, points, name, space->columns[0]);
    TRY(arena_take(c, space->d, sizeof(double), (void **)&u));
    for (int64_t i = 0; i < points->n; i++) {
        gram_mapping_point(space, points, i, u);
        for (int64_t l = 0; l < space->d; l++) {
            const char *reason = refuse_coordinate(leaf->type, leaf->par, u[l]);
            char shown[GRAM_NUMBER_SIZE];
            if (!reason) continue;
            const int64_t column = space->matrix ? l : space->columns[l];
            TRY(gram_fail_place(c->context, GRAM_ERROR_DOMAIN, i, column, "%s: %s[%lld][%lld] = %s %s",
                                leaf->type->name, name, (long long)i, (long long)column,
                                gram_number_format(u[l], shown), reason));
        }
    }
done:
    return status;
}

/* The first pair whose inner product reaches the bound, by looking at them all: only when some norms are so large. */
static gram_status find_overflow(compiler *c, const gram_program_node *leaf, const gram_mapping *space, double bound)
{
    gram_status status = GRAM_OK;
    const gram_points *x = c->request->x, *y = c->request->y ? c->request->y : x;
    double *u, *w;
    FAIL_IF(space_kind(x, space) == GRAM_OBJECT_SPARSE, c->context, GRAM_ERROR_DOMAIN,
            "%s: rows are so long that an entry may be infinite: divide them by a number, or normalise them",
            leaf->type->name);
    TRY(arena_take(c, space->d, sizeof(double), (void **)&u));
    TRY(arena_take(c, space->d, sizeof(double), (void **)&w));
    for (int64_t i = 0; i < x->n; i++) {
        gram_mapping_point(space, x, i, u);
        for (int64_t j = 0; j < y->n; j++) {
            double dot = 0;
            char shown[GRAM_NUMBER_SIZE], limit[GRAM_NUMBER_SIZE];
            gram_mapping_point(space, y, j, w);
            for (int64_t l = 0; l < space->d; l++) dot += u[l] * w[l];
            FAIL_IF(dot >= bound, c->context, GRAM_ERROR_DOMAIN,
                    "%s: x.y = %s of points %lld and %lld gives an infinite entry: it must be below %s",
                    leaf->type->name, gram_number_format(dot, shown), (long long)i, (long long)j,
                    gram_number_format(bound, limit));
        }
    }
done:
    return status;
}

static gram_status largest_norm(compiler *c, const gram_points *points, const gram_mapping *space, double *largest)
{
    gram_status status = GRAM_OK;
    double *u;
    *largest = 0;
    if (space_kind(points, space) == GRAM_OBJECT_SPARSE) {
        const gram_objects *rows = points->objects[space->columns[0]];
        for (int64_t i = 0; i < rows->count; i++) {
            double norm = 0;
            for (int64_t k = rows->start[i]; k < rows->start[i + 1]; k++) norm += rows->value[k] * rows->value[k];
            *largest = fmax(*largest, sqrt(norm));
        }
        return GRAM_OK;
    }
    TRY(arena_take(c, space->d, sizeof(double), (void **)&u));
    for (int64_t i = 0; i < points->n; i++) {
        double norm = 0;
        gram_mapping_point(space, points, i, u);
        for (int64_t l = 0; l < space->d; l++) norm += u[l] * u[l];
        *largest = fmax(*largest, sqrt(norm));
    }
done:
    return status;
}

static gram_status check_form_upper(compiler *c, const gram_program_node *leaf, const gram_mapping *space)
{
    enum { F32_EXPONENT = 128, F64_EXPONENT = 1024 };
    gram_status status = GRAM_OK;
    double x, y;
    if (!leaf->type->form_upper) return GRAM_OK;
    const double bound =
        leaf->type->form_upper(leaf->par) * (c->engine->single ? F32_EXPONENT : F64_EXPONENT) / F64_EXPONENT;
    TRY(largest_norm(c, c->request->x, space, &x));
    TRY(largest_norm(c, c->request->y ? c->request->y : c->request->x, space, &y));
    if (x * y >= bound) TRY(find_overflow(c, leaf, space, bound));
done:
    return status;
}

static gram_status check_index(compiler *c, const gram_kernel *leaf)
{
    gram_status status = GRAM_OK;
    if (leaf->type->form != GRAM_FORM_INDEX) return GRAM_OK;
    FAIL_IF(!c->engine->shared || leaf->external->n != c->engine->n, c->context, GRAM_ERROR_DIMENSION,
            "precomputed %s: its %lld rows are for one set of as many points with itself, not for %lld points%s",
            leaf->external->name, (long long)leaf->external->n, (long long)c->engine->n,
            c->engine->shared ? "" : " with others");
done:
    return status;
}

static gram_status prepare_shape(compiler *c, const gram_kernel *leaf, int64_t d, gram_program_node *node)
{
    gram_status status = GRAM_OK;
    void *data;
    node->shape.d = d;
    node->shape.data = leaf->external;
    if (!node->type->prepare) return GRAM_OK;
    TRY(arena_take(c, 1, node->type->data_bytes, &data));
    node->type->prepare(node->par, d, data);
    node->shape.data = data;
done:
    return status;
}

/* ---- leaves of things that are no numbers ---- */

/* The columns that a leaf sees; of sparse rows, those that they have. */
static int64_t width_of(const gram_points *x, const gram_mapping *space)
{
    return space_kind(x, space) == GRAM_OBJECT_SPARSE ? x->objects[space->columns[0]]->d : space->d;
}

/* Things that the leaf cannot take, and sparse rows of other lengths. */
static gram_status check_kinds(compiler *c, const gram_kernel_type *type, const gram_mapping *space)
{
    gram_status status = GRAM_OK;
    const gram_points *x = c->request->x, *y = c->request->y;
    TRY(gram_leaf_check_kinds(c->context, type, space->source_count, space->columns, space->matrix != NULL, x));
    const int64_t column = space->columns[0];
    if (!y || space_kind(x, space) != GRAM_OBJECT_SPARSE) goto done;
    FAIL_IF(y->objects[column]->d != x->objects[column]->d, c->context, GRAM_ERROR_DIMENSION,
            "gram matrix: the sparse rows of x have %lld columns, those of y %lld", (long long)x->objects[column]->d,
            (long long)y->objects[column]->d);
done:
    return status;
}

static gram_status compile_leaf(compiler *c, const gram_kernel *leaf, const gram_kernel_type *type,
                                const gram_mapping *space, gram_program_node *node)
{
    gram_status status = GRAM_OK;
    type = gram_kernel_variant(type, space_kind(c->request->x, space));
    node->node = GRAM_NODE_LEAF;
    node->type = type;
    gram_kernel_par(leaf, node->par);
    c->engine->parameter_count += count_parameters(leaf);
    TRY(check_kinds(c, type, space));
    TRY(check_domain(c, node, c->request->x, "x", space));
    TRY(check_domain(c, node, c->request->y, "y", space));
    TRY(check_index(c, leaf));
    TRY(check_form_upper(c, node, space));
    TRY(prepare_shape(c, leaf, width_of(c->request->x, space), node));
    TRY(plan_form(c, leaf, space, node));
done:
    return status;
}

/* ---- what a part of the tree sees ---- */

/* Some of the columns; of warped ones, some rows of the matrix. */
static gram_status enter_on(compiler *c, const gram_kernel *kernel, const gram_mapping *outer, gram_mapping *inner)
{
    gram_status status = GRAM_OK;
    const int64_t count = kernel->column_count, width = outer->source_count;
    int64_t *columns;
    double *matrix;
    *inner = *outer;
    inner->d = count;
    if (outer->matrix) {
        TRY(arena_take(c, count * width, sizeof(double), (void **)&matrix));
        for (int64_t l = 0; l < count; l++)
            memcpy(matrix + l * width, outer->matrix + kernel->columns[l] * width, (size_t)width * sizeof(double));
        inner->matrix = matrix;
        return GRAM_OK;
    }
    TRY(arena_take(c, count, sizeof(int64_t), (void **)&columns));
    for (int64_t l = 0; l < count; l++) columns[l] = outer->columns[kernel->columns[l]];
    inner->columns = columns;
    inner->source_count = count;
done:
    return status;
}

/* A x; of what is warped already, the product of the matrices. */
static gram_status enter_warp(compiler *c, const gram_kernel *kernel, const gram_mapping *outer, gram_mapping *inner)
{
    gram_status status = GRAM_OK;
    const int64_t rows = kernel->matrix_rows, middle = kernel->matrix_columns, width = outer->source_count;
    double *matrix;
    *inner = *outer;
    inner->d = rows;
    TRY(arena_take(c, rows * width, sizeof(double), (void **)&matrix));
    for (int64_t i = 0; i < rows; i++)
        for (int64_t m = 0; m < middle; m++)
            for (int64_t j = 0; j < width; j++)
                matrix[i * width + j] +=
                    kernel->matrix[i * middle + m] * (outer->matrix ? outer->matrix[m * width + j] : (double)(m == j));
    inner->matrix = matrix;
done:
    return status;
}

/* ---- the tree ---- */

static gram_status compile(compiler *c, const gram_kernel *kernel, const gram_mapping *space, int *index);

static gram_status compile_inside(compiler *c, const gram_kernel *kernel, const gram_mapping *space, int *index)
{
    gram_status status = GRAM_OK;
    gram_mapping *inner;
    TRY(arena_take(c, 1, sizeof *inner, (void **)&inner));
    TRY((kernel->node == GRAM_NODE_ON ? enter_on : enter_warp)(c, kernel, space, inner));
    TRY(compile(c, kernel->children[0], inner, index));
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

/* The normalised leaf, if the kernel knows it as a kernel of its own, which cannot overflow. */
static const gram_kernel_type *known_normalized(const gram_kernel *kernel)
{
    if (kernel->node != GRAM_NODE_NORMALIZE || kernel->children[0]->node != GRAM_NODE_LEAF) return NULL;
    return kernel->children[0]->type->normalized;
}

static gram_status add_terms(compiler *c, const gram_kernel *kernel, const gram_mapping *space, gram_program_node *node)
{
    gram_status status = GRAM_OK;
    gram_point_terms *terms;
    if (kernel->node != GRAM_NODE_NORMALIZE && kernel->node != GRAM_NODE_SCALE && kernel->node != GRAM_NODE_CENTRE &&
        kernel->node != GRAM_NODE_AFTER)
        return GRAM_OK;
    TRY(arena_take(c, 1, sizeof *terms, (void **)&terms));
    *terms = (gram_point_terms){.node = kernel->node,
                                .child = kernel->children[0],
                                .external = kernel->external,
                                .space = space,
                                .number = c->engine->term_count,
                                .parameter = node->parameter,
                                .parameter_count = c->engine->parameter_count - node->parameter};
    c->engine->terms[c->engine->term_count++] = terms;
    node->terms = terms;
done:
    return status;
}

static gram_status compile_operands(compiler *c, const gram_kernel *kernel, const gram_mapping *space,
                                    gram_program_node *node)
{
    gram_status status = GRAM_OK;
    int *children;
    TRY(arena_take(c, kernel->child_count, sizeof(int), (void **)&children));
    for (int i = 0; i < kernel->child_count; i++) TRY(compile(c, kernel->children[i], space, &children[i]));
    if (kernel->node == GRAM_NODE_SUM) put_same_last(c->engine, kernel->child_count, children);
    node->node = kernel->node;
    node->exponent = kernel->exponent;
    node->child_count = kernel->child_count;
    node->children = children;
    TRY(add_terms(c, kernel, space, node));
done:
    return status;
}

/* ---- bags, and distances that a kernel makes ---- */

/* The form of a leaf on features of bags. */
static gram_status plan_features(compiler *c, const gram_bag_part *bags, gram_program_node *node)
{
    gram_status status = GRAM_OK;
    const int64_t d = bags->x->d;
    gram_form_entry form = {.kind = node->type->form, .product_metric = -1};
    gram_metric metric = {.mapping = {.d = d, .source_count = d}, .bags = bags};
    int64_t *columns;
    TRY(arena_take(c, d, sizeof *columns, (void **)&columns));
    for (int64_t l = 0; l < d; l++) columns[l] = l;
    metric.mapping.columns = columns;
    form.metric = add_metric(c, &metric);
    TRY(plan_product(c, NULL, &form));
    node->form = add_form(c, &form);
done:
    return status;
}

static gram_status set_outer(compiler *c, const gram_kernel *outer, gram_program_node *node)
{
    gram_status status = GRAM_OK;
    const gram_argument *length = gram_kernel_argument(outer, GRAM_ROLE_LENGTH);
    node->type = outer->type;
    gram_kernel_par(outer, node->par);
    c->engine->parameter_count += count_parameters(outer);
    TRY(prepare_shape(c, outer, 1, node));
    if (length) node->shape.scale = inverse_length(c, GRAM_FORM_SQDIST, length->values[0]);
done:
    return status;
}

/* `outer`: a leaf of the distance of features; NULL: of their inner product, or pairs of rows. */
static gram_status compile_mean(compiler *c, const gram_kernel *mean, const gram_mapping *space,
                                const gram_kernel *outer, gram_program_node *node)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = c->engine;
    const int64_t column = space->columns[0];
    gram_bag_part *bags;
    FAIL_IF(space_kind(c->request->x, space) != GRAM_OBJECT_BAG, c->context, GRAM_ERROR_UNSUPPORTED,
            "mean takes bags, and column %lld holds %s", (long long)column + 1,
            gram_object_kind_name(gram_points_kind(c->request->x, column)));
    TRY(gram_bag_part_create(c->context, c->request, column, mean->children[0], mean->exponent, &bags));
    engine->bags[engine->bag_count++] = bags;
    engine->parameter_count += gram_kernel_parameter_count(mean->children[0]);
    node->bags = bags;
    node->node = mean->exponent > 0 ? GRAM_NODE_LEAF : GRAM_NODE_MEAN;
    node->type = &gram_bag_product;
    if (outer) TRY(set_outer(c, outer, node));
    if (mean->exponent > 0) TRY(plan_features(c, bags, node));
done:
    return status;
}

static gram_status compile_after(compiler *c, const gram_kernel *kernel, const gram_mapping *space,
                                 gram_program_node *node)
{
    gram_status status = GRAM_OK;
    const gram_kernel *inner = kernel->children[0];
    int *children;
    if (inner->node == GRAM_NODE_MEAN && inner->exponent > 0)
        return compile_mean(c, inner, space, kernel->children[1], node);
    TRY(arena_take(c, 1, sizeof *children, (void **)&children));
    TRY(compile(c, inner, space, children));
    node->node = GRAM_NODE_AFTER;
    node->child_count = 1;
    node->children = children;
    TRY(add_terms(c, kernel, space, node));
    TRY(set_outer(c, kernel->children[1], node));
done:
    return status;
}

static gram_status compile(compiler *c, const gram_kernel *kernel, const gram_mapping *space, int *index)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = c->engine;
    gram_program_node node = {.form = -1, .shape = {.scale = 1}, .parameter = engine->parameter_count};
    const gram_kernel_type *normalized = known_normalized(kernel);
    if (kernel->node == GRAM_NODE_ON || kernel->node == GRAM_NODE_WARP) return compile_inside(c, kernel, space, index);
    if (kernel->node == GRAM_NODE_LEAF)
        TRY(compile_leaf(c, kernel, kernel->type, space, &node));
    else if (kernel->node == GRAM_NODE_MEAN)
        TRY(compile_mean(c, kernel, space, NULL, &node));
    else if (kernel->node == GRAM_NODE_AFTER)
        TRY(compile_after(c, kernel, space, &node));
    else if (normalized)
        TRY(compile_leaf(c, kernel->children[0], normalized, space, &node));
    else
        TRY(compile_operands(c, kernel, space, &node));
    *index = engine->node_count++;
    engine->nodes[*index] = node;
    engine->nodes[*index].shape.par = engine->nodes[*index].par;
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

/* All columns as they are stored. */
static gram_status whole_space(compiler *c, gram_mapping *space)
{
    gram_status status = GRAM_OK;
    int64_t *columns;
    TRY(arena_take(c, c->engine->d, sizeof(int64_t), (void **)&columns));
    for (int64_t l = 0; l < c->engine->d; l++) columns[l] = l;
    *space = (gram_mapping){.d = c->engine->d, .source_count = c->engine->d, .columns = columns};
done:
    return status;
}

gram_status gram_engine_compile(gram_context *context, gram_engine *engine, const gram_engine_request *request)
{
    gram_status status = GRAM_OK;
    compiler c = {context, engine, request};
    gram_mapping *space;
    int64_t size = 0;
    for (int i = 0; i < engine->root_count; i++) size += engine->kept[i]->size;
    TRY(arena_take(&c, size, sizeof(gram_program_node), (void **)&engine->nodes));
    TRY(arena_take(&c, size, sizeof(gram_form_entry), (void **)&engine->forms));
    TRY(arena_take(&c, size, sizeof(gram_point_terms *), (void **)&engine->terms));
    TRY(arena_take(&c, size, sizeof(gram_bag_part *), (void **)&engine->bags));
    TRY(arena_take(&c, 2 * size, sizeof(gram_metric), (void **)&engine->metrics));
    TRY(arena_take(&c, 1, sizeof *space, (void **)&space));
    if (request->space)
        *space = *request->space;
    else
        TRY(whole_space(&c, space));
    for (int i = 0; i < engine->root_count; i++) {
        TRY(compile(&c, engine->kept[i], space, &engine->roots[i]));
        const int slots = slots_needed(engine, engine->roots[i]);
        if (slots > engine->slot_count) engine->slot_count = slots;
    }
    for (int i = 0; i < engine->form_count; i++)
        engine->forms[i].slot = engine->forms[i].users > 1 ? engine->kept_forms++ : -1;
done:
    return status;
}

/* From an expression to nodes: what each part is a series in, and how many features it has. */
#include <math.h>
#include <string.h>

#include "features/explicit_nodes.h"

typedef struct compiling {
    gram_context *context;
    gram_arena *arena;
    int64_t degree;    /* of power series without an end */
    int endless;       /* there is one */
    const char *other; /* the first part without explicit features */
} compiling;

/* The roots of a series that ends (`degree` >= 0), or of exp(u.v). */
static gram_status make_series(compiling *c, gram_feature_node *node, int64_t variables, int64_t degree)
{
    gram_status status = GRAM_OK;
    node->series = 1;
    node->variables = variables;
    node->degree = degree >= 0 ? degree : c->degree;
    if (degree < 0) c->endless = 1;
    TRY(gram_arena_take(c->context, c->arena, "features", node->degree + 1, sizeof(double), (void **)&node->roots));
    for (int64_t i = 0; i <= node->degree; i++) node->roots[i] = 1;
done:
    return status;
}

/* Of degree i there are binom(variables + i - 1, i) monomials. */
static void finish_series(gram_feature_node *node)
{
    double count = 1;
    node->dimension = 0;
    for (int64_t i = 0; i <= node->degree; i++) {
        if (i > 0) count = round(count * (double)(node->variables - 1 + i) / (double)i);
        if (node->roots[i] >= 0) node->dimension += count;
    }
    node->scratch += node->variables * (node->degree + 2) + 1;
}

/* sqrt(m!/(m - i)! c^(m - i)): the series of (u.v + c)^m. */
static void make_power(gram_feature_node *node, int64_t m, double c)
{
    for (int64_t i = 0; i <= m; i++) {
        double root = i == m ? 1 : c > 0 ? sqrt(pow(c, (double)(m - i))) : -1;
        for (int64_t j = 0; j < i && root > 0; j++) root *= sqrt((double)(m - j));
        node->roots[i] = root;
    }
}

static gram_status make_metric(compiling *c, gram_feature_node *node)
{
    gram_status status = GRAM_OK;
    const gram_argument *ell = gram_kernel_argument(node->kernel, GRAM_ROLE_LENGTH);
    const gram_argument *s = gram_kernel_argument(node->kernel, GRAM_ROLE_COVARIANCE);
    const int64_t d = node->d;
    node->scale = ell && ell->count == 1 ? 1 / ell->values[0] : 1;
    if ((!ell || ell->count == 1) && !s) return GRAM_OK;
    TRY(gram_arena_take(c->context, c->arena, "features", s ? d * d : d, sizeof(double), (void **)&node->metric));
    for (int64_t l = 0; l < d && !s; l++) node->metric[l] = 1 / ell->values[l];
    if (s) (void)gram_small_cholesky(d, s->values, node->metric);
    node->full = s != NULL;
done:
    return status;
}

static gram_status compile_leaf(compiling *c, gram_feature_node *node, int normalized)
{
    gram_status status = GRAM_OK;
    const char *name = node->kernel->type->name;
    double par[GRAM_MAX_SPECS];
    gram_kernel_par(node->kernel, par);
    node->scale = 1;
    if (strcmp(name, "const") == 0 && !normalized) {
        TRY(make_series(c, node, 0, 0));
        node->roots[0] = sqrt(par[0]);
    } else if (strcmp(name, "linear") == 0 && !normalized) {
        TRY(make_series(c, node, node->d, 1));
        make_power(node, 1, par[0]);
    } else if (strcmp(name, "poly") == 0 && !normalized) {
        TRY(make_series(c, node, node->d, (int64_t)par[0]));
        make_power(node, (int64_t)par[0], par[1]);
    } else if (strcmp(name, "monomial") == 0 && !normalized) {
        TRY(make_series(c, node, node->d, (int64_t)par[0]));
        for (int64_t i = 1; i <= node->degree; i++) node->roots[i] = node->roots[i - 1] * sqrt((double)i);
    } else if (strcmp(name, "expdot") == 0 || strcmp(name, "intpow") == 0) {
        TRY(make_series(c, node, node->d, -1));
        node->scale = name[0] == 'e' ? 1 / par[0] : sqrt(log(2));
        node->gaussian = normalized;
    } else if (strcmp(name, "rbf") == 0) {
        TRY(make_series(c, node, node->d, -1));
        TRY(make_metric(c, node));
        node->gaussian = 1;
    } else if (!c->other) {
        c->other = name;
    }
    node->scratch = node->d;
    if (node->series) finish_series(node);
done:
    return status;
}

static gram_status compile(compiling *c, const gram_kernel *kernel, int64_t d, gram_feature_node **out);

/* The leaf of normalize(expdot) and the like, which is a series of its own. */
static int is_normal_series(const gram_kernel *k)
{
    if (k->node != GRAM_NODE_NORMALIZE || k->children[0]->node != GRAM_NODE_LEAF) return 0;
    const char *name = k->children[0]->type->name;
    return strcmp(name, "expdot") == 0 || strcmp(name, "intpow") == 0 || strcmp(name, "rbf") == 0;
}

static gram_status compile_children(compiling *c, gram_feature_node *node, int64_t inside)
{
    gram_status status = GRAM_OK;
    const gram_kernel *kernel = node->kernel;
    const int count = kernel->child_count;
    TRY(gram_arena_take(c->context, c->arena, "features", count, sizeof *node->children, (void **)&node->children));
    node->dimension = kernel->node == GRAM_NODE_PRODUCT ? 1 : 0;
    for (int i = 0; i < count; i++) {
        TRY(compile(c, kernel->children[i], inside, &node->children[i]));
        const gram_feature_node *child = node->children[i];
        if (kernel->node == GRAM_NODE_PRODUCT)
            node->dimension *= child->dimension;
        else
            node->dimension += child->dimension;
        if (child->scratch > node->scratch) node->scratch = child->scratch;
    }
    if (node->dimension > 1e15 || c->other) return GRAM_OK; /* it is refused */
    if (kernel->node == GRAM_NODE_POWER || kernel->node == GRAM_NODE_EXP) {
        const int64_t variables = (int64_t)node->dimension;
        TRY(make_series(c, node, variables, kernel->node == GRAM_NODE_POWER ? kernel->exponent : -1));
        if (kernel->node == GRAM_NODE_POWER) make_power(node, kernel->exponent, 0);
        finish_series(node);
        node->scratch += variables;
    }
    if (kernel->node == GRAM_NODE_PRODUCT && node->dimension <= 1e9) node->scratch += 2 * (int64_t)node->dimension;
    if (kernel->node == GRAM_NODE_ON || kernel->node == GRAM_NODE_WARP) node->scratch += 2 * inside;
done:
    return status;
}

static gram_status compile(compiling *c, const gram_kernel *kernel, int64_t d, gram_feature_node **out)
{
    gram_status status = GRAM_OK;
    const int64_t inside = kernel->node == GRAM_NODE_ON     ? kernel->column_count
                           : kernel->node == GRAM_NODE_WARP ? kernel->matrix_rows
                                                            : d;
    gram_feature_node *node = NULL;
    TRY(gram_arena_take(c->context, c->arena, "features", 1, sizeof *node, (void **)&node));
    *out = node;
    node->kernel = is_normal_series(kernel) ? kernel->children[0] : kernel;
    node->d = d;
    const gram_node sort = node->kernel->node;
    if (sort == GRAM_NODE_CENTRE || sort == GRAM_NODE_MEAN || sort == GRAM_NODE_AFTER) {
        if (!c->other) c->other = sort == GRAM_NODE_CENTRE ? "centre" : sort == GRAM_NODE_MEAN ? "mean" : "after";
        return GRAM_OK;
    }
    if (node->kernel->node == GRAM_NODE_LEAF) return compile_leaf(c, node, node->kernel != kernel);
    TRY(compile_children(c, node, inside));
done:
    return status;
}

gram_status gram_explicit_compile(gram_context *context, gram_arena *arena, const gram_kernel *kernel, int64_t d,
                                  int64_t degree, gram_feature_node **root, int *endless)
{
    gram_status status = GRAM_OK;
    compiling c = {.context = context, .arena = arena, .degree = degree};
    TRY(compile(&c, kernel, d, root));
    *endless = c.endless;
    FAIL_IF(c.other, context, GRAM_ERROR_UNSUPPORTED,
            "features: %s has no explicit features; const, linear, poly, monomial, expdot, intpow, rbf and their sums, "
            "products "
            "and powers have",
            c.other);
done:
    return status;
}

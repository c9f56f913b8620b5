/* Walks that know which columns of the points a part of the tree sees. `on` inside `on` counts columns of what the
 * outer one shows. */
#include "kernel.h"

gram_status gram_view_enter(gram_context *context, const gram_kernel *on, const gram_view *outer, gram_view *inner)
{
    gram_status status = GRAM_OK;
    int64_t *columns = NULL;
    *inner = (gram_view){0, NULL};
    TRY(gram_take(context, "kernel: columns", on->column_count, sizeof *columns, (void **)&columns));
    for (int64_t i = 0; i < on->column_count; i++)
        columns[i] = outer->columns ? outer->columns[on->columns[i]] : on->columns[i];
    *inner = (gram_view){on->column_count, columns};
done:
    return status;
}

void gram_view_leave(gram_context *context, gram_view *inner)
{
    gram_give(context, (void *)inner->columns, inner->d, sizeof *inner->columns);
    *inner = (gram_view){0, NULL};
}

/* ---- the tree with other leaves ---- */

typedef struct rebuilding {
    gram_leaf_map map;
    void *state;
} rebuilding;

static gram_status rebuild(gram_context *context, const rebuilding *how, const gram_kernel *kernel,
                           const gram_view *view, gram_kernel **out);

static gram_status rebuild_operands(gram_context *context, const rebuilding *how, const gram_kernel *kernel,
                                    const gram_view *view, gram_kernel **out)
{
    gram_status status = GRAM_OK;
    gram_kernel **operands = NULL;
    int made = 0;
    TRY(gram_take(context, "kernel", kernel->child_count, sizeof(gram_kernel *), (void **)&operands));
    for (; made < kernel->child_count; made++)
        TRY(rebuild(context, how, kernel->children[made], view, &operands[made]));
    TRY(gram_kernel_combine(context, kernel->node, made, operands, out));
done:
    for (int i = 0; i < made; i++) gram_kernel_release(operands[i]);
    gram_give(context, operands, kernel->child_count, sizeof(gram_kernel *));
    return status;
}

static gram_status rebuild_power(gram_context *context, const rebuilding *how, const gram_kernel *kernel,
                                 const gram_view *view, gram_kernel **out)
{
    gram_status status = GRAM_OK;
    gram_kernel *base = NULL;
    TRY(rebuild(context, how, kernel->children[0], view, &base));
    TRY(gram_kernel_power(context, base, kernel->exponent, out));
done:
    gram_kernel_release(base);
    return status;
}

static gram_status rebuild_on(gram_context *context, const rebuilding *how, const gram_kernel *kernel,
                              const gram_view *view, gram_kernel **out)
{
    gram_status status = GRAM_OK;
    gram_kernel *child = NULL;
    gram_view inner = {0, NULL};
    if (view) TRY(gram_view_enter(context, kernel, view, &inner));
    TRY(rebuild(context, how, kernel->children[0], view ? &inner : NULL, &child));
    TRY(gram_kernel_on(context, kernel->column_count, kernel->columns, child, out));
done:
    gram_kernel_release(child);
    gram_view_leave(context, &inner);
    return status;
}

static gram_status rebuild(gram_context *context, const rebuilding *how, const gram_kernel *kernel,
                           const gram_view *view, gram_kernel **out)
{
    *out = NULL;
    switch (kernel->node) {
    case GRAM_NODE_LEAF: return how->map(context, how->state, kernel, view, out);
    case GRAM_NODE_SUM:
    case GRAM_NODE_PRODUCT: return rebuild_operands(context, how, kernel, view, out);
    case GRAM_NODE_POWER: return rebuild_power(context, how, kernel, view, out);
    case GRAM_NODE_ON: return rebuild_on(context, how, kernel, view, out);
    }
    return gram_fail(context, GRAM_ERROR_INTERNAL, "kernel: node %d is of no known kind", (int)kernel->node);
}

gram_status gram_kernel_rebuild(gram_context *context, const gram_kernel *kernel, const gram_view *view,
                                gram_leaf_map map, void *state, gram_kernel **out)
{
    const rebuilding how = {map, state};
    return rebuild(context, &how, kernel, view, out);
}

/* ---- does it fit? ---- */

static gram_status check_leaf(gram_context *context, const gram_kernel *leaf, int64_t d)
{
    gram_status status = GRAM_OK;
    const gram_argument *length = gram_kernel_argument(leaf, GRAM_ROLE_LENGTH);
    const gram_argument *covariance = gram_kernel_argument(leaf, GRAM_ROLE_COVARIANCE);
    FAIL_IF(length && length->count > 1 && length->count != d, context, GRAM_ERROR_DIMENSION,
            "%s: ell has %lld numbers, but the kernel sees %lld column%s", leaf->type->name, (long long)length->count,
            (long long)d, d == 1 ? "" : "s");
    FAIL_IF(covariance && covariance->rows != d, context, GRAM_ERROR_DIMENSION,
            "%s: S is %lld x %lld, but the kernel sees %lld column%s", leaf->type->name, (long long)covariance->rows,
            (long long)covariance->rows, (long long)d, d == 1 ? "" : "s");
done:
    return status;
}

static gram_status check_dimension(gram_context *context, const gram_kernel *kernel, int64_t d)
{
    gram_status status = GRAM_OK;
    if (kernel->node == GRAM_NODE_LEAF) return check_leaf(context, kernel, d);
    for (int64_t i = 0; i < kernel->column_count; i++)
        FAIL_IF(kernel->columns[i] >= d, context, GRAM_ERROR_DIMENSION,
                "on: there is no column %lld, the points have %lld here", (long long)kernel->columns[i] + 1,
                (long long)d);
    const int64_t seen = kernel->node == GRAM_NODE_ON ? kernel->column_count : d;
    for (int i = 0; i < kernel->child_count; i++) TRY(check_dimension(context, kernel->children[i], seen));
done:
    return status;
}

gram_status gram_kernel_check_dimension(gram_context *context, const gram_kernel *kernel, int64_t d)
{
    if (!context) return GRAM_ERROR_ARGUMENT;
    if (!kernel) return gram_fail(context, GRAM_ERROR_ARGUMENT, "kernel_check_dimension: kernel is NULL");
    if (d < 1)
        return gram_fail(context, GRAM_ERROR_ARGUMENT, "kernel_check_dimension: d = %lld, need at least one column",
                         (long long)d);
    return check_dimension(context, kernel, d);
}

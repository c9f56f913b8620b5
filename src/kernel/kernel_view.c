/* Walks that know which columns of the points a part of the tree sees. `on` inside `on` counts columns of what the
 * outer one shows; inside a warp there are as many columns as its matrix has rows. */
#include "kernel/kernel.h"

#include "points/points.h"

gram_status gram_view_enter(gram_context *context, const gram_kernel *kernel, const gram_view *outer, gram_view *inner)
{
    gram_status status = GRAM_OK;
    int64_t *columns = NULL;
    *inner = (gram_view){.d = 0};
    if (kernel->node == GRAM_NODE_WARP) {
        *inner = (gram_view){.d = kernel->matrix_rows, .warp = kernel, .outer = outer, .apart = outer->apart};
        goto done;
    }
    TRY(gram_take(context, "kernel: columns", kernel->column_count, sizeof *columns, (void **)&columns));
    for (int64_t i = 0; i < kernel->column_count; i++)
        columns[i] = outer->columns ? outer->columns[kernel->columns[i]] : kernel->columns[i];
    *inner = (gram_view){kernel->column_count, columns, outer->warp, outer->outer, outer->apart};
done:
    return status;
}

void gram_view_leave(gram_context *context, gram_view *inner)
{
    gram_give(context, (void *)inner->columns);
    *inner = (gram_view){.d = 0};
}

int gram_kernel_has_node(const gram_kernel *kernel, gram_node node)
{
    if (kernel->node == node) return 1;
    for (int i = 0; i < kernel->child_count; i++)
        if (gram_kernel_has_node(kernel->children[i], node)) return 1;
    return 0;
}

/* ---- the tree with other leaves, or with samples ---- */

typedef struct rebuilding {
    gram_rebuild by;       /* map NULL: leaves are kept; inside or outside NULL: as any leaf, with a view apart */
    gram_external *sample; /* or NULL: of centres without one */
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
    gram_give(context, operands);
    return status;
}

static gram_status rebuild_after(gram_context *context, const rebuilding *how, const gram_kernel *kernel,
                                 const gram_view *view, gram_kernel **out)
{
    gram_status status = GRAM_OK;
    const gram_view apart = gram_view_apart();
    const gram_kernel *leaf = kernel->children[1];
    gram_kernel *inner = NULL, *outer = NULL;
    TRY(rebuild(context, how, kernel->children[0], view, &inner));
    TRY(how->by.outside ? how->by.outside(context, how->by.state, inner, leaf, view, &outer)
                        : rebuild(context, how, leaf, view ? &apart : NULL, &outer));
    TRY(gram_kernel_after(context, inner, outer, out));
done:
    gram_kernel_release(inner);
    gram_kernel_release(outer);
    return status;
}

static gram_status rebuild_child(gram_context *context, const rebuilding *how, const gram_kernel *kernel,
                                 const gram_view *view, gram_kernel **out)
{
    const gram_view apart = gram_view_apart();
    const int mean = kernel->node == GRAM_NODE_MEAN;
    if (mean && how->by.inside && view) return how->by.inside(context, how->by.state, kernel->children[0], view, out);
    return rebuild(context, how, kernel->children[0], mean && view ? &apart : view, out);
}

static gram_status rebuild_one(gram_context *context, const rebuilding *how, const gram_kernel *kernel,
                               const gram_view *view, gram_kernel **out)
{
    gram_status status = GRAM_OK;
    gram_kernel *child = NULL;
    gram_view inner = {.d = 0};
    const int enters = view && (kernel->node == GRAM_NODE_ON || kernel->node == GRAM_NODE_WARP);
    if (enters) TRY(gram_view_enter(context, kernel, view, &inner));
    TRY(rebuild_child(context, how, kernel, enters ? &inner : view, &child));
    const gram_kernel centre = {.node = GRAM_NODE_CENTRE, .external = how->sample};
    const int lacks = kernel->node == GRAM_NODE_CENTRE && !kernel->external;
    TRY(gram_kernel_with_child(context, lacks ? &centre : kernel, child, out));
done:
    gram_kernel_release(child);
    gram_view_leave(context, &inner);
    return status;
}

static gram_status rebuild(gram_context *context, const rebuilding *how, const gram_kernel *kernel,
                           const gram_view *view, gram_kernel **out)
{
    *out = NULL;
    if (kernel->node == GRAM_NODE_SUM || kernel->node == GRAM_NODE_PRODUCT)
        return rebuild_operands(context, how, kernel, view, out);
    if (kernel->node == GRAM_NODE_AFTER) return rebuild_after(context, how, kernel, view, out);
    if (kernel->node != GRAM_NODE_LEAF) return rebuild_one(context, how, kernel, view, out);
    if (!kernel->external && how->by.map) return how->by.map(context, how->by.state, kernel, view, out);
    *out = gram_kernel_retain((gram_kernel *)kernel); /* it never changes: only the count of its owners does */
    return GRAM_OK;
}

gram_status gram_kernel_rebuild(gram_context *context, const gram_kernel *kernel, const gram_view *view,
                                gram_leaf_map map, void *state, gram_kernel **out)
{
    const rebuilding how = {{.map = map, .state = state}, NULL};
    return rebuild(context, &how, kernel, view, out);
}

gram_status gram_kernel_rebuild_by(gram_context *context, const gram_kernel *kernel, const gram_view *view,
                                   const gram_rebuild *by, gram_kernel **out)
{
    const rebuilding how = {*by, NULL};
    return rebuild(context, &how, kernel, view, out);
}

gram_status gram_kernel_rebuild_centres(gram_context *context, const gram_kernel *kernel, gram_external *sample,
                                        gram_kernel **out)
{
    const rebuilding how = {.sample = sample};
    return rebuild(context, &how, kernel, NULL, out);
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

static gram_status check_sample(gram_context *context, const gram_kernel *centre, int64_t whole)
{
    gram_status status = GRAM_OK;
    const int64_t own = centre->external ? centre->external->points->d : whole;
    FAIL_IF(own != whole, context, GRAM_ERROR_DIMENSION, "centre: the sample has %lld column%s, the points have %lld",
            (long long)own, own == 1 ? "" : "s", (long long)whole);
done:
    return status;
}

gram_status gram_kernel_check_part(gram_context *context, const gram_kernel *kernel, int64_t d, int64_t whole)
{
    gram_status status = GRAM_OK;
    int64_t seen = d;
    if (kernel->node == GRAM_NODE_LEAF) return check_leaf(context, kernel, d);
    for (int64_t i = 0; i < kernel->column_count; i++)
        FAIL_IF(kernel->columns[i] >= d, context, GRAM_ERROR_DIMENSION,
                "on: there is no column %lld, the points have %lld here", (long long)kernel->columns[i] + 1,
                (long long)d);
    FAIL_IF(kernel->node == GRAM_NODE_WARP && kernel->matrix_columns != d, context, GRAM_ERROR_DIMENSION,
            "warp: the matrix has %lld column%s, the points have %lld here", (long long)kernel->matrix_columns,
            kernel->matrix_columns == 1 ? "" : "s", (long long)d);
    if (kernel->node == GRAM_NODE_CENTRE) TRY(check_sample(context, kernel, whole));
    if (kernel->node == GRAM_NODE_MEAN) {
        FAIL_IF(d != 1, context, GRAM_ERROR_DIMENSION,
                "mean: it sees %lld columns and takes one, of bags: on(1, mean(...))", (long long)d);
        return GRAM_OK; /* the child sees the columns of the bags' rows */
    }
    if (kernel->node == GRAM_NODE_AFTER) return gram_kernel_check_part(context, kernel->children[0], d, whole);
    if (kernel->node == GRAM_NODE_ON) seen = kernel->column_count;
    if (kernel->node == GRAM_NODE_WARP) seen = kernel->matrix_rows;
    for (int i = 0; i < kernel->child_count; i++)
        TRY(gram_kernel_check_part(context, kernel->children[i], seen, whole));
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
    return gram_kernel_check_part(context, kernel, d, d);
}

/* ---- do its leaves take what the columns hold? ---- */

gram_status gram_leaf_check_kinds(gram_context *context, const gram_kernel_type *type, int64_t count,
                                  const int64_t *columns, int warped, const gram_points *points)
{
    gram_status status = GRAM_OK;
    if (type->form == GRAM_FORM_NONE || type->form == GRAM_FORM_SAME || type->form == GRAM_FORM_INDEX) return status;
    for (int64_t l = 0; l < count; l++) {
        const int64_t column = columns ? columns[l] : l;
        const gram_object_kind kind = gram_points_kind(points, column);
        FAIL_IF(kind != GRAM_OBJECT_NONE && (warped || count > 1), context, GRAM_ERROR_DIMENSION,
                "%s: column %lld holds %s, which take a kernel of their own: on(%lld, ...)", type->name,
                (long long)column + 1, gram_object_kind_name(kind), (long long)column + 1);
        FAIL_IF(!gram_kernel_takes(type, kind), context, GRAM_ERROR_UNSUPPORTED,
                "%s does not take %s, which column %lld holds", type->name, gram_object_kind_name(kind),
                (long long)column + 1);
        if (!points->objects && !type->things) break; /* all columns are alike */
    }
done:
    return status;
}

/* The leaves under a mean see rows of numbers, which the engine of the rows checks. */
static gram_status check_bags(gram_context *context, const gram_view *view, const gram_points *points)
{
    gram_status status = GRAM_OK;
    const int64_t column = view->columns ? view->columns[0] : 0;
    FAIL_IF(view->d != 1 || view->warp || gram_points_kind(points, column) != GRAM_OBJECT_BAG, context,
            GRAM_ERROR_UNSUPPORTED, "mean takes bags, and column %lld holds %s", (long long)column + 1,
            gram_object_kind_name(gram_points_kind(points, column)));
done:
    return status;
}

static gram_status check_seen(gram_context *context, const gram_kernel *kernel, const gram_view *view,
                              const gram_points *points)
{
    gram_status status = GRAM_OK;
    gram_view inner = {.d = 0};
    const int enters = kernel->node == GRAM_NODE_ON || kernel->node == GRAM_NODE_WARP;
    if (kernel->node == GRAM_NODE_LEAF) {
        const gram_view *seen = view;
        while (seen->warp) seen = seen->outer; /* what is warped */
        return gram_leaf_check_kinds(context, kernel->type, seen->d, seen->columns, view->warp != NULL, points);
    }
    if (kernel->node == GRAM_NODE_MEAN) return check_bags(context, view, points);
    if (enters) TRY(gram_view_enter(context, kernel, view, &inner));
    for (int i = 0; i < (kernel->node == GRAM_NODE_AFTER ? 1 : kernel->child_count); i++)
        TRY(check_seen(context, kernel->children[i], enters ? &inner : view, points));
done:
    gram_view_leave(context, &inner);
    return status;
}

gram_status gram_kernel_check_kinds(gram_context *context, const gram_kernel *kernel, const gram_points *points)
{
    const gram_view all = {.d = points->d};
    return check_seen(context, kernel, &all, points);
}

/* Kernels made of kernels: sums, products, and nodes with one operand. Those that hold something of C are in kernel_external.c. */
#include <math.h>
#include <string.h>

#include "kernel/kernel.h"

/* ---- sums and products ---- */

/* Makes children[0 .. count) the children of node: retains them, sets depth and size. */
static gram_status adopt(gram_context *context, gram_kernel *node, gram_kernel *const *children, int count)
{
    gram_status status = GRAM_OK;
    int depth = 0;
    int64_t size = 1;
    for (int i = 0; i < count; i++) {
        node->children[i] = gram_kernel_retain(children[i]);
        size += children[i]->size;
        if (children[i]->depth > depth) depth = children[i]->depth;
    }
    node->depth = depth + 1;
    node->size = size;
    FAIL_IF(node->depth > GRAM_KERNEL_MAX_DEPTH, context, GRAM_ERROR_ARGUMENT, "kernel: nested deeper than %d levels",
            GRAM_KERNEL_MAX_DEPTH);
    FAIL_IF(size > GRAM_KERNEL_MAX_SIZE, context, GRAM_ERROR_ARGUMENT, "kernel: more than %d terms and factors",
            GRAM_KERNEL_MAX_SIZE);
done:
    return status;
}

/* Writes the operands of a sum (product), with those that are sums (products) themselves opened, to out unless it is
 * NULL. Returns their number. */
static int64_t flatten(gram_node node, int count, gram_kernel *const *children, gram_kernel **out)
{
    int64_t total = 0;
    for (int i = 0; i < count; i++) {
        const int open = children[i]->node == node;
        gram_kernel *const *operands = open ? children[i]->children : &children[i];
        const int operand_count = open ? children[i]->child_count : 1;
        if (out) memcpy(out + total, operands, (size_t)operand_count * sizeof *out);
        total += operand_count;
    }
    return total;
}

gram_status gram_kernel_combine(gram_context *context, gram_node node, int count, gram_kernel *const *children,
                                gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    gram_kernel *made = NULL;
    gram_node_room room = {0, 0, 0};
    *kernel = NULL;
    if (count == 1) {
        *kernel = gram_kernel_retain(children[0]);
        goto done;
    }
    room.children = flatten(node, count, children, NULL);
    FAIL_IF(room.children > GRAM_KERNEL_MAX_SIZE, context, GRAM_ERROR_ARGUMENT,
            "kernel: more than %d terms and factors", GRAM_KERNEL_MAX_SIZE);
    TRY(gram_kernel_new(context, node, room, &made));
    (void)flatten(node, count, children, made->children);
    TRY(adopt(context, made, made->children, made->child_count));
    *kernel = made;
    made = NULL;
done:
    gram_kernel_release(made);
    return status;
}

static gram_status two_operands(gram_context *context, const char *name, gram_node node, gram_kernel *a, gram_kernel *b,
                                gram_kernel **kernel)
{
    gram_kernel *const operands[2] = {a, b};
    if (!context || !kernel) return GRAM_ERROR_ARGUMENT;
    *kernel = NULL;
    if (!a || !b) return gram_fail(context, GRAM_ERROR_ARGUMENT, "kernel_%s: %s is NULL", name, a ? "b" : "a");
    return gram_kernel_combine(context, node, 2, operands, kernel);
}

gram_status gram_kernel_sum(gram_context *context, gram_kernel *a, gram_kernel *b, gram_kernel **kernel)
{
    return two_operands(context, "sum", GRAM_NODE_SUM, a, b, kernel);
}

gram_status gram_kernel_multiply(gram_context *context, gram_kernel *a, gram_kernel *b, gram_kernel **kernel)
{
    return two_operands(context, "multiply", GRAM_NODE_PRODUCT, a, b, kernel);
}

/* ---- one operand ---- */

/* What the node has of its own is taken from `like`, which need not be a kernel that lives. */
gram_status gram_kernel_with_child(gram_context *context, const gram_kernel *like, gram_kernel *child,
                                   gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    gram_kernel *made = NULL;
    const int64_t numbers = like->matrix_rows * like->matrix_columns;
    const gram_node_room room = {.children = 1, .columns = like->column_count, .values = numbers};
    *kernel = NULL;
    TRY(gram_kernel_new(context, like->node, room, &made));
    made->exponent = like->exponent;
    if (like->column_count > 0)
        memcpy(made->columns, like->columns, (size_t)like->column_count * sizeof *made->columns);
    made->matrix_rows = like->matrix_rows;
    made->matrix_columns = like->matrix_columns;
    for (int64_t i = 0; i < numbers; i++) made->matrix[i] = like->matrix[i] + 0.0; /* -0 + 0 = 0 */
    made->external = gram_external_retain(like->external);
    TRY(adopt(context, made, &child, 1));
    *kernel = made;
    made = NULL;
done:
    gram_kernel_release(made);
    return status;
}

gram_status gram_kernel_power(gram_context *context, gram_kernel *a, int m, gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    if (!context || !kernel) return GRAM_ERROR_ARGUMENT;
    *kernel = NULL;
    FAIL_IF(!a, context, GRAM_ERROR_ARGUMENT, "kernel_power: a is NULL");
    FAIL_IF(m < 1 || m > GRAM_KERNEL_MAX_POWER, context, GRAM_ERROR_ARGUMENT,
            "kernel_power: m = %d, the exponent must be a whole number from 1 to %d", m, GRAM_KERNEL_MAX_POWER);
    if (m == 1)
        *kernel = gram_kernel_retain(a);
    else
        TRY(gram_kernel_with_child(context, &(gram_kernel){.node = GRAM_NODE_POWER, .exponent = m}, a, kernel));
done:
    return status;
}

gram_status gram_kernel_exp(gram_context *context, gram_kernel *a, gram_kernel **kernel)
{
    if (!context || !kernel) return GRAM_ERROR_ARGUMENT;
    *kernel = NULL;
    if (!a) return gram_fail(context, GRAM_ERROR_ARGUMENT, "kernel_exp: a is NULL");
    return gram_kernel_with_child(context, &(gram_kernel){.node = GRAM_NODE_EXP}, a, kernel);
}

gram_status gram_kernel_normalize(gram_context *context, gram_kernel *a, gram_kernel **kernel)
{
    if (!context || !kernel) return GRAM_ERROR_ARGUMENT;
    *kernel = NULL;
    if (!a) return gram_fail(context, GRAM_ERROR_ARGUMENT, "kernel_normalize: a is NULL");
    return gram_kernel_with_child(context, &(gram_kernel){.node = GRAM_NODE_NORMALIZE}, a, kernel);
}

gram_status gram_kernel_mean(gram_context *context, gram_kernel *a, int frequencies, gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    if (!context || !kernel) return GRAM_ERROR_ARGUMENT;
    *kernel = NULL;
    FAIL_IF(!a, context, GRAM_ERROR_ARGUMENT, "kernel_mean: a is NULL");
    FAIL_IF(frequencies < 0 || frequencies > GRAM_KERNEL_MAX_FREQUENCIES, context, GRAM_ERROR_ARGUMENT,
            "mean: fourier = %d, it may be from 1 to %d", frequencies, GRAM_KERNEL_MAX_FREQUENCIES);
    TRY(gram_kernel_with_child(context, &(gram_kernel){.node = GRAM_NODE_MEAN, .exponent = frequencies}, a, kernel));
done:
    return status;
}

/* Is it a kernel of a distance, with one length-scale, in any Hilbert space? */
static gram_status check_outer(gram_context *context, const gram_kernel *outer)
{
    gram_status status = GRAM_OK;
    const int leaf = outer->node == GRAM_NODE_LEAF && !outer->external && outer->type->form == GRAM_FORM_SQDIST;
    const gram_argument *length = leaf ? gram_kernel_argument(outer, GRAM_ROLE_LENGTH) : NULL;
    FAIL_IF(!leaf, context, GRAM_ERROR_ARGUMENT,
            "after: the second kernel must be one of a distance, alone: rbf, laplace, matern, rq, imq or powexp");
    FAIL_IF(outer->type->finite_only, context, GRAM_ERROR_ARGUMENT,
            "after: %s is positive definite in a given number of columns only, and the distance that a kernel makes is "
            "one of a "
            "Hilbert space",
            outer->type->name);
    FAIL_IF((length && length->count != 1) || gram_kernel_argument(outer, GRAM_ROLE_COVARIANCE), context,
            GRAM_ERROR_ARGUMENT, "after: the second kernel sees one distance, so it has one length-scale");
done:
    return status;
}

gram_status gram_kernel_after(gram_context *context, gram_kernel *a, gram_kernel *outer, gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    gram_kernel *made = NULL;
    gram_kernel *const operands[2] = {a, outer};
    if (!context || !kernel) return GRAM_ERROR_ARGUMENT;
    *kernel = NULL;
    FAIL_IF(!a || !outer, context, GRAM_ERROR_ARGUMENT, "kernel_after: %s is NULL", a ? "outer" : "a");
    TRY(check_outer(context, outer));
    TRY(gram_kernel_new(context, GRAM_NODE_AFTER, (gram_node_room){.children = 2}, &made));
    TRY(adopt(context, made, operands, 2));
    *kernel = made;
    made = NULL;
done:
    gram_kernel_release(made);
    return status;
}

static gram_status check_matrix(gram_context *context, int64_t rows, int64_t columns, const double *matrix)
{
    gram_status status = GRAM_OK;
    const int most = GRAM_KERNEL_MAX_COLUMNS;
    FAIL_IF(!matrix, context, GRAM_ERROR_ARGUMENT, "warp: matrix is NULL");
    FAIL_IF(rows < 1 || rows > most || columns < 1 || columns > most, context, GRAM_ERROR_ARGUMENT,
            "warp: a matrix of %lld x %lld; rows and columns must be from 1 to %d", (long long)rows, (long long)columns,
            most);
    for (int64_t i = 0; i < rows * columns; i++)
        FAIL_IF(!isfinite(matrix[i]), context, GRAM_ERROR_ARGUMENT, "warp: entry %lld,%lld of the matrix is not finite",
                (long long)(i / columns) + 1, (long long)(i % columns) + 1);
done:
    return status;
}

gram_status gram_kernel_warp(gram_context *context, int64_t rows, int64_t columns, const double *matrix, gram_kernel *a,
                             gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    if (!context || !kernel) return GRAM_ERROR_ARGUMENT;
    *kernel = NULL;
    FAIL_IF(!a, context, GRAM_ERROR_ARGUMENT, "kernel_warp: a is NULL");
    TRY(check_matrix(context, rows, columns, matrix));
    const gram_kernel like = {.node = GRAM_NODE_WARP,
                              .matrix_rows = rows,
                              .matrix_columns = columns,
                              .matrix = (double *)matrix /* copied */};
    TRY(gram_kernel_with_child(context, &like, a, kernel));
done:
    return status;
}

/* ---- columns ---- */

int64_t gram_columns_run(const int64_t *columns, int64_t count, int64_t start)
{
    int64_t end = start + 1;
    while (end < count && columns[end] == columns[end - 1] + 1) end++;
    return end;
}

/* A column of the run [start, end) that a run before it has too, or -1. Runs are compared, not columns: long lists are
 * ranges. */
static int64_t find_repeated(const int64_t *columns, int64_t start, int64_t end)
{
    for (int64_t from = 0, to; from < start; from = to) {
        to = gram_columns_run(columns, start, from);
        const int64_t lowest = columns[from] > columns[start] ? columns[from] : columns[start];
        if (lowest <= columns[to - 1] && lowest <= columns[end - 1]) return lowest;
    }
    return -1;
}

static gram_status check_columns(gram_context *context, int64_t count, const int64_t *columns)
{
    gram_status status = GRAM_OK;
    FAIL_IF(count < 1 || !columns, context, GRAM_ERROR_ARGUMENT, "on: no columns");
    FAIL_IF(count > GRAM_KERNEL_MAX_COLUMNS, context, GRAM_ERROR_ARGUMENT, "on: more than %d columns",
            GRAM_KERNEL_MAX_COLUMNS);
    for (int64_t i = 0; i < count; i++)
        FAIL_IF(columns[i] < 0 || columns[i] >= GRAM_KERNEL_MAX_COLUMN, context, GRAM_ERROR_ARGUMENT,
                "on: columns[%lld] = %lld is not from 0 to %d", (long long)i, (long long)columns[i],
                GRAM_KERNEL_MAX_COLUMN - 1);
    for (int64_t start = 0, end; start < count; start = end) {
        end = gram_columns_run(columns, count, start);
        const int64_t repeated = find_repeated(columns, start, end);
        FAIL_IF(repeated >= 0, context, GRAM_ERROR_ARGUMENT, "on: column %lld is given twice", (long long)repeated + 1);
    }
done:
    return status;
}

gram_status gram_kernel_on(gram_context *context, int64_t count, const int64_t *columns, gram_kernel *a,
                           gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    if (!context || !kernel) return GRAM_ERROR_ARGUMENT;
    *kernel = NULL;
    FAIL_IF(!a, context, GRAM_ERROR_ARGUMENT, "kernel_on: a is NULL");
    TRY(check_columns(context, count, columns));
    const gram_kernel like = {.node = GRAM_NODE_ON, .column_count = count, .columns = (int64_t *)columns /* copied */};
    TRY(gram_kernel_with_child(context, &like, a, kernel));
done:
    return status;
}

/* ---- taking apart ---- */

int64_t gram_kernel_term_count(const gram_kernel *kernel)
{
    return kernel->node == GRAM_NODE_SUM ? kernel->child_count : 1;
}

gram_kernel *gram_kernel_term(const gram_kernel *kernel, int64_t index)
{
    return kernel->node == GRAM_NODE_SUM ? kernel->children[index] : (gram_kernel *)kernel;
}

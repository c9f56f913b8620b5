/* Kernels that exist in C only: functions and matrices of the caller's; and what else a node holds beside its text.
 *
 * What such a node holds is one counted gram_external, so that a kernel with other parameters in place shares it. The
 * constructors take `user` in any case: whatever fails, its `release` is called once. */
#include <math.h>
#include <string.h>

#include "kernel/kernel.h"
#include "points/points.h"

/* ---- what they hold ---- */

gram_external *gram_external_retain(gram_external *external)
{
    if (external) atomic_fetch_add(&external->references, 1);
    return external;
}

void gram_external_release(gram_external *external)
{
    if (!external || atomic_fetch_sub(&external->references, 1) != 1) return;
    if (external->release) external->release(external->user);
    gram_points_release(external->points);
    gram_memory *memory = external->memory;
    gram_memory_give(memory, external);
    gram_memory_release(memory);
}

static int same_points(const gram_points *a, const gram_points *b)
{
    if (a == b) return 1;
    if (!a || !b || a->n != b->n || a->d != b->d) return 0;
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t l = 0; l < a->d; l++)
            if (gram_points_at(a, i, l) != gram_points_at(b, i, l)) return 0;
    return 1;
}

int gram_external_equal(const gram_external *a, const gram_external *b)
{
    if (a == b) return 1;
    return a && b && strcmp(a->name, b->name) == 0 && a->block == b->block && a->factor == b->factor &&
           a->user == b->user && a->release == b->release && a->matrix == b->matrix && a->n == b->n && a->ld == b->ld &&
           same_points(a->points, b->points);
}

static int is_name(const char *name)
{
    const size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-");
    return length > 0 && name[length] == 0 && length < sizeof((gram_external *)NULL)->name;
}

static gram_status check_name(gram_context *context, const char *function, const char *name)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!name, context, GRAM_ERROR_ARGUMENT, "kernel_%s: name is NULL", function);
    FAIL_IF(!is_name(name), context, GRAM_ERROR_ARGUMENT,
            "kernel_%s: name '%.40s' must be 1 to 31 letters, digits, '_' and '-'", function, name);
done:
    return status;
}

gram_status gram_external_new(gram_context *context, const char *name, const gram_external *from, gram_external **out)
{
    gram_status status = GRAM_OK;
    gram_external *made = NULL;
    TRY(gram_take(context, "kernel: what it holds", 1, sizeof *made, (void **)&made));
    memcpy(made, from, sizeof *made);
    atomic_init(&made->references, 1);
    made->memory = gram_memory_retain(context->memory);
    memcpy(made->name, name, strlen(name) + 1);
    if (from->points) (void)gram_points_retain(from->points);
    *out = made;
done:
    return status;
}

/* ---- leaves ---- */

static gram_status new_leaf(gram_context *context, const gram_kernel_type *type, gram_external *external,
                            gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    TRY(gram_kernel_new(context, GRAM_NODE_LEAF, (gram_node_room){0, 0, 0}, kernel));
    (*kernel)->type = type;
    (*kernel)->matrix = NULL;
    (*kernel)->external = gram_external_retain(external);
done:
    return status;
}

static void nothing_known(const double *par, int64_t d, gram_properties *facts)
{
    (void)par, (void)d, (void)facts;
}

static void call_block(const gram_vecmath_f64 *v, const gram_shape *shape, const gram_coords_block *block, double *out)
{
    const gram_external *external = shape->data;
    (void)v;
    external->block(external->user, block->d, block->rows, block->x, block->ld, block->columns, block->y, block->ld,
                    out, block->columns);
}

const gram_kernel_type gram_kernel_callback_type = {
    .name = "callback",
    .formula = "a function of the caller",
    .form = GRAM_FORM_COORDS,
    .facts = nothing_known,
    .coords = call_block,
};

const gram_kernel_type gram_kernel_precomputed_type = {
    .name = "precomputed",
    .formula = "entries of a matrix of the caller",
    .form = GRAM_FORM_INDEX,
    .facts = nothing_known,
};

gram_status gram_kernel_callback(gram_context *context, const char *name, gram_kernel_fn block, void *user,
                                 void (*release)(void *user), gram_kernel **kernel)
{
    gram_status status = GRAM_ERROR_ARGUMENT;
    gram_external *external = NULL;
    if (kernel) *kernel = NULL;
    if (!context || !kernel) goto done;
    TRY(check_name(context, "callback", name));
    FAIL_IF(!block, context, GRAM_ERROR_ARGUMENT, "kernel_callback: block is NULL");
    TRY(gram_external_new(context, name, &(gram_external){.block = block, .user = user, .release = release},
                          &external));
    TRY(new_leaf(context, &gram_kernel_callback_type, external, kernel));
done:
    if (!external && release) release(user);
    gram_external_release(external);
    return status;
}

static gram_status check_entries(gram_context *context, int64_t n, const double *matrix, int64_t ld)
{
    gram_status status = GRAM_OK;
    int64_t numbers;
    FAIL_IF(!matrix, context, GRAM_ERROR_ARGUMENT, "kernel_precomputed: matrix is NULL");
    FAIL_IF(n < 1, context, GRAM_ERROR_ARGUMENT, "kernel_precomputed: n = %lld, need at least one point", (long long)n);
    FAIL_IF(ld < n, context, GRAM_ERROR_ARGUMENT, "kernel_precomputed: ld = %lld is less than n = %lld", (long long)ld,
            (long long)n);
    FAIL_IF(!gram_size_multiply(n, ld, &numbers) || !gram_size_multiply(numbers, sizeof(double), &numbers), context,
            GRAM_ERROR_OVERFLOW, "kernel_precomputed: %lld x %lld numbers are more than can be addressed", (long long)n,
            (long long)ld);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            FAIL_IF(!isfinite(matrix[i * ld + j]), context, GRAM_ERROR_DATA,
                    "kernel_precomputed: matrix[%lld][%lld] is not finite", (long long)i, (long long)j);
done:
    return status;
}

gram_status gram_kernel_precomputed(gram_context *context, const char *name, int64_t n, const double *matrix,
                                    int64_t ld, gram_kernel **kernel)
{
    gram_status status = GRAM_OK;
    gram_external *external = NULL;
    if (!context || !kernel) return GRAM_ERROR_ARGUMENT;
    *kernel = NULL;
    TRY(check_name(context, "precomputed", name));
    TRY(check_entries(context, n, matrix, ld));
    TRY(gram_external_new(context, name, &(gram_external){.matrix = matrix, .n = n, .ld = ld}, &external));
    TRY(new_leaf(context, &gram_kernel_precomputed_type, external, kernel));
done:
    gram_external_release(external);
    return status;
}

/* ---- of another kernel ---- */

gram_status gram_kernel_scale(gram_context *context, const char *name, gram_factor_fn factor, void *user,
                              void (*release)(void *user), gram_kernel *a, gram_kernel **kernel)
{
    gram_status status = GRAM_ERROR_ARGUMENT;
    gram_external *external = NULL;
    if (kernel) *kernel = NULL;
    if (!context || !kernel) goto done;
    FAIL_IF(!a, context, GRAM_ERROR_ARGUMENT, "kernel_scale: a is NULL");
    TRY(check_name(context, "scale", name));
    FAIL_IF(!factor, context, GRAM_ERROR_ARGUMENT, "kernel_scale: factor is NULL");
    TRY(gram_external_new(context, name, &(gram_external){.factor = factor, .user = user, .release = release},
                          &external));
    TRY(gram_kernel_with_child(context, &(gram_kernel){.node = GRAM_NODE_SCALE, .external = external}, a, kernel));
done:
    if (!external && release) release(user);
    gram_external_release(external);
    return status;
}

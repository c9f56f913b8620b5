/* What all operators share: counting, checks, and the operations derived from multiplication. */
#include "operator/operator.h"

#include <string.h>

gram_status gram_operator_make(gram_context *context, const gram_operator_type *type, size_t bytes, int64_t n,
                               gram_operator **op)
{
    gram_status status = GRAM_OK;
    TRY(gram_take(context, "operator", 1, bytes, (void **)op));
    memset(*op, 0, bytes);
    (*op)->type = type;
    atomic_init(&(*op)->references, 1);
    (*op)->memory = gram_memory_retain(context->memory);
    (*op)->n = n;
done:
    return status;
}

gram_operator *gram_operator_retain(gram_operator *op)
{
    if (op) atomic_fetch_add(&op->references, 1);
    return op;
}

void gram_operator_release(gram_operator *op)
{
    if (!op || atomic_fetch_sub(&op->references, 1) != 1) return;
    gram_memory *memory = op->memory;
    op->type->destroy(op);
    gram_memory_give(memory, op);
    gram_memory_release(memory);
}

int64_t gram_operator_size(const gram_operator *op)
{
    return op->n;
}

const char *gram_operator_kind(const gram_operator *op)
{
    return op->type->name;
}

static gram_status check_product(gram_context *context, const char *function, const gram_operator *op, int64_t columns,
                                 const double *v, int64_t ldv, const double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    enum { MOST_COLUMNS = 1 << 24 }; /* BLAS counts in 32 bits */
    FAIL_IF(!op || !v || !out, context, GRAM_ERROR_ARGUMENT, "%s: %s is NULL", function, !op ? "op" : !v ? "v" : "out");
    FAIL_IF(columns < 1 || columns > MOST_COLUMNS, context, GRAM_ERROR_ARGUMENT, "%s: columns = %lld, need 1 to %d",
            function, (long long)columns, (int)MOST_COLUMNS);
    FAIL_IF(ldv < columns || ldo < columns || ldv > INT32_MAX || ldo > INT32_MAX, context, GRAM_ERROR_ARGUMENT,
            "%s: ldv = %lld or ldo = %lld does not fit columns = %lld", function, (long long)ldv, (long long)ldo,
            (long long)columns);
done:
    return status;
}

static gram_status check_index(gram_context *context, const char *function, const gram_operator *op, int64_t count,
                               const int64_t *index)
{
    gram_status status = GRAM_OK;
    FAIL_IF(!index, context, GRAM_ERROR_ARGUMENT, "%s: index is NULL", function);
    FAIL_IF(count < 1, context, GRAM_ERROR_ARGUMENT, "%s: count = %lld, need at least one column", function,
            (long long)count);
    for (int64_t j = 0; j < count; j++)
        FAIL_IF(index[j] < 0 || index[j] >= op->n, context, GRAM_ERROR_ARGUMENT,
                "%s: index[%lld] = %lld, the size is %lld", function, (long long)j, (long long)index[j],
                (long long)op->n);
done:
    return status;
}

gram_status gram_operator_apply(gram_context *context, const gram_operator *op, int64_t columns, const double *v,
                                int64_t ldv, double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(check_product(context, "operator_apply", op, columns, v, ldv, out, ldo));
    TRY(op->type->apply(context, op, columns, v, ldv, out, ldo));
done:
    return status;
}

/* The rows of V at their places among zeros. */
static gram_status apply_spread(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                                int64_t columns, const double *v, int64_t ldv, double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    double *spread = NULL;
    TRY(gram_take(context, "operator_apply_columns", op->n * columns, sizeof(double), (void **)&spread));
    memset(spread, 0, (size_t)(op->n * columns) * sizeof(double));
    for (int64_t j = 0; j < count; j++)
        for (int64_t c = 0; c < columns; c++) spread[index[j] * columns + c] += v[j * ldv + c];
    TRY(op->type->apply(context, op, columns, spread, columns, out, ldo));
done:
    gram_give(context, spread);
    return status;
}

gram_status gram_operator_apply_columns(gram_context *context, const gram_operator *op, int64_t count,
                                        const int64_t *index, int64_t columns, const double *v, int64_t ldv,
                                        double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    TRY(check_product(context, "operator_apply_columns", op, columns, v, ldv, out, ldo));
    TRY(check_index(context, "operator_apply_columns", op, count, index));
    TRY((op->type->apply_columns ? op->type->apply_columns : apply_spread)(context, op, count, index, columns, v, ldv,
                                                                           out, ldo));
done:
    return status;
}

/* Columns from products with unit vectors, a few at a time. */
static gram_status columns_by_apply(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                                    double *out, int64_t ld)
{
    enum { AT_ONCE = 16 };
    gram_status status = GRAM_OK;
    double *units = NULL;
    TRY(gram_take(context, "operator_columns", op->n * AT_ONCE, sizeof(double), (void **)&units));
    for (int64_t first = 0; first < count; first += AT_ONCE) {
        const int64_t now = count - first < AT_ONCE ? count - first : AT_ONCE;
        memset(units, 0, (size_t)(op->n * AT_ONCE) * sizeof(double));
        for (int64_t j = 0; j < now; j++) units[index[first + j] * AT_ONCE + j] = 1;
        TRY(op->type->apply(context, op, now, units, AT_ONCE, out + first, ld));
    }
done:
    gram_give(context, units);
    return status;
}

gram_status gram_operator_columns(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                                  double *out, int64_t ld)
{
    gram_status status = GRAM_OK;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!op || !out, context, GRAM_ERROR_ARGUMENT, "operator_columns: %s is NULL", !op ? "op" : "out");
    TRY(check_index(context, "operator_columns", op, count, index));
    FAIL_IF(ld < count || ld > INT32_MAX, context, GRAM_ERROR_ARGUMENT,
            "operator_columns: ld = %lld does not fit count = %lld", (long long)ld, (long long)count);
    TRY((op->type->columns ? op->type->columns : columns_by_apply)(context, op, count, index, out, ld));
done:
    return status;
}

gram_status gram_operator_diagonal(gram_context *context, const gram_operator *op, double *out)
{
    enum { AT_ONCE = 64 };
    gram_status status = GRAM_OK;
    double *block = NULL;
    int64_t index[AT_ONCE], size = 0;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!op || !out, context, GRAM_ERROR_ARGUMENT, "operator_diagonal: %s is NULL", !op ? "op" : "out");
    if (op->type->diagonal) return op->type->diagonal(context, op, out);
    size = op->n * AT_ONCE;
    TRY(gram_take(context, "operator_diagonal", size, sizeof(double), (void **)&block));
    for (int64_t first = 0; first < op->n; first += AT_ONCE) {
        const int64_t now = op->n - first < AT_ONCE ? op->n - first : AT_ONCE;
        for (int64_t j = 0; j < now; j++) index[j] = first + j;
        TRY(gram_operator_columns(context, op, now, index, block, AT_ONCE));
        for (int64_t j = 0; j < now; j++) out[first + j] = block[(first + j) * AT_ONCE + j];
    }
done:
    gram_give(context, block);
    return status;
}

gram_status gram_operator_matrix(gram_context *context, const gram_operator *op, double *out, int64_t ld)
{
    gram_status status = GRAM_OK;
    int64_t *index = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!op || !out, context, GRAM_ERROR_ARGUMENT, "operator_matrix: %s is NULL", !op ? "op" : "out");
    TRY(gram_take(context, "operator_matrix", op->n, sizeof(int64_t), (void **)&index));
    for (int64_t j = 0; j < op->n; j++) index[j] = j;
    TRY(gram_operator_columns(context, op, op->n, index, out, ld));
done:
    gram_give(context, index);
    return status;
}

gram_status gram_operator_trace(gram_context *context, const gram_operator *op, double *trace)
{
    gram_status status = GRAM_OK;
    double *diagonal = NULL;
    if (!context) return GRAM_ERROR_ARGUMENT;
    FAIL_IF(!op || !trace, context, GRAM_ERROR_ARGUMENT, "operator_trace: %s is NULL", !op ? "op" : "trace");
    TRY(gram_take(context, "operator_trace", op->n, sizeof(double), (void **)&diagonal));
    TRY(gram_operator_diagonal(context, op, diagonal));
    *trace = 0;
    for (int64_t i = 0; i < op->n; i++) *trace += diagonal[i];
done:
    gram_give(context, diagonal);
    return status;
}

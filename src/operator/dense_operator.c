/* A symmetric matrix of the caller as an operator. */
#include "operator/tiled_matrix.h"

typedef struct dense {
    gram_operator base;
    gram_tiled tiled;
} dense;

static gram_status apply(gram_context *context, const gram_operator *op, int64_t columns, const double *v, int64_t ldv,
                         double *out, int64_t ldo)
{
    return gram_tiled_apply(context, &((const dense *)op)->tiled, columns, v, ldv, out, ldo);
}

static gram_status diagonal(gram_context *context, const gram_operator *op, double *out)
{
    (void)context;
    for (int64_t i = 0; i < op->n; i++) out[i] = gram_tiled_at(&((const dense *)op)->tiled, i, i);
    return GRAM_OK;
}

static gram_status columns(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                           double *out, int64_t ld)
{
    (void)context;
    for (int64_t j = 0; j < count; j++) gram_tiled_column(&((const dense *)op)->tiled, index[j], out + j, ld);
    return GRAM_OK;
}

static gram_status apply_columns(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                                 int64_t columns_of_v, const double *v, int64_t ldv, double *out, int64_t ldo)
{
    return gram_tiled_apply_columns(context, &((const dense *)op)->tiled, count, index, columns_of_v, v, ldv, out, ldo);
}

static void destroy(gram_operator *op)
{
    (void)op; /* the matrix is the caller's */
}

static const gram_operator_type DENSE = {"dense", apply, destroy, diagonal, columns, apply_columns};

gram_status gram_operator_create_dense(gram_context *context, int64_t n, const double *matrix, int64_t ld,
                                       gram_operator **op)
{
    gram_status status = GRAM_OK;
    dense *made = NULL;
    if (!context || !op) return GRAM_ERROR_ARGUMENT;
    *op = NULL;
    FAIL_IF(n < 1, context, GRAM_ERROR_ARGUMENT, "operator_create_dense: n = %lld, need at least 1", (long long)n);
    FAIL_IF(!matrix, context, GRAM_ERROR_ARGUMENT, "operator_create_dense: matrix is NULL");
    FAIL_IF(ld < n || ld > INT32_MAX, context, GRAM_ERROR_ARGUMENT,
            "operator_create_dense: ld = %lld does not fit n = %lld", (long long)ld, (long long)n);
    TRY(gram_operator_make(context, &DENSE, sizeof *made, n, (gram_operator **)&made));
    made->tiled = gram_tiled_shape(n);
    made->tiled.data = matrix;
    made->tiled.ld = ld;
    *op = &made->base;
done:
    return status;
}

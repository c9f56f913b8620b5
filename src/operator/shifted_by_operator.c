/* A + diag(shifts): shifted_operator.c with a shift for each row, of its own. */
#include <math.h>
#include <string.h>

#include <gram/text.h>

#include "operator/operator.h"

typedef struct shifted_by {
    gram_operator base;
    gram_operator *inner;
    double *shifts;
} shifted_by;

static gram_status apply(gram_context *context, const gram_operator *op, int64_t columns, const double *v, int64_t ldv,
                         double *out, int64_t ldo)
{
    const shifted_by *self = (const shifted_by *)op;
    gram_status status = GRAM_OK;
    TRY(gram_operator_apply(context, self->inner, columns, v, ldv, out, ldo));
    for (int64_t i = 0; i < op->n; i++)
        for (int64_t c = 0; c < columns; c++) out[i * ldo + c] += self->shifts[i] * v[i * ldv + c];
done:
    return status;
}

static gram_status diagonal(gram_context *context, const gram_operator *op, double *out)
{
    const shifted_by *self = (const shifted_by *)op;
    gram_status status = GRAM_OK;
    TRY(gram_operator_diagonal(context, self->inner, out));
    for (int64_t i = 0; i < op->n; i++) out[i] += self->shifts[i];
done:
    return status;
}

static gram_status shifted_columns(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                                   double *out, int64_t ld)
{
    const shifted_by *self = (const shifted_by *)op;
    gram_status status = GRAM_OK;
    TRY(gram_operator_columns(context, self->inner, count, index, out, ld));
    for (int64_t j = 0; j < count; j++) out[index[j] * ld + j] += self->shifts[index[j]];
done:
    return status;
}

static void destroy(gram_operator *op)
{
    shifted_by *self = (shifted_by *)op;
    gram_memory_give(op->memory, self->shifts);
    gram_operator_release(self->inner);
}

static const gram_operator_type SHIFTED_BY = {"shifted", apply, destroy, diagonal, shifted_columns, NULL};

gram_status gram_operator_create_shifted_by(gram_context *context, gram_operator *a, const double *shifts,
                                            gram_operator **op)
{
    gram_status status = GRAM_OK;
    shifted_by *made = NULL;
    char shown[GRAM_NUMBER_SIZE];
    if (!context || !op) return GRAM_ERROR_ARGUMENT;
    *op = NULL;
    FAIL_IF(!a || !shifts, context, GRAM_ERROR_ARGUMENT, "operator_create_shifted_by: %s is NULL",
            a ? "diagonal" : "a");
    for (int64_t i = 0; i < a->n; i++)
        FAIL_IF(!isfinite(shifts[i]), context, GRAM_ERROR_ARGUMENT, "operator_create_shifted_by: diagonal[%lld] is %s",
                (long long)i, gram_number_format(shifts[i], shown));
    TRY(gram_operator_make(context, &SHIFTED_BY, sizeof *made, a->n, (gram_operator **)&made));
    made->inner = gram_operator_retain(a);
    TRY(gram_take(context, "operator_create_shifted_by", a->n, sizeof *made->shifts, (void **)&made->shifts));
    memcpy(made->shifts, shifts, (size_t)a->n * sizeof *made->shifts);
    *op = &made->base;
    made = NULL;
done:
    gram_operator_release((gram_operator *)made);
    return status;
}

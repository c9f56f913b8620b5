/* A + shift I. */
#include <math.h>

#include "operator/operator.h"
#include <gram/text.h>

typedef struct shifted {
    gram_operator base;
    gram_operator *inner;
    double shift;
} shifted;

static gram_status apply(gram_context *context, const gram_operator *op, int64_t columns, const double *v, int64_t ldv,
                         double *out, int64_t ldo)
{
    const shifted *self = (const shifted *)op;
    gram_status status = GRAM_OK;
    TRY(gram_operator_apply(context, self->inner, columns, v, ldv, out, ldo));
    for (int64_t i = 0; i < op->n; i++)
        for (int64_t c = 0; c < columns; c++) out[i * ldo + c] += self->shift * v[i * ldv + c];
done:
    return status;
}

static gram_status diagonal(gram_context *context, const gram_operator *op, double *out)
{
    const shifted *self = (const shifted *)op;
    gram_status status = GRAM_OK;
    TRY(gram_operator_diagonal(context, self->inner, out));
    for (int64_t i = 0; i < op->n; i++) out[i] += self->shift;
done:
    return status;
}

static gram_status shifted_columns(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                                   double *out, int64_t ld)
{
    const shifted *self = (const shifted *)op;
    gram_status status = GRAM_OK;
    TRY(gram_operator_columns(context, self->inner, count, index, out, ld));
    for (int64_t j = 0; j < count; j++) out[index[j] * ld + j] += self->shift;
done:
    return status;
}

static void destroy(gram_operator *op)
{
    gram_operator_release(((shifted *)op)->inner);
}

static const gram_operator_type SHIFTED = {"shifted", apply, destroy, diagonal, shifted_columns, NULL};

gram_status gram_operator_create_shifted(gram_context *context, gram_operator *a, double shift, gram_operator **op)
{
    gram_status status = GRAM_OK;
    shifted *made = NULL;
    char shown[GRAM_NUMBER_SIZE];
    if (!context || !op) return GRAM_ERROR_ARGUMENT;
    *op = NULL;
    FAIL_IF(!a, context, GRAM_ERROR_ARGUMENT, "operator_create_shifted: a is NULL");
    FAIL_IF(!isfinite(shift), context, GRAM_ERROR_ARGUMENT, "operator_create_shifted: shift is %s",
            gram_number_format(shift, shown));
    TRY(gram_operator_make(context, &SHIFTED, sizeof *made, a->n, (gram_operator **)&made));
    made->inner = gram_operator_retain(a);
    made->shift = shift;
    *op = &made->base;
done:
    return status;
}

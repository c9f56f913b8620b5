/* diag(s) A diag(s): a Gram matrix with its points multiplied by numbers in feature space. */
#include <math.h>

#include "operator/operator.h"
#include <gram/text.h>

typedef struct scaled {
    gram_operator base;
    gram_operator *inner;
    double *factors;
} scaled;

static gram_status apply(gram_context *context, const gram_operator *op, int64_t columns, const double *v, int64_t ldv,
                         double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    const scaled *self = (const scaled *)op;
    double *inside = NULL;
    TRY(gram_take(context, "operator_apply: scaled", op->n * columns, sizeof *inside, (void **)&inside));
    for (int64_t i = 0; i < op->n; i++)
        for (int64_t c = 0; c < columns; c++) inside[i * columns + c] = self->factors[i] * v[i * ldv + c];
    TRY(gram_operator_apply(context, self->inner, columns, inside, columns, out, ldo));
    for (int64_t i = 0; i < op->n; i++)
        for (int64_t c = 0; c < columns; c++) out[i * ldo + c] *= self->factors[i];
done:
    gram_give(context, inside);
    return status;
}

static gram_status diagonal(gram_context *context, const gram_operator *op, double *out)
{
    gram_status status = GRAM_OK;
    const scaled *self = (const scaled *)op;
    TRY(gram_operator_diagonal(context, self->inner, out));
    for (int64_t i = 0; i < op->n; i++) out[i] *= self->factors[i] * self->factors[i];
done:
    return status;
}

static gram_status scaled_columns(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                                  double *out, int64_t ld)
{
    gram_status status = GRAM_OK;
    const scaled *self = (const scaled *)op;
    TRY(gram_operator_columns(context, self->inner, count, index, out, ld));
    for (int64_t i = 0; i < op->n; i++)
        for (int64_t j = 0; j < count; j++) out[i * ld + j] *= self->factors[i] * self->factors[index[j]];
done:
    return status;
}

static void destroy(gram_operator *op)
{
    scaled *self = (scaled *)op;
    gram_operator_release(self->inner);
    gram_memory_give(op->memory, self->factors);
}

static const gram_operator_type SCALED = {"scaled", apply, destroy, diagonal, scaled_columns, NULL};

gram_status gram_operator_create_scaled(gram_context *context, gram_operator *a, const double *factors,
                                        gram_operator **op)
{
    gram_status status = GRAM_OK;
    scaled *made = NULL;
    char shown[GRAM_NUMBER_SIZE];
    if (!context || !op) return GRAM_ERROR_ARGUMENT;
    *op = NULL;
    FAIL_IF(!a || !factors, context, GRAM_ERROR_ARGUMENT, "operator_create_scaled: %s is NULL", a ? "factors" : "a");
    for (int64_t i = 0; i < a->n; i++)
        FAIL_IF(!isfinite(factors[i]), context, GRAM_ERROR_ARGUMENT, "operator_create_scaled: factors[%lld] is %s",
                (long long)i, gram_number_format(factors[i], shown));
    TRY(gram_operator_make(context, &SCALED, sizeof *made, a->n, (gram_operator **)&made));
    made->inner = gram_operator_retain(a);
    TRY(gram_take(context, "operator_create_scaled", a->n, sizeof(double), (void **)&made->factors));
    for (int64_t i = 0; i < a->n; i++) made->factors[i] = factors[i];
    *op = &made->base;
    made = NULL;
done:
    gram_operator_release((gram_operator *)made);
    return status;
}

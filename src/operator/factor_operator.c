/* F F' of a thin F: the Gram matrix of given features. */
#include <math.h>

#include "operator/operator.h"
#include <gram/text.h>

typedef struct factored {
    gram_operator base;
    int64_t rank, ld;
    const double *f; /* borrowed */
} factored;

static void add_multiple(int64_t count, double factor, const double *a, double *out)
{
    for (int64_t c = 0; c < count; c++) out[c] += factor * a[c];
}

static double dot(int64_t count, const double *a, const double *b)
{
    double sum = 0;
    for (int64_t l = 0; l < count; l++) sum += a[l] * b[l];
    return sum;
}

/* F (F'V), F'V being rank x columns: O(n rank columns), in order, so the same bits for any number of threads. Of F' the columns of
 * the index, NULL: all n. */
static gram_status multiply(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                            int64_t columns, const double *v, int64_t ldv, double *out, int64_t ldo)
{
    gram_status status = GRAM_OK;
    const factored *self = (const factored *)op;
    double *inner = NULL;
    TRY(gram_take(context, "operator_apply: factor", self->rank * columns, sizeof *inner, (void **)&inner));
    for (int64_t l = 0; l < self->rank * columns; l++) inner[l] = 0;
    for (int64_t i = 0; i < count; i++)
        for (int64_t l = 0; l < self->rank; l++)
            add_multiple(columns, self->f[(index ? index[i] : i) * self->ld + l], v + i * ldv, inner + l * columns);
    for (int64_t i = 0; i < op->n; i++) {
        for (int64_t c = 0; c < columns; c++) out[i * ldo + c] = 0;
        for (int64_t l = 0; l < self->rank; l++)
            add_multiple(columns, self->f[i * self->ld + l], inner + l * columns, out + i * ldo);
    }
done:
    gram_give(context, inner);
    return status;
}

static gram_status apply(gram_context *context, const gram_operator *op, int64_t columns, const double *v, int64_t ldv,
                         double *out, int64_t ldo)
{
    return multiply(context, op, op->n, NULL, columns, v, ldv, out, ldo);
}

static gram_status diagonal(gram_context *context, const gram_operator *op, double *out)
{
    const factored *self = (const factored *)op;
    (void)context;
    for (int64_t i = 0; i < op->n; i++) out[i] = dot(self->rank, self->f + i * self->ld, self->f + i * self->ld);
    return GRAM_OK;
}

static gram_status factored_columns(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                                    double *out, int64_t ld)
{
    const factored *self = (const factored *)op;
    (void)context;
    for (int64_t i = 0; i < op->n; i++)
        for (int64_t j = 0; j < count; j++)
            out[i * ld + j] = dot(self->rank, self->f + i * self->ld, self->f + index[j] * self->ld);
    return GRAM_OK;
}

static void destroy(gram_operator *op)
{
    (void)op;
}

static const gram_operator_type FACTORED = {"factor", apply, destroy, diagonal, factored_columns, multiply};

gram_status gram_operator_create_factor(gram_context *context, int64_t n, int64_t rank, const double *f, int64_t ld,
                                        gram_operator **op)
{
    gram_status status = GRAM_OK;
    factored *made = NULL;
    if (!context || !op) return GRAM_ERROR_ARGUMENT;
    *op = NULL;
    FAIL_IF(!f, context, GRAM_ERROR_ARGUMENT, "operator_create_factor: f is NULL");
    FAIL_IF(n < 1 || rank < 1, context, GRAM_ERROR_ARGUMENT, "operator_create_factor: n = %lld, rank = %lld",
            (long long)n, (long long)rank);
    FAIL_IF(ld < rank, context, GRAM_ERROR_ARGUMENT, "operator_create_factor: ld = %lld is less than the rank %lld",
            (long long)ld, (long long)rank);
    TRY(gram_operator_make(context, &FACTORED, sizeof *made, n, (gram_operator **)&made));
    made->rank = rank;
    made->ld = ld;
    made->f = f;
    *op = &made->base;
done:
    return status;
}

/* A weighted sum of operators. */
#include <math.h>
#include <string.h>

#include "operator/operator.h"
#include <gram/text.h>

typedef struct term {
    gram_operator *op;
    double weight;
} term;

typedef struct sum {
    gram_operator base;
    int64_t count;
    term terms[]; /* in the same block */
} sum;

/* out (+)= weight * in, row by row */
static void add(int64_t n, int64_t columns, int first, double weight, const double *in, int64_t ldi, double *out,
                int64_t ldo)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < columns; c++) {
            const double before = first ? 0 : out[i * ldo + c];
            out[i * ldo + c] = before + weight * in[i * ldi + c];
        }
}

static gram_status apply(gram_context *context, const gram_operator *op, int64_t columns, const double *v, int64_t ldv,
                         double *out, int64_t ldo)
{
    const sum *self = (const sum *)op;
    gram_status status = GRAM_OK;
    double *part = NULL;
    int64_t numbers;
    FAIL_IF(!gram_size_multiply(op->n, columns, &numbers), context, GRAM_ERROR_OVERFLOW,
            "operator_apply: %lld columns are more than can be addressed", (long long)columns);
    TRY(gram_take(context, "operator_apply: a term", numbers, sizeof(double), (void **)&part));
    for (int64_t t = 0; t < self->count; t++) {
        TRY(gram_operator_apply(context, self->terms[t].op, columns, v, ldv, part, columns));
        add(op->n, columns, t == 0, self->terms[t].weight, part, columns, out, ldo);
    }
done:
    gram_give(context, part);
    return status;
}

static gram_status diagonal(gram_context *context, const gram_operator *op, double *out)
{
    const sum *self = (const sum *)op;
    gram_status status = GRAM_OK;
    double *part = NULL;
    TRY(gram_take(context, "operator_diagonal: a term", op->n, sizeof(double), (void **)&part));
    for (int64_t t = 0; t < self->count; t++) {
        TRY(gram_operator_diagonal(context, self->terms[t].op, part));
        add(op->n, 1, t == 0, self->terms[t].weight, part, 1, out, 1);
    }
done:
    gram_give(context, part);
    return status;
}

static void destroy(gram_operator *op)
{
    sum *self = (sum *)op;
    for (int64_t t = 0; t < self->count; t++) gram_operator_release(self->terms[t].op);
}

static const gram_operator_type SUM = {"sum", apply, destroy, diagonal, NULL, NULL};

gram_status gram_operator_create_sum(gram_context *context, int64_t count, gram_operator *const *terms,
                                     const double *weights, gram_operator **op)
{
    enum { MOST_TERMS = 4096 };
    gram_status status = GRAM_OK;
    sum *made = NULL;
    char shown[GRAM_NUMBER_SIZE];
    if (!context || !op) return GRAM_ERROR_ARGUMENT;
    *op = NULL;
    FAIL_IF(count < 1 || count > MOST_TERMS, context, GRAM_ERROR_ARGUMENT,
            "operator_create_sum: count = %lld, need 1 to %d", (long long)count, (int)MOST_TERMS);
    FAIL_IF(!terms || !weights, context, GRAM_ERROR_ARGUMENT, "operator_create_sum: %s is NULL",
            !terms ? "terms" : "weights");
    for (int64_t t = 0; t < count; t++) {
        FAIL_IF(!terms[t], context, GRAM_ERROR_ARGUMENT, "operator_create_sum: terms[%lld] is NULL", (long long)t);
        FAIL_IF(terms[t]->n != terms[0]->n, context, GRAM_ERROR_DIMENSION,
                "operator_create_sum: terms[%lld] has size %lld, terms[0] has %lld", (long long)t,
                (long long)terms[t]->n, (long long)terms[0]->n);
        FAIL_IF(!isfinite(weights[t]), context, GRAM_ERROR_ARGUMENT, "operator_create_sum: weights[%lld] is %s",
                (long long)t, gram_number_format(weights[t], shown));
    }
    TRY(gram_operator_make(context, &SUM, sizeof *made + (size_t)count * sizeof(term), terms[0]->n,
                           (gram_operator **)&made));
    made->count = count;
    for (int64_t t = 0; t < count; t++) {
        made->terms[t].op = gram_operator_retain(terms[t]);
        made->terms[t].weight = weights[t];
    }
    *op = &made->base;
done:
    return status;
}

/* H A H with H = I - 11'/n: the Gram matrix of the points less their mean in feature space. */
#include "operator/operator.h"

typedef struct centred {
    gram_operator base;
    gram_operator *inner;
} centred;

/* The mean of every column of n rows. */
static void find_means(int64_t n, int64_t columns, const double *v, int64_t ldv, double *means)
{
    for (int64_t c = 0; c < columns; c++) means[c] = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < columns; c++) means[c] += v[i * ldv + c];
    for (int64_t c = 0; c < columns; c++) means[c] /= (double)n;
}

/* out = v less the means, in place too. */
static void subtract(int64_t n, int64_t columns, const double *v, int64_t ldv, const double *means, double *out,
                     int64_t ldo)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t c = 0; c < columns; c++) out[i * ldo + c] = v[i * ldv + c] - means[c];
}

static gram_status apply(gram_context *context, const gram_operator *op, int64_t columns, const double *v, int64_t ldv,
                         double *out, int64_t ldo)
{
    const centred *self = (const centred *)op;
    gram_status status = GRAM_OK;
    double *inside = NULL, *means = NULL;
    TRY(gram_take(context, "operator_apply: centred", op->n * columns, sizeof *inside, (void **)&inside));
    TRY(gram_take(context, "operator_apply: means", columns, sizeof *means, (void **)&means));
    find_means(op->n, columns, v, ldv, means);
    subtract(op->n, columns, v, ldv, means, inside, columns);
    TRY(gram_operator_apply(context, self->inner, columns, inside, columns, out, ldo));
    find_means(op->n, columns, out, ldo, means);
    subtract(op->n, columns, out, ldo, means, out, ldo);
done:
    gram_give(context, means);
    gram_give(context, inside);
    return status;
}

/* The means of the rows of A, n numbers, which the caller gives back, and the mean of those. */
static gram_status row_means(gram_context *context, const centred *self, double **rows, double *mean)
{
    gram_status status = GRAM_OK;
    const int64_t n = self->base.n;
    double *ones = NULL;
    TRY(gram_take(context, "operator: means", n, sizeof *ones, (void **)&ones));
    TRY(gram_take(context, "operator: means", n, sizeof **rows, (void **)rows));
    for (int64_t i = 0; i < n; i++) ones[i] = 1 / (double)n;
    TRY(gram_operator_apply(context, self->inner, 1, ones, 1, *rows, 1));
    find_means(n, 1, *rows, 1, mean);
done:
    gram_give(context, ones);
    return status;
}

static gram_status diagonal(gram_context *context, const gram_operator *op, double *out)
{
    gram_status status = GRAM_OK;
    const centred *self = (const centred *)op;
    double *rows = NULL, mean = 0;
    TRY(row_means(context, self, &rows, &mean));
    TRY(gram_operator_diagonal(context, self->inner, out));
    for (int64_t i = 0; i < op->n; i++) out[i] += mean - 2 * rows[i];
done:
    gram_give(context, rows);
    return status;
}

static gram_status centred_columns(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                                   double *out, int64_t ld)
{
    gram_status status = GRAM_OK;
    const centred *self = (const centred *)op;
    double *rows = NULL, mean = 0;
    TRY(row_means(context, self, &rows, &mean));
    TRY(gram_operator_columns(context, self->inner, count, index, out, ld));
    for (int64_t i = 0; i < op->n; i++)
        for (int64_t j = 0; j < count; j++) out[i * ld + j] += mean - rows[i] - rows[index[j]];
done:
    gram_give(context, rows);
    return status;
}

static void destroy(gram_operator *op)
{
    gram_operator_release(((centred *)op)->inner);
}

static const gram_operator_type CENTRED = {"centred", apply, destroy, diagonal, centred_columns, NULL};

gram_status gram_operator_create_centred(gram_context *context, gram_operator *a, gram_operator **op)
{
    gram_status status = GRAM_OK;
    centred *made = NULL;
    if (!context || !op) return GRAM_ERROR_ARGUMENT;
    *op = NULL;
    FAIL_IF(!a, context, GRAM_ERROR_ARGUMENT, "operator_create_centred: a is NULL");
    TRY(gram_operator_make(context, &CENTRED, sizeof *made, a->n, (gram_operator **)&made));
    made->inner = gram_operator_retain(a);
    *op = &made->base;
done:
    return status;
}

/* K(X, X) made anew in each product. The points are packed once. */
#include "operator/operator.h"
#include "tile/product.h"

typedef struct matrix_free {
    gram_operator base;
    gram_engine *engine;
    gram_kernel *kernel;
    gram_points *x;
} matrix_free;

static gram_status apply(gram_context *context, const gram_operator *op, int64_t columns, const double *v, int64_t ldv,
                         double *out, int64_t ldo)
{
    return gram_engine_product(context, ((const matrix_free *)op)->engine, columns, v, ldv, out, ldo);
}

static gram_status diagonal(gram_context *context, const gram_operator *op, double *out)
{
    const matrix_free *self = (const matrix_free *)op;
    return gram_matrix_diagonal(context, self->kernel, self->x, out);
}

static gram_status columns(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                           double *out, int64_t ld)
{
    const matrix_free *self = (const matrix_free *)op;
    return gram_matrix_columns(context, self->kernel, self->x, count, index, out, ld);
}

static void destroy(gram_operator *op)
{
    matrix_free *self = (matrix_free *)op;
    gram_engine_destroy(self->engine);
    gram_kernel_release(self->kernel);
    gram_points_release(self->x);
}

static const gram_operator_type FREE = {"free", apply, destroy, diagonal, columns};

gram_status gram_operator_create_free(gram_context *context, gram_kernel *kernel, gram_points *x, gram_operator **op)
{
    gram_status status = GRAM_OK;
    gram_engine *engine = NULL;
    matrix_free *made = NULL;
    if (!context || !op) return GRAM_ERROR_ARGUMENT;
    *op = NULL;
    const gram_engine_request request = {.kernel = kernel, .x = x};
    TRY(gram_engine_create(context, &request, &engine));
    TRY(gram_operator_make(context, &FREE, sizeof *made, engine->n, (gram_operator **)&made));
    made->engine = engine;
    made->kernel = gram_kernel_retain(kernel);
    made->x = gram_points_retain(x);
    engine = NULL;
    *op = &made->base;
done:
    gram_engine_destroy(engine);
    return status;
}

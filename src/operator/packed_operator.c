/* K(X, X) held as square tiles of its lower triangle, filled straight from the engine: about n^2/2 numbers. */
#include "operator/tiled_matrix.h"
#include "tile/fill.h"

typedef struct packed {
    gram_operator base;
    gram_tiled tiled;
    double *numbers;
    int64_t count;
} packed;

typedef struct filling {
    const gram_engine *engine;
    packed *op;
} filling;

static gram_status apply(gram_context *context, const gram_operator *op, int64_t columns, const double *v, int64_t ldv,
                         double *out, int64_t ldo)
{
    return gram_tiled_apply(context, &((const packed *)op)->tiled, columns, v, ldv, out, ldo);
}

static gram_status diagonal(gram_context *context, const gram_operator *op, double *out)
{
    (void)context;
    for (int64_t i = 0; i < op->n; i++) out[i] = gram_tiled_at(&((const packed *)op)->tiled, i, i);
    return GRAM_OK;
}

static gram_status columns(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                           double *out, int64_t ld)
{
    (void)context;
    for (int64_t j = 0; j < count; j++) gram_tiled_column(&((const packed *)op)->tiled, index[j], out + j, ld);
    return GRAM_OK;
}

static gram_status apply_columns(gram_context *context, const gram_operator *op, int64_t count, const int64_t *index,
                                 int64_t columns_of_v, const double *v, int64_t ldv, double *out, int64_t ldo)
{
    return gram_tiled_apply_columns(context, &((const packed *)op)->tiled, count, index, columns_of_v, v, ldv, out,
                                    ldo);
}

static void destroy(gram_operator *op)
{
    packed *self = (packed *)op;
    gram_memory_give(op->memory, self->numbers);
}

static const gram_operator_type PACKED = {"packed", apply, destroy, diagonal, columns, apply_columns};

/* One tile of the matrix from the engine's panels that it covers; of a diagonal tile its lower panels. */
static gram_status fill_task(void *argument, const gram_worker *worker)
{
    const filling *job = argument;
    const gram_tiled *tiled = &job->op->tiled;
    const int64_t i = worker->task / tiled->count, j = worker->task % tiled->count;
    if (j > i) return GRAM_OK;
    const int64_t panels = tiled->width / GRAM_PANEL, ld = gram_tiled_ld(tiled, j);
    double *tile = job->op->numbers + gram_tiled_place(tiled, i, j);
    gram_engine_begin(job->engine, worker->scratch, worker);
    for (int64_t p = 0; p < panels && (i * panels + p) * GRAM_PANEL < tiled->n; p++)
        for (int64_t q = 0; q < panels && j * panels + q <= i * panels + p; q++)
            gram_fill_tile(job->engine, worker->scratch, i * panels + p, j * panels + q,
                           tile + p * GRAM_PANEL * ld + q * GRAM_PANEL, ld, NULL, 0);
    return GRAM_OK;
}

static gram_status fill(gram_context *context, const gram_engine *engine, packed *op)
{
    filling job = {engine, op};
    const gram_sweep sweep = {.what = "packed gram matrix",
                              .tasks = op->tiled.count * op->tiled.count,
                              .scratch_bytes = gram_engine_scratch(engine),
                              .run = fill_task,
                              .argument = &job};
    return gram_sweep_run(context, &sweep);
}

gram_status gram_operator_create_packed(gram_context *context, gram_kernel *kernel, gram_points *x, gram_operator **op)
{
    enum { MOST_POINTS = 1 << 30 };
    gram_status status = GRAM_OK;
    gram_engine *engine = NULL;
    packed *made = NULL;
    if (!context || !op) return GRAM_ERROR_ARGUMENT;
    *op = NULL;
    const gram_engine_request request = {.kernel = kernel, .x = x};
    TRY(gram_engine_create(context, &request, &engine));
    FAIL_IF(engine->n > MOST_POINTS, context, GRAM_ERROR_OVERFLOW, "operator_create_packed: n = %lld is too large",
            (long long)engine->n);
    TRY(gram_operator_make(context, &PACKED, sizeof *made, engine->n, (gram_operator **)&made));
    made->tiled = gram_tiled_shape(engine->n);
    made->count = gram_tiled_numbers(&made->tiled);
    TRY(gram_take(context, "operator_create_packed", made->count, sizeof(double), (void **)&made->numbers));
    made->tiled.data = made->numbers;
    TRY(fill(context, engine, made));
    *op = &made->base;
    made = NULL;
done:
    gram_operator_release((gram_operator *)made);
    gram_engine_destroy(engine);
    return status;
}
